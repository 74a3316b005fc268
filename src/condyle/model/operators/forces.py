"""Records of individual forces: tensions of muscles and actuators at unit activation or control, which are
kernels of static optimization; reported quantities of muscles; the imbalance of fibers and tendons; and
quantities for reports of forces.

The forces of a path depend only on its length and rate, which come from the operators of paths, so that
these kernels are small for any path.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import casadi as ca

from condyle.arrays import SX
from condyle.model.flat import column, rows
from condyle.model.operators.costs import LONGEST_OF_FEW, KnownLengthCost
from condyle.model.operators.dynamics import each_force
from condyle.model.operators.record import OperatorRecord, Stage
from condyle.model.operators.rooms import equations, path_operators
from condyle.records import dataclass

if TYPE_CHECKING:
    from condyle.forces.path import PathLaw
    from condyle.model.symbols import Symbols
    from condyle.muscles import Muscle


@dataclass(frozen=True)
class _Known:
    """A path, and its length, whose value and rate are given numbers."""

    L: ca.SX
    Ldot: ca.SX

    @property
    def length(self) -> _Known:
        return self

    def at(self, s: Any) -> SX:
        return self.L

    def rate(self, s: Any) -> SX:
        return self.Ldot


def along(law: PathLaw, L: SX, Ldot: SX) -> Any:
    """The law on a path of this length."""
    twin = copy.copy(law)
    object.__setattr__(twin, "path", _Known(L, Ldot))
    return twin


def _unit_tensions(s: Symbols) -> list[SX]:
    """Three tensions of every path with an activation or control: `tensions_at_one`."""
    view, places = s.view(s.kinematics(moving=False)), list(s.model.paths)
    each = [
        path_operators.tensions_at_one(along(law, s["L"][k], s["Ldot"][k]), view)
        for k, law in ((places.index(name), law) for name, law in s.model.controlled_paths.items())
    ]
    return [column(tensions) for tensions in zip(*each, strict=True)] if each else [ca.SX(0, 1)] * 3


def _unit_loads(s: Symbols) -> list[SX]:
    """Generalized forces of every other actuator at a control of 1."""
    view, out = s.view(s.kinematics(moving=False)), []
    for law in s.model.actuators.values():
        loads = equations.UnitWrenches(view)
        law.at_one().apply(view, loads)
        out.append(loads.on_speeds(1))
    return [column(rows(row) for row in out)]


def _known_lengths(s: Symbols, view: Any) -> Iterator[tuple[SX, Any]]:
    """Laws along paths of given lengths, with their enabled flags; the view gives each law its own z."""
    places = {name: k for k, name in enumerate(s.model.paths)}
    for enabled, _ in s.laws(view):
        if (law := s.model.path_laws.get(view.law)) is not None:
            k = places[view.law]
            yield enabled, along(law, s["L"][k], s["Ldot"][k])


def _muscles(s: Symbols, view: Any) -> Iterator[Muscle]:
    muscles = {*s.model.muscles}
    return (law for _, law in _known_lengths(s, view) if view.law in muscles)


def _reports(s: Symbols) -> list[SX]:
    view = s.view(s.kinematics())
    return [column(x for muscle in _muscles(s, view) for x in path_operators.reported(muscle, view))]


def _imbalance(s: Symbols) -> list[SX]:
    """path_operators.imbalance of each elastic tendon."""
    view, tendons = s.view(s.kinematics()), path_operators.elastic(s.model)
    return [
        column(
            x
            for muscle in _muscles(s, view)
            if view.law in tendons
            for x in path_operators.imbalance(muscle, view)
        )
    ]


def _tensions(s: Symbols) -> list[SX]:
    """Tension of every path, from its length and rate."""
    view = s.view(s.kinematics())
    return [column(ca.if_else(on, law.tension(view), 0) for on, law in _known_lengths(s, view))]


def _wrenches(s: Symbols) -> list[SX]:
    """Moment about the origin of each body, and force, in ground, for each force element."""
    kin = s.kinematics()
    view, tree, out = s.view(kin), s.model.tree, []
    for loads in each_force(s, kin)[: len(s.model.exerting_forces)]:
        for B, body in enumerate(tree.bodies):
            m, f = loads.bodies.get(B, (ca.SX(3, 1), ca.SX(3, 1)))
            out.append(ca.vertcat(m - ca.cross(view.from_M(body.name, ca.SX(3, 1)), f), f))
    return [column(out)]


def _potentials(s: Symbols) -> list[SX]:
    """Potential energy of each force; zero if it has none."""
    view, out = s.view(s.kinematics()), []
    for enabled, force in s.laws(view):
        if force.exerts:
            stored = force.potential(view)
            out.append(ca.SX(0) if stored is None else ca.if_else(enabled, stored, 0))
    return [column(out)]


_PATHS = "controlled_paths"
OPERATORS = (
    OperatorRecord(
        "unit_tensions",
        Stage.VELOCITY,
        takes="q L Ldot",
        results={"active": _PATHS, "passive": _PATHS, "isometric": _PATHS},
        expressions=_unit_tensions,
        looped=path_operators.unit_tensions,
        cost=KnownLengthCost("controlled_kinds", 150),
        serves="static_optimization",
        watched=False,
    ),
    OperatorRecord(
        "unit_loads",
        Stage.POSITION,
        "q",
        results={"f": "actuators nu"},
        expressions=_unit_loads,
        serves="static_optimization",
    ),
    OperatorRecord(
        "muscle_reports",
        Stage.FORCE,
        takes="q u L Ldot",
        results={"report": "muscles reported"},
        reads="joints forces",
        expressions=_reports,
        looped=path_operators.muscle_reports,
        cost=KnownLengthCost("reporting_kinds", 300, LONGEST_OF_FEW),
        serves="muscle_analysis",
        watched=False,
    ),
    OperatorRecord(
        "imbalance",
        Stage.FORCE,
        takes="q u L Ldot",
        results={"imbalance": "tendons 5"},
        reads="joints forces",
        expressions=_imbalance,
        looped=path_operators.imbalances,
        cost=KnownLengthCost("elastic_kinds", 170, LONGEST_OF_FEW),
        serves="muscles.equilibrium",
        watched=False,
    ),
    OperatorRecord(
        "tensions",
        Stage.FORCE,
        takes="q u L Ldot",
        results={"T": "paths"},
        reads="joints forces",
        expressions=_tensions,
        serves="force_report",
        watched=False,
    ),
    OperatorRecord(
        "force_wrenches",
        Stage.FORCE,
        takes="q u",
        results={"F": "forces bodies 6"},
        reads="joints forces",
        expressions=_wrenches,
        serves="force_report",
    ),
    OperatorRecord(
        "force_potentials",
        Stage.FORCE,
        takes="q u",
        results={"V": "forces"},
        reads="joints forces",
        expressions=_potentials,
        serves="force_report",
    ),
)
