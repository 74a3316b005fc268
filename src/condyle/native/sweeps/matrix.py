"""The matrix of a linear function, by a loop over unit vectors: for functions that would be too long as a straight line."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from condyle.native.straight.composite import Composite
from condyle.native.straight.emit import Module


class Matrix:
    """A in y = A x + b, row by row, where y is the only result of a function and x one of its arguments.

    Args:
        function: what is linear in x.
        argument: which argument x is. The others are the inputs.
        offset: whether b may differ from zero; it costs one more evaluation.
        symmetric: A is symmetric; it will be so to the last bit.
    """

    def __init__(self, function: Composite, argument: int, offset: bool = False, symmetric: bool = False) -> None:
        self.function, self.argument, self.offset, self.symmetric = function, argument, offset, symmetric
        self.n, (self.m,) = function.inputs[argument], function.outputs
        self.inputs = [size for k, size in enumerate(function.inputs) if k != argument]
        self.outputs = [self.m * self.n]

    def n_instructions(self) -> int:
        return (self.n + self.offset) * (self.function.n_instructions() + 2 * self.m)

    def emit(self, module: Module, name: str) -> int:
        """Define the kernel `@name`; returns the blocks of W doubles that its work argument needs."""
        L, n, m = module.lanes, self.n, self.m
        work = self.function.emit(module, f"{name}.function")
        ins = [f"ptr %in{k}" for k in range(len(self.inputs))]
        given = [*ins[:self.argument], "ptr %x", *ins[self.argument:]]
        call = f"call void @{name}.function({', '.join([*given, 'ptr %{0}', 'ptr %rest'])})"
        zero, one = L.number(0.0), L.number(1.0)

        def fill(tag: str, base: str, size: int) -> list[str]:
            return [f"br label %{tag}.in", f"{tag}.in:", f"br label %{tag}", f"{tag}:",
                    f"%{tag}.i = phi i64 [ 0, %{tag}.in ], [ %{tag}.j, %{tag} ]",
                    f"%{tag}.p = getelementptr {L.T}, ptr %{base}, i64 %{tag}.i", f"store {L.T} {zero}, ptr %{tag}.p, align 8",
                    f"%{tag}.j = add i64 %{tag}.i, 1", f"%{tag}.more = icmp slt i64 %{tag}.j, {size}",
                    f"br i1 %{tag}.more, label %{tag}, label %{tag}.out", f"{tag}.out:"]

        mirror = [f"%kn = mul i64 %k, {n}", "%across = add i64 %kn, %j",
                  f"%tp = getelementptr {L.T}, ptr %out0, i64 %across", f"store {L.T} %v, ptr %tp, align 8"]
        body = [f"define void @{name}({', '.join([*ins, 'ptr %out0', 'ptr %work'])}) {{", "entry:"]
        starts = {"x": 0, "b": n, "y": n + m, "rest": n + 2 * m}
        body += [f"%{part} = getelementptr {L.T}, ptr %work, i64 {start}" for part, start in starts.items()]
        if n and m:
            body += fill("zero", "x", n)
            body += [call.replace("{0}", "b")] if self.offset else fill("none", "b", m)
            body += ["br label %column.in", "column.in:", "br label %column",
                     "column:", "%k = phi i64 [ 0, %column.in ], [ %k1, %row.out ]",
                     f"%xk = getelementptr {L.T}, ptr %x, i64 %k", f"store {L.T} {one}, ptr %xk, align 8",
                     call.replace("{0}", "y"), f"store {L.T} {zero}, ptr %xk, align 8", "br label %row",
                     "row:", "%j = phi i64 [ 0, %column ], [ %j1, %row ]",
                     *(f"%{p}p = getelementptr {L.T}, ptr %{p}, i64 %j\n%{p}v = load {L.T}, ptr %{p}p, align 8" for p in "yb"),
                     f"%v = fsub {L.T} %yv, %bv", f"%jn = mul i64 %j, {n}", "%at = add i64 %jn, %k",
                     f"%to = getelementptr {L.T}, ptr %out0, i64 %at", f"store {L.T} %v, ptr %to, align 8",
                     *(mirror if self.symmetric else []),
                     "%j1 = add i64 %j, 1", f"%mj = icmp {'sle i64 %j1, %k' if self.symmetric else f'slt i64 %j1, {m}'}",
                     "br i1 %mj, label %row, label %row.out",
                     "row.out:", "%k1 = add i64 %k, 1", f"%mk = icmp slt i64 %k1, {n}",
                     "br i1 %mk, label %column, label %end", "end:"]
        module.add("\n".join([*body, "ret void", "}"]))
        return n + 2 * m + work

    def evaluate(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The matrix (m n, states) at inputs (size, states), by CasADi's evaluator."""
        states, given = arguments[0].shape[1], list(arguments)

        def at(x: np.ndarray) -> np.ndarray:
            x = np.repeat(x[:, None], states, axis=1)
            return self.function.evaluate([*given[:self.argument], x, *given[self.argument:]])[0]

        b = at(np.zeros(self.n)) if self.offset else 0.0
        A = np.stack([at(x) - b for x in np.eye(self.n)], axis=1) if self.n else np.zeros((self.m, 0, states))
        if self.symmetric:
            upper = np.triu(np.ones((self.n, self.n), dtype=bool))[..., None]
            A = np.where(upper, A, np.swapaxes(A, 0, 1))
        return [A.reshape(self.m * self.n, states)]
