"""Ends of a path over an ellipsoid: their silhouettes, whether the path goes over it, and the start of a
search.

In scaled space y = x / radii the ellipsoid is the unit sphere. Its points whose tangent planes hold an
outside point U are a circle, the silhouette of U. A path that is tangent to the ellipsoid touches it there.
"""

from __future__ import annotations

from functools import cache, cached_property
from itertools import pairwise

import casadi as ca

from condyle.arrays import SX
from condyle.native.solvers.solver import Solver
from condyle.native.tables.lookup import look_up
from condyle.paths.cylinder_sphere import MANDATORY, NONE, Quadrant, arc_tangent
from condyle.paths.segment import across_to, cross, dot, inverse, norm, unit
from condyle.records import dataclass
from condyle.spatial.algebra import all_of, any_of

OUTSIDE = 1e-4
"""An end is inside if sum (x/radii)^2 - 1 is below minus this: OpenSim's rule."""
CENTRAL = 0.15
"""Scaled distance of the chord from the center beyond which a path that is forced to the longer side begins
in the plane through the center."""
SLIDING = (0, 0.25, 0.5, 0.75, 1)
"""Sections that are compared, from the mirrored side point to the closest one."""
LIFT = 1e-12
"""Scaled height over the surface that ends of a search have at least: the silhouette of a point of the surface is
this point, and along it there is no direction. Lengths change by less."""
SHORT = 1e-6
"""Scaled arcs below this are geodesics at the start of a search: to their square in direction, to their
fourth power in length. A search would lose their direction in rounding."""


@dataclass(frozen=True, eq=False)
class Silhouette:
    """A circle on the unit sphere: center, radius and two directions."""

    center: ca.SX
    radius: ca.SX
    f: ca.SX
    g: ca.SX

    @staticmethod
    def seen_from(U: SX) -> Silhouette:
        """The points whose tangent planes hold U."""
        per = inverse(norm(U))
        k = per * U
        f = across_to(k)
        return Silhouette(per * k, ca.sqrt(ca.fmax(1 - per * per, 0)), f, cross(k, f))

    @property
    def column(self) -> SX:
        return ca.vertcat(self.center, self.radius, self.f, self.g)

    @staticmethod
    def from_column(column: SX) -> Silhouette:
        return Silhouette(column[:3], column[3], column[4:7], column[7:10])

    def at(self, phi: SX) -> tuple[SX, SX]:
        """A point of the circle, and its derivative by phi."""
        c, s = ca.cos(phi), ca.sin(phi)
        return self.center + self.radius * (self.f * c + self.g * s), self.radius * (self.g * c - self.f * s)

    def nearest(self, y: SX) -> tuple[SX, SX]:
        """The point of the circle nearest to a point of the sphere close to it, and the derivative by phi."""
        k = cross(self.f, self.g)
        out = y - dot(y, k) * k
        out = self.radius * unit(out)
        return self.center + out, cross(k, out)

    def angle(self, y: SX) -> SX:
        """phi of a point on, or near, the circle."""
        return arc_tangent(dot(y - self.center, self.g), dot(y - self.center, self.f))


def lifted(U: SX) -> SX:
    """U, or the point LIFT over the unit sphere that is above or below it."""
    return ca.fmax(1, (1 + LIFT) * inverse(norm(U))) * U


def closest(m: SX, radii: SX, steps: int = 6) -> SX:
    """The scaled surface point that is closest, in space, to the inside point radii * m.

    y = a m / (t + a) with a = radii^2 and the largest t <= 0 at which 1/|y| = 1; Newton's method comes from
    below the root, quickly: 1/|y| is nearly straight.
    """
    a = radii * radii
    t = -ca.mmin(a) * (1 - 1e-9)
    for i in range(3):
        t = ca.fmax(t, a[i] * (ca.fabs(m[i]) - 1))
    for _ in range(steps):
        per = inverse(t + a)
        y = a * m * per
        yy = dot(y, y)
        t = ca.fmin(t + (ca.sqrt(yy) - 1) * yy / dot(y, y * per), 0)
    return unit(a * m * inverse(t + a))


def section(U: SX, axis: SX, V: SX) -> tuple[SX, SX]:
    """The points where the path from U to V, in the plane perpendicular to its axis of turning, touches and
    leaves the unit sphere."""
    center = axis * dot(axis, U)
    rho = ca.sqrt(ca.fmax(1 - dot(center, center), 1e-12))

    def tangent(X: SX, sign: int) -> SX:
        d = X - center
        per = inverse(norm(d))
        cosine = ca.fmin(rho * per, 1)
        sine = ca.sqrt(ca.fmax(1 - cosine * cosine, 0))
        return center + (rho * per) * (cosine * d + sign * sine * cross(axis, d))

    return tangent(U, 1), tangent(V, -1)


