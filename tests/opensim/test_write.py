"""Systems written as .osim: live OpenSim loads them to the same poses, masses, lengths and accelerations;
what it does not have is refused."""

import re
from importlib.util import find_spec
from xml.etree import ElementTree

import numpy as np
import pytest

import condyle as cd
from benchmarks.opensim_process import OpenSimProcess
from condyle.opensim.constraints import Coupling
from tests.opensim.files import reference
from tests.opensim.live import about_files
from tests.opensim.rewritten import compared
from tests.opensim.written import constrained, contacts, forces, joints, muscles, states


@pytest.fixture(scope="module")
def opensim():
    if find_spec("opensim") is None:
        pytest.skip("opensim is not installed (extra: peers)")
    return OpenSimProcess(None, about_files)


def difference(system, answers, q):
    """Largest error of poses [m, 1]."""
    worst = 0.0
    for answer, at in zip(answers, q, strict=True):
        for b in system.bodies:
            for mine, theirs in zip(system.body_pose(at, b.name), answer["poses"][b.name], strict=True):
                worst = max(worst, np.abs(mine - theirs).max())
    return worst


def accelerations(answers, told):
    return np.array(
        [[a["udot"][name] for name in one["coordinates"]] for a, one in zip(answers, told, strict=True)]
    )


@pytest.mark.peers
def test_moving_points_beyond_their_range(opensim, evidence, tmp_path):
    """A spring to a point that moves with the angle, up to 0.2 rad. Its moment must be -k (L - L_0) dL/dq.
    Beyond the range OpenSim's point stands still, but the derivative in its moment goes on: a walker whose
    knee leaves its range was 1.8e-3 rad off at 0.12 s, and 0.2 rad at 0.5 s. With ranges that the knee does
    not leave, OpenSim's Manager at accuracy 1e-10 and cd.simulate agree to 2e-9 rad after 1 s."""
    system = cd.System(gravity=(0, 0, 0))
    inertia = 0.3
    turn = cd.Coordinate("arm", range=(-0.5, 0.2))
    system.add_body("arm", mobilizer=cd.Pin(), mass=1.0, inertia=(0.2, 0.2, inertia), coordinates=[turn])
    x, y = (cd.functions.Polynomial(c) for c in ((0.1, 0.05, 0.02), (-0.3, 0.04, 0.0)))

    def spring(most):
        point = cd.paths.MovingPoint("arm", (x, y, 0.0), "arm", range=(-0.5, most))
        return cd.forces.PathSpring(cd.paths.Path([("ground", (0.3, 0.2, 0)), point]), 50.0, 0.1)

    system.add_force("cord", spring(0.2))
    with pytest.raises(cd.errors.DescriptionError, match="OpenSim's moves in that of the coordinate"):
        cd.write_osim(system.copy(forces={"cord": spring(0.3)}), tmp_path / "other.osim")
    cd.write_osim(system, tmp_path / "written.osim")
    at, h = np.array([-0.4, 0.1, 0.3, 0.9]), 1e-5
    q = np.concatenate([at, at + h, at - h])
    answers = opensim.ask(
        "states", str(tmp_path / "written.osim"), [{"coordinates": {"arm": (v, 0.0)}} for v in q]
    )
    L = np.array([a["lengths"]["cord"] for a in answers]).reshape(3, -1)
    np.testing.assert_allclose(system.path_lengths(q[:, None])[:, 0], L.ravel(), rtol=0, atol=1e-14)
    expected = -50.0 * (L[0] - 0.1) * (L[1] - L[2]) / (2 * h) / inertia
    ours = system.forward_dynamics(at[:, None], np.zeros((4, 1)))[:, 0]
    # differences of lengths that are known to 1e-16, over 1e-5
    evidence(
        "moving points beyond their range: accelerations by the slope of OpenSim's lengths [rad/s^2]",
        np.abs(ours - expected).max(),
        1e-7,
    )
    theirs = np.array([a["udot"]["arm"] for a in answers[:4]])
    np.testing.assert_allclose(theirs[:2], expected[:2], rtol=0, atol=1e-7)
    assert (np.abs(theirs - expected)[2:] > 0.1).all()  # if OpenSim mends it: docs/parity.md


