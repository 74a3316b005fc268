"""CasADi's evaluator on NumPy arrays, without CasADi's matrices between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np


def columns(f: ca.Function, arguments: Sequence[np.ndarray], states: int) -> list[np.ndarray]:
    """Outputs (size, states) of a function of columns at inputs (size, states).

    CasADi reads and writes the arrays themselves: to make its matrices of them took four times as long as a
    small function does.
    """
    return on_arrays(f.map(states), arguments, states)


def on_arrays(mapped: ca.Function, arguments: Sequence[np.ndarray], states: int) -> list[np.ndarray]:
    """The same of a function that was mapped over the states."""
    dense = all(
        mapped.nnz_in(k) == a.size and mapped.size_in(k) == a.shape for k, a in enumerate(arguments)
    ) and all(mapped.nnz_out(k) == mapped.numel_out(k) for k in range(mapped.n_out()))
    if not dense or len(arguments) != mapped.n_in():
        return [y.full() for y in mapped.call([ca.DM(a) if a.size else ca.DM(0, states) for a in arguments])]
    # CasADi's columns are our rows
    given = [np.ascontiguousarray(a.T, dtype=np.float64) for a in arguments]
    found = [np.empty(mapped.size_out(k)[::-1]) for k in range(mapped.n_out())]
    buffer: Any  # CasADi's stubs know other signatures
    buffer, evaluate = mapped.buffer()
    for k, a in enumerate(given):
        if a.size:
            buffer.set_arg(k, a.reshape(-1).data)
    for k, a in enumerate(found):
        if a.size:
            buffer.set_res(k, a.reshape(-1).data)
    evaluate()
    return [np.ascontiguousarray(y.T) for y in found]
