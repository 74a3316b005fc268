"""Polygons as triangles."""

from __future__ import annotations

import base64
import binascii
import difflib
import os
import zlib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError

FLAT = 1e-9
"""Share of a polygon's area that a triangle of it has at least."""


def cut(points: Array, corners: np.ndarray, ends: np.ndarray) -> tuple[Array, np.ndarray]:
    """Points (n, 3) and triangles (m, 3) of polygons, as Simbody and OpenSim cut them: four corners into two
    triangles, five or more around a new point in their middle. Where a triangle would fold back or be flat,
    as at hollow corners, a polygon is cut ear by ear.

    Args:
        points: shape (n, 3).
        corners: indices of points, polygon after polygon.
        ends: where each polygon ends among the corners.

    Raises:
        ValueError: ends do not fit the corners, or corners the points.
    """
    starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)
    sizes = ends - starts
    if (sizes < 0).any() or (len(ends) and ends[-1] > len(corners)):
        raise ValueError("offsets of its polygons do not fit their corners")
    if len(corners) and not 0 <= corners.min() <= corners.max() < len(points):
        raise ValueError(
            f"its polygons name points {corners.min()} to {corners.max()}, counted from 0, and "
            f"there are {len(points)}"
        )
    out = [np.zeros((0, 3), dtype=np.int64)]
    for size in np.unique(sizes[sizes > 2]):
        some = corners[starts[sizes == size][:, None] + np.arange(size)]  # (polygons, size)
        k = np.arange(size)
        fan = (
            np.stack([k, np.roll(k, -1), np.full(size, size)], axis=1)
            if size > 4
            else np.stack([0 * k[2:], k[1:-1], k[2:]], axis=1)
        )
        p = points[some]
        p = np.concatenate([p, p.mean(axis=1, keepdims=True)], axis=1)  # the middle comes last
        a, b, c = (p[:, fan[:, i]] for i in range(3))
        areas = np.cross(b - a, c - a)  # of triangles
        total = areas.sum(axis=1, keepdims=True)
        folded = ((areas * total).sum(axis=2) <= FLAT * (total * total).sum(axis=2)).any(axis=1)
        out += [polygon[_ears(q[:-1])] for polygon, q in zip(some[folded], p[folded], strict=True)]
        whole, middle = some[~folded], len(points) + np.arange((~folded).sum())
        out.append(np.column_stack([whole, middle])[:, fan].reshape(-1, 3))
        if size > 4:
            points = np.concatenate([points, p[~folded, -1]])
    return points, np.concatenate(out)


def _ears(p: Array) -> np.ndarray:
    """Triangles of one polygon, as places in it. Ears that corners touch, to rounding, are cut last; one that
    crosses itself ends as a fan."""
    normal = np.cross(p[1:-1] - p[0], p[2:] - p[0]).sum(axis=0)
    turn = lambda a, b, c: float(np.cross(p[b] - p[a], p[c] - p[a]) @ normal)
    whole = float(normal @ normal)
    left, out = list(range(len(p))), []

    def is_ear(k: int, least: float) -> bool:
        a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
        return turn(a, b, c) > least and not any(
            min(turn(a, b, d), turn(b, c, d), turn(c, a, d)) >= -least
            for d in left
            if not (p[d] == p[[a, b, c]]).all(axis=1).any()
        )

    while len(left) > 3:
        k = next((k for least in (FLAT * whole, 0.0) for k in range(len(left)) if is_ear(k, least)), 1)
        out.append((left[k - 1], left[k], left[(k + 1) % len(left)]))
        del left[k]
    return np.array([*out, tuple(left)])


# ---- obj -------------------------------------------------------------------------------------------------
#
# Files of Wavefront (.obj): corners and faces. What else they have (textures, normals, groups) is left
# out.


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


# ---- vtp -------------------------------------------------------------------------------------------------
#
# Files of VTK's PolyData (.vtp): points and polygons. Data as text, as base64, compressed by zlib, or
# appended.


TYPES = {
    "Float32": "f4",
    "Float64": "f8",
    "Int8": "i1",
    "UInt8": "u1",
    "Int16": "i2",
    "UInt16": "u2",
    "Int32": "i4",
    "UInt32": "u4",
    "Int64": "i8",
    "UInt64": "u8",
}
ZLIB = "vtkZLibDataCompressor"


def read_vtp(path: str) -> tuple[Array, np.ndarray]:
    """Points (n, 3) and triangles (m, 3) of the polygons and strips of all pieces.

    Raises:
        DescriptionError: it is no such file, or it is damaged.
    """
    try:
        return _File(Path(path).read_bytes()).mesh()
    except (
        ValueError,
        KeyError,
        IndexError,
        TypeError,
        SyntaxError,
        OSError,
        zlib.error,
        binascii.Error,
    ) as error:
        raise DescriptionError(f"mesh {path!r}: cannot read it as VTK PolyData: {error}") from error


