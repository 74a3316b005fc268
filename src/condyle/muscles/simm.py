"""Curves of SIMM's muscles, which OpenSim's older muscle models have by default: points of SimmSplines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from functools import cache, cached_property, lru_cache
from typing import Annotated, Any, ClassVar

import casadi as ca

from condyle.arrays import SX
from condyle.errors import DescriptionError
from condyle.forces.path import TOE
from condyle.functions import Function, SimmSpline
from condyle.laws.described import quantity, sx
from condyle.laws.view import View
from condyle.muscles.curves import Curve, CurveLike, Positive, PythonCurve, curve
from condyle.muscles.muscle import Fiber, Muscle
from condyle.records import dataclass
from condyle.trace import Number
from condyle.trace.parameter import Parameter

ACTIVE = SimmSpline(
    (
        -5.307692,
        -4.307692,
        -1.923077,
        -0.884615,
        -0.269231,
        0.230769,
        0.461538,
        0.52725,
        0.62875,
        0.71875,
        0.86125,
        1.045,
        1.2175,
        1.43875,
        1.5,
        1.615385,
        2.0,
        2.961538,
        3.692308,
        5.461538,
        9.901902,
    ),
    (
        0.012188,
        0.021899,
        0.036466,
        0.052493,
        0.075312,
        0.114158,
        0.157859,
        0.226667,
        0.636667,
        0.856667,
        0.95,
        0.993333,
        0.77,
        0.246667,
        0.193821,
        0.133252,
        0.072683,
        0.044417,
        0.036341,
        0.021899,
        0.007332,
    ),
)
"""Active force over l_M / l_0."""
PASSIVE = TOE
"""Passive force over l_M / l_0."""
TENDON = SimmSpline(
    (
        -10.0,
        -0.002,
        -0.001,
        0.0,
        0.00131,
        0.00281,
        0.00431,
        0.00581,
        0.00731,
        0.00881,
        0.0103,
        0.0118,
        0.0123,
        9.2,
        9.201,
        9.202,
        20.0,
    ),
    (
        0.0,
        0.0,
        0.0,
        0.0,
        0.0108,
        0.0257,
        0.0435,
        0.0652,
        0.0915,
        0.123,
        0.161,
        0.208,
        0.227,
        345.0,
        345.0,
        345.0,
        345.0,
    ),
)
"""Tendon force over its strain."""
VELOCITY = SimmSpline(
    (-1.001, *(round(-1 + 0.05 * k, 2) for k in range(41))),
    (
        0.0,
        0.0,
        0.010417,
        0.021739,
        0.034091,
        0.047619,
        0.0625,
        0.078947,
        0.097222,
        0.117647,
        0.140625,
        0.166667,
        0.196429,
        0.230769,
        0.270833,
        0.318182,
        0.375,
        0.444444,
        0.53125,
        0.642857,
        0.791667,
        1.0,
        1.482014,
        1.601571,
        1.655791,
        1.686739,
        1.706751,
        1.720753,
        1.731099,
        1.739055,
        1.745365,
        1.75049,
        1.754736,
        1.758312,
        1.761364,
        1.763999,
        1.766298,
        1.768321,
        1.770115,
        1.771717,
        1.773155,
        1.774455,
    ),
)
"""Active force over velocity, -1 to 1."""


@dataclass(frozen=True, eq=False, repr=False)
class TendonOfStrain(Curve):
    """Tendon force over l_T / l_S from a curve over the strain; zero where the tendon is slack.

    Args:
        over_strain: force over strain.
    """

    over_strain: Any

    def formula(self, x: SX) -> SX:
        return ca.if_else(x < 1, 0, self.over_strain.value(x - 1))


DEFAULTS: dict[str, Any] = {
    "active_force_length_curve": ACTIVE,
    "passive_force_length_curve": PASSIVE,
    "tendon_force_length_curve": TENDON,
    "force_velocity_curve": VELOCITY,
}


@cache
def default(name: str) -> Curve:
    """A curve of SIMM's muscles by its name in OpenSim."""
    return PythonCurve(DEFAULTS[name])


def keep_curves(muscle: Any, names: Iterable[str]) -> None:
    """Functions that are given for curves of a muscle become Curves, None the default."""
    for name in names:
        given = getattr(muscle, name)
        shared = _through(given) if isinstance(given, Function) else given
        object.__setattr__(muscle, name, default(name) if given is None else curve(shared))


@lru_cache(maxsize=100)
def _through(function: Function) -> Curve:
    """One of cd.functions as a Curve; muscles of one file share them."""
    return curve(function)


# ---- schutte1993 -----------------------------------------------------------------------------------------
#
# The muscle of Schutte 1993, as OpenSim has it: Schutte1993Muscle.
#
# Its fiber is (3) of muscle.py with
#
#     f_V(v) = k (1 + v) / (k - v)          shortening,    k = 0.15
#     f_V(v) = (m v + s) / (v + s)          lengthening,   m = 1.4,  s = 0.13 k / (1 + k)                    (1)
#
# and with a damping beta, so that f = g f_V(v) + beta v has a root in closed form. Below zero f counts as zero.


K, M = 0.15, 1.4
S = 0.13 * K / (1 + K)


