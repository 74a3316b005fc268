"""Forces on single coordinates and speeds: docs/theory/forces.md (6)-(10).

A spring needs a coordinate whose rate is a speed, qdot_j = u_k. That is so for every coordinate of most
mobilizers, and for the translations of Free; not for quaternions and Euler angles with angular velocities as
speeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.errors import DescriptionError, check_name
from condyle.forces.base import Law
from condyle.forces.external import Signal, SignalLike, at_time
from condyle.laws.described import CoordinateName, function_of, owner, quantity, speed_named, speed_of, sx
from condyle.laws.function import FunctionLike
from condyle.laws.smooth import positive
from condyle.laws.view import Loads, View
from condyle.records import dataclass
from condyle.trace import Number
from condyle.trace.parameter import numbers_at
from condyle.tree.tree import Tree

STOP = 1e-3
"""Smoothing width of stops [rad, m], for optimal control: they push by k STOP / 2 at the stop."""


@dataclass(frozen=True, eq=False, repr=False)
class OnSpeed(Law):
    """A law on one speed."""

    coordinate: CoordinateName

    def check(self, tree: Tree) -> None:
        speed_named(tree, self.coordinate, repr(self))

    def _speed(self, s: View) -> str:
        return speed_named(s.tree, self.coordinate, repr(self))


@dataclass(frozen=True, eq=False, repr=False)
class OnCoordinate(OnSpeed):
    """A law on a coordinate whose rate is a speed.

    Attributes:
        speed: name of the speed that it acts on, if that is not the coordinate's rate, as for angles of a
            ball in OpenSim's forces. Such a law has no potential energy; its power is in `system.power`.
    """

    speed: str | None = field(default=None, kw_only=True)

    def check(self, tree: Tree) -> None:
        if self.speed is None:
            speed_of(tree, self.coordinate, repr(self))
            return
        owner(tree, self.coordinate, repr(self))
        check_name("speed", self.speed, tree.speeds, repr(self))

    def _speed(self, s: View) -> str:
        return speed_named(s.tree, self.coordinate, repr(self)) if self.speed is None else self.speed


@dataclass(frozen=True, eq=False, repr=False)
class MobilitySpring(OnCoordinate):
    """A linear spring on a coordinate, with an optional damper.

        f = -k (q - q0) - c u,   V = k (q - q0)^2 / 2                                        (6)

    Args:
        coordinate: name of the coordinate.
        stiffness: k [N m/rad, N/m], at least 0.
        rest: q0 [rad, m].
        damping: c [N m s/rad, N s/m], at least 0.
        speed: name of the speed that it acts on, where this is not the coordinate's rate.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("Spring", "SpringGeneralizedForce")

    stiffness: Annotated[Number, quantity("N m/rad, N/m", lowest=0.0)]
    rest: Annotated[Number, quantity("rad, m")] = 0.0
    damping: Annotated[Number, quantity("N m s/rad, N s/m", lowest=0.0)] = 0.0

    def apply(self, s: View, loads: Loads) -> None:
        speed = self._speed(s)
        f = -sx(self.stiffness) * (s.coordinate(self.coordinate) - sx(self.rest))
        if not (isinstance(self.damping, float) and self.damping == 0):
            f -= sx(self.damping) * s.speed(speed)
        loads.add_mobility(speed, f)  # (6)

    def potential(self, s: View) -> SX | None:
        if self.speed is not None:
            return None
        return sx(self.stiffness) * (s.coordinate(self.coordinate) - sx(self.rest)) ** 2 / 2


