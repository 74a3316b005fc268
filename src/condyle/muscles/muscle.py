"""Muscles: a fibre, at a pennation angle, in series with a tendon along a path (ruggiero2020 section 2.4).

    h = l_0 sin(alpha_0) stays:    cos(alpha) = sqrt(1 - (h / l_M)^2),    l_MT = l_T + l_M cos(alpha)      (1)
    d(l_M cos(alpha))/dt = v_M / cos(alpha)                                                                (2)
    v_n = v_M / (v_max l_0)
    F = F_0 (a f_L(l_M / l_0) f_V(v_n) + f_P(l_M / l_0) + beta v_n)                         ruggiero2020 (20)
    the tendon's force is T = F cos(alpha) = F_0 f_T(l_T / l_S)                                            (3)

A fibre does not get shorter than l_min, where its pennation angle is that of cos(alpha) = 0.1, nor than l_0 /
100. There a rigid tendon is slack, T = 0, and an elastic one may only lengthen the fibre: OpenSim's rules.
With a rigid tendon l_T = l_S and (1), (2) give l_M and v_M (ruggiero2020 (21)). With an elastic one the
fibre's length, or the tendon's force, is a state whose rate (3) gives. Normalised quantities end in _n.
"""
from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

import casadi as ca

from condyle.errors import DescriptionError
from condyle.forces.path import PathLaw
from condyle.laws.described import quantity, sx
from condyle.laws.view import View
from condyle.muscles.activation import first_order
from condyle.muscles.curves import Curve, ThelenForceVelocity
from condyle.trace.parameter import Expression, Input

Positive = Annotated[Any, quantity("-", lowest=0.0, positive=True)]
STEEPEST, SHORTEST = 0.1, 0.01
"""cos(alpha) of the shortest fibre; and its length over l_0, where there is no pennation."""


@dataclass(frozen=True, eq=False)
class Fibre:
    """A fibre's state over SX: lengths and velocities [m, m/s], without units where they end in _n."""

    l_M: ca.SX
    cos: ca.SX
    v_n: ca.SX
    l_n: ca.SX


