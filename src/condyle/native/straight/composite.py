"""Several kernels that act as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from condyle.native.ir.module import Module


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
