"""Shapes of a few numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.records import assign, dataclass
from condyle.shapes.base import Shape, points, positive

AROUND = 32
"""Corners of the polygon that stands for a circle where a round shape becomes triangles."""
BENDS, SIDES = 4, 8
"""Pieces of a tube between two of its points, and corners around it."""


@dataclass(frozen=True, repr=False)
class Sphere(Shape):
    """A sphere to draw, about the origin of S. (`cd.contact.Sphere` touches other surfaces, `cd.paths.Sphere` is
    what paths wrap over.)

    Args:
        radius: [m].
    """

    radius: float

    def surface(self) -> tuple[Array, np.ndarray]:
        return _revolved(*_arc(self.radius, 0.0))

    def scaled(self, factors: Array) -> Shape:
        equal = (factors == factors[0]).all()
        return Sphere(self.radius * factors[0]) if equal else Ellipsoid(self.radius * factors)  # type: ignore[arg-type]


@dataclass(frozen=True, repr=False)
class Ellipsoid(Shape):
    """An ellipsoid to draw, about the origin of S, its axes those of S. (`cd.Ellipsoid` is a joint,
    `cd.contact.Ellipsoid` touches, `cd.paths.Ellipsoid` is what paths wrap over.)

    Args:
        radii: half its lengths along x, y, z [m], shape (3,).
    """

    radii: tuple[float, float, float]

    def surface(self) -> tuple[Array, np.ndarray]:
        vertices, triangles = _revolved(*_arc(1.0, 0.0))
        return vertices * self.radii, triangles

    def scaled(self, factors: Array) -> Shape:
        return Ellipsoid(self.radii * factors)  # type: ignore[arg-type]


@dataclass(frozen=True, repr=False)
class Box(Shape):
    """A box to draw, about the origin of S, its edges along the axes of S. (`cd.contact.Box` touches other
    surfaces.)

    Args:
        half_lengths: half its lengths along x, y, z [m], shape (3,).
    """

    half_lengths: tuple[float, float, float]

    def surface(self) -> tuple[Array, np.ndarray]:
        corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
        sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        triangles = [t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))]
        return corners * self.half_lengths, np.array(triangles)

    def scaled(self, factors: Array) -> Shape:
        return Box(self.half_lengths * factors)  # type: ignore[arg-type]


@dataclass(frozen=True, repr=False)
class Cylinder(Shape):
    """A cylinder to draw, about the z axis of S, its middle in the origin, its ends flat. (`cd.Cylinder` is a
    joint, `cd.contact.Cylinder` touches, `cd.paths.Cylinder` is what paths wrap over.)

    Args:
        radius: [m].
        half_length: from its middle to an end [m].
    """

    radius: float
    half_length: float

    def surface(self) -> tuple[Array, np.ndarray]:
        r, h = self.radius, self.half_length
        return _revolved(np.array([0, r, r, 0]), np.array([-h, -h, h, h]))

    def scaled(self, factors: Array) -> Shape:
        return Cylinder(self.radius * float(np.sqrt(factors[0] * factors[1])), self.half_length * factors[2])


@dataclass(frozen=True, repr=False)
class Capsule(Shape):
    """A cylinder with round ends: all points within `radius` of a piece of the z axis of S, its middle in the
    origin.

    Args:
        radius: [m].
        half_length: of that piece, without the round ends [m].
    """

    radius: float
    half_length: float

    def surface(self) -> tuple[Array, np.ndarray]:
        return _revolved(*_arc(self.radius, self.half_length))

    def scaled(self, factors: Array) -> Shape:
        return Capsule(self.radius * float(np.sqrt(factors[0] * factors[1])), self.half_length * factors[2])


@dataclass(frozen=True, eq=False)
class Line(Shape):
    """Straight lines from point to point. It has no surface.

    Args:
        points: in S [m], shape (n, 3), two or more.
    """

    points: ArrayLike

    def __post_init__(self) -> None:
        given = points("Line", "points", self.points, (-1, 3))
        if len(given) < 2:
            raise DescriptionError(f"Line: two points or more make a line, got {len(given)}")
        assign(self, points=given)

    def scaled(self, factors: Array) -> Shape:
        given: Any = self.points
        return Line(given * factors)

    def __repr__(self) -> str:
        given: Any = self.points
        return f"shapes.Line({len(given)} points)"


@dataclass(frozen=True, eq=False)
class Tube(Shape):
    """A round tube along a smooth curve through points: the backbone of a protein, a cable, a rib.

    The curve is cubic from point to point, its direction in each that from its neighbor to the other one
    (Catmull and Rom).

    Args:
        points: in S [m], shape (n, 3), two or more, neighbors apart from each other.
        radius: [m].
    """

    points: ArrayLike
    radius: float

    def __post_init__(self) -> None:
        given = points("Tube", "points", self.points, (-1, 3))
        if len(given) < 2 or not (np.linalg.norm(np.diff(given, axis=0), axis=1) > 0).all():
            raise DescriptionError(
                f"Tube: two points or more, neighbors apart, make a tube, got {len(given)}"
            )
        assign(self, points=given, radius=positive("Tube", "radius", self.radius))

    def scaled(self, factors: Array) -> Shape:
        given: Any = self.points
        return Tube(given * factors, self.radius * float(np.cbrt(np.prod(factors))))

    def surface(self) -> tuple[Array, np.ndarray]:
        p: Any = self.points
        p = np.concatenate([[2 * p[0] - p[1]], p, [2 * p[-1] - p[-2]]])
        s = np.linspace(0, 1, BENDS, endpoint=False)[:, None, None]
        a, b, c, d = p[:-3], p[1:-2], p[2:-1], p[3:]
        x = b + s * ((c - a) / 2 + s * (a - 2.5 * b + 2 * c - d / 2 + s * ((d - a) / 2 + 1.5 * (b - c))))
        x = np.concatenate([x.transpose(1, 0, 2).reshape(-1, 3), p[-2:-1]])
        t = np.gradient(x, axis=0)
        t /= np.maximum(np.linalg.norm(t, axis=1, keepdims=True), 1e-300)
        n = np.zeros_like(x)
        n[0] = np.cross(t[0], np.eye(3)[np.argmin(np.abs(t[0]))])
        for k in range(1, len(x)):  # carried along: it does not twist
            n[k] = n[k - 1] - t[k] * (n[k - 1] @ t[k])
        n /= np.linalg.norm(n, axis=1, keepdims=True)
        turn = np.arange(SIDES) * (2 * np.pi / SIDES)
        rings = x[:, None] + self.radius * (
            np.cos(turn)[:, None] * n[:, None] + np.sin(turn)[:, None] * np.cross(t, n)[:, None]
        )
        i, j = np.arange(len(x) - 1)[:, None] * SIDES, np.arange(SIDES)
        next_ = (j + 1) % SIDES
        quad = [i + j, i + next_, i + SIDES + j, i + next_, i + SIDES + next_, i + SIDES + j]
        walls = np.stack(quad, axis=-1)
        fans, last = np.arange(1, SIDES - 1), (len(x) - 1) * SIDES
        ends = [np.stack([0 * fans, fans + 1, fans], 1), last + np.stack([0 * fans, fans, fans + 1], 1)]
        return rings.reshape(-1, 3), np.concatenate([walls.reshape(-1, 3), *ends])

    def __repr__(self) -> str:
        given: Any = self.points
        return f"shapes.Tube({len(given)} points, radius={self.radius!r})"


@dataclass(frozen=True, repr=False)
class Frame(Shape):
    """The axes of S as three arrows: x red, y green, z blue. It has no surface.

    Args:
        length: of an arrow [m].
    """

    length: float = 0.1


def _arc(radius: float, shift: float) -> tuple[Array, Array]:
    """Profile of a sphere whose halves are moved apart by `shift` each: distances from the axis, heights."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, AROUND // 2 + 1)
    lower = angle[angle <= 0]
    upper = angle[angle >= 0] if shift else angle[angle > 0]
    r = radius * np.cos(np.concatenate([lower, upper]))
    r[[0, -1]] = 0
    return r, np.concatenate([radius * np.sin(lower) - shift, radius * np.sin(upper) + shift])


def _revolved(r: Array, z: Array) -> tuple[Array, np.ndarray]:
    """Triangles of a profile that turns about z, from below to above; its first and last points lie on z."""
    phi = 2 * np.pi * np.arange(AROUND) / AROUND
    rings = np.stack(
        [
            np.outer(r[1:-1], np.cos(phi)),
            np.outer(r[1:-1], np.sin(phi)),
            np.repeat(z[1:-1, None], AROUND, axis=1),
        ],
        axis=-1,
    ).reshape(-1, 3)
    vertices = np.concatenate([rings, [[0, 0, z[0]], [0, 0, z[-1]]]])
    low, high, last = len(rings), len(rings) + 1, len(rings) - AROUND
    here = np.arange(AROUND)
    there = (here + 1) % AROUND
    start = AROUND * np.arange(len(r) - 3)[:, None]
    a, b = (start + here).ravel(), (start + there).ravel()
    triangles = [
        np.stack([np.full(AROUND, low), there, here], axis=1),
        np.stack([a, b, b + AROUND], axis=1),
        np.stack([a, b + AROUND, a + AROUND], axis=1),
        np.stack([np.full(AROUND, high), last + here, last + there], axis=1),
    ]
    return vertices, np.concatenate(triangles)
