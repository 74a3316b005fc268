"""Surfaces on bodies that may touch each other, each with its body first and its material last; and `Touch`,
where two of them are closest: docs/theory/contact.md (5)-(8).

    n      unit normal from a to b, in ground
    Q      the point of a's surface that is deepest in b; b's is Q - x n                                  (5)
    x      depth, above zero where they touch; its rate is n . (v_a - v_b) at any point of this line      (6)
    kappa_1, kappa_2   principal curvatures of the gap: those of the sum of both surfaces' tensors        (7)
    P = Q - s_1 x n    the contact point                                                                  (8)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Protocol

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

import condyle.shapes as shapes
from condyle.arrays import SX, Array, real
from condyle.contact.materials import Material, Rigid
from condyle.errors import DescriptionError
from condyle.laws.described import BodyName, Described, Role, Station, quantity, sx
from condyle.laws.view import View
from condyle.records import assign, dataclass
from condyle.shapes import Drawing, Mesh
from condyle.spatial import Transform
from condyle.spatial.rotations import frame_along
from condyle.trace import Number, Numbers
from condyle.trace.parameter import Expression, numbers_at
from condyle.trace.symbol import is_symbolic
from condyle.tree.body import Body

Length = Annotated[Number, quantity("m", lowest=0.0, positive=True)]
Folded = Annotated[Material | Rigid, Role(kind="folded")]
SLAB = 0.01
"""Thickness of a plane as it is drawn, over its size."""


class SurfacePose(Protocol):
    """The pose of a body, as surfaces need it: results in ground."""

    @property
    def R(self) -> SX:
        """R_GB."""

    def point(self, p: Any) -> SX:
        """Position of a station [m]."""


class BodyPose:
    """The pose of a body in a view."""

    def __init__(self, s: View, body: str) -> None:
        self.s, self.body = s, body

    @property
    def R(self) -> SX:
        return self.s.rotation(self.body)

    def point(self, p: Any) -> SX:
        return self.s.station_position(self.body, p)


@dataclass(frozen=True)
class GivenPose:
    """A pose from its parts."""

    R: ca.SX
    p: ca.SX

    def point(self, p: Any) -> SX:
        return self.p + self.R @ ca.SX(p)


@dataclass(frozen=True, eq=False, repr=False)
class ContactSurface(Described):
    """A surface of a body.

    Attributes:
        name: its name in groups; may be empty.
        cliques: surfaces that have one in common ignore each other in groups.
        by_points: whether it touches others by its own points, like meshes.
        met_by_corners: whether boxes touch it with their corners.
        half_widths: fields with its size, with the factor to a radius of each.
    """

    room = "contact."
    by_points: ClassVar[bool] = False
    met_by_corners: ClassVar[bool] = False
    half_widths: ClassVar[Mapping[str, float]] = {}

    body: BodyName
    name: str = field(default="", kw_only=True)
    cliques: tuple[str, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        what, material = type(self).__name__, self.made_of
        if not isinstance(material, Material | Rigid):
            raise DescriptionError(
                f"{what}: material: expected a cd.contact.Material, or a cd.contact.Rigid "
                f"for a rigid surface, got {material!r}"
            )
        if not isinstance(self.name, str):
            raise DescriptionError(f"{what}: name: expected text, got {self.name!r}")
        given: Any = self.cliques
        kept = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
        if not all(isinstance(clique, str) for clique in kept):
            raise DescriptionError(f"{what}: cliques: expected names, got {given!r}")
        assign(self, cliques=kept)

    @property
    def made_of(self) -> Material | Rigid:
        """Its material."""
        own: Any = self
        return own.material

    @property
    def form(self) -> Hashable:
        """Determines the form of its equations: laws whose surfaces differ in it are in different tables."""
        return type(self).__name__

    @property
    def X_BS(self) -> Transform:
        """Its frame S on the body, as it is drawn: with Parameters at their defaults."""
        raise TypeError(f"{type(self).__name__} needs a property X_BS, its frame on the body")

    def drawn(self, size: float) -> Sequence[Drawing]:
        """Shapes that a viewer draws on its body: none by default.

        Args:
            size: of the scene [m], for surfaces without a size.
        """
        return ()

    def curvature_at(self, n: Array) -> Array | None:
        """Curvature tensors in S [1/m], shape (m, 3, 3), where the normals out of it are n, shape (m, 3);
        None if unknown. A viewer uses them to draw contact patches."""
        return None

    @property
    def smallest_radius(self) -> float:
        """The smallest radius or half-length [m], with Parameters at their defaults; infinite of half-spaces
        and height fields."""
        sizes = (share * np.min(numbers_at(getattr(self, f))) for f, share in self.half_widths.items())
        return float(min(sizes, default=np.inf))

    def pieces(self, other: ContactSurface) -> dict[str, ContactSurface]:
        """Simpler surfaces by name that touch the other in its place; none where it touches it itself."""
        return {}

    @property
    def original(self) -> ContactSurface:
        """What it is a piece of; itself where it is none."""
        found: ContactSurface = self.__dict__.get("_original", self)
        return found

    def __getstate__(self) -> dict[str, Any]:
        kept = {"_original": self.original} if self.original is not self else {}
        return super().__getstate__() | kept

    def as_piece(self, original: ContactSurface) -> ContactSurface:
        """Itself, as a piece of another."""
        self.__dict__["_original"] = original
        return self


def plain_numbers(value: Any, what: str, instead: str) -> Array:
    """An array of numbers that are the same in all states; `instead` is a hint at what may be a Parameter."""
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths: `real` raises an error
        return real(what, value)
    if array.dtype == object and any(map(is_symbolic, array.ravel())):
        raise DescriptionError(f"{what}: expected plain numbers, got Parameters: {instead}")
    return real(what, value)


def directed(direction: Any, what: str, parameters: Mapping[str, float]) -> Any:
    """A kept direction, of unit length where it is plain; checked at values of parameters."""
    values = np.ravel(numbers_at(direction, parameters))
    if not values.any():
        raise DescriptionError(f"{what}: expected a direction, got the zero vector {tuple(values.tolist())}")
    if isinstance(direction, Expression):
        return direction
    size = np.abs(values).max()
    if not 1e-100 < size < 1e100:  # squares would vanish or overflow
        values = values / size
    return tuple((values / np.linalg.norm(values)).tolist())


@dataclass(frozen=True, eq=False, repr=False)
class HalfSpace(ContactSurface):
    """All points below a plane: normal . p <= height.

    Args:
        body: whose it is, or its name; "ground" for a floor.
        normal: out of the material, in the body's frame, shape (3,); its length does not matter.
        height: distance of the plane from the body's origin, along the normal [m].
        material: a Material.
        name: its name in groups.
        cliques: names; surfaces that share one ignore each other in groups.
    """

    other_names = ("Plane", "Floor", "ContactHalfSpace", "Ground", "Wall")

    met_by_corners: ClassVar[bool] = True

    normal: Annotated[Numbers, quantity("-", 3)]
    height: Annotated[Number, quantity("m")]
    material: Folded

    def check_values(self, values: Mapping[str, float]) -> None:
        assign(self, normal=directed(self.normal, "HalfSpace: normal", values))

    def conditions(self) -> SX:
        return ca.vertcat(super().conditions(), ca.sumsqr(sx(self.normal)) > 0)

    @property
    def X_BS(self) -> Transform:
        """z is its normal, the origin lies on the plane."""
        R = frame_along(np.ravel(numbers_at(self.normal)))
        return Transform(R, numbers_at(self.height) * R[:, 2])

    def drawn(self, size: float) -> list[Drawing]:
        """A slab whose upper face is the plane."""
        X = self.X_BS
        X = Transform(X.R, X.p - SLAB * size * X.R[:, 2])
        return [Drawing(shapes.Box((size, size, SLAB * size)), X, wide=True)]

    def curvature_at(self, n: Array) -> Array:
        return np.zeros((len(n), 3, 3))

    def plane(self, pose: SurfacePose) -> tuple[SX, SX]:
        """Its unit normal in ground, and the distance along it from ground's origin [m]."""
        given: Any = self.normal
        n = sx(given)
        n_G = pose.R @ (n / ca.norm_2(n) if isinstance(given, Expression) and given.parameters else n)
        return n_G, ca.dot(n_G, pose.point(ca.SX(3, 1))) + sx(self.height)


