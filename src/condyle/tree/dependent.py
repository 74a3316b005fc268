"""What depends on Parameters in a tree, and must be checked when these are set."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from condyle.mobilizers import Mobilizer, motion_symbols
from condyle.tree.body import Body

if TYPE_CHECKING:
    from condyle.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class Dependent:
    """Mobilizers and bodies with Parameters in their numbers.

    Attributes:
        masses: parameters -> mass, com (3,), inertia (3, 3) of each of the bodies, one after another.
    """

    mobilizers: tuple[Mobilizer, ...]
    bodies: tuple[Body, ...]
    masses: ca.Function

    @staticmethod
    def of(tree: Tree) -> Dependent:
        mobilizers = {b.mobilizer for b in tree.bodies if motion_symbols(b.mobilizer).numel()}
        bodies = tuple(b for b in tree.bodies if {"mass", "com", "inertia"} & b.symbolic.keys())
        numbers = [ca.densify(ca.vec(x)) for b in bodies for x in b.mass_expressions()]
        masses = ca.Function("masses", [tree.parameters.symbols], [ca.vertcat(ca.SX(0, 1), *numbers)])
        return Dependent(tuple(mobilizers), bodies, masses)

    def doubtful(self, rows: np.ndarray) -> Iterator[tuple[int, Body]]:
        """Rows of parameters (m, n) and bodies that are not clearly real bodies there; these need a closer look."""
        if not self.bodies:
            return
        at = self.masses(rows[0]) if len(rows) == 1 else self.masses.map(len(rows))(rows.T)
        numbers = at.full().T.reshape(len(rows), len(self.bodies), 13)
        for r, b in np.argwhere(~_plausible(numbers[..., 0], numbers[..., 4:].reshape(len(rows), len(self.bodies), 3, 3))):
            yield int(r), self.bodies[b]


def _plausible(mass: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Where mass (...) and inertia (..., 3, 3) are clearly those of a real body."""
    finite = np.isfinite(mass) & np.isfinite(inertia).all((-1, -2))
    moments = np.linalg.eigvalsh(np.where(finite[..., None, None], inertia, 0.0))
    symmetric = np.abs(inertia - np.swapaxes(inertia, -1, -2)).max((-1, -2)) == 0
    return finite & symmetric & (mass > 0) & (moments[..., 0] >= 0) & (moments[..., 2] <= moments[..., 0] + moments[..., 1])
