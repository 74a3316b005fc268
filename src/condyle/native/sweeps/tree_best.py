"""The item of a tree with the least value, in the place of a look-up: `row = get(tree_best, p)`.

    row = numbers of the item that value(p, item) is least of                                             (1)

A branch is left out where bound(p, branch), which is at most the value of every item below it, is not below
the least value so far: branch and bound, the nearest branch first. Of equal values the one that is found
first counts. Values from the last element of p on, `most`, do not count: where there is no other, and where
p is NaN, the row is NaN. States in lanes come one after the other, and equal scalar ones
to the last bit.

A derivative takes the row as constant: the item is data, and what is computed from its numbers has
derivatives.
"""
from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from functools import cached_property

import casadi as ca
import numpy as np

from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import DOUBLE, LONG, POINTER, Value
from condyle.native.sweeps import tree as trees
from condyle.native.sweeps.tree import SIDE, Kernel, Tree
from condyle.records import dataclass

_LINE = 64                                                  # bytes that memory moves at once
_ORDER = ((0, 1), (2, 3), (0, 2), (1, 3), (1, 2))
"""Pairs that are put in order one after the other to sort four."""


@dataclass(frozen=True, eq=False, repr=False)
class TreeBest:
    """See the module's text. Two of equal `text` are the same.

    Args:
        name: for messages and for the order in a stage: an identifier.
        tree: of the items.
        bound: p, numbers of a branch -> at most the values below it.
        value: p, numbers of an item -> one number.
        nodes: numbers of the branches, shape (nodes, numbers, 4); NaN where there is none.
        items: numbers of the items, shape (blocks, numbers, 4); those at empty places are of a neighbour.
        rows: what comes out, by place, shape (4 blocks, width).

    p ends with `most`.
    """

    name: str
    tree: Tree
    bound: Kernel
    value: Kernel
    nodes: np.ndarray
    items: np.ndarray
    rows: np.ndarray

    @staticmethod
    def of(name: str, needs: int, tree: Tree, bound: Callable[[ca.SX, ca.SX], ca.SX],
           value: Callable[[ca.SX, ca.SX], ca.SX], nodes: np.ndarray, items: np.ndarray,
           rows: np.ndarray) -> TreeBest:
        """From Python functions of SX columns, with rows (n, width) of the items; needs: size of p."""
        by_place = np.ascontiguousarray(tree.blocks(rows).transpose(0, 2, 1).reshape(-1, rows.shape[1]))
        return TreeBest(name, tree, trees.kernel("bound", needs, nodes.shape[1], bound),
                        trees.kernel("value", needs, items.shape[1], value), nodes, items, by_place)

    @property
    def needs(self) -> int:
        return trees.sizes(self.value)[0][0]

    @property
    def width(self) -> int:
        return self.rows.shape[1]

    @cached_property
    def text(self) -> str:
        """What determines it, the same in every process."""
        h = hashlib.sha256(f"{self.name}\0{trees.text_of(self.bound)}\0{trees.text_of(self.value)}".encode())
        for array in (self.tree.links, self.nodes, self.items, self.rows):
            h.update(repr(array.shape).encode() + array.tobytes())
        return h.hexdigest()

    def __repr__(self) -> str:
        return f"TreeBest({self.name!r}, {self.needs} -> {self.width}, {self.text[:16]})"

    def n_instructions(self) -> int:
        """Operations of a search over a few nodes."""
        return 8 * self.bound.n_instructions() + 4 * self.value.n_instructions()

    def emit(self, module: Module) -> str:
        """Link `void @symbol(ptr p, ptr row, ptr work)`, once to a module; returns the symbol."""
        W = module.lanes.W
        return trees.linked(module, f"tree_best.{self.name}.{self.text[:16]}", self.text,
                            lambda own, symbol: self._write(own, symbol, W))

    def _write(self, own: Module, symbol: str, W: int) -> int:
        """(1)"""
        n, (_, K, _), (_, m, _) = self.width, self.nodes.shape, self.items.shape
        work = SIDE * max(trees.add(own, f, f"{symbol}.{part}")
                          for part, f in (("bound", self.bound), ("value", self.value)))
        tables = [own.table(f"{symbol}.{part}", array) for part, array in (
            ("nodes", self.nodes), ("items", self.items), ("rows", self.rows),
            ("links", self.tree.links.astype(np.int32)))]
        nodes, items, rows, links = tables
        stacked = (SIDE - 1) * self.tree.depth + SIDE
        with own.function(f"{symbol}.one", [POINTER] * 3) as b:
            p, row, memory = b.arguments
            four = b.aligned(memory, _LINE)
            best_at, where_at, top_at = (b.at(four, SIDE + k) for k in range(3))
            bounds, stack = b.at(four, 2 * SIDE), b.at(four, 2 * SIDE + stacked)
            free = b.at(stack, stacked)

            def push(bound: Value, to: Value) -> None:
                with b.when(b.compare("olt", bound, b.load(best_at, DOUBLE))):
                    place = b.load(top_at, LONG)
                    b.store(bound, b.at(bounds, place))
                    b.store(to, b.at(stack, place))
                    b.store(place + 1, top_at)

            b.store(b.load(b.at(p, self.needs - 1), DOUBLE), best_at)
            b.store(b.number(-1, LONG), where_at)
            b.store(b.number(0, LONG), top_at)
            push(b.number(-math.inf, DOUBLE), b.number(0, LONG))
            with b.repeat():
                top = b.load(top_at, LONG)
                b.leave_unless(b.compare("sgt", top, 0))
                b.store(top - 1, top_at)
                to = b.load(b.at(stack, top - 1), LONG)
                near = b.load(b.at(bounds, top - 1), DOUBLE)
                with b.when(b.compare("olt", near, b.load(best_at, DOUBLE))):
                    inner = b.compare("sge", to, 0)
                    with b.when(inner):
                        b.call(f"{symbol}.bound", p, b.at(b.symbol(nodes), to * (K * SIDE)), four, free)
                        pairs = [(b.load(b.at(four, k), DOUBLE), trees.link(b, links, to * SIDE + k))
                                 for k in range(SIDE)]
                        for bound, branch in reversed(_sorted(b, pairs)):
                            push(bound, branch)
                    with b.otherwise():
                        block = to ^ -1
                        b.call(f"{symbol}.value", p, b.at(b.symbol(items), block * (m * SIDE)), four, free)
                        for k in range(SIDE):
                            value, least = b.load(b.at(four, k), DOUBLE), b.load(best_at, DOUBLE)
                            less = b.compare("olt", value, least)
                            b.store(b.select(less, value, least), best_at)
                            b.store(b.select(less, block * SIDE + k, b.load(where_at, LONG)), where_at)
            where = b.load(where_at, LONG)
            found = b.compare("sge", where, 0)
            place = b.at(b.symbol(rows), b.select(found, where, 0) * n)
            with b.loop(n) as j:
                x = b.load(b.at(place, j), DOUBLE)
                b.store(b.select(found, x, b.number(math.nan, DOUBLE)), b.at(row, j))
        needed = _LINE // 8 + 2 * SIDE + 2 * stacked + work
        return trees.write_lanes(own, symbol, f"{symbol}.one", W, self.needs, n, needed)

    def evaluate(self, p: np.ndarray) -> np.ndarray:
        """Rows (width, states) at p (needs, states), by CasADi's evaluator: among all items."""
        some = p[-1] > -np.inf
        if not some.all():                                  # nothing counts there
            out = np.full((self.width, p.shape[1]), np.nan)
            if some.any():
                out[:, some] = self.evaluate(p[:, some])
            return out
        there = np.flatnonzero(self.tree.order.ravel() >= 0)
        items = self.items.transpose(0, 2, 1).reshape(-1, self.items.shape[1])[there]
        values = trees.evaluated(self.value, p, items)[0]
        lost = ~(values < p[-1][:, None]).any(axis=1)
        best = np.argmin(np.where(np.isnan(values), np.inf, values), axis=1)
        return np.where(lost, np.nan, self.rows[there[best]].T)


def _sorted(b: Builder, pairs: list[tuple[Value, Value]]) -> list[tuple[Value, Value]]:
    """By their first values, the least first."""
    pairs = list(pairs)
    for i, j in _ORDER:
        (x, k), (y, l) = pairs[i], pairs[j]
        right = b.compare("ole", x, y)
        pairs[i] = b.select(right, x, y), b.select(right, k, l)
        pairs[j] = b.select(right, y, x), b.select(right, l, k)
    return pairs
