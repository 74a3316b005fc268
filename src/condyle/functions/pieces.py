"""Piecewise polynomials, and finding the interval: docs/theory/functions.md
(8)-(10).

An expression has no branches. On Symbols the row of numbers at x is looked up in a table, at a cost
independent of the number of rows; a few short rows, and rows on bare SX, are selected by conditions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array
from condyle.functions.base import Function, Number, at_default
from condyle.native.tables.lookup import RowSource, look_up
from condyle.native.tables.lookup_table import ConstantRow, LookupTable
from condyle.trace import Symbol
from condyle.trace.symbol import Outcome

LOOK_UP_FROM = 16
"""Breaks from which a row is looked up in a table instead of being selected in the kernel:
straight/selection.py makes cheap tables of selections among sixteen. Measured on forward dynamics of seven
knees: at 15 points selecting is 1.15 times as fast for two cubics a knee and 1.3 times for four, in batches
and for one state; at 30, looking up is."""

WIDE = 16
"""Numbers per row from which it is looked up, however few the rows are: to select each number takes longer
than to load it, and machine code that grows with the rows. (Joints along a spline have 46 and more.)"""

MOST_BUCKETS = 20_000, 64, 1_000_000
"""Where breaks lie closer than their range divided by the first, or, if they are many, by the second times
their number, but not by more than the third, rows are selected all the same: at a cost in proportion to their
number."""


class Pieces:
    """Rows of numbers, one for each interval between breaks: rows[k] holds from breaks[k - 1] on, up to
    breaks[k].

    Args:
        breaks: shape (m,), strictly increasing.
        rows: shape (m + 1, size).
        apart: rows are looked up, if they can be, and all that depends on breaks and rows is in tables:
            expressions of other pieces, with zeros in the same columns, are the same but for these.
    """

    def __init__(self, breaks: Array, rows: Array, apart: bool = False) -> None:
        self.breaks, self.rows, self.apart = breaks, rows, apart and len(breaks) > 0
        self.varies = (rows != (0.0 if self.apart else rows[0])).any(axis=0)

    def at_numbers(self, x: Array) -> Array:
        """Rows at an array of x, shape (..., size)."""
        return self.rows[np.searchsorted(self.breaks, np.real(x), side="right")]

    @cached_property
    def form(self) -> tuple[str, tuple[RowSource, ...]] | None:
        """Text that determines the expression of pieces that are apart, but for what is in tables; and these
        tables. None if they are not looked up."""
        if not self.apart or self._tables is None:
            return None
        buckets, rows, _ = self._tables
        return f"Pieces({''.join('01'[int(x)] for x in self.varies)})", (self._scale, buckets, rows)

    @cached_property
    def _scale(self) -> ConstantRow:
        """Where the first bucket begins, and the width of each."""
        assert self._tables is not None
        return ConstantRow((float(self.breaks[0]), self._tables[2]))

    def at(self, x: SX, look_up: bool) -> SX:
        """The row at x, shape (size,). Numbers that are the same in all rows stay constants."""
        if x.is_constant():
            return ca.SX(ca.DM(self.at_numbers(np.array(float(x)))))
        row = ca.SX(ca.DM(self.rows[0]))
        some = np.flatnonzero(self.varies).tolist()
        if some:
            long = self.apart or len(self.breaks) >= LOOK_UP_FROM or len(some) >= WIDE
            row[some] = (
                self._looked_up(x)
                if look_up and long and self._tables is not None
                else self._selected(x, self.rows[:, some])
            )
        return row

    @cached_property
    def _tables(self) -> tuple[LookupTable, LookupTable, float] | None:
        """Buckets and rows as tables, and the width of a bucket; None where buckets would be too many.

        A bucket is narrower than the nearest two breaks, so that it holds at most one, rounding of its edges
        included: its row says which of the rows holds at its left edge, and from which x the next one does.
        """
        x = self.breaks
        width = 0.9 * float(np.diff(x).min(initial=1.0 if len(x) == 1 else math.inf))
        count = math.ceil((x[-1] - x[0]) / width) + 1
        few, each, many = MOST_BUCKETS
        if count > max(few, min(each * len(x), many), 2 * len(x)):
            return None
        edges = np.concatenate([[-np.inf], x[0] + width * (np.arange(count) - 0.001)])
        first = np.searchsorted(x, edges, side="right")
        buckets = np.column_stack([first, np.append(x, np.inf)[first]])
        return (
            LookupTable.from_rows(buckets, ladder=True),
            LookupTable.from_rows(self.rows[:, self.varies]),
            width,
        )

    def _looked_up(self, x: SX) -> SX:
        """Two look-ups (9), (10)."""
        assert self._tables is not None
        buckets, rows, _ = self._tables
        start, width = ca.vertsplit(look_up(self._scale)) if self.apart else self._scale.values
        bucket = look_up(buckets, 1 + ca.floor((x - start) / width))  # (9)
        return look_up(rows, bucket[0] + (x >= bucket[1]))  # (10)

    def _selected(self, x: SX, rows: Array) -> SX:
        """A balanced tree of selections, one for each break."""
        columns = ca.SX(ca.DM(rows.T))

        def pick(first: int, last: int) -> SX:
            if first == last:
                return columns[:, first]
            middle = (first + last) // 2
            return ca.if_else(x < self.breaks[middle], pick(first, middle), pick(middle + 1, last))

        return pick(0, len(self.breaks))


class Piecewise(Function):
    """A polynomial in each interval, whose coefficients are linear in some values, such as those at given
    points.

        f(x) = sum_j c_j (x - x_k)^j,   c = C y                                                    (8)

    A subclass names its `values` y and gives `pieces(y)`.
    """

    @property
    def values(self) -> tuple[Number, ...]:
        """y, the numbers that may be Parameters."""
        raise NotImplementedError

    def pieces(self, y: Array) -> tuple[Array, Array, Array]:
        """Breaks (m,), origins x_k (m + 1,) and coefficients c (m + 1, degree + 1, s) for values y, shape (n,
        s)."""
        raise NotImplementedError

    @cached_property
    def rows(self) -> Array:
        """Rows (x_k, c_0, c_1, ...) of (8), one per interval from left to right; Parameters have their
        defaults."""
        _, origins, c = self.pieces(np.array([[at_default(v)] for v in self.values]))
        rows = np.column_stack([origins, c[:, :, 0]])
        rows.flags.writeable = False
        return rows

    @cached_property
    def _columns(self) -> tuple[Pieces, list[SX]]:
        """Rows (x_k, c) without Parameters, then c of each Parameter alone; and the Parameters."""
        y = np.array([[0.0 if isinstance(v, Symbol) else v] for v in self.values])
        free = [i for i, v in enumerate(self.values) if isinstance(v, Symbol)]
        breaks, origins, c = self.pieces(np.hstack([y, np.eye(len(y))[:, free]]))
        flat = np.moveaxis(c, 2, 1).reshape(len(origins), -1)
        return Pieces(breaks, np.column_stack([origins, flat])), [
            v.sx for v in self.values if isinstance(v, Symbol)
        ]

    def formula(self, x: Sequence[Outcome], order: Sequence[int], look_up: bool) -> Outcome:
        pieces, parameters = self._columns
        at: Any = x[0]
        if isinstance(at, ca.SX):
            row = ca.vertsplit(pieces.at(at, look_up))
        else:
            row = list(np.moveaxis(pieces.at_numbers(at), -1, 0))
        size = (len(row) - 1) // (1 + len(parameters))
        c = row[1 : 1 + size]
        for k, parameter in enumerate(parameters, 1):
            c = [a + parameter * b for a, b in zip(c, row[1 + k * size :], strict=False)]
        return taylor(x[0] - row[0], c, order[0])


def taylor(t: Any, c: Sequence[Any], order: int = 0) -> Any:
    """The derivative of sum_j c_j t^j, by Horner's rule."""
    terms = [math.perm(j, order) * c_j if order else c_j for j, c_j in enumerate(c) if j >= order]
    value = terms[-1] if terms else 0.0 * t
    for c_j in reversed(terms[:-1]):
        value = c_j + t * value
    return value
