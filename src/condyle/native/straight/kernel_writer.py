"""LLVM IR from the instruction stream of a CasADi SX Function.

A *kernel* is a straight line `void name(ptr in0, .., ptr out0, .., ptr work)` over one block of W states:
element j of lane l is at [j W + l] of its array. All loads come before all stores, so that an output may be
its own input; `work` overlaps nothing. A straight line longer than `split` operations becomes several
functions; values that live across a cut, or are needed again much later, travel through `work`: compile time
stays linear.

Guarantees relative to CasADi's evaluator on the same inputs:
- without contraction, + - * /, sqrt, comparisons, logic, floor, ceil, fabs, sign, copysign, fmin, fmax are
  equal to the last bit, NaN, infinities and subnormals included; sin, cos, exp, log are within 2 units in the
  last place; erfinv within 4 of the true value, where CasADi itself is off by up to 1e-4; all others are the
  C library's;
- with contraction a product that has no other use is fused with the sum or difference that takes it: each
  operation is rounded at most as often as without. Nothing else is ever relaxed. Where the processor has no
  fused multiply-add, contraction changes nothing;
- if_else(c, x, y) is one selection and gives x or y as it is; CasADi adds a zero to it, which turns -0.0 into
  0.0. Both branches are always evaluated and may set floating-point flags;
- a lane does not depend on its neighbors, and equals the scalar kernel to the last bit;
- sign and payload of a NaN are not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

import casadi as ca
import numpy as np

from condyle.errors import NativeError
from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import DOUBLE, POINTER, Value
from condyle.native.machine import jit
from condyle.native.machine.parallel import PART
from condyle.native.straight import libm, line_code
from condyle.native.straight.instructions import CHOICE, LEAVES, Graph, operation_name
from condyle.native.straight.kernel_function import Composite, KernelFunction
from condyle.native.straight.selection import LEAF

_LINE = 64  # bytes of a cache line
# lines after which a value is loaded again, not kept
_REACH = 200
# lines up to which a kernel has registers for all its values
_FEW = 100
# Callers align the stack to 16 bytes. Whether spilled registers of 32 or 64 bytes cross a cache line would
# then depend on chance: forward dynamics of 221 bodies took 42 or 31 ns per body and state.
_ALIGNED = f"alignstack({_LINE})"


def add_kernel(
    module: Module,
    f: KernelFunction,
    name: str,
    *,
    masked: bool = False,
    split: int = 1000,
    uniform: Collection[int] = (),
    places: Sequence[tuple[str, int]] | None = None,
    often: bool = False,
) -> int:
    """Define the kernel `@name` of a function; returns how many blocks of W doubles its `work` argument must
    hold. A Composite receives only the options that differ from the default.

    With `masked`, a last argument `<W x i1> mask` says which lanes are stored. Inputs in `uniform` are the
    same for all lanes: element j is at [j].

    `places` say for each input and output which memory it is part of, and at which block it begins. The
    kernel then has one argument per memory, in the order of `memories`, and its `work` is aligned for its
    lanes. Memories do not overlap. A result is stored as soon as the value that it overwrites is no longer
    needed: it need not be kept until the end.

    A kernel that runs `often` is compiled by LLVM, not by line_code.py.
    """
    if not isinstance(f, ca.Function):
        options = {"masked": masked, "uniform": uniform}
        return f.emit(module, name, **{option: value for option, value in options.items() if value})
    f = f if f.is_a("SXFunction") else f.expand()
    return _KernelWriter(module, f, name, masked, split, uniform, places, often).write()


def memories(places: Sequence[tuple[str, int]]) -> list[str]:
    """The memories of some places, each once."""
    return list(dict.fromkeys(memory for memory, _ in places))


def kernel_arguments(module: Module, n: int, masked: bool = False) -> list[str]:
    """Types of the arguments of a kernel with n inputs and outputs: these, `work`, the mask."""
    return [*[POINTER] * n, f"{POINTER} noalias", *[module.lanes.B] * masked]


@contextmanager
def composite_kernel(
    module: Module, f: Composite, name: str, masked: bool = False, internal: bool = False
) -> Iterator[tuple[Builder, list[Value], list[Value], Value]]:
    """Define the kernel `@name` of a Composite, written inside `with`; yields its builder, inputs, outputs
    and work. The mask is the builder's last argument."""
    n, total = len(f.inputs), len(f.inputs) + len(f.outputs)
    with module.function(name, kernel_arguments(module, total, masked), internal=internal) as b:
        yield b, b.arguments[:n], b.arguments[n:total], b.arguments[total]


