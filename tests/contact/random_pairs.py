"""Random pairs of every kind of surfaces, and certificates of where they are closest that know nothing of the
solvers: `python -m tests.contact.random_pairs 100000` prints a table, one row per kind.

A third of the pairs is apart, a third within 1e-6 of its size of touch-down, a third deep, up to concentric.
Convex bodies have a support h(u) = max u . p. With n from a to b, c the center of b in a's frame, and

    d(n) = h_a(n) + h_b(-n) - c . n

the depth is the least d of all n. A row is right where

    1. Q is on a's surface and Q - x n on b's, by the equations of the surfaces;
    2. n . Q = h_a(n) and -n . (Q - x n) = h_b(-n): both are furthest along n, so x = d(n);
    3. where x < 0 that is a proof: no points are nearer than planes between them. Where x > 0 a search over
       directions of a and of b, refined without slopes, finds no smaller d.

Rings and terrain are not convex: there a search for the nearest point of the ring's circle, or of SciPy's
spline through the heights, takes the place of 2 and 3.
"""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter

import numpy as np

import condyle as cd
from condyle import contact
from tests.contact.random_shapes import (
    BRICK,
    FLAT,
    GRAIN,
    PEBBLE,
    SOAP,
    THIN,
    Box,
    Crowned,
    Cylinder,
    Ellipsoid,
    Floor,
    Hills,
    Ring,
    Sphere,
    dot,
    unit,
)


@dataclass
class Result:
    """What a run of one kind found."""

    kind: str
    pairs: int
    named: int = 0
    wrong: int = 0
    searched: int = 0
    off_surface: float = 0.0
    off_depth: float = 0.0
    beyond: float = 0.0
    seconds: float = 0.0
    bad: list = field(default_factory=list)

    def row(self) -> str:
        solved = self.pairs - self.named - self.wrong
        return (
            f"| {self.kind} | {self.pairs:,} | {solved:,} | {self.named:,} | {self.wrong:,} | "
            f"{self.off_surface:.0e} | {self.off_depth:.0e} | {self.searched:,} | "
            f"{self.beyond:.0e} |"
        )


HEAD = """| pair | run | solved | named | wrong | off the surfaces | off d(n) | searched | above the search |
|---|---|---|---|---|---|---|---|---|"""


def rotations(q):
    """Of quaternions (N, 4), shape (N, 3, 3)."""
    w, x, y, z = q.T
    entries = [
        1 - 2 * (y * y + z * z),
        2 * (x * y - w * z),
        2 * (x * z + w * y),
        2 * (x * y + w * z),
        1 - 2 * (x * x + z * z),
        2 * (y * z - w * x),
        2 * (x * z - w * y),
        2 * (y * z + w * x),
        1 - 2 * (x * x + y * y),
    ]
    return np.stack(entries, axis=1).reshape(-1, 3, 3)


def poses(rng, count):
    """Both turned at random, at the origin."""
    q = np.zeros((count, 14))
    for k in (0, 7):
        q[:, k : k + 4] = unit(rng.normal(size=(count, 4)))
    return q


class Asked:
    """A system of two bodies with one contact, and what it says of many states at once."""

    def __init__(self, a, b):
        P, needs = [cd.Parameter(f"s{k}", x) for k, x in enumerate([*a.first(), *b.first()])], a.needs
        self.system = cd.System(gravity=(0, 0, 0))
        for body in "ab":
            self.system.add_body(body, mobilizer=cd.Free(), mass=1.0, inertia=(1, 1, 1))
        self.system.add_contact("touch", a.surface("a", P[:needs]), b.surface("b", P[needs:]))

    def __call__(self, what, q, sizes):
        tail = {"parameters": self.ordered(sizes)} if sizes.shape[1] else {}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*finds no closest points", category=RuntimeWarning)
            return getattr(self.system.contacts, what)(q, **tail)[:, 0]

    def all_depths(self, q, sizes):
        """Of all pieces, shape (states, pieces); and seconds."""
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*finds no closest points", category=RuntimeWarning)
            x = self.system.contacts.depths(q, parameters=self.ordered(sizes))
        return x.reshape(len(q), -1), time.process_time() - began

    def ordered(self, sizes):
        """As the system has its Parameters."""
        return sizes[:, [int(name[1:]) for name in self.system.parameters]]

    def where(self, q, sizes):
        """x, n and Q, of equal materials."""
        x, n, P = (self(what, q, sizes) for what in ("depths", "normals", "points"))
        return x, n, P + 0.5 * x[:, None] * n


