"""Number of control frames and weight of smoothing by what is best at frames that were left out.

Blocks of neighboring frames, in q, are left out, because noise of neighbors is alike; the rest is fitted,
and the error is measured in the blocks. A block that is longer than half a knot interval leaves control
frames without data, and what is there is then left to chance. Hence blocks are short, every tenth of them is
left out at once, ten times, and w has a floor in these fits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from condyle.arrays import Array
from condyle.records import dataclass
from condyle.studies.joints.knots import Knots
from condyle.studies.joints.least_squares import CurveProblem, start
from condyle.table import Table

FOLDS = 10
"""Fits in which blocks are left out, each block in one."""
FLOOR = 1e-9
"""Least weight of smoothing in these fits, in units of m L^3: frames times the cube of q's range, the unit in
which w has the same effect whatever m and the unit of q are."""
ITERATIONS, TOLERANCE = 8, 1e-4
"""Of a fit that is compared: it may stop early, since noise is far above what is left."""


@dataclass(frozen=True)
class Choice:
    """What was best, and the error of everything that was tried."""

    n: int
    smoothing: float
    table: Table


def chosen(
    problem: CurveProblem,
    knots_of: Callable[[int], Knots],
    counts: list[int],
    weights: list[float],
    report: Callable[[float], object] | None = None,
) -> Choice:
    """The pair with the least error at frames that were left out.

    Args:
        problem: data; its knots and smoothing do not matter.
        knots_of: knots for n control frames.
        counts: n to try.
        weights: w to try.
        report: is called with the share done.
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
    # among equals the simplest: most smoothing, fewest control frames
    robust = np.isfinite(problem.scale)
    best = min(rows, key=lambda row: (row[3] if robust else row[2], row[0], -row[1]))
    table = Table(
        np.arange(len(rows)),
        ["n", "smoothing", "error", "median"],
        np.array(rows, dtype=float),
        ["", "", "mm", "mm"],
        over="trial",
    )
    return Choice(int(best[0]), float(best[1]), table)


def _left_out(problem: CurveProblem, G: Array, fold: Array) -> Array:
    """|r_k| [m] of every frame in the fit without its block, shape (m,)."""
    error = np.empty(len(problem.q))
    for f in range(FOLDS):
        out = fold == f
        at = replace(problem, weights=np.where(out, 0.0, problem.weights), history=[])
        left = at.run(G, iterations=ITERATIONS, tolerance=TOLERANCE)[0]
        error[out] = at.evaluate(left)[3][out]
    return error
