"""Values of a smoothing spline at its points, as OpenSim's GCVSpline has them where error_variance is not
zero (Woltring 1986).

Of all curves s the natural spline of degree 2 m - 1 minimizes

    sum (y_i - s(x_i))^2 + p int (s^(m))^2 dx.                                                             (1)

Its values are g = A(p) y with A = (1 + p K)^-1, where g' K g is the integral for the natural spline through
g. By parts, (K g)_i is (-1)^m times the jump of its derivative of order 2 m - 1 at x_i. p minimizes one of

    |y - g|^2 / (tr(1 - A))^2                    generalized cross validation, where no variance is known  (2)
    |y - g|^2 - 2 variance tr(1 - A)             the expected error, with the variance of the y            (3)
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from condyle.arrays import Array
from condyle.functions.splines import natural


def smoothed(x: Array, y: Array, degree: int, variance: float) -> Array:
    """g at the points (x, y), shape (n,); by (2) if the variance is negative, by (3) if it is positive."""
    half = (degree + 1) // 2
    step = (x[-1] - x[0]) / (len(x) - 1)
    c = natural((x - x[0]) / step, np.eye(len(x)), degree)[2][:, degree] * math.factorial(degree)
    c[-1] = 0.0  # beyond the ends the degree is m - 1
    K = (-1) ** half * np.diff(c, axis=0)
    size, V = np.linalg.eigh((K + K.T) / 2)
    size[:half] = 0.0  # polynomials of degree m - 1 cost nothing
    part = V.T @ y

    def criterion(logarithm: float) -> float:
        left = _left(size, logarithm)
        rest = float(((left * part) ** 2).sum())
        if variance < 0:
            return rest / float(left.sum()) ** 2  # (2)
        return rest - 2 * variance * float(left.sum())  # (3)

    logarithm = _lowest(criterion, -half * math.log(4.0))
    return V @ ((1 - _left(size, logarithm)) * part)  # type: ignore[no-any-return]


def _left(size: Array, logarithm: float) -> Array:
    """Eigenvalues of 1 - A."""
    p = math.exp(logarithm) * size
    return p / (1 + p)


FAR = 36.0
"""How far log p goes: beyond, the curve goes through its points, or is a polynomial, to rounding."""


def _lowest(criterion: Callable[[float], float], start: float) -> float:
    """log p of the nearest minimum: Woltring's search goes on by factors of two from where both terms of (1)
    are alike, first to less smoothing."""
    from scipy.optimize import minimize_scalar

    step = math.log(2.0)
    if criterion(start) > criterion(start + step):
        step = -step
    middle = start + max(-step, 0.0)
    while criterion(middle - step) < criterion(middle):
        middle -= step
        if abs(middle - start) > FAR:
            return middle
    around = sorted((middle - step, middle + step))
    return float(minimize_scalar(criterion, bounds=around, method="bounded", options={"xatol": 1e-10}).x)
