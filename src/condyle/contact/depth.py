"""Contact quantities for laws, events, goals, measures and constraints: `s.ask(cd.contact.Depth(a,
b))`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import casadi as ca

from condyle.arguments import ExplainsCalls
from condyle.arrays import SX
from condyle.contact.closest_points import check_pair, touch
from condyle.contact.elastic_foundation import check_foundation, deepest
from condyle.contact.hunt_crossley import ContactLaw
from condyle.contact.surfaces import ContactSurface, GivenPose, Touch
from condyle.errors import DescriptionError
from condyle.laws.leaves import Composed, Leaf, Rotation, StationPosition
from condyle.laws.view import View
from condyle.records import dataclass
from condyle.trace.parameter import Parameter
from condyle.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class SurfacePair(Composed):
    """A quantity of the closest points of two surfaces; a subclass defines it.

    Attributes:
        quantity: its name.
    """

    quantity: ClassVar[str]

    a: ContactSurface
    b: ContactSurface

    @property
    def label(self) -> str:
        a, b = (f"{type(x).__name__} on {x.body!r}" for x in (self.a, self.b))
        return f"{self.quantity} of {b} in {a}"

    @property
    def text(self) -> str:
        return f"{self.quantity} {self.a.description()} {self.b.description()}"

    @property
    def parts(self) -> Sequence[Leaf]:
        return [leaf for x in (self.a, self.b) for leaf in (Rotation(x.body), StationPosition(x.body))]

    def parameters(self) -> list[Parameter]:
        return [*super().parameters(), *self.a.parameters(), *self.b.parameters()]

    def closest(self, R_a: SX, p_a: SX, R_b: SX, p_b: SX) -> Touch:
        """Closest points, from the parts of poses."""
        find = deepest if self.a.by_points or self.b.by_points else touch
        return find(self.a, GivenPose(R_a, p_a), self.b, GivenPose(R_b, p_b))


@dataclass(frozen=True, eq=False)
class Depth(ExplainsCalls, SurfacePair):
    """Depth by which two surfaces overlap [m]; negative if they are apart. A force on it pushes both bodies
    along the normal.

    Args:
        a: one surface.
        b: the other, on another body.
    """

    quantity = "depth"

    def __post_init__(self) -> None:
        meshes = any(getattr(surface, "by_points", False) for surface in (self.a, self.b))
        (check_foundation if meshes else check_pair)(self.a, self.b, "Depth")

    def expression(self, *y: SX) -> SX:
        return self.closest(*y).x


@dataclass(frozen=True, eq=False)
class Loss(ExplainsCalls, Leaf):
    """Power that a contact loses by dissipation and friction [W], at least 0, and 0 while it is disabled; its
    integral over a run, by `cd.measures.Integral`, is the energy lost.

    Args:
        law: the contact that was added: `system.force("heel")`.
    """

    law: ContactLaw

    level = "velocity"

    def __post_init__(self) -> None:
        if not isinstance(self.law, ContactLaw):
            raise DescriptionError(
                f"Loss: expected a contact such as cd.contact.HuntCrossley(a, b), got {self.law!r}"
            )

    @property
    def label(self) -> str:
        a, b = self.law.surfaces()
        return f"loss of contact between {a.body!r} and {b.body!r}"

    @property
    def text(self) -> str:
        return f"loss {self.law.description()}"

    def parameters(self) -> list[Parameter]:
        return list(self.law.parameters())

    def check(self, tree: Tree, where: str) -> None:
        self.law.check(tree)

    def value(self, s: View) -> SX:
        on = getattr(s, "enabled_contacts", {}).get(self.law.description(), 1)
        return ca.if_else(on, self.law.forces(s).lost, 0)
