"""Surfaces that a path may wrap over, each in its own frame S.

A surface decides by OpenSim's rules whether a path between two points goes over it and on which side, and
finds the geodesic: a row of numbers (segment.py) from a solver that is compiled once for all surfaces of its
kind.

A new surface is a subclass with numbers, rule and row, and its signature if its equations are not determined
by its class.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import field, replace
from functools import cache
from typing import Annotated, Any, ClassVar

import casadi as ca
import numpy as np

import condyle.shapes as shapes
from condyle.arrays import SX, Array
from condyle.errors import DescriptionError
from condyle.laws.described import Datum, Described, quantity, sx
from condyle.laws.factors import times
from condyle.native.solvers.solver import Solver
from condyle.native.tables.lookup import look_up
from condyle.paths import cylinder_sphere
from condyle.paths.cylinder_sphere import NONE
from condyle.paths.ellipsoid_length import LeastLength, Resumed
from condyle.paths.segment import ROW, Segment, dot, norm, straight
from condyle.records import dataclass
from condyle.shapes import Drawing
from condyle.spatial.algebra import all_of, any_of
from condyle.trace import Number, Numbers
from condyle.trace.parameter import Expression, numbers_at

QUADRANTS = {
    "all": (0, 0, 0),
    "x": (1, 0, 0),
    "-x": (-1, 0, 0),
    "y": (0, 1, 0),
    "-y": (0, -1, 0),
    "z": (0, 0, 1),
    "-z": (0, 0, -1),
}
DIRECTION = quantity("-", 3)
WIDTH = 1 + ROW + 6
"""Numbers of a row: the rule's result, the segment, and the ends A, B for which it was found."""


