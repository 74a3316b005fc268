"""Correlated skin motion: smooth in time, and partly common to all markers of a segment.

Marker errors are not independent between frames. With w_m(t) the motion of the skin under marker m along an
axis of its body, and eps the camera noise, the errors (1) of `marker_fit` are e = -(w + eps), where

    cov(w_m(t), w_n(t')) = sd^2 (c_m^2 delta_mn + together [m, n on one body]) k(|t - t'| / l),
    k(r) = (1 + x + x^2/3) exp(-x),   x = sqrt(5) r                                                       (1)
    cov(eps) = white^2

so that the cost of a trial is 1/2 e' N^-1 e with a matrix N over all its frames. c_m is the relative skin
motion of each marker, `MarkerFit.own_noise`. Poses of a trial are eliminated together: blocks (s, t) of their
normal matrix are A_s' N^-1_st A_t, and (5) of `marker_fit` holds with them. together, l, white and standing are
chosen from a few values to maximize the likelihood of the recording,

    log p(y) = -min J - 1/2 (log det N + log det H + log det S)                                           (2)

Skin motion repeats in every stride: a trial longer than STRIDES counts as one of that length, up to REPEATS.
In a static trial it is displaced from its mean in a walk by `standing` times c_m, one draw per marker and
axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.personal.marker_fit import KNOWN, LEAST, MOST, TOLERANCE, UNSEEN, Fit, MarkerFit

BROAD = {UNSEEN**2 - 1: 1.1, 1.0: 1.7, 0.0: 1.7}
"""Candidates of together, the variance of the common motion of a segment's markers relative to that of each marker, the
most common first; and the factor of errors with each, because skin motion is not a random process."""
TRIED = (tuple(BROAD), (0.2, 0.1, 0.4), (0.001, 0.0005, 0.002), (0.005, 0.0025, 0.01))
"""Candidates of together, l [s], white [m] and standing [m], the most common first."""
FOLLOWS = 1.5
"""Factor of the standard deviations of sizes and offsets that markers tell: skin moves with the pose, always the same way,
so its mean in a walk is not that of a static trial, and segments look longer or shorter."""
STRIDES, REPEATS = 2.5, 2.0
"""Period of skin motion [s], and the number of repeats after which further frames count."""
LARGEST = 1400
"""Maximum number of unknowns of the poses of a trial: further frames are left out."""


class SkinFit:
    """Sizes, places and poses of a `MarkerFit` under (1).

    Args:
        problem: the problem with independent errors. times: of the frames of each trial [s]. static: which
            trials are static.
    """

    def __init__(self, problem: MarkerFit, times: list[Array], static: list[bool]) -> None:
        self.problem, self.static, self.times = problem, static, times
        ends = np.cumsum([0, *map(len, times)])
        self.rows = [np.arange(a, b) for a, b in pairwise(ends)]
        self.chosen = np.arange(ends[-1])
        self.markers = [np.flatnonzero(problem.body == b) for b in problem.bodies]

    def thinned(self, largest: float) -> SkinFit:
        """The problem with fewer frames, to limit the number of unknowns. A static trial has one pose for all
        frames.
        """
        every = [int(np.ceil(len(r) * self.problem.free.sum() / largest)) for r in self.rows]
        kept = [r[::k] for r, k in zip(self.rows, every, strict=True)]
        times = [t[::k] for t, k in zip(self.times, every, strict=True)]
        part = SkinFit(self.problem.frames(np.concatenate(kept)), times, self.static)
        part.chosen = np.concatenate(kept)
        poses = np.repeat(np.where(self.static, list(map(len, kept)), 1), list(map(len, kept)))
        once = 1 / (part.problem.share * poses)
        part.problem.q_precision = part.problem.q_precision * once[:, None]
        part.problem.pose_share = part.problem.pose_share * once
        return part

    def scale(self, e: Array) -> float:
        """sd of (1), from residual errors [m]."""
        p = self.problem
        moving = np.repeat(~np.array(self.static), [len(r) for r in self.rows])
        left = (e[moving] ** 2).sum()
        count = np.maximum(3.0 * p.seen[moving].sum(axis=1) - p.free.sum(), 1.0).sum()
        return float(max(np.sqrt((left + KNOWN * (MOST / UNSEEN) ** 2) / (count + KNOWN)), LEAST / UNSEEN))

    def weights(
        self, sd: float, together: float, smooth: float, white: float, standing: float
    ) -> tuple[list[list[Array]], float]:
        """N^-1 of each trial and body, shapes (m, T, m, T), and log det N."""
        out, logdet = [], 0.0
        for rows, t, still in zip(self.rows, self.times, self.static, strict=True):
            T, each = len(t), []
            x = np.sqrt(5.0) * np.abs(t[:, None] - t) / smooth
            k = (1 + x + x**2 / 3) * np.exp(-x)
            longer = 1.0 if still else np.clip((t[-1] - t[0]) / STRIDES, 1.0, REPEATS)
            for m in self.markers:
                n = len(m)
                S = np.diag(self.problem.own[m] ** 2) + (0.0 if still else together)  # (1)
                N = np.kron(S * standing**2, np.ones((T, T))) if still else np.kron(S * sd**2, k)
                N = longer * (N + white**2 * np.eye(n * T))
                seen = np.flatnonzero(self.problem.seen[rows][:, m].T)
                W = np.zeros_like(N)
                if len(seen):
                    W[np.ix_(seen, seen)] = np.linalg.inv(N[np.ix_(seen, seen)])
                    logdet += 3 * float(np.linalg.slogdet(N[np.ix_(seen, seen)])[1])
                each.append(W.reshape(n, T, n, T))
            out.append(each)
        return out, logdet

    def cost(self, q: Array, theta: Array, d: Array, W: list[list[Array]]) -> float:
        """J."""
        p = self.problem
        e = p.errors(q, theta, d)[0]
        data = 0.0
        for rows, each in zip(self.rows, W, strict=True):
            for m, w in zip(self.markers, each, strict=True):
                r = np.swapaxes(e[rows][:, m], 0, 1).reshape(-1, 3)
                data += float((r * (w.reshape(len(r), -1) @ r)).sum())
        return 0.5 * data + p.prior_cost(theta, d) + float(p.pose_costs(q, theta).sum())

    def step(
        self, q: Array, theta: Array, d: Array, W: list[list[Array]], near: tuple[Any, ...] | None = None
    ) -> tuple[Any, Any, Any, Any, float]:
        """du (T, nu), dtheta, dd, the Schur complement, and log det H - 2 times what the step gains; near: what
        `reduced` says there."""
        p, ns, M = self.problem, len(theta), len(d)
        e, A, B, Z, shift, slope = near or p.reduced(q, theta, d)
        k = A.shape[-1]
        e, A, B = e.reshape(-1, M, 3), A.reshape(-1, M, 3, k), B.reshape(-1, M, 3, ns)
        Hq, gq, Eq = p.pose_prior(q, 0.0, Z, shift, slope)
        D, right = p.border_prior(theta, d)
        eliminated, told = [], 0.0
        for rows, each in zip(self.rows, W, strict=True):
            T = len(rows)
            H, E, g = np.zeros((k, k, T, T)), np.zeros((T, k, ns + 3 * M)), gq[rows].copy()
            i = np.arange(T)
            H[..., i, i] += np.moveaxis(Hq[rows], 0, -1)
            E[..., :ns] += Eq[rows]
            for m, w in zip(self.markers, each, strict=True):
                a, b, r = A[rows][:, m], B[rows][:, m], e[rows][:, m]
                n, at = len(m), ns + 3 * m[:, None] + np.arange(3)
                flat = w.reshape(n * T, n * T)
                Wr = np.swapaxes((flat @ np.swapaxes(r, 0, 1).reshape(n * T, -1)).reshape(n, T, 3), 0, 1)
                Wb = np.swapaxes((flat @ np.swapaxes(b, 0, 1).reshape(n * T, -1)).reshape(n, T, 3, ns), 0, 1)
                moves = np.flatnonzero(a.any(axis=(0, 1, 2)))  # others do not move this body
                few, c = a[..., moves], len(moves)
                Wa = np.einsum("msjt,tjan->smatn", w, few, optimize=True).reshape(T, 3 * n, T * c)
                HH = (np.swapaxes(few.reshape(T, 3 * n, c), 1, 2) @ Wa).reshape(T, c, T, c)
                H[moves[:, None], moves] += HH.transpose(1, 3, 0, 2)
                g += np.einsum("sman,sma->sn", a, Wr)
                E[..., :ns] += np.einsum("sman,smac->snc", a, Wb)
                alone = w.sum(axis=3)  # (m, T, m)
                E[..., at] -= np.einsum("sman,msj->snja", a, alone)
                D[:ns, :ns] += np.einsum("smac,smae->ce", b, Wb)
                right[:ns] += np.einsum("smac,sma->c", b, Wr)
                cross = Wb.sum(axis=0)
                D[:ns, at] -= np.moveaxis(cross, -1, 0)
                D[at, :ns] -= cross
                right[at] -= Wr.sum(axis=0)
                both = alone.sum(axis=1)
                for axis in range(3):
                    D[np.ix_(at[:, axis], at[:, axis])] += both
            L = np.linalg.cholesky(np.swapaxes(H, 1, 2).reshape(k * T, k * T))
            right_sides = np.concatenate([E, g[..., None]], axis=-1)
            X = _solve_lower(L, np.swapaxes(right_sides, 0, 1).reshape(k * T, -1))
            SS = X.T @ X
            D -= SS[:-1, :-1]
            right -= SS[:-1, -1]
            told += 2 * float(np.log(np.diag(L)).sum()) - float(SS[-1, -1])
            eliminated.append((L, X))
        x = -np.linalg.solve(D, right)
        told += float(np.linalg.slogdet(D)[1]) + float(right @ x)
        y = np.empty((len(q), k))
        for rows, (L, X) in zip(self.rows, eliminated, strict=True):
            y[rows] = -_solve_lower(L, X[:, -1] + X[:, :-1] @ x, transposed=True).reshape(k, len(rows)).T
        du = y if Z is None else (Z @ y[..., None])[..., 0] + shift + slope @ x[:ns]
        return np.where(p.free, du, 0.0), x[:ns], x[ns:].reshape(-1, 3), D, told

    def probability(self, fit: Fit, near: tuple[Any, ...], sd: float, skin: Sequence[float]) -> float:
        """(2) up to a constant, with the problem linearized at fit: `reduced`."""
        W, logdet = self.weights(sd, *skin)
        told = self.step(fit.q, fit.theta, fit.d, W, near)[4]
        return -self.cost(fit.q, fit.theta, fit.d, W) - 0.5 * (logdet + told)

    def solve(self, fit: Fit, steps: int = 20) -> Fit:
        """Solve from the result with independent errors."""
        self.problem.own = self.problem.own_noise(fit)
        few, coarse = self.thinned(LARGEST), self.thinned(LARGEST / 2)
        sd = self.scale(fit.e)
        near: Any = lambda part: Fit(**(vars(fit) | {"q": fit.q[part.chosen]}))
        found = near(coarse)
        linear = coarse.problem.reduced(found.q, found.theta, found.d)
        skin = [options[0] for options in TRIED]
        probability = cache(lambda *skin: coarse.probability(found, linear, sd, skin))
        for k, options in enumerate(TRIED if any(self.static) else TRIED[:3]):
            told = [probability(*skin[:k], x, *skin[k + 1 :]) for x in options]
            skin[k] = options[int(np.argmax(told))]
        broad = BROAD[skin[0]]
        W, _ = few.weights(broad * sd, skin[0], skin[1], broad * skin[2], skin[3])
        p, (q, theta, d) = few.problem, (near(few).q, fit.theta, fit.d)
        cost, done, k = few.cost(q, theta, d, W), False, 0
        while k < steps and not done:
            k += 1
            du, dtheta, dd, S, _ = few.step(q, theta, d, W)
            length = min(1.0, 1.0 / max(np.abs(du).max(), 1e-9), 0.5 / max(np.abs(dtheta).max(), 1e-9))
            while length > 1e-3:
                new = theta + length * dtheta, d + length * dd
                new_q = p.moved(q, length * du, new[0])
                c = few.cost(new_q, *new, W)
                if c <= cost:
                    break
                length /= 2
            else:
                break
            drop, cost, q, (theta, d) = cost - c, c, new_q, new
            done = drop < max(TOLERANCE * cost, 0.01)
        known = p.border_prior(theta, d)[0]
        covariance = np.linalg.inv(known + (S - known) / FOLLOWS**2)  # S of the last step, which is small
        poses = fit.q.copy()
        poses[few.chosen] = q
        e = self.problem.errors(poses, theta, d)[0]
        C = (covariance + covariance.T) / 2
        return Fit(poses, theta, d, C, e, fit.sd, fit.iterations + k, fit.converged and done, tuple(skin))


def _solve_lower(L: Array, right: Array, transposed: bool = False) -> Array:
    from scipy.linalg import solve_triangular  # type: ignore[import-untyped]

    return solve_triangular(L, right, lower=True, trans=int(transposed), check_finite=False)  # type: ignore[no-any-return]
