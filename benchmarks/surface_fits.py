"""Fits of six functions to frames, beside scipy.optimize.least_squares with the sparsity of its Jacobian:
`python -m benchmarks.surface_fits`.

The same residuals and start for both; least_squares gets exact residuals and differences for the
Jacobian (its groups of columns by sparsity), as someone would write it who does not derive one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import condyle as cd
from condyle.spatial import exp_se3
from condyle.studies.joints.fit_spline_surface import AXES, each_by_itself, pose, values_of
from condyle.studies.joints.six_functions import residuals
from condyle.studies.joints.spline_basis import Grid, uniform_knots

SIGMA = np.r_[np.full(3, np.radians(0.5)), np.full(3, 1e-3)]
METRIC = 1e-3 / np.radians(0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--scipy",
        action="store_true",
        help="also run least_squares on the smallest; on 384 unknowns it takes more than eight minutes",
    )
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    for n, N in ((5, 500), (8, 3000), (16, 10_000)):
        grid = Grid((uniform_knots(n, 4, (-1.0, 1.0)),) * 2, 4)
        x, y = grid.greville().T
        c = np.stack(
            [
                0.02 * np.cos(x) * np.cos(y),
                0.05 * x + 0.01 * x * y,
                0.04 * y - 0.02 * x * x,
                0.2 * x * y + 0.1 * x,
                x,
                y,
            ],
            1,
        )
        q = rng.uniform(-1, 1, (N, 2))
        X = pose(grid.evaluate(q, c), AXES)[0] @ exp_se3(rng.normal(size=(N, 6)) * SIGMA)
        known, fit = best_of(
            lambda q=q, X=X, n=n: cd.fit_spline_surface(X, q, n, domain=(-1, 1), metric=METRIC)
        )
        unknown, _ = best_of(lambda X=X, n=n: cd.fit_spline_surface(X, None, n, metric=METRIC), 1)
        print(
            f"surface {n} x {n} ({6 * n * n} unknowns), {N} frames: {known:.3f} s ({fit.notes[-1]}); q "
            f"unknown {unknown:.2f} s",
            flush=True,
        )
        if arguments.scipy and n <= 8:
            print(f"  scipy.optimize.least_squares: {with_scipy(grid, q, X):.1f} s", flush=True)
    for N in (1000, 10_000):
        q = np.sort(rng.uniform(-2, 0.2, N))
        phi = np.stack(
            [0 * q - 0.4 + 0.01 * q, 0.005 * np.cos(2 * q), 0.003 * q * q, 0.1 * np.sin(q), 0.05 * q, q], 1
        )
        X = pose(phi, AXES)[0] @ exp_se3(rng.normal(size=(N, 6)) * SIGMA)
        for n in (8, 50):
            known, _ = best_of(lambda q=q, X=X, n=n: cd.fit_function_based(X, q, n, metric=METRIC))
            unknown, _ = best_of(lambda X=X, n=n: cd.fit_function_based(X, None, n, metric=METRIC))
            print(
                f"function-based, {n} coefficients, {N} frames: {known:.3f} s; q unknown {unknown:.3f} s",
                flush=True,
            )


def best_of(run: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """Least processor time [s] of some runs, and what the last one gave."""
    least = np.inf
    for _ in range(times):
        start = time.process_time()
        result = run()
        least = min(least, time.process_time() - start)
    return least, result


def with_scipy(grid: Grid, q: Any, X: cd.Transform) -> float:
    import scipy.sparse as sp
    from scipy.optimize import least_squares

    index, _ = grid.active(q)
    N, U = len(q), np.diag([METRIC] * 3 + [1.0] * 3)
    rows = np.repeat(np.arange(N), index.shape[1])
    pattern = sp.kron(
        sp.csr_matrix((np.ones(index.size), (rows, index.ravel())), (N, grid.size)), np.ones((6, 6))
    )

    def left(c: Any) -> Any:
        return (residuals(pose(grid.evaluate(q, c.reshape(-1, 6)), AXES)[0], X) @ U).ravel()

    start = time.process_time()
    c = each_by_itself(grid, q, values_of(X, AXES), 0.0)
    least_squares(left, c.ravel(), jac_sparsity=pattern, ftol=1e-8)
    return time.process_time() - start


if __name__ == "__main__":
    main()
