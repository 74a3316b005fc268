"""The shortest way from Python into a kernel: a builtin function that reads NumPy arrays by itself.

A generalised ufunc costs about 1.4 microseconds a call, as much as the dynamics of fifteen bodies. The builtin looks at
its arguments in machine code: if all are plain float64 vectors of the right size, contiguous and aligned, it makes the
result arrays, runs the kernel and returns them; in every other case it calls the slow path with the same arguments.

It reads NumPy 2's array structure by offsets, which `works` compares with arrays of known shape before any use. It
holds the interpreter's lock throughout, hence its scratch memory may be one static array. It leaves floating-point
flags as the kernel does: NumPy clears them before its own loops. Addresses of Python's and NumPy's functions come
through a table that `make_builtin` binds; none is part of the machine code.
"""
from __future__ import annotations

import ctypes
import functools
import inspect
import platform
import sysconfig
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from condyle.native.calls.gufunc import numpy_api
from condyle.native.finite import Watched, scan
from condyle.native.machine.jit import Library
from condyle.native.straight.emit import Module

_TYPE = 8                                                   # offsets in a Python object and in NumPy 2's array
_DATA, _NDIM, _DIMS, _STRIDES, _DESCR = 16, 24, 32, 40, 56
_KIND = 24                                                  # in a dtype: kind, char, byte order, flags, type number
_DOUBLE = 12                                                # NPY_DOUBLE
_ARRAY_TYPE, _ARRAY_NEW = 2, 93                             # entries of NumPy 2's table of functions
_FASTCALL = 0x80 | 0x02                                     # METH_FASTCALL | METH_KEYWORDS

# Entries of our own table, in order.
_TABLE = ("array_type", "double_kind", "array_new", "vectorcall", "tuple_new", "tuple_set", "decref", "dict_new", "dict_set",
          "tuple_get")


