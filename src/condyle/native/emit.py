"""LLVM IR from the instruction stream of a CasADi SX Function.

A *kernel* is a straight line `void name(ptr in0, .., ptr out0, .., ptr work)` over one block of W states: element j of
lane l stands at [j W + l] of its array. All loads come before all stores, so that an output may be its own input.
A straight line longer than `split` operations becomes several functions; values that live across a cut travel through
`work`: compile time stays linear.
"""
from __future__ import annotations

import struct

import casadi as ca

_BINARY = {ca.OP_ADD: "fadd", ca.OP_SUB: "fsub", ca.OP_MUL: "fmul", ca.OP_DIV: "fdiv"}
_COMPARE = {ca.OP_LT: "olt", ca.OP_LE: "ole", ca.OP_EQ: "oeq", ca.OP_NE: "une"}


def constant(x: float) -> str:
    """A double as LLVM writes it exactly."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', float(x)))[0]:016X}"


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


class Line:
    """A straight line of SSA instructions being written. Each entry: result or None, text, operands that are results."""

    def __init__(self, lanes: Lanes, contract: bool) -> None:
        self.lanes, self.flags = lanes, " contract" if contract else ""
        self.entries: list[tuple[str | None, str, tuple[str, ...]]] = []
        self.kind: dict[str, str] = {}                      # type of each result that is not lanes.T
        self._count = 0

    def put(self, text: str, *operands: str, type: str | None = None) -> str:
        self._count += 1
        name = f"%v{self._count}"
        self.entries.append((name, text, tuple(o for o in operands if o[0] == "%")))
        if type is not None:
            self.kind[name] = type
        return name

    def do(self, text: str, *operands: str) -> None:
        self.entries.append((None, text, tuple(o for o in operands if o[0] == "%")))

    def binary(self, op: str, a: str, b: str) -> str:
        return self.put(f"{op}{self.flags} {self.lanes.T} {a}, {b}", a, b)

    def select(self, c: str, a: str, b: str) -> str:
        L = self.lanes
        return self.put(f"select {L.B} {c}, {L.T} {a}, {L.T} {b}", c, a, b)

    def compare(self, condition: str, a: str, b: str) -> str:
        return self.put(f"fcmp {condition} {self.lanes.T} {a}, {b}", a, b, type=self.lanes.B)


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

    def add(self, text: str) -> None:
        """Append a definition."""
        self._parts.append(text)

    def declare(self, name: str, signature: str) -> None:
        """An outside function, declared once: declare("malloc", "ptr @malloc(i64)")."""
        self._declared[name] = f"declare {signature}"

    def text(self) -> str:
        return "\n".join([*self._parts, *self._declared.values()])

    def intrinsic(self, line: Line, name: str, *operands: str) -> str:
        L = self.lanes
        self.declare(f"{name}.{L.suffix}", f"{L.T} @llvm.{name}.{L.suffix}({', '.join([L.T] * len(operands))})")
        args = ", ".join(f"{L.T} {x}" for x in operands)
        return line.put(f"call {L.T} @llvm.{name}.{L.suffix}({args})", *operands)

    def add_kernel(self, f: ca.Function, name: str, *, masked: bool = False, split: int = 1000) -> int:
        """Define `@name`; returns how many blocks of W doubles its `work` argument must hold.

        With `masked`, a last argument `<W x i1> %mask` says which lanes are stored.
        """
        f = f if f.is_a("SXFunction") else f.expand()
        L = self.lanes
        line, stores, cuts = Line(L, self.contract), [], []
        slots: dict[int, str] = {}
        truth: dict[str, str] = {}

        def as_bool(a: str) -> str:
            if a not in truth:
                truth[a] = line.compare("une", a, L.number(0))
            return truth[a]

        def from_bool(b: str) -> str:
            r = line.select(b, L.number(1), L.number(0))
            truth[r] = b
            return r

        for k in range(f.n_instructions()):
            op, i, o = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
            if split and len(line.entries) - (cuts[-1] if cuts else 0) >= split:
                cuts.append(len(line.entries))
                truth.clear()
            if op == ca.OP_CONST:
                slots[o[0]] = L.number(f.instruction_constant(k))
                continue
            if op == ca.OP_INPUT:
                slots[o[0]] = line.put(f"load {L.T}, ptr %in{i[0]}.{i[1]}, align 8")
                continue
            a = slots[i[0]]
            b = slots[i[1]] if len(i) > 1 else ""
            if op == ca.OP_OUTPUT:
                stores.append((a, f"%out{o[0]}.{o[1]}"))
                continue
            if op in _BINARY:
                r = line.binary(_BINARY[op], a, b)
            elif op == ca.OP_NEG:
                r = line.put(f"fneg {L.T} {a}", a)
            elif op == ca.OP_SQ:
                r = line.binary("fmul", a, a)
            elif op == ca.OP_TWICE:
                r = line.binary("fadd", a, a)
            elif op == ca.OP_INV:
                r = line.binary("fdiv", L.number(1), a)
            elif op in _COMPARE:
                r = from_bool(line.compare(_COMPARE[op], a, b))
            elif op == ca.OP_NOT:
                r = from_bool(line.put(f"xor {L.B} {as_bool(a)}, {L.true()}", as_bool(a), type=L.B))
            elif op in (ca.OP_AND, ca.OP_OR):
                word, p, q = "and" if op == ca.OP_AND else "or", as_bool(a), as_bool(b)
                r = from_bool(line.put(f"{word} {L.B} {p}, {q}", p, q, type=L.B))
            elif op == ca.OP_IF_ELSE_ZERO:
                r = line.select(as_bool(a), b, L.number(0))
            elif op == ca.OP_SIN:
                r = self.intrinsic(line, "sin", a)
            elif op == ca.OP_COS:
                r = self.intrinsic(line, "cos", a)
            elif op == ca.OP_SQRT:
                r = self.intrinsic(line, "sqrt", a)
            elif op == ca.OP_ASSIGN:
                r = a
            else:
                raise NotImplementedError(f"operation {op}")
            slots[o[0]] = r
        return self._write_kernel(f, name, line, stores, cuts, masked)

    def _write_kernel(self, f: ca.Function, name: str, line: Line, stores: list[tuple[str, str]], cuts: list[int],
                      masked: bool) -> int:
        L = self.lanes
        arguments = [f"%in{k}" for k in range(f.n_in())] + [f"%out{k}" for k in range(f.n_out())] + ["%work"]
        for value, place in stores:
            if masked:
                old = line.put(f"load {L.T}, ptr {place}, align 8")
                value = line.select("%mask", value, old)
            line.do(f"store {L.T} {value}, ptr {place}, align 8", value)
        bounds = [0, *cuts, len(line.entries)]
        where = {r: c for c in range(len(bounds) - 1) for r, _, _ in line.entries[bounds[c]:bounds[c + 1]] if r}
        last: dict[str, int] = {}                           # last part that uses a value from an earlier one
        for c in range(len(bounds) - 1):
            for _, _, operands in line.entries[bounds[c]:bounds[c + 1]]:
                for v in operands:
                    if v in where and where[v] != c:
                        last[v] = c
        slot, free, expiry, count = {}, [], {}, 0
        head = ", ".join(f"ptr {a}" for a in arguments) + (f", {L.B} %mask" if masked else "")
        parts = []
        for c in range(len(bounds) - 1):
            free += expiry.pop(c, [])
            body, loaded, addressed = [], set(), set()
            for r, text, operands in line.entries[bounds[c]:bounds[c + 1]]:
                for v in operands:
                    if v in where and where[v] != c and v not in loaded:
                        loaded.add(v)
                        body.append(f"{v}.p = getelementptr {L.T}, ptr %work, i64 {slot[v]}")
                        body.append(f"{v} = load {line.kind.get(v, L.T)}, ptr {v}.p, align 8")
                if ", ptr %in" in text or ", ptr %out" in text:
                    place = text[text.index(", ptr %") + 6:].split(",")[0]
                    if place not in addressed:
                        addressed.add(place)
                        array, j = place.rsplit(".", 1)
                        body.append(f"{place} = getelementptr double, ptr {array}, i64 {int(j) * L.W}")
                body.append(f"{r} = {text}" if r else text)
                if r in last:
                    if free:
                        slot[r] = free.pop()
                    else:
                        slot[r], count = count, count + 1
                    expiry.setdefault(last[r] + 1, []).append(slot[r])
                    body.append(f"{r}.p = getelementptr {L.T}, ptr %work, i64 {slot[r]}")
                    body.append(f"store {line.kind.get(r, L.T)} {r}, ptr {r}.p, align 8")
            parts.append(body)
        if len(parts) == 1:
            self.add("\n".join([f"define void @{name}({head}) {{", *parts[0], "ret void", "}"]))
            return count
        for c, body in enumerate(parts):
            self.add("\n".join([f"define internal void @{name}.{c}({head}) noinline {{", *body, "ret void", "}"]))
        calls = [f"call void @{name}.{c}({head})" for c in range(len(parts))]
        self.add("\n".join([f"define void @{name}({head}) {{", *calls, "ret void", "}"]))
        return count