@cache
def fibonacci(count):
    k = np.arange(count) + 0.5
    z, turn = 1 - 2 * k / count, np.pi * (1 + 5**0.5) * k
    return np.stack([np.sqrt(1 - z**2) * np.cos(turn), np.sqrt(1 - z**2) * np.sin(turn), z], axis=1)


def least(overlap, ways, starts=3, rounds=45):
    """The least overlap near the best of directions (N, m, 3) each, refined by steps that shrink."""
    d = overlap(ways)
    best, rows = d.min(axis=1), np.arange(len(d))
    for _ in range(starts):
        n = ways[rows, np.argmin(d, axis=1)]
        d = np.where(np.einsum("nmi,ni->nm", ways, n) > 0.95, np.inf, d)
        at, step = overlap(n[:, None])[:, 0], np.full(len(n), 0.1)
        for _ in range(rounds):
            t = unit(np.cross(n, np.where(np.abs(n[:, :1]) < 0.6, [[1.0, 0, 0]], [[0, 1.0, 0]])))
            e = np.cross(n, t)
            by = np.stack([t, -t, e, -e, (t + e) * 0.7, (t - e) * 0.7, (e - t) * 0.7, -(t + e) * 0.7], axis=1)
            trial = unit(n[:, None] + step[:, None, None] * by)
            values = overlap(trial)
            pick = np.argmin(values, axis=1)
            better = values[rows, pick] < at
            n = np.where(better[:, None], trial[rows, pick], n)
            at, step = np.minimum(values[rows, pick], at), np.where(better, step, step * 0.5)
        best = np.minimum(best, at)
    return best


