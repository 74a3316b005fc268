"""cd.Spline: the natural cubic through points, on numbers and symbols, with its derivatives, and beyond its
ends."""

import dataclasses
import pickle

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline

from condyle.errors import DescriptionError
from condyle.functions import Spline
from condyle.trace import Symbol, symbols, trace

EPS = np.finfo(float).eps


def random_spline(seed, n):
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.uniform(0.1, 1.0, n)) - 2
    return Spline(x, rng.normal(size=n)), rng


def derivatives(spline):
    """x -> value, first and second derivative, by CasADi on the symbolic form."""
    x = ca.SX.sym("x")
    y = spline(x)
    slope = ca.jacobian(y, x)
    f = ca.Function("f", [x], [y, slope, ca.jacobian(slope, x)])
    return lambda value: np.array([float(d) for d in f(value)])


@pytest.mark.parametrize(("seed", "n"), [(0, 3), (1, 4), (2, 5), (3, 12), (4, 60)])
def test_equals_scipy(seed, n):
    """Value and two derivatives, at the points, between them and at both ends."""
    spline, rng = random_spline(seed, n)
    x = np.array(spline.x)
    reference = CubicSpline(x, spline.y, bc_type="natural")
    f = derivatives(spline)
    at = np.concatenate([x, rng.uniform(x[0], x[-1], 40)])
    expected = np.array([reference(at, k) for k in range(3)])

    # The same coefficients; Horner rounds each of its terms, which are at most about ten times the largest
    # value.
    tolerance = 100 * EPS * np.abs(expected).max()
    np.testing.assert_allclose(np.array([f(v) for v in at]).T, expected, rtol=0, atol=tolerance)
    np.testing.assert_allclose(spline(at), expected[0], rtol=0, atol=tolerance)


@pytest.mark.parametrize("seed", range(3))
def test_goes_through_its_points(seed):
    spline, _ = random_spline(seed, 9)
    # At all but the last point t = 0; there the whole last segment is summed.
    np.testing.assert_allclose(spline(spline.x), spline.y, rtol=0, atol=4 * EPS * np.abs(spline.y).max())


@pytest.mark.parametrize("seed", range(3))
def test_two_derivatives_are_continuous_at_every_point(seed):
    spline, _ = random_spline(seed, 9)
    f = derivatives(spline)
    for x in spline.x:
        left, right = f(np.nextafter(x, -np.inf)), f(x)
        # SciPy's slopes are right to rounding; second derivatives are their differences over steps of 0.1 or
        # more.
        np.testing.assert_allclose(left, right, rtol=0, atol=1e-12 * np.abs(spline.rows).max())


@pytest.mark.parametrize("seed", range(3))
def test_straight_lines_beyond_the_ends(seed):
    spline, _ = random_spline(seed, 7)
    f = derivatives(spline)
    for end, sign in ((spline.x[0], -1), (spline.x[-1], 1)):
        y, slope, _ = f(end)
        for distance in (1e-3, 1.0, 1e3):
            expected = y + slope * sign * distance
            # One product and one sum.
            np.testing.assert_allclose(
                f(end + sign * distance), [expected, slope, 0.0], rtol=1e-12, atol=1e-13
            )
            assert spline(end + sign * distance) == f(end + sign * distance)[0]


def test_a_line_is_reproduced():
    spline = Spline([0, 1, 3, 4], [1, 3, 7, 9])
    at = np.linspace(-5, 8, 27)
    # Slopes of SciPy's tridiagonal solve are right to a few ulp.
    np.testing.assert_allclose(spline(at), 1 + 2 * at, rtol=1e-14, atol=1e-14)


points = st.lists(st.tuples(st.floats(0.01, 10), st.floats(-10, 10)), min_size=3, max_size=12)


@settings(max_examples=100, deadline=None)
@given(points, st.floats(-20, 120))
def test_symbols_equal_numbers(points, at):
    """The symbolic form does the same operations in the same order."""
    step, y = zip(*points, strict=True)
    spline = Spline(np.cumsum(step), y)
    x = ca.SX.sym("x")
    assert float(ca.Function("f", [x], [spline(x)])(at)) == spline(at)


def test_kinds_of_argument():
    spline, _ = random_spline(0, 5)
    assert isinstance(spline(0.3), float)
    assert isinstance(spline(1), float)
    assert spline(np.zeros((2, 3))).shape == (2, 3)
    assert np.isnan(spline(np.nan))
    x = ca.SX.sym("x", 2, 3)
    assert isinstance(spline(Symbol(x[0, 0])), Symbol)
    assert spline(symbols(x)).shape == (2, 3)
    assert spline(x).shape == (2, 3)
    at = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(np.array(ca.Function("f", [x], [spline(x)])(at)), spline(at))


def test_traces():
    spline, _ = random_spline(1, 6)
    g = trace(lambda q: 2 * spline(q) + spline(np.sin(q)), ["knee"], what="angle", ranges=[(-3, 3)])
    assert g(0.4) == 2 * spline(0.4) + spline(np.sin(0.4))
    assert trace(spline, ["knee"], what="angle", outputs=()).shape == ()


def test_cost_does_not_depend_on_the_number_of_points():
    """Beyond a few points a row is looked up."""
    count = [
        trace(random_spline(0, n)[0], ["q"], what="angle").function.n_instructions() for n in (20, 40, 400)
    ]
    assert count[0] == count[1] == count[2]


def test_is_a_value():
    spline = Spline([0, 1, 2], [1.0, 2, 4])
    assert repr(spline) == "Spline(3 points, x from 0 to 2)"
    assert spline == Spline(np.arange(3), (1, 2, 4))
    assert hash(spline) == hash(Spline(np.arange(3), (1, 2, 4)))
    assert spline != Spline([0, 1, 2], [1, 2, 5])
    copy = pickle.loads(pickle.dumps(spline))
    assert copy == spline
    assert copy(0.7) == spline(0.7)
    with pytest.raises(dataclasses.FrozenInstanceError):
        spline.x = (1.0, 2.0, 3.0)
    with pytest.raises(ValueError, match="read-only"):
        spline.rows[0, 0] = 1.0


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([0, 1], [0, 1], "got 2 point(s), needs at least 3"),
        ([0, 1, 2], [0, 1], "3 values of x but 2 of y; give one y for each x"),
        ([0, 2, 1], [0, 1, 2], "x must increase strictly, but x[1] = 2 and x[2] = 1; sort the points by x"),
        ([0, 1, 1], [0, 1, 2], "x[1] = 1 and x[2] = 1; two points share one x: keep one of them"),
        ([2, 1, 0], [0, 1, 2], "reverse both x and y"),
        ([0, 1, np.nan], [0, 1, 2], "x[2]: expected one finite number or cd.Parameter, got nan"),
        ([0, 1, 2], [0, -np.inf, 2], "y[1]: expected one finite number or cd.Parameter, got -inf"),
        ([[0, 1, 2]], [0, 1, 2], "x must be a sequence of numbers of shape (n,), got [[0, 1, 2]]"),
        (["a", "b", "c"], [0, 1, 2], "x[0]: expected one finite number or cd.Parameter, got 'a'"),
        ([0, 1, 2], None, "y must"),
    ],
)
def test_bad_points(x, y, message):
    with pytest.raises(DescriptionError) as caught:
        Spline(x, y)
    assert message in str(caught.value)
