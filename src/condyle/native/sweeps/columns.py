"""One kernel, then the same small kernel for each of many columns: a factorisation and its solutions, in loops.

    main(inputs) -> factor, columns, more            solve(factor, column) -> column

Unrolled, the solutions would be most of the code. With one state the columns themselves are the lanes: W of them are solved at a
time. With W states each column is solved for all of them.
"""
from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from condyle.native.machine import jit
from condyle.native.straight.emit import Module


class Columns:
    """What NativeFunction compiles: `condyle.native.straight.composite.Composite`.

    Args:
        main: inputs -> the factor (m,), the columns (n, k), a dense matrix, and more, if any: outputs after the columns'.
        solve: factor (m,), column (n,) -> column (n,). It may use + - * / only.
        widths: columns of each output; output i is the matrix (n, widths[i]), row by row.
    """

    def __init__(self, main: ca.Function, solve: ca.Function, widths: Sequence[int]) -> None:
        self.main, self.solve, self.widths = main, solve, list(widths)
        self.n, self.factor = solve.numel_out(0), solve.numel_in(0)
        self.inputs = [main.numel_in(k) for k in range(main.n_in())]
        self.outputs = [*(self.n * k for k in widths), *(main.numel_out(k) for k in range(2, main.n_out()))]

    def n_instructions(self) -> int:
        return self.main.n_instructions() + sum(self.widths) * self.solve.n_instructions()

    def emit(self, module: Module, name: str) -> int:
        """Define the kernel `@name`; returns the blocks of W doubles that its work argument needs."""
        W, n = module.lanes.W, self.n
        V = W if W > 1 else jit.lane_width()                # one state: the lanes are columns
        main, starts = self._laid_out(1 if W > 1 else V)
        works = [module.add_kernel(main, f"{name}.main")]
        if W > 1:
            works.append(module.add_kernel(self.solve, f"{name}.solve"))
        else:
            lanes = Module(V, module.contract)
            works.append(V * lanes.add_kernel(self.solve, f"{name}.solve", uniform={0}))
            module.include(lanes)
        module.add(_block_function(name, W, V, n))
        columns = self.factor * W
        rest = columns + starts[-1] * W
        arguments = [f"ptr %in{i}" for i in range(len(self.inputs))]
        outputs = [f"ptr %out{i}" for i in range(len(self.outputs))]
        more = outputs[len(self.widths):]
        body = [f"define void @{name}({', '.join([*arguments, *outputs, 'ptr %work'])}) {{",
                f"%columns = getelementptr double, ptr %work, i64 {columns}",
                f"%rest = getelementptr double, ptr %work, i64 {rest}",
                f"call void @{name}.main({', '.join([*arguments, 'ptr %work', 'ptr %columns', *more, 'ptr %rest'])})"]
        for i, width in enumerate(self.widths):
            body += [f"%from{i} = getelementptr double, ptr %columns, i64 {starts[i] * W}",
                     f"call void @{name}.all(ptr %work, ptr %from{i}, ptr %out{i}, i64 {width}, ptr %rest)"]
        module.add("\n".join([*body, "ret void", "}"]))
        return (rest + max(works) * W) // W

    def _laid_out(self, V: int) -> tuple[ca.Function, list[int]]:
        """main with its columns in blocks of V side by side, the last column of an output repeated to fill its last block;
        and where each output's blocks begin, the end included."""
        x = [ca.SX.sym(f"x{k}", size) for k, size in enumerate(self.inputs)]
        factor, columns, *more = self.main.call(x, True, False)
        parts: list[ca.SX] = []
        starts, first = [0], 0
        for width in self.widths:
            mine = columns[:, first:first + width]
            blocks = [[min(c + lane, width - 1) for lane in range(V)] for c in range(0, width, V)]
            parts += [ca.vec(mine[:, block].T) for block in blocks]
            starts.append(starts[-1] + len(blocks) * self.n * V)
            first += width
        return ca.Function("main", x, [factor, ca.densify(ca.vertcat(ca.SX(0, 1), *parts)), *map(ca.densify, more)]), starts

    def evaluate(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Outputs (size, states) at inputs (size, states), by CasADi's evaluator."""
        states, k = arguments[0].shape[1], sum(self.widths)
        results: list[list[np.ndarray]] = [[] for _ in self.outputs]
        for s in range(states):
            factor, columns, *more = self.main.call([ca.DM(a[:, s]) if a.size else ca.DM(0, 1) for a in arguments])
            solved = self.solve.map(k)(ca.repmat(factor, 1, k), columns).full() if k else np.zeros((self.n, 0))
            parts = [*np.split(solved, np.cumsum(self.widths)[:-1], axis=1), *(x.full() for x in more)]
            for result, part in zip(results, parts, strict=True):
                result.append(part.ravel())
        return [np.array(r).T for r in results]


def _block_function(name: str, W: int, V: int, n: int) -> str:
    """`@name.all`: solve `width` columns at %from in place and lay them out row by row at %out.

    Number j of block b stands at [(b n + j) V], V numbers side by side: one state's columns b V .., or column b of V states.
    """
    vector = f"<{V} x double>"
    # Many states: row j, column b, of all states. One state: V columns of row j, or those that are left of them.
    place = ["%rw = mul i64 %j, %width", "%to = add i64 %rw, %first"]
    if W > 1:
        store = [*place, f"%tw = mul i64 %to, {W}", "%tp = getelementptr double, ptr %out, i64 %tw",
                 f"store {vector} %v, ptr %tp, align 8", "br label %next"]
    else:
        store = [*place, "%tp = getelementptr double, ptr %out, i64 %to",
                 "%left = sub i64 %width, %first", f"%full = icmp sge i64 %left, {V}", "br i1 %full, label %whole, label %lane",
                 "whole:", f"store {vector} %v, ptr %tp, align 8", "br label %next",
                 "lane:", "%l = phi i64 [ 0, %row ], [ %l1, %lane ]",
                 "%x.p = getelementptr double, ptr %vp, i64 %l", "%x = load double, ptr %x.p, align 8",
                 "%y.p = getelementptr double, ptr %tp, i64 %l", "store double %x, ptr %y.p, align 8",
                 "%l1 = add i64 %l, 1", "%ml = icmp slt i64 %l1, %left", "br i1 %ml, label %lane, label %next"]
    return "\n".join([
        f"define internal void @{name}.all(ptr %factor, ptr %from, ptr %out, i64 %width, ptr %rest) {{",
        "entry:", "%some = icmp sgt i64 %width, 0", "br i1 %some, label %block, label %end",
        "block:", "%b = phi i64 [ 0, %entry ], [ %b1, %after ]",
        f"%first = mul i64 %b, {1 if W > 1 else V}",
        f"%at = mul i64 %b, {n * V}", "%here = getelementptr double, ptr %from, i64 %at",
        f"call void @{name}.solve(ptr %factor, ptr %here, ptr %here, ptr %rest)", "br label %row",
        "row:", "%j = phi i64 [ 0, %block ], [ %j1, %next ]",
        f"%jv = mul i64 %j, {V}", "%vp = getelementptr double, ptr %here, i64 %jv", f"%v = load {vector}, ptr %vp, align 8",
        *store,
        "next:", "%j1 = add i64 %j, 1", f"%mj = icmp slt i64 %j1, {n}", "br i1 %mj, label %row, label %after",
        "after:", "%b1 = add i64 %b, 1", f"%done = mul i64 %b1, {1 if W > 1 else V}",
        "%more = icmp slt i64 %done, %width", "br i1 %more, label %block, label %end",
        "end:", "ret void", "}"])
