"""Measures of a run (condyle.measures): those computed from its history, and samples during the run.

Extremes: g is evaluated LOOKS times in each step. Where the middle of three consecutive values is largest,
and beside events and at the ends of a run, an interval is divided until it is short (`_peaks`), if it may
exceed the largest so far. Rows and peaks in the order of the run then give the largest so far, to which g at
the requested time itself is added.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from condyle.errors import ShapeError
from condyle.integrate.events import StateFunctions
from condyle.measures import Delay, Maximum
from condyle.records import dataclass
from condyle.system.system import System

if TYPE_CHECKING:
    from condyle.integrate.trajectory import Trajectory

LOOKS = 8
"""How often extremes are searched for in a step."""
PARTS, ROUNDS = 8, 16
"""Parts into which an interval is divided, and the number of divisions; two parts are kept, so that 4^-16 of
it remains."""


def scalars(system: System) -> StateFunctions:
    """All measures of a system as one kernel, made once."""
    if "measures" not in system.compiled.programs:
        laws = [
            (f"measure {name!r}", m.law, m.asks) for name in system.measures for m in (system.measure(name),)
        ]
        system.compiled.programs["measures"] = StateFunctions(system, laws)
    return system.compiled.programs["measures"]  # type: ignore[no-any-return]


def history(system: System) -> list[str]:
    """Names of the measures that are found from a run's history."""
    return [name for name in system.measures if system.measure(name).history]


