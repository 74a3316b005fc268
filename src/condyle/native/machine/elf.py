"""ELF object files. Read their tables: is one whole, what does it define, what does it need? And write one
that holds data.

LLVM loads a torn object without a word and fills a missing function in with address 0, so that the process
dies later.
"""

from __future__ import annotations

import struct

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_BITS, _SYMBOLS, _NAMES, _NO_BITS = 1, 2, 3, 8  # section types
_ALLOCATED = 2  # a section that is in memory
_GLOBAL_OBJECT = 1 << 4 | 1  # a symbol: known outside, data


def symbols(data: bytes) -> tuple[set[str], set[str]]:
    """Names of the functions that an object file defines and of those that it needs; ValueError if it is
    torn."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError(f"it begins with {bytes(data[:6])!r}, not as a 64-bit little-endian ELF file does")
    try:
        return _symbols(data)
    except (struct.error, IndexError) as error:
        raise ValueError(f"its tables are torn ({error})") from error


def _symbols(data: bytes) -> tuple[set[str], set[str]]:
    (start,) = struct.unpack_from("<Q", data, 40)
    entry, count = struct.unpack_from("<HH", data, 58)
    if entry != _SECTION.size:
        raise ValueError(f"its section table has entries of {entry} bytes, not {_SECTION.size}")
    # too many for 16 bits: the first section says how many
    if count == 0:
        count = _SECTION.unpack_from(data, start)[5]
    sections = [_SECTION.unpack_from(data, start + k * entry) for k in range(count)]
    for _, kind, _, _, offset, size, *_ in sections:
        if kind != _NO_BITS and offset + size > len(data):
            raise ValueError(f"a section ends at byte {offset + size} of {len(data)}")
    defined: set[str] = set()
    needed: set[str] = set()
    for _, kind, _, _, offset, size, link, *_ in sections:
        if kind != _SYMBOLS:
            continue
        names = sections[link][4]
        for name, info, _, home, _, _ in _SYMBOL.iter_unpack(data[offset : offset + size]):
            if info >> 4:  # not local
                end = data.index(b"\0", names + name)
                (defined if home else needed).add(data[names + name : end].decode())
    return defined, needed


def data_object(machine: int, name: str, data: bytes, align: int) -> bytes:
    """An object file that holds read-only data and one symbol, their beginning.

    Args:
        machine: number of the processor, e_machine.
        align: of the data, in bytes.
    """
    names, titles = f"\0{name}\0".encode(), b"\0.rodata\0.symtab\0.strtab\0.shstrtab\0"
    symbols = _SYMBOL.pack(0, 0, 0, 0, 0, 0) + _SYMBOL.pack(1, _GLOBAL_OBJECT, 0, 1, 0, len(data))
    # of each section: type, flags, bytes, link, info, alignment, size of an entry; link 3 is the names
    sections = [
        (b".rodata", _BITS, _ALLOCATED, data, 0, 0, align, 0),
        (b".symtab", _SYMBOLS, 0, symbols, 3, 1, 8, _SYMBOL.size),
        (b".strtab", _NAMES, 0, names, 0, 0, 1, 0),
        (b".shstrtab", _NAMES, 0, titles, 0, 0, 1, 0),
    ]
    parts, table, at = [], [_SECTION.pack(*[0] * 10)], _HEADER.size
    for title, kind, flags, held, link, info, alignment, entry in sections:
        padding = -at % alignment
        parts += [bytes(padding), held]
        at += padding
        table.append(
            _SECTION.pack(titles.index(title), kind, flags, 0, at, len(held), link, info, alignment, entry)
        )
        at += len(held)
    parts.append(bytes(-at % 8))
    at += -at % 8
    magic = b"\x7fELF\x02\x01\x01" + bytes(9)
    header = _HEADER.pack(
        magic, 1, machine, 1, 0, 0, at, 0, _HEADER.size, 0, 0, _SECTION.size, len(table), len(table) - 1
    )
    return b"".join([header, *parts, *table])
