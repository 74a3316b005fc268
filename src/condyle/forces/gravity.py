"""Uniform gravity."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError
from condyle.forces.base import Force
from condyle.laws.described import number, sx
from condyle.laws.view import Loads, View
from condyle.trace.parameter import Expression
from condyle.tree.body import Body
from condyle.tree.tree import Tree


@dataclass(frozen=True)
class Gravity(Force):
    """The same acceleration of free fall everywhere. Every system has one, named "gravity".

    The recursions take it as an upward acceleration of ground, which costs nothing; bodies left out get their weight back.

    Args:
        acceleration: in ground [m/s^2], shape (3,).
        excluded: bodies that it leaves alone, or their names.
    """

    acceleration: Any
    excluded: Any = ()

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
        given = (self.excluded,) if isinstance(self.excluded, (str, Body)) else tuple(self.excluded)
        names = dict.fromkeys(b.name if isinstance(b, Body) else b for b in given)
        object.__setattr__(self, "excluded", tuple(names))

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
