"""Expressions as functions of numbers, by CasADi's own evaluator: nothing here is compiled, so that a fault
of the native code would show in a comparison of the two formulations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from condyle.native.tables.staged import Staged, build_function


class Numbers:
    """A function of named vectors. Results by name: columns as vectors, everything else as matrices.

    Args:
        inputs: symbols by name.
        outputs: expressions of them by name; a matrix is filled where it is not structurally zero.
    """

    def __init__(self, name: str, inputs: Mapping[str, ca.SX], outputs: Mapping[str, ca.SX]) -> None:
        self._columns = [name for name, y in outputs.items() if y.shape[1] == 1]
        self._patterns: list[tuple[str, tuple[int, int], NDArray[np.intp], NDArray[np.intp]]] = []
        dense = []
        for key, y in outputs.items():
            y = ca.densify(y) if key in self._columns else ca.sparsify(y)
            rows, columns = (np.array(index, dtype=int) for index in y.sparsity().get_triplet())
            self._patterns.append((key, y.shape, rows, columns))
            dense.append(y.nz[:])
        self._given = {key: np.zeros(x.numel()) for key, x in inputs.items()}
        self._found = [np.zeros(y.numel()) for y in dense]
        self._function = build_function(name, list(inputs.values()), dense)
        if not isinstance(self._function, Staged):
            self._buffer, self._run = self._function.buffer()
            for i, array in enumerate(self._given.values()):
                self._buffer.set_arg(i, array.data)  # type: ignore[call-arg]
            for i, array in enumerate(self._found):
                self._buffer.set_res(i, array.data)  # type: ignore[call-arg]

    def __call__(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Results at values; more than the inputs may be given."""
        for key, array in self._given.items():
            array[:] = values[key]
        if isinstance(self._function, Staged):
            for array, y in zip(
                self._found, self._function.evaluate([a[:, None] for a in self._given.values()]), strict=True
            ):
                array[:] = y[:, 0]
        else:
            self._run()
        out: dict[str, Any] = {}
        for (key, shape, rows, columns), numbers in zip(self._patterns, self._found, strict=True):
            if key in self._columns:
                out[key] = numbers.copy()
            else:
                out[key] = np.zeros(shape)
                out[key][rows, columns] = numbers
        return out