@pytest.mark.peers
@pytest.mark.parametrize(
    ("make", "what"), [(joints, "every joint, forward and reversed"), (forces, "every force")]
)
def test_opensim_loads_the_same(opensim, evidence, tmp_path, make, what):
    system = make()
    cd.write_osim(system, tmp_path / "written.osim")
    q, u, _, told = states(system, 3, 0)
    if make is forces:
        told = [
            one
            | {
                "controls": {
                    "driven": 0.7,
                    "cable": 0.3,
                    "motor": 0.4,
                    "torque": 0.5,
                    "jack": 0.5,
                    "torque_in_body": 0.5,
                }
            }
            for one in told
        ]
    answers = opensim.ask("states", str(tmp_path / "written.osim"), told)
    # poses are sums and products of a few numbers of order one
    evidence(f"written for OpenSim, {what}: poses [m, 1]", difference(system, answers, q), 1e-12)
    inputs = {"driven": 0.7} if make is forces else None
    udot = system.forward_dynamics(q, u, inputs=inputs)
    # two programs, rounding times the condition of the mass matrix
    evidence(
        f"written for OpenSim, {what}: accelerations, relative",
        np.abs(accelerations(answers, told) - udot).max() / np.abs(udot).max(),
        1e-11,
    )
    assert answers[0]["mass"] == pytest.approx(sum(b.mass for b in system.bodies), rel=1e-14)
    for i, answer in enumerate(answers):
        for name, place in answer["markers"].items():
            m = system.marker(name)
            assert system.station_position(q[i], m.body, m.station) == pytest.approx(place, abs=1e-13)


PLACES = {"ball_ty": 0.1, "ball_tz": 0.1, "wheel_tx": 0.2, "wheel_ty": 0.11}
"""Where the bodies of `contacts` touch [m]."""


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore:write_osim|TimeSeries")
def test_contact_loads_over_time_scapula_and_groups(opensim, evidence, tmp_path):
    system = contacts()
    cd.write_osim(system, tmp_path / "written.osim")
    q, u, _, told = states(system, 3, 0)
    t = np.array([0.13, 0.4, 0.77])
    for k, one in enumerate(told):
        one["t"] = t[k]
        for name, place in (PLACES | {"ball_tx": 0.02 * k, "wheel_tz": 0.05 * k}).items():
            q[k, system.coordinates.index(name)] = place
            one["coordinates"][name] = (place, one["coordinates"][name][1])
    answers = opensim.ask("states", str(tmp_path / "written.osim"), told)
    evidence("written for OpenSim, a scapula: poses [m, 1]", difference(system, answers, q), 1e-12)
    udot = system.forward_dynamics(q, u, t=t)
    for name in system.forces:  # each has a part that is seen
        off = system.forward_dynamics(q, u, t=t, disabled=[name, *system.constraints])
        assert np.abs(off - udot).max() > 5.0, name
    theirs = accelerations(answers, told)
    # rounding times the stiffness of contact
    evidence(
        "written for OpenSim, contact and loads over time: accelerations, relative",
        np.abs(theirs - udot).max() / np.abs(udot).max(),
        1e-11,
    )


@pytest.mark.filterwarnings("ignore:write_osim|TimeSeries")
def test_contact_and_groups_come_back(tmp_path):
    system = contacts()
    cd.write_osim(system, tmp_path / "written.osim")
    with pytest.warns(UserWarning, match="are not enforced in default states"):
        again = cd.read_osim(tmp_path / "written.osim")
    assert again.groups == system.groups and again.forces == system.forces
    assert again.constraints == system.constraints and again._off == system._off
    made = re.findall('<Contact(?:Sphere|HalfSpace) name="(.*?)"', (tmp_path / "written.osim").read_text())
    assert made == ["floor", "ball", "two_sphere", "smooth_sphere", "smooth_halfspace"]  # the ball once
    q, u = np.full(system.nq, 0.1), np.full(system.nu, 0.2)
    mine, theirs = (s.forward_dynamics(q, u, t=0.3) for s in (system, again))
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)  # rounding of angles of the floor


