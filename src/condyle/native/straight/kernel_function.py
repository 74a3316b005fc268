"""Functions that become kernels: a CasADi Function, or a Composite of several kernels. CasADi's evaluator
runs them on NumPy arrays, without CasADi matrices in between."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import casadi as ca
import numpy as np

from condyle.native.ir.module import Module
from condyle.native.straight.data import closed, numbers_at


class Composite(Protocol):
    """Several kernels that act as one and may take the place of a CasADi Function.

    `inputs` and `outputs` are sizes. `emit` defines the kernel `@name` and returns the blocks that its work
    argument needs; `evaluate` does the same with CasADi's evaluator, on inputs (size, states).
    """

    @property
    def inputs(self) -> list[int]: ...
    @property
    def outputs(self) -> list[int]: ...
    def n_instructions(self) -> int: ...
    def emit(self, module: Module, name: str) -> int: ...
    def evaluate(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]: ...


KernelFunction = ca.Function | Composite


def sizes(f: KernelFunction) -> tuple[list[int], list[int]]:
    """Sizes of the inputs and of the outputs."""
    if not isinstance(f, ca.Function):
        return list(f.inputs), list(f.outputs)
    return [f.numel_in(k) for k in range(f.n_in())], [f.numel_out(k) for k in range(f.n_out())]


def identity(f: Any) -> str:
    """Text that determines what a function computes, the same in every process."""
    return f.serialize() if isinstance(f, ca.Function) else f.text


def effort(f: KernelFunction) -> tuple[float, int]:
    """The number of functions that CasADi's evaluator runs in one call, for any number of states, and the
    number of operations in the machine code. Infinity for a Composite without `effort`: it is always
    compiled."""
    if isinstance(f, ca.Function):
        return 1, f.n_instructions()
    known: tuple[float, int] = getattr(f, "effort", (math.inf, 0))
    return known


def evaluate(f: KernelFunction, *arguments: np.ndarray, states: int = 0) -> list[np.ndarray]:
    """Outputs (size, states) at inputs (size, states), by CasADi's evaluator. `states` is needed if there
    are no inputs."""
    if not isinstance(f, ca.Function):
        return f.evaluate(arguments)
    return evaluate_columns(f, arguments, states or arguments[0].shape[1])


def evaluate_columns(f: ca.Function, arguments: Sequence[np.ndarray], states: int) -> list[np.ndarray]:
    """Outputs (size, states) of a function of columns at inputs (size, states).

    CasADi reads and writes the arrays directly: converting them to its matrices took four times as long as
    a small function.
    """
    f, places = closed(f)
    if places:
        arguments = [*arguments, np.tile(numbers_at(places)[:, None], states)]
    known: tuple[int, ca.Function] = f.__dict__.get("_condyle_mapped", (-1, f))
    if known[0] != states:
        known = f.__dict__["_condyle_mapped"] = states, f.map(states)
    return evaluate_mapped(known[1], arguments, states)


def evaluate_mapped(mapped: ca.Function, arguments: Sequence[np.ndarray], states: int) -> list[np.ndarray]:
    """The same for a function that was mapped over the states."""
    dense = all(
        mapped.nnz_in(k) == a.size and mapped.size_in(k) == a.shape for k, a in enumerate(arguments)
    ) and all(mapped.nnz_out(k) == mapped.numel_out(k) for k in range(mapped.n_out()))
    if not dense or len(arguments) != mapped.n_in():
        return [y.full() for y in mapped.call([ca.DM(a) if a.size else ca.DM(0, states) for a in arguments])]
    # columns in CasADi are rows here
    given = [np.ascontiguousarray(a.T, dtype=np.float64) for a in arguments]
    found = [np.empty(mapped.size_out(k)[::-1]) for k in range(mapped.n_out())]
    buffer: Any  # CasADi's stubs have other signatures
    buffer, evaluate = mapped.buffer()
    for arrays, put in ((given, buffer.set_arg), (found, buffer.set_res)):
        for k, a in enumerate(arrays):
            if a.size:
                put(k, a.reshape(-1).data)
    evaluate()
    return [np.ascontiguousarray(y.T) for y in found]
