"""Activation follows excitation: da/dt of an activation a under an excitation e."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.errors import DescriptionError, TraceError
from condyle.forces.external import Signal, SignalLike, TimeSeries
from condyle.functions import Function
from condyle.laws.ask import AskedState, answers, traced_law
from condyle.laws.described import sx
from condyle.laws.leaves import Leaf
from condyle.laws.view import View
from condyle.records import dataclass
from condyle.trace import Symbol, Traced
from condyle.trace.parameter import Parameter
from condyle.tree.tree import Tree


def first_order(a: SX, e: SX, rise: SX, fall: SX, least: SX) -> SX:
    """Thelen 2003 (1), (2) [1/s]:

        adot = (e - a) / tau,    tau = rise (0.5 + 1.5 a) for e > a, else fall / (0.5 + 1.5 a)

    tau is evaluated at an activation limited to [`least`, 1]; a itself converges to e, however small.
    """
    factor = 0.5 + 1.5 * ca.fmin(ca.fmax(a, least), 1)
    return (e - a) / ca.if_else(e > a, rise * factor, fall / factor)


def smooth(a: SX, e: SX, rise: SX, fall: SX, smoothing: Any = 0.1) -> SX:
    """De Groote et al. 2016 (1), (2), which blends both times by tanh(smoothing (e - a)) [1/s]."""
    f, factor = 0.5 * ca.tanh(smoothing * (e - a)), 0.5 + 1.5 * a
    return ((f + 0.5) / (rise * factor) + (0.5 - f) * factor / fall) * (e - a)


# ---- excitation ------------------------------------------------------------------------------------------
#
# What drives a muscle: a number, an Input, numbers over time, or a Python function of time and state.


@dataclass(frozen=True, eq=False)
class AskedExcitation:
    """A user's function of `s` (condyle.laws.ask), traced; `given` is the original function."""

    law: Traced
    asks: tuple[Leaf, ...]
    given: Function | None = None

    def at(self, s: View) -> SX:
        return self.law.apply(*answers(self.asks, s))

    def check(self, tree: Tree) -> None:
        for ask in self.asks:
            ask.check(tree, self.law.what)

    def parameters(self) -> list[Parameter]:
        return [p for ask in self.asks for p in ask.parameters()] + list(self.law.outside)  # type: ignore[arg-type]

    def description(self) -> str:
        return f"AskedExcitation({[ask.text for ask in self.asks]}, {self.law.text})"

    def __repr__(self) -> str:
        return self.law.what


ExcitationLike: TypeAlias = SignalLike | Callable[[AskedState], object] | None
"""Accepted as an excitation: a signal, a Python function of the state, or None: an Input."""


@dataclass(frozen=True)
class ExcitationRole(Signal):
    """None, one number, a Parameter or Input, a TimeSeries or (times, values), or a function: of the time, if
    it is one of cd.functions; else of the state s."""

    def take(self, value: Any, what: str) -> Any:
        if value is None or isinstance(value, AskedExcitation):
            return value
        if isinstance(value, str):
            raise DescriptionError(
                f"{what}: expected a number from 0 to 1, a cd.Input, (times, values) or a "
                f"function of s, got {value!r}"
            )
        if isinstance(value, Function):
            return AskedExcitation(*traced_law(_over_time(value), what, _one(what)), value)
        if callable(value) and not isinstance(value, (Symbol, TimeSeries)):
            return AskedExcitation(*traced_law(value, what, _one(what)))
        return super().take(value, what)


def _over_time(function: Function) -> Any:
    return lambda s: function(s.t)


def _one(what: str) -> Any:
    def flatten(result: Any) -> list[Any]:
        if result is None or isinstance(result, (str, Mapping, AskedState)) or np.ndim(result):
            raise TraceError(
                f"{what}: the function returned {result!r}; expected one number from 0 to 1"
                + ("; is a return statement missing?" if result is None else "")
            )
        return [result]

    return flatten


def excitation_at(value: Any, s: View) -> SX:
    """A stored excitation at a state."""
    if isinstance(value, AskedExcitation):
        return value.at(s)
    return value(s.t) if isinstance(value, TimeSeries) else sx(value)