def test_contact_that_cannot_be_written(tmp_path):
    contact, s = cd.contact, cd.System()
    s.add_body("b", mobilizer=cd.Free(), mass=1.0, inertia=(1, 1, 1))
    soft = contact.Material(1e6)
    floor, ball = contact.HalfSpace("ground", (0, 1, 0), 0, soft), contact.Sphere("b", (0, 0, 0), 0.1, soft)
    s.add_force("spins", contact.OpenSimHuntCrossley(floor, ball, spin_friction=0.1))
    rough = contact.Material(1e6, 0.0, 0.8, 0.6)
    grip = contact.HalfSpace("ground", (0, 1, 0), 0, rough), contact.Sphere("b", (0, 0, 0), 0.2, rough)
    s.add_contact("ours", *grip)
    hard = contact.Rigid()
    s.add_contact(
        "hard", contact.HalfSpace("ground", (1, 0, 0), 0, hard), contact.Sphere("b", (0, 0, 0), 0.3, hard)
    )
    o, x, z, law = (0, 0, 0), (1, 0, 0), (0, 0, 1), cd.constraints
    s.add_constraint("roll", law.PointInPlane("ground", (0, 1, 0), 0.3, "b", o))
    s.add_constraint("roll_angle", law.ConstantAngle("ground", x, "b", z))
    for end, axis in (("_x", x), ("_z", z)):
        s.add_constraint(f"roll{end}", law.NoSlip1D("ground", o, axis, "ground", "b"))
    with pytest.raises(cd.errors.DescriptionError) as refused:
        cd.write_osim(s, tmp_path / "no.osim")
    for words in (
        "force 'spins'",
        "law=cd.contact.OpenSimHuntCrossley), with the same normal force",
        "constraint 'hard': OpenSim has no constraint like",
        "with law=cd.contact.OpenSimHuntCrossley, are",
        "constraint 'roll': OpenSim decides at each step",
    ):
        assert words in str(refused.value), words


def test_contact_without_friction_is_written_by_default(tmp_path):
    """The default law differs from OpenSim's in friction alone."""
    system, soft = cd.System(), cd.contact.Material(1e6, 0.3)
    system.add_body("b", mobilizer=cd.Slider("y"), mass=1.0, inertia=(1, 1, 1))
    system.add_contact(
        "touch",
        cd.contact.HalfSpace("ground", (0, 1, 0), 0, soft),
        cd.contact.Sphere("b", (0, 0, 0), 0.1, soft),
    )
    cd.write_osim(system, tmp_path / "ball.osim")
    again = cd.read_osim(tmp_path / "ball.osim")
    assert isinstance(again.force("touch"), cd.contact.OpenSimHuntCrossley)
    udot = [s.forward_dynamics([0.09], [-0.2]).item() for s in (system, again)]
    assert udot[0] == pytest.approx(udot[1], rel=1e-14) and udot[0] > 100


@pytest.mark.peers
def test_constraints(opensim, evidence, tmp_path):
    system = constrained()
    cd.write_osim(system, tmp_path / "written.osim")
    q, _ = system.defaults()
    told = {"coordinates": {name: (float(x), 0.0) for name, x in zip(system.coordinates, q, strict=True)}}
    answers = opensim.ask("states", str(tmp_path / "written.osim"), [told])
    udot = system.forward_dynamics(q, np.zeros(system.nu))
    evidence(
        "written for OpenSim, every constraint: accelerations [rad/s^2, m/s^2]",
        np.abs(accelerations(answers, [told])[0] - udot).max(),
        1e-8,
    )  # OpenSim solves to about 1e-10


