"""Tensor products of B-splines, one row of numbers per cell: docs/theory/spline_joints.md (16),
(17).

    phi(q) = sum_ab c_ab B_a(q1) B_b(q2) = sum_ij C_ij x1^i x2^j,   x = q - corner of the cell
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import Array
from condyle.functions.pieces import Pieces
from condyle.mobilizers.bsplines import polynomials


class Direction:
    """The B-splines of one coordinate, and where each of them is a polynomial.

    Beyond the ends of an open direction, two more intervals hold the Taylor polynomials of degree 2 at the
    ends: the splines go on with continuous first and second derivatives. A closed direction repeats: control
    value j has its support from knot j - k//2 to j - k//2 + k, so that knot j is where value j is.

    Args:
        knots: shape (n + order,), increasing; closed: (n + 1,), the last closes the period.
        order: k, one more than the degree.
        closed: whether the splines repeat.

    Attributes:
        low, high: the ends of the domain, or of one period.
        n: number of control values.
        origins: where the polynomials of each interval have their origin, shape (m,).
        first: the first of the k control values of each interval, among those that `extended` gives, shape
            (m,).
        polynomials: Taylor coefficients of the k B-splines of each interval, shape (m, k, k): spline, power.
    """

    def __init__(self, knots: Array, order: int, closed: bool) -> None:
        self.knots, self.order, self.closed = knots, order, closed
        k = order
        self.n = len(knots) - (1 if closed else k)
        if closed:
            index = np.arange(1 - k, self.n + k)
            t = knots[index % self.n] + (index // self.n) * (knots[-1] - knots[0])
            intervals = np.arange(k - 1, k - 1 + self.n)
        else:
            t, intervals = knots, np.arange(k - 1, self.n)
        intervals = intervals[t[intervals + 1] > t[intervals]]
        self.low, self.high = float(t[k - 1]), float(t[len(t) - k])
        self.origins, self.first = t[intervals], intervals - k + 1
        self.polynomials = polynomials(t, k, intervals)
        self.cells = np.append(self.origins, self.high)
        if not closed:
            ends = self.polynomials[0], _moved(self.polynomials[-1], self.high - self.origins[-1])
            self.polynomials = np.concatenate([_flat(ends[0]), self.polynomials, _flat(ends[1])])
            self.origins = np.concatenate([[self.low], self.origins, [self.high]])
            self.first = np.concatenate([self.first[:1], self.first, self.first[-1:]])

    @cached_property
    def _numbers(self) -> Pieces:
        """The number of the interval."""
        breaks = self.origins[1:]
        return Pieces(breaks, np.arange(len(self.origins), dtype=float)[:, None])

    @property
    def period(self) -> float:
        return self.high - self.low

    def inside(self, q: Any) -> Any:
        """q, moved by whole periods into the first one where the direction is closed."""
        if not self.closed:
            return q
        floor = ca.floor if isinstance(q, ca.SX) else np.floor
        return q - self.period * floor((q - self.low) / self.period)

    def number(self, q: ca.SX) -> ca.SX:
        """The number of the interval that holds q, as an expression."""
        return self._numbers.at(q, True)[0]

    def extended(self, values: Array, axis: int, step: Array | float = 0.0) -> Array:
        """Control values along an axis as the intervals count them: of a closed direction k - 1 more. `step`
        is what a value gains in one period."""
        if not self.closed:
            return values
        index = np.arange(self.order // 2 - self.order + 1, self.n + self.order // 2)
        turns = (index // self.n).reshape(-1, *(1,) * (values.ndim - axis - 1))
        return np.take(values, index % self.n, axis) + step * turns

    def matrix(self, q: Array, derivative: int = 0) -> Array:
        """B-splines (or a derivative) at q (N,), of all extended control values: shape (N, n or n + k -
        1)."""
        q, k = self.inside(q), self.order
        at = np.searchsorted(self.origins[1:], q, side="right")
        x, power = q - self.origins[at], np.arange(k)
        factor = np.ones(k)
        for d in range(derivative):
            factor = factor * np.maximum(power - d, 0)
        terms = factor * x[:, None] ** np.maximum(power - derivative, 0)
        out = np.zeros((len(q), self.n + (k - 1 if self.closed else 0)))
        np.put_along_axis(
            out,
            self.first[at][:, None] + np.arange(k),
            (self.polynomials[at] @ terms[:, :, None])[..., 0],
            axis=1,
        )
        return out

    def samples(self, each: int) -> Array:
        """Places in the domain: both ends of every cell and each - 1 between."""
        inner = np.arange(each) / each
        return np.append(
            (self.cells[:-1, None] + np.diff(self.cells)[:, None] * inner).ravel(), self.cells[-1]
        )


def _moved(c: Array, x: float) -> Array:
    """Polynomials (k, k) about an origin that is further by x."""
    return np.stack(shifted([c[:, p] for p in range(c.shape[1])], x, c.shape[1] - 1), axis=1)


def _flat(c: Array) -> Array:
    """The terms up to degree 2, one interval."""
    return (c * (np.arange(c.shape[1]) < 3))[None]


def shifted(c: Sequence[Any], x: Any, most: int) -> list[Any]:
    """f(x), f'(x), f''(x)/2, ..., up to the derivative `most`, of sum_p c_p x^p: Horner's rule again and
    again."""
    b = list(c)
    for order in range(most + 1):
        for p in range(len(b) - 2, order - 1, -1):
            b[p] = b[p] + x * b[p + 1]
    return b[: most + 1]


def taylor(row: Any, x: Sequence[Any], order: int, most: int = 2) -> dict[tuple[int, ...], Any]:
    """Taylor coefficients of all functions of a row at x, by their multi-index, up to the total degree
    `most`.

    Args:
        row: coefficients, SX or (size, N); the power of the last coordinate is the slowest, the number of the
            function the quickest.
    """
    if not x:
        return {(): row}
    size = row.shape[0] // order
    blocks = [row[p * size : (p + 1) * size] for p in range(order)]
    out = {}
    for j, inner in enumerate(shifted(blocks, x[-1], min(most, order - 1))):
        for index, value in taylor(inner, x[:-1], order, most - j).items():
            out[(*index, j)] = value
    return out


def rows_of(values: Array, directions: Sequence[Direction]) -> Array:
    """Power coefficients of every cell, shape (cells, k^n f): as `taylor` takes them. values: (f, n1, ..),
    extended."""
    c = values
    for d, way in enumerate(directions):
        windows = np.lib.stride_tricks.sliding_window_view(c, way.order, axis=1 + d)
        windows = np.take(windows, way.first, axis=1 + d)
        c = np.einsum("...ma,map->...mp", np.moveaxis(windows, 1 + d, -2), way.polynomials)
        c = np.moveaxis(c, -2, 1 + d)  # (f, m1, .., m_d, n_(d+1), .., p1, .., p_d)
    n = len(directions)
    c = np.transpose(c, (*range(1, n + 1), *range(2 * n, n, -1), 0))  # (m1, .., mn, pn, .., p1, f)
    return c.reshape(int(np.prod([len(way.origins) for way in directions])), -1)


def grid_values(values: Array, matrices: Sequence[Array]) -> Array:
    """sum c B_a B_b on a grid: (f, n1, ..) and one matrix (N_d, n_d) per direction give (f, N1, ..)."""
    for d, B in enumerate(matrices):
        values = np.moveaxis(np.tensordot(values, B, axes=(1 + d, 1)), -1, 1 + d)
    return values
