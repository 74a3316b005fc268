"""Numbers that describe a mobilizer: plain, or a Parameter, whose value then comes with each state."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import casadi as ca

from condyle.errors import DescriptionError
from condyle.trace import Symbol


def constant(value: Any, what: str, positive: bool = False) -> Any:
    """The number as a float, or the Parameter as it is; checked, a Parameter at its default."""
    allowed = f"one {'positive' if positive else 'finite'} number or a cd.Parameter"
    if isinstance(value, Symbol):
        kind = getattr(value, "kind", None)
        if kind == "input":
            raise DescriptionError(f"{what}: got {value!r}; an Input would move the body without a speed: use a cd.Parameter")
        if kind is None:
            raise DescriptionError(f"{what}: expected {allowed}, got the expression {value!r}; give a Parameter itself")
    try:
        number = float(getattr(value, "default", value))
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or (positive and number <= 0):
        raise DescriptionError(f"{what}: expected {allowed}, got {value!r}")
    return value if isinstance(value, Symbol) else number


def constants(values: Any, n: int, what: str, positive: bool = False) -> tuple[Any, ...]:
    """n numbers or Parameters."""
    try:
        items = list(values)
    except TypeError:
        items = []
    if isinstance(values, (str, bytes)) or len(items) != n:
        raise DescriptionError(f"{what}: expected {n} numbers, got {values!r}")
    return tuple(constant(v, f"{what}[{i}]", positive) for i, v in enumerate(items))


def sx(value: Any) -> ca.SX:
    """A number or Parameter, or a column of them, as an expression."""
    if isinstance(value, tuple):
        return ca.vertcat(*map(sx, value))
    return value.sx if isinstance(value, Symbol) else ca.SX(value)


def text(value: Any) -> str:
    """Text that determines a constant: all digits of numbers, name and default of Parameters."""
    if isinstance(value, Symbol):
        return f"{type(value).__name__}({getattr(value, 'name', value.sx)!r}, {getattr(value, 'default', None)!r})"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"({', '.join(map(text, value))})"
    return repr(value)
