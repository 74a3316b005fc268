"""Fast calls from Python to a kernel: a builtin function that reads NumPy arrays directly.

A generalized ufunc costs about 1.4 microseconds per call, as much as the dynamics of fifteen bodies. The
builtin checks its arguments in machine code: if all are plain float64 vectors of the right size, contiguous
and aligned, it creates the result arrays, runs the kernel and returns them; otherwise it calls the slow path
with the same arguments.

It reads NumPy 2's array structure by offsets (structures.py), which are compared with arrays of known shape
before the first use; if they differ, and on free-threaded Python, all calls are ordinary ones. It holds the
interpreter lock throughout, so its scratch memory is one static array. It leaves floating-point flags as the
kernel does: NumPy clears them before its own loops. Addresses of Python's and NumPy's functions come through
a table that `make_builtin` binds; none is part of the machine code.
"""

from __future__ import annotations

import ctypes
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from condyle.native.calls.finite_check import FiniteArgument, is_finite
from condyle.native.fastcall.structures import (
    DATA,
    DESCR,
    DIMS,
    ITEMS,
    KIND,
    LENGTH,
    NDIM,
    NPY_DOUBLE,
    NUMBER,
    STRIDES,
    TABLE,
    TYPE,
    table,
)
from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import BYTE, DOUBLE, INT, LONG, POINTER, Value
from condyle.native.machine.jit import Library
from condyle.records import dataclass

_FASTCALL = 0x80 | 0x02  # METH_FASTCALL | METH_KEYWORDS


@dataclass(frozen=True)
class CallOption:
    """A keyword that fills a part of the fixed input: a float, or a vector.

    Args:
        name: of the keyword.
        start: where the part begins.
        size: of the vector; None for a number.
    """

    name: str
    start: int
    size: int | None = None


