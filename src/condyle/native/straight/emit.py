"""LLVM IR from the instruction stream of a CasADi SX Function.

A *kernel* is a straight line `void name(ptr in0, .., ptr out0, .., ptr work)` over one block of W states: element j of
lane l stands at [j W + l] of its array. All loads come before all stores, so that an output may be its own input;
`work` overlaps nothing. A straight line longer than `split` operations becomes several functions; values that live
across a cut, or are needed again much later, travel through `work`: compile time stays linear.

What is guaranteed, against CasADi's own evaluator on the same inputs:
- without contraction, + - * /, sqrt, comparisons, logic, floor, ceil, fabs, sign, copysign, fmin, fmax are
  equal to the last bit, NaN, infinities and subnormals included; sin, cos, exp, log are within 2 units in the last
  place; erfinv within 4 of the true value, where CasADi itself is off by up to 1e-4; all others are the C library's;
- with contraction a product that has no other use is fused with the sum or difference that takes it: each operation is
  rounded at most as often as without. Nothing else is ever relaxed. Where the processor has no fused multiply-add,
  contraction changes nothing;
- if_else(c, x, y) is one selection and gives x or y as it is; CasADi adds a zero to it, which turns -0.0 into 0.0.
  Both sides are always evaluated and may set floating-point flags;
- a lane does not depend on its neighbours, and equals the scalar kernel to the last bit;
- sign and payload of a NaN are not kept.
"""
from __future__ import annotations

from collections.abc import Callable, Collection

import casadi as ca

from condyle.errors import NativeError
from condyle.native.machine import jit
from condyle.native.machine.parallel import PART
from condyle.native.straight import libm
from condyle.native.straight.graph import CHOICE, Graph, operation_name
from condyle.native.straight.ir import Body, Lanes, constant, definition
from condyle.native.straight.selection import LEAF

__all__ = ["Lanes", "Module", "constant"]

_LINE = 64                                                  # bytes that memory moves at once
_REACH = 200                                                # lines after which a value is loaded again, not kept


class Module:
    """An IR module for W lanes: kernels, the mathematical functions they need, and whatever control flow is added.

    Args:
        W: lanes.
        contract: allow fused multiply-add; nothing else is ever relaxed.
    """

    def __init__(self, W: int = 1, contract: bool = True) -> None:
        self.lanes, self.contract = Lanes(W), contract
        self._parts: list[str] = []
        self._declared: dict[str, str] = {}
        self._defined: dict[str, int] = {}

    def add(self, text: str) -> None:
        """Append a definition."""
        self._parts.append(text)

    def declare(self, name: str, signature: str) -> None:
        """An outside function, declared once: declare("malloc", "ptr @malloc(i64)")."""
        self._declared[name] = f"declare {signature}"

    def define(self, name: str, write: Callable[[str], int | None]) -> str:
        """Let write(name) add a definition, once in this module; returns the name. It may return what `work` then tells."""
        if name not in self._defined:
            self._defined[name] = write(name) or 0
        return name

    def work(self, name: str) -> int:
        """Blocks of W doubles that the `work` argument of a definition must hold."""
        return self._defined[name]

    def include(self, other: Module) -> None:
        """Take over all that another module has, for other lanes perhaps; names must differ."""
        self._parts += other._parts
        self._declared.update(other._declared)

    def text(self) -> str:
        return "\n".join([*self._parts, *self._declared.values()])

    def add_kernel(self, f: ca.Function, name: str, *, masked: bool = False, split: int = 1000,
                   uniform: Collection[int] = ()) -> int:
        """Define `@name`; returns how many blocks of W doubles its `work` argument must hold.

        With `masked`, a last argument `<W x i1> %mask` says which lanes are stored. Inputs in `uniform` are the same
        for all lanes: element j stands at [j].
        """
        f = f if f.is_a("SXFunction") else f.expand()
        return _Kernel(self, f, name, masked, split, uniform).write()


