"""Polygons as triangles."""
from __future__ import annotations

import numpy as np

from condyle.arrays import Array


def triangles_of(points: Array, corners: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Triangles (m, 3) of polygons: a fan of each, or ears one after the other where a fan would fold back,
    as at hollow corners.

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
        raise ValueError(f"its polygons name points {corners.min()} to {corners.max()}, counted from 0, and "
                         f"there are {len(points)}")
    out = [np.zeros((0, 3), dtype=np.int64)]
    for size in np.unique(sizes[sizes > 2]):
        some = corners[starts[sizes == size][:, None] + np.arange(size)]             # (polygons, size)
        p = points[some]
        spread = p[:, 1:] - p[:, :1]
        areas = np.cross(spread[:, :-1], spread[:, 1:])                              # (polygons, size - 2, 3)
        with np.errstate(invalid="ignore"):
            folded = ((areas * areas.sum(axis=1, keepdims=True)).sum(axis=2) < 0).any(axis=1)
        fan = np.stack([np.zeros(size - 2, int), np.arange(1, size - 1), np.arange(2, size)], axis=1)
        out.append(some[~folded][:, fan].reshape(-1, 3))
        out += [polygon[_ears(q)] for polygon, q in zip(some[folded], p[folded], strict=True)]
    return np.concatenate(out)


def _ears(p: Array) -> np.ndarray:
    """Triangles of one polygon, as places in it. One that crosses itself ends as a fan."""
    normal = np.cross(p[1:-1] - p[0], p[2:] - p[0]).sum(axis=0)
    turn = lambda a, b, c: float(np.cross(p[b] - p[a], p[c] - p[a]) @ normal)
    left, out = list(range(len(p))), []

    def is_ear(k: int) -> bool:
        a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
        return turn(a, b, c) > 0 and not any(
            min(turn(a, b, d), turn(b, c, d), turn(c, a, d)) >= 0 for d in left
            if not (p[d] == p[[a, b, c]]).all(axis=1).any())

    while len(left) > 3:
        k = next((k for k in range(len(left)) if is_ear(k)), 1)
        out.append((left[k - 1], left[k], left[(k + 1) % len(left)]))
        del left[k]
    return np.array([*out, tuple(left)])
