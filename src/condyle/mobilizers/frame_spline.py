"""B-splines of frames in SE(3): rows of numbers, one for each knot interval, and what a curve is on it.
docs/theory/spline_joints.md (1)-(8)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.functions.pieces import taylor
from condyle.mobilizers import bsplines
from condyle.mobilizers.control_frames import steps_between
from condyle.mobilizers.screws import SIZE, Path, along, screws
from condyle.records import dataclass
from condyle.spatial import Transform
from condyle.spatial.algebra import matrix, vector


@dataclass(frozen=True, eq=False)
class FrameSpline:
    """Knots and order of a spline of frames; the frames themselves come with each call.

    Args:
        t: all knots, none decreasing.
        order: k.
        places: which control frame has its support from t_i to t_(i + k), for every i.
        inside: intervals i of the domain, from t_i to t_(i + 1), none of them empty.
        period: of a closed spline; 0 if open.
    """

    t: Array
    order: int
    places: NDArray[np.intp]
    inside: NDArray[np.intp]
    period: float = 0.0

    @staticmethod
    def of(knots: Array, order: int, n: int, form: str) -> FrameSpline:
        """That of n frames. form: "clamped", "mirrored" (of n frames, then two more) or "closed"."""
        k, period = order, 0.0
        if form == "closed":
            t, period = bsplines.periodic(knots, k), float(knots[-1] - knots[0])
            places, inside = (np.arange(-k, n) + k // 2) % n, np.arange(k, k + n)  # (4)
        elif form == "mirrored":
            t, places, inside = bsplines.mirrored(knots), np.arange(n + 2), np.arange(k - 1, n + 2)
        else:
            t, places, inside = knots, np.arange(n), np.arange(k - 1, n)
        return FrameSpline(t, k, places, inside[t[inside + 1] > t[inside]], period)

    @property
    def edges(self) -> tuple[Array, Array]:
        """Where each interval of the domain begins and ends."""
        return self.t[self.inside], self.t[self.inside + 1]

    @cached_property
    def _polynomials(self) -> Array:
        return bsplines.cumulative(self.t, self.order, self.inside)

    def rows(self, frames: Transform) -> Array:
        """For each interval t_i, R and p of its first frame, k - 1 screws from each frame to the next, and
        their polynomials about t_i, shape (intervals, 13 + 8 (k - 1) + k (k - 1))."""
        k, m, first = self.order, len(self.inside), self.inside - self.order + 1
        R, p = frames.R[self.places], frames.p[self.places]
        steps = screws(steps_between(Transform.unchecked(R, p)))[first[:, None] + np.arange(k - 1)]
        return np.column_stack(
            [
                self.t[self.inside],
                R[first].reshape(m, 9),
                p[first],
                steps.reshape(m, -1),
                self._polynomials.reshape(m, -1),
            ]
        )

    def within(self, q: Array) -> Array:
        """q, of a closed spline brought into the first period."""
        return q - self.period * np.floor((q - self.edges[0][0]) / self.period) if self.period else q

    def interval(self, q: Array) -> NDArray[np.intp]:
        """Number of the interval that holds q."""
        return np.clip(np.searchsorted(self.edges[0], q, side="right") - 1, 0, len(self.inside) - 1)

    def at(self, q: Array, rows: Array, rates: int = 2) -> Path:
        """Pose, s and ds at q (...) inside the domain; without ds, or without s and ds, where rates are 1 or
        0."""
        q = self.within(q)
        return path(q, rows[self.interval(q)], self.order, rates)

    def basis(self, q: Array) -> tuple[NDArray[np.intp], Array]:
        """The control frames that act at q (n,), shape (n, k), and their B-splines there."""
        q, k = self.within(q), self.order
        number = self.interval(q)
        x = q - self.edges[0][number]
        c = np.moveaxis(self._polynomials[number], (1, 2), (0, 1))
        sums = np.stack([np.ones_like(x), *(taylor(x, c_j) for c_j in c), np.zeros_like(x)], axis=1)
        return self.places[self.inside[number][:, None] - k + 1 + np.arange(k)], -np.diff(sums, axis=1)

    def beyond(self, row: Array, q: float) -> Array:
        """The row from an end q of the domain on: G exp(s x) exp(ds x^2/2), x from the end (9)."""
        at, k = path(np.array(q), row, self.order), self.order
        z, f = np.zeros((k - 1, 6)), np.zeros((k - 1, k))
        z[0], z[1] = np.concatenate([at.w, at.v]), np.concatenate([at.dw, at.dv])
        f[0, 1], f[1, 2] = 1.0, 0.5
        return np.concatenate([[q], at.R.ravel(), at.p, screws(z).ravel(), f.ravel()])


def path(q: Any, row: Any, order: int, rates: int = 2) -> Path:
    """Pose, s and ds from a row, or from rows (..., size): lee2008 (24), (27)-(31). rates: as in `along`."""
    k = order
    each = ca.vertsplit(row) if isinstance(row, ca.SX) else list(np.moveaxis(row, -1, 0))
    R, p = matrix([each[1:4], each[4:7], each[7:10]]), vector(each[10:13])
    start = 13 + SIZE * (k - 1)
    steps = [vector(each[13 + SIZE * j : 13 + SIZE * (j + 1)]) for j in range(k - 1)]
    polynomials = [each[start + k * j : start + k * (j + 1)] for j in range(k - 1)]
    return along(q - each[0], R, p, steps, polynomials, rates)
