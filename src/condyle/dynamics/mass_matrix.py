"""The mass matrix by composite rigid bodies, its factors, and forward dynamics from these where bodies share
speeds.

  C_B = M_B + sum over children shift(C_child, r_child)                                 (1)
  F = C_B h_k,  M_jk = h_j' F  for speeds j of B and, F shifted along, of its ancestors (2)
Speeds that move several bodies have the sum of (2) over these; a speed that moves B and an ancestor of it
meets itself there, twice, as M_jk and as M_kj.

Factors M = L' D L keep the sparsity of the tree: the entry of two speeds on different branches is zero and
stays so (Featherstone 2008, section 6.5). Speeds that move several bodies tie their branches together.

A speed k that moves bodies B1, B2, ... relative to their parents (Body.follows) has a column h in H of each.
Whatever is a sum over bodies stays one: poses and velocities (kinematics.py), inverse dynamics (rnea.py), M,
Jacobians. The articulated-body algorithm is none: eliminating k at B1 would need the acceleration of B2's
parent. With h = tau at udot = 0 of rnea.py,

  M = L' D L,   udot = M^-1 (tau - h)                                                   (3)

is exact for any arrangement: B2 beside B1, beyond it, before it or elsewhere. L has no more entries than the
branches that are tied together have. A held speed has D + infinity for D, so that its udot is the
acceleration a that it is given, and the others have M a on their right-hand side. The status is 1 + the last
speed with

  not D > 1e-13 M_kk                                                                    (4)

where what is left is the rounding of sums.
"""

from __future__ import annotations

import casadi as ca

from condyle.arrays import SX
from condyle.dynamics.inertia import Inertia, add_inertia, apply, inner, rigid, shift_force, shift_inertia
from condyle.dynamics.kinematics import Kinematics
from condyle.tree.tree import Tree


def composite_inertias(tree: Tree, kin: Kinematics) -> dict[int, Inertia]:
    """C of (1): each body with all that it carries as one rigid body, about M's origin, in ground."""
    C = {B: rigid(kin.R_GM[B], body.mass, body.com, body.I)[0] for B, body in enumerate(kin.placed)}
    for B in tree.tip_to_base:
        if (parent := tree.parent(B)) is not None:
            C[parent] = add_inertia(C[parent], shift_inertia(C[B], kin.p_PM[B]))  # (1)
    return C


def mass_matrix(tree: Tree, kin: Kinematics) -> SX:
    """M(q), shape (nu, nu), symmetric."""
    C = composite_inertias(tree, kin)
    M = ca.SX(tree.nu, tree.nu)
    for B in tree.base_to_tip:
        for k, h in zip(tree.speeds_of(B), kin.H[B], strict=True):
            F, A = apply(C[B], h), B
            while True:
                for j, h_j in zip(tree.speeds_of(A), kin.H[A], strict=True):
                    if A == B and j > k:
                        continue
                    M_jk = inner(h_j, F)  # (2)
                    M[j, k] += M_jk
                    if j != k or A != B:
                        M[k, j] += M_jk
                parent = tree.parent(A)
                if parent is None:
                    break
                F, A = shift_force(F, kin.p_PM[A]), parent
    return M


def factorization(tree: Tree, M: SX, lock: SX) -> tuple[SX, ca.Function]:
    """Factors of M, and solve(factors, b) -> M^-1 b; locked speeds answer zero."""
    before, places = before_each(tree), entries_of(tree)
    M = M + ca.diag(lock)
    m, b = ca.SX.sym("m", len(places)), ca.SX.sym("b", tree.nu)
    factor = ca.Function(
        "factor", [m], [_factor(tree.nu, before, dict(zip(places, ca.vertsplit(m), strict=True)))]
    )
    solve = ca.Function(
        "solve", [m, b], [_solve(tree.nu, before, dict(zip(places, ca.vertsplit(m), strict=True)), b)]
    )
    return factor.call([ca.vertcat(*(M[k, j] for k, j in places))], True, False)[0], solve


def entries_of(tree: Tree) -> list[tuple[int, int]]:
    """Places (k, j) of M's entries in the order of the factors: speed by speed, its own first, then those
    before it."""
    return [(k, j) for k, before in enumerate(before_each(tree)) for j in (k, *before)]


def before_each(tree: Tree) -> list[list[int]]:
    """For each speed, the speeds that come before it on its path to ground, nearest first. Where bodies share
    speeds, paths are those of the elimination tree of M: one leads through all that meet in the factors."""
    if tree.shares:
        return _chains(tree)
    out: list[list[int]] = []
    for B in tree.base_to_tip:
        above = [k for A in tree.path(B)[:-1] for k in tree.speeds_of(A)]
        for k in tree.speeds_of(B):
            out.append(above[::-1])
            above.append(k)
    return out


def _chains(tree: Tree) -> list[list[int]]:
    """Paths of the elimination tree: speeds that move a body meet in M, and those before a speed meet each
    other when it is eliminated."""
    meet: list[set[int]] = [set() for _ in range(tree.nu)]
    for B in tree.base_to_tip:
        moving = {k for A in tree.path(B) for k in tree.speeds_of(A)}
        for k in moving:
            meet[k] |= {j for j in moving if j < k}
    for k in reversed(range(tree.nu)):
        if meet[k]:
            nearest = max(meet[k])
            meet[nearest] |= meet[k] - {nearest}
    out: list[list[int]] = []
    for mine in meet:
        out.append([max(mine), *out[max(mine)]] if mine else [])
    return out


def _factor(n: int, before: list[list[int]], m: dict[tuple[int, int], SX]) -> SX:
    """L below and D on the diagonal, in the order of m: Featherstone's L' D L without fill-in."""
    for k in reversed(range(n)):
        for depth, j in enumerate(before[k]):
            ratio = m[k, j] / m[k, k]
            for i in before[k][depth:]:
                m[j, i] = m[j, i] - ratio * m[k, i]
            m[k, j] = ratio
    return ca.vertcat(*m.values())


def _solve(n: int, before: list[list[int]], L: dict[tuple[int, int], SX], b: SX) -> SX:
    x = ca.vertsplit(b)
    for k in reversed(range(n)):
        for j in before[k]:
            x[j] = x[j] - L[k, j] * x[k]
    x = [x[k] / L[k, k] for k in range(n)]
    for k in range(n):
        for j in before[k]:
            x[k] = x[k] - L[k, j] * x[j]
    return ca.vertcat(*x)


SMALLEST_PIVOT = 1e-13
"""Of (4)."""


class MassMatrixFactors:
    """M and its factors at one state.

    Args:
        lock: 0, or infinity where a speed is held, (nu,).

    Attributes:
        M: (nu, nu).
        status: (4).
    """

    def __init__(self, tree: Tree, kin: Kinematics, lock: SX) -> None:
        self.M = M = mass_matrix(tree, kin)
        self._factor, self._solve = factorization(tree, M, lock)
        self.status = ca.SX(0)
        for D, (k, j) in zip(ca.vertsplit(self._factor), entries_of(tree), strict=True):
            if j == k:
                self.status = ca.if_else(SMALLEST_PIVOT * M[k, k] < D, self.status, k + 1)  # (4)

    def solve(self, f: SX) -> SX:
        """M^-1 f, (nu,); held speeds answer zero (3)."""
        return self._solve.call([self._factor, ca.densify(f)], True, False)[0]
