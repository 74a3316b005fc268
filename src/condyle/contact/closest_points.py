"""One function for each pair of kinds of surfaces that can touch: closed forms here, solvers in other files.
Frames S of surfaces; a normal u in S points out of the surface."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import casadi as ca

from condyle.arrays import SX
from condyle.contact.implicit_overlap import (
    ellipsoid_implicit,
    implicit_implicit,
    plane_implicit,
    sphere_implicit,
)
from condyle.contact.implicit_surface import Implicit
from condyle.contact.materials import Rigid
from condyle.contact.solids import Box, Cylinder, Ellipsoid, Roller, Slice, Torus
from condyle.contact.support_functions import plane_supported, supported_pair
from condyle.contact.surfaces import ContactSurface, HalfSpace, Point, Sphere, SurfacePose, Touch
from condyle.contact.terrain import HeightField, field_sphere
from condyle.errors import DescriptionError
from condyle.laws.described import sx
from condyle.spatial.algebra import all_of, any_of

LEAST = 0.1
"""Cosine below which the curvature around a ring is ignored on a half-space."""


def plane_sphere(a: HalfSpace, A: SurfacePose, b: Sphere, B: SurfacePose) -> Touch:
    n, height = a.plane(A)
    center = b.center_at(B)
    gap = ca.dot(n, center) - height
    return Touch(sx(b.radius) - gap, n, center - gap * n, sx(b.radius))


def sphere_sphere(a: Sphere, A: SurfacePose, b: Sphere, B: SurfacePose) -> Touch:
    """If the centers coincide the normal is undefined; it and the force are set to zero."""
    distance, n = length_and_direction(b.center_at(B) - a.center_at(A))
    x = sx(a.radius) + sx(b.radius) - distance
    R = sx(a.radius) * sx(b.radius) / (sx(a.radius) + sx(b.radius))
    return Touch(x, n, a.center_at(A) + sx(a.radius) * n, R)


def plane_torus(a: HalfSpace, A: SurfacePose, b: Torus, B: SurfacePose) -> Touch:
    """The support of the circle, |u_xy|, is rounded to sqrt(|u_xy|^2 + flat^2), and the lowest point is its
    gradient:
    then the depth changes as that point moves, and no energy is created."""
    n, height = a.plane(A)
    R, p = b.frame(B)
    u = -R.T @ n
    support = ca.sqrt(ca.sumsqr(u[:2]) + sx(b.flat) ** 2)
    e = ca.vertcat(u[:2] / support, 0)
    lowest = p + R @ (sx(b.radius) * e + sx(b.tube_radius) * u)
    x = height - ca.dot(n, p) + sx(b.radius) * support + sx(b.tube_radius)
    # a flat ring has contact along a line: it counts as tilted by LEAST
    cos = (ca.sumsqr(u[:2]) ** 4 + LEAST**8) ** 0.125
    curvature = R @ b.curvature(u, cos) @ R.T
    return Touch(x, n, lowest + (height - ca.dot(n, lowest)) * n, 2 / ca.trace(curvature), curvature)


def plane_slice(a: HalfSpace, A: SurfacePose, b: Slice, B: SurfacePose) -> Touch:
    """The lowest point of the circle, and a line as long as the slice is wide."""
    n, height = a.plane(A)
    R, p = b.frame(B)
    radius, axis = sx(b.radius), R[:, 2]
    down = -(n - ca.dot(n, axis) * axis)
    sine = ca.sqrt(ca.fmax(ca.sumsqr(down), 1e-12))  # a standing one does not touch with its side
    lowest = p + radius * down / sine
    x = height - ca.dot(n, p) + radius * sine
    return Touch(x, n, lowest + (height - ca.dot(n, lowest)) * n, radius, line=(radius, radius, sx(b.width)))


def roller_slice(a: Roller, A: SurfacePose, b: Slice, B: SurfacePose) -> Touch:
    """The slice's center and the nearest point of the roller's axis. Each roller's slices are half of the
    contact of two."""
    R, p = a.frame(A)
    center = b.frame(B)[1]
    half = sx(a.length) / 2
    near = p + R[:, 2] * ca.fmax(ca.fmin(ca.dot(R[:, 2], center - p), half), -half)
    distance, n = length_and_direction(center - near)
    r_a, r_b = sx(a.radius), sx(b.radius)
    line = r_a + r_b, ca.sqrt(r_a * r_b), sx(b.width) / 2
    return Touch(r_a + r_b - distance, n, near + r_a * n, r_a * r_b / (r_a + r_b), line=line)


def sphere_torus(a: Sphere, A: SurfacePose, b: Torus, B: SurfacePose) -> Touch:
    """On the ring's axis the nearest point is undefined, and x of S is used. A ball that sits in a ring
    touches it along a circle: if the ball's disc and the ring's cross-section also overlap one radian around
    the ring from the nearest point, the result is NaN (57a)."""
    R, p = b.frame(B)
    y = R.T @ (a.center_at(A) - p)
    length, along = length_and_direction(y[:2])
    e = ca.vertcat(ca.if_else(length > 0, along, ca.SX([1, 0])), 0)
    distance, u = length_and_direction(y - sx(b.radius) * e)
    curvature = R @ b.curvature(u, ca.dot(u, e)) @ R.T + (ca.SX.eye(3) - R @ u @ u.T @ R.T) / sx(a.radius)
    n = -(R @ u)
    square = sx(a.radius) ** 2 - (length * math.sin(1)) ** 2  # of that disc of the ball
    reach = sx(b.tube_radius) + ca.sqrt(ca.fmax(square, 0))
    around = (length * math.cos(1) - sx(b.radius)) ** 2 + y[2] ** 2 < reach**2
    x = sx(a.radius) + sx(b.tube_radius) - distance
    x = ca.if_else(all_of(square > 0, around), ca.SX.nan(), x)
    return Touch(x, n, a.center_at(A) + sx(a.radius) * n, 2 / ca.trace(curvature), curvature, True)


def sphere_cylinder(a: Sphere, A: SurfacePose, b: Cylinder, B: SurfacePose) -> Touch:
    """The cylinder is all points at most `rim` from a smaller one; a center within that one is pushed out by
    the side or the end, whichever is nearer, and one on the axis, where all sides are equally near, along x
    of S. Rounded edges are as stiff as the ends."""
    R, p = b.frame(B)
    y, rim = R.T @ (a.center_at(A) - p), sx(b.rim)
    rho, out = length_and_direction(ca.vertcat(y[:2], 0))
    out = ca.if_else(rho > 0, out, ca.SX([1, 0, 0]))
    place, core = ca.vertcat(rho, y[2]), ca.vertcat(sx(b.radius), sx(b.length) / 2) - rim
    distance, away = length_and_direction(place - ca.fmax(ca.fmin(place, core), -core))
    inside = core - ca.fabs(place)  # both above 0 within
    outside, side = distance > 0, inside[0] <= inside[1]
    nearest = ca.vertcat(side, ca.logic_not(side) * ca.if_else(y[2] < 0, -1, 1))
    away = ca.if_else(outside, away, nearest)
    u = away[0] * out + ca.vertcat(0, 0, away[1])
    n, across = -(R @ u), R @ ca.cross(ca.SX([0, 0, 1]), out)
    around = away[0] / (core[0] + rim * away[0])
    curvature = (ca.SX.eye(3) - n @ n.T) / sx(a.radius) + around * across @ across.T
    x = sx(a.radius) + rim - ca.if_else(outside, distance, -ca.fmin(inside[0], inside[1]))
    return Touch(x, n, a.center_at(A) + sx(a.radius) * n, 2 / ca.trace(curvature), curvature)


def sphere_box(a: Sphere, A: SurfacePose, b: Box, B: SurfacePose) -> Touch:
    """The box is all points at most `edge` from a smaller one; a center within that one is pushed out by the
    nearest face."""
    R, p = b.frame(B)
    y, core = R.T @ (a.center_at(A) - p), sx(b.half_lengths) - sx(b.edge)
    away = y - ca.fmax(ca.fmin(y, core), -core)
    distance, u = length_and_direction(away)
    inside = core - ca.fabs(y)  # all above 0 within
    nearest = ca.mmin(inside)
    first = inside[0] <= nearest
    second = all_of(ca.logic_not(first), inside[1] <= nearest)
    face = ca.vertcat(first, second, ca.logic_not(any_of(first, second))) * ca.if_else(y < 0, -1, 1)
    outside = distance > 0
    n = -(R @ ca.if_else(outside, u, face))
    x = sx(a.radius) + sx(b.edge) - ca.if_else(outside, distance, -nearest)
    return Touch(x, n, a.center_at(A) + sx(a.radius) * n, sx(a.radius))


def length_and_direction(v: SX) -> tuple[SX, SX]:
    """Length and direction; zero of zero, with finite derivatives."""
    square = ca.sumsqr(v)
    some = square > 0
    length = ca.sqrt(ca.if_else(some, square, 1))
    return ca.if_else(some, length, 0), ca.if_else(some, v / length, 0)


PAIRS: dict[tuple[type, type], Callable[[Any, SurfacePose, Any, SurfacePose], Touch]] = {
    (HalfSpace, Sphere): plane_sphere,
    (Sphere, Sphere): sphere_sphere,
    (HalfSpace, Ellipsoid): plane_supported,
    (Sphere, Ellipsoid): supported_pair,
    (Ellipsoid, Ellipsoid): supported_pair,
    (HalfSpace, Torus): plane_torus,
    (Sphere, Torus): sphere_torus,
    (HalfSpace, Slice): plane_slice,
    (Roller, Slice): roller_slice,
    (Sphere, Cylinder): sphere_cylinder,
    (HalfSpace, Cylinder): plane_supported,
    (Ellipsoid, Cylinder): supported_pair,
    (Cylinder, Cylinder): supported_pair,
    (Sphere, Box): sphere_box,
    (HeightField, Sphere): field_sphere,
    (HalfSpace, Implicit): plane_implicit,
    (Sphere, Implicit): sphere_implicit,
    (Ellipsoid, Implicit): ellipsoid_implicit,
    (Implicit, Implicit): implicit_implicit,
}
"""Pairs of kinds of surfaces that can touch, in either order."""


SOLVED = frozenset({Cylinder, Ellipsoid, HeightField, Implicit, Torus})
"""Kinds whose closest points a solver may fail to find; those of ellipsoids on a half-space never fail."""


BY_POINTS = frozenset({Box, Cylinder, HalfSpace, HeightField, Sphere, Torus})
"""Kinds that points can touch: the solvers of others need curvatures."""


def kind(surface: ContactSurface) -> type[ContactSurface]:
    """The kind as which it touches others: a point is a sphere without a radius."""
    return Sphere if isinstance(surface, Point) else type(surface)


def check_surfaces(a: ContactSurface, b: ContactSurface, what: str, example: str) -> None:
    """Raise DescriptionError if these are not surfaces of two bodies."""
    for name, surface in (("a", a), ("b", b)):
        if not isinstance(surface, ContactSurface):
            raise DescriptionError(
                f"{what}: {name}: expected a surface such as cd.contact.{example}(...), got {surface!r}"
            )
    if a.body == b.body:
        raise DescriptionError(
            f"{what}: both surfaces are on body {a.body!r}; a contact is between two bodies"
        )


def check_pair(a: ContactSurface, b: ContactSurface, what: str) -> None:
    """Raise DescriptionError if the surfaces cannot touch."""
    check_surfaces(a, b, what, "Sphere")
    if isinstance(a, Point) and isinstance(b, Point):
        raise DescriptionError(
            f"{what}: points on {a.body!r} and {b.body!r}: two points have no size and "
            "never meet; use a cd.contact.Sphere for one of them"
        )
    kinds = kind(a), kind(b)
    if a.by_points or b.by_points:
        raise DescriptionError(
            f"{what}: {kinds[0].__name__} and {kinds[1].__name__}: meshes need "
            "cd.contact.ElasticFoundation, which system.add_contact uses for them"
        )
    for point, other in ((a, b), (b, a)):
        if isinstance(point, Point) and kind(other) not in BY_POINTS:
            raise DescriptionError(
                f"{what}: no contact between Point and {type(other).__name__}; points "
                f"touch {', '.join(sorted(x.__name__ for x in BY_POINTS))}; use a small "
                "cd.contact.Sphere instead"
            )
    if a.pieces(b) or b.pieces(a):
        raise DescriptionError(
            f"{what}: {kinds[0].__name__} and {kinds[1].__name__} touch at several "
            "points; system.add_contact(name, a, b) makes a contact for each"
        )
    if kinds not in PAIRS and kinds[::-1] not in PAIRS:
        mine = Slice if kinds[0] is Roller else kinds[0]  # by which rollers touch
        known = sorted(
            {
                other.__name__.replace("Slice", "Roller")
                for pair in PAIRS
                for one, other in (pair, pair[::-1])
                if one is mine
            }
        )
        raise DescriptionError(
            f"{what}: no contact between {kinds[0].__name__} and {kinds[1].__name__}; "
            f"{kinds[0].__name__} touches {', '.join(known) or 'nothing'} here; a "
            "cd.contact.Mesh in place of one touches all but points"
        )


def check_yielding(a: ContactSurface, b: ContactSurface, what: str) -> None:
    """Raise DescriptionError if a surface is rigid, because laws of force need compliant materials."""
    for surface in (a, b):
        if isinstance(surface.made_of, Rigid):
            raise DescriptionError(
                f"{what}: {type(surface).__name__} on {surface.body!r} is made of "
                f"{surface.made_of!r}, and this is a law of force; "
                "give both surfaces a cd.contact.Material for a law of force, or both a "
                "cd.contact.Rigid and add them by system.add_contact(name, a, b)"
            )


def touch(a: ContactSurface, A: SurfacePose, b: ContactSurface, B: SurfacePose) -> Touch:
    """The closest points of two surfaces, from a to b."""
    kinds = kind(a), kind(b)
    if kinds in PAIRS:
        return PAIRS[kinds](a, A, b, B)
    return PAIRS[kinds[::-1]](b, B, a, A).flipped
