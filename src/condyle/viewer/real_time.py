"""RealTime: a simulation that keeps pace with the clock, and answers inputs while it runs."""

from __future__ import annotations

import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

from condyle.arrays import Array
from condyle.errors import CondyleError, DescriptionError
from condyle.integrate.integrators.base import Method
from condyle.studies.simulate import simulate
from condyle.system.state import State
from condyle.system.system import System
from condyle.viewer.delay_buffer import DelayBuffer, Pace

IDLE = 0.02
"""Longest sleep of the simulation's thread [s]: it then checks whether to end."""
FIRST = 1e-3
"""Length of the run before the clock starts, for compiling [s]."""


class RealTime:
    """A run in its own thread, some frames ahead of the picture (delay_buffer.py).

        with RealTime(system, system.state()) as live:
            while looking:
                state = live.wait()             # the frame to draw: a State, at a fixed rate
                live.change(inputs={"push": 3.0})

    Args:
        system: to simulate.
        state: at the start.
        rate: frames per second.
        delay: of the picture, which hides shorter delays of the run [s].
        speed: simulated seconds per second.
        accuracy: of the simulation.
        integrator: as for `cd.simulate`.

    Attributes:
        failure: why the run ended by itself, or None.

    Raises:
        CondyleError: invalid arguments, or a state that cannot be simulated.
    """

    def __init__(
        self,
        system: System,
        state: State,
        *,
        rate: float = 50.0,
        delay: float = 0.12,
        speed: float = 1.0,
        accuracy: float = 1e-3,
        integrator: str | Method = "merson",
    ) -> None:
        if state.system is not system:
            raise DescriptionError(
                "RealTime: the state belongs to another system; make it with system.state()"
            )
        self.system, self._state, self.shown = system, state, state
        self.rate, self.delay, self.speed = rate, delay, speed
        self.accuracy, self.integrator = accuracy, integrator
        self.failure: str | None = None
        self._changes: deque[tuple[float, dict[str, Any]]] = deque()
        self._lock, self._ending = threading.Lock(), threading.Event()
        first = self._run(state, state.t + FIRST)  # compiles, and raises errors for invalid arguments
        self._run(first(state.t + FIRST / 2), state.t + FIRST)
        self._buffer = DelayBuffer(state.t, time.perf_counter(), rate, delay, speed)
        self._thread = threading.Thread(target=self._work, name="condyle-real-time", daemon=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start the clock."""
        self._buffer = DelayBuffer(self._state.t, time.perf_counter(), self.rate, self.delay, self.speed)
        self._thread.start()

    def stop(self) -> None:
        """End the run, after the steps under way."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join()

    def change(self, **given: Mapping[str, float]) -> float:
        """Change inputs or parameters, from now on: `change(inputs={"push": 3.0})`. Arguments are those of
        `state.replace`.

        Returns:
            the simulated time at which it takes effect [s].

        Raises:
            CondyleError: invalid names or values.
        """
        self._state.replace(**given)  # invalid values raise here, not in the thread
        with self._lock:
            t = self._buffer.stamp(time.perf_counter())
            self._changes.append((t, dict(given)))
        return t

    @property
    def pace(self) -> Pace:
        """The present pace: missed frames, lag, real-time factor."""
        with self._lock:
            return self._buffer.pace()

    def next(self) -> float:
        """When the next frame is due, by time.perf_counter() [s]."""
        with self._lock:
            return self._buffer.next()

    def take(self) -> State | None:
        """The frame that is due; None if it was missed."""
        with self._lock:
            found = self._buffer.take(time.perf_counter())
        if found is not None:
            self.shown = found[1]
        return None if found is None else found[1]

    def wait(self, sleep: Callable[[float], object] = time.sleep) -> State:
        """Sleep until the next frame is due; returns it, or the last one again if it was missed.

        Raises:
            CondyleError: the run has ended by itself, and all its frames are shown.
        """
        while (left := self.next() - time.perf_counter()) > 0:
            sleep(left)
        found = self.take()
        if found is None and self.failure is not None:
            raise CondyleError(f"the simulation ended at t = {self._state.t:g} s: {self.failure}")
        return self.shown

    # ---- the thread ----------------------------------------------------------------------------------------

    def _work(self) -> None:
        while not self._ending.is_set():
            now = time.perf_counter()
            with self._lock:
                times, wake = self._buffer.due(now), self._buffer.wake()
            if not len(times):
                self._ending.wait(min(max(wake - now, 1e-3), IDLE))
                continue
            try:
                frames = self._advance(times)
            except Exception as error:  # any failure must be shown in the picture
                self.failure = str(error)
                return
            with self._lock:
                self._buffer.put(times, frames, time.perf_counter() - now)

    def _advance(self, times: Array) -> list[State]:
        """States at times, with the changes between them, each at its own time."""
        frames: list[State] = []
        while len(frames) < len(times):
            with self._lock:
                change = self._changes[0] if self._changes else None
            end = float(times[-1]) if change is None else min(max(change[0], self._state.t), float(times[-1]))
            wanted = times[len(frames) :]
            if end > self._state.t:
                traj = self._run(self._state, end)
                frames += [self._state if t <= self._state.t else traj(t) for t in wanted[wanted <= end]]
                self._state = traj(end)
            elif change is None or change[0] > end:
                frames += [self._state] * int((wanted <= end).sum())
            if change is not None and change[0] <= end:
                self._state = self._state.replace(**change[1])
                with self._lock:
                    self._changes.popleft()
        return frames

    def _run(self, state: State, end: float) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # jumps and domains would be repeated at every frame
            traj = simulate(self.system, state, end, accuracy=self.accuracy, integrator=self.integrator)
        if not np.isclose(traj.t[-1], end, rtol=0, atol=1e-12):
            raise CondyleError(str(traj.status))
        return traj
