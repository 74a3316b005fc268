"""Forward dynamics of a tree of mobilized bodies: the articulated-body algorithm, O(n).

Frames and notation as in kinematics.py; inertias as in inertia.py.

Equations
  A = shift(A_P, r) + c + sum_k h_k udot_k                                              (1)
  inward, tip to base; z <- z + P c, then for each speed k of B in turn
    U = P h,  D = h' U,  eps = (tau_k - h' z) / D                                       (2)
    P <- P - U U' / D,  z <- z + U eps                                                  (3)
  to the parent:  P_P += shift(P, r),  z_P += shift(z, r)                               (4)
  outward, base to tip, speeds in reverse order of their elimination
    udot_k = eps_k - U_k' A / D_k,  A <- A + h_k udot_k      (A without c)              (5)
A d-dof mobilizer is d rank-one steps (2)-(3): no matrix is inverted. A locked speed has D + infinity for D: its udot is
exactly zero and P passes whole to the parent. Gravity is an upward acceleration of ground.
"""
from __future__ import annotations

import casadi as ca

from condyle.dynamics.inertia import (
    add,
    add_inertia,
    add_scaled,
    apply,
    gyroscopic,
    inner,
    rigid,
    shift_force,
    shift_inertia,
    shift_motion,
    symmetric,
)
from condyle.dynamics.inline import inlined
from condyle.dynamics.kinematics import Kinematics, Pair
from condyle.tree.tree import Tree


@inlined
def eliminate(P, z, h, tau, lock):
    """One speed: (2) and (3)."""
    I, J, M = P
    n, f = I @ h[0] + J @ h[1], J.T @ h[0] + M @ h[1]                                        # U
    D = ca.dot(h[0], n) + ca.dot(h[1], f) + lock
    eps = (tau - ca.dot(h[0], z[0]) - ca.dot(h[1], z[1])) / D
    g = f / D
    P = symmetric(I - n @ (n / D).T), J - n @ g.T, symmetric(M - f @ g.T)
    return P, (z[0] + n * eps, z[1] + f * eps), (n / D, g), eps


def forward_dynamics(tree: Tree, kin: Kinematics, tau: ca.SX, lock: ca.SX, gravity: ca.SX, at_rest: bool = False) -> ca.SX:
    """udot, shape (nu,), under generalised forces tau. `lock`: 0, or infinity for a locked speed. `at_rest`: no velocities,
    no bias: the solution of M udot = tau when gravity is zero."""
    taus, locks = ca.vertsplit(tau) if tree.nu else [], ca.vertsplit(lock) if tree.nu else []
    zero = ca.SX(3, 1), ca.SX(3, 1)
    P, z = {}, {}
    for B in tree.base_to_tip:
        body = kin.placed[B].mass_properties
        P[B], p_c = rigid(kin.R_GM[B], body.mass, body.com, body.inertia_about_origin())
        z[B] = zero if at_rest else gyroscopic(P[B], body.mass, p_c, kin.V_GM[B][0])
    step: dict[int, tuple[Pair, ca.SX]] = {}
    for B in tree.tip_to_base:
        if not at_rest:
            z[B] = add(z[B], apply(P[B], kin.c[B]))
        for k in tree.speeds_of(B):
            P[B], z[B], *step[k] = eliminate(P[B], z[B], kin.H[k], taus[k], locks[k])        # (2), (3)
        if (parent := tree.parent(B)) is not None:
            P[parent] = add_inertia(P[parent], shift_inertia(P[B], kin.p_PM[B]))             # (4)
            z[parent] = add(z[parent], shift_force(z[B], kin.p_PM[B]))
    A: dict[int | None, Pair] = {None: (ca.SX(3, 1), -gravity)}
    udot = {}
    for B in tree.base_to_tip:
        a = shift_motion(A[tree.parent(B)], kin.p_PM[B])
        for k in reversed(tree.speeds_of(B)):
            U_D, eps = step[k]
            udot[k] = eps - inner(U_D, a)                                                    # (5)
            a = add_scaled(a, kin.H[k], udot[k])
        A[B] = a if at_rest else add(a, kin.c[B])                                            # (1)
    return ca.vertcat(ca.SX(0, 1), *(udot[k] for k in range(tree.nu)))
