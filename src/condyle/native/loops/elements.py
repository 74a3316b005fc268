"""Functions of each element of long vectors, and sums over them, as loops around the kernel of one element.

    out[i] = f(x[i], ..., s)        Elementwise
    out = sum_i f(x[i], ..., s)     ElementSum
    out[i] = f(x[i], ..., s)        SideBySide: as many elements as lanes, of functions of many numbers

A slice of k n numbers is k vectors below each other, of which f takes and gives k numbers; arguments in
`whole` are the same for all elements. For one state, elements are processed side by side in SIMD lanes; for
lanes of an ensemble, one after the other. Code size and compile time do not depend on n. Each element is read
completely before it is written, so a vector may be argument and result.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import casadi as ca
import numpy as np

from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import DOUBLE, Value
from condyle.native.machine import jit
from condyle.native.straight.data import function
from condyle.native.straight.kernel_function import evaluate_columns
from condyle.native.straight.kernel_writer import add_kernel, composite_kernel
from condyle.records import dataclass


@dataclass(frozen=True, eq=False)
class Elementwise:
    """See the module's text.

    Args:
        f: of one element: columns.
        n: elements.
        whole: arguments that are the same for all elements.
    """

    f: ca.Function
    n: int
    whole: Collection[int] = ()

    @property
    def inputs(self) -> list[int]:
        return [self.f.numel_in(k) * (1 if k in self.whole else self.n) for k in range(self.f.n_in())]

    @property
    def outputs(self) -> list[int]:
        return [self.f.numel_out(k) * self.n for k in range(self.f.n_out())]

    def n_instructions(self) -> int:
        return self.n * self.f.n_instructions()

    def emit(self, module: Module, name: str, masked: bool = False) -> int:
        """Define the kernel `@name`; returns the blocks of W doubles that its work argument needs."""
        x = [ca.SX.sym(f"x{k}", self.f.numel_in(k)) for k in range(self.f.n_in())]
        parts = [[a] if k in self.whole else ca.vertsplit(a) for k, a in enumerate(x)]
        results = [p for y in self.f.call(x, True, False) for p in ca.vertsplit(ca.densify(y))]
        with composite_kernel(module, self, name, masked) as (b, ins, outs, work):
            stride = self.n * b.lanes.W
            given = [
                (b.at(a, j * stride), k not in self.whole)
                for k, a in enumerate(ins)
                for j in range(len(parts[k]))
            ]
            arguments = [p for each in parts for p in each]
            return self._write(b, name, arguments, results, given, outs, work, masked)

    def _write(
        self,
        b: Builder,
        name: str,
        arguments: list[ca.SX],
        results: list[ca.SX],
        given: list[tuple[Value, bool]],
        outs: Sequence[Value],
        work: Value,
        masked: bool,
    ) -> int:
        f, stride = function(self.f.name(), arguments, results, cse=True), self.n * b.lanes.W
        uniform = {k for k, (_, moves) in enumerate(given) if not moves}
        places = [(b.at(y, j * stride), True) for k, y in enumerate(outs) for j in range(self.f.numel_out(k))]
        side, blocks = _side(b, self.n), 0
        for lanes, first, stop in ((side, 0, self.n - self.n % side), (1, self.n - self.n % side, self.n)):
            if first < stop:
                symbol = f"{name}.by{lanes}"
                blocks = max(blocks, _kernel(b, f, symbol, lanes, uniform, masked))
                _loop(b, symbol, lanes, first, stop, [*given, *places], work, b.arguments[-1:] * masked)
        return blocks

    def evaluate(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Results (size, states) at arguments (size, states), by CasADi's evaluator."""
        n, states = self.n, arguments[0].shape[1]
        found = evaluate_columns(
            self.f,
            [
                np.repeat(a, n, axis=1)
                if k in self.whole
                else a.reshape(-1, n, states).transpose(0, 2, 1).reshape(-1, states * n)
                for k, a in enumerate(arguments)
            ],
            n * states,
        )
        return [y.reshape(-1, states, n).transpose(0, 2, 1).reshape(-1, states) for y in found]


@dataclass(frozen=True, eq=False)
class ElementSum(Elementwise):
    """The sum of f's single result over the elements; the order of summation differs from that of the
    elements. It writes all lanes of an ensemble, also inactive ones: use the result at once."""

    @property
    def outputs(self) -> list[int]:
        return [1]

    def _write(
        self,
        b: Builder,
        name: str,
        arguments: list[ca.SX],
        results: list[ca.SX],
        given: list[tuple[Value, bool]],
        outs: Sequence[Value],
        work: Value,
        masked: bool,
    ) -> int:
        total = ca.SX.sym("total")
        f = function(self.f.name(), [*arguments, total], [total + results[0]], cse=True)
        uniform = {k for k, (_, moves) in enumerate(given) if not moves}
        side, blocks = _side(b, self.n), 0
        whole, out, rest = self.n - self.n % side, outs[0], b.at(work, side * b.lanes.W)
        if side > 1:
            with b.side_by_side(side):
                b.store(b.number(0.0), work)
            blocks = _kernel(b, f, f"{name}.by{side}", side, uniform, False)
            at = [*given, (work, False), (work, False)]
            _loop(b, f"{name}.by{side}", side, 0, whole, at, rest, [])
            sums = [b.load(b.at(work, k), DOUBLE) for k in range(side)]
            while len(sums) > 1:
                sums = [x + y for x, y in zip(sums[::2], sums[1::2], strict=True)]
            b.store(sums[0], out)
        else:
            b.store(b.number(0.0), out)
            whole = 0
        if whole < self.n:
            blocks = max(blocks, _kernel(b, f, f"{name}.by1", 1, uniform, False))
            _loop(b, f"{name}.by1", 1, whole, self.n, [*given, (out, False), (out, False)], rest, [])
        return side + blocks

    def evaluate(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [super().evaluate(arguments)[0].reshape(self.n, -1).sum(axis=0, keepdims=True)]


@dataclass(frozen=True, eq=False)
class SideBySide(Elementwise):
    """Like Elementwise, for functions of many numbers, one state and as many elements as a kernel has
    lanes: all elements run at once."""

    def emit(self, module: Module, name: str, masked: bool = False) -> int:
        with composite_kernel(module, self, name, masked) as (b, ins, outs, work):
            assert b.lanes.W == 1
            blocks = add_kernel(module.with_lanes(self.n), self.f, f"{name}.all", uniform=set(self.whole))
            b.call(f"{name}.all", *ins, *outs, work)
            return self.n * blocks


def _side(b: Builder, n: int) -> int:
    """How many elements of one state run side by side."""
    return jit.register_width() if b.lanes.W == 1 and n >= jit.register_width() else 1


def _kernel(b: Builder, f: ca.Function, symbol: str, lanes: int, uniform: set[int], masked: bool) -> int:
    """Define the kernel of `lanes` elements; returns the blocks of the builder's lanes that its work
    argument needs."""
    if lanes == 1:
        return add_kernel(b.module, f, symbol, masked=masked)
    return lanes * add_kernel(b.module.with_lanes(lanes), f, symbol, uniform=uniform)


def _loop(
    b: Builder,
    symbol: str,
    step: int,
    first: int,
    stop: int,
    given: list[tuple[Value, bool]],
    work: Value,
    mask: Sequence[Value],
) -> None:
    with b.loop(stop - first, step) as i:
        at = [b.at(x, (i + first) * b.lanes.W) if moves else x for x, moves in given]
        b.call(symbol, *at, work, *mask)
