"""A kernel over many states: a native NumPy inner loop, and the generalised ufunc made of it.

The loop `void name(char **args, intptr *dims, intptr *steps, void *context)` takes rows with any strides: it gathers W
states into lanes, runs the kernel and scatters the results. The last block repeats its last state. Arguments of size
zero are not in its signature.

`context` is memory that Python owns: [block, allocate, free, failed, spoiled]. `block` keeps the scratch memory of the last
call for the next one (an atomic exchange takes it and puts it back; whoever finds it empty allocates), because fresh
pages cost more than a small batch. `spoiled` counts the blocks in which a watched argument was not finite: whoever finds it
higher after a call than before looks at the arguments. No address is part of the machine code, so that the code can be
kept on disk.
"""
from __future__ import annotations

import ctypes
import functools
import importlib
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from condyle.native.finite import Watched, scan
from condyle.native.machine.jit import Library
from condyle.native.straight.emit import Module

_ALIGN = 64                                                 # bytes: a cache line, and the widest vector register
_FE_ALL = 63                                                # every bit that any platform's FE_ALL_EXCEPT has


def add_loop(module: Module, name: str, kernel: str, inputs: Sequence[int], outputs: Sequence[int], work: int,
             watched: Sequence[Watched] = ()) -> None:
    """Define the inner loop `@name` around `@kernel`, which the module has.

    Args:
        inputs, outputs: sizes of the kernel's arguments, zeros included.
        work: blocks of W doubles that the kernel's `work` argument needs.
        watched: inputs that should be finite; blocks where they are not are counted.
    """
    W, sizes = module.lanes.W, [*inputs, *outputs]
    native = [k for k, size in enumerate(sizes) if size]
    offsets, end = {}, 0
    for k in native:
        offsets[k], end = end, end + -(-sizes[k] * W * 8 // _ALIGN) * _ALIGN
    total = end + work * W * 8 + _ALIGN
    module.declare("feclearexcept", "i32 @feclearexcept(i32)")
    module.add(_copies(W))
    body = [f"define void @{name}(ptr %args, ptr %dims, ptr %steps, ptr %context) {{",
            "entry:",
            "%n = load i64, ptr %dims",
            "%last = sub i64 %n, 1",
            "%some = icmp sgt i64 %n, 0",
            "br i1 %some, label %take, label %end",
            "take:",
            "%kept = atomicrmw xchg ptr %context, ptr null acq_rel",
            "%empty = icmp eq ptr %kept, null",
            "br i1 %empty, label %allocate, label %begin",
            "allocate:",
            "%allocator.p = getelementptr ptr, ptr %context, i64 1",
            "%allocator = load ptr, ptr %allocator.p",
            f"%fresh = call ptr %allocator(i64 {total})",
            "%none = icmp eq ptr %fresh, null",
            "br i1 %none, label %fail, label %begin",
            "fail:",
            "%failed = getelementptr i64, ptr %context, i64 3",
            "store i64 1, ptr %failed",
            "br label %end",
            "begin:",
            "%block = phi ptr [ %kept, %take ], [ %fresh, %allocate ]",
            "%number = ptrtoint ptr %block to i64",
            f"%up = add i64 %number, {_ALIGN - 1}",
            f"%aligned = and i64 %up, -{_ALIGN}",
            "%base = inttoptr i64 %aligned to ptr",
            f"%work = getelementptr i8, ptr %base, i64 {end}"]
    for a, k in enumerate(native):
        body += [f"%arg{k}.p = getelementptr ptr, ptr %args, i64 {a}",
                 f"%arg{k} = load ptr, ptr %arg{k}.p",
                 f"%outer{k}.p = getelementptr i64, ptr %steps, i64 {a}",
                 f"%outer{k} = load i64, ptr %outer{k}.p",
                 f"%core{k}.p = getelementptr i64, ptr %steps, i64 {len(native) + a}",
                 f"%core{k} = load i64, ptr %core{k}.p",
                 f"%buffer{k} = getelementptr i8, ptr %base, i64 {offsets[k]}"]
        if W == 1:
            body.append(f"%direct{k} = icmp eq i64 %core{k}, 8")
    body += ["br label %head",
             "head:",
             "%i = phi i64 [ 0, %begin ], [ %next, %head.end ]"]
    where = ["ptr %base"] * len(sizes)                      # what stands for an argument of size zero is never read
    for k in native:
        where[k] = f"ptr %buffer{k}"
        if W == 1:                                          # a contiguous row needs no copy
            where[k] = f"ptr %row{k}"
            body += [f"%at{k} = mul i64 %i, %outer{k}",
                     f"%here{k} = getelementptr i8, ptr %arg{k}, i64 %at{k}",
                     f"%row{k} = select i1 %direct{k}, ptr %here{k}, ptr %buffer{k}"]
        if k < len(inputs):
            body.append(f"call void @gather(ptr %buffer{k}, ptr %arg{k}, i64 %outer{k}, i64 %core{k}, "
                        f"i64 {sizes[k]}, i64 %i, i64 %last)")
    seen = [(where[w.place].removeprefix("ptr "), w) for w in watched if w.size]
    if seen:
        body += [*scan("fine", W, seen), "br i1 %fine, label %compute, label %spoil",
                 "spoil:",
                 "%spoiled = getelementptr i64, ptr %context, i64 4",
                 "%count = atomicrmw add ptr %spoiled, i64 1 monotonic",
                 "br label %compute",
                 "compute:"]
    body.append(f"call void @{kernel}({', '.join([*where, 'ptr %work'])})")
    body += [f"call void @scatter(ptr %buffer{k}, ptr %arg{k}, i64 %outer{k}, i64 %core{k}, i64 {sizes[k]}, i64 %i, "
             "i64 %last)" for k in native if k >= len(inputs)]
    body += ["br label %head.end",
             "head.end:",
             f"%next = add i64 %i, {W}",
             "%more = icmp slt i64 %next, %n",
             "br i1 %more, label %head, label %give",
             "give:",
             "%other = atomicrmw xchg ptr %context, ptr %block acq_rel",
             "%alone = icmp eq ptr %other, null",
             "br i1 %alone, label %clear, label %release",
             "release:",
             "%free.p = getelementptr ptr, ptr %context, i64 2",
             "%free = load ptr, ptr %free.p",
             "call void %free(ptr %other)",
             "br label %clear",
             "clear:",                                      # else NumPy warns of what a branch not taken divided by
             f"%cleared = call i32 @feclearexcept(i32 {_FE_ALL})",
             "br label %end",
             "end:",
             "ret void",
             "}"]
    module.add("\n".join(body))


def _copies(W: int) -> str:
    """`@gather` and `@scatter`: rows i .. i + W - 1 of a strided array to lanes and back.

    Rows beyond the last are the last: read again, and written again with the same numbers. One row for all is read once.
    Where rows are contiguous, W columns at a time are transposed in registers, the last W columns overlapping those
    before. For W = 1 the caller uses a contiguous row where it stands.
    """
    head = "(ptr %lanes, ptr %array, i64 %outer, i64 %core, i64 %size, i64 %i, i64 %last) noinline {"
    rows = ["%dense = icmp eq i64 %core, 8"]
    for l in range(W):
        rows += [f"%w{l} = add i64 %i, {l}",
                 f"%v{l} = icmp sle i64 %w{l}, %last",
                 f"%c{l} = select i1 %v{l}, i64 %w{l}, i64 %last",
                 f"%o{l} = mul i64 %c{l}, %outer",
                 f"%row{l} = getelementptr i8, ptr %array, i64 %o{l}"]
    out = []
    for name, order in (("gather", -1), ("scatter", 1)):    # scatter goes from lane to row
        text = [f"define internal void @{name}{head}", "entry:"]
        if name == "gather":
            text += ["%later = icmp ne i64 %i, 0", "%one = icmp eq i64 %outer, 0", "%there = and i1 %later, %one",
                     "br i1 %there, label %done, label %start"]
        else:
            text += ["br label %start"]
        text += ["start:", *rows]
        if W == 1:
            text += ["br i1 %dense, label %done, label %column"]
        else:
            text += [f"%end = sub i64 %size, {W}", "%enough = icmp sge i64 %end, 0", "%fast = and i1 %dense, %enough",
                     "br i1 %fast, label %square, label %column",
                     "square:", "%j = phi i64 [ 0, %start ], [ %jn, %square ]", f"%jw = mul i64 %j, {W}"]
            for l in range(W):
                text += [f"%s{l} = getelementptr double, ptr %row{l}, i64 %j",
                         f"%b{l} = add i64 %jw, {l * W}",
                         f"%d{l} = getelementptr double, ptr %lanes, i64 %b{l}"]
            places = [(f"%d{l}", f"%s{l}")[::order] for l in range(W)]
            text += [f"%x{l} = load <{W} x double>, ptr {place}, align 8" for l, (place, _) in enumerate(places)]
            text += _transpose(W)
            text += [f"store <{W} x double> %y{l}, ptr {place}, align 8" for l, (_, place) in enumerate(places)]
            text += [f"%jp = add i64 %j, {W}", "%short = icmp slt i64 %jp, %end",
                     "%jn = select i1 %short, i64 %jp, i64 %end", "%more = icmp slt i64 %j, %end",
                     "br i1 %more, label %square, label %done"]
        text += ["column:", "%r = phi i64 [ 0, %start ], [ %rn, %column ]",
                 "%rc = mul i64 %r, %core", f"%rw = mul i64 %r, {W}"]
        for l in range(W):
            source, target = (f"%t{l}", f"%p{l}")[::order]
            text += [f"%p{l} = getelementptr i8, ptr %row{l}, i64 %rc",
                     f"%q{l} = add i64 %rw, {l}",
                     f"%t{l} = getelementptr double, ptr %lanes, i64 %q{l}",
                     f"%z{l} = load double, ptr {source}",
                     f"store double %z{l}, ptr {target}"]
        text += ["%rn = add i64 %r, 1", "%again = icmp slt i64 %rn, %size",
                 "br i1 %again, label %column, label %done", "done:", "ret void", "}"]
        out.append("\n".join(text))
    return "\n".join(out)


def _transpose(W: int) -> list[str]:
    """%x0 .. to %y0 ..: a W x W transpose in log2 W rounds, each swapping the off-diagonal halves of blocks."""
    text, names, h = [], [f"%x{l}" for l in range(W)], 1
    while h < W:
        result = list(names)
        for r in range(W):
            if r & h:
                continue
            low = [c if not c & h else W + c - h for c in range(W)]
            high = [c + h if not c & h else W + c for c in range(W)]
            for row, mask in ((r, low), (r + h, high)):
                result[row] = f"%y{row}" if 2 * h == W else f"%x{row}.{h}"
                lanes = ", ".join(f"i32 {m}" for m in mask)
                text.append(f"{result[row]} = shufflevector <{W} x double> {names[r]}, <{W} x double> {names[r + h]}, "
                            f"<{W} x i32> <{lanes}>")
        names, h = result, 2 * h
    return text


class InnerLoop:
    """A compiled inner loop, ready to be called with rows of states. Owns the machine code and its scratch memory.

    Args:
        library: where the function `symbol`, made by `add_loop`, is.
        inputs, outputs: sizes of the arguments, zeros included.
    """

    def __init__(self, library: Library, symbol: str, name: str, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        self.library, self.name = library, name
        self._in = [k for k, size in enumerate(inputs) if size]
        self._out = [k for k, size in enumerate(outputs) if size]
        self._address = library.address(symbol)
        self._context = (ctypes.c_void_p * 5)(None, *_memory_functions(), None, None)
        weakref.finalize(self, _release, self._context).atexit = False
        self.ufunc: np.ufunc | None = None                  # not made where it cannot be, nor without inputs
        if self._in and self._out and gufuncs_work():
            signature = ",".join(f"({inputs[k]})" for k in self._in) + "->" + \
                        ",".join(f"({outputs[k]})" for k in self._out)
            owner = _Owner(library, self._context)
            self.ufunc = make_ufunc(self._address, ctypes.addressof(self._context), signature, name, owner)

    @property
    def spoiled(self) -> int:
        """How many blocks of states had a watched argument that was not finite, since the beginning."""
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


class _Owner:
    """Keeps alive what machine code needs while a ufunc or a builtin exists."""

    def __init__(self, *things: object) -> None:
        self.things = things


def call_loop(address: int, context: ctypes.Array, arrays: Sequence[np.ndarray], states: int) -> None:
    """Call an inner loop without NumPy's help, the interpreter's lock released."""
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


def numpy_api(name: str) -> Any:
    """The function pointers behind one of NumPy's API capsules."""
    capsule = getattr(importlib.import_module("numpy._core._multiarray_umath"), name)
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi))
    return ctypes.cast(get(capsule, None), ctypes.POINTER(ctypes.c_void_p))


