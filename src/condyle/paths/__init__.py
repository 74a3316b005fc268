"""Paths of muscles, ligaments and springs: points on bodies, surfaces between them. `cd.paths.Path` describes
one."""

from condyle.paths.implicit import ImplicitSurface
from condyle.paths.path import Path
from condyle.paths.points import ConditionalPoint, MovingPoint, Point, Wrap
from condyle.paths.surfaces import Cylinder, Ellipsoid, Sphere, Surface
from condyle.paths.torus import Torus

__all__ = [
    "ConditionalPoint",
    "Cylinder",
    "Ellipsoid",
    "ImplicitSurface",
    "MovingPoint",
    "Path",
    "Point",
    "Sphere",
    "Surface",
    "Torus",
    "Wrap",
]
