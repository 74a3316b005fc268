"""Convex surfaces that users write, by their own function: docs/theory/contact.md (37)-(40).

With f_a(p) < 0 inside of a, n_a = grad f_a / |grad f_a|, and the same for b, all in the frame S of a, the
deepest point p of a and the depth x solve

    f_a(p) / |grad f_a| = 0,   f_b(p - x n_a) / |grad f_b| = 0                                            (37)
    t_1 . n_b = t_2 . n_b = 0  at p - x n_a,  t_1, t_2 across n_a                                         (38)

Four equations that are regular where the surfaces touch, overlap or are apart, as long as one of them is
curved. Newton's method from the point where the line from the origin of S towards b leaves a; a step that
makes the residual larger is shortened. Where it does not end, or ends at the far side of a surface, the
result is NaN.
"""
from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import casadi as ca

from condyle.contact.solids import Ellipsoid, Framed
from condyle.contact.surfaces import Folded, HalfSpace, Length, Pose, Sphere, tangents
from condyle.contact.touch import Touch
from condyle.errors import DescriptionError, TraceError
from condyle.laws.described import sx
from condyle.native.sweeps.implicit import implicit
from condyle.native.sweeps.solver import Solver
from condyle.trace import Traced, trace

LIMIT, NEAR = 60, 1e-9
"""Steps at most; the last one over the size of a."""
OUTWARDS = 8
"""Newton's steps along the first line."""
Level = Callable[[ca.SX, ca.SX], ca.SX]


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

    function: Callable[[Any, Any, Any], Any] | None
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
            raise TraceError(f"{what}: the function uses Parameters or tables; write it with numbers and "
                             "formulas")
        if isinstance(size, float):
            centre, far = (float(law.function(*p)) for p in ((0, 0, 0), (size, 0, 0)))
            if not centre < 0 <= far:
                raise DescriptionError(f"{what}: must be negative at the origin of S and not at (size, 0, "
                                       f"0), got {centre:g} and {far:g}; move X, or change the sign or "
                                       f"size = {size:g}")
        object.__setattr__(self, "law", law)
        object.__setattr__(self, "function", None)

    @property
    def form(self) -> Hashable:
        return type(self).__name__, self.law.text

    def description(self) -> str:
        return f"{super().description()} {self.law.text}"


def _sphere(z: ca.SX, numbers: ca.SX) -> ca.SX:
    return (ca.sumsqr(z) - numbers[0] ** 2) / 2


def _plane(z: ca.SX, numbers: ca.SX) -> ca.SX:
    return z[0]


def _ellipsoid(z: ca.SX, numbers: ca.SX) -> ca.SX:
    return (ca.sumsqr(z / numbers[:3]) - 1) / 2


LEVELS: dict[str, Level] = {"sphere": _sphere, "plane": _plane, "ellipsoid": _ellipsoid}
"""What an implicit surface may touch beside its like: functions of a point and some numbers."""


def _level(which: Traced | str) -> Level:
    if isinstance(which, str):
        return LEVELS[which]
    f = which.function
    return lambda z, numbers: f.call([z[0], z[1], z[2]], True, False)[0]


def plane_implicit(a: HalfSpace, A: Pose, b: Implicit, B: Pose) -> Touch:
    """The frame of the plane has its normal along x, and its origin below that of b."""
    n, height = a.plane(A)
    p = b.frame(B)[1]
    R = ca.horzcat(n, *tangents(n))
    return _overlap(b, B, R, p - (ca.dot(n, p) - height) * n, ca.SX(0, 1), "plane").flipped


def sphere_implicit(a: Sphere, A: Pose, b: Implicit, B: Pose) -> Touch:
    return _overlap(b, B, ca.SX.eye(3), a.centre_at(A), sx(a.radius), "sphere").flipped


def ellipsoid_implicit(a: Ellipsoid, A: Pose, b: Implicit, B: Pose) -> Touch:
    return _overlap(b, B, *a.frame(A), sx(a.radii), "ellipsoid").flipped


def implicit_implicit(a: Implicit, A: Pose, b: Implicit, B: Pose) -> Touch:
    return _overlap(a, A, *b.frame(B), ca.SX(0, 1), b.law)


def _overlap(a: Implicit, A: Pose, R_b: ca.SX, p_b: ca.SX, numbers: ca.SX,
             which: Traced | str) -> Touch:
    R_a, p_a = a.frame(A)
    R, c = R_a.T @ R_b, R_a.T @ (p_b - p_a)
    given = ca.vertcat(sx(a.size), ca.vec(R), c, numbers)
    pair = _Pair(a.law, which)
    row = implicit(_solver(a.law, which, given.numel()), pair.residual, given, unknowns=4)
    p, x = row[:3], row[3]
    n, K_a = pair.surface(p, given, first=True)
    _, K_b = pair.surface(p - x * n, given, first=False)
    gap = R_a @ (K_a + K_b) @ R_a.T
    return Touch(x, R_a @ n, p_a + R_a @ p, 2 / ca.trace(gap), gap, True)


