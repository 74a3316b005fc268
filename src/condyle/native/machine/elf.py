"""Read the tables of an ELF object file: is it whole, what does it define, what does it need?

LLVM loads a torn object without a word and fills a missing function in with address 0, so that the process
dies later.
"""
from __future__ import annotations

import struct

_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMBOLS, _NO_BITS = 2, 8                                   # section types


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
        for name, info, _, home, _, _ in _SYMBOL.iter_unpack(data[offset:offset + size]):
            if info >> 4:                                   # not local
                end = data.index(b"\0", names + name)
                (defined if home else needed).add(data[names + name:end].decode())
    return defined, needed
