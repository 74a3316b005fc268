"""Markers, and geometry that is drawn on bodies."""

from __future__ import annotations

import os
from functools import singledispatch
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from condyle.errors import warn
from condyle.opensim.writing import Writing, angles
from condyle.opensim.xml import FORBIDDEN, append, element
from condyle.shapes import Box, Cylinder, Ellipsoid, Frame, Line, Mesh, Sphere
from condyle.spatial import Transform
from condyle.tree.attached import Geometry, Marker

Z_TO_Y = Transform([(1, 0, 0), (0, 0, -1), (0, 1, 0)])
"""Cylinders of OpenSim stand along y."""


def marker(m: Marker, to: Writing) -> Element:
    """A Marker."""
    return element(
        "Marker",
        to.name(m.name, f"marker {m.name!r}"),
        socket_parent_frame=to.place(m.body),
        location=m.station,
        fixed=m.fixed,
    )


def geometry(name: str, body: Element, to: Writing) -> None:
    """Add what is drawn on a body: on the body itself, or on a frame of its own."""
    attached, frames, taken = [], [], set[str]()
    for g in to.system.geometry:
        made = as_geometry(g.shape, to) if g.body == name else None
        if made is None:
            if g.body == name:
                warn(
                    f"write_osim: geometry {g.name!r} is left out, OpenSim draws nothing like "
                    f"{g.shape!r}; no number depends on it"
                )
            continue
        made.set("name", _free(g.name, taken))
        made.append(_looks(g))
        X = g.X_BS @ Z_TO_Y if isinstance(g.shape, Cylinder) else g.X_BS
        append(made, "socket_frame", "..")
        if np.array_equal(X.R, np.eye(3)) and not np.any(X.p):
            attached.append(made)
        else:
            frames.append(
                element(
                    "PhysicalOffsetFrame",
                    f"{made.get('name')}_frame",
                    socket_parent="..",
                    translation=X.p,
                    orientation=angles(X.R),
                    attached_geometry=[made],
                )
            )
    if frames:
        append(body, "components", frames)
    if attached:
        append(body, "attached_geometry", attached)


def _free(name: str, taken: set[str]) -> str:
    """The last part of a geometry's name, in characters that OpenSim takes; no two on a body are equal."""
    own = "".join("_" if c in FORBIDDEN else c for c in name.rpartition("/")[2].strip()) or "geometry"
    made, k = own, 0
    while made in taken:
        k, made = k + 1, f"{own}_{k}"
    taken.add(made)
    return made


def _looks(g: Geometry) -> Element:
    color = (
        (1.0, 1.0, 1.0) if g.color is None else tuple(int(g.color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    )
    return element("Appearance", opacity=g.opacity, color=color)


@singledispatch
def as_geometry(shape: Any, to: Writing) -> Element | None:
    """A shape, or None where OpenSim has nothing like it."""
    return None


@as_geometry.register
def _(s: Sphere, to: Writing) -> Element:
    return element("Sphere", radius=s.radius)


@as_geometry.register
def _(s: Ellipsoid, to: Writing) -> Element:
    return element("Ellipsoid", radii=s.radii)


@as_geometry.register
def _(s: Box, to: Writing) -> Element:
    return element("Brick", half_lengths=s.half_lengths)


@as_geometry.register
def _(s: Cylinder, to: Writing) -> Element:
    return element("Cylinder", radius=s.radius, half_height=s.half_length)


@as_geometry.register
def _(s: Line, to: Writing) -> Element | None:
    return (
        element("LineGeometry", start_point=s.points[0], end_point=s.points[1])
        if len(s.points) == 2
        else None
    )


@as_geometry.register
def _(s: Frame, to: Writing) -> Element:
    return element("FrameGeometry", scale_factors=(s.length,) * 3)


@as_geometry.register
def _(s: Mesh, to: Writing) -> Element | None:
    if s.path is None:
        return None
    return element("Mesh", scale_factors=s.scale, mesh_file=_near(Path(s.path), to.path.parent))


def _near(mesh: Path, folder: Path) -> str:
    """A mesh's file as seen from the model's folder. One that does not exist has the name by which OpenSim
    looks for it in its folders of geometry."""
    for path, root in ((mesh.absolute(), folder.absolute()), (mesh.resolve(), folder.resolve())):
        for start in (root / "Geometry", root):
            if path.is_relative_to(start):
                return path.relative_to(start).as_posix()
    if not mesh.is_file():
        return mesh.as_posix().rpartition("/Geometry/")[2] if "Geometry" in mesh.parts else mesh.name
    try:
        return Path(os.path.relpath(mesh.resolve(), folder.resolve())).as_posix()
    except ValueError:  # on another drive
        return mesh.resolve().as_posix()
