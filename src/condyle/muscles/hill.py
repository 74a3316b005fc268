"""The Hill muscle of ruggiero2020 (20), (21), with any curves."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, ClassVar

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.laws.described import quantity, sx
from condyle.laws.view import View
from condyle.muscles.curves import Curve, CurveLike, curve
from condyle.muscles.muscle import Fiber, Muscle
from condyle.muscles.simm import keep_curves
from condyle.muscles.thelen2003 import (
    ThelenActiveForceLength,
    ThelenForceVelocity,
    ThelenPassiveForceLength,
    ThelenTendonForceLength,
)
from condyle.records import dataclass
from condyle.trace import Number
from condyle.trace.parameter import Parameter

CURVES = {
    "active_force_length": None,
    "passive_force_length": None,
    "tendon_force_length": None,
    "force_velocity": (-1.0, 1.0),
}
"""The range in which a user's Python function rises."""


@dataclass(frozen=True, eq=False, repr=False)
class Hill(Muscle):
    """The muscle of Ruggiero and Sicilia (2020), (20), (21): a rigid tendon, force linear in the activation.

    The paper only draws its curves; the defaults are Thelen's at full activation. Others can be a Curve, one
    of `cd.functions`, or a Python function of one number. With an elastic tendon force_velocity must rise
    from -1 to 1, and is straight beyond.

    Args:
        active_force_length: f_L of l_M / l_0.
        passive_force_length: f_P of l_M / l_0.
        tendon_force_length: f_T of l_T / l_S.
        force_velocity: f_V of v_M / (v_max l_0).
    """

    tendon: str = field(default="rigid", kw_only=True)
    activation_dynamics: bool = field(default=False, kw_only=True)
    active_force_length: CurveLike = field(default=ThelenActiveForceLength(), kw_only=True)  # type: ignore[misc]
    passive_force_length: CurveLike = field(default=ThelenPassiveForceLength(), kw_only=True)  # type: ignore[misc]
    tendon_force_length: CurveLike = field(default=ThelenTendonForceLength(), kw_only=True)  # type: ignore[misc]
    force_velocity: CurveLike = field(default=ThelenForceVelocity(), kw_only=True)  # type: ignore[misc]

    def __post_init__(self) -> None:
        for name, between in CURVES.items():
            kept = curve(getattr(self, name), between if self.tendon == "elastic" else None)
            object.__setattr__(self, name, kept)
        super().__post_init__()

    def parameters(self) -> list[Parameter]:
        return [*super().parameters(), *(p for name in CURVES for p in getattr(self, name).parameters())]

    def velocity_n(self, l_n: SX, f: SX, a: SX) -> tuple[SX, SX]:
        """NaN where a user's curve is NaN, which the search for a velocity would hide."""
        found = super().velocity_n(l_n, f, a)
        curves: Any = (self.active_force_length, self.passive_force_length)
        known = ca.logic_and(*(ca.fabs(c.value(l_n)) < np.inf for c in curves))
        return tuple(ca.if_else(known, x, np.nan) for x in found)  # type: ignore[return-value]


# ---- rigid tendon ----------------------------------------------------------------------------------------
#
# OpenSim's RigidTendonMuscle.


@dataclass(frozen=True, eq=False, repr=False)
class RigidTendon(Muscle):
    """A muscle with a rigid tendon and SIMM's curves, without activation dynamics: OpenSim's
    RigidTendonMuscle.

    As there, the velocity of the fiber is that of the whole path, not its component along the fiber: for
    muscles with pennation, `Hill` and others with tendon="rigid" are more accurate.

    Args:
        active_force_length_curve: f_L over l_M / l_0: a function of one number, or a Curve.
        passive_force_length_curve: f_P over l_M / l_0, clamped to [0, 10].
        force_velocity_curve: f_V over v / (v_max l_0).
    """

    other_names = ("RigidTendonMuscle",)

    minimum_activation: Annotated[Number, quantity("-", lowest=0.0)] = field(default=0.0, kw_only=True)
    tendon: str = field(default="rigid", kw_only=True)
    activation_dynamics: bool = field(default=False, kw_only=True)
    active_force_length_curve: CurveLike | None = field(default=None, kw_only=True)
    passive_force_length_curve: CurveLike | None = field(default=None, kw_only=True)
    force_velocity_curve: CurveLike | None = field(default=None, kw_only=True)

    TENDONS: ClassVar[tuple[str, ...]] = ("rigid",)
    CURVES: ClassVar[tuple[str, ...]] = (
        "active_force_length_curve",
        "passive_force_length_curve",
        "force_velocity_curve",
    )

    def __post_init__(self) -> None:
        keep_curves(self, self.CURVES)
        super().__post_init__()

    def parameters(self) -> list[Parameter]:
        return [*super().parameters(), *(p for name in self.CURVES for p in getattr(self, name).parameters())]

    @cached_property
    def active_force_length(self) -> Curve:  # type: ignore[override]
        return self.active_force_length_curve  # type: ignore[return-value]

    @cached_property
    def passive_force_length(self) -> Curve:  # type: ignore[override]
        return Clamped(self.passive_force_length_curve)

    @cached_property
    def force_velocity(self) -> Curve:  # type: ignore[override]
        return self.force_velocity_curve  # type: ignore[return-value]

    def rigid_fiber(self, s: View, a: SX) -> Fiber:
        free = self.path.length.at(s) - sx(self.tendon_slack_length)
        taut = free > 0
        along = ca.fmax(free, 0)
        l_M = ca.sqrt(self._height**2 + along**2)
        safe = ca.if_else(l_M > 0, l_M, 1)
        v_n = ca.if_else(taut, self.path.length.rate(s), 0) / self._fastest
        return self._fiber(s, safe, ca.if_else(taut, along / safe, 0.1), v_n, self.f_V(v_n, a), taut)


@dataclass(frozen=True, eq=False, repr=False)
class Clamped(Curve):
    """A curve clamped to [0, 10].

    Args:
        curve: to clamp.
    """

    curve: Any

    def formula(self, x: SX) -> SX:
        return ca.fmin(ca.fmax(self.curve.value(x), 0), 10)
