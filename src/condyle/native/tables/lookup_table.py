"""Sources of rows that need no computation: tables of constants, with machine code that reads a row per
lane; constants; and numbers whose derivatives are stopped."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import DOUBLE, POINTER, Value, wide
from condyle.records import dataclass


class _Stored:
    """A row that costs no operations. Subclasses name their machine code and write it."""

    name = ""
    _symbol: str

    def n_instructions(self) -> int:
        return 0

    def emit(self, module: Module) -> str:
        return module.define(f"{self._symbol}.{module.lanes.W}", lambda symbol: self._write(module, symbol))

    def _write(self, module: Module, symbol: str) -> None:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class LookupTable(_Stored):
    """Constant rows, shape (rows, size). The second column of a ladder has numbers with which an argument
    is compared."""

    rows: np.ndarray
    ladder: bool = False

    needs = 1

    @staticmethod
    def from_rows(rows: Any, ladder: bool = False) -> LookupTable:
        """A table with a copy of the rows."""
        array = np.array(rows, dtype=float)
        array.flags.writeable = False
        return LookupTable(array, ladder)

    @property
    def width(self) -> int:
        return self.rows.shape[1]

    @cached_property
    def text(self) -> str:
        """Digest of its numbers, the same in every process."""
        return hashlib.sha256(repr(self.rows.shape).encode() + self.rows.tobytes()).hexdigest()

    @property
    def _symbol(self) -> str:  # type: ignore[override]
        return f"table.{self.text[:32]}"

    def _write(self, module: Module, symbol: str) -> None:
        """Define row <- table[index] for all lanes at once; an index that is NaN or out of range takes the
        first or last row."""
        L, (count, size) = module.lanes, self.rows.shape
        last = float(count - 1)
        stride = size + (-size % _LINE)
        if stride > 1.125 * size:  # else rows begin on a cache line
            stride = size
        with module.function(symbol, [POINTER] * 3) as b:
            index, row, _ = b.arguments
            padded = np.pad(self.rows, ((0, 0), (0, stride - size)))
            table = b.symbol(module.table(f"{symbol}.rows", padded))
            x = b.load(index)
            x = b.select(b.compare("oge", x, 0.0), x, 0.0)
            x = b.select(b.compare("olt", x, last), x, last)
            first = b.convert("fptosi", x, L.I) * stride
            if L.W > 1:
                _write_columns(b, [b.at(table, b.lane(first, k)) for k in range(L.W)], size, row)
                return
            place = b.at(table, first)
            for start, n in _chunks(size, _CHUNK):
                b.store(b.load(b.at(place, start), wide(DOUBLE, n)), b.at(row, start))

    def evaluate(self, index: np.ndarray) -> np.ndarray:
        numbers = np.clip(np.nan_to_num(np.floor(index[0])), 0, len(self.rows) - 1).astype(int)
        return self.rows[numbers].T


@dataclass(frozen=True, eq=False)
class ConstantRow(_Stored):
    """Constants that expressions use like a row, without an index, so that a `Closure` can be called with
    other constants."""

    values: tuple[float, ...]

    needs = 0

    @property
    def width(self) -> int:
        return len(self.values)

    @property
    def text(self) -> str:
        return f"ConstantRow{self.values}"

    @property
    def _symbol(self) -> str:  # type: ignore[override]
        return f"constants.{hashlib.sha256(self.text.encode()).hexdigest()[:32]}"

    def _write(self, module: Module, symbol: str) -> None:
        with module.function(symbol, [POINTER] * 3) as b:
            for j, x in enumerate(self.values):
                b.store(b.number(x), b.at(b.arguments[1], j * module.lanes.W))

    def evaluate(self, index: np.ndarray) -> np.ndarray:
        return np.repeat(np.array(self.values)[:, None], index.shape[1], axis=1)


@dataclass(frozen=True, eq=False)
class StopGradient(_Stored):
    """A row that equals its index and has no derivatives: see `stop_gradient` in lookup.py.

    Args:
        needs: number of elements.
    """

    needs: int

    name = "stop_gradient"

    @property
    def width(self) -> int:
        return self.needs

    @property
    def text(self) -> str:
        return f"StopGradient({self.needs})"

    @property
    def _symbol(self) -> str:  # type: ignore[override]
        return f"stop_gradient.{self.needs}"

    def _write(self, module: Module, symbol: str) -> None:
        with module.function(symbol, [POINTER] * 3) as b:
            for j in range(self.needs):
                index, row = (b.at(place, j * module.lanes.W) for place in b.arguments[:2])
                b.store(b.load(index), row)

    def evaluate(self, index: np.ndarray) -> np.ndarray:
        return index


_LINE = 8  # doubles in a cache line
_CHUNK = 4  # doubles copied at once


def _chunks(size: int, most: int) -> list[tuple[int, int]]:
    """Where chunks of n numbers begin, n a power of two up to `most`; the last chunk may overlap the one
    before."""
    n = min(most, 1 << (size.bit_length() - 1))
    starts = [*range(0, size - n + 1, n), *([size - n] if size % n else [])]
    return [(start, n) for start in starts]


def _write_columns(b: Builder, rows: list[Value], size: int, out: Value) -> None:
    """Write the numbers of one row per lane, transposed. Adjacent numbers are loaded together, n at a time.
    (The gather instruction loads them one by one: 1.3 times as long for a curve with rows of 46.)"""
    W = b.lanes.W
    for start, n in _chunks(size, W):
        rounds = [n >> k for k in range(1, n.bit_length())]
        parts = [b.load(b.at(row, start), wide(DOUBLE, n)) for row in rows]
        squares = [b.transpose(parts[lane : lane + n], rounds) for lane in range(0, W, n)]
        for j, columns in enumerate(zip(*squares, strict=True)):
            b.store(_joined(b, columns), b.at(out, (start + j) * W))


def _joined(b: Builder, parts: Sequence[Value]) -> Value:
    """The elements of all parts side by side, as one vector."""
    values = list(parts)
    if values[0].type == DOUBLE:
        return b.vector(values)
    while len(values) > 1:
        n = 2 * int(values[0].type.split()[0][1:])
        values = [b.shuffle(x, y, range(n)) for x, y in zip(values[::2], values[1::2], strict=True)]
    return values[0]
