"""`cd.limit_cycle`: a periodic motion and its stability.

The return map R takes a state through the motion until an event, and through the action of that event. At its
fixed point x = R(x) the motion repeats itself. With D = dR/dx, exact (variation.py), and an orthonormal basis
B of the changes that constraints allow (tangents.py (2)),

    (B' D B - 1) d = -B' (R(x) - x),     x <- x + B d, back to the constraints                             (1)

is Newton's step; it is halved until |R(x) - x| falls. The eigenvalues of B' D B are the multipliers, the
factors by which small disturbances change in one cycle. The motion is stable if all are within the unit
circle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from condyle.arguments import with_call_hints
from condyle.arrays import Array
from condyle.errors import CondyleError, ConvergenceError, DescriptionError, UnknownNameError
from condyle.integrate.events import Event
from condyle.integrate.integrators import Method
from condyle.integrate.interrupts.samples import samples
from condyle.integrate.interrupts.time_signals import timed
from condyle.integrate.trajectory import Trajectory
from condyle.native.machine.notice import announced
from condyle.quality import Check, Judged
from condyle.records import dataclass
from condyle.status import Status
from condyle.studies.cycles.reset import Reset
from condyle.studies.cycles.tangents import Differentiated, basis, change, displaced, options_of
from condyle.studies.cycles.variation import rate, through, transition
from condyle.studies.simulate import simulate
from condyle.system.checked_arguments import check_state, number, seconds
from condyle.system.state import State
from condyle.system.system import System

HALVINGS = 12
NEUTRAL = 1e-8
"""Directions that D changes by less than this fraction are not corrected."""
NEAR = 1e-2
"""A state is at its event if its witness is zero within the effect of this change of all variables [rad, m,
rad/s, m/s].
"""
EARLY = 1e-2
"""If the section's event happens before this fraction of the last return, it is that of the start, which a
Newton step has moved slightly before it.
"""
ON_CIRCLE = 1e-6
"""Multipliers within this distance of the unit circle count as on it: the disturbance neither grows nor
decays."""
GRAZING = 1e-7
"""A witness that changes slower than this fraction of its gradient times the rates only touches zero."""


@dataclass(frozen=True, eq=False, repr=False)
class LimitCycle(Judged):
    """A motion that repeats itself.

    Attributes:
        state: its beginning and end, just after the event.
        period: its duration [s].
        multipliers: complex, the largest first: factors by which small disturbances change in one cycle, one
            for each direction that constraints allow. Zero for those that the event removes, such as a shift
            along the cycle.
        derivative: of the return map, in x = (theta, u, z), shape (n, n), n = nu + nu + nz; q changes by N
            theta, as in `system.jacobian`.
        residual: the largest difference between the state and its return [rad, m, rad/s, m/s].
        iterations: number of Newton steps.
        trajectory: one cycle.
    """

    _study = "limit_cycle"

    state: State
    period: float
    multipliers: Array
    derivative: Array = field(repr=False)
    residual: float
    iterations: int
    trajectory: Trajectory = field(repr=False)

    def _checks(self) -> Iterator[Check]:
        yield Check("difference after one cycle", self.residual)
        yield Check(
            "largest multiplier",
            float(np.abs(self.multipliers).max(initial=0.0)),
            where="stable" if self.stable else "not stable, or neutral",
        )

    @property
    def stable(self) -> bool:
        """Whether small disturbances decay: all multipliers are inside the unit circle by more than 1e-6. A
        multiplier on it is neutral: a pendulum without friction has a cycle at any amplitude.
        """
        return bool(np.abs(self.multipliers).max(initial=0.0) < 1.0 - ON_CIRCLE)

    def __repr__(self) -> str:
        most = np.abs(self.multipliers).max(initial=0.0)
        word = "stable" if self.stable else "neutral" if most <= 1.0 + ON_CIRCLE else "not stable"
        return (
            f"LimitCycle(period {self.period:.9g} s, {word}: "
            f"largest multiplier {most:.6g}; residual {self.residual:.1e} after {self.iterations} steps)"
        )


@with_call_hints()
@announced
def limit_cycle(
    system: System,
    state: State,
    events: Event | Iterable[Event],
    *,
    section: str | None = None,
    longest: float = 10.0,
    accuracy: float = 1e-10,
    tolerance: float | None = None,
    integrator: str | Method = "dormand-prince-8",
    iterations: int = 30,
) -> LimitCycle:
    """Find a periodic motion by Newton's method on the return map with exact derivatives.

    The map takes a state through the motion until the event `section` happens, and through its action. A
    walker returns to its own stance when its other foot lands and its legs exchange names.

    Args:
        system: must not depend on time.
        state: start of the search: near the cycle, just after the event. A state that is not at the event is
            first simulated until it.
        events: each a cd.Event with a witness; actions are None or a `cd.Reset`, whose derivatives are known.
        section: the name of the event at which a cycle ends; optional if there is one event.
        longest: the longest duration of a cycle [s].
        accuracy: of the runs, as in `cd.simulate`.
        tolerance: the largest difference from the return [rad, m, rad/s, m/s]; by default 1000 times the
            accuracy.
        integrator: as in `cd.simulate`.
        iterations: largest number of Newton steps.

    Returns:
        The cycle, with its period and its multipliers; `cycle.stable` tells whether disturbances decay.

    Raises:
        ConvergenceError: no cycle was found; `error.nearest` is the State with the nearest return.
        DescriptionError: the system depends on time, an action has no derivatives, or a rigid contact, a
            stop or a rope is enabled.
    """
    check_state("limit_cycle", system, state)
    given = list(events) if isinstance(events, Iterable) else [events]
    most = number("limit_cycle: iterations", iterations, "a whole number")
    if not (most >= 1 and most == int(most)):
        raise DescriptionError(f"limit_cycle: iterations = {iterations!r} must be a whole number, at least 1")
    if not 1e-13 <= number("limit_cycle: accuracy", accuracy, "one number such as 1e-10") < 1:
        raise DescriptionError(f"limit_cycle: accuracy = {accuracy!r} must be between 1e-13 and 1")
    seconds("limit_cycle: longest", longest)
    far = 1000 * accuracy if tolerance is None else number("limit_cycle: tolerance", tolerance, "a number")
    if not far > 0:
        raise DescriptionError(f"limit_cycle: tolerance = {tolerance!r} must be positive")
    if acting := [name for name in system.constraints.unilateral if name not in state.disabled]:
        raise DescriptionError(
            f"limit_cycle: {acting[0]!r} acts one way: it opens and closes at events of "
            "its own, whose derivatives are not known. Disable it, and give an "
            "Event with a cd.Reset(caught=...) instead"
        )
    search = _Return(system, _checked(system, given, section), longest, accuracy, integrator)
    return _newton(search, state, far, int(most))


def _checked(system: System, events: Sequence[Any], section: str | None) -> list[Event]:
    """The events, with that of the section first and terminal."""
    for e in events:
        if not isinstance(e, Event):
            raise DescriptionError(
                f"limit_cycle: events must be cd.Event, such as cd.Event(lambda s: s.q('knee')), got {e!r}"
            )
        if e.law is None:
            raise DescriptionError(
                f"limit_cycle: Event({e.name}) needs a traced witness: a cycle "
                "begins and ends at a state where it is zero, and its gradient is needed"
            )
        if e.action is not None and not isinstance(e.action, Reset):
            raise DescriptionError(
                f"limit_cycle: Event({e.name}): its action is a Python function "
                "without known derivatives; give a cd.Reset(caught=..., values=...)"
            )
    names = [e.name for e in events]
    if not names:
        raise DescriptionError("limit_cycle: there are no events; a cycle begins and ends at one")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise DescriptionError(
            f"limit_cycle: two events are called {twice[0]!r}; give each a name= of its own"
        )
    if section is None and len(events) != 1:
        raise DescriptionError(
            f"limit_cycle: there are {len(events)} events ({', '.join(names)}); section= "
            "names the one at which a cycle ends"
        )
    if section is not None and section not in names:
        raise UnknownNameError("event", section, names, "section= is the name of one of the events")
    if reads := [*timed(system).names, *samples(system)]:
        raise DescriptionError(
            f"limit_cycle: the system depends on time: {', '.join(map(str, reads[:3]))}; "
            "limit cycles need a system that does not. Make the phase a state z, or a body that "
            "turns at a constant speed"
        )
    at = names.index(section) if section is not None else 0
    return [replace(events[at], terminal=True), *(e for i, e in enumerate(events) if i != at)]


@dataclass
class _ReturnRun:
    """One return: its start, its run and its end."""

    start: State
    traj: Trajectory
    end: State

    @property
    def missed(self) -> Array:
        """R(x) - x."""
        return change(self.start, self.end)

    @property
    def size(self) -> float:
        return float(np.abs(self.missed).max(initial=0.0))


@dataclass
class _Return:
    """The return map."""

    system: System
    events: list[Event]
    longest: float
    accuracy: float
    integrator: str | Method
    lasted: float = 0.0

    def __post_init__(self) -> None:
        self.witnesses = {
            e.name: Differentiated(self.system, [(f"Event({e.name})", e.law, e.asks)])
            for e in self.events
            if e.law is not None
        }

    def __call__(self, state: State) -> _ReturnRun:
        """One return; ConvergenceError if there is none."""
        traj = self._run(state)
        if traj.status == Status.EVENT and traj.t[-1] - state.t < EARLY * self.lasted:
            traj = self._run(traj.events[-1].before)  # the event is that of the start
        if traj.status != Status.EVENT:
            why = (
                f"event {self.events[0].name!r} does not happen within {self.longest:g} s"
                if traj.finished
                else str(traj.status)
            )
            raise ConvergenceError(
                f"limit_cycle: from there the motion does not come back: {why}", state, traj.status.kind
            )
        self.lasted = traj.t[-1] - state.t
        return _ReturnRun(state, traj, traj[-1].replace(t=state.t))

    def first(self, state: State) -> _ReturnRun:
        """A return from the state, or from its event if the state is not at it."""
        g, dg = (x[0] for x in self.witnesses[self.events[0].name].at(state))
        run = self(state)
        if abs(g) > NEAR * np.abs(dg).sum():
            return self(run.end)
        soon = 2 * abs(g) / max(abs(dg @ rate(state)), 1e-300) + 1e-9
        if run.traj.t[-1] - state.t <= soon:  # the event is that of the start
            self.lasted = soon / EARLY
            run = self(state)
        return run

    def _run(self, state: State) -> Trajectory:
        return simulate(
            self.system,
            state,
            state.t + self.longest,
            accuracy=self.accuracy,
            integrator=self.integrator,
            events=self.events,
        )

    def derivative(self, run: _ReturnRun) -> Array:
        """D = dR/dx, exact."""
        traj, tolerance = run.traj, max(1e-10, 100 * self.accuracy)
        D, first, like = np.eye(2 * self.system.nu + len(run.start.z)), 0, run.traj.start
        for row, after in (*traj.changes, *([] if self.events[0].action else [(len(traj.t), traj[-1])])):
            D = transition(traj, like, first, row - 1, tolerance) @ D
            D = self._event(traj, traj.t[row - 1], after, row >= len(traj.t) - 1) @ D
            first, like = row, after
        return np.asarray(D)

    def _event(self, traj: Trajectory, t: float, after: State, ends: bool) -> Array:
        """variation.py (3) or (4) for the event at t."""
        by_name = {e.name: e for e in self.events}
        happened = [o for o in traj.events if o.t == t and (by_name[o.name].action is not None or ends)]
        if len(happened) != 1:
            names = " and ".join(o.name for o in happened)
            raise ConvergenceError(
                f"limit_cycle: events {names} happen at once at t = {t:g} s: the return "
                "map has no derivative there",
                traj.start,
            )
        event, before = by_name[happened[0].name], happened[0].before
        dg = self.witnesses[event.name].at(before)[1][0]
        f = rate(before)
        if abs(dg @ f) <= GRAZING * np.linalg.norm(dg) * np.linalg.norm(f):
            raise ConvergenceError(
                f"limit_cycle: the witness of event {event.name!r} only touches zero at t "
                f"= {t:g} s: the return map has no derivative there",
                traj.start,
            )
        J = event.action.derivative(before) if isinstance(event.action, Reset) else np.eye(len(f))
        return through(before, after, J, dg, ends)


def _newton(returns: _Return, state: State, tolerance: float, most: int) -> LimitCycle:
    """(1) until the difference stops falling."""
    run = returns.first(_on_constraints(state))
    for k in range(most + 1):
        x = run.start
        D, B = returns.derivative(run), basis(x)
        E = B.T @ D @ B
        if k == most:
            break
        d = np.linalg.lstsq(E - np.eye(len(E)), -B.T @ run.missed, rcond=NEUTRAL)[0]
        part, better = 1.0, None
        for _ in range(HALVINGS if run.size > tolerance else 1):
            try:
                trial = returns(_on_constraints(displaced(x, part * (B @ d))))
            except CondyleError:  # a fall: a shorter step
                trial = None
            if trial is not None and trial.size < (1.0 if run.size > tolerance else 0.5) * run.size:
                better = trial
                break
            part /= 2
        if better is None:
            break
        run = better
    if not run.size <= tolerance:
        raise ConvergenceError(
            f"limit_cycle: after {k} steps the motion comes back {run.size:.2g} from "
            f"where it began [rad, m, rad/s, m/s] and no step makes that less than "
            f"{tolerance:g}; start nearer to the cycle, or at its event",
            run.start,
            Status.STILL_IMPROVING,
        )
    multipliers = np.linalg.eigvals(E).astype(complex)
    order = np.argsort(-np.abs(multipliers), kind="stable")
    return LimitCycle(
        run.start, float(run.traj.t[-1] - run.start.t), multipliers[order], D, run.size, k, run.traj
    )


def _on_constraints(state: State) -> State:
    """The state with unit quaternions, projected to the constraints."""
    state = state.replace(q=state.system.compiled.normalized(state.q))
    if not state.system.constraints:
        return state
    q, u = state.system.project(state.q, state.u, tolerance=1e-12, **options_of(state))
    return state.replace(q=q, u=u)
