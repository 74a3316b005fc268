"""The muscle of Millard, Uchida, Seth, Delp 2013, as in OpenSim. Its curves are quintic Bezier curves
between corners, straight beyond their ends.

A section from (x0, y0) with slope d0 to (x1, y1) with slope d1 has its control points on the lines along
these slopes, which meet in a corner C:

    P0, P0 + c (C - P0) twice, P1 + c (C - P1) twice, P1;    c = 0.1 + 0.8 curviness                       (1)

x(s) and y(s) are polynomials of s. As a function of x the curve is a table of polynomials of degree five that
share value, slope and bending with it at knots, dense enough that the difference is below 1e-9
(tests/muscles). Balances are solved along s, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Annotated

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.functions.pieces import Pieces, taylor
from condyle.laws.described import quantity, sx
from condyle.muscles.curves import Curve, Seconds
from condyle.muscles.muscle import Muscle
from condyle.records import dataclass
from condyle.trace import Number

KNOTS = 60
"""Pieces per section."""

Corner = tuple[float, float, float]
"""x, y and slope."""


def control_points(a: Corner, b: Corner, curviness: float) -> np.ndarray:
    """(1), shape (6, 2)."""
    (x0, y0, d0), (x1, y1, d1) = a, b
    apart = abs(d0 - d1) > np.sqrt(np.finfo(float).eps)
    x = (y1 - y0 - x1 * d1 + x0 * d0) / (d0 - d1) if apart else (x0 + x1) / 2
    first, last, corner = np.array([x0, y0]), np.array([x1, y1]), np.array([x, (x - x1) * d1 + y1])
    c = 0.1 + 0.8 * curviness
    left, right = first + c * (corner - first), last + c * (corner - last)
    return np.array([first, left, left, right, right, last])


def monomials(points: np.ndarray) -> np.ndarray:
    """Coefficients of a section's x(s) and y(s) from its control points, lowest first, shape (6, 2)."""
    n = len(points) - 1
    return np.array(
        [
            math.comb(n, j) * sum((-1) ** (i + j) * math.comb(j, i) * points[i] for i in range(j + 1))
            for j in range(n + 1)
        ]
    )


def derivatives(points: np.ndarray, s: np.ndarray) -> np.ndarray:
    """x, y, dy/dx and d2y/dx2 along a section, shape (4, len(s))."""
    c = [np.polynomial.Polynomial(m) for m in monomials(points).T]
    (x, y), (x1, y1), (x2, y2) = (np.array([p.deriv(k)(s) if k else p(s) for p in c]) for k in range(3))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.array([x, y, y1 / x1, (y2 * x1 - y1 * x2) / x1**3])


