"""Exponentials of constant twists, and products of them with their derivatives, for numbers and symbols
alike. docs/theory/spline_joints.md (5)-(8).

    z = (w, v):   theta = |w|,  n = w/theta,  h = n.v,  B = (v - h n)/theta                              (5)
                  w = 0:  n = v/|v|,  theta = 0,  h = |v|,  B = 0
    exp(z f) = (1 + s [n] + c [n]^2,  h f n + s B + c n x B),   s = sin(theta f),  c = 1 - cos(theta f)    (6)
    ds <- z f'' + Ad^-1 (ds + ad_s z f'),   s <- z f' + Ad^-1 s,  Ad that of exp(z f)  lee2008 (29), (31)  (7)

A twist in the form (5) takes one sine and one cosine of half the angle, no series and no branch, and loses no
digit at any angle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from condyle.arrays import Array
from condyle.functions.pieces import taylor
from condyle.spatial.algebra import apply, cos, cross, entries, matrix, scale, sin, transpose, vector

SIZE = 8
"""Numbers of a screw: n (3), theta, h, B (3)."""

TINY = 1e-150
"""Rotation [rad] below which a twist is a translation."""


def screws(z: Array) -> Array:
    """The form (5) of twists z (..., 6), shape (..., 8)."""
    w, v = z[..., :3], z[..., 3:]
    theta, length = (np.linalg.norm(x, axis=-1, keepdims=True) for x in (w, v))
    turns = theta > TINY
    safe = np.where(turns, theta, 1.0)
    along = np.where(length > 0, v / np.where(length > 0, length, 1.0), [0.0, 0.0, 1.0])
    n = np.where(turns, w / safe, along)
    h = (n * v).sum(axis=-1, keepdims=True)
    return np.concatenate(
        [n, np.where(turns, theta, 0.0), h, np.where(turns, (v - h * n) / safe, 0.0)], axis=-1
    )


class Path(NamedTuple):
    """A pose and its derivatives by the parameter: the joint Jacobian s and its derivative ds, in the child's
    frame, each as its angular and its linear part."""

    R: Any
    p: Any
    w: Any
    v: Any
    dw: Any
    dv: Any


def along(
    x: Any, R: Any, p: Any, each: Sequence[Any], polynomials: Sequence[Sequence[Any]], rates: int = 2
) -> Path:
    """G(x) = (R, p) exp(z_1 f_1(x)) exp(z_2 f_2(x)) ..., s and ds.

    Args:
        x: the parameter: one symbol, or numbers (...).
        R: rotation at the start, shape (..., 3, 3).
        p: position at the start, shape (..., 3).
        each: the twists in the form (5), (..., 8) each.
        polynomials: coefficients of the f, from the constant one up.
        rates: 2; or 1 without ds, or 0 without s and ds, which are None then.
    """
    w = v = dw = dv = None
    for screw, c in zip(each, polynomials, strict=True):
        f, *derivatives = (taylor(x, c, d) for d in range(1 + rates))
        R_f, p_f, z_w, z_v = _exponential(screw, f)
        back = transpose(R_f)
        if rates == 2:
            ddf = derivatives[1]
            if dw is None:
                dw, dv = scale(ddf, z_w), scale(ddf, z_v)
            else:
                df = derivatives[0]
                dw, dv = dw + scale(df, cross(w, z_w)), dv + scale(df, cross(v, z_w) + cross(w, z_v))  # (7)
                dv, dw = apply(back, dv - cross(p_f, dw)) + scale(ddf, z_v), apply(back, dw) + scale(ddf, z_w)
        if rates:
            df = derivatives[0]
            if w is None:
                w, v = scale(df, z_w), scale(df, z_v)
            else:
                v, w = apply(back, v - cross(p_f, w)) + scale(df, z_v), apply(back, w) + scale(df, z_w)
        p, R = p + apply(R, p_f), R @ R_f
    return Path(R, p, w, v, dw, dv)


def _exponential(screw: Any, f: Any) -> tuple[Any, Any, Any, Any]:
    """R and p of exp(z f), and the two parts of z."""
    n1, n2, n3, theta, h, *rest = entries(screw)
    n, B = vector([n1, n2, n3]), vector(rest)
    half = 0.5 * theta * f
    sine, cosine = sin(half), cos(half)
    s, c = 2 * sine * cosine, 2 * sine * sine  # no digit is lost in 1 - cos
    s1, s2, s3 = s * n1, s * n2, s * n3
    c1, c2, c3 = c * n1, c * n2, c * n3
    c12, c13, c23, diagonal = c1 * n2, c1 * n3, c2 * n3, 1 - c
    R = matrix(
        [
            [diagonal + c1 * n1, c12 - s3, c13 + s2],
            [c12 + s3, diagonal + c2 * n2, c23 - s1],
            [c13 - s2, c23 + s1, diagonal + c3 * n3],
        ]
    )
    A = scale(h, n)
    p = scale(f, A) + scale(s, B) + scale(c, cross(n, B))  # (6)
    return R, p, scale(theta, n), A + scale(theta, B)
