"""Paths of muscles, ligaments and springs as polygons whose points are in the frames of bodies."""

from __future__ import annotations

from typing import Any

import numpy as np

import condyle.paths as paths
import condyle.shapes as shapes
from condyle.arrays import Array
from condyle.forces.path import PathLaw
from condyle.paths.path import numbers, polygon_parts
from condyle.records import dataclass
from condyle.shapes import Shape
from condyle.spatial import Transform
from condyle.system.states import Batch
from condyle.system.system import System
from condyle.trace.parameter import Expression
from condyle.viewer.bodies import Part
from condyle.viewer.implicit import implicit_shape

ALONG = 9
"""Points of an arc over a surface."""
SURFACE = "#6fb7c7"


@dataclass(frozen=True, eq=False)
class Line:
    """A path over time.

    Attributes:
        name: of its force.
        muscle: or a ligament, a spring.
        bodies: number of each point's body, ground is 0.
        points: in these bodies [m], shape (m, n, 3).
        strength: its greatest isometric force [N], 0 if it has none.
    """

    name: str
    muscle: bool
    bodies: list[int]
    points: Array
    strength: float


def lines(batch: Batch, R: Array, p: Array) -> list[Line]:
    """All paths of a system.

    Args:
        batch: the states.
        R: orientations of ground and all bodies in ground, shape (m, B, 3, 3).
        p: their origins [m], shape (m, B, 3).
    """
    system = batch.system
    if not system.paths:
        return []
    number = {"ground": 0, **{b.name: b.index + 1 for b in system.bodies}}
    flat, at, out = batch.kernel("path_points"), 0, []
    for name, path in system.compiled.model.paths.items():
        if not path.points:  # a function of coordinates has no places
            continue
        count = numbers(path)
        X, part = polygon_parts(path, flat[:, at : at + count], ALONG)
        at += count
        owners = [
            *(point.body for point in path.points),
            *(w.body for span in path.length.spans for w in span.wraps),
        ]
        keep = np.ones(len(part), dtype=bool)  # points that coincide in all frames are one
        keep[1:] = ~((X[:, 1:] == X[:, :-1]).all(axis=2).all(axis=0))
        bodies = np.array([number[owners[k]] for k in part[keep]])
        own = np.einsum("tnji,tnj->tni", R[:, bodies], X[:, keep] - p[:, bodies])
        law: Any = system.force(name)
        out.append(
            Line(
                name,
                name in system.muscles,
                bodies.tolist(),
                own,
                plain(getattr(law, "max_isometric_force", 0.0)),
            )
        )
    return out


def surfaces(system: System, reach: float) -> list[Part]:
    """Surfaces that paths may go over, each once."""
    number = {"ground": 0, **{b.name: b.index + 1 for b in system.bodies}}
    out: list[Part] = []
    seen = set()
    for name in system.paths:
        law = system.force(name)
        assert isinstance(law, PathLaw)
        for wrap in law.path.wraps:
            key = wrap.description()
            shape = _shape(wrap.surface, reach)
            if key in seen or shape is None:
                continue
            seen.add(key)
            R, p = (np.asarray(plain(x), dtype=float) for x in wrap.X_BS)
            out.append(
                Part(
                    "surfaces",
                    wrap.name or f"{name}'s surface",
                    number[wrap.body],
                    shape,
                    Transform(R.reshape(3, 3), p.reshape(3)),
                    SURFACE,
                    0.35,
                )
            )
    return out


def _shape(surface: paths.Surface, reach: float) -> Shape | None:
    s: Any = surface
    if isinstance(s, paths.Sphere):
        return shapes.Sphere(plain(s.radius))
    if isinstance(s, paths.Ellipsoid):
        return shapes.Ellipsoid(tuple(np.ravel(plain(s.radii))))
    if isinstance(s, paths.Cylinder):
        return shapes.Cylinder(plain(s.radius), min(plain(s.length), 0.3 * reach) / 2)
    if isinstance(s, paths.Torus):
        return torus(plain(s.outer_radius), plain(s.inner_radius))
    if isinstance(s, paths.ImplicitSurface):
        return implicit_shape(lambda p: s.law.function.map(len(p))(*p.T).full().ravel(), reach)
    return None


def torus(circle: float, tube: float, around: int = 32, across: int = 12) -> shapes.Mesh:
    a, b = (2 * np.pi * np.arange(n) / n for n in (around, across))
    r = circle + tube * np.cos(b)
    z = np.broadcast_to(tube * np.sin(b), (around, across))
    vertices = np.stack([np.outer(np.cos(a), r), np.outer(np.sin(a), r), z], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    corner = lambda di, dj: ((i + di) % around * across + (j + dj) % across).ravel()
    triangles = np.concatenate(
        [
            np.stack([corner(0, 0), corner(1, 0), corner(1, 1)], axis=1),
            np.stack([corner(0, 0), corner(1, 1), corner(0, 1)], axis=1),
        ]
    )
    return shapes.Mesh((vertices, triangles))


def plain(x: Any) -> Any:
    """A kept number, with Parameters at their defaults."""
    if not isinstance(x, Expression):
        return x
    value = x.at()
    return float(value.item()) if value.size == 1 else value
