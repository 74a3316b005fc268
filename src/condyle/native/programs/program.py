"""Compile a tree of nodes (nodes.py) to machine code. A workspace is the memory it runs in."""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from condyle.errors import NativeError, ShapeError, UnknownNameError
from condyle.native.ir.module import Module
from condyle.native.machine import cache, jit, lapack, notice
from condyle.native.machine.data import NONE
from condyle.native.straight.kernel_function import KernelFunction, sizes
from condyle.native.tables.lookup import lookup_context

if TYPE_CHECKING:
    from condyle.native.programs.nodes import External, Node, Stream

RESUME, BUDGET, STOP, HEADER, LINE = 0, 1, 2, 8, 8
"""Words at the start of a workspace, how many there are, and numbers of a cache line."""


def compile_kernel(f: KernelFunction, symbol: str, W: int = 1, contract: bool = True) -> External:
    """Compile f for W lanes under its own symbol, for use in several programs. A Composite writes all
    lanes."""

    from condyle.native.programs.nodes import External
    from condyle.native.straight.kernel_writer import add_kernel

    module, plain = Module(W, contract), isinstance(f, ca.Function)
    work = add_kernel(module, f, symbol, masked=plain and W > 1)
    inputs, outputs = sizes(f)
    code = module.compile()
    return External(symbol, tuple(inputs), tuple(outputs), W, work, code, masked=plain, needs=module.needs)


