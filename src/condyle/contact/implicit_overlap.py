"""Closest points of convex surfaces by their functions: docs/theory/contact.md (37)-(40).

With f_a(p) < 0 inside of a, n_a = grad f_a / |grad f_a|, and the same for b, all in the frame S of a, the
deepest point p of a and the depth x solve

    f_a(p) / |grad f_a| = 0,   f_b(p - x n_a) / |grad f_b| = 0                                            (37)
    t_1 . n_b = t_2 . n_b = 0  at p - x n_a,  t_1, t_2 across n_a                                         (38)

Four equations that are regular where the surfaces touch, overlap or are apart, as long as one of them is
curved; if b's point p_b furthest along -n_a is known, p - p_b = x n_a replaces all but the first (38a).
Newton's method from the point where the line from the origin of S toward b leaves a; a step that makes the
residual larger is shortened (39). Roots are stationary overlaps. A root is a minimum where

    x S < 1,   S = K_b (K_a + K_b)^-1 K_a                                                                (39a)

with the curvatures K in the tangent plane, and the only one where x is below the smallest radii of curvature
of a and b together (36a). If it is neither, the steps are repeated, up to LOOKS times, from those tabulated
points of a whose normals have the least overlap, and the least minimum counts. If none is found, or the
overlap along one of those normals, or of b's, is less, the result is NaN (40). If p_b is not known, the point
r of b is a further unknown, which starts where b is furthest:

    f_a(p) / |grad f_a| = f_b(r) / |grad f_b| = 0,   p - r = x n_a,   t_1 . n_b = t_2 . n_b = 0 at r     (40a)

and where (39a) does not hold, the x in their matrix is lowered until it does, so that the steps go down to
minima.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import casadi as ca

from condyle.arrays import SX
from condyle.contact.implicit_surface import Implicit, Rounded
from condyle.contact.solids import Ellipsoid
from condyle.contact.surfaces import HalfSpace, Sphere, SurfacePose, Touch, tangents
from condyle.laws.described import sx
from condyle.native.searches.tree_minimum import TreeMinimum
from condyle.native.solvers.implicit_function import implicit
from condyle.native.solvers.solver import Solver
from condyle.native.tables.lookup import look_up
from condyle.spatial.algebra import all_of, any_of
from condyle.trace import Traced

LIMIT, NEAR, FURTHEST = 60, 1e-9, 0.3
"""Largest number of steps; the last and the longest step over the size of a."""
OUTWARDS = 8
"""Newton's steps along the first line."""
AWAY, AWAY_BOTH, NEARLY, LOOKS = 0.98, 0.995, 1.05, 12
"""Cosine above which normals are near each other, and between two surfaces of users, where valleys are
narrow; factor of overlaps that are tried; number of tries."""
LEAST = 0.1
"""Value of 1 - x S where it would be below 0."""
Level = Callable[[ca.SX, ca.SX], ca.SX]


def _sphere(z: SX, numbers: SX) -> SX:
    return (ca.sumsqr(z) - numbers[0] ** 2) / 2


def _plane(z: SX, numbers: SX) -> SX:
    return z[0]


def _ellipsoid(z: SX, numbers: SX) -> SX:
    return (ca.sumsqr(z / numbers[:3]) - 1) / 2


LEVELS: dict[str, Level] = {"sphere": _sphere, "plane": _plane, "ellipsoid": _ellipsoid}
"""Surfaces that an implicit surface may touch besides other implicit ones: functions of a point and some
numbers."""


SUPPORTS: dict[Traced | str, Level] = {
    "sphere": lambda m, numbers: numbers[0] * m,
    "ellipsoid": lambda m, numbers: numbers[:3] ** 2 * m / ca.norm_2(numbers[:3] * m),
}
"""The furthest point in a direction of the frame of b."""


def _level(which: Traced | str) -> Level:
    if isinstance(which, str):
        return LEVELS[which]
    f = which.function
    return lambda z, numbers: f.call([z[0], z[1], z[2]], True, False)[0]


