"""Derivatives of the natural spline of degree 5 through numbers at even times, in machine code.

In times of the step h its coefficients c of B-splines satisfy

    c_i-2 + 26 c_i-1 + 66 c_i + 26 c_i+1 + c_i+2 = 120 x_i                                                 (1)

Beyond the ends third differences of c are zero, since there the third and fourth derivatives are:

    c_-1 = 3 c_0 - 3 c_1 + c_2,    c_-2 = 6 c_0 - 8 c_1 + 3 c_2                                            (2)

and so at the other end. With (2) in (1) that is A c = 120 x, a matrix of five diagonals, A = L U:

    y_i = x_i - l1_i y_i-1 - l2_i y_i-2,    c_i = (y_i - u1_i c_i+1 - u2_i c_i+2) / u0_i                   (3)

The derivatives at the times are

    24 h x'   = c_i+2 + 10 c_i+1         - 10 c_i-1 - c_i-2
    6 h^2 x'' = c_i+2 +  2 c_i+1 - 6 c_i +  2 c_i-1 + c_i-2                                                (4)
"""
from __future__ import annotations

import ctypes
from functools import cache, lru_cache
from typing import Any

import numpy as np

import condyle.settings as settings
from condyle.arrays import Array
from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import DOUBLE, INT, LONG, POINTER, Value
from condyle.native.machine.jit import Library

FEWEST = 8
"""Frames from which (1) to (4) hold as they stand."""
STEADY = 60
"""Rows after which those of L and U are the same to rounding: they differ by 0.43^k."""
_BAND = 5                                                   # numbers of a row of L and U


def even_rates(t: Array, x: Array, exact: float) -> tuple[Array, Array] | None:
    """First and second derivatives, (m, n) each, of the natural spline through x (m, n) at times t, m >= 8.

    Args:
        t: shape (m,).
        x: shape (m, n).
        exact: how far times may be from even ones, in steps.

    Returns:
        None if they are farther, or if nothing is to be compiled.
    """
    if (kernel := _kernel()) is None:
        return None
    t, x = np.ascontiguousarray(t, dtype=float), np.ascontiguousarray(x, dtype=float)
    m, n = x.shape
    _, factors = _factors(m)
    h = (t[-1] - t[0]) / (m - 1)
    work = np.empty(2 * m * n + m + 4)                      # both results, then room for c
    place = work.ctypes.data
    if not kernel(t.ctypes.data, x.ctypes.data, factors, place + 16 * m * n, place, place + 8 * m * n, m, n,
                  h, exact * h, 5.0 / h, 20.0 / (h * h)):
        return None
    first, second = work[:2 * m * n].reshape(2, m, n)
    return first, second


@lru_cache(maxsize=16)
def _factors(m: int) -> tuple[Array, int]:
    """Rows of (3) as the machine code takes them, shape (m, 5): -l1, -l2, 1/u0, -u1/u0, -u2/u0; and their
    address."""
    def row(i: int) -> tuple[float, ...]:
        """Of A, from two places before the diagonal to two after it."""
        ends = {0: (0.0, 0.0, 150.0, -60.0, 30.0), 1: (0.0, 29.0, 63.0, 27.0, 1.0)}
        return ends[i] if i in ends else ends[m - 1 - i][::-1] if m - 1 - i in ends else (1.0, 26.0, 66.0,
                                                                                         26.0, 1.0)

    out = np.empty((m, _BAND))
    above, top = (1.0, 0.0, 0.0), (1.0, 0.0, 0.0)           # of U, one row and two rows before
    i = 0
    while i < m:
        a2, a1, d, b1, b2 = row(i)
        l2 = a2 / top[0]
        l1 = (a1 - l2 * top[1]) / above[0]
        u = d - l1 * above[1] - l2 * top[2], b1 - l1 * above[2], b2
        out[i] = -l1, -l2, 1 / u[0], -u[1] / u[0], -u[2] / u[0]
        above, top = u, above
        i += 1
        if i == STEADY and m > STEADY + 2:                  # as far as the last two rows
            out[i:m - 2] = out[i - 1]
            i, top = m - 2, above
    return out, out.ctypes.data


@cache
def _kernel() -> Any:
    """rates(t, x, factors, c, first, second, m, n, h, largest distance from even times, 120 / 24 h,
    120 / 6 h^2), with room for m + 4 numbers at c: whether times are even, without which nothing is done.
    None if nothing is to be compiled."""
    if settings.evaluator() != "native":
        return None
    module = Module()
    with module.function("rates", [*[POINTER] * 6, LONG, LONG, *[DOUBLE] * 4], result=INT,
                         internal=False) as b:
        t, x, factors, c, first, second, m, n, h, near, to_first, to_second = b.arguments
        uneven = b.label("uneven")
        start = b.load(t)
        with b.loop(m) as i:
            off = b.load(b.at(t, i)) - b.fma(b.convert("sitofp", i, DOUBLE), h, start)
            b.require(b.compare("ole", b.intrinsic("fabs", off), near), uneven)
        inner = b.at(c, 2)
        with b.loop(n) as j:
            zero = b.number(0.0)
            with b.loop(m) as i:
                y1, y2 = b.carry(zero), b.carry(zero)
                l1, l2 = _row(b, factors, i, 0, 2)
                y = b.fma(l1, y1, b.fma(l2, y2, b.load(b.at(x, i * n + j))))
                b.store(y, b.at(inner, i))
                b.hand_on(y2, y1)
                b.hand_on(y1, y)
            with b.loop(m) as k:
                c1, c2 = b.carry(zero), b.carry(zero)
                i = m - 1 - k
                r, u1, u2 = _row(b, factors, i, 2, 5)
                here = b.fma(u1, c1, b.fma(u2, c2, b.load(b.at(inner, i)) * r))
                b.store(here, b.at(inner, i))
                b.hand_on(c2, c1)
                b.hand_on(c1, here)
            for end, way in ((inner, 1), (b.at(inner, m - 1), -1)):                             # (2)
                c0, c1, c2 = (b.load(b.at(end, way * k)) for k in range(3))
                b.store(3.0 * (c0 - c1) + c2, b.at(end, -way))
                b.store(6.0 * c0 - 8.0 * c1 + 3.0 * c2, b.at(end, -2 * way))
            with b.loop(m) as i:                                                                # (4)
                left2, left1, here, right1, right2 = (b.load(b.at(b.at(c, i), k)) for k in range(5))
                place = i * n + j
                b.store((10.0 * (right1 - left1) + (right2 - left2)) * to_first, b.at(first, place))
                b.store((2.0 * (left1 + right1 - 3.0 * here) + (left2 + right2)) * to_second,
                        b.at(second, place))
        b.give(b.number(1, INT))
        b.place(uneven)
        b.give(b.number(0, INT))
    library = Library(module.compile())
    types = [*[ctypes.c_void_p] * 6, *[ctypes.c_ssize_t] * 2, *[ctypes.c_double] * 4]
    call = ctypes.CFUNCTYPE(ctypes.c_int32, *types)(library.address("rates"))
    call.library = library                                  # type: ignore[attr-defined]
    return call


def _row(b: Builder, factors: Value, i: Value, start: int, stop: int) -> list[Value]:
    """Some numbers of row i."""
    row = b.at(factors, i * _BAND)
    return [b.load(b.at(row, k)) for k in range(start, stop)]
