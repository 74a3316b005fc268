"""The muscle of Delp 1990, as OpenSim has it: Delp1990Muscle. A mass between fiber and tendon gives the
fiber a velocity of its own, so that f_V needs no inverse:

    vdot_n = (f_T cos - (a f_L f_V + f_P) cos^2) / (mass l_0^2 v_max^2) + v_n^2 tan^2 / l_n                (1)

over l_0 v_max^2, with v_n = v_M / (v_max l_0).
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar

import casadi as ca

from condyle.laws.described import sx
from condyle.laws.view import View
from condyle.muscles.curves import Curve, Positive
from condyle.muscles.muscle import Fiber
from condyle.muscles.schutte1993 import SimmMuscle
from condyle.records import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class Delp1990(SimmMuscle):
    """The muscle of Delp 1990, with an elastic tendon and a mass: OpenSim's Delp1990Muscle, names and
    defaults as there. Its time scale is 1 / max_contraction_velocity. The fiber's velocity is a state.

    Args:
        mass: between fiber and tendon, normalized.
        activation1: of the rise of the activation, in proportion to the excitation.
        activation2: of its rise and of its fall.
        tendon_force_length_curve: over the tendon's strain: a function of one number, or a Curve.
        active_force_length_curve: over l_M / l_0.
        passive_force_length_curve: over l_M / l_0.
        force_velocity_curve: over v_M / (v_max l_0).
    """

    other_names = ("Delp1990Muscle",)

    mass: Positive = field(default=0.00287, kw_only=True)
    tendon_force_length_curve: Any = field(default=None, kw_only=True)
    active_force_length_curve: Any = field(default=None, kw_only=True)
    passive_force_length_curve: Any = field(default=None, kw_only=True)
    force_velocity_curve: Any = field(default=None, kw_only=True)

    CURVES: ClassVar[tuple[str, ...]] = (
        "tendon_force_length_curve",
        "active_force_length_curve",
        "passive_force_length_curve",
        "force_velocity_curve",
    )

    @cached_property
    def force_velocity(self) -> Curve:  # type: ignore[override]
        return self.force_velocity_curve  # type: ignore[no-any-return]

    @property
    def states(self) -> tuple[tuple[str, float], ...]:  # type: ignore[override]
        *own, length = super().states
        return (*own, ("fiber_velocity", 0.0), length)

    def tendon_state(self, s: View) -> ca.SX:
        return s.state_variable(len(self.states) - 1)

    def fiber_velocity(self, s: View) -> ca.SX:
        """v_M [m/s]."""
        return s.state_variable(len(self.states) - 2)

    def elastic_fiber(self, s: View) -> Fiber:
        l_M = ca.fmax(self.tendon_state(s), self._least)
        cos = ca.sqrt(l_M**2 - self._height**2) / l_M
        v_n = self.fiber_velocity(s) / self._fastest
        moves = ca.logic_or(self.tendon_state(s) > self._least, v_n > 0)
        v_n = ca.if_else(moves, v_n, 0)
        return self._fiber(s, l_M, cos, v_n, self.f_V(v_n, self.activation(s)), moves)

    def rates(self, s: View) -> list[ca.SX]:
        *own, _ = super().rates(s)
        fiber = self.elastic_fiber(s)
        l_0, v_max = sx(self.optimal_fiber_length), sx(self.max_contraction_velocity)
        force = self.activation(s) * fiber.f_L * fiber.f_V + fiber.f_P
        pull = self.tendon_force_n(s) * fiber.cos - force * fiber.cos**2
        tan2 = 1 / fiber.cos**2 - 1
        vdot = pull / (sx(self.mass) * self._fastest**2) + fiber.v_n**2 * tan2 / fiber.l_n  # (1)
        return [*own, self.known(s, vdot * l_0 * v_max**2), self.known(s, fiber.v_M)]
