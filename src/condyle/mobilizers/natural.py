"""Natural parameterization of a spline curve: through given frames, at a constant pace.
docs/theory/spline_joints.md (10)-(13)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.mobilizers import bsplines
from condyle.mobilizers.control_frames import steps_between
from condyle.mobilizers.frame_spline import FrameSpline
from condyle.records import dataclass
from condyle.spatial import Metric, Transform, exp_se3, log_se3

MOST_ITERATIONS = 100
"""Of an interpolation: frames 1 rad apart take 20, those 0.1 rad apart 8."""
ROUNDING = 1e-13
"""How well a curve passes through its frames, relative to the size of its positions in the metric."""
EACH = 8
"""Points per knot interval at which |s| is looked at."""
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
        if worst <= ROUNDING * size or (worst >= 0.5 * best and worst <= 100 * ROUNDING * size):
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
