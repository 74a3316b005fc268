"""Records of rates of coordinates, and of prescribed motions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from condyle.arrays import SX
from condyle.mobilizers import motion, runaway
from condyle.model.flat import column, rows
from condyle.model.operators import columns
from condyle.model.operators.record import OperatorRecord, Stage
from condyle.model.operators.rooms import passes, rates

if TYPE_CHECKING:
    from condyle.model.symbols import Symbols


def qdot(s: Symbols) -> tuple[SX, SX]:
    """N(q) u and the status of rates."""
    bodies = s.model.tree.owners
    return column(
        motion(b.mobilizer, s.t, s["q"][b.q], s["u"][b.u]).qdot for b in bodies if b.mobilizer.nq
    ), _lost(s)


def zdot(s: Symbols) -> SX:
    """Rates of the auxiliary states of forces."""
    view = s.react(s.kinematics())
    return column(
        ca.if_else(enabled, rate, 0) for enabled, force in s.laws(view) for rate in force.rates(view)
    )


def _lost(s: Symbols) -> SX:
    """The status of rates: 1 + the first speed of a body whose N(q) is singular; 0 otherwise."""
    status = ca.SX(0)
    for b in s.model.tree.bodies:
        if (lost := runaway(b.mobilizer, s["q"][b.q])) is not None:
            status = ca.if_else(lost, b.u.start + 1, status)
    return status


def _qddot(s: Symbols) -> list[SX]:
    return [rates.second_rates(s.model.tree, s.t, s["q"], s["u"], s["udot"]), _lost(s)]


def _u_from_qdot(s: Symbols) -> list[SX]:
    return [rates.speeds(s.model.tree, s["q"], s["qdot"])]


def _udot_from_qddot(s: Symbols) -> list[SX]:
    return [rates.speed_rates(s.model.tree, s.t, s["q"], s["u"], s["qddot"]), _lost(s)]


def _N(s: Symbols) -> list[SX]:
    return [rows(rates.matrix(s.model.tree, s.t, s["q"])), _lost(s)]


def _Ndot(s: Symbols) -> list[SX]:
    return [rows(rates.matrix_rate(s.model.tree, s.t, s["q"], s["u"])), _lost(s)]


OPERATORS = (
    OperatorRecord(
        "instance",
        Stage.INSTANCE,
        takes="parameters",
        results={"instance": "instance"},
        status="parameters",
        reads="",
        expressions=lambda s: [
            ca.vertcat(s["parameters"], s.model.table[1]),
            s.model.parameter_check.status(),
        ],
        serves="parameters",
        watched=False,
    ),
    OperatorRecord(
        "prescribed",
        Stage.VELOCITY,
        "q u",
        results={"q": "nq", "u": "nu"},
        reads="joints motions",
        expressions=lambda s: list(s.motions.state()),
        serves="prescribe",
        watched=False,
    ),
    # N depends on q only, not on the time in joints.
    OperatorRecord(
        "qdot",
        Stage.VELOCITY,
        "q u",
        results={"qdot": "nq"},
        status="rates",
        reads="",
        direct=True,
        expressions=lambda s: list(qdot(s)),
        columns=columns.coordinate_rates,
        looped=passes.qdot,
    ),
    OperatorRecord(
        "kinematics.qddot",
        Stage.ACCELERATION,
        "q u udot",
        results={"qddot": "nq"},
        status="rates",
        reads="",
        direct=True,
        expressions=_qddot,
        columns=columns.coordinate_accelerations,
    ),
    OperatorRecord(
        "kinematics.u_from_qdot",
        Stage.POSITION,
        "q",
        takes="q qdot",
        results={"u": "nu"},
        reads="",
        direct=True,
        expressions=_u_from_qdot,
        columns=columns.speeds,
    ),
    OperatorRecord(
        "kinematics.udot_from_qddot",
        Stage.VELOCITY,
        "q u",
        takes="q u qddot",
        results={"udot": "nu"},
        status="rates",
        reads="",
        direct=True,
        expressions=_udot_from_qddot,
        columns=columns.accelerations,
    ),
    OperatorRecord(
        "kinematics.N", Stage.POSITION, "q", results={"N": "nq nu"}, status="rates", reads="", expressions=_N
    ),
    OperatorRecord(
        "kinematics.Ndot",
        Stage.VELOCITY,
        "q u",
        results={"Ndot": "nq nu"},
        status="rates",
        reads="",
        expressions=_Ndot,
    ),
    OperatorRecord(
        "zdot",
        Stage.FORCE,
        "q u",
        results={"zdot": "nz"},
        reads="joints forces",
        direct=True,
        expressions=lambda s: [zdot(s)],
        columns=columns.state_rates,
        looped=passes.zdot,
        plain=True,
    ),
)
