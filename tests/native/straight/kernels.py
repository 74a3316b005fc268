"""Compile kernels and run them on states, one per row, for the tests of the native layer."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import casadi as ca
import numpy as np

from condyle.native.ir.module import Module
from condyle.native.ir.values import BYTE, POINTER, wide
from condyle.native.machine import jit
from condyle.native.straight.kernel_writer import add_kernel


class Kernels:
    """Several functions in one module for W lanes: compiled once, which is most of the time of a test."""

    def __init__(
        self,
        functions: Sequence[ca.Function],
        W: int = 1,
        contract: bool = True,
        split: int = 1000,
        masked: bool = False,
        lines: bool = False,
    ) -> None:
        module = Module(W, contract, lines)
        self.W, self.functions, self.masked = W, functions, masked
        self.work = [
            add_kernel(module, f, f"k{i}", split=split, masked=masked) for i, f in enumerate(functions)
        ]
        if masked:
            for i, f in enumerate(functions):
                _add_with_mask_in_memory(module, f, f"k{i}")
        self.text = module.text()
        self.library = jit.Library(module.compile())

    def __call__(
        self, i: int, *inputs: np.ndarray, mask: Sequence[bool] | None = None, fill: float = np.nan
    ) -> list[np.ndarray]:
        """Outputs of function i, shape (states, nnz) each, for inputs of shape (states, nnz).

        States are padded with copies of the last to whole blocks. `mask`, one entry per lane, holds for every
        block; lanes that it leaves out keep `fill`.
        """
        f, W = self.functions[i], self.W
        states = len(inputs[0])
        blocks = -(-states // W)
        rows = np.minimum(np.arange(blocks * W), states - 1)
        packed = [
            np.asarray(x, float).reshape(states, -1)[rows].reshape(blocks, W, -1).transpose(0, 2, 1).copy()
            for x in inputs
        ]
        results = [np.full((blocks, f.nnz_out(j), W), fill) for j in range(f.n_out())]
        work = np.full(self.work[i] * W + 1, np.nan)
        lanes = [] if mask is None else [np.asarray(mask, np.uint8)]
        arrays = [*packed, *results]
        call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(arrays) + 1 + len(lanes)))(
            self.library.address(f"k{i}.masked" if lanes else f"k{i}")
        )
        for block in range(blocks):
            call(*(a[block].ctypes.data for a in arrays), work.ctypes.data, *(m.ctypes.data for m in lanes))
        return [r.transpose(0, 2, 1).reshape(blocks * W, -1)[:states] for r in results]


def _add_with_mask_in_memory(module: Module, f: ca.Function, name: str) -> None:
    """C cannot pass <W x i1>: a function that takes the mask as W bytes."""
    with module.function(f"{name}.masked", [POINTER] * (f.n_in() + f.n_out() + 2), internal=False) as b:
        *pointers, mask = b.arguments
        numbers = b.load(mask, wide(BYTE, module.lanes.W), align=1)
        b.call(name, *pointers, b.convert("trunc", numbers, module.lanes.B))


def evaluate(f: ca.Function, *inputs: np.ndarray) -> list[np.ndarray]:
    """The same by CasADi's own evaluator, all states in one call; outputs must be dense."""
    states = len(inputs[0])
    results = f.map(states).call([ca.DM(np.asarray(x, float).reshape(states, -1).T) for x in inputs])
    return [
        np.array(r).reshape(r.size1(), states, -1).transpose(1, 2, 0).reshape(states, -1) for r in results
    ]
