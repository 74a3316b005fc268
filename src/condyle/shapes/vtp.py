"""Files of VTK's PolyData (.vtp): points and polygons. Data as text, as base64, compressed by zlib, or
appended."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.shapes.polygons import cut

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
