"""What users of other programs complain of, each as a test (AddBiomechanics' issues are named where there is one)."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import condyle as cd
from condyle.native.machine import jit
from condyle.opensim.constraints import Coupling
from condyle.personal.anthropometry import generic_stature
from tests.personal import rig


@pytest.fixture(scope="module")
def model():
    return rig.generic()


@pytest.fixture(scope="module")
def recording():
    return rig.recording(trials=3)


@pytest.fixture(scope="module")
def person(model, recording):
    _, static, trials, _ = recording
    return cd.personalize(model, trials[0], static)


def quiet(*arguments, **options):
    with warnings.catch_warnings(action="ignore"):
        return cd.personalize(*arguments, **options)


def femur(person):
    return float(person.factors["femur_r"][1])


def test_truth(person, recording):
    """Sizes of a spatial subject with 4 mm of skin motion and markers 5 mm off, and its joint centers (#285)."""
    true, _, _, q = recording
    for name, size in (("thigh y", 1.08), ("shank y", 1.04)):
        assert person.sizes.sd[name] < 0.02
        assert person.sizes[name] == pytest.approx(size, abs=0.02)  # 8 mm of 0.4 m
    A, B = person.system.body_poses(person.motions[0].values), true.body_poses(q)
    at = [true.body(f"{b}_r").index for b in ("femur", "tibia", "foot")]
    off = np.linalg.norm(A.p[:, at] - B.p[:, at], axis=-1).mean(axis=0)
    assert (off < (0.01, 0.01, 0.005)).all(), off  # markers are off by 5 mm along each axis


def test_a_trial_that_does_not_exist(person):
    with pytest.raises(cd.errors.DescriptionError, match="trial 1: there are 0 to 0"):
        person.show(trial=1)


def test_several_subjects_share_one_system(model, person, recording, monkeypatch):
    """A second subject compiles nothing, and loads no machine code from the cache either."""
    other = rig.recording({**rig.SIZES, "femur": 0.95}, seed=3)
    loaded, load = [], jit.Library.__init__
    monkeypatch.setattr(
        jit.Library, "__init__", lambda self, *a, **k: loaded.append(a) or load(self, *a, **k)
    )
    found = quiet(model, other[2], other[1])
    assert not loaded
    assert found.sized.system is person.sized.system
    assert femur(found) == pytest.approx(0.95, abs=0.02)


def test_unmatched_names(model, recording):
    """#105, #171, #321: names that differ are matched by spelling, or a table says who is who."""
    _, _, (walk, *_), _ = recording
    spelled = cd.Markers(
        walk.time, [f"subj:{n.lower().replace('.', '_')}" for n in walk.names], walk.positions
    )
    found = quiet(model, spelled)
    assert len(found.who.spelled) == len(walk.names)
    strange = cd.Markers(walk.time, [f"{n}imal" for n in walk.names], walk.positions)
    with pytest.raises(cd.errors.UnknownNameError, match=r"names=.*Sternumimal.*Sternum"):
        cd.personalize(model, strange)
    rows = found.who.rows()
    assert ("subj:r_asis", "R.ASIS", "spelling") in rows
    named = cd.Markers(walk.time, ["hip right" if n == "R.ASIS" else n for n in walk.names], walk.positions)
    assert quiet(model, named, names={"hip right": "R.ASIS"}).who.called["hip right"] == "R.ASIS"


def test_sparse_markers(model, recording):
    """#374: with seven markers all that they do not show stays at the prior, and the report says it."""
    _, _, (walk, *_), _ = recording
    few = walk[["R.ASIS", "L.ASIS", "V.Sacral", "R.Knee.Lat", "L.Knee.Lat", "R.Ankle.Lat", "L.Ankle.Lat"]]
    found = quiet(model, few, sizes="bodies", height=1.75)
    assert "trunk" in found.sizes.unseen and "stay at the prior" in found.report()
    assert (
        np.isnan(found.motions[0]["lumbar_flexion"]).all()
        or (np.abs(found.motions[0]["lumbar_flexion"]) < 1).all()
    )


def test_exchanged_markers(model, recording, person):
    _, static, (walk, *_), _ = recording
    p = walk.positions.copy()
    i, j = walk.names.index("R.Thigh.Upper"), walk.names.index("R.Knee.Lat")
    p[:, [i, j]] = p[:, [j, i]]
    with pytest.warns(RuntimeWarning, match="exchanged"):
        found = cd.personalize(model, cd.Markers(walk.time, walk.names, p), static)
    assert femur(found) == pytest.approx(femur(person), abs=1e-3)


def test_left_and_right_exchanged(model, recording, person):
    """The pose of a body that looks backward shows only some of the markers that are exchanged."""
    _, static, (walk, *_), _ = recording
    other = {"L": "R", "R": "L"}
    names = [other[n[0]] + n[1:] if n[:2] in ("L.", "R.") else n for n in walk.names]
    with pytest.warns(RuntimeWarning, match="exchanged"):
        found = cd.personalize(model, cd.Markers(walk.time, names, walk.positions), static)
    assert len(found.renamed["trial 1"]) == sum(n[:2] in ("L.", "R.") for n in names)
    assert femur(found) == pytest.approx(femur(person), abs=1e-3)


def test_a_planar_model_cannot_turn():
    """Someone who walks backward along x is not one with left and right exchanged."""
    lab = cd.models.synthetic_subject()
    turned = cd.Markers(lab.walk.time, lab.walk.names, lab.walk.positions * [-1, 1, -1])
    with pytest.warns(cd.errors.QualityWarning), pytest.warns(RuntimeWarning, match="off the landmarks"):
        assert not cd.personalize(lab.generic, turned, lab.static).renamed


def test_millimeters(model, recording):
    """#278: a factor of 1000 gave a subject 103 times as large."""
    _, _, (walk, *_), _ = recording
    with pytest.raises(cd.errors.DescriptionError, match="units='mm'"):
        cd.personalize(model, cd.Markers(walk.time, walk.names, 1000 * walk.positions))
    for factor, unit in ((100.0, "cm"), (1e-3, "m")):
        with pytest.raises(cd.errors.DescriptionError, match=f"units='{unit}'"):
            cd.personalize(model, cd.Markers(walk.time, walk.names, factor * walk.positions))


def test_a_recording_without_frames(model, recording, tmp_path):
    """A file that was cut off after its header: it had no markers of the model."""
    walk = recording[2][0]
    cd.Markers(walk.time[:0], walk.names, walk.positions[:0]).save(tmp_path / "walk.trc")
    with pytest.raises(cd.errors.DescriptionError, match="walk has no frames"):
        cd.personalize(model, tmp_path / "walk.trc")


def test_a_table_is_no_recording(model, recording):
    """Its columns were taken for paths of files."""
    _, static, (walk, *_), _ = recording
    with pytest.raises(cd.errors.DescriptionError, match="trials: expected cd"):
        cd.personalize(model, walk.table(), static)


def test_loads_on_a_body_of_another_model(model, recording):
    """Refused before the fit of the sizes, not after."""
    _, static, (walk, *_), _ = recording
    forces = cd.Table(walk.time, ["fx", "fy", "fz"], np.zeros((len(walk.time), 3)), units=["N"] * 3)
    said = []
    with pytest.raises(cd.errors.UnknownNameError, match="nobody"):
        cd.personalize(
            model, walk, static, [cd.ExternalLoad("nobody", forces, force="f")], progress=said.append
        )
    assert not said


def test_z_up(model, recording):
    _, static, (walk, *_), _ = recording
    turn = lambda m: cd.Markers(m.time, m.names, m.positions[..., [0, 2, 1]] * (1, -1, 1))
    with pytest.raises(cd.errors.DescriptionError, match="vertical='z'"):
        cd.personalize(model, turn(walk), turn(static))
    with pytest.warns(RuntimeWarning) as told:  # lying, angles of the pelvis may be singular: another warning
        cd.personalize(model, turn(walk))
    assert any("vertical='z'" in str(w.message) for w in told)


def test_gaps_and_zeros(model, recording, person):
    _, static, (walk, *_), _ = recording
    p = walk.positions.copy()
    p[10:20, walk.names.index("R.Heel")] = np.nan
    p[:, walk.names.index("L.Toe.Lat")] = 0.0  # how some programs write what was not seen
    found = quiet(model, cd.Markers(walk.time, walk.names, p), static)
    assert femur(found) == pytest.approx(femur(person), abs=0.01)
    assert np.isnan(found.errors[0]["R.Heel"][10:20]).all() and "L.Toe.Lat" not in found.errors[0]


def test_a_segment_out_of_sight(model, recording):
    """Coordinates that no marker tells are NaN in long gaps, and named."""
    _, static, (walk, *_), _ = recording
    p = walk.positions.copy()
    p[20:50, [k for k, n in enumerate(walk.names) if n.startswith(("R.Heel", "R.Toe"))]] = np.nan
    with pytest.warns(RuntimeWarning, match="ankle_r in 30 frames"):
        found = cd.personalize(model, cd.Markers(walk.time, walk.names, p), static)
    assert np.isnan(found.motions[0]["ankle_r"][20:50]).all()


def test_a_trial_of_another_subject(model, recording):
    _, static, trials, _ = recording
    other = rig.recording({k: 1.12 * v for k, v in rig.SIZES.items()}, seed=5)[2][0]
    with pytest.warns(cd.errors.QualityWarning), pytest.warns(RuntimeWarning, match=r"trial 3 \(\+"):
        found = cd.personalize(model, [*trials[:2], other], static)
    with pytest.warns() as told:  # one trial, with the static trial of another subject
        cd.personalize(
            model, rig.recording({k: 1.25 * v for k, v in rig.SIZES.items()}, seed=5)[2][0], static
        )
    assert any(issubclass(w.category, cd.errors.QualityWarning) for w in told)
    assert list(found.strange) == ["trial 3"] and femur(found) == pytest.approx(1.08, abs=0.02)


def test_asymmetric(model):
    """#89: one leg longer than the other."""
    true, rng = rig.generic(rig.SIZES), np.random.default_rng(1)
    left = np.array(true.marker("L.Shank.Upper").station)
    assert left[2] < 0
    t = np.arange(60) / 60
    long = true.copy(
        bodies={"tibia_l": {"X_PF": cd.Transform(p=1.06 * true.body("tibia_l").X_PF.p)}},
        markers={
            n: np.array(true.marker(n).station) * (1, 1.06, 1)
            for n in true.markers
            if n.startswith(("L.Thigh", "L.Knee"))
        },
    )
    walk = rig.seen(long, t, rig.walk(long, t), rng)
    found = quiet(model, walk, symmetric=False)
    ratio = found.factors["femur_l"][1] / found.factors["femur_r"][1]
    assert ratio == pytest.approx(1.06, abs=0.025)  # no static trial


def test_child(model):
    child = {k: 0.62 * v for k, v in rig.SIZES.items()}
    _, static, trials, _ = rig.recording(child, seed=2)
    for height in (None, 1.1):
        found = quiet(model, trials, static, height=height)
        assert femur(found) == pytest.approx(0.62 * 1.08, abs=0.02)


def test_amputee(model, recording, person):
    """A shank and foot without markers stay at the prior; the rest is found."""
    _, static, (walk, *_), _ = recording
    keep = [n for n in walk.names if not n.startswith(("L.Shank", "L.Ankle", "L.Heel", "L.Toe"))]
    found = quiet(model, walk[keep], static[keep], symmetric=False)
    assert {"shank l x", "foot l x"} <= set(found.sizes.unseen) and "shank l" in " ".join(found.notes)
    assert femur(found) == pytest.approx(femur(person), abs=0.02)


def test_wrapped_angles(model, recording):
    """Walking the other way, and turning: no jump of a whole turn."""
    true, static, _, _ = recording
    t = np.arange(70) / 60
    q = rig.walk(true, t)
    q[:, list(true.coordinates).index("turn")] += np.linspace(2.5, 4.5, 70)
    walk = rig.seen(true, t, q, np.random.default_rng(4))
    found = quiet(model, walk, static)
    assert np.abs(np.diff(found.motions[0].values, axis=0)).max() < 0.5 and found.rms[0] < 0.01
    assert femur(found) == pytest.approx(1.08, abs=0.02)


def test_masses_stay_without_forces(model, recording):
    """#96: no mass changes without forces; shares are the model's."""
    _, static, (walk, *_), _ = recording
    found = cd.personalize(model, walk, static, mass=80.0)
    total = sum(b.mass for b in found.system.bodies)
    assert total == pytest.approx(80.0)
    assert found.residuals == (None,)
    share = model.body("femur_r").mass / sum(b.mass for b in model.bodies)
    assert found.system.body("femur_r").mass == pytest.approx(80 * share)


def test_elbows_bend_forward():
    """A nearly straight arm, whose markers hardly tell an elbow from its mirror image with the upper arm turned by half
    a turn: ranges do. Without them the upper arm turns by 4.3 rad."""
    model = lambda sizes=None: _with_an_arm(rig.generic(sizes))
    true, t = model(rig.SIZES), np.arange(60) / 60
    q, names = rig.walk(true, t), list(true.coordinates)
    q[:, names.index("elbow")] = 0.12 + 0.1 * np.sin(2 * np.pi * t)
    q[:, names.index("arm_flexion")] = 0.2 + 0.2 * np.sin(2 * np.pi * t)
    q[:, names.index("arm_rotation")] = -0.8
    found = quiet(model(), rig.seen(true, t, q, np.random.default_rng(5))).motions[0]
    assert found["elbow"].min() > -0.1
    assert np.abs(found["arm_rotation"]).max() < np.pi / 2 + 0.2  # two standard deviations beyond its range


@pytest.mark.parametrize(("value", "limits"), [(0.0, (-0.02, 1.0)), (0.3, (-0.1, 0.1))])
def test_locked_coordinates_keep_their_values(value, limits):
    """At the end of their range or beyond it too: joints that start bent took these to 0.235 and 0.05 rad."""
    true, t = rig.generic(), np.arange(20) / 60
    q = rig.walk(true, t)
    ankles = [true.coordinates.index(f"ankle_{side}") for side in "rl"]
    q[:, ankles] = value
    model = rig.generic(ankle={"default": value, "locked": True, "range": limits})
    person = cd.personalize(model, [rig.seen(true, t, q, np.random.default_rng(0))])
    np.testing.assert_array_equal(person.motions[0][["ankle_r", "ankle_l"]].values, value)


def _with_an_arm(system):
    """The rig with an upper arm of three angles and an elbow, and markers on shoulder, elbow and wrist."""
    three = cd.FunctionBased(
        ("arm_flexion", "arm_adduction", "arm_rotation"),
        angles=(lambda a, b, c: a, lambda a, b, c: b, lambda a, b, c: c),
        axes=("z", "x", "y"),
    )
    mass = {"mass": 2.0, "inertia": (0.01, 0.01, 0.01)}
    half = (-np.pi / 2, np.pi / 2)
    of = [cd.Coordinate(f"arm_{n}", range=half) for n in ("flexion", "adduction", "rotation")]
    system.add_body("humerus_r", system.body("torso"), three, X_PF=(0, 0.4, 0.17), coordinates=of, **mass)
    system.add_body(
        "ulna_r",
        system.body("humerus_r"),
        cd.Pin(),
        X_PF=(0, -0.29, 0),
        coordinates=cd.Coordinate("elbow", range=(0.0, 2.6)),
        **mass,
    )
    system.add_marker("R.Arm", "humerus_r", (0, -0.12, 0.0))
    system.add_marker("R.Elbow", "humerus_r", (0, -0.29, 0.0))
    system.add_marker("R.Wrist", "ulna_r", (0, -0.25, 0.0))
    return system


@pytest.mark.parametrize("own", [False, True])
def test_a_coupler_of_a_translation(own):
    """A kneecap that glides on the thigh as the knee bends: with a function of OpenSim's couplers its way grows with the
    thigh, which then has one size; one's own function stays as it is, and this is said."""
    way = 0.03

    def model(sizes=None):
        system, size = rig.generic(sizes), (sizes or {}).get("femur", 1.0)
        for s in "rl":
            at = cd.Transform(p=size * np.array([0.04, -0.38, 0.0]))
            system.add_body(
                f"patella_{s}",
                system.body(f"femur_{s}"),
                cd.Slider(),
                X_PF=at,
                mass=0.1,
                inertia=(1e-4,) * 3,
                coordinates=f"glide_{s}",
            )
            system.add_marker(f"{s.upper()}.Patella", f"patella_{s}", (0.02 * size, 0.0, 0.0))
            law, of = Coupling(cd.functions.Linear(way * size)), (f"knee_{s}", f"glide_{s}")
            if own:
                law, of = (lambda a, b, size=size: a - way * size * b), of[::-1]
            system.add_constraint(f"glide_{s}", cd.constraints.CoordinateCoupler(law, of))
        return system

    true, t = model(rig.SIZES), np.arange(50) / 60
    q, names = rig.walk(true, t), list(true.coordinates)
    for s in "rl":
        q[:, names.index(f"glide_{s}")] = way * 1.08 * q[:, names.index(f"knee_{s}")]
    walk = rig.seen(true, t, q, np.random.default_rng(4))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = cd.personalize(model(), walk)
    assert own == any("glide_r' is a function of your own" in str(w.message) for w in said)
    m = found.motions[0]
    size = 1.0 if own else femur(found)
    np.testing.assert_allclose(m["glide_r"], way * size * m["knee_r"], atol=1e-7)
    assert own or femur(found) == pytest.approx(1.08, abs=0.04)  # no static trial
    q, u = m.values, np.zeros(m.values.shape)
    assert np.abs(found.system.constraints.errors(q, u)[0]).max() < 1e-7


def test_questions(model, recording):
    _, static, (walk, *_), _ = recording
    odd = rig.generic()
    odd.add_marker("Q1", "femur_r", (0, -0.2, 0.1))
    more = np.concatenate([walk.positions, walk.positions[:, :1]], axis=1)
    with pytest.warns(RuntimeWarning, match="Give markers="):
        cd.personalize(odd, cd.Markers(walk.time, [*walk.names, "Q1"], more))
    for wrong, text in (
        ({"height": 180}, "180 cm"),
        ({"sizes": "body"}, "whole"),
        ({"markers": {"R.ASSI": "tracking"}}, "R.ASIS"),
    ):
        with pytest.raises(cd.errors.CondyleError, match=text):
            cd.personalize(model, walk, static, **wrong)
    with pytest.raises(cd.errors.DescriptionError, match="one per trial"):
        cd.personalize(model, [walk, walk], static, loads=[None])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"loads": 5}, r"read_external_loads\('grf.xml'\).*got 5"),
        ({"loads": []}, r"or None without, got \[\]"),
        ({"loads": [7]}, r"read_external_loads\('grf.xml'\).*got 7"),
        ({"loads": cd.Table([0, 1], ["F"], [[1.0], [2.0]], ["N"])}, r"cd\.ExternalLoad says which columns"),
        ({"markers": 5}, "names of the anatomical ones"),
        ({"names": ["R.ASIS"]}, "name in the data: name in the model"),
        ({"names": {"R.ASIS": "C7", "L.ASIS": "C7"}}, "'R.ASIS' and 'L.ASIS' cannot both be 'C7'"),
        ({"symmetric": "no"}, "True or False"),
        ({"progress": True}, "such as print"),
        ({"trials": {"walk": 1}}, "or a list of these"),
        ({"trials": 5}, "or a list of these"),
    ],
)
def test_wrong_types(model, recording, wrong, says):
    _, static, (walk, *_), _ = recording
    with pytest.raises(cd.errors.DescriptionError, match=says):
        cd.personalize(**{"model": model, "trials": walk, "static": static} | wrong)


