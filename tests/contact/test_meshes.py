"""Meshes as surfaces: what is checked, repaired and refused; nearest points."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle import contact
from condyle.contact.mesh import nearest_triangle, on_triangle
from condyle.contact.point_depth import numbers_of, point_depth
from condyle.contact.surfaces import GivenPose
from condyle.contact.triangles import _within
from condyle.native.calls.native_function import NativeFunction
from condyle.native.tables.lookup import look_up
from condyle.native.tables.staged import build_function
from tests.contact.meshes import box, icosphere, winding
from tests.contact.rig import STEEL, egg

HERE = ca.SX.eye(3), ca.SX(3, 1)


def mesh(given) -> contact.Mesh:
    return contact.Mesh("b", None, given, 0.01, STEEL)


def depths(surface, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x and n at points of ground, of a surface on ground, by machine code."""
    y = ca.SX.sym("y", 3)
    where = point_depth(surface)
    given = numbers_of(surface, GivenPose(*HERE), *HERE)
    x, n = where.where(given, y)
    f = NativeFunction(
        "depth",
        lambda: build_function("depth", [y], [x, n]),
        key=f"test {surface.description()}",
        inputs=[("y", 3)],
        outputs=[("x", 1), ("n", 3)],
    )
    x, n = f(points)
    return x[:, 0], n


def test_nothing_changes_in_a_good_mesh():
    v, f = icosphere(1, 0.1)
    kept = mesh((v, f)).triangles
    assert not kept.notes
    np.testing.assert_array_equal(kept.vertices, v)
    np.testing.assert_array_equal(kept.faces, f)
    assert kept.volume == pytest.approx(4 / 3 * np.pi * 1e-3, rel=0.15)


def test_corners_at_one_place_are_one():
    """As in files of .stl; no warning."""
    v, f = icosphere(1, 0.1)
    kept = mesh((v[f].reshape(-1, 3), np.arange(f.size).reshape(-1, 3))).triangles
    assert len(kept.vertices) == len(v) and not kept.notes
    np.testing.assert_array_equal(kept.corners, v[f])


def test_repairs_are_said():
    v, f = icosphere(1, 0.1)
    with pytest.warns(UserWarning, match="turned over: they faced inwards"):
        np.testing.assert_allclose(mesh((v, f[:, ::-1])).triangles.normals, mesh((v, f)).triangles.normals)
    some = f.copy()
    some[[3, 40, 41]] = some[[3, 40, 41], ::-1]
    with pytest.warns(UserWarning, match="3 faces were turned over: their neighbors face the other way"):
        np.testing.assert_allclose(mesh((v, some)).triangles.normals, mesh((v, f)).triangles.normals)
    with pytest.warns(UserWarning, match="2 duplicate faces"):
        assert len(mesh((v, np.concatenate([f, f[:2, [1, 2, 0]]]))).triangles.faces) == 80
    with pytest.warns(UserWarning, match="1 faces with two corners at one point"):
        assert len(mesh((v, np.concatenate([f, [[0, 0, 5]]]))).triangles.faces) == 80


v0, f0 = box(0.1)
REFUSED = [
    ((v0, f0[1:]), "3 edges have a face on one side only: the surface is open"),
    ((np.concatenate([v0, [[0, 0, 1.0]]]), np.concatenate([f0, [[0, 1, 8]]])), "face on one side only"),
    ((v0, np.concatenate([f0, f0[:1, ::-1]])), "back to back"),
    ((np.zeros((4, 3)), np.array([[0, 1, 2]])), "at one point"),
    ((np.concatenate([v0, [(0.1, 0.1, 0.0)]]), np.concatenate([f0[:-1], [(1, 5, 7), (7, 8, 3)]])), "edges"),
    (
        (
            [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0.5, 0, 0), (0, 0, 1)],
            [(0, 2, 1), (0, 1, 3), (0, 3, 4), (3, 1, 4), (1, 2, 4), (2, 0, 4)],
        ),
        "1 faces have no area",
    ),
    # the projective plane: two faces at every edge, and one side
    (
        (
            np.array([(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, -0.3, 0.2), (0.1, -1, 0.4), (0.3, 0.2, -1)]),
            [
                (0, 1, 2),
                (0, 2, 3),
                (0, 3, 4),
                (0, 4, 5),
                (0, 5, 1),
                (1, 2, 4),
                (2, 3, 5),
                (3, 4, 1),
                (4, 5, 2),
                (5, 1, 3),
            ],
        ),
        "has only one side",
    ),
    (
        ([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2)]),
        "has no volume",
    ),
    ("nowhere.stl", "no such file"),
    ("mesh.dxf", r"files of meshes end in"),
]


