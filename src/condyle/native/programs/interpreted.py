"""Programs that run without machine code: Python walks the nodes (nodes.py), CasADi evaluates the kernels.

The same tree gives the same numbers to rounding. It is for one lane and short runs: a frame of inverse
kinematics takes some milliseconds here, its machine code takes a second to make.
"""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from condyle.errors import NativeError
from condyle.native.machine import lapack
from condyle.native.machine.data import NONE, SYMBOL
from condyle.native.programs.nodes import (
    Call,
    Get,
    If,
    Ints,
    Kernel,
    LaneStatus,
    Node,
    Put,
    Scan,
    Stream,
    While,
    describe,
    walk,
)
from condyle.native.straight.data import closed
from condyle.native.straight.kernel_function import evaluate, sizes

Run = Callable[[], None]


class Interpreted:
    """A tree of nodes that Python runs.

    Args:
        body: the tree: Kernels of expressions, While, If, Scan, Get, Put and Call.
        sizes: of the slices.
        streams: numbers per row of each stream, or Stream.

    Attributes:
        numbers: what the expressions hold as data (straight/data.py).
    """

    numbers: np.ndarray = NONE

    def __init__(
        self,
        body: Node,
        sizes: Mapping[str, int],
        streams: Mapping[str, int | Stream] | None = None,
    ) -> None:
        self._places: dict[str, list[int]] = {}
        self.body, self.sizes = self._closed(body), {"status": 1, **sizes}
        self.streams = {n: s.size if isinstance(s, Stream) else s for n, s in (streams or {}).items()}

    @property
    def has_composites(self) -> bool:
        """Whether some kernels consist of several functions. Data in these cannot be stored in a file."""
        return any(isinstance(n, Kernel) and not isinstance(n.f, ca.Function) for n, _ in walk(self.body))

    def of(self, numbers: np.ndarray) -> Interpreted:
        """The same tree with these numbers as data."""
        other = copy(self)
        other.numbers = numbers
        return other

    def workspace(self) -> dict[str, np.ndarray]:
        """New memory, all zero: slices by name, and the current row of each stream."""
        return {n: np.zeros(size) for n, size in (self.sizes | self.streams).items()}

    def run(
        self,
        workspace: Mapping[str, np.ndarray],
        streams: Mapping[str, np.ndarray] | None = None,
        counts: Mapping[str, int] | None = None,
        *,
        progress: object = None,
    ) -> None:
        """Run to the end. Arguments as those of `Program.run`; short runs have no progress to show."""
        memory = {**workspace, **{name: self.numbers[places] for name, places in self._places.items()}}
        _Interpreter(memory, streams or {}, counts or {}, self.body).run(self.body)()

    def _closed(self, node: Node) -> Node:
        """The tree with the data of its kernels as arguments."""
        match node:
            case Kernel(f=ca.Function() as f):
                with_data, places = closed(f)
                if not places:
                    return node
                self._places[name := f"{SYMBOL}.{len(self._places)}"] = places
                return replace(node, f=with_data, ins=(*node.ins, name))
            case While() | If() | Scan():
                return replace(node, body=self._closed(node.body))
        return [self._closed(each) for each in node] if isinstance(node, Sequence) else node  # type: ignore[arg-type]