@pytest.mark.peers
@pytest.mark.parametrize("make", [cd.models.arm26, cd.models.leg6dof9musc, muscles])
def test_ready_models(opensim, evidence, tmp_path, make):
    system = make()
    cd.write_osim(system, tmp_path / "written.osim")
    q, u, z, told = states(system, 3, 0, within=True)
    told = [one | {"controls": dict.fromkeys(system.muscles, 0.5)} for one in told]
    answers = opensim.ask("states", str(tmp_path / "written.osim"), told)
    # moving points that lie on ellipses of splines
    evidence(f"written for OpenSim, {make.__name__}: poses [m, 1]", difference(system, answers, q), 1e-12)
    smooth = [
        m
        for m in system.paths
        if not any(isinstance(w.surface, cd.paths.Ellipsoid) for w in system.force(m).path.wraps)
    ]
    lengths = system.path_lengths(q)[:, [system.paths.index(m) for m in smooth]]
    theirs = np.array([[a["lengths"][m] for m in smooth] for a in answers])
    # OpenSim's ways over cylinders are found by iterations that stop early, those over ellipsoids are no
    # geodesics: the latter are left out
    evidence(
        f"written for OpenSim, {make.__name__}: lengths of muscles [m]",
        np.abs(lengths - theirs).max(),
        1e-9 if len(smooth) == len(system.paths) else 1e-5,
    )
    if len(smooth) == len(system.paths):
        inputs = dict.fromkeys(system.muscles, 0.5)
        udot = system.forward_dynamics(q, u, z=z, inputs=inputs)
        # curves of OpenSim are tables, of 1e-9 and better
        evidence(
            f"written for OpenSim, {make.__name__}: accelerations with muscles, relative",
            np.abs(accelerations(answers, told) - udot).max() / np.abs(udot).max(),
            1e-9,
        )


def test_everything_that_cannot_be_written_is_listed_and_no_file_is_touched(tmp_path):
    system = cd.System(gravity=cd.forces.Gravity((0, -9.8, 0), excluded="up per"))
    system.add_body(
        "up per",
        mobilizer=cd.SplineCurve.natural(
            [cd.Transform(np.eye(3), (x, x**2, 0)) for x in np.linspace(0, 1, 6)]
        ),
        mass=cd.Parameter("m", 2.0),
        inertia=(1, 1, 1),
    )
    system.add_body(
        "b", "up per", cd.FunctionBased("k", (lambda q: np.sin(q), None, None)), mass=1, inertia=(1, 1, 1)
    )
    system.add_force("own", cd.forces.Custom(lambda s: {"b": cd.Wrench(torque=(1.0, 0, 0))}))
    system.add_constraint("odd", cd.constraints.Holonomic(lambda s: s.q("k") ** 2 - 1))
    with pytest.raises(cd.errors.DescriptionError) as refused:
        cd.write_osim(system, tmp_path / "no.osim")
    said = str(refused.value)
    for words in (
        "gravity: it leaves out 'up per'",
        "body 'up per': names in OpenSim do not have ' '",
        "OpenSim has no joint like SplineCurve",
        "depends on Parameter('m', 2.0); parameters={}",
        "angles[0]: a Python function of k that is not linear",
        "force 'own'",
        "constraint 'odd'",
    ):
        assert words in said, words
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("leg.xml", "must end in .osim"),
        ("no/leg.osim", "there is no folder"),
        (3, "expected the path of a file"),
    ],
)
def test_paths_that_cannot_be(tmp_path, path, said):
    with pytest.raises(cd.errors.DescriptionError, match=said):
        cd.write_osim(cd.System(), tmp_path / path if isinstance(path, str) else path)
    with pytest.raises(cd.errors.DescriptionError, match="expected a System, then the path"):
        cd.write_osim("leg.osim", cd.System())


