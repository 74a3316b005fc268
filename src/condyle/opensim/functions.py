"""Functions: OpenSim's classes and those of cd.functions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import condyle.functions as functions
from condyle.arrays import Array
from condyle.errors import CondyleError, warn
from condyle.forces.external import TimeFunctions, TimeSeries
from condyle.functions.splines import natural
from condyle.laws.function import LawFunction
from condyle.opensim.element import Element
from condyle.opensim.reading import Reading
from condyle.opensim.table import REQUIRED, Arguments, Class, Field, Number, Properties, reads, write, writes
from condyle.opensim.writing import Writing, Xml, text, xml
from condyle.records import dataclass
from condyle.trace import Symbol, Traced

MOST_TERMS = 20_000
"""Largest number of terms of a polynomial of several variables."""
CLOSEST = 1e-7
"""Smallest step of x in OpenSim's SimmSpline; smaller ones are replaced by it."""
REMEDY = (
    "OpenSim has Constant, Linear, Polynomial, Sine, SmoothStep, SimmSpline, Spline, PiecewiseLinear, Scaled"
)


# ---- fields ------------------------------------------------------------------------------------------------


class FunctionField(Field):
    """A property that holds a function; without one in the file the argument is omitted."""

    def __init__(self, tag: str, key: str = "") -> None:
        super().__init__(tag, None, key)

    def parse(self, reading: Reading, element: Element) -> Any:
        return reading.function(element, self.tag)

    def read(self, reading: Reading, element: Element) -> Arguments:
        value = self.parse(reading, element)
        return {} if value is None else {self.key: value}

    def format(self, value: Any, to: Writing) -> Any:
        return function(value, to)


class ExpressionField(Field):
    """A property that holds the text of a function of these variables."""

    def __init__(self, tag: str, *names: str, key: str = "function") -> None:
        super().__init__(tag, "0.0", key)
        self.names = names

    def parse(self, reading: Reading, element: Element) -> Any:
        return formula(reading, element, self.tag, self.names, self.default)

    def format(self, value: Any, to: Writing) -> Any:
        given = value.given
        if isinstance(given, functions.Formula):
            return given.text
        if isinstance(given, functions.Constant):
            return text(to.number(given.value))
        to.refuse(f"OpenSim has expressions as text; give a cd.functions.Formula in place of {value!r}")
        return "0"


def formula(
    reading: Reading, element: Element, tag: str, names: Sequence[str], default: str = REQUIRED
) -> functions.Formula:
    """The expression in a property."""
    given = reading.text(element, tag, default)
    try:
        return functions.Formula(given, tuple(names))
    except CondyleError as error:
        raise reading.error(reading.property(element, tag) or element, str(error)) from None


# ---- one row per class -------------------------------------------------------------------------------------

Class("Constant", functions.Constant, (Number("value", 0.0),), also=("ConstantFunction",))
Class(
    "Sine",
    functions.Sine,
    (Number("amplitude", 1.0), Number("omega", 1.0), Number("phase", 0.0), Number("offset", 0.0)),
)


@reads("LinearFunction")
def linear(reading: Reading, element: Element) -> functions.Linear:
    *slope, intercept = reading.numbers(element, "coefficients", (1.0, 0.0))
    if not slope:
        raise reading.error(element, "coefficients: expected slopes, then the value at zero; got one number")
    return functions.Linear(tuple(slope) if len(slope) > 1 else slope[0], intercept)


@writes(functions.Linear)
def _(line: functions.Linear, to: Writing) -> Xml:
    slopes = line.slope if isinstance(line.slope, tuple) else (line.slope,)
    return xml("LinearFunction", coefficients=to.number((*slopes, line.intercept)))


def _smooth_step(step: functions.SmoothStep, to: Writing, p: Properties) -> Properties:
    x0, x1, y0, y1 = p.values()
    return p if x0 <= x1 else dict(zip(p, (x1, x0, y1, y0), strict=True))


Class(
    "StepFunction",
    functions.SmoothStep,
    (
        Number("transition_start_time", 0.99, "x0"),
        Number("transition_end_time", 1.01, "x1"),
        Number("start_value", 0.0, "y0"),
        Number("end_value", 1.0, "y1"),
    ),
    write=_smooth_step,
)


def _scaled(reading: Reading, element: Element, arguments: Arguments) -> functions.Scaled:
    if "function" not in arguments:
        raise reading.error(element, "which function? <function> is missing")
    return functions.Scaled(**arguments)


Class(
    "MultiplierFunction",
    functions.Scaled,
    (FunctionField("function"), Number("scale", 1.0, "factor")),
    read=_scaled,
)


# ---- through points ----------------------------------------------------------------------------------------


