"""Scheduled events and samples: at given times, or periodic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from condyle.integrate.events import Event, later
from condyle.integrate.interrupts.base import Interrupter
from condyle.integrate.interrupts.samples import Sampling, sampled

if TYPE_CHECKING:
    from condyle.integrate.interrupts.actions import Actions
    from condyle.integrate.run import SimulationRun


class Schedule(Interrupter):
    """Scheduled events and samples; samples that are due at the start are taken at the start."""

    def __init__(self, run: SimulationRun, actions: Actions) -> None:
        clock = [Sampling(name, m) for name, m in actions.samples.items() if not m.event]
        run.start = sampled(run.start, [e.name for e in clock if e.is_due(run.start.t)])
        self.run, self.actions = run, actions
        events = [e for e in run.settings.events if e.witness is None]
        self.scheduled: list[Event | Sampling] = [*clock, *events]
        self.due = [e.next_time(run.start.t, run.start.t) for e in self.scheduled]

    def next_time(self) -> float:
        return min(self.due)

    def act(self, instant: None = None) -> bool:
        run, watch = self.run, self.actions.witnesses
        due = [i for i, t in enumerate(self.due) if t <= later(run.t)]
        before = np.empty(0) if watch is None else watch.seen
        state, fired = self.actions.happen([self.scheduled[i] for i in due], run.state, before)
        for i in due:
            self.due[i] = self.scheduled[i].next_time(run.t, run.start.t)
        if state is None:
            return False
        run.change(state, self.actions.cause())
        if watch is not None:
            watch.changed(fired, before)
        return True
