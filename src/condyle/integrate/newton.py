"""Newton's equations (sigma 1 - df/dy) x = b of implicit methods along the tree (model/looped/implicit.py), as
nodes: J is kept as the state where it was taken, factors and solutions take O(n). Where that does not hold, a
method makes the matrix and LAPACK factors it."""

from __future__ import annotations

import casadi as ca

from condyle.integrate.equations import EquationsOfMotion, RightHandSide
from condyle.model.looped.implicit import STATE
from condyle.native.programs.nodes import Kernel, Node, elementwise


class TreeNewton:
    """The nodes; `sizes` gains their slices.

    Args:
        eq: the equations of motion, with `newton`.
        rhs: f over the slices.
        sizes: of the slices.
    """

    def __init__(self, eq: EquationsOfMotion, rhs: RightHandSide, sizes: dict[str, int]) -> None:
        assert eq.newton is not None and rhs.f.loops is not None
        self.eq, self.rhs, self.sizes, self.n = eq, rhs, sizes, eq.n
        self.factors, self.solution = eq.newton
        sizes |= {f"n.{name}": size for name, size in zip(STATE, self.factors.inputs, strict=True)}
        sizes |= {"n.factors": self.factors.outputs[0], "n.x": eq.n}

    def linearize(self, t: str, y: str, k: str) -> list[Node]:
        """J is that at (t, y), where f is k."""
        rates, first = ca.SX.sym("k", self.n), self.eq.nq
        udot = ca.Function("udot", [rates], [rates[first : first + self.eq.nu]])
        parts = self.rhs.f.split((t, y, "p"), ("n.q", "n.u", "n.tail"))
        return [*parts, Kernel(udot, (k,), ("n.udot",))]

    def factor(self, sigma: str) -> list[Node]:
        return [
            elementwise(lambda x: x, [sigma], ["n.sigma"], self.sizes, 1, "sigma"),
            Kernel(self.factors, tuple(f"n.{name}" for name in STATE), ("n.factors",)),
        ]

    def solve(self, x: str) -> list[Node]:
        """x <- (sigma 1 - J)^-1 x."""
        state = ("n.factors", "n.q", "n.u", "n.tail", "n.sigma")
        return [
            Kernel(self.solution, (*state, x), ("n.x",)),
            elementwise(lambda y: y, ["n.x"], [x], self.sizes, self.n, "solved"),
        ]
