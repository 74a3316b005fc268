"""Contacts as they are drawn: surfaces that may touch, patches where they do, and arrows of their forces."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import condyle.contact as contact
import condyle.shapes as shapes
from condyle.arrays import Array
from condyle.constraints.unilateral import RigidContact
from condyle.contact.hunt_crossley import ContactLaw
from condyle.contact.surfaces import Surface
from condyle.records import dataclass
from condyle.shapes import Shape
from condyle.spatial import Transform
from condyle.system.system import System
from condyle.table import Table
from condyle.viewer.bodies import Part
from condyle.viewer.implicit import implicit_shape
from condyle.viewer.layer import Layer
from condyle.viewer.marks import Arrows
from condyle.viewer.paths import plain, torus
from condyle.viewer.rails import sheet

SURFACE, SLAB = "#9fb0bd", 0.01
"""Color of surfaces that may touch; thickness of a plane, over its size."""
LEVEL = 1 - 1e-9
"""Cosine above which a plane is level."""


@dataclass(frozen=True, eq=False)
class Patch:
    """Where two surfaces touch, over time: an ellipse.

    Attributes:
        name: of the contact.
        points: its middle in ground [m], shape (m, 3).
        axes: its two half axes in ground [m], shape (m, 2, 3); zero where nothing touches.
    """

    name: str
    points: Array
    axes: Array

    @property
    def numbers(self) -> Array:
        """Middle and half axes, shape (m, 9)."""
        return np.concatenate([self.points, self.axes.reshape(-1, 6)], axis=1)


def laws(system: System) -> dict[str, ContactLaw | RigidContact]:
    """The contacts of a system by name, rigid ones last."""
    return system.compiled.model.all_contacts


def touching(layer: Layer, R: Array) -> tuple[list[Patch], list[Arrows], Table | None]:
    """Patches of all contacts; where speeds are known, arrows of their forces; and columns to read.

    An arrow is the force on the body that moves, where the other one is ground, else that on b.

    Args:
        layer: the states.
        R: orientations of ground and all bodies in ground, shape (m, B, 3, 3).
    """
    system, batch = layer.system, layer.batch
    own = laws(system)
    if not own:
        return [], [], None
    P, n, axes, x = (batch.kernel(f"contact_{what}") for what in ("points", "normals", "patches", "depths"))
    f = batch.kernel("contact_forces") if layer.known and not batch.unknown else None
    patches, arrows = [], []
    columns: dict[str, tuple[str, Array]] = {}
    number = {"ground": 0, **{b.name: b.index + 1 for b in system.bodies}}
    for k, (name, law) in enumerate(own.items()):
        one = None if isinstance(law, RigidContact) else _major(law, R, number, n[:, k])
        a, b = axes[:, k, 0], axes[:, k, 1]
        if one is None:  # nobody says where it is long: a circle as large
            a = b = np.sqrt(a * b)
            one = across(n[:, k])
        both = np.stack([a[:, None] * one, b[:, None] * np.cross(n[:, k], one)], axis=1)
        patches.append(Patch(name, P[:, k], both))
        columns[f"{name}.depth"] = ("m", np.maximum(x[:, k], 0.0))
        if f is not None:
            sign = -1.0 if law.surfaces()[1].body == "ground" else 1.0
            arrows.append(Arrows(name, layer.t, P[:, k], sign * f[:, k], "N", kind="pushes"))
            columns[f"{name}.force"] = ("N", np.linalg.norm(f[:, k], axis=1))
    return (
        patches,
        arrows,
        Table(
            layer.t,
            list(columns),
            np.stack([v for _, v in columns.values()], axis=1),
            [unit for unit, _ in columns.values()],
        ),
    )


def across(n: Array) -> Array:
    """A unit vector across each of some unit vectors (m, 3)."""
    with np.errstate(invalid="ignore"):
        other = np.eye(3)[np.argmin(np.abs(np.nan_to_num(n)), axis=1)]
        out = np.cross(n, other)
        unit: Array = out / np.linalg.norm(out, axis=1, keepdims=True)
        return unit


def _major(law: ContactLaw, R: Array, number: dict[str, int], n: Array) -> Array | None:
    """Unit vectors along the long axis of a patch in ground, shape (m, 3): where the gap between the surfaces
    opens least. None where a surface does not say how it is curved."""
    total = np.zeros((len(n), 3, 3))
    for surface, sign in zip(law.surfaces(), (1, -1), strict=True):
        turned = R[:, number[surface.body]] @ frame(surface).R
        own = _curvature(surface, sign * np.einsum("tji,tj->ti", turned, n))
        if own is None:
            return None
        total += turned @ own @ turned.transpose(0, 2, 1)
    one = across(n)
    two = np.cross(n, one)
    K = np.einsum("tia,tij,tjb->tab", np.stack([one, two], -1), total, np.stack([one, two], -1))
    turn = 0.5 * np.arctan2(-2 * K[:, 0, 1], K[:, 1, 1] - K[:, 0, 0])  # where the curvature is least
    out: Array = np.cos(turn)[:, None] * one + np.sin(turn)[:, None] * two
    return out


def _curvature(surface: Any, n: Array) -> Array | None:
    """Curvature tensors (m, 3, 3) [1/m] in S where the normal out of the surface is n (m, 3)."""
    s, flat = surface, np.eye(3) - n[:, :, None] * n[:, None, :]
    if isinstance(s, contact.HalfSpace):
        return np.zeros((len(n), 3, 3))
    if isinstance(s, contact.Sphere):
        return flat / plain(s.radius)
    if isinstance(s, contact.Ellipsoid):
        r2 = np.ravel(plain(s.radii)) ** 2
        along = np.sqrt((r2 * n**2).sum(axis=1))  # p = r^2 n / along, f = |p / r|^2 / 2
        return flat @ (np.diag(1 / r2) * along[:, None, None]) @ flat
    round_ = np.stack([-n[:, 1], n[:, 0], 0 * n[:, 0]], axis=1)
    size = np.linalg.norm(round_, axis=1)
    round_ = round_ / np.maximum(size, 1e-12)[:, None]
    ring = round_[:, :, None] * round_[:, None, :]
    if isinstance(s, contact.Cylinder):
        return ring / plain(s.radius)
    if isinstance(s, contact.Torus):
        r = plain(s.tube_radius)
        return (flat - ring) / r + (size / (plain(s.radius) + r * size))[:, None, None] * ring
    return None


# ---- surfaces ----------------------------------------------------------------------------------------------


def frame(surface: Any) -> Transform:
    """Frame S of a surface on its body; for a half-space z along its normal, for a sphere at its center."""
    if isinstance(surface, contact.HalfSpace):
        z = np.ravel(plain(surface.normal)).astype(float)
        z /= np.linalg.norm(z)
        x = across(z[None])[0]
        return Transform(np.stack([x, np.cross(z, x), z], axis=1), plain(surface.height) * z)
    if isinstance(surface, contact.Sphere):
        return Transform(p=np.ravel(plain(surface.center)))
    if isinstance(surface, contact.Point):
        return Transform(p=np.ravel(plain(surface.station)))
    R, p = (np.asarray(plain(x), dtype=float) for x in surface.X)
    return Transform(R.reshape(3, 3), p.reshape(3))


def surfaces(layer: Layer) -> list[tuple[str, Surface]]:
    """All that may touch, each with the name of a contact, "" where only the method of a run knows them; of
    a box its corners are the box."""
    out: list[tuple[str, Surface]] = []
    for name, law in laws(layer.system).items():
        whole = [s.whole for s in law.surfaces()]
        pieces = any(s is not mine for s, mine in zip(law.surfaces(), whole, strict=True))
        out += [(name.rpartition(".")[0] if pieces else name, s) for s in whole]
    return [*out, *(("", s) for s in layer.among)]


def floor(found: Iterable[Surface], up: Array) -> float | None:
    """Height of a plane of ground that is level [m], the highest of several; None without one."""
    planes = [frame(s) for s in found if isinstance(s, contact.HalfSpace) and s.body == "ground"]
    return max((float(X.p @ up) for X in planes if X.R[:, 2] @ up > LEVEL), default=None)


def parts(layer: Layer, reach: float, up: Array) -> list[Part]:
    """Surfaces that may touch, each once; not a level floor, which the grid shows.

    Args:
        layer: whose they are.
        reach: half the size of planes [m].
        up: unit vector in ground.
    """
    number = {"ground": 0, **{b.name: b.index + 1 for b in layer.system.bodies}}
    out: list[Part] = []
    seen = set()
    for name, surface in surfaces(layer):
        X = frame(surface)
        shape = _shape(surface, reach)
        key = (surface.body, repr(shape), repr(getattr(surface, "form", "")), X.R.tobytes(), X.p.tobytes())
        if key in seen or shape is None:
            continue
        seen.add(key)
        wide = isinstance(surface, contact.HalfSpace)
        if wide and surface.body == "ground" and X.R[:, 2] @ up > LEVEL:
            continue
        if wide:  # its upper face is the plane
            X = Transform(X.R, X.p - SLAB * reach * X.R[:, 2])
        called = getattr(surface, "name", "") or (f"{name}: {surface.body}" if name else surface.body)
        out.append(
            Part(
                "contacts",
                called,
                number[surface.body],
                shape,
                X,
                SURFACE,
                wide=wide or isinstance(surface, contact.HeightField),
            )
        )
    return out


def _shape(surface: Any, reach: float) -> Shape | None:
    s = surface
    if isinstance(s, contact.HalfSpace):
        return shapes.Box((reach, reach, SLAB * reach))
    if isinstance(s, contact.Sphere):
        return shapes.Sphere(plain(s.radius))
    if isinstance(s, contact.Ellipsoid):
        return shapes.Ellipsoid(tuple(np.ravel(plain(s.radii))))
    if isinstance(s, contact.Cylinder):
        return shapes.Cylinder(plain(s.radius), plain(s.length) / 2)
    if isinstance(s, contact.Torus):
        return torus(plain(s.radius), plain(s.tube_radius))
    if isinstance(s, contact.Box):
        return shapes.Box(tuple(np.ravel(plain(s.half_lengths))))
    if isinstance(s, contact.Implicit):
        return implicit_shape(lambda p: s.law.function.map(len(p))(*p.T).full().ravel(), plain(s.size))
    if isinstance(s, contact.Mesh):
        return shapes.Mesh((s.triangles.vertices, s.triangles.faces))
    if isinstance(s, contact.HeightField):
        x, y = np.meshgrid(s.x, s.y, indexing="ij")
        return sheet(np.stack([x, y, s.heights], axis=-1).reshape(-1, 3), len(s.x), len(s.y))
    return None
