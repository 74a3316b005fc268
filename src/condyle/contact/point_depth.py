"""The depth of a point in a surface, and the direction out of it. docs/theory/contact.md (44)-(47).

For a point y, in the frame of the caller, and the point S of the other surface that is nearest to it,

    S = y + x n,   n: unit normal of the surface at S, outwards;   x: depth, below zero outside           (44)

x has the slope -n, and grows at most as fast as y moves. A surface is one column of numbers, its pose and
sizes in that frame; its kind defines the equations.

An ellipsoid of radii a, least one a_m, with tau the largest root of                                      (45)

    g(tau) = sum of (a_i y_i / (tau + a_i^2 - a_m^2))^2 - 1 = 0,     S_i = a_i^2 y_i / (tau + a_i^2 - a_m^2)

which falls and is convex: Newton's method from the left never goes too far. An implicit surface f = 0, with
t_1, t_2 across its gradient at S:

    f(S) / |grad f| = 0,   t_1 . (S - y) = t_2 . (S - y) = 0                                              (46)

A mesh: the nearest point of the nearest triangle (47), by a search in a tree.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.contact.closest_points import length_and_direction, sphere_box, sphere_cylinder, sphere_torus
from condyle.contact.implicit_overlap import OUTWARDS
from condyle.contact.implicit_surface import Implicit
from condyle.contact.mesh import Mesh, most, nearest_triangle, on_triangle
from condyle.contact.solids import Box, Cylinder, Ellipsoid, Framed, Torus
from condyle.contact.surfaces import (
    ContactSurface,
    GivenPose,
    HalfSpace,
    Sphere,
    SurfacePose,
    Touch,
    bare,
    even_directions,
    tangents,
)
from condyle.contact.terrain import HeightField, height, nearest_ground
from condyle.errors import DescriptionError
from condyle.laws.described import Datum, sx
from condyle.native.solvers.implicit_function import implicit
from condyle.native.solvers.solver import Solver
from condyle.native.tables.lookup import look_up
from condyle.records import dataclass
from condyle.spatial.algebra import all_of, any_of
from condyle.trace import Traced

LIMIT, NEAR = 60, 1e-10
"""Largest number of Newton's steps; the last step over the size of the surface."""
TINY = 1e-14
"""Fraction of the smallest radius: points nearer to a plane of symmetry of an ellipsoid count as at this
distance."""
SLABS = 24
"""Number of pairs of planes around a mesh, besides those of its box."""
Near = Callable[[ca.SX, ca.SX, ca.SX], ca.SX]
Where = Callable[..., tuple[ca.SX, ca.SX]]


@dataclass(frozen=True, eq=False)
class PointDepth:
    """The depth of points of another body in a surface. Two with equal keys are equal.

    Its functions take the surface's sizes and y in its frame S, or, without a frame, all its numbers and y
    unchanged.

        Attributes:
            key: all that the equations depend on besides the numbers.
            size: of the numbers: R_S, p_S and sizes if it has a frame.
            find: sizes, y -> x and n of (44).
            bound: sizes, y -> an upper bound of x that grows at most as fast as y moves; by default x.
            solved: whether a solver finds x and n, which are NaN if it fails.
            near: sizes, y, r -> above 0 if a point at most r from y may be inside; by default bound + r. A second
                number may be above 0 if all these points are inside.
            within: sizes, y, r -> as find; x may be any number below -r for points further than r outside.
            known: sizes, y, r -> the first of `near` if it is known quickly, else infinity.
            framed: whether it has a frame S.
    """

    key: tuple[Any, ...]
    size: int
    find: Where
    bound: Callable[[ca.SX, ca.SX], ca.SX] | None = None
    solved: bool = False
    near: Near | None = None
    within: Where | None = None
    known: Near | None = None
    framed: bool = True

    def _local(self, given: SX, y: SX) -> tuple[SX, SX, SX]:
        """R_S, the sizes, and y in S."""
        if not self.framed:
            return ca.SX.eye(3), given, y
        R = ca.reshape(given[:9], 3, 3)
        return R, given[12:], R.T @ (y - given[9:12])

    def where(self, given: SX, y: SX) -> tuple[SX, SX]:
        """x and n of (44), of its numbers."""
        R, sizes, y = self._local(given, y)
        x, n = self.find(sizes, y)
        return x, R @ n

    def close(self, given: SX, y: SX, r: SX) -> tuple[SX, SX]:
        """Like `where` if y may be inside, or less than r outside; elsewhere x is any number below -r."""
        if self.within is None:
            return self.where(given, y)
        R, sizes, y = self._local(given, y)
        x, n = self.within(sizes, y, r)
        return x, R @ n

    def above(self, given: SX, y: SX) -> SX:
        """An upper bound of x that grows at most as fast as y moves."""
        _, sizes, y = self._local(given, y)
        return self.find(sizes, y)[0] if self.bound is None else self.bound(sizes, y)

    def reach(self, given: SX, y: SX, r: SX) -> SX:
        """Above 0 if a point at most r from y may be inside."""
        return self.above(given, y) + r if self.near is None else self.near(*self._local(given, y)[1:], r)

    @property
    def quick(self) -> Near | None:
        """`reach` if it is known quickly, else infinity; None if there is no such function."""
        known = self.known
        return known and (lambda given, y, r: known(*self._local(given, y)[1:], r))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PointDepth) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def numbers_of(surface: ContactSurface, pose: SurfacePose, R: SX, p: SX) -> SX:
    """The numbers of a surface in a frame that has the rotation R and the origin p in ground [m]."""
    if isinstance(surface, HalfSpace):
        n, height = surface.plane(pose)
        return ca.vertcat(R.T @ n, height - ca.dot(n, p))
    if isinstance(surface, Sphere):
        return ca.vertcat(R.T @ (surface.center_at(pose) - p), sx(surface.radius))
    assert isinstance(surface, Framed)
    R_S, p_S = surface.frame(pose)
    sizes = [ca.vec(sx(getattr(surface, f))) for f in SIZES[type(surface)]]
    return ca.densify(ca.vertcat(ca.vec(R.T @ R_S), R.T @ (p_S - p), *sizes))


