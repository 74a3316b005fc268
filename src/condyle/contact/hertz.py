"""Hertz's theory for unequal curvatures: docs/theory/contact.md (12), (25)-(30); sherman2011 appendix A.2.

A <= B: semi-curvatures of the gap, kappa_i / 2. a >= b: semi-axes of the contact ellipse, k = a / b,
m = 1 - 1 / k^2. K, E: complete elliptic integrals; D = (K - E) / m.

    B / A = k^2 (K - D) / D                                                    sherman2011 (29)         (25)
    sigma = pi/2 k sqrt(E) / K^(3/2),   R = 1 / (A + B)                        sherman2011 (28)         (26)
    a^2 = k^2 E R x / K,   b = a / k                                                                    (27)

By the arithmetic-geometric mean of 1 and g_0 = 1 / k, with c_n = (a_n-1 - g_n-1) / 2:

    K = pi / (2 a_inf),   D / K = 1/2 + sum of 2^(n-1) c_n^2 / m,   E / K = 1 - m D / K                 (28)
    c_1^2 / m = (1 - g_0) / (4 (1 + g_0)),   c_n+1 = c_n^2 / (4 a_n+1)                                  (29)

All of this is smooth at the circle, k = 1. (25) is solved by Newton's steps of a fixed number from
k = (B / A)^0.64, which is within 4 percent; derivatives go through the steps.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

import casadi as ca

if TYPE_CHECKING:
    from condyle.contact.touch import Touch

ROUNDS, STEPS = 6, 3
"""Rounds of the mean: 1e-15 for k below 1e5. Newton's steps: 1e-14."""
LONGEST = 1e8
"""Ratios of curvatures beyond count as this one: Hertz's theory of points does not hold for lines."""


def _means(g_0: ca.SX) -> tuple[ca.SX, ca.SX]:
    """1 / K, and D / K: (28), (29)."""
    a, g = ca.SX(1), g_0
    share = (1 - g_0) / (4 * (1 + g_0))                                                      # c_1^2 / m
    c, total, power = (1 - g_0) / 2, ca.SX(0.5), 1.0
    for _ in range(ROUNDS):
        a, g = (a + g) / 2, ca.sqrt(a * g)
        total += power * share
        after = (a - g) / 2
        # c_n+1^2 / m = (c_n^2 / m) (c_n+1 / c_n)^2, of which c_n+1 / c_n = c_n / (4 a_n+1)
        share = share * (c / (2 * (a + g))) ** 2
        c, power = after, 2 * power
    return 2 * a / math.pi, total


def _ratio(g_0: ca.SX) -> ca.SX:
    """(25)"""
    d = _means(g_0)[1]
    return (1 - d) / (d * g_0 * g_0)


def _functions() -> tuple[ca.Function, ca.Function]:
    """g_0 = 1 / k -> B / A and its logarithmic slope; g_0 -> sigma and E / K."""
    g = ca.SX.sym("g")
    r = _ratio(g)
    per_K, d = _means(g)
    E = (1 - (1 - g * g) * d) / per_K
    sigma = math.pi / 2 / g * ca.sqrt(E) * per_K * ca.sqrt(per_K)                            # (26)
    return (ca.Function("ratio", [g], [r, g * ca.jacobian(r, g) / r], {"cse": True}),
            ca.Function("sigma", [g], [sigma, E * per_K], {"cse": True}))


_RATIO, _SIGMA = _functions()


def inverse_axes(ratio: ca.SX) -> ca.SX:
    """1 / k for a ratio of curvatures of at least 1: (25) solved."""
    g = ratio ** -0.64
    for step in range(STEPS):
        r, slope = _RATIO.call([g], True, False)
        off, power = ratio / r - 1, 1 / slope
        # Newton's step for the logarithms: (1 + off)^power; after the first one the series is enough
        series = 1 + power * off * (1 + (power - 1) / 2 * off * (1 + (power - 2) / 3 * off))
        g = g * (series if step else (1 + off) ** power)
    return g


def _curvatures(where: Touch) -> tuple[ca.SX, ca.SX]:
    """Sum of the principal curvatures [1/m], and the larger over the smaller one."""
    assert where.gap is not None
    total = ca.trace(where.gap)
    square = 2 * ca.sumsqr(where.gap) - total ** 2
    apart = square > 0
    difference = ca.if_else(apart, ca.sqrt(ca.if_else(apart, square, 1)), 0)
    return total, (total + difference) / ca.fmax(total - difference, total * (2 / LONGEST))


def hertz_factor(where: Touch) -> ca.SX:
    """sigma sqrt(R) of (12) [m^(1/2)]."""
    if where.gap is None:
        return ca.sqrt(where.R)
    total, ratio = _curvatures(where)
    return _SIGMA.call([inverse_axes(ratio)], True, False)[0] * ca.sqrt(2 / total)


def patch(where: Touch) -> ca.SX:
    """Semi-axes of the contact ellipse [m], the larger one first: (27)."""
    x = ca.fmax(where.x, 0)
    if where.gap is None:
        a = ca.sqrt(where.R * x)
        return ca.vertcat(a, a)
    total, ratio = _curvatures(where)
    g = inverse_axes(ratio)
    b = ca.sqrt(_SIGMA.call([g], True, False)[1] * 2 * x / total)
    return ca.vertcat(b / g, b)
