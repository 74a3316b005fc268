"""Derivatives of inverse dynamics with respect to q and u, O(n d) for a tree of depth d; with M they give those of forward
dynamics. No recursion is differentiated automatically, only each mobilizer by itself.

All spatial vectors here are about one fixed point O, in ground axes (Pluecker coordinates): where the base body of the tree
stands now, so that few digits are lost far from ground's origin. x is the spatial cross product of motions, x* that of a motion
and a force. A derivative with respect to q_j is along the manifold: qdot = N e_j, u and udot held.

Notation
  J the body of speed j, P its parent, i a body at or beyond J.   S_j: column j of the hinge matrix, as a field about O
  V_i, a_i: velocity and acceleration (dV_i/dt).   I_i: inertia.   I_b, F_b: sums over what b carries; F_b is its reaction
  V_F, A_F: velocity and acceleration of M in F, about F's origin in F.   Ad: from F to ground

A change of q_j carries everything beyond J along with S_j. What is not carried is
  D_j = Ad dV_F/dq_j,   E_j = V_P x D_j + Ad dA_F/dq_j                         of V_J and a_J themselves          (1)
  dV_i = S_j x V_i + D'_j,                D'_j = D_j - S_j x V_J                                                  (2)
  da_i = S_j x a_i + E'_j + G_j x V_i,    G_j = D_j + V_J x S_j,   E'_j = E_j - S_j x a_J - G_j x V_J             (3)
  dF_b = S_j x* F_b + I_b E'_j + B_b G_j + C_b D'_j                                                               (4)
  B_b = sum of -I_i [V_i x],   C_b D = sum of D x* h_i + V_i x* I_i D = B_b' D + D x* h_b,   h_i = I_i V_i
With respect to u_j: dV_i = S_j, da_i = S_j x V_i + K'_j, K'_j = V_P x S_j + Ad dA_F/du_j - S_j x V_J,
  dF_b = I_b K'_j + (B_b + C_b) S_j                                                                               (5)
and for tau_k = S_k' F_k, since what is carried does not change it,
  k at an ancestor of J:  S_k' dF_J;     beyond J:  (I_k S_k)' E'_j + (B_k' S_k)' G_j + (C_k' S_k)' D'_j          (6)
  k of J itself:  (Ad dH_k/dq_j)' F_J + S_k' dF_J
"""
from __future__ import annotations

import casadi as ca

from condyle.dynamics.crba import mass_matrix
from condyle.dynamics.inertia import rigid, shift_inertia
from condyle.dynamics.inline import inlined
from condyle.dynamics.kinematics import Kinematics, accelerations
from condyle.dynamics.rnea import generalised, mobilizer_forces
from condyle.dynamics.view import Loads
from condyle.mobilizers import Mobilizer, motion
from condyle.native.sweeps.lookup import Closure
from condyle.tree.tree import Tree

_LOCAL: dict[str, Closure] = {}


def _crm(V):
    """[V x] on motions; on forces it is -[V x]'."""
    w, v = ca.skew(V[:3]), ca.skew(V[3:])
    return ca.blockcat([[w, ca.SX(3, 3)], [v, w]])


@inlined
def cross_motion(a, b):
    return ca.vertcat(ca.cross(a[:3], b[:3]), ca.cross(a[:3], b[3:]) + ca.cross(a[3:], b[:3]))


@inlined
def to_ground(R, p, a):
    """Ad of (R, p) on columns."""
    top = R @ a[:3, :]
    return ca.vertcat(top, R @ a[3:, :] + ca.skew(p) @ top)


@inlined
def about_O(p, V):
    """A velocity given at point p as a field about O."""
    return ca.vertcat(V[0], V[1] + ca.cross(p, V[0]))


@inlined
def acceleration_about_O(p, V, A):
    return ca.vertcat(A[0], A[1] + ca.cross(V[1], V[0]) + ca.cross(p, A[0]))


@inlined
def velocity_terms(P, V):
    """I, the momentum h = I V and the term of B (4), of one body."""
    inertia = ca.blockcat([[P[0], P[1]], [P[1].T, P[2]]])
    return inertia, inertia @ V, -inertia @ _crm(V)


