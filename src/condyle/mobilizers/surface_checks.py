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
CLOSER = 3
"""How often the neighbourhood of the smallest is looked at again, each time 4 times as finely."""


class Worst(NamedTuple):
    """The smallest of something in a domain, and where."""

    value: float
    q: Array
    cell: tuple[int, ...]
    changes_sign: bool = False


class Look:
    """H = W dphi/dq and W of a surface at many places.

    Args:
        axes: the order of the basis twists.
        values: control values (6, n1, ..), extended.
    """

    def __init__(self, axes: Sequence[str], directions: Sequence[Direction], values: Array) -> None:
        self.axes, self.directions, self.values = axes, directions, values
        phi = ca.SX.sym("phi", 6)
        _, _, W_w, W_v, *_ = chain(axes, Transform(), ca.vertsplit(phi), [zeros(1)] * 6, [zeros(1)] * 6)
        self.W = ca.Function("W", [phi], [ca.densify(ca.vertcat(W_w, W_v))])
        cells = [len(way.cells) - 1 for way in directions]
        each = int(np.clip((SAMPLES / np.prod(cells)) ** (1 / len(cells)), 1, 4))
        self.places = [way.samples(each) for way in directions]
        H, W = self.at(self.places)
        # rotations and translations count alike, and so do the coordinates
        rows = np.sqrt((H ** 2).sum(axis=(0, 2)).reshape(2, 3).sum(axis=1))
        self.rows = np.repeat(np.where(rows > 0, rows, 1.0), 3)[:, None]
        self.columns = np.maximum(np.linalg.norm(H / self.rows, axis=1).mean(axis=0), 1e-300)
        self.H, self.dets = H, np.linalg.det(W)

    def at(self, places: Sequence[Array]) -> tuple[Array, Array]:
        """H (N, 6, n) and W (N, 6, 6) on the grid of places."""
        B = [[way.matrix(x, order) for order in (0, 1)] for way,
             x in zip(self.directions, places, strict=True)]
        n, phi = len(B), grid_values(self.values, [b[0] for b in B])
        slopes = [grid_values(self.values, [b[d == e] for e, b in enumerate(B)]).reshape(6, -1)
                  for d in range(n)]
        W = np.array(self.W.map(phi[0].size)(phi.reshape(6, -1))).reshape(6, -1, 6).swapaxes(0, 1)
        return W @ np.stack(slopes, axis=-1).swapaxes(0, 1), W

    def smallest_singular_value(self, H: Array) -> Array:
        """Of H with its rows and columns scaled, shape (N,)."""
        A = H / self.rows / self.columns
        return np.sqrt(np.maximum(np.linalg.eigvalsh(A.swapaxes(1, 2) @ A)[:, 0], 0.0))

    def rank(self) -> Worst:
        """The smallest singular value of H, where 1 is the mean length of its columns."""
        return self._refined(self.smallest_singular_value(self.H),
                             lambda places: self.smallest_singular_value(self.at(places)[0]))

    def lock(self) -> Worst:
        """The smallest |det W|: |cos(second angle)| where no translation is between the rotations."""
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
            places = [np.linspace(x[max(k - 1, 0)], x[min(k + 1, len(x) - 1)], 9)
                      for x, k in zip(places, at, strict=True)]
            values = again(places)
        cell = tuple(int(np.clip(np.searchsorted(way.cells, x, side="right") - 1, 0, len(way.cells) - 2))
                     for way, x in zip(self.directions, q, strict=True))
        return Worst(value, q, cell)
