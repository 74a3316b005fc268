"""A target value of a coordinate: its row of the Jacobian is its row of N."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from condyle.arrays import SX, Array
from condyle.fit.configurations import Configurations
from condyle.fit.goals.base import Goal
from condyle.laws.described import name, owner
from condyle.records import dataclass
from condyle.system.system import System
from condyle.tree import scales
from condyle.tree.tree import Tree

if TYPE_CHECKING:
    from condyle.dynamics.view import TreeView


@dataclass(frozen=True, eq=False, repr=False)
class Coordinate(Goal):
    """A coordinate should have a value.

    Args:
        coordinate: its name.
        value: in its own unit, one or shape (T,).

    Raises:
        CondyleError: invalid values.
    """

    about: ClassVar[str] = "value"
    looped: ClassVar[str] = "coordinate"
    coordinate: str
    value: ArrayLike

    def __post_init__(self) -> None:
        self._set(coordinate=name(self.coordinate, "Coordinate: coordinate"))
        self._set(name=self.name or self.coordinate)
        super().__post_init__()

    def check(self, tree: Tree) -> None:
        owner(tree, self.coordinate, f"goal {self.name!r}")

    def unit_in(self, system: System) -> str:
        return scales.units(system.bodies)[0][system.coordinates.index(self.coordinate)]

    def linearized(self, view: TreeView, numbers: SX) -> tuple[SX, SX]:
        body, j = owner(view.tree, self.coordinate, f"goal {self.name!r}")
        J = ca.SX(1, view.tree.nu)
        J[0, body.u] = body.mobilizer.N(view.q[body.q])[j, :]
        return view.coordinate(self.coordinate) - numbers[0], J

    def errors(self, at: Configurations, targets: Array) -> Array:
        return np.abs(at.coordinate(self.coordinate) - targets)
