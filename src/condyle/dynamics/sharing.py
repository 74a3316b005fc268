"""Forward dynamics of trees in which bodies share speeds (Body.follows): the mass matrix and its factors.

A speed k that moves bodies B1, B2, ... relative to their parents has a column h in H of each. Whatever is a
sum over bodies stays one: poses and velocities (kinematics.py), inverse dynamics (rnea.py), M (crba.py),
Jacobians. The articulated-body algorithm is none: eliminating k at B1 would need the acceleration of B2's
parent. Here

    M = sum over bodies of J' M_B J,    h = tau at udot = 0                   crba.py, rnea.py     (1)
    M = L' D L,   udot = M^-1 (tau - h)                                       factors.py           (2)

which is exact for any arrangement: B2 beside B1, beyond it, before it or elsewhere. L has no more entries
than the branches that are tied together have. A held speed has D + infinity for D, so that its udot is the
acceleration a that it is given, and the others have M a on their right-hand side. The status is 1 + the last
speed with

    not D > 1e-13 M_kk                                                                             (3)

where what is left is the rounding of sums.
"""

from __future__ import annotations

import casadi as ca

from condyle.dynamics.crba import mass_matrix
from condyle.dynamics.factors import entries_of, factorization
from condyle.dynamics.kinematics import Kinematics
from condyle.tree.tree import Tree

SMALLEST_PIVOT = 1e-13
"""Of (3)."""


class Factors:
    """M of (1) and its factors at one state.

    Args:
        lock: 0, or infinity where a speed is held, (nu,).

    Attributes:
        M: (nu, nu).
        status: (3).
    """

    def __init__(self, tree: Tree, kin: Kinematics, lock: ca.SX) -> None:
        self.M = M = mass_matrix(tree, kin)
        self._factor, self._solve = factorization(tree, M, lock)
        self.status = ca.SX(0)
        for D, (k, j) in zip(ca.vertsplit(self._factor), entries_of(tree), strict=True):
            if j == k:
                self.status = ca.if_else(SMALLEST_PIVOT * M[k, k] < D, self.status, k + 1)  # (3)

    def solve(self, f: ca.SX) -> ca.SX:
        """M^-1 f, (nu,); held speeds answer zero (2)."""
        return self._solve.call([self._factor, ca.densify(f)], True, False)[0]
