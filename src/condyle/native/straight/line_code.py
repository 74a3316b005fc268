"""A long straight line for one state, as machine code at once.

LLVM takes 45 microseconds per operation, and as text the line takes 30 more; here an operation takes 10. A
straight line needs no more than this: its operations in order, each value in a register for as long as it is
needed again sooner than the others (Belady's rule), else in `work`. Operations, operands and roundings are
those of kernel_writer.py: the same bits.

    lowering    nodes of the graph become steps, each of one instruction or call, over numbered values
    allocation  steps become instructions, with values in sixteen registers, or in 29 of AVX-512's 32
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from functools import cache

import casadi as ca

from condyle.native.ir.module import Module
from condyle.native.ir.values import POINTER, bits
from condyle.native.machine import elf, jit
from condyle.native.machine.data import SYMBOL
from condyle.native.straight import libm, x86
from condyle.native.straight.instructions import CHOICE, LEAVES, Graph
from condyle.native.straight.selection import LEAF

LEAST = 30
"""Operations from which it is worth a function of its own."""
_NEVER, _FREE = 1 << 60, 1 << 61  # next uses: none, and of a register without a value
_NEAR = 5
"""Steps within which a value that is needed again is loaded, not read in memory."""
_LOW = 13, 14, 15
"""Where there are 32 registers: kept for instructions that know the first sixteen only."""
_SIGN, _ALL = 1 << 63, (1 << 64) - 1
_LESS, _LESS_EQUAL, _EQUAL, _UNORDERED, _NOT_EQUAL, _EQUAL_OR_NOT = 1, 2, 0, 3, 4, 8
_LOADED = "and", "or", "xor", "cmp"  # what these work on is not read in memory
_WRITTEN = "sincos", "exp", "log", "erfinv"

Step = tuple[str, int, tuple[int, ...], object]
"""What is done, the value that it makes (-1: none), its operands, and what else it needs."""


@cache
def available(contract: bool) -> bool:
    """Whether this processor and system take such code."""
    return jit.elf_machine() == 62 and jit.has("avx") and (jit.fuses() or not contract)


@cache
def _registers() -> int:
    return 32 if all(map(jit.has, ("avx512f", "avx512vl", "avx512dq"))) else 16


def add_line(
    module: Module,
    graph: Graph,
    name: str,
    places: Sequence[tuple[int, int]],
    memories: int,
    early: Mapping[int, list[tuple[int, int, int]]],
) -> int:
    """Link the function `@name` of a graph to a module; returns how many doubles its `work` must hold.

    Args:
        module: that calls it.
        graph: what it computes.
        places: memory, and the element of it at which each input and then each output begins.
        memories: how many there are: arguments, `work` is the next.
        early: outputs that may be stored when a node is known; all others are stored at the end.
    """
    lowered = _Lowered(graph, places, early)
    code, addresses, work = _Allocator(lowered, memories).write()
    module.link(
        name, [POINTER] * (memories + 1), lambda: elf.code_object(jit.elf_machine(), name, code, addresses)
    )
    for symbol in sorted({symbol for _, symbol in addresses if symbol.startswith("condyle.")}):
        module.attach(symbol, _functions)
    return work


@cache
def _functions() -> bytes:
    """Machine code of the functions in libm.py, for one state."""
    module = Module(1)
    for name in _WRITTEN:
        libm.function(module, name)
    # the same bytes whatever the settings say: what links it from the cache and what is new must agree
    return jit.compile_ir(module.text().replace("define internal ", "define "), 1)


DATA = -1
"""The memory of machine/data.py, whose address is no argument."""


class _Lowered:
    """The steps of a graph.

    Attributes:
        steps: in order.
        constants: bits of each value that is one.
        homes: memory and place in bytes of each value that is an argument.
        count: of values.
    """

    def __init__(
        self,
        graph: Graph,
        places: Sequence[tuple[int, int]],
        early: Mapping[int, list[tuple[int, int, int]]],
    ) -> None:
        self.graph, self.places = graph, places
        self.steps: list[Step] = []
        self.constants: dict[int, int] = {}
        self.homes: dict[int, tuple[int, int]] = {}
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
                self.homes[k] = DATA, 8 * graph.a[k]
            elif op == ca.OP_INPUT:
                memory, offset = places[graph.a[k]]
                self.homes[k] = memory, 8 * (offset + graph.b[k])
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
        """stays: whether the value may be read there again."""
        memory, offset = self.places[len(self.places) - self.graph.results + argument]
        value = self._number(k) if k < len(self.graph.op) else k
        self.steps.append(("store", -1, (value,), (memory, 8 * (offset + element), stays)))

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
        """The value of a node, 0 or 1 of one that is true or false."""
        if k not in self._masks or self.graph.op[k] not in _TRUTHS:
            return k
        if k not in self._numbers:
            self._numbers[k] = self._put("and", self._masks[k], self._constant(bits(1.0)))
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
            self._masks[k] = put("and" if op == ca.OP_AND else "or", self._mask(a), self._mask(b))
        elif op == ca.OP_NOT:
            self._masks[k] = put("xor", self._mask(a), self._constant(_ALL))
        elif op == ca.OP_IF_ELSE_ZERO:
            put("and", self._mask(a), self._number(b), to=k)
        elif op == CHOICE:
            c, x, y = graph.choices[k]
            put("blend", self._mask(c), self._number(x), self._number(y), to=k)
        elif op in (ca.OP_SIN, ca.OP_COS):
            self._sine(k, a, op)
        elif op in _CALLED:
            name, count = _CALLED[op]
            operands = [self._number(x) for x in (a, b)[:count]]
            symbol = f"condyle.{name}.1" if name in _WRITTEN else name
            put("call", *operands, to=k, more=(symbol, (k,)))
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
        else:  # fmin, fmax: a NaN yields to a number, the first of equals stays
            order = (b, a) if op == ca.OP_FMIN else (a, b)
            best = put("blend", put("cmp", *order, more=_LESS), b, a)
            put("blend", put("cmp", a, a, more=_UNORDERED), b, best, to=k)

    def _sine(self, k: int, a: int, op: int) -> None:
        if a not in self._sines:
            pair = self._sines[a] = self._new(), self._new()
            self.steps.append(("call", -1, (self._number(a),), ("condyle.sincos.1", pair)))
        self._put("same", self._sines[a][op == ca.OP_COS], to=k)

    def _index(self, shape: int) -> int:
        """Which leaf of trees of this shape is chosen, an integer."""
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


_TRUTHS = ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_NOT, ca.OP_AND, ca.OP_OR
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
_KNOWN = {
    *LEAVES,
    *_TRUTHS,
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
    """Whether every operation of a graph has code here."""
    return _KNOWN.issuperset(graph.op)


class _Allocator:
    """Instructions for steps, with values in registers."""

    def __init__(self, lowered: _Lowered, memories: int) -> None:
        self.steps = self._without_names(lowered)
        self.constants, self.homes = lowered.constants, lowered.homes
        self.work = memories
        self.data = any(memory == DATA for memory, _ in self.homes.values())
        self.code: list[bytes] = []
        self.size = 0
        self.fixes: list[tuple[int, int, int]] = []  # where a distance to the pool is, its end, and to what
        self.addresses: list[tuple[int, str]] = []
        self.pool: dict[bytes, int] = {}  # by their bits: 0.0 == -0.0
        self.pool_size = 0
        self.value = [-1] * _registers()
        self.next = [_FREE] * _registers()
        for r in _LOW if _registers() > 16 else ():
            self.next[r] = -1  # never taken
        self.register: dict[int, int] = {}
        self.slots, self.free, self.slot = 0, list[int](), dict[int, int]()
        self.left: list[int] = []  # places in `work` that are free from the next step on

    @staticmethod
    def _without_names(lowered: _Lowered) -> list[Step]:
        """Steps, where a value that is another one has its number."""
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
        """Code with its constants, where addresses go, and doubles of work."""
        steps, last = self.steps, dict[int, int]()
        later: list[tuple[int, ...]] = [()] * len(steps)
        for at in range(len(steps) - 1, -1, -1):
            operands = steps[at][2]
            later[at] = tuple([last.get(x, _NEVER) for x in operands])
            for x in operands:
                last[x] = at
        calls = any(step[0] == "call" for step in steps)
        self.bases = [*x86.ARGUMENTS, 10, *x86.PRESERVED][: self.work + 1 + self.data]
        pushed = self.bases[7:]
        self.frame = (64 if calls else 0) + (8 if calls and len(pushed) % 2 == 0 else 0)
        self.stack = self.frame + 8 * len(pushed) + 8  # where arguments on the stack begin
        # memories whose addresses are in their registers
        self.known = set(range(min(6, self.work + 1)))
        for g in pushed:
            self.emit(x86.push(g))
        self.emit(x86.grow_stack(self.frame))
        for k, g in enumerate(self.bases[:6] if calls else ()):
            self.emit(x86.on_stack(g, 8 * k, load=False))
        for at, (word, to, operands, extra) in enumerate(steps):
            self.free += self.left
            self.left.clear()
            getattr(self, f"_{word}", self._binary)(word, to, operands, extra, at, later[at], last)
        self.emit(x86.grow_stack(-self.frame))
        for g in reversed(pushed):
            self.emit(x86.pop(g))
        self.emit(x86.RETURN)
        return self._joined(), self.addresses, self.slots

    def _base(self, memory: int) -> int:
        """The general register that holds the address of a memory; rax, until the next one, where none is left."""
        own = memory == DATA
        memory = self.work + 1 if own else memory
        g = self.bases[memory] if memory < len(self.bases) else 0
        if memory not in self.known:
            if own:
                self.emit(x86.address(g))
                self.addresses.append((self.size, SYMBOL))
                self.emit(bytes(8))
            else:
                self.emit(
                    x86.on_stack(g, 8 * memory if memory < 6 else self.stack + 8 * (memory - 6), load=True)
                )
            if g:
                self.known.add(memory)
        return g

    def _joined(self) -> bytes:
        start = self.size + -self.size % 8
        code = bytearray(b"".join(self.code) + bytes(start - self.size))
        for where, end, to in self.fixes:
            struct.pack_into("<i", code, where, start + to - end)
        return bytes(code + b"".join(self.pool))

    def _in_pool(self, held: bytes) -> int:
        if held not in self.pool:
            self.pool[held] = self.pool_size
            self.pool_size += len(held)
        return self.pool[held]

    # registers

    def _low(self, r: int, instead: int) -> int:
        """Register r, or the one below sixteen that its value is copied to."""
        if r < 16:
            return r
        self.emit(x86.registers("move", instead, 0, r))
        return instead

    def _put(self, word: str, d: int, v: int, m: int, after: bytes = b"") -> None:
        """d <- v word m."""
        if word in x86.ONLY_LOW:
            low = d if d < 16 else _LOW[0]
            v, m = self._low(v, _LOW[0]), self._low(m, _LOW[1])
            self.emit(x86.registers(word, low, v, m) + after)
            word, v, m, after = "move", 0, low, b""
        if word != "move" or d != m:
            self.emit(x86.registers(word, d, v, m) + after)

    def _from_memory(self, word: str, d: int, v: int, x: int, after: bytes = b"") -> None:
        """d <- v word the value x, which is in memory."""
        if x in self.constants:
            code = x86.memory(word, d, v, x86.RIP, 0) + after
            self.fixes.append(
                (
                    self.size + len(code) - len(after) - 4,
                    self.size + len(code),
                    self._in_pool(self.constants[x].to_bytes(8, "little")),
                )
            )
            self.emit(code)
            return
        memory, at = self.homes[x]
        self.emit(x86.memory(word, d, v, self._base(memory), at) + after)

    def _take(self, at: int) -> int:
        """A register, that whose value is needed last."""
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
        self.homes[x] = self.work, 8 * slot
        self.emit(x86.memory("store", r, 0, self._base(self.work), 8 * slot))

    def _load(self, x: int, at: int) -> int:
        """The register of a value, which stays there during step `at`."""
        r = self.register.get(x, -1)
        if r < 0:
            r = self._take(at)
            self._from_memory("load", r, 0, x)
            self.value[r] = x
            self.register[x] = r
        self.next[r] = -1
        return r

    def _used(self, operands: tuple[int, ...], later: tuple[int, ...]) -> None:
        """Operands are needed at these steps again; those that are not leave."""
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
        """Value x is in register r from now on. Its first use is not known to `last`, but is after this."""
        self.value[r], self.register[x] = x, r
        self.next[r] = last.get(x, _NEVER)  # of a value that is made once: its first use
        if self.next[r] == _NEVER:
            del self.register[x]
            self.value[r], self.next[r] = -1, _FREE

    # steps

    def _binary(self, word: str, to: int, xs: tuple[int, ...], extra: object, at: int, later, last) -> None:
        if len(xs) == 1:  # sqrt, round
            xs, later = xs * 2, later * 2
        a, b = xs
        if word in ("add", "mul") and a not in self.register and b in self.register:
            (a, b), later, xs = (b, a), later[::-1], xs[::-1]
        folds = b not in self.register and b != a and later[1] - at > _NEAR and word not in _LOADED
        v = self._load(a, at)
        m = -1 if folds else self._load(b, at)
        after = bytes((extra,)) if isinstance(extra, int) else b""
        self._used(xs, later)
        if folds:
            d = self._take(at)
            # a register that is taken may be v: its value has been stored by then
            self._from_memory(word, d, v, b, after)
        else:
            d = self._take(at)
            self._put(word, d, v, m, after)
        self._give(to, d, at, last)

    def _fma(self, word: str, to: int, xs: tuple[int, ...], extra: object, at: int, later, last) -> None:
        here = self.register
        # the register that is overwritten: of an operand that is not needed again or comes from memory
        once = [k for k in (2, 0, 1) if xs.count(xs[k]) == 1]
        role = next((k for k in once if later[k] == _NEVER and xs[k] in here), -1)
        fresh, copied = False, False
        if role < 0:
            role = next((k for k in once if xs[k] not in here), -1)
            fresh, copied = role >= 0, role < 0
        role = 2 if copied else role
        others = [k for k in (0, 1, 2) if k != role]
        # of the two others the second may be in memory
        first, second = others
        if xs[first] not in here and xs[second] in here:
            first, second = second, first
        if not (fresh or copied):
            self._load(xs[role], at)
        v = self._load(xs[first], at)
        folds = xs[second] not in here and xs[second] != xs[first] and later[second] - at > _NEAR
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
                self.emit(x86.registers("move", d, 0, source))
        else:
            d = self._load(xs[role], at)
        if folds:
            self._from_memory(f"{word}{order}", d, v, xs[second])
        else:
            self.emit(x86.registers(f"{word}{order}", d, v, m))
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
        self.emit(x86.registers("move", d, 0, m))
        self._give(to, d, at, last)

    def _pick(self, word: str, to: int, xs: tuple[int, ...], extra, at: int, later, last) -> None:
        m = self._load(xs[0], at)
        self.emit(x86.registers("integer", m, 0, 11))
        self._used(xs, later)
        d = self._take(at)  # before the address: what it stores may need rax
        self.emit(x86.TABLE + bytes(4))
        self.fixes.append((self.size - 4, self.size, self._in_pool(struct.pack(f"<{len(extra)}d", *extra))))
        low = d if d < 16 else _LOW[0]
        self.emit(x86.from_table(low))
        self._put("move", d, 0, low)
        self._give(to, d, at, last)

    def _store(self, word: str, to: int, xs: tuple[int, ...], extra, at: int, later, last) -> None:
        r = self._load(xs[0], at)
        memory, place, stays = extra
        self.emit(x86.memory("store", r, 0, self._base(memory), place))
        if stays and xs[0] not in self.constants:
            self.homes.setdefault(xs[0], (memory, place))
        self._used(xs, later)

    def _call(self, word: str, to: int, xs: tuple[int, ...], extra, at: int, later, last) -> None:
        """Nothing stays in a register; arguments are in the first, and so are the results."""
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
        self.known -= set(range(7))
        for r, x in enumerate(results):
            self._give(x, r, at, last)