def add_call(module: Module, name: str, kernel: str, inputs: Sequence[int], outputs: Sequence[int], work: int, *,
             fixed: bool = False, status: bool = False, named: bool = False, optional: bool = False, rows: int = 0,
             watched: Sequence[Watched] = ()) -> None:
    """Define the builtin `@name` around the scalar kernel `@kernel`, and `@name.bind`, which gives it its table.

    Args:
        inputs, outputs: sizes of the kernel's arguments, zeros included.
        work: doubles that the kernel's `work` argument needs.
        fixed: the last input is not an argument but an array given when the builtin is made.
        status: the last output is no result but a number; if it is not zero, the slow path takes over.
        named: the results come in a dict, under keys given when the builtin is made.
        optional: the last argument may be left out and is zero then. There is one before it.
        rows: the results are matrices of so many rows, row by row; 0 for vectors.
        watched: inputs that should be finite; if they are not, the slow path takes over.
    """
    asked = len(inputs) - fixed
    ins, results = range(asked), range(len(outputs) - status)
    text = [f"@{name}.table = internal global ptr null", f"@{name}.fixed = internal global ptr null",
            f"@{name}.keys = internal global ptr null", f"@{name}.status = internal global double 0.0",
            f"@{name}.work = internal global [{max(work, 1)} x double] zeroinitializer, align 64",
            *(f"@{name}.shape{k} = internal constant [2 x i64] [{shape}]" for k, shape in (
                (k, f"i64 {rows}, i64 {outputs[k] // rows}" if rows else f"i64 {outputs[k]}, i64 0") for k in results)),
            *(f"@{name}.zeros = internal constant [{max(n, 1)} x double] zeroinitializer, align 64"
              for n in inputs[asked - 1:asked] if optional),
            f"define void @{name}.bind(ptr %table, ptr %fixed, ptr %keys) {{", f"store ptr %table, ptr @{name}.table",
            f"store ptr %fixed, ptr @{name}.fixed", f"store ptr %keys, ptr @{name}.keys", "ret void", "}",
            f"define ptr @{name}(ptr %owner, ptr %args, i64 %count, ptr %keywords) {{",
            f"%table = load ptr, ptr @{name}.table"]
    for k, entry in enumerate(_TABLE):
        text += [f"%{entry}.p = getelementptr ptr, ptr %table, i64 {k}",
                 f"%{entry} = load {'i64' if entry == 'double_kind' else 'ptr'}, ptr %{entry}.p"]
    text += [f"%all = icmp eq i64 %count, {asked}",
             f"%fewer = icmp eq i64 %count, {asked - optional}",
             "%number = or i1 %all, %fewer",
             "%plain = icmp eq ptr %keywords, null",
             "%right = and i1 %number, %plain",
             f"br i1 %right, label %{'arg0' if asked else 'look'}, label %slow"]
    pointers = [f"%x{k}" for k in ins]
    for k in ins:
        text += _check_argument(k, inputs[k], f"arg{k + 1}" if k + 1 < asked - optional else "last" if k + 1 < asked else "look")
    if optional:
        text += ["last:", f"br i1 %all, label %arg{asked - 1}, label %look"]
        pointers[-1] = "%given"
    text += ["look:"]
    if optional:
        text += [f"%given = phi ptr [ %x{asked - 1}, %shape{asked - 1} ], [ @{name}.zeros, %last ]"]
    seen = [(pointers[w.place], w) for w in watched if w.size]
    text += [*scan("usable", 1, seen), "br i1 %usable, label %make0, label %slow"]
    for k in results:                                       # NULL means that NumPy has set an error
        text += [f"make{k}:",
                 f"%r{k} = call ptr %array_new(ptr %array_type, i32 {2 if rows else 1}, ptr @{name}.shape{k}, i32 {_DOUBLE}, "
                 "ptr null, ptr null, i32 0, i32 0, ptr null)",
                 f"%bad{k} = icmp eq ptr %r{k}, null",
                 f"br i1 %bad{k}, label %drop{k}, label %made{k}",
                 f"made{k}:", *_field(f"%y{k}", "ptr", f"%r{k}", _DATA), f"br label %make{k + 1}"]
    given = [f"ptr {x}" for x in pointers] + (["ptr %fixed"] if fixed else [])
    into = [f"ptr %y{k}" for k in results] + ([f"ptr @{name}.status"] if status else [])
    text += [f"make{len(results)}:", f"%fixed = load ptr, ptr @{name}.fixed",
             f"call void @{kernel}({', '.join([*given, *into, f'ptr @{name}.work'])})"]
    if status:
        text += [f"%status = load double, ptr @{name}.status",
                 "%fine = fcmp oeq double %status, 0.0",
                 "br i1 %fine, label %answer0, label %refuse",
                 "refuse:", *(f"call void %decref(ptr %r{k})" for k in results), "br label %slow",
                 "answer0:"]
    if named:
        text += _dict_of(name, len(results))
    elif len(results) == 1:
        text += ["ret ptr %r0"]
    else:
        text += [f"%tuple = call ptr %tuple_new(i64 {len(results)})",
                 "%bad = icmp eq ptr %tuple, null",
                 f"br i1 %bad, label %drop{len(results)}, label %fill",
                 "fill:",
                 *(f"%set{k} = call i32 %tuple_set(ptr %tuple, i64 {k}, ptr %r{k})" for k in results),
                 "ret ptr %tuple"]
    first = len(results) if named or len(results) != 1 else 0
    for k in range(first, -1, -1):                          # drop k: give up results k - 1 .. 0
        text += [f"drop{k}:"]
        text += [f"call void %decref(ptr %r{k - 1})", f"br label %drop{k - 1}"] if k else ["ret ptr null"]
    text += ["slow:", "%other = call ptr %tuple_get(ptr %owner, i64 0)",
             "%answer = call ptr %vectorcall(ptr %other, ptr %args, i64 %count, ptr %keywords)", "ret ptr %answer", "}"]
    module.add("\n".join(text))


