"""Cylinder and sphere: geodesics in closed form, with OpenSim's rules for activity and side.

Both are solved in a plane perpendicular to the path's axis of turning k: for a cylinder the plane
perpendicular to its axis, where the path is straight after unrolling; for a sphere the plane through its
center and the ends. In the plane, with rho_i = |p_i|,

    l_i = sqrt(rho_i^2 - r^2),    tangent points  p (r/rho)^2 ± (r l/rho^2) k x p                          (1)
    cylinder:  S = l1 + r theta + l2,  L = sqrt(S^2 + dz^2),  z_P = z_A + dz l1/S,  z_Q = z_B - dz l2/S    (2)
    sphere:    L = l1 + r theta + l2                                                                       (3)

Between ends that coincide, as at a point that is not active, a path is straight: it makes no full turn.

Where all derivatives are needed and the direction of turning is known, with phi the angle from A to B about
the axis of turning

    theta = phi - atan(l1/r) - atan(l2/r)                                                                  (4)

Jacobi fields (segment.py (3)): cylinder a = 1, r = arc; sphere a = cos theta, r = R sin theta.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.paths.segment import SMALLEST, Segment, chosen, cross, dot, inverse, norm, straight
from condyle.records import dataclass
from condyle.spatial.algebra import all_of, any_of

NONE, WRAPPED, MANDATORY = 0, 1, 2
"""Results of a rule for a segment: straight; over the surface unless another segment is; over the surface."""
FLAT, AXIS = ca.diag(ca.SX([1, 1, 0])), ca.SX([0, 0, 1])
"""Projection of a vector onto a cylinder's plane; the cylinder's axis."""
ROUNDING = 1e-8
"""Swept angles [rad] between minus this and zero count as zero: rounding at a grazing path, not a full
turn."""

ARC_TANGENT = (
    1.0,
    -0.3333333333333312,
    0.19999999999940837,
    -0.14285714279244968,
    0.11111110744657099,
    -0.09090896801472813,
    0.07692045194561481,
    -0.06662950246036792,
    0.05846866752275139,
    -0.05035049795312439,
    0.03796390316111083,
    -0.017803896394812564,
)
"""atan(t) / t as a polynomial in t^2 for |t| <= tan(pi/8): interpolated at Chebyshev's points, 3e-18 off."""


@dataclass(frozen=True, eq=False)
class Quadrant:
    """The half of space that a path must pass through: x with c . x >= 0, OpenSim's sgn(0) = +1; c = 0 allows
    all."""

    c: ca.SX

    @property
    def all(self) -> SX:
        return dot(self.c, self.c) == 0

    def has(self, x: SX) -> SX:
        """Whether x lies in it."""
        s = dot(self.c, x)
        return any_of(s > 0, all_of(s == 0, ca.sum1(self.c) > 0))


@dataclass(frozen=True, eq=False)
class Tangents:
    """Points where lines through a point touch a circle: a on the side of k x p, b on the other; l is their
    distance."""

    a: ca.SX
    b: ca.SX
    l: ca.SX


def tangents(p: SX, k: SX, r: SX) -> Tangents:
    """(1) for a point p of the plane across k through the center."""
    rho2 = ca.fmax(dot(p, p), SMALLEST)
    l, share = _to_circle(rho2, r), r * inverse(rho2)
    foot, side = (share * r) * p, (share * l) * cross(k, p)
    return Tangents(foot + side, foot - side, l)


def _to_circle(rho2: SX, r: SX) -> SX:
    """Distance from a point with this squared distance from the center to its tangent point on the circle."""
    return ca.sqrt(ca.fmax(rho2 - r * r, SMALLEST))


@dataclass(frozen=True, eq=False)
class Chord:
    """The straight line between two points, and its properties in OpenSim's rule.

    Attributes:
        near: its point that is closest to the axis (or center).
        crossing: whether this point is inside, and between A and B.
        apart: whether A and B differ, and both are outside.
    """

    A: ca.SX
    B: ca.SX
    near: ca.SX
    crossing: ca.SX
    apart: ca.SX

    @staticmethod
    def between(A: SX, B: SX, r: SX, flat: SX) -> Chord:
        """The chord between A and B, with distances measured after `flat`: a matrix, shape (3, 3)."""
        d = B - A
        s = -dot(flat @ A, d) / ca.fmax(dot(flat @ d, d), SMALLEST)
        near = A + s * d
        crossing = all_of(dot(flat @ near, near) < r * r, s > 0, s < 1)
        inside = any_of(dot(flat @ A, A) < r * r, dot(flat @ B, B) < r * r)
        return Chord(A, B, near, crossing, ca.logic_not(any_of(inside, dot(d, d) == 0)))

    def kind(self, quadrant: Quadrant) -> SX:
        """NONE, WRAPPED or MANDATORY."""
        on = quadrant.has
        some = any_of(on(self.A), on(self.B))
        aside = all_of(on(self.A) != on(self.B), ca.logic_not(on(self.near)))
        forced = ca.if_else(
            some, ca.if_else(self.crossing, MANDATORY, ca.if_else(aside, WRAPPED, NONE)), WRAPPED
        )
        kind = ca.if_else(quadrant.all, ca.if_else(self.crossing, MANDATORY, NONE), forced)
        return ca.if_else(self.apart, kind, NONE)


