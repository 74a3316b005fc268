"""Points of bodies: what a convex body touches a plane with."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.contact.rigid import Rigid
from condyle.contact.surfaces import Folded, Pose, Surface, plain_numbers
from condyle.errors import DescriptionError
from condyle.laws.described import Station, sx
from condyle.records import dataclass
from condyle.shapes import Mesh
from condyle.spatial import Transform
from condyle.trace.parameter import at_defaults

FLAT = 1e-9
"""Points that are nearer to a plane, over their size, are in it."""


@dataclass(frozen=True, eq=False, repr=False)
class Point(Surface):
    """A point, which touches what does not yield: a half-space, a sphere, a box, a cylinder, a torus, a
    height field.

    Args:
        body: whose it is, or its name.
        station: in the body's frame [m], shape (3,).
        material: a Rigid.
        name: how groups call it.
        cliques: names; surfaces that share one ignore each other in groups.
    """

    station: Station
    material: Folded

    radius: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.material, Rigid):
            raise DescriptionError(
                f"Point: material: expected a cd.contact.Rigid, got {self.material!r}; a "
                "point that yields has no stiffness: take a cd.contact.Sphere"
            )

    @property
    def X_BS(self) -> Transform:
        return Transform(p=np.ravel(at_defaults(self.station)))

    def center_at(self, pose: Pose) -> ca.SX:
        """In ground [m]."""
        return pose.point(sx(self.station))


def vertices(body: Any, points: Any, material: Rigid, *, cliques: tuple[str, ...] = ()) -> tuple[Point, ...]:
    """The corners of a body as a group of points, such as `system.add_contact("block", floor, ...)` takes:
    what a convex body touches a half-space with.

    Args:
        body: whose they are, or its name.
        points: stations in the body's frame [m], shape (n, 3), or a mesh: its file, or a
            cd.shapes.Mesh. Those inside of the convex hull are left out.
        material: a Rigid.
        cliques: names; surfaces that share one ignore each other in groups.

    Returns:
        one Point per corner, named by its place.
    """
    if isinstance(points, str | Path):
        points = Mesh(points)
    given = (
        points.surface()[0]
        if isinstance(points, Mesh)
        else plain_numbers(
            points,
            "vertices: points",
            "which of them are corners depends on their values; give each as "
            "cd.contact.Point(body, station, material)",
        )
    )
    if given.ndim == 2 and given.shape[1] == 3 and not np.isfinite(given).all():
        row = int(np.flatnonzero(~np.isfinite(given).all(axis=1))[0])
        raise DescriptionError(f"vertices: points[{row}] = {given[row].tolist()} is not finite")
    if given.ndim != 2 or given.shape[1] != 3 or not len(given):
        raise DescriptionError(
            "vertices: points: expected finite stations [m], shape (n, 3), or a "
            f"cd.shapes.Mesh, got an array of shape {given.shape}"
        )
    kept = np.unique(given, axis=0)
    kept = kept[_corners(kept)]
    return tuple(
        Point(body, tuple(p), material, name=str(k), cliques=cliques) for k, p in enumerate(kept.tolist())
    )


def _corners(points: Array) -> NDArray[np.intp]:
    """Which of some points are corners of their hull, in space, in a plane or on a line."""
    away = points - points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(away, full_matrices=False)
    space = int((sizes > FLAT * sizes[0]).sum()) if len(sizes) else 0
    if len(points) <= space + 1:
        return np.arange(len(points))
    along = away @ axes[:space].T
    if space < 2:
        return np.unique([along.argmin(), along.argmax()])
    from scipy.spatial import ConvexHull

    found: NDArray[np.intp] = np.sort(ConvexHull(along).vertices)
    return found
