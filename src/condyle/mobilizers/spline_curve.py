"""Joints along a spline of frames: lee2008 section 5.1. Numbers: docs/theory/spline_joints.md."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from condyle.arrays import SX, Array, real
from condyle.errors import DescriptionError, warn
from condyle.functions.pieces import Pieces
from condyle.mobilizers.base import Mobilizer, RelativeMotion
from condyle.mobilizers.constants import LENGTHS
from condyle.mobilizers.frame_splines import (
    MOST_FRAMES,
    FrameSpline,
    ScrewPath,
    checked_domain,
    checked_frames,
    checked_knots,
    checked_order,
    checked_steps,
    naturally,
    path,
    steps_between,
)
from condyle.native.tables.lookup import RowSource, look_up
from condyle.native.tables.lookup_table import ConstantRow
from condyle.presentation import Block, Display, number, page
from condyle.records import assign, dataclass
from condyle.shapes import Drawing, Line
from condyle.spatial import MassProperties, Metric, Transform, exp_se3, log_so3
from condyle.trace.parameter import POSITIVE

Domain = tuple[float, float]

SAMPLES = 8
"""Points per knot interval at which the Jacobian is evaluated: they find its least length within 1 %."""
REFINED = 3
"""Rounds by which the least of them is found, each a thirty-second of the one before."""
VANISHES = 1e-3
"""Share of its mean length below which the Jacobian is said to vanish."""
DRAWN = 240
"""Points of a curve, as it is drawn."""


@dataclass(frozen=True, eq=False, repr=False)
class SplineCurve(Mobilizer):
    """One coordinate along a spline of frames in SE(3): a B-spline of control frames G_j (lee2008 (21)-(24)).

        G(q) = G_0 exp(z_1 Bt_1(q)) exp(z_2 Bt_2(q)) ...                                                 (1)
        z_j = log(G_(j-1)^-1 G_j),   Bt_j = B_j + B_(j+1) + ...

    X_FM = G(q).   q: the coordinate, in the user's `unit`.   u = qdot.
    At every q only order - 1 of the exponentials vary; they are looked up in a table, at a cost independent
    of the number of frames. Jacobian and Hessian are those of lee2008 (27)-(31). The curve passes near its
    control frames; `SplineCurve.natural` passes through given frames.

    Outside its domain an open curve is extrapolated as G_end exp(s x) exp(ds x^2/2), x = q - q_end, with s
    and ds at the end: pose, Jacobian and its derivative are continuous there, the third derivative of the
    pose is not. A closed curve takes q modulo its period.

    Args:
        frames: control frames, n >= order: a Transform with leading dimension n, or arrays (R, p) of shape
            (n, 3, 3) and (n, 3) [m]. Rotations between neighbors must be less than 170 degrees.
        order: k >= 4, one more than the degree: k - 2 continuous derivatives. Use 5 if derivatives of
            dynamics are needed: with 4 they jump at knots.
        closed: the frames repeat.
        knots: by default uniform over `domain`. Open: n + order numbers, none decreasing, the domain is from
            knots[order - 1] to knots[n]. Closed: n + 1 numbers, frame j is at knot j, the last closes the
            period. Mirrored ends: n numbers, frame j is at knot j. Inside, at most order - 3 knots may be
            equal.
        domain: (low, high) of q: that of the knots, or (0, 1) by default; for a closed curve one period,
            which need not begin at a knot.
        ends: of open curves. "clamped": the curve begins and ends at its outermost control frames, with up to
            three times the speed there. "mirrored" (order 4): likewise, but with ds = 0 and uniform speed, by
            one more frame beyond each end, G_0 exp(-z_1).
        coordinate: its name; "q" lets the body name it.
        unit: of q, for tables and plots, such as "rad", "deg", "m", "mm"; "1" is none. Errors in q are
            weighted by the displacement of the body.
        metric: for `speed`: the length equivalent to 1 rad [m], a MassProperties, or a `cd.spatial.Metric`;
            0.1 m by default. The motion does not depend on it.

    Attributes:
        domain: (low, high): where q lies; of a closed curve one period.
        knots: as above.
        sites: of a curve made by `natural`, where its frames are, shape (n,); else None.

    Raises:
        DescriptionError: invalid frames, knots or order, or the Jacobian vanishes in an interval, which the
            message names.
    """

    frames: Any
    order: int = 4
    closed: bool = False
    _: KW_ONLY
    knots: Any = None
    domain: Any = None
    ends: str = "clamped"
    coordinate: str = "q"
    unit: str = "1"
    metric: Any = None
    sites: Any = field(default=None, init=False)

    def __post_init__(self) -> None:
        what = "SplineCurve"
        k = checked_order(self.order, what)
        if not isinstance(self.closed, (bool, np.bool_)):
            raise DescriptionError(f"{what}: closed must be True or False, got {self.closed!r}")
        if self.ends not in ("clamped", "mirrored"):
            raise DescriptionError(f"{what}: ends must be 'clamped' or 'mirrored', got {self.ends!r}")
        if self.ends == "mirrored" and (k != 4 or self.closed):
            raise DescriptionError(
                f"{what}: mirrored ends are for open curves of order 4, this one is "
                f"{'closed' if self.closed else f'of order {k}'}"
            )
        for name in ("coordinate", "unit"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise DescriptionError(f"{what}: {name} must be text, got {getattr(self, name)!r}")
        frames = checked_frames(self.frames, k, what)
        form = "closed" if self.closed else self.ends
        knots, domain = checked_knots(self.knots, self.domain, len(frames.p), k, form, what)
        assign(
            self,
            order=k,
            closed=bool(self.closed),
            frames=frames,
            knots=knots,
            domain=domain,
            metric=Metric.of(self.metric, f"{what}: metric"),
            coordinate_names=(self.coordinate,),
            speed_names=(self.coordinate,),
            named_by_user=self.coordinate != "q",
            units=(self.unit,),
            speed_units=(f"{self.unit}/s",),
        )
        checked_steps(self._steps, what)
        self._check_jacobian(what)

    @classmethod
    def natural(
        cls,
        frames: Transform | tuple[ArrayLike, ArrayLike],
        order: int = 4,
        closed: bool = False,
        *,
        metric: float | MassProperties | Metric | None = None,
        domain: Sequence[float] | str | None = (0.0, 1.0),
        even: float = 2e-3,
        accuracy: float | None = None,
        coordinate: str = "q",
        unit: str | None = None,
    ) -> SplineCurve:
        """A curve through all frames at constant speed: q is the arc length in the metric, or proportional
        to it.

        The curve passes through the frames exactly, in order. If frames are far apart, more control frames
        than frames are used, at most 4000, until |s| is uniform; noisy frames turn too sharply for that, and
        raise a warning. The attribute `sites` has the q of the frames.

        Args:
            frames: n >= order, as for a SplineCurve; neighbors differ.
            order: as for a SplineCurve.
            closed: the path returns from the last frame to the first.
            metric: for arc length and `speed`: the length equivalent to 1 rad [m], a MassProperties or a
                `cd.spatial.Metric`; 0.1 m by default. It depends on the position of M.
            domain: (low, high) of q, or "length": from 0 to the length of the path in the metric [m].
            even: maximum relative deviation of |s| from its mean.
            accuracy: warn if the path deviates from the chord between two frames by more than this, in the
                metric [m]: |ds across s| h^2/8 with h the step of q. Such frames are too far apart to
                determine the path.
            coordinate: as for a SplineCurve.
            unit: of q; "m" if the domain is "length", else "1".

        Raises:
            DescriptionError: invalid frames, or no curve found through frames that are far apart.
        """
        what = "SplineCurve.natural"
        measure = Metric.of(metric, f"{what}: metric")
        for name, value in (("even", even), ("accuracy", accuracy)):
            if value is not None:
                POSITIVE.check(value, f"{what}: {name}", value)
        given = checked_frames(frames, checked_order(order, what), what)
        checked_steps(steps_between(given, closed), what)
        through, sites, uneven = naturally(given, order, closed, measure, even)
        start, length = float(through.stops[0]), float(np.ptp(through.stops))
        low, high = (
            (0.0, length) if isinstance(domain, str) and domain == "length" else checked_domain(domain, what)
        )
        scale = (high - low) / length
        knots = low + (through.knots - start) * scale
        if not closed:
            knots[-order:] = high
        if unit is None:
            unit = "m" if isinstance(domain, str) else "1"
        curve = cls(
            through.frames,
            order,
            closed,
            knots=knots,
            domain=(low, high),
            coordinate=coordinate,
            unit=unit,
            metric=measure,
        )
        assign(curve, sites=low + (sites - start) * scale)
        if uneven > even:
            warn(
                f"{what}: |s| is even to {uneven:.2g} only, {even:g} was asked for: with at most "
                f"{MOST_FRAMES} control frames it cannot be, the path through the {len(given.p)} "
                f"frames turns too sharply ({len(curve.frames.p)} are used). If the frames are "
                "noisy, smooth them: cd.fit_spline_curve(frames, smoothing=...); if they are few, "
                "give more where the path bends; or allow more by even="
            )
        if accuracy is not None:
            curve._warn_of_bends(accuracy, what)
        return curve

    @property
    def domains(self) -> tuple[Domain, ...]:
        return ((-np.inf, np.inf),) if self.closed else (self.domain,)

    def sizes(self, length: float) -> tuple[tuple[float | None, ...], tuple[float | None, ...]]:
        mean = float(Metric.of(length).norm(self.twists(self.samples(1))[0]).mean()) / length
        return (mean,), (mean,)

    @cached_property
    def _steps(self) -> Array:
        """z_j between the frames, shape (n - 1, 6), or (n, 6) if closed."""
        return steps_between(self.frames, self.closed)

    @cached_property
    def spline(self) -> FrameSpline:
        """Its knots and intervals."""
        form = "closed" if self.closed else self.ends
        return FrameSpline.of(self.knots, self.order, len(self.frames.p), form)

    @cached_property
    def _pieces(self) -> Pieces:
        """One row per interval, and one beyond each end of an open curve."""
        frames = self.frames
        if self.ends == "mirrored":
            R, p = frames
            beyond = exp_se3(self._steps[[0, -1]] * [[-1.0], [1.0]])
            (R0, R1), (p0, p1) = Transform.unchecked(R[[0, -1]], p[[0, -1]]) @ beyond
            frames = Transform.unchecked(np.concatenate([[R0], R, [R1]]), np.concatenate([[p0], p, [p1]]))
        rows, breaks = self.spline.rows(frames), self.spline.edges[0][1:]
        if not self.closed:
            low, high = self.domain
            ends = [self.spline.beyond(row, q) for row, q in ((rows[0], low), (rows[-1], high))]
            rows = np.concatenate([ends[:1], rows, ends[1:]])
            breaks = np.concatenate([[low], breaks, [high]])
        return Pieces(breaks, rows, apart=True)

    @cached_property
    def _period(self) -> ConstantRow:
        """Where a closed curve begins, and its length."""
        return ConstantRow((float(self.knots[0]), float(self.knots[-1] - self.knots[0])))

    def form(self) -> tuple[str, tuple[RowSource, ...]] | None:
        if (form := self._pieces.form) is None:
            return None
        return f"SplineCurve({self.order}, {self.closed}, {form[0]})", (self._period, *form[1])

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        if self.closed:
            start, period = ca.vertsplit(look_up(self._period))
            q = q - period * ca.floor((q - start) / period)
        R, p, w, v, dw, dv = path(q, self._pieces.at(q, look_up=True), self.order)
        uu = u * u
        # s and ds are in the child's frame: errata on lee2008
        return RelativeMotion(
            R=R, p=p, H_w=R @ w, H_v=R @ v, bias_w=(R @ dw) * uu, bias_v=(R @ (dv + ca.cross(w, v))) * uu
        )

    def _at(self, q: ArrayLike) -> ScrewPath:
        x = real("SplineCurve: q", q)
        x = self.spline.within(x)
        return path(x, self._pieces.at_numbers(x), self.order)

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

    def report(self, each: int = SAMPLES) -> CurveReport:
        """|s|, |ds| and curvature along the curve, at some places of every knot interval."""
        q = self.samples(each)
        s, ds = self.twists(q)
        speed, across = self.metric.norm(s), bends(s, ds, self.metric)
        low, high = self.spline.edges
        parts = speed, self.metric.norm(ds), across / speed**2, across * (high - low)[:, None] ** 2 / 8
        name = self.coordinate if self.unit == "1" else f"{self.coordinate} [{self.unit}]"
        return CurveReport(f"{self!r}, {self.metric!r}", name, q.ravel(), *(x.ravel() for x in parts))

    def _warn_of_bends(self, accuracy: float, what: str) -> None:
        """Warn where the path deviates from the chord between two frames by more than the accuracy."""
        sites = np.append(self.sites, self.sites[0] + self.spline.period) if self.closed else self.sites
        h = np.diff(sites)
        s, ds = self.twists(sites[:-1, None] + h[:, None] * (np.arange(SAMPLES) + 0.5) / SAMPLES)
        height = bends(s, ds, self.metric).max(axis=1) * h**2 / 8  # (15)
        worst = int(height.argmax())
        if height[worst] > accuracy:
            warn(
                f"{what}: between frames[{worst}] and the next one, {self.coordinate} from "
                f"{sites[worst]:.6g} to {sites[worst + 1]:.6g}, the path rises {height[worst]:.3g} "
                f"m above its chord, in the metric; {accuracy:g} m was asked for "
                f"({int((height > accuracy).sum())} of {len(h)} steps are beyond). Give frames "
                "closer to each other there"
            )

    def samples(self, each: int = SAMPLES) -> Array:
        """Coordinates inside every knot interval of the domain, shape (intervals, each)."""
        low, high = self.spline.edges
        return low[:, None] + (high - low)[:, None] * (np.arange(each) + 0.5) / each

    def _check_jacobian(self, what: str) -> None:
        """lee2008, section 5: the Jacobian vanishes nowhere in the domain."""
        q = self.samples().ravel()
        length = self.speed(q)
        mean, worst = length.mean(), int(length.argmin())
        (first, *_), (*_, last) = self.spline.edges
        around = np.concatenate([[first], q, [last]])[[worst, worst + 2]]
        for _ in range(REFINED if length[worst] < 0.5 * mean else 0):  # nearer to the least
            near = np.linspace(around[0], around[1], 65)
            least = int(self.speed(near).argmin())
            around = near[[max(least - 1, 0), min(least + 1, 64)]]
        least_q = float(around.mean())
        if (least_s := min(float(self.speed(least_q)), length[worst])) > VANISHES * mean:
            return
        k = int(self.spline.interval(np.array(least_q)))
        low, high = (edge[k] for edge in self.spline.edges)
        raise DescriptionError(
            f"{what}: the Jacobian vanishes in the interval from {low:g} to {high:g}: |s| "
            f"= {least_s:.3g} at {self.coordinate} = {least_q:.6g}, {mean:.3g} on "
            "average. Its control frames are equal, or the path turns back on itself; "
            "there the body would not move whatever the speed"
        )

    def starts(self, q: Array, X_FM: Transform) -> Iterator[Array]:
        """q, then where the curve comes nearer to the pose than on both sides, the nearest first."""
        yield q
        x = self.samples(2).ravel()
        R, p = self.pose(x)
        turn = np.reshape(log_so3(np.swapaxes(R, 1, 2) @ X_FM.R), (-1, 3))
        far = np.hypot(np.linalg.norm(turn, axis=1), np.linalg.norm(p - X_FM.p, axis=1))
        around = (
            np.concatenate([far[-1:], far, far[:1]])
            if self.closed
            else np.pad(far, 1, constant_values=np.inf)
        )
        lowest = np.flatnonzero((far <= around[:-2]) & (far <= around[2:]))
        for k in lowest[np.argsort(far[lowest], kind="stable")]:
            yield x[k : k + 1]

    def drawn(self, size: float) -> list[Drawing]:
        low, high = self.domain
        points = self.pose(np.linspace(low, high, DRAWN)).p
        return [Drawing(Line(points))] if np.ptp(points, axis=0).any() else []

    def _scaled(self, s: Array) -> Mobilizer:
        """Positions of the control frames by the factors along F's axes; q too where it is a length."""
        if s.dtype == object:  # Parameters: one factor, the numbers of the spline stay
            return super()._scaled(s)
        grow = self._one_factor(s, f"{self.coordinate} [{self.unit}]") if self.unit in LENGTHS else 1.0
        W = np.diag(np.repeat([s.mean(), 1.0], 3))
        made = SplineCurve(
            Transform.unchecked(self.frames.R, self.frames.p * s),
            self.order,
            self.closed,
            knots=self.knots * grow,
            domain=(self.domain[0] * grow, self.domain[1] * grow),
            ends=self.ends,
            coordinate=self.coordinate,
            unit=self.unit,
            metric=Metric(W @ self.metric.matrix @ W),
        )
        if self.sites is not None:
            assign(made, sites=self.sites * grow)
        return made

    def random_q(self, rng: np.random.Generator) -> Array:
        low, high = self.domain
        return rng.uniform(low, high, 1)

    @cached_property
    def _text(self) -> str:
        numbers = b"".join(x.tobytes() for x in (self.knots, *self.frames))
        return hashlib.sha256(numbers).hexdigest()

    def description(self) -> str:
        return f"SplineCurve({len(self.frames.p)}, {self.order}, {self.closed}, {self.ends}, {self._text})"

    def __repr__(self) -> str:
        low, high = self.domain
        how = "closed" if self.closed else f"{self.ends} ends"
        return (
            f"SplineCurve({len(self.frames.p)} frames, order {self.order}, {how}, {self.coordinate} from "
            f"{low:g} to {high:g})"
        )


