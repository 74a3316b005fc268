"""Base class of the goals of a movement, with the interface described in control/__init__.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from condyle.arguments import ExplainsCalls
from condyle.arrays import SX, Array
from condyle.errors import DescriptionError
from condyle.laws.described import class_code
from condyle.records import assign, dataclass

if TYPE_CHECKING:
    from condyle.control.dynamics import Dynamics
    from condyle.control.point import MovementPoint


@dataclass(frozen=True, eq=False)
class MovementPoints:
    """The points of a movement, for the numbers (`data`) of goals.

    Attributes:
        fraction: fraction of the movement, from 0 to 1, shape (P,).
        times: times [s], shape (P,); those of the guess if the duration is free.
        free: whether the duration is free; data over time are then read by their fraction of the duration.
        dynamics: names and variables of the system.
    """

    fraction: Array
    times: Array
    free: bool
    dynamics: Dynamics

    def __len__(self) -> int:
        return len(self.times)

    def clock(self, times: Array, what: str) -> Array:
        """The times at which to read data recorded at `times`, shape (P,).

        Raises:
            DescriptionError: the data do not cover the movement.
        """
        if self.free:
            return times[0] + self.fraction * (times[-1] - times[0])
        slack = 1e-9 * max(1.0, abs(times[-1]))
        if self.times[0] < times[0] - slack or self.times[-1] > times[-1] + slack:
            raise DescriptionError(
                f"{what}: data from {times[0]:g} to {times[-1]:g} s do not cover the movement, from "
                f"{self.times[0]:g} to {self.times[-1]:g} s; give cd.Problem times= within them"
            )
        return np.clip(self.times, times[0], times[-1])


@dataclass(frozen=True, eq=False)
class Condition:
    """A linear condition: low <= sum of coefficients times variables <= high.

    Attributes:
        terms: ("start" or "end", name of a variable, coefficient).
        low: its lower limit.
        high: its upper limit.
        duration: coefficient of the duration.
        name: its name in messages.
    """

    terms: Sequence[tuple[str, str, float]]
    low: float = 0.0
    high: float = 0.0
    duration: float = 0.0
    name: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class MovementGoal(ExplainsCalls):
    """A goal of a movement. A subclass gives some of the methods below.

    Args:
        name: in results; the name of the class by default.
    """

    name: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            assign(self, name=type(self).__name__)
        low, high = np.broadcast_arrays(*(np.asarray(x, float) for x in self.limits))
        if np.isnan(low).any() or np.isnan(high).any() or (low > high).any():
            raise DescriptionError(
                f"goal {self.name!r}: low must not be above high, got {self.limits[0]!r} and {self.limits[1]!r}"
            )

    @property
    def limits(self) -> tuple[ArrayLike, ArrayLike]:
        """Lower and upper limit, if the goal is required."""
        return 0.0, 0.0

    def check(self, dynamics: Dynamics) -> None:
        """Raise an error for names that the system does not have."""

    def code(self, dynamics: Dynamics) -> str:
        """Text that determines the expressions; fields that are numbers only for `data` may be left out."""
        values = [
            f"{f.name}={getattr(self, f.name)!r}"
            for f in fields(self)
            if f.name not in ("name", "low", "high")
        ]
        return f"{type(self).__name__} {class_code(type(self))} {values}"

    def data(self, frames: MovementPoints) -> Array:
        """Numbers of each point, shape (P, k)."""
        return np.zeros((len(frames), 0))

    def integrand(self, p: MovementPoint) -> SX | None:
        """Expression to integrate over time."""
        return None

    def at_start(self, p: MovementPoint) -> SX | None:
        """Expressions at the first point, shape (k,)."""
        return None

    def at_end(self, p: MovementPoint) -> SX | None:
        """Expressions at the last point, shape (k,)."""
        return None

    def path(self, p: MovementPoint) -> SX | None:
        """Expressions kept between low and high at each point, shape (k,)."""
        return None

    def value(self, integral: SX, start: SX, end: SX, duration: SX) -> SX:
        """Value to minimize or to keep between low and high, from integral (0 or 1), start (k,), end (k,),
        duration.
        """
        parts = [x for x in (integral, start, end) if x.numel()]
        return sum(parts[1:], parts[0]) if parts else ca.SX(0, 1)

    @property
    def nonlinear(self) -> bool:
        """Whether `value` is more than the sum of its arguments."""
        return type(self).value is not MovementGoal.value

    def conditions(self, dynamics: Dynamics) -> Sequence[Condition]:
        """Linear conditions between the first and the last point, if the goal is required."""
        return ()


class PerDistance(MovementGoal):
    """A goal whose integral may be divided by the displacement of a coordinate: a subclass has the field
    `per`, the name of that coordinate, empty for none.
    """

    per: str

    def at_start(self, p: MovementPoint) -> SX | None:
        return p[self.per] if self.per else None

    def at_end(self, p: MovementPoint) -> SX | None:
        return p[self.per] if self.per else None

    @property
    def nonlinear(self) -> bool:
        return bool(self.per)

    def value(self, integral: SX, start: SX, end: SX, duration: SX) -> SX:
        return integral / (end - start) if self.per else integral


def names_of(value: Any, what: str) -> tuple[str, ...]:
    """One name or several."""
    names = (value,) if isinstance(value, str) else tuple(value)
    if not all(isinstance(name, str) for name in names):
        raise DescriptionError(f"{what}: expected names, got {value!r}")
    return names


def total_mass(dynamics: Dynamics) -> float:
    """Mass of the system [kg], at the default values of its Parameters."""
    return sum(float(b.mass_properties_at({}).mass) for b in dynamics.system.bodies)
