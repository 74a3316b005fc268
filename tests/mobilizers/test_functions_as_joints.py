"""Joints that users write in Python, through the public API: what becomes machine code, what is refused and
how it says so."""

from __future__ import annotations

import math
import pickle
from operator import attrgetter

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import condyle as cd
from benchmarks.trees import condyle_system, random_tree
from condyle.mobilizers import motion_at
from condyle.spatial import rotation_x, rotation_z


def knee(*angles, **options):
    return cd.FunctionBased(("flexion",), angles=angles or (None, None, lambda q: q), **options)


def leg(mobilizer):
    system = cd.System()
    system.add_body("shank", mobilizer=mobilizer, mass=3.0, com=(0, -0.2, 0), inertia=(0.05, 0.01, 0.05))
    return system


# ---- What works --------------------------------------------------------------------------------------------


@pytest.fixture
def _casadi(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")


@pytest.mark.usefixtures("_casadi")
@pytest.mark.parametrize(
    "law",
    [
        lambda q: q,
        lambda q: np.sin(q) + 0.1 * q**2,
        lambda q: np.where(q > 0, q, 2 * q),
        lambda q: cd.where(q > 0, q, 2 * q),
        lambda q: np.tanh(q) * np.exp(-0.5 * q),
        lambda q: abs(q) + np.arctan2(q, 2.0),
        lambda q: np.polyval([0.1, 0.2, 1.0, 0.0], q),
        cd.Spline([-2, -1, 0, 1, 2], [-1.5, -1, 0, 1.2, 2]),
        np.sin,
    ],
    ids=range(9),
)
def test_laws_are_what_they_compute(law):
    """The angle of the shank in ground is the law's value."""
    system = leg(knee(None, None, law))
    q = np.linspace(-1.3, 1.1, 7)[:, None]
    R, _ = system.body_pose(q, "shank")
    angle = np.arctan2(R[:, 1, 0], R[:, 0, 0])
    expected = np.array([float(law(x)) for x in q[:, 0]])
    # sine, cosine and arctangent round
    np.testing.assert_allclose(angle, expected, rtol=0, atol=1e-14)


@pytest.mark.usefixtures("_casadi")
def test_closures_defaults_and_methods():
    class Bone:
        length = 0.4

        def slide(self, q):
            return self.length * np.cos(q)

    scale = 0.5
    joint = cd.FunctionBased(
        "k",
        angles=(None, None, lambda q, gain=2.0: gain * scale * q),
        translations=(Bone().slide, None, None),
    )
    R, p = leg(joint).body_pose(np.array([0.3]), "shank")
    np.testing.assert_allclose(p, [0.4 * np.cos(0.3), 0, 0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(np.arctan2(R[1, 0], R[0, 0]), 0.3, rtol=0, atol=1e-15)


@pytest.mark.usefixtures("_casadi")
def test_a_spline_joint_has_its_derivatives():
    """V of the shank is the spline's slope times u, from SciPy's natural spline through the same points."""
    x, y = np.linspace(-2, 1, 7), np.array([0.01, 0.03, 0.02, 0.0, -0.01, 0.01, 0.02])
    system = leg(cd.FunctionBased("k", (None, None, lambda q: q), (cd.Spline(x, y), None, None)))
    q = np.linspace(-1.9, 0.9, 11)[:, None]
    V = system.body_velocity(q, np.ones((11, 1)), "shank")
    slope = CubicSpline(x, y, bc_type="natural")(q[:, 0], 1)
    np.testing.assert_allclose(V[:, 3], slope, rtol=0, atol=1e-15)  # slopes of 0.05: a few eps


def test_the_user_function_is_not_called_again():
    """Traced once: whatever it does later has no effect on the joint."""
    calls = []

    def law(q):
        calls.append(q)
        return q

    system = leg(knee(None, None, law))
    traced = len(calls)
    system.forward_dynamics(np.array([0.1]), np.array([0.2]))
    system.forward_dynamics(np.zeros((20, 1)), np.zeros((20, 1)))
    assert traced > 0
    assert len(calls) == traced


# ---- As quick as a pin -------------------------------------------------------------------------------------


@pytest.mark.parametrize("operator", ["forward_dynamics", "inverse_dynamics", "mass_matrix"])
def test_an_angle_written_as_a_function_costs_what_a_pin_costs(operator):
    """`lambda q: q` about z compiles to as many operations as cd.Pin(); nothing recognizes it by type."""
    tree = random_tree(10, states=1)
    pins, functions = condyle_system(tree), condyle_system(tree, mobilizer=knee())
    arguments = (tree.q[0],) if operator == "mass_matrix" else (tree.q[0], tree.u[0], tree.tau[0])
    results = [attrgetter(operator)(system)(*arguments) for system in (pins, functions)]
    counts = [system.compiled.function(operator).report.operations for system in (pins, functions)]
    assert counts[0] > 1000
    assert counts[1] <= 1.05 * counts[0]
    # The same operations, perhaps in another order: rounding times cond(M), which is below 1e4 here.
    np.testing.assert_allclose(results[1], results[0], rtol=0, atol=1e-11 * np.abs(results[0]).max())


# ---- What is refused ---------------------------------------------------------------------------------------


def clamp(q):
    return q if q > 0 else 0.0


def broken(q):
    return float(q) + 1


def unguarded(q):
    root = np.sqrt(q)
    return np.where(q > 0, root, 0.0) + np.where(q > 0.5, root, 0.0)


spline = CubicSpline([-2, -1, 0, 1], [0.0, 0.1, 0.1, 0.0])


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (lambda q: math.sin(q), ["math.sin", "np.sin"]),
        (lambda q: math.atan2(q, 1.0), ["np.arctan2"]),
        (clamp, ["clamp", "where"]),
        (lambda q: max(q, 0.0), ["np.maximum"]),
        (broken, ["broken", "float"]),
        (lambda q: int(q), ["integer"]),
        (lambda q: float(spline(q)), ["cd.Spline"]),
        (spline, ["cd.Spline"]),
        (lambda q: q * np.nan, ["NaN"]),
        (lambda q: np.sqrt(q - 5.0), ["NaN", "flexion"]),
        (lambda q: None, ["None", "return"]),
        (lambda q: (q, q), ["one real number"]),
        (lambda a, b: a + b, ["flexion", "called with 1"]),
        (lambda: 1.0, ["flexion"]),
        (unguarded, ["unguarded", "derivative", "Guard"]),
        (lambda q: np.random.default_rng().uniform() * q, ["another value", "random"]),
        ("sin(q)", ["function", "'sin(q)'"]),
    ],
    ids=[
        "math.sin",
        "math.atan2",
        "if",
        "max",
        "float",
        "int",
        "float(spline)",
        "scipy spline",
        "nan",
        "nan everywhere",
        "none",
        "two values",
        "two arguments",
        "no argument",
        "unguarded where",
        "random",
        "text",
    ],
)
def test_refused_laws(law, words):
    """The message names the joint and which of its six functions, and what to write instead."""
    with pytest.raises(cd.errors.TraceError) as caught:
        knee(None, law, None)
    message = str(caught.value)
    for word in ("FunctionBased(flexion)", "angles[1]", *words):
        assert word in message


def test_the_refusal_shows_the_users_line():
    with pytest.raises(cd.errors.TraceError, match=r"test_functions_as_joints\.py:\d+: `q > 0`"):
        knee(clamp, None, None)


def test_translations_are_named_too():
    with pytest.raises(cd.errors.TraceError, match=r"translations\[2\]"):
        cd.FunctionBased("k", translations=(None, None, lambda q: math.sqrt(q)))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"coordinates": ()}, "one to six different names"),
        ({"coordinates": ("a", "a")}, "different names"),
        ({"coordinates": tuple("abcdefg")}, "one to six"),
        ({"coordinates": ("a", 3)}, "names"),
        ({"coordinates": "a", "angles": (None, None)}, "angles must be three"),
        ({"coordinates": "a", "angles": lambda q: q}, "angles must be three"),
        ({"coordinates": "a", "translations": (1, 2, 3, 4)}, "translations must be three"),
        ({"coordinates": "a", "axes": ("x", "y")}, "three .* or six"),
        ({"coordinates": "a", "axes": ("x", "y", "q")}, r"axes\[2\].*'q'"),
        ({"coordinates": "a", "axes": ("x", "y", (0, 0, 0))}, r"axes\[2\].*not all zero"),
        ({"coordinates": "a", "axes": ("x", "y", "z", "x", "y", (1, 1, 0))}, "independent"),
        ({"coordinates": "a", "units": ("rad", "m")}, "one for each coordinate"),
    ],
)
def test_refused_descriptions(arguments, words):
    with pytest.raises(cd.errors.DescriptionError, match=words):
        cd.FunctionBased(**arguments)


