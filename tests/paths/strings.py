"""Strings pulled tight by a general optimizer, an independent way to the lengths of paths: points along a
string, each outside of the surfaces, whose energy is least.

    minimize  n sum |x_i+1 - x_i|^2    with    g_k(x_i) >= 0                                              (1)

has its points at equal distances on the shortest way nearby; its length is off by O(1/n^2), where
Richardson's extrapolation from n and 2 n comes to some 1e-9 of it. Paths that a quadrant keeps on the longer
side are no minima, and slip off here.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

import condyle as cd
from condyle.paths import Cylinder, Ellipsoid, Sphere, Wrap

TOUCH = 1e-6
BARRIER = 1e-8
"""IPOPT's first one: its own, 0.1, throws a string off two surfaces, to another side of one of them."""
ROUNDING = "Search_Direction_Becomes_Too_Small"
"""What IPOPT says where rounding lets it come no nearer."""


def outside(wrap: Wrap, x: Any, pose: Any) -> Any:
    """g: above zero outside of a surface, in the square of its size; x (n, 3) in ground."""
    R, p = pose @ wrap.X_BS
    o = np.tile(p, (x.shape[0], 1))
    local = (x - o if isinstance(x, np.ndarray) else x - ca.DM(o)) @ R
    radii = {
        Cylinder: lambda s: (s.radius, s.radius, np.inf),
        Sphere: lambda s: (s.radius,) * 3,
        Ellipsoid: lambda s: tuple(s.radii),
    }[type(wrap.surface)](wrap.surface)
    return sum((local[:, i] / r) ** 2 for i, r in enumerate(radii) if np.isfinite(r)) - 1


def tight(start: np.ndarray, surfaces: list[tuple[Wrap, Any]], count: int) -> float:
    """Length of a string along a polygon (m, 3) that is pulled tight outside of surfaces with their poses."""
    steps = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(start, axis=0), axis=1))])
    at = np.linspace(0, steps[-1], count + 1)
    first = np.stack([np.interp(at, steps, start[:, i]) for i in range(3)], axis=1)
    x = ca.MX.sym("x", count - 1, 3)
    whole = ca.vertcat(ca.DM(start[0]).T, x, ca.DM(start[-1]).T)
    d = whole[1:, :] - whole[:-1, :]
    g = ca.vertcat(*(outside(w, x, X) for w, X in surfaces))
    energy = count * ca.sumsqr(d) / steps[-1] ** 2  # (1)
    solver = ca.nlpsol(
        "string",
        "ipopt",
        {"x": ca.vec(x), "f": energy, "g": g},
        {
            "print_time": False,
            "ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-10, "max_iter": 500, "mu_init": BARRIER},
        },
    )
    found = solver(x0=first[1:-1].T.ravel(), lbg=0)
    if not solver.stats()["success"] and solver.stats()["return_status"] != ROUNDING:
        raise RuntimeError(solver.stats()["return_status"])
    points = np.concatenate([start[:1], np.array(found["x"]).reshape(3, -1).T, start[-1:]])
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def length(system: cd.System, name: str, q: np.ndarray, count: int = 400) -> float:
    """Length of a path at a pose by strings; between points that are its corners, one string each."""
    path, polygon = system.force(name).path, system.path_points(q)[name]
    polygon = polygon[np.concatenate([[True], np.linalg.norm(np.diff(polygon, axis=0), axis=1) > 1e-12])]
    poses = {w: system.body_pose(q, w.body) for w in path.wraps}
    touched = {w: np.abs(outside(w, polygon, poses[w])) < TOUCH for w in path.wraps}
    touched = {w: on for w, on in touched.items() if on.sum() > 5}
    on = np.any(list(touched.values()), axis=0) if touched else np.zeros(len(polygon), dtype=bool)
    corners = [0, *(np.flatnonzero(~on[1:-1]) + 1), len(polygon) - 1]
    total = 0.0
    for a, b in pairwise(corners):
        part = polygon[a : b + 1]
        here = [(w, poses[w]) for w in touched if touched[w][a : b + 1].sum() > 5]
        if not here:
            total += float(np.linalg.norm(part[-1] - part[0]))
            continue
        coarse, fine = (tight(part, here, n) for n in (count, 2 * count))
        total += fine + (fine - coarse) / 3
    return total
