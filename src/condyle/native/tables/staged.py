"""Expressions with look-ups as stages of kernels: indices, rows, .., outputs.

Rows of one source at several indices are computed one after the other or, for a solver and one state, side by
side in SIMD lanes: the fibers of eighteen muscles of one kind take three runs of the solver, not eighteen.
If many indices are unchanged inputs, a loop over a table copies them: as a straight line a matrix of twenty
rows would be a thousand instructions, all loaded before the first is stored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import groupby

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import POINTER, Value
from condyle.native.machine import jit
from condyle.native.straight.data import function
from condyle.native.straight.kernel_function import evaluate_columns
from condyle.native.tables.lookup import RowSource, lookup_levels, lookups_in, restore_gradient
from condyle.native.tables.reuse import reuse_values
from condyle.records import dataclass

MANY = 200
"""If at least this many indices are unchanged inputs, a loop copies them."""

_SOLVED = 10
"""Number of functions that CasADi's evaluator runs for a row of a solver."""


class Staged:
    """Expressions with look-ups as stages: indices, rows, ..., outputs. NativeFunction compiles it like a
    plain Function.

    Args:
        derived: whether `main` will be differentiated; stopped derivatives then remain stopped.
    """

    def __init__(self, name: str, inputs: Sequence[SX], outputs: Sequence[SX], derived: bool = False) -> None:
        outputs = list(outputs) if derived else restore_gradient(outputs)
        levels = [
            sorted(
                level, key=lambda lookup: (lookup.table.name, lookup.table.text if lookup.table.name else "")
            )
            for level in lookup_levels(lookups_in(outputs))
        ]
        lookups = [lookup for level in levels for lookup in level]
        rows = ca.vertcat(ca.SX(0, 1), *(lookup.row for lookup in lookups))
        self.name = name
        self.inputs, self.outputs = [x.numel() for x in inputs], [y.numel() for y in outputs]
        self.row_size = rows.numel()
        self.stages: list[tuple[ca.Function, list[RowSource], int]] = []
        start = 0
        for level, mine in enumerate(levels):
            indices = ca.densify(ca.vertcat(*(lookup.index for lookup in mine)))
            tables = [lookup.table for lookup in mine]
            self.stages.append((function(f"{name}_{level}", [*inputs, rows], [indices]), tables, start))
            start += sum(table.width for table in tables)
        self.main = function(name, [*inputs, rows], [ca.densify(y) for y in outputs])

    @property
    def solves(self) -> bool:
        """Whether some rows come from solvers."""
        return any(table.name for _, tables, _ in self.stages for table in tables)

    def n_instructions(self) -> int:
        return self.main.n_instructions() + self.looked_up.n_instructions()

    @property
    def effort(self) -> tuple[float, int]:
        """See kernel_function.effort."""
        tables = [table for _, mine, _ in self.stages for table in mine]
        different = {table.text: table.n_instructions() for table in tables if table.name}
        own = sum(f.n_instructions() for f, _, _ in self.stages) + self.main.n_instructions()
        calls = sum(_SOLVED if table.name else 1 for table in tables)
        return 1 + len(self.stages) + calls, own + sum(different.values())

    @property
    def looked_up(self) -> Stages:
        """The stages before the last kernel."""
        return Stages(self.name, self.inputs, self.row_size, self.stages)

    @cached_property
    def shared(self) -> tuple[Stages, ca.Function]:
        """The same with shared values computed once (reuse.py): inputs -> rows, reused, and inputs, rows,
        reused -> outputs."""
        made, sizes = reuse_values([*(f for f, _, _ in self.stages), self.main])
        stages = [(f, tables, start) for f, (_, tables, start) in zip(made, self.stages, strict=False)]
        return Stages(self.name, self.inputs, self.row_size, stages, sizes[:-1]), made[-1]

    @cached_property
    def text(self) -> str:
        """Text that determines the function, the same in every process."""
        parts = [
            self.main.serialize(),
            *(f.serialize() for f, _, _ in self.stages),
            *(table.text for _, tables, _ in self.stages for table in tables),
        ]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def emit(self, module: Module, name: str, uniform: Collection[int] = (), masked: bool = False) -> int:
        """Define the kernel `@name`; returns the blocks of W doubles that its work argument needs. `uniform`
        and `masked`: see add_kernel."""

        from condyle.native.straight.kernel_writer import add_kernel, composite_kernel

        stages, main = self.shared
        size = sum(stages.outputs)
        works = (
            stages.emit(module, f"{name}.rows", uniform),
            add_kernel(module, main, f"{name}.main", uniform=uniform, masked=masked),
        )
        with composite_kernel(module, self, name, masked) as (b, ins, outs, rows):
            reused, rest = (b.at(rows, n * module.lanes.W) for n in (self.row_size, size))
            b.call(f"{name}.rows", *ins, rows, reused, rest)
            b.call(f"{name}.main", *ins, rows, reused, *outs, rest, *b.arguments[-1:] * masked)
        return size + max(works)

    def evaluate(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Outputs (size, states) at inputs (size, states), by CasADi's evaluator."""
        states = arguments[0].shape[1]
        return evaluate_columns(self.main, [*arguments, self.looked_up.evaluate(arguments)[0]], states)


@dataclass(frozen=True, eq=False)
class Stages:
    """inputs -> all rows, one after the other: kernels that compute indices, each followed by its look-ups.

    Args:
        inputs: sizes of the inputs.
        size: size of all rows together.
        stages: (inputs, rows) -> indices; the source of each index; where the first of their rows begins.
        reused: number of values that each stage stores for later ones (reuse.py); the functions of stages
            are then (inputs, rows, reused) -> indices, new values.
    """

    name: str
    inputs: list[int]
    size: int
    stages: list[tuple[ca.Function, list[RowSource], int]]
    reused: list[int] | None = None

    @property
    def outputs(self) -> list[int]:
        return [self.size] if self.reused is None else [self.size, sum(self.reused)]

    def n_instructions(self) -> int:
        return sum(
            f.n_instructions() + sum(table.n_instructions() for table in tables)
            for f, tables, _ in self.stages
        )

    def emit(self, module: Module, name: str, uniform: Collection[int] = ()) -> int:
        """Define the kernel `@name`; returns the blocks of W doubles that its work argument needs."""

        from condyle.native.straight.kernel_writer import composite_kernel

        W = module.lanes.W
        strategies = [
            [LookupStrategy(list(same), module) for _, same in groupby(tables, key=lambda table: table.text)]
            for _, tables, _ in self.stages
        ]
        most = max((sum(strategy.needs for strategy in mine) for mine in strategies), default=0)
        works: list[int] = [0]
        with composite_kernel(module, self, name, internal=True) as (b, ins, (out, *reused), work):
            rest, new = b.at(work, most * W), 0
            for level, ((f, _, start), mine) in enumerate(zip(self.stages, strategies, strict=True)):
                indices = _IndexKernel(module, _in_order(f, mine), f"{name}.index{level}", uniform)
                works.append(indices.work)
                indices.call(b, [*ins, out, *reused], work, [b.at(x, new * W) for x in reused], rest)
                at, new = 0, new + (self.reused[level] if self.reused else 0)
                for strategy in mine:
                    works.append(strategy.work)
                    b.call(strategy.symbol, b.at(work, at * W), b.at(out, start * W), rest)
                    at, start = at + strategy.needs, start + strategy.width
        return most + max(works)

    def evaluate(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Rows (size, states) at inputs (size, states), by CasADi's evaluator."""
        states = arguments[0].shape[1]
        rows, *reused = (np.zeros((size, states)) for size in self.outputs)
        new = 0
        for f, tables, start in self.stages:
            found = evaluate_columns(f, [*arguments, rows, *reused], states)
            indices, at = found[0], 0
            for x, y in zip(reused, found[1:], strict=True):
                x[new : new + len(y)] = y
                new += len(y)
            for table in tables:
                rows[start : start + table.width] = table.evaluate(indices[at : at + table.needs])
                at, start = at + table.needs, start + table.width
        return [rows, *reused]


def build_function(
    name: str, inputs: Sequence[SX], outputs: Sequence[SX], derived: bool = False
) -> ca.Function | Staged:
    """The expressions as a function for NativeFunction: a plain Function if there are no look-ups, else a
    Staged. `derived`: see Staged."""
    outputs = [ca.densify(y) for y in outputs]
    return (
        Staged(name, inputs, outputs, derived)
        if lookups_in(outputs)
        else function(name, list(inputs), outputs)
    )


class LookupStrategy:
    """How the rows of one source at consecutive indices are computed: a single row, one after the other in
    a loop or, for a solver and one state, side by side in lanes.

    Attributes:
        symbol: name of `void @symbol(ptr indices, ptr rows, ptr work)`.
        order: the numbers of the indices that are needed, in order.
        width: size of all rows.
        work: blocks that it needs.
    """

    def __init__(self, same: list[RowSource], module: Module) -> None:
        table, count = same[0], len(same)
        self.width, self.order = count * table.width, np.arange(count * table.needs)
        lanes = jit.register_width()
        if getattr(table, "side_by_side", False) and module.lanes.W == 1 and count > 1:
            rows = np.minimum(np.arange(count + -count % lanes), count - 1).reshape(-1, lanes)
            self.order = (rows[:, None, :] * table.needs + np.arange(table.needs)[:, None]).ravel()
            self.symbol, self.work = _add_in_lanes(module, table, count, lanes)
            return
        symbol = table.emit(module)
        self.symbol, self.work = symbol, module.work(symbol)
        if count > 1:
            self.symbol = _add_each(module, symbol, table.needs, table.width, count)

    @property
    def needs(self) -> int:
        return len(self.order)


def _in_order(f: ca.Function, strategies: Sequence[LookupStrategy]) -> ca.Function:
    """The function of a stage with its indices in the order in which they are needed."""
    starts = np.cumsum([0, *(1 + strategy.order.max(initial=-1) for strategy in strategies)])
    order = np.concatenate(
        [
            np.zeros(0, np.int64),
            *(start + strategy.order for start, strategy in zip(starts, strategies, strict=False)),
        ]
    )
    return f if np.array_equal(order, np.arange(f.numel_out(0))) else _with_indices(f, order.tolist())


def _add_each(module: Module, symbol: str, needs: int, width: int, count: int) -> str:
    """Define a function that calls a look-up for `count` indices in turn; returns its name."""
    W = module.lanes.W

    def write(name: str) -> None:
        with module.function(name, [POINTER] * 3) as b:
            index, row, work = b.arguments
            with b.loop(count) as k:
                b.call(symbol, b.at(index, k * (needs * W)), b.at(row, k * (width * W)), work)

    return module.define(f"{symbol}.each{count}", write)


def _add_in_lanes(module: Module, table: RowSource, count: int, lanes: int) -> tuple[str, int]:
    """Define the same for one state, with as many rows at a time as there are lanes; returns its name and
    the work that it needs. Indices come lane by lane, and the last row fills the remaining lanes."""
    own = Module(lanes, module.contract)
    symbol, width = table.emit(own), table.width
    work = (own.work(symbol) + width) * lanes

    def write(name: str) -> None:
        module.include(own)
        with module.function(name, [POINTER] * 3) as b:
            index, row, found = b.arguments
            rest = b.at(found, width * lanes)
            for first in range(0, count, lanes):
                b.call(symbol, b.at(index, first * table.needs), found, rest)
                for lane in range(min(lanes, count - first)):
                    for j in range(width):
                        b.store(b.load(b.at(found, j * lanes + lane)), b.at(row, (first + lane) * width + j))

    return module.define(f"{symbol}.in_lanes{count}", write), work


class _IndexKernel:
    """A kernel `@name` of a function whose first result may be long, for `call`.

    Args:
        f: inputs -> indices, more.
        uniform: see add_kernel.

    Attributes:
        work: blocks of W doubles that it needs.
    """

    def __init__(self, module: Module, f: ca.Function, name: str, uniform: Collection[int]) -> None:
        from condyle.native.straight.kernel_writer import add_kernel

        self.name, self.W, self.size, self.computed = name, module.lanes.W, f.numel_out(0), 0
        self.tables: list[tuple[int, str, str, int]] = []  # source, its places, places of the indices, count
        found = _copies(f) if self.size >= MANY and not uniform else {}
        if sum(map(len, found.values())) >= MANY:
            known = {to for pairs in found.values() for _, to in pairs}
            rest = [k for k in range(self.size) if k not in known]
            f, self.computed = _with_indices(f, rest), len(rest)
            found = {
                source: pairs
                for source, pairs in {**found, f.n_in(): list(enumerate(rest))}.items()
                if source >= 0 and pairs
            }
            for source, pairs in found.items():
                at, to = (
                    module.table(f"{name}.{what}{source}", np.array(x, np.int32))
                    for what, x in zip(("from", "to"), zip(*pairs, strict=True), strict=True)
                )
                self.tables.append((source, at, to, len(pairs)))
        self.work = add_kernel(module, f, name, uniform=uniform) + self.computed

    def call(
        self, b: Builder, ins: Sequence[Value], index: Value, more: Sequence[Value], rest: Value
    ) -> None:
        """Write the call; `rest` is the memory for `work`."""
        if not self.tables:
            b.call(self.name, *ins, index, *more, rest)
            return
        b.call(self.name, *ins, rest, *more, b.at(rest, self.computed * self.W))
        b.clear(index, 8 * self.W * self.size)
        for source, at, to, count in self.tables:
            with b.loop(count) as k:
                places = [
                    b.at(memory, b.entry(table, k) * self.W)
                    for memory, table in (([*ins, rest][source], at), (index, to))
                ]
                b.store(b.load(places[0]), places[1])


def _copies(f: ca.Function) -> dict[int, list[tuple[int, int]]]:
    """By input, the numbers that are copied to indices; -1 for zeros."""
    x = [ca.SX.sym("x", f.numel_in(k)) for k in range(f.n_in())]
    place = {
        e.element_hash(): (k, i)
        for k, column in enumerate(x)
        for i, e in enumerate(ca.vertsplit(column) if column.numel() else ())
    }
    out: dict[int, list[tuple[int, int]]] = {}
    for to, e in enumerate(ca.vertsplit(f.call(x, True, False)[0])):
        if e.is_symbolic() and e.element_hash() in place:
            source, i = place[e.element_hash()]
            out.setdefault(source, []).append((i, to))
        elif e.is_zero():
            out.setdefault(-1, []).append((-1, to))
    return out


def _with_indices(f: ca.Function, order: list[int]) -> ca.Function:
    """The function with some of its indices, in some order."""
    x = [ca.SX.sym("x", f.numel_in(k)) for k in range(f.n_in())]
    indices, *more = f.call(x, True, False)
    return function(f.name(), x, [ca.densify(indices[order]), *more])
