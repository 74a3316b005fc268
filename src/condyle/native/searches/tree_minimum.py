"""The item of a tree with the least value, used like a table: `row = look_up(tree_minimum, p)`.

    row = numbers of the item with the least value(p, item)                                              (1)

This is branch and bound, the nearest branch first: a branch is skipped if bound(p, branch), which is at
most the value of every item below it, is not below the least value found so far. Of equal values the first
one found counts. Values not below `most`, the last element of p, are ignored. If no value remains, or if p
is NaN, the row is NaN. States in lanes are searched one after the other, and their rows equal scalar ones
to the last bit. With `together`, items of equal value may be found in a different order.

Derivatives treat the row as constant: the item is data, and expressions of its numbers and p have
derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from condyle.arrays import SX
from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import DOUBLE, LONG, POINTER, Value
from condyle.native.searches.search_tree import (
    SIDE,
    Kernel,
    SearchTree,
    TreeSource,
    add_kernels,
    copy_strided,
    kernel,
)
from condyle.native.straight.kernel_function import identity, sizes
from condyle.records import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class TreeMinimum(TreeSource):
    """See the module's text. Two of equal `text` are the same.

    Args:
        name: for messages and for the order in a stage: an identifier.
        tree: of the items.
        bound: p, numbers of a branch -> at most the values below it.
        value: p, numbers of an item -> one number.
        nodes: numbers of the branches, shape (nodes, numbers, 4); NaN for missing branches.
        items: numbers of the items, shape (blocks, numbers, 4); empty places repeat those of a neighbor.
        rows: the resulting row for each place, shape (4 blocks, width).
        together: four points in lanes are near each other and traverse the tree together.

    p ends with `most`.
    """

    name: str
    tree: SearchTree
    bound: Kernel
    value: Kernel
    nodes: np.ndarray
    items: np.ndarray
    rows: np.ndarray
    together: bool = False

    symbol = "tree_best"

    @staticmethod
    def trace(
        name: str,
        needs: int,
        tree: SearchTree,
        bound: Callable[[SX, SX], SX],
        value: Callable[[SX, SX], SX],
        nodes: np.ndarray,
        items: np.ndarray,
        rows: np.ndarray,
        together: bool = False,
    ) -> TreeMinimum:
        """From Python functions of SX columns, with rows (n, width) of the items; needs: size of p."""
        by_place = np.ascontiguousarray(tree.blocks(rows).transpose(0, 2, 1).reshape(-1, rows.shape[1]))
        return TreeMinimum(
            name,
            tree,
            kernel("bound", needs, nodes.shape[1], bound),
            kernel("value", needs, items.shape[1], value),
            nodes,
            items,
            by_place,
            together,
        )

    @property
    def needs(self) -> int:
        return sizes(self.value)[0][0]

    @property
    def width(self) -> int:
        return self.rows.shape[1]

    def _parts(self) -> tuple[list[str], list[np.ndarray]]:
        return [identity(self.bound), identity(self.value), str(self.together)], [self.rows]

    def n_instructions(self) -> int:
        """Operations of a search over a few nodes."""
        return 8 * self.bound.n_instructions() + 4 * self.value.n_instructions()

    def _write(self, own: Module, symbol: str, W: int) -> int:
        """Write (1). The row after the last one holds NaN, for searches that find no item."""
        n, needs = self.width, self.needs
        rows = own.table(f"{symbol}.rows", np.vstack([self.rows, np.full(n, np.nan)]))
        together = self.together and W == SIDE
        work = (_write_together if together else _write_search)(self, own, f"{symbol}.search")
        with own.function(symbol, [POINTER] * 3, internal=False) as b:
            index, row, rest = b.arguments

            def copy(where: Value, lane: Value | int) -> None:
                place = b.select(b.compare("sge", where, 0), where, len(self.rows))
                copy_strided(b, b.at(b.symbol(rows), place * n), 1, b.at(row, lane), W, n)

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
                        copy(b.lane(found, k), k)
                else:
                    p, free = (index, rest) if W == 1 else (rest, b.at(rest, needs))
                    with b.loop(W) as lane:
                        if W > 1:
                            copy_strided(b, b.at(index, lane), W, p, 1, needs)
                        copy(b.call(f"{symbol}.search", p, free, result=LONG), lane)
        return -(-(needs + work) // W)

    def evaluate(self, p: np.ndarray) -> np.ndarray:
        """Rows (width, states) at p (needs, states), by CasADi's evaluator, which evaluates all items."""
        some = p[-1] > -np.inf
        if not some.all():  # no item is below `most` there
            out = np.full((self.width, p.shape[1]), np.nan)
            if some.any():
                out[:, some] = self.evaluate(p[:, some])
            return out
        there = np.flatnonzero(self.tree.order.ravel() >= 0)
        values = self.evaluate_items(self.value, p)[0]
        lost = ~(values < p[-1][:, None]).any(axis=1)
        best = np.argmin(np.where(np.isnan(values), np.inf, values), axis=1)
        return np.where(lost, np.nan, self.rows[there[best]].T)


