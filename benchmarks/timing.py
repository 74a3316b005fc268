"""Timing on a machine that others use too: engines take turns in one process, and the best round of each counts."""
from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """A piece of work, `run`, that evaluates `states` states; `times_itself` if it returns the seconds it needed."""

    run: Callable[[], Any]
    states: int
    times_itself: bool = False


def interleaved(cases: Mapping[str, Case], rounds: int) -> dict[str, float]:
    """Seconds per state of each case: the least over `rounds` of the mean over the case's states.

    Every round runs each case, in another order each time, so a slow spell of the machine meets all of them and no
    case always follows the same one. In each turn a case runs twice and the second run is timed: turns share the
    machine's noise, but no engine pays for what the others left in the processor's caches.
    """
    best = dict.fromkeys(cases, float("inf"))
    collecting = gc.isenabled()
    gc.disable()
    try:
        order, shuffle = list(cases.items()), random.Random(0).shuffle
        for _ in range(rounds):
            shuffle(order)
            for name, case in order:
                case.run()
                start = time.perf_counter()
                answer = case.run()
                seconds = answer if case.times_itself else time.perf_counter() - start
                best[name] = min(best[name], seconds / case.states)
    finally:
        if collecting:
            gc.enable()
    return best
