"""Methods that move coordinates by new speeds: semi-explicit Euler and velocity Verlet.

Velocity Verlet is implicit in u, and the same forward and backward:

    u' = u + h/2 udot(t, q, u),   q+ = q + h N((q + q+)/2) u',   u+ = u' + h/2 udot(t + h, q+, u+)         (1)

and z by the trapezoidal rule. Where N = 1 the middle equation is explicit, q + h u + h^2/2 udot. The error is
estimated by the change of f over the step, h/2 (f+ - f): the part that Euler's method, of order 1, leaves
out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.integrate.integrators.base import Method, MethodStep
from condyle.records import dataclass

if TYPE_CHECKING:
    from condyle.integrate.equations import EquationsOfMotion, RightHandSide
    from condyle.integrate.projection import Rate

CONVERGED, ROUNDS = 1e-14, 50
"""Implicit parts are iterated until changes are below this fraction of 1 + |y|; and the largest number of
iterations."""


@dataclass(frozen=True)
class Verlet(Method):
    """Velocity Verlet: reversible, and of bounded energy error."""

    name: str = "verlet"
    order: int = 2
    estimate: int = 2

    def step(
        self, eq: EquationsOfMotion, rate: Rate, rhs: RightHandSide, sizes: dict[str, int]
    ) -> MethodStep:
        from condyle.native.programs.nodes import While, kernel

        n, nq, nu, qdot = eq.n, eq.nq, eq.nu, eq.qdot()
        sizes |= {"half": nu, "q_next": nq, "k_next": n, "turning": 1, "moving": 1, "loose": 1}
        q, u, t = ca.SX.sym("q", nq), ca.SX.sym("u", nu), ca.SX.sym("t")
        plain = nq == nu and (qdot(t, q, u) - u).is_zero()

        def changed(new: SX, old: SX) -> SX:
            change = ca.mmax(ca.fabs(new - old) / (1 + ca.fabs(new))) if new.numel() else ca.SX(0)
            return ca.if_else(change < np.inf, change > CONVERGED, np.nan)

        def begin(t: SX, y: SX, h: SX, k0: SX) -> tuple[SX, ...]:
            half = y[nq : nq + nu] + h / 2 * k0[nq : nq + nu]
            return (
                half,
                y[:nq] + h * qdot(t, y[:nq], half),
                t + h,
                ca.SX(0 if plain else 1),
                ca.SX(1),
                ca.SX(0),
            )

        def turn(t: SX, y: SX, h: SX, half: SX, q_next: SX) -> tuple[SX, SX]:
            new = y[:nq] + h * qdot(t + h / 2, (y[:nq] + q_next) / 2, half)
            return new, changed(new, q_next)

        def move(
            y: SX, h: SX, half: SX, q_next: SX, y_next: SX, k0: SX, k: SX, evaluations: SX
        ) -> tuple[SX, ...]:
            z = y[nq + nu :] + h / 2 * (k0[nq + nu :] + k[nq + nu :])
            new = ca.vertcat(q_next, half + h / 2 * k[nq : nq + nu], z)
            return new, changed(new, y_next), evaluations + 1

        def predict(y: SX, h: SX, k0: SX, q_next: SX) -> SX:
            return ca.vertcat(q_next, (y + h * k0)[nq:])

        return MethodStep(
            [
                kernel(begin, "t y h_try k0", "half q_next t_stage turning moving loose", sizes),
                While(
                    "turning", kernel(turn, "t y h_try half q_next", "q_next turning", sizes), ROUNDS, "loose"
                ),
                kernel(predict, "y h_try k0 q_next", "y_next", sizes),
                While(
                    "moving",
                    [
                        rate("t_stage", "y_next", "k_next"),
                        kernel(
                            move,
                            "y h_try half q_next y_next k0 k_next evaluations",
                            "y_next moving evaluations",
                            sizes,
                        ),
                    ],
                    ROUNDS,
                    "loose",
                ),
                kernel(
                    lambda y, loose, h, k0, k: (ca.if_else(loose, np.nan, y), h / 2 * (k - k0)),
                    "y_next loose h_try k0 k_next",
                    "y_next error",
                    sizes,
                    "converged",
                ),
            ],
            0,
        )


@dataclass(frozen=True)
class SemiExplicitEuler(Method):
    """u+ = u + h udot,   q+ = q + h N(q) u+,   z+ = z + h zdot."""

    name: str = "semi-explicit-euler"
    order: int = 1

    def step(
        self, eq: EquationsOfMotion, rate: Rate, rhs: RightHandSide, sizes: dict[str, int]
    ) -> MethodStep:
        from condyle.native.programs.nodes import kernel

        nq, nu, qdot = eq.nq, eq.nu, eq.qdot()

        def advance(t: SX, y: SX, h: SX, k0: SX) -> SX:
            y_next = y + h * k0
            u = y_next[nq : nq + nu]
            return ca.vertcat(y[:nq] + h * qdot(t, y[:nq], u), u, y_next[nq + nu :])

        return MethodStep([kernel(advance, "t y h_try k0", "y_next", sizes)], 0)
