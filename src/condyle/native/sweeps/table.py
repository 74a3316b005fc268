"""Tables of constant rows, the machine code that reads a row per lane, and numbers that are like a row."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import DOUBLE, LONG, POINTER, Value, wide
from condyle.records import dataclass


@dataclass(frozen=True, eq=False)
class Table:
    """Constant rows, shape (rows, size). The second column of a ladder holds numbers that an argument is
    compared with."""

    rows: np.ndarray
    ladder: bool = False

    name = ""
    needs = 1

    @staticmethod
    def of(rows: Any, ladder: bool = False) -> Table:
        array = np.array(rows, dtype=float)
        array.flags.writeable = False
        return Table(array, ladder)

    @property
    def width(self) -> int:
        return self.rows.shape[1]

    @cached_property
    def text(self) -> str:
        """Digest of its numbers, the same in every process."""
        return hashlib.sha256(repr(self.rows.shape).encode() + self.rows.tobytes()).hexdigest()

    def n_instructions(self) -> int:
        return 0

    def emit(self, module: Module) -> str:
        return module.define(
            f"table.{self.text[:32]}.{module.lanes.W}", lambda symbol: _write_get(module, symbol, self.rows)
        )

    def evaluate(self, index: np.ndarray) -> np.ndarray:
        numbers = np.clip(np.nan_to_num(np.floor(index[0])), 0, len(self.rows) - 1).astype(int)
        return self.rows[numbers].T


@dataclass(frozen=True, eq=False)
class Numbers:
    """Constants that expressions take like a row, without an index: a `Closure` can be called again with
    others."""

    values: tuple[float, ...]

    name = ""
    needs = 0

    @property
    def width(self) -> int:
        return len(self.values)

    @property
    def text(self) -> str:
        return f"Numbers{self.values}"

    def n_instructions(self) -> int:
        return 0

    def emit(self, module: Module) -> str:
        digest = hashlib.sha256(self.text.encode()).hexdigest()
        return module.define(
            f"numbers.{digest[:32]}.{module.lanes.W}", lambda symbol: self._write(module, symbol)
        )

    def _write(self, module: Module, symbol: str) -> None:
        with module.function(symbol, [POINTER] * 3) as b:
            for j, x in enumerate(self.values):
                b.store(b.number(x), b.at(b.arguments[1], j * module.lanes.W))

    def evaluate(self, index: np.ndarray) -> np.ndarray:
        return np.repeat(np.array(self.values)[:, None], index.shape[1], axis=1)


@dataclass(frozen=True, eq=False)
class Frozen:
    """Numbers as they are: a row that equals its index and has no derivatives. See `frozen` in lookup.py.

    Args:
        needs: how many.
    """

    needs: int

    name = "frozen"

    @property
    def width(self) -> int:
        return self.needs

    @property
    def text(self) -> str:
        return f"Frozen({self.needs})"

    def n_instructions(self) -> int:
        return 0

    def emit(self, module: Module) -> str:
        return module.define(
            f"frozen.{self.needs}.{module.lanes.W}", lambda symbol: self._write(module, symbol)
        )

    def _write(self, module: Module, symbol: str) -> None:
        with module.function(symbol, [POINTER] * 3) as b:
            for j in range(self.needs):
                index, row = (b.at(place, j * module.lanes.W) for place in b.arguments[:2])
                b.store(b.load(index), row)

    def evaluate(self, index: np.ndarray) -> np.ndarray:
        return index


_LINE = 8  # doubles that memory moves at once
_CHUNK = 4  # doubles that are copied at once


def _write_get(module: Module, name: str, rows: np.ndarray) -> None:
    """Define row <- table[index] for all lanes at once; an index that is NaN or out of range takes the first
    or last row."""
    L, (count, size) = module.lanes, rows.shape
    last = float(count - 1)
    stride = size + (-size % _LINE)
    if stride > 1.125 * size:  # else rows begin on a line of memory
        stride = size
    with module.function(name, [POINTER] * 3) as b:
        index, row, _ = b.arguments
        table = b.symbol(module.table(f"{name}.rows", np.pad(rows, ((0, 0), (0, stride - size)))))
        x = b.load(index)
        x = b.select(b.compare("oge", x, 0.0), x, 0.0)
        x = b.select(b.compare("olt", x, last), x, last)
        first = b.convert("fptosi", x, L.I) * stride
        if L.W > 1:
            _write_columns(b, [b.at(table, _element(b, first, lane)) for lane in range(L.W)], size, row)
            return
        place = b.at(table, first)
        for start, n in _chunks(size, _CHUNK):
            b.store(b.load(b.at(place, start), wide(DOUBLE, n)), b.at(row, start))


def _chunks(size: int, most: int) -> list[tuple[int, int]]:
    """Where to begin with n numbers at a time, n a power of two up to `most`: the last n overlap others."""
    n = min(most, 1 << (size.bit_length() - 1))
    starts = [*range(0, size - n + 1, n), *([size - n] if size % n else [])]
    return [(start, n) for start in starts]


def _write_columns(b: Builder, rows: list[Value], size: int, out: Value) -> None:
    """Numbers of one row per lane, transposed: those that lie side by side are loaded together, n at a time.
    (The instruction that gathers loads them one by one: 1.3 times as long for a curve with rows of 46.)"""
    W = b.lanes.W
    for start, n in _chunks(size, W):
        parts = [b.load(b.at(row, start), wide(DOUBLE, n)) for row in rows]
        squares = [_transposed(b, parts[lane : lane + n]) for lane in range(0, W, n)]
        for j, columns in enumerate(zip(*squares, strict=True)):
            b.store(_joined(b, columns), b.at(out, (start + j) * W))


def _transposed(b: Builder, rows: Sequence[Value]) -> list[Value]:
    """n rows of n numbers as columns, n a power of two: halves of the blocks that are not on the diagonal
    change places, block by block."""
    values, n = list(rows), len(rows)
    step = n // 2
    while step:
        for k in range(n):
            if not k & step:
                low = [j if not j & step else n + j - step for j in range(n)]
                high = [j + step if not j & step else n + j for j in range(n)]
                values[k], values[k + step] = (
                    _shuffled(b, values[k], values[k + step], places) for places in (low, high)
                )
        step //= 2
    return values


def _joined(b: Builder, parts: Sequence[Value]) -> Value:
    """Their elements side by side."""
    values = list(parts)
    if values[0].type == DOUBLE:
        out = "poison"
        for k, x in enumerate(values):
            out = b.put(b.lanes.T, f"insertelement {b.lanes.T} {out}, double {x.text}, i32 {k}").text
        return Value(b, b.lanes.T, out)
    while len(values) > 1:
        n = 2 * int(values[0].type.split()[0][1:])
        values = [_shuffled(b, x, y, range(n)) for x, y in zip(values[::2], values[1::2], strict=True)]
    return values[0]


def _shuffled(b: Builder, x: Value, y: Value, places: Sequence[int]) -> Value:
    """Elements of x, and then of y, by their places."""
    mask = ", ".join(f"i32 {j}" for j in places)
    n = len(places)
    return b.put(wide(DOUBLE, n), f"shufflevector {x.type} {x.text}, {y.type} {y.text}, <{n} x i32> <{mask}>")


def _element(b: Builder, x: Value, lane: int) -> Value:
    return b.put(LONG, f"extractelement {x.type} {x.text}, i32 {lane}")
