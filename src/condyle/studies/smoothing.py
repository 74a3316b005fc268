"""Curves through recorded numbers: the natural spline, and the low-pass filter of OpenSim's tools."""
from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError

ORDER = 3
"""Of the filter, for each of its two passes."""
EVEN = 0.01
"""Steps of time count as equal if no frame is farther than this part of a step from its even place."""
EXACT = 1e-10
"""The same, where the spline takes them as equal: below the rounding of x that its derivatives show."""
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


def rates(t: Array, x: Array) -> tuple[Array, Array]:
    """First and second derivatives at times t, (m, n), of the natural spline of degree 5 through x (m, n)."""
    h = (t[-1] - t[0]) / (len(t) - 1)
    off = t - t[0]
    off -= h * _steps(len(t))
    if max(off.max(), -off.min()) > EXACT * h:
        made = spline(t, x)
        return made(t, 1), made(t, 2)
    from scipy.linalg.lapack import dgbtrs

    m = len(t)
    right = np.zeros((m + 4, x.shape[1]), order="F")
    right[2:-2] = x
    factors, pivots = _coefficients(m)
    c = dgbtrs(factors, 4, 4, right, pivots, overwrite_b=True)[0]
    c0, c1, c2, c3, c4 = (c[k:k + m] for k in range(5))
    return (c4 - c0 + 10 * (c3 - c1)) / (24 * h), (c0 + c4 + 2 * (c1 + c3) - 6 * c2) / (6 * h * h)


@lru_cache(maxsize=4)
def _steps(m: int) -> Array:
    return np.arange(m, dtype=float)


@lru_cache(maxsize=4)
def _coefficients(m: int) -> tuple[Array, Array]:
    """LAPACK's factors of the equations for coefficients of B-splines of degree 5 at m even times, and two
    more beyond each end: fourth and third derivative at the first time are 0, values at all times, both
    derivatives at the last time are 0."""
    from scipy.linalg.lapack import dgbtrf

    bands = np.zeros((13, m + 4), order="F")                # entry (i, j) is in row 8 + i - j
    for k, b in enumerate((1, 26, 66, 26, 1)):
        bands[10 - k, k:k + m] = b / 120
    for k, (third, fourth) in enumerate(zip((-1, 2, 0, -2, 1), (1, -4, 6, -4, 1), strict=True)):
        bands[8 - k, k], bands[9 - k, k] = fourth, third
        bands[11 - k, m - 1 + k], bands[12 - k, m - 1 + k] = third, fourth
    factors, pivots, _ = dgbtrf(bands, 4, 4, overwrite_ab=True)
    return factors, pivots


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
