"""cd.scale on Systems made in Python: closed forms, order of steps, refusals; copies with other parts."""

import numpy as np
import pytest

import condyle as cd
from condyle.opensim.constraints import Coupling
from condyle.spatial import rotation_z
from condyle.studies.scaling import Measurement
from tests.mobilizers.every import EVERY

S = np.array([1.1, 1.3, 0.9])


def leg(**options):
    system = cd.System()
    system.add_body(
        "thigh",
        mobilizer=cd.Pin(),
        X_PF=(0, 1, 0),
        X_BM=(0, 0.2, 0),
        mass=7.0,
        com=(0, -0.1, 0.01),
        inertia=(0.1, 0.02, 0.11, 0.001, 0.002, 0.003),
        coordinates="hip",
    )
    x = np.linspace(-2, 0.5, 5)
    knee = options.get(
        "knee",
        cd.FunctionBased(
            "knee",
            (None, None, lambda q: q),
            (cd.functions.SimmSpline(x, 0.01 * x**2), lambda q: 0.02 * np.sin(q), 0.005),
        ),
    )
    system.add_body(
        "shank", "thigh", knee, X_PF=(0, -0.2, 0), mass=3.0, com=(0, -0.2, 0), inertia=(0.05, 0.01, 0.05)
    )
    for name, body, p in (
        ("hip", "thigh", (0, 0.2, 0.05)),
        ("knee", "thigh", (0, -0.2, 0.05)),
        ("ankle", "shank", (0, -0.4, 0.05)),
        ("toe", "shank", (0.1, -0.4, 0)),
    ):
        system.add_marker(name, body, p)
    path = cd.paths.Path(
        [("ground", (0.05, 1.1, 0)), ("thigh", (0.04, -0.15, 0)), ("shank", (0.03, -0.05, 0))],
        [cd.paths.Wrap(cd.paths.Cylinder(0.02, 0.1), "thigh", (0, -0.2, 0), name="condyles")],
    )
    system.add_force("quad", cd.muscles.Thelen2003(path, 1000.0, 0.1, 0.25))
    system.add_force(
        "cord", cd.forces.TwoPointSpring("ground", (0.1, 1, 0), "shank", (0.1, -0.1, 0), 100.0, 0.3)
    )
    return system


def static(system, q, scale=1.0):
    """Markers of one frame where the system has them."""
    at = system.copy()
    places = [
        np.ravel(at.station_position(q, m.body, m.station)) * scale
        for m in map(system.marker, system.markers)
    ]
    return cd.Markers([0.0, 0.1], system.markers, np.array([places, places]))


