"""M x = b for many columns b, where M has the sparsity of a tree: one kernel computes M and b, native loops
factor and solve.

    main(inputs) -> the entries of M, b row by row, more                M = L' D L,   x = L^-1 D^-1 L'^-1 b

Speed k is coupled only with the speeds before it on its path to ground, and L has the same sparsity. The
entries of M are those of speed 0, then of speed 1 and so on: the diagonal entry, then those with the speeds
before it, nearest first. The loops run over tables of these; the code is the same for any tree. Some
columns at a time stay in registers: vectors of columns for one state, of states for many.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import DOUBLE, POINTER, Value
from condyle.native.machine import jit
from condyle.native.straight.kernel_function import KernelFunction, evaluate, sizes
from condyle.native.straight.kernel_writer import add_kernel, composite_kernel

TOGETHER = 6
"""Number of vectors of columns solved together, whose sums run in parallel."""
PADDED = 8 * TOGETHER
"""The length of rows of b is a multiple of this, so that vectors of any number of lanes fill them."""


def padded(width: int) -> int:
    """Length of a row of b with this many columns; numbers after the last column are not read."""
    return -(-width // PADDED) * PADDED


class TreeSolve:
    """The function that NativeFunction compiles: a `condyle.native.straight.kernel_function.Composite`.

    Args:
        main: inputs -> the entries of M; b, n rows of padded(sum(widths)) numbers; more, if any: outputs
            after the columns'. Elements of b that a Composite does not write are zero.
        before: for each of n speeds, the speeds before it on its path to ground, nearest first.
        widths: columns of each output; output i is the matrix (n, widths[i]), row by row.
    """

    def __init__(self, main: KernelFunction, before: Sequence[Sequence[int]], widths: Sequence[int]) -> None:
        self.main, self.before, self.widths, self.n = main, before, list(widths), len(before)
        self.row = padded(sum(widths))
        self.start = np.cumsum([0, *(1 + len(b) for b in before)])
        self.other = np.array([j for k, b in enumerate(before) for j in (k, *b)])
        ins, outs = sizes(main)
        self.inputs, self.outputs = ins, [*(self.n * k for k in widths), *outs[2:]]

    def n_instructions(self) -> int:
        pairs = len(self.other) - self.n
        triples = sum(len(b) * (len(b) + 1) // 2 for b in self.before)
        return self.main.n_instructions() + 2 * triples + (4 * pairs + self.n) * sum(self.widths)

    # ---- machine code

    def emit(self, module: Module, name: str) -> int:
        """Define the kernel `@name`; returns the blocks of W doubles that its work argument needs."""
        W, n, m, main = module.lanes.W, self.n, len(self.other), f"{name}.main"
        work = add_kernel(module, self.main, main)
        V = W if W > 1 else jit.lane_width()  # one state: the lanes are columns
        vectors = -(-sum(self.widths) * W // V)
        parts = -(-vectors // TOGETHER)
        together = -(-vectors // parts) if parts else 0
        size = self.row * n * W  # numbers of b
        with composite_kernel(module, self, name) as (b, ins, outs, entries):
            columns, rest = b.at(entries, m * W), b.at(entries, m * W + size)
            if not isinstance(self.main, ca.Function):
                b.clear(columns, 8 * size)
            b.call(main, *ins, entries, columns, *outs[len(self.widths) :], rest)
            if n and parts:
                self._factor(module, f"{name}.factor")
                self._solve(module, f"{name}.solve", V, together)
                b.call(f"{name}.factor", entries)
                with b.loop(parts) as part:
                    b.call(f"{name}.solve", entries, b.at(columns, part * (together * V)))
                with b.loop(n) as row:
                    first = row * (self.row * W)
                    for out, width, start in zip(outs, self.widths, np.cumsum([0, *self.widths])):
                        target = b.at(out, row * (width * W))
                        b.copy(target, b.at(columns, first + start * W), 8 * width * W)
        return m + self.row * n + work

    def _factor(self, module: Module, name: str) -> None:
        """`@name(m)`: L below and 1 / D on the diagonal, in place. Row j of M is as long as the part of row
        k from j on."""
        W = module.lanes.W
        start, other = (
            module.table(f"{name}.{what}", x.astype(np.int32))
            for what, x in (("start", self.start), ("other", self.other))
        )
        with module.function(name, [POINTER]) as b:
            (m,) = b.arguments
            with b.loop(self.n) as step:
                k = (self.n - 1) - step
                own, end = b.entry(start, k), b.entry(start, k + 1)
                diagonal = b.at(m, own * W)
                inverse = 1.0 / b.load(diagonal)
                b.store(inverse, diagonal)
                first = own + 1
                with b.loop(end - first) as c:
                    i = first + c
                    place, row = b.at(m, i * W), b.entry(start, b.entry(other, i))
                    ratio = b.load(place) * inverse
                    with b.loop(end - i) as l:
                        target = b.at(m, (row + l) * W)
                        b.store(_minus_product(b.load(target), ratio, b.load(b.at(m, (i + l) * W))), target)
                    b.store(ratio, place)

    def _solve(self, module: Module, name: str, V: int, together: int) -> None:
        """`@name(m, b)`: solve for `together` vectors of columns in place, tip to base and base to tip."""
        # entries of M of a speed with the speeds after it
        after: list[list[int]] = [[] for _ in range(self.n)]
        beyond: list[list[int]] = [[] for _ in range(self.n)]
        for k, before in enumerate(self.before):
            for i, j in enumerate(before, start=int(self.start[k]) + 1):
                after[j].append(i)
                beyond[j].append(k)
        entries = [list(range(s + 1, e)) for s, e in zip(self.start, self.start[1:], strict=False)]
        lanes = Module(V, module.contract)
        with lanes.function(name, [POINTER] * 2) as b:
            scalar = module.lanes.W == 1
            self._rows(b, scalar, f"{name}.in", together, after, beyond, list(range(self.n))[::-1], False)
            self._rows(b, scalar, f"{name}.out", together, entries, self.before, list(range(self.n)), True)
        module.include(lanes)

    def _rows(
        self,
        b: Builder,
        scalar: bool,
        name: str,
        together: int,
        entries: Sequence[Sequence[int]],
        others: Sequence[Sequence[int]],
        order: list[int],
        scaled: bool,
    ) -> None:
        """For each row r in order: b_r <- b_r / D_r if `scaled`, then b_r -= m[entry] b[other] for its
        entries and others.

        With one state, `scalar`, an entry of m is the same for all lanes, which are columns.
        """
        m, columns = b.arguments
        V = b.lanes.W
        W = 1 if scalar else V
        numbers = {
            "first": np.cumsum([0, *(len(entries[r]) for r in order)]),
            "row": order,
            "own": self.start[order],
            "entry": [i for r in order for i in entries[r]],
            "other": [k for r in order for k in others[r]],
        }
        table = {what: b.module.table(f"{name}.{what}", np.array(x, np.int32)) for what, x in numbers.items()}

        def number(i: Value) -> Value:
            place = b.at(m, i * W)
            return b.spread(b.load(place, DOUBLE)) if scalar else b.load(place)

        def places(row: Value) -> list[Value]:
            first = b.at(columns, row * (self.row * W))
            return [b.at(first, c * V) for c in range(together)]

        with b.loop(self.n) as step:
            targets = places(b.entry(table["row"], step))
            first, end = b.entry(table["first"], step), b.entry(table["first"], step + 1)
            begun = [b.load(p) for p in targets]
            if scaled:
                inverse = number(b.entry(table["own"], step))
                begun = [x * inverse for x in begun]
            with b.loop(end - first) as k:
                sums = [b.carry(x) for x in begun]
                i = first + k
                factor, sources = number(b.entry(table["entry"], i)), places(b.entry(table["other"], i))
                for total, source in zip(sums, sources):
                    b.hand_on(total, _minus_product(total, factor, b.load(source)))
            for total, target in zip(sums, targets):
                b.store(b.after_loop(total), target)

    # ---- CasADi's evaluator

    def evaluate(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Outputs (size, states) at inputs (size, states)."""
        states = arguments[0].shape[1]
        m, b, *more = evaluate(self.main, *arguments)
        x, start = b.reshape(self.n, self.row, states), self.start
        with np.errstate(all="ignore"):
            for k in reversed(range(self.n)):
                own, end = start[k], start[k + 1]
                m[own] = 1 / m[own]
                for i in range(own + 1, end):
                    j, ratio = self.other[i], m[i] * m[own]
                    m[start[j] : start[j] + end - i] -= ratio * m[i:end]
                    m[i] = ratio
                    x[j] -= ratio * x[k]
            for k in range(self.n):
                x[k] *= m[start[k]]
                for i in range(start[k] + 1, start[k + 1]):
                    x[k] -= m[i] * x[self.other[i]]
        parts = np.split(x[:, : sum(self.widths)], np.cumsum(self.widths)[:-1], axis=1)
        return [*(part.reshape(-1, states) for part in parts), *more]


def _minus_product(z: Value, x: Value, y: Value) -> Value:
    """z - x y, rounded once where the module and the processor allow it."""
    b = z.builder
    return b.fma(-x, y, z) if b.module.contract and jit.fuses() else z - x * y
