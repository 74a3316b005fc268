"""Units of coordinates and speeds, and what counts as one unit of error (sherman2011 (6))."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from condyle.arrays import Array
from condyle.tree.body import Body

TIME_SCALE = 0.1
"""[s]: an error of 1 rad/s counts as 0.1 rad, and so for all speeds (Simbody's choice)."""

_LENGTHS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3}
_ANGLES = {"rad": 1.0, "deg": math.pi / 180}


def units(bodies: Sequence[Body]) -> tuple[list[str], list[str]]:
    """Units of coordinates ("rad", "m", "1" for quaternions) and of speeds, as the mobilizers state them."""
    owners = [b for b in bodies if b.follows is None]
    return (
        [unit for b in owners for unit in b.mobilizer.units],
        [unit for b in owners for unit in b.mobilizer.speed_units],
    )


def length(bodies: Sequence[Body]) -> float:
    """The mean distance of frames from their bodies' origins [m], 1 where there is none."""
    lengths = np.linalg.norm([X.p for b in bodies for X in (b.X_PF, b.X_BM)] or [(0, 0, 0)], axis=1)
    return float(lengths[lengths > 0].mean()) if lengths.any() else 1.0


def reach(bodies: Sequence[Body]) -> float:
    """How far the system extends from its base [m]: the longest chain of frames, to the end of a body as its
    mass center and radius of gyration show it; what joints shift is left out. 0 if no length is in it."""
    ends: list[float] = []
    far = 0.0
    for b in bodies:
        m = b.mass_properties
        own = (
            float(np.linalg.norm(m.com) + np.sqrt(max(np.trace(m.inertia), 0.0) / (2 * m.mass)))
            if m.mass > 0
            else 0.0
        )
        start = 0.0 if b.parent is None or b.parent.is_ground else ends[b.parent.index]
        ends.append(start + float(np.linalg.norm(b.X_PF.p) + np.linalg.norm(b.X_BM.p)))
        far = max(far, ends[-1] + own)
    return far


def weights(bodies: Sequence[Body]) -> tuple[Array, Array]:
    """Weights of errors in q (nq,) and u (nu,) that make them shares of a unit: radians as they are,
    quaternions twice, lengths by the system's length, speeds by 0.1 s; coordinates along a spline by how far
    they move their body; other units as they are."""
    unit_length = length(bodies)
    shares = _ANGLES | {unit: size / unit_length for unit, size in _LENGTHS.items()}
    q, u = [], []
    for b in bodies:
        if b.follows is not None:
            continue
        own_q, own_u = b.mobilizer.sizes(unit_length)
        mine = [
            shares.get(unit, 1.0) if own is None else own
            for unit, own in zip(b.mobilizer.units, own_q, strict=True)
        ]
        for part in b.mobilizer.quaternions:
            mine[part] = [2.0] * (part.stop - part.start)
        q += mine
        u += [
            TIME_SCALE * (shares.get(unit.removesuffix("/s"), 1.0) if own is None else own)
            for unit, own in zip(b.mobilizer.speed_units, own_u, strict=True)
        ]
    return np.array(q), np.array(u)