class LevelPair:
    """Two levels in the frame of the first; given = size of a, R_ab, c, numbers of b: its radius, radii or
    size."""

    def __init__(self, a: Traced | str, b: Traced | str) -> None:
        self.f_a, self.f_b, self.which = _level(a), _level(b), b

    def value(self, z: SX, given: SX, first: bool) -> SX:
        if first:
            return self.f_a(z, given)
        return self.f_b(ca.reshape(given[1:10], 3, 3).T @ (z - given[10:13]), given[13:])

    def derivatives(self, z: SX, given: SX, first: bool) -> list[SX]:
        """Value, gradient and Hessian of a level at z."""
        y = ca.SX.sym("y", 3)
        f = self.value(y, given, first)
        H, g = ca.hessian(f, y)
        return ca.substitute([f, ca.densify(g), ca.densify(H)], [y], [ca.densify(z)])

    def surface(self, z: SX, given: SX, first: bool) -> tuple[SX, SX]:
        """Normal and curvature tensor [1/m] at z."""
        _, g, H = self.derivatives(z, given, first)
        length = ca.norm_2(g)
        n = g / length
        P = ca.SX.eye(3) - n @ n.T
        return n, P @ H @ P / length

    def residual(self, y: SX, given: SX) -> SX:
        """(37), (38), of y = (p, x); (38a) where b has a support."""
        f_a, g_a, _ = self.derivatives(y[:3], given, True)
        n_a = g_a / ca.norm_2(g_a)
        if self.which in SUPPORTS:
            away = y[:3] - self.furthest(n_a, given)
            t = tangents(n_a)
            return ca.vertcat(f_a / ca.norm_2(g_a), ca.dot(n_a, away) - y[3], *(ca.dot(e, away) for e in t))
        f_b, g_b, _ = self.derivatives(y[:3] - y[3] * n_a, given, False)
        n_b = g_b / ca.norm_2(g_b)
        t = tangents(n_a)
        return ca.vertcat(f_a / ca.norm_2(g_a), f_b / ca.norm_2(g_b), *(given[0] * ca.dot(e, n_b) for e in t))

    def sharpness(self, p: SX, r: SX, given: SX) -> SX:
        """The largest eigenvalue of S in (39a) [1/m], at points of both."""
        n, K_a = self.surface(p, given, True)
        _, K_b = self.surface(r, given, False)
        t = ca.horzcat(*tangents(n))
        K_a, K_b = t.T @ K_a @ t, t.T @ K_b @ t
        both = K_a + K_b
        S = (
            K_b
            @ ca.blockcat([[both[1, 1], -both[0, 1]], [-both[0, 1], both[0, 0]]])
            @ K_a
            / (both[0, 0] * both[1, 1] - both[0, 1] ** 2)
        )
        half = ca.sqrt(ca.fmax(((S[0, 0] - S[1, 1]) / 2) ** 2 + S[0, 1] * S[1, 0], 0))
        return (S[0, 0] + S[1, 1]) / 2 + half

    def found(self, p: SX, r: SX, x: SX, error: SX, given: SX) -> SX:
        """Whether a root is a minimum: the near sides face each other, and (39a)."""
        n_a, n_b = self.surface(p, given, True)[0], self.surface(r, given, False)[0]
        least = x * self.sharpness(p, r, given) < 1 + 1e-6
        return all_of(error < 1e-6 * given[0], least, ca.dot(n_a, n_b) < 0)

    def furthest(self, n: SX, given: SX) -> SX:
        """The point of b furthest along -n, if known."""
        R = ca.reshape(given[1:10], 3, 3)
        return given[10:13] + R @ SUPPORTS[self.which](-R.T @ n, given[13:])

    def stepped(self, given: SX, state: SX, down: bool = False) -> tuple[SX, SX]:
        """The state after a step, and whether another one is needed. `down`: to minima, of (38a)."""
        z = ca.SX.sym("z", 4)
        r = self.residual(z, given)
        J, bent = ca.densify(ca.jacobian(r, z)), ca.SX(0)
        if down:
            n, K = self.surface(z[:3], given, True)
            less, bent = self.less(z[:3], self.furthest(n, given), z[3], given)
            J[2:, :3] += less * ca.horzcat(*tangents(n)).T @ K
        return _stepped(state, z, (r, J, bent), lambda s: ca.norm_2(s) / given[0])

    def less(self, p: SX, r: SX, x: SX, given: SX) -> tuple[SX, SX]:
        """The reduction of x in the matrix, and whether it is reduced."""
        sharp = self.sharpness(p, r, given)
        bent = x * sharp > 1
        return ca.if_else(bent, x - (1 - LEAST) / sharp, 0), bent

    def ended(self, given: SX, state: SX) -> tuple[SX, SX]:
        """The root, and whether it is a minimum."""
        y, error = _ended(state, 4, lambda s: ca.norm_2(s) / given[0])
        r = y[:3] - y[3] * self.surface(y[:3], given, True)[0]
        return y, self.found(y[:3], r, y[3], error, given)