def convex(kind, count, seed=0, around=300, search=None):
    """Two bodies with supports."""
    one, other = CONVEX[kind]
    rng = np.random.default_rng([seed, *kind.encode()])
    ask = Asked(one, other)
    s_a, s_b = one.sizes(rng, count), other.sizes(rng, count)
    sizes = np.hstack([s_a, s_b])
    size = np.maximum(one.large(s_a), other.large(s_b))
    small = np.minimum(one.large(s_a), other.large(s_b))
    q = poses(rng, count)
    R_a, R_b = rotations(q[:, :4]), rotations(q[:, 7:11])
    local = lambda R, v: np.einsum("nji,nj->ni", R, v)
    third = np.arange(count) % 3
    w = unit(rng.normal(size=(count, 3)))
    touches = one.support(s_a, local(R_a, w)) + other.support(s_b, local(R_b, -w))
    far = np.where(third == 2, touches * rng.uniform(0, 1, count), touches + small * rng.uniform(0, 3, count))
    far[(third == 2) & (rng.uniform(size=count) < 0.02)] = 0.0  # concentric
    q[:, 11:] = far[:, None] * w
    x, n, Q, seconds = grazed(ask, rng, q, sizes, small, third)
    out = Result(kind, count, searched=0, seconds=seconds)
    none = np.zeros(count, bool)
    if kind == "sphere, sphere":  # of one center: no normal, as is stated
        none = (far == 0) & ~n.any(axis=1) & (np.abs(x - touches) < 1e-15 * size)
        n[none], Q[none] = w[none], s_a[none] * w[none]
    good = np.isfinite(x)
    # 1: on both surfaces
    p_a, p_b = local(R_a, Q), local(R_b, Q - x[:, None] * n - q[:, 11:])
    n_a, n_b = local(R_a, n), local(R_b, -n)
    off = np.zeros(count)
    for shape, s, p, m in ((one, s_a, p_a, n_a), (other, s_b, p_b, n_b)):
        by = (
            np.linalg.norm(p - shape.furthest(s, m), axis=1) if shape.off is None else np.abs(shape.off(s, p))
        )
        off = np.maximum(off, by / size)
    # 2: furthest along n
    h_a, h_b = one.support(s_a, n_a), other.support(s_b, n_b)
    d = h_a + h_b - dot(n, q[:, 11:])
    depth = np.maximum(np.abs(h_a - dot(n_a, p_a)), np.abs(h_b - dot(n_b, p_b)))
    depth = np.maximum(np.maximum(depth, np.abs(d - x)), size * np.abs(dot(n, n) - 1)) / size
    # 3: nothing is below
    deep = np.flatnonzero(good & (x > 0))
    if search is not None and len(deep) > search:
        deep = np.sort(rng.choice(deep, search, replace=False))
    beyond = np.zeros(count)
    for rows in np.array_split(deep, max(1, len(deep) // 1000)):
        turn = lambda R, v: np.einsum("nij,nmj->nmi", R, v)
        every = np.vstack([fibonacci(around), np.eye(3), -np.eye(3)])
        every = np.broadcast_to(every, (len(rows), *every.shape))
        across = np.cross(R_a[rows, :, 2], R_b[rows, :, 2])
        ways = np.concatenate(
            [
                turn(R_a[rows], every),
                turn(R_b[rows], every),
                across[:, None],
                -across[:, None],
                n[rows, None],
            ],
            axis=1,
        )
        ways = unit(ways)

        def overlap(v, rows=rows):
            back = lambda R, v: np.einsum("nji,nmj->nmi", R[rows], v)
            return (
                one.support(s_a[rows, None], back(R_a, v))
                + other.support(s_b[rows, None], -back(R_b, v))
                - np.einsum("nmi,ni->nm", v, q[rows, 11:])
            )

        beyond[rows] = np.maximum(x[rows] - least(overlap, ways), 0) / small[rows]
    out.searched = len(deep)
    judged(out, good, off, depth, beyond)
    out.details = {
        "x": x,
        "n": n,
        "Q": Q,
        "q": q,
        "sizes": sizes,
        "off": off,
        "depth": depth,
        "beyond": beyond,
        "ask": ask,
        "small": small,
        "size": size,
        "third": third,
    }
    return out


CONVEX = {
    "sphere, sphere": (Sphere(), Sphere()),
    "sphere, ellipsoid": (Sphere(), Ellipsoid()),
    "ellipsoid, ellipsoid": (Ellipsoid(), Ellipsoid()),
    "sphere, cylinder": (Sphere(), Cylinder()),
    "ellipsoid, cylinder": (Ellipsoid(), Crowned()),
    "cylinder, cylinder": (Crowned(), Crowned()),
    "sphere, box": (Sphere(), Box()),
    "sphere, implicit": (Sphere(), PEBBLE),
    "sphere, implicit of power 4": (Sphere(), SOAP),
    "ellipsoid, implicit": (Ellipsoid(), PEBBLE),
    "ellipsoid, implicit of power 4": (Ellipsoid(), SOAP),
    "implicit, implicit": (PEBBLE, PEBBLE),
    "implicit, smaller implicit": (PEBBLE, GRAIN),
    "implicit, implicit of power 4": (PEBBLE, SOAP),
    "both of power 4": (SOAP, SOAP),
    "sphere, implicit of power 6": (Sphere(), BRICK),
    "thin implicit, implicit of power 6": (THIN, BRICK),
    "both of power 6": (BRICK, BRICK),
}


def grazed(ask, rng, q, sizes, small, third):
    """x, n, Q, with a third moved to within 1e-6 of the smaller size of touch-down; and seconds."""
    began = time.process_time()
    x, n, Q = ask.where(q, sizes)
    graze = (third == 1) & np.isfinite(x)
    q[graze, 11:] += ((x + small * rng.uniform(-1e-6, 1e-6, len(q)))[:, None] * n)[graze]
    x[graze], n[graze], Q[graze] = ask.where(q[graze], sizes[graze])
    return x, n, Q, time.process_time() - began


def judged(out, good, off, depth, beyond, allowed=1e-9):
    """Fill in a result."""
    bad = good & ((off > allowed) | (depth > 1e-12) | (beyond > 1e-9))
    out.named, out.wrong, out.bad = int((~good).sum()), int(bad.sum()), np.flatnonzero(bad).tolist()
    if good.any():
        out.off_surface, out.off_depth, out.beyond = (float(y[good].max()) for y in (off, depth, beyond))
    return out


def on_floors(kind, count, seed=0, **_):
    """On a plane the depth is a support: nothing to search."""
    one, other = Floor(), FLOORS[kind]
    rng, ask = np.random.default_rng([seed, *kind.encode()]), Asked(one, other)
    s, q, third = other.sizes(rng, count), poses(rng, count), np.arange(count) % 3
    size = other.large(s)
    R_a, R_b = rotations(q[:, :4]), rotations(q[:, 7:11])
    n_G = R_a @ one.normal
    m = np.einsum("nji,nj->ni", R_b, -n_G)
    h, along = other.support(s, m), unit(rng.normal(size=(count, 3)))
    along -= dot(along, n_G)[:, None] * n_G
    up = np.where(third == 2, h * rng.uniform(-1, 1, count), h + size * rng.uniform(0, 3, count))
    q[:, 11:] = up[:, None] * n_G + size[:, None] * along
    x, n, Q, seconds = grazed(ask, rng, q, s, size, third)
    p = np.einsum("nji,nj->ni", R_b, Q - x[:, None] * n - q[:, 11:])
    off = (
        np.linalg.norm(p - other.furthest(s, m), axis=1)
        if other.off is None
        else np.maximum(np.abs(other.off(s, p)), np.abs(dot(m, p) - h))
    )
    depth = np.maximum(np.abs(h - dot(n_G, q[:, 11:]) - x), np.abs(dot(n_G, Q)))
    depth = np.maximum(depth, size * np.linalg.norm(n - n_G, axis=1))
    return judged(
        Result(kind, count, seconds=seconds),
        np.isfinite(x),
        off / size,
        depth / size,
        0 * size,
        1e-9 if kind != "plane, torus" else FLAT,
    )  # which is as much thicker


def corners(kind, count, seed=0, **_):
    """A box on a plane: the deepest of eight corners has the depth of the rounded box."""
    one, other, rng = Floor(), Box(), np.random.default_rng([seed, *kind.encode()])
    ask, s, q = Asked(one, other), other.sizes(rng, count), poses(rng, count)
    R_a, R_b = rotations(q[:, :4]), rotations(q[:, 7:11])
    n_G, size = R_a @ one.normal, other.large(s)
    h = other.support(s, np.einsum("nji,nj->ni", R_b, -n_G))
    up = heights(rng, h, size)
    q[:, 11:] = up[:, None] * n_G
    x, seconds = ask.all_depths(q, s)
    depth = np.abs(x.max(axis=1) - (h - up)) / size
    return judged(Result(kind, count, seconds=seconds), np.isfinite(depth), 0 * size, depth, 0 * size)


def heights(rng, h, size):
    """Of bodies above planes: a third apart, grazing, deep."""
    third = np.arange(len(h)) % 3
    return np.where(
        third == 0,
        h + size * rng.uniform(0, 3, len(h)),
        np.where(third == 1, h + size * rng.uniform(-1e-6, 1e-6, len(h)), h * rng.uniform(-1, 1, len(h))),
    )


def rims(kind, count, seed=0, **_):
    """A cylinder that does not yield on a plane: a ring at each end."""
    one, other, rng = Floor(), Cylinder(), np.random.default_rng([seed, *kind.encode()])
    stiff = contact.Rigid()
    one.surface = lambda body, p: contact.HalfSpace(body, one.normal, 0.0, stiff)
    other.surface = lambda body, p: contact.Cylinder(body, None, p[0], p[1], stiff, rim=p[2])
    ask, s, q = Asked(one, other), other.sizes(rng, count), poses(rng, count)
    n_G, size = rotations(q[:, :4]) @ one.normal, np.hypot(s[:, 0], s[:, 1] / 2)
    m, (out, along) = np.einsum("nji,nj->ni", rotations(q[:, 7:11]), -n_G), other.core(s)
    h = s[:, 2] + out * np.sqrt(m[:, 0] ** 2 + m[:, 1] ** 2 + FLAT**2)
    up = heights(rng, h + along * np.abs(m[:, 2]), size)
    q[:, 11:] = up[:, None] * n_G
    x, seconds = ask.all_depths(q, s)
    wanted = np.stack([h - along * m[:, 2] - up, h + along * m[:, 2] - up], axis=1)
    depth = np.abs(x - wanted).max(axis=1) / size
    return judged(Result(kind, count, seconds=seconds), np.isfinite(depth), 0 * size, depth, 0 * size)


SIGNS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])