@dataclass(frozen=True, eq=False, repr=False)
class Sphere(ContactSurface):
    """A ball on a body that touches other surfaces. (`cd.paths.Sphere` is a wrap surface, `cd.shapes.Sphere`
    is only drawn.)

    Args:
        body: whose it is, or its name.
        center: in the body's frame [m], shape (3,).
        radius: [m], above 0.
        material: a Material.
        name: its name in groups.
        cliques: names; surfaces that share one ignore each other in groups.
    """

    half_widths: ClassVar = {"radius": 1.0}
    other_names = ("ContactSphere", "Ball")
    call_hints: ClassVar = {
        "diameter": "it is radius=, half of it",
        **dict.fromkeys(("location", "position", "station"), "it is center="),
    }

    center: Station
    radius: Length
    material: Folded

    @property
    def X_BS(self) -> Transform:
        return Transform(p=np.ravel(numbers_at(self.center)))

    def drawn(self, size: float) -> list[Drawing]:
        return [Drawing(shapes.Sphere(numbers_at(self.radius)), self.X_BS)]

    def curvature_at(self, n: Array) -> Array:
        return across_all(n) / numbers_at(self.radius)

    def center_at(self, pose: SurfacePose) -> SX:
        """In ground [m]."""
        return pose.point(sx(self.center))


