"""The item of a tree with the least value, in the place of a look-up: `row = get(tree_best, p)`.

    row = numbers of the item that value(p, item) is least of                                             (1)

A branch is left out where bound(p, branch), which is at most the value of every item below it, is not below
the least value so far: branch and bound, the nearest branch first. Of equal values the one that is found
first counts. Values from the last element of p on, `most`, do not count: where there is no other, and where
p is NaN, the row is NaN. States in lanes come one after the other, and equal scalar ones to the last bit; of
those that go through the tree together, where items have equal values, another one may be found.

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

from condyle.native.ir.module import Module
from condyle.native.ir.values import LONG, POINTER, Value
from condyle.native.sweeps import tree as trees
from condyle.native.sweeps.tree import SIDE, Kernel, Tree
from condyle.native.sweeps.tree_search import write_search, write_together
from condyle.records import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class TreeBest:
    """See the module's text. Two of equal `text` are the same.

    Args:
        name: for messages and for the order in a stage: an identifier.
        tree: of the items.
        bound: p, numbers of a branch -> at most the values below it.
        value: p, numbers of an item -> one number.
        nodes: numbers of the branches, shape (nodes, numbers, 4); NaN where there is none.
        items: numbers of the items, shape (blocks, numbers, 4); those at empty places are of a neighbor.
        rows: what comes out, by place, shape (4 blocks, width).
        together: four points in lanes are near each other, and go through the tree together.

    p ends with `most`.
    """

    name: str
    tree: Tree
    bound: Kernel
    value: Kernel
    nodes: np.ndarray
    items: np.ndarray
    rows: np.ndarray
    together: bool = False

    @staticmethod
    def of(
        name: str,
        needs: int,
        tree: Tree,
        bound: Callable[[ca.SX, ca.SX], ca.SX],
        value: Callable[[ca.SX, ca.SX], ca.SX],
        nodes: np.ndarray,
        items: np.ndarray,
        rows: np.ndarray,
        together: bool = False,
    ) -> TreeBest:
        """From Python functions of SX columns, with rows (n, width) of the items; needs: size of p."""
        by_place = np.ascontiguousarray(tree.blocks(rows).transpose(0, 2, 1).reshape(-1, rows.shape[1]))
        return TreeBest(
            name,
            tree,
            trees.kernel("bound", needs, nodes.shape[1], bound),
            trees.kernel("value", needs, items.shape[1], value),
            nodes,
            items,
            by_place,
            together,
        )

    @property
    def needs(self) -> int:
        return trees.sizes(self.value)[0][0]

    @property
    def width(self) -> int:
        return self.rows.shape[1]

    @cached_property
    def text(self) -> str:
        """What determines it, the same in every process."""
        h = hashlib.sha256(
            f"{self.name}\0{trees.text_of(self.bound)}\0{trees.text_of(self.value)}\0{self.together}".encode()
        )
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
        return trees.linked(
            module,
            f"tree_best.{self.name}.{self.text[:16]}",
            self.text,
            lambda own, symbol: self._write(own, symbol, W),
        )

    def _write(self, own: Module, symbol: str, W: int) -> int:
        """(1). The row behind the last is of NaN: that of no item."""
        n, needs = self.width, self.needs
        rows = own.table(f"{symbol}.rows", np.vstack([self.rows, np.full(n, np.nan)]))
        together = self.together and W == SIDE
        work = (write_together if together else write_search)(self, own, f"{symbol}.search")
        with own.function(symbol, [POINTER] * 3, internal=False) as b:
            index, row, rest = b.arguments

            def copy(where: Value, lane: Value | int) -> None:
                place = b.select(b.compare("sge", where, 0), where, len(self.rows))
                trees.copied(b, b.at(b.symbol(rows), place * n), 1, b.at(row, lane), W, n)

            with b.side_by_side(W):
                most = b.load(b.at(index, (needs - 1) * W))
                some = b.any(b.compare("ogt", most, b.number(-math.inf)))
                with b.when(some, holds=False):
                    for j in range(n):
                        b.store(b.number(math.nan), b.at(row, j * W))
            with b.otherwise():
                if together:
                    found = b.call(f"{symbol}.search", index, rest, result=b.lanes.I)
                    for k in range(W):
                        copy(b.put(LONG, f"extractelement {found}, i64 {k}"), k)
                else:
                    p, free = (index, rest) if W == 1 else (rest, b.at(rest, needs))
                    with b.loop(W) as lane:
                        if W > 1:
                            trees.copied(b, b.at(index, lane), W, p, 1, needs)
                        copy(b.call(f"{symbol}.search", p, free, result=LONG), lane)
        return -(-(needs + work) // W)

    def evaluate(self, p: np.ndarray) -> np.ndarray:
        """Rows (width, states) at p (needs, states), by CasADi's evaluator: among all items."""
        some = p[-1] > -np.inf
        if not some.all():  # nothing counts there
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
