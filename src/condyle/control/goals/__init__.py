"""Goals: objectives and requirements of configurations and movements.

Of `cd.assemble`, and integrated over time in a `cd.Problem` (condyle.fit.goals): Station, Orientation,
Coordinate, Distance, Custom. Of movements (condyle.control.goals.base): Effort, Duration, Follow, Integral,
Final, Initial, Metabolic, ContactForces, Reactions, Smoothness; required: Path, Periodic, MeanSpeed.
"""

from __future__ import annotations

from condyle.arguments import missing
from condyle.control.goals.base import MovementGoal
from condyle.control.goals.effort import Effort, Smoothness
from condyle.control.goals.follow import Follow
from condyle.control.goals.forces import ContactForces, Reactions
from condyle.control.goals.metabolic import Metabolic
from condyle.control.goals.one_line import Duration, Final, Initial, Integral, MeanSpeed, Path, Periodic
from condyle.fit.goals import _ELSEWHERE, Coordinate, Custom, Distance, Goal, Orientation, Station

__all__ = [
    "ContactForces",
    "Coordinate",
    "Custom",
    "Distance",
    "Duration",
    "Effort",
    "Final",
    "Follow",
    "Goal",
    "Initial",
    "Integral",
    "MeanSpeed",
    "Metabolic",
    "MovementGoal",
    "Orientation",
    "Path",
    "Periodic",
    "Reactions",
    "Smoothness",
    "Station",
]


def __getattr__(name: str) -> object:
    raise missing("cd.goals", name, __all__, _ELSEWHERE)
