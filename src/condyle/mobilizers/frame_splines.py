"""B-splines of frames in SE(3): rows of numbers, one for each knot interval, and what a curve is on it.
docs/theory/spline_joints.md (1)-(8).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array, is_whole, matrices, real
from condyle.errors import DescriptionError, ShapeError, warn
from condyle.functions.pieces import taylor
from condyle.mobilizers import bsplines
from condyle.records import dataclass
from condyle.spatial import Metric, Transform, exp_se3, log_se3
from condyle.spatial.algebra import apply, cos, cross, entries, matrix, scale, sin, transpose, vector


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

    def at(self, q: Array, rows: Array, rates: int = 2) -> ScrewPath:
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


def path(q: Any, row: Any, order: int, rates: int = 2) -> ScrewPath:
    """Pose, s and ds from a row, or from rows (..., size): lee2008 (24), (27)-(31). rates: as in `along`."""
    k = order
    each = ca.vertsplit(row) if isinstance(row, ca.SX) else list(np.moveaxis(row, -1, 0))
    R, p = matrix([each[1:4], each[4:7], each[7:10]]), vector(each[10:13])
    start = 13 + SIZE * (k - 1)
    steps = [vector(each[13 + SIZE * j : 13 + SIZE * (j + 1)]) for j in range(k - 1)]
    polynomials = [each[start + k * j : start + k * (j + 1)] for j in range(k - 1)]
    return along(q - each[0], R, p, steps, polynomials, rates)


# ---- screws ----------------------------------------------------------------------------------------------
#
# Exponentials of constant twists, and products of them with their derivatives, for numbers and symbols
# alike. docs/theory/spline_joints.md (5)-(8).
#
#     z = (w, v):   theta = |w|,  n = w/theta,  h = n.v,  B = (v - h n)/theta                              (5)
#                   w = 0:  n = v/|v|,  theta = 0,  h = |v|,  B = 0
#     exp(z f) = (1 + s [n] + c [n]^2,  h f n + s B + c n x B),   s = sin(theta f),  c = 1 - cos(theta f)    (6)
#     ds <- z f'' + Ad^-1 (ds + ad_s z f'),   s <- z f' + Ad^-1 s,  Ad that of exp(z f)  lee2008 (29), (31)  (7)
#
# A twist in the form (5) takes one sine and one cosine of half the angle, no series and no branch, and loses no
# digit at any angle.


SIZE = 8
"""Numbers of a screw: n (3), theta, h, B (3)."""

TINY = 1e-150
"""Rotation [rad] below which a twist is a translation."""


def screws(z: Array) -> Array:
    """The form (5) of twists z (..., 6), shape (..., 8)."""
    w, v = z[..., :3], z[..., 3:]
    theta, length = (np.linalg.norm(x, axis=-1, keepdims=True) for x in (w, v))
    turns = theta > TINY
    safe = np.where(turns, theta, 1.0)
    along = np.where(length > 0, v / np.where(length > 0, length, 1.0), [0.0, 0.0, 1.0])
    n = np.where(turns, w / safe, along)
    h = (n * v).sum(axis=-1, keepdims=True)
    return np.concatenate(
        [n, np.where(turns, theta, 0.0), h, np.where(turns, (v - h * n) / safe, 0.0)], axis=-1
    )


class ScrewPath(NamedTuple):
    """A pose and its derivatives by the parameter: the joint Jacobian s and its derivative ds, in the child's
    frame, each as its angular and its linear part."""

    R: Any
    p: Any
    w: Any
    v: Any
    dw: Any
    dv: Any


def along(
    x: Any, R: Any, p: Any, each: Sequence[Any], polynomials: Sequence[Sequence[Any]], rates: int = 2
) -> ScrewPath:
    """G(x) = (R, p) exp(z_1 f_1(x)) exp(z_2 f_2(x)) ..., s and ds: lee2008 (6), (26) and appendix B.

    Args:
        x: the parameter: one symbol, or numbers (...).
        R: rotation at the start, shape (..., 3, 3).
        p: position at the start, shape (..., 3).
        each: the twists in the form (5), (..., 8) each.
        polynomials: coefficients of the f, from the constant one up.
        rates: 2; or 1 without ds, or 0 without s and ds, which are None then.
    """
    w = v = dw = dv = None
    for screw, c in zip(each, polynomials, strict=True):
        f, *derivatives = (taylor(x, c, d) for d in range(1 + rates))
        R_f, p_f, z_w, z_v = _exponential(screw, f)
        back = transpose(R_f)
        if rates == 2:
            ddf = derivatives[1]
            if dw is None:
                dw, dv = scale(ddf, z_w), scale(ddf, z_v)
            else:
                df = derivatives[0]
                dw, dv = dw + scale(df, cross(w, z_w)), dv + scale(df, cross(v, z_w) + cross(w, z_v))  # (7)
                dv, dw = apply(back, dv - cross(p_f, dw)) + scale(ddf, z_v), apply(back, dw) + scale(ddf, z_w)
        if rates:
            df = derivatives[0]
            if w is None:
                w, v = scale(df, z_w), scale(df, z_v)
            else:
                v, w = apply(back, v - cross(p_f, w)) + scale(df, z_v), apply(back, w) + scale(df, z_w)
        p, R = p + apply(R, p_f), R @ R_f
    return ScrewPath(R, p, w, v, dw, dv)


def _exponential(screw: Any, f: Any) -> tuple[Any, Any, Any, Any]:
    """R and p of exp(z f), and the two parts of z."""
    n1, n2, n3, theta, h, *rest = entries(screw)
    n, B = vector([n1, n2, n3]), vector(rest)
    half = 0.5 * theta * f
    sine, cosine = sin(half), cos(half)
    s, c = 2 * sine * cosine, 2 * sine * sine  # no digit is lost in 1 - cos
    s1, s2, s3 = s * n1, s * n2, s * n3
    c1, c2, c3 = c * n1, c * n2, c * n3
    c12, c13, c23, diagonal = c1 * n2, c1 * n3, c2 * n3, 1 - c
    R = matrix(
        [
            [diagonal + c1 * n1, c12 - s3, c13 + s2],
            [c12 + s3, diagonal + c2 * n2, c23 - s1],
            [c13 - s2, c23 + s1, diagonal + c3 * n3],
        ]
    )
    A = scale(h, n)
    p = scale(f, A) + scale(s, B) + scale(c, cross(n, B))  # (6)
    return R, p, scale(theta, n), A + scale(theta, B)


# ---- control frames --------------------------------------------------------------------------------------
#
# Control frames and knots of a spline curve as users give them: checked, tiny errors mended.


LARGEST_STEP = np.radians(170.0)
"""Rotation between neighbors that is refused [rad]: at 180 degrees its direction is lost, and 181 would
silently become -179."""
ROUNDING, TYPED, WRONG = 1e-14, 1e-9, 1e-5
"""Largest entry of R'R - 1: below the first R is taken as it is; above, the rotation nearest to R is; above
the second a warning is raised; above the third an error."""


def checked_order(order: Any, what: str) -> int:
    """k, one more than the degree."""
    if not is_whole(order, 4, 12):
        got = f"an array; R and p are one argument, {what}((R, p))" if np.ndim(order) else repr(order)
        raise DescriptionError(f"{what}: order must be a whole number from 4 (cubic, C2) to 12, got {got}")
    return int(order)


def checked_frames(frames: Any, order: int, what: str) -> Transform:
    """Control frames with one leading dimension, every R a rotation to rounding."""
    R, p = _arrays(frames, what)
    if p.ndim != 2 or p.shape[-1] != 3 or R.shape != (len(p), 3, 3):
        raise DescriptionError(
            f"{what}: frames: expected R of shape (n, 3, 3) and p of shape (n, 3), got "
            f"{R.shape} and {p.shape}"
        )
    n = len(p)
    if n < order:
        raise DescriptionError(
            f"{what}: got {n} control frame(s); a curve of order {order} needs at least {order}"
        )
    bad = np.flatnonzero(~(np.isfinite(R).all(axis=(1, 2)) & np.isfinite(p).all(axis=1)))
    if bad.size:
        raise DescriptionError(
            f"{what}: frames[{bad[0]}] has a number that is not finite: R =\n{R[bad[0]]}, "
            f"p = {p[bad[0]]}; leave such frames out"
        )
    return Transform.unchecked(_rotations(R, what), np.array(p))


def _arrays(frames: Any, what: str) -> tuple[Array, Array]:
    frames = matrices(getattr(frames, "X", frames))  # of MeasuredFrames
    if not isinstance(frames, Transform) and (not isinstance(frames, (tuple, list)) or len(frames) != 2):
        if np.shape(frames)[1:] == (4, 4):
            frames = np.asarray(frames)[:, :3, :3], np.asarray(frames)[:, :3, 3]
        elif isinstance(frames, (tuple, list)) and frames and all(isinstance(X, Transform) for X in frames):
            frames = [X.R for X in frames], [X.p for X in frames]
        else:
            got = f"shape {frames.shape}" if isinstance(frames, np.ndarray) else type(frames).__name__
            hint = "; for a file write cd.read_frames(path)" if isinstance(frames, str) else ""
            raise DescriptionError(
                f"{what}: frames: expected a Transform with leading dimension n, (R, p) "
                f"of shapes (n, 3, 3) and (n, 3), or an array (n, 4, 4), got {got}{hint}"
            )
    R, p = frames
    R = matrices(R)
    try:
        return real(f"{what}: R of frames", R), real(f"{what}: p of frames", p)
    except (ShapeError, TypeError) as error:
        raise DescriptionError(str(error)) from None


def _rotations(R: Array, what: str) -> Array:
    """The rotations nearest to R where it is one to a few digits only."""
    off = np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max(axis=(1, 2))
    worst = int(off.argmax())
    if off[worst] > WRONG:
        raise DescriptionError(
            f"{what}: frames[{worst}]: R is not a rotation: the largest entry of R'R - 1 "
            f"is {off[worst]:.3g}, allowed is {WRONG:g}; R is\n{R[worst]}"
        )
    if (left := np.flatnonzero(np.linalg.det(R) < 0)).size:
        raise DescriptionError(
            f"{what}: frames[{left[0]}]: R has determinant -1, it is a reflection: the "
            "axes are left-handed. Reverse or exchange one"
        )
    if off[worst] > TYPED:
        warn(
            f"{what}: R of {int((off > TYPED).sum())} frame(s) is a rotation to a few digits only, "
            f"worst frames[{worst}] with R'R - 1 up to {off[worst]:.2g}; the nearest rotations are "
            "taken"
        )
    U, _, V = np.linalg.svd(R)
    return np.where((off > ROUNDING)[:, None, None], U @ V, R)


def steps_between(frames: Transform, closed: bool = False) -> Array:
    """z_j = log(G_(j-1)^-1 G_j), shape (n - 1, 6); of a closed curve the one from the last to the first
    too."""
    R, p = (np.concatenate([x, x[:1]]) if closed else x for x in frames)
    before, after = Transform.unchecked(R[:-1], p[:-1]), Transform.unchecked(R[1:], p[1:])
    return log_se3(before.inverse() @ after)


def checked_steps(z: Array, what: str) -> None:
    """Refuse rotations between neighbors near half a turn."""
    angle = np.linalg.norm(z[:, :3], axis=1)
    far = np.flatnonzero(angle >= LARGEST_STEP)
    if far.size:
        raise DescriptionError(
            f"{what}: frames[{far[0]}] and the next one are "
            f"{np.degrees(angle[far[0]]):.1f} degrees apart; below "
            f"{np.degrees(LARGEST_STEP):.0f} degrees it is sure which way the body turns. "
            "Give frames between them"
        )


def checked_knots(
    given: Any, domain: Any, n: int, order: int, form: str, what: str
) -> tuple[Array, tuple[float, float]]:
    """Knots, and the domain that they have.

    Args:
        form: "clamped", "mirrored" or "closed".
    """
    asked = None if domain is None else checked_domain(domain, what)
    count = {"clamped": n - order + 2, "mirrored": n, "closed": n + 1}[form]
    if given is None:
        low, high = own = asked or (0.0, 1.0)
        inner = low + (high - low) * np.linspace(0.0, 1.0, count)
        inner[-1] = high
        knots = bsplines.clamped(inner, order) if form == "clamped" else inner
    else:
        try:
            knots = np.array(real(f"{what}: knots", given))
        except (ShapeError, TypeError) as error:
            raise DescriptionError(str(error)) from None
        needed = n + order if form == "clamped" else count
        if knots.shape != (needed,):
            rule = {"clamped": "frames + order", "mirrored": "one per frame", "closed": "frames + 1"}[form]
            raise DescriptionError(
                f"{what}: knots: expected {needed} numbers ({rule}), got shape {knots.shape}"
            )
        bsplines.check_knots(knots, order, form, what)
        own = (
            (float(knots[order - 1]), float(knots[n]))
            if form == "clamped"
            else (float(knots[0]), float(knots[-1]))
        )
        if asked is not None and asked != own:
            # another period of a closed curve
            size = asked[1] - asked[0]
            if form != "closed" or abs(size - (own[1] - own[0])) > 1e-12 * max(*map(abs, asked), size):
                raise DescriptionError(
                    f"{what}: the knots give the domain {own}, but domain = {asked}; give one of them"
                )
    knots.flags.writeable = False
    return knots, asked or own


def checked_domain(domain: Any, what: str) -> tuple[float, float]:
    """(low, high), low < high."""
    try:
        low, high = map(float, domain)
    except (TypeError, ValueError):
        low = high = np.nan
    if not (low < high and np.isfinite([low, high]).all()):
        raise DescriptionError(f"{what}: domain must be two numbers (low, high), low < high, got {domain!r}")
    return low, high


# ---- natural ---------------------------------------------------------------------------------------------
#
# Natural parameterization of a spline curve: through given frames, at a constant pace.
# docs/theory/spline_joints.md (10)-(13).


MOST_ITERATIONS = 100
"""Of an interpolation: frames 1 rad apart take 20, those 0.1 rad apart 8."""
THROUGH = 1e-13
"""How well a curve passes through its frames, relative to the size of its positions in the metric."""
EACH = 8
"""Points per knot interval at which |s| is evaluated."""
MOST_FRAMES = 4000
"""Control frames beyond which the pace is not made more even: rough frames, such as noise, would take any
number of them."""

# Gauss's three points on (0, 1)
POINTS = 0.5 + np.sqrt(0.15) * np.array([-1.0, 0.0, 1.0])
WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18.0


@dataclass(frozen=True, eq=False)
class Interpolant:
    """A spline of frames that passes through given frames at its `sites`: `frames` are its control frames,
    `knots` are as SplineCurve takes them."""

    spline: FrameSpline
    knots: Array
    frames: Transform
    rows: Array
    sites: Array
    metric: Metric

    @property
    def stops(self) -> Array:
        """The sites; of a closed curve the first once more, after a period."""
        return np.append(self.sites, self.sites[0] + self.spline.period) if self.spline.period else self.sites

    def pose(self, q: Array) -> Transform:
        at = self.spline.at(q, self.rows, rates=0)
        return Transform.unchecked(at.R, at.p)

    def speed(self, q: Array) -> Array:
        at = self.spline.at(q, self.rows, rates=1)
        return self.metric.norm(np.concatenate([at.w, at.v], axis=-1))

    def uneven(self) -> float:
        """How far |s| is from its mean anywhere, as a share of it."""
        low, high = self.spline.edges
        speed = self.speed(low[:, None] + (high - low)[:, None] * (np.arange(EACH) + 0.5) / EACH)
        mean = (speed.mean(axis=1) @ (high - low)) / (high - low).sum()
        return float(np.abs(speed / mean - 1).max())

    def lengths(self, low: Array, high: Array) -> Array:
        """Arc lengths between parameters low and high (n,), in one interval each (11)."""
        return (self.speed(low[:, None] + (high - low)[:, None] * POINTS) @ WEIGHTS) * (high - low)

    def arcs(self) -> tuple[Array, Array]:
        """Parameters on a fine grid that contains all stops and all knots between them, and arc lengths from
        the first stop to there."""
        low, high = self.spline.edges
        start, period = self.sites[0], self.spline.period
        fine = (low[:, None] + (high - low)[:, None] * np.arange(EACH) / EACH).ravel()
        grid = np.unique(np.concatenate([start + (fine - start) % period if period else fine, self.stops]))
        return grid, np.concatenate([[0.0], np.cumsum(self.lengths(grid[:-1], grid[1:]))])

    def refined(self, frames: Transform, gap: float) -> tuple[Interpolant, NDArray[np.intp]]:
        """The same path by arc length, with points of it between the frames wherever these are more than a
        gap apart; and which of its sites are those of the frames."""
        grid, arc = self.arcs()
        marks = arc[np.searchsorted(grid, self.stops)]
        counts = np.maximum(1, np.ceil(np.diff(marks) / gap - 1e-9)).astype(int)
        sites = [a + (b - a) * np.arange(n) / n for a, b, n in zip(marks, marks[1:], counts, strict=False)]
        first = np.concatenate([[0], np.cumsum(counts)])[: len(self.sites)]
        new = np.concatenate([*sites, marks[-1:]][: len(sites) + (not self.spline.period)])
        between = self.pose(self._inverse(grid, arc, new))
        R, p = np.array(between.R), np.array(between.p)
        R[first], p[first] = frames
        period = float(marks[-1]) if self.spline.period else 0.0
        return interpolate(Transform.unchecked(R, p), new, self.spline.order, period, self.metric), first

    def _inverse(self, grid: Array, arc: Array, lengths: Array) -> Array:
        """Parameters at which arc lengths are reached, by Newton's method from the grid (12)."""
        k = np.clip(np.searchsorted(arc, lengths, side="right") - 1, 0, len(arc) - 2)
        low, rest = grid[k], lengths - arc[k]
        q = low + rest / self.speed(low)
        points, weights = np.append(POINTS, 1.0), np.append(WEIGHTS, 0.0)
        for _ in range(4):
            speed = self.speed(low[:, None] + (q - low)[:, None] * points)
            q = q - (speed @ weights * (q - low) - rest) / speed[:, -1]
        return q