def test_parts_face_outwards_each():
    """Two balls, one of them inside out; a ball with a hollow stays as it is, the right way round or not."""
    v, f = icosphere(1, 0.1)
    both = lambda w, turn: (np.vstack([v, w]), np.vstack([f, (f[:, ::-1] if turn else f) + len(v)]))
    good = mesh(both(v + [0.5, 0, 0], False)).triangles
    assert not good.notes
    with pytest.warns(UserWarning, match="1 of several closed parts were turned over"):
        turned = mesh(both(v + [0.5, 0, 0], True)).triangles
    np.testing.assert_allclose(np.sort(turned.normals, axis=0), np.sort(good.normals, axis=0))
    assert turned.volume == pytest.approx(good.volume)
    hollow = mesh(both(0.5 * v, True)).triangles
    assert not hollow.notes and hollow.volume == pytest.approx(good.volume / 2 * 7 / 8)
    w, g = both(0.5 * v, True)
    with pytest.warns(UserWarning, match="all faces were turned over"):
        np.testing.assert_allclose(mesh((w, g[:, ::-1])).triangles.volume, hollow.volume)


@pytest.mark.parametrize(("given", "words"), REFUSED, ids=range(len(REFUSED)))
def test_refusals(given, words):
    with pytest.raises(cd.errors.DescriptionError, match=words):
        mesh(given)


def test_files_and_scales(tmp_path):
    v, f = icosphere(1, 100.0)
    path = tmp_path / "ball.obj"
    path.write_text(
        "".join(f"v {' '.join(map(repr, map(float, p)))}\n" for p in v)
        + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in f)
    )
    ball = mesh(cd.shapes.Mesh(path, scale=0.001)).triangles
    np.testing.assert_allclose(ball.vertices, icosphere(1, 0.1)[0], atol=1e-15)
    path.write_text("\n".join(path.read_text().splitlines()[:-1]))
    with pytest.raises(cd.errors.DescriptionError, match=r"ball\.obj"):
        mesh(str(path))


def test_millimeters_are_noticed():
    v, f = icosphere(1, 40.0)
    with pytest.warns(UserWarning, match="is 80 m large; are its corners in meters"):
        mesh((v, f))


def bumpy() -> tuple[np.ndarray, np.ndarray]:
    """A star with hollows."""
    v, f = icosphere(2, 0.1)
    return v * (1 + 0.4 * np.cos(5 * np.arctan2(v[:, 1], v[:, 0])) * (1 - (v[:, 2] / 0.1) ** 2))[:, None], f


