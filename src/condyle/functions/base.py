"""Base class of functions: calls with numbers, arrays, Symbols and SX; Parameters; value semantics."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from condyle.arguments import ExplainsCalls
from condyle.arrays import in_order
from condyle.errors import DescriptionError
from condyle.trace import Number, Symbol
from condyle.trace.parameter import FINITE
from condyle.trace.symbol import Operand, Outcome, boxed, defaulted_in, scalar


class Function(ExplainsCalls):
    """A function of one or several variables: frozen, picklable, equal to another if its class and its
    numbers are.

    It takes numbers, arrays (elementwise, broadcast), Symbols and casadi.SX. If its own numbers are
    Parameters, numbers and arrays give Symbols, because the value depends on the state.

    A subclass is a frozen dataclass (eq=False, repr=False) whose fields are floats, Symbols and tuples of
    them. It gives `formula(x, order, look_up)`: the derivative of that order at x, one float array or one
    scalar SX per variable.
    """

    variables: int | None = 1
    """Number of variables; None: any number."""

    def formula(self, x: Sequence[Outcome], order: Sequence[int], look_up: bool) -> Outcome:
        raise TypeError(
            f"{type(self).__name__} does not say what it computes: it needs formula(x, order, look_up)"
        )

    def __call__(self, *x: Any) -> Any:
        """The value at x, one argument a variable: numbers, arrays of any shape (elementwise), Symbols, or
        casadi.SX."""
        self._check_count(len(x))
        return self._evaluate(x, (0,) * len(x))

    def derivative(self, x: Operand | Sequence[Operand], order: int | Sequence[int] = 1) -> Outcome:
        """The derivative at x; from the right where the two sides differ.

        Args:
            x: as for the value; with several variables a sequence, one entry per variable.
            order: 0, 1, 2, ...; with several variables a sequence: how often by each.
        """
        several = isinstance(order, Sequence)
        given: Any = order
        orders = tuple(given) if several else (given,)
        try:
            orders = tuple(map(operator.index, orders))
        except TypeError:
            orders = (-1,)
        if any(k < 0 for k in orders):
            raise DescriptionError(
                f"{self!r}: order must be 0, 1, 2, ..., or one of these for each variable, got {order!r}"
            )
        at: Any = x
        arguments = tuple(at) if several else (at,)
        self._check_count(len(orders))
        self._check_count(len(arguments))
        return self._evaluate(arguments, orders)

    def _check_count(self, n: int) -> None:
        if self.variables is not None and n != self.variables:
            raise DescriptionError(f"{self!r} is a function of {self.variables} variable(s), got {n}")

    def _evaluate(self, x: Sequence[Any], order: Sequence[int]) -> Any:
        formula: Any = self.formula
        if any(isinstance(v, ca.SX) for v in x):
            given = [ca.SX(scalar(v)) if isinstance(v, Symbol) else ca.SX(v) for v in x]
            shape = next((v.shape for v in given if not v.is_scalar()), (1, 1))
            entries = [ca.vertsplit(ca.vec(ca.repmat(v, *shape) if v.is_scalar() else v)) for v in given]
            values = [
                ca.SX(formula([ca.densify(e) for e in at], order, False)) for at in zip(*entries, strict=True)
            ]
            return ca.reshape(ca.vertcat(*values), shape)
        if all(isinstance(v, Symbol) or np.ndim(v) == 0 for v in x) and (
            self.uses_parameters or any(isinstance(v, Symbol) for v in x)
        ):
            at = [scalar(v[()] if isinstance(v, np.ndarray) else v) for v in x]
            return Symbol(ca.SX(formula(at, order, True)))
        arrays = [np.asarray(boxed(v)) for v in x]
        if self.uses_parameters or any(a.dtype == object for a in arrays):
            return np.frompyfunc(lambda *at: self._evaluate(at, order), len(arrays), 1)(*arrays)
        arrays = [a if a.dtype.kind == "c" else np.asarray(a, dtype=float) for a in arrays]
        value, shape = formula(arrays, order, False), np.broadcast_shapes(*(a.shape for a in arrays))
        return value if np.shape(value) == shape else np.broadcast_to(value, shape).copy()

    # ---- Being a value ----

    @cached_property
    def uses_parameters(self) -> bool:
        """Whether Parameters are among its numbers."""
        return _holds_symbol(tuple(getattr(self, f.name) for f in fields(self)))  # type: ignore[arg-type]

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        return (type(self), *(_key_of(getattr(self, f.name)) for f in fields(self)))  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Function) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(short(getattr(self, f.name)) for f in fields(self))})"  # type: ignore[arg-type]


def _holds_symbol(value: Any) -> bool:
    if isinstance(value, Function):
        return value.uses_parameters
    return any(map(_holds_symbol, value)) if isinstance(value, tuple) else isinstance(value, Symbol)


def _key_of(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_key_of, value))
    if not isinstance(value, Symbol):
        return value
    outside = defaulted_in(value.sx)
    return ca.Function("f", [s.sx for s in outside], [value.sx]).serialize(), repr(outside)


def exact(value: Any) -> str | None:
    """Text that determines a function of this package and all its numbers; None if others are part of it."""
    if isinstance(value, Function):
        if not type(value).__module__.startswith(f"{__name__.rpartition('.')[0]}."):
            return None
        parts = [exact(getattr(value, f.name)) for f in fields(value)]  # type: ignore[arg-type]
        return None if None in parts else f"{type(value).__name__}({', '.join(map(str, parts))})"
    if isinstance(value, tuple):
        parts = [exact(v) for v in value]
        return None if None in parts else f"({', '.join(map(str, parts))})"
    return repr(value) if value is None or isinstance(value, (bool, int, float, str)) else None


def short(value: Any) -> str:
    """A field for a repr: few digits, few entries."""
    if isinstance(value, tuple):
        shown = [short(v) for v in value[:6]] + [f"... {len(value)} in all"] * (len(value) > 6)
        return f"({', '.join(shown)}{',' * (len(value) == 1)})"
    if isinstance(value, Symbol):
        return str(getattr(value, "name", value.sx))
    return f"{value:g}" if isinstance(value, float) else repr(value)


# ---- The numbers of a function ----


def at_default(value: Number) -> float:
    """The number, or the value of an expression at the defaults of its Parameters."""
    if not isinstance(value, Symbol):
        return float(value)
    outside = defaulted_in(value.sx)
    return float(ca.Function("f", [s.sx for s in outside], [value.sx])(*(s.default for s in outside)))  # type: ignore[attr-defined]


def as_operand(value: Number) -> Any:
    """A float as it is, a Symbol as SX."""
    return value.sx if isinstance(value, Symbol) else value


def number(what: str, value: Any) -> Number:
    """A finite float, or a Symbol made of Parameters that is finite at their defaults."""
    if isinstance(value, Symbol):
        if len(defaulted_in(value.sx)) != len(ca.symvar(value.sx)):
            raise DescriptionError(
                f"{what}: {value!r} is not made of cd.Parameters; a function's numbers "
                "must not depend on coordinates: make it outside of the function that is "
                "traced"
            )
        FINITE.check(at_default(value), what, value, f" = {at_default(value)} at the defaults")
        return value
    try:
        result = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        result = math.nan
    FINITE.check(result, what, value)
    return result


def numbers(owner: str, name: str, values: Any) -> tuple[Number, ...]:
    """Several of them."""
    values = in_order(f"{owner}: {name}", values)
    if isinstance(values, (list, tuple)) and set(map(type, values)) == {float}:
        values = np.array(values)
    known = isinstance(values, np.ndarray) and values.dtype == float and values.ndim == 1 and values.size > 0
    if known and np.isfinite(values).all():  # long series: one by one takes seconds
        return tuple(values.tolist())
    try:
        items = np.array(values, dtype=object)
    except ValueError:
        items = np.empty(0, dtype=object)
    if items.ndim != 1 or len(items) == 0:
        raise DescriptionError(f"{owner}: {name} must be a sequence of numbers of shape (n,), got {values!r}")
    return tuple(number(f"{owner}: {name}[{k}]", value) for k, value in enumerate(items))


def plain_numbers(owner: str, name: str, values: Any) -> tuple[float, ...]:
    """Several plain numbers: Parameters raise an error."""
    kept = numbers(owner, name, values)
    for k, value in enumerate(kept) if _holds_symbol(kept) else ():
        if isinstance(value, Symbol):
            raise DescriptionError(
                f"{owner}: {name}[{k}] = {short(value)} is a Parameter, which only values "
                "may be. Scale the argument instead: f(x / scale)"
            )
    return kept  # type: ignore[return-value]


def choose(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b, on arrays and on SX."""
    return ca.if_else(condition, a, b) if isinstance(condition, ca.SX) else np.where(condition, a, b)[()]
