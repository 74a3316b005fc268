"""Paths of muscles, ligaments and springs as polygons whose points are in the frames of bodies."""

from __future__ import annotations

from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.paths.path import numbers, polygon_parts
from condyle.records import dataclass
from condyle.system.states import Batch
from condyle.trace.parameter import numbers_at
from condyle.viewer.drawn_elements import body_numbers

ALONG = 9
"""Points of an arc over a surface."""


@dataclass(frozen=True, eq=False)
class PathLine:
    """A path over time.

    Attributes:
        name: of its force.
        muscle: or a ligament, a spring.
        bodies: number of each point's body, ground is 0.
        points: in these bodies [m], shape (m, n, 3).
        strength: its greatest isometric force [N], 0 if it has none.
        on: numbers of the bodies to which it is attached or over which it wraps.
    """

    name: str
    muscle: bool
    bodies: list[int]
    points: Array
    strength: float
    on: tuple[int, ...] = ()


def lines(batch: Batch, R: Array, p: Array) -> list[PathLine]:
    """All paths of a system.

    Args:
        batch: the states.
        R: orientations of ground and all bodies in ground, shape (m, B, 3, 3).
        p: their origins [m], shape (m, B, 3).
    """
    system = batch.system
    if not system.paths:
        return []
    number = body_numbers(system)
    flat, at, out = batch.kernel("path_points"), 0, []
    for name, path in system.compiled.model.paths.items():
        if not path.points:  # a function of coordinates has no points
            continue
        count = numbers(path)
        X, part = polygon_parts(path, flat[:, at : at + count], ALONG)
        at += count
        owners = [
            *(point.body for point in path.points),
            *(w.body for span in path.length.spans for w in span.wraps),
        ]
        keep = np.ones(len(part), dtype=bool)  # points that coincide in all frames are merged
        keep[1:] = ~((X[:, 1:] == X[:, :-1]).all(axis=2).all(axis=0))
        bodies = np.array([number[owners[k]] for k in part[keep]])
        own = np.einsum("tnji,tnj->tni", R[:, bodies], X[:, keep] - p[:, bodies])
        law: Any = system.force(name)
        out.append(
            PathLine(
                name,
                name in system.muscles,
                bodies.tolist(),
                own,
                numbers_at(getattr(law, "max_isometric_force", 0.0)),
                tuple(sorted({number[owner] for owner in owners})),
            )
        )
    return out
