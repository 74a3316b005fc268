"""`cd.fit_function_based`: axes and functions of seth2010 (18), fitted to measured frames.

  R = R(a1, theta1) R(a2, theta2) R(a3, theta3),   p = a4 p1 + a5 p2 + a6 p3             seth2010 (18)

Six free functions of one coordinate fit any path with any axes. We choose

  a1   first eigenvector of sum w w', w the rotations from frame to frame in F: the joint's main axis
  b1   the same in M
  a2   perpendicular to a1, near one of x, y, z
  a3   perpendicular to a2, turned about it so that a1 = R b1 in the middle of the motion: theta2 is small (1)

so that the first angle contains most of the motion and gimbal lock is far away. If a function is fixed, the
axes can no longer be chosen and are fitted with the functions.

Without q, one of the six is the coordinate itself. It must grow along the path, by much more than it scatters:

  score = (smallest slope along the path) / (scatter about its trend),   the largest is best               (2)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condyle.arguments import with_call_hints
from condyle.arrays import Array
from condyle.errors import DescriptionError, UnknownNameError, check_name, warn
from condyle.functions import BSpline, Linear
from condyle.mobilizers import FunctionBased
from condyle.mobilizers.closed_form import LETTERS, unit_axis
from condyle.presentation import Block, cut
from condyle.records import dataclass
from condyle.spatial import Metric, Transform, euler_from_rotation, exp_so3, log_so3, skew
from condyle.studies.joints.measured_frames import FrameData, check_frames
from condyle.studies.joints.result import JointFit
from condyle.studies.joints.six_functions import (
    FunctionsProblem,
    PoseModel,
    Unknowns,
    check_loss,
    continuous,
    weight_of,
)
from condyle.studies.joints.spline_basis import Grid, undetermined, uniform_knots

KINDS = ("spline", "constant")


@dataclass(frozen=True, eq=False, repr=False)
class FunctionBasedFit(JointFit):
    """A `cd.FunctionBased` from measured frames: from `cd.fit_function_based`. Attributes shared with other
    fits are described in `JointFit`.

    Attributes:
        candidates: the six functions as the independent coordinate, the best first.
        independent: the function that is the coordinate, "angle1" .. "translation3"; None if q was given.
    """

    candidates: tuple[Candidate, ...] = ()
    independent: str | None = None

    def report(self) -> str:
        """A report of the fit, its quality, and the ranking of functions as the coordinate, as text."""
        return super().report() + "\n  " + table_of(self.candidates).replace("\n", "\n  ")


@with_call_hints(
    {
        "splines": "it is n, the number of coefficients of each function",
        "degree": "it is order = degree + 1",
        "weights": "it is metric=, the length that 1 rad counts as",
    }
)
def fit_function_based(
    frames: FrameData,
    q: ArrayLike | None = None,
    n: int = 8,
    *,
    angles: Sequence[str | float | None] = ("spline",) * 3,
    translations: Sequence[str | float | None] = ("spline",) * 3,
    axes: Sequence[object] | None = None,
    independent: str | None = None,
    order: int = 4,
    domain: tuple[float, float] | None = None,
    smoothing: float = 0.0,
    metric: Metric | ArrayLike | None = None,
    loss: str = "squares",
    scale: float | None = None,
    coordinate: str = "q",
    unit: str | None = None,
) -> FunctionBasedFit:
    """A `cd.FunctionBased` of one coordinate fitted to measured frames: axes and splines of seth2010 (18).

    All functions are fitted at once, by least squares in the metric of SE(3). With six splines the axes are a
    choice: the first is the joint's main axis of rotation. If an angle or a translation is fixed, by None,
    a number or "constant", the axes are fitted too.

    Without q, one of the six functions becomes the coordinate: the one with the largest (smallest slope along
    the path) / (scatter about it). `fit.candidates` and `fit.report()` show all six.

    Args:
        frames: poses X_FM [m]: `cd.read_frames(path)`, a Transform with leading dimension N, or arrays (R,
            p).
        q: coordinate of each frame, shape (N,). Default: one of the six functions is the coordinate.
        n: coefficients of each spline, at least `order`.
        angles: for each of three, "spline", "constant" (one number to be fitted), a number [rad] or None
            (zero).
        translations: the same, numbers in meters.
        axes: three rotation axes, optionally followed by three of the translations, as for FunctionBased.
            If axes are fitted, these are their initial values. Default: the principal axis first; x, y, z
            for translations.
        independent: the function that is the coordinate, "angle1" .. "translation3". Default: the best one.
        order: of the splines; 4 is cubic, 5 or 6 where derivatives of dynamics are used.
        domain: interval of q over which the knots are spaced evenly. Default: that of the frames. Beyond it
            the outermost polynomials continue.
        smoothing: weight w of w int |d2 phi / dq2|^2 dq, which is added to the sum of squares of the
            residuals.
        metric: length [m] equivalent to 1 rad, or a `cd.spatial.Metric`. Default 0.1 m.
        loss: "squares", or "huber", which gives outliers less weight.
        scale: |r| [m] from which the Huber loss is linear; 1.5 times the median of |r_k| by default.
        coordinate: name of the coordinate.
        unit: unit of q. Default "rad" or "m", that of the independent function.

    Returns:
        fit.mobilizer, .q, .residuals, .worst(), .report(), .plot(), and .candidates.

    Raises:
        DescriptionError: frames that do not fit this kind of motion, or an independent function that
            reverses.
        ConvergenceError: no minimum.
    """
    who = "fit_function_based"
    given = check_frames(who, frames, q, fewest=order)
    kinds = _kinds(who, angles, translations)
    if "spline" not in kinds:
        raise DescriptionError(
            f"{who}: angles = {angles!r} and translations = {translations!r} have no "
            "'spline': nothing would move with the coordinate"
        )
    metric, D = Metric.of(metric, f"{who}: metric"), given.X
    check_loss(who, loss, scale)
    lengths = np.sqrt(np.diag(metric.matrix))  # equivalent to one unit of each function
    fixed = axes is not None
    start = _given_axes(who, axes) if axes is not None else principal_axes(D.R, given.q)
    turning = [j for j in range(3) if kinds[j] not in (None, 0.0)]
    if axes is None and len(turning) == 2:
        start[turning] = two_axes(D.R, start[0])
    phi = _functions_of(D, start, turning, given.q)
    candidates = rank(phi, lengths)
    if given.q is None:
        best = independent_function(who, independent, candidates, kinds, given_axes=fixed)
        q_start = phi[:, best]
    else:
        best, q_start = -1, given.q
        if independent is not None:
            raise DescriptionError(
                f"{who}: q is given, so no function can be the coordinate; leave out q or "
                f"independent={independent!r}"
            )
    if domain is None:
        low, high = float(q_start.min()), float(q_start.max())
    else:
        low, high = domain if np.shape(domain) == (2,) else (math.nan, math.nan)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise DescriptionError(f"{who}: domain must be (low, high) with low < high, got {domain!r}")
    if not (isinstance(n, (int, np.integer)) and isinstance(order, (int, np.integer)) and n >= order >= 4):
        raise DescriptionError(
            f"{who}: n, the number of coefficients, must be at least order, and order at "
            f"least 4 (functions need two continuous derivatives), got n = {n!r}, order = "
            f"{order!r}"
        )
    grid = Grid((uniform_knots(int(n), int(order), (low, high)),), int(order))
    weight, cells = undetermined(grid, q_start[:, None], weight_of(who, smoothing), who)
    notes: tuple[str, ...] = (f"{n} coefficients per spline, order {order}",)
    if cells:
        text = (
            f"the frames do not determine the functions in {len(cells)} interval(s) of q, "
            f"{cut(cells, 3)}; smoothed with weight {weight:.2g}"
        )
        warn(f"{who}: {text}: take fewer coefficients (n = {n}), more frames, or another domain")
        notes += (text,)

    c = _coefficients(grid, q_start, phi, kinds, best)
    free = tuple(j for j in range(6) if kinds[j] == "spline" and j != best)
    constants = tuple(j for j in range(6) if kinds[j] == "constant")
    axes_free = tuple(
        j
        for group in (range(3), range(3, 6))
        if any(kinds[i] != "spline" for i in group)
        for j in group
        if kinds[j] == "spline" or (kinds[j] == "constant" and j < 3)
    )
    model = PoseModel(
        lambda phi, extra: _pose(phi, extra, axes_free, constants),
        free,
        lengths**2,
        lambda extra, step: _moved(extra, step, axes_free, constants),
    )
    extra = (start, np.where(np.isin(np.arange(6), constants), phi.mean(axis=0), 0.0))
    problem = FunctionsProblem(who, grid, model, D, metric.root, best >= 0, weight)
    found, more, status = problem.solve(Unknowns(c, q_start[:, None], extra), loss, scale)
    A, values = found.extra
    laws = [
        Linear(1.0)
        if j == best
        else BSpline(grid.knots[0], found.c[:, j], int(order) - 1)
        if kinds[j] == "spline"
        else float(values[j])
        if kinds[j] == "constant"
        else kinds[j]
        for j in range(6)
    ]
    units = () if unit is None and best < 0 else (unit or ("rad" if best < 3 else "m"),)
    mobilizer = FunctionBased(
        (coordinate,), laws[:3], laws[3:], axes=[tuple(a) for a in A], units=units, domain=(low, high)
    )
    notes += (f"coordinate: {NAMES[best]}" if best >= 0 else "coordinate: given", *more)
    fitted = _pose(grid.evaluate(found.q, found.c), found.extra, axes_free, constants)[0]
    return FunctionBasedFit.of(
        mobilizer,
        given,
        found.q[:, 0],
        fitted,
        metric,
        status=status,
        notes=notes,
        candidates=candidates,
        independent=NAMES[best] if best >= 0 else None,
    )


# ---- The choice of axes (1) --------------------------------------------------------------------------------


def principal_axes(R: Array, q: Array | None = None) -> Array:
    """Six axes for frames R (N, 3, 3), sorted by q if given: (1), then x, y, z; shape (6, 3)."""
    if q is not None:
        R = R[np.argsort(q, kind="stable")]
    stride = max(1, len(R) // 20)
    w_M = np.reshape(log_so3(np.swapaxes(R[:-stride], 1, 2) @ R[stride:]), (-1, 3))
    w_F = (R[:-stride] @ w_M[:, :, None])[:, :, 0]
    if not np.abs(w_F).max() > 1e-9:
        return np.vstack([np.eye(3), np.eye(3)])  # no rotation
    a1, b1 = (np.linalg.eigh(w.T @ w)[1][:, 2] for w in (w_F, w_M))
    a1 = _positive(a1)
    b1 = b1 * (np.sign((w_F @ a1) @ (w_M @ b1)) or 1.0)
    # The letter after the one that a1 is nearest to: for z this is x, and a3 is then near y.
    letter = np.eye(3)[(int(np.abs(a1).argmax()) + 1) % 3]
    a2 = letter - (letter @ a1) * a1
    a2 /= np.linalg.norm(a2)
    third = np.cross(a1, a2)
    turn = math.atan2(b1 @ third, b1 @ a1)  # R(a2, -turn) R(third, .) a1 = b1
    return np.vstack([a1, a2, np.asarray(exp_so3(-turn * a2)) @ third, np.eye(3)])


def two_axes(R: Array, a: Array) -> Array:
    """Axes a and b, shape (2, 3), for which R = R(a, .) R(b, .) is nearest to frames (N, 3, 3): a' (R - 1)
    b = 0 for all.

    Args:
        a: initial value of a.
    """
    flat = (R - np.eye(3)).reshape(-1, 9)
    T = flat.T @ flat
    least: float = np.inf
    found: Array = np.stack([a, _across(a)[:, 0]])
    for start in itertools.product((a, *_across(a).T), repeat=2):
        pair, damping = np.stack(start), 1e-3
        cost = float(np.kron(*pair) @ T @ np.kron(*pair))
        for _ in range(100):
            (one, two), (left, right) = pair, map(_across, pair)
            J = np.column_stack([np.kron(left, two[:, None]), np.kron(one[:, None], right)])
            A = J.T @ T @ J
            step = np.linalg.solve(A + damping * np.trace(A) * np.eye(4), -J.T @ T @ np.kron(one, two))
            trial = np.stack(
                [
                    np.asarray(exp_so3(np.cross(x, x_step))) @ x
                    for x, x_step in ((one, left @ step[:2]), (two, right @ step[2:]))
                ]
            )
            new = float(np.kron(*trial) @ T @ np.kron(*trial))
            pair, cost, damping = (trial, new, damping / 10) if new < cost else (pair, cost, 10 * damping)
            if damping > 1e6:
                break
        if cost < least and abs(pair[0] @ pair[1]) < 0.9:
            least, found = cost, np.stack([_positive(x) for x in pair])
    return found


def _positive(a: Array) -> Array:
    """The axis with the sign that makes its largest component positive; exactly x, y or z if it is
    close."""
    largest = int(np.abs(a).argmax())
    a = a * np.sign(a[largest])
    return np.eye(3)[largest] if np.abs(a - np.eye(3)[largest]).max() < 1e-12 else a


def _given_axes(who: str, axes: Sequence[object]) -> Array:
    if not isinstance(axes, (tuple, list, np.ndarray)) or len(axes) not in (3, 6):
        raise DescriptionError(
            f"{who}: axes must be three (rotations) or six (and translations), got {axes!r}"
        )
    every = [unit_axis(a, f"{who}: axes[{i}]") for i, a in enumerate((*axes, *LETTERS)[:6])]
    return np.array(every)


def _functions_of(D: Transform, axes: Array, turning: Sequence[int], q: Array | None = None) -> Array:
    """The six values that reproduce each frame, or come nearest to it if some angles are fixed, shape (N,
    6)."""
    a1, a2, a3 = axes[:3]
    second = a2 - (a2 @ a1) * a1
    second = (
        second / np.linalg.norm(second) if np.linalg.norm(second) > 1e-3 else np.eye(3)[np.abs(a1).argmin()]
    )
    second = second - (second @ a1) * a1
    second /= np.linalg.norm(second)
    third = np.cross(a1, second)
    sign = 1.0 if a3 @ third >= 0 else -1.0
    turn = math.atan2(np.cross(sign * a3, third) @ second, sign * a3 @ third)
    A = np.stack([a1, second, third], axis=1)
    theta = euler_from_rotation(A.T @ D.R @ np.asarray(exp_so3(-turn * second)) @ A) + [0.0, turn, 0.0]
    theta[:, 2] *= sign
    theta = continuous(theta, None if q is None else q[:, None])
    theta[:, [j for j in range(3) if j not in turning]] = 0.0
    columns = list(turning)
    # exact without iteration if a1, a2 and a2, a3 are perpendicular
    for _ in range(30 if columns else 0):
        R, W, _ = _rotation(theta, axes)
        e = np.reshape(log_so3(np.swapaxes(R, 1, 2) @ D.R), (-1, 3))
        step = (np.linalg.pinv(W[:, :, columns], rcond=1e-6) @ e[:, :, None])[:, :, 0]
        theta[:, columns] += np.clip(step, -0.5, 0.5)
        if np.abs(step).max() < 1e-14:
            break
    return np.column_stack([theta, D.p @ np.linalg.inv(axes[3:])])


# ---- The model ---------------------------------------------------------------------------------------------


def _rotation(theta: Array, axes: Array) -> tuple[Array, Array, tuple[Array, Array, Array]]:
    """R (N, 3, 3), its angular velocity per angle in M (N, 3, 3), and the three rotations."""
    R1, R2, R3 = (np.asarray(exp_so3(theta[:, j : j + 1] * axes[j])) for j in range(3))
    W = np.stack(
        [
            np.swapaxes(R2 @ R3, 1, 2) @ axes[0],
            np.swapaxes(R3, 1, 2) @ axes[1],
            np.broadcast_to(axes[2], (len(theta), 3)),
        ],
        axis=2,
    )  # seth2010 (20)
    return R1 @ R2 @ R3, W, (R1, R2, R3)


def _pose(
    phi: Array, extra: tuple[Array, Array], axes_free: Sequence[int], constants: Sequence[int]
) -> tuple[Transform, Array, Array]:
    """X, twists per function and per extra unknown: two directions of each free axis, then the constants."""
    axes, values = extra
    phi = phi + values
    R, W, (R1, R2, R3) = _rotation(phi[:, :3], axes)
    back = np.swapaxes(R, 1, 2)
    S = np.zeros((len(phi), 6, 6))
    S[:, :3, :3], S[:, 3:, 3:] = W, back @ axes[3:].T
    E = np.zeros((len(phi), 6, 2 * len(axes_free) + len(constants)))
    each, after = (R1, R2, R3), (R2 @ R3, R3, np.broadcast_to(np.eye(3), R.shape))
    for m, j in enumerate(axes_free):
        across = _across(axes[j])
        # R(E a) = E R(a) E': rotating the axis by w rotates M by (R_j' - 1) w, then by the following
        # rotations
        if j < 3:
            E[:, :3, 2 * m : 2 * m + 2] = (
                np.swapaxes(after[j], 1, 2) @ (np.swapaxes(each[j], 1, 2) - np.eye(3)) @ across
            )
        else:
            E[:, 3:, 2 * m : 2 * m + 2] = (back @ (-np.asarray(skew(axes[j])) @ across)) * phi[
                :, j, None, None
            ]
    E[:, :, 2 * len(axes_free) :] = S[:, :, list(constants)]
    return Transform.unchecked(R, phi[:, 3:] @ axes[3:]), S, E


def _moved(
    extra: tuple[Array, Array], step: Array, axes_free: Sequence[int], constants: Sequence[int]
) -> tuple[Array, Array]:
    axes, values = extra[0].copy(), extra[1].copy()
    for m, j in enumerate(axes_free):
        axes[j] = np.asarray(exp_so3(_across(axes[j]) @ step[2 * m : 2 * m + 2])) @ axes[j]
    values[list(constants)] += step[2 * len(axes_free) :]
    return axes, values


def _across(a: Array) -> Array:
    """Two directions perpendicular to an axis, shape (3, 2)."""
    return np.linalg.svd(a[None, :])[2][1:].T


def _coefficients(grid: Grid, q: Array, phi: Array, kinds: Sequence[Any], best: int) -> Array:
    """Initial coefficients: each function fitted separately, shape (size, 6)."""
    c: Array = np.asarray(np.linalg.lstsq(grid.dense(q[:, None]), phi, rcond=1e-10)[0], float)
    for j, kind in enumerate(kinds):
        if kind != "spline":
            c[:, j] = 0.0 if kind in ("constant", None) else float(kind)
    if best >= 0:
        c[:, best] = grid.greville()[:, 0]
    return c


def _kinds(who: str, angles: Any, translations: Any) -> list[Any]:
    kinds: list[Any] = []
    for label, given in (("angles", angles), ("translations", translations)):
        if not isinstance(given, (tuple, list)) or len(given) != 3:
            raise DescriptionError(
                f"{who}: {label} must be three of 'spline', 'constant', a number or None, got {given!r}"
            )
        for i, kind in enumerate(given):
            if isinstance(kind, str):
                check_name(f"kind of {label}[{i}]", kind, KINDS)
            elif kind is not None and (
                isinstance(kind, bool) or not isinstance(kind, (int, float)) or not math.isfinite(kind)
            ):
                raise DescriptionError(
                    f"{who}: {label}[{i}] must be 'spline', 'constant', a number or None, got {kind!r}"
                )
            kinds.append(kind if isinstance(kind, str) or kind is None else float(kind))
    return kinds


NAMES = ("angle1", "angle2", "angle3", "translation1", "translation2", "translation3")
PIECES = 5
"""Number of cubic pieces of the trends along the path in (2)."""
CLEAR = 3.0
"""A score (2) below this is no better than noise."""


@dataclass(frozen=True)
class Candidate:
    """One of the six functions as the independent coordinate (2).

    Attributes:
        name: "angle1" .. "translation3".
        low: its smallest value in the frames [rad or m].
        high: its largest.
        slope: its smallest slope along the path, whose length is 1 [rad or m]; negative if it reverses.
        scatter: root mean square distance of the frames from its trend [rad or m].
        score: slope / scatter.
    """

    name: str
    low: float
    high: float
    slope: float
    scatter: float
    score: float


def table_of(candidates: Sequence[Candidate]) -> str:
    """The candidates as text, angles in degrees, translations in millimeters."""
    rows = []
    for c in candidates:
        scale, unit = (math.degrees(1), "deg") if c.name.startswith("angle") else (1e3, "mm")
        low, high, slope, scatter = (f"{scale * x:.4g}" for x in (c.low, c.high, c.slope, c.scatter))
        rows.append(
            (
                c.name,
                f"{low} .. {high} {unit}",
                slope if c.slope > 0 else "turns back",
                scatter,
                f"{c.score:.3g}" if c.score > 0 else "-",
            )
        )
    return Block(
        "independent coordinate: (smallest slope) / (scatter)",
        ("function", "range", "slope", "scatter", "score"),
        rows,
    ).text()


def rank(phi: Array, scale: Array) -> tuple[Candidate, ...]:
    """The six functions ranked as the independent coordinate, the best first.

    Args:
        phi: their values in the frames, shape (N, 6).
        scale: length [m] equivalent to one unit of each, shape (6,).
    """
    x = (phi - phi.mean(axis=0)) * scale
    n = len(x)
    along = x @ np.linalg.svd(x, full_matrices=False)[2][0]
    grid = Grid((uniform_knots(3 + min(PIECES, max(1, n // 8)), 4, (0.0, 1.0)),), 4)

    def trend(s: Array) -> tuple[float, Array, Array]:
        D = grid.dense(s[:, None])
        c = np.asarray(np.linalg.lstsq(D, phi, rcond=None)[0], float)
        return float((((phi - D @ c) * scale) ** 2).sum()), D, c

    # Position along the path: the first principal component; the order of the frames if the path reverses
    # in that.
    by_component, by_order = (
        trend((along - along.min()) / (np.ptp(along) or 1.0)),
        trend(np.linspace(0, 1, n)),
    )
    _, D, c = by_order if by_order[0] < 0.25 * by_component[0] - 1e-6 * (x * x).sum() else by_component
    slopes = grid.dense(np.linspace(0, 1, 401)[:, None], [1])
    # A smaller scatter comes from the trend, not from the data: exact data are ranked by slope alone.
    smallest = 1e-4 * np.ptp(x, axis=0).max() / scale
    scatter = np.maximum(np.sqrt(((phi - D @ c) ** 2).mean(axis=0)), smallest)
    slope = slopes @ c
    slope = (slope * np.where(slope.sum(axis=0) < 0, -1.0, 1.0)).min(axis=0)
    every = [
        Candidate(
            NAMES[j],
            *map(float, (phi[:, j].min(), phi[:, j].max(), slope[j], scatter[j], slope[j] / scatter[j])),
        )
        for j in range(6)
    ]
    return tuple(sorted(every, key=lambda c: -c.score))


def independent_function(
    who: str, name: str | None, candidates: Sequence[Candidate], kinds: Sequence[Any], given_axes: bool
) -> int:
    """The function that is the coordinate."""
    if name is not None and name not in NAMES:
        raise UnknownNameError("function", name, NAMES)
    possible = [c for c in candidates if kinds[NAMES.index(c.name)] == "spline" and name in (None, c.name)]
    if not possible:
        raise DescriptionError(
            f"{who}: the coordinate must be one of the splines, but "
            + (f"{name} is fixed" if name else "all six functions are fixed")
        )
    best = possible[0]
    if best.score < CLEAR:
        raise DescriptionError(
            f"{who}: {f'{name} is not' if name else 'none of the functions is'} fit to be the coordinate: it "
            "must grow along the path by more than it scatters. Give q, "
            + ("other axes, " if given_axes else "")
            + "or use cd.fit_spline_curve, which needs none\n"
            + table_of(candidates)
        )
    return NAMES.index(best.name)