class _KernelWriter:
    """One kernel being written: the functions that it consists of, and where each value is."""

    def __init__(
        self,
        module: Module,
        f: ca.Function,
        name: str,
        masked: bool,
        split: int,
        uniform: Collection[int],
        places: Sequence[tuple[str, int]] | None,
        often: bool,
    ) -> None:
        self.module, self.name, self.masked, self.split, self.uniform = module, name, masked, split, uniform
        self.often = often
        self.lanes, self.n_in = module.lanes, f.n_in()
        self.graph = Graph(
            f,
            fuse=module.contract and jit.fuses(),
            tables=self.lanes.W in (1, jit.permuted_lanes()),
            derived=module.derived,
        )
        self.known = places is not None  # whether we know which memory each argument is
        names = [(str(k), 0) for k in range(f.n_in() + f.n_out())] if places is None else places
        self.places = [(memories(names).index(memory), offset) for memory, offset in names]
        self.work = len(memories(names))  # which argument that is; the mask follows
        self.arguments = kernel_arguments(module, self.work, masked)
        if self.known:
            self.arguments[: self.work] = [f"{POINTER} noalias"] * self.work
        self.early = self._find_early() if self.known else {}
        self.stored: dict[int, tuple[int, int]] = {}  # outputs that already hold a value
        self.stored_outputs: list[tuple[int, int, int]] = []
        self.parts: list[Builder] = []
        self.pointers: list[set[int]] = []  # values in `work` that each part touches
        self.here: dict[int, Value] = {}  # values available in the current part
        self.touched: dict[int, int] = {}  # line that last used or made each of them
        self.truth: dict[int, Value] = {}  # those also known as i1
        self.home: dict[int, tuple[int, int, str]] = {}  # where a value was made: part, line, name
        self.last: dict[int, int] = {}  # last part that loads a value from `work`
        self.sines: dict[int, tuple[int, int]] = {}  # values of sin and cos by their argument
        # values of the index of trees of choices, by their shape
        self.indices: dict[int, int] = {}
        self.cut()

    # values

    def use(self, k: int) -> Value:
        """Operand for the value of node k.

        A value that was not used for a long time has lost its register anyway: loading it again is cheaper
            than a spill, for the processor and for LLVM's register allocator.
        """
        lines = self.body.lines
        name = self.here.get(k)
        if name is None or len(lines) - self.touched[k] > _REACH:
            name = self._fetch(k)
        self.touched[k] = len(lines)
        return name

    def _fetch(self, k: int) -> Value:
        graph, L, body = self.graph, self.lanes, self.body
        op = graph.op[k] if k < len(graph.op) else None
        if op == ca.OP_CONST:
            value = body.number(graph.constants[k])
        elif op == ca.OP_PARAMETER:
            value = body.load(body.at(body.symbol(self.module.data()), graph.a[k]), DOUBLE)
            value = body.spread(value) if L.W > 1 else value
        elif op == ca.OP_INPUT and graph.a[k] in self.uniform and L.W > 1:
            value = body.spread(body.load(self._place(graph.a[k], graph.b[k], 1), DOUBLE))
        elif op == ca.OP_INPUT:
            value = body.load(self._place(graph.a[k], graph.b[k], L.W))
        elif k in self.stored:
            value = body.load(self._place(*self.stored[k], L.W))
        else:
            part, line, name = self.home[k]
            place = Value(body, POINTER, f"%w{k}")
            if k not in self.last:
                self.parts[part].store(Value(body, L.T, name), place, 8 * L.W, after=line)
                self.pointers[part].add(k)
            self.last[k] = len(self.parts) - 1
            self.pointers[-1].add(k)
            value = body.load(place, align=8 * L.W)
        self.here[k] = value
        return value

    def _place(self, argument: int, element: int, W: int) -> Value:
        """The address of an element of an input, or of an output, which are counted after the inputs."""
        memory, offset = self.places[argument]
        return self.body.at(self.body.arguments[memory], (offset + element) * W)

    def _find_early(self) -> dict[int, list[tuple[int, int, int]]]:
        """Find outputs that may be stored right after a node is written, because the value that they
        overwrite is no longer needed then."""
        graph = self.graph
        taken = {m: k for k, m in graph.products.items()}
        last: dict[int, int] = {}  # node that uses a node last
        for k, uses in enumerate(graph.uses):
            if uses:
                for operand in graph.operands(k):
                    last[operand] = max(last.get(operand, 0), taken.get(k, k))
        # copies of inputs come at the end
        last |= {k: len(graph.op) for k, _, _ in graph.outputs if graph.op[k] == ca.OP_INPUT}
        read: dict[tuple[int, int], int] = {}  # several inputs may share a place
        for k, op in enumerate(graph.op):
            if op == ca.OP_INPUT and graph.uses[k]:
                memory, offset = self.places[graph.a[k]]
                place = memory, offset + graph.b[k]
                read[place] = max(read.get(place, 0), last.get(k, 0))
        early: dict[int, list[tuple[int, int, int]]] = {}
        for k, argument, element in graph.outputs:
            memory, offset = self.places[self.n_in + argument]
            if graph.op[k] not in LEAVES:
                early.setdefault(max(k, read.get((memory, offset + element), 0)), []).append(
                    (k, argument, element)
                )
        return early

    def keep(self, k: int, value: Value) -> int:
        """Record the result of the newest line as the value of k."""
        lines = len(self.body.lines)
        self.here[k] = value
        self.touched[k] = lines
        self.home[k] = len(self.parts) - 1, lines - 1, value.text
        return k

    def keep_extra(self, value: Value) -> int:
        """A number for a value that does not belong to a node."""
        return self.keep(len(self.graph.op) + len(self.home), value)

    def as_bool(self, k: int) -> Value:
        if k not in self.truth:
            self.truth[k] = self.body.compare("une", self.use(k), 0.0)
        return self.truth[k]

    def from_bool(self, k: int, truth: Value) -> Value:
        self.truth[k] = truth
        return self.body.select(truth, 1.0, 0.0)

    def cut(self) -> None:
        """Begin another function."""
        self.body = Builder(self.module, self.name, self.arguments, internal=False)
        self.parts.append(self.body)
        self.pointers.append(set())
        self.here.clear()
        self.truth.clear()

    # operations

    def fused(self, k: int, m: int) -> Value:
        """x y + z, z - x y or x y - z, where m is the node of x y."""
        graph, body = self.graph, self.body
        z = self.use(graph.b[k] if m == graph.a[k] else graph.a[k])
        x = self.use(graph.a[m])
        y = x if graph.op[m] == ca.OP_SQ else self.use(graph.b[m])
        if graph.op[k] == ca.OP_SUB:
            if m == graph.a[k]:
                z = -z
            else:
                x = -x
        return body.fma(x, y, z)

    def sine_or_cosine(self, k: int) -> Value:
        """The sine or cosine. One call computes both, and the other one is kept for its own node."""
        graph, body, T = self.graph, self.body, self.lanes.T
        a = graph.a[k]
        if a not in self.sines:
            pair = body.call(libm.function(self.module, "sincos"), self.use(a), result=f"{{{T}, {T}}}")
            s = self.keep_extra(body.put(T, f"extractvalue {pair}, 0"))
            c = self.keep_extra(body.put(T, f"extractvalue {pair}, 1"))
            self.sines[a] = s, c
        return self.use(self.sines[a][graph.op[k] == ca.OP_COS])

    def smaller(self, k: int, condition: str) -> Value:
        """fmin for "olt", fmax for "ogt": a number wins over NaN, and the first of two equals is kept."""
        a, b = self.use(self.graph.a[k]), self.use(self.graph.b[k])
        best = self.body.select(self.body.compare(condition, b, a), b, a)
        return self.body.select(self.body.compare("uno", a, a), b, best)

    def sign(self, k: int) -> Value:
        x = self.use(self.graph.a[k])
        one = self.body.intrinsic("copysign", 1.0, x)
        return self.body.select(self.body.compare("ueq", x, 0.0), x, one)

    def choice(self, k: int) -> Value:
        c, x, y = self.graph.choices[k]
        return self.body.select(self.as_bool(c), self.use(x), self.use(y))

    def index(self, shape: int) -> Value:
        """The index of the chosen leaf in trees of this shape, an integer."""
        L, body = self.lanes, self.body
        if shape not in self.indices:
            number = -1

            def chosen(shape: int) -> Value:
                nonlocal number
                if shape == LEAF:
                    number += 1
                    return body.number(number, L.I)
                c, yes, no = self.graph.selections.shapes[shape]
                first, second = chosen(yes), chosen(no)
                return body.select(self.as_bool(c), first, second)

            self.indices[shape] = self.keep_extra(body.convert("bitcast", chosen(shape), L.T))
        return body.convert("bitcast", self.use(self.indices[shape]), L.I)

    def selected(self, k: int) -> Value:
        """A leaf by its index: loaded from a table or, for lanes, taken from one or two registers."""
        L, body, tree = self.lanes, self.body, self.graph.selections.at[k]
        index, leaves = self.index(tree.shape), np.array(tree.leaves)
        if L.W == 1:
            table = self.module.table(f"{self.name}.leaves{k}", leaves)
            return body.load(body.at(body.symbol(table), index))
        whole = np.concatenate([leaves, np.zeros(-len(leaves) % L.W)]).reshape(-1, L.W)
        numbers = [[f"{body.number(x, DOUBLE)}" for x in row] for row in whole]
        first, *more = [Value(body, L.T, f"<{', '.join(row)}>") for row in numbers]
        symbol = "llvm.x86.avx512.vpermi2var.pd.512" if more else "llvm.x86.avx512.permvar.df.512"
        return body.outside(symbol, first, index, *more, result=L.T)

    # the whole

    def _is_line(self) -> bool:
        """Whether it is long enough to be compiled by line_code.py."""
        graph = self.graph
        if self.masked or self.often or not (self.split and self.module.lines):
            return False
        used = sum(1 for k, uses in enumerate(graph.uses) if uses and k not in graph.constants)
        long = used >= line_code.LEAST
        available = line_code.available(self.module.contract, self.lanes.W)
        return long and available and line_code.is_known(graph)

    def write(self) -> int:
        """Add the kernel to its module; returns blocks of work."""
        graph = self.graph
        if self._is_line():
            return line_code.add_line(
                self.module, graph, self.name, self.places, self.work, self.early, self.uniform, self.known
            )
        taken = set(graph.products.values())
        for k, op in enumerate(graph.op):
            if not graph.uses[k] or k in taken or op in LEAVES:
                continue
            if self.split and len(self.body.lines) >= self.split:
                self.cut()
            self.keep(k, self._operation(k, op))
            for output in self.early.pop(k, ()):
                self._store_one(*output)
        self._store()
        return self._finish()

    def _operation(self, k: int, op: int) -> Value:
        if k in self.graph.products:
            return self.fused(k, self.graph.products[k])
        if k in self.graph.selections.at:
            return self.selected(k)
        emit = _EMIT.get(op)
        if emit is None:
            raise NativeError(f"operation {operation_name(op)} of function {self.name!r} has no machine code")
        return emit(self, k)

    def _store(self) -> None:
        """Store all other outputs, after the last load of an input."""
        graph = self.graph
        copies = {}
        # an output may overwrite an input that another one copies
        for k, _, _ in graph.outputs:
            if graph.op[k] == ca.OP_INPUT and k not in copies:
                copies[k] = self.keep_extra(self.use(k))
        done = set(self.stored_outputs)
        for count, (k, argument, element) in enumerate(x for x in graph.outputs if x not in done):
            if self.split and count % self.split == self.split - 1:
                self.cut()
            self._store_one(copies.get(k, k), argument, element)

    def _store_one(self, k: int, argument: int, element: int) -> None:
        value, body = self.use(k), self.body
        place = self._place(self.n_in + argument, element, self.lanes.W)
        if self.masked:
            value = body.select(body.arguments[-1], value, body.load(place))
        elif self.known:
            self.stored[k] = self.n_in + argument, element
        self.stored_outputs.append((k, argument, element))
        body.store(value, place)

    def _slots(self) -> tuple[dict[int, int], int]:
        """Place in `work` of each value that lives across a cut, and the number of places. Places of dead
        values are used again."""
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
        L, module = self.lanes, self.module
        slot, count = self._slots()
        if len(self.parts) == 1 and (self.known or not slot):
            for k in sorted(self.pointers[0]):
                self.body.at_entry(self.body.arguments[self.work], slot[k], L.T, name=f"%w{k}")
            if L.W > 1 and len(self.body.lines) > _FEW:
                self.body.attributes = f"nounwind {_ALIGNED}"
            self.body.close()
            return count
        for c, (part, pointers) in enumerate(zip(self.parts, self.pointers)):
            for k in sorted(pointers):
                part.at_entry(part.arguments[self.work], slot[k], L.T, name=f"%w{k}")
            part.name, part.internal, part.note = f"{self.name}.{c}", True, PART
            part.attributes = f"noinline nounwind {_ALIGNED}"
            part.close()
        align = max(_LINE, 8 * L.W)
        with module.function(self.name, self.arguments, internal=False) as b:
            given = list(b.arguments)
            given[self.work] = b.aligned(given[self.work], align)
            for part in self.parts:
                b.call(part.name, *given)
        return count + (align + 8 * L.W - 1) // (8 * L.W)