@dataclass(frozen=True, eq=False, repr=False)
class SchutteForceVelocity(Curve):
    """Active force over fiber velocity (1)."""

    def formula(self, x: SX) -> SX:
        down, up = ca.fmin(x, 0), ca.fmax(x, 0)
        return ca.if_else(x < 0, K * (1 + down) / (K - down), (M * up + S) / (up + S))

    def balance(self, g: SX, beta: SX, f: SX) -> tuple[SX, SX]:
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

    def formula(self, x: SX) -> SX:
        return ca.exp(8 * (x - 1) - 4)

    def inverse_formula(self, y: SX) -> SX:
        return 1 + (ca.log(y) + 4) / 8

    def integral_formula(self, x: SX) -> SX:
        return ca.exp(8 * (x - 1) - 4) / 8


@dataclass(frozen=True, eq=False, repr=False)
class SimmMuscle(Muscle):
    """What the muscles of Schutte and Delp share: SIMM's curves and activation dynamics, an elastic tendon.

    adot = v_max (e - a) (activation1 e + activation2) for e > a, else v_max (e - a) activation2       (2)
    """

    fiber_damping: Annotated[Number, quantity("-", lowest=0.0)] = field(default=0.0, kw_only=True)
    minimum_activation: Annotated[Number, quantity("-", lowest=0.0)] = field(default=0.0, kw_only=True)
    activation1: Annotated[Number, quantity("-", lowest=0.0)] = field(default=7.667, kw_only=True)
    activation2: Annotated[Number, quantity("-", lowest=0.0)] = field(default=1.459854, kw_only=True)

    TENDONS: ClassVar[tuple[str, ...]] = ("elastic",)
    CURVES: ClassVar[tuple[str, ...]] = (
        "tendon_force_length_curve",
        "active_force_length_curve",
        "passive_force_length_curve",
    )

    def __post_init__(self) -> None:
        keep_curves(self, self.CURVES)
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

    def activation_rate(self, s: View) -> SX:
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
        return TendonOfStrain(self.tendon_force_length_curve)  # type: ignore[attr-defined]


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

    fiber_damping: Annotated[Number, quantity("-", lowest=0.0, positive=True)] = field(
        default=0.1, kw_only=True
    )
    tendon_force_length_curve: CurveLike | None = field(default=None, kw_only=True)
    active_force_length_curve: CurveLike | None = field(default=None, kw_only=True)
    passive_force_length_curve: CurveLike | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.passive_force_length_curve is None:
            object.__setattr__(self, "passive_force_length_curve", Exponential())
        super().__post_init__()

    def velocity_n(self, l_n: SX, f: SX, a: SX) -> tuple[SX, SX]:
        g = a * ca.fmax(self.active_force_length.value(l_n), 0)
        return self.force_velocity.balance(
            g, sx(self.fiber_damping), ca.fmax(f - self.passive_force_length.value(l_n), 0)
        )

    @cached_property
    def force_velocity(self) -> Curve:  # type: ignore[override]
        return SchutteForceVelocity()


# ---- delp1990 --------------------------------------------------------------------------------------------
#
# The muscle of Delp 1990, as OpenSim has it: Delp1990Muscle. A mass between fiber and tendon gives the
# fiber a velocity of its own, so that f_V needs no inverse:
#
#     vdot_n = (f_T cos - (a f_L f_V + f_P) cos^2) / (mass l_0^2 v_max^2) + v_n^2 tan^2 / l_n                (1)
#
# over l_0 v_max^2, with v_n = v_M / (v_max l_0).


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
    tendon_force_length_curve: CurveLike | None = field(default=None, kw_only=True)
    active_force_length_curve: CurveLike | None = field(default=None, kw_only=True)
    passive_force_length_curve: CurveLike | None = field(default=None, kw_only=True)
    force_velocity_curve: CurveLike | None = field(default=None, kw_only=True)

    CURVES: ClassVar[tuple[str, ...]] = (
        "tendon_force_length_curve",
        "active_force_length_curve",
        "passive_force_length_curve",
        "force_velocity_curve",
    )

    @cached_property
    def force_velocity(self) -> Curve:  # type: ignore[override]
        return self.force_velocity_curve  # type: ignore[return-value]

    @property
    def states(self) -> tuple[tuple[str, float], ...]:  # type: ignore[override]
        *own, length = super().states
        return (*own, ("fiber_velocity", 0.0), length)

    def tendon_state(self, s: View) -> SX:
        return s.state_variable(len(self.states) - 1)

    def fiber_velocity(self, s: View) -> SX:
        """v_M [m/s]."""
        return s.state_variable(len(self.states) - 2)

    def elastic_fiber(self, s: View) -> Fiber:
        l_M = ca.fmax(self.tendon_state(s), self._least)
        cos = ca.sqrt(l_M**2 - self._height**2) / l_M
        v_n = self.fiber_velocity(s) / self._fastest
        moves = ca.logic_or(self.tendon_state(s) > self._least, v_n > 0)
        v_n = ca.if_else(moves, v_n, 0)
        return self._fiber(s, l_M, cos, v_n, self.f_V(v_n, self.activation(s)), moves)

    def rates(self, s: View) -> list[SX]:
        *own, _ = super().rates(s)
        fiber = self.elastic_fiber(s)
        l_0, v_max = sx(self.optimal_fiber_length), sx(self.max_contraction_velocity)
        force = self.activation(s) * fiber.f_L * fiber.f_V + fiber.f_P
        pull = self.tendon_force_n(s) * fiber.cos - force * fiber.cos**2
        tan2 = 1 / fiber.cos**2 - 1
        vdot = pull / (sx(self.mass) * self._fastest**2) + fiber.v_n**2 * tan2 / fiber.l_n  # (1)
        return [*own, self.known(s, vdot * l_0 * v_max**2), self.known(s, fiber.v_M)]
