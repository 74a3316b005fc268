"""What a path is described by: points of bodies, and surfaces on bodies."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError
from condyle.laws.described import BodyName, CoordinateName, Described, Frame, Station
from condyle.laws.leaf import Leaf
from condyle.laws.leaves import StationPosition
from condyle.paths.surfaces import Surface
from condyle.spatial import Transform
from condyle.trace.parameter import Parameter


@dataclass(frozen=True, eq=False, repr=False)
class Point(Described):
    """A point of a body.

    Args:
        body: the body or its name.
        p: in the body's frame [m], shape (3,).
    """

    body: BodyName
    p: Station

    @property
    def position(self) -> Leaf:
        """Where it is in ground [m]."""
        return StationPosition(self.body, self.p)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Coordinates by which it is active or not; none if it always is."""
        return ()

    @property
    def fixed(self) -> bool:
        """Whether it is always active and keeps its place on its body."""
        return True

    def active(self, q: Sequence[ca.SX]) -> ca.SX:
        """Whether the path goes through it at these coordinates."""
        return ca.SX(1)


@dataclass(frozen=True, eq=False, repr=False)
class ConditionalPoint(Point):
    """A point of a body that the path goes through while a coordinate is in a range.

    Args:
        body: the body or its name.
        p: in the body's frame [m], shape (3,).
        coordinate: its name.
        range: from, to [rad, m]; both belong to it.
    """

    coordinate: CoordinateName
    range: tuple[float, float]

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            low, high = (float(x) for x in self.range)
        except (TypeError, ValueError):
            low, high = np.nan, np.nan
        if not low <= high:
            raise DescriptionError("ConditionalPoint: range: expected two numbers, the first not above the "
                                   f"second, got {self.range!r}")
        object.__setattr__(self, "range", (low, high))

    @property
    def coordinates(self) -> tuple[str, ...]:
        return (self.coordinate,)

    @property
    def fixed(self) -> bool:
        return False

    def active(self, q: Sequence[ca.SX]) -> ca.SX:
        return ca.logic_and(q[0] >= self.range[0], q[0] <= self.range[1])


@dataclass(frozen=True, eq=False, repr=False)
class Wrap(Described):
    """A surface on a body that a path may go over.

    Args:
        surface: `cd.paths.Cylinder`, `Sphere`, `Ellipsoid`.
        body: the body or its name.
        X_BS: the surface's frame in the body's; a 3-vector is a translation.
        between: the first and last point, counted from 0, between which it may be; by default all.
        name: for messages.
    """

    surface: Surface
    body: BodyName
    X_BS: Frame = field(default_factory=Transform)
    between: tuple[int, int] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.surface, Surface):
            raise DescriptionError("Wrap: surface: expected a surface such as cd.paths.Cylinder(0.02), got "
                                   f"{self.surface!r}")

    def parameters(self) -> list[Parameter]:
        return [*super().parameters(), *self.surface.parameters()]

    def check_parameters(self, values: Mapping[str, float]) -> None:
        super().check_parameters(values)
        self.surface.check_parameters(values)

    def conditions(self) -> ca.SX:
        return ca.vertcat(super().conditions(), self.surface.conditions())
