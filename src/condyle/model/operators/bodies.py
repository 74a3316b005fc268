"""Records of poses, velocities, accelerations, inertias and Jacobians of bodies, and of the mass center and
momentum of the system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from condyle.arrays import SX
from condyle.model.flat import column, rows
from condyle.model.operators.columns import ACCELERATION, MOMENTUM, VELOCITY, fixed, of_body, xyz
from condyle.model.operators.costs import MatrixCost
from condyle.model.operators.record import ByColumns, OperatorRecord, Stage
from condyle.model.operators.rooms import aba, energy, inertia, kinematics, mass_matrix, passes

if TYPE_CHECKING:
    from condyle.model.symbols import Symbols


def _poses(s: Symbols) -> list[SX]:
    kin = s.kinematics(moving=False)
    poses = [kinematics.body_pose(kin.placed[B], kin.R_GM[B], kin.p_GM[B]) for B in s.model.tree.base_to_tip]
    return [column(x for R, p in poses for x in (rows(R), p))]


def _velocities(s: Symbols) -> list[SX]:
    kin = s.kinematics()
    each = (kinematics.body_velocity(kin.placed[B], kin.R_GM[B], V) for B, V in kin.V_GM.items())
    return [column(x for V in each for x in V)]


def _accelerations(s: Symbols) -> list[SX]:
    kin = s.kinematics()
    A = kinematics.accelerations(s.model.tree, kin, s["udot"])
    each = (kinematics.body_acceleration(kin.placed[B], kin.R_GM[B], V, A[B]) for B, V in kin.V_GM.items())
    return [column(x for a in each for x in a)]


def _frame_jacobian(s: Symbols, body: int) -> list[SX]:
    tree = s.model.tree
    kin = s.kinematics(moving=False, only=tree.path(body))
    placed = kin.placed[body]
    return [rows(kinematics.frame_jacobian(tree, kin, body, placed.R_MB @ s["station"] + placed.p_MB))]


def _station_jacobian(s: Symbols, body: int) -> list[SX]:
    return [_frame_jacobian(s, body)[0][3 * s.model.tree.nu :]]


def _system_jacobian(s: Symbols) -> list[SX]:
    tree, kin = s.model.tree, s.kinematics(moving=False)
    return [
        column(rows(kinematics.frame_jacobian(tree, kin, B, kin.placed[B].p_MB)) for B in tree.base_to_tip)
    ]


def _composite_inertias(s: Symbols) -> list[SX]:
    kin = s.kinematics(moving=False)
    return [_about_origins(kin, mass_matrix.composite_inertias(s.model.tree, kin))]


def _articulated_inertias(s: Symbols) -> list[SX]:
    kin = s.kinematics(moving=False)
    P, status = aba.articulated_inertias(s.model.tree, kin, s.lock)
    return [_about_origins(kin, P), status]


def _about_origins(kin: kinematics.Kinematics, C: dict[int, inertia.Inertia]) -> SX:
    """Inertias about M's origins as matrices about the bodies' origins, flat, in the order of the bodies."""
    about = [inertia.shift_inertia(C[B], -kin.R_GM[B] @ body.p_MB) for B, body in enumerate(kin.placed)]
    return column(rows(ca.blockcat([[I, J], [J.T, M]])) for I, J, M in about)


def _mass_center_acceleration(s: Symbols) -> list[SX]:
    kin = s.kinematics()
    return [energy.mass_center(kin, kinematics.accelerations(s.model.tree, kin, s["udot"]))[-1]]


AT_GROUND = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
"""The pose of ground: R row by row, then p."""

OPERATORS = (
    OperatorRecord(
        "body_pose",
        Stage.POSITION,
        "q",
        results={"X_GB": "bodies 12"},
        per_body="row",
        ground=AT_GROUND,
        expressions=_poses,
        looped=passes.poses,
    ),
    OperatorRecord(
        "body_poses",
        Stage.POSITION,
        "q",
        results={"X_GB": "bodies 12"},
        expressions=_poses,
        looped=passes.poses,
    ),
    OperatorRecord(
        "body_velocity",
        Stage.VELOCITY,
        "q u",
        results={"V_GB": "bodies 6"},
        per_body="row",
        expressions=_velocities,
        columns=of_body(*VELOCITY),
        looped=passes.velocities,
    ),
    OperatorRecord(
        "body_acceleration",
        Stage.ACCELERATION,
        "q u udot",
        results={"A_GB": "bodies 6"},
        per_body="row",
        expressions=_accelerations,
        columns=of_body(*ACCELERATION),
        looped=passes.accelerations,
    ),
    OperatorRecord(
        "composite_inertia",
        Stage.POSITION,
        "q",
        results={"C": "bodies 6 6"},
        per_body="row",
        expressions=_composite_inertias,
        looped=passes.composite_inertias,
    ),
    OperatorRecord(
        "articulated_inertia",
        Stage.ACCELERATION,
        "q",
        results={"P": "bodies 6 6"},
        per_body="row",
        status="rank",
        expressions=_articulated_inertias,
    ),
    OperatorRecord("kinematics.frame_pose", Stage.POSITION, "q"),
    OperatorRecord("station_position", Stage.POSITION, "q", columns=of_body(*xyz("", "m"))),
    OperatorRecord("kinematics.frame_velocity", Stage.VELOCITY, "q u", columns=of_body(*VELOCITY)),
    OperatorRecord("station_velocity", Stage.VELOCITY, "q u", columns=of_body(*VELOCITY[3:])),
    OperatorRecord(
        "kinematics.frame_acceleration", Stage.ACCELERATION, "q u udot", columns=of_body(*ACCELERATION)
    ),
    OperatorRecord(
        "station_acceleration", Stage.ACCELERATION, "q u udot", columns=of_body(*ACCELERATION[3:])
    ),
    OperatorRecord(
        "station_jacobian",
        Stage.POSITION,
        "q",
        takes="q station",
        results={"J": "3 nu"},
        per_body="kernel",
        expressions=_station_jacobian,
        looped=ByColumns(passes.frame_velocity, "q u station", "V", offset=True),
        cost=MatrixCost(body=150, speed=30),
    ),
    OperatorRecord(
        "kinematics.frame_jacobian",
        Stage.POSITION,
        "q",
        takes="q station",
        results={"J": "6 nu"},
        per_body="kernel",
        expressions=_frame_jacobian,
        looped=ByColumns(passes.frame_velocity, "q u station", "V", offset=True),
        cost=MatrixCost(body=150, speed=30),
    ),
    OperatorRecord(
        "kinematics.system_jacobian",
        Stage.POSITION,
        "q",
        results={"J": "bodies 6 nu"},
        expressions=_system_jacobian,
        looped=ByColumns(passes.velocities, "q u", "V_GB", offset=True),
        cost=MatrixCost(body=150, ancestor=15),
    ),
    OperatorRecord("kinematics.frame_bias", Stage.VELOCITY, "q u", columns=of_body(*ACCELERATION)),
    OperatorRecord("kinematics.station_bias", Stage.VELOCITY, "q u", columns=of_body(*ACCELERATION[3:])),
    OperatorRecord(
        "mass_center",
        Stage.POSITION,
        "q",
        results={"p": "3"},
        looped=passes.mass_center,
        direct=True,
        expressions=lambda s: energy.mass_center(s.kinematics(moving=False)),
        columns=fixed(*xyz("mass_center_", "m")),
    ),
    OperatorRecord(
        "mass_center_velocity",
        Stage.VELOCITY,
        "q u",
        results={"v": "3"},
        looped=passes.mass_center_velocity,
        direct=True,
        expressions=lambda s: energy.mass_center(s.kinematics())[-1:],
        columns=fixed(*xyz("mass_center_v", "m/s")),
    ),
    OperatorRecord(
        "mass_center_acceleration",
        Stage.ACCELERATION,
        "q u udot",
        results={"a": "3"},
        direct=True,
        expressions=_mass_center_acceleration,
        columns=fixed(*xyz("mass_center_a", "m/s^2")),
        looped=passes.mass_center_acceleration,
    ),
    OperatorRecord(
        "momentum",
        Stage.VELOCITY,
        "q u",
        results={"h": "6"},
        columns=fixed(*MOMENTUM),
        expressions=lambda s: [column(energy.momentum(s.kinematics()))],
        looped=passes.momentum,
    ),
)