def test_a_model_twice_as_large():
    """Equal factors: lengths by 2, masses by 8, inertias by 32; joint moments under gravity by 16."""
    system = leg()
    result = cd.scale(system, factors={"thigh": 2.0, "shank": 2.0})
    big = result.system
    assert [b.mass for b in big.bodies] == pytest.approx([56.0, 24.0], rel=1e-15)
    np.testing.assert_allclose(
        big.body("thigh").mass_properties.inertia,
        32 * system.body("thigh").mass_properties.inertia,
        rtol=1e-14,
    )
    q, u = np.array([0.3, -0.7]), np.zeros(2)
    off = ["quad", "cord"]
    # all lengths double but those on ground, which no moment about the joints depends on
    np.testing.assert_allclose(
        big.copy().inverse_dynamics(q, u, u, disabled=off),
        16 * system.copy().inverse_dynamics(q, u, u, disabled=off),
        rtol=1e-12,
    )
    muscle, before, after = (
        big.force("quad"),
        *(s.copy().path_lengths(s.defaults()[0])[0] for s in (system, big)),
    )
    assert muscle.optimal_fiber_length == pytest.approx(0.1 * after / before, rel=1e-14)
    assert muscle.tendon_slack_length == pytest.approx(0.25 * after / before, rel=1e-14)
    assert muscle.path.wraps[0].surface.radius == pytest.approx(0.04, rel=1e-15)
    assert big.marker("toe").station == pytest.approx((0.2, -0.8, 0), rel=1e-15)
    assert system.body("thigh").mass == 7.0  # the original is as it was, and may change
    system.add_body("foot", "shank", cd.Weld(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    big.add_body("foot", "shank", cd.Weld(), mass=1.0, inertia=(0.01, 0.01, 0.01))


def test_unequal_factors_and_the_subjects_mass():
    system = leg()
    new = cd.scale(system, factors={"thigh": S}, mass=80.0, preserve_mass_distribution=True).system
    thigh, shank = new.bodies
    assert (thigh.mass, shank.mass) == pytest.approx((56.0, 24.0), rel=1e-15)
    np.testing.assert_allclose(thigh.mass_properties.com, S * (0, -0.1, 0.01), rtol=1e-15)
    np.testing.assert_allclose(thigh.X_BM.p, S * (0, 0.2, 0), rtol=1e-15)
    np.testing.assert_allclose(shank.X_PF.p, S * (0, -0.2, 0), rtol=1e-15)
    np.testing.assert_allclose(thigh.X_PF.p, (0, 1, 0))
    # a cylinder along y: 2 I / m = r^2, 12 (I_xx - I_yy / 2) / m = l^2
    m, r2 = 56.0, 2 * 0.02 / 7 * S[0] * S[2]
    l2 = 12 * (0.1 - 0.01) / 7 * S[1] ** 2
    across = m * (r2 / 4 + l2 / 12)
    I = thigh.mass_properties.inertia
    np.testing.assert_allclose(np.diag(I), (across, m * r2 / 2, across), rtol=1e-14)
    np.testing.assert_allclose(I[0, 1], 0.001 * S[0] * S[1] * 8, rtol=1e-14)
    np.testing.assert_allclose(shank.mass_properties.inertia, np.diag((0.4, 0.08, 0.4)), rtol=1e-14)
    # translations of the knee by the factors of the thigh: spline, Python function and constant alike
    pose = [s.copy().body_pose([0.0, -0.7], "shank", relative_to="thigh").p for s in (system, new)]
    np.testing.assert_allclose(pose[1], S * pose[0], rtol=1e-13)


def test_measurements_then_factors_and_the_other_way():
    system = leg()
    data = static(system, [0.1, -0.2], 1.2)
    thigh = Measurement("thigh", [("hip", "knee")], {"thigh": "y"})
    first = cd.scale(system, data, [thigh], {"thigh": 0.95}, place_markers=False)
    assert first.factors["thigh"] == (0.95, 0.95, 0.95)
    last = cd.scale(
        system, data, [thigh], {"thigh": 0.95}, order=("manual", "measurements"), place_markers=False
    )
    assert last.factors["thigh"] == pytest.approx((0.95, 1.2, 0.95), rel=1e-14)
    assert last.measurements[0].model == pytest.approx(0.4, rel=1e-14)
    assert last.measurements[0].factor == pytest.approx(1.2, rel=1e-14)
    assert "hip - knee" in last.report()


def test_markers_are_placed_where_they_were_seen():
    """A subject that is the scaled model, in another pose, with one marker elsewhere: the pose comes back."""
    system = leg()
    big = cd.scale(system, factors={"thigh": 1.2, "shank": 1.1}).system
    subject = big.copy(markers={"toe": (0.13, -0.45, 0.02)})
    q = np.array([0.25, -0.4])
    weights = {"toe": 1e-9}
    result = cd.scale(system, static(subject, q), factors={"thigh": 1.2, "shank": 1.1}, weights=weights)
    np.testing.assert_allclose(result.pose.frames.q[0], q, atol=1e-9)
    assert result.system.marker("toe").station == pytest.approx((0.13, -0.45, 0.02), abs=1e-9)
    assert {n for n, far in result.moved.items() if far > 1e-8} == {"toe"}
    assert result.marker_errors["toe"] > 0.02
    assert any("toe" in line for line in result.warnings)
    fixed = system.copy(markers={"toe": None})
    fixed.add_marker("toe", "shank", (0.1, -0.4, 0), fixed=True)
    kept = cd.scale(fixed, static(subject, q), factors={"thigh": 1.2, "shank": 1.1}, weights=weights)
    assert kept.system.marker("toe").station == pytest.approx((0.11, -0.44, 0), rel=1e-14)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"factors": {"thigh": 0.0}}, "factors of 'thigh': expected one number above 0"),
        ({"factors": {"thigh": (1, 2)}}, "three along x, y, z"),
        ({"factors": {"tigh": 1.1}}, "unknown body 'tigh'; did you mean 'thigh'"),
        ({"factors": {"ground": 1.1}}, "ground has no size"),
        ({"mass": -1.0}, "mass: expected a number above 0"),
        ({"order": ("manual", "hand")}, "expected some of 'measurements' and 'manual'"),
        (
            {"measurements": [Measurement("t", [("hip", "knee")], ["thigh"])]},
            "need markers=cd.read_markers",
        ),
        ({"markers": "static.trc"}, "expected cd.read_markers"),
    ],
)
def test_arguments_that_cannot_be(arguments, said):
    with pytest.raises(cd.errors.CondyleError, match=said):
        cd.scale(leg(), **arguments)


