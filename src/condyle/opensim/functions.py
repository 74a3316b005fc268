"""Functions: OpenSim's classes as those of cd.functions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from condyle.errors import CondyleError
from condyle.functions import (
    Constant,
    Formula,
    Function,
    Linear,
    PiecewiseConstant,
    PiecewiseLinear,
    Polynomial,
    Scaled,
    SimmSpline,
    Sine,
    SmoothStep,
    Spline,
)
from condyle.opensim.element import Element
from condyle.opensim.reading import Reading
from condyle.opensim.registry import reads
from condyle.opensim.smoothing import smoothed
from condyle.records import dataclass

MOST_TERMS = 20_000
"""Of a polynomial of several variables."""
CLOSEST = 1e-7
"""Steps of x below this count as this, in OpenSim's SimmSpline."""


@dataclass(frozen=True, eq=False, repr=False)
class Combined(Function):
    """start + sum of factors times functions of one variable.

    Args:
        functions: one or several.
        factors: of each.
        start: what is added.
    """

    functions: tuple[Function, ...]
    factors: tuple[float, ...]
    start: float = 0.0

    def formula(self, x: Sequence[Any], order: Sequence[int], look_up: bool) -> Any:
        parts = zip(self.factors, self.functions, strict=True)
        return sum((k * f.formula(x, order, look_up) for k, f in parts), 0.0 if any(order) else self.start)


def in_body(R: np.ndarray, p: np.ndarray, given: Sequence[Any]) -> tuple[Any, ...]:
    """p + R given: a vector in a frame, of numbers or functions of one variable, in that of its body."""
    if np.array_equal(R, np.eye(3)) and not np.any(p):
        return tuple(given)
    if not any(isinstance(x, Function) for x in given):
        return tuple((p + R @ np.array(given, dtype=float)).tolist())
    functions = tuple(x if isinstance(x, Function) else Constant(float(x)) for x in given)
    rows = [[(f, k) for f, k in zip(functions, row, strict=True) if k] for row in R.tolist()]
    return tuple(
        Combined(tuple(f for f, _ in row), tuple(k for _, k in row), float(x))
        for row, x in zip(rows, p, strict=True)
    )


@reads("Constant", "ConstantFunction")
def constant(reading: Reading, element: Element) -> Function:
    return Constant(reading.number(element, "value", 0.0))


@reads("LinearFunction")
def linear(reading: Reading, element: Element) -> Function:
    *slope, intercept = reading.numbers(element, "coefficients", (1.0, 0.0))
    if not slope:
        raise reading.error(element, "coefficients: expected slopes, then the value at zero; got one number")
    return Linear(tuple(slope) if len(slope) > 1 else slope[0], intercept)


@reads("PolynomialFunction")
def polynomial(reading: Reading, element: Element) -> Function:
    return Polynomial(reading.numbers(element, "coefficients", (0.0,))[::-1])


@reads("SimmSpline")
def simm_spline(reading: Reading, element: Element) -> Function:
    x, y = points(reading, element)
    steps = np.diff(x)
    if len(x) > 2 and (steps < CLOSEST).any() and (steps >= 0).all():
        reading.note(element, "two of its x are nearly equal; they count as 1e-7 apart, as in OpenSim")
        x = x[0] + np.concatenate([[0.0], np.cumsum(np.maximum(steps, CLOSEST))])
    return Constant(y[0]) if len(x) == 1 else SimmSpline(tuple(x), tuple(y))


@reads("PiecewiseLinearFunction")
def piecewise_linear(reading: Reading, element: Element) -> Function:
    x, y = points(reading, element)
    return Constant(y[0]) if len(x) == 1 else _lines(x, y)


