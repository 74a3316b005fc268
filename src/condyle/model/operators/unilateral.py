"""Constraints that act one way, as solvers of impacts and contact forces need them: one record."""

from __future__ import annotations

import casadi as ca

from condyle.constraints.solve.equations import ConstraintEquations
from condyle.constraints.unilateral import RigidContact
from condyle.laws.described import sx
from condyle.model.flat import column, rows
from condyle.model.operators.record import Operator, Stage
from condyle.model.symbols import Symbols


def _rows(s: Symbols) -> list[ca.SX]:
    """docs/theory/rigid_contact.md (2)-(4) of each, whether closed or not; without friction the rows of slip
    are zero."""
    view, nu = s.view(s.kinematics()), s.model.tree.nu
    gap, rate, slip, G, bias, numbers = [], [], [], [], [], []
    for name, c in s.model.unilateral.items():
        mine = ConstraintEquations({name: c.holding()}, view, ca.SX.ones(1))
        p, v = mine.errors()
        a, J, n = mine.bias(), mine.jacobian(), v.numel()
        gap.append(-p)
        rate.append(-v[0])
        slip.append(ca.vertcat(v[1:, :], ca.SX(3 - n, 1)))
        G.append(rows(ca.vertcat(-J[0, :], J[1:, :], ca.SX(3 - n, nu))))
        bias.append(ca.vertcat(-a[0], a[1:, :], ca.SX(3 - n, 1)))
        numbers.append(ca.horzcat(sx(c.restitution), sx(getattr(c, "friction", 0.0))))
    made = ca.vertcat(ca.SX(0, 2), *numbers)
    return [
        ca.densify(x)
        for x in (column(gap), column(rate), column(slip), column(G), column(bias), made[:, 0], made[:, 1])
    ]


def _tangents(s: Symbols) -> list[ca.SX]:
    """t_1 and t_2 of (4) of each, row by row; zero without friction."""
    view = s.view(s.kinematics(moving=False))
    out: list[ca.SX] = []
    for c in s.model.unilateral.values():
        t = (
            c.across([leaf.at(view) for leaf in c.places])
            if isinstance(c, RigidContact) and c.has_friction
            else (ca.SX(3, 1), ca.SX(3, 1))
        )
        out += t
    return [ca.densify(column(out))]


OPERATORS = (
    Operator(
        "unilateral_rows",
        Stage.VELOCITY,
        takes="q u",
        results={
            "gap": "unilateral",
            "rate": "unilateral",
            "slip": "unilateral 2",
            "G": "unilateral 3 nu",
            "bias": "unilateral 3",
            "restitution": "unilateral",
            "friction": "unilateral",
        },
        reads="joints constraints",
        serves="simulate",
        expressions=_rows,
        watched=False,
    ),
    Operator(
        "unilateral_tangents",
        Stage.POSITION,
        takes="q u",
        results={"T": "unilateral 2 3"},
        reads="joints constraints",
        serves="simulate",
        expressions=_tangents,
        watched=False,
    ),
)