class _File:
    """The XML tree of a file, and the bytes that are appended to it."""

    def __init__(self, data: bytes) -> None:
        from lxml import etree

        self.appended, self.raw = b"", False
        at = data.find(b"<AppendedData")
        if at >= 0:  # raw bytes are not XML: cut them out
            start = data.index(b"_", data.index(b">", at)) + 1
            self.raw = b'encoding="raw"' in data[at:start]
            self.appended, data = data[start : data.rindex(b"</AppendedData>")], data[:at] + b"</VTKFile>"
        # a file of anybody's: no entities, no network, no document type
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
        self.root = etree.fromstring(data, parser)
        if self.root.get("type") != "PolyData":
            raise ValueError(f"it has {self.root.tag} of type {self.root.get('type')!r}")
        self.order = "<" if self.root.get("byte_order", "LittleEndian") == "LittleEndian" else ">"
        self.header = np.dtype(self.order + TYPES[self.root.get("header_type", "UInt32")])
        self.compressor = self.root.get("compressor")
        if self.compressor not in (None, ZLIB):
            raise ValueError(f"its compressor is {self.compressor}, and only {ZLIB} is read; save it again")

    def mesh(self) -> tuple[Array, np.ndarray]:
        points, triangles, base = [np.zeros((0, 3))], [np.zeros((0, 3), dtype=np.int64)], 0
        for piece in self.root.iter("Piece"):
            if piece.get("NumberOfPoints") == "0":
                continue
            p = self._values(piece.find("Points/DataArray")).astype(float).reshape(-1, 3)
            _check_count(piece, "Points", len(p))
            for kind, made in (("Polys", cut), ("Strips", _strips)):
                cells = {a.get("Name"): a for a in piece.iterfind(f"{kind}/DataArray")}
                corners, ends = (
                    self._values(cells[name]).astype(np.int64)
                    if name in cells
                    else np.zeros(0, dtype=np.int64)
                    for name in ("connectivity", "offsets")
                )
                _check_count(piece, kind, len(ends))
                if (ends[-1] if len(ends) else 0) != len(corners):
                    raise ValueError(
                        f"its {kind} have {len(corners)} corners, and their offsets end at "
                        f"{ends[-1] if len(ends) else 0}"
                    )
                p, found = made(p, corners, ends)
                triangles.append(base + found)
            points.append(p)
            base += len(p)
        faces = np.concatenate(triangles)
        if not len(faces) and any(int(p.get("NumberOfLines", 0)) for p in self.root.iter("Piece")):
            raise ValueError("it has lines only; a mesh needs polygons or strips")
        return np.concatenate(points), faces

    def _values(self, node: Any) -> np.ndarray:
        if node is None:
            raise ValueError("a piece has no points")
        kind, form = np.dtype(self.order + TYPES[node.get("type")]), node.get("format", "ascii")
        if form == "ascii":
            return np.array((node.text or "").split(), dtype=float)
        if form == "appended":
            data = self.appended[int(node.get("offset")) :]
            return np.frombuffer(self._payload(data, _raw if self.raw else _base64), kind)
        text = (node.text or "").strip().encode()
        return np.frombuffer(self._payload(text, _base64) if text else b"", kind)

    def _payload(self, data: bytes, decode: Callable[[bytes, int, int], bytes]) -> bytes:
        """The bytes behind a header: its length, or of each compressed block (number, size, last, sizes)."""
        w = self.header.itemsize
        first = int(np.frombuffer(decode(data, 0, w), self.header)[0])
        if self.compressor is None:
            return decode(data, 0, w + first)[w:]
        head = decode(data, 0, w * (3 + first))
        sizes = np.frombuffer(head, self.header)[3:].astype(int)
        blocks, out, at = decode(data, len(head), int(sizes.sum())), [], 0
        for size in sizes:
            out.append(zlib.decompress(blocks[at : at + size]))
            at += size
        return b"".join(out)


def _check_count(piece: Any, what: str, count: int) -> None:
    """Raise if a piece does not have as many points or cells as its attribute says."""
    if int(piece.get(f"NumberOf{what}", count)) != count:
        raise ValueError(f"NumberOf{what} is {piece.get(f'NumberOf{what}')}, and it has {count}")


def _raw(data: bytes, start: int, count: int) -> bytes:
    return data[start : start + count]


def _base64(data: bytes, start: int, count: int) -> bytes:
    """What begins at a byte is a run of its own, with its own padding."""
    skip, take = ((n + 2) // 3 * 4 for n in (start, count))
    return base64.b64decode(data[skip : skip + take])[:count]


def _strips(points: Array, corners: np.ndarray, ends: np.ndarray) -> tuple[Array, np.ndarray]:
    """The points, and triangles of strips, of which every other one goes the other way around."""
    out = [np.zeros((0, 3), dtype=np.int64)]
    for start, end in pairwise([0, *ends]):
        if not 0 <= start <= end <= len(corners):
            raise ValueError("offsets of its strips do not fit their corners")
        strip = corners[start:end]
        each = np.stack([strip[:-2], strip[1:-1], strip[2:]], axis=1) if len(strip) > 2 else out[0]
        each[1::2] = each[1::2, [1, 0, 2]]
        out.append(each)
    return points, np.concatenate(out)


# ---- files -----------------------------------------------------------------------------------------------
#
# Files of meshes: .stl and .ply by trimesh, .obj and .vtp by readers of our own.


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
