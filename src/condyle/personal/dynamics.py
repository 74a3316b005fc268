"""Masses, mass centers and a slightly changed motion that minimize residual forces at the root.

The motion is a quintic spline, q(t_i) = B_i c, u = B'_i c, udot = B''_i c, so that rates are exact and smooth
without a filter. r are the generalized forces at the joint of the root from inverse dynamics, with all
measured forces as one wrench on the root, since forces between bodies have no effect there. With phi the
logarithms of masses (so that they are positive), x shifts of mass centers, pi = (phi, x), and q^0 the motion
from markers,

    J = 1/2 sum_i [sum_m |e_im|^2 / sd^2 + |r_i / sd_r|^2 + |udot_i / sd_a|^2 + |(q_i - q_i^0) / sd_q|^2]
        + 1/2 |pi - pi_0|^2_P + 1/2 ((sum_b m_b - M) / (sd_M M))^2                                        (1)

M is the mass that the plates carry. Each Gauss-Newton step is banded in c with a border of pi. Directions of
pi that the recording determines less well than the prior remain at the prior:

    pi = pi_0 + P^1/2 V y,    V eigenvectors of P^1/2 I P^1/2 with eigenvalues above 1                    (2)

where I is the recording's information about pi, with the motion eliminated; errors count once per 50 ms.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import warn
from condyle.personal.loaded_system import WRENCH, LoadedSystem, loaded
from condyle.personal.marker_fit import Fit, MarkerFit
from condyle.personal.plates import LIKELY, beside, covered, gravity_of, wrench
from condyle.personal.sized_system import SizedSystem
from condyle.records import dataclass
from condyle.table import Table
from condyle.tree import scales

TOTAL = 0.0015
"""Standard deviation of the logarithm of the total mass."""
FORCE, MOMENT, ACCELERATION, COARSE = 5.0, 0.46, 300.0, 3.0
"""[N, N m, rad/s^2]: residual forces at the root and typical accelerations; and the factor of the forces
while masses are estimated, so that they do not explain errors of motion and plates.
"""
ANGLE, LENGTH = np.radians(1.2), 0.03
"""Standard deviation of the motion from that of the markers [rad, m]."""
WALK, RUN, FAST = 1 / 30, 1 / 50, 1.6
"""Knot distances [s], and the peak force over weight from which a trial counts as running."""
NOISE, SMOOTH = 0.005, 60.0
"""Noise of coordinates [rad, m] and accelerations [rad/s^2, m/s^2] of the first spline."""
APART = 0.05
"""Errors count once in this time [s]."""
BESIDE, HELD = 0.15, 0.1
"""Time beside the covered frames in which the motion changes too [s], and the reduction at its ends."""
DEGREE, STEPS = 5, 8


@dataclass(frozen=True, eq=False)
class TrialResiduals:
    """Result of the dynamics fit for one trial.

    Attributes:
        rows: changed frames, shape (T,): those in which plates carry the subject, and some beside them.
        before: forces at the root with the motion from markers and the shares of the model [N, N m], while plates
            carry the subject.
        after: with that of (1).
        q: the changed coordinates, shape (T, nq).
        changed: root of the mean square and largest change of angles from the spline of the markers [rad].
        peak: the largest measured force [N].
        marker_rms: with the changed motion [m].
    """

    rows: Array
    before: Table
    after: Table
    q: Array
    changed: tuple[float, float]
    peak: float
    marker_rms: float


@dataclass(frozen=True, eq=False)
class Masses:
    """Masses and mass centers.

    Attributes:
        loaded: the system.
        pi: logarithms of mass factors, then shifts of mass centers [m], shape (m,).
        prior: of the same.
        covariance: shape (m, m).
        total: mass that the forces carry [kg].
        weak: directions that remain at the prior, as text.
        trials: result of each trial; None for those without loads.
    """

    loaded: LoadedSystem
    pi: Array
    prior: Array
    covariance: Array
    total: float
    weak: tuple[str, ...]
    trials: list[TrialResiduals | None]


class _Stretch:
    """Frames of one trial in which plates carry the subject: the spline, measured wrenches and markers."""

    def __init__(
        self,
        made: LoadedSystem,
        problem: MarkerFit,
        fit: Fit,
        sizes: dict[str, float],
        time: Array,
        q: Array,
        W: Array,
        carried: Array,
        rows: Array,
        step: float,
    ) -> None:
        self.made, self.fit, self.sizes, self.rows = made, fit, sizes, rows
        self.sd, self.counts = fit.sd, np.isin(rows, carried)
        self.t, self.problem = time[rows], problem.frames(rows)
        self.spline = _Spline(self.t, step)
        self.q0, self.peak = q[rows], float(np.linalg.norm(W[rows, 3:], axis=1).max())
        self.c0 = self.c = self.spline.fit(self.q0)
        self.angles = np.array([u == "rad" for u in scales.units(made.system.bodies)[0]])
        away = np.abs(rows[:, None] - carried[[0, -1]]).min(axis=1) * ~self.counts
        held = 1 - (1 - HELD) * away / max(
            away.max(), 1
        )  # blend the ends of the spline into the neighboring motion
        self.sd_q = held[:, None] * np.where(self.angles, ANGLE, LENGTH)
        self.sd_r = COARSE * np.where(made.is_force, FORCE, MOMENT)
        self.free = problem.free
        order = list(made.system.inputs)
        self.inputs = np.zeros((len(rows), len(order)))
        self.inputs[:, [order.index(n) for n in WRENCH]] = W[rows]
        self.columns = [list(made.system.parameters).index(x) for x in made.names]
        self.masses = sum(n.startswith("mass of") for n in made.names)
        self.worth = min(1.0, (self.t[1] - self.t[0]) / APART)

    def parameters(self, pi: Array) -> dict[str, float]:
        values = np.r_[np.exp(pi[: self.masses]), pi[self.masses :]]
        return self.sizes | dict(zip(self.made.names, map(float, values), strict=True))

    def residual(self, c: Array, pi: Array) -> Array:
        """r, shape (T, 6)."""
        q, u, a = self.spline(c)
        tau = self.made.system.inverse_dynamics(q, u, a, inputs=self.inputs, parameters=self.parameters(pi))
        return tau[:, self.made.rows] * self.counts[:, None]

    def cost(self, c: Array, pi: Array) -> float:
        q, _, a = self.spline(c)
        e = self.problem.errors(q, self.fit.theta, self.fit.d)[0]
        total = (e**2).sum() / self.sd**2 + ((self.residual(c, pi) / self.sd_r) ** 2).sum()
        total += ((a * self.free / ACCELERATION) ** 2).sum()
        total += (((q - self.spline(self.c0)[0]) / self.sd_q) ** 2).sum()
        return 0.5 * float(total)

    def normal(self, c: Array, pi: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Band (K, DEGREE + 1, n, n) of blocks below the diagonal, gradient (K, n), border (K n, m), block of pi
        and its gradient."""
        q, u, a = self.spline(c)
        n, K, T, w = c.shape[1], len(c), len(q), DEGREE + 1
        e, A, _ = self.problem.linear(q, self.fit.theta, self.fit.d)
        A, e = A.reshape(T, -1, n), e.reshape(T, -1)
        J = self.made.system.jacobian(
            "inverse_dynamics",
            q,
            u,
            a,
            wrt=("q", "u", "udot", "parameters"),
            inputs=self.inputs,
            parameters=self.parameters(pi),
        )
        J = {
            name: x[:, self.made.rows] * self.counts[:, None, None] / self.sd_r[:, None]
            for name, x in J.items()
        }
        Jp = J["parameters"][..., self.columns]
        Jp = Jp * np.r_[np.exp(pi[: self.masses]), np.ones(len(pi) - self.masses)]
        r = self.residual(c, pi) / self.sd_r
        Hm = np.swapaxes(A, 1, 2) @ A / self.sd**2
        gm = (np.swapaxes(A, 1, 2) @ e[..., None])[..., 0] / self.sd**2
        i = np.arange(n)
        Hm[:, i, i] += 1 / self.sd_q**2
        gm += (q - self.spline(self.c0)[0]) / self.sd_q**2
        smooth = self.free / ACCELERATION**2
        H, g, C = np.zeros((K, w, n, n)), np.zeros((K, n)), np.zeros((K, n, len(pi)))
        for lo, rows in self.spline.pieces():
            b = self.spline.b[:, rows]
            D = sum(
                x[:, :, None, None] * (J[v][rows] * self.free)[:, None]
                for x, v in zip(b, ("q", "u", "udot"), strict=True)
            )
            D = D.transpose(1, 3, 0, 2).reshape(w * n, -1)  # dr/dc of these frames
            at = slice(lo, lo + w)
            g[at] += (D @ r[rows].ravel()).reshape(w, n) + b[0].T @ gm[rows] + b[2].T @ (smooth * a[rows])
            C[at] += (D @ Jp[rows].reshape(-1, len(pi))).reshape(w, n, -1)
            pairs = (b[0][:, :, None] * b[0][:, None]).reshape(len(b[0]), -1)
            block = (D @ D.T).reshape(w, n, w, n).transpose(0, 2, 1, 3)
            block = block + (pairs.T @ Hm[rows].reshape(len(b[0]), -1)).reshape(w, w, n, n)
            block[..., i, i] += (b[2].T @ b[2])[..., None] * smooth
            for x in range(w):
                for y in range(x + 1):
                    H[lo + y, x - y] += block[x, y]
        H[:, 0, i, i] += 1e-6 + np.where(self.free, 0.0, 1.0)
        flat_p = Jp.reshape(-1, len(pi))
        return H, g, C.reshape(K * n, -1), flat_p.T @ flat_p, flat_p.T @ r.ravel()


