"""Least effort: the redundancy of muscles resolved frame by frame. docs/theory/static_optimization.md.

    minimise  E(x) = sum_i w_i |x_i|^p    subject to  A x = b,   low <= x <= high                          (5)

p = 2 is one quadratic program per frame (daqp, an exact dual active-set method; frames start where the last
one ended). Other p: a sequence of them, each with the true gradient g and curvature H = E'' of (5) at x_k,

    minimise  g'(x - x_k) + (x - x_k)' H (x - x_k) / 2,     same constraints,                              (6)

and then the least E on the line from x_k to its solution, where A x = b and the bounds hold too. For p = 1 H
is a small constant: the program is linear, and steps end at one of its corners.

A solution has multipliers nu of the equations and mu of the bounds. The KKT residual of a frame is

    |g + A' nu + mu| / |g|,   mu of a bound's sign and only at it,                                         (7)

each |.| the largest component, rows of A scaled to unit length.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from condyle.arrays import Array

TOLERANCE = 1e-10
"""Of the bounds, in the variables' units."""
CONVERGED, ITERATIONS = 1e-11, 60
"""KKT residual at which steps (6) end; how many at most."""
FLOOR = 1e-6
"""The least curvature in (6), where the largest is about 1: with it daqp's programs stay well conditioned.
What it concerns has next to no part in the effort."""
SLACK = 1e-8
"""Cost of effort beside that of missing forces where no x satisfies the equations."""
RANK = 1e-10
"""Singular values below this part of the largest count as zero."""
EQUALITY = 5
"""daqp's sign for an equation."""
GREAT = 1e30
"""daqp's infinity."""


@dataclass
class Solution:
    """What was found for all frames; x is NaN where nothing was.

    Attributes:
        x: shape (m, n).
        kkt: residual (7), shape (m,).
        missing: b - A x at the nearest x, where there is no solution; zero elsewhere, shape (m, k).
        nearest: x, or the nearest x where there is no solution, shape (m, n).
    """

    x: Array
    kkt: Array
    missing: Array
    nearest: Array

    @property
    def infeasible(self) -> Array:
        return np.any(self.missing != 0, axis=1)


def least_effort(A: Array, b: Array, low: Array, high: Array, weights: Array, exponent: float) -> Solution:
    """Solutions of (5) for matrices A (m, k, n) and b (m, k), which are finite."""
    m, k, n = A.shape
    size = np.linalg.norm(A, axis=2)
    size = np.where(size > 0, size, 1.0)
    A, b = A / size[..., None], b / size
    out = Solution(np.full((m, n), np.nan), np.full(m, np.nan), np.zeros((m, k)), np.full((m, n), np.nan))
    effort = _Effort(weights, exponent, low, high)
    program = _Program(k, low, high)
    for i in range(m):
        solved = _frame(program, effort, A[i], b[i])
        if solved is None:                                   # dependent equations, or none that can be met
            solved, left = _hard(effort, A[i], b[i])
            out.missing[i] = left * size[i]
            if solved is None:
                out.nearest[i] = _nearest(effort, A[i], b[i])
                out.missing[i] = (b[i] - A[i] @ out.nearest[i]) * size[i]
                continue
        out.x[i], out.kkt[i] = solved
        out.nearest[i] = out.x[i]
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
        if self.p < 2:                                       # infinite at 0
            y = np.maximum(y, 1e-12)
        return np.maximum(self.p * (self.p - 1) * self.w * y ** (self.p - 2), FLOOR) / self.scale**2

    def kkt(self, x: Array, g: Array, A: Array, multipliers: Array) -> float:
        """(7)."""
        mu = multipliers[:len(x)]
        wrong = np.where(x >= self.high - TOLERANCE, np.minimum(mu, 0), np.where(
            x <= self.low + TOLERANCE, np.maximum(mu, 0), mu))
        wrong = np.where(self.low == self.high, 0.0, wrong)
        off = np.maximum(np.abs(g + A.T @ multipliers[len(x):] + mu), np.abs(wrong))
        outside = np.maximum(np.maximum(self.low - x, x - self.high), 0).max(initial=0.0)
        return float(max(off.max(initial=0.0) / max(np.abs(g).max(initial=0.0), 1e-300), outside))


