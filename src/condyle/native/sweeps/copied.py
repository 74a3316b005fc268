"""Indices of a stage (lookup.py) of which many are inputs as they are: a loop over a table copies these. As a
straight line a matrix of twenty rows would be a thousand instructions, all loaded before the first is
stored."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import casadi as ca
import numpy as np

from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import BOOL, BYTE, Value
from condyle.native.straight.emit import add_kernel

MANY = 200
"""Copies from which a loop is used."""


class Indices:
    """A kernel `@name` of a function whose first result may be long, for `call`.

    Args:
        f: inputs -> indices, more.
        uniform: see add_kernel.

    Attributes:
        work: blocks of W doubles that it needs.
    """

    def __init__(self, module: Module, f: ca.Function, name: str, uniform: Collection[int]) -> None:
        self.name, self.W, self.size, self.computed = name, module.lanes.W, f.numel_out(0), 0
        self.tables: list[tuple[int, str, str, int]] = []  # source, its places, those of the indices, count
        found = _copies(f) if self.size >= MANY and not uniform else {}
        if sum(map(len, found.values())) >= MANY:
            known = {to for pairs in found.values() for _, to in pairs}
            rest = [k for k in range(self.size) if k not in known]
            f, self.computed = _only(f, rest), len(rest)
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
        """Write the call; `rest` is memory for `work`."""
        if not self.tables:
            b.call(self.name, *ins, index, *more, rest)
            return
        b.call(self.name, *ins, rest, *more, b.at(rest, self.computed * self.W))
        b.outside("llvm.memset.p0.i64", index, b.number(0, BYTE), 8 * self.W * self.size, b.number(0, BOOL))
        for source, at, to, count in self.tables:
            with b.loop(count) as k:
                places = [
                    b.at(memory, b.entry(table, k) * self.W)
                    for memory, table in (([*ins, rest][source], at), (index, to))
                ]
                b.store(b.load(places[0]), places[1])


def _copies(f: ca.Function) -> dict[int, list[tuple[int, int]]]:
    """By input, which of its numbers are which indices; -1 for zeros."""
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


def _only(f: ca.Function, some: Sequence[int]) -> ca.Function:
    """The function with some of its indices."""
    x = [ca.SX.sym("x", f.numel_in(k)) for k in range(f.n_in())]
    indices, *more = f.call(x, True, False)
    return ca.Function(f.name(), x, [ca.densify(indices[list(some)]), *more])
