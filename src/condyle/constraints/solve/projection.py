"""Projection on the constraints: the nearest q, then the nearest u (sherman2011 section 4).

    min ||W du||   model to  P du = -p,     q <- q + N du, quaternions normalized,     until p = 0         (1)
    min du' M du   model to  G du = -v,     u <- u + du,                               until v = 0         (2)

P are the rows of G of position level, v holds pdot too. Steps come from corrections.py, as those of the step
loop do: redundant constraints are allowed, locked speeds do not change. A Newton step that increases the
error is halved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

import numpy as np

from condyle.errors import ConstraintError
from condyle.records import dataclass

NEWTON = 50
HALVINGS = 12


@dataclass(frozen=True)
class ProjectionProblem:
    """Functions of a system for projection at one time, for one state or many (..., n).

    Attributes:
        errors: (q, u) -> p, v.
        nearer: (q, u) -> du of (1), (..., nu).
        slower: (q, u) -> du of (2), (..., nu).
        step: (q, du) -> q + N du, normalized.
        rows: level and label of each row of G.
        undefined: {label: text on where the equation is undefined}.
    """

    errors: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    nearer: Callable[[np.ndarray, np.ndarray], np.ndarray]
    slower: Callable[[np.ndarray, np.ndarray], np.ndarray]
    step: Callable[[np.ndarray, np.ndarray], np.ndarray]
    rows: tuple[tuple[str, str], ...]
    undefined: Mapping[str, str] = field(default_factory=dict)

    def labels(self, *levels: str) -> list[str]:
        """Labels of the rows of some levels."""
        return [label for level, label in self.rows if level in levels]


def project(
    problem: ProjectionProblem,
    q: np.ndarray,
    u: np.ndarray,
    tolerance: float,
    slow: float | None = None,
    strict: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    """q and u on the constraints: every |p| at most `tolerance`, every |v| at most `slow`, which is the
    tolerance times the largest speed or 1 if not given. Where that fails: ConstraintError, or the best that
    was found if not `strict`."""
    q, u = problem.step(q, np.zeros_like(u)), u.copy()
    q = _newton(
        q,
        lambda q: problem.errors(q, u)[0],
        lambda q: problem.nearer(q, u),
        problem.step,
        tolerance,
        problem.labels("position"),
        "position" if strict else "",
        problem.undefined,
    )  # (1)
    slow = tolerance * max(1.0, float(np.abs(u).max(initial=0.0))) if slow is None else slow
    u = _newton(
        u,
        lambda u: problem.errors(q, u)[1],
        lambda u: problem.slower(q, u),
        lambda u, du: u + du,
        slow,
        problem.labels("position", "velocity"),
        "velocity" if strict else "",
        problem.undefined,
    )  # (2)
    return q, u


def _newton(
    x: np.ndarray,
    error: Callable[[np.ndarray], np.ndarray],
    move: Callable[[np.ndarray], np.ndarray],
    step: Callable[[np.ndarray, np.ndarray], np.ndarray],
    tolerance: float,
    labels: list[str],
    level: str,
    undefined: Mapping[str, str],
) -> np.ndarray:
    """x with |error(x)| <= tolerance, each state of a batch at its own pace; without a level the best that
    was found."""
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
    if not level or (now <= tolerance).all():
        return x
    where = np.unravel_index(int(np.argmax(np.where(np.isnan(now), np.inf, now))), now.shape)
    worst = error(x)[where]
    order = [i for i in np.argsort(-np.abs(worst)) if not abs(worst[i]) <= tolerance][:5]
    amounts = ", ".join(f"{labels[i]} by {worst[i]:.3g}" for i in order)
    words = next(
        (undefined[labels[i]] for i in order if np.isnan(worst[i]) and undefined.get(labels[i])), None
    )
    batch = f" (state {tuple(map(int, where))} of the batch)" if where else ""
    raise ConstraintError(
        f"no state nearby satisfies the constraints at {level} level{batch}; violated: {amounts}; allowed "
        f"{tolerance:.3g}. "
        + (
            words
            or "Start nearer, free locked speeds, or check whether the constraints contradict each other"
        ),
        {labels[i]: float(worst[i]) for i in order},
        x,
    )