def boxes(kind, count, seed=0, **_):
    """The corners of each box, small balls, in the other as its equation has them: 16 depths."""
    shape, rng = Box(), np.random.default_rng([seed, *kind.encode()])
    ask, q, third = Asked(shape, shape), poses(rng, count), np.arange(count) % 3
    s = [shape.sizes(rng, count) for _ in range(2)]
    R = [rotations(q[:, k : k + 4]) for k in (0, 7)]
    size, small = (f(*map(shape.large, s)) for f in (np.maximum, np.minimum))
    w = unit(rng.normal(size=(count, 3)))
    local = lambda k, v: np.einsum("nji,nj->ni", R[k], v)
    h = shape.support(s[0], local(0, w)) + shape.support(s[1], local(1, -w))
    far = np.where(third == 2, h * rng.uniform(0, 1, count), h + small * rng.uniform(0, 3, count))
    q[:, 11:] = far[:, None] * w
    sizes, signs = np.hstack(s), np.repeat(SIGNS[None], count, 0)

    def expected(q):
        out = []
        for mine, its, sign in ((0, 1, -1), (1, 0, 1)):
            at = np.einsum("nij,nkj->nki", R[mine], signs * (s[mine][:, None, :3] - s[mine][:, None, 3:]))
            at = np.einsum("nji,nkj->nki", R[its], at + sign * q[:, None, 11:])
            off = shape.off(np.repeat(s[its], 8, axis=0), at.reshape(-1, 3)).reshape(count, 8)
            out.append(s[mine][:, 3:] - off)
        return np.hstack(out)

    moved = q.copy()
    for _ in range(60):  # until a corner touches, if one does on this way
        moved[:, 11:] += expected(moved).max(axis=1)[:, None] * w
    graze = (third == 1) & (np.abs(expected(moved)).min(axis=1) < 1e-9 * small)
    q[graze] = moved[graze]
    q[graze, 11:] += ((small * rng.uniform(-1e-6, 1e-6, count))[:, None] * w)[graze]
    x, seconds = ask.all_depths(q, sizes)
    wanted = expected(q)
    depth = np.abs(x - wanted).max(axis=1) / size
    out = judged(Result(kind, count, seconds=seconds), np.isfinite(x).all(axis=1), 0 * size, depth, 0 * size)
    out.details = {"x": x, "wanted": wanted, "third": third, "small": small, "sizes": sizes, "q": q}
    return out