@dataclass(frozen=True, eq=False, repr=False)
class Muscle(PathLaw):
    """A muscle. Its subclasses are named by the papers of their curves.

    Args:
        path: where it runs.
        max_isometric_force: F_0 [N].
        optimal_fiber_length: l_0 [m].
        tendon_slack_length: l_S [m].
        pennation_angle: alpha_0, at the optimal length [rad].
        max_contraction_velocity: v_max [1/s], in optimal lengths.
        activation_time_constant: of the rise [s].
        deactivation_time_constant: of the fall [s].
        minimum_activation: the least activation.
        default_activation: at the start.
        fiber_damping: beta.
        tendon: "elastic" or "rigid".
        activation_dynamics: without them the excitation is the activation.
        excitation: from 0 to 1; by default an Input with the muscle's name.
    """

    max_isometric_force: Annotated[Any, quantity("N", lowest=0.0, positive=True)]
    optimal_fiber_length: Annotated[Any, quantity("m", lowest=0.0, positive=True)]
    tendon_slack_length: Annotated[Any, quantity("m", lowest=0.0, positive=True)]
    pennation_angle: Annotated[Any, quantity("rad", lowest=0.0)] = 0.0
    max_contraction_velocity: Annotated[Any, quantity("1/s", lowest=0.0, positive=True)] = 10.0
    activation_time_constant: Positive = field(default=0.015, kw_only=True)
    deactivation_time_constant: Positive = field(default=0.05, kw_only=True)
    minimum_activation: Annotated[Any, quantity("-", lowest=0.0)] = field(default=0.01, kw_only=True)
    default_activation: float = field(default=0.05, kw_only=True)
    fiber_damping: Annotated[Any, quantity("-", lowest=0.0)] = field(default=0.0, kw_only=True)
    tendon: str = field(default="elastic", kw_only=True)
    activation_dynamics: bool = field(default=True, kw_only=True)
    excitation: Annotated[Any, quantity("-")] = field(default=0.0, kw_only=True)
    group: str = field(default="muscle", kw_only=True)

    TENDONS: ClassVar[tuple[str, ...]] = ("elastic", "rigid")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tendon not in self.TENDONS:
            raise DescriptionError(f"{type(self).__name__}: tendon must be one of {', '.join(self.TENDONS)}, "
                                   "got "
                                   f"{self.tendon!r}")

        if isinstance(self.pennation_angle, float) and not self.pennation_angle < math.acos(STEEPEST):
            raise DescriptionError(f"{type(self).__name__}: pennation_angle must be below "
                                   f"{math.acos(STEEPEST):.3f} rad, got "
                                   f"{self.pennation_angle!r}; is it in degrees?")

    def named(self, name: str) -> Muscle:
        """With an Input of this name as its excitation, if it has none."""
        if isinstance(self.excitation, float) and self.excitation == 0.0:
            return replace(self, excitation=Input(name, 0.0))
        return self

    # ---- curves: a subclass gives them ---------------------------------------------------------------------

    active_force_length: ClassVar[Curve]
    passive_force_length: ClassVar[Curve]
    tendon_force_length: ClassVar[Curve]
    force_velocity: ClassVar[Curve]

    def f_V(self, v_n: ca.SX, a: ca.SX) -> ca.SX:
        """Force over velocity at an activation."""
        curve = self.force_velocity
        return curve.at(v_n, a) if isinstance(curve, ThelenForceVelocity) else curve.value(v_n)

    def v_of(self, f: ca.SX, a: ca.SX) -> ca.SX:
        """Its inverse."""
        curve = self.force_velocity
        return curve.inverse_at(f, a) if isinstance(curve, ThelenForceVelocity) else curve.inverse(f)

    # ---- states --------------------------------------------------------------------------------------------

    @property
    def states(self) -> tuple[tuple[str, float], ...]:  # type: ignore[override]
        own = (("activation", self.default_activation),) if self.activation_dynamics else ()
        return own + self.tendon_states

    @property
    def tendon_states(self) -> tuple[tuple[str, float], ...]:
        """The state of an elastic tendon."""
        if self.tendon == "rigid":
            return ()
        l_0 = self.optimal_fiber_length
        return (("fiber_length", float(l_0.at().item() if isinstance(l_0, Expression) else l_0)),)

    def activation(self, s: View) -> ca.SX:
        """a, at least the minimum."""
        a = s.state_variable(0) if self.activation_dynamics else sx(self.excitation)
        return ca.fmax(a, sx(self.minimum_activation))

    def tendon_state(self, s: View) -> ca.SX:
        return s.state_variable(1 if self.activation_dynamics else 0)

    def rates(self, s: View) -> list[ca.SX]:
        own = [self.activation_rate(s)] if self.activation_dynamics else []
        return own + ([] if self.tendon == "rigid" else [self.tendon_rate(s)])

    def activation_rate(self, s: View) -> ca.SX:
        return first_order(s.state_variable(0), sx(self.excitation), sx(self.activation_time_constant),
                           sx(self.deactivation_time_constant), sx(self.minimum_activation))

    # ---- mechanics -----------------------------------------------------------------------------------------

    @property
    def _height(self) -> ca.SX:
        """h of (1)."""
        return sx(self.optimal_fiber_length) * ca.sin(sx(self.pennation_angle))

    @property
    def _least(self) -> ca.SX:
        """l_min."""
        return ca.fmax(self._height / ca.sqrt(1 - STEEPEST**2), SHORTEST * sx(self.optimal_fiber_length))

    def _along(self, s: View) -> tuple[ca.SX, ca.SX]:
        """l_M cos(alpha) with a rigid tendon, not below that of the shortest fibre; and whether it is
        above."""
        along = self.path.length.at(s) - sx(self.tendon_slack_length)
        least = ca.sqrt(self._least**2 - self._height**2)
        return ca.fmax(along, least), along > least

    def rigid_fibre(self, s: View) -> Fibre:
        """With l_T = l_S."""
        along, _ = self._along(s)
        l_M = ca.sqrt(self._height**2 + along**2)
        cos = along / l_M
        v_n = self.path.length.rate(s) * cos / (sx(self.max_contraction_velocity)
                                                * sx(self.optimal_fiber_length))
        return Fibre(l_M, cos, v_n, l_M / sx(self.optimal_fiber_length))

    def fibre_force_n(self, fibre: Fibre, a: ca.SX) -> ca.SX:
        """F / F_0 of ruggiero2020 (20)."""
        active = a * self.active_force_length.value(fibre.l_n) * self.f_V(fibre.v_n, a)
        return active + self.passive_force_length.value(fibre.l_n) + sx(self.fiber_damping) * fibre.v_n

    def tension(self, s: View) -> ca.SX:
        if self.tendon == "rigid":
            fibre = self.rigid_fibre(s)
            T = sx(self.max_isometric_force) * self.fibre_force_n(fibre, self.activation(s)) * fibre.cos
            # faster than v_max too, it does not push
            return ca.if_else(self._along(s)[1], ca.fmax(T, 0), 0)
        return sx(self.max_isometric_force) * self.tendon_force_n(s)

    def tendon_force_n(self, s: View) -> ca.SX:
        """f_T of (3) from the fibre's length."""
        _, _, l_T_n = self._elastic(s)
        return self.tendon_force_length.value(l_T_n)

    def _elastic(self, s: View) -> tuple[ca.SX, ca.SX, ca.SX]:
        """l_M, cos(alpha) and l_T / l_S of (1)."""
        l_M = ca.fmax(self.tendon_state(s), self._least)
        cos = ca.sqrt(1 - (self._height / l_M)**2)
        return l_M, cos, (self.path.length.at(s) - l_M * cos) / sx(self.tendon_slack_length)

    def tendon_rate(self, s: View) -> ca.SX:
        """v_M [m/s] from (3), where there is no damping."""
        l_M, cos, l_T_n = self._elastic(s)
        l_n, a = l_M / sx(self.optimal_fiber_length), self.activation(s)
        f = self.tendon_force_length.value(l_T_n) / cos - self.passive_force_length.value(l_n)
        v_n = self.v_of(f / (a * self.active_force_length.value(l_n)), a)
        v_n = ca.if_else(self.tendon_state(s) > self._least, v_n, ca.fmax(v_n, 0))
        return self.known(s, v_n * sx(self.max_contraction_velocity) * sx(self.optimal_fiber_length))
