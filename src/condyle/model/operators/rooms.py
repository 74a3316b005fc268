"""Lazily loaded modules that build expressions and loops. The records name their functions; a module is
loaded when one of these is called, which does not happen with machine code from the cache.
"""

from typing import TYPE_CHECKING

from condyle.loading import Deferred

if TYPE_CHECKING:
    from condyle.constraints.solve import corrections, equations, multipliers
    from condyle.contact import hertz, hunt_crossley, surfaces
    from condyle.dynamics import aba, energy, inertia, kinematics, mass_matrix, rates, rnea, view
    from condyle.model.looped import constrained, passes, path_operators
else:
    corrections = Deferred("condyle.constraints.solve.corrections")
    equations = Deferred("condyle.constraints.solve.equations")
    multipliers = Deferred("condyle.constraints.solve.multipliers")
    hertz = Deferred("condyle.contact.hertz")
    hunt_crossley = Deferred("condyle.contact.hunt_crossley")
    surfaces = Deferred("condyle.contact.surfaces")
    aba = Deferred("condyle.dynamics.aba")
    energy = Deferred("condyle.dynamics.energy")
    inertia = Deferred("condyle.dynamics.inertia")
    kinematics = Deferred("condyle.dynamics.kinematics")
    mass_matrix = Deferred("condyle.dynamics.mass_matrix")
    rates = Deferred("condyle.dynamics.rates")
    rnea = Deferred("condyle.dynamics.rnea")
    view = Deferred("condyle.dynamics.view")
    constrained = Deferred("condyle.model.looped.constrained")
    passes = Deferred("condyle.model.looped.passes")
    path_operators = Deferred("condyle.model.looped.path_operators")

__all__ = [
    "aba",
    "constrained",
    "corrections",
    "energy",
    "equations",
    "hertz",
    "hunt_crossley",
    "inertia",
    "kinematics",
    "mass_matrix",
    "multipliers",
    "passes",
    "path_operators",
    "rates",
    "rnea",
    "surfaces",
    "view",
]
