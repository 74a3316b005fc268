"""NoSlip1D: two bodies that roll on each other: docs/theory/constraints.md (20)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import casadi as ca

from condyle.constraints.base import Constraint, check_direction, unit
from condyle.constraints.points import ORIGIN, Direction, two_bodies
from condyle.laws.described import BodyName, Station
from condyle.laws.leaf import Leaf
from condyle.laws.leaves import AngularVelocity, Rotation, StationPosition, StationVelocity
from condyle.records import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class NoSlip1D(Constraint):
    """At a point the materials of two bodies have the same velocity in one direction: gears, a wheel on a
    rail.

    Args:
        case: the body that carries the point and the direction (it may be a or ground).
        point: where they touch, in its frame [m], shape (3,).
        direction: along which they do not slip, in its frame, shape (3,).
        a: one of the two bodies that touch there, or its name.
        b: the other one.
    """

    level: ClassVar[str] = "velocity"
    measure: ClassVar[str] = "m"

    case: BodyName
    point: Station
    direction: Direction
    a: BodyName
    b: BodyName

    def __post_init__(self) -> None:
        super().__post_init__()
        two_bodies(self)
        check_direction(self.direction, f"{type(self).__name__}: direction")

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        of = [
            (StationPosition(n, ORIGIN), StationVelocity(n, ORIGIN), AngularVelocity(n))
            for n in (self.a, self.b)
        ]
        return Rotation(self.case), StationPosition(self.case, self.point), *of[0], *of[1]

    def equations(self, x: Sequence[ca.SX]) -> ca.SX:
        R, point, p_a, v_a, w_a, p_b, v_b, w_b = x
        slip = v_b + ca.cross(w_b, point - p_b) - v_a - ca.cross(w_a, point - p_a)
        return ca.dot(R @ unit(self.direction), slip)  # (20)
