"""What muscles report of themselves: the record."""
from __future__ import annotations

import casadi as ca

from condyle.model.flat import column
from condyle.model.operators.record import Operator, Stage
from condyle.model.symbols import Symbols
from condyle.muscles import Muscle


def _reports(s: Symbols) -> list[ca.SX]:
    view = s.view(s.kinematics())
    return [column(x for _, force in s.laws(view) if isinstance(force, Muscle)
                   for _, x in force.report(view).values())]


OPERATORS = (
    Operator("muscle_reports", Stage.FORCE, takes="q u", results={"report": "muscles reported"},
             reads="joints forces", expressions=_reports, serves="muscle_analysis"),
)
