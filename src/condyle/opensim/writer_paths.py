"""Paths as GeometryPaths, and the surfaces they go over as wrap objects of bodies."""

from __future__ import annotations

from functools import singledispatch
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from condyle.functions import Polynomial
from condyle.opensim.paths import EDGE
from condyle.opensim.writer_functions import function, of_several
from condyle.opensim.writing import Writing, angles
from condyle.opensim.xml import element, text
from condyle.paths import (
    ConditionalPoint,
    Cylinder,
    Ellipsoid,
    FunctionPath,
    MovingPoint,
    Path,
    Point,
    Sphere,
    Torus,
    Wrap,
)
from condyle.paths.wrap_surfaces import QUADRANTS, Surface
from condyle.trace import Traced

FAR = 1e6
"""Length of a cylinder without ends [m]."""


def geometry_path(path: Path, owner: str, to: Writing) -> Element:
    """A GeometryPath; its surfaces become wrap objects of their bodies, once for all paths."""
    where = f"path of {owner!r}"
    if isinstance(path, FunctionPath):
        return _function_based(path, to, where)
    points = [_point(p, f"{owner}-P{i}", to, f"{where}: point {i - 1}") for i, p in enumerate(path.points, 1)]
    wraps: list[Element] = []
    for w in path.wraps:
        first, last = w.between or (-2, -2)
        wraps.append(
            element(
                "PathWrap",
                f"pathwrap_{len(wraps)}",
                wrap_object=_wrap_object(w, to, where),
                method=w.method,
                range=(first + 1, last + 1),
            )
        )
    made = element("GeometryPath", "path")
    for kind, objects in (("PathPointSet", points), ("PathWrapSet", wraps)):
        made.append(element(kind, objects=objects))
    return made


def _function_based(path: FunctionPath, to: Writing, where: str) -> Element:
    """A FunctionBasedPath; moment arms and speed are left to OpenSim, which takes derivatives of the length
    too."""
    several = isinstance(path.function, Polynomial) and path.function.variables != 1
    length = (of_several if several else function)(path.function, to, where)
    made = element("path")
    made.append(
        element(
            "FunctionBasedPath",
            "path",
            length_function=[length],
            coordinate_paths=" ".join(to.coordinate(name) for name in path.coordinates),
        )
    )
    return made


@singledispatch
def _point(p: Any, name: str, to: Writing, where: str) -> Element:
    to.refuse(f"{where}: OpenSim has no point like {p!r}")
    return element("PathPoint", name)


@_point.register
def _(p: Point, name: str, to: Writing, where: str) -> Element:
    if type(p) is not Point:
        to.refuse(f"{where}: OpenSim has no point like {p!r}")
    return element("PathPoint", name, socket_parent_frame=to.place(p.body), location=to.number(p.p, where))


@_point.register
def _(p: ConditionalPoint, name: str, to: Writing, where: str) -> Element:
    return element(
        "ConditionalPathPoint",
        name,
        socket_parent_frame=to.place(p.body),
        location=to.number(p.p, where),
        socket_coordinate=to.coordinate(p.coordinate),
        range=(_inward(p.range[0], EDGE), _inward(p.range[1], -EDGE)),
    )


def _inward(end: float, edge: float) -> float:
    """An end of the range in the file: OpenSim's ranges reach farther by an edge, which the reader adds."""
    near = end + edge
    return next(
        (x for x in (near, np.nextafter(near, -np.inf), np.nextafter(near, np.inf)) if x - edge == end), near
    )


@_point.register
def _(p: MovingPoint, name: str, to: Writing, where: str) -> Element:
    sockets = {f"socket_{x}_coordinate": to.coordinate(c) for x, c in zip("xyz", p.coordinate, strict=True)}
    given = {c.name: c.range for b in to.system.bodies for c in b.coordinates}
    for f, c, own in zip(p.p, p.coordinate, p.range or (None,) * 3, strict=True):
        if own and not isinstance(f, float) and tuple(own) != tuple(given.get(c) or (-np.inf, np.inf)):
            to.refuse(
                f"{where}: it moves with {c!r} in the range {own}; OpenSim's moves in that of the "
                f"coordinate, {given.get(c)}: make them equal, cd.Coordinate({c!r}, range=...)"
            )
    places = {}
    for x, f in zip("xyz", p.p, strict=True):
        if isinstance(f, Traced):
            to.refuse(f"{where}: a Python function of a coordinate; give one of cd.functions")
            f = 0.0
        places[f"{x}_location"] = function(f, to, where)
    return element("MovingPathPoint", name, socket_parent_frame=to.place(p.body), **sockets, **places)


def _wrap_object(w: Wrap, to: Writing, where: str) -> str:
    """The name of the wrap object; it is made if no path before had the same."""
    R, p = to.frame(w.X_BS, where)
    made = _surface(w.surface, to, where)
    made.insert(0, _child("quadrant", quadrant(w.surface, to, where)))
    made.insert(0, _child("translation", p))
    made.insert(0, _child("xyz_body_rotation", angles(R)))
    same = [(e.tag, [(c.tag, c.text) for c in e]) for e in to.wraps[w.body].values()]
    mine = (made.tag, [(c.tag, c.text) for c in made])
    if mine in same:
        return list(to.wraps[w.body])[same.index(mine)]
    wanted = name = w.name or f"{w.body}_wrap"
    taken = {n for objects in to.wraps.values() for n in objects}
    count = 1
    while name in taken:  # OpenSim looks for them by name, on all bodies
        count, name = count + 1, f"{wanted}_{count + 1}"
    made.set("name", to.name(name, f"{where}: wrap {name!r}"))
    to.wraps[w.body][name] = made
    return name


def _child(tag: str, value: Any) -> Element:
    made = Element(tag)
    made.text = text(value)
    return made


def quadrant(surface: Surface, to: Writing, where: str) -> str:
    """The word for the half of a surface that a path passes over."""
    given = surface.quadrant
    if isinstance(given, str):
        return given
    direction = np.asarray(to.number(given, where), dtype=float)
    direction = direction / np.linalg.norm(direction)
    for word, axis in QUADRANTS.items():
        if np.allclose(direction, axis, atol=1e-12):
            return word
    to.refuse(f"{where}: the quadrant of {surface!r} is a direction; OpenSim has axes: x, -x, .., -z, all")
    return "all"


@singledispatch
def _surface(s: Any, to: Writing, where: str) -> Element:
    to.refuse(f"{where}: OpenSim has no surface like {s!r}")
    return element("WrapSphere")


@_surface.register
def _(s: Cylinder, to: Writing, where: str) -> Element:
    length = to.number(s.length, where)
    return element(
        "WrapCylinder", radius=to.number(s.radius, where), length=FAR if np.isinf(length) else length
    )


@_surface.register
def _(s: Sphere, to: Writing, where: str) -> Element:
    return element("WrapSphere", radius=to.number(s.radius, where))


@_surface.register
def _(s: Ellipsoid, to: Writing, where: str) -> Element:
    return element("WrapEllipsoid", dimensions=to.number(s.radii, where))


@_surface.register
def _(s: Torus, to: Writing, where: str) -> Element:
    return element(
        "WrapTorus",
        inner_radius=to.number(s.inner_radius, where),
        outer_radius=to.number(s.outer_radius, where),
    )