def test_parameters_have_the_values_that_are_given(tmp_path):
    system = cd.System()
    system.add_body(
        "b",
        mobilizer=cd.Pin(),
        mass=2 * cd.Parameter("m", 2.0),
        inertia=(1, 1, 1),
        X_PF=(0, cd.Parameter("h", 0.1), 0),
    )
    for given, mass, height in (({}, 4.0, 0.1), ({"m": 3.0}, 6.0, 0.1), ({"h": 1 / 3}, 4.0, 1 / 3)):
        cd.write_osim(system, tmp_path / "b.osim", parameters=given)
        root = ElementTree.parse(tmp_path / "b.osim").getroot()
        assert root.get("Version") == "40600"
        assert float(root.find(".//Body/mass").text) == mass
        assert float(root.find(".//PhysicalOffsetFrame/translation").text.split()[1]) == height  # every digit
    with pytest.raises(cd.errors.UnknownNameError, match="'mm'; did you mean 'm'"):
        cd.write_osim(system, tmp_path / "b.osim", parameters={"mm": 3.0})


def test_surfaces_are_written_once_and_have_names_of_their_own(tmp_path):
    system = cd.models.arm26()
    cd.write_osim(system, tmp_path / "arm.osim")
    root = ElementTree.parse(tmp_path / "arm.osim").getroot()
    made = [e.get("name") for s in root.iter("WrapObjectSet") for e in s.find("objects")]
    assert sorted(made) == ["BIClonghh", "TRI", "TRIlongglen", "TRIlonghh"]
    used = [e.text for e in root.iter("wrap_object")]
    assert used.count("TRI") == 4


def test_geometry_that_opensim_cannot_draw_is_left_out_with_a_warning(tmp_path):
    system = cd.System()
    system.add_geometry("ground", cd.shapes.Capsule(0.1, 0.2))
    with pytest.warns(UserWarning, match="geometry 'ground' is left out.*Capsule"):
        cd.write_osim(system, tmp_path / "a.osim")
    assert not re.search("Capsule", (tmp_path / "a.osim").read_text())


MASSLESS = ("wrist.osim",)
"""Files whose accelerations do not exist, in OpenSim too."""


def check_rewritten(path):
    """Largest relative difference between a file and what is written of it, in OpenSim at the same states."""
    found = compared(path, 2)
    assert not found["unset"]
    if path.name in MASSLESS:
        found["ours"].pop("udot")
    return max(off for off, _ in found["ours"].values())


@pytest.mark.peers
@pytest.mark.parametrize(
    "name", ["gait10dof18musc_pipeline/subject01.osim", "opensim/Leg6Dof9Musc/leg6dof9musc.osim"]
)
def test_read_and_written_again(opensim, evidence, name):
    """OpenSim loads what was read and written to the same numbers as the file itself."""
    path = reference(name)
    # the same program with the same numbers, to the last digits of angles
    evidence(
        f"{path.stem} read, written, and loaded by OpenSim: poses, lengths, forces, accelerations, markers",
        check_rewritten(path),
        1e-9,
    )


@pytest.mark.peers
@pytest.mark.slow
def test_every_reference_file_read_and_written_again(opensim, evidence):
    folder = reference("opensim/Arm26/arm26.osim").parents[2]
    paths = sorted(folder.rglob("*.osim"))
    assert len(paths) >= 36
    evidence(
        "every reference file read, written, and loaded by OpenSim: poses, masses, markers, lengths, speeds, "
        "tensions, rates of states, each force, accelerations, relative",
        max(map(check_rewritten, paths)),
        1e-9,
    )


