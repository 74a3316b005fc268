"""Convex surfaces that users write, by their own function: their closest points are in overlap.py."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import field
from typing import Any

import casadi as ca

from condyle.contact.overlap import Pair, solver
from condyle.contact.rounded import ROUNDED, Rounded, rounded
from condyle.contact.solids import Ellipsoid, Framed
from condyle.contact.surfaces import Folded, HalfSpace, Length, Pose, Sphere, tangents
from condyle.contact.touch import Touch
from condyle.errors import DescriptionError, TraceError
from condyle.laws.described import sx
from condyle.native.solvers.implicit_function import implicit
from condyle.records import dataclass
from condyle.trace import Traced, trace
from condyle.trace.parameter import Expression


@dataclass(frozen=True, eq=False, repr=False)
class Implicit(Framed):
    """A convex surface where a smooth function of x, y, z is zero. It touches half-spaces, spheres,
    ellipsoids and its like.

    Args:
        body: whose it is, or its name.
        X: frame S on the body, whose origin is inside: a Transform, a 3-vector or None.
        function: f(x, y, z) -> a number, of coordinates in S [m]; negative inside, positive outside, twice
            differentiable. It is traced once, as functions of forces are.
        size: radius of a ball about the origin of S that holds the surface [m], above 0.
        material: a Material.
        name: how groups call it.
        cliques: names; surfaces that share one ignore each other in groups.
    """

    function: Callable[[Any, Any, Any], Any] | None = field(repr=False)
    size: Length
    material: Folded
    law: Traced = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        named = getattr(self.function, "__name__", type(self.function).__name__)
        what = f"Implicit({'lambda' if named == '<lambda>' else named})"
        if not callable(self.function):
            raise DescriptionError(f"{what}: expected a function of x, y, z [m], got {self.function!r}")
        size: Any = self.size
        law = trace(self.function, ("x", "y", "z"), what=what, outputs=(), ranges=[(-0.1, 0.1)] * 3)
        if law.outside or law.tables:
            raise TraceError(
                f"{what}: the function uses Parameters or tables; write it with numbers and formulas"
            )
        if isinstance(size, float):
            center, far = (float(law.function(*p)) for p in ((0, 0, 0), (ROUNDED * size, 0, 0)))
            if not center < 0 <= far:
                raise DescriptionError(
                    f"{what}: must be negative at the origin of S and not at (size, 0, "
                    f"0), got {center:g} and {far:g}; move X, or change the sign or "
                    f"size = {size:g}"
                )
        rounded(law, _plain(size), what)  # refuses what is not convex
        object.__setattr__(self, "law", law)
        object.__setattr__(self, "function", None)

    @property
    def points(self) -> Rounded:
        """Points all around."""
        return rounded(self.law, _plain(self.size), "Implicit")

    def check_parameters(self, values: Mapping[str, float]) -> None:
        super().check_parameters(values)
        size: Any = self.size
        if isinstance(size, Expression) and not size.at(values)[0, 0] >= self.points.least:
            raise DescriptionError(
                f"Implicit: size: must be at least {self.points.least:g} m, the furthest "
                f"of its points, got {size.at(values)[0, 0]:g}"
            )

    def conditions(self) -> ca.SX:
        return ca.vertcat(super().conditions(), sx(self.size) >= self.points.least)

    @property
    def form(self) -> Hashable:
        return type(self).__name__, self.law.text

    def description(self) -> str:
        return f"{super().description()} {self.law.text}"


def _plain(size: Any) -> float:
    return float(size.at()[0, 0]) if isinstance(size, Expression) else size


def plane_implicit(a: HalfSpace, A: Pose, b: Implicit, B: Pose) -> Touch:
    """The frame of the plane has its normal along x, and its origin below that of b."""
    n, height = a.plane(A)
    p = b.frame(B)[1]
    R = ca.horzcat(n, *tangents(n))
    return _overlap(b, B, R, p - (ca.dot(n, p) - height) * n, ca.SX(0, 1), "plane").flipped


def sphere_implicit(a: Sphere, A: Pose, b: Implicit, B: Pose) -> Touch:
    return _overlap(b, B, ca.SX.eye(3), a.center_at(A), sx(a.radius), "sphere").flipped


def ellipsoid_implicit(a: Ellipsoid, A: Pose, b: Implicit, B: Pose) -> Touch:
    return _overlap(b, B, *a.frame(A), sx(a.radii), "ellipsoid").flipped


def implicit_implicit(a: Implicit, A: Pose, b: Implicit, B: Pose) -> Touch:
    return _overlap(a, A, *b.frame(B), sx(b.size), b.law, b.points)


def _overlap(
    a: Implicit,
    A: Pose,
    R_b: ca.SX,
    p_b: ca.SX,
    numbers: ca.SX,
    which: Traced | str,
    other: Rounded | None = None,
) -> Touch:
    R_a, p_a = a.frame(A)
    R, c = R_a.T @ R_b, R_a.T @ (p_b - p_a)
    given = ca.vertcat(sx(a.size), ca.vec(R), c, numbers)
    pair = Pair(a.law, which)
    row = implicit(solver(a.law, which, given.numel(), a.points, other), pair.residual, given, unknowns=4)
    p, x = row[:3], row[3]
    n, K_a = pair.surface(p, given, first=True)
    _, K_b = pair.surface(p - x * n, given, first=False)
    gap = R_a @ (K_a + K_b) @ R_a.T
    return Touch(x, R_a @ n, p_a + R_a @ p, 2 / ca.trace(gap), gap, True)
