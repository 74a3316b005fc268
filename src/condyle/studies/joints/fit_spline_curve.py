"""`cd.fit_spline_curve`: a joint with one coordinate along measured frames. docs/theory/spline_fits.md.

curve_least_squares.py has the fit at given q, unknown_q.py finds q. Cross-validation chooses the number of
control frames n and the weight of smoothing w with the least error at frames that were left out. Blocks of
neighboring frames, in q, are left out, because the noise of neighbors is correlated; the rest is fitted,
and the error is measured in the blocks. A block longer than half a knot interval leaves control frames
without data, where the curve is arbitrary. Hence blocks are short, every tenth of them is left out at once,
ten times, and w has a lower bound in these fits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condyle.arguments import with_call_hints
from condyle.arrays import Array, is_whole, real
from condyle.errors import DescriptionError
from condyle.integrate.progress import check_progress, shown
from condyle.mobilizers import SplineCurve
from condyle.native.machine.notice import announced
from condyle.spatial import Metric
from condyle.status import Outcome, Status
from condyle.studies.joints.curve_least_squares import (
    CurveProblem,
    poses,
    poses_of_rows,
    rows_of_poses,
    start,
)
from condyle.studies.joints.measured_frames import (
    LARGEST_STEP,
    FrameData,
    MeasuredFrames,
    check_frames,
    turns,
)
from condyle.studies.joints.result import JointFit
from condyle.studies.joints.six_functions import HUBER, check_loss
from condyle.studies.joints.spline_basis import CurveKnots, uniform_knots
from condyle.studies.joints.unknown_q import found_q
from condyle.system.checked_arguments import flag, number
from condyle.table import Table

WHO = "fit_spline_curve"
METHODS = ("gauss-newton", "geometric")
MORE = 10
"""Largest number of control frames per measured frame, if the curve is smoothed."""
GROWTH, MOST = 1.5, 40
"""Ratio of successive numbers of control frames to try, and the largest of these numbers."""
FIRST_N = 10
"""Number of control frames for finding unknown q, before their number is chosen."""


@with_call_hints(
    {
        "control_frames": "it is n=",
        "w": "it is smoothing=",
        "weight": "it is smoothing=",
        "huber": "it is loss='huber'",
        "periodic": "it is closed=",
        "degree": "it is order=, one more",
        "period": "it is domain=(low, high)",
    }
)
@announced
def fit_spline_curve(
    frames: FrameData,
    q: ArrayLike | None = None,
    n: int | Sequence[int] | None = None,
    order: int = 4,
    closed: bool = False,
    smoothing: float | Sequence[float] | None = 0.0,
    metric: Metric | ArrayLike | None = None,
    loss: str = "squares",
    *,
    scale: float | None = None,
    knots: ArrayLike | None = None,
    domain: tuple[float, float] | None = None,
    method: str = "gauss-newton",
    coordinate: str = "",
    unit: str = "",
    progress: bool | Callable[[float], object] = False,
) -> JointFit:
    """A `cd.SplineCurve` near measured frames: least squares over all its control frames.

    It minimizes sum_k |r_k|^2 + w int |ds/dq|^2 dq, with r_k = log(G(q_k)^-1 G_k) and s the joint Jacobian,
    both in the metric (lee2008 section 6). With more than one `n` or `smoothing` to choose from, or None,
    blocks of frames are left out, and the pair with the least error in them is taken (cross-validation).

    Args:
        frames: poses of one bone in the other: `cd.read_frames(...)`, a Transform with leading dimension m,
            arrays (R, p) of shapes (m, 3, 3) and (m, 3) [m], or an array (m, 4, 4).
        q: the coordinate of every frame, shape (m,), in any order; by default that of the file. None: found
            from the frames, in natural parameter, so that |s| is about the same everywhere: within a few
            percent, or 20 percent without noise, where the fit favors the last digits of the path.
        n: number of control frames, at least `order`; several numbers to choose from; or None: chosen from 4
            to 40, or fewer if there are few frames. With `smoothing` above 0 and known q there may be more than
            measured frames: the curve passes near these and is smooth between them.
        order: of the spline: 4 is cubic; 5 where derivatives of dynamics are used.
        closed: the path repeats; q has the period of `domain`.
        smoothing: w >= 0; several to choose from; or None: chosen from 0 and 1e-9 .. 1e-2 times m L^3, with L
            the range of q. The unit of w is that of q, cubed.
        metric: relative weight of rotations and translations: the length equivalent to 1 rad [m], best
            (noise of positions)/(noise of angles), an inertia, or a `cd.spatial.Metric`; 0.1 m by default.
        loss: "squares", or "huber", which gives outliers less weight.
        scale: |r| [m] from which the Huber loss is linear; 1.5 times the median of |r_k| by default.
        knots: knots of the spline, instead of uniform ones: n + order numbers, or n + 1 if it is closed.
        domain: first and last q; by default those of the frames, (0, 1) if q is unknown. A closed curve
            with given q needs it.
        method: "gauss-newton"; or "geometric", lee2008's iteration (32)-(36) first, as a comparison.
        coordinate: name of the coordinate of the joint.
        unit: unit of q.
        progress: True shows a bar; a function is called with the share done.

    Returns:
        a `JointFit`: `.mobilizer`, `.residuals`, `.q`, `.worst()`, `.plot()`, `.report()`,
        `.cross_validation`.

    Raises:
        DescriptionError: invalid frames, or too few for so many control frames; the error names the first
            control frame without data.
    """
    order, closed = _whole("order", order, 4, 12), flag(f"{WHO}: closed", closed)
    metric = Metric.of(metric, f"{WHO}: metric")
    check_loss(WHO, loss, scale)
    if method not in METHODS:
        raise DescriptionError(f"{WHO}: method: expected {' or '.join(map(repr, METHODS))}, got {method!r}")
    check_progress(WHO, progress)
    measured = check_frames(WHO, frames, q, fewest=order, degrees=unit in ("deg", "degrees", "°"))
    fit = _Fit(measured, order, closed, metric, loss, scale, method, knots, domain)
    weights = fit.weights(smoothing)
    counts = fit.counts(n, min(weights) > 0)
    report, stop = shown("fit") if progress is True else (progress or None, None)
    try:
        return fit.result(
            counts,
            weights,
            coordinate or (measured.coordinates or ("q",))[0],
            unit or (measured.units or ("",))[0] or "1",
            report,
        )
    finally:
        if stop is not None:
            stop()


class _Fit:
    """One call: the data and the options."""

    def __init__(
        self,
        measured: MeasuredFrames,
        order: int,
        closed: bool,
        metric: Metric,
        loss: str,
        scale: float | None,
        method: str,
        knots: ArrayLike | None,
        domain: tuple[float, float] | None,
    ) -> None:
        self.measured, self.order, self.closed, self.metric = measured, order, closed, metric
        self.loss, self.scale, self.method = loss, scale, method
        self.known = measured.q is not None
        self.m = len(measured)
        self.given = None if knots is None else self._given_knots(knots)
        self.domain = self._domain(domain)
        self.notes: list[str] = []

    def _given_knots(self, knots: ArrayLike) -> Array:
        t = np.asarray(real(f"{WHO}: knots", knots), dtype=float)
        least = self.order + 1 if self.closed else 2 * self.order
        if t.ndim != 1 or len(t) < least or not np.isfinite(t).all() or (np.diff(t) < 0).any():
            raise DescriptionError(
                f"{WHO}: knots: expected at least {least} numbers, none decreasing, got {knots!r}"
            )
        return t

    def _domain(self, domain: tuple[float, float] | None) -> tuple[float, float]:
        k, t, q = self.order, self.given, self.measured.q
        if t is not None:
            low, high = (t[0], t[-1]) if self.closed else (t[k - 1], t[-k])
        elif domain is not None:
            ends = np.asarray(real(f"{WHO}: domain", domain, "two numbers (low, high)"), dtype=float)
            low, high = ends if ends.shape == (2,) else (np.nan, np.nan)
        elif q is None:
            low, high = 0.0, 1.0
        elif self.closed:
            raise DescriptionError(
                f"{WHO}: a closed curve needs its period: domain=(low, high); the frames "
                f"have q from {q.min():g} to {q.max():g}"
            )
        else:
            low, high = q.min(), q.max()
        if not low < high:
            raise DescriptionError(
                f"{WHO}: domain: expected two numbers (low, high), low < high, got "
                f"{(float(low), float(high)) if domain is None else domain!r}"
            )
        if q is not None and not self.closed and (q.min() < low or q.max() > high):
            raise DescriptionError(
                f"{WHO}: q goes from {q.min():g} to {q.max():g}, beyond the domain from "
                f"{low:g} to {high:g}; give a wider one, or leave frames out"
            )
        return float(low), float(high)

    def counts(self, n: int | Sequence[int] | None, smooth: bool) -> list[int]:
        """Numbers of control frames to choose from; more than the number of frames if smoothing determines
        the rest (lee2008 section 6.3)."""
        k = self.order
        if self.given is not None:
            count = len(self.given) - (1 if self.closed else k)
            if n is not None and n != count:
                raise DescriptionError(
                    f"{WHO}: {len(self.given)} knots are for n = {count} control frames, got n = {n!r}"
                )
            return [count]
        if n is None:
            most = max(k, min(MOST, self.m // 3))
            return sorted({min(most, round(k * GROWTH**i)) for i in range(20)})
        several: list[Any] = list(n) if isinstance(n, (tuple, list, range, np.ndarray)) else [n]
        if not several:
            raise DescriptionError(f"{WHO}: n: expected a whole number, or several to choose from, got {n!r}")
        most = MORE * self.m if smooth and self.known else self.m
        return [_whole("n", value, k, most, self.known) for value in several]

    def weights(self, smoothing: float | Sequence[float] | None) -> list[float]:
        """Weights of smoothing to choose from."""
        if smoothing is None:
            unit = self.m * (self.domain[1] - self.domain[0]) ** 3
            return [0.0, *(unit * 10.0**i for i in range(-9, -1))]
        values = [
            number(f"{WHO}: smoothing", x, "a number >= 0, several to choose from, or None: chosen")
            for x in (smoothing if isinstance(smoothing, (tuple, list, np.ndarray)) else [smoothing])
        ]
        if not values or not all(0 <= x < np.inf for x in values):
            raise DescriptionError(
                f"{WHO}: smoothing: expected a number >= 0, several to choose from, or "
                f"None, got {smoothing!r}"
            )
        return values

    def knots(self, n: int) -> CurveKnots:
        t = uniform_knots(n, self.order, self.domain, self.closed) if self.given is None else self.given
        return CurveKnots(t, self.order, self.closed)

    def problem(self, n: int, smoothing: float) -> CurveProblem:
        D = rows_of_poses(self.measured.X)
        knots = self.knots(n)
        q = np.zeros(self.m) if self.measured.q is None else knots.wrapped(self.measured.q)
        return CurveProblem(knots, D, q, self.metric.root, np.ones(self.m), smoothing)

    def result(
        self,
        counts: list[int],
        weights: list[float],
        coordinate: str,
        unit: str,
        report: Callable[[float], object] | None,
    ) -> JointFit:
        table = None
        n, w = counts[0], weights[0]
        if len(counts) > 1 or len(weights) > 1:
            if not self.known:
                n = min(counts, key=lambda count: abs(count - FIRST_N))
            problem, _ = self.started(n, min((w for w in weights if w), default=0.0))
            n, w, table = cross_validated(problem, self.knots, counts, weights, report=report)
            self.notes = [f"n = {n} and smoothing = {w:g} by cross-validation over {len(table)} choices"]
            report = None
        problem, G = self.started(n, w, report)
        if self.method == "geometric":
            G, _ = problem.run(G, exact=False)
        G, converged = problem.run(G)
        return self._made(problem, G, converged, coordinate, unit, table)

    def started(
        self, n: int, w: float, report: Callable[[float], object] | None = None
    ) -> tuple[CurveProblem, Array]:
        """The problem with q and the scale of its loss, and initial control frames."""
        problem = self.problem(n, w)
        if self.known:
            self._check(problem)
            G = start(problem.knots, problem.D, problem.q)
        else:
            robust = self.loss == "huber"
            given = replace(problem, scale=self.scale) if robust and self.scale else problem
            problem, G, note = found_q(given, report, HUBER if robust and not self.scale else 0.0)
            self.notes.append(note)
            self._check(problem)
        _check_steps(problem.knots, G)
        if self.loss == "huber":
            problem = replace(problem, scale=self.scale or self._scale(problem, G))
        return problem, G

    def _scale(self, problem: CurveProblem, G: Array) -> float:
        """The scale of the loss from the median of |r_k| of a first fit, which is robust to outliers."""
        for _ in range(2):
            size = problem.evaluate(G)[3]
            problem = replace(problem, scale=max(HUBER * float(np.median(size)), 1e-12), history=[])
            G, _ = problem.run(G, iterations=4, tolerance=1e-3)
        return problem.scale

    def _check(self, problem: CurveProblem) -> None:
        if problem.smoothing or (j := problem.undetermined()) is None:
            return
        knots, length = problem.knots, self.domain[1] - self.domain[0]
        raise DescriptionError(
            f"{WHO}: the {self.m} frames do not determine control frame {j} of {knots.n}, which acts around "
            f"q = {knots.greville[j]:.4g}: too few of them are there. Use fewer control frames, give "
            f"smoothing, such as {FLOOR * self.m * length**3:.1g}, or measure there"
        )

    def _made(
        self,
        problem: CurveProblem,
        G: Array,
        converged: bool,
        coordinate: str,
        unit: str,
        table: Table | None,
    ) -> JointFit:
        knots, history = problem.knots, problem.history
        _check_steps(knots, G)
        mobilizer = SplineCurve(
            poses_of_rows(G),
            self.order,
            self.closed,
            knots=knots.knots,
            coordinate=coordinate,
            unit=unit,
            metric=self.metric,
        )
        self.notes.insert(
            0,
            f"{knots.n} control frames, order "
            f"{self.order}{', closed' if self.closed else ''}; smoothing "
            f"{problem.smoothing:g}; {len(history)} iterations",
        )
        if self.loss == "huber":
            off = int((problem.evaluate(G)[3] > problem.scale).sum())
            self.notes.append(f"Huber loss, linear from {1e3 * problem.scale:.4g} mm on: {off} frames")
        status = (
            Outcome(Status.FINISHED)
            if converged
            else Outcome(
                Status.STILL_IMPROVING,
                f"residuals were still falling after {len(history)} iterations; "
                f"{Status.STILL_IMPROVING.advice}",
            )
        )
        steps = Table(
            np.arange(len(history)),
            ["exact", "cost", "step"],
            np.array([(step.method == "Gauss-Newton", step.cost, step.length) for step in history]).reshape(
                -1, 3
            ),
            ["", "m^2", "m"],
            over="trial",
        )
        return JointFit.of(
            mobilizer,
            self.measured,
            problem.q,
            poses(knots, G, problem.q),
            self.metric,
            status=status,
            notes=tuple(self.notes),
            steps=steps,
            cross_validation=table,
        )


def _check_steps(knots: CurveKnots, G: Array) -> None:
    """Raise an error for rotations between neighboring control frames whose direction is ambiguous."""
    R = poses_of_rows(G).R
    after = np.roll(R, -1, axis=0) if knots.closed else R[1:]
    turn = turns(R[: len(after)], after)
    if turn.max() > LARGEST_STEP:
        j = int(turn.argmax())
        raise DescriptionError(
            f"{WHO}: from control frame {j} to the next the rotation is "
            f"{np.degrees(turn[j]):.0f} deg, near q = {knots.greville[j]:.4g}; above "
            f"{np.degrees(LARGEST_STEP):.0f} its direction is not known: ask for more "
            "control frames, or see whether frames there are wrong"
        )


def _whole(name: str, value: Any, least: int, most: int, known: bool = False) -> int:
    if not is_whole(value, least, most):
        words = f" to {most}"
        if name == "n":
            words += ", at most as many as there are frames"
            words += f", or {MORE} times as many with smoothing > 0" if known else ""
        raise DescriptionError(f"{WHO}: {name}: expected a whole number from {least}{words}, got {value!r}")
    return int(value)


FOLDS = 10
"""Number of fits with some blocks left out; each block is left out in one of them."""
FLOOR = 1e-9
"""Least weight of smoothing in these fits, in units of m L^3: frames times the cube of q's range, the unit in
which w has the same effect whatever m and the unit of q are."""
ITERATIONS, TOLERANCE = 8, 1e-4
"""Limits of fits in cross-validation, which may stop early, since noise is far above their remaining
error."""


def cross_validated(
    problem: CurveProblem,
    knots_of: Callable[[int], CurveKnots],
    counts: list[int],
    weights: list[float],
    report: Callable[[float], object] | None = None,
) -> tuple[int, float, Table]:
    """n and w with the least error at left-out frames, and the errors of all pairs that were tried.

    Args:
        problem: the data; its knots and smoothing are not used.
        knots_of: knots for n control frames.
        counts: values of n to try.
        weights: values of w to try.
        report: called with the share done.
    """
    m = len(problem.q)
    fold = np.empty(m, dtype=int)
    blocks = min(m, max(FOLDS, 2 * max(counts)))
    fold[np.argsort(problem.q, kind="stable")] = np.arange(m) * blocks // m % FOLDS
    rows, total = [], len(counts) * len(weights)
    low, high = problem.knots.domain
    floor = FLOOR * m * (high - low) ** 3
    for n in counts:
        knots, G = knots_of(n), None
        for w in sorted(weights, reverse=True):  # smoother fits are the start of less smooth ones
            at = replace(problem, knots=knots, smoothing=max(w, floor), history=[])
            G = at.run(
                start(knots, at.D, at.q) if G is None else G, iterations=ITERATIONS, tolerance=TOLERANCE
            )[0]
            error = _left_out(at, G, fold)
            rows.append((n, w, 1e3 * np.sqrt(np.mean(error**2)), 1e3 * np.median(error)))
            if report is not None:
                report(len(rows) / total)
    rows.sort()
    # among equals the simplest: most smoothing, then fewest control frames
    robust = np.isfinite(problem.scale)
    best = min(rows, key=lambda row: (row[3] if robust else row[2], row[0], -row[1]))
    table = Table(
        np.arange(len(rows)),
        ["n", "smoothing", "error", "median"],
        np.array(rows, dtype=float),
        ["", "", "mm", "mm"],
        over="trial",
    )
    return int(best[0]), float(best[1]), table


def _left_out(problem: CurveProblem, G: Array, fold: Array) -> Array:
    """|r_k| [m] of every frame in the fit without its block, shape (m,)."""
    error = np.empty(len(problem.q))
    for f in range(FOLDS):
        out = fold == f
        at = replace(problem, weights=np.where(out, 0.0, problem.weights), history=[])
        left = at.run(G, iterations=ITERATIONS, tolerance=TOLERANCE)[0]
        error[out] = at.evaluate(left)[3][out]
    return error
