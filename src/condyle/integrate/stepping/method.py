"""Time stepping after Moreau: rigid contacts without events. docs/theory/stepping.md.

    u* = u + h udot(t, q, u)                                  all forces, no contacts                      (6)
    u+ = u* + M^-1 G' p,   v_n + s p_n >= c,   p in the cone  sweeps.py (2), (3); s = 0                    (7)
    c = -g / h where g > 0, else 0;   at least -e v_n- + min(v_n* - v_n-, 0) where g + h v_n- <= 0         (8)
    q+ = q + h N(q) (u+ + s)                                                                               (9)

v_n- and v_n* are the normal velocities of u and u*: what bounces then flies for the step. A gap may close
within the step, not further (8). s takes back overlaps that linear rows leave: the least impulses without
friction, from rest, for which

    s_n >= correction (-g - slop) / h                         where g < -slop                             (10)

so that they move bodies and leave no speed. Restitution of several contacts at once, and impulses of the last
step as a first guess, can make energy: then

    u+ <- u_0 + x (u+ - u_0),   the largest x in [0, 1] for which  T(u+) <= T(u*)                         (11)

where u_0 is (7) with e = 0 from no impulses, which makes none.

Soft contacts, of stiffness k and damping d, have springs and dampers that push only, at the end of the step:

    p_n / h = max(-k (g + h v_n) - d v_n, 0):      s = 1 / (h^2 k + h d),   c = -s h k g                  (12)

in (7), in place of (8), (10) and (11): they sink by f / k under a force f, oscillate, and are stable for any
step; k without limit is the hard contact. Where the gap is open, v_n + g / h is in place of v_n, so that
c = -g / h: nothing is damped before it touches. Friction is that of (3).

Constraints that act both ways take their part of what forces and impulses do: u* is brought to their
velocities by the least kinetic energy, Z is that of docs/theory/rigid_contact.md (16), and q+, u+ are brought
to them after (9).
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from condyle.arguments import spoken
from condyle.errors import DescriptionError, warn
from condyle.integrate.manifold import Manifold
from condyle.integrate.measured import samples
from condyle.integrate.step_rows import StepRows
from condyle.integrate.stepping.rows import Contacts, Described, FreeBodies, open_state
from condyle.integrate.stepping.sweeps import Sweeps
from condyle.integrate.trajectory import Statistics, Trajectory
from condyle.records import dataclass
from condyle.status import Outcome, Status
from condyle.system.given import number
from condyle.system.state import State

DEEP = 1e-3
"""[m, rad] Overlaps at the start that are more than rounded numbers."""
REPORTS = 64
"""A progress bar is told after so many steps."""


@dataclass(frozen=True, eq=False)
class TimeStepping:
    """Rigid contacts with fixed steps, without events, for piles and long runs:
    `cd.simulate(system, state, 10.0, step=1e-3, integrator=cd.integrators.TimeStepping())`.

    Order 1: contacts are right to about a step's length in time, stick and slip included. Of what
    `system.add_contact` and `cd.constraints.Stop`, `Rope` describe all take part. For many bodies
    give the surfaces to `among` instead, where each may touch each, and who is near whom is found as they go;
    all bodies then are on cd.Free() or cd.Translation().

    Args:
        among: surfaces that may all touch each other: HalfSpace, Sphere, Point, Box of cd.contact, of
            cd.contact.Rigid. Those of one body, or with a common clique, ignore each other.
        sweeps: how many sweeps over the contacts a step takes at most.
        tolerance: change of a contact's velocity in a sweep below which they end [m/s].
        correction: share of an overlap that a step takes back, from 0 to 1.
        slop: overlap that stays [m].
        every: keep one of so many steps in the Trajectory, and the last.
        stiffness: of soft contacts [N/m, N m/rad], all of them; None: contacts are hard.
        damping: of soft contacts [N s/m, N m s/rad]. They have no restitution beside it.
    """

    among: Iterable[Any] = ()
    sweeps: int = 50
    tolerance: float = 1e-4
    correction: float = 0.2
    slop: float = 1e-5
    every: int = 1
    stiffness: float | None = None
    damping: float = 0.0

    name: ClassVar[str] = "time-stepping"
    hermite: ClassVar[bool] = False                          # between steps y is a straight line
    stiff: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.among, str) or not isinstance(self.among, Iterable):
            raise DescriptionError("TimeStepping: among: expected a list of surfaces, such as [floor, ball], "
                                   f"got {self.among!r}")
        object.__setattr__(self, "among", tuple(self.among))
        for name, low, high in (("sweeps", 1, np.inf), ("tolerance", 0, np.inf), ("correction", 0, 1),
                                ("slop", 0, np.inf), ("every", 1, np.inf), ("damping", 0, np.inf),
                                ("stiffness", -np.inf, np.inf)):
            given = getattr(self, name)
            if given is None and name == "stiffness":
                continue
            value = number(f"TimeStepping: {name}", given, "a number")
            if not low <= value <= high:
                raise DescriptionError(f"TimeStepping: {name} = {value:g} must be from {low:g} to {high:g}")
        if self.stiffness is not None and not (np.isfinite(self.stiffness) and self.stiffness > 0):
            raise DescriptionError(f"TimeStepping: stiffness = {self.stiffness:g} N/m must be above zero and "
                                   "finite; None is a hard contact")
        if self.stiffness is None and self.damping:
            raise DescriptionError(f"TimeStepping: damping = {self.damping:g} N s/m is of soft contacts: "
                                   "give a stiffness too")

    def run(self, start: State, t_final: float, step: float, weights: np.ndarray, accuracy: float,
            report: Callable[[float], object] | None) -> Trajectory:
        """A run of one state; see `cd.simulate`."""
        return _Run(self, start, t_final, step, Manifold.of(start.system, weights, accuracy), report).go()


spoken(TimeStepping, answers={"surfaces": "it is among=, or the first argument", "step": "the step is "
                              "cd.simulate(..., step=1e-3)", "iterations": "it is sweeps="})


@dataclass
class _Run:
    """A run while it goes on."""

    method: TimeStepping
    start: State
    t_final: float
    step: float
    manifold: Manifold
    report: Callable[[float], object] | None
    impulses: np.ndarray = field(default_factory=lambda: np.empty((0, 3)))
    keys: np.ndarray = field(default_factory=lambda: np.empty(0, int))

    def __post_init__(self) -> None:
        self.start = open_state(self.start)
        system = self.start.system
        if self.method.among and system.unilateral:
            raise DescriptionError(f"TimeStepping: give surfaces to among= or to add_contact, not both: the "
                                   f"system has {system.unilateral[0]!r}")
        if self.start.locked or system.motions:
            raise DescriptionError("TimeStepping: locked coordinates and prescribed motions are not there: "
                                   "weld the body, or use another integrator")
        if sampled := [*samples(system)]:
            raise DescriptionError(f"TimeStepping: {sampled[0]!r} is sampled while a run goes on, which this "
                                   "method does not; use another integrator")
        self.source: FreeBodies | Described = (FreeBodies(self.start, self.method.among) if self.method.among
                                               else Described(self.start))
        if not self.method.among and not system.unilateral:
            raise DescriptionError("TimeStepping: nothing can touch: give it surfaces, TimeStepping([floor, "
                                   "ball]), or the system a rigid contact by system.add_contact; without "
                                   "contacts take another integrator, such as 'merson'")
        if self.method.stiffness is not None and self.source.rebounds(self.start):
            raise DescriptionError("TimeStepping: soft contacts rebound by their stiffness and damping; give "
                                   "their materials restitution 0")
        self.solve = Sweeps(self.source.n)
        self.tail, self.where = np.array(self.start.tail), system.compiled.model.tail
        self.done = 0

    def go(self) -> Trajectory:
        t, (q, u, z) = self.start.t, (np.array(x) for x in (self.start.q, self.start.u, self.start.z))
        count = max(1, int(np.ceil((self.t_final - t) / self.step - 1e-9)))
        self._warn_of_overlaps(q, u)
        kept = [(t, q, u, z)]
        status = Outcome(Status.FINISHED)
        steps = 0
        try:
            for k in range(count):
                now = self.start.t + k * self.step
                later = self.t_final if k + 1 == count else self.start.t + (k + 1) * self.step
                q, u, z = self._step(now, later - now, q, u, z)
                steps += 1
                if not all(np.isfinite(x).all() for x in (q, u, z)):
                    status = Outcome(Status.NOT_FINITE, f"stopped at t = {later:.9g} s: a result is not "
                                                        f"finite; {Status.NOT_FINITE.advice}")
                    break
                if (k + 1) % int(self.method.every) == 0 or k + 1 == count:
                    kept.append((later, q, u, z))
                if self.report is not None and k % REPORTS == 0:
                    self.report((k + 1) / count)
        except KeyboardInterrupt:
            status = Outcome(Status.INTERRUPTED)
        times = np.array([row[0] for row in kept])
        y = np.array([np.concatenate(row[1:]) for row in kept])
        method: Any = self.method
        rows = StepRows(times, y, np.zeros_like(y), np.empty((len(y), 0, y.shape[1])), method)
        return Trajectory(self.start, rows, status, Statistics(steps, 0, steps, 0, self.done), self.manifold)

    def _warn_of_overlaps(self, q: np.ndarray, u: np.ndarray) -> None:
        """Warn of a start that is no start: a body behind a floor, a joint beyond its stop."""
        gap = self.source.see(q, u, self.step, self.tail).gap
        if self.method.stiffness is None and len(gap) and gap.min() < -DEEP:
            warn(f"TimeStepping: at t = {self.start.t:g} s surfaces overlap, or stops are passed, "
                 f"by up to {-gap.min():.3g} [m, rad]; they are pushed apart within some steps, "
                 "faster than anything moves: start with gaps", RuntimeWarning)

    def _step(self, t: float, h: float, q: np.ndarray, u: np.ndarray, z: np.ndarray
              ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        compiled, source, tail = self.start.system.compiled, self.source, self.tail
        tail[self.where["t"]], tail[self.where["z"]] = t, z
        free = u + h * compiled.function("forward_dynamics").fast(q, u, compiled.no_tau, tail)  # (6)
        if len(z):
            z = z + h * compiled.function("zdot").fast(q, u, tail)
        if not np.isfinite(free).all():
            return q, free, z
        free = source.kept(q, free, tail)
        seen = source.see(q, u, h, tail)
        U = source.spread(free)
        shift = np.zeros_like(U)
        if len(seen.gap):
            U, shift = self._contacts(seen, source.spread(u), U, h)
        u = source.joined(U)
        q = q + h * compiled.function("qdot").fast(q, source.joined(U + shift), tail)        # (9)
        tail[self.where["t"]] = t + h
        q, u = source.brought(q, u, tail)
        return q, u, z

    def _contacts(self, seen: Contacts, before: np.ndarray, free: np.ndarray, h: float
                  ) -> tuple[np.ndarray, np.ndarray]:
        """u+ of (7) and s of (10)."""
        m, solve = self.method, self.solve
        if m.stiffness is not None:
            return self._soft(seen, free, h, float(m.stiffness)), np.zeros_like(free)
        rows = solve.rows(seen.G, seen.Z, seen.blocks, seen.mu, 0.0)
        v, v_free = (np.einsum("main,man->m", seen.G[:, :, :1], x[seen.blocks]) for x in (before, free))
        c = np.where(seen.gap > 0, -seen.gap / h, 0.0)                                       # (8)
        back = np.where((seen.gap + h * v <= 0) & (seen.e * v < 0),
                        np.minimum(v_free - v, 0.0) - seen.e * v, -np.inf)
        U, p = self._warm(seen, free)
        self.done += solve(rows, np.maximum(c, back), U, p, m.tolerance, m.sweeps)[1]
        if self.source.energy(U) > (T := self.source.energy(free)):
            plastic, p_0 = free.copy(), np.zeros_like(p)
            self.done += solve(rows, c, plastic, p_0, m.tolerance, m.sweeps)[1]
            U = self._within(plastic, U, T)
        self.keys, self.impulses = seen.key, p
        shift = np.zeros_like(U)
        deep = np.maximum(-seen.gap - m.slop, 0.0)
        if m.correction and deep.any():                                                      # (10)
            back = np.where(deep > 0, m.correction * deep / h, c)
            self.done += solve(solve.without_friction(rows), back, shift, np.zeros_like(p), m.tolerance,
                               m.sweeps)[1]
        return U, shift

    def _soft(self, seen: Contacts, free: np.ndarray, h: float, k: float) -> np.ndarray:
        """u+ of (12)."""
        m, solve = self.method, self.solve
        s = 1 / (h * h * k + h * m.damping)
        U, p = self._warm(seen, free)
        c = -seen.gap * np.where(seen.gap > 0, 1 / h, s * h * k)
        self.done += solve(solve.rows(seen.G, seen.Z, seen.blocks, seen.mu, s), c, U, p, m.tolerance,
                           m.sweeps)[1]
        self.keys, self.impulses = seen.key, p
        return U

    def _warm(self, seen: Contacts, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Speeds with the impulses of the last step for contacts that there were, and these."""
        key = seen.key
        p = np.zeros((len(key), 3))
        if len(self.keys):
            order = np.argsort(self.keys)
            at = np.minimum(np.searchsorted(self.keys[order], key), len(order) - 1)
            same = self.keys[order][at] == key
            p[same] = self.impulses[order[at[same]]]
        U = free.copy()
        np.add.at(U, seen.blocks, np.einsum("main,mi->man", seen.Z, p))
        return U, p

    def _within(self, low: np.ndarray, high: np.ndarray, most: float) -> np.ndarray:
        """(11)."""
        T = lambda x: self.source.energy(low + x * (high - low))
        T_0, T_1 = T(0.0), T(1.0)
        a = 2 * (T_1 + T_0 - 2 * T(0.5))                     # T(x) = T_0 + b x + a x^2
        b = T_1 - T_0 - a
        x = (-b + np.sqrt(max(b * b - 4 * a * (T_0 - most), 0.0))) / (2 * a) if a > 0 else 0.0
        return np.asarray(low + np.clip(x, 0.0, 1.0) * (high - low))

