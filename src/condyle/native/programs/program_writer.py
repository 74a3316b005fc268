"""LLVM IR of a program: one function `i64 program(ptr workspace)` around the kernels.

Everything that lives longer than a basic block is in the workspace: counters of loops, masks, addresses of
streams. So the function can stop at the head of any loop, return 1, and later continue at this point by a
jump; 0 says that it has ended. A loop's head stops when the budget of rounds is used up or when another
thread has set the word `stop`.

Workspace, in words of 8 bytes (element j of lane l of a slice at [j W + l], each slice on a new cache line):

    resume  budget  stop .. | slices | counts, streams (address, rows), counters, masks, scratch | work
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import BOOL, DOUBLE, INT, LONG, POINTER, VOID, Value
from condyle.native.loops.elements import Elementwise
from condyle.native.loops.rolling import roll
from condyle.native.machine.data import DerivedData
from condyle.native.programs.nodes import (
    Call,
    External,
    Get,
    If,
    Ints,
    Kernel,
    LaneStatus,
    Node,
    Put,
    Scan,
    Stream,
    Take,
    While,
    kernel_name,
    walk,
)
from condyle.native.programs.program import BUDGET, HEADER, LINE, RESUME, STOP
from condyle.native.straight.kernel_function import Composite
from condyle.native.straight.kernel_writer import add_kernel, kernel_arguments
from condyle.records import dataclass

# the kernels' scratch memory; its place is known at the end
_WORK = "%work"


@dataclass(frozen=True)
class _Place:
    """The part of the tree for which code is being written: the word that holds the mask, and (counter,
    Scan), the outermost first."""

    mask: int | None = None
    scans: tuple[tuple[int, Scan], ...] = ()


class ProgramWriter:
    """Writes one program. After `write`, `layout` says where everything is."""

    def __init__(
        self,
        sizes: Mapping[str, int],
        streams: Mapping[str, Stream],
        counts: Sequence[str],
        W: int,
        contract: bool,
    ) -> None:
        self.module = Module(W, contract)
        self.module.derived = DerivedData()
        self.lanes, self.W = self.module.lanes, W
        self.sizes, self.streams = sizes, streams
        self.externals: dict[str, External] = {}
        self.symbols: list[str] = []
        self._words = HEADER
        self._slice = {n: self._reserve(s * W, LINE) for n, s in sizes.items()}
        self._reserve(0, LINE)
        self._count = {n: self._reserve(1) for n in counts}
        self._stream = {n: self._reserve(2) for n in streams}
        self._places: dict[int, Value] = {}
        self._known: dict[object, Value] = {}  # values already computed in a basic block
        self._known_in = ""
        # labels of the heads of loops, and of where they stop
        self._loops: list[tuple[str, str]] = []
        self._kernels: dict[int, tuple[tuple[str, bool, bool, int], ca.Function | Composite]] = {}
        self._work, self._calls = 0, 0

    def _reserve(self, words: int, align: int = 1) -> int:
        start = self._words + -self._words % align
        self._words = start + words
        return start

    def layout(self) -> dict[str, Any]:
        """Everything that Python must know to run the code, as JSON values."""
        streams = {
            n: {"size": s.size, "shared": s.shared, "word": self._stream[n]} for n, s in self.streams.items()
        }
        return {
            "W": self.W,
            "sizes": dict(self.sizes),
            "offsets": self._slice,
            "counts": self._count,
            "streams": streams,
            "symbols": self.symbols,
            "words": self._words,
        }

    def write(self, body: Node) -> str:
        self._under_mask = {
            hash(n.f)
            for n, path in walk(body)
            if isinstance(n, Kernel) and any(isinstance(p, (While, If)) for p in path)
        }
        self._in_place = {hash(n.f) for n, _ in walk(body) if isinstance(n, Kernel) and {*n.ins} & {*n.outs}}
        with self.module.function("program", [POINTER], result=LONG, internal=False) as self.b:
            b = self.b
            enter, start = b.label("enter"), b.label("start")
            b.jump(enter)
            b.place(start)
            self._emit(body, _Place())
            b.store(0, self._at(RESUME))
            b.give(b.number(0, LONG))
            for k, (_, stop) in enumerate(self._loops, 1):
                b.place(stop)
                b.store(k, self._at(RESUME))
                b.give(b.number(1, LONG))
            b.place(enter)
            b.switch(
                b.load(self._at(RESUME), LONG), start, {k: head for k, (head, _) in enumerate(self._loops, 1)}
            )
            b.at_entry(b.arguments[0], self._reserve(self._work * self.W, LINE), LONG, name=_WORK)
        return self.module.text()

    # Small pieces

    def _at(self, word: int) -> Value:
        """Address of a word; computed at the entry, so that it is known everywhere."""
        if word not in self._places:
            self._places[word] = self.b.at_entry(self.b.arguments[0], word, LONG)
        return self._places[word]

    def _once(self, key: object, compute: Callable[[], Value]) -> Value:
        """A value that does not change within a basic block."""
        if self._known_in != self.b.block:
            self._known.clear()
            self._known_in = self.b.block
        if key not in self._known:
            self._known[key] = compute()
        return self._known[key]

    def _word(self, word: int, type: str = LONG) -> Value:
        return self._once((word, type), lambda: self.b.load(self._at(word), type))

    def _integer(self, count: int | str) -> Value:
        return self.b.number(count, LONG) if isinstance(count, int) else self._word(self._count[count])

    def _array(self, name: str, place: _Place) -> Value:
        """Address of a slice, or of the current row of a stream."""
        return (
            self._at(self._slice[name])
            if name in self._slice
            else self._once(name, lambda: self._row_of(name, place))
        )

    def _row_of(self, stream: str, place: _Place) -> Value:
        address = self._word(self._stream[stream], POINTER)
        for counter, scan in place.scans:
            if stream in scan.steps:
                rows = self._word(counter) * self._integer(scan.steps[stream])
                address = self.b.at(address, rows * (self.streams[stream].size * self.W))
        return address

    def _bits(self, place: _Place) -> Value:
        """The mask as an i64, bit l for lane l."""
        return self.b.number((1 << self.W) - 1, LONG) if place.mask is None else self._word(place.mask)

    def _mask(self, place: _Place) -> Value:
        b = self.b
        if place.mask is None:
            return b.number(1, self.lanes.B)
        return self._once(
            "mask",
            lambda: b.convert("bitcast", b.convert("trunc", self._bits(place), f"i{self.W}"), self.lanes.B),
        )

    def _within(self, place: _Place, truth: Value) -> Value:
        """The truth value, restricted to the lanes of a place."""
        return truth if place.mask is None else truth & self._mask(place)

    def _under(self, place: _Place, live: Value) -> _Place:
        """The place of a body that runs in some lanes; a scalar program has no mask."""
        if self.W == 1:
            return replace(place, mask=None)
        word = self._reserve(1)
        self.b.store(self.b.convert("zext", self.b.as_bits(live), LONG), self._at(word))
        return replace(place, mask=word)

    def _set_status(self, name: str, where: Value, code: LaneStatus) -> None:
        """Set a status where it is still OK: the first code is kept."""
        b, address = self.b, self._at(self._slice[name])
        old = b.load(address)
        b.store(b.select(where & b.compare("oeq", old, 0.0), float(code), old), address)

    def _head(self) -> str:
        """Write the head of a loop, where the code can stop and be resumed."""
        b = self.b
        head, stop = b.label("head"), b.label("stop")
        self._loops.append((head, stop))
        b.place(head)
        budget, asked = b.load(self._at(BUDGET), LONG), b.load(self._at(STOP), LONG, volatile=True)
        b.require(b.compare("sgt", budget, 0) & b.compare("eq", asked, 0), stop)
        b.store(budget - 1, self._at(BUDGET))
        return head

    # Nodes

    def _emit(self, node: Node, place: _Place) -> None:
        match node:
            case list() | tuple():
                for n in node:
                    self._emit(n, place)
            case Kernel():
                self._kernel(node, place)
            case While():
                self._while(node, place)
            case If():
                self._if(node, place)
            case Scan():
                self._scan(node, place)
            case Get(stream=table, dst=array) | Put(stream=table, src=array):
                self._row(node, table, array, place)
            case Take(stream=stream, dst=dst):
                self.b.call(
                    add_take(self.module),
                    self._word(self._stream[stream], POINTER),
                    self._at(self._slice[dst]),
                    self._bits(place),
                )
            case Call():
                self._call(node, place)

    def _kernel(self, node: Kernel, place: _Place) -> None:
        f, b = node.f, self.b
        ins, outs = ([self._array(n, place) for n in side] for side in (node.ins, node.outs))
        work = Value(b, POINTER, _WORK)
        later: list[tuple[Value, Value, int]] = []  # results in place of arguments: from, to, size
        if isinstance(f, External):
            symbol, masked, blocks = f.symbol, self.W > 1 and f.masked, f.work
            self.externals[symbol] = f
            self.module.declare(symbol, VOID, kernel_arguments(self.module, len(ins) + len(outs), masked))
        else:
            symbol, masked, rolls, blocks = self._compiled(f)
            for k, (name, address) in enumerate(zip(node.outs, outs)):
                if rolls and name in node.ins and isinstance(f, ca.Function):  # one lane only
                    outs[k] = b.at(work, blocks)
                    later.append((outs[k], address, f.numel_out(k)))
                    blocks += f.numel_out(k)
        self._work = max(self._work, blocks)
        b.call(symbol, *ins, *outs, work, *[self._mask(place)] * masked)
        for source, target, size in later:
            b.copy(target, source, 8 * size)

    def _compiled(self, f: ca.Function | Composite) -> tuple[str, bool, bool, int]:
        """Symbol of a kernel, whether it has a mask, whether it is a loop that may write before it has read
        everything, and its blocks of work. A function that is used in several places is compiled once."""
        if hash(f) not in self._kernels:
            symbol, masked, rows = f"program.{len(self._kernels)}.{kernel_name(f)}", False, None
            if isinstance(f, (ca.Function, Elementwise)):
                masked = self.W > 1 and hash(f) in self._under_mask
            if isinstance(f, ca.Function):
                rows = None if self.W > 1 and hash(f) in self._in_place else roll(f)
            work = add_kernel(self.module, f if rows is None else rows, symbol, masked=masked)
            self._kernels[hash(f)] = (symbol, masked, rows is not None, work), f
        return self._kernels[hash(f)][0]

    def _while(self, node: While, place: _Place) -> None:
        b, counter = self.b, self._reserve(1)
        b.store(0, self._at(counter))
        head, done = self._head(), b.label("done")
        flag = b.load(self._at(self._slice[node.flag]))
        nan, live = (self._within(place, b.compare(condition, flag, 0.0)) for condition in ("uno", "one"))
        with b.when(b.any(nan)):
            self._set_status(node.status, nan, LaneStatus.NAN)
        b.require(b.any(live), done)
        k = b.load(self._at(counter), LONG)
        with b.when(b.compare("sge", k, self._integer(node.limit or 0))):
            self._set_status(node.status, live, LaneStatus.LIMIT)
            b.jump(done)
        b.store(k + 1, self._at(counter))
        self._emit(node.body, self._under(place, live))
        b.jump(head)
        b.place(done)

    def _if(self, node: If, place: _Place) -> None:
        b = self.b
        live = self._within(place, b.compare("one", b.load(self._at(self._slice[node.flag])), 0.0))
        with b.when(b.any(live)):
            self._emit(node.body, self._under(place, live))

    def _scan(self, node: Scan, place: _Place) -> None:
        b, counter = self.b, self._reserve(1)
        b.store(0, self._at(counter))
        head, done = self._head(), b.label("done")
        b.require(b.compare("slt", self._word(counter), self._integer(node.count)), done)
        self._emit(node.body, replace(place, scans=(*place.scans, (counter, node))))
        b.store(b.load(self._at(counter), LONG) + 1, self._at(counter))
        b.jump(head)
        b.place(done)

    def _row(self, node: Get | Put, table: str, array: str, place: _Place) -> None:
        size, W, b = self.sizes[array], self.W, self.b
        # from row to row, from number to number, from lane to lane
        strides = size * W, W, 1
        if table in self._slice:
            address, rows = self._at(self._slice[table]), b.number(self.sizes[table] // size, LONG)
        else:
            word = self._stream[table]
            address, rows = self._word(word, POINTER), self._word(word + 1)
            strides = (size, 1, 0) if self.streams[table].shared else strides
        slices = (self._at(self._slice[n]) for n in (node.index, array, node.status))
        which = "get" if isinstance(node, Get) else "put"
        if W == 1:
            b.call(add_row_of_one(self.module, which, size), address, *slices, rows)
            return
        b.call(add_row(self.module, which), address, *slices, rows, self._bits(place), size, *strides)

    def _call(self, node: Call, place: _Place) -> None:
        """A function that calls the symbol for each lane."""
        W, module = self.W, self.module
        self._calls += 1
        name, symbol = f"program.call{self._calls}", f"condyle.{node.symbol}"
        if node.symbol not in self.symbols:
            self.symbols.append(node.symbol)
        with module.function(name, [POINTER, LONG]) as b:
            workspace, mask = b.arguments
            with each_lane(b, mask) as lane:
                pointers: list[Value] = []
                known: dict[str | Ints, Value] = {}
                back: list[tuple[str, list[Value | int]]] = []
                for i, a in enumerate(node.args):
                    if isinstance(a, (int, float, bytes)):
                        kind = (
                            np.int8
                            if isinstance(a, bytes)
                            else np.int32
                            if isinstance(a, int)
                            else np.float64
                        )
                        number = a[0] if isinstance(a, bytes) else a
                        pointers.append(b.symbol(module.table(f"{name}.{i}", np.array([number], kind))))
                        continue
                    if a not in known:
                        whole = isinstance(a, Ints)
                        array = a.slice if isinstance(a, Ints) else a
                        known[a] = b.at(workspace, self._slice[array], LONG)
                        if whole or W > 1:
                            size, plain = (
                                self.sizes[array],
                                b.at(workspace, self._reserve(self.sizes[array]), LONG),
                            )
                            copied: list[Value | int] = [plain, known[a], size, lane]
                            b.call(add_lane_copy(module, "load", whole), *copied)
                            back.append((add_lane_copy(module, "store", whole), copied))
                            known[a] = plain
                    pointers.append(known[a])
                b.outside(symbol, *pointers)
                for copy, copied in back:
                    b.call(copy, *copied)
        self.b.call(name, self.b.arguments[0], self._bits(place))


# Operations that run lane by lane, defined as functions in the modules that need them.


@contextmanager
def each_lane(b: Builder, mask: Value) -> Iterator[Value]:
    """Run the body for each lane whose bit is set in a mask."""
    with b.loop(b.lanes.W) as lane, b.when(b.compare("ne", mask & (b.number(1, LONG) << lane), 0)):
        yield lane


def _row_number(
    b: Builder, index: Value, status: Value, rows: Value, lane: Value | None = None
) -> tuple[Value, Value]:
    """Whether an index is in [0, rows), and the number of the nearest row; sets the status if it is not."""
    x, n = b.load(index, DOUBLE), b.convert("sitofp", rows, DOUBLE)
    inside = b.compare("oge", x, 0.0) & b.compare("olt", x, n)
    with b.when(inside, False):
        place = status if lane is None else b.at(status, lane)
        old = b.load(place, DOUBLE)
        b.store(b.select(b.compare("oeq", old, 0.0), float(LaneStatus.INDEX), old), place)
    edge = b.select(b.compare("oge", x, n), b.convert("sitofp", rows - 1, DOUBLE), 0.0)
    return inside, b.convert("fptosi", b.select(inside, x, edge), LONG)


def add_row(module: Module, which: str) -> str:
    """Define `program.get` or `program.put`, which moves one row of a table for each lane; returns its name.

    An index that is not in [0, rows) never becomes an address.
    """

    def write(name: str) -> None:
        with module.function(name, [*[POINTER] * 4, *[LONG] * 6]) as b:
            table, indices, array, status, rows, mask, size, row, element, side = b.arguments
            if which == "put":
                _put_all(b)
            with each_lane(b, mask) as lane:
                inside, i = _row_number(b, b.at(indices, lane), status, rows, lane)
                base = i * row + lane * side
                with b.when(inside if which == "put" else b.compare("sgt", rows, 0)), b.loop(size) as j:
                    there, here = b.at(table, base + j * element), b.at(array, j * b.lanes.W + lane)
                    source, target = (there, here) if which == "get" else (here, there)
                    b.store(b.load(source, DOUBLE), target)

    return module.define(f"program.{which}", write)


def _put_all(b: Builder) -> None:
    """If all lanes put rows of a shared table: copy one cache line of each lane at a time, then return from
    the function."""
    table, indices, array, _, rows, mask, size, row, _, side = b.arguments
    W = b.lanes.W
    x, n = b.load(indices), b.spread(b.convert("sitofp", rows, DOUBLE))
    inside = b.compare("oge", x, 0.0) & b.compare("olt", x, n)
    full = b.compare("eq", b.convert("zext", b.as_bits(inside), LONG) & mask, (1 << W) - 1)
    with b.when(full & b.compare("eq", side, 0)):
        bases = [
            b.at(table, b.convert("fptosi", b.load(b.at(indices, l), DOUBLE), LONG) * row) for l in range(W)
        ]
        whole = size & -LINE
        with b.loop(whole, LINE) as j:
            for l, base in enumerate(bases):
                for i in range(LINE):
                    b.store(b.load(b.at(array, (j + i) * W + l), DOUBLE), b.at(base, j + i))
        with b.loop(size - whole) as k:
            for l, base in enumerate(bases):
                b.store(b.load(b.at(array, (whole + k) * W + l), DOUBLE), b.at(base, whole + k))
        b.give()


def add_row_of_one(module: Module, which: str, size: int) -> str:
    """The same for one lane and rows of a known size, moved at once."""

    def write(name: str) -> None:
        with module.function(name, [*[POINTER] * 4, LONG]) as b:
            table, index, array, status, rows = b.arguments
            inside, i = _row_number(b, index, status, rows)
            with b.when(inside if which == "put" else b.compare("sgt", rows, 0)):
                there = b.at(table, i * size)
                target, source = (array, there) if which == "get" else (there, array)
                b.outside("llvm.memmove.p0.p0.i64", target, source, 8 * size, b.number(0, BOOL))

    return module.define(f"program.{which}.{size}", write)


def add_take(module: Module) -> str:
    """Define `program.take`: give each lane the next number of a counter in memory that others may share."""

    def write(name: str) -> None:
        with module.function(name, [POINTER, POINTER, LONG]) as b:
            counter, target, mask = b.arguments
            with each_lane(b, mask) as lane:
                b.store(
                    b.put(DOUBLE, f"atomicrmw fadd {counter}, {b.number(1, DOUBLE)} seq_cst"),
                    b.at(target, lane),
                )

    return module.define("program.take", write)


def add_lane_copy(module: Module, which: str, whole: bool) -> str:
    """Define `program.load` or `program.store`: copy one lane of a slice to or from a plain array, perhaps of
    C int."""

    def write(name: str) -> None:
        element, align = (INT, 4) if whole else (DOUBLE, 8)
        with module.function(name, [*[POINTER] * 2, *[LONG] * 2]) as b:
            plain, array, size, lane = b.arguments
            with b.loop(size) as j:
                here, there = b.at(array, j * b.lanes.W + lane), b.at(plain, j, element)
                if which == "load":
                    x = b.load(here, DOUBLE)
                    b.store(b.outside("llvm.fptosi.sat.i32.f64", x, result=INT) if whole else x, there, align)
                else:
                    x = b.load(there, element, align)
                    b.store(b.convert("sitofp", x, DOUBLE) if whole else x, here)

    return module.define(f"program.{which}.{'int' if whole else 'double'}", write)
