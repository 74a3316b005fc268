"""One System for subjects of all sizes: factors of bodies are Parameters, and marker positions are data."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.constraints import CoordinateCoupler
from condyle.laws.factors import OWN_FUNCTION
from condyle.mobilizers.base import Reversed
from condyle.personal.anthropometry import SizePrior, size_prior
from condyle.records import dataclass
from condyle.studies.scaling.scale import scale
from condyle.system.system import System
from condyle.trace.parameter import Parameter

_MADE: weakref.WeakKeyDictionary[System, dict[Any, Any]] = weakref.WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class SizedSystem:
    """A model without forces whose sizes are Parameters.

    Attributes:
        generic: the complete model.
        system: the model without forces and drawings, with its constraints on positions; sizes are
            Parameters.
        sizes: names of the sizes, in the order of log factors.
        which: sizes of each body along x, y, z, shape (3,).
        notes: parts that do not change their sizes.
    """

    generic: System
    system: System
    sizes: tuple[str, ...]
    which: dict[str, Array]
    notes: tuple[str, ...] = ()

    def parameters(self, s: Array) -> dict[str, float]:
        """Values of the system's Parameters for sizes s (n,)."""
        known = set(self.system.parameters)
        return {name: float(x) for name, x in zip(self.sizes, s, strict=True) if name in known}

    def factors(self, s: Array) -> dict[str, Array]:
        """Factors of each body along x, y, z, shape (3,)."""
        return {body: s[k] for body, k in self.which.items()}


def kinematics_only(system: System) -> System:
    """A copy without forces except gravity, without unilateral constraints and drawings."""
    one_sided = [n for n in system.constraints if getattr(system.constraint(n), "unilateral", False)]
    return system.copy(
        forces={n: None for n in system.forces if n != "gravity"},
        constraints=dict.fromkeys(one_sided),
        geometry={g.name: None for g in system.geometry},
    )


def even_bodies(system: System) -> frozenset[str]:
    """Bodies with a joint whose lengths can be scaled only by one factor, or with a coupler of a translation."""
    out = set()
    coupled = {
        law.coordinates[-1]
        for n in system.constraints
        if isinstance(law := system.constraint(n), CoordinateCoupler) and hasattr(law.function, "factor")
    }
    for b in system.bodies:
        m = b.mobilizer
        if m.has_lengths and not m.scales_with_body and b.parent is not None and not b.parent.is_ground:
            out.add(b.name if isinstance(m, Reversed) else b.parent.name)
        for c, unit in zip(b.coordinates, m.units, strict=True):
            if unit == "m" and c.name in coupled and b.parent is not None and not b.parent.is_ground:
                out.add(b.parent.name)
    return frozenset(out)


def sized(generic: System, sizes: str, symmetric: bool) -> SizedSystem:
    """The sized system of a model, cached per model, so that it compiles once."""
    parts = (generic.bodies, generic.markers, tuple(generic.constraints))
    made = _MADE.setdefault(generic, {})
    key = (sizes, symmetric)
    if key not in made or made[key][0] != parts:
        bare = kinematics_only(generic)
        prior = prior_of(generic, None, None, sizes, symmetric)
        P = [Parameter(name, 1.0) for name in prior.names]
        factors: Any = {body: [P[k] for k in which] for body, which in prior.which.items()}
        scaling = scale(bare, factors=factors)
        notes = tuple(x for x in scaling.notes if OWN_FUNCTION in x)
        made[key] = parts, SizedSystem(generic, scaling.system, prior.names, prior.which, notes)
    return made[key][1]  # type: ignore[no-any-return]


def prior_of(
    generic: System, height: float | None, mass: float | None, sizes: str, symmetric: bool
) -> SizePrior:
    """Prior of the sizes of a model."""
    return size_prior(generic, height, mass, sizes, symmetric, even_bodies(generic))


def stations(system: SizedSystem, names: list[str]) -> tuple[Array, Array, Array]:
    """Stations in the generic model (M, 3), the numbers of their bodies (M,), of their sizes (M, 3)."""
    on = [system.generic.marker(n) for n in names]
    return (
        np.array([m.station for m in on], dtype=float),
        np.array([system.system.body(m.body).index for m in on]),
        np.array([system.which[m.body] for m in on]),
    )