class Program:
    """A tree of nodes as machine code.

    Args:
        body: the tree.
        sizes: numbers per lane of each slice of the workspace; "status" is added when missing.
        W: lanes; `jit.lane_width()` fills the registers.
        streams: numbers per row and lane of each stream, or Stream.
        counts: names of the integers given at run time, for Scan and limits.
        symbols: addresses of outside functions for Call, besides those of SciPy.
        contract: allow fused multiply-add.

    Attributes:
        numbers: data that the code reads (native/machine/data.py); set before it is loaded.

    The tree is checked and written as LLVM IR here; `text` is the IR. It is compiled at first use.
    """

    numbers: np.ndarray = NONE

    def __init__(
        self,
        body: Node,
        sizes: Mapping[str, int],
        *,
        W: int = 1,
        streams: Mapping[str, int | Stream] | None = None,
        counts: Sequence[str] = (),
        symbols: Mapping[str, int] | None = None,
        contract: bool = True,
    ) -> None:
        from condyle.native.programs.check import check
        from condyle.native.programs.nodes import Stream
        from condyle.native.programs.program_writer import ProgramWriter

        sizes = {"status": 1} | dict(sizes)
        tables = {n: s if isinstance(s, Stream) else Stream(s) for n, s in (streams or {}).items()}
        rows, written = check(body, sizes, tables, counts, W, symbols or {})
        writer = ProgramWriter(sizes, tables, counts, W, contract)
        self.text: str = writer.write(body)
        self._objects: list[bytes] = [
            *(e.object for e in writer.externals.values()),
            *writer.module.objects(),
        ]
        self.layout: dict[str, Any] = writer.layout() | {
            "rows": rows,
            "written": sorted(written),
            "versions": jit.versions(),
            "outside": [n for n in writer.symbols if n in (symbols or {})],
            "data": {
                name: need
                for needs in (writer.module.needs, *(e.needs for e in writer.externals.values()))
                for name, need in needs.items()
            },
        }
        digest = hashlib.sha256("\0".join([self.text, json.dumps(self.layout, sort_keys=True)]).encode())
        for data in self._objects:
            digest.update(hashlib.sha256(data).digest())
        self.layout["key"] = digest.hexdigest()
        self._symbols = dict(symbols or {})
        self._object: bytes | None = None
        self._loaded: tuple[Callable[[int], int], jit.Library] | None = None

    def key(self) -> str:
        """Digest of everything that the machine code depends on."""
        return self.layout["key"]

    @property
    def W(self) -> int:
        return self.layout["W"]

    @property
    def sizes(self) -> dict[str, int]:
        return self.layout["sizes"]

    def _compiled(self) -> list[bytes]:
        if self._object is None:
            self._object = jit.compile_ir(self.text)
        return [self._object, *self._objects]

    def load(self) -> tuple[Callable[[int], int], jit.Library]:
        """The native function i64 (workspace address): 0 when the program has ended, 1 when it wants to be
        resumed.

        The code is valid for as long as the library exists: keep references to both while calling.
        """
        if self._loaded is None:
            wanted = self.layout["symbols"]
            found = lapack.addresses(n for n in wanted if n not in self._symbols) | self._symbols
            library = jit.Library(
                *self._compiled(),
                symbols={f"condyle.{n}": found[n] for n in wanted},
                numbers=self.numbers,
                needs=self.layout["data"],
            )
            entry = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(library.address("program"))
            self._loaded = entry, library
        return self._loaded

    def pack(self) -> tuple[bytes, dict[str, Any]]:
        """Machine code, and its layout as JSON: everything that `unpack` needs on the same kind of
        machine."""
        objects = self._compiled()
        return b"".join(objects), self.layout | {"objects": [len(o) for o in objects]}

    @classmethod
    def unpack(
        cls, data: bytes, layout: Mapping[str, Any], *, symbols: Mapping[str, int] | None = None
    ) -> Program:
        """The program from the result of `pack`, without expressions. Addresses are not stored: pass
        `symbols` again."""
        if layout["versions"] != jit.versions():
            raise NativeError(
                f"this machine code was made for [{layout['versions']}] and cannot run on "
                f"[{jit.versions()}]: build the program again"
            )
        missing = set(layout["outside"]) - set(symbols or {})
        if missing:
            raise NativeError(f"the program calls {sorted(missing)}: give their addresses by `symbols`")
        lengths = layout["objects"]
        if sum(lengths) != len(data):
            raise NativeError(
                f"machine code of {len(data)} bytes where the layout says {sum(lengths)}: it is damaged"
            )
        self = cls.__new__(cls)
        self.text = ""
        self.layout = {k: v for k, v in layout.items() if k != "objects"}
        bounds = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
        self._object, *self._objects = [data[a:b] for a, b in itertools.pairwise(bounds)]
        self._symbols = dict(symbols or {})
        self._loaded = None
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Program.unpack, self.pack()

    def workspace(self) -> Workspace:
        """New memory, all zero. Each thread needs its own."""
        return Workspace(self)

    def run(
        self,
        workspace: Workspace,
        streams: Mapping[str, np.ndarray] | None = None,
        counts: Mapping[str, int] | None = None,
        *,
        progress: Callable[[Workspace], object] | None = None,
        interval: float = 0.03,
    ) -> None:
        """Run to the end, returning to Python every `interval` [s] so that Ctrl-C and `progress` work.

        Args:
            workspace: from `workspace()` of this program. Slices keep the values of the last run, including
                the status.
            streams: an array for each stream, float64 and C-contiguous: (rows, size), with lanes (rows, size,
                W).
            counts: a value for each count, 0 or more.
            progress: called with the workspace each time; it may raise to stop.
            interval: how long native code runs at a time. A kernel is never interrupted.

        After an interrupt `workspace.paused` is true, and `advance` continues as if nothing had happened.
        """
        with workspace._used_by(self):
            workspace._bind(streams or {}, counts or {})
            self._go(workspace, progress, interval)

    def start(
        self,
        workspace: Workspace,
        streams: Mapping[str, np.ndarray] | None = None,
        counts: Mapping[str, int] | None = None,
    ) -> None:
        """Prepare to `advance` from the beginning. Arguments as in `run`."""
        with workspace._used_by(self):
            workspace._bind(streams or {}, counts or {})

    def advance(self, workspace: Workspace, rounds: int) -> bool:
        """Continue after `start`, or after an interrupted run; true when the program has ended.

        Args:
            workspace: of this program.
            rounds: largest number of rounds, all loops counted together.
        """
        with workspace._used_by(self):
            entry, _library = self.load()
            workspace._header[STOP], workspace._header[BUDGET] = 0, rounds
            return not entry(workspace.address)

    def _go(
        self, workspace: Workspace, progress: Callable[[Workspace], object] | None, interval: float
    ) -> None:
        (entry, _library), header, address = self.load(), workspace._header, workspace.address
        header[STOP], rounds, start = 0, _ROUNDS, time.perf_counter()
        last = start
        while last - start < _SOON:  # most programs end in this loop and need no watch thread
            header[BUDGET] = rounds
            if not entry(address):
                return
            now = time.perf_counter()
            rounds, last = (2 * rounds if now - last < _BRIEF else rounds), now
        header[BUDGET] = 2**62
        over = threading.Event()
        watch = threading.Thread(target=_watch, args=(over, workspace, interval), daemon=True)
        try:  # an interrupt may come as soon as the thread runs
            watch.start()
            while entry(address):
                header[STOP] = 0
                if progress is not None:
                    progress(workspace)
        finally:
            over.set()
            if watch.ident is not None:
                watch.join()

    def __repr__(self) -> str:
        lanes = f"{self.W} lane{'s' if self.W > 1 else ''}"
        return f"<Program: {len(self.sizes)} slices, {lanes}, workspace of {8 * self.layout['words']} bytes>"


# without a watch thread: rounds of loops at a time, doubled if they took less than this [s]; limit [s]
_ROUNDS, _BRIEF, _SOON = 128, 2e-4, 5e-3


def _watch(over: threading.Event, workspace: Workspace, interval: float) -> None:
    """Make the native code return at every interval until the run is over. Holds a reference to the
    workspace, into which it writes.
    """
    while not over.wait(interval):
        workspace._header[STOP] = 1


