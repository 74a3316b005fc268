"""Solutions of equations in expressions: a solver finds x, the equation gives its derivatives.

With x* the root of r(x, p) = 0 as a solver found it, constant for derivatives, and J = dr/dx at x*, k steps

    x_0 = x*,   x_i+1 = x_i - J^-1 r(x_i, p)                                                               (1)

have the value x*, and all derivatives with respect to p up to the k-th are those of the root. Proof: if p
changes by d, the root moves to y(p + d), |x_0 - y| = O(d), and J(x*, p + d) differs from dr/dx between x_i
and y by O(d), so that

    x_i+1 - y = (1 - J^-1 dr/dx) (x_i - y) = O(d) (x_i - y) = O(d^(i+2))                                   (2)

Automatic differentiation of (1) thus is the implicit function theorem, in forward and reverse, within any
operator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.errors import DescriptionError
from condyle.native.solvers.solver import Solver
from condyle.native.tables.lookup import look_up

Residual = Callable[[ca.SX, ca.SX], Any]


def implicit(solver: Solver, residual: Residual, p: SX, order: int = 1, unknowns: int | None = None) -> SX:
    """The row of a solver at p whose first elements, the unknowns of an equation, have derivatives: (1).

    Args:
        solver: its first results are the root x.
        residual: residual(x, p) over SX, as many equations as unknowns.
        p: expressions, shape (needs,).
        order: derivatives up to this order are exact: 1 for Jacobians, 2 if these are differentiated again.
        unknowns: size of x; all results of the solver by default.

    Returns:
        x, then the other results of the solver, its status last. Only x has derivatives.
    """
    n = solver.width - 1 if unknowns is None else unknowns
    y, a = ca.SX.sym("x", n), ca.SX.sym("p", solver.needs)
    r = ca.densify(ca.vec(ca.SX(residual(y, a))))
    if not 1 <= n < solver.width or r.numel() != n or order < 1:
        raise DescriptionError(
            f"implicit: {r.numel()} equations, {n} unknowns, order {order}; expected as "
            f"many equations as unknowns, 1 to {solver.width - 1} (the results of "
            f"{solver.name!r}), and order 1 or more"
        )
    f = ca.Function("residual", [y, a], [r, ca.densify(ca.jacobian(r, y))])
    p = ca.densify(ca.vec(ca.SX(p)))
    row = look_up(solver, p)
    x = row[:n]
    J = f.call([x, p], True, False)[1]
    for _ in range(order):
        x = x - ca.solve(J, f.call([x, p], True, False)[0])  # (1)
    return ca.vertcat(x, row[n:])


def bracketed(
    name: str,
    residual: Residual,
    needs: int,
    low: Callable[[SX], Any],
    high: Callable[[SX], Any],
    tol: float = 1e-10,
    limit: int = 100,
) -> Solver:
    """The root x of one increasing function between two bounds: Newton's method, with bisection where a
    step would leave the bracket.

        r(low) <= 0 <= r(high);   until a step is at most tol (1 + |x|)

    Args:
        residual: residual(x, p), one number.
        low: a lower bound as a function of p.
        high: an upper bound. If there is no root between the bounds, the status is NAN.
        tol: size of the last step; the remaining error is about its square.
        limit: largest number of steps; bisection alone takes log2((high - low) / tol).

    Returns:
        a solver whose row is x, status.
    """

    def start(p: SX) -> tuple[SX, SX]:
        a, b = ca.SX(low(p)), ca.SX(high(p))
        inside = ca.logic_and(residual(a, p) <= 0, residual(b, p) >= 0)
        return ca.vertcat((a + b) / 2, a, b), ca.if_else(inside, 1, np.nan)

    def step(p: SX, state: SX) -> tuple[SX, SX]:
        x, a, b = ca.vertsplit(state)
        r = ca.SX(residual(x, p))
        a, b = ca.if_else(r <= 0, x, a), ca.if_else(r <= 0, b, x)
        newton = x - r / ca.jacobian(r, x)
        inside = ca.logic_and(newton >= a, newton <= b)
        after = ca.if_else(r == 0, x, ca.if_else(inside, newton, (a + b) / 2))
        size = ca.fabs(after - x)
        far = ca.logic_not(size <= tol * (1 + ca.fabs(after)))
        return ca.vertcat(after, a, b), ca.if_else(ca.fabs(r) < np.inf, far, np.nan)

    return Solver.trace(name, needs, start, step, lambda p, state: state[0], limit)