@dataclass(frozen=True, eq=False, repr=False)
class Bezier(Curve):
    """A curve of sections between corners. Subclasses define `corners` and `curvinesses`."""

    def corners(self) -> Sequence[Corner]:
        """x, y and slope where sections meet, from left to right."""
        raise TypeError(f"{type(self).__name__} needs corners")

    def curvinesses(self) -> Sequence[float]:
        """One per section."""
        raise TypeError(f"{type(self).__name__} needs curvinesses")

    @cached_property
    def sections(self) -> list[np.ndarray]:
        corners = self.corners()
        return [
            control_points(a, b, c) for a, b, c in zip(corners, corners[1:], self.curvinesses(), strict=False)
        ]

    @property
    def between(self) -> tuple[float, float] | None:  # type: ignore[override]
        """c counts sections."""
        rises = (np.diff([y for _, y, _ in self.corners()]) > 0).all()
        return (0.0, float(len(self.sections))) if rises else None

    def ends(self) -> Sequence[tuple[float, float]]:
        corners = self.corners()
        return [(x, y) for x, y, _ in (corners[0], corners[-1])]

    def near(self, g: SX, beta: SX, f: SX) -> tuple[SX, SX]:
        """The section of c, from the residual of (8) at the corners: its number, its polynomials and that of
        the residual.
        """
        rows = [ca.SX(ca.DM(np.concatenate([[k], *monomials(p).T]))) for k, p in enumerate(self.sections)]
        left = [g * y + beta * x - f for x, y, _ in self.corners()]
        row, a, b = rows[0], left[0], left[1]
        for k in range(1, len(rows)):
            later = left[k] <= 0
            row, a, b = (
                ca.if_else(later, new, old) for new, old in ((rows[k], row), (left[k], a), (left[k + 1], b))
            )
        share = ca.fmin(ca.fmax(a / (a - b), 0.0), 1.0)
        own = ca.vertcat(row, g * row[7:] + beta * row[1:7] - ca.vertcat(f, ca.SX(5, 1)))
        return ca.vertcat(row[0] + ca.if_else(b > a, share, 0.5), row[0], row[0] + 1), own

    def along(self, c: SX, own: SX) -> tuple[SX, SX]:
        k, *row = ca.vertsplit(own)
        x, y = (taylor(c - k, row[i : i + 6]) for i in (0, 6))
        return x, y

    def left(self, p: SX, c: SX, own: SX) -> SX:
        return taylor(c - own[0], ca.vertsplit(own[13:]))

    @cached_property
    def _knots(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float, float]:
        """x, y, slope and bend at the knots, slopes before and after."""
        s = np.linspace(0, 1, KNOTS + 1)
        x, y, slope, bend = np.hstack([derivatives(p, s)[:, i > 0 :] for i, p in enumerate(self.sections)])
        (_, _, first), (_, _, last) = self.corners()[0], self.corners()[-1]
        return x, y, slope, np.where(np.isfinite(bend), bend, 0.0), first, last

    @cached_property
    def _by_x(self) -> Pieces:
        return _quintic(*self._knots)

    @cached_property
    def _by_y(self) -> Pieces | None:
        """The inverse, where the curve rises monotonically."""
        x, y, slope, bend, first, last = self._knots
        if not ((np.diff(y) > 0).all() and (slope > 0).all()):
            return None
        return _quintic(y, x, 1 / slope, -bend / slope**3, 1 / first, 1 / last)

    @cached_property
    def _area(self) -> Pieces:
        """The integral, zero at the first knot."""
        x, rows = self._by_x.breaks, self._by_x.rows
        c = rows[:, 1:] / np.arange(1, rows.shape[1])
        steps = [
            np.polynomial.polynomial.polyval(b - a, [0, *k])
            for a, b, k in zip(x, x[1:], c[1:-1], strict=False)
        ]
        sums = np.concatenate([[0, 0], np.cumsum(steps)])
        return Pieces(x, np.column_stack([rows[:, 0], sums, c]))

    def formula(self, x: SX) -> SX:
        return _at(self._by_x, x)

    def inverse_formula(self, y: SX) -> SX:
        return super().inverse_formula(y) if self._by_y is None else _at(self._by_y, y)

    def integral_formula(self, x: SX) -> SX:
        return _at(self._area, x)


def _quintic(
    x: np.ndarray, y: np.ndarray, slope: np.ndarray, bend: np.ndarray, first: float, last: float
) -> Pieces:
    """Rows (origin, c_0 .. c_5) from left to right: straight, then degree five between knots, then
    straight."""
    h = np.diff(x)
    c = np.zeros((len(h), 6))
    c[:, 0], c[:, 1], c[:, 2] = y[:-1], slope[:-1], bend[:-1] / 2
    # errors at the next knot in value, slope and bend
    r0 = y[1:] - (c[:, 0] + h * (c[:, 1] + h * c[:, 2]))
    r1 = (slope[1:] - (c[:, 1] + 2 * h * c[:, 2])) * h
    r2 = (bend[1:] - 2 * c[:, 2]) * h**2
    c[:, 3] = (10 * r0 - 4 * r1 + r2 / 2) / h**3
    c[:, 4] = (-15 * r0 + 7 * r1 - r2) / h**4
    c[:, 5] = (6 * r0 - 3 * r1 + r2 / 2) / h**5
    ends = np.zeros((2, 7))
    ends[0, :3], ends[1, :3] = (x[0], y[0], first), (x[-1], y[-1], last)
    return Pieces(x, np.vstack([ends[:1], np.column_stack([x[:-1], c]), ends[1:]]))


