"""Metabolic power of muscles from excitation, activation and the motion of the fiber.

Umberger (2010), Stance and swing phase costs in human walking, Journal of the Royal Society Interface 7,
1329-1340, with the limits of Uchida et al. (2016); Bhargava, Pandy, Anderson (2004), A phenomenological model
for estimating metabolic energy consumption in muscle contraction, Journal of Biomechanics 37, 81-88. Both as
in OpenSim's probes: docs/theory/muscles.md.

Lengthening velocities are positive. m = F_0 l_0 density / specific_tension is a muscle's mass, r its share of
slow fibers. Of a muscle

    E = max(h, 1 W/kg m) + W,    W = -F_active v_M,    h = A + M + S                                       (1)
    where h + W < 0, S grows until it is 0                                                                 (2)

and of a body, with `basal_coefficient` b and `basal_exponent` c: b mass^c + the sum of E                  (3)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.errors import DescriptionError
from condyle.laws.described import sx
from condyle.laws.smooth import at_least, at_most, positive, step
from condyle.muscles.muscle import Muscle
from condyle.records import dataclass

HEAT = 1.0
"""Least heat of a muscle [W/kg]."""


@dataclass(frozen=True, eq=False)
class Working:
    """The state of a muscle on which its metabolic power depends.

    Attributes:
        e: excitation.
        a: activation.
        l_n: length of the fiber over l_0.
        v_M: its velocity [m/s].
        f_L: active force-length factor at l_n.
        active: force of the fiber [N].
        passive: its passive force [N].
    """

    e: SX
    a: SX
    l_n: SX
    v_M: SX
    f_L: SX
    active: SX
    passive: SX


@dataclass(frozen=True, kw_only=True)
class Metabolics:
    """Base class of models of metabolic power. Names and defaults are those of OpenSim's probes.

    Args:
        ratio_slow_twitch_fibers: r, from 0 to 1; of all muscles, or {muscle: r}, 0.5 for others.
        muscle_mass: {muscle: m} [kg]; of others F_0 l_0 density / specific_tension.
        specific_tension: [N/m^2].
        density: [kg/m^3].
        basal_coefficient: b of (3) [W/kg^c].
        basal_exponent: c of (3).
        include_negative_mechanical_work: W of (1) of lengthening fibers too.
        forbid_negative_total_power: (2).
        enforce_minimum_heat_rate_per_muscle: the maximum in (1).
    """

    ratio_slow_twitch_fibers: float | Mapping[str, float] = 0.5
    muscle_mass: Mapping[str, float] | None = None
    specific_tension: float = 0.25e6
    density: float = 1059.7
    basal_coefficient: float = 1.2
    basal_exponent: float = 1.0
    include_negative_mechanical_work: bool = True
    forbid_negative_total_power: bool = True
    enforce_minimum_heat_rate_per_muscle: bool = True

    SPEED: ClassVar[float] = 0.01
    """Width of the smooth face over v_M / l_0 [1/s]."""

    def __post_init__(self) -> None:
        ratios, masses = self.ratio_slow_twitch_fibers, self.muscle_mass or {}
        named = dict(ratios) if isinstance(ratios, Mapping) else {"": ratios}
        for name, r in named.items():
            if not 0 <= r <= 1:
                where = f" of {name!r}" * bool(name)
                raise DescriptionError(
                    f"{type(self).__name__}: ratio_slow_twitch_fibers{where} must be from 0 to 1, got {r!r}"
                )
        sizes = {f"muscle_mass of {k!r}": m for k, m in masses.items()}
        for what, value in sizes.items() | {
            ("specific_tension", self.specific_tension),
            ("density", self.density),
        }:
            if not value > 0:
                raise DescriptionError(f"{type(self).__name__}: {what} must be above 0, got {value!r}")

    def mass(self, name: str, muscle: Muscle) -> SX:
        """m [kg]."""
        if name in (self.muscle_mass or {}):
            return ca.SX((self.muscle_mass or {})[name])
        volume = sx(muscle.max_isometric_force) * sx(muscle.optimal_fiber_length) / self.specific_tension
        return volume * self.density

    def slow(self, name: str) -> float:
        """r."""
        r = self.ratio_slow_twitch_fibers
        return float(r.get(name, 0.5) if isinstance(r, Mapping) else r)

    def basal(self, mass: float) -> float:
        """Power that a body of this mass [kg] consumes beside its muscles [W]."""
        return float(self.basal_coefficient * mass**self.basal_exponent)

    def heat(self, name: str, muscle: Muscle, x: Working, smooth: bool) -> SX:
        """h of (1) over m [W/kg]."""
        raise TypeError(f"{type(self).__name__} needs a heat")

    def power(self, name: str, muscle: Muscle, x: Working, smooth: bool = False) -> SX:
        """E of (1) [W].

        Args:
            name: of the muscle.
            muscle: its law.
            x: its state.
            smooth: without kinks, for optimal control: velocities have a width of 0.01 l_0 / s, the least heat
                one of 0.1 W/kg, and (2) one of 1 W/kg, half of which is the greatest error of each maximum.
        """
        m = self.mass(name, muscle)
        v, width = x.v_M, self.SPEED * smooth * self._length(muscle)
        if not self.include_negative_mechanical_work:
            v = -positive(-v, width)
        W, h = -self.work_force(x) * v / m, self.heat(name, muscle, x, smooth)
        if self.forbid_negative_total_power:
            h = h + positive(-(h + W), 1.0 * smooth)  # (2)
        if self.enforce_minimum_heat_rate_per_muscle:
            h = at_least(h, ca.SX(HEAT), 0.1 * smooth)
        return m * (h + W)  # (1)

    def work_force(self, x: Working) -> SX:
        """The force in W."""
        return x.active

    @staticmethod
    def _length(muscle: Muscle) -> float:
        l_0 = muscle.optimal_fiber_length
        return l_0 if isinstance(l_0, float) else 0.1


@dataclass(frozen=True, kw_only=True)
class Umberger2010(Metabolics):
    """Metabolic power of Umberger (2010): OpenSim's Umberger2010MuscleMetabolicsProbe.

        A + M = S_a u^0.6 (128 (1 - r) + 25) g,    g = 1 up to l_0, 0.4 + 0.6 f_L beyond                   (4)
        u = e where e > a, else (e + a) / 2
        S = S_a u^2 (r min(250 x, 100) + 153 (1 - r) x) g_S,    x = -v_M / (l_0 v_max) > 0                 (5)
        S = S_a u k 250 v_M / (l_0 v_max) g_S of lengthening fibers,    k = 4, or 0.3 without negative work
        g_S = 1 up to l_0, f_L beyond
        r of slow fibers among those recruited: r sin(pi e / 2) over that + (1 - r) (1 - cos(pi e / 2))    (6)

    Args:
        aerobic_factor: S_a.
        use_Bhargava_recruitment_model: use (6); else r is unchanged.
    """

    aerobic_factor: float = 1.5
    use_Bhargava_recruitment_model: bool = True

    def heat(self, name: str, muscle: Muscle, x: Working, smooth: bool) -> SX:
        r, w = ca.SX(self.slow(name)), self.SPEED * smooth
        if self.use_Bhargava_recruitment_model:
            slow, fast = recruited(self.slow(name), x.e)
            r = ca.if_else(x.e == 0, 1, slow / ca.if_else(x.e == 0, 1, slow + fast))  # (6)
        v_max, v = sx(muscle.max_contraction_velocity), x.v_M / sx(muscle.optimal_fiber_length)
        u = (x.e + x.a + positive(x.e - x.a, w)) / 2
        long = step(x.l_n - 1, w)
        hold = self.aerobic_factor * u**0.6 * (128 * (1 - r) + 25) * (1 + long * 0.6 * (x.f_L - 1))  # (4)
        shorter, longer = positive(-v, w) / v_max, positive(v, w) / v_max
        slow = at_most(250 * shorter, ca.SX(100), 100 * w)
        k = 4.0 if self.include_negative_mechanical_work else 0.3
        S = u**2 * (r * slow + 153 * (1 - r) * shorter) + u * k * 250 * longer  # (5)
        return hold + self.aerobic_factor * S * (1 + long * (x.f_L - 1))

    def work_force(self, x: Working) -> SX:
        return ca.fmax(x.active, 0)


@dataclass(frozen=True, kw_only=True)
class Bhargava2004(Metabolics):
    """Metabolic power of Bhargava et al. (2004): OpenSim's Bhargava2004MuscleMetabolicsProbe.

        A = m (40 e_slow + 133 e_fast),    M = m f(l_n) (74 e_slow + 111 e_fast)                           (7)
        e_slow = r sin(pi e / 2),    e_fast = (1 - r) (1 - cos(pi e / 2))                                  (8)
        f straight through (0.5, 0.5), (1, 1), (1.5, 0), constant beyond                                   (9)
        S = -alpha v_M,    alpha = 0.25 F of shortening fibers, 0 of others                                (10)
        or alpha = 0.16 a f_L F_0 + 0.18 F and 0.157 F, if it depends on the force                         (11)

    Args:
        activation_constant_slow_twitch: [W/kg], 40 in (7).
        activation_constant_fast_twitch: [W/kg].
        maintenance_constant_slow_twitch: [W/kg].
        maintenance_constant_fast_twitch: [W/kg].
        use_force_dependent_shortening_prop_constant: (11) instead of (10).
    """

    activation_constant_slow_twitch: float = 40.0
    activation_constant_fast_twitch: float = 133.0
    maintenance_constant_slow_twitch: float = 74.0
    maintenance_constant_fast_twitch: float = 111.0
    use_force_dependent_shortening_prop_constant: bool = False

    def heat(self, name: str, muscle: Muscle, x: Working, smooth: bool) -> SX:
        slow, fast = recruited(self.slow(name), x.e)
        w, F = self.SPEED * smooth, x.active + x.passive
        bent = (positive(x.l_n - at, w) for at in (0.5, 1.0, 1.5))
        f = 0.5 + sum((k * y for k, y in zip((1, -3, 2), bent, strict=True)), ca.SX(0))  # (9)
        A = self.activation_constant_slow_twitch * slow + self.activation_constant_fast_twitch * fast
        M = self.maintenance_constant_slow_twitch * slow + self.maintenance_constant_fast_twitch * fast
        width = w * self._length(muscle)
        shorter, longer = positive(-x.v_M, width), positive(x.v_M, width)
        S = 0.25 * F * shorter  # (10)
        if self.use_force_dependent_shortening_prop_constant:
            isometric = x.a * x.f_L * sx(muscle.max_isometric_force)
            S = (0.16 * isometric + 0.18 * F) * shorter - 0.157 * F * longer  # (11)
        return A + f * M + S / self.mass(name, muscle)


def recruited(r: float, e: SX) -> tuple[SX, SX]:
    """(8): slow and fast fibers at an excitation."""
    return r * ca.sin(np.pi / 2 * e), (1 - r) * (1 - ca.cos(np.pi / 2 * e))
