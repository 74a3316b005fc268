"""The muscle of Thelen 2003, as OpenSim has it."""
from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from condyle.errors import DescriptionError
from condyle.muscles.curves import (
    ThelenActiveForceLength,
    ThelenForceVelocity,
    ThelenPassiveForceLength,
    ThelenTendonForceLength,
)
from condyle.muscles.muscle import Muscle, Positive


@dataclass(frozen=True, eq=False, repr=False)
class Thelen2003(Muscle):
    """A muscle with the curves of Thelen 2003; names and defaults as in OpenSim.

    Args:
        FmaxTendonStrain: strain of the tendon at F_0.
        FmaxMuscleStrain: strain of the passive fibre at F_0.
        KshapeActive: shape of the active force-length curve.
        KshapePassive: shape of the passive force-length curve.
        Af: shape of the force-velocity curve.
        Flen: greatest force in lengthening.
        fv_linear_extrap_threshold: share of Flen from which on the force-velocity curve is straight.
    """

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
            raise DescriptionError("Thelen2003: fiber_damping has no effect with an elastic tendon: its "
                                   "fibre's velocity follows "
                                   "from the curves alone; leave it out, or take tendon='rigid'")
        if isinstance(self.fv_linear_extrap_threshold, float) and not self.fv_linear_extrap_threshold < 1:
            raise DescriptionError("Thelen2003: fv_linear_extrap_threshold is a share of Flen and must be "
                                   "below 1, got "
                                   f"{self.fv_linear_extrap_threshold!r}")

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
