"""Bodies: place in the tree, frames, mass and coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

import casadi as ca

from condyle.arguments import ExplainsCalls
from condyle.mobilizers import Mobilizer, Weld
from condyle.records import dataclass
from condyle.spatial import MassProperties, Transform
from condyle.trace.parameter import Expression
from condyle.tree.prescribed import Driver


@dataclass(frozen=True)
class Coordinate(ExplainsCalls):
    """A name for a coordinate, with its default value and its intended range (both in the coordinate's unit).

    The range is information for users, plots and studies; it does not limit motions. By default it
    is the domain of the mobilizer, where that is finite.

    Args:
        name: unique among coordinates.
        default: its value in default states; that of the mobilizer if omitted.
        range: (low, high).
        clamped: studies that search configurations, such as inverse kinematics, respect the range.
        locked: keep its value: default states, and operators without locked=, lock its speed at position
            level. `system.state(locked=())` frees it.
        speed: default value of the corresponding speed: its own rate, where the mobilizer has u = qdot.
    """

    name: str
    default: float | None = None
    range: tuple[float, float] | None = None
    clamped: bool = False
    locked: bool = False
    speed: float = 0.0


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body and its mobilizer. Created by `System.add_body`.

    Attributes:
        index: place among the system's bodies, parents before children; -1 is ground.
        X_PF: frame F on the parent; Parameters in it have their defaults here.
        X_BM: frame M on the body; numbers or Parameters too.
        mass_properties: mass, mass center and inertia; likewise.
        q: slice of its coordinates in the system's q.
        u: slice of its speeds in the system's u.
        follows: the body whose coordinates and speeds move this one too, which then has none of its own.
        motion: prescribed motion of its coordinates, speeds or accelerations, if any.
        joint: name of its joint: the body's own, unless `add_body` gave another.
        any_inertia: whether its inertia was accepted unchecked.
        symbolic: fields that depend on Parameters: R_PF, p_PF, R_BM, p_BM, mass, com, inertia.
    """

    name: str
    index: int = -1
    parent: Body | None = None
    mobilizer: Mobilizer = field(default_factory=Weld)
    X_PF: Transform = field(default_factory=Transform)
    X_BM: Transform = field(default_factory=Transform)
    mass_properties: MassProperties = field(default_factory=MassProperties.of)
    q: slice = field(default_factory=lambda: slice(0, 0))
    u: slice = field(default_factory=lambda: slice(0, 0))
    coordinates: tuple[Coordinate, ...] = ()
    speeds: tuple[str, ...] = ()
    motion: Driver | None = None
    joint: str = ""
    any_inertia: bool = False
    follows: Body | None = None
    symbolic: dict[str, Expression] = field(default_factory=dict)

    @property
    def is_ground(self) -> bool:
        return self.index < 0

    @property
    def prescribed_speeds(self) -> tuple[int, ...]:
        """Indices in the system's u of the speeds that its motion prescribes."""
        return () if self.motion is None else tuple(self.u.start + j for j in self.motion.speeds)

    @property
    def mass(self) -> float:
        """[kg]"""
        return float(self.mass_properties.mass)

    def mass_expressions(self) -> list[ca.SX]:
        """Mass, com (3,) and inertia (3, 3) as expressions of the parameters."""
        m = self.mass_properties
        return [
            self.symbolic[name].sx if name in self.symbolic else ca.SX(ca.DM(value))
            for name, value in (("mass", m.mass), ("com", m.com), ("inertia", m.inertia))
        ]

    def mass_properties_at(self, parameters: Mapping[str, float]) -> MassProperties:
        """Checked mass properties at other values of the parameters."""
        m = self.mass_properties
        value: dict[str, Any] = {"mass": m.mass, "com": m.com, "inertia": m.inertia}
        for name in value:
            if name in self.symbolic:
                number = self.symbolic[name].at(parameters)
                value[name] = number if name == "inertia" else number[:, 0] if name == "com" else number[0, 0]
        return MassProperties.of(**value, what=f"body {self.name!r}", possible=not self.any_inertia)

    def __repr__(self) -> str:
        if self.is_ground or self.parent is None:
            return "Body('ground')"
        names = (
            f", follows {self.follows.name!r}"
            if self.follows
            else f", {', '.join(c.name for c in self.coordinates)}"
            if self.coordinates
            else ""
        )
        return f"Body({self.name!r}, {self.mobilizer!r} on {self.parent.name!r}, {self.mass:g} kg{names})"
