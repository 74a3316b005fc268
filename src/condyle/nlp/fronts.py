"""Symmetric indefinite systems K x = b with known sparsity: multifrontal LDL' (Duff and Reid 1983) as machine
code.

K = L D L' up to order, where D has blocks of one and two rows. The pattern gives a tree of fronts
(`condyle.nlp.front_tree`); each is a small dense matrix F, its lower half by columns of ld rows, whose first p rows are
ready to be eliminated,

    F = [[F_11, F_21'], [F_21, F_22]],   F_22 <- F_22 - L_21 D L_21',   L_21 = F_21 L_11'^-1 D^-1            (1)

and F_22 is added to the parent front. A pivot d of one row is taken if |d| >= u max |column|, one of two
rows, E, if |E^-1| (max |column 1|, max |column 2|)' <= 1 / u. A row without an acceptable pivot is delayed to
the parent front. Rows remaining at the root are zero: K is singular. The signs of D are those of K's
eigenvalues, by Sylvester.

Vectors run along columns: ld is a multiple of the lanes, and eliminated or padding rows are zero.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import DOUBLE, LONG, POINTER, VOID, Value
from condyle.native.machine import cache as disk_cache
from condyle.native.machine import jit
from condyle.native.machine.jit import Library
from condyle.nlp.front_tree import FrontTree

COLUMNS = 4
"""Columns of F22 computed together in (1), by two vectors of rows."""
TABLES = "width", "first", "rows", "place", "children", "entry", "source", "row", "column"
ROOM = "values", "factor", "index", "front", "stack", "waiting", "scaled", "pivots", "blocks", "map", "state"
LIMITS = "factor", "index", "stack", "waiting", "scaled"
STATE = "negative", "zero", "waited", "factor", "index", "stack", "waiting", "blocks", "pivots"
"""State between fronts: negative pivots, rows without pivot, delayed rows; ends of the filled memory."""
_AT = {
    name: k
    for k, name in enumerate((*TABLES, *ROOM, *(f"most {x}" for x in LIMITS), "most negative", "fronts"))
}
DONE, FULL, WRONG = 0, 1, 2
"""Return values of factoring: done, too little memory, too many negative pivots."""


class Factors:
    """L D L' of matrices with the same pattern.

    Args:
        tree: of the pattern.
    """

    def __init__(self, tree: FrontTree) -> None:
        self.tree = tree
        self.negative = self.zero = 0
        size = int(np.diff(tree.first).max(initial=1))
        self._room(1.6, size + size // 2)

    def _room(self, more: float, size: int) -> None:
        """Allocate memory for fronts of this many rows."""
        tree, V = self.tree, jit.register_width()
        self._more, self._size, ld = more, size, size + V
        entries = int(more * (tree.entries + V * tree.width.sum()))
        sizes = {
            "factor": (entries + ld * (size + COLUMNS), float), "index": (int(more * len(tree.rows)) + size, int),
            "front": (5 * len(tree.width), int), "blocks": (4 * len(tree.width), int), "state": (len(STATE), int),
            "stack": (int(more * tree.stack) + ld * ld, float), "waiting": (tree.n, int), "map": (tree.n, int),
            "scaled": (ld * size + tree.n + 2 * V, float), "pivots": (2 * tree.n + 2, float),
        }  # fmt: skip
        self._kept: dict[str, Any] = {name: np.zeros(n, type) for name, (n, type) in sizes.items()}
        numbers = np.zeros(len(_AT), np.int64)
        for name in TABLES:
            numbers[_AT[name]] = getattr(tree, name).ctypes.data
        for name, x in self._kept.items():
            numbers[_AT[name]] = x.ctypes.data
        for name in LIMITS:
            numbers[_AT[f"most {name}"]] = len(self._kept[name])
        numbers[_AT["fronts"]] = len(tree.width)
        self._numbers, self._x = numbers, np.zeros(tree.n)

    def factor(self, values: Array, threshold: float, most: int | None = None) -> bool:
        """Factor the matrix with these entries; False if it has more than `most` negative eigenvalues.

        Args:
            values: in the order in which the tree was given entries.
            threshold: u of pivots.
        """
        values = np.ascontiguousarray(values, float)
        self._numbers[_AT["values"]] = values.ctypes.data
        self._numbers[_AT["most negative"]] = self.tree.n if most is None else most
        tiny = 1e-20 * float(np.abs(values).max(initial=0.0))
        if not np.isfinite(tiny):  # no pivot at all: rows would wait in one front as large as K
            self.negative, self.zero = 0, self.tree.n
            return True
        while (done := _code("factor")(self._numbers.ctypes.data, threshold, tiny)) == FULL:
            self._room(2 * self._more, 2 * self._size)
            self._numbers[_AT["values"]] = values.ctypes.data
            self._numbers[_AT["most negative"]] = self.tree.n if most is None else most
        self.negative, self.zero = self._kept["state"][:2].tolist()
        return bool(done == DONE)

    def solve(self, b: Array) -> Array:
        """x of K x = b."""
        self._x[self.tree.position] = b
        _code("solve")(self._numbers.ctypes.data, self._x.ctypes.data, self._kept["scaled"].ctypes.data)
        return self._x[self.tree.position]


# ---- machine code ------------------------------------------------------------------------------------------


@cache
def _code(name: str) -> Any:
    return _functions()[name]


@cache
def _functions() -> dict[str, Any]:
    key = f"fronts {jit.register_width()}"
    library = disk_cache.loaded(key, lambda code, _: Library(code))
    if library is None:
        code = _written().compile()
        disk_cache.store(key, code, {})
        library = Library(code)
    P, D = ctypes.c_void_p, ctypes.c_double
    kinds = {"factor": ctypes.CFUNCTYPE(ctypes.c_int64, P, D, D), "solve": ctypes.CFUNCTYPE(None, P, P, P)}
    out: dict[str, Any] = {name: kind(library.address(name)) for name, kind in kinds.items()}
    for call in out.values():
        call.library = library
    return out


def _written() -> Module:
    module = Module(jit.register_width())
    _largest(module)
    _exchange(module)
    _pivot(module)
    _eliminate(module, 1)
    _eliminate(module, 2)
    _update(module)
    _assemble(module)
    _front(module)
    for name in ("forward", "backward"):
        _sweep(module, name)
    with module.function("factor", [POINTER, DOUBLE, DOUBLE], result=LONG, internal=False) as b:
        numbers, u, tiny = b.arguments
        count = b.load(b.at(numbers, _AT["fronts"], LONG), LONG)
        state, stop = _pointer(b, numbers, "state"), b.label("stop")
        for k in range(len(STATE)):
            b.store(b.number(0, LONG), b.at(state, k, LONG))
        with b.loop(count) as s:
            code = b.call("front", numbers, s, u, tiny, result=LONG)
            b.require(b.compare("eq", code, DONE), stop)
        b.give(b.number(DONE, LONG))
        b.place(stop)
        b.give(code)
    with module.function("solve", [POINTER] * 3, internal=False) as b:
        numbers, x, y = b.arguments
        count = b.load(b.at(numbers, _AT["fronts"], LONG), LONG)
        with b.loop(count) as s:
            b.call("forward", numbers, s, x, y)
        with b.loop(count) as s:
            b.call("backward", numbers, count - 1 - s, x, y)
    return module


def _number(b: Builder, numbers: Value, name: str) -> Value:
    return b.load(b.at(numbers, _AT[name], LONG), LONG)


def _pointer(b: Builder, numbers: Value, name: str) -> Value:
    return b.load(b.at(numbers, _AT[name], LONG), POINTER)


def _from(b: Builder, i: Value) -> Value:
    """The first row of the vector that holds row i."""
    return b.put(LONG, f"and i64 {i.text}, {-b.lanes.W}")


def _along(b: Builder, first: Value, end: Value, write: Callable[[Value], None]) -> None:
    """write(i) for the vectors of rows from first to end."""
    with b.loop(end - first, b.lanes.W) as k:
        write(first + k)


def _absolute(b: Builder, x: Value) -> Value:
    if x.type == DOUBLE:
        with b.side_by_side(1):
            return b.intrinsic("fabs", x)
    return b.intrinsic("fabs", x)


def _largest(module: Module) -> None:
    """largest(c, first, ld): max |c_i| of a column, from the vector of row `first` on."""
    with module.function("largest", [POINTER, LONG, LONG], result=DOUBLE) as b:
        c, first, ld = b.arguments
        start = _from(b, first)
        with b.loop(ld - start, b.lanes.W) as k:
            most = b.carry(b.number(0.0))
            b.hand_on(most, b.intrinsic("maxnum", most, _absolute(b, b.load(b.at(c, start + k)))))
        found = b.after_loop(most)
        b.give(b.outside(f"llvm.vector.reduce.fmax.{b.lanes.suffix}", found, result=DOUBLE))


def _swap(b: Builder, one: Value, other: Value, type: str | None) -> None:
    x, y = b.load(one, type), b.load(other, type)
    b.store(y, one)
    b.store(x, other)


def _exchange(module: Module) -> None:
    """exchange(F, ld, p, id, i, j): rows and columns i and j of the first p columns change places."""
    with module.function("exchange", [POINTER, LONG, LONG, POINTER, LONG, LONG]) as b:
        F, ld, p, index, i, j = b.arguments
        with b.when(b.compare("ne", i, j)):
            one, other = b.at(F, i * ld), b.at(F, j * ld)
            _along(b, b.number(0, LONG), ld, lambda k: _swap(b, b.at(one, k), b.at(other, k), None))
            with b.loop(p) as k:
                column = b.at(F, k * ld)
                _swap(b, b.at(column, i), b.at(column, j), DOUBLE)
            _swap(b, b.at(index, i, LONG), b.at(index, j, LONG), LONG)


def _pivot(module: Module) -> None:
    """pivot(F, ld, p, e, u, tiny, id): brings a pivot of the rows e to p to row e; its rows, 0, 1 or 2."""
    arguments = [POINTER, LONG, LONG, LONG, DOUBLE, DOUBLE, POINTER]
    with module.function("pivot", arguments, result=LONG) as b:
        F, ld, p, e, u, tiny, index = b.arguments
        zero = b.number(0.0, DOUBLE)

        def double(place: Value) -> Value:
            return b.load(place, DOUBLE)

        with b.loop(p - e) as t:
            j = e + t
            c = b.at(F, j * ld)
            place, following = b.at(c, j), b.label("following")
            d = double(place)
            b.store(zero, place)
            most = b.call("largest", c, e, ld, result=DOUBLE)
            b.store(d, place)
            size = _absolute(b, d)
            one = b.compare("oge", size, u * most) & b.compare("ogt", size, tiny)
            with b.when(one):
                b.call("exchange", F, ld, p, index, e, j)
                b.give(b.number(1, LONG))
            with b.loop(p - e) as i:  # the largest entry with another row that is ready
                best, where = b.carry(b.number(-1.0, DOUBLE)), b.carry(b.number(-1, LONG))
                k = e + i
                x = _absolute(b, double(b.at(c, k)))
                better = b.compare("ogt", x, best) & b.compare("ne", k, j)
                b.hand_on(best, b.select(better, x, best))
                b.hand_on(where, b.select(better, k, where))
            beside, r = b.after_loop(best), b.after_loop(where)
            b.require(b.compare("ogt", beside, tiny) & b.compare("sge", r, 0), following)
            other = b.at(F, r * ld)
            own, shared, mirrored = b.at(other, r), b.at(c, r), b.at(other, j)
            a, f = double(own), double(shared)
            for at in (place, own, shared, mirrored):
                b.store(zero, at)
            mj, mr = (b.call("largest", x, e, ld, result=DOUBLE) for x in (c, other))
            for at, x in ((place, d), (own, a), (shared, f), (mirrored, f)):
                b.store(x, at)
            det = _absolute(b, d * a - f * f)
            sizes = _absolute(b, a), _absolute(b, f)
            good = b.compare("ole", (sizes[0] * mj + sizes[1] * mr) * u, det)
            good = good & b.compare("ole", (sizes[1] * mj + size * mr) * u, det)
            good = good & b.compare("oge", det, f * f * b.number(1e-14, DOUBLE))
            b.require(good, following)
            less = b.compare("slt", j, r)
            b.call("exchange", F, ld, p, index, e, b.select(less, j, r))
            b.call("exchange", F, ld, p, index, e + 1, b.select(less, r, j))
            b.give(b.number(2, LONG))
            b.place(following)
        b.give(b.number(0, LONG))


def _eliminate(module: Module, size: int) -> None:
    """eliminate(F, ld, p, e, scaled, pivots, state): the pivot of rows e (and e + 1), in the columns before p.
    F holds L, and `scaled` D L."""
    with module.function(f"eliminate{size}", [POINTER, LONG, LONG, LONG, POINTER, POINTER, POINTER]) as b:
        F, ld, p, e, scaled, pivots, state = b.arguments
        rows = [e, e + 1][:size]
        c, l = [b.at(F, k * ld) for k in rows], [b.at(scaled, k * ld) for k in rows]
        below = b.at(state, STATE.index("negative"), LONG)

        def entry(i: int, j: int) -> Value:
            return b.load(b.at(c[i], rows[j]), DOUBLE)

        zero, start = b.number(0.0, DOUBLE), _from(b, e)
        if size == 1:
            d = entry(0, 0)
            count = b.convert("zext", b.compare("olt", d, 0.0), LONG)
            inverse = [[b.number(1.0, DOUBLE) / d]]
        else:
            d, f, a = entry(0, 0), entry(0, 1), entry(1, 1)
            det = d * a - f * f
            both = b.select(b.compare("olt", d + a, 0.0), b.number(2, LONG), b.number(0, LONG))
            count = b.select(b.compare("olt", det, 0.0), b.number(1, LONG), both)
            inverse = [[a / det, -f / det], [-f / det, d / det]]
        b.store(b.load(below, LONG) + count, below)
        b.store(inverse[0][0], pivots)
        b.store(inverse[0][1] if size == 2 else zero, b.at(pivots, 1))
        if size == 2:
            b.store(inverse[1][1], b.at(pivots, 2))
            b.store(zero, b.at(pivots, 3))
        wide = [[b.spread(x) for x in row] for row in inverse]

        def scale(i: Value) -> None:
            x = [b.load(b.at(column, i)) for column in c]
            for k in range(size):
                b.store(x[k], b.at(l[k], i))
                y = x[0] * wide[k][0]
                b.store(b.fma(x[1], wide[k][1], y) if size == 2 else y, b.at(c[k], i))

        _along(b, start, ld, scale)
        for column in c:
            for row in rows:
                b.store(zero, b.at(column, row))
        first = e + size
        with b.loop(p - first) as t:
            j = first + t
            column = b.at(F, j * ld)
            x = [b.spread(-b.load(b.at(line, j), DOUBLE)) for line in l]
            for row in rows:
                b.store(zero, b.at(column, row))

            def subtract(i: Value, x: list[Value] = x, column: Value = column) -> None:
                place = b.at(column, i)
                total = b.load(place)
                for k in range(size):
                    total = b.fma(b.load(b.at(c[k], i)), x[k], total)
                b.store(total, place)

            _along(b, start, ld, subtract)


def _update(module: Module) -> None:
    """update(F, ld, p, n, scaled, e): F22 of (1)."""
    W = module.lanes.W
    with module.function("tile_rows", [POINTER, POINTER, POINTER, LONG, LONG]) as b:
        _tile(b, 1)
    with module.function("tiles", [POINTER, POINTER, POINTER, LONG, LONG]) as b:
        _tile(b, 2)
    with module.function("update", [POINTER, LONG, LONG, LONG, POINTER, LONG]) as b:
        F, ld, p, n, scaled, e = b.arguments
        with b.loop(n - p, COLUMNS) as t:
            j = p + t
            start = _from(b, j)
            column, right = b.at(F, j * ld), b.at(scaled, j)
            odd = (ld - start) & W
            with b.when(b.compare("ne", odd, 0)):
                b.call("tile_rows", b.at(column, start), b.at(F, start), right, ld, e)
            first = start + odd
            with b.loop(ld - first, 2 * W) as k:
                i = first + k
                b.call("tiles", b.at(column, i), b.at(F, i), right, ld, e)


def _tile(b: Builder, vectors: int) -> None:
    """tile(target, left, right, ld, e): some vectors of rows of COLUMNS columns, less left right'."""
    target, left, right, ld, e = b.arguments
    W = b.lanes.W
    places = [[b.at(target, ld * c + v * W) for v in range(vectors)] for c in range(COLUMNS)]
    begun = [[b.load(place) for place in row] for row in places]
    with b.loop(e) as k:
        sums = [[b.carry(x) for x in row] for row in begun]
        at = k * ld
        rows = [b.load(b.at(left, at + v * W)) for v in range(vectors)]
        for c in range(COLUMNS):
            factor = b.spread(-b.load(b.at(right, at + c), DOUBLE))
            for v in range(vectors):
                b.hand_on(sums[c][v], b.fma(rows[v], factor, sums[c][v]))
    for row, line in zip(places, sums, strict=True):
        for place, total in zip(row, line, strict=True):
            b.store(b.after_loop(total), place)


