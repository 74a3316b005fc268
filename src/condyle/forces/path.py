"""Forces along a path: springs, dampers and actuators that pull its ends together.

a tension T pulls the path shorter: the force on its length L is -T                                    (1)
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import field
from typing import Annotated, Any, ClassVar, Self

import casadi as ca

from condyle.arrays import SX
from condyle.errors import DescriptionError
from condyle.forces.base import Law
from condyle.functions import SimmSpline
from condyle.laws.described import function_of, quantity, sx
from condyle.laws.factors import BodyFactors
from condyle.laws.function import FunctionLike
from condyle.laws.smooth import at_most, positive
from condyle.laws.view import Loads, View
from condyle.paths import Path
from condyle.records import dataclass
from condyle.trace import Number
from condyle.trace.parameter import Parameter
from condyle.tree.tree import Tree

STRETCH, STRAIN = 1e-4, 1e-4
"""Widths of smooth faces [m, -]."""


@dataclass(frozen=True, eq=False, repr=False)
class PathLaw(Law):
    """A force law along a path. Write `tension`.

    Attributes:
        at_start: fields that do not enter the equations: initial auxiliary states, bounds of controls.
    """

    at_start: ClassVar[tuple[str, ...]] = ()

    path: Path

    @property
    def choices(self) -> tuple[str | bool, ...]:
        """Choices that determine the form of its equations: laws that differ in them are in different tables."""
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

    def conditions(self) -> SX:
        return ca.vertcat(super().conditions(), self.path.conditions())

    def scaled(self, factors: BodyFactors) -> Self:
        path = self.path.scaled(factors)
        law = super().scaled(factors)
        if path is self.path:
            return law
        other = copy(law)
        vars(other)["path"] = path
        return other

    def tension(self, s: View) -> SX:
        """T [N]; positive pulls."""
        raise TypeError(f"{type(self).__name__} needs a tension")

    def known(self, s: View, x: SX) -> SX:
        """x, but NaN if no length of the path was found, which comparisons and maxima in x would hide."""
        return ca.if_else(self.path.length.at(s) >= 0, x, float("nan"))

    def apply(self, s: View, loads: Loads) -> None:
        self.path.length.load(s, -self.known(s, self.tension(s)), loads)  # (1)


@dataclass(frozen=True, eq=False, repr=False)
class PathSpring(PathLaw):
    """A spring along a path that only pulls.

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

    def tension(self, s: View) -> SX:
        x = self.path.length.at(s) - sx(self.rest_length)
        factor = ca.SX(1)
        if not (isinstance(self.dissipation, float) and self.dissipation == 0):
            factor = 1 + sx(self.dissipation) * self.path.length.rate(s)
        if s.smooth:  # off by k STRETCH / 2 at most where it is slack, by 5e-4 k x where it stops to pull
            return sx(self.stiffness) * positive(x, STRETCH) * positive(factor, 1e-3)
        return ca.if_else(x > 0, ca.fmax(sx(self.stiffness) * x * factor, 0), 0)  # (2)

    def potential(self, s: View) -> SX:
        x = ca.fmax(self.path.length.at(s) - sx(self.rest_length), 0)
        return self.known(s, sx(self.stiffness) * x * x / 2)


# ---- ligament --------------------------------------------------------------------------------------------
#
# Ligaments: docs/theory/forces.md (33)-(36), (43).
#
# Blankevoort and Huiskes (1991), Ligament-bone interaction in a three-dimensional model of the knee, Journal of
# Biomechanical Engineering 113, 263-269; the damping is that of OpenSim's Blankevoort1991Ligament.


FADE = 0.01
"""Strain up to which the damping fades in."""