class _Spline:
    """A clamped quintic B-spline at times t: b[k, i, j] is the k-th rate of basis function first[i] + j at t_i."""

    def __init__(self, t: Array, step: float) -> None:
        from scipy.interpolate import BSpline  # type: ignore[import-untyped]

        pieces = max(int(np.ceil((t[-1] - t[0]) / step)), 2)
        pieces = min(pieces, max(len(t) - DEGREE, 1))
        inner = np.linspace(t[0], t[-1], pieces + 1)
        knots = np.r_[[t[0]] * DEGREE, inner, [t[-1]] * DEGREE]
        self.first = np.clip(np.searchsorted(inner, t, side="right") - 1, 0, pieces - 1)
        self.count = pieces + DEGREE
        self.at = self.first[:, None] + np.arange(DEGREE + 1)
        self.b = np.zeros((3, len(t), DEGREE + 1))
        for j in range(DEGREE + 1):  # basis functions that are DEGREE + 1 apart do not overlap
            for phase in range(DEGREE + 1):
                mine = np.flatnonzero((self.first + j) % (DEGREE + 1) == phase)
                one = BSpline(knots, (np.arange(self.count) % (DEGREE + 1) == phase).astype(float), DEGREE)
                for k in range(3):
                    self.b[k, mine, j] = one(t[mine], nu=k)

    def pieces(self) -> list[tuple[int, slice]]:
        """First basis function and frames between two knots."""
        starts = np.flatnonzero(np.diff(self.first, prepend=-1))
        ends = [*starts[1:], len(self.first)]
        return [(int(self.first[a]), slice(int(a), int(b))) for a, b in zip(starts, ends, strict=True)]

    def __call__(self, c: Array) -> Array:
        """Values and two rates, shape (3, T, n)."""
        return np.einsum("ktj,tjn->ktn", self.b, c[self.at], optimize=True)  # type: ignore[no-any-return]

    def fit(self, q: Array) -> Array:
        """Coefficients (K, n) close to q (T, n), without accelerations from noise."""
        w = DEGREE + 1
        H, right = np.zeros((self.count, w, 1, 1)), np.zeros((self.count, q.shape[1]))
        for lo, rows in self.pieces():
            b, _, b2 = self.b[:, rows]
            N = b.T @ b / NOISE**2 + b2.T @ b2 / SMOOTH**2
            for x in range(w):
                for y in range(x + 1):
                    H[lo + y, x - y] += N[x, y]
            right[lo : lo + w] += b.T @ q[rows] / NOISE**2
        return _solve_banded(H, right)