@pytest.mark.parametrize(
    ("pairs", "bodies", "said"),
    [
        ([("hip", "kneee")], ["thigh"], "unknown marker of the model 'kneee'; did you mean 'knee'"),
        ([("hip", "hip")], ["thigh"], "at one place of the model"),
        ([("hip", "knee")], ["tigh"], "unknown body 'tigh'"),
    ],
)
def test_measurements_that_cannot_be(pairs, bodies, said):
    system = leg()
    with pytest.raises(cd.errors.CondyleError, match=said):
        cd.scale(system, static(system, [0.0, 0.0]), [Measurement("m", pairs, bodies)])
    with pytest.raises(cd.errors.DescriptionError, match="expected some of 'xyz'"):
        Measurement("m", [("a", "b")], {"thigh": "w"})
    with pytest.raises(cd.errors.DescriptionError, match="expected pairs of markers' names"):
        Measurement("m", ["ab"], ["thigh"])


def test_frames_that_count():
    """From the last at or before the start to the first at or after the end, where markers are seen."""
    system = leg()
    q = np.zeros(2)
    near, far = (static(system, q, x).positions[0] for x in (1.0, 3.0))
    gap = near.copy()
    gap[0] = np.nan
    data = cd.Markers([0.0, 1.0, 2.0, 3.0], system.markers, np.array([far, near, gap, far]))
    thigh = Measurement("thigh", [("hip", "knee")], ["thigh"])
    scaled = cd.scale(system, data, [thigh], time=(1.5, 1.9), place_markers=False)
    assert scaled.factors["thigh"] == pytest.approx((1.0,) * 3, rel=1e-14)
    with pytest.raises(cd.errors.DescriptionError, match="lies outside of the data"):
        cd.scale(system, data, [thigh], time=(4, 5))
    with pytest.raises(cd.errors.DescriptionError, match="never seen together"):
        cd.scale(system, data[2:3], [thigh])
    with pytest.raises(cd.errors.DescriptionError, match="there are no frames"):
        cd.scale(system, data.between(7, 9), [thigh])


def test_parameters_stay_where_numbers_scale_and_are_refused_by_name_where_not():
    system = cd.System()
    m, h = cd.Parameter("m", 2.0), cd.Parameter("h", 0.3)
    system.add_body(
        "rod", mobilizer=cd.Pin(), X_BM=(0, h, 0), mass=m, com=(0, -h, 0), inertia=(0.1, 0.1, 0.1)
    )
    new = cd.scale(system, factors={"rod": 2.0}).system
    udot = [s.copy().forward_dynamics([0.3], [0.0], parameters={"m": 3.0, "h": 0.5}) for s in (system, new)]
    other = cd.System()
    other.add_body(
        "rod", mobilizer=cd.Pin(), X_BM=(0, 1.0, 0), mass=24.0, com=(0, -1.0, 0), inertia=(3.2, 3.2, 3.2)
    )
    np.testing.assert_allclose(udot[1], other.forward_dynamics([0.3], [0.0]), rtol=1e-13)
    with pytest.raises(
        cd.errors.DescriptionError, match="body 'rod': its mass or inertia depends on Parameters"
    ):
        cd.scale(system, factors={"rod": (1, 2, 1)})