def test_few_names_match(model, recording):
    """A third of the names match: it is said at once, with what the others are called; a trial without any is
    refused with its names."""
    _, static, (walk, *_), _ = recording
    names = [n if k < 10 else f"Q{k}" for k, n in enumerate(walk.names)]
    odd = cd.Markers(walk.time, names, walk.positions)
    with pytest.warns(RuntimeWarning, match=r"only 10 of the model's 29 markers.*also have Q10, Q11"):
        found = cd.personalize(model, odd, sizes="whole")
    assert len(found.moved) == 10
    none = cd.Markers(walk.time, [f"Q{k}" for k in range(len(names))], walk.positions)
    with pytest.raises(cd.errors.DescriptionError, match=r"trial 1 shows 0 markers.*Its markers are Q0, Q1"):
        cd.personalize(model, none, static)
    with pytest.raises(cd.errors.DescriptionError, match="missing in all frames"):
        cd.personalize(model, cd.Markers(walk.time, walk.names, np.nan * walk.positions), static)


def test_order_of_axes():
    """#314: hips and back that turn about axes in another order, one of them upside down."""
    order = ("y", "z", (-1, 0, 0))
    true = rig.generic(rig.SIZES, order=order)
    t = np.arange(50) / 60
    walk = rig.seen(true, t, rig.walk(true, t) * 0.5 + 0.1, np.random.default_rng(2))
    found = quiet(rig.generic(order=order), walk, sizes="bodies", height=1.75)
    assert found.rms[0] < 0.008 and femur(found) == pytest.approx(1.08, abs=0.04)  # no static trial