class PointsField(Field):
    """x and y of a function through points, one or more."""

    def __init__(self) -> None:
        super().__init__("x")

    def read(self, reading: Reading, element: Element) -> Arguments:
        x, y = (np.array(reading.numbers(element, name)) for name in "xy")
        if len(x) != len(y) or len(x) == 0:
            raise reading.error(element, f"expected as many x as y, one or more; got {len(x)} and {len(y)}")
        return {"x": x, "y": y}

    def write(self, thing: Any, to: Writing) -> Properties:
        return {"x": thing.x, "y": to.number(tuple(thing.y))}


def _through(
    kind: Callable[..., Any], x: Sequence[float] | Array, y: Sequence[float] | Array
) -> functions.Function:
    """A function through points whose kinks and jumps are as in the file: it raises no warnings of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return kind(tuple(x), tuple(y))  # type: ignore[no-any-return]


def _simm_spline(reading: Reading, element: Element, points: Arguments) -> functions.Function:
    x, y = points["x"], points["y"]
    steps = np.diff(x)
    if len(x) > 2 and (steps < CLOSEST).any() and (steps >= 0).all():
        reading.note(element, "two of its x are nearly equal; they count as 1e-7 apart, as in OpenSim")
        x = x[0] + np.concatenate([[0.0], np.cumsum(np.maximum(steps, CLOSEST))])
    return functions.Constant(y[0]) if len(x) == 1 else functions.SimmSpline(tuple(x), tuple(y))


def _piecewise_linear(reading: Reading, element: Element, points: Arguments) -> functions.Function:
    return (
        functions.Constant(points["y"][0])
        if len(points["x"]) == 1
        else _through(functions.PiecewiseLinear, **points)
    )


def _gcv_spline(reading: Reading, element: Element, points: Arguments) -> functions.Function:
    x, y = points["x"], points["y"]
    half = reading.number(element, "half_order", 3)
    variance = reading.number(element, "error_variance", 0.0)
    if half == 1 and variance:
        reading.remark(
            element,
            "error_variance is not zero, and half_order is 1: the lines go through its "
            "points; in OpenSim they smooth them",
        )
    if half == 1:  # straight lines, constant beyond the ends
        return _through(functions.PiecewiseLinear, [x[0] - 1.0, *x, x[-1] + 1.0], [y[0], *y, y[-1]])
    if half not in (2, 3, 4):
        raise reading.error(element, f"half_order: expected 1, 2, 3 or 4, got {half:g}")
    degree = int(2 * half - 1)
    if variance and (np.diff(x) > 0).all() and len(x) > degree:
        y = smoothed(x, y, degree, variance)
    return functions.Spline(tuple(x), tuple(y), degree=degree)


def _spline(spline: functions.Spline, to: Writing, points: Properties) -> Properties:
    half = (spline.degree + 1) // 2
    if len(spline.x) < 2 * half:
        to.refuse(
            f"{spline!r}: OpenSim's GCVSpline of degree {spline.degree} needs {2 * half} points or more"
        )
    return _gcv(half, **points)


def _gcv(half: int, x: Any, y: Any) -> dict[str, Any]:
    """Properties of a GCVSpline through its points."""
    return {"half_order": half, "error_variance": 0.0, "x": x, "weights": [1.0] * len(x), "y": y}


Class("SimmSpline", functions.SimmSpline, (PointsField(),), read=_simm_spline)
Class("PiecewiseLinearFunction", functions.PiecewiseLinear, (PointsField(),), read=_piecewise_linear)
Class(
    "PiecewiseConstantFunction",
    functions.PiecewiseConstant,
    (PointsField(),),
    read=lambda reading, element, points: _through(functions.PiecewiseConstant, **points),
)
Class(  # OpenSim does not use weights and coefficients either
    "GCVSpline",
    functions.Spline,
    (PointsField(),),
    skip=("weights", "coefficients"),
    read=_gcv_spline,
    write=_spline,
)


# ---- formulas and polynomials ------------------------------------------------------------------------------


@reads("ExpressionBasedFunction")
def expression_based(reading: Reading, element: Element) -> functions.Function:
    return formula(reading, element, "expression", reading.words(element, "variables"))


@reads("PolynomialFunction")
def polynomial(reading: Reading, element: Element) -> functions.Function:
    return functions.Polynomial(reading.numbers(element, "coefficients", (0.0,))[::-1])


@writes(functions.Polynomial)
def _(p: functions.Polynomial, to: Writing) -> Xml:
    terms, order = _terms(p, to)
    if p.variables == 1:
        return xml("PolynomialFunction", coefficients=[terms.get((k,), 0.0) for k in range(order, -1, -1)])
    to.refuse(
        f"{p!r} is of several variables; those of OpenSim have no second derivatives, and "
        "accelerations would be wrong"
    )
    return constant(0.0)


@reads("MultivariatePolynomialFunction")
def multivariate_polynomial(reading: Reading, element: Element) -> functions.Function:
    """Its terms are in the order of their exponents, the last variable's growing first."""
    variables, order = (int(reading.number(element, name, 0.0)) for name in ("dimension", "order"))
    if not 1 <= variables <= 16 or not 0 <= order <= 20 or math.comb(variables + order, order) > MOST_TERMS:
        raise reading.error(
            element,
            f"expected a dimension of 1 to 16 and an order of 0 to 20, with at most "
            f"{MOST_TERMS} terms; got {variables} and {order}",
        )
    powers = _exponents(variables, order)
    c = reading.numbers(element, "coefficients")
    if len(c) != len(powers):
        raise reading.error(
            element,
            f"a polynomial of {variables} variables and order {order} has "
            f"{len(powers)} coefficients; got {len(c)}",
        )
    return functions.Polynomial(c, powers)


