"""Splines through recorded data, with end conditions that follow the data.

A spline of degree 5 needs its third and fourth derivatives at both ends, s''' = D3 and s'''' = D4. Natural
splines, as in OpenSim, set them to zero: accelerations of the first row are then wrong by 4 to 30 %. Here
they are those of the polynomial of degree 5 fitted to the outermost rows, so that polynomials of degree 5
are reproduced exactly. With u the distance from the end, and u_1 and u_2 those of the next two rows,

    s = P + natural spline through x - P,    P = a (u_1 - u)_+^5 + b (u_2 - u)_+^5,                        (1)
    -60 (a u_1^2 + b u_2^2) = D3,    120 (a u_1 + b u_2) = D4                                              (2)

is this spline: P is a spline with the same knots, and among the rows it is nonzero only at the end and the
next row.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

import condyle.table.filters as filters
from condyle.arrays import Array
from condyle.studies.motion.natural_spline import NaturalSpline, usable
from condyle.table.defects import are_even, steps
from condyle.table.filters import natural_spline

FITTED, DEGREE = 8, 5
"""Rows at an end to which its polynomial is fitted, and its degree. In accelerations of the first row white
noise is then twice as large as elsewhere (6 times with 6 rows, 9 times with not-a-knot ends), and a sine of
30 rows is off by 0.4 % (14 % with natural ends)."""
END_ROWS = 4
"""Rows at each end that depend on D3 and D4: 1, 0.14, 0.05, 0.02 of the first one, then below 1 %."""


def spline(t: Array, x: Array, degree: int = 5) -> Any:
    """The natural spline through x (m, n) at times t; spline(t, x)(times, nu) gives its derivatives."""
    if usable(len(t), *steps(t)) and (made := NaturalSpline(t, x, degree)).finite:
        return made
    return natural_spline(t, x, degree)


filters.quicker[:] = [spline]


def rates(
    t: Array, x: Array, known: tuple[float, float] | None = None, *, natural: bool = False
) -> tuple[Array, Array]:
    """First and second derivatives at times t, (m, n), of the spline of degree 5 through x (m, n), m >= 4.

    Args:
        known: steps(t).
        natural: set third and fourth derivatives at the ends to zero, as in OpenSim.
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
    others = natural_spline(t, x, 5)
    return others(t, 1), others(t, 2)


_OUTERMOST = np.array([0, 1, -1, -2])


@lru_cache
def _even_ends(r: int) -> Array:
    return _ends(np.array([np.arange(r)] * 2, dtype=float).tobytes())


@lru_cache
def _ends(steps: bytes) -> Array:
    """Factors of the r outermost rows at both ends that give P and its first two derivatives at the end and
    the next row, in units of steps; shape (3, 2, 2, r).

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
