"""Convex surfaces that users write, by their own function: docs/theory/contact.md (37)-(40).

With f_a(p) < 0 inside of a, n_a = grad f_a / |grad f_a|, and the same for b, all in the frame S of a, the
deepest point p of a and the depth x solve

    f_a(p) / |grad f_a| = 0,   f_b(p - x n_a) / |grad f_b| = 0                                            (37)
    t_1 . n_b = t_2 . n_b = 0  at p - x n_a,  t_1, t_2 across n_a                                         (38)

Four equations that are regular where the surfaces touch, overlap or are apart, as long as one of them is
curved. Newton's method from the point where the line from the origin of S towards b leaves a; a step that
makes the residual larger is shortened (39). Roots are stationary overlaps. A root is a minimum where

    x S < 1,   S = K_b (K_a + K_b)^-1 K_a                                                                (39a)

with the curvatures K in the tangent plane, and the only one where x is below the smallest radii of curvature
of a and b together (36a). Where it is neither, the steps begin again, up to LOOKS times, at the points of a,
of some all around, whose normals have the least overlap, and the least minimum counts. Where none is found,
or the overlap along one of those normals is less, the result is NaN (40).
"""
from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import field
from functools import lru_cache
from typing import Any

import casadi as ca

from condyle.contact.rounded import Rounded, rounded
from condyle.contact.solids import Ellipsoid, Framed
from condyle.contact.surfaces import Folded, HalfSpace, Length, Pose, Sphere, tangents
from condyle.contact.touch import Touch
from condyle.errors import DescriptionError, TraceError
from condyle.laws.described import sx
from condyle.native.sweeps.implicit import implicit
from condyle.native.sweeps.lookup import get
from condyle.native.sweeps.solver import Solver
from condyle.native.sweeps.tree_best import TreeBest
from condyle.records import dataclass
from condyle.trace import Traced, trace
from condyle.trace.parameter import Expression

LIMIT, NEAR = 60, 1e-9
"""Steps at most; the last one over the size of a."""
OUTWARDS = 8
"""Newton's steps along the first line."""
AWAY, NEARLY, LOOKS = 0.995, 1.05, 12
"""Cosine from which on normals are near each other; overlaps up to this factor are worth a look; looks."""
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
        rounded(law, _plain(size), what)                                      # refuses what is not convex
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
            raise DescriptionError(f"Implicit: size: must be at least {self.points.least:g} m, the furthest "
                                   f"of its points, got {size.at(values)[0, 0]:g}")

    def conditions(self) -> ca.SX:
        return ca.vertcat(super().conditions(), sx(self.size) >= self.points.least)

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


def _plain(size: Any) -> float:
    return float(size.at()[0, 0]) if isinstance(size, Expression) else size


LEVELS: dict[str, Level] = {"sphere": _sphere, "plane": _plane, "ellipsoid": _ellipsoid}
"""What an implicit surface may touch beside its like: functions of a point and some numbers."""


SUPPORTS: dict[Traced | str, Level] = {
    "sphere": lambda m, numbers: numbers[0] * m,
    "ellipsoid": lambda m, numbers: numbers[:3] ** 2 * m / ca.norm_2(numbers[:3] * m)}
"""The furthest point in a direction of the frame of b."""


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
    return _overlap(a, A, *b.frame(B), ca.SX(0, 1), b.law, b.points)


def _overlap(a: Implicit, A: Pose, R_b: ca.SX, p_b: ca.SX, numbers: ca.SX,
             which: Traced | str, other: Rounded | None = None) -> Touch:
    R_a, p_a = a.frame(A)
    R, c = R_a.T @ R_b, R_a.T @ (p_b - p_a)
    given = ca.vertcat(sx(a.size), ca.vec(R), c, numbers)
    pair = _Pair(a.law, which)
    row = implicit(_solver(a.law, which, given.numel(), a.points, other), pair.residual, given, unknowns=4)
    p, x = row[:3], row[3]
    n, K_a = pair.surface(p, given, first=True)
    _, K_b = pair.surface(p - x * n, given, first=False)
    gap = R_a @ (K_a + K_b) @ R_a.T
    return Touch(x, R_a @ n, p_a + R_a @ p, 2 / ca.trace(gap), gap, True)


