"""Least effort: resolves the redundancy of muscles frame by frame. docs/theory/static_optimization.md.

    minimize  E(x) = sum_i w_i |x_i|^p    subject to  A x = b,   low <= x <= high                          (5)

p = 2 is one quadratic program per frame (daqp, an exact dual active-set method; frames start where the last
one ended). Other p: a sequence of them, each with the true gradient g and curvature H = E'' of (5) at x_k,

    minimize  g'(x - x_k) + (x - x_k)' H (x - x_k) / 2,     same constraints,                              (6)

and then the least E on the line from x_k to its solution, where A x = b and the bounds hold too. For p = 1 H
is a small constant: the program is linear, and steps end at one of its corners.

A solution has multipliers nu of the equations and mu of the bounds. The KKT residual of a frame is

    |g + A' nu + mu| / |g|,   mu of a bound's sign and only at it,                                         (7)

each |.| the largest component, rows of A scaled to unit length.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.records import dataclass

TOLERANCE = 1e-10
"""Tolerance of the bounds, in the variables' units."""
CONVERGED, ITERATIONS = 1e-11, 60
"""KKT residual at which steps (6) end; their largest number."""
FLOOR = 1e-6
"""The least curvature in (6), where the largest is about 1. It keeps daqp's programs well conditioned, and
variables with less curvature contribute almost nothing to the effort."""
SLACK = 1e-8
"""Cost of effort relative to that of missing forces, if no x satisfies the equations."""
TRACE = 1e-6
"""Missing forces below this part of the largest are caused by that cost."""
RANK = 1e-10
"""Singular values below this part of the largest count as zero."""
NOTHING = 1e-12
"""Rows of A shorter than this part of the longest are rounding errors: no muscle acts on this speed, such
as a free pelvis."""
MET = 1e-9
"""Equations count as satisfied with this error relative to the largest b, with rows of A of unit length."""
EQUALITY = 5
"""daqp's sign for an equation."""
GREAT = 1e30
"""daqp's infinity."""


@dataclass
class LeastEffort:
    """Solutions of all frames; x is NaN in frames without a solution.

    Attributes:
        x: shape (m, n).
        kkt: residual (7), shape (m,).
        missing: b - A x at the nearest x in frames without a solution; zero in others, shape (m, k).
        nearest: x, or the nearest x in frames without a solution, shape (m, n).
    """

    x: Array
    kkt: Array
    missing: Array
    nearest: Array

    @property
    def infeasible(self) -> np.ndarray:
        return np.any(self.missing != 0, axis=1)


def least_effort(A: Array, b: Array, low: Array, high: Array, weights: Array, exponent: float) -> LeastEffort:
    """Solutions of (5) for finite A (m, k, n) and b (m, k)."""
    m, k, _ = A.shape
    size = np.sqrt(np.einsum("mkn,mkn->mk", A, A))
    acts = size > NOTHING * size.max(axis=1, keepdims=True, initial=0.0)
    A, size = np.where(acts[..., None], A, 0.0), np.where(acts, size, 1.0)
    A, b = A / size[..., None], b / size
    effort = _Effort(weights, exponent, low, high)
    first, multipliers = _Program(k, low, high).squares(A, b, weights)
    out = LeastEffort(
        first.copy(), effort.kkt(first, 2 * weights * first, A, multipliers), np.zeros((m, k)), first.copy()
    )
    failed = np.isnan(first[:, 0]) if first.shape[1] else np.zeros(m, dtype=bool)
    for i in range(m) if exponent != 2 else np.flatnonzero(failed):
        # where it failed, equations are dependent or cannot be satisfied
        solved = _hard(effort, A[i], b[i]) if failed[i] else _raised(effort, A[i], b[i], first[i])
        if solved is not None:
            out.x[i], out.kkt[i] = solved
            out.nearest[i] = out.x[i]
        else:
            out.nearest[i] = _nearest(effort, A[i], b[i])
            left = b[i] - A[i] @ out.nearest[i]
            out.missing[i] = np.where(np.abs(left) > TRACE * np.abs(left).max(), left, 0.0) * size[i]
    return out


