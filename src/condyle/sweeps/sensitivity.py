"""Sobol indices: which share of a variance each quantity explains.

With f(A), f(B) and f(AB_i) of Saltelli's design (Saltelli et al. 2010) the estimators are those of
scipy.stats.sobol_indices. For any other sample, with equal shares b of the members sorted by x_i, and with j*
the member nearest to j in all quantities except x_i (Broto et al. 2020):

    S_i  = 1 - mean_b(var(y in b)) / var(y)                                                                  (1)
    ST_i = mean((y_j - y_j*)^2) / 2 / var(y)                                                                 (2)

(2) needs members that are drawn independently: members of a Sobol sequence avoid each other, and those that
are close in all quantities but one are far apart in that one. If a polynomial explains all but EXPLAINED of
the variance of left-out members (Sudret 2008), a sum of products of Legendre polynomials of the shares u_i
of members below x_i, or of Hermite polynomials of their normal scores, both indices follow from its
coefficients:

    y = sum_a c_a prod_i P_{a_i}(u_i),    S_i = sum of c_a^2 with a_i > 0 only / sum of all but c_0^2,          (3)
    ST_i = the same sum with a_i > 0.

"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.presentation import Block, Display, page
from condyle.records import dataclass

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EXPLAINED = 0.03
"""Share of the variance that a polynomial may leave unexplained and still be used instead of neighbors."""
FEWEST = 32
"""Minimum number of members."""


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Display):
    """Sobol indices of one number.

    Attributes:
        name: of the number.
        quantities: names of the varied quantities.
        first: share of the variance that each explains alone, shape (d,).
        total: share together with all others, shape (d,); NaN if the sample does not determine it, as for
            evenly spread members or a single quantity.
        first_interval: confidence intervals of `first`, shape (d, 2).
        total_interval: the same for `total`.
        estimator: "saltelli_2010", "polynomial" or "neighbors".
        slope: exact derivatives by each quantity at the mean of the members, if available, shape (d,).
        linear: shares of the variance that these slopes would give, shape (d,).
    """

    name: str
    quantities: tuple[str, ...]
    first: Array
    total: Array
    first_interval: Array
    total_interval: Array
    estimator: str
    slope: Array | None = None
    linear: Array | None = None

    def _block(self) -> Block:
        rows = [
            (name, f"{s:.3f}", f"{a:.3f} .. {b:.3f}", f"{t:.3f}", f"{c:.3f} .. {d:.3f}")
            for name, s, (a, b), t, (c, d) in zip(
                self.quantities, self.first, self.first_interval, self.total, self.total_interval, strict=True
            )
        ]
        head = ("quantity", "first", "confidence", "total", "confidence")
        if self.slope is not None and self.linear is not None:
            more = zip(rows, self.slope, self.linear, strict=True)
            return Block(
                "", (*head, "slope", "linear"), [(*row, f"{s:.4g}", f"{x:.3f}") for row, s, x in more]
            )
        return Block("", head, rows)

    def __repr__(self) -> str:
        return f"Sensitivity({self.name}, by {self.estimator})\n{self._block().text()}"

    def _repr_html_(self) -> str:
        return page(f"Sensitivity of {self.name}, by {self.estimator}", self._block())

    def plot(
        self, axes: Axes | None = None, *, width: str | float = "page", path: str | Path | None = None
    ) -> Axes:
        """A tornado: bars of the total indices, the largest on top, the first ones inside. Arguments as of `Table.plot`."""
        from condyle.table.plots import on

        order = np.argsort(self.total)
        y = np.arange(len(order))
        with on(axes, width, path) as axes:
            for values, interval, height, label in (
                (self.total, self.total_interval, 0.8, "with all others"),
                (self.first, self.first_interval, 0.4, "alone"),
            ):
                error = np.abs(interval[order].T - values[order])
                axes.barh(y, values[order], height, xerr=error, label=label, error_kw={"linewidth": 0.9})
            axes.set_yticks(y, [self.quantities[k] for k in order])
            axes.grid(visible=False, axis="y")
            axes.set_xlabel(f"share of the variance of {self.name}")
            axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)
        return axes


def of_design(
    name: str, names: Sequence[str], x: Array, y: Array, confidence: float, resamples: int
) -> Sensitivity:
    """Indices from Saltelli's design: rows of A, of B, and of A with each column of B."""
    d = len(names)
    f = y.reshape(d + 2, -1)
    f = f[:, np.isfinite(f).all(axis=0)]
    _enough(name, f.shape[1], f)

    def indices(k: NDArray[np.intp]) -> Array:
        from scipy.stats import sobol_indices

        # the estimators do not need a power of two; only SciPy's sampling does, which is not used
        given = {"f_A": f[:1, k], "f_B": f[1:2, k], "f_AB": f[2:, None, k]}
        found = sobol_indices(func=given, n=1 << max(1, int(np.log2(len(k)))))
        return np.array([found.first_order.reshape(-1), found.total_order.reshape(-1)])

    return _with_intervals(
        name, names, "saltelli_2010", _resampled(indices, f.shape[1]), confidence, resamples
    )


