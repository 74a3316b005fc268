"""Joints along a spline of frames: lee2008 section 5.1. Numbers: docs/theory/spline_joints.md."""
from __future__ import annotations

import hashlib
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from condyle.arrays import Array, real
from condyle.errors import DescriptionError
from condyle.functions.pieces import Pieces
from condyle.mobilizers import bsplines
from condyle.mobilizers.base import Mobilizer, RelativeMotion
from condyle.mobilizers.control_frames import checked_frames, checked_knots, checked_steps, steps_between
from condyle.mobilizers.screws import SIZE, Path, along, screws
from condyle.spatial import Metric, Transform, exp_se3
from condyle.spatial.algebra import matrix, vector

Domain = tuple[float, float]

SAMPLES = 8
"""Points per knot interval at which the Jacobian is looked at: they find its least length within 1 %."""
VANISHES = 1e-3
"""Share of its mean length below which the Jacobian is said to vanish."""


@dataclass(frozen=True, eq=False, repr=False)
class SplineCurve(Mobilizer):
    """One coordinate along a spline of frames in SE(3): a B-spline of control frames G_j (lee2008 (21)-(24)).

        G(q) = G_0 exp(z_1 Bt_1(q)) exp(z_2 Bt_2(q)) ...                                                 (1)
        z_j = log(G_(j-1)^-1 G_j),   Bt_j = B_j + B_(j+1) + ...

    X_FM = G(q).   q: the coordinate, in the user's `unit`.   u = qdot.
    At every q only order - 1 of the exponentials vary; the equations look them up in a table, at a cost that
    does not depend on how many frames there are. Jacobian and Hessian are those of lee2008 (27)-(31). The
    curve is attracted by its control frames and passes near them; `SplineCurve.natural` passes through given
    frames.

    Outside its domain an open curve goes on as G_end exp(s x) exp(ds x^2/2), x = q - q_end, with s and ds
    those at the end: pose, Jacobian and its derivative are continuous there, the third derivative of the pose
    is not. A closed curve has every q: it takes q modulo its period.

    Args:
        frames: control frames, n >= order: a Transform with leading dimension n, or arrays (R, p) of shape
            (n, 3, 3) and (n, 3) [m]. Rotations between neighbours must be less than 170 degrees.
        order: k >= 4, one more than the degree: k - 2 continuous derivatives. Take 5 where derivatives of
            dynamics are used: with 4 they jump at knots.
        closed: the frames repeat.
        knots: by default uniform over `domain`. Open: n + order numbers, none decreasing, the domain is from
            knots[order - 1] to knots[n]. Closed: n + 1 numbers, frame j is at knot j, the last closes the
            period. Mirrored ends: n numbers, frame j is at knot j. Inside, at most order - 3 knots may be
            equal.
        domain: where q begins and ends, if no knots are given; of a closed curve one period.
        ends: of open curves. "clamped": the curve begins and ends at its outermost control frames, and moves
            up to three times as fast there as inside. "mirrored" (order 4): it does too, with ds = 0 and at
            an even pace, by one more frame beyond each end, G_0 exp(-z_1).
        coordinate: its name; "q" lets the body name it.
        unit: of q, for tables, plots and the weights of errors, such as "rad", "deg", "m", "mm"; "1" is none.
        metric: what `speed` measures with: a length that 1 rad counts as [m], a MassProperties, or a
            `cd.spatial.Metric`; 0.1 m by default. The motion does not depend on it.

    Attributes:
        domain: (low, high): where q lies; of a closed curve one period.
        knots: as above.

    Raises:
        DescriptionError: frames, knots or order are not as above, or the Jacobian vanishes somewhere; the
            interval is named.
    """

    frames: Any
    order: int = 4
    closed: bool = False
    _: KW_ONLY
    knots: Any = None
    domain: Domain = (0.0, 1.0)
    ends: str = "clamped"
    coordinate: str = "q"
    unit: str = "1"
    metric: Any = None

    def __post_init__(self) -> None:
        what = "SplineCurve"
        k = self.order
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 4 <= k <= 12:
            raise DescriptionError(f"{what}: order must be a whole number from 4 (cubic, C2) to 12, got "
                                   f"{k!r}")
        if self.ends not in ("clamped", "mirrored"):
            raise DescriptionError(f"{what}: ends must be 'clamped' or 'mirrored', got {self.ends!r}")
        if self.ends == "mirrored" and (k != 4 or self.closed):
            raise DescriptionError(f"{what}: mirrored ends are for open curves of order 4, this one is "
                                   f"{'closed' if self.closed else f'of order {k}'}")
        for name in ("coordinate", "unit"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise DescriptionError(f"{what}: {name} must be text, got {getattr(self, name)!r}")
        frames = checked_frames(self.frames, k, what)
        form = "closed" if self.closed else self.ends
        knots, domain = checked_knots(self.knots, self.domain, len(frames.p), int(k), form, what)
        for name, value in (("order", int(k)), ("closed", bool(self.closed)), ("frames", frames),
                            ("knots", knots),
                            ("domain", domain), ("metric", Metric.of(self.metric, f"{what}: metric")),
                            ("coordinate_names", (self.coordinate,)), ("speed_names", (self.coordinate,)),
                            ("named_by_user", self.coordinate != "q"), ("units", (self.unit,)),
                            ("speed_units", (f"{self.unit}/s",))):
            object.__setattr__(self, name, value)
        checked_steps(self._steps, what)
        self._check_jacobian(what)

    @property
    def domains(self) -> tuple[Domain, ...]:
        return ((-np.inf, np.inf),) if self.closed else (self.domain,)

    @cached_property
    def _steps(self) -> Array:
        """z_j between the frames, shape (n - 1, 6), or (n, 6) if closed."""
        return steps_between(self.frames, self.closed)

    @cached_property
    def spline(self) -> tuple[Array, Transform, NDArray[np.intp]]:
        """All knots t; all control frames, of which the i-th has its support from t_i to t_(i + k); and the
        intervals i of the domain that are not empty."""
        k, (R, p), n = self.order, self.frames, len(self.frames.p)
        if self.closed:
            t, places = bsplines.periodic(self.knots, k), (np.arange(-k, n) + k // 2) % n  # (4)
            G, inside = Transform.unchecked(R[places], p[places]), np.arange(k, k + n)
        elif self.ends == "mirrored":
            t, inside = bsplines.mirrored(self.knots), np.arange(k - 1, n + 2)
            beyond = exp_se3(self._steps[[0, -1]] * [[-1.0], [1.0]])
            (R0, R1), (p0, p1) = Transform.unchecked(R[[0, -1]], p[[0, -1]]) @ beyond
            G = Transform.unchecked(np.concatenate([[R0], R, [R1]]), np.concatenate([[p0], p, [p1]]))
        else:
            t, G, inside = self.knots, self.frames, np.arange(k - 1, n)
        return t, G, inside[t[inside + 1] > t[inside]]

    @cached_property
    def _pieces(self) -> Pieces:
        """One row per interval: t_i, R and p of G_(i-k+1), the screws of the next k - 1 steps, their
        polynomials about t_i; and one beyond each end of an open curve."""
        t, (R, p), i = self.spline
        k, m = self.order, len(i)
        first = i - k + 1
        steps = screws(steps_between(Transform.unchecked(R, p)))[first[:, None] + np.arange(k - 1)]
        rows = np.column_stack([t[i], R[first].reshape(m, 9), p[first], steps.reshape(m, -1),
                                bsplines.cumulative(t, k, i).reshape(m, -1)])
        breaks = t[i[1:]]
        if not self.closed:
            low, high = self.domain
            rows = np.concatenate([[self._beyond(rows[0], low)], rows, [self._beyond(rows[-1], high)]])
            breaks = np.concatenate([[low], breaks, [high]])
        return Pieces(breaks, rows)

    def _beyond(self, row: Array, q: float) -> Array:
        """The row from an end q on: G exp(s x) exp(ds x^2/2)."""
        at, k = self._path(q, row), self.order
        z, f = np.zeros((k - 1, 6)), np.zeros((k - 1, k))
        z[0], z[1] = np.concatenate([at.w, at.v]), np.concatenate([at.dw, at.dv])
        f[0, 1], f[1, 2] = 1.0, 0.5
        return np.concatenate([[q], at.R.ravel(), at.p, screws(z).ravel(), f.ravel()])

    def _path(self, q: Any, row: Any) -> Path:
        """Pose, s and ds from a row, or from rows (..., size): lee2008 (24), (27)-(31)."""
        k = self.order
        each = ca.vertsplit(row) if isinstance(row, ca.SX) else list(np.moveaxis(np.asarray(row), -1, 0))
        R, p = matrix([each[1:4], each[4:7], each[7:10]]), vector(each[10:13])
        start = 13 + SIZE * (k - 1)
        steps = [vector(each[13 + SIZE * j:13 + SIZE * (j + 1)]) for j in range(k - 1)]
        return along(q - each[0], R, p, steps,
                     [each[start + k * j:start + k * (j + 1)] for j in range(k - 1)])

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        if self.closed:
            low, high = self.domain
            q = q - (high - low) * ca.floor((q - low) / (high - low))
        R, p, w, v, dw, dv = self._path(q, self._pieces.at(q, look_up=True))
        uu = u * u
        # s and ds are in the child's frame: errata on lee2008
        return RelativeMotion(R=R, p=p, H_w=R @ w, H_v=R @ v, bias_w=(R @ dw) * uu,
                              bias_v=(R @ (dv + ca.cross(w, v))) * uu)

    def _at(self, q: ArrayLike) -> Path:
        x = real("SplineCurve: q", q)
        if self.closed:
            low, high = self.domain
            x = x - (high - low) * np.floor((x - low) / (high - low))
        return self._path(x, self._pieces.at_numbers(x))

    def pose(self, q: ArrayLike) -> Transform:
        """G(q) for coordinates q (...): a Transform with these leading dimensions."""
        at = self._at(q)
        return Transform.unchecked(at.R, at.p)

    def twists(self, q: ArrayLike) -> tuple[Array, Array]:
        """Joint Jacobian s = (G^-1 dG/dq)^vee and its derivative ds, lee2008 (27)-(31): in M, at M's origin,
        angular part first, per unit and unit^2 of q [rad, m], shape (..., 6) each, for q (...)."""
        at = self._at(q)
        return np.concatenate([at.w, at.v], axis=-1), np.concatenate([at.dw, at.dv], axis=-1)

    def speed(self, q: ArrayLike) -> Array:
        """|s(q)| in the metric [m per unit of q], shape (...), for q (...)."""
        return self.metric.norm(self.twists(q)[0])

    def _samples(self, each: int = SAMPLES) -> Array:
        """Coordinates inside every interval, shape (intervals, each)."""
        t, _, i = self.spline
        return t[i][:, None] + np.diff(np.stack([t[i], t[i + 1]]), axis=0)[0][:, None] * (np.arange(each)
                                                                                          + 0.5) / each

    def _check_jacobian(self, what: str) -> None:
        """lee2008, section 5: the Jacobian vanishes nowhere in the domain."""
        q = self._samples()
        length = self.speed(q)
        mean, worst = length.mean(), np.unravel_index(length.argmin(), length.shape)
        if length[worst] > VANISHES * mean:
            return
        t, _, i = self.spline
        low, high = t[i[worst[0]]], t[i[worst[0]] + 1]
        raise DescriptionError(f"{what}: the Jacobian vanishes in the interval from {low:g} to {high:g}: |s| "
                               "= "
                               f"{length[worst]:.3g} at {self.coordinate} = {q[worst]:.6g}, {mean:.3g} on "
                               "average. Its "
                               "control frames are equal, or the path turns back on itself; there the body "
                               "would stand "
                               "still whatever the speed")

    def random_q(self, rng: np.random.Generator) -> Array:
        return rng.uniform(*self.domain, 1)

    @cached_property
    def _text(self) -> str:
        numbers = b"".join(x.tobytes() for x in (self.knots, *self.frames))
        return hashlib.sha256(numbers).hexdigest()

    def description(self) -> str:
        return f"SplineCurve({len(self.frames.p)}, {self.order}, {self.closed}, {self.ends}, {self._text})"

    def __repr__(self) -> str:
        low, high = self.domain
        how = "closed" if self.closed else f"{self.ends} ends"
        return (f"SplineCurve({len(self.frames.p)} frames, order {self.order}, {how}, {self.coordinate} from "
                f"{low:g} to "
                f"{high:g})")
