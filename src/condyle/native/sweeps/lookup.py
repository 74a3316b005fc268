"""Tables in expressions: what it costs to look a row up does not depend on how many there are.

`row = get(table, index)` stands in an SX expression as fresh symbols. `Closure` is a function of expressions with look-ups
(and with symbols from outside, such as parameters) that can be called again on other arguments. `Staged` is the whole at
last: kernels that compute indices, look-ups, and the kernel that uses the rows. A derivative takes rows as constants.
"""
from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from condyle.native.straight.emit import Module, constant
from condyle.native.straight.ir import definition


@dataclass(frozen=True, eq=False)
class Table:
    """Constant rows, shape (rows, size). The second column of a ladder holds numbers that an argument is compared with."""

    rows: np.ndarray
    ladder: bool = False

    @staticmethod
    def of(rows: Any, ladder: bool = False) -> Table:
        array = np.array(rows, dtype=float)
        array.flags.writeable = False
        return Table(array, ladder)


@dataclass(frozen=True, eq=False)
class Lookup:
    """row = table[index]: symbols that stand for the row, and the expression of the index (rounded down, kept in range)."""

    table: Table
    index: ca.SX
    row: ca.SX


_KNOWN: dict[int, Lookup] = {}


def _register(table: Table, index: ca.SX, row: ca.SX) -> None:
    lookup = Lookup(table, index, row)
    for symbol in ca.vertsplit(row):
        _KNOWN[symbol.element_hash()] = lookup


def get(table: Table, index: ca.SX) -> ca.SX:
    """The row of a table at an index, shape (size,), as an expression."""
    row = ca.SX.sym("row", table.rows.shape[1])
    _register(table, index, row)
    return row


def lookups_in(expressions: Sequence[ca.SX]) -> list[Lookup]:
    """All look-ups that expressions depend on, also through indices; each after those that its index needs."""
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


class Closure:
    """A function of expressions that may hold look-ups and outside symbols. Called on SX it gives SX with look-ups of its own.

    Args:
        shared: compute equal subexpressions once; finding them takes longer than all else here.

    Attributes:
        outside: symbols beside the inputs and rows, passed on as they are, shape (n,).
        function: inputs, outside, rows of all look-ups -> outputs, indices of all look-ups.
    """

    def __init__(self, name: str, inputs: Sequence[ca.SX], outputs: Sequence[ca.SX], shared: bool = True) -> None:
        lookups = lookups_in(outputs)
        self.tables = [lookup.table for lookup in lookups]
        self.n = len(outputs)
        rows, indices = [lookup.row for lookup in lookups], [lookup.index for lookup in lookups]
        known = _hashes(ca.veccat(ca.SX(0, 1), *inputs, *rows))
        everything = ca.symvar(ca.veccat(ca.SX(0, 1), *outputs, *indices))
        self.outside = ca.vertcat(ca.SX(0, 1), *(s for s in everything if s.element_hash() not in known))
        self.function = ca.Function(name, [*inputs, self.outside, *rows], [*outputs, *indices], {"cse": shared})

    @classmethod
    def of(cls, function: ca.Function, n: int, outside: ca.SX, tables: Sequence[Table]) -> Closure:
        """A closure whose function is made already."""
        closure = cls.__new__(cls)
        closure.function, closure.n, closure.outside, closure.tables = function, n, outside, list(tables)
        return closure

    def __call__(self, *arguments: ca.SX, outside: ca.SX | None = None) -> list[ca.SX]:
        rows = [ca.SX.sym("row", table.rows.shape[1]) for table in self.tables]
        given = [*(ca.SX(a) for a in arguments), self.outside if outside is None else outside, *rows]
        out = self.function.call(given, True, False)
        for table, row, index in zip(self.tables, rows, out[self.n:], strict=True):
            _register(table, index, row)
        return out[:self.n]

    def at(self, *numbers: Any, outside: Any = ()) -> list[np.ndarray]:
        """Outputs at numbers."""
        rows = [np.zeros(table.rows.shape[1]) for table in self.tables]
        given = [*numbers, ca.DM(np.array(outside, dtype=float))]
        for k, table in enumerate(self.tables):
            index = self.function.call([*given, *rows])[self.n + k]
            rows[k] = table.rows[_row_numbers(index.full(), len(table.rows))[0, 0]]
        return [np.array(x.full()) for x in self.function.call([*given, *rows])[:self.n]]