class TwoPointPair(LevelPair):
    """A pair with points of both as unknowns, y = (p, x, r): (40a)."""

    def residual(self, y: SX, given: SX) -> SX:
        f_a, g_a, _ = self.derivatives(y[:3], given, True)
        f_b, g_b, _ = self.derivatives(y[4:], given, False)
        n_a, n_b = g_a / ca.norm_2(g_a), g_b / ca.norm_2(g_b)
        return ca.vertcat(
            f_a / ca.norm_2(g_a),
            f_b / ca.norm_2(g_b),
            y[:3] - y[4:] - y[3] * n_a,
            *(given[0] * ca.dot(e, n_b) for e in tangents(n_a)),
        )

    def length(self, s: SX, given: SX) -> SX:
        """Length of a step, over the sizes."""
        return ca.fmax(ca.norm_2(s[:4]) / given[0], ca.norm_2(s[4:7]) / given[13])

    def stepped(self, given: SX, state: SX, down: bool = True) -> tuple[SX, SX]:
        z = ca.SX.sym("z", 7)
        r = self.residual(z, given)
        J, (less, bent) = ca.densify(ca.jacobian(r, z)), self.less(z[:3], z[4:], z[3], given)
        J[2:5, :3] += less * self.surface(z[:3], given, True)[1]
        return _stepped(state, z, (r, J, bent), lambda s: self.length(s, given))

    def ended(self, given: SX, state: SX) -> tuple[SX, SX]:
        y, error = _ended(state, 7, lambda s: self.length(s, given))
        return y[:4], self.found(y[:3], y[4:], y[3], error, given)


def _began(y: SX) -> SX:
    """State: y, the residual's size there, the step from it, the number of steps, whether the step may make
    the residual larger."""
    return ca.vertcat(y, ca.inf, ca.SX(y.numel() + 2, 1))


def _stepped(state: SX, z: SX, linear: tuple[SX, SX, SX], length: Callable[[SX], SX]) -> tuple[SX, SX]:
    """The next state, with the residual at z, its matrix, and whether that is not the residual's."""
    n = z.numel()
    y, before, s, steps, free = state[:n], state[n], state[n + 1 : 2 * n + 1], state[-2], state[-1]
    trial = y + s
    r, J, other = ca.substitute(list(linear), [z], [trial])
    error = ca.norm_2(r)
    worse = all_of(ca.logic_not(error <= before), ca.logic_not(all_of(free, error < ca.inf)))
    newton = -ca.solve(J, r)
    long = length(newton)
    newton = newton * ca.if_else(long > FURTHEST, FURTHEST / long, 1)
    kept = ca.if_else(worse, ca.vertcat(y, before, s / 3), ca.vertcat(trial, error, newton))
    # many steps, or short ones with a large residual: there is no root here, as `ended` reports
    far = all_of(length(kept[n + 1 :]) > NEAR, steps < LIMIT - 2)
    return ca.vertcat(kept, steps + 1, ca.if_else(worse, free, other)), far


def _ended(state: SX, n: int, length: Callable[[SX], SX]) -> tuple[SX, SX]:
    """y after the last step, and the residual's size, infinite if that step was not short."""
    s = state[n + 1 : 2 * n + 1]
    return state[:n] + s, ca.if_else(length(s) <= NEAR, state[n], ca.inf)


def _facing(
    which: str, item: SX, given: SX, mine: Rounded, other: Rounded | None, of_b: bool = False
) -> tuple[SX, SX, SX]:
    """n, a's point furthest along it, and the vector to it from b's furthest along -n, whose part along n is
    the overlap. The item has point and normal of a, or of b with `of_b`."""
    R = ca.reshape(given[1:10], 3, 3)
    if of_b:
        n = -R @ item[3:6]
        p, r = mine.furthest(n), item[:3]
    else:
        p, n = item[:3], item[3:6]
        m = -R.T @ n
        r = SUPPORTS[which](m, given[13:]) if other is None else other.furthest(m)
    return n, p, p - given[10:13] - R @ r


