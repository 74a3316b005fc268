"""Samples: measures that are taken at instants of a run and held until the next (condyle.measures)."""

from __future__ import annotations

import numpy as np

from condyle.errors import UnknownNameError
from condyle.integrate.events import later
from condyle.integrate.measure_history import scalars
from condyle.integrate.steps import stacked
from condyle.measures import SampleAndHold
from condyle.records import dataclass
from condyle.system.state import State
from condyle.system.system import System


def samples(system: System) -> dict[str, SampleAndHold]:
    """The samples of a system, {name: sample}."""
    return {name: m for name in system.measures if isinstance(m := system.measure(name), SampleAndHold)}


@dataclass(frozen=True)
class Sampling:
    """A sample as an event set in time."""

    name: str
    measure: SampleAndHold

    terminal = False

    def next_time(self, t: float, start: float) -> float:
        return self.measure.next_time(later(t))

    def is_due(self, t: float) -> bool:
        """Whether t is one of its times."""
        return self.measure.next_time(2 * t - later(t)) <= later(t)

    def action(self, state: State) -> State:
        return sampled(state, [self.name])


def check_samples(system: System, events: list[str]) -> None:
    """Raise an error for a run in which the event of a sample cannot happen."""
    for name, m in samples(system).items():
        if m.event and m.event not in events:
            raise UnknownNameError(
                "event", m.event, events, f"simulate: measure {name!r} is sampled when it happens"
            )


def sampled(state: State, names: list[str]) -> State:
    """The State after some samples are taken in order."""
    system = state.system
    for name in names:
        g = scalars(system)(np.array([state.t]), stacked(state)[None], state.tail)[
            0, system.measures.index(name)
        ]
        state = state.replace(discrete={name: float(g)})
    return state
