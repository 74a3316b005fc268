"""Many surfaces, and which of them are near each other.

Spheres and points are found by k-d trees of their centers (SciPy's), one for each power of two of how far
they reach; half-spaces and boxes are few and are compared with all of them. Closest points are found in each
step, by closest_points.py; also those of two boxes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from condyle.contact.materials import Rigid
from condyle.contact.solids import Box, placed
from condyle.contact.surfaces import ContactSurface, HalfSpace, Point, Sphere
from condyle.errors import DescriptionError, UnknownNameError
from condyle.integrate.stepping.closest_points import NARROW, POINTS, Boxes, touching
from condyle.laws.described import sx
from condyle.records import dataclass
from condyle.system.system import System

KINDS = (HalfSpace, Sphere, Point, Box)
FEW = 128
"""Spheres and points of which all pairs are compared: for fewer a tree takes longer."""


@dataclass
class Listed:
    """Pairs of surfaces of a kind, m of them.

    Attributes:
        rows: what the kernels of closest_points.py read, shape (m, NARROW[kind]); ground is body -1.
        key: whole numbers that stay the same in every list, shape (m,).
    """

    rows: np.ndarray
    key: np.ndarray


class Crowd:
    """Surfaces that may all touch each other.

    Args:
        system: whose bodies they are on.
        surfaces: HalfSpace, Sphere, Point or Box of cd.contact, of cd.contact.Rigid.
    """

    def __init__(self, system: System, surfaces: Iterable[Any]) -> None:
        given: list[ContactSurface] = list(surfaces)
        index = {body.name: body.index for body in system.bodies} | {"ground": -1}
        for s in given:
            if not isinstance(s, KINDS):
                kinds = ", ".join(k.__name__ for k in KINDS)
                raise DescriptionError(f"TimeStepping: among: expected {kinds} of cd.contact, got {s!r}")
            if not isinstance(s.made_of, Rigid):
                raise DescriptionError(
                    f"TimeStepping: among: {type(s).__name__} on {s.body!r} is made of "
                    f"{s.made_of!r}; surfaces here need a cd.contact.Rigid"
                )
            if s.body not in index:
                raise UnknownNameError(
                    "body", s.body, index, f"{type(s).__name__} among those of TimeStepping"
                )
        floor = next((s for s in given if isinstance(s, HalfSpace)), None)
        blocks = [s for s in given if isinstance(s, Box)]
        corners = [c for b in blocks for c in b.pieces(floor).values()] if floor is not None else []
        round_ = [s for s in given if isinstance(s, Sphere | Point)]
        self.planes, self.boxes = [s for s in given if isinstance(s, HalfSpace)], blocks
        everyone: list[ContactSurface] = [*round_, *corners, *self.planes, *blocks]
        names = sorted({c for s in everyone for c in s.cliques})
        self.body = np.array([index[s.body] for s in everyone], int)
        self.cliques = np.array([[c in s.cliques for c in names] for s in everyone], dtype=bool)
        self.cliques = self.cliques.reshape(len(everyone), len(names))
        self.e, self.mu = (
            np.array([_plain(getattr(s.made_of, f), f"{f} of Rigid") for s in everyone])
            for f in ("restitution", "friction")
        )
        self.spheres, self.balls = len(round_), len(round_) + len(corners)
        balls: Sequence[Any] = [*round_, *corners]
        self.center = np.array(
            [_plain(b.center if isinstance(b, Sphere) else b.station, "a center") for b in balls]
        ).reshape(-1, 3)
        self.radius = np.array([_plain(b.radius, "a radius") for b in balls])
        self.normal = np.array([_plain(s.normal, "a normal") for s in self.planes]).reshape(-1, 3)
        self.height = np.array([_plain(s.height, "a height") for s in self.planes])
        at = [placed(b.X) for b in blocks]
        self.R_BS = np.array([np.array(ca.DM(R)) for R, _ in at]).reshape(-1, 3, 3)
        self.p_BS = np.array([np.array(ca.DM(p)).ravel() for _, p in at]).reshape(-1, 3)
        self.edge = np.array([_plain(b.edge, "an edge") for b in blocks])
        self.core = np.array([_plain(b.half_lengths, "half-lengths") for b in blocks]).reshape(-1, 3)
        self.core = self.core - self.edge[:, None]

    def near(self, R: np.ndarray, p: np.ndarray, reach: np.ndarray) -> dict[str, Listed]:
        """Pairs whose gap is at most the sum of what both of their bodies may reach, by kinds.

        Args:
            R: R_GB of all bodies and ground, the last, shape (n + 1, 3, 3).
            p: positions of their origins [m], shape (n + 1, 3).
            reach: of all bodies and ground [m], shape (n + 1,).
        """
        mine = self.body[: self.balls]
        c = p[mine] + np.einsum("mij,mj->mi", R[mine], self.center)
        pairs, planes, boxes_ = (
            self._spheres(c[: self.spheres], reach),
            self._planes(c, R, p, reach),
            self._boxes(c[: self.spheres], R, p, reach),
        )
        plane, box = planes[:, 0] - self.balls, boxes_[:, 0] - self.balls - len(self.normal)
        turned = np.swapaxes(self.R_BS, 1, 2).reshape(-1, 9)  # by columns
        zero = lambda x: np.zeros((len(x), 1))
        ball = lambda x: np.column_stack([zero(x), x[:, 1], self.radius[x[:, 1]]])
        return {
            "pairs": self._listed(pairs, pairs, self.radius[pairs]),
            "planes": self._listed(planes, ball(planes), self.normal[plane], self.height[plane]),
            "boxes": self._listed(
                boxes_, ball(boxes_), self.core[box], self.edge[box], turned[box], self.p_BS[box]
            ),
            "given": Listed(np.empty((0, NARROW["given"])), np.empty(0, int)),
        }

    def _listed(self, pair: np.ndarray, *more: np.ndarray, point: np.ndarray | int = 0) -> Listed:
        i, j = pair.T
        return Listed(
            np.column_stack(
                [self.body[pair], _mean(self.e[i], self.e[j]), _mean(self.mu[i], self.mu[j]), *more]
            ),
            (i * len(self.body) + j) * POINTS + point,
        )

    def _kept(self, i: np.ndarray, j: np.ndarray, gap: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Which pairs count."""
        a, b = self.body[i], self.body[j]
        keep = (gap <= reach[a] + reach[b]) & (a != b)
        if self.cliques.shape[1]:
            keep &= ~(self.cliques[i] & self.cliques[j]).any(axis=1)
        return keep

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, ...]:
        """All pairs of few spheres that may touch, their bodies, and the sums of their radii."""
        j, i = np.tril_indices(self.spheres, -1)
        some = self._kept(i, j, np.zeros(len(i)), np.zeros(self.body.max(initial=0) + 2))
        i, j = i[some], j[some]
        return i, j, self.body[i], self.body[j], self.radius[i] + self.radius[j]

    def _spheres(self, c: np.ndarray, reach: np.ndarray) -> np.ndarray:
        if len(c) < 2:
            return np.empty((0, 2), int)
        if len(c) <= FEW:
            i, j, a, b, radii = self._pairs
            d = c[j] - c[i]
            near = np.sqrt(np.einsum("mi,mi->m", d, d)) - radii <= reach[a] + reach[b]
            return np.column_stack([i[near], j[near]])
        from scipy.spatial import cKDTree

        # by halves of reach, each with itself and with all that reach less: one that is large or fast is not
        # what all others are searched with
        mine = self.body[: self.spheres]
        far = self.radius[: self.spheres] + reach[mine]
        level = np.floor(np.log2(np.maximum(far / max(float(far.max()), 1e-300), 1e-12))).astype(int)
        found, smaller = [], np.empty(0, int)
        for one in np.unique(level):
            some = np.flatnonzero(level == one)
            tree, most = cKDTree(c[some]), float(far[some].max())
            found.append(some[tree.query_pairs(2 * most, output_type="ndarray")])
            if len(smaller):
                near = tree.query_ball_point(c[smaller], far[smaller] + most, return_sorted=False)
                count = np.array([len(x) for x in near])
                other = np.concatenate([np.asarray(x, int) for x in near])
                found.append(np.column_stack([np.repeat(smaller, count), some[other]]))
            smaller = np.append(smaller, some)
        pair = np.sort(np.concatenate(found), axis=1)
        i, j = pair.T
        gap = np.linalg.norm(c[j] - c[i], axis=1) - self.radius[i] - self.radius[j]
        pair = pair[self._kept(i, j, gap, reach)]
        return np.asarray(pair[np.lexsort(pair.T)])

    def _planes(self, c: np.ndarray, R: np.ndarray, p: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Half-spaces of bodies that move are listed with all: they have no end."""
        if not len(self.normal) or not len(c):
            return np.empty((0, 2), int)
        owner = self.body[self.balls : self.balls + len(self.normal)]
        n = np.einsum("mij,mj->mi", R[owner], self.normal)
        height = self.height + np.einsum("mi,mi->m", n, p[owner])
        gap = np.where(owner[:, None] < 0, n @ c.T - height[:, None] - self.radius, -np.inf)
        return self._all(self.balls, gap, reach)

    def _boxes(self, c: np.ndarray, R: np.ndarray, p: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Balls near boxes; those within are nearer still."""
        if not self.boxes or not len(c):
            return np.empty((0, 2), int)
        R_GS, center = self._placed(R, p)
        y = np.einsum("bji,bmj->bmi", R_GS, c[None] - center[:, None])
        core = self.core[:, None]
        gap = (
            np.linalg.norm(y - np.clip(y, -core, core), axis=2)
            - self.edge[:, None]
            - self.radius[: self.spheres]
        )
        return self._all(self.balls + len(self.normal), gap, reach)

    def _all(self, first: int, gap: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Which surfaces from `first` on are near which balls; gaps (k, m)."""
        i, j = np.divmod(np.arange(gap.size), gap.shape[1])
        keep = self._kept(first + i, j, gap.ravel(), reach)
        return np.column_stack([first + i[keep], j[keep]])

    def _placed(self, R: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Axes and centers of all boxes, in ground."""
        owner = self.body[self.balls + len(self.normal) :]
        return R[owner] @ self.R_BS, p[owner] + np.einsum("mij,mj->mi", R[owner], self.p_BS)

    def two_boxes(self, R: np.ndarray, p: np.ndarray, reach: np.ndarray) -> Listed:
        """Contacts of boxes with boxes; arguments as of `near`."""
        first = self.balls + len(self.normal)
        boxes = Boxes(*self._placed(R, p), self.core + self.edge[:, None])
        i, j = np.triu_indices(len(boxes.c), 1)
        round_ = np.linalg.norm(boxes.half, axis=1)  # spheres around them
        apart = np.linalg.norm(boxes.c[j] - boxes.c[i], axis=1) - round_[i] - round_[j]
        keep = self._kept(first + i, first + j, apart, reach)
        i, j = i[keep], j[keep]
        far = reach[self.body[first + i]] + reach[self.body[first + j]]
        pair, point, gap, n, P = touching(boxes[i], boxes[j], far)
        return self._listed(np.column_stack([first + i[pair], first + j[pair]]), gap, n, P, point=point)


def _mean(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """docs/theory/rigid_contact.md (1)."""
    both = x + y
    return np.divide(2 * x * y, both, out=np.zeros_like(both), where=both > 0)


def _plain(value: Any, what: str) -> Any:
    """A number, or several, without Parameters."""
    if type(value) is float:
        return value
    if type(value) is tuple and all(type(x) is float for x in value):
        return np.array(value)
    x = sx(value)
    if ca.symvar(x):
        raise DescriptionError(f"TimeStepping: among: {what} is a Parameter; give plain numbers")
    out = np.array(ca.DM(ca.evalf(x))).ravel()
    return float(out[0]) if out.size == 1 else out
