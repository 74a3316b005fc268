"""B-splines for fits: products on a grid of knots (Grid), and cumulative ones along a curve (CurveKnots).

phi(q) = sum_a c_a B_a(q),   B_a = B_i(q1) B_j(q2) ..,   c' K c = int sum_ij (d2 phi / dq_i dq_j)^2 dq   (1)
variance of phi at q, in units of one frame's:  B(q)' (sum_k B(q_k) B(q_k)')^-1 B(q)                     (2)

For a curve with n control frames, frame j has weight B_j(q); on each knot interval k of them are active,
where k is the order. With Bt_l the sum of the last k - l weights, a row of the table has the Taylor
coefficients of Bt_1 .. Bt_(k-1) at the left end of an interval. Open curves have n + k knots; closed ones
have n + 1, repeated with their period, where the support of frame j begins at knot j - k // 2, so that
frame j is at knot j.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import field
from math import perm
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.mobilizers import bsplines
from condyle.records import assign, dataclass

MOST_PRODUCTS = 4_000_000
"""Number of products of two B-splines in memory at a time: 32 MB of them, and their places."""
UNKNOWN_CELL = 4.0
"""The data do not determine a cell if (2) is larger than this at its center: twice the uncertainty of one
frame."""
FLOOR = 1e-6
"""Least weight of smoothing if cells are not determined, relative to that of the data; it is multiplied by
ten until (2) is small."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Products of B-splines of d coordinates on one grid of knots.

    Args:
        knots: knots of each coordinate, n_i + order numbers that do not decrease.
        order: 4 is cubic.
    """

    knots: tuple[Array, ...]
    order: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of B-splines of each coordinate."""
        return tuple(len(t) - self.order for t in self.knots)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def domain(self) -> tuple[tuple[float, float], ...]:
        return tuple((float(t[self.order - 1]), float(t[-self.order])) for t in self.knots)

    @property
    def cells(self) -> list[Array]:
        """Ends of the cells of each coordinate."""
        return [np.unique(t[self.order - 1 : len(t) - self.order + 1]) for t in self.knots]

    def active(self, q: Array, derivative: Sequence[int] | None = None) -> tuple[Any, Array]:
        """Indices and values of the order^d products that are nonzero at q (N, d), shapes (N, order^d)."""
        index, value = np.zeros((len(q), 1), int), np.ones((len(q), 1))
        for i, t in enumerate(self.knots):
            first, B = basis(q[:, i], t, self.order, derivative[i] if derivative else 0)
            j = first[:, None] + np.arange(self.order)
            index = (index[:, :, None] * self.shape[i] + j[:, None, :]).reshape(len(q), -1)
            value = (value[:, :, None] * B[:, None, :]).reshape(len(q), -1)
        return index, value

    def dense(self, q: Array, derivative: Sequence[int] | None = None) -> Array:
        """All products at q (N, d), shape (N, size)."""
        index, value = self.active(q, derivative)
        out = np.zeros((len(q), self.size))
        np.put_along_axis(out, index, value, axis=1)
        return out

    def evaluate(self, q: Array, c: Array, derivative: Sequence[int] | None = None) -> Array:
        """Functions with coefficients c (size, m) at q (N, d), shape (N, m)."""
        index, value = self.active(q, derivative)
        return np.einsum("ka,kam->km", value, c[index])

    def gradient(self, q: Array, c: Array) -> Array:
        """Derivatives of the functions with respect to each coordinate, shape (N, m, d)."""
        return np.stack([self.evaluate(q, c, e) for e in np.eye(len(self.knots), dtype=int).tolist()], axis=2)

    def greville(self) -> Array:
        """Coefficients whose functions are the coordinates themselves, shape (size, d)."""
        k = self.order
        points = [np.array([t[a + 1 : a + k].mean() for a in range(len(t) - k)]) for t in self.knots]
        return np.stack([x.ravel() for x in np.meshgrid(*points, indexing="ij")], axis=1)

    def roughness(self) -> Any:
        """K of (1), sparse (size, size)."""
        import scipy.sparse as sp

        grams = [_grams(t, self.order) for t in self.knots]
        d, total = len(grams), sp.csr_matrix((self.size, self.size))
        for i, j in itertools.product(range(d), repeat=2):
            term = sp.eye(1, format="csr")
            for m in range(d):
                term = sp.kron(term, grams[m][(i == m) + (j == m)], format="csr")
            total = total + term
        return total


