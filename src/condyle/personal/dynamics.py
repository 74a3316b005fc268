"""Masses, mass centers and a slightly changed motion, such that hardly any force is left at the root.

The motion is a quintic spline, q(t_i) = B_i c, u = B'_i c, udot = B''_i c, so that rates are exact and smooth
without a filter. r are the generalized forces at the joint of the root from inverse dynamics, with all measured
forces as one wrench on the root: what acts between bodies does not count there. With phi the logarithms of
masses (so that they are positive), x shifts of mass centers, pi = (phi, x), and q^0 the motion from markers,

    J = 1/2 sum_i [sum_m |e_im|^2 / sd^2 + |r_i / sd_r|^2 + |udot_i / sd_a|^2 + |(q_i - q_i^0) / sd_q|^2]
        + 1/2 |pi - pi_0|^2_P + 1/2 ((sum_b m_b - M) / (sd_M M))^2                                        (1)

M is the mass that the vertical force carries: its impulse over the impulse of g + a. Each Gauss-Newton step is
banded in c with a border of pi. A direction of pi that the recording shows less well than the prior does stays
at the prior:

    pi = pi_0 + P^1/2 V y,    V eigenvectors of P^1/2 I P^1/2 with eigenvalues above 1                    (2)

where I is what the recording tells of pi, with the motion eliminated; errors count once per 50 ms.

Priors of masses: shares of the model, to 10 %; published shares differ by as much (de Leva 1996, J Biomech 29;
Dumas et al. 2007, J Biomech 40). Mass centers: 3 cm in the trunk, 2 in the pelvis, 1.5 in the thigh, 1 in the
shank.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError, warn
from condyle.forces import ExternalWrench
from condyle.personal.anthropometry import groups, role, side
from condyle.personal.marker_fit import Fit, MarkerFit
from condyle.personal.sized_system import _MADE, SizedSystem, kinematics_only
from condyle.records import dataclass
from condyle.studies.external_load import ExternalLoad, loads_on
from condyle.studies.motion.motion import Motion
from condyle.studies.scaling.scale import scale
from condyle.system.system import System
from condyle.table import Table
from condyle.trace.parameter import Input, Parameter
from condyle.tree import scales

SHARE, TOTAL = 0.10, 0.003
"""Standard deviations of the logarithm of a mass, and of the total."""
CENTERS = {"trunk": 0.03, "pelvis": 0.02, "thigh": 0.015, "shank": 0.01}
FORCE, MOMENT, ACCELERATION, COARSE = 5.0, 0.57, 300.0, 3.0
"""[N, N m, rad/s^2]: forces that may be left at the root, and accelerations that are usual. Masses are sought with
this many times the forces: what a few percent of motion and plates get wrong is not theirs to explain."""
ANGLE, LENGTH = np.radians(0.9), 0.03
"""How far the motion may go from that of the markers [rad, m]."""
WALK, RUN, FAST = 1 / 30, 1 / 50, 1.6
"""Distances of knots [s], and the peak force over weight from which on it is a run."""
NOISE, SMOOTH = 0.005, 60.0
"""Noise of coordinates [rad, m] and accelerations [rad/s^2, m/s^2] of the first spline."""
SLACK = 1.4
"""Errors of markers here over skin motion: a frame errs as the one before does."""
APART = 0.05
"""Errors count once in this time [s]."""
EDGE = 0.06
"""Time at both ends where accelerations of a spline are not known [s]."""
MISSING, SHORTEST = 0.25, 0.25
"""A frame whose vertical force is off by this part of the weight has a foot off the plates; and the shortest time
that is used [s]."""
DEGREE, STEPS = 5, 8


@dataclass(frozen=True, eq=False)
class LoadedSystem:
    """A sized system with masses and mass centers as Parameters and one measured wrench on its root.

    Attributes:
        system: it.
        names: of the Parameters of masses, then of mass centers.
        prior_sd: of log masses and shifts [m], shape (m,).
        mass_of: the number of each body's mass Parameter.
        root: the body that floats.
        rows: its speeds.
        is_force: which of these are translations.
    """

    system: System
    names: tuple[str, ...]
    prior_sd: Array
    mass_of: dict[str, int]
    root: str
    rows: list[int]
    is_force: list[bool]


def loaded(one: SizedSystem, symmetric: bool) -> LoadedSystem:
    """The loaded system of a sized one, made once per model."""
    made = _MADE.setdefault(one.generic, {})
    key = ("loaded", one.sizes, symmetric)
    if key not in made:
        made[key] = _loaded(one, symmetric)
    return made[key]  # type: ignore[no-any-return]


def _loaded(one: SizedSystem, symmetric: bool) -> LoadedSystem:
    bare = kinematics_only(one.generic)
    P = [Parameter(n, 1.0) for n in one.sizes]
    factors: Any = {b: [P[k] for k in w] for b, w in one.which.items()}
    system = scale(bare, factors=factors, preserve_mass_distribution=True).system
    group, changed = groups(one.generic, symmetric), {}
    names: dict[str, float] = {}
    mass_of = {}
    for b in system.bodies:
        g = group[b.name]
        f = Parameter(f"mass of {g}", 1.0)
        names.setdefault(f.name, SHARE)
        mass_of[b.name] = list(names).index(f.name)
        mass, com, I = b.mass_expressions()
        changed[b.name] = {"mass": mass * f.sx, "inertia": I * f.sx, "com": com}
    for b in system.bodies:
        g, segment = group[b.name], role(b.name)
        if segment not in CENTERS or not b.mass > 0.2 or (segment == "thigh" and "patella" in b.name.lower()):
            continue
        across = -1.0 if symmetric and side(b.name)[1] == "l" else 1.0
        for k, a in enumerate("xyz"):
            x = Parameter(f"mass center of {g} {a}", 0.0)
            names.setdefault(x.name, CENTERS[segment])
            com = changed[b.name]["com"]
            com[k] = com[k] + (across if a == "z" else 1.0) * x.sx
    system = system.copy(bodies=changed)
    floating = [
        b for b in system.bodies if b.parent is not None and b.parent.is_ground and len(b.speeds) >= 3
    ]
    if len(floating) != 1 or system.nq != system.nu:
        raise DescriptionError(
            "personalize: loads: masses need a model with one body that floats, and no quaternions; this one has "
            f"{len(floating)} that do"
        )
    root = floating[0]
    wrench: Any = [Input(f"measured {k}{a}", 0.0) for k in ("moment ", "force ") for a in "xyz"]
    system.add_force(
        "measured", ExternalWrench(root.name, (0.0, 0.0, 0.0), wrench[3:], wrench[:3], station_frame="ground")
    )
    units = scales.units(system.bodies)[1]
    rows = list(range(root.u.start, root.u.stop))
    sd = np.array(list(names.values()))
    return LoadedSystem(
        system, tuple(names), sd, mass_of, root.name, rows, [units[j].startswith("m/") for j in rows]
    )


@dataclass(frozen=True, eq=False)
class TrialResiduals:
    """What dynamics found of one trial.

    Attributes:
        rows: frames that the plates cover, as a slice of the trial.
        before: forces at the root with the motion from markers and the shares of the model [N, N m].
        after: with that of (1).
        q: the changed coordinates of these frames, shape (T, nq).
        changed: root of the mean square and largest change of angles [rad].
        peak: the largest measured force [N].
        marker_rms: with the changed motion [m].
    """

    rows: slice
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
        total: mass that the forces carry [kg]; NaN without.
        weak: directions that stay at the prior, as text.
        trials: what was found of each trial; None for those without loads.
    """

    loaded: LoadedSystem
    pi: Array
    prior: Array
    covariance: Array
    total: float
    weak: tuple[str, ...]
    trials: list[TrialResiduals | None]


