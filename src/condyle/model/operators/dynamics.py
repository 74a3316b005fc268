"""Records of forward and inverse dynamics, the mass matrix, generalized forces and reactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from condyle.arrays import SX
from condyle.forces.gravity import Gravity
from condyle.model.flat import column, rows
from condyle.model.operators import columns
from condyle.model.operators.costs import MatrixCost, MultiplierCost, PassCost
from condyle.model.operators.rates import qdot, zdot
from condyle.model.operators.record import ByColumns, OperatorRecord, Stage
from condyle.model.operators.rooms import (
    aba,
    constrained,
    energy,
    mass_matrix,
    multipliers,
    passes,
    rnea,
    view,
)

if TYPE_CHECKING:
    from condyle.dynamics.kinematics import Kinematics, Pair
    from condyle.model.symbols import Symbols


def forward_dynamics(s: Symbols, short: float | None = None) -> tuple[SX, SX, SX | None]:
    """udot, the status and, with constraints, whether these are delicate (multipliers.py). short: tolerance
    of runs; None for rounding.
    """
    kin = s.kinematics()
    udot, status = s.free_accelerations(kin, s["tau"])
    if not s.model.constraints:
        return udot, status, None
    found = multipliers.constrained(s.rows(kin), udot, s.lock, *(() if short is None else (short,)))
    return found.udot, multipliers.with_unmet(status, s.model.tree, found.unmet), found.delicate


def _ydot(s: Symbols) -> list[SX]:
    udot, status, _ = forward_dynamics(s)
    rates, lost = qdot(s)
    return [ca.vertcat(rates, udot, zdot(s)), ca.if_else(status, status, lost)]


def _inverse_dynamics(s: Symbols) -> list[SX]:
    kin = s.kinematics()
    return [rnea.inverse_dynamics(s.model.tree, kin, s["udot"], s.gravity, s.loads(kin, s["udot"]))]


def _mass_matrix(s: Symbols) -> list[SX]:
    return [rows(mass_matrix.mass_matrix(s.model.tree, s.kinematics(moving=False)))]


def _solve_mass_matrix(s: Symbols) -> list[SX]:
    return list(aba.solve_mass_matrix(s.model.tree, s.kinematics(moving=False), s["f"], s.lock))


def _multiply_mass_matrix(s: Symbols) -> list[SX]:
    return [rnea.inverse_dynamics(s.model.tree, s.kinematics(moving=False), s["f"], ca.SX(3, 1), None)]


def _gravity_forces(s: Symbols) -> list[SX]:
    kin = s.kinematics(moving=False)
    loads = view.TreeLoads(s.view(kin))
    loads.enabled = s.enabled[0]
    energy.weight(kin, s.gravity, loads)
    s.model.gravity.apply(loads.view, loads)
    return [rnea.generalized(s.model.tree, kin, loads)]


def _coriolis_forces(s: Symbols) -> list[SX]:
    return [rnea.inverse_dynamics(s.model.tree, s.kinematics(), None, ca.SX(3, 1), None)]


def each_force(s: Symbols, kin: Kinematics) -> list[view.TreeLoads]:
    """Loads of each force separately, gravity as weights."""
    out, seen = [], s.react(kin)
    for enabled, force in s.laws(seen):
        loads = view.TreeLoads(seen)
        loads.enabled = enabled
        if isinstance(force, Gravity):
            energy.weight(kin, s.gravity, loads)
        force.apply(seen, loads)
        out.append(loads)
    return out


def _applied_forces(s: Symbols) -> list[SX]:
    kin = s.kinematics()
    each = [rnea.generalized(s.model.tree, kin, loads) for loads in each_force(s, kin)[1:]]
    return [sum(each, ca.SX(s.model.tree.nu, 1))]


def _each_force(s: Symbols) -> list[SX]:
    kin = s.kinematics()
    each = each_force(s, kin)[: len(s.model.exerting_forces)]
    return [column(rnea.generalized(s.model.tree, kin, loads) for loads in each)]


def _power(s: Symbols) -> list[SX]:
    kin = s.kinematics()
    each = each_force(s, kin)[: len(s.model.exerting_forces)]
    return [column(energy.power(kin, loads, s["u"]) for loads in each)]


def _mobilizer_forces(
    s: Symbols, constraints: bool = False
) -> tuple[Kinematics, view.TreeLoads, dict[int, Pair]]:
    """Kinematics, loads, optionally with those of constraints, and F of every mobilizer."""
    kin = s.kinematics()
    loads = s.loads(kin, s["udot"], lambda_=s["lambda_"] if constraints else None)
    if constraints:
        loads = s.rows(kin).loads(s["lambda_"], loads)
    return kin, loads, rnea.mobilizer_forces(s.model.tree, kin, s["udot"], s.gravity, loads)


def _timed_power(s: Symbols) -> list[SX]:
    kin, _, F = _mobilizer_forces(s, bool(s.model.constraints))
    return [energy.timed_power(kin, F, s.model.moved_by_time, s.t, s["q"], s["u"])]


def _energy(s: Symbols) -> list[SX]:
    kin = s.kinematics()
    kinetic, potential = energy.energy(kin, s.gravity)
    seen = s.view(kin)
    for enabled, force in s.laws(seen):
        if (stored := force.potential(seen)) is not None:
            potential += ca.if_else(enabled, stored, 0)
    return [kinetic, potential]


def _reactions(s: Symbols, constraints: bool = False) -> list[SX]:
    F = _mobilizer_forces(s, constraints)[2]
    return [column(x for B in s.model.tree.base_to_tip for x in F[B])]


def _joint_loads(s: Symbols) -> list[SX]:
    """Reactions and generalized forces of inverse dynamics, with one evaluation of the forces."""
    tree = s.model.tree
    kin, loads, F = _mobilizer_forces(s)
    return [column(x for B in tree.base_to_tip for x in F[B]), rnea.projected(tree, kin, F, loads)]


OPERATORS = (
    OperatorRecord(
        "forward_dynamics",
        Stage.ACCELERATION,
        "q u",
        takes="q u tau",
        results={"udot": "nu"},
        status="accelerations",
        reads="joints forces constraints motions",
        expressions=lambda s: list(forward_dynamics(s)[:2]),
        columns=columns.accelerations,
        looped=constrained.forward_dynamics,
        cost=MultiplierCost(pushes=True, also_without=True),
        direct=True,
        plain=True,
    ),
    OperatorRecord(
        "ydot",
        Stage.ACCELERATION,
        "q u",
        takes="q u tau",
        results={"ydot": "ny"},
        status="accelerations",
        reads="joints forces constraints motions",
        expressions=_ydot,
        columns=columns.all_rates,
        looped=passes.ydot,
        cost=PassCost(unconstrained=True),
        direct=True,
        plain=True,
    ),
    OperatorRecord(
        "inverse_dynamics",
        Stage.FORCE,
        "q u",
        takes="q u udot",
        results={"tau": "nu"},
        reads="joints forces",
        expressions=_inverse_dynamics,
        columns=columns.generalized_forces,
        looped=passes.inverse_dynamics,
        direct=True,
        plain=True,
    ),
    OperatorRecord(
        "mass_matrix",
        Stage.POSITION,
        "q",
        results={"M": "nu nu"},
        expressions=_mass_matrix,
        looped=ByColumns(passes.multiply_mass_matrix, "q f", "Mf", symmetric=True),
        cost=MatrixCost(body=300, pair=25),
    ),
    OperatorRecord(
        "multiply_mass_matrix",
        Stage.POSITION,
        "q",
        takes="q f",
        results={"Mf": "nu"},
        expressions=_multiply_mass_matrix,
        columns=columns.generalized_forces,
        looped=passes.multiply_mass_matrix,
        direct=True,
    ),
    OperatorRecord(
        "solve_mass_matrix",
        Stage.ACCELERATION,
        "q",
        takes="q f",
        results={"udot": "nu"},
        status="rank",
        expressions=_solve_mass_matrix,
        columns=columns.accelerations,
        looped=passes.solve_mass_matrix,
        direct=True,
    ),
    OperatorRecord("inverse_mass_matrix", Stage.ACCELERATION, "q"),
    OperatorRecord(
        "gravity_forces",
        Stage.FORCE,
        "q",
        results={"f": "nu"},
        expressions=_gravity_forces,
        columns=columns.generalized_forces,
        looped=passes.gravity_forces,
        direct=True,
    ),
    OperatorRecord(
        "coriolis_forces",
        Stage.VELOCITY,
        "q u",
        results={"f": "nu"},
        expressions=_coriolis_forces,
        columns=columns.generalized_forces,
        looped=passes.coriolis_forces,
        direct=True,
    ),
    OperatorRecord(
        "applied_forces",
        Stage.FORCE,
        "q u",
        results={"f": "nu"},
        reads="joints forces",
        expressions=_applied_forces,
        columns=columns.generalized_forces,
        looped=passes.applied_forces,
        direct=True,
    ),
    OperatorRecord(
        "each_force",
        Stage.FORCE,
        takes="q u",
        results={"f": "forces nu"},
        reads="joints forces",
        expressions=_each_force,
        serves="induced_accelerations",
    ),
    OperatorRecord("motion_forces", Stage.ACCELERATION, "q u", columns=columns.generalized_forces),
    OperatorRecord("motion_power", Stage.ACCELERATION, "q u", columns=columns.speed_powers),
    OperatorRecord(
        "timed_power",
        Stage.ACCELERATION,
        takes="q u udot lambda_",
        results={"power": "nu"},
        reads="joints forces constraints",
        expressions=_timed_power,
        serves="motion_power",
    ),
    OperatorRecord(
        "power",
        Stage.FORCE,
        "q u",
        results={"power": "forces"},
        reads="joints forces",
        expressions=_power,
        columns=columns.force_powers,
        looped=passes.power,
        direct=True,
    ),
    OperatorRecord(
        "energy",
        Stage.FORCE,
        "q u",
        results={"kinetic": "", "potential": ""},
        reads="joints forces",
        expressions=_energy,
        columns=columns.fixed("kinetic [J]", "potential [J]"),
        looped=passes.energies,
    ),
    OperatorRecord(
        "reactions",
        Stage.ACCELERATION,
        "q u udot",
        results={"F": "bodies 6"},
        reads="joints forces",
        per_body="row",
        expressions=_reactions,
        columns=columns.of_body(*columns.WRENCH),
        looped=passes.reactions,
    ),
    OperatorRecord(
        "joint_loads",
        Stage.ACCELERATION,
        takes="q u udot",
        results={"F": "bodies 6", "tau": "nu"},
        reads="joints forces",
        expressions=_joint_loads,
        looped=passes.joint_loads,
        serves="joint_reactions",
    ),
    OperatorRecord(
        "reactions_with_constraints",
        Stage.ACCELERATION,
        takes="q u udot lambda_",
        results={"F": "bodies 6"},
        reads="joints forces constraints",
        per_body="row",
        expressions=lambda s: _reactions(s, constraints=True),
        looped=passes.reactions_with_constraints,
        serves="reactions",
    ),
)
