"""Convex bodies by their supports: on a plane in closed form, on each other by Newton's method.
docs/theory/contact.md (31)-(36).

A body is the sum of ellipsoids and a ball: all points that are a point of each, added. With D = diag(radii)
of each ellipsoid, r the ball's radius, and a unit normal n, in the frame S of the body:

    support  h(n) = r + sum of |D n|,   point  p(n) = h'(n) = r n + sum of D^2 n / |D n|                  (31)
    h''(n) = r + sum of D^2 / |D n| - D^2 n n' D^2 / |D n|^3   in the tangent plane: radii of curvature  (31a)

A sphere is a ball, an ellipsoid itself. A cylinder is a disc (r', r', f r'), a needle (f l', f l', l') and a
ball of its rim: it has the cylinder's radius and length, and is crowned, with the radius l' / f along its
side and r' / f at its ends (31b).

The overlap of two bodies in a direction is d(n) = h_a(n) + h_b(-n), and the depth its minimum, whether they
touch or not. In a's frame, with c the center of b and R its orientation,

    d(n) = h_a(n) + h_b(R' n) - c . n                                                                     (32)
    grad d = p_a - p_b,   zero along the surface of the sphere |n| = 1 at the minimum                     (33)
    Hess d = h_a'' + h_b'' - d   in the tangent plane                                                     (34)

Newton's steps, with a shift that keeps (34) positive, at most 1/2 rad long (35), a quarter as long where d
would grow (36), from the line between the centers. Where d is below the smallest radius of curvature of a
plus that of b, there is one minimum. Otherwise the steps begin at the best of some directions that turn with
a; again at the best of those away from the minimum found, of those that turn with b, and of both axes and
their perpendiculars; last at any of these that is still better. The smallest overlap counts (36a).
"""

from __future__ import annotations

from functools import cache, partial

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.contact.solids import Cylinder, Ellipsoid
from condyle.contact.surfaces import (
    ContactSurface,
    HalfSpace,
    Sphere,
    SurfacePose,
    Touch,
    even_directions,
    tangents,
)
from condyle.laws.described import sx
from condyle.native.searches.search_tree import SearchTree
from condyle.native.searches.tree_minimum import TreeMinimum
from condyle.native.solvers.solver import Solver
from condyle.native.tables.lookup import look_up, stop_gradient
from condyle.records import dataclass
from condyle.spatial.algebra import all_of

LIMIT = 1000
NEAR = 1e-9
"""The last step [rad]; what remains is about its square."""
SHORT = 1e-7
"""A short step [rad]."""
FURTHEST = 0.5
"""The longest step [rad], of deep pairs APART."""
AROUND, CREASE = 2048, 512
"""Directions that deep pairs try first: all around, and around the axis of a cylinder, toward its side."""
APART = 0.05
"""Largest angle of any direction to the nearest of them [rad]."""
AWAY, NEARLY, SAME = 0.9, 1.25, 1e-12
"""Cosine above which directions are near each other; factor of overlaps that are tried; relative difference
below which overlaps are equal."""


@dataclass(frozen=True)
class ConvexBody:
    """A sum of ellipsoids and a ball, over SX.

    Attributes:
        radii: of the ellipsoids [m], each of shape (3,).
        ball: radius of the ball [m], or None.
    """

    radii: tuple[ca.SX, ...]
    ball: ca.SX | None = None

    @staticmethod
    def from_surface(surface: ContactSurface) -> ConvexBody:
        """(31b)"""
        if isinstance(surface, Sphere):
            return ConvexBody((), sx(surface.radius))
        if isinstance(surface, Ellipsoid):
            return ConvexBody((sx(surface.radii),))
        assert isinstance(surface, Cylinder)
        rim, f = sx(surface.rim), sx(surface.flat)
        out, up = sx(surface.radius) - rim, sx(surface.length) / 2 - rim
        disc, needle = (out - f * up) / (1 - f * f), (up - f * out) / (1 - f * f)
        return ConvexBody((ca.vertcat(disc, disc, f * disc), ca.vertcat(f * needle, f * needle, needle)), rim)

    def terms(self, n: SX, R: SX | None = None) -> tuple[SX, SX, SX]:
        """h, p and h'' of (31), (31a) at a normal in axes to which R turns those of S; without R in S. The
        part of h'' along n is ignored."""
        h, p, bent = ca.SX(0), ca.SX(3, 1), ca.SX(3, 3)
        for radii in self.radii:
            square = ca.diag(radii**2)
            square = square if R is None else R @ square @ R.T
            point = square @ n
            one = ca.sqrt(ca.dot(n, point))
            per = 1 / one
            h, p, point = h + one, p + per * point, per * point
            bent += per * (square - point @ point.T)
        if self.ball is not None:
            h, p, bent = h + self.ball, p + self.ball * n, bent + self.ball * ca.SX.eye(3)
        return h, p, bent

    @property
    def sharpest(self) -> SX:
        """At most the smallest radius of curvature [m]."""
        least = sum((ca.mmin(r) ** 2 / ca.mmax(r) for r in self.radii), ca.SX(0))
        return least if self.ball is None else least + self.ball

    @property
    def furthest(self) -> SX:
        """Largest distance of a point from the center [m]."""
        most = sum((ca.mmax(r) for r in self.radii), ca.SX(0))
        return most if self.ball is None else most + self.ball


