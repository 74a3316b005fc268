"""The nodes of a program: SX kernels glued by control flow.

SX cannot loop, pivot or search. All arithmetic is in SX kernels; a program defines their order, on named
slices of one workspace. A program is a tree of nodes, a list or tuple being a sequence:

    Kernel(f, ins, outs)                outs <- f(ins)
    While(flag, body, limit, status)    repeat while the slice `flag` is nonzero, at most `limit` times
    If(flag, body)                      run once if `flag` is nonzero (a NaN is not)
    Scan(count, body, streams)          repeat `count` times; each stream moves on by its rows
    Get(stream, index, dst, status)     dst <- stream[index]
    Put(src, stream, index, status)     stream[index] <- src
    Take(stream, dst) dst <- the number in a stream, which is then increased by one
    Call(symbol, args)                  an external C function, usually LAPACK's

The same tree runs scalar (W = 1) or as W lanes side by side with masks: a lane that has left a loop, or whose
branch is inactive, is computed but not stored. Each lane has its own status words; see `LaneStatus`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from types import SimpleNamespace
from typing import Any

import casadi as ca

from condyle.errors import UnknownNameError
from condyle.native.loops.elements import ElementSum, Elementwise
from condyle.native.machine.data import Recipe
from condyle.native.straight.data import function
from condyle.native.straight.kernel_function import Composite
from condyle.records import dataclass


class LaneStatus(enum.IntEnum):
    """Status codes of a lane. The first code other than OK is kept; kernels may write codes from USER on."""

    OK = 0
    LIMIT = 1
    NAN = 2
    INDEX = 3
    USER = 16

    @property
    def advice(self) -> str:
        return _ADVICE[self]


_ADVICE = {
    LaneStatus.OK: "every loop ended by itself",
    LaneStatus.LIMIT: "a loop reached its limit: start nearer to the solution, loosen the tolerance or raise "
    "the limit",
    LaneStatus.NAN: "the flag of a loop became NaN: look for a division by zero or a root of a negative "
    "number",
    LaneStatus.INDEX: "a table was asked for a row that it does not have: the nearest was read, nothing was "
    "written",
    LaneStatus.USER: "a kernel of the program reported this",
}


@dataclass(frozen=True, eq=False)
class External:
    """A kernel compiled elsewhere, for use by its symbol in any number of programs; made by
    `compile_kernel`."""

    symbol: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    W: int
    work: int
    object: bytes = field(repr=False)
    # with lanes, a last argument says which are stored; else all are
    masked: bool = True
    # the data that it needs (machine/data.py)
    needs: Recipe = field(default_factory=dict, repr=False)


@dataclass(frozen=True, eq=False)
class Kernel:
    """outs <- f(ins). Every input is read before any output is written, so that a slice may be both.

    A function that appears in several Kernels is compiled once and called from each place. A Composite may
    read inputs after it has written, and writes all lanes, also those that have left a loop: use its
    outputs at once.
    """

    f: ca.Function | External | Composite
    ins: tuple[str, ...]
    outs: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class While:
    """Repeat while `flag` is nonzero. A lane whose flag is NaN, or still set after `limit` rounds, leaves
    with a status code."""

    flag: str
    body: Node
    limit: int | str | None = None  # a number, or the name of a count
    status: str = "status"


@dataclass(frozen=True, eq=False)
class If:
    """Run body once in lanes where `flag` is nonzero; a NaN counts as zero."""

    flag: str
    body: Node


@dataclass(frozen=True, eq=False)
class Scan:
    """Repeat `count` times. `streams` names those that move on after each round: names, or name -> rows per
    round."""

    count: int | str
    body: Node
    streams: Mapping[str, int | str] | Sequence[str] = ()

    @property
    def steps(self) -> dict[str, int | str]:
        return dict(self.streams) if isinstance(self.streams, Mapping) else dict.fromkeys(self.streams, 1)


@dataclass(frozen=True, eq=False)
class Get:
    """dst <- row `index` (rounded down) of a stream. Beyond the ends it gives the nearest row, for NaN the
    first, and sets `status`."""

    stream: str
    index: str
    dst: str
    status: str = "status"


@dataclass(frozen=True, eq=False)
class Put:
    """Row `index` of a stream <- src. For an index that is NaN or beyond the ends it writes nothing and
    sets `status`."""

    src: str
    stream: str
    index: str
    status: str = "status"


@dataclass(frozen=True, eq=False)
class Take:
    """dst <- the first number of a shared stream of size 1, which is then increased by one: no number is
    given twice.

    The step is atomic, so that lanes, and programs in several threads that share the stream, take their
    work from one queue.
    """

    stream: str
    dst: str


@dataclass(frozen=True)
class Ints:
    """An argument of Call: a slice passed as an array of C int and read back as numbers."""

    slice: str


@dataclass(frozen=True, eq=False)
class Call:
    """Call `symbol` with pointers to args: a slice's name (double *), Ints (int *), constants int, float,
    bytes (char).

    The symbol is one of LAPACK or BLAS as SciPy exports them, or one of the `symbols` of Program. With lanes
    the call runs once for each active lane.
    """

    symbol: str
    args: tuple[str | Ints | int | float | bytes, ...]


@dataclass(frozen=True)
class Stream:
    """Memory of the caller: rows of `size` numbers per lane, shape (rows, size) or (rows, size, W).

    A shared table, shape (rows, size), is the same for all lanes. Get reads its rows and Put writes them;
    if two lanes write one row, the later one wins.
    """

    size: int
    shared: bool = False


Node = Kernel | While | If | Scan | Get | Put | Take | Call | Sequence[object]


LONG = 3000
"""Maximum number of operations for common subexpression elimination. Longer kernels repeat the same for each
element of a long vector, and elimination would take longer than everything else.
"""


def kernel(
    fn: Callable[..., Any],
    ins: str | Sequence[str],
    outs: str | Sequence[str],
    sizes: Mapping[str, int],
    name: str = "",
) -> Kernel:
    """Trace fn(*ins), ins as column vectors of the slices' sizes, into a Kernel that writes its results to
    `outs`."""
    ins, outs = (tuple(n.split()) if isinstance(n, str) else tuple(n) for n in (ins, outs))
    for n in (*ins, *outs):
        if n not in sizes:
            raise UnknownNameError("slice", n, sizes)
    x = [ca.SX.sym(n, sizes[n]) for n in ins]
    y = fn(*x)
    y = list(y) if isinstance(y, (tuple, list)) else [y]
    name = name or getattr(fn, "__name__", "kernel")
    name = name if ca.Function.check_name(name) else "kernel"
    results = [ca.densify(ca.vec(ca.SX(v))) for v in y]
    f = function(name, x, results)
    if f.n_instructions() < LONG:
        f = function(name, x, results, cse=True)
    return Kernel(f, ins, outs)


FEW = 32
"""Maximum number of elements for which elementwise operations are unrolled."""


def elementwise(
    fn: Callable[..., Any],
    ins: str | Sequence[str],
    outs: str | Sequence[str],
    sizes: Mapping[str, int],
    n: int,
    name: str = "",
    whole: Sequence[str] = (),
) -> Kernel:
    """The same for each of n elements: fn takes and returns one element of each vector, or k where a slice
    is k vectors below each other. Slices of size 1, and those in `whole`, are the same for all elements."""
    return _by_element(Elementwise, fn, ins, outs, sizes, n, name, whole)


def summed(
    fn: Callable[..., Any],
    ins: str | Sequence[str],
    out: str,
    sizes: Mapping[str, int],
    n: int,
    name: str = "",
) -> Kernel:
    """out <- the sum of fn over n elements of vectors; 0 if n is 0."""
    return _by_element(ElementSum, fn, ins, out, sizes, n, name)


def _by_element(
    kind: type[Elementwise],
    fn: Callable[..., Any],
    ins: str | Sequence[str],
    outs: str | Sequence[str],
    sizes: Mapping[str, int],
    n: int,
    name: str,
    whole: Sequence[str] = (),
) -> Kernel:
    ins, outs = (tuple(x.split()) if isinstance(x, str) else tuple(x) for x in (ins, outs))
    same = {k for k, x in enumerate(ins) if x in whole or (sizes[x] == 1 < n)}
    one = {x: sizes[x] if k in same else sizes[x] // max(n, 1) for k, x in enumerate(ins)}
    single = kernel(fn, ins, outs, {**sizes, **one}, name)
    assert isinstance(single.f, ca.Function)
    if n > FEW:
        return Kernel(kind(single.f, n, frozenset(same)), ins, outs)
    x = [ca.SX.sym(a, sizes[a]) for a in ins]
    found = [
        single.f.call([a if k in same else a[i::n] for k, a in enumerate(x)], True, False) for i in range(n)
    ]
    if kind is ElementSum:
        results = [total(ca.vertcat(ca.SX(0, 1), *(y[0] for y in found)))]
    else:
        results = [
            ca.vertcat(ca.SX(0, 1), *(y[k][j] for j in range(single.f.numel_out(k)) for y in found))
            for k in range(len(outs))
        ]
    results = [ca.densify(y) for y in results]
    return Kernel(function(single.f.name(), x, results, cse=True), ins, outs)


def total(x: ca.SX) -> ca.SX:
    """The sum of a column, added by halves, so that additions are independent."""
    if not x.numel():
        return ca.SX(0)
    while (n := x.numel()) > 1:
        x = ca.vertcat(x[0 : n - n % 2 : 2] + x[1:n:2], x[n - n % 2 :])
    return x


def record_kernel(
    fn: Callable[[Any], Any], ins: str, outs: str, sizes: Mapping[str, int], name: str = ""
) -> Kernel:
    """Like `kernel`, but fn takes one record with the slices as attributes."""
    names = ins.split()
    return kernel(
        lambda *x: fn(SimpleNamespace(**dict(zip(names, x, strict=True)))),
        ins,
        outs,
        sizes,
        name or fn.__name__,
    )


def kernel_name(f: ca.Function | External | Composite) -> str:
    return (
        f.symbol if isinstance(f, External) else f.name() if isinstance(f, ca.Function) else type(f).__name__
    )


def describe(node: Node) -> str:
    """One node in a few words, for messages."""
    match node:
        case Kernel(f=f):
            return f"Kernel {kernel_name(f)!r}"
        case While(flag=flag) | If(flag=flag):
            return f"{type(node).__name__}({flag!r})"
        case Scan(count=count):
            return f"Scan({count!r})"
        case Get(stream=stream) | Put(stream=stream) | Take(stream=stream):
            return f"{type(node).__name__}({stream!r})"
        case Call(symbol=symbol):
            return f"Call({symbol!r})"
    return "sequence" if isinstance(node, (list, tuple)) else repr(node)


def walk(node: Node, path: tuple[Node, ...] = ()) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Every node that is not a sequence, with the nodes around it, outermost first; in order of execution."""
    if isinstance(node, (list, tuple)):
        for n in node:
            yield from walk(n, path)
        return
    yield node, path
    if isinstance(node, (While, If, Scan)):
        yield from walk(node.body, (*path, node))