def _at(pieces: Pieces, x: SX) -> SX:
    row = ca.vertsplit(pieces.at(x, look_up=True))
    return taylor(x - row[0], row[1:])


@dataclass(frozen=True, eq=False, repr=False)
class MillardActiveForceLength(Bezier):
    """Active force over fiber length.

    Args:
        shortest: fiber length at which it is `least`.
        longest: fiber length beyond the optimal one at which it is `least` again.
        transition: where the steep part of the ascending limb ends.
        slope: of the shallow part.
        least: its smallest value.
    """

    shortest: float = 0.4441
    transition: float = 0.73
    longest: float = 1.8123
    slope: float = 0.8616
    least: float = 0.1

    def corners(self) -> Sequence[Corner]:
        x0, x1, x2, x3 = self.shortest, self.transition, 1.0, self.longest
        width = 0.05  # half of the plateau
        shoulder = x2 - width
        y1 = 1 - self.slope * (shoulder - x1)
        rising, falling = 1.25 * y1 / (x1 - x0), -1 / ((x3 - width) - (x2 + width))
        return [
            (x0, self.least, 0.0),
            ((x0 + x1) / 2, y1 / 2, rising),
            ((x1 + shoulder) / 2, (y1 + 1) / 2, self.slope),
            (x2, 1.0, 0.0),
            ((x2 + width + x3) / 2, 0.5, falling),
            (x3, self.least, 0.0),
        ]

    def curvinesses(self) -> Sequence[float]:
        return [1.0] * 5


@dataclass(frozen=True, eq=False, repr=False)
class MillardPassiveForceLength(Bezier):
    """Passive force over fiber length.

    Args:
        start: strain at which it begins.
        strain: at which it is 1.
        low_stiffness: slope after the toe.
        stiffness: slope at 1.
        curviness: from 0, straight, to 1.
    """

    start: float = 0.0
    strain: float = 0.7
    low_stiffness: float = 0.2
    stiffness: float = 2 / 0.7
    curviness: float = 0.75

    def corners(self) -> Sequence[Corner]:
        x0, x1 = 1 + self.start, 1 + self.strain
        step = min(0.1 / self.stiffness, 0.1 * (x1 - x0))
        return [
            (x0, 0.0, 0.0),
            (x0 + step, self.low_stiffness * step / 2, self.low_stiffness),
            (x1, 1.0, self.stiffness),
        ]

    def curvinesses(self) -> Sequence[float]:
        return [self.curviness] * 2


@dataclass(frozen=True, eq=False, repr=False)
class MillardTendonForceLength(Bezier):
    """Tendon force over tendon length.

    Args:
        strain: at which it is 1.
        stiffness: slope there, by default 1.375 / strain.
        toe: force at which it becomes straight.
        curviness: from 0 to 1.
    """

    strain: float = 0.049
    stiffness: float | None = None
    toe: float = 2 / 3
    curviness: float = 0.5

    def corners(self) -> Sequence[Corner]:
        k = self.stiffness or 1.375 / self.strain
        x_iso = 1 + self.strain
        x_toe = (self.toe - 1) / k + x_iso
        x_foot = 1 + (x_toe - 1) / 10
        x_middle = (self.toe / 2 - 1) / k + x_iso
        slope = self.toe / 2 / (x_middle - x_foot)
        x_corner = (x_foot + x_middle) / 2
        return [(1.0, 0.0, 0.0), (x_corner, slope * (x_corner - x_foot), slope), (x_toe, self.toe, k)]

    def curvinesses(self) -> Sequence[float]:
        return [self.curviness] * 2


