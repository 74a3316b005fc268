"""Builder of LLVM IR functions: arithmetic, memory, calls, and control flow.

    with module.function("scale", [POINTER, LONG, DOUBLE]) as b:
        x, count, factor = b.arguments
        with b.loop(count) as i:
            place = b.at(x, i)
            b.store(b.load(place, DOUBLE) * factor, place)

Instructions go to the end of the current block. `loop` and `when` open blocks and close them; for early exits
use `label`, `place`, `require` and `jump`. No other module writes labels, phis or addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING

from condyle.native.ir.values import (
    BOOL,
    BYTE,
    DOUBLE,
    INT,
    LONG,
    POINTER,
    VOID,
    Lanes,
    Number,
    Value,
    constant,
    wide,
)
from condyle.records import dataclass

if TYPE_CHECKING:
    from condyle.native.ir.module import Module


@dataclass
class _Loop:
    """A loop being written: position of its phis, the block before it, the label after it, and its carried
    values.
    """

    line: int
    before: str
    out: str
    carried: list[list[Value]] = field(default_factory=list)  # phi, first value, next value


class Builder:
    """A function being written; usually made by `Module.function`.

    Args:
        module: the module that it becomes part of; its lanes are those of the module.
        name: its symbol.
        arguments: types; "ptr noalias" points to memory that no other argument reaches.
        result: type of what it returns.
        internal: whether only this module may call it.
        attributes: of the function.
        note: text before the definition.

    Attributes:
        arguments: as values.
        block: label of the block being written.
        lines: instructions so far.
    """

    def __init__(
        self,
        module: Module,
        name: str,
        arguments: Sequence[str],
        *,
        result: str = VOID,
        internal: bool = True,
        attributes: str = "nounwind",
        note: str = "",
    ) -> None:
        self.module, self.lanes = module, module.lanes
        self.name, self.result, self.internal = name, result, internal
        self.attributes, self.note = attributes, note
        self.arguments = [
            Value(self, type.removesuffix(" noalias"), f"%a{k}") for k, type in enumerate(arguments)
        ]
        self._head = ", ".join(f"{type} %a{k}" for k, type in enumerate(arguments))
        self.lines: list[str] = []
        self.block = "entry"
        self._entry: list[str] = []
        self._count, self._jump, self._ended, self._fma = 0, -1, False, ""
        self._loops: list[_Loop] = []
        self._results: dict[str, Value] = {}  # of carried values, after their loops

    def close(self) -> None:
        """Add the function to the module; if it has no result, its return is added here."""
        if not self._ended:
            self.give()
        linkage = "internal " if self.internal else ""
        head = f"define {linkage}{self.result} @{self.name}({self._head}) {self.attributes} {{"
        self.module.add("\n".join([f"{self.note}{head}", "entry:", *self._entry, *self.lines, "}"]))

    # ---- values

    def put(self, type: str, text: str) -> Value:
        """The result of an instruction given as text."""
        self._count += 1
        name = f"%v{self._count}"
        self.lines.append(f"{name} = {text}")
        return Value(self, type, name)

    def number(self, x: float, type: str | None = None) -> Value:
        """A constant, a double in each lane by default."""
        type = type or self.lanes.T
        return Value(self, type, constant(type, x))

    def null(self) -> Value:
        return Value(self, POINTER, "null")

    def symbol(self, name: str) -> Value:
        """The address of a function, table or variable."""
        return Value(self, POINTER, f"@{name}")

    def operand(self, x: Number) -> Value:
        """A Python float is a double in each lane, an int an i64."""
        return x if isinstance(x, Value) else self.number(x, None if isinstance(x, float) else LONG)

    def binary(self, word: str, a: Number, b: Number) -> Value:
        if a.__class__ is b.__class__ is Value:  # the usual case, hence written out
            return self.put(a.type, f"{word} {a.type} {a.text}, {b.text}")  # type: ignore[union-attr]
        type = a.type if isinstance(a, Value) else b.type  # type: ignore[union-attr]
        return self.put(type, f"{word} {type} {_text(a, type)}, {_text(b, type)}")

    def fma(self, a: Number, b: Number, c: Number) -> Value:
        """a b + c, rounded once. By far the most frequent instruction, hence written out."""
        T, name = self.lanes.T, self._fma
        if not name:
            name = self._fma = f"llvm.fma.{self.lanes.suffix}"
            self.module.declare(name, T, [T, T, T])
        if a.__class__ is b.__class__ is c.__class__ is Value:
            return self.put(T, f"call {T} @{name}({T} {a.text}, {T} {b.text}, {T} {c.text})")  # type: ignore[union-attr]
        return self.put(T, f"call {T} @{name}({T} {_text(a, T)}, {T} {_text(b, T)}, {T} {_text(c, T)})")

    def spread(self, x: Value, W: int = 0) -> Value:
        """A scalar in every lane."""
        W = W or self.lanes.W
        if W == 1 or x.type[0] == "<":
            return x
        T = wide(x.type, W)
        first = self.put(T, f"insertelement {T} poison, {x}, i64 0")
        return self.put(T, f"shufflevector {first}, {T} poison, <{W} x i32> zeroinitializer")

    def shuffle(self, x: Value, y: Value, places: Sequence[int]) -> Value:
        """Elements of x, and then of y, by their places."""
        n, mask = len(places), ", ".join(f"i32 {k}" for k in places)
        type = f"<{n} x {x.type.partition(' x ')[2]}"
        return self.put(type, f"shufflevector {x}, {y}, <{n} x i32> <{mask}>")

    def lane(self, x: Value, k: int) -> Value:
        """One element of a vector."""
        return self.put(x.type.partition(" x ")[2][:-1], f"extractelement {x}, i64 {k}")

    def vector(self, elements: Sequence[Value]) -> Value:
        """Scalars side by side."""
        type, out = f"<{len(elements)} x {elements[0].type}>", "poison"
        for k, x in enumerate(elements):
            out = self.put(type, f"insertelement {type} {out}, {x}, i64 {k}").text
        return Value(self, type, out)

    def transpose(self, rows: Sequence[Value], strides: Sequence[int]) -> list[Value]:
        """n rows of n numbers as columns, n a power of two. In one round for each stride (1, 2, .. n / 2 in
        any order), the halves of the blocks of that size that are not on the diagonal change places."""
        values, n = list(rows), len(rows)
        for h in strides:
            low = [k if not k & h else n + k - h for k in range(n)]
            high = [k + h if not k & h else n + k for k in range(n)]
            for k in range(n):
                if not k & h:
                    x, y = values[k], values[k + h]
                    values[k], values[k + h] = self.shuffle(x, y, low), self.shuffle(x, y, high)
        return values

    @contextmanager
    def side_by_side(self, W: int) -> Iterator[None]:
        """Code written inside is for W lanes."""
        before = self.lanes, self._fma
        self.lanes, self._fma = Lanes(W), ""
        yield
        self.lanes, self._fma = before

    def polynomial(self, x: Value, coefficients: tuple[float, ...]) -> Value:
        """c0 + c1 x + c2 x^2 + ... by Horner's rule, fused."""
        r: Number = coefficients[-1]
        for c in reversed(coefficients[:-1]):
            r = self.fma(r, x, c)
        return self.operand(r)

    def compare(self, condition: str, a: Value, b: Number) -> Value:
        """A truth value; conditions as LLVM has them: "olt" .. of doubles, "slt" .. of integers and
        addresses."""
        type = a.type
        word = "fcmp" if DOUBLE in type else "icmp"
        truth = BOOL if type[0] != "<" else type.partition(" x ")[0] + " x i1>"
        return self.put(truth, f"{word} {condition} {type} {_text(a, type)}, {_text(b, type)}")

    def select(self, c: Value, a: Number, b: Number) -> Value:
        """a where c holds, else b."""
        type = a.type if isinstance(a, Value) else b.type if isinstance(b, Value) else self.operand(a).type
        return self.put(type, f"select {c.type} {c.text}, {type} {_text(a, type)}, {type} {_text(b, type)}")

    def any(self, c: Value) -> Value:
        """Whether c holds in some lane."""
        return c if c.type == BOOL else self.compare("ne", self.as_bits(c), 0)

    def as_bits(self, c: Value) -> Value:
        """Truth values of lanes as one integer, bit l for lane l."""
        type = f"i{c.type.partition(' x ')[0][1:]}" if c.type != BOOL else BOOL
        return self.convert("bitcast", c, type)

    def convert(self, word: str, a: Value, type: str) -> Value:
        """Convert to another type by LLVM's bitcast, trunc, zext, sitofp, fptosi, ptrtoint, inttoptr."""
        return self.put(type, f"{word} {a.type} {a.text} to {type}")

    # ---- calls

    def call(self, function: str | Value, *arguments: Number, result: str = VOID) -> Value:
        """Call a function by its symbol or address. What a function without a result returns must not be
        used."""
        given = ", ".join(f"{x.type} {x.text}" for x in map(self.operand, arguments))
        text = f"call {result} {f'@{function}' if isinstance(function, str) else function.text}({given})"
        if result != VOID:
            return self.put(result, text)
        self.lines.append(text)
        return self.null()

    def outside(self, function: str, *arguments: Number, result: str = VOID) -> Value:
        """Declare a function of these types and call it."""
        values = [self.operand(x) for x in arguments]
        self.module.declare(function, result, [x.type for x in values])
        return self.call(function, *values, result=result)

    def intrinsic(self, name: str, *operands: Number) -> Value:
        """A function of doubles that LLVM knows, on all lanes at once."""
        return self.outside(f"llvm.{name}.{self.lanes.suffix}", *operands, result=self.lanes.T)

    # ---- memory

    def at(self, pointer: Value, index: Value | int, type: str = DOUBLE) -> Value:
        """The address of element `index` of an array of a type; for indices in lanes one address each."""
        kind = index.type if isinstance(index, Value) else LONG
        result = POINTER if kind == LONG else kind.replace(LONG, POINTER)
        return self.put(result, f"getelementptr {type}, ptr {pointer.text}, {kind} {_text(index, kind)}")

    def at_entry(self, pointer: Value, index: int, type: str = DOUBLE, name: str = "") -> Value:
        """The same address, computed at the start of the function and so valid in all of it. Other code may
        use its `name` already."""
        if not name:
            self._count += 1
        place = Value(self, POINTER, name or f"%e{self._count}")
        self._entry.append(f"{place.text} = getelementptr {type}, ptr {pointer.text}, i64 {index}")
        return place

    def entry(self, table: str, index: Value, signed: bool = False) -> Value:
        """A number of a table of 32-bit integers, as an i64."""
        number = self.load(self.at(self.symbol(table), index, INT), INT, align=4)
        return self.convert("sext" if signed else "zext", number, LONG)

    def copy(self, target: Value, source: Value, bytes: int) -> None:
        """Copy memory; the two places do not overlap."""
        self.outside("llvm.memcpy.p0.p0.i64", target, source, bytes, self.number(0, BOOL))

    def clear(self, target: Value, bytes: int) -> None:
        """Fill memory with zeros."""
        self.outside("llvm.memset.p0.i64", target, self.number(0, BYTE), bytes, self.number(0, BOOL))

    def aligned(self, pointer: Value, bytes: int) -> Value:
        """The first address at or after `pointer`, the address of a double, that is a multiple of `bytes`."""
        above = self.at(pointer, bytes - 8, "i8")
        self.module.declare("llvm.ptrmask.p0.i64", POINTER, [POINTER, LONG])
        return self.call("llvm.ptrmask.p0.i64", above, -bytes, result=POINTER)

    def load(self, pointer: Value, type: str | None = None, align: int = 8, volatile: bool = False) -> Value:
        """The value at an address: a double for each lane, or a value of the given type."""
        type = type or self.lanes.T
        return self.put(type, f"load {'volatile ' * volatile}{type}, ptr {pointer.text}, align {align}")

    def store(self, x: Number, pointer: Value, align: int = 8, after: int = -1) -> None:
        """Store a value at an address; after line number `after`, if given, instead of here."""
        value = self.operand(x)
        text = f"store {value.type} {value.text}, ptr {pointer.text}, align {align}"
        if after >= 0:
            self.lines[after] += f"\n{text}"
        else:
            self.lines.append(text)

    # ---- blocks

    def label(self, name: str) -> str:
        """A new label, which `place` places later."""
        self._count += 1
        return f"{name}{self._count}"

    def place(self, label: str) -> None:
        """Begin the block of a label; the block before continues into it unless it has ended."""
        if not self._ended:
            self.jump(label)
        self.lines.append(f"{label}:")
        self.block, self._ended = label, False

    def jump(self, label: str) -> None:
        self._end(f"br label %{label}")

    def branch(self, condition: Value, yes: str, no: str) -> None:
        self._end(f"br i1 {condition.text}, label %{yes}, label %{no}")

    def switch(self, value: Value, other: str, cases: Mapping[int, str]) -> None:
        """Jump to the label of a number, or to `other`."""
        each = " ".join(f"{value.type} {number}, label %{label}" for number, label in cases.items())
        self._end(f"switch {value.type} {value.text}, label %{other} [ {each} ]")

    def give(self, value: Value | None = None) -> None:
        """Return from the function."""
        self._end("ret void" if value is None else f"ret {value.type} {value.text}")

    def require(self, condition: Value, otherwise: str) -> None:
        """Continue if the condition holds, else jump to the label."""
        on = self.label("on")
        self.branch(condition, on, otherwise)
        self.place(on)

    def phi(self, *sources: tuple[Value, str]) -> Value:
        """The value of the block that control came from. It must be the first instruction of its block."""
        return self.put(sources[0][0].type, _phi(sources))

    def _end(self, text: str) -> None:
        self.lines.append(text)
        self._ended = True

    @contextmanager
    def when(self, condition: Value, holds: bool = True) -> Iterator[None]:
        """Run the body if the condition holds, or if it does not."""
        body, after = self.label("then"), self.label("after")
        self.branch(condition, *((body, after) if holds else (after, body)))
        self.place(body)
        yield
        self._jump = -1 if self._ended else len(self.lines)
        self.place(after)

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """Run the body if the condition of `when`, which ends on the line before, does not hold."""
        end = self.label("end")
        if self._jump >= 0:
            self.lines[self._jump] = f"br label %{end}"
        yield
        self.place(end)

    @contextmanager
    def loop(self, count: Value | int, step: int = 1) -> Iterator[Value]:
        """Run the body for i = 0, step, 2 step, .. below count."""
        skip, before = "", self.block
        if not (isinstance(count, int) and count > 0):  # perhaps zero iterations
            skip = self.label("skip")
            self.require(self.compare("sgt", self.operand(count), 0), skip)
        with self._rounds(lambda i: i + step, lambda i, after: self.compare("slt", after, count)) as loop:
            yield loop.carried[0][0]
        if skip:
            out = self.block
            self.place(skip)
            for phi, first, last in loop.carried[1:]:
                self._results[phi.text] = self.phi((first, before), (last, out))

    @contextmanager
    def overlapping(self, last: Value, step: int) -> Iterator[Value]:
        """Run the body for i = 0, step, 2 step, .. below last and, at the end, for `last` itself."""

        def following(i: Value) -> Value:
            far = i + step
            return self.select(self.compare("slt", far, last), far, last)

        with self._rounds(following, lambda i, _: self.compare("slt", i, last)) as loop:
            yield loop.carried[0][0]

    @contextmanager
    def repeat(self) -> Iterator[Value]:
        """Run the body for i = 0, 1, .. until `leave_unless` ends it."""
        with self._rounds(lambda i: i + 1, None) as loop:
            yield loop.carried[0][0]

    def leave_unless(self, condition: Value) -> None:
        """Continue if the condition holds, else leave the innermost loop."""
        self.require(condition, self._loops[-1].out)

    def carry(self, first: Value) -> Value:
        """A value that each round of the innermost loop passes to the next by `hand_on`; `after_loop` gives
        its last value."""
        self._count += 1
        phi = Value(self, first.type, f"%v{self._count}")
        self._loops[-1].carried.append([phi, first, phi])
        return phi

    def hand_on(self, carried: Value, value: Value) -> None:
        next(entry for entry in self._loops[-1].carried if entry[0] is carried)[2] = value

    def after_loop(self, carried: Value) -> Value:
        """A carried value after its loop: the first value if there was no iteration."""
        return self._results[carried.text]

    @contextmanager
    def _rounds(
        self, following: Callable[[Value], Value], more: Callable[[Value, Value], Value] | None
    ) -> Iterator[_Loop]:
        """The body of a loop: index i, then following(i), while more(i, following(i)) holds; if `more` is
        None, until the body leaves it."""
        head, out = self.label("loop"), self.label("out")
        loop = _Loop(len(self.lines) + (0 if self._ended else 1), self.block, out)
        self.place(head)
        self._loops.append(loop)
        i = self.carry(self.number(0, LONG))
        yield loop
        after = following(i)
        self.hand_on(i, after)
        last = self.block
        if more is None:
            self.jump(head)
        else:
            self.branch(more(i, after), head, out)
        self._loops.pop()
        for phi, first, then in loop.carried:
            self.lines[loop.line] += f"\n{phi.text} = {_phi([(first, loop.before), (then, last)])}"
            self._results[phi.text] = then
        self.place(out)


def _text(x: Number, type: str) -> str:
    return x.text if x.__class__ is Value else constant(type, x)  # type: ignore[union-attr, arg-type]


def _phi(sources: Sequence[tuple[Value, str]]) -> str:
    return f"phi {sources[0][0].type} {', '.join(f'[ {value.text}, %{label} ]' for value, label in sources)}"
