"""Markers, and geometry to draw: meshes and shapes on bodies and on frames of bodies. They do not affect
motions, so that errors in them are noted and not raised."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import condyle.shapes as shapes
from condyle.errors import CondyleError, DescriptionError, warn
from condyle.opensim import accessed_files, geometry_folders
from condyle.opensim.document import inside
from condyle.opensim.element import Element
from condyle.opensim.reading import Reading
from condyle.opensim.table import (
    CLASSES,
    REQUIRED,
    Arguments,
    Class,
    Field,
    Number,
    Several,
    Vector,
    reads,
    write,
)
from condyle.opensim.writing import FORBIDDEN, Writing, Xml, append, xml
from condyle.spatial import Transform
from condyle.tree.attached import Geometry

FRAMES = ("Ground", "Body", "PhysicalOffsetFrame", "StationDefinedFrame")
UPRIGHT = Transform([(1, 0, 0), (0, 0, 1), (0, -1, 0)])
"""Rotation between OpenSim's cylinders, about y, and ours, about z."""
ABOVE = 4
"""Number of folders above the model's that are searched for Geometry."""


# ---- markers -----------------------------------------------------------------------------------------------


@reads("Marker")
def marker(reading: Reading, element: Element) -> None:
    body, X = reading.frame(element, "parent_frame")
    name = reading.numbered(element, element.name or "marker", reading.system.markers, "marker")
    reading.system.add_marker(
        name,
        body,
        X @ reading.vector(element, "location"),
        reading.boolean(element, "fixed", False),
    )


def write_markers(to: Writing) -> list[Xml]:
    """All markers of a system."""
    return [
        xml(
            "Marker",
            to.at(f"marker {m.name!r}").name(m.name),
            socket_parent_frame=to.place(m.body),
            location=m.station,
            fixed=m.fixed,
        )
        for m in map(to.system.marker, to.system.markers)
    ]


# ---- shapes, one row each ----------------------------------------------------------------------------------


def _scale(reading: Reading, element: Element) -> np.ndarray:
    return np.array(reading.numbers(element, "scale_factors", (1.0,) * 3, 3))


class ScaledVector(Vector):
    """Three numbers, times those of `scale_factors`."""

    def parse(self, reading: Reading, element: Element) -> list[float]:
        return (np.array(super().parse(reading, element)) * _scale(reading, element)).tolist()  # type: ignore[no-any-return]


class AxisLength(Field):
    """Length of the axes of a frame: the largest of its scale factors."""

    def parse(self, reading: Reading, element: Element) -> float:
        return float(abs(_scale(reading, element)).max()) or 0.1

    def format(self, value: float, to: Writing) -> tuple[float, ...]:
        return (value,) * 3


class MeshScale(Vector):
    """Scale factors of a mesh, of which none is zero."""

    def parse(self, reading: Reading, element: Element) -> np.ndarray:
        scale = _scale(reading, element)
        if not scale.all():
            raise DescriptionError("a scale factor is zero")
        return scale


class MeshFile(Field):
    """The file of a mesh, as seen from the model's folder."""

    def parse(self, reading: Reading, element: Element) -> Path:
        return mesh_file(reading, element, reading.text(element, self.tag))

    def format(self, value: str, to: Writing) -> str:
        return _near(Path(value), to.path.parent)


def _sphere(reading: Reading, element: Element, arguments: Arguments) -> shapes.Shape:
    radii = arguments["radius"] * _scale(reading, element)
    even = radii[0] == radii[1] == radii[2]
    return shapes.Sphere(radii[0]) if even else shapes.Ellipsoid(radii.tolist())


def _cylinder(reading: Reading, element: Element, arguments: Arguments) -> shapes.Shape:
    x, y, z = _scale(reading, element)
    return shapes.Cylinder(arguments["radius"] * (x + z) / 2, arguments["half_length"] * y)


Class("Sphere", shapes.Sphere, (Number("radius", 0.0),), read=_sphere)
Class("Ellipsoid", shapes.Ellipsoid, (ScaledVector("radii", REQUIRED),))
Class("Brick", shapes.Box, (ScaledVector("half_lengths", (0.5, 0.5, 0.5)),))
Class(
    "Cylinder", shapes.Cylinder, (Number("radius"), Number("half_height", key="half_length")), read=_cylinder
)
Class(
    "LineGeometry",
    shapes.Line,
    (Several("points", ScaledVector("start_point"), ScaledVector("end_point", (1.0,) * 3)),),
    when=lambda line: len(line.points) == 2,
)
Class("FrameGeometry", shapes.Frame, (AxisLength("scale_factors", key="length"),), skip=("display_radius",))
Class(
    "Mesh",
    shapes.Mesh,
    (MeshScale("scale_factors", key="scale"), MeshFile("mesh_file", key="path")),
    when=lambda mesh: mesh.path is not None,
    read=lambda reading, element, arguments: shapes.Mesh(arguments["path"], arguments["scale"]),
)


def is_drawn(element: Element) -> bool:
    """Whether an element is a shape to draw."""
    made = CLASSES[element.tag].made if element.tag in CLASSES else None
    return isinstance(made, type) and issubclass(made, shapes.Shape)