def of_sample(
    name: str,
    names: Sequence[str],
    x: Array,
    y: Array,
    confidence: float,
    resamples: int,
    independent: bool = True,
) -> Sensitivity:
    """Indices from any sample, by neighbors. `independent`: members are independent, not evenly spread."""
    from scipy.spatial import KDTree
    from scipy.stats import rankdata

    good = np.isfinite(y)
    x, y = x[good], y[good]
    _enough(name, len(y), y)
    n, d = x.shape
    ranks = rankdata(x, axis=0, method="ordinal") - 1
    if polynomial := _polynomial((rankdata(x, axis=0) - 0.5) / n, y):
        return _with_intervals(name, names, "polynomial", polynomial, confidence, resamples)
    bins = max(2, round(np.sqrt(n) / 2))
    share = (ranks * bins / n).astype(int)
    nearest = np.empty((n, d), dtype=int)  # pairs are found once; the bootstrap draws pairs
    for k in range(d) if independent and d > 1 else ():
        others = np.delete(ranks, k, axis=1)
        nearest[:, k] = KDTree(others).query(others, k=2)[1][:, 1]
    z = y - y.mean()

    def indices(k: NDArray[np.intp]) -> Array:
        v, first, total = z[k].var(), np.empty(d), np.full(d, np.nan)
        for i in range(d):
            count, one, two = (np.bincount(share[k, i], w, bins) for w in (None, z[k], z[k] ** 2))
            some = count > 1
            within = (two[some] - one[some] ** 2 / count[some]) / (count[some] - 1)
            first[i] = 1 - (within * count[some]).sum() / count[some].sum() / v  # (1)
        if independent and d > 1:
            total = ((z[k, None] - z[nearest[k]]) ** 2).mean(axis=0) / 2 / v  # (2)
        return np.array([first, total])

    return _with_intervals(name, names, "neighbors", _resampled(indices, n), confidence, resamples)


