"""A target position in ground of a point of a body, such as a marker.

The stations of one body enter the cost, its gradient and its Gauss-Newton matrix only through sums over them.
With weights w, stations s in the body's frame and targets x,

    W = sum w,   m = sum w s,   S = sum w s s',   xm = sum w x / W,   C = sum w s (x - xm)'                (1)
    k = sum w (|s|^2 + |x - xm|^2)

a block has 23 numbers per body however many markers it carries, and machine code does not depend on them. In
ground, with R = R_GB, p = p_GB, y = xm - p,

    force   f = W y - R m,     moment about p  n = a(R C) + R m x y,    a(A)_i = sum_jk e_ijk A_jk         (2)
    cost      = 1/2 (W |y|^2 + k) - y . R m - tr(R C)                                                      (3)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from condyle.arrays import Array
from condyle.fit.configurations import AT_ONCE, Configurations
from condyle.fit.goals.base import Goal, check_moves, point
from condyle.laws.described import body_name
from condyle.records import dataclass
from condyle.tree.body import Body
from condyle.tree.tree import Tree

if TYPE_CHECKING:
    from condyle.fit.cost import GoalCost

NUMBERS = (1, 3, 6, 3, 9, 1)
"""Sizes of W, m, S (xx yy zz xy xz yz), xm, C by rows, k."""
WIDTH = sum(NUMBERS)


@dataclass(frozen=True, eq=False, repr=False)
class Station(Goal):
    """A point of a body, such as a marker, should be at a given position in ground.

    Args:
        body: a body or its name.
        station: the point in its frame [m], shape (3,).
        position: its target in ground [m], shape (3,) or (T, 3).

    Raises:
        CondyleError: invalid values.
    """

    unit: ClassVar[str] = "m"
    shape: ClassVar[tuple[int, ...]] = (3,)
    about: ClassVar[str] = "position"
    pooled: ClassVar[bool] = True
    is_place: ClassVar[bool] = True
    weight_at: ClassVar[int] = 0
    looped: ClassVar[str] = "pose"
    data: ClassVar[tuple[str, ...]] = ("station",)
    body: Body | str
    station: ArrayLike
    position: ArrayLike

    def __post_init__(self) -> None:
        self._set(body=body_name(self.body, "Station: body"))
        self._set(name=self.name or f"{self.body} station")
        self._set(station=point(self.station, f"goal {self.name!r}: station"))
        super().__post_init__()

    @classmethod
    def unchecked(
        cls,
        body: str,
        station: Array,
        position: Array,
        weight: Array,
        name: str,
    ) -> Self:
        """A goal from arrays of known shapes, station (3,), position (T, 3), weight (T,), without checks:
        fast for many goals.
        """
        out = object.__new__(cls)
        vars(out).update(body=body, station=station, position=position, weight=weight, name=name, law=None)
        return out

    def code(self, tree: Tree) -> str:
        return f"Station {self.body}" if type(self) is Station else super().code(tree)

    def check(self, tree: Tree) -> None:
        check_moves(tree, str(self.body), self.name)

    @property
    def points(self) -> dict[str, Array]:
        return {"station": np.asarray(self.station)}

    @property
    def width(self) -> int:
        return WIDTH

    @classmethod
    def numbers(cls, goals: Sequence[Self], frames: int) -> tuple[Array, Array]:
        numbers, size = (
            np.concatenate(x) for x in zip(*(found[0] for _, found in _sums([goals], frames)), strict=True)
        )
        return numbers, size

    @classmethod
    def all_numbers(
        cls, blocks: Sequence[Sequence[Self]], frames: int
    ) -> Iterator[tuple[slice, list[tuple[Array, Array]]]]:
        return _sums(blocks, frames) if cls is Station else super().all_numbers(blocks, frames)

    def add(self, cost: GoalCost, block: ca.SX) -> None:
        B = cost.view.tree.body(str(self.body)).index
        W, m, six, xm, C, k = ca.vertsplit(block, [0, *np.cumsum(NUMBERS).tolist()])
        xx, yy, zz, xy, xz, yz = ca.vertsplit(six)
        S, C = ca.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), ca.reshape(C, 3, 3).T
        placed = cost.kin.placed[B]
        R, r = cost.kin.R_GM[B] @ placed.R_MB, cost.kin.R_GM[B] @ placed.p_MB
        y, Rm, A = xm - cost.kin.p_GM[B] - r, R @ m, R @ C
        f = W * y - Rm  # (2)
        n = ca.vertcat(A[1, 2] - A[2, 1], A[2, 0] - A[0, 2], A[0, 1] - A[1, 0]) + ca.cross(Rm, y)
        value = (W * ca.dot(y, y) + k) / 2 - ca.dot(y, Rm) - ca.trace(A)  # (3)
        cost.add_load(B, n + ca.cross(r, f), f, value)
        cost.add_points(B, W, m, S)

    def errors(self, at: Configurations, targets: Array) -> Array:
        return np.linalg.norm(
            at.station_position(str(self.body), np.asarray(self.station)) - targets, axis=-1
        )


def _sums(
    blocks: Sequence[Sequence[Station]], frames: int
) -> Iterator[tuple[slice, list[tuple[Array, Array]]]]:
    """(1) of each block, all bodies at once: with a row per station and a column per body the sums are a
    matrix product. Some frames at a time, to save memory.
    """
    goals = [g for block in blocks for g in block]
    n, B = len(goals), len(blocks)
    weights = [np.broadcast_to(g.weight, (frames,)) for g in goals]
    positions = [np.broadcast_to(g.position, (frames, 3)) for g in goals]
    s = np.array([g.station for g in goals])
    body = np.repeat(np.arange(B), [len(block) for block in blocks])
    ones, stations = np.zeros((n, B)), np.zeros((n, B, 10))
    ones[np.arange(n), body] = 1.0
    six = s[:, [0, 1, 2, 0, 0, 1]] * s[:, [0, 1, 2, 1, 2, 2]]
    stations[np.arange(n), body] = np.column_stack([s, six, (s * s).sum(axis=1)])
    for start in range(0, frames, AT_ONCE):
        piece = slice(start, start + AT_ONCE)
        w = np.stack([each[piece] for each in weights], axis=1)
        x = np.ascontiguousarray(np.stack([each[piece] for each in positions]).T)
        absent = np.isnan(x).any(axis=0)
        if absent.any():
            w[absent] = 0.0
            x[:, absent] = 0.0
        W = w @ ones
        sums = (w @ stations.reshape(n, -1)).reshape(-1, B, 10)
        xm = (w * x) @ ones / np.where(W > 0, W, 1.0)  # (3, frames, B)
        off = x - xm[:, :, body]
        pull = w * off
        C = (pull @ stations[..., :3].reshape(n, -1)).reshape(3, -1, B, 3)
        k = sums[..., 9] + (pull * off).sum(axis=0) @ ones
        out = np.concatenate(
            [
                W[..., None],
                sums[..., :9],
                np.moveaxis(xm, 0, -1),
                np.moveaxis(C, 0, -1).reshape(-1, B, 9),
                k[..., None],
            ],
            axis=2,
        )
        yield piece, [(out[:, b], k[:, b]) for b in range(B)]
