"""Curves through recorded numbers: splines whose ends follow the data, and the low-pass filter.

A spline of degree 5 needs its third and fourth derivatives at both ends, s''' = D3 and s'''' = D4. Natural
splines, OpenSim's, take zeros: accelerations of the first row are then wrong by 4 to 30 %. Here they are
those of the polynomial of degree 5 nearest to the outermost rows, so that polynomials of degree 5 come back.
With u the distance from the end, u_1 and u_2 those of the next two rows,

    s = P + natural spline through x - P,    P = a (u_1 - u)_+^5 + b (u_2 - u)_+^5,                        (1)
    -60 (a u_1^2 + b u_2^2) = D3,    120 (a u_1 + b u_2) = D4                                              (2)

is this spline: P is a spline with the same knots, and differs from zero at the end and the next row only.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.plausible import ask, of_cutoff
from condyle.studies.motion.natural_spline import NaturalSpline, usable
from condyle.studies.motion.recordings import are_even, steps

ORDER = 3
"""Of the filter, for each of its two passes."""
EVEN = 0.01
"""Steps of time count as equal if no frame is farther than this part of a step from its even place."""
UNEVEN = 100
"""The filter takes frames to even times; not if that makes more than so many of one."""
FITTED, DEGREE = 8, 5
"""Rows at an end that its polynomial is nearest to, and its degree. In accelerations of the first row white
noise is then twice as large as elsewhere (6 times with 6 rows, 9 times with not-a-knot ends), and a sine of
30 rows is off by 0.4 % (14 % with natural ends)."""
END_ROWS = 4
"""Rows at each end that depend on D3 and D4: 1, 0.14, 0.05, 0.02 of the first one, then below 1 %."""
CONTINUED, LEAST = 0.8, 10
"""Rows at an end that the filter goes on from: so many periods of its cut-off frequency, or so many rows."""


def spline(t: Array, x: Array, degree: int = 5) -> Any:
    """The natural spline through x (m, n) at times t: spline(t, x)(times, nu) are its derivatives."""
    if usable(len(t), *steps(t)) and (made := NaturalSpline(t, x, degree)).finite:
        return made
    return _by_scipy(t, x, degree)


def _by_scipy(t: Array, x: Array, degree: int) -> Any:
    from scipy.interpolate import make_interp_spline

    half = (degree + 1) // 2
    h = (t[-1] - t[0]) / (len(t) - 1)  # in steps, derivatives are as large as values
    ends = [(j, np.zeros(x.shape[1])) for j in range(half, degree)]
    made = make_interp_spline((t - t[0]) / h, x, k=degree, bc_type=(ends, ends))
    return lambda times, nu=0: made((times - t[0]) / h, nu=nu) / h**nu


def rates(
    t: Array, x: Array, known: tuple[float, float] | None = None, *, natural: bool = False
) -> tuple[Array, Array]:
    """First and second derivatives at times t, (m, n), of the spline of degree 5 through x (m, n), m >= 4.

    Args:
        known: steps(t).
        natural: third and fourth derivatives at the ends are zero, as in OpenSim.
    """
    known = known or steps(t)
    if natural:
        return _natural_rates(t, x, known)
    h, r = (t.item(-1) - t.item(0)) / (len(t) - 1), min(FITTED, len(t))
    P = (
        _even_ends(r)
        if are_even(*known)
        else _ends((np.array([t[:r] - t[0], t[-1] - t[: -r - 1 : -1]]) / h).tobytes())
    )
    value, slope, bend = (P @ np.array([x[:r], x[: -r - 1 : -1]])).reshape(3, 4, -1)
    x = x.copy()
    x[_OUTERMOST] -= value  # (1)
    first, second = _natural_rates(t, x, known)
    first[_OUTERMOST] += slope / h
    second[_OUTERMOST] += bend / h**2
    return first, second


def _natural_rates(t: Array, x: Array, known: tuple[float, float]) -> tuple[Array, Array]:
    if usable(len(t), *known) and (made := NaturalSpline(t, x)).finite:
        first, second = made.derivatives(t, (1, 2))
        return first, second
    others = _by_scipy(t, x, 5)
    return others(t, 1), others(t, 2)


_OUTERMOST = np.array([0, 1, -1, -2])


@lru_cache
def _even_ends(r: int) -> Array:
    return _ends(np.array([np.arange(r)] * 2, dtype=float).tobytes())


@lru_cache
def _ends(steps: bytes) -> Array:
    """Factors of the r outermost rows at both ends that make P and its first two derivatives at the end and
    the next row, in steps; shape (3, 2, 2, r).

    Args:
        steps: u of these rows, shape (2, r).
    """
    u = np.frombuffer(steps).reshape(2, -1)
    r, far = u.shape[1], u[:, -1:]
    degree = min(DEGREE, r - 1)
    Q, R = np.linalg.qr((u / far)[:, :, None] ** np.arange(degree + 1))
    powers = np.linalg.solve(R, Q.transpose(0, 2, 1))
    D3, D4 = (math.factorial(j) / far**j * powers[:, j] if j <= degree else np.zeros((2, r)) for j in (3, 4))
    u1, u2 = u[:, 1:2], u[:, 2:3]
    b = (D4 * u1 / 120 + D3 / 60) / (u2 * (u1 - u2))  # (2)
    a, d, way = (D4 / 120 - b * u2) / u1, u2 - u1, np.array([[-5.0], [5.0]])
    return (
        np.stack(
            [
                a * u1**5 + b * u2**5,
                b * d**5,
                way * (a * u1**4 + b * u2**4),
                way * b * d**4,
                20 * (a * u1**3 + b * u2**3),
                20 * b * d**3,
            ]
        )
        .reshape(3, 2, 2, r)
        .swapaxes(1, 2)
        .copy()
    )


def low_pass(t: Array, x: Array, cutoff: float, *, reflected: bool = False) -> Array:
    """x (m, n) without what is faster than a cut-off frequency [Hz]: Butterworth of order 3, forward and
    backward, which leaves polynomials of degree 5 as they are. Each end goes on as the cubic nearest to its
    outermost rows.

    Args:
        reflected: it goes on by point reflection over half of the rows, as in OpenSim's tools. Accelerations
            at the end are then zero, whatever they were.

    Raises:
        DescriptionError: a frequency that the frames cannot show.
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
        again = low_pass(regular, spline(t, x)(regular), cutoff, reflected=reflected)
        return spline(regular, again)(t)  # type: ignore[no-any-return]
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
    """Rows at each end whose filtered values depend on how it goes on beyond them."""
    return max(LEAST, math.ceil(periods * rate / cutoff))


