"""Rows in expressions: of tables, whose cost does not depend on the number of rows, and of solvers
(solver.py).

`row = look_up(table, index)` gives fresh symbols for use in SX expressions. Their meaning is stored in the
*context* of the trace that created them (`lookup_context`), and discarded with it: traces may be nested, and
run in several threads. `Closure` is a function of expressions with look-ups (and with symbols from outside,
such as parameters) that can be called on other arguments. `Staged` (staged.py) combines kernels that
compute indices, look-ups, and the kernel that uses the rows. Derivatives treat rows as constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.errors import NativeError
from condyle.native.straight.data import function
from condyle.native.tables.lookup_table import ConstantRow, LookupTable, StopGradient
from condyle.records import dataclass

if TYPE_CHECKING:
    from condyle.native.ir.module import Module


class RowSource(Protocol):
    """The source of a row: a LookupTable, a ConstantRow, a Solver or a search. Two sources with equal
    `text` are the same.

    Attributes:
        name: determines the order in a stage: solvers after tables, sorted by name.
        needs: size of the index.
        width: size of the row.
    """

    @property
    def name(self) -> str: ...
    @property
    def needs(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def text(self) -> str: ...
    def n_instructions(self) -> int: ...
    def emit(self, module: Module) -> str:
        """Define `void @symbol(ptr index, ptr row, ptr work)`, once in a module; returns the symbol."""

    def evaluate(self, index: np.ndarray) -> np.ndarray:
        """Rows (width, states) at indices (needs, states)."""


@dataclass(frozen=True, eq=False)
class Lookup:
    """row = table[index]: symbols for the row, and the expression of the index: one number for a table
    (rounded down, clipped to its range), a column for a solver."""

    table: RowSource
    index: ca.SX
    row: ca.SX


Context = tuple[dict[int, Lookup], ...]
"""Look-ups of a trace and of the traces around it, by the symbols of their rows."""
_context: ContextVar[Context] = ContextVar("lookups", default=({},))


@contextmanager
def lookup_context(context: Context | None = None) -> Iterator[None]:
    """A trace: look-ups made inside are known inside, also to nested traces, and forgotten at its end.
    Look-ups made outside of all traces, such as a curve of a Parameter, are known everywhere.

    Args:
        context: the context of an earlier trace, from `current_context`, to continue that trace.
    """
    token = _context.set(({}, *_context.get()) if context is None else context)
    try:
        yield
    finally:
        _context.reset(token)


def current_context() -> Context:
    """The context of the current trace. Expressions that are used later, outside of their trace, need it."""
    return _context.get()


def bind_row(table: RowSource, index: SX, row: SX) -> None:
    """Record that some symbols are the row of a table at an index."""
    lookup = Lookup(table, index, row)
    _context.get()[0].update((symbol.element_hash(), lookup) for symbol in ca.vertsplit(row))


NO_INDEX = ca.SX(0, 1)


def look_up(table: RowSource, index: SX = NO_INDEX) -> SX:
    """The row of a table at an index, or of a solver at a column, shape (width,), as an expression."""
    index = ca.densify(ca.vec(ca.SX(index)))
    if index.numel() != table.needs:
        raise NativeError(
            f"look_up: {table.name or 'a table'} needs {table.needs} numbers, got {index.numel()}"
        )
    row = ca.SX.sym("row", table.width)
    bind_row(table, index, row)
    return row


def stop_gradient(x: SX) -> SX:
    """x with zero derivatives."""
    return look_up(StopGradient(x.numel()), x)


def restore_gradient(outputs: Sequence[SX]) -> list[SX]:
    """Replace stop_gradient(x) by x in expressions that will not be differentiated. Terms with a factor x -
    stop_gradient(x) thus vanish."""
    outputs = list(outputs)
    stopped = [x for x in lookups_in(outputs) if isinstance(x.table, StopGradient)]
    while stopped:  # repeat while an index contains another one
        outputs = ca.substitute(outputs, [x.row for x in stopped], [x.index for x in stopped])
        left = _hashes(ca.veccat(*outputs))
        stopped = [x for x in stopped if not left.isdisjoint(_hashes(x.row))]
    return outputs


def has_stopped_gradient(outputs: Sequence[SX]) -> bool:
    """Whether expressions contain a stop_gradient."""
    return any(isinstance(lookup.table, StopGradient) for lookup in lookups_in(outputs))


def look_up_with_slopes(values: RowSource, slopes: RowSource, p: SX, columns: Sequence[int]) -> SX:
    """The row y of a source at p, with first derivatives from another source.

        y + J (p - stop_gradient(p))                                                                       (1)

    has the value y and the slope J. If it is not differentiated, J is not computed (`restore_gradient`).

    Args:
        values: p -> y.
        slopes: p -> J, column by column.
        p: expressions, shape (needs,).
        columns: elements of p for which J has columns; derivatives by all others are zero.
    """
    y, some = look_up(values, p), list(columns)
    if not some:
        return y
    J = ca.reshape(look_up(slopes, p), values.width, len(some))
    return y + J @ (p[some] - stop_gradient(p[some]))  # (1)


def lookups_in(expressions: Sequence[SX]) -> list[Lookup]:
    """All look-ups that expressions depend on, also through indices; each after those that its index
    needs."""
    found: dict[int, Lookup] = {}

    contexts = _context.get()

    def visit(x: SX) -> None:
        for symbol in ca.symvar(x):
            key = symbol.element_hash()
            for known in contexts:
                if (lookup := known.get(key)) is not None and id(lookup) not in found:
                    visit(lookup.index)
                    found[id(lookup)] = lookup

    visit(ca.veccat(ca.SX(0, 1), *expressions))
    return list(found.values())


def _hashes(x: SX) -> set[int]:
    return {s.element_hash() for s in ca.symvar(x)}


def merge_lookups(outputs: Sequence[SX]) -> tuple[list[SX], list[Lookup]]:
    """Expressions and all their look-ups, merged: look-ups of equal tables at equal indices become one, and
    those of different tables at equal indices become one look-up of a wider table: six splines through the
    same points find their interval once."""
    outputs, lookups = list(outputs), lookups_in(outputs)
    old, new = ca.SX(0, 1), ca.SX(0, 1)  # symbols of rows that are not needed
    found: list[Lookup] = []
    for level in lookup_levels(lookups):
        indices = [ca.substitute(lookup.index, old, new) for lookup in level]
        if len(level) > 1:
            sizes = np.cumsum([0, *(x.numel() for x in indices)]).tolist()
            indices = ca.vertsplit(ca.cse(ca.vertcat(*indices)), sizes)
        groups: dict[Any, list[Lookup]] = {}
        for lookup, index in zip(level, indices, strict=True):
            at = tuple(x.element_hash() for x in ca.vertsplit(index)) if index.numel() else id(lookup)
            plain = isinstance(lookup.table, LookupTable) and not lookup.table.ladder
            kind = len(lookup.table.rows) if plain else lookup.table.text  # type: ignore[attr-defined]
            groups.setdefault((at, kind), []).append(Lookup(lookup.table, index, lookup.row))
        for group in groups.values():
            first: dict[str, Lookup] = {}
            for lookup in group:
                same = first.setdefault(lookup.table.text, lookup)
                if same is not lookup:
                    old, new = ca.vertcat(old, lookup.row), ca.vertcat(new, same.row)
            found.append(_side_by_side(list(first.values())))
    if old.numel():
        outputs = ca.substitute(outputs, [old], [new])
    return outputs, found


def lookup_levels(lookups: Sequence[Lookup]) -> list[list[Lookup]]:
    """Look-ups by level: those whose indices need no look-up, then those that need only these, and so on."""
    depth: dict[int, int] = {}
    levels: list[list[Lookup]] = []
    number = {key: id(lookup) for lookup in lookups for key in _hashes(lookup.row)}
    for lookup in lookups:
        needs = (number[key] for key in _hashes(lookup.index) if key in number)
        depth[id(lookup)] = at = 1 + max((depth[other] for other in needs), default=-1)
        levels += [[]] * (at == len(levels))
        levels[at] = [*levels[at], lookup]
    return levels


def _side_by_side(lookups: Sequence[Lookup]) -> Lookup:
    """One look-up of a table that has the rows of several tables side by side."""
    if len(lookups) == 1:
        return lookups[0]
    rows = np.hstack([lookup.table.rows for lookup in lookups])  # type: ignore[attr-defined]
    return Lookup(
        LookupTable.from_rows(rows), lookups[0].index, ca.vertcat(*(lookup.row for lookup in lookups))
    )


class Closure:
    """A function of expressions that may hold look-ups and outside symbols. Called on SX it gives SX with
    look-ups of its own.

    Args:
        shared: compute equal subexpressions once; finding them takes longer than the rest.

    Attributes:
        outside: symbols besides the inputs and rows, passed on unchanged, shape (n,).
        function: inputs, outside, rows of all look-ups -> outputs, indices of all look-ups.
    """

    def __init__(self, name: str, inputs: Sequence[SX], outputs: Sequence[SX], shared: bool = True) -> None:
        outputs, lookups = merge_lookups(outputs)
        self.tables = [lookup.table for lookup in lookups]
        self.n = len(outputs)
        rows, indices = [lookup.row for lookup in lookups], [lookup.index for lookup in lookups]
        known = _hashes(ca.veccat(ca.SX(0, 1), *inputs, *rows))
        everything = ca.symvar(ca.veccat(ca.SX(0, 1), *outputs, *indices))
        self.outside = ca.vertcat(ca.SX(0, 1), *(s for s in everything if s.element_hash() not in known))
        self.function = function(name, [*inputs, self.outside, *rows], [*outputs, *indices], cse=shared)

    @classmethod
    def from_function(
        cls, function: ca.Function, n: int, outside: SX, tables: Sequence[RowSource]
    ) -> Closure:
        """A closure over an existing function."""
        closure = cls.__new__(cls)
        closure.function, closure.n, closure.outside, closure.tables = function, n, outside, list(tables)
        return closure

    def __call__(self, *arguments: SX, outside: SX | None = None) -> list[SX]:
        rows = [
            ca.SX(ca.DM(table.values)) if isinstance(table, ConstantRow) else ca.SX.sym("row", table.width)
            for table in self.tables
        ]
        given = [*(ca.SX(a) for a in arguments), self.outside if outside is None else outside, *rows]
        out = self.function.call(given, True, False)
        for table, row, index in zip(self.tables, rows, out[self.n :], strict=True):
            if not isinstance(table, ConstantRow):
                bind_row(table, index, row)
        return out[: self.n]

    def at(self, *numbers: Any, outside: Any = ()) -> list[np.ndarray]:
        """Outputs as numbers, at numeric arguments."""
        rows = [np.zeros(table.width) for table in self.tables]
        given = [*numbers, ca.DM(np.array(outside, dtype=float))]
        for k, table in enumerate(self.tables):
            index = self.function.call([*given, *rows])[self.n + k]
            rows[k] = table.evaluate(index.full())[:, 0]
        return [np.array(x.full()) for x in self.function.call([*given, *rows])[: self.n]]
