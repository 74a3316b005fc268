"""The operators of a system as CasADi Functions of flat vectors: what native code is made from.

Every operator takes some of q, u, tau, udot, f, station and, last, the *tail*: what else a state holds, in one vector

    tail = [t, z, inputs, enabled (0/1 a force, then a constraint, then a motion), lock (0, or infinity, a speed),
            held (acceleration of a locked speed, else 0), parameters, table]

so that one compiled program serves every time, every parameter and every set of locks and of disabled forces, constraints and
motions. The table is what the INSTANCE operator derives from the parameters. Matrices are flattened row by row.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca

from condyle.constraints.solve.corrections import jump, position_change, velocity_change
from condyle.constraints.solve.multipliers import ROUNDING, Multipliers, constrained
from condyle.dynamics import aba, crba, energy, jacobians, rates, rnea
from condyle.dynamics.inertia import Inertia, shift_inertia
from condyle.dynamics.kinematics import Kinematics, accelerations, body_acceleration, body_pose, body_velocity
from condyle.dynamics.view import Loads
from condyle.forces.gravity import Gravity
from condyle.mobilizers import motion, runaway
from condyle.model.model import Model
from condyle.model.symbols import Symbols
from condyle.native.sweeps.lookup import Staged, assembled


def rows(A: ca.SX) -> ca.SX:
    """A flattened row by row."""
    return ca.vec(A.T)


def column(parts: Any) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *parts)


def _instance(s: Symbols) -> list[ca.SX]:
    return [s.model.table[1], s.model.possible.status()]


def _qdot(s: Symbols) -> list[ca.SX]:
    bodies = s.model.tree.bodies
    return [column(motion(b.mobilizer, s.t, s["q"][b.q], s["u"][b.u]).qdot for b in bodies if b.mobilizer.nq), _lost_rates(s)]


def _lost_rates(s: Symbols) -> ca.SX:
    """The status of rates: 1 + the first speed of a body whose N(q) is without bound; 0 if all is well."""
    status = ca.SX(0)
    for b in s.model.tree.bodies:
        if (lost := runaway(b.mobilizer, s["q"][b.q])) is not None:
            status = ca.if_else(lost, b.u.start + 1, status)
    return status


def _qddot(s: Symbols) -> list[ca.SX]:
    return [rates.second_rates(s.model.tree, s.t, s["q"], s["u"], s["udot"]), _lost_rates(s)]


def _u_from_qdot(s: Symbols) -> list[ca.SX]:
    return [rates.speeds(s.model.tree, s["q"], s["qdot"])]


def _udot_from_qddot(s: Symbols) -> list[ca.SX]:
    return [rates.speed_rates(s.model.tree, s.t, s["q"], s["u"], s["qddot"]), _lost_rates(s)]


def _N(s: Symbols) -> list[ca.SX]:
    return [rows(rates.matrix(s.model.tree, s.t, s["q"])), _lost_rates(s)]


def _Ndot(s: Symbols) -> list[ca.SX]:
    return [rows(rates.matrix_rate(s.model.tree, s.t, s["q"], s["u"])), _lost_rates(s)]


def _prescribed(s: Symbols) -> list[ca.SX]:
    return list(s.motions.state())


def forward_dynamics(s: Symbols, short: float = ROUNDING) -> tuple[ca.SX, ca.SX, ca.SX | None]:
    """udot, the status, and with constraints whether these are delicate (multipliers.py). short: what runs let pass there."""
    kin = s.kinematics()
    udot, status = aba.forward_dynamics(s.model.tree, kin, s["tau"], s.lock, s.gravity, s.loads(kin), s.motions.held())
    if not s.model.constraints:
        return udot, status, None
    found = constrained(s.rows(kin), udot, s.lock, short)
    return found.udot, with_unmet(status, s.model, found.unmet), found.delicate


def with_unmet(status: ca.SX, model: Model, unmet: ca.SX) -> ca.SX:
    """The status of accelerations: 1 + a speed that has lost rank (aba.py), and the number of speeds + 1 more where an
    equation is unmet (multipliers.py (8)); 0 if all is well."""
    return ca.if_else(unmet, model.tree.nu + 1, 0) + status


def _forward_dynamics(s: Symbols) -> list[ca.SX]:
    return list(forward_dynamics(s)[:2])


def _multipliers(s: Symbols) -> list[ca.SX]:
    kin = s.kinematics()
    udot, status = aba.forward_dynamics(s.model.tree, kin, s["tau"], s.lock, s.gravity, s.loads(kin), s.motions.held())
    found = constrained(s.rows(kin), udot, s.lock)
    return [found.lambda_, with_unmet(status, s.model, found.unmet)]


def _constraint_errors(s: Symbols) -> list[ca.SX]:
    return list(s.rows(s.kinematics()).errors())


def _constraint_bias(s: Symbols) -> list[ca.SX]:
    return [s.rows(s.kinematics()).bias()]


def _constraint_jacobian(s: Symbols) -> list[ca.SX]:
    return [rows(s.rows(s.kinematics()).jacobian())]


def _constraint_matrix(s: Symbols) -> list[ca.SX]:
    if not s.model.constraints:
        return [ca.SX(0, 1)]
    return [rows(Multipliers(s.rows(s.kinematics()), s.lock).scaled())]


def _position_change(s: Symbols) -> list[ca.SX]:
    return [position_change(s.rows(s.kinematics()), s.lock, s["weights"])[0]]


def _velocity_change(s: Symbols) -> list[ca.SX]:
    return [velocity_change(s.rows(s.kinematics()), s.lock, s["weights"])]


def _constraint_forces(s: Symbols) -> list[ca.SX]:
    kin = s.kinematics()
    return [rnea.generalised(s.model.tree, kin, s.rows(kin).loads(s["lambda_"]))]


def _constraint_power(s: Symbols) -> list[ca.SX]:
    kin = s.kinematics()
    equations = s.rows(kin)
    return [column(energy.power(kin, equations.loads(s["lambda_"], only=i), s["u"]) for i in range(len(s.model.constraints)))]


def _impulses(s: Symbols) -> list[ca.SX]:
    """du and lambda, what is left of the errors of velocities, what may be, and the status."""
    du, status = aba.solve_mass_matrix(s.model.tree, s.kinematics(moving=False), s["f"], s.lock)
    return [*jump(s.rows(s.kinematics()), du, s.lock), status]


def _constraint_reactions(s: Symbols) -> list[ca.SX]:
    return [column(s.rows(s.kinematics()).reactions(s["lambda_"]))]


def _reactions_with_constraints(s: Symbols) -> list[ca.SX]:
    kin = s.kinematics()
    loads = s.rows(kin).loads(s["lambda_"], s.loads(kin))
    F = rnea.mobilizer_forces(s.model.tree, kin, s["udot"], s.gravity, loads)
    return [column(x for B in s.model.tree.base_to_tip for x in F[B])]


def _solve_mass_matrix(s: Symbols) -> list[ca.SX]:
    return list(aba.solve_mass_matrix(s.model.tree, s.kinematics(moving=False), s["f"], s.lock))


def _inverse_dynamics(s: Symbols) -> list[ca.SX]:
    kin = s.kinematics()
    return [rnea.inverse_dynamics(s.model.tree, kin, s["udot"], s.gravity, s.loads(kin))]


def _mass_matrix(s: Symbols) -> list[ca.SX]:
    return [rows(crba.mass_matrix(s.model.tree, s.kinematics(moving=False)))]


def _poses(s: Symbols) -> list[ca.SX]:
    kin = s.kinematics(moving=False)
    poses = [body_pose(kin.placed[B], kin.R_GM[B], kin.p_GM[B]) for B in s.model.tree.base_to_tip]
    return [column(x for R, p in poses for x in (rows(R), p))]


def _velocities(s: Symbols) -> list[ca.SX]:
    kin = s.kinematics()
    return [column(x for B in s.model.tree.base_to_tip for x in body_velocity(kin.placed[B], kin.R_GM[B], kin.V_GM[B]))]


def _energy(s: Symbols) -> list[ca.SX]:
    kin = s.kinematics()
    kinetic, potential = energy.energy(kin, s.gravity)
    view = s.view(kin)
    for enabled, force in s.laws(view):
        if (stored := force.potential(view)) is not None:
            potential += ca.if_else(enabled, stored, 0)
    return [kinetic, potential]


def _reactions(s: Symbols) -> list[ca.SX]:
    kin = s.kinematics()
    F = rnea.mobilizer_forces(s.model.tree, kin, s["udot"], s.gravity, s.loads(kin))
    return [column(x for B in s.model.tree.base_to_tip for x in F[B])]


def _frame_jacobian(s: Symbols, body: int) -> list[ca.SX]:
    tree = s.model.tree
    kin = s.kinematics(moving=False, only=tree.path(body))
    placed = kin.placed[body]
    return [rows(jacobians.frame_jacobian(tree, kin, body, placed.R_MB @ s["station"] + placed.p_MB))]


def _station_jacobian(s: Symbols, body: int) -> list[ca.SX]:
    return [_frame_jacobian(s, body)[0][3 * s.model.tree.nu:]]


def _system_jacobian(s: Symbols) -> list[ca.SX]:
    tree, kin = s.model.tree, s.kinematics(moving=False)
    return [column(rows(jacobians.frame_jacobian(tree, kin, B, kin.placed[B].p_MB)) for B in tree.base_to_tip)]


def _accelerations(s: Symbols) -> list[ca.SX]:
    kin = s.kinematics()
    A = accelerations(s.model.tree, kin, s["udot"])
    return [column(x for B in s.model.tree.base_to_tip
                   for x in body_acceleration(kin.placed[B], kin.R_GM[B], kin.V_GM[B], A[B]))]


def _multiply_mass_matrix(s: Symbols) -> list[ca.SX]:
    return [rnea.inverse_dynamics(s.model.tree, s.kinematics(moving=False), s["f"], ca.SX(3, 1), None)]


def _gravity_forces(s: Symbols) -> list[ca.SX]:
    kin = s.kinematics(moving=False)
    loads = Loads(s.view(kin))
    loads.enabled = s.enabled[0]
    energy.weight(kin, s.gravity, loads)
    s.model.gravity.apply(loads.view, loads)
    return [rnea.generalised(s.model.tree, kin, loads)]


def _coriolis_forces(s: Symbols) -> list[ca.SX]:
    return [rnea.inverse_dynamics(s.model.tree, s.kinematics(), None, ca.SX(3, 1), None)]


def each_force(s: Symbols, kin: Kinematics) -> list[Loads]:
    """Loads of each force by itself, gravity as weights."""
    out, view = [], s.view(kin)
    for enabled, force in s.laws(view):
        loads = Loads(view)
        loads.enabled = enabled
        if isinstance(force, Gravity):
            energy.weight(kin, s.gravity, loads)
        force.apply(view, loads)
        out.append(loads)
    return out


def _applied_forces(s: Symbols) -> list[ca.SX]:
    kin = s.kinematics()
    each = [rnea.generalised(s.model.tree, kin, loads) for loads in each_force(s, kin)[1:]]
    return [sum(each, ca.SX(s.model.tree.nu, 1))]


def _power(s: Symbols) -> list[ca.SX]:
    kin = s.kinematics()
    return [column(energy.power(kin, loads, s["u"]) for loads in each_force(s, kin))]


def _timed_power(s: Symbols) -> list[ca.SX]:
    tree, kin = s.model.tree, s.kinematics()
    loads = s.loads(kin)
    if s.model.constraints:
        loads = s.rows(kin).loads(s["lambda_"], loads)
    F = rnea.mobilizer_forces(tree, kin, s["udot"], s.gravity, loads)
    return [energy.timed_power(kin, F, s.model.moved_by_time, s.t, s["q"], s["u"])]


def _mass_centre(s: Symbols) -> list[ca.SX]:
    return energy.mass_centre(s.kinematics(moving=False))


def _mass_centre_motion(s: Symbols) -> list[ca.SX]:
    kin = s.kinematics()
    return energy.mass_centre(kin, accelerations(s.model.tree, kin, s["udot"]))[1:]


def _momentum(s: Symbols) -> list[ca.SX]:
    return [column(energy.momentum(s.kinematics()))]


def _composite_inertias(s: Symbols) -> list[ca.SX]:
    kin = s.kinematics(moving=False)
    return [_about_origins(kin, crba.composite_inertias(s.model.tree, kin))]


def _articulated_inertias(s: Symbols) -> list[ca.SX]:
    kin = s.kinematics(moving=False)
    P, status = aba.articulated_inertias(s.model.tree, kin, s.lock)
    return [_about_origins(kin, P), status]


def _about_origins(kin: Kinematics, C: dict[int, Inertia]) -> ca.SX:
    """Inertias about M's origins as matrices about the bodies' origins, flat, in the order of the bodies."""
    about = [shift_inertia(C[B], -kin.R_GM[B] @ body.p_MB) for B, body in enumerate(kin.placed)]
    return column(rows(ca.blockcat([[I, J], [J.T, M]])) for I, J, M in about)


def _rates(s: Symbols) -> list[ca.SX]:
    view = s.view(s.kinematics())
    return [column(ca.if_else(enabled, rate, 0) for enabled, force in s.laws(view) for rate in force.rates(view))]


@dataclass(frozen=True)
class Operator:
    """Arguments, names and sizes of the results, and the expressions."""

    arguments: tuple[str, ...]
    results: tuple[tuple[str, Callable[[Model], int]], ...]
    expressions: Callable[..., list[ca.SX]]

    def inputs(self, model: Model) -> list[tuple[str, int]]:
        sizes = model.sizes()
        return [(name, sizes[name]) for name in self.arguments]

    @property
    def has_status(self) -> bool:
        return self.results[-1] is STATUS

    def outputs(self, model: Model) -> list[tuple[str, int]]:
        return [(name, size(model)) for name, size in self.results]

    def build(self, model: Model, name: str, **which: Any) -> ca.Function | Staged:
        s = Symbols(model)
        return assembled(name, [s[a] for a in self.arguments], self.expressions(s, **which))


STATUS: tuple[str, Callable[[Model], int]] = ("status", lambda s: 1)
"""A last result that is not zero where there is no answer: a mobilizer has lost rank, aba.py (6); coordinates that cannot
follow the speeds; impossible parameters."""


def _nu(model: Model) -> int:
    return model.tree.nu


def _bodies(n: int) -> Callable[[Model], int]:
    return lambda s: n * len(s.tree.bodies)


OPERATORS: dict[str, Operator] = {
    "instance": Operator(("parameters",), (("table", lambda s: s.table[0].numel()), STATUS), _instance),
    "qdot": Operator(("q", "u", "tail"), (("qdot", lambda s: s.tree.nq), STATUS), _qdot),
    "qddot": Operator(("q", "u", "udot", "tail"), (("qddot", lambda s: s.tree.nq), STATUS), _qddot),
    "u_from_qdot": Operator(("q", "qdot", "tail"), (("u", _nu),), _u_from_qdot),
    "udot_from_qddot": Operator(("q", "u", "qddot", "tail"), (("udot", _nu), STATUS), _udot_from_qddot),
    "N": Operator(("q", "tail"), (("N", lambda s: s.tree.nq * s.tree.nu), STATUS), _N),
    "Ndot": Operator(("q", "u", "tail"), (("Ndot", lambda s: s.tree.nq * s.tree.nu), STATUS), _Ndot),
    "prescribed": Operator(("q", "u", "tail"), (("q", lambda s: s.tree.nq), ("u", _nu)), _prescribed),
    "zdot": Operator(("q", "u", "tail"), (("zdot", lambda s: s.nz),), _rates),
    "forward_dynamics": Operator(("q", "u", "tau", "tail"), (("udot", _nu), STATUS), _forward_dynamics),
    "inverse_dynamics": Operator(("q", "u", "udot", "tail"), (("tau", _nu),), _inverse_dynamics),
    "mass_matrix": Operator(("q", "tail"), (("M", lambda s: s.tree.nu ** 2),), _mass_matrix),
    "solve_mass_matrix": Operator(("q", "f", "tail"), (("udot", _nu), STATUS), _solve_mass_matrix),
    "multiply_mass_matrix": Operator(("q", "f", "tail"), (("Mf", _nu),), _multiply_mass_matrix),
    "gravity_forces": Operator(("q", "tail"), (("f", _nu),), _gravity_forces),
    "coriolis_forces": Operator(("q", "u", "tail"), (("f", _nu),), _coriolis_forces),
    "applied_forces": Operator(("q", "u", "tail"), (("f", _nu),), _applied_forces),
    "poses": Operator(("q", "tail"), (("X_GB", _bodies(12)),), _poses),
    "velocities": Operator(("q", "u", "tail"), (("V_GB", _bodies(6)),), _velocities),
    "accelerations": Operator(("q", "u", "udot", "tail"), (("A_GB", _bodies(6)),), _accelerations),
    "station_jacobian": Operator(("q", "station", "tail"), (("J", lambda s: 3 * s.tree.nu),), _station_jacobian),
    "frame_jacobian": Operator(("q", "station", "tail"), (("J", lambda s: 6 * s.tree.nu),), _frame_jacobian),
    "system_jacobian": Operator(("q", "tail"), (("J", lambda s: 6 * len(s.tree.bodies) * s.tree.nu),), _system_jacobian),
    "energy": Operator(("q", "u", "tail"), (("kinetic", lambda s: 1), ("potential", lambda s: 1)), _energy),
    "momentum": Operator(("q", "u", "tail"), (("h", lambda s: 6),), _momentum),
    "mass_centre": Operator(("q", "tail"), (("p", lambda s: 3),), _mass_centre),
    "mass_centre_motion": Operator(("q", "u", "udot", "tail"), (("v", lambda s: 3), ("a", lambda s: 3)),
                                   _mass_centre_motion),
    "composite_inertias": Operator(("q", "tail"), (("C", _bodies(36)),), _composite_inertias),
    "articulated_inertias": Operator(("q", "tail"), (("P", _bodies(36)), STATUS), _articulated_inertias),
    "power": Operator(("q", "u", "tail"), (("power", lambda s: len(s.forces)),), _power),
    "timed_power": Operator(("q", "u", "udot", "lambda_", "tail"), (("power", _nu),), _timed_power),
    "reactions": Operator(("q", "u", "udot", "tail"), (("F", _bodies(6)),), _reactions),
    "multipliers": Operator(("q", "u", "tau", "tail"), (("lambda_", lambda s: s.equations()), STATUS), _multipliers),
    "constraint_errors": Operator(("q", "u", "tail"), (("p", lambda s: s.equations("position")),
                                                       ("v", lambda s: s.equations("position", "velocity"))), _constraint_errors),
    "constraint_bias": Operator(("q", "u", "tail"), (("g", lambda s: s.equations()),), _constraint_bias),
    "constraint_jacobian": Operator(("q", "u", "tail"), (("G", lambda s: s.equations() * s.tree.nu),), _constraint_jacobian),
    "constraint_matrix": Operator(("q", "u", "tail"), (("Y", lambda s: s.equations() ** 2),), _constraint_matrix),
    "position_change": Operator(("q", "u", "weights", "tail"), (("du", _nu),), _position_change),
    "velocity_change": Operator(("q", "u", "weights", "tail"), (("du", _nu),), _velocity_change),
    "constraint_forces": Operator(("q", "u", "lambda_", "tail"), (("f", _nu),), _constraint_forces),
    "constraint_power": Operator(("q", "u", "lambda_", "tail"), (("power", lambda s: len(s.constraints)),), _constraint_power),
    "impulses": Operator(("q", "u", "f", "tail"), (("du", _nu), *((name, lambda s: s.equations()) for name in (
        "lambda_", "left", "allowed")), STATUS), _impulses),
    "constraint_reactions": Operator(
        ("q", "u", "lambda_", "tail"),
        (("F", lambda s: 6 * sum(len(c.bodies) for c in s.constraints.values())),), _constraint_reactions),
    "reactions_with_constraints": Operator(("q", "u", "udot", "lambda_", "tail"), (("F", _bodies(6)),),
                                           _reactions_with_constraints),
}
