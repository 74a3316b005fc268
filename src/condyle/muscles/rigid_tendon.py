"""OpenSim's RigidTendonMuscle."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, ClassVar

import casadi as ca

from condyle.laws.described import quantity, sx
from condyle.laws.view import View
from condyle.muscles import simm
from condyle.muscles.curves import Curve
from condyle.muscles.muscle import Fiber, Muscle
from condyle.records import dataclass
from condyle.trace.parameter import Parameter


@dataclass(frozen=True, eq=False, repr=False)
class RigidTendon(Muscle):
    """A muscle with a rigid tendon and SIMM's curves, without activation dynamics: OpenSim's
    RigidTendonMuscle.

    As there, the velocity of the fiber is that of the whole path, not its part along the fiber: for muscles
    with pennation, `Hill` and others with tendon="rigid" are nearer to the truth.

    Args:
        active_force_length_curve: f_L over l_M / l_0: a function of one number, or a Curve.
        passive_force_length_curve: f_P over l_M / l_0; counts as at least 0 and at most 10.
        force_velocity_curve: f_V over v / (v_max l_0).
    """

    other_names = ("RigidTendonMuscle",)

    minimum_activation: Annotated[Any, quantity("-", lowest=0.0)] = field(default=0.0, kw_only=True)
    tendon: str = field(default="rigid", kw_only=True)
    activation_dynamics: bool = field(default=False, kw_only=True)
    active_force_length_curve: Any = field(default=None, kw_only=True)
    passive_force_length_curve: Any = field(default=None, kw_only=True)
    force_velocity_curve: Any = field(default=None, kw_only=True)

    TENDONS: ClassVar[tuple[str, ...]] = ("rigid",)
    CURVES: ClassVar[tuple[str, ...]] = (
        "active_force_length_curve",
        "passive_force_length_curve",
        "force_velocity_curve",
    )

    def __post_init__(self) -> None:
        simm.keep_curves(self, self.CURVES)
        super().__post_init__()

    def parameters(self) -> list[Parameter]:
        return [*super().parameters(), *(p for name in self.CURVES for p in getattr(self, name).parameters())]

    @cached_property
    def active_force_length(self) -> Curve:  # type: ignore[override]
        return self.active_force_length_curve  # type: ignore[no-any-return]

    @cached_property
    def passive_force_length(self) -> Curve:  # type: ignore[override]
        return Clamped(self.passive_force_length_curve)

    @cached_property
    def force_velocity(self) -> Curve:  # type: ignore[override]
        return self.force_velocity_curve  # type: ignore[no-any-return]

    def rigid_fiber(self, s: View, a: ca.SX) -> Fiber:
        free = self.path.length.at(s) - sx(self.tendon_slack_length)
        taut = free > 0
        along = ca.fmax(free, 0)
        l_M = ca.sqrt(self._height**2 + along**2)
        safe = ca.if_else(l_M > 0, l_M, 1)
        v_n = ca.if_else(taut, self.path.length.rate(s), 0) / self._fastest
        return self._fiber(s, safe, ca.if_else(taut, along / safe, 0.1), v_n, self.f_V(v_n, a), taut)


@dataclass(frozen=True, eq=False, repr=False)
class Clamped(Curve):
    """A curve that counts as at least 0 and at most 10.

    Args:
        curve: which one.
    """

    curve: Any

    def formula(self, x: ca.SX) -> ca.SX:
        return ca.fmin(ca.fmax(self.curve.value(x), 0), 10)
