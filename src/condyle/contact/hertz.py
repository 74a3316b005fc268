"""Hertz's theory for unequal curvatures: docs/theory/contact.md (12), (25)-(30); sherman2011 appendix A.2.

A <= B: semi-curvatures of the gap, kappa_i / 2. a >= b: semi-axes of the contact ellipse, k = a / b,
m = 1 - 1 / k^2. K, E: complete elliptic integrals; D = (K - E) / m.

    B / A = k^2 (K - D) / D                                                    sherman2011 (29)         (25)
    sigma = pi/2 k sqrt(E) / K^(3/2),   R = 1 / (A + B)                        sherman2011 (28)         (26)
    a^2 = k^2 E R x / K,   b = a / k                                                                    (27)

By the arithmetic-geometric mean of 1 and g_0 = 1 / k, with c_n = (a_n-1 - g_n-1) / 2:

    K = pi / (2 a_inf),   T = sum of 2^(n-1) c_n^2 / m^2,   D / K = 1/2 + m T,   E / K = 1 - m D / K      (28)
    c_1^2 / m^2 = 1 / (4 (1 + g_0)^2),   c_n+1 = c_n^2 / (4 a_n+1)                                      (29)

and, with d = D / K, e = E / K, from dE/dm = -D/2 and dK/dm = (K - D) / 2g^2, the slopes

    d ln(B/A) / d ln g = (d - 2 T) / d - (1 - 2 d + 2 T) / (1 - d) - 2                                  (29a)
    d ln sigma / d ln g = 1/2 - 3/2 d + g^2 d / (2 e)                                                   (29b)

All of this is smooth at the circle, k = 1. (25) is solved by two of Newton's steps in logarithms, from a
start that is within 0.14 percent; the second one is applied to sigma and the axes directly, so that the mean
is computed twice.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import casadi as ca

from condyle.arrays import SX
from condyle.contact.line import line_patch

if TYPE_CHECKING:
    from condyle.contact.surfaces import Touch

ROUNDS = 6
"""Rounds of the mean: 1e-15 for k below 1e5."""
LONGEST = 1e8
"""Largest ratio of curvatures; higher ones are clipped, because Hertz's theory of points does not hold for
lines."""
FIRST = (2 / 3, 0.0235571415, 7.00297783e-05), (1.0, 0.0397152987, 1.31554615e-04)
"""Powers of y^2, y = ln(B/A), in ln k = y P / Q: fitted, exact at the circle."""


def _means(g: SX) -> tuple[SX, SX]:
    """1 / K, and T of (28), (29)."""
    a, other = ca.SX(1), g
    share, c = 1 / (4 * (1 + g) ** 2), (1 - g) / 2  # c_1^2 / m^2
    total, power = ca.SX(0), 1.0
    for _ in range(ROUNDS):
        a, other = (a + other) / 2, ca.sqrt(a * other)
        total += power * share
        # c_n+1^2 = c_n^2 (c_n+1 / c_n)^2, of which c_n+1 / c_n = c_n / (4 a_n+1)
        share = share * (c / (2 * (a + other))) ** 2
        c, power = (a - other) / 2, 2 * power
    return 2 * a / math.pi, total


def _step(g: SX, ratio: SX) -> tuple[SX, SX, SX, SX]:
    """The change of ln g for (25); with 1 / K, D / K and E / K."""
    per_K, T = _means(g)
    m = (1 - g) * (1 + g)
    d = 0.5 + m * T
    slope = (d - 2 * T) / d - (1 - 2 * d + 2 * T) / (1 - d) - 2  # (29a)
    off = ratio * d * g * g / (1 - d) - 1
    return off * (1 - off * (0.5 - off / 3)) / slope, per_K, d, 1 - m * d


def _start(ratio: SX) -> SX:
    y = ca.log(ratio)
    top, low = (c[0] + y * y * (c[1] + y * y * c[2]) for c in FIRST)
    return ca.exp(-y * top / low)


def _ellipse(ratio: SX) -> tuple[SX, SX, SX]:
    """sigma, 1 / k and E / K for a ratio of curvatures of at least 1: (25), (26)."""
    g = _start(ratio)
    by = _step(g, ratio)[0]
    g = g * (1 + by * (1 + by / 2 * (1 + by / 3)))
    by, per_K, d, e = _step(g, ratio)  # below 1e-7
    sigma = math.pi / 2 / g * ca.sqrt(e) * per_K  # (26)
    rate = 0.5 - 1.5 * d + g * g * d / (2 * e)  # (29b)
    return sigma * (1 + rate * by), g * (1 + by), e * (1 + by * (g * g * d / e + 1 - d))


@cache
def _function() -> ca.Function:
    ratio = ca.SX.sym("ratio")
    return ca.Function("ellipse", [ratio], list(_ellipse(ratio)), {"cse": True})


def _curvatures(where: Touch) -> tuple[SX, SX]:
    """Sum of the principal curvatures [1/m], and the larger over the smaller one."""
    assert where.gap is not None
    total = ca.trace(where.gap)
    if where.gap.shape == (2, 2):
        square = (where.gap[0, 0] - where.gap[1, 1]) ** 2 + 4 * where.gap[0, 1] ** 2
    else:
        square = 2 * ca.sumsqr(where.gap) - total**2
    apart = square > 0
    difference = ca.if_else(apart, ca.sqrt(ca.if_else(apart, square, 1)), 0)
    return total, (total + difference) / ca.fmax(total - difference, total * (2 / LONGEST))


def hertz_factor(where: Touch) -> SX:
    """sigma sqrt(R) of (12) [m^(1/2)]."""
    if where.gap is None:
        return ca.sqrt(where.R)
    total, ratio = _curvatures(where)
    return _function().call([ratio], True, False)[0] * ca.sqrt(2 / total)


def patch(where: Touch) -> SX:
    """Semi-axes of the contact ellipse [m], the larger one first: (27)."""
    if where.line is not None:
        return line_patch(where)
    x = ca.fmax(where.x, 0)
    if where.gap is None:
        a = ca.sqrt(where.R * x)
        return ca.vertcat(a, a)
    total, ratio = _curvatures(where)
    _, g, e = _function().call([ratio], True, False)
    b = ca.sqrt(e * 2 * x / total)
    return ca.vertcat(b / g, b)
