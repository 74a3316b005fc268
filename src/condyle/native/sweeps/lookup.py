"""Rows in expressions: of tables, whose cost does not depend on how many rows there are, and of solvers
(solver.py).

`row = get(table, index)` gives fresh symbols for use in SX expressions. `Closure` is a function of
expressions with look-ups (and with symbols from outside, such as parameters) that can be called again on
other arguments. `Staged` is the whole at
last: kernels that compute indices, look-ups, and the kernel that uses the rows. A derivative takes rows as
constants.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any, Protocol

import casadi as ca
import numpy as np

from condyle.errors import NativeError
from condyle.native.ir.module import Module
from condyle.native.straight.columns import columns
from condyle.native.straight.emit import add_kernel, kernel_arguments
from condyle.native.sweeps.abreast import Way, arranged
from condyle.native.sweeps.carried import carried
from condyle.native.sweeps.copied import Indices
from condyle.native.sweeps.table import Frozen, Numbers, Table
from condyle.records import dataclass


class Origin(Protocol):
    """What a row comes from: a Table, Numbers or a Solver. Two of equal `text` are the same.

    Attributes:
        name: says where in a stage it is: solvers after tables, by their names.
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
    """row = table[index]: symbols that stand for the row, and the expression of the index: of a Table one
    number (rounded down, kept in range), of a Solver a column."""

    table: Origin
    index: ca.SX
    row: ca.SX


NO_INDEX = ca.SX(0, 1)
MOST = 200_000
"""Symbols of rows that are known at a time: several kernels may share expressions."""
_KNOWN: dict[int, Lookup] = {}


