"""Files of meshes: .stl and .ply by trimesh, .obj and .vtp by readers of our own."""

from __future__ import annotations

import difflib
import os
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.shapes.obj import read_obj
from condyle.shapes.vtp import read_vtp

MESH_FILES = (".obj", ".stl", ".ply", ".vtp")
"""What files of meshes end in."""


def read_mesh_file(path: str) -> tuple[Array, np.ndarray]:
    """Vertices (n, 3) and triangles (m, 3) of a file, as it has them. Polygons are cut into triangles.

    Raises:
        DescriptionError: the file is missing, is no mesh, or needs a package that is not installed.
    """
    if os.path.isdir(path):
        raise DescriptionError(f"mesh {path!r}: is a folder, not a file")
    if not os.path.isfile(path):
        folder, name = os.path.split(path)
        there = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
        near = difflib.get_close_matches(name, there, n=2)
        raise DescriptionError(
            f"mesh {path!r}: there is no such file"
            + (f" in {os.getcwd()!r}" if not os.path.isabs(path) else "")
            + (f"; is it {' or '.join(map(repr, near))}?" if near else "")
        )
    if not os.path.getsize(path):
        raise DescriptionError(f"mesh {path!r}: the file is empty")
    kind = os.path.splitext(path)[1]
    vertices, triangles = {".vtp": read_vtp, ".obj": read_obj}.get(kind.lower(), _by_trimesh)(path)
    if not len(triangles):
        raise DescriptionError(
            f"mesh {path!r}: it has no triangles; is it damaged, or of another kind than {kind}?"
        )
    return vertices, triangles


def _by_trimesh(path: str) -> tuple[Array, np.ndarray]:
    try:
        import trimesh
    except ImportError:
        raise DescriptionError(
            f"mesh {path!r}: reading it needs trimesh: python -m pip install "
            "'condyle[meshes]' (or save it as .obj or .vtp)"
        ) from None
    try:
        loaded: Any = trimesh.load_mesh(path, process=False)
        return np.asarray(loaded.vertices, dtype=float), np.asarray(loaded.faces)
    except Exception as error:
        raise DescriptionError(f"mesh {path!r}: trimesh cannot read it: {error}") from error
