"""Files of Wavefront (.obj): corners and faces. What else they have (textures, normals, groups) is left
out."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.shapes.polygons import cut


def read_obj(path: str) -> tuple[Array, np.ndarray]:
    """Vertices (n, 3) and triangles (m, 3) of all objects of a file. Indices below zero count back from the
    last vertex before the face.

    Raises:
        DescriptionError: it is damaged.
    """
    vertices: list[list[float]] = []
    corners: list[int] = []
    ends: list[int] = []
    text = Path(path).read_text("utf-8-sig", "replace").replace("\\\r\n", " ").replace("\\\n", " ")
    at, lines = 0, text.splitlines()
    try:
        for at in range(len(lines)):
            kind, *words = lines[at].split("#", 1)[0].split() or [""]
            if kind == "v":
                x, y, z = map(float, words[:3])
                vertices.append([x, y, z])
            elif kind == "f":
                for word in words:
                    k = int(word.split("/", 1)[0])
                    k += len(vertices) if k < 0 else -1
                    if k < 0:
                        raise ValueError(f"there is no vertex {word!r}")
                    corners.append(k)
                ends.append(len(corners))
    except ValueError as error:
        raise DescriptionError(
            f"mesh {path!r}: cannot read line {at + 1}, {lines[at][:60]!r}: {error}"
        ) from error
    points = np.array(vertices, dtype=float).reshape(-1, 3)
    try:
        return cut(points, np.array(corners, np.int64), np.array(ends, np.int64))
    except ValueError as error:
        raise DescriptionError(f"mesh {path!r}: {error}") from error
