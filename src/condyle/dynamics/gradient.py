"""Gradient of x . tau with respect to q and u for fixed x and udot, tau from inverse dynamics, O(n); with x =
M^-1 w and the udot of forward dynamics it is that of -w . udot.

Frames and notation as in kinematics.py and inertia.py; A with gravity as an upward acceleration of ground. X
is the motion of a body under speeds x (aba.py), and the differentiated function is virtual power:

  x . tau = sum over bodies of X . (M A + gyroscopic)                                                      (1)

A bar marks the derivative of (1) with respect to a quantity of one body, all else of that body held. A body
passes w, alpha, a and X on to its children, and so bars are sums from tip to base; m the mass, p_c the mass
center from M's origin, in ground:
  X_bar = F = M A + gyroscopic + sum over children shift(F, r)                   the mobilizer's force     (2)
  A_bar = M X + sum over children shift(A_bar, r)                                                          (3)
  w_bar = 2 (I w x X_w + (w x p_c) x m X_v) + (tr(I) X_w - I X_w + p_c x m X_v) x w                        (4)
          + sum over children w_bar + w_FM x A_bar_w + (w x r + 2 v_FM) x A_bar_v + r x (A_bar_v x w)      (5)
Turning everything alike changes nothing. Turning a body with all that it carries, but not its own w, A and X,
therefore gives
  R_bar = -(w x w_bar + alpha x A_bar_w + a x A_bar_v + X_w x F_w + X_v x F_v)                             (6)
and moving it, with w, alpha, X of the parent P
  r_bar = F_v x X_Pw + A_bar_v x alpha_P + (A_bar_v x w_P) x w_P                                           (7)
The rest concerns each mobilizer by itself: V_FM = H u + Vt enters w, c_w and c_v of kinematics.py,
  V_bar = (w_bar + A_bar_w x w_P, 2 A_bar_v x w_P)                                                         (8)
  d/dq_j = R_bar . h_w + r_bar . h_v + d/dq_j (V_bar . V_FM + A_bar . (H udot + bias) + F . H x)           (9)
  d/du_j = V_bar . h + d/du_j (A_bar . bias)                                                              (10)
with d/dq_j along N e_j. Only (9) and (10) are differentiated automatically, in F, one mobilizer at a time.

Loads take away psi = sum of X . load + x . f (load_gradient.py): F has -load, and psi, which sees poses and
velocities, has bars of its own. With v_bar and T = (T_w, p_bar), from turning and moving the loads with their
  bodies, also summed from tip to base, w_bar has r x v_bar of children, V_bar_v has v_bar,
  R_bar has T_w - v x v_bar, r_bar has p_bar + v_bar x w_P                                                (11)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import casadi as ca

from condyle.arrays import SX
from condyle.dynamics.aba import ZERO, TreeSolution
from condyle.dynamics.inertia import add, inner, rigid, shift_force
from condyle.dynamics.inline import inlined
from condyle.dynamics.kinematics import Kinematics, Pair
from condyle.mobilizers import Mobilizer, motion
from condyle.native.tables.lookup import Closure
from condyle.records import dataclass
from condyle.tree.tree import Tree

cross = ca.cross

_LOCAL: dict[str, Closure] = {}


@dataclass
class Bars:
    """Sums over a body and its subtree, (2)-(5); v_bar and T of (11) are structurally zero without
    loads."""

    F: Pair
    A: Pair
    w: ca.SX
    v: ca.SX = field(default_factory=lambda: ca.SX(3, 1))
    T: Pair = ZERO


@dataclass
class BodyMotion:
    """State of a body and of its parent in (6)-(8); V is used with loads only, except w."""

    V: Pair
    A: Pair
    X: Pair
    w_P: ca.SX
    alpha_P: ca.SX
    X_Pw: ca.SX


@inlined
def own(I, p_c, mass, w, A, X):
    """F, A_bar and w_bar of one body by itself: (2), (3), (4)."""
    (alpha, a), (X_w, X_v) = A, X
    Iw, wp = I @ w, cross(w, p_c)
    F = I @ alpha + cross(w, Iw) + cross(p_c, mass * a), mass * (a + cross(alpha, p_c) + cross(w, wp))
    IX, mX = I @ X_w, mass * X_v
    pX = cross(p_c, mX)
    A_bar = IX + pX, mX + mass * cross(X_w, p_c)
    return F, A_bar, 2 * (cross(Iw, X_w) + cross(wp, mX)) + cross(ca.trace(I) * X_w - IX + pX, w)


@inlined
def handed_on(A_bar, w_bar, r, w_P, V_FM):
    """Contribution of a child to w_bar of its parent: (5)."""
    (w_FM, v_FM), (A_w, A_v) = V_FM, A_bar
    return w_bar + cross(w_FM, A_w) + cross(cross(w_P, r) + 2 * v_FM, A_v) + cross(r, cross(A_v, w_P))


@inlined
def turned(V, A, X, F, A_bar, w_bar):
    """R_bar (6)."""
    return -(
        cross(V[0], w_bar)
        + cross(A[0], A_bar[0])
        + cross(A[1], A_bar[1])
        + cross(X[0], F[0])
        + cross(X[1], F[1])
    )


@inlined
def moved(F, A_bar, w_P, alpha_P, X_Pw):
    """r_bar (7)."""
    return cross(F[1], X_Pw) + cross(A_bar[1], alpha_P) + cross(cross(A_bar[1], w_P), w_P)


@inlined
def turned_back(R_GF, a):
    """A spatial vector of ground in F."""
    return R_GF.T @ a[0], R_GF.T @ a[1]


def to_parent(bars: Bars, r: SX, w_P: SX, V_FM: Pair) -> Bars:
    """Contribution of a child to the bars of its parent: (2), (3), (5), (11)."""
    w = handed_on(bars.A, bars.w, r, w_P, V_FM) + cross(r, bars.v)
    return Bars(shift_force(bars.F, r), shift_force(bars.A, r), w, bars.v, shift_force(bars.T, r))


def added(a: Bars, b: Bars) -> Bars:
    return Bars(add(a.F, b.F), add(a.A, b.A), a.w + b.w, a.v + b.v, add(a.T, b.T))


def of_loads(loads: LoadGradient, B: int) -> Bars:
    V = loads.V.get(B, ZERO)
    return Bars(loads.F.get(B, ZERO), ZERO, V[0], V[1], loads.T.get(B, ZERO))


def _local(mobilizer: Mobilizer) -> Closure:
    """The last terms of (9) and (10) as functions of t, q, u, udot, x and bars of V_FM, A, X and H, in F."""
    text = mobilizer.description()
    if text not in _LOCAL:
        nu = mobilizer.nu
        t, q, u, udot, x = (
            ca.SX.sym(n, k) for n, k in (("t", 1), ("q", mobilizer.nq), ("u", nu), ("udot", nu), ("x", nu))
        )
        V_bar, A_bar, F = ((ca.SX.sym(n, 3), ca.SX.sym(n, 3)) for n in ("V_bar", "A_bar", "F"))
        H_bar = ca.SX.sym("H_bar", 3, nu), ca.SX.sym("H_bar", 3, nu)
        _, _, H_w, H_v, w_t, v_t, bias_w, bias_v, rate = motion(mobilizer, t, q, u)
        biased = inner(A_bar, (bias_w, bias_v))
        value = biased + inner(V_bar, (w_t, v_t))
        for k, H in enumerate((H_w, H_v)):
            columns = V_bar[k] @ u.T + A_bar[k] @ udot.T + F[k] @ x.T + H_bar[k]
            value += ca.dot(columns, ca.densify(H))
        dq = ca.jtimes(rate, u, ca.gradient(value, q), True)  # along N
        outputs = [ca.sparsify(dq), ca.sparsify(ca.gradient(biased, u))]
        _LOCAL[text] = Closure("local", [t, q, u, udot, x, *V_bar, *A_bar, *F, *H_bar], outputs)
    return _LOCAL[text]


def is_plain(mobilizer: Mobilizer) -> bool:
    """Whether the last terms of (9) and (10) are zero: H is constant in F, and there is no bias."""
    return not any(_local(mobilizer).function.nnz_out(k) for k in range(2))


def of_mobilizer(
    mobilizer: Mobilizer,
    t: SX,
    q: SX,
    u: SX,
    udot: SX,
    x: SX,
    R_GF: SX | None,
    H: Sequence[Pair],
    at: BodyMotion,
    bars: Bars,
    r_bar: Any = 0,
    H_bar: Sequence[Pair] = (),
) -> tuple[SX, SX]:
    """(9) and (10) for one mobilizer, each (nu,). R_GF is not used where the mobilizer `is_plain`. r_bar and
    H_bar: contributions of loads to these; none by default.
    """
    R_bar = turned(at.V, at.A, at.X, bars.F, bars.A, bars.w) + bars.T[0] - cross(at.V[1], bars.v)  # (6), (11)
    r_bar = (
        moved(bars.F, bars.A, at.w_P, at.alpha_P, at.X_Pw) + bars.T[1] + cross(bars.v, at.w_P) + r_bar
    )  # (7), (11)
    V_bar = bars.w + cross(bars.A[0], at.w_P), 2 * cross(bars.A[1], at.w_P) + bars.v  # (8), (11)
    dq, du = (ca.vertcat(ca.SX(0, 1), *(inner(a, h) for h in H)) for a in ((R_bar, r_bar), V_bar))
    if is_plain(mobilizer):
        return dq, du
    assert R_GF is not None
    to_F = [x for a in (V_bar, bars.A, bars.F) for x in turned_back(R_GF, a)]
    on_H = [
        R_GF.T @ ca.horzcat(*(h[k] for h in H_bar)) if H_bar else ca.SX(3, mobilizer.nu) for k in range(2)
    ]
    more_q, more_u = _local(mobilizer)(t, q, u, udot, x, *to_F, *on_H)
    return dq + more_q, du + more_u


def gradient(
    tree: Tree,
    kin: Kinematics,
    t: SX,
    q: SX,
    u: SX,
    solved: TreeSolution,
    loads: LoadGradient | None,
) -> tuple[SX, SX]:
    """d (x . tau)/dq and /du, each (nu,), over the whole tree; udot, x, A and X are those of `solved`."""
    loads = loads or LoadGradient()
    bars: dict[int, Bars] = {}
    for B, placed in enumerate(kin.placed):
        I, p_c = rigid(kin.R_GM[B], placed.mass, placed.com, placed.I)
        bars[B] = added(
            Bars(*own(I[0], p_c, placed.mass, kin.V_GM[B][0], solved.A[B], solved.X[B])), of_loads(loads, B)
        )
    dq, du = {}, {}
    for B in tree.tip_to_base:
        body, P = tree.bodies[B], tree.parent(B)
        w_P = ca.SX(3, 1) if P is None else kin.V_GM[P][0]
        at = BodyMotion(kin.V_GM[B], solved.A[B], solved.X[B], w_P, solved.A[P][0], solved.X[P][0])
        H_bar = loads.H.get(B, [ZERO] * len(kin.H[B])) if loads.H else ()
        dq[B], du[B] = of_mobilizer(
            body.mobilizer,
            t,
            q[body.q],
            u[body.u],
            solved.udot[body.u],
            solved.x[body.u],
            kin.X_GF[B][0],
            kin.H[B],
            at,
            bars[B],
            loads.r.get(B, 0),
            H_bar,
        )
        dq[B], du[B] = dq[B] + loads.q.get(B, 0), du[B] + loads.u.get(B, 0)
        if P is not None:
            bars[P] = added(bars[P], to_parent(bars[B], kin.p_PM[B], w_P, kin.V_FM[B]))
    for b in tree.bodies:
        if b.follows is not None:
            owner = b.follows.index
            dq[owner], du[owner] = dq[owner] + dq[b.index], du[owner] + du[b.index]
    both = [ca.vertcat(ca.SX(0, 1), *(d[b.index] for b in tree.owners)) for d in (dq, du)]
    return both[0], both[1]


@dataclass
class LoadGradient:
    """Bars of -psi by body, H: one per column; zeros may be left out. q and u: with respect to q and u
    themselves as used by laws, as d/dq_j along N and d/du_j.
    """

    F: dict[int, Pair] = field(default_factory=dict)
    V: dict[int, Pair] = field(default_factory=dict)
    T: dict[int, Pair] = field(default_factory=dict)
    r: dict[int, ca.SX] = field(default_factory=dict)
    H: dict[int, list[Pair]] = field(default_factory=dict)
    q: dict[int, ca.SX] = field(default_factory=dict)
    u: dict[int, ca.SX] = field(default_factory=dict)
