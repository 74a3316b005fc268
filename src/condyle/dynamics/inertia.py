"""Spatial inertias and operations on them, in ground axes about a body's point of reference.

  Inertia = (I, J, M): the matrix [[I, J], [J', M]]; rigid: I about the point, J = m [p_c]x, M = m 1
  Force = (n, f): moment about the point, and force.   Motion = (w, v) or (alpha, a).

Sums of products are written as chains, a + b c + d e from left to right: each step is then one fused
multiply-add.
"""

from __future__ import annotations

import casadi as ca

from condyle.dynamics.inline import inlined

cross = ca.cross

Inertia = tuple[ca.SX, ca.SX, ca.SX]


def symmetric(A):
    """A, known to be symmetric, from its lower triangle: the other half is never computed."""
    return ca.tril2symm(ca.tril(A))


def add_cross(a, b, c):
    """a + b x c."""
    return ca.vertcat(*(a[i] + b[j] * c[k] - b[k] * c[j] for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1))))


def add_product(a, A, b):
    """a + A b."""
    return ca.mac(A, b, a)


@inlined
def rigid(R, mass, com, I):
    """Spatial inertia of a rigid body whose I, com are given in axes R, about its origin; and com in ground.

    I is a matrix, or (l, a, b) for l 1 + a a' - b b' (tree/body_constants.py): rotating two vectors is
    cheaper than rotating a matrix; or (l, x, a, y, b) for l 1 + x a a' + y b b'.
    """
    p_c = R @ com
    return (_turned(R, I), mass * ca.skew(p_c), mass * ca.SX.eye(3)), p_c


def _turned(R, I):
    if not isinstance(I, tuple):
        return symmetric(R @ I @ R.T)
    if len(I) == 5:
        l, x, a, y, b = I[0], I[1], R @ I[2], I[3], R @ I[4]
        return symmetric(l * ca.SX.eye(3) + (x * a) @ a.T + (y * b) @ b.T)
    l, a, b = I[0], R @ I[1], R @ I[2]
    return symmetric(l * ca.SX.eye(3) + a @ a.T - b @ b.T)


@inlined
def newton_euler(P, mass, p_c, w, A):
    """Force that a rigid body needs to move with angular velocity w and acceleration A = (alpha, a), lee2008 (7), (8):
    (I alpha + m p_c x a + w x I w,  m (a + alpha x p_c + w x (w x p_c)))."""
    (I, J, _), (alpha, a) = P, A
    n = add_cross(add_product(J @ a, I, alpha), w, I @ w)
    return n, mass * add_cross(add_cross(a, alpha, p_c), w, cross(w, p_c))


@inlined
def apply(P, a):
    I, J, M = P
    return add_product(I @ a[0], J, a[1]), add_product(J.T @ a[0], M, a[1])


@inlined
def add_inertia(P, Q):
    return tuple(x + y for x, y in zip(P, Q, strict=True))


@inlined
def shift_inertia(P, r):
    """The same inertia about the point at -r."""
    I, J, M = P
    rx = ca.skew(r)
    Jr = add_product(J, rx, M)
    return symmetric(add_product(add_product(I, rx, J.T), -Jr, rx)), Jr, M


@inlined
def shift_force(F, r):
    return add_cross(F[0], r, F[1]), F[1]


@inlined
def shift_motion(V, r):
    """Velocity, or acceleration at rest, of the point at r on the same body."""
    return V[0], add_cross(V[1], V[0], r)


@inlined
def inner(a, b):
    x = ca.SX(0)
    for p, q in _entries(a, b):
        x = x + p * q
    return x


def less_inner(x, a, b):
    """x - a . b."""
    for p, q in _entries(a, b):
        x = x - p * q
    return x


def _entries(a, b):
    return [(p[i], q[i]) for p, q in zip(a, b, strict=True) for i in range(3)]


@inlined
def add(a, b):
    return a[0] + b[0], a[1] + b[1]


@inlined
def scaled(a, s):
    return a[0] * s, a[1] * s


@inlined
def add_scaled(a, b, s):
    return a[0] + b[0] * s, a[1] + b[1] * s
