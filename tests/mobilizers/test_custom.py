"""Custom: seth2010 (36)-(39), and what it refuses."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.errors import DescriptionError, TraceError
from condyle.mobilizers import (
    Ball,
    CantileverFreeBeam,
    Custom,
    Ellipsoid,
    Free,
    Pin,
    Screw,
    SphericalCoords,
    compose,
)
from condyle.mobilizers.traced import motion_at
from condyle.spatial import rotation_z
from condyle.trace import Symbol
from tests.mobilizers.every import EVERY
from tests.mobilizers.poses import (
    EPS,
    ROUNDING,
    STATES,
    evaluate,
    given,
    one_body,
    random_states,
)

KNEE = EVERY["Custom"]


def test_custom_knee_is_seth2010_36_to_39():
    q, u = ca.SX.sym("q"), ca.SX.sym("u")
    fx, fy = 0.1 * ca.sin(2 * q), q**2 / (1 + q**2)
    f = ca.Function(
        "f",
        [q, u],
        [
            ca.vertcat(0, 0, 1, ca.jacobian(fx, q), ca.jacobian(fy, q), 0),
            ca.vertcat(0, 0, 0, ca.hessian(fx, q)[0] * u**2, ca.hessian(fy, q)[0] * u**2, 0),
        ],
    )
    t, qs, us, _ = random_states(KNEE, 2)
    _, _, H, _, bias, N = evaluate(given, KNEE, t, qs, us)
    for i in range(STATES):
        expected_H, expected_bias = (np.array(x)[:, 0] for x in f(qs[i], us[i]))
        np.testing.assert_allclose(H[i, :, 0], expected_H, rtol=0, atol=ROUNDING)  # (37)
        np.testing.assert_allclose(bias[i], expected_bias, rtol=0, atol=ROUNDING)  # (38)
    np.testing.assert_array_equal(N, 1)  # (39)


def test_custom_takes_what_spatial_gives():
    """A Transform, matrices of symbols, lists and constants are all (R, p)."""
    poses = [
        lambda a, b: cd.Transform(rotation_z(a), (b, 0, 0)),
        lambda a, b: (rotation_z(a), [b, 0.0, 0.0]),
        lambda a, b: (
            [[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]],
            np.array([b, 0, 0]),
        ),
    ]
    joints = [Custom(("a", "b"), f, units=("rad", "m")) for f in poses]
    t, q, u, _ = random_states(joints[0], 0, n=3)
    for other in joints[1:]:
        for x, y in zip(evaluate(given, joints[0], t, q, u), evaluate(given, other, t, q, u)):
            np.testing.assert_array_equal(x, y)
    assert joints[0].units == ("rad", "m")


@pytest.mark.parametrize("points", [4, 40], ids=["selected", "looked up"])
def test_custom_with_splines(points, monkeypatch):
    """Splines of few points are selected, of many looked up; both are FunctionBased with the same splines."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    x = np.linspace(-1.5, 1.5, points)
    fx, fy, other = cd.Spline(x, 0.1 * np.sin(x)), cd.Spline(x, 0.2 * x**2), cd.Spline(x, 0.1 * np.cos(x))
    knee = Custom("knee", lambda q: (rotation_z(q), (fx(q), fy(q), 0)))
    known = cd.FunctionBased("knee", angles=(None, None, lambda q: q), translations=(fx, fy, None))
    assert knee.description() != Custom("knee", lambda q: (rotation_z(q), (other(q), fy(q), 0))).description()
    systems = [one_body(m) for m in (knee, known)]
    _, q, u, tau = random_states(knee, 6, n=20)
    ours, theirs = (s.forward_dynamics(q, u, tau) for s in systems)
    # The same sums in another order; accelerations reach 100.
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def test_custom_with_equal_functions_is_compiled_once():
    make = lambda name: Custom(name, lambda q: (rotation_z(q), (np.sin(q), 0, 0)))
    assert make("left").description() == make("right").description()
    assert make("left") != make("right")
    assert make("left") == make("left")


def test_custom_does_not_fold_what_only_looks_constant():
    """H_w = 1 below q = 5 and 1.5 above: random points see the first part only."""
    joint = Custom("q", lambda q: (rotation_z(cd.where(q < 5, q, 1.5 * q - 2.5)), (0, 0, 0)))
    np.testing.assert_allclose(
        np.array(motion_at(joint, 0.0, [6.0], [1.0]).H_w)[:, 0], [0, 0, 1.5], rtol=0, atol=4 * EPS
    )


