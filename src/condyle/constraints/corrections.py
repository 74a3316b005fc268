"""Projection as expressions: what takes a state to the constraints, and what of an error is along them.

    du = -S G' (G S G')^+ e,    S = W^-2, zero where a speed is locked                                   (1)

is the least ||W du|| with G du = -e (projection.py (1), (2)); the pseudo-inverse is that of multipliers.py. Of an estimated error
(e_q, e_u) projection removes what is normal to the constraints, to first order

    e_q <- e_q + N du,   du by (1) for  p_q e_q,        e_u <- e_u + du,   du by (1) for  G e_u                (2)

and of a quaternion's part what is along the quaternion.
"""
from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from condyle.constraints.multipliers import Blocks, Rank
from condyle.constraints.rows import Rows
from condyle.mobilizers import Mobilizer, motion
from condyle.tree.tree import Tree


def rows_of(rows: Rows, *levels: str) -> list[int]:
    """Numbers of the equations of some levels."""
    return [i for _, part, at in rows.parts if part.level in levels for i in range(at.start, at.stop)]


def changes(rows: Rows, G: ca.SX, S: ca.SX, errors: Sequence[ca.SX]) -> tuple[list[ca.SX], Rank]:
    """du of (1), shape (nu,), for each of some errors of the rows G, and what their rank is like."""
    Z = ca.sparsify(ca.diag(S) @ G.T)
    blocks = Blocks(rows.tree, G, Z)
    return ca.horzsplit(ca.densify(-(Z @ blocks.solve(ca.horzcat(*errors))))), blocks.rank


def position_change(rows: Rows, lock: ca.SX, weights: ca.SX) -> tuple[ca.SX, Rank]:
    """du that takes q towards the constraints, shape (nu,): q <- q + N du, then quaternions are normalised."""
    G = rows.jacobian()[rows_of(rows, "position"), :]
    (du,), rank = changes(rows, G, 1 / (weights ** 2 + lock), [rows.errors()[0]])
    return du, rank


def velocity_change(rows: Rows, lock: ca.SX, weights: ca.SX) -> ca.SX:
    """du that takes u to the constraints, shape (nu,): in one step where they are linear in u."""
    G = rows.jacobian()[rows_of(rows, "position", "velocity"), :]
    return changes(rows, G, 1 / (weights ** 2 + lock), [rows.errors()[1]])[0][0]


def moved(tree: Tree, t: ca.SX, q: ca.SX, du: ca.SX) -> ca.SX:
    """N du, shape (nq,)."""
    return ca.vertcat(ca.SX(0, 1), *(motion(b.mobilizer, t, q[b.q], du[b.u])[8] for b in tree.bodies))


def is_turned_by_quaternion(mobilizer: Mobilizer) -> bool:
    """Whether the first four coordinates are a quaternion."""
    return mobilizer.coordinate_names[:4] == ("qw", "qx", "qy", "qz")


def normalised(tree: Tree, q: ca.SX) -> ca.SX:
    """q with quaternions of unit length."""
    parts = [ca.SX(0, 1)]
    for b in tree.bodies:
        mine = q[b.q]
        parts.append(ca.vertcat(mine[:4] / ca.norm_2(mine[:4]), mine[4:]) if is_turned_by_quaternion(b.mobilizer) else mine)
    return ca.vertcat(*parts)


def across_quaternions(tree: Tree, q: ca.SX, e: ca.SX) -> ca.SX:
    """An error e of q without what changes the lengths of quaternions."""
    parts = [ca.SX(0, 1)]
    for b in tree.bodies:
        mine, at = e[b.q], q[b.q]
        if is_turned_by_quaternion(b.mobilizer):
            mine = ca.vertcat(mine[:4] - at[:4] * ca.dot(at[:4], mine[:4]) / ca.sumsqr(at[:4]), mine[4:])
        parts.append(mine)
    return ca.vertcat(*parts)


def tangential(rows: Rows, lock: ca.SX, weights: ca.SX, errors: Sequence[tuple[ca.SX, ca.SX]]
               ) -> tuple[ca.SX, ca.SX, ca.SX, list[tuple[ca.SX, ca.SX]]]:
    """What a state near the position constraints needs: du of its speeds, what of v that leaves, du to the position constraints,
    and (e_q, e_u) by (2)."""
    view, S, G = rows.view, 1 / (weights ** 2 + lock), rows.jacobian()
    held, moving = rows_of(rows, "position"), rows_of(rows, "position", "velocity")
    p, v = rows.errors()
    P, V = G[held, :], G[moving, :]
    rates = [p, *(ca.jtimes(p, view.q, e_q) for e_q, _ in errors)]
    speeds = [v, *(V @ e_u for _, e_u in errors)]
    if len(moving) == len(held):                            # one factor for both
        both, _ = changes(rows, V, S, [*speeds, *rates])
        du, turns = both[:len(speeds)], both[len(speeds):]
    else:
        du = changes(rows, V, S, speeds)[0]
        turns = changes(rows, P, S, rates)[0] if held else [ca.SX(rows.tree.nu, 1)] * len(rates)
    out = [(e_q + moved(rows.tree, view.t, view.q, turn), e_u + along)
           for (e_q, e_u), turn, along in zip(errors, turns[1:], du[1:], strict=True)]
    linear = not ca.depends_on(V, view.u)
    return du[0], v + V @ du[0] if linear else v, turns[0], out