def _solve_banded(H: Array, right: Array) -> Array:
    """x of the symmetric block-banded matrix H (K, w, n, n), blocks below the diagonal; right (K n, m)."""
    from scipy.linalg import solveh_banded  # type: ignore[import-untyped]

    K, w, n, _ = H.shape
    d, row, col = np.meshgrid(np.arange(w), np.arange(n), np.arange(n), indexing="ij")
    below = d * n + row - col >= 0
    d, row, col = d[below], row[below], col[below]
    ab = np.zeros((w * n, K * n))
    ab[d * n + row - col, np.arange(K)[:, None] * n + col] = H[:, d, row, col]
    return solveh_banded(ab, right, lower=True, overwrite_ab=True, check_finite=False)  # type: ignore[no-any-return]


def find_masses(
    one: SizedSystem,
    problems: list[MarkerFit],
    fit: Fit,
    names: list[str],
    times: list[Array],
    poses: list[Array],
    loads: list[Any],
    mass: float | None,
    symmetric: bool,
) -> Masses:
    """Masses, mass centers and motions of trials with loads."""
    made = loaded(one, symmetric)
    s = np.exp(fit.theta)
    sizes = {n: x for n, x in one.parameters(s).items() if n in made.system.parameters}
    grown = sum(float(b.mass) * float(np.prod(s[one.which[b.name]])) for b in one.generic.bodies)
    expected, (g, up) = mass or grown, gravity_of(one.system)
    trials: list[list[_Stretch]] = []
    impulse = np.zeros(2)
    for problem, name, time, q, given in zip(problems, names, times, poses, loads, strict=True):
        trials.append([])
        if given is None:
            continue
        W = wrench(one.system, time, q, given, name)
        away = beside(one.system, one.parameters(s), q, W)
        center = made.system.mass_center(q, parameters=sizes)
        windows, carried = covered(time, center, W, away, (g, up), expected, mass is not None, name)
        impulse += np.array([carried, 1.0]) * sum(map(len, windows)) * (time[1] - time[0])
        step = RUN if (W[:, 3:] @ up).max() > FAST * g * carried else WALK
        trials[-1] = [
            _Stretch(made, problem, fit, sizes, time, q, W, rows, more, step)
            for rows, more in zip(windows, _beside(windows, time), strict=True)
        ]
    carried = float(impulse[0] / impulse[1])
    if mass is not None and abs(carried / mass - 1) > 0.05:
        warn(
            f"personalize: the plates carry {carried:.1f} kg, and mass= says {mass:.1f} kg; the forces count",
            RuntimeWarning,
        )
    elif mass is None and abs(np.log(carried / grown)) > LIKELY:
        warn(
            f"personalize: the plates carry {carried:.1f} kg, and a subject of this size has about {grown:.0f} kg; "
            "is a foot off the plates, or a factor in the loads? mass= says what is right",
            RuntimeWarning,
        )
    used = [x for trial in trials for x in trial]
    m0 = np.zeros(len(made.names))
    for b in one.generic.bodies:
        m0[made.mass_of[b.name]] += float(b.mass)
    k = used[0].masses
    prior = np.zeros(len(made.names))
    prior[:k] = np.log(carried / m0[:k].sum())
    P = np.diag(made.prior_sd**2)
    share = (m0 * np.exp(prior))[:k] / carried
    heavy = np.r_[share, np.zeros(len(prior) - k)] / TOTAL
    P = np.linalg.inv(np.linalg.inv(P) + np.outer(heavy, heavy))  # the total is known
    root = np.linalg.cholesky(P)
    start = [t.residual(t.c, prior) for t in used]
    # information about pi with the motion eliminated, errors counted once per 50 ms
    told = np.zeros_like(P)
    for t in used:
        H, _, C, D, _ = t.normal(t.c, prior)
        told += t.worth * (D - C.T @ _solve_banded(H, C))
    values, vectors = np.linalg.eigh(root.T @ told @ root)
    kept = values > 1.0
    U = root @ vectors[:, kept]  # (2)
    cs, y = _steps(used, [t.c for t in used], prior, U)
    pi = prior + U @ y
    for t in used:
        t.sd_r = t.sd_r / COARSE
    cs, _ = _steps(used, cs, pi, np.zeros((len(pi), 0)))
    V = vectors[:, kept]
    W = vectors[:, ~kept]
    covariance = root @ (W @ W.T + V @ np.diag(1 / (1 + values[kept])) @ V.T) @ root.T
    at = iter(zip(used, start, cs, strict=True))
    found = [_report([next(at) for _ in trial], pi) if trial else None for trial in trials]
    return Masses(made, pi, prior, covariance, carried, _weak(made, root @ W), found)


