"""M x = b for many columns b, where M has the sparsity of a tree: one kernel makes both, native loops factor and solve.

    main(inputs) -> the entries of M, b row by row, more                M = L' D L,   x = L^-1 D^-1 L'^-1 b

Speed k meets only those before it on its path to ground, and L keeps that. The entries of M are those of speed 0, then of speed 1
and so on: its own, then those that it has with the speeds before it, nearest first. The loops run over tables of these; the code
is the same for any tree. Some columns at a time stay in registers: vectors of columns for one state, of states for many.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from condyle.native.machine import jit
from condyle.native.straight.composite import Composite
from condyle.native.straight.emit import Module

TOGETHER = 6
"""Vectors of columns that are solved together: as many sums run side by side."""
PADDED = 8 * TOGETHER
"""Rows of b are as long as a multiple of this, so that vectors of any lanes fill them."""


def padded(width: int) -> int:
    """Numbers in a row of b for so many columns: those after the last are not read."""
    return -(-width // PADDED) * PADDED


class TreeSolve:
    """What NativeFunction compiles: `condyle.native.straight.composite.Composite`.

    Args:
        main: inputs -> the entries of M; b, n rows of padded(sum(widths)) numbers; more, if any: outputs after the columns'.
            What a Composite does not write of b is zero.
        before: for each of n speeds those before it on its path to ground, nearest first.
        widths: columns of each output; output i is the matrix (n, widths[i]), row by row.
    """

    def __init__(self, main: ca.Function | Composite, before: Sequence[Sequence[int]], widths: Sequence[int]) -> None:
        self.main, self.before, self.widths, self.n = main, before, list(widths), len(before)
        self.row = padded(sum(widths))
        self.start = np.cumsum([0, *(1 + len(b) for b in before)])
        self.other = np.array([j for k, b in enumerate(before) for j in (k, *b)])
        if isinstance(main, ca.Function):
            ins, outs = [main.numel_in(k) for k in range(main.n_in())], [main.numel_out(k) for k in range(main.n_out())]
        else:
            ins, outs = main.inputs, main.outputs
        self.inputs, self.outputs = ins, [*(self.n * k for k in widths), *outs[2:]]

    def n_instructions(self) -> int:
        pairs = len(self.other) - self.n
        triples = sum(len(b) * (len(b) + 1) // 2 for b in self.before)
        return self.main.n_instructions() + 2 * triples + (4 * pairs + self.n) * sum(self.widths)

    # ---- machine code

    def emit(self, module: Module, name: str) -> int:
        """Define the kernel `@name`; returns the blocks of W doubles that its work argument needs."""
        W, n, m, main = module.lanes.W, self.n, len(self.other), f"{name}.main"
        work = module.add_kernel(self.main, main) if isinstance(self.main, ca.Function) else self.main.emit(module, main)
        V = W if W > 1 else jit.lane_width()                # one state: the lanes are columns
        vectors = -(-sum(self.widths) * W // V)
        parts = -(-vectors // TOGETHER)
        together = -(-vectors // parts) if parts else 0
        size, b = 8 * self.row * n * W, m * W
        arguments = [f"ptr %in{i}" for i in range(len(self.inputs))]
        outputs = [f"ptr %out{i}" for i in range(len(self.outputs))]
        more = outputs[len(self.widths):]
        lines = [f"define void @{name}({', '.join([*arguments, *outputs, 'ptr %work'])}) {{", "entry:",
                 f"%b = getelementptr double, ptr %work, i64 {b}",
                 f"%rest = getelementptr double, ptr %work, i64 {b + self.row * n * W}"]
        if not isinstance(self.main, ca.Function):
            lines.append(f"call void @llvm.memset.p0.i64(ptr align 8 %b, i8 0, i64 {size}, i1 false)")
            module.declare("llvm.memset", "void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        lines += [f"call void @{main}({', '.join([*arguments, 'ptr %work', 'ptr %b', *more, 'ptr %rest'])})"]
        if n and parts:
            self._factor(module, f"{name}.factor")
            self._solve(module, f"{name}.solve", V, together)
            lines += [f"call void @{name}.factor(ptr %work)", *_loop("part", parts, [
                f"%part.at = mul i64 %part, {together * V}", "%part.p = getelementptr double, ptr %b, i64 %part.at",
                f"call void @{name}.solve(ptr %work, ptr %part.p)"])]
            copies = []
            for i, (width, start) in enumerate(zip(self.widths, np.cumsum([0, *self.widths]), strict=False)):
                copies += [f"%from{i}.at = add i64 %row.at, {start * W}",
                           f"%from{i} = getelementptr double, ptr %b, i64 %from{i}.at",
                           f"%to{i}.at = mul i64 %row, {width * W}",
                           f"%to{i} = getelementptr double, ptr %out{i}, i64 %to{i}.at",
                           f"call void @llvm.memcpy.p0.p0.i64(ptr align 8 %to{i}, ptr align 8 %from{i}, "
                           f"i64 {8 * width * W}, i1 false)"]
            module.declare("llvm.memcpy", "void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
            lines += _loop("row", n, [f"%row.at = mul i64 %row, {self.row * W}", *copies])
        module.add("\n".join([*lines, "ret void", "}"]))
        return m + self.row * n + work

    def _factor(self, module: Module, name: str) -> None:
        """`@name(m)`: L below and 1 / D on the diagonal, in place. Row j of M is as long as the end of row k from j on."""
        T, W, exact = module.lanes.T, module.lanes.W, _flag(module)
        start, other = (_table(module, f"{name}.{what}", x) for what, x in (("start", self.start), ("other", self.other)))
        at = lambda x, place: [f"%{x}.w = mul i64 {place}, {W}", f"%{x}.p = getelementptr double, ptr %m, i64 %{x}.w"]
        load = lambda x, place: [*at(x, place), f"%{x} = load {T}, ptr %{x}.p, align 8"]
        inner = [*load("x", "%i.l"), *load("y", "%j.l"), f"%xr = fmul {exact}{T} %ratio, %x", f"%z = fsub {exact}{T} %y, %xr",
                 f"store {T} %z, ptr %y.p, align 8"]
        entry = [*load("e", "%i"), f"%ratio = fmul {T} %e, %inverse", *_entry(other, "j", "%i"), *_entry(start, "s.j", "%j"),
                 "%left = sub i64 %end, %i",
                 *_loop("l", "%left", ["%i.l = add i64 %i, %l", "%j.l = add i64 %s.j, %l", *inner]),
                 f"store {T} %ratio, ptr %e.p, align 8"]
        row = [f"%k = sub i64 {self.n - 1}, %kk", "%k1 = add i64 %k, 1", *_entry(start, "s", "%k"), *_entry(start, "end", "%k1"),
               *load("d", "%s"), f"%inverse = fdiv {T} {module.lanes.number(1.0)}, %d", f"store {T} %inverse, ptr %d.p, align 8",
               "%s1 = add i64 %s, 1", "%count = sub i64 %end, %s1", *_loop("c", "%count", ["%i = add i64 %s1, %c", *entry])]
        module.add("\n".join([f"define internal void @{name}(ptr %m) {{", "entry:", *_loop("kk", self.n, row), "ret void", "}"]))

    def _solve(self, module: Module, name: str, V: int, together: int) -> None:
        """`@name(m, b)`: solve for `together` vectors of columns in place, tip to base and base to tip."""
        after: list[list[int]] = [[] for _ in range(self.n)]            # entries of M that a speed has with those beyond it
        beyond: list[list[int]] = [[] for _ in range(self.n)]
        for k, b in enumerate(self.before):
            for i, j in enumerate(b, start=int(self.start[k]) + 1):
                after[j].append(i)
                beyond[j].append(k)
        entries = [list(range(s + 1, e)) for s, e in zip(self.start, self.start[1:], strict=False)]
        lines = [*self._rows(module, name, "in", V, together, after, beyond, list(range(self.n))[::-1], False),
                 *self._rows(module, name, "out", V, together, entries, self.before, list(range(self.n)), True)]
        module.add("\n".join([f"define internal void @{name}(ptr %m, ptr %b) {{", "entry:", *lines, "ret void", "}"]))

    def _rows(self, module: Module, name: str, tag: str, V: int, together: int, entries: Sequence[Sequence[int]],
              others: Sequence[Sequence[int]], order: list[int], scaled: bool) -> list[str]:
        """For each row r in order: b_r <- b_r / D_r if `scaled`, then b_r -= m[entry] b[other] for its entries and others."""
        W, T, exact = module.lanes.W, f"<{V} x double>", _flag(module)
        tables = {"first": np.cumsum([0, *(len(entries[r]) for r in order)]), "row": order, "own": self.start[order],
                  "entry": [i for r in order for i in entries[r]], "other": [k for r in order for k in others[r]]}
        table = {what: _table(module, f"{name}.{tag}.{what}", x) for what, x in tables.items()}

        def number(x: str, place: str) -> list[str]:
            """An entry of m, the same for all lanes where these are columns."""
            at = [f"%{x}.w = mul i64 {place}, {W}", f"%{x}.p = getelementptr double, ptr %m, i64 %{x}.w"]
            if W > 1:
                return [*at, f"%{x} = load {T}, ptr %{x}.p, align 8"]
            return [*at, f"%{x}.s = load double, ptr %{x}.p, align 8", f"%{x}.v = insertelement {T} poison, double %{x}.s, i64 0",
                    f"%{x} = shufflevector {T} %{x}.v, {T} poison, <{V} x i32> zeroinitializer"]

        def vectors(x: str, row: str) -> list[str]:
            out = [f"%{x}.at = mul i64 {row}, {self.row * W}", f"%{x}.p = getelementptr double, ptr %b, i64 %{x}.at"]
            for c in range(together):
                out += [f"%{x}.p{c} = getelementptr double, ptr %{x}.p, i64 {c * V}",
                        f"%{x}{c} = load {T}, ptr %{x}.p{c}, align 8"]
            return out

        t, each = f"{tag}s", range(together)
        lines = [*_entry(table["row"], f"{t}.r", f"%{tag}"), f"%{t}.1 = add i64 %{tag}, 1",
                 *_entry(table["first"], f"{t}.i0", f"%{tag}"), *_entry(table["first"], f"{t}.i1", f"%{t}.1"),
                 *vectors(f"{t}.x", f"%{t}.r")]
        begun = [f"%{t}.x{c}" for c in each]
        if scaled:
            lines += [*_entry(table["own"], f"{t}.own", f"%{tag}"), *number(f"{t}.d", f"%{t}.own"),
                      *(f"%{t}.y{c} = fmul {T} %{t}.x{c}, %{t}.d" for c in each)]
            begun = [f"%{t}.y{c}" for c in each]
        lines += [f"%{t}.some = icmp ult i64 %{t}.i0, %{t}.i1", f"br label %{t}.from", f"{t}.from:",
                  f"br i1 %{t}.some, label %{t}.sum, label %{t}.done",
                  f"{t}.sum:", f"%{t}.i = phi i64 [ %{t}.i0, %{t}.from ], [ %{t}.next, %{t}.sum ]",
                  *(f"%{t}.a{c} = phi {T} [ {begun[c]}, %{t}.from ], [ %{t}.c{c}, %{t}.sum ]" for c in each),
                  *_entry(table["entry"], f"{t}.e", f"%{t}.i"), *_entry(table["other"], f"{t}.o", f"%{t}.i"),
                  *number(f"{t}.f", f"%{t}.e"), *vectors(f"{t}.z", f"%{t}.o")]
        for c in each:
            lines += [f"%{t}.b{c} = fmul {exact}{T} %{t}.f, %{t}.z{c}", f"%{t}.c{c} = fsub {exact}{T} %{t}.a{c}, %{t}.b{c}"]
        lines += [f"%{t}.next = add i64 %{t}.i, 1", f"%{t}.on = icmp ult i64 %{t}.next, %{t}.i1",
                  f"br i1 %{t}.on, label %{t}.sum, label %{t}.done", f"{t}.done:"]
        for c in each:
            lines += [f"%{t}.w{c} = phi {T} [ {begun[c]}, %{t}.from ], [ %{t}.c{c}, %{t}.sum ]"]
        lines += [f"store {T} %{t}.w{c}, ptr %{t}.x.p{c}, align 8" for c in each]
        return _loop(tag, self.n, lines)

    # ---- CasADi's evaluator

    def evaluate(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Outputs (size, states) at inputs (size, states)."""
        states = arguments[0].shape[1]
        if isinstance(self.main, ca.Function):
            given = [ca.DM(a) if a.size else ca.DM(0, states) for a in arguments]
            m, b, *more = (x.full() for x in self.main.map(states).call(given))
        else:
            m, b, *more = self.main.evaluate(arguments)
        x, start = b.reshape(self.n, self.row, states), self.start
        with np.errstate(all="ignore"):
            for k in reversed(range(self.n)):
                own, end = start[k], start[k + 1]
                m[own] = 1 / m[own]
                for i in range(own + 1, end):
                    j, ratio = self.other[i], m[i] * m[own]
                    m[start[j]:start[j] + end - i] -= ratio * m[i:end]
                    m[i] = ratio
                    x[j] -= ratio * x[k]
            for k in range(self.n):
                x[k] *= m[start[k]]
                for i in range(start[k] + 1, start[k + 1]):
                    x[k] -= m[i] * x[self.other[i]]
        parts = np.split(x[:, :sum(self.widths)], np.cumsum(self.widths)[:-1], axis=1)
        return [*(part.reshape(-1, states) for part in parts), *more]


