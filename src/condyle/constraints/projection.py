"""Projection on the constraints: the nearest q, then the nearest u (sherman2011 section 4).

    min ||W du||  subject to  P du = -p,     q <- q + N du, quaternions normalised,     until p = 0                  (1)
    min ||W du||  subject to  G du = -v,     u <- u + du,                               until v = 0                  (2)

P are the rows of G of position level, v holds pdot too. By W^-1 (P W^-1)^+, so that redundant constraints do no harm; a
Newton step that makes the error larger is halved. Locked speeds have infinite W: they take no part.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from condyle.errors import ConstraintError

CUTOFF = 1e-9
"""Singular values of P W^-1 below this part of the largest are taken for zero: what redundant rows leave is rounding."""
NEWTON = 50
HALVINGS = 12


@dataclass(frozen=True)
class Problem:
    """What projection needs to know of a system at one time, for one state or many (..., n).

    Attributes:
        errors: (q, u) -> p, v.   jacobian: (q, u) -> G, (..., m, nu).   step: (q, du) -> q + N du, normalised.
        rows: level and label of each row of G.
    """

    errors: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    jacobian: Callable[[np.ndarray, np.ndarray], np.ndarray]
    step: Callable[[np.ndarray, np.ndarray], np.ndarray]
    rows: tuple[tuple[str, str], ...]

    def of(self, *levels: str) -> tuple[list[int], list[str]]:
        """Numbers and labels of the rows of some levels."""
        chosen = [i for i, (level, _) in enumerate(self.rows) if level in levels]
        return chosen, [self.rows[i][1] for i in chosen]


def project(problem: Problem, q: np.ndarray, u: np.ndarray, weights: np.ndarray, tolerance: float
            ) -> tuple[np.ndarray, np.ndarray]:
    """q and u on the constraints: every |p| and |v| at most `tolerance`. weights: W, one a speed; infinite where it is locked."""
    q, u = problem.step(q, np.zeros_like(u)), u.copy()
    rows, labels = problem.of("position")
    error = lambda q: problem.errors(q, u)[0]
    move = lambda q: _least(problem.jacobian(q, u)[..., rows, :], weights, -error(q))
    q = _newton(q, error, move, problem.step, tolerance, labels, "position")                 # (1)
    moving, labels = problem.of("position", "velocity")
    rate = lambda u: problem.errors(q, u)[1]
    change = lambda u: _least(problem.jacobian(q, u)[..., moving, :], weights, -rate(u))
    scale = max(1.0, float(np.abs(u).max(initial=0.0)))
    u = _newton(u, rate, change, lambda u, du: u + du, tolerance * scale, labels, "velocity")        # (2)
    return q, u


def _least(P: np.ndarray, weights: np.ndarray, right: np.ndarray) -> np.ndarray:
    """du of least ||W du|| with P du = right, in the sense of least squares."""
    inverse = 1.0 / weights
    scaled = np.linalg.pinv(P * inverse, rcond=CUTOFF)
    return inverse * (scaled @ right[..., None])[..., 0]


def _newton(x: np.ndarray, error: Callable[[np.ndarray], np.ndarray], move: Callable[[np.ndarray], np.ndarray],
            step: Callable[[np.ndarray, np.ndarray], np.ndarray], tolerance: float, labels: list[str], level: str) -> np.ndarray:
    """x with |error(x)| <= tolerance, each state of a batch at its own pace."""
    size = lambda x: np.abs(error(x)).max(axis=-1, initial=0.0)
    now = size(x)
    for _ in range(NEWTON):
        if (now <= tolerance).all():
            return x
        dx = move(x)
        part = np.where(now <= tolerance, 0.0, 1.0)
        for _ in range(HALVINGS):
            trial = step(x, part[..., None] * dx)
            then = size(trial)
            worse = ~(then < now) & (part > 0)
            if not worse.any():
                break
            part = np.where(worse, part / 2, part)
        better = (then < now)[..., None]
        if not better.any():
            break
        x, now = np.where(better, trial, x), np.where(better[..., 0], then, now)
    if (now <= tolerance).all():
        return x
    where = np.unravel_index(int(np.argmax(np.where(np.isnan(now), np.inf, now))), now.shape)
    worst = error(x)[where]
    order = [i for i in np.argsort(-np.abs(worst)) if not abs(worst[i]) <= tolerance][:5]
    amounts = ", ".join(f"{labels[i]} by {worst[i]:.3g}" for i in order)
    batch = f" (state {tuple(map(int, where))} of the batch)" if where else ""
    raise ConstraintError(
        f"no state nearby satisfies the constraints at {level} level{batch}; violated: {amounts}; allowed {tolerance:.3g}. Start "
        "nearer, free locked speeds, or check whether the constraints contradict each other",
        {labels[i]: float(worst[i]) for i in order}, x)