class _Program:
    """One daqp.Model for k equations, whose numbers change from frame to frame."""

    def __init__(self, k: int, low: Array, high: Array) -> None:
        self.k, self.low, self.high = k, np.maximum(low, -GREAT), np.minimum(high, GREAT)
        self.sense = np.zeros(len(low) + k, dtype=np.int32)
        self.sense[len(low):] = EQUALITY
        self.model: Any = None

    def solve(self, H: Array, f: Array, A: Array, b: Array) -> tuple[Array, Array] | None:
        """x and multipliers at min x' diag(H) x / 2 + f' x; None if there is none."""
        import daqp

        upper, lower = np.concatenate([self.high, b]), np.concatenate([self.low, b])
        if self.model is None:
            self.model = daqp.Model()
            self.model.settings = {"primal_tol": TOLERANCE}
            flag = self.model.setup(np.diag(H), f, A, upper, lower, self.sense)[0]
            self.H, self.f = H, f
        else:
            new = {} if np.array_equal(H, self.H) else {"H": np.diag(H)}
            if not np.array_equal(f, self.f):
                new["f"] = f
            self.H, self.f = H, f
            flag = self.model.update(A=A, bupper=upper, blower=lower, **new)
        if flag < 0:
            self.model = None
            return None
        x, _, flag, info = self.model.solve()
        if flag != 1 or not np.abs(A @ x - b).max(initial=0.0) <= 1e-9 * max(1.0, np.abs(b).max(initial=0.0)):
            self.model = None                                # the next frame begins from scratch
            return None
        return x, info["lam"]


def _frame(program: _Program, effort: _Effort, A: Array, b: Array) -> tuple[Array, float] | None:
    """x and the KKT residual of one frame."""
    n = len(effort.w)
    effort.scale = 1.0
    first = program.solve(2 * effort.w, np.zeros(n), A, b)
    if first is None:
        return None
    x, multipliers = first
    if effort.p == 2:
        return x, effort.kkt(x, 2 * effort.w * x, A, multipliers)
    p, found = effort.p, (x, np.inf)
    try:
        for effort.p in [*_between(p), p]:
            effort.scale = max(float(np.abs(found[0]).max(initial=0.0)), 1e-12)
            found = _sequence(effort, A, b, found[0]) or found
    finally:
        effort.p = p
    return found


def _between(p: float) -> list[float]:
    """Exponents on the way from 2 to a large one."""
    return [2.0 * 1.5**j for j in range(1, 40) if 2.0 * 1.5**j < 0.8 * p]


def _sequence(effort: _Effort, A: Array, b: Array, x: Array) -> tuple[Array, float] | None:
    """Steps (6) from x."""
    if effort.p == 1:
        return _linear(effort, A, b, x)
    program, best = _Program(len(b), effort.low, effort.high), (x, np.inf)
    for _ in range(ITERATIONS):
        H, g = effort.curvature(x), effort.gradient(x)
        s = effort.scale**2                                  # curvatures of about 1
        solved = program.solve(s * H, s * (g - H * x), A, b)
        if solved is None:
            break
        new, multipliers = solved
        residual = effort.kkt(new, effort.gradient(new), A, multipliers / s)
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
    """p = 1, by steps that end at a corner; each variable as the difference of two that are not negative."""
    n = len(x)
    low, high = np.concatenate([np.maximum(effort.low, 0), np.maximum(-effort.high, 0)]), np.concatenate(
        [np.maximum(effort.high, 0), np.maximum(-effort.low, 0)])
    both, w = np.hstack([A, -A]), np.concatenate([effort.w, effort.w])
    split = _Effort(w, 1.0, low, high)
    program, y = _Program(len(b), low, high), np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)])
    H = np.full(2 * n, 1e-2)
    for _ in range(ITERATIONS):
        solved = program.solve(H, w - H * y, both, b)
        if solved is None:
            return None
        new, multipliers = solved
        residual, step = split.kkt(new, w, both, multipliers), np.abs(new - y).max()
        y = new
        if residual < CONVERGED or step == 0:
            break
    return y[:n] - y[n:], residual


def _hard(effort: _Effort, A: Array, b: Array) -> tuple[tuple[Array, float] | None, Array]:
    """A frame whose equations depend on one another: solved in the directions that A reaches; and what of b
    is not among them."""
    U, s, _ = np.linalg.svd(A)
    reached = U[:, :len(s)][:, s > RANK * max(s.max(initial=0.0), 1e-300)]
    left = b - reached @ (reached.T @ b)
    if np.abs(left).max(initial=0.0) > 1e-9 * max(1.0, np.abs(b).max(initial=0.0)):
        return None, left
    left[:] = 0
    if reached.shape[1] == len(b):
        return None, left
    return _frame(_Program(reached.shape[1], effort.low, effort.high), effort, reached.T @ A,
                  reached.T @ b), left


def _nearest(effort: _Effort, A: Array, b: Array) -> Array:
    """x within the bounds with the least |b - A x|^2, and little effort among those."""
    k, n = A.shape
    free = np.full(k, np.inf)
    program = _Program(k, np.concatenate([effort.low, -free]), np.concatenate([effort.high, free]))
    cost = np.concatenate([SLACK * effort.w, np.ones(k)])
    solved = program.solve(cost, np.zeros(n + k), np.hstack([A, np.eye(k)]), b)
    if solved is None:
        raise AssertionError("least effort: a program with slack has no solution")
    return solved[0][:n]
