"""Contact along lines: docs/theory/contact.md (58)-(62); Johnson (1985), 4.2 and 5.6.

A cylinder of radius R that is pressed against a plane by f' per length flattens over the half-width a, and its
axis comes nearer by x; two cylinders likewise, with C = R_1 + R_2 and rho^2 = R_1 R_2 (for a plane C = rho = R):

    a^2 = 4 f' R_1 R_2 / (pi E* C),   x = f' / (pi E*) (2 ln(4 rho / a) - 1)                            (58)

With s = (a / 4 rho)^2 and y = -ln s this is

    x = 4 C s (y - 1),   f' = 4 pi E* C s,   stored 16 pi E* C^2 s^2 (y / 2 - 3 / 4) per length           (59)
    y - ln(y - 1) = L,   L = -ln(x / 4 C)                                                               (60)

(60) is solved by four of Newton's steps, exact to rounding. Beyond x = 8 C e^-3 = 0.4 C, where the patch is as
wide as the cylinder, f' goes on along its tangent of slope pi E*.                                      (61)
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import casadi as ca

from condyle.arrays import SX

if TYPE_CHECKING:
    from condyle.contact.surfaces import Touch

DEEPEST = 2 * math.exp(-3)
"""x / 4 C of (61)."""


@cache
def _function() -> ca.Function:
    """x / 4 C, above 0 -> s, and the stored energy over 16 pi E* C^2: (59)-(61)."""
    x = ca.SX.sym("x")
    within = ca.fmin(x, DEEPEST)
    L = -ca.log(within)
    y = L + ca.log(L + ca.log(L + 1))
    for _ in range(4):
        y = y - (y - ca.log(y - 1) - L) * (y - 1) / (y - 2)  # (60)
    s, more = ca.exp(-y), x - within
    stored = s**2 * (y / 2 - 0.75) + more * (s + more / 2)
    return ca.Function("line", [x], [s + more, stored])


def line_force(where: Touch, E: SX, x: SX) -> tuple[SX, SX]:
    """Force [N] and stored energy [J] at a depth x above 0: (59)."""
    assert where.line is not None
    C, _, length = where.line
    s, stored = _function().call([x / (4 * C)], True, False)
    return 4 * math.pi * E * C * s * length, 16 * math.pi * E * C**2 * stored * length


def line_patch(where: Touch) -> SX:
    """Half the length and half the width of the patch [m]."""
    assert where.line is not None
    C, rho, length = where.line
    touching = where.x > 0
    s, _ = _function().call([ca.if_else(touching, where.x, C) / (4 * C)], True, False)
    return ca.if_else(touching, ca.vertcat(length / 2, 4 * rho * ca.sqrt(s)), 0)
