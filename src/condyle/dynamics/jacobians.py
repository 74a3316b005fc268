"""Jacobians of points and frames fixed on bodies.

  V_S = J u,   column k of an ancestor A:  (H_w,k, H_w,k x (p_GS - p_GA) + H_v,k)       (1)
A speed that moves several ancestors has the sum of their columns.
"""

from __future__ import annotations

import casadi as ca

from condyle.dynamics.inertia import shift_motion
from condyle.dynamics.kinematics import Kinematics
from condyle.tree.tree import Tree


def frame_jacobian(tree: Tree, kin: Kinematics, B: int, p_MS: ca.SX) -> ca.SX:
    """J, shape (6, nu), of a frame at p_MS in B's frame M: its spatial velocity in ground is J u."""
    p_GS = kin.p_GM[B] + kin.R_GM[B] @ p_MS
    J = ca.SX(6, tree.nu)
    for A in tree.path(B):
        for k, h in zip(tree.speeds_of(A), kin.H[A], strict=True):
            J[:, k] += ca.vertcat(*shift_motion(h, p_GS - kin.p_GM[A]))  # (1)
    return J
