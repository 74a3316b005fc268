"""A target distance between two points of bodies.

The goal pulls along the line between its points: with e the direction from a to b, J = e' (J_b - J_a), zero
where they coincide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from condyle.arrays import SX, Array
from condyle.dynamics.kinematics import frame_jacobian
from condyle.errors import DescriptionError, ShapeError
from condyle.fit.configurations import Configurations
from condyle.fit.goals.base import Goal, point
from condyle.laws.described import body_name, known_body
from condyle.records import dataclass
from condyle.tree.body import Body
from condyle.tree.tree import Tree

if TYPE_CHECKING:
    from condyle.dynamics.view import TreeView


@dataclass(frozen=True, eq=False, repr=False)
class Distance(Goal):
    """Two points of bodies should have a given distance.

    Args:
        a: a body or its name.
        p_a: a point in its frame [m], shape (3,).
        b: another body or its name.
        p_b: a point in its frame [m], shape (3,).
        distance: [m], zero or more, one or shape (T,). Where the points coincide there is no gradient, and
            the goal has no effect.

    Raises:
        CondyleError: invalid values.
    """

    unit: ClassVar[str] = "m"
    about: ClassVar[str] = "distance"
    data: ClassVar[tuple[str, ...]] = ("p_a", "p_b")
    a: Body | str
    p_a: ArrayLike
    b: Body | str
    p_b: ArrayLike
    distance: ArrayLike

    def __post_init__(self) -> None:
        for f in ("a", "b"):
            self._set(**{f: body_name(getattr(self, f), f"Distance: {f}")})
        self._set(name=self.name or f"{self.a} to {self.b}")
        for f in ("p_a", "p_b"):
            self._set(**{f: point(getattr(self, f), f"goal {self.name!r}: {f}")})
        super().__post_init__()
        if (self.target < 0).any():
            raise ShapeError(
                f"goal {self.name!r}: distance must be zero or more, got {np.nanmin(self.target):g}"
            )

    def check(self, tree: Tree) -> None:
        a, b = (known_body(tree, str(body), f"goal {self.name!r}") for body in (self.a, self.b))
        if a is b:
            raise DescriptionError(
                f"goal {self.name!r}: both points are on {self.a!r}; their distance never changes"
            )

    @property
    def points(self) -> dict[str, Array]:
        return {"p_a": np.asarray(self.p_a), "p_b": np.asarray(self.p_b)}

    @property
    def constants(self) -> Array:
        return np.concatenate([np.asarray(self.p_a), np.asarray(self.p_b)])

    def size(self, w: Array, x: Array) -> Array:
        return w * ((x * x).sum(axis=1) + self.constants @ self.constants)

    def linearized(self, view: TreeView, numbers: SX) -> tuple[SX, SX]:
        tree, ends, jacobians = view.tree, [], []
        for body, p in ((str(self.a), numbers[:3]), (str(self.b), numbers[3:6])):
            ends.append(view.station_position(body, p))
            B = tree.body(body).index
            if B < 0:
                jacobians.append(ca.SX(3, tree.nu))
                continue
            placed = view.kin.placed[B]
            jacobians.append(frame_jacobian(tree, view.kin, B, placed.R_MB @ p + placed.p_MB)[3:, :])
        r = ends[1] - ends[0]
        square = ca.dot(r, r)
        length = ca.sqrt(ca.if_else(square > 0, square, 1))
        e = ca.if_else(square > 0, 1 / length, 0) * r
        return ca.if_else(square > 0, length, 0) - numbers[6], e.T @ (jacobians[1] - jacobians[0])

    def errors(self, at: Configurations, targets: Array) -> Array:
        a, b = (
            at.station_position(str(body), np.asarray(p))
            for body, p in ((self.a, self.p_a), (self.b, self.p_b))
        )
        return np.abs(np.linalg.norm(b - a, axis=-1) - targets)
