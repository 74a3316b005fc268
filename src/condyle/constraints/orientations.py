"""Constraints on orientations: ConstantAngle, ConstantOrientation, Weld: docs/theory/constraints.md
(12)-(14)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.constraints.base import Constraint, Direction, unit, where
from condyle.constraints.points import frame_leaves
from condyle.errors import DescriptionError
from condyle.laws.described import BodyName, Frame, placed, quantity, sx
from condyle.laws.leaves import Leaf, Rotation
from condyle.records import dataclass
from condyle.shapes import Drawing, Link
from condyle.spatial import Transform
from condyle.trace import Number
from condyle.trace.parameter import Expression, as_sx
from condyle.tree.tree import Tree

SMALLEST_SINE = 1e-3
"""Near 0 and pi an angle's cosine hardly changes: the equation loses its digits, and at the ends its rank."""


HALF_TURN = 1e-5
"""[rad]: nearer to half a turn the axis, and with it (13), has less than five digits."""
NO_AXIS = (
    "Its frames are half a turn apart, which has no single axis: turn one of the bodies toward the other"
)


@dataclass(frozen=True, eq=False, repr=False)
class ConstantAngle(Constraint):
    """Two directions have a constant angle: p = cos of the angle between them - cos(angle).

    Args:
        a: one body, or its name.
        b: the other body, or its name.
        axis_a: direction in a's frame, shape (3,).
        axis_b: direction in b's frame, shape (3,).
        angle: between 0 and pi, not near either end [rad].
            Parallel axes are two equations, not one: keep two angles of pi/2.
    """

    measure: ClassVar[str] = "1"

    a: BodyName
    axis_a: Direction
    b: BodyName
    axis_b: Direction
    angle: Annotated[Number, quantity("rad")] = np.pi / 2

    def __post_init__(self) -> None:
        super().__post_init__()
        angle = float(self.angle.at().item()) if isinstance(self.angle, Expression) else self.angle
        if not (0 < angle < np.pi and np.sin(angle) > SMALLEST_SINE):
            raise DescriptionError(
                f"{type(self).__name__}: angle: expected more than 0 and less than pi, by "
                f"{SMALLEST_SINE} or more [rad], got {angle:g}; for parallel axes keep "
                "two angles of pi/2 to axes across"
            )

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return Rotation(self.a), Rotation(self.b)

    def equations(self, x: Sequence[SX]) -> SX:
        return ca.dot(x[0] @ unit(self.axis_a), x[1] @ unit(self.axis_b)) - ca.cos(sx(self.angle))  # (12)


def turned(R: SX) -> SX:
    """2 tan(theta / 2) about the axis of R, shape (3,): zero for R = 1 only, its rate there is the angular
    velocity (13)."""
    antisymmetric = ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])
    rest = 1 + ca.trace(R)  # (pi - theta)^2 near half a turn
    return where(rest > HALF_TURN**2, 2 * antisymmetric / rest)


@dataclass(frozen=True, eq=False, repr=False)
class ConstantOrientation(Constraint):
    """Two frames have parallel axes: three equations, p = 2 tan(theta / 2) about the axis of the rotation
    between them; NaN for half a turn.

    Args:
        a: one body, or its name.
        b: the other body, or its name.
        R_a: frame on a, a rotation of shape (3, 3) or a Transform; None is the body's own.
        R_b: frame on b, given in the same ways.
    """

    a: BodyName
    R_a: Frame
    b: BodyName
    R_b: Frame = None

    measure: ClassVar[str] = "rad"
    undefined: ClassVar[str] = NO_AXIS

    def __post_init__(self) -> None:
        for name in ("R_a", "R_b"):
            R = as_sx(getattr(self, name))
            if R is not None and not isinstance(R, Transform):
                object.__setattr__(self, name, Transform(R, what=f"{type(self).__name__}: {name}"))
        super().__post_init__()

    def drawn(self, size: float) -> list[Drawing | Link]:
        return []  # it has directions and no place

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return Rotation(self.a), Rotation(self.b)

    def equations(self, x: Sequence[SX]) -> SX:
        return turned((x[0] @ placed(self.R_a)[0]).T @ (x[1] @ placed(self.R_b)[0]))  # (13)


@dataclass(frozen=True, eq=False, repr=False)
class Weld(Constraint):
    """Two frames coincide (`cd.Weld` is a joint): six equations, the rotation between them as in
    ConstantOrientation, then p_b - p_a in ground [m].

    Args:
        a: one body, or its name.
        b: the other body, or its name.
        X_a: frame on a: a Transform, a 3-vector (translation) or None.
        X_b: frame on b, given in the same ways.
    """

    room = "constraints."
    a: BodyName
    X_a: Frame
    b: BodyName
    X_b: Frame

    undefined: ClassVar[str] = NO_AXIS

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return *frame_leaves(self.a), *frame_leaves(self.b)

    def equations(self, x: Sequence[SX]) -> SX:
        (R_a, p_a), (R_b, p_b) = placed(self.X_a), placed(self.X_b)
        turn = turned((x[0] @ R_a).T @ (x[2] @ R_b))
        return ca.vertcat(turn, x[3] + x[2] @ p_b - x[1] - x[0] @ p_a)  # (14)

    def measures(self, tree: Tree) -> list[str]:
        return ["rad"] * 3 + ["m"] * 3
