"""Goals of `cd.assemble`: targets of a configuration, in a weighted sum of squares.

    cost = 1/2 sum over goals  weight |error|^2          error in m, rad or the coordinate's own unit      (1)

Targets are those of one frame, or have a leading dimension of T frames. A NaN in a target means that nothing
was measured: the goal has no weight in that frame. Users define goals as subclasses of `cd.goals.Goal` with a
method `residual`.
"""

from __future__ import annotations

from condyle.arguments import missing
from condyle.fit.goals.base import Goal
from condyle.fit.goals.coordinate import Coordinate
from condyle.fit.goals.custom import Custom
from condyle.fit.goals.distance import Distance
from condyle.fit.goals.orientation import Orientation
from condyle.fit.goals.station import Station

__all__ = ["Coordinate", "Custom", "Distance", "Goal", "Orientation", "Station"]


_ELSEWHERE = {
    "Marker": "Station",
    "Point": "Station",
    "Rotation": "Orientation",
    "Pose": "Station and Orientation",
}
"""Names in other libraries."""


def __getattr__(name: str) -> object:
    raise missing("cd.goals", name, __all__, _ELSEWHERE)
