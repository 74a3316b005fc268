"""What each force exerts by itself, for reports of forces: records."""

from __future__ import annotations

import casadi as ca

from condyle.forces.path import PathLaw
from condyle.model.flat import column
from condyle.model.operators.actuators import along
from condyle.model.operators.dynamics import each_force
from condyle.model.operators.record import Operator, Stage
from condyle.model.symbols import Symbols


def _tensions(s: Symbols) -> list[ca.SX]:
    """Of every path, from its length and the rate of that."""
    view, places, out = s.view(s.kinematics()), {name: k for k, name in enumerate(s.model.paths)}, []
    for enabled, law in s.laws(view):
        if isinstance(law, PathLaw):
            k = places[view.law]
            out.append(ca.if_else(enabled, along(law, s["L"][k], s["Ldot"][k]).tension(view), 0))
    return [column(out)]


def _wrenches(s: Symbols) -> list[ca.SX]:
    """Moment about the origin of each body and force, in ground, of each force."""
    kin = s.kinematics()
    view, tree, out = s.view(kin), s.model.tree, []
    for loads in each_force(s, kin)[: len(s.model.exerting_forces)]:
        for B, body in enumerate(tree.bodies):
            m, f = loads.bodies.get(B, (ca.SX(3, 1), ca.SX(3, 1)))
            out.append(ca.vertcat(m - ca.cross(view.from_M(body.name, ca.SX(3, 1)), f), f))
    return [column(out)]


def _potentials(s: Symbols) -> list[ca.SX]:
    """Energy that each force has stored; zero where it has none."""
    view, out = s.view(s.kinematics()), []
    for enabled, force in s.laws(view):
        if force.exerts:
            stored = force.potential(view)
            out.append(ca.SX(0) if stored is None else ca.if_else(enabled, stored, 0))
    return [column(out)]


OPERATORS = (
    Operator(
        "tensions",
        Stage.FORCE,
        takes="q u L Ldot",
        results={"T": "paths"},
        reads="joints forces",
        expressions=_tensions,
        serves="force_report",
        differentiable=False,
        watched=False,
    ),
    Operator(
        "force_wrenches",
        Stage.FORCE,
        takes="q u",
        results={"F": "forces bodies 6"},
        reads="joints forces",
        expressions=_wrenches,
        serves="force_report",
        differentiable=False,
    ),
    Operator(
        "force_potentials",
        Stage.FORCE,
        takes="q u",
        results={"V": "forces"},
        reads="joints forces",
        expressions=_potentials,
        serves="force_report",
        differentiable=False,
    ),
)