def _dict_of(name: str, count: int) -> list[str]:
    """Return the results in a dict, which takes its own references."""
    text = ["%dict = call ptr %dict_new()", "%bad = icmp eq ptr %dict, null", f"br i1 %bad, label %drop{count}, label %fill",
            "fill:", f"%keys = load ptr, ptr @{name}.keys", "%failed0 = or i32 0, 0"]
    for k in range(count):
        text += [f"%key{k}.p = getelementptr ptr, ptr %keys, i64 {k}", f"%key{k} = load ptr, ptr %key{k}.p",
                 f"%set{k} = call i32 %dict_set(ptr %dict, ptr %key{k}, ptr %r{k})",
                 f"%failed{k + 1} = or i32 %failed{k}, %set{k}", f"call void %decref(ptr %r{k})"]
    return [*text, f"%whole = icmp eq i32 %failed{count}, 0", "br i1 %whole, label %give, label %lose",
            "give:", "ret ptr %dict", "lose:", "call void %decref(ptr %dict)", "ret ptr null"]


def _field(result: str, kind: str, base: str, offset: int) -> list[str]:
    return [f"{result}.p = getelementptr i8, ptr {base}, i64 {offset}", f"{result} = load {kind}, ptr {result}.p"]


def _check_argument(k: int, size: int, following: str) -> list[str]:
    """From label arg<k>: %x<k> is the data of a plain float64 vector of the right size, or go to the slow path."""
    text = [f"arg{k}:",
            f"%o{k}.p = getelementptr ptr, ptr %args, i64 {k}",
            f"%o{k} = load ptr, ptr %o{k}.p",
            *_field(f"%type{k}", "ptr", f"%o{k}", _TYPE),
            f"%array{k} = icmp eq ptr %type{k}, %array_type",
            f"br i1 %array{k}, label %rank{k}, label %slow",
            f"rank{k}:",
            *_field(f"%ndim{k}", "i32", f"%o{k}", _NDIM),
            f"%vector{k} = icmp eq i32 %ndim{k}, 1",
            f"br i1 %vector{k}, label %shape{k}, label %slow",
            f"shape{k}:",
            *_field(f"%x{k}", "ptr", f"%o{k}", _DATA),
            *_field(f"%dims{k}", "ptr", f"%o{k}", _DIMS),
            f"%dim{k} = load i64, ptr %dims{k}",
            *_field(f"%descr{k}", "ptr", f"%o{k}", _DESCR),
            *_field(f"%kind{k}", "i64", f"%descr{k}", _KIND),
            f"%number{k} = ptrtoint ptr %x{k} to i64",
            f"%odd{k} = and i64 %number{k}, 7",
            f"%ok{k}.0 = icmp eq i64 %dim{k}, {size}",
            f"%ok{k}.1 = icmp eq i64 %kind{k}, %double_kind",
            f"%ok{k}.2 = icmp eq i64 %odd{k}, 0",
            f"%ok{k}.3 = and i1 %ok{k}.0, %ok{k}.1",
            f"%ok{k}.4 = and i1 %ok{k}.2, %ok{k}.3"]
    good = f"%ok{k}.4"
    if size > 1:
        text += [*_field(f"%strides{k}", "ptr", f"%o{k}", _STRIDES),
                 f"%stride{k} = load i64, ptr %strides{k}",
                 f"%ok{k}.5 = icmp eq i64 %stride{k}, 8",
                 f"%ok{k}.6 = and i1 %ok{k}.4, %ok{k}.5"]
        good = f"%ok{k}.6"
    return [*text, f"br i1 {good}, label %{following}, label %slow"]


