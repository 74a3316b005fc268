"""Geometry as files below 30502 have it: VisibleObject with files or DisplayGeometry -> meshes on frames."""

from __future__ import annotations

import numpy as np

from condyle.opensim.element import Element
from condyle.spatial import Transform, euler_from_rotation, rotation_from_euler


def geometry_files(root: Element) -> None:
    """VisibleObject/geometry_files, names of files -> attached_geometry."""
    for shown in root.every("VisibleObject"):
        body, files = shown.parent, shown.child("geometry_files")
        if body is None or files is None or body.tag not in ("Body", "Ground"):
            continue
        holder = body.child("attached_geometry") or body.add("attached_geometry")
        for k, name in enumerate(files.text.split()):
            _mesh(holder, f"{body.name}_geom_{k}", name, _numbers(shown, "scale_factors", 3, 1.0))
        files.remove()


def shown_objects(root: Element) -> None:
    """VisibleObject/GeometrySet/DisplayGeometry -> attached_geometry, on frames where they are moved."""
    for shown in root.every("VisibleObject"):
        body, objects = shown.parent, shown.child("GeometrySet")
        if body is None or body.tag not in ("Body", "Ground", "PhysicalOffsetFrame"):
            continue
        scale, X_outer = _numbers(shown, "scale_factors", 3, 1.0), _transform(shown)
        for k, old in enumerate(() if objects is None else objects.every("DisplayGeometry"), 1):
            X = X_outer @ _transform(old)
            holder = body.child("attached_geometry") or body.add("attached_geometry")
            if np.any(X.p) or not np.array_equal(X.R, np.eye(3)):
                components = body.child("components") or body.add("components")
                frame = components.add("PhysicalOffsetFrame", name=f"{body.name}_geom_frame_{k}")
                frame.add("socket_parent", "..")
                frame.add("translation", " ".join(f"{x:.17g}" for x in X.p))
                frame.add("orientation", " ".join(f"{x:.17g}" for x in euler_from_rotation(X.R, "xyz")))
                holder = frame.add("attached_geometry")
            file = old.child("geometry_file")
            mesh = _mesh(
                holder,
                f"{body.name}_geom_{k}",
                "" if file is None else file.text,
                scale * _numbers(old, "scale_factors", 3, 1.0),
            )
            mesh.line = old.line
            look = mesh.add("Appearance")
            for name in ("color", "opacity"):
                if (found := old.child(name)) is not None:
                    look.take(found)
        shown.remove()


def _mesh(holder: Element, name: str, file: str, scale: np.ndarray) -> Element:
    mesh = holder.add("Mesh", name=name)
    mesh.add("scale_factors", " ".join(f"{x:g}" for x in scale))
    mesh.add("mesh_file", file)
    return mesh


def _transform(element: Element) -> Transform:
    """Angles, then the place, of a property `transform`."""
    x = _numbers(element, "transform", 6, 0.0)
    return Transform(rotation_from_euler(x[:3], "xyz"), x[3:])


def _numbers(element: Element, name: str, count: int, default: float) -> np.ndarray:
    """Numbers for drawing: what is no number is the default."""
    found = element.child(name)
    try:
        values = np.array([float(word) for word in found.text.replace(",", " ").split()] if found else [])
    except ValueError:
        values = np.empty(0)
    return values[:count] if len(values) >= count and np.isfinite(values).all() else np.full(count, default)