class _Pair:
    """Two levels in the frame of the first; given = size of a, R_ab, c, numbers of b."""

    def __init__(self, a: Traced | str, b: Traced | str) -> None:
        self.f_a, self.f_b, self.which = _level(a), _level(b), b

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
        """(37), (38), of y = (p, x); (38a) where b has a support."""
        f_a, g_a, _ = self.derivatives(y[:3], given, True)
        n_a = g_a / ca.norm_2(g_a)
        if self.which in SUPPORTS:
            R = ca.reshape(given[1:10], 3, 3)
            away = y[:3] - given[10:13] - R @ SUPPORTS[self.which](-R.T @ n_a, given[13:])
            t = tangents(n_a)
            return ca.vertcat(f_a / ca.norm_2(g_a), ca.dot(n_a, away) - y[3], *(ca.dot(e, away) for e in t))
        f_b, g_b, _ = self.derivatives(y[:3] - y[3] * n_a, given, False)
        n_b = g_b / ca.norm_2(g_b)
        t = tangents(n_a)
        return ca.vertcat(f_a / ca.norm_2(g_a), f_b / ca.norm_2(g_b), *(given[0] * ca.dot(e, n_b) for e in t))


    def found(self, y: ca.SX, error: ca.SX, given: ca.SX) -> ca.SX:
        """Whether a root is a minimum: the near sides face each other, and (39a)."""
        n_a, K_a = self.surface(y[:3], given, True)
        n_b, K_b = self.surface(y[:3] - y[3] * n_a, given, False)
        t = ca.horzcat(*tangents(n_a))
        K_a, K_b = t.T @ K_a @ t, t.T @ K_b @ t
        both = K_a + K_b
        S = K_b @ ca.blockcat([[both[1, 1], -both[0, 1]], [-both[0, 1], both[0, 0]]]) @ K_a / (
            both[0, 0] * both[1, 1] - both[0, 1] ** 2)
        mean, half = (S[0, 0] + S[1, 1]) / 2, ca.sqrt(((S[0, 0] - S[1, 1]) / 2) ** 2 + S[0, 1] * S[1, 0])
        least = y[3] * (mean + half) < 1 + 1e-6
        return ca.logic_and(ca.logic_and(error < 1e-6 * given[0], least), ca.dot(n_a, n_b) < 0)

    def stepped(self, given: ca.SX, state: ca.SX) -> tuple[ca.SX, ca.SX]:
        """The state after a step, and whether another one is needed."""
        y, before, s, size = state[:4], state[4], state[5:9], given[0]
        trial = y + s
        z = ca.SX.sym("z", 4)
        r = self.residual(z, given)
        r, J = ca.substitute([r, ca.densify(ca.jacobian(r, z))], [z], [trial])
        error = ca.norm_2(r)
        worse = ca.logic_not(error <= before)
        newton = -ca.solve(J, r)
        long = ca.norm_2(newton)
        newton = newton * ca.if_else(long > 0.3 * size, 0.3 * size / long, 1)
        kept = ca.if_else(worse, ca.vertcat(y, before, s / 3), ca.vertcat(trial, error, newton))
        # many steps, or short ones while the residual is not: there is no root here, and `ended` says so
        far = ca.logic_and(ca.norm_2(kept[5:9]) > NEAR * size, state[9] < LIMIT - 2)
        return ca.vertcat(kept, state[9] + 1), far

    def ended(self, given: ca.SX, state: ca.SX) -> tuple[ca.SX, ca.SX]:
        """The root, and whether it is a minimum."""
        y = state[:4] + state[5:9]
        error = ca.if_else(ca.norm_2(state[5:9]) <= NEAR * given[0], state[4], ca.inf)
        return y, self.found(y, error, given)


def _began(y: ca.SX) -> ca.SX:
    """State: p and x, the residual's size there, the step from it, the number of steps."""
    return ca.vertcat(y, ca.inf, ca.SX(5, 1))


def _between(which: str, item: ca.SX, given: ca.SX, other: Rounded | None) -> ca.SX:
    """From b's point furthest along -n to a's furthest along n, item = that point and n: along n it is the
    overlap there."""
    R = ca.reshape(given[1:10], 3, 3)
    m = -R.T @ item[3:6]
    point = SUPPORTS[which](m, given[13:]) if other is None else other.furthest(m)
    return item[:3] - given[10:13] - R @ point


@lru_cache(maxsize=64)
def _around(which: str, mine: Rounded, other: Rounded | None, needs: int) -> TreeBest:
    """given, LOOKS normals or zeros, most -> point and normal of a of the least overlap away from those."""
    def value(p: ca.SX, item: ca.SX) -> ca.SX:
        known = ca.mmax(ca.reshape(p[needs:-1], 3, LOOKS).T @ item[3:6])
        return ca.if_else(known > AWAY, ca.inf, ca.dot(item[3:6], _between(which, item, p[:needs], other)))

    def bound(p: ca.SX, cap: ca.SX) -> ca.SX:
        """Along other normals n their points are further, so that the overlap is at least g . n with the
        difference g of those two points; the least of that within an angle."""
        g, cos, sin = _between(which, cap, p[:needs], other), cap[6], cap[7]
        along, long = ca.dot(g, cap[3:6]), ca.norm_2(g)
        across = ca.norm_2(g - along * cap[3:6])
        least = ca.if_else(across * cos + along * sin < 0, -long, along * cos - across * sin)
        return least if other is None else least - other.apart

    return TreeBest.of("implicit_around", needs + 3 * LOOKS + 1, mine.tree, bound, value, mine.caps,
                       mine.tree.blocks(mine.rows), mine.rows)