def basis(q: Array, knots: Array, order: int, derivative: int = 0) -> tuple[Any, Array]:
    """First of the `order` B-splines that are active at q (N,), and their values (N, order). Beyond the ends
    the outermost polynomials continue."""
    k, n = order, len(knots) - order
    i = np.clip(np.searchsorted(knots, q, side="right") - 1, k - 1, n - 1)
    while (empty := knots[i] == knots[i + 1]).any():  # the last cell, where knots end k-fold
        i = np.where(empty, i - 1, i)
    B = np.zeros((len(q), k))
    B[:, 0] = 1.0
    for m in range(1, k):
        old, B = B, np.zeros_like(B)
        for a in range(m):  # de Boor's recursion: B_(i-m+1+a) of order m
            left, right = knots[i - m + 1 + a], knots[i + 1 + a]
            w = old[:, a] / (right - left)
            if m >= k - derivative:  # B' = m (B_a / h_a - B_(a+1) / h_(a+1))
                B[:, a] -= m * w
                B[:, a + 1] += m * w
            else:
                B[:, a] += (right - q) * w
                B[:, a + 1] += (q - left) * w
    return i - k + 1, B


def _grams(t: Array, k: int) -> list[Any]:
    """Integrals of products of B-splines, of their first and of their second derivatives, sparse (n, n)."""
    import scipy.sparse as sp

    ends = np.unique(t[k - 1 : len(t) - k + 1])
    x, w = np.polynomial.legendre.leggauss(k)
    half = np.diff(ends) / 2
    at = (ends[:-1, None] + half[:, None] * (1 + x)).ravel()
    weight = np.repeat(half, k) * np.tile(w, len(half))
    out = []
    for nu in range(3):
        first, B = basis(at, t, k, nu)
        rows = np.repeat(np.arange(len(at)), k)
        A = sp.csr_matrix((B.ravel(), (rows, (first[:, None] + np.arange(k)).ravel())), (len(at), len(t) - k))
        out.append((A.T @ sp.diags(weight) @ A).tocsr())
    return out


def uniform_knots(n: int, order: int, domain: tuple[float, float], closed: bool = False) -> Array:
    """Equally spaced knots of n B-splines; at both ends of an open curve `order` of them coincide."""
    if closed:
        return np.linspace(*domain, n + 1)
    return bsplines.clamped(np.linspace(*domain, n - order + 2), order)


# ---- Sums over frames --------------------------------------------------------------------------------------


