"""Another function times a number: docs/theory/functions.md (17)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from condyle.errors import DescriptionError
from condyle.functions.base import Function, Number, as_operand, number
from condyle.records import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class Scaled(Function):
    """factor f(x): another function times a number (17), as OpenSim's MultiplierFunction.

    Args:
        function: one of `cd.functions`, of one variable or several.
        factor: what it is multiplied by; may be a Parameter.
    """

    function: Any
    factor: Number = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.function, Function):
            raise DescriptionError(
                "Scaled: function: expected one of cd.functions, such as cd.functions.SimmSpline(x, "
                f"y), got {self.function!r}; a Python function multiplies its own result"
            )
        object.__setattr__(self, "factor", number("Scaled: factor", self.factor))

    @property
    def variables(self) -> int | None:  # type: ignore[override]
        return self.function.variables  # type: ignore[no-any-return]

    def formula(self, x: Sequence[Any], order: Sequence[int], look_up: bool) -> Any:
        return as_operand(self.factor) * self.function.formula(x, order, look_up)  # (17)