class Workspace:
    """The memory of one run: `workspace["x"]` is a view of slice x, shape (size,), with lanes (size, W).

    `workspace["x"] = value` copies; a value of shape (size,) goes to all lanes.
    """

    def __init__(self, program: Program) -> None:
        layout = program.layout
        memory = np.zeros(layout["words"] + 8)
        start = -memory.ctypes.data // 8 % 8  # slices begin on cache lines of 64 bytes
        data = memory[start : start + layout["words"]]
        self.program = program
        self.address: int = data.ctypes.data
        self._words = data.view(np.int64)
        self._header = (ctypes.c_int64 * HEADER).from_address(self.address)
        self._data = data
        self._views: dict[str, np.ndarray] = {}  # created on first use
        # kept alive: native code knows only their addresses
        self._streams: dict[str, np.ndarray] = {}
        self._busy = threading.Lock()

    @property
    def paused(self) -> bool:
        """A run was interrupted and can be resumed."""
        return bool(self._header[RESUME])

    def __getitem__(self, name: str) -> np.ndarray:
        if (view := self._views.get(name)) is None:
            layout, W = self.program.layout, self.program.W
            if name not in layout["sizes"]:
                raise UnknownNameError("slice", name, layout["sizes"])
            size, first = layout["sizes"][name], layout["offsets"][name]
            view = self._data[first : first + size * W]
            view = self._views[name] = view if W == 1 else view.reshape(size, W)
        return view

    def __setitem__(self, name: str, value: Any) -> None:
        view, value = self[name], np.asarray(value, float)
        try:
            view[...] = value[:, None] if view.ndim == 2 and value.ndim == 1 else value
        except ValueError:
            raise ShapeError(f"slice {name!r}: expected shape {view.shape}, got {value.shape}") from None

    @contextmanager
    def _used_by(self, program: Program) -> Iterator[None]:
        if program is not self.program:
            raise NativeError("this workspace belongs to another program")
        if not self._busy.acquire(blocking=False):
            raise NativeError("this workspace is in use by another thread: give each thread its own")
        try:
            yield
        finally:
            self._busy.release()

    def _bind(self, streams: Mapping[str, np.ndarray], counts: Mapping[str, int]) -> None:
        """Write counts and addresses of streams into the workspace, and set it to the start."""
        layout = self.program.layout
        for kind, given, known in (
            ("count", counts, layout["counts"]),
            ("stream", streams, layout["streams"]),
        ):
            for n in given:
                if n not in known:
                    raise UnknownNameError(kind, n, known)
            for n in known:
                if n not in given:
                    raise ShapeError(f"the {kind} {n!r} is missing")
        for n, word in layout["counts"].items():
            if int(counts[n]) != counts[n] or counts[n] < 0:
                raise ShapeError(f"count {n!r} = {counts[n]!r}: expected an integer, 0 or more")
            self._words[word] = int(counts[n])
        before, self._streams = self._streams, {}
        for n, stream in layout["streams"].items():
            array = streams[n]
            if array is not before.get(n):
                array = self._checked(n, stream, np.asarray(array))
            need = max((_rows(place, counts) for place in layout["rows"].get(n, [])), default=0)
            if len(array) < need:
                raise ShapeError(f"stream {n!r}: has {len(array)} rows, the program needs {need}")
            self._streams[n] = array
            self._words[stream["word"] : stream["word"] + 2] = array.ctypes.data, len(array)
        self._header[RESUME] = 0

    def _checked(self, name: str, stream: Mapping[str, Any], array: np.ndarray) -> np.ndarray:
        layout, W = self.program.layout, self.program.W
        tail: tuple[int, ...] = (stream["size"],)
        if W > 1 and not stream["shared"]:
            tail = (stream["size"], W)
        if array.ndim != 1 + len(tail) or array.shape[1:] != tail:
            raise ShapeError(
                f"stream {name!r}: expected shape (rows, {', '.join(map(str, tail))}), got {array.shape}"
            )
        if name not in layout["written"]:
            return np.ascontiguousarray(array, float)
        if array.dtype != np.float64 or not array.flags.c_contiguous or not array.flags.writeable:
            raise ShapeError(
                f"stream {name!r} is written: expected a writeable, C-contiguous array of float64"
            )
        return array


def _rows(place: list[list[Any]], counts: Mapping[str, int]) -> int:
    """Rows that a stream must have. `place` lists the Scans around a use of the stream, each [count, rows
    per round]."""
    value = lambda c: counts[c] if isinstance(c, str) else c
    if any(value(count) == 0 for count, _ in place):
        return 0
    return 1 + sum((value(count) - 1) * value(step) for count, step in place)


ProgramAndTables = tuple[Program, dict[str, np.ndarray]]
"""A program and the tables needed to run it."""


def cached_program(
    key: str, make: Callable[[], ProgramAndTables], numbers: np.ndarray = NONE
) -> ProgramAndTables:
    """The program of a key from the disk cache; else it is made and stored. The key is text that determines
    the program except for its data, the `numbers`."""

    def load(code: bytes, facts: dict[str, Any]) -> ProgramAndTables:
        program = Program.unpack(code, facts["layout"])
        program.numbers = numbers
        program.load()  # load now, while it can still be made again
        return program, {name: np.array(rows) for name, rows in facts["tables"].items()}

    if (found := cache.loaded(key, load)) is not None:
        return found
    with notice.compiling("the loop of steps"), lookup_context():
        program, tables = make()
        program.numbers = numbers
        code, layout = program.pack()
    cache.store(
        key, code, {"layout": layout, "tables": {name: table.tolist() for name, table in tables.items()}}
    )
    return program, tables
