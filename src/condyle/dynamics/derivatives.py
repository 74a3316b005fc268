"""Derivatives of inverse dynamics with respect to q and u, O(n d) for a tree of depth d; with M they give
those of forward dynamics. No recursion is differentiated automatically, only each mobilizer by itself.

Spatial vectors are fields about a point, in ground axes (Pluecker coordinates). (1)-(6) hold about any point;
they are taken about the origin of each body's frame M. Terms of (7) are about one fixed point O: the current
position of the base body of the tree, so that few digits are lost far from ground's origin. x is the spatial
cross product of motions, x* that of a motion and a force. A derivative with respect to q_j is along the
manifold: qdot = N e_j, u and udot held.

Notation
  J the body of speed j, P its parent, i a body at or beyond J.   S_j: column j of the hinge matrix
  V_i, a_i: velocity and acceleration (dV_i/dt).   I_i: inertia
  I_b, F_b: sums over what b carries; F_b is its reaction
  V_F, A_F: velocity and acceleration of M in F, about F's origin in F.   Ad: from F to ground

A change of q_j moves everything beyond J along with S_j. What remains is
  D_j = Ad dV_F/dq_j,   E_j = V_P x D_j + Ad dA_F/dq_j                         of V_J and a_J themselves   (1)
  dV_i = S_j x V_i + G_j,                 G_j = D_j + V_J x S_j                                            (2)
  da_i = S_j x a_i + E'_j + G_j x V_i,    E'_j = E_j - S_j x a_J - G_j x V_J                               (3)
  dF_b = S_j x* F_b + I_b E'_j + Q_b G_j                                                                   (4)
With respect to u_j: dV_i = S_j, da_i = S_j x V_i + K'_j, K'_j = V_P x S_j + Ad dA_F/du_j - S_j x V_J,
  dF_b = I_b K'_j + Q_b S_j                                                                                (5)
Q_b takes a change G = (g, .) of all velocities to the Coriolis forces 2 g x dr/dt that it adds at every point
r of what b carries, dr/dt = v + w x r. With the momentum p and the center of mass c,
  Q_b G = (2 C_b g, 2 g x p_b),   C_i = - sum of dm [r x][dr/dt x] = -w x (sum of dm r r') - m [c x][v x]  (6)
For tau_k = S_k' F_k, which a common motion does not change,
  k at an ancestor of J:  S_k' dF_J;     beyond J:  (I_k S_k)' E'_j + (Q_k' S_k)' G_j                      (7)
  k of J itself:  (Ad dH_k/dq_j)' F_J + S_k' dF_J
(7) needs only the angular part of G and Q' S. Where a speed moves several bodies, (1)-(7) treat each as a
speed of its own, and their contributions are added.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import casadi as ca

from condyle.arrays import SX
from condyle.dynamics.inertia import add, inner, rigid, shift_force, shift_motion, symmetric
from condyle.dynamics.inline import inlined
from condyle.dynamics.kinematics import Kinematics, Pair
from condyle.dynamics.rnea import generalized
from condyle.dynamics.view import TreeLoads
from condyle.mobilizers import Mobilizer, motion
from condyle.native.tables.lookup import Closure
from condyle.tree.body_constants import BodyConstants
from condyle.tree.tree import Tree

cross = ca.cross

_LOCAL: dict[str, Closure] = {}


class Subtree(NamedTuple):
    """Sums over one body, or over it and its subtree, about M's origin: mass, mass times center, inertia, p
    and C of (6), force.
    """

    m: ca.SX
    mc: ca.SX
    I: ca.SX
    p: ca.SX
    C: ca.SX
    F: Pair


class Column(NamedTuple):
    """One speed, about O: S, the angular part of G, E', K'; I S and the angular part of Q' S; dF of (4) and
    (5); G."""

    S: Pair
    g: ca.SX
    E: Pair
    K: Pair
    row_I: Pair
    row_Q: ca.SX
    dF_q: Pair
    dF_u: Pair
    G: Pair


@inlined
def cross_motion(a, b):
    return cross(a[0], b[0]), cross(a[0], b[1]) + cross(a[1], b[0])


@inlined
def to_ground(R, p, a):
    """Ad of (R, p) on columns."""
    top = R @ a[:3, :]
    return ca.vertcat(top, R @ a[3:, :] + ca.skew(p) @ top)


@inlined
def spatial_acceleration(V, A):
    """dV/dt of the field, from the acceleration of the point where it is taken."""
    return A[0], A[1] + cross(V[1], V[0])


@inlined
def of_one(I, mass, p_c, V, a):
    (w, v), (alpha, b), one = V, a, ca.SX.eye(3)
    mc = mass * p_c
    p = mass * v + cross(w, mc)
    C = ca.dot(v, mc) * one - v @ mc.T - ca.skew(w) @ (ca.trace(I) / 2 * one - I)  # (6)
    return mass, mc, I, p, C, (I @ alpha + cross(mc, b) + C @ w, mass * b + cross(alpha, mc) + cross(w, p))


@inlined
def to_parent(carried, r):
    m, mc, I, p, C, F = carried
    one, there = ca.SX.eye(3), mc + m * r
    I = symmetric(I - mc @ r.T - r @ there.T + ca.dot(r, mc + there) * one)
    return m, there, I, p, C - p @ r.T + ca.dot(r, p) * one, (F[0] + cross(r, F[1]), F[1])


@inlined
def summed(a, b):
    return *(x + y for x, y in zip(a[:-1], b[:-1], strict=True)), (a[-1][0] + b[-1][0], a[-1][1] + b[-1][1])


def own(R_GM: SX, body: BodyConstants, V: Pair, a: Pair) -> Subtree:
    """Terms of one body alone."""
    P, p_c = rigid(R_GM, body.mass, body.com, body.I)
    return Subtree(*of_one(P[0], body.mass, p_c, V, a))


def with_child(carried: Subtree, child: Subtree, r: SX) -> Subtree:
    """Sums of a body with those of one of its children, whose origin is at r."""
    return Subtree(*summed(tuple(carried), to_parent(tuple(child), r)))


def _plus(*terms):
    return sum(x for x, _ in terms), sum(y for _, y in terms)


@inlined
def changes(S, V, a, D, E, K):
    """G, E' and K' of a speed."""
    moved = cross_motion(V, S)
    G = _plus(D, moved)  # (2)
    return G, _plus(E, cross_motion(a, S), cross_motion(V, G)), _plus(K, moved)  # (3), (5)


@inlined
def of_speed(carried, p_OM, S, V, a, D, E, K):
    m, mc, I, p, C, F = carried
    plus = _plus
    times = lambda x: (I @ x[0] + cross(mc, x[1]), m * x[1] + cross(x[0], mc))
    G, E, K = changes(S, V, a, D, E, K)
    twice_g, twice_s = 2 * G[0], 2 * S[0]
    carries_F = cross(S[0], F[0]) + cross(S[1], F[1]), cross(S[0], F[1])
    dF_q = plus(carries_F, times(E), (C @ twice_g, cross(twice_g, p)))  # (4)
    dF_u = plus(times(K), (C @ twice_s, cross(twice_s, p)))  # (5)
    row_Q = C.T @ twice_s + 2 * cross(p, S[1])
    return (
        motion_about_O(S, p_OM),
        G[0],
        motion_about_O(E, p_OM),
        motion_about_O(K, p_OM),
        shift_force(times(S), p_OM),
        row_Q,
        shift_force(dF_q, p_OM),
        shift_force(dF_u, p_OM),
        motion_about_O(G, p_OM),
    )


@inlined
def motion_about_O(V, p):
    """A motion about the point at p, as a field about O."""
    return V[0], V[1] + cross(p, V[0])


@inlined
def on_ancestor(S, dF_q, dF_u):
    """(7) for k at an ancestor of J: by q_j and u_j."""
    return inner(S, dF_q), inner(S, dF_u)


@inlined
def beyond(row_I, row_Q, S, g, E, K):
    """(7) for k beyond J: by q_j and u_j."""
    return inner(row_I, E) + ca.dot(row_Q, g), inner(row_I, K) + ca.dot(row_Q, S[0])


def of_pair(near: Column, far: Column) -> tuple[SX, SX, SX, SX, SX]:
    """(7) of a speed and one of an ancestor, j and k: d tau_k/dq_j, d tau_k/du_j, d tau_j/dq_k, d tau_j/du_k,
    and M_jk."""
    return (
        *on_ancestor(far.S, near.dF_q, near.dF_u),
        *beyond(near.row_I, near.row_Q, far.S, far.g, far.E, far.K),
        inner(near.row_I, far.S),
    )


def _local(mobilizer: Mobilizer) -> Closure:
    """dV_F/dq, dA_F/dq, dA_F/du, dH/dq of one mobilizer, in F about F's origin, d/dq along N; and V_F where u
    is zero."""
    text = mobilizer.description()
    if text not in _LOCAL:
        nu = mobilizer.nu
        t, q, u, udot = (ca.SX.sym(n, k) for n, k in (("t", 1), ("q", mobilizer.nq), ("u", nu), ("udot", nu)))
        _, p, H_w, H_v, w_t, v_t, bias_w, bias_v, rate = motion(mobilizer, t, q, u)
        w, v = H_w @ u + w_t, H_v @ u + v_t
        alpha, a = H_w @ udot + bias_w, H_v @ udot + bias_v
        H = ca.vertcat(H_w, H_v + ca.skew(p) @ H_w)
        V = ca.vertcat(w, v + ca.cross(p, w))
        A = ca.vertcat(alpha, a + ca.cross(v, w) + ca.cross(p, alpha))
        N = ca.jacobian(rate, u)
        outputs = [
            ca.jacobian(V, q) @ N,
            ca.jacobian(A, q) @ N,
            ca.jacobian(A, u),
            ca.jacobian(ca.vec(H), q) @ N,
            ca.vertcat(w_t, v_t),
        ]
        _LOCAL[text] = Closure("local", [t, q, u, udot], [ca.sparsify(x) for x in outputs])
    return _LOCAL[text]


def _pair(a: SX) -> Pair:
    return a[:3], a[3:]


class MobilizerState(NamedTuple):
    """State of one body in (1)-(5), without its subtree: H, X_MF (pose of F from M's origin, in ground
    axes), V and V_P about M's origin, p_OM."""

    H: list[Pair]
    X_MF: Pair
    V_P: Pair
    V: Pair
    p_OM: ca.SX