class _Kernel:
    """One kernel being written: the functions that it becomes, and where each value is to be had."""

    def __init__(self, module: Module, f: ca.Function, name: str, masked: bool, split: int,
                 uniform: Collection[int]) -> None:
        self.module, self.name, self.masked, self.split, self.uniform = module, name, masked, split, uniform
        self.lanes = module.lanes
        self.graph = Graph(f, fuse=module.contract and jit.fuses(), tables=self.lanes.W in (1, jit.permuted_lanes()))
        self.arguments = [f"%in{k}" for k in range(f.n_in())] + [f"%out{k}" for k in range(f.n_out())]
        self.body = Body(self.lanes, module.declare)
        self.parts: list[list[str]] = [self.body.lines]
        self.here: dict[int, str] = {}                      # values at hand in the current part
        self.touched: dict[int, int] = {}                   # line that last used or made each of them
        self.truth: dict[int, str] = {}                     # those of them that are also known as i1
        self.home: dict[int, tuple[int, int, str]] = {}     # where a value was made: part, line, name
        self.last: dict[int, int] = {}                      # last part that loads a value from `work`
        self.pointers: list[set[int]] = [set()]             # travelling values that each part touches
        self.sines: dict[int, tuple[int, int]] = {}         # values of sin and cos by their argument
        self.indices: dict[int, int] = {}                   # values of the index of trees of choices, by their shape

    # values

    def use(self, k: int) -> str:
        """Operand for the value of node k.

        A value that was not touched for long has lost its register anyway: loading it again is cheaper, for the
        processor and for LLVM's register allocator, than to have it spilled.
        """
        lines = self.body.lines
        name = self.here.get(k)
        if name is None or len(lines) - self.touched[k] > _REACH:
            name = self._fetch(k)
        self.touched[k] = len(lines)
        return name

    def _fetch(self, k: int) -> str:
        graph, L = self.graph, self.lanes
        op = graph.op[k] if k < len(graph.op) else None
        if op == ca.OP_CONST:
            name = L.number(graph.constants[k])
        elif op == ca.OP_INPUT and graph.a[k] in self.uniform and L.W > 1:
            place = self.body.put(f"getelementptr double, ptr %in{graph.a[k]}, i64 {graph.b[k]}")
            value = self.body.put(f"load double, ptr {place}, align 8")
            first = self.body.put(f"insertelement {L.T} poison, double {value}, i64 0")
            name = self.body.put(f"shufflevector {L.T} {first}, {L.T} poison, <{L.W} x i32> zeroinitializer")
        elif op == ca.OP_INPUT:
            place = self.body.put(f"getelementptr double, ptr %in{graph.a[k]}, i64 {graph.b[k] * L.W}")
            name = self.body.put(f"load {L.T}, ptr {place}, align 8")
        else:
            part, line, value = self.home[k]
            if k not in self.last:
                self.parts[part][line] += f"\nstore {L.T} {value}, ptr %w{k}, align {8 * L.W}"
                self.pointers[part].add(k)
            self.last[k] = len(self.parts) - 1
            self.pointers[-1].add(k)
            name = self.body.put(f"load {L.T}, ptr %w{k}, align {8 * L.W}")
        self.here[k] = name
        return name

    def keep(self, k: int, name: str) -> int:
        """Let `name`, result of the newest line, be the value of k."""
        self.here[k] = name
        self.touched[k] = len(self.body.lines)
        self.home[k] = len(self.parts) - 1, len(self.body.lines) - 1, name
        return k

    def keep_extra(self, name: str) -> int:
        """Number for a value that is no node."""
        return self.keep(len(self.graph.op) + len(self.home), name)

    def as_bool(self, k: int) -> str:
        if k not in self.truth:
            self.truth[k] = self.body.compare("une", self.use(k), 0.0)
        return self.truth[k]

    def from_bool(self, k: int, truth: str) -> str:
        self.truth[k] = truth
        return self.body.select(truth, 1.0, 0.0)

    def cut(self) -> None:
        """Begin another function."""
        self.body.lines = []
        self.parts.append(self.body.lines)
        self.pointers.append(set())
        self.here.clear()
        self.truth.clear()

    # operations

    def fused(self, k: int, m: int) -> str:
        """x y + z, z - x y or x y - z, where m is the node of x y."""
        graph, body = self.graph, self.body
        z = self.use(graph.b[k] if m == graph.a[k] else graph.a[k])
        x = self.use(graph.a[m])
        y = x if graph.op[m] == ca.OP_SQ else self.use(graph.b[m])
        if graph.op[k] == ca.OP_SUB:
            if m == graph.a[k]:
                z = body.put(f"fneg {self.lanes.T} {z}")
            else:
                x = body.put(f"fneg {self.lanes.T} {x}")
        return body.fma(x, y, z)

    def sine_or_cosine(self, k: int) -> str:
        """Both come from one call, and the other is kept for its own node."""
        graph, body, T = self.graph, self.body, self.lanes.T
        a = graph.a[k]
        if a not in self.sines:
            pair = body.call(libm.function(self.module, "sincos"), self.use(a), type=f"{{{T}, {T}}}")
            s = self.keep_extra(body.put(f"extractvalue {{{T}, {T}}} {pair}, 0"))
            c = self.keep_extra(body.put(f"extractvalue {{{T}, {T}}} {pair}, 1"))
            self.sines[a] = s, c
        return self.use(self.sines[a][graph.op[k] == ca.OP_COS])

    def smaller(self, k: int, condition: str) -> str:
        """fmin for "olt", fmax for "ogt": a NaN yields to a number, the first of equals stays."""
        a, b = self.use(self.graph.a[k]), self.use(self.graph.b[k])
        best = self.body.select(self.body.compare(condition, b, a), b, a)
        return self.body.select(self.body.compare("uno", a, a), b, best)

    def sign(self, k: int) -> str:
        x = self.use(self.graph.a[k])
        one = self.body.intrinsic("copysign", 1.0, x)
        return self.body.select(self.body.compare("ueq", x, 0.0), x, one)

    def choice(self, k: int) -> str:
        c, x, y = self.graph.choices[k]
        return self.body.select(self.as_bool(c), self.use(x), self.use(y))

    def index(self, shape: int) -> str:
        """Which leaf of trees of this shape is chosen, an integer."""
        L, body = self.lanes, self.body
        if shape not in self.indices:
            number = -1

            def chosen(shape: int) -> str:
                nonlocal number
                if shape == LEAF:
                    number += 1
                    return L.integer(number)
                c, yes, no = self.graph.selections.shapes[shape]
                first, second = chosen(yes), chosen(no)
                return body.put(f"select {L.B} {self.as_bool(c)}, {L.I} {first}, {L.I} {second}")

            self.indices[shape] = self.keep_extra(body.as_double(chosen(shape)))
        return body.as_integer(self.use(self.indices[shape]))

    def selected(self, k: int) -> str:
        """A leaf by its index: loaded from a table, or for lanes out of one or two registers."""
        L, body, tree = self.lanes, self.body, self.graph.selections.at[k]
        index, numbers = self.index(tree.shape), [f"double {constant(x)}" for x in tree.leaves]
        if L.W == 1:
            table = f"@{self.name}.leaves{k}"
            self.module.add(f"{table} = private constant [{len(numbers)} x double] [{', '.join(numbers)}]")
            return body.put(f"load double, ptr {body.put(f'getelementptr double, ptr {table}, i64 {index}')}, align 8")
        numbers += ["double 0.0"] * (-len(numbers) % L.W)
        registers = [f"{L.T} <{', '.join(numbers[i:i + L.W])}>" for i in range(0, len(numbers), L.W)]
        symbol, operands = ("llvm.x86.avx512.permvar.df.512", [L.T, L.I]) if len(registers) == 1 else (
            "llvm.x86.avx512.vpermi2var.pd.512", [L.T, L.I, L.T])
        self.module.declare(symbol, f"{L.T} @{symbol}({', '.join(operands)})")
        return body.put(f"call {L.T} @{symbol}({', '.join([registers[0], f'{L.I} {index}', *registers[1:]])})")

    # the whole

    def write(self) -> int:
        """Add the kernel to its module; returns blocks of work."""
        graph = self.graph
        taken = set(graph.products.values())
        for k, op in enumerate(graph.op):
            if not graph.uses[k] or k in taken or op in (ca.OP_CONST, ca.OP_INPUT):
                continue
            if self.split and len(self.body.lines) >= self.split:
                self.cut()
            if k in graph.products:
                self.keep(k, self.fused(k, graph.products[k]))
                continue
            if k in graph.selections.at:
                self.keep(k, self.selected(k))
                continue
            emit = _EMIT.get(op)
            if emit is None:
                raise NativeError(f"operation {operation_name(op)} of function {self.name!r} has no machine code")
            self.keep(k, emit(self, k))
        self._store()
        return self._finish()

    def _store(self) -> None:
        """All outputs, after the last load of an input."""
        L, body, graph = self.lanes, self.body, self.graph
        copies = {}
        for k, _, _ in graph.outputs:                       # an output may overwrite an input that another one copies
            if graph.op[k] == ca.OP_INPUT and k not in copies:
                copies[k] = self.keep_extra(self.use(k))
        for count, (k, argument, element) in enumerate(graph.outputs):
            if self.split and count % self.split == self.split - 1:
                self.cut()
            value = self.use(copies.get(k, k))
            place = body.put(f"getelementptr double, ptr %out{argument}, i64 {element * L.W}")
            if self.masked:
                value = body.select("%mask", value, body.put(f"load {L.T}, ptr {place}, align 8"))
            body.lines.append(f"store {L.T} {value}, ptr {place}, align 8")

    def _slots(self) -> tuple[dict[int, int], int]:
        """Place in `work` of each travelling value, used again when the value is dead; and how many places."""
        slot: dict[int, int] = {}
        free: list[int] = []
        ends: list[list[int]] = [[] for _ in range(len(self.parts) + 1)]
        count = 0
        for part, pointers in enumerate(self.pointers):
            free += ends[part]
            for k in sorted(pointers):
                if self.home[k][0] == part:
                    if not free:
                        free.append(count)
                        count += 1
                    slot[k] = free.pop()
                    ends[self.last[k] + 1].append(slot[k])
        return slot, count

    def _finish(self) -> int:
        L, add = self.lanes, self.module.add
        slot, count = self._slots()
        mask = f", {L.B} %mask" if self.masked else ""
        head = ", ".join(f"ptr {a}" for a in self.arguments)
        if len(self.parts) == 1 and not slot:
            add(definition(f"void @{self.name}({head}, ptr %work{mask})", self.parts[0]))
            return 0
        for c, (lines, pointers) in enumerate(zip(self.parts, self.pointers)):
            places = [f"%w{k} = getelementptr {L.T}, ptr %work, i64 {slot[k]}" for k in sorted(pointers)]
            add(PART + definition(f"internal void @{self.name}.{c}({head}, ptr noalias %work{mask})", [*places, *lines],
                                  attributes=f"noinline nounwind alignstack({_LINE})"))
        self.module.declare("llvm.ptrmask", "ptr @llvm.ptrmask.p0.i64(ptr, i64)")
        align = max(_LINE, 8 * L.W)
        calls = [f"call void @{self.name}.{c}({head}, ptr %aligned{mask})" for c in range(len(self.parts))]
        add(definition(f"void @{self.name}({head}, ptr %work{mask})", [
            f"%above = getelementptr i8, ptr %work, i64 {align - 8}",
            f"%aligned = call ptr @llvm.ptrmask.p0.i64(ptr %above, i64 {-align})", *calls]))
        return count + (align + 8 * L.W - 1) // (8 * L.W)