def gram(grid: Grid, index: Array, value: Array, M: Array) -> Any:
    """sum_k B_a B_b M_k, sparse (size m, size m), coefficients before functions.

    Args:
        index: active products of each frame, shape (N, a).
        value: their values, (N, a).
        M: symmetric matrices, shape (N, m, m).
    """
    import scipy.sparse as sp

    m, k, d = M.shape[1], grid.order, len(grid.knots)
    upper = np.triu_indices(m)
    flat = M[:, upper[0], upper[1]]
    # Products have neighbors at most k - 1 away in each coordinate: a place for each pair (a, neighbor).
    reach = 2 * k - 1
    local = np.stack(np.meshgrid(*[np.arange(k)] * d, indexing="ij"), -1).reshape(-1, d)
    apart = local[None, :, :] - local[:, None, :] + k - 1
    place = apart @ reach ** np.arange(d)[::-1]  # (a, b) -> neighbor's number
    places, a = reach**d, value.shape[1]
    sums = np.zeros((grid.size * places, len(upper[0])))
    block = max(1, MOST_PRODUCTS // (a * a))
    for start in range(0, len(value), block):
        i, v = index[start : start + block], value[start : start + block]
        rows = (i[:, :, None] * places + place).reshape(len(i), -1)
        T = sp.csc_matrix(
            ((v[:, :, None] * v[:, None, :]).ravel(), rows.ravel(), np.arange(len(i) + 1) * a * a),
            shape=(len(sums), len(i)),
        )
        sums += T @ flat[start : start + block]
    used = np.flatnonzero(sums.any(axis=1))
    one, step = np.divmod(used, places)
    offset = np.stack(np.unravel_index(step, (reach,) * d), -1) - (k - 1)
    other = one + offset @ np.array([math.prod(grid.shape[i + 1 :]) for i in range(d)])
    full = np.zeros((m, m), int)
    full[upper] = full.T[upper] = np.arange(len(upper[0]))
    rows = one[:, None, None] * m + np.arange(m)[:, None]
    columns = other[:, None, None] * m + np.arange(m)
    rows, columns = np.broadcast_arrays(rows, columns)
    return sp.csc_matrix((sums[used][:, full].ravel(), (rows.ravel(), columns.ravel())), (grid.size * m,) * 2)


def moment(grid: Grid, index: Array, value: Array, g: Array) -> Array:
    """sum_k B_a g_k, shape (size, ...), of g (N, ...)."""
    import scipy.sparse as sp

    D = sp.csr_matrix(
        (value.ravel(), index.ravel(), np.arange(len(index) + 1) * index.shape[1]), (len(index), grid.size)
    )
    return np.asarray(D.T @ g.reshape(len(g), -1)).reshape(grid.size, *g.shape[1:])


def factored(A: Any) -> Any:
    """The factors of a symmetric positive definite sparse matrix."""
    from scipy.sparse.linalg import splu

    return splu(A.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


def undetermined(grid: Grid, q: Array, smoothing: float, who: str) -> tuple[float, list[str]]:
    """The weight of smoothing to use, and the cells that the data do not determine (2), given by their q."""
    index, value = grid.active(q)
    A = gram(grid, index, value, np.ones((len(q), 1, 1)))
    K = grid.roughness()
    scale = A.diagonal().sum() / K.diagonal().sum()
    tiny = 1e-13 * scale if smoothing == 0 else smoothing
    centers = [0.5 * (x[1:] + x[:-1]) for x in grid.cells]
    at = np.stack([x.ravel() for x in np.meshgrid(*centers, indexing="ij")], axis=1)
    B = np.ascontiguousarray(grid.dense(at).T)

    def unknown(weight: float) -> Array:
        return np.asarray((B * factored(A + weight * K).solve(B)).sum(axis=0) > UNKNOWN_CELL)  # (2)

    bad = unknown(tiny)
    if not bad.any():
        return smoothing, []
    cells = [x.tolist() for x in grid.cells]
    shape = tuple(len(x) - 1 for x in cells)
    names = [
        " x ".join(
            f"[{cells[d][i]:.4g}, {cells[d][i + 1]:.4g}]" for d, i in enumerate(np.unravel_index(c, shape))
        )
        for c in np.flatnonzero(bad)
    ]
    if bad.all():
        raise DescriptionError(
            f"{who}: {len(q)} frames do not determine {grid.size} coefficients per "
            "function in any cell; take fewer (n), more frames, or a domain that the "
            "frames cover"
        )
    weight = max(smoothing, FLOOR * scale)
    while unknown(weight).any() and weight < scale:
        weight *= 10
    return weight, names


@dataclass(frozen=True, eq=False)
class CurveKnots:
    """Where a spline curve's control frames act.

    Args:
        knots: increasing; open: n + order numbers, closed: n + 1.
        order: k.
        closed: whether the curve is periodic.

    Attributes:
        n: number of control frames.
        domain: first and last q.
        left: left ends of the knot intervals, shape (m,).
        right: their right ends.
        active: the k control frames that act on each interval, shape (m, k).
        greville: q at which each control frame has most influence, shape (n,).
    """

    knots: Array
    order: int
    closed: bool
    n: int = field(init=False)
    domain: tuple[float, float] = field(init=False)
    left: Array = field(init=False)
    right: Array = field(init=False)
    active: np.ndarray = field(init=False)
    greville: Array = field(init=False)
    _taylor: Array = field(init=False)

    def __post_init__(self) -> None:
        k, t = self.order, self.knots
        n = len(t) - 1 if self.closed else len(t) - k
        if self.closed:
            t = bsplines.periodic(t, k)
            frames, inside = (np.arange(-k, n) + k // 2) % n, np.arange(k, n + k)
        else:
            frames, inside = np.arange(n), np.arange(k - 1, n)
        i = inside[t[inside + 1] > t[inside]]
        greville = np.array([t[j + 1 : j + k].mean() for j in range(len(frames))])
        first = np.array([int(np.flatnonzero(frames == j)[0]) for j in range(n)])
        values = {
            "n": n,
            "domain": (float(t[inside[0]]), float(t[inside[-1] + 1])),
            "left": t[i],
            "right": t[i + 1],
            "active": frames[(i - k + 1)[:, None] + np.arange(k)],
            "_taylor": bsplines.cumulative(t, k, i),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        assign(self, greville=self.wrapped(greville[first]))

    def wrapped(self, q: Array) -> Array:
        """q moved into the domain: modulo the period if the curve is closed, to the nearer end if it is
        open."""
        low, high = self.domain
        return low + np.mod(q - low, high - low) if self.closed else np.clip(q, low, high)

    def interval(self, q: Array) -> Array:
        """The number of the interval that contains each q, shape (N,)."""
        return np.clip(np.searchsorted(self.left, q, side="right") - 1, 0, len(self.left) - 1)

    def cumulative(self, q: Array, derivatives: int = 0) -> Array:
        """Bt_1 .. Bt_(k-1) at q (N,) in the domain, then their derivatives, shape (N, (derivatives + 1) (k -
        1))."""
        i, k = self.interval(q), self.order
        x, c = (q - self.left[i])[:, None], self._taylor[i]
        out = []
        for d in range(derivatives + 1):
            value = perm(k - 1, d) * c[..., k - 1]
            for j in range(k - 2, d - 1, -1):
                value = perm(j, d) * c[..., j] + x * value
            out.append(value)
        return np.concatenate(out, axis=1)

    def weights(self, q: Array) -> Array:
        """B_j(q) of the k active frames, shape (N, k)."""
        Bt = self.cumulative(q)
        return -np.diff(Bt, axis=1, prepend=1.0, append=0.0)

    def quadrature(self) -> tuple[Array, Array]:
        """Three Gauss points in each interval, and their weights."""
        x, w = np.polynomial.legendre.leggauss(3)
        length = self.right - self.left
        return (self.left[:, None] + length[:, None] * (x + 1) / 2).ravel(), (length[:, None] * w / 2).ravel()