def of_several(p: functions.Polynomial, to: Writing) -> Xml:
    """A polynomial of several variables, where OpenSim asks for first derivatives alone."""
    terms, order = _terms(p, to)
    count = len(next(iter(terms)))
    return xml(
        "MultivariatePolynomialFunction",
        dimension=count,
        order=order,
        coefficients=[terms.get(e, 0.0) for e in _exponents(count, order)],
    )


def _terms(p: functions.Polynomial, to: Writing) -> tuple[dict[tuple[int, ...], float], int]:
    """Coefficients by exponents, and the largest sum of exponents."""
    powers = p.exponents or tuple((k,) for k in range(len(p.coefficients)))
    terms: dict[tuple[int, ...], float] = {}
    for e, value in zip(powers, p.coefficients, strict=True):
        terms[tuple(e)] = terms.get(tuple(e), 0.0) + to.number(value)
    return terms, max(map(sum, powers))


def _exponents(variables: int, order: int) -> list[tuple[int, ...]]:
    """Of all terms of a polynomial, at most `order` together."""
    if variables == 0:
        return [()]
    return [(e, *rest) for e in range(order + 1) for rest in _exponents(variables - 1, order - e)]


# ---- writing: other forms of functions --------------------------------------------------------------


def function(given: Any, to: Writing) -> Xml:
    """One of `cd.functions`, a number, or their form in a law, as a function of OpenSim."""
    if isinstance(given, LawFunction):
        given = _given(given)
    if isinstance(given, (int, float, np.number)):
        return constant(float(given))
    if isinstance(given, Symbol):
        return constant(to.number(given))
    made = write(given, to) if isinstance(given, functions.Function) else None
    if made is None:
        what = "a Python function" if not isinstance(given, functions.Function) else repr(given)
        to.refuse(f"{what} has no counterpart; {REMEDY}")
    return constant(0.0) if made is None else made


def constant(value: float) -> Xml:
    return xml("Constant", value=value)


def _given(law: LawFunction) -> Any:
    """The original of a law's function: one of cd.functions, or a number."""
    if law.given is not None or law.law.outside:
        return law.given
    values = {law.law(*([x] * len(law.law.names))).item() for x in (0.0, 0.7, -0.3)}
    return values.pop() if len(values) == 1 else law.law


def joint_function(
    given: Any, traced: Traced | None, own: tuple[str, ...], names: tuple[str, ...], to: Writing
) -> tuple[tuple[str, ...], Xml]:
    """A function of a joint: the coordinates on which it depends, and the function.

    Args:
        given: as in the description of the joint: a function, (function, names), a number or None.
        traced: its expression.
        own: names of the coordinates in the joint.
        names: their names in the system.
    """
    if traced is None:
        return (), constant(0.0)
    if isinstance(given, (tuple, list)) and isinstance(given[0], functions.Function):
        some = (given[1],) if isinstance(given[1], str) else tuple(given[1])
        return tuple(names[own.index(n)] for n in some), function(given[0], to)
    if isinstance(given, (functions.Constant, int, float, Symbol)):
        return (), function(given, to)
    if isinstance(given, functions.Function):
        return names, function(given, to)
    slopes = traced.linear()
    if slopes is None:
        to.refuse(f"a Python function of {', '.join(own)} that is not linear; {REMEDY}")
        return (), constant(0.0)
    some = tuple(n for n, slope in zip(names, slopes, strict=False) if slope)
    if not some:
        return (), constant(slopes[-1])
    return some, xml("LinearFunction", coefficients=[*(s for s in slopes[:-1] if s), slopes[-1]])


