"""Offsets in objects of CPython and NumPy 2, and NumPy's C functions; no other module uses offsets. `works`
compares them with objects of known content before the first use; on free-threaded Python, whose objects
differ, and on other implementations than CPython they are never used.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import platform
import sys
import sysconfig
from typing import Any

import numpy as np

# offsets in a Python object, a float and a tuple, and in NumPy 2's array
TYPE = 8
NUMBER, LENGTH, ITEMS = 16, 16, 24
DATA, NDIM, DIMS, STRIDES, DESCR = 16, 24, 32, 40, 56
KIND = 24  # in a dtype: kind, char, byte order, flags, type number
NPY_DOUBLE = 12
# in a ufunc: functions, data, name, types, documentation, two that are empty, of which the last is an object
_UFUNC = (32, 40, 56, 64, 72, 80, 88)
# entries of NumPy 2's tables of functions
ARRAY_TYPE, ARRAY_NEW = 2, 93
_UFUNC_FROM_SIGNATURE = 31

TABLE = (
    "array_type",
    "double_kind",
    "array_new",
    "vectorcall",
    "tuple_new",
    "tuple_set",
    "decref",
    "dict_new",
    "dict_set",
    "tuple_get",
    "float_type",
)
"""Entries of the table of types and functions for machine code, in order."""


@functools.cache
def table() -> ctypes.Array:
    """The addresses of the functions and objects that TABLE names."""
    api, functions = ctypes.pythonapi, _numpy_functions("_ARRAY_API")
    address = lambda f: ctypes.cast(f, ctypes.c_void_p).value
    values = {
        "array_type": functions[ARRAY_TYPE],
        "double_kind": _word(id(np.dtype(np.float64)) + KIND),
        "array_new": functions[ARRAY_NEW],
        "vectorcall": address(api.PyObject_Vectorcall),
        "tuple_new": address(api.PyTuple_New),
        "tuple_set": address(api.PyTuple_SetItem),
        "decref": address(api.Py_DecRef),
        "dict_new": address(api.PyDict_New),
        "dict_set": address(api.PyDict_SetItem),
        "tuple_get": address(api.PyTuple_GetItem),
        "float_type": id(float),
    }
    return (ctypes.c_void_p * len(TABLE))(*(values[entry] for entry in TABLE))


def _word(address: int) -> int:
    return ctypes.c_uint64.from_address(address).value


def is_free_threaded() -> bool:
    """Whether this Python has no global lock, or was built to run without it: its objects differ."""
    return (
        bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
        or not getattr(sys, "_is_gil_enabled", lambda: True)()
    )


@functools.cache
def works() -> bool:
    """True if objects of this Python and NumPy have the expected layout, tested once on known arrays."""
    if platform.python_implementation() != "CPython" or is_free_threaded():
        return False
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sysconfig.get_config_var("Py_DEBUG"):
        return False
    if int(np.__version__.split(".")[0]) != 2:
        return False
    try:
        functions = table()
        square = np.arange(20.0).reshape(4, 5)
        known = all(
            _layout_holds(a) for a in (square[0], square[1, 1:4], square[:, 2], square, square.view(np.int64))
        )
        pair = (square, 1.5)
        known = known and _word(id(pair) + LENGTH) == 2 and _word(id(pair) + ITEMS + 8) == id(pair[1])
        known = known and ctypes.c_double.from_address(id(pair[1]) + NUMBER).value == 1.5
        kind = bytes((ctypes.c_char * 8).from_address(id(square.dtype) + KIND))
        if (
            not known
            or functions[0] != id(np.ndarray)
            or kind[:3] != b"fd="
            or kind[4:] != NPY_DOUBLE.to_bytes(4, "little")
        ):
            return False
        new = ctypes.PYFUNCTYPE(
            ctypes.py_object,
            ctypes.c_void_p,
            ctypes.c_int,
            ctypes.c_void_p,
            ctypes.c_int,
            *[ctypes.c_void_p] * 2,
            *[ctypes.c_int] * 2,
            ctypes.c_void_p,
        )(functions[2])
        made = new(functions[0], 1, ctypes.addressof(ctypes.c_ssize_t(7)), NPY_DOUBLE, None, None, 0, 0, None)
        return (
            type(made) is np.ndarray
            and made.shape == (7,)
            and made.dtype == np.float64
            and made.flags.owndata
        )
    except (AttributeError, ImportError, TypeError, ValueError, SystemError):
        return False


def _layout_holds(a: np.ndarray) -> bool:
    at, d = id(a), a.ndim
    if (
        _word(at + TYPE) != id(np.ndarray)
        or _word(at + DATA) != a.ctypes.data
        or _word(at + DESCR) != id(a.dtype)
    ):
        return False
    if ctypes.c_int.from_address(at + NDIM).value != d:
        return False
    fields = ((DIMS, a.shape), (STRIDES, a.strides))
    return all(
        tuple((ctypes.c_ssize_t * d).from_address(_word(at + offset))) == values for offset, values in fields
    )


def _numpy_functions(name: str) -> Any:
    """The function pointers in one of NumPy's API capsules."""
    capsule = getattr(importlib.import_module("numpy._core._multiarray_umath"), name)
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    return ctypes.cast(get(capsule, None), ctypes.POINTER(ctypes.c_void_p))


class Owner:
    """Keeps alive the objects that machine code needs while a ufunc or a builtin exists."""

    def __init__(self, *things: object) -> None:
        self.things = things


def make_ufunc(loop: int, data: int, signature: str, name: str, owner: object) -> np.ufunc:
    """A generalized ufunc over a native loop; the ufunc keeps `owner` alive."""
    ins, outs = (side.count("(") for side in signature.split("->"))
    functions, datas = (ctypes.c_void_p * 1)(loop), (ctypes.c_void_p * 1)(data)
    types = ctypes.create_string_buffer(bytes([NPY_DOUBLE] * (ins + outs)))
    text = ctypes.create_string_buffer(name.encode())
    doc = ctypes.create_string_buffer(f"{name}{signature}".encode())
    make = ctypes.PYFUNCTYPE(
        ctypes.py_object,
        *[ctypes.c_void_p] * 3,
        *[ctypes.c_int] * 4,
        *[ctypes.c_void_p] * 2,
        ctypes.c_int,
        ctypes.c_char_p,
    )(_numpy_functions("_UFUNC_API")[_UFUNC_FROM_SIGNATURE])
    ufunc = make(
        ctypes.addressof(functions),
        ctypes.addressof(datas),
        ctypes.addressof(types),
        1,
        ins,
        outs,
        -1,
        ctypes.addressof(text),
        ctypes.addressof(doc),
        0,
        signature.encode(),
    )
    known = zip(_UFUNC, (functions, datas, text, types, doc, None, None), strict=True)
    _give_owner(ufunc, dict(known), Owner(owner, functions, datas, types, text, doc))
    return ufunc


def _give_owner(ufunc: np.ufunc, known: dict[int, object], owner: object) -> None:
    """Put `owner` into the ufunc's own reference (`obj`, as frompyfunc does); without one, keep it until the
    process ends.

    The layout is trusted only if every neighboring pointer has the expected value.
    """
    for offset, thing in known.items():
        found = ctypes.c_void_p.from_address(id(ufunc) + offset).value
        if found != (None if thing is None else ctypes.addressof(thing)):  # type: ignore[arg-type]
            _for_ever.append(owner)
            return
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(owner))
    ctypes.c_void_p.from_address(id(ufunc) + _UFUNC[-1]).value = id(owner)


_for_ever: list[object] = []
