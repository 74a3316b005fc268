"""Fits of spline joints: 10,000 frames, 50 control frames, beside scipy.optimize.least_squares.

    python -m benchmarks.spline_fits

Both solve the same problem from the same start, with noise of half a degree and a millimeter: SciPy's trust
region with sparse finite differences, told which entries of the Jacobian are not zero, and residuals in NumPy
for all frames at once. Processor time, the least of some rounds, of calls after the first.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import condyle as cd
from condyle.spatial import exp_se3, log_se3
from condyle.studies.joints.curve_least_squares import (
    CurveProblem,
    poses,
    poses_of_rows,
    rows_of_poses,
    start,
)
from condyle.studies.joints.result import JointFit
from condyle.studies.joints.spline_basis import CurveKnots, uniform_knots

LENGTH = 1e-3 / np.radians(0.5)
"""1 rad counts as so much [m]: all components of the noise are alike."""


def problem(frames: int, n: int) -> tuple[cd.Transform, np.ndarray, CurveKnots]:
    """Noisy frames of a knee, their q, and the knots."""
    a = np.linspace(0, -2, n)
    R = exp_se3(np.stack([0.075 * a * a, 0.1 * np.sin(2 * a), a, 0 * a, 0 * a, 0 * a], axis=1)).R
    G = cd.Transform(R, np.stack([0.02 * np.sin(2 * a), -0.4 + 0.02 * np.cos(a), 0.008 * a], axis=1))
    knots = CurveKnots(uniform_knots(n, 4, (0.0, 1.0)), 4, False)
    rng = np.random.default_rng(0)
    q = rng.uniform(0, 1, frames)
    q[:2] = 0, 1
    noise = rng.normal(size=(frames, 6)) * np.repeat([np.radians(0.5), 1e-3], 3)
    return poses(knots, rows_of_poses(G), q) @ exp_se3(noise), q, knots


def ours(
    X: cd.Transform, q: np.ndarray, n: int, rounds: int, smoothing: float = 0.0
) -> tuple[float, JointFit]:
    """Least seconds, and the fit."""
    best = np.inf
    for _ in range(rounds + 1):
        begin = time.process_time()
        fit = cd.fit_spline_curve(X, q, n=n, metric=LENGTH, smoothing=smoothing)
        best = min(best, time.process_time() - begin)
    return best, fit


def scipys(X: cd.Transform, q: np.ndarray, knots: CurveKnots) -> tuple[float, float]:
    """Seconds, and the sum of squares [m^2]."""
    from scipy.optimize import least_squares
    from scipy.sparse import csr_matrix

    G0, weight = start(knots, rows_of_poses(X), q), np.repeat([LENGTH, 1.0], 3)
    first, Bt = knots.active[knots.interval(q)][:, 0], knots.cumulative(q)

    def residuals(u: np.ndarray) -> np.ndarray:
        G = poses_of_rows(CurveProblem.moved(G0, u.reshape(-1, 6)))
        z = log_se3(
            cd.Transform.unchecked(G.R[:-1], G.p[:-1]).inverse() @ cd.Transform.unchecked(G.R[1:], G.p[1:])
        )
        at = cd.Transform.unchecked(G.R[first], G.p[first])
        for l in range(knots.order - 1):
            at = at @ exp_se3(z[first + l] * Bt[:, l : l + 1])
        return (log_se3(at.inverse() @ X) * weight).ravel()

    columns = (6 * first[:, None] + np.arange(24)).repeat(6, axis=0)
    sparsity = csr_matrix(
        (np.ones(columns.size), columns.ravel(), np.arange(len(columns) + 1) * 24), (6 * len(q), 6 * knots.n)
    )
    begin = time.process_time()
    found = least_squares(
        residuals,
        np.zeros(6 * knots.n),
        jac_sparsity=sparsity,
        x_scale=np.tile(1 / weight, knots.n),
        xtol=1e-10,
        ftol=1e-10,
    )
    return time.process_time() - begin, 2 * float(found.cost)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    for frames, n in ((1_000, 20), (10_000, 50)):
        X, q, knots = problem(frames, n)
        seconds, fit = ours(X, q, n, asked.rounds)
        smooth, _ = ours(X, q, n, asked.rounds, smoothing=1e-6 * frames)
        cost = 1e-6 * float((fit.residuals["size"] ** 2).sum())
        print(
            f"{frames} frames, {n} control frames: {seconds:.3f} s, {len(fit.steps)} iterations; with "
            f"smoothing {smooth:.3f} s"
        )
        peer, squares = scipys(X, q, knots)
        print(
            f"    scipy.optimize.least_squares: {peer:.1f} s, {peer / seconds:.0f} times as long; sums of "
            f"squares differ by {abs(squares / cost - 1):.1e}"
        )


if __name__ == "__main__":
    main()
