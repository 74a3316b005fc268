"""Defects of recordings: rounded times, lost rows, angles that wrap, quaternions that change sign."""

from __future__ import annotations

import math

import numpy as np

from condyle.arrays import Array, median
from condyle.errors import warn

EXACT, NEARLY = 1e-10, 1e-3
"""Steps that differ by less than this fraction are even; times within `NEARLY` (a fraction of a step) of even
places lost digits that accelerations do not need.
"""
DIGITS = 9
"""Rounding to more decimals than this does not matter."""
OFTEN = 0.1
"""Where steps are rounded to half of their length or more, the longer ones are at least this frequent. Rarer
ones mean lost rows.
"""
GAP, REGULAR = 4.5, 0.9
"""A step this many times as long as the others is a gap, if this fraction of the others are alike."""
SLOW, JUMP = math.pi / 20, math.pi / 2
"""[rad] An angle jumps if it changes by more than the second from one row to the next, and usually by less
than the first."""
LEAP, SUDDEN, AROUND = 0.3, 8.0, 3
"""[rad, m, 1] So does any coordinate that changes by more than the first, and by this many times the usual
change in the steps around it (this many before and after).
"""
REPEATED = 1 / 8
"""How often a row may equal the one before it; with more, rows were repeated or rounded."""


def steps(t: Array) -> tuple[float, float]:
    """The shortest and the longest step between times (m,); NaN for one time."""
    if len(t) < 2:
        return math.nan, math.nan
    step = t[1:] - t[:-1]
    return step.min().item(), step.max().item()


def are_even(shortest: float, longest: float) -> bool:
    """Whether the shortest and the longest step differ only by rounding."""
    return longest - shortest <= EXACT * longest


def even_times(t: Array, known: tuple[float, float] | None = None) -> tuple[Array, float]:
    """Times (m,) [s] as they were before rounding, and the rounding unit [s]; zero if they are unchanged.

    Rounded times are multiples of a power of ten (or numbers of single precision), no two steps differ by
    more than that, and none is farther than rounding from the even times nearest to all of them. Rows may
    have been lost between them.

    Args:
        known: steps(t).
    """
    m, (shortest, longest) = len(t), known or steps(t)
    if m < 4 or are_even(shortest, longest):
        return t, 0.0
    even, unit = _evened(t, np.ones(m - 1)) if longest <= 3 * shortest else (t, 0.0)
    if unit or longest < 1.5 * shortest:
        return even, unit
    step = np.diff(t)
    rows = np.rint(step / median(step))
    return _evened(t, rows) if rows.min() == 1 < rows.max() else (t, 0.0)


def _evened(t: Array, rows: Array) -> tuple[Array, float]:
    """`even_times` for steps (m - 1,) of one row, or of more where some were lost."""
    k = np.append(0.0, np.cumsum(rows))
    k -= k.mean()
    h = float(k @ t / (k @ k))
    even = h * k + t.mean()
    off = float(np.abs(t - even).max())
    if off <= NEARLY * h:
        return (even, 2 * off) if off > EXACT * h else (t, 0.0)
    step, lost = np.diff(t)[rows == 1], rows.max() > 1
    unit = rounded_to(t) if off < h else 0.0
    if not unit or np.ptp(step) > 1.001 * unit or off > 0.75 * unit or (lost and unit > h / 4):
        return t, 0.0
    if unit > h / 2 and np.mean(step > (step.min() + step.max()) / 2) < OFTEN:
        return t, 0.0
    return even, unit


def rounded_to(t: Array) -> float:
    """The power of ten [s] that all times are multiples of, or their spacing in single precision; else 0."""
    one = t.item(len(t) // 2)
    for d in range(1, DIGITS + 1):
        if abs(one * 10.0**d - round(one * 10.0**d)) < 1e-3:  # one element shows it as early as all do
            x = t * 10.0**d
            if np.abs(x - np.rint(x)).max() < 1e-3:
                return 10.0**-d
    if (t == t.astype(np.float32)).all():
        return float(np.spacing(np.float32(np.abs(t).max())))
    return 0.0


def warn_of_gaps(what: str, t: Array, shortest: float, longest: float) -> None:
    """Warn of rows that are missing between others that follow each other evenly."""
    if len(t) < 8 or longest <= GAP * shortest:
        return
    step = np.diff(t)
    usual = median(step)
    gaps = np.flatnonzero(step > GAP * usual)
    if gaps.size and (np.abs(step - usual) < 0.5 * usual).mean() >= REGULAR:
        i = gaps[0]
        more = f", and {len(gaps) - 1} more" if len(gaps) > 1 else ""
        warn(
            f"{what}: no rows from t = {t[i]:g} to {t[i + 1]:g} s{more}, others are {usual:.3g} s apart: a "
            "spline goes across, and speeds and accelerations there are guesses. Cut the table: table[a:b]"
        )


def unwrapped(x: Array, turn: float = 2 * math.pi) -> tuple[Array, int]:
    """An angle (m,) without its jumps by whole turns, and how many there were.

    A step of more than half a turn is a jump, unless most steps are longer than a quarter: such an angle
    turns fast, and its turns cannot be counted. The first row is unchanged.
    """
    step = np.diff(x)
    size = np.abs(step)
    far = size > turn / 2
    if not far.any() or median(size) > turn / 4:
        return x, 0
    out = x.copy()
    out[1:] -= turn * np.cumsum(np.where(far, np.rint(step / turn), 0.0))
    return out, int(far.sum())


def jump(x: Array) -> int:
    """The row before which a coordinate (m,) [rad, m, 1] jumps most, as flipping Euler angles and zeros in
    gaps do; 0 if it does not jump.
    """
    size = np.abs(np.diff(x))
    if len(size) < 2 * AROUND + 1 or not median(size) < SLOW:
        return 0
    for i in np.argsort(-size)[: 2 * AROUND]:
        if size[i] <= LEAP:
            return 0
        first = min(max(i - AROUND, 0), len(size) - 2 * AROUND - 1)
        usual = median(np.delete(size[first : first + 2 * AROUND + 1], i - first))
        if size[i] > JUMP or size[i] > SUDDEN * usual:
            return int(i) + 1
    return 0


def repeats(x: Array) -> int:
    """How many rows of x (m, n) begin to repeat the one before, if so many do that the recording was
    upsampled or rounded: 50 rows per second turned into 100, or 33.
    """
    same = (x[1:] == x[:-1]).all(axis=1)
    begin = int((same[1:] & ~same[:-1]).sum()) if len(same) else 0
    return begin if begin > REPEATED * len(x) else 0


def same_signs(x: Array) -> int:
    """Give quaternions (m, 4) signs that do not change from row to row, in place; returns how many times they
    did.
    """
    change = (x[1:] * x[:-1]).sum(axis=1) < 0
    x[1:] *= np.where(np.cumsum(change) % 2, -1.0, 1.0)[:, None]
    return int(change.sum())
