"""Poses, velocities and velocity-dependent accelerations of every body, base to tip.

Everything is expressed in ground G and taken about the origin of each body's frame M, so that shifting between bodies needs
cross products only and nothing is ever rotated back (Simbody's choice; sherman2011 section 4).

Notation
  P the parent's frame M (or ground), F the mobilizer's frame on the parent, M the body's own frame.
  r = p_PM in G;  X_FM, H_FM, Vt, bias from the mobilizer (condyle.mobilizers.base).

Equations
  R_GF = R_GP R_PF,   R_GM = R_GF R_FM,   r = R_GP p_PF + R_GF p_FM                          (1)
  H = R_GF H_FM,   (w_FM, v_FM) = H u + R_GF Vt                                               (2)
  w = w_P + w_FM,   v = v_P + w_P x r + v_FM                                                  (3)
  c_w = w_P x w_FM + R_GF bias_w                                                              (4)
  c_v = w_P x (w_P x r) + 2 w_P x v_FM + R_GF bias_v                                          (5)
so that  alpha = alpha_P + c_w + H_w udot,   a = a_P + alpha_P x r + c_v + H_v udot           (6)
"""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import casadi as ca

from condyle.dynamics.inertia import add, add_scaled, shift_motion
from condyle.dynamics.inline import inlined
from condyle.mobilizers import motion
from condyle.tree.layout import Placed
from condyle.tree.tree import Tree

Pair = tuple[ca.SX, ca.SX]
"""A spatial vector, angular part first."""

cross = ca.cross


@dataclass
class Kinematics:
    """Expressions by body index (and by speed for H). p_PM is r of (1)."""

    placed: list[Placed]
    R_GM: dict[int, ca.SX] = field(default_factory=dict)
    p_GM: dict[int, ca.SX] = field(default_factory=dict)
    p_PM: dict[int, ca.SX] = field(default_factory=dict)
    V_GM: dict[int, Pair] = field(default_factory=dict)
    c: dict[int, Pair] = field(default_factory=dict)
    H: dict[int, Pair] = field(default_factory=dict)
    X_GF: dict[int, Pair] = field(default_factory=dict)


@inlined
def place(R_GP, R_PF, p_PF, R_FM, p_FM):
    R_GF = R_GP @ R_PF                                                                       # (1)
    return R_GF, R_GF @ R_FM, R_GP @ p_PF + R_GF @ p_FM


@inlined
def turn(R_GF, a):
    return R_GF @ a


@inlined
def carry(V_GP, r, V_FM, bias):
    (w_P, v_P), (w_FM, v_FM), (bias_w, bias_v) = V_GP, V_FM, bias
    V = w_P + w_FM, v_P + cross(w_P, r) + v_FM                                               # (3)
    c_w = cross(w_P, w_FM) + bias_w                                                          # (4)
    c_v = cross(w_P, cross(w_P, r) + 2 * v_FM) + bias_v                                      # (5)
    return V, (c_w, c_v)


def kinematics(tree: Tree, placed: list[Placed], t: ca.SX, q: ca.SX, u: ca.SX | None, only: Iterable[int] | None = None
               ) -> Kinematics:
    """Kinematics of all bodies, or of those in `only` (which must hold their ancestors too). u = None: positions only."""
    kin = Kinematics(placed)
    qs, us = ca.vertsplit(q) if tree.nq else [], [] if u is None or not tree.nu else ca.vertsplit(u)
    for B in tree.base_to_tip if only is None else only:
        body, constants, P = tree.bodies[B], placed[B], tree.parent(B)
        q_B = ca.vertcat(*qs[body.q])
        u_B = ca.SX(body.mobilizer.nu, 1) if u is None else ca.vertcat(*us[body.u])
        R_FM, p_FM, H_w, H_v, w_t, v_t, bias_w, bias_v, _ = motion(body.mobilizer, t, q_B, u_B)
        R_GP, p_GP = (ca.SX.eye(3), ca.SX(3, 1)) if P is None else (kin.R_GM[P], kin.p_GM[P])
        R_GF, kin.R_GM[B], kin.p_PM[B] = place(R_GP, constants.R_PF, constants.p_PF, R_FM, p_FM)
        kin.p_GM[B] = p_GP + kin.p_PM[B]
        kin.X_GF[B] = R_GF, kin.p_GM[B] - R_GF @ p_FM
        H_w, H_v = _turned(R_GF, H_w), _turned(R_GF, H_v)                                    # (2)
        for j, k in enumerate(tree.speeds_of(B)):
            kin.H[k] = H_w[:, j], H_v[:, j]
        if u is None:
            continue
        V_FM = H_w @ u_B + _turned(R_GF, w_t), H_v @ u_B + _turned(R_GF, v_t)
        V_GP = (ca.SX(3, 1), ca.SX(3, 1)) if P is None else kin.V_GM[P]
        kin.V_GM[B], kin.c[B] = carry(V_GP, kin.p_PM[B], V_FM, (_turned(R_GF, bias_w), _turned(R_GF, bias_v)))
    return kin


def _turned(R_GF: ca.SX, a: ca.SX) -> ca.SX:
    """R_GF a, keeping columns that are structurally zero so."""
    return turn(R_GF, a) if a.nnz() else a


def accelerations(tree: Tree, kin: Kinematics, udot: ca.SX | None, ground: Pair | None = None) -> dict[int | None, Pair]:
    """Spatial acceleration of every body about M's origin (6). `udot` None: zero. `ground`: what ground itself does."""
    udots = [] if udot is None or not tree.nu else ca.vertsplit(udot)
    A: dict[int | None, Pair] = {None: (ca.SX(3, 1), ca.SX(3, 1)) if ground is None else ground}
    for B in tree.base_to_tip:
        a = shift_motion(A[tree.parent(B)], kin.p_PM[B])
        if kin.c:
            a = add(a, kin.c[B])
        for k in tree.speeds_of(B) if udots else ():
            a = add_scaled(a, kin.H[k], udots[k])                                            # (6)
        A[B] = a
    return A
