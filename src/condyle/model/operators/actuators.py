"""What muscles and actuators do at a unit of activation or control: kernels of static optimisation.

The forces of a path depend on its length and the rate of that alone, which come from the operators of paths:
these kernels are small however the paths run.
"""
from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from condyle.constraints.solve.equations import Wrenches
from condyle.forces.path import PathLaw
from condyle.laws.described import sx
from condyle.model.flat import column, rows
from condyle.model.operators.record import Operator, Stage
from condyle.model.symbols import Symbols
from condyle.muscles import Muscle


@dataclass(frozen=True)
class _Known:
    """A path, and its length, of which two numbers are known."""

    L: ca.SX
    Ldot: ca.SX

    @property
    def length(self) -> _Known:
        return self

    def at(self, s: Any) -> ca.SX:
        return self.L

    def rate(self, s: Any) -> ca.SX:
        return self.Ldot


def along(law: PathLaw, L: ca.SX, Ldot: ca.SX) -> Any:
    """The law on a path of this length."""
    twin = copy.copy(law)
    object.__setattr__(twin, "path", _Known(L, Ldot))
    return twin


def _unit_tensions(s: Symbols) -> list[ca.SX]:
    """Of every path with an activation or control: tension at 1 with a rigid tendon, passive tension, tension
    at 1 without the fibre's length and velocity."""
    active, passive, isometric = [], [], []
    places = {name: k for k, name in enumerate(s.model.paths)}
    for name, law in s.model.controlled_paths.items():
        k = places[name]
        if isinstance(law, Muscle):
            muscle, view = along(law, s["L"][k], s["Ldot"][k]), s.view(s.kinematics(moving=False))
            active.append(muscle.active_force(view, ca.SX(1)))
            passive.append(muscle.passive_force(view))
            isometric.append(sx(law.max_isometric_force))
        else:
            force = sx(law.optimal_force)                    # type: ignore[attr-defined]
            active, passive, isometric = [*active, force], [*passive, ca.SX(0)], [*isometric, force]
    return [column(active), column(passive), column(isometric)]


def _unit_loads(s: Symbols) -> list[ca.SX]:
    """Generalised forces of every other actuator at a control of 1."""
    view, out = s.view(s.kinematics(moving=False)), []
    for law in s.model.actuators.values():
        loads = Wrenches(view)
        replace(law, control=1.0).apply(view, loads)
        out.append(loads.on_speeds(1))
    return [column(rows(row) for row in out)]


_PATHS = "controlled_paths"
OPERATORS = (
    Operator("unit_tensions", Stage.VELOCITY, takes="L Ldot", results={"active": _PATHS, "passive": _PATHS,
             "isometric": _PATHS}, expressions=_unit_tensions, serves="static_optimization",
             differentiable=False, watched=False),
    Operator("unit_loads", Stage.POSITION, "q", results={"f": "actuators nu"}, expressions=_unit_loads,
             serves="static_optimization", differentiable=False),
)
