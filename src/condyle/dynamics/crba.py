"""The mass matrix by composite rigid bodies.

  C_B = M_B + sum over children shift(C_child, r_child)                                 (1)
  F = C_B h_k,  M_jk = h_j' F  for speeds j of B and, F shifted along, of its ancestors (2)
Speeds that move several bodies have the sum of (2) over these; a speed that moves B and an ancestor of it
meets itself there, twice, as M_jk and as M_kj.
"""

from __future__ import annotations

import casadi as ca

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


def mass_matrix(tree: Tree, kin: Kinematics) -> ca.SX:
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
