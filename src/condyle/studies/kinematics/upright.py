"""Markers of which another axis points up than in the model: a free pelvis follows them without an error, and
gravity comes from the side."""

from __future__ import annotations

import numpy as np

from condyle.studies.kinematics.start import whole_rotations
from condyle.studies.kinematics.tasks import Tasks
from condyle.system.state import State

SOME = 7
"""Frames that are looked at."""
NEAR = np.cos(np.radians(12.0))
"""A standing subject is within 12 degrees of the axis that points up."""


def lies_along(state: State, tasks: Tasks) -> str:
    """The axis of the data, such as "z", along which what points up in a pose lies in most frames; empty if
    that is up, or no axis, or if it is not known."""
    gravity = getattr(state.system.force("gravity"), "acceleration", None)
    if tasks.markers is None or not isinstance(gravity, tuple) or not np.any(gravity):
        return ""
    up = -np.array(gravity) / np.linalg.norm(gravity)
    some = np.unique(np.linspace(0, len(tasks.t) - 1, SOME).astype(int)).tolist()
    turned = whole_rotations(state, tasks, some) @ up
    if not len(turned):
        return ""
    along = np.median(turned, axis=0)
    k = int(np.argmax(np.abs(along)))
    if abs(along[k]) < NEAR or along @ up > NEAR:
        return ""
    return "-" * bool(along[k] < 0) + "xyz"[k]
