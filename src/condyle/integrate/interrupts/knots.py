"""The times over which a run must not step: docs/theory/integrators.md, "What depends on time".

Candidates are the breaks of all signals (time_signals.py): samples of series, knots of splines, times that
conditions compare t with. Most are redundant. Neighbors are joined, two and two, while all signals in
between are one polynomial to a tolerance:

    |x(t) - P(t)| <= tolerance mean|x - median(x)|                                                         (1)

at the breaks and between, with P through some of the values.

A pulse, however short, is not such a polynomial; where signals are constant or smooth, few times remain. The
run ends a step at each of these, so that every step sees one polynomial. At a jump of a signal it steps from
just before to just after. Signals that are curved, exp(-((t - 5) / 0.01)^2), have no breaks: there the
candidates are GRID times of equal distance, and the tolerance is COARSE: it is enough that the error estimate
notices the signal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from condyle.errors import warn
from condyle.integrate.integrators import Method
from condyle.integrate.interrupts.base import Interrupter
from condyle.integrate.interrupts.time_signals import TimeSignals, timed

if TYPE_CHECKING:
    from condyle.integrate.run import RunSettings, SimulationRun

GRID = 4096
"""Number of intervals in which a run checks curved signals."""
COARSE = 1e-2
"""Tolerance of (1) for curved signals."""
BESIDE = 2e-14
"""Distance of step ends from a jump, as a fraction of the time reached or of one second. It is a hundred
times the rounding of t: conditions are rounded too. The step across the jump is shorter than any that the
error control would try, and is not controlled."""
LOOKS = 3
"""Number of parts of an interval at whose ends signals are evaluated: a cubic that is small at four points is
small between them."""
LOW_ORDER = 4
"""Parts of an interval between breaks for methods of order 1 and 2: their stages miss polynomials between
breaks."""
MANY = 1000
"""Largest number of members with different Parameters for which curved signals are checked: each takes a
millisecond."""
REMEMBERED = 64
"""Number of results that are remembered, for other values of Parameters, times or accuracies."""
CHUNK = 200_000
"""Number of values that are compared with polynomials at a time."""


class KnotTimes(Interrupter):
    """The knots of a run, which the step loop passes by itself: a stream of times."""

    def __init__(self, run: SimulationRun) -> None:
        self.run, self.signals = run, timed(run.start.system)

    def restart(self) -> None:
        """Find the knots for the current Parameters and Inputs."""
        run, s = self.run, self.run.settings
        starts = np.array([run.start.t]), np.array([run.t])
        knots, first = table(self.signals, run.like.tail[None], starts, s, run.method)
        run.tables["knots"] = knots
        run.ws["knot"], run.ws["t_knot"] = first[0], knots[int(first[0])]


def table(
    signals: TimeSignals,
    tails: np.ndarray,
    starts: tuple[np.ndarray, np.ndarray],
    settings: RunSettings,
    method: Method,
) -> tuple[np.ndarray, np.ndarray]:
    """Knots of some runs as a stream for the step loop, shape (rows, 1), and the first row of each run.

    Args:
        signals: the time signals of the system.
        tails: of the runs' states, shape (N, k).
        starts: the earliest times of knots, and the present times of the runs [s], (N,) each.
        settings: of the runs. If they go backward in time, knots come latest first. With fixed steps there
            are no knots, and a warning names signals that steps may miss.
        method: of the runs.
    """
    (firsts, now), last, step = starts, settings.t_final, settings.step
    values = signals.values(tails)
    values, group = (
        (values[:1], 0) if (values == values[0]).all() else np.unique(values, axis=0, return_inverse=True)
    )
    rows, at, begin = [], 0, np.empty(len(now))
    seen = len(values) <= MANY
    for k, numbers in enumerate(values):
        here = np.broadcast_to(np.reshape(group, -1) == k, now.shape)
        first, final = float(np.min(firsts[here])), last
        way = 1 if last >= first else -1
        first, final = (first, final) if way > 0 else (final, first)
        times = knots(signals, numbers, first, final, settings.accuracy, method, seen)
        if step is not None:
            if not k and (now == firsts).any():  # not again after an event
                _warn(signals, numbers, np.concatenate([[first], times, [final]]), min(step, final - first))
            times = times[:0]
        times = times[::way]
        begin[here] = at + np.searchsorted(way * times, way * now[here], side="right")
        rows.append(np.append(times, way * np.inf))
        at += len(times) + 1
    return np.concatenate(rows)[:, None], begin


def knots(
    timed: TimeSignals,
    values: np.ndarray,
    first: float,
    last: float,
    accuracy: float,
    method: Method,
    curved: bool = True,
) -> np.ndarray:
    """Times between first and last that no step may pass, increasing.

    Args:
        timed: the time signals of the system.
        values: of the Parameters that signals depend on, `timed.values`.
        first: where to begin [s].
        last: where to end [s].
        accuracy: of the run.
        method: of the run.
        curved: check curved signals too.
    """
    key = values.tobytes(), first, last, accuracy, method.order, curved
    if key not in timed.memory:
        if len(timed.memory) >= REMEMBERED:
            timed.memory.clear()
        with np.errstate(all="ignore"):  # signals may have poles
            timed.memory[key] = _found(timed, values, first, last, accuracy, method.order, curved)
    return timed.memory[key]


def _found(
    timed: TimeSignals,
    values: np.ndarray,
    first: float,
    last: float,
    accuracy: float,
    order: int,
    curved: bool,
) -> np.ndarray:
    if not timed.names or not last > first:
        return np.empty(0)
    beside = BESIDE * max(1.0, abs(first), abs(last))
    breaks = timed.breaks(values, first - beside, last + beside)
    degree = min(max(order - 1, 1), 3)
    kept = np.empty(0)
    if len(breaks):
        times = _apart(
            np.concatenate([[first], breaks[(breaks > first) & (breaks < last)], [last]]), 2.5 * beside
        )
        if order < 3:
            times = _between(times, LOW_ORDER)
        jump = np.append(_jumps(timed, values, times[:-1], beside, first), False)
        kept, jumps = joined(times, lambda t: timed.at(t, values), accuracy, degree, jump)[1:-1], times[jump]
        kept = np.concatenate([np.setdiff1d(kept, jumps), jumps - beside, jumps + beside])
    if curved and timed.curved.any():
        grid = np.linspace(first, last, GRID + 1)
        more = joined(
            grid, lambda t: timed.at(t, values)[:, timed.curved], max(COARSE, accuracy), degree, looks=2
        )[1:-1]
        near = np.searchsorted(kept := np.sort(kept), more)
        gap = np.minimum(
            np.abs(np.append(kept, np.inf)[near] - more), np.abs(np.append(-np.inf, kept)[near] - more)
        )
        kept = np.concatenate([kept, more[gap > 3 * beside]])
    kept = np.unique(kept)
    return kept[(kept > first) & (kept < last)]


def _jumps(
    timed: TimeSignals, values: np.ndarray, times: np.ndarray, beside: float, first: float
) -> np.ndarray:
    """Whether a signal jumps at each of some times, from `first` on: it changes much, and as much over a
    shorter distance."""

    def sides(t: np.ndarray, s: float) -> tuple[np.ndarray, np.ndarray]:
        return timed.at(np.maximum(t - s, first), values), timed.at(t + s, values)

    before, after = sides(times, beside / 4)
    near, much = np.abs(after - before), 1e-10 * np.abs(after).max(axis=0)
    jumps = np.asarray((near > much).any(axis=1))
    before, after = sides(times[jumps], beside)
    jumps[jumps] = ((near[jumps] > np.abs(after - before) / 2) & (near[jumps] > much)).any(axis=1)
    return jumps


def _apart(times: np.ndarray, least: float) -> np.ndarray:
    """The times without those that follow another too closely; the ends are kept."""
    close = np.diff(times) < least
    if not close.any():
        return times
    kept = [times[0]]
    for t in times[1:-1]:
        if t - kept[-1] >= least and times[-1] - t >= least:
            kept.append(t)
    return np.array([*kept, times[-1]])


def _between(times: np.ndarray, count: int) -> np.ndarray:
    """Each interval divided into `count` parts."""
    share = np.arange(count) / count
    return np.append((times[:-1, None] + np.diff(times)[:, None] * share).ravel(), times[-1])


def joined(
    times: np.ndarray,
    at: Callable[[np.ndarray], np.ndarray],
    tolerance: float,
    degree: int,
    stay: np.ndarray | None = None,
    looks: int = LOOKS,
) -> np.ndarray:
    """The times that remain when intervals in which signals are polynomials (1) are joined.

    Args:
        times: shape (n,), increasing.
        at: gives signals at times, (k,) -> (k, signals).
        tolerance: of (1).
        degree: of the polynomials.
        stay: times that remain in any case.
        looks: number of parts of an interval at which signals are evaluated.
    """
    fine = _between(times, looks)
    x = np.ascontiguousarray(at(fine).T)
    number = np.isfinite(x)  # not at a pole: no polynomial fits there
    middle = np.array(
        [np.median(row[good]) if good.any() else 0.0 for row, good in zip(x, number, strict=True)]
    )
    away = np.where(number, np.abs(x - middle[:, None]), 0.0)
    length = np.diff(fine)
    mean = ((away[:, 1:] + away[:, :-1]) * length).sum(axis=1) / (2 * length.sum())
    if np.ptp(length) < 1e-6 * length.mean():
        fine = fine[:1]  # any block is like the first
    x = x[mean > 0] / (tolerance * mean[mean > 0, None])
    count, keep = len(times) - 1, np.ones(len(times), dtype=bool)
    apart = np.zeros(len(times), dtype=bool) if stay is None else stay
    whole, size = np.ones(count, dtype=bool), 1
    while count >= 2 * size:
        starts = np.arange(0, count - 2 * size + 1, 2 * size)
        starts = starts[whole[starts] & whole[starts + size] & ~apart[starts + size]]
        good = starts[_fits(fine, x, looks * starts, 2 * looks * size, degree)]
        if not len(good):
            break
        keep[good + size] = False
        whole[:] = False
        whole[good] = True
        size *= 2
    return times[keep]


def _fits(t: np.ndarray, x: np.ndarray, starts: np.ndarray, n: int, degree: int) -> np.ndarray:
    """Whether all rows of x, in units of the tolerance, are polynomials in n intervals from each start on.
    If t has one number only, intervals are equal."""
    nodes = np.rint(np.linspace(0, n, degree + 1)).astype(int)
    fits = np.ones(len(starts), dtype=bool)
    chunk = max(1, CHUNK // n)
    for k in range(0, len(starts), chunk):
        left = np.arange(k, min(k + chunk, len(starts)))
        rows = starts[left, None] + np.arange(n + 1)
        s = t[rows] if len(t) > 1 else np.arange(n + 1.0)[None]
        s = (s - s[:, :1]) / (s[:, -1:] - s[:, :1])
        weights = []
        for i in nodes:
            w = np.ones_like(s)
            for j in nodes[nodes != i]:
                w *= (s - s[:, j : j + 1]) / (s[:, i : i + 1] - s[:, j : j + 1])
            weights.append(w)
        for signal in x:
            y = signal[rows]
            P = sum(w * y[:, i : i + 1] for i, w in zip(nodes, weights, strict=True))
            good = (np.abs(P - y) <= 1).all(axis=1)
            if not good.all():
                fits[left[~good]] = False
                left, rows, weights = left[good], rows[good], [w[good] if len(t) > 1 else w for w in weights]
    return fits


def _warn(timed: TimeSignals, values: np.ndarray, times: np.ndarray, step: float) -> None:
    """Warn if fixed steps may miss something."""
    gap = np.diff(times)
    narrow = np.flatnonzero((gap < step) & (gap > 10 * BESIDE * np.maximum(1, np.abs(times[:-1]))))
    if not len(narrow):
        return
    k = int(narrow[0])
    x = timed.at(np.array([times[k], (times[k] + times[k + 1]) / 2, times[k + 1]]), values)
    change = np.ptp(x, axis=0) / np.maximum(np.ptp(timed.at(times, values), axis=0), 1e-300)
    more = f", and in {len(narrow) - 1} more places" * (len(narrow) > 1)
    warn(
        f"simulate: step = {step:g} s is longer than a change of {timed.names[int(change.argmax())]} "
        f"between t = {times[k]:.9g} and {times[k + 1]:.9g} s{more}: fixed steps may miss "
        f"it. Give step <= {gap[narrow].min():.3g}, or leave step= out"
    )
