"""Semi-explicit Euler: the new speeds move the coordinates."""

from __future__ import annotations

import casadi as ca

from condyle.integrate.equations import EquationsOfMotion, RightHandSide
from condyle.integrate.integrators.base import Method, MethodStep
from condyle.integrate.projection import Rate
from condyle.native.programs.nodes import kernel
from condyle.records import dataclass


@dataclass(frozen=True)
class SemiExplicitEuler(Method):
    """u+ = u + h udot,   q+ = q + h N(q) u+,   z+ = z + h zdot."""

    name: str = "semi-explicit-euler"
    order: int = 1

    def step(
        self, eq: EquationsOfMotion, rate: Rate, rhs: RightHandSide, sizes: dict[str, int]
    ) -> MethodStep:
        nq, nu, qdot = eq.nq, eq.nu, eq.qdot()

        def advance(t: ca.SX, y: ca.SX, h: ca.SX, k0: ca.SX) -> ca.SX:
            y_next = y + h * k0
            u = y_next[nq : nq + nu]
            return ca.vertcat(y[:nq] + h * qdot(t, y[:nq], u), u, y_next[nq + nu :])

        return MethodStep([kernel(advance, "t y h_try k0", "y_next", sizes)], 0)
