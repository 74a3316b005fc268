"""Goals: small controls and smooth movements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca

from condyle.arrays import SX
from condyle.control.dynamics import Dynamics, tendon
from condyle.control.goals.base import MovementGoal, PerDistance, names_of
from condyle.control.point import MovementPoint
from condyle.errors import DescriptionError, UnknownNameError, check_names
from condyle.records import dataclass


@dataclass(frozen=True, eq=False)
class Effort(PerDistance):
    """Controls should be small:

        integral over time of  sum of weight |control|^exponent                                  (1)

    Args:
        exponent: 2 or more; even ones need no absolute value.
        weights: of controls by name; 1 by default.
        per: "" or the name of a coordinate: then (1) is divided by its displacement.
    """

    exponent: int = 2
    weights: Mapping[str, float] | None = None
    per: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.exponent, bool) or not self.exponent >= 2:
            raise DescriptionError(f"Effort: exponent must be 2 or more, got {self.exponent!r}")

    def check(self, dynamics: Dynamics) -> None:
        check_names("control", self.weights or (), dynamics.system.inputs, "Effort: weights")
        if self.per and self.per not in dynamics.system.coordinates:
            raise UnknownNameError("coordinate", self.per, dynamics.system.coordinates, "Effort: per")

    def integrand(self, p: MovementPoint) -> SX:
        total = ca.SX(0)
        for name, c in zip(p.control_names, ca.vertsplit(p.controls) if p.control_names else (), strict=True):
            size = c if self.exponent % 2 == 0 else ca.fabs(c)
            total += (self.weights or {}).get(name, 1.0) * size**self.exponent
        return total


@dataclass(frozen=True, eq=False)
class Smoothness(MovementGoal):
    """Movements should be smooth:

        integral over time of  sum of weight udot^2                                              (2)

    over accelerations of speeds [rad/s^2, m/s^2], and rates of the normalized forces of elastic tendons
    [1/s], as in MocoInverse.

    Args:
        of: "accelerations", "tendons", or names of speeds and of muscles with elastic tendons.
        weights: by names of speeds and muscles; 1 for others.
    """

    of: str | Sequence[str] = "accelerations"
    weights: Mapping[str, float] | None = None

    def _rates(self, dynamics: Dynamics) -> dict[str, str]:
        """Names of the smoothed variables and of their rates."""
        tendons = {name: f"{tendon(name)} rate" for name in dynamics.elastic}
        speeds = {dynamics.tree.speeds[k]: "" for k in dynamics.free}
        if isinstance(self.of, str) and self.of in ("accelerations", "tendons"):
            return speeds if self.of == "accelerations" else tendons
        out = {}
        for name in names_of(self.of, "Smoothness: of"):
            if name not in tendons and name not in speeds:
                raise UnknownNameError("speed or muscle", name, [*speeds, *tendons], "Smoothness")
            out[name] = tendons.get(name, "")
        return out

    def check(self, dynamics: Dynamics) -> None:
        rates = self._rates(dynamics)
        if not rates:
            raise DescriptionError("Smoothness: the system has no elastic tendons")
        check_names("speed or muscle", self.weights or (), rates, "Smoothness: weights")

    def integrand(self, p: MovementPoint) -> SX:
        total = ca.SX(0)
        for name, rate in self._rates(p.dynamics).items():
            x = p[rate] if rate else p.udot[p.dynamics.tree.speed_index(name)]
            total += (self.weights or {}).get(name, 1.0) * x * x
        return total