def interpolate(frames: Transform, sites: Array, order: int, period: float, metric: Metric) -> Interpolant:
    """A curve with G(sites_i) = frames_i.

    Twists d_j of the control frames in F move the curve by sum_j B_j(q) d_j, to first order: lee2008 (34), in
    which all Ad have vanished because the twists are in F. So the matrix of B-splines at the sites, the same
    for all six components, is what one step solves with (10).

    Args:
        sites: parameters of the frames, increasing, shape (n,).
        period: of a closed curve; 0 if open.
    """
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import splu

    n, k = len(sites), order
    if period:
        ahead = np.append(sites, sites[0] + period)
        # of odd order, supports are centered between two knots
        knots = ahead if k % 2 == 0 else 0.5 * (ahead + np.concatenate([[sites[-1] - period], sites]))
    else:
        inner = np.array([sites[j + 1 : j + k].mean() for j in range(n - k)])
        knots = bsplines.clamped(np.concatenate([sites[:1], inner, sites[-1:]]), k)
    spline = FrameSpline.of(knots, k, n, "closed" if period else "clamped")
    columns, B = spline.basis(sites)
    solve = splu(csc_matrix((B.ravel(), (np.repeat(np.arange(n), k), columns.ravel())), shape=(n, n))).solve
    size = float(np.linalg.norm(frames.p, axis=1).max() + np.sqrt(metric.matrix.diagonal().max()))
    G, best = frames, np.inf
    for _ in range(MOST_ITERATIONS):
        rows = spline.rows(G)
        at = spline.at(sites, rows, rates=0)
        r = log_se3(frames @ Transform.unchecked(at.R, at.p).inverse())
        worst = float(metric.norm(r).max())
        if worst <= THROUGH * size or (worst >= 0.5 * best and worst <= 100 * THROUGH * size):
            return Interpolant(spline, knots, G, rows, sites, metric)
        if not worst < 1e3 * best:
            break
        best = min(best, worst)
        G = exp_se3(solve(r)) @ G  # (10)
    raise DescriptionError(
        f"SplineCurve.natural: no curve through the {n} frames was found: {worst:.3g} m "
        "is left; give frames between those that are far apart"
    )


