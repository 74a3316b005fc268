"""Goals as numbers: one row a frame, which the native loop reads.

The stations of one body enter the cost, its gradient and its Gauss-Newton matrix only through sums over them. With weights w,
stations s in the body's frame and targets x,

    W = sum w,   m = sum w s,   S = sum w s s',   xm = sum w x / W,   C = sum w s (x - xm)'                               (1)
    k = sum w (|s|^2 + |x - xm|^2)

a row holds 23 numbers a body however many markers it carries, and machine code does not depend on them. A row is

    t, size of the cost, then a block a body with stations (1), an orientation (R by rows, w), a distance (p_a, p_b, distance, w),
    a coordinate (value, w), a user's own (values, w)                                                                    (2)
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from condyle.fit.goals import Coordinate, Custom, Distance, Goal, Orientation, Residuals, Station
from condyle.tree.tree import Tree

STATIONS, ORIENTATION, DISTANCE, COORDINATE = 23, 10, 8, 2
"""Numbers of a block."""
HEAD = 2


@dataclass(frozen=True)
class Own:
    """A user's goal by what it computes: equal text, equal machine code."""

    text: str
    law: Residuals = field(compare=False, repr=False)


@dataclass(frozen=True)
class Layout:
    """What the machine code depends on: which bodies and coordinates goals are about.

    Attributes:
        stations: bodies with stations.   orientations: a body each.   distances: a pair of bodies each, -1 is ground.
        coordinates: places in q.   own: laws that a user wrote.
    """

    stations: tuple[int, ...] = ()
    orientations: tuple[int, ...] = ()
    distances: tuple[tuple[int, int], ...] = ()
    coordinates: tuple[int, ...] = ()
    own: tuple[Own, ...] = ()

    @classmethod
    def of(cls, tree: Tree, goals: Sequence[Goal]) -> Layout:
        index = lambda body: tree.body(body).index
        return cls(tuple(sorted({index(g.body) for g in goals if isinstance(g, Station)})),
                   tuple(index(g.body) for g in goals if isinstance(g, Orientation)),
                   tuple((index(g.a), index(g.b)) for g in goals if isinstance(g, Distance)),
                   tuple(tree.coordinate_index(g.coordinate) for g in goals if isinstance(g, Coordinate)),
                   tuple(Own(g.function.description(), g.function) for g in goals if isinstance(g, Custom)))

    def blocks(self) -> tuple[list[slice], ...]:
        """Where the blocks of each kind stand in a row."""
        start, out = HEAD, []
        for count, size in ((len(self.stations), STATIONS), (len(self.orientations), ORIENTATION),
                            (len(self.distances), DISTANCE), (len(self.coordinates), COORDINATE)):
            out.append([slice(start + size * i, start + size * (i + 1)) for i in range(count)])
            start += size * count
        mine = []
        for own in self.own:
            mine.append(slice(start, start + own.law.size + 1))
            start = mine[-1].stop
        return *out, mine

    @property
    def size(self) -> int:
        return HEAD + (STATIONS * len(self.stations) + ORIENTATION * len(self.orientations) + DISTANCE * len(self.distances)
                       + COORDINATE * len(self.coordinates) + sum(own.law.size + 1 for own in self.own))


def rows(tree: Tree, layout: Layout, goals: Sequence[Goal], t: np.ndarray) -> np.ndarray:
    """The rows (2) of all frames, shape (T, layout.size)."""
    T = len(t)
    out = np.zeros((T, layout.size))
    out[:, 0] = t
    stations, orientations, distances, coordinates, own = layout.blocks()
    for B, at in zip(layout.stations, stations, strict=True):
        mine = [g for g in goals if isinstance(g, Station) and tree.body(g.body).index == B]
        w = np.stack([g.weights(T) for g in mine], axis=1)                                  # (T, markers)
        s, x = np.stack([g.station for g in mine]), np.stack([g.targets(T) for g in mine], axis=1)
        out[:, at] = _sums(w, s, x)
        out[:, 1] += out[:, at.stop - 1]
    for g, at in zip((g for g in goals if isinstance(g, Orientation)), orientations, strict=True):
        w, R = g.weights(T), g.targets(T).reshape(T, 9).copy()
        R[w == 0] = np.eye(3).ravel()
        out[:, at] = np.column_stack([R, w])
        out[:, 1] += w
    for d, at in zip((g for g in goals if isinstance(g, Distance)), distances, strict=True):
        w, x = d.weights(T), d.targets(T)
        points = np.broadcast_to(np.concatenate([d.p_a, d.p_b]), (T, 6))
        out[:, at] = np.column_stack([points, x, w])
        out[:, 1] += w * (x * x + d.p_a @ d.p_a + d.p_b @ d.p_b)
    for c, at in zip((g for g in goals if isinstance(g, Coordinate)), coordinates, strict=True):
        w, x = c.weights(T), c.targets(T)
        out[:, at] = np.column_stack([x, w])
        out[:, 1] += w * (1 + x * x)
    for written, at in zip((g for g in goals if isinstance(g, Custom)), own, strict=True):
        w, x = written.weights(T), written.targets(T)
        out[:, at] = np.column_stack([x, w])
        out[:, 1] += w * (1 + (x * x).sum(axis=1))
    return out


def _sums(w: np.ndarray, s: np.ndarray, x: np.ndarray) -> np.ndarray:
    """W, m, S (xx yy zz xy xz yz), xm, C by rows, k of (1), shape (T, 23)."""
    W = w.sum(axis=1)
    xm = np.einsum("fi,fij->fj", w, x) / np.where(W > 0, W, 1.0)[:, None]
    off = x - xm[:, None]
    S = np.einsum("fi,ij,ik->fjk", w, s, s, optimize=True)
    C = np.einsum("fi,ij,fik->fjk", w, s, off, optimize=True)
    k = w @ (s * s).sum(axis=1) + np.einsum("fi,fij,fij->f", w, off, off, optimize=True)
    six = S[:, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return np.column_stack([W, w @ s, six, xm, C.reshape(-1, 9), k])
