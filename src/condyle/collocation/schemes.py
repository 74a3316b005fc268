"""Schemes: the points of an interval [0, 1], and the equations of states x and their rates f there.

    sum_j D_ij x_j = h sum_j W_ij f_j     for each row i,         integral = h sum_j w_j L_j               (1)

The first point is the last of the previous interval. With K points Radau is exact for states of degree K.

    trapezoidal       x_1 - x_0 = h (f_0 + f_1) / 2                                             order 2    (2)
    hermite-simpson   x_m - (x_0 + x_1) / 2 = h (f_0 - f_1) / 8,
                      x_1 - x_0 = h (f_0 + 4 f_m + f_1) / 6                                     order 4    (3)
    radau-K           sum_j l_j'(c_i) x_j = h f_i at the K points of Radau's rule, 1 among them
                                                                                          order 2 K - 1    (4)
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.records import dataclass


@dataclass(frozen=True, eq=False)
class Scheme:
    """A scheme of collocation.

    Attributes:
        name: in the public interface.
        order: of the error at the mesh points, in the length of the intervals.
        c: points, from 0 to 1, shape (n,).
        D: of (1), shape (rows, n).
        W: of (1), shape (rows, n).
        w: weights of the integral, shape (n,).
        collocates_start: rates at the first point are used. If not, controls there follow from the next
            point.
    """

    name: str
    order: int
    c: Array
    D: Array
    W: Array
    w: Array
    collocates_start: bool

    @property
    def steps(self) -> int:
        """New points per interval."""
        return len(self.c) - 1

    def controls_at(self, s: Array) -> tuple[NDArray[np.intp], Array]:
        """Which points of an interval carry controls, and their weights at s (m,), shape (m, points)."""
        c = self.c if self.collocates_start else self.c[1:]
        return np.flatnonzero(np.isin(self.c, c)), lagrange(c, s)


def lagrange(c: Array, s: Array, rate: int = 0) -> Array:
    """Lagrange's polynomials through points c (n,) at s (m,), or their derivatives, shape (m, n)."""
    columns = []
    for j in range(len(c)):
        others = np.delete(c, j)
        p = Polynomial.fromroots(others) / np.prod(c[j] - others) if len(others) else Polynomial([1.0])
        columns.append(p.deriv(rate)(s) if rate else p(s))
    return np.stack(columns, axis=-1)


def _radau(K: int) -> Scheme:
    if K == 1:
        inner = np.zeros(0)
    else:  # the zeros of Jacobi's polynomial (1, 0) of degree K - 1
        from scipy.special import roots_jacobi

        inner = (np.sort(roots_jacobi(K - 1, 1.0, 0.0)[0]) + 1) / 2
    own = np.append(inner, 1.0)
    c = np.concatenate([[0.0], own])
    weights = np.linalg.solve(np.vander(own, increasing=True).T, 1 / np.arange(1, K + 1))
    W = np.hstack([np.zeros((K, 1)), np.eye(K)])
    return Scheme(f"radau-{K}", 2 * K - 1, c, lagrange(c, own, 1), W, np.concatenate([[0.0], weights]), False)


@cache
def scheme(name: str) -> Scheme:
    """A scheme by its name.

    Raises:
        DescriptionError: no such scheme.
    """
    match name:
        case "trapezoidal":
            half = np.array([0.5, 0.5])
            return Scheme(name, 2, np.array([0.0, 1.0]), np.array([[-1.0, 1.0]]), half[None], half, True)
        case "hermite-simpson":
            simpson = np.array([1.0, 4.0, 1.0]) / 6
            return Scheme(
                name,
                4,
                np.array([0.0, 0.5, 1.0]),
                np.array([[-0.5, 1.0, -0.5], [-1.0, 0.0, 1.0]]),
                np.array([[1 / 8, 0.0, -1 / 8], simpson]),
                simpson,
                True,
            )
        case "radau-1" | "radau-2" | "radau-3" | "radau-4":
            return _radau(int(name[-1]))
    known = "'trapezoidal', 'hermite-simpson', 'radau-2' or 'radau-3'"
    raise DescriptionError(f"scheme must be {known}, got {name!r}")
