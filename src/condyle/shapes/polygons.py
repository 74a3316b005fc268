"""Polygons as triangles."""

from __future__ import annotations

import numpy as np

from condyle.arrays import Array

FLAT = 1e-9
"""Share of a polygon's area that a triangle of it has at least."""


def cut(points: Array, corners: np.ndarray, ends: np.ndarray) -> tuple[Array, np.ndarray]:
    """Points (n, 3) and triangles (m, 3) of polygons, as Simbody and OpenSim cut them: four corners into two
    triangles, five or more around a new point in their middle. Where a triangle would fold back or be flat,
    as at hollow corners, a polygon is cut ear by ear.

    Args:
        points: shape (n, 3).
        corners: indices of points, polygon after polygon.
        ends: where each polygon ends among the corners.

    Raises:
        ValueError: ends do not fit the corners, or corners the points.
    """
    starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)
    sizes = ends - starts
    if (sizes < 0).any() or (len(ends) and ends[-1] > len(corners)):
        raise ValueError("offsets of its polygons do not fit their corners")
    if len(corners) and not 0 <= corners.min() <= corners.max() < len(points):
        raise ValueError(
            f"its polygons name points {corners.min()} to {corners.max()}, counted from 0, and "
            f"there are {len(points)}"
        )
    out = [np.zeros((0, 3), dtype=np.int64)]
    for size in np.unique(sizes[sizes > 2]):
        some = corners[starts[sizes == size][:, None] + np.arange(size)]  # (polygons, size)
        k = np.arange(size)
        fan = (
            np.stack([k, np.roll(k, -1), np.full(size, size)], axis=1)
            if size > 4
            else np.stack([0 * k[2:], k[1:-1], k[2:]], axis=1)
        )
        p = points[some]
        p = np.concatenate([p, p.mean(axis=1, keepdims=True)], axis=1)  # the middle comes last
        a, b, c = (p[:, fan[:, i]] for i in range(3))
        areas = np.cross(b - a, c - a)  # of triangles
        total = areas.sum(axis=1, keepdims=True)
        folded = ((areas * total).sum(axis=2) <= FLAT * (total * total).sum(axis=2)).any(axis=1)
        out += [polygon[_ears(q[:-1])] for polygon, q in zip(some[folded], p[folded], strict=True)]
        whole, middle = some[~folded], len(points) + np.arange((~folded).sum())
        out.append(np.column_stack([whole, middle])[:, fan].reshape(-1, 3))
        if size > 4:
            points = np.concatenate([points, p[~folded, -1]])
    return points, np.concatenate(out)


def _ears(p: Array) -> np.ndarray:
    """Triangles of one polygon, as places in it. Ears that corners touch, to rounding, are cut last; one that
    crosses itself ends as a fan."""
    normal = np.cross(p[1:-1] - p[0], p[2:] - p[0]).sum(axis=0)
    turn = lambda a, b, c: float(np.cross(p[b] - p[a], p[c] - p[a]) @ normal)
    whole = float(normal @ normal)
    left, out = list(range(len(p))), []

    def is_ear(k: int, least: float) -> bool:
        a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
        return turn(a, b, c) > least and not any(
            min(turn(a, b, d), turn(b, c, d), turn(c, a, d)) >= -least
            for d in left
            if not (p[d] == p[[a, b, c]]).all(axis=1).any()
        )

    while len(left) > 3:
        k = next((k for least in (FLAT * whole, 0.0) for k in range(len(left)) if is_ear(k, least)), 1)
        out.append((left[k - 1], left[k], left[(k + 1) % len(left)]))
        del left[k]
    return np.array([*out, tuple(left)])
