"""Masses, mass centers and a slightly changed motion that minimize residual forces at the root.

The motion is a quintic spline, q(t_i) = B_i c, u = B'_i c, udot = B''_i c, so that rates are exact and smooth
without a filter. r are the generalized forces at the joint of the root from inverse dynamics, with all
measured forces as one wrench on the root, since forces between bodies have no effect there. With phi the
logarithms of masses (so that they are positive), x shifts of mass centers, pi = (phi, x), and q^0 the motion
from markers,

    J = 1/2 sum_i [sum_m |e_im|^2 / sd^2 + |r_i / sd_r|^2 + |udot_i / sd_a|^2 + |(q_i - q_i^0) / sd_q|^2]
        + 1/2 |pi - pi_0|^2_P + 1/2 ((sum_b m_b - M) / (sd_M M))^2                                        (1)

M is the mass that the plates carry. Angles x = q_i - q_i^0 cost 1/2 (x / STEEP)^8, too. Each Gauss-Newton step is banded in c with a border of pi. A direction of pi
that the recording shows less well than the prior does stays at the prior:

    pi = pi_0 + P^1/2 V y,    V eigenvectors of P^1/2 I P^1/2 with eigenvalues above 1                    (2)

where I is the recording's information about pi, with the motion eliminated; errors count once per 50 ms.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import warn
from condyle.personal.anthropometry import role, side
from condyle.personal.followed import Followed, pieces
from condyle.personal.loaded_system import WRENCH, LoadedSystem, loaded
from condyle.personal.marker_fit import Fit, MarkerFit
from condyle.personal.plates import (
    LIKELY,
    NotCarriedError,
    beside,
    covered,
    free_torques,
    gravity_of,
    under_feet,
    wrench,
)
from condyle.personal.sized_system import SizedSystem
from condyle.presentation import cut
from condyle.records import dataclass
from condyle.system.system import System
from condyle.table import Table
from condyle.tree import scales

TOTAL = 0.0015
"""Standard deviation of the logarithm of the total mass."""
FORCE, MOMENT, ACCELERATION, COARSE = 5.0, 0.46, 300.0, 3.0
"""[N, N m, rad/s^2]: forces that may be left at the root, and accelerations that are usual. Masses are sought with
this many times the forces: what a few percent of motion and plates get wrong is not theirs to explain."""
FLESH, DEEP = 0.05, 0.1
"""The part of the force that accelerates the subject, which flesh that moves against its bone takes, and how far from
the root [m]: masses are sought with that much more, so that impacts do not tell of them."""
ANGLE, LENGTH, LOOSE = np.radians(1.2), 0.03, np.radians(10.0)
"""How far the motion goes from that of the markers: standard deviations [rad, m]; angles of a trunk that no marker
shows."""
STEEP, BOUND, TIGHTER, ROUNDS = np.radians(2.5), np.radians(4.0), 0.9, 8
"""Changes of angles x cost (x / STEEP)^8, too, and none goes beyond BOUND [rad]: where one still does, its own STEEP
becomes smaller, as if it should go TIGHTER of that, so many times."""
CONTRARY, TURNS = 0.05, 15.0
"""Part of the peak force, and moment [N m]: where more is left, forces and motion contradict each other."""
ALIKE = 0.05
"""Part of the mass by which a trial may differ from the mean of all."""
ROUGH = (0.01, 3.0, 0.5)
"""Part of the peak force, moment [N m] and change of angles [deg, RMS] beyond which these agree only roughly."""
HEAVY = 0.2
"""The part of the mass beyond which bodies whose pose no marker shows let forces say nothing of masses."""
NEAR = 2.5
"""Parameters z standard deviations from the prior cost (z / NEAR)^16, too: three are far, whatever forces say."""
WALK, RUN, FAST = 1 / 30, 1 / 50, 1.6
"""Knot distances [s], and the peak force over weight from which a trial counts as running."""
NOISE, SMOOTH = 0.005, 60.0
"""Noise of coordinates [rad, m] and accelerations [rad/s^2, m/s^2] of the first spline."""
APART = 0.05
"""Errors count once in this time [s]."""
BESIDE, HELD = 0.15, 0.1
"""Time beside what plates carry in which the motion changes, too [s], and how much less it may at the ends."""
DEGREE, STEPS = 5, 12


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

    @property
    def left(self) -> tuple[float, float]:
        """Root of the mean square of force [N] and moment [N m] that are left."""
        force = np.array([u == "N" for u in self.after.units])
        size = lambda x: float(np.sqrt((x**2).sum(axis=1).mean())) if x.shape[1] else 0.0
        return size(self.after.values[:, force]), size(self.after.values[:, ~force])


@dataclass(frozen=True, eq=False)
class Masses:
    """Masses and mass centers.

    Attributes:
        loaded: the system.
        pi: logarithms of mass factors, then shifts of mass centers [m], shape (m,).
        prior: of the same.
        covariance: shape (m, m).
        total: mass that the forces carry [kg].
        likely: mass that the sizes tell [kg].
        weak: directions that stay at the prior, as text.
        trials: what was found of each trial; None for those without loads.
    """

    loaded: LoadedSystem
    pi: Array
    prior: Array
    covariance: Array
    total: float
    likely: float
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
        hidden: list[str],
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
        )  # ends of the spline go over into what is beside them
        loose = np.zeros(len(self.angles), dtype=bool)
        for name in hidden:
            loose[made.system.body(name).q] = True
        self.angles &= ~loose
        self.sd_q = held[:, None] * np.where(self.angles, ANGLE, np.where(loose, LOOSE, LENGTH))
        self.fine = np.tile(np.where(made.is_force, FORCE, MOMENT), (len(rows), 1))
        self.free = problem.free
        order = list(made.system.inputs)
        self.inputs = np.zeros((len(rows), len(order)))
        self.inputs[:, [order.index(n) for n in WRENCH]] = W[rows]
        self.columns = [list(made.system.parameters).index(x) for x in made.names]
        self.masses = sum(n.startswith("mass of") for n in made.names)
        self.worth = min(1.0, (self.t[1] - self.t[0]) / APART)
        self.begin(np.zeros(3))

    def begin(self, weight: Array) -> None:
        """The motion of the markers, and forces at the root that may be left while masses are sought, with a subject
        of this weight [N], (3,)."""
        self.c, self.steep = self.c0, np.where(self.angles, STEEP, np.inf) * np.ones_like(self.q0)
        order = list(self.made.system.inputs)
        F = self.inputs[:, [order.index(n) for n in WRENCH[3:]]] + weight
        flesh = FLESH * np.linalg.norm(F, axis=1, keepdims=True) * np.where(self.made.is_force, 1.0, DEEP)
        self.sd_r = np.hypot(COARSE * self.fine, flesh)

    def parameters(self, pi: Array) -> dict[str, float]:
        values = np.r_[np.exp(pi[: self.masses]), pi[self.masses :]]
        return self.sizes | dict(zip(self.made.names, map(float, values), strict=True))

    def change(self, c: Array) -> Array:
        """q - q^0, shape (T, nq)."""
        return self.spline(c)[0] - self.spline(self.c0)[0]  # type: ignore[no-any-return]

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
        x = self.change(c)
        total += ((x / self.sd_q) ** 2).sum() + ((x / self.steep) ** 8).sum()
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
            name: x[:, self.made.rows] * self.counts[:, None, None] / self.sd_r[..., None]
            for name, x in J.items()
        }
        Jp = J["parameters"][..., self.columns]
        Jp = Jp * np.r_[np.exp(pi[: self.masses]), np.ones(len(pi) - self.masses)]
        r = self.residual(c, pi) / self.sd_r
        Hm = np.swapaxes(A, 1, 2) @ A / self.sd**2
        gm = (np.swapaxes(A, 1, 2) @ e[..., None])[..., 0] / self.sd**2
        i = np.arange(n)
        Hm[:, i, i] += 1 / self.sd_q**2
        off = self.change(c)
        gm += off / self.sd_q**2 + 4 * (off / self.steep) ** 7 / self.steep
        Hm[:, i, i] += 16 * (off / self.steep) ** 6 / self.steep**2
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
    followed: list[Followed],
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
    impulse, each = np.zeros(2), dict[str, float]()
    refused: list[NotCarriedError] = []
    hidden: dict[str, None] = {}
    for problem, name, time, of, given in zip(problems, names, times, followed, loads, strict=True):
        trials.append([])
        if given is None:
            continue
        q, alone = of.q, {n for n, k in of.untold.items() if k == len(of.q)}
        loose = _hidden(one.generic, alone)
        hidden |= dict.fromkeys(loose)
        parts = pieces(time, q)
        W = wrench(one.system, time, q, parts, free_torques(given, up, name), name)
        away = beside(one.system, one.parameters(s), q, W)
        center = made.system.mass_center(q, parameters=sizes)
        try:
            windows, carried = covered(
                time, center, W, away, (g, up), expected, mass is not None, name, parts
            )
        except NotCarriedError as error:
            refused.append(error)
            continue
        places, partners = _feet(one, problem, fit, q)
        under_feet(given, time, places, up, partners, name)
        each[name] = carried
        impulse += np.array([carried, 1.0]) * sum(map(len, windows)) * float(np.median(np.diff(time)))
        step = RUN if (W[:, 3:] @ up).max() > FAST * g * carried else WALK
        trials[-1] = [
            _Stretch(made, problem, fit, sizes, time, q, W, rows, more, step, loose)
            for rows, more in zip(windows, _beside(windows, time, parts), strict=True)
        ]
    for why in refused:
        if not any(trials):
            raise why
        warn(f"{why}. They are left out", RuntimeWarning)
    carried = float(impulse[0] / impulse[1])
    if max(abs(m / carried - 1) for m in each.values()) > ALIKE:
        told = cut(f"{m:.1f} kg in {name}" for name, m in each.items())
        warn(
            f"personalize: the plates carry {told}, and their mean counts; is it one subject, with the same load, and "
            "are the plates calibrated?",
            RuntimeWarning,
        )
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
    if hidden:
        warn(
            f"personalize: no marker shows how {cut(hidden)} moves, which is much of the mass: it moves as forces ask, "
            "near its default pose, and masses and mass centers stay at shares of the model",
            RuntimeWarning,
        )
    contrary: dict[int, TrialResiduals] = {}
    while True:
        used = [x for k, trial in enumerate(trials) if k not in contrary for x in trial]
        for t in used:
            t.begin(-carried * g * up)
        pi, prior, covariance, weak, start, cs = _sought(made, one, used, carried, bool(hidden))
        at = iter(zip(used, start, cs, strict=True))
        found = [
            contrary.get(k) or (_report([next(at) for _ in trial], pi) if trial else None)
            for k, trial in enumerate(trials)
        ]
        left = {k: max(*np.divide(r.left, (CONTRARY * r.peak, TURNS))) for k, r in enumerate(found) if r}
        worst = max(left.keys() - contrary.keys(), key=lambda k: left[k], default=None)
        if worst is None or left[worst] <= 1:
            _rough(
                {n: r for k, (n, r) in enumerate(zip(names, found, strict=True)) if r and k not in contrary}
            )
            return Masses(made, pi, prior, covariance, carried, grown, weak, found)
        force, moment = found[worst].left  # type: ignore[union-attr]
        warn(
            f"personalize: {names[worst]}: motion and forces contradict each other, {force:.0f} N and {moment:.1f} N m "
            "are left. The motion stays that of the markers, and nothing of masses follows from this trial; are plates, "
            "signs, points of application and times right?",
            RuntimeWarning,
        )
        contrary[worst] = _report([(t, t.residual(t.c0, prior), None) for t in trials[worst]], prior)


def _sought(
    made: LoadedSystem, one: SizedSystem, used: list[_Stretch], carried: float, trusted: bool
) -> tuple[Array, Array, Array, tuple[str, ...], list[Array], list[Array]]:
    """pi, its prior and covariance, what stays at the prior, forces at the root before, and the splines of (1).

    Args:
        made: the loaded system.
        one: the sized one.
        used: stretches of time; there may be none.
        carried: the total mass [kg].
        trusted: masses stay at the prior.
    """
    m0 = np.zeros(len(made.names))
    for b in one.generic.bodies:
        if b.name in made.mass_of:
            m0[made.mass_of[b.name]] += float(b.mass)
    k = sum(n.startswith("mass of") for n in made.names)
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
    kept = (values > 1.0) & (not trusted)
    V, W = vectors[:, kept], vectors[:, ~kept]
    cs, y = _steps(used, [t.c for t in used], prior, root @ V, made.prior_sd)  # (2)
    pi = prior + root @ V @ y
    pi[:k] += np.log(carried / (m0 * np.exp(pi))[:k].sum())
    for t in used:
        t.sd_r = t.fine
    cs = [_bounded(t, c, pi) for t, c in zip(used, cs, strict=True)]
    covariance = root @ (W @ W.T + V @ np.diag(1 / (1 + values[kept])) @ V.T) @ root.T
    return pi, prior, covariance, _weak(made, root @ W), start, cs


def _rough(found: dict[str, TrialResiduals]) -> None:
    """Warn where forces and motion agree only roughly, by the guidelines of the report."""
    told = []
    for name, r in found.items():
        (force, moment), (rms, _) = r.left, np.degrees(r.changed)
        if force > ROUGH[0] * r.peak or moment > ROUGH[1] or rms > ROUGH[2]:
            told.append(
                f"{name}: {100 * force / r.peak:.1f} % of the peak force and {moment:.1f} N m are left, and angles changed by "
                f"{rms:.2f} degrees for it"
            )
    if told:
        warn(
            f"personalize: forces and motion agree only roughly: {cut(told, sep='; ')}. Are times and origin of the "
            "plates right, and forces not smoothed much more than the motion?",
            RuntimeWarning,
        )


def _feet(
    one: SizedSystem, problem: MarkerFit, fit: Fit, q: Array
) -> tuple[dict[str, Array], dict[str, str]]:
    """Places of markers and joints of each foot [m], shape (T, n, 3), by body; and the bodies of the other foot."""
    _, R, station, s = problem.errors(q, fit.theta, fit.d)
    X = one.system.body_poses(q, parameters=one.parameters(s))
    seen = X.p[:, problem.body] + np.einsum("tmij,mj->tmi", R, station)
    feet = {b.name: side(b.name) for b in one.system.bodies if role(b.name) == "foot"}
    places = {}
    for name, (_, which) in feet.items():
        bodies = [one.system.body(n).index for n, x in feet.items() if x[1] == which]
        places[name] = np.concatenate([X.p[:, bodies], seen[:, np.isin(problem.body, bodies)]], axis=1)
    other = {
        n: m for n, (stem, a) in feet.items() for m, (same, b) in feet.items() if stem == same and a != b
    }
    return places, other


def _hidden(system: System, untold: set[str]) -> list[str]:
    """Bodies whose coordinates are all untold, if they and what hangs on them are HEAVY."""
    weight = {b.name: float(b.mass) for b in system.bodies}
    total = sum(weight.values())
    for b in reversed(system.bodies):
        if b.parent is not None and not b.parent.is_ground:
            weight[b.parent.name] += weight[b.name]
    untold_bodies = [
        b for b in system.bodies if b.coordinates and untold.issuperset(c.name for c in b.coordinates)
    ]
    return [b.name for b in untold_bodies if weight[b.name] > HEAVY * total]


def _bounded(t: _Stretch, c: Array, pi: Array) -> Array:
    """The motion that forces ask for, from c on, with which no angle goes farther than BOUND from that of the markers."""
    none, sd = np.zeros((len(pi), 0)), np.ones(len(pi))
    for _ in range(ROUNDS):
        c = _steps([t], [c], pi, none, sd)[0][0]
        off = np.abs(t.change(c)) * t.angles
        if off.max() <= BOUND:
            break
        t.steep = t.steep * np.where(off > BOUND, TIGHTER * BOUND / np.maximum(off, BOUND), 1.0)
    return c


def _beside(windows: list[Array], time: Array, parts: list[slice]) -> list[Array]:
    """Frames of some intervals with their neighbors, up to the middle between two intervals, or to a jump."""
    more, edges = max(1, round(BESIDE / float(np.median(np.diff(time))))), [0]
    edges += [(a[-1] + b[0] + 1) // 2 for a, b in pairwise(windows)] + [len(time)]
    own = [next(p for p in parts if p.start <= x[0] < p.stop) for x in windows]
    return [
        np.arange(max(lo, p.start, x[0] - more), min(hi, p.stop, x[-1] + 1 + more))
        for x, p, (lo, hi) in zip(windows, own, pairwise(edges), strict=True)
    ]


def _steps(
    used: list[_Stretch], cs: list[Array], pi_0: Array, U: Array, sd: Array
) -> tuple[list[Array], Array]:
    """Gauss-Newton steps of the splines and of y: pi = pi_0 + U y, with prior standard deviations sd."""
    y, V = np.zeros(U.shape[1]), U / (NEAR * sd)[:, None]
    cost = lambda cs, y: (
        sum(t.worth * t.cost(c, pi_0 + U @ y) for t, c in zip(used, cs, strict=True))
        + 0.5 * (y @ y + ((V @ y) ** 16).sum())
    )
    now = cost(cs, y)
    for _ in range(STEPS):
        z = V @ y
        S, right, parts = np.eye(len(y)) + 64 * (V.T * z**14) @ V, y + 8 * V.T @ z**15, []
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


def _report(stretches: list[tuple[_Stretch, Array, Array | None]], pi: Array) -> TrialResiduals:
    """What was found of a trial: its stretches of time one after the other; with coefficients None the motion is that
    of the markers."""
    made = stretches[0][0].made
    names = [made.system.speeds[j] for j in made.rows]
    units = ["N" if f else "N m" for f in made.is_force]
    rows, time, before, after, q, square, seen = [], [], [], [], [], 0.0, 0
    change = []
    for t, r, c in stretches:
        rows.append(t.rows)
        time.append(t.t[t.counts])
        before.append(r[t.counts])
        after.append((r if c is None else t.residual(c, pi))[t.counts])
        q.append(t.q0 if c is None else t.spline(c)[0])
        change.append(t.change(t.c0 if c is None else c)[:, t.angles & t.free])
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