def point_depth(surface: ContactSurface) -> PointDepth:
    """The depth of points in a surface.

    Raises:
        DescriptionError: points do not meet surfaces of this kind.
    """
    kind: Any = type(surface)
    if kind is HalfSpace:
        return PointDepth(("plane",), 4, _in_plane, framed=False)
    if kind is Sphere:
        return PointDepth(("sphere",), 4, _in_sphere, framed=False)
    if isinstance(surface, Mesh):
        return _mesh(surface.triangles)
    if isinstance(surface, Implicit):
        return _implicit(surface.law)
    if isinstance(surface, HeightField):
        return _ground(surface)
    if kind not in SIZES:
        known = ", ".join(sorted(k.__name__ for k in (HalfSpace, Sphere, *SIZES)))
        raise DescriptionError(f"no contact between Mesh and {kind.__name__}; Mesh touches {known}")
    return _framed(kind)


def _in_plane(g: SX, y: SX) -> tuple[SX, SX]:
    return g[3] - ca.dot(g[:3], y), g[:3]


def _in_sphere(g: SX, y: SX) -> tuple[SX, SX]:
    """At the center the direction is undefined, and n is zero."""
    distance, n = length_and_direction(y - g[:3])
    return g[3] - distance, n


SIZES: dict[type, tuple[str, ...]] = {
    Ellipsoid: ("radii",),
    Cylinder: ("radius", "length", "rim"),
    Torus: ("radius", "tube_radius", "flat"),
    Box: ("half_lengths", "edge"),
    Implicit: ("size",),
    Mesh: (),
    HeightField: (),
}
"""Surfaces with a frame that points can touch, and the numbers of each."""


CLOSED: dict[type, tuple[Callable[..., Touch], int]] = {
    Cylinder: (sphere_cylinder, 3),
    Torus: (sphere_torus, 3),
    Box: (sphere_box, 4),
}
"""Kinds whose contact with a sphere is a closed form: a point is a sphere of radius zero."""


@cache
def _framed(kind: type) -> PointDepth:
    if kind is Ellipsoid:
        return PointDepth(("ellipsoid",), 15, _in_ellipsoid, _above_ellipsoid, True)
    pair, sizes = CLOSED[kind]

    def where(g: SX, y: SX) -> tuple[SX, SX]:
        fields, start = {}, 0
        for name in SIZES[kind]:
            n = 3 if name == "half_lengths" else 1
            fields[name], start = Datum(g[start : start + n]), start + n
        point = bare(Sphere, center=(0.0,) * 3, radius=0.0)
        found = pair(
            point,
            GivenPose(ca.SX.eye(3), y),
            bare(kind, X=(np.eye(3), np.zeros(3)), **fields),
            GivenPose(ca.SX.eye(3), ca.SX(3, 1)),
        )
        return found.x, -found.n

    return PointDepth((kind.__name__,), 12 + sizes, where)


# ellipsoids


def _above_ellipsoid(radii: SX, y: SX) -> SX:
    """|y / a| has at most the slope 1 / a_m."""
    return ca.mmin(radii) * (1 - ca.norm_2(y / radii))


