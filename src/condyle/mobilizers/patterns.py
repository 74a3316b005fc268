"""Mobilizers that differ only in numbers: shared equations, with symbols for the numbers that differ.

Two pins about general axes have the same equations up to numbers; a pin about z has others, in which zeros
and ones have vanished. This is determined from the instructions of the traced equations, in which numbers are
the constants, including radii, pitches, lengths and numbers in users' functions. Two joints along different
splines have the same equations up to numbers and the contents of look-up tables: their tables are
concatenated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np

from condyle.arrays import SX, vertcat
from condyle.mobilizers.base import Mobilizer, RelativeMotion
from condyle.mobilizers.traced import form_of, remember, traced
from condyle.native.tables.lookup import Closure, RowSource, bind_row
from condyle.native.tables.lookup_table import ConstantRow, LookupTable
from condyle.records import dataclass

FIXED = "t", "q", "u", "outside"
"""Arguments of traced equations before the rows that they look up."""
NUMBER = -1
"""An operand that is a number."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """Equations of a mobilizer apart from their numbers.

    Attributes:
        key: text that determines all but the numbers.
        numbers: in the order of their use, in `nodes`, then in `outputs`; the same number counts at every
            use.
        nodes: operation and operands of each instruction: numbers of nodes, NUMBER, or argument and element
            of an input.
        outputs: node or NUMBER, argument and element of each output: the terms of motion, then the index of
            each look-up.
        tables: where rows are looked up; solvers among them are part of the key.
        shapes: of what `outputs` go into.
    """

    key: str
    numbers: tuple[float, ...] = ()
    nodes: tuple[tuple[int, ...], ...] = ()
    outputs: tuple[tuple[int, int, int], ...] = ()
    tables: tuple[RowSource, ...] = ()
    shapes: tuple[ca.Sparsity, ...] = ()


def pattern(mobilizer: Mobilizer) -> Pattern:
    """The pattern of a mobilizer's equations."""
    closure = traced(mobilizer)
    form = form_of(mobilizer)[0]
    known = _FORMS.get(form) if form else None
    if known is None:
        known = _apart(mobilizer, closure)
        if form:
            remember(_FORMS, form, known)
    template, sources = known
    numbers = tuple(x if k < 0 else closure.tables[k].evaluate(NOWHERE)[int(x), 0] for k, x in sources)
    return replace(
        template,
        numbers=numbers,
        tables=tuple(table for table in closure.tables if not isinstance(table, ConstantRow)),
    )


Sources = list[tuple[int, float]]
"""Where numbers come from: -1 and the number, or a look-up of Numbers and the element of its row."""
NOWHERE = np.zeros((0, 1))
_FORMS: dict[str, tuple[Pattern, Sources]] = {}


def _apart(mobilizer: Mobilizer, closure: Closure) -> tuple[Pattern, Sources]:
    """A pattern without its numbers and tables, and where the numbers come from."""
    from condyle.native.straight.instructions import listed  # not where code comes from the cache

    f = closure.function
    nodes: list[tuple[int, ...]] = []
    outputs: list[tuple[int, int, int]] = []
    numbers: Sources = []
    put_out: Sources = []
    newest: dict[int, int] = {}  # node in each slot
    constants: dict[int, tuple[int, float]] = {}  # or number
    given = {len(FIXED) + k for k, table in enumerate(closure.tables) if isinstance(table, ConstantRow)}
    # arguments and results without those of numbers
    kept = [k for k in range(f.n_in()) if k not in given]
    results = [k for k in range(f.n_out()) if k - closure.n + len(FIXED) not in given]

    def use(slot: int, numbers: Sources = numbers) -> int:
        if slot in constants:
            numbers.append(constants[slot])
            return NUMBER
        return newest[slot]

    for op, o, a, b, value in zip(*listed(f), strict=True):
        if op == ca.OP_CONST:
            constants[o] = -1, value
        elif op == ca.OP_INPUT and a in given:
            constants[o] = a - len(FIXED), b
        elif op == ca.OP_OUTPUT:
            outputs.append((use(a, put_out), results.index(o), b))
        else:
            operands = (a, b) if b >= 0 else (a,)
            nodes.append((op, kept.index(a), b) if op == ca.OP_INPUT else (op, *map(use, operands)))
            constants.pop(o, None)
            newest[o] = len(nodes) - 1
    shapes = [(s.shape, s.find()) for s in map(f.sparsity_out, results)]
    outside = [s.element_hash() for s in ca.vertsplit(closure.outside)] if closure.outside.numel() else ()
    looked_up = [
        (table.name, table.width, table.text if table.name else "")
        for table in closure.tables
        if not isinstance(table, ConstantRow)
    ]
    text = repr((mobilizer.nq, mobilizer.nu, nodes, outputs, shapes, outside, looked_up))
    return Pattern(
        hashlib.sha256(text.encode()).hexdigest(),
        (),
        tuple(nodes),
        tuple(outputs),
        shapes=tuple(f.sparsity_out(k) for k in results),
    ), [*numbers, *put_out]