def _polynomial(shares: Array, y: Array) -> Callable[[np.random.Generator | None], Array] | None:
    """Indices by (3), for the family and degree that best predict left-out members; None if none of them
    predicts well. With a generator, for coefficients drawn from their normal distribution.

    Args:
        shares: of members below each, from 0 to 1, shape (n, d).
        y: the number.
    """
    shares, y = shares[:FITTED], y[:FITTED]
    n, d = shares.shape
    error, best = np.inf, (np.empty(0), np.empty(0), np.empty(0))
    for family in (_legendre, _hermite):
        worse = 0
        for degree in range(1, MOST_DEGREE + 1):
            powers = _powers(d, degree, n // 2)
            if powers is None or worse > 2 or error < ENOUGH:
                break
            values, A = family(shares, degree), np.ones((n, len(powers)))
            for i in range(d):
                A *= values[:, i, powers[:, i]]
            Q, R = np.linalg.qr(A)
            if np.abs(np.diag(R)).min() < 1e-8 * np.sqrt(n):
                break
            left = (y - Q @ (Q.T @ y)) / (1 - np.minimum((Q * Q).sum(axis=1), 0.999))  # each member left out
            now = float(np.mean(left**2) / y.var())
            worse = 0 if now < error else worse + 1
            if now < error:
                error, best = now, (powers, R, Q.T @ y)
    if error > EXPLAINED:
        return None
    powers, R, right = best
    used = powers[1:] > 0
    only = used & (used.sum(axis=1, keepdims=True) == 1)

    def indices(rng: np.random.Generator | None) -> Array:
        noise = 0.0 if rng is None else np.sqrt(error * y.var()) * rng.normal(size=len(right))
        c2 = np.linalg.solve(R, right + noise)[1:] ** 2
        return np.array([(c2[:, None] * which).sum(axis=0) / c2.sum() for which in (only, used)])

    return indices


FITTED = 4096
"""Maximum number of members for fitting a polynomial."""
ENOUGH = 1e-4
"""Unexplained share of the variance below which no better polynomial is tried."""
MOST_DEGREE = 12


def _powers(d: int, degree: int, most: int) -> Array | None:
    """Powers a (k, d) of all terms up to a degree, the constant first; None if there are more than `most`."""
    from math import comb

    if comb(d + degree, d) > min(most, 500):
        return None
    rows: list[tuple[int, ...]] = [()]
    for _ in range(d):
        rows = [(*row, p) for row in rows for p in range(degree + 1 - sum(row))]
    return np.array(sorted(rows, key=lambda row: (sum(row), row)))


def _legendre(shares: Array, degree: int) -> Array:
    """Normalized Legendre polynomials of shares from -1 to 1, (n, d, degree + 1)."""
    from numpy.polynomial.legendre import legvander

    return np.asarray(legvander(2 * shares - 1, degree) * np.sqrt(2 * np.arange(degree + 1) + 1))


def _hermite(shares: Array, degree: int) -> Array:
    """Normalized Hermite polynomials of normal scores, (n, d, degree + 1)."""
    from numpy.polynomial.hermite_e import hermevander
    from scipy.special import factorial, ndtri

    return np.asarray(hermevander(ndtri(shares), degree) / np.sqrt(factorial(np.arange(degree + 1))))


def _enough(name: str, n: int, y: Array) -> None:
    if n < FEWEST:
        raise DescriptionError(
            f"sensitivity: {name!r} has {n} members that can be used; {FEWEST} are the least"
        )
    if not np.ptp(y):
        raise DescriptionError(f"sensitivity: {name!r} is {y.flat[0]:g} in all members: nothing to explain")


def _resampled(
    indices: Callable[[NDArray[np.intp]], Array], n: int
) -> Callable[[np.random.Generator | None], Array]:
    """Indices of all members, or of as many drawn with replacement."""
    return lambda rng: indices(np.arange(n) if rng is None else rng.integers(0, n, n))


def _with_intervals(
    name: str,
    names: Sequence[str],
    estimator: str,
    indices: Callable[[np.random.Generator | None], Array],
    confidence: float,
    resamples: int,
) -> Sensitivity:
    """Values for all members, and percentiles of bootstrap samples."""
    if not 0 < confidence < 1 or resamples < 2:
        raise DescriptionError(
            f"sensitivity: confidence = {confidence!r} must be between 0 and 1, resamples = {resamples!r} 2 or more"
        )
    rng = np.random.default_rng(0)
    values = indices(None)
    drawn = np.array([indices(rng) for _ in range(resamples)])
    spread = drawn - drawn.mean(axis=0)  # repeated members bias the neighbors, not their scatter
    ends = np.quantile(spread, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    first, total = (np.stack(values[k] + ends[:, k], axis=1) for k in (0, 1))
    return Sensitivity(name, tuple(names), values[0], values[1], first, total, estimator)
