"""Controls that are small."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from condyle.arrays import SX
from condyle.control.dynamics import Dynamics
from condyle.control.goals.base import MovementGoal
from condyle.control.point import Point
from condyle.errors import DescriptionError, UnknownNameError
from condyle.records import dataclass


@dataclass(frozen=True, eq=False)
class Effort(MovementGoal):
    """Controls should be small:

        integral over time of  sum of weight |control|^exponent                                  (1)

    Args:
        exponent: 2 or more; of even ones no absolute value is taken.
        weights: of controls by their names; those that are not named have 1.
        per: "" or the name of a coordinate: then (1) is divided by how far that coordinate moves.
    """

    exponent: int = 2
    weights: Mapping[str, float] | None = None
    per: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.exponent, bool) or not self.exponent >= 2:
            raise DescriptionError(f"Effort: exponent must be 2 or more, got {self.exponent!r}")

    def check(self, dynamics: Dynamics) -> None:
        for name in self.weights or ():
            if name not in dynamics.system.inputs:
                raise UnknownNameError("control", name, dynamics.system.inputs, "Effort: weights")
        if self.per and self.per not in dynamics.system.coordinates:
            raise UnknownNameError("coordinate", self.per, dynamics.system.coordinates, "Effort: per")

    def integrand(self, p: Point) -> SX:
        total = ca.SX(0)
        for name, c in zip(p.control_names, ca.vertsplit(p.controls) if p.control_names else (), strict=True):
            size = c if self.exponent % 2 == 0 else ca.fabs(c)
            total += (self.weights or {}).get(name, 1.0) * size**self.exponent
        return total

    def at_start(self, p: Point) -> SX | None:
        return p[self.per] if self.per else None

    def at_end(self, p: Point) -> SX | None:
        return p[self.per] if self.per else None

    @property
    def nonlinear(self) -> bool:
        return bool(self.per)

    def value(self, integral: SX, start: SX, end: SX, duration: SX) -> SX:
        return integral / (end - start) if self.per else integral