WRONG = [
    (lambda: Screw("steep"), DescriptionError, "Screw: pitch"),
    (lambda: Screw(np.nan), DescriptionError, "nan"),
    (lambda: Screw(0.1, axis="w"), DescriptionError, "'w'"),
    (lambda: Screw(cd.Input("pitch", 0.1)), DescriptionError, "Input"),
    (lambda: Ball("angles"), DescriptionError, "'quaternion' or 'euler'"),
    (lambda: Ellipsoid((1, 2)), DescriptionError, "three finite numbers"),
    (lambda: Ellipsoid(1.0), DescriptionError, "three finite numbers"),
    (lambda: Ellipsoid((1, 0, 1)), DescriptionError, r"radii\[1\].*above 0"),
    (lambda: Ellipsoid((1, cd.Parameter("b", -2.0), 1)), DescriptionError, "above 0.*b"),
    (lambda: CantileverFreeBeam(cd.Parameter("b", 2.0) - 3), DescriptionError, "above 0.*-1 at the defaults"),
    (lambda: Screw(Symbol(ca.SX.sym("x"))), DescriptionError, "symbol x"),
    (lambda: Custom("q", lambda q: (rotation_z(q), (cd.Input("i", 1.0), 0, q))), DescriptionError, "Input"),
    (
        lambda: cd.FunctionBased("q", translations=(lambda q: q + cd.Input("i", 1.0), None, None)),
        DescriptionError,
        "Input",
    ),
    (
        lambda: Custom("q", lambda q: (rotation_z(q), (0, 0, 0)), default=(cd.Parameter("b", 2.0),)),
        DescriptionError,
        "plain",
    ),
    (lambda: Ellipsoid((1, 1, 1), normal="yes"), DescriptionError, "True or False"),
    (lambda: CantileverFreeBeam(-1), DescriptionError, "length.*above 0"),
    (lambda: SphericalCoords(radial_axis="y"), DescriptionError, "'z' or 'x'"),
    (lambda: SphericalCoords(negate_zenith=2), DescriptionError, "negate_zenith"),
    (lambda: compose(Free(), Pin()), DescriptionError, "at most six"),
    (lambda: compose(Pin(), "pin"), DescriptionError, "mobilizers"),
    (lambda: Custom((), lambda: None), DescriptionError, "names"),
    (lambda: Custom(("a", "a"), lambda a, b: None), DescriptionError, "different names"),
    (lambda: Custom("q", lambda q: (2 * np.eye(3), (q, 0, 0))), DescriptionError, "rotation.*det R = 8"),
    (lambda: Custom("q", lambda q: (np.diag([1, 1, -1]), (q, 0, 0))), DescriptionError, "det R = -1"),
    (lambda: Custom("q", lambda q: q), TraceError, r"\(R, p\)"),
    (lambda: Custom("q", lambda q: (np.eye(2), (q, 0, 0))), TraceError, r"\(2, 2\)"),
    (lambda: Custom("q", lambda q: (rotation_z(q), (q, 0))), TraceError, r"\(2,\)"),
    (
        lambda: Custom("q", lambda q: (rotation_z(q), (0, 0, 0)), hinge=lambda q: np.zeros((6, 1))),
        DescriptionError,
        r"H\[2, 0\]",
    ),
    (
        lambda: Custom("q", lambda q: (rotation_z(q), (0, 0, 0)), hinge=lambda q: np.zeros((3, 1))),
        TraceError,
        r"\(6, 1\)",
    ),
    (
        lambda: Custom("q", lambda q: (rotation_z(q), (0, 0, 0)), N=lambda q: [[1, 0], [0, 1]]),
        DescriptionError,
        r"\(1, nu\)",
    ),
    (lambda: Custom("q", lambda q: (rotation_z(q), (0, 0, 0)), speeds=("w",)), DescriptionError, "N="),
    (
        lambda: Custom("q", lambda q: (rotation_z(q), (0, 0, 0)), N=lambda q: [[2]], speeds=("a", "b")),
        DescriptionError,
        "column",
    ),
    (lambda: Custom("q", lambda q: (rotation_z(q), (0, 0, 0)), default=(1, 2)), DescriptionError, "default"),
    (lambda: Custom("q", lambda q: (rotation_z(q), (0, 0, 0)), units=("rad", "m")), DescriptionError, "unit"),
    (
        lambda: Custom(tuple("abcdefg"), lambda *q: (rotation_z(q[0]), (0, 0, 0))),
        DescriptionError,
        "at most six",
    ),
]


@pytest.mark.parametrize(("make", "error", "says"), WRONG, ids=range(len(WRONG)))
def test_what_is_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()