def test_every_kind_of_joint_that_has_lengths(monkeypatch):
    """All bodies k times as large, masses as they were, gravity too: energies and accelerations of joints
    that were refused once. T' = k^2 T, V' = k^2 V, udot' = udot, of coordinates in m k times as large."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")  # of each function, one value is asked
    k, names = (
        1.3,
        (
            "SplineCurve",
            "SplineSurface",
            "EllipticSlider",
            "Custom",
            "FunctionBased",
            "Slider",
            "compose-curve-pin",
            "Ellipsoid-normal",
        ),
    )
    system = cd.System(gravity=(1, -9.81, 2))
    system.add_body("root", mobilizer=cd.Weld(), mass=1.0)
    for i, name in enumerate(names):
        system.add_body(
            f"b{i}",
            "root" if i % 3 == 0 else f"b{i - 1}",
            EVERY[name].reversed() if i % 2 else EVERY[name],
            mass=1.0 + 0.1 * i,
            com=(0.1, -0.2, 0.05),
            inertia=(0.05, 0.06, 0.07),
            X_PF=(0.1, 0.2, -0.1),
            X_BM=(0.03, -0.1, 0.02),
            coordinates=[f"q{i}{j}" for j in range(EVERY[name].nq)],
        )
    big = cd.scale(system, factors={b.name: k for b in system.bodies}, preserve_mass_distribution=True).system
    big = big.copy(forces={"gravity": cd.forces.Gravity(k * np.array((1, -9.81, 2)))})
    rng = np.random.default_rng(2)
    q = np.concatenate([b.mobilizer.random_q(rng) for b in system.bodies])
    u = rng.uniform(-1, 1, system.nu)
    joints = [b.mobilizer for b in system.bodies]
    D, L = (
        np.array([k if unit.startswith("m") else 1.0 for m in joints for unit in getattr(m, units)])
        for units in ("units", "speed_units")
    )
    before, after = system.state(q=q, u=u), big.state(q=q * D, u=u * L)
    for b in system.bodies:
        X, Y = before.body_pose(b.name), after.body_pose(b.name)
        np.testing.assert_allclose(Y.R, X.R, atol=1e-13)  # some products of rotations
        np.testing.assert_allclose(Y.p, k * X.p, atol=1e-13)
    np.testing.assert_allclose(after.energy(), k**2 * np.array(before.energy()), rtol=1e-12)  # sums of terms
    np.testing.assert_allclose(after.forward_dynamics(), L * before.forward_dynamics(), rtol=1e-10)


def test_unequal_factors_of_joints_are_along_the_axes_of_their_frames():
    """A frame F that is turned on its body: the rule of the joint sees the factors of its axes."""
    turned = cd.Transform(rotation_z(np.pi / 2), (0, -0.2, 0))
    system = leg(knee=cd.EllipticSlider(0.02, 0.03)).copy(bodies={"shank": {"X_PF": turned}})
    knee = cd.scale(system, factors={"thigh": S}).system.body("shank").mobilizer
    assert (knee.a, knee.b) == pytest.approx((0.02 * S[1], 0.03 * S[0]), rel=1e-15)
    with pytest.raises(cd.errors.DescriptionError, match=r"scale: body 'shank': Custom\(knee\): the factors"):
        cd.scale(leg(knee=EVERY["Custom"]), factors={"thigh": S})


def test_copies_with_other_parts():
    system = leg()
    muscle = system.force("quad")
    other = system.copy(
        bodies={"shank": {"mass": 4.0, "X_PF": (0, -0.25, 0)}},
        forces={"cord": None},
        markers={"toe": (0.2, -0.4, 0), "hip": None},
    )
    assert (other.body("shank").mass, system.body("shank").mass) == (4.0, 3.0)
    assert other.body("shank").mass_properties.com == pytest.approx((0, -0.2, 0))
    assert other.forces == ("gravity", "quad") and other.force("quad") is muscle
    assert other.markers == ("knee", "ankle", "toe")
    assert other.body_pose([0.0, 0.0], "shank").p[1] == pytest.approx(1 - 0.2 - 0.25)
    for wrong, said in (
        ({"bodies": {"shnk": {}}}, "unknown body 'shnk'"),
        ({"bodies": {"shank": {"weight": 1}}}, "'weight'"),
        ({"bodies": {"shank": {"mobilizer": cd.Ball()}}}, "must have the coordinates of"),
        ({"forces": {"quad": 3}}, "expected a force"),
        ({"forces": {"gravity": None}}, "gravity cannot be left out"),
        ({"markers": {"too": None}}, "unknown marker 'too'"),
        ({"bodies": {"shank": {"mass": -1}}}, "mass"),
    ):
        with pytest.raises(cd.errors.CondyleError, match=said):
            system.copy(**wrong)


def test_couplers_of_translations_grow_with_the_body_that_the_joint_stands_on():
    system = leg(knee=cd.Slider())
    coupling = Coupling(cd.functions.SimmSpline((-1, 0, 1), (0.1, 0, 0.2)), 1.5)
    system.add_constraint("cam", cd.constraints.CoordinateCoupler(coupling, ("hip", "shank")))
    new = cd.scale(system, factors={"thigh": 1.2}).system
    assert new.constraint("cam").function.factor == pytest.approx(1.8, rel=1e-15)
    assert cd.scale(system, factors={"shank": 1.2}).system.constraint("cam").function.factor == 1.5
    with pytest.raises(
        cd.errors.DescriptionError, match="constraint 'cam': it gives the translation 'shank'"
    ):
        cd.scale(system, factors={"thigh": (1, 2, 1)})


def chain():
    """Three links in a row, with all that keeps its share of a length from the first to the last."""
    system = cd.System()
    for parent, name, p in (("ground", "a", (0, 0, 0)), ("a", "b", (0, -0.4, 0)), ("b", "c", (0, -0.4, 0))):
        system.add_body(name, parent, cd.Pin(), X_PF=p, mass=1.0, inertia=(0.1, 0.1, 0.1))
    ends = ("a", (0.05, -0.1, 0)), ("c", (0.05, -0.1, 0))
    system.add_force("muscle", cd.muscles.Thelen2003(cd.paths.Path(ends), 1000.0, 0.3, 0.5))
    system.add_force("spring", cd.forces.PathSpring(cd.paths.Path(ends), 100.0, 0.5))
    system.add_force("cord", cd.forces.TwoPointSpring(*ends[0], *ends[1], 100.0, 0.5))
    return system


def test_lengths_follow_a_body_that_they_only_pass():
    """The path goes from a to c; only b, between them, is scaled: 0.8 m become 1.2 m."""
    new = cd.scale(chain(), factors={"b": 2.0}).system
    muscle = new.force("muscle")
    lengths = [
        muscle.optimal_fiber_length,
        muscle.tendon_slack_length,
        new.force("spring").rest_length,
        new.force("cord").rest_length,
    ]
    assert np.allclose(lengths, 1.5 * np.array([0.3, 0.5, 0.5, 0.5]), rtol=1e-14)  # a sum of two lengths


def test_rods_are_as_long_as_the_bodies_they_hold():
    """A loop of links, all of them 1.2 times as large: the pose stays, and the rod spans what it spanned."""
    system = chain()
    system.add_constraint("rod", cd.constraints.Rod("a", (0.3, 0, 0), "c", (0, -0.4, 0), np.hypot(0.3, 1.2)))
    new = cd.scale(system, factors={"a": 1.2, "b": 1.2, "c": 1.2}).system
    assert new.constraint("rod").length == pytest.approx(1.2 * np.hypot(0.3, 1.2), rel=1e-12)
    assert np.abs(new.state().constraints.errors()[0]).max() < 1e-12


def test_surfaces_of_contacts_move_with_their_bodies():
    """As stations of other forces do; what cannot be scaled, their sizes, is said."""
    system, rubber = chain(), cd.contact.Material(1e6)
    floor = cd.contact.HalfSpace("ground", (0, 1, 0), -2.0, rubber)
    system.add_contact("toe", floor, cd.contact.Sphere("c", (0.1, -0.4, 0.2), 0.03, rubber))
    system.add_contact("egg", floor, cd.contact.Ellipsoid("c", (0.1, -0.4, 0.2), (0.1, 0.2, 0.3), rubber))
    result = cd.scale(system, factors={"c": S})
    toe, egg = (result.system.force(name) for name in ("toe", "egg"))
    assert np.allclose(toe.b.center, S * (0.1, -0.4, 0.2), rtol=1e-15) and toe.b.radius == 0.03
    assert np.allclose(egg.b.X.p, S * (0.1, -0.4, 0.2), rtol=1e-15) and egg.b.radii == (0.1, 0.2, 0.3)
    assert toe.a.height == -2.0 and "contact 'toe': its surfaces keep their sizes" in str(result.report())
    assert not any("contact" in note for note in cd.scale(system, factors={"b": 2.0}).notes)


def test_a_path_without_length_leaves_the_rest_length():
    """Both points coincide in the default pose, so that no ratio of lengths exists."""
    s = cd.System()
    s.add_body("a", mobilizer=cd.Pin(), mass=1.0, com=(0, -0.5, 0), inertia=(0.1, 0.1, 0.1))
    path = cd.paths.Path([("ground", (0, 0, 0)), ("a", (0, 0, 0))])
    s.add_force("tie", cd.forces.PathSpring(path, 100.0, 0.3))
    grown = cd.scale(s, factors={"a": 2.0}).system
    assert grown.force("tie").rest_length == 0.3
