"""Parameters among a function's numbers: changing them equals describing it anew; derivatives by them
exist."""

import pickle

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.functions import (
    BSpline,
    Constant,
    Linear,
    PiecewiseLinear,
    Polynomial,
    Scaled,
    SimmSpline,
    Sine,
    SmoothStep,
    Spline,
)
from condyle.trace import Symbol, trace
from tests.functions.oracles import random_points

pytestmark = pytest.mark.filterwarnings("ignore:PiecewiseLinear has kinks")
X, Y, _ = random_points(11, 8)
LONG_X, LONG_Y, _ = random_points(12, 20)
SHORT = [None, None, "a", None, "b", None, None, "c"]
LONG = ["a", *[None] * 9, "b", *[None] * 8, "c"]


def mixed(numbers, names, given):
    """The numbers, with given[name] where a name is."""
    return [number if name is None else given[name] for number, name in zip(numbers, names, strict=True)]


MAKERS = {
    "Constant": lambda p: Constant(p["a"] + p["b"] * p["c"]),
    "Linear": lambda p: Linear(p["a"], p["b"] - p["c"]),
    "Polynomial": lambda p: Polynomial((0.5, p["a"], p["b"], -0.3, p["c"])),
    "Scaled": lambda p: Scaled(SimmSpline((-1, 0, 1, 2), (p["a"], 0.3, p["b"], -1)), p["c"]),
    "Sine": lambda p: Sine(p["a"], 1 + p["b"] ** 2, p["c"], 0.2),
    "SmoothStep": lambda p: SmoothStep(-1 - p["a"] ** 2, 1, p["b"], p["c"]),
    "cubic": lambda p: Spline(X, mixed(Y, SHORT, p)),
    "quintic": lambda p: Spline(X, mixed(Y, SHORT, p), degree=5),
    "septic": lambda p: Spline(X, mixed(Y, SHORT, p), degree=7),
    "long cubic": lambda p: Spline(LONG_X, mixed(LONG_Y, LONG, p)),
    "SimmSpline": lambda p: SimmSpline(X, mixed(Y, SHORT, p)),
    "long SimmSpline": lambda p: SimmSpline(LONG_X, mixed(LONG_Y, LONG, p)),
    "PiecewiseLinear": lambda p: PiecewiseLinear(X, mixed(Y, SHORT, p)),
    "BSpline": lambda p: BSpline(np.arange(12.0) - 5, mixed(Y, SHORT, p)),
    "computed": lambda p: Spline(X, [p["a"] * y + p["b"] - p["c"] for y in Y]),
}
DEFAULTS = {"a": 0.4, "b": -0.7, "c": 1.1}
OTHERS = {"a": 0.9, "b": 0.3, "c": -0.5}


def parameters():
    return {name: cd.Parameter(name, value) for name, value in DEFAULTS.items()}


def at(symbol, values):
    """What an expression of Parameters is worth."""
    p = parameters()
    f = ca.Function("f", [p[name].sx for name in DEFAULTS], [symbol.sx])
    return float(f(*(values[name] for name in DEFAULTS)))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("values", [DEFAULTS, OTHERS], ids=["defaults", "others"])
def test_on_numbers_it_is_an_expression_of_parameters(make, values):
    """f(x; p) at numbers p equals the function made of these numbers: value and three derivatives."""
    symbolic, plain = make(parameters()), make(values)
    assert symbolic.uses_parameters and not plain.uses_parameters
    for x in (-3.0, -0.9, 0.2, X[3], 1.3, 9.0):
        assert isinstance(symbolic(x), Symbol)
        for order in range(4):
            expected = plain.derivative(x, order)
            # Coefficients as a sum over Parameters instead of from one solve: rounding, larger for the septic
            # (above).
            np.testing.assert_allclose(
                at(symbolic.derivative(x, order), values),
                expected,
                rtol=0,
                atol=1e-10 * max(1.0, abs(expected)),
            )
    assert symbolic(np.array([0.1, 0.2])).shape == (2,)


