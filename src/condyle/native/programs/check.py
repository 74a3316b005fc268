"""Check names, sizes and limits of a program's tree before code is generated. A wrong tree would corrupt
memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca

from condyle.errors import DescriptionError, UnknownNameError
from condyle.native.loops.elements import Elementwise
from condyle.native.machine import lapack
from condyle.native.programs.nodes import (
    Call,
    External,
    Get,
    If,
    Ints,
    Kernel,
    Node,
    Put,
    Scan,
    Stream,
    Take,
    While,
    describe,
    walk,
)
from condyle.native.straight.data import strangers
from condyle.native.straight.kernel_function import sizes

Reached = dict[str, list[list[list[Any]]]]


def check(
    body: Node,
    sizes: Mapping[str, int],
    streams: Mapping[str, Stream],
    counts: Sequence[str],
    W: int,
    outside: Mapping[str, int],
) -> tuple[Reached, set[str]]:
    """Raise DescriptionError or UnknownNameError for a tree that cannot run.

    Returns for each stream the rows that its Scans reach, as a list of places, each a list of [count, rows
    per round]; and the names of the streams that are written.
    """
    if not isinstance(W, int) or W < 1:
        raise DescriptionError(f"W = {W!r}: the number of lanes is a positive integer")
    for name, size in [*sizes.items(), *((n, s.size) for n, s in streams.items())]:
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise DescriptionError(f"slice {name!r} has size {size!r}: a size is an integer, 0 or more")
    both = sorted(set(sizes) & set(streams) | set(sizes) & set(counts) | set(streams) & set(counts))
    if both:
        raise DescriptionError(f"{', '.join(map(repr, both))}: one name for two of slice, stream and count")
    inspector = _Inspector(sizes, streams, counts, W, outside)
    for node, path in walk(body):
        inspector.visit(node, path)
    return inspector.rows, inspector.written


class _Inspector:
    def __init__(
        self,
        sizes: Mapping[str, int],
        streams: Mapping[str, Stream],
        counts: Sequence[str],
        W: int,
        outside: Mapping[str, int],
    ) -> None:
        self.sizes, self.streams, self.counts, self.W, self.outside = sizes, streams, counts, W, outside
        self.rows: Reached = {}
        self.written: set[str] = set()

    def visit(self, node: Node, path: tuple[Node, ...]) -> None:
        self.where = " > ".join(describe(n) for n in (*path, node))
        self.path = path
        match node:
            case Kernel():
                self.kernel(node)
            case While(flag=flag, limit=limit, status=status):
                if limit is None:
                    raise DescriptionError(
                        f"{self.where}: has no limit. A flag that stays set loops without "
                        "end: give limit=, a number or the name of a count"
                    )
                self.word(flag, "flag")
                self.word(status, "status")
                self.count(limit, "limit")
            case If(flag=flag):
                self.word(flag, "flag")
            case Scan(count=count):
                self.count(count, "count")
                for stream, step in node.steps.items():
                    if self.stream(stream).shared:
                        raise DescriptionError(
                            f"{self.where}: the shared table {stream!r} cannot move; read it with Get"
                        )
                    self.count(step, f"rows of {stream!r}")
            case (
                Get(stream=stream, index=index, dst=array, status=status)
                | Put(src=array, stream=stream, index=index, status=status)
            ):
                self.table(stream, array, writes=isinstance(node, Put))
                self.word(index, "index")
                self.word(status, "status")
            case Take(stream=stream, dst=dst):
                if (self.stream(stream).size, self.stream(stream).shared) != (1, True):
                    raise DescriptionError(f"{self.where}: {stream!r} must be a shared stream of size 1")
                self.word(dst, "result")
                self.written.add(stream)
                self.rows.setdefault(stream, []).append([])
            case Call():
                self.call(node)
            case _:
                raise DescriptionError(
                    f"{self.where}: a {type(node).__name__} is no node. Nodes are Kernel, "
                    "While, If, Scan, Get, Put, Take, Call, and lists of them"
                )

    def slice(self, name: str) -> int:
        if name not in self.sizes:
            raise UnknownNameError("slice", name, [*self.sizes, *self.streams], self.where)
        return self.sizes[name]

    def stream(self, name: str) -> Stream:
        if name not in self.streams:
            raise UnknownNameError("stream", name, self.streams, self.where)
        return self.streams[name]

    def word(self, name: str, role: str) -> None:
        if (size := self.slice(name)) != 1:
            raise DescriptionError(f"{self.where}: the {role} {name!r} has size {size}; it must be 1")

    def count(self, count: int | str, role: str) -> None:
        if isinstance(count, str):
            if count not in self.counts:
                raise UnknownNameError(
                    "count", count, self.counts, f"{role} of {self.where}; declare it by counts="
                )
        elif not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise DescriptionError(
                f"{self.where}: {role} {count!r}: expected an integer, 0 or more, or a count"
            )

    def array(self, name: str, *, writes: bool) -> int:
        """Size of a slice, or of the current row of a stream."""
        if name not in self.streams:
            return self.slice(name)
        stream = self.streams[name]
        if stream.shared:
            raise DescriptionError(
                f"{self.where}: the shared table {name!r} is no slice: Get reads it, Put writes it"
            )
        place = [[n.count, n.steps[name]] for n in self.path if isinstance(n, Scan) and name in n.steps]
        places = self.rows.setdefault(name, [])
        if place not in places:
            places.append(place)
        if writes:
            self.written.add(name)
        return stream.size

    def kernel(self, node: Kernel) -> None:
        f = node.f
        inputs, outputs = (list(f.inputs), list(f.outputs)) if isinstance(f, External) else sizes(f)
        names = [f"input {i}" for i in range(len(inputs))], [f"output {i}" for i in range(len(outputs))]
        if isinstance(f, External):
            if f.W != self.W:
                raise DescriptionError(f"{self.where}: compiled for {f.W} lanes, the program has {self.W}")
        elif not isinstance(f, ca.Function):
            both = sorted(set(node.ins) & set(node.outs))
            if both and not isinstance(f, Elementwise):  # which reads an element before it writes it
                raise DescriptionError(
                    f"{self.where}: {', '.join(both)} cannot be input and output of several kernels in one"
                )
        else:
            if free := strangers(f):
                raise DescriptionError(f"{self.where}: depends on {free}, which is no input of it")
            names = f.name_in(), f.name_out()
            sparsities = [*map(f.sparsity_in, names[0]), *map(f.sparsity_out, names[1])]
            for name, sparsity in zip((*names[0], *names[1]), sparsities, strict=True):
                if not sparsity.is_dense():
                    raise DescriptionError(f"{self.where}: {name} is sparse; make it dense by ca.densify")
        twice = sorted({n for n in node.outs if node.outs.count(n) > 1})
        if twice:
            raise DescriptionError(f"{self.where}: two outputs go to {', '.join(map(repr, twice))}")
        sides = ("inputs", node.ins, inputs, names[0]), ("outputs", node.outs, outputs, names[1])
        for side, slices, wanted, called in sides:
            if len(slices) != len(wanted):
                raise DescriptionError(
                    f"{self.where}: has {len(wanted)} {side}, but {len(slices)} slices {[*slices]}"
                )
            for s, size, name in zip(slices, wanted, called):
                if (have := self.array(s, writes=side == "outputs")) != size:
                    raise DescriptionError(
                        f"{self.where}: {name} has {size} elements, slice {s!r} has {have}"
                    )

    def table(self, name: str, array: str, *, writes: bool) -> None:
        size = self.slice(array)
        if name in self.sizes:
            if size == 0 or self.sizes[name] % size:
                raise DescriptionError(
                    f"{self.where}: slice {name!r} of size {self.sizes[name]} is no table "
                    f"of rows of {size}, the size of {array!r}"
                )
            return
        stream = self.stream(name)
        if stream.size != size:
            raise DescriptionError(
                f"{self.where}: rows of {name!r} have {stream.size} elements, {array!r} has {size}"
            )
        if any(isinstance(n, Scan) and name in n.steps for n in self.path):
            raise DescriptionError(
                f"{self.where}: {name!r} moves with a Scan around this node; index "
                "another stream, or take it from the Scan's streams"
            )
        if writes:
            self.written.add(name)

    def call(self, node: Call) -> None:
        for a in node.args:
            if isinstance(a, (str, Ints)):
                self.slice(a.slice if isinstance(a, Ints) else a)
            elif isinstance(a, bytes) and len(a) != 1:
                raise DescriptionError(f"{self.where}: {a!r}: a character constant is one byte")
            elif not isinstance(a, (int, float, bytes)):
                raise DescriptionError(
                    f"{self.where}: {a!r}: an argument is a slice's name, Ints, int, float or byte"
                )
        if node.symbol in self.outside:
            return
        kinds = lapack.argument_kinds(node.symbol)
        if len(kinds) != len(node.args):
            raise DescriptionError(f"{self.where}: takes {len(kinds)} arguments, got {len(node.args)}")
        allowed = {"char": (bytes,), "int": (int, Ints), "double": (float, str)}
        for i, (kind, a) in enumerate(zip(kinds, node.args)):
            if not isinstance(a, allowed[kind]):
                words = {"char": "one byte", "int": "an int or Ints", "double": "a slice's name or a float"}
                raise DescriptionError(
                    f"{self.where}: argument {i} is a {kind} *, so {words[kind]}; got {a!r}"
                )
