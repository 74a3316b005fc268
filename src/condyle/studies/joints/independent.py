"""Which function of a joint is best as its coordinate.

It must grow along the path, by much more than it scatters:

  score = (smallest slope along the path) / (scatter about its trend),   the largest is best               (1)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError, UnknownNameError
from condyle.presentation import Block
from condyle.records import dataclass
from condyle.studies.joints.products import basis, uniform_knots

NAMES = ("angle1", "angle2", "angle3", "translation1", "translation2", "translation3")
PIECES = 5
"""Cubic pieces of the trends along the path in (1)."""
CLEAR = 3.0
"""A score (1) below this is no better than noise."""


@dataclass(frozen=True)
class Candidate:
    """One of the six functions as the independent coordinate (1).

    Attributes:
        name: "angle1" .. "translation3".
        low: its smallest value in the frames [rad or m].
        high: its largest.
        slope: its smallest slope along the path, whose length is 1 [rad or m]; negative where it turns back.
        scatter: how far the frames are from its trend, root of the mean square [rad or m].
        score: slope / scatter.
    """

    name: str
    low: float
    high: float
    slope: float
    scatter: float
    score: float


def table_of(candidates: Sequence[Candidate]) -> str:
    """The candidates as a text, angles in degrees, translations in millimeters."""
    rows = []
    for c in candidates:
        scale, unit = (math.degrees(1), "deg") if c.name.startswith("angle") else (1e3, "mm")
        low, high, slope, scatter = (f"{scale * x:.4g}" for x in (c.low, c.high, c.slope, c.scatter))
        rows.append(
            (
                c.name,
                f"{low} .. {high} {unit}",
                slope if c.slope > 0 else "turns back",
                scatter,
                f"{c.score:.3g}" if c.score > 0 else "-",
            )
        )
    return Block(
        "independent coordinate: (smallest slope) / (scatter)",
        ("function", "range", "slope", "scatter", "score"),
        rows,
    ).text()


def rank(phi: Array, scale: Array) -> tuple[Candidate, ...]:
    """The six functions as the independent coordinate, best first.

    Args:
        phi: their values in the frames, shape (N, 6).
        scale: length [m] that one unit of each counts as, shape (6,).
    """
    x = (phi - phi.mean(axis=0)) * scale
    n = len(x)
    along = x @ np.linalg.svd(x, full_matrices=False)[2][0]
    knots = uniform_knots((0.0, 1.0), 3 + min(PIECES, max(1, n // 8)), 4)

    def trend(s: Array) -> tuple[float, Array, Array]:
        D = _dense(s, knots, 0)
        c = np.asarray(np.linalg.lstsq(D, phi, rcond=None)[0], float)
        return float((((phi - D @ c) * scale) ** 2).sum()), D, c

    # Along the path: the first principal component; the order of the frames where the path turns back in
    # that.
    by_component, by_order = (
        trend((along - along.min()) / (np.ptp(along) or 1.0)),
        trend(np.linspace(0, 1, n)),
    )
    _, D, c = by_order if by_order[0] < 0.25 * by_component[0] - 1e-6 * (x * x).sum() else by_component
    slopes = _dense(np.linspace(0, 1, 401), knots, 1)
    # Below this a scatter is the trend's, not the data's: exact data rank by slope alone.
    smallest = 1e-4 * np.ptp(x, axis=0).max() / scale
    scatter = np.maximum(np.sqrt(((phi - D @ c) ** 2).mean(axis=0)), smallest)
    slope = slopes @ c
    slope = (slope * np.where(slope.sum(axis=0) < 0, -1.0, 1.0)).min(axis=0)
    every = [
        Candidate(
            NAMES[j],
            *map(float, (phi[:, j].min(), phi[:, j].max(), slope[j], scatter[j], slope[j] / scatter[j])),
        )
        for j in range(6)
    ]
    return tuple(sorted(every, key=lambda c: -c.score))


def _dense(q: Array, knots: Array, derivative: int) -> Array:
    first, B = basis(q, knots, 4, derivative)
    out = np.zeros((len(q), len(knots) - 4))
    np.put_along_axis(out, first[:, None] + np.arange(4), B, axis=1)
    return out


def independent_function(
    who: str, name: str | None, candidates: Sequence[Candidate], kinds: Sequence[Any], given_axes: bool
) -> int:
    """The function that is the coordinate."""
    if name is not None and name not in NAMES:
        raise UnknownNameError("function", name, NAMES)
    possible = [c for c in candidates if kinds[NAMES.index(c.name)] == "spline" and name in (None, c.name)]
    if not possible:
        raise DescriptionError(
            f"{who}: the coordinate must be one of the splines, but "
            + (f"{name} is fixed" if name else "all six functions are fixed")
        )
    best = possible[0]
    if best.score < CLEAR:
        raise DescriptionError(
            f"{who}: {f'{name} is not' if name else 'none of the functions is'} fit to be the coordinate: it "
            "must grow along the path by more than it scatters. Give q, "
            + ("other axes, " if given_axes else "")
            + "or use cd.fit_spline_curve, which needs none\n"
            + table_of(candidates)
        )
    return NAMES.index(best.name)
