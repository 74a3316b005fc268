"""Machine code of long straight lines without LLVM, for one state or for four or eight side by side.

LLVM takes 45 microseconds per operation, and writing its text takes 30 more; this module takes 10. A
straight line needs no more than this: its operations in order, each value in a register for as long as it is
needed again sooner than the others (Belady's rule), else in `work`. Operations, operands and roundings are
those of kernel_writer.py: the same bits.

    lowering    nodes of the graph become steps, each of one instruction or call, over numbered values
    allocation  steps become instructions, with values in sixteen registers, or in 29 of AVX-512's 32

A truth value is all bits of a register set or clear; for lanes of AVX-512 it is one of seven masks.
"""

from __future__ import annotations

import collections
import functools
import struct
from collections.abc import Collection, Mapping, Sequence

import casadi as ca

from condyle.native.ir.module import Module
from condyle.native.ir.values import POINTER, bits
from condyle.native.machine import cache, elf, jit
from condyle.native.machine.data import FOUR, SYMBOL
from condyle.native.straight import libm, x86
from condyle.native.straight.instructions import CHOICE, LEAVES, TRUTHS, Graph
from condyle.native.straight.selection import LEAF

LEAST = 30
"""Smallest number of operations for which a line is compiled here."""
_NEVER, _FREE = 1 << 60, 1 << 61  # next use of a value without one, and of a register without a value
_NEAR = 5
"""A value that is needed again within this many steps is loaded into a register, not read from memory."""
_LOW = 13, 14, 15
"""Of 32 registers, those reserved for instructions that can only use the first sixteen."""
_SIGN, _ALL = 1 << 63, (1 << 64) - 1
_LESS, _LESS_EQUAL, _EQUAL, _UNORDERED, _NOT_EQUAL, _EQUAL_OR_NOT = 1, 2, 0, 3, 4, 8
_LOADED = "and", "or", "xor", "cmp"  # for one state, these do not read operands from memory
_AND_OR = {"both": "and", "kept": "and", "any": "or", "not": "xor"}
"""Operations on truth values, which are all bits set or clear."""
_MASKED = "add", "sub", "mul", "div", "sqrt", "fma", "fms", "fnma"
_ALIGN = 63
_WRITTEN = "sincos", "exp", "log", "erfinv"

Step = tuple[str, int, tuple[int, ...], object]
"""The operation, the value that it computes (-1: none), its operands, and further data."""


def available(contract: bool, lanes: int = 1) -> bool:
    """Whether this processor and operating system support such code."""
    if jit.elf_machine() != 62 or not jit.has("avx") or not (jit.fuses() or not contract):
        return False
    return lanes in (1, 4) or (lanes == 8 and _registers() == 32)


@functools.cache
def _registers() -> int:
    return 32 if all(map(jit.has, ("avx512f", "avx512vl", "avx512dq"))) else 16


