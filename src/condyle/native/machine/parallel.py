"""Compile the parts of a long module in parallel.

llvmlite lets one thread at a time into LLVM; code generation itself is safe in several as long as each has a
context, a module and a target machine of its own. Here it is called through a second handle on llvmlite's
library, which has no lock. If that is unavailable, the first is used.
"""

from __future__ import annotations

import ctypes
import functools
import re
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

from condyle.errors import NativeError

if TYPE_CHECKING:
    import llvmlite.binding as llvm

# comes before a definition that may move to a module of its own
PART = "; part\n"
HELPER = "; helper\n"  # comes before a definition that may be copied into such modules
_PIECE = re.compile(
    rf"^({PART}|{HELPER})(define internal ([^@]*@([\w.$]+)\([^\n]*\))[^\n]*\{{\n.*?^\}}$)", re.M | re.S
)
_CALLED = re.compile(r"@([\w.$]+)\(")
_NAMED = re.compile(r"@([\w.$]+)")
_TABLE = re.compile(r"^(@([\w.$]+) = (?:private|external) constant .*)$", re.M)
# characters of parts in one module: about 3,000 operations
_CHUNK = 250_000
_MAGIC = b"condyle objects\0"


def divide(text: str) -> list[str]:
    """The module as several modules that call each other. Their number depends only on its length."""
    if len(text) < 2 * _CHUNK:
        return [text]
    parts: list[tuple[str, str]] = []  # head and definition
    helpers: dict[str, str] = {}
    for kind, definition, head, name in _PIECE.findall(text):
        if kind == PART:
            parts.append((head, definition.replace("define internal ", "define ", 1)))
        else:
            helpers[name] = definition
    helpers |= {name: line for line, name in _TABLE.findall(text)}
    declared = {
        match[1]: line for line in re.findall(r"^declare .*$", text, re.M) if (match := _CALLED.search(line))
    }
    total = sum(len(definition) for _, definition in parts)
    chunks: list[list[str]] = [[] for _ in range(max(1, round(total / _CHUNK)))]
    size = 0
    for _, definition in parts:
        chunks[size * len(chunks) // total].append(definition)
        size += len(definition)
    rest = _PIECE.sub(lambda m: "" if m[1] == PART else m[0], text)
    main = "\n".join([rest, *(f"declare {head}" for head, _ in parts)])
    return [main, *(_complete(chunk, helpers, declared) for chunk in chunks if chunk)]


def _complete(definitions: list[str], helpers: dict[str, str], declared: dict[str, str]) -> str:
    """A module of some definitions, with the helpers and tables that they use and declarations of all other
    names."""
    pieces = list(definitions)
    seen: set[str] = set()
    todo = set(_NAMED.findall("\n".join(pieces)))
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            if name in helpers:
                pieces.append(helpers[name])
                todo |= set(_NAMED.findall(helpers[name]))
            elif name in declared:
                pieces.append(declared[name])
    return "\n".join(pieces)


def join(objects: list[bytes]) -> bytes:
    """Several object files as one string of bytes; a single one is unchanged."""
    if len(objects) == 1:
        return objects[0]
    return b"".join(
        [_MAGIC, struct.pack("<I", len(objects)), *(struct.pack("<Q", len(o)) for o in objects), *objects]
    )


def separate(data: bytes) -> list[bytes]:
    """The object files that were joined; ValueError if the bytes are damaged."""
    if not data.startswith(_MAGIC):
        return [data]
    try:
        (count,) = struct.unpack_from("<I", data, len(_MAGIC))
        sizes = struct.unpack_from(f"<{count}Q", data, len(_MAGIC) + 4)
    except struct.error as error:
        raise ValueError(f"its table is torn ({error})") from error
    start = len(_MAGIC) + 4 + 8 * count
    if start + sum(sizes) != len(data):
        raise ValueError(f"its table speaks of {start + sum(sizes)} bytes")
    objects = []
    for size in sizes:
        objects.append(data[start : start + size])
        start += size
    return objects


def compile_all(texts: list[str], machine: Callable[[], llvm.TargetMachine], threads: int) -> list[bytes]:
    """Object file of each module, compiled on `threads` threads; `machine` makes a target machine."""
    if threads == 1:
        return [_compile(text, machine, _emit_locked) for text in texts]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads, thread_name_prefix="condyle-compile") as pool:
        return list(pool.map(lambda text: _compile(text, machine, _emitter()), texts))


def _compile(text: str, machine: Callable[[], llvm.TargetMachine], emit: Callable) -> bytes:
    import llvmlite.binding as llvm

    target, context = machine(), llvm.create_context()
    try:
        module = llvm.parse_assembly(text, context)
    except RuntimeError as error:
        raise NativeError(f"LLVM rejects the generated code: {error}") from error
    module.triple = target.triple
    module.data_layout = str(target.target_data)
    return emit(target, module)


def _emit_locked(target: llvm.TargetMachine, module: llvm.ModuleRef) -> bytes:
    return target.emit_object(module)


@functools.cache
def _emitter() -> Callable[[llvm.TargetMachine, llvm.ModuleRef], bytes]:
    """emit_object without llvmlite's lock."""
    import llvmlite.binding as llvm

    try:
        library = ctypes.CDLL(llvm.ffi.lib._name)
        emit, start = library.LLVMPY_TargetMachineEmitToMemory, library.LLVMPY_GetBufferStart
        size, dispose = library.LLVMPY_GetBufferSize, library.LLVMPY_DisposeMemoryBuffer
    except (AttributeError, OSError):
        return _emit_locked
    pointer = ctypes.c_void_p
    emit.argtypes, emit.restype = [pointer, pointer, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)], pointer
    start.argtypes, start.restype = [pointer], pointer
    size.argtypes, size.restype = [pointer], ctypes.c_size_t
    dispose.argtypes, dispose.restype = [pointer], None

    def unlocked(target: llvm.TargetMachine, module: llvm.ModuleRef) -> bytes:
        message = ctypes.c_char_p()
        buffer = emit(
            ctypes.cast(target._ptr, pointer), ctypes.cast(module._ptr, pointer), 1, ctypes.byref(message)
        )
        if not buffer:
            raise NativeError(f"LLVM makes no machine code: {(message.value or b'').decode()}")
        try:
            return ctypes.string_at(start(buffer), size(buffer))
        finally:
            dispose(buffer)

    return unlocked
