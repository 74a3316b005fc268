"""What muscles report of themselves: the record. Lengths of their paths come from the operators of paths."""
from __future__ import annotations

import casadi as ca

from condyle.model.flat import column
from condyle.model.operators.actuators import along
from condyle.model.operators.record import Operator, Stage
from condyle.model.symbols import Symbols
from condyle.muscles import Muscle


def _reports(s: Symbols) -> list[ca.SX]:
    view, places, out = s.view(s.kinematics()), {name: k for k, name in enumerate(s.model.paths)}, []
    for _, force in s.laws(view):
        if isinstance(force, Muscle):
            k = places[view.law]
            out += [x for _, x in along(force, s["L"][k], s["Ldot"][k]).report(view).values()]
    return [column(out)]


OPERATORS = (
    Operator("muscle_reports", Stage.FORCE, takes="q u L Ldot", results={"report": "muscles reported"},
             reads="joints forces", expressions=_reports, serves="muscle_analysis", differentiable=False,
             watched=False),
)
