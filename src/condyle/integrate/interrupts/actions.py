"""Actions of events on the state of a run, and their consequences."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from condyle.errors import DescriptionError
from condyle.integrate.events import Event
from condyle.integrate.interrupts.base import Cause
from condyle.integrate.interrupts.samples import Sampling, sampled, samples
from condyle.integrate.manifold import violations
from condyle.integrate.steps import stacked
from condyle.integrate.trajectory import Occurrence
from condyle.status import Outcome, Status
from condyle.system.state import State

if TYPE_CHECKING:
    from condyle.integrate.interrupts.rigid_contacts import RigidContacts
    from condyle.integrate.interrupts.witnesses import WitnessEvents
    from condyle.integrate.run import SimulationRun

ACTING = threading.RLock()
"""Held while an action runs: members of an ensemble run in several threads, but their actions run one at a
time."""


class Actions:
    """Runs the actions of events.

    Attributes:
        samples: of the system, {name: sample}.
        witnesses: of the run, if it has any.
        contacts: the witnesses, if they watch rigid contacts too.
    """

    def __init__(self, run: SimulationRun) -> None:
        self.run, self.samples = run, samples(run.start.system)
        self.witnesses: WitnessEvents | None = None
        self.contacts: RigidContacts | None = None
        self.acted: list[tuple[Event | Sampling, State, State]] = []

    def cause(self, hits: Sequence[int] = ()) -> Cause:
        """The cause of a change: witnesses that changed sides, or a scheduled time."""
        contacts = None if self.contacts is None else self.contacts.contacts
        watch = None if self.witnesses is None else self.witnesses.witnesses
        return Cause(watch, tuple(hits), tuple(self.acted), contacts)

    def happen(
        self, events: Sequence[Event | Sampling], now: State, here: np.ndarray, fired: Sequence[int] = ()
    ) -> tuple[State | None, list[int]]:
        """Run the actions of events, and then of those whose witnesses, `here` before, these actions moved to
        the other side, each once.

        Returns the new State, or None if nothing changed, and the witnesses' events that happened. A terminal
        event sets the status.
        """
        done, acted_on, changed, old, watch = list(fired), list(events), False, here, self.witnesses
        self.acted = []
        while events:
            now, acted = self._act(events, now)
            changed |= acted
            if not acted or self.run.status or watch is None:
                break
            new = watch.at(now)
            jumped = [j for j in watch.crossed(old, new, now) if j not in done]
            events, old = [watch.events[j] for j in jumped], new
            done += jumped
            acted_on += events
        return self._on_constraints(acted_on, now) if changed else None, done

    def _act(self, events: Sequence[Event | Sampling], now: State) -> tuple[State, bool]:
        """Run the actions of events in order; returns the new State, and whether one changed it. A terminal
        event sets the status."""
        run, changed, resolved = self.run, False, False
        for e in events:
            if isinstance(e, Event) and e.resolves:
                assert self.contacts is not None
                before, now = now, now if changed and resolved else self.contacts.resolved(now)
                self.acted.append((e, before, now))
                changed = resolved = True
                continue
            before = now
            if isinstance(e, Event):
                run.events.append(Occurrence(e.name, now.t, now))
                if taken := [name for name, m in self.samples.items() if m.event == e.name]:
                    now, changed = sampled(now, taken), True
            with ACTING:
                new = e.action(now) if e.action is not None else None
            if new is not None:
                if not isinstance(new, State) or new.system is not run.start.system or new.t != now.t:
                    raise DescriptionError(
                        f"Event({e.name}): the action must return None or a State of the "
                        "same system and "
                        f"time, as state.replace(u=...) gives; got {new!r}"
                    )
                now, changed = new, True
            self.acted.append((e, before, now))
            if e.terminal:
                run.status = Outcome(Status.EVENT, f"ended by event {e.name!r} at t = {now.t:.9g} s")
        return now, changed

    def _on_constraints(self, events: Sequence[Event | Sampling], state: State) -> State:
        """Project a State that actions returned. Like the start of a run it must satisfy the constraints
        within the accuracy."""
        system, contacts = state.system, self.contacts
        if not system.constraints:
            return state
        if contacts is not None and not all(isinstance(e, Event) and e.resolves for e in events):
            # unilateral constraints may open; errors of the others are not corrected silently
            self._refuse_violations(events, state, contacts.contacts.modes.open(state.tail))
            state = contacts.resolved(state, found=False)
        self._refuse_violations(events, state, state.tail)
        y = self.run.manifold.nearest(system, state.tail, np.array([state.t]), stacked(state)[None])[0]
        return state.replace(q=y[: system.nq], u=y[system.nq : system.nq + system.nu])

    def _refuse_violations(self, events: Sequence[Event | Sampling], state: State, tail: np.ndarray) -> None:
        accuracy = self.run.settings.accuracy
        for wrong in violations(state.system, state.q[None], state.u[None], tail[None], accuracy).values():
            names = " and ".join(e.name for e in events)
            raise DescriptionError(
                f"Event({names}): at t = {state.t:.9g} s the action returned a state that violates "
                f"constraints by more than the accuracy {accuracy:g}: {wrong}. Return "
                "cd.assemble(state.system, state.replace(...)): it brings q and u to the constraints, u as "
                "by an impulse"
            )
