"""Spatial inertias and what is done with them, in ground axes about a body's point of reference.

  Inertia = (I, J, M): the matrix [[I, J], [J', M]]; rigid: I about the point, J = m [p_c]x, M = m 1
  Force = (n, f): moment about the point, and force.   Motion = (w, v) or (alpha, a).
"""
from __future__ import annotations

import casadi as ca

from condyle.dynamics.inline import inlined

cross, dot = ca.cross, ca.dot

Inertia = tuple[ca.SX, ca.SX, ca.SX]


def symmetric(A):
    """A, known to be symmetric, from its lower triangle: the other half is never computed."""
    return ca.tril2symm(ca.tril(A))


@inlined
def rigid(R, mass, com, I):
    """Spatial inertia of a rigid body whose I, com are given in axes R, about its origin; and com in ground."""
    p_c = R @ com
    return (symmetric(R @ I @ R.T), mass * ca.skew(p_c), mass * ca.SX.eye(3)), p_c


@inlined
def gyroscopic(P, mass, p_c, w):
    """Force that a rigid body needs to keep its angular velocity w: (w x I w, m w x (w x p_c))."""
    return cross(w, P[0] @ w), mass * cross(w, cross(w, p_c))


@inlined
def apply(P, a):
    I, J, M = P
    return I @ a[0] + J @ a[1], J.T @ a[0] + M @ a[1]


@inlined
def add_inertia(P, Q):
    return tuple(x + y for x, y in zip(P, Q, strict=True))


@inlined
def shift_inertia(P, r):
    """The same inertia about the point at -r."""
    I, J, M = P
    rx = ca.skew(r)
    Jr = J + rx @ M
    return symmetric(I + rx @ J.T - Jr @ rx), Jr, M


@inlined
def shift_force(F, r):
    return F[0] + cross(r, F[1]), F[1]


@inlined
def shift_motion(V, r):
    """Velocity, or acceleration at rest, of the point at r on the same body."""
    return V[0], V[1] + cross(V[0], r)


@inlined
def inner(a, b):
    return dot(a[0], b[0]) + dot(a[1], b[1])


@inlined
def add(a, b):
    return a[0] + b[0], a[1] + b[1]


@inlined
def add_scaled(a, b, s):
    return a[0] + b[0] * s, a[1] + b[1] * s
