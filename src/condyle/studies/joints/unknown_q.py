"""Frames whose q was not measured: find their places on the path while the path is fitted.

  start   q_k from the first principal component of log(G_mid^-1 G_k), which needs no order of the frames; and
              from their order; the better one is kept
  project     q_k <- q_k + s'r / s's, in the metric: the nearest point of the path                         (1)
  natural     q_k <- length of the path up to q_k, so that |s| is the same everywhere                      (2)
  refit       one step of the fit at these q_k

Projection and fit alternate until nothing changes. The data do not determine how q varies along the path:
(2) chooses it. Distances between neighboring frames are not used: with noise and many frames their sum is
many times the length of the path. If there is almost no noise, the last digits come from steps in which q_k
is eliminated, curve_least_squares.py (4); with noise these steps would let q drift along the path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from condyle.arrays import Array
from condyle.spatial import log_se3
from condyle.studies.joints.curve_least_squares import CurveProblem, motion, poses_of_rows, start
from condyle.studies.joints.measured_frames import LARGEST_STEP
from condyle.studies.joints.spline_basis import CurveKnots

ROUNDS, TRIAL = 40, 6
"""Largest number of rounds of (1) and (2); number of rounds for comparing initial values."""
SETTLED = 3e-3
"""The rounds end when the relative change of the sum of |r_k|^2 is less than this, which is below the level
of noise: with more rounds the ends of paths would follow single frames."""
QUIET = 1e-3
"""Noise below this part of the distance between two control frames is negligible."""
ELIMINATED = 1 - 1e-4
"""Share of the residual along the path that is ignored in the last steps; the rest keeps q in place."""
POLISH, GAIN = 25, 1e-2
"""Number of these steps, and the fraction to which they must reduce the sum of |r_k|^2."""
BEYOND = 0.025
"""Share of the frames at each end of the principal component that may be outliers, if outliers are
expected."""


def found_q(
    problem: CurveProblem, report: Callable[[float], object] | None = None, huber: float = 0.0
) -> tuple[CurveProblem, Array, str]:
    """The problem with q found, control frames (n, 12), and how it went.

    Args:
        problem: the problem; its q is not used.
        report: called with the share done.
        huber: the scale of the loss in medians of |r_k|, if there are outliers; 0 for no change.
    """
    trials = []
    for name, q in _starts(problem, BEYOND if huber or np.isfinite(problem.scale) else 0.0):
        trials.append((*_alternated(problem, q, None, TRIAL, huber)[:3], name))
    cost, q, G, name = min(trials, key=lambda trial: trial[0])
    cost, q, G, rounds, settled = _alternated(problem, q, G, ROUNDS, huber, report)
    note = f"q from {name}; {rounds} rounds of projection and fit"
    if _quiet(problem, cost) and (better := _polished(problem, q, G)) is not None:
        q, G = better
        note += ", then q eliminated"
    elif not settled:
        note += f"; residuals still changed by more than {SETTLED:g} of themselves"
    return at_q(problem, q), G, note


def _starts(problem: CurveProblem, beyond: float) -> list[tuple[str, Array]]:
    """Initial values of q, each with a name for its origin; a share `beyond` of the frames at each end may
    be outliers."""
    low, high = problem.knots.domain
    N = len(problem.q)
    even = low + (high - low) * (np.arange(N) / N if problem.knots.closed else np.linspace(0, 1, N))
    X = poses_of_rows(problem.D)
    middle = poses_of_rows(problem.D[N // 2])
    logs = np.asarray(log_se3(middle.inverse() @ X))
    starts = [("the order of the frames", even)]
    if np.linalg.norm(logs[:, :3], axis=1).max() < LARGEST_STEP:  # these logarithms are unambiguous
        logs = logs @ problem.U.T
        logs = logs - logs.mean(axis=0)
        x, y = (logs @ np.linalg.svd(logs.T @ logs)[0][:, :2]).T
        if problem.knots.closed:
            turn = np.arctan2(y, x)
            turn = np.mod((turn - turn[0]) * _sign(np.sin(np.diff(turn)).sum()), 2 * np.pi)
            starts.insert(0, ("the first two principal components", low + turn / (2 * np.pi) * (high - low)))
        else:
            x = x * _sign(x[-1] - x[0])
            first, last = np.quantile(x, [beyond, 1 - beyond])
            along = np.clip((x - first) / (last - first), 0, 1)
            starts.insert(0, ("the first principal component", low + along * (high - low)))
    return starts


def _sign(x: float) -> float:
    return -1.0 if x < 0 else 1.0


def _alternated(
    problem: CurveProblem,
    q: Array,
    G: Array | None,
    rounds: int,
    huber: float,
    report: Callable[[float], object] | None = None,
) -> tuple[float, Array, Array, int, bool]:
    """The cost, q, control frames, rounds, and whether they settled."""
    before = np.inf
    for i in range(rounds):
        at = at_q(problem, q)
        G = start(at.knots, at.D, q) if G is None else G
        G, _ = at.run(G, iterations=1 if i else 3)
        q = project(at, G, q)
        cost, _, _, size = at_q(at, q).evaluate(G)
        if huber:
            problem = replace(problem, scale=max(huber * float(np.median(size)), 1e-12))
        if report is not None:
            report((i + 1) / rounds)
        if abs(before - cost) <= SETTLED * cost or (i > TRIAL and _quiet(problem, cost)):
            return cost, q, G, i + 1, True
        before = cost
        q = natural(at.knots, G, q, problem.U)
        if not at.knots.closed and np.isfinite(problem.scale):
            problem, q = _without_outliers(problem, q, size)
    assert G is not None
    return cost, q, G, rounds, False


def _without_outliers(problem: CurveProblem, q: Array, size: Array) -> tuple[CurveProblem, Array]:
    """Limit an open curve to the frames that are not outliers and ignore outliers beyond its ends: it would
    grow to reach them."""
    low, high = problem.knots.domain
    good = size <= problem.scale
    first, last = q[good].min(), q[good].max()
    q = np.clip(low + (q - first) / (last - first) * (high - low), low, high)
    beyond = ~good & ((q <= low) | (q >= high))
    return replace(problem, weights=np.where(beyond, 0.0, 1.0)), q


def _quiet(problem: CurveProblem, cost: float) -> bool:
    """Whether the residuals are negligible, i.e. there is almost no noise and no other cause of residuals."""
    step = problem.size / problem.knots.n
    return not problem.smoothing and np.sqrt(cost / len(problem.q)) < QUIET * step


def at_q(problem: CurveProblem, q: Array) -> CurveProblem:
    """The same problem at other q."""
    return replace(problem, q=q, history=[])


def project(problem: CurveProblem, G: Array, q: Array, steps: int = 3) -> Array:
    """Repeat (1) `steps` times."""
    knots, U = problem.knots, problem.U
    low, high = knots.domain
    longest = 2 * (high - low) / len(knots.left)
    D = poses_of_rows(problem.D)
    for _ in range(steps):
        X, s, _ = motion(knots, G, q)
        r, s = log_se3(poses_of_rows(X).inverse() @ D) @ U.T, s @ U.T
        step = np.einsum("ni,ni->n", s, r) / np.maximum(np.einsum("ni,ni->n", s, s), 1e-300)
        q = knots.wrapped(q + np.clip(step, -longest, longest))
    return q


def natural(knots: CurveKnots, G: Array, q: Array, U: Array) -> Array:
    """(2), scaled to keep the domain, from 8 samples per interval."""
    low, high = knots.domain
    x = np.linspace(low, high, 8 * len(knots.left) + 1)
    speed = np.linalg.norm(motion(knots, G, x)[1] @ U.T, axis=1)
    length = np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]))])
    return np.interp(q, x, low + length / length[-1] * (high - low))


def _polished(problem: CurveProblem, q: Array, G: Array) -> tuple[Array, Array] | None:
    """Take steps with q_k eliminated, which may increase the cost before they reduce it; None if they gain
    little, so that q stays natural."""
    first = before = float(at_q(problem, q).evaluate(G)[0])
    for _ in range(POLISH):
        at = replace(at_q(problem, q), free=ELIMINATED)
        _, M, g, _ = at.evaluate(G)
        G = at.moved(G, at.solve(M, g))
        q = project(at, G, q)
        cost = float(at_q(problem, q).evaluate(G)[0])
        if abs(cost - before) <= 1e-3 * before or cost <= len(q) * (1e-15 * problem.size) ** 2:
            break
        before = cost
    return (q, G) if cost < GAIN * first else None
