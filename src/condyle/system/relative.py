"""Motion of a frame B as a body A sees it, measured and expressed in A, from that of both in ground. r = p_GB
- p_GA:

  w_AB = R_GA' (w_B - w_A),                  v_AB = R_GA' (v_B - v_A - w_A x r)                            (1)
  alpha_AB = R_GA' (alpha_B - alpha_A - w_A x (w_B - w_A))
  a_AB = R_GA' (a_B - a_A - alpha_A x r - w_A x (w_A x r) - 2 w_A x R_GA v_AB)                             (2)

alpha_AB and a_AB are the rates of w_AB and v_AB, component by component in A.
"""

from __future__ import annotations

import numpy as np

from condyle.spatial import Transform

Array = np.ndarray
cross = np.cross


def _in_A(X_GA: Transform, angular: Array, linear: Array) -> Array:
    R = np.swapaxes(X_GA.R, -1, -2)
    return np.concatenate(
        np.broadcast_arrays(*((R @ x[..., None])[..., 0] for x in (angular, linear))), axis=-1
    )


def _difference(X_GA: Transform, V_A: Array, p: Array, V: Array) -> tuple[Array, Array, Array, Array]:
    """w_A, r, and w and v of (1), all in ground."""
    w_A, r = V_A[..., :3], p - X_GA.p
    return w_A, r, V[..., :3] - w_A, V[..., 3:] - V_A[..., 3:] - cross(w_A, r)


def velocity(X_GA: Transform, V_A: Array, p: Array, V: Array) -> Array:
    """V_AB (..., 6) by (1), from V_GA, V_GB (..., 6) and p_GB (..., 3)."""
    _, _, w, v = _difference(X_GA, V_A, p, V)
    return _in_A(X_GA, w, v)


def acceleration(X_GA: Transform, V_A: Array, A_A: Array, p: Array, V: Array, A: Array) -> Array:
    """A_AB (..., 6) by (2), from A_GA, A_GB (..., 6) and the same."""
    w_A, r, w, v = _difference(X_GA, V_A, p, V)
    alpha_A = A_A[..., :3]
    a = A[..., 3:] - A_A[..., 3:] - cross(alpha_A, r) - cross(w_A, cross(w_A, r)) - 2 * cross(w_A, v)
    return _in_A(X_GA, A[..., :3] - alpha_A - cross(w_A, w), a)
