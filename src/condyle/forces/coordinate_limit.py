"""Limits of a coordinate that come on smoothly: docs/theory/forces.md (37)-(39)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import casadi as ca

from condyle.errors import DescriptionError
from condyle.forces.mobility import OnCoordinate
from condyle.laws.described import quantity, sx
from condyle.laws.view import Loads, View
from condyle.records import dataclass
from condyle.trace import Number
from condyle.trace.parameter import Expression

Stiffness = Annotated[Number, quantity("N m/rad, N/m", lowest=0.0)]


@dataclass(frozen=True, eq=False, repr=False)
class CoordinateLimitForce(OnCoordinate):
    """Springs and a damper beyond the limits of a coordinate, which come on smoothly: OpenSim's
    CoordinateLimitForce, in radians here and in degrees there.

        S(y) = y^3 (10 - 15 y + 6 y^2) from 0 to 1, held beyond                                  (37)
        s = S((q - high) / w),   r = S((low - q) / w)                                            (38)
        f = -k_high s (q - high) + k_low r (low - q) - c (s + r) qdot                            (39)

    Args:
        coordinate: name of the coordinate.
        low: lower limit [rad, m].
        high: upper limit [rad, m], not below low.
        lower_stiffness: k_low [N m/rad, N/m], at least 0.
        upper_stiffness: k_high [N m/rad, N/m], at least 0.
        damping: c [N m s/rad, N s/m], at least 0.
        transition: w, the width over which the springs come on [rad, m], above 0.
        speed: name of the speed that it acts on, where this is not the coordinate's rate.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    low: Annotated[Number, quantity("rad, m")]
    high: Annotated[Number, quantity("rad, m")]
    lower_stiffness: Stiffness
    upper_stiffness: Stiffness
    damping: Annotated[Number, quantity("N m s/rad, N s/m", lowest=0.0)]
    transition: Annotated[Number, quantity("rad, m", lowest=0.0, positive=True)]

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_limits({})

    def check_parameters(self, values: Mapping[str, float]) -> None:
        super().check_parameters(values)
        self._check_limits(values)

    def conditions(self) -> ca.SX:
        return ca.vertcat(super().conditions(), sx(self.low) <= sx(self.high))

    def _check_limits(self, values: Mapping[str, float]) -> None:
        low, high = (
            float(v.at(values)[0, 0]) if isinstance(v, Expression) else v for v in (self.low, self.high)
        )
        if not low <= high:
            raise DescriptionError(
                f"CoordinateLimitForce on {self.coordinate!r}: low must not be above "
                f"high, got {low:g} and {high:g}"
            )

    def _shares(self, s: View) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """How far q is above high and below low, and s and r of (38)."""
        q = s.coordinate(self.coordinate)
        above, below = q - sx(self.high), sx(self.low) - q
        return above, below, _step(above / sx(self.transition)), _step(below / sx(self.transition))

    def apply(self, s: View, loads: Loads) -> None:
        speed = self._speed(s)
        above, below, upper, lower = self._shares(s)
        f = sx(self.lower_stiffness) * lower * below - sx(self.upper_stiffness) * upper * above
        loads.add_mobility(speed, f - sx(self.damping) * (upper + lower) * s.speed(speed))  # (39)

    def potential(self, s: View) -> ca.SX | None:
        """The work that the springs have taken up."""
        if self.speed is not None:
            return None
        above, below, _, _ = self._shares(s)
        w = sx(self.transition)
        k_high, k_low = sx(self.upper_stiffness), sx(self.lower_stiffness)
        return w**2 * (k_high * _work(above / w) + k_low * _work(below / w))


def _step(y: ca.SX) -> ca.SX:
    """(37)"""
    y = ca.fmin(ca.fmax(y, 0), 1)
    return y**3 * (10 - 15 * y + 6 * y * y)


def _work(y: ca.SX) -> ca.SX:
    """The integral of S(y) y from 0."""
    x, rest = ca.fmin(ca.fmax(y, 0), 1), ca.fmax(y - 1, 0)
    return x**5 * (2 - x * (5 / 2 - 6 / 7 * x)) + rest + rest * rest / 2
