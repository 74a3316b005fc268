"""Six functions of q fitted to frames, all at once, in the metric of SE(3).

Notation
  D_k        pose of frame k                          X(phi)   pose that six numbers phi give
  phi_j      = sum_a B_a(q) c_aj, B_a products of B-splines; j = 1..6
  r_k        = log(X(phi(q_k))^-1 D_k), in M           |r|^2 = r' W r, the metric
  S          X moves with the twist S dphi, in M       s = S dphi/dq, its twist per coordinate

Equations
  least  sum_k |r_k|^2 + w sum_j W_jj int |d2 phi_j / dq2|^2 dq                                           (1)
  dr = -Y dphi,  Y = Jl(r)^-1 S,  Jl(r)^-1 = 1 - ad/2 + sum_m b_2m ad^2m / (2m)!,  b Bernoulli's numbers  (2)
  Gauss-Newton:  sum_k B_a B_b (Y' W Y) dc_b = sum_k B_a Y' W r - w K c                                   (3)
  unknown q_k:   from y = U r and U Y, parts along U Y dphi/dq (W = U' U) are removed: dq_k absorbs them  (4)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace as changed
from functools import cached_property
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import ConvergenceError, DescriptionError, warn
from condyle.records import dataclass
from condyle.spatial import Transform, log_se3, skew
from condyle.status import Outcome, Status
from condyle.studies.joints.spline_basis import Grid, factored, gram, moment
from condyle.system.checked_arguments import number

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
"""b_2, b_4, ...: seven terms leave out 1e-12 of (2) at 1 rad and 1e-17 at 0.5."""
LOSSES = ("squares", "huber")
HUBER = 1.5
"""Scale of the Huber loss in medians of |r_k|: about 95 % of the frames are below it without outliers."""
ITERATIONS = 100
TOLERANCE = 1e-12
"""The iteration ends with a step that moves no frame further than this part of the extent of the motion."""
NEGLIGIBLE = 1e-4
"""The iteration ends with a step that reduces chi^2, the cost over the variance of one number, by less than
this; estimates are only certain to within 1."""
IN_TREE = 2000
"""Largest number of frames whose angles follow those of the nearest frame, which takes 0.1 s."""
LEAST_DAMPING, MOST_DAMPING = 1e-12, 1e10
"""Damping relative to the diagonal of the equations, from negligible to so large that there is no step."""


# ---- Poses ------------------------------------------------------------------------------------------------


def residuals(X: Transform, D: Transform) -> Array:
    """r of (1), angular part first [rad, m], shape (N, 6)."""
    return np.asarray(log_se3(X.inverse() @ D))


def inverse_left_jacobian(r: Array) -> Array:
    """Jl(r)^-1 of (2), shape (N, 6, 6)."""
    ad = np.zeros((len(r), 6, 6))
    ad[:, :3, :3] = ad[:, 3:, 3:] = skew(r[:, :3])
    ad[:, 3:, :3] = skew(r[:, 3:])
    square, power, out = ad @ ad, np.eye(6), np.eye(6) - 0.5 * ad
    for m, b in enumerate(BERNOULLI, 1):
        power = power @ square
        out = out + b / math.factorial(2 * m) * power
    return out


def continuous(angles: Array, q: Array | None = None) -> Array:
    """Angles (N, m) made continuous. If q (N, d) is known, each angle is on the branch of the frame nearest
    in q. Else angles are cut at their widest gap or, without a gap, unwrapped from frame to frame."""
    if q is not None:
        return _as_neighbors(angles, q)
    return np.stack([_cut(angle) for angle in angles.T], axis=1)


def _cut(angle: Array) -> Array:
    ordered = np.sort(np.mod(angle, 2 * np.pi))
    gaps = np.diff(ordered, append=ordered[0] + 2 * np.pi)
    k = int(gaps.argmax())
    if gaps[k] < np.deg2rad(20):
        return np.unwrap(angle)
    cut_at = ordered[k] + gaps[k] / 2
    out = np.mod(angle - cut_at, 2 * np.pi) + cut_at
    return out - 2 * np.pi * np.round(out.mean() / (2 * np.pi))


def _as_neighbors(angles: Array, q: Array) -> Array:
    """Angles unwrapped along a tree of frames that grows by the frame nearest to it (Prim's), so that
    angles may exceed a turn and frames may have any order. If there are many frames, only some are in the
    tree, and the others follow the nearest of these."""
    from scipy.spatial import cKDTree

    x = (q - q.min(axis=0)) / np.maximum(np.ptp(q, axis=0), 1e-300)
    some = np.unique(np.linspace(0, len(x) - 1, IN_TREE).astype(int))
    at, out = x[some], angles[some].copy()
    near, parent, left = np.full(len(at), np.inf), np.zeros(len(at), int), np.ones(len(at), bool)
    k = 0
    for _ in range(len(at)):
        out[k] = _beside(out[k], out[parent[k]])
        left[k] = False
        far = np.linalg.norm(at - at[k], axis=1)
        parent, near = np.where(left & (far < near), k, parent), np.minimum(near, far)
        k = int(np.where(left, near, np.inf).argmin())
    out = _beside(angles, out[cKDTree(at).query(x)[1]])
    return out - 2 * np.pi * np.round(out.mean(axis=0) / (2 * np.pi))


def _beside(angles: Array, others: Array) -> Array:
    """Angles on the branch nearest to other angles."""
    return angles + 2 * np.pi * np.round((others - angles) / (2 * np.pi))


# ---- Gauss-Newton ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The unknowns of Gauss-Newton.

    Attributes:
        c: coefficients of the six functions, shape (size, 6).
        q: coordinates of the frames, shape (N, d).
        extra: numbers that are the same in all frames, such as directions of axes, as defined by the model.
    """

    c: Array
    q: Array
    extra: Any = None


@dataclass(frozen=True, eq=False)
class PoseModel:
    """How a pose depends on the six functions.

    Attributes:
        pose: phi (N, 6), extra -> X, S (N, 6, 6) and the twists of the extra unknowns (N, 6, m), all in M.
        free: the functions whose coefficients are unknown.
        weights: W_jj of (1), one per function.
        moved: extra, step (m,) -> extra.
    """

    pose: Callable[[Array, Any], tuple[Transform, Array, Array]]
    free: tuple[int, ...]
    weights: Array
    moved: Callable[[Any, Array], Any] = lambda extra, step: extra


@dataclass(frozen=True, eq=False)
class Linearization:
    """(1) at some unknowns: its value, |r_k| [m], and y = U r, U Y and U Z of (2), Z for the extra
    unknowns. The latter are multiplied by the square root of the weight of their frame."""

    cost: float
    sizes: Array
    y: Array
    Y: Array
    Z: Array


@dataclass(frozen=True, eq=False)
class FunctionsProblem:
    """(1) for one set of frames.

    Args:
        who: the calling function, for messages.
        data: the frames.
        U: (6, 6), W = U' U.
        unknown_q: whether the coordinates of the frames are unknowns too.
        smoothing: w.
        clip: keep unknown coordinates in the domain.
        scale: |r| [m] from which the Huber loss is linear; infinite for squares.
    """

    who: str
    grid: Grid
    model: PoseModel
    data: Transform
    U: Array
    unknown_q: bool
    smoothing: float = 0.0
    clip: bool = False
    scale: float = np.inf

    def solve(
        self, x: Unknowns, loss: str = "squares", scale: float | None = None
    ) -> tuple[Unknowns, list[str], Outcome]:
        """The minimum of (1), starting from x, notes about the search, and whether it converged.

        Args:
            loss: "squares" or "huber".
            scale: scale of the Huber loss; 1.5 times the median of |r_k| of the least-squares fit by default.

        Raises:
            ConvergenceError: no step makes (1) smaller.
        """
        x, steps, status = self.run(x)
        notes = [f"{steps} steps of Gauss-Newton"]
        if loss == "huber":
            c = scale or HUBER * float(np.median(self.linearized(x).sizes))
            if c > 0:
                robust = changed(self, scale=c)
                x, steps, status = robust.run(x)
                off = int((robust.linearized(x).sizes > c).sum())
                notes.append(f"Huber loss, linear from {1e3 * c:.4g} mm on: {off} frames; {steps} steps more")
        return x, notes, status

    def linearized(self, x: Unknowns) -> Linearization:
        X, S, E = self.model.pose(self.grid.evaluate(x.q, x.c), x.extra)
        r = residuals(X, self.data)
        y = r @ self.U.T
        J = self.U @ inverse_left_jacobian(r)  # (2)
        sizes = np.linalg.norm(y, axis=1)
        if self.scale < np.inf:
            far = np.maximum(sizes / self.scale, 1.0)
            cost = float((self.scale**2 * np.where(far > 1, 2 * far - 1, (sizes / self.scale) ** 2)).sum())
            root = 1 / np.sqrt(far)
            y, J = root[:, None] * y, root[:, None, None] * J
        else:
            cost = float((y * y).sum())
        if self.smoothing:
            c = x.c[:, list(self.model.free)].ravel()
            cost += float(c @ (self._rough @ c))
        return Linearization(cost, sizes, y, J @ S, J @ E)

    @cached_property
    def _rough(self) -> Any:
        """w K of (3) for all free functions."""
        import scipy.sparse as sp

        weights = sp.diags(self.smoothing * self.model.weights[list(self.model.free)])
        return sp.kron(self.grid.roughness(), weights, format="csc")

    def _along(self, x: Unknowns, at: Linearization) -> tuple[Array, Array]:
        """U Y dphi/dq (N, 6, d) and its inverse (N, d, 6), which is zero where q would leave the domain and
        is kept."""
        along = at.Y @ self.grid.gradient(x.q, x.c)
        inverse: Array = np.asarray(np.linalg.pinv(along), float)
        if self.clip:
            low, high = np.array(self.grid.domain).T
            pull, push = ((A @ at.y[:, :, None])[:, :, 0] for A in (np.swapaxes(along, 1, 2), inverse))
            stuck = ((x.q <= low) & ((pull < 0) | (push < 0))) | ((x.q >= high) & ((pull > 0) | (push > 0)))
            if stuck.any():
                along = np.where(stuck[:, None, :], 0.0, along)
                inverse = np.asarray(np.linalg.pinv(along), float)
        return along, inverse

    def _equations(self, x: Unknowns, at: Linearization, along: Array, inverse: Array) -> tuple[Any, Array]:
        """Matrix and right-hand side of (3), with the extra unknowns at the end."""
        import scipy.sparse as sp

        free, grid = list(self.model.free), self.grid
        y, Y, Z = at.y[:, :, None], at.Y[:, :, free], at.Z
        if self.unknown_q:  # (4)
            Y, Z, y = (A - along @ (inverse @ A) for A in (Y, Z, y))
        back, (index, value) = np.swapaxes(Y, 1, 2), grid.active(x.q)
        A = gram(grid, index, value, back @ Y)  # (3)
        b = moment(grid, index, value, (back @ y)[:, :, 0]).ravel()
        if self.smoothing:
            K = self._rough
            A, b = A + K, b - K @ x.c[:, free].ravel()
        if Z.shape[2]:
            C = moment(grid, index, value, back @ Z).reshape(len(b), -1)
            A = sp.bmat([[A, C], [C.T, np.einsum("kia,kib->ab", Z, Z)]], format="csc")
            b = np.concatenate([b, np.einsum("kia,ki->a", Z, y[:, :, 0])])
        return A, b

    def run(self, x: Unknowns) -> tuple[Unknowns, int, Outcome]:
        """Damped Gauss-Newton starting from x: the unknowns, number of steps, and how it ended."""
        import scipy.sparse as sp

        grid, free, data = self.grid, list(self.model.free), self.data
        low, high = np.array(grid.domain).T if self.clip else (-np.inf, np.inf)
        size = float(np.linalg.norm(data.p - data.p.mean(axis=0), axis=1).mean()) + self.U[0, 0]
        damping, at, N = LEAST_DAMPING, self.linearized(x), len(x.q)
        for count in range(1, ITERATIONS + 1):
            along, inverse = self._along(x, at) if self.unknown_q else (np.zeros((N, 6, 0)),) * 2
            A, b = self._equations(x, at, along, inverse)
            diagonal = A.diagonal()
            for trials in itertools.count():
                step = factored(A + sp.diags(damping * (diagonal + 1e-9 * diagonal.max()))).solve(b)
                dc, dq = np.zeros_like(x.c), np.zeros_like(x.q)
                dc[:, free] = step[: grid.size * len(free)].reshape(-1, len(free))
                dz = step[grid.size * len(free) :]
                moved = (at.Y @ grid.evaluate(x.q, dc)[:, :, None])[:, :, 0] + at.Z @ dz
                if self.unknown_q:
                    dq = (inverse @ (at.y - moved)[:, :, None])[:, :, 0] * 0.5**trials
                    dq = np.clip(x.q + dq, low, high) - x.q
                    moved = moved + (along @ dq[:, :, None])[:, :, 0]
                trial = Unknowns(x.c + dc, np.clip(x.q + dq, low, high), self.model.moved(x.extra, dz))
                there, longest = self.linearized(trial), float(np.abs(moved).max())
                small = longest <= TOLERANCE * size or 0 <= at.cost - there.cost <= NEGLIGIBLE * at.cost / (
                    6 * N
                )
                if small or there.cost <= at.cost * (1 + 1e-9) + 1e-28 * size**2 * N:
                    break
                damping = max(10 * damping, 1e-6)
                if damping > MOST_DAMPING:
                    raise ConvergenceError(
                        f"{self.who}: no step makes the residuals smaller after {count - 1} of them, where "
                        f"their root mean square is {math.sqrt(at.cost / N):.2g} m; the frames may be far "
                        "from any such joint: see whether q and the frames belong together",
                        x.q,
                    )
            x, at, damping = trial, there, max(damping / 10, LEAST_DAMPING)
            if small:
                return x, count, Outcome(Status.FINISHED)
        text = (
            f"still improving after {ITERATIONS} iterations: the last step moved a frame by "
            f"{longest:.2g} m; give fewer coefficients (n), smoothing, or fix fewer functions"
        )
        warn(f"{self.who}: {text}")
        return x, ITERATIONS, Outcome(Status.STILL_IMPROVING, text)


def weight_of(who: str, smoothing: Any) -> float:
    """The weight of smoothing, checked."""
    weight = number(f"{who}: smoothing", smoothing, "a number >= 0")
    if not 0 <= weight < np.inf:
        raise DescriptionError(f"{who}: smoothing: expected a number >= 0, got {smoothing!r}")
    return weight


def check_loss(who: str, loss: str, scale: float | None) -> None:
    """Raise DescriptionError unless the loss exists, and the scale, if any, is a length and the loss is
    Huber's."""
    if loss not in LOSSES:
        raise DescriptionError(f"{who}: loss: expected {' or '.join(map(repr, LOSSES))}, got {loss!r}")
    if scale is not None and (
        loss != "huber" or not 0 < number(f"{who}: scale", scale, "a length [m]") < np.inf
    ):
        raise DescriptionError(f"{who}: scale = {scale!r} must be a length > 0 [m], for loss='huber'")