def upward(first: Tangents, second: Tangents, k: SX, quadrant: Quadrant) -> SX:
    """Whether the path turns about +k. An end with one of its two tangent points in the quadrant decides; if
    no end decides and no point is in it, the way with the larger angle; else the shorter way.

    In OpenSim the first end decides if both could, so that a path has two lengths for its two directions if
    they disagree."""
    on = quadrant.has
    half = dot(
        k, cross(first.a + first.b, second.a + second.b)
    )  # above zero: from A to B in less than half a turn
    a1, b1, a2, b2 = on(first.a), on(first.b), on(second.a), on(second.b)
    one, two = a1 != b1, a2 != b2
    none = ca.logic_not(any_of(a1, b1, a2, b2))
    shorter = _around(first.a, second.b, k) < _around(second.a, first.b, k)
    open_ = ca.if_else(none, half < 0, shorter)
    turn = ca.if_else(one, ca.if_else(two, ca.if_else(a1 == b2, a1, shorter), a1), ca.if_else(two, b2, open_))
    return ca.if_else(quadrant.all, half > 0, turn)


def _around(P: SX, Q: SX, k: SX) -> SX:
    """A number that grows with the angle from P to Q about k, from 0 to 2 pi; |P| = |Q|."""
    c, s = dot(P, Q) / dot(P, P), dot(k, cross(P, Q)) / dot(P, P)
    behind = any_of(s < -ROUNDING, all_of(s < 0, c < 0))
    return ca.if_else(behind, 3 + c, 1 - c)


def swept(P: SX, Q: SX, k: SX, up: SX) -> tuple[SX, SX, SX]:
    """Angle from P to Q about k, or about -k, in [0, 2 pi); its cosine and sine, both by |P| |Q|."""
    c, s = dot(P, Q), ca.if_else(up, 1, -1) * dot(k, cross(P, Q))
    angle = arc_tangent(s, c)
    return ca.if_else(angle < -ROUNDING, angle + 2 * np.pi, ca.fmax(angle, 0)), c, s


def arc_tangent(y: SX, x: SX) -> SX:
    """atan2(y, x), within 1e-15. In lanes the C library's function, called once per lane, would take as long
    as everything else."""
    u, v = ca.fabs(x), ca.fabs(y)
    steep = v > u
    long, short = ca.if_else(steep, v, u), ca.if_else(steep, u, v)
    far = short > (np.sqrt(2) - 1) * long
    t = ca.if_else(far, short - long, short) / (ca.if_else(far, short + long, long) + SMALLEST)
    z, series = t * t, ca.SX(ARC_TANGENT[-1])
    for coefficient in reversed(ARC_TANGENT[:-1]):
        series = series * z + coefficient
    angle = t * series + ca.if_else(far, np.pi / 4, 0)
    angle = ca.if_else(steep, np.pi / 2 - angle, angle)
    angle = ca.if_else(x < 0, np.pi - angle, angle)
    return ca.if_else(y < 0, -angle, angle)


def cylinder_near(p: SX) -> SX:
    """Zero only if `cylinder` returns NONE, at a tenth of its cost."""
    A, B, r, length = p[:3], p[3:6], p[6], p[7]
    l1, l2 = (_to_circle(dot(FLAT @ X, X), r) for X in (A, B))
    dz = (B[2] - A[2]) / (l1 + 2 * np.pi * r + l2)  # theta is less than a turn
    z_P, z_Q = A[2] + dz * l1, B[2] - dz * l2  # no tangent points are farther out
    beyond = ca.fabs(z_P + z_Q) - ca.fabs(z_P - z_Q) > length
    kind = Chord.between(A, B, r, FLAT).kind(Quadrant(p[8:11]))
    return all_of(kind != NONE, ca.logic_not(beyond))


def sphere_near(p: SX) -> SX:
    """Zero if `sphere` returns NONE, at a tenth of its cost."""
    return Chord.between(p[:3], p[3:6], p[6], ca.SX.eye(3)).kind(Quadrant(p[7:10])) != NONE


def cylinder(p: SX) -> tuple[SX, Segment]:
    """The rule's result and the segment for p = (A, B, radius, length, quadrant), shape (11,); the axis is
    z."""
    A, B, r, length, quadrant = p[:3], p[3:6], p[6], p[7], Quadrant(p[8:11])
    first, second = tangents(FLAT @ A, AXIS, r), tangents(FLAT @ B, AXIS, r)
    kind, up = Chord.between(A, B, r, FLAT).kind(quadrant), upward(first, second, AXIS, quadrant)
    over = over_cylinder(A, B, r, up)
    beyond = all_of(ca.fabs(over.P[2]) > length / 2, ca.fabs(over.Q[2]) > length / 2)
    kind = ca.if_else(beyond, NONE, kind)
    return kind, chosen(kind, over, straight(A, B))