def is_plain(mobilizer: Mobilizer) -> bool:
    """Whether V_F, A_F and H do not depend on q, so that X_MF and udot do not matter."""
    return not any(_local(mobilizer).function.nnz_out(k) for k in range(4))


def own_changes(
    mobilizer: Mobilizer, t: SX, q: SX, u: SX, udot: SX, joint: MobilizerState, F: Pair
) -> tuple[list[tuple[Pair, Pair, Pair, Pair]], SX]:
    """S, D, E of (1) and K = V_P x S + Ad dA_F/du of each speed; and (Ad dH_k/dq_j)' F of (7), (nu, nu)."""
    nu, V, V_P, H = mobilizer.nu, joint.V, joint.V_P, joint.H
    dV, dA, dA_du, dH, by_time = _local(mobilizer)(t, q, u, udot)
    alone = nu == 1 and not by_time.nnz()  # then V_P x S = V x S
    dV, dA, dA_du = (to_ground(*joint.X_MF, x) if x.nnz() else x for x in (dV, dA, dA_du))
    made, dS_F = [], ca.SX(nu, nu)
    for j, S in enumerate(H):
        D, E, K = (
            _pair(dV[:, j]),
            _pair(dA[:, j]),
            add(cross_motion(V if alone else V_P, S), _pair(dA_du[:, j])),
        )
        made.append((S, D, add(E, cross_motion(V_P, D)) if dV.nnz() else E, K))  # (1)
        if dH.nnz():
            dS = to_ground(*joint.X_MF, ca.reshape(dH[:, j], 6, nu))
            for k in range(nu):
                dS_F[k, j] = inner(_pair(dS[:, k]), F)
    return made, dS_F


