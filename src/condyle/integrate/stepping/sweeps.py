"""Impulses of many contacts by sweeps over them (projected Gauss-Seidel).

Trees of bodies that hang on ground separately are blocks of speeds u_a; a contact k is between two of them.
Its rows G_ka, G_kb (3 x n each: normal, two tangents) and what unit impulses do, Z_ka = M_a^-1 G_ka', are
known. One contact after the other, until nothing changes any more:

    v = G_ka u_a + G_kb u_b                                                                                (1)
    p_n <- max(p_n - w_n (v_n + s p_n - c), 0)      so that v_n + s p_n >= c, p_n >= 0, one of them equal  (2)
    p_t <- the point nearest to p_t - w_t v_t with |p_t| <= mu p_n                      Coulomb's friction (3)
    u_a <- u_a + Z_ka dp,   u_b <- u_b + Z_kb dp                                                           (4)

with w_n = 1 / (W_nn + s), s = 0 of hard contacts, and w_t = 1 / (W_11 + W_22) of W = G_ka Z_ka + G_kb Z_kb.
What changed is the largest |dp| / w of a sweep, a velocity.
"""

from __future__ import annotations

import casadi as ca
import numpy as np


def update(v: ca.SX, p: ca.SX, c: ca.SX, mu: ca.SX, w_n: ca.SX, w_t: ca.SX, s: ca.SX) -> tuple[ca.SX, ca.SX]:
    """dp of (2), (3), and the square of what changed."""
    p_n = ca.fmax(p[0] - w_n * (v[0] + s * p[0] - c), 0)  # (2)
    free = p[1:] - w_t * v[1:]
    length, reach = ca.norm_2(free), mu * p_n
    p_t = free * ca.if_else(length > reach, reach / ca.if_else(length > 0, length, 1), 1)  # (3)
    dp = ca.vertcat(p_n, p_t) - p
    return dp, ca.fmax((dp[0] / w_n) ** 2, ca.sumsqr(dp[1:] / w_t))


def least_velocities(
    gap: ca.SX,
    v: ca.SX,
    v_free: ca.SX,
    e: ca.SX,
    h: ca.SX,
    soft: ca.SX,
    k: ca.SX,
    d: ca.SX,
    correction: ca.SX,
    slop: ca.SX,
) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
    """c of method.py (8) or (12), c without restitution, c of overlaps (10), and s.

    Args:
        gap: [m].
        v: of the normal before the step, v_free without contacts [m/s].
        e: restitution.
        h: the step.
        soft: whether contacts are springs of stiffness k and damping d.
    """
    s = ca.if_else(soft, 1 / (h * h * k + h * d), 0)
    hard = ca.if_else(gap > 0, -gap / h, 0)  # (8)
    back = ca.if_else(ca.logic_and(gap + h * v <= 0, e * v < 0), ca.fmin(v_free - v, 0) - e * v, -np.inf)
    deep = ca.fmax(-gap - slop, 0)
    push = ca.if_else(soft, 0, ca.if_else(deep > 0, correction * deep / h, hard))  # (10)
    springy = -gap * ca.if_else(gap > 0, 1 / h, s * h * k)  # (12)
    return ca.if_else(soft, springy, ca.fmax(hard, back)), hard, push, s
