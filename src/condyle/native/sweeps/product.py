"""Matrices times vectors, where the matrices are results of another kernel: derivatives along a direction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from condyle.native.ir.module import Module
from condyle.native.straight.composite import Composite
from condyle.native.straight.emit import kernel_arguments


class Product:
    """y = sum of A_i x_i (condyle.native.straight.composite.Composite).

    Args:
        function: its first results are the matrices A_i, each (n, widths[i]), row by row; the others come
            after y.
        n: rows of the matrices.
        widths: their columns. The vectors x_i are inputs after those of the function.
    """

    def __init__(self, function: Composite, n: int, widths: Sequence[int]) -> None:
        self.function, self.n, self.widths = function, n, list(widths)
        self.inputs = [*function.inputs, *widths]
        self.outputs = [n, *function.outputs[len(self.widths) :]]

    def n_instructions(self) -> int:
        return self.function.n_instructions() + 2 * self.n * sum(self.widths)

    def emit(self, module: Module, name: str) -> int:
        """Define the kernel `@name`; returns the blocks of W doubles that its work argument needs."""
        T, starts = module.lanes.T, np.cumsum([0, *(self.n * width for width in self.widths)]).tolist()
        work = self.function.emit(module, f"{name}.function")
        with module.function(
            name, kernel_arguments(module, len(self.inputs) + len(self.outputs)), internal=False
        ) as b:
            *arguments, memory = b.arguments
            count = len(self.function.inputs)
            ins, vectors = arguments[:count], arguments[count : len(self.inputs)]
            y, *more = arguments[len(self.inputs) :]
            *matrices, rest = (b.at(memory, start, T) for start in starts)
            b.call(f"{name}.function", *ins, *matrices, *more, rest)
            with b.loop(self.n) as row:
                total = b.at(y, row, T)
                b.store(0.0, total)
                for A, x, width in zip(matrices, vectors, self.widths, strict=True):
                    with b.loop(width) as k:
                        product = b.load(b.at(A, row * width + k, T)) * b.load(b.at(x, k, T))
                        b.store(b.load(total) + product, total)
        return starts[-1] + work

    def evaluate(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Outputs (size, states) at inputs (size, states), by CasADi's evaluator."""
        count, states = len(self.function.inputs), arguments[0].shape[1]
        results = self.function.evaluate(arguments[:count])
        y = np.zeros((self.n, states))
        for A, x, width in zip(results, arguments[count:], self.widths, strict=False):
            y += np.einsum("ijs,js->is", A.reshape(self.n, width, states), x)
        return [y, *results[len(self.widths) :]]
