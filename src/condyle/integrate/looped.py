"""Functions of the step loop that are loops over bodies: kernels between a straight line that splits a state
and one that joins what they find."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from condyle.native.programs.nodes import External, Kernel, Node, Stream
from condyle.native.programs.program import compile_kernel
from condyle.native.programs.slice_function import SliceFunction
from condyle.native.straight.kernel_function import Composite
from condyle.native.tables.staged import Staged
from condyle.records import dataclass


@dataclass(frozen=True, eq=False)
class Loops:
    """split(inputs) -> the slices `parts`; `kernels` read these; join(`joined`) -> results.

    Args:
        joined: slices, or which of the inputs.
        sizes: of the slices between.
    """

    split: ca.Function | Staged
    parts: tuple[str, ...]
    kernels: tuple[Kernel, ...]
    join: ca.Function
    joined: tuple[str | int, ...]
    sizes: dict[str, int]


class EvaluatedLoops:
    """Loops as nodes: what Evaluated is for straight lines."""

    def __init__(
        self,
        f: Loops,
        label: str,
        sizes: dict[str, int],
        streams: dict[str, Stream],
        tables: dict[str, np.ndarray],
    ) -> None:
        sizes |= f.sizes
        self.f, self.split = f, SliceFunction(f.split, label, sizes, streams, tables)

    def __call__(self, ins: Sequence[str], outs: Sequence[str]) -> list[Node]:
        joined = tuple(x if isinstance(x, str) else ins[x] for x in self.f.joined)
        return [*self.split(ins, self.f.parts), *self.f.kernels, Kernel(self.f.join, joined, tuple(outs))]


def evaluated(
    f: ca.Function | Staged | Loops,
    label: str,
    sizes: dict[str, int],
    streams: dict[str, Stream],
    tables: dict[str, np.ndarray],
) -> SliceFunction | EvaluatedLoops:
    """A function over slices of a workspace; `sizes`, `streams` and `tables` gain what it needs."""
    if isinstance(f, Loops):
        return EvaluatedLoops(f, label, sizes, streams, tables)
    return SliceFunction(f, label, sizes, streams, tables)


def compiled(rows: Composite, name: str, W: int) -> External:
    """Machine code for W lanes. It writes all lanes, so that its results are for use at once."""
    return compile_kernel(rows, f"simulate.{name}", W)