def across_all(n: Array) -> Array:
    """1 - n n' for each of some unit vectors (m, 3)."""
    out: Array = np.eye(3) - n[:, :, None] * n[:, None, :]
    return out


def bare(kind: type, **fields: Any) -> Any:
    """A surface of stored values, without checks: they may be symbols."""
    surface: Any = object.__new__(kind)
    for name, value in fields.items():
        object.__setattr__(surface, name, value)
    return surface


def even_directions(count: int) -> Array:
    """Unit vectors all around, along a spiral from z to -z, shape (count, 3)."""
    k = np.arange(count) + 0.5
    z, turn = 1 - 2 * k / count, np.pi * (1 + 5**0.5) * k
    return np.stack([np.sqrt(1 - z**2) * np.cos(turn), np.sqrt(1 - z**2) * np.sin(turn), z], axis=1)


def tangents(n: SX) -> tuple[SX, SX]:
    """Two unit vectors across n, without a branch that is singular."""
    s = ca.if_else(n[2] < 0, -1, 1)
    k = -1 / (s + n[2])
    xy = n[0] * n[1] * k
    return (ca.vertcat(1 + s * n[0] ** 2 * k, s * xy, -s * n[0]), ca.vertcat(xy, s + n[1] ** 2 * k, -n[1]))


@dataclass(frozen=True)
class Touch:
    """See the module's text.

    Attributes:
        x: depth [m], (6).
        n: normal from a to b, in ground.
        Q: deepest point of a [m], in ground.
        R: relative radius 2 / (kappa_1 + kappa_2) [m].
        gap: curvature of the gap as a tensor [1/m]: of any three axes, shape (3, 3), then it maps n to zero,
            or of two across n, shape (2, 2); None where both principal curvatures are 1 / R by construction.
        solved: whether it comes from a solver, and is NaN if that fails.
        line: of contact along a line (line.py): C and rho of (58) and the length [m].
    """

    x: ca.SX
    n: ca.SX
    Q: ca.SX
    R: ca.SX
    gap: ca.SX | None = None
    solved: bool = False
    line: tuple[ca.SX, ca.SX, ca.SX] | None = None

    @property
    def flipped(self) -> Touch:
        """The closest points with a and b exchanged."""
        return Touch(self.x, -self.n, self.Q - self.x * self.n, self.R, self.gap, self.solved, self.line)

    def at(self, s_1: SX) -> SX:
        """P of (8) [m]."""
        return self.Q - s_1 * self.x * self.n