def make_builtin(library: Library, symbol: str, name: str, slow: Callable[..., Any], fixed: np.ndarray | None = None,
                 like: Callable[..., Any] | None = None, keys: Sequence[str] = ()) -> Callable[..., Any]:
    """A builtin function over `symbol` of the library, made by `add_call`. Only where `works` is true.

    What it needs is in a tuple that it owns. The garbage collector takes neither tuples nor arrays apart before they are
    freed, unlike functions, objects and ctypes structures: CPython reads the definition until the very end.

    Args:
        library: which it keeps alive.
        symbol: of the native function.
        name: that it shows.
        slow: the slow path, called with the same arguments.
        fixed: the last input, float64 and contiguous, where `add_call` was told so.
        like: a bound method whose signature and docstring `help` shall show.
        keys: of the results, where `add_call` was told `named`.
    """
    bind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(library.address(f"{symbol}.bind"))
    texts = name.encode(), None if like is None else _documentation(name, like)
    starts = [ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p).value or 0 for text in texts]
    definition = np.array([starts[0], library.address(symbol), _FASTCALL, starts[1]], np.uint64)     # PyMethodDef
    table = np.array([id(key) for key in keys], np.uint64)
    functions = _table()
    bind(functions, None if fixed is None else fixed.ctypes.data, table.ctypes.data)
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        ("PyCFunction_NewEx", ctypes.pythonapi))
    return new(definition.ctypes.data, (slow, library, functions, fixed, keys, table, definition, texts), None)


def _documentation(name: str, like: Callable[..., Any]) -> bytes:
    """A text signature as CPython writes them, without annotations, and the docstring."""
    parameters = [p.replace(annotation=p.empty) for p in inspect.signature(like).parameters.values()]
    asked = str(inspect.Signature(parameters))[1:-1]
    return f"{name}($self, {asked})\n--\n\n{inspect.getdoc(like) or ''}".encode()


@functools.cache
def _table() -> ctypes.Array:
    api, functions = ctypes.pythonapi, numpy_api("_ARRAY_API")
    address = lambda f: ctypes.cast(f, ctypes.c_void_p).value
    values = {"array_type": functions[_ARRAY_TYPE], "double_kind": _word(id(np.dtype(np.float64)) + _KIND),
              "array_new": functions[_ARRAY_NEW], "vectorcall": address(api.PyObject_Vectorcall),
              "tuple_new": address(api.PyTuple_New), "tuple_set": address(api.PyTuple_SetItem),
              "decref": address(api.Py_DecRef), "dict_new": address(api.PyDict_New), "dict_set": address(api.PyDict_SetItem),
              "tuple_get": address(api.PyTuple_GetItem)}
    return (ctypes.c_void_p * len(_TABLE))(*(values[entry] for entry in _TABLE))


def _word(address: int) -> int:
    return ctypes.c_uint64.from_address(address).value


@functools.cache
def works() -> bool:
    """True if this Python and this NumPy keep their objects as the builtin expects, tried once on known arrays."""
    if platform.python_implementation() != "CPython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sysconfig.get_config_var("Py_DEBUG"):
        return False
    if int(np.__version__.split(".")[0]) != 2:
        return False
    try:
        table = _table()
        square = np.arange(20.0).reshape(4, 5)
        known = all(_layout_holds(a) for a in (square[0], square[1, 1:4], square[:, 2], square, square.view(np.int64)))
        kind = bytes((ctypes.c_char * 8).from_address(id(square.dtype) + _KIND))
        if not known or table[0] != id(np.ndarray) or kind[:3] != b"fd=" or kind[4:] != _DOUBLE.to_bytes(4, "little"):
            return False
        new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int,
                                *[ctypes.c_void_p] * 2, *[ctypes.c_int] * 2, ctypes.c_void_p)(table[2])
        made = new(table[0], 1, ctypes.addressof(ctypes.c_ssize_t(7)), _DOUBLE, None, None, 0, 0, None)
        return type(made) is np.ndarray and made.shape == (7,) and made.dtype == np.float64 and made.flags.owndata
    except (AttributeError, ImportError, TypeError, ValueError, SystemError):
        return False


def _layout_holds(a: np.ndarray) -> bool:
    at, d = id(a), a.ndim
    if _word(at + _TYPE) != id(np.ndarray) or _word(at + _DATA) != a.ctypes.data or _word(at + _DESCR) != id(a.dtype):
        return False
    if ctypes.c_int.from_address(at + _NDIM).value != d:
        return False
    fields = ((_DIMS, a.shape), (_STRIDES, a.strides))
    return all(tuple((ctypes.c_ssize_t * d).from_address(_word(at + offset))) == values for offset, values in fields)
