"""Goals for forces: contact forces close to measured ones, and small joint reactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array
from condyle.contact.hunt_crossley import ContactLaw
from condyle.control.dynamics import Dynamics
from condyle.control.goals.base import MovementGoal, MovementPoints, names_of, total_mass
from condyle.control.point import MovementPoint
from condyle.dynamics import rnea
from condyle.errors import DescriptionError, check_name, check_names
from condyle.records import assign, dataclass
from condyle.studies.external_load import ExternalLoad
from condyle.studies.motion.spline_rates import spline
from condyle.trace.parameter import Expression


def weight_of(dynamics: Dynamics) -> float:
    """Weight of the system [N]; 1 without gravity."""
    a: Any = dynamics.model.gravity.acceleration
    g = float(np.linalg.norm(np.ravel(a.at() if isinstance(a, Expression) else a)))
    return total_mass(dynamics) * g or 1.0


@dataclass(frozen=True, eq=False)
class ContactForces(MovementGoal):
    """Contact forces should be close to measured ones:

        integral over time of  sum of weight |f - f measured|^2 / (m g)^2                        (1)

    with f the sum of the forces of contacts on a body, and m g the weight of the system.

    Args:
        loads: measured forces, `cd.ExternalLoad`, one or several, such as ground reactions on both feet; the
            system itself must not include them.
        contacts: {body of a load: names of contacts whose forces count}; those on the body by default.
        weights: {body of a load: weight}; 1 for others.
        axes: components in ground that count: "xyz", or "xy" in a plane.
    """

    loads: ExternalLoad | Sequence[ExternalLoad] | Mapping[str, ExternalLoad]
    contacts: Mapping[str, Sequence[str]] | None = None
    weights: Mapping[str, float] | None = None
    axes: str = "xyz"
    each: tuple[ExternalLoad, ...] = field(init=False, repr=False, default=())

    def __post_init__(self) -> None:
        super().__post_init__()
        many = self.loads.values() if isinstance(self.loads, Mapping) else self.loads
        each = (many,) if isinstance(many, ExternalLoad) else tuple(many)
        if not each or not all(isinstance(x, ExternalLoad) and x.force is not None for x in each):
            raise DescriptionError(f"ContactForces: expected cd.ExternalLoad with forces, got {self.loads!r}")
        assign(self, each=each)
        if not self.axes or any(a not in "xyz" for a in self.axes):
            raise DescriptionError(f"ContactForces: axes must be of 'xyz', got {self.axes!r}")

    def _contacts(self, dynamics: Dynamics, load: ExternalLoad) -> list[tuple[str, float]]:
        """Contacts that count for a load, and the sign of their force on its body."""
        known = {
            name: law
            for name, law in dynamics.model.forces.items()
            if isinstance(law, ContactLaw) and name not in dynamics.off
        }
        given = (self.contacts or {}).get(load._name)
        out = []
        for name in given or [
            n for n, law in known.items() if load._name in [s.body for s in law.surfaces()]
        ]:
            check_name("contact", name, known, "ContactForces: contacts")
            a, _ = known[name].surfaces()
            out.append((name, -1.0 if a.body == load._name or (given and a.body != "ground") else 1.0))
        if not out:
            raise DescriptionError(
                f"ContactForces: no contact of the system acts on {load._name!r}; give contacts={{body: names}}"
            )
        return out

    def check(self, dynamics: Dynamics) -> None:
        bodies = [x._name for x in self.each]
        check_names(
            "body of a load", (*(self.contacts or ()), *(self.weights or ())), bodies, "ContactForces"
        )
        for load in self.each:
            if str(load.frame) != "ground":
                raise DescriptionError(f"ContactForces: the load on {load._name!r} must be given in ground")
            self._contacts(dynamics, load)

    def code(self, dynamics: Dynamics) -> str:
        return f"ContactForces 1 {self.axes} {[self._contacts(dynamics, x) for x in self.each]}"

    def data(self, frames: MovementPoints) -> Array:
        size, columns = weight_of(frames.dynamics), []
        for load in self.each:
            t = frames.clock(load.table.time, f"ContactForces: the load on {load._name!r}")
            w = (self.weights or {}).get(load._name, 1.0) / size**2
            columns += [np.full((len(t), 1), w), spline(load.table.time, load._checked()[:, :3], 3)(t)]
        return np.concatenate(columns, axis=1)

    def integrand(self, p: MovementPoint) -> SX:
        total, k = ca.SX(0), 0
        chosen = ["xyz".index(a) for a in self.axes]
        for load in self.each:
            f = ca.SX(3, 1)
            for name, sign in self._contacts(p.dynamics, load):
                f += sign * p.dynamics.model.forces[name].forces(p.view).f  # type: ignore[attr-defined]
            off = (f - p.data[k + 1 : k + 4])[chosen]
            total, k = total + p.data[k] * ca.sumsqr(off), k + 4
        return total


@dataclass(frozen=True, eq=False)
class Reactions(MovementGoal):
    """Forces in joints should be small:

        integral over time of  sum of weight |F|^2 / (m g)^2                                     (1)

    with F the force that the mobilizer of a body transmits, as in `cd.joint_reactions`, and m g the weight
    of the system.

    Args:
        bodies: bodies whose joints count: one name or several.
        weights: {body: weight}; 1 for others.
        moments: include the moment about the joint's center, |M|^2 / (m g 1 m)^2.
    """

    bodies: str | Sequence[str]
    weights: Mapping[str, float] | None = None
    moments: bool = False

    def check(self, dynamics: Dynamics) -> None:
        known = [b.name for b in dynamics.system.bodies]
        names = names_of(self.bodies, "Reactions: bodies")
        check_names("body", names, known, "Reactions")
        check_names("body", self.weights or (), names, "Reactions: weights")

    def code(self, dynamics: Dynamics) -> str:
        return f"{super().code(dynamics)} {weight_of(dynamics)!r}"

    def integrand(self, p: MovementPoint) -> SX:
        s, tree, loads = p.symbols, p.dynamics.tree, p.loads
        if p.multipliers.numel():
            loads = s.rows(p.kinematics).loads(p.multipliers, loads)
        F = rnea.mobilizer_forces(tree, p.kinematics, p.udot, s.gravity, loads)
        total = ca.SX(0)
        for name in names_of(self.bodies, "Reactions"):
            moment, force = F[tree.body(name).index]
            size = ca.sumsqr(force) + (ca.sumsqr(moment) if self.moments else 0)
            total += (self.weights or {}).get(name, 1.0) * size
        return total / weight_of(p.dynamics) ** 2