def _assemble(module: Module) -> None:
    """assemble(F, ld, n, block, map): adds the lower half of a block of n rows to rows `map`."""
    with module.function("assemble", [POINTER, LONG, LONG, POINTER, POINTER]) as b:
        F, ld, n, block, index = b.arguments
        with b.loop(n) as q:
            target = b.at(F, b.load(b.at(index, q, LONG), LONG) * ld)
            source, map_, count = b.at(block, q * n + q), b.at(index, q, LONG), n - q
            with b.loop(count) as t:
                place = b.at(target, b.load(b.at(map_, t, LONG), LONG))
                b.store(b.load(place, DOUBLE) + b.load(b.at(source, t), DOUBLE), place)


def _front(module: Module) -> None:
    """front(numbers, s, u, tiny): front s, from its entries and the blocks of those below to its own block."""
    W = module.lanes.W
    with module.function("front", [POINTER, LONG, DOUBLE, DOUBLE], result=LONG) as b:
        numbers, s, u, tiny = b.arguments
        table = {name: _pointer(b, numbers, name) for name in (*TABLES, *ROOM)}
        most = {name: _number(b, numbers, f"most {name}") for name in (*LIMITS, "negative")}
        state = {name: b.at(table["state"], k, LONG) for k, name in enumerate(STATE)}

        def number(name: str, i: Value) -> Value:
            return b.load(b.at(table[name], i, LONG), LONG)

        def now(name: str) -> Value:
            return b.load(state[name], LONG)

        full = b.label("full")
        width, first, children = number("width", s), number("first", s), number("children", s)
        own = number("first", s + 1) - first
        block = b.at(table["blocks"], (now("blocks") - children) * 4, LONG)  # of the first front below
        with b.loop(children) as k:
            total = b.carry(b.number(0, LONG))
            b.hand_on(total, total + b.load(b.at(block, k * 4 + 1, LONG), LONG))
        late = b.after_loop(total)
        n, p = late + own, late + width
        ld = _from(b, n + (W - 1))
        at, index_at = now("factor"), now("index")
        b.require(b.compare("sle", at + ld * (n + COLUMNS), most["factor"]), full)
        b.require(b.compare("sle", index_at + n, most["index"]), full)
        b.require(b.compare("sle", ld * p + 2 * W, most["scaled"]), full)
        F, index, scaled = b.at(table["factor"], at), b.at(table["index"], index_at, LONG), table["scaled"]
        with b.loop(n) as j:
            start = _from(b, j)
            b.clear(b.at(F, j * ld + start), (ld - start) * 8)  # type: ignore[arg-type]
        b.copy(b.at(index, late, LONG), b.at(table["rows"], first, LONG), own * 8)  # type: ignore[arg-type]
        begin = number("entry", s)
        with b.loop(number("entry", s + 1) - begin) as t:
            k = begin + t
            place = b.at(F, (number("column", k) + late) * ld + number("row", k) + late)
            x = b.load(b.at(table["values"], number("source", k)), DOUBLE)
            b.store(b.load(place, DOUBLE) + x, place)
        with b.loop(children) as k:
            used = b.carry(b.number(0, LONG))
            one = b.at(block, k * 4, LONG)
            place, waits, rows, relative = (b.load(b.at(one, i, LONG), LONG) for i in range(4))
            with b.loop(waits) as t:
                b.store(used + t, b.at(table["map"], t, LONG))
            with b.loop(rows) as t:
                b.store(number("place", relative + t) + late, b.at(table["map"], waits + t, LONG))
            b.call("assemble", F, ld, waits + rows, b.at(table["stack"], place), table["map"])
            b.hand_on(used, used + waits)
        with b.when(b.compare("sgt", children, 0)):
            before = now("waiting") - late
            b.copy(index, b.at(table["waiting"], before, LONG), late * 8)  # type: ignore[arg-type]
            b.store(before, state["waiting"])
            b.store(b.load(block, LONG), state["stack"])
            b.store(now("blocks") - children, state["blocks"])
        with b.loop(p) as j:  # the upper half of the rows that are ready
            column, count = b.at(F, j * ld), p - j
            with b.loop(count) as t:
                b.store(b.load(b.at(column, j + t), DOUBLE), b.at(F, (j + t) * ld + j))
        pivots = now("pivots")
        with b.repeat():
            e = b.carry(b.number(0, LONG))
            b.leave_unless(b.compare("slt", e, p))
            size = b.call("pivot", F, ld, p, e, u, tiny, index, result=LONG)
            b.leave_unless(b.compare("sgt", size, 0))
            d = b.at(table["pivots"], (pivots + e) * 2)
            with b.when(b.compare("eq", size, 1)):
                b.call("eliminate1", F, ld, p, e, scaled, d, table["state"])
            with b.when(b.compare("eq", size, 2)):
                b.call("eliminate2", F, ld, p, e, scaled, d, table["state"])
            b.hand_on(e, e + size)
        waits, rest = p - e, n - p
        b.store(now("waited") + waits, state["waited"])
        up = b.compare("sgt", rest, 0)
        with b.when(up):
            b.call("update", F, ld, p, n, scaled, e)
            m, stack, waiting = n - e, now("stack"), now("waiting")
            b.require(b.compare("sle", stack + m * m, most["stack"]), full)
            with b.loop(m) as j:
                source = b.at(F, (e + j) * ld + e + j)
                b.copy(b.at(table["stack"], stack + j * m + j), source, (m - j) * 8)  # type: ignore[arg-type]
            b.copy(b.at(table["waiting"], waiting, LONG), b.at(index, e, LONG), waits * 8)  # type: ignore[arg-type]
            blocks = now("blocks")
            mine = b.at(table["blocks"], blocks * 4, LONG)
            for i, x in enumerate((stack, waits, rest, first + width)):
                b.store(x, b.at(mine, i, LONG))
            for name, x in (("blocks", blocks + 1), ("stack", stack + m * m), ("waiting", waiting + waits)):
                b.store(x, state[name])
        with b.otherwise():
            b.store(now("zero") + waits, state["zero"])
        mine = b.at(table["front"], s * 5, LONG)
        for i, x in enumerate((at, index_at, n, e, pivots)):
            b.store(x, b.at(mine, i, LONG))
        for name, x in (("factor", at + ld * e), ("index", index_at + n), ("pivots", pivots + e)):
            b.store(x, state[name])
        wrong = b.compare("sgt", now("negative"), most["negative"])
        b.give(b.select(wrong, b.number(WRONG, LONG), b.number(DONE, LONG)))
        b.place(full)
        b.give(b.number(FULL, LONG))


