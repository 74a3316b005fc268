"""Machine code of one x86-64 instruction: doubles in the lower halves of the registers xmm0 to xmm15 (AVX, FMA).

Intel's manual, volume 2: a VEX prefix, an opcode, a ModRM byte, perhaps a displacement, perhaps a byte.
"""

from __future__ import annotations

from functools import cache

RIP = -1
"""A base that means: from the end of the instruction on."""
ARGUMENTS = (7, 6, 2, 1, 8, 9)
"""General registers that hold the first arguments of a function: rdi, rsi, rdx, rcx, r8, r9."""

# prefix pp, opcode map, W, opcode
_CODE = {
    "load": (3, 1, 0, 0x10),
    "store": (3, 1, 0, 0x11),
    "move": (1, 1, 0, 0x28),
    "add": (3, 1, 0, 0x58),
    "mul": (3, 1, 0, 0x59),
    "sub": (3, 1, 0, 0x5C),
    "div": (3, 1, 0, 0x5E),
    "sqrt": (3, 1, 0, 0x51),
    "cmp": (3, 1, 0, 0xC2),
    "and": (1, 1, 0, 0x54),
    "or": (1, 1, 0, 0x56),
    "xor": (1, 1, 0, 0x57),
    "round": (1, 3, 0, 0x0B),
    "blend": (1, 3, 0, 0x4B),
    "integer": (1, 1, 1, 0x7E),
    **{
        f"{word}{order}": (1, 2, 1, base + at)
        for word, at in (("fma", 0), ("fms", 2), ("fnma", 4))
        for order, base in ((132, 0x99), (213, 0xA9), (231, 0xB9))
    },
}


@cache
def _head(word: str, d: int, v: int, high: int) -> bytes:
    """Prefix and opcode: register d, further source v, and whether the other one is above the first eight."""
    pp, map, W, opcode = _CODE[word]
    r, tail = (d < 8) << 7, (~v & 15) << 3 | pp
    if map == 1 and not W and not high:
        return bytes((0xC5, r | tail, opcode))
    return bytes((0xC4, r | 0x40 | (not high) << 5 | map, W << 7 | tail, opcode))


@cache
def registers(word: str, d: int, v: int, m: int) -> bytes:
    """d <- v word m; v is 0 where there is none."""
    return _head(word, d, v, m > 7) + bytes((0xC0 | (d & 7) << 3 | m & 7,))


@cache
def _to_memory(word: str, d: int, v: int, base: int, mode: int) -> bytes:
    return _head(word, d, v, base > 7) + bytes((mode | (d & 7) << 3 | base & 7,))


def memory(word: str, d: int, v: int, base: int, at: int) -> bytes:
    """The same with a number in memory, `at` bytes after a base; from RIP on, the last four bytes are `at`."""
    if base == RIP:
        return _to_memory(word, d, v, 5, 0) + at.to_bytes(4, "little", signed=True)
    if -128 <= at < 128:
        return _to_memory(word, d, v, base, 0x40) + at.to_bytes(1, "little", signed=True)
    return _to_memory(word, d, v, base, 0x80) + at.to_bytes(4, "little", signed=True)


def frame(size: int, leave: bool = False) -> bytes:
    """Make room on the stack, or leave it and return."""
    moved = bytes((0x48, 0x81, 0xC4 if leave else 0xEC)) + size.to_bytes(4, "little")
    return (moved if size else b"") + (b"\xc3" if leave else b"")


def on_stack(g: int, at: int, load: bool) -> bytes:
    """A general register to the stack, `at` bytes above its end, or from there."""
    code = 0x8B if load else 0x89
    return bytes((0x48 | (g > 7) << 2, code, 0x84 | (g & 7) << 3, 0x24)) + at.to_bytes(4, "little")


CALL = b"\xff\xd0"  # of the function at rax, whose address is before it
ADDRESS = b"\x48\xb8"  # rax <- the eight bytes that follow
TABLE = b"\x48\x8d\x05"  # rax <- what is as far from here as the four bytes that follow say


def from_table(d: int) -> bytes:
    """d <- number r11 of the table at rax."""
    return bytes((0xC4, (d < 8) << 7 | 0x20 | 0x40 & 0 | 1, 0x7B, 0x10, 0x04 | (d & 7) << 3, 0xD8))
