"""Ligaments: docs/theory/forces.md (33)-(36), (43).

Blankevoort and Huiskes (1991), Ligament-bone interaction in a three-dimensional model of the knee, Journal of
Biomechanical Engineering 113, 263-269; the damping is that of OpenSim's Blankevoort1991Ligament.
"""

from __future__ import annotations

from typing import Annotated, Any

import casadi as ca

from condyle.forces.path import PathLaw
from condyle.functions import SimmSpline
from condyle.laws.described import function_of, quantity, sx
from condyle.laws.view import View
from condyle.records import dataclass
from condyle.trace import Number

FADE = 0.01
"""Strain up to which the damping fades in."""


@dataclass(frozen=True, eq=False, repr=False)
class Blankevoort1991Ligament(PathLaw):
    """A ligament: slack, then quadratic up to the transition strain, then linear; damped while it lengthens.

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

    def _strain(self, s: View) -> tuple[ca.SX, ca.SX]:
        """eps and x of (33)."""
        eps = ca.fmax(self.path.length.at(s) / sx(self.slack_length) - 1, 0)
        return eps, ca.fmin(eps, sx(self.transition_strain))  # (33)

    def tension(self, s: View) -> ca.SX:
        eps, x = self._strain(s)
        T = sx(self.linear_stiffness) * (x * x / (2 * sx(self.transition_strain)) + eps - x)
        if isinstance(self.damping_coefficient, float) and self.damping_coefficient == 0:
            return T
        y = ca.fmin(eps / FADE, 1)
        h = y**3 * (10 - 15 * y + 6 * y * y)  # (35)
        rate = self.path.length.rate(s) / sx(self.slack_length)
        return T + sx(self.damping_coefficient) * h * ca.fmax(rate, 0)  # (34)

    def potential(self, s: View) -> ca.SX:
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
    force_length_curve: Annotated[Any, function_of("length")] = TOE

    def tension(self, s: View) -> ca.SX:
        x = self.path.length.at(s) / sx(self.resting_length)
        return ca.if_else(x > 1, sx(self.pcsa_force) * self.force_length_curve.at(x), 0)  # (43)