def test_what_a_file_says_of_coordinates_and_couplers_is_kept(tmp_path):
    system = cd.System()
    for name, more in (
        ("a", {"range": (-1.0, 2.0), "clamped": True}),
        ("b", {"locked": True, "default": 0.3}),
        ("c", {"speed": 0.5}),
    ):
        system.add_body(
            name,
            mobilizer=cd.Pin(),
            mass=1.0,
            inertia=(1, 1, 1),
            joint=f"{name}_hinge",
            coordinates=(cd.Coordinate(f"q{name}", **more),),
        )
    x = np.linspace(-1, 1, 5)
    system.add_constraint(
        "cam",
        cd.constraints.CoordinateCoupler(Coupling(cd.functions.SimmSpline(x, x**2), 1.5), ("qa", "qc")),
        enabled=False,
    )
    system.about = {"name": "three", "credits": "us"}
    cd.write_osim(system, tmp_path / "three.osim")
    again = cd.read_osim(tmp_path / "three.osim")
    for mine, read in zip(system.bodies, again.bodies, strict=True):
        (c,), (d,) = mine.coordinates, read.coordinates
        assert (d.name, d.clamped, d.locked, d.speed) == (c.name, c.clamped, c.locked, c.speed)
        assert d.range == c.range and mine.joint == read.joint
        assert d.default == (c.default or 0.0)
    assert again.about == system.about
    law = again.constraint("cam")
    assert law.function == Coupling(cd.functions.SimmSpline(x, x**2), 1.5) and law.coordinates == ("qa", "qc")
    assert again._off == {"cam"}


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore:write_osim|TimeSeries")
def test_locked_and_prescribed_angles_of_a_ball_and_excitations_over_time(opensim, evidence, tmp_path):
    """Constraints that hold or move one coordinate are its lock or its function in the file."""
    system = cd.System()
    system.add_body(
        "head",
        mobilizer=cd.Gimbal(),
        mass=2.0,
        com=(0, 0.1, 0.02),
        inertia=(0.05, 0.01, 0.05),
        coordinates=("a", "b", "c"),
    )
    law = cd.constraints
    system.add_constraint("still", law.ConstantCoordinate("b", 0.3))
    system.add_constraint("nod", law.PrescribedMotion(cd.functions.Sine(0.2, 3.0, 0.1), "c"))
    path = cd.paths.Path([("ground", (0.02, -0.1, 0.05)), ("head", (0.03, 0.15, -0.02))])
    own = {"max_isometric_force": 500.0, "optimal_fiber_length": 0.1, "tendon_slack_length": 0.15}
    system.add_force(
        "neck",
        cd.muscles.Millard2012(
            path, **own, activation_dynamics=False, excitation=cd.functions.Linear(0.4, 0.1)
        ),
    )
    system.groups["neck muscles"] = ("neck",)
    cd.write_osim(system, tmp_path / "head.osim")
    text = (tmp_path / "head.osim").read_text()
    assert "<locked>true" in text and "<prescribed>true" in text and "ConstraintSet" in text
    again = cd.read_osim(tmp_path / "head.osim", strict=True)
    assert again.groups == system.groups
    t = 0.7
    q, u = np.array([0.2, 0.3, 0.2 * np.sin(3 * t + 0.1)]), np.array([0.5, 0.0, 0.6 * np.cos(3 * t + 0.1)])
    told = {
        "t": t,
        "coordinates": {n: (float(x), float(v)) for n, x, v in zip("abc", q, u, strict=True)},
        "z": {"/forceset/neck/fiber_length": 0.09},
    }
    (answer,) = opensim.ask("states", str(tmp_path / "head.osim"), [told])
    udot = system.forward_dynamics(q, u, z=[0.09], t=t)
    # OpenSim's curves are tables of 1e-9 and better
    evidence(
        "written for OpenSim, locks and functions of single angles: accelerations, relative",
        np.abs([answer["udot"][n] for n in "abc"] - udot).max() / np.abs(udot).max(),
        1e-9,
    )


def test_the_way_over_an_ellipsoid_is_kept(tmp_path):
    system = cd.System()
    system.add_body("rib", mobilizer=cd.Pin(), mass=1.0, inertia=(1, 1, 1))
    wrap = cd.paths.Wrap(cd.paths.Ellipsoid((0.1, 0.2, 0.1)), "ground", method="midpoint")
    system.add_force(
        "cord",
        cd.forces.PathSpring(
            cd.paths.Path([("ground", (0.3, 0, 0)), ("rib", (-0.3, 0.01, 0))], [wrap]), 10.0, 0.1
        ),
    )
    cd.write_osim(system, tmp_path / "rib.osim")
    assert cd.read_osim(tmp_path / "rib.osim").force("cord").path.wraps[0].method == "midpoint"
    with pytest.raises(cd.errors.DescriptionError, match="method: expected hybrid, midpoint, axial"):
        cd.paths.Wrap(cd.paths.Sphere(0.1), "ground", method="short")
