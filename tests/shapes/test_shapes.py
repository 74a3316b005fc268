"""Shapes: their triangles close and have the volume of the shape; what cannot be is refused by name."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import condyle as cd

SHAPES = [
    (cd.shapes.Sphere(0.5), 4 / 3 * np.pi * 0.5**3),
    (cd.shapes.Ellipsoid((0.1, 0.2, 0.3)), 4 / 3 * np.pi * 0.1 * 0.2 * 0.3),
    (cd.shapes.Box((0.1, 0.2, 0.3)), 8 * 0.1 * 0.2 * 0.3),
    (cd.shapes.Cylinder(0.2, 0.5), np.pi * 0.2**2 * 1.0),
    (cd.shapes.Capsule(0.2, 0.5), np.pi * 0.2**2 * 1.0 + 4 / 3 * np.pi * 0.2**3),
]


def volume(vertices: np.ndarray, triangles: np.ndarray) -> float:
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    return float(np.einsum("ni,ni->n", a, np.cross(b, c)).sum() / 6)


@pytest.mark.parametrize(("shape", "expected"), SHAPES, ids=lambda x: type(x).__name__)
def test_surfaces_close_and_face_outward(shape: cd.shapes.Shape, expected: float) -> None:
    vertices, triangles = shape.surface()
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    assert {tuple(e) for e in edges} == {tuple(e) for e in edges[:, ::-1]}  # every edge once each way
    assert len(np.unique(edges, axis=0)) == len(edges)
    # a polygon of 32 corners has 0.64 % less area than its circle, a sphere of them 1.6 % less volume
    assert volume(vertices, triangles) == pytest.approx(expected, rel=0.02)
    assert volume(vertices, triangles) <= expected * (1 + 1e-12)


def test_a_tube_follows_its_points() -> None:
    """Straight: the volume of a prism of eight sides. Bent: closed, and every point is in its middle."""
    prism = 8 / 2 * np.sin(2 * np.pi / 8) * 0.1**2
    assert volume(*cd.shapes.Tube([(0, 0, 0), (1, 2, 2)], 0.1).surface()) == pytest.approx(
        3 * prism, rel=1e-9
    )
    t = np.linspace(0, 4 * np.pi, 30)
    helix = np.stack([np.cos(t), np.sin(t), 0.2 * t], axis=1)
    vertices, triangles = cd.shapes.Tube(helix, 0.05).surface()
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    assert {tuple(e) for e in edges} == {tuple(e) for e in edges[:, ::-1]}
    middles = vertices.reshape(-1, 8, 3).mean(axis=1)
    np.testing.assert_allclose(middles[::4], helix, atol=1e-12)
    off = np.abs(np.linalg.norm(middles[:, :2], axis=1) - 1)
    assert off[4:-4].max() < 1e-3  # the pieces at the ends have one neighbor


def test_lines_and_frames_have_no_surface() -> None:
    for shape in (cd.shapes.Line([(0, 0, 0), (1, 0, 0)]), cd.shapes.Frame(0.1)):
        assert [len(x) for x in shape.surface()] == [0, 0]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: cd.shapes.Sphere(-1), "Sphere: radius must be one finite number above zero"),
        (lambda: cd.shapes.Sphere(np.nan), "Sphere: radius"),
        (lambda: cd.shapes.Sphere("1"), "Sphere: radius: expected one number"),
        (lambda: cd.shapes.Box((1, 2)), r"Box: half_lengths must have shape \(3,\), got \(2,\)"),
        (lambda: cd.shapes.Ellipsoid((1, 0, 1)), "Ellipsoid: radii must be three numbers above zero"),
        (lambda: cd.shapes.Line([(0, 0, 0)]), "two points or more"),
        (lambda: cd.shapes.Tube([(0, 0, 0), (0, 0, 0)], 0.1), "neighbors apart"),
        (lambda: cd.shapes.Tube([(0, 0, 0), (1, 0, 0)], 0.0), "radius"),
        (lambda: cd.shapes.Line([(0, 0, 0), (0, np.inf, 0)]), "not finite"),
        (lambda: cd.shapes.Frame(0), "Frame: length"),
        (lambda: cd.shapes.Mesh("bone.dae"), "end in .obj, .stl, .ply, .vtp, not in '.dae'"),
        (lambda: cd.shapes.Mesh("bone.obj", scale=0), "scale must not be zero"),
        (lambda: cd.shapes.Mesh(3), "expected a file, or vertices and triangles"),
        (lambda: cd.shapes.Mesh((np.zeros((3, 3)), [(0, 1, 3)])), "vertices 0 to 3, but there are 3"),
        (lambda: cd.shapes.Mesh((np.zeros((3, 3)), [(0, 1, 0.5)])), "whole numbers"),
    ],
)
def test_what_cannot_be_is_refused(make: object, words: str) -> None:
    with pytest.raises(cd.errors.DescriptionError, match=words):
        make()  # type: ignore[operator]


BALL = cd.shapes.Sphere(1)


def pendulum() -> cd.System:
    system = cd.System()
    system.add_body("rod", mobilizer=cd.Pin(), X_BM=(0, 0.5, 0), mass=1.0, inertia=(0.1, 0.1, 0.1))
    return system


def test_a_system_keeps_markers_and_geometry() -> None:
    system = pendulum()
    system.add_marker("tip", "rod", (0, -0.5, 0))
    system.add_geometry("rod", cd.shapes.Cylinder(0.02, 0.5), color="teal", opacity=0.5)
    udot = system.forward_dynamics(*system.defaults())  # frozen from here on
    system.add_marker("origin", system.ground, (0, 0, 0), fixed=True)
    system.add_geometry("rod", cd.shapes.Sphere(0.05), X_BS=(0, -0.5, 0), color=(1, 0, 0))
    system.add_geometry("ground", cd.shapes.Frame(), name="axes")
    for other in (system, system.copy(), pickle.loads(pickle.dumps(system))):
        assert other.markers == ("tip", "origin")
        assert other.marker("tip").station == (0.0, -0.5, 0.0)
        assert (other.marker("tip").fixed, other.marker("origin").fixed) == (False, True)
        assert other.marker("origin").body == "ground"
        assert [g.name for g in other.geometry] == ["rod", "rod 2", "axes"]
        assert [g.color for g in other.geometry] == ["#008080", "#ff0000", None]
        assert other.geometry[1].X_BS.p.tolist() == [0, -0.5, 0]
        assert np.array_equal(other.forward_dynamics(*other.defaults()), udot)
    system.copy().add_marker("third", "rod", (0, 0, 0))
    assert "third" not in system.markers
    assert "tip" in system.describe() and "Cylinder" in system.describe()


@pytest.mark.parametrize(
    ("add", "error", "words"),
    [
        (lambda s: s.add_marker("tip", "rod", (0, 0, 0)), cd.errors.DescriptionError, "'tip' exists already"),
        (lambda s: s.add_marker("", "rod", (0, 0, 0)), cd.errors.DescriptionError, "non-empty string"),
        (
            lambda s: s.add_marker("m", "rot", (0, 0, 0)),
            cd.errors.UnknownNameError,
            "'m': unknown body 'rot'.*'rod'",
        ),
        (lambda s: s.add_marker("m", "rod", (0, 0)), cd.errors.DescriptionError, "three finite numbers"),
        (
            lambda s: s.add_marker("m", "rod", (0, 0, np.nan)),
            cd.errors.DescriptionError,
            "three finite numbers",
        ),
        (lambda s: s.add_marker("m", "rod", location=(0, 0, 0)), cd.errors.ArgumentError, "it is station="),
        (lambda s: s.marker("tap"), cd.errors.UnknownNameError, "did you mean 'tip'"),
        (
            lambda s: s.add_geometry("rod", cd.shapes.Sphere),
            cd.errors.DescriptionError,
            r"write Sphere\(...\)",
        ),
        (lambda s: s.add_geometry("rod", "bone.obj"), cd.errors.DescriptionError, "cd.shapes.Mesh"),
        (lambda s: s.add_geometry("rod", BALL, color="tael"), cd.errors.DescriptionError, "color is a name"),
        (lambda s: s.add_geometry("rod", BALL, color=(0, 0, 2)), cd.errors.DescriptionError, "from 0 to"),
        (lambda s: s.add_geometry("rod", BALL, opacity=2), cd.errors.DescriptionError, "from 0 to 1"),
        (lambda s: s.add_geometry("rod", BALL, transparency=0.5), cd.errors.ArgumentError, "it is opacity="),
        (lambda s: s.add_geometry("rot", BALL), cd.errors.UnknownNameError, "'rod'"),
    ],
)
def test_mistakes_are_told(add: object, error: type[Exception], words: str) -> None:
    system = pendulum()
    system.add_marker("tip", "rod", (0, -0.5, 0))
    with pytest.raises(error, match=words):
        add(system)  # type: ignore[operator]
    assert system.markers == ("tip",) and not system.geometry
