"""Meshes that elements draw: tori, sheets over a grid, and surfaces where a function is zero.

The last are found by marching tetrahedra. Each cell of the grid is six tetrahedra around one of its diagonals. An edge whose ends have different signs
is cut where a straight line between its values is zero; one or two triangles join the cuts of a tetrahedron.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from condyle.arrays import Array
from condyle.shapes.mesh import Mesh

FINE, ROUGH = 18, 24
"""Cells along an edge of the box: of the surface, and of the search for the box."""
TETRAHEDRA = np.array([(0, a, a | b, 7) for a in (1, 2, 4) for b in (1, 2, 4) if a != b])
"""Corners of a cell by their bits: x is 1, y is 2, z is 4."""


def torus(circle: float, tube: float, around: int = 32, across: int = 12) -> Mesh:
    """A tube along a circle about z, by their radii [m]."""
    a, b = (2 * np.pi * np.arange(n) / n for n in (around, across))
    r = circle + tube * np.cos(b)
    z = np.broadcast_to(tube * np.sin(b), (around, across))
    vertices = np.stack([np.outer(np.cos(a), r), np.outer(np.sin(a), r), z], axis=-1)
    return Mesh((vertices.reshape(-1, 3), _quads(np.arange(around * across).reshape(around, across), True)))


def sheet(points: Array) -> Mesh:
    """Triangles of a grid of points, shape (rows, columns, 3)."""
    rows, columns = points.shape[:2]
    places = np.arange(rows * columns).reshape(rows, columns)
    return Mesh((points.reshape(-1, 3), _quads(places, False)))


def _quads(places: np.ndarray, closed: bool) -> np.ndarray:
    """Two triangles for each cell of a grid of vertices, which may close on itself along both sides."""
    if closed:
        places = np.pad(places, (0, 1), mode="wrap")
    a, b, c, d = (x.ravel() for x in (places[:-1, :-1], places[1:, :-1], places[1:, 1:], places[:-1, 1:]))
    return np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])


def zero_surface(function: Callable[[Array], Array], reach: float) -> Mesh | None:
    """The surface around the region where a function is negative; None if it finds none.

    Args:
        function: of points (n, 3) [m], gives numbers (n,); negative inside.
        reach: how far from the origin it looks [m]; what goes on beyond is cut there.
    """
    half = reach
    for _ in range(12):  # the smallest cube that holds it
        grid = np.linspace(-half, half, ROUGH + 1)
        inside = function(_points([grid] * 3)).reshape((ROUGH + 1,) * 3) < 0
        core = inside[ROUGH // 4 : -(ROUGH // 4), ROUGH // 4 : -(ROUGH // 4), ROUGH // 4 : -(ROUGH // 4)]
        if inside.any() and inside.sum() > core.sum():
            break
        half /= 2
    else:
        return None
    axes = []
    for k in range(3):  # and within it the smallest box, with a cell more
        there = np.flatnonzero(inside.any(axis=tuple(j for j in range(3) if j != k)))
        low, high = grid[max(there[0] - 1, 0)], grid[min(there[-1] + 1, ROUGH)]
        axes.append(np.linspace(low, high, FINE + 1))
    values = function(_points(axes)).reshape((FINE + 1,) * 3)
    vertices, triangles = marched(values, axes)
    return Mesh((vertices, triangles)) if len(triangles) else None


def _points(axes: list[Array]) -> Array:
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def marched(values: Array, axes: list[Array]) -> tuple[Array, np.ndarray]:
    """Vertices (n, 3) and triangles (m, 3) of the surface where values (a, b, c) on a grid are zero; normals
    point to where they are positive."""
    shape = np.array(values.shape)
    flat = np.nan_to_num(values.ravel(), nan=1.0)
    stride = np.array([shape[1] * shape[2], shape[2], 1])
    cells = _points([np.arange(n - 1) for n in shape]) @ stride
    bits = (np.arange(8)[:, None] >> np.arange(3)) & 1
    corners = cells[:, None] + bits @ stride  # (cells, 8)
    tetrahedra = corners[:, TETRAHEDRA].reshape(-1, 4)
    negative = flat[tetrahedra] < 0
    count = negative.sum(axis=1)
    edges, inner = [], []
    for n in (1, 2, 3):
        t, sign = tetrahedra[count == n], negative[count == n]
        order = np.argsort(~sign, axis=1, kind="stable")  # negative corners first
        t = np.take_along_axis(t, order, axis=1)
        if n == 2:
            quad = [(0, 2), (0, 3), (1, 3), (1, 2)]
            corners_of = [[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]
        else:
            corners_of = [[(0, 1), (0, 2), (0, 3)]] if n == 1 else [[(3, 0), (3, 1), (3, 2)]]
        for triangle in corners_of:
            edges.append(np.stack([t[:, list(edge)] for edge in triangle], axis=1))
            inner.append(t[:, 0])
    found = np.concatenate(edges)  # (m, 3, 2)
    keys, corner = np.unique(np.sort(found.reshape(-1, 2), axis=1), axis=0, return_inverse=True)
    where = np.stack(np.unravel_index(keys, values.shape), axis=-1)
    places = np.stack([axes[k][where[..., k]] for k in range(3)], axis=-1)
    f = flat[keys]
    share = f[:, :1] / (f[:, :1] - f[:, 1:])
    vertices = places[:, 0] + share * (places[:, 1] - places[:, 0])
    triangles = corner.reshape(-1, 3)
    at = np.stack(np.unravel_index(np.concatenate(inner), values.shape), axis=-1)
    inside = np.stack([axes[k][at[:, k]] for k in range(3)], axis=-1)
    p = vertices[triangles]
    outward = np.einsum("ni,ni->n", np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), p[:, 0] - inside)
    triangles[outward < 0] = triangles[outward < 0][:, ::-1]
    return vertices, triangles
