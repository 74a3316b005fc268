"""The linear complementarity problem: docs/theory/rigid_contact.md.

    w = A z + b,   w >= 0,   z >= 0,   w . z = 0                                                          (10)

is solved by Lemke's method, with the lexicographic rule: it ends, at a solution or at a ray, which means that
there is none if A is copositive-plus, as in impacts. No maintained package for it fits: SciPy has none, QP
solvers (daqp) take symmetric A, and friction's is not.
"""

from __future__ import annotations

import numpy as np


def lemke(A: np.ndarray, b: np.ndarray, limit: int | None = None) -> np.ndarray | None:
    """z of (10), or None where Lemke's method ends at a ray.

    Args:
        A: shape (n, n).
        b: shape (n,).
        limit: pivots; 50 (n + 10) by default, after which it is None too.
    """
    n = len(b)
    if not n or (b >= 0).all():
        return np.zeros(n)
    # rows: basic variables. Columns: w (n), z (n), z0, right-hand side; the w columns hold the inverse basis
    T = np.hstack([np.eye(n), -A, -np.ones((n, 1)), b[:, None]])
    basis = list(range(n))

    def leaving(entering: int, allowed: np.ndarray) -> int | None:
        """The row whose variable reaches zero first; the lexicographic least of equal ones."""
        rows = allowed
        for column in (2 * n + 1, *range(n)):
            ratio = T[rows, column] / T[rows, entering]
            rows = rows[ratio <= ratio.min() + 1e-12 * max(1.0, abs(ratio.min()))]
            if len(rows) == 1:
                break
        first = [r for r in rows if basis[r] == 2 * n]  # z0 leaves as soon as it may
        return int(first[0] if first else rows[0])

    def pivot(row: int, column: int) -> int:
        T[row] /= T[row, column]
        others = T[:, column].copy()
        others[row] = 0.0
        np.subtract(T, np.outer(others, T[row]), out=T)
        out, basis[row] = basis[row], column
        return out

    order = np.lexsort((np.arange(n), b))
    out = pivot(int(order[0]), 2 * n)
    size = max(1.0, float(np.abs(A).max()))
    for _ in range(limit or 50 * (n + 10)):
        entering = out + n if out < n else out - n
        allowed = np.flatnonzero(T[:, entering] > 1e-11 * size)
        if not len(allowed):
            return None  # a ray
        row = leaving(entering, allowed)
        assert row is not None
        out = pivot(row, entering)
        if out == 2 * n:
            z = np.zeros(2 * n + 1)
            z[basis] = np.maximum(T[:, -1], 0.0)
            return z[n : 2 * n]
    return None