@lru_cache(maxsize=64)
def _around(which: str, mine: Rounded, other: Rounded | None, needs: int, of_b: bool = False) -> TreeMinimum:
    """given, LOOKS normals or zeros, most -> point and normal, of a or `of_b`, of the least overlap away from
    these normals."""
    facing = lambda p, item: _facing(which, item, p[:needs], mine, other, of_b)
    whose, table = (other, mine) if of_b and other is not None else (mine, other)

    def value(p: SX, item: SX) -> SX:
        n, _, g = facing(p, item)
        known = ca.mmax(ca.reshape(p[needs:-1], 3, LOOKS).T @ n)
        return ca.if_else(known > (AWAY if other is None else AWAY_BOTH), ca.inf, ca.dot(n, g))

    def bound(p: SX, cap: SX) -> SX:
        """Lower bound: along other normals n the points are further, so that the overlap is at least g . n
        with the difference g of these two points; the least within an angle."""
        (n, _, g), cos, sin = facing(p, cap), cap[6], cap[7]
        along, long = ca.dot(g, n), ca.norm_2(g)
        across = ca.norm_2(g - along * n)
        least = ca.if_else(across * cos + along * sin < 0, -long, along * cos - across * sin)
        return least if table is None else least - table.apart

    return TreeMinimum.trace(
        "implicit_around",
        needs + 3 * LOOKS + 1,
        whose.tree,
        bound,
        value,
        whose.caps,
        whose.tree.blocks(whose.rows),
        whose.rows,
    )


@lru_cache(maxsize=64)
def _again(a: Traced, b: Traced | str, needs: int) -> Solver:
    """given, start p, x and r, whether to solve -> p and x, whether it is a minimum."""
    known = b in SUPPORTS
    pair = LevelPair(a, b) if known else TwoPointPair(a, b)
    last = needs + (4 if known else 7)
    return Solver.trace(
        "overlap_of_implicit_again",
        needs + 8,
        lambda p: (_began(p[needs:last]), ca.SX(1)),
        lambda p, state: pair.stepped(p[:needs], state, True),
        lambda p, state: ca.vertcat(*pair.ended(p[:needs], state)),
        LIMIT,
        idle=lambda p: (ca.vertcat(p[needs : needs + 4], 0), p[needs + 7]),
    )


@lru_cache(maxsize=64)
def _looks(a: Traced, b: Traced | str, needs: int, mine: Rounded, other: Rounded | None) -> Solver:
    """given, a root, whether it is a minimum -> p and x of the least minimum, or NaN (40)."""
    which = b if isinstance(b, str) else ""

    def alone(given: SX, x: SX, good: SX) -> SX:
        """Whether a minimum is the only one: (36a)."""
        numbers = given[13:]
        sharp = (
            other.sharpest
            if other is not None
            else numbers[0]
            if b == "sphere"
            else ca.mmin(numbers[:3]) ** 2 / ca.mmax(numbers[:3])
        )
        return all_of(good, x < mine.sharpest + sharp)

    def looked(given: SX, state: SX, last: bool, of_b: bool = False) -> tuple[SX, SX, SX]:
        """The state after steps from the best normal away from those known, or, if `last`, of all with a
        smaller overlap; whether there is one, and whether the steps found a minimum."""
        y, good, least, known = state[:4], state[4], state[5], state[7:]
        # others are tried if they are not far above
        most = ca.if_else(good, y[3] * (1 - 1e-12 if last else NEARLY), ca.inf)
        most = ca.if_else(alone(given, y[3], good), -ca.inf, most)
        row = look_up(
            _around(which, mine, other, needs, of_b), ca.vertcat(given, 0 * known if last else known, most)
        )
        some = ca.fabs(row[0]) < ca.inf
        n, p, g = _facing(which, row[:6], given, mine, other, of_b)
        d = ca.dot(n, g)
        begin = ca.if_else(some, ca.vertcat(p, d, p - g), ca.vertcat(y, y[:3]))
        new = look_up(_again(a, b, needs), ca.vertcat(given, begin, some))
        found = all_of(some, new[4] > 0)
        better = all_of(found, any_of(ca.logic_not(good), new[3] < y[3]))
        more = 0 if other is None else mine.apart if of_b else other.apart
        return (
            ca.vertcat(
                ca.if_else(better, new[:4], y),
                any_of(good, better),
                ca.if_else(some, ca.fmin(least, d + more), least),
                state[6] + 1,
                known[3:],
                ca.if_else(some, n, 0),
            ),
            some,
            found,
        )

    def step(p: SX, state: SX) -> tuple[SX, SX]:
        state, some, _ = looked(p[:needs], state, False)
        return state, all_of(some, state[6] < LOOKS)

    def finish(p: SX, state: SX) -> SX:
        lost = ca.SX(0)  # a smaller overlap, and no minimum near it
        for of_b in (False, True)[: 1 if other is None else 2]:
            state, some, found = looked(p[:needs], state, True, of_b)
            lost = any_of(lost, all_of(some, ca.logic_not(found)))
        y, good, least = state[:4], state[4], state[5]
        known = all_of(ca.logic_not(lost), y[3] <= least + 1e-9 * p[0])
        return ca.if_else(all_of(good, known), y, ca.SX.nan())

    return Solver.trace(
        "least_overlap_of_implicit",
        needs + 5,
        lambda p: (ca.vertcat(p[needs : needs + 5], ca.inf, ca.SX(1 + 3 * LOOKS, 1)), ca.SX(1)),
        step,
        finish,
        LOOKS + 1,
        idle=lambda p: (p[needs : needs + 4], ca.logic_not(alone(p[:needs], p[needs + 3], p[needs + 4]))),
    )