# Branch and bound as machine code, for one point and for four at once. Branches still to be searched are on
# a stack, the nearest on top. Four branches are sorted by their keys: the bits of the bound, as an integer
# in the same order as the bounds, with the branch in the last two bits.

_LINE = 64  # bytes of a cache line
_ORDER = ((0, 1), (2, 3), (0, 2), (1, 3), (1, 2))
"""Pairs compared in this order to sort four keys."""
_LEAST, _MOST = -(2**63), 2**63 - 1


def _write_search(best: TreeMinimum, own: Module, name: str) -> int:
    """Define `i64 @name(ptr p, ptr work)`: the place of the best item, or -1; returns doubles of work. It
    evaluates four branches or items at once."""
    (_, K, _), (_, m, _) = best.nodes.shape, best.items.shape
    work = add_kernels(own, name, bound=best.bound, value=best.value)
    nodes, items, links = _tables(best, own, name, best.nodes, best.items)
    stacked = (SIDE - 1) * best.tree.depth + 2 * SIDE
    with own.function(name, [POINTER] * 2, result=LONG) as b:
        p, memory = b.arguments
        four = b.aligned(memory, _LINE)
        keys, stack, free = b.at(four, SIDE), b.at(four, SIDE + stacked), b.at(four, SIDE + 2 * stacked)
        b.store(b.number(_LEAST, LONG), keys)
        b.store(b.number(0, LONG), stack)
        most = b.load(b.at(p, best.needs - 1), DOUBLE)
        one, first = b.convert("zext", b.compare("ogt", most, -math.inf), LONG), _key(b, most)
        with b.repeat():
            top, least, limit, where = (b.carry(x) for x in (one, most, first, b.number(-1, LONG)))
            b.leave_unless(b.compare("sgt", top, 0))
            down = top - 1
            to, key = b.load(b.at(stack, down), LONG), b.load(b.at(keys, down), LONG)
            near, node, leaf, better, after = map(b.label, ("near", "node", "leaf", "better", "after"))
            popped = b.block
            b.branch(b.compare("slt", key & -SIDE, limit), near, after)
            b.place(near)
            b.branch(b.compare("sge", to, 0), node, leaf)

            b.place(node)
            b.call(f"{name}.bound", p, b.at(b.symbol(nodes), to * (K * SIDE)), four, free)
            place = down
            for key in reversed(_sorted(b, _keys(b, b.load(four), b.spread(least)))):
                b.store(key, b.at(keys, place))
                b.store(b.entry(links, to * SIDE + (key & (SIDE - 1)), signed=True), b.at(stack, place))
                place = _behind(b, place, key)
            pushed = b.block
            b.jump(after)

            b.place(leaf)
            block = to ^ -1
            b.call(f"{name}.value", p, b.at(b.symbol(items), block * (m * SIDE)), four, free)
            some = b.any(b.compare("olt", b.load(four), b.spread(least)))
            looked = b.block
            b.branch(some, better, after)

            b.place(better)
            lower, there = least, where
            for k in range(SIDE):
                value = b.load(b.at(four, k), DOUBLE)
                less = b.compare("olt", value, lower)
                lower, there = b.select(less, value, lower), b.select(less, block * SIDE + k, there)
            below, found = _key(b, lower), b.block

            b.place(after)
            ends = popped, looked, pushed, found
            for carried, last in (
                (top, (down, down, place, down)),
                (least, (least, least, least, lower)),
                (limit, (limit, limit, limit, below)),
                (where, (where, where, where, there)),
            ):
                b.hand_on(carried, b.phi(*zip(last, ends, strict=True)))
        b.give(where)
    return _LINE // 8 + SIDE + 2 * stacked + work


