"""Inverse dynamics: the recursive Newton-Euler algorithm, O(n).

Equations (frames and notation as in kinematics.py)
  A = shift(A_P, r) + c + sum_k h_k udot_k                                              (1)
  F = M A + gyroscopic - loads + sum over children shift(F_child, r_child)              (2)
  tau_k = h_k' F - loads_k                                                              (3)
F is what the mobilizer exerts on the body, at M's origin, in ground: the reaction, tau included.
"""
from __future__ import annotations

import casadi as ca

from condyle.dynamics.inertia import add, add_scaled, apply, gyroscopic, inner, rigid, shift_force, shift_motion
from condyle.dynamics.kinematics import Kinematics, Pair
from condyle.dynamics.view import Loads
from condyle.tree.tree import Tree


def mobilizer_forces(tree: Tree, kin: Kinematics, udot: ca.SX, gravity: ca.SX, loads: Loads
                     ) -> dict[int, Pair]:
    """F of (2) for every body."""
    udots = ca.vertsplit(udot) if tree.nu else []
    A: dict[int | None, Pair] = {None: (ca.SX(3, 1), -gravity)}
    F: dict[int, Pair] = {}
    for B in tree.base_to_tip:
        a = add(shift_motion(A[tree.parent(B)], kin.p_PM[B]), kin.c[B])
        for k in tree.speeds_of(B):
            a = add_scaled(a, kin.H[k], udots[k])                                            # (1)
        A[B] = a
        body = kin.placed[B]
        M_B, p_c = rigid(kin.R_GM[B], body.mass, body.com, body.I)
        F[B] = add(apply(M_B, a), gyroscopic(M_B, body.mass, p_c, kin.V_GM[B][0]))
        if B in loads.bodies:
            F[B] = add_scaled(F[B], loads.bodies[B], -1)
    for B in tree.tip_to_base:
        if (parent := tree.parent(B)) is not None:
            F[parent] = add(F[parent], shift_force(F[B], kin.p_PM[B]))                       # (2)
    return F


def inverse_dynamics(tree: Tree, kin: Kinematics, udot: ca.SX, gravity: ca.SX, loads: Loads) -> ca.SX:
    """tau, shape (nu,): what must be added to the forces that act for udot to happen."""
    F = mobilizer_forces(tree, kin, udot, gravity, loads)
    tau = {k: inner(kin.H[k], F[B]) for B in tree.base_to_tip for k in tree.speeds_of(B)}                # (3)
    return ca.vertcat(ca.SX(0, 1), *(tau[k] - loads.mobility.get(k, 0) for k in range(tree.nu)))
