"""What each operation means on scalar SX. The keys are the names of the ufuncs of NumPy and scipy.special."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import casadi as ca


def _mod(x: ca.SX, y: ca.SX) -> ca.SX:
    """Remainder with the sign of y, as Python's %."""
    r = ca.fmod(x, y)
    return ca.if_else(r * y < 0, r + y, r)


def _rint(x: ca.SX) -> ca.SX:
    """Nearest integer, halves to even: C's remainder does the rounding."""
    return x - ca.remainder(x, 1)


def _xor(x: ca.SX, y: ca.SX) -> ca.SX:
    return (x != 0) != (y != 0)


UNARY: dict[str, Callable[[ca.SX], ca.SX]] = {
    **{
        name: getattr(ca, name)
        for name in (
            "sin",
            "cos",
            "tan",
            "sinh",
            "cosh",
            "tanh",
            "exp",
            "expm1",
            "log",
            "log1p",
            "log10",
            "sqrt",
            "floor",
            "ceil",
            "fabs",
            "sign",
            "erf",
        )
    },
    "arcsin": ca.asin,
    "arccos": ca.acos,
    "arctan": ca.atan,
    "arcsinh": ca.asinh,
    "arccosh": ca.acosh,
    "arctanh": ca.atanh,
    "negative": lambda x: -x,
    "positive": lambda x: x,
    "conjugate": lambda x: x,
    "absolute": ca.fabs,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
    "cbrt": lambda x: ca.sign(x) * ca.fabs(x) ** (1 / 3),
    "exp2": lambda x: ca.SX(2) ** x,
    "log2": lambda x: ca.log(x) / math.log(2),
    "rint": _rint,
    "trunc": lambda x: ca.if_else(x < 0, ca.ceil(x), ca.floor(x)),
    "deg2rad": lambda x: x * (math.pi / 180),
    "rad2deg": lambda x: x * (180 / math.pi),
    "radians": lambda x: x * (math.pi / 180),
    "degrees": lambda x: x * (180 / math.pi),
    "logical_not": ca.logic_not,
    "invert": ca.logic_not,
    "isnan": lambda x: x != x,
    "isfinite": lambda x: ca.fabs(x) < math.inf,
    "isinf": lambda x: ca.fabs(x) == math.inf,
    "expit": lambda x: 0.5 + 0.5 * ca.tanh(0.5 * x),
}
BINARY: dict[str, Callable[[ca.SX, ca.SX], ca.SX]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "power": lambda x, y: x**y,
    "float_power": lambda x, y: x**y,
    "remainder": _mod,
    "fmod": ca.fmod,
    "floor_divide": lambda x, y: _rint((x - _mod(x, y)) / y),
    "arctan2": ca.atan2,
    "hypot": ca.hypot,
    "copysign": ca.copysign,
    "maximum": ca.fmax,
    "fmax": ca.fmax,
    "minimum": ca.fmin,
    "fmin": ca.fmin,
    "heaviside": lambda x, h: ca.if_else(x == 0, h, x > 0),
    "logaddexp": lambda x, y: ca.fmax(x, y) + ca.log1p(ca.exp(-ca.fabs(x - y))),
    "less": lambda x, y: x < y,
    "less_equal": lambda x, y: x <= y,
    "greater": lambda x, y: x > y,
    "greater_equal": lambda x, y: x >= y,
    "equal": lambda x, y: x == y,
    "not_equal": lambda x, y: x != y,
    "logical_and": ca.logic_and,
    "logical_or": ca.logic_or,
    "logical_xor": _xor,
    "bitwise_and": ca.logic_and,
    "bitwise_or": ca.logic_or,
    "bitwise_xor": _xor,
}
RULES: dict[str, Callable[..., Any]] = {
    **UNARY,
    **BINARY,
    "clip": lambda x, low, high: ca.fmin(ca.fmax(x, low), high),
}
TRUTHS = frozenset(
    {
        "less",
        "less_equal",
        "greater",
        "greater_equal",
        "equal",
        "not_equal",
        "logical_and",
        "logical_or",
        "logical_xor",
        "logical_not",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "invert",
        "isnan",
        "isfinite",
        "isinf",
    }
)
"""Rules whose results are true or false."""
