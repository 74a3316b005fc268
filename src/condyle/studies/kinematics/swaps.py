"""Markers that look exchanged, in a few frames or the entire trial: motion capture systems and people
confuse markers.

Frames in which a marker is far from the model are bad. Two markers are candidates if each would be nearer
to the other's place. Large errors distort the pose: then some bad frames are solved again with weights that
fall with the errors, so that the pose fits most markers; and all left and right markers together are a
candidate too. Candidates exchange their names in one bad frame, which is solved again. They are suspected
if the sum of all squared errors falls to a quarter, or if that of the pair does, the rest does not grow,
and most other markers are near. All bad frames in which the exchange has the same effect are then suspected
too.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array, distinct, middle
from condyle.fit.configurations import Configurations
from condyle.fit.frames import Frames
from condyle.fit.missed_goals import FAR as OFF
from condyle.fit.missed_goals import reach
from condyle.records import dataclass
from condyle.studies.kinematics.start import SolveEach, aligned, solved_again
from condyle.studies.kinematics.tasks import Rows, Tasks

FAR, WORSE = 0.03, 3.0
"""A frame is bad if a marker is farther away than this [m, or sizes of a system below 1 m]; it is far worse
than others if its farthest marker is this many times farther than that of the median frame."""
NEARER, REST, ALL = 0.25, 0.5, 0.7
"""Largest fraction to which the squares of errors fall; fraction of the pair's squares by which the total
falls at least; and fraction of the total that then remains."""
CLOSER = 0.5
"""Exchanging the names of two markers in an unchanged pose reduces the squares of their errors to this
part."""
CANDIDATES, PAIRS, SAMPLES, AGAIN = 6, 4, 8, 8
"""Largest numbers of candidates tried, pairs found, frames checked, and frames solved again with other
weights."""
SIDES = 3
"""Smallest number of pairs of left and right markers that are exchanged together."""

Solve = Callable[[Tasks, Any, Rows], Frames]
Order = NDArray[np.intp]
"""For each marker, the marker whose positions it gets."""


@dataclass(frozen=True)
class Swap:
    """Two markers that look exchanged; or all left and right ones.

    Attributes:
        markers: their names; of left and right, those of one pair after the other.
        frames: the frames in which they look exchanged.
        time: times of the first and last of these frames [s].
        rms: root mean square error of all markers in these frames, as measured and with names exchanged [m].
    """

    markers: tuple[str, ...]
    frames: tuple[int, ...]
    time: tuple[float, float]
    rms: tuple[float, float]

    def __str__(self) -> str:
        a, b, *more = self.markers
        who = f"left and right markers ({a!r} and {b!r}, ...)" if more else f"{a!r} and {b!r}"
        first, last = (f"{t:.6g}" for t in self.time)
        where = (
            f"in frame {self.frames[0]} (t = {first} s)"
            if len(self.frames) == 1
            else f"in {len(self.frames)} frames from {first} to {last} s"
        )
        before, after = (f"{100 * x:.2g} cm" if x >= 0.001 else f"{1000 * x:.2g} mm" for x in self.rms)
        return f"{who} look exchanged {where}: exchanging them lowers the RMS from {before} to {after}"


def find_swaps(
    frames: Frames, tasks: Tasks, places: Array, errors: Array, solve: Solve, solve_each: SolveEach
) -> tuple[Swap, ...]:
    """Suspected pairs.

    Args:
        frames: the solution.
        tasks: the tasks that were followed.
        places: places of the markers on the model [m], shape (T, n, 3).
        errors: distances of the markers from these places [m], shape (T, n), NaN where a marker was not seen.
        solve: solves tasks in some frames, starting from a state.
        solve_each: solves tasks in some frames, each from its own pose, shape (k, nq).
    """
    T = len(frames)
    if tasks.markers is None or len(tasks.markers.names) < 2 or not T:
        return ()
    far = FAR * min(reach(frames.system) or 1.0, 1.0)
    if not (errors > far).any():
        return ()
    search, out = _Search(frames, tasks, places, errors, far, solve, solve_each), list[Swap]()
    start = errors
    for _ in range(PAIRS):
        found = search.next()
        if found is None:
            break
        order, rows, places = found
        search.exchange(order, rows, places)
        names = [
            tasks.markers.names[k]
            for a in np.flatnonzero(order > np.arange(len(order)))
            for k in (a, order[a])
        ]
        first = next((k for k, swap in enumerate(out) if swap.markers == tuple(names)), None)
        if first is not None:  # the same pair in more frames
            rows = np.union1d(rows, out.pop(first).frames)
        times = tasks.t[rows]
        out.append(
            Swap(
                tuple(names),
                tuple(map(int, rows)),
                (float(times[0]), float(times[-1])),
                (_rms(start[rows]), _rms(search.errors[rows])),
            )
        )
    return tuple(out)


class _Search:
    """Errors of the markers after the exchanges found so far.

    Attributes:
        y: measured positions, shape (T, n, 3), NaN where one was not seen.
        x: places on the model, same shape.
        errors: distances, shape (T, n).
        far: distance above which a marker is far [m].
    """

    def __init__(
        self,
        frames: Frames,
        tasks: Tasks,
        places: Array,
        errors: Array,
        far: float,
        solve: Solve,
        solve_each: SolveEach,
    ) -> None:
        markers, T = tasks.markers, len(frames)
        assert markers is not None
        self.frames, self.tasks, self.markers = frames, tasks, markers
        self.solve, self.solve_each = solve, solve_each
        self.y = np.where(markers.weights[:T, :, None] > 0, markers.positions[:T], np.nan)
        self.x, self.errors, self.far = places.copy(), errors.copy(), far
        self.order = np.tile(np.arange(len(markers.names)), (T, 1))

    def exchange(self, order: Order, rows: NDArray[np.intp], places: Array) -> None:
        """Apply an exchange in some frames."""
        self.y[rows], self.x[rows] = self.y[rows][:, order], places
        self.errors[rows] = np.linalg.norm(self.x[rows] - self.y[rows], axis=2)
        self.order[rows] = self.order[rows][:, order]

    def next(self) -> tuple[Order, NDArray[np.intp], Array] | None:
        """The best exchange, its frames, and the resulting places of the markers."""
        largest = np.fmax.reduce(self.errors, axis=1, initial=0.0)
        bad = largest > self.far
        if not bad.any():
            return None
        worse = largest > max(self.far, WORSE * float(middle(largest)))
        rows = np.flatnonzero(worse if worse.any() else bad)
        good = np.flatnonzero(~worse if worse.any() else ~bad)
        for i, order, q in self._candidates(rows, good, bool(worse.any())):
            one = self._solved(order, np.array([i]), q)
            if one is None or not self._falls(order, np.array([i]), one[1])[0]:
                continue
            every = np.flatnonzero(bad)
            near = int(good[np.abs(good - every[0]).argmin()]) if good.size else -1
            all_ = self._solved(order, every, one[0] if near < 0 else self.frames.q[near])
            if all_ is not None and (where := self._falls(order, every, all_[1])).any():
                return order, every[where], all_[1][where]
        return None

    def _candidates(
        self, rows: NDArray[np.intp], good: NDArray[np.intp], outliers: bool
    ) -> Iterator[tuple[int, Order, Array]]:
        """Yields a frame, an exchange and an initial pose, the most likely first."""
        n, some = self.y.shape[1], rows[distinct(np.linspace(0, len(rows) - 1, SAMPLES).astype(int))]
        near = some if not good.size else good[np.abs(good - some[:, None]).argmin(axis=1)]
        q = self.frames.q[near]
        yield from self._pairs(some, self.x[some], q)
        far_off = _rms(self.errors[rows]) > OFF
        if not (outliers or far_off):
            return
        q, x = self._robust(some, q, self.x[some], self._exchanged(np.arange(n), some))
        yield from self._pairs(some, x, q)
        sides = other_sides(self.markers.names)
        if (sides != np.arange(n)).sum() >= 2 * SIDES and far_off and not outliers:
            i = int(some[0])
            exchanged = self._exchanged(sides, np.array([i]))
            start = self.frames.start.replace(t=float(self.frames.t[i]))
            yield i, sides, aligned(start, exchanged, i).q

    def _pairs(self, some: NDArray[np.intp], x: Array, q: Array) -> Iterator[tuple[int, Order, Array]]:
        """Pairs that would be nearer to each other's places x (k, n, 3) in some frames, with poses q (k,
        nq)."""
        y = self.y[some]
        # squared distance of marker b from the place of a, shape (k, a, b)
        cross = (x * x).sum(axis=2)[:, :, None] + (y * y).sum(axis=2)[:, None] - 2 * x @ np.swapaxes(y, 1, 2)
        own = np.diagonal(cross, axis1=1, axis2=2)
        now, then = own[:, :, None] + own[:, None], cross + np.swapaxes(cross, 1, 2)
        closer = (then < CLOSER * now) & (now > 2 * self.far**2)  # False for NaN
        gain = np.triu(np.where(closer, now - then, 0.0))
        largest = gain.max(axis=0)
        for k in np.argsort(-largest, axis=None)[:CANDIDATES]:
            a, b = np.unravel_index(k, largest.shape)
            if largest[a, b] > 0:
                i = int(gain[:, a, b].argmax())
                order = np.arange(x.shape[1])
                order[[a, b]] = b, a
                yield int(some[i]), order, q[i]

    def _robust(self, some: NDArray[np.intp], q: Array, x: Array, now: Tasks) -> tuple[Array, Array]:
        """Poses (k, nq) of some frames that fit most markers, and the places of the markers, starting from
        q and x: frames are solved repeatedly with weights that fall with the square of the error."""
        assert now.markers is not None
        weights, w = now.markers.weights[some], now.markers.weights.copy()
        y = np.where(weights[..., None] > 0, now.markers.positions[some], np.nan)
        for _ in range(AGAIN):
            e = np.linalg.norm(x - y, axis=2)
            scale = np.maximum(np.nanmedian(e, axis=1, keepdims=True), self.far)
            w[some] = np.where(np.isfinite(e), weights / (1 + (e / scale) ** 2), 0.0)
            with warnings.catch_warnings(action="ignore"):
                found = self.solve_each(replace(now, markers=replace(now.markers, weights=w)), some, q)
            if len(found) < len(some):  # interrupted
                break
            q, x = found.q, self._places(found)
        return q, x

    def _falls(self, order: Order, rows: NDArray[np.intp], places: Array) -> NDArray[np.bool_]:
        """Whether an exchange reduces the errors of some frames enough, shape (k,)."""
        before, after = self.errors[rows] ** 2, ((places - self.y[rows][:, order]) ** 2).sum(axis=2)
        moved = order != np.arange(len(order))
        total, pair = np.nansum(before, axis=1), np.nansum(before[:, moved], axis=1)
        less, rest = np.nansum(after, axis=1), np.nansum(after[:, moved], axis=1)
        others = np.nanmedian(np.where(moved, np.nan, after), axis=1) if not moved.all() else np.inf
        return (less < NEARER * total) | (
            (rest < NEARER * pair)
            & (total - less > REST * pair)
            & (pair > moved.sum() * self.far**2)
            & (others < self.far**2)
            & (less < ALL * total)
        )

    def _solved(self, order: Order, rows: NDArray[np.intp], q: Array) -> tuple[Array, Array] | None:
        """The first pose, and places of the markers in some frames with names exchanged, from a pose."""
        exchanged = self._exchanged(order, rows)
        with warnings.catch_warnings(action="ignore"):
            found = self.solve(
                exchanged, self.frames.start.replace(t=float(self.frames.t[rows[0]]), q=q), rows
            )
        if len(found) < len(rows):  # interrupted
            return None
        found = solved_again(found, exchanged, rows, self.solve_each)
        x, y = self._places(found), self.y[rows][:, order]
        bad = np.flatnonzero(np.fmax.reduce(np.linalg.norm(x - y, axis=2), axis=1) > WORSE * self.far)
        if bad.size and len(rows) > 1:  # the pose may still be distorted as before
            q = self._robust(rows[bad], found.q[bad], x[bad], exchanged)[0]
            with warnings.catch_warnings(action="ignore"):
                again = self.solve_each(exchanged, rows[bad], q)
            if len(again) == len(bad):
                other = self._places(again)
                squares = [np.nansum((z - y[bad]) ** 2, axis=(1, 2)) for z in (x[bad], other)]
                x[bad] = np.where((squares[1] < squares[0])[:, None, None], other, x[bad])
        return found.q[0], x

    def _places(self, frames: Frames) -> Array:
        """Positions of the markers in some frames, shape (k, n, 3)."""
        return self.markers.places(Configurations(frames.system, frames.q, frames._tail))

    def _exchanged(self, order: Order, rows: NDArray[np.intp]) -> Tasks:
        """Tasks in which some markers have the positions of others in some frames."""
        now, markers = self.order.copy(), self.markers
        now[rows] = now[rows][:, order]
        seen = np.take_along_axis(markers.weights[: len(now)] > 0, now, axis=1)
        return replace(
            self.tasks,
            markers=replace(
                markers,
                positions=np.take_along_axis(markers.positions[: len(now)], now[..., None], axis=1),
                weights=np.where(seen, markers.weights.max(axis=0), 0.0),
            ),
        )


def other_sides(names: Sequence[str]) -> Order:
    """The exchange of left and right markers, by their names: R.Knee and L.Knee, RKNE and LKNE, knee_r and
    knee_l."""
    other = {"r": "l", "l": "r", "R": "L", "L": "R"}
    words = (
        re.compile(r"^()([rlRL])(.+)$"),
        re.compile(r"^(.+[._ -])([rlRL])()$"),
        re.compile(r"^(.*?)([rR]ight|[lL]eft)(.*)$"),
    )
    order = np.arange(len(names))
    for k, name in enumerate(names):
        for word in words:
            if match := word.match(name):
                before, side, after = match.groups()
                swapped = (
                    other[side]
                    if len(side) == 1
                    else {"r": "left", "l": "right", "R": "Left", "L": "Right"}[side[0]]
                )
                if (there := f"{before}{swapped}{after}") in names:
                    order[k] = list(names).index(there)
                    break
    return order


def _rms(x: Array) -> float:
    return float(np.sqrt(np.nanmean(x**2)))