_Emit = Callable[[_KernelWriter, int], Value]


def _operands(kernel: _KernelWriter, k: int, count: int = 2) -> list[Value]:
    return [kernel.use(x) for x in (kernel.graph.a[k], kernel.graph.b[k])[:count]]


def _binary(word: str) -> _Emit:
    return lambda kernel, k: kernel.body.binary(word, *_operands(kernel, k))


def _compare(condition: str) -> _Emit:
    return lambda kernel, k: kernel.from_bool(k, kernel.body.compare(condition, *_operands(kernel, k)))


def _logic(word: str) -> _Emit:
    return lambda kernel, k: kernel.from_bool(
        k, kernel.body.binary(word, kernel.as_bool(kernel.graph.a[k]), kernel.as_bool(kernel.graph.b[k]))
    )


def _intrinsic(name: str, count: int = 1) -> _Emit:
    return lambda kernel, k: kernel.body.intrinsic(name, *_operands(kernel, k, count))


def _function(name: str, count: int = 1) -> _Emit:
    return lambda kernel, k: kernel.body.call(
        libm.function(kernel.module, name, count), *_operands(kernel, k, count), result=kernel.lanes.T
    )


def _same(word: str) -> _Emit:
    """An operation of a value with itself."""
    return lambda kernel, k: kernel.body.binary(word, *_operands(kernel, k, 1) * 2)


