"""What is fixed to bodies, of other sizes: points and surfaces of paths, laws between points, shapes.

Surfaces have factors along their own axes e_x, e_y, e_z in the body, |s o e|:

    cylinder: radius by the mean of those along x and y, length by that along z                           (1)
    torus: both radii by the mean of those along x and y                                                  (2)
    sphere: by the mean of s;   ellipsoid: each half axis by its own                                      (3)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any

import casadi as ca
import numpy as np

import condyle.shapes as shapes
from condyle.arrays import Array
from condyle.contact import ElasticFoundation, HuntCrossley, Implicit, Mesh
from condyle.errors import DescriptionError
from condyle.functions import Function, Scaled
from condyle.laws.described import Described, Role, placed
from condyle.paths import Cylinder, Ellipsoid, FunctionPath, MovingPoint, Path, Sphere, Torus, Wrap
from condyle.spatial import Transform
from condyle.studies.scaling.bodies import Factors, times
from condyle.trace import Symbol, Traced
from condyle.tree.attached import Geometry


def scaled_path(path: Path, s: Factors, where: str) -> Path:
    """A path over bodies of other sizes."""
    if isinstance(path, FunctionPath):  # as in OpenSim
        return path
    points = [_point(p, s[p.body], where) for p in path.points]
    wraps = [_wrap(w, s[w.body], where) for w in path.wraps]
    return path if points == list(path.points) and wraps == list(path.wraps) else Path(points, wraps)


def _point(p: Any, s: Array, where: str) -> Any:
    if (s == 1).all():
        return p
    if isinstance(p, MovingPoint):
        return replace(p, p=tuple(_moved(f, float(x)) for f, x in zip(p.p, s, strict=True)))
    return replace(p, p=times(p.p, s))


def _moved(f: Any, factor: float) -> Any:
    """A place along an axis, a number or a function of a coordinate, times a factor."""
    if isinstance(f, Scaled):
        return Scaled(f.function, f.factor * factor)
    if isinstance(f, Function):
        return Scaled(f, factor)
    if isinstance(f, Traced):
        return lambda q: factor * (Symbol(f.apply(q.sx)) if isinstance(q, Symbol) else f(q).item())
    return f * factor


def _wrap(w: Wrap, s: Array, where: str) -> Wrap:
    if (s == 1).all():
        return w
    X = w.X_BS
    if not isinstance(X, Transform):
        raise DescriptionError(
            f"{where}: the frame of surface {w.name or w.surface!r} depends on Parameters: which "
            "factors its axes have is not known"
        )
    along = np.linalg.norm(s[:, None] * X.R, axis=0)
    return replace(w, surface=surface(w.surface, along, s, where), X_BS=Transform(X.R, X.p * s))


@singledispatch
def surface(own: Any, along: Array, s: Array, where: str) -> Any:
    """A surface whose own axes are scaled by `along`."""
    if (s == s[0]).all() and (s[0] == 1):
        return own
    raise DescriptionError(
        f"{where}: surface {own!r} is not known to scale, and its body has the factors {s}; give "
        "that body the factors 1"
    )


@surface.register
def _(own: Cylinder, along: Array, s: Array, where: str) -> Any:
    return replace(own, radius=times(own.radius, along[:2].mean()), length=times(own.length, along[2]))  # (1)


@surface.register
def _(own: Torus, along: Array, s: Array, where: str) -> Any:
    factor = float(along[:2].mean())  # (2)
    return replace(
        own, inner_radius=times(own.inner_radius, factor), outer_radius=times(own.outer_radius, factor)
    )


@surface.register
def _(own: Sphere, along: Array, s: Array, where: str) -> Any:
    return replace(own, radius=times(own.radius, s.mean()))  # (3)


@surface.register
def _(own: Ellipsoid, along: Array, s: Array, where: str) -> Any:
    return replace(own, radii=times(own.radii, along))


# ---- laws between points -----------------------------------------------------------------------------------


def scaled_stations(law: Any, s: Factors, where: str, only: Sequence[str] = ()) -> Any:
    """A law whose stations and frames lie on bodies of other sizes: fields that follow that of their body, or
    only some of them."""
    if not isinstance(law, Described):
        return law
    body, new = None, {}
    for name, role in law.roles():
        kept = getattr(law, name)
        if role.kind == "body":
            body = kept
        elif only and name not in only:
            continue
        elif body is not None and kept is not None and (s[body] != 1).any() and not _in_ground(law, name):
            if role.kind == "frame":
                R, p = placed(kept)
                new[name] = (
                    Transform(kept.R, kept.p * s[body])
                    if isinstance(kept, Transform)
                    else Transform(R, times(p, 1.0) * s[body])
                )
            elif _is_station(role) and isinstance(kept, tuple):
                new[name] = times(kept, s[body])
            elif _is_station(role):
                raise DescriptionError(
                    f"{where}: its {name} is {kept!r}, and {body!r} has the factors {s[body]}; "
                    "give numbers, or that body the factors 1"
                )
    return replace(law, **new) if new else law


Touching = HuntCrossley | ElasticFoundation


def moved_contact(law: Touching, s: Factors, where: str) -> Touching:
    """A contact whose surfaces have moved with their bodies, and have the sizes that they had; meshes have
    those of their bodies."""
    a, b = (
        x if isinstance(x, Implicit) else scaled_stations(_scaled_mesh(x, s), s, where, ("center", "X"))
        for x in law.surfaces()
    )
    return law if a is law.a and b is law.b else replace(law, a=a, b=b)


def _scaled_mesh(surface: Any, s: Factors) -> Any:
    """A mesh on a body of another size; its layer is as thick as it was."""
    if not isinstance(surface, Mesh) or (s[surface.body] == 1).all():
        return surface
    R = np.array(ca.evalf(placed(surface.X)[0]).full())
    vertices = (surface.triangles.vertices @ R.T * s[surface.body]) @ R
    return replace(surface, mesh=(vertices, surface.triangles.faces))


def _is_station(role: Role) -> bool:
    return role.unit == "m" and tuple(role.shape) == (3,)


def _in_ground(law: Any, name: str) -> bool:
    """Whether a station is given in ground."""
    return "ground" in (getattr(law, "station_frame", ""), getattr(law, "point_frame", "")) and name in (
        "station",
        "point",
    )


# ---- shapes ------------------------------------------------------------------------------------------------


def scaled_geometry(g: Geometry, s: Factors) -> Geometry:
    """A shape on a body of another size."""
    factors = s[g.body]
    if (factors == 1).all():
        return g
    along = np.linalg.norm(factors[:, None] * g.X_BS.R, axis=0)
    return replace(g, shape=shape(g.shape, along), X_BS=Transform(g.X_BS.R, g.X_BS.p * factors))


@singledispatch
def shape(own: Any, along: Array) -> Any:
    """A shape whose own axes are scaled."""
    return own


def _three(x: Array) -> tuple[float, float, float]:
    return float(x[0]), float(x[1]), float(x[2])


@shape.register
def _(own: shapes.Mesh, along: Array) -> Any:
    source = own.path if own.path is not None else own._arrays
    return shapes.Mesh(source, np.array(own.scale) * along)


@shape.register
def _(own: shapes.Sphere, along: Array) -> Any:
    if (along == along[0]).all():
        return shapes.Sphere(own.radius * along[0])
    return shapes.Ellipsoid(_three(own.radius * along))


@shape.register
def _(own: shapes.Ellipsoid, along: Array) -> Any:
    return shapes.Ellipsoid(_three(np.array(own.radii) * along))


@shape.register
def _(own: shapes.Box, along: Array) -> Any:
    return shapes.Box(_three(np.array(own.half_lengths) * along))


@shape.register
def _(own: shapes.Line, along: Array) -> Any:
    return shapes.Line(own.points * along)


@shape.register(shapes.Cylinder)
@shape.register(shapes.Capsule)
def _(own: Any, along: Array) -> Any:
    return type(own)(own.radius * float(np.sqrt(along[0] * along[1])), own.half_length * along[2])


# ---- lengths in proportion ---------------------------------------------------------------------------------

IN_PROPORTION: Mapping[str, tuple[str, ...]] = {
    "Muscle": ("optimal_fiber_length", "tendon_slack_length"),
    "PathSpring": ("rest_length",),
    "PathFunction": ("rest_length",),
    "Ligament": ("resting_length",),
    "Blankevoort1991Ligament": ("slack_length",),
    "TwoPointSpring": ("rest_length",),
    "Rod": ("length",),
}
"""Lengths that keep their proportion to that of the path, or to the distance of the points, in the default
pose, by class."""


def in_proportion(law: Any, ratio: float) -> Any:
    """A law whose own lengths are multiplied by a ratio."""
    names = next((IN_PROPORTION[c.__name__] for c in type(law).__mro__ if c.__name__ in IN_PROPORTION), ())
    return replace(law, **{name: times(getattr(law, name), ratio) for name in names}) if names else law
