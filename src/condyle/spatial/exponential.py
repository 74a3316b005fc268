"""Exponential and logarithm of rotations, SO(3), and of rigid motions, SE(3). Numbers, batched, or CasADi SX.

Notation
  phi   rotation vector, axis times angle [rad]      s = |phi|^2 = angle^2      K = [phi]x
  xi   (phi, v), angular part first: the body moves with the constant spatial velocity xi for one unit of time

Equations
  exp(phi) = 1 + a K + b K^2                                      a = sin(angle) / angle                   (1)
  exp(xi)  = (exp(phi), v + b phi x v + c phi x (phi x v))        b = (1 - cos(angle)) / angle^2           (2)
                                                                  c = (angle - sin(angle)) / angle^3
  v        = p - 1/2 phi x p + d phi x (phi x p)                  d = (1 - angle/2 cot(angle/2)) / angle^2 (3)
  phi      = f (x, y, z) of the quaternion with w >= 0            f = angle / sin(angle/2)                 (4)
  Jr(phi)  = 1 - b K + c K^2,      Jr(phi)^-1 = 1 + K/2 + d K^2                                            (5)
a, b, c, d are smooth functions of s, f one of x^2 + y^2 + z^2. Below a bound we sum their power series: no
digits are lost in differences, and the derivatives at zero, which the closed forms have as 0/0, are those of
a polynomial.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, factorial

from condyle.spatial.algebra import (
    Value,
    as_matrix,
    as_vector,
    atan2,
    cos,
    cross,
    dot,
    entries,
    identity,
    is_symbolic,
    scale,
    sin,
    sqrt,
    times,
    traceable,
    vector,
    where,
)
from condyle.spatial.quaternions import quaternion_from_rotation
from condyle.spatial.rotations import skew
from condyle.spatial.transform import Transform, join, split

SERIES_BELOW = 1.0
"""angle^2 up to which a, b, c, d are summed: the terms below leave out 1e-16 of d and less of the others.
Beyond it the closed forms lose at most one digit."""

HALF_SERIES_BELOW = 0.0625
"""sin(angle/2)^2 up to which f is summed, likewise: the terms below leave out 1e-17."""

A_TERMS, B_TERMS, C_TERMS = ([(-1) ** k / factorial(2 * k + n) for k in range(10)] for n in (1, 2, 3))
BERNOULLI = (1 / 6, 1 / 30, 1 / 42, 1 / 30, 5 / 66, 691 / 2730, 7 / 6, 3617 / 510, 43867 / 798, 174611 / 330)
D_TERMS = [B / factorial(2 * k + 2) for k, B in enumerate(BERNOULLI)]
# 2 asin(n) / n in powers of n^2
F_TERMS = [2 * comb(2 * k, k) / 4**k / (2 * k + 1) for k in range(12)]


@traceable
def exp_so3(phi: Value) -> Value:
    """Rotation by the angle |phi| about phi. For symbols, with all derivatives at phi = 0.

    Args:
        phi: rotation vector [rad], shape (..., 3).

    Returns:
        shape (..., 3, 3).
    """
    phi = as_vector(phi, 3, "exp_so3")
    s = dot(phi, phi)
    K = skew(phi)
    return identity(3, is_symbolic(phi)) + times(_a(s), K) + times(_b(s), K @ K)  # (1)


@traceable
def log_so3(R: Value) -> Value:
    """The rotation vector of a rotation, at most pi long. Inverse of `exp_so3`.

    Relative error a few eps near 0, absolute error a few eps near pi. At pi, where both directions of the
    axis are right, its largest component is positive; within rounding of pi either may come. For symbols,
    derivatives along the rotations exist up to pi, at the identity too.

    Args:
        R: rotation, shape (..., 3, 3).

    Returns:
        [rad], shape (..., 3).
    """
    w, x, y, z = entries(quaternion_from_rotation(as_matrix(R, 3, "log_so3")))
    v = vector([x, y, z])
    return scale(_f(dot(v, v), w), v)  # (4)


@traceable
def right_jacobian_so3(phi: Value) -> Value:
    """Jr of exp(phi + d) = exp(phi) exp(Jr d) for small d, shape (..., 3, 3)."""
    phi = as_vector(phi, 3, "right_jacobian_so3")
    s, K = dot(phi, phi), skew(phi)
    return identity(3, is_symbolic(phi)) - times(_b(s), K) + times(_c(s), K @ K)  # (5)


@traceable
def right_jacobian_inverse_so3(phi: Value) -> Value:
    """The inverse of `right_jacobian_so3`: log(exp(phi) exp(d)) = phi + Jr^-1 d for small d. |phi| < 2 pi."""
    phi = as_vector(phi, 3, "right_jacobian_inverse_so3")
    s, K = dot(phi, phi), skew(phi)
    return identity(3, is_symbolic(phi)) + times(0.5, K) + times(_d(s), K @ K)  # (5)


@traceable
def exp_se3(xi: Value) -> Transform:
    """The pose reached by moving with the spatial velocity xi for one unit of time. For symbols, with all
    derivatives at xi = 0.

    Args:
        xi: (phi, v) [rad, m], shape (..., 6).
    """
    phi, v = split(as_vector(xi, 6, "exp_se3"))
    s = dot(phi, phi)
    across = cross(phi, v)
    p = v + scale(_b(s), across) + scale(_c(s), cross(phi, across))  # (2)
    return Transform.unchecked(exp_so3(phi), p)


def log_se3(X: Value) -> Value:
    """The constant spatial velocity (phi, v) [rad, m], shape (..., 6), that reaches the pose X in one unit of
    time;
    |phi| <= pi. Inverse of `exp_se3`."""
    R, p = Transform.of(X, "log_se3")
    phi = log_so3(R)
    across = cross(phi, p)
    v = p - 0.5 * across + scale(_d(dot(phi, phi)), cross(phi, across))  # (3)
    return join(phi, v)


def _series(terms: Sequence[float], s: Value) -> Value:
    total = terms[-1]
    for term in reversed(terms[:-1]):
        total = term + s * total
    return total


def _guarded_angle(s: Value) -> Value:
    """sqrt(s), and 1 where the series is used: both sides of `where` are evaluated and differentiated."""
    return sqrt(where(s < SERIES_BELOW, 1.0, s))


def _a(s: Value) -> Value:
    angle = _guarded_angle(s)
    return where(s < SERIES_BELOW, _series(A_TERMS, s), sin(angle) / angle)


def _b(s: Value) -> Value:
    angle = _guarded_angle(s)
    half = sin(angle / 2) / angle
    return where(s < SERIES_BELOW, _series(B_TERMS, s), 2 * half * half)


def _c(s: Value) -> Value:
    angle = _guarded_angle(s)
    return where(s < SERIES_BELOW, _series(C_TERMS, s), (angle - sin(angle)) / (angle * angle * angle))


def _d(s: Value) -> Value:
    angle = _guarded_angle(s)
    closed = (1 - angle / 2 * cos(angle / 2) / sin(angle / 2)) / (angle * angle)
    return where(s < SERIES_BELOW, _series(D_TERMS, s), closed)


def _f(nn: Value, w: Value) -> Value:
    n = sqrt(where(nn < HALF_SERIES_BELOW, 1.0, nn))
    return where(nn < HALF_SERIES_BELOW, _series(F_TERMS, nn), 2 * atan2(n, w) / n)
