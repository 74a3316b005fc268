"""Bad input: each an error of Condyle's that says what, where, the value and what to do; and leaves the
system as it was."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from tests.zoo import two_pins

pytestmark = pytest.mark.filterwarnings("ignore::condyle.errors.PlausibilityWarning")  # numbers at the edge

MASS = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}


@pytest.fixture(autouse=True)
def _casadi(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")


@pytest.fixture
def system():
    system = cd.System()
    system.add_body("thigh", mobilizer=cd.Pin(), coordinates="hip", **MASS)
    system.add_body(
        "shank", "thigh", cd.Pin(), X_PF=(0, -0.4, 0), com=(0, -0.2, 0), coordinates="knee", **MASS
    )
    return system


def refused(error, *words):
    """A context that wants this error with all these words in its message."""

    class Refused:
        def __enter__(self):
            return self

        def __exit__(self, kind, value, traceback):
            assert kind is not None, "nothing was refused"
            assert isinstance(value, error), f"{kind.__name__}: {value}"
            self.value = value
            assert isinstance(value, cd.errors.CondyleError)
            missing = [word for word in words if word not in str(value)]
            assert not missing, f"{missing} missing in: {value}"
            return True

    return Refused()


# ---- Names -------------------------------------------------------------------------------------------------


def test_unknown_body(system):
    q, u = np.zeros((2, 2))
    for ask in (
        lambda: system.body_pose(q, "shnk"),
        lambda: system.body_velocity(q, u, "shnk"),
        lambda: system.station_jacobian(q, "shnk", (0, 0, 0)),
        lambda: system.reactions(q, u, u, "shnk"),
        lambda: system.state().body_pose("shnk"),
        lambda: system.body("shnk"),
        lambda: system.copy().add_body("foot", "shnk", cd.Pin(), **MASS),
    ):
        with refused(cd.errors.UnknownNameError, "body 'shnk'", "did you mean 'shank'"):
            ask()


def test_nothing_near(system):
    with refused(cd.errors.UnknownNameError, "body 'xyz'", "known: 'ground', 'thigh', 'shank'"):
        system.body("xyz")


def test_unknown_coordinate_and_speed(system):
    with refused(cd.errors.UnknownNameError, "coordinate 'kne'", "'knee'"):
        system.state(q={"kne": 1})
    with refused(cd.errors.UnknownNameError, "speed 'hips'", "'hip'"):
        system.state(u={"hips": 1})
    for ask in (
        lambda: system.state(locked=["hipp"]),
        lambda: system.state().replace(locked="hipp"),
        lambda: system.forward_dynamics([0, 0], [0, 0], locked=["hipp"]),
    ):
        with refused(cd.errors.UnknownNameError, "speed 'hipp'", "'hip'"):
            ask()


def test_unknown_force(system):
    for ask in (
        lambda: system.state(disabled="gravty"),
        lambda: system.forward_dynamics([0, 0], [0, 0], disabled=["gravty"]),
    ):
        with refused(cd.errors.UnknownNameError, "force 'gravty'", "'gravity'"):
            ask()


def test_unknown_option_and_variable(system):
    with refused(cd.errors.UnknownNameError, "forward_dynamics()", "'lock'", "'locked'"):
        system.forward_dynamics([0, 0], [0, 0], lock=["hip"])
    with refused(cd.errors.UnknownNameError, "State", "'qs'", "'q'"):
        system.state().replace(qs=1)
    with refused(cd.errors.UnknownNameError, "inverse_dynamics", "'udto'"):
        system.state().inverse_dynamics(udto=[0, 0])


def test_the_error_carries_the_names(system):
    with pytest.raises(cd.errors.UnknownNameError) as caught:
        system.body("shnk")
    assert (caught.value.kind, caught.value.name, caught.value.near) == ("body", "shnk", ["shank"])
    assert isinstance(caught.value, KeyError)


def test_duplicate_names(system):
    with refused(cd.errors.DescriptionError, "'thigh' exists already"):
        system.add_body("thigh", mobilizer=cd.Pin(), **MASS)
    with refused(cd.errors.DescriptionError, "'ground'"):
        system.add_body("ground", mobilizer=cd.Pin(), **MASS)
    with refused(cd.errors.DescriptionError, "'foot'", "'knee' exists already", "coordinates="):
        system.add_body("foot", "shank", cd.Pin(), coordinates="knee", **MASS)
    with refused(cd.errors.DescriptionError, "'x' exists already"):
        system.add_body("foot", "shank", cd.Free(coordinates="euler"), coordinates=list("xyzabx"), **MASS)
    with refused(cd.errors.DescriptionError, "force 'gravity' exists already"):
        system.add_force("gravity", cd.forces.Gravity((0, 0, 0)))


def test_duplicate_speeds(system):
    system.add_body("p", mobilizer=cd.Free(), **MASS)
    with refused(cd.errors.DescriptionError, "'p_wx'", "speed 'p_wx' exists already"):
        system.add_body("p_wx", mobilizer=cd.Pin(), **MASS)


@pytest.mark.parametrize("name", ["", "  ", 3, None])
def test_names_of_bodies(system, name):
    with refused(cd.errors.DescriptionError, "name", repr(name)):
        system.add_body(name, mobilizer=cd.Pin(), **MASS)


@pytest.mark.parametrize(
    ("coordinates", "words"),
    [
        (("a", "b"), ["'foot'", "1 coordinates", "2 names"]),
        ((), ["0 names"]),
        ((3,), ["non-empty string", "3"]),
        (3, ["got 3"]),
        (("",), ["non-empty"]),
        (cd.Coordinate("a", default=np.nan), ["'a'", "default nan"]),
        (cd.Coordinate("a", default="x"), ["'a'", "'x'"]),
        (cd.Coordinate("a", range=(1, -1)), ["'a'", "(1, -1)", "low < high"]),
        (cd.Coordinate("a", range=(1,)), ["(1,)"]),
        (cd.Coordinate("a", range=(0, np.nan)), ["nan"]),
    ],
)
def test_coordinates(system, coordinates, words):
    with refused(cd.errors.DescriptionError, *words):
        system.add_body("foot", "shank", cd.Pin(), coordinates=coordinates, **MASS)


def test_bodies_of_another_system(system):
    other = cd.System()
    stranger = other.add_body("thigh", mobilizer=cd.Pin(), **MASS)
    with refused(cd.errors.DescriptionError, "'thigh'", "another system"):
        system.body_pose([0, 0], stranger)
    with refused(cd.errors.DescriptionError, "another system"):
        system.add_body("foot", stranger, cd.Pin(), **MASS)
    with refused(cd.errors.DescriptionError, "a body", "3"):
        system.body_pose([0, 0], 3)


# ---- Mobilizers and frames ---------------------------------------------------------------------------------


def test_mobilizers(system):
    with refused(cd.errors.DescriptionError, "'foot'", "which mobilizer", "cd.Weld()"):
        system.add_body("foot", "shank", **MASS)
    with refused(cd.errors.DescriptionError, "'foot'", "Slider() is where the parent belongs", "mobilizer="):
        system.add_body("foot", cd.Slider(), **MASS)
    with refused(cd.errors.DescriptionError, "'foot'", "cd.Pin()", "write Pin()"):
        system.add_body("foot", "shank", cd.Pin, **MASS)
    with refused(cd.errors.DescriptionError, "'foot'", "'pin'"):
        system.add_body("foot", "shank", "pin", **MASS)


@pytest.mark.parametrize("kind", [cd.Pin, cd.Slider])
@pytest.mark.parametrize("axis", ["w", (0, 0, 0), (1, 2), (1, np.nan, 0), None, 3, "xy"])
def test_axes(kind, axis):
    with refused(cd.errors.DescriptionError, kind.__name__, "axis", repr(axis)):
        kind(axis=axis)


def test_coordinates_of_free():
    with refused(cd.errors.DescriptionError, "Free", "'quaternion' or 'euler'", "'quat'"):
        cd.Free(coordinates="quat")


@pytest.mark.parametrize("frame", ["X_PF", "X_BM"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.eye(3), ["(3, 3)", "Transform(R)"]),
        ((1, 2), ["3 numbers", "(2,)"]),
        ("x", ["'x'"]),
        ((0, 0, np.nan), ["not finite", "nan"]),
        ((np.eye(3), (0, 0, 0)), ["Transform(R, p)"]),
        (np.diag([1, 1, 1, 2]), ["last row", "0 0 0 1"]),
        (cd.Transform(None, np.zeros((2, 3))), ["one Transform", "2"]),
        ([[1, 2, 3], [4, 5]], ["3 numbers"]),
    ],
)
def test_frames(system, frame, value, words):
    with refused(cd.errors.DescriptionError, "'foot'", frame, *words):
        system.add_body("foot", "shank", cd.Pin(), **{frame: value}, **MASS)


def test_frames_with_unknown_symbols(system):
    with refused(cd.errors.DescriptionError, "'foot'", "symbol", "cd.Parameter"):
        system.add_body("foot", "shank", cd.Pin(), X_PF=cd.Transform(None, ca.SX.sym("x", 3)), **MASS)


def test_rotations_that_are_none():
    bent = np.eye(3)
    bent[0, 1] = 1e-6
    with refused(cd.errors.DescriptionError, "not a rotation", "R'R - 1", "1e-06", "Give all digits"):
        cd.Transform(bent)
    with refused(cd.errors.DescriptionError, "determinant -1", "left-handed"):
        cd.Transform(np.diag([1, 1, -1]))
    with refused(cd.errors.DescriptionError, "R", "not finite"):
        cd.Transform(np.full((3, 3), np.nan))
    with refused(cd.errors.DescriptionError, "R", "(2, 2)"):
        cd.Transform(np.eye(2))


# ---- Mass --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        ({"mass": -1.0}, ["mass is -1 kg", "zero or more"]),
        ({"mass": np.nan}, ["mass", "not finite", "nan"]),
        ({"mass": (1, 2)}, ["mass is one number", "(2,)"]),
        ({"mass": "heavy"}, ["mass", "'heavy'"]),
        ({"mass": 1, "com": (1, 2)}, ["com", "3 numbers", "(2,)"]),
        ({"mass": 1, "com": (1, 2, np.inf)}, ["com", "not finite"]),
        ({"mass": 1, "inertia": (1, 1, 3)}, ["triangle inequality", "1, 1, 3", "mass center"]),
        ({"mass": 1, "inertia": (1, 1, -1)}, ["positive semidefinite", "-1"]),
        ({"mass": 1, "inertia": (1, 1, 1, 2, 0, 0)}, ["positive semidefinite"]),
        ({"mass": 1, "inertia": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]}, ["not symmetric", "0.1"]),
        ({"mass": 1, "inertia": (1, 2)}, ["3 numbers (xx yy zz), 6", "(2,)"]),
        ({"mass": 1, "inertia": (1, np.nan, 1)}, ["inertia", "not finite"]),
        ({"mass": 0, "inertia": (1, 1, 1)}, ["mass is 0 but inertia is not"]),
    ],
)
def test_mass_properties(system, properties, words):
    with refused(cd.errors.DescriptionError, "body 'foot'", *words):
        system.add_body("foot", "shank", cd.Pin(), **properties)


@pytest.mark.parametrize("gravity", [(0, -9.81), 9.81, (0, np.nan, 0), "down", None, [[0, 0, 1]]])
def test_gravity(gravity):
    with refused(
        cd.errors.DescriptionError,
        "gravity: expected three finite numbers or cd.Parameters [m/s^2]",
        repr(gravity),
    ):
        cd.System(gravity=gravity)


# ---- Mobility without inertia ------------------------------------------------------------------------------

USES = [
    lambda s: s.state(),
    lambda s: s.forward_dynamics(*s.defaults()),
    lambda s: s.mass_matrix(s.defaults()[0]),
]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("mobilizer", [cd.Pin(), cd.Slider(), cd.Free(), cd.Pin().reversed()])
def test_a_massless_tip(system, mobilizer, use):
    system.add_body("tip", "shank", mobilizer)
    with refused(
        cd.errors.DescriptionError,
        "body 'tip'",
        repr(mobilizer),
        "moves no inertia",
        "mass 0 kg",
        "cd.Weld()",
    ):
        use(system)


def test_a_massless_chain(system):
    """Neither body has mass: the tip is named, its parent carries nothing either."""
    system.add_body("a", "shank", cd.Pin())
    system.add_body("b", "a", cd.Weld())
    with refused(cd.errors.DescriptionError, "body 'a'", "no inertia"):
        system.state()


@pytest.mark.parametrize(
    ("mobilizer", "properties"),
    [
        (cd.Pin(), {"mass": 1.0}),  # a point mass on the axis
        (cd.Pin(), {"mass": 1.0, "com": (0, 0, 0.3)}),  # the same, further along
        (cd.Pin("x"), {"mass": 1.0, "inertia": (0, 1, 1)}),  # a thin rod about itself
        (cd.Free(), {"mass": 1.0}),  # a point has no orientation
    ],
)
def test_inertia_that_a_joint_does_not_move(system, mobilizer, properties):
    system.add_body("tip", "shank", mobilizer, **properties)
    with refused(cd.errors.DescriptionError, "body 'tip'", "no inertia", "mass 1 kg"):
        system.state()


def test_an_inner_body_needs_what_its_children_do_not_give(system):
    """Two pins about one line, with mass at the end only: turning against each other moves nothing."""
    system.add_body("idle", "shank", cd.Pin())
    system.add_body("end", "idle", cd.Pin(), **MASS)
    with refused(cd.errors.DescriptionError, "body 'idle'", "no inertia"):
        system.state()


def test_massless_bodies_that_are_legal(system):
    """Welded frames, and a massless link whose mobility its children give inertia."""
    system.add_body("marker", "shank", cd.Weld(), X_PF=(0, -0.2, 0))
    system.add_body("link", "shank", cd.Pin("x"))
    system.add_body("end", "link", cd.Pin("y"), **MASS)
    assert np.isfinite(system.state().udot).all()


# ---- Arrays ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0], [0, 0]), ["q", "(..., 2)", "(1,)"]),
        (([0, 0], [0]), ["u", "(..., 2)", "(1,)"]),
        (([0, 0], [0, 0], [0]), ["tau", "(..., 2)", "(1,)"]),
        ((0, [0, 0]), ["q", "(..., 2)", "()"]),
        ((["a", "b"], [0, 0]), ["q", "real numbers"]),
        ((np.zeros(2) + 1j, [0, 0]), ["q", "real numbers"]),
        (([[0, 0], [0]], [0, 0]), ["q", "different lengths"]),
        (({"hip": "far"}, [0, 0]), ["q", "'hip'", "'far'"]),
        ((np.zeros((3, 2)), np.zeros((4, 2))), ["broadcast", "(3, 2)", "(4, 2)"]),
    ],
)
def test_shapes(system, arguments, words):
    with refused(cd.errors.ShapeError, "forward_dynamics", *words):
        system.forward_dynamics(*arguments)


def test_stations(system):
    with refused(cd.errors.ShapeError, "station_jacobian", "station", "(..., 3)", "(2,)"):
        system.station_jacobian([0, 0], "shank", (0, 0))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"t": "now"}, ["t", "number", "'now'"]),
        ({"locked": np.array([0, 1, 0])}, ["locked", "(..., 2)"]),
        ({"locked": np.array([0.0, 0.5])}, ["locked", "0/1"]),
        ({"locked": 3}, ["names of speeds", "3"]),
        ({"inputs": [1.0]}, ["inputs", "(1,)"]),
        ({"parameters": [1.0]}, ["parameters", "(1,)"]),
        ({"z": [1.0]}, ["z", "(1,)"]),
        ({"t": np.zeros(3), "locked": np.zeros((2, 2))}, ["t (3,)", "lock (2,)"]),
        ({"out": np.zeros(3)}, ["out", "(2,)", "(3,)"]),
        ({"out": np.zeros(2, dtype=int)}, ["out", "floating-point"]),
        ({"out": [0.0, 0.0]}, ["out", "list"]),
        ({"threads": 0}, ["threads", "0"]),
    ],
)
def test_options(system, options, words):
    with refused((cd.errors.ShapeError, cd.errors.DescriptionError), *words):
        system.forward_dynamics([0, 0], [0, 0], **options)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"q": [0]}, ["q", "(2,)", "(1,)"]),
        ({"u": [[0, 0]]}, ["u", "(2,)", "(1, 2)"]),
        ({"q": "zero"}, ["q", "'zero'"]),
        ({"q": {"hip": "x"}}, ["'hip'", "'x'"]),
        ({"q": {"hip": [1, 2]}}, ["'hip'"]),
        ({"q": [0, np.nan]}, ["'knee' is nan", "finite"]),
        ({"u": {"hip": np.inf}}, ["'hip' is inf"]),
        ({"t": np.nan}, ["t", "finite", "nan"]),
        ({"t": "now"}, ["t", "'now'"]),
        ({"t": [0.0, 1.0]}, ["t", "one"]),
    ],
)
def test_states(system, values, words):
    with refused(cd.errors.ShapeError, *words):
        system.state(**values)
    with refused(cd.errors.ShapeError, *words):
        system.state().replace(**values)


def test_arguments_of_a_state(system):
    state = system.state()
    for ask in (
        lambda: state.forward_dynamics([1]),
        lambda: state.inverse_dynamics([1, 2, 3]),
        lambda: state.station_jacobian("shank", (0, 0)),
    ):
        with refused(cd.errors.ShapeError, "expected shape"):
            ask()


def test_a_quaternion_without_direction():
    system = cd.System()
    system.add_body("float", mobilizer=cd.Free(), **MASS)
    with refused(cd.errors.ShapeError, "quaternion", "'float'", "(1, 0, 0, 0)"):
        system.state(q=np.zeros(7))
    with refused(cd.errors.ShapeError, "quaternion"):
        system.state().replace(q={"float_qw": 0})


def test_zero_quaternion_of_one_of_many_bodies():
    """From some two dozen on they are looked at by a loop."""
    system = cd.System()
    for k in range(30):
        system.add_body(f"b{k}", mobilizer=cd.Free(), mass=1, inertia=(1, 1, 1))
    q, u = system.defaults()
    assert not system.qdot(q, u).any()
    for k in (0, 17, 29):
        x = q.copy()
        x[7 * k : 7 * k + 4] = 0
        for some in (x, np.stack([q] * 8 + [x])):
            with refused(cd.errors.ShapeError, "quaternion", f"'b{k}'"):
                system.qdot(some, u)


def test_zero_quaternion_in_an_operator(monkeypatch):
    monkeypatch.delenv("CONDYLE_EVALUATOR")  # only machine code has the status
    system = cd.System()
    system.add_body("head", mobilizer=cd.Ball(), **MASS)
    with refused(cd.errors.ShapeError, "forward_dynamics", "quaternion of body 'head'", "(1, 0, 0, 0)"):
        system.forward_dynamics(np.zeros(4), np.zeros(3))


@pytest.mark.parametrize("station", [(0, 1), 3.0, "heel", None, np.zeros((3, 2))])
def test_stations_that_are_no_points(system, station):
    q, u = np.zeros((2, 2))
    for ask in (
        lambda: system.station_position(q, "shank", station),
        lambda: system.station_velocity(q, u, "shank", station),
        lambda: system.state().station_acceleration("shank", station),
    ):
        with refused(cd.errors.ShapeError, "station", "3 numbers [m]", repr(station)):
            ask()


def test_one_state_or_many(system):
    with refused(cd.errors.ShapeError, "q", "(4, 2)", "a State is one state"):
        system.state(q=np.zeros((4, 2)))
    with refused(cd.errors.ShapeError, "t", "[0, 0]", "q="):
        system.state([0, 0])


def test_options_of_derivatives(system):
    q, u = np.zeros((2, 2))
    for ask in (
        lambda o: system.jacobian("forward_dynamics", q, u, wrt="q", **o),
        lambda o: system.jvp("forward_dynamics", q, u, tangents={"q": q}, **o),
        lambda o: system.vjp("forward_dynamics", q, u, cotangent=q, **o),
    ):
        with refused(cd.errors.UnknownNameError, "option", "'paramters'", "did you mean 'parameters'"):
            ask({"paramters": {}})
        with refused(cd.errors.UnknownNameError, "option", "'out'"):
            ask({"out": np.empty((2, 2))})


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite(system, bad):
    """Every operator says which entry of which state; what it holds of the others is right."""
    zeros = np.zeros((20, 2))
    x = zeros.copy()
    x[3, 1] = bad
    for name, ask in {
        "forward_dynamics: q": lambda x: system.forward_dynamics(x, zeros),
        "forward_dynamics: u": lambda x: system.forward_dynamics(zeros, x),
        "inverse_dynamics: q": lambda x: system.inverse_dynamics(x, zeros, zeros[0]),
    }.items():
        with refused(cd.errors.ShapeError, name, f"'knee' is {bad}", "finite", "state (3,)") as caught:
            ask(x)
        result = caught.value.result
        assert np.isnan(result[3]).all()
        np.testing.assert_array_equal(np.delete(result, 3, axis=0), np.delete(ask(zeros), 3, axis=0))


# ---- After an error ----------------------------------------------------------------------------------------


def test_an_error_leaves_the_system_as_it_was(system):
    before = system.describe()
    for bad in (
        {"mass": -1},
        {"X_PF": (0, 0)},
        {"coordinates": "hip"},
        {"coordinates": ("a", "b")},
        {"inertia": (1, 1, 3)},
        {"parent": "nobody"},
    ):
        with pytest.raises(cd.errors.CondyleError):
            system.add_body(**({"name": "foot", "parent": "shank", "mobilizer": cd.Pin(), **MASS} | bad))
        assert system.describe() == before
    system.add_body("foot", "shank", cd.Pin(), **MASS)
    assert system.coordinates == ("hip", "knee", "foot")


def test_frozen_systems_say_where_they_froze(system):
    system.mass_matrix([0, 0])
    with refused(cd.errors.FrozenError, "'foot'", "mass_matrix()", "test_refusals.py:", "system.copy()"):
        system.add_body("foot", "shank", cd.Pin(), **MASS)


HUGE = {
    "mass": {"mass": 1e200},
    "com": {"com": (0, -1e60, 0)},
    "inertia": {"inertia": (1e60, 1e60, 1e60)},
    "X_PF": {"X_PF": (1e200, 0, 0)},
    "X_BM": {"X_BM": cd.Transform(p=(0, 0, -1e51))},
}


@pytest.mark.parametrize("what", HUGE)
def test_numbers_that_would_overflow_are_refused(what):
    """Products of masses and lengths would be infinite, and results not numbers, without a word."""
    system = cd.System()
    with pytest.raises(
        cd.errors.DescriptionError,
        match=rf"'b': {what} has a (number|translation) of size .*above 1e\+50 overflow",
    ):
        system.add_body("b", mobilizer=cd.Pin(), **({"mass": 1.0, "inertia": (0.1, 0.1, 0.1)} | HUGE[what]))
    assert not system.bodies


@pytest.mark.parametrize(
    "make",
    [lambda: cd.Screw(1e200), lambda: cd.Ellipsoid((0.1, 1e60, 0.1)), lambda: cd.CantileverFreeBeam(1e300)],
)
def test_numbers_of_joints_that_would_overflow_are_refused(make):
    with pytest.raises(cd.errors.DescriptionError, match=r"of size .*above 1e\+50 overflow"):
        make()


def test_the_largest_numbers_give_finite_results():
    """At the limit of all of them at once."""
    system, size = cd.System(), 1e50
    body = {"mass": size, "com": (size, 0, 0), "inertia": (size, size, size), "X_PF": (0, size, 0)}
    system.add_body("a", mobilizer=cd.Pin(), **body)
    system.add_body("b", "a", cd.Pin(), **body)
    q, u = system.defaults()
    assert np.isfinite(system.forward_dynamics(q, u)).all() and np.isfinite(system.mass_matrix(q)).all()


@pytest.mark.parametrize("seed", range(8))
def test_four_sliders_without_mass_between_are_refused(seed):
    """Four speeds for three directions: elimination leaves rounding, which is nothing beside what the first
    slider carries."""
    rng, system = np.random.default_rng(seed), cd.System()
    for name, parent in zip("abcd", ("ground", *"abc"), strict=True):
        last = {"mass": 1.0, "inertia": (1, 1, 1)} if name == "d" else {}
        system.add_body(name, parent, cd.Slider(rng.normal(size=3)), **last)
    with pytest.raises(cd.errors.DescriptionError, match="moves no inertia"):
        system.state()


@pytest.fixture(scope="module")
def leg() -> cd.System:
    return two_pins()


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (
            lambda leg, state: leg.forward_dynamics(state),
            "got a State; ask the State itself: state.forward_dynamics()",
        ),
        (lambda leg, state: leg.forward_dynamics(state, [0, 0]), "state.forward_dynamics()"),
        (lambda leg, state: leg.energy(state), "state.energy()"),
        (lambda leg, state: leg.body_pose(state, "thigh"), "state.body_pose(body)"),
        (lambda leg, state: state.energy([0, 0], [0, 0]), "a State has q, u itself"),
        (
            lambda leg, state: leg.forward_dynamics(np.zeros((5, 2)), np.zeros((5, 2)), t=np.arange(3.0)),
            "t, parameters and other options (3,)",
        ),
        (
            lambda leg, state: leg.explain([0, 0], [0, 0]),
            "expected a State: system.explain(system.state(q=..., u=...)",
        ),
        (
            lambda leg, state: leg.copy().add_body("foot", "shank", cd.Pin(), mass="1"),
            "mass: expected numbers",
        ),
        (lambda leg, state: cd.Parameter("mass", "3"), "its default is one finite number, got '3'"),
        (
            lambda leg, state: leg.copy().add_body("foot", "shank", cd.Pin(), coordinates={"ankle": 0.3}),
            "cd.Coordinate(name, default)",
        ),
        (lambda leg, state: setattr(leg.copy(), "gravity", (0, 0, 0)), "cd.System(gravity=...)"),
        (lambda leg, state: setattr(leg.copy(), "mass", 3.0), "'mass' cannot be set"),
    ],
)
def test_the_answer_says_what_to_do(leg, mistake, words):
    with pytest.raises(cd.errors.CondyleError) as told:
        mistake(leg, leg.state(q=[1.0, 0.1]))
    assert words in str(told.value)
