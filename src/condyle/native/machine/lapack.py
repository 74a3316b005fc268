"""Addresses of LAPACK and BLAS routines, as SciPy exports them to C. SciPy is imported on first use."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from condyle.errors import NativeError, UnknownNameError


@functools.cache
def _openblas() -> ctypes.CDLL | None:
    """The OpenBLAS library in SciPy's wheel, which loads in a hundredth of the time of scipy.linalg; None
    if SciPy has another library."""
    found = find_spec("scipy")
    folders = list(found.submodule_search_locations or ()) if found is not None else []
    files = [f for folder in folders for f in Path(folder).parent.glob("scipy.libs/libscipy_openblas-*.so")]
    try:
        return ctypes.CDLL(str(files[0])) if len(files) == 1 else None
    except OSError:
        return None


@functools.cache
def _capsules() -> dict[str, object]:
    from scipy.linalg import cython_blas, cython_lapack

    return {**cython_blas.__pyx_capi__, **cython_lapack.__pyx_capi__}


def _signature(name: str) -> tuple[object, bytes]:
    capsules = _capsules()
    if name not in capsules:
        raise UnknownNameError(
            "LAPACK routine", name, capsules, "or give its address to Program by `symbols`"
        )
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
        raise NativeError(
            f"{name} has C signature {text!r}; allowed are routines of doubles that return nothing"
        )
    return kinds


def addresses(names: Iterable[str]) -> dict[str, int]:
    """Address of each routine by name."""
    library, names = _openblas(), list(names)
    if library is not None and all(hasattr(library, f"scipy_{n}_") for n in names):
        return {n: ctypes.cast(getattr(library, f"scipy_{n}_"), ctypes.c_void_p).value or 0 for n in names}
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return {n: pointer(*_signature(n)) for n in names}


@functools.cache
def _thread_counts() -> list[tuple[Callable[[], int], Callable[[int], None]]]:
    """Functions of the loaded OpenBLAS libraries that get and set their number of threads; empty if no
    OpenBLAS is loaded."""
    if _openblas() is None:
        _capsules()
    maps = Path("/proc/self/maps")
    paths = (
        {line.split()[-1] for line in maps.read_text().splitlines() if "openblas" in line}
        if maps.exists()
        else set()
    )
    found = []
    for path in sorted(paths):
        library = ctypes.CDLL(path)
        for prefix, suffix in ((p, s) for p in ("scipy_", "") for s in ("64_", "")):
            names = [f"{prefix}openblas_{verb}_num_threads{suffix}" for verb in ("get", "set")]
            if all(hasattr(library, name) for name in names):
                found.append((getattr(library, names[0]), getattr(library, names[1])))
                break
    return found


_alone, _inside, _before = threading.Lock(), 0, list[tuple[Callable[[int], None], int]]()


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Run LAPACK in one thread: for matrices of a few hundred rows on a busy machine its threads wait for
    each other. Several threads may be inside this context: the last one to leave restores LAPACK's threads.
    """
    global _inside
    with _alone:
        if not _inside:
            _before[:] = [(put, get()) for get, put in _thread_counts()]
            for put, _ in _before:
                put(1)
        _inside += 1
    try:
        yield
    finally:
        with _alone:
            _inside -= 1
            if not _inside:
                for put, count in _before:
                    put(count)
