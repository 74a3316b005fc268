"""A kernel over many states: a native NumPy inner loop, and its generalized ufunc.

The loop `void name(char **args, intptr *dims, intptr *steps, void *context)` takes rows with any strides: it
gathers W states into lanes, runs the kernel and scatters the results. The last block repeats its last state.
Arguments of size zero are not in its signature.

`context` is memory that Python owns: [block, allocate, free, failed, spoiled]. `block` keeps the scratch
memory of the last call for the next one (an atomic exchange takes it and puts it back; a call that finds it
empty allocates), because fresh pages cost more than a small batch. `spoiled` counts the blocks in which a
watched argument was not finite: if it grows during a call, the caller checks the arguments. Machine code
contains no addresses, so it can be cached on disk.
"""

from __future__ import annotations

import ctypes
import functools
import weakref
from collections.abc import Sequence

import numpy as np

from condyle.native.calls.finite_check import FiniteArgument, is_finite
from condyle.native.fastcall.structures import Owner, make_ufunc
from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import BOOL, BYTE, DOUBLE, INT, LONG, POINTER, Value
from condyle.native.machine import cache, jit
from condyle.native.machine.jit import Library

# bytes: a cache line, and the widest vector register
_ALIGN = 64
_FE_ALL = 63  # every bit that any platform's FE_ALL_EXCEPT has