@dataclass(frozen=True, eq=False, repr=False)
class MobilityDamper(OnSpeed):
    """A linear damper on a speed: f = -c u (7).

    Args:
        coordinate: name of the speed, or of the coordinate whose rate it is.
        damping: c [N m s/rad, N s/m], at least 0.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("Damper",)

    damping: Annotated[Number, quantity("N m s/rad, N s/m", lowest=0.0)]

    def apply(self, s: View, loads: Loads) -> None:
        speed = self._speed(s)
        loads.add_mobility(speed, -sx(self.damping) * s.speed(speed))  # (7)


@dataclass(frozen=True, eq=False, repr=False)
class MobilityForce(OnSpeed):
    """A given generalized force on a speed: f = value (8). It has no potential energy; its power is in
    `system.power`.

    Args:
        coordinate: name of the speed, or of the coordinate whose rate it is.
        value: [N m, N]; a cd.Input makes it a motor whose torque comes with each state; a pair (times,
            values) or a `TimeSeries` is a recording: natural cubic splines, the end values before and after.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    value: Annotated[SignalLike, Signal("N m, N")]
    group: str = field(default="actuator", kw_only=True)

    def apply(self, s: View, loads: Loads) -> None:
        loads.add_mobility(self._speed(s), at_time(self.value, s))  # (8)


@dataclass(frozen=True, eq=False, repr=False)
class MobilityStop(OnCoordinate):
    """Compliant limits of a coordinate: linear springs beyond them, with dissipation, that only push. For
    rigid limits use `cd.constraints.Stop`.

        x = q - high > 0:  f = min(0, -k x (1 + d qdot))                                     (9)
        x = q - low  < 0:  f = max(0, -k x (1 - d qdot))
        V = k x^2 / 2

    The force has a kink at the stop, where derivatives are one-sided.

    Args:
        coordinate: name of the coordinate.
        low: lower limit [rad, m]; -inf is no limit.
        high: upper limit [rad, m], above low; inf is no limit.
        stiffness: k [N m/rad, N/m], at least 0.
        dissipation: d [s/rad, s/m], at least 0.
        speed: name of the speed that it acts on, where this is not the coordinate's rate.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    low: Annotated[Number, quantity("rad, m", infinite=True)]
    high: Annotated[Number, quantity("rad, m", infinite=True)]
    stiffness: Annotated[Number, quantity("N m/rad, N/m", lowest=0.0)]
    dissipation: Annotated[Number, quantity("s/rad, s/m", lowest=0.0)] = 0.0

    def conditions(self) -> SX:
        return ca.vertcat(super().conditions(), sx(self.low) < sx(self.high))

    def check_values(self, values: Mapping[str, float]) -> None:
        low, high = (numbers_at(x, values) for x in (self.low, self.high))
        if not low < high:
            raise DescriptionError(
                f"MobilityStop on {self.coordinate!r}: low must be less than high, got {low:g} and {high:g}"
            )

    def _beyond(self, s: View) -> tuple[SX, SX]:
        """How far q is above high and below low, both at least 0."""
        q, no = s.coordinate(self.coordinate), ca.SX(0)
        return (
            no if self.high == np.inf else positive(q - sx(self.high), STOP * s.smooth),
            no if self.low == -np.inf else positive(sx(self.low) - q, STOP * s.smooth),
        )

    def apply(self, s: View, loads: Loads) -> None:
        speed = self._speed(s)
        above, below = self._beyond(s)
        k, d_qdot, w = sx(self.stiffness), sx(self.dissipation) * s.speed(speed), 1e-3 * s.smooth
        loads.add_mobility(
            speed, k * (below * positive(1 - d_qdot, w) - above * positive(1 + d_qdot, w))
        )  # (9)

    def potential(self, s: View) -> SX | None:
        if self.speed is not None:
            return None
        above, below = self._beyond(s)
        return sx(self.stiffness) * (above**2 + below**2) / 2


@dataclass(frozen=True, eq=False, repr=False)
class GlobalDamper(Law):
    """A linear damper on every speed of the system: f_k = -c u_k (10). It stabilizes a simulation, without a
    physical model.

    Args:
        damping: c, at least 0, in the unit of each force over that of its speed.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    damping: Annotated[Number, quantity("N m s/rad, N s/m", lowest=0.0)]

    def apply(self, s: View, loads: Loads) -> None:
        c = sx(self.damping)
        for speed in s.tree.speeds:
            loads.add_mobility(speed, -c * s.speed(speed))  # (10)


