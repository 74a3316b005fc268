"""A goal that a user writes as a function in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from condyle.fit.goals.base import Goal
from condyle.laws.ask import AskedState
from condyle.records import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class Custom(Goal):
    """A Python function that should be zero, or have a given value:

        cd.goals.Custom(lambda s: s.station_position("hand", p)[1] - s.station_position("foot", p)[1])

    Args:
        function: f(s) -> a number or several, in the user's units, of positions: s.q("knee"),
            s.station_position("foot", p), s.body_pose("foot"), s.rotation; also s.t and parameters of the
            system. Traced once, like laws; its Jacobian is exact.
        value: target of the function: zero by default, shape (k,) or (T, k); for one number also (T,).

    Raises:
        TraceError: the function cannot be traced.
        DescriptionError: the function uses more than positions.
        ShapeError: the values do not fit the function.
    """

    about: ClassVar[str] = "value"
    function: Callable[[AskedState], object] | None
    value: ArrayLike = 0.0

    def __post_init__(self) -> None:
        self._set(name=self.name or self._called)
        super().__post_init__()

    @property
    def _called(self) -> str:
        named = getattr(self.function, "__name__", type(self.function).__name__)
        return f"Custom({'lambda' if named == '<lambda>' else named})"

    def _written(self) -> tuple[Any, str]:
        return self.function, f"goals.{self._called}"

    def __getstate__(self) -> dict[str, Any]:
        """The function itself is not pickled; its expressions are."""
        return vars(self) | {"function": None}