_FROM_SIGNATURE = 31                                        # PyUFunc_FromFuncAndDataAndSignature in NumPy 2's table
_DOUBLE = 12                                                # NPY_DOUBLE


def make_ufunc(loop: int, data: int, signature: str, name: str, owner: object) -> np.ufunc:
    """A generalised ufunc over a native loop; the ufunc keeps `owner` alive."""
    ins, outs = (side.count("(") for side in signature.split("->"))
    functions, datas = (ctypes.c_void_p * 1)(loop), (ctypes.c_void_p * 1)(data)
    types = ctypes.create_string_buffer(bytes([_DOUBLE] * (ins + outs)))
    text = ctypes.create_string_buffer(name.encode())
    doc = ctypes.create_string_buffer(f"{name}{signature}".encode())
    make = ctypes.PYFUNCTYPE(ctypes.py_object, *[ctypes.c_void_p] * 3, *[ctypes.c_int] * 4, *[ctypes.c_void_p] * 2,
                             ctypes.c_int, ctypes.c_char_p)(numpy_api("_UFUNC_API")[_FROM_SIGNATURE])
    ufunc = make(ctypes.addressof(functions), ctypes.addressof(datas), ctypes.addressof(types), 1, ins, outs, -1,
                 ctypes.addressof(text), ctypes.addressof(doc), 0, signature.encode())
    known = {32: functions, 40: datas, 56: text, 64: types, 72: doc, 80: None, 88: None}
    _give_owner(ufunc, known, _Owner(owner, functions, datas, types, text, doc))
    return ufunc


def _give_owner(ufunc: np.ufunc, known: dict[int, object], owner: object) -> None:
    """Put `owner` into the ufunc's own reference (`obj`, as frompyfunc does); keep it for ever if that is not there.

    The layout is believed only where every pointer beside it is the one we gave.
    """
    for offset, thing in known.items():
        found = ctypes.c_void_p.from_address(id(ufunc) + offset).value
        if found != (None if thing is None else ctypes.addressof(thing)):       # type: ignore[arg-type]
            _for_ever.append(owner)
            return
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(owner))
    ctypes.c_void_p.from_address(id(ufunc) + 88).value = id(owner)


_for_ever: list[object] = []


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
