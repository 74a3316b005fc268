"""Unilateral constraints: docs/theory/rigid_contact.md (2)-(7).

    g(q, t) >= 0,   lambda_n >= 0,   g lambda_n = 0         g: gap [m, rad], lambda_n: force [N, N m]      (2)
    p = -g, so that M udot + G' lambda = f with lambda_n >= 0: the first equation of each                 (3)
    s = (t_1 . v, t_2 . v): slip of b on a at the point P; its equations, two, are the next ones          (4)
    |lambda_t| <= mu lambda_n,   sliding: lambda_t = mu lambda_n d with d = s / |s|                       (5)

Discrete variables of the state say whether it is closed, sticks, or slides and in which direction,
NAME.closed, NAME.stick, NAME.slide_x .. _z: inactive equations are zero. Sliding friction acts with the first
multiplier: not G' lambda but (G + S)' lambda, where S has the rows

    S_n = mu d' G_t                                                                                       (6)

The state stores the direction D in which it began to slide times a speed v_D, below which D is used; above it
s / |s| is used, unless it is opposite:

    d = s / |s| if |s| > v_D and s . D > -|s| / 2, else D                                                (7)

so that the motion continues smoothly past the end of sliding, which an event locates, and the direction of a
nearly zero slip does not fluctuate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self

import casadi as ca

from condyle.arrays import SX
from condyle.constraints.base import Constraint, ConstraintOfParts
from condyle.contact.materials import RESTITUTION, check_law, check_restitution
from condyle.laws.described import number, quantity, sx
from condyle.laws.leaves import Leaf
from condyle.native.tables.lookup import Closure
from condyle.records import assign, dataclass
from condyle.trace import Number
from condyle.trace.parameter import Discrete
from condyle.tree.tree import Tree

Flag = Annotated[Number, quantity("-")]


@dataclass(frozen=True, eq=False, repr=False)
class Unilateral(ConstraintOfParts):
    """A unilateral constraint: open, or closed and pushing (a rope: pulling). Subclasses define `places` and
    `depth`; with friction use `contacts.RigidContact`.

    In default states it is open and exerts no force. `cd.simulate` closes and opens it. All operators use the
    state's mode: in forward_dynamics closed ones are equations.

    Args:
        restitution: e, from 0 to 1.
        law: "newton" or "poisson": see cd.contact.Rigid.
    """

    restitution: RESTITUTION = field(default=0.0, kw_only=True)
    law: str = field(default="newton", kw_only=True)
    closed: Flag = field(default=0.0, init=False, repr=False)

    has_friction: ClassVar[bool] = False
    """Whether there is friction."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_law(self.law, type(self).__name__)

    def check_values(self, values: Mapping[str, float]) -> None:
        check_restitution(self.restitution, type(self).__name__, values)

    def conditions(self) -> SX:
        return ca.vertcat(super().conditions(), sx(self.restitution) <= 1)

    # ---- what a kind of them says --------------------------------------------------------------------------

    @property
    def places(self) -> tuple[Leaf, ...]:
        """The position quantities of the gap."""
        raise TypeError(f"{type(self).__name__} does not say what its gap is of: it needs a property places")

    def depth(self, x: Sequence[SX]) -> SX:
        """-g of (2) from their values: above zero where it is violated [m, rad]."""
        raise TypeError(f"{type(self).__name__} does not say what its gap is: it needs a method depth(x)")

    # ---- states --------------------------------------------------------------------------------------------

    def flags(self, name: str) -> dict[str, str]:
        """Names of its discrete variables, by the fields that hold them."""
        return {"closed": f"{name}.closed"}

    def directions(self, name: str) -> tuple[str, ...]:
        """Names of those that hold D v_D of (7), three with friction."""
        return ()

    def named(self, name: str) -> Self:
        return self._with({f: number(Discrete(variable, 0.0), f) for f, variable in self.flags(name).items()})

    def holding(self) -> Self:
        """The same, always closed and sticking: all its equations, for solvers."""
        return self._with({f: 1.0 if f in ("closed", "stick") else 0.0 for f in self.flags("")})

    def _with(self, values: Mapping[str, Any]) -> Self:
        other = copy(self)
        assign(other, **values)
        return other

    # ---- equations -----------------------------------------------------------------------------------------

    @cached_property
    def parts(self) -> tuple[Constraint, ...]:  # type: ignore[override]
        return (Normal(self),)

    def check(self, tree: Tree) -> None:
        super().check(tree)
        for part in self.parts:
            part.check(tree)


@dataclass(frozen=True, eq=False, repr=False)
class Normal(Constraint):
    """(3): the gap of a closed one stays zero."""

    contact: Any

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        places: tuple[Leaf, ...] = self.contact.places
        return places

    def equations(self, x: Sequence[SX]) -> SX:
        return ca.if_else(sx(self.contact.closed), self.contact.depth(x), 0)

    def measures(self, tree: Tree) -> list[str]:
        return [self.contact.measure]

    @cached_property
    def drag(self) -> Drag | None:
        return Drag(self.contact) if self.contact.has_friction else None


@dataclass(frozen=True, eq=False, repr=False)
class Stick(Constraint):
    """(4): one that sticks does not slip. Two equations."""

    level: ClassVar[str] = "velocity"
    measure: ClassVar[str] = "m"

    contact: Any

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return tuple(self.contact.moving)

    def equations(self, x: Sequence[SX]) -> SX:
        slip = self.contact.slip(x)
        t_1, t_2 = self.contact.across(x)
        return ca.if_else(sx(self.contact.stick), ca.vertcat(ca.dot(t_1, slip), ca.dot(t_2, slip)), 0)


@dataclass(frozen=True, eq=False, repr=False)
class Drag(Constraint):
    """S of (6): what friction of one that slides does for a unit of its first multiplier. No equation."""

    level: ClassVar[str] = "velocity"

    contact: Any

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return tuple(self.contact.moving)

    def equations(self, x: Sequence[SX]) -> SX:
        return ca.dot(self.contact.direction(x), self.contact.slip(x)) * sx(self.contact.friction)

    @cached_property
    def gradient(self) -> Closure:
        """One row a leaf; the direction d is no function of the velocities here."""
        x, shaped, _ = self._symbols()
        d = ca.SX.sym("d", 3)
        e = ca.dot(d, self.contact.slip(shaped)) * sx(self.contact.friction)
        of = ca.densify(ca.if_else(self.contact.sliding(), self.contact.direction(shaped), 0))
        return Closure("drag", x, [ca.substitute(ca.densify(ca.jacobian(e, v)), d, of) for v in x])
