"""Ellipsoids: on a plane in closed form, on each other by Newton's method. docs/theory/contact.md (31)-(36).

With D = diag(radii) in the frame S of an ellipsoid, and a unit normal n in it:

    support  h(n) = |D n|,   point  p(n) = D^2 n / h,   curvature  h P D^-2 P,   P = 1 - n n'             (31)

The overlap of two convex surfaces in a direction is d(n) = h_a(n) + h_b(-n), and the depth its minimum,
whether they touch or not. In a's frame, with c the centre of b,

    d(n) = |D_a n| + |D_b R' n| - c . n                                                                   (32)
    grad d = p_a - p_b,   zero along the surface of the sphere |n| = 1 at the minimum                     (33)
    Hess d = h_a'' + h_b'' - d,   h'' = D^2 / h - D^2 n n' D^2 / h^3   in the tangent plane               (34)

Newton's steps, with a shift that keeps (34) positive, at most 1/2 rad long, a quarter as long where d would
grow. Surfaces that are apart have one minimum. Those that overlap by more than their radii of curvature may
have several: the one that is found is downhill from the line between the centres.
"""
from __future__ import annotations

from functools import cache

import casadi as ca

from condyle.contact.solids import Ellipsoid
from condyle.contact.surfaces import HalfSpace, Pose, Sphere, tangents
from condyle.contact.touch import Touch
from condyle.laws.described import sx
from condyle.native.sweeps.implicit import implicit
from condyle.native.sweeps.solver import Solver

LIMIT = 80
NEAR = 1e-9
"""The last step [rad]; what remains is about its square."""
FURTHEST = 0.5
"""The longest step [rad]."""


def curvature(radii: ca.SX, n: ca.SX) -> ca.SX:
    """Of an ellipsoid where its unit normal is n, in S [1/m]: (31)."""
    P = ca.SX.eye(3) - n @ n.T
    return ca.norm_2(radii * n) * P @ ca.diag(1 / radii ** 2) @ P


def plane_ellipsoid(a: HalfSpace, A: Pose, b: Ellipsoid, B: Pose) -> Touch:
    n, height = a.plane(A)
    R, p = b.frame(B)
    radii = sx(b.radii)
    u = -R.T @ n
    lowest = p + R @ (radii ** 2 * u) / ca.norm_2(radii * u)                                 # (31)
    x = height - ca.dot(n, lowest)
    gap = R @ curvature(radii, u) @ R.T
    return Touch(x, n, lowest + x * n, 2 / ca.trace(gap), gap)


def sphere_ellipsoid(a: Sphere, A: Pose, b: Ellipsoid, B: Pose) -> Touch:
    R, p = b.frame(B)
    r = sx(a.radius)
    return _overlap(R, p, sx(b.radii), R, a.centre_at(A), ca.vertcat(r, r, r)).flipped


def ellipsoid_ellipsoid(a: Ellipsoid, A: Pose, b: Ellipsoid, B: Pose) -> Touch:
    (R_a, p_a), (R_b, p_b) = a.frame(A), b.frame(B)
    return _overlap(R_a, p_a, sx(a.radii), R_b, p_b, sx(b.radii))


def _overlap(R_a: ca.SX, p_a: ca.SX, radii_a: ca.SX, R_b: ca.SX, p_b: ca.SX, radii_b: ca.SX) -> Touch:
    R, c = R_a.T @ R_b, R_a.T @ (p_b - p_a)
    n = implicit(_solver(), _stationary, ca.vertcat(radii_a, radii_b, ca.vec(R), c), unknowns=3)[:3]
    h_a, m = ca.norm_2(radii_a * n), R.T @ n
    h_b = ca.norm_2(radii_b * m)
    gap = R_a @ (curvature(radii_a, n) + R @ curvature(radii_b, m) @ R.T) @ R_a.T
    x = h_a + h_b - ca.dot(c, n)                                                             # (32)
    return Touch(x, R_a @ n, p_a + R_a @ (radii_a ** 2 * n / h_a), 2 / ca.trace(gap), gap,
                 True)


def _terms(p: ca.SX, n: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """d, its gradient and Hessian in space without the last term of (34): (32)-(34)."""
    D_a, D_b, R, c = p[:3] ** 2, p[3:6] ** 2, ca.reshape(p[6:15], 3, 3), p[15:18]
    parts = []
    for square in (ca.diag(D_a), R @ ca.diag(D_b) @ R.T):
        point = square @ n
        h = ca.sqrt(ca.dot(n, point))
        parts.append((h, point / h, square / h - point @ point.T / h ** 3))
    h, point, hessian = (parts[0][k] + parts[1][k] for k in range(3))
    return h - ca.dot(c, n), point - c, hessian


def _stationary(n: ca.SX, p: ca.SX) -> ca.SX:
    """(33), and |n| = 1."""
    _, g, _ = _terms(p, n)
    return g - ca.dot(g, n) * n + (ca.dot(n, n) - 1) / 2 * ca.sum1(p[:6]) * n


@cache
def _solver() -> Solver:
    """p = radii of a, of b, R_ab column by column, c -> n. State: n, d there, the step from it, its
    length."""
    def start(p: ca.SX) -> tuple[ca.SX, ca.SX]:
        c = p[15:18]
        square = ca.sumsqr(c)
        n = ca.if_else(square > 0, c / ca.sqrt(ca.if_else(square > 0, square, 1)), ca.SX([1, 0, 0]))
        return ca.vertcat(n, ca.SX([ca.inf, 0, 0, 0])), ca.if_else(square < ca.inf, 1, ca.SX.nan())

    def step(p: ca.SX, state: ca.SX) -> tuple[ca.SX, ca.SX]:
        n, d_old, s = state[:3], state[3], state[4:7]
        trial = n + s
        trial = trial / ca.norm_2(trial)
        d, g, hessian = _terms(p, trial)
        size = ca.sum1(p[:6])
        worse = d > d_old + 1e-15 * size
        t = ca.horzcat(*tangents(trial))
        H, slope = t.T @ hessian @ t - d * ca.SX.eye(2), t.T @ g
        mean, half = (H[0, 0] + H[1, 1]) / 2, ca.sqrt(((H[0, 0] - H[1, 1]) / 2) ** 2 + H[0, 1] ** 2)
        shift = ca.fmax(0, 1e-3 * size - (mean - half)) * (mean - half < 1e-6 * size)
        a, b, c = H[0, 0] + shift, H[0, 1], H[1, 1] + shift
        y = -ca.vertcat(c * slope[0] - b * slope[1], a * slope[1] - b * slope[0]) / (a * c - b * b)
        long = ca.norm_2(y)
        y = y * ca.if_else(long > FURTHEST, FURTHEST / long, 1)
        after = ca.vertcat(trial, d, t @ y)
        back = ca.vertcat(n, d_old, s / 4)
        kept = ca.if_else(worse, back, after)
        far = ca.norm_2(kept[4:7])
        return kept, ca.if_else(d < ca.inf, far > NEAR, ca.SX.nan())

    def finish(p: ca.SX, state: ca.SX) -> ca.SX:
        n = state[:3] + state[4:7]
        return n / ca.norm_2(n)

    return Solver.of("overlap_of_ellipsoids", 18, start, step, finish, LIMIT)