def _lines(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> Function:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # kinks are as in the file
        return PiecewiseLinear(tuple(x), tuple(y))


@reads("PiecewiseConstantFunction")
def piecewise_constant(reading: Reading, element: Element) -> Function:
    x, y = points(reading, element)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # jumps are as in the file
        return PiecewiseConstant(tuple(x), tuple(y))


@reads("MultivariatePolynomialFunction")
def multivariate_polynomial(reading: Reading, element: Element) -> Function:
    """Its terms are in the order of their exponents, the last variable's growing first."""
    variables, order = (int(reading.number(element, name, 0.0)) for name in ("dimension", "order"))
    if not 1 <= variables <= 16 or not 0 <= order <= 20 or math.comb(variables + order, order) > MOST_TERMS:
        raise reading.error(
            element,
            f"expected a dimension of 1 to 16 and an order of 0 to 20, with at most "
            f"{MOST_TERMS} terms; got {variables} and {order}",
        )
    powers = exponents(variables, order)
    c = reading.numbers(element, "coefficients")
    if len(c) != len(powers):
        raise reading.error(
            element,
            f"a polynomial of {variables} variables and order {order} has "
            f"{len(powers)} coefficients; got {len(c)}",
        )
    return Polynomial(c, powers)


def exponents(variables: int, order: int) -> list[tuple[int, ...]]:
    """Of all terms of a polynomial, at most `order` together."""
    if variables == 0:
        return [()]
    return [(e, *rest) for e in range(order + 1) for rest in exponents(variables - 1, order - e)]


@reads("ExpressionBasedFunction")
def expression_based(reading: Reading, element: Element) -> Function:
    names = tuple(reading.words(element, "variables"))
    try:
        return Formula(reading.text(element, "expression"), names)
    except CondyleError as error:
        raise reading.error(element, str(error)) from None


@reads("GCVSpline")
def gcv_spline(reading: Reading, element: Element) -> Function:
    x, y = points(reading, element)
    half = reading.number(element, "half_order", 3)
    reading.skip(element, "weights", "coefficients")  # OpenSim does not use them either
    variance = reading.number(element, "error_variance", 0.0)
    if half == 1 and variance:
        reading.remark(
            element,
            "error_variance is not zero, and half_order is 1: the lines go through its "
            "points; in OpenSim they smooth them",
        )
    if half == 1:  # straight lines, constant beyond the ends
        return _lines([x[0] - 1.0, *x, x[-1] + 1.0], [y[0], *y, y[-1]])
    if half not in (2, 3, 4):
        raise reading.error(element, f"half_order: expected 1, 2, 3 or 4, got {half:g}")
    degree = int(2 * half - 1)
    if variance and (np.diff(x) > 0).all() and len(x) > degree:
        y = smoothed(x, y, degree, variance)
    return Spline(tuple(x), tuple(y), degree=degree)


@reads("StepFunction")
def step(reading: Reading, element: Element) -> Function:
    return SmoothStep(
        reading.number(element, "transition_start_time", 0.99),
        reading.number(element, "transition_end_time", 1.01),
        reading.number(element, "start_value", 0.0),
        reading.number(element, "end_value", 1.0),
    )


@reads("Sine")
def sine(reading: Reading, element: Element) -> Function:
    return Sine(
        *(
            reading.number(element, name, default)
            for name, default in (("amplitude", 1.0), ("omega", 1.0), ("phase", 0.0), ("offset", 0.0))
        )
    )


@reads("MultiplierFunction")
def multiplier(reading: Reading, element: Element) -> Function:
    inner = reading.function(element, "function")
    if inner is None:
        raise reading.error(element, "which function? <function> is missing")
    return Scaled(inner, reading.number(element, "scale", 1.0))


def points(reading: Reading, element: Element) -> tuple[np.ndarray, np.ndarray]:
    """x and y of a function through points."""
    x, y = (np.array(reading.numbers(element, name)) for name in "xy")
    if len(x) != len(y) or len(x) == 0:
        raise reading.error(element, f"expected as many x as y, one or more; got {len(x)} and {len(y)}")
    return x, y
