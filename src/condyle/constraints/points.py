"""Constraints on points: Rod, Ball, PointInPlane, PointOnLine: docs/theory/constraints.md (8)-(11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.constraints.base import (
    Constraint,
    Direction,
    drawn_line,
    drawn_link,
    drawn_plane,
    unit,
    where,
)
from condyle.laws.described import BodyName, Station, quantity, sx
from condyle.laws.leaves import Leaf, Rotation, StationPosition
from condyle.records import dataclass
from condyle.shapes import Drawing, Link
from condyle.trace import Number
from condyle.trace.parameter import Expression

ORIGIN = (0.0, 0.0, 0.0)
COINCIDENT = 1e-8
"""Share of a rod's length: points that are nearer have a direction of few digits or none."""


def frame_leaves(body: str) -> tuple[Leaf, Leaf]:
    """Rotation and origin of a body."""
    return Rotation(body), StationPosition(body, ORIGIN)


@dataclass(frozen=True, eq=False, repr=False)
class _TwoStations(Constraint):
    """A constraint on a station of one body and a station of another."""

    measure: ClassVar[str] = "m"

    a: BodyName
    p_a: Station
    b: BodyName
    p_b: Station

    def drawn(self, size: float) -> list[Drawing | Link]:
        return [*super().drawn(size), drawn_link(self)]

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return StationPosition(self.a, self.p_a), StationPosition(self.b, self.p_b)


@dataclass(frozen=True, eq=False, repr=False)
class Rod(_TwoStations):
    """Two points have a constant distance: p = |p_b - p_a| - length [m]. The multiplier is the rod's tension
    [N]. NaN if the points are closer than 1e-8 of the length, since coincident points have no direction.

    Args:
        a: one body, or its name.
        b: the other body, or its name.
        p_a: station on a, in its frame [m], shape (3,).
        p_b: station on b, in its frame [m], shape (3,).
        length: length of the rod [m], above zero.
    """

    other_names = ("Distance",)

    length: Annotated[Number, quantity("m", lowest=0.0, positive=True)]

    proportional = ("length",)
    undefined: ClassVar[str] = "Its points coincide, so that it has no direction: move one of them away"

    def equations(self, x: Sequence[SX]) -> SX:
        d = x[1] - x[0]
        return where(
            ca.sumsqr(d) > (COINCIDENT * sx(self.length)) ** 2, ca.norm_2(d) - sx(self.length)
        )  # (8)


@dataclass(frozen=True, eq=False, repr=False)
class Ball(_TwoStations):
    """Two points coincide (`cd.Ball` is a joint): p = p_b - p_a, in ground [m]. The multipliers are minus the
    force on b [N].

    Args:
        a: one body, or its name.
        b: the other body, or its name.
        p_a: station on a, in its frame [m], shape (3,).
        p_b: station on b, in its frame [m], shape (3,).
    """

    room = "constraints."

    def equations(self, x: Sequence[SX]) -> SX:
        return x[1] - x[0]  # (9)


@dataclass(frozen=True, eq=False, repr=False)
class PointInPlane(Constraint):
    """A point of b is in a plane of a: p = n . (p_b in a's frame) - height [m].

    Args:
        a: the body that carries the plane, or its name.
        normal: normal of the plane, in a's frame, any length but zero, shape (3,).
        height: distance of the plane from a's origin, along the normal [m].
        b: another body, or its name.
        p_b: station on b, in its frame [m], shape (3,).
    """

    measure: ClassVar[str] = "m"

    a: BodyName
    normal: Direction
    height: Annotated[Number, quantity("m")]
    b: BodyName
    p_b: Station

    def drawn(self, size: float) -> list[Drawing | Link]:
        return [*super().drawn(size), drawn_plane(self.a, self.normal, self.height, size)]

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return *frame_leaves(self.a), StationPosition(self.b, self.p_b)

    def equations(self, x: Sequence[SX]) -> SX:
        R, origin, point = x
        return ca.dot(R @ unit(self.normal), point - origin) - sx(self.height)  # (10)


@dataclass(frozen=True, eq=False, repr=False)
class PointOnLine(Constraint):
    """A point of b is on a line of a: two equations, its distances from the line along two directions of a
    [m].

    Args:
        a: the body that carries the line, or its name.
        p_a: a point of the line, in a's frame [m], shape (3,).
        direction: direction of the line, in a's frame, shape (3,).
        b: another body, or its name.
        p_b: station on b, in its frame [m], shape (3,).
    """

    measure: ClassVar[str] = "m"

    a: BodyName
    p_a: Station
    direction: Direction
    b: BodyName
    p_b: Station

    def drawn(self, size: float) -> list[Drawing | Link]:
        line = drawn_line(self.a, self.p_a, self.direction, size)
        return [*super().drawn(size), line, drawn_link(self)]

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return Rotation(self.a), StationPosition(self.a, self.p_a), StationPosition(self.b, self.p_b)

    def equations(self, x: Sequence[SX]) -> SX:
        R, origin, point = x
        d = R.T @ (point - origin)
        return ca.vertcat(*(ca.dot(e, d) for e in across(self.direction)))  # (11)


def across(direction: Any) -> tuple[SX, SX]:
    """Two unit vectors at right angles to a kept direction and to each other."""
    now = direction.at().ravel() if isinstance(direction, Expression) else np.array(direction)
    # an axis well away from it, whatever its parameters do nearby
    away = np.eye(3)[int(np.argmin(np.abs(now)))]
    d = unit(direction)
    first = ca.cross(d, ca.SX(away))
    first = first / ca.norm_2(first)
    return first, ca.cross(d, first)