class TablePool:
    """Tables of one width, one after the other, each different one once.

    Attributes:
        table: all of them.
        places: where the rows of each begin and how many there are before the last, shape (tables, 2).
    """

    def __init__(self, tables: Sequence[RowSource]) -> None:
        different = {table.text: table for table in tables if isinstance(table, LookupTable)}
        self.table = tables[0]
        self.places = np.zeros((len(tables), 2))
        if len(different) > 1:
            counts = [len(table.rows) for table in different.values()]
            starts = np.cumsum([0, *counts[:-1]])
            at = {text: (starts[k], counts[k] - 1) for k, text in enumerate(different)}
            self.table = LookupTable.from_rows(np.concatenate([table.rows for table in different.values()]))
            self.places = np.array([at[table.text] for table in tables], dtype=float)

    def index(self, own: SX, first: SX, last: SX) -> SX:
        """The index among all rows of an index among those of one table."""
        if not self.places.any():
            return own
        return first + ca.fmin(ca.fmax(ca.floor(own), 0), last)


@cache
def number(k: int) -> SX:
    """The symbol of column k of a table of numbers, the same for all tables."""
    return ca.SX.sym(f"number{k}")


class NumberedMobilizer(Mobilizer):
    """What mobilizers of one pattern have in common.

    Args:
        like: one of them.
        patterns: those of all.

    Attributes:
        table: the numbers that differ, shape (mobilizers, n), places in the tables that are looked up among
            them.
        symbols: their symbols in the equations, shape (n,).
    """

    def __init__(self, like: Mobilizer, patterns: Sequence[Pattern]) -> None:
        self.like, self.pattern = like, patterns[0]
        for name in ("coordinate_names", "speed_names", "units", "named_by_user", "uses_time", "singular"):
            setattr(self, name, getattr(like, name))
        self.pools = [TablePool(tables) for tables in zip(*(p.tables for p in patterns), strict=True)]
        each = np.hstack(
            [
                np.array([p.numbers for p in patterns]).reshape(len(patterns), -1),
                *(pool.places for pool in self.pools),
            ]
        )
        self.values = each[0].tolist()
        differ = np.flatnonzero((each != each[0]).any(axis=0))
        self.table, columns = np.unique(each[:, differ], axis=1, return_inverse=True)
        self.symbols = vertcat(number(k) for k in range(self.table.shape[1]))
        self.column = dict(zip(differ.tolist(), np.ravel(columns).tolist(), strict=True))

    def _parts(self, t: SX, q: SX, u: SX) -> list[SX]:
        """R, p, H_w, H_v, w_t, v_t, bias_w, bias_v, qdot and N: the instructions, one after the other."""
        closure = traced(self.like)
        rows = [ca.SX.sym("row", pool.table.width) for pool in self.pools]
        inputs = [ca.vertsplit(x) if x.numel() else [] for x in (t, q, u, closure.outside, *rows)]
        numbers = (
            number(self.column[k]) if k in self.column else ca.SX(x) for k, x in enumerate(self.values)
        )
        values: list[ca.SX] = []

        def value(node: int) -> SX:
            return next(numbers) if node == NUMBER else values[node]

        for op, *operands in self.pattern.nodes:
            match operands:
                case [argument, element] if op == ca.OP_INPUT:
                    values.append(inputs[argument][element])
                case [x, y]:
                    values.append(ca.SX.binary(op, value(x), value(y)))
                case [x]:
                    values.append(ca.SX.unary(op, value(x)))
        shapes = self.pattern.shapes
        entries = [[ca.SX(0)] * shape.nnz() for shape in shapes]
        for node, argument, element in self.pattern.outputs:
            entries[argument][element] = value(node)
        found = [ca.SX(shape, vertcat(x)) for shape, x in zip(shapes, entries, strict=True)]
        for pool, index, row in zip(self.pools, found[closure.n :], rows, strict=True):
            bind_row(pool.table, pool.index(index, next(numbers), next(numbers)), row)
        return found[: closure.n]

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        return RelativeMotion(*self._parts(t, q, u)[:8])

    def N(self, q: SX) -> SX:
        return self._parts(ca.SX.sym("t"), q, ca.SX.sym("u", self.nu))[9]

    def description(self) -> str:
        fixed = [x for k, x in enumerate(self.values) if k not in self.column]
        tables = [pool.table.text for pool in self.pools]
        return f"NumberedMobilizer({self.pattern.key}, {self.column}, {fixed}, {tables})"
