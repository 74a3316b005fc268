"""Functions as elements: those of `cd.functions`, numbers, and Python functions that are linear."""

from __future__ import annotations

from functools import singledispatch
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from condyle.errors import warn
from condyle.forces.external import TimeFunctions, TimeSeries
from condyle.functions import (
    Constant,
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
from condyle.laws.function import LawFunction
from condyle.opensim.functions import exponents
from condyle.opensim.writing import Writing
from condyle.opensim.xml import element
from condyle.trace import Symbol, Traced

REMEDY = (
    "OpenSim has Constant, Linear, Polynomial, Sine, SmoothStep, SimmSpline, Spline, PiecewiseLinear, Scaled"
)


@singledispatch
def function(f: Any, to: Writing, where: str) -> Element:
    """One of `cd.functions`, or a number, as a function of OpenSim."""
    if isinstance(f, (int, float, np.number, Symbol)):
        return constant(to.number(float(f) if not isinstance(f, Symbol) else f, where))
    what = "a Python function" if not isinstance(f, Function) else repr(f)
    to.refuse(f"{where}: {what} has no counterpart; {REMEDY}")
    return constant(0.0)


def constant(value: float) -> Element:
    return element("Constant", value=value)


@function.register
def _(f: Constant, to: Writing, where: str) -> Element:
    return constant(to.number(f.value, where))


@function.register
def _(f: Linear, to: Writing, where: str) -> Element:
    slopes = f.slope if isinstance(f.slope, tuple) else (f.slope,)
    return element("LinearFunction", coefficients=to.number((*slopes, f.intercept), where))


@function.register
def _(f: Polynomial, to: Writing, where: str) -> Element:
    terms, order = _terms(f, to, where)
    if f.variables == 1:
        return element(
            "PolynomialFunction", coefficients=[terms.get((k,), 0.0) for k in range(order, -1, -1)]
        )
    to.refuse(
        f"{where}: {f!r} is of several variables; those of OpenSim have no second derivatives, and "
        "accelerations would be wrong"
    )
    return constant(0.0)


def _terms(f: Polynomial, to: Writing, where: str) -> tuple[dict[tuple[int, ...], float], int]:
    """Coefficients by exponents, and the largest sum of exponents."""
    powers = f.exponents or tuple((k,) for k in range(len(f.coefficients)))
    terms: dict[tuple[int, ...], float] = {}
    for e, value in zip(powers, f.coefficients, strict=True):
        terms[tuple(e)] = terms.get(tuple(e), 0.0) + to.number(value, where)
    return terms, max(map(sum, powers))


def of_several(f: Polynomial, to: Writing, where: str) -> Element:
    """A polynomial of several variables, where OpenSim asks for first derivatives alone."""
    terms, order = _terms(f, to, where)
    count = len(next(iter(terms)))
    return element(
        "MultivariatePolynomialFunction",
        dimension=count,
        order=order,
        coefficients=[terms.get(e, 0.0) for e in exponents(count, order)],
    )


@function.register
def _(f: Sine, to: Writing, where: str) -> Element:
    return element(
        "Sine",
        **{key: to.number(getattr(f, key), where) for key in ("amplitude", "omega", "phase", "offset")},
    )


@function.register
def _(f: SmoothStep, to: Writing, where: str) -> Element:
    x0, x1, y0, y1 = to.number((f.x0, f.x1, f.y0, f.y1), where)
    if x1 < x0:
        x0, x1, y0, y1 = x1, x0, y1, y0
    return element(
        "StepFunction", transition_start_time=x0, transition_end_time=x1, start_value=y0, end_value=y1
    )


@function.register
def _(f: SimmSpline, to: Writing, where: str) -> Element:
    return element("SimmSpline", x=f.x, y=to.number(tuple(f.y), where))


@function.register
def _(f: PiecewiseLinear, to: Writing, where: str) -> Element:
    return element("PiecewiseLinearFunction", x=f.x, y=to.number(tuple(f.y), where))


@function.register
def _(f: PiecewiseConstant, to: Writing, where: str) -> Element:
    return element("PiecewiseConstantFunction", x=f.x, y=to.number(tuple(f.y), where))


@function.register
def _(f: Spline, to: Writing, where: str) -> Element:
    half = (f.degree + 1) // 2
    if len(f.x) < 2 * half:
        to.refuse(f"{where}: {f!r}: OpenSim's GCVSpline of degree {f.degree} needs {2 * half} points or more")
    return element(
        "GCVSpline",
        half_order=half,
        error_variance=0.0,
        x=f.x,
        weights=[1.0] * len(f.x),
        y=to.number(tuple(f.y), where),
    )


@function.register
def _(f: Scaled, to: Writing, where: str) -> Element:
    return element(
        "MultiplierFunction", function=function(f.function, to, where), scale=to.number(f.factor, where)
    )


def law(
    given: Any, traced: Traced | None, own: tuple[str, ...], names: tuple[str, ...], to: Writing, where: str
) -> tuple[tuple[str, ...], Element]:
    """A function of a joint: the coordinates that it depends on, and the function.

    Args:
        given: as the joint was described: a function, (function, names), a number or None.
        traced: what it computes.
        own: what the joint calls its coordinates.
        names: what the system calls them.
    """
    if traced is None:
        return (), constant(0.0)
    if isinstance(given, (tuple, list)) and isinstance(given[0], Function):
        some = (given[1],) if isinstance(given[1], str) else tuple(given[1])
        return tuple(names[own.index(n)] for n in some), function(given[0], to, where)
    if isinstance(given, Constant):
        return (), function(given, to, where)
    if isinstance(given, Function):
        return names, function(given, to, where)
    if isinstance(given, (int, float, Symbol)):
        return (), function(given, to, where)
    slopes = traced.linear()
    if slopes is None:
        to.refuse(f"{where}: a Python function of {', '.join(own)} that is not linear; {REMEDY}")
        return (), constant(0.0)
    some = tuple(n for n, slope in zip(names, slopes, strict=False) if slope)
    if not some:
        return (), constant(slopes[-1])
    return some, element("LinearFunction", coefficients=[*(s for s in slopes[:-1] if s), slopes[-1]])


def over_time(kept: TimeFunctions | TimeSeries, to: Writing, where: str) -> list[Element]:
    """Functions of time: one for each number."""
    if isinstance(kept, TimeFunctions):
        return [function(given(f), to, where) for f in kept.functions]
    t, values = np.array(kept.times), np.array(kept.values).T
    if kept.interpolation == "linear":
        t = np.array([t[0] - 1.0, *t, t[-1] + 1.0])
        return [element("PiecewiseLinearFunction", x=t, y=[y[0], *y, y[-1]]) for y in values]
    if len(t) < 4:
        to.refuse(f"{where}: {kept!r}: OpenSim's splines need four samples or more")
    warn(
        f"write_osim: {where}: before {t[0]:g} s and after {t[-1]:g} s its values stay; OpenSim goes on along"
        " straight lines there"
    )
    return [
        element("GCVSpline", half_order=2, error_variance=0.0, x=t, weights=[1.0] * len(t), y=y)
        for y in values
    ]


def given(law: LawFunction) -> Any:
    """What a law's function was given as: one of cd.functions, or a number."""
    if law.given is not None or law.law.outside:
        return law.given
    values = {law.law(*([x] * len(law.law.names))).item() for x in (0.0, 0.7, -0.3)}
    return values.pop() if len(values) == 1 else law.law
