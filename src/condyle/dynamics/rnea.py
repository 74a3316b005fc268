"""Inverse dynamics: the recursive Newton-Euler algorithm, O(n).

Equations (frames and notation as in kinematics.py; A from there)
  F = M A + gyroscopic - loads + sum over children shift(F_child, r_child)              (1)
  tau_k = h_k' F - loads_k                                                              (2)
F is what the mobilizer exerts on the body, at M's origin, in ground: the reaction, tau included. Gravity is
an upward acceleration of ground.
"""
from __future__ import annotations

import casadi as ca

from condyle.dynamics.inertia import add, add_scaled, apply, inner, newton_euler, rigid, shift_force
from condyle.dynamics.kinematics import Kinematics, Pair, accelerations
from condyle.dynamics.view import Loads
from condyle.tree.layout import Placed
from condyle.tree.tree import Tree


def net_force(body: Placed, R_GM: ca.SX, A: Pair, w: ca.SX | None, load: Pair | None) -> Pair:
    """F of (1) without children, for one body; w None is at rest."""
    M_B, p_c = rigid(R_GM, body.mass, body.com, body.I)
    F = apply(M_B, A) if w is None else newton_euler(M_B, body.mass, p_c, w, A)
    return F if load is None else add_scaled(F, load, -1)


def mobilizer_forces(tree: Tree, kin: Kinematics, udot: ca.SX | None, gravity: ca.SX, loads: Loads | None
                     ) -> dict[int, Pair]:
    """F of (1) for every body. `udot` None is zero, `loads` None are none; kinematics without velocities are
    at rest."""
    A = accelerations(tree, kin, udot, ground=(ca.SX(3, 1), -gravity))
    F: dict[int, Pair] = {}
    for B, body in enumerate(kin.placed):
        w = kin.V_GM[B][0] if kin.V_GM else None
        F[B] = net_force(body, kin.R_GM[B], A[B], w, None if loads is None else loads.bodies.get(B))
    for B in tree.tip_to_base:
        if (parent := tree.parent(B)) is not None:
            F[parent] = add(F[parent], shift_force(F[B], kin.p_PM[B]))                       # (1)
    return F


def inverse_dynamics(tree: Tree, kin: Kinematics, udot: ca.SX | None, gravity: ca.SX,
                     loads: Loads | None) -> ca.SX:
    """tau, shape (nu,): what must be added to the forces that act for udot to happen."""
    F = mobilizer_forces(tree, kin, udot, gravity, loads)
    tau = {k: inner(kin.H[k], F[B]) for B in tree.base_to_tip for k in tree.speeds_of(B)}                # (2)
    mobility = {} if loads is None else loads.mobility
    return ca.vertcat(ca.SX(0, 1), *(tau[k] - mobility.get(k, 0) for k in range(tree.nu)))


def generalised(tree: Tree, kin: Kinematics, loads: Loads) -> ca.SX:
    """Generalised forces, shape (nu,), of loads on bodies and speeds: J' F."""
    F = {B: loads.bodies.get(B, (ca.SX(3, 1), ca.SX(3, 1))) for B in tree.base_to_tip}
    for B in tree.tip_to_base:
        if (parent := tree.parent(B)) is not None:
            F[parent] = add(F[parent], shift_force(F[B], kin.p_PM[B]))
    f = {k: inner(kin.H[k], F[B]) for B in tree.base_to_tip for k in tree.speeds_of(B)}
    return ca.vertcat(ca.SX(0, 1), *(f[k] + loads.mobility.get(k, 0) for k in range(tree.nu)))
