"""One Newton step of the projection as expressions, for step loops that run as machine code.

    du = -S G' (G S G')^+ e,    S = W^-2, zero where a speed is locked                                   (1)

is the least ||W du|| with G du = -e (projection.py (1), (2)); the pseudo-inverse is that of multipliers.py.
"""
from __future__ import annotations

import casadi as ca

from condyle.constraints.multipliers import Blocks
from condyle.constraints.rows import Rows


def _rows_of(rows: Rows, *levels: str) -> list[int]:
    return [i for _, part, at in rows.parts if part.level in levels for i in range(at.start, at.stop)]


def _change(rows: Rows, G: ca.SX, error: ca.SX, lock: ca.SX, weights: ca.SX | None) -> ca.SX:
    """du of (1)."""
    S = 1 / ((1 if weights is None else weights ** 2) + lock)
    Z = ca.sparsify(ca.diag(S) @ G.T)
    return -(Z @ Blocks(rows.tree, G, Z).solve(error))


def position_change(rows: Rows, lock: ca.SX, weights: ca.SX | None = None) -> ca.SX:
    """du that takes q towards the constraints, shape (nu,): q <- q + N du, then quaternions are normalised."""
    G = rows.jacobian()[_rows_of(rows, "position"), :]
    return _change(rows, G, rows.errors()[0], lock, weights)


def velocity_change(rows: Rows, lock: ca.SX, weights: ca.SX | None = None) -> ca.SX:
    """du that takes u to the constraints, shape (nu,): in one step where they are linear in u."""
    G = rows.jacobian()[_rows_of(rows, "position", "velocity"), :]
    return _change(rows, G, rows.errors()[1], lock, weights)
