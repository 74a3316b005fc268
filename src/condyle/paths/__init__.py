"""Paths of muscles, ligaments and springs: points on bodies, surfaces between them. `cd.paths.Path` describes
one."""

from condyle.arguments import missing, spoken
from condyle.paths.function_path import FunctionPath
from condyle.paths.implicit_wrap import ImplicitSurface
from condyle.paths.path import Path
from condyle.paths.points import ConditionalPoint, MovingPoint, Point, Wrap
from condyle.paths.torus import Torus
from condyle.paths.wrap_surfaces import Cylinder, Ellipsoid, Sphere, Surface

__all__ = [
    "ConditionalPoint",
    "Cylinder",
    "Ellipsoid",
    "FunctionPath",
    "ImplicitSurface",
    "MovingPoint",
    "Path",
    "Point",
    "Sphere",
    "Surface",
    "Torus",
    "Wrap",
]

spoken(
    ConditionalPoint,
    Cylinder,
    Ellipsoid,
    FunctionPath,
    ImplicitSurface,
    MovingPoint,
    Path,
    Point,
    Sphere,
    Torus,
)
spoken(
    Wrap,
    answers={
        "quadrant": "it belongs to the surface: cd.paths.Cylinder(0.02, quadrant='x')",
        "side": "it is the quadrant of the surface: cd.paths.Cylinder(0.02, quadrant='x')",
        "method": "there is one, the geodesic",
        "range": "it is between=(first, last), points counted from 0",
    },
)

_ELSEWHERE = {
    "GeometryPath": "Path",
    "FunctionBasedPath": "FunctionPath",
    "PathPoint": "Point",
    "ViaPoint": "Point",
    "Via": "Point",
    "ConditionalPathPoint": "ConditionalPoint",
    "MovingPathPoint": "MovingPoint",
    "PathWrap": "Wrap",
    "WrapCylinder": "Cylinder",
    "WrapSphere": "Sphere",
    "WrapEllipsoid": "Ellipsoid",
    "WrapTorus": "Torus",
    "Implicit": "ImplicitSurface",
}
"""What OpenSim calls it."""


def __getattr__(name: str) -> object:
    raise missing("cd.paths", name, __all__, _ELSEWHERE)
