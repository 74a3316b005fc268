"""Timing on a machine that others use too: engines take turns, and the best run of each counts."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

QUIET = 0.97  # a run was not interrupted if its thread had the processor for this share of the time
ENOUGH = 3  # quiet runs that a case needs
PATIENCE = 3  # times the rounds asked for, while a case waits for its quiet runs


class Clock:
    """Wall and processor time of one thread: `with Clock() as clock: ...`, then clock.seconds, clock.cpu and
    clock.quiet."""

    seconds: float
    cpu: float
    quiet: bool

    def __enter__(self) -> Clock:
        self._wall, self._cpu = time.perf_counter(), time.thread_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu = time.thread_time() - self._cpu
        self.seconds = time.perf_counter() - self._wall
        self.quiet = self.cpu >= QUIET * self.seconds


@dataclass(frozen=True)
class Case:
    """A piece of work, `run`, that evaluates `states` states on so many threads (with several all runs are
    quiet).

    `elsewhere`: the work is done in another process, and run() returns that process's (seconds, quiet).
    """

    run: Callable[[], Any]
    states: int
    threads: int = 1
    elsewhere: bool = False


@dataclass
class Timing:
    """Least seconds per state, and in how many runs nobody interrupted."""

    seconds: float = float("inf")
    quiet: int = 0

    @property
    def sure(self) -> bool:
        return self.quiet >= ENOUGH


def interleaved(cases: Mapping[str, Case], rounds: int) -> dict[str, Timing]:
    """The least over the rounds of the mean over a run's states, for each case.

    Every round runs each case, in another order each time, so a slow spell of the machine meets all of them
    and no case always follows the same one. In each turn a case runs twice and the second run is timed: turns
    share the machine's noise, but no engine pays for what the others left in the processor's caches. There
    are more rounds, up to PATIENCE times as many, while a case has been interrupted in all but a few of its
    runs.
    """
    best = {name: Timing() for name in cases}
    order, shuffle = list(cases.items()), random.Random(0).shuffle
    collecting = gc.isenabled()
    gc.disable()
    try:
        for done in range(PATIENCE * rounds):
            if done >= rounds and all(t.sure for t in best.values()):
                break
            shuffle(order)
            for name, case in order:
                case.run()
                with Clock() as clock:
                    answer = case.run()
                seconds, quiet = (
                    answer if case.elsewhere else (clock.seconds, clock.quiet or case.threads > 1)
                )
                timing = best[name]
                timing.seconds = min(timing.seconds, seconds / case.states)
                timing.quiet += quiet
    finally:
        if collecting:
            gc.enable()
    return best
