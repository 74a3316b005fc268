"""Files of meshes come back as they were written; what is missing is said when it is needed, not before."""

from __future__ import annotations

import base64
import pickle
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

import condyle as cd
from condyle.shapes.mesh_files import cut

VERTICES = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=float)
TRIANGLES = np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])


def base64_block(data: bytes, compressed: bool) -> str:
    if not compressed:
        return base64.b64encode(struct.pack("<I", len(data)) + data).decode()
    packed = [zlib.compress(part) for part in (data[:8], data[8:])]
    head = struct.pack("<5I", 2, 8, len(data) - 8, *map(len, packed))
    return base64.b64encode(head).decode() + base64.b64encode(b"".join(packed)).decode()


def vtp(form: str) -> bytes:
    """A tetrahedron as a VTK file with its data in one of the ways that VTK has."""
    arrays = [
        ("Float64", VERTICES.astype("<f8")),
        ("Int32", TRIANGLES.astype("<i4")),
        ("Int32", np.array([3, 6, 9, 12], dtype="<i4")),
    ]
    appended, text = b"", []
    for kind, array in arrays:
        if form == "ascii":
            text.append(f'type="{kind}" format="ascii">{" ".join(map(str, array.ravel()))}')
        elif form == "raw":
            text.append(f'type="{kind}" format="appended" offset="{len(appended)}">')
            appended += struct.pack("<I", array.nbytes) + array.tobytes()
        else:
            text.append(f'type="{kind}" format="binary">{base64_block(array.tobytes(), form == "zlib")}')
    compressor = ' compressor="vtkZLibDataCompressor"' if form == "zlib" else ""
    end = b'<AppendedData encoding="raw">_' + appended + b"</AppendedData>" if appended else b""
    return (
        (
            f'<?xml version="1.0"?><VTKFile type="PolyData" version="0.1" byte_order="LittleEndian"'
            f'{compressor}><PolyData><Piece NumberOfPoints="4" NumberOfPolys="4"><Points><DataArray '
            f'NumberOfComponents="3" {text[0]}</DataArray></Points><Polys>'
            f'<DataArray Name="connectivity" {text[1]}</DataArray>'
            f'<DataArray Name="offsets" {text[2]}</DataArray></Polys></Piece></PolyData>'
        ).encode()
        + end
        + b"</VTKFile>"
    )


@pytest.mark.parametrize("form", ["ascii", "binary", "zlib", "raw"])
def test_vtp(form: str, tmp_path: Path) -> None:
    path = tmp_path / "bone.vtp"
    path.write_bytes(vtp(form))
    vertices, triangles = cd.shapes.Mesh(path).surface()
    assert np.array_equal(vertices, VERTICES) and np.array_equal(triangles, TRIANGLES)


def test_vtp_polygons_and_strips(tmp_path: Path) -> None:
    """A square as one polygon, and again as a strip: two triangles each, all facing +z."""
    path = tmp_path / "square.vtp"
    path.write_text(
        '<VTKFile type="PolyData"><PolyData><Piece><Points><DataArray type="Float32">0 0 0 1 0 0 1 1 0 0 1 0'
        '</DataArray></Points><Polys><DataArray type="Int32" Name="connectivity">0 1 2 3</DataArray>'
        '<DataArray type="Int32" Name="offsets">4</DataArray></Polys><Strips><DataArray type="Int32" '
        'Name="connectivity">'
        '0 1 3 2</DataArray><DataArray type="Int32" Name="offsets">4</DataArray></Strips></Piece></PolyData>'
        "</VTKFile>"
    )
    vertices, triangles = cd.shapes.Mesh(path).surface()
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    assert np.array_equal(np.cross(b - a, c - a), [(0, 0, 1)] * 4)