FLAT = 1e-9
"""Relative distance within which points count as in a plane."""


@dataclass(frozen=True, eq=False, repr=False)
class Point(ContactSurface):
    """A point, which touches rigid surfaces: a half-space, a sphere, a box, a cylinder, a torus, a
    height field.

    Args:
        body: whose it is, or its name.
        station: in the body's frame [m], shape (3,).
        material: a Rigid.
        name: its name in groups.
        cliques: names; surfaces that share one ignore each other in groups.
    """

    station: Station
    material: Folded

    radius: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.material, Rigid):
            raise DescriptionError(
                f"Point: material: expected a cd.contact.Rigid, got {self.material!r}; a "
                "compliant point would have no stiffness: use a cd.contact.Sphere"
            )

    @property
    def X_BS(self) -> Transform:
        return Transform(p=np.ravel(numbers_at(self.station)))

    def center_at(self, pose: SurfacePose) -> SX:
        """In ground [m]."""
        return pose.point(sx(self.station))


def vertices(
    body: Body | str, points: ArrayLike | str | Path | Mesh, material: Rigid, *, cliques: tuple[str, ...] = ()
) -> tuple[Point, ...]:
    """The corners of a body as a group of points, for `system.add_contact("block", floor, ...)`: with them a
    convex body touches a half-space.

    Args:
        body: their body, or its name.
        points: stations in the body's frame [m], shape (n, 3), or a mesh: its file, or a
            cd.shapes.Mesh. Points inside the convex hull are left out.
        material: a Rigid.
        cliques: names; surfaces that share one ignore each other in groups.

    Returns:
        one Point per corner, named by its place.
    """
    if isinstance(points, str | Path):
        points = Mesh(points)
    given = (
        points.surface()[0]
        if isinstance(points, Mesh)
        else plain_numbers(
            points,
            "vertices: points",
            "which of them are corners depends on their values; give each as "
            "cd.contact.Point(body, station, material)",
        )
    )
    if given.ndim == 2 and given.shape[1] == 3 and not np.isfinite(given).all():
        row = int(np.flatnonzero(~np.isfinite(given).all(axis=1))[0])
        raise DescriptionError(f"vertices: points[{row}] = {given[row].tolist()} is not finite")
    if given.ndim != 2 or given.shape[1] != 3 or not len(given):
        raise DescriptionError(
            "vertices: points: expected finite stations [m], shape (n, 3), or a "
            f"cd.shapes.Mesh, got an array of shape {given.shape}"
        )
    kept = np.unique(given, axis=0)
    kept = kept[_corners(kept)]
    return tuple(
        Point(body, tuple(p), material, name=str(k), cliques=cliques) for k, p in enumerate(kept.tolist())
    )


def _corners(points: Array) -> NDArray[np.intp]:
    """Indices of points that are corners of their hull, in space, in a plane or on a line."""
    away = points - points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(away, full_matrices=False)
    space = int((sizes > FLAT * sizes[0]).sum()) if len(sizes) else 0
    if len(points) <= space + 1:
        return np.arange(len(points))
    along = away @ axes[:space].T
    if space < 2:
        return np.unique([along.argmin(), along.argmax()])
    from scipy.spatial import ConvexHull

    found: NDArray[np.intp] = np.sort(ConvexHull(along).vertices)
    return found
