"""Uniform gravity: docs/theory/forces.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Annotated, Any

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array
from condyle.errors import DescriptionError
from condyle.forces.base import Law
from condyle.laws.described import body_name, known_body, quantity, sx
from condyle.laws.view import Loads, View
from condyle.plausible import of_gravity
from condyle.records import assign, dataclass
from condyle.trace import Number, Numbers
from condyle.trace.parameter import Expression, numbers_at
from condyle.tree.body import Body
from condyle.tree.tree import Tree

SHARE = quantity("-", lowest=0.0)
ACCELERATION = quantity("m/s^2", 3)


@dataclass(frozen=True, eq=False, repr=False)
class Gravity(Law):
    """Uniform gravity. Every system has one, named "gravity".

    The recursions treat it as an upward acceleration of ground, at no cost; for excluded bodies their weight
    is added back.

    Args:
        acceleration: in ground [m/s^2], shape (3,).
        excluded: bodies without gravity, or their names; or a mapping from them to the share of their weight
            that is removed, 1 for all of it. A share may be a cd.Parameter or cd.Discrete.
        zero_height: height, against the acceleration, at which the potential energy is zero [m].
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    acceleration: Numbers | Mapping[str, Number]
    excluded: Any = ()
    zero_height: Annotated[Number, quantity("m")] = field(default=0.0, kw_only=True)
    shares: tuple[Any, ...] = field(init=False, repr=False)
    group: str = field(default="gravity", kw_only=True)

    def __post_init__(self) -> None:
        assign(self, acceleration=ACCELERATION.take(self.acceleration, "gravity"))
        given = (self.excluded,) if isinstance(self.excluded, (str, Body)) else self.excluded
        if not isinstance(given, Iterable):
            raise DescriptionError(
                "Gravity: excluded: expected bodies, their names, or a mapping from them "
                f"to shares, got {given!r}"
            )
        taken = (
            given if isinstance(given, Mapping) else {body_name(b, "Gravity: excluded"): 1.0 for b in given}
        )
        shares = {
            body_name(b, "Gravity: excluded"): SHARE.take(x, f"Gravity: excluded: {b}")
            for b, x in taken.items()
        }
        assign(self, excluded=tuple(shares), shares=tuple(shares.values()))
        super().__post_init__()

    @property
    def g(self) -> SX:
        return sx(self.acceleration)

    def __repr__(self) -> str:
        if all(share == 1.0 for share in self.shares):
            return super().__repr__()
        shares = dict(zip(self.excluded, self.shares, strict=True))
        return f"Gravity(acceleration={self.acceleration!r}, excluded={shares!r})"

    def taken(self) -> dict[str, SX]:
        """The share of its weight that each excluded body gets back."""
        return {name: sx(share) for name, share in zip(self.excluded, self.shares, strict=True)}

    def check(self, tree: Tree) -> None:
        for name in self.excluded:
            if known_body(tree, name, "Gravity: excluded").is_ground:
                raise DescriptionError("Gravity: excluded: ground has no weight; name bodies that move")

    def check_parameters(self, values: Mapping[str, float]) -> None:
        super().check_parameters(values)
        for name, share in zip(self.excluded, self.shares, strict=True):
            if isinstance(share, Expression):
                SHARE.check(
                    SHARE.shaped(share.at(values)),
                    f"Gravity: excluded: {name}",
                    share.at(values).ravel().tolist(),
                )

    def implausible(self) -> Iterable[str]:
        g: Any = self.acceleration
        return of_gravity(np.ravel(g.at() if isinstance(g, Expression) else g))

    def conditions(self) -> SX:
        shares = [c for x in self.shares if isinstance(x, Expression) for c in SHARE.conditions(x.sx)]
        return ca.vertcat(super().conditions(), *shares)

    def apply(self, s: View, loads: Loads) -> None:
        """Add back the removed weights; weights are in the recursions."""
        for name, share in self.taken().items():
            mass, com = s.mass_center(name)
            loads.add_force(name, com, -share * mass * self.g)

    def potential(self, s: View) -> SX | None:
        """Correction of -sum m g . p, the potential of all weights about ground's origin."""
        taken = self.taken()
        if not taken and self.zero_height == 0.0:
            return None
        V = ca.SX(0)
        for name, share in taken.items():
            mass, com = s.mass_center(name)
            V += share * mass * ca.dot(self.g, s.station_position(name, com))
        if self.zero_height == 0.0:
            return V
        masses = (s.mass_center(b.name)[0] * (1 - taken.get(b.name, 0)) for b in s.tree.bodies)
        return V - sum(masses, ca.SX(0)) * ca.norm_2(self.g) * sx(self.zero_height)


def free_fall(forces: Mapping[str, Any]) -> Array:
    """The acceleration of free fall [m/s^2], shape (3,), of a system's forces by name; zero without gravity,
    Parameters at their defaults."""
    given = getattr(forces.get("gravity"), "acceleration", (0.0, 0.0, 0.0))
    return np.asarray(numbers_at(given), dtype=float).reshape(3)
