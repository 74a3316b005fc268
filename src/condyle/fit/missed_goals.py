"""Warnings after an assembly: large errors of goals where a lower cost is near, and stations or targets far
beyond the size of the system.

A search ends at a stationary point of the cost: a minimum, or a point such as a pendulum that points straight
away from its target. A start near the latter leads to a lower cost. So, if the frame with the largest cost
has large errors, it is run again from a perturbed start.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from condyle.errors import warn
from condyle.fit.frames import Frames
from condyle.fit.goals import Goal
from condyle.fit.layout import FOUND, INFO, STATIONARY
from condyle.system.state import State
from condyle.system.system import System
from condyle.tree import scales

FAR = 0.05
"""Errors of goals are large above this [sizes of the system, or rad]; those of measurements are smaller."""
ASIDE = 1e-3
"""Perturbation of the end of a frame, from which it is run again [rad, or sizes of the system]."""
GAIN = 0.98
"""A better end has at most this fraction of the cost; differences due to accuracy are far smaller."""
BEYOND = 30.0
"""No marker is so far away [sizes of the system], unless it is in millimeters."""

Again = Callable[[State, tuple[Goal, ...], np.ndarray], Frames]


def check_missed_goals(who: str, frames: Frames, again: Again) -> Frames:
    """The same frames, with a mark on one that ended at a stationary point that is no minimum. Warns of
    implausible sizes.

    Args:
        who: the calling function, for the warning.
        frames: to check.
        again: runs a start, goals of one frame and its time, shape (1,).
    """
    system, code, cost = frames.start.system, frames.info[:, 0], frames.info[:, INFO.index("cost")]
    size = reach(system)
    long = [
        (g, field, p)
        for g in frames.goals
        for field, p in g.points.items()
        if size and math.hypot(*p.tolist()) > BEYOND * size
    ]
    if long:
        g, field, p = long[0]
        _warn(
            who,
            f"the {field} {p.tolist()} of goal {g.name!r} is far outside of the system, which is "
            f"{size:.3g} m long",
        )
    i = int(np.nan_to_num(cost).argmax()) if len(frames) else 0  # the worst frame
    if not len(frames) or not _missed_by_far(float(cost[i]), float(frames.weight[i]), size):
        return frames
    goals, here = tuple(g.frame(i) for g in frames.goals), frames[i : i + 1]
    places = [k for k, g in enumerate(goals) if g.is_place and g.weights(1)[0]]
    if places and size and not long and np.median(miss := here.residuals[0, places]) > BEYOND * size:
        k = places[int(miss.argmax())]
        _warn(
            who,
            f"goal {here.names[k]!r} is missed by {miss.max():.3g} m, but the system is {size:.3g} m long",
        )
        return frames
    if code[i] != FOUND:
        chosen = np.where(code == FOUND, cost, -1.0)
        i = int(chosen.argmax())
        if not _missed_by_far(float(chosen[i]), float(frames.weight[i]), size):
            return frames
        goals, here = tuple(g.frame(i) for g in frames.goals), frames[i : i + 1]
    at = here[0]
    aside = (
        np.random.default_rng(0).choice((-ASIDE, ASIDE), system.nu)
        / scales.weights(system.bodies)[1]
        * scales.TIME_SCALE
    )
    moved = at.replace(u=aside)
    beside = system.compiled.normalized(at.q + system.compiled.seldom("qdot")(at.q, moved.u, moved.tail))
    better = again(at.replace(q=beside), goals, here.t).info[0]
    if better[0] == FOUND and better[INFO.index("cost")] < GAIN * cost[i]:
        info = frames.info.copy()
        info[i, 0] = STATIONARY
        info.flags.writeable = False
        return replace(frames, info=info)
    return frames


def reach(system: System) -> float:
    """Size of a system [m], computed once."""
    return float(system.compiled.remembered("reach", lambda: scales.reach(system.bodies)))


def _missed_by_far(cost: float, weight: float, size: float) -> bool:
    """Whether the root mean square error of a frame's goals is above FAR."""
    return cost > 0 and weight > 0 and math.sqrt(2 * cost / weight) > FAR * min(size or 1.0, 1.0)


def _warn(who: str, what: str) -> None:
    warn(
        f"{who}: {what}; are positions in meters? Those of many files are in millimeters: divide "
        "them by 1000",
        RuntimeWarning,
    )