def add_loop(
    module: Module,
    name: str,
    kernel: str,
    inputs: Sequence[int],
    outputs: Sequence[int],
    work: int,
    watched: Sequence[FiniteArgument] = (),
) -> None:
    """Define the inner loop `@name` around `@kernel` of the same module. It calls the loop that all kernels
    with this number of lanes share, and passes it the kernel and the layout of its arguments.

    Args:
        inputs: sizes of the kernel's arguments, zeros included.
        outputs: sizes of its results.
        work: blocks of W doubles that the kernel's `work` argument needs.
        watched: inputs that should be finite; blocks where they are not are counted.
    """
    W, sizes = module.lanes.W, [*inputs, *outputs]
    end = -(-8 * (len(sizes) + 1) // _ALIGN) * _ALIGN  # the addresses of all arguments come first
    rows, native = [], 0
    for k, size in enumerate(sizes):
        rows.append((size, end, native if size else -1, k < len(inputs)))
        native, end = native + bool(size), end + -(-size * W * 8 // _ALIGN) * _ALIGN
    total = end + work * W * 8 + _ALIGN
    plan = module.table(f"{name}.plan", np.array([len(sizes), native, total, end, *sum(rows, ())], np.int64))
    with module.function(f"{name}.run", [POINTER], result=BOOL) as b:
        where = [b.load(b.at(b.arguments[0], k, POINTER), POINTER) for k in range(len(sizes) + 1)]
        fine = is_finite(b, [(where[w.place], w) for w in watched if w.size])
        b.call(kernel, *where)
        b.give(fine)
    shared = f"condyle.loop.{W}"
    module.link(shared, [POINTER] * 6, functools.partial(_shared_loop, shared))
    with module.function(name, [POINTER] * 4, internal=False) as b:
        b.call(shared, *b.arguments, b.symbol(plan), b.symbol(f"{name}.run"))
        b.give()


@functools.cache
def _shared_loop(name: str) -> bytes:
    """Machine code of the loop of W lanes. It does not depend on a kernel, so that all share one cache
    entry."""
    if (found := cache.fetch(name)) is not None:
        return found[0]
    module = Module(int(name.rpartition(".")[2]))
    _add_shared_loop(module, name)
    code = jit.compile_ir(module.text(), 1)
    cache.store(name, code, {})
    return code


def _add_shared_loop(module: Module, name: str) -> None:
    """Define `@name`. It takes the arguments of an inner loop, then the plan of add_loop and a function
    that runs the kernel on a list of its arguments and returns whether the watched ones are finite."""
    W = module.lanes.W
    _add_copies(module)
    with module.function(name, [POINTER] * 6, internal=False) as b:
        arrays, dims, steps, context, plan, run = b.arguments
        n = b.load(dims, LONG)
        last = n - 1
        end_of_function, fail = b.label("end"), b.label("fail")
        b.require(b.compare("sgt", n, 0), end_of_function)
        count, native, total, end = (b.load(b.at(plan, k, LONG), LONG) for k in range(4))
        block = _take_memory(b, context, total, fail)
        number = b.convert("ptrtoint", block, LONG)
        base = b.convert("inttoptr", (number + (_ALIGN - 1)) & -_ALIGN, POINTER)

        def row(k: Value) -> _Row:
            return _Row(b, b.at(plan, k * 4 + 4, LONG), arrays, steps, native)

        with b.loop(count) as k:  # an argument of size zero is never read
            b.store(b.at(base, row(k).offset, BYTE), b.at(base, k, POINTER))
        b.store(b.at(base, end, BYTE), b.at(base, count, POINTER))
        with b.loop(n, W) as i:
            with b.loop(count) as k:
                r = row(k)
                with b.when(r.exists):
                    r.read()
                    buffer = b.at(base, r.offset, BYTE)
                    if W == 1:  # a contiguous row needs no copy
                        direct = b.compare("eq", r.inner, 8)
                        place = b.select(direct, b.at(r.array, i * r.outer, BYTE), buffer)
                        b.store(place, b.at(base, k, POINTER))
                    with b.when(r.given):
                        r.copy("gather", buffer, i, last)
            with b.when(b.call(run, base, result=BOOL), False):
                b.put(LONG, f"atomicrmw add {b.at(context, 4, LONG)}, i64 1 monotonic")
            with b.loop(count) as k:
                r = row(k)
                with b.when(r.exists), b.when(r.given, False):
                    r.read()
                    r.copy("scatter", b.at(base, r.offset, BYTE), i, last)
        _give_memory(b, context, block)
        # else NumPy warns about inactive branches
        b.outside("feclearexcept", b.number(_FE_ALL, INT), result=INT)
        b.place(end_of_function)
        b.give()
        b.place(fail)
        b.store(1, b.at(context, 3, LONG))
        b.jump(end_of_function)


class _Row:
    """An argument in a plan.

    Attributes:
        size, offset: its number of elements, and where its lanes begin [bytes].
        exists, given: whether it is in NumPy's signature; and whether it is an input.
        array, outer, inner: after `read`: address of its rows, and bytes from row to row and from element
            to element.
    """

    def __init__(self, b: Builder, place: Value, arrays: Value, steps: Value, native: Value) -> None:
        self.b, self._arrays, self._steps, self._native = b, arrays, steps, native
        self.size, self.offset, self._number, given = (b.load(b.at(place, k, LONG), LONG) for k in range(4))
        self.exists = b.compare("sge", self._number, 0)
        self.given = b.compare("ne", given, 0)

    def read(self) -> None:
        b, a = self.b, self._number
        self.array = b.load(b.at(self._arrays, a, POINTER), POINTER)
        self.outer = b.load(b.at(self._steps, a, LONG), LONG)
        self.inner = b.load(b.at(self._steps, self._native + a, LONG), LONG)

    def copy(self, which: str, buffer: Value, i: Value, last: Value) -> None:
        self.b.call(which, buffer, self.array, self.outer, self.inner, self.size, i, last)


def _take_memory(b: Builder, context: Value, size: Value, fail: str) -> Value:
    """The scratch memory of the last call, or new memory."""
    kept = b.put(POINTER, f"atomicrmw xchg {context}, ptr null acq_rel")
    before = b.block
    with b.when(b.compare("eq", kept, b.null())):
        allocate = b.load(b.at(context, 1, POINTER), POINTER)
        fresh = b.call(allocate, size, result=POINTER)
        b.require(b.compare("ne", fresh, b.null()), fail)
        new = b.block
    return b.phi((kept, before), (fresh, new))


def _give_memory(b: Builder, context: Value, block: Value) -> None:
    """Store a block for the next call; release one that another thread has stored meanwhile."""
    other = b.put(POINTER, f"atomicrmw xchg {context}, {block} acq_rel")
    with b.when(b.compare("ne", other, b.null())):
        b.call(b.load(b.at(context, 2, POINTER), POINTER), other)


def _add_copies(module: Module) -> None:
    """Define `@gather` and `@scatter`: rows i .. i + W - 1 of a strided array to lanes and back.

    Rows beyond the last repeat it. One row for all is read once. Where rows are contiguous, W columns at a
    time are transposed in registers, the last W columns overlapping those before. For W = 1 the caller uses a
    contiguous row in place.
    """
    W, T = module.lanes.W, module.lanes.T
    rounds = [1 << k for k in range(W.bit_length() - 1)]
    for name in ("gather", "scatter"):
        order = 1 if name == "gather" else -1  # from rows to lanes, or back
        with module.function(name, [*[POINTER] * 2, *[LONG] * 5], attributes="noinline nounwind") as b:
            lanes, array, outer, inner, size, i, last = b.arguments
            done = b.label("done")
            if name == "gather":
                b.require(b.compare("eq", i, 0) | b.compare("ne", outer, 0), done)
            numbers = [i + l for l in range(W)]
            numbers = [b.select(b.compare("sle", k, last), k, last) for k in numbers]
            rows = [b.at(array, k * outer, BYTE) for k in numbers]
            if W == 1:
                b.require(b.compare("ne", inner, 8), done)
            else:
                end = size - W
                with b.when(b.compare("eq", inner, 8) & b.compare("sge", end, 0)):
                    with b.overlapping(end, W) as j:
                        first = j * W
                        places = [
                            (b.at(row, j), b.at(lanes, first + l * W))[::order] for l, row in enumerate(rows)
                        ]
                        x = b.transpose([b.load(source, T) for source, _ in places], rounds)
                        for value, (_, target) in zip(x, places):
                            b.store(value, target)
                    b.jump(done)
            with b.loop(size) as j:
                offset, first = j * inner, j * W
                for l, row in enumerate(rows):
                    source, target = (b.at(row, offset, BYTE), b.at(lanes, first + l))[::order]
                    b.store(b.load(source, DOUBLE), target)
            b.place(done)


class InnerLoop:
    """A compiled inner loop, ready to be called with rows of states. Owns the machine code and its scratch
    memory.

    Args:
        library: where the function `symbol`, made by `add_loop`, is.
        inputs: sizes of the arguments, zeros included.
        outputs: sizes of the results.
    """

    def __init__(
        self, library: Library, symbol: str, name: str, inputs: Sequence[int], outputs: Sequence[int]
    ) -> None:
        self.library, self.name = library, name
        self._in = [k for k, size in enumerate(inputs) if size]
        self._out = [k for k, size in enumerate(outputs) if size]
        self._address = library.address(symbol)
        self._context = (ctypes.c_void_p * 5)(None, *_memory_functions(), None, None)
        weakref.finalize(self, _release, self._context).atexit = False
        self.ufunc: np.ufunc | None = None  # None if NumPy does not support it, or without inputs
        if self._in and self._out and gufuncs_work():
            signature = (
                ",".join(f"({inputs[k]})" for k in self._in)
                + "->"
                + ",".join(f"({outputs[k]})" for k in self._out)
            )
            owner = Owner(library, self._context)
            self.ufunc = make_ufunc(self._address, ctypes.addressof(self._context), signature, name, owner)

    @property
    def spoiled(self) -> int:
        """How many blocks of states have had a watched argument that was not finite, in all calls so far."""
        return self._context[4] or 0

    def __call__(self, arrays: Sequence[np.ndarray], outs: Sequence[np.ndarray]) -> None:
        """Fill outs, each (N, size), from arrays, each (N, size) or one (size,) for all.

        All are float64 and aligned, with any strides; outs share no memory with arrays.
        """
        ins, results = [arrays[k] for k in self._in], [outs[k] for k in self._out]
        if not results:
            return
        if self.ufunc is not None:
            self.ufunc(*ins, out=tuple(results))
        else:
            call_loop(self._address, self._context, ins + results, len(results[0]))
        if self._context[3]:
            self._context[3] = None
            raise MemoryError(f"{self.name}: no memory for the workspace of the machine code")


def call_loop(address: int, context: ctypes.Array, arrays: Sequence[np.ndarray], states: int) -> None:
    """Call an inner loop without NumPy, with the interpreter lock released."""
    K = len(arrays)
    pointers = (ctypes.c_void_p * K)(*(a.ctypes.data for a in arrays))
    dims = (ctypes.c_ssize_t * (1 + K))(states, *(a.shape[-1] for a in arrays))
    outer = (a.strides[0] if a.ndim == 2 else 0 for a in arrays)
    steps = (ctypes.c_ssize_t * (2 * K))(*outer, *(a.strides[-1] for a in arrays))
    _LOOP(address)(pointers, dims, steps, context)


_LOOP = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)


def _memory_functions() -> tuple[int, int]:
    """Addresses of Python's raw allocator, which needs no lock."""
    api = ctypes.pythonapi
    return tuple(ctypes.cast(f, ctypes.c_void_p).value or 0 for f in (api.PyMem_RawMalloc, api.PyMem_RawFree))  # type: ignore[return-value]


def _release(context: ctypes.Array) -> None:
    block, context[0] = context[0], None
    if block:
        ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(context[2])(block)


@functools.cache
def gufuncs_work() -> bool:
    """True if NumPy makes a working ufunc of a native loop, as tried once with a loop written in Python."""
    if np.lib.NumpyVersion(np.__version__) < "2.0.0" or int(np.__version__.split(".")[0]) != 2:
        return False

    def first_plus_last(args: int, dims: int, steps: int, data: int) -> None:
        pointer, step = (ctypes.c_size_t * 2).from_address(args), (ctypes.c_ssize_t * 4).from_address(steps)
        for i in range(ctypes.c_ssize_t.from_address(dims).value):
            row = pointer[0] + i * step[0]
            sum_ = sum(ctypes.c_double.from_address(row + j * step[2]).value for j in (0, 2))
            ctypes.c_double.from_address(pointer[1] + i * step[1]).value = sum_ + data

    callback = _LOOP(first_plus_last)
    try:
        address = ctypes.cast(callback, ctypes.c_void_p).value or 0
        ufunc = make_ufunc(address, 5, "(3)->(1)", "trial", callback)
        return bool(np.array_equal(ufunc(np.arange(12.0).reshape(2, 6)[:, ::2]), [[9.0], [21.0]]))
    except (AttributeError, TypeError, ValueError, SystemError, ImportError):
        return False
