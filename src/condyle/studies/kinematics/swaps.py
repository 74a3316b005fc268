"""Markers that look exchanged, as motion capture systems and people confuse them: for a few frames, or for the
whole trial.

Frames in which a marker is far from the model are bad. Two markers are candidates if each would be nearer to the
other's place, or if they are among the farthest of a frame that is far worse than the others; so are all left
and right markers together. Candidates exchange their names in one bad frame, which is solved again. They are
suspected if the squares of all errors fall to a quarter, or if those of the pair do, the rest does not grow, and
most other markers are near; then so are all bad frames in which that happens again.
"""
from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.fit.configurations import Configurations
from condyle.fit.doubts import FAR as OFF
from condyle.fit.doubts import reach
from condyle.fit.frames import Frames
from condyle.records import dataclass
from condyle.studies.kinematics.start import aligned
from condyle.studies.kinematics.tasks import MarkerTasks, Rows, Tasks
from condyle.system.state import State
from condyle.system.system import System

FAR, WORSE = 0.03, 3.0
"""A frame is bad if a marker is farther away than this [m, or sizes of a system below 1 m]; it is far worse than others if it is so many times
farther than the farthest is in the median."""
NEARER, REST = 0.25, 0.5
"""What the squares of errors fall to, at most; and the part of the pair's squares by which all fall at least."""
CLOSER = 0.5
"""Squares of the errors of two markers fall to this part if they exchange their names where the model is."""
FARTHEST, CANDIDATES, PAIRS, SAMPLES = 6, 6, 4, 8
"""So many markers of a frame are exchanged in pairs, so many candidates and frames are tried; so many pairs are
found."""
SIDES = 3
"""Pairs of left and right markers that are exchanged together, at least."""

Solve = Callable[[Tasks, Any, Rows], Frames]
Order = NDArray[np.intp]
"""For each marker, the one whose positions it gets."""


@dataclass(frozen=True)
class Swap:
    """Two markers that look exchanged; or all left and right ones.

    Attributes:
        markers: their names; of left and right, those of one pair after the other.
        frames: where.
        time: of the first and the last of these frames [s].
        rms: error of all markers in these frames, root mean square, as it is and with names exchanged [m].
    """

    markers: tuple[str, ...]
    frames: tuple[int, ...]
    time: tuple[float, float]
    rms: tuple[float, float]

    def __str__(self) -> str:
        a, b, *more = self.markers
        who = f"left and right markers ({a!r} and {b!r}, ...)" if more else f"{a!r} and {b!r}"
        first, last = (f"{t:.6g}" for t in self.time)
        where = (f"in frame {self.frames[0]} (t = {first} s)" if len(self.frames) == 1
                 else f"in {len(self.frames)} frames from {first} to {last} s")
        before, after = (f"{100 * x:.2g} cm" if x >= 0.001 else f"{1000 * x:.2g} mm" for x in self.rms)
        return f"{who} look exchanged {where}: exchanging them lowers the RMS from {before} to {after}"


def find_swaps(frames: Frames, tasks: Tasks, places: Array, solve: Solve) -> tuple[Swap, ...]:
    """Suspected pairs.

    Args:
        frames: what was found.
        tasks: what was followed.
        places: of the markers on the model [m], shape (T, n, 3).
        solve: runs tasks from a state over some frames.
    """
    T = len(frames)
    if tasks.markers is None or len(tasks.markers.names) < 2 or not T:
        return ()
    search, out = _Search(frames, tasks.markers, places), []
    for _ in range(PAIRS):
        found = search.next(tasks, solve)
        if found is None:
            break
        order, rows, places = found
        before = search.errors[rows]
        search.exchange(order, rows, places)
        names = [tasks.markers.names[k] for a in np.flatnonzero(order > np.arange(len(order)))
                 for k in (a, order[a])]
        times = tasks.t[rows]
        out.append(Swap(tuple(names), tuple(map(int, rows)), (float(times[0]), float(times[-1])),
                        (_rms(before), _rms(search.errors[rows]))))
    return tuple(out)