def _inverse(W: SX) -> SX:
    """Inverse of a symmetric matrix of two rows."""
    return ca.blockcat([[W[1, 1], -W[0, 1]], [-W[0, 1], W[0, 0]]]) / (W[0, 0] * W[1, 1] - W[0, 1] ** 2)


def _placed(surface: ContactSurface, pose: SurfacePose) -> tuple[SX, SX]:
    """Axes and center in ground."""
    if isinstance(surface, Sphere):
        return ca.SX.eye(3), surface.center_at(pose)
    assert isinstance(surface, Ellipsoid | Cylinder)
    return surface.frame(pose)


def plane_supported(a: HalfSpace, A: SurfacePose, b: Ellipsoid | Cylinder, B: SurfacePose) -> Touch:
    n, height = a.plane(A)
    R, p = b.frame(B)
    u = -R.T @ n
    _, point, bent = ConvexBody.from_surface(b).terms(u)
    lowest = p + R @ point  # (31)
    x = height - ca.dot(n, lowest)
    t = ca.horzcat(*tangents(u))
    gap = _inverse(t.T @ bent @ t)
    return Touch(x, n, lowest + x * n, 2 / ca.trace(gap), gap)


def supported_pair(a: ContactSurface, A: SurfacePose, b: ContactSurface, B: SurfacePose) -> Touch:
    """Closest points of spheres, ellipsoids and cylinders: (32)-(36)."""
    if isinstance(a, Sphere):
        return supported_pair(b, B, a, A).flipped
    pair = _Pair(ConvexBody.from_surface(a), ConvexBody.from_surface(b))
    (R_a, p_a), (R_b, p_b) = _placed(a, A), _placed(b, B)
    R, c = (R_a.T @ R_b if pair.b.radii else None), R_a.T @ (p_b - p_a)
    given = pair.numbers(R, c)
    n = look_up(_solver(pair.counts), given)[:3]
    t = ca.horzcat(*tangents(n))
    (h_a, point, bent_a), (h_b, other, bent_b) = pair.a.terms(n), pair.b.terms(n, R)
    # the root moves by (33), (34): at the root itself this is zero
    slope = t.T @ (point + other - c)
    W_a, W_b = t.T @ bent_a @ t, t.T @ bent_b @ t
    x = h_a + h_b - ca.dot(c, n)  # (32)
    n = n - t @ _inverse(W_a + W_b - x * ca.SX.eye(2)) @ (slope - stop_gradient(slope))
    t = ca.horzcat(*tangents(n))
    (h_a, point, bent_a), (h_b, _, bent_b) = pair.a.terms(n), pair.b.terms(n, R)
    x = h_a + h_b - ca.dot(c, n)
    gap = _inverse(t.T @ bent_a @ t) + _inverse(t.T @ bent_b @ t)
    return Touch(x, R_a @ n, p_a + R_a @ point, 2 / ca.trace(gap), gap, True)


@dataclass(frozen=True)
class _Counts:
    """Numbers of ellipsoids of two bodies, and whether one has a ball. Numbers of a pair = radii of a's
    ellipsoids, of b's, the balls' radii together, c, R where b has ellipsoids."""

    one: int
    other: int
    ball: bool

    @property
    def size(self) -> int:
        """Of the numbers."""
        return 3 * (self.one + self.other) + self.ball + 3 + (9 if self.other else 0)

    @property
    def exchanged(self) -> _Counts:
        return _Counts(self.other, self.one, self.ball)

    def pair(self, p: SX) -> tuple[_Pair, SX | None, SX]:
        """The pair, R and c from its numbers; the ball counts as a's."""
        radii = [p[3 * k : 3 * k + 3] for k in range(self.one + self.other)]
        at = 3 * len(radii) + self.ball
        a = ConvexBody(tuple(radii[: self.one]), p[at - 1] if self.ball else None)
        R = ca.reshape(p[at + 3 : at + 12], 3, 3) if self.other else None
        return _Pair(a, ConvexBody(tuple(radii[self.one :]))), R, p[at : at + 3]


