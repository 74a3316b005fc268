"""Contacts as they are drawn: patches, arrows of their forces, and pressures on meshes."""

from __future__ import annotations

from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.constraints.unilateral import RigidContact
from condyle.contact.hunt_crossley import ContactLaw
from condyle.records import dataclass
from condyle.table import Table
from condyle.viewer.drawn_elements import body_numbers
from condyle.viewer.layer import Layer, contacts_of
from condyle.viewer.marks import Arrows


@dataclass(frozen=True, eq=False)
class Patch:
    """The contact area of two surfaces over time: an ellipse.

    Attributes:
        name: of the contact.
        points: its middle in ground [m], shape (m, 3).
        axes: its two half axes in ground [m], shape (m, 2, 3); zero without contact.
    """

    name: str
    points: Array
    axes: Array

    @property
    def numbers(self) -> Array:
        """Middle and half axes, shape (m, 9)."""
        return np.concatenate([self.points, self.axes.reshape(-1, 6)], axis=1)


def touching(layer: Layer, R: Array) -> tuple[list[Patch], list[Arrows], Table | None]:
    """Patches of all contacts; if speeds are known, arrows of their forces; and columns.

    An arrow is the force on the moving body if the other one is ground, else that on b.

        Args:
            layer: the states.
            R: orientations of ground and all bodies in ground, shape (m, B, 3, 3).
    """
    system, batch = layer.system, layer.batch
    own = contacts_of(system)
    if not own:
        return [], [], None
    P, n, axes, x = (batch.kernel(f"contacts.{what}") for what in ("points", "normals", "patches", "depths"))
    f = batch.kernel("contacts.forces") if layer.known and not batch.unknown else None
    patches, arrows = [], []
    columns: dict[str, tuple[str, Array]] = {}
    number = body_numbers(system)
    for k, (name, law) in enumerate(own.items()):
        one = None if isinstance(law, RigidContact) else _major(law, R, number, n[:, k])
        a, b = axes[:, k, 0], axes[:, k, 1]
        if one is None:  # the direction of the long axis is unknown: a circle of the same area
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
    opens least. None if the curvature of a surface is unknown."""
    total = np.zeros((len(n), 3, 3))
    for surface, sign in zip(law.surfaces(), (1, -1), strict=True):
        turned = R[:, number[surface.body]] @ surface.X_BS.R
        own = surface.curvature_at(sign * np.einsum("tji,tj->ti", turned, n))
        if own is None:
            return None
        total += turned @ own @ turned.transpose(0, 2, 1)
    one = across(n)
    two = np.cross(n, one)
    K = np.einsum("tia,tij,tjb->tab", np.stack([one, two], -1), total, np.stack([one, two], -1))
    turn = 0.5 * np.arctan2(-2 * K[:, 0, 1], K[:, 1, 1] - K[:, 0, 0])  # where the curvature is least
    out: Array = np.cos(turn)[:, None] * one + np.sin(turn)[:, None] * two
    return out


# ---- pressure on the triangles of meshes that touch, over time ----------------------------------------------


@dataclass(frozen=True, eq=False)
class Pressure:
    """The triangles of one mesh that a contact ever loads.

    Attributes:
        name: of the contact and the body.
        contact: its name.
        body: number of the body, ground is 0.
        corners: of the triangles, on the body [m], shape (n, 3, 3).
        values: [Pa], shape (m, n).
    """

    name: str
    contact: str
    body: int
    corners: Array
    values: Array


def pressures(layer: Layer) -> list[Pressure]:
    """Pressures of all elastic foundations, if speeds are known: the damping of a layer needs them."""
    if not layer.known:
        return []
    system: Any = layer.system  # takes the states' times and parameters too
    batch = layer.batch
    number = body_numbers(system)
    out = []
    for name, law in contacts_of(system).items():
        for side in getattr(law, "sides", ()):
            mesh = side.mesh
            p = system.contacts.pressures(batch.array("q"), batch.array("u"), name, mesh.body, state=batch)
            loaded = np.flatnonzero((p > 0).any(axis=0))
            if len(loaded):
                X, triangles = mesh.X_BS, mesh.triangles
                corners = triangles.vertices[triangles.faces[loaded]] @ X.R.T + X.p
                out.append(Pressure(f"{name}: {mesh.body}", name, number[mesh.body], corners, p[:, loaded]))
    return out


def usual(found: list[Pressure]) -> float:
    """The greatest of all frames [Pa]; for a short blow, a quarter above the level that most frames do not
    exceed; 0 without load."""
    peaks = np.concatenate([np.nanmax(p.values, axis=1, initial=0.0) for p in found] or [np.zeros(0)])
    peaks = peaks[peaks > 0]
    return float(min(peaks.max(), 1.25 * np.quantile(peaks, 0.9))) if len(peaks) else 0.0
