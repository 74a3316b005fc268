"""Curves through recorded numbers: the natural spline, and the low-pass filter of OpenSim's tools."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.plausible import ask, of_cutoff
from condyle.studies.even_spline import FEWEST, even_rates
from condyle.studies.natural_spline import NaturalSpline, usable

ORDER = 3
"""Of the filter, for each of its two passes."""
EVEN = 0.01
"""Steps of time count as equal if no frame is farther than this part of a step from its even place."""
EXACT = 1e-10
"""The same, where the spline takes them as equal: below the rounding of x that its derivatives show."""
UNEVEN = 100
"""The filter takes frames to even times; not if that makes more than so many of one."""


def steps(t: Array) -> tuple[float, float]:
    """The shortest and the longest step between times (m,); NaN for one time."""
    if len(t) < 2:
        return math.nan, math.nan
    step = t[1:] - t[:-1]
    return step.min().item(), step.max().item()


def spline(t: Array, x: Array, degree: int = 5) -> Any:
    """The natural spline through x (m, n) at times t: spline(t, x)(times, nu) are its derivatives."""
    if usable(len(t), *steps(t)) and (made := NaturalSpline(t, x, degree)).finite:
        return made
    return _by_scipy(t, x, degree)


def _by_scipy(t: Array, x: Array, degree: int) -> Any:
    from scipy.interpolate import make_interp_spline

    half = (degree + 1) // 2
    h = (t[-1] - t[0]) / (len(t) - 1)                       # in steps, derivatives are as large as values
    ends = [(j, np.zeros(x.shape[1])) for j in range(half, degree)]
    made = make_interp_spline((t - t[0]) / h, x, k=degree, bc_type=(ends, ends))
    return lambda times, nu=0: made((times - t[0]) / h, nu=nu) / h ** nu


def rates(t: Array, x: Array, known: tuple[float, float] | None = None) -> tuple[Array, Array]:
    """First and second derivatives at times t, (m, n), of the natural spline of degree 5 through x (m, n).

    Args:
        known: steps(t).
    """
    shortest, longest = known or steps(t)
    if len(t) >= FEWEST and longest - shortest <= 4 * EXACT * longest \
            and (found := even_rates(t, x, EXACT)) is not None:
        return found
    if usable(len(t), shortest, longest) and (made := NaturalSpline(t, x)).finite:
        first, second = made.derivatives(t, (1, 2))
        return first, second
    others = _by_scipy(t, x, 5)
    return others(t, 1), others(t, 2)


def low_pass(t: Array, x: Array, cutoff: float) -> Array:
    """x (m, n) without what is faster than a cut-off frequency [Hz]: Butterworth of order 3, forward and
    backward.

    Raises:
        DescriptionError: a frequency that the frames cannot show.
    """
    m, step = len(t), np.diff(t)
    even = np.linspace(t[0], t[-1], m)
    if m > 1 and abs(t - even).max() > EVEN * step.mean():
        count = math.ceil((t[-1] - t[0]) / step.min()) + 1
        if count > UNEVEN * m:
            raise DescriptionError(f"lowpass: times are too uneven, steps from {step.min():.3g} to "
                                   f"{step.max():.3g} s; bring the table to even times first")
        regular = np.linspace(t[0], t[-1], count)
        return spline(regular, low_pass(regular, spline(t, x)(regular), cutoff))(t)
    for text in of_cutoff(cutoff, t):
        ask(f"lowpass: {text}")
    rate = (m - 1) / (t[-1] - t[0]) if m > 1 else 0.0
    if not 0 < cutoff < rate / 2:
        raise DescriptionError(f"lowpass = {cutoff:g} Hz: must be above 0 and below half of the {rate:.4g} "
                               f"frames per second, {rate / 2:.4g} Hz")
    if m <= 2 * ORDER:
        raise DescriptionError(f"lowpass: too few frames to filter: at least {2 * ORDER + 1} are needed")
    pad = m // 2
    return _two_passes(_padded(x, pad), cutoff, rate)[pad:pad + m]


def low_pass_resampled(t: Array, x: Array, cutoff: float) -> tuple[Array, Array]:
    """Times and x (m, n) as OpenSim's tools filter them, to its last digits.

    Half of the rows is added at each end by point reflection, times too. Where steps are not equal to the
    last bit, all is brought to the smallest of them by a spline of degree 5. Nothing is cut off again.
    """
    pad = len(t) // 2
    time, y = _padded(t[:, None], pad)[:, 0], _padded(x, pad)
    least = np.diff(time).min()
    if (time[-1] - time[0]) / (len(time) - 1) - least > np.finfo(float).eps:
        if (time[-1] - time[0]) / least > UNEVEN * len(time):
            raise DescriptionError(f"low_pass: times are too uneven, steps from {least:.3g} to "
                                   f"{np.diff(time).max():.3g} s; bring the table to even times first")
        even = time[0] + least * np.arange(int((time[-1] - time[0]) / least) + 1)
        time, y = even, spline(time, y)(even)
    return time, _two_passes(y, cutoff if cutoff < 0.5 / least else 0.49 / least, 1 / least)


def _padded(x: Array, pad: int) -> Array:
    """x (m, n) continued at both ends by point reflection."""
    return np.concatenate([2 * x[0] - x[pad:0:-1], x, 2 * x[-1] - x[-2:-pad - 2:-1]])


def _two_passes(y: Array, cutoff: float, rate: float) -> Array:
    """Butterworth of order 3, forward and backward; the first three rows of a pass stay, as in OpenSim."""
    from scipy.signal import butter, lfilter, lfiltic

    b, a = butter(ORDER, cutoff, fs=rate)
    for _ in range(2):
        first = y[ORDER - 1::-1]
        memory = np.stack([lfiltic(b, a, c, c) for c in first.T], axis=1)
        y = np.concatenate([y[:ORDER], lfilter(b, a, y[ORDER:], axis=0, zi=memory)[0]])[::-1]
    return y