_Emit = Callable[[_Kernel, int], str]


def _binary(word: str) -> _Emit:
    return lambda kernel, k: kernel.body.put(
        f"{word} {kernel.lanes.T} {kernel.use(kernel.graph.a[k])}, {kernel.use(kernel.graph.b[k])}")


def _compare(condition: str) -> _Emit:
    return lambda kernel, k: kernel.from_bool(
        k, kernel.body.compare(condition, kernel.use(kernel.graph.a[k]), kernel.use(kernel.graph.b[k])))


def _logic(word: str) -> _Emit:
    return lambda kernel, k: kernel.from_bool(
        k, kernel.body.logic(word, kernel.as_bool(kernel.graph.a[k]), kernel.as_bool(kernel.graph.b[k])))


def _intrinsic(name: str) -> _Emit:
    return lambda kernel, k: kernel.body.intrinsic(name, kernel.use(kernel.graph.a[k]))


def _unary_function(name: str) -> _Emit:
    return lambda kernel, k: kernel.body.call(libm.function(kernel.module, name), kernel.use(kernel.graph.a[k]))


def _binary_function(name: str) -> _Emit:
    return lambda kernel, k: kernel.body.call(
        libm.function(kernel.module, name, 2), kernel.use(kernel.graph.a[k]), kernel.use(kernel.graph.b[k]))


