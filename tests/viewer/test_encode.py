"""Numbers of a page come back to within half of their step, gaps are gaps, and nothing drifts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from condyle.arrays import Array
from condyle.viewer.encode import NONE, channels, json_block


def decoded(data: bytes, frames: int, count: int) -> Array:
    """What `channels` wrote, shape (m, C): what the page does."""
    numbers = np.frombuffer(data, dtype=np.float64, count=2 * count)
    offset, scale = numbers[:count], numbers[count:]
    moving = np.flatnonzero(scale)
    planes = np.frombuffer(data, dtype=np.uint8, offset=16 * count).reshape(2, len(moving), frames)
    zigzag = planes[0].astype(np.int64) | planes[1].astype(np.int64) << 8
    e = (zigzag >> 1) ^ -(zigzag & 1)
    out = np.tile(offset, (frames, 1))
    k = d = np.zeros(len(moving), dtype=np.int64)
    for f in range(frames):
        none = e[:, f] == NONE
        d = np.where(none, 0, d + e[:, f])
        k = k + d
        out[f, moving] = np.where(none, np.nan, offset[moving] + scale[moving] * k)
    return out


def test_smooth_motion_comes_back() -> None:
    t = np.linspace(0, 10, 1001)[:, None]
    x = np.sin(t * np.arange(1, 8)) + 20 * t  # it walks 200 m away
    back = decoded(channels(x, 1e-4), *x.shape)
    assert np.abs(back - x).max() <= 0.5e-4 * (1 + 1e-9)  # half a step


def test_gaps_and_constants() -> None:
    x = np.tile(np.linspace(0, 1, 9)[:, None], 4)
    x[3:5, 0], x[0, 1], x[:, 2], x[:, 3] = np.nan, np.nan, np.nan, 7.25
    x[8, 0] = np.inf
    back = decoded(channels(x, 1e-3), *x.shape)
    x[8, 0] = np.nan  # not finite is not a number
    assert np.array_equal(np.isnan(back), np.isnan(x))
    assert np.nanmax(np.abs(back - x)) <= 0.5e-3 * (1 + 1e-9)
    assert (back[:, 3] == 7.25).all()


@settings(max_examples=60, deadline=None)
@given(arrays(float, (20, 3), elements=st.one_of(st.floats(-1e6, 1e6), st.just(float("nan")))))
def test_any_numbers(x: np.ndarray) -> None:
    """Steps too large for 16 bits make the channel coarser, not wrong: by at most its largest second
    difference over 32766, with the growth of 1.1 in each of the rounds that this takes."""
    back = decoded(channels(x, 1e-4), *x.shape)
    assert np.array_equal(np.isnan(back), np.isnan(x))
    for a, b in zip(x.T, back.T, strict=True):
        good = np.isfinite(a)
        if good.any():
            step = max(1e-4, 4.5 * np.ptp(a[good]) / 32766)
            assert np.abs(a[good] - b[good]).max() <= 0.51 * step


def test_nothing_ends_an_element() -> None:
    text = json_block("head", {"name": "</script><script>alert(1)</script>&\u2028"})
    assert text.count("<") == 2 and "\u2028" not in text


@pytest.mark.parametrize("frames", [0, 1])
def test_few_frames(frames: int) -> None:
    x = np.full((frames, 3), 2.5)
    assert np.array_equal(decoded(channels(x, 1e-4), *x.shape), x)
