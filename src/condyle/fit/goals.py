"""Goals of `cd.assemble`: what a configuration should come near to, as weighted squares.

    cost = 1/2 sum over goals  weight |error|^2          error in m, rad or the coordinate's own unit               (1)

Targets are those of one frame, or have a leading dimension of T frames. A NaN in a target means that nothing was measured: the
goal has no weight in that frame.
"""
from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from condyle.arguments import missing, spoken
from condyle.arrays import gaps, real
from condyle.constraints.user import Holonomic
from condyle.errors import DescriptionError, ShapeError
from condyle.laws.names import body_name, known_body, name, owner
from condyle.presentation import brief
from condyle.tree.tree import Tree

__all__ = ["Coordinate", "Custom", "Distance", "Goal", "Orientation", "Station"]

UNIT_TOLERANCE = 1e-4
"""A rotation target that is not orthogonal to this is refused: files hold some five digits."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Goal:
    """What all goals share.

    Args:
        weight: zero or more, for all frames or one per frame, shape (T,).
        name: of the residual in results; by default made from what the goal is about.
    """

    unit: ClassVar[str] = "m"
    shape: ClassVar[tuple[int, ...]] = ()
    about: ClassVar[str] = ""
    weight: Any = 1.0
    name: str = ""

    def __repr__(self) -> str:
        """Values that are short; of targets in many frames their shape."""
        names = [f.name for f in fields(self) if f.name not in ("weight", "name")]
        texts = [f"{n}={brief(getattr(self, n))}" for n in (*names, "name", *["weight"] * bool((self.weight != 1).any()))]
        return f"{type(self).__name__}({', '.join(texts)})"

    def _keep(self) -> None:
        """Check the target and the weight."""
        what, shape, target = f"goal {self.name!r}", self.shape, self.about
        value = _numbers(getattr(self, target), f"{what}: {target}")
        if (shape and value.shape[-len(shape):] != shape) or value.ndim - len(shape) not in (0, 1):
            numbers = ", ".join(map(str, shape))
            raise ShapeError(f"{what}: {target} has shape {value.shape}; expected ({numbers}) for one frame or "
                             f"({', '.join(['T', *map(str, shape)])}) for T frames")
        if value.ndim > len(shape) and not len(value):
            raise ShapeError(f"{what}: {target} has no frames, shape {value.shape}")
        if np.isinf(value).any():
            raise ShapeError(f"{what}: {target} has infinite numbers; NaN marks what was not measured")
        weight = _numbers(self.weight, f"{what}: weight")
        if weight.ndim > 1 or not (np.isfinite(weight) & (weight >= 0)).all():
            raise ShapeError(f"{what}: weight must be zero or more, one number or one per frame, got {self.weight!r}")
        for attribute, array in ((target, value), ("weight", weight)):
            array.flags.writeable = False
            object.__setattr__(self, attribute, array)

    @property
    def target(self) -> np.ndarray:
        """Of one frame or all."""
        return getattr(self, self.about)

    @property
    def frames(self) -> int | None:
        """T, or None for a goal that is the same in all frames."""
        counts = {len(x) for x, n in ((self.target, len(self.shape)), (self.weight, 0)) if x.ndim > n}
        if len(counts) > 1:
            raise ShapeError(f"goal {self.name!r}: target and weight have different numbers of frames: {sorted(counts)}")
        return counts.pop() if counts else None

    def frame(self, i: int) -> Goal:
        """The goal of one frame."""
        target = self.target[i] if self.target.ndim > len(self.shape) else self.target
        weight = self.weight[i] if self.weight.ndim else self.weight
        return replace(self, **{self.about: target, "weight": weight})

    def check(self, tree: Tree) -> None:
        """Refuse what the system does not have."""

    def weights(self, frames: int) -> np.ndarray:
        """Shape (frames,), zero where the target has a NaN."""
        missing = np.isnan(self.target).reshape(*self.target.shape[:self.target.ndim - len(self.shape)], -1).any(axis=-1)
        return np.broadcast_to(np.where(missing, 0.0, self.weight), (frames,))

    def targets(self, frames: int) -> np.ndarray:
        """Shape (frames, ...), zero where the target has a NaN."""
        return np.broadcast_to(np.nan_to_num(self.target), (frames, *self.shape))


@dataclass(frozen=True, eq=False, repr=False)
class Station(Goal):
    """A point of a body shall be at a place in ground, as a marker is.

    Args:
        body: a body or its name.   station: the point in its frame [m], shape (3,).
        position: where it shall be, in ground [m], shape (3,) or (T, 3).
    """

    shape: ClassVar[tuple[int, ...]] = (3,)
    about: ClassVar[str] = "position"
    body: Any
    station: Any
    position: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "body", body_name(self.body, "Station: body"))
        object.__setattr__(self, "name", self.name or f"{self.body} station")
        object.__setattr__(self, "station", _point(self.station, f"goal {self.name!r}: station"))
        self._keep()

    def check(self, tree: Tree) -> None:
        if known_body(tree, self.body, f"goal {self.name!r}").is_ground:
            raise DescriptionError(f"goal {self.name!r}: its body is ground, which does not move")


@dataclass(frozen=True, eq=False, repr=False)
class Orientation(Goal):
    """A body shall be turned as given. The error is the angle [rad] of the rotation between.

    Args:
        body: a body or its name.
        R: R_GB, shape (3, 3) or (T, 3, 3), orthogonal with determinant 1.
    """

    unit: ClassVar[str] = "rad"
    shape: ClassVar[tuple[int, ...]] = (3, 3)
    about: ClassVar[str] = "R"
    body: Any
    R: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "body", body_name(self.body, "Orientation: body"))
        object.__setattr__(self, "name", self.name or f"{self.body} orientation")
        self._keep()
        R = np.where(np.isnan(self.R).any(axis=(-2, -1), keepdims=True), np.eye(3), self.R)
        off = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max()
        if off > UNIT_TOLERANCE or (np.linalg.det(R) < 0).any():
            raise ShapeError(f"goal {self.name!r}: R is no rotation: R R' differs from 1 by {off:.3g}, or it is a reflection")

    def check(self, tree: Tree) -> None:
        if known_body(tree, self.body, f"goal {self.name!r}").is_ground:
            raise DescriptionError(f"goal {self.name!r}: its body is ground, which does not move")


@dataclass(frozen=True, eq=False, repr=False)
class Distance(Goal):
    """Two points of bodies shall be so far apart.

    Args:
        a, b: bodies or their names.   p_a, p_b: points in their frames [m], shape (3,).
        distance: [m], zero or more, one or shape (T,). At zero distance, where its gradient is none, the goal exerts nothing.
    """

    about: ClassVar[str] = "distance"
    a: Any
    p_a: Any
    b: Any
    p_b: Any
    distance: Any

    def __post_init__(self) -> None:
        for f in ("a", "b"):
            object.__setattr__(self, f, body_name(getattr(self, f), f"Distance: {f}"))
        object.__setattr__(self, "name", self.name or f"{self.a} to {self.b}")
        for f in ("p_a", "p_b"):
            object.__setattr__(self, f, _point(getattr(self, f), f"goal {self.name!r}: {f}"))
        self._keep()
        if (self.distance < 0).any():
            raise ShapeError(f"goal {self.name!r}: distance must be zero or more, got {self.distance.min():g}")

    def check(self, tree: Tree) -> None:
        a, b = (known_body(tree, body, f"goal {self.name!r}") for body in (self.a, self.b))
        if a is b:
            raise DescriptionError(f"goal {self.name!r}: both points are on {self.a!r}; their distance never changes")


@dataclass(frozen=True, eq=False, repr=False)
class Coordinate(Goal):
    """A coordinate shall have a value.

    Args:
        coordinate: its name.   value: in its own unit, one or shape (T,).
    """

    unit: ClassVar[str] = ""
    about: ClassVar[str] = "value"
    coordinate: str
    value: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "coordinate", name(self.coordinate, "Coordinate: coordinate"))
        object.__setattr__(self, "name", self.name or self.coordinate)
        self._keep()

    def check(self, tree: Tree) -> None:
        owner(tree, self.coordinate, f"goal {self.name!r}")


class Residuals(Holonomic):
    """The errors of a Custom goal: a law that is written as a constraint on positions is."""

    @property
    def what(self) -> str:
        return super().what.replace("Residuals(", "goals.Custom(", 1)


@dataclass(frozen=True, eq=False)
class Custom(Goal):
    """What a user writes in Python shall be zero, or as given:

        cd.goals.Custom(lambda s: s.station_position("hand", p)[1] - s.station_position("foot", p)[1])

    Args:
        function: f(s) -> a number or several, in units of the user's, of positions: s.q("knee"), s.station_position("foot", p),
            s.body_pose("foot"), s.rotation; also s.t and parameters of the system. Traced once, as laws are; its Jacobian is
            exact.
        value: what they shall be: zero by default, shape (k,) or (T, k); of one number also (T,).
    """

    unit: ClassVar[str] = ""
    about: ClassVar[str] = "value"
    function: Any
    value: Any = 0.0

    def __post_init__(self) -> None:
        law = self.function if isinstance(self.function, Residuals) else Residuals(self.function)
        object.__setattr__(self, "name", self.name or law.what.removeprefix("goals."))
        value = _numbers(self.value, f"goal {self.name!r}: value")
        if value.ndim < 2 and law.size == 1 and value.shape != (1,):
            value = value[..., None]
        elif not value.ndim:
            value = np.full(law.size, float(value))
        for attribute, given in (("function", law), ("shape", (law.size,)), ("value", value)):
            object.__setattr__(self, attribute, given)
        self._keep()

    def check(self, tree: Tree) -> None:
        self.function.check(tree)
        for p in self.function.parameters():
            if p.name not in tree.parameters.names:
                raise DescriptionError(f"goal {self.name!r}: asks for parameter {p.name!r}, which the system does not have; it "
                                       f"has {list(tree.parameters.names)}")


def _numbers(value: Any, what: str) -> np.ndarray:
    try:
        return np.array(real(what, gaps(value)))
    except (TypeError, ValueError) as error:
        raise ShapeError(str(error)) from None


def _point(value: Any, what: str) -> np.ndarray:
    point = _numbers(value, what)
    if point.shape != (3,) or not np.isfinite(point).all():
        raise ShapeError(f"{what}: expected three finite numbers [m], got {value!r}")
    point.flags.writeable = False
    return point


spoken(Coordinate, Custom, Distance, Orientation, Station)

_ELSEWHERE = {
    "Marker": "Station", "Point": "Station", "Rotation": "Orientation", "Pose": "Station and Orientation"}
"""What other libraries call it."""


def __getattr__(name: str) -> object:
    raise missing("cd.goals", name, __all__, _ELSEWHERE)
