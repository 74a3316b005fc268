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

Where a mobilizer has lost rank (gimbal lock, a vanishing tangent), D is nothing but rounding. The status is 1 + the first
speed, tip to base, with
  not D > 1e-12 h' P h,    P before the mobilizer's first elimination                   (6)
and 0 if there is none.
"""
from __future__ import annotations

import casadi as ca

from condyle.dynamics.inertia import (
    Inertia,
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
from condyle.dynamics.view import Loads
from condyle.tree.tree import Tree

SMALLEST_PIVOT = 1e-12
"""Of its value before elimination: rounding leaves about 1e-16, and what is that small has no digits left."""


@inlined
def eliminate(P, z, h, tau, lock):
    """One speed: (2) and (3)."""
    I, J, M = P
    n, f = I @ h[0] + J @ h[1], J.T @ h[0] + M @ h[1]                                        # U
    D = ca.dot(h[0], n) + ca.dot(h[1], f) + lock
    eps = (tau - ca.dot(h[0], z[0]) - ca.dot(h[1], z[1])) / D
    g = f / D
    P = symmetric(I - n @ (n / D).T), J - n @ g.T, symmetric(M - f @ g.T)
    return P, (z[0] + n * eps, z[1] + f * eps), (n / D, g), eps, D


@inlined
def first_failure(status, D, D_0, number):
    """The status (6) after one more speed."""
    return ca.if_else(ca.logic_or(status != 0, D > SMALLEST_PIVOT * D_0), status, number)


@inlined
def pivot(P, h):
    return ca.dot(h[0], P[0] @ h[0] + 2 * (P[1] @ h[1])) + ca.dot(h[1], P[2] @ h[1])


def forward_dynamics(tree: Tree, kin: Kinematics, tau: ca.SX, lock: ca.SX, gravity: ca.SX, loads: Loads
                     ) -> tuple[ca.SX, ca.SX]:
    """udot, shape (nu,), under loads and generalised forces tau, and the status (6). `lock`: 0, or infinity where locked."""
    P, z = {}, {}
    for B, body in enumerate(kin.placed):
        P[B], p_c = rigid(kin.R_GM[B], body.mass, body.com, body.I)
        z[B] = gyroscopic(P[B], body.mass, p_c, kin.V_GM[B][0])
        if B in loads.bodies:
            z[B] = add_scaled(z[B], loads.bodies[B], -1)
    taus = ca.vertsplit(tau) if tree.nu else []
    taus = [x + loads.mobility[k] if k in loads.mobility else x for k, x in enumerate(taus)]
    return _solve(tree, kin, P, z, taus, lock, gravity, moving=True)


def solve_mass_matrix(tree: Tree, kin: Kinematics, f: ca.SX, lock: ca.SX) -> tuple[ca.SX, ca.SX]:
    """M^-1 f, shape (nu,), and the status: the same recursion without velocities and forces."""
    P = {B: rigid(kin.R_GM[B], body.mass, body.com, body.I)[0] for B, body in enumerate(kin.placed)}
    z = {B: (ca.SX(3, 1), ca.SX(3, 1)) for B in P}
    return _solve(tree, kin, P, z, ca.vertsplit(f) if tree.nu else [], lock, ca.SX(3, 1), moving=False)


def _solve(tree: Tree, kin: Kinematics, P: dict[int, Inertia], z: dict[int, Pair], taus: list[ca.SX], lock: ca.SX,
           gravity: ca.SX, moving: bool) -> tuple[ca.SX, ca.SX]:
    """(1)-(5). z: gyroscopic less applied forces on each body. Not `moving`: all velocities, and c with them, are zero."""
    locks = ca.vertsplit(lock) if tree.nu else []
    step: dict[int, tuple[Pair, ca.SX]] = {}
    status = ca.SX(0)
    for B in tree.tip_to_base:
        if moving:
            z[B] = add(z[B], apply(P[B], kin.c[B]))
        speeds = tree.speeds_of(B)
        before = {k: pivot(P[B], kin.H[k]) for k in speeds[1:]}
        for k in speeds:
            P[B], z[B], U_D, eps, D = eliminate(P[B], z[B], kin.H[k], taus[k], locks[k])     # (2), (3)
            step[k] = U_D, eps
            status = first_failure(status, D, before.get(k, 0), k + 1)                       # (6)
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
        A[B] = add(a, kin.c[B]) if moving else a                                             # (1)
    return ca.vertcat(ca.SX(0, 1), *(udot[k] for k in range(tree.nu))), status