@dataclass(frozen=True)
class DirectCall:
    """Calling convention and results of a builtin with a fixed last input.

    Args:
        optional: the argument before the fixed input may be left out and is then zero.
        keys: keys of a dict of results.
        rows: number of rows if the results are matrices, stored row by row; 0 for vectors.
        options: keywords that replace parts of the fixed input; they must be finite too. finite: results that
            are not finite lead to the slow path. noted: so does a nonzero word of machine/notes.py.
    """

    optional: bool = False
    keys: tuple[str, ...] = ()
    rows: int = 0
    options: tuple[CallOption, ...] = ()
    finite: bool = False
    noted: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Keys of the results, and names of the options."""
        return (*self.keys, *(option.name for option in self.options))


def add_call(
    module: Module,
    name: str,
    kernel: str,
    inputs: Sequence[int],
    outputs: Sequence[int],
    work: int,
    *,
    status: bool = False,
    watched: Sequence[FiniteArgument] = (),
    direct: DirectCall | None = None,
) -> None:
    """Define the builtin `@name` around the scalar kernel `@kernel`, and `@name.bind`, which gives it its
    table.

    Args:
        inputs: sizes of the kernel's arguments, zeros included.
        outputs: sizes of its results.
        work: doubles that the kernel's `work` argument needs.
        status: the last output is a status; if it is not zero, the slow path takes over.
        watched: inputs that should be finite; if they are not, the slow path takes over.
        direct: calling convention with the last input fixed when the builtin is created.
    """
    fixed, direct = direct is not None, direct or DirectCall()
    optional, rows, options, named = direct.optional, direct.rows, direct.options, bool(direct.keys)
    asked, results = len(inputs) - fixed, outputs[: len(outputs) - status]
    variables = {
        part: module.variable(f"{name}.{part}", size)
        for part, size in (("table", 8), ("fixed", 8), ("keys", 8), ("status", 8), ("work", 8 * max(work, 1)))
    }
    with module.function(f"{name}.bind", [POINTER] * 3, internal=False) as b:
        for part, value in zip(("table", "fixed", "keys"), b.arguments):
            b.store(value, b.symbol(variables[part]))
    with module.function(name, [POINTER, POINTER, LONG, POINTER], result=POINTER, internal=False) as b:
        owner, arguments, count, keywords = b.arguments
        memory = {part: b.symbol(symbol) for part, symbol in variables.items()}
        functions = b.load(memory["table"], POINTER)
        api = {
            entry: b.load(b.at(functions, k, POINTER), LONG if entry == "double_kind" else POINTER)
            for k, entry in enumerate(TABLE)
        }
        slow, out_of_memory = b.label("slow"), b.label("out_of_memory")
        complete = b.compare("eq", count, asked)
        b.require(complete | b.compare("eq", count, asked - optional), slow)
        if not options:
            b.require(b.compare("eq", keywords, b.null()), slow)
        given = [_vector(b, arguments, k, inputs[k], api, slow) for k in range(asked - optional)]
        if optional:
            zeros = b.symbol(module.variable(f"{name}.zeros", 8 * max(inputs[asked - 1], 1)))
            before = b.block
            with b.when(complete):
                last = _vector(b, arguments, asked - 1, inputs[asked - 1], api, slow)
                found = b.block
            given.append(b.phi((zeros, before), (last, found)))
        b.require(is_finite(b, [(given[w.place], w) for w in watched if w.size]), slow)
        if fixed:
            given.append(b.load(memory["fixed"], POINTER))
        if options:
            before, own = b.block, b.symbol(module.variable(f"{name}.own", 8 * inputs[-1]))
            with b.when(b.compare("ne", keywords, b.null())):
                b.copy(own, given[-1], 8 * inputs[-1])
                keys = b.at(b.load(memory["keys"], POINTER), len(results) * named, POINTER)
                _take(b, b.at(arguments, count, POINTER), keywords, keys, options, own, api, slow)
                taken = b.block
            given[-1] = b.phi((given[-1], before), (own, taken))
        made: list[Value] = []
        # label k: release results k - 1 .. 0; NumPy has set an error
        dropped = [out_of_memory]
        for size in results:
            shape = np.array([rows, size // rows] if rows else [size], np.int64)
            sizes = b.symbol(module.table(f"{name}.shape{len(made)}", shape))
            array = b.call(
                api["array_new"],
                api["array_type"],
                b.number(len(shape), INT),
                sizes,
                b.number(NPY_DOUBLE, INT),
                b.null(),
                b.null(),
                b.number(0, INT),
                b.number(0, INT),
                b.null(),
                result=POINTER,
            )
            b.require(b.compare("ne", array, b.null()), dropped[-1])
            made.append(array)
            dropped.append(b.label("drop"))
        data = [b.load(b.at(array, DATA, BYTE), POINTER) for array in made]
        b.call(kernel, *given, *data, *[memory["status"]] * status, memory["work"])
        bad = [b.compare("une", b.load(memory["status"], DOUBLE), 0.0)] if status else []
        if direct.finite:
            seen = [(x, FiniteArgument(k, size)) for k, (x, size) in enumerate(zip(data, results)) if size]
            bad.append(is_finite(b, seen) ^ True)
        if direct.noted:
            bad.append(b.compare("ne", b.load(b.symbol(module.note()), LONG), 0))
        for reason in bad:
            with b.when(reason):
                for array in made:
                    b.call(api["decref"], array)
                b.jump(slow)
        if named:
            _give_dict(b, api, b.load(memory["keys"], POINTER), made, dropped[-1])
        elif len(made) == 1:
            b.give(made[0])
        else:
            answer = b.call(api["tuple_new"], len(made), result=POINTER)
            b.require(b.compare("ne", answer, b.null()), dropped[-1])
            for k, array in enumerate(made):
                b.call(api["tuple_set"], answer, k, array, result=INT)
            b.give(answer)
        used = dropped if named or len(made) != 1 else dropped[:-1]
        for k, label in reversed(list(enumerate(used))):
            b.place(label)
            if k:
                b.call(api["decref"], made[k - 1])
        b.give(b.null())
        b.place(slow)
        other = b.call(api["tuple_get"], owner, 0, result=POINTER)
        b.give(b.call(api["vectorcall"], other, arguments, count, keywords, result=POINTER))


def _take(
    b: Builder,
    values: Value,
    keywords: Value,
    keys: Value,
    options: Sequence[CallOption],
    into: Value,
    api: Mapping[str, Value],
    slow: str,
) -> None:
    """Copy the values of keywords to the fixed input. Names are compared by identity, which works for
    interned names; all other names lead to the slow path.
    """
    with b.loop(b.load(b.at(keywords, LENGTH, BYTE), LONG)) as j:
        key, following = b.load(b.at(b.at(keywords, ITEMS, BYTE), j, POINTER), POINTER), b.label("following")
        for k, option in enumerate(options):
            with b.when(b.compare("eq", key, b.load(b.at(keys, k, POINTER), POINTER))):
                place = b.at(into, option.start)
                if option.size is None:
                    number = b.load(b.at(values, j, POINTER), POINTER)
                    kind = b.load(b.at(number, TYPE, BYTE), POINTER)
                    b.require(b.compare("eq", kind, api["float_type"]), slow)
                    x = b.load(b.at(number, NUMBER, BYTE), DOUBLE)
                    b.require(b.compare("oeq", x * 0.0, 0.0), slow)
                    b.store(x, place)
                else:
                    data = _vector(b, values, j, option.size, api, slow)
                    if option.size:
                        b.require(is_finite(b, [(data, FiniteArgument(0, option.size))]), slow)
                        b.copy(place, data, 8 * option.size)
                b.jump(following)
        b.jump(slow)
        b.place(following)


def _give_dict(
    b: Builder, api: Mapping[str, Value], keys: Value, made: Sequence[Value], no_memory: str
) -> None:
    """Return the results in a dict, which takes its own references."""
    answer = b.call(api["dict_new"], result=POINTER)
    b.require(b.compare("ne", answer, b.null()), no_memory)
    failed = b.number(0, INT)
    for k, array in enumerate(made):
        key = b.load(b.at(keys, k, POINTER), POINTER)
        failed = failed | b.call(api["dict_set"], answer, key, array, result=INT)
        b.call(api["decref"], array)
    with b.when(b.compare("eq", failed, 0)):
        b.give(answer)
    b.call(api["decref"], answer)
    b.give(b.null())


def _vector(
    b: Builder, arguments: Value, k: Value | int, size: int, api: Mapping[str, Value], slow: str
) -> Value:
    """The data of argument k, if it is a plain float64 vector of the right size; else the slow path runs."""

    def read(base: Value, offset: int, type: str = POINTER, align: int = 8) -> Value:
        return b.load(b.at(base, offset, BYTE), type, align)

    array = b.load(b.at(arguments, k, POINTER), POINTER)
    b.require(b.compare("eq", read(array, TYPE), api["array_type"]), slow)
    b.require(b.compare("eq", read(array, NDIM, INT, 4), 1), slow)
    data = read(array, DATA)
    good = b.compare("eq", b.load(read(array, DIMS), LONG), size)
    good = good & b.compare("eq", read(read(array, DESCR), KIND, LONG), api["double_kind"])
    good = good & b.compare("eq", b.convert("ptrtoint", data, LONG) & 7, 0)
    if size > 1:
        good = good & b.compare("eq", b.load(read(array, STRIDES), LONG), 8)
    b.require(good, slow)
    return data


def make_builtin(
    library: Library,
    symbol: str,
    name: str,
    slow: Callable[..., Any],
    fixed: np.ndarray | None = None,
    like: Callable[..., Any] | None = None,
    keys: Sequence[str] = (),
) -> Callable[..., Any]:
    """A builtin function over `symbol` of the library, made by `add_call`. Only where `structures.works` is true.

    What it needs is in a tuple that it owns. The garbage collector clears functions, objects and ctypes
    structures before they are freed, but neither tuples nor arrays, and CPython reads the definition until
    the very end.

    Args:
        library: kept alive by the builtin. symbol: of the native function. name: of the builtin.
        slow: the slow path, called with the same arguments.
        fixed: the last input, float64 and contiguous, if `add_call` had `direct`.
        like: a bound method whose signature and docstring `help` shows.
        keys: of the results, names of the results, then of the options: `DirectCall.names`.
    """
    keys = tuple(map(sys.intern, keys))
    bind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(library.address(f"{symbol}.bind"))
    texts = name.encode(), None if like is None else _documentation(name, like)
    starts = [ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p).value or 0 for text in texts]
    definition = np.array(
        [starts[0], library.address(symbol), _FASTCALL, starts[1]], np.uint64
    )  # PyMethodDef
    addresses = np.array([id(key) for key in keys], np.uint64)
    functions = table()
    bind(functions, None if fixed is None else fixed.ctypes.data, addresses.ctypes.data)
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        ("PyCFunction_NewEx", ctypes.pythonapi)
    )
    return new(
        definition.ctypes.data, (slow, library, functions, fixed, keys, addresses, definition, texts), None
    )


def _documentation(name: str, like: Callable[..., Any]) -> bytes:
    """A text signature as CPython writes them, without annotations, and the docstring."""
    parameters = [p.replace(annotation=p.empty) for p in inspect.signature(like).parameters.values()]
    asked = str(inspect.Signature(parameters))[1:-1]
    return f"{name}($self, {asked})\n--\n\n{inspect.getdoc(like) or ''}".encode()
