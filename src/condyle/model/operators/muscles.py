"""What muscles report of themselves, and how far fibers are from equilibrium with their tendons: records.
Lengths of their paths come from the operators of paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import casadi as ca

from condyle.model.flat import column, rows
from condyle.model.operators.actuators import along
from condyle.model.operators.record import Operator, Stage
from condyle.model.symbols import Symbols
from condyle.muscles import Muscle


def _muscles(s: Symbols, view: Any) -> Iterator[Muscle]:
    """Muscles on paths of known lengths; the view shows each its own z."""
    places = {name: k for k, name in enumerate(s.model.paths)}
    for _, force in s.laws(view):
        if isinstance(force, Muscle):
            k = places[view.law]
            yield along(force, s["L"][k], s["Ldot"][k])


def _reports(s: Symbols) -> list[ca.SX]:
    view = s.view(s.kinematics())
    return [column(x for muscle in _muscles(s, view) for _, x in muscle.report(view).values())]


def _imbalance(s: Symbols) -> list[ca.SX]:
    """Of each elastic tendon: the imbalance r of its fiber, dr/dl_M, bounds of l_M, the tendon's state. The
    fiber's length is read in the place of the tendon's state."""
    view, out = s.view(s.kinematics()), []
    for muscle in _muscles(s, view):
        if muscle.tendon == "elastic":
            l_M = muscle.tendon_state(view)
            f_T, r = muscle.imbalance(view, l_M)
            out.append(
                ca.horzcat(r, ca.jacobian(r, l_M), *muscle.bounds(view), muscle.tendon_state_at(l_M, f_T))
            )
    return [rows(ca.vertcat(ca.SX(0, 5), *out))]


OPERATORS = (
    Operator(
        "muscle_reports",
        Stage.FORCE,
        takes="q u L Ldot",
        results={"report": "muscles reported"},
        reads="joints forces",
        expressions=_reports,
        serves="muscle_analysis",
        differentiable=False,
        watched=False,
    ),
    Operator(
        "imbalance",
        Stage.FORCE,
        takes="q u L Ldot",
        results={"imbalance": "tendons 5"},
        reads="joints forces",
        expressions=_imbalance,
        serves="muscles.equilibrium",
        differentiable=False,
        watched=False,
    ),
)
