"""Records of constraints, their multipliers and forces. FORCE is their earliest stage, which disabling one
invalidates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from condyle.arrays import SX
from condyle.model.flat import column, rows
from condyle.model.operators import columns
from condyle.model.operators.costs import MultiplierCost
from condyle.model.operators.record import OperatorRecord, Stage
from condyle.model.operators.rooms import aba, constrained, corrections, energy, multipliers, rnea

if TYPE_CHECKING:
    from condyle.model.symbols import Symbols


def solved_multipliers(s: Symbols, tau: SX) -> list[SX]:
    """lambda and the status."""
    return _held(s, tau)[1:]


def _held(s: Symbols, tau: SX) -> list[SX]:
    """udot, lambda and the status, under the given tau."""
    kin = s.kinematics()
    udot, status = s.free_accelerations(kin, tau)
    found = multipliers.constrained(s.rows(kin), udot, s.lock)
    return [found.udot, found.lambda_, multipliers.with_unmet(status, s.model.tree, found.unmet)]


def _matrix(s: Symbols) -> list[SX]:
    if not s.model.constraints:
        return [ca.SX(0, 1)]
    return [rows(multipliers.Multipliers(s.rows(s.kinematics()), s.lock).scaled())]


def _forces(s: Symbols) -> list[SX]:
    kin = s.kinematics()
    return [rnea.generalized(s.model.tree, kin, s.rows(kin).loads(s["lambda_"]))]


def _power(s: Symbols) -> list[SX]:
    kin = s.kinematics()
    equations = s.rows(kin)
    return [
        column(
            energy.power(kin, equations.loads(s["lambda_"], only=i), s["u"])
            for i in range(len(s.model.constraints))
        )
    ]


def _impulses(s: Symbols) -> list[SX]:
    """du and lambda, the remaining velocity errors, their tolerances, and the status."""
    du, status = aba.solve_mass_matrix(s.model.tree, s.kinematics(moving=False), s["f"], s.lock)
    return [*corrections.jump(s.rows(s.kinematics()), du, s.lock), status]


READS = "joints constraints"

OPERATORS = (
    OperatorRecord(
        "multipliers",
        Stage.ACCELERATION,
        "q u",
        takes="q u tau",
        results={"lambda_": "m"},
        status="accelerations",
        reads="joints forces constraints motions",
        expressions=lambda s: solved_multipliers(s, s["tau"]),
        columns=columns.multipliers,
        looped=constrained.accelerations,
        cost=MultiplierCost(pushes=True),
        direct=True,
    ),
    OperatorRecord(
        "held_accelerations",
        Stage.ACCELERATION,
        takes="q u tau",
        results={"udot": "nu", "lambda_": "m"},
        status="accelerations",
        reads="joints forces constraints motions",
        expressions=lambda s: _held(s, s["tau"]),
        looped=constrained.accelerations,
        cost=MultiplierCost(pushes=True),
        serves="simulate",
        watched=False,
        plain=True,
    ),
    OperatorRecord(
        "constraints.errors",
        Stage.FORCE,
        "q u",
        results={"p": "m_p", "v": "m_v"},
        reads=READS,
        expressions=lambda s: list(s.rows(s.kinematics()).errors()),
        columns=columns.equation_errors,
    ),
    OperatorRecord(
        "constraints.jacobian",
        Stage.FORCE,
        "q u",
        results={"G": "m nu"},
        reads=READS,
        expressions=lambda s: [rows(s.rows(s.kinematics()).jacobian())],
    ),
    OperatorRecord(
        "constraints.bias",
        Stage.FORCE,
        "q u",
        results={"g": "m"},
        reads=READS,
        expressions=lambda s: [s.rows(s.kinematics()).bias()],
        columns=columns.equation_accelerations,
    ),
    OperatorRecord("constraints.rank", Stage.ACCELERATION, "q u", columns=columns.fixed("rank", "condition")),
    OperatorRecord(
        "constraint_matrix",
        Stage.ACCELERATION,
        takes="q u",
        results={"Y": "m m"},
        reads=READS,
        expressions=_matrix,
        looped=constrained.constraint_matrix,
        cost=MultiplierCost(),
        serves="constraints.rank",
    ),
    OperatorRecord(
        "constraints.forces",
        Stage.ACCELERATION,
        "q u",
        takes="q u lambda_",
        results={"f": "nu"},
        reads=READS,
        expressions=_forces,
        columns=columns.generalized_forces,
    ),
    OperatorRecord(
        "constraints.power",
        Stage.ACCELERATION,
        "q u",
        takes="q u lambda_",
        results={"power": "constraints"},
        reads=READS,
        expressions=_power,
        columns=columns.constraint_powers,
        differentiable=False,
    ),
    OperatorRecord(
        "constraints.impulses",
        Stage.ACCELERATION,
        "q u",
        takes="q u f",
        results={"du": "nu", "lambda_": "m", "left": "m", "allowed": "m"},
        status="rank",
        reads=READS,
        expressions=_impulses,
        columns=columns.jumps,
        differentiable=False,
    ),
    OperatorRecord(
        "constraints.reactions",
        Stage.ACCELERATION,
        "q u",
        takes="q u lambda_",
        results={"F": "wrenches 6"},
        reads=READS,
        expressions=lambda s: [column(s.rows(s.kinematics()).reactions(s["lambda_"]))],
        columns=columns.constraint_wrenches,
    ),
    OperatorRecord(
        "position_change",
        Stage.ACCELERATION,
        takes="q u weights",
        results={"du": "nu"},
        reads="joints constraints motions",
        serves="project",
        watched=False,
        looped=constrained.position_changes,
        cost=MultiplierCost(levels=("position",)),
        expressions=lambda s: [corrections.position_change(s.rows(s.kinematics()), s.lock, s["weights"])[0]],
    ),
    OperatorRecord(
        "velocity_change",
        Stage.ACCELERATION,
        takes="q u weights",
        results={"du": "nu"},
        reads=READS,
        serves="project",
        watched=False,
        looped=constrained.velocity_changes,
        cost=MultiplierCost(levels=("position", "velocity")),
        expressions=lambda s: [corrections.velocity_change(s.rows(s.kinematics()), s.lock, s["weights"])],
    ),
)