class Staged:
    """Expressions with look-ups as stages: indices, rows, ..., outputs. What NativeFunction compiles beside plain Functions.

    Look-ups are taken out of the register here: the expressions have come to their end.
    """

    def __init__(self, name: str, inputs: Sequence[ca.SX], outputs: Sequence[ca.SX]) -> None:
        lookups = lookups_in(outputs)
        depth: dict[int, int] = {}
        for lookup in lookups:
            needs = lookups_in([lookup.index])
            depth[id(lookup)] = 1 + max((depth[id(other)] for other in needs), default=-1)
        lookups.sort(key=lambda lookup: depth[id(lookup)])
        rows = ca.vertcat(ca.SX(0, 1), *(lookup.row for lookup in lookups))
        self.inputs, self.outputs = [x.numel() for x in inputs], [y.numel() for y in outputs]
        self.row_size = rows.numel()
        self.stages: list[tuple[ca.Function, list[Table], int]] = []
        start = 0
        for level in range(1 + max(depth.values(), default=-1)):
            mine = [lookup for lookup in lookups if depth[id(lookup)] == level]
            indices = ca.densify(ca.vertcat(*(lookup.index for lookup in mine)))
            tables = [lookup.table for lookup in mine]
            self.stages.append((ca.Function(f"{name}_{level}", [*inputs, rows], [indices]), tables, start))
            start += sum(table.rows.shape[1] for table in tables)
        self.main = ca.Function(name, [*inputs, rows], [ca.densify(y) for y in outputs])
        for lookup in lookups:
            for symbol in ca.vertsplit(lookup.row):
                _KNOWN.pop(symbol.element_hash(), None)

    def n_instructions(self) -> int:
        return self.main.n_instructions() + sum(f.n_instructions() for f, _, _ in self.stages)

    def emit(self, module: Module, name: str, uniform: Collection[int] = ()) -> int:
        """Define the kernel `@name`; returns the blocks of W doubles that its work argument needs. `uniform`: see add_kernel."""
        W = module.lanes.W
        most = max((len(tables) for _, tables, _ in self.stages), default=0)
        arguments = [f"ptr %in{k}" for k in range(len(self.inputs))]
        outputs = [f"ptr %out{k}" for k in range(len(self.outputs))]
        body = [f"%rows = getelementptr double, ptr %work, i64 {most * W}",
                f"%rest = getelementptr double, ptr %work, i64 {(most + self.row_size) * W}"]
        works: list[int] = []
        known: dict[int, str] = {}
        for level, (f, tables, start) in enumerate(self.stages):
            works.append(module.add_kernel(f, f"{name}.index{level}", uniform=uniform))
            body.append(f"call void @{name}.index{level}({', '.join([*arguments, 'ptr %rows', 'ptr %work', 'ptr %rest'])})")
            for k, table in enumerate(tables):
                if id(table) not in known:
                    known[id(table)] = f"@{name}.table{len(known)}"
                    values = ", ".join(f"double {constant(v)}" for v in table.rows.ravel())
                    module.add(f"{known[id(table)]} = private constant [{table.rows.size} x double] [{values}]")
                get = _add_get(module, *table.rows.shape)
                body += [f"%i{level}.{k} = getelementptr double, ptr %work, i64 {k * W}",
                         f"%r{level}.{k} = getelementptr double, ptr %rows, i64 {start * W}",
                         f"call void @{get}(ptr {known[id(table)]}, ptr %i{level}.{k}, ptr %r{level}.{k})"]
                start += table.rows.shape[1]
        works.append(module.add_kernel(self.main, f"{name}.main", uniform=uniform))
        body.append(f"call void @{name}.main({', '.join([*arguments, 'ptr %rows', *outputs, 'ptr %rest'])})")
        head = ", ".join([*arguments, *outputs, "ptr %work"])
        module.add("\n".join([f"define void @{name}({head}) {{", *body, "ret void", "}"]))
        return most + self.row_size + max(works)

    def evaluate(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Outputs (size, states) at inputs (size, states), by CasADi's evaluator."""
        states = arguments[0].shape[1]
        given = [ca.DM(a) if a.size else ca.DM(0, states) for a in arguments]
        rows = np.zeros((self.row_size, states))
        for f, tables, start in self.stages:
            indices = f.map(states).call([*given, ca.DM(rows)])[0].full()
            for table, index in zip(tables, indices, strict=True):
                size = table.rows.shape[1]
                rows[start:start + size] = table.rows[_row_numbers(index, len(table.rows))].T
                start += size
        return [y.full() for y in self.main.map(states).call([*given, ca.DM(rows)])]


def assembled(name: str, inputs: Sequence[ca.SX], outputs: Sequence[ca.SX]) -> ca.Function | Staged:
    """The expressions as NativeFunction takes them: a plain Function where nothing is looked up."""
    outputs = [ca.densify(y) for y in outputs]
    return Staged(name, inputs, outputs) if lookups_in(outputs) else ca.Function(name, list(inputs), outputs)


def _row_numbers(index: np.ndarray, count: int) -> np.ndarray:
    return np.clip(np.nan_to_num(np.floor(index)), 0, count - 1).astype(int)


def _add_get(module: Module, count: int, size: int) -> str:
    """Define row <- table[index] for tables of this shape, all lanes at once; an index that is NaN or out of range takes the
    first or last row. Returns the function's name."""
    lanes = module.lanes
    T, B, I, W = lanes.T, lanes.B, lanes.I, lanes.W
    zero, last = lanes.number(0), lanes.number(count - 1)
    gather = f"llvm.masked.gather.{lanes.suffix}.v{W}p0"
    lines = [f"%x = load {T}, ptr %index, align 8",
             f"%positive = fcmp oge {T} %x, {zero}", f"%a = select {B} %positive, {T} %x, {T} {zero}",
             f"%inside = fcmp olt {T} %a, {last}", f"%b = select {B} %inside, {T} %a, {T} {last}",
             f"%i = fptosi {T} %b to {I}", f"%first = mul {I} %i, {lanes.integer(size)}"]
    for j in range(size):
        lines += [f"%at{j} = add {I} %first, {lanes.integer(j)}", f"%from{j} = getelementptr double, ptr %table, {I} %at{j}",
                  f"%v{j} = load double, ptr %from{j}, align 8" if W == 1 else
                  f"%v{j} = call {T} @{gather}(<{W} x ptr> %from{j}, i32 8, {B} {lanes.true()}, {T} {zero})",
                  f"%to{j} = getelementptr double, ptr %row, i64 {j * W}", f"store {T} %v{j}, ptr %to{j}, align 8"]
    if W > 1:
        module.declare(gather, f"{T} @{gather}(<{W} x ptr>, i32, {B}, {T})")
    return module.define(f"get.{count}x{size}", lambda name: module.add(definition(
        f"internal void @{name}(ptr %table, ptr %index, ptr %row)", lines)))
