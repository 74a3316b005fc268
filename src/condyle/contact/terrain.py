"""Terrain: heights on a grid, as a spline with continuous curvature. docs/theory/contact.md (41)-(43).

    h(s, t) = sum of c_ij b(s - i) b(t - j), b: the cubic B-spline; natural ends; h = heights on the grid (41)
    nearest point (s, t, h) to y:   (y_x - s) + (y_z - h) h_s = 0,   (y_y - t) + (y_z - h) h_t = 0        (42)
    curvature of the ground at it: -h'' / sqrt(1 + |h'|^2), as a tensor of its tangent plane              (43)

At the nearest point the slopes of (42) by s and t are a negative definite matrix (42a). (42) is solved by
Newton's method from the point below y, over at most one cell a step. With the derivatives of h there up to
the third, one more step gives the result its derivatives.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.contact.solids import Framed
from condyle.contact.surfaces import Folded, Sphere, SurfacePose, Touch, plain_numbers
from condyle.errors import DescriptionError
from condyle.laws.described import sx
from condyle.native.solvers.solver import Solver
from condyle.native.tables.lookup import look_up
from condyle.native.tables.lookup_table import LookupTable
from condyle.records import assign, dataclass
from condyle.shapes import Drawing
from condyle.shapes.meshes import sheet
from condyle.spatial.algebra import all_of

LIMIT, NEAR = 50, 1e-10
"""Largest number of Newton's steps; the last step over the size of a cell."""
BASIS = np.array([[1, 4, 1, 0], [-3, 0, 3, 0], [3, -6, 3, 0], [-1, 3, -3, 1]]) / 6
"""The four B-splines of a cell in powers of its local coordinate."""
GRID = "the grid is a constant table; position and slope of the ground may be Parameters of the frame X"


@dataclass(frozen=True, eq=False, repr=False)
class HeightField(Framed):
    """Ground with hills: heights on an even grid, interpolated by a bicubic spline, above the x-y plane of S.
    Everything below is material. Spheres and meshes touch it, and boxes by their corners.

    Beyond the grid there is no ground: a contact there raises an error. So does a sphere in a hollow of a
    smaller radius than its own.

    Args:
        body: whose it is, or its name; "ground" as a rule.
        X: frame S on the body, z upwards: a Transform, a 3-vector or None.
        x: grid along x of S [m], evenly rising, shape (m,), at least 4.
        y: grid along y of S [m], evenly rising, shape (n,), at least 4.
        heights: along z of S [m], shape (m, n): heights[i, j] is at x[i], y[j].
        material: a Material.
        name: its name in groups.
        cliques: names; surfaces that share one ignore each other in groups.
    """

    other_names = ("Heightmap", "Terrain")

    met_by_corners: ClassVar[bool] = True

    x: Any
    y: Any
    heights: Any
    material: Folded
    cells: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        for axis in "xy":
            object.__setattr__(self, axis, _even(getattr(self, axis), f"HeightField: {axis}"))
        if callable(self.heights):
            raise DescriptionError(
                "HeightField: heights: expected an array, got a function; give its values "
                "on the grid, f(*np.meshgrid(x, y, indexing='ij'))"
            )
        h, wanted = plain_numbers(self.heights, "HeightField: heights", GRID), (len(self.x), len(self.y))
        if h.shape != wanted:
            turned = "; the first index goes with x: give heights.T" if h.shape == wanted[::-1] else ""
            raise DescriptionError(
                f"HeightField: heights: expected finite numbers of shape {wanted}, those "
                f"of x and y, got shape {h.shape}{turned}"
            )
        if not np.isfinite(h).all():
            i, j = (int(k[0]) for k in np.nonzero(~np.isfinite(h)))
            raise DescriptionError(
                f"HeightField: heights: expected finite numbers, got {h[i, j]} at "
                f"[{i}, {j}], x = {self.x[i]:g}, y = {self.y[j]:g} m"
            )
        assign(self, heights=tuple(map(tuple, h.tolist())))
        c = _coefficients(_coefficients(h).T).T
        patches = np.lib.stride_tricks.sliding_window_view(c, (4, 4)).reshape(-1, 4, 4)
        assign(self, cells=LookupTable.from_rows((BASIS @ patches @ BASIS.T).reshape(-1, 16)))

    def drawn(self, size: float) -> list[Drawing]:
        grid = np.stack([*np.meshgrid(self.x, self.y, indexing="ij"), self.heights], axis=-1)
        return [Drawing(sheet(grid), self.X_BS, wide=True)]

    @property
    def form(self) -> Hashable:
        return type(self).__name__, self.cells.text

    @cached_property
    def steepest(self) -> float:
        """Upper bound of the slope: differences of (41)'s coefficients bound those of the spline."""
        c, (_, _, dx, dy, _, _) = _coefficients(_coefficients(np.array(self.heights)).T).T, self.grid()
        return float(np.hypot(np.abs(np.diff(c, axis=0)).max() / dx, np.abs(np.diff(c, axis=1)).max() / dy))

    @cached_property
    def solver(self) -> Solver:
        """The solver of (42)."""
        return _solver(self)

    def grid(self) -> tuple[float, float, float, float, int, int]:
        """First values, steps and numbers of cells along x and y."""
        return (
            self.x[0],
            self.y[0],
            self.x[1] - self.x[0],
            self.y[1] - self.y[0],
            len(self.x) - 1,
            len(self.y) - 1,
        )

    def __repr__(self) -> str:
        return f"contact.HeightField(body={self.body!r}, {len(self.x)} x {len(self.y)} heights)"


