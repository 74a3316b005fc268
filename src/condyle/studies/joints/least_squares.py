"""Control frames of a spline curve by least squares, at given q_k: exact Gauss-Newton.

  minimize  sum_k w_k rho(|r_k|) + w int |h|^2 dq,     r_k, h as in local.py                               (1)
  M u = g,  G_j <- G_j exp(u_j),  u halved until (1) falls

rho(x) = x^2, or Huber's: x^2 up to a scale c, then 2 c x - c^2. Every frame and every Gauss point adds a
block of 6 k rows to M and g; these are summed per knot interval, hence M is a band of 6 k for open curves,
and a band that closes on itself for closed ones. With lee2008's (34) in the place of the exact derivatives
the same loop is their geometric iteration (35)-(36). Their smoothing (37)-(42) approximates what the integral
has here exactly.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.records import dataclass
from condyle.spatial import Transform, exp_se3, log_se3
from condyle.studies.joints import local
from condyle.studies.joints.knots import Knots

CHUNK = 4096
"""Frames whose blocks are in memory at once: 10 MB for order 4."""
ITERATIONS, HALVINGS = 50, 12
TOLERANCE = 1e-10
"""A step that is shorter than this part of the path's size is the last."""
RIDGE, LARGEST_RIDGE = 1e-14, 1e-4
"""Added to the diagonal of M, relative to its largest entry; more where M is not positive definite."""
UNDETERMINED = 1e-9
"""A control frame whose own weight falls below this part of itself once its neighbors are known is not
determined by the data."""


@dataclass(frozen=True)
class Step:
    """One iteration: which derivatives it used, the value of (1) [m^2] before it, its longest twist [m]."""

    method: str
    cost: float
    length: float


