"""Time stepping after Moreau: rigid contacts without events. docs/theory/stepping.md.

    u_s = u + h/2 b(q, u_s)                                   b = -M^-1 C, velocity products              (6a)
    u* = u_s + h (udot(t, q, u) - b(q, u))                    all forces, no contacts                     (6b)
    u' = u* + M^-1 G' p,   v_n + s p_n >= c,   p in the cone  program.py (2), (3); s = 0                    (7)
    c = -g / h where g > 0, else 0;   at least -e v_n- + min(v_n* - v_n-, 0) where g + h v_n- <= 0         (8)
    q+ = q + h N(q) (u' + delta)                                                                           (9)
    u+ = u' + h/2 b(q+, u')                                                                               (9a)

b are the accelerations without forces: gyroscopic, centrifugal and Coriolis terms. Half of them acts at each
end of a step, so that bodies move with the speeds u' of its middle. (6a) is implicit, (9a) is its mirror
image: without forces the step is the same forward and backward in time, and energy has no drift. Of a free
body (9) is Cayley's rotation, and (6a), (9), (9a) are the implicit midpoint rule for Euler's equations in the
body: momentum, angular momentum and energy are kept to rounding, for any step for which (6a) is solved (Simo
and Wong 1991).

v_n- and v_n* are the normal velocities of 2 u - u_s, about those of the middle of the last step, and of u*,
both as other constraints allow:
what bounces then flies for the step. A gap may close within the step, not further (8). The speeds delta take
back overlaps that linear rows leave: from rest, by the least impulses without friction for which

    delta_n >= correction (-g - slop) / h                     where g < -slop                             (10)

so that they move bodies and leave no speed. Restitution of several contacts at once, and impulses of the last
step as a first guess, can make energy: then

    u' <- u_0 + x (u' - u_0),   the largest x in [0, 1] for which  p . (v* + v+) / 2 <= 0                 (11)

where u_0 is (7) with e = 0 from no impulses, which makes none. That is the work of the contacts: T(u') -
T(u*) but for what joints and constraints do that move with time, such as a bat.

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
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np

from condyle.arguments import ExplainsCalls
from condyle.constraints.unilateral import RigidContact
from condyle.contact.surfaces import ContactSurface
from condyle.errors import DescriptionError, warn
from condyle.integrate.interrupts.samples import samples
from condyle.integrate.manifold import Manifold
from condyle.integrate.stepping.free_bodies import FreeBodiesRun, all_free
from condyle.integrate.stepping.run import SteppingRun
from condyle.integrate.stepping.trees import TreesRun, open_state
from condyle.integrate.steps import StepRows
from condyle.integrate.trajectory import Statistics, Trajectory
from condyle.presentation import cut
from condyle.records import dataclass
from condyle.status import Outcome, Status
from condyle.system.checked_arguments import number
from condyle.system.state import State

ACCURACY = 1e-6
"""Of quaternions between steps."""
DEEP = 1e-4
"""[m, rad] Overlaps at the start that are more than slop and rounded numbers."""


@dataclass(frozen=True, eq=False, repr=False)
class TimeStepping(ExplainsCalls):
    """Rigid contacts with fixed steps, without events, for piles and long runs:
    `cd.simulate(system, state, 10.0, step=1e-3, integrator=cd.integrators.TimeStepping())`.

    Order 1: contacts are right to about a step's length in time, stick and slip included. All contacts of
    `system.add_contact` and all `cd.constraints.Stop` and `Rope` take part. For many bodies give the
    surfaces in `among` instead: each may touch each, and near pairs are found during the run.

    Args:
        among: surfaces that may all touch each other: HalfSpace, Sphere, Point, Box of cd.contact, of
            cd.contact.Rigid. Those of one body, or with a common clique, ignore each other.
        sweeps: how many sweeps over the contacts a step takes at most.
        tolerance: change of a contact's velocity in a sweep below which they end [m/s].
        correction: share of an overlap that a step takes back, from 0 to 1.
        slop: remaining overlap [m].
        every: keep every n-th step in the Trajectory, and the last.
        stiffness: of soft contacts [N/m, N m/rad], all of them; None: contacts are hard.
        damping: of soft contacts [N s/m, N m s/rad]. Soft contacts have no restitution.
    """

    call_hints: ClassVar = {
        "surfaces": "it is among=, or the first argument",
        "step": "the step is cd.simulate(..., step=1e-3)",
        "iterations": "it is sweeps=",
    }

    among: Iterable[ContactSurface] = ()
    sweeps: int = 50
    tolerance: float = 1e-4
    correction: float = 0.2
    slop: float = 1e-5
    every: int = 1
    stiffness: float | None = None
    damping: float = 0.0

    name: ClassVar[str] = "time-stepping"
    hermite: ClassVar[bool] = False  # between steps y is a straight line
    stiff: ClassVar[bool] = True
    unknown: ClassVar[str] = (
        "a run by TimeStepping has impulses of contacts over its steps, and no accelerations or contact "
        "forces at an instant. From row to row the mean force on a free body is its mass times the change of "
        "its velocity, np.diff(traj.u, axis=0) / np.diff(traj.t)[:, None], less its weight. For forces at an "
        "instant simulate contacts of system.add_contact without integrator=TimeStepping(...)"
    )

    def __post_init__(self) -> None:
        among: Any = self.among
        if isinstance(among, str) or not isinstance(among, Iterable):
            raise DescriptionError(
                f"TimeStepping: among: expected a list of surfaces, such as [floor, ball], got {among!r}"
            )
        object.__setattr__(self, "among", tuple(self.among))
        for name, low, high in (
            ("sweeps", 1, np.inf),
            ("tolerance", 0, np.inf),
            ("correction", 0, 1),
            ("slop", 0, np.inf),
            ("every", 1, np.inf),
            ("damping", 0, np.inf),
            ("stiffness", -np.inf, np.inf),
        ):
            given = getattr(self, name)
            if given is None and name == "stiffness":
                continue
            value = number(f"TimeStepping: {name}", given, "a number")
            if not low <= value <= high:
                raise DescriptionError(f"TimeStepping: {name} = {value:g} must be from {low:g} to {high:g}")
        if self.stiffness is not None and not (np.isfinite(self.stiffness) and self.stiffness > 0):
            raise DescriptionError(
                f"TimeStepping: stiffness = {self.stiffness:g} N/m must be above zero and "
                "finite; None is a hard contact"
            )
        if self.stiffness is None and self.damping:
            raise DescriptionError(
                f"TimeStepping: damping = {self.damping:g} N s/m is for soft contacts: give a stiffness too"
            )

    def __repr__(self) -> str:
        among = cut(f"{type(s).__name__} on {getattr(s, 'body', s)!r}" for s in self.among)
        given = [
            f"{f.name}={value!r}" for f in fields(self)[1:] if (value := getattr(self, f.name)) != f.default
        ]
        return f"TimeStepping({', '.join([f'[{among}]'] * bool(among) + given)})"

    def run(
        self,
        start: State,
        t_final: float,
        step: float,
        weights: np.ndarray,
        report: Callable[[float], object] | None,
    ) -> Trajectory:
        """A run of one state; see `cd.simulate`."""
        return _Stepping(
            self, start, t_final, step, Manifold.of_run(start.system, weights, ACCURACY), report
        ).go()


@dataclass
class _Stepping:
    """A run: its checks and its result."""

    method: TimeStepping
    start: State
    t_final: float
    step: float
    manifold: Manifold
    report: Callable[[float], object] | None

    def __post_init__(self) -> None:
        self.start = open_state(self.start)
        system = self.start.system
        if self.start.locked or system.motions:
            raise DescriptionError(
                "TimeStepping: locked coordinates and prescribed motions are not supported: "
                "weld the body, or use another integrator"
            )
        if laws := [*system.compiled.model.reaction_laws]:
            raise DescriptionError(
                f"TimeStepping: force {laws[0]!r} asks for reactions of joints, which its impulses do not give; "
                "use another integrator"
            )
        if sampled := [*samples(system)]:
            raise DescriptionError(
                f"TimeStepping: {sampled[0]!r} is sampled while a run goes on, which this "
                "method does not; use another integrator"
            )
        if not self.method.among and not system.constraints.unilateral:
            raise DescriptionError(
                "TimeStepping: nothing can touch: give it surfaces, TimeStepping([floor, "
                "ball]), or the system a rigid contact by system.add_contact; without "
                "contacts take another integrator, such as 'merson'"
            )
        self._check_twice()
        kind = FreeBodiesRun if self.method.among and all_free(system) else TreesRun
        self.steps: SteppingRun = kind(self.start, self.method)
        if self.method.stiffness is not None and self.steps.rebounds:
            raise DescriptionError(
                "TimeStepping: soft contacts rebound by their stiffness and damping; give "
                "their materials restitution 0"
            )

    def _check_twice(self) -> None:
        """Raise an error if a pair of `among` is a contact of the system too."""
        system, mine = self.start.system, {id(s) for s in self.method.among}
        for name in system.constraints.unilateral:
            law = system.compiled.model.unilateral[name]
            if not isinstance(law, RigidContact) or name in self.start.disabled:
                continue
            a, b = (s.original for s in law.surfaces())
            if {id(a), id(b)} <= mine and not {*a.cliques} & {*b.cliques}:
                raise DescriptionError(
                    f"TimeStepping: among: {type(a).__name__} on {a.body!r} and "
                    f"{type(b).__name__} on {b.body!r} touch by system.add_contact too, "
                    f"as {name!r}, and would push twice; leave them out of one"
                )

    def go(self) -> Trajectory:
        count = max(1, int(np.ceil((self.t_final - self.start.t) / self.step - 1e-9)))
        status, run = Outcome(Status.FINISHED), self.steps
        try:
            if not run.go(self.t_final, self.step, count, self.report, self._warn_of_overlaps):
                later = min(self.start.t + run.steps * self.step, self.t_final)
                kind = Status.CONSTRAINTS if run.astray else Status.NOT_FINITE
                status = Outcome(kind, f"stopped at t = {later:.9g} s: {kind.value}; {kind.advice}")
        except KeyboardInterrupt:
            status = Outcome(Status.INTERRUPTED)
        if run.loosened:
            warn(
                f"TimeStepping: in {run.loosened} of {run.steps} steps bodies turn by so much, more than "
                "about 1 rad, or a joint is so near to gimbal lock, that gyroscopic forces cannot be solved "
                "for: energy is not kept there; take a shorter step, or a Ball joint",
                RuntimeWarning,
            )
        times, y = run.rows()
        method: Any = self.method
        rows = StepRows(times, y, np.zeros_like(y), np.empty((len(y), 0, y.shape[1])), method)
        return Trajectory(
            self.start, rows, status, Statistics(run.steps, 0, run.steps, 0, run.sweeps), self.manifold
        )

    def _warn_of_overlaps(self, gap: float) -> None:
        """Warn about an invalid start: a body behind a floor, a joint beyond its stop."""
        if self.method.stiffness is None and gap < -DEEP:
            warn(
                f"TimeStepping: at t = {self.start.t:g} s surfaces overlap, or stops are passed, by up to "
                f"{-gap:.3g} [m, rad]; they are pushed apart within some steps, which adds energy: a body "
                "that is lifted out of the floor gains its weight times the depth; start with gaps",
                RuntimeWarning,
            )