class _Pair:
    """Two bodies."""

    def __init__(self, a: ConvexBody, b: ConvexBody) -> None:
        self.a, self.b = a, b
        self.counts = _Counts(len(a.radii), len(b.radii), a.ball is not None or b.ball is not None)

    def numbers(self, R: SX | None, c: SX) -> SX:
        balls = [x.ball for x in (self.a, self.b) if x.ball is not None]
        ball = [sum(balls, ca.SX(0))] if balls else []
        return ca.vertcat(*self.a.radii, *self.b.radii, *ball, c, ca.SX(0, 1) if R is None else ca.vec(R))

    def overlap(self, n: SX, R: SX | None, c: SX) -> tuple[SX, SX, SX]:
        """d, its gradient and Hessian in space without the last term of (34)."""
        (h_a, p_a, bent_a), (h_b, p_b, bent_b) = self.a.terms(n), self.b.terms(n, R)
        return h_a + h_b - ca.dot(c, n), p_a + p_b - c, bent_a + bent_b


@cache
def _around(counts: _Counts, ahead: bool) -> TreeMinimum:
    """Numbers of a pair, a direction or zero, most -> the direction with the least overlap; ahead: away from
    that direction, and evaluated at the end of one of Newton's steps of at most APART: (36a). d changes by at
    most the sizes and |c| with the direction."""
    turn = 2 * np.pi * np.arange(CREASE) / CREASE
    ways = np.vstack(
        [
            even_directions(AROUND),
            np.column_stack([np.cos(turn), np.sin(turn), 0 * turn]),
            (0, 0, 1),
            (0, 0, -1),
        ]
    )
    tree, size = SearchTree.from_points(ways), counts.size

    def holds(some: np.ndarray) -> np.ndarray:
        center = ways[some].mean(axis=0)
        return np.append(center, np.linalg.norm(ways[some] - center, axis=1).max() * (1 + 1e-9))

    def bound(p: SX, cap: SX) -> SX:
        pair, R, c = counts.pair(p)
        most = pair.a.furthest + pair.b.furthest + ca.norm_2(c)
        return pair.overlap(cap[:3], R, c)[0] - most * (cap[3] + (APART if ahead else 0))

    def value(p: SX, way: SX) -> SX:
        pair, R, c = counts.pair(p)
        d, g, hessian = pair.overlap(way, R, c)
        if not ahead:
            return d
        t = ca.horzcat(*tangents(way))
        H, slope = t.T @ hessian @ t - d * ca.SX.eye(2), t.T @ g
        det, most = H[0, 0] * H[1, 1] - H[0, 1] ** 2, APART * ca.norm_2(slope)
        u, v = slope[0], slope[1]
        by = (H[1, 1] * u**2 - 2 * H[0, 1] * u * v + H[0, 0] * v**2) / (2 * det)
        convex = all_of(H[0, 0] > 0, det > 0)
        known = ca.dot(way, p[size : size + 3]) > AWAY
        return ca.if_else(known, ca.inf, d - ca.if_else(convex, ca.fmin(by, most), 0))

    return TreeMinimum.trace(
        "overlap_around",
        size + 4,
        tree,
        bound,
        value,
        tree.nodes(holds, np.full(4, np.nan)),
        tree.blocks(ways),
        ways,
    )


def _began(n: SX, most: SX | float) -> SX:
    """State: n, d there, the step from it, the longest one."""
    return ca.vertcat(n, ca.SX([ca.inf, 0, 0, 0]), most)


def _stepped(pair: _Pair, R: SX | None, c: SX, state: SX) -> tuple[SX, SX]:
    """The state after a step, and whether another one is needed: (35), (36)."""
    n, d_old, s, most = state[:3], state[3], state[4:7], state[7]
    trial = n + s
    trial = trial / ca.norm_2(trial)
    d, g, hessian = pair.overlap(trial, R, c)
    size = pair.a.furthest + pair.b.furthest
    # d is flat at its minimum, and its last digits are noise: they do not shorten the last steps
    worse = d > d_old + ca.if_else(ca.sumsqr(s) < SHORT**2, 1e-13, 1e-15) * size
    t = ca.horzcat(*tangents(trial))
    H, slope = t.T @ hessian @ t - d * ca.SX.eye(2), t.T @ g
    mean, half = (H[0, 0] + H[1, 1]) / 2, ca.sqrt(((H[0, 0] - H[1, 1]) / 2) ** 2 + H[0, 1] ** 2)
    shift = ca.fmax(0, 1e-3 * size - (mean - half)) * (mean - half < 1e-6 * size)  # (35)
    a, b, e = H[0, 0] + shift, H[0, 1], H[1, 1] + shift
    y = -ca.vertcat(e * slope[0] - b * slope[1], a * slope[1] - b * slope[0]) / (a * e - b * b)
    square = ca.sumsqr(y)
    y = y * ca.if_else(square > most * most, most / ca.sqrt(square), 1)
    kept = ca.if_else(worse, ca.vertcat(n, d_old, s / 4), ca.vertcat(trial, d, t @ y))  # (36)
    return ca.vertcat(kept, most), ca.if_else(d < ca.inf, ca.sumsqr(kept[4:7]) > NEAR**2, ca.SX.nan())


