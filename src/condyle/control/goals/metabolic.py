"""The goal of small metabolic energy."""

from __future__ import annotations

import casadi as ca

from condyle.arrays import SX
from condyle.control.dynamics import Dynamics
from condyle.control.goals.base import PerDistance, total_mass
from condyle.control.point import MovementPoint
from condyle.errors import DescriptionError, UnknownNameError
from condyle.muscles.metabolics import Metabolics, Umberger2010
from condyle.records import dataclass


@dataclass(frozen=True, eq=False)
class Metabolic(PerDistance):
    """Muscles should consume little energy: the integral over time of their metabolic power [J], without
    the basal rate of the body.

    Args:
        model: `cd.muscles.Umberger2010()`, by default, or `cd.muscles.Bhargava2004()`, in its smooth form.
        per: "" or the name of a coordinate: then it is divided by its displacement [J/m], as in a cost of
            transport.
        basal: include the basal rate of the body.
    """

    model: Metabolics | None = None
    per: str = ""
    basal: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model is not None and not isinstance(self.model, Metabolics):
            raise DescriptionError(
                f"Metabolic: model: expected cd.muscles.Umberger2010() or Bhargava2004(), got {self.model!r}"
            )

    def check(self, dynamics: Dynamics) -> None:
        if not dynamics.muscles:
            raise DescriptionError("Metabolic: the system has no muscles")
        if self.per and self.per not in dynamics.index:
            raise UnknownNameError("coordinate", self.per, dynamics.system.coordinates, "Metabolic: per")

    def code(self, dynamics: Dynamics) -> str:
        return f"{super().code(dynamics)} {self._rest(dynamics)}"

    def _rest(self, dynamics: Dynamics) -> float:
        model = self.model or Umberger2010()
        return model.basal(total_mass(dynamics)) if self.basal else 0.0

    def integrand(self, p: MovementPoint) -> SX:
        model = self.model or Umberger2010()
        power = [model.power(name, p.dynamics.muscles[name], x, smooth=True) for name, x in p.working.items()]
        return sum(power, ca.SX(self._rest(p.dynamics)))
