"""Bilateral contacts, optionally without slip: docs/theory/constraints.md (21)-(24).

Each has two parts: an equation on positions that keeps the surfaces together, and equations on velocities, at
their common point, that prevent slip.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar

import casadi as ca

from condyle.arrays import SX
from condyle.constraints.base import (
    Constraint,
    ConstraintOfParts,
    Direction,
    drawn_ball,
    drawn_line,
    drawn_plane,
    unit,
    where,
)
from condyle.constraints.points import ORIGIN, PointInPlane, Rod, across
from condyle.errors import DescriptionError
from condyle.laws.described import BodyName, Station, quantity, sx
from condyle.laws.leaves import AngularVelocity, Leaf, Rotation, StationPosition, StationVelocity
from condyle.records import dataclass
from condyle.shapes import Drawing, Link
from condyle.trace import Number
from condyle.tree.tree import Tree

PARALLEL = 1e-8
"""Sine of the angle between lines: what is across both has few digits or none where it is less."""
Length = Annotated[Number, quantity("m", lowest=0.0, positive=True)]


def moving(body: str, station: Any) -> tuple[Leaf, ...]:
    """Position and velocity of a station, rotation and angular velocity of its body."""
    return (
        StationPosition(body, station),
        StationVelocity(body, station),
        Rotation(body),
        AngularVelocity(body),
    )


def slip(at: SX, a: Sequence[SX], b: Sequence[SX]) -> SX:
    """Velocity of b's material at a point relative to a's; a, b: values of `moving`."""
    (p_a, v_a, _, w_a), (p_b, v_b, _, w_b) = a, b
    return v_b + ca.cross(w_b, at - p_b) - v_a - ca.cross(w_a, at - p_a)


@dataclass(frozen=True, eq=False, repr=False)
class Contact(ConstraintOfParts):
    """Base class of contacts: the parts in order; most have `rolling`, whether they must not slip."""

    def __post_init__(self) -> None:
        super().__post_init__()
        rolling = getattr(self, "rolling", False)
        if not isinstance(rolling, bool):
            raise DescriptionError(f"{type(self).__name__}: rolling: expected True or False, got {rolling!r}")

    def create_parts(self) -> tuple[Constraint, ...]:
        """The parts."""
        raise TypeError(f"{type(self).__name__} needs a method create_parts()")

    @cached_property
    def parts(self) -> tuple[Constraint, ...]:  # type: ignore[override]
        return self.create_parts()

    def check(self, tree: Tree) -> None:
        for part in self.parts:
            part.check(tree)


@dataclass(frozen=True, eq=False, repr=False)
class NoSlipOnPlane(Constraint):
    """A sphere, or a point of radius zero, does not slip on a plane: two equations along the plane (22)."""

    level: ClassVar[str] = "velocity"
    measure: ClassVar[str] = "m"

    a: BodyName
    normal: Direction
    b: BodyName
    center: Station
    radius: Annotated[Number, quantity("m", lowest=0.0)]

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return *moving(self.a, ORIGIN), *moving(self.b, self.center)

    def equations(self, x: Sequence[SX]) -> SX:
        a, b = x[:4], x[4:]
        velocity = slip(b[0] - sx(self.radius) * (a[2] @ unit(self.normal)), a, b)
        return ca.vertcat(*(ca.dot(a[2] @ e, velocity) for e in across(self.normal)))  # (22)


@dataclass(frozen=True, eq=False, repr=False)
class PointOnPlaneContact(Contact):
    """A point of b sticks to a plane of a: three equations.

    Args:
        a: the body that carries the plane, or its name.
        normal: normal of the plane, in a's frame, shape (3,).
        height: distance of the plane from a's origin, along the normal [m].
        b: another body, or its name.
        p_b: station on b, in its frame [m], shape (3,).
    """

    a: BodyName
    normal: Direction
    height: Annotated[Number, quantity("m")]
    b: BodyName
    p_b: Station

    def drawn(self, size: float) -> list[Drawing | Link]:
        return [*super().drawn(size), drawn_plane(self.a, self.normal, self.height, size)]

    def create_parts(self) -> tuple[Constraint, ...]:
        on = PointInPlane(
            self.a, as_field_value(self.normal), as_field_value(self.height), self.b, as_field_value(self.p_b)
        )
        return on, NoSlipOnPlane(self.a, as_field_value(self.normal), self.b, as_field_value(self.p_b), 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class SphereOnPlaneContact(Contact):
    """A sphere of b touches a plane of a: one equation, three with rolling.

    Args:
        a: the body that carries the plane, or its name.
        normal: normal of the plane, in a's frame, toward the sphere, shape (3,).
        height: distance of the plane from a's origin, along the normal [m].
        b: another body, or its name.
        center: center of the sphere, in b's frame [m], shape (3,).
        radius: radius of the sphere [m].
        rolling: whether it must not slip.
    """

    a: BodyName
    normal: Direction
    height: Annotated[Number, quantity("m")]
    b: BodyName
    center: Station
    radius: Length
    rolling: bool = False

    def drawn(self, size: float) -> list[Drawing | Link]:
        plane = drawn_plane(self.a, self.normal, self.height, size)
        return [plane, drawn_ball(self.b, self.center, self.radius)]

    def create_parts(self) -> tuple[Constraint, ...]:
        n, height, center, radius = map(as_field_value, (self.normal, self.height, self.center, self.radius))
        on = PointInPlane(self.a, n, height + radius, self.b, center)  # (21)
        return (on, NoSlipOnPlane(self.a, n, self.b, center, radius)) if self.rolling else (on,)


@dataclass(frozen=True, eq=False, repr=False)
class NoSlipOnSphere(Constraint):
    """Two spheres do not slip: two equations across the line of centers (23). Which directions across are
    taken changes where the line passes near an axis; what they require together does not."""

    level: ClassVar[str] = "velocity"
    measure: ClassVar[str] = "m"

    a: BodyName
    center_a: Station
    radius_a: Length
    b: BodyName
    center_b: Station
    radius_b: Length

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return *moving(self.a, self.center_a), *moving(self.b, self.center_b)

    def equations(self, x: Sequence[SX]) -> SX:
        a, b = x[:4], x[4:]
        n = (b[0] - a[0]) / ca.norm_2(b[0] - a[0])  # its Rod says where the centers coincide
        share = sx(self.radius_a) / (sx(self.radius_a) + sx(self.radius_b))
        velocity = slip(a[0] + share * (b[0] - a[0]), a, b)
        axis = ca.if_else(ca.fabs(n[0]) < 0.7, ca.vertcat(1, 0, 0), ca.vertcat(0, 1, 0))
        first = ca.cross(n, axis) / ca.norm_2(ca.cross(n, axis))
        return ca.vertcat(ca.dot(first, velocity), ca.dot(ca.cross(n, first), velocity))  # (23)


@dataclass(frozen=True, eq=False, repr=False)
class SphereOnSphereContact(Contact):
    """Two spheres touch from outside: one equation, three with rolling.

    Args:
        a: one body, or its name.
        b: the other body, or its name.
        center_a: center of a's sphere, in its frame [m], shape (3,).
        center_b: center of b's sphere, in its frame [m], shape (3,).
        radius_a: radius of a's sphere [m].
        radius_b: radius of b's sphere [m].
        rolling: whether they must not slip.
    """

    a: BodyName
    center_a: Station
    radius_a: Length
    b: BodyName
    center_b: Station
    radius_b: Length
    rolling: bool = False

    undefined: ClassVar[str] = (
        "Its centers coincide, so that nothing is between them: move one of the bodies away"
    )

    def drawn(self, size: float) -> list[Drawing | Link]:
        return [
            drawn_ball(self.a, self.center_a, self.radius_a),
            drawn_ball(self.b, self.center_b, self.radius_b),
        ]

    def create_parts(self) -> tuple[Constraint, ...]:
        c_a, r_a, c_b, r_b = map(as_field_value, (self.center_a, self.radius_a, self.center_b, self.radius_b))
        apart = Rod(self.a, c_a, self.b, c_b, r_a + r_b)
        return (apart, NoSlipOnSphere(self.a, c_a, r_a, self.b, c_b, r_b)) if self.rolling else (apart,)


@dataclass(frozen=True, eq=False, repr=False)
class LinesMeet(Constraint):
    """The signed distance of two lines that are not parallel is zero (24)."""

    measure: ClassVar[str] = "m"

    a: BodyName
    p_a: Station
    direction_a: Direction
    b: BodyName
    p_b: Station
    direction_b: Direction

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return (
            StationPosition(self.a, self.p_a),
            Rotation(self.a),
            StationPosition(self.b, self.p_b),
            Rotation(self.b),
        )

    def equations(self, x: Sequence[SX]) -> SX:
        n = ca.cross(x[1] @ unit(self.direction_a), x[3] @ unit(self.direction_b))
        return where(ca.sumsqr(n) > PARALLEL**2, ca.dot(n, x[2] - x[0]) / ca.norm_2(n))  # (24)


@dataclass(frozen=True, eq=False, repr=False)
class NoSlipOnLines(LinesMeet):
    """At the point of a's line that is nearest to b's: no slip along a's line and across both."""

    level: ClassVar[str] = "velocity"

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return *moving(self.a, self.p_a), *moving(self.b, self.p_b)

    def equations(self, x: Sequence[SX]) -> SX:
        a, b = x[:4], x[4:]
        d_a, d_b = a[2] @ unit(self.direction_a), b[2] @ unit(self.direction_b)
        n = ca.cross(d_a, d_b)
        along = ca.dot(ca.cross(b[0] - a[0], d_b), n) / ca.dot(n, n)
        velocity = slip(a[0] + along * d_a, a, b)
        return ca.vertcat(ca.dot(d_a, velocity), ca.dot(ca.cross(n, d_a), velocity) / ca.norm_2(n))