# ---- curve report ----------------------------------------------------------------------------------------
#
# CurveReport: speed and curvature of a spline curve, to print and to plot.


def bends(s: Array, ds: Array, metric: Metric) -> Array:
    """|ds across s| in the metric, shape (...): what turns the path, without what only changes its pace
    (14)."""
    a, b = s @ metric.root.T, ds @ metric.root.T
    share = (a * b).sum(axis=-1, keepdims=True) / (a * a).sum(axis=-1, keepdims=True)
    return np.linalg.norm(b - share * a, axis=-1)


@dataclass(frozen=True, eq=False, repr=False)
class CurveReport(Display):
    """|s(q)| and curvature along a curve, to print and to plot.

    Attributes:
        title: of the report.
        coordinate: its name, with its unit.
        q: sample points, several per knot interval, shape (m,).
        speed: |s| in the metric [m per unit of q], shape (m,).
        hessian: |ds| in the metric [m per unit^2], shape (m,).
        curvature: of the path in the metric, |ds across s| / |s|^2 [1/m], shape (m,).
        height: deviation of the path from its chord over the knot interval at q, |ds across s| h^2/8 [m],
            shape (m,).
    """

    title: str
    coordinate: str
    q: Array
    speed: Array
    hessian: Array
    curvature: Array
    height: Array

    @property
    def _block(self) -> Block:
        rows = []
        for name, unit, values in (
            ("|s|", "m per unit", self.speed),
            ("|ds|", "m per unit^2", self.hessian),
            ("curvature", "1/m", self.curvature),
            ("height over an interval", "m", self.height),
        ):
            least, most = int(values.argmin()), int(values.argmax())
            rows.append(
                (
                    f"{name} [{unit}]",
                    number(values.mean()),
                    number(values[least]),
                    number(self.q[least]),
                    number(values[most]),
                    number(self.q[most]),
                )
            )
        return Block(
            "", ("", "mean", "least", f"at {self.coordinate}", "largest", f"at {self.coordinate}"), rows
        )

    def __repr__(self) -> str:
        return f"{self.title}\n{self._block.text()}"

    def _repr_html_(self) -> str:
        return page(self.title, self._block)

    def plot(self, axes: Any = None) -> Any:
        """Draw |s| and |ds| over q.

        Args:
            axes: two of matplotlib's axes, one below the other; new ones by default.

        Returns:
            matplotlib's axes.
        """
        from condyle.table.plots import house_style, new_figure

        with house_style():
            axes = new_figure((7.2, 3.8)).subplots(2, 1, sharex=True) if axes is None else axes
            for ax, values, label in zip(
                axes, (self.speed, self.hessian), ("|s| [m per unit]", "|ds| [m per unit$^2$]"), strict=True
            ):
                ax.plot(self.q, values)
                ax.set_ylabel(label)
                ax.set_ylim(bottom=0)
            axes[-1].set_xlabel(self.coordinate)
        return axes
