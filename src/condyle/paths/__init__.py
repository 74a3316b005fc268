"""Paths of muscles, ligaments and springs: points on bodies, surfaces between them. `cd.paths.Path` describes
one."""

from typing import TYPE_CHECKING

from condyle.arguments import family

if TYPE_CHECKING:
    from condyle.paths.function_path import FunctionPath as FunctionPath
    from condyle.paths.implicit_wrap import ImplicitSurface as ImplicitSurface
    from condyle.paths.path import Path as Path
    from condyle.paths.points import ConditionalPoint as ConditionalPoint
    from condyle.paths.points import MovingPoint as MovingPoint
    from condyle.paths.points import Point as Point
    from condyle.paths.points import Wrap as Wrap
    from condyle.paths.torus import Torus as Torus
    from condyle.paths.wrap_surfaces import Cylinder as Cylinder
    from condyle.paths.wrap_surfaces import Ellipsoid as Ellipsoid
    from condyle.paths.wrap_surfaces import Sphere as Sphere
    from condyle.paths.wrap_surfaces import Surface as Surface

__all__, __getattr__ = family(__name__)