def _write_together(best: TreeMinimum, own: Module, name: str) -> int:
    """Define `<4 x i64> @name(ptr p, ptr work)`: the places of the best items of four points, in lanes; -1
    for none. All four points evaluate the same branch or item at once; a branch is skipped if none of them
    can find a better item there."""
    (_, K, _), (_, m, _) = best.nodes.shape, best.items.shape
    work = add_kernels(own, name, 1, bound=best.bound, value=best.value)
    nodes, items, links = _tables(
        best, own, name, *(np.ascontiguousarray(x.transpose(0, 2, 1)) for x in (best.nodes, best.items))
    )
    stacked = (SIDE - 1) * best.tree.depth + 2 * SIDE
    with own.function(name, [POINTER] * 2, result=own.lanes.I) as b:
        p, memory = b.arguments
        I, sixteen = b.lanes.I, b.aligned(memory, _LINE)
        bounds, stack = b.at(sixteen, SIDE * SIDE), b.at(sixteen, (SIDE + stacked) * SIDE)
        free = b.at(stack, stacked + -stacked % 8)
        b.store(b.number(-math.inf), bounds)
        b.store(b.number(0, LONG), stack)
        most = b.load(b.at(p, (best.needs - 1) * SIDE))
        with b.repeat():
            top, least, where = (b.carry(x) for x in (b.number(1, LONG), most, b.number(-1, I)))
            b.leave_unless(b.compare("sgt", top, 0))
            down = top - 1
            to = b.load(b.at(stack, down), LONG)
            some = b.any(b.compare("olt", b.load(b.at(bounds, down * SIDE)), least))
            near, node, leaf, after = map(b.label, ("near", "node", "leaf", "after"))
            popped = b.block
            b.branch(some, near, after)
            b.place(near)
            b.branch(b.compare("sge", to, 0), node, leaf)

            b.place(node)
            each = []
            for k in range(SIDE):
                at = b.at(sixteen, k * SIDE)
                b.call(f"{name}.bound", p, b.at(b.symbol(nodes), (to * SIDE + k) * K), at, free)
                bound = b.load(at)
                each.append(b.select(b.compare("olt", bound, least), bound, b.number(math.inf)))
            place = down
            for key in reversed(_sorted(b, _keys(b, _least_of_each(b, each), b.number(math.inf)))):
                branch = key & (SIDE - 1)
                b.store(b.load(b.at(sixteen, branch * SIDE)), b.at(bounds, place * SIDE))
                b.store(b.entry(links, to * SIDE + branch, signed=True), b.at(stack, place))
                place = _behind(b, place, key)
            pushed = b.block
            b.jump(after)

            b.place(leaf)
            lower, there, block = least, where, to ^ -1
            for k in range(SIDE):
                item = block * SIDE + k
                b.call(f"{name}.value", p, b.at(b.symbol(items), item * m), sixteen, free)
                value = b.load(sixteen)
                less = b.compare("olt", value, lower)
                lower, there = b.select(less, value, lower), b.select(less, b.spread(item), there)
            looked = b.block

            b.place(after)
            ends = popped, pushed, looked
            for carried, last in (
                (top, (down, place, down)),
                (least, (least, least, lower)),
                (where, (where, where, there)),
            ):
                b.hand_on(carried, b.phi(*zip(last, ends, strict=True)))
        b.give(where)
    return _LINE // 8 + (SIDE + stacked) * SIDE + stacked + 8 + work


def _tables(best: TreeMinimum, own: Module, name: str, nodes: np.ndarray, items: np.ndarray) -> list[str]:
    return [
        own.table(f"{name}.{part}", array)
        for part, array in (("nodes", nodes), ("items", items), ("links", best.tree.links.astype(np.int32)))
    ]


def _key(b: Builder, x: Value) -> Value:
    """Doubles as integers in the same order; not for NaN."""
    type = LONG if x.type == DOUBLE else b.lanes.I
    bits = b.convert("bitcast", x, type)
    return bits ^ (b.binary("ashr", bits, b.number(63, type)) & b.number(_MOST, type))


def _keys(b: Builder, bounds: Value, limit: Value) -> list[Value]:
    """Keys of four branches; the highest integer for those whose bound is not below the limit."""
    I = b.lanes.I
    lane = Value(b, I, f"<{', '.join(f'{LONG} {k}' for k in range(SIDE))}>")
    keys = (_key(b, bounds) & b.number(-SIDE, I)) | lane
    keys = b.select(b.compare("olt", bounds, limit), keys, b.number(_MOST, I))
    return [b.lane(keys, k) for k in range(SIDE)]


def _sorted(b: Builder, keys: list[Value]) -> list[Value]:
    """The keys in ascending order."""
    keys = list(keys)
    for i, j in _ORDER:
        less = b.compare("slt", keys[i], keys[j])
        keys[i], keys[j] = b.select(less, keys[i], keys[j]), b.select(less, keys[j], keys[i])
    return keys


def _behind(b: Builder, place: Value, key: Value) -> Value:
    """The next place of a stack; the same place if this key does not count."""
    return place + b.convert("zext", b.compare("ne", key, _MOST), LONG)


def _least_of_each(b: Builder, rows: list[Value]) -> Value:
    """The least lane of row k in lane k."""

    def lower(x: Value, y: Value) -> Value:
        return b.select(b.compare("olt", x, y), x, y)

    first, last = (
        lower(b.shuffle(x, y, (0, 4, 2, 6)), b.shuffle(x, y, (1, 5, 3, 7)))  # lanes 0, 1 and 2, 3
        for x, y in (rows[:2], rows[2:])
    )
    return lower(b.shuffle(first, last, (0, 1, 4, 5)), b.shuffle(first, last, (2, 3, 6, 7)))
