"""Many configurations of a system at once, from which goals compute their errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array
from condyle.model.model import description
from condyle.native.calls.native_function import NativeFunction
from condyle.native.tables.staged import build_function
from condyle.records import dataclass
from condyle.system.system import System

if TYPE_CHECKING:
    from condyle.model.symbols import Symbols

_GROUND = np.array([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
"""R by rows, then p."""
AT_ONCE = 512
"""Configurations per NumPy operation, which bounds the memory of intermediate results."""


@dataclass(frozen=True, eq=False)
class Configurations:
    """T configurations.

    Args:
        system: to which they belong.
        q: coordinates, shape (T, nq).
        tail: further inputs of kernels beside q and u, shape (T, k).
    """

    system: System
    q: Array
    tail: Array

    def __len__(self) -> int:
        return len(self.q)

    @cached_property
    def _poses(self) -> Array:
        """R by rows, then p, of all bodies, shape (T, bodies, 12)."""
        return self._poses_in(slice(None))

    def _poses_in(self, frames: slice) -> Array:
        q, tail, compiled = self.q[frames], self.tail[frames], self.system.compiled
        one = len(self.q) == 1
        X = compiled.seldom("body_pose")(q[0], tail[0]) if one else compiled.function("body_pose")(q, tail)
        return X.reshape(len(q), -1, 12)

    def rotation(self, body: str) -> Array:
        """R_GB of a body, shape (T, 3, 3)."""
        return self._poses[:, self.system.body(body).index, :9].reshape(-1, 3, 3)

    def station_position(self, body: str, station: Array) -> Array:
        """A point of a body in ground [m], shape (T, 3); of ground itself (3,)."""
        which = self.system.body(body)
        return station if which.is_ground else self.rotation(body) @ station + self._poses[:, which.index, 9:]

    def station_positions(self, bodies: Sequence[str], stations: Array) -> Array:
        """Points (n, 3) of as many bodies in ground [m], shape (T, n, 3)."""
        index, out = [self.system.body(body).index for body in bodies], np.empty((len(self), len(bodies), 3))
        for start in range(0, len(self), AT_ONCE):
            X = self._poses_in(slice(start, start + AT_ONCE)).transpose(1, 0, 2)
            T = X.shape[1]
            X = np.concatenate(
                [X, np.tile(_GROUND, (1, T, 1))]
            )  # by body, and ground last, whose index is -1
            R, p = X[..., :9].reshape(-1, 3 * T, 3)[index], X[index, :, 9:]
            out[start : start + T] = ((R @ stations[..., None]).reshape(-1, T, 3) + p).transpose(1, 0, 2)
        return out

    def coordinate(self, name: str) -> Array:
        """Values of a coordinate, shape (T,)."""
        return self.q[:, self.system.coordinates.index(name)]

    def evaluate(
        self,
        code: str,
        expression: Callable[[Symbols, SX], SX],
        numbers: Array,
        size: int,
    ) -> Array:
        """Values (T, size) of an expression of positions.

        Args:
            code: text that determines the expression: it is compiled once per text.
            expression: builds it from symbols of a configuration and numbers (k,).
            numbers: shape (T, k).
            size: of a value.
        """

        from condyle.model.symbols import Symbols

        compiled = self.system.compiled
        model, key = compiled.model.code, ("residuals", code)

        def build() -> ca.Function:
            s, x = Symbols(model), ca.SX.sym("x", numbers.shape[1])
            return build_function("residuals", [s["q"], s["tail"], x], [expression(s, x)])  # type: ignore[return-value]

        if key not in compiled.programs:
            compiled.programs[key] = NativeFunction(
                "residuals",
                build,
                key=f"{key}\n{description(model)}",
                data=model.data,
                outputs=[("r", size)],
                inputs=[("q", self.system.nq), ("tail", model.tail_size), ("x", numbers.shape[1])],
            )
        return compiled.programs[key](self.q, self.tail, np.ascontiguousarray(numbers))
