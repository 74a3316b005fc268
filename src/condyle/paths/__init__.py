"""Paths of muscles, ligaments and springs: points on bodies, surfaces between them. `cd.paths.Path` describes
one."""
from condyle.paths.path import Path
from condyle.paths.points import ConditionalPoint, Point, Wrap
from condyle.paths.surfaces import Cylinder, Ellipsoid, Sphere, Surface

__all__ = ["ConditionalPoint", "Cylinder", "Ellipsoid", "Path", "Point", "Sphere", "Surface", "Wrap"]
