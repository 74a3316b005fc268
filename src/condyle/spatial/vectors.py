"""Spatial vectors, angular part first: motions (w, v) and forces (n, f), shape (..., 6).

Numbers, batched by leading dimensions, or CasADi SX.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from condyle.spatial.algebra import Value, as_vector, cross, is_symbolic
from condyle.spatial.rotations import skew
from condyle.spatial.transform import Transform


def split(V: Value) -> tuple[Value, Value]:
    """The angular and the linear part of a spatial vector made by `as_vector`."""
    return (V[:3], V[3:]) if isinstance(V, ca.SX) else (V[..., :3], V[..., 3:])


def join(angular: Value, linear: Value) -> Value:
    """The spatial vector of its two parts, which broadcast."""
    if isinstance(angular, ca.SX):
        return ca.vertcat(angular, linear)
    batch = np.broadcast_shapes(angular.shape, linear.shape)
    return np.concatenate([np.broadcast_to(angular, batch), np.broadcast_to(linear, batch)], axis=-1)


def shift_motion(V: Value, r: Value) -> Value:
    """(w, v + w x r): the velocity of the same body at the point r away.

    Args:
        V: (w, v) [rad/s, m/s], shape (..., 6).
        r: from the old point to the new one [m], shape (..., 3).
    """
    symbolic = is_symbolic(V, r)
    w, v = split(as_vector(V, 6, "shift_motion, V", symbolic))
    return join(w, v + cross(w, as_vector(r, 3, "shift_motion, r", symbolic)))


def shift_force(F: Value, r: Value) -> Value:
    """(n + r x f, f): the same force with its moment taken about another point.

    Args:
        F: (n, f) [N m, N], shape (..., 6); n about the old point.
        r: from the new point to the old one, where f acts [m], shape (..., 3).
    """
    symbolic = is_symbolic(F, r)
    n, f = split(as_vector(F, 6, "shift_force, F", symbolic))
    return join(n + cross(as_vector(r, 3, "shift_force, r", symbolic), f), f)


def adjoint(X: Value) -> Value:
    """Ad(X_FM) = [[R, 0], [[p]x R, R]], shape (..., 6, 6).

    Maps the spatial velocity of one rigid body from M to F, V_F = Ad V_M: V_M is taken at M's origin,
    expressed in M; V_F at F's origin, expressed in F. Forces go the other way, F_M = Ad' F_F.
    """
    R, p = Transform.of(X, "adjoint")
    lower = skew(p) @ R
    if isinstance(R, ca.SX):
        return ca.vertcat(ca.horzcat(R, ca.SX(3, 3)), ca.horzcat(lower, R))
    Ad = np.zeros(R.shape[:-2] + (6, 6))
    Ad[..., :3, :3] = Ad[..., 3:, 3:] = R
    Ad[..., 3:, :3] = lower
    return Ad
