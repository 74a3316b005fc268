"""Forces that are functions of one length or coordinate and its rate: docs/theory/forces.md (40)-(42).

The function is a Python function, one of cd.functions, or a text in `cd.functions.Formula`: OpenSim's
expression-based forces are these with formulas.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any

import casadi as ca

from condyle.forces.mobility import OnCoordinate
from condyle.forces.path import PathLaw
from condyle.forces.two_point import TwoPoint
from condyle.laws.described import function_of, quantity, sx
from condyle.laws.view import Loads, View
from condyle.records import dataclass
from condyle.trace import Number


@dataclass(frozen=True, eq=False, repr=False)
class MobilityFunction(OnCoordinate):
    """A generalized force on a coordinate that is a function of it and of its rate: f(q, qdot) (40). Its work
    is in `system.power`. OpenSim's ExpressionBasedCoordinateForce.

        cd.forces.MobilityFunction("knee", cd.functions.Formula("-20*q^3 - 0.5*qdot", ("q", "qdot")))

    Args:
        coordinate: name of the coordinate.
        function: f(q, qdot) [N m, N], of [rad, m] and [rad/s, m/s].
        speed: name of the speed that it acts on, where this is not the coordinate's rate.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("ExpressionBasedCoordinateForce",)

    function: Annotated[Any, function_of("q", "qdot")]

    def apply(self, s: View, loads: Loads) -> None:
        speed = self._speed(s)
        loads.add_mobility(speed, self.function.at(s.coordinate(self.coordinate), s.speed(speed)))  # (40)


@dataclass(frozen=True, eq=False, repr=False)
class TwoPointFunction(TwoPoint):
    """A force between two points that is a function of their distance and its rate: positive pulls them
    together (41). Its work is in `system.power`. OpenSim's ExpressionBasedPointToPointForce.

    Args:
        a: one body, or its name.
        b: the other body, or its name.
        p_a: point in a's frame [m], shape (3,).
        p_b: point in b's frame [m], shape (3,).
        function: f(d, ddot) [N], of [m] and [m/s].
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("ExpressionBasedPointToPointForce",)

    function: Annotated[Any, function_of("d", "ddot")]

    def apply(self, s: View, loads: Loads) -> None:
        r, L, per_L = self._line(s)
        e = r * per_L
        v = s.station_velocity(self.b, sx(self.p_b)) - s.station_velocity(self.a, sx(self.p_a))
        self._push(loads, -self.function.at(L, ca.dot(e, v)) * e)  # (41)


@dataclass(frozen=True, eq=False, repr=False)
class PathFunction(PathLaw):
    """A tension along a path that is a function of its stretch s = L - l0 and of the rate of its length (42).
    Its work is in `system.power`. OpenSim's ExpressionBasedPathForce.

    Args:
        path: where it runs.
        function: T(s, ldot) [N], of [m] and [m/s]; positive pulls.
        rest_length: l0 [m], at least 0.
        clamp_stretch: a path shorter than l0 counts as being as long.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("ExpressionBasedPathForce",)

    proportional = ("rest_length",)

    function: Annotated[Any, function_of("s", "ldot")]
    rest_length: Annotated[Number, quantity("m", lowest=0.0)] = 0.0
    clamp_stretch: bool = field(default=True, kw_only=True)

    def tension(self, s: View) -> ca.SX:
        x = self.path.length.at(s) - sx(self.rest_length)
        return self.function.at(ca.fmax(x, 0) if self.clamp_stretch else x, self.path.length.rate(s))  # (42)
