"""What constraints look like on their bodies: points that are held, planes, lines and balls."""

from __future__ import annotations

from typing import Any

import numpy as np

import condyle.shapes as shapes
from condyle.arrays import Array
from condyle.constraints.base import Constraint
from condyle.spatial import Transform
from condyle.system.system import System
from condyle.viewer.bodies import Part
from condyle.viewer.paths import plain

COLOR = "#8a5bd0"
DOT, LINE, PLATE, THIN = 0.014, 0.4, 0.25, 0.002
"""Radius of a point, half a line, half a plate and half its thickness, over the reach of the system."""


def constraint_parts(system: System, reach: float) -> list[Part]:
    """Shapes of all constraints that have a place on a body; lines between bodies are links."""
    number = {"ground": 0, **{b.name: b.index + 1 for b in system.bodies}}
    out: list[Part] = []
    for name in system.constraints:
        law = system.constraint(name)
        for side in "ab":
            body = number.get(getattr(law, side, None))  # type: ignore[arg-type]
            if body is not None:
                out += [
                    Part("constraints", name, body, shape, X, COLOR, opacity)
                    for shape, X, opacity in _shapes(law, side, reach)
                ]
    return out


def _shapes(law: Constraint, side: str, reach: float) -> list[tuple[shapes.Shape, Transform, float]]:
    """What one side of a constraint has on its body, with places and opacities."""
    own = {name: plain(getattr(law, name)) for name in law.__dataclass_fields__}
    point, frame, axis = (own.get(f"{word}_{side}") for word in ("p", "X", "direction"))
    out: list[tuple[shapes.Shape, Transform, float]] = []
    if frame is not None:
        R, p = (np.asarray(plain(x), dtype=float) for x in frame)
        out.append((shapes.Frame(4 * DOT * reach), Transform(R.reshape(3, 3), p.reshape(3)), 1.0))
        point = p
    if point is not None:
        out.append((shapes.Sphere(DOT * reach), Transform(p=np.ravel(point)), 1.0))
    if side == "a" and axis is None:
        axis = own.get("direction")
    if axis is not None and point is not None:
        half = LINE * reach * _unit(axis)
        ends = np.stack([np.ravel(point) - half, np.ravel(point) + half])
        out.append((shapes.Line(ends), Transform(), 1.0))
    if side == "a" and "normal" in own and "height" in own:
        z = _unit(own["normal"])
        x = _unit(np.cross(z, np.eye(3)[np.argmin(np.abs(z))]))
        X = Transform(np.stack([x, np.cross(z, x), z], axis=1), own["height"] * z)
        out.append((shapes.Box((PLATE * reach, PLATE * reach, THIN * reach)), X, 0.35))
    center, radius = (
        (own.get(f"{word}_{side}", own.get(word) if side == "b" else None)) for word in ("center", "radius")
    )
    if center is not None and radius is not None and radius > 0:
        out.append((shapes.Sphere(radius), Transform(p=np.ravel(center)), 0.35))
    return out


def _unit(v: Any) -> Array:
    x = np.ravel(v).astype(float)
    unit: Array = x / np.linalg.norm(x)
    return unit
