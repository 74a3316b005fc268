"""Numbers that describe a mobilizer: plain, a Parameter, or computed from Parameters, whose values then come with each state."""
from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from condyle.errors import DescriptionError
from condyle.trace import DEFAULTED, Symbol, Traced


@dataclass(frozen=True)
class Computed:
    """A number computed from Parameters, such as 0.5 * cd.Parameter("width", 0.2). It pickles."""

    function: str
    parameters: tuple[Any, ...]
    default: float

    @property
    def sx(self) -> ca.SX:
        return ca.Function.deserialize(self.function).call([p.sx for p in self.parameters], True, False)[0]

    def __repr__(self) -> str:
        return str(self.sx)


def parameters_of(x: ca.SX, what: str) -> tuple[Any, ...]:
    """The Parameters that an expression is computed from. Inputs are refused: they vary in time."""
    known = [DEFAULTED.get(s.element_hash()) for s in ca.symvar(x)]
    for symbol, p in zip(ca.symvar(x), known, strict=True):
        if p is None:
            raise DescriptionError(f"{what}: contains the symbol {symbol}, which is no cd.Parameter")
        if getattr(p, "kind", "") == "input":
            raise DescriptionError(f"{what}: {p!r} would move the body without a speed; use a cd.Parameter, or a Custom joint "
                                   "with time=True")
    return tuple(known)


def constant(value: Any, what: str, positive: bool = False) -> Any:
    """The number as a float, a Parameter as it is, or a Computed; checked, Parameters at their defaults."""
    number = math.nan
    if isinstance(value, Symbol):
        parameters = parameters_of(value.sx, what)
        f = ca.Function("f", [p.sx for p in parameters], [value.sx])
        number = float(f(*(p.default for p in parameters)))
        if not hasattr(value, "default"):
            value = Computed(f.serialize(), parameters, number)
    elif isinstance(value, Computed):
        number = value.default
    else:
        with contextlib.suppress(TypeError, ValueError):
            value = number = float(value)
    if not math.isfinite(number) or (positive and number <= 0):
        at = f" = {number:g} at the defaults" if isinstance(value, Computed) else ""
        raise DescriptionError(f"{what}: expected one {'positive' if positive else 'finite'} number, or cd.Parameters that give "
                               f"one, got {value!r}{at}")
    return value


def constants(values: Any, n: int, what: str, positive: bool = False) -> tuple[Any, ...]:
    """n such numbers."""
    try:
        items = list(values)
    except TypeError:
        items = []
    if isinstance(values, (str, bytes)) or len(items) != n:
        raise DescriptionError(f"{what}: expected {n} numbers, got {values!r}")
    return tuple(constant(v, f"{what}[{i}]", positive) for i, v in enumerate(items))


def sx(value: Any) -> ca.SX:
    """A constant, or a column of them, as an expression."""
    if isinstance(value, tuple):
        return ca.vertcat(*map(sx, value))
    return value.sx if isinstance(value, (Symbol, Computed)) else ca.SX(value)


def text(value: Any) -> str:
    """Text that determines a constant or a traced law: all digits of numbers, names and defaults of Parameters, tables."""
    if isinstance(value, Computed):
        return f"Computed({value.function}, {text(value.parameters)})"
    if isinstance(value, Symbol):
        return f"{type(value).__name__}({getattr(value, 'name', value.sx)!r}, {getattr(value, 'default', None)!r})"
    if isinstance(value, Traced):
        tables = [hashlib.sha256(repr(t.rows.shape).encode() + t.rows.tobytes()).hexdigest() for t in value.tables]
        return f"Traced({value.text}, {text(value.outside)}, {tables})"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"({', '.join(map(text, value))})"
    return repr(value)
