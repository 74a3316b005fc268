"""A run: the native step loop fills a buffer (steps.py) for some rows at a time; between them Python checks
for interruptions (interrupts/), reports progress, and records why the run ends."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from condyle.integrate.events import Event, Witnesses, later
from condyle.integrate.integrators import Method
from condyle.integrate.interrupts.base import ROWS, Cause, Interrupter, Interruption
from condyle.integrate.manifold import Manifold
from condyle.integrate.steps import FAILED, ROW, StepBuffer, StepRows, replaced, stacked
from condyle.integrate.trajectory import Occurrence, Statistics, Trajectory
from condyle.native.machine import lapack
from condyle.native.programs.program import Program
from condyle.records import dataclass
from condyle.status import Outcome, Status
from condyle.system.state import State

if TYPE_CHECKING:
    from condyle.integrate.interrupts.path_jumps import Jump
    from condyle.integrate.rigid.impact import Impact

INTERVAL = 0.03
"""[s] after which native code returns, so that Ctrl-C and progress work."""


@dataclass
class RunSettings:
    """Settings of a run; see `simulate`."""

    t_final: float
    accuracy: float
    weights: np.ndarray
    step: float | None
    max_step: float | None
    events: Sequence[Event]
    window: float
    report: Callable[[float], object] | None
    witnesses: Witnesses | None = None  # of the events, where several runs share them


@dataclass
class SimulationRun:
    """One simulation in progress.

    Attributes:
        like: the State that holds now, except t, q, u, z.
        buffer: its steps.
        interrupters: in the order in which they check steps.
        changes: the rows at which the state was changed, and the State from there on.
        batch: number of steps to take before the next check.
    """

    start: State
    program: Program
    tables: dict[str, np.ndarray]
    method: Method
    settings: RunSettings
    status: Outcome | None = None

    def __post_init__(self) -> None:
        system, s = self.start.system, self.settings
        self.events, self.changes = list[Occurrence](), list[tuple[int, State]]()
        self.jumps: list[Jump] = []
        self.impacts: list[Impact] = []
        self.causes = list[Cause]()
        self.ending: Cause | None = None
        self.tables = dict(self.tables)
        self.manifold = Manifold.of_run(system, s.weights, s.accuracy)
        self.interrupters = interrupters(self)
        self.like, self.t, self.rounds = self.start, self.start.t, 100
        self.y = stacked(self.start)
        widths = {
            name.removeprefix(ROW): stream["size"]
            for name, stream in self.program.layout["streams"].items()
            if name.startswith(ROW)
        }
        self.buffer = StepBuffer(widths, self.method, self.t, self.y)
        self.batch = min([ROWS, *(each.batch for each in self.interrupters)])
        # backward in time steps are negative; h is their length
        self.way = 1.0 if s.t_final >= self.t else -1.0
        span = self.way * (s.t_final - self.t)
        self.ws = ws = self.program.workspace()
        ws["way"] = self.way
        ws["h"] = s.step if s.step is not None else min(span, s.max_step or span, 1e-2) if span else 1.0
        ws["h_max"], ws["fixed"] = s.max_step or np.inf, float(s.step is not None)
        ws["accuracy"], ws["weights"] = s.accuracy, s.weights
        self._restart()

    def _restart(self) -> None:
        """Set the state from which the native loop continues."""
        tail, ws = self.start.system.compiled.model.tail, self.ws
        ws["t"], ws["y"], ws["p"] = self.t, self.y, self.like.tail[tail["inputs"].start :]
        ws["fresh"], ws["code"], ws["status"] = 1, 0, 0
        for each in self.interrupters:
            each.restart()

    @property
    def state(self) -> State:
        """The present state of the run."""
        return self.state_at(self.t, self.y)

    def state_at(self, t: float, y: np.ndarray) -> State:
        return replaced(self.like, t, y)

    def y_at(self, rows: StepRows) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """y in the steps that begin at rows k (m,) at times t (m,), shape (m, n)."""
        return lambda k, t: self.manifold.nearest(self.start.system, self.like.tail, t, rows.at(k, t))

    def go(self) -> Trajectory:
        try:
            with lapack.one_thread() if self.method.needs_jacobian else contextlib.nullcontext():
                self._steps()
        except KeyboardInterrupt:
            self.status = Outcome(Status.INTERRUPTED)
        return self._trajectory()

    def _steps(self) -> None:
        s = self.settings
        while not self.status and self.way * self.t < self.way * s.t_final:
            done, stopped = self._native(min([s.t_final, *(each.next_time() for each in self.interrupters)]))
            changed = done > 0 and self._interrupted(done)
            if not changed and done:
                self.accept(done)
                self.batch = min(2 * self.batch, ROWS)
            # short batches end before the native loop returns by itself
            if s.report is not None:
                s.report((self.t - self.start.t) / (s.t_final - self.start.t))
            if stopped:
                self.status = Outcome(Status.INTERRUPTED)
            elif not changed and (self.ws["code"][0] == FAILED or self.ws["status"][0]):
                self.status = self._advice()
            elif not self.status:
                for each in self.interrupters:
                    if each.next_time() <= later(self.t):
                        each.act()

    def _native(self, t_end: float) -> tuple[int, bool]:
        """Take steps until t_end or for one batch, into the rows after the last. Returns their number, and
        whether Ctrl-C stopped it."""
        s, ws, rows = self.settings, self.ws, self.buffer.room(self.batch)
        ws["t_end"], ws["row"], ws["rows"], ws["busy"] = t_end, 0, self.batch, 1
        first, began, span = bool(ws["fresh"][0]), self.start.t, s.t_final - self.start.t
        stopped = False
        try:
            self.program.start(ws, {**rows, **self.tables}, {"limit": 100 * ROWS})
            clock = time.perf_counter()
            while not self.program.advance(ws, self.rounds):
                before, clock = clock, time.perf_counter()
                self.rounds = next_rounds(self.rounds, clock - before)
                if s.report is not None:
                    s.report((float(ws["t"][0]) - began) / span)
        except KeyboardInterrupt:
            stopped = True
        if first:  # results of the loop at the row from which it continued
            for name in self.buffer.streams.keys() & {"f", "signature"}:
                self.buffer[name][self.buffer.count - 1] = ws[f"{name}_start"]
        return int(ws["row"][0]), stopped

    def _interrupted(self, done: int) -> bool:
        """Apply the first interruption of the steps just taken. Returns whether it changed the state or ended
        the run."""
        waiting: tuple[Interrupter, Interruption] | None = None
        for each in self.interrupters:
            for instant in each.locate(done, waiting and waiting[1]):
                if each.waits:
                    waiting = each, instant
                    break
                if each.act(instant):
                    return True
        return waiting is not None and waiting[0].act(waiting[1])

    def accept(self, steps: int) -> None:
        """Make the given number of steps after the last row part of the run."""
        self.buffer.accept(steps)
        self._arrive()

    def cut(self, k: int, t: float, y: np.ndarray) -> None:
        """Accept the steps up to the one that starts at row k, which now ends at t."""
        self.buffer.cut(k, t, y)
        self._arrive()

    def _arrive(self) -> None:
        last = self.buffer.count - 1
        self.t, self.y = float(self.buffer["t"][last, 0]), self.buffer["y"][last].copy()

    def change(self, state: State, cause: Cause) -> None:
        """Continue from another state."""
        self.causes.append(cause)
        self.t, self.y, self.like = state.t, stacked(state), state
        self.changes.append((self.buffer.count, state))
        self.buffer.change(self.t, self.y)
        self._restart()

    def _trajectory(self) -> Trajectory:
        ws = self.ws
        if ws["fresh"][0]:
            self.buffer["f"][self.buffer.count - 1] = 0.0  # nothing follows
        counted = ("rejected", "evaluations", "jacobians", "projections")
        return Trajectory(
            self.start,
            self.buffer.rows(self.buffer.count, cuts=True),
            self.status or Outcome(Status.FINISHED),
            Statistics(
                self.buffer.steps,
                *(int(ws[name][0]) if name in self.program.sizes else 0 for name in counted),
            ),
            self.manifold,
            tuple(self.events),
            tuple(self.changes),
            tuple(self.jumps),
            impacts=tuple(self.impacts),
            causes=tuple(self.causes),
            ending=self.ending,
        )

    def _advice(self) -> Outcome:
        from condyle.integrate.advice import advice

        ws = self.ws
        for each in self.interrupters:
            if (known := each.failure(self.state)) is not None:
                return known
        share = np.abs(ws["weights"] * ws["error"])
        worst = int(np.argmax(np.where(np.isnan(share), -1.0, share))) if share.size else 0
        return advice(
            self.like,
            self.t,
            self.y,
            np.array(ws["k0"]),
            float(ws["h_try"][0]),
            worst,
            int(ws["status"][0]),
            self.settings.step,
            self.manifold,
        )


def interrupters(run: SimulationRun) -> list[Interrupter]:
    """The interrupters of a run; none for a plain system without events."""
    system, events, out = run.start.system, run.settings.events, list[Interrupter]()
    programs = system.compiled.programs
    if events or system.measures or system.constraints.unilateral:
        from condyle.integrate.interrupts.actions import Actions
        from condyle.integrate.interrupts.rigid_contacts import RigidContacts
        from condyle.integrate.interrupts.schedule import Schedule
        from condyle.integrate.interrupts.witnesses import WitnessEvents

        actions = Actions(run)
        schedule = Schedule(run, actions)  # before the others: it takes samples of the start
        witnesses = run.settings.witnesses or Witnesses(system, events)
        if system.constraints.unilateral:
            out.append(RigidContacts(run, actions, witnesses))
        elif witnesses.events:
            out.append(WitnessEvents(run, actions, witnesses))
        if schedule.scheduled:
            out.append(schedule)
    if programs.get("branches", programs) is not None:
        from condyle.integrate.interrupts.path_jumps import Branches, PathJumps

        if (branches := Branches.of_system(system)) is not None:
            out.insert(0, PathJumps(run, branches))  # events before a jump come first
    if "knots" in run.program.layout["streams"]:
        from condyle.integrate.interrupts.knots import KnotTimes

        out.append(KnotTimes(run))
    return out


def next_rounds(rounds: int, seconds: float) -> int:
    """Number of rounds of the native loop that take about INTERVAL, from the time of the last ones."""
    return int(np.clip(rounds * INTERVAL / seconds, rounds / 4, 4 * rounds)) + 1
