"""Functions as nodes of the step loop. Their look-ups in tables become Get nodes on shared tables; if some
rows come from solvers, one kernel computes all rows. Functions that are loops over bodies become kernels
between a straight line that splits a state and a straight line that joins their results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import casadi as ca
import numpy as np

from condyle.native.ir.module import Module
from condyle.native.programs.nodes import External, Get, Kernel, Node, Stream
from condyle.native.programs.program import compile_kernel
from condyle.native.straight.data import function
from condyle.native.straight.kernel_function import Composite, KernelFunction, evaluate
from condyle.native.tables.lookup_table import LookupTable
from condyle.native.tables.staged import Staged, Stages
from condyle.records import dataclass


@dataclass(frozen=True, eq=False)
class Loops:
    """split(inputs) -> the slices `parts`; `kernels` read these; join(`joined`) -> results.

    Args:
        joined: names of slices, or indices of inputs.
        sizes: sizes of the slices in between.
    """

    split: ca.Function | Staged
    parts: tuple[str, ...]
    kernels: tuple[Kernel, ...]
    join: ca.Function
    joined: tuple[str | int, ...]
    sizes: dict[str, int]


class SharedKernel:
    """A function that is compiled once, for all programs and native functions that use it. For one lane.

    Args:
        make: returns the function.
        name: its symbol.
        inputs: sizes of its arguments.
        outputs: sizes of its results.
    """

    def __init__(
        self, make: Callable[[], KernelFunction], name: str, inputs: Sequence[int], outputs: Sequence[int]
    ) -> None:
        self.make, self.name, self.inputs, self.outputs = make, name, list(inputs), list(outputs)

    @cached_property
    def f(self) -> KernelFunction:
        return self.make()

    @cached_property
    def external(self) -> External:
        return compile_kernel(self.f, f"shared.{self.name}")

    def n_instructions(self) -> int:
        return self.f.n_instructions()

    def emit(self, module: Module, name: str) -> int:
        """Define the kernel `@name`, which calls the shared one."""
        from condyle.native.straight.kernel_writer import composite_kernel, kernel_arguments

        one = self.external
        arguments = kernel_arguments(module, len(self.inputs) + len(self.outputs))
        module.link(one.symbol, arguments, lambda: one.object)
        module.need(one.needs)
        with composite_kernel(module, self, name) as (b, ins, outs, work):
            b.call(one.symbol, *ins, *outs, work)
        return one.work

    def evaluate(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Outputs (size, states) at inputs (size, states), by CasADi's evaluator."""
        return evaluate(self.f, *arguments)


class SliceFunction:
    """A function over slices of a workspace.

    Args:
        f: a plain function, one with look-ups, a Composite, or Loops. Of a SharedKernel the first results
            are used.
        label: prefix of the names of the slices and tables that it needs, which are added to `sizes`,
            `streams` and `tables`.

    Attributes:
        main: the last kernel. Rows that are looked up are its last argument, the slice `more`; only the
            values that it reuses from stages with solvers come after them.
    """

    def __init__(
        self,
        f: KernelFunction | Loops,
        label: str,
        sizes: dict[str, int],
        streams: dict[str, Stream],
        tables: dict[str, np.ndarray],
    ) -> None:
        self.more: tuple[str, ...] = ()
        self.reused: tuple[str, ...] = ()
        self.stages: list[tuple[ca.Function, list[tuple[str, str, str]], ca.Function]] = []
        self.solved: Stages | None = None
        self.loops: Loops | None = None
        if isinstance(f, Loops):
            sizes |= f.sizes
            self.loops, self.split = f, SliceFunction(f.split, label, sizes, streams, tables)
            return
        self.main: KernelFunction = f.main if isinstance(f, Staged) else f
        self.label, self.sizes = label, sizes
        if not isinstance(f, Staged):
            return
        self.more = (f"{label}.looked_up",)
        if f.solves:
            self.solved, self.main = f.shared
            self.reused = (f"{label}.reused",)
            sizes |= dict(zip((*self.more, *self.reused), self.solved.outputs, strict=True))
            return
        # beyond its table a function continues with the last row: no failure
        self.beyond = f"{label}.beyond"
        sizes |= {self.more[0]: f.row_size, self.beyond: 1}
        for level, (index, found, start) in enumerate(f.stages):
            x = [ca.SX.sym(f"x{k}", index.numel_in(k)) for k in range(index.n_in())]
            split = function(f"index{level}", x, ca.vertsplit(index(*x)))
            gets = []
            for k, table in enumerate(found):
                assert isinstance(table, LookupTable)
                name, at, row = (f"{label}.{kind}{level}_{k}" for kind in ("table", "index", "row"))
                streams[name], tables[name] = Stream(table.rows.shape[1], shared=True), np.array(table.rows)
                sizes[at], sizes[row] = 1, table.rows.shape[1]
                gets.append((name, at, row))
            rows = [ca.SX.sym(name, sizes[name]) for _, _, name in gets]
            old = ca.SX.sym("old", f.row_size)
            stop = start + sum(sizes[name] for _, _, name in gets)
            join = function(f"join{level}", [old, *rows], [ca.vertcat(old[:start], *rows, old[stop:])])
            self.stages.append((split, gets, join))

    def looked_up(self, ins: Sequence[str]) -> list[Node]:
        """Nodes that compute the rows, before the last kernel."""
        if self.solved is not None:
            return [Kernel(self.solved, tuple(ins), (*self.more, *self.reused))]
        nodes: list[Node] = []
        for split, gets, join in self.stages:
            nodes.append(Kernel(split, (*ins, *self.more), tuple(index for _, index, _ in gets)))
            nodes += [Get(table, index, row, self.beyond) for table, index, row in gets]
            nodes.append(Kernel(join, (*self.more, *(row for _, _, row in gets)), self.more))
        return nodes

    def __call__(self, ins: Sequence[str], outs: Sequence[str]) -> list[Node]:
        """outs <- f(ins)."""
        if self.loops is not None:
            joined = tuple(x if isinstance(x, str) else ins[x] for x in self.loops.joined)
            join = Kernel(self.loops.join, joined, tuple(outs))
            return [*self.split(ins, self.loops.parts), *self.loops.kernels, join]
        unused = []
        if isinstance(self.main, SharedKernel):
            rest = self.main.outputs[len(outs) :]
            unused = [f"{self.label}.unused{k}" for k in range(len(rest))]
            self.sizes |= dict(zip(unused, rest, strict=True))
        return [*self.looked_up(ins), Kernel(self.main, (*ins, *self.more, *self.reused), (*outs, *unused))]


def compiled(rows: Composite, name: str, W: int) -> External:
    """Machine code for W lanes. It writes all lanes, so use its results at once."""
    return compile_kernel(rows, f"simulate.{name}", W)