def naturally(
    frames: Transform, order: int, closed: bool, metric: Metric, even: float
) -> tuple[Interpolant, Array, float]:
    """A curve through all frames whose |s| is constant within the share `even`, where on it the frames are,
    and how uneven |s| is.

    Chords give the first parameters, arc lengths of the curve through them the next; then points of that
    curve are put between the frames until the pace is even, or cannot be made so with MOST_FRAMES.
    """
    chords = metric.norm(steps_between(frames, closed))
    if not chords.all():
        j = int(chords.argmin())
        raise DescriptionError(f"SplineCurve.natural: frames[{j}] and the next one are equal; leave one out")
    total = np.concatenate([[0.0], np.cumsum(chords)])
    length = float(total[-1])
    curve = interpolate(frames, total[: len(frames.p)], order, length if closed else 0.0, metric)
    first = np.arange(len(frames.p))
    for _ in range(3):
        curve, first = curve.refined(frames, np.inf)
    shape, gap = curve, length / len(chords)
    while (uneven := curve.uneven()) > even:
        # half the gap makes the pace 2^order times as even, and twice the frames, at best
        halvings = int(np.log2(MOST_FRAMES / len(curve.sites))) if len(curve.sites) < MOST_FRAMES else 0
        if not halvings or uneven > even * 2.0 ** (order * halvings):
            break
        gap *= 0.5
        curve, first = shape.refined(frames, gap)
    return curve, curve.sites[first], uneven
