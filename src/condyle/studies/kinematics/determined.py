"""Which coordinates the markers and sensors of each frame determine, and how gaps of the others are filled.

Frames in which the same markers and sensors were measured are of one kind. Some frames of each kind are
tested (`condyle.fit.observability`); if a coordinate is not determined in one of them, all frames of that
kind are tested.

The rule: a coordinate that nothing in the whole trial depends on keeps its value (`held`). Else a gap between
two frames that determine the coordinate is filled, if it is at most `fill_gaps` long: by a cubic through both
with the slopes of the frames beside them; then the frame is solved again from these values, so that the
visible markers still fit and the constraints hold. Longer gaps, and gaps at either end of the trial, are
NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array, distinct
from condyle.fit.configurations import AT_ONCE
from condyle.fit.frames import Frames, _continuous
from condyle.fit.missed_goals import reach
from condyle.fit.observability import NormalMatrices, undetermined
from condyle.records import dataclass
from condyle.studies.kinematics.tasks import Tasks
from condyle.system.system import System
from condyle.tree import scales

MANY = 32
"""With fewer kinds than this, three frames of each kind are tested, else one."""
SLOPE, CURVED = 7, 5
"""Frames beside a gap that give its slope there: their largest number, and the number from which a parabola
is used."""
EXACT = 1e-9
"""Rounding of times [s]."""

Mask = NDArray[np.bool_]
SolveEach = Callable[[Tasks, NDArray[np.intp], Array, NormalMatrices | None], Frames]
"""A function that solves tasks in some frames, each from its own pose (k, nq); with matrices it only
evaluates them."""


@dataclass(frozen=True)
class Gap:
    """Consecutive frames that do not determine a coordinate.

    Attributes:
        coordinate: its name.
        frames: first and last frame.
        time: their times [s].
        filled: whether it was interpolated, or, with fill_gaps=np.inf at the ends, kept; else the coordinate
            is NaN there.
    """

    coordinate: str
    frames: tuple[int, int]
    time: tuple[float, float]
    filled: bool


class Determined(NamedTuple):
    """Which coordinates each frame determines.

    Attributes:
        undetermined: True where the frame does not determine the coordinate, shape (T, nq).
        filled: True where it was interpolated, shape (T, nq).
        held: coordinates on which no measurement depends in any frame; they keep their initial values.
        gaps: gaps of the other coordinates.
    """

    undetermined: Mask
    filled: Mask
    held: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


def samples(tasks: Tasks) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The kind of each frame as a number, shape (T,), and the frames to test."""
    seen = _measured(tasks)
    if (seen == seen[0]).all():
        kinds = np.zeros(len(seen), dtype=np.intp)
    else:
        bits = np.packbits(seen, axis=1)
        columns = np.zeros((len(seen), -(-bits.shape[1] // 8) * 8), dtype=np.uint8)
        columns[:, : bits.shape[1]] = bits
        kinds = np.zeros(len(seen), dtype=np.intp)
        for word in columns.view(np.uint64).T:  # 64 measurements at a time
            kinds = kinds * (1 + len(seen)) + np.searchsorted(distinct(word), word)
            kinds = np.searchsorted(distinct(kinds), kinds)
    order = np.argsort(kinds, kind="stable")
    ends = np.searchsorted(kinds[order], np.arange(kinds.max() + 2))
    first, last = ends[:-1], ends[1:] - 1
    looks = [first, (first + last) // 2, last] if len(first) < MANY else [(first + last) // 2]
    return kinds, distinct(order[np.concatenate(looks)])


def _measured(tasks: Tasks) -> Mask:
    """Data with a weight in each frame: markers, sensors, coordinates, other goals, shape (T, n)."""
    T = len(tasks.t)
    parts = [part.weights > 0 for part in (tasks.markers, tasks.sensors) if part is not None]
    parts += [(np.isfinite(value) & (weight > 0))[:, None] for value, weight in tasks.coordinates.values()]
    parts += [(goal.weights(T) > 0)[:, None] for goal in tasks.others]
    return np.concatenate(parts, axis=1)


def determine(
    frames: Frames,
    tasks: Tasks,
    kinds: NDArray[np.intp],
    normal: NormalMatrices,
    longest: float,
    solve: SolveEach,
) -> tuple[Frames, Determined]:
    """The frames with gaps filled, and which coordinates each frame determines.

    Args:
        frames: the solution.
        tasks: the tasks that were followed.
        kinds: kinds of the frames, from `samples`.
        normal: normal matrices of the tested frames.
        longest: longest gap that is filled [s].
        solve: see SolveEach.
    """
    system, T = frames.system, len(frames)
    nothing = np.zeros((T, system.nq), dtype=bool)
    lost, _ = _coordinates(frames, tasks, normal, normal.frames)
    bad = distinct(kinds[normal.frames[(normal.frames < T) & lost.any(axis=1)]])
    if not bad.size:
        return frames, Determined(nothing, nothing)
    rows = np.flatnonzero(np.isin(kinds[:T], bad))
    missing, alone = nothing.copy(), nothing.copy()
    for start in range(0, len(rows), AT_ONCE):  # matrices are large
        some = rows[start : start + AT_ONCE]
        matrices = NormalMatrices(np.arange(len(some)))
        solve(tasks, some, frames.q[some], matrices)
        missing[some], alone[some] = _coordinates(frames, tasks, matrices, some)
    never = alone.all(axis=0) & (len(rows) == T)
    runs = [
        (k, a, b)
        for k in np.flatnonzero(missing.any(axis=0) & ~never).tolist()
        for a, b in _runs(missing[:, k])
    ]
    inside = lambda a, b: a > 0 and b < T - 1 and frames.t[b + 1] - frames.t[a] <= longest + EXACT
    filled, gaps = nothing.copy(), []
    for k, a, b in runs:
        filled[a : b + 1, k] = fill = inside(a, b) or longest == np.inf
        gaps.append(Gap(system.coordinates[k], (a, b), (float(frames.t[a]), float(frames.t[b])), bool(fill)))
    if any(inside(a, b) for _, a, b in runs):
        frames = _filled(frames, tasks, [(k, a, b) for k, a, b in runs if inside(a, b)], solve)
    held = tuple(system.coordinates[k] for k in np.flatnonzero(never))
    return frames, Determined(missing, filled, held, tuple(sorted(gaps, key=lambda g: g.frames)))


def _coordinates(
    frames: Frames, tasks: Tasks, normal: NormalMatrices, rows: NDArray[np.intp]
) -> tuple[Mask, Mask]:
    """Coordinates that some frames do not determine, and those among them that can move alone, shapes (k,
    nq)."""
    system = frames.system
    N = system.compiled.remembered("coordinates of rates", lambda: _rates(system))
    size = reach(system) or 1.0
    units = np.array([1.0 if unit == "m/s" else size for unit in scales.units(system.bodies)[1]])
    free = ~system.compiled.tails.held(frames.start.tail)
    lost, alone = undetermined(normal, units, _least(tasks, rows), free)
    lost, others = lost @ N.T, (~alone & free) @ N.T
    for name, (value, weight) in tasks.coordinates.items():
        lost[:, system.coordinates.index(name)] &= ~(np.isfinite(value) & (weight > 0))[rows]
    return lost, lost & ~others


def _rates(system: System) -> Mask:
    """Whether a coordinate's rate depends on a speed, shape (nq, nu)."""
    N = np.zeros((system.nq, system.nu), dtype=bool)
    for b in system.bodies:
        if b.follows is None and b.mobilizer.nu:
            pattern = ca.sparsify(ca.SX(b.mobilizer.N(ca.SX.sym("q", b.mobilizer.nq)))).sparsity()
            N[b.q, b.u] = np.array(ca.DM(pattern, 1).full()) > 0
    return N


def _least(tasks: Tasks, rows: NDArray[np.intp]) -> Array:
    """The least share of a marker or sensor in the cost of each frame, 1 without any, shape (k,)."""
    out = np.ones(len(rows))
    for part in (tasks.markers, tasks.sensors):
        if part is not None:
            w = part.weights[rows]
            least, total = np.where(w > 0, w, np.inf).min(axis=1, initial=np.inf), w.sum(axis=1)
            out = np.where(total > 0, np.minimum(out, least / np.where(total > 0, total, 1.0)), out)
    return out


def _runs(mask: Mask) -> list[tuple[int, int]]:
    """First and last frame of each run of True."""
    edges = np.diff(np.concatenate([[0], mask.astype(np.int8), [0]]))
    first, last = np.flatnonzero(edges > 0), np.flatnonzero(edges < 0) - 1
    return list(zip(first.tolist(), last.tolist(), strict=True))


def _filled(frames: Frames, tasks: Tasks, runs: Sequence[tuple[int, int, int]], solve: SolveEach) -> Frames:
    """The frames with some runs of coordinates interpolated, then solved again from these values."""
    system, t = frames.system, frames.t
    q = _continuous(system, frames.q)
    blank = np.zeros(q.shape, dtype=bool)
    for k, a, b in runs:
        blank[a : b + 1, k] = True
    smooth = q.copy()
    for k, a, b in runs:
        smooth[a : b + 1, k] = _between(t, q[:, k], blank[:, k], a, b)
    rows = np.flatnonzero(blank.any(axis=1))
    found = solve(tasks, rows, system.compiled.normalized(smooth[rows]), None)
    q, info = frames.q.copy(), frames.info.copy()
    q[rows], info[rows] = found.q, found.info
    q.flags.writeable = info.flags.writeable = False
    return replace(frames, q=q, info=info)


def _between(t: Array, x: Array, blank: Mask, a: int, b: int) -> Array:
    """Values in the frames a to b: the cubic through the frames beside them, with their slopes."""
    before, after = a - 1, b + 1
    step = t[after] - t[before]
    secant = (x[after] - x[before]) / step
    slopes = []
    for end, way in ((before, -1), (after, 1)):
        last = end
        while abs(last + way - end) < SLOPE and 0 <= last + way < len(x) and not blank[last + way]:
            last += way
        near = slice(min(end, last), max(end, last) + 1)
        degree = 2 if abs(last - end) + 1 >= CURVED else 1
        slopes.append(np.polyfit(t[near] - t[end], x[near], degree)[-2] if last != end else secant)
    s = (t[a : b + 1] - t[before]) / step
    return (
        (2 * s**3 - 3 * s**2 + 1) * x[before]
        + (3 * s**2 - 2 * s**3) * x[after]
        + step * ((s**3 - 2 * s**2 + s) * slopes[0] + (s**3 - s**2) * slopes[1])
    )
