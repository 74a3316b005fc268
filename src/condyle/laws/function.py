"""A function in a law: one of cd.functions, a user's Python function or a number, stored as an expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import casadi as ca

from condyle.arrays import SX
from condyle.errors import DescriptionError
from condyle.functions import Function
from condyle.records import dataclass
from condyle.trace import Number, Symbol, Traced, trace
from condyle.trace.parameter import Parameter

FunctionLike: TypeAlias = Number | Function | Callable[..., object]
"""Accepted functions: one of cd.functions, a Python function, or a constant number."""


@dataclass(frozen=True, eq=False)
class LawFunction:
    """A function in a law.

    Attributes:
        law: what it computes.
        given: one of cd.functions as a user gave it, else None.
    """

    law: Traced
    given: Function | None = None

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The Parameters that it uses."""
        return self.law.outside  # type: ignore[return-value]

    def at(self, *x: SX) -> SX:
        """Its value as an expression."""
        return self.law.apply(*map(ca.SX, x))

    def description(self) -> str:
        return f"LawFunction({self.law.text})"

    def __repr__(self) -> str:
        return repr(self.given) if self.given is not None else self.law.what


def law_function(given: Any, names: tuple[str, ...], what: str) -> LawFunction:
    """A function of as many numbers as there are names.

    Args:
        given: one of cd.functions, a Python function, a Parameter or a number.
        names: of its arguments.
        what: its name in errors.
    """
    if isinstance(given, LawFunction):
        return given
    if isinstance(given, Function):
        if given.variables not in (None, len(names)):
            raise DescriptionError(
                f"{what}: expected a function of {', '.join(names)}, got {given!r}, of "
                f"{given.variables} variable{'s' * (given.variables != 1)}"
            )
        if (own := getattr(given, "names", names)) != names:
            raise DescriptionError(
                f"{what}: expected a formula of {', '.join(names)}, got {given!r}, of "
                f"{', '.join(own)}; give its names in this order"
            )
    value = given
    if isinstance(given, Symbol):

        def value(*_: Any) -> Any:
            return given

    law = trace(value, names, what=what, outputs=())
    return LawFunction(law, given if isinstance(given, Function) else None)


def picklable(function: Any) -> Any:
    """What pickles hold of a function: Condyle's own ones, such as cd.functions; None for a user's."""
    return function if type(function).__module__.partition(".")[0] == "condyle" else None
