"""Goals of `cd.assemble` as goals of movements: their cost, integrated over time."""

from __future__ import annotations

import numpy as np

from condyle.arrays import SX, Array
from condyle.control.dynamics import Dynamics
from condyle.control.goals.base import MovementGoal, MovementPoints
from condyle.control.point import MovementPoint
from condyle.errors import DescriptionError
from condyle.fit.cost import GoalCost
from condyle.fit.goals import Goal
from condyle.records import assign, dataclass


@dataclass(frozen=True, eq=False)
class Placed(MovementGoal):
    """A goal of `cd.assemble`, 1/2 weight |error|^2, integrated over time.

    Args:
        goal: the goal; targets of T frames are spread evenly over the movement, and interpolated linearly.
    """

    goal: Goal

    def __post_init__(self) -> None:
        assign(self, name=self.name or self.goal.name)
        super().__post_init__()

    def check(self, dynamics: Dynamics) -> None:
        self.goal.check(dynamics.tree)

    def code(self, dynamics: Dynamics) -> str:
        return f"Placed {self.goal.code(dynamics.tree)}"

    def data(self, frames: MovementPoints) -> Array:
        count = self.goal.frames or 1
        rows = type(self.goal).numbers([self.goal], count)[0]
        if count == 1:
            return np.tile(rows[:1], (len(frames), 1))
        if self.goal.unit == "rad" and self.goal.shape == (3, 3):
            raise DescriptionError(
                f"goal {self.name!r}: rotations of several frames are not interpolated; use cd.goals.Follow"
            )
        own = np.linspace(0.0, 1.0, count)
        return np.column_stack([np.interp(frames.fraction, own, column) for column in rows.T])

    def integrand(self, p: MovementPoint) -> SX:
        cost = GoalCost(p.symbols, p.kinematics)
        self.goal.add(cost, p.data)
        return cost.value
