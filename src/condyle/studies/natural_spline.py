"""Natural splines of degree 3 and 5 through numbers at any times, in machine code.

A spline of degree p = 2 h - 1 is a sum of B-splines; that of number j has its knots around the time t_j:

    s(t) = sum_j c_j B_j(t),    B_j on T_j-h .. T_j+h,    T_j = t_j                                        (1)

with knots beyond both ends at steps of the first and the last interval. At t_i there are p of them, from
number i - h + 1 to i + h - 1. Before t_0 the natural spline is a polynomial of degree h - 1, whose
coefficients are values of its blossom f at the knots inside of B_j:

    c_j = f(T_j-h+1, .., T_j+h-1),    j = 1 - h .. h - 1                                                   (2)

f is a sum of the elementary symmetric means of degree 0 to h - 1 of its arguments, so that the h - 1
coefficients before c_0 follow from c_0 .. c_h-1, and so at the other end. With these in s(t_i) = x_i there
is a matrix of p diagonals, A = L U without a change of rows: B-splines at their own knots are totally
positive (de Boor and Pinkus 1977). B-splines come from the recursion of Cox and de Boor,

    B_j^k(t) = (t - T_a) / (T_a+k - T_a) B_j^k-1 + (T_a+k+1 - t) / (T_a+k+1 - T_a+1) B_j+1^k-1             (3)

with a the first knot, and derivatives from the coefficients k (c_j - c_j-1) / (T_a+k - T_a).
"""
from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from condyle import settings
from condyle.arrays import Array
from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import DOUBLE, LONG, POINTER, Value
from condyle.native.machine import cache as kept
from condyle.native.machine.jit import Library

FEWEST = 8
"""Rows from which both ends are apart."""
UNEVEN = 8.0
"""Longest over shortest step up to which the spline goes through its numbers to 1e-14 of their size."""


class NaturalSpline:
    """The natural spline through x (m, n) at times t (m,), which increase.

    Args:
        t: shape (m,), m >= 8.
        x: shape (m, n).
        degree: 3 or 5.
    """

    def __init__(self, t: Array, x: Array, degree: int = 5) -> None:
        self.degree = degree
        x = np.ascontiguousarray(x, dtype=float)
        (m, n), h, p = x.shape, (degree + 1) // 2, degree
        self._size, self._at_c = (m, n), 8 * (m + 2 * p)
        self._first, self._step = float(t[0]), float(t[-1] - t[0]) / (m - 1)
        # in one piece: knots in steps, where derivatives are as large as values; c; then room for A and ends
        at_rows = m + 2 * p + (m + 2 * (h - 1)) * n
        at_ends = at_rows + (m + h - 1) * p
        self._work = work = np.empty(at_ends + 2 * h * (h - 1))
        np.divide(t - self._first, self._step, out=work[p:m + p])
        left, right = work[p:3 * p].tolist(), work[m - p:m + p].tolist()
        left[:0] = [left[0] - k * (left[1] - left[0]) for k in range(p, 0, -1)]
        right += [right[-1] + k * (right[-1] - right[-2]) for k in range(1, p + 1)]
        work[:p], work[m + p:m + 2 * p] = left[:p], right[-p:]
        work[at_ends:] = _ghosts(left, p) + _ghosts([-x for x in reversed(right)], p)
        T = work.ctypes.data
        _fitting(p)(T, T + 8 * at_ends, x.ctypes.data, T + 8 * at_rows, T + self._at_c, m, n)

    def __call__(self, times: Array, nu: int = 0) -> Array:
        """The derivative of order nu, 0 to 2, at times (k,) [s], shape (k, n). Beyond the ends it goes on."""
        at = (times - self._first) / self._step
        out, T = np.empty((len(at), self._size[1])), self._work.ctypes.data
        _evaluating(self.degree, nu)(T, T + self._at_c, at.ctypes.data, out.ctypes.data, len(at), *self._size,
                                     self._step ** -nu)
        return out


def usable(t: Array) -> bool:
    """Whether these times, which increase, are many and even enough, and anything is to be compiled."""
    if len(t) < FEWEST or settings.evaluator() != "native":
        return False
    step = t[1:] - t[:-1]
    return bool(step.max() <= UNEVEN * step.min())


