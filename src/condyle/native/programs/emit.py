"""LLVM IR of a program: one function `i64 program(ptr workspace)` around the kernels.

Everything that lives longer than a basic block is in the workspace: counters of loops, masks, addresses of streams. So
the function can stop at the head of any loop, return 1, and later be entered there again by a jump; 0 says that it has
ended. A loop's head stops when the budget of rounds is used up or when another thread has set the word `stop`.

Workspace, in words of 8 bytes (element j of lane l of a slice at [j W + l], each slice on a new cache line):

    resume  budget  stop .. | slices | counts, streams (address, rows), counters, masks, scratch of Calls | work
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from condyle.native.programs.nodes import (
    Call,
    External,
    Get,
    If,
    Ints,
    Kernel,
    Node,
    Put,
    Ruled,
    Scan,
    Status,
    Stream,
    Take,
    While,
    kernel_name,
    walk,
)
from condyle.native.straight.composite import Composite
from condyle.native.straight.emit import Module, constant
from condyle.native.sweeps.rolled import rolled

RESUME, BUDGET, STOP, HEADER, LINE = 0, 1, 2, 8, 8


@dataclass(frozen=True)
class Place:
    """Where in the tree code is being written: the word that holds the mask, and (counter, Scan) from outermost on."""

    mask: int | None = None
    scans: tuple[tuple[int, Scan], ...] = ()


class Writer:
    """Writes one program. After `write`, `layout` says where everything is."""

    def __init__(self, sizes: Mapping[str, int], streams: Mapping[str, Stream], counts: Sequence[str], W: int,
                 contract: bool) -> None:
        self.module = Module(W, contract)
        self.lanes, self.W = self.module.lanes, W
        self.sizes, self.streams = sizes, streams
        self.externals: dict[str, External] = {}
        self.symbols: list[str] = []
        self._words = HEADER
        self._slice = {n: self._reserve(s * W, LINE) for n, s in sizes.items()}
        self._reserve(0, LINE)
        self._count = {n: self._reserve(1) for n in counts}
        self._stream = {n: self._reserve(2) for n in streams}
        self._entry: list[str] = []
        self._lines: list[str] = []
        self._pointers: dict[int, str] = {}
        self._known: dict[object, str] = {}                 # values already computed in this basic block
        self._resume: list[str] = []                        # labels of the heads of loops
        self._kernels: dict[int, tuple[tuple[str, bool, bool, int], ca.Function | Composite]] = {}
        self._helpers: set[str] = set()
        self._work, self._number = 0, 0

    def _reserve(self, words: int, align: int = 1) -> int:
        start = self._words + -self._words % align
        self._words = start + words
        return start

    def layout(self) -> dict[str, Any]:
        """All that Python must know to run the code; JSON can hold it."""
        streams = {n: {"size": s.size, "shared": s.shared, "word": self._stream[n]} for n, s in self.streams.items()}
        return {"W": self.W, "sizes": dict(self.sizes), "offsets": self._slice, "counts": self._count,
                "streams": streams, "symbols": self.symbols, "words": self._words}

    def write(self, body: Node) -> str:
        self._under_mask = {hash(n.f) for n, path in walk(body)
                            if isinstance(n, Kernel) and any(isinstance(p, (While, If)) for p in path)}
        self._in_place = {hash(n.f) for n, _ in walk(body) if isinstance(n, Kernel) and {*n.ins} & {*n.outs}}
        self._emit(body, Place())
        work = self._reserve(self._work * self.W, LINE)
        cases = " ".join(f"i64 {k}, label %{label}" for k, label in enumerate(self._resume, 1))
        yields = [line for k, label in enumerate(self._resume, 1)
                  for line in (f"yield.{label}:", f"store i64 {k}, ptr {self._at(RESUME)}", "ret i64 1")]
        end = [f"store i64 0, ptr {self._at(RESUME)}", "ret i64 0"]
        start = [f"%resume = load i64, ptr {self._at(RESUME)}", f"switch i64 %resume, label %start [ {cases} ]"]
        entry = ["entry:", self._pointer("%work", work), *self._entry, *start]
        body = [*entry, "start:", *self._lines, *end, *yields]
        self.module.add("\n".join(["define i64 @program(ptr %ws) {", *body, "}"]))
        return self.module.text()

    # Small pieces

    def _pointer(self, name: str, word: int) -> str:
        return f"{name} = getelementptr i64, ptr %ws, i64 {word}"

    def _at(self, word: int) -> str:
        """Address of a word; computed at the entry, so that it is known everywhere."""
        if word not in self._pointers:
            self._pointers[word] = f"%w{word}"
            self._entry.append(self._pointer(f"%w{word}", word))
        return self._pointers[word]

    def _put(self, text: str) -> str:
        self._number += 1
        self._lines.append(f"%c{self._number} = {text}")
        return f"%c{self._number}"

    def _do(self, *lines: str) -> None:
        self._lines += lines

    def _labels(self, *names: str) -> list[str]:
        self._number += 1
        return [f"{n}{self._number}" for n in names]

    def _block(self, label: str) -> None:
        self._lines.append(f"{label}:")
        self._known.clear()

    def _load_once(self, word: int, type: str = "i64") -> str:
        """A word that does not change within a basic block."""
        if (word, type) not in self._known:
            self._known[word, type] = self._put(f"load {type}, ptr {self._at(word)}")
        return self._known[word, type]

    def _integer(self, count: int | str) -> str:
        return str(count) if isinstance(count, int) else self._load_once(self._count[count])

    def _array(self, name: str, place: Place) -> str:
        """Address of a slice, or of the row at which a stream stands."""
        if name in self._slice:
            return self._at(self._slice[name])
        if name not in self._known:
            address = self._load_once(self._stream[name], "ptr")
            for counter, scan in place.scans:
                if name in scan.steps:
                    rows = self._put(f"mul i64 {self._load_once(counter)}, {self._integer(scan.steps[name])}")
                    offset = self._put(f"mul i64 {rows}, {self.streams[name].size * self.W}")
                    address = self._put(f"getelementptr double, ptr {address}, i64 {offset}")
            self._known[name] = address
        return self._known[name]

    def _mask(self, place: Place) -> str:
        if place.mask is None:
            return self.lanes.true()
        if "mask" not in self._known:
            bits = self._bits(place)
            narrow = self._put(f"trunc i64 {bits} to i{self.W}")
            self._known["mask"] = self._put(f"bitcast i{self.W} {narrow} to {self.lanes.B}")
        return self._known["mask"]

    def _bits(self, place: Place) -> str:
        """The mask as an i64, bit l for lane l."""
        return str((1 << self.W) - 1) if place.mask is None else self._load_once(place.mask)

    def _both(self, a: str, place: Place) -> str:
        return a if place.mask is None else self._put(f"and {self.lanes.B} {a}, {self._mask(place)}")

    def _any(self, b: str) -> str:
        if self.W == 1:
            return b
        return self._put(f"icmp ne i{self.W} {self._put(f'bitcast {self.lanes.B} {b} to i{self.W}')}, 0")

    def _store_mask(self, b: str) -> int | None:
        """Keep the mask of a body in a word of its own; a scalar program has none."""
        if self.W == 1:
            return None
        word = self._reserve(1)
        bits = self._put(f"zext i{self.W} {self._put(f'bitcast {self.lanes.B} {b} to i{self.W}')} to i64")
        self._do(f"store i64 {bits}, ptr {self._at(word)}")
        return word

    def _set_status(self, name: str, where: str, code: Status) -> None:
        """The first code stays."""
        L, address = self.lanes, self._at(self._slice[name])
        old = self._put(f"load {L.T}, ptr {address}, align 8")
        fresh = self._put(f"and {L.B} {where}, {self._put(f'fcmp oeq {L.T} {old}, {L.number(0)}')}")
        new = self._put(f"select {L.B} {fresh}, {L.T} {L.number(code)}, {L.T} {old}")
        self._do(f"store {L.T} {new}, ptr {address}, align 8")

    def _head(self, name: str) -> None:
        """Head of a loop: a place to stop and to come back to."""
        head, test = self._labels(f"{name}.head", f"{name}.test")
        self._resume.append(head)
        self._do(f"br label %{head}")
        self._block(head)
        budget = self._put(f"load i64, ptr {self._at(BUDGET)}")
        stop = self._put(f"load volatile i64, ptr {self._at(STOP)}")
        left, free = self._put(f"icmp sgt i64 {budget}, 0"), self._put(f"icmp eq i64 {stop}, 0")
        self._do(f"br i1 {self._put(f'and i1 {left}, {free}')}, label %{test}, label %yield.{head}")
        self._block(test)
        self._do(f"store i64 {self._put(f'sub i64 {budget}, 1')}, ptr {self._at(BUDGET)}")
        self._loop = head

    # Nodes

    def _emit(self, node: Node, place: Place) -> None:
        match node:
            case list() | tuple():
                for n in node:
                    self._emit(n, place)
            case Ruled(body=body):
                self._emit(body, place)
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
                self._helper("take", _take_function(self.W))
                self._do(f"call void @program.take(ptr {self._load_once(self._stream[stream], 'ptr')}, "
                         f"ptr {self._at(self._slice[dst])}, i64 {self._bits(place)})")
            case Call():
                self._call(node, place)

    def _kernel(self, node: Kernel, place: Place) -> None:
        f = node.f
        ins, outs = ([self._array(n, place) for n in side] for side in (node.ins, node.outs))
        later: list[tuple[str, str, int]] = []              # results in place of arguments: from, to, size
        if isinstance(f, External):
            symbol, masked = f.symbol, self.W > 1 and f.masked
            self.externals[symbol] = f
            self._work = max(self._work, f.work)
            types = ", ".join(["ptr"] * (len(ins) + len(outs) + 1) + [self.lanes.B] * masked)
            self.module.declare(symbol, f"void @{symbol}({types})")
        else:
            symbol, masked, rolls, work = self._compiled(f)
            for k, address in enumerate(outs):
                if rolls and address in ins and isinstance(f, ca.Function):     # one lane only
                    outs[k] = self._put(f"getelementptr double, ptr %work, i64 {work}")
                    later.append((outs[k], address, f.numel_out(k)))
                    work += f.numel_out(k)
            self._work = max(self._work, work)
        arguments = [f"ptr {x}" for x in (*ins, *outs, "%work")]
        arguments += [f"{self.lanes.B} {self._mask(place)}"] if masked else []
        self._do(f"call void @{symbol}({', '.join(arguments)})")
        for source, target, size in later:
            self.module.declare("llvm.memcpy", "void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
            self._do(f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {8 * size}, i1 false)")

    def _compiled(self, f: ca.Function | Composite) -> tuple[str, bool, bool, int]:
        """Symbol, whether it has a mask, whether it is a loop that does not read everything before it writes, and its
        blocks of work. The same function, wherever it is used, is compiled once."""
        if hash(f) not in self._kernels:
            symbol, masked, rows = f"program.{len(self._kernels)}.{kernel_name(f)}", False, None
            if isinstance(f, ca.Function):
                masked = self.W > 1 and hash(f) in self._under_mask
                rows = None if self.W > 1 and hash(f) in self._in_place else rolled(f)
            if not isinstance(f, ca.Function):
                work = f.emit(self.module, symbol)
            elif rows is None:
                work = self.module.add_kernel(f, symbol, masked=masked)
            else:
                work = rows.emit(self.module, symbol, masked)
            self._kernels[hash(f)] = (symbol, masked, rows is not None, work), f
        return self._kernels[hash(f)][0]

    def _while(self, node: While, place: Place) -> None:
        L, counter = self.lanes, self._reserve(1)
        bad, good, more, late, body, done = self._labels("nan", "valid", "more", "late", "body", "done")
        self._do(f"store i64 0, ptr {self._at(counter)}")
        self._head("while")
        head = self._loop
        flag = self._put(f"load {L.T}, ptr {self._at(self._slice[node.flag])}, align 8")
        nan = self._both(self._put(f"fcmp uno {L.T} {flag}, {L.number(0)}"), place)
        live = self._both(self._put(f"fcmp one {L.T} {flag}, {L.number(0)}"), place)
        self._do(f"br i1 {self._any(nan)}, label %{bad}, label %{good}")
        self._block(bad)
        self._set_status(node.status, nan, Status.NAN)
        self._do(f"br label %{good}")
        self._block(good)
        self._do(f"br i1 {self._any(live)}, label %{more}, label %{done}")
        self._block(more)
        k = self._put(f"load i64, ptr {self._at(counter)}")
        over = self._put(f"icmp sge i64 {k}, {self._integer(node.limit or 0)}")
        self._do(f"br i1 {over}, label %{late}, label %{body}")
        self._block(late)
        self._set_status(node.status, live, Status.LIMIT)
        self._do(f"br label %{done}")
        self._block(body)
        self._do(f"store i64 {self._put(f'add i64 {k}, 1')}, ptr {self._at(counter)}")
        self._emit(node.body, replace(place, mask=self._store_mask(live)))
        self._do(f"br label %{head}")
        self._block(done)

    def _if(self, node: If, place: Place) -> None:
        L = self.lanes
        body, done = self._labels("then", "endif")
        flag = self._put(f"load {L.T}, ptr {self._at(self._slice[node.flag])}, align 8")
        live = self._both(self._put(f"fcmp one {L.T} {flag}, {L.number(0)}"), place)
        self._do(f"br i1 {self._any(live)}, label %{body}, label %{done}")
        self._block(body)
        self._emit(node.body, replace(place, mask=self._store_mask(live)))
        self._do(f"br label %{done}")
        self._block(done)

    def _scan(self, node: Scan, place: Place) -> None:
        counter = self._reserve(1)
        body, done = self._labels("round", "end")
        self._do(f"store i64 0, ptr {self._at(counter)}")
        self._head("scan")
        head = self._loop
        more = self._put(f"icmp slt i64 {self._load_once(counter)}, {self._integer(node.count)}")
        self._do(f"br i1 {more}, label %{body}, label %{done}")
        self._block(body)
        self._emit(node.body, replace(place, scans=(*place.scans, (counter, node))))
        k = self._put(f"load i64, ptr {self._at(counter)}")
        self._do(f"store i64 {self._put(f'add i64 {k}, 1')}, ptr {self._at(counter)}", f"br label %{head}")
        self._block(done)

    def _row(self, node: Get | Put, table: str, array: str, place: Place) -> None:
        size, W = self.sizes[array], self.W
        if table in self._slice:
            address, rows, strides = self._at(self._slice[table]), str(self.sizes[table] // size), (size * W, W, 1)
        else:
            word, shared = self._stream[table], self.streams[table].shared
            address, rows = self._load_once(word, "ptr"), self._load_once(word + 1)
            strides = (size, 1, 0) if shared else (size * W, W, 1)
        which = "get" if isinstance(node, Get) else "put"
        self._helper(f"row.{which}", _row_function(which, W))
        pointers = [address, *(self._at(self._slice[n]) for n in (node.index, array, node.status))]
        numbers = [rows, self._bits(place), str(size), *map(str, strides)]
        arguments = [f"ptr {p}" for p in pointers] + [f"i64 {n}" for n in numbers]
        self._do(f"call void @program.row.{which}({', '.join(arguments)})")

    def _helper(self, name: str, text: str) -> None:
        if name not in self._helpers:
            self._helpers.add(name)
            self.module.add(text)

    def _call(self, node: Call, place: Place) -> None:
        W, name = self.W, f"program.call{self._labels('')[0]}"
        if node.symbol not in self.symbols:
            self.symbols.append(node.symbol)
        symbol = f"condyle.{node.symbol}"
        self.module.declare(symbol, f"void @{symbol}({', '.join(['ptr'] * len(node.args))})")
        before, after, pointers, done = [], [], [], {}
        for i, a in enumerate(node.args):
            if isinstance(a, (int, float, bytes)):
                value = f"i8 {a[0]}" if isinstance(a, bytes) else f"i32 {a:d}" if isinstance(a, int) else constant(a)
                self.module.add(f"@{name}.{i} = private constant {'double ' * isinstance(a, float)}{value}")
                pointers.append(f"ptr @{name}.{i}")
                continue
            whole = isinstance(a, Ints)
            array = a.slice if isinstance(a, Ints) else a
            if a not in done:
                size, kind = self.sizes[array], "int" if whole else "double"
                before.append(self._pointer(f"%a{i}", self._slice[array]))
                done[a] = f"%a{i}"
                if whole or W > 1:
                    self._helper(f"lane.{kind}", _lane_functions(kind, W))
                    before += [self._pointer(f"%b{i}", self._reserve(size)),
                               f"call void @program.lane.load.{kind}(ptr %b{i}, ptr %a{i}, i64 {size}, i64 %lane)"]
                    after.append(f"call void @program.lane.store.{kind}(ptr %b{i}, ptr %a{i}, i64 {size}, i64 %lane)")
                    done[a] = f"%b{i}"
            pointers.append(f"ptr {done[a]}")
        call = f"call void @{symbol}({', '.join(pointers)})"
        self.module.add("\n".join([f"define internal void @{name}(ptr %ws, i64 %mask) {{",
                                   *_each_lane(W, [*before, call, *after, "br label %tail"]), "}"]))
        self._do(f"call void @{name}(ptr %ws, i64 {self._bits(place)})")


def _each_lane(W: int, body: Sequence[str]) -> list[str]:
    """A function that runs `body` for each lane %lane whose bit is set in %mask. Body leaves by a branch to %tail."""
    return ["entry:", "br label %head", "head:", "%lane = phi i64 [ 0, %entry ], [ %next, %tail ]",
            f"%more = icmp slt i64 %lane, {W}", "br i1 %more, label %test, label %end",
            "test:", "%bit = shl i64 1, %lane", "%hit = and i64 %mask, %bit", "%on = icmp ne i64 %hit, 0",
            "br i1 %on, label %do, label %tail", "do:", *body,
            "tail:", "%next = add i64 %lane, 1", "br label %head", "end:", "ret void"]


def _lane_functions(kind: str, W: int) -> str:
    """Copy one lane of a slice to and from a plain array of doubles or ints."""
    if kind == "double":
        element, inward, outward = "double", "%y = bitcast double %x to double", "%y = bitcast double %x to double"
    else:
        element = "i32"
        inward, outward = "%y = call i32 @llvm.fptosi.sat.i32.f64(double %x)", "%y = sitofp i32 %x to double"
    text = [] if kind == "double" else ["declare i32 @llvm.fptosi.sat.i32.f64(double)"]
    for which, convert in (("load", inward), ("store", outward)):
        source, target = ("double", element) if which == "load" else (element, "double")
        a, b = ("%slice", "%plain") if which == "load" else ("%plain", "%slice")
        ia, ib = ("%wide", "%j") if which == "load" else ("%j", "%wide")
        text += [f"define internal void @program.lane.{which}.{kind}(ptr %plain, ptr %slice, i64 %size, i64 %lane) {{",
                 "entry:", "br label %head", "head:", "%j = phi i64 [ 0, %entry ], [ %k, %do ]",
                 "%more = icmp slt i64 %j, %size", "br i1 %more, label %do, label %end", "do:",
                 f"%row = mul i64 %j, {W}", "%wide = add i64 %row, %lane",
                 f"%p = getelementptr {source}, ptr {a}, i64 {ia}", f"%x = load {source}, ptr %p", convert,
                 f"%q = getelementptr {target}, ptr {b}, i64 {ib}", f"store {target} %y, ptr %q",
                 "%k = add i64 %j, 1", "br label %head", "end:", "ret void", "}"]
    return "\n".join(text)


def _row_function(which: str, W: int) -> str:
    """Get or put one row of a table for each lane; an index that is not in [0, rows) never becomes an address."""
    zero, code = constant(0), constant(Status.INDEX)
    go = "br i1 %ok, label %copy, label %tail" if which == "put" else "br i1 %some, label %copy, label %tail"
    a, b = ("%there", "%here") if which == "get" else ("%here", "%there")
    body = ["%ip = getelementptr double, ptr %index, i64 %lane", "%x = load double, ptr %ip",
            "%n = sitofp i64 %rows to double", f"%low = fcmp oge double %x, {zero}", "%high = fcmp olt double %x, %n",
            "%ok = and i1 %low, %high", "br i1 %ok, label %valid, label %bad",
            "bad:", "%sp = getelementptr double, ptr %status, i64 %lane", "%s = load double, ptr %sp",
            f"%fresh = fcmp oeq double %s, {zero}", f"%t = select i1 %fresh, double {code}, double %s",
            "store double %t, ptr %sp", "br label %valid",
            "valid:", "%last = sub i64 %rows, 1", "%lf = sitofp i64 %last to double", "%over = fcmp oge double %x, %n",
            f"%edge = select i1 %over, double %lf, double {zero}", "%y = select i1 %ok, double %x, double %edge",
            "%i = fptosi double %y to i64", "%first = mul i64 %i, %row", "%shift = mul i64 %lane, %side",
            "%base = add i64 %first, %shift", "%some = icmp sgt i64 %rows, 0", go,
            "copy:", "%j = phi i64 [ 0, %valid ], [ %k, %move ]", "%left = icmp slt i64 %j, %size",
            "br i1 %left, label %move, label %tail",
            "move:", "%je = mul i64 %j, %element", "%o = add i64 %base, %je",
            "%there = getelementptr double, ptr %table, i64 %o", f"%jw = mul i64 %j, {W}", "%q = add i64 %jw, %lane",
            "%here = getelementptr double, ptr %array, i64 %q", f"%v = load double, ptr {a}",
            f"store double %v, ptr {b}", "%k = add i64 %j, 1", "br label %copy"]
    head = (f"define internal void @program.row.{which}(ptr %table, ptr %index, ptr %array, ptr %status, i64 %rows, "
            "i64 %mask, i64 %size, i64 %row, i64 %element, i64 %side) {")
    return "\n".join([head, *_each_lane(W, body), "}"])


def _take_function(W: int) -> str:
    """Give each lane the next number of a counter in memory that others may share."""
    body = [f"%x = atomicrmw fadd ptr %counter, double {constant(1)} seq_cst",
            "%p = getelementptr double, ptr %dst, i64 %lane", "store double %x, ptr %p", "br label %tail"]
    return "\n".join(["define internal void @program.take(ptr %counter, ptr %dst, i64 %mask) {", *_each_lane(W, body), "}"])
