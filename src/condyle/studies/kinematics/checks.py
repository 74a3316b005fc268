"""What is looked at of markers and sensors that a model followed.

Guidelines are those of OpenSim's page "Simulation with OpenSim - Best Practices": errors of markers in a
frame up to 2 cm (root mean square) and 4 cm (largest) in a motion, 1 cm and 2 cm in a static pose.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from condyle.presentation import cut
from condyle.quality import Check
from condyle.table import Table

if TYPE_CHECKING:
    from condyle.studies.kinematics.result import InverseKinematics

RMS, LARGEST = 0.02, 0.04
"""Errors of markers [m] that are allowed in a frame of a motion: root mean square, and largest."""
STATIC_RMS, STATIC_LARGEST = 0.01, 0.02
"""The same in a static pose, where they hold for markers on bony landmarks."""
RMS_FAILS, LARGEST_FAILS = 0.05, 0.2
"""From here on it is not this motion, or not this model [m]. A walk that a planar model follows has 0.043 and
0.11."""


def marker_checks(errors: Table, rms: float, largest: float, where: str = "") -> Iterator[Check]:
    """The worst frame and the worst marker of distances [m], a column per marker."""
    e = errors.values
    seen = np.isfinite(e)
    if not seen.any():
        return
    count = seen.sum(axis=1)
    each = np.sqrt(np.where(seen, e * e, 0.0).sum(axis=1) / np.maximum(count, 1))
    i = int(each.argmax())
    yield Check(
        f"largest root mean square of marker errors{where or ' in a frame'}",
        100 * float(each[i]),
        "cm",
        100 * rms,
        100 * RMS_FAILS,
        where="" if where else f"t = {errors.time[i]:.6g} s",
        advice="is the model scaled to the subject, and are units and the vertical axis right?",
    )
    i, k = divmod(int(np.nanargmax(e)), e.shape[1])
    at = errors.names[k] if where else f"{errors.names[k]}, t = {errors.time[i]:.6g} s"
    yield Check(
        f"largest marker error{where}",
        100 * float(e[i, k]),
        "cm",
        100 * largest,
        100 * LARGEST_FAILS,
        at,
        advice="is this marker placed on the model as on the subject, and named right?",
    )


def checks(result: InverseKinematics) -> Iterator[Check]:
    """Rows of a quality table."""
    yield from marker_checks(result.errors, RMS, LARGEST)
    angles = result.orientation_errors
    if np.isfinite(angles.values).any():
        i, k = divmod(int(np.nanargmax(angles.values)), angles.values.shape[1])
        yield Check(
            "largest error of a sensor",
            math.degrees(angles.values[i, k]),
            "deg",
            where=f"{angles.names[k]}, t = {angles.time[i]:.6g} s",
        )
    if result.swaps:
        yield Check(
            "pairs of markers that may be exchanged",
            len(result.swaps),
            "",
            0.0,
            math.inf,
            cut([str(swap) for swap in result.swaps], 2, "; "),
        )
    if result.filled.any():
        names = sorted({gap.coordinate for gap in result.gaps if gap.filled})
        yield Check(
            "frames with interpolated coordinates",
            int(result.filled.any(axis=1).sum()),
            f"of {len(result)}",
            where=cut(names, 3),
        )
    if result.held:
        yield Check("coordinates that nothing measured depends on", len(result.held), where=cut(result.held))
    yield Check(
        "frames that failed",
        len(result.failures),
        f"of {len(result)}",
        0.0,
        0.0,
        advice="see result.failures",
    )