def _continued(x: Array, pad: int, rows: int) -> Array:
    """x (m, n) and `pad` more rows at each end, of the cubic nearest to its outermost rows."""
    rows = min(rows, len(x))
    fit = np.linalg.pinv(np.vander(np.arange(rows) / rows, ORDER + 1, increasing=True))
    beyond = np.vander(-np.arange(1, pad + 1) / rows, ORDER + 1, increasing=True) @ fit
    return np.concatenate([(beyond @ x[:rows])[::-1], x, beyond @ x[: -rows - 1 : -1]])


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
            raise DescriptionError(
                f"low_pass: times are too uneven, steps from {least:.3g} to "
                f"{np.diff(time).max():.3g} s; bring the table to even times first"
            )
        even = time[0] + least * np.arange(int((time[-1] - time[0]) / least) + 1)
        time, y = even, spline(time, y)(even)
    return time, _two_passes(y, cutoff if cutoff < 0.5 / least else 0.49 / least, 1 / least)


def _padded(x: Array, pad: int) -> Array:
    """x (m, n) continued at both ends by point reflection."""
    return np.concatenate([2 * x[0] - x[pad:0:-1], x, 2 * x[-1] - x[-2 : -pad - 2 : -1]])


def _two_passes(y: Array, cutoff: float, rate: float) -> Array:
    """Butterworth of order 3, forward and backward; the first three rows of a pass stay, as in OpenSim."""
    from scipy.signal import butter, lfilter, lfiltic

    b, a = butter(ORDER, cutoff, fs=rate)
    for _ in range(2):
        first = y[ORDER - 1 :: -1]
        memory = np.stack([lfiltic(b, a, c, c) for c in first.T], axis=1)
        y = np.concatenate([y[:ORDER], lfilter(b, a, y[ORDER:], axis=0, zi=memory)[0]])[::-1]
    return y
