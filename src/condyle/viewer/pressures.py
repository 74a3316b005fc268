"""Pressure on the triangles of meshes that touch, over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.records import dataclass
from condyle.viewer.contacts import frame, laws
from condyle.viewer.layer import Layer


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
    """Of all elastic foundations, where speeds are known: a layer's damping reads them."""
    if not layer.known:
        return []
    system: Any = layer.system  # takes the states' times and parameters too
    batch = layer.batch
    number = {"ground": 0, **{b.name: b.index + 1 for b in system.bodies}}
    out = []
    for name, law in laws(system).items():
        for side in getattr(law, "sides", ()):
            mesh = side.mesh
            p = system.contact_pressures(batch.array("q"), batch.array("u"), name, mesh.body, state=batch)
            loaded = np.flatnonzero((p > 0).any(axis=0))
            if len(loaded):
                X, triangles = frame(mesh), mesh.triangles
                corners = triangles.vertices[triangles.faces[loaded]] @ X.R.T + X.p
                out.append(Pressure(f"{name}: {mesh.body}", name, number[mesh.body], corners, p[:, loaded]))
    return out


def usual(found: list[Pressure]) -> float:
    """The greatest of all frames [Pa]; where that is a short blow, a quarter above what most frames do not
    exceed; 0 where nothing is loaded."""
    peaks = np.concatenate([np.nanmax(p.values, axis=1, initial=0.0) for p in found] or [np.zeros(0)])
    peaks = peaks[peaks > 0]
    return float(min(peaks.max(), 1.25 * np.quantile(peaks, 0.9))) if len(peaks) else 0.0
