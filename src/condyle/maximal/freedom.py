"""What joints and locks leave free, and what loops and constraints leave of it: docs/theory/maximal.md
(26)-(29).

K = [C_V; S] of joints and drivers is square and regular wherever the joints are. With the rows L of loops and
constraints

    T = K^-1 [0; 1]    velocities that the joints allow: V = V_0 + T u, u of speeds that are not locked   (26)
    L T = U diag(s) W'           singular values in falling order, r of them not zero                     (27)

so that L (V_0 + T u) = b has the least-squares solution of least norm u = W_r diag(1/s_r) U_r' (b - L V_0),
and the last columns of W are motions that change nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.errors import CondyleError

RANK = 1e-8
"""Singular values of (27) below this part of the largest one are zero. They are good to some eps where L is,
and an acceleration along a singular value s is good to about eps / s^2: with less than 1e-8 nothing would be
left of it."""
DENSE = 48
"""Up to so many rows the inverse of K is quicker than its sparse factors."""


class Freedom:
    """(26) and (27) at one position.

    Args:
        K: shape (nv, nv), the last rows those of the drivers.
        locked: which of these speeds are locked, shape (nu,).
        L: shape (k, nv).
        rank: r, if it is known from a neighbor; by default all singular values above RANK times the largest.

    Attributes:
        joined: K^-1 of a right-hand side.
    """

    def __init__(self, K: Array, locked: NDArray[np.bool_], L: Array, rank: int | None = None) -> None:
        self.moving, self.L, self._wanted = np.flatnonzero(~locked), L, rank
        self._drivers = len(K) - len(locked)
        try:
            if not (np.isfinite(K).all() and np.isfinite(L).all()):
                raise ValueError
            self.joined = _inverse(K)
        except (np.linalg.LinAlgError, RuntimeError, ValueError):
            raise CondyleError(
                "maximal: the equations of the joints are singular or not finite here: look "
                "at the state, and at functions in joints"
            ) from None

    @cached_property
    def T(self) -> Array:
        """(26), shape (nv, how many speeds are not locked)."""
        right = np.zeros((self.L.shape[1], len(self.moving)))
        right[self._drivers + self.moving, np.arange(len(self.moving))] = 1.0
        return self.joined(right)

    @cached_property
    def _svd(self) -> tuple[Array, Array, Array]:
        U, s, W = np.linalg.svd(self.L @ self.T)  # (27)
        return U, s, W

    @cached_property
    def rank(self) -> int:
        """r."""
        if not len(self.L) or not len(self.moving):
            return 0
        s = self._svd[1]
        return int((s > RANK * s[0]).sum()) if self._wanted is None else min(self._wanted, len(s))

    def least(self, right: Array) -> Array:
        """u of least norm with L T u = right, in least squares."""
        if not self.rank:
            return np.zeros(len(self.moving))
        (U, s, W), r = self._svd, self.rank
        return W[:r].T @ ((U[:, :r].T @ right) / s[:r])

    @cached_property
    def free(self) -> Array:
        """Columns u with L T u = 0."""
        return self._svd[2][self.rank :].T if self.rank else np.eye(len(self.moving))


def _inverse(K: Array) -> Callable[[Array], Array]:
    """K^-1 as a function. A joint's rows hold two bodies: K is sparse."""
    if len(K) <= DENSE:
        return np.linalg.inv(K).__matmul__
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import splu

    columns, rows = np.nonzero(K.T)
    starts = np.searchsorted(columns, np.arange(len(K) + 1))
    return splu(csc_matrix((K[rows, columns], rows, starts), shape=K.shape)).solve
