"""Curves through recorded numbers: the natural spline, and the low-pass filter of OpenSim's tools."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError

ORDER = 3
"""Of the filter, for each of its two passes."""
EVEN = 0.01
"""Steps of time count as equal if no frame is farther than this part of a step from its even place."""
UNEVEN = 100
"""The filter takes frames to even times; not if that makes more than so many of one."""


def spline(t: Array, x: Array, degree: int = 5) -> Any:
    """The natural spline through x (m, n) at times t: spline(t, x)(times, nu) are its derivatives."""
    from scipy.interpolate import make_interp_spline

    half = (degree + 1) // 2
    h = (t[-1] - t[0]) / (len(t) - 1)                       # in steps, derivatives are as large as values
    ends = [(j, np.zeros(x.shape[1])) for j in range(half, degree)]
    made = make_interp_spline((t - t[0]) / h, x, k=degree, bc_type=(ends, ends))
    return lambda times, nu=0: made((times - t[0]) / h, nu=nu) / h ** nu


def low_pass(t: Array, x: Array, cutoff: float) -> Array:
    """x (m, n) without what is faster than a cut-off frequency [Hz]: Butterworth of order 3, forward and
    backward.

    Raises:
        DescriptionError: a frequency that the frames cannot show.
    """
    from scipy.signal import butter, lfilter, lfiltic

    m, step = len(t), np.diff(t)
    even = np.linspace(t[0], t[-1], m)
    if m > 1 and abs(t - even).max() > EVEN * step.mean():
        count = math.ceil((t[-1] - t[0]) / step.min()) + 1
        if count > UNEVEN * m:
            raise DescriptionError(f"lowpass: times are too uneven, steps from {step.min():.3g} to "
                                   f"{step.max():.3g} s; bring the table to even times first")
        regular = np.linspace(t[0], t[-1], count)
        return spline(regular, low_pass(regular, spline(t, x)(regular), cutoff))(t)
    rate = (m - 1) / (t[-1] - t[0]) if m > 1 else 0.0
    if not 0 < cutoff < rate / 2:
        raise DescriptionError(f"lowpass = {cutoff:g} Hz: must be above 0 and below half of the {rate:.4g} "
                               f"frames per second, {rate / 2:.4g} Hz")
    if m <= 2 * ORDER:
        raise DescriptionError(f"lowpass: {m} frames are too few to filter")
    b, a = butter(ORDER, cutoff, fs=rate)
    pad = m // 2
    y = np.concatenate([2 * x[0] - x[pad:0:-1], x, 2 * x[-1] - x[-2:-pad - 2:-1]])
    for _ in range(2):                                      # forward, then backward
        first = y[ORDER - 1::-1]                            # the first three stay, as in OpenSim
        memory = np.stack([lfiltic(b, a, c, c) for c in first.T], axis=1)
        y = np.concatenate([y[:ORDER], lfilter(b, a, y[ORDER:], axis=0, zi=memory)[0]])[::-1]
    return y[pad:pad + m]