def sections(polys: str, offsets: str, form: str = "ascii", empty: str = "", lines: str = "") -> str:
    """A file with all the sections that OpenSim's bones have; those without cells have no text, as VTK writes
    them."""

    def cells(kind: str, corners: str, ends: str, how: str) -> str:
        return (
            f'<{kind}><DataArray type="Int64" Name="connectivity" format="{how}" RangeMin="1e+299" '
            f'RangeMax="-1e+299">{corners}</DataArray>\n<DataArray type="Int64" Name="offsets" '
            f'format="{how}">{ends}</DataArray></{kind}>'
        )

    return (
        '<VTKFile type="PolyData" version="0.1" byte_order="LittleEndian" '
        'compressor="vtkZLibDataCompressor"><PolyData>'
        '<Piece NumberOfPoints="0" NumberOfPolys="0"><Points/></Piece>'
        f'<Piece NumberOfPoints="4" NumberOfVerts="0" NumberOfLines="{len(lines.split()) // 2}" '
        f'NumberOfStrips="0" NumberOfPolys="{len(offsets.split())}"><PointData Normals="Normals"/>'
        '<Points><DataArray type="Float32" NumberOfComponents="3" format="ascii">0 0 0 1 0 0 1 1 0 0 1 0'
        f"</DataArray></Points>{cells('Verts', empty, empty, form)}"
        f"{cells('Lines', lines, '2' if lines else '', 'ascii')}{cells('Strips', empty, empty, form)}"
        f"{cells('Polys', polys, offsets, 'ascii')}</Piece></PolyData></VTKFile>"
    )


@pytest.mark.parametrize(
    ("form", "empty"),
    [("ascii", "\n   "), ("binary", ""), ("binary", "AAAAAAAAAAA="), ("binary", "AAAAAAAAAAAAAAAA")],
)
def test_vtp_sections_without_cells(form: str, empty: str, tmp_path: Path) -> None:
    """24 of the 317 files of OpenSim's Geometry folder, the rib cage among them, could not be read."""
    path = tmp_path / "ribs.vtp"
    path.write_text(sections("0 1 2 0 2 3", "3 6", form, empty))
    vertices, triangles = cd.shapes.Mesh(path).surface()
    assert vertices.shape == (4, 3) and np.array_equal(triangles, [(0, 1, 2), (0, 2, 3)])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (sections("", "", lines="0 1"), "it has lines only; a mesh needs polygons or strips"),
        (sections("0 1 2 0 2", "3 6"), "its Polys have 5 corners, and their offsets end at 6"),
        (
            sections("0 1 2 0 2 3", "3 6").replace('NumberOfPolys="2"', 'NumberOfPolys="3"'),
            "NumberOfPolys is 3, and it has 2",
        ),
        (
            sections("0 1 2", "3").replace('NumberOfPoints="4"', 'NumberOfPoints="5"'),
            "NumberOfPoints is 5, and it has 4",
        ),
        (sections("0 1 2", "3").replace('Name="offsets"', 'Name="ends"'), "NumberOfPolys is 1, and it has 0"),
    ],
)
def test_vtp_files_whose_counts_do_not_fit(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "bone.vtp"
    path.write_text(content)
    with pytest.raises(cd.errors.DescriptionError, match=said):
        cd.shapes.Mesh(path).surface()


@pytest.mark.parametrize("suffix", [".obj", ".stl", ".ply"])
def test_files_that_trimesh_writes(suffix: str, tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    path = tmp_path / f"bone{suffix}"
    trimesh.Trimesh(VERTICES, TRIANGLES, process=False).export(path)
    vertices, triangles = cd.shapes.Mesh(str(path), scale=2).surface()
    assert np.allclose(vertices[triangles], 2 * VERTICES[TRIANGLES])  # .stl repeats its vertices


def test_a_mirrored_mesh_still_faces_outward() -> None:
    mesh = cd.shapes.Mesh((VERTICES, TRIANGLES), scale=(1, 1, -1))
    vertices, triangles = mesh.surface()
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    assert np.einsum("ni,ni->n", a, np.cross(b, c)).sum() / 6 == pytest.approx(1 / 6)


def test_a_missing_file_is_no_error_until_it_is_needed() -> None:
    system = cd.System()
    system.add_geometry("ground", cd.shapes.Mesh("no/such/bone.vtp"))
    copy = pickle.loads(pickle.dumps(system))
    with pytest.raises(cd.errors.DescriptionError, match=r"mesh 'no/such/bone.vtp': there is no such file"):
        copy.geometry[0].shape.surface()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html/>",
        b"not xml",
        vtp("ascii")[:300],
        vtp("ascii").replace(b'PolyData" v', b'ImageData" v'),
        vtp("zlib").replace(b"ZLib", b"LZ4"),
        vtp("binary").replace(b"Float64", b"Float80"),
        b'<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/hostname">]><VTKFile type="PolyData"><PolyData><Piece>'
        b'<Points><DataArray type="Float32">&e;</DataArray></Points></Piece></PolyData></VTKFile>',
    ],
)
def test_a_damaged_file_is_named(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "bone.vtp"
    path.write_bytes(content)
    with pytest.raises(cd.errors.DescriptionError, match=r"bone\.vtp"):
        cd.shapes.Mesh(path).surface()


def test_files_that_are_none_say_why(tmp_path: Path) -> None:
    (tmp_path / "folder.stl").mkdir()
    (tmp_path / "empty.ply").write_bytes(b"")
    with pytest.raises(cd.errors.DescriptionError, match="is a folder, not a file"):
        cd.shapes.Mesh(tmp_path / "folder.stl").surface()
    with pytest.raises(cd.errors.DescriptionError, match="the file is empty"):
        cd.shapes.Mesh(tmp_path / "empty.ply").surface()
    path = tmp_path / "bone.vtp"
    text = vtp("ascii")
    start = text.index(b">", text.index(b'Name="offsets"')) + 1
    path.write_bytes(text[:start] + b"3 1 9 12" + text[text.index(b"<", start) :])
    with pytest.raises(cd.errors.DescriptionError, match="offsets of its polygons do not fit their corners"):
        cd.shapes.Mesh(path).surface()


L_SHAPE = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]


