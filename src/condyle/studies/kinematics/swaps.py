"""Markers that may have each other's names in some frames, as motion capture systems confuse them.

Some frames are far from the model. In the worst of them each two of the markers that are farthest away
exchange their names, and the frame is solved again from the pose of a good frame nearby. If the cost falls to
a quarter or less, these two are suspected, and so are all bad frames in which they do that.
"""
from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.fit.frames import Frames
from condyle.fit.loop import INFO
from condyle.records import dataclass
from condyle.studies.kinematics.tasks import Rows, Tasks

FAR, WORSE = 0.03, 3.0
"""A frame is bad if a marker is farther away than this [m], and so many times farther than the farthest is in
the median."""
NEARER = 0.25
"""What the cost falls to, at most."""
FARTHEST, PAIRS = 6, 3
"""So many markers of a frame are exchanged in pairs; so many pairs are looked for."""

Solve = Callable[[Tasks, Any, Rows], Frames]


@dataclass(frozen=True)
class Swap:
    """Two markers that may be swapped.

    Attributes:
        markers: their names.
        frames: where.
        time: of the first and the last of these frames [s].
    """

    markers: tuple[str, str]
    frames: tuple[int, ...]
    time: tuple[float, float]

    def __str__(self) -> str:
        a, b = self.markers
        one = len(self.frames) == 1
        where = f"frame {self.frames[0]}" if one else f"{len(self.frames)} frames from {self.frames[0]} on"
        return (f"markers {a!r} and {b!r} may be swapped in {where} (t = {self.time[0]:.6g}"
                f"{'' if one else f' to {self.time[1]:.6g}'} s): with their names exchanged they fit the "
                "model far better")


def find_swaps(frames: Frames, tasks: Tasks, distances: Array, solve: Solve) -> tuple[Swap, ...]:
    """Suspected pairs.

    Args:
        frames: what was found.
        tasks: what was followed.
        distances: of the markers from the model [m], shape (T, n), NaN where one was not seen.
        solve: runs tasks from a state over some frames.
    """
    if tasks.markers is None or distances.shape[1] < 2 or not len(frames):
        return ()
    largest = np.fmax.reduce(distances, axis=1, initial=0.0)
    if not largest.max() > FAR:
        return ()
    bad = largest > max(FAR, WORSE * float(np.median(largest)))
    cost = frames.info[:, INFO.index("cost")].copy()
    out: list[Swap] = []
    for _ in range(PAIRS):
        if not bad.any():
            break
        i = int(np.where(bad, cost, -1.0).argmax())
        pair = _best_pair(frames, tasks, distances[i], i, _start(frames, bad, i), cost[i], solve)
        if pair is None:
            break
        rows = np.flatnonzero(bad)
        better = _costs(frames, tasks, pair, rows, _start(frames, bad, int(rows[0])), solve)
        where = rows[better < NEARER * cost[rows]]
        where = where if i in where else np.sort(np.append(where, i))
        a, b = (tasks.markers.names[k] for k in pair)
        out.append(Swap((a, b), tuple(map(int, where)), (float(tasks.t[where[0]]),
                                                         float(tasks.t[where[-1]]))))
        bad[where] = False
    return tuple(out)


def _best_pair(frames: Frames, tasks: Tasks, distances: Array, i: int, start: Any, cost: float,
               solve: Solve) -> tuple[int, int] | None:
    """The pair whose exchange makes the cost of frame i least, if that is far less."""
    far = np.argsort(-np.nan_to_num(distances))[:FARTHEST]
    pairs = list(combinations([int(k) for k in far if np.isfinite(distances[k])], 2))
    costs = [_costs(frames, tasks, pair, np.array([i]), start, solve)[0] for pair in pairs]
    best = int(np.argmin(costs)) if costs else 0
    return pairs[best] if costs and costs[best] < NEARER * cost else None


def _costs(frames: Frames, tasks: Tasks, pair: tuple[int, int], rows: NDArray[np.intp], start: Any,
           solve: Solve) -> Array:
    """Costs of some frames with two markers exchanged, shape (rows,)."""
    markers = tasks.markers
    assert markers is not None                              # find_swaps looked
    order = np.arange(len(markers.names))
    order[list(pair)] = pair[::-1]
    seen = markers.weights > 0
    exchanged = replace(markers, positions=markers.positions[:, order],
                        weights=np.where(seen[:, order], markers.weights.max(axis=0), 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = solve(replace(tasks, markers=exchanged), start, rows)
    return found.info[:, INFO.index("cost")]


def _start(frames: Frames, bad: NDArray[np.bool_], i: int) -> Any:
    """The state of the good frame nearest to frame i; of itself if there is none."""
    good = np.flatnonzero(~bad)
    k = int(good[np.abs(good - i).argmin()]) if good.size else i
    return frames.start.replace(t=float(frames.t[i]), q=frames.q[k])
