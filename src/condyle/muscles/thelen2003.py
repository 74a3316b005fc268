"""The muscle of Thelen 2003, as OpenSim has it."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.errors import DescriptionError
from condyle.laws.described import quantity, sx
from condyle.muscles.curves import Curve, Positive
from condyle.muscles.muscle import Muscle
from condyle.records import dataclass
from condyle.trace import Number


@dataclass(frozen=True, eq=False, repr=False)
class ThelenActiveForceLength(Curve):
    """Active force over fiber length, thelen2003 (4).

        f(x) = exp(-(x - 1)^2 / gamma)

    Args:
        shape: gamma.
    """

    shape: Positive = 0.45

    def formula(self, x: SX) -> SX:
        return ca.exp(-((x - 1) ** 2) / sx(self.shape))


@dataclass(frozen=True, eq=False, repr=False)
class ThelenPassiveForceLength(Curve):
    """Passive force over fiber length, thelen2003 (3); zero below 1.

        f(x) = (exp(k (x - 1) / e0) - 1) / (exp(k) - 1)

    Args:
        strain: e0, at which it is 1.
        shape: k.
    """

    strain: Positive = 0.6
    shape: Positive = 5.0

    def formula(self, x: SX) -> SX:
        k, e = sx(self.shape), ca.fmax(x - 1, 0)
        return (ca.exp(k * e / sx(self.strain)) - 1) / (ca.exp(k) - 1)

    def inverse_formula(self, y: SX) -> SX:
        k = sx(self.shape)
        return 1 + sx(self.strain) / k * ca.log(1 + ca.fmax(y, 0) * (ca.exp(k) - 1))

    def integral_formula(self, x: SX) -> SX:
        k, e0, e = sx(self.shape), sx(self.strain), ca.fmax(x - 1, 0)
        return (e0 / k * (ca.exp(k * e / e0) - 1) - e) / (ca.exp(k) - 1)


@dataclass(frozen=True, eq=False, repr=False)
class ThelenTendonForceLength(Curve):
    """Tendon force over tendon length, thelen2003 (5): a toe, then a straight line; zero below 1.

        e = x - 1,    e_toe = 99 e0 exp(3) / (166 exp(3) - 67)
        f(x) = 0.33 (exp(3 e / e_toe) - 1) / (exp(3) - 1) up to e_toe
        f(x) = 0.33 + 0.67 (e - e_toe) / (e0 - e_toe) beyond

    Args:
        strain: e0, at which it is 1.
    """

    strain: Positive = 0.04

    TOE = 0.33

    @property
    def toe(self) -> SX:
        """e_toe."""
        return 99 * sx(self.strain) * np.exp(3) / (166 * np.exp(3) - 67)

    def formula(self, x: SX) -> SX:
        e, e_toe = ca.fmax(x - 1, 0), self.toe
        curved = self.TOE * (ca.exp(3 * ca.fmin(e, e_toe) / e_toe) - 1) / (np.exp(3) - 1)
        return curved + (1 - self.TOE) / (sx(self.strain) - e_toe) * ca.fmax(e - e_toe, 0)

    def inverse_formula(self, y: SX) -> SX:
        e_toe = self.toe
        curved = e_toe / 3 * ca.log(1 + ca.fmin(y, self.TOE) / self.TOE * (np.exp(3) - 1))
        return 1 + curved + (sx(self.strain) - e_toe) / (1 - self.TOE) * ca.fmax(y - self.TOE, 0)

    def integral_formula(self, x: SX) -> SX:
        e, e_toe = ca.fmax(x - 1, 0), self.toe
        first = ca.fmin(e, e_toe)
        curved = self.TOE * (e_toe / 3 * (ca.exp(3 * first / e_toe) - 1) - first) / (np.exp(3) - 1)
        rest = ca.fmax(e - e_toe, 0)
        return curved + self.TOE * rest + (1 - self.TOE) / (sx(self.strain) - e_toe) * rest**2 / 2


@dataclass(frozen=True, eq=False, repr=False)
class ThelenForceVelocity(Curve):
    """Active force over fiber velocity, thelen2003 (6), (7), at an activation a; with k = (1 + 3 a) / 4

        f(v) = (k + v) / (k - v / A)                            shortening
        f(v) = (k (F - 1) + c F v) / (k (F - 1) + c v)          lengthening,    c = 2 + 2 / A

    Below 0 and above `threshold` F it goes on straight, as OpenSim does.

    Args:
        curvature: A.
        eccentric_force: F, the greatest force that lengthening comes near to.
        threshold: share of F from which on it is straight.
        activation: a.
    """

    curvature: Positive = 0.25
    eccentric_force: Annotated[Number, quantity("-", lowest=1.0, positive=True)] = 1.4
    threshold: Positive = 0.95
    activation: Annotated[Number, quantity("-", lowest=0.0)] = 1.0

    def formula(self, x: SX) -> SX:
        return self.at(x, sx(self.activation))

    def inverse_formula(self, y: SX) -> SX:
        return self.inverse_at(y, sx(self.activation))

    def _numbers(self, a: SX) -> tuple[SX, SX, SX, SX]:
        A, F = sx(self.curvature), sx(self.eccentric_force)
        return A, F, 2 + 2 / A, (1 + 3 * a) / 4

    def at(self, v: SX, a: SX) -> SX:
        """Force at velocity v and activation a."""
        A, F, c, k = self._numbers(a)
        last = sx(self.threshold) * F
        v_last = self.inverse_at(last, a)
        slope_0, slope_last = _slope(self, ca.SX(0), a), _slope(self, last, a)
        w, up = ca.fmax(v, -k), ca.fmax(ca.fmin(v, v_last), 0)
        shortening = (k + ca.fmin(w, 0)) / (k - ca.fmin(w, 0) / A)
        lengthening = (k * (F - 1) + c * F * up) / (k * (F - 1) + c * up)
        middle = ca.if_else(v <= 0, shortening, lengthening)
        return ca.if_else(
            v < -k, (v + k) / slope_0, ca.if_else(v > v_last, last + (v - v_last) / slope_last, middle)
        )

    def inverse_at(self, f: SX, a: SX) -> SX:
        """Velocity at force f and activation a."""
        A, F, c, k = self._numbers(a)
        last = sx(self.threshold) * F
        g = ca.fmax(ca.fmin(f, last), 0)
        middle = ca.if_else(g <= 1, k * (g - 1) / (1 + g / A), k * (g - 1) * (F - 1) / (c * (F - g)))
        beyond = ca.if_else(
            f < 0, f * _slope(self, ca.SX(0), a), ca.fmax(f - last, 0) * _slope(self, last, a)
        )
        return middle + beyond


def _slope(curve: ThelenForceVelocity, f: SX, a: SX) -> SX:
    """dv/df between 0 and the threshold."""
    A, F, c, k = curve._numbers(a)
    shortening = k * (1 + 1 / A) / (1 + f / A) ** 2
    lengthening = k * (F - 1) ** 2 / (c * (F - f) ** 2)
    return ca.if_else(f <= 1, shortening, lengthening)


@dataclass(frozen=True, eq=False, repr=False)
class Thelen2003(Muscle):
    """A muscle with the curves of Thelen 2003; names and defaults as in OpenSim.

    Args:
        FmaxTendonStrain: strain of the tendon at F_0.
        FmaxMuscleStrain: strain of the passive fiber at F_0.
        KshapeActive: shape of the active force-length curve.
        KshapePassive: shape of the passive force-length curve.
        Af: shape of the force-velocity curve.
        Flen: greatest force in lengthening.
        fv_linear_extrap_threshold: share of Flen from which on the force-velocity curve is straight.
    """

    other_names = ("Thelen", "Thelen2003Muscle")

    FmaxTendonStrain: Positive = field(default=0.04, kw_only=True)
    FmaxMuscleStrain: Positive = field(default=0.6, kw_only=True)
    KshapeActive: Positive = field(default=0.45, kw_only=True)
    KshapePassive: Positive = field(default=5.0, kw_only=True)
    Af: Positive = field(default=0.25, kw_only=True)
    Flen: Positive = field(default=1.4, kw_only=True)
    fv_linear_extrap_threshold: Positive = field(default=0.95, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tendon == "elastic" and self.fiber_damping != 0.0:
            raise DescriptionError(
                "Thelen2003: fiber_damping has no effect with an elastic tendon: its "
                "fiber's velocity follows from the curves alone; leave it out, or take "
                "tendon='rigid'"
            )
        if isinstance(self.fv_linear_extrap_threshold, float) and not self.fv_linear_extrap_threshold < 1:
            raise DescriptionError(
                "Thelen2003: fv_linear_extrap_threshold is a share of Flen and must be "
                f"below 1, got {self.fv_linear_extrap_threshold!r}"
            )

    def f_V(self, v_n: SX, a: SX) -> SX:
        return self.force_velocity.at(v_n, a)

    def velocity_n(self, l_n: SX, f: SX, a: SX) -> tuple[SX, SX]:
        f_V = (f - self.passive_force_length.value(l_n)) / (a * self.active_force_length.value(l_n))
        return self.force_velocity.inverse_at(f_V, a), f_V

    @cached_property
    def active_force_length(self) -> ThelenActiveForceLength:  # type: ignore[override]
        return ThelenActiveForceLength(self.KshapeActive)

    @cached_property
    def passive_force_length(self) -> ThelenPassiveForceLength:  # type: ignore[override]
        return ThelenPassiveForceLength(self.FmaxMuscleStrain, self.KshapePassive)

    @cached_property
    def tendon_force_length(self) -> ThelenTendonForceLength:  # type: ignore[override]
        return ThelenTendonForceLength(self.FmaxTendonStrain)

    @cached_property
    def force_velocity(self) -> ThelenForceVelocity:  # type: ignore[override]
        return ThelenForceVelocity(self.Af, self.Flen, self.fv_linear_extrap_threshold)