@inlined
def crossed_into(h, a):
    """a x* h for a force h."""
    return ca.vertcat(ca.cross(a[:3], h[:3]) + ca.cross(a[3:], h[3:]), ca.cross(a[:3], h[3:]))


@inlined
def rows_of(I, B, h, S):
    """I S, B' S and C' S of (6)."""
    G = B.T @ S
    return I @ S, G, B @ S - crossed_into(h, S)


@inlined
def force_change(I, B, h, E, G, D):
    """I E + B G + C D of (4)."""
    return I @ E + B @ G + B.T @ D + crossed_into(h, D)


@inlined
def add(a, b):
    return a + b


@inlined
def multiply(A, x):
    return A @ x


@inlined
def inner(a, b):
    return ca.dot(a, b)


@inlined
def carried_less(S, V, a, D, E):
    """D', G, E' of (2) and (3)."""
    G = D + cross_motion(V, S)
    return D - cross_motion(S, V), G, E - cross_motion(S, a) - cross_motion(G, V)


def _local(mobilizer: Mobilizer) -> Closure:
    """H, dV_F/dq, dA_F/dq, dA_F/du, dH/dq of one mobilizer, in F about F's origin; d/dq along N."""
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
        outputs = [H, ca.jacobian(V, q) @ N, ca.jacobian(A, q) @ N, ca.jacobian(A, u), ca.jacobian(ca.vec(H), q) @ N]
        _LOCAL[text] = Closure("local", [t, q, u, udot], [ca.sparsify(x) for x in outputs])
    return _LOCAL[text]


def inverse_dynamics_derivatives(tree: Tree, kin: Kinematics, t: ca.SX, q: ca.SX, u: ca.SX, udot: ca.SX, gravity: ca.SX,
                                 loads: Loads) -> tuple[ca.SX, ca.SX]:
    """d tau/d q and d tau/d u, each (nu, nu)."""
    nu = tree.nu
    dq, du = ca.SX(nu, nu), ca.SX(nu, nu)
    A = accelerations(tree, kin, udot, ground=(ca.SX(3, 1), -gravity))
    moments = mobilizer_forces(tree, kin, udot, gravity, None)
    V, a, F, I, B, h = {}, {}, {}, {}, {}, {}
    O: dict[int, ca.SX] = {}
    for b, constants in enumerate(kin.placed):
        parent = tree.parent(b)
        O[b] = kin.p_GM[b] if parent is None else O[parent]
        p = kin.p_GM[b] - O[b]
        V[b] = about_O(p, kin.V_GM[b])
        a[b] = acceleration_about_O(p, kin.V_GM[b], A[b])
        n, f = moments[b]
        F[b] = ca.vertcat(n + ca.cross(p, f), f)
        P = shift_inertia(rigid(kin.R_GM[b], constants.mass, constants.com, constants.I)[0], p)
        I[b], h[b], B[b] = velocity_terms(P, V[b])
    for b in tree.tip_to_base:
        if (parent := tree.parent(b)) is not None:
            I[parent], B[parent], h[parent] = add(I[parent], I[b]), add(B[parent], B[b]), add(h[parent], h[b])
    S, row_E, row_G, row_D = {}, {}, {}, {}
    zero = ca.SX(6, 1)
    per_speed = {}
    for b in tree.base_to_tip:
        body, P = tree.bodies[b], tree.parent(b)
        V_P = zero if P is None else V[P]
        H, dV, dA, dA_du, dH = _local(body.mobilizer)(t, q[body.q], u[body.u], udot[body.u])
        R_GF, p_OF = kin.X_GF[b][0], kin.X_GF[b][1] - O[b]
        H, dV, dA, dA_du = (to_ground(R_GF, p_OF, x) for x in (H, dV, dA, dA_du))
        speeds = tree.speeds_of(b)
        for c, k in enumerate(speeds):
            S[k] = H[:, c]
            row_E[k], row_G[k], row_D[k] = rows_of(I[b], B[b], h[b], S[k])
        for c, j in enumerate(speeds):
            E = cross_motion(V_P, dV[:, c]) + dA[:, c]                                       # (1)
            D_, G, E_ = carried_less(S[j], V[b], a[b], dV[:, c], E)                          # (2), (3)
            K_ = cross_motion(V_P, S[j]) + dA_du[:, c] - cross_motion(S[j], V[b])            # (5)
            per_speed[j] = D_, G, E_, K_
            dF_q = crossed_into(F[b], S[j]) + force_change(I[b], B[b], h[b], E_, G, D_)      # (4)
            dF_u = multiply(I[b], K_) + row_D[j] + row_G[j] + 2 * crossed_into(h[b], S[j])   # (5)
            dS = to_ground(R_GF, p_OF, ca.reshape(dH[:, c], 6, len(speeds)))
            for e, k in enumerate(speeds):
                dq[k, j] = inner(S[k], dF_q) + inner(dS[:, e], F[b])                         # (6)
                du[k, j] = inner(S[k], dF_u)
            for ancestor in tree.path(b)[:-1]:
                for k in tree.speeds_of(ancestor):
                    dq[k, j], du[k, j] = inner(S[k], dF_q), inner(S[k], dF_u)                # (6)
        for ancestor in tree.path(b)[:-1]:
            for j in tree.speeds_of(ancestor):
                D_, G, E_, K_ = per_speed[j]
                for k in speeds:
                    dq[k, j] = inner(row_E[k], E_) + inner(row_G[k], G) + inner(row_D[k], D_)                 # (6)
                    du[k, j] = inner(row_E[k], K_) + inner(add(row_G[k], row_D[k]), S[j])
    if loads.bodies or loads.mobility:
        applied = generalised(tree, kin, loads)
        rate = ca.vertcat(ca.SX(0, 1), *(motion(b.mobilizer, t, q[b.q], u[b.u])[8] for b in tree.bodies))
        dq -= ca.jacobian(applied, q) @ ca.jacobian(rate, u)
        du -= ca.jacobian(applied, u)
    return dq, du