@lru_cache(maxsize=64)
def solver(a: Traced, b: Traced | str, needs: int, mine: Rounded, other: Rounded | None) -> Solver:
    """given -> p, x."""
    pair = LevelPair(a, b)

    def start(given: SX) -> tuple[SX, SX]:
        c, size = given[10:13], given[0]
        away = ca.norm_2(c)
        # toward b; where its origin is inside, toward its surface
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

    def finish(given: SX, state: SX) -> SX:
        y, good = pair.ended(given, state)
        if b == "plane":  # one minimum
            return ca.if_else(good, y, ca.SX.nan())
        return look_up(_looks(a, b, needs, mine, other), ca.vertcat(given, y, good))[:4]

    return Solver.trace("overlap_of_implicit", needs, start, pair.stepped, finish, LIMIT)


def plane_implicit(a: HalfSpace, A: SurfacePose, b: Implicit, B: SurfacePose) -> Touch:
    """The frame of the plane has its normal along x, and its origin below that of b."""
    n, height = a.plane(A)
    p = b.frame(B)[1]
    R = ca.horzcat(n, *tangents(n))
    return _overlap(b, B, R, p - (ca.dot(n, p) - height) * n, ca.SX(0, 1), "plane").flipped


def sphere_implicit(a: Sphere, A: SurfacePose, b: Implicit, B: SurfacePose) -> Touch:
    return _overlap(b, B, ca.SX.eye(3), a.center_at(A), sx(a.radius), "sphere").flipped


def ellipsoid_implicit(a: Ellipsoid, A: SurfacePose, b: Implicit, B: SurfacePose) -> Touch:
    return _overlap(b, B, *a.frame(A), sx(a.radii), "ellipsoid").flipped


def implicit_implicit(a: Implicit, A: SurfacePose, b: Implicit, B: SurfacePose) -> Touch:
    return _overlap(a, A, *b.frame(B), sx(b.size), b.law, b.points)


def _overlap(
    a: Implicit,
    A: SurfacePose,
    R_b: SX,
    p_b: SX,
    numbers: SX,
    which: Traced | str,
    other: Rounded | None = None,
) -> Touch:
    R_a, p_a = a.frame(A)
    R, c = R_a.T @ R_b, R_a.T @ (p_b - p_a)
    given = ca.vertcat(sx(a.size), ca.vec(R), c, numbers)
    pair = LevelPair(a.law, which)
    row = implicit(solver(a.law, which, given.numel(), a.points, other), pair.residual, given, unknowns=4)
    p, x = row[:3], row[3]
    n, K_a = pair.surface(p, given, first=True)
    _, K_b = pair.surface(p - x * n, given, first=False)
    gap = R_a @ (K_a + K_b) @ R_a.T
    return Touch(x, R_a @ n, p_a + R_a @ p, 2 / ca.trace(gap), gap, True)
