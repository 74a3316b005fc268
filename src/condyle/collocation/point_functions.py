"""Functions at points: values, Jacobian and Hessian of mu.F over y as machine code, for all points at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array
from condyle.native.calls.native_function import NativeFunction
from condyle.native.machine import cache
from condyle.native.tables.lookup import Context, current_context, lookup_context
from condyle.native.tables.staged import build_function
from condyle.records import dataclass

STEP = 1e-5
"""Step of finite differences for second derivatives, relative to the larger of 1 and the variable."""
WORDS = {"F": "values", "J": "first derivatives", "H": "second derivatives"}
Expressions = Callable[[], tuple[SX, SX, SX, Context | None]]
"""Creates the symbols y and d and the expression F, and returns the trace of F, if not this one."""


@dataclass(frozen=True, eq=False)
class Derived:
    """Expressions with their derivatives, and the trace that they belong to."""

    y: Any
    d: Any
    mu: Any
    F: Any
    J: Any
    H: Any
    context: Context


@dataclass(frozen=True, eq=False)
class DerivativePattern:
    """Which entries of Jacobian and Hessian, its lower half, there are.

    Attributes:
        size: of F.
        jacobian: rows and columns, shape (2, nnz).
        hessian: rows and columns, shape (2, nnz).
    """

    size: int
    jacobian: Any
    hessian: Any


class PointFunction:
    """F(y, d) with its derivatives over y. Machine code and patterns are cached on disk.

    Args:
        name: for messages.
        key: text that determines the expressions.
        build: creates them. y: size of y.
        d: size of d.
        hessian: second derivatives are needed.
        known: the expressions have them; else finite differences of first derivatives are used.
    """

    def __init__(
        self,
        name: str,
        key: str,
        build: Expressions,
        y: int,
        d: int,
        hessian: bool = True,
        known: bool = True,
    ) -> None:
        self.name, self.key, self.y, self.d, self.hessian, self.known = name, key, y, d, hessian, known
        self._build = build
        self._derived: Derived | None = None
        self._kernels: dict[str, NativeFunction] = {}
        self.pattern = self._pattern()
        sizes = {"F": [self.pattern.size]}
        sizes["J"] = [self.pattern.size, self.pattern.jacobian.shape[1]]
        sizes["H"] = [self.pattern.hessian.shape[1]]
        for kind, out in sizes.items():
            inputs = [("y", y), ("d", d)] + [("mu", self.pattern.size)] * (kind == "H")
            self._kernels[kind] = NativeFunction(
                f"{name}: {WORDS[kind]}",
                lambda kind=kind: self._function(kind),  # type: ignore[misc]
                key=f"{kind} {name}\n{key}",
                inputs=inputs,
                outputs=[(f"o{i}", n) for i, n in enumerate(out)],
            )

    @property
    def size(self) -> int:
        return self.pattern.size

    def values(self, y: Array, d: Array) -> Array:
        """F at points, shape (k, size)."""
        return self._kernels["F"](y, d, threads=1)

    def jacobians(self, y: Array, d: Array) -> tuple[Array, Array]:
        """F and the entries of its Jacobian, shapes (k, size) and (k, nnz)."""
        found: tuple[Array, Array] = self._kernels["J"](y, d, threads=1)
        return found

    def hessians(self, y: Array, d: Array, mu: Array) -> Array:
        """Entries of the Hessian of mu.F, shape (k, nnz)."""
        if not self.pattern.hessian.shape[1]:
            return np.zeros((len(y), 0))
        return self._kernels["H"](y, d, mu, threads=1) if self.known else self._differences(y, d, mu)

    def _differences(self, y: Array, d: Array, mu: Array) -> Array:
        """The Hessian from the Jacobian at y +- STEP, one variable at a time."""
        rows, columns = self.pattern.jacobian
        into = np.equal.outer(columns, np.arange(self.y)).astype(float)
        steps = STEP * np.maximum(1.0, np.abs(y))
        H = np.zeros((len(y), self.y, self.y))
        for k in range(self.y):
            for sign in (1.0, -1.0):
                moved = y.copy()
                moved[:, k] += sign * steps[:, k]
                H[:, k] += (
                    sign * (self.jacobians(moved, d)[1] * mu[:, rows]) @ into / (2 * steps[:, k : k + 1])
                )
        i, j = self.pattern.hessian
        return np.ascontiguousarray((H[:, i, j] + H[:, j, i]) / 2)

    # ---- expressions ---------------------------------------------------------------------------------------

    def _expressions(self) -> Derived:
        if self._derived is None:
            with lookup_context():
                y, d, F, context = self._build()
                context = context or current_context()
            with lookup_context(context):
                F = ca.densify(ca.vec(F))
                mu = ca.SX.sym("mu", F.numel())
                J = ca.jacobian(F, y)
                H = ca.SX(y.numel(), y.numel())
                if self.hessian and not self.known:
                    H = ca.tril(ca.SX.ones(y.numel(), y.numel()))
                elif self.hessian:
                    H = ca.tril(ca.jacobian(ca.jtimes(F, y, mu, True), y))
                self._derived = Derived(y, d, mu, F, J, ca.sparsify(H), context)
        return self._derived

    def _pattern(self) -> DerivativePattern:
        key = f"pattern {self.name} {self.hessian} {self.known}\n{self.key}"

        def load(code: bytes, facts: Any) -> DerivativePattern:
            sizes = facts["sizes"]
            numbers = np.frombuffer(code, dtype=np.int64)
            J, H = np.split(numbers, [2 * sizes[1]])
            return DerivativePattern(sizes[0], J.reshape(2, -1), H.reshape(2, -1))

        found = cache.loaded(key, load)
        if found is not None:
            return found
        e = self._expressions()
        J, H = (np.array(x.sparsity().get_triplet(), dtype=np.int64).reshape(2, -1) for x in (e.J, e.H))
        cache.store(key, J.tobytes() + H.tobytes(), {"sizes": [e.F.numel(), J.shape[1]]})
        return DerivativePattern(e.F.numel(), J, H)

    def _function(self, kind: str) -> Any:
        e = self._expressions()
        with lookup_context(e.context):
            inputs, outputs = [e.y, e.d], {"F": [e.F], "J": [e.F, e.J.nz[:]], "H": [e.H.nz[:]]}[kind]
            if kind == "H":
                inputs.append(e.mu)
            outputs = ca.cse([ca.densify(ca.vec(x)) for x in outputs])
            return build_function(f"{kind}_at_points", inputs, outputs)
