"""Items in a tree with four branches per node, for sums over the items that contribute (tree_sum.py) and
searches for the item with the least value (tree_minimum.py).

Four items side by side are a block. The four branches of a node are nodes or blocks. Kernels over four
lanes evaluate a node or a block at once. Numbers of nodes and blocks are tables, [row][number][branch], so
that the machine code does not depend on how many items there are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property
from typing import ClassVar

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import DOUBLE, POINTER, Value
from condyle.native.straight.kernel_function import evaluate
from condyle.native.straight.kernel_writer import add_kernel
from condyle.native.tables.linked import LinkedSource, link_source
from condyle.native.tables.staged import Staged, build_function
from condyle.records import dataclass

SIDE = 4
"""Number of items of a block, branches of a node, and lanes of the kernels."""


@dataclass(frozen=True, eq=False)
class SearchTree:
    """See the module's text.

    Attributes:
        order: the item at each place of a block, shape (blocks, 4); -1 at empty places.
        links: branches of the nodes, shape (nodes, 4): a node, or ~block; the last block is empty.
        below: items below each branch, by node.
    """

    order: np.ndarray
    links: np.ndarray
    below: tuple[tuple[np.ndarray, ...], ...]

    @staticmethod
    def from_points(points: np.ndarray) -> SearchTree:
        """A tree of items at points, shape (n, 3). Each node halves its items along the longest side,
        twice."""
        blocks: list[np.ndarray] = []
        links: list[list[int]] = []
        below: list[tuple[np.ndarray, ...]] = []

        def add(items: np.ndarray) -> int:
            if len(items) <= SIDE:
                blocks.append(items)
                return ~(len(blocks) - 1)
            branches = [
                quarter
                for half in _halved(points, items)
                for quarter in _halved(points, half)
                if len(quarter)
            ]
            k = len(links)
            links.append([])
            below.append(tuple(branches))
            links[k] = [add(branch) for branch in branches]
            return k

        if add(np.arange(len(points))) < 0:  # one block: a node above it
            links.append([~0])
            below.append((blocks[0],))
        order = np.full((len(blocks) + 1, SIDE), -1)
        for k, items in enumerate(blocks):
            order[k, : len(items)] = items
        table = np.full((len(links), SIDE), ~len(blocks))
        for k, row in enumerate(links):
            table[k, : len(row)] = row
        return SearchTree(order, table, tuple(below))

    @property
    def depth(self) -> int:
        """Number of nodes on the longest path from the root to a leaf."""
        levels = np.zeros(len(self.links), dtype=int)
        for k in range(len(self.links) - 1, -1, -1):  # nodes come before those below them
            inner = [link for link in self.links[k] if link > k]
            levels[k] = 1 + max((levels[link] for link in inner), default=0)
        return int(levels[0])

    def nodes(self, of: Callable[[np.ndarray], np.ndarray], none: np.ndarray) -> np.ndarray:
        """Numbers of the items below each branch, shape (nodes, numbers, 4); `none` for missing
        branches."""
        return self.by_branch(np.array([of(items) for branches in self.below for items in branches]), none)

    def branches(self) -> tuple[np.ndarray, np.ndarray]:
        """Items below all branches, one branch after the other, and where the items of each branch begin."""
        each = [items for branches in self.below for items in branches]
        return np.concatenate(each), np.cumsum([0, *map(len, each[:-1])])

    def by_branch(self, numbers: np.ndarray, none: np.ndarray) -> np.ndarray:
        """The same as `nodes`, from numbers in the order of `branches`, shape (branches, numbers)."""
        out = np.repeat(np.repeat(np.asarray(none, dtype=float)[None, :, None], len(self.links), 0), SIDE, 2)
        counts = [len(branches) for branches in self.below]
        node = np.repeat(np.arange(len(counts)), counts)
        out[node, :, np.arange(len(node)) - np.repeat(np.cumsum([0, *counts[:-1]]), counts)] = numbers
        return out

    def blocks(self, items: np.ndarray, none: np.ndarray | None = None) -> np.ndarray:
        """Numbers of the items, (n, numbers), by place, shape (blocks, numbers, 4); empty places get
        `none`, or the numbers of a neighbor."""
        places = self.order.copy()
        if none is None:
            places = np.where(places < 0, np.maximum(places[:, :1], 0), places)
        found = items[np.maximum(places, 0)]
        if none is not None:
            found[places < 0] = none
        return np.ascontiguousarray(found.transpose(0, 2, 1))


def _halved(points: np.ndarray, items: np.ndarray) -> list[np.ndarray]:
    """Two halves along the longest side; the first consists of full blocks."""
    if len(items) <= SIDE:
        return [items]
    p = points[items]
    axis = int(np.argmax(np.ptp(p, axis=0)))
    middle = -(-len(items) // (2 * SIDE)) * SIDE
    sorted_ = items[np.argsort(p[:, axis], kind="stable")]
    return [sorted_[:middle], sorted_[middle:]]


Kernel = ca.Function | Staged


def kernel(name: str, needs: int, numbers: int, f: Callable[[SX, SX], SX]) -> Kernel:
    """f(p, numbers of a branch or an item) as a kernel."""
    p, c = ca.SX.sym("p", needs), ca.SX.sym("c", numbers)
    return build_function(name, [p, c], [ca.cse(ca.densify(f(p, c)))])


class TreeSource(LinkedSource):
    """Base class of sums and searches: the tree, with numbers of its nodes, shape (nodes, numbers, 4), and
    of its items, shape (blocks, numbers, 4). Machine code evaluates four of them at once, in lanes of its
    own."""

    name: str
    tree: SearchTree
    nodes: np.ndarray
    items: np.ndarray
    symbol: ClassVar[str]

    def _parts(self) -> tuple[list[str], list[np.ndarray]]:
        """Texts and arrays that determine the source, besides those of the tree."""
        raise NotImplementedError

    @cached_property
    def text(self) -> str:
        """Text that determines the source, the same in every process."""
        texts, arrays = self._parts()
        h = hashlib.sha256("\0".join([self.name, *texts]).encode())
        for array in (self.tree.links, self.nodes, self.items, *arrays):
            h.update(repr(array.shape).encode() + array.tobytes())
        return h.hexdigest()

    def emit(self, module: Module) -> str:
        """Link `void @symbol(ptr p, ptr row, ptr work)`, once to a module; returns the symbol."""
        W = module.lanes.W
        name = f"{self.symbol}.{self.name}.{self.text[:16]}"
        return link_source(module, name, self.text, lambda own, symbol: self._write(own, symbol, W), SIDE)

    def _write(self, own: Module, symbol: str, W: int) -> int:
        raise NotImplementedError

    def evaluate_items(self, f: Kernel, p: np.ndarray, *more: np.ndarray) -> np.ndarray:
        """A kernel at all states (needs, states) and items, shape (outputs, states, items), by CasADi's
        evaluator. `more` are its other inputs."""
        items = self.items.transpose(0, 2, 1)[self.tree.order >= 0]
        states, n = p.shape[1], len(items)
        y = evaluate(f, np.repeat(p, n, axis=1), np.tile(items.T, states), *more)[0]
        return np.asarray(y).reshape(-1, states, n)


def add_kernels(own: Module, symbol: str, uniform: int = 0, **kernels: Kernel | None) -> int:
    """Define kernels `@symbol.name` with one input that is the same in all lanes; returns the largest
    number of doubles of work that one of them needs."""
    return SIDE * max(
        add_kernel(own, f, f"{symbol}.{name}", uniform=(uniform,))
        for name, f in kernels.items()
        if f is not None
    )


def copy_strided(b: Builder, source: Value, step: int, target: Value, by: int, count: int) -> None:
    """Copy doubles that are `step` apart to places that are `by` apart."""
    for j in range(count):
        b.store(b.load(b.at(source, j * step), DOUBLE), b.at(target, j * by))


def write_lanes(own: Module, symbol: str, one: str, W: int, needs: int, width: int, work: int) -> int:
    """Define @symbol for W lanes: the function @one of a state, lane by lane; returns blocks of W doubles."""
    with own.function(symbol, [POINTER] * 3, internal=False) as b:
        index, row, rest = b.arguments
        if W == 1:
            b.call(one, index, row, rest)
            return work
        p, y, free = rest, b.at(rest, needs), b.at(rest, needs + width)
        with b.loop(W) as lane:
            with b.loop(needs) as j:
                b.store(b.load(b.at(index, j * W + lane), DOUBLE), b.at(p, j))
            b.call(one, p, y, free)
            with b.loop(width) as j:
                b.store(b.load(b.at(y, j), DOUBLE), b.at(row, j * W + lane))
    return -(-(needs + width + work) // W)
