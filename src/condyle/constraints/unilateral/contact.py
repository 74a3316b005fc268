"""Rigid contact of two surfaces: docs/theory/rigid_contact.md (2)-(7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import Annotated, ClassVar, Self

import casadi as ca

from condyle.arrays import SX
from condyle.constraints.base import Constraint
from condyle.constraints.unilateral.base import Flag, Normal, Stick, Unilateral
from condyle.contact.closest_points import check_pair
from condyle.contact.depth import SurfacePair
from condyle.contact.materials import FRICTION, Rigid, harmonic
from condyle.contact.surfaces import ContactSurface
from condyle.errors import DescriptionError
from condyle.laws.described import Role, number, quantity, sx
from condyle.laws.factors import BodyFactors
from condyle.laws.leaves import AngularVelocity, Leaf, StationPosition, StationVelocity
from condyle.native.tables.lookup import Closure
from condyle.records import assign, dataclass
from condyle.trace import Numbers
from condyle.trace.parameter import Discrete

STEEP = 0.9
"""Normals whose z is below this have a tangent at right angles to z, else to x: in a plane motion along two
axes one tangent is in the plane, and the other moves nothing."""


@dataclass(frozen=True, eq=False)
class Touching(SurfacePair):
    """Closest points of two surfaces: depth [m], normal from a to b and the point between them [m], in
    ground.

    Args:
        a: one surface.
        b: the other, on another body.
    """

    size = 7
    quantity = "touching"

    def expression(self, *y: SX) -> SX:
        where = self.closest(*y)
        return ca.vertcat(where.x, where.n, where.at(ca.SX(0.5)))

    @cached_property
    def _functions(self) -> dict[str, Closure]:
        """Closest points that a solver finds have first derivatives alone: the second one of the depth is
        that of its rate, n . (v_a - v_b) at the point."""
        y, ydot, yddot = (
            [ca.SX.sym(f"{n}{i}", p.size) for i, p in enumerate(self.parts)] for n in ("y", "dy", "ddy")
        )
        shaped = lambda x: [p.shaped(v) for p, v in zip(self.parts, x, strict=True)]
        (R_a, p_a, R_b, p_b), (W_a, v_a, W_b, v_b) = shaped(y), shaped(ydot)
        x = ca.densify(self.expression(R_a, p_a, R_b, p_b))
        n, P, at, rate = x[1:4], x[4:7], ca.vertcat(*y), ca.vertcat(*ydot)
        own = ca.jtimes(x, at, rate)
        own[0] = ca.dot(n, v_a + W_a @ R_a.T @ (P - p_a) - v_b - W_b @ R_b.T @ (P - p_b))
        more = ca.jtimes(own[0], at, rate) + ca.jtimes(own[0], rate, ca.vertcat(*yddot))
        more = ca.vertcat(more, ca.SX.nan(6))  # second rates of n and P are not needed
        given = [ca.SX(0, 1), *y]
        return {
            "rows": Closure("touching_rows", y, [ca.SX(0, 1)]),
            "value": Closure("touching", given, [x]),
            "rate": Closure("touching_rate", [*given, *ydot], [own]),
            "bias": Closure("touching_bias", [*given, *ydot, *yddot], [more]),
            "gradient": Closure("touching_gradient", given, [ca.densify(ca.jacobian(x, v)) for v in y]),
        }


@dataclass(frozen=True, eq=False, repr=False)
class RigidContact(Unilateral):
    """Two surfaces that never overlap, with Coulomb friction and restitution: one equation in contact, three
    when sticking. `system.add_contact(name, a, b)` creates them from surfaces whose material is
    cd.contact.Rigid.

    Multipliers: normal force lambda_n >= 0 [N], and friction along two tangents [N], minus what acts on b.
    While it slides its friction is part of the first.

    Args:
        a: one surface.
        b: the other, on another body; both materials are cd.contact.Rigid.
    """

    measure: ClassVar[str] = "m"

    a: Annotated[ContactSurface, Role(kind="part")]
    b: Annotated[ContactSurface, Role(kind="part")]
    friction: FRICTION = field(default=0.0, init=False)
    stick: Flag = field(default=0.0, init=False, repr=False)
    slide: Annotated[Numbers, quantity("-", 3)] = field(default=(0.0, 0.0, 0.0), init=False, repr=False)

    def scaled(self, factors: BodyFactors) -> Self:
        if any(factors.change(x.body) for x in (self.a, self.b)):
            factors.notes.append(": its surfaces are where and as large as they were")
        return self

    def __init__(self, a: ContactSurface, b: ContactSurface) -> None:
        what = type(self).__name__
        check_pair(a, b, what)
        for surface in (a, b):
            if not isinstance(surface.made_of, Rigid):
                raise DescriptionError(
                    f"{what}: {type(surface).__name__} on {surface.body!r} is made of "
                    f"{surface.made_of!r}; both surfaces need a cd.contact.Rigid"
                )
        one, other = a.made_of, b.made_of
        assert isinstance(one, Rigid) and isinstance(other, Rigid)
        if one.law != other.law:
            raise DescriptionError(
                f"{what}: restitution by {one.law!r} on {a.body!r} and by {other.law!r} "
                f"on {b.body!r}; give both materials the same law"
            )
        assign(
            self,
            a=a,
            b=b,
            restitution=harmonic(one, other, "restitution"),
            friction=harmonic(one, other, "friction"),
            law=one.law,
            closed=0.0,
            stick=0.0,
            slide=(0.0, 0.0, 0.0),
        )
        self.__post_init__()

    def __repr__(self) -> str:
        a, b = (f"{type(s).__name__} on {s.body!r}" for s in (self.a, self.b))
        numbers = "".join(
            f", {f}={x:g}"
            for f in ("restitution", "friction")
            if isinstance(x := getattr(self, f), float) and x
        )
        return f"{type(self).__name__}({a}, {b}{numbers})"

    def surfaces(self) -> tuple[ContactSurface, ContactSurface]:
        """a and b."""
        return self.a, self.b

    @property
    def has_friction(self) -> bool:  # type: ignore[override]
        return not (isinstance(self.friction, float) and self.friction == 0)

    def flags(self, name: str) -> dict[str, str]:
        mine = super().flags(name)
        return mine | {"stick": f"{name}.stick"} if self.has_friction else mine

    def named(self, name: str) -> RigidContact:
        made = super().named(name)
        if not self.has_friction:
            return made
        D = ca.vertcat(*(Discrete(v, 0.0).sx for v in self.directions(name)))
        return made._with({"slide": number(D, "slide")})

    def directions(self, name: str) -> tuple[str, ...]:
        return tuple(f"{name}.slide_{axis}" for axis in "xyz") if self.has_friction else ()

    def holding(self) -> RigidContact:
        return super().holding()._with({"slide": (0.0, 0.0, 0.0)})

    @cached_property
    def parts(self) -> tuple[Constraint, ...]:  # type: ignore[override]
        return (Normal(self), Stick(self)) if self.has_friction else (Normal(self),)

    @cached_property
    def places(self) -> tuple[Leaf, ...]:  # type: ignore[override]
        return (Touching(self.a, self.b),)

    def depth(self, x: Sequence[SX]) -> SX:
        return x[0][0]

    @cached_property
    def moving(self) -> tuple[Leaf, ...]:
        """The quantities that slip is of."""
        return (
            *self.places,
            *(
                leaf
                for s in (self.a, self.b)
                for leaf in (StationPosition(s.body), StationVelocity(s.body), AngularVelocity(s.body))
            ),
        )

    def slip(self, x: Sequence[SX]) -> SX:
        """Velocity of b's material at P relative to a's, in the tangent plane, in ground [m/s]."""
        (n, P), (p_a, v_a, w_a), (p_b, v_b, w_b) = (x[0][1:4], x[0][4:7]), x[1:4], x[4:7]
        v = v_b + ca.cross(w_b, P - p_b) - v_a - ca.cross(w_a, P - p_a)
        return v - n * ca.dot(n, v)

    def across(self, x: Sequence[SX]) -> tuple[SX, SX]:
        """t_1 and t_2 of (4), in ground."""
        n = x[0][1:4]
        axis = ca.if_else(ca.fabs(n[2]) < STEEP, ca.SX([0, 0, 1]), ca.SX([1, 0, 0]))
        t = ca.cross(axis, n)
        t_1 = t / ca.sqrt(ca.fmax(ca.sumsqr(t), 1e-30))  # where there is no normal there is no tangent
        return t_1, ca.cross(n, t_1)

    def sliding(self) -> SX:
        """Whether the state says that it slides."""
        return ca.sumsqr(sx(self.slide)) > 0

    def direction(self, x: Sequence[SX]) -> SX:
        """d of (7), in ground."""
        n, s, kept = x[0][1:4], self.slip(x), sx(self.slide)
        D = kept - n * ca.dot(n, kept)
        D = D / ca.sqrt(ca.fmax(ca.sumsqr(D), 1e-40))
        square = ca.sumsqr(s)
        speed = ca.sqrt(ca.fmax(square, 1e-40))
        follows = ca.logic_and(square > ca.sumsqr(kept), ca.dot(s, D) > -speed / 2)
        return ca.if_else(follows, s / speed, D)  # (7)
