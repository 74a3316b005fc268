"""A run: the native step loop for some rows at a time, and between them what Python has to say: events,
progress, the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import partial

import numpy as np

from condyle.errors import DescriptionError
from condyle.integrate.advice import advice
from condyle.integrate.control import FAILED
from condyle.integrate.events import Event, Witnesses, later
from condyle.integrate.integrators import Method
from condyle.integrate.interrupts.knots import table
from condyle.integrate.interrupts.path_jumps import MOST, Branches, Found, Jump, left
from condyle.integrate.interrupts.rigid_contacts import RigidWitnesses, Transition
from condyle.integrate.interrupts.time_signals import timed
from condyle.integrate.interrupts.witnesses import CHANGE, Watch, is_held, isolate, slope
from condyle.integrate.manifold import Manifold, violations
from condyle.integrate.measure_history import Sampling, sampled, samples
from condyle.integrate.rigid.contacts import Contacts, Jam
from condyle.integrate.rigid.impact import Impact
from condyle.integrate.steps import StepRows
from condyle.integrate.trajectory import Occurrence, Statistics, Trajectory
from condyle.native.programs.program import Program
from condyle.records import dataclass
from condyle.status import Outcome, Status
from condyle.system.state import State

ROWS, FEW = 2_000, 16
"""Rows of one native run: at most; at first, and after an event, where there are witnesses to look at."""
INTERVAL = 0.03
"""[s] after which native code comes back, so that Ctrl-C and progress work."""
ACTING = threading.RLock()
"""Held while an action runs: members of an ensemble go on in several threads, their actions one at a time."""
CAPACITY = 512
"""Rows of memory to begin with: more would come from the system, page by page."""


@dataclass
class Settings:
    """How to run; see `simulate`."""

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
class Run:
    """One simulation while it goes on. `like` is the State that holds now, except t, q, u, z."""

    start: State
    program: Program
    tables: dict[str, np.ndarray]
    method: Method
    settings: Settings
    events: list[Occurrence] = field(default_factory=list)
    changes: list[tuple[int, State]] = field(default_factory=list)
    jumps: list[Jump] = field(default_factory=list)
    impacts: list[Impact] = field(default_factory=list)
    status: Outcome | None = None

    def __post_init__(self) -> None:
        system, s = self.start.system, self.settings
        self.samples = samples(system)
        clock = [Sampling(name, m) for name, m in self.samples.items() if not m.event]
        self.start = sampled(self.start, [e.name for e in clock if e.is_due(self.start.t)])
        self.contacts = Contacts.of(system, s.accuracy, s.window)
        if self.contacts is not None:
            self.start = self._resolved(self.start, found=False)
        self.like, self.t, self.tables = self.start, self.start.t, dict(self.tables)
        self.y = np.concatenate([self.start.q, self.start.u, self.start.z])
        self.n, self.count, self.steps, self.rounds = self.y.size, 1, 0, 100
        self.cuts: dict[int, tuple[float, np.ndarray, np.ndarray]] = {}
        self.manifold = Manifold.of(system, s.weights, s.accuracy)
        streams = self.program.layout["streams"]
        self.more = streams.get("D", {"size": 0})["size"] // max(self.n, 1)
        sizes = {name: streams[name]["size"] for name in "TYFDSC" if name in streams}
        self.memory = {name: np.empty((CAPACITY, size)) for name, size in sizes.items()}
        self.memory["T"][0], self.memory["Y"][0] = self.t, self.y
        witnesses = s.witnesses or Witnesses(system, s.events)
        if self.contacts is not None:
            witnesses = RigidWitnesses(witnesses, self.contacts)
        self.watch = Watch(witnesses, s.window, s.accuracy, s.weights)
        self.scheduled: list[Event | Sampling] = [*clock, *(e for e in s.events if e.witness is None)]
        self.due = [e.next_time(self.t, self.t) for e in self.scheduled]
        self.branches = Branches.of(system)
        self.batch = FEW if self.watch.events else ROWS // 16 if self.branches else ROWS
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
        """Give the native loop the state to go on from."""
        tail = self.start.system.compiled.model.tail
        self.ws["t"], self.ws["y"], self.ws["p"] = self.t, self.y, self.like.tail[tail["inputs"].start :]
        self.ws["fresh"], self.ws["code"], self.ws["status"] = 1, 0, 0
        if "knots" in self.program.layout["streams"]:
            self._find_knots()
        if self.watch.events:
            self.watch.see(self._state(self.t, self.y))

    def _find_knots(self) -> None:
        """Times that no step may pass, with the Parameters and Inputs that hold now."""
        s, reads = self.settings, timed(self.start.system)
        self.tables["knots"], first = table(
            reads,
            self.like.tail[None],
            np.array([self.start.t]),
            np.array([self.t]),
            s.t_final,
            s.accuracy,
            s.step,
            self.method,
        )
        self.ws["knot"], self.ws["t_knot"] = first[0], self.tables["knots"][int(first[0])]

    def go(self) -> Trajectory:
        try:
            self._steps()
        except KeyboardInterrupt:
            self.status = Outcome(Status.INTERRUPTED)
        return self._trajectory()

    def _steps(self) -> None:
        s = self.settings
        while not self.status and self.way * self.t < self.way * s.t_final:
            done, interrupted = self._native(min([s.t_final, *self.due]))
            jump = self._first_jump(done)
            known = done if jump is None else jump.step + 2 - self.count
            changed = bool(self.watch.events) and done > 0 and self._look(known, jump)
            if jump is not None and not changed:
                self._pass(jump)
                changed = True
            if not changed and done:
                self._keep(done)
                self.batch = min(2 * self.batch, ROWS)
            # short batches end before the native loop comes back by itself
            if s.report is not None:
                s.report((self.t - self.start.t) / (s.t_final - self.start.t))
            if interrupted:
                self.status = Outcome(Status.INTERRUPTED)
            elif not changed and (self.ws["code"][0] == FAILED or self.ws["status"][0]):
                self.status = self._advice()
            elif not self.status:
                self._on_schedule()

    def _native(self, t_end: float) -> tuple[int, bool]:
        """Steps until t_end or for one batch, into the rows after the last; how many, and whether it was
        interrupted."""
        s, ws, here = self.settings, self.ws, slice(self.count, self.count + self.batch)
        while here.stop > len(self.memory["T"]):
            self._grow()
        ws["t_end"], ws["row"], ws["rows"], ws["busy"] = t_end, 0, self.batch, 1
        first, began, span = bool(ws["fresh"][0]), self.start.t, s.t_final - self.start.t
        interrupted = False
        try:
            streams = {name: rows[here] for name, rows in self.memory.items()}
            self.program.start(ws, {**streams, **self.tables}, {"limit": 100 * ROWS})
            clock = time.perf_counter()
            while not self.program.advance(ws, self.rounds):
                before, clock = clock, time.perf_counter()
                self.rounds = (
                    int(np.clip(self.rounds * INTERVAL / (clock - before), self.rounds / 4, 4 * self.rounds))
                    + 1
                )
                if s.report is not None:
                    s.report((float(ws["t"][0]) - began) / span)
        except KeyboardInterrupt:
            interrupted = True
        if first:
            self.memory["F"][self.count - 1] = ws["f_start"]
            if "S" in self.memory:
                self.memory["S"][self.count - 1] = ws["signature_start"]
        return int(ws["row"][0]), interrupted

    def _grow(self) -> None:
        more = {name: np.empty((4 * len(old), old.shape[1])) for name, old in self.memory.items()}
        for name, rows in more.items():
            rows[: self.count] = self.memory[name][: self.count]
        self.memory = more

    def _rows(
        self, stop: int, cuts: dict[int, tuple[float, np.ndarray, np.ndarray]] | None = None
    ) -> StepRows:
        m = {name: rows[:stop] for name, rows in self.memory.items()}
        more = m["D"].reshape(stop, self.more, self.n) if self.more else np.empty((stop, 0, self.n))
        return StepRows(m["T"][:, 0], m["Y"], m["F"], more, self.method, self.cuts if cuts is None else cuts)

    def _keep(self, done: int) -> None:
        """So many rows after the last are part of the trajectory from now on."""
        self.count, self.steps = self.count + done, self.steps + done
        self.t, self.y = float(self.memory["T"][self.count - 1, 0]), self.memory["Y"][self.count - 1].copy()

    def _cut(self, k: int, t: float, y: np.ndarray) -> None:
        """Keep the steps up to the one that starts at row k, which now ends at t."""
        T, Y, F = (self.memory[name] for name in "TYF")
        if t != T[k + 1, 0]:
            self.cuts[k] = float(T[k + 1, 0] - T[k, 0]), Y[k + 1].copy(), F[k + 1].copy()
            T[k + 1], Y[k + 1] = t, y
        self._keep(k + 2 - self.count)

    def _jump(self, state: State) -> None:
        """A row with the time of the last and another state."""
        y = np.concatenate([state.q, state.u, state.z])
        if self.count == len(self.memory["T"]):
            self._grow()
        for rows in self.memory.values():
            rows[self.count] = 0.0
        self.memory["T"][self.count], self.memory["Y"][self.count] = self.t, y
        self.changes.append((self.count, state))
        self.count, self.y, self.like = self.count + 1, y, state
        self._restart()

    def _y_at(self, rows: StepRows) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """y in the pieces k (m,) at times t (m,), shape (m, n)."""
        return lambda k, t: self.manifold.nearest(self.start.system, self.like.tail, t, rows.at(k, t))

    def _first_jump(self, done: int) -> Found | None:
        """The first instant in the steps just done at which the length of a path jumps."""
        if self.branches is None or not done or len(self.jumps) >= MOST:
            return None
        here, stop, tail = self.count - 1, self.count + done, self.like.tail[None]
        t, y = self.memory["T"][here:stop, 0], self.memory["Y"][here:stop]
        if "S" in self.memory:
            signatures, steps = self.memory["S"][here:stop], np.flatnonzero(self.memory["C"][here + 1 : stop])
        else:
            signatures, steps = self.branches.look(tail, t, y).signatures, np.arange(done)
        if not len(steps) or not len(suspects := self.branches.suspects(t, signatures, steps)):
            return None
        y_at = self._y_at(self._rows(stop, cuts={}))
        look = partial(
            self.branches.located,
            tails_at=lambda k: tail,
            y_at=lambda k, t: y_at(here + k, t),
            accuracy=self.settings.accuracy,
        )
        found = {}
        if "S" in self.memory and len(suspects) == 1 and (part := left(self.ws)) is not None:
            a, b = suspects.a[0], suspects.b[0]  # the loop has ended after this step
            rounded = 4 * np.spacing(max(abs(a), abs(b)))
            within = [
                np.clip(a + x * (b - a) + way * rounded, min(a, b), max(a, b))
                for x, way in zip(part, (-self.way, self.way), strict=True)
            ]
            found = look(replace(suspects, a=np.array(within[:1]), b=np.array(within[1:])))
        found = found or look(suspects)
        return replace(found[min(found)], step=here + min(found)) if found else None

    def _pass(self, jump: Found) -> None:
        """Report a jump, and go on just after it with steps as long as those before."""
        rows, k = self._rows(jump.step + 2, cuts={}), jump.step
        t = np.array([jump.before, jump.after])
        y = self._y_at(rows)(np.array([k, k]), t)
        before, after = (self._state(float(t[i]), y[i]) for i in (0, 1))
        assert self.branches is not None
        self.jumps += self.branches.report(jump, before, after)
        longest = np.abs(np.diff(rows.t[max(self.count - 1, k - 8) :])).max()
        self._cut(k, jump.before, y[0])
        self.t = jump.after
        self.ws["h"] = self.settings.step or min(longest, self.settings.max_step or np.inf)
        self._jump(after)

    def _look(self, done: int, jump: Found | None = None) -> bool:
        """Find events among the steps just done, before a jump if there is one, and let them act; true if one
        changed the state or ended the run."""
        rows, watch, system = self._rows(self.count + done, cuts={}), self.watch, self.start.system
        if watch.acted:
            watch.settle(self._state(self.t, self.y), rows.f[self.count - 1])

        y_at = self._y_at(rows)
        t, piece, g = watch.looks(self.like, rows, self.count - 1, y_at)
        if jump is not None:
            before, last = t < jump.before, np.array([jump.before])
            g_last = watch.witnesses(self.like, last, y_at(np.array([jump.step]), last))
            t, piece = np.r_[t[before], last], np.r_[piece[before], jump.step]
            g = np.vstack([g[before], g_last])
        at, held, bound = 0, set[int](), bool(system.constraints or self.like.locked or system.motions)
        while True:
            side = watch.sides.all(g[at:])
            happens = np.stack(
                [e.happens(side[:-1, j], side[1:, j]) for j, e in enumerate(watch.events)], axis=1
            )
            happens[:, list(held)] = False
            found = np.flatnonzero(happens.any(axis=1))
            unknown = np.flatnonzero(np.isnan(g[at:]).any(axis=1))
            if len(unknown) and not (len(found) and found[0] + 1 < unknown[0]):
                return self._not_a_number(
                    int(piece[at + unknown[0]]), float(t[at + unknown[0]]), g[at + unknown[0]]
                )
            watch.saw(g[at : at + int(found[0]) + 1] if len(found) else g[at:])
            if not len(found):
                return False
            at, before = at + int(found[0]), side[found[0]]
            k, candidates = int(piece[at + 1]), [int(j) for j in np.flatnonzero(happens[found[0]])]
            if bound:
                there = self._state(float(t[at + 1]), y_at(np.array([k]), t[[at + 1]])[0])
                if still := {
                    j
                    for j in candidates
                    if not isinstance(watch.events[j], Transition) and is_held(there, rows.f[k], watch.one(j))
                }:
                    held |= still
                    continue

            def value(j: int, k: int = k) -> Callable[[np.ndarray], np.ndarray]:
                return lambda t: watch.witnesses(self.like, t, y_at(np.full(len(t), k), t))[:, j]

            intervals = {
                j: isolate(
                    value(j),
                    partial(watch.sides.of, j),
                    watch.events[j],
                    float(before[j]),
                    float(t[at]),
                    float(t[at + 1]),
                    watch.windows[j] * watch.events[j].share,
                )
                for j in candidates
            }
            when = min(high for _, high in intervals.values())
            y = rows.y[k + 1] if when == rows.t[k + 1] else y_at(np.array([k]), np.array([when]))[0]
            here = watch.witnesses(self.like, np.array([when]), y[None])[0]
            hits = [
                j
                for j in candidates
                if intervals[j][1] == when
                or watch.events[j].happens(before[j], watch.sides.of(j, here[[j]])[0])
            ]
            state, fired = self._happen([watch.events[j] for j in hits], self._state(when, y), here, hits)
            if state is not None or self.status:
                length, taken = float(rows.t[k + 1] - rows.t[k]), k + 2 - self.count
                self._cut(k, when, y)
                self.batch = int(np.clip(2 * taken, FEW, ROWS))
                self.ws["h"] = self.settings.step or min(
                    float(self.ws["h"][0]), length, watch.first_step(fired, when)
                )
                if state is not None:
                    near = {j: float(before[j]) for j in hits}
                    slopes = {j: slope(value(j), max(float(rows.t[k]), when - CHANGE), when) for j in hits}
                    self._jump(state)
                    self._changed(fired, here, near, slopes)
                return True
            for j in hits:
                watch.sides.plain(j)
            if when == t[at + 1]:
                at += 1
            t[at], g[at] = when, here

    def _changed(
        self, fired: Sequence[int], here: np.ndarray, near: dict[int, float], slopes: dict[int, float]
    ) -> None:
        """Events of witnesses, `here` before, changed the state; of those that another action moved, near is
        the sign before."""
        for j in fired:
            self.watch.acted[j] = near.get(j, float(np.sign(here[j]))), slopes.get(j, 0.0), float(here[j])
        if endless := self.watch.zeno(fired, self.t):
            self.status = self.status or endless

    def _not_a_number(self, k: int, t: float, g: np.ndarray) -> bool:
        """Keep the steps before the one that starts at row k, and end the run."""
        self._keep(max(k + 1 - self.count, 0))
        name = self.watch.events[int(np.flatnonzero(np.isnan(g))[0])].name
        self.status = Outcome(
            Status.WITNESS,
            f"stopped at t = {self.t:.9g} s: the witness of event {name!r} "
            f"is not a number at t = {t:.9g} s; {Status.WITNESS.advice}",
        )
        return True

    def _state(self, t: float, y: np.ndarray) -> State:
        nq, nu = self.start.q.size, self.start.u.size
        return self.like.replace(t=t, q=y[:nq], u=y[nq : nq + nu], z=y[nq + nu :])

    def _happen(
        self, events: Sequence[Event | Sampling], now: State, here: np.ndarray, fired: Sequence[int] = ()
    ) -> tuple[State | None, list[int]]:
        """Let events act, and then those whose witnesses, `here` before, their actions moved to the other
        side, each once.

        The new State, or None if nothing changed, and which of the witnesses' events happened. A terminal
        event sets the status.
        """
        done, all_of_them, changed, old = list(fired), list(events), False, here
        while events:
            now, acted = self._act(events, now)
            changed |= acted
            if not acted or self.status or not self.watch.events:
                break
            new = self.watch.at(now)
            side = self.watch.sides.all(np.stack([old, new]))
            jumped = [
                j
                for j, e in enumerate(self.watch.events)
                if j not in done
                and e.happens(side[0, j], side[1, j])
                and (isinstance(e, Transition) or not is_held(now, np.zeros(self.n), self.watch.one(j)))
            ]
            events, old = [self.watch.events[j] for j in jumped], new
            done += jumped
            all_of_them += events
        return self._on_constraints(all_of_them, now) if changed else None, done

    def _act(self, events: Sequence[Event | Sampling], now: State) -> tuple[State, bool]:
        """Actions of events in order; the new State, and whether one changed it. A terminal event sets the
        status."""
        changed = done = False
        for e in events:
            if isinstance(e, Transition):
                now, changed, done = now if changed and done else self._resolved(now), True, True
                continue
            if not isinstance(e, Sampling):
                self.events.append(Occurrence(e.name, now.t, now))
                if taken := [name for name, m in self.samples.items() if m.event == e.name]:
                    now, changed = sampled(now, taken), True
            with ACTING:
                new = e.action(now) if e.action is not None else None
            if new is not None:
                if not isinstance(new, State) or new.system is not self.start.system or new.t != now.t:
                    raise DescriptionError(
                        f"Event({e.name}): the action must return None or a State of the "
                        "same system and "
                        f"time, as state.replace(u=...) gives; got {new!r}"
                    )
                now, changed = new, True
            if e.terminal:
                self.status = Outcome(Status.EVENT, f"ended by event {e.name!r} at t = {now.t:.9g} s")
        return now, changed

    def _on_constraints(self, events: Sequence[Event | Sampling], state: State) -> State:
        """A State that actions returned: as the start of a run, on its constraints within the accuracy; then
        projected."""
        system = state.system
        if not system.constraints:
            return state
        if self.contacts is not None and not all(isinstance(e, Transition) for e in events):
            # what acts one way may be let go; the others are not mended in silence
            self._refuse_violations(events, state, self.contacts.modes.open(state.tail))
            state = self._resolved(state, found=False)
        self._refuse_violations(events, state, state.tail)
        y = np.concatenate([state.q, state.u, state.z])[None]
        y = self.manifold.nearest(system, state.tail, np.array([state.t]), y)[0]
        return state.replace(q=y[: system.nq], u=y[system.nq : system.nq + system.nu])

    def _refuse_violations(self, events: Sequence[Event | Sampling], state: State, tail: np.ndarray) -> None:
        accuracy = self.settings.accuracy
        for wrong in violations(state.system, state.q[None], state.u[None], tail[None], accuracy).values():
            names = " and ".join(e.name for e in events)
            raise DescriptionError(
                f"Event({names}): at t = {state.t:.9g} s the action returned a state that violates "
                f"constraints by more than the accuracy {accuracy:g}: {wrong}. Return "
                "cd.assemble(state.system, state.replace(...)): it brings q and u to the constraints, u as "
                "by an impulse"
            )

    def _resolved(self, state: State, found: bool = True) -> State:
        """A State in which those constraints that act one way hold that must, and no others."""
        assert self.contacts is not None
        before = state
        try:
            state, happened, impact = self.contacts.resolve(state, found)
        except Jam as jam:
            self.status = self.status or jam.status
            return before
        self.events += [Occurrence(what, state.t, before) for what in happened]
        self.impacts += [] if impact is None else [impact]
        return state

    def _on_schedule(self) -> None:
        due = [i for i, t in enumerate(self.due) if t <= later(self.t)]
        if not due:
            return
        here = self.watch.seen
        state, fired = self._happen([self.scheduled[i] for i in due], self._state(self.t, self.y), here)
        for i in due:
            self.due[i] = self.scheduled[i].next_time(self.t, self.start.t)
        if state is not None:
            self._jump(state)
            self._changed(fired, here, {}, {})

    def _trajectory(self) -> Trajectory:
        ws = self.ws
        if ws["fresh"][0]:
            self.memory["F"][self.count - 1] = 0.0  # nothing follows
        statistics = Statistics(
            self.steps,
            int(ws["rejected"][0]),
            int(ws["evaluations"][0]),
            *(int(ws[name][0]) if name in self.program.sizes else 0 for name in ("jacobians", "projections")),
        )
        return Trajectory(
            self.start,
            self._rows(self.count),
            self.status or Outcome(Status.FINISHED),
            statistics,
            self.manifold,
            tuple(self.events),
            tuple(self.changes),
            tuple(self.jumps),
            impacts=tuple(self.impacts),
        )

    def _advice(self) -> Outcome:
        ws = self.ws
        if self.contacts is not None and (jam := self.contacts.jam(self._state(self.t, self.y))) is not None:
            return jam
        return advice(
            self.like,
            self.t,
            self.y,
            np.array(ws["k0"]),
            float(ws["h_try"][0]),
            int(ws["worst"][0]),
            int(ws["status"][0]),
            self.settings.step,
            self.manifold,
        )


def run(
    start: State, program: Program, tables: dict[str, np.ndarray], method: Method, settings: Settings
) -> Trajectory:
    return Run(start, program, tables, method, settings).go()