class _Effort:
    """E of (5) in units of `scale`, and its derivatives."""

    def __init__(self, weights: Array, exponent: float, low: Array, high: Array) -> None:
        self.w, self.p, self.low, self.high = weights, exponent, low, high
        self.scale = 1.0

    def value(self, x: Array) -> float:
        return float(self.w @ np.abs(x / self.scale) ** self.p)

    def gradient(self, x: Array) -> Array:
        y = x / self.scale
        return self.p * self.w * np.sign(y) * np.abs(y) ** (self.p - 1) / self.scale

    def curvature(self, x: Array) -> Array:
        y = np.abs(x / self.scale)
        if self.p < 2:  # infinite at 0
            y = np.maximum(y, 1e-12)
        return np.maximum(self.p * (self.p - 1) * self.w * y ** (self.p - 2), FLOOR) / self.scale**2

    def kkt(self, x: Array, g: Array, A: Array, multipliers: Array) -> Array:
        """(7), shape (...), for x, g (..., n), A (..., k, n) and multipliers (..., n + k)."""
        mu, nu = multipliers[..., : len(self.w)], multipliers[..., len(self.w) :]
        wrong = np.where(
            x >= self.high - TOLERANCE,
            np.minimum(mu, 0),
            np.where(x <= self.low + TOLERANCE, np.maximum(mu, 0), mu),
        )
        wrong = np.where(self.low == self.high, 0.0, wrong)
        off = np.maximum(np.abs(g + (nu[..., None, :] @ A)[..., 0, :] + mu), np.abs(wrong))
        outside = np.maximum(np.maximum(self.low - x, x - self.high), 0).max(axis=-1, initial=0.0)
        size = np.maximum(np.abs(g).max(axis=-1, initial=0.0), 1e-300)
        return np.maximum(off.max(axis=-1, initial=0.0) / size, outside)


class _Program:
    """One daqp.Model for k equations, whose numbers change from frame to frame."""

    def __init__(self, k: int, low: Array, high: Array) -> None:
        self.low, self.high = np.maximum(low, -GREAT), np.minimum(high, GREAT)
        self.sense = np.zeros(len(low) + k, dtype=np.int32)
        self.sense[len(low) :] = EQUALITY
        self.model: Any = None

    def squares(self, A: Array, b: Array, weights: Array) -> tuple[Array, Array]:
        """x (m, n) with the least sum of w x^2, and multipliers (m, n + k), for A (m, k, n) and b (m, k);
        NaN where daqp finds no solution."""
        m, n = len(A), len(weights)
        upper, lower = (np.hstack([np.broadcast_to(bound, (m, n)), b]) for bound in (self.high, self.low))
        x, multipliers = np.full((m, n), np.nan), np.full((m, n + b.shape[1]), np.nan)
        H, f = np.diag(2 * weights), np.zeros(n)
        for i in range(m):
            if solved := self._run(H, f, A[i], upper[i], lower[i]):
                x[i], multipliers[i] = solved
        off = np.abs((A @ x[..., None])[..., 0] - b).max(axis=1, initial=0.0)
        x[~(off <= MET * np.maximum(1.0, np.abs(b).max(axis=1, initial=0.0)))] = np.nan
        return x, multipliers

    def _run(
        self, H: Array, f: Array, A: Array, upper: Array, lower: Array, all_new: bool = False
    ) -> tuple[Array, Array] | None:
        """x and multipliers by daqp, or None. A model that ran before gets A and the bounds, and with `all_new`
        H and f too. After a failure the next program begins from scratch."""
        if self.model is None:
            import daqp

            self.model = daqp.Model()
            self.model.settings = {"primal_tol": TOLERANCE}
            good = self.model.setup(H, f, A, upper, lower, self.sense)[0] >= 0
        else:
            objective = {"H": H, "f": f} if all_new else {}
            good = self.model.update(A=A, bupper=upper, blower=lower, **objective) >= 0
        if good:
            x, _, flag, info = self.model.solve()
            if flag == 1:
                return x, info["lam"]
        self.model = None
        return None

    def solve(self, H: Array, f: Array, A: Array, b: Array) -> tuple[Array, Array] | None:
        """x and multipliers that minimize x' diag(H) x / 2 + f' x; None without a solution."""
        upper, lower, D = np.concatenate([self.high, b]), np.concatenate([self.low, b]), np.diag(H)
        solved = self._run(D, f, A, upper, lower, all_new=True)
        size = MET * max(1.0, np.abs(b).max(initial=0.0))
        if solved is not None and not np.abs(A @ solved[0] - b).max(initial=0.0) <= size:
            solved = self.model = None
        return solved


