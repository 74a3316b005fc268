"""Branch and bound in a tree of four branches, as machine code: the searches of tree_best.py, for one point
and for four at once.

Branches that wait are in a stack, the nearest on top. The order of four is that of their keys: the bits of a
bound, as an integer in the order of the numbers, with the branch in the last two bits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import DOUBLE, LONG, POINTER, Value
from condyle.native.sweeps import tree as trees
from condyle.native.sweeps.tree import SIDE

if TYPE_CHECKING:
    from condyle.native.sweeps.tree_best import TreeBest

_LINE = 64  # bytes that memory moves at once
_ORDER = ((0, 1), (2, 3), (0, 2), (1, 3), (1, 2))
"""Pairs that are put in order one after the other to sort four."""
_LEAST, _MOST = -(2**63), 2**63 - 1


def write_search(best: TreeBest, own: Module, name: str) -> int:
    """Define `i64 @name(ptr p, ptr work)`: the place of the best item, or -1; returns doubles of work. Four
    branches or items are looked at at once."""
    (_, K, _), (_, m, _) = best.nodes.shape, best.items.shape
    work = SIDE * max(
        trees.add(own, f, f"{name}.{part}") for part, f in (("bound", best.bound), ("value", best.value))
    )
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
                b.store(trees.link(b, links, to * SIDE + (key & (SIDE - 1))), b.at(stack, place))
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


def write_together(best: TreeBest, own: Module, name: str) -> int:
    """Define `<4 x i64> @name(ptr p, ptr work)`: the places of the best items of four points, in lanes; -1
    where there is none. One branch or item is looked at by all of them at once, and a branch is left out
    where none of them may find a better item."""
    (_, K, _), (_, m, _) = best.nodes.shape, best.items.shape
    work = SIDE * max(
        trees.add(own, f, f"{name}.{part}", uniform=1)
        for part, f in (("bound", best.bound), ("value", best.value))
    )
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
                b.store(trees.link(b, links, to * SIDE + branch), b.at(stack, place))
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
                lower, there = b.select(less, value, lower), b.select(less, _everywhere(b, item), there)
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


def _tables(best: TreeBest, own: Module, name: str, nodes: np.ndarray, items: np.ndarray) -> list[str]:
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
    """Of four branches; the highest where the bound is not below the limit."""
    I = b.lanes.I
    lane = Value(b, I, f"<{', '.join(f'{LONG} {k}' for k in range(SIDE))}>")
    keys = (_key(b, bounds) & b.number(-SIDE, I)) | lane
    keys = b.select(b.compare("olt", bounds, limit), keys, b.number(_MOST, I))
    return [b.put(LONG, f"extractelement {keys}, i64 {k}") for k in range(SIDE)]


def _sorted(b: Builder, keys: list[Value]) -> list[Value]:
    """The least first."""
    keys = list(keys)
    for i, j in _ORDER:
        less = b.compare("slt", keys[i], keys[j])
        keys[i], keys[j] = b.select(less, keys[i], keys[j]), b.select(less, keys[j], keys[i])
    return keys


def _behind(b: Builder, place: Value, key: Value) -> Value:
    """The next place of a stack, if this key counts."""
    return place + b.convert("zext", b.compare("ne", key, _MOST), LONG)


def _everywhere(b: Builder, x: Value) -> Value:
    """An integer in every lane."""
    I = b.lanes.I
    first = b.put(I, f"insertelement {I} poison, {x}, i64 0")
    return b.put(I, f"shufflevector {first}, {I} poison, <{SIDE} x i32> zeroinitializer")


def _least_of_each(b: Builder, rows: list[Value]) -> Value:
    """The least lane of row k in lane k."""

    def shuffled(x: Value, y: Value, *lanes: int) -> Value:
        which = ", ".join(f"i32 {k}" for k in lanes)
        return b.put(x.type, f"shufflevector {x}, {y}, <{SIDE} x i32> <{which}>")

    def lower(x: Value, y: Value) -> Value:
        return b.select(b.compare("olt", x, y), x, y)

    first, last = (
        lower(shuffled(x, y, 0, 4, 2, 6), shuffled(x, y, 1, 5, 3, 7))  # lanes 0, 1 and 2, 3
        for x, y in (rows[:2], rows[2:])
    )
    return lower(shuffled(first, last, 0, 1, 4, 5), shuffled(first, last, 2, 3, 6, 7))