def columns(
    mobilizer: Mobilizer,
    t: SX,
    q: SX,
    u: SX,
    udot: SX,
    joint: MobilizerState,
    a: Pair,
    carried: Subtree,
) -> tuple[list[Column], SX, SX, SX]:
    """The columns of one body's speeds; and (7) among them with respect to q and u, and their block of M,
    each (nu, nu).
    """
    nu = mobilizer.nu
    own, dS_F = own_changes(mobilizer, t, q, u, udot, joint, carried.F)
    made = [Column(*of_speed(tuple(carried), joint.p_OM, S, joint.V, a, *DEK)) for S, *DEK in own]
    dq, du, M = ca.SX.zeros(nu, nu), ca.SX.zeros(nu, nu), ca.SX.zeros(nu, nu)
    for j, near in enumerate(made):
        for k, far in enumerate(made):
            dq[k, j], du[k, j] = on_ancestor(far.S, near.dF_q, near.dF_u)  # (7)
            dq[k, j] += dS_F[k, j]
            if k <= j:
                M[k, j] = M[j, k] = inner(far.S, near.row_I)
    return made, dq, du, M


def inverse_dynamics_derivatives(
    tree: Tree,
    kin: Kinematics,
    t: SX,
    q: SX,
    u: SX,
    udot: SX,
    A: Mapping[int | None, Pair],
    loads: TreeLoads,
) -> tuple[SX, SX, SX]:
    """d tau/d q and d tau/d u, and M, each (nu, nu). A: accelerations of the bodies, ground's that of gravity
    upwards."""
    nu = tree.nu
    dq, du, M = ca.SX(nu, nu), ca.SX(nu, nu), ca.SX(nu, nu)
    a = {b: spatial_acceleration(kin.V_GM[b], A[b]) for b in tree.base_to_tip}
    carried = {b: own(kin.R_GM[b], placed, kin.V_GM[b], a[b]) for b, placed in enumerate(kin.placed)}
    for b in tree.tip_to_base:
        if (parent := tree.parent(b)) is not None:
            carried[parent] = with_child(carried[parent], carried[b], kin.p_PM[b])
    O, of = dict[int, ca.SX](), dict[tuple[int, int], Column]()
    for b in tree.base_to_tip:
        body, speeds, parent = tree.bodies[b], tree.speeds_of(b), tree.parent(b)
        O[b] = kin.p_GM[b] if parent is None else O[parent]
        V_P = (ca.SX(3, 1), ca.SX(3, 1)) if parent is None else shift_motion(kin.V_GM[parent], kin.p_PM[b])
        R_GF, p_GF = kin.X_GF[b]
        joint = MobilizerState(kin.H[b], (R_GF, p_GF - kin.p_GM[b]), V_P, kin.V_GM[b], kin.p_GM[b] - O[b])
        mine, *blocks = columns(
            body.mobilizer, t, q[body.q], u[body.u], udot[body.u], joint, a[b], carried[b]
        )
        for whole, part in zip((dq, du, M), blocks, strict=True):
            whole[body.u, body.u] += part
        of.update({(b, j): column for j, column in zip(speeds, mine, strict=True)})
        for ancestor in tree.path(b)[:-1]:
            for k in tree.speeds_of(ancestor):
                for j in speeds:  # (7)
                    for whole, (row, column), x in zip(
                        (dq, du, dq, du, M, M),
                        ((k, j), (k, j), (j, k), (j, k), (j, k), (k, j)),
                        (*(pair := of_pair(of[b, j], of[ancestor, k])), pair[-1]),
                        strict=True,
                    ):
                        whole[row, column] += x
    if loads.bodies or loads.mobility:
        applied = generalized(tree, kin, loads)
        rate = ca.vertcat(ca.SX(0, 1), *(motion(b.mobilizer, t, q[b.q], u[b.u]).qdot for b in tree.owners))
        dq -= ca.jacobian(applied, q) @ ca.jacobian(rate, u)
        du -= ca.jacobian(applied, u)
    return dq, du, M