def _even(grid: Any, what: str) -> tuple[float, ...]:
    x = plain_numbers(grid, what, GRID)
    if (
        x.ndim != 1
        or len(x) < 4
        or not np.isfinite(x).all()
        or not (np.diff(x) > 0).all()
        or np.ptp(np.diff(x)) > 1e-9 * np.ptp(x)
    ):
        raise DescriptionError(
            f"{what}: expected at least 4 numbers that rise evenly, such as "
            "np.linspace(0, 1, 11), got "
            + (np.array2string(x, threshold=6) if x.ndim == 1 else f"shape {x.shape}")
        )
    return tuple(x.tolist())


def _coefficients(h: np.ndarray) -> np.ndarray:
    """c of (41) along the first axis, one more at each end, natural ends."""
    n = len(h)
    A = np.zeros((n + 2, n + 2))
    A[0, :3] = A[-1, -3:] = 1, -2, 1
    for i in range(n):
        A[i + 1, i : i + 3] = 1 / 6, 4 / 6, 1 / 6
    return np.linalg.solve(A, np.vstack([np.zeros_like(h[:1]), h, np.zeros_like(h[:1])]))


def _spline(field: HeightField, s: SX, t: SX) -> list[SX]:
    """h, h_s, h_t, h_ss, h_st, h_tt, h_sss, h_sst, h_stt, h_ttt at a point of the grid; NaN outside of it."""
    x0, y0, dx, dy, m, n = field.grid()
    u, v = (s - x0) / dx, (t - y0) / dy
    inside = all_of(u >= 0, u <= m, v >= 0, v <= n)
    i, j = (ca.fmin(ca.fmax(ca.floor(w), 0), k - 1) for w, k in ((u, m), (v, n)))
    C = ca.reshape(look_up(field.cells, i * n + j), 4, 4).T
    u, v = u - i, v - j
    powers = lambda w: [
        ca.vertcat(1, w, w**2, w**3),
        ca.vertcat(0, 1, 2 * w, 3 * w**2),
        ca.vertcat(0, 0, 2, 6 * w),
        ca.vertcat(0, 0, 0, 6),
    ]
    U, V = powers(u), powers(v)
    orders = [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (0, 3)]
    return [ca.if_else(inside, ca.dot(U[a], C @ V[b]) / (dx**a * dy**b), ca.SX.nan()) for a, b in orders]


def height(field: HeightField, s: SX, t: SX) -> SX:
    """At a point of the grid [m]; NaN outside of it."""
    return _spline(field, s, t)[0]


