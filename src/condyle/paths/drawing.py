"""Paths as polygons: points of bodies, and points along the arcs over surfaces."""
from __future__ import annotations

import numpy as np

from condyle.arrays import Array
from condyle.paths.path import Path
from condyle.paths.span import TOUCHED

ALONG = 17
"""Points of an arc, P and Q among them."""


def numbers(path: Path) -> int:
    """How many numbers PathLength.touched gives."""
    return 4 * len(path.points) + TOUCHED * sum(len(span.wraps) for span in path.length.spans)


def polygon(path: Path, touched: Array) -> Array:
    """Points in ground [m], shape (..., m, 3), the same number for all states: where a point is not active or
    a surface not touched, points coincide.

    Args:
        touched: PathLength.touched, shape (..., numbers).
    """
    n, batch = len(path.points), touched.shape[:-1]
    flat = touched.reshape(-1, touched.shape[-1])
    X, active = flat[:, :3 * n].reshape(-1, n, 3).copy(), flat[:, 3 * n:4 * n] != 0
    for i in range(1, n):
        X[:, i] = np.where(active[:, i, None], X[:, i], X[:, i - 1])
    places, points = [np.tile(np.arange(n, dtype=float), (len(flat), 1))], [X]
    surfaces = [w.surface for span in path.length.spans for w in span.wraps]
    for k, surface in enumerate(surfaces):
        on, place, P, Q, e_in, e_out, arc, R, o = np.split(
            flat[:, 4 * n + TOUCHED * k:][:, :TOUCHED], np.cumsum([1, 1, 3, 3, 3, 3, 1, 9]), axis=1)
        s = np.linspace(0, 1, ALONG)
        with np.errstate(invalid="ignore", divide="ignore"):
            arcs = surface.along(P[:, None], Q[:, None], e_in[:, None], e_out[:, None], arc[:, None],
                                 s[:, None])
        R_GS = R.reshape(-1, 3, 3).transpose(0, 2, 1)
        there = on != 0
        arcs = o[:, None] + np.einsum("nij,nkj->nki", R_GS, arcs)
        points.append(np.where(there[:, :, None], arcs, X[:, :1]))
        places.append(np.where(there, place + 1 / 128 + s / 256, 0.0))
    at, all_points = np.concatenate(places, axis=1), np.concatenate(points, axis=1)
    order = np.argsort(at, axis=1, kind="stable")
    return np.take_along_axis(all_points, order[:, :, None], axis=1).reshape(*batch, -1, 3)