def mesh_file(reading: Reading, element: Element, name: str) -> Path:
    """The path of a mesh file: in folders that the user named, in the model's folder, in Geometry there or in
    a folder above, in `CONDYLE_GEOMETRY`, in an installation of OpenSim. The model's own names may lead out of its
    folder by `..` only, as those that `write_osim` writes of meshes elsewhere do; links are followed in folders that
    are named."""
    folder = reading.document.path.resolve().parent
    relative = name.replace("\\", "/")
    own = os.path.basename(relative)

    def beneath(*folders: Path) -> list[Path]:
        return [root / n for root in folders for n in dict.fromkeys((relative, own)) if _is_plain(n)]

    # a link in a folder that nobody named leads nowhere: a model file must not read what is elsewhere
    above = [p for up in folder.parents[:ABOVE] for p in beneath(up / "Geometry") if _is_own(p, up)]
    elsewhere = [*above, *beneath(*geometry_folders.others())]
    if named := next((p for p in beneath(*geometry_folders.first()) if accessed_files.is_file(p)), None):
        return named
    if relative.startswith("../"):
        place = Path(os.path.abspath(folder / relative))
        return next((p for p in (place, *elsewhere) if accessed_files.is_file(p)), place)
    try:
        places = [inside(folder, part, element) for part in (name, f"Geometry/{name}")]
    except CondyleError:  # a path of another machine, or a link: a file of that name will do
        if found := next((p for p in elsewhere if accessed_files.is_file(p)), None):
            return found
        raise
    return next((p for p in (*places, *elsewhere) if accessed_files.is_file(p)), places[1])


def _is_own(path: Path, folder: Path) -> bool:
    """Whether a file is beneath a folder, all links followed; one that does not exist leads nowhere."""
    return not os.path.lexists(path) or path.resolve().is_relative_to(folder)


def _is_plain(name: str) -> bool:
    """Whether a name is beneath the folder that is searched."""
    return bool(name) and not name.startswith("/") and ":" not in name and ".." not in name.split("/")


def _near(mesh: Path, folder: Path) -> str:
    """A mesh's file as seen from the model's folder. If it does not exist, the name by which OpenSim searches
    its folders of geometry."""
    inside = f"{folder}{os.sep}"
    if folder.is_absolute() and str(mesh).startswith(inside):  # the common case; the rest takes longer
        return Path(str(mesh)[len(inside) :]).as_posix().removeprefix("Geometry/")
    for whole in (Path.absolute, Path.resolve):
        path, root = whole(mesh), whole(folder)
        for start in (root / "Geometry", root):
            if path.is_relative_to(start):
                return path.relative_to(start).as_posix()
    if not mesh.is_file():
        return mesh.as_posix().rpartition("/Geometry/")[2] if "Geometry" in mesh.parts else mesh.name
    try:
        return Path(os.path.relpath(mesh.resolve(), folder.resolve())).as_posix()
    except ValueError:  # on another drive
        return mesh.resolve().as_posix()


# ---- what is drawn on bodies, read -------------------------------------------------------------------------


def read_geometry(reading: Reading) -> None:
    """Add the geometry that is attached to bodies and frames."""
    for frame in reading.model.descendants(*FRAMES):
        for element in (
            e for name in ("attached_geometry", "components") for e in reading.objects(frame, name)
        ):
            if element.tag in FRAMES or element in reading.names:
                continue
            if is_drawn(element):
                _drawn(reading, frame, element)
            else:
                reading.note(element, "is not read: it is not drawn")
    for element in reading.objects(reading.model, "components"):
        if is_drawn(element):
            _drawn(reading, None, element)


def _drawn(reading: Reading, frame: Element | None, element: Element) -> None:
    """Add geometry on a frame, or on that of its socket; errors are noted."""
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
    shape = reading.read(element)
    name = element.name or f"{body}_{element.tag.lower()}"
    taken = {g.name for g in reading.system.geometry}
    if name in taken:
        name = reading.components.path(element)
    if color is not None:
        color = tuple(min(max(x, 0.0), 1.0) for x in color)
    X = X_BF @ UPRIGHT if isinstance(shape, shapes.Cylinder) else X_BF
    reading.system.add_geometry(body, shape, X, color, opacity, name=None if name in taken else name)


# ---- and written -------------------------------------------------------------------------------------------


def write_geometry(name: str, body: Xml, to: Writing) -> None:
    """Add the geometry of a body: on the body itself, or on a separate frame."""
    attached, frames, taken = [], [], set[str]()
    for g in to.system.geometry:
        made = write(g.shape, to) if g.body == name else None
        if made is None:
            if g.body == name:
                warn(
                    f"write_osim: geometry {g.name!r} is left out, OpenSim draws nothing like "
                    f"{g.shape!r}; no number depends on it"
                )
            continue
        own = _free(g.name, taken)
        made.set("name", own)
        made.append(_appearance(g))
        X = g.X_BS @ UPRIGHT.inverse() if isinstance(g.shape, shapes.Cylinder) else g.X_BS
        append(made, "socket_frame", "..")
        if np.array_equal(X.R, np.eye(3)) and not np.any(X.p):
            attached.append(made)
        else:
            frames.append(to.offset(f"{own}_frame", "..", X.R, X.p, attached_geometry=[made]))
    if frames:
        append(body, "components", frames)
    if attached:
        append(body, "attached_geometry", attached)


def _free(name: str, taken: set[str]) -> str:
    """The last part of a geometry's name, in characters that OpenSim accepts; unique on a body."""
    own = "".join("_" if c in FORBIDDEN else c for c in name.rpartition("/")[2].strip()) or "geometry"
    free, k = own, 0
    while free in taken:
        k, free = k + 1, f"{own}_{k}"
    taken.add(free)
    return free


def _appearance(g: Geometry) -> Xml:
    color = (
        (1.0, 1.0, 1.0) if g.color is None else tuple(int(g.color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    )
    return xml("Appearance", opacity=g.opacity, color=color)
