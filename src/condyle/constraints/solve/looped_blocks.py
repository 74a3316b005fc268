"""The solution of multipliers.py (2)-(7) in loops: for many rows, of which straight lines would be m^3 long.

Origins of rows in expressions (native/tables/lookup.py), one for each of what is asked for:

    Meet      G, Z, x, g   -> x, lambda and what is left of G x + g (5), with Y = G Z (2)
    Inverse   G, Z         -> Y^+, column by column: for derivatives
    Least     Y, g         -> lambda (3), (4)
    Last      Y, r         -> the last correction of lambda (5), and r without what it meets
    Gram      E, S         -> Y = E' S, where few rows have a part in each speed

All but the last factor Y + E = L D U, symmetric or not, without pivots: E keeps D above zero.

In machine code vectors fill up to a multiple of 8 numbers with zeros, matrices are columns of such vectors, one after the
other, and every loop adds columns: for one state the lanes of a register are rows, for many they are states.
So a sum has its terms in the same order either way, and lanes equal one state to the last bit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import cached_property

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import DOUBLE, POINTER, Value
from condyle.native.machine import jit
from condyle.native.straight.kernel_writer import add_kernel
from condyle.native.tables.linked import link_source
from condyle.records import dataclass


def filled(x: SX) -> SX:
    """The columns of a matrix one after the other, each padded."""
    return ca.vec(ca.densify(ca.vertcat(x, ca.SX.zeros(padded(x.shape[0]) - x.shape[0], x.shape[1]))))


def columns_of(row: SX, n: int, count: int) -> SX:
    """The matrix (n, count) of padded columns."""
    return ca.reshape(row, padded(n), count)[:n, :]


@dataclass(frozen=True, eq=False)
class SolverRows:
    """What all origins of this file have in common.

    Args:
        m: rows of the block.
        columns: right-hand sides.
        rules: see there.
        n: speeds of the block, where Y = G Z.
    """

    m: int
    columns: int
    rules: Rules
    n: int = 0
    name: str = field(default="multipliers", init=False)

    @property
    def ins(self) -> list[int]:
        """Sizes of the parts of the index, in numbers."""
        raise NotImplementedError

    @property
    def outs(self) -> list[int]:
        """The same of the row."""
        raise NotImplementedError

    @property
    def needs(self) -> int:
        return sum(self.ins)

    @property
    def width(self) -> int:
        return sum(self.outs)

    @cached_property
    def text(self) -> str:
        rules = self.rules
        return (
            f"{type(self).__name__} {self.m} {self.n} {self.columns} {rules.refinements} {rules.power} "
            f"{rules.scales.serialize()} {rules.doubts.serialize()}"
        )

    @property
    def solutions(self) -> int:
        """With L D U, in one column of (3) and (4)."""
        return 1 + self.rules.refinements + 2 * self.rules.power

    def n_instructions(self) -> int:
        """Operations for one state, about."""
        m, n = self.m, self.n
        return 2 * m * m * (m // 3 + n) + 2 * m * self.columns * (m * self.solutions + 4 * n)

    # ---- machine code

    def emit(self, module: Module) -> str:
        """It depends on no model: compiled once for all."""
        name = f"multipliers.{type(self).__name__.lower()}.{self.m}.{self.n}.{self.columns}"
        return link_source(module, name, self.text, self._write)

    def _write(self, module: Module, symbol: str) -> int:
        block = Routines(module, symbol, self.m, self.rules)
        with block.function(symbol, 3) as (w, (index, row, own)):
            ins, outs = (
                [w.at(p, start) for start in np.cumsum([0, *sizes[:-1]]).tolist()]
                for p, sizes in ((index, self.ins), (row, self.outs))
            )
            self._loops(w, block, own, ins, outs)
        return block.size + block.work

    def _loops(self, w: Writer, block: Routines, own: Value, ins: list[Value], outs: list[Value]) -> None:
        raise NotImplementedError

    def _product(self, w: Writer, Y: Value, G: Value, Z: Value) -> None:
        """Y <- G Z."""
        with w.b.loop(self.m) as j:
            column, mine = w.at(Y, j * padded(self.m)), w.at(Z, j * padded(self.n))
            w.make(column, self.m, lambda: w.b.number(0.0))
            w.times(column, column, G, (self.m, self.n), mine)

    # ---- without machine code

    def evaluate(self, index: np.ndarray) -> np.ndarray:
        """Rows (width, states) at indices (needs, states), state by state."""
        ends = np.cumsum(self.ins)[:-1]
        with np.errstate(all="ignore"):
            rows = [self._numbers(*np.split(column, ends)) for column in index.T]
        return np.stack([np.concatenate(row) for row in rows], axis=1) if rows else np.zeros((self.width, 0))

    def _numbers(self, *parts: np.ndarray) -> list[np.ndarray]:
        raise NotImplementedError


class Meet(SolverRows):
    """(G, Z, lengths, x, g) -> (x, lambda, what is left of G x + g, the sums of its terms, delicate)."""

    @property
    def ins(self) -> list[int]:
        m, n, c = padded(self.m), padded(self.n), self.columns
        return [self.n * m, self.m * n, m, c * n, c * m]

    @property
    def outs(self) -> list[int]:
        m, n, c = padded(self.m), padded(self.n), self.columns
        return [c * n, c * m, c * m, c * m, 1]

    def _loops(self, w: Writer, block: Routines, own: Value, ins: list[Value], outs: list[Value]) -> None:
        (G, Z, lengths, X, g), (out, lambda_, left, size, delicate), m, n = ins, outs, self.m, self.n
        Y, r = block.places(w, own, "Y", "r")
        self._product(w, Y, G, Z)
        w.b.call(block.prepare(), own, lengths, delicate)
        with w.b.loop(self.columns) as j:
            (x, y), (b, mine, rest, sizes) = (
                [w.at(p, j * padded(k)) for p in each]
                for k, each in ((n, (X, out)), (m, (g, lambda_, left, size)))
            )
            w.times(rest, b, G, (m, n), x)
            w.b.call(block.least(), own, rest, mine)
            w.times(y, x, Z, (n, m), mine, minus=True)
            w.times(rest, b, G, (m, n), y)
            w.times(sizes, b, G, (m, n), y, sizes=True)
            w.b.call(block.last(), own, rest, r)
            w.times(y, y, Z, (n, m), r, minus=True)
            w.times(rest, rest, Y, (m, m), r, minus=True)

    def _numbers(self, *parts: np.ndarray) -> list[np.ndarray]:
        m, n, c = self.m, self.n, self.columns
        G, Z, X, g = (
            _matrix(parts[i], *shape) for i, shape in ((0, (m, n)), (1, (n, m)), (3, (n, c)), (4, (m, c)))
        )
        block = _Block(G @ Z, parts[2][:m], self.rules)
        lambda_ = block.least(G @ X + g)
        x = X - Z @ lambda_
        r = G @ x + g
        last = block.last(r)
        left, size = r - block.Y @ last, np.abs(G) @ np.abs(x) + np.abs(g)
        return [*map(_vector, (x - Z @ last, lambda_, left, size)), block.delicate]


class Inverse(SolverRows):
    """(G, Z, lengths) -> Y^+, column by column: lambda of unit vectors without what none can meet."""

    @property
    def ins(self) -> list[int]:
        m, n = padded(self.m), padded(self.n)
        return [self.n * m, self.m * n, m]

    @property
    def outs(self) -> list[int]:
        return [self.m * padded(self.m)]

    def _loops(self, w: Writer, block: Routines, own: Value, ins: list[Value], outs: list[Value]) -> None:
        (G, Z, lengths), (out,), m = ins, outs, self.m
        Y, r, delicate = block.places(w, own, "Y", "r", "t")
        self._product(w, Y, G, Z)
        w.b.call(block.prepare(), own, lengths, delicate)
        with w.b.loop(m) as j:
            w.make(r, m, lambda: w.b.number(0.0))
            w.put(1.0, r, j)
            w.b.call(block.met(), own, r)
            w.b.call(block.least(), own, r, w.at(out, j * padded(m)))

    def _numbers(self, *parts: np.ndarray) -> list[np.ndarray]:
        G, Z = _matrix(parts[0], self.m, self.n), _matrix(parts[1], self.n, self.m)
        block = _Block(G @ Z, parts[2][: self.m], self.rules)
        return [_vector(block.least(block.met(np.eye(self.m))))]


class _OfMatrix(SolverRows):
    """With Y as it is: (Y, lengths, g) -> ..."""

    @property
    def ins(self) -> list[int]:
        return [self.m * padded(self.m), padded(self.m), self.columns * padded(self.m)]

    def _prepare(self, w: Writer, block: Routines, own: Value, ins: list[Value], delicate: Value) -> Value:
        """Y is there, and factored."""
        Y = block.places(w, own, "Y")[0]
        w.copy(Y, ins[0], self.ins[0])
        w.b.call(block.prepare(), own, ins[1], delicate)
        return Y

    def _block(self, *parts: np.ndarray) -> tuple[_Block, np.ndarray]:
        block = _Block(_matrix(parts[0], self.m, self.m), parts[1][: self.m], self.rules)
        return block, _matrix(parts[2], self.m, self.columns)


class Least(_OfMatrix):
    """(Y, lengths, g) -> (lambda, delicate)."""

    @property
    def outs(self) -> list[int]:
        return [self.columns * padded(self.m), 1]

    def _loops(self, w: Writer, block: Routines, own: Value, ins: list[Value], outs: list[Value]) -> None:
        self._prepare(w, block, own, ins, outs[1])
        with w.b.loop(self.columns) as j:
            w.b.call(block.least(), own, *(w.at(p, j * padded(self.m)) for p in (ins[2], outs[0])))

    def _numbers(self, *parts: np.ndarray) -> list[np.ndarray]:
        block, g = self._block(*parts)
        return [_vector(block.least(g)), block.delicate]


class Last(_OfMatrix):
    """(Y, lengths, r) -> (the last correction of lambda, r without what it meets)."""

    @property
    def outs(self) -> list[int]:
        return [self.columns * padded(self.m)] * 2

    def _loops(self, w: Writer, block: Routines, own: Value, ins: list[Value], outs: list[Value]) -> None:
        m, (unused,) = self.m, block.places(w, own, "t")
        Y = self._prepare(w, block, own, ins, unused)
        with w.b.loop(self.columns) as j:
            b, x, rest = (w.at(p, j * padded(m)) for p in (ins[2], *outs))
            w.b.call(block.last(), own, b, x)
            w.times(rest, b, Y, (m, m), x, minus=True)

    def _numbers(self, *parts: np.ndarray) -> list[np.ndarray]:
        block, r = self._block(*parts)
        return [_vector(last := block.last(r)), _vector(r - block.Y @ last)]


@dataclass(frozen=True, eq=False)
class Gram:
    """(E_1, S_1, E_2, ...) -> the columns of Y = sum of E_j S_j', each padded; of each speed j the numbers of some rows
    side by side, padded.

    Args:
        m: rows.
        spans: of each speed, the first of its rows, a multiple of FULL, and their number.
    """

    m: int
    spans: tuple[tuple[int, int], ...]
    name: str = field(default="gram", init=False)

    @property
    def needs(self) -> int:
        return 2 * sum(padded(count) for _, count in self.spans)

    @property
    def width(self) -> int:
        return self.m * padded(self.m)

    @cached_property
    def text(self) -> str:
        return hashlib.sha256(f"Gram {self.m} {self.spans}".encode()).hexdigest()

    def n_instructions(self) -> int:
        return 2 * sum(count * padded(count) for _, count in self.spans)

    def emit(self, module: Module) -> str:
        return link_source(module, f"gram.{self.text[:32]}", self.text, self._write)

    def _write(self, module: Module, symbol: str) -> int:
        with module.function(symbol, [POINTER] * 3, internal=False) as b:
            w, (index, Y, _) = Writer(b, module.lanes.W), b.arguments
            first, count = np.array(self.spans).T
            sizes = np.array([padded(n) for n in count.tolist()])
            begin, size, rounds, diagonal, number = (
                module.table(f"{symbol}.{k}", x.astype(np.int32))
                for k, x in enumerate(
                    (
                        np.cumsum([0, *2 * sizes[:-1]]),
                        sizes,
                        sizes // w.rows,
                        first * (padded(self.m) + 1),
                        count,
                    )
                )
            )
            with b.side_by_side(w.V):
                w.make(Y, self.width, lambda: b.number(0.0))
                with b.loop(len(self.spans)) as j:
                    E = w.at(index, b.entry(begin, j))
                    S, mine = w.at(E, b.entry(size, j)), w.at(Y, b.entry(diagonal, j))
                    with b.loop(b.entry(number, j)) as k:
                        w.add(w.at(mine, k * padded(self.m)), 0, b.entry(rounds, j), E, w.number(S, k))
        return 0

    def evaluate(self, index: np.ndarray) -> np.ndarray:
        """Rows (width, states) at indices (needs, states)."""
        M, at = padded(self.m), 0
        Y = np.zeros((self.m, M, index.shape[1]))
        for first, count in self.spans:
            n = padded(count)
            E, S = index[at : at + n], index[at + n : at + n + count]
            Y[first : first + count, first : first + n] += S[:, None] * E[None]
            at += 2 * n
        return Y.reshape(self.width, -1)


class _Block:
    """The same with numbers: Y (m, m) and columns (m, c)."""

    def __init__(self, Y: np.ndarray, lengths: np.ndarray, rules: Rules) -> None:
        self.Y, self.rules, own = Y, rules, np.diag(Y)
        self.e = rules.scales(own, lengths).full()
        self.LU = np.array(Y + np.diag(self.e[:, 0]))
        for k in range(len(Y)):
            self.LU[k + 1 :, k] /= self.LU[k, k]
            self.LU[k + 1 :, k + 1 :] -= np.outer(self.LU[k + 1 :, k], self.LU[k, k + 1 :])
        self.delicate = rules.doubts(own, lengths, self.e, np.diag(self.LU)).full()[:, 0]

    def K(self, b: np.ndarray) -> np.ndarray:
        x = np.array(b)
        for k in range(len(x)):
            x[k] -= self.LU[k, :k] @ x[:k]
        for k in reversed(range(len(x))):
            x[k] = (x[k] - self.LU[k, k + 1 :] @ x[k + 1 :]) / self.LU[k, k]
        return x

    def kept(self, x: np.ndarray) -> np.ndarray:
        t = x
        for _ in range(self.rules.power):
            t = self.K(self.e * t)
        return x - t

    def met(self, g: np.ndarray) -> np.ndarray:
        for _ in range(MET):
            t = g
            for _ in range(self.rules.power):
                t = self.e * self.K(t)
            g = g - t
        return g

    def least(self, g: np.ndarray) -> np.ndarray:
        x = self.K(g)
        for _ in range(self.rules.refinements):
            x = x + self.K(g - self.Y @ x)
        return self.kept(self.kept(x))

    def last(self, r: np.ndarray) -> np.ndarray:
        return self.kept(self.K(r))


def _matrix(x: np.ndarray, n: int, count: int) -> np.ndarray:
    """(n, count), of padded columns."""
    return x.reshape(count, padded(n)).T[:n]


def _vector(x: np.ndarray) -> np.ndarray:
    """Padded columns one after the other."""
    return np.pad(x, ((0, padded(len(x)) - len(x)), (0, 0))).T.ravel()


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
    """Functions of a module for a block of m rows, each written on first use. Their first
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
