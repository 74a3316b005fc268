"""Shapes to draw on bodies, for `system.add_geometry(body, shape)`. They have no mass and touch nothing.

Every shape has a frame S of its own, whose origin is its middle unless it says otherwise. Lengths in meters.
"""

from typing import TYPE_CHECKING

from condyle.arguments import family

if TYPE_CHECKING:
    from condyle.shapes.base import Drawing as Drawing
    from condyle.shapes.base import Link as Link
    from condyle.shapes.base import Shape as Shape
    from condyle.shapes.mesh import Mesh as Mesh
    from condyle.shapes.simple import Box as Box
    from condyle.shapes.simple import Capsule as Capsule
    from condyle.shapes.simple import Cylinder as Cylinder
    from condyle.shapes.simple import Ellipsoid as Ellipsoid
    from condyle.shapes.simple import Frame as Frame
    from condyle.shapes.simple import Line as Line
    from condyle.shapes.simple import Sphere as Sphere
    from condyle.shapes.simple import Tube as Tube

__all__, __getattr__ = family(__name__)
