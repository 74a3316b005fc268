"""Rates of coordinates and speeds, body by body: the mobilizers' N(q) of mobilizers/base.py (4).

qdot = N u                                                                            (1)
qddot = N udot + Ndot u,    Ndot f = d/dt (N f) with f held = (N f)_q N u             (2)
u = N^-1 qdot                                                                         (3)
udot = N^-1 (qddot - Ndot u)                                                          (4)
N^-1 is the inverse, or, where q is longer than u (quaternions), the left inverse of least squares.
"""

from __future__ import annotations

import casadi as ca

from condyle.arrays import SX
from condyle.mobilizers import Mobilizer, motion
from condyle.native.tables.lookup import Closure
from condyle.tree.body import Body
from condyle.tree.tree import Tree


def rates(mobilizer: Mobilizer, t: SX, q: SX, u: SX, f: SX) -> tuple[SX, SX]:
    """N u of one mobilizer (1), and Ndot f (2): sherman2011 (8), (9)."""
    s_t, s_q, s_u, s_f = (ca.SX.sym(name, x.numel()) for name, x in (("t", t), ("q", q), ("u", u), ("f", f)))
    qdot = motion(mobilizer, s_t, s_q, s_u).qdot
    turned = ca.jtimes(motion(mobilizer, s_t, s_q, s_f).qdot, s_q, qdot)
    out = Closure("rates", [s_t, s_q, s_u, s_f], [ca.densify(qdot), ca.densify(turned)])(t, q, u, f)
    return out[0], out[1]


def _moving(tree: Tree) -> list[Body]:
    return [b for b in tree.owners if b.mobilizer.nq]


def second_rates(tree: Tree, t: SX, q: SX, u: SX, udot: SX) -> SX:
    """qddot (2), shape (nq,)."""
    out = []
    for b in _moving(tree):
        straight = motion(b.mobilizer, t, q[b.q], udot[b.u]).qdot
        out.append(straight + rates(b.mobilizer, t, q[b.q], u[b.u], u[b.u])[1])
    return ca.vertcat(ca.SX(0, 1), *out)


def speeds(tree: Tree, q: SX, qdot: SX) -> SX:
    """u (3), shape (nu,)."""
    return ca.vertcat(ca.SX(0, 1), *(b.mobilizer.N_inverse(q[b.q]) @ qdot[b.q] for b in _moving(tree)))


def speed_rates(tree: Tree, t: SX, q: SX, u: SX, qddot: SX) -> SX:
    """udot (4), shape (nu,)."""
    return speeds(tree, q, qddot - second_rates(tree, t, q, u, ca.SX(tree.nu, 1)))


def matrix(tree: Tree, t: SX, q: SX) -> SX:
    """N, shape (nq, nu)."""
    blocks = [
        ca.horzcat(*(motion(b.mobilizer, t, q[b.q], e).qdot for e in ca.horzsplit(ca.SX.eye(b.mobilizer.nu))))
        for b in _moving(tree)
    ]
    return ca.diagcat(ca.SX(0, 0), *blocks)


def matrix_rate(tree: Tree, t: SX, q: SX, u: SX) -> SX:
    """Ndot (2), shape (nq, nu)."""
    blocks = [
        ca.horzcat(
            *(rates(b.mobilizer, t, q[b.q], u[b.u], e)[1] for e in ca.horzsplit(ca.SX.eye(b.mobilizer.nu)))
        )
        for b in _moving(tree)
    ]
    return ca.diagcat(ca.SX(0, 0), *blocks)