def over_cylinder(A: SX, B: SX, r: SX, up: SX) -> Segment:
    """The segment that turns about +z, or else about -z."""
    first, second = tangents(FLAT @ A, AXIS, r), tangents(FLAT @ B, AXIS, r)
    P, Q = ca.if_else(up, first.a, first.b), ca.if_else(up, second.b, second.a)
    l1, l2, dz = first.l, second.l, B[2] - A[2]
    S = l1 + r * swept(P, Q, AXIS, up)[0] + l2  # (2)
    L = ca.sqrt(S * S + dz * dz)
    by_r, by_L, rise = inverse(r), inverse(L), dz / S
    z_P, z_Q = A[2] + rise * l1, B[2] - rise * l2

    def along(X: SX) -> SX:
        return (ca.if_else(up, 1, -1) * S * by_r * by_L) * cross(AXIS, X) + (dz * by_L) * AXIS

    touch = ca.vertcat(S * by_L / l1, S * by_L / l2, 0)
    return Segment(
        L,
        along(P),
        along(Q),
        P * by_r,
        Q * by_r,
        ca.repmat(by_L, 3, 1),
        touch,
        P + z_P * AXIS,
        Q + z_Q * AXIS,
        ca.SX(1),
    )


def sphere(p: SX) -> tuple[SX, Segment]:
    """The rule's result and the segment for p = (A, B, radius, quadrant), shape (10,)."""
    A, B, r, quadrant = p[:3], p[3:6], p[6], Quadrant(p[7:10])
    k = _axis(A, B, quadrant)
    first, second = tangents(A, k, r), tangents(B, k, r)
    kind, up = Chord.between(A, B, r, ca.SX.eye(3)).kind(quadrant), upward(first, second, k, quadrant)

    P, Q = ca.if_else(up, first.a, first.b), ca.if_else(up, second.b, second.a)
    l1, l2, (theta, cosine, sine) = first.l, second.l, swept(P, Q, k, up)
    by_r = inverse(r)
    R = sine * by_r
    a, a1 = cosine * by_r * by_r, -R * by_r * by_r
    M11, M22 = a + l2 * a1, a + l1 * a1
    gamma = 1 / (a * l2 + R + l1 * M11)
    turn, n_P, n_Q = ca.if_else(up, 1, -1), P * by_r, Q * by_r
    over = Segment(
        l1 + r * theta + l2,
        turn * cross(k, n_P),
        turn * cross(k, n_Q),
        n_P,
        n_Q,  # (3)
        ca.vertcat(M11 * gamma, M22 * gamma, gamma),
        ca.vertcat(1 / l1, 1 / l2, 0),
        P,
        Q,
        ca.SX(1),
    )
    return kind, chosen(kind, over, straight(A, B))


def _axis(A: SX, B: SX, quadrant: Quadrant) -> SX:
    """Unit normal of the plane through the center, A and B. If these lie on one line, of a plane that meets
    the quadrant."""
    k, AA = cross(A, B), dot(A, A)
    aid = ca.if_else(quadrant.all, ca.SX([0.36, 0.48, 0.8]), quadrant.c)
    other = cross(A, aid)
    other = ca.if_else(dot(other, other) > 1e-12 * AA, other, cross(A, ca.SX([0.48, 0.8, 0.36])))
    k = ca.if_else(dot(k, k) > 1e-28 * AA * dot(B, B), k, other)
    return k * inverse(norm(k))


def cylinder_length(A: SX, B: SX, r: SX, known: Segment) -> SX:
    """(2), (4) over the cylinder in the known direction: all derivatives are exact."""
    up = dot(cross(AXIS, known.n_P), known.e_in) > 0
    c, s = A[0] * B[0] + A[1] * B[1], A[0] * B[1] - A[1] * B[0]
    S = _turned(dot(FLAT @ A, A), dot(FLAT @ B, B), c, ca.if_else(up, s, -s), r, known.wrapped)
    dz = B[2] - A[2]
    return ca.sqrt(S * S + dz * dz)


def sphere_length(A: SX, B: SX, r: SX, known: Segment) -> SX:
    """(3), (4) over the sphere in the known direction: all derivatives are exact."""
    k = cross(A, B)
    up = dot(cross(k, known.n_P), known.e_in) > 0
    s = norm(ca.if_else(known.wrapped, k, AXIS))
    return _turned(dot(A, A), dot(B, B), dot(A, B), ca.if_else(up, s, -s), r, known.wrapped)


def _turned(AA: SX, BB: SX, c: SX, s: SX, r: SX, on: SX) -> SX:
    """l1 + r theta + l2 by (4), from |A|^2, |B|^2 and cosine and sine of phi times |A| |B|."""
    l1, l2 = (ca.sqrt(ca.if_else(on, x - r * r, 1)) for x in (AA, BB))
    angle = ca.atan2(ca.if_else(on, s, 0), ca.if_else(on, c, 1)) - ca.atan2(l1, r) - ca.atan2(l2, r)
    return (
        l1
        + l2
        + r
        * ca.if_else(
            angle < -ROUNDING,
            ca.if_else(angle < -ROUNDING - 2 * np.pi, angle + 4 * np.pi, angle + 2 * np.pi),
            angle,
        )
    )