@dataclass(frozen=True, eq=False, repr=False)
class Surface(Described):
    """A surface in its frame S.

    Attributes:
        quadrant: the half of the surface that a path may pass over, by an axis of S: "x", "-x", .., "-z"; or
            "all". Or a direction in S, shape (3,): with a `cd.Discrete` in it, (0, cd.Discrete("side", 1.0),
            0), a path keeps its side until the variable is changed.
    """

    quadrant: str | Numbers = field(default="all", kw_only=True)

    room = "paths."
    several: ClassVar[bool] = True  # may say WRAPPED beside MANDATORY
    every_order: ClassVar[bool] = False  # lengths have third derivatives too, if a surface provides them
    knows: ClassVar[bool] = False  # third derivatives
    closed: ClassVar[bool] = False  # a row takes no longer than the rule
    memory: ClassVar[int] = 0  # numbers from which a search for ends nearby goes on

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.quadrant, str):
            kept = DIRECTION.take(self.quadrant, f"{type(self).__name__}: quadrant")
            if isinstance(kept, (tuple, np.ndarray)) and not np.any(kept):
                raise DescriptionError(
                    f"{type(self).__name__}: quadrant: a direction of length 0 has no "
                    'side; "all" is every side'
                )
            object.__setattr__(self, "quadrant", kept)
        elif self.quadrant not in QUADRANTS:
            raise DescriptionError(
                f"{type(self).__name__}: quadrant must be one of {', '.join(QUADRANTS)}, "
                f"or a direction of three numbers, got {self.quadrant!r}"
            )

    def scaled_along(self, along: Array, body: Array) -> Surface:
        """The surface on a scaled body.

        Args:
            along: factors along its own axes x, y, z, shape (3,).
            body: factors along the axes of its body, shape (3,).
        """
        raise DescriptionError(
            f"surface {self!r} cannot be scaled, and its body has the factors {body}; give that body the "
            "factors 1"
        )

    def drawn(self, size: float) -> Sequence[Drawing]:
        """Shapes that a viewer draws in S: none by default.

        Args:
            size: of the scene [m], for surfaces without a size.
        """
        return ()

    def numbers(self) -> SX:
        """Input of solvers besides A and B, a column."""
        raise TypeError(f"{type(self).__name__} needs numbers")

    @property
    def signature(self) -> Hashable:
        """Surfaces with equal signatures have the same equations: only their `numbers` and quadrants
        differ."""
        return type(self), bool(self.parameters())

    def solver_input(self, A: SX, B: SX) -> SX:
        """Input of a solver: A, B, numbers, quadrant."""
        return ca.vertcat(A, B, self.numbers(), self.side())

    def side(self) -> SX:
        """The quadrant as a direction of unit length, or zero for all, shape (3,)."""
        if isinstance(self.quadrant, Datum):
            return self.quadrant.sx
        if isinstance(self.quadrant, str):
            return ca.densify(ca.SX(QUADRANTS[self.quadrant]))
        c = ca.densify(ca.vec(sx(self.quadrant)))
        return c / norm(c)

    def rule(self, A: SX, B: SX) -> tuple[SX, SX]:
        """NONE, WRAPPED or MANDATORY for ends in S, and the excess of the path over the straight line [m]."""
        raise TypeError(f"{type(self).__name__} needs a rule")

    def near(self, A: SX, B: SX) -> SX:
        """Zero only if the rule gives NONE: a quick check before it is evaluated."""
        return self.rule(A, B)[0] != NONE

    def row(self, A: SX, B: SX) -> SX:
        """The row for ends in S, shape (WIDTH,); all NaN if no geodesic was found."""
        raise TypeError(f"{type(self).__name__} needs a row")

    def sketched(self, A: SX, B: SX) -> tuple[SX, SX, SX]:
        """The row, perhaps a rough one, its residual, and the memory."""
        return self.row(A, B), ca.SX(0), ca.SX.zeros(self.memory)

    def resumed(self, A: SX, B: SX, memory: SX, near: SX) -> tuple[SX, SX, SX]:
        """As `sketched`. If the ends are `near` those of the memory, a search may continue from it: by a step
        or two if `near` is 1, to its end if it is 2. Else it starts from the beginning."""
        return self.sketched(A, B)

    def over(self, A: SX, B: SX, row: SX) -> SX:
        """The length between ends in S from their row, with its derivatives [m]."""
        return Segment.from_row(row[1:]).moving(A - row[WIDTH - 6 : WIDTH - 3], B - row[WIDTH - 3 :])[0]

    def along(self, P: Array, Q: Array, e_in: Array, e_out: Array, arc: Array, s: Array) -> Array:
        """Points of an arc in S, for drawing, shape (..., 3): a cubic with its ends and tangents, unless a
        subclass overrides it.

        Args:
            P: first end [m], shape (..., 3).
            Q: last end [m], shape (..., 3).
            e_in: tangent at P, shape (..., 3).
            e_out: tangent at Q, shape (..., 3).
            arc: its length [m], shape (..., 1).
            s: from 0 at P to 1 at Q, shape (..., 1).
        """
        return (
            (1 + 2 * s) * (1 - s) ** 2 * P
            + s * (1 - s) ** 2 * arc * e_in
            + s**2 * (3 - 2 * s) * Q
            - s**2 * (1 - s) * arc * e_out
        )


@dataclass(frozen=True, eq=False, repr=False)
class _Round(Surface):
    """A surface whose geodesics have closed forms."""

    knows = closed = True

    def rule(self, A: SX, B: SX) -> tuple[SX, SX]:
        row = self.row(A, B)
        return row[0], row[1] - ca.sqrt(ca.fmax(dot(B - A, B - A), 0))

    def near(self, A: SX, B: SX) -> SX:
        p = self.solver_input(A, B)
        near = getattr(cylinder_sphere, f"{type(self).__name__.lower()}_near")
        # of numbers, of which models have many, by a function: four milliseconds less
        return ca.SX(_function(near, p.numel())(ca.DM(p))) if p.is_constant() else near(p)

    def row(self, A: SX, B: SX) -> SX:
        p = self.solver_input(A, B)
        return look_up(_closed_form(type(self).__name__.lower(), p.numel()), p)[:WIDTH]

    def over(self, A: SX, B: SX, row: SX) -> SX:
        if self.every_order:
            length = getattr(cylinder_sphere, f"{type(self).__name__.lower()}_length")
            return length(A, B, self.numbers()[0], Segment.from_row(row[1:]))
        if not self.parameters():
            return super().over(A, B, row)
        # a row has no derivatives by sizes
        return getattr(cylinder_sphere, type(self).__name__.lower())(self.solver_input(A, B))[1].L


