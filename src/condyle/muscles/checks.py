"""What is looked at of muscles in a result: whether they are at their limits, and whether their fibers work
where the curves of muscles are known."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from condyle.arrays import Array
from condyle.presentation import cut
from condyle.quality import Check

SHORTEST, LONGEST = 0.5, 1.5
"""Normalized lengths between which active fibers exert force: beyond them filaments do not overlap enough."""
FULL = 1e-6
"""Activations this near to their greatest count as saturated."""


def saturation(names: Sequence[str], activations: Array, most: Array | float = 1.0) -> Iterator[Check]:
    """How many muscles are at their greatest activation, (m, muscles), in some frame."""
    with np.errstate(invalid="ignore"):
        share = (activations >= np.asarray(most) - FULL).mean(axis=0) if len(activations) else np.zeros(0)
    order = [k for k in np.argsort(-share, kind="stable").tolist() if share[k] > 0]
    where = cut([f"{names[k]} in {100 * share[k]:.0f} %" for k in order], 3)
    yield Check(
        "muscles at their greatest activation",
        len(order),
        "",
        0.0,
        math.inf,
        f"{where} of the frames" if order else "",
        "are they strong enough for this motion, are others missing, or are moments too large?",
    )


def fibers(names: Sequence[str], lengths: Array) -> Iterator[Check]:
    """How many muscles have fibers beyond 0.5 or 1.5 optimal lengths, from such lengths, (m, muscles)."""
    if not lengths.size:
        return
    low, high = np.fmin.reduce(lengths, axis=0), np.fmax.reduce(lengths, axis=0)
    off = np.fmax(SHORTEST - low, high - LONGEST)
    order = [k for k in np.argsort(-off, kind="stable").tolist() if off[k] > 0]
    where = [f"{names[k]} {low[k] if SHORTEST - low[k] == off[k] else high[k]:.2g}" for k in order]
    yield Check(
        f"muscles with fibers beyond {SHORTEST:g} or {LONGEST:g} optimal lengths",
        len(order),
        "",
        0.0,
        math.inf,
        cut(where, 3),
        "do tendon slack length and optimal fiber length fit the path, is the model scaled?",
    )
