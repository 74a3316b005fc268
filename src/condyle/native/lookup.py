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

from condyle.native.emit import Module, constant


@dataclass(frozen=True, eq=False)
class Table:
    """Constant rows, shape (rows, size)."""

    rows: np.ndarray

    @staticmethod
    def of(rows: Any) -> Table:
        array = np.array(rows, dtype=float)
        array.flags.writeable = False
        return Table(array)


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

    Attributes:
        outside: symbols beside the inputs and rows, passed on as they are, shape (n,).
        function: inputs, outside, rows of all look-ups -> outputs, indices of all look-ups.
    """

    def __init__(self, name: str, inputs: Sequence[ca.SX], outputs: Sequence[ca.SX]) -> None:
        lookups = lookups_in(outputs)
        self.tables = [lookup.table for lookup in lookups]
        self.n = len(outputs)
        rows, indices = [lookup.row for lookup in lookups], [lookup.index for lookup in lookups]
        known = _hashes(ca.veccat(ca.SX(0, 1), *inputs, *rows))
        everything = ca.symvar(ca.veccat(ca.SX(0, 1), *outputs, *indices))
        self.outside = ca.vertcat(ca.SX(0, 1), *(s for s in everything if s.element_hash() not in known))
        self.function = ca.Function(name, [*inputs, self.outside, *rows], [*outputs, *indices], {"cse": True})

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
                count, size = table.rows.shape
                body += [f"%i{level}.{k} = getelementptr double, ptr %work, i64 {k * W}",
                         f"%r{level}.{k} = getelementptr double, ptr %rows, i64 {start * W}",
                         f"call void @{name}.get(ptr {known[id(table)]}, ptr %i{level}.{k}, ptr %r{level}.{k}, "
                         f"i64 {count}, i64 {size})"]
                start += size
        works.append(module.add_kernel(self.main, f"{name}.main", uniform=uniform))
        body.append(f"call void @{name}.main({', '.join([*arguments, 'ptr %rows', *outputs, 'ptr %rest'])})")
        head = ", ".join([*arguments, *outputs, "ptr %work"])
        module.add("\n".join([f"define void @{name}({head}) {{", *body, "ret void", "}", _get_function(name, W)]))
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


def _get_function(name: str, W: int) -> str:
    """row <- table[index] for each lane; an index that is NaN or out of range takes the first or last row."""
    return "\n".join([
        f"define internal void @{name}.get(ptr %table, ptr %index, ptr %row, i64 %count, i64 %size) {{",
        "entry:", "%last = sub i64 %count, 1", "%top = sitofp i64 %last to double", "br label %lane",
        "lane:", "%l = phi i64 [ 0, %entry ], [ %l1, %done ]",
        "%ip = getelementptr double, ptr %index, i64 %l", "%x = load double, ptr %ip",
        f"%low = fcmp oge double %x, {constant(0)}", f"%a = select i1 %low, double %x, double {constant(0)}",
        "%high = fcmp olt double %a, %top", "%b = select i1 %high, double %a, double %top",
        "%i = fptosi double %b to i64", "%first = mul i64 %i, %size", "br label %copy",
        "copy:", "%j = phi i64 [ 0, %lane ], [ %j1, %copy ]",
        "%from = add i64 %first, %j", "%fp = getelementptr double, ptr %table, i64 %from", "%v = load double, ptr %fp",
        f"%jw = mul i64 %j, {W}", "%to = add i64 %jw, %l", "%tp = getelementptr double, ptr %row, i64 %to",
        "store double %v, ptr %tp", "%j1 = add i64 %j, 1", "%more = icmp slt i64 %j1, %size",
        "br i1 %more, label %copy, label %done",
        "done:", "%l1 = add i64 %l, 1", f"%lanes = icmp slt i64 %l1, {W}", "br i1 %lanes, label %lane, label %end",
        "end:", "ret void", "}"])
