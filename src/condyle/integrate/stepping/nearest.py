"""Closest points of balls with balls, half-spaces and boxes, as contact/closest_points.py has them, in kernels: gap,
normal from a to b, and the point halfway between.

A row of a pair begins with its bodies a and b, restitution and friction.
"""

from __future__ import annotations

import casadi as ca

NARROW = {"pairs": 8, "planes": 11, "boxes": 23, "given": 11}
"""Kinds of pairs, and numbers of each. After the first four: two balls, their radii; half-spaces have 0, a
ball, its radius, normal, height; boxes 0, a ball, its radius, half-lengths less the edge (3), the edge, R and
p in the body; contacts that are given have gap, normal and point."""


def apart(c_a: ca.SX, c_b: ca.SX, row: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    d = c_b - c_a
    length = ca.norm_2(d)
    some = length > 0
    n = ca.if_else(some, d / ca.if_else(some, length, 1), ca.SX([1, 0, 0]))
    gap = length - row[6] - row[7]
    return gap, n, c_a + (row[6] + gap / 2) * n


def plane(c: ca.SX, pose: ca.SX, row: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    n = ca.reshape(pose[:9], 3, 3) @ row[7:10]
    gap = ca.dot(n, c - pose[9:12]) - row[10] - row[6]
    return gap, n, c - (row[6] + gap / 2) * n


def box(c: ca.SX, pose: ca.SX, row: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """A box is all points at most `edge` from a smaller one; a center within that one leaves by the nearest
    face."""
    R_B = ca.reshape(pose[:9], 3, 3)
    R, core, edge = R_B @ ca.reshape(row[11:20], 3, 3), row[7:10], row[10]
    y = R.T @ (c - pose[9:12] - R_B @ row[20:23])
    away = y - ca.fmin(ca.fmax(y, -core), core)
    length = ca.norm_2(away)
    inside = core - ca.fabs(y)
    x_first, y_first = (ca.logic_and(inside[0] <= inside[1], inside[0] <= inside[2]), inside[1] <= inside[2])
    sign = ca.if_else(y < 0, -1, 1)
    face = sign * ca.if_else(
        x_first, ca.SX([1, 0, 0]), ca.if_else(y_first, ca.SX([0, 1, 0]), ca.SX([0, 0, 1]))
    )
    out = length > 0
    n = R @ ca.if_else(out, away / ca.if_else(out, length, 1), face)
    gap = ca.if_else(out, length, -ca.mmin(inside)) - edge - row[6]
    return gap, n, c - (row[6] + gap / 2) * n


def symmetric(x: ca.SX) -> ca.SX:
    """Of xx, yy, zz, xy, xz, yz."""
    return ca.vertcat(
        ca.horzcat(x[0], x[3], x[4]), ca.horzcat(x[3], x[1], x[5]), ca.horzcat(x[4], x[5], x[2])
    )
