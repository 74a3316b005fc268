"""Machine code of single x86-64 instructions on doubles in registers 0 to 15 (AVX, FMA) or 0 to 31
(AVX-512): one double in the lower half of each, or four or eight side by side.

From Intel's manual, volume 2: a VEX prefix, or an EVEX prefix for eight lanes, registers above the first
sixteen, masks and broadcasts; then an opcode, a ModRM byte, an optional displacement and an optional byte.
"""

from __future__ import annotations

from functools import cache

RIP = -1
"""A base that means the end of the instruction."""
ARGUMENTS = (7, 6, 2, 1, 8, 9)
"""General registers that hold the first arguments of a function: rdi, rsi, rdx, rcx, r8, r9."""
PRESERVED = (3, 5, 12, 13, 14, 15)
"""Registers that a function must preserve: rbx, rbp, r12 to r15."""

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
    "test": (1, 1, 0, 0xC2),  # result is the mask with number d
    "choose": (1, 2, 1, 0x65),  # selection by a mask
    "pick": (1, 2, 1, 0x16),  # the lanes of m by the numbers in v
    "pick2": (1, 2, 1, 0x7F),  # the lanes of d and m
}
_LONG = "test", "choose", "pick", "pick2"  # only in AVX-512
ALONE = "sqrt", "round"
"""Instructions with one operand; for a single number they copy the other bits from a second register."""


@cache
def _head(word: str, d: int, v: int, high: int, lanes: int) -> bytes:
    """VEX prefix and opcode for register d and second source v; `high`: whether the other operand is above
    the first eight registers."""
    pp, map, W, opcode = (_MANY if lanes > 1 else _ONE)[word]
    r, tail = (d < 8) << 7, (~v & 15) << 3 | (lanes > 1) << 2 | pp
    if map == 1 and not W and not high:
        return bytes((0xC5, r | tail, opcode))
    return bytes((0xC4, r | 0x40 | (not high) << 5 | map, W << 7 | tail, opcode))


@cache
def _long_head(word: str, d: int, v: int, m: int, lanes: int, more: int) -> bytes:
    """The same with an EVEX prefix, for registers up to 31. `more` has the bits of a mask, of zeroing
    outside of it, and of broadcasting."""
    pp, map, _, opcode = (_MANY if lanes > 1 else _ONE)[word]
    bits = (not d & 8) << 7 | (not m & 16) << 6 | (not m & 8) << 5 | (not d & 16) << 4
    last = more | (lanes == 8) << 6 | (lanes == 4) << 5 | (v < 16) << 3
    return bytes((0x62, bits | map, 0x80 | (~v & 15) << 3 | 4 | pp, last, opcode))


ONLY_LOW = "cmp", "blend"
"""Instructions for the first sixteen registers only."""
ZERO, ALL = 0x80, 0x10
"""Bits of `more`, beside the mask (1 to 7): lanes outside of the mask become zero; the number in memory is
broadcast to all lanes."""


def _is_short(word: str, lanes: int, more: int) -> bool:
    """Whether a VEX prefix suffices, apart from the registers."""
    return lanes < 8 and not more and word not in _LONG


@cache
def registers(word: str, d: int, v: int, m: int, lanes: int = 1, more: int = 0) -> bytes:
    """d <- v word m; v is 0 for instructions without it."""
    short = max(d, v, m) < 16 and _is_short(word, lanes, more)
    head = _head(word, d, v, m > 7, lanes) if short else _long_head(word, d, v, m, lanes, more)
    return head + bytes((0xC0 | (d & 7) << 3 | m & 7,))


@cache
def _to_memory(word: str, d: int, v: int, base: int, mode: int, lanes: int, more: int) -> bytes:
    short = max(d, v) < 16 and _is_short(word, lanes, more)
    head = _head(word, d, v, base > 7, lanes) if short else _long_head(word, d, v, base, lanes, more)
    return head + bytes((mode | (d & 7) << 3 | base & 7,))