def _beside(windows: list[Array], time: Array) -> list[Array]:
    """Frames of some intervals with their neighbors, up to the middle between two intervals."""
    more, edges = max(1, round(BESIDE / (time[1] - time[0]))), [0]
    edges += [(a[-1] + b[0] + 1) // 2 for a, b in pairwise(windows)] + [len(time)]
    return [
        np.arange(max(lo, x[0] - more), min(hi, x[-1] + 1 + more))
        for x, (lo, hi) in zip(windows, pairwise(edges), strict=True)
    ]


def _steps(used: list[_Stretch], cs: list[Array], pi_0: Array, U: Array) -> tuple[list[Array], Array]:
    """Gauss-Newton steps of the splines and of y: pi = pi_0 + U y."""
    y = np.zeros(U.shape[1])
    cost = lambda cs, y: (
        sum(t.worth * t.cost(c, pi_0 + U @ y) for t, c in zip(used, cs, strict=True)) + 0.5 * y @ y
    )
    now = cost(cs, y)
    for _ in range(STEPS):
        S, right, parts = np.eye(len(y)), y.copy(), []
        for t, c in zip(used, cs, strict=True):
            H, g, C, D, gp = t.normal(c, pi_0 + U @ y)
            CU = C @ U
            X = _solve_banded(H, np.concatenate([CU, g.reshape(-1, 1)], axis=1))
            S += t.worth * (U.T @ D @ U - CU.T @ X[:, :-1])
            right += t.worth * (U.T @ gp - CU.T @ X[:, -1])
            parts.append((X[:, :-1], X[:, -1]))
        dy, length = -np.linalg.solve(S, right), 1.0
        while length > 1e-2:
            new = [c - length * (x + X @ dy).reshape(c.shape) for c, (X, x) in zip(cs, parts, strict=True)]
            better = cost(new, y + length * dy)
            if better <= now:
                break
            length /= 2
        else:
            break
        drop, now, cs, y = now - better, better, new, y + length * dy
        if drop < 1e-3 * now:
            break
    return cs, y


def _report(stretches: list[tuple[_Stretch, Array, Array]], pi: Array) -> TrialResiduals:
    """Result of a trial from its intervals."""
    made = stretches[0][0].made
    names = [made.system.speeds[j] for j in made.rows]
    units = ["N" if f else "N m" for f in made.is_force]
    rows, time, before, after, q, square, seen = [], [], [], [], [], 0.0, 0
    change = []
    for t, r, c in stretches:
        rows.append(t.rows)
        time.append(t.t[t.counts])
        before.append(r[t.counts])
        after.append(t.residual(c, pi)[t.counts])
        q.append(t.spline(c)[0])
        change.append((q[-1] - t.spline(t.c0)[0])[:, t.angles & t.free])
        square += float((t.problem.errors(q[-1], t.fit.theta, t.fit.d)[0] ** 2).sum())
        seen += int(t.problem.seen.sum())
    all_of = np.concatenate
    off = all_of(change)
    return TrialResiduals(
        all_of(rows),
        Table(all_of(time), names, all_of(before), units),
        Table(all_of(time), names, all_of(after), units),
        all_of(q),
        (float(np.sqrt((off**2).mean())), float(np.abs(off).max())),
        max(t.peak for t, _, _ in stretches),
        float(np.sqrt(square / max(seen, 1))),
    )


def _weak(made: LoadedSystem, directions: Array) -> tuple[str, ...]:
    """Parameters mostly in directions that the recordings do not determine."""
    left = np.sqrt((directions**2).sum(axis=1)) / made.prior_sd
    return tuple(n for n, x in zip(made.names, left, strict=True) if x > 0.7)
