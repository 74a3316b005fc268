"""Read and write ELF object files: check that a file is complete, list the symbols that it defines and
needs, and write files that hold data or one function.

LLVM loads a truncated object without an error and sets missing functions to address 0, which crashes the
process later.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_PLACE = struct.Struct("<QQq")
_BITS, _SYMBOLS, _NAMES, _PLACES, _NO_BITS = 1, 2, 3, 4, 8  # section types
_ALLOCATED, _RUN = 2, 4  # flags of a section in memory, and of code
_GLOBAL = 1 << 4  # a symbol that other files see
_GLOBAL_OBJECT, _GLOBAL_FUNCTION = _GLOBAL | 1, _GLOBAL | 2
_ADDRESS = 1  # relocation of eight bytes that become an address (x86-64)


class SectionHeader(NamedTuple):
    """An entry of the table of sections."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry: int


class Tables:
    """The tables of an object file.

    Args:
        data: the file. ValueError if it is incomplete.

    Attributes:
        sections: in order.
        symbols: name, section, value and whether it is global, in order.
        relocations: sections that list which places become addresses.
        defined, needed: names of the functions that it defines and of those that it needs.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(
                f"it begins with {bytes(data[:6])!r}, not as a 64-bit little-endian ELF file does"
            )
        try:
            self._read()
        except (struct.error, IndexError) as error:
            raise ValueError(f"its tables are torn ({error})") from error

    def _read(self) -> None:
        data = self.data
        self.sections = _sections(data)
        self.relocations = [s for s in self.sections if s.kind == _PLACES]
        self.symbols: list[tuple[str, int, int, bool]] = []
        for s in self.sections:
            if s.kind != _SYMBOLS:
                continue
            names = self.sections[s.link].offset
            for name, info, _, home, value, _ in _SYMBOL.iter_unpack(data[s.offset : s.offset + s.size]):
                end = data.index(b"\0", names + name)
                self.symbols.append((data[names + name : end].decode(), home, value, bool(info >> 4)))
        self.defined = {name for name, home, _, known in self.symbols if known and home}
        self.needed = {name for name, home, _, known in self.symbols if known and not home}


def symbols(data: bytes) -> tuple[set[str], set[str]]:
    """Names of the functions that an object file defines and of those that it needs; ValueError if it is
    incomplete."""
    tables = Tables(data)
    return tables.defined, tables.needed


def _sections(data: bytes) -> list[SectionHeader]:
    (start,) = struct.unpack_from("<Q", data, 40)
    entry, count = struct.unpack_from("<HH", data, 58)
    if entry != _SECTION.size:
        raise ValueError(f"its section table has entries of {entry} bytes, not {_SECTION.size}")
    # too many for 16 bits: the first section has the number
    if count == 0:
        count = _SECTION.unpack_from(data, start)[5]
    sections = [SectionHeader(*_SECTION.unpack_from(data, start + k * entry)) for k in range(count)]
    for s in sections:
        if s.kind != _NO_BITS and s.offset + s.size > len(data):
            raise ValueError(f"a section ends at byte {s.offset + s.size} of {len(data)}")
    return sections


def data_object(machine: int, name: str, data: bytes, align: int) -> bytes:
    """An object file that holds read-only data and one symbol, their beginning.

    Args:
        machine: number of the processor, e_machine in the header.
        align: of the data, in bytes.
    """
    return _object(machine, (b".rodata", _ALLOCATED, data, align), _GLOBAL_OBJECT, name, [])


def code_object(machine: int, name: str, code: bytes, addresses: list[tuple[int, str]]) -> bytes:
    """An object file that holds one function.

    Args:
        machine: as before.
        addresses: (place, symbol): the eight bytes at `place` of the code become the address of an outside
            function.
    """
    return _object(machine, (b".text", _ALLOCATED | _RUN, code, 64), _GLOBAL_FUNCTION, name, addresses)


def _object(
    machine: int,
    held: tuple[bytes, int, bytes, int],
    kind: int,
    name: str,
    addresses: list[tuple[int, str]],
) -> bytes:
    """An object file of one section with a symbol at its beginning; the addresses of other symbols are put
    into it."""
    title, flags, content, align = held
    others = {other: k for k, other in enumerate(dict.fromkeys(symbol for _, symbol in addresses), 2)}
    names = f"\0{chr(0).join([name, *others])}\0".encode()
    at, symbols = 1, _SYMBOL.pack(0, 0, 0, 0, 0, 0)
    for symbol in (name, *others):
        own = symbol == name
        symbols += _SYMBOL.pack(at, kind if own else _GLOBAL, 0, int(own), 0, len(content) if own else 0)
        at += len(symbol.encode()) + 1
    places = b"".join(_PLACE.pack(where, others[symbol] << 32 | _ADDRESS, 0) for where, symbol in addresses)
    titles = b"\0" + b"\0".join([title, b".symtab", b".strtab", b".shstrtab", b".rela"]) + b"\0"
    # of each section: type, flags, bytes, link, info, alignment, size of an entry; link 3 is the names
    sections = [
        (title, _BITS, flags, content, 0, 0, align, 0),
        (b".symtab", _SYMBOLS, 0, symbols, 3, 1, 8, _SYMBOL.size),
        (b".strtab", _NAMES, 0, names, 0, 0, 1, 0),
        (b".shstrtab", _NAMES, 0, titles, 0, 0, 1, 0),
        *([(b".rela", _PLACES, 0, places, 2, 1, 8, _PLACE.size)] if places else []),
    ]
    parts, table, at = [], [_SECTION.pack(*[0] * 10)], _HEADER.size
    for title, kind, flags, data, link, info, alignment, entry in sections:
        padding = -at % alignment
        parts += [bytes(padding), data]
        at += padding
        table.append(
            _SECTION.pack(titles.index(title), kind, flags, 0, at, len(data), link, info, alignment, entry)
        )
        at += len(data)
    parts.append(bytes(-at % 8))
    at += -at % 8
    magic = b"\x7fELF\x02\x01\x01" + bytes(9)
    header = _HEADER.pack(magic, 1, machine, 1, 0, 0, at, 0, _HEADER.size, 0, 0, _SECTION.size, len(table), 4)
    return b"".join([header, *parts, *table])
