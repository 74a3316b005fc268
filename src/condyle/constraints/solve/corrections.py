"""Projection as expressions: corrections of a state to the constraints, and the tangential part of errors.

    du = -S G' (G S G')^+ e,    S = W^-2 for positions, M^-1 for speeds; zero where a speed is locked    (1)

is the least du' S^-1 du with G du = -e (projection.py (1), (2)); the pseudo-inverse is that of
multipliers.py. Speeds change as by an impulse of the constraints, which does not affect tangential motion.
With W instead of M, the large normal part near a loss of rank would enter the motion. Projection removes the
normal part of an estimated error (e_q, e_u), to first order

    e_q <- e_q + N du,   du by (1) for  p_q e_q,        e_u <- e_u + du,   du by (1) for  G e_u            (2)

and of a quaternion's part what is along the quaternion.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from condyle.arrays import SX, vertcat
from condyle.constraints.solve.equations import ConstraintEquations
from condyle.constraints.solve.multipliers import ROUNDING, UNMET, ConstraintBlocks
from condyle.dynamics.mass_matrix import factorization, mass_matrix
from condyle.mobilizers import motion
from condyle.tree.tree import Tree

MASSLESS = 1e-12
"""[kg m^2, kg] times W^2, added to M."""


def rows_of(rows: ConstraintEquations, *levels: str) -> list[int]:
    """Numbers of the equations of some levels."""
    return [i for _, part, at in rows.parts if part.level in levels for i in range(at.start, at.stop)]


def turns(
    rows: ConstraintEquations, P: SX, lock: SX, weights: SX, errors: Sequence[SX]
) -> tuple[list[SX], SX]:
    """du of (1) for each of some errors of position rows P, shape (nu,), and whether these are delicate."""
    return _changes(rows, P, ca.sparsify(ca.diag(1 / (weights**2 + lock)) @ P.T), lock, errors)


def impulses(rows: ConstraintEquations, V: SX, lock: SX, weights: SX, errors: Sequence[SX]) -> list[SX]:
    """du of (1) for each of some errors of the rows V of speeds, shape (nu,). Weights serve as masses where
    there are none."""
    factor, solve = factorization(rows.tree, mass_matrix(rows.tree, rows.kin), lock + MASSLESS * weights**2)
    columns = [solve.call([factor, ca.densify(V[i, :].T)], True, False)[0] for i in range(V.shape[0])]
    return _changes(rows, V, ca.sparsify(ca.horzcat(ca.SX(rows.tree.nu, 0), *columns)), lock, errors)[0]


def _changes(rows: ConstraintEquations, G: SX, Z: SX, lock: SX, errors: Sequence[SX]) -> tuple[list[SX], SX]:
    found = ConstraintBlocks(rows, G, Z, lock)
    met = found.meet(ca.SX(rows.tree.nu, len(errors)), ca.horzcat(*errors))
    return ca.horzsplit(ca.densify(met.x)), found.delicate


def position_change(rows: ConstraintEquations, lock: SX, weights: SX) -> tuple[SX, SX]:
    """du that takes q toward the constraints, shape (nu,): q <- q + N du, then quaternions are normalized;
    and whether the constraints are delicate."""
    (du,), delicate = turns(
        rows, rows.jacobian()[rows_of(rows, "position"), :], lock, weights, [rows.errors()[0]]
    )
    return du, delicate


def velocity_change(rows: ConstraintEquations, lock: SX, weights: SX) -> SX:
    """du that takes u to the constraints, shape (nu,): in one step where they are linear in u."""
    return impulses(
        rows, rows.jacobian()[rows_of(rows, "position", "velocity"), :], lock, weights, [rows.errors()[1]]
    )[0]


def jump(rows: ConstraintEquations, du: SX, lock: SX) -> list[SX]:
    """Impulses of the constraints: du without them becomes du - M^-1 G' lambda with G du = -v, for rows of
    position and velocity; lambda (m,) of all rows, zero for those of accelerations; what is left of G du + v,
    and what may be, multipliers.py (8)."""
    G, moving = rows.jacobian(), rows_of(rows, "position", "velocity")
    V = G[moving, :]
    factor, solve = factorization(rows.tree, mass_matrix(rows.tree, rows.kin), lock)
    columns = [solve.call([factor, ca.densify(V[i, :].T)], True, False)[0] for i in range(len(moving))]
    found = ConstraintBlocks(rows, V, ca.sparsify(ca.horzcat(ca.SX(rows.tree.nu, 0), *columns)), lock)
    met = found.meet(du, rows.errors()[1])
    terms = ca.fabs(V) @ (ca.fabs(rows.view.u) + ca.fabs(met.x))
    out = [ca.SX(rows.size, 1) for _ in range(3)]
    for whole, part in zip(out, (met.lambda_, met.r, UNMET * met.size + ROUNDING * terms), strict=True):
        whole[moving] = part
    return [ca.densify(met.x), *map(ca.densify, out)]


def moved(tree: Tree, t: SX, q: SX, du: SX) -> SX:
    """N du, shape (nq,)."""
    return vertcat(motion(b.mobilizer, t, q[b.q], du[b.u]).qdot for b in tree.owners)


def normalized(tree: Tree, q: SX) -> SX:
    """q with quaternions of unit length."""
    unit = ca.SX(ca.densify(q))
    for part in tree.quaternions:
        unit[part] = q[part] / ca.norm_2(q[part])
    return unit


def across_quaternions(tree: Tree, q: SX, e: SX) -> SX:
    """An error e of q without what changes the lengths of quaternions."""
    across = ca.SX(ca.densify(e))
    for part in tree.quaternions:
        across[part] = e[part] - q[part] * ca.dot(q[part], e[part]) / ca.sumsqr(q[part])
    return across


def tangential(
    rows: ConstraintEquations, lock: SX, weights: SX, errors: Sequence[tuple[SX, SX]]
) -> tuple[SX, SX, SX, list[tuple[SX, SX]]]:
    """Corrections of a state near the position constraints: du of its speeds, the remaining v, du to the
    position constraints, and (e_q, e_u) by (2).
    """
    view, G = rows.view, rows.jacobian()
    held, moving = rows_of(rows, "position"), rows_of(rows, "position", "velocity")
    p, v = rows.errors()
    P, V = G[held, :], G[moving, :]
    along = impulses(rows, V, lock, weights, [v, *(V @ e_u for _, e_u in errors)])
    rates = [p, *(ca.jtimes(p, view.q, e_q) for e_q, _ in errors)]
    du = turns(rows, P, lock, weights, rates)[0] if held else [ca.SX(rows.tree.nu, 1)] * len(rates)
    out = [
        (e_q + moved(rows.tree, view.t, view.q, turn), e_u + change)
        for (e_q, e_u), turn, change in zip(errors, du[1:], along[1:], strict=True)
    ]
    linear = not ca.depends_on(V, view.u)
    return along[0], v + V @ along[0] if linear else v, du[0], out
