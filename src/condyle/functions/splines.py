"""B-splines given by knots and coefficients: docs/theory/functions.md (16)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from condyle.arrays import Array, bare, real
from condyle.errors import DescriptionError, warn
from condyle.functions.base import Number, numbers, plain_numbers
from condyle.functions.pieces import Piecewise
from condyle.records import assign, dataclass


@dataclass(frozen=True, eq=False, repr=False)
class BSpline(Piecewise):
    """The sum of B-splines of one degree on given knots, each times its coefficient (16). Conventions are
    SciPy's.

    Its interval is from knots[degree] to knots[-degree - 1]. Outside, the outermost polynomials continue. At
    a knot that occurs m times it has degree - m continuous derivatives; if that is none, a warning reports a
    kink.

    Args:
        knots: shape (n + degree + 1,), increasing; equal knots are allowed, at most `degree` times inside.
        coefficients: shape (n,), n > degree; may be Parameters, at a cost proportional to their number.
        degree: 1, 2, 3, ...
    """

    knots: Sequence[float] | Array
    coefficients: Sequence[Number] | Array
    degree: int = 3

    def __post_init__(self) -> None:
        if isinstance(self.degree, bool) or self.degree not in range(1, 31):
            raise DescriptionError(
                f"BSpline: degree must be a whole number from 1 to 30, got {self.degree!r}"
            )
        k = int(self.degree)
        knots = plain_numbers("BSpline", "knots", self.knots)
        coefficients = numbers("BSpline", "coefficients", self.coefficients)
        assign(self, knots=knots, coefficients=coefficients, degree=k)
        if len(coefficients) <= k:
            raise DescriptionError(
                f"BSpline: got {len(coefficients)} coefficient(s), degree {k} needs at least {k + 1}"
            )
        if len(knots) != len(coefficients) + k + 1:
            raise DescriptionError(
                f"BSpline: got {len(knots)} knots; {len(coefficients)} coefficients of "
                f"degree {k} need {len(coefficients) + k + 1}, the number of coefficients "
                "+ degree + 1"
            )
        step = np.diff(knots)
        if not (step >= 0).all():
            i = int(np.argmin(step >= 0))
            raise DescriptionError(
                f"BSpline: knots must not decrease, but knots[{i}] = {knots[i]:g} and "
                f"knots[{i + 1}] = {knots[i + 1]:g}"
            )
        first, last = knots[k], knots[-k - 1]
        if not first < last:
            raise DescriptionError(
                f"BSpline: its interval, from knots[{k}] = {first:g} to knots[{-k - 1}] = "
                f"{last:g}, is empty; spread the knots"
            )
        inside, times = np.unique([x for x in knots if first < x < last], return_counts=True)
        if len(inside) and times.max() > k:
            x, m = inside[times.argmax()], times.max()
            raise DescriptionError(
                f"BSpline: the knot {x:g} occurs {m} times, at most {k} are allowed for degree {k}"
            )
        if len(inside) and times.max() == k:
            warn(
                f"BSpline has a kink at {inside[times.argmax()]:g}: degree {k} and {k} equal knots "
                "leave no continuous derivative; raise the degree or spread the "
                "knots"
            )

    @property
    def values(self) -> tuple[Number, ...]:
        return tuple(self.coefficients)

    def pieces(self, y: Array) -> tuple[Array, Array, Array]:
        from scipy.interpolate import BSpline as Reference

        k, t = self.degree, np.array(self.knots)
        spline = Reference(t, y, k)
        breaks = np.unique(t[(t > t[k]) & (t < t[-k - 1])])
        at = np.concatenate([t[k : k + 1], breaks])
        return (
            breaks,
            at,
            np.stack([spline(at, nu=j) / math.factorial(j) for j in range(k + 1)], axis=1),
        )  # (16)

    def __repr__(self) -> str:
        first, last = self.knots[self.degree], self.knots[-self.degree - 1]
        return (
            f"BSpline({len(self.coefficients)} coefficients, x from {first:g} to {last:g}, degree "
            f"{self.degree})"
        )


# ---- splines ---------------------------------------------------------------------------------------------
#
# Functions through given points: natural splines, SIMM's cubic, straight lines: docs/theory/functions.md
# (11)-(15).


DEGREES = (3, 5, 7)


def is_series(value: Any) -> bool:
    """Whether a value is a pair (times, values): two sequences, the first one of numbers."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        return False
    try:
        times, values = (real("a series", bare(x)) for x in value)
    except (TypeError, ValueError):
        return False
    return times.ndim == 1 and values.ndim in (1, 2)


