"""Stops of coordinates, and ropes: docs/theory/rigid_contact.md (8), (9).

stop    g = q - lower,  or  upper - q                                                                 (8)
rope    g = length - |p_b - p_a|                                                                      (9)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Annotated, Any, ClassVar

import casadi as ca

from condyle.arrays import SX
from condyle.constraints.base import drawn_link
from condyle.constraints.coordinates import unit_of
from condyle.constraints.points import COINCIDENT
from condyle.constraints.unilateral.base import Unilateral
from condyle.errors import DescriptionError, warn
from condyle.laws.described import BodyName, CoordinateName, Station, quantity, sx
from condyle.laws.leaves import CoordinateValue, Leaf, StationPosition
from condyle.records import dataclass
from condyle.shapes import Drawing, Link
from condyle.trace import Number
from condyle.trace.parameter import Expression
from condyle.tree.tree import Tree

LIMIT = quantity("rad, m")


@dataclass(frozen=True, eq=False, repr=False)
class Stop(Unilateral):
    """A rigid limit of a coordinate: at least `lower`, or at most `upper`. Two limits are two stops. (For
    compliant limits, and for gradients, use `cd.forces.MobilityStop`.) The multiplier is the stop's
    generalized force [N m, N], at least 0.

    Args:
        coordinate: its name.
        lower: lower limit [rad, m]; or
        upper: upper limit [rad, m].
        restitution: from 0 to 1.
        law: "newton" or "poisson": see cd.contact.Rigid.
    """

    coordinate: CoordinateName
    lower: Number | None = field(default=None, kw_only=True)
    upper: Number | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.lower is None) == (self.upper is None):
            raise DescriptionError(
                f"Stop of {self.coordinate!r}: give one of lower= and upper= [rad, m]; "
                "two limits are two stops"
            )
        side = "lower" if self.upper is None else "upper"
        kept = LIMIT.take(getattr(self, side), f"Stop: {side}")
        object.__setattr__(self, side, kept)

    def end(self, values: Mapping[str, float]) -> float:
        """The limit [rad, m] with these values of Parameters."""
        limit: Any = self.upper if self.lower is None else self.lower
        return float(limit.at(values)[0, 0] if isinstance(limit, Expression) else limit)

    def check(self, tree: Tree) -> None:
        super().check(tree)
        side = "upper" if self.lower is None else "lower"
        limit = getattr(self, side)
        angle = unit_of(tree, self.coordinate) == "rad"
        large = angle and isinstance(limit, float) and abs(limit) > 2 * math.pi
        if large and not self.__dict__.get("_told"):  # once, though a system in use checks again
            self.__dict__["_told"] = True
            warn(
                f"Stop: {side} = {limit:g} rad of {self.coordinate!r} is more than a turn; if it "
                f"is in degrees, give np.radians({limit:g})",
                RuntimeWarning,
            )

    def measures(self, tree: Tree) -> list[str]:
        return [unit_of(tree, self.coordinate)]

    @property
    def places(self) -> tuple[Leaf, ...]:
        return (CoordinateValue(self.coordinate),)

    def depth(self, x: Sequence[SX]) -> SX:
        return x[0] - sx(self.upper) if self.lower is None else sx(self.lower) - x[0]  # (8)


@dataclass(frozen=True, eq=False, repr=False)
class Rope(Unilateral):
    """Two points are at most a length apart; a slack rope exerts no force. The multiplier is its tension [N],
    at least 0.

    Args:
        a: one body, or its name.
        p_a: station on a, in its frame [m], shape (3,).
        b: the other body, or its name.
        p_b: station on b, in its frame [m], shape (3,).
        length: [m], above zero.
        restitution: when it snaps taut, from 0 to 1.
        law: "newton" or "poisson": see cd.contact.Rigid.
    """

    other_names = ("Cable", "String", "Tether")

    measure: ClassVar[str] = "m"

    a: BodyName
    p_a: Station
    b: BodyName
    p_b: Station
    length: Annotated[Number, quantity("m", lowest=0.0, positive=True)]

    undefined: ClassVar[str] = "Its points coincide, so that it has no direction; it is slack there"

    def drawn(self, size: float) -> list[Drawing | Link]:
        return [*super().drawn(size), drawn_link(self)]

    @property
    def places(self) -> tuple[Leaf, ...]:
        return StationPosition(self.a, self.p_a), StationPosition(self.b, self.p_b)

    def depth(self, x: Sequence[SX]) -> SX:
        d = x[1] - x[0]
        near = ca.sumsqr(d) <= (COINCIDENT * sx(self.length)) ** 2
        return ca.if_else(near, 0, ca.sqrt(ca.if_else(near, 1, ca.sumsqr(d)))) - sx(self.length)  # (9)
