"""External loads that end before a motion does, and those whose points jump."""

from __future__ import annotations

import numpy as np

from condyle.studies.external_load import ExternalLoad
from condyle.studies.motion.splines import spline
from condyle.table import Table

BEYOND = 0.25
"""[s] So far beyond its rows a table of loads is continued in a straight line; OpenSim does it without
end."""


def continued(load: ExternalLoad, start: float, end: float) -> ExternalLoad:
    """A load whose table reaches from start to end [s], continued at most BEYOND in a straight line: the
    natural spline through its rows stays what it was."""
    table = load.table
    if len(table) < 4 or (table.time[0] <= start and table.time[-1] >= end):
        return load
    before, after = table.time[0] - start, end - table.time[-1]
    if max(before, after) > BEYOND:
        return load
    x = np.nan_to_num(table.values)
    made = spline(table.time, x, 3)
    parts = [(table.time, table.values)]
    if before > 0:
        slope = made(table.time[:1], 1)[0]
        parts.insert(0, (np.array([start]), (x[0] - before * slope)[None]))
    if after > 0:
        slope = made(table.time[-1:], 1)[0]
        parts.append((np.array([end]), (x[-1] + after * slope)[None]))
    longer = Table(
        np.concatenate([t for t, _ in parts]), table.names, np.concatenate([v for _, v in parts]), table.units
    )
    return ExternalLoad(load.body, longer, load.force, load.point, load.torque, load.frame, load.point_frame)


def jumps(load: ExternalLoad) -> bool:
    """Whether the point of a load is zero or missing in rows without a force, and elsewhere is not:
    cd.ExternalLoad leads it straight over such rows, and OpenSim's spline goes through them."""
    if load.force is None or load.point is None:
        return False
    still = (load.table[list(load.force)].values == 0).all(axis=1)
    p = load.table[list(load.point)].values
    absent = (p == 0).all(axis=1) | np.isnan(p).any(axis=1)
    return bool((still & absent).any() and (~still & ~absent).any())
