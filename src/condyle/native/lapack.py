"""Addresses of LAPACK and BLAS routines, as SciPy exports them to C. SciPy is imported when the first is asked for."""
from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterable

from condyle.errors import NativeError, UnknownNameError


@functools.cache
def _capsules() -> dict[str, object]:
    from scipy.linalg import cython_blas, cython_lapack

    return {**cython_blas.__pyx_capi__, **cython_lapack.__pyx_capi__}


def _signature(name: str) -> tuple[object, bytes]:
    capsules = _capsules()
    if name not in capsules:
        raise UnknownNameError("LAPACK routine", name, capsules, "or give its address to Program by `symbols`")
    capsule_name = ctypes.pythonapi.PyCapsule_GetName
    capsule_name.restype, capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return capsules[name], capsule_name(capsules[name])


def argument_kinds(name: str) -> tuple[str, ...]:
    """What each argument of the routine points to: "char", "int" or "double"."""
    text = _signature(name)[1].decode()
    result, inside = text.rstrip(")").split("(", 1)
    known = {"char *": "char", "int *": "int"}
    kinds = tuple(known.get(a, "double" if a.endswith("_d *") else "") for a in inside.split(", "))
    if result.strip() != "void" or "" in kinds:
        raise NativeError(f"{name} has C signature {text!r}; allowed are routines of doubles that return nothing")
    return kinds


def addresses(names: Iterable[str]) -> dict[str, int]:
    """Address of each routine by name."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return {n: pointer(*_signature(n)) for n in names}