@dataclass(frozen=True, eq=False, repr=False)
class MillardForceVelocity(Bezier):
    """Active force over fiber velocity, -1 to 1.

    Args:
        concentric_slope: at -1.
        near_concentric_slope: at -0.9.
        isometric_slope: at 0.
        eccentric_slope: at 1.
        near_eccentric_slope: at 0.9.
        eccentric_force: at 1.
        concentric_curviness: from 0 to 1.
        eccentric_curviness: from 0 to 1.
    """

    concentric_slope: float = 0.0
    near_concentric_slope: float = 0.25
    isometric_slope: float = 5.0
    eccentric_slope: float = 0.0
    near_eccentric_slope: float = 0.15
    eccentric_force: float = 1.4
    concentric_curviness: float = 0.6
    eccentric_curviness: float = 0.9

    def corners(self) -> Sequence[Corner]:
        low, high = (
            (self.concentric_slope + self.near_concentric_slope) / 2,
            (self.eccentric_slope + self.near_eccentric_slope) / 2,
        )
        return [
            (-1.0, 0.0, self.concentric_slope),
            (-0.9, 0.1 * low, self.near_concentric_slope),
            (0.0, 1.0, self.isometric_slope),
            (0.9, self.eccentric_force - 0.1 * high, self.near_eccentric_slope),
            (1.0, self.eccentric_force, self.eccentric_slope),
        ]

    def curvinesses(self) -> Sequence[float]:
        return [self.concentric_curviness] * 2 + [self.eccentric_curviness] * 2


@dataclass(frozen=True, eq=False, repr=False)
class Millard2012(Muscle):
    """A muscle with the curves of Millard et al. 2013: OpenSim's Millard2012EquilibriumMuscle, names and
    defaults as there.

    Without fiber damping and with an elastic tendon, curves are modified as in OpenSim: the active
    force-length curve is at least 0.1, and the force-velocity curve has half of its near slopes at its ends.
    Otherwise these are zero.

    Args:
        active_force_length_curve: with other numbers.
        force_velocity_curve: with other numbers.
        fiber_force_length_curve: with other numbers.
        tendon_force_length_curve: with other numbers, such as
            cd.muscles.MillardTendonForceLength(strain=0.033).
    """

    other_names = ("Millard", "Millard2012Equilibrium", "Millard2012EquilibriumMuscle")

    activation_time_constant: Seconds = field(default=0.01, kw_only=True)
    deactivation_time_constant: Seconds = field(default=0.04, kw_only=True)
    fiber_damping: Annotated[Number, quantity("-", lowest=0.0)] = field(default=0.1, kw_only=True)
    active_force_length_curve: MillardActiveForceLength = field(
        default=MillardActiveForceLength(), kw_only=True
    )
    force_velocity_curve: MillardForceVelocity = field(default=MillardForceVelocity(), kw_only=True)
    fiber_force_length_curve: MillardPassiveForceLength = field(
        default=MillardPassiveForceLength(), kw_only=True
    )
    tendon_force_length_curve: MillardTendonForceLength = field(
        default=MillardTendonForceLength(), kw_only=True
    )

    @cached_property
    def active_force_length(self) -> Curve:  # type: ignore[override]
        curve = self.active_force_length_curve
        return replace(curve, least=max(curve.least, 0.1) if self._divides else 0.0)

    @cached_property
    def force_velocity(self) -> Curve:  # type: ignore[override]
        curve = self.force_velocity_curve
        if not self._divides:
            return replace(curve, concentric_slope=0.0, eccentric_slope=0.0)
        return replace(
            curve,
            concentric_slope=max(curve.concentric_slope, curve.near_concentric_slope / 2),
            eccentric_slope=max(curve.eccentric_slope, curve.near_eccentric_slope / 2),
        )

    @property
    def passive_force_length(self) -> Curve:  # type: ignore[override]
        return self.fiber_force_length_curve

    @property
    def tendon_force_length(self) -> Curve:  # type: ignore[override]
        return self.tendon_force_length_curve

    @property
    def _least(self) -> SX:
        """Nor shorter than the active force-length curve."""
        shortest = self.active_force_length_curve.shortest
        return ca.fmax(super()._least, shortest * sx(self.optimal_fiber_length))