class _Pair:
    """Two levels in the frame of the first; given = size of a, R_ab, c, numbers of b."""

    def __init__(self, a: Traced | str, b: Traced | str) -> None:
        self.f_a, self.f_b = _level(a), _level(b)

    def value(self, z: ca.SX, given: ca.SX, first: bool) -> ca.SX:
        if first:
            return self.f_a(z, given)
        return self.f_b(ca.reshape(given[1:10], 3, 3).T @ (z - given[10:13]), given[13:])

    def derivatives(self, z: ca.SX, given: ca.SX, first: bool) -> list[ca.SX]:
        """Value, gradient and Hessian of a level at z."""
        y = ca.SX.sym("y", 3)
        f = self.value(y, given, first)
        H, g = ca.hessian(f, y)
        return ca.substitute([f, ca.densify(g), ca.densify(H)], [y], [ca.densify(z)])

    def surface(self, z: ca.SX, given: ca.SX, first: bool) -> tuple[ca.SX, ca.SX]:
        """Normal and curvature tensor [1/m] at z."""
        _, g, H = self.derivatives(z, given, first)
        length = ca.norm_2(g)
        n = g / length
        P = ca.SX.eye(3) - n @ n.T
        return n, P @ H @ P / length

    def residual(self, y: ca.SX, given: ca.SX) -> ca.SX:
        """(37), (38), of y = (p, x)."""
        f_a, g_a, _ = self.derivatives(y[:3], given, True)
        n_a = g_a / ca.norm_2(g_a)
        f_b, g_b, _ = self.derivatives(y[:3] - y[3] * n_a, given, False)
        n_b = g_b / ca.norm_2(g_b)
        t = tangents(n_a)
        return ca.vertcat(f_a / ca.norm_2(g_a), f_b / ca.norm_2(g_b), *(given[0] * ca.dot(e, n_b) for e in t))


@lru_cache(maxsize=64)
def _solver(a: Traced, b: Traced | str, needs: int) -> Solver:
    """given -> p, x. State: p and x, the residual's size there, the step from it."""
    pair = _Pair(a, b)

    def start(given: ca.SX) -> tuple[ca.SX, ca.SX]:
        c, size = given[10:13], given[0]
        away = ca.norm_2(c)
        # towards b; where its origin is inside, towards its surface
        _, g, _ = pair.derivatives(ca.SX(3, 1), given, False)
        w = ca.if_else(away > 1e-6 * size, c / ca.fmax(away, 1e-300), -g / ca.norm_2(g))
        w = ca.if_else(ca.SX(b == "plane"), -given[1:4], w)
        rho = size
        for _ in range(OUTWARDS):
            f, g, _ = pair.derivatives(rho * w, given, True)
            rho = ca.fmax(rho - f / ca.dot(g, w), 1e-3 * size)
        p = rho * w
        f, g, _ = pair.derivatives(p, given, False)
        found = ca.vertcat(p, -f / ca.norm_2(g), ca.inf, ca.SX(4, 1))
        return found, ca.if_else(away < ca.inf, 1, ca.SX.nan())

    def step(given: ca.SX, state: ca.SX) -> tuple[ca.SX, ca.SX]:
        y, before, s, size = state[:4], state[4], state[5:], given[0]
        trial = y + s
        z = ca.SX.sym("z", 4)
        r = pair.residual(z, given)
        r, J = ca.substitute([r, ca.densify(ca.jacobian(r, z))], [z], [trial])
        error = ca.norm_2(r)
        worse = ca.logic_not(error <= before)
        newton = -ca.solve(J, r)
        long = ca.norm_2(newton)
        newton = newton * ca.if_else(long > 0.3 * size, 0.3 * size / long, 1)
        kept = ca.if_else(worse, ca.vertcat(y, before, s / 3), ca.vertcat(trial, error, newton))
        far = ca.norm_2(kept[5:]) > NEAR * size
        # steps are short and the residual is not: there is no root here
        lost = ca.logic_and(ca.logic_not(far), kept[4] > 1e-6 * size)
        return kept, ca.if_else(lost, ca.SX.nan(), far)

    def finish(given: ca.SX, state: ca.SX) -> ca.SX:
        y = state[:4] + state[5:]
        n_a, _ = pair.surface(y[:3], given, True)
        n_b, _ = pair.surface(y[:3] - y[3] * n_a, given, False)
        return ca.if_else(ca.dot(n_a, n_b) < 0, y, ca.SX.nan())             # the near sides face each other

    return Solver.of("overlap_of_implicit", needs, start, step, finish, LIMIT)