def _roots(tau: SX, p: SX) -> SX:
    """S / a of (45), p = radii, y."""
    a, y = p[:3], p[3:6]
    return a * y / (tau + a**2 - ca.mmin(a) ** 2)


def _in_ellipsoid(radii: SX, y: SX) -> tuple[SX, SX]:
    least = TINY * ca.mmin(radii)
    away = ca.if_else(ca.fabs(y) < least, ca.if_else(y < 0, -least, least), y)
    p = ca.vertcat(radii, away)
    tau = implicit(_ellipsoid(), lambda t, p: ca.sumsqr(_roots(t[0], p)) - 1, p, unknowns=1)[0]
    S = radii * _roots(tau, p)
    n = S / radii**2
    n = n / ca.norm_2(n)
    return ca.dot(n, S - y), n


@cache
def _ellipsoid() -> Solver:
    """Radii, y -> tau of (45)."""

    def start(p: SX) -> tuple[SX, SX]:
        a, y = p[:3], p[3:6]
        tau = ca.mmax(a * ca.fabs(y) - a**2) + ca.mmin(a) ** 2  # one term is 1, the sum is more
        return tau, ca.if_else(ca.sumsqr(p) < ca.inf, 1, ca.SX.nan())

    def step(p: SX, tau: SX) -> tuple[SX, SX]:
        a = p[:3]
        root = _roots(tau, p)
        g = ca.sumsqr(root) - 1
        slope = -2 * ca.sum1(root**2 / (tau + a**2 - ca.mmin(a) ** 2))
        after = ca.fmax(tau - g / slope, tau)
        return after, after - tau > NEAR * after

    return Solver.trace("point_in_ellipsoid", 6, start, step, lambda p, tau: tau, LIMIT)


# implicit surfaces


@lru_cache(maxsize=64)
def _implicit(law: Traced) -> PointDepth:
    f = law.function

    def derivatives(z: SX) -> tuple[SX, SX]:
        """Value and gradient."""
        y = ca.SX.sym("y", 3)
        value = f.call([y[0], y[1], y[2]], True, False)[0]
        g = ca.gradient(value, y)
        return tuple(ca.substitute([value, ca.densify(g)], [y], [ca.densify(z)]))  # type: ignore[return-value]

    def residual(z: SX, p: SX) -> SX:
        """(46), p = size, y."""
        value, g = derivatives(z)
        long = ca.norm_2(g)
        return ca.vertcat(value / long, *(ca.dot(t, z - p[1:4]) for t in tangents(g / long)))

    def outwards(size: SX, y: SX) -> SX:
        """The point where the line from the origin through y leaves the surface."""
        distance, w = length_and_direction(y)
        w = ca.if_else(distance > 0, w, ca.SX([1, 0, 0]))
        rho = size
        for _ in range(OUTWARDS):
            value, g = derivatives(rho * w)
            rho = ca.fmax(rho - value / ca.dot(g, w), 1e-3 * size)
        return rho * w

    def start(p: SX) -> tuple[SX, SX]:
        z = outwards(p[0], p[1:4])
        return ca.vertcat(z, ca.inf, ca.SX(3, 1)), ca.if_else(ca.sumsqr(p) < ca.inf, 1, ca.SX.nan())

    def step(p: SX, state: SX) -> tuple[SX, SX]:
        z, before, s, size = state[:3], state[3], state[4:], p[0]
        trial = z + s
        at = ca.SX.sym("z", 3)
        r = residual(at, p)
        r, J = ca.substitute([r, ca.densify(ca.jacobian(r, at))], [at], [trial])
        error = ca.norm_2(r)
        newton = -ca.solve(J, r)
        long = ca.norm_2(newton)
        newton = newton * ca.if_else(long > 0.3 * size, 0.3 * size / long, 1)
        kept = ca.if_else(error <= before, ca.vertcat(trial, error, newton), ca.vertcat(z, before, s / 3))
        far = ca.norm_2(kept[4:]) > NEAR * size
        lost = all_of(ca.logic_not(far), kept[3] > 1e-6 * size)
        return kept, ca.if_else(lost, ca.SX.nan(), far)

    solver = Solver.trace("point_in_implicit", 4, start, step, lambda p, state: state[:3] + state[4:], LIMIT)

    def where(sizes: SX, y: SX) -> tuple[SX, SX]:
        S = implicit(solver, residual, ca.vertcat(sizes[0], y), unknowns=3)[:3]
        g = derivatives(S)[1]
        n = g / ca.norm_2(g)
        return ca.dot(n, S - y), n

    def above(sizes: SX, y: SX) -> SX:
        """A convex surface is below each of its tangent planes, and within its ball."""
        z = outwards(sizes[0], y)
        g = derivatives(z)[1]
        beyond = ca.dot(g, z - y) / ca.norm_2(g)
        ball = sizes[0] - ca.norm_2(y)
        # within, all points may touch
        return ca.if_else(beyond < 0, ca.fmin(ball, beyond), ca.inf)

    return PointDepth(("implicit", law.text), 13, where, above, True)


