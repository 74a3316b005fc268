"""The Hill muscle of ruggiero2020 (20), (21), with any curves."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import casadi as ca
import numpy as np

from condyle.muscles.curves import curve
from condyle.muscles.muscle import Muscle
from condyle.muscles.thelen2003 import (
    ThelenActiveForceLength,
    ThelenForceVelocity,
    ThelenPassiveForceLength,
    ThelenTendonForceLength,
)
from condyle.records import dataclass
from condyle.trace.parameter import Parameter

CURVES = {
    "active_force_length": None,
    "passive_force_length": None,
    "tendon_force_length": None,
    "force_velocity": (-1.0, 1.0),
}
"""Where a Python function that is given for a curve rises."""


@dataclass(frozen=True, eq=False, repr=False)
class Hill(Muscle):
    """The muscle of Ruggiero and Sicilia (2020), (20), (21): a rigid tendon, force linear in the activation.

    The paper draws its curves; here they are Thelen's of full activation. Any other may be given: a Curve,
    one of `cd.functions`, or a Python function of one number. With an elastic tendon force_velocity must rise
    from -1 to 1, and is straight beyond.

    Args:
        active_force_length: f_L of l_M / l_0.
        passive_force_length: f_P of l_M / l_0.
        tendon_force_length: f_T of l_T / l_S.
        force_velocity: f_V of v_M / (v_max l_0).
    """

    tendon: str = field(default="rigid", kw_only=True)
    activation_dynamics: bool = field(default=False, kw_only=True)
    active_force_length: Any = field(default=ThelenActiveForceLength(), kw_only=True)  # type: ignore[misc]
    passive_force_length: Any = field(default=ThelenPassiveForceLength(), kw_only=True)  # type: ignore[misc]
    tendon_force_length: Any = field(default=ThelenTendonForceLength(), kw_only=True)  # type: ignore[misc]
    force_velocity: Any = field(default=ThelenForceVelocity(), kw_only=True)  # type: ignore[misc]

    def __post_init__(self) -> None:
        for name, between in CURVES.items():
            kept = curve(getattr(self, name), between if self.tendon == "elastic" else None)
            object.__setattr__(self, name, kept)
        super().__post_init__()

    def parameters(self) -> list[Parameter]:
        return [*super().parameters(), *(p for name in CURVES for p in getattr(self, name).parameters())]

    def velocity_n(self, l_n: ca.SX, f: ca.SX, a: ca.SX) -> tuple[ca.SX, ca.SX]:
        """NaN where a user's curve is, which the search for a velocity would hide."""
        found = super().velocity_n(l_n, f, a)
        known = ca.logic_and(
            *(ca.fabs(c.value(l_n)) < np.inf for c in (self.active_force_length, self.passive_force_length))
        )
        return tuple(ca.if_else(known, x, np.nan) for x in found)  # type: ignore[return-value]
