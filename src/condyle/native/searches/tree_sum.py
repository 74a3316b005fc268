"""A sum over the items of a tree that contribute, used like a table: `row = look_up(tree_sum, p)`.

    row = sum of term(p, item) over all items, without branches where reach(p, branch) <= 0              (1)

`reach` must be positive if a term below the branch is nonzero: then (1) equals the sum over all items, and
its cost grows with the number of items that contribute. Four branches or four items are evaluated at once,
in the lanes of a register; the four sums are added as (0 + 1) + (2 + 3). States in lanes are summed one
after the other, and their rows equal scalar ones to the last bit. If p is NaN, no branch is skipped.

Derivatives treat the row as constant: `look_up_with_slopes` (lookup.py) gives it the derivatives of a
second sum, that of the terms' derivatives, for which the items are data.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.native.ir.module import Module
from condyle.native.ir.values import DOUBLE, LONG, POINTER
from condyle.native.searches.search_tree import (
    SIDE,
    Kernel,
    SearchTree,
    TreeSource,
    add_kernels,
    kernel,
    write_lanes,
)
from condyle.native.straight.kernel_function import identity, sizes
from condyle.native.tables.staged import build_function
from condyle.records import dataclass

_LINE = 64  # bytes of a cache line


@dataclass(frozen=True, eq=False, repr=False)
class TreeSum(TreeSource):
    """See the module's text. Two of equal `text` are the same.

    Args:
        name: for messages and for the order in a stage: an identifier.
        tree: of the items.
        reach: p, numbers of a branch -> one number, and optionally another one that is positive if no item
            below is skipped: `reach` is then not evaluated again below this branch.
        quick: p, numbers of a branch -> the first number of `reach` where it is cheap to find, else
            infinity; or None.
        add: p, numbers of an item, sums (width,) -> sums with its term.
        nodes: numbers of the branches, shape (nodes, numbers, 4).
        items: numbers of the items, shape (blocks, numbers, 4); empty places have the term 0.
    """

    name: str
    tree: SearchTree
    reach: Kernel
    add: Kernel
    nodes: np.ndarray
    items: np.ndarray
    quick: Kernel | None = None

    symbol = "tree_sum"

    @staticmethod
    def trace(
        name: str,
        needs: int,
        tree: SearchTree,
        reach: Callable[[SX, SX], SX],
        term: Callable[[SX, SX], SX],
        nodes: np.ndarray,
        items: np.ndarray,
        quick: Callable[[SX, SX], SX] | None = None,
    ) -> TreeSum:
        """From Python functions of SX columns; needs: size of p."""
        p, c = ca.SX.sym("p", needs), ca.SX.sym("c", items.shape[1])
        one = ca.densify(term(p, c))
        total = ca.SX.sym("total", one.numel())
        add = build_function("add", [p, c, total], [ca.cse(total + one)])
        of_branch = lambda f: kernel("reach", needs, nodes.shape[1], f)
        return TreeSum(name, tree, of_branch(reach), add, nodes, items, quick and of_branch(quick))

    @property
    def needs(self) -> int:
        return sizes(self.add)[0][0]

    @property
    def width(self) -> int:
        return sizes(self.add)[1][0]

    def _parts(self) -> tuple[list[str], list[np.ndarray]]:
        return [identity(f) for f in (self.reach, self.add, self.quick) if f is not None], []

    def n_instructions(self) -> int:
        """Operations of a sum over a few blocks."""
        return 8 * (self.reach.n_instructions() + self.add.n_instructions())

    def _write(self, own: Module, symbol: str, W: int) -> int:
        """(1)"""
        n, (_, K, _), (_, m, _) = self.width, self.nodes.shape, self.items.shape
        work = add_kernels(own, symbol, reach=self.reach, add=self.add, quick=self.quick)
        tells = sizes(self.reach)[1][0] > 1  # reach tells where nothing is skipped
        empty = ~(len(self.tree.order) - 1)
        nodes, items = own.table(f"{symbol}.nodes", self.nodes), own.table(f"{symbol}.items", self.items)
        links = own.table(f"{symbol}.links", self.tree.links.astype(np.int32))
        stacked = (SIDE - 1) * self.tree.depth + SIDE
        with own.function(f"{symbol}.one", [POINTER] * 3) as b:
            p, row, memory = b.arguments
            sums = b.aligned(memory, _LINE)
            reach, stack = b.at(sums, SIDE * n), b.at(sums, SIDE * (n + 2))
            top_at, free = b.at(stack, stacked), b.at(stack, stacked + 8 - stacked % 8)
            for j in range(n):
                b.store(b.number(0.0), b.at(sums, j * SIDE))
            b.store(b.number(0, LONG), stack)
            b.store(b.number(1, LONG), top_at)
            with b.repeat():
                top = b.load(top_at, LONG)
                b.leave_unless(b.compare("sgt", top, 0))
                waits = b.load(b.at(stack, top - 1), LONG)
                b.store(top - 1, top_at)
                node, all_below = waits >> 1, waits & 1
                b.store(b.number(1.0), reach)
                b.store(b.number(1.0), b.at(reach, SIDE))
                with b.when(b.compare("eq", all_below, 0)):
                    at = b.at(b.symbol(nodes), node * (K * SIDE))
                    if self.quick is None:
                        b.call(f"{symbol}.reach", p, at, reach, free)
                    else:
                        b.store(b.number(0.0), b.at(reach, SIDE))
                        b.call(f"{symbol}.quick", p, at, reach, free)
                        with b.when(b.any(b.compare("ueq", b.load(reach), b.number(math.inf)))):
                            b.call(f"{symbol}.reach", p, at, reach, free)
                # NaN visits every branch
                above = (b.compare("ugt", b.load(b.at(reach, k)), 0.0) for k in (0, SIDE))
                some, sure = (b.convert("zext", b.as_bits(truth), LONG) for truth in above)
                for k in range(SIDE):
                    with b.when(b.compare("ne", some & (1 << k), 0)):
                        to = b.entry(links, node * SIDE + k, signed=True)
                        inner = b.compare("sge", to, 0)
                        with b.when(inner):
                            place = b.load(top_at, LONG)
                            b.store((to << 1) | ((sure >> k) & 1) if tells else to << 1, b.at(stack, place))
                            b.store(place + 1, top_at)
                        with b.otherwise(), b.when(b.compare("ne", to, empty)):
                            at = b.at(b.symbol(items), (to ^ -1) * (m * SIDE))
                            b.call(f"{symbol}.add", p, at, sums, sums, free)
            for j in range(n):
                s = [b.load(b.at(sums, j * SIDE + k), DOUBLE) for k in range(SIDE)]
                b.store((s[0] + s[1]) + (s[2] + s[3]), b.at(row, j))
        needed = _LINE // 8 + SIDE * (n + 2) + stacked + 16 + work
        return write_lanes(own, symbol, f"{symbol}.one", W, self.needs, n, needed)

    def evaluate(self, p: np.ndarray) -> np.ndarray:
        """Rows (width, states) at p (needs, states), by CasADi's evaluator, over all items."""
        zero = np.zeros((self.width, p.shape[1] * int((self.tree.order >= 0).sum())))
        return self.evaluate_items(self.add, p, zero).sum(axis=2)
