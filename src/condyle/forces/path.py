"""Forces along a path: springs, dampers and actuators that pull its ends together.

a tension T pulls the path shorter: the force on its length L is -T                                    (1)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Self

import casadi as ca

from condyle.errors import DescriptionError
from condyle.forces.base import Law
from condyle.laws.described import quantity, sx
from condyle.laws.factors import Factors
from condyle.laws.view import Loads, View
from condyle.paths import Path
from condyle.records import dataclass
from condyle.trace import Number
from condyle.trace.parameter import Parameter
from condyle.tree.tree import Tree


@dataclass(frozen=True, eq=False, repr=False)
class PathLaw(Law):
    """A force law along a path. Write `tension`.

    Attributes:
        at_start: fields that its equations do not know: where auxiliary states begin, bounds of controls.
    """

    at_start: ClassVar[tuple[str, ...]] = ()

    path: Path

    @property
    def choices(self) -> tuple[Any, ...]:
        """What of its numbers decides on the form of its equations: laws that differ in it are in different
        tables."""
        return ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.path, Path):
            raise DescriptionError(
                f"{type(self).__name__}: path: expected a cd.paths.Path, got {self.path!r}"
            )

    def check(self, tree: Tree) -> None:
        super().check(tree)
        self.path.check(tree)

    def parameters(self) -> list[Parameter]:
        return [*super().parameters(), *self.path.parameters()]

    def check_parameters(self, values: Mapping[str, float]) -> None:
        super().check_parameters(values)
        self.path.check_parameters(values)

    def conditions(self) -> ca.SX:
        return ca.vertcat(super().conditions(), self.path.conditions())

    def scaled(self, factors: Factors) -> Self:
        path = self.path.scaled(factors)
        law = super().scaled(factors)
        return law if path is self.path else replace(law, path=path)

    def tension(self, s: View) -> ca.SX:
        """T [N]; positive pulls."""
        raise TypeError(f"{type(self).__name__} needs a tension")

    def known(self, s: View, x: ca.SX) -> ca.SX:
        """x; NaN where no length of the path was found, which comparisons and maxima in x would hide."""
        return ca.if_else(self.path.length.at(s) >= 0, x, float("nan"))

    def apply(self, s: View, loads: Loads) -> None:
        self.path.length.load(s, -self.known(s, self.tension(s)), loads)  # (1)


@dataclass(frozen=True, eq=False, repr=False)
class PathSpring(PathLaw):
    """A spring along a path, that pulls only.

        T = max(k x (1 + d xdot), 0) where x = L - l0 > 0, else 0                               (2)

    Args:
        path: where it runs.
        stiffness: k [N/m], at least 0.
        rest_length: l0 [m], at least 0.
        dissipation: d [s/m], at least 0.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("Spring",)

    proportional = ("rest_length",)

    stiffness: Annotated[Number, quantity("N/m", lowest=0.0)]
    rest_length: Annotated[Number, quantity("m", lowest=0.0)]
    dissipation: Annotated[Number, quantity("s/m", lowest=0.0)] = 0.0

    def tension(self, s: View) -> ca.SX:
        x = self.path.length.at(s) - sx(self.rest_length)
        T = sx(self.stiffness) * x
        if not (isinstance(self.dissipation, float) and self.dissipation == 0):
            T = T * (1 + sx(self.dissipation) * self.path.length.rate(s))
        return ca.if_else(x > 0, ca.fmax(T, 0), 0)  # (2)

    def potential(self, s: View) -> ca.SX:
        x = ca.fmax(self.path.length.at(s) - sx(self.rest_length), 0)
        return self.known(s, sx(self.stiffness) * x * x / 2)
