"""Splines against exact arithmetic, OpenSim and SciPy: values, derivatives, ends, beyond the ends, bad
points."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.interpolate

import condyle as cd
import condyle.functions
import condyle.functions.pieces
from condyle.errors import DescriptionError
from condyle.functions import BSpline, PiecewiseLinear, SimmSpline, Spline
from condyle.trace import trace
from tests.functions.oracles import natural_spline, random_points, simm_spline, somewhere

STORED = json.loads((Path(__file__).parents[1] / "data/functions/opensim.json").read_text())["cases"]


def relative_error(f, oracle, at, order):
    expected = np.array([oracle(x, order) for x in at])
    return np.abs(f.derivative(at, order) - expected).max() / max(1.0, np.abs(expected).max())


# Rounding in the equations for the coefficients, in units of the mean step: their condition number grows with
# the degree.
@pytest.mark.parametrize(("degree", "tolerance"), [(3, 1e-13), (5, 1e-13), (7, 3e-12)])
@pytest.mark.parametrize(("seed", "n"), [(0, 0), (1, 9), (2, 25)])
def test_natural_splines_are_exact(degree, tolerance, seed, n):
    """Inside, at the points and beyond; n = 0 stands for the fewest points allowed."""
    x, y, rng = random_points(seed, n or (degree + 3) // 2)
    f, oracle = Spline(x, y, degree), natural_spline(x, y, degree)
    for order in range(4):
        assert relative_error(f, oracle, somewhere(x, rng), order) < tolerance


@pytest.mark.parametrize(("seed", "n"), [(0, 3), (1, 4), (2, 5), (3, 20)])
def test_simm_splines_are_exact(seed, n):
    x, y, rng = random_points(seed, n)
    for order in range(4):
        # Rounding in a tridiagonal system.
        assert relative_error(SimmSpline(x, y), simm_spline(x, y), somewhere(x, rng), order) < 1e-13


@pytest.mark.parametrize("scale", [1e-6, 1e4])
@pytest.mark.parametrize("degree", [3, 5, 7])
def test_units_do_not_matter(degree, scale):
    """f(s x; s X) = f(x; X): milliseconds or hours, the equations stay well scaled."""
    x, y, rng = random_points(4, 12)
    at = somewhere(x, rng)
    here, there = Spline(x, y, degree), Spline(scale * x, y, degree)
    # Rounding as above, and s x rounds by eps, which far outside is magnified by x / step, at most 100.
    np.testing.assert_allclose(there(scale * at), here(at), rtol=0, atol=1e-10 * np.abs(here(at)).max())


@pytest.mark.parametrize(
    "case", STORED, ids=[f"{c['kind']}-{c['degree'] or ''}-{len(c['x'])}" for c in STORED]
)
def test_equals_opensim(case):
    """Stored values of OpenSim 4.6 (tests/data/functions): SimmSpline, GCVSpline at zero error,
    PiecewiseLinearFunction."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        f = getattr(condyle.functions, case["kind"])(
            case["x"], case["y"], *([case["degree"]] if case["degree"] else [])
        )
    at = np.array(case["at"])
    # OpenSim's GCVSpline loses digits with its degree: the exact oracle above agrees with condyle more
    # closely.
    tolerance = {None: 1e-13, 3: 1e-11, 5: 1e-10, 7: 1e-8}[case["degree"]]
    for order, values in enumerate(case["values"]):
        # Where SimmSpline's second derivative jumps, at its right end, OpenSim takes the inside and condyle
        # the outside.
        keep = abs(at - case["x"][-1]) > 1e-9 if order == 2 and case["kind"] == "SimmSpline" else at == at
        expected = np.array(values)[keep]
        scale = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(f.derivative(at[keep], order), expected, rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("kind", ["Spline", "SimmSpline", "PiecewiseLinear"])
def test_stored_values_cover_the_kind(kind):
    assert sum(case["kind"] == kind for case in STORED) >= 6


@pytest.mark.parametrize("degree", [3, 5, 7])
@pytest.mark.parametrize("seed", range(2))
def test_continuous_derivatives_everywhere(degree, seed):
    """degree - 1 of them, at the ends too, where the polynomials of lower degree begin."""
    x, y, _ = random_points(seed, 9)
    f = Spline(x, y, degree)
    for order in range(degree):
        left, right = f.derivative(np.nextafter(x, -np.inf), order), f.derivative(x, order)
        # Each derivative is found from both sides to 1e-12 of its largest value at any point (steps of 0.1 to
        # 1).
        np.testing.assert_allclose(
            left, right, rtol=0, atol=1e-11 * np.abs(f.derivative(x, order)).max() + 1e-11
        )


@pytest.mark.parametrize("degree", [3, 5, 7])
def test_beyond_the_ends_the_degree_is_lower(degree):
    x, y, _ = random_points(5, 10)
    f = Spline(x, y, degree)
    for at in (x[0] - 1.0, x[-1] + 3.0):
        assert f.derivative(at, (degree - 1) // 2) != 0
        assert f.derivative(at, (degree + 1) // 2) == 0


def test_simm_spline_of_few_points():
    """Two points give a line, three a parabola, four their cubic; beyond, lines."""
    at = np.linspace(-1, 4, 11)
    # A few ulp.
    np.testing.assert_allclose(SimmSpline([0, 2], [1, 5])(at), 1 + 2 * at, rtol=1e-15, atol=1e-15)
    inside = np.linspace(0, 3, 7)
    np.testing.assert_allclose(SimmSpline([0, 1, 3], [0, 1, 9])(inside), inside**2, rtol=0, atol=1e-14)
    cubic = SimmSpline([0, 1, 2, 3], [0, 1, 8, 27])
    np.testing.assert_allclose(cubic(inside), inside**3, rtol=0, atol=1e-13)
    np.testing.assert_allclose(cubic([-2, 5]), [0, 27 + 2 * 27], rtol=0, atol=1e-13)


@pytest.mark.parametrize(("seed", "degree"), [(0, 2), (1, 3), (2, 4), (3, 5)])
def test_bspline_equals_scipy(seed, degree):
    """Knots at random, some twice; values and three derivatives, and the outer polynomials beyond the
    ends."""
    rng = np.random.default_rng(seed)
    n = 12
    knots = np.sort(np.append(rng.uniform(0, 5, n + degree), 2.5))
    if degree > 2:
        knots[n // 2] = knots[n // 2 + 1]
    c = rng.normal(size=n)
    f, reference = BSpline(knots, c, degree), scipy.interpolate.BSpline(knots, c, degree)
    first, last = knots[degree], knots[-degree - 1]
    at = np.concatenate(
        [rng.uniform(first, last, 50), knots[degree : -degree - 1], [first - 0.1, last + 0.1]]
    )
    for order in range(4):
        expected = reference(at, nu=order)
        # Taylor coefficients about the left knot; close knots make high ones large: cancellation, as de
        # Boor's in SciPy.
        np.testing.assert_allclose(
            f.derivative(at, order), expected, rtol=0, atol=1e-10 * max(1.0, np.abs(expected).max())
        )


def test_bspline_of_a_spline():
    """SciPy's coefficients of a natural cubic give back cd.Spline."""
    x, y, rng = random_points(6, 8)
    scipy_spline = scipy.interpolate.make_interp_spline(x, y, k=3, bc_type="natural")
    at = rng.uniform(x[0], x[-1], 40)
    # Two ways to the same coefficients, each to rounding.
    np.testing.assert_allclose(
        BSpline(scipy_spline.t, scipy_spline.c)(at), Spline(x, y)(at), rtol=0, atol=1e-13
    )


def test_piecewise_linear_equals_interp_and_warns():
    x, y, rng = random_points(9, 15)
    with pytest.warns(UserWarning, match="kinks") as caught:
        f = PiecewiseLinear(x, y)
    assert caught[0].filename == __file__
    assert len(caught) == 1
    at = np.concatenate([rng.uniform(x[0], x[-1], 50), x])
    # One product and one sum.
    np.testing.assert_allclose(f(at), np.interp(at, x, y), rtol=0, atol=1e-14)
    slope = (y[1] - y[0]) / (x[1] - x[0])
    np.testing.assert_allclose(f(x[0] - 2.0), y[0] - 2 * slope, rtol=1e-14, atol=1e-14)
    # evaluating it does not warn again: warnings are errors here
    trace(f, ["q"], what="law")


@pytest.mark.parametrize("kind", [Spline, SimmSpline, PiecewiseLinear])
def test_cost_does_not_depend_on_the_number_of_points(kind):
    def operations(n):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return trace(kind(*random_points(0, n)[:2]), ["q"], what="angle").function.n_instructions()

    assert operations(20) == operations(40) == operations(400)


@pytest.mark.parametrize(
    "x",
    [
        np.linspace(0, 10, 101),
        np.linspace(-1e6, 1e6, 3001),
        np.arange(50) / 3 + 1e4,
        np.cumsum(np.random.default_rng(5).choice([0.1, 0.2, 0.7], 200)),
    ],
    ids=range(4),
)
def test_looking_up_finds_the_piece_to_the_last_bit(x):
    """At every point the slope on its right, one bit before it that on its left: steps of a tenth and a third
    round."""
    y = np.random.default_rng(6).normal(size=len(x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        f = PiecewiseLinear(x, y)
    index = np.random.default_rng(7).choice(len(x), 40)
    traced = trace(lambda q: f.derivative(q), ["q"], what="slope", ranges=[(x[0], x[-1])])
    assert len(traced.tables) == 2
    for at in (x[index], np.nextafter(x[index], -np.inf), np.nextafter(x[index], np.inf)):
        assert [traced(v).item() for v in at] == f.derivative(at).tolist()


def test_a_joint_looked_up_equals_one_selected(monkeypatch):
    """Forward dynamics, which takes two derivatives of the looked-up rows, in machine code."""

    def udot(look_up_from):
        monkeypatch.setattr(condyle.functions.pieces, "LOOK_UP_FROM", look_up_from)
        x, y, _ = random_points(13, 20)
        system = cd.System()
        knee = cd.FunctionBased(
            "k", (None, None, Spline(x, x + 0.1 * y)), (SimmSpline(x, 0.1 * y), Spline(x, y, 5), None)
        )
        system.add_body("shank", mobilizer=knee, mass=3.0, com=(0, -0.2, 0), inertia=(0.05, 0.01, 0.05))
        return system.forward_dynamics(
            np.concatenate([np.linspace(-3, 10, 37), x])[:, None], np.full((57, 1), 0.7)
        )

    selected = udot(1000)
    # The same coefficients: rounding of fused products, and udot divides by the inertia.
    np.testing.assert_allclose(udot(3), selected, rtol=1e-11, atol=1e-11 * np.abs(selected).max())


def test_uneven_points_are_selected():
    """Buckets as narrow as the nearest two points would be too many: selection, and still the right value."""
    f = Spline(np.concatenate([[0, 1e-9], np.arange(1.0, 30)]), np.sin(np.arange(31.0)))
    traced = trace(f, ["q"], what="law")
    assert traced.tables == ()
    assert traced(7.3) == f(7.3)


def test_what_is_constant_in_all_pieces_is_not_looked_up():
    f = Spline(np.arange(30.0), np.zeros(30))
    assert trace(f, ["q"], what="law").tables == ()
    assert f(3.3) == 0


POINTS = ([0, 1, 2, 3], [0, 1, 2, 3])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Spline(*POINTS, degree=4),
            "degree must be 3, 5 or 7, got 4; other degrees: cd.functions.BSpline",
        ),
        (lambda: Spline(*POINTS, degree="cubic"), "got 'cubic'"),
        (lambda: Spline([0, 1, 2], [0, 1, 2], 5), "Spline: got 3 point(s), needs at least 4"),
        (lambda: Spline(*POINTS, 7), "Spline: got 4 point(s), needs at least 5"),
        (lambda: SimmSpline([0], [1]), "SimmSpline: got 1 point(s), needs at least 2"),
        (
            lambda: SimmSpline([0, 0], [1, 2]),
            "SimmSpline: x must increase strictly, but x[0] = 0 and x[1] = 0",
        ),
        (lambda: PiecewiseLinear([1, 0], [1, 2]), "reverse both x and y"),
        (lambda: Spline([], []), "Spline: x must be a sequence of numbers of shape (n,), got []"),
        (lambda: Spline([0, 1, 2], [0, 1, "2"]), "y[2]: expected one finite number or cd.Parameter, got '2'"),
        (lambda: BSpline([0, 1, 2, 3], [1], 0), "degree must be a whole number from 1 to 30, got 0"),
        (lambda: BSpline([0, 1, 2, 3], [1, 2, 3], 3), "got 3 coefficient(s), degree 3 needs at least 4"),
        (lambda: BSpline([0, 1, 2, 3], [1, 2, 3], 1), "got 4 knots; 3 coefficients of degree 1 need 5"),
        (lambda: BSpline([0, 1, 3, 2, 4], [1, 2, 3], 1), "knots[2] = 3 and knots[3] = 2"),
        (lambda: BSpline([0, 0, 0, 0, 0], [1, 2, 3], 1), "from knots[1] = 0 to knots[-2] = 0, is empty"),
        (
            lambda: BSpline([0, 0, 1, 1, 2, 2], [1, 2, 3, 4], 1),
            "the knot 1 occurs 2 times, at most 1 are allowed for degree 1",
        ),
    ],
)
def test_bad_description(make, message):
    with pytest.raises(DescriptionError) as caught:
        make()
    assert message in str(caught.value)


def test_bspline_with_a_kink_warns():
    with pytest.warns(UserWarning, match="kink at 1"):
        f = BSpline([0, 0, 0, 1, 1, 2, 2, 2], [0, 1, 2, 1, 0], 2)
    assert f(1.0) == 2