@dataclass(eq=False)
class CurveProblem:
    """(1) for one set of frames, q and knots.

    Args:
        knots: of the curve.
        D: measured frames, rows of 12 numbers, shape (N, 12).
        q: shape (N,), in the domain.
        U: upper triangular, U'U is the metric, shape (6, 6).
        weights: of the frames, shape (N,).
        smoothing: w.
        scale: c of the Huber loss [m]; infinite for squares.
        free: share of the residuals along the path that does not count, local.py (3): 0 where q is known.
    """

    knots: Knots
    D: Array
    q: Array
    U: Array
    weights: Array
    smoothing: float = 0.0
    scale: float = np.inf
    free: float = 0.0
    history: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        k = self.knots.order
        self._order = np.argsort(self.knots.interval(self.q), kind="stable")
        q = self.q[self._order]
        self._interval, self._Bt = self.knots.interval(q), self.knots.cumulative(q, 1)
        self._sorted = self.D[self._order]
        self._triangle = self.U[np.triu_indices(6)]
        rows, columns = np.triu_indices(6 * k)
        first = 6 * self.knots.active[:, :, None] + np.arange(6)  # unknowns of each interval
        unknowns = first.reshape(len(first), 6 * k)
        self._rows, self._columns, self._unknowns = unknowns[:, rows], unknowns[:, columns], unknowns
        if self.smoothing:
            points, w = self.knots.quadrature()
            self._smooth = (
                self.knots.interval(points),
                self.knots.cumulative(points, 2),
                self.smoothing * w[:, None],
            )

    def evaluate(self, G: Array, exact: bool = True) -> tuple[float, Array, Array, Array]:
        """(1), M per interval as upper triangles, g per interval, and |r_k| [m], shape (N,)."""
        k, m = self.knots.order, len(self.knots.left)
        M, g = np.zeros((m, 3 * k * (6 * k + 1))), np.zeros((m, 6 * k))
        size = np.empty(len(self.q))
        kernel, weights = local.residual(k, exact), self.weights[self._order]
        inside = ((self.q > self.knots.domain[0]) & (self.q < self.knots.domain[1]))[self._order]
        factors = np.column_stack([weights, np.full(len(weights), self.scale), self.free * inside])
        for a in range(0, len(self.q), CHUNK):
            part = slice(a, a + CHUNK)
            i = self._interval[part]
            r, M_k, g_k = kernel(
                G[self.knots.active[i]].reshape(len(i), -1),
                self._Bt[part],
                self._sorted[part],
                self._triangle,
                factors[part],
            )
            size[self._order[part]] = np.sqrt(np.einsum("ni,ni->n", r, r))
            _add_by(i, M, M_k, g, g_k)
        x, c = size, self.scale
        cost = float(
            self.weights
            @ np.where(x <= c, x * x, 2 * c * np.minimum(x, 1e150) - c * c if c < np.inf else 0.0)
        )
        if self.smoothing:
            i, Bt, w = self._smooth
            h, M_h, g_h = local.hessian(k)(G[self.knots.active[i]].reshape(len(i), -1), Bt, self._triangle, w)
            _add_by(i, M, M_h, g, g_h)
            cost += float(w[:, 0] @ np.einsum("ni,ni->n", h, h))
        return cost, M, g, size

    def solve(self, M: Array, g: Array) -> Array:
        """u of (1), shape (n, 6)."""
        n = 6 * self.knots.n
        right = np.bincount(self._unknowns.ravel(), g.ravel(), minlength=n)
        if self.knots.closed:
            return self._cyclic(M, np.asarray(right, dtype=float))
        from scipy.linalg import solveh_banded

        width = 6 * self.knots.order
        band = np.bincount(
            ((self._columns - self._rows) * n + self._rows).ravel(), M.ravel(), minlength=width * n
        ).reshape(width, n)
        largest, ridge = band[0].max(), RIDGE
        while True:
            band[0] += ridge * largest
            try:
                return np.asarray(solveh_banded(band, right, lower=True, check_finite=False)).reshape(-1, 6)
            # a search may come by q that do not determine all
            except np.linalg.LinAlgError:
                if not ridge < LARGEST_RIDGE:
                    raise
                ridge *= 1e3

    def _cyclic(self, M: Array, right: Array) -> Array:
        from scipy.sparse import coo_matrix, diags
        from scipy.sparse.linalg import splu

        n = len(right)
        rows, columns = self._rows.ravel(), self._columns.ravel()
        half = np.where(rows == columns, 0.5, 1.0) * M.ravel()
        A = coo_matrix((half, (rows, columns)), (n, n)).tocsc()
        A = A + A.T
        A = A + diags(np.full(n, RIDGE * A.diagonal().max()))
        return np.asarray(splu(A.tocsc()).solve(right)).reshape(-1, 6)

    def run(
        self, G: Array, exact: bool = True, iterations: int = ITERATIONS, tolerance: float = TOLERANCE
    ) -> tuple[Array, bool]:
        """Control frames from G (n, 12), and whether the steps became short."""
        method, size = "Gauss-Newton" if exact else "geometric", self.size
        cost, M, g, _ = self.evaluate(G, exact)
        for _ in range(iterations):
            u = self.solve(M, g)
            for _ in range(HALVINGS):
                length = float(np.sqrt(((u @ self.U.T) ** 2).sum(1).max()))
                moved = self.moved(G, u)
                new, M, g, _ = self.evaluate(moved, exact)
                if new <= cost or length <= tolerance * size:
                    break
                u = u / 2
            else:
                return G, False
            self.history.append(Step(method, cost, length))
            fallen, G, cost = cost - new, moved, new
            if length <= tolerance * size:
                return G, True
            if not exact and fallen <= 1e-3 * new:  # Gauss-Newton does the rest
                return G, True
        return G, False

    @staticmethod
    def moved(G: Array, u: Array) -> Array:
        """Control frames (n, 12) moved by twists (n, 6)."""
        return local.numbers(local.transform(G) @ exp_se3(u))

    @property
    def size(self) -> float:
        """How far the measured frames reach from the first [m], in the metric."""
        logs = log_se3(
            local.transform(self.D[:1]).inverse() @ local.transform(self.D[:: len(self.D) // 500 + 1])
        )
        return max(float(np.sqrt(((logs @ self.U.T) ** 2).sum(1).max())), 1e-12)

    def undetermined(self) -> int | None:
        """A control frame that the data do not determine, if there is no smoothing; None if there is none."""
        B = self.knots.weights(self.q) * np.sqrt(self.weights)[:, None]
        active, n = self.knots.active[self.knots.interval(self.q)], self.knots.n
        A = np.zeros((n, n))
        for a in range(self.knots.order):
            for b in range(self.knots.order):
                np.add.at(A, (active[:, a], active[:, b]), B[:, a] * B[:, b])
        size = np.diag(A).copy()
        for j in range(n):  # Cholesky's pivots, in the band only
            if A[j, j] <= UNDETERMINED * size[j] or size[j] == 0:
                return j
            row = A[j, j + 1 :] / A[j, j]
            near = np.flatnonzero(row)
            A[np.ix_(near + j + 1, near + j + 1)] -= np.outer(row[near], A[j, near + j + 1])
        return None


def start(knots: Knots, D: Array, q: Array) -> Array:
    """Control frames (n, 12) to start from: measured frames near the Greville abscissae, then one linear fit
    of the logarithms about the curve that these make."""
    from scipy.sparse import csr_matrix, diags
    from scipy.sparse.linalg import splu

    order = np.argsort(q, kind="stable")
    near = np.searchsorted(q[order], knots.greville)
    both = np.clip(np.stack([near - 1, near]), 0, len(q) - 1)
    pick = np.abs(q[order][both] - knots.greville).argmin(0)
    G = D[order][both[pick, np.arange(knots.n)]]
    X = poses(knots, G, q)
    left = log_se3(X.inverse() @ local.transform(D))
    k = knots.order
    A = csr_matrix(
        (knots.weights(q).ravel(), knots.active[knots.interval(q)].ravel(), np.arange(len(q) + 1) * k),
        (len(q), knots.n),
    )
    N = (A.T @ A).tocsc()
    N = N + diags(np.full(knots.n, 1e-9 * N.diagonal().max()))
    u = splu(N.tocsc()).solve(np.ascontiguousarray(A.T @ left))
    return CurveProblem.moved(G, u)


def poses(knots: Knots, G: Array, q: Array) -> Transform:
    """G(q), from control frames (n, 12)."""
    return local.transform(motion(knots, G, q)[0])


def motion(knots: Knots, G: Array, q: Array) -> Any:
    """G(q) (N, 12), s and ds/dq (N, 6)."""
    return local.motion(knots.order)(
        G[knots.active[knots.interval(q)]].reshape(len(q), -1), knots.cumulative(q, 2)
    )


def _add_by(i: Array, M: Array, M_k: Array, g: Array, g_k: Array) -> None:
    """Add blocks to those of their interval; i increases."""
    edges = np.flatnonzero(np.diff(i, prepend=-1))
    M[i[edges]] += np.add.reduceat(M_k, edges, axis=0)
    g[i[edges]] += np.add.reduceat(g_k, edges, axis=0)
