"""Inverse dynamics: the recursive Newton-Euler algorithm, O(n).

Equations (frames and notation as in kinematics.py; A from there; lee2008 (15), (16))
  F = M A + gyroscopic - loads + sum over children shift(F_child, r_child)              (1)
  tau_k = h_k' F - loads_k,  summed over the bodies that speed k moves                  (2)
F is what the mobilizer exerts on the body, at M's origin, in ground: the reaction, tau included. Gravity is
an upward acceleration of ground.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import casadi as ca

from condyle.arrays import SX
from condyle.dynamics.inertia import add, add_scaled, apply, inner, newton_euler, rigid, shift_force
from condyle.dynamics.kinematics import BodyKinematics, Kinematics, Pair, acceleration
from condyle.dynamics.row import BodyFields, Row, StraightTree
from condyle.tree.tree import Tree

if TYPE_CHECKING:
    from condyle.dynamics.view import TreeLoads


def force_pass(d: Row, new: BodyKinematics, udot: list[SX] | None, moving: bool = True) -> None:
    """Outward: A of kinematics.py (6), and F of (1) without loads and children. `udot` None is zero."""
    A = acceleration(d.parent.A, new.p_PM, new.c, new.H if udot is not None else [], udot or [])
    M_B, p_c = rigid(new.R_GM, d.body.mass, d.body.com, d.body.I)
    d.me.A = A
    d.me.F = newton_euler(M_B, d.body.mass, p_c, new.V_GM[0], A) if moving else apply(M_B, A)


def sum_pass(d: Row) -> Pair:
    """Inward: F goes to the parent (1). Returns it."""
    F = d.me.F
    d.parent.F = add(d.parent.F, shift_force(F, d.me.r))
    return F


def mobilizer_forces(
    tree: Tree, kin: Kinematics, udot: SX | None, gravity: SX, loads: TreeLoads | None
) -> dict[int, Pair]:
    """F of (1) for every body. `udot` None is zero, `loads` None are none; kinematics without velocities are
    at rest."""
    line = StraightTree(tree, kin, A=(ca.SX(3, 1), -gravity))
    udots = None if udot is None else ca.vertsplit(udot) if tree.nu else []
    line.outward(
        lambda d: force_pass(d, d.kinematics(), None if udots is None else udots[d.u], bool(kin.V_GM))
    )
    for B, load in ({} if loads is None else loads.bodies).items():
        body = BodyFields(line, B)
        body.F = add_scaled(body.F, load, -1)
    line.inward(sum_pass)
    return line.each(BodyFields.F, ground=False)


def inverse_dynamics(
    tree: Tree, kin: Kinematics, udot: SX | None, gravity: SX, loads: TreeLoads | None
) -> SX:
    """tau, shape (nu,): what must be added to the forces that act for udot to happen."""
    return projected(tree, kin, mobilizer_forces(tree, kin, udot, gravity, loads), loads)


def projected(tree: Tree, kin: Kinematics, F: dict[int, Pair], loads: TreeLoads | None) -> SX:
    """tau of (2) from F of every body, shape (nu,)."""
    tau, mobility = on_speeds(tree, kin, F), {} if loads is None else loads.mobility  # (2)
    return ca.vertcat(ca.SX(0, 1), *(tau[k] - mobility.get(k, 0) for k in range(tree.nu)))


def on_speeds(tree: Tree, kin: Kinematics, F: dict[int, Pair]) -> dict[int, SX]:
    """H' F by speed."""
    out: dict[int, ca.SX] = {}
    for B in tree.base_to_tip:
        for k, h in zip(tree.speeds_of(B), kin.H[B], strict=True):
            out[k] = out[k] + inner(h, F[B]) if k in out else inner(h, F[B])
    return out


def generalized(tree: Tree, kin: Kinematics, loads: TreeLoads) -> SX:
    """Generalized forces, shape (nu,), of loads on bodies and speeds: J' F."""
    f = carried_on_speeds(tree, kin, loads.bodies)
    return ca.vertcat(ca.SX(0, 1), *(f[k] + loads.mobility.get(k, 0) for k in range(tree.nu)))


def carried_on_speeds(tree: Tree, kin: Kinematics, F: Mapping[int, Pair]) -> dict[int, SX]:
    """H' of the sums of F over what each body carries, by speed."""
    line = StraightTree(tree, kin)
    for B, load in F.items():
        BodyFields(line, B).F = load
    line.inward(sum_pass)
    return on_speeds(tree, kin, line.each(BodyFields.F, ground=False))