def measured(traj: Trajectory, name: str, i: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Columns (m, k) of a measure with a history, at times t (m,) of a whole run, in the steps that begin at
    rows i (m,)."""
    measure = traj.system.measure(name)
    if isinstance(measure, Delay):
        return _at(traj, name, np.maximum(t - measure.delay, min(traj.t[0], traj.t[-1])))[:, None]
    assert isinstance(measure, Maximum)
    found = _extremes(traj, name, measure.sign)
    here = _at(traj, name, t, i)
    last = found.rows[i] + found.peaks_before(i, t)
    best, when = found.best[last], found.when[last]
    better = measure.sign * here > measure.sign * best
    return np.stack([np.where(better, here, best), np.where(better, t, when)], axis=1)


def _at(traj: Trajectory, name: str, t: np.ndarray, i: np.ndarray | None = None) -> np.ndarray:
    """g (m,) of a measure at times t (m,), at or after rows i (m,) where two rows have one time."""
    if not traj.rows.whole:
        raise ShapeError(f"measure {name!r} needs the whole run, every step: simulate with keep='steps'")
    rows = traj.row(t) if i is None else i
    y = traj.at(t)
    if i is not None:
        # of two rows with one time, the requested one
        on = traj.t[i] == t
        y[on] = traj.y[i[on]]
    return scalars(traj.system)(t, y, traj.tails(rows))[:, traj.system.measures.index(name)]


@dataclass(frozen=True)
class Extremes:
    """Rows and peaks in the order of a run: the best so far and its time; the places of rows among them; the
    peaks alone."""

    best: np.ndarray
    when: np.ndarray
    rows: np.ndarray
    piece: np.ndarray
    peak: np.ndarray
    way: float

    def peaks_before(self, i: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Number of peaks of the steps that begin at rows i (m,) up to t (m,)."""
        first, last = (np.searchsorted(self.piece, i, side=side) for side in ("left", "right"))
        until = np.searchsorted(self.way * self.peak, self.way * t, side="right")
        return np.clip(until, first, last) - first


def _extremes(traj: Trajectory, name: str, sign: float) -> Extremes:
    """Found once per run."""
    kept = traj.__dict__.setdefault("_extremes", {})
    if name not in kept:
        kept[name] = _found(traj, name, sign)
    return kept[name]  # type: ignore[no-any-return]


def _found(traj: Trajectory, name: str, sign: float) -> Extremes:
    T, m = traj.t, len(traj.t)
    way = -1.0 if T[-1] < T[0] else 1.0
    g_row = sign * _at(traj, name, T, np.arange(m))
    when, value = np.empty(0), np.empty(0)
    moving = np.flatnonzero(np.diff(T))  # else two rows of an event
    if len(moving):
        share = np.arange(1, LOOKS) / LOOKS
        inside = T[moving, None] + np.diff(T)[moving, None] * share
        g_in = sign * _at(traj, name, inside.ravel()).reshape(inside.shape)
        t = np.column_stack([T[moving], inside, T[moving + 1]])
        g = np.column_stack([g_row[moving], g_in, g_row[moving + 1]])
        joined = np.append(moving[1:] == moving[:-1] + 1, False)  # the next step continues smoothly
        a, b, least = _intervals(t, g, joined)
        so_far = np.maximum.accumulate(g_row)[traj.row(a)]
        some = least > so_far
        when, value = _peaks(lambda x: sign * _at(traj, name, x), a[some], b[some])
    piece = np.clip(traj.row(when), 0, max(m - 2, 0))
    order = np.lexsort((way * when, piece))
    piece, when, value = piece[order], when[order], value[order]
    keys = np.concatenate([np.arange(m), piece + 0.5])
    order = np.argsort(keys, kind="stable")
    everything, times = np.concatenate([g_row, value])[order], np.concatenate([T, when])[order]
    best = np.maximum.accumulate(everything)
    first = np.maximum.accumulate(
        np.where(everything > np.append(-np.inf, best[:-1]), np.arange(len(best)), 0)
    )
    places = np.empty(len(order), dtype=int)
    places[order] = np.arange(len(order))
    return Extremes(sign * best, times[first], places[:m], piece, when, way)


def _intervals(t: np.ndarray, g: np.ndarray, joined: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Intervals that may contain maxima: starts, ends, and upper bounds. t, g: times and values in steps, (n,
    looks)."""
    found = [(t[:, j - 1], t[:, j + 1], g[:, j - 1], g[:, j], g[:, j + 1]) for j in range(1, t.shape[1] - 1)]
    k = np.flatnonzero(joined)
    found.append((t[k, -2], t[k + 1, 1], g[k, -2], g[k, -1], g[k + 1, 1]))
    inner = [np.concatenate(x) for x in zip(*found, strict=True)]
    top = (inner[3] >= inner[2]) & (inner[3] >= inner[4])
    a, b, low, high, end = (x[top] for x in inner)
    begins = np.concatenate([[True], ~joined[:-1]])
    ends = [
        (t[some, j], t[some, k], g[some, j], g[some, k]) for some, j, k in ((begins, 0, 1), (~joined, -2, -1))
    ]
    ea, eb, e0, e1 = (np.concatenate(x) for x in zip(*ends, strict=True))
    bound = high + 2 * (high - np.minimum(low, end))
    edge = np.maximum(e0, e1) + 2 * np.abs(e1 - e0)
    return np.concatenate([a, ea]), np.concatenate([b, eb]), np.concatenate([bound, edge])


def _peaks(
    g: Callable[[np.ndarray], np.ndarray], a: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Times and values of the maxima inside intervals from a (n,) to b (n,)."""
    when, value = (a + b) / 2, np.full(len(a), -np.inf)
    share, each = np.arange(1, PARTS) / PARTS, np.arange(len(a))
    for _ in range(ROUNDS if len(a) else 0):
        t = a[:, None] + (b - a)[:, None] * share
        x = g(t.ravel()).reshape(t.shape)
        j = x.argmax(axis=1)
        better = x[each, j] > value
        when, value = np.where(better, t[each, j], when), np.where(better, x[each, j], value)
        a, b = (
            np.where(j > 0, t[each, j - 1], a),
            np.where(j < PARTS - 2, t[each, np.minimum(j + 1, PARTS - 2)], b),
        )
    return when, value
