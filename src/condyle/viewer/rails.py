"""Joints with a shape of their own, on the parent: curves, surfaces and ellipsoids that a body moves on."""

from __future__ import annotations

from typing import Any

import numpy as np

import condyle.mobilizers as mobilizers
import condyle.shapes as shapes
from condyle.arrays import Array
from condyle.shapes import Shape
from condyle.system.system import System
from condyle.viewer.bodies import JOINT, Part
from condyle.viewer.paths import plain

ALONG, GRID = 240, 33
"""Points of a curve, and of a surface along a side."""


def rails(system: System) -> list[Part]:
    """Shapes of spline joints and ellipsoid joints, in the list of joints."""
    out = []
    for body in system.bodies:
        shape = None if body.parent is None else _shape(body.mobilizer)
        if shape is not None and body.parent is not None:
            number = 0 if body.parent.is_ground else body.parent.index + 1
            out.append(
                Part(
                    "joints",
                    f"{body.name}'s way",
                    number,
                    shape,
                    body.X_PF,
                    JOINT,
                    1.0 if isinstance(shape, shapes.Line) else 0.35,
                )
            )
    return out


def _shape(mobilizer: Any) -> Shape | None:
    m = mobilizer
    if isinstance(m, mobilizers.Ellipsoid):
        return shapes.Ellipsoid(tuple(np.ravel(plain(m.radii))))
    if isinstance(m, mobilizers.SplineCurve):
        points = m.pose(np.linspace(m.domain[0], m.domain[1], ALONG)).p
        return shapes.Line(points) if np.ptp(points, axis=0).any() else None
    if isinstance(m, mobilizers.SplineSurface) and len(m.domain) == 2:
        q = np.stack(np.meshgrid(*(np.linspace(*pair, GRID) for pair in m.domain), indexing="ij"), axis=-1)
        points = m.pose(q).p.reshape(-1, 3)
        return sheet(points, GRID, GRID) if np.ptp(points, axis=0).any() else None
    return None


def sheet(points: Array, rows: int, columns: int) -> shapes.Mesh:
    """Triangles of a grid of points, shape (rows columns, 3)."""
    i, j = np.meshgrid(np.arange(rows - 1), np.arange(columns - 1), indexing="ij")
    a = (i * columns + j).ravel()
    b, c, d = a + columns, a + columns + 1, a + 1
    return shapes.Mesh((points, np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])))