def memory(word: str, d: int, v: int, base: int, at: int, lanes: int = 1, more: int = 0) -> bytes:
    """The same with m in memory, `at` bytes after a base register; relative to RIP, the last four bytes are
    `at`."""
    if base == RIP:
        return _to_memory(word, d, v, 5, 0, lanes, more) + at.to_bytes(4, "little", signed=True)
    index = b"\x24" if base == 12 else b""  # r12 needs an index byte, which says that there is no index
    if max(d, v) < 16 and _is_short(word, lanes, more):
        near = at
    else:  # EVEX counts in units of the size that it reads
        size = 8 if more & ALL or word == "spread" else 8 * lanes
        near = at // size if at % size == 0 else 1 << 10
    if -128 <= near < 128:
        return (
            _to_memory(word, d, v, base, 0x40, lanes, more) + index + near.to_bytes(1, "little", signed=True)
        )
    return _to_memory(word, d, v, base, 0x80, lanes, more) + index + at.to_bytes(4, "little", signed=True)


# masks: k1 to k7, with a bit for each lane


@cache
def masks(word: str, d: int, v: int, m: int) -> bytes:
    """d <- v word m for masks; "not" has no v."""
    if word == "not":
        return bytes((0xC5, 0xF9, 0x44, 0xC0 | d << 3 | m))
    return bytes((0xC5, (~v & 15) << 3 | 0x80 | 5, {"and": 0x41, "or": 0x45}[word], 0xC0 | d << 3 | m))


def mask_memory(d: int, base: int, at: int, load: bool) -> bytes:
    """Load a mask from memory, or store it."""
    head = bytes((0xC4, 0xC1 | (base < 8) << 5, 0x79, 0x90 if load else 0x91, 0x80 | d << 3 | base & 7))
    return head + (b"\x24" if base == 12 else b"") + at.to_bytes(4, "little", signed=True)


def grow_stack(size: int) -> bytes:
    """Grow the stack by `size` bytes, or shrink it if negative."""
    moved = bytes((0x48, 0x81, 0xEC if size > 0 else 0xC4)) + abs(size).to_bytes(4, "little")
    return moved if size else b""


def push(g: int) -> bytes:
    """Push a general register."""
    return (b"\x41" if g > 7 else b"") + bytes((0x50 | g & 7,))


def pop(g: int) -> bytes:
    """Pop a general register."""
    return (b"\x41" if g > 7 else b"") + bytes((0x58 | g & 7,))


RETURN = b"\xc3"
UPPER_ZERO = b"\xc5\xf8\x77"
"""Clears the upper halves of registers, so that later code that uses only the lower halves does not wait
for them."""


def align(g: int) -> bytes:
    """Round a general register up to a multiple of 64."""
    head = 0x48 | (g > 7)
    return bytes((head, 0x83, 0xC0 | g & 7, 63, head, 0x83, 0xE0 | g & 7, 0xC0))


def from_stack(g: int, at: int) -> bytes:
    """Load a general register from the stack, `at` bytes above its end."""
    return bytes((0x48 | (g > 7) << 2, 0x8B, 0x84 | (g & 7) << 3, 0x24)) + at.to_bytes(4, "little")


def copy(g: int, h: int) -> bytes:
    """General register g <- h."""
    return bytes((0x48 | (h > 7) << 2 | (g > 7), 0x89, 0xC0 | (h & 7) << 3 | g & 7))


CALL = b"\xff\xd0"  # call the function at rax, whose address is loaded before


def address(g: int) -> bytes:
    """Load the eight bytes that follow into a general register."""
    return bytes((0x48 | (g > 7), 0xB8 | g & 7))


TABLE = b"\x48\x8d\x05"  # rax <- address relative to here; the four bytes that follow are the distance


def from_table(d: int) -> bytes:
    """d <- number r11 of the table at rax."""
    return bytes((0xC4, (d < 8) << 7 | 0x20 | 0x40 & 0 | 1, 0x7B, 0x10, 0x04 | (d & 7) << 3, 0xD8))