@pytest.mark.usefixtures("_casadi")
@pytest.mark.parametrize("law", [lambda a, b: a, lambda a, b: a + b, lambda a, b: a + 0 * b])
def test_a_coordinate_that_moves_nothing_of_its_own(law):
    """Such a joint has no accelerations; it is refused when the system is first used."""
    system = leg(cd.FunctionBased(("a", "b"), angles=(None, None, law)))
    with pytest.raises(
        cd.errors.DescriptionError, match=r"'shank'.*FunctionBased\(a, b\).*speed 'b'.*way of its own"
    ):
        system.forward_dynamics(*system.defaults())


@pytest.mark.usefixtures("_casadi")
def test_a_joint_that_stands_still_at_one_place_only():
    """q^3 has no slope at q = 0, but elsewhere: a legal joint, refused only there."""
    system = leg(knee(None, None, lambda q: q**3))
    assert np.isfinite(system.forward_dynamics([0.5], [0.1])).all()
    for q in ([0.0], [[0.5], [0.0]]):
        with pytest.raises(
            cd.errors.SingularError, match=r"'shank'.*'flexion' moves nothing new at flexion = 0"
        ):
            system.forward_dynamics(q, [0.1])


@pytest.mark.parametrize(
    "switch", [lambda x: np.tanh(0.5 * x), lambda x: 1 / (1 + np.exp(-x)), lambda x: (1 + x / 60) ** 12]
)
def test_smooth_switch_far_from_zero_stays_in_the_hinge_matrix(switch):
    """Coordinates in degrees, and a rotation that sets in at 60 of them: H_w must not be folded by values
    near zero."""
    degree = np.pi / 180
    joint = cd.Custom(
        ("knee",), lambda q: (rotation_z(q * degree) @ rotation_x(0.1 * switch(q - 60)), np.zeros(3))
    )
    h = 1e-4
    slope = 0.1 * (switch(h) - switch(-h)) / (2 * h)
    expected = [slope * np.cos(60 * degree), slope * np.sin(60 * degree), degree]
    H_w = motion_at(joint, 0.0, [60.0], [1.0]).H_w.ravel()
    np.testing.assert_allclose(H_w, expected, atol=1e-9)  # central differences with h = 1e-4


