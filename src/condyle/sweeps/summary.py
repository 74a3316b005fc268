"""Summaries of many results: counts, means, variances, extremes and quantiles, merged in a tree.

Members are in blocks of BLOCK, by index. Block i is node (0, i) of a binary tree, and node (l, i) has the
children (l - 1, 2 i) and (l - 1, 2 i + 1). Workers compute nodes of their chunks, the caller merges them. The
tree does not depend on the workers, so means are identical to the last bit. Of two parts a and b
(Chan, Golub and LeVeque 1979), with n values, mean m, and S the sum of squares about it:

    n = n_a + n_b,    d = m_b - m_a,    m = m_a + d n_b / n,    S = S_a + S_b + d^2 n_a n_b / n               (1)

Quantiles are those of a histogram whose bins are the numbers with the same sign, exponent and first BITS bits of the
mantissa: counts are whole numbers, merged exactly, and a quantile is off by 2^-(BITS+1) of its size at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from condyle.arrays import Array
from condyle.errors import DescriptionError, check_name
from condyle.presentation import Block, Display, cut, page
from condyle.records import dataclass

BLOCK = 64
BITS = 10
_SHIFT = 52 - BITS
_MOMENTS = ("count", "mean", "squares", "least", "greatest")
Node = tuple[int, int]


@dataclass
class Numbers:
    """Nodes of one number, side by side: arrays (k,) of k nodes, and one histogram for all."""

    count: Array
    mean: Array
    squares: Array
    least: Array
    greatest: Array
    bins: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    counts: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def merged(self) -> Numbers:
        """Nodes 0 and 1, 2 and 3, ... merged by (1); a last one without a partner is kept."""
        a, b = slice(0, len(self.count) // 2 * 2, 2), slice(1, None, 2)
        n_a, n_b, d = self.count[a], self.count[b], self.mean[b] - self.mean[a]
        n = n_a + n_b
        d, share = np.where(n_a * n_b > 0, d, 0.0), n_b / np.maximum(n, 1)
        mean = np.where(n_a > 0, self.mean[a], self.mean[b]) + d * share
        squares = self.squares[a] + self.squares[b] + d**2 * n_a * share
        least, greatest = (f(x[a], x[b]) for f, x in ((np.fmin, self.least), (np.fmax, self.greatest)))
        last = slice(2 * len(n), None)
        found = [
            np.concatenate([new, getattr(self, name)[last]])
            for name, new in zip(_MOMENTS, (n, mean, squares, least, greatest), strict=True)
        ]
        return _numbers(found, self.bins, self.counts)


def _numbers(moments: Any, bins: Any, counts: Any) -> Numbers:
    count, mean, squares, least, greatest = moments
    return Numbers(count, mean, squares, least, greatest, bins, counts)


def of_blocks(index: NDArray[np.int64], values: Array, first: int, blocks: int) -> Numbers:
    """Nodes (0, first), (0, first + 1), ... of members with these numbers; NaN values are ignored."""
    every = np.full(blocks * BLOCK, np.nan)
    every[index - first * BLOCK] = values
    x = every.reshape(blocks, BLOCK)
    known = np.isfinite(x)
    n = known.sum(axis=1).astype(float)
    mean = np.where(known, x, 0.0).sum(axis=1) / np.maximum(n, 1)
    squares = (np.where(known, x - mean[:, None], 0.0) ** 2).sum(axis=1)
    least, greatest = (f.reduce(x, axis=1) for f in (np.fmin, np.fmax))
    bins, counts = np.unique((x[known] + 0.0).view(np.int64) >> _SHIFT, return_counts=True)
    return Numbers(n, mean, squares, least, greatest, bins, counts.astype(np.int64))


class Nodes:
    """Known nodes of the tree of a study.

    Args:
        count: members of the study.
    """

    def __init__(self, count: int) -> None:
        self.blocks = -(-count // BLOCK)
        self.at: dict[Node, dict[str, Numbers]] = {}

    def add(self, node: Node, numbers: dict[str, Numbers]) -> None:
        """Add a node, and merge complete parents."""
        level, i = node
        while level < (self.blocks - 1).bit_length():
            other = (level, i ^ 1)
            if other[1] << level < self.blocks:  # the other node exists
                if other not in self.at:
                    break
                numbers = _two(
                    *((numbers, self.at.pop(other)) if i < other[1] else (self.at.pop(other), numbers))
                )
            level, i = level + 1, i >> 1
        self.at[level, i] = numbers

    @property
    def root(self) -> dict[str, Numbers]:
        """All known nodes merged into one."""
        left = [self.at[node] for node in sorted(self.at, key=lambda n: n[1] << n[0])]
        while len(left) > 1:
            left = [
                *(_two(a, b) for a, b in zip(left[::2], left[1::2], strict=False)),
                *left[len(left) // 2 * 2 :],
            ]
        return left[0] if left else {}


def _two(a: dict[str, Numbers], b: dict[str, Numbers]) -> dict[str, Numbers]:
    return {name: _pair(a.get(name, _NOTHING), b.get(name, _NOTHING)) for name in {**a, **b}}


def _pair(a: Numbers, b: Numbers) -> Numbers:
    both = Numbers(*(np.concatenate([getattr(a, name), getattr(b, name)]) for name in _MOMENTS)).merged()
    both.bins, where = np.unique(np.concatenate([a.bins, b.bins]), return_inverse=True)
    both.counts = np.zeros(len(both.bins), np.int64)
    np.add.at(both.counts, where, np.concatenate([a.counts, b.counts]))
    return both


_NOTHING = Numbers(*(np.array([x]) for x in (0.0, 0.0, 0.0, np.nan, np.nan)))


def node_of(
    index: NDArray[np.int64], numbers: Mapping[str, Array], first: int, blocks: int
) -> dict[str, Numbers]:
    """One node of a chunk, from block `first` on."""
    out = {}
    for name, values in numbers.items():
        found = of_blocks(index, values, first, blocks)
        while len(found.count) > 1:
            found = found.merged()
        out[name] = found
    return out


def aligned(first: int, free: int, wish: int, total: int) -> int:
    """Number of blocks from `first` on that form a node, at most those free and close to the desired number."""
    most, size = min(free, max(1, wish)), 1
    while first % (2 * size) == 0 and size < total - first and min(2 * size, total - first) <= most:
        size *= 2
    return min(size, total - first)


def packed(nodes: Mapping[Node, Mapping[str, Numbers]]) -> dict[str, Array]:
    """The nodes as arrays for one .npz file."""
    out: dict[str, Any] = {}
    for (level, i), numbers in nodes.items():
        out[f"s/{level}.{i}"] = np.empty(0)
        for name, x in numbers.items():
            moments = np.array([getattr(x, part)[0] for part in _MOMENTS])
            for kind, values in (("x", moments), ("b", x.bins), ("c", x.counts)):
                out[f"s/{level}.{i}/{kind}/{name}"] = values
    return out


def unpacked(found: Mapping[str, Array]) -> dict[Node, dict[str, Numbers]]:
    """The inverse of `packed`."""
    out: dict[Node, dict[str, Numbers]] = {}
    for key in found:
        s, _, rest = key.partition("/")
        node, _, rest = rest.partition("/")
        kind, _, name = rest.partition("/")
        if s != "s":
            continue
        level, i = (int(x) for x in node.split("."))
        numbers = out.setdefault((level, i), {})
        if kind == "x":
            bins, counts = (found[f"s/{node}/{k}/{name}"] for k in "bc")
            numbers[name] = _numbers(found[key].reshape(-1, 1), bins, counts)
    return out


class Summary(Display):
    """Counts, means, standard deviations, extremes, quantiles and histograms of the numbers of a sweep.

    Args:
        numbers: by name, one node each.
    """

    def __init__(self, numbers: Mapping[str, Numbers]) -> None:
        self._numbers = dict(numbers)

    def _block(self) -> Block:
        rows = [(name, *(f"{x:.6g}" for x in self._row(name))) for name in self._numbers]
        return Block("", ("number", *self.rows), rows)

    def __repr__(self) -> str:
        return f"Summary({cut(self._numbers)})\n{self._block().text()}"

    def _repr_html_(self) -> str:
        return page("Summary", self._block())

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a row per number and a column per statistic."""
        import pandas  # type: ignore[import-untyped]

        return pandas.DataFrame([self._row(n) for n in self._numbers], list(self._numbers), list(self.rows))

    rows = ("count", "mean", "standard deviation", "least", "5 %", "median", "95 %", "greatest")

    def _row(self, name: str) -> list[float]:
        x = self._numbers[name]
        n, mean, squares, least, greatest = (float(getattr(x, part)[0]) for part in _MOMENTS)
        std = np.sqrt(squares / (n - 1)) if n > 1 else np.nan
        low, middle, high = self.quantile(name, [0.05, 0.5, 0.95])
        return [float(x) for x in (n, mean if n else np.nan, std, least, low, middle, high, greatest)]

    def __getitem__(self, name: str) -> dict[str, float]:
        """All statistics of a number, by name."""
        self._known(name)
        return dict(zip(self.rows, self._row(name), strict=True))

    def _known(self, name: str) -> Numbers:
        check_name("result", name, self._numbers)
        return self._numbers[name]

    def quantile(self, name: str, q: ArrayLike) -> Any:
        """Quantiles q, accurate to 5e-4 of their size."""
        x, q = self._known(name), np.asarray(q, dtype=float)
        if not ((q >= 0) & (q <= 1)).all():
            raise DescriptionError(f"quantile: q: expected shares from 0 to 1, got {q}")
        if not x.counts.sum():
            return np.full(q.shape, np.nan)[()]
        middle, upto = _sorted(x)
        at = np.searchsorted(upto, q * upto[-1], side="left").clip(0, len(middle) - 1)
        return np.clip(middle[at], x.least[0], x.greatest[0])[()]

    def histogram(self, name: str, bins: int | Sequence[float] = 50) -> tuple[NDArray[np.int64], Array]:
        """Counts (k,) and edges (k + 1,) of bins, as from numpy.histogram."""
        x = self._known(name)
        middle, upto = _sorted(x)
        within = (float(x.least[0]), float(x.greatest[0])) if isinstance(bins, int) else None
        counts, edges = np.histogram(
            middle.clip(x.least[0], x.greatest[0]), bins, within, weights=np.diff(upto, prepend=0)
        )
        return counts.astype(np.int64), edges


def _sorted(x: Numbers) -> tuple[Array, NDArray[np.int64]]:
    """Middles of the bins in order, and counts up to each."""
    middle = np.where(x.bins == 0, 0.0, ((x.bins << _SHIFT) + (1 << _SHIFT - 1)).view(float))
    order = np.argsort(middle)
    return middle[order], np.cumsum(x.counts[order])
