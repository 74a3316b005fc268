"""DelayBuffer: frames at equal steps of simulated time, shown at a fixed rate and a little late
(sherman2011, section 3.4).

With w the time of the clock and t simulated time, frame k since the last change of pace has

    t_k = t_0 + k s / rate                  its simulated time, s the speed                                (1)
    w_k = w_0 + k / rate                    when it may be computed, with inputs until then                (2)
    w_k + delay                             when it is shown                                               (3)

A simulation that takes variable steps may fall behind for up to `delay` unnoticed. A late frame is missed:
the picture stays, and all frames after it come one step later, so that motion never jumps. If that continues,
the speed falls evenly to what the simulation achieves; it rises again when the buffer has been full for a
while.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import field
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.records import dataclass

PATIENCE = 3
"""Frames missed within a second before the speed falls."""
SHARE = 0.9
"""Fraction of the simulation's own pace to which the speed falls."""
RISE = 1.2
"""Factor by which the speed rises after a second without a missed frame and with time to spare."""
MEMORY = 0.2
"""Weight of the newest chunk in the simulation's own pace."""


@dataclass(frozen=True)
class Pace:
    """The pace of a live run.

    Attributes:
        t: simulated time that is shown [s].
        speed: simulated seconds per second of the clock, now; less than requested if the run cannot keep up.
        lag: delay of the picture beyond `delay`, since the beginning [s].
        shown: frames shown.
        missed: frames that were late.
        waiting: frames in the buffer.
        factor: simulated seconds that a second of computing gives: the real-time factor.
    """

    t: float
    speed: float
    lag: float
    shown: int
    missed: int
    waiting: int
    factor: float

    def __str__(self) -> str:
        said = f"t = {self.t:.2f} s, real-time factor {self.factor:.3g}"
        if self.missed:
            said += f", {self.missed} frames missed, {1e3 * self.lag:.0f} ms late"
        return said


@dataclass(eq=False)
class DelayBuffer:
    """Frames between a simulation that makes them and a picture that takes them. It does not read a clock:
    every call passes the time.

    Args:
        t: simulated time of the first frame [s].
        now: time of the clock [s].
        rate: frames per second.
        delay: [s]; the buffer has room for rate x delay frames.
        speed: requested simulated seconds per second of the clock.

    Raises:
        DescriptionError: a rate, delay or speed that is not positive, or no room for a frame.
    """

    t: float
    now: float
    rate: float = 50.0
    delay: float = 0.12
    speed: float = 1.0
    _frames: deque[tuple[float, Any]] = field(default_factory=deque, repr=False)

    def __post_init__(self) -> None:
        for name in ("rate", "delay", "speed"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise DescriptionError(f"{name} = {value!r} must be a positive number")
        self.capacity = round(self.rate * self.delay)
        if self.capacity < 1:
            raise DescriptionError(
                f"delay = {self.delay:g} s has no room for a frame at {self.rate:g} "
                f"frames per second: it must be at least {1 / self.rate:.3g} s"
            )
        self.asked = self.speed
        self.missed = self.shown = 0
        self.factor, self.lag = math.inf, 0.0
        self._pending = False  # frames at another speed may be in progress
        self._recent: deque[float] = deque()  # when frames were missed
        self._anchor(self.t, self.now)

    def _anchor(self, t: float, now: float) -> None:
        """Restart counting: the next frame has simulated time t and may be computed now."""
        self._t0, self._w0 = t, now
        self._made, self._taken = 0, -len(self._frames)
        self._calm = now

    # ---- the simulation's side ---------------------------------------------------------------------------

    def due(self, now: float) -> Array:
        """Simulated times of the frames to compute now (1), (2) [s]: none if the buffer is full."""
        last = math.floor((now - self._w0) * self.rate * (1 + 1e-12))
        last = min(last, self._made + self.capacity - len(self._frames) - 1)
        return np.asarray(self._t0 + np.arange(self._made, last + 1) * (self.speed / self.rate), dtype=float)

    def wake(self) -> float:
        """When the next frame may be computed [s of the clock], if there is room."""
        return self._w0 + self._made / self.rate

    def stamp(self, now: float) -> float:
        """Simulated time [s] at which something that happens now takes effect."""
        return self._t0 + max(self._made, (now - self._w0) * self.rate) * (self.speed / self.rate)

    def put(self, times: Array, frames: Any, seconds: float) -> None:
        """Add computed frames, in order, with the time that they took [s of the clock]."""
        for t, frame in zip(times.tolist(), frames, strict=True):
            self._frames.append((t, frame))
        self._made += len(times)
        if len(times) and self._pending:  # computed at the previous speed: continue from there
            self._t0 = float(times[-1]) - (self._made - 1) * (self.speed / self.rate)
            self._pending = False
        made = len(times) * self.speed / self.rate / max(seconds, 1e-9)
        self.factor = made if math.isinf(self.factor) else (1 - MEMORY) * self.factor + MEMORY * made

    # ---- the picture's side ------------------------------------------------------------------------------

    def next(self) -> float:
        """When the next frame is shown (3) [s of the clock]."""
        return self._w0 + self._taken / self.rate + self.delay

    def take(self, now: float) -> tuple[float, Any] | None:
        """The frame that is due, with its simulated time; None if it is late: then the last one is kept."""
        if not self._frames:
            self._miss(now)
            return None
        self._taken += 1
        self.shown += 1
        self.t, frame = self._frames.popleft()
        if self.speed < self.asked and now - self._calm > 1.0 and self.factor * SHARE > self.speed * RISE:
            self._change(min(self.asked, self.speed * RISE))
        return self.t, frame

    def _miss(self, now: float) -> None:
        self.missed += 1
        self._w0 += 1 / self.rate  # all later frames are shown one step later
        self.lag += 1 / self.rate
        self._calm = now
        self._recent.append(now)
        while self._recent[0] < now - 1.0:
            self._recent.popleft()
        if len(self._recent) >= PATIENCE and self.factor * SHARE < self.speed:
            self._change(self.factor * SHARE)
            self._recent.clear()

    def _change(self, speed: float) -> None:
        """Change the speed from the next frame on."""
        t, w = self._t0 + self._made * (self.speed / self.rate), self.wake()
        self.speed, self._pending = speed, True
        self._anchor(t, w)

    def pace(self) -> Pace:
        return Pace(self.t, self.speed, self.lag, self.shown, self.missed, len(self._frames), self.factor)