@dataclass(frozen=True, eq=False)
class EllipsoidEnds:
    """The input of a solver, and the results of the rules.

    Attributes:
        p: A, B, radii, quadrant, shape (12,).
    """

    p: ca.SX

    @cached_property
    def A(self) -> SX:
        return self.radii * self.scaled[0]

    @cached_property
    def B(self) -> SX:
        return self.radii * self.scaled[1]

    @property
    def radii(self) -> SX:
        return self.p[6:9]

    @cached_property
    def per(self) -> SX:
        """1/radii."""
        return inverse(self.radii)

    @cached_property
    def scaled(self) -> tuple[SX, SX]:
        """Both ends, lifted."""
        U, V = (self.per * X for X in self.given)
        return lifted(U), lifted(V)

    @property
    def given(self) -> tuple[SX, SX]:
        """Both ends, as they are."""
        return self.p[:3], self.p[3:6]

    @cached_property
    def silhouettes(self) -> tuple[Silhouette, Silhouette]:
        U, V = self.scaled
        return Silhouette.seen_from(U), Silhouette.seen_from(V)

    @cached_property
    def _chord(self) -> tuple[SX, SX]:
        """Its point nearest to the center, scaled; and whether it passes through the ellipsoid between its
        ends."""
        U, V = (self.per * X for X in self.given)
        d = V - U
        per = inverse(ca.fmax(dot(d, d), 1e-300))
        s = -dot(U, d) * per
        m = U + s * d
        half = ca.sqrt(ca.fmax(1 - dot(m, m), 0) * per)
        through = all_of(dot(m, m) < 1, s - half > 0, s + half < 1)
        outside = all_of(dot(U, U) > 1 - OUTSIDE, dot(V, V) > 1 - OUTSIDE)
        return m, all_of(through, outside)

    @property
    def kind(self) -> SX:
        """OpenSim's rule: NONE or MANDATORY."""
        return ca.if_else(self._chord[1], MANDATORY, NONE)

    def start(self) -> Begin:
        """The section through the side point c, the surface point that is closest to the chord.

        A quadrant without c mirrors it. From the mirrored point a string slides back to c if the sections in
        between become ever shorter. If the mirrored point is on the other side of the center than the chord,
        the path is the longer one, which passes near the plane through the center.
        """
        U, V = self.scaled
        quadrant = Quadrant(self.p[9:12])
        chord = self._chord[0]
        # through the center all sides are equivalent
        chord = ca.if_else(dot(chord, chord) > 1e-24, chord, 1e-9 * across_to(unit(V - U)))
        c = closest(chord, self.radii)
        # the closest point is along the normal from the chord, at any distance
        axis = cross(self.per * self.per * c, V - U)
        inside = any_of(quadrant.all, quadrant.has(c))
        mirrored = c - 2 * dot(c, quadrant.c) * quadrant.c
        behind = dot(mirrored, chord) < 0
        asked = all_of(ca.logic_not(inside), ca.logic_not(behind))
        inside = any_of(inside, look_up(_slide(), ca.vertcat(U, V, self.radii, chord, c, mirrored, asked))[0])
        c = ca.if_else(inside, c, mirrored)
        forced = all_of(ca.logic_not(inside), behind)
        c = ca.if_else(forced, unit(ca.fmax(0, CENTRAL - norm(chord)) * c - chord), c)
        axis = unit(ca.if_else(inside, axis, cross(V - c, U - c)))
        P, Q = section(U, axis, V)
        short = all_of(inside, dot(P + Q, c) > 0, dot(P - Q, P - Q) < SHORT * SHORT)
        m = middle(P, Q, c)
        w = unit(axis - dot(axis, m) * m)
        half = half_arc(P, m, Q, self.radii)
        return Begin(m, w, P, Q, half, forced, short)


@dataclass(frozen=True, eq=False)
class Begin:
    """Where a search begins: the middle m of the curve and the pole w about which it turns, and P and Q
    on their silhouettes, all scaled; half of the length between them [m]; whether the quadrant forces it to the longer
    side; whether the path is so short that this is where the search ends."""

    m: ca.SX
    w: ca.SX
    P: ca.SX
    Q: ca.SX
    half: ca.SX
    forced: ca.SX
    short: ca.SX


def middle(P: SX, Q: SX, c: SX) -> SX:
    """The middle of the arc from P to Q on the side of c; c itself for half a turn."""
    middle = P + Q
    middle = ca.if_else(dot(middle, c) < 0, -middle, middle)
    return unit(middle + ca.fmax(0, 0.2 - norm(middle)) * c)


@cache
def _slide() -> Solver:
    """Whether the sections through U, V and points between `mirrored` and c become ever shorter. Its input is
    U, V, radii, the chord's point nearest to the center, c, `mirrored`, and whether to search."""

    def found(p: SX) -> SX:
        U, V, radii, chord, c, mirrored = ca.vertsplit(p[:18], 3)
        d = unit(V - U)
        first, last = (unit(v - dot(v, d) * d) for v in (mirrored - chord, c - chord))
        lengths = []
        for t in SLIDING:
            out = unit((1 - t) * first + t * last)  # from the chord
            depth = dot(chord, out)
            y = chord + (ca.sqrt(ca.fmax(1 - dot(chord, chord) + depth * depth, 0)) - depth) * out
            P, Q = section(U, unit(cross(V - y, U - y)), V)
            m = middle(P, Q, y)
            arc = half_arc(P, m, Q, radii)
            lengths.append(norm(radii * (P - U)) + 2 * arc + norm(radii * (V - Q)))
        return all_of(p[18], *(after < before for before, after in pairwise(lengths)))

    return Solver.trace(
        "ellipsoid_slide",
        19,
        lambda p: (ca.SX.zeros(1), ca.SX(0)),
        lambda p, x: (x, ca.SX(0)),
        lambda p, x: found(p),
        0,
        idle=lambda p: (ca.SX(0), p[18]),
    )


def half_arc(P: SX, m: SX, Q: SX, radii: SX) -> SX:
    """About half of the length from P over m to Q on the unit sphere, in space [m]."""
    return (_arc(P, m, radii) + _arc(m, Q, radii)) / 2


def _arc(y: SX, z: SX, radii: SX) -> SX:
    """Approximate length in space of the arc from y to z on the unit sphere: the chord times theta / (2 sin
    theta/2)."""
    d = y - z
    q = dot(d, d) / 4
    return norm(radii * d) * (1 + q / 6 + 0.23 * q * q * q)
