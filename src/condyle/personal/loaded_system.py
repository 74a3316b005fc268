"""A sized system with masses and mass centers as Parameters, and one measured wrench on its root.

Priors of masses: shares of the model, to 10 %; published shares differ by as much (de Leva 1996, J Biomech 29;
Dumas et al. 2007, J Biomech 40). Mass centers: 3 cm in the trunk, 2 in the pelvis, 1.5 in the thigh, 1 in the
shank.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.forces import ExternalWrench
from condyle.personal.anthropometry import groups, role, side
from condyle.personal.sized_system import _MADE, SizedSystem, kinematics_only
from condyle.presentation import cut
from condyle.records import dataclass
from condyle.studies.scaling.scale import scale
from condyle.system.system import System
from condyle.trace.parameter import Input, Parameter
from condyle.tree import scales

SHARE = 0.10
"""Standard deviation of the logarithm of a mass."""
CENTERS = {"trunk": 0.03, "pelvis": 0.02, "thigh": 0.015, "shank": 0.01}
"""Of mass centers, along each axis [m]."""
WRENCH = tuple(f"measured {k}{a}" for k in ("moment ", "force ") for a in "xyz")


@dataclass(frozen=True, eq=False)
class LoadedSystem:
    """A sized system with masses and mass centers as Parameters and one measured wrench on its root.

    Attributes:
        system: it.
        names: of the Parameters of masses, then of mass centers.
        prior_sd: of log masses and shifts [m], shape (m,).
        mass_of: the number of each body's mass Parameter; bodies of segments without mass have none.
        root: the body that floats.
        rows: its speeds.
        is_force: which of these are translations.
    """

    system: System
    names: tuple[str, ...]
    prior_sd: Array
    mass_of: dict[str, int]
    root: str
    rows: list[int]
    is_force: list[bool]


def loaded(one: SizedSystem, symmetric: bool) -> LoadedSystem:
    """The loaded system of a sized one, made once per model."""
    made = _MADE.setdefault(one.generic, {})
    key = ("loaded", one.sizes, symmetric)
    if key not in made:
        made[key] = _loaded(one, symmetric)
    return made[key]  # type: ignore[no-any-return]


def _loaded(one: SizedSystem, symmetric: bool) -> LoadedSystem:
    bare = kinematics_only(one.generic)
    P = [Parameter(n, 1.0) for n in one.sizes]
    factors: Any = {b: [P[k] for k in w] for b, w in one.which.items()}
    system = scale(bare, factors=factors, preserve_mass_distribution=True).system
    group, changed = groups(one.generic, symmetric), {}
    heavy = {group[b.name] for b in one.generic.bodies if b.mass > 0}
    if light := [g for g in dict.fromkeys(group.values()) if g not in heavy and g.split()[0] in CENTERS]:
        raise DescriptionError(
            f"personalize: loads: the model's {cut(light)} {'have' if len(light) > 1 else 'has'} no mass, and masses "
            "are found from the shares of the model; give bodies masses, or leave loads out"
        )
    names: dict[str, float] = {}
    mass_of = {}
    for b in system.bodies:
        g = group[b.name]
        if g not in heavy:
            continue
        f = Parameter(f"mass of {g}", 1.0)
        names.setdefault(f.name, SHARE)
        mass_of[b.name] = list(names).index(f.name)
        mass, com, I = b.mass_expressions()
        changed[b.name] = {"mass": mass * f.sx, "inertia": I * f.sx, "com": com}
    for b in system.bodies:
        g, segment = group[b.name], role(b.name)
        if segment not in CENTERS or not b.mass > 0.2 or (segment == "thigh" and "patella" in b.name.lower()):
            continue
        across = -1.0 if symmetric and side(b.name)[1] == "l" else 1.0
        for k, a in enumerate("xyz"):
            x = Parameter(f"mass center of {g} {a}", 0.0)
            names.setdefault(x.name, CENTERS[segment])
            com = changed[b.name]["com"]
            com[k] = com[k] + (across if a == "z" else 1.0) * x.sx
    system = system.copy(bodies=changed)
    floating = [
        b for b in system.bodies if b.parent is not None and b.parent.is_ground and len(b.speeds) >= 3
    ]
    if len(floating) != 1 or system.nq != system.nu:
        raise DescriptionError(
            "personalize: loads: masses need a model with one body that floats, and no quaternions; this one has "
            f"{len(floating)} that do"
        )
    root = floating[0]
    wrench: Any = [Input(n, 0.0) for n in WRENCH]
    system.add_force(
        "measured", ExternalWrench(root.name, (0.0, 0.0, 0.0), wrench[3:], wrench[:3], station_frame="ground")
    )
    units = scales.units(system.bodies)[1]
    rows = list(range(root.u.start, root.u.stop))
    sd = np.array(list(names.values()))
    return LoadedSystem(
        system, tuple(names), sd, mass_of, root.name, rows, [units[j].startswith("m/") for j in rows]
    )
