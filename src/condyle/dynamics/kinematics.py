"""Poses, velocities and velocity-dependent accelerations of every body, base to tip.

Everything is expressed in ground G and taken about the origin of each body's frame M, so that shifting
between bodies needs cross products only and nothing is ever rotated back (Simbody's choice; sherman2011
section 4); in each body's own frame these are lee2008 (9)-(14).

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
A frame at S on a body moves with V_S = J u; the column of a speed k of an ancestor A is
  (H_w,k, H_w,k x (p_GS - p_GA) + H_v,k),  summed over the ancestors that the speed moves     (7)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Any

import casadi as ca

from condyle.arrays import SX
from condyle.dynamics.inertia import add, add_cross, add_scaled, shift_motion
from condyle.dynamics.inline import inlined
from condyle.mobilizers import Mobilizer, motion
from condyle.records import dataclass
from condyle.tree.body_constants import BodyConstants
from condyle.tree.tree import Tree

Pair = tuple[ca.SX, ca.SX]
"""A spatial vector, angular part first."""

cross = ca.cross


@dataclass
class Kinematics:
    """Expressions by body index; H: one column per speed that moves the body. p_PM is r of (1)."""

    placed: list[BodyConstants]
    R_GM: dict[int, ca.SX] = field(default_factory=dict)
    p_GM: dict[int, ca.SX] = field(default_factory=dict)
    p_PM: dict[int, ca.SX] = field(default_factory=dict)
    V_GM: dict[int, Pair] = field(default_factory=dict)
    c: dict[int, Pair] = field(default_factory=dict)
    H: dict[int, list[Pair]] = field(default_factory=dict)
    X_GF: dict[int, Pair] = field(default_factory=dict)
    V_FM: dict[int, Pair] = field(default_factory=dict)


@inlined
def place(R_GP, R_PF, p_PF, R_FM, p_FM):
    R_GF = R_GP @ R_PF  # (1)
    return R_GF, R_GF @ R_FM, R_GP @ p_PF + R_GF @ p_FM


@inlined
def turn(R_GF, a):
    return R_GF @ a


@inlined
def carry(V_GP, r, V_FM, bias):
    (w_P, v_P), (w_FM, v_FM), (bias_w, bias_v) = V_GP, V_FM, bias
    V = w_P + w_FM, add_cross(v_P + v_FM, w_P, r)  # (3)
    c_w = add_cross(bias_w, w_P, w_FM)  # (4)
    c_v = add_cross(bias_v, w_P, add_cross(2 * v_FM, w_P, r))  # (5)
    return V, (c_w, c_v)


@dataclass
class BodyKinematics:
    """Results of (1)-(5) for one body; V_FM (in ground), V_GM and c are Pairs, or None for positions only."""

    R_GM: ca.SX
    p_GM: ca.SX
    p_PM: ca.SX
    X_GF: Pair
    H: list[Pair]
    V_FM: Any = None
    V_GM: Any = None
    c: Any = None


def step(
    mobilizer: Mobilizer,
    constants: BodyConstants,
    R_GP: SX,
    p_GP: SX,
    V_GP: Pair | None,
    t: SX,
    q: SX,
    u: SX,
    moved: list[SX] | None = None,
) -> BodyKinematics:
    """One body on its parent. V_GP = None: positions only. `moved`: the result of `motion`, if known."""
    R_FM, p_FM, H_w, H_v, w_t, v_t, bias_w, bias_v, _ = motion(mobilizer, t, q, u) if moved is None else moved
    R_GF, R_GM, r = place(R_GP, constants.R_PF, constants.p_PF, R_FM, p_FM)
    p_GM = p_GP + r
    H_w, H_v = _turned(R_GF, H_w), _turned(R_GF, H_v)  # (2)
    body = BodyKinematics(
        R_GM, p_GM, r, (R_GF, p_GM - R_GF @ p_FM), [(H_w[:, j], H_v[:, j]) for j in range(mobilizer.nu)]
    )
    if V_GP is not None:
        body.V_FM = H_w @ u + _turned(R_GF, w_t), H_v @ u + _turned(R_GF, v_t)
        body.V_GM, body.c = carry(V_GP, r, body.V_FM, (_turned(R_GF, bias_w), _turned(R_GF, bias_v)))
    return body


def kinematics(
    tree: Tree,
    placed: list[BodyConstants],
    t: SX,
    q: SX,
    u: SX | None,
    only: Iterable[int] | None = None,
    base: int | None = None,
) -> Kinematics:
    """Kinematics of all bodies, or of those in `only` (which must hold their ancestors too). u = None:
    positions only. `base`: the body that serves as ground; `only` are then some of its descendants."""
    kin, still = Kinematics(placed), (ca.SX(3, 1), ca.SX(3, 1))
    if base is not None:
        kin.R_GM[base], kin.p_GM[base], kin.V_GM[base] = ca.SX.eye(3), ca.SX(3, 1), still
    qs, us = ca.vertsplit(q) if tree.nq else [], [] if u is None or not tree.nu else ca.vertsplit(u)
    for B in tree.base_to_tip if only is None else only:
        body, P = tree.bodies[B], tree.parent(B)
        u_B = ca.SX(body.mobilizer.nu, 1) if u is None else ca.vertcat(*us[body.u])
        R_GP, p_GP = (ca.SX.eye(3), ca.SX(3, 1)) if P is None else (kin.R_GM[P], kin.p_GM[P])
        V_GP = None if u is None else still if P is None else kin.V_GM[P]
        new = step(body.mobilizer, placed[B], R_GP, p_GP, V_GP, t, ca.vertcat(*qs[body.q]), u_B)
        kin.R_GM[B], kin.p_GM[B], kin.p_PM[B], kin.X_GF[B] = new.R_GM, new.p_GM, new.p_PM, new.X_GF
        kin.H[B] = new.H
        if u is not None:
            kin.V_GM[B], kin.V_FM[B], kin.c[B] = new.V_GM, new.V_FM, new.c
    return kin


def _turned(R_GF: SX, a: SX) -> SX:
    """R_GF a, keeping columns that are structurally zero so."""
    return turn(R_GF, a) if a.nnz() else a


def accelerations(
    tree: Tree, kin: Kinematics, udot: SX | None, ground: Pair | None = None
) -> dict[int | None, Pair]:
    """Spatial acceleration of every body about M's origin (6). `udot` None: zero. `ground`: the acceleration
    of ground.
    """
    udots = [] if udot is None or not tree.nu else ca.vertsplit(udot)
    A: dict[int | None, Pair] = {None: (ca.SX(3, 1), ca.SX(3, 1)) if ground is None else ground}
    for B in tree.base_to_tip:
        speeds = tree.speeds_of(B) if udots else ()
        A[B] = acceleration(
            A[tree.parent(B)],
            kin.p_PM[B],
            kin.c.get(B),
            kin.H[B] if udots else [],
            [udots[k] for k in speeds],
        )
    return A


def acceleration(A_P: Pair, r: SX, c: Pair | None, H: list[Pair], udot: list[SX]) -> Pair:
    """(6) for one body; c None is zero."""
    a = shift_motion(A_P, r)
    a = a if c is None else add(a, c)
    for h, x in zip(H, udot, strict=True):
        a = add_scaled(a, h, x)
    return a


def body_pose(body: BodyConstants, R_GM: SX, p_GM: SX) -> Pair:
    """R_GB and p_GB of the user's body frame."""
    return R_GM @ body.R_MB, p_GM + R_GM @ body.p_MB


def body_velocity(body: BodyConstants, R_GM: SX, V_GM: Pair) -> Pair:
    """V_GB, at the body's origin."""
    return shift_motion(V_GM, R_GM @ body.p_MB)


def body_acceleration(body: BodyConstants, R_GM: SX, V_GM: Pair, A_GM: Pair) -> Pair:
    """A_GB, at the body's origin."""
    r, w = R_GM @ body.p_MB, V_GM[0]
    alpha, a = shift_motion(A_GM, r)
    return alpha, a + cross(w, cross(w, r))


def frame_jacobian(tree: Tree, kin: Kinematics, B: int, p_MS: SX) -> SX:
    """J, shape (6, nu), of a frame at p_MS in B's frame M: its spatial velocity in ground is J u."""
    p_GS = kin.p_GM[B] + kin.R_GM[B] @ p_MS
    J = ca.SX(6, tree.nu)
    for A in tree.path(B):
        for k, h in zip(tree.speeds_of(A), kin.H[A], strict=True):
            J[:, k] += ca.vertcat(*shift_motion(h, p_GS - kin.p_GM[A]))  # (7)
    return J
