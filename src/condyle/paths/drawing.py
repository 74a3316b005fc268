"""Paths as polygons: points of bodies, and points along the arcs over surfaces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.paths.path import Path
from condyle.paths.span import TOUCHED

ALONG = 17
"""Points of an arc, P and Q among them."""


def numbers(path: Path) -> int:
    """How many numbers PathLength.touched gives."""
    return 4 * len(path.points) + TOUCHED * sum(len(span.wraps) for span in path.length.spans)


def polygon(path: Path, touched: Array, along: int = ALONG) -> Array:
    """Points in ground [m], shape (..., m, 3), the same number for all states: where a point is not active or
    a surface not touched, points coincide.

    Args:
        touched: PathLength.touched, shape (..., numbers).
        along: points of an arc.
    """
    points, _ = polygon_parts(path, touched.reshape(-1, touched.shape[-1]), along)
    return points.reshape(*touched.shape[:-1], -1, 3)


def polygon_parts(path: Path, touched: Array, along: int = ALONG) -> tuple[Array, NDArray[np.int64]]:
    """The polygon, shape (n, m, 3), and what each point is in most states, shape (m,): a point of the path by
    its number, or its surface by its number after those.

    Args:
        touched: PathLength.touched, shape (n, numbers).
        along: points of an arc.
    """
    n, states = len(path.points), len(touched)
    X, active = touched[:, : 3 * n].reshape(-1, n, 3).copy(), touched[:, 3 * n : 4 * n] != 0
    for i in range(1, n):
        X[:, i] = np.where(active[:, i, None], X[:, i], X[:, i - 1])
    places, points = [np.tile(np.arange(n, dtype=float), (states, 1))], [X]
    parts, there = [np.arange(n)], [np.ones((states, n), dtype=bool)]
    for k, surface in enumerate(w.surface for span in path.length.spans for w in span.wraps):
        on, place, P, Q, e_in, e_out, arc, R, o = np.split(
            touched[:, 4 * n + TOUCHED * k :][:, :TOUCHED], np.cumsum([1, 1, 3, 3, 3, 3, 1, 9]), axis=1
        )
        s = np.linspace(0, 1, along)
        with np.errstate(invalid="ignore", divide="ignore"):
            arcs = surface.along(
                P[:, None], Q[:, None], e_in[:, None], e_out[:, None], arc[:, None], s[:, None]
            )
        R_GS = R.reshape(-1, 3, 3).transpose(0, 2, 1)
        points.append(o[:, None] + np.einsum("nij,nkj->nki", R_GS, arcs))
        touching = on != 0
        # in states without this arc its points wait where it usually is, so that all others keep their places
        usual = np.median(place[touching]) if touching.any() else 0.0
        places.append(np.where(touching, place, usual) + 1 / 128 + s / 256)
        there.append(np.repeat(touching, along, axis=1))
        parts.append(np.full(along, n + k))
    order = np.argsort(np.concatenate(places, axis=1), axis=1, kind="stable")
    sorted_points = np.take_along_axis(np.concatenate(points, axis=1), order[:, :, None], axis=1)
    is_there = np.take_along_axis(np.concatenate(there, axis=1), order, axis=1)
    before = np.maximum.accumulate(np.where(is_there, np.arange(order.shape[1]), 0), axis=1)
    part = np.concatenate(parts)[order]
    usual_part = np.array([np.bincount(column).argmax() for column in part.T], dtype=np.int64)
    return np.take_along_axis(sorted_points, before[:, :, None], axis=1), usual_part
