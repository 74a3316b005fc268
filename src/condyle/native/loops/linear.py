"""Matrices of linear functions and their products with vectors, by loops: for functions that would be too long
as a straight line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from condyle.native.ir.module import Module
from condyle.native.ir.values import Value
from condyle.native.straight.kernel_function import Composite
from condyle.native.straight.kernel_writer import composite_kernel


class Matrix:
    """A in y = A x + b, row by row, where y is the only result of a function and x one of its arguments.

    Args:
        function: linear in x.
        argument: index of the argument x. The others are the inputs.
        offset: whether b may be nonzero, which costs one more evaluation.
        symmetric: A is symmetric; the result is then symmetric to the last bit.
    """

    def __init__(
        self, function: Composite, argument: int, offset: bool = False, symmetric: bool = False
    ) -> None:
        self.function, self.argument, self.offset, self.symmetric = function, argument, offset, symmetric
        self.n, (self.m,) = function.inputs[argument], function.outputs
        self.inputs = [size for k, size in enumerate(function.inputs) if k != argument]
        self.outputs = [self.m * self.n]

    def n_instructions(self) -> int:
        return (self.n + self.offset) * (self.function.n_instructions() + 2 * self.m)

    def emit(self, module: Module, name: str) -> int:
        """Define the kernel `@name`; returns the blocks of W doubles that its work argument needs."""
        T, n, m = module.lanes.T, self.n, self.m
        work = self.function.emit(module, f"{name}.function")
        with composite_kernel(module, self, name) as (b, ins, (out,), memory):
            x, offset, y, rest = (b.at(memory, start, T) for start in (0, n, n + m, n + 2 * m))

            def evaluate(result: Value) -> None:
                b.call(f"{name}.function", *ins[: self.argument], x, *ins[self.argument :], result, rest)

            def clear(memory: Value, size: int) -> None:
                with b.loop(size) as i:
                    b.store(0.0, b.at(memory, i, T))

            if n and m:
                clear(x, n)
                if self.offset:
                    evaluate(offset)
                else:
                    clear(offset, m)
                with b.loop(n) as k:  # column k is the result for the k-th unit vector
                    place = b.at(x, k, T)
                    b.store(1.0, place)
                    evaluate(y)
                    b.store(0.0, place)
                    with b.loop(k + 1 if self.symmetric else m) as j:
                        value = b.load(b.at(y, j, T)) - b.load(b.at(offset, j, T))
                        b.store(value, b.at(out, j * n + k, T))
                        if self.symmetric:
                            b.store(value, b.at(out, k * n + j, T))
        return n + 2 * m + work

    def evaluate(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The matrix (m n, states) at inputs (size, states), by CasADi's evaluator."""
        states, given = arguments[0].shape[1], list(arguments)

        def at(x: np.ndarray) -> np.ndarray:
            x = np.repeat(x[:, None], states, axis=1)
            return self.function.evaluate([*given[: self.argument], x, *given[self.argument :]])[0]

        b = at(np.zeros(self.n)) if self.offset else 0.0
        A = np.stack([at(x) - b for x in np.eye(self.n)], axis=1) if self.n else np.zeros((self.m, 0, states))
        if self.symmetric:
            upper = np.triu(np.ones((self.n, self.n), dtype=bool))[..., None]
            A = np.where(upper, A, np.swapaxes(A, 0, 1))
        return [A.reshape(self.m * self.n, states)]


class Product:
    """y = sum of A_i x_i, where the matrices are results of another kernel: derivatives along a direction.

    Args:
        function: its first results are the matrices A_i, each (n, widths[i]), row by row; the others come
            after y.
        n: rows of the matrices.
        widths: their numbers of columns. The vectors x_i are inputs after those of the function.
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
        with composite_kernel(module, self, name) as (b, given, (y, *more), memory):
            ins, vectors = given[: len(self.function.inputs)], given[len(self.function.inputs) :]
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
