"""Machine code of one x86-64 instruction: doubles in the lower halves of the registers xmm0 to xmm15 (AVX, FMA),
or to xmm31 (AVX-512).

Intel's manual, volume 2: a VEX prefix, or EVEX where a register is above the first sixteen; an opcode, a ModRM
byte, perhaps a displacement, perhaps a byte.
"""

from __future__ import annotations

from functools import cache

RIP = -1
"""A base that means: from the end of the instruction on."""
ARGUMENTS = (7, 6, 2, 1, 8, 9)
"""General registers that hold the first arguments of a function: rdi, rsi, rdx, rcx, r8, r9."""
PRESERVED = (3, 5, 12, 13, 14, 15)
"""Those that a function gives back as it found them: rbx, rbp, r12 to r15."""

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
def _long_head(word: str, d: int, v: int, m: int) -> bytes:
    """The same for registers up to 31."""
    pp, map, _, opcode = _CODE[word]
    bits = (not d & 8) << 7 | (not m & 16) << 6 | (not m & 8) << 5 | (not d & 16) << 4
    return bytes((0x62, bits | map, 0x80 | (~v & 15) << 3 | 4 | pp, (v < 16) << 3, opcode))


ONLY_LOW = "cmp", "blend"
"""Instructions for the first sixteen registers only."""


@cache
def registers(word: str, d: int, v: int, m: int) -> bytes:
    """d <- v word m; v is 0 where there is none."""
    head = _head(word, d, v, m > 7) if max(d, v, m) < 16 else _long_head(word, d, v, m)
    return head + bytes((0xC0 | (d & 7) << 3 | m & 7,))


@cache
def _to_memory(word: str, d: int, v: int, base: int, mode: int) -> bytes:
    head = _head(word, d, v, base > 7) if max(d, v) < 16 else _long_head(word, d, v, base)
    return head + bytes((mode | (d & 7) << 3 | base & 7,))


def memory(word: str, d: int, v: int, base: int, at: int) -> bytes:
    """The same with a number in memory, `at` bytes after a base; from RIP on, the last four bytes are `at`."""
    if base == RIP:
        return _to_memory(word, d, v, 5, 0) + at.to_bytes(4, "little", signed=True)
    index = b"\x24" if base == 12 else b""  # r12 is encoded with an index byte that says: none
    near = at if max(d, v) < 16 else at >> 3  # EVEX counts doubles; all places are multiples of 8 bytes
    if -128 <= near < 128:
        return _to_memory(word, d, v, base, 0x40) + index + near.to_bytes(1, "little", signed=True)
    return _to_memory(word, d, v, base, 0x80) + index + at.to_bytes(4, "little", signed=True)


def grow_stack(size: int) -> bytes:
    """Make room on the stack [bytes], or give it back."""
    moved = bytes((0x48, 0x81, 0xEC if size > 0 else 0xC4)) + abs(size).to_bytes(4, "little")
    return moved if size else b""


def push(g: int) -> bytes:
    """A general register to the stack."""
    return (b"\x41" if g > 7 else b"") + bytes((0x50 | g & 7,))


def pop(g: int) -> bytes:
    """A general register from the stack."""
    return (b"\x41" if g > 7 else b"") + bytes((0x58 | g & 7,))


RETURN = b"\xc3"


def on_stack(g: int, at: int, load: bool) -> bytes:
    """A general register to the stack, `at` bytes above its end, or from there."""
    code = 0x8B if load else 0x89
    return bytes((0x48 | (g > 7) << 2, code, 0x84 | (g & 7) << 3, 0x24)) + at.to_bytes(4, "little")


CALL = b"\xff\xd0"  # of the function at rax, whose address is before it


def address(g: int) -> bytes:
    """A general register <- the eight bytes that follow."""
    return bytes((0x48 | (g > 7), 0xB8 | g & 7))


TABLE = b"\x48\x8d\x05"  # rax <- what is as far from here as the four bytes that follow say


def from_table(d: int) -> bytes:
    """d <- number r11 of the table at rax."""
    return bytes((0xC4, (d < 8) << 7 | 0x20 | 0x40 & 0 | 1, 0x7B, 0x10, 0x04 | (d & 7) << 3, 0xD8))
