"""arm26 and the motion of its reference data (tests/data/arm26), for the tests of studies."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np

import condyle as cd
from condyle.models import arm26

DATA = Path(__file__).parents[1] / "data" / "arm26"
COORDINATES = "r_shoulder_elev", "r_elbow_flex"
INNER = slice(10, 91)
"""Frames for tight comparisons: those near the ends have OpenSim's splines in them."""


def reference(name: str) -> dict[str, np.ndarray]:
    """Columns of a file that are numbers."""
    with open(DATA / f"{name}.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {k: np.array([float(r[k]) for r in rows]) for k in rows[0]}


@cache
def arm() -> cd.System:
    return arm26(tendon="rigid")


@cache
def motion() -> cd.Motion:
    """With analytic speeds and accelerations."""
    data = reference("kinematics")
    return cd.Motion(
        arm(),
        data["time"],
        *(np.column_stack([data[n + end] for n in COORDINATES]) for end in ("", "_u", "_udot")),
    )


@cache
def table() -> cd.Table:
    """Coordinates alone."""
    return cd.Table(motion().t, COORDINATES, motion().q, ["rad", "rad"])