@cache
def _function(law: Callable[[SX], SX], needs: int) -> ca.Function:
    p = ca.SX.sym("p", needs)
    return ca.Function("law", [p], [law(p)])


@cache
def _closed_form(name: str, needs: int) -> Solver:
    """A closed form as a solver: compiled once, with a row that is constant for derivatives. It is evaluated
    only if the path comes near."""

    def found(p: SX) -> SX:
        kind, segment = getattr(cylinder_sphere, name)(p)
        return ca.vertcat(kind, segment.row, p[:6])

    def idle(p: SX) -> tuple[SX, SX]:
        row = ca.vertcat(NONE, straight(p[:3], p[3:6]).row, p[:6])
        return row, getattr(cylinder_sphere, f"{name}_near")(p)

    return Solver.trace(
        f"path_{name}",
        needs,
        lambda p: (ca.SX.zeros(1), ca.SX(0)),
        lambda p, x: (x, ca.SX(0)),
        lambda p, x: found(p),
        0,
        idle=idle,
    )


@dataclass(frozen=True, eq=False, repr=False)
class Cylinder(_Round):
    """A cylinder that paths wrap over, about the z axis of S, half of its length above the origin and half
    below. (`cd.Cylinder` is a joint, `cd.contact.Cylinder` touches, `cd.shapes.Cylinder` is only drawn.)

    Args:
        radius: [m], positive.
        length: along z [m], positive. A path whose tangent points both lie beyond it does not wrap.
        quadrant: see Surface.
    """

    other_names = ("WrapCylinder",)

    radius: Annotated[Number, quantity("m", lowest=0.0, positive=True)]
    length: Annotated[Number, quantity("m", lowest=0.0, positive=True, infinite=True)] = float("inf")

    def numbers(self) -> SX:
        return ca.vertcat(sx(self.radius), sx(self.length))

    def scaled_along(self, along: Array, body: Array) -> Cylinder:
        """Its radius is scaled by the mean of the factors along x and y."""
        return replace(self, radius=times(self.radius, along[:2].mean()), length=times(self.length, along[2]))

    def drawn(self, size: float) -> list[Drawing]:
        half = min(numbers_at(self.length), 0.3 * size) / 2
        return [Drawing(shapes.Cylinder(numbers_at(self.radius), half))]

    def along(self, P: Array, Q: Array, e_in: Array, e_out: Array, arc: Array, s: Array) -> Array:
        """A helix."""
        flat, up = P * [1, 1, 0], np.cross(np.broadcast_to([0.0, 0.0, 1.0], P.shape), P * [1, 1, 0])
        r = np.linalg.norm(flat, axis=-1, keepdims=True)
        turn = s * np.sum(e_in * up, axis=-1, keepdims=True) / r**2 * arc
        return flat * np.cos(turn) + up * np.sin(turn) + (P + s * (Q - P)) * [0, 0, 1]


@dataclass(frozen=True, eq=False, repr=False)
class Sphere(_Round):
    """A sphere that paths wrap over, about the origin of S. (`cd.contact.Sphere` touches other surfaces,
    `cd.shapes.Sphere` is only drawn.)

    Args:
        radius: [m], positive.
        quadrant: see Surface.
    """

    other_names = ("WrapSphere",)

    radius: Annotated[Number, quantity("m", lowest=0.0, positive=True)]

    def numbers(self) -> SX:
        return sx(self.radius)

    def scaled_along(self, along: Array, body: Array) -> Sphere:
        """Its radius is scaled by the mean of the body's factors."""
        return replace(self, radius=times(self.radius, body.mean()))

    def drawn(self, size: float) -> list[Drawing]:
        return [Drawing(shapes.Sphere(numbers_at(self.radius)))]

    def along(self, P: Array, Q: Array, e_in: Array, e_out: Array, arc: Array, s: Array) -> Array:
        """A great circle."""
        r = np.linalg.norm(P, axis=-1, keepdims=True)
        return P * np.cos(s * arc / r) + r * e_in * np.sin(s * arc / r)