def _ended(state: SX) -> SX:
    n = state[:3] + state[4:7]
    return n / ca.norm_2(n)


@cache
def _again(counts: _Counts) -> Solver:
    """Numbers of a pair, a start, whether to solve -> n."""
    size = counts.size
    return Solver.trace(
        "overlap_again",
        size + 4,
        lambda p: (_began(p[size : size + 3], APART), ca.SX(1)),
        lambda p, state: _stepped(*counts.pair(p), state),
        lambda p, state: _ended(state),
        LIMIT,
        idle=lambda p: (p[size : size + 3], p[size + 3]),
    )


@cache
def _solver(counts: _Counts) -> Solver:
    """Numbers of a pair -> n."""

    def look(p: SX, away: SX, most: SX, ahead: bool = True) -> tuple[SX, SX]:
        best = look_up(_around(counts, ahead), ca.vertcat(p, away, most))
        return best[:3], best[0] >= -1

    def from_b(p: SX, away: SX, most: SX, ahead: bool = True) -> tuple[SX, SX]:
        """The best of directions that turn with b."""
        pair, R, c = counts.pair(p)
        assert R is not None
        balls = [] if pair.a.ball is None else [pair.a.ball]
        turned = ca.vertcat(*pair.b.radii, *pair.a.radii, *balls, R.T @ c, ca.vec(R.T))
        best = look_up(_around(counts.exchanged, ahead), ca.vertcat(turned, R.T @ away, most))
        return R @ best[:3], best[0] >= -1

    def axes(p: SX, away: SX, most: SX) -> tuple[SX, SX]:
        """The best of both bodies' axes and their perpendiculars: ends, and sides that meet."""
        R = counts.pair(p)[1]
        assert R is not None
        across = ca.vertcat(-R[1, 2], R[0, 2], 0)
        square = ca.sumsqr(across)
        across = across / ca.sqrt(ca.if_else(square > 0, square, 1))
        best, least = ca.SX([0, 0, 1]), overlap(p, ca.SX([0, 0, 1]))[0]
        for n in (ca.SX([0, 0, -1]), R[:, 2], -R[:, 2], across, -across):
            d = overlap(p, n)[0]
            some = all_of(d < least, ca.sumsqr(n) > 0)
            best, least = ca.if_else(some, n, best), ca.if_else(some, d, least)
        return best, least < most

    def overlap(p: SX, n: SX) -> tuple[SX, SX]:
        pair, R, c = counts.pair(p)
        d = pair.overlap(n, R, c)[0]
        return d, ca.logic_not(d < pair.a.sharpest + pair.b.sharpest)

    def start(p: SX) -> tuple[SX, SX]:
        c = counts.pair(p)[2]
        square = ca.sumsqr(c)
        n = ca.if_else(square > 0, c / ca.sqrt(ca.if_else(square > 0, square, 1)), ca.SX([1, 0, 0]))
        d, deep = overlap(p, n)
        best, found = look(p, ca.SX(3, 1), ca.if_else(deep, d, -ca.inf))
        return (
            _began(ca.if_else(found, best, n), ca.if_else(found, APART, FURTHEST)),
            ca.if_else(square < ca.inf, 1, ca.SX.nan()),
        )

    def finish(p: SX, state: SX) -> SX:
        n = _ended(state)
        d, deep = overlap(p, n)
        last = partial(look, ahead=False), partial(from_b, ahead=False)
        for begin in (look, from_b, axes, *last) if counts.other else (look, last[0]):
            near = d * (1 - SAME) if begin in last else NEARLY * d
            best, found = begin(p, n, ca.if_else(deep, near, -ca.inf))
            new = look_up(_again(counts), ca.vertcat(p, ca.if_else(found, best, n), found))[:3]
            less = overlap(p, new)[0]
            n, d = ca.if_else(less < d, new, n), ca.fmin(less, d)  # (36a)
        return n

    return Solver.trace(
        "overlap_of_bodies",
        counts.size,
        start,
        lambda p, state: _stepped(*counts.pair(p), state),
        finish,
        LIMIT,
    )