def factorisation(tree: Tree, kin: Kinematics, lock: ca.SX) -> tuple[ca.SX, ca.Function]:
    """Factors M = L' D L that keep the tree's sparsity, and solve(factors, b) -> M^-1 b; locked speeds answer zero."""
    before = _before(tree)
    M = mass_matrix(tree, kin) + ca.diag(lock)
    places = [(k, j) for k in range(tree.nu) for j in (k, *before[k])]
    m, b = ca.SX.sym("m", len(places)), ca.SX.sym("b", tree.nu)
    factor = ca.Function("factor", [m], [_factor(tree.nu, before, dict(zip(places, ca.vertsplit(m), strict=True)))])
    solve = ca.Function("solve", [m, b], [_solve(tree.nu, before, dict(zip(places, ca.vertsplit(m), strict=True)), b)])
    return factor.call([ca.vertcat(*(M[k, j] for k, j in places))], True, False)[0], solve


def _before(tree: Tree) -> list[list[int]]:
    """For each speed, the speeds that come before it on its path to ground, nearest first."""
    out: list[list[int]] = []
    for B in tree.base_to_tip:
        above = [k for A in tree.path(B)[:-1] for k in tree.speeds_of(A)]
        for k in tree.speeds_of(B):
            out.append(above[::-1])
            above.append(k)
    return out


def _factor(n: int, before: list[list[int]], m: dict[tuple[int, int], ca.SX]) -> ca.SX:
    """L below and D on the diagonal, in the order of m: Featherstone's L' D L without fill-in."""
    for k in reversed(range(n)):
        for depth, j in enumerate(before[k]):
            ratio = m[k, j] / m[k, k]
            for i in before[k][depth:]:
                m[j, i] = m[j, i] - ratio * m[k, i]
            m[k, j] = ratio
    return ca.vertcat(*m.values())


def _solve(n: int, before: list[list[int]], L: dict[tuple[int, int], ca.SX], b: ca.SX) -> ca.SX:
    x = ca.vertsplit(b)
    for k in reversed(range(n)):
        for j in before[k]:
            x[j] = x[j] - L[k, j] * x[k]
    x = [x[k] / L[k, k] for k in range(n)]
    for k in range(n):
        for j in before[k]:
            x[k] = x[k] - L[k, j] * x[j]
    return ca.vertcat(*x)
