"""Convex surfaces defined by a function of users, with tabulated points: starts of searches, and bounds of
the curvature. Their closest points are in implicit_overlap.py."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping
from dataclasses import field
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array
from condyle.contact.solids import Framed
from condyle.contact.surfaces import Folded, Length, even_directions
from condyle.errors import DescriptionError, TraceError
from condyle.laws.described import sx
from condyle.laws.factors import BodyFactors
from condyle.native.searches.search_tree import SearchTree
from condyle.native.tables.lookup import look_up
from condyle.native.tables.lookup_table import LookupTable
from condyle.records import assign, dataclass
from condyle.shapes import Drawing
from condyle.shapes.meshes import zero_surface
from condyle.spatial.algebra import all_of
from condyle.trace import Symbol, Traced, trace
from condyle.trace.parameter import Expression, numbers_at

AROUND, CELLS = 2048, 64
"""Even lines from the origin, and as many even normals; normals along a side of a cube around it, whose
points give the support."""
HALVED, POLISHED = 60, 50
"""Bisections along a line out of the surface; largest number of Newton's steps to a normal, many where the
surface is flat."""
FURTHEST = 0.3
"""The longest of these steps over the distance to the origin."""
ROUNDED = 1 + 1e-9
"""Tolerance of the ball that holds the surface."""
SURE = 0.5
"""Factor by which the smallest radius of curvature may be smaller than at these points."""


@dataclass(frozen=True, eq=False)
class Rounded:
    """A convex surface by points. Two with equal rows are equal.

    Attributes:
        rows: points [m] and normals, shape (2 AROUND, 6): evenly spread points, many of flat sides, and
            evenly spread normals, many of sharp ends.
        sharpest: the smallest radius of curvature is no smaller [m].
        slopes: of a point: the function, its gradient and its Hessian.
    """

    rows: Array
    sharpest: float
    slopes: ca.Function = field(repr=False)

    @cached_property
    def text(self) -> str:
        return hashlib.sha256(self.rows.tobytes()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rounded) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    @cached_property
    def tree(self) -> SearchTree:
        """A tree of the normals."""
        return SearchTree.from_points(self.rows[:, 3:])

    @cached_property
    def caps(self) -> Array:
        """For the tree's branches: point and normal in the middle, and cosine and sine of the largest angle
        between that normal and the others; shape (nodes, 8, 4)."""
        n = self.rows[:, 3:]

        def cap(some: np.ndarray) -> Array:
            center = some[np.argmin(np.linalg.norm(n[some] - n[some].mean(axis=0), axis=1))]
            far = min(np.linalg.norm(n[some] - n[center], axis=1).max() * (1 + 1e-9), 2.0)
            return np.append(self.rows[center], [1 - far**2 / 2, far * np.sqrt(1 - far**2 / 4)])

        return self.tree.nodes(cap, np.full(8, np.nan))

    @cached_property
    def least(self) -> float:
        """Largest distance of a point from the origin, less rounding [m]."""
        return float(np.linalg.norm(self.rows[:, :3], axis=1).max()) / ROUNDED

    @cached_property
    def _cells(self) -> tuple[Array, float]:
        """Points furthest along the middles of all CELLS x CELLS cells of the six faces of a cube, and how
        much further another one may be within the cell [m]. This is convex in the face, zero in the middle,
        and largest at a corner, half-way to the middle of the next cell: half of the value there."""
        from scipy.spatial import cKDTree

        u = (np.arange(-1, CELLS + 1) + 0.5) * 2 / CELLS - 1  # one more on each side
        sides = np.stack(np.meshgrid(u, u, indexing="ij"), axis=-1).reshape(-1, 2)
        ways = np.concatenate([np.insert(sides, axis, sign, axis=1) for axis in range(3) for sign in (1, -1)])
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        near = self.rows[cKDTree(self.rows[:, 3:]).query(ways)[1], :3]
        p = _polished(ways, near, self.slopes)
        p = np.where(np.isnan(p).any(axis=1, keepdims=True), near, p)
        g = _derivatives(self.slopes, p)[1]
        p, n = (x.reshape(6, CELLS + 2, CELLS + 2, 3) for x in (p, g / np.linalg.norm(g, axis=1)[:, None]))
        mine = p[:, 1:-1, 1:-1]
        next_ = lambda x, i, j: x[:, i : i + CELLS, j : j + CELLS]
        beyond = max(
            float((next_(n, i, j) * (next_(p, i, j) - mine)).sum(axis=3).max())
            for i in range(3)
            for j in range(3)
        )
        return mine.reshape(-1, 3), 0.51 * beyond  # ways to next cells are 2 % longer

    @cached_property
    def _furthest(self) -> LookupTable:
        return LookupTable.from_rows(self._cells[0])

    @property
    def apart(self) -> float:
        """Distance by which another point may be further than `furthest` [m]."""
        return self._cells[1]

    def furthest(self, m: SX) -> SX:
        """The tabulated point furthest along m."""
        size = ca.fabs(m)
        first = all_of(size[0] >= size[1], size[0] >= size[2])
        second = size[1] >= size[2]
        pick = lambda x, y, z: ca.if_else(first, x, ca.if_else(second, y, z))
        major = pick(*ca.vertsplit(m))
        cell = [
            ca.fmin(ca.fmax(ca.floor((w / ca.fabs(major) + 1) * CELLS / 2), 0), CELLS - 1)
            for w in (pick(m[1], m[0], m[0]), pick(m[2], m[2], m[1]))
        ]
        face = pick(0, 2, 4) + (major < 0)
        return look_up(self._furthest, (face * CELLS + cell[0]) * CELLS + cell[1])


def _at(p: Array) -> str:
    return f"({', '.join(f'{x:.4g}' for x in p)})"


@lru_cache(maxsize=64)
def rounded(law: Traced, size: float, what: str) -> Rounded:
    """Points of all normals.

    Raises:
        DescriptionError: at a point where a line from the origin leaves the surface, it is not convex, or
            further away than its size.
    """
    ways = even_directions(AROUND).T
    y = ca.SX.sym("y", 3)
    f = law.function.call([y[0], y[1], y[2]], True, False)[0]
    H, g = ca.hessian(f, y)
    value = ca.Function("f", [y], [f]).map(AROUND)
    at = lambda p: np.array(value(p).full()).ravel()
    out = at(ROUNDED * size * ways) < 0
    if out.any():
        raise DescriptionError(
            f"{what}: goes beyond size = {size:g} m toward "
            f"{_at(ways[:, int(np.flatnonzero(out)[0])])}; give a ball that holds it"
        )
    low, high = np.zeros(AROUND), np.full(AROUND, size)
    for _ in range(HALVED):
        middle = (low + high) / 2
        inside = at(middle * ways) < 0
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    slopes = ca.Function("slopes", [y], [f, ca.densify(g), ca.densify(ca.vec(H))])
    first = _shaped((high * ways).T, slopes, size, what)
    p = _polished(ways.T, first[0][np.argmax(ways.T @ first[0].T, axis=1)], slopes)
    p = np.where(np.isnan(p).any(axis=1, keepdims=True), first[0], p)
    even = _shaped(p, slopes, size, what)
    rows = np.vstack([np.hstack(some[:2]) for some in (first, even)])
    return Rounded(rows, SURE / max(first[2], even[2]), slopes)


def _derivatives(slopes: ca.Function, p: Array) -> tuple[Array, Array, Array]:
    f, g, H = (np.array(x.full()).T for x in slopes.map(len(p))(p.T))
    return f[:, 0], g, H.reshape(-1, 3, 3)


def _shaped(p: Array, slopes: ca.Function, size: float, what: str) -> tuple[Array, Array, float]:
    """Points of the surface, the normals there, and the largest curvature [1/m]; checked."""
    _, g, bends = _derivatives(slopes, p)
    long = np.linalg.norm(g, axis=1)
    bad = ~(long > 0) | ~np.isfinite(bends).all(axis=(1, 2))
    if bad.any():
        worst = int(np.flatnonzero(bad)[0])
        raise DescriptionError(
            f"{what}: has no normal or no curvature at {_at(p[worst])} m;"
            " write a function whose gradient is not zero where it is zero"
        )
    n = g / long[:, None]
    P = np.eye(3) - n[:, :, None] * n[:, None, :]
    kappa = np.linalg.eigvalsh(P @ bends @ P / long[:, None, None])
    if kappa.min() < -1e-6 / size:
        worst = int(np.argmin(kappa[:, 0]))
        raise DescriptionError(
            f"{what}: is not convex at {_at(p[worst])} m: it curves by "
            f"{kappa[worst, 0]:.3g} 1/m there; take several, or a cd.contact.Mesh"
        )
    return p, n, float(kappa[:, 2].max())


def _polished(m: Array, p: Array, slopes: ca.Function) -> Array:
    """Points whose normals are m, by Newton's method from p on f = 0, grad f = lambda m; NaN if it misses the
    furthest point along m."""
    out, rows = np.full_like(p, np.nan), np.arange(len(p))
    start = (m * p).sum(axis=1)
    lambda_ = (m * _derivatives(slopes, p)[1]).sum(axis=1)
    for _ in range(POLISHED):
        with np.errstate(all="ignore"):
            f, g, H = _derivatives(slopes, p)
            K = np.zeros((len(p), 4, 4))
            K[:, :3, :3], K[:, :3, 3], K[:, 3, :3] = H, -m, g
            r = np.concatenate([g - lambda_[:, None] * m, f[:, None]], axis=1)
            good = np.isfinite(K).all(axis=(1, 2)) & (np.abs(np.linalg.det(np.nan_to_num(K))) > 0)
            step = np.full_like(r, np.nan)
            step[good] = -np.linalg.solve(K[good], r[good][:, :, None])[:, :, 0]
            long = np.linalg.norm(step[:, :3], axis=1) / np.linalg.norm(p, axis=1)
            step *= np.where(long > FURTHEST, FURTHEST / long, 1)[:, None]
            p, lambda_ = p + step[:, :3], lambda_ + step[:, 3]
            ended = np.linalg.norm(step[:, :3], axis=1) < 1e-9 * np.abs(start)
            right = ended & ((m * p).sum(axis=1) >= start * (1 - 1e-9)) & (lambda_ > 0)
        out[rows[right]] = p[right]
        busy = good & ~ended
        if not busy.any():
            break
        m, p, lambda_, start, rows = m[busy], p[busy], lambda_[busy], start[busy], rows[busy]
    return out


@dataclass(frozen=True, eq=False, repr=False)
class Implicit(Framed):
    """A convex surface where a smooth function of x, y, z is zero. It touches half-spaces, spheres,
    ellipsoids and other Implicit surfaces.

    Args:
        body: its body, or the name.
        X: frame S on the body, with its origin inside: a Transform, a 3-vector or None.
        function: f(x, y, z) -> a number, of coordinates in S [m]; negative inside, positive outside, twice
            differentiable. It is traced once, like functions of forces.
        size: radius of a ball about the origin of S that holds the surface [m], above 0.
        material: a Material.
        name: its name in groups.
        cliques: names; surfaces that share one ignore each other in groups.
    """

    half_widths: ClassVar = {"size": 1.0}

    function: Callable[[Symbol, Symbol, Symbol], object] | None = field(repr=False)
    size: Length
    material: Folded
    law: Traced = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        named = getattr(self.function, "__name__", type(self.function).__name__)
        what = f"Implicit({'lambda' if named == '<lambda>' else named})"
        if not callable(self.function):
            raise DescriptionError(f"{what}: expected a function of x, y, z [m], got {self.function!r}")
        size: Any = self.size
        law = trace(self.function, ("x", "y", "z"), what=what, outputs=(), ranges=[(-0.1, 0.1)] * 3)
        if law.outside or law.tables:
            raise TraceError(
                f"{what}: the function uses Parameters or tables; write it with numbers and formulas"
            )
        if isinstance(size, float):
            center, far = (float(law.function(*p)) for p in ((0, 0, 0), (ROUNDED * size, 0, 0)))
            if not center < 0 <= far:
                raise DescriptionError(
                    f"{what}: must be negative at the origin of S and not at (size, 0, "
                    f"0), got {center:g} and {far:g}; move X, or change the sign or "
                    f"size = {size:g}"
                )
        rounded(law, numbers_at(size), what)  # raises an error if it is not convex
        assign(self, law=law, function=None)

    def drawn(self, size: float) -> list[Drawing]:
        values = lambda p: self.law.function.map(len(p))(*p.T).full().ravel()
        shape = zero_surface(values, numbers_at(self.size))
        return [] if shape is None else [Drawing(shape, self.X_BS)]

    def scaled(self, factors: BodyFactors) -> Self:
        """Not scaled: lengths are part of its function, which is not stored."""
        return self

    @property
    def points(self) -> Rounded:
        """Tabulated points all around."""
        return rounded(self.law, numbers_at(self.size), "Implicit")

    def check_parameters(self, values: Mapping[str, float]) -> None:
        super().check_parameters(values)
        size: Any = self.size
        if isinstance(size, Expression) and not size.at(values)[0, 0] >= self.points.least:
            raise DescriptionError(
                f"Implicit: size: must be at least {self.points.least:g} m, the furthest "
                f"of its points, got {size.at(values)[0, 0]:g}"
            )

    def conditions(self) -> SX:
        return ca.vertcat(super().conditions(), sx(self.size) >= self.points.least)

    @property
    def form(self) -> Hashable:
        return type(self).__name__, self.law.text

    def description(self) -> str:
        return f"{super().description()} {self.law.text}"
