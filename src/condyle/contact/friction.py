"""Curves of friction over slip: docs/theory/contact.md (9)-(11). Each gives mu(v) / v, which is finite and
smooth where the slip v is zero.

    Stribeck, sherman2011 (27) and figure 5, C2:  s = v / v_t,  step(x) = x^3 (10 - 15 x + 6 x^2),
        mu = mu_v v + { mu_s step(s)                                 s < 1
                        mu_s - (mu_s - mu_d) step((s - 1) / 2)       s < 3
                        mu_d }                                                                            (9)
    Hollars, of OpenSim's HuntCrossleyForce, C0 with a kink at s = 1:
        mu = mu_v v + min(s, 1) (mu_d + 2 (mu_s - mu_d) / (1 + s^2))                                      (10)
    smooth, C-infinity:
        mu = mu_v v + mu_d s / sqrt(1 + s^2) + 2 (mu_s - mu_d) s / (1 + s^2)                              (11)
"""

from __future__ import annotations

import casadi as ca

from condyle.contact.material import Combined


def _slip(square: ca.SX, m: Combined) -> tuple[ca.SX, ca.SX]:
    """s^2, and s where it is above zero, else 1."""
    s2 = square * (1 / m.v_t**2)
    return s2, ca.sqrt(ca.if_else(s2 > 0, s2, 1))


def stribeck(square: ca.SX, m: Combined) -> ca.SX:
    """(9) over v, of v^2 [m^2/s^2]."""
    s2, s = _slip(square, m)
    falling = m.mu_s - (m.mu_s - m.mu_d) * step((s - 1) / 2)
    per_s = ca.if_else(s2 < 1, m.mu_s * s2 * (10 + s * (6 * s - 15)), ca.if_else(s2 < 9, falling, m.mu_d) / s)
    return per_s * (1 / m.v_t) + m.mu_v


def hollars(square: ca.SX, m: Combined) -> ca.SX:
    """(10) over v, of v^2 [m^2/s^2]; over one denominator: a division takes longer than all else."""
    s2 = square * (1 / m.v_t**2)
    level = (m.mu_d * (1 + s2) + 2 * (m.mu_s - m.mu_d)) * (1 / m.v_t)
    return level / ((1 + s2) * ca.sqrt(ca.fmax(s2, 1))) + m.mu_v


def smoothed(square: ca.SX, m: Combined) -> ca.SX:
    """(11) over v, of v^2 [m^2/s^2]."""
    s2 = square / m.v_t**2
    return (m.mu_d / ca.sqrt(1 + s2) + 2 * (m.mu_s - m.mu_d) / (1 + s2)) / m.v_t + m.mu_v


def step(x: ca.SX) -> ca.SX:
    """From 0 at 0 to 1 at 1, with first and second derivatives zero at both."""
    return x**3 * (10 + x * (6 * x - 15))
