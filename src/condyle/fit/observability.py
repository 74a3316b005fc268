"""Which coordinates the goals of a frame determine, from the matrices of its normal equations.

With H = J' w J of the goals and P of the constraints (loop.py), a direction d of the free speeds is not
determined if it affects neither: H d = 0 and P d = 0. In units in which a unit of each speed moves markers by
about the same distance, d = D^-1 e, and with the rows of P normalized,

    K = D^-1 H D^-1 / w  +  D^-1 P' P D^-1                                                                (1)

where w is the least weight of a marker or sensor: an eigenvalue of (1) is at least the square of a lever arm,
in sizes of the system. Eigenvectors below `LEVER`^2 span the undetermined directions, and a coordinate's
share in them is the length of its row. Where the largest diagonal element of the inverse of (1) is small, no
eigenvalue is: such frames need no closer check.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.records import dataclass

LEVER = 1e-3
"""A marker whose lever arm about an axis is shorter than this [sizes of the system] does not determine the
angle: an error of one millimeter would turn a person by a radian.
"""
PART = 0.02
"""A coordinate with a smaller share in the undetermined directions is determined."""
ALONE = 0.999
"""A coordinate with a share this large moves alone: no measurement depends on it."""
ROUNDING = 1e-13
"""Added to the diagonal of (1), so that a singular matrix gets a large inverse."""


@dataclass(frozen=True, eq=False)
class NormalMatrices:
    """H and P at the end of some frames.

    Attributes:
        frames: indices among the frames that run, shape (k,).
        H: lower triangles, shape (k, nu, nu).
        P: shape (k, m, nu).
    """

    frames: NDArray[np.intp]
    H: Array = field(init=False)
    P: Array = field(init=False)

    def streams(self, n: int, m: int) -> dict[str, Array]:
        """Arrays that the native loop writes to, for n speeds and m equations: zero for frames that it does
        not reach.
        """
        H, P = np.zeros((max(len(self.frames), 1), n * n)), np.zeros((max(len(self.frames), 1), m * n))
        k = len(self.frames)
        vars(self).update(H=H[:k].reshape(k, n, n).swapaxes(1, 2), P=P[:k].reshape(k, m, n))
        return {"NORMAL": H} | ({"ROWS": P} if m else {})


def undetermined(
    matrices: NormalMatrices, units: Array, least: Array, free: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Speeds that the goals of each frame do not determine, and those among them on which no measurement
    depends: shapes (k, nu).

    Args:
        matrices: of k frames.
        units: D, the approximate distance by which a unit of each speed moves a marker [sizes of the system],
            shape (nu,).
        least: w, the least positive weight of each frame, shape (k,).
        free: speeds that are neither locked nor prescribed, shape (nu,).
    """
    shape = len(matrices.frames), len(free)
    lost, alone = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    D = units[free]
    if not len(D) or not shape[0]:
        return lost, alone
    H = matrices.H[:, free][:, :, free]
    lower = np.tril(H)
    K = (lower + np.swapaxes(np.tril(H, -1), 1, 2)) / (D[:, None] * D) / least[:, None, None]
    if matrices.P.shape[1]:
        P = matrices.P[:, :, free] / D
        size = np.linalg.norm(P, axis=2, keepdims=True)
        P = np.divide(P, size, out=np.zeros_like(P), where=size > 0)
        K += np.swapaxes(P, 1, 2) @ P  # (1)
    scale = np.maximum(np.trace(K, axis1=1, axis2=2), 1.0)
    regular = K + (ROUNDING * scale)[:, None, None] * np.eye(len(D))
    look = np.flatnonzero(np.diagonal(np.linalg.inv(regular), axis1=1, axis2=2).max(axis=1) > LEVER**-2)
    if look.size:
        values, vectors = np.linalg.eigh(K[look])
        free_ = values < np.maximum(LEVER**2, ROUNDING * scale[look, None])
        part = np.linalg.norm(vectors * free_[:, None], axis=2)
        at = np.ix_(look, np.flatnonzero(free))
        lost[at], alone[at] = part > PART, part > ALONE
    return lost, alone
