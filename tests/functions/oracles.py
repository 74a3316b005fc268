"""The same functions by other roads: exact rational numbers in mpmath, closed forms."""

import mpmath as mp
import numpy as np


def exact(f):
    """f(*numbers as mpf, order) with 60 digits -> float."""

    def call(*arguments):
        with mp.workdps(60):
            return float(f(*arguments))

    return call


def natural_spline(x, y, degree):
    """f(at, order) of the natural spline: sum_i w_i |t - x_i|^k + a polynomial p of degree (k - 1) / 2, with
    the moments of w up to that degree zero. One formula for inside and outside; not that of condyle, which
    joins polynomials."""
    n, m = len(x), (degree + 1) // 2
    with mp.workdps(60):
        X = [mp.mpf(float(v)) for v in x]
        A, b = mp.zeros(n + m), mp.zeros(n + m, 1)
        for i in range(n):
            b[i] = mp.mpf(float(y[i]))
            for j in range(n):
                A[i, j] = abs(X[i] - X[j]) ** degree
            for j in range(m):
                A[i, n + j] = A[n + j, i] = X[i] ** j
        c = mp.lu_solve(A, b)

    def value(at, order):
        t, total = mp.mpf(float(at)), mp.mpf(0)
        falling = mp.ff(degree, order)
        for i in range(n):
            sign = 1 if t >= X[i] else -1
            total += c[i] * falling * sign * (t - X[i]) ** (degree - order)
        for j in range(order, m):
            total += c[n + j] * mp.ff(j, order) * t ** (j - order)
        return total

    return exact(value)


def simm_spline(x, y):
    """f(at, order) of SIMM's cubic: a cubic plus sum_i d_i (t - x_i)+^3, ends as of the outer cubics; lines
    beyond."""
    n = len(x)
    with mp.workdps(60):
        X, Y = [mp.mpf(float(v)) for v in x], [mp.mpf(float(v)) for v in y]

        def leading(first):
            points = range(first, first + 4)
            return (
                sum(Y[i] / mp.fprod(X[i] - X[j] for j in points if j != i) for i in points)
                if n > 3
                else mp.mpf(0)
            )

        A, b = mp.zeros(n + 2), mp.zeros(n + 2, 1)
        for i in range(n):
            b[i] = Y[i]
            for j in range(4):
                A[i, j] = (X[i] - X[0]) ** j
            for j in range(1, n - 1):
                A[i, 3 + j] = max(X[i] - X[j], 0) ** 3
        A[n, 3], b[n] = 1, leading(0)
        for j in range(3, n + 2):
            A[n + 1, j] = 1
        b[n + 1] = leading(n - 4)
        c = mp.lu_solve(A, b)

    def inside(t, order):
        total = sum(c[j] * mp.ff(j, order) * (t - X[0]) ** (j - order) for j in range(order, 4))
        return total + sum(
            c[3 + j] * mp.ff(3, order) * (t - X[j]) ** (3 - order) for j in range(1, n - 1) if t >= X[j]
        )

    def value(at, order):
        t = mp.mpf(float(at))
        if X[0] <= t < X[-1]:
            return inside(t, order)
        end = X[0] if t < X[0] else X[-1]
        return (
            inside(end, 0) + (t - end) * inside(end, 1)
            if order == 0
            else inside(end, 1)
            if order == 1
            else mp.mpf(0)
        )

    return exact(value)


def random_points(seed, n):
    """x with steps of 0.1 to 1, y of size one, and the generator."""
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.uniform(0.1, 1.0, n)) - 2, rng.normal(size=n), rng


def somewhere(x, rng, inside=12):
    """Places between the points, at them, and beyond both ends by as much as a quarter of the range."""
    span = x[-1] - x[0]
    return np.concatenate(
        [
            rng.uniform(x[0], x[-1], inside),
            x,
            x[0] - span * np.array([1e-9, 0.1, 0.25]),
            x[-1] + span * np.array([1e-9, 0.1, 0.25]),
        ]
    )