def _same(word: str) -> _Emit:
    """An operation of a value with itself."""
    return lambda kernel, k: kernel.body.binary(word, kernel.use(kernel.graph.a[k]), kernel.use(kernel.graph.a[k]))


_EMIT: dict[int, _Emit] = {
    ca.OP_ADD: _binary("fadd"),
    ca.OP_SUB: _binary("fsub"),
    ca.OP_MUL: _binary("fmul"),
    ca.OP_DIV: _binary("fdiv"),                             # shared reciprocals are no faster, and not exact
    ca.OP_INV: lambda kernel, k: kernel.body.div(1.0, kernel.use(kernel.graph.a[k])),
    ca.OP_NEG: lambda kernel, k: kernel.body.neg(kernel.use(kernel.graph.a[k])),
    ca.OP_SQ: _same("fmul"),
    ca.OP_TWICE: _same("fadd"),
    ca.OP_LT: _compare("olt"),
    ca.OP_LE: _compare("ole"),
    ca.OP_EQ: _compare("oeq"),
    ca.OP_NE: _compare("une"),
    ca.OP_NOT: lambda kernel, k: kernel.from_bool(
        k, kernel.body.logic("xor", kernel.as_bool(kernel.graph.a[k]), kernel.lanes.true())),
    ca.OP_AND: _logic("and"),
    ca.OP_OR: _logic("or"),
    ca.OP_IF_ELSE_ZERO: lambda kernel, k: kernel.body.select(
        kernel.as_bool(kernel.graph.a[k]), kernel.use(kernel.graph.b[k]), 0.0),
    CHOICE: _Kernel.choice,
    ca.OP_SQRT: _intrinsic("sqrt"),
    ca.OP_FABS: _intrinsic("fabs"),
    ca.OP_FLOOR: _intrinsic("floor"),
    ca.OP_CEIL: _intrinsic("ceil"),
    ca.OP_COPYSIGN: lambda kernel, k: kernel.body.intrinsic(
        "copysign", kernel.use(kernel.graph.a[k]), kernel.use(kernel.graph.b[k])),
    ca.OP_SIGN: _Kernel.sign,
    ca.OP_FMIN: lambda kernel, k: kernel.smaller(k, "olt"),
    ca.OP_FMAX: lambda kernel, k: kernel.smaller(k, "ogt"),
    ca.OP_SIN: _Kernel.sine_or_cosine,
    ca.OP_COS: _Kernel.sine_or_cosine,
    ca.OP_POW: _binary_function("pow"),
    ca.OP_CONSTPOW: _binary_function("pow"),
    **{getattr(ca, f"OP_{n.upper()}"): _unary_function(n) for n in (
        "exp", "log", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
        "erf", "erfinv", "log1p", "expm1")},
    **{getattr(ca, f"OP_{n.upper()}"): _binary_function(n) for n in ("atan2", "fmod", "hypot", "remainder")},
}
