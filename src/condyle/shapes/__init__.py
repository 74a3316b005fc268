"""Shapes to draw on bodies, for `system.add_geometry(body, shape)`. They have no mass and touch nothing.

Every shape has a frame S of its own, whose origin is its middle unless it says otherwise. Lengths in meters.
"""

from condyle.shapes.base import Drawing, Link, Shape
from condyle.shapes.mesh import Mesh
from condyle.shapes.simple import Box, Capsule, Cylinder, Ellipsoid, Frame, Line, Sphere

__all__ = [
    "Box",
    "Capsule",
    "Cylinder",
    "Drawing",
    "Ellipsoid",
    "Frame",
    "Line",
    "Link",
    "Mesh",
    "Shape",
    "Sphere",
]
