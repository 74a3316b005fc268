"""Words of LLVM IR for W lanes: types, constants, and a body of SSA instructions being written."""
from __future__ import annotations

import struct
from collections.abc import Callable, Iterable

Number = str | float                                        # an operand: a result's name, or a constant


def bits(x: float) -> int:
    """The 64 bits of a double."""
    return struct.unpack("<q", struct.pack("<d", float(x)))[0]


def constant(x: float) -> str:
    """A double as LLVM writes it exactly."""
    return f"0x{bits(x) & 0xFFFFFFFFFFFFFFFF:016X}"


def definition(signature: str, lines: Iterable[str], result: str = "void", attributes: str = "nounwind") -> str:
    """A whole function: definition("double @f(double %x)", lines, "double %y")."""
    return "\n".join([f"define {signature} {attributes} {{", *lines, f"ret {result}", "}"])


class Lanes:
    """Type names of W doubles side by side; W = 1 is scalar."""

    def __init__(self, W: int) -> None:
        self.W = W
        wide = (lambda t: t) if W == 1 else (lambda t: f"<{W} x {t}>")
        self.T, self.B, self.I = wide("double"), wide("i1"), wide("i64")
        self.suffix = "f64" if W == 1 else f"v{W}f64"

    def number(self, x: float) -> str:
        return constant(x) if self.W == 1 else f"splat (double {constant(x)})"

    def integer(self, x: int) -> str:
        return str(x) if self.W == 1 else f"splat (i64 {x})"

    def true(self) -> str:
        return "true" if self.W == 1 else "splat (i1 true)"


class Body:
    """Instructions over W lanes. Operands are names of results, or floats for constants.

    Args:
        lanes: the types.
        declare: told about each outside function that is used: declare(name, signature).
    """

    def __init__(self, lanes: Lanes, declare: Callable[[str, str], None]) -> None:
        self.lanes, self.declare = lanes, declare
        self.lines: list[str] = []
        self._count = 0
        self._fuses = False

    def put(self, text: str) -> str:
        self._count += 1
        name = f"%v{self._count}"
        self.lines.append(f"{name} = {text}")
        return name

    def operand(self, x: Number) -> str:
        return x if isinstance(x, str) else self.lanes.number(x)

    def binary(self, word: str, a: Number, b: Number) -> str:
        return self.put(f"{word} {self.lanes.T} {self.operand(a)}, {self.operand(b)}")

    def add(self, a: Number, b: Number) -> str:
        return self.binary("fadd", a, b)

    def sub(self, a: Number, b: Number) -> str:
        return self.binary("fsub", a, b)

    def mul(self, a: Number, b: Number) -> str:
        return self.binary("fmul", a, b)

    def div(self, a: Number, b: Number) -> str:
        return self.binary("fdiv", a, b)

    def neg(self, a: str) -> str:
        return self.put(f"fneg {self.lanes.T} {a}")

    def intrinsic(self, name: str, *operands: Number) -> str:
        """A function that LLVM knows, on all lanes at once."""
        L = self.lanes
        symbol = f"llvm.{name}.{L.suffix}"
        self.declare(symbol, f"{L.T} @{symbol}({', '.join([L.T] * len(operands))})")
        return self.call(symbol, *operands)

    def call(self, symbol: str, *operands: Number, type: str | None = None) -> str:
        T = self.lanes.T
        return self.put(f"call {type or T} @{symbol}({', '.join(f'{T} {self.operand(x)}' for x in operands)})")

    def fma(self, a: Number, b: Number, c: Number) -> str:
        """a b + c, rounded once. By far the most frequent call, hence written out."""
        L, T, operand = self.lanes, self.lanes.T, self.operand
        if not self._fuses:
            self._fuses = True
            self.declare(f"llvm.fma.{L.suffix}", f"{T} @llvm.fma.{L.suffix}({T}, {T}, {T})")
        return self.put(f"call {T} @llvm.fma.{L.suffix}({T} {operand(a)}, {T} {operand(b)}, {T} {operand(c)})")

    def polynomial(self, x: str, coefficients: tuple[float, ...]) -> str:
        """c0 + c1 x + c2 x^2 + ... by Horner's rule, fused."""
        r: Number = coefficients[-1]
        for c in reversed(coefficients[:-1]):
            r = self.fma(r, x, c)
        return self.operand(r)

    def compare(self, condition: str, a: Number, b: Number) -> str:
        return self.put(f"fcmp {condition} {self.lanes.T} {self.operand(a)}, {self.operand(b)}")

    def logic(self, word: str, p: str, q: str) -> str:
        return self.put(f"{word} {self.lanes.B} {p}, {q}")

    def select(self, c: str, a: Number, b: Number) -> str:
        L = self.lanes
        return self.put(f"select {L.B} {c}, {L.T} {self.operand(a)}, {L.T} {self.operand(b)}")

    def any(self, c: str) -> str:
        """One i1: whether c holds in some lane."""
        W = self.lanes.W
        return c if W == 1 else self.put(f"icmp ne i{W} {self.put(f'bitcast {self.lanes.B} {c} to i{W}')}, 0")

    def integer(self, word: str, a: str, b: str | int) -> str:
        return self.put(f"{word} {self.lanes.I} {a}, {b if isinstance(b, str) else self.lanes.integer(b)}")

    def as_integer(self, a: str) -> str:
        return self.put(f"bitcast {self.lanes.T} {a} to {self.lanes.I}")

    def as_double(self, a: str) -> str:
        return self.put(f"bitcast {self.lanes.I} {a} to {self.lanes.T}")