@dataclass(frozen=True, eq=False, repr=False)
class ThroughPoints(Piecewise):
    """Through points (x, y). See its subclasses."""

    x: Sequence[float] | Array
    y: Sequence[Number] | Array

    fewest = 2

    def __post_init__(self) -> None:
        name = type(self).__name__
        assign(self, x=plain_numbers(name, "x", self.x), y=numbers(name, "y", self.y))
        check_points(name, self.x, self.y, self.fewest)

    @property
    def values(self) -> tuple[Number, ...]:
        return tuple(self.y)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.x)} points, x from {self.x[0]:g} to {self.x[-1]:g})"


@dataclass(frozen=True, eq=False, repr=False)
class Spline(ThroughPoints):
    """The natural spline through points (x, y): the smoothest interpolating curve, with degree - 1 continuous
    derivatives (11).

    Outside it continues as a polynomial of degree (degree - 1) / 2, with all those derivatives continuous: a
    straight line for a cubic, a parabola for a quintic, a cubic for a septic. It equals OpenSim's
    GCVSpline with zero error.

    Args:
        x: where the points lie, shape (n,), strictly increasing; n >= 3 for a cubic, 4 for a quintic, 5 for a
            septic.
        y: values there, shape (n,); may be Parameters, at a cost proportional to their number. degree: 3, 5
            or 7.
    """

    degree: int = 3

    def __post_init__(self) -> None:
        if self.degree not in DEGREES:
            raise DescriptionError(
                f"Spline: degree must be 3, 5 or 7, got {self.degree!r}; other degrees: cd.functions.BSpline"
            )
        assign(self, degree=int(self.degree))
        super().__post_init__()

    @property
    def fewest(self) -> int:  # type: ignore[override]
        return (self.degree + 3) // 2

    def pieces(self, y: Array) -> tuple[Array, Array, Array]:
        return natural(np.array(self.x), y, self.degree)

    def __repr__(self) -> str:
        return super().__repr__()[:-1] + (f", degree {self.degree})" if self.degree != 3 else ")")


@dataclass(frozen=True, eq=False, repr=False)
class SimmSpline(ThroughPoints):
    """The cubic spline of SIMM and OpenSim's SimmSpline: each end takes its third derivative from four points
    (13).

    Outside it continues as a straight line. It has two continuous derivatives inside; at the ends the second
    one jumps.

    Args:
        x: where the points lie, shape (n,), n >= 2, strictly increasing. Three points give a parabola, two a
            line.
        y: values there, shape (n,); may be Parameters: then evaluating costs in proportion to how many are.
    """

    def pieces(self, y: Array) -> tuple[Array, Array, Array]:
        x = np.array(self.x)
        if len(x) == 2:
            return straight(x, y)
        left, right = (
            6 * divided_difference(x[s], y[s]) if len(x) > 3 else np.zeros(y.shape[1])
            for s in (slice(None, 4), slice(-4, None))
        )  # (13)
        return interpolated(x, y, 3, [(3, left)], [(3, right)], 1)  # (14)