def brute(corners: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Distance to each triangle by its own way: the nearest of points on the plane within, and on edges."""
    a, b, c = (corners[:, k] for k in range(3))
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1)[:, None]
    on = y - ((y - a) * n).sum(1)[:, None] * n
    inside = np.ones(len(a), dtype=bool)
    best = np.full(len(a), np.inf)
    for p, q in ((a, b), (b, c), (c, a)):
        inside &= (np.cross(q - p, on - p) * n).sum(1) >= 0
        t = np.clip(((y - p) * (q - p)).sum(1) / ((q - p) ** 2).sum(1), 0, 1)
        best = np.minimum(best, np.linalg.norm(y - p - t[:, None] * (q - p), axis=1))
    return np.where(inside, np.abs(((y - a) * n).sum(1)), best)


def test_depth_in_a_mesh_with_hollows(evidence):
    """By the tree against all triangles; the sign against solid angles."""
    star = mesh(bumpy())
    rng = np.random.default_rng(3)
    points = rng.uniform(-0.16, 0.16, (1500, 3))
    x, n = depths(star, points)
    corners = star.triangles.corners
    worst = 0.0
    for y, depth, out in zip(points, x, n, strict=True):
        worst = max(worst, abs(abs(depth) - brute(corners, y).min()))
        assert (depth > 0) == (winding(corners, y) > 0.5)
        assert brute(corners, y + depth * out).min() < 1e-15  # it leads to the surface
    assert 100 < (x > 0).sum() < 1000
    evidence("depth of points in a mesh with hollows against all triangles [m]", worst, 1e-15)
    assert worst < 1e-15
    np.testing.assert_allclose(np.linalg.norm(n, axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize(
    "surface",
    [
        contact.Ellipsoid("ground", (0.01, 0, 0), (0.1, 0.2, 0.15), STEEL),
        contact.Ellipsoid("ground", None, (0.1, 0.1, 0.01), STEEL),
        contact.Implicit("ground", None, egg, 0.2, STEEL),
        contact.Cylinder("ground", None, 0.1, 0.5, STEEL),
        contact.Box("ground", None, (0.1, 0.2, 0.15), STEEL),
    ],
    ids=["ellipsoid", "disc", "implicit", "cylinder", "box"],
)
def test_points_in_surfaces(surface):
    """Depth and normal lead to the surface, at right angles, and no other point of it is nearer."""
    rng = np.random.default_rng(4)
    points = rng.uniform(-0.12, 0.12, (400, 3))
    x, n = depths(surface, points)
    if isinstance(surface, contact.Implicit):  # 1 in 100 near its middle has no answer, said so
        lost = np.isnan(x)
        assert lost.sum() < 4 and (np.array([egg(*y) for y in points[lost]]) < -0.6).all()
        points, x, n = points[~lost], x[~lost], n[~lost]
    assert np.isfinite(x).all() and (x > 0).any() and (x < 0).any()
    S = points + x[:, None] * n
    at, out = depths(surface, S)
    assert np.abs(at).max() < 1e-9  # on the surface; solvers end at 1e-10
    shallow = x < 0.005  # deep inside there may be two ways out
    np.testing.assert_allclose(out[shallow], n[shallow], atol=1e-6)
    for y, depth in zip(points[shallow], x[shallow], strict=True):
        assert np.linalg.norm(S - y, axis=1).min() > abs(depth) - 1e-9


def test_nearest_face_of_lanes():
    """Four points at a time are one point four times; NaN finds nothing."""
    triangles = mesh(icosphere(2, 0.1)).triangles
    y = ca.SX.sym("y", 3)
    row = look_up(nearest_triangle(triangles), ca.vertcat(y, ca.inf))
    f = NativeFunction(
        "row",
        lambda: build_function("row", [y], [row[30], *on_triangle(row, y)]),
        key="test nearest",
        inputs=[("y", 3)],
        outputs=[("face", 1), ("x", 1), ("n", 3)],
    )
    points = np.random.default_rng(5).uniform(-0.2, 0.2, (9, 3))
    for together, alone in zip(f(points), zip(*(f(p) for p in points), strict=True), strict=True):
        np.testing.assert_array_equal(together, alone)
    assert np.isnan(f(np.array([0, np.nan, 0]))[1])


def test_parts_within_and_through_others():
    """A solid in a solid is left out; a hollow stays; parts that go through each other are named."""
    v, f = box(0.1)
    both = lambda w, g: (np.concatenate([v, w]), np.concatenate([f, g + len(v)]))
    with pytest.warns(UserWarning, match="1 of several closed parts were left out"):
        assert len(mesh(both(0.5 * v, f)).triangles.faces) == 12
    hollow = mesh(both(0.5 * v, f[:, ::-1])).triangles
    assert len(hollow.faces) == 24 and hollow.volume == pytest.approx(0.008 * (1 - 0.125), rel=1e-12)
    with pytest.warns(UserWarning, match=r"closed parts go through each other, near \("):
        mesh(both(v + (0.1, 0.05, 0.03), f))


def test_faces_that_fold_back_are_named():
    """A fan of a polygon with a hollow corner, as files of other programs have it: the force is too large."""
    from tests.shapes.test_mesh_files import prism

    points, polygons = prism(2)
    fan = [(p[0], p[k], p[k + 1]) for p in polygons for k in range(1, len(p) - 1)]
    with pytest.warns(UserWarning, match="folded back on their neighbors near"):
        mesh((np.array(points) / 10, fan))
    assert not mesh(icosphere(1, 0.1)).triangles.notes


def test_a_corner_far_away_is_named():
    """All others are at one point beside it."""
    with pytest.raises(
        cd.errors.DescriptionError, match="no triangle has three corners at three places, in 1e"
    ):
        mesh((np.array([(0, 0, 0), (1e-3, 0, 0), (0, 1e-3, 0), (1e20, 0, 0)]), [(0, 1, 2), (0, 2, 1)]))


def test_points_within_a_cube():
    """Seen from anywhere: inside, outside, and beside edges and corners."""
    corners, faces = box(1.0)
    points = np.random.default_rng(5).uniform(-1.6, 1.6, (200, 3))
    np.testing.assert_array_equal(_within(points, corners[faces]), (np.abs(points) < 1).all(axis=1))