# ---- coordinate limit ------------------------------------------------------------------------------------
#
# Limits of a coordinate that come on smoothly: docs/theory/forces.md (37)-(39).


Stiffness = Annotated[Number, quantity("N m/rad, N/m", lowest=0.0)]


@dataclass(frozen=True, eq=False, repr=False)
class CoordinateLimitForce(OnCoordinate):
    """Springs and a damper that become active smoothly beyond the limits of a coordinate: OpenSim's
    CoordinateLimitForce, in radians here and in degrees there. It is for models from OpenSim; otherwise use
    `cd.constraints.Stop`.

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
        transition: w, the width over which the springs become active [rad, m], above 0.
        speed: name of the speed that it acts on, where this is not the coordinate's rate.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    low: Annotated[Number, quantity("rad, m")]
    high: Annotated[Number, quantity("rad, m")]
    lower_stiffness: Stiffness
    upper_stiffness: Stiffness
    damping: Annotated[Number, quantity("N m s/rad, N s/m", lowest=0.0)]
    transition: Annotated[Number, quantity("rad, m", lowest=0.0, positive=True)]

    def conditions(self) -> SX:
        return ca.vertcat(super().conditions(), sx(self.low) <= sx(self.high))

    def check_values(self, values: Mapping[str, float]) -> None:
        low, high = (numbers_at(x, values) for x in (self.low, self.high))
        if not low <= high:
            raise DescriptionError(
                f"CoordinateLimitForce on {self.coordinate!r}: low must not be above "
                f"high, got {low:g} and {high:g}"
            )

    def _shares(self, s: View) -> tuple[SX, SX, SX, SX]:
        """How far q is above high and below low, and s and r of (38)."""
        q = s.coordinate(self.coordinate)
        above, below = q - sx(self.high), sx(self.low) - q
        return above, below, _step(above / sx(self.transition)), _step(below / sx(self.transition))

    def apply(self, s: View, loads: Loads) -> None:
        speed = self._speed(s)
        above, below, upper, lower = self._shares(s)
        f = sx(self.lower_stiffness) * lower * below - sx(self.upper_stiffness) * upper * above
        loads.add_mobility(speed, f - sx(self.damping) * (upper + lower) * s.speed(speed))  # (39)

    def potential(self, s: View) -> SX | None:
        """The energy of the springs."""
        if self.speed is not None:
            return None
        above, below, _, _ = self._shares(s)
        w = sx(self.transition)
        k_high, k_low = sx(self.upper_stiffness), sx(self.lower_stiffness)
        return w**2 * (k_high * _work(above / w) + k_low * _work(below / w))


def _step(y: SX) -> SX:
    """(37)"""
    y = ca.fmin(ca.fmax(y, 0), 1)
    return y**3 * (10 - 15 * y + 6 * y * y)


def _work(y: SX) -> SX:
    """The integral of S(y) y from 0."""
    x, rest = ca.fmin(ca.fmax(y, 0), 1), ca.fmax(y - 1, 0)
    return x**5 * (2 - x * (5 / 2 - 6 / 7 * x)) + rest + rest * rest / 2


@dataclass(frozen=True, eq=False, repr=False)
class MobilityFunction(OnCoordinate):
    """A generalized force on a coordinate that is a function of it and of its rate: f(q, qdot) (40). Its
    power is in `system.power`. OpenSim's ExpressionBasedCoordinateForce.

        cd.forces.MobilityFunction("knee", cd.functions.Formula("-20*q^3 - 0.5*qdot", ("q", "qdot")))

    Args:
        coordinate: name of the coordinate.
        function: f(q, qdot) [N m, N], of [rad, m] and [rad/s, m/s].
        speed: name of the speed that it acts on, where this is not the coordinate's rate.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("ExpressionBasedCoordinateForce",)

    function: Annotated[FunctionLike, function_of("q", "qdot")]

    def apply(self, s: View, loads: Loads) -> None:
        speed = self._speed(s)
        function: Any = self.function
        loads.add_mobility(speed, function.at(s.coordinate(self.coordinate), s.speed(speed)))  # (40)
