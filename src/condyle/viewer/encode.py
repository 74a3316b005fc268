"""Numbers over frames as text in a page: small, because motions are smooth.

A channel x_f becomes whole numbers k_f = round((x_f - x_0) / scale); written are their second differences

    d_f = k_f - k_(f-1),   e_f = d_f - d_(f-1),   d_0 = k_0 = 0                                            (1)

as zigzag numbers of 16 bits, all low bytes before all high ones, compressed and in base64. Where x_f is not a
number e_f is NONE; then k stays and d becomes zero. A channel whose steps are too large for 16 bits has a
coarser scale. Constant channels are one number. client/numbers.js reads it.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np

from condyle.arrays import Array

NONE = -32768
"""The second difference that encodes NaN."""
LARGEST = 32766
"""Of a second difference."""


def block(name: str, data: bytes) -> str:
    """Bytes as an element of a page."""
    text = base64.b64encode(zlib.compress(data, 6)).decode()
    return f'<script type="text/plain" id="{name}">{text}</script>\n'


def json_block(name: str, value: Any) -> str:
    """A value as an element of a page, escaped so that it cannot end the element."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return f'<script type="application/json" id="{name}">{text}</script>\n'


def channels(x: Array, quantum: Array | float) -> bytes:
    """Channels (m, C) as bytes: offsets (C,) and scales (C,) as float64, zero for a constant channel, then
    the differences of the others.

    Args:
        x: values; NaN where there is none.
        quantum: the least step that is kept, for all or per channel, shape (C,).
    """
    frames, count = x.shape
    step = np.broadcast_to(np.asarray(quantum, dtype=float), (count,))
    good = np.isfinite(x)
    held = np.where(good, x, 0.0)
    if not frames:
        return np.zeros(2 * count).tobytes()
    first = np.argmax(good, axis=0)
    # a gap has the value before it; before the first value, that
    last = np.maximum.accumulate(np.where(good, np.arange(frames)[:, None], -1), axis=0)
    held = np.take_along_axis(held, np.where(last < 0, first, last), axis=0)
    offset = held[0].copy()
    with np.errstate(invalid="ignore"):
        scale = np.where(
            good.all(axis=0) & (np.abs(held - offset).max(axis=0, initial=0.0) < step / 2), 0.0, step
        )
    offset[~good.any(axis=0)], scale[~good.any(axis=0)] = np.nan, 0.0
    moving = np.flatnonzero(scale)
    code = _differences(held[:, moving] - offset[moving], scale, moving)
    code[~good[:, moving]] = NONE
    signed = np.ascontiguousarray(code.T.astype(np.int16))
    zigzag = ((signed << 1) ^ (signed >> 15)).view(np.uint16)
    return b"".join(
        [
            offset.tobytes(),
            scale.tobytes(),
            (zigzag & 255).astype(np.uint8).tobytes(),
            (zigzag >> 8).astype(np.uint8).tobytes(),
        ]
    )


def _differences(x: Array, scale: Array, moving: np.ndarray) -> np.ndarray:
    """e of (1), shape (m, moving); coarsens the scales of channels that would not fit."""
    while True:
        k = np.rint(x / scale[moving]).astype(np.int64)
        e = np.diff(np.diff(k, axis=0, prepend=0), axis=0, prepend=0)
        largest = np.abs(e).max(axis=0, initial=0)
        if (largest <= LARGEST).all():
            return e
        scale[moving] *= np.where(largest > LARGEST, 1.1 * largest / LARGEST, 1.0)
