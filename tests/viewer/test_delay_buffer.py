"""The delay buffer, by a clock of its own: nothing here waits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from condyle.errors import DescriptionError
from condyle.viewer.delay_buffer import DelayBuffer


def play(
    buffer: DelayBuffer, seconds: float, cost: Callable[[float, int], float]
) -> list[tuple[float, float]]:
    """Run both sides until the clock shows `seconds`: cost(now, frames) is how long a chunk takes. Returns
    the clock and the simulated time of each frame shown."""
    shown, free, made = [], 0.0, None
    while True:
        tick = buffer.next()
        if made is None:
            start = max(free, buffer.wake())
            if start <= tick:
                times = buffer.due(start + 1e-9)
                if len(times):
                    took = cost(start, len(times))
                    made, free = (times, took), start + took
                else:  # full: wait for room
                    free = tick + 1e-9
        if made is not None and free <= tick:
            buffer.put(made[0], made[0], made[1])
            made = None
            continue
        if tick > seconds:
            return shown
        frame = buffer.take(tick)
        if frame is not None:
            shown.append((tick, frame[0]))


def test_frames_are_regular_in_both_times():
    buffer = DelayBuffer(2.0, 0.0)
    shown = np.array(play(buffer, 2.0, lambda now, n: 0.003 * n))
    assert buffer.capacity == 6
    assert buffer.missed == 0
    np.testing.assert_allclose(np.diff(shown[:, 0]), 0.02, rtol=0, atol=1e-12)
    np.testing.assert_allclose(shown[:, 1], 2.0 + 0.02 * np.arange(len(shown)), rtol=0, atol=1e-12)
    np.testing.assert_allclose(shown[0, 0], 0.12, rtol=0, atol=1e-12)  # t_delay behind


@pytest.mark.parametrize(("spell", "missed"), [(0.1, 0), (0.2, 5)])
def test_a_slow_spell(spell, missed):
    """One chunk takes long: nothing is missed while the buffer lasts; beyond it one frame per 20 ms, and then
    motion goes on where it was."""
    calls = []

    def cost(now: float, n: int) -> float:
        calls.append(n)
        return spell if len(calls) == 40 else 0.001

    buffer = DelayBuffer(0.0, 0.0)
    shown = np.array(play(buffer, 3.0, cost))
    assert buffer.missed == missed
    assert abs(buffer.lag - 0.02 * missed) < 1e-12
    np.testing.assert_allclose(np.diff(shown[:, 1]), 0.02, rtol=0, atol=1e-12)  # none is left out
    assert buffer.speed == 1.0  # a spell is no reason to slow down
    assert max(calls) > 1  # it caught up by several frames in one call


def test_a_run_that_cannot_keep_up_slows_evenly_and_recovers():
    buffer = DelayBuffer(0.0, 0.0)
    # a simulated second takes 1.5 s, later 0.1 s
    shown = np.array(
        play(buffer, 10.0, lambda now, n: (1.5 if now < 6.0 else 0.1) * n * buffer.speed / buffer.rate)
    )
    late = shown[(shown[:, 0] > 3.0) & (shown[:, 0] < 5.9)]
    steps = np.diff(late[:, 1])
    assert np.ptp(np.diff(late[:, 0])) < 1e-9  # no frame missed any more ..
    assert np.ptp(steps) < 1e-9  # .. and even
    assert 0.5 * 0.02 < steps[0] < 2 / 3 * 0.02
    assert buffer.speed > 0.9  # and back again, in the four seconds left
    assert (np.diff(shown[:, 1]) > 0).all()


def test_what_happens_now_takes_effect_in_the_next_frame_or_later():
    buffer = DelayBuffer(0.0, 0.0)
    times = buffer.due(0.05)
    np.testing.assert_allclose(times, [0.0, 0.02, 0.04])
    assert buffer.stamp(0.05) == pytest.approx(0.05)
    buffer.put(times, times, 0.001)
    assert buffer.stamp(0.05) == pytest.approx(0.06)  # 0.04 is made already
    assert len(buffer.due(0.05)) == 0
    assert len(buffer.due(1.0)) == 3  # no more than there is room for


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rate": 0.0}, "rate"),
        ({"delay": -1.0}, "delay"),
        ({"speed": np.nan}, "speed"),
        ({"delay": 0.001}, "no room"),
    ],
)
def test_mistakes(given, said):
    with pytest.raises(DescriptionError, match=said):
        DelayBuffer(0.0, 0.0, **given)
