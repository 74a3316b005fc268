"""Natural splines of degree 3 and 5 through numbers at any times, in machine code.

A spline of degree p = 2 h - 1 is a sum of B-splines; B-spline j has its knots around time t_j:

    s(t) = sum_j c_j B_j(t),    B_j on T_j-h .. T_j+h,    T_j = t_j                                        (1)

with knots beyond both ends at steps of the first and the last interval. At t_i, p of them are nonzero, from
i - h + 1 to i + h - 1. Before t_0 the natural spline is a polynomial of degree h - 1, whose coefficients
are values of its blossom f at the inner knots of B_j:

    c_j = f(T_j-h+1, .., T_j+h-1),    j = 1 - h .. h - 1                                                   (2)

f is a sum of the elementary symmetric means of degree 0 to h - 1 of its arguments, so that the h - 1
coefficients before c_0 follow from c_0 .. c_h-1, and likewise at the other end. Substituting these in
s(t_i) = x_i gives a matrix with p diagonals, A = L U without row exchanges: B-splines at their own knots
are totally positive (de Boor and Pinkus 1977). B-splines are computed by the recursion of Cox and de Boor,

    B_j^k(t) = (t - T_a) / (T_a+k - T_a) B_j^k-1 + (T_a+k+1 - t) / (T_a+k+1 - T_a+1) B_j+1^k-1             (3)

with a the first knot, and derivatives from the coefficients k (c_j - c_j-1) / (T_a+k - T_a).

spline_rates.py uses SciPy's `make_interp_spline` only for few or very uneven rows. With SciPy alone, calls
of `cd.inverse_dynamics` would take 55 % longer (arm26, 101 rows), 43 % with 500 rows of 23 coordinates, 25
% with a filter; and a first call would take at least 0.1 s longer to import SciPy.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

import condyle.settings as settings
from condyle.arrays import Array
from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import DOUBLE, INT, LONG, POINTER, VOID, Value
from condyle.native.machine import cache as disk_cache
from condyle.native.machine import jit
from condyle.native.machine.jit import Library

FEWEST = 8
"""Smallest number of rows for which the equations of both ends do not overlap."""
UNEVEN = 8.0
"""Largest ratio of longest to shortest step for which the spline reproduces its data to 1e-14 of their
size."""


class NaturalSpline:
    """The natural spline through x (m, n) at times t (m,), which increase.

    Args:
        t: shape (m,), m >= 8.
        x: shape (m, n).
        degree: 3 or 5.

    Attributes:
        finite: whether x is finite; otherwise the spline cannot be used.
    """

    def __init__(self, t: Array, x: Array, degree: int = 5) -> None:
        t, x = np.ascontiguousarray(t, dtype=float), np.ascontiguousarray(x, dtype=float)
        self.degree = p = degree
        self._size = m, n = x.shape
        self._first, self._step = t.item(0), (t.item(m - 1) - t.item(0)) / (m - 1)
        h, self._at_c = (p + 1) // 2, 8 * (m + 2 * p)
        # one array: knots in units of steps, so that derivatives are as large as values; c; then memory for
        # A and ends
        self._work = np.empty(m + 2 * p + (m + 2 * (h - 1)) * n + (m + h - 1) * p + 2 * h * (h - 1))
        T = self._work.ctypes.data
        at = t.ctypes.data, x.ctypes.data, T, T + self._at_c
        self.finite = bool(_fitting(p)(*at, m, n, self._step))

    def __call__(self, times: Array, nu: int = 0) -> Array:
        """The derivative of order nu, 0 to 2, at times (k,) [s], shape (k, n). It extrapolates beyond the
        ends.
        """
        return self.derivatives(times, (nu,))[0]

    def derivatives(self, times: Array, orders: tuple[int, ...]) -> Array:
        """Derivatives of several orders at once, shape (orders, k, n)."""
        times = np.ascontiguousarray(times, dtype=float)
        (m, n), T, k = self._size, self._work.ctypes.data, len(times)
        out = np.empty((len(orders), k, n))
        at = T, T + self._at_c, times.ctypes.data, out.ctypes.data
        _evaluating(self.degree, orders)(*at, k, m, n, self._first, self._step)
        return out


def usable(count: int, shortest: float, longest: float) -> bool:
    """Whether there are enough times, with steps even enough, and compilation is possible."""
    return count >= FEWEST and longest <= UNEVEN * shortest and settings.evaluator() == "native"


# ---- machine code ------------------------------------------------------------------------------------------


@cache
def _fitting(degree: int) -> Any:
    """fit(t, x, T, c, m, n, step): knots T in units of steps, and coefficients c from x; after c is memory
    for A. Returns whether the coefficients are finite."""
    return _compiled(f"fit{degree}", [*[POINTER] * 4, LONG, LONG, DOUBLE], lambda b: _fit(b, degree), INT)


@cache
def _evaluating(degree: int, orders: tuple[int, ...]) -> Any:
    """at(T, c, times, out, k, m, n, first, step): derivatives of some orders at k times."""
    return _compiled(
        f"at{degree}{orders}",
        [*[POINTER] * 4, LONG, LONG, LONG, DOUBLE, DOUBLE],
        lambda b: _evaluate(b, degree, orders),
    )


def _compiled(name: str, types: list[str], write: Callable[[Builder], None], result: str = VOID) -> Any:
    """A callable kernel, from the cache if available."""
    key = f"natural_spline {name} {jit.lane_width()}"
    library = disk_cache.loaded(key, lambda code, _: Library(code))
    if library is None:
        module = Module()
        with module.function("run", types, result=result, internal=False) as b:
            write(b)
        code = module.compile()
        disk_cache.store(key, code, {})
        library = Library(code)
    of = {POINTER: ctypes.c_void_p, LONG: ctypes.c_ssize_t, DOUBLE: ctypes.c_double}
    made = ctypes.CFUNCTYPE(ctypes.c_int32 if result == INT else None, *map(of.__getitem__, types))
    call: Any = made(library.address("run"))
    call.library = library
    return call


def _basis(b: Builder, T: Value, t: Value, degree: int) -> list[Value]:
    """(3): the degree + 1 B-splines at t that are not zero between T[0] and T[1]."""
    left = [t - b.load(b.at(T, -k)) for k in range(degree)]
    right = [b.load(b.at(T, k + 1)) - t for k in range(degree)]
    values = [b.number(1.0)]
    for k in range(1, degree + 1):
        shares = [v / (right[i] + left[k - 1 - i]) for i, v in enumerate(values)]
        values = [
            right[0] * shares[0],
            *(b.fma(right[i], shares[i], left[k - i] * shares[i - 1]) for i in range(1, k)),
            left[0] * shares[k - 1],
        ]
    return values


def _columns(b: Builder, n: Value, write: Callable[[Value], None]) -> None:
    """Write code for columns j of n by write(j): as many side by side as there are lanes, then the rest one
    by one."""
    W = jit.lane_width()
    whole = n & -W
    with b.loop(whole, W) as j, b.side_by_side(W):
        write(j)
    with b.loop(n - whole) as k:
        write(whole + k)


def _knots(b: Builder, t: Value, T: Value, degree: int, m: Value, step: Value) -> None:
    """Knots in units of steps, counted from the first time, including those beyond both ends."""
    start = b.load(t)
    with b.loop(m) as i:
        b.store((b.load(b.at(t, i)) - start) / step, b.at(b.at(T, degree), i))
    for way, end in ((1, b.at(T, degree)), (-1, b.at(b.at(T, degree), m - 1))):
        last = b.load(end)
        away = last - b.load(b.at(end, way))
        for k in range(1, degree + 1):
            b.store(b.fma(float(k), away, last), b.at(end, -way * k))


def _ghosts(b: Builder, end: Value, way: int, degree: int) -> list[list[Value]]:
    """Factors of c_0 .. c_h-1 that give c_-1, then those that give c_-2, by (2); t_0 is at `end`, and the
    other times follow in steps of `way`."""
    origin = b.load(end)

    def means(j: int) -> tuple[Value, Value]:
        """The mean of the arguments of f, and the mean of their pairwise products."""
        inside = [b.load(b.at(end, way * (j + k))) - origin for k in range(-(degree // 2), degree // 2 + 1)]
        total, squares = b.number(0.0), b.number(0.0)
        for x in inside:
            total, squares = total + x, b.fma(x, x, squares)
        return total * (1 / degree), (total * total - squares) * (1 / (degree * (degree - 1)))

    if degree == 3:  # lines
        a, c, x = means(0)[0], means(1)[0], means(-1)[0]
        return [[(c - x) / (c - a), (x - a) / (c - a)]]
    # factors with sum one that combine the means of c_0, c_1, c_2 to those of a ghost: Cramer's rule
    (a1, a2), (b1, b2), (c1, c2) = means(0), means(1), means(2)
    b1, b2, c1, c2 = b1 - a1, b2 - a2, c1 - a1, c2 - a2
    whole, out = b1 * c2 - c1 * b2, []
    for x1, x2 in (means(-1), means(-2)):
        x1, x2 = x1 - a1, x2 - a2
        second, third = (x1 * c2 - c1 * x2) / whole, (b1 * x2 - x1 * b2) / whole
        out.append([1.0 - second - third, second, third])
    return out


def _fit(b: Builder, degree: int) -> None:
    """Coefficients c (m + 2 h - 2, n), ghosts included."""
    t, x, T, c, m, n, step = b.arguments
    h = (degree + 1) // 2
    _knots(b, t, T, degree, m, step)
    first = b.at(T, degree)
    inner = b.at(c, n * (h - 1))
    rows = b.at(inner, (m + (h - 1)) * n)

    def row(i: Value) -> Value:
        """The diagonal of A in row i."""
        return b.at(rows, i * degree + (h - 1))

    def line(i: Value) -> Value:
        return b.at(inner, i * n)

    def at_ends(place: Callable[[Value], Value]) -> list[Callable[[int], Value]]:
        """Write code for both ends; place(i) is row i counted from the end."""
        return [lambda i: place(b.number(i, LONG)), lambda i: place(m - (1 + i))]

    def solved(i: Value, way: int, rounds: Value, pivot: Value | None) -> None:
        """Solve row i of L y = x or U c = y, after `rounds` other rows."""
        factors = [
            b.select(b.compare("sge", rounds, d), b.load(b.at(row(i), way * d)), 0.0) for d in range(1, h)
        ]
        others = [line(b.select(b.compare("sge", rounds, d), i + way * d, i)) for d in range(1, h)]

        def write(j: Value) -> None:
            place = b.at(line(i), j)
            y = b.load(place if pivot else b.at(b.at(x, i * n), j))
            b.store(y, place)  # `place` may equal `other`, whose factor is then zero
            for f, other in zip(factors, others, strict=True):
                y = y - b.spread(f) * b.load(b.at(other, j))
            b.store(y * b.spread(pivot) if pivot else y, place)

        _columns(b, n, write)

    ends = [_ghosts(b, first, 1, degree), _ghosts(b, b.at(first, m - 1), -1, degree)]
    with b.loop(m) as i:
        here = b.at(first, i)
        for k, value in enumerate(_basis(b, here, b.load(here), degree)[:degree]):
            b.store(value, b.at(row(i), k - h + 1))
    for r in range(h - 1):  # below the last row: L and U end
        for k in range(degree):
            b.store(float(k == h - 1), b.at(row(m + r), k - h + 1))
    for way, end, place in zip((1, -1), ends, at_ends(row), strict=True):
        for r in range(h - 1):  # rows that ghosts -1, -2 .. are part of
            for g in range(1, h - r):
                share = b.load(b.at(place(r), -way * (r + g)))
                for k in range(h):
                    at = b.at(place(r), way * (k - r))
                    b.store(b.fma(end[g - 1][k], share, b.load(at)), at)
    with b.loop(m) as i:  # A = L U
        pivot = 1.0 / b.load(row(i))
        b.store(pivot, row(i))
        for d in range(1, h):
            below = row(i + d)
            factor = b.load(b.at(below, -d)) * pivot
            for k in range(1, h):
                at = b.at(below, k - d)
                b.store(b.load(at) - factor * b.load(b.at(row(i), k)), at)
            b.store(factor, b.at(below, -d))
    with b.loop(m) as i:  # L y = x
        solved(i, -1, i, None)
    with b.loop(m) as done:  # U c = y
        i = m - 1 - done
        solved(i, 1, done, b.load(row(i)))
    for end, place in zip(ends, at_ends(line), strict=True):
        for g in range(1, h):

            def ghost(j: Value, factors: list[Value] = end[g - 1], place: Any = place, g: int = g) -> None:
                total = b.number(0.0)
                for k, f in enumerate(factors):
                    total = b.fma(b.spread(f), b.load(b.at(place(k), j)), total)
                b.store(total, b.at(place(-g), j))

            _columns(b, n, ghost)
    with b.loop(n) as j:  # a nonfinite number spreads to its entire column
        total = b.carry(b.number(0.0))
        b.hand_on(total, total + b.load(b.at(inner, j)))
    size = b.intrinsic("fabs", b.after_loop(total))
    b.give(b.convert("zext", b.compare("olt", size, math.inf), INT))


def _evaluate(b: Builder, degree: int, orders: tuple[int, ...]) -> None:
    """Derivatives of some orders at times (k,), shape (orders, k, n)."""
    T, c, times, out, count, m, n, start, step = b.arguments
    first, per_step = b.at(T, degree), 1.0 / step
    powers = {0: b.number(1.0), 1: per_step, 2: per_step * per_step}
    with b.loop(count) as k:
        before = b.carry(b.number(0, LONG))
        t = (b.load(b.at(times, k)) - start) / step
        with b.repeat():  # forward to the interval of t
            i = b.carry(before)
            b.leave_unless(b.compare("oge", t, b.load(b.at(first, i + 1))) & b.compare("slt", i, m - 2))
            b.hand_on(i, i + 1)
        with b.repeat():  # or back
            a = b.carry(i)
            b.leave_unless(b.compare("olt", t, b.load(b.at(first, a))) & b.compare("sgt", a, 0))
            b.hand_on(a, a - 1)
        b.hand_on(before, a)
        here = b.at(first, a)
        weights = [[w * powers[nu] for w in _weights(b, here, t, degree, nu)] for nu in orders]

        def write(j: Value, a: Value = a, k: Value = k, weights: list[list[Value]] = weights) -> None:
            coefficients = [b.load(b.at(b.at(c, (a + i) * n), j)) for i in range(degree + 1)]
            for place, own in enumerate(weights):
                total = b.spread(own[0]) * coefficients[0]
                for w, x in zip(own[1:], coefficients[1:], strict=True):
                    total = b.fma(b.spread(w), x, total)
                b.store(total, b.at(b.at(out, (count * place + k) * n), j))

        _columns(b, n, write)


def _weights(b: Builder, T: Value, t: Value, degree: int, nu: int) -> list[Value]:
    """Derivatives of order nu of the degree + 1 B-splines at t that are not zero between T[0] and T[1]."""
    out = _basis(b, T, t, degree - nu)
    for p in range(degree - nu + 1, degree + 1):  # weights of differences, and thus of the coefficients
        spans = [
            w * (float(p) / (b.load(b.at(T, i)) - b.load(b.at(T, i - p))))
            for i, w in zip(range(1, p + 1), out, strict=True)
        ]
        out = [-spans[0], *(x - y for x, y in pairwise(spans)), spans[-1]]
    return out