def _bent(y: SX, h: list[SX]) -> tuple[SX, SX, SX]:
    """Slopes of (42) by s and t."""
    up = y[2] - h[0]
    return -1 + up * h[3] - h[1] ** 2, up * h[4] - h[1] * h[2], -1 + up * h[5] - h[2] ** 2


def _newton(y: SX, s: SX, t: SX, h: list[SX]) -> SX:
    """Newton's step for (42)."""
    up, (a, b, c) = y[2] - h[0], _bent(y, h)
    r = ca.vertcat(y[0] - s + up * h[1], y[1] - t + up * h[2])
    return -ca.vertcat(c * r[0] - b * r[1], a * r[1] - b * r[0]) / (a * c - b * b)


def _solver(ground: HeightField) -> Solver:
    """y -> s, t and the ten derivatives at that point."""
    x0, y0, dx, dy, m, n = ground.grid()
    cell = min(dx, dy)

    def step(y: SX, at: SX) -> tuple[SX, SX]:
        by = _newton(y, at[0], at[1], _spline(ground, at[0], at[1]))
        long = ca.norm_2(by)
        by = by * ca.if_else(long > cell, cell / long, 1)
        after = ca.vertcat(
            ca.fmin(ca.fmax(at[0] + by[0], x0), x0 + m * dx), ca.fmin(ca.fmax(at[1] + by[1], y0), y0 + n * dy)
        )
        moved = ca.norm_2(after - at)
        return after, ca.if_else(long < ca.inf, moved > NEAR * cell, ca.SX.nan())

    def finish(y: SX, at: SX) -> SX:
        """NaN if the border stopped it, or if it is not the nearest point around."""
        h = _spline(ground, at[0], at[1])
        a, b, c = _bent(y, h)
        free = ca.norm_2(_newton(y, at[0], at[1], h)) < 1e-6 * cell
        nearest = all_of(a < 0, a * c > b * b)  # (42a)
        return ca.if_else(all_of(free, nearest), ca.vertcat(at, *h), ca.SX.nan())

    return Solver.trace("nearest_ground", 3, lambda y: (y[:2], ca.SX(1)), step, finish, LIMIT)


def nearest_ground(a: HeightField, y: SX) -> tuple[SX, SX, SX, tuple[SX, ...]]:
    """The point nearest to y, the unit normal there, the length of (h', -1), and h'': (42)."""
    row = ca.vertsplit(look_up(a.solver, y))[:12]
    s, t, h = row[0], row[1], row[2:]
    d = _newton(y, s, t, h)  # zero, with derivatives
    ds, dt = d[0], d[1]
    slopes = (h[1] + h[3] * ds + h[4] * dt, h[2] + h[4] * ds + h[5] * dt)
    bends = (h[3] + h[6] * ds + h[7] * dt, h[4] + h[7] * ds + h[8] * dt, h[5] + h[8] * ds + h[9] * dt)
    Q = ca.vertcat(s + ds, t + dt, h[0] + h[1] * ds + h[2] * dt)
    n = ca.vertcat(-slopes[0], -slopes[1], 1)
    length = ca.norm_2(n)
    return Q, n / length, length, bends


def field_sphere(a: HeightField, A: SurfacePose, b: Sphere, B: SurfacePose) -> Touch:
    R, p = a.frame(A)
    y = R.T @ (b.center_at(B) - p)
    Q, n, length, bends = nearest_ground(a, y)
    x = sx(b.radius) - ca.dot(n, y - Q)
    P = ca.SX.eye(3) - n @ n.T
    H = ca.blockcat([[bends[0], bends[1], 0], [bends[1], bends[2], 0], [0, 0, 0]])
    gap = R @ (P @ (ca.SX.eye(3) / sx(b.radius) - H / length) @ P) @ R.T  # (43)
    bent = P @ (ca.SX.eye(3) - sx(b.radius) * H / length) @ P  # of points too
    total = ca.trace(bent)
    fits = all_of(total > 0, total**2 > ca.sumsqr(bent))  # both curvatures above 0
    x = ca.if_else(all_of(x > 0, ca.logic_not(fits)), ca.SX.nan(), x)
    return Touch(x, R @ n, p + R @ Q, 2 / ca.trace(gap), gap, True)
