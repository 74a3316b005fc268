"""Where a SplineSurface loses the rank of H, and where its angles are in gimbal lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from condyle.arrays import Array
from condyle.mobilizers.base import zeros
from condyle.mobilizers.grids import Direction, grid_values
from condyle.mobilizers.twists import chain
from condyle.spatial import Transform

SAMPLES = 40_000
"""Places in the domain that are looked at, about; each cell has at least its corners, at most 4 places per
direction: 8 in each interval find the minimum along a curve within 1 %, 4 within 8 %, and the smallest are
refined."""
LOCKED = 0.05
"""|det W| below which a place is an Euler singularity: 3 degrees from it."""
CLOSER = 3
"""How often the neighborhood of the smallest is looked at again, each time 4 times as finely."""


class Worst(NamedTuple):
    """The smallest of something in a domain, and where."""

    value: float
    q: Array
    cell: tuple[int, ...]
    changes_sign: bool = False


class Look:
    """H = W dphi/dq and W of a surface at many places.

    Where the control values of the second angle, and so the angle itself, stay away from ±pi/2 and no
    translation is between the rotations, W has its full rank: dphi/dq is looked at alone.

    Args:
        axes: the order of the basis twists.
        values: control values (6, n1, ..), extended.
    """

    def __init__(self, axes: Sequence[str], directions: Sequence[Direction], values: Array) -> None:
        self.axes, self.directions, self.values = axes, directions, values
        self.may_lock = (
            not _together(axes)
            or _smallest_cosine(values[[k for k, axis in enumerate(axes) if axis[0] == "r"][1]]) < LOCKED
        )
        phi = ca.SX.sym("phi", 6)
        _, _, W_w, W_v, *_ = chain(axes, Transform(), ca.vertsplit(phi), [zeros(1)] * 6, [zeros(1)] * 6)
        self.W = ca.Function("W", [phi], [ca.densify(ca.vertcat(W_w, W_v))])
        cells = [len(way.cells) - 1 for way in directions]
        each = int(np.clip((SAMPLES / np.prod(cells)) ** (1 / len(cells)), 1, 4))
        self.places = [way.samples(each) for way in directions]
        H, W = self.at(self.places)
        # rotations and translations count alike, and so do the coordinates
        turns = np.array([axis[0] == "r" for axis in axes]) if not self.may_lock else np.arange(6) < 3
        squares = (H**2).sum(axis=(0, 2))
        sizes = [np.sqrt(squares[turns == part].sum()) or 1.0 for part in (False, True)]
        self.rows = np.where(turns, sizes[1], sizes[0])[:, None]
        self.columns = np.maximum(np.linalg.norm(H / self.rows, axis=1).mean(axis=0), 1e-300)
        self.H, self.dets = H, np.linalg.det(W)

    def at(self, places: Sequence[Array]) -> tuple[Array, Array]:
        """H (N, 6, n) and W (N, 6, 6) on the grid of places; where W cannot lose rank, dphi/dq and 1."""
        B = [
            [way.matrix(x, order) for order in (0, 1)] for way, x in zip(self.directions, places, strict=True)
        ]
        slopes = [
            grid_values(self.values, [b[d == e] for e, b in enumerate(B)]).reshape(6, -1)
            for d in range(len(B))
        ]
        gradient = np.stack(slopes, axis=-1).swapaxes(0, 1)
        if not self.may_lock:
            return gradient, np.eye(6)[None]
        phi = grid_values(self.values, [b[0] for b in B]).reshape(6, -1)
        W = np.array(self.W.map(phi.shape[1])(phi)).reshape(6, -1, 6).swapaxes(0, 1)
        return W @ gradient, W

    def smallest_singular_value(self, H: Array) -> Array:
        """Of H with its rows and columns scaled, shape (N,)."""
        A = H / self.rows / self.columns
        return np.sqrt(np.maximum(np.linalg.eigvalsh(A.swapaxes(1, 2) @ A)[:, 0], 0.0))

    def rank(self) -> Worst:
        """The smallest singular value of H, where 1 is the mean length of its columns."""
        return self._refined(
            self.smallest_singular_value(self.H),
            lambda places: self.smallest_singular_value(self.at(places)[0]),
        )

    def lock(self) -> Worst:
        """The smallest |det W|: |cos(second angle)| where no translation is between the rotations. 1 if it is
        nowhere below LOCKED."""
        if not self.may_lock:
            return Worst(1.0, np.zeros(0), ())
        changes = bool(self.dets.min() * self.dets.max() < 0)
        worst = self._refined(np.abs(self.dets), lambda places: np.abs(np.linalg.det(self.at(places)[1])))
        return worst._replace(changes_sign=changes)

    def _refined(self, values: Array, again: Callable[[Sequence[Array]], Array]) -> Worst:
        places = self.places
        for step in range(CLOSER + 1):
            at = [int(k) for k in np.unravel_index(int(values.argmin()), [len(x) for x in places])]
            value, q = float(values.min()), np.array([x[k] for x, k in zip(places, at, strict=True)])
            if step == CLOSER:
                break
            places = [
                np.linspace(x[max(k - 1, 0)], x[min(k + 1, len(x) - 1)], 9)
                for x, k in zip(places, at, strict=True)
            ]
            values = again(places)
        cell = tuple(
            int(np.clip(np.searchsorted(way.cells, x, side="right") - 1, 0, len(way.cells) - 2))
            for way, x in zip(self.directions, q, strict=True)
        )
        return Worst(value, q, cell)


def _together(axes: Sequence[str]) -> bool:
    """Whether no rotation is between two translations, and no translation between two rotations."""
    kinds = "".join(axis[0] for axis in axes)
    return kinds in ("tttrrr", "rrrttt")


def _smallest_cosine(angle: Array) -> float:
    """The smallest |cos| between the smallest and the largest of some angles."""
    low, high = float(angle.min()), float(angle.max())
    if np.floor(low / np.pi - 0.5) != np.floor(high / np.pi - 0.5):
        return 0.0
    return float(min(abs(np.cos(low)), abs(np.cos(high))))
