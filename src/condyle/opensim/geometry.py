"""Markers, and geometry to draw: meshes and shapes on bodies and on frames of bodies. They move nothing, so
that what is wrong with them is noted and not refused."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import condyle.shapes as shapes
from condyle.errors import CondyleError, DescriptionError
from condyle.opensim.document import inside
from condyle.opensim.element import Element
from condyle.opensim.reading import Reading
from condyle.opensim.registry import reads
from condyle.spatial import Transform

FRAMES = ("Ground", "Body", "PhysicalOffsetFrame", "StationDefinedFrame")
Drawn = tuple[shapes.Shape, Transform]
"""A shape and the pose of its frame S in the frame that it is on."""

_UPRIGHT = Transform([(1, 0, 0), (0, 0, 1), (0, -1, 0)])
"""OpenSim's cylinders are about y, ours about z."""


@reads("Marker")
def marker(reading: Reading, element: Element) -> None:
    body, X = reading.frame(element, "parent_frame")
    name = element.name or "marker"
    if name in reading.system.markers:
        k = 0
        while f"{name}_{k}" in reading.system.markers:
            k += 1
        reading.remark(element, f"another marker has this name; it is called '{name}_{k}', as in OpenSim")
        name = f"{name}_{k}"
    reading.names[element] = name
    reading.system.add_marker(
        name,
        body,
        X @ reading.numbers(element, "location", (0.0,) * 3, 3),
        reading.boolean(element, "fixed", False),
    )


def read_geometry(reading: Reading) -> None:
    """Draw what is attached to bodies and frames."""
    for frame in reading.model.every(*FRAMES):
        found = [e for name in ("attached_geometry", "components") for e in reading.objects(frame, name)]
        for element in found:
            if element.tag in FRAMES or element in reading.names:
                continue
            if not reading.reads(element) or element.tag not in DRAWN:
                reading.note(element, "is not read: it is not drawn")
                continue
            _drawn(reading, frame, element)
    for element in reading.objects(reading.model, "components"):
        if element.tag in DRAWN:
            _drawn(reading, None, element)


def _drawn(reading: Reading, frame: Element | None, element: Element) -> None:
    """Draw something on a frame, or on that of its socket; what is wrong with it is noted."""
    try:
        _draw(reading, reading.connected(element, "frame") if frame is None else frame, element)
    except CondyleError as error:
        reading.note(element, f"is not drawn: {error}")


def _draw(reading: Reading, frame: Element, element: Element) -> None:
    body, X_BF = reading.placed(frame, element)
    reading.skip(element, "socket_frame", "frame_name")
    look = element.child("Appearance")
    color, opacity = None, 1.0
    if look is not None:
        if not reading.boolean(look, "visible", True):
            reading.skip(element, *(e.tag for e in element.children))
            return
        color = reading.numbers(look, "color", (), 3) or None
        opacity = min(max(reading.number(look, "opacity", 1.0), 0.0), 1.0)
    shape, X_FS = reading.read(element)
    name = element.name or f"{body}_{element.tag.lower()}"
    taken = {g.name for g in reading.system.geometry}
    if name in taken:
        name = reading.components.path(element)
    if color is not None:
        color = tuple(min(max(x, 0.0), 1.0) for x in color)
    reading.system.add_geometry(
        body, shape, X_BF @ X_FS, color, opacity, name=None if name in taken else name
    )


def _scale(reading: Reading, element: Element) -> np.ndarray:
    return np.array(reading.numbers(element, "scale_factors", (1.0,) * 3, 3))


@reads("Mesh")
def mesh(reading: Reading, element: Element) -> Drawn:
    name = reading.text(element, "mesh_file")
    scale = _scale(reading, element)
    if not scale.all():
        raise DescriptionError("a scale factor is zero")
    return shapes.Mesh(mesh_file(reading, element, name), scale), Transform()


def mesh_file(reading: Reading, element: Element, name: str) -> Path:
    """Where a file of a mesh is, as seen from the model's folder or from the folder Geometry there. Relative
    names may lead out of them, as those that `write_osim` writes of meshes elsewhere do."""
    folder = reading.document.path.resolve().parent
    if (relative := name.replace("\\", "/")).startswith("../"):
        return Path(os.path.abspath(folder / relative))
    places = [inside(folder, part, element) for part in (name, f"Geometry/{name}")]
    return next((p for p in places if p.is_file()), places[1])


@reads("Sphere")
def sphere(reading: Reading, element: Element) -> Drawn:
    radii = reading.number(element, "radius", 0.0) * _scale(reading, element)
    even = radii[0] == radii[1] == radii[2]
    return shapes.Sphere(radii[0]) if even else shapes.Ellipsoid(radii.tolist()), Transform()


@reads("Ellipsoid")
def ellipsoid(reading: Reading, element: Element) -> Drawn:
    radii = np.array(reading.numbers(element, "radii", count=3))
    return shapes.Ellipsoid((radii * _scale(reading, element)).tolist()), Transform()


@reads("Brick")
def brick(reading: Reading, element: Element) -> Drawn:
    half = np.array(reading.numbers(element, "half_lengths", (0.5, 0.5, 0.5), 3))
    return shapes.Box((half * _scale(reading, element)).tolist()), Transform()


@reads("Cylinder")
def cylinder(reading: Reading, element: Element) -> Drawn:
    x, y, z = _scale(reading, element)
    return shapes.Cylinder(
        reading.number(element, "radius") * (x + z) / 2, reading.number(element, "half_height") * y
    ), _UPRIGHT


@reads("LineGeometry")
def line(reading: Reading, element: Element) -> Drawn:
    ends = [
        np.array(reading.numbers(element, name, usual, 3)) * _scale(reading, element)
        for name, usual in (("start_point", (0.0,) * 3), ("end_point", (1.0,) * 3))
    ]
    return shapes.Line(ends), Transform()


@reads("FrameGeometry")
def axes(reading: Reading, element: Element) -> Drawn:
    reading.skip(element, "display_radius")
    return shapes.Frame(float(abs(_scale(reading, element)).max()) or 0.1), Transform()


DRAWN = frozenset({"Mesh", "Sphere", "Ellipsoid", "Brick", "Cylinder", "LineGeometry", "FrameGeometry"})