_UNARY = "exp log tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfinv log1p expm1"
_EMIT: dict[int, _Emit] = {
    ca.OP_ADD: _binary("fadd"),
    ca.OP_SUB: _binary("fsub"),
    ca.OP_MUL: _binary("fmul"),
    ca.OP_DIV: _binary("fdiv"),  # shared reciprocals are no faster, and not exact
    ca.OP_INV: lambda kernel, k: 1.0 / kernel.use(kernel.graph.a[k]),
    ca.OP_NEG: lambda kernel, k: -kernel.use(kernel.graph.a[k]),
    ca.OP_SQ: _same("fmul"),
    ca.OP_TWICE: _same("fadd"),
    ca.OP_LT: _compare("olt"),
    ca.OP_LE: _compare("ole"),
    ca.OP_EQ: _compare("oeq"),
    ca.OP_NE: _compare("une"),
    ca.OP_NOT: lambda kernel, k: kernel.from_bool(k, kernel.as_bool(kernel.graph.a[k]) ^ True),
    ca.OP_AND: _logic("and"),
    ca.OP_OR: _logic("or"),
    ca.OP_IF_ELSE_ZERO: lambda kernel, k: kernel.body.select(
        kernel.as_bool(kernel.graph.a[k]), kernel.use(kernel.graph.b[k]), 0.0
    ),
    CHOICE: _KernelWriter.choice,
    ca.OP_SQRT: _intrinsic("sqrt"),
    ca.OP_FABS: _intrinsic("fabs"),
    ca.OP_FLOOR: _intrinsic("floor"),
    ca.OP_CEIL: _intrinsic("ceil"),
    ca.OP_COPYSIGN: _intrinsic("copysign", 2),
    ca.OP_SIGN: _KernelWriter.sign,
    ca.OP_FMIN: lambda kernel, k: kernel.smaller(k, "olt"),
    ca.OP_FMAX: lambda kernel, k: kernel.smaller(k, "ogt"),
    ca.OP_SIN: _KernelWriter.sine_or_cosine,
    ca.OP_COS: _KernelWriter.sine_or_cosine,
    ca.OP_POW: _function("pow", 2),
    ca.OP_CONSTPOW: _function("pow", 2),
    **{getattr(ca, f"OP_{n.upper()}"): _function(n) for n in _UNARY.split()},
    **{getattr(ca, f"OP_{n.upper()}"): _function(n, 2) for n in ("atan2", "fmod", "hypot", "remainder")},
}