def over_time(signal: TimeFunctions | TimeSeries, to: Writing) -> list[Xml]:
    """Functions of time: one for each number."""
    if isinstance(signal, TimeFunctions):
        return [function(law, to) for law in signal.functions]
    t, values = np.array(signal.times), np.array(signal.values).T
    if signal.interpolation == "linear":
        t = np.array([t[0] - 1.0, *t, t[-1] + 1.0])
        return [xml("PiecewiseLinearFunction", x=t, y=[y[0], *y, y[-1]]) for y in values]
    if len(t) < 4:
        to.refuse(f"{signal!r}: OpenSim's splines need four samples or more")
    warn(
        f"write_osim: {to.where}: before {t[0]:g} s and after {t[-1]:g} s its values are constant; OpenSim continues "
        "along straight lines there"
    )
    return [xml("GCVSpline", **_gcv(2, t, y)) for y in values]


# ---- vectors of functions ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Combined(functions.Function):
    """start + sum of factors times functions of one variable.

    Args:
        functions: one or several.
        factors: of each.
        start: what is added.
    """

    functions: tuple[functions.Function, ...]
    factors: tuple[float, ...]
    start: float = 0.0

    def formula(self, x: Sequence[Any], order: Sequence[int], look_up: bool) -> Any:
        parts = zip(self.factors, self.functions, strict=True)
        return sum((k * g.formula(x, order, look_up) for k, g in parts), 0.0 if any(order) else self.start)


def in_body(R: Array, p: Array, given: Sequence[Any]) -> tuple[Any, ...]:
    """p + R given: a vector in a frame, of numbers or functions of one variable, in that of its body."""
    if np.array_equal(R, np.eye(3)) and not np.any(p):
        return tuple(given)
    if not any(isinstance(x, functions.Function) for x in given):
        return tuple((p + R @ np.array(given, dtype=float)).tolist())
    parts = tuple(x if isinstance(x, functions.Function) else functions.Constant(float(x)) for x in given)
    rows = [[(g, k) for g, k in zip(parts, row, strict=True) if k] for row in R.tolist()]
    return tuple(
        Combined(tuple(g for g, _ in row), tuple(k for _, k in row), float(x))
        for row, x in zip(rows, p, strict=True)
    )


# ---- smoothing splines -------------------------------------------------------------------------------------
#
# Values of a smoothing spline at its points, as in OpenSim's GCVSpline if error_variance is not zero
# (Woltring 1986). Of all curves s the natural spline of degree 2 m - 1 minimizes
#
#     sum (y_i - s(x_i))^2 + p int (s^(m))^2 dx.                                                         (1)
#
# Its values are g = A(p) y with A = (1 + p K)^-1, where g' K g is the integral for the natural spline through
# g. By parts, (K g)_i is (-1)^m times the jump of its derivative of order 2 m - 1 at x_i. p minimizes one of
#
#     |y - g|^2 / (tr(1 - A))^2                 generalized cross validation, where no variance is known (2)
#     |y - g|^2 - 2 variance tr(1 - A)          the expected error, with the variance of the y           (3)
def smoothed(x: Array, y: Array, degree: int, variance: float) -> Array:
    """g at the points (x, y), shape (n,); by (2) if the variance is negative, by (3) if it is positive."""
    half = (degree + 1) // 2
    step = (x[-1] - x[0]) / (len(x) - 1)
    c = natural((x - x[0]) / step, np.eye(len(x)), degree)[2][:, degree] * math.factorial(degree)
    c[-1] = 0.0  # beyond the ends the degree is m - 1
    K = (-1) ** half * np.diff(c, axis=0)
    size, V = np.linalg.eigh((K + K.T) / 2)
    size[:half] = 0.0  # polynomials of degree m - 1 cost nothing
    part = V.T @ y

    def criterion(logarithm: float) -> float:
        left = _left(size, logarithm)
        rest = float(((left * part) ** 2).sum())
        if variance < 0:
            return rest / float(left.sum()) ** 2  # (2)
        return rest - 2 * variance * float(left.sum())  # (3)

    logarithm = _lowest(criterion, -half * math.log(4.0))
    return V @ ((1 - _left(size, logarithm)) * part)  # type: ignore[no-any-return]


def _left(size: Array, logarithm: float) -> Array:
    """Eigenvalues of 1 - A."""
    p = math.exp(logarithm) * size
    return p / (1 + p)


FAR = 36.0
"""Range of log p: beyond it the curve goes through its points, or is a polynomial, to rounding."""


def _lowest(criterion: Callable[[float], float], start: float) -> float:
    """log p of the nearest minimum: Woltring's search goes on by factors of two from where both terms of (1)
    are alike, first to less smoothing."""
    from scipy.optimize import minimize_scalar

    step = math.log(2.0)
    if criterion(start) > criterion(start + step):
        step = -step
    middle = start + max(-step, 0.0)
    while criterion(middle - step) < criterion(middle):
        middle -= step
        if abs(middle - start) > FAR:
            return middle
    around = sorted((middle - step, middle + step))
    return float(minimize_scalar(criterion, bounds=around, method="bounded", options={"xatol": 1e-10}).x)