@dataclass(frozen=True, eq=False, repr=False)
class Ellipsoid(Surface):
    """An ellipsoid that paths wrap over, about the origin of S, its axes along those of S: ruggiero2020 (26).
    (`cd.Ellipsoid` is a joint, `cd.contact.Ellipsoid` touches, `cd.shapes.Ellipsoid` is only drawn.)

    Args:
        radii: half axes [m], shape (3,), positive. Parameters are not allowed, because geodesics have no
            derivatives by them.
        quadrant: see Surface.
    """

    other_names = ("WrapEllipsoid",)

    radii: Annotated[Numbers, quantity("m", 3, lowest=0.0, positive=True)]

    several = False
    memory = 1 + Resumed.memory

    def scaled_along(self, along: Array, body: Array) -> Ellipsoid:
        return replace(self, radii=times(self.radii, along))

    def drawn(self, size: float) -> list[Drawing]:
        return [Drawing(shapes.Ellipsoid(np.ravel(numbers_at(self.radii))))]  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        super().__post_init__()
        radii: Any = self.radii
        held = radii.parameters if isinstance(radii, Expression) else ()
        if names := sorted({p.name for p in held}):
            raise DescriptionError(
                "Ellipsoid: radii: expected numbers [m], got Parameters "
                f"({', '.join(names)}), by which its geodesics have no derivatives; the "
                "radius of a Cylinder or a Sphere may be one"
            )

    def numbers(self) -> SX:
        return sx(self.radii)

    def along(self, P: Array, Q: Array, e_in: Array, e_out: Array, arc: Array, s: Array) -> Array:
        """The cubic, projected to the surface along rays from the center."""
        x = super().along(P, Q, e_in, e_out, arc, s)
        return x / np.linalg.norm(x / np.array(self.radii), axis=-1, keepdims=True)

    def rule(self, A: SX, B: SX) -> tuple[SX, SX]:
        from condyle.paths.ellipsoid_ends import EllipsoidEnds

        return EllipsoidEnds(self.solver_input(A, B)).kind, ca.SX(0)

    def row(self, A: SX, B: SX) -> SX:
        return self._searched(A, B)[0]

    def _searched(self, A: SX, B: SX) -> tuple[SX, SX]:
        """The row, and the memory."""

        from condyle.paths.ellipsoid_halves import solvers

        p = self.solver_input(A, B)
        coarse, finer, halves, _ = solvers()
        first = look_up(coarse, p)
        second = look_up(finer, ca.vertcat(p, first[:-1]))
        found = look_up(halves, ca.vertcat(p, second[:-1]))
        bad = all_of(found[0] != NONE, ca.logic_not(found[WIDTH]))
        memory = ca.vertcat(all_of(first[0] != NONE, first[WIDTH]), first[LeastLength.width - 6 : -1])
        return ca.if_else(bad, float("nan"), found[:WIDTH]), memory

    def sketched(self, A: SX, B: SX) -> tuple[SX, SX, SX]:
        from condyle.paths.ellipsoid_halves import solvers

        found = look_up(solvers()[0], self.solver_input(A, B))
        ok = all_of(found[0] != NONE, found[WIDTH])
        return found[:WIDTH], ca.logic_not(found[WIDTH]), ca.vertcat(ok, found[LeastLength.width - 6 : -1])

    def resumed(self, A: SX, B: SX, memory: SX, near: SX) -> tuple[SX, SX, SX]:
        from condyle.paths.ellipsoid_halves import solvers

        go = ca.if_else(memory[0], near, 0)
        found = look_up(solvers()[3], ca.vertcat(self.solver_input(A, B), memory[1:], go))
        good = found[WIDTH + 1]
        enough = all_of(go, any_of(good > 0, found[0] == NONE))
        on = found[:WIDTH], found[WIDTH], ca.vertcat(good, found[WIDTH + 2 : -1])
        row, kept = self._searched(A, ca.if_else(enough, A, B))
        anew = row, ca.SX(0), kept
        return tuple(ca.if_else(enough, x, y) for x, y in zip(on, anew, strict=True))  # type: ignore[return-value]
