"""Records of lengths, speeds and moment arms of the paths of forces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from condyle.arrays import SX
from condyle.model.flat import column, rows
from condyle.model.operators.columns import Columns
from condyle.model.operators.costs import PathCost
from condyle.model.operators.record import OperatorRecord, Stage
from condyle.model.operators.rooms import equations, path_operators

if TYPE_CHECKING:
    from condyle.model.symbols import Symbols


def _each(unit: str) -> Columns:
    return lambda model, given: [(name, unit) for name in model.paths]


def _lengths(s: Symbols) -> list[SX]:
    view = s.view(s.kinematics(moving=False))
    return [column(path.length.at(view) for path in s.model.paths.values())]


def _speeds(s: Symbols) -> list[SX]:
    view = s.view(s.kinematics())
    return [column(path.length.rate(view) for path in s.model.paths.values())]


def _moment_arms(s: Symbols) -> list[SX]:
    """Generalized forces of a unit tension: -dL/dq along the manifold."""
    kin = s.kinematics(moving=False)
    view, out = s.view(kin), []
    for path in s.model.paths.values():
        loads = equations.UnitWrenches(view)
        path.length.load(view, ca.SX(-1), loads)
        out.append(loads.on_speeds(1))
    return [column(rows(row) for row in out)]


def _points(s: Symbols) -> list[SX]:
    view = s.view(s.kinematics(moving=False))
    return [column(path.length.touched(view) for path in s.model.paths.values())]


OPERATORS = (
    OperatorRecord(
        "path_lengths",
        Stage.POSITION,
        "q",
        results={"L": "paths"},
        direct=True,
        expressions=_lengths,
        columns=_each("m"),
        looped=path_operators.path_lengths,
        cost=PathCost(),
        plain=True,
    ),
    OperatorRecord(
        "path_speeds",
        Stage.VELOCITY,
        "q u",
        results={"Ldot": "paths"},
        direct=True,
        expressions=_speeds,
        columns=_each("m/s"),
        looped=path_operators.path_speeds,
        cost=PathCost(),
        plain=True,
    ),
    OperatorRecord(
        "moment_arms",
        Stage.POSITION,
        "q",
        results={"R": "paths nu"},
        expressions=_moment_arms,
        looped=path_operators.moment_arms,
        cost=PathCost(),
        plain=True,
    ),
    # both, computing each path once
    OperatorRecord(
        "path_geometry",
        Stage.POSITION,
        "q",
        results={"L": "paths", "R": "paths nu"},
        expressions=lambda s: [*_lengths(s), *_moment_arms(s)],
        looped=path_operators.path_geometry,
        cost=PathCost(),
        serves="static_optimization",
        plain=True,
    ),
    OperatorRecord(
        "path_points",
        Stage.POSITION,
        "q",
        results={"X": "path_numbers"},
        expressions=_points,
        differentiable=False,
    ),
)