def in_rings(kind, count, seed=0, **_):
    """The nearest point of the circle, of 240 refined by steps that shrink. A pair is named with reason where
    the ball overlaps all discs across the ring up to a radian from there, on both sides; no other may be,
    and none that is apart."""
    one, other, rng = Sphere(), Ring(), np.random.default_rng([seed, *kind.encode()])
    ask, s_a, s_b, q = Asked(one, other), one.sizes(rng, count), other.sizes(rng, count), poses(rng, count)
    if kind == "smaller sphere, torus":
        s_a = s_b[:, :1] * 10.0 ** rng.uniform(-2, -0.5, (count, 1))
    third, R_b = np.arange(count) % 3, rotations(q[:, 7:11])
    angle, size = rng.uniform(0, 2 * np.pi, count), np.maximum(s_a[:, 0], other.large(s_b))
    small, touching = np.minimum(s_a[:, 0], s_b[:, 1]), s_a[:, 0] + s_b[:, 1]
    circle = lambda a: s_b[:, :1] * np.stack([np.cos(a), np.sin(a), 0 * a], axis=1)
    far = np.where(
        third == 2, touching * rng.uniform(0, 1, count), touching + small * rng.uniform(0, 3, count)
    )
    # in the half of the plane through the axis where that point of the circle is the nearest
    up = rng.uniform(0, 2 * np.pi, count)
    up = np.where(s_b[:, 0] + far * np.cos(up) < 0, np.pi - up, up)
    y = circle(angle) * (1 + far * np.cos(up) / s_b[:, 0])[:, None]
    y[:, 2] = far * np.sin(up)
    y[rng.uniform(size=count) < 0.02, :2] = 0.0  # on the axis
    q[:, 11:] = -np.einsum("nij,nj->ni", R_b, y)
    x, n, Q, seconds = grazed(ask, rng, q, np.hstack([s_a, s_b]), small, third)
    y = -np.einsum("nji,nj->ni", R_b, q[:, 11:])  # center of the ball in the ring
    from_circle = lambda a: np.linalg.norm(y - circle(a), axis=1)
    a, least_one = np.zeros(count), np.full(count, np.inf)
    for try_ in np.linspace(0, 2 * np.pi, 240, endpoint=False):
        d = from_circle(np.full(count, try_))
        a, least_one = np.where(d < least_one, try_, a), np.minimum(d, least_one)
    step = np.full(count, 0.03)
    for _ in range(80):
        for sign in (1, -1):
            d = from_circle(a + sign * step)
            better = d < least_one
            a, least_one = np.where(better, a + sign * step, a), np.minimum(d, least_one)
        step *= 0.7
    p = np.einsum("nji,nj->ni", R_b, Q - x[:, None] * n - q[:, 11:])
    off = np.abs(np.hypot(np.hypot(p[:, 0], p[:, 1]) - s_b[:, 0], p[:, 2]) - s_b[:, 1])
    off = np.maximum(off, np.abs(np.linalg.norm(Q, axis=1) - s_a[:, 0])) / size
    depth = np.maximum(np.abs(touching - least_one - x) / size, np.abs(dot(n, n) - 1))
    # the ball's distance from discs of the ring up to a radian around; searched to 1e-8 rad or better
    around = []
    for by in np.linspace(-1, 1, 21):
        e, w = (unit(circle(a + turn)) for turn in (by, by + np.pi / 2))
        off_disc = np.maximum(np.hypot(dot(y, e) - s_b[:, 0], y[:, 2]) - s_b[:, 1], 0)
        around.append(np.hypot(off_disc, dot(y, w)) - s_a[:, 0])
    around = np.max(around, axis=0)
    good, rounding = np.isfinite(x), 1e-7 * s_b[:, 0] + 1e-12 * size
    refused = ~good & ((around > rounding) | (touching - least_one < -rounding))
    silent = good & (around < -rounding)
    out = judged(Result(kind, count, searched=count, seconds=seconds), good, off, depth, 0 * size)
    out.wrong, out.named = out.wrong + int((refused | silent).sum()), out.named - int(refused.sum())
    out.bad += np.flatnonzero(refused | silent).tolist()
    out.details = {"x": x, "third": third, "s_a": s_a, "s_b": s_b, "around": around}
    return out