def prism(first: int) -> tuple[list[tuple[float, float, float]], list[tuple[int, ...]]]:
    """A prism over an L, 3 high, whose ends are polygons with a hollow corner, from any of their corners."""
    ring = L_SHAPE[first:] + L_SHAPE[:first]
    sides: list[tuple[int, ...]] = [(i, (i + 1) % 6, (i + 1) % 6 + 6, i + 6) for i in range(6)]
    return [(x, y, z) for z in (0, 3) for x, y in ring], [(5, 4, 3, 2, 1, 0), (6, 7, 8, 9, 10, 11), *sides]


@pytest.mark.parametrize("first", range(6))
@pytest.mark.parametrize("suffix", [".obj", ".vtp"])
def test_hollow_polygons(first: int, suffix: str, tmp_path: Path) -> None:
    """A fan of a hollow polygon folds back: the prism had up to 14 % too much area, in silence."""
    points, polygons = prism(first)
    path = tmp_path / f"prism{suffix}"
    words = lambda rows: " ".join(str(x) for row in rows for x in row)
    path.write_text(
        "".join(f"v {x} {y} {z}\n" for x, y, z in points)
        + "".join(f"f {' '.join(str(i + 1) for i in p)}\n" for p in polygons)
        if suffix == ".obj"
        else f'<VTKFile type="PolyData"><PolyData><Piece><Points><DataArray type="Float64">{words(points)}'
        '</DataArray></Points><Polys><DataArray type="Int32" Name="connectivity">'
        f'{words(polygons)}</DataArray><DataArray type="Int32" Name="offsets">'
        f"{' '.join(map(str, np.cumsum([len(p) for p in polygons])))}</DataArray></Polys></Piece></PolyData>"
        "</VTKFile>"
    )
    vertices, triangles = cd.shapes.Mesh(path).surface()
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    assert len(triangles) == 2 * 4 + 6 * 2 and len(vertices) == 12
    assert np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2 == pytest.approx(2 * 3 + 8 * 3)
    assert np.einsum("ni,ni->n", a, np.cross(b, c)).sum() / 6 == pytest.approx(3 * 3)


