"""Assembly: objective, constraints, Jacobian and Hessian of collocation/__init__.py (1), (2), scaled.

With unknowns z = S x, constraints R c and the objective r f, S and R diagonal, solvers get

    r (a.Sx + b.F(Sx)),     R (A Sx + B F(Sx))                                                             (1)

and S, R, r are folded into the constant matrices: scaling costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from condyle.arrays import Array
from condyle.collocation.point_functions import PointFunction
from condyle.records import dataclass


@dataclass(frozen=True, eq=False)
class FunctionAtPoints:
    """A function at some points.

    Attributes:
        function: F(y, d).
        index: unknowns that form y at each point, shape (k, y).
        data: d at each point, shape (k, d).
    """

    function: PointFunction
    index: Any
    data: Array


@dataclass(eq=False)
class SparseEntries:
    """Accumulates entries (row, column, value) of sparse matrices."""

    rows: list[Any]
    columns: list[Any]
    values: list[Any]

    @classmethod
    def empty(cls) -> SparseEntries:
        return cls([], [], [])

    def add(self, row: Any, column: Any, value: Any) -> None:
        """Arrays that broadcast."""
        row, column, value = np.broadcast_arrays(row, column, value)
        self.rows.append(row.ravel())
        self.columns.append(column.ravel())
        self.values.append(value.ravel())

    def matrix(self, shape: tuple[int, int]) -> sparse.csr_matrix:
        parts = [np.concatenate([*x, np.zeros(0)]) for x in (self.rows, self.columns, self.values)]
        return sparse.csr_matrix((parts[2], (parts[0].astype(int), parts[1].astype(int))), shape)


class Assembly:
    """A nonlinear program assembled from functions at points.

    Args:
        n: number of unknowns z.
        groups: functions at points; F has their values one after the other.
        A: of (1), shape (m, n).
        B: of (1), shape (m, size of F).
        a: of (1), shape (n,).
        b: of (1), shape (size of F,).
        S: size of one unit of each unknown, shape (n,).
        R: factors of the constraints, shape (m,).
        r: factor of the objective.

    Attributes:
        jacobian_rows: of each entry of the Jacobian.
        jacobian_columns: of each entry of the Jacobian.
        hessian_rows: of each entry of the Hessian, its lower half.
        hessian_columns: of each entry of the Hessian.
    """

    def __init__(
        self,
        n: int,
        groups: Sequence[FunctionAtPoints],
        A: sparse.csr_matrix,
        B: sparse.csr_matrix,
        a: Array,
        b: Array,
        S: Array,
        R: Array,
        r: float = 1.0,
    ) -> None:
        self.n, self.groups, self.A, self.B, self.a, self.b = n, list(groups), A, B, a, b
        self.S, self.R, self.m = S, R, A.shape[0]
        sizes = [g.function.size * len(g.index) for g in self.groups]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        self._x: Array | None = None
        self._F: Array | None = None
        self._J: Array | None = None
        self._jacobian_pattern()
        self._hessian_pattern()
        self.scale_objective(r)

    def scale_objective(self, r: float) -> None:
        """Another factor of the objective."""
        self.r = r
        self._gradient = r * self._plain_gradient
        self._Sa = r * self.S * self.a

    # ---- patterns ------------------------------------------------------------------------------------------

    def _entries(self, kind: str) -> tuple[Any, Any]:
        """Rows (of F, or unknowns) and unknowns of all entries of J or H at points."""
        rows, columns = [np.zeros(0, int)], [np.zeros(0, int)]
        for g, start in zip(self.groups, self.starts, strict=False):
            r, c = getattr(g.function.pattern, kind)
            points = np.arange(len(g.index))[:, None]
            rows.append(
                (start + points * g.function.size + r if kind == "jacobian" else g.index[:, r]).ravel()
            )
            columns.append(g.index[:, c].ravel())
        return np.concatenate(rows), np.concatenate(columns)

    def _jacobian_pattern(self) -> None:
        row, column = self._entries("jacobian")
        entries = len(row)
        Bc = self.B.tocsc()
        counts = np.diff(Bc.indptr)[row]
        entry = np.repeat(np.arange(entries), counts)
        offset = np.arange(len(entry)) - np.repeat(np.cumsum(counts) - counts, counts)
        at = Bc.indptr[row][entry] + offset
        A = self.A.tocoo()
        rows = np.concatenate([A.row, Bc.indices[at]]).astype(np.int64)
        columns = np.concatenate([A.col, column[entry]]).astype(np.int64)
        key, place = np.unique(rows * self.n + columns, return_inverse=True)
        self.jacobian_rows, self.jacobian_columns = (
            x.astype(np.int32) for x in np.divmod(key, max(self.n, 1))
        )
        size = self.R[self.jacobian_rows] * self.S[self.jacobian_columns]
        self._constant = size * np.bincount(place[: A.nnz], A.data, len(key))
        values = Bc.data[at] * size[place[A.nnz :]]
        self._jacobian = sparse.csr_matrix((values, (place[A.nnz :], entry)), (len(key), entries))
        gradient = sparse.csr_matrix(
            (self.b[row] * self.S[column], (column, np.arange(entries))), (self.n, entries)
        )
        gradient.eliminate_zeros()
        self._plain_gradient = gradient
        self._RA, self._RB = sparse.diags(self.R) @ self.A, sparse.diags(self.R) @ self.B
        self._BR = self._RB.T.tocsr()

    def _hessian_pattern(self) -> None:
        row, column = self._entries("hessian")
        low, high = np.minimum(row, column).astype(np.int64), np.maximum(row, column).astype(np.int64)
        key, place = np.unique(high * self.n + low, return_inverse=True)
        self.hessian_rows, self.hessian_columns = (x.astype(np.int32) for x in np.divmod(key, max(self.n, 1)))
        self._hessian = sparse.csr_matrix(
            (self.S[row] * self.S[column], (place, np.arange(len(row)))), (len(key), len(row))
        )

    # ---- values --------------------------------------------------------------------------------------------

    def _at(self, x: Array) -> None:
        if self._x is None or not np.array_equal(self._x, x):
            self._x, self._F, self._J = np.array(x), None, None

    def unknowns(self, x: Array) -> Array:
        """z = S x."""
        return self.S * x

    def values(self, x: Array) -> Array:
        """F, at scaled unknowns."""
        self._at(x)
        if self._F is None:
            z = self.unknowns(x)
            self._F = np.concatenate(
                [np.zeros(0), *(g.function.values(z[g.index], g.data).ravel() for g in self.groups)]
            )
        return self._F

    def _derivatives(self, x: Array) -> Array:
        self._at(x)
        if self._J is None:
            z = self.unknowns(x)
            found = [g.function.jacobians(z[g.index], g.data) for g in self.groups]
            self._F = np.concatenate([np.zeros(0), *(F.ravel() for F, _ in found)])
            self._J = np.concatenate([np.zeros(0), *(J.ravel() for _, J in found)])
        return self._J

    def objective(self, x: Array) -> float:
        """r f."""
        return float(self._Sa @ x + self.r * (self.b @ self.values(x)))

    def gradient(self, x: Array) -> Array:
        """Of the objective, shape (n,)."""
        return self._Sa + self._gradient @ self._derivatives(x)

    def constraints(self, x: Array) -> Array:
        """R c, shape (m,)."""
        return self._RA @ self.unknowns(x) + self._RB @ self.values(x)

    def jacobian(self, x: Array) -> Array:
        """Entries of the Jacobian of the constraints."""
        return self._constant + self._jacobian @ self._derivatives(x)

    def hessian(self, x: Array, sigma: float, lambda_: Array) -> Array:
        """Entries of the Hessian of sigma f + lambda.c."""
        z = self.unknowns(x)
        mu = self._BR @ lambda_ + sigma * self.r * self.b
        found = [
            g.function.hessians(z[g.index], g.data, mu[a:b].reshape(len(g.index), g.function.size)).ravel()
            for g, a, b in zip(self.groups, self.starts[:-1], self.starts[1:], strict=True)
        ]
        return self._hessian @ np.concatenate([np.zeros(0), *found])
