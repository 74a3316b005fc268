"""Surfaces with their own frame S on the body: ellipsoid, torus, cylinder, box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from itertools import product
from typing import Annotated, Any, ClassVar

import casadi as ca
import numpy as np

import condyle.shapes as shapes
import condyle.shapes.meshes as meshes
from condyle.arrays import SX, Array, is_whole
from condyle.contact.materials import Material
from condyle.contact.surfaces import (
    ContactSurface,
    Folded,
    HalfSpace,
    Length,
    Sphere,
    SurfacePose,
    across_all,
    tangents,
)
from condyle.errors import DescriptionError
from condyle.laws.described import Frame, placed, quantity, sx
from condyle.records import dataclass
from condyle.shapes import Drawing
from condyle.spatial import Transform
from condyle.trace import Number, Numbers
from condyle.trace.parameter import numbers_at


@dataclass(frozen=True, eq=False, repr=False)
class Framed(ContactSurface):
    """A surface in a frame S on its body."""

    X: Frame

    @property
    def X_BS(self) -> Transform:
        X: Any = self.X
        R, p = (np.asarray(numbers_at(x), dtype=float) for x in X)
        return Transform(R.reshape(3, 3), p.reshape(3))

    def frame(self, pose: SurfacePose) -> tuple[SX, SX]:
        """R_GS and the origin of S in ground [m]."""
        R, p = placed(self.X)
        return pose.R @ R, pose.point(p)


@dataclass(frozen=True, eq=False, repr=False)
class Ellipsoid(Framed):
    """An ellipsoid on a body that touches other surfaces. (`cd.Ellipsoid` is a joint, `cd.paths.Ellipsoid` a
    wrap surface, `cd.shapes.Ellipsoid` is only drawn.)

    Args:
        body: whose it is, or its name.
        X: frame S of its axes on the body: a Transform, a 3-vector (its center) or None.
        radii: along x, y, z of S [m], shape (3,), above 0.
        material: a Material.
        name: how groups call it.
        cliques: names; surfaces that share one ignore each other in groups.
    """

    half_widths: ClassVar = {"radii": 1.0}

    radii: Annotated[Numbers, quantity("m", 3, lowest=0.0, positive=True)]
    material: Folded

    def drawn(self, size: float) -> list[Drawing]:
        return [Drawing(shapes.Ellipsoid(np.ravel(numbers_at(self.radii))), self.X_BS)]  # type: ignore[arg-type]

    def curvature_at(self, n: Array) -> Array:
        r2 = np.ravel(numbers_at(self.radii)) ** 2
        along = np.sqrt((r2 * n**2).sum(axis=1))  # p = r^2 n / along, f = |p / r|^2 / 2
        flat = across_all(n)
        return flat @ (np.diag(1 / r2) * along[:, None, None]) @ flat


@dataclass(frozen=True, eq=False, repr=False)
class Torus(Framed):
    """A ring: all points at most `tube_radius` from a circle about z of S.

    On a half-space the lowest point of a flat ring would jump from side to side; within a tilt of `flat` (a
    sine) the point moves across the ring instead, and the ring, thicker by `flat` times its radius, stands as
    on a disc.

    Args:
        body: whose it is, or its name.
        X: frame S on the body: a Transform, a 3-vector (its center) or None.
        radius: of the circle [m], above 0.
        tube_radius: [m], above 0.
        material: a Material.
        flat: sine of the tilt below which the ring counts as flat, above 0.
        name: how groups call it.
        cliques: names; surfaces that share one ignore each other in groups.
    """

    half_widths: ClassVar = {"tube_radius": 1.0}
    other_names = ("Wheel", "Ring")

    radius: Length
    tube_radius: Length
    material: Folded
    flat: Annotated[Number, quantity("-", lowest=0.0, positive=True)] = field(default=1e-3, kw_only=True)

    def drawn(self, size: float) -> list[Drawing]:
        return [Drawing(meshes.torus(numbers_at(self.radius), numbers_at(self.tube_radius)), self.X_BS)]

    def curvature_at(self, n: Array) -> Array:
        ring, size = _around_z(n)
        r = numbers_at(self.tube_radius)
        around = (size / (numbers_at(self.radius) + r * size))[:, None, None]
        return (across_all(n) - ring) / r + around * ring

    def curvature(self, u: SX, cos: SX) -> SX:
        """Curvature tensor [1/m] in S where the normal is u, which has the cosine with the plane of the
        circle. Its axes are any two across u that are smooth where the ring is flat: principal directions are
        not needed."""
        r, (one, other) = sx(self.tube_radius), tangents(u)
        return one @ one.T / r + cos / (sx(self.radius) + r * cos) * other @ other.T


@dataclass(frozen=True, eq=False, repr=False)
class Cylinder(Framed):
    """A round cylinder on a body, about z of S, that touches other surfaces. (`cd.Cylinder` is a joint,
    `cd.paths.Cylinder` a wrap surface, `cd.shapes.Cylinder` is only drawn.)

    On half-spaces, ellipsoids and other cylinders its side and its ends are a little crowned, as rollers are:
    straight lines and flat ends touch as long or large ellipses. Spheres touch the true side and ends, and
    rounded edges that are as stiff as the ends. A rigid one stands and lies on half-spaces with its two rims,
    rings of radius `rim`.

    Args:
        body: whose it is, or its name.
        X: frame S on the body: a Transform, a 3-vector (its center) or None.
        radius: [m], above 0.
        length: [m], above 0.
        material: a Material.
        rim: radius of the rounded edges [m], above 0 and below the radius and half the length.
        flat: the crown: its side bends with the radius length / (2 flat), its ends with radius / flat; at
            their rims they are lower by half the length, or the radius, times flat. Above 0, below the ratio
            of radius and half the length and its inverse.
        name: how groups call it.
        cliques: names; surfaces that share one ignore each other in groups.
    """

    half_widths: ClassVar = {"radius": 1.0, "length": 0.5}
    call_hints: ClassVar = {
        "height": "it is length=",
        "half_length": "it is length=, the whole",
        "axis": "it is z of the frame X",
        "center": "it is X=, a place or a frame",
    }

    radius: Length
    length: Length
    material: Folded
    rim: Length = field(default=1e-3, kw_only=True)
    flat: Annotated[Number, quantity("-", lowest=0.0, positive=True)] = field(default=1e-3, kw_only=True)

    def drawn(self, size: float) -> list[Drawing]:
        shape = shapes.Cylinder(numbers_at(self.radius), numbers_at(self.length) / 2)
        return [Drawing(shape, self.X_BS)]

    def curvature_at(self, n: Array) -> Array:
        return _around_z(n)[0] / numbers_at(self.radius)

    def conditions(self) -> SX:
        sides = ca.vertcat(sx(self.radius), sx(self.length) / 2) - sx(self.rim)
        least, most = ca.mmin(sides), ca.mmax(sides)
        return ca.vertcat(super().conditions(), least > 0, sx(self.flat) * most < least)

    def check_values(self, values: Mapping[str, float]) -> None:
        rim, flat, radius, length = (
            numbers_at(x, values) for x in (self.rim, self.flat, self.radius, self.length)
        )
        half = length / 2
        if not rim < min(radius, half):
            raise DescriptionError(f"Cylinder: rim: must be below {min(radius, half):g} m, got {rim:g}")
        most = (min(radius, half) - rim) / (max(radius, half) - rim)
        if not flat < most:
            raise DescriptionError(
                f"Cylinder: flat: must be below {most:g}, the ratio of "
                f"radius and half the length without rims, got {flat:g}"
            )

    def pieces(self, other: ContactSurface) -> dict[str, ContactSurface]:
        if not isinstance(other, HalfSpace) or isinstance(self.made_of, Material):
            return {}
        R, p = placed(self.X)
        out: dict[str, ContactSurface] = {}
        for end, sign in (("low", -1), ("high", 1)):
            at = p + R @ ca.vertcat(0, 0, sign * (sx(self.length) / 2 - sx(self.rim)))
            radius: Any = sx(self.radius) - sx(self.rim)
            out[end] = Torus(
                self.body, Transform(R, at), radius, self.rim, self.made_of, name=end, cliques=self.cliques
            )
        return out


@dataclass(frozen=True, eq=False, repr=False)
class Slice(Framed):
    """A piece of a roller, about z of S: a circle, and its share of the line."""

    half_widths: ClassVar = {"radius": 1.0}

    radius: Length
    width: Length
    material: Folded


@dataclass(frozen=True, eq=False, repr=False)
class Roller(Framed):
    """A round cylinder about z of S whose side touches half-spaces and other rollers along a line, with the
    force of Johnson's line contact, and moments where it is tilted: the slices are independent. Its ends do
    not touch: use a `Cylinder` to stand on ends or to touch other surfaces. Rollers touch each other while
    their axes are nearly parallel.

    Args:
        body: whose it is, or its name.
        X: frame S on the body: a Transform, a 3-vector (its center) or None.
        radius: [m], above 0.
        length: [m], above 0.
        material: a Material.
        slices: number of points along the line, at Gauss's places, at least 1. Two or more resist tilting;
            8 are right to 1e-12 where all of the line touches.
        name: how groups call it.
        cliques: names; surfaces that share one ignore each other in groups.
    """

    half_widths: ClassVar = {"radius": 1.0, "length": 0.5}
    call_hints: ClassVar = Cylinder.call_hints
    other_names = ("Wheel", "LineContact")

    radius: Length
    length: Length
    material: Folded
    slices: int = field(default=8, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_whole(self.slices, 1):
            raise DescriptionError(f"Roller: slices must be a whole number, at least 1, got {self.slices!r}")

    def drawn(self, size: float) -> list[Drawing]:
        shape = shapes.Cylinder(numbers_at(self.radius), numbers_at(self.length) / 2)
        return [Drawing(shape, self.X_BS)]

    def curvature_at(self, n: Array) -> Array:
        return _around_z(n)[0] / numbers_at(self.radius)

    def pieces(self, other: ContactSurface) -> dict[str, ContactSurface]:
        if not isinstance(other, (HalfSpace, Roller)) or not isinstance(self.made_of, Material):
            return {}
        R, p = placed(self.X)
        places, weights = np.polynomial.legendre.leggauss(self.slices)
        out: dict[str, ContactSurface] = {}
        for k, (z, w) in enumerate(zip(places.tolist(), weights.tolist(), strict=True)):
            at, label = p + R @ ca.vertcat(0, 0, z * sx(self.length) / 2), f"slice{k}"
            X, width = Transform(R, at), w * self.length / 2
            out[label] = Slice(
                self.body, X, self.radius, width, self.made_of, name=label, cliques=self.cliques
            )
        return out


@dataclass(frozen=True, eq=False, repr=False)
class Box(Framed):
    """A box on a body that touches other surfaces, with rounded edges. (`cd.shapes.Box` is only drawn.)
    Against half-spaces, height fields and other boxes it is small spheres at its
    corners: edges of two boxes pass through each other, and a hill between the corners has no effect. Spheres
    touch its true faces, and rounded edges that are as stiff as the faces. Ellipsoids, cylinders, tori and
    implicit surfaces do not touch it: use a cd.contact.Mesh for one of them.

    Args:
        body: whose it is, or its name.
        X: frame S of its axes on the body: a Transform, a 3-vector (its center) or None.
        half_lengths: along x, y, z of S [m], shape (3,), above 0.
        material: a Material.
        edge: radius of edges and corners [m], above 0 and below the half-lengths.
        name: how groups call it.
        cliques: names; surfaces that share one ignore each other in groups.
    """

    other_names = ("Cube", "Cuboid")
    call_hints: ClassVar = dict.fromkeys(
        ("dimensions", "lengths", "size", "sizes"), "it is half_lengths=, half of each"
    )

    met_by_corners: ClassVar[bool] = True
    half_widths: ClassVar = {"half_lengths": 1.0}

    half_lengths: Annotated[Numbers, quantity("m", 3, lowest=0.0, positive=True)]
    material: Folded
    edge: Length = field(default=1e-3, kw_only=True)

    def drawn(self, size: float) -> list[Drawing]:
        return [Drawing(shapes.Box(np.ravel(numbers_at(self.half_lengths))), self.X_BS)]  # type: ignore[arg-type]

    def conditions(self) -> SX:
        return ca.vertcat(super().conditions(), sx(self.edge) < ca.mmin(sx(self.half_lengths)))

    def check_values(self, values: Mapping[str, float]) -> None:
        edge, least = numbers_at(self.edge, values), np.min(numbers_at(self.half_lengths, values))
        if not edge < least:
            raise DescriptionError(f"Box: edge: must be below {least:g} m, got {edge:g}")

    def pieces(self, other: ContactSurface) -> dict[str, ContactSurface]:
        if not other.met_by_corners:
            return {}
        R, p = placed(self.X)
        core = sx(self.half_lengths) - sx(self.edge)
        out: dict[str, ContactSurface] = {}
        for k, signs in enumerate(product((-1, 1), repeat=3)):
            at = p + R @ (ca.SX(signs) * core)
            out[f"corner{k}"] = Sphere(
                self.body, at, self.edge, self.made_of, name=f"corner{k}", cliques=self.cliques
            )
        return out


def _around_z(n: Array) -> tuple[Array, Array]:
    """e e' of the unit vectors e around z, perpendicular to unit vectors n (m, 3), and the sines
    of the angles between n and z."""
    e = np.stack([-n[:, 1], n[:, 0], 0 * n[:, 0]], axis=1)
    sine = np.linalg.norm(e, axis=1)
    e = e / np.maximum(sine, 1e-12)[:, None]
    return e[:, :, None] * e[:, None, :], sine
