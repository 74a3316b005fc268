"""The muscle of De Groote, Kinney, Rao, Fregly 2016, as in OpenSim."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from typing import Annotated

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.errors import DescriptionError
from condyle.laws.described import quantity, sx
from condyle.laws.view import View
from condyle.muscles.activation import smooth
from condyle.muscles.curves import Curve, Positive
from condyle.muscles.muscle import Fiber, Muscle
from condyle.records import dataclass
from condyle.trace import Number


@dataclass(frozen=True, eq=False, repr=False)
class DeGrooteActiveForceLength(Curve):
    """Active force over fiber length: three bells, with OpenSim's constants.

        f(x) = sum_i b1 exp(-((x' - b2) / (b3 + b4 x'))^2 / 2),    x' = 1 + (x - 1) / width

    Args:
        width: stretches it about 1, at least 1.
    """

    width: Annotated[Number, quantity("-", lowest=1.0)] = 1.0

    BELLS = (
        (0.8150671134243542, 1.055033428970575, 0.162384573599574, 0.063303448465465),
        (0.433004984392647, 0.716775413397760, -0.029947116970696, 0.200356847296188),
        (0.1, 1.0, 0.353553390593274, 0.0),
    )

    def formula(self, x: SX) -> SX:
        x = 1 + (x - 1) / sx(self.width)
        return sum(
            (b1 * ca.exp(-(((x - b2) / (b3 + b4 * x)) ** 2) / 2) for b1, b2, b3, b4 in self.BELLS), ca.SX(0)
        )


@dataclass(frozen=True, eq=False, repr=False)
class DeGrootePassiveForceLength(Curve):
    """Passive force over fiber length, zero at 0.2.

        f(x) = (exp(k (x - 1) / e0) - exp(k (0.2 - 1) / e0)) / (exp(k) - exp(k (0.2 - 1) / e0)),    k = 4

    Args:
        strain: e0, at which it is 1.
    """

    strain: Positive = 0.6

    K, FOOT = 4, 0.2

    @property
    def _least(self) -> SX:
        return ca.exp(self.K * (self.FOOT - 1) / sx(self.strain))

    def formula(self, x: SX) -> SX:
        return (ca.exp(self.K * (x - 1) / sx(self.strain)) - self._least) / (np.exp(self.K) - self._least)

    def inverse_formula(self, y: SX) -> SX:
        return 1 + sx(self.strain) / self.K * ca.log(y * (np.exp(self.K) - self._least) + self._least)

    def integral_formula(self, x: SX) -> SX:
        area = sx(self.strain) / self.K * ca.exp(self.K * (x - 1) / sx(self.strain)) - self._least * x
        return area / (np.exp(self.K) - self._least)


@dataclass(frozen=True, eq=False, repr=False)
class DeGrooteTendonForceLength(Curve):
    """Tendon force over tendon length.

        f(x) = c (exp(k (x - 1)) - 1),    c = 0.2,    k = ln((1 + c) / c) / e0

    Args:
        strain: e0, at which it is 1.
    """

    strain: Positive = 0.049

    C = 0.2

    @property
    def stiffness(self) -> SX:
        """k."""
        return np.log((1 + self.C) / self.C) / sx(self.strain)

    def formula(self, x: SX) -> SX:
        return self.C * (ca.exp(self.stiffness * (x - 1)) - 1)

    def inverse_formula(self, y: SX) -> SX:
        return 1 + ca.log(y / self.C + 1) / self.stiffness

    def integral_formula(self, x: SX) -> SX:
        return self.C * (ca.exp(self.stiffness * (x - 1)) / self.stiffness - x)


@dataclass(frozen=True, eq=False, repr=False)
class DeGrooteForceVelocity(Curve):
    """Active force over fiber velocity.

        f(v) = d1 asinh(d2 v + d3) + d4,    v(f) = (sinh((f - d4) / d1) - d3) / d2

    Beyond FASTEST v(f) is extended linearly: such a velocity is not physiological but due to an error in f,
    over a f_L, which the exponential would turn into a rate too fast for any step.
    """

    D = (-0.3211346127989808, -8.149, -0.374, 0.8825327733249912)
    FASTEST = 10.0

    def formula(self, x: SX) -> SX:
        d1, d2, d3, d4 = self.D
        return d1 * ca.asinh(d2 * x + d3) + d4

    def inverse_formula(self, y: SX) -> SX:
        d1, d2, d3, d4 = self.D
        low, high = (np.arcsinh(d2 * v + d3) for v in (self.FASTEST, -self.FASTEST))  # d2 is negative
        x = (y - d4) / d1
        near = ca.if_else(x < low, low, ca.if_else(x > high, high, x))  # keeps NaN
        return (ca.sinh(near) + ca.cosh(near) * (x - near) - d3) / d2


@dataclass(frozen=True, eq=False, repr=False)
class NoForce(Curve):
    """No force at any length."""

    def formula(self, x: SX) -> SX:
        return 0 * x

    integral_formula = formula


@dataclass(frozen=True, eq=False, repr=False)
class DeGroote2016(Muscle):
    """A muscle with the curves of De Groote et al. 2016; names and defaults as in OpenSim.

    With an elastic tendon the tendon's normalized force is the state, with OpenSim's explicit dynamics. It is
    between -0.2 and 0 where the tendon is slack; the muscle does not push there.

    Args:
        active_force_width_scale: width of the active force-length curve, at least 1.
        passive_fiber_strain_at_one_norm_force: strain of the passive fiber at F_0.
        tendon_strain_at_one_norm_force: strain of the tendon at F_0.
        activation_dynamics_smoothing: of the change between rise and fall of the activation.
        ignore_passive_fiber_force: the fiber has no passive force.
    """

    other_names = ("DeGroote", "DeGrooteFregly2016", "DeGrooteFregly2016Muscle")

    deactivation_time_constant: Positive = field(default=0.06, kw_only=True)
    default_activation: float = field(default=0.5, kw_only=True)
    default_normalized_tendon_force: float = field(default=0.5, kw_only=True)
    active_force_width_scale: Annotated[Number, quantity("-", lowest=1.0)] = field(default=1.0, kw_only=True)
    passive_fiber_strain_at_one_norm_force: Positive = field(default=0.6, kw_only=True)
    tendon_strain_at_one_norm_force: Positive = field(default=0.049, kw_only=True)
    activation_dynamics_smoothing: Positive = field(default=0.1, kw_only=True)
    ignore_passive_fiber_force: bool = field(default=False, kw_only=True)

    TENDON_STATE = "normalized_tendon_force"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tendon == "elastic" and self.fiber_damping != 0.0:
            raise DescriptionError(
                "DeGroote2016: fiber_damping has no effect with an elastic tendon: its "
                "fiber's velocity follows from the curves alone; leave it out, or take "
                "tendon='rigid'"
            )

    @cached_property
    def active_force_length(self) -> Curve:  # type: ignore[override]
        return DeGrooteActiveForceLength(self.active_force_width_scale)

    @cached_property
    def passive_force_length(self) -> Curve:  # type: ignore[override]
        return (
            NoForce()
            if self.ignore_passive_fiber_force
            else DeGrootePassiveForceLength(self.passive_fiber_strain_at_one_norm_force)
        )

    @property
    def choices(self) -> tuple[str | bool, ...]:
        return (*super().choices, self.ignore_passive_fiber_force)

    @cached_property
    def tendon_force_length(self) -> Curve:  # type: ignore[override]
        return DeGrooteTendonForceLength(self.tendon_strain_at_one_norm_force)

    @cached_property
    def force_velocity(self) -> Curve:  # type: ignore[override]
        return DeGrooteForceVelocity()

    @property
    def default_tendon_state(self) -> float:
        return self.default_normalized_tendon_force

    @property
    def _least(self) -> SX:
        """Nor shorter than where the passive curve is zero, as in OpenSim."""
        return ca.fmax(super()._least, DeGrootePassiveForceLength.FOOT * sx(self.optimal_fiber_length))

    def activation_rate(self, s: View) -> SX:
        return smooth(
            s.state_variable(0),
            self.excitation_at(s),
            sx(self.activation_time_constant),
            sx(self.deactivation_time_constant),
            sx(self.activation_dynamics_smoothing),
        )

    def tension(self, s: View) -> SX:
        if self.tendon == "rigid":
            return super().tension(s)
        return sx(self.max_isometric_force) * ca.fmax(self.tendon_state(s), 0)

    def elastic_fiber(self, s: View) -> Fiber:
        l_T_n = self.tendon_force_length.inverse(self._shown(self.tendon_state(s)))
        l_T = sx(self.tendon_slack_length) * l_T_n
        free = self.path.length.at(s) - l_T
        along = ca.fmax(free, self._least_along)
        l_M = ca.sqrt(self._height**2 + along**2)
        cos = along / l_M
        pull = ca.fmax(self.tendon_state(s), 0)  # below 0 the state only measures the slack
        v_n, f_V = self.velocity_n(l_M / sx(self.optimal_fiber_length), pull / cos, self.activation(s))
        # to the digits that a slack tendon leaves of its length
        moves = ca.logic_or(free > self._least_along + 1e-6 * sx(self.tendon_slack_length), v_n > 0)
        return replace(self._fiber(s, l_M, cos, ca.if_else(moves, v_n, 0), f_V, moves), l_T=l_T)

    def tendon_rate(self, s: View) -> SX:
        """d f_T / dt = f_T' v_T / l_S."""
        fiber = self.elastic_fiber(s)
        l_S = sx(self.tendon_slack_length)
        return self.tendon_force_length.derivative(fiber.l_T / l_S) * fiber.v_T / l_S

    def _lengths(self, s: View) -> tuple[SX, SX]:
        if self.tendon == "rigid":
            return super()._lengths(s)
        fiber = self.elastic_fiber(s)
        return fiber.l_M, ca.fmax(fiber.l_T, sx(self.tendon_slack_length))  # a slack tendon stores nothing

    def tendon_state_at(self, l_M: SX, f_T: SX) -> SX:
        return self._shown(f_T)

    def _shown(self, f_T: SX) -> SX:
        """Far below the slack length the curve is -C to all digits and has no inverse."""
        return ca.fmax(f_T, -DeGrooteTendonForceLength.C * (1 - 1e-9))
