"""`cd.sample`: states with a Boltzmann distribution, on the constraints, by Hybrid Monte Carlo.

With V the potential energy, M the mass matrix and G the rows of the position constraints, states have the
density exp(-E / kT) with respect to Liouville's measure, dq dp, p = M u. Speeds are Gaussian with covariance
kT M^-1 on G u = 0, and what is left for q is

    exp(-U / kT) dq,    U = V - kT/2 (ln det M + ln det G M^-1 G' - ln det G K^-1 G')                      (1)

where det M is the volume factor of minimal coordinates: rigid bodies occupy more phase space where the mass
matrix is large. The determinants with G appear because dq is measured on the constraints by the constant
matrix K, which is M at the start. Each proposal moves q by L steps of RATTLE in the metric K from fresh
speeds v, covariance kT K^-1,

    v <- v - h/2 K^-1 (dU/dq - G' lambda),   q <- q + h N v,   v <- v - h/2 K^-1 (dU/dq - G' mu)           (2)

with lambda from the constraints at the new q, and mu from G v = 0. The steps preserve volume and are
reversible, so that the rule of Metropolis,

    accept with probability min(1, exp(-(v' K v / 2 + U)_new + (v' K v / 2 + U)_old) / kT)                 (3)

makes the distribution exact for every h. A step whose reverse does not return, because Newton found another
root, is rejected (Lelievre, Rousset, Stoltz 2019). Quaternions move by q + h N v, normalized: a rotation
about v, which preserves the volume of rotations; with constraints K is isotropic in each of them, so that
(2) is symplectic for quaternions too. dU/dq is exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from condyle.arguments import with_call_hints
from condyle.arrays import Array, is_whole
from condyle.errors import DescriptionError
from condyle.mobilizers import Mobilizer
from condyle.native.machine.notice import announced
from condyle.presentation import Block, ShowsBlocks, cut, number
from condyle.quality import Check, Judged
from condyle.records import dataclass
from condyle.studies.relax import check_energy
from condyle.system.checked_arguments import check_state, check_system
from condyle.system.checked_arguments import number as one_number
from condyle.system.state import State
from condyle.system.system import System
from condyle.system.variables import variables
from condyle.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from condyle.table.plots import PlotOptions

ACCEPT, ACCEPT_BOUND = 0.8, 0.9
"""Target share of accepted proposals, without and with constraints: with constraints long steps do not
return."""
LEAST = 8
"""Smallest number of states of a chain for comparing its halves."""
CLOSED = 1e-11
"""Errors of constraints below this part of the lengths and angles of a system (1 m, 1 rad) count as zero."""
BACK = 1e-8
"""A step is reversible if it returns to within this [rad, m]."""
NEWTON, FAR = 12, 1e3
"""Largest number of Newton iterations, and the error [rad, m] above which there are none."""


@with_call_hints({"temperature": "kT, in joules: 1.380649e-23 times the temperature"})
@announced
def sample(
    system: System,
    *,
    kT: float,
    n: int,
    seed: int,
    state: State | None = None,
    chains: int = 32,
    steps: int = 12,
    warmup: int = 200,
) -> BoltzmannSample:
    """States of a system in contact with a heat bath: density exp(-E / kT) on the constraints (theory:
    Sampling).

    Dampers and friction without sticking do not change the distribution and are ignored; all other forces
    must have an energy. Locked or prescribed speeds keep their values. Ranges of coordinates are not
    enforced.

    Args:
        system: whose states.
        kT: energy of the bath [J]: 4.1e-21 J at room temperature for molecules.
        n: number of states.
        seed: seed of the random numbers.
        state: where all chains start, with its Parameters, inputs, locks and disabled forces.
        chains: number of chains that run side by side, as lanes of one native batch; fewer if n is less
            than eight states for each.
        steps: leapfrog steps between two states of a chain, on average.
        warmup: number of states of each chain that are discarded; they determine the size of the steps.

    Raises:
        DescriptionError: a force acts at rest and stores no energy; constraints on speeds; contacts that act
            one way.
    """
    state = _checked(system, state)
    kT = one_number("sample: kT", kT, "an energy above zero [J]")
    if not 0 < kT < math.inf:
        raise DescriptionError(f"sample: kT = {kT!r} must be an energy above zero [J]")
    for name, value in (("n", n), ("chains", chains), ("steps", steps), ("warmup", warmup)):
        if not isinstance(value, (int, np.integer)) or value < (name != "warmup"):
            raise DescriptionError(f"sample: {name}: expected a whole number above zero, got {value!r}")
    if not is_whole(seed, 0):
        raise DescriptionError(f"sample: seed: expected a whole number, zero or above, got {seed!r}")
    walk = _Chains(system, state, float(kT), min(int(chains), max(int(n) // LEAST, 1)), int(seed))
    each = -(-int(n) // walk.chains)
    walk.warm(int(warmup), int(steps))
    q = np.empty((each, walk.chains, system.nq))
    walk.taken = walk.tried = walk.lost = 0
    for i in range(each):
        walk.move(int(steps))
        q[i] = walk.q
    return walk.result(q.swapaxes(0, 1), int(n))


def _checked(system: System, state: State | None) -> State:
    check_system("sample", system)
    state = system.state() if state is None else state
    check_state("sample", system, state)
    if acting := [name for name in system.constraints.unilateral if name not in state.disabled]:
        raise DescriptionError(
            f"sample: {acting[0]!r} acts one way: there is no density at its surface; disable it, or "
            "use a compliant cd.contact.Material"
        )
    for name, level in system.constraints.equations():
        if level != "position" and name.partition("[")[0] not in state.disabled:
            raise DescriptionError(
                f"sample: constraint {name!r} is for {level}s: such a system has no Boltzmann distribution; "
                "disable it"
            )
    for body in system.bodies:
        if type(body.mobilizer).N is not Mobilizer.N and not body.mobilizer.quaternions:
            raise DescriptionError(
                f"sample: the speeds of body {body.name!r} are not the rates of its coordinates, and these are "
                "no quaternion: use quaternions (coordinates='quaternion') or cd.Gimbal"
            )
    return state


class _Chains:
    """Chains side by side: q (chains, nq)."""

    def __init__(self, system: System, state: State, kT: float, chains: int, seed: int) -> None:
        self.system, self.kT, self.chains = system, kT, chains
        self.rng = np.random.default_rng(seed)
        given = ("t", "z", "inputs", "discrete", "parameters", "disabled", "locked")
        same = np.array_equal(state.tail, system.compiled.tails.default)  # calls without options are faster
        self.options: dict[str, Any] = {} if same else {name: getattr(state, name) for name in given}
        self.free = np.flatnonzero(~system.compiled.tails.held(state.tail))
        if not len(self.free):
            raise DescriptionError("sample: no coordinate is free to move")
        self.zero = np.zeros(system.nu)
        q = self._closed(state.q)
        check_energy("sample", system, state, q, self.options)
        self.rows = self._independent(q)
        self.K = self._metric(q)
        self.K_inverse = np.asarray(np.linalg.inv(self.K), dtype=float)
        self.q = np.repeat(q[None], chains, axis=0)
        self.U, self.slope = self._potential(self.q)
        self.h = self._first_step(q)
        self.taken = self.tried = self.lost = 0

    # ---- the system ----

    def _closed(self, q: Array) -> Array:
        if not len(self.system.constraints):
            return q
        return self.system.project(q, self.zero, tolerance=CLOSED, **self.options)[0]

    def _mass(self, q: Array) -> Array:
        M = self.system.mass_matrix(q, **self.options)
        return M[..., self.free[:, None], self.free]

    def _G(self, q: Array) -> Array:
        G = self.system.constraints.jacobian(q, self.zero, **self.options)
        return G[..., self.rows[:, None], self.free]

    def _independent(self, q: Array) -> NDArray[np.intp]:
        """Rows of constraints that are enabled and not redundant."""
        self.rows = np.arange(len(self.system.constraints.equations()))
        if not len(self.rows):
            return self.rows
        from scipy.linalg import qr

        R, order = qr(self._G(q).T, mode="r", pivoting=True)
        size = np.abs(np.diagonal(R))
        return np.sort(order[: int((size > 1e-9 * size.max(initial=0.0)).sum())])

    def _metric(self, q: Array) -> Array:
        """K: M at the start; with constraints isotropic in every body that turns by a quaternion."""
        K = self._mass(q)
        turning = [b for b in self.system.bodies if b.mobilizer.quaternions]
        if not len(self.rows) or not turning:
            return K
        K = np.diag(np.diagonal(K)).copy()
        for body in turning:
            mine = np.flatnonzero(np.isin(self.free, np.arange(self.system.nu)[body.u]))
            angles = mine[: 3 if body.mobilizer.nu in (3, 6) else 2]
            K[angles, angles] = K[angles, angles].mean()
        return K

    def _potential(self, q: Array) -> tuple[Array, Array]:
        """U of (1) and its slope, (chains,) and (chains, free)."""
        system, kT, options = self.system, self.kT, self.options
        V = np.asarray(system.energy(q, self.zero, **options)[1])
        slope = system.inverse_dynamics(q, self.zero, self.zero, **options)[..., self.free]
        M = self._mass(q)
        inverse = np.linalg.inv(M)
        logarithm, weight = np.linalg.slogdet(M)[1], inverse
        if len(self.rows):
            G = self._G(q)
            GM, GK = G @ inverse, G @ self.K_inverse
            Y, Y_K = GM @ G.swapaxes(-1, -2), GK @ G.swapaxes(-1, -2)
            logarithm = logarithm + np.linalg.slogdet(Y)[1] - np.linalg.slogdet(Y_K)[1]
            A = np.linalg.solve(Y, GM)
            weight = inverse - GM.swapaxes(-1, -2) @ A
            whole = np.zeros((*q.shape[:-1], len(system.constraints.equations()), system.nu))
            whole[..., self.rows[:, None], self.free] = 2 * (A - np.linalg.solve(Y_K, GK))
            slope = slope - kT / 2 * self._pulled("constraints.jacobian", (q, self.zero), whole)
        whole = np.zeros((*q.shape[:-1], system.nu, system.nu))
        whole[..., self.free[:, None], self.free] = weight
        slope = slope - kT / 2 * self._pulled("mass_matrix", (q,), whole)
        return V - kT / 2 * logarithm, slope

    def _pulled(self, name: str, arguments: tuple[Array, ...], weight: Array) -> Array:
        flat = weight.reshape(*weight.shape[:-2], -1)
        found = self.system.vjp(name, *arguments, cotangent=flat, wrt=("q",), **self.options)["q"]
        return found[..., self.free]

    def _moved(self, q: Array, d: Array) -> Array:
        """q + N d, quaternions normalized."""
        whole = np.zeros((*d.shape[:-1], self.system.nu))
        whole[..., self.free] = d
        return self.system.compiled.normalized(q + self.system.qdot(q, whole, **self.options))

    # ---- steps ----

    def _first_step(self, q: Array) -> float:
        """Initial h: a part of the shortest period, or of the time for a radian and a meter at thermal
        speed."""
        zero = self.zero
        W = self.system.jacobian("inverse_dynamics", q, zero, zero, wrt="q", **self.options)
        W = W[self.free[:, None], self.free]
        fastest = np.abs(np.linalg.eigvals(self.K_inverse @ W)).max()
        thermal = self.kT * np.diagonal(self.K_inverse).max()
        return 0.5 / math.sqrt(max(float(fastest), thermal))

    def _draw(self, inverse: Array, G: Array | None) -> Array:
        """Speeds of covariance kT inverse, on G v = 0."""
        x = self.rng.standard_normal((*inverse.shape[:-2], inverse.shape[-1]))
        L = np.linalg.cholesky(inverse)
        v = math.sqrt(self.kT) * (L @ x[..., None])[..., 0]
        return v if G is None else self._tangent(v, inverse, G)

    @staticmethod
    def _tangent(v: Array, inverse: Array, G: Array) -> Array:
        """The v with G v = 0 that is nearest in the metric."""
        GK = G @ inverse
        lambda_ = np.linalg.solve(GK @ G.swapaxes(-1, -2), (G @ v[..., None]))
        return v - (GK.swapaxes(-1, -2) @ lambda_)[..., 0]

    def _drift(
        self, q: Array, v: Array, G: Array, h: float, good: NDArray[np.bool_]
    ) -> tuple[Array, Array, NDArray[np.bool_]]:
        """q after h, on the constraints, and v + K^-1 G' lambda, for the chains that are `good`; and for
        which of them Newton's method converged."""
        KG = self.K_inverse @ G.swapaxes(-1, -2)
        to, v, done = q.copy(), v.copy(), np.zeros(len(q), dtype=bool)
        left = np.flatnonzero(good)
        for _ in range(NEWTON):
            to[left] = self._moved(q[left], h * v[left])
            p = self.system.constraints.errors(to[left], self.zero, **self.options)[0][..., self.rows]
            size = np.abs(p).max(axis=-1)
            done[left] = size <= CLOSED
            left, p = left[(go := (size > CLOSED) & (size < FAR))], p[go]
            if not len(left):
                break
            J = h * self._G(to[left]) @ KG[left]
            J += 1e-15 * np.abs(J).max() * np.eye(J.shape[-1])  # J may be singular far from the constraints
            v[left] -= (KG[left] @ np.linalg.solve(J, p[..., None]))[..., 0]
        return to, v, done

    def move(self, steps: int) -> float:
        """One proposal of every chain; returns the mean probability of (3)."""
        h = self.h * self.rng.uniform(0.8, 1.2)
        count = int(self.rng.integers((steps + 1) // 2, steps + steps // 2 + 1))
        bound = bool(len(self.rows))
        q, U, slope = self.q, self.U, self.slope
        G = self._G(q) if bound else None
        v = self._draw(np.broadcast_to(self.K_inverse, (self.chains, *self.K.shape)), G)
        before = U + self._kinetic(v)
        good: NDArray[np.bool_] = np.ones(self.chains, dtype=bool)
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(count):
                half = v - h / 2 * slope @ self.K_inverse
                if G is None:
                    to = self._moved(q, h * half)
                else:
                    to, half, good = self._drift(q, half, G, h, good)
                to = np.where(good[:, None], to, q)
                U, slope = self._potential(to)
                v = half - h / 2 * slope @ self.K_inverse
                if G is not None:
                    G_to = self._G(to)
                    v = self._tangent(v, self.K_inverse, G_to)
                    back, _, good = self._drift(to, -v - h / 2 * slope @ self.K_inverse, G_to, h, good)
                    good &= np.abs(back - q).max(axis=-1) < BACK
                    if not good.any():
                        break
                    G = G_to
                q = to
            change = U + self._kinetic(v) - before
        p = np.where(good & np.isfinite(change), np.exp(-np.clip(change / self.kT, 0, 700)), 0.0)
        taken = self.rng.uniform(size=self.chains) < p
        self.q = np.where(taken[:, None], q, self.q)
        self.U = np.where(taken, U, self.U)
        self.slope = np.where(taken[:, None], slope, self.slope)
        self.taken, self.tried = self.taken + int(taken.sum()), self.tried + self.chains
        self.lost += int((~good).sum())
        return float(p.mean())

    def _kinetic(self, v: Array) -> Array:
        return np.einsum("...i,ij,...j->...", v, self.K, v) / 2

    def warm(self, count: int, steps: int) -> None:
        """Find h: its logarithm follows the share of accepted proposals, with decreasing gain."""
        aim = ACCEPT_BOUND if len(self.rows) else ACCEPT
        for i in range(count):
            self.h *= math.exp((self.move(steps) - aim) * 2 / (1 + i / 10) ** 0.6)

    # ---- the result ----

    def _periodic(self, q: Array) -> list[int]:
        """Coordinates for which a whole turn changes nothing."""
        system = self.system
        some = q.reshape(-1, system.nq)[:: max(1, q[..., 0].size // 5)][:5]
        units = variables(system)[1]
        own = [i for b in system.bodies if b.mobilizer.nq == b.mobilizer.nu for i in range(system.nq)[b.q]]

        def seen(x: Array) -> list[Array]:
            found = [np.asarray(system.energy(x, self.zero, **self.options)[1])[:, None], self._mass(x)]
            found += [system.constraints.errors(x, self.zero, **self.options)[0]] * bool(len(self.rows))
            return [f.reshape(len(x), -1) for f in found]

        scale = [self.kT, np.abs(self.K).max(), 1.0]
        at, out = seen(some), []
        for i in own:
            turned = some + 2 * np.pi * np.eye(system.nq)[i]
            if units[i] == "rad" and all(
                np.abs(a - b).max() < 1e-7 * s for a, b, s in zip(at, seen(turned), scale, strict=False)
            ):
                out.append(i)
        return out

    def result(self, q: Array, n: int) -> BoltzmannSample:
        system = self.system
        turns = self._periodic(q)
        q[..., turns] = np.pi - (np.pi - q[..., turns]) % (2 * np.pi)
        for part in system.compiled.quaternions:
            q[..., part] *= np.where(q[..., part][..., :1] < 0, -1.0, 1.0)
        flat = q.reshape(-1, system.nq)
        V = np.asarray(system.energy(flat, self.zero, **self.options)[1])
        M = self._mass(flat)
        inverse = np.asarray(np.linalg.inv(M), dtype=float)
        u = np.zeros((len(flat), system.nu))
        u[:, self.free] = self._draw(inverse, self._G(flat) if len(self.rows) else None)
        T = np.einsum("ni,nij,nj->n", u[:, self.free], M, u[:, self.free]) / 2
        names = [*system.coordinates, "energy"]
        watched = [
            [np.cos(q[..., i]), np.sin(q[..., i])] if i in turns else [q[..., i]] for i in range(system.nq)
        ] + [[V.reshape(q.shape[:2])]]
        ess, rhat = {}, {}
        for name, columns in zip(names, watched, strict=True):
            judged = [_judge(x) for x in columns]
            rhat[name], ess[name] = max(r for r, _ in judged), min(e for _, e in judged)
        order = np.arange(len(flat)).reshape(q.shape[:2]).T.reshape(-1)[:n]  # chains take turns
        return BoltzmannSample(
            system,
            self.kT,
            flat[order],
            u[order],
            (V + T)[order],
            V[order],
            order // q.shape[1],
            rhat,
            ess,
            self.taken / max(self.tried, 1),
            self.lost / max(self.tried, 1),
            self.h,
        )


def _judge(x: Array) -> tuple[float, float]:
    """R-hat of halves of chains and effective sample size of x (chains, n), as in Gelman et al., Bayesian
    Data Analysis (2013), 11.4-11.5, with Geyer's initial monotone sequence."""
    half = x.shape[1] // 2
    if half < LEAST // 2:
        return math.nan, math.nan
    y = np.concatenate([x[:, :half], x[:, -half:]])
    m, k = y.shape
    W = y.var(axis=1, ddof=1).mean()
    if W == 0:
        return 1.0, float(x.size)  # constant, such as a locked coordinate
    total = (k - 1) / k * W + y.mean(axis=1).var(ddof=1)
    f = np.fft.rfft(y - y.mean(axis=1, keepdims=True), 2 * k, axis=1)
    covariance = np.fft.irfft(np.abs(f) ** 2, axis=1)[:, :k].mean(axis=0) / k
    rho = 1 - (W - covariance * k / (k - 1)) / total
    pairs = rho[: k // 2 * 2].reshape(-1, 2).sum(axis=1)
    last = int(np.argmax(pairs < 0)) if (pairs < 0).any() else len(pairs)
    tau = -1 + 2 * np.minimum.accumulate(pairs[:last]).sum() if last else 1.0
    return math.sqrt(total / W), m * k / max(tau, 1 / math.log10(m * k + 10))


@dataclass(frozen=True, eq=False, repr=False)
class BoltzmannSample(Judged, ShowsBlocks):
    """States with a Boltzmann distribution.

    Attributes:
        system: whose states.
        kT: energy of the bath [J].
        q: coordinates, shape (n, nq). Angles for which a whole turn changes nothing are between -pi and pi,
            quaternions have w >= 0.
        u: speeds, shape (n, nu).
        energy: kinetic plus potential energy [J], shape (n,).
        potential: V [J], shape (n,).
        chain: chain of each state, shape (n,).
        rhat: by coordinate and "energy", how much chains differ: 1 if they do not. For angles that turn all
            the way it is the worse of those of cosine and sine.
        ess: effective sample size of each: the number of independent states with the same information.
        accepted: share of proposals that were accepted.
        lost: share of proposals whose steps did not return to the constraints.
        step: h of the leapfrog steps [s].
    """

    system: System
    kT: float
    q: NDArray[np.float64] = field(repr=False)
    u: NDArray[np.float64] = field(repr=False)
    energy: NDArray[np.float64] = field(repr=False)
    potential: NDArray[np.float64] = field(repr=False)
    chain: NDArray[np.int64] = field(repr=False)
    rhat: dict[str, float]
    ess: dict[str, float]
    accepted: float
    lost: float
    step: float

    _study = "sample"

    def __len__(self) -> int:
        return len(self.q)

    def __repr__(self) -> str:
        return (
            f"BoltzmannSample({len(self)} states of {int(self.chain.max()) + 1} chains, "
            f"mean energy {number(self.energy.mean() / self.kT)} kT, accepted {self.accepted:.2f}, "
            f"R-hat up to {max(self.rhat.values()):.3f}, effective size from {min(self.ess.values()):.0f}"
            f"{self.quality.summary})"
        )

    def _checks(self) -> Iterator[Check]:
        worst = max(self.rhat, key=lambda name: self.rhat[name])
        fewest = min(self.ess, key=lambda name: self.ess[name])
        yield Check(
            "R-hat", self.rhat[worst], "", 1.01, 1.1, worst, "chains differ: take more states or more steps"
        )
        yield Check(
            "states per effective state",
            len(self) / self.ess[fewest],
            "",
            10.0,
            100.0,
            fewest,
            "neighbors are alike: take more steps between states",
        )
        yield Check(
            "rejected proposals",
            1 - self.accepted,
            "",
            0.5,
            0.9,
            advice="start from a state that is near equilibrium, or with more warmup",
        )

    def _blocks(self) -> list[Block]:
        rows = [(name, f"{self.rhat[name]:.4f}", f"{self.ess[name]:.0f}") for name in [*self.rhat]]
        return [Block("chains", ("", "R-hat", "effective size"), rows), *self.quality.blocks]

    def table(self) -> Table:
        """q, u and energies, one row per state."""
        names, units, *_ = variables(self.system)
        k = self.q.shape[1] + self.u.shape[1]
        values = np.column_stack([self.q, self.u, self.energy, self.potential])
        columns, of = [*names[:k], "energy", "potential"], [*units[:k], "J", "J"]
        return Table(np.arange(len(self)), columns, values, of, over="member")

    def plot(self, **options: Unpack[PlotOptions]) -> Axes:
        """Histograms of the coordinates; angles are in degrees. Options are those of `Table.plot`."""
        from condyle.table.panels import for_people
        from condyle.table.plots import on

        table = self.table()[list(self.system.coordinates)]
        table = for_people(table) if options.get("degrees", True) else table
        with on(**options) as axes:
            for title, x in zip(table.titles, table.values.T, strict=True):
                axes.hist(x, bins=60, density=True, histtype="step", label=title, linewidth=1.4)
            axes.set(xlabel=cut(table.titles, 3), ylabel="density")
            axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0))
        return axes
