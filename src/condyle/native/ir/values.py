"""Types and constants of LLVM IR, and values that know their type.

A type is LLVM's own word for it: "double", "<4 x double>", "i64", "ptr".
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from condyle.native.ir.builder import Builder

VOID, POINTER, DOUBLE, BOOL, BYTE, INT, LONG = "void", "ptr", "double", "i1", "i8", "i32", "i64"


def bits(x: float) -> int:
    """The 64 bits of a double."""
    return struct.unpack("<q", struct.pack("<d", float(x)))[0]


def wide(type: str, W: int) -> str:
    """The vector type of W elements; for W = 1 the type itself."""
    return type if W == 1 else f"<{W} x {type}>"


def constant(type: str, x: float) -> str:
    """A number as a constant of a type, the same in every lane."""
    if type[0] == "<":
        element = type.partition(" x ")[2][:-1]
        return f"splat ({element} {constant(element, x)})"
    if type == DOUBLE:
        return f"0x{bits(x) & 0xFFFFFFFFFFFFFFFF:016X}"
    if type == BOOL:
        return "true" if x else "false"
    return str(int(x))


class Lanes:
    """Types of W numbers side by side; W = 1 is scalar.

    Attributes:
        T: doubles.
        B: truth values.
        I: integers of 64 bits.
    """

    def __init__(self, W: int) -> None:
        self.W = W
        self.T, self.B, self.I = wide(DOUBLE, W), wide(BOOL, W), wide(LONG, W)
        self.suffix = "f64" if W == 1 else f"v{W}f64"  # as the names of LLVM's own functions end


def _operator(
    of_doubles: str, of_integers: str = "", swapped: bool = False
) -> Callable[[Value, Number], Value]:
    def operate(self: Value, other: Number) -> Value:
        word = of_doubles if DOUBLE in self.type else of_integers
        return self.builder.binary(word, *((other, self) if swapped else (self, other)))

    return operate


class Value:
    """A result, an argument, a constant or an address, with its type.

    + - * are those of doubles or of integers; / is for doubles; & | ^ << >> are for integers and truth values
    (>> fills with zeros). The other operand may be a Python number.
    """

    __slots__ = ("builder", "text", "type")

    def __init__(self, builder: Builder, type: str, text: str) -> None:
        self.builder, self.type, self.text = builder, type, text

    def __repr__(self) -> str:
        return f"{self.type} {self.text}"

    def __neg__(self) -> Value:
        return self.builder.put(self.type, f"fneg {self.type} {self.text}")

    __add__, __radd__ = _operator("fadd", "add"), _operator("fadd", "add", swapped=True)
    __sub__, __rsub__ = _operator("fsub", "sub"), _operator("fsub", "sub", swapped=True)
    __mul__, __rmul__ = _operator("fmul", "mul"), _operator("fmul", "mul", swapped=True)
    __truediv__, __rtruediv__ = _operator("fdiv"), _operator("fdiv", swapped=True)
    __and__ = _operator("", "and")
    __or__ = _operator("", "or")
    __xor__ = _operator("", "xor")
    __lshift__ = _operator("", "shl")
    __rshift__ = _operator("", "lshr")


Number = Value | float
"""An operand: a value or a constant."""
