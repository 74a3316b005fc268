"""The solution of multipliers.py (2)-(7) in loops: for many rows, of which straight lines would be m^3 long.

Origins of rows in expressions (native/tables/lookup.py), one for each of what is asked for:

    Meet      G, Z, x, g   -> x, lambda and what is left of G x + g (5), with Y = G Z (2)
    Inverse   G, Z         -> Y^+, column by column: for derivatives
    Least     Y, g         -> lambda (3), (4)
    Last      Y, r         -> the last correction of lambda (5), and r without what it meets

All factor Y + E = L D U, symmetric or not, without pivots: E keeps D above zero. routines.py has the loops.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property

import casadi as ca
import numpy as np

from condyle.constraints.solve.routines import MET, Routines, Rules, Writer, padded
from condyle.native.ir.module import Module
from condyle.native.ir.values import Value
from condyle.native.tables.linked import link_source
from condyle.records import dataclass


def filled(x: ca.SX) -> ca.SX:
    """The columns of a matrix one after the other, each padded."""
    return ca.vec(ca.densify(ca.vertcat(x, ca.SX.zeros(padded(x.shape[0]) - x.shape[0], x.shape[1]))))


def columns_of(row: ca.SX, n: int, count: int) -> ca.SX:
    """The matrix (n, count) of padded columns."""
    return ca.reshape(row, padded(n), count)[:n, :]


@dataclass(frozen=True, eq=False)
class Rows:
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


class Meet(Rows):
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


class Inverse(Rows):
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


class Least(Rows):
    """(Y, lengths, g) -> (lambda, delicate)."""

    @property
    def ins(self) -> list[int]:
        return [self.m * padded(self.m), padded(self.m), self.columns * padded(self.m)]

    @property
    def outs(self) -> list[int]:
        return [self.columns * padded(self.m), 1]

    def _loops(self, w: Writer, block: Routines, own: Value, ins: list[Value], outs: list[Value]) -> None:
        (given, lengths, g), (lambda_, delicate) = ins, outs
        w.copy(block.places(w, own, "Y")[0], given, self.ins[0])
        w.b.call(block.prepare(), own, lengths, delicate)
        with w.b.loop(self.columns) as j:
            w.b.call(block.least(), own, *(w.at(p, j * padded(self.m)) for p in (g, lambda_)))

    def _numbers(self, *parts: np.ndarray) -> list[np.ndarray]:
        block = _Block(_matrix(parts[0], self.m, self.m), parts[1][: self.m], self.rules)
        return [_vector(block.least(_matrix(parts[2], self.m, self.columns))), block.delicate]


class Last(Rows):
    """(Y, lengths, r) -> (the last correction of lambda, r without what it meets)."""

    @property
    def ins(self) -> list[int]:
        return [self.m * padded(self.m), padded(self.m), self.columns * padded(self.m)]

    @property
    def outs(self) -> list[int]:
        return [self.columns * padded(self.m)] * 2

    def _loops(self, w: Writer, block: Routines, own: Value, ins: list[Value], outs: list[Value]) -> None:
        (given, lengths, r), (last, left), m = ins, outs, self.m
        Y, unused = block.places(w, own, "Y", "t")
        w.copy(Y, given, self.ins[0])
        w.b.call(block.prepare(), own, lengths, unused)
        with w.b.loop(self.columns) as j:
            b, x, rest = (w.at(p, j * padded(m)) for p in (r, last, left))
            w.b.call(block.last(), own, b, x)
            w.times(rest, b, Y, (m, m), x, minus=True)

    def _numbers(self, *parts: np.ndarray) -> list[np.ndarray]:
        block = _Block(_matrix(parts[0], self.m, self.m), parts[1][: self.m], self.rules)
        r = _matrix(parts[2], self.m, self.columns)
        return [_vector(last := block.last(r)), _vector(r - block.Y @ last)]


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
