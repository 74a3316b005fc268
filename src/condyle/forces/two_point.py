"""Forces along the line between two points: docs/theory/forces.md (1)-(5).

  r = p_GB - p_GA,   L = |r|,   e = r / L,   Ldot = e . (v_B - v_A)                                        (1)
  a force f along e acts on b, -f on a: positive pushes the points apart                                   (2)

Where the points coincide e is not defined: it is taken as zero there, and so are the forces. Values and
derivatives stay finite.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any

import casadi as ca

from condyle.arrays import SX
from condyle.forces.base import Law
from condyle.forces.external import Signal, SignalLike, at_time
from condyle.laws.described import BodyName, Station, function_of, quantity, sx
from condyle.laws.function import FunctionLike
from condyle.laws.view import Loads, View
from condyle.records import dataclass
from condyle.shapes import Drawing, Link
from condyle.trace import Number
from condyle.trace.parameter import numbers_at


@dataclass(frozen=True, eq=False, repr=False)
class TwoPoint(Law):
    """A law between two points."""

    a: BodyName
    p_a: Station
    b: BodyName
    p_b: Station

    def drawn(self, size: float) -> list[Drawing | Link]:
        return [Link(self.a, numbers_at(self.p_a), self.b, numbers_at(self.p_b))]

    def _line(self, s: View) -> tuple[SX, SX, SX]:
        """r, L and 1 / L of (1); 1 / L is zero where L is."""
        r = s.station_position(self.b, sx(self.p_b)) - s.station_position(self.a, sx(self.p_a))
        square = ca.dot(r, r)
        apart = square > 0
        L = ca.sqrt(ca.if_else(apart, square, 1))
        return r, ca.if_else(apart, L, 0), ca.if_else(apart, 1 / L, 0)

    def _moving_line(self, s: View) -> tuple[SX, SX, SX]:
        """The direction from a to b, the distance, and its rate."""
        r, L, per_L = self._line(s)
        e = r * per_L
        v = s.station_velocity(self.b, sx(self.p_b)) - s.station_velocity(self.a, sx(self.p_a))
        return e, L, ca.dot(e, v)

    def _push(self, loads: Loads, f_B: SX) -> None:
        loads.add_force(self.b, sx(self.p_b), f_B)  # (2)
        loads.add_force(self.a, sx(self.p_a), -f_B)


@dataclass(frozen=True, eq=False, repr=False)
class TwoPointSpring(TwoPoint):
    """A linear spring between a point on a and a point on b.

        f = -k (L - l0) e = -k (1 - l0 / L) r on b,   V = k (L - l0)^2 / 2                   (3)

    Args:
        a: one body, or its name.
        b: the other body, or its name.
        p_a: point in a's frame [m], shape (3,).
        p_b: point in b's frame [m], shape (3,).
        stiffness: k [N/m], at least 0.
        rest_length: l0 [m], at least 0.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("Spring", "PointToPointSpring")

    tabular = True
    proportional = ("rest_length",)

    stiffness: Annotated[Number, quantity("N/m", lowest=0.0)]
    rest_length: Annotated[Number, quantity("m", lowest=0.0)]

    def apply(self, s: View, loads: Loads) -> None:
        r, _, per_L = self._line(s)
        self._push(loads, -sx(self.stiffness) * (1 - sx(self.rest_length) * per_L) * r)  # (3)

    def potential(self, s: View) -> SX:
        L = self._line(s)[1]
        return sx(self.stiffness) * (L - sx(self.rest_length)) ** 2 / 2


@dataclass(frozen=True, eq=False, repr=False)
class TwoPointDamper(TwoPoint):
    """A linear damper between a point on a and a point on b.

        f = -c Ldot e on b                                                                   (4)

    Args:
        a: one body, or its name.
        b: the other body, or its name.
        p_a: point in a's frame [m], shape (3,).
        p_b: point in b's frame [m], shape (3,).
        damping: c [N s/m], at least 0.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("Damper",)

    tabular = True

    damping: Annotated[Number, quantity("N s/m", lowest=0.0)]

    def apply(self, s: View, loads: Loads) -> None:
        e, _, rate = self._moving_line(s)
        self._push(loads, -sx(self.damping) * rate * e)  # (4)


@dataclass(frozen=True, eq=False, repr=False)
class TwoPointForce(TwoPoint):
    """A given force between a point on a and a point on b. It has no potential energy; its power is in
    `system.power`.

        f = force e on b: positive pushes the points apart                                   (5)

    Args:
        a: one body, or its name.
        b: the other body, or its name.
        p_a: point in a's frame [m], shape (3,).
        p_b: point in b's frame [m], shape (3,).
        force: [N]; a cd.Input makes it an actuator whose force comes with each state; a pair (times, values)
            or a `TimeSeries` is a recording: natural cubic splines, the end values before and after.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    tabular = True

    force: Annotated[SignalLike, Signal("N")]
    group: str = field(default="actuator", kw_only=True)

    def apply(self, s: View, loads: Loads) -> None:
        r, _, per_L = self._line(s)
        self._push(loads, at_time(self.force, s) * per_L * r)  # (5)


@dataclass(frozen=True, eq=False, repr=False)
class TwoPointFunction(TwoPoint):
    """A force between two points that is a function of their distance and its rate: positive pulls them
    together (41). Its power is in `system.power`. OpenSim's ExpressionBasedPointToPointForce.

    Args:
        a: one body, or its name.
        b: the other body, or its name.
        p_a: point in a's frame [m], shape (3,).
        p_b: point in b's frame [m], shape (3,).
        function: f(d, ddot) [N], of [m] and [m/s].
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("ExpressionBasedPointToPointForce",)

    function: Annotated[FunctionLike, function_of("d", "ddot")]

    def apply(self, s: View, loads: Loads) -> None:
        e, L, rate = self._moving_line(s)
        function: Any = self.function
        self._push(loads, -function.at(L, rate) * e)  # (41)