def test_height_of_a_model_that_does_not_stand():
    """nimblephysics PR 151: the stature of a model is that of its bones, whatever pose it has by default."""
    straight, bent = rig.generic(), rig.generic(knee=-1.2)
    assert generic_stature(bent) == pytest.approx(generic_stature(straight), rel=1e-12)


def test_recordings_of_one_name_keep_apart(model, recording, tmp_path):
    _, static, trials, _ = recording
    for k, walk in enumerate(trials[:2]):
        (tmp_path / str(k)).mkdir()
        walk.save(tmp_path / str(k) / "walk.trc")
    found = quiet(model, [tmp_path / str(k) / "walk.trc" for k in range(2)], static)
    assert [r.name for r in found.recordings] == ["static", "walk", "walk_2"]


def test_sizes_as_colors():
    """Bones and sticks that the viewer adds have the colors of sizes, and so has geometry; other bodies keep theirs."""
    from condyle.viewer.bodies import painted, parts

    subject = cd.models.synthetic_subject().system.copy()  # muscles: its bodies are drawn as bones
    subject.add_geometry("foot_r", cd.shapes.Sphere(0.03), color="#00ff00")
    colors = {"femur_r": "#dc0000", "foot_r": "#0000dc"}
    found = painted(subject, colors)
    drawn = [p for p in parts(found)[0] if p.kind == "bodies"]
    names = [b.name for b in subject.bodies]
    for body, color in colors.items():
        assert {p.color for p in drawn if names[p.body - 1] == body} == {color}
    assert not {"#dc0000", "#0000dc"} & {p.color for p in drawn if names[p.body - 1] not in colors}
    before = [p for p in parts(subject)[0] if p.kind == "bodies"]
    assert len(before) == len(drawn) and [g.color for g in subject.geometry] == ["#00ff00"]


def test_one_wheel_for_all_machines():
    """SMPL2AddBiomechanics #13: wheels of old versions are gone. Condyle is pure Python, so that one file fits all."""
    source = Path(cd.__file__).parent
    assert not [x for x in source.rglob("*") if x.suffix in (".so", ".pyd", ".dylib", ".pyx", ".c", ".cpp")]
