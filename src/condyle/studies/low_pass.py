"""`cd.low_pass`: a recorded Table without what is faster than a cut-off frequency."""
from __future__ import annotations

from typing import Any

import numpy as np

from condyle.arguments import answered
from condyle.errors import DescriptionError, ShapeError
from condyle.io.markers import Markers
from condyle.status import Outcome, Status
from condyle.studies.smoothing import low_pass as filtered
from condyle.studies.smoothing import low_pass_resampled
from condyle.system.given import number
from condyle.table import Table, after_events


@answered()
def low_pass(table: Table, cutoff: float, *, as_opensim: bool = False) -> Table:
    """A Table of recorded numbers, filtered: Butterworth of order 3, forward and backward, so that nothing is
    delayed. Studies do the same to coordinates with `lowpass=`.

    Args:
        table: columns over time, without gaps.
        cutoff: frequency [Hz] above which movement is taken as noise.
        as_opensim: give what OpenSim's tools go on with, to its last digits: half of the rows is added at
            each end by point reflection, and where steps of time differ in their last bit (rounded times do)
            all is brought to the smallest step. Times are then not those of the table. By default they are.
            A frequency of half of the frames per second or more is taken as 0.49 of them.

    Returns:
        a Table with the same columns. Its status says by how much the filter changed them.

    Raises:
        ShapeError: gaps, or times that do not increase.
        DescriptionError: a frequency that the frames cannot show, or too few frames.
    """
    given: Any = table
    if not isinstance(given, Table):
        hint = ("; markers.table() is one, and cd.Markers.from_table(table) makes markers of it again"
                if isinstance(given, Markers) else "; a file is read by cd.read_table")
        raise DescriptionError(f"low_pass: expected a cd.Table, got {type(given).__name__}{hint}")
    table = after_events("low_pass", table)
    t, x = table.time, table.values
    if not len(t) or not (np.diff(t) > 0).all():
        raise ShapeError("low_pass: the table needs rows whose times increase")
    if not np.isfinite(x).all():
        i, j = np.argwhere(~np.isfinite(x))[0]
        raise ShapeError(f"low_pass: {table.names[j]!r} is {x[i, j]} at t = {t[i]:g} s (row {i}): fill the "
                         "gap, or leave that column out: table[[...]]")
    cutoff = number("cutoff", cutoff, "a frequency [Hz]")
    if as_opensim:
        rate = (len(t) - 1) / (t[-1] - t[0]) if len(t) > 1 else 0.0
        if cutoff >= rate / 2 > 0:
            said = (f"; {cutoff:g} Hz is not below half of the {rate:.4g} frames per second; 0.49 of them is "
                    "taken, as in OpenSim")
        else:
            said = _change(table, filtered(t, x, cutoff), cutoff)
        t, y = low_pass_resampled(t, x, cutoff)
    else:
        y = filtered(t, x, cutoff)
        said = _change(table, y, cutoff)
    status = Outcome(Status.FINISHED, f"finished{said}")
    return Table(t, table.names, y, table.units, status=status, degrees=table.degrees)


def _change(table: Table, y: np.ndarray, cutoff: float) -> str:
    """The column that changed most, in parts of what it spans."""
    if not table.names:
        return ""
    change = abs(y - table.values).max(axis=0)
    j = int(np.argmax(change / np.maximum(np.ptp(table.values, axis=0), np.finfo(float).tiny)))
    unit = table.units[j] and f" {table.units[j]}"
    return f"; low-pass filter of {cutoff:g} Hz changed {table.names[j]} by up to {change[j]:.2g}{unit}"
