"""Machine code of loops.py: factors and solutions of a block of m rows.

Vectors fill up to a multiple of 8 numbers with zeros, matrices are columns of such vectors, one after the
other, and every loop adds columns: for one state the lanes of a register are rows, for many they are states.
So a sum has its terms in the same order either way, and lanes equal one state to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import casadi as ca
import numpy as np

from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import DOUBLE, POINTER, Value
from condyle.native.machine import jit
from condyle.native.straight.kernel_writer import add_kernel
from condyle.records import dataclass

FULL = 8
"""Vectors have a multiple of so many numbers: those of the widest register."""


MET = 4
"""Rounds that take what no lambda can meet from a unit vector: each leaves rounding over 1e-12 of it."""
AT_ONCE = 4
"""Rows that a loop takes at once, or a register of them."""


def padded(n: int) -> int:
    """Numbers of a vector of n."""
    return -(-n // FULL) * FULL


@dataclass(frozen=True)
class Rules:
    """What is (3)-(7) of multipliers.py for m rows.

    Args:
        scales: (diagonal of Y, lengths) -> e, each (m,).
        doubts: (diagonal of Y, lengths, e, D) -> whether Y is delicate.
        refinements: of (3).
        power: of (4).
    """

    scales: ca.Function
    doubts: ca.Function
    refinements: int
    power: int


class Writer:
    """Loops over padded vectors and columns, in a function of a module. Counts and places are in numbers of
    one state; a loop takes `rows` of a vector at a time, in several registers.

    Attributes:
        V: numbers of a register, of one state or of many.
    """

    def __init__(self, b: Builder, W: int) -> None:
        self.b, self.W = b, W
        self.V = jit.register_width() if W == 1 else W
        self.rows = max(AT_ONCE, self.V) if W == 1 else AT_ONCE

    def at(self, p: Value, i: Value | int) -> Value:
        return self.b.at(p, i * self.W)

    def places(self, p: Value, c: Value) -> list[Value]:
        """Of the registers of the c-th rows of a vector."""
        first = self.b.at(p, c * (self.rows * self.W))
        return [self.b.at(first, k) if k else first for k in range(0, self.rows * self.W, self.V)]

    def load(self, p: Value, c: Value) -> list[Value]:
        return [self.b.load(place) for place in self.places(p, c)]

    def store(self, values: Sequence[Value], p: Value, c: Value) -> None:
        for x, place in zip(values, self.places(p, c), strict=True):
            self.b.store(x, place)

    def number(self, p: Value, i: Value) -> Value:
        """The i-th number, in all lanes."""
        place = self.at(p, i)
        return self.b.spread(self.b.load(place, DOUBLE)) if self.W == 1 else self.b.load(place)

    def put(self, x: Value | float, p: Value, i: Value) -> None:
        if self.W == 1:
            x = (
                self.b.put(DOUBLE, f"extractelement {x}, i64 0")
                if isinstance(x, Value)
                else self.b.number(x, DOUBLE)
            )
        self.b.store(x, self.at(p, i))

    def plus(self, z: Value, x: Value, y: Value) -> Value:
        """z + x y, rounded once where the module and the processor allow it."""
        return self.b.fma(x, y, z) if self.b.module.contract and jit.fuses() else z + x * y

    def above(self, i: Value) -> Value:
        """How many rounds take the first i numbers."""
        return self.within(i + (self.rows - 1))

    def within(self, i: Value) -> Value:
        """The round that takes number i."""
        return i >> (self.rows.bit_length() - 1)

    def make(self, out: Value, n: int, element: Callable[..., Value], *given: Value) -> None:
        """out <- element(numbers of the given vectors), for all numbers."""
        with self.b.loop(padded(n) // self.rows) as c:
            loaded = [self.load(x, c) for x in given]
            count = self.rows * self.W // self.V
            self.store([element(*(x[k] for x in loaded)) for k in range(count)], out, c)

    def copy(self, out: Value, x: Value, n: int) -> None:
        self.make(out, n, lambda x: x, x)

    def add(self, out: Value, first: Value | int, last: Value | int, column: Value, factor: Value) -> None:
        """out <- out + factor times a column, in rounds from the first to before the last."""
        with self.b.loop(last - first) as k:  # type: ignore[arg-type]
            c = k + first
            self.store(
                [
                    self.plus(x, factor, y)
                    for x, y in zip(self.load(out, c), self.load(column, c), strict=True)
                ],
                out,
                c,
            )

    def times(
        self,
        out: Value,
        start: Value,
        A: Value,
        shape: tuple[int, int],
        x: Value,
        minus: bool = False,
        sizes: bool = False,
    ) -> None:
        """out <- start + A x, or start - A x, or |start| + |A| |x|."""
        b, (n, count) = self.b, shape
        size = (lambda x: b.intrinsic("fabs", x)) if sizes else (lambda x: x)
        with b.loop(padded(n) // self.rows) as c:
            first = [size(x) for x in self.load(start, c)]
            with b.loop(count) as k:
                totals, s = [b.carry(x) for x in first], size(self.number(x, k))
                for total, term in zip(totals, self.load(self.at(A, k * padded(n)), c), strict=True):
                    b.hand_on(total, self.plus(total, -s if minus else s, size(term)))
            self.store([b.after_loop(total) for total in totals], out, c)


class Routines:
    """Functions of a module for a block of m rows, each written when it is first asked for. Their first
    argument is the memory of the block.

    Attributes:
        size: of the memory, in numbers.
        work: blocks that must follow it.
    """

    def __init__(self, module: Module, symbol: str, m: int, rules: Rules) -> None:
        self.module, self.symbol, self.m, self.rules, self.work = module, symbol, m, rules, 0
        square, vector = m * padded(m), padded(m)
        sizes = {
            "Y": square,
            "L": square,
            "U": square,
            **dict.fromkeys(("own", "e", "D", "inverse", "t", "s", "r"), vector),
        }
        ends = np.cumsum([0, *sizes.values()]).tolist()
        self.start, self.size = dict(zip(sizes, ends[:-1], strict=True)), ends[-1]

    def places(self, w: Writer, own: Value, *names: str) -> list[Value]:
        return [w.at(own, self.start[name]) for name in names]

    @contextmanager
    def function(self, symbol: str, arguments: int) -> Iterator[tuple[Writer, list[Value]]]:
        with self.module.function(symbol, [POINTER] * arguments, internal=symbol != self.symbol) as b:
            w = Writer(b, self.module.lanes.W)
            with b.side_by_side(w.V):
                yield w, b.arguments

    def _define(self, part: str, arguments: int, write: Callable[..., None]) -> str:
        def define(symbol: str) -> None:
            with self.function(symbol, arguments) as (w, given):
                write(w, *given)

        return self.module.define(f"{self.symbol}.{part}", define)

    def prepare(self) -> str:
        """(memory, lengths, delicate): e, and L, 1 / D and U of Y + E."""

        def write(w: Writer, own: Value, lengths: Value, delicate: Value) -> None:
            b, m = w.b, self.m
            Y, diagonal, e, D, inverse = self.places(w, own, "Y", "own", "e", "D", "inverse")
            rest = w.at(own, self.size)
            names = {f: f"{self.symbol}.{f.name()}" for f in (self.rules.scales, self.rules.doubts)}
            self.work = max(add_kernel(self.module, f, name) for f, name in names.items())
            for vector in (diagonal, e, D):
                w.make(vector, m, lambda: b.number(1.0))  # the numbers that fill it up do no harm
            with b.loop(m) as k:
                w.put(w.number(Y, k * (padded(m) + 1)), diagonal, k)
            b.call(names[self.rules.scales], diagonal, lengths, e, rest)
            b.call(self.factor(), own)
            w.make(inverse, m, lambda D: 1.0 / D, D)
            b.call(names[self.rules.doubts], diagonal, lengths, e, D, delicate, rest)

        return self._define("prepare", 3, write)

    def factor(self) -> str:
        """(memory): L below and U above their unit diagonals, and D. What is left to eliminate is in U."""

        def write(w: Writer, own: Value) -> None:
            b, m, M, full = w.b, self.m, padded(self.m), padded(self.m) // w.rows
            Y, L, A, e, D = self.places(w, own, "Y", "L", "U", "e", "D")
            w.copy(A, Y, m * M)
            with b.loop(m) as k:
                place = k * (M + 1)
                w.put(w.number(A, place) + w.number(e, k), A, place)
            with b.loop(m) as k:
                mine, column = w.at(A, k * M), w.at(L, k * M)
                d, after = w.number(mine, k), k + 1
                w.put(d, D, k)
                first = w.within(after)
                with b.loop(full - first) as i:
                    c = i + first
                    w.store([x / d for x in w.load(mine, c)], column, c)
                with b.loop(after - first * w.rows) as i:  # on the diagonal and above it
                    w.put(0.0, column, i + first * w.rows)
                with b.loop(m - after) as j:
                    other = w.at(A, (j + after) * M)
                    s = w.number(other, k)
                    w.add(other, first, full, column, -s)
                    w.put(s / d, other, k)
                with b.loop(w.above(k) * w.rows - k) as i:  # on the diagonal and below it
                    w.put(0.0, mine, i + k)

        return self._define("factor", 1, write)

    def solve(self) -> str:
        """(memory, x): x <- K x."""

        def write(w: Writer, own: Value, x: Value) -> None:
            b, m, M = w.b, self.m, padded(self.m)
            L, U, inverse = self.places(w, own, "L", "U", "inverse")
            with b.loop(m) as k:
                w.add(x, w.within(k + 1), M // w.rows, w.at(L, k * M), -w.number(x, k))
            w.make(x, m, lambda x, d: x * d, x, inverse)
            with b.loop(m) as i:
                k = (m - 1) - i
                w.add(x, 0, w.above(k), w.at(U, k * M), -w.number(x, k))

        return self._define("solve", 2, write)

    def kept(self) -> str:
        """(memory, x): x <- x - (K E)^4 x."""

        def write(w: Writer, own: Value, x: Value) -> None:
            e, t = self.places(w, own, "e", "t")
            w.copy(t, x, self.m)
            with w.b.loop(self.rules.power):
                w.make(t, self.m, lambda t, e: t * e, t, e)
                w.b.call(self.solve(), own, t)
            w.make(x, self.m, lambda x, t: x - t, x, t)

        return self._define("kept", 2, write)

    def met(self) -> str:
        """(memory, g): g <- g - (E K)^4 g, four times: only what Y lambda can be is left, to rounding."""

        def write(w: Writer, own: Value, g: Value) -> None:
            e, t = self.places(w, own, "e", "t")
            with w.b.loop(MET):
                w.copy(t, g, self.m)
                with w.b.loop(self.rules.power):
                    w.b.call(self.solve(), own, t)
                    w.make(t, self.m, lambda t, e: t * e, t, e)
                w.make(g, self.m, lambda g, t: g - t, g, t)

        return self._define("met", 2, write)

    def least(self) -> str:
        """(memory, g, lambda): (3), (4)."""

        def write(w: Writer, own: Value, g: Value, x: Value) -> None:
            Y, s = self.places(w, own, "Y", "s")
            w.copy(x, g, self.m)
            w.b.call(self.solve(), own, x)
            with w.b.loop(self.rules.refinements):
                w.times(s, g, Y, (self.m, self.m), x, minus=True)
                w.b.call(self.solve(), own, s)
                w.make(x, self.m, lambda x, s: x + s, x, s)  # (3)
            for _ in range(2):
                w.b.call(self.kept(), own, x)  # (4)

        return self._define("least", 3, write)

    def last(self) -> str:
        """(memory, r, x): x <- K r of (5), without what (4) takes away."""

        def write(w: Writer, own: Value, r: Value, x: Value) -> None:
            w.copy(x, r, self.m)
            w.b.call(self.solve(), own, x)
            w.b.call(self.kept(), own, x)

        return self._define("last", 3, write)
