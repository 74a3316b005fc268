"""A target orientation of a body.

The error is phi = log(R_target R'), the remaining rotation. It adds w phi to the moments and w 1 to the
inertias of the body; the gradient w phi is exact at any angle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from condyle.arrays import Array
from condyle.errors import ShapeError
from condyle.fit.configurations import Configurations
from condyle.fit.goals.base import Goal, check_moves
from condyle.laws.described import body_name
from condyle.records import dataclass
from condyle.spatial import exponential, log_so3
from condyle.tree.body import Body
from condyle.tree.tree import Tree

if TYPE_CHECKING:
    from condyle.fit.cost import GoalCost

UNIT_TOLERANCE = 1e-4
"""Rotation targets must be orthogonal to this tolerance: files hold some five digits."""


@dataclass(frozen=True, eq=False, repr=False)
class Orientation(Goal):
    """A body should have a given orientation. The error is the angle [rad] of the remaining rotation.

    Args:
        body: a body or its name.
        R: R_GB, shape (3, 3) or (T, 3, 3), orthogonal with determinant 1.

    Raises:
        CondyleError: invalid values.
    """

    unit: ClassVar[str] = "rad"
    shape: ClassVar[tuple[int, ...]] = (3, 3)
    about: ClassVar[str] = "R"
    looped: ClassVar[str] = "pose"
    body: Body | str
    R: ArrayLike

    def __post_init__(self) -> None:
        self._set(body=body_name(self.body, "Orientation: body"))
        self._set(name=self.name or f"{self.body} orientation")
        super().__post_init__()
        R = self.targets(len(self.target) if self.target.ndim > 2 else 1)
        off = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max()
        if off > UNIT_TOLERANCE or (np.linalg.det(R) < 0).any():
            raise ShapeError(
                f"goal {self.name!r}: R is no rotation: R R' differs from 1 by {off:.3g}, or it "
                "is a reflection"
            )

    def check(self, tree: Tree) -> None:
        check_moves(tree, str(self.body), self.name)

    def targets(self, frames: int) -> Array:
        """Shape (frames, 3, 3), the identity where the target has a NaN."""
        R = self.target
        return np.broadcast_to(
            np.where(np.isnan(R).any(axis=(-2, -1), keepdims=True), np.eye(3), R), (frames, 3, 3)
        )

    def size(self, w: Array, x: Array) -> Array:
        return w

    def add(self, cost: GoalCost, block: ca.SX) -> None:
        B = cost.view.tree.body(str(self.body)).index
        R, w = ca.reshape(block[:9], 3, 3).T, block[9]
        phi = exponential.log_so3(R @ (cost.kin.R_GM[B] @ cost.kin.placed[B].R_MB).T)
        cost.add_load(B, w * phi, ca.SX(3, 1), w * ca.dot(phi, phi) / 2)
        cost.add_inertia(B, w)

    def errors(self, at: Configurations, targets: Array) -> Array:
        return np.linalg.norm(log_so3(targets @ np.swapaxes(at.rotation(str(self.body)), -1, -2)), axis=-1)
