"""Cumulative B-splines of a curve with n control frames, for many q at once.

Frame j has weight B_j(q); on one knot interval k of them are active, the order. With Bt_l the sum of the last
k - l weights, a row of the table holds for each interval the Taylor coefficients of Bt_1 .. Bt_(k-1) at its
left end. Open curves have n + k knots; closed ones n + 1, repeated with their period, where frame j has its
support from knot j - k // 2 on, so that knot j is where frame j is.
"""

from __future__ import annotations

from dataclasses import field
from math import perm

import numpy as np

from condyle.arrays import Array
from condyle.mobilizers import bsplines
from condyle.records import dataclass


@dataclass(frozen=True, eq=False)
class Knots:
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
        greville: where each control frame pulls most, shape (n,).
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
        object.__setattr__(self, "greville", self.wrapped(greville[first]))

    def wrapped(self, q: Array) -> Array:
        """q in the domain: modulo the period if the curve is closed, at the nearer end if it is open."""
        low, high = self.domain
        return low + np.mod(q - low, high - low) if self.closed else np.clip(q, low, high)

    def interval(self, q: Array) -> Array:
        """The number of the interval that each q is in, shape (N,)."""
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

    def quadrature(self, points: int = 3) -> tuple[Array, Array]:
        """Gauss points in all intervals and their weights."""
        x, w = np.polynomial.legendre.leggauss(points)
        length = self.right - self.left
        return (self.left[:, None] + length[:, None] * (x + 1) / 2).ravel(), (length[:, None] * w / 2).ravel()


def uniform_knots(n: int, order: int, closed: bool, domain: tuple[float, float]) -> Array:
    """Knots at equal distances; at both ends of an open curve `order` of them coincide."""
    if closed:
        return np.linspace(*domain, n + 1)
    return bsplines.clamped(np.linspace(*domain, n - order + 2), order)
