"""Rotations about and translations along axes one after the other: lee2008 (25),
docs/theory/spline_joints.md (18), (19)."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from condyle.mobilizers.base import zeros
from condyle.mobilizers.lower_pairs import LETTERS, column, rotation_about_axis
from condyle.spatial import Transform

AXES = ("tx", "ty", "tz", "rx", "ry", "rz")
"""The six basis twists: translations along and rotations about x, y, z."""


def chain(
    axes: Sequence[str], X: Transform, phi: Sequence[ca.SX], rate: Sequence[ca.SX], second: Sequence[ca.SX]
) -> tuple[ca.SX, ...]:
    """Rotations about and translations along axes one after the other, each on the one before.

    With a = R e of each axis before it moves, and r the translation:

        rotation:      w += a phidot,             bias_w += w x a phidot + a phiddot
        translation:   v += w x r + a phidot,     bias_v += bias_w x r + w x (w x r + 2 a phidot) + a phiddot

    Args:
        X: where the first begins.
        phi, rate, second: angle or displacement of each, its rate, and its second derivative at udot = 0.

    Returns:
        R, p; W_w, W_v (3, 6), with which w = W_w rate, v = W_v rate; bias_w, bias_v.
    """
    R, p = ca.sparsify(ca.SX(ca.DM(X.R))), ca.sparsify(ca.SX(ca.DM(X.p)))
    W_w, W_v = [zeros() for _ in axes], [zeros() for _ in axes]
    w, v, bias_w, bias_v = zeros(), zeros(), zeros(), zeros()
    for j, (axis, x, x_dot, x_ddot) in enumerate(zip(axes, phi, rate, second, strict=True)):
        if not x.nnz():
            continue
        e = LETTERS[axis[1]]
        a = R @ column(e)
        step = a * x_dot
        if axis[0] == "r":
            W_w[j] = a
            bias_w += ca.cross(w, step) + a * x_ddot
            w += step
            R = R @ rotation_about_axis(e, x)
        else:
            r = a * x
            W_v = [W + ca.cross(turn, r) if turn.nnz() else W for W, turn in zip(W_v, W_w, strict=True)]
            W_v[j] = a
            if w.nnz():
                arm = ca.cross(w, r)
                bias_v += ca.cross(bias_w, r) + ca.cross(w, arm + 2 * step)
                v += arm
            v += step
            bias_v += a * x_ddot
            p += r
    return R, p, ca.horzcat(*W_w), ca.horzcat(*W_v), bias_w, bias_v