def _ghosts(T: list[float], degree: int) -> list[float]:
    """By which factors of c_0 .. c_h-1 the coefficients c_-1, then c_-2 are made, (2); T[degree] is t_0."""
    def means(j: int) -> tuple[float, float]:
        """The mean of the arguments of f, and of their products by two."""
        inside = [x - T[degree] for x in T[degree + j - degree // 2:degree + j + degree // 2 + 1]]
        total = sum(inside)
        return total / degree, (total * total - sum([x * x for x in inside])) / (degree * (degree - 1))

    if degree == 3:                                         # lines
        a, b, x = means(0)[0], means(1)[0], means(-1)[0]
        return [(b - x) / (b - a), (x - a) / (b - a)]
    # factors whose sum is one and which make the means of a ghost from those of c_0, c_1, c_2: Cramer's rule
    (a1, a2), (b1, b2), (c1, c2) = means(0), means(1), means(2)
    b1, b2, c1, c2 = b1 - a1, b2 - a2, c1 - a1, c2 - a2
    whole, out = b1 * c2 - c1 * b2, []
    for x1, x2 in (means(-1), means(-2)):
        x1, x2 = x1 - a1, x2 - a2
        second, third = (x1 * c2 - c1 * x2) / whole, (b1 * x2 - x1 * b2) / whole
        out += [1.0 - second - third, second, third]
    return out


# ---- machine code ------------------------------------------------------------------------------------------

@cache
def _fitting(degree: int) -> Any:
    """fit(T, ends, x, rows, c, m, n): coefficients c from x."""
    types = [*[POINTER] * 5, LONG, LONG]
    return _compiled(f"fit{degree}", types, lambda b: _fit(b, degree))


@cache
def _evaluating(degree: int, nu: int) -> Any:
    """at(T, c, times, out, k, m, n, factor): factor times derivatives of order nu at k times."""
    types = [*[POINTER] * 4, LONG, LONG, LONG, DOUBLE]
    return _compiled(f"at{degree}{nu}", types, lambda b: _evaluate(b, degree, nu))


def _compiled(name: str, types: list[str], write: Callable[[Builder], None]) -> Any:
    """A kernel that can be called, from the cache if it is there."""
    key = f"natural_spline {name}"
    library = kept.loaded(key, lambda code, _: Library(code))
    if library is None:
        module = Module()
        with module.function(name, types, internal=False) as b:
            write(b)
        code = module.compile()
        kept.store(key, code, {})
        library = Library(code)
    of = {POINTER: ctypes.c_void_p, LONG: ctypes.c_ssize_t, DOUBLE: ctypes.c_double}
    call = ctypes.CFUNCTYPE(None, *map(of.__getitem__, types))(library.address(name))
    call.library = library                                  # type: ignore[attr-defined]
    return call


def _basis(b: Builder, T: Value, t: Value, degree: int) -> list[Value]:
    """(3): the degree + 1 B-splines at t that are not zero between T[0] and T[1]."""
    left = [t - b.load(b.at(T, -k)) for k in range(degree)]
    right = [b.load(b.at(T, k + 1)) - t for k in range(degree)]
    values = [b.number(1.0)]
    for k in range(1, degree + 1):
        shares = [v / (right[i] + left[k - 1 - i]) for i, v in enumerate(values)]
        values = [right[0] * shares[0], *(b.fma(right[i], shares[i], left[k - i] * shares[i - 1])
                                          for i in range(1, k)), left[0] * shares[k - 1]]
    return values


def _fit(b: Builder, degree: int) -> None:
    """Coefficients c (m + 2 h - 2, n), ghosts included."""
    T, ends, x, rows, c, m, n = b.arguments
    h = (degree + 1) // 2
    first = b.at(T, degree)
    inner = b.at(c, n * (h - 1))

    def row(i: Value) -> Value:
        """The diagonal of A in row i."""
        return b.at(rows, i * degree + (h - 1))

    def line(i: Value) -> Value:
        return b.at(inner, i * n)

    def at_ends(place: Callable[[Value], Value]) -> list[tuple[int, Value, Callable[[int], Value]]]:
        """For both ends: the way inwards, factors of ghosts, and place i from that end."""
        return [(1, ends, lambda i: place(b.number(i, LONG))),
                (-1, b.at(ends, (h - 1) * h), lambda i: place(m - (1 + i)))]

    with b.loop(m) as i:
        here = b.at(first, i)
        for k, value in enumerate(_basis(b, here, b.load(here), degree)[:degree]):
            b.store(value, b.at(row(i), k - h + 1))
    for r in range(h - 1):                                  # below the last row: L and U end
        for k in range(degree):
            b.store(float(k == h - 1), b.at(row(m + r), k - h + 1))
    for way, end, place in at_ends(row):
        for r in range(h - 1):                              # rows that ghosts -1, -2 .. are part of
            for g in range(1, h - r):
                share = b.load(b.at(place(r), -way * (r + g)))
                for k in range(h):
                    at = b.at(place(r), way * (k - r))
                    b.store(b.fma(b.load(b.at(end, (g - 1) * h + k)), share, b.load(at)), at)
    with b.loop(m) as i:                                    # A = L U
        pivot = 1.0 / b.load(row(i))
        b.store(pivot, row(i))
        for d in range(1, h):
            below = row(i + d)
            factor = b.load(b.at(below, -d)) * pivot
            for k in range(1, h):
                at = b.at(below, k - d)
                b.store(b.load(at) - factor * b.load(b.at(row(i), k)), at)
            b.store(factor, b.at(below, -d))
    with b.loop(m) as i:                                    # L y = x; before the first row there is nothing
        factors = [b.select(b.compare("sge", i, d), b.load(b.at(row(i), -d)), 0.0) for d in range(1, h)]
        others = [line(b.select(b.compare("sge", i, d), i - d, i)) for d in range(1, h)]
        with b.loop(n) as j:
            y = b.load(b.at(b.at(x, i * n), j))
            b.store(y, b.at(line(i), j))
            for f, other in zip(factors, others, strict=True):
                y = y - f * b.load(b.at(other, j))
            b.store(y, b.at(line(i), j))
    with b.loop(m) as k_:                                   # U c = y
        i = m - 1 - k_
        pivot = b.load(row(i))
        factors = [b.select(b.compare("sge", k_, d), b.load(b.at(row(i), d)), 0.0) for d in range(1, h)]
        others = [line(b.select(b.compare("sge", k_, d), i + d, i)) for d in range(1, h)]
        with b.loop(n) as j:
            y = b.load(b.at(line(i), j))
            for f, other in zip(factors, others, strict=True):
                y = y - f * b.load(b.at(other, j))
            b.store(y * pivot, b.at(line(i), j))
    for _, end, place in at_ends(line):
        for g in range(1, h):
            factors = [b.load(b.at(end, (g - 1) * h + k)) for k in range(h)]
            with b.loop(n) as j:
                total = b.number(0.0)
                for k, f in enumerate(factors):
                    total = b.fma(f, b.load(b.at(place(k), j)), total)
                b.store(total, b.at(place(-g), j))


def _evaluate(b: Builder, degree: int, nu: int) -> None:
    """factor times the derivative of order nu at times (k,), shape (k, n)."""
    T, c, times, out, count, m, n, factor = b.arguments
    first = b.at(T, degree)
    with b.loop(count) as k:
        start = b.carry(b.number(0, LONG))
        t = b.load(b.at(times, k))
        with b.repeat():                                    # forward to the interval of t
            i = b.carry(start)
            b.leave_unless(b.compare("oge", t, b.load(b.at(first, i + 1))) & b.compare("slt", i, m - 2))
            b.hand_on(i, i + 1)
        with b.repeat():                                    # or back
            a = b.carry(i)
            b.leave_unless(b.compare("olt", t, b.load(b.at(first, a))) & b.compare("sgt", a, 0))
            b.hand_on(a, a - 1)
        b.hand_on(start, a)
        here = b.at(first, a)
        values = _basis(b, here, t, degree - nu)
        spans = []                                          # of each difference, by order
        for d in range(nu):
            p = degree - d
            spans.append([float(p) / (b.load(b.at(here, i)) - b.load(b.at(here, i - p)))
                          for i in range(1, p + 1)])
        with b.loop(n) as j:
            coefficients = [b.load(b.at(b.at(c, (a + i) * n), j)) for i in range(degree + 1)]
            for each in spans:
                coefficients = [(y - x) * s for x, y, s in zip(coefficients, coefficients[1:], each,
                                                               strict=False)]
            total = b.number(0.0)
            for x, v in zip(coefficients, values, strict=True):
                total = b.fma(x, v, total)
            b.store(total * factor, b.at(b.at(out, k * n), j))
