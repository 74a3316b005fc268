"""`cd.low_pass` and the other filters of Tables, and the array functions behind them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from condyle.arguments import with_call_hints
from condyle.arrays import Array, is_whole, number
from condyle.errors import DescriptionError, ShapeError
from condyle.plausible import ask, of_cutoff
from condyle.status import Outcome, Status
from condyle.table.defects import even_times, same_signs, steps, unwrapped, warn_of_gaps
from condyle.table.table import Table, after_events

ORDER = 3
"""Order of the filter, for each of its two passes."""
EVEN = 0.01
"""Time steps count as equal if every frame is within this fraction of a step of its even place."""
UNEVEN = 100
"""The filter resamples frames to even times, unless that multiplies their number by more than this."""
CONTINUED, LEAST = 0.8, 10
"""Rows at an end from which the filter extrapolates: this many periods of its cut-off frequency, or this many
rows.
"""
SAME_LENGTH = 1e-2
"""Four columns are a quaternion if their length changes by less than this fraction."""
SMOOTH = 1.5
"""A jump is one of a whole turn if its remainder is at most this many times the largest other step."""


@with_call_hints()
def low_pass(table: Table, cutoff: float, *, as_opensim: bool = False) -> Table:
    """A Table of recorded numbers, filtered: Butterworth of order 3, forward and backward, without delay.
    Each end is extrapolated by the cubic that fits its outermost rows best (0.8 periods of the cut-off
    frequency), which affects rows within a period of an end. Studies filter coordinates in the same way with
    `lowpass=`.

    First, jumps by whole turns are removed from angles: columns in degrees or radians, and those of unknown
    unit that lie within a turn and are smooth except for jumps of about a whole one. Sign changes of
    quaternions (four consecutive columns of constant length) are removed too. Rounded times are replaced by
    the even times that they were.

    Args:
        table: columns over time, without gaps.
        cutoff: frequency [Hz] above which movement counts as noise.
        as_opensim: reproduce the filter of OpenSim's tools to the last digit: each end is extended by point
            reflection of half of the rows, and where time steps differ in their last bit (rounded times do)
            the table is resampled at the smallest step, so that its times change. A frequency of half the
            frame rate or more is replaced by 0.49 of it.

    Returns:
        a Table with the same columns. Its status reports how much the filter changed them.

    Raises:
        ShapeError: gaps, or times that do not increase.
        DescriptionError: a frequency above half the frame rate, or too few frames.
    """
    table = _whole("low_pass", table)
    t, x = table.time, table.values
    cutoff = number("cutoff", cutoff, "a frequency [Hz]")
    warn_of_gaps("low_pass", t, *steps(t))
    x, notes = _continuous(table)
    before = Table(t, table.names, x, table.units)
    if as_opensim:
        rate = (len(t) - 1) / (t[-1] - t[0]) if len(t) > 1 else 0.0
        if cutoff >= rate / 2 > 0:
            said = (
                f"; {cutoff:g} Hz is not below half of the {rate:.4g} frames per second; 0.49 of them is "
                "taken, as in OpenSim"
            )
        else:
            said = _change(before, filtered(t, x, cutoff, reflected=True), cutoff)
        t, y = filtered_as_opensim(t, x, cutoff)
    else:
        y = filtered(even_times(t)[0], x, cutoff)
        said = _change(before, y, cutoff)
    status = Outcome(Status.FINISHED, f"finished{''.join(notes)}{said}")
    return Table(t, table.names, y, table.units, status=status, degrees=table.degrees)


def _whole(who: str, table: Any) -> Table:
    """Check that a filter can take a Table.

    Raises:
        DescriptionError: it is no Table.
        ShapeError: gaps, or times that do not increase.
    """
    if not isinstance(table, Table):
        hint = (
            "; markers.table() is one, and cd.Markers.from_table(table) makes markers of it again"
            if type(table).__name__ == "Markers"
            else "; a file is read by cd.read_table"
        )
        raise DescriptionError(f"{who}: expected a cd.Table, got {type(table).__name__}{hint}")
    table = after_events(who, table)
    t, x = table.time, table.values
    if not len(t) or not (np.diff(t) > 0).all():
        raise ShapeError(f"{who}: the table needs rows whose times increase")
    if not np.isfinite(x).all():
        i, j = np.argwhere(~np.isfinite(x))[0]
        raise ShapeError(
            f"{who}: {table.names[j]!r} is {x[i, j]} at t = {t[i]:g} s (row {i}): fill the "
            "gap (table.fill_gaps(0.1)), or leave that column out: table[[...]]"
        )
    return table


def butterworth(table: Table, kind: str, cutoff: float | tuple[float, float], order: int) -> Table:
    """A Table through a Butterworth filter, forward and backward, without delay.

    Args:
        table: columns over even times, without gaps.
        kind: "highpass", "bandpass" or "bandstop".
        cutoff: frequency [Hz], or two, at which one pass attenuates by 3 dB, both by 6 dB.
        order: of each pass.
    """
    from scipy import signal

    who = {"highpass": "high_pass", "bandpass": "band_pass", "bandstop": "notch"}[kind]
    table = _whole(who, table)
    t, rate = _even(who, table.time)
    low, *high = (number(f"{who}: cutoff", x, "a frequency [Hz]") for x in np.atleast_1d(cutoff))
    if not 0 < low < (high or [rate / 2])[0] <= rate / 2 or (high and high[0] >= rate / 2):
        raise DescriptionError(
            f"{who}: {cutoff} Hz: must be above 0, rise, and stay below half of the {rate:.4g} rows per second, "
            f"{rate / 2:.4g} Hz"
        )
    if not is_whole(order, 1, 10):
        raise DescriptionError(f"{who}: order: expected a whole number from 1 to 10, got {order!r}")
    sos = signal.butter(order, [low, *high] if high else low, kind, fs=rate, output="sos")
    pad = min(math.ceil(3 * rate / low), len(t) - 1)
    values = signal.sosfiltfilt(sos, _continuous(table)[0], axis=0, padtype="odd", padlen=pad)
    return table._with(values=values)


def moving_mean(table: Table, window: float) -> Table:
    """A Table whose rows are means over the rows at most half a window before or after them, fewer at the
    ends. Angles that wrap are unwrapped first.

    Args:
        table: columns over even times, without gaps.
        window: [s].
    """
    table = _whole("moving_mean", table)
    t, rate = _even("moving_mean", table.time)
    width = number("moving_mean: window", window, "a time [s]") * rate
    half = int(max(width, 0) / 2 + 1e-6)  # times are rounded
    if not half:
        raise DescriptionError(
            f"moving_mean: window = {window:g} s holds one row alone; rows are {1 / rate:.3g} s apart: give at least "
            f"{2 / rate:.3g} s"
        )
    sums = np.concatenate([np.zeros((1, len(table.names))), np.cumsum(_continuous(table)[0], axis=0)])
    i = np.arange(len(t))
    first, last = np.maximum(i - half, 0), np.minimum(i + half, len(t) - 1) + 1
    return table._with(values=(sums[last] - sums[first]) / (last - first)[:, None])


def _even(who: str, time: Array) -> tuple[Array, float]:
    """Times before rounding, and rows per second; raises an error if steps differ."""
    t = even_times(time)[0]
    step = np.diff(t)
    if len(t) < 4 or np.ptp(step) > EVEN * step.mean():
        raise ShapeError(
            f"{who}: expected at least 4 rows at even times, got {len(t)} with steps from "
            f"{step.min(initial=np.inf):.4g} to {step.max(initial=0):.4g} s; table.resample(rate) makes them even"
        )
    return t, 1 / float(step.mean())


quicker: list[Callable[[Array, Array], Any]] = []
"""Replaces natural_spline, with the same results up to rounding: the room of motions puts its compiled spline
here when it is loaded. Importing SciPy's interpolation alone takes as long as a study.
"""


def _spline(t: Array, x: Array) -> Any:
    return (quicker[0] if quicker else natural_spline)(t, x)


def natural_spline(t: Array, x: Array, degree: int = 5) -> Any:
    """The natural spline through x (m, n) at times t: natural_spline(t, x)(times, nu) are its derivatives."""
    from scipy.interpolate import make_interp_spline

    half = (degree + 1) // 2
    h = (t[-1] - t[0]) / (len(t) - 1)  # in steps, derivatives are as large as values
    ends = [(j, np.zeros(x.shape[1])) for j in range(half, degree)]
    made = make_interp_spline((t - t[0]) / h, x, k=degree, bc_type=(ends, ends))
    return lambda times, nu=0: made((times - t[0]) / h, nu=nu) / h**nu


def _continuous(table: Table) -> tuple[np.ndarray, list[str]]:
    """Values without jumps by whole turns and sign changes, which would disturb a filter; and a description
    of what was done.
    """
    x, notes = table.values.copy(), []
    for j, (name, unit) in enumerate(zip(table.names, table.units, strict=True)):
        turn = 360.0 if unit in ("deg", "degrees", "°") or (not unit and table.degrees) else 2 * math.pi
        if unit in ("deg", "degrees", "°", "rad") or (not unit and _wraps(x[:, j] / turn)):
            x[:, j], turns = unwrapped(x[:, j], turn)
            if turns:
                notes.append(f"; {turns} jump{'s' * (turns > 1)} of a whole turn taken out of {name}")
    smoother = sorted((-gain, j) for j in range(len(table.names) - 3) if (gain := _gain(x[:, j : j + 4])) > 0)
    taken: set[int] = set()
    for _, j in smoother:  # overlaps with other columns by chance
        if taken.isdisjoint(range(j, j + 4)):
            taken.update(range(j, j + 4))
            changes = same_signs(x[:, j : j + 4])
            notes.append(
                f"; quaternion {table.names[j]} ..: {changes} change{'s' * (changes > 1)} of sign taken out"
            )
    return x, notes


def _wraps(x: np.ndarray) -> bool:
    """Whether numbers (m,) of unknown unit, in turns, can be an angle that wraps: within one turn, and smooth
    except for jumps of about a whole one. A switch from 0 to 5 V is not.
    """
    size = np.abs(np.diff(x))
    jumps = size > 0.75
    usual = size[~jumps].max(initial=0.0)
    return bool(usual < 0.25 and np.ptp(x) < 1.01 and (np.abs(size[jumps] - 1) <= SMOOTH * usual).all())


def _gain(four: np.ndarray) -> float:
    """Factor by which the steps of a quaternion (m, 4) shrink when its sign changes are undone; 0 for other
    columns.
    """
    size = np.linalg.norm(four, axis=1)
    several = (four != 0).any(axis=0).sum() > 1  # one alone is a switch between -1 and 1
    if not several or not np.ptp(size) < SAME_LENGTH * size.max():
        return 0.0
    even = four.copy()
    same_signs(even)
    return float(np.abs(np.diff(four, axis=0)).sum() - np.abs(np.diff(even, axis=0)).sum())


def _change(table: Table, y: np.ndarray, cutoff: float) -> str:
    """The column that changed most relative to its range."""
    if not table.names:
        return ""
    change = abs(y - table.values).max(axis=0)
    j = int(np.argmax(change / np.maximum(np.ptp(table.values, axis=0), np.finfo(float).tiny)))
    unit = table.units[j] and f" {table.units[j]}"
    return f"; low-pass filter of {cutoff:g} Hz changed {table.names[j]} by up to {change[j]:.2g}{unit}"


# ---- arrays ------------------------------------------------------------------------------------------------


def filtered(t: Array, x: Array, cutoff: float, *, reflected: bool = False) -> Array:
    """x (m, n) without frequencies above a cut-off [Hz]: Butterworth of order 3, forward and backward, which
    preserves polynomials of degree 5. Each end is extrapolated by the cubic that fits its outermost rows
    best.

    Args:
        reflected: extrapolate by point reflection of half of the rows, as OpenSim's tools do. Accelerations
            at the ends are then zero, whatever they were.

    Raises:
        DescriptionError: a frequency that the frame rate cannot resolve.
    """
    m, step = len(t), np.diff(t)
    even = np.linspace(t[0], t[-1], m)
    if m > 1 and abs(t - even).max() > EVEN * step.mean():
        count = math.ceil((t[-1] - t[0]) / step.min()) + 1
        if count > UNEVEN * m:
            raise DescriptionError(
                f"lowpass: times are too uneven, steps from {step.min():.3g} to "
                f"{step.max():.3g} s; bring the table to even times first"
            )
        regular = np.linspace(t[0], t[-1], count)
        again = filtered(regular, _spline(t, x)(regular), cutoff, reflected=reflected)
        return _spline(regular, again)(t)  # type: ignore[no-any-return]
    for text in of_cutoff(cutoff, t):
        ask(f"lowpass: {text}")
    rate = (m - 1) / (t[-1] - t[0]) if m > 1 else 0.0
    if not 0 < cutoff < rate / 2:
        raise DescriptionError(
            f"lowpass = {cutoff:g} Hz: must be above 0 and below half of the {rate:.4g} "
            f"frames per second, {rate / 2:.4g} Hz"
        )
    if m <= 2 * ORDER:
        raise DescriptionError(f"lowpass: too few frames to filter: at least {2 * ORDER + 1} are needed")
    # the slowest part of the filter is e^-(pi cutoff t): 6 periods are 1e-8
    pad = m // 2 if reflected else min(math.ceil(6 * rate / cutoff), 10 * m)
    padded = _padded(x, pad) if reflected else _continued(x, pad, rows_at_ends(rate, cutoff, CONTINUED))
    return _two_passes(padded, cutoff, rate)[pad : pad + m]


def rows_at_ends(rate: float, cutoff: float, periods: float = 1.0) -> int:
    """Rows at each end whose filtered values depend on the extrapolation."""
    return max(LEAST, math.ceil(periods * rate / cutoff))


def _continued(x: Array, pad: int, rows: int) -> Array:
    """x (m, n) with `pad` more rows at each end, from the cubic that fits its outermost rows best."""
    rows = min(rows, len(x))
    fit = np.linalg.pinv(np.vander(np.arange(rows) / rows, ORDER + 1, increasing=True))
    beyond = np.vander(-np.arange(1, pad + 1) / rows, ORDER + 1, increasing=True) @ fit
    return np.concatenate([(beyond @ x[:rows])[::-1], x, beyond @ x[: -rows - 1 : -1]])


def filtered_as_opensim(t: Array, x: Array, cutoff: float) -> tuple[Array, Array]:
    """Times and x (m, n) as OpenSim's tools filter them, to its last digits.

    Each end is extended by point reflection of half of the rows and times. Where steps are not equal to the
    last bit, a spline of degree 5 resamples at the smallest. The extension is not removed.
    """
    pad = len(t) // 2
    time, y = _padded(t[:, None], pad)[:, 0], _padded(x, pad)
    least = np.diff(time).min()
    if (time[-1] - time[0]) / (len(time) - 1) - least > np.finfo(float).eps:
        if (time[-1] - time[0]) / least > UNEVEN * len(time):
            raise DescriptionError(
                f"low_pass: times are too uneven, steps from {least:.3g} to "
                f"{np.diff(time).max():.3g} s; bring the table to even times first"
            )
        even = time[0] + least * np.arange(int((time[-1] - time[0]) / least) + 1)
        time, y = even, _spline(time, y)(even)
    return time, _two_passes(y, cutoff if cutoff < 0.5 / least else 0.49 / least, 1 / least)


def _padded(x: Array, pad: int) -> Array:
    """x (m, n) continued at both ends by point reflection."""
    return np.concatenate([2 * x[0] - x[pad:0:-1], x, 2 * x[-1] - x[-2 : -pad - 2 : -1]])


def _two_passes(y: Array, cutoff: float, rate: float) -> Array:
    """Butterworth of order 3, forward and backward; the first three rows of a pass are unchanged, as in
    OpenSim.
    """
    factors = _factors(cutoff / rate)
    for _ in range(2):
        out = y.copy()
        for k in range(ORDER, len(y), BLOCK):
            known = np.concatenate([out[k - ORDER : k], y[k - ORDER : k + BLOCK]])
            out[k : k + BLOCK] = factors[: len(known) - 2 * ORDER, : len(known)] @ known
        y = out[::-1]
    return y


BLOCK = 64
"""Rows filtered by one matrix product."""


@lru_cache
def _factors(part: float) -> Array:
    """Weights of filtered rows, (BLOCK, 3 + 3 + BLOCK): on the three filtered rows before them, the three
    rows before them, and these rows. `part` is the cut-off as a fraction of the rate.

    With poles p of 1 / ((s + 1) (s^2 + s + 1)) and K = tan(pi part), the bilinear transform has the poles
    (1 + K p) / (1 - K p), three zeros at -1, and the gain K^3 / prod(1 - K p).
    """
    K, poles = math.tan(math.pi * part), np.exp(1j * np.pi * np.array([2, 3, 4]) / 3)
    a = np.poly((1 + K * poles) / (1 - K * poles)).real
    b = np.array([1.0, 3.0, 3.0, 1.0]) * np.prod(K / (1 - K * poles)).real
    rows, done = np.eye(2 * ORDER + BLOCK)[ORDER:], np.zeros((ORDER + BLOCK, 2 * ORDER + BLOCK))
    done[:ORDER, :ORDER] = np.eye(ORDER)
    for k in range(ORDER, ORDER + BLOCK):
        done[k] = b[::-1] @ rows[k - ORDER : k + 1] - a[:0:-1] @ done[k - ORDER : k]
    return done[ORDER:]
