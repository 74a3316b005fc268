"""Digests that identify a study across processes."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from condyle.io.markers import Markers
from condyle.system.state import State
from condyle.system.system import System
from condyle.table import Table


def digest(*things: Any) -> str:
    """Digest of functions (code, defaults, used closures and globals), Systems, States, Tables, arrays,
    numbers and texts, and of objects that contain these. For other objects only the type counts.
    """
    out = hashlib.sha256()
    for text in _texts(things, set()):
        out.update(text)
    return out.hexdigest()


def _texts(x: Any, seen: set[int]) -> Iterator[bytes]:
    if x is None or isinstance(x, (bool, int, float, complex, str, bytes, np.number)):
        yield f"{type(x).__name__} {x!r};".encode()
        return
    if id(x) in seen:
        yield b"again;"
        return
    seen.add(id(x))
    part: Any
    yield f"{type(x).__qualname__}(".encode()
    if isinstance(x, np.ndarray):
        yield f"{x.dtype.str} {x.shape} ".encode()
        yield np.ascontiguousarray(x).tobytes() if x.dtype != object else b""
    elif isinstance(x, Table):
        for part in (x.time, list(x.names), x.values, list(x.units), x.over):
            yield from _texts(part, seen)
    elif isinstance(x, System):
        yield x.compiled.key.encode()
    elif isinstance(x, State):
        for part in (x.system, x.t, x.q, x.u, x.z, x.tail):
            yield from _texts(part, seen)
    elif isinstance(x, functools.partial):
        for part in (x.func, x.args, x.keywords):
            yield from _texts(part, seen)
    elif isinstance(x, types.FunctionType):
        yield from _function(x, seen)
    elif isinstance(x, types.CodeType):
        yield from _code(x, seen)
    elif isinstance(x, types.MethodType):
        for part in (x.__func__, x.__self__):
            yield from _texts(part, seen)
    elif isinstance(x, (types.ModuleType, types.BuiltinFunctionType, type)):
        yield x.__name__.encode()
    elif isinstance(x, Mapping):
        for key, value in x.items():
            yield from _texts(key, seen)
            yield from _texts(value, seen)
    elif isinstance(x, (set, frozenset)):
        yield repr(sorted(map(repr, x))).encode()
    elif isinstance(x, (list, tuple)):
        for part in x:
            yield from _texts(part, seen)
    elif isinstance(x, Markers):
        for part in (x.time, list(x.names), x.positions):
            yield from _texts(part, seen)
    elif dataclasses.is_dataclass(x):
        for part in dataclasses.fields(x):
            yield from _texts(getattr(x, part.name), seen)
    elif hasattr(x, "__dict__"):
        for key, value in sorted(vars(x).items()):
            if not isinstance(getattr(type(x), key, None), functools.cached_property):
                yield from _texts(key, seen)
                yield from _texts(value, seen)
    yield b");"


def _code(code: types.CodeType, seen: set[int]) -> Iterator[bytes]:
    yield code.co_code
    for part in (code.co_consts, code.co_names, code.co_varnames):
        yield from _texts(part, seen)


def _function(f: types.FunctionType, seen: set[int]) -> Iterator[bytes]:
    yield f.__qualname__.encode()
    yield from _code(f.__code__, seen)
    cells = [cell.cell_contents for cell in f.__closure__ or ()]
    names = {name for code in _codes(f.__code__) for name in code.co_names}
    used = [f.__globals__[name] for name in sorted(names) if name in f.__globals__]
    for part in (f.__defaults__, f.__kwdefaults__, cells, used):
        yield from _texts(part, seen)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _codes(part)