def _sweep(module: Module, name: str) -> None:
    """forward(numbers, s, x, y): L y = x of front s; backward: D L' x = y."""
    W, forward = module.lanes.W, name == "forward"
    with module.function(name, [POINTER, LONG, POINTER, POINTER], result=VOID) as b:
        numbers, s, x, y = b.arguments
        mine = b.at(_pointer(b, numbers, "front"), s * 5, LONG)
        at, index_at, n, e, pivots = (b.load(b.at(mine, k, LONG), LONG) for k in range(5))
        F, index = (
            b.at(_pointer(b, numbers, "factor"), at),
            b.at(_pointer(b, numbers, "index"), index_at, LONG),
        )
        ld = _from(b, n + (W - 1))
        zero = b.number(0.0, DOUBLE)

        def place(i: Value) -> Value:
            return b.at(x, b.load(b.at(index, i, LONG), LONG))

        with b.loop(n) as i:
            b.store(b.load(place(i), DOUBLE), b.at(y, i))
        with b.loop(ld - n) as i:
            b.store(zero, b.at(y, n + i))
        if forward:
            with b.loop(e) as k:
                column, t = b.at(F, k * ld), b.spread(-b.load(b.at(y, k), DOUBLE))

                def subtract(i: Value, column: Value = column, t: Value = t) -> None:
                    b.store(b.fma(b.load(b.at(column, i)), t, b.load(b.at(y, i))), b.at(y, i))

                _along(b, _from(b, k), ld, subtract)
            with b.loop(n) as i:
                b.store(b.load(b.at(y, i), DOUBLE), place(i))
            return
        D = b.at(_pointer(b, numbers, "pivots"), pivots * 2)
        with b.loop(e) as k:  # blocks of two have three numbers, and the second is not zero
            d = b.at(D, k * 2)
            left, other = b.load(d, DOUBLE), b.load(b.at(d, 1), DOUBLE)
            value, following = b.at(y, k), b.at(y, k + 1)
            p, q = b.load(value, DOUBLE), b.load(following, DOUBLE)
            single = b.compare("oeq", other, 0.0)
            done = b.carry(b.number(0, LONG))  # the second row of a block: nothing more to do
            skip = b.compare("ne", done, 0)
            two = b.load(b.at(d, 2), DOUBLE)
            first = b.select(single, p * left, p * left + q * other)
            b.store(b.select(skip, p, first), value)
            second = b.select(single, q, p * other + q * two)
            b.store(b.select(skip, q, second), following)
            b.hand_on(done, b.convert("zext", b.put("i1", f"xor {b.compare('oeq', other, 0.0)}, true"), LONG))
        with b.loop(e) as t:
            k = e - 1 - t
            column, start = b.at(F, k * ld), _from(b, k)
            with b.loop(ld - start, W) as i:
                total = b.carry(b.number(0.0))
                b.hand_on(total, b.fma(b.load(b.at(column, start + i)), b.load(b.at(y, start + i)), total))
            dot = b.put(DOUBLE, f"call reassoc double @llvm.vector.reduce.fadd.{b.lanes.suffix}(double 0.0, "
                        f"{b.after_loop(total)})")  # fmt: skip
            module.declare(f"llvm.vector.reduce.fadd.{b.lanes.suffix}", DOUBLE, [DOUBLE, b.lanes.T])
            b.store(b.load(b.at(y, k), DOUBLE) - dot, b.at(y, k))
        with b.loop(e) as i:
            b.store(b.load(b.at(y, i), DOUBLE), place(i))
