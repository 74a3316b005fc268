"""The looped layout of the operators, for trees whose straight-line code would take long to compile.

Each operator is a few passes over the rows of tables.py. The unrolled layout uses those of aba.py and rnea.py
too (dynamics/row.py). Many forces of one kind have a separate pass (law_rows.py); all others except gravity
are straight-line code between two passes, which reads the rows that it needs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

from condyle.arrays import SX
from condyle.dynamics import aba, energy, rnea
from condyle.dynamics.aba import ZERO
from condyle.dynamics.inertia import (
    Inertia,
    add_inertia,
    add_scaled,
    inner,
    rigid,
    shift_inertia,
    shift_motion,
)
from condyle.dynamics.kinematics import (
    BodyKinematics,
    Pair,
    acceleration,
    body_acceleration,
    body_pose,
    body_velocity,
)
from condyle.dynamics.mass_matrix import MassMatrixFactors
from condyle.dynamics.row import BodyFields, RowField
from condyle.dynamics.view import TreeLoads
from condyle.mobilizers import motion, runaway, sines_first
from condyle.model.flat import rows
from condyle.model.looped.draft import Draft, StraightLine
from condyle.model.looped.tables import Looped
from condyle.model.model import Model


def nothing(d: Draft) -> None:
    """A pass that skips ground."""


def sines(looped: Looped) -> None:
    """Add a pass for the sines and cosines of all coordinates."""

    def write(d: Draft) -> None:
        if (split := sines_first(d.mobilizer)) is not None:
            d.me.sines = split[0](d.t, d.q)[0]

    looped.outward(write, nothing)


def at_rest(d: Draft) -> None:
    """Ground at rest, the frame of reference."""
    d.me.R, d.me.p, d.me.w = ca.SX.eye(3), ca.SX(3, 1), ca.SX(3, 1)
    d.me.P = ca.SX(3, 3), ca.SX(3, 3), ca.SX(3, 3)
    d.me.V = d.me.A = d.me.z = d.me.F = d.me.X = ZERO


def ground_with_gravity(d: Draft) -> None:
    """Ground under gravity: it accelerates upward."""
    at_rest(d)
    d.me.A = ca.SX(3, 1), -d.gravity


def has_forces(model: Model) -> bool:
    """Whether there are forces besides gravity on all bodies."""
    return len(model.forces) > 1 or bool(model.gravity.excluded)


def apply_loads(looped: Looped, into: Any, sign: int, gravity: bool = True) -> bool:
    """Add sign times the loads to a field of the bodies, and store generalized forces as f; returns whether
    there are any. Rates of auxiliary states are written too if they are among the results.
    """
    rates = "zdot" in looped.windows
    if rates:
        write_rates(StraightLine(looped))
        looped.law_rates(paths=False)
    without = looped.apply_law_rows(into, sign, rates)
    line = StraightLine(looped)
    loads = line.loads(gravity, without)
    write_loads(line, loads, into, sign)
    return bool(loads.mobility)


def write_loads(line: StraightLine, loads: TreeLoads, into: Any, sign: int) -> None:
    """Add sign times some loads to a field of the bodies, and store generalized forces as f."""
    for B, load in loads.bodies.items():
        line.body(B)[into] = add_scaled(line.body(B)[into], load, sign)
    for B in {line.owner[k][0] for k in loads.mobility}:
        speeds = line.looped.model.tree.speeds_of(B)
        line.body(B).f = [loads.mobility.get(k, ca.SX(0)) for k in speeds]
    line.write()


def make_room(d: Draft) -> None:
    """Create fields for the generalized forces of laws and for motions."""
    d.me.f = [ca.SX.zeros(1, 1)] * d.mobilizer.nu
    if d.kind.driven:
        d.me.lock = d.me.held = d.kind.kept["f"]


def apply_motions(looped: Looped, moving: bool) -> None:
    """Store lock and, if bodies move, held as modified by motions, in the rows of the driven bodies."""
    if driven := looped.model.tree.driven:
        line = StraightLine(looped)
        motions = line.symbols.motions
        held = motions.held() if moving else None
        for b in driven:
            body = line.body(b.index)
            body.lock = ca.vertsplit(motions.lock[b.u])
            if held is not None:
                body.held = ca.vertsplit(held[b.u])
        line.write()


def of_held(d: Draft, field: Any) -> list[SX]:
    """lock or held for the speeds of this body, as modified by motions."""
    return d.me[field] if d.kind.driven else d.of_speeds(field.name)


def with_laws(d: Draft, tau: str | None, generalized: bool) -> list[SX]:
    """The entries of an argument for the speeds of this body (zero for None), plus the generalized forces
    of laws, if any."""
    taus = [ca.SX(0)] * d.mobilizer.nu if tau is None else d.of_speeds(tau)
    return [x + f for x, f in zip(taus, d.me.f, strict=True)] if generalized else taus


def _no_status(d: Draft) -> None:
    """Ground: initial status."""
    d.me.status = ca.SX(0)


def _report_status(d: Draft) -> None:
    d.writes["status"] = d.me.status


# ---- operators ---------------------------------------------------------------------------------------------


def _write_qdot(d: Draft) -> None:
    u = ca.vertcat(ca.SX(0, 1), *d.of_speeds("u"))
    d.writes["qdot"] = ca.densify(motion(d.mobilizer, d.t, d.q, u).qdot)
    if (lost := runaway(d.mobilizer, d.q)) is not None:
        d.root.status = ca.if_else(lost, d.number, d.root.status)


def qdot(looped: Looped) -> None:
    looped.outward(_write_qdot, _no_status)
    looped.outward(nothing, _report_status)


def solve(
    looped: Looped,
    moving: bool,
    tau: str,
    prepared: Callable[[Draft, BodyKinematics, Inertia, SX], None] | None = None,
    ground: Callable[[Draft], None] = nothing,
    found: Callable[[Draft, list[SX], Pair], None] | None = None,
    applied: Callable[[], None] | None = None,
) -> None:
    """The passes of aba.py. Forces act only if bodies move.

    Args:
        prepared: adds to the first pass, given kinematics, inertia and mass center of a body.
        ground: the same for ground.
        found: called instead of writing the result udot, with the accelerations of the speeds, and X.
        applied: adds passes after those that apply loads.
    """
    forces = moving and has_forces(looped.model)
    if looped.model.tree.shares:
        _solve_shared(looped, moving, tau, forces)
        return

    def prepare(d: Draft) -> None:
        new = d.kinematics(moving, positions=forces, linear=forces or prepared is not None)
        P, p_c = aba.bias_pass(d, new, moving)
        make_room(d)
        if prepared is not None:
            prepared(d, new, P, p_c)

    def start(d: Draft) -> None:
        (ground_with_gravity if moving else at_rest)(d)
        _no_status(d)
        ground(d)

    sines(looped)
    looped.outward(prepare, start)
    generalized = forces and apply_loads(looped, BodyFields.z, -1)
    if applied is not None:
        applied()
    apply_motions(looped, moving)

    def inward(d: Draft) -> None:
        held = of_held(d, BodyFields.held) if moving else None
        aba.inward_pass(d, with_laws(d, tau, generalized), of_held(d, BodyFields.lock), held)

    looped.inward(inward, nothing)

    def outward(d: Draft) -> None:
        udot, X = aba.outward_pass(d)
        if found is not None:
            found(d, udot, X)
        else:
            d.writes["udot"] = ca.vertcat(ca.SX(0, 1), *udot)

    looped.outward(outward, _report_status)


def _solve_shared(looped: Looped, moving: bool, tau: str, forces: bool) -> None:
    """The same by dynamics/mass_matrix.py: kinematics, forces and their sums are passes over the rows. The
    mass matrix, its factors and the solution are straight-line code over the hinge matrices of the rows.
    """

    def prepare(d: Draft) -> None:
        new = d.kinematics(moving, positions=forces, linear=forces)
        if moving:
            rnea.force_pass(d, new, None)
            make_room(d)

    def inward(d: Draft) -> None:
        F = rnea.sum_pass(d)
        d.me.share = [ca.densify(inner(h, F)) for h in d.me.H]

    looped.outward(prepare, ground_with_gravity if moving else at_rest)
    if forces:
        apply_loads(looped, BodyFields.F, -1)
    if moving:
        looped.inward(inward, nothing)
    line = StraightLine(looped)
    s, tree = line.symbols, looped.model.tree
    factors = MassMatrixFactors(tree, line.kin, s.lock)
    rest, held = s[tau], ca.SX(tree.nu, 1)
    if moving:
        held = s.motions.held()
        h = [ca.SX(0)] * tree.nu
        for b in tree.bodies:
            for k, x in zip(tree.speeds_of(b.index), line.body(b.index).share, strict=True):
                h[k] = h[k] + x
            if b.follows is None:
                for k, f in zip(tree.speeds_of(b.index), line.body(b.index).f, strict=True):
                    h[k] = h[k] - f
        rest = rest - ca.vertcat(ca.SX(0, 1), *h)
        rest -= factors.M @ held
    line.write(udot=ca.densify(held + factors.solve(rest)), status=ca.densify(factors.status))


def forward_dynamics(looped: Looped) -> None:
    solve(looped, True, "tau")


def ydot(looped: Looped) -> None:
    """The rates of all states, without constraints."""
    solve(looped, True, "tau", prepared=lambda d, *_: _write_qdot(d))


def solve_mass_matrix(looped: Looped) -> None:
    solve(looped, False, "f")


def _newton_euler(
    looped: Looped,
    moving: bool,
    udot: str | None,
    ground: Callable[[Draft], None],
    result: str,
    forces: bool = False,
    constraints: bool = False,
) -> None:
    """The passes of rnea.py. `result` is the name for generalized forces, "F" for reactions, or "F"
    followed by the name for both. With `constraints`, the forces of the multipliers lambda_ act too."""
    forces = forces and has_forces(looped.model)
    placed = forces or constraints

    def prepare(d: Draft) -> None:
        new = d.kinematics(moving, positions=placed, linear=placed)
        rnea.force_pass(d, new, None if udot is None else d.of_speeds(udot), moving)
        make_room(d)

    looped.outward(prepare, ground)
    generalized = forces and apply_loads(looped, BodyFields.F, -1)
    if constraints:
        line = StraightLine(looped)
        for B, load in line.symbols.rows(line.kin).loads(line.symbols["lambda_"]).bodies.items():
            line.body(B).F = add_scaled(line.body(B).F, load, -1)
        line.write()
    _project(looped, result, -1 if generalized else 0)


def _project(looped: Looped, result: str, sign: int) -> None:
    """Sum forces tip to base; writes the generalized forces with `sign` times those of laws, or the forces
    themselves as "F", or both."""
    shares = looped.model.tree.shares
    looped.cleared += tuple(name for name in result.split() if name != "F" and shares)

    def inward(d: Draft) -> None:
        F = rnea.sum_pass(d)
        for name in result.split():
            if name == "F":
                d.writes["F"] = ca.densify(ca.vertcat(*F))
                continue
            tau = [inner(h, F) for h in d.me.H]
            tau = [x + sign * f for x, f in zip(tau, d.me.f, strict=True)] if sign else tau
            column = ca.densify(ca.vertcat(ca.SX(0, 1), *tau))
            d.writes[name] = column + d.read(name, column.numel()) if shares and tau else column

    looped.inward(inward, nothing)


def inverse_dynamics(looped: Looped) -> None:
    _newton_euler(looped, True, "udot", ground_with_gravity, "tau", forces=True)


def reactions(looped: Looped) -> None:
    _newton_euler(looped, True, "udot", ground_with_gravity, "F", forces=True)


def reactions_with_constraints(looped: Looped) -> None:
    _newton_euler(looped, True, "udot", ground_with_gravity, "F", forces=True, constraints=True)


def joint_loads(looped: Looped) -> None:
    _newton_euler(looped, True, "udot", ground_with_gravity, "F tau", forces=True)


def multiply_mass_matrix(looped: Looped) -> None:
    _newton_euler(looped, False, "f", at_rest, "Mf")


def coriolis_forces(looped: Looped) -> None:
    _newton_euler(looped, True, None, at_rest, "f")


def gravity_forces(looped: Looped) -> None:
    def prepare(d: Draft) -> None:
        new = d.kinematics(False)
        d.me.F = energy.weight_of(d.body, new.R_GM, d.gravity)

    looped.outward(prepare, at_rest)
    line = StraightLine(looped)
    write_loads(line, line.loads(True, range(1, len(looped.model.forces))), BodyFields.F, 1)
    _project(looped, "f", 0)


def applied_forces(looped: Looped) -> None:
    def prepare(d: Draft) -> None:
        d.kinematics(True, positions=True)
        d.me.F = ZERO
        make_room(d)

    looped.outward(prepare, at_rest)
    generalized = apply_loads(looped, BodyFields.F, 1, gravity=False)
    _project(looped, "f", 1 if generalized else 0)


def poses(looped: Looped) -> None:
    def write(d: Draft) -> None:
        new = d.kinematics(False, positions=True)
        R, p = body_pose(d.body, new.R_GM, new.p_GM)
        d.writes["X_GB"] = ca.densify(ca.vertcat(rows(R), p))

    looped.outward(write, at_rest)


def velocities(looped: Looped) -> None:
    def write(d: Draft) -> None:
        new = d.kinematics(True)
        d.writes["V_GB"] = ca.densify(ca.vertcat(*body_velocity(d.body, new.R_GM, new.V_GM)))

    looped.outward(write, at_rest)


def accelerations(looped: Looped) -> None:
    def write(d: Draft) -> None:
        new = d.kinematics(True)
        A = acceleration(d.parent.A, new.p_PM, new.c, new.H, d.of_speeds("udot"))
        d.me.A = A
        d.writes["A_GB"] = ca.densify(ca.vertcat(*body_acceleration(d.body, new.R_GM, new.V_GM, A)))

    looped.outward(write, at_rest)


def composite_inertias(looped: Looped) -> None:
    def prepare(d: Draft) -> None:
        new = d.kinematics(False)
        d.me.P = rigid(new.R_GM, d.body.mass, d.body.com, d.body.I)[0]

    def inward(d: Draft) -> None:
        C = d.me.P
        I, J, M = shift_inertia(C, -d.me.R @ d.body.p_MB)
        d.writes["C"] = ca.densify(rows(ca.blockcat([[I, J], [J.T, M]])))
        d.parent.P = add_inertia(d.parent.P, shift_inertia(C, d.me.r))

    looped.outward(prepare, at_rest)
    looped.inward(inward, nothing)


def _sum(looped: Looped, moving: bool, size: int, terms: Callable[[Draft, Any], list[SX]]) -> Any:
    """Add one pass that sums terms over the bodies; returns the field of the root with the sum."""
    total = RowField[ca.SX](ca.SX.ones(size, 1), name="total")

    def ground(d: Draft) -> None:
        at_rest(d)
        d.me[total] = ca.SX.zeros(size, 1)

    def add_up(d: Draft) -> None:
        d.root[total] += ca.vertcat(*terms(d, d.kinematics(moving, positions=True)))

    looped.outward(add_up, ground)
    return total


def energies(looped: Looped) -> None:
    def terms(d: Draft, new: Any) -> list[SX]:
        return [
            energy.kinetic_of(d.body, new.R_GM, new.V_GM),
            energy.potential_of(d.body, new.R_GM, new.p_GM, d.gravity),
        ]

    total = _sum(looped, True, 2, terms)
    if looped.path_rows is not None:
        looped.path_rows.lengths()
        looped.path_rows.potentials(total)
    line, along_paths = StraightLine(looped), _along_paths(looped)
    kinetic, potential = ca.vertsplit(line.body(-1)[total])
    for i, (enabled, force, view) in enumerate(line.laws()):
        if i not in along_paths and (stored := force.potential(view)) is not None:
            potential += ca.if_else(enabled, stored, 0)
    line.write(kinetic=kinetic, potential=potential)


def _along_paths(looped: Looped) -> frozenset[int]:
    """Places among the forces of the laws along paths in tables."""
    return frozenset() if looped.path_rows is None else looped.path_rows.members


def momentum(looped: Looped) -> None:
    total = _sum(
        looped, True, 6, lambda d, new: list(energy.momentum_of(d.body, new.R_GM, new.p_GM, new.V_GM))
    )
    line = StraightLine(looped)
    line.write(h=line.body(-1)[total])


def _mean(looped: Looped, moving: bool, value: Callable[[Draft, Any], SX], result: str) -> None:
    """The mean of a vector over the bodies, weighted by mass."""
    total = _sum(looped, moving, 4, lambda d, new: [d.body.mass * value(d, new), d.body.mass * ca.SX(1)])
    line = StraightLine(looped)
    sums = line.body(-1)[total]
    line.write(**{result: sums[:3] / sums[3]})


def mass_center(looped: Looped) -> None:
    _mean(looped, False, lambda d, new: energy.center_of(d.body, new.R_GM, new.p_GM)[0], "p")


def mass_center_velocity(looped: Looped) -> None:
    _mean(looped, True, lambda d, new: energy.center_of(d.body, new.R_GM, new.p_GM, new.V_GM)[1], "v")


def mass_center_acceleration(looped: Looped) -> None:
    def value(d: Draft, new: Any) -> SX:
        A = acceleration(d.parent.A, new.p_PM, new.c, new.H, d.of_speeds("udot"))
        d.me.A = A
        return energy.center_of(d.body, new.R_GM, new.p_GM, new.V_GM, A)[2]

    _mean(looped, True, value, "a")


def power(looped: Looped) -> None:
    total = _sum(
        looped, True, 1, lambda d, new: [inner(energy.weight_of(d.body, new.R_GM, d.gravity), new.V_GM)]
    )
    line, along_paths = StraightLine(looped), _along_paths(looped)
    powers = []
    for i, (enabled, force, view) in enumerate(line.laws()):
        loads = TreeLoads(view)
        loads.enabled = enabled
        if i not in along_paths:
            force.apply(view, loads)
        powers.append(energy.power(line.kin, loads, line.symbols["u"]))
    powers[0] += line.body(-1)[total]
    line.write(power=ca.vertcat(*powers[: len(looped.model.exerting_forces)]))
    if looped.path_rows is not None:
        looped.path_rows.lengths()
        looped.path_rows.powers("power")


def zdot(looped: Looped) -> None:
    def prepare(d: Draft) -> None:
        d.kinematics(True, positions=True)

    looped.outward(prepare, at_rest)
    line = StraightLine(looped)
    write_rates(line)
    looped.law_rates()


def write_rates(line: StraightLine) -> None:
    """Rates of the auxiliary states of laws that are not in tables; zeros for the others."""
    tabled, own = line.looped.tabled, False
    rates: list[ca.SX] = []
    for i, (enabled, force, view) in enumerate(line.laws()):
        if i in tabled:
            rates += [ca.SX(0)] * len(force.states)
        elif force.states:
            own = True
            rates += [ca.if_else(enabled, rate, 0) for rate in force.rates(view)]
    if own:
        line.write(zdot=ca.densify(ca.vertcat(*rates)))


def frame_velocity(looped: Looped, body: int) -> None:
    """Spatial velocity of a frame on one body, at a station, or only its linear part."""

    def prepare(d: Draft) -> None:
        d.kinematics(True)

    looped.outward(prepare, at_rest)
    line, placed = StraightLine(looped), looped.model.placed[body]
    r = line.body(body).R @ (placed.R_MB @ line.symbols["station"] + placed.p_MB)
    V = ca.vertcat(*shift_motion(line.body(body).V, r))
    line.write(V=V[-looped.results[0][1] :])