@pytest.mark.parametrize("name", MAKERS)
def test_a_joint_follows_its_parameters(name, monkeypatch):
    """A knee whose translation is the function: other values of Parameters, no new description."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    make = MAKERS[name]

    def pose(p, **options):
        system = cd.System()
        system.add_body(
            "shank",
            mobilizer=cd.FunctionBased("k", (None, None, lambda q: q), (make(p), None, None)),
            mass=3.0,
            inertia=(0.05, 0.01, 0.05),
        )
        return system.body_pose(np.linspace(-3, 4, 9)[:, None], "shank", **options).p[:, 0]

    for values in (DEFAULTS, OTHERS):
        expected = pose(values)
        # As above.
        np.testing.assert_allclose(
            pose(parameters(), parameters=values), expected, rtol=0, atol=1e-10 * np.abs(expected).max()
        )
    assert np.abs(pose(DEFAULTS) - pose(OTHERS)).max() > 1e-3


def test_machine_code_with_parameters_and_their_derivatives():
    """Forward dynamics of a spline knee with native code: new values equal a new spline; d udot / d
    parameters by differences."""

    def leg(p):
        system = cd.System()
        knee = cd.FunctionBased(
            "k", (None, None, lambda q: q), (MAKERS["long cubic"](p), MAKERS["SimmSpline"](p), None)
        )
        system.add_body("shank", mobilizer=knee, mass=3.0, com=(0, -0.2, 0), inertia=(0.05, 0.01, 0.05))
        return system

    system = leg(parameters())
    assert set(system.parameters) == set(DEFAULTS)
    q, u = np.linspace(-1.5, 3, 12)[:, None], np.full((12, 1), 0.7)
    expected = leg(OTHERS).forward_dynamics(q, u)
    # As above; udot divides by inertias of about 0.1.
    np.testing.assert_allclose(
        system.forward_dynamics(q, u, parameters=OTHERS), expected, rtol=1e-10, atol=1e-10
    )
    J = system.jacobian("forward_dynamics", q, u, wrt="parameters", parameters=OTHERS)
    assert J.shape == (12, 1, 3)
    h = 1e-6
    for k, name in enumerate(system.parameters):
        up, down = (
            system.forward_dynamics(q, u, parameters=OTHERS | {name: OTHERS[name] + s * h}) for s in (1, -1)
        )
        # Central differences: h^2 of truncation, 1e-16 / h of rounding.
        np.testing.assert_allclose(J[:, :, k], (up - down) / (2 * h), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_is_a_value(make):
    f = make(parameters())
    assert f == make(parameters()) and hash(f) == hash(make(parameters()))
    assert f != make(DEFAULTS)
    assert f != make(parameters() | {"a": cd.Parameter("a", 0.41)})
    copy = pickle.loads(pickle.dumps(f))
    assert copy == f
    assert trace(copy, ["q"], what="law").text == trace(f, ["q"], what="law").text
    assert len(repr(f)) < 160


def test_a_long_spline_with_parameters_is_looked_up_too():
    tables = trace(MAKERS["long cubic"](parameters()), ["q"], what="law").tables
    assert [t.rows.shape[0] for t in tables][1] == len(LONG_X) + 1
    # x_k; four coefficients of the numbers and of each Parameter
    assert tables[1].rows.shape[1] <= 1 + 4 * 4


def test_what_parameters_may_not_be():
    p = cd.Parameter("p", 1.0)
    with pytest.raises(
        cd.errors.DescriptionError, match=r"Spline: x\[1\] = p is a Parameter, which only values may be"
    ):
        Spline([0, p, 3], [0, 1, 2])
    with pytest.raises(
        cd.errors.DescriptionError,
        match=r"Constant: value: expected one finite number .* = nan at the defaults",
    ):
        Constant(np.sqrt(p - 2))
    with pytest.raises(
        cd.errors.DescriptionError, match=r"not made of cd.Parameters.*outside of the function that is traced"
    ):
        trace(lambda q: Spline([0, 1, 2], [0, q, 2])(0.5), ["q"], what="law")
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(Symbol(ca.SX.sym("x")))