# terrain


def _ground(ground: HeightField) -> PointDepth:
    """(42). Where a point is above the ground by z, the ground is at least z / sqrt(1 + slope^2) away."""
    x0, y0, dx, dy, m, n = ground.grid()
    per = (1 + ground.steepest**2) ** 0.5

    def where(_: SX, y: SX) -> tuple[SX, SX]:
        Q, out = nearest_ground(ground, y)[:2]
        return ca.dot(out, Q - y), out

    def below(y: SX) -> SX:
        """Height of the ground above y; beyond the grid it continues as at its border, and may be as
        steep."""
        s, t = ca.fmin(ca.fmax(y[0], x0), x0 + m * dx), ca.fmin(ca.fmax(y[1], y0), y0 + n * dy)
        return height(ground, s, t) - y[2] + ground.steepest * ca.norm_2(ca.vertcat(y[0] - s, y[1] - t))

    def above(_: SX, y: SX) -> SX:
        z = below(y)
        return ca.if_else(z < 0, z / per, z)

    key = "terrain", ground.cells.text, ground.grid()
    return PointDepth(key, 12, where, above, True, lambda _, y, r: below(y) + r * per)


# meshes


@lru_cache(maxsize=64)
def _mesh(triangles: Any) -> PointDepth:
    """(47). Pairs of planes around the mesh exclude most points outside without a search."""
    search, of_one = nearest_triangle(triangles, together=True), nearest_triangle(triangles)
    extent = np.ptp(triangles.vertices, axis=0)
    deepest = float(extent.min()) / 2
    out = np.vstack([np.eye(3), even_directions(2 * SLABS)[:SLABS]])
    heights = out @ triangles.vertices.T
    low, high = heights.min(axis=1), heights.max(axis=1)
    middles, halves = (low + high) / 2, (high - low) / 2 + 1e-12 * extent.max()

    def beyond(y: SX) -> SX:
        """A lower bound of the distance of y from the mesh."""
        each = ca.fabs(ca.DM(out) @ y - ca.DM(middles)) - ca.DM(halves)
        while each.numel() > 1:  # pairs: none waits for all others
            half = each.numel() // 2
            each = ca.vertcat(most(each[:half], each[half : 2 * half]), each[2 * half :])
        return each

    def where(_: SX, y: SX) -> tuple[SX, SX]:
        return on_triangle(look_up(of_one, ca.vertcat(y, ca.inf)), y)

    def close(_: SX, y: SX, r: SX) -> tuple[SX, SX]:
        off = beyond(y)
        far = off > r
        row = look_up(search, ca.vertcat(y, ca.if_else(far, -ca.inf, ca.inf)))
        row = ca.if_else(far, ca.DM(search.rows[0]), row)  # any face: slopes stay finite
        x, n = on_triangle(row, y)
        return ca.if_else(far, -off, x), ca.if_else(far, 0, n)

    def soon(y: SX, r: SX) -> tuple[SX, SX]:
        """The distance beyond, and whether it suffices: r is -inf if there are no points."""
        off = beyond(y)
        return off, any_of(off > 0, r < 0)

    def near(_: SX, y: SX, r: SX) -> SX:
        """Beyond a plane the distance to it suffices. A point that is further from all faces than half the
        mesh's smallest side is outside."""
        off, known = soon(y, r)
        furthest = ca.if_else(known, -ca.inf, (ca.fmax(r, deepest) * (1 + 1e-9)) ** 2)
        row = look_up(search, ca.vertcat(y, furthest))
        x, found = on_triangle(row, y)[0], row[30] >= 0
        searched = ca.if_else(found, x + r, ca.if_else(ca.sumsqr(y) < ca.inf, -1, ca.inf))
        sure = ca.if_else(all_of(found, ca.logic_not(known)), x - r, -1)
        return ca.vertcat(ca.if_else(known, r - off, searched), sure)

    def quick(_: SX, y: SX, r: SX) -> SX:
        off, known = soon(y, r)
        return ca.if_else(known, r - off, ca.inf)

    return PointDepth(("mesh", triangles.digest), 12, where, near=near, within=close, known=quick)
