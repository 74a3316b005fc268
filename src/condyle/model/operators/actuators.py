"""What muscles and actuators do at a unit of activation or control: kernels of static optimization.

The forces of a path depend on its length and the rate of that alone, which come from the operators of paths:
these kernels are small however the paths run.
"""

from __future__ import annotations

import copy
from typing import Any

import casadi as ca

from condyle.constraints.solve.equations import Wrenches
from condyle.forces.path import PathLaw
from condyle.model.flat import column, rows
from condyle.model.looped import path_operators as looped
from condyle.model.operators.record import Operator, Stage
from condyle.model.symbols import Symbols
from condyle.records import dataclass


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
    """Of every path with an activation or control, three tensions: `tensions_at_one`."""
    view, places = s.view(s.kinematics(moving=False)), list(s.model.paths)
    each = [
        looped.tensions_at_one(along(law, s["L"][k], s["Ldot"][k]), view)
        for k, law in ((places.index(name), law) for name, law in s.model.controlled_paths.items())
    ]
    return [column(tensions) for tensions in zip(*each, strict=True)] if each else [ca.SX(0, 1)] * 3


def _unit_loads(s: Symbols) -> list[ca.SX]:
    """Generalized forces of every other actuator at a control of 1."""
    view, out = s.view(s.kinematics(moving=False)), []
    for law in s.model.actuators.values():
        loads = Wrenches(view)
        law.at_one().apply(view, loads)
        out.append(loads.on_speeds(1))
    return [column(rows(row) for row in out)]


_PATHS = "controlled_paths"
OPERATORS = (
    Operator(
        "unit_tensions",
        Stage.VELOCITY,
        takes="q L Ldot",
        results={"active": _PATHS, "passive": _PATHS, "isometric": _PATHS},
        expressions=_unit_tensions,
        looped=looped.unit_tensions,
        serves="static_optimization",
        differentiable=False,
        watched=False,
    ),
    Operator(
        "unit_loads",
        Stage.POSITION,
        "q",
        results={"f": "actuators nu"},
        expressions=_unit_loads,
        serves="static_optimization",
        differentiable=False,
    ),
)