class _Interpreter:
    """A run: every node becomes a function without arguments that works on the memory of this run."""

    def __init__(
        self,
        memory: Mapping[str, np.ndarray],
        streams: Mapping[str, np.ndarray],
        counts: Mapping[str, int],
        body: Node,
    ) -> None:
        self.memory, self.streams, self.counts = memory, streams, counts
        nodes = [node for node, _ in walk(body)]
        self.written = {n for node in nodes if isinstance(node, Kernel) for n in node.outs}
        self.addresses = lapack.addresses({node.symbol for node in nodes if isinstance(node, Call)})

    def run(self, node: Node) -> Run:
        match node:
            case Kernel(f=ca.Function() as f):
                return self._kernel(f, node.ins, node.outs)
            case Kernel() if hasattr(node.f, "evaluate"):
                return self._composite(node)
            case While():
                return self._while(node)
            case If():
                flag, body = self.memory[node.flag], self.run(node.body)
                return lambda: body() if _set(flag[0]) else None
            case Scan():
                return self._scan(node)
            case Get():
                return self._get(node)
            case Put():
                return self._put(node)
            case Call():
                return self._call(node)
        if isinstance(node, Sequence):
            return self._sequence([self.run(each) for each in node])  # type: ignore[arg-type]
        raise NativeError(f"{describe(node)} needs machine code: make a Program of the tree")

    def _sequence(self, parts: list[Run]) -> Run:
        def run() -> None:
            for part in parts:
                part()

        return run

    def _kernel(self, f: ca.Function, ins: Sequence[str], outs: Sequence[str]) -> Run:
        """Results are first written to separate memory, since a slice may be both input and output."""
        found = [np.zeros(size) for size in sizes(f)[1]]
        given = [self.memory[n] for n in ins]
        results = list(zip([self.memory[n] for n in outs], found, strict=True))
        if any(f.nnz_in(k) != f.numel_in(k) for k in range(f.n_in())):
            raise NativeError(f"{f.name()}: its arguments are not dense")
        buffer: Any  # CasADi's stubs have other signatures
        buffer, trigger = f.buffer()
        for arrays, put in ((given, buffer.set_arg), (found, buffer.set_res)):
            for k, a in enumerate(arrays):
                if a.size:
                    put(k, a.data)

        def run(alive: Any = buffer) -> None:
            trigger()
            for to, x in results:
                to[:] = x

        return run

    def _composite(self, node: Kernel) -> Run:
        def run() -> None:
            found = evaluate(node.f, *(self.memory[n][:, None] for n in node.ins))  # type: ignore[arg-type]
            for n, x in zip(node.outs, found, strict=True):
                self.memory[n][:] = x[:, 0]

        return run

    def _while(self, node: While) -> Run:
        flag, status, body = self.memory[node.flag], self.memory[node.status], self.run(node.body)
        limit = self.counts[node.limit] if isinstance(node.limit, str) else node.limit

        def run() -> None:
            rounds = 0
            while _set(flag[0]) and rounds != limit:
                body()
                rounds += 1
            left = LaneStatus.NAN if math.isnan(flag[0]) else LaneStatus.LIMIT if flag[0] else LaneStatus.OK
            status[0] = status[0] or left

        return run

    def _scan(self, node: Scan) -> Run:
        body, n = self.run(node.body), self.counts[node.count] if isinstance(node.count, str) else node.count
        rows = [
            (self.streams[s], self.memory[s], self.counts[step] if isinstance(step, str) else step)
            for s, step in node.steps.items()
        ]
        back = [s in self.written for s in node.steps]

        def run() -> None:
            for k in range(n):
                for stream, row, step in rows:
                    row[:] = stream[k * step]
                body()
                for stream, row, step in itertools.compress(rows, back):
                    stream[k * step] = row

        return run

    def _table(self, name: str, size: int) -> np.ndarray:
        """Rows of a stream, or of a slice, which is a table too."""
        return self.streams[name] if name in self.streams else self.memory[name].reshape(-1, size)

    def _get(self, node: Get) -> Run:
        dst, index = self.memory[node.dst], self.memory[node.index]
        stream = self._table(node.stream, len(dst))
        status = self.memory[node.status]

        def run() -> None:
            if not 0 <= index[0] < len(stream):
                status[0] = status[0] or LaneStatus.INDEX
            dst[:] = stream[int(min(max(np.nan_to_num(index[0]), 0), len(stream) - 1))]

        return run

    def _put(self, node: Put) -> Run:
        src, index = self.memory[node.src], self.memory[node.index]
        stream = self._table(node.stream, len(src))
        status = self.memory[node.status]

        def run() -> None:
            if 0 <= index[0] < len(stream):
                stream[int(index[0])] = src
            else:
                status[0] = status[0] or LaneStatus.INDEX

        return run

    def _call(self, node: Call) -> Run:
        """A routine of LAPACK or BLAS; all arguments are addresses."""
        ints: list[tuple[np.ndarray, np.ndarray]] = []
        places: list[ctypes.c_void_p] = []
        kept: list[Any] = []
        for x in node.args:
            if isinstance(x, (str, Ints)):
                array = self.memory[x if isinstance(x, str) else x.slice]
                if isinstance(x, Ints):
                    ints.append((array, array := np.zeros(len(array), np.intc)))
                kept.append(array)
                places.append(ctypes.c_void_p(array.ctypes.data))
                continue
            kinds: dict[type, Any] = {int: ctypes.c_int, float: ctypes.c_double, bytes: ctypes.c_char}
            kept.append(kinds[type(x)](x))
            places.append(ctypes.cast(ctypes.pointer(kept[-1]), ctypes.c_void_p))
        routine = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(places))(self.addresses[node.symbol])

        def run(alive: Any = kept) -> None:
            for slice_, array in ints:
                array[:] = slice_
            routine(*places)
            for slice_, array in ints:
                slice_[:] = array

        return run


def _set(flag: float) -> bool:
    """Whether a flag is set; a NaN is not."""
    return bool(flag) and not math.isnan(flag)
