"""The second formulation: maximal coordinates, joints as constraints, Lagrange multipliers. A check on the
first one.

    from condyle import maximal
    udot = maximal.forward_dynamics(system, q, u)           # the same answer as system.forward_dynamics(q, u)
    equations = maximal.formulation(system).at(q, u)    # C_V, gamma, M, Q, ...; .forward(tau), .inverse(udot)
    motion = maximal.formulation(system).simulate(q, u, t_final)   # the same motion as that of cd.simulate
"""

from typing import TYPE_CHECKING

from condyle.arguments import missing
from condyle.maximal.equations import Equations, Solution
from condyle.maximal.simulation import MaximalTrajectory
from condyle.maximal.static_optimization import MuscleSolution, static_optimization
from condyle.maximal.system import (
    Loop,
    MaximalSystem,
    formulation,
    forward_dynamics,
    inverse_dynamics,
    reactions,
)

__all__ = [
    "Equations",
    "Loop",
    "MaximalSystem",
    "MaximalTrajectory",
    "MuscleSolution",
    "Solution",
    "formulation",
    "forward_dynamics",
    "inverse_dynamics",
    "reactions",
    "static_optimization",
]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        raise missing("cd.maximal", name, __all__, {"of": "cd.maximal.formulation(system)"})
