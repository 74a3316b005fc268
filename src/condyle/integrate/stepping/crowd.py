"""Many surfaces, and which of them are near each other.

Spheres and points are found by a k-d tree of their centres (SciPy's), within the largest two radii;
half-spaces and boxes are few and are compared with all of them. Then closest points in closed form, as in
contact/pairs.py; those of two boxes are in boxes.py.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from condyle.contact.points import Point
from condyle.contact.rigid import Rigid
from condyle.contact.solids import Box, placed
from condyle.contact.surfaces import HalfSpace, Sphere, Surface
from condyle.errors import DescriptionError, UnknownNameError
from condyle.integrate.stepping import boxes
from condyle.laws.described import sx
from condyle.records import dataclass
from condyle.system.system import System

KINDS = (HalfSpace, Sphere, Point, Box)


@dataclass(frozen=True)
class Near:
    """Pairs of surfaces that are near each other, m of them.

    Attributes:
        bodies: a and b, shape (m, 2); -1 for ground.
        gap: between them [m], below zero where they overlap, shape (m,).
        n: unit normal from a to b, in ground, shape (m, 3).
        P: halfway between the closest points [m], in ground, shape (m, 3).
        pair: which surfaces, shape (m, 2): the same in every step.
        point: which of a pair's points, shape (m,), below POINTS.
    """

    bodies: np.ndarray
    gap: np.ndarray
    n: np.ndarray
    P: np.ndarray
    pair: np.ndarray
    point: np.ndarray


class Crowd:
    """Surfaces that may all touch each other.

    Args:
        system: whose bodies they are on.
        surfaces: HalfSpace, Sphere, Point or Box of cd.contact, of cd.contact.Rigid.
    """

    def __init__(self, system: System, surfaces: Iterable[Any]) -> None:
        given: list[Surface] = list(surfaces)
        index = {body.name: body.index for body in system.bodies} | {"ground": -1}
        for s in given:
            if not isinstance(s, KINDS):
                kinds = ", ".join(k.__name__ for k in KINDS)
                raise DescriptionError(f"TimeStepping: among: expected {kinds} of cd.contact, got {s!r}")
            if not isinstance(s.made_of, Rigid):
                raise DescriptionError(f"TimeStepping: among: {type(s).__name__} on {s.body!r} is made of "
                                       f"{s.made_of!r}; surfaces here need a cd.contact.Rigid")
            if s.body not in index:
                raise UnknownNameError("body", s.body, index,
                                       f"{type(s).__name__} among those of TimeStepping")
        floor = next((s for s in given if isinstance(s, HalfSpace)), None)
        blocks = [s for s in given if isinstance(s, Box)]
        corners = [c for b in blocks for c in b.pieces(floor).values()] if floor is not None else []
        round_ = [s for s in given if isinstance(s, Sphere | Point)]
        self.planes, self.boxes = [s for s in given if isinstance(s, HalfSpace)], blocks
        everyone: list[Surface] = [*round_, *corners, *self.planes, *blocks]
        names = sorted({c for s in everyone for c in s.cliques})
        self.body = np.array([index[s.body] for s in everyone], int)
        self.cliques = np.array([[c in s.cliques for c in names] for s in everyone], dtype=bool)
        self.cliques = self.cliques.reshape(len(everyone), len(names))
        self.e, self.mu = (np.array([_plain(getattr(s.made_of, f), f"{f} of Rigid") for s in everyone])
                           for f in ("restitution", "friction"))
        self.spheres, self.balls = len(round_), len(round_) + len(corners)
        balls: Sequence[Any] = [*round_, *corners]
        self.centre = np.array([_plain(b.centre if isinstance(b, Sphere) else b.station, "a centre")
                                for b in balls]).reshape(-1, 3)
        self.radius = np.array([_plain(b.radius, "a radius") for b in balls])
        self.normal = np.array([_plain(s.normal, "a normal") for s in self.planes]).reshape(-1, 3)
        self.height = np.array([_plain(s.height, "a height") for s in self.planes])
        at = [placed(b.X) for b in blocks]
        self.R_BS = np.array([np.array(ca.DM(R)) for R, _ in at]).reshape(-1, 3, 3)
        self.p_BS = np.array([np.array(ca.DM(p)).ravel() for _, p in at]).reshape(-1, 3)
        self.edge = np.array([_plain(b.edge, "an edge") for b in blocks])
        self.core = np.array([_plain(b.half_lengths, "half-lengths") for b in blocks]).reshape(-1, 3)
        self.core = self.core - self.edge[:, None]

    def near(self, R: np.ndarray, p: np.ndarray, reach: np.ndarray) -> Near:
        """Pairs whose gap is at most the sum of what both of their bodies may reach.

        Args:
            R: R_GB of all bodies and ground, the last, shape (n + 1, 3, 3).
            p: positions of their origins [m], shape (n + 1, 3).
            reach: of all bodies and ground [m], shape (n + 1,).
        """
        mine = self.body[:self.balls]
        c = p[mine] + np.einsum("mij,mj->mi", R[mine], self.centre)
        found = [self._spheres(c[:self.spheres], reach), self._planes(c, R, p, reach),
                 self._boxes(c[:self.spheres], R, p, reach)]
        point = np.zeros(sum(len(x[0]) for x in found), int)
        *more, which = self._two_boxes(R, p, reach)
        pair, gap, n, P = (np.concatenate(x) for x in zip(*found, more, strict=True))
        return Near(self.body[pair], gap, n, P, pair, np.append(point, which))

    def _kept(self, i: np.ndarray, j: np.ndarray, gap: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Which pairs count."""
        a, b = self.body[i], self.body[j]
        keep = (gap <= reach[a] + reach[b]) & (a != b)
        if self.cliques.shape[1]:
            keep &= ~(self.cliques[i] & self.cliques[j]).any(axis=1)
        return keep

    def _spheres(self, c: np.ndarray, reach: np.ndarray) -> tuple[np.ndarray, ...]:
        if len(c) < 2:
            return _none()
        from scipy.spatial import cKDTree

        r, most = self.radius[:self.spheres], float(reach.max())
        pair = cKDTree(c).query_pairs(2 * (float(r.max()) + most), output_type="ndarray")
        i, j = pair[:, 0], pair[:, 1]
        d = c[j] - c[i]
        length = np.sqrt(np.einsum("mi,mi->m", d, d))
        gap = length - r[i] - r[j]
        keep = self._kept(i, j, gap, reach)
        pair, gap, d, length = pair[keep], gap[keep], d[keep], length[keep]
        n = np.where(length[:, None] > 0, d / np.where(length > 0, length, 1.0)[:, None], (1.0, 0.0, 0.0))
        return pair, gap, n, c[pair[:, 0]] + (r[pair[:, 0]] + gap / 2)[:, None] * n

    def _planes(self, c: np.ndarray, R: np.ndarray, p: np.ndarray, reach: np.ndarray
                ) -> tuple[np.ndarray, ...]:
        if not len(self.normal) or not len(c):
            return _none()
        first = self.balls
        owner = self.body[first:first + len(self.normal)]
        n = np.einsum("mij,mj->mi", R[owner], self.normal)
        height = self.height + np.einsum("mi,mi->m", n, p[owner])
        gap = n @ c.T - height[:, None] - self.radius
        i, j = np.divmod(np.arange(gap.size), len(c))
        keep = np.flatnonzero(self._kept(first + i, j, gap.ravel(), reach))
        i, j, x = i[keep], j[keep], gap.ravel()[keep]
        return (np.stack([first + i, j], axis=1), x, n[i],
                c[j] - (self.radius[j] + x / 2)[:, None] * n[i])

    def _boxes(self, c: np.ndarray, R: np.ndarray, p: np.ndarray, reach: np.ndarray
               ) -> tuple[np.ndarray, ...]:
        """A box is all points at most `edge` from a smaller one; a centre within that one leaves by the
        nearest face: contact/pairs.py."""
        if not self.boxes or not len(c):
            return _none()
        first = self.balls + len(self.normal)
        R_GS, centre = self._placed(R, p)
        y = np.einsum("bji,bmj->bmi", R_GS, c[None] - centre[:, None])
        core = self.core[:, None]
        away = y - np.clip(y, -core, core)
        length = np.sqrt(np.einsum("bmi,bmi->bm", away, away))
        inside = core - np.abs(y)
        face = np.eye(3)[np.argmin(inside, axis=2)] * np.where(y < 0, -1.0, 1.0)
        out = length > 0
        u = np.where(out[..., None], away / np.where(out, length, 1.0)[..., None], face)
        gap = np.where(out, length, -inside.min(axis=2)) - self.edge[:, None] - self.radius[:self.spheres]
        i, j = np.divmod(np.arange(gap.size), len(c))
        keep = np.flatnonzero(self._kept(first + i, j, gap.ravel(), reach))
        i, j, x = i[keep], j[keep], gap.ravel()[keep]
        n = np.einsum("mij,mj->mi", R_GS[i], u[i, j])
        return (np.stack([first + i, j], axis=1), x, n, c[j] - (self.radius[j] + x / 2)[:, None] * n)

    def _placed(self, R: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Axes and centres of all boxes, in ground."""
        owner = self.body[self.balls + len(self.normal):]
        return R[owner] @ self.R_BS, p[owner] + np.einsum("mij,mj->mi", R[owner], self.p_BS)

    def _two_boxes(self, R: np.ndarray, p: np.ndarray, reach: np.ndarray) -> tuple[np.ndarray, ...]:
        if len(self.boxes) < 2:
            return *_none(), np.empty(0, int)
        first = self.balls + len(self.normal)
        R_GS, centre = self._placed(R, p)
        half = self.core + self.edge[:, None]
        i, j = np.triu_indices(len(centre), 1)
        round_ = np.linalg.norm(half, axis=1)                # spheres around them
        apart = np.linalg.norm(centre[j] - centre[i], axis=1) - round_[i] - round_[j]
        keep = self._kept(first + i, first + j, apart, reach)
        i, j = i[keep], j[keep]
        far = reach[self.body[first + i]] + reach[self.body[first + j]]
        pair, point, gap, n, P = boxes.touching(R_GS[i], centre[i], half[i], R_GS[j], centre[j], half[j], far)
        return np.stack([first + i[pair], first + j[pair]], axis=1), gap, n, P, point


def _none() -> tuple[np.ndarray, ...]:
    return np.empty((0, 2), int), np.empty(0), np.empty((0, 3)), np.empty((0, 3))


def _plain(value: Any, what: str) -> Any:
    """A number, or several, without Parameters."""
    x = sx(value)
    if ca.symvar(x):
        raise DescriptionError(f"TimeStepping: among: {what} is a Parameter; give plain numbers")
    out = np.array(ca.DM(ca.evalf(x))).ravel()
    return float(out[0]) if out.size == 1 else out