@dataclass(frozen=True, eq=False, repr=False)
class PiecewiseLinear(ThroughPoints):
    """Straight lines between points (x, y); outside, the outermost lines continue (15).

    It has kinks, where velocities jump and integrators take small steps, and raises a warning. `cd.Spline`
    has none.

    Args:
        x: where the points lie, shape (n,), n >= 2, strictly increasing.
        y: values there, shape (n,); may be Parameters: then evaluating costs in proportion to how many are.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        warn(
            "PiecewiseLinear has kinks at its points: speeds jump there, and derivatives are those "
            "of one side; cd.Spline(x, y) is smooth"
        )

    def pieces(self, y: Array) -> tuple[Array, Array, Array]:
        return straight(np.array(self.x), y)


@dataclass(frozen=True, eq=False, repr=False)
class PiecewiseConstant(ThroughPoints):
    """Steps: from each x on, up to the next, the value of its y; before the first x the first y (16).

    It jumps, its derivatives are zero, and integrators take small steps there; a warning is raised.
    `cd.functions.SmoothStep` is smooth. At NaN it is the last y.

    Args:
        x: where the values change, shape (n,), strictly increasing.
        y: values from there on, shape (n,); may be Parameters: then evaluating costs in proportion to how
            many are.
    """

    fewest = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        warn(
            "PiecewiseConstant jumps at its points, and its derivatives are zero; "
            "cd.functions.SmoothStep is smooth"
        )

    def pieces(self, y: Array) -> tuple[Array, Array, Array]:
        return np.array(self.x[1:]), np.array(self.x), y[:, None, :]


def straight(x: Array, y: Array) -> tuple[Array, Array, Array]:
    """Lines between points as pieces (15); y has shape (n, s)."""
    slope = np.diff(y, axis=0) / np.diff(x)[:, None]
    c = np.stack([y[:-1], slope], axis=1)
    return x[1:-1], x[:-1], c


def measured(series: Any, what: str) -> Spline:
    """The natural cubic spline through a pair (times, values) that is given for a function of time."""
    times, values = series
    spline = Spline(times, values)
    warn_of_overshoot(
        what, np.asarray(times, dtype=float), np.asarray(values, dtype=float)[:, None], "add samples"
    )
    return spline


OVERSHOOT = 1.0
"""How far a spline may leave the range of its values, over that range: a cubic through even measurements
stays far below."""


def warn_of_overshoot(what: str, x: Array, y: Array, remedy: str) -> None:
    """Warn if the natural cubic through points, y of shape (n, s), goes far beyond their values between
    them."""
    c = natural(x, y)[2]
    h = np.diff(x)[:, None] * np.array([0.25, 0.5, 0.75])
    # (n - 1, 3, s); pieces 1.. lie inside
    between = sum(c[1:-1, j, None, :] * h[:, :, None] ** j for j in range(4))
    low, high = y.min(axis=0), y.max(axis=0)
    beyond = np.maximum(between - high, low - between) / np.where(high > low, high - low, np.inf)
    if beyond.max() > OVERSHOOT:
        i, j, k = np.unravel_index(int(beyond.argmax()), beyond.shape)
        warn(
            f"{what}: the cubic spline through these values, from {low[k]:g} to {high[k]:g}, "
            f"reaches {between[i, j, k]:.3g} at t = {x[i] + h[i, j]:.6g} s, between two of them: "
            f"the times are too uneven for it; {remedy}"
        )


def natural(x: Array, y: Array, degree: int = 3) -> tuple[Array, Array, Array]:
    """The natural spline as pieces; y has shape (n, s)."""
    half = (degree + 1) // 2
    ends = [(j, np.zeros(y.shape[1])) for j in range(half, degree)]  # (11)
    return interpolated(x, y, degree, ends, ends, half - 1)  # (12)


def interpolated(
    x: Array, y: Array, degree: int, left: list[Any], right: list[Any], beyond: int
) -> tuple[Array, Array, Array]:
    """The spline through points with derivatives (order, value) given at its ends, as pieces.

    Args:
        x: (n,).
        y: (n, s).
        beyond: degree of the polynomials on either side.
    """
    # In units of the mean step, so that high derivatives are as large as the values and the equations well
    # scaled.
    h = (x[-1] - x[0]) / (len(x) - 1)
    bc = tuple([(j, d * h**j) for j, d in end] for end in (left, right))
    at = np.concatenate([x[:1], x])
    if degree == 3 and len(x) <= DENSE:
        c = _cubic((x - x[0]) / h, y, *(end[0] for end in bc)) / h ** np.arange(4)[:, None]
    else:
        from scipy.interpolate import make_interp_spline

        spline = make_interp_spline((x - x[0]) / h, y, k=degree, bc_type=bc)
        c = np.stack(
            [spline((at - x[0]) / h, nu=j) / (math.factorial(j) * h**j) for j in range(degree + 1)], axis=1
        )
    c[:, 0] = np.concatenate([y[:1], y])
    c[[0, -1], beyond + 1 :] = 0.0
    return x, at, c


DENSE = 100
"""Maximum number of points of a cubic solved with a full matrix, which is faster than importing SciPy."""


def _cubic(x: Array, y: Array, left: tuple[int, Array], right: tuple[int, Array]) -> Array:
    """Coefficients (n + 1, 4, s) of the cubic spline through points: at the first point, then at each.

    Second derivatives m solve h_i m_i + 2 (h_i + h_i+1) m_i+1 + h_i+1 m_i+2 = 6 (slope_i+1 - slope_i), where
    the first derivative is continuous, and one condition, (order, value) with order 2 or 3, at each end.
    """
    n, h = len(x), np.diff(x)
    slope = np.diff(y, axis=0) / h[:, None]
    A, b = np.zeros((n, n)), np.zeros((n, y.shape[1]))
    inner = np.arange(1, n - 1)
    A[inner, inner - 1], A[inner, inner], A[inner, inner + 1] = h[:-1], 2 * (h[:-1] + h[1:]), h[1:]
    b[1:-1] = 6 * np.diff(slope, axis=0)
    for row, (order, value), k in ((0, left, 0), (n - 1, right, n - 2)):
        if order == 2:
            A[row, row] = 1.0
        else:
            A[row, k], A[row, k + 1] = -1.0, 1.0
        b[row] = value if order == 2 else value * h[k]
    m = np.linalg.solve(A, b)
    third = np.diff(m, axis=0) / h[:, None]
    first = slope - h[:, None] * (2 * m[:-1] + m[1:]) / 6
    last = slope[-1:] + h[-1] * (m[-2:-1] + 2 * m[-1:]) / 6
    first, third = np.concatenate([first, last]), np.concatenate([third, third[-1:]])
    c = np.stack([y, first, m / 2, third / 6], axis=1)
    return np.concatenate([c[:1], c])


def divided_difference(x: Array, y: Array) -> Array:
    """y[x_0, ..., x_n], shape (s,): the leading coefficient of the polynomial through the points."""
    for n in range(1, len(x)):
        y = np.diff(y, axis=0) / (x[n:] - x[:-n])[:, None]
    return y[0]


def check_points(name: str, x: Sequence[float] | Array, y: Sequence[Number] | Array, fewest: int) -> None:
    """Raise DescriptionError unless there are enough points and x increases."""
    if len(x) != len(y):
        raise DescriptionError(f"{name}: {len(x)} values of x but {len(y)} of y; give one y for each x")
    if len(x) < fewest:
        raise DescriptionError(
            f"{name}: got {len(x)} point(s), needs at least {fewest}; a line is lambda q: a + b * q"
        )
    step = np.diff(x)
    if not (step > 0).all():
        k = int(np.argmin(step > 0))
        advice = (
            "reverse both x and y"
            if (step < 0).all()
            else "two points share one x: keep one of them"
            if step[k] == 0
            else "sort the points by x"
        )
        raise DescriptionError(
            f"{name}: x must increase strictly, but x[{k}] = {x[k]:g} and x[{k + 1}] = {x[k + 1]:g}; {advice}"
        )