def register(table: Origin, index: ca.SX, row: ca.SX) -> None:
    """Let symbols be the row of a table at an index."""
    lookup = Lookup(table, index, row)
    for symbol in ca.vertsplit(row):
        _KNOWN[symbol.element_hash()] = lookup
    # the oldest half goes; to use it after that is an error
    if len(_KNOWN) > MOST:
        for key in list(_KNOWN)[: MOST // 2]:
            _KNOWN.pop(key, None)


def get(table: Origin, index: ca.SX = NO_INDEX) -> ca.SX:
    """The row of a table at an index, or of a solver at a column, shape (width,), as an expression."""
    index = ca.densify(ca.vec(ca.SX(index)))
    if index.numel() != table.needs:
        raise NativeError(f"get: {table.name or 'a table'} needs {table.needs} numbers, got {index.numel()}")
    row = ca.SX.sym("row", table.width)
    register(table, index, row)
    return row


def frozen(x: ca.SX) -> ca.SX:
    """The same numbers without derivatives."""
    return get(Frozen(x.numel()), x)


def thawed(outputs: Sequence[ca.SX]) -> list[ca.SX]:
    """Expressions that nobody differentiates any more, with what was frozen as it was: in x - frozen(x),
    and in all that it is a factor of, nothing is left."""
    outputs = list(outputs)
    for lookup in reversed(lookups_in(outputs)):
        if isinstance(lookup.table, Frozen):
            outputs = ca.substitute(outputs, [lookup.row], [lookup.index])
    return outputs


def has_frozen(outputs: Sequence[ca.SX]) -> bool:
    """Whether something in expressions is frozen."""
    return any(isinstance(lookup.table, Frozen) for lookup in lookups_in(outputs))


def sloped(values: Origin, slopes: Origin, p: ca.SX, columns: Sequence[int]) -> ca.SX:
    """The row y of an origin at p with the first derivatives that another one gives.

        y + J (p - frozen(p))                                                                              (1)

    has the value y and the slope J. Where it is not differentiated, J is not computed: `thawed`.

    Args:
        values: p -> y.
        slopes: p -> J, column by column.
        p: expressions, shape (needs,).
        columns: elements of p that J has columns for; by all others there is no derivative.
    """
    y, some = get(values, p), list(columns)
    if not some:
        return y
    J = ca.reshape(get(slopes, p), values.width, len(some))
    return y + J @ (p[some] - frozen(p[some]))  # (1)


def lookups_in(expressions: Sequence[ca.SX]) -> list[Lookup]:
    """All look-ups that expressions depend on, also through indices; each after those that its index
    needs."""
    found: dict[int, Lookup] = {}

    def visit(x: ca.SX) -> None:
        for symbol in ca.symvar(x):
            lookup = _KNOWN.get(symbol.element_hash())
            if lookup is not None and id(lookup) not in found:
                visit(lookup.index)
                found[id(lookup)] = lookup

    visit(ca.veccat(ca.SX(0, 1), *expressions))
    return list(found.values())


def _hashes(x: ca.SX) -> set[int]:
    return {s.element_hash() for s in ca.symvar(x)}


def joined(outputs: Sequence[ca.SX]) -> tuple[list[ca.SX], list[Lookup]]:
    """Expressions and all their look-ups, of which those of equal tables at equal indices are one, and those
    of different tables at equal indices are one of a wider table: six splines through the same points find
    their interval once."""
    outputs, lookups = list(outputs), lookups_in(outputs)
    old, new = ca.SX(0, 1), ca.SX(0, 1)  # symbols of rows that are not needed
    found: list[Lookup] = []
    for level in _levels(lookups):
        indices = [ca.substitute(lookup.index, old, new) for lookup in level]
        if len(level) > 1:
            sizes = np.cumsum([0, *(x.numel() for x in indices)]).tolist()
            indices = ca.vertsplit(ca.cse(ca.vertcat(*indices)), sizes)
        groups: dict[Any, list[Lookup]] = {}
        for lookup, index in zip(level, indices, strict=True):
            at = tuple(x.element_hash() for x in ca.vertsplit(index)) if index.numel() else id(lookup)
            plain = isinstance(lookup.table, Table) and not lookup.table.ladder
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


def _levels(lookups: Sequence[Lookup]) -> list[list[Lookup]]:
    """Those whose indices need no look-up, those that need only these, and so on."""
    depth: dict[int, int] = {}
    levels: list[list[Lookup]] = []
    for lookup in lookups:
        needs = lookups_in([lookup.index])
        depth[id(lookup)] = at = 1 + max((depth[id(other)] for other in needs), default=-1)
        levels += [[]] * (at == len(levels))
        levels[at] = [*levels[at], lookup]
    return levels


def _side_by_side(lookups: Sequence[Lookup]) -> Lookup:
    """One look-up of a table that has the rows of several side by side."""
    if len(lookups) == 1:
        return lookups[0]
    rows = np.hstack([lookup.table.rows for lookup in lookups])  # type: ignore[attr-defined]
    return Lookup(Table.of(rows), lookups[0].index, ca.vertcat(*(lookup.row for lookup in lookups)))


class Closure:
    """A function of expressions that may hold look-ups and outside symbols. Called on SX it gives SX with
    look-ups of its own.

    Args:
        shared: compute equal subexpressions once; finding them takes longer than all else here.

    Attributes:
        outside: symbols beside the inputs and rows, passed on as they are, shape (n,).
        function: inputs, outside, rows of all look-ups -> outputs, indices of all look-ups.
    """

    def __init__(
        self, name: str, inputs: Sequence[ca.SX], outputs: Sequence[ca.SX], shared: bool = True
    ) -> None:
        outputs, lookups = joined(outputs)
        self.tables = [lookup.table for lookup in lookups]
        self.n = len(outputs)
        rows, indices = [lookup.row for lookup in lookups], [lookup.index for lookup in lookups]
        known = _hashes(ca.veccat(ca.SX(0, 1), *inputs, *rows))
        everything = ca.symvar(ca.veccat(ca.SX(0, 1), *outputs, *indices))
        self.outside = ca.vertcat(ca.SX(0, 1), *(s for s in everything if s.element_hash() not in known))
        self.function = ca.Function(
            name, [*inputs, self.outside, *rows], [*outputs, *indices], {"cse": shared}
        )

    @classmethod
    def of(cls, function: ca.Function, n: int, outside: ca.SX, tables: Sequence[Origin]) -> Closure:
        """A closure whose function is made already."""
        closure = cls.__new__(cls)
        closure.function, closure.n, closure.outside, closure.tables = function, n, outside, list(tables)
        return closure

    def __call__(self, *arguments: ca.SX, outside: ca.SX | None = None) -> list[ca.SX]:
        rows = [
            ca.SX(ca.DM(table.values)) if isinstance(table, Numbers) else ca.SX.sym("row", table.width)
            for table in self.tables
        ]
        given = [*(ca.SX(a) for a in arguments), self.outside if outside is None else outside, *rows]
        out = self.function.call(given, True, False)
        for table, row, index in zip(self.tables, rows, out[self.n :], strict=True):
            if not isinstance(table, Numbers):
                register(table, index, row)
        return out[: self.n]

    def at(self, *numbers: Any, outside: Any = ()) -> list[np.ndarray]:
        """Outputs at numbers."""
        rows = [np.zeros(table.width) for table in self.tables]
        given = [*numbers, ca.DM(np.array(outside, dtype=float))]
        for k, table in enumerate(self.tables):
            index = self.function.call([*given, *rows])[self.n + k]
            rows[k] = table.evaluate(index.full())[:, 0]
        return [np.array(x.full()) for x in self.function.call([*given, *rows])[: self.n]]


class Staged:
    """Expressions with look-ups as stages: indices, rows, ..., outputs. What NativeFunction compiles beside
    plain Functions.

    Args:
        derived: somebody will differentiate `main`: what is frozen stays.
    """

    def __init__(
        self, name: str, inputs: Sequence[ca.SX], outputs: Sequence[ca.SX], derived: bool = False
    ) -> None:
        outputs = list(outputs) if derived else thawed(outputs)
        levels = [
            sorted(
                level, key=lambda lookup: (lookup.table.name, lookup.table.text if lookup.table.name else "")
            )
            for level in _levels(lookups_in(outputs))
        ]
        lookups = [lookup for level in levels for lookup in level]
        rows = ca.vertcat(ca.SX(0, 1), *(lookup.row for lookup in lookups))
        self.name = name
        self.inputs, self.outputs = [x.numel() for x in inputs], [y.numel() for y in outputs]
        self.row_size = rows.numel()
        self.stages: list[tuple[ca.Function, list[Origin], int]] = []
        start = 0
        for level, mine in enumerate(levels):
            indices = ca.densify(ca.vertcat(*(lookup.index for lookup in mine)))
            tables = [lookup.table for lookup in mine]
            self.stages.append((ca.Function(f"{name}_{level}", [*inputs, rows], [indices]), tables, start))
            start += sum(table.width for table in tables)
        self.main = ca.Function(name, [*inputs, rows], [ca.densify(y) for y in outputs])

    @property
    def solves(self) -> bool:
        """Whether some rows come from solvers."""
        return any(table.name for _, tables, _ in self.stages for table in tables)

    def n_instructions(self) -> int:
        return self.main.n_instructions() + self.looked_up.n_instructions()

    @property
    def looked_up(self) -> Stages:
        """What comes before the last kernel."""
        return Stages(self.name, self.inputs, self.row_size, self.stages)

    @cached_property
    def shared(self) -> tuple[Stages, ca.Function]:
        """The same with carried values (carried.py): inputs -> rows, carried, and inputs, rows, carried ->
        outputs."""
        made, sizes = carried([*(f for f, _, _ in self.stages), self.main])
        stages = [(f, tables, start) for f, (_, tables, start) in zip(made, self.stages, strict=False)]
        return Stages(self.name, self.inputs, self.row_size, stages, sizes[:-1]), made[-1]

    @cached_property
    def text(self) -> str:
        """What determines it, the same in every process."""
        parts = [
            self.main.serialize(),
            *(f.serialize() for f, _, _ in self.stages),
            *(table.text for _, tables, _ in self.stages for table in tables),
        ]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def emit(self, module: Module, name: str, uniform: Collection[int] = (), masked: bool = False) -> int:
        """Define the kernel `@name`; returns the blocks of W doubles that its work argument needs. `uniform`
        and `masked`: see add_kernel."""
        stages, main = self.shared
        size = sum(stages.outputs)
        works = (
            stages.emit(module, f"{name}.rows", uniform),
            add_kernel(module, main, f"{name}.main", uniform=uniform, masked=masked),
        )
        with module.function(
            name, kernel_arguments(module, len(self.inputs) + len(self.outputs), masked), internal=False
        ) as b:
            n = len(self.inputs) + len(self.outputs)
            arguments, rows, mask = b.arguments[:n], b.arguments[n], b.arguments[n + 1 :]
            ins, outs = arguments[: len(self.inputs)], arguments[len(self.inputs) :]
            kept, rest = (b.at(rows, n * module.lanes.W) for n in (self.row_size, size))
            b.call(f"{name}.rows", *ins, rows, kept, rest)
            b.call(f"{name}.main", *ins, rows, kept, *outs, rest, *mask)
        return size + max(works)

    def evaluate(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Outputs (size, states) at inputs (size, states), by CasADi's evaluator."""
        states = arguments[0].shape[1]
        return columns(self.main, [*arguments, self.looked_up.evaluate(arguments)[0]], states)


@dataclass(frozen=True, eq=False)
class Stages:
    """inputs -> all rows, one after the other: kernels that compute indices, each followed by its look-ups.

    Args:
        inputs: their sizes.
        size: of all rows together.
        stages: (inputs, rows) -> indices; what these belong to; where the first of their rows begins.
        carried: how many values each stage keeps for later ones (carried.py); then (inputs, rows, carried) ->
            indices, new ones.
    """

    name: str
    inputs: list[int]
    size: int
    stages: list[tuple[ca.Function, list[Origin], int]]
    carried: list[int] | None = None

    @property
    def outputs(self) -> list[int]:
        return [self.size] if self.carried is None else [self.size, sum(self.carried)]

    def n_instructions(self) -> int:
        return sum(
            f.n_instructions() + sum(table.n_instructions() for table in tables)
            for f, tables, _ in self.stages
        )

    def emit(self, module: Module, name: str, uniform: Collection[int] = ()) -> int:
        """Define the kernel `@name`; returns the blocks of W doubles that its work argument needs."""
        W = module.lanes.W
        ways = [
            [Way(list(same), module) for _, same in groupby(tables, key=lambda table: table.text)]
            for _, tables, _ in self.stages
        ]
        most = max((sum(way.needs for way in mine) for mine in ways), default=0)
        works: list[int] = [0]
        with module.function(name, kernel_arguments(module, len(self.inputs) + len(self.outputs))) as b:
            ins, (out, *kept), work = (
                b.arguments[: len(self.inputs)],
                b.arguments[len(self.inputs) : -1],
                b.arguments[-1],
            )
            rest, new = b.at(work, most * W), 0
            for level, ((f, _, start), mine) in enumerate(zip(self.stages, ways, strict=True)):
                indices = Indices(module, arranged(f, mine), f"{name}.index{level}", uniform)
                works.append(indices.work)
                indices.call(b, [*ins, out, *kept], work, [b.at(x, new * W) for x in kept], rest)
                at, new = 0, new + (self.carried[level] if self.carried is not None else 0)
                for way in mine:
                    works.append(way.work)
                    b.call(way.symbol, b.at(work, at * W), b.at(out, start * W), rest)
                    at, start = at + way.needs, start + way.width
        return most + max(works)

    def evaluate(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Rows (size, states) at inputs (size, states), by CasADi's evaluator."""
        states = arguments[0].shape[1]
        rows, *kept = (np.zeros((size, states)) for size in self.outputs)
        new = 0
        for f, tables, start in self.stages:
            found = columns(f, [*arguments, rows, *kept], states)
            indices, at = found[0], 0
            for x, y in zip(kept, found[1:], strict=True):
                x[new : new + len(y)] = y
                new += len(y)
            for table in tables:
                rows[start : start + table.width] = table.evaluate(indices[at : at + table.needs])
                at, start = at + table.needs, start + table.width
        return [rows, *kept]


def assembled(
    name: str, inputs: Sequence[ca.SX], outputs: Sequence[ca.SX], derived: bool = False
) -> ca.Function | Staged:
    """The expressions as NativeFunction takes them: a plain Function where nothing is looked up. `derived`:
    see Staged."""
    outputs = [ca.densify(y) for y in outputs]
    return (
        Staged(name, inputs, outputs, derived)
        if lookups_in(outputs)
        else ca.Function(name, list(inputs), outputs)
    )
