"""The muscle of Schutte 1993, as OpenSim has it: Schutte1993Muscle.

Its fiber is (3) of muscle.py with

    f_V(v) = k (1 + v) / (k - v)          shortening,    k = 0.15
    f_V(v) = (m v + s) / (v + s)          lengthening,   m = 1.4,  s = 0.13 k / (1 + k)                    (1)

and with a damping beta, so that f = g f_V(v) + beta v has a root in closed form. Below zero f counts as zero.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, ClassVar

import casadi as ca

from condyle.errors import DescriptionError
from condyle.laws.described import quantity, sx
from condyle.laws.view import View
from condyle.muscles import simm
from condyle.muscles.curves import Curve
from condyle.muscles.muscle import Muscle
from condyle.records import dataclass
from condyle.trace.parameter import Parameter

K, M = 0.15, 1.4
S = 0.13 * K / (1 + K)


@dataclass(frozen=True, eq=False, repr=False)
class SchutteForceVelocity(Curve):
    """Active force over fiber velocity (1)."""

    def formula(self, x: ca.SX) -> ca.SX:
        down, up = ca.fmin(x, 0), ca.fmax(x, 0)
        return ca.if_else(x < 0, K * (1 + down) / (K - down), (M * up + S) / (up + S))

    def balance(self, g: ca.SX, beta: ca.SX, f: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Roots of beta v^2 + b v + c, beta > 0: the smaller shortens, the larger lengthens."""
        b, c = -(f + K * (g + beta)) / beta, K * (f - g) / beta
        shortening = (-b - ca.sqrt(ca.fmax(b * b - 4 * c, 0))) / 2
        b, c = S - (f - M * g) / beta, -S * (f - g) / beta
        lengthening = (-b + ca.sqrt(ca.fmax(b * b - 4 * c, 0))) / 2
        v = ca.if_else(f < g, shortening, lengthening)
        return v, self.formula(v)


@dataclass(frozen=True, eq=False, repr=False)
class Exponential(Curve):
    """Passive force over fiber length, exp(8 (x - 1) - 4)."""

    def formula(self, x: ca.SX) -> ca.SX:
        return ca.exp(8 * (x - 1) - 4)

    def inverse_formula(self, y: ca.SX) -> ca.SX:
        return 1 + (ca.log(y) + 4) / 8

    def integral_formula(self, x: ca.SX) -> ca.SX:
        return ca.exp(8 * (x - 1) - 4) / 8


@dataclass(frozen=True, eq=False, repr=False)
class SimmMuscle(Muscle):
    """What the muscles of Schutte and Delp share: SIMM's curves and activation dynamics, an elastic tendon.

    adot = v_max (e - a) (activation1 e + activation2) for e > a, else v_max (e - a) activation2       (2)
    """

    fiber_damping: Annotated[Any, quantity("-", lowest=0.0)] = field(default=0.0, kw_only=True)
    minimum_activation: Annotated[Any, quantity("-", lowest=0.0)] = field(default=0.0, kw_only=True)
    activation1: Annotated[Any, quantity("-", lowest=0.0)] = field(default=7.667, kw_only=True)
    activation2: Annotated[Any, quantity("-", lowest=0.0)] = field(default=1.459854, kw_only=True)

    TENDONS: ClassVar[tuple[str, ...]] = ("elastic",)
    CURVES: ClassVar[tuple[str, ...]] = (
        "tendon_force_length_curve",
        "active_force_length_curve",
        "passive_force_length_curve",
    )

    def __post_init__(self) -> None:
        simm.keep_curves(self, self.CURVES)
        super().__post_init__()
        if (self.activation_time_constant, self.deactivation_time_constant) != (0.015, 0.05):
            raise DescriptionError(
                f"{type(self).__name__}: its activation has no time constants but activation1 and activation2"
            )

    @property
    def _divides(self) -> bool:
        return False

    def parameters(self) -> list[Parameter]:
        return [*super().parameters(), *(p for name in self.CURVES for p in getattr(self, name).parameters())]

    def activation_rate(self, s: View) -> ca.SX:
        a, e = s.state_variable(0), self.excitation_at(s)
        rising = sx(self.activation1) * e + sx(self.activation2)
        speed = ca.if_else(e >= a, rising, sx(self.activation2))
        return sx(self.max_contraction_velocity) * (e - a) * speed  # (2)

    @cached_property
    def active_force_length(self) -> Curve:  # type: ignore[override]
        return self.active_force_length_curve  # type: ignore[attr-defined,no-any-return]

    @cached_property
    def passive_force_length(self) -> Curve:  # type: ignore[override]
        return self.passive_force_length_curve  # type: ignore[attr-defined,no-any-return]

    @cached_property
    def tendon_force_length(self) -> Curve:  # type: ignore[override]
        return simm.TendonOfStrain(self.tendon_force_length_curve)  # type: ignore[attr-defined]


@dataclass(frozen=True, eq=False, repr=False)
class Schutte1993(SimmMuscle):
    """The muscle of Schutte 1993, with an elastic tendon: OpenSim's Schutte1993Muscle, names and defaults as
    there. Its time scale is 1 / max_contraction_velocity.

    Args:
        fiber_damping: beta, above 0; `damping` in OpenSim.
        activation1: of the rise of the activation, in proportion to the excitation.
        activation2: of its rise and of its fall.
        tendon_force_length_curve: over the tendon's strain: a function of one number, or a Curve.
        active_force_length_curve: over l_M / l_0.
        passive_force_length_curve: over l_M / l_0; exp(8 (x - 1) - 4) by default.
    """

    other_names = ("Schutte1993Muscle",)

    fiber_damping: Annotated[Any, quantity("-", lowest=0.0, positive=True)] = field(default=0.1, kw_only=True)
    tendon_force_length_curve: Any = field(default=None, kw_only=True)
    active_force_length_curve: Any = field(default=None, kw_only=True)
    passive_force_length_curve: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.passive_force_length_curve is None:
            object.__setattr__(self, "passive_force_length_curve", Exponential())
        super().__post_init__()

    def velocity_n(self, l_n: ca.SX, f: ca.SX, a: ca.SX) -> tuple[ca.SX, ca.SX]:
        g = a * ca.fmax(self.active_force_length.value(l_n), 0)
        return self.force_velocity.balance(
            g, sx(self.fiber_damping), ca.fmax(f - self.passive_force_length.value(l_n), 0)
        )

    @cached_property
    def force_velocity(self) -> Curve:  # type: ignore[override]
        return SchutteForceVelocity()
