"""Surfaces defined by users as the zeros of any smooth function.

    def egg(x, y, z):
        return (x / 0.03)**2 + (y / 0.02)**2 * (1 + 10 * x) + (z / 0.02)**2 - 1

    cd.paths.Wrap(cd.paths.ImplicitSurface(egg), "humerus")

Whether a path goes over it is the rule of ellipsoids: its chord passes through, its ends are outside. The
geodesic is found by shooting.py.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import field
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array
from condyle.errors import DescriptionError, TraceError
from condyle.laws.described import text
from condyle.paths.cylinder_sphere import MANDATORY, NONE, Quadrant
from condyle.paths.segment import across_to, cross, dot, norm, unit
from condyle.paths.shooting import Level, Shooting, Start
from condyle.paths.wrap_surfaces import Surface
from condyle.records import dataclass
from condyle.shapes import Drawing
from condyle.shapes.meshes import zero_surface
from condyle.spatial.algebra import all_of
from condyle.trace import Symbol, Traced, trace

DIRECTIONS = 16
"""Number of directions across a chord in which the shortest way out is searched."""


def chord(level: Level, A: SX, B: SX, numbers: SX) -> tuple[SX, SX]:
    """Its deepest point, and OpenSim's rule: MANDATORY if that is inside and the ends are not, else NONE."""
    C = level.deepest(A, B, numbers)
    inside = level.value(C, numbers) < 0
    outside = all_of(level.value(A, numbers) >= 0, level.value(B, numbers) >= 0)
    return C, ca.if_else(all_of(inside, outside), MANDATORY, NONE)


def start(level: Level, p: SX) -> Start:
    """Half-planes about the chord; the first toward the surface point that is closest to its deepest point,
    by the quadratic at that point; mirrored if the quadrant excludes it."""
    A, B, numbers, quadrant = (
        p[:3],
        p[3:6],
        p[6 : 6 + level.count],
        Quadrant(p[6 + level.count : 9 + level.count]),
    )
    C, kind = chord(level, A, B, numbers)
    k = unit(B - A)
    f, g, H = level.at(C, numbers)
    u = across_to(k)
    v = cross(k, u)
    best, d, reach = ca.SX(-np.inf), u, ca.SX(1)
    for i in range(DIRECTIONS):
        angle = 2 * np.pi * i / DIRECTIONS
        e = np.cos(angle) * u + np.sin(angle) * v
        slope = dot(g, e)
        w = slope + ca.sqrt(ca.fmax(slope * slope - 2 * f * dot(e, H @ e), 0))
        d, best = ca.if_else(w > best, e, d), ca.fmax(w, best)
    reach = -2 * f / ca.fmax(best, 1e-300)
    c = C + ca.fmin(reach, norm(B - A)) * d
    forced = all_of(ca.logic_not(quadrant.all), ca.logic_not(quadrant.has(c)))
    other = c - 2 * dot(c, quadrant.c) * quadrant.c - C
    other = other - dot(other, k) * k
    d = ca.if_else(forced, unit(other), d)
    rho = norm(C - A)
    return Start(kind, k, d, ca.SX(0), rho, forced, norm(B - A), ca.SX(0))


FAR = 1e3 * (np.array([p for p in np.ndindex(3, 3, 3) if p != (1, 1, 1)]) - 1.0)
"""Points far away in all directions [m]."""
KINKS = {
    ca.OP_FABS: "abs",
    ca.OP_SIGN: "sign",
    ca.OP_FLOOR: "floor",
    ca.OP_CEIL: "ceil",
    ca.OP_FMIN: "minimum",
    ca.OP_FMAX: "maximum",
    ca.OP_FMOD: "mod",
}
"""Operations whose derivatives jump."""


@dataclass(frozen=True, eq=False, repr=False)
class ImplicitSurface(Surface):
    """The surface where a smooth function of x, y, z is zero.

    A path goes over it if the straight line between its points passes through it, and touches it once: if the
    surface is hollow below the geodesic, or has several hills in a row, the length is NaN.

    Args:
        function: f(x, y, z) -> a number, of coordinates in S [m]; negative inside, positive outside; twice
            differentiable with a gradient on the surface. It is traced once, like functions of forces.
        quadrant: see Surface.
    """

    other_names = ("Implicit",)

    function: Callable[[Symbol, Symbol, Symbol], object] | None
    law: Traced = field(init=False, repr=False)

    several = False

    def drawn(self, size: float) -> list[Drawing]:
        shape = zero_surface(lambda p: self.law.function.map(len(p))(*p.T).full().ravel(), size)
        return [] if shape is None else [Drawing(shape)]

    def __post_init__(self) -> None:
        super().__post_init__()
        named = getattr(self.function, "__name__", type(self.function).__name__)
        what = f"ImplicitSurface({'lambda' if named == '<lambda>' else named})"
        if not callable(self.function):
            raise DescriptionError(f"{what}: expected a function of x, y, z [m], got {self.function!r}")
        law = trace(self.function, ("x", "y", "z"), what=what, outputs=(), ranges=[(-0.1, 0.1)] * 3)
        if law.outside or law.tables:
            names = ", ".join(repr(s.name) for s in law.outside) or "a table, such as a Spline"  # type: ignore[attr-defined]
            raise TraceError(
                f"{what}: the function uses {names}; its geodesics have no derivatives by Parameters, and "
                "cannot use tables: write it with numbers and formulas"
            )
        f = law.function
        if kinks := sorted(
            {KINKS[f.instruction_id(i)] for i in range(f.n_instructions()) if f.instruction_id(i) in KINKS}
        ):
            raise TraceError(
                f"{what}: the function uses {', '.join(kinks)}, whose derivatives jump, but geodesics need a "
                "curvature everywhere; write x**4 instead of abs(x)**4, for example"
            )
        x = ca.SX.sym("x", 3)
        if not ca.depends_on(law.apply(*ca.vertsplit(x)), x):
            raise TraceError(
                f"{what}: the function does not depend on x, y, z; there is no surface where it is zero"
            )
        far = [float(law.function(*p)) for p in FAR] if law.function.n_in() == 3 else [1.0]
        if max(far) < 0:
            raise DescriptionError(
                f"{what}: the function is negative far away in all directions; it must be "
                "negative inside and positive outside: write it with the other sign"
            )
        object.__setattr__(self, "law", law)

    def numbers(self) -> SX:
        return ca.SX(0, 1)

    @property
    def signature(self) -> Hashable:
        return type(self), self.law

    def rule(self, A: SX, B: SX) -> tuple[SX, SX]:
        return chord(_shooting(self.law).level, A, B, self.numbers())[1], ca.SX(0)

    def row(self, A: SX, B: SX) -> SX:
        return _shooting(self.law).row(self.solver_input(A, B))

    def along(self, P: Array, Q: Array, e_in: Array, e_out: Array, arc: Array, s: Array) -> Array:
        return _shooting(self.law).level.geodesic(P, e_in, arc, s)

    def description(self) -> str:
        return f"ImplicitSurface({self.law.text}, quadrant={text(self.quadrant)})"

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"function": None}

    def __repr__(self) -> str:
        return self.law.what


@lru_cache(maxsize=64)
def _shooting(law: Traced) -> Shooting:
    level = Level(lambda x, _: law.apply(*ca.vertsplit(x)))
    return Shooting("implicit", level, lambda p: start(level, p))