@dataclass(frozen=True, eq=False, repr=False)
class Blankevoort1991Ligament(PathLaw):
    """A ligament: slack, then quadratic up to the transition strain, then linear; damped in lengthening.

        eps = max(L / l0 - 1, 0),   x = min(eps, eps_t)                                          (33)
        T = k (x^2 / (2 eps_t) + eps - x) + c h(eps / 0.01) max(Ldot / l0, 0)                    (34)
        h(y) = y^3 (10 - 15 y + 6 y^2) from 0 to 1                                               (35)
        V = k l0 (x^3 / (6 eps_t) + eps (eps - x) / 2)                                           (36)

    Names and defaults are OpenSim's.

    Args:
        path: where it runs.
        linear_stiffness: k, force over strain where the curve is straight [N], at least 0.
        slack_length: l0 [m], above 0.
        transition_strain: eps_t, above 0.
        damping_coefficient: c, force over the rate of strain [N s], at least 0.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    proportional = ("slack_length",)

    linear_stiffness: Annotated[Number, quantity("N", lowest=0.0)]
    slack_length: Annotated[Number, quantity("m", lowest=0.0, positive=True)]
    transition_strain: Annotated[Number, quantity("-", lowest=0.0, positive=True)] = 0.06
    damping_coefficient: Annotated[Number, quantity("N s", lowest=0.0)] = 0.003

    def _strain(self, s: View) -> tuple[SX, SX]:
        """eps and x of (33)."""
        width = STRAIN * s.smooth  # T is off by k STRAIN^2 / (8 eps_t) where it is slack
        eps = positive(self.path.length.at(s) / sx(self.slack_length) - 1, width)
        return eps, at_most(eps, sx(self.transition_strain), width)  # (33)

    def tension(self, s: View) -> SX:
        eps, x = self._strain(s)
        T = sx(self.linear_stiffness) * (x * x / (2 * sx(self.transition_strain)) + eps - x)
        if isinstance(self.damping_coefficient, float) and self.damping_coefficient == 0:
            return T
        y = at_most(eps / FADE, ca.SX(1), 0.1 * s.smooth)
        h = y**3 * (10 - 15 * y + 6 * y * y)  # (35)
        rate = self.path.length.rate(s) / sx(self.slack_length)
        return T + sx(self.damping_coefficient) * h * positive(rate, 1e-3 * s.smooth)  # (34)

    def potential(self, s: View) -> SX:
        eps, x = self._strain(s)
        V = x**3 / (6 * sx(self.transition_strain)) + eps * (eps - x) / 2
        return self.known(s, sx(self.linear_stiffness) * sx(self.slack_length) * V)  # (36)


TOE = SimmSpline(
    (-5.0, 0.998, 0.999, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.601, 1.602, 5.0),
    (0.0, 0.0, 0.0, 0.0, 0.035, 0.12, 0.26, 0.55, 1.17, 2.0, 2.0, 2.0, 2.0),
)
"""OpenSim's curve of a ligament, and of the passive fiber in SIMM's muscles."""


@dataclass(frozen=True, eq=False, repr=False)
class Ligament(PathLaw):
    """A ligament whose tension is a curve over its relative length: OpenSim's Ligament.

        T = F_0 f(L / l0) where L > l0, else 0                                                   (43)

    Args:
        path: where it runs.
        resting_length: l0 [m], above 0.
        pcsa_force: F_0 [N], at least 0.
        force_length_curve: f of L / l0, one of cd.functions or a Python function; by default OpenSim's curve.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    proportional = ("resting_length",)

    resting_length: Annotated[Number, quantity("m", lowest=0.0, positive=True)]
    pcsa_force: Annotated[Number, quantity("N", lowest=0.0)]
    force_length_curve: Annotated[FunctionLike, function_of("length")] = TOE

    def tension(self, s: View) -> SX:
        x = self.path.length.at(s) / sx(self.resting_length)
        curve: Any = self.force_length_curve
        return ca.if_else(x > 1, sx(self.pcsa_force) * curve.at(x), 0)  # (43)


@dataclass(frozen=True, eq=False, repr=False)
class PathFunction(PathLaw):
    """A tension along a path that is a function of its stretch s = L - l0 and of the rate of its length (42).
    Its power is in `system.power`. OpenSim's ExpressionBasedPathForce.

    Args:
        path: where it runs.
        function: T(s, ldot) [N], of [m] and [m/s]; positive pulls.
        rest_length: l0 [m], at least 0.
        clamp_stretch: a path shorter than l0 has zero stretch.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("ExpressionBasedPathForce",)

    proportional = ("rest_length",)

    function: Annotated[FunctionLike, function_of("s", "ldot")]
    rest_length: Annotated[Number, quantity("m", lowest=0.0)] = 0.0
    clamp_stretch: bool = field(default=True, kw_only=True)

    def tension(self, s: View) -> SX:
        x = self.path.length.at(s) - sx(self.rest_length)
        function: Any = self.function
        return function.at(
            positive(x, STRETCH * s.smooth) if self.clamp_stretch else x, self.path.length.rate(s)
        )  # (42)
