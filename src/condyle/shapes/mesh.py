"""Mesh: triangles from a file or from arrays."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.shapes.base import Shape, points
from condyle.shapes.mesh_files import MESH_FILES, read_mesh_file


class Mesh(Shape):
    """Triangles from a file or from arrays. A file is read when it is first needed, not before: that it is
    missing is said then.

    Args:
        source: a file (.obj, .stl, .ply or .vtp), or vertices (n, 3) and triangles (m, 3), whose corners are
            indices of vertices, from 0.
        scale: one factor, or one per axis of S, shape (3,): 0.001 for a file in millimeters. One of the three
            may be negative: it mirrors.
    """

    def __init__(
        self, source: str | os.PathLike[str] | tuple[ArrayLike, ArrayLike], scale: ArrayLike = 1.0
    ) -> None:
        self.path: str | None = None
        self._arrays: tuple[Array, np.ndarray] | None = None
        self._read: tuple[Array, np.ndarray] | None = None
        self.scale = _scale(scale)
        if isinstance(source, (str, os.PathLike)):
            self.path = os.fspath(source)
            suffix = os.path.splitext(self.path)[1].lower()
            if suffix not in MESH_FILES:
                raise DescriptionError(
                    f"Mesh: {self.path!r}: files of meshes end in "
                    f"{', '.join(MESH_FILES)}, not in {suffix or 'nothing'!r}"
                )
        else:
            self._arrays = _checked(source)

    def surface(self) -> tuple[Array, np.ndarray]:
        """Vertices in S, scaled [m], shape (n, 3), and triangles (m, 3). A mirrored mesh has its triangles
        turned over, so that normals point outward as before.

        Raises:
            DescriptionError: the file is missing, is no mesh, or needs a package that is not installed.
        """
        if self._read is None:
            arrays = self._arrays if self.path is None else _checked(read_mesh_file(self.path), self.path)
            vertices, triangles = arrays  # type: ignore[misc]
            if np.prod(self.scale) < 0:
                triangles = triangles[:, ::-1]
            self._read = vertices * self.scale, triangles
            for array in self._read:
                array.flags.writeable = False
        return self._read

    def scaled(self, factors: Array) -> Shape:
        source: Any = self.path if self.path is not None else self._arrays
        return Mesh(source, np.array(self.scale) * factors)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_read": None}

    def __repr__(self) -> str:
        scale = "" if self.scale == (1, 1, 1) else f", scale={self.scale}"
        if self.path is not None:
            return f"shapes.Mesh({self.path!r}{scale})"
        assert self._arrays is not None
        return f"shapes.Mesh({len(self._arrays[0])} vertices, {len(self._arrays[1])} triangles{scale})"


def _scale(scale: Any) -> tuple[float, float, float]:
    given = points("Mesh", "scale", np.broadcast_to(scale, 3) if np.ndim(scale) == 0 else scale, (3,))
    if not given.all():
        raise DescriptionError(f"Mesh: scale must not be zero, got {scale!r}")
    return tuple(map(float, given))  # type: ignore[return-value]


def _checked(source: Any, path: str = "") -> tuple[Array, np.ndarray]:
    where = f"Mesh {path!r}" if path else "Mesh"
    if not isinstance(source, (tuple, list)) or len(source) != 2:
        raise DescriptionError(
            f"{where}: expected a file, or vertices and triangles: Mesh((vertices, "
            f"triangles)), got {type(source).__name__}"
        )
    vertices = points(where, "vertices", source[0], (-1, 3))
    corners = points(where, "triangles", source[1], (-1, 3))
    triangles = corners.astype(np.int64)
    if not np.array_equal(triangles, corners):
        raise DescriptionError(
            f"{where}: triangles are indices of vertices: whole numbers; "
            "give (vertices, triangles), in this order"
        )
    if not len(triangles):
        raise DescriptionError(f"{where}: it has no triangles")
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise DescriptionError(
            f"{where}: triangles name vertices {triangles.min()} to {triangles.max()}, "
            f"but there are {len(vertices)}, from 0"
            + ("; if they count from 1, subtract 1" if triangles.min() == 1 else "")
        )
    return vertices, triangles