def on_hills(kind, count, seed=0, **_):
    hills, rng = Hills(), np.random.default_rng([seed, *kind.encode()])
    ask, third = Asked(hills, Sphere()), np.arange(count) % 3
    r = 10.0 ** rng.uniform(-3, 0, (count, 1))
    q = poses(rng, count)
    q[:, :4] = 1, 0, 0, 0
    ground, up = hills.at(rng.uniform(-0.8, 0.8, (count, 2)))
    far = np.where(third == 2, r[:, 0] * rng.uniform(-0.5, 1, count), r[:, 0] + rng.uniform(0, 0.3, count))
    q[:, 11:] = ground + far[:, None] * up
    x, n, Q, seconds = grazed(ask, rng, q, r, r[:, 0], third)
    c = q[:, 11:]
    good = np.isfinite(x)
    off = np.maximum(
        np.abs(hills.above(np.nan_to_num(Q))),
        np.abs(np.linalg.norm(Q - x[:, None] * n - c, axis=1) - r[:, 0]),
    )
    beyond = np.abs(x - (r[:, 0] - hills.distance(c)[0]))
    return judged(
        Result(kind, count, searched=count, seconds=seconds),
        good,
        off,
        0 * c[:, 0],
        np.where(good, np.maximum(beyond - 1e-9, 0), 0),
    )  # steps end at 1e-10 of slopes


