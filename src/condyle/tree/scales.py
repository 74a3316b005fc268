"""Units of coordinates and speeds, and what counts as one unit of error (sherman2011 (6))."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from condyle.tree.body import Body

TIME_SCALE = 0.1
"""[s]: an error of 1 rad/s counts as 0.1 rad, and so for all speeds (Simbody's choice)."""


def units(bodies: Sequence[Body]) -> tuple[list[str], list[str]]:
    """Units of coordinates ("rad", "m", "1" for quaternions) and of speeds."""
    q = [unit for b in bodies for unit in b.mobilizer.units]
    u = []
    for b in bodies:
        same = b.mobilizer.speed_names == b.mobilizer.coordinate_names
        for k, name in enumerate(b.mobilizer.speed_names):
            linear = b.mobilizer.units[k] == "m" if same else name.startswith("v")
            u.append("m/s" if linear else "rad/s")
    return q, u


def length(bodies: Sequence[Body]) -> float:
    """The mean distance of frames from their bodies' origins [m], 1 where there is none."""
    lengths = np.linalg.norm([X.p for b in bodies for X in (b.X_PF, b.X_BM)] or [(0, 0, 0)], axis=1)
    return float(lengths[lengths > 0].mean()) if lengths.any() else 1.0


def weights(bodies: Sequence[Body]) -> tuple[np.ndarray, np.ndarray]:
    """Weights of errors in q (nq,) and u (nu,) that make them shares of a unit: radians as they are, quaternions twice, lengths
    by the system's length, speeds by 0.1 s."""
    q, u = units(bodies)
    L = length(bodies)
    unit = {"rad": 1.0, "1": 2.0, "m": 1 / L, "rad/s": TIME_SCALE, "m/s": TIME_SCALE / L}
    return np.array([unit.get(name, 1.0) for name in q]), np.array([unit[name] for name in u])
