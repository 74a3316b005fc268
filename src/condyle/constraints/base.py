"""Interface of constraints: equations over leaves, and their derivatives by automatic differentiation.

A constraint does not depend on the tree. It lists its leaves (stations, rotations, coordinates, speeds, t:
laws/leaves.py) and returns equations of their values x; the leaves define their rates and the effect of
forces on
them: docs/theory/constraints.md.

    position level       p(x) = 0       pdot  = p_x xdot       pddot = p_x xddot + (p_x xdot)_x xdot       (1)
    velocity level       v(x, y) = 0       vdot  = v_x xdot + v_y ydot      y: speeds and velocities       (2)
    acceleration level   a(x, y, z) = 0    linear in z: rates of speeds, accelerations                     (3)

sherman2011 (10)-(15). G' lambda is a force p_x' lambda (or v_y', a_z' lambda) on each leaf: O(n).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar

import casadi as ca
import numpy as np

import condyle.shapes as shapes
from condyle.arrays import SX, Array
from condyle.errors import DescriptionError
from condyle.forces.base import Force
from condyle.laws.described import Described, Role, sx
from condyle.laws.leaves import Leaf
from condyle.native.tables.lookup import Closure
from condyle.records import dataclass
from condyle.spatial import Transform
from condyle.spatial.rotations import frame_along
from condyle.trace import Numbers
from condyle.trace.parameter import Input, Parameter, numbers_at
from condyle.tree.tree import Tree

LEVELS = ("position", "velocity", "acceleration")
DOT, LINE, PLATE, THIN = 0.014, 0.4, 0.25, 0.002
"""As drawn: radius of a point, half a line, half a plate and half its thickness, over the size of the scene."""
FAINT = 0.35
"""Opacity of plates and balls."""


@dataclass(frozen=True)
class DirectionRole(Role):
    """A vector of any length but zero, at the defaults of its Parameters."""

    def take(self, value: Any, what: str) -> Any:
        kept = super().take(value, what)
        if not _column(kept).any():
            raise DescriptionError(
                f"{what}: expected a direction, got the zero vector {tuple(_column(kept).tolist())}"
            )
        return kept


Direction = Annotated[Numbers, DirectionRole("", (3,))]


@dataclass(frozen=True, eq=False, repr=False)
class Constraint(Described):
    """Equations that the motion must satisfy. Immutable data; numbers may be Parameters.

    Attributes:
        level: position, velocity or acceleration: the lowest level at which the equations hold.
        measure: unit of the equations at position level: "m", "rad", "1" of a cosine; "" if unknown, as for a
            user's function. undefined: text on where the equations are NaN, and what to do.
    """

    level: ClassVar[str] = "position"
    measure: ClassVar[str] = ""
    undefined: ClassVar[str] = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        ends = [getattr(self, f) for f, role in self.roles() if role.kind == "body" and f in ("a", "b")]
        if len(ends) == 2 and ends[0] == ends[1]:
            raise DescriptionError(
                f"{type(self).__name__}: a and b are both {ends[0]!r}; name two different bodies"
            )
        for p in self.parameters():
            if isinstance(p, Input) and self.level != "acceleration":
                raise DescriptionError(
                    f"{self!r}: contains {p!r}, but nothing says how fast an input "
                    "changes; use a cd.Parameter, or write the equation with s.t: "
                    "cd.constraints.Holonomic(lambda s: ...)"
                )

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The quantities in the equations."""
        raise TypeError(f"{type(self).__name__} does not say what it is about: it needs a property leaves")

    def equations(self, x: Sequence[SX]) -> SX:
        """Expressions that must be zero, shape (m,), from the leaves' values: columns, rotations R_GB of
        shape (3, 3).
        """
        raise TypeError(
            f"{type(self).__name__} does not say what it requires: it needs a method equations(x)"
        )

    @property
    def parts(self) -> tuple[Constraint, ...]:
        """Its parts, constraints of one level each, in the order of their equations; most have one."""
        return (self,)

    def named(self, name: str) -> Constraint:
        """The constraint as stored in a System under a name, which its discrete variables use."""
        return self

    def measures(self, tree: Tree) -> list[str]:
        """`measure` of each equation."""
        if self.parts[0] is self:
            return [self.measure] * self.size
        return [unit for part in self.parts for unit in part.measures(tree)]

    @property
    def drag(self) -> Constraint | None:
        """Further loads of its first multiplier: those of friction."""
        return None

    def check(self, tree: Tree) -> None:
        super().check(tree)
        for leaf in self.leaves:
            leaf.check(tree, repr(self))

    def code(self) -> str:
        """Further text that determines the equations: the code of a user's class."""
        return Force.code(self)  # type: ignore[arg-type]

    def parameters(self) -> list[Parameter]:
        return super().parameters()

    def drawn(self, size: float) -> Sequence[shapes.Drawing | shapes.Link]:
        """Shapes to draw: a point at each station and axes at each frame, on its body.

        Args:
            size: of the scene [m], for what has no size of its own.
        """
        body, out = "ground", []
        for name, role in self.roles():
            kept = getattr(self, name)
            if role.kind == "body":
                body = kept
            elif role.kind == "frame" and kept is not None:
                R, p = (np.asarray(numbers_at(x), dtype=float) for x in kept)
                X = Transform(R.reshape(3, 3), p.reshape(3))
                out += [
                    shapes.Drawing(shapes.Frame(4 * DOT * size), X, body),
                    shapes.Drawing(shapes.Sphere(DOT * size), X, body),
                ]
            elif role.is_station:
                out.append(shapes.Drawing(shapes.Sphere(DOT * size), Transform(p=_column(kept)), body))
        return out

    @cached_property
    def size(self) -> int:
        """Number of equations m."""
        return self.zeroth.function.numel_out(0)

    def _symbols(self) -> tuple[list[SX], list[SX], SX]:
        """Values of the leaves as columns, the same as the equations take them, and the equations."""
        x = [ca.SX.sym(f"x{i}", leaf.size) for i, leaf in enumerate(self.leaves)]
        shaped = [leaf.shaped(v) for v, leaf in zip(x, self.leaves, strict=True)]
        return x, shaped, ca.densify(self.equations(shaped))

    @cached_property
    def zeroth(self) -> Closure:
        """x -> p(x), v or a."""
        x, _, e = self._symbols()
        return Closure("zeroth", x, [e])

    @cached_property
    def first(self) -> Closure:
        """x, xdot -> the total derivative: pdot (1) or vdot (2)."""
        x, _, e = self._symbols()
        xdot = [ca.SX.sym("xdot", v.numel()) for v in x]
        return Closure("first", [*x, *xdot], [ca.jtimes(e, ca.vertcat(*x), ca.vertcat(*xdot))])

    @cached_property
    def second(self) -> Closure:
        """x, xdot, xddot -> pddot (1)."""
        x, _, e = self._symbols()
        xdot, xddot = ([ca.SX.sym(name, v.numel()) for v in x] for name in ("xdot", "xddot"))
        at, rate = ca.vertcat(*x), ca.vertcat(*xdot)
        bias = ca.jtimes(ca.jtimes(e, at, rate), at, rate)
        return Closure("second", [*x, *xdot, *xddot], [bias + ca.jtimes(e, at, ca.vertcat(*xddot))])

    @cached_property
    def gradient(self) -> Closure:
        """x -> one Jacobian a leaf, shape (m, size of the leaf)."""
        x, _, e = self._symbols()
        return Closure("gradient", x, [ca.densify(ca.jacobian(e, v)) for v in x])

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies, ground apart, that its forces act on as wrenches, each once."""
        named = (
            body
            for part in self.parts
            for leaf in part.leaves
            if leaf.level == part.level
            for body in leaf.bodies
        )
        return tuple(name for name in dict.fromkeys(named) if name != "ground")


@dataclass(frozen=True, eq=False, repr=False)
class ConstraintOfParts(Constraint):
    """A constraint that consists of parts, with their leaves and equations."""

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return tuple(leaf for part in self.parts for leaf in part.leaves)

    @property
    def size(self) -> int:  # type: ignore[override]
        return sum(part.size for part in self.parts)


def drawn_line(body: str, point: Any, direction: Any, size: float) -> shapes.Drawing:
    """A line through a kept point of a body along a kept direction."""
    half = LINE * size * _column(direction) / np.linalg.norm(_column(direction))
    return shapes.Drawing(shapes.Line(np.stack([_column(point) - half, _column(point) + half])), body=body)


def drawn_plane(body: str, normal: Any, height: Any, size: float) -> shapes.Drawing:
    """A plane of a body with a kept normal and height."""
    R = frame_along(_column(normal))
    X = Transform(R, numbers_at(height) * R[:, 2])
    return shapes.Drawing(shapes.Box((PLATE * size, PLATE * size, THIN * size)), X, body, FAINT)


def drawn_ball(body: str, center: Any, radius: Any) -> shapes.Drawing:
    """A ball of a body with a kept center and radius."""
    return shapes.Drawing(shapes.Sphere(numbers_at(radius)), Transform(p=_column(center)), body, FAINT)


def drawn_link(law: Any) -> shapes.Link:
    """A line between the stations p_a and p_b of a constraint."""
    return shapes.Link(law.a, tuple(_column(law.p_a)), law.b, tuple(_column(law.p_b)))


def _column(kept: Any) -> Array:
    return np.ravel(numbers_at(kept)).astype(float)


def where(condition: SX, x: SX) -> SX:
    """x, or NaN unless a condition holds; likewise its derivatives."""
    return x * ca.if_else(condition, 1, float("nan"))


def unit(direction: Any) -> SX:
    """A kept direction as an expression of length one."""
    v = sx(direction)
    return v / ca.norm_2(v)