class _Search:
    """Errors of the markers with the exchanges that were found so far.

    Attributes:
        y: measured positions, shape (T, n, 3), NaN where one was not seen.
        x: places on the model, likewise.
        errors: distances, shape (T, n).
        far: what is far away [m].
    """

    def __init__(self, frames: Frames, markers: MarkerTasks, places: Array) -> None:
        self.frames, self.markers, T = frames, markers, len(frames)
        self.y = np.where(markers.weights[:T, :, None] > 0, markers.positions[:T], np.nan)
        self.x = places.copy()
        self.errors = np.linalg.norm(self.x - self.y, axis=2)
        self.far = FAR * min(reach(frames.system) or 1.0, 1.0)
        self.order = np.tile(np.arange(len(markers.names)), (T, 1))

    def exchange(self, order: Order, rows: NDArray[np.intp], places: Array) -> None:
        """Take an exchange as done in some frames."""
        self.y[rows], self.x[rows] = self.y[rows][:, order], places
        self.errors[rows] = np.linalg.norm(self.x[rows] - self.y[rows], axis=2)
        self.order[rows] = self.order[rows][:, order]

    def next(self, tasks: Tasks, solve: Solve) -> tuple[Order, NDArray[np.intp], Array] | None:
        """The best exchange, its frames, and the places of the markers then."""
        largest = np.fmax.reduce(self.errors, axis=1, initial=0.0)
        bad = largest > self.far
        if not bad.any():
            return None
        worse = largest > max(self.far, WORSE * float(np.median(largest)))
        rows = np.flatnonzero(worse if worse.any() else bad)
        for i, order in self._candidates(rows, bool(worse.any())):
            good = np.flatnonzero(~(worse if worse.any() else bad))
            found = self._solved(order, np.array([i]), good, tasks, solve)
            if found is None or not self._falls(order, np.array([i]), found)[0]:
                continue
            every = np.flatnonzero(bad)
            places = self._solved(order, every, good, tasks, solve)
            assert places is not None
            where = self._falls(order, every, places)
            if where.any():
                return order, every[where], places[where]
        return None

    def _candidates(self, rows: NDArray[np.intp], outliers: bool) -> list[tuple[int, Order]]:
        """A frame and an exchange each, the likeliest first."""
        n, some = self.y.shape[1], rows[np.unique(np.linspace(0, len(rows) - 1, SAMPLES).astype(int))]
        x, y = self.x[some], self.y[some]
        # squared distance of marker b from the place of a, shape (k, a, b)
        cross = (x * x).sum(axis=2)[:, :, None] + (y * y).sum(axis=2)[:, None] - 2 * x @ np.swapaxes(y, 1, 2)
        own = np.diagonal(cross, axis1=1, axis2=2)
        now, then = own[:, :, None] + own[:, None], cross + np.swapaxes(cross, 1, 2)
        gain = np.triu(np.where((then < CLOSER * now) & (now > 2 * self.far ** 2), now - then, 0.0))    # NaN: 0
        pairs = sorted(map(tuple, np.argwhere(gain.any(axis=0)).tolist()), key=lambda p: -gain[(slice(None), *p)].max())
        out = [(int(some[gain[:, a, b].argmax()]), _exchange(n, a, b)) for a, b in pairs[:CANDIDATES]]
        if outliers or _rms(self.errors[rows]) > OFF:
            i = int(rows[np.nan_to_num(self.errors[rows]).max(axis=1).argmax()])
            far = [int(k) for k in np.argsort(-np.nan_to_num(self.errors[i]))[:FARTHEST]
                   if np.isfinite(self.errors[i, k])]
            out += [(i, _exchange(n, a, b)) for a, b in combinations(far, 2) if (a, b) not in pairs]
            sides = _sides(self.markers.names)
            out += [(i, sides)] if (sides != np.arange(n)).sum() >= 2 * SIDES else []
        return out

    def _falls(self, order: Order, rows: NDArray[np.intp], places: Array) -> NDArray[np.bool_]:
        """Whether an exchange makes errors of some frames fall far enough, shape (k,)."""
        before, after = self.errors[rows] ** 2, ((places - self.y[rows][:, order]) ** 2).sum(axis=2)
        moved = order != np.arange(len(order))
        total, pair = np.nansum(before, axis=1), np.nansum(before[:, moved], axis=1)
        less, rest = np.nansum(after, axis=1), np.nansum(after[:, moved], axis=1)
        others = np.nanmedian(np.where(moved, np.nan, after), axis=1) if not moved.all() else np.inf
        return (less < NEARER * total) | ((rest < NEARER * pair) & (total - less > REST * pair) & (
            pair > moved.sum() * self.far ** 2) & (others < self.far ** 2))

    def _solved(self, order: Order, rows: NDArray[np.intp], good: NDArray[np.intp], tasks: Tasks,
                solve: Solve) -> Array | None:
        """Places of the markers in some frames with names exchanged, from a good frame nearby; where there is
        none, from the pose there, and from the start moved to the markers as a whole."""
        frames, system = self.frames, self.frames.system
        now = self.order.copy()
        now[rows] = now[rows][:, order]
        exchanged = replace(tasks, markers=_exchanged(self.markers, now))
        i = int(rows[0])
        near = int(good[np.abs(good - i).argmin()]) if good.size else i
        here = frames.start.replace(t=float(frames.t[i]), q=frames.q[near])
        starts = [here] if good.size else [here, aligned(frames.start.replace(t=here.t), exchanged, i)]
        best: tuple[float, Array] | None = None
        for start in starts:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = solve(exchanged, start, rows)
            if len(found) < len(rows):                      # interrupted
                return None
            places = self.markers.places(_at(system, found))
            error = float(np.nansum((places - self.y[rows][:, order]) ** 2))
            if best is None or error < best[0]:
                best = error, places
        return None if best is None else best[1]


def _at(system: System, frames: Frames) -> Configurations:
    return Configurations(system, frames.q, frames._tail)


def _exchange(n: int, a: int, b: int) -> Order:
    order = np.arange(n)
    order[[a, b]] = b, a
    return order


def _exchanged(markers: MarkerTasks, order: NDArray[np.intp]) -> MarkerTasks:
    """Markers with the positions of others, order (T, n)."""
    T = len(order)
    seen = np.take_along_axis(markers.weights[:T] > 0, order, axis=1)
    return replace(markers, positions=np.take_along_axis(markers.positions[:T], order[..., None], axis=1),
                   weights=np.where(seen, markers.weights.max(axis=0), 0.0))


def _sides(names: Sequence[str]) -> Order:
    """Left and right exchanged, by their names: R.Knee and L.Knee, RKNE and LKNE, knee_r and knee_l."""
    other = {"r": "l", "l": "r", "R": "L", "L": "R"}
    words = (re.compile(r"^()([rlRL])(.+)$"), re.compile(r"^(.+[._ -])([rlRL])()$"),
             re.compile(r"^(.*?)([rR]ight|[lL]eft)(.*)$"))
    order = np.arange(len(names))
    for k, name in enumerate(names):
        for word in words:
            if match := word.match(name):
                before, side, after = match.groups()
                swapped = (other[side] if len(side) == 1 else
                           {"r": "left", "l": "right", "R": "Left", "L": "Right"}[side[0]])
                if (there := f"{before}{swapped}{after}") in names:
                    order[k] = list(names).index(there)
                    break
    return order


def _rms(x: Array) -> float:
    return float(np.sqrt(np.nanmean(x ** 2)))