def test_obj_as_others_write_it(tmp_path: Path) -> None:
    """Tabs, a mark of byte order, lines that go on, colors, textures, and indices that count back."""
    path = tmp_path / "two.obj"
    text = "# two\nmtllib no.mtl\n"
    for shift in (0, 5):
        text += "".join(f"v\t{x + shift}\t{y}\t{z}\t.5 .5 .5\r\n" for x, y, z in VERTICES)
        text += "vt 0 0\ng part\n"
        text += "".join(f"f {a - 4}/1 {b - 4}/1 \\\n {c - 4}/1 # face\n" for a, b, c in TRIANGLES)
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    vertices, triangles = cd.shapes.Mesh(path).surface()
    assert np.array_equal(vertices, np.vstack([VERTICES, VERTICES + [5, 0, 0]]))
    assert np.array_equal(triangles, np.vstack([TRIANGLES, np.asarray(TRIANGLES) + 4]))
    for bad, said in (
        ("v 1 2\n", "line 1"),
        ("\nv 0 0 x", "line 2"),
        ("v 0 0 0\nf 1 -2 1\n", "no vertex '-2'"),
        ("v 0 0 0\nf 1 2 3\n", "0 to 2, counted from 0, and there are 1"),
        ("f 0 1 2", "no vertex"),
    ):
        path.write_text(bad)
        with pytest.raises(cd.errors.DescriptionError, match=said):
            cd.shapes.Mesh(path).surface()


def test_polygons_of_five_and_more(tmp_path: Path) -> None:
    """Around a point in their middle, as OpenSim cuts them: springs of contact are where its springs are."""
    ring = np.array([(np.cos(k), np.sin(k), 0) for k in 2 * np.pi * np.arange(5) / 5])
    path = tmp_path / "disc.obj"
    path.write_text(
        "".join(f"v {x!r} {y!r} {z!r}\n" for x, y, z in ring.tolist()) + "f 1 2 3 4 5\nf 4 3 2 1\n"
    )
    vertices, triangles = cd.shapes.Mesh(path).surface()
    assert len(vertices) == 6 and np.abs(vertices[5]).max() < 1e-15
    assert {tuple(sorted(t)) for t in triangles.tolist()} == {
        (0, 1, 5),
        (1, 2, 5),
        (2, 3, 5),
        (3, 4, 5),
        (0, 4, 5),
        (1, 2, 3),
        (0, 1, 3),
    }


def test_combs_are_cut_right() -> None:
    """Hollow polygons whose corners are in one line, to rounding, turned anyhow: 19 of 1000 had a triangle
    that folds back, since a cut went through other corners."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        x = np.arange(2 * rng.integers(3, 7))[::-1]
        teeth = np.column_stack([x, 1 + x % 2 * rng.uniform(0.3, 2.0, len(x)), 0 * x])
        corners = np.vstack([(0, 0, 0), (x[0], 0, 0), teeth]) @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
        corners = np.roll(corners, rng.integers(len(corners)), axis=0)
        points, triangles = cut(corners, np.arange(len(corners)), np.array([len(corners)]))
        whole = np.cross(corners - corners[0], np.roll(corners, -1, axis=0) - corners[0]).sum(axis=0)
        a, b, c = points[triangles.T]
        shares = np.cross(b - a, c - a) @ whole / (whole @ whole)
        assert shares.min() > -1e-12 and shares.sum() == pytest.approx(1, abs=1e-12)  # rounding