def _flag(module: Module) -> str:
    return "contract " if module.contract else ""


def _table(module: Module, name: str, values: Any) -> str:
    """A constant array of integers; returns its symbol."""
    numbers = ", ".join(f"i32 {int(v)}" for v in values)
    module.add(f"@{name} = internal constant [{len(values)} x i32] [{numbers}]")
    return f"@{name}"


def _entry(table: str, x: str, i: str) -> list[str]:
    """%x = table[i], as i64."""
    return [f"%{x}.q = getelementptr i32, ptr {table}, i64 {i}", f"%{x}.n = load i32, ptr %{x}.q",
            f"%{x} = zext i32 %{x}.n to i64"]


def _loop(i: str, count: int | str, body: Sequence[str]) -> list[str]:
    """%i from 0 to count."""
    return [f"%{i}.none = icmp eq i64 {count}, 0", f"br label %{i}.in",
            f"{i}.in:", f"br i1 %{i}.none, label %{i}.out, label %{i}.do",
            f"{i}.do:", f"%{i} = phi i64 [ 0, %{i}.in ], [ %{i}.up, %{i}.end ]", *body, f"br label %{i}.end", f"{i}.end:",
            f"%{i}.up = add i64 %{i}, 1", f"%{i}.on = icmp ult i64 %{i}.up, {count}",
            f"br i1 %{i}.on, label %{i}.do, label %{i}.out", f"{i}.out:"]
