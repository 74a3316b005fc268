"""Load object files without LLVM, which takes longer to start than most programs take to run.

For x86-64 ELF this supports the contents of Condyle's object files: code, constants, zero-initialized memory,
and five kinds of relocations. Anything else raises Unknown, and jit.py uses LLVM.

    [code, constants, addresses of distant functions | writable data]
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import struct
from collections.abc import Mapping, Sequence

import numpy as np

from condyle.errors import NativeError
from condyle.native.machine import notes
from condyle.native.machine.elf import Tables

_FILE, _ZERO = 1, 8  # kinds of sections: contents in the file, or all zero
_UNWINDING = 0x70000001  # tables for C++ exceptions, which never pass through our functions
_WRITTEN, _HELD = 1, 2  # flags of sections: writable, present in memory
_MARKS = 0xFF00
"""Section numbers from here on are reserved; the next constant marks symbols with an absolute value."""
_PLAIN = 0xFFF1
_WORD, _NEAR, _CALL, _SLOTS = 1, 2, 4, (9, 41, 42)
"""Types of relocations: an address; a distance; the distance to a function; the distance to a stored
address."""
_JUMP = struct.Struct("<6sQ2x")
"""A jump to the address that follows, for functions too far away for a distance of four bytes."""
_RELOCATION = np.dtype([("at", "<u8"), ("kind", "<u4"), ("symbol", "<u4"), ("add", "<i8")])


class Unknown(Exception):
    """Something in an object file that this module does not support."""


class Image:
    """Object files, linked with each other; addresses are valid for as long as this lives.

    Args:
        objects: the files, checked.
        symbols: addresses of outside functions.
    """

    def __init__(self, objects: Sequence[Tables], symbols: Mapping[str, int]) -> None:
        self._symbols = symbols
        places, fixed, total = _places(objects)
        self._far = dict[str, int]()  # place of the jump to a function, with its address after it
        far = sum(len(o.symbols) for o in objects)
        fixed += -fixed % 16
        written = fixed + _JUMP.size * far
        written += -written % mmap.PAGESIZE
        self._memory = mmap.mmap(-1, max(written + total, 1), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._bytes = np.frombuffer(self._memory, np.uint8)
        self._base, self._next = self._bytes.ctypes.data, fixed
        start = {key: at if fast else written + at for key, (at, fast) in places.items()}
        for k, o in enumerate(objects):
            for i, s in enumerate(o.sections):
                if (k, i) in start and s.kind == _FILE:
                    at = start[k, i]
                    self._memory[at : at + s.size] = bytes(o.data[s.offset : s.offset + s.size])
        self.addresses = {
            name: self._base + start[k, home] + value
            for k, o in enumerate(objects)
            for name, home, value, known in o.symbols
            if known and (k, home) in start
        }
        for k, o in enumerate(objects):
            self._relocate(k, o, start)
        _protect(self._base, written)

    def _relocate(self, k: int, o: Tables, start: Mapping[tuple[int, int], int]) -> None:
        """Fill in the addresses in one file."""
        if any(home >= _MARKS and home != _PLAIN for _, home, _, _ in o.symbols):
            raise Unknown("a symbol without a section")
        here = np.array(
            [
                self._base + start[k, home] + value if (k, home) in start else 0
                for _, home, value, _ in o.symbols
            ],
            np.int64,
        )
        outside = {i: name for i, (name, home, _, _) in enumerate(o.symbols) if not home and name}
        for i, name in outside.items():
            here[i] = self.addresses.get(name, 0)
        for section in o.relocations:
            if (k, section.info) not in start:
                continue
            raw = bytes(o.data[section.offset : section.offset + section.size])
            places = np.frombuffer(raw, _RELOCATION)
            at = start[k, section.info] + places["at"].astype(np.int64)
            goal = here[places["symbol"]]
            for kind in sorted(set(places["kind"].tolist())):
                some = places["kind"] == kind
                where, to, which = at[some], goal[some].copy(), places["symbol"][some]
                if kind in _SLOTS:
                    to = np.array([self._slot(o.symbols[s][0], int(a)) for s, a in zip(which, to)], np.int64)
                elif kind in (_WORD, _NEAR, _CALL):
                    for j in np.flatnonzero(to == 0):
                        if which[j]:
                            name = o.symbols[which[j]][0]
                            to[j] = self._outside(name) if kind == _WORD else self._jump(name)
                else:
                    raise Unknown(f"places of kind {kind}")
                values = to + places["add"][some]
                size = 8 if kind == _WORD else 4
                if kind != _WORD:
                    values -= self._base + where
                    if len(values) and np.abs(values).max() >= 1 << 31:
                        raise Unknown("a distance of more than four bytes")
                self._bytes[where[:, None] + np.arange(size)] = (
                    values.astype("<i8").view(np.uint8).reshape(-1, 8)[:, :size]
                )

    def _outside(self, name: str) -> int:
        address = self._symbols.get(name) or process_address(name)
        if not address:
            raise NativeError(f"the compiled code calls a function that exists nowhere: {name}")
        return address

    def _jump(self, name: str) -> int:
        """The place of a jump to an outside function."""
        if name not in self._far:
            self._far[name] = self._put(self._outside(name))
        return self._far[name]

    def _slot(self, name: str, address: int) -> int:
        """The place that holds the address of a symbol."""
        if not address:
            return self._jump(name) + 6
        if (key := f"@{name}") not in self._far:
            self._far[key] = self._put(address)
        return self._far[key] + 6

    def _put(self, address: int) -> int:
        at = self._next
        if at + _JUMP.size > len(self._memory):
            raise Unknown("more addresses than were counted")
        self._memory[at : at + _JUMP.size] = _JUMP.pack(b"\xff\x25\0\0\0\0", address)
        self._next += _JUMP.size
        return self._base + at


def _places(objects: Sequence[Tables]) -> tuple[dict[tuple[int, int], tuple[int, bool]], int, int]:
    """Where each section goes, by file and number: first read-only sections, then writable ones; and the
    bytes of both."""
    places: dict[tuple[int, int], tuple[int, bool]] = {}
    ends = {True: 0, False: 0}
    for k, o in enumerate(objects):
        for i, s in enumerate(o.sections):
            if not s.flags & _HELD or s.kind == _UNWINDING:
                continue
            if s.kind not in (_FILE, _ZERO) or s.flags & 0x400:  # thread-local memory
                raise Unknown(f"a section of kind {s.kind}")
            fast = not s.flags & _WRITTEN
            at = ends[fast] + -ends[fast] % max(s.align, 1)
            places[k, i] = at, fast
            ends[fast] = at + s.size
    return places, ends[True], ends[False]


@functools.cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None)


@functools.cache
def process_address(name: str) -> int:
    """Address of a C function that is loaded, or of the word of notes.py; else 0."""
    if name == notes.SYMBOL:
        return notes.address()
    try:
        return ctypes.cast(getattr(_library(), name), ctypes.c_void_p).value or 0
    except AttributeError:
        return 0


def _protect(address: int, size: int) -> None:
    """Make memory executable and read-only."""
    protect = _library().mprotect
    protect.argtypes, protect.restype = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int], ctypes.c_int
    if size and protect(address, size, mmap.PROT_READ | mmap.PROT_EXEC):
        raise Unknown("memory that may not be run")