def corners_on_hills(kind, count, seed=0, **_):
    """Boxes of up to 0.2 m: the nearest point of the ground to each of eight corners."""
    hills, shape, rng = Hills(), Box(), np.random.default_rng([seed, *kind.encode()])
    ask, q, third = Asked(hills, shape), poses(rng, count), np.arange(count) % 3
    s = shape.sizes(rng, count) * 0.02
    q[:, :4] = 1, 0, 0, 0
    ground, up = hills.at(rng.uniform(-0.6, 0.6, (count, 2)))
    local = np.repeat(SIGNS[None], count, 0) * (s[:, None, :3] - s[:, None, 3:])
    each = np.einsum("nij,nkj->nki", rotations(q[:, 7:11]), local)
    h = s[:, 3] - np.einsum("nki,ni->nk", each, up).min(axis=1)  # of the lowest corner
    far = np.where(third == 2, h * rng.uniform(-0.5, 1, count), h + rng.uniform(0, 0.3, count))
    q[:, 11:] = ground + far[:, None] * up
    lowest = np.einsum("nki,ni->nk", each, up).argmin(axis=1)
    for _ in range(20):
        graze = np.flatnonzero(third == 1)
        down = hills.distance(q[graze, 11:] + each[graze, lowest[graze]])[0] - s[graze, 3]
        if np.abs(down).max() < 1e-9:
            break
        q[graze, 11:] -= down[:, None] * up[graze]
    q[third == 1, 11:] += (s[:, 3] * rng.uniform(-1e-6, 1e-6, count))[third == 1, None] * up[third == 1]
    x, seconds = ask.all_depths(q, s)
    c = (q[:, None, 11:] + each).reshape(-1, 3)
    beyond = np.abs(x - (s[:, 3:] - hills.distance(c)[0].reshape(count, 8))).max(axis=1)
    good = np.isfinite(x).all(axis=1)
    return judged(
        Result(kind, count, searched=count, seconds=seconds),
        good,
        0 * s[:, 0],
        0 * s[:, 0],
        np.where(good, np.maximum(beyond - 1e-9, 0), 0),
    )


FLOORS = {
    "plane, sphere": Sphere(),
    "plane, ellipsoid": Ellipsoid(),
    "plane, cylinder": Crowned(),
    "plane, torus": Ring(),
    "plane, implicit": PEBBLE,
    "plane, implicit of power 4": SOAP,
}
KINDS = {
    **dict.fromkeys(FLOORS, on_floors),
    "plane, box": corners,
    "plane, rims of a cylinder": rims,
    **dict.fromkeys(CONVEX, convex),
    "sphere, torus": in_rings,
    "smaller sphere, torus": in_rings,
    "box, box": boxes,
    "terrain, sphere": on_hills,
    "terrain, box": corners_on_hills,
}


CHUNK = 10_000


def many(kind, count, each=None):
    """Pairs of a kind in chunks, the seeds 0, 1, ...; each(result so far) is called after every chunk."""
    out = Result(kind, 0)
    for seed, rest in enumerate(range(count, 0, -CHUNK)):
        new = KINDS[kind](kind, min(rest, CHUNK), seed=seed)
        for name in ("pairs", "named", "wrong", "searched", "seconds"):
            setattr(out, name, attrgetter(name)(out) + attrgetter(name)(new))
        for name in ("off_surface", "off_depth", "beyond"):
            setattr(out, name, max(attrgetter(name)(out), attrgetter(name)(new)))
        out.bad += [(seed, k) for k in new.bad]
        if each is not None:
            each(out)
    return out


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    print(HEAD)
    for kind in sys.argv[2:] or KINDS:
        so_far = lambda out: print(
            f"{out.kind}: {out.pairs} pairs, {out.named} named, {out.wrong} wrong, "
            f"{out.seconds:.0f} s solving",
            file=sys.stderr,
            flush=True,
        )
        print(many(kind, count, so_far).row(), flush=True)