@dataclass(frozen=True, eq=False, repr=False)
class LineOnLineContact(Contact):
    """Two edges, modeled as lines that are not parallel, touch: one equation, three with rolling.

    Args:
        a: one body, or its name.
        b: the other body, or its name.
        p_a: a point of a's line, in its frame [m], shape (3,).
        p_b: a point of b's line, in its frame [m], shape (3,).
        direction_a: direction of a's line, in its frame, shape (3,).
        direction_b: direction of b's line, in its frame, shape (3,).
        rolling: whether they must not slip.
    """

    a: BodyName
    p_a: Station
    direction_a: Direction
    b: BodyName
    p_b: Station
    direction_b: Direction
    rolling: bool = False

    undefined: ClassVar[str] = (
        "Its lines are parallel, so that nothing is across both: turn one of the bodies"
    )

    def drawn(self, size: float) -> list[Drawing | Link]:
        a = drawn_line(self.a, self.p_a, self.direction_a, size)
        return [*super().drawn(size), a, drawn_line(self.b, self.p_b, self.direction_b, size)]

    def create_parts(self) -> tuple[Constraint, ...]:
        p_a, d_a, p_b, d_b = map(as_field_value, (self.p_a, self.direction_a, self.p_b, self.direction_b))
        lines = self.a, p_a, d_a, self.b, p_b, d_b
        return (LinesMeet(*lines), NoSlipOnLines(*lines)) if self.rolling else (LinesMeet(*lines),)


def as_field_value(kept: Any) -> Any:
    """A kept number as its field takes it again."""
    return sx(kept) if not isinstance(kept, (float, tuple)) else kept


# ---- rolling ---------------------------------------------------------------------------------------------
#
# NoSlip1D: two bodies that roll on each other: docs/theory/constraints.md (20).


@dataclass(frozen=True, eq=False, repr=False)
class NoSlip1D(Constraint):
    """At a point two bodies have the same velocity in one direction: gears, a wheel on a rail.

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

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        of = [
            (StationPosition(n, ORIGIN), StationVelocity(n, ORIGIN), AngularVelocity(n))
            for n in (self.a, self.b)
        ]
        return Rotation(self.case), StationPosition(self.case, self.point), *of[0], *of[1]

    def equations(self, x: Sequence[SX]) -> SX:
        R, point, p_a, v_a, w_a, p_b, v_b, w_b = x
        slip = v_b + ca.cross(w_b, point - p_b) - v_a - ca.cross(w_a, point - p_a)
        return ca.dot(R @ unit(self.direction), slip)  # (20)
