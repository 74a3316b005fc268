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
EDGE = 48
"""Rows after which 0.43^k is below rounding."""
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
    if len(t) < 8 or max(off.max(), -off.min()) > EXACT * h:
        made = spline(t, x)
        return made(t, 1), made(t, 2)
    from scipy.linalg.lapack import dpttrs

    (m, n), half = x.shape, min(EDGE, len(t) // 2)
    factors, edge, beyond = _coefficients(m)
    inner = np.array(x, order="F")
    inner *= 120.0
    for d, e in factors:
        inner = dpttrs(d, e, inner, overwrite_b=True)[0]
    if m > 2 * EDGE:
        inner[:half] -= edge[:half, :4] @ inner[:4]
        inner[-half:] -= edge[-half:, 4:] @ inner[-4:]
    else:
        inner -= edge @ np.concatenate([inner[:4], inner[-4:]])
    c = np.empty((m + 4, n), order="F")
    c[:2], c[2:-2], c[-2:] = beyond @ inner[:3], inner, (beyond @ inner[:-4:-1])[::-1]
    # all columns as one: what is beyond the end of each is left out
    flat, both = c.ravel(order="F"), np.empty((2, (m + 4) * n))
    c0, c1, c2, c3, c4 = (flat[k:flat.size - 4 + k] for k in range(5))
    first, second = both[:, :flat.size - 4]
    np.subtract(c3, c1, out=first)
    first *= 10
    first += c4
    first -= c0
    first /= 24 * h
    np.multiply(c2, -3.0, out=second)
    second += c1
    second += c3
    second *= 2
    second += c0
    second += c4
    second /= 6 * h * h
    return tuple(v.reshape((m + 4, n), order="F")[:m] for v in both)  # type: ignore[return-value]


@lru_cache(maxsize=4)
def _steps(m: int) -> Array:
    return np.arange(m, dtype=float)


@lru_cache(maxsize=4)
def _coefficients(m: int) -> tuple[list[tuple[Array, Array]], Array, Array]:
    """What solves for the coefficients c of B-splines of degree 5 at m even times.

    Beyond the ends third differences of c are zero: there the third and fourth derivatives are. The rest is
    A c = 120 x. But for its first and last two rows A is the product P of two tridiagonal matrices (1, a, 1),
    (1, b, 1), a + b = 26 and a b = 64, so that A = P + I_4 E and

        c = c_0 - G (1 + E G)^-1 E c_0,    P c_0 = 120 x,    P G = I_4

    Returns:
        LAPACK's factors of both tridiagonal matrices; G (1 + E G)^-1 E in the first and last four columns,
        where E is not zero, shape (m, 8), which falls by 0.43 per row from the ends; the two coefficients
        beyond an end from the three within, shape (2, 3).
    """
    from scipy.linalg.lapack import dpttrf, dpttrs

    root = math.sqrt(105.0)
    factors = [dpttrf(np.full(m, d), np.ones(m - 1))[:2] for d in (13 + root, 13 - root)]
    E = np.zeros((4, m))
    E[0, :3] = 150 - 65, -60 - 26, 30 - 1                   # rows of A minus those of P
    E[1, :3] = 29 - 26, 63 - 66, 27 - 26
    E[2:] = E[1::-1, ::-1]
    G = np.zeros((m, 4), order="F")
    G[[0, 1, m - 2, m - 1], range(4)] = 1.0
    for d, e in factors:
        G = dpttrs(d, e, G)[0]
    edge = G @ np.linalg.solve(np.eye(4) + E @ G, E[:, [0, 1, 2, 3, -4, -3, -2, -1]])
    return factors, edge, np.array([[6.0, -8.0, 3.0], [3.0, -3.0, 1.0]])


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
    rate = (m - 1) / (t[-1] - t[0]) if m > 1 else 0.0
    if not 0 < cutoff < rate / 2:
        raise DescriptionError(f"lowpass = {cutoff:g} Hz: must be above 0 and below half of the {rate:.4g} "
                               f"frames per second, {rate / 2:.4g} Hz")
    if m <= 2 * ORDER:
        raise DescriptionError(f"lowpass: {m} frames are too few to filter")
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
    return time, _two_passes(y, min(cutoff, 0.49 / least), 1 / least)


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