def _raised(effort: _Effort, A: Array, b: Array, x: Array) -> tuple[Array, float]:
    """x and the KKT residual for the effort's exponent, starting from the least-squares x."""
    p, found = effort.p, (x, np.inf)
    try:
        for effort.p in [*_between(p), p]:
            effort.scale = max(float(np.abs(found[0]).max(initial=0.0)), 1e-12)
            found = _sequence(effort, A, b, found[0]) or found
    finally:
        effort.p = p
    return found


def _between(p: float) -> list[float]:
    """Exponents between 2 and a large one."""
    return [2.0 * 1.5**j for j in range(1, 40) if 2.0 * 1.5**j < 0.8 * p]


def _sequence(effort: _Effort, A: Array, b: Array, x: Array) -> tuple[Array, float] | None:
    """Repeat steps (6), starting from x."""
    if effort.p == 1:
        return _linear(effort, A, b, x)
    program, best = _Program(len(b), effort.low, effort.high), (x, np.inf)
    for _ in range(ITERATIONS):
        H, g = effort.curvature(x), effort.gradient(x)
        s = effort.scale**2  # curvatures of about 1
        solved = program.solve(s * H, s * (g - H * x), A, b)
        if solved is None:
            break
        new, multipliers = solved
        residual = float(effort.kkt(new, effort.gradient(new), A, multipliers / s))
        if residual < best[1]:
            best = new, residual
        if residual < CONVERGED:
            break
        x = x + _least_on_line(effort, x, new - x) * (new - x)
    return best


def _least_on_line(effort: _Effort, x: Array, d: Array) -> float:
    """The part of a step with the least effort: E is convex, its slope has one zero."""
    slope = lambda t: float(effort.gradient(x + t * d) @ d)
    if slope(1.0) <= 0:
        return 1.0
    inside, outside = 0.0, 1.0
    for _ in range(40):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if slope(middle) < 0 else (inside, middle)
    return inside if inside > 0 else outside


def _linear(effort: _Effort, A: Array, b: Array, x: Array) -> tuple[Array, float] | None:
    """p = 1, by steps that end at a corner; each variable is the difference of two nonnegative ones."""
    n = len(x)
    low, high = (
        np.concatenate([np.maximum(effort.low, 0), np.maximum(-effort.high, 0)]),
        np.concatenate([np.maximum(effort.high, 0), np.maximum(-effort.low, 0)]),
    )
    both, w = np.hstack([A, -A]), np.concatenate([effort.w, effort.w])
    split = _Effort(w, 1.0, low, high)
    program, y = _Program(len(b), low, high), np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)])
    H = np.full(2 * n, 1e-2)
    for _ in range(ITERATIONS):
        solved = program.solve(H, w - H * y, both, b)
        if solved is None:
            return None
        new, multipliers = solved
        residual, step = float(split.kkt(new, w, both, multipliers)), np.abs(new - y).max()
        y = new
        if residual < CONVERGED or step == 0:
            break
    return y[:n] - y[n:], residual


def _hard(effort: _Effort, A: Array, b: Array) -> tuple[Array, float] | None:
    """Solve a frame with dependent equations in the range of A; None if b is not in this range, or not
    within the bounds."""
    U, s, _ = np.linalg.svd(A)
    Q = U[:, : len(s)][:, s > RANK * max(s.max(initial=0.0), 1e-300)]
    left = np.abs(b - Q @ (Q.T @ b)).max(initial=0.0)
    if Q.shape[1] == len(b) or left > MET * max(1.0, np.abs(b).max(initial=0.0)):
        return None
    A, b = Q.T @ A, Q.T @ b
    x, multipliers = _Program(len(b), effort.low, effort.high).squares(A[None], b[None], effort.w)
    if np.isnan(x).any():
        return None
    if effort.p != 2:
        return _raised(effort, A, b, x[0])
    return x[0], float(effort.kkt(x[0], 2 * effort.w * x[0], A, multipliers[0]))


def _nearest(effort: _Effort, A: Array, b: Array) -> Array:
    """x within the bounds with the least |b - A x|^2 and, among these, little effort."""
    k, n = A.shape
    free = np.full(k, np.inf)
    program = _Program(k, np.concatenate([effort.low, -free]), np.concatenate([effort.high, free]))
    cost = np.concatenate([SLACK * effort.w, np.ones(k)])
    solved = program.solve(cost, np.zeros(n + k), np.hstack([A, np.eye(k)]), b)
    if solved is None:
        raise AssertionError("least effort: a program with slack has no solution")
    return solved[0][:n]
