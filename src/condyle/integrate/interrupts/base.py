"""Base class of interrupters of a run: path jumps, events of witnesses, rigid contacts, schedules with
samples, knots.

A run (run.py) does not know their types. It has a list of them, which is empty for a pendulum, and calls each
for the time at which the step loop must stop (`next_time`), the instants at which something happens in the
steps just taken (`locate`), and the change itself (`act`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from condyle.records import dataclass
from condyle.status import Outcome
from condyle.system.state import State

ROWS, FEW = 2_000, 16
"""Rows of one native run: the largest number; the number at first and after an event, if there are witnesses
to check."""


@dataclass(frozen=True)
class Interruption:
    """The place of an event in the steps just taken.

    Args:
        step: the row at which the step begins.
        before: the last time before it [s].
        after: the first time after it [s].
    """

    step: int
    before: float
    after: float


@dataclass(frozen=True, eq=False)
class Cause:
    """Why a run continued from another state, or ended, as its derivatives need it. Pickling drops it.

    Args:
        witnesses: of the run's events.
        hits: those that changed sides.
        acted: events and samples in their order, each with the State before and after.
        contacts: rigid contacts, if any were checked.
        jumps: paths whose lengths jumped.
    """

    witnesses: Any = None
    hits: tuple[int, ...] = ()
    acted: tuple[tuple[Any, State, State], ...] = ()
    contacts: Any = None
    jumps: tuple[str, ...] = ()
    known: bool = True

    def __reduce__(self) -> tuple[Any, ...]:
        return Cause, (None, (), (), None, (), False)


class Interrupter:
    """Something that may interrupt a run.

    Attributes:
        batch: number of steps to take before the first check.
        waits: whether its instants wait until the other interrupters have checked everything before them.
    """

    batch: ClassVar[int] = ROWS
    waits: ClassVar[bool] = False

    def restart(self) -> None:
        """Called at the start and after each change: the run continues from `run.state`."""

    def next_time(self) -> float:
        """The next instant that is known beforehand [s]; no step passes it."""
        return np.inf

    def locate(self, done: int, before: Interruption | None) -> Iterator[Any]:
        """The instants in the steps just taken, in order, that are before another."""
        return iter(())

    def act(self, instant: Any = None) -> bool:
        """Apply what it located, or what is due at the `next_time` that the run has reached. Returns whether
        the run continues from another state, or ends."""
        return False

    def failure(self, state: State) -> Outcome | None:
        """Why no step can be taken from a state, if it knows."""
        return None
