"""Uniform gravity."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError
from condyle.forces.base import Force, Loads, View, number, sx
from condyle.tree.parameter import Expression
from condyle.tree.tree import Tree


@dataclass(frozen=True)
class Gravity(Force):
    """The same acceleration of free fall everywhere. Every system has one, named "gravity".

    The recursions take it as an upward acceleration of ground, which costs nothing; bodies left out get their weight back.

    Args:
        acceleration: in ground [m/s^2], shape (3,).
        excluded: names of bodies that it leaves alone.
    """

    acceleration: Any
    excluded: Sequence[str] = ()

    group = "gravity"

    def __post_init__(self) -> None:
        kept = number(self.acceleration, "gravity")
        try:
            g = np.array(kept.at()[:, 0] if isinstance(kept, Expression) else kept, dtype=float)
        except (TypeError, ValueError):
            g = np.empty(0)
        if g.shape != (3,) or not np.isfinite(g).all():
            raise DescriptionError(f"gravity must be three finite numbers [m/s^2], got {self.acceleration!r}")
        object.__setattr__(self, "acceleration", kept if isinstance(kept, Expression) else tuple(g.tolist()))
        names = (self.excluded,) if isinstance(self.excluded, str) else tuple(self.excluded)
        object.__setattr__(self, "excluded", names)

    @property
    def g(self) -> ca.SX:
        return sx(self.acceleration)

    def check(self, tree: Tree) -> None:
        for name in self.excluded:
            tree.body(name)

    def apply(self, s: View, loads: Loads) -> None:
        for name in self.excluded:
            mass, com = s.mass_centre(name)
            loads.add_force(name, com, -mass * self.g)