@lru_cache(maxsize=64)
def _again(a: Traced, b: Traced | str, needs: int) -> Solver:
    """given, p and x where to begin, whether to -> p and x, whether it is a minimum."""
    pair = _Pair(a, b)
    return Solver.of("overlap_of_implicit_again", needs + 5,
                     lambda p: (_began(p[needs:needs + 4]), ca.SX(1)),
                     lambda p, state: pair.stepped(p[:needs], state),
                     lambda p, state: ca.vertcat(*pair.ended(p[:needs], state)), LIMIT,
                     idle=lambda p: (ca.vertcat(p[needs:needs + 4], 0), p[needs + 4]))


@lru_cache(maxsize=64)
def _looks(a: Traced, b: Traced | str, needs: int, mine: Rounded, other: Rounded | None) -> Solver:
    """given, a root, whether it is a minimum -> p and x of the least minimum, or NaN (40)."""
    which = b if isinstance(b, str) else ""

    def alone(given: ca.SX, x: ca.SX, good: ca.SX) -> ca.SX:
        """A minimum that is the only one: (36a)."""
        numbers = given[13:]
        sharp = (other.sharpest if other is not None else numbers[0] if b == "sphere"
                 else ca.mmin(numbers[:3]) ** 2 / ca.mmax(numbers[:3]))
        return ca.logic_and(good, x < mine.sharpest + sharp)

    def looked(given: ca.SX, state: ca.SX, last: bool) -> tuple[ca.SX, ca.SX, ca.SX]:
        """The state after steps from the best normal that is away from those known, or `last` of all that
        have a smaller overlap; whether there is one, and whether the steps found a minimum."""
        y, good, least, known = state[:4], state[4], state[5], state[7:]
        # others are worth a look where they are not far above
        most = ca.if_else(good, y[3] * (1 - 1e-12 if last else NEARLY), ca.inf)
        most = ca.if_else(alone(given, y[3], good), -ca.inf, most)
        row = get(_around(which, mine, other, needs), ca.vertcat(given, 0 * known if last else known, most))
        row, some = row[:6], ca.fabs(row[0]) < ca.inf
        d = ca.dot(row[3:6], _between(which, row, given, other))
        begin = ca.if_else(some, ca.vertcat(row[:3], d), y)
        new = get(_again(a, b, needs), ca.vertcat(given, begin, some))
        found = ca.logic_and(some, new[4] > 0)
        better = ca.logic_and(found, ca.logic_or(ca.logic_not(good), new[3] < y[3]))
        more = 0 if other is None else other.apart
        return ca.vertcat(ca.if_else(better, new[:4], y), ca.logic_or(good, better),
                          ca.if_else(some, ca.fmin(least, d + more), least), state[6] + 1,
                          known[3:], ca.if_else(some, row[3:6], 0)), some, found

    def step(p: ca.SX, state: ca.SX) -> tuple[ca.SX, ca.SX]:
        state, some, _ = looked(p[:needs], state, False)
        return state, ca.logic_and(some, state[6] < LOOKS)

    def finish(p: ca.SX, state: ca.SX) -> ca.SX:
        state, some, found = looked(p[:needs], state, True)
        y, good, least = state[:4], state[4], state[5]
        lost = ca.logic_and(some, ca.logic_not(found))       # a smaller overlap, and no minimum near it
        known = ca.logic_and(ca.logic_not(lost), y[3] <= least + 1e-9 * p[0])
        return ca.if_else(ca.logic_and(good, known), y, ca.SX.nan())

    return Solver.of("least_overlap_of_implicit", needs + 5,
                     lambda p: (ca.vertcat(p[needs:needs + 5], ca.inf, ca.SX(1 + 3 * LOOKS, 1)), ca.SX(1)),
                     step, finish, LOOKS + 1,
                     idle=lambda p: (p[needs:needs + 4],
                                     ca.logic_not(alone(p[:needs], p[needs + 3], p[needs + 4]))))


@lru_cache(maxsize=64)
def _solver(a: Traced, b: Traced | str, needs: int, mine: Rounded, other: Rounded | None) -> Solver:
    """given -> p, x."""
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
        return _began(ca.vertcat(p, -f / ca.norm_2(g))), ca.if_else(away < ca.inf, 1, ca.SX.nan())

    def finish(given: ca.SX, state: ca.SX) -> ca.SX:
        y, good = pair.ended(given, state)
        if b == "plane":                                     # one minimum
            return ca.if_else(good, y, ca.SX.nan())
        return get(_looks(a, b, needs, mine, other), ca.vertcat(given, y, good))[:4]

    return Solver.of("overlap_of_implicit", needs, start, pair.stepped, finish, LIMIT)
