"""Functions that a model may be described with, on numbers, arrays and symbols alike:
docs/theory/functions.md.

Any Python function may be given where one of these may; these are for what a few lines of NumPy do not say.
"""

from __future__ import annotations

from condyle.functions.base import Function
from condyle.functions.elementary import Constant, Linear, Polynomial, Scaled, Sine, SmoothStep
from condyle.functions.formula import Formula
from condyle.functions.splines import BSpline, PiecewiseConstant, PiecewiseLinear, SimmSpline, Spline

__all__ = [
    "BSpline",
    "Constant",
    "Formula",
    "Function",
    "Linear",
    "PiecewiseConstant",
    "PiecewiseLinear",
    "Polynomial",
    "Scaled",
    "SimmSpline",
    "Sine",
    "SmoothStep",
    "Spline",
]
