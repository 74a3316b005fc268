"""Fast exact parser of plain tables of numbers in text, by machine code.

A cell is [sign] digits [. digits] [e [sign] digits] = w 10^q with a w of at most 19 digits. Its double is
rounded once, as Python's float(text) is:

    w < 2^53, |q| <= 22:   w 10^q or w / 10^-q, both exact (Clinger 1990)                                  (1)
    else                   the upper bits of w T_q, T_q the first 128 bits of 5^q (Lemire 2021)            (2)

Machine code is made for a long text, and then cached. Where (2) cannot decide the rounding, or the text is not plain (NaN, a line with another number of cells,
empty cells unless gaps are allowed), the result is None, and the caller uses another parser.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import condyle.settings as settings
from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import BOOL, BYTE, DOUBLE, LONG, POINTER, Value
from condyle.native.machine import cache as disk_cache
from condyle.native.machine.jit import Library

EXACT, FARTHEST, DIGITS = 22, 100, 19
"""Largest powers of ten of (1) and (2), and digits of w."""
WIDE = "i128"
SHORT = 400_000
"""Length of a text that other parsers read in less time than the machine code takes to make."""


def plain_numbers(
    text: bytes, start: int, columns: int, separator: str = "", gaps: bool = False
) -> np.ndarray | None:
    """Numbers (rows, columns) of the lines of a text.

    Args:
        text: lines; blank ones are skipped.
        start: place in the text where they begin.
        columns: numbers in each line.
        separator: the one character between cells; any white space by default.
        gaps: whether cells may be empty, which are NaN, and lines may end with more separators.

    Returns:
        None if the text is not plain.
    """
    if settings.evaluator() != "native":
        return None
    most = text.count(b"\n", start) + 1
    if most * columns > len(text):  # a number takes two bytes
        return None
    if (kernel := _kernel(len(text) >= SHORT)) is None:
        return None
    out = np.empty((most, columns))
    rows = kernel(
        text,
        start,
        len(text),
        out.ctypes.data,
        columns,
        ord(separator or "\0"),
        gaps and bool(separator),
        _powers().ctypes.data,
    )
    return out[:rows] if rows >= 0 else None


@cache
def _powers() -> np.ndarray:
    """10^0 .. 10^22 as bits of doubles, then upper and lower half of T_q for q = -100 .. 100."""
    out = [*(10.0 ** np.arange(EXACT + 1)).view(np.uint64).tolist()]
    for q in range(-FARTHEST, FARTHEST + 1):
        if q >= 0:
            shift = 128 - (5**q).bit_length()
            T = 5**q << shift if shift >= 0 else 5**q >> -shift
        else:  # 1 / 5^-q; rounded up where 5^-q has 64 bits
            T = (1 << (5**-q).bit_length() + 127) // 5**-q + (q >= -27)
        out += [T >> 64, T & (2**64 - 1)]
    return np.array(out, dtype=np.uint64)


_made: list[Any] = []


def _kernel(make: bool) -> Any:
    """The parser, None where it is not in the cache and shall not be made."""
    if not _made:
        kernel = _read(make)
        if kernel is None:
            return None
        _made.append(kernel)
    return _made[0]


def _read(make: bool) -> Any:
    """read(text, start, size, out, columns, separator, gaps, powers): how many rows; -1 where not all is plain."""
    key = "plain_numbers with gaps"
    library = disk_cache.loaded(key, lambda code, _: Library(code))
    if library is None:
        if not make:
            return None
        module = Module()
        with module.function(
            "read", [POINTER, LONG, LONG, POINTER, LONG, LONG, LONG, POINTER], result=LONG, internal=False
        ) as b:
            _write(b)
        code = module.compile()
        disk_cache.store(key, code, {})
        library = Library(code)
    size = ctypes.c_ssize_t
    address = ctypes.c_void_p
    call = ctypes.CFUNCTYPE(size, ctypes.c_char_p, size, size, address, size, size, size, address)(
        library.address("read")
    )
    call.library = library  # type: ignore[attr-defined]
    return call


def _write(b: Builder) -> None:
    text, start, size, out, columns, separator, gaps, powers = b.arguments
    odd, loose, gaps = b.label("odd"), b.compare("eq", separator, 0), b.compare("ne", gaps, 0)

    def byte(i: Value) -> Value:
        """After the text there is a zero."""
        return b.convert("zext", b.load(b.at(text, i, BYTE), BYTE, align=1), LONG)

    def behind(i: Value) -> Value:
        """After spaces; tabs count as such where they do not separate."""
        with b.repeat():
            j = b.carry(i)
            b.leave_unless(_is(b, byte(j), " ") | (_is(b, byte(j), "\t") & loose))
            b.hand_on(j, j + 1)
        return j

    with b.repeat():  # lines
        i, rows = b.carry(start), b.carry(b.number(0, LONG))
        at = behind(i)
        at = at + _one(b, _is(b, byte(at), "\r"))
        b.leave_unless(b.compare("slt", at, size))
        blank = _is(b, byte(at), "\n")
        with b.loop(b.select(blank, 0, columns)) as k:
            j = b.carry(at)
            c = byte(j)
            empty = gaps & (b.compare("eq", c, separator) | _is(b, c, "\r") | _is(b, c, "\n"))
            then = _number(b, byte, j, b.at(out, rows * columns + k), powers, odd, empty)
            here, between = behind(then), b.compare("slt", k, columns - 1)
            given = b.select(loose, b.compare("sgt", here, then), b.compare("eq", byte(here), separator))
            b.require(given | _not(b, between), odd)
            b.hand_on(j, behind(here + _one(b, between & _not(b, loose))))
        last = b.after_loop(j)
        with b.repeat():
            end = b.carry(last)
            b.leave_unless(gaps & b.compare("eq", byte(end), separator))
            b.hand_on(end, end + 1)
        end = end + _one(b, _is(b, byte(end), "\r"))
        b.require(_is(b, byte(end), "\n") | b.compare("eq", end, size), odd)
        b.hand_on(i, end + _one(b, b.compare("slt", end, size)))
        b.hand_on(rows, rows + _one(b, _not(b, blank)))
    b.give(rows)
    b.place(odd)
    b.give(b.number(-1, LONG))


def _is(b: Builder, c: Value, character: str) -> Value:
    return b.compare("eq", c, ord(character))


def _not(b: Builder, truth: Value) -> Value:
    return truth ^ b.number(1, BOOL)


def _one(b: Builder, truth: Value) -> Value:
    """1 or 0."""
    return b.convert("zext", truth, LONG)


def _digits(
    b: Builder,
    byte: Callable[[Value], Value],
    first: Value,
    w: Value,
    count: Value,
    there: Value | None = None,
) -> tuple[Value, Value, Value]:
    """The place after some digits, w with them at its end, and how many it has from its first that is not
    zero."""
    with b.repeat():
        i, w, count = b.carry(first), b.carry(w), b.carry(count)
        d = byte(i) - ord("0")
        more = b.compare("ult", d, 10)
        b.leave_unless(more if there is None else more & there)
        longer = w * 10 + d
        b.hand_on(i, i + 1)
        b.hand_on(w, longer)
        b.hand_on(count, count + _one(b, b.compare("ne", longer, 0)))
    return i, w, count


def _number(
    b: Builder,
    byte: Callable[[Value], Value],
    first: Value,
    place: Value,
    powers: Value,
    odd: str,
    empty: Value,
) -> Value:
    """Put the number of a cell at a place, NaN if it is empty; returns where the cell ends."""
    zero = b.number(0, LONG)
    negative = _is(b, byte(first), "-")
    first = first + _one(b, negative | _is(b, byte(first), "+"))
    i, w, count = _digits(b, byte, first, zero, zero)
    point = _is(b, byte(i), ".")
    fraction = i + _one(b, point)
    j, w, count = _digits(b, byte, fraction, w, count, point)
    some = b.compare("sgt", (i - first) + (j - fraction), 0) | empty
    b.require(some & b.compare("sle", count, DIGITS), odd)
    scaled = _is(b, byte(j), "e") | _is(b, byte(j), "E")
    k = j + _one(b, scaled)
    down = scaled & _is(b, byte(k), "-")
    k = k + _one(b, down | (scaled & _is(b, byte(k), "+")))
    end, e, _ = _digits(b, byte, k, zero, zero, scaled)
    b.require(b.compare("ule", end - k - _one(b, scaled), 3), odd)  # one to four digits, or none
    q = b.select(down, zero - e, e) - (j - fraction)
    q = b.select(b.compare("eq", w, 0), 0, q)
    exact = b.compare("ult", w, 2**53) & b.compare("ult", q + EXACT, 2 * EXACT + 1)
    with b.when(exact):  # (1)
        below = b.compare("slt", q, 0)
        power = b.load(b.at(powers, b.select(below, zero - q, q)))
        x = b.convert("uitofp", w, DOUBLE)
        x = b.select(empty, b.number(math.nan, DOUBLE), b.select(below, x / power, x * power))
        b.store(b.select(negative, -x, x), place)
    with b.otherwise():
        x = _rounded(b, w, q, powers, odd)
        b.store(b.select(negative, -x, x), place)
    return end


def _rounded(b: Builder, w: Value, q: Value, powers: Value, odd: str) -> Value:
    """(2): the double nearest to w 10^q. Its 53 bits and one more are the upper bits of w T_q."""
    b.require(b.compare("ult", q + FARTHEST, 2 * FARTHEST + 1), odd)
    row = b.at(powers, EXACT + 1 + (q + FARTHEST) * 2)
    zeros = b.outside("llvm.ctlz.i64", w, b.number(0, BOOL), result=LONG)
    w = w << zeros
    wide = lambda x: b.convert("zext", x, WIDE)
    product = wide(w) * wide(b.load(row, LONG)) + (wide(w) * wide(b.load(b.at(row, 1), LONG)) >> 64)
    high, low = (b.convert("trunc", x, LONG) for x in (product >> 64, product))
    # 5^q to 128 bits is exact for these q; for others w T_q may lack one unit, which carries only here
    known = b.compare("ult", q + 27, 27 + 55 + 1)
    b.require(known | b.compare("ne", low, -1), odd)
    first = high >> 63
    bits = high >> (first + 9)  # 54 of them, the last below the unit
    half = b.compare("eq", bits << (first + 9), high) & b.compare("ule", low, 1)
    tie = half & b.compare("eq", bits & 3, 1) & b.compare("ult", q + 4, 4 + 23 + 1)
    bits = b.select(tie, bits - 1, bits)  # exactly between two: to the even one
    bits = (bits + (bits & 1)) >> 1
    # 2^53 is 2^52 times two: the carry goes on into the exponent
    power = b.put(LONG, f"ashr i64 {(q * 217706).text}, 16") + 63 + first - zeros + 1023
    return b.convert("bitcast", ((power - 1) << 52) + bits, DOUBLE)