def test_joint_that_moves_only_later():
    """Its tangent vanishes at t = 0 for every q; that is no reason to refuse it."""
    system = cd.System(gravity=(0, 0, 0))
    joint = cd.FunctionBased(("k",), (None, None, lambda t, q: q * t), time=True)
    system.add_body("a", "ground", joint, mass=1.0, inertia=(1, 1, 2))
    # angle = q t: acceleration t udot + 2 u = 0
    assert system.forward_dynamics([0.3], [0.5], t=2.0)[0] == pytest.approx(-0.5, abs=1e-12)


def test_functions_of_some_coordinates():
    """(f, names) is f of these coordinates, whatever their order."""
    spline = cd.functions.SimmSpline((-1, 0, 0.5, 1), (0.1, 0.3, -0.2, 0.4))
    plane = cd.functions.Linear((2.0, 3.0), 0.1)
    some = cd.FunctionBased(
        ("hip", "knee"),
        ((spline, "knee"), None, (lambda q: q, "hip")),
        ((plane, ("knee", "hip")), None, None),
    )
    all_ = cd.FunctionBased(
        ("hip", "knee"),
        (lambda hip, knee: spline(knee), None, lambda hip, knee: hip),
        (lambda hip, knee: plane(knee, hip), None, None),
    )
    assert some == all_
    again = pickle.loads(pickle.dumps(some))
    assert again == some
    assert again.angles == ((spline, "knee"), None, None)  # a Python function is kept as what was traced


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ((cd.functions.Sine(), "kneee"), "unknown coordinate 'kneee'; did you mean 'knee'"),
        ((1.0, "knee"), r"angles\[2\]: expected a function, or \(function, coordinate\)"),
        ((cd.functions.Sine(), ()), "expected a function, or"),
        ((cd.functions.Sine(), "knee", "hip"), "expected a function, or"),
    ],
)
def test_pairs_that_make_no_sense(wrong, said):
    with pytest.raises(cd.errors.CondyleError, match=said):
        cd.FunctionBased(("hip", "knee"), (None, None, wrong))