class _Trial:
    """One trial with loads: the spline, measured wrenches and markers of the frames that plates cover."""

    def __init__(
        self,
        one: SizedSystem,
        made: LoadedSystem,
        problem: MarkerFit,
        fit: Fit,
        time: Array,
        q: Array,
        loads: Any,
    ) -> None:
        self.made, self.fit = made, fit
        self.sd = fit.sd * SLACK
        self.sizes = {
            n: x for n, x in one.parameters(np.exp(fit.theta)).items() if n in made.system.parameters
        }
        W = _wrench(one.system, time, q, loads)
        self.up = _up(one.system)
        weight = np.abs(W[:, 3:] @ self.up).max()
        mass = sum(float(b.mass) for b in one.generic.bodies)
        self.step = RUN if weight > FAST * 9.81 * mass else WALK
        smooth = _Spline(time, self.step)
        c = smooth.fit(q)
        self.rows, self.total = self._covered(smooth, c, W, time)
        t = time[self.rows]
        self.t, self.W, self.problem = t, W[self.rows], problem.frames(self.rows)
        self.spline = _Spline(t, self.step)
        self.q0, self.peak = q[self.rows], float(np.linalg.norm(W[self.rows, 3:], axis=1).max())
        self.c = self.spline.fit(self.q0)
        self.c0 = self.c
        angles = np.array([u == "rad" for u in scales.units(one.system.bodies)[0]])
        self.angles, self.sd_q = angles, np.where(angles, ANGLE, LENGTH)
        self.sd_r = COARSE * np.where(made.is_force, FORCE, MOMENT)
        self.free = problem.free

    def _covered(self, spline: _Spline, c: Array, W: Array, time: Array) -> tuple[slice, float]:
        """The longest time in which plates carry the subject, and the mass that they carry."""
        s = self.made.system
        q, u, a = (B @ c for B in spline.B)
        up = self.up
        fall = 9.81 + s.mass_center_acceleration(q, u, a, parameters=self.sizes) @ up
        force = W[:, 3:] @ up
        if not (force > 50).any():
            raise DescriptionError(
                "personalize: loads: no force above 50 N acts against gravity in this trial"
            )
        mass = float(np.median((force / np.maximum(fall, 2.0))[force > 0.3 * np.quantile(force, 0.9)]))
        best, edge = slice(0, 0), max(2, round(EDGE / (time[1] - time[0])))
        for _ in range(4):
            good = np.abs(force - mass * fall) < MISSING * mass * 9.81
            ends = np.flatnonzero(np.diff(np.r_[0, good.astype(int), 0]))
            runs = sorted(zip(ends[::2], ends[1::2], strict=True), key=lambda x: x[0] - x[1])
            if not runs or time[runs[0][1] - 1] - time[runs[0][0]] < SHORTEST:
                break
            best = slice(int(runs[0][0]) + edge, int(runs[0][1]) - edge)
            mass = float(force[best].sum() / fall[best].sum())
        if best.stop - best.start < 8:
            raise DescriptionError(
                "personalize: loads: in no quarter of a second do the plates carry the subject's weight; are the "
                "loads of this trial, and do times agree?"
            )
        return best, mass

    def parameters(self, pi: Array) -> dict[str, float]:
        k = sum(n.startswith("mass of") for n in self.made.names)
        values = np.r_[np.exp(pi[:k]), pi[k:]]
        return self.sizes | dict(zip(self.made.names, map(float, values), strict=True))

    def residual(self, c: Array, pi: Array) -> Array:
        """r, shape (T, 6)."""
        q, u, a = (B @ c for B in self.spline.B)
        tau = self.made.system.inverse_dynamics(
            q, u, a, inputs=self._inputs(), parameters=self.parameters(pi)
        )
        return tau[:, self.made.rows]

    def _inputs(self) -> Array:
        order = list(self.made.system.inputs)
        out = np.zeros((len(self.t), len(order)))
        for k, n in enumerate(f"measured {w}{a}" for w in ("moment ", "force ") for a in "xyz"):
            out[:, order.index(n)] = self.W[:, k]
        return out

    def cost(self, c: Array, pi: Array) -> float:
        q, _, a = (B @ c for B in self.spline.B)
        e = self.problem.errors(q, self.fit.theta, self.fit.d)[0]
        total = (e**2).sum() / self.sd**2 + ((self.residual(c, pi) / self.sd_r) ** 2).sum()
        total += ((a * self.free / ACCELERATION) ** 2).sum()
        total += (((q - self.spline.B[0] @ self.c0) / self.sd_q) ** 2).sum()
        return 0.5 * float(total)

    def normal(self, c: Array, pi: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Band (K, DEGREE + 1, n, n) of blocks below the diagonal, gradient (K, n), border (K n, m), block of pi
        and its gradient."""
        B0, B1, B2 = self.spline.B
        q, u, a = B0 @ c, B1 @ c, B2 @ c
        n, K, T, w = c.shape[1], len(c), len(q), DEGREE + 1
        e, A, _ = self.problem.linear(q, self.fit.theta, self.fit.d)
        A, e = A.reshape(T, -1, n), e.reshape(T, -1)
        J = self.made.system.jacobian(
            "inverse_dynamics",
            q,
            u,
            a,
            wrt=("q", "u", "udot", "parameters"),
            inputs=self._inputs(),
            parameters=self.parameters(pi),
        )
        Jq, Ju, Ja = (J[v][:, self.made.rows] / self.sd_r[:, None] * self.free for v in ("q", "u", "udot"))
        order = list(self.made.system.parameters)
        Jp = J["parameters"][:, self.made.rows][..., [order.index(x) for x in self.made.names]]
        k = sum(x.startswith("mass of") for x in self.made.names)
        Jp = Jp * np.r_[np.exp(pi[:k]), np.ones(len(pi) - k)] / self.sd_r[:, None]
        r = self.residual(c, pi) / self.sd_r
        Hm = np.swapaxes(A, 1, 2) @ A / self.sd**2
        gm = np.einsum("tij,ti->tj", A, e) / self.sd**2
        i = np.arange(n)
        Hm[:, i, i] += 1 / self.sd_q**2
        gm += (q - B0 @ self.c0) / self.sd_q**2
        H, g, C = np.zeros((K, w, n, n)), np.zeros((K, n)), np.zeros((K, n, len(pi)))
        smooth = self.free / ACCELERATION**2
        for t, lo in enumerate(self.spline.first):
            at = slice(lo, lo + w)
            b0, b1, b2 = B0[t, at], B1[t, at], B2[t, at]
            D = b0[:, None, None] * Jq[t] + b1[:, None, None] * Ju[t] + b2[:, None, None] * Ja[t]
            flat = D.transpose(0, 2, 1).reshape(w * n, -1)
            block = (flat @ flat.T).reshape(w, n, w, n)
            g[at] += (flat @ r[t]).reshape(w, n) + np.outer(b0, gm[t]) + np.outer(b2, smooth * a[t])
            C[at] += (flat @ Jp[t]).reshape(w, n, -1)
            for x in range(w):
                for y in range(x + 1):
                    add = block[x, :, y] + b0[x] * b0[y] * Hm[t]
                    add[i, i] += b2[x] * b2[y] * smooth
                    H[lo + y, x - y] += add
        H[:, 0, i, i] += 1e-6 + np.where(self.free, 0.0, 1.0)
        flat_p = Jp.reshape(-1, len(pi))
        return H, g, C.reshape(K * n, -1), flat_p.T @ flat_p, flat_p.T @ r.ravel()


class _Spline:
    """Values and rates of a clamped quintic B-spline at times t, as matrices B (T, K)."""

    def __init__(self, t: Array, step: float) -> None:
        from scipy.interpolate import BSpline  # type: ignore[import-untyped]

        pieces = max(int(np.ceil((t[-1] - t[0]) / step)), 2)
        pieces = min(pieces, max(len(t) - DEGREE, 1))
        inner = np.linspace(t[0], t[-1], pieces + 1)
        knots = np.r_[[t[0]] * DEGREE, inner, [t[-1]] * DEGREE]
        full = BSpline(knots, np.eye(len(knots) - DEGREE - 1), DEGREE)
        self.B = [full(t), full.derivative(1)(t), full.derivative(2)(t)]
        self.first = np.clip(np.searchsorted(inner, t, side="right") - 1, 0, pieces - 1)

    def fit(self, q: Array) -> Array:
        """Coefficients (K, n) near to q (T, n), without the accelerations of its noise."""
        B, _, B2 = self.B
        return np.linalg.solve(B.T @ B / NOISE**2 + B2.T @ B2 / SMOOTH**2, B.T @ q / NOISE**2)


def _up(system: System) -> Array:
    law: Any = system.force("gravity")
    g = np.ravel(np.asarray(law.acceleration, dtype=float))
    return -g / np.linalg.norm(g)


def _wrench(system: System, time: Array, q: Array, loads: list[ExternalLoad]) -> Array:
    """Moment about ground's origin and force of all loads, shape (T, 6), zero where they are not known, smoothed
    as sharply as the motion is sampled: a heel strike is shorter than a frame."""
    first = max(load.table.time[0] for load in loads)
    last = min(load.table.time[-1] for load in loads)
    inside = np.flatnonzero((time >= first) & (time <= last))
    if len(inside) < 8:
        raise DescriptionError(
            f"personalize: loads are known from {first:g} to {last:g} s, the markers from {time[0]:g} to "
            f"{time[-1]:g} s"
        )
    fine = 8
    t = np.linspace(time[inside[0]], time[inside[-1]], fine * (len(inside) - 1) + 1)
    between = Table(
        t,
        system.coordinates,
        np.stack([np.interp(t, time, x) for x in q.T], axis=1),
        scales.units(system.bodies)[0],
    )
    W = sum(loads_on(Motion.of(system, between), loads).values(), np.zeros((len(t), 6)))
    width = 0.6 * fine
    x = np.arange(-4 * fine, 4 * fine + 1)
    kernel = np.exp(-0.5 * (x / width) ** 2)
    kernel /= kernel.sum()
    padded = np.pad(W, ((4 * fine, 4 * fine), (0, 0)), mode="edge")
    W = np.stack([np.convolve(column, kernel, mode="valid") for column in padded.T], axis=1)
    out = np.zeros((len(time), 6))
    out[inside] = W[::fine]
    return out


def _solve_banded(H: Array, right: Array) -> Array:
    """x of the symmetric block-banded matrix H (K, w, n, n), blocks below the diagonal; right (K n, m)."""
    from scipy.linalg import solveh_banded  # type: ignore[import-untyped]

    K, w, n, _ = H.shape
    ab = np.zeros((w * n, K * n))
    j = np.arange(n)
    for d in range(w):
        for row in range(n):
            offset = d * n + row - j
            ok = offset >= 0
            for col in j[ok]:
                ab[d * n + row - col, col::n][: K - d] = H[: K - d, d, row, col]
    return solveh_banded(ab, right, lower=True)  # type: ignore[no-any-return]


def find_masses(
    one: SizedSystem,
    problems: list[MarkerFit],
    fit: Fit,
    times: list[Array],
    poses: list[Array],
    loads: list[Any],
    mass: float | None,
    symmetric: bool,
) -> Masses:
    """Masses, mass centers and motions of trials with loads."""
    made = loaded(one, symmetric)
    trials = [
        None if x is None else _Trial(one, made, p, fit, t, q, x)
        for p, t, q, x in zip(problems, times, poses, loads, strict=True)
    ]
    used = [t for t in trials if t is not None]
    seconds = np.array([t.t[-1] - t.t[0] for t in used])
    carried = float(np.array([t.total for t in used]) @ seconds / seconds.sum())
    if mass is not None and abs(carried / mass - 1) > 0.05:
        warn(
            f"personalize: the plates carry {carried:.1f} kg, and mass= says {mass:.1f} kg; the forces count",
            RuntimeWarning,
        )
    bodies = one.generic.bodies
    m0 = np.zeros(len(made.names))
    for b in bodies:
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
    # what the recordings tell of pi, the motion eliminated, errors counted once per 50 ms
    told = np.zeros_like(P)
    for t in used:
        H, _, C, D, _ = t.normal(t.c, prior)
        told += min(1.0, (t.t[1] - t.t[0]) / APART) * (D - C.T @ _solve_banded(H, C))
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
    found: list[TrialResiduals | None] = []
    at = iter(zip(used, start, cs, strict=True))
    for each in trials:
        found.append(None if each is None else _report(*next(at), pi, made))
    return Masses(made, pi, prior, covariance, carried, _weak(made, root @ W), found)


def _steps(used: list[_Trial], cs: list[Array], pi_0: Array, U: Array) -> tuple[list[Array], Array]:
    """Gauss-Newton steps of the splines and of y: pi = pi_0 + U y."""
    y = np.zeros(U.shape[1])
    cost = lambda cs, y: sum(t.cost(c, pi_0 + U @ y) for t, c in zip(used, cs, strict=True)) + 0.5 * y @ y
    now = cost(cs, y)
    for _ in range(STEPS):
        S, right, parts = np.eye(len(y)), y.copy(), []
        for t, c in zip(used, cs, strict=True):
            H, g, C, D, gp = t.normal(c, pi_0 + U @ y)
            CU = C @ U
            X = _solve_banded(H, np.concatenate([CU, g.reshape(-1, 1)], axis=1))
            S += U.T @ D @ U - CU.T @ X[:, :-1]
            right += U.T @ gp - CU.T @ X[:, -1]
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


def _report(t: _Trial, before: Array, c: Array, pi: Array, made: LoadedSystem) -> TrialResiduals:
    q = t.spline.B[0] @ c
    names = [made.system.speeds[j] for j in made.rows]
    units = ["N" if f else "N m" for f in made.is_force]
    change = (q - t.q0)[:, t.angles & t.free]
    e = np.linalg.norm(t.problem.errors(q, t.fit.theta, t.fit.d)[0], axis=-1)
    rms = float(np.sqrt((e**2).sum() / max(t.problem.seen.sum(), 1)))
    return TrialResiduals(
        t.rows,
        Table(t.t, names, before, units),
        Table(t.t, names, t.residual(c, pi), units),
        q,
        (float(np.sqrt((change**2).mean())), float(np.abs(change).max())),
        t.peak,
        rms,
    )


def _weak(made: LoadedSystem, directions: Array) -> tuple[str, ...]:
    """Parameters that lie mostly in directions that the recordings do not show."""
    left = np.sqrt((directions**2).sum(axis=1)) / made.prior_sd
    return tuple(n for n, x in zip(made.names, left, strict=True) if x > 0.7)
