"""The cost of goals, its gradient and its Gauss-Newton matrix, summed up at one configuration.

Along q + N du, with the errors e of a goal, their Jacobian J and the weight w,

    cost = 1/2 sum w |e|^2,     g = sum J' w e,     H = sum J' w J                                         (1)

Goals add to it in two ways. A few rows of J are added directly (`add_rows`). Where many points of a body pull
at it, (1) is mechanics: H is the mass matrix of a tree that has the weights as point masses, -g the
generalized forces of the springs w e. So loads and inertias of bodies are gathered (`add_load`,
`add_inertia`), and the recursions of dynamics compute both, in O(n) and O(n depth).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca

from condyle.arrays import SX
from condyle.dynamics import mass_matrix, rnea
from condyle.dynamics.kinematics import Kinematics
from condyle.dynamics.view import TreeLoads
from condyle.model.symbols import Symbols


class GoalCost:
    """The sums of the goals so far.

    Attributes:
        symbols: of the configuration.
        kin: its kinematics.
        view: the configuration as laws see it.
        value: the cost.
    """

    def __init__(self, symbols: Symbols, kin: Kinematics) -> None:
        self.symbols, self.kin, self.view, self.value = symbols, kin, symbols.view(kin), ca.SX(0)
        self._loads = TreeLoads(self.view)
        self._bodies = [replace(b, mass=ca.SX(1, 1), com=ca.SX(3, 1), I=ca.SX(3, 3)) for b in kin.placed]
        self._rows: list[tuple[ca.SX, ca.SX, ca.SX]] = []

    def add_rows(self, error: SX, J: SX, w: SX) -> None:
        """Add a goal by its errors (k,), their Jacobian along the manifold (k, nu), and its weight."""
        self.value += w * ca.dot(error, error) / 2
        self._rows.append((error, ca.sparsify(J), w))

    def add_load(self, B: int, moment: SX, force: SX, cost: SX) -> None:
        """Add a pull at a body: moment about M's origin and force, in ground, and the cost that they lower."""
        now = self._loads.bodies.get(B)
        self._loads.bodies[B] = (moment, force) if now is None else (now[0] + moment, now[1] + force)
        self.value += cost

    def add_points(self, B: int, W: SX, m: SX, S: SX) -> None:
        """Add point masses on a body: sums of w, w s and w s s' over stations s in the body's frame. Once per
        body.
        """
        b = self._bodies[B]
        mass, com, I = point_masses(b.R_MB, b.p_MB, W, m, S)
        self._bodies[B] = replace(b, mass=mass, com=com, I=b.I + I)

    def add_inertia(self, B: int, w: SX) -> None:
        """Add inertia w against rotation of a body, about any axis."""
        self._bodies[B] = replace(self._bodies[B], I=self._bodies[B].I + w * ca.SX.eye(3))

    def total(self) -> tuple[SX, SX, SX]:
        """The cost, g (nu,) and H (nu, nu) of (1)."""
        tree = self.symbols.model.tree
        g = -rnea.generalized(tree, self.kin, self._loads)
        H = mass_matrix.mass_matrix(tree, replace(self.kin, placed=self._bodies))
        for error, J, w in self._rows:
            g, H = g + J.T @ (w * error), H + w * (J.T @ J)
        return self.value, g, H


def point_masses(R_MB: Any, p_MB: Any, W: SX, m: SX, S: SX) -> tuple[SX, SX, SX]:
    """Mass, mass center and inertia about M's origin, in M, of sums over stations in the body's frame: see
    `GoalCost.add_points`."""
    R, p = ca.SX(ca.DM(R_MB)) if not isinstance(R_MB, ca.SX) else R_MB, ca.SX(p_MB)
    Rm = R @ m
    second = R @ S @ R.T + Rm @ p.T + p @ Rm.T + W * (p @ p.T)
    return W, (Rm + W * p) / ca.if_else(W > 0, W, 1), ca.trace(second) * ca.SX.eye(3) - second
