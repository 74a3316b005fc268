"""What a body is: its place in the tree, its frames, its mass and its coordinates."""
from __future__ import annotations

from dataclasses import dataclass, field

from condyle.mobilizers import Mobilizer
from condyle.spatial import MassProperties, Transform


@dataclass(frozen=True)
class Coordinate:
    """A name for a coordinate, with its default value and the range it is meant for (both in the coordinate's unit).

    The range is information for users, plots and studies; nothing stops a motion at its ends.
    """

    name: str
    default: float | None = None
    range: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body and the mobilizer that carries it. Made by `System.add_body`.

    Attributes:
        index: place among the system's bodies, parents before children; -1 is ground.
        X_PF: frame F on the parent, X_BM: frame M on this body.
        q, u: where its coordinates and speeds stand in the system's vectors.
    """

    name: str
    index: int = -1
    parent: Body | None = None
    mobilizer: Mobilizer | None = None
    X_PF: Transform | None = None
    X_BM: Transform | None = None
    mass_properties: MassProperties | None = None
    q: slice = field(default_factory=lambda: slice(0, 0))
    u: slice = field(default_factory=lambda: slice(0, 0))
    coordinates: tuple[Coordinate, ...] = ()
    speeds: tuple[str, ...] = ()

    @property
    def is_ground(self) -> bool:
        return self.index < 0

    @property
    def mass(self) -> float:
        """[kg]"""
        return 0.0 if self.mass_properties is None else float(self.mass_properties.mass)

    def __repr__(self) -> str:
        if self.is_ground or self.parent is None:
            return "Body('ground')"
        return f"Body({self.name!r}, {self.mobilizer!r} on {self.parent.name!r}, {self.mass:g} kg)"
