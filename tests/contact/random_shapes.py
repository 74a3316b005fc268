"""Kinds of surfaces as random pairs need them: sizes, supports and equations of their own, in NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from condyle import contact

MADE_OF = contact.Material(1e6)
FLAT = 1e-3
"""Default of cylinders and rings."""


def dot(a, b):
    return np.einsum("...i,...i->...", a, b)


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


class Shape:
    """A kind of surface: sizes (N, k), in its own frame. `support` broadcasts over directions (..., 3)."""

    needs = 0

    def first(self):
        """Sizes that Parameters begin with."""
        return self.sizes(np.random.default_rng(0), 1)[0]

    def sizes(self, rng, count):
        """Overall from 1 mm to 10 m, each length from a tenth of that to all of it."""
        scale = 10.0 ** rng.uniform(-3, 1, (count, 1))
        return scale * 10.0 ** rng.uniform(-1, 0, (count, self.needs))

    def large(self, s):
        """Half of the extent."""
        return s.max(axis=1)


class Sphere(Shape):
    needs = 1

    def surface(self, body, p):
        return contact.Sphere(body, (0, 0, 0), p[0], MADE_OF)

    def support(self, s, u):
        return s[..., 0]

    def off(self, s, p):
        return np.linalg.norm(p, axis=-1) - s[:, 0]


class Ellipsoid(Shape):
    needs = 3

    def surface(self, body, p):
        return contact.Ellipsoid(body, None, p, MADE_OF)

    def support(self, s, u):
        return np.sqrt(dot(s**2, u**2))

    def off(self, s, p):
        r = np.linalg.norm(p / s, axis=1)
        return (r - 1) * r / np.linalg.norm(p / s**2, axis=1)  # to first order


class Cylinder(Shape):
    """Radius, length and rim: spheres meet it as it is."""

    needs = 3

    def sizes(self, rng, count):
        s = super().sizes(rng, count)
        s[:, 2] = np.minimum(s[:, 0], s[:, 1] / 2) * 10.0 ** rng.uniform(-3, -0.3, count)
        return s

    def surface(self, body, p):
        return contact.Cylinder(body, None, p[0], p[1], MADE_OF, rim=p[2])

    def core(self, s):
        return s[..., 0] - s[..., 2], s[..., 1] / 2 - s[..., 2]

    def support(self, s, u):
        out, up = self.core(s)
        return s[..., 2] + out * np.hypot(u[..., 0], u[..., 1]) + up * np.abs(u[..., 2])

    def off(self, s, p):
        out, up = self.core(s)
        by = np.stack([np.hypot(p[:, 0], p[:, 1]) - out, np.abs(p[:, 2]) - up], axis=1)
        return (np.linalg.norm(np.maximum(by, 0), axis=1) + np.minimum(by.max(axis=1), 0)) - s[:, 2]


class Crowned(Cylinder):
    """The same as the others meet it: (31b)."""

    def parts(self, s):
        out, up = self.core(s)
        return (out - FLAT * up) / (1 - FLAT**2), (up - FLAT * out) / (1 - FLAT**2)

    def support(self, s, u):
        (disc, needle), across = self.parts(s), u[..., 0] ** 2 + u[..., 1] ** 2
        along = u[..., 2] ** 2
        flat, thin = np.sqrt(across + FLAT**2 * along), np.sqrt(FLAT**2 * across + along)
        return s[..., 2] + disc * flat + needle * thin

    off = None
    """It has no equation: the furthest point along n does instead."""

    def furthest(self, s, u):
        disc, needle = (x[:, None] for x in self.parts(s))
        flat, thin = np.array([1, 1, FLAT]), np.array([FLAT, FLAT, 1])
        return s[:, 2:3] * u + sum(
            size * d**2 * u / np.linalg.norm(d * u, axis=1)[:, None]
            for size, d in ((disc, flat), (needle, thin))
        )


class Box(Shape):
    """Half-lengths and edge."""

    needs = 4

    def sizes(self, rng, count):
        s = super().sizes(rng, count)
        s[:, 3] = s[:, :3].min(axis=1) * 10.0 ** rng.uniform(-3, -0.1, count)
        return s

    def large(self, s):
        return np.linalg.norm(s[:, :3], axis=1)

    def surface(self, body, p):
        return contact.Box(body, None, p[:3], MADE_OF, edge=p[3])

    def support(self, s, u):
        return s[..., 3] + dot(s[..., :3] - s[..., 3:], np.abs(u))

    def off(self, s, p):
        by = np.abs(p) - (s[:, :3] - s[:, 3:])
        return (np.linalg.norm(np.maximum(by, 0), axis=1) + np.minimum(by.max(axis=1), 0)) - s[:, 3]


@dataclass
class Written(Shape):
    """A surface in Python whose support is known: sum of |(x - m) / r|^power = 1."""

    radii: tuple[float, float, float]
    middle: tuple[float, float, float] = (0.0, 0.0, 0.0)
    power: int = 2

    def sizes(self, rng, count):
        return np.zeros((count, 0))

    def large(self, s):
        return np.full(len(s), max(self.radii))

    def surface(self, body, p):
        (a, b, c), (k, m, n), e = self.radii, self.middle, self.power

        def f(x, y, z):
            return ((x - k) / a) ** e + ((y - m) / b) ** e + ((z - n) / c) ** e - 1

        return contact.Implicit(body, None, f, 1.5 * max(self.radii) + np.linalg.norm(self.middle), MADE_OF)

    def support(self, s, u):
        dual = self.power / (self.power - 1)
        return (np.abs(np.array(self.radii) * u) ** dual).sum(axis=-1) ** (1 / dual) + u @ np.array(
            self.middle
        )

    def off(self, s, p):
        z = (p - self.middle) / np.array(self.radii)
        f = (z**self.power).sum(axis=1) - 1
        return f / np.linalg.norm(self.power * z ** (self.power - 1) / self.radii, axis=1)


PEBBLE = Written((0.3, 0.2, 0.1), (0.05, -0.03, 0.02))
SOAP = Written((0.2, 0.12, 0.25), power=4)
GRAIN = Written((0.02, 0.015, 0.03), (0.0, 0.002, 0.0))
THIN = Written((0.3, 0.03, 0.15))
BRICK = Written((0.2, 0.1, 0.25), power=6)


class Ring(Shape):
    """Radius and radius of the tube; on half-spaces with the support of a ring that is flat within FLAT."""

    needs = 2

    def sizes(self, rng, count):
        s = super().sizes(rng, count)
        s[:, 1] = s[:, 0] * 10.0 ** rng.uniform(-2, -0.1, count)
        return s

    def large(self, s):
        return s.sum(axis=1)

    def surface(self, body, p):
        return contact.Torus(body, None, p[0], p[1], MADE_OF)

    def support(self, s, u):
        return s[:, 0] * np.sqrt(u[:, 0] ** 2 + u[:, 1] ** 2 + FLAT**2) + s[:, 1]

    off = None

    def furthest(self, s, u):
        e = u[:, :2] / np.sqrt(u[:, 0] ** 2 + u[:, 1] ** 2 + FLAT**2)[:, None]
        return s[:, :1] * np.hstack([e, np.zeros((len(u), 1))]) + s[:, 1:] * u


class Floor(Shape):
    """A tilted half-space."""

    normal = unit(np.array([0.2, 1.0, -0.1]))

    def sizes(self, rng, count):
        return np.zeros((count, 0))

    def surface(self, body, p):
        return contact.HalfSpace(body, self.normal, 0.0, MADE_OF)


class Hills(Shape):
    """Terrain, with SciPy's spline through its heights: the nearest point is the nearest of a fine grid,
    refined by steps that shrink."""

    def __init__(self):
        from scipy.interpolate import NdBSpline, make_interp_spline
        from scipy.spatial import cKDTree

        from tests.contact.rig import HILLS, X_GRID, Y_GRID

        self.heights = X_GRID, Y_GRID, HILLS
        along = make_interp_spline(X_GRID, HILLS, k=3, bc_type="natural")
        both = make_interp_spline(Y_GRID, along.c.T, k=3, bc_type="natural")
        self.spline = NdBSpline((along.t, both.t), np.ascontiguousarray(both.c.T), k=3)
        grid = np.linspace(-1, 1, 801)
        self.fine = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
        self.tree = cKDTree(np.column_stack([self.fine, self.spline(self.fine)]))

    def sizes(self, rng, count):
        return np.zeros((count, 0))

    def surface(self, body, p):
        return contact.HeightField(body, None, *self.heights, MADE_OF)

    def at(self, st):
        """Points above s, t, and normals there."""
        slopes = np.stack([self.spline(st, nu=(1, 0)), self.spline(st, nu=(0, 1))], axis=1)
        return np.column_stack([st, self.spline(st)]), unit(np.hstack([-slopes, np.ones((len(st), 1))]))

    def above(self, p):
        """Along z."""
        return p[:, 2] - self.spline(np.clip(p[:, :2], -1, 1))

    def distance(self, c):
        """To the nearest point, below 0 under the ground; and s, t of that."""
        at = self.fine[self.tree.query(c)[1]]
        far_of = lambda at: np.linalg.norm(np.column_stack([at, self.spline(at)]) - c, axis=1)
        best, step = far_of(at), np.full(len(c), 0.003)
        for _ in range(60):
            better = np.zeros(len(c), bool)
            for way in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                trial = np.clip(at + step[:, None] * np.array(way), -1, 1)
                d = far_of(trial)
                less = d < best
                at, best, better = np.where(less[:, None], trial, at), np.minimum(d, best), better | less
            step = np.where(better, step, step / 2)
        return np.where(self.above(c) < 0, -best, best), at