def add_line(
    module: Module,
    graph: Graph,
    name: str,
    places: Sequence[tuple[int, int]],
    memories: int,
    early: Mapping[int, list[tuple[int, int, int]]],
    uniform: Collection[int] = (),
    aligned: bool = False,
) -> int:
    """Link the function `@name` of a graph to a module; returns how many blocks of lanes its `work` must hold.

    Args:
        module: the module that calls it.
        graph: the operations.
        places: memory, and the element of it at which each input and then each output begins.
        memories: number of memories, which are the arguments; `work` is the argument after them.
        early: outputs that may be stored once a node is computed; all others are stored at the end.
        uniform: inputs that have one number for all lanes.
        aligned: whether `work` is aligned for lanes.
    """
    W = module.lanes.W
    lowered = _Lowered(graph, places, early, W, uniform if W > 1 else ())
    masked = W > 1 and _registers() == 32
    align = W > 1 and not aligned
    code, addresses, work = (_WithMasks if masked else _Allocator)(lowered, memories, align).write()
    module.link(
        name, [POINTER] * (memories + 1), lambda: elf.code_object(jit.elf_machine(), name, code, addresses)
    )
    called = {symbol for _, symbol in addresses if symbol.startswith("condyle.")} - {SYMBOL, FOUR}
    for symbol in sorted(called):
        module.attach(symbol, functools.partial(_function, symbol))
    return work + align * (1 + _ALIGN // (8 * W + 1))


@functools.cache
def _function(symbol: str) -> bytes:
    """Machine code of a function in libm.py. It does not depend on a model, so that all models share one
    cache entry."""
    _, name, lanes = symbol.split(".")
    key = f"function {symbol}"
    if (found := cache.fetch(key)) is not None:
        return found[0]
    module = Module(int(lanes))
    libm.function(module, name, _OPERANDS.get(name, 1))
    # the same bytes with all settings: cached and new code that links it must agree
    code = jit.compile_ir(module.text().replace("define internal ", "define "), 1)
    cache.store(key, code, {})
    return code


DATA = -1
"""The memory of machine/data.py, whose address is not an argument."""


def _has_four(lanes: int) -> bool:
    """Whether code for this number of lanes needs a copy of its data for each lane, because no instruction
    broadcasts what it reads."""
    return lanes == 4 and _registers() < 32


class _Lowered:
    """The steps of a graph.

    Attributes:
        steps: the steps in order.
        constants: bits of each value that is constant.
        homes: memory and place in bytes of each value that is an argument.
        spread: values that are arguments and the same in all lanes.
        count: of values.
    """

    def __init__(
        self,
        graph: Graph,
        places: Sequence[tuple[int, int]],
        early: Mapping[int, list[tuple[int, int, int]]],
        lanes: int,
        uniform: Collection[int],
    ) -> None:
        self.graph, self.places, self.lanes, self.uniform = graph, places, lanes, uniform
        self.steps: list[Step] = []
        self.constants: dict[int, int] = {}
        self.homes: dict[int, tuple[int, int]] = {}
        self.spread: set[int] = set()
        self.count = len(graph.op)
        self._known: dict[int, int] = {}  # values by their bits
        self._masks: dict[int, int] = {}  # of nodes: all bits set or none
        self._numbers: dict[int, int] = {}  # of nodes that are masks
        self._sines: dict[int, tuple[int, int]] = {}
        self._indices: dict[int, int] = {}
        self._lower(early)

    def _lower(self, early: Mapping[int, list[tuple[int, int, int]]]) -> None:
        graph, places = self.graph, self.places
        done: set[tuple[int, int, int]] = set()
        taken = set(graph.products.values())
        for k, op in enumerate(graph.op):
            if not graph.uses[k] or k in taken:
                continue
            if op == ca.OP_CONST:
                self.constants[k] = bits(graph.constants[k]) & _ALL
            elif op == ca.OP_PARAMETER:
                four = _has_four(self.lanes)
                self.homes[k] = DATA, 8 * graph.a[k] * (4 if four else 1)
                if not four:
                    self.spread.add(k)
            elif op == ca.OP_INPUT:
                memory, offset = places[graph.a[k]]
                one = graph.a[k] in self.uniform
                self.homes[k] = memory, (offset + graph.b[k]) * 8 * (1 if one else self.lanes)
                if one:
                    self.spread.add(k)
            else:
                self._node(k, op)
            for output in early.get(k, ()):
                self._store(*output, stays=True)
                done.add(output)
        rest = [output for output in graph.outputs if output not in done]
        # an output may overwrite an input that another one copies
        copied = dict.fromkeys(k for k, _, _ in rest if graph.op[k] == ca.OP_INPUT)
        copies = {k: self._put("copy", k) for k in copied}
        for k, argument, element in rest:
            self._store(copies.get(k, k), argument, element)

    def _store(self, k: int, argument: int, element: int, stays: bool = False) -> None:
        """Store an output. stays: whether the value may later be read from there."""
        memory, offset = self.places[len(self.places) - self.graph.results + argument]
        value = self._number(k) if k < len(self.graph.op) else k
        self.steps.append(("store", -1, (value,), (memory, (offset + element) * 8 * self.lanes, stays)))

    # values

    def _new(self) -> int:
        self.count += 1
        return self.count - 1

    def _constant(self, pattern: int) -> int:
        if pattern not in self._known:
            self._known[pattern] = k = self._new()
            self.constants[k] = pattern
        return self._known[pattern]

    def _put(self, word: str, *operands: int, to: int = -1, more: object = None) -> int:
        to = self._new() if to < 0 else to
        self.steps.append((word, to, operands, more))
        return to

    def _number(self, k: int) -> int:
        """The value of a node as a number; truth values become 0 or 1."""
        if k not in self._masks or self.graph.op[k] not in TRUTHS:
            return k
        if k not in self._numbers:
            self._numbers[k] = self._put("kept", self._masks[k], self._constant(bits(1.0)))
        return self._numbers[k]

    def _mask(self, k: int) -> int:
        if k not in self._masks:
            self._masks[k] = self._put("cmp", k, self._constant(0), more=_NOT_EQUAL)
        return self._masks[k]

    def _node(self, k: int, op: int) -> None:
        graph, put = self.graph, self._put
        a, b = graph.a[k], graph.b[k]
        if k in graph.products:
            m = graph.products[k]
            z = self._number(b if m == a else a)
            x = self._number(graph.a[m])
            y = x if graph.op[m] == ca.OP_SQ else self._number(graph.b[m])
            put("fma" if op == ca.OP_ADD else "fms" if m == a else "fnma", x, y, z, to=k)
        elif k in graph.selections.at:
            tree = graph.selections.at[k]
            put("pick", self._index(tree.shape), to=k, more=tree.leaves)
        elif op in _BINARY:
            put(_BINARY[op], self._number(a), self._number(b), to=k)
        elif op in _SAME:
            x = self._number(a)
            put(_SAME[op], x, x, to=k)
        elif op in _COMPARED:
            self._masks[k] = put("cmp", self._number(a), self._number(b), more=_COMPARED[op])
        elif op in (ca.OP_AND, ca.OP_OR):
            self._masks[k] = put("both" if op == ca.OP_AND else "any", self._mask(a), self._mask(b))
        elif op == ca.OP_NOT:
            self._masks[k] = put("not", self._mask(a), self._constant(_ALL))
        elif op == ca.OP_IF_ELSE_ZERO:
            put("kept", self._mask(a), self._number(b), to=k)
        elif op == CHOICE:
            c, x, y = graph.choices[k]
            put("blend", self._mask(c), self._number(x), self._number(y), to=k)
        elif op in (ca.OP_SIN, ca.OP_COS):
            self._sine(k, a, op)
        elif op in _CALLED:
            name, count = _CALLED[op]
            operands = [self._number(x) for x in (a, b)[:count]]
            put("call", *operands, to=k, more=(self._symbol(name), (k,)))
        else:
            self._other(k, op, self._number(a), self._number(b) if b >= 0 else -1)

    def _other(self, k: int, op: int, a: int, b: int) -> None:
        put, constant = self._put, self._constant
        if op == ca.OP_INV:
            put("div", constant(bits(1.0)), a, to=k)
        elif op == ca.OP_NEG:
            put("xor", a, constant(_SIGN), to=k)
        elif op == ca.OP_FABS:
            put("and", a, constant(_SIGN - 1), to=k)
        elif op == ca.OP_SQRT:
            put("sqrt", a, to=k)
        elif op in (ca.OP_FLOOR, ca.OP_CEIL):
            put("round", a, to=k, more=9 if op == ca.OP_FLOOR else 10)
        elif op == ca.OP_COPYSIGN:
            size = put("and", a, constant(_SIGN - 1))
            put("or", size, put("and", b, constant(_SIGN)), to=k)
        elif op == ca.OP_SIGN:
            one = put("or", put("and", a, constant(_SIGN)), constant(bits(1.0)))
            put("blend", put("cmp", a, constant(0), more=_EQUAL_OR_NOT), a, one, to=k)
        else:  # fmin, fmax: a number wins over NaN, the first of two equals is kept
            order = (b, a) if op == ca.OP_FMIN else (a, b)
            best = put("blend", put("cmp", *order, more=_LESS), b, a)
            put("blend", put("cmp", a, a, more=_UNORDERED), b, best, to=k)

    def _symbol(self, name: str) -> str:
        """The symbol of a function; for one state most of them are the C library's."""
        return f"condyle.{name}.{self.lanes}" if self.lanes > 1 or name in _WRITTEN else name

    def _sine(self, k: int, a: int, op: int) -> None:
        if a not in self._sines:
            pair = self._sines[a] = self._new(), self._new()
            self.steps.append(("call", -1, (self._number(a),), (self._symbol("sincos"), pair)))
        self._put("same", self._sines[a][op == ca.OP_COS], to=k)

    def _index(self, shape: int) -> int:
        """The index of the chosen leaf in trees of this shape, an integer."""
        if shape not in self._indices:
            number = -1

            def chosen(shape: int) -> int:
                nonlocal number
                if shape == LEAF:
                    number += 1
                    return self._constant(number)
                c, yes, no = self.graph.selections.shapes[shape]
                first, second = chosen(yes), chosen(no)
                return self._put("blend", self._mask(c), first, second)

            self._indices[shape] = chosen(shape)
        return self._indices[shape]


_BINARY = {ca.OP_ADD: "add", ca.OP_SUB: "sub", ca.OP_MUL: "mul", ca.OP_DIV: "div"}
_SAME = {ca.OP_SQ: "mul", ca.OP_TWICE: "add"}
_COMPARED = {ca.OP_LT: _LESS, ca.OP_LE: _LESS_EQUAL, ca.OP_EQ: _EQUAL, ca.OP_NE: _NOT_EQUAL}
_OTHER = {
    getattr(ca, f"OP_{name}")
    for name in ["INV", "NEG", "FABS", "SQRT", "FLOOR", "CEIL", "COPYSIGN", "SIGN", "FMIN", "FMAX"]
}
_CALLED = {
    **{
        getattr(ca, f"OP_{n.upper()}"): (n, 1)
        for n in [
            "exp",
            "log",
            "tan",
            "asin",
            "acos",
            "atan",
            "sinh",
            "cosh",
            "tanh",
            "asinh",
            "acosh",
            "atanh",
            "erf",
            "erfinv",
            "log1p",
            "expm1",
        ]
    },
    **{getattr(ca, f"OP_{n.upper()}"): (n, 2) for n in ["atan2", "fmod", "hypot", "remainder", "pow"]},
    ca.OP_CONSTPOW: ("pow", 2),
}
_OPERANDS = dict(_CALLED.values())
_KNOWN = {
    *LEAVES,
    *TRUTHS,
    *_BINARY,
    *_SAME,
    *_CALLED,
    *_OTHER,
    ca.OP_IF_ELSE_ZERO,
    CHOICE,
    ca.OP_SIN,
    ca.OP_COS,
}


def is_known(graph: Graph) -> bool:
    """Whether this module supports every operation of a graph."""
    return _KNOWN.issuperset(graph.op)


class _Allocator:
    """Instructions for steps, with values in registers.

    Args:
        align: whether `work` must be aligned.
    """

    def __init__(self, lowered: _Lowered, memories: int, align: bool) -> None:
        self.steps = self._without_names(lowered)
        self.constants, self.homes, self.spread = lowered.constants, lowered.homes, lowered.spread
        self.lanes, self.align = lowered.lanes, align
        self.work = memories
        self.data = any(memory == DATA for memory, _ in self.homes.values())
        self.code: list[bytes] = []
        self.size = 0
        self.fixes: list[tuple[int, int, int]] = []  # places of distances to the pool, their ends, targets
        self.addresses: list[tuple[int, str]] = []
        self.pool: dict[bytes, int] = {}  # by their bits: 0.0 == -0.0
        self.held = bytearray()
        self.value = [-1] * _registers()
        self.next = [_FREE] * _registers()
        for r in self._kept_free():
            self.next[r] = -1  # never taken
        self.register: dict[int, int] = {}
        self.slots, self.free, self.slot = 0, list[int](), dict[int, int]()
        self.more = 0  # mask bits of the instruction being written
        self.near = _NEAR if self.lanes == 1 or _registers() < 32 else 4 * _NEAR
        self.left: list[int] = []  # places in `work` that become free with the next step

    def _kept_free(self) -> Sequence[int]:
        """Registers that hold no values."""
        return _LOW if _registers() > 16 else ()

    @staticmethod
    def _without_names(lowered: _Lowered) -> list[Step]:
        """The steps, in which copies of a value have the number of that value."""
        same: dict[int, int] = {}
        steps = []
        for word, to, operands, more in lowered.steps:
            operands = tuple([same.get(x, x) for x in operands]) if same else operands
            if word == "same":
                same[to] = operands[0]
            else:
                steps.append((word, to, operands, more))
        return steps

    def emit(self, code: bytes) -> None:
        self.code.append(code)
        self.size += len(code)

    def write(self) -> tuple[bytes, list[tuple[int, str]], int]:
        """The code with its constants, the places of addresses, and blocks of work."""
        steps, last = self.steps, dict[int, int]()
        later: list[tuple[int, ...]] = [()] * len(steps)
        for at in range(len(steps) - 1, -1, -1):
            operands = steps[at][2]
            later[at] = tuple([last.get(x, _NEVER) for x in operands])
            for x in operands:
                last[x] = at
        calls = any(step[0] == "call" for step in steps)
        # after a call, the contents of r10, r9 and r8 are loaded again
        order = [*x86.PRESERVED, 10, 9, 8] if calls else [*x86.ARGUMENTS, 10, *x86.PRESERVED]
        self.bases = order[: self.work + 1 + self.data]
        pushed = [g for g in self.bases if g in x86.PRESERVED]
        self.frame = 8 if calls and len(pushed) % 2 == 0 else 0  # the stack must be aligned at calls
        self.stack = self.frame + 8 * len(pushed) + 8  # start of the arguments on the stack
        # memories whose addresses are in their registers
        self.known = set(range(min(6, self.work + 1)))
        for g in pushed:
            self.emit(x86.push(g))
        self.emit(x86.grow_stack(self.frame))
        for g, argument in zip(self.bases[: self.work + 1], x86.ARGUMENTS):
            if g != argument:
                self.emit(x86.copy(g, argument))
        if self.align and self.work < 6:
            self.emit(x86.align(self.bases[self.work]))
        for at, (word, to, operands, extra) in enumerate(steps):
            self.free += self.left
            self.left.clear()
            getattr(self, f"_{word}", self._binary)(
                _AND_OR.get(word, word), to, operands, extra, at, later[at], last
            )
        self.emit(x86.grow_stack(-self.frame))
        for g in reversed(pushed):
            self.emit(x86.pop(g))
        self.emit(x86.UPPER_ZERO + x86.RETURN if self.lanes > 1 else x86.RETURN)
        return self._joined(), self.addresses, self.slots

    def _base(self, memory: int) -> int:
        """The general register that holds the address of a memory; if none is left, rax, valid until the
        next call of this method."""
        own = memory == DATA
        memory = self.work + 1 if own else memory
        g = self.bases[memory] if memory < len(self.bases) else 0
        if memory not in self.known:
            if own:
                self.emit(x86.address(g))
                self.addresses.append((self.size, FOUR if _has_four(self.lanes) else SYMBOL))
                self.emit(bytes(8))
            else:
                self.emit(x86.from_stack(g, self.stack + 8 * (memory - 6)))
            if self.align and memory == self.work and memory >= 6:
                self.emit(x86.align(g))
            if g:
                self.known.add(memory)
        return g

    def _joined(self) -> bytes:
        start = self.size + -self.size % (64 if self.lanes > 1 else 8)
        code = bytearray(b"".join(self.code) + bytes(start - self.size))
        for where, end, to in self.fixes:
            struct.pack_into("<i", code, where, start + to - end)
        return bytes(code + self.held)

    def _in_pool(self, held: bytes) -> int:
        if held not in self.pool:
            if self.lanes > 1:
                self.held += bytes(-len(self.held) % len(held))
            self.pool[held] = len(self.held)
            self.held += held
        return self.pool[held]

    # registers

    def _low(self, r: int, instead: int) -> int:
        """Register r, or a register below sixteen to which its value is copied."""
        if r < 16:
            return r
        self.emit(x86.registers("move", instead, 0, r))
        return instead

    def _put(self, word: str, d: int, v: int, m: int, after: bytes = b"") -> None:
        """d <- v word m."""
        if word in x86.ONLY_LOW:
            low = d if d < 16 else _LOW[0]
            v, m = self._low(v, _LOW[0]), self._low(m, _LOW[1])
            self.emit(x86.registers(word, low, v, m, self.lanes) + after)
            word, v, m, after = "move", 0, low, b""
        if word in x86.ALONE and self.lanes > 1:
            v = 0
        if word != "move" or d != m:
            self.emit(x86.registers(word, d, v, m, self.lanes, self.more) + after)

    def _from_memory(self, word: str, d: int, v: int, x: int, after: bytes = b"", more: int = 0) -> None:
        """d <- v word x, where the value x is in memory."""
        if word in x86.ALONE and self.lanes > 1:
            v = 0
        if (x in self.constants or x in self.spread) and self.lanes > 1:
            if word == "load":
                word = "spread"
            elif _registers() == 32:
                more |= x86.ALL
        if x in self.constants:
            held = self.constants[x].to_bytes(8, "little")
            one = self.lanes == 1 or word == "spread" or more & x86.ALL
            self._from_pool(word, d, v, held if one else held * self.lanes, after, more)
            return
        memory, at = self.homes[x]
        self.emit(x86.memory(word, d, v, self._base(memory), at, self.lanes, more) + after)

    def _from_pool(self, word: str, d: int, v: int, held: bytes, after: bytes = b"", more: int = 0) -> None:
        """d <- v word numbers in the pool beside the code."""
        code = x86.memory(word, d, v, x86.RIP, 0, self.lanes, more) + after
        end = self.size + len(code)
        self.fixes.append((end - len(after) - 4, end, self._in_pool(held)))
        self.emit(code)

    def _folds(self, x: int, later: int) -> bool:
        """Whether the instruction reads the value x from memory instead of loading it into a register,
        given its next use."""
        return x not in self.register and later > self.near and not (x in self.spread and _registers() < 32)

    def _take(self, at: int) -> int:
        """A free register, or else the one whose value is needed last."""
        r = self.next.index(max(self.next))
        if (x := self.value[r]) >= 0:
            if x not in self.homes and x not in self.constants:
                self._keep(x, r)
            del self.register[x]
            self.value[r] = -1
        return r

    def _keep(self, x: int, r: int) -> None:
        """Store a value in `work`."""
        if not self.free:
            self.free.append(self.slots)
            self.slots += 1
        self.slot[x] = slot = self.free.pop()
        self.homes[x] = self.work, 8 * self.lanes * slot
        self.emit(x86.memory("store", r, 0, self._base(self.work), 8 * self.lanes * slot, self.lanes))

    def _load(self, x: int, at: int) -> int:
        """The register of a value, in which it remains during step `at`."""
        r = self.register.get(x, -1)
        if r < 0:
            r = self._take(at)
            self._from_memory("load", r, 0, x)
            self.value[r] = x
            self.register[x] = r
        self.next[r] = -1
        return r

    def _used(self, operands: tuple[int, ...], later: tuple[int, ...]) -> None:
        """Note the steps at which operands are needed next, and release registers of those that are not
        needed again."""
        for x, then in zip(operands, later):
            r = self.register.get(x, -1)
            if then == _NEVER:
                if r >= 0:
                    del self.register[x]
                    self.value[r], self.next[r] = -1, _FREE
                if x in self.slot:
                    self.left.append(self.slot.pop(x))
            elif r >= 0:
                self.next[r] = then

    def _give(self, x: int, r: int, at: int, last: Mapping[int, int]) -> None:
        """Record that value x is in register r from now on, with its next use."""
        self.value[r], self.register[x] = x, r
        self.next[r] = last.get(x, _NEVER)  # the first use of a value that is made once
        if self.next[r] == _NEVER:
            del self.register[x]
            self.value[r], self.next[r] = -1, _FREE

    # steps

    def _binary(self, word: str, to: int, xs: tuple[int, ...], extra: object, at: int, later, last) -> None:
        if len(xs) == 1:  # sqrt, round
            xs, later = xs * 2, later * 2
        a, b = xs
        if word in ("add", "mul") and a not in self.register and (b in self.register or later[0] > later[1]):
            (a, b), later, xs = (b, a), later[::-1], xs[::-1]
        folds = b != a and (self.lanes > 1 or word not in _LOADED) and self._folds(b, later[1] - at)
        v = self._load(a, at)
        m = -1 if folds else self._load(b, at)
        after = bytes((extra,)) if isinstance(extra, int) else b""
        self._used(xs, later)
        if folds:
            d = self._take(at)
            # the register taken may be v, whose value has been stored by then
            self._from_memory(word, d, v, b, after, self.more)
        else:
            d = self._take(at)
            self._put(word, d, v, m, after)
        self._give(to, d, at, last)

    def _fma(self, word: str, to: int, xs: tuple[int, ...], extra: object, at: int, later, last) -> None:
        here = self.register
        # the overwritten register: that of an operand that is not needed again or comes from memory
        once = [k for k in (2, 0, 1) if xs.count(xs[k]) == 1]
        role = next((k for k in once if later[k] == _NEVER and xs[k] in here), -1)
        fresh, copied = False, False
        if role < 0:
            role = max((k for k in once if xs[k] not in here), key=later.__getitem__, default=-1)
            fresh, copied = role >= 0, role < 0
        role = 2 if copied else role
        others = [k for k in (0, 1, 2) if k != role]
        # the second of the two others may be in memory
        first, second = others
        if xs[first] not in here and (xs[second] in here or later[first] > later[second]):
            first, second = second, first
        if not (fresh or copied):
            self._load(xs[role], at)
        v = self._load(xs[first], at)
        folds = xs[second] != xs[first] and self._folds(xs[second], later[second] - at)
        m = -1 if folds else self._load(xs[second], at)
        # dst = role z: dst + v m (231); role of a factor: the other two are a factor and z
        order = 231 if role == 2 else 132 if first == 2 else 213
        if fresh or copied:
            if not fresh:
                source = self._load(xs[role], at)
            d = self._take(at)
            self.next[d] = -1
            if fresh:
                self._from_memory("load", d, 0, xs[role])
            else:
                self.emit(x86.registers("move", d, 0, source, self.lanes))
        else:
            d = self._load(xs[role], at)
        if folds:
            self._from_memory(f"{word}{order}", d, v, xs[second], more=self.more)
        else:
            self.emit(x86.registers(f"{word}{order}", d, v, m, self.lanes, self.more))
        if not (fresh or copied):
            # d holds another value now
            del here[xs[role]]
            self.value[d] = -1
        self._used(xs, later)
        self._give(to, d, at, last)

    _fms = _fnma = _fma

    def _blend(self, word: str, to: int, xs: tuple[int, ...], extra: object, at: int, later, last) -> None:
        c, yes, no = (self._load(x, at) for x in xs)
        self._used(xs, later)
        d = self._take(at)
        c = self._low(c, _LOW[2])
        self._put("blend", d, no, yes, bytes((c << 4,)))
        self._give(to, d, at, last)

    def _copy(self, word: str, to: int, xs: tuple[int, ...], extra: object, at: int, later, last) -> None:
        m = self._load(xs[0], at)
        self._used(xs, later)
        d = self._take(at)
        self.emit(x86.registers("move", d, 0, m, self.lanes))
        self._give(to, d, at, last)

    def _pick(self, word: str, to: int, xs: tuple[int, ...], extra, at: int, later, last) -> None:
        m = self._load(xs[0], at)
        self.emit(x86.registers("integer", m, 0, 11))
        self._used(xs, later)
        d = self._take(at)  # before the address, since a store may need rax
        self.emit(x86.TABLE + bytes(4))
        self.fixes.append((self.size - 4, self.size, self._in_pool(struct.pack(f"<{len(extra)}d", *extra))))
        low = d if d < 16 else _LOW[0]
        self.emit(x86.from_table(low))
        self._put("move", d, 0, low)
        self._give(to, d, at, last)

    def _store(self, word: str, to: int, xs: tuple[int, ...], extra, at: int, later, last) -> None:
        r = self._load(xs[0], at)
        memory, place, stays = extra
        self.emit(x86.memory("store", r, 0, self._base(memory), place, self.lanes))
        if stays and xs[0] not in self.constants:
            self.homes.setdefault(xs[0], (memory, place))
        self._used(xs, later)

    def _call(self, word: str, to: int, xs: tuple[int, ...], extra, at: int, later, last) -> None:
        """Call a function. Values that are still needed are saved; arguments and results are in the first
        registers."""
        symbol, results = extra
        for r, x in enumerate(self.value):
            if x < 0:
                continue
            needed_later = self.next[r] > at or any(x == y and then != _NEVER for y, then in zip(xs, later))
            if x not in self.homes and x not in self.constants and (needed_later or x in xs):
                self._keep(x, r)
            self.value[r], self.next[r] = -1, _FREE
        self.register.clear()
        for r, x in enumerate(xs):
            self._from_memory("load", r, 0, x)
        self._used(xs, later)
        self.emit(x86.address(0))
        self.addresses.append((self.size, symbol))
        self.emit(bytes(8) + x86.CALL)
        self.known -= {6, 7, 8}
        for r, x in enumerate(results):
            self._give(x, r, at, last)


class _WithMasks(_Allocator):
    """The same for lanes of AVX-512, where truth values are in seven masks."""

    def __init__(self, lowered: _Lowered, memories: int, align: bool) -> None:
        super().__init__(lowered, memories, align)
        self._join_masks()
        self.mask: dict[int, int] = {}  # by value
        self.mask_value, self.mask_next = [-1] * 8, [-1, *[_FREE] * 7]  # the first mask cannot be used

    def _kept_free(self) -> Sequence[int]:
        return ()

    def _join_masks(self) -> None:
        """Join masking with the instruction before it. An instruction can leave zero, or the old value, in
        lanes outside of a mask, so that a selection by a mask needs no instruction of its own. Operands
        that are then read later must not have been overwritten by that time."""
        steps: list[Step | None] = [*self.steps]
        stored = {more[:2]: at for at, (word, _, _, more) in enumerate(self.steps) if word == "store"}  # type: ignore[index]

        def waits(operands: tuple[int, ...], first: int, last: int) -> bool:
            """Whether operands of one step can be read at a later step."""
            return not any(first < stored.get(self.homes.get(x), -1) < last for x in operands)

        uses = collections.Counter(x for _, _, operands, _ in self.steps for x in operands)
        made = {to: at for at, (_, to, _, _) in enumerate(self.steps)}
        kept = {to: at for at, (word, to, _, _) in enumerate(self.steps) if word == "kept" and uses[to] == 1}
        for at, (word, to, operands, _) in enumerate(self.steps):
            if word == "sub" and (source := kept.get(operands[1], at)) < at:
                mask, y = self.steps[source][2]
                if not waits((y,), source, at):
                    continue
                del kept[operands[1]]
                steps[source], steps[at] = None, ("less", to, (operands[0], y, mask), None)
        for to, at in kept.items():
            mask, x = self.steps[at][2]
            source = made.get(x, -1)
            step = steps[source] if uses[x] == 1 and source >= 0 else None
            if step is not None and step[0] in _MASKED:
                word, _, operands, _ = step
                if made[mask] > source and not waits(operands, source, at):
                    continue
                steps[source] = None
                steps[max(source, at if made[mask] > source else 0)] = ("masked", to, (*operands, mask), word)
                if made[mask] < source:
                    steps[at] = None
        self.steps = [step for step in steps if step is not None]

    # masks, in the same way as registers of numbers above

    def _take_mask(self) -> int:
        r = self.mask_next.index(max(self.mask_next))
        if (x := self.mask_value[r]) >= 0:
            self._keep_mask(x, r)
            del self.mask[x]
        return r

    def _keep_mask(self, x: int, r: int) -> None:
        if x in self.homes:
            return
        if not self.free:
            self.free.append(self.slots)
            self.slots += 1
        self.slot[x] = slot = self.free.pop()
        self.homes[x] = self.work, 8 * self.lanes * slot
        self.emit(x86.mask_memory(r, self._base(self.work), 8 * self.lanes * slot, load=False))

    def _load_mask(self, x: int) -> int:
        if x not in self.mask:
            r = self.mask[x] = self._take_mask()
            memory, at = self.homes[x]
            self.emit(x86.mask_memory(r, self._base(memory), at, load=True))
            self.mask_value[r] = x
        self.mask_next[self.mask[x]] = -1
        return self.mask[x]

    def _masks_used(self, xs: Sequence[int], later: Sequence[int]) -> None:
        for x, then in zip(xs, later):
            r = self.mask.get(x, -1)
            if then == _NEVER:
                if r >= 0:
                    del self.mask[x]
                    self.mask_value[r], self.mask_next[r] = -1, _FREE
                if x in self.slot:
                    self.left.append(self.slot.pop(x))
            elif r >= 0:
                self.mask_next[r] = then

    def _new_mask(self, x: int, last: Mapping[int, int]) -> int:
        """A mask for a new value."""
        r = self._take_mask()
        self.mask_value[r], self.mask_next[r] = -1, _FREE
        if x in last:
            self.mask[x], self.mask_value[r], self.mask_next[r] = r, x, last[x]
        return r

    # steps

    def _cmp(self, word: str, to: int, xs: tuple[int, ...], extra, at: int, later, last) -> None:
        a, b = xs
        after = bytes((extra,))
        v = self._load(a, at)
        folds = b != a and self._folds(b, later[1] - at)
        m = -1 if folds else self._load(b, at)
        self._used(xs, later)
        if folds:
            self._from_memory("test", self._new_mask(to, last), v, b, after)
        else:
            self.emit(x86.registers("test", self._new_mask(to, last), v, m, self.lanes) + after)

    def _both(self, word: str, to: int, xs: tuple[int, ...], extra, at: int, later, last) -> None:
        a, b = (self._load_mask(x) for x in xs)
        self._masks_used(xs, later)
        self.emit(x86.masks(word, self._new_mask(to, last), a, b))

    _any = _both

    def _not(self, word: str, to: int, xs: tuple[int, ...], extra, at: int, later, last) -> None:
        a = self._load_mask(xs[0])
        self._masks_used(xs[:1], later)
        self.emit(x86.masks("not", self._new_mask(to, last), 0, a))

    def _masked(self, word: str, to: int, xs: tuple[int, ...], extra, at: int, later, last) -> None:
        self.more = self._load_mask(xs[-1]) | x86.ZERO
        getattr(self, f"_{extra}", self._binary)(extra, to, xs[:-1], None, at, later[:-1], last)
        self.more = 0
        self._masks_used(xs[-1:], later[-1:])

    def _less(self, word: str, to: int, xs: tuple[int, ...], extra, at: int, later, last) -> None:
        """x - (mask ? y : 0)."""
        (x, y, _), more = xs, self._load_mask(xs[2])
        v = self._load(x, at)
        folds = y != x and self._folds(y, later[1] - at)
        m = -1 if folds else self._load(y, at)
        if later[0] == _NEVER and x != y:
            d = v
            del self.register[x]
            self.value[d] = -1
        else:
            d = self._take(at)
            self.emit(x86.registers("move", d, 0, v, self.lanes))
        if folds:
            self._from_memory("sub", d, d, y, more=more)
        else:
            self.emit(x86.registers("sub", d, d, m, self.lanes, more))
        self._masks_used(xs[2:], later[2:])
        self._used(xs[:2], later[:2])
        self._give(to, d, at, last)

    def _kept(self, word: str, to: int, xs: tuple[int, ...], extra, at: int, later, last) -> None:
        k, x = self._load_mask(xs[0]), xs[1]
        more = k | x86.ZERO
        folds = self._folds(x, later[1] - at)
        m = -1 if folds else self._load(x, at)
        self._masks_used(xs[:1], later)
        self._used(xs[1:], later[1:])
        d = self._take(at)
        if folds:
            self._from_memory("load", d, 0, x, more=more)
        else:
            self.emit(x86.registers("move", d, 0, m, self.lanes, more))
        self._give(to, d, at, last)

    def _blend(self, word: str, to: int, xs: tuple[int, ...], extra, at: int, later, last) -> None:
        k, (_, yes, no) = self._load_mask(xs[0]), xs
        v = self._load(no, at)
        folds = yes != no and self._folds(yes, later[1] - at)
        m = -1 if folds else self._load(yes, at)
        self._masks_used(xs[:1], later)
        self._used(xs[1:], later[1:])
        d = self._take(at)
        if folds:
            self._from_memory("choose", d, v, yes, more=k)
        else:
            self.emit(x86.registers("choose", d, v, m, self.lanes, k))
        self._give(to, d, at, last)

    def _pick(self, word: str, to: int, xs: tuple[int, ...], extra, at: int, later, last) -> None:
        i = self._load(xs[0], at)
        numbers = struct.pack(f"<{len(extra)}d", *extra)
        first, second = numbers[:64], numbers[64:]
        if not second:
            self._used(xs, later)
            d = self._take(at)
            self._from_pool("pick", d, i, first.ljust(64, b"\0"))
        else:
            d = self._take(at)
            self._from_pool("load", d, 0, first)
            self._from_pool("pick2", d, i, second.ljust(64, b"\0"))
            self._used(xs, later)
        self._give(to, d, at, last)

    def _call(self, word: str, to: int, xs: tuple[int, ...], extra, at: int, later, last) -> None:
        """Call a function. Masks are saved too."""
        for r, x in enumerate(self.mask_value):
            if x >= 0:
                self._keep_mask(x, r)
                self.mask_value[r], self.mask_next[r] = -1, _FREE
        self.mask.clear()
        super()._call(word, to, xs, extra, at, later, last)
