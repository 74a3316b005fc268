"""Machine code of one x86-64 instruction: doubles in registers 0 to 15 (AVX, FMA) or to 31 (AVX-512), one in
the lower half of each, or four or eight side by side.

Intel's manual, volume 2: a VEX prefix, or EVEX where there are eight, where a register is above the first sixteen,
or where a mask or a number for all lanes takes part; an opcode, a ModRM byte, perhaps a displacement, perhaps a byte.
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
_SAME = {
    "move": (1, 1, 0, 0x28),
    "cmp": (1, 1, 0, 0xC2),
    "and": (1, 1, 0, 0x54),
    "or": (1, 1, 0, 0x56),
    "xor": (1, 1, 0, 0x57),
    "blend": (1, 3, 0, 0x4B),
}
_ONE = {
    **_SAME,
    "load": (3, 1, 0, 0x10),
    "store": (3, 1, 0, 0x11),
    "add": (3, 1, 0, 0x58),
    "mul": (3, 1, 0, 0x59),
    "sub": (3, 1, 0, 0x5C),
    "div": (3, 1, 0, 0x5E),
    "sqrt": (3, 1, 0, 0x51),
    "cmp": (3, 1, 0, 0xC2),
    "round": (1, 3, 0, 0x0B),
    "integer": (1, 1, 1, 0x7E),
    **{
        f"{word}{order}": (1, 2, 1, base + at)
        for word, at in (("fma", 0), ("fms", 2), ("fnma", 4))
        for order, base in ((132, 0x99), (213, 0xA9), (231, 0xB9))
    },
}
_MANY = {
    **_SAME,
    **{word: (1, 1, 0, _ONE[word][3]) for word in ("load", "store", "add", "mul", "sub", "div", "sqrt")},
    "round": (1, 3, 0, 0x09),
    **{word: (1, 2, 1, code[3] - 1) for word, code in _ONE.items() if code[1] == 2},
    "spread": (1, 2, 0, 0x19),  # a number for all lanes
    "test": (1, 1, 0, 0xC2),  # a mask: d is its number
    "choose": (1, 2, 1, 0x65),  # by a mask
    "pick": (1, 2, 1, 0x16),  # the lanes of m by the numbers in v
    "pick2": (1, 2, 1, 0x7F),  # those of d and then of m
}
_LONG = "test", "choose", "pick", "pick2"  # those that only AVX-512 has
ALONE = "sqrt", "round"
"""Instructions that work on one operand; for one number they take what they leave alone from another."""


@cache
def _head(word: str, d: int, v: int, high: int, lanes: int) -> bytes:
    """Prefix and opcode: register d, further source v, and whether the other one is above the first eight."""
    pp, map, W, opcode = (_MANY if lanes > 1 else _ONE)[word]
    r, tail = (d < 8) << 7, (~v & 15) << 3 | (lanes > 1) << 2 | pp
    if map == 1 and not W and not high:
        return bytes((0xC5, r | tail, opcode))
    return bytes((0xC4, r | 0x40 | (not high) << 5 | map, W << 7 | tail, opcode))


@cache
def _long_head(word: str, d: int, v: int, m: int, lanes: int, more: int) -> bytes:
    """The same for registers up to 31. more: the bits of a mask, of zeros where it is not set, of a number for all
    lanes."""
    pp, map, _, opcode = (_MANY if lanes > 1 else _ONE)[word]
    bits = (not d & 8) << 7 | (not m & 16) << 6 | (not m & 8) << 5 | (not d & 16) << 4
    last = more | (lanes == 8) << 6 | (lanes == 4) << 5 | (v < 16) << 3
    return bytes((0x62, bits | map, 0x80 | (~v & 15) << 3 | 4 | pp, last, opcode))


ONLY_LOW = "cmp", "blend"
"""Instructions for the first sixteen registers only."""
ZERO, ALL = 0x80, 0x10
"""Bits of an instruction with a mask (1 to 7): lanes that are not in it become zero; and of one whose number in
memory is the same for all lanes."""


def _is_short(word: str, lanes: int, more: int) -> bool:
    """Whether there is a VEX prefix for it, if registers allow."""
    return lanes < 8 and not more and word not in _LONG


@cache
def registers(word: str, d: int, v: int, m: int, lanes: int = 1, more: int = 0) -> bytes:
    """d <- v word m; v is 0 where there is none."""
    short = max(d, v, m) < 16 and _is_short(word, lanes, more)
    head = _head(word, d, v, m > 7, lanes) if short else _long_head(word, d, v, m, lanes, more)
    return head + bytes((0xC0 | (d & 7) << 3 | m & 7,))


@cache
def _to_memory(word: str, d: int, v: int, base: int, mode: int, lanes: int, more: int) -> bytes:
    short = max(d, v) < 16 and _is_short(word, lanes, more)
    head = _head(word, d, v, base > 7, lanes) if short else _long_head(word, d, v, base, lanes, more)
    return head + bytes((mode | (d & 7) << 3 | base & 7,))


def memory(word: str, d: int, v: int, base: int, at: int, lanes: int = 1, more: int = 0) -> bytes:
    """The same with numbers in memory, `at` bytes after a base; from RIP on, the last four bytes are `at`."""
    if base == RIP:
        return _to_memory(word, d, v, 5, 0, lanes, more) + at.to_bytes(4, "little", signed=True)
    index = b"\x24" if base == 12 else b""  # r12 is encoded with an index byte that says: none
    if max(d, v) < 16 and _is_short(word, lanes, more):
        near = at
    else:  # EVEX counts what it reads
        size = 8 if more & ALL or word == "spread" else 8 * lanes
        near = at // size if at % size == 0 else 1 << 10
    if -128 <= near < 128:
        return (
            _to_memory(word, d, v, base, 0x40, lanes, more) + index + near.to_bytes(1, "little", signed=True)
        )
    return _to_memory(word, d, v, base, 0x80, lanes, more) + index + at.to_bytes(4, "little", signed=True)


# masks: k1 to k7, a bit for each lane


@cache
def masks(word: str, d: int, v: int, m: int) -> bytes:
    """d <- v word m, of masks; "not" has no v."""
    if word == "not":
        return bytes((0xC5, 0xF9, 0x44, 0xC0 | d << 3 | m))
    return bytes((0xC5, (~v & 15) << 3 | 0x80 | 5, {"and": 0x41, "or": 0x45}[word], 0xC0 | d << 3 | m))


def mask_memory(d: int, base: int, at: int, load: bool) -> bytes:
    """A mask from memory, or to it."""
    head = bytes((0xC4, 0xC1 | (base < 8) << 5, 0x79, 0x90 if load else 0x91, 0x80 | d << 3 | base & 7))
    return head + (b"\x24" if base == 12 else b"") + at.to_bytes(4, "little", signed=True)


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
UPPER_ZERO = b"\xc5\xf8\x77"
"""What follows may use the lower halves of registers alone, and does not wait for the upper ones."""


def align(g: int) -> bytes:
    """A general register, up to the next multiple of 64."""
    head = 0x48 | (g > 7)
    return bytes((head, 0x83, 0xC0 | g & 7, 63, head, 0x83, 0xE0 | g & 7, 0xC0))


def from_stack(g: int, at: int) -> bytes:
    """A general register from the stack, `at` bytes above its end."""
    return bytes((0x48 | (g > 7) << 2, 0x8B, 0x84 | (g & 7) << 3, 0x24)) + at.to_bytes(4, "little")


def copy(g: int, h: int) -> bytes:
    """General register g <- h."""
    return bytes((0x48 | (h > 7) << 2 | (g > 7), 0x89, 0xC0 | (h & 7) << 3 | g & 7))


CALL = b"\xff\xd0"  # of the function at rax, whose address is before it


def address(g: int) -> bytes:
    """A general register <- the eight bytes that follow."""
    return bytes((0x48 | (g > 7), 0xB8 | g & 7))


TABLE = b"\x48\x8d\x05"  # rax <- what is as far from here as the four bytes that follow say


def from_table(d: int) -> bytes:
    """d <- number r11 of the table at rax."""
    return bytes((0xC4, (d < 8) << 7 | 0x20 | 0x40 & 0 | 1, 0x7B, 0x10, 0x04 | (d & 7) << 3, 0xD8))
