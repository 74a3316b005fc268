"""The looped layout of the operators: for trees whose straight line would take long to compile.

Each operator is a few passes over the rows of tables.py. Those of aba.py and rnea.py are run by the straight
line of the unrolled layout too (dynamics/row.py). Many forces of one kind are a pass of their own
(law_rows.py); all others but gravity are one straight line between two passes, which sees the rows that it
asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

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
from condyle.dynamics.view import Loads
from condyle.mobilizers import motion, runaway, sines_first
from condyle.model.flat import rows
from condyle.model.looped import sharing
from condyle.model.looped.between import StraightLine
from condyle.model.looped.draft import Draft, packed
from condyle.model.looped.tables import Looped
from condyle.model.model import Model


def nothing(d: Draft) -> None:
    """A pass in which ground has no part."""


def sines(looped: Looped) -> None:
    """A pass for the sines and cosines of all coordinates."""

    def write(d: Draft) -> None:
        if (split := sines_first(d.mobilizer)) is not None:
            d.keep("sines", split[0](d.t, d.q)[0])

    looped.outward(write, nothing)


def at_rest(d: Draft) -> None:
    """Ground: the frame of reference, which carries nothing yet."""
    d.put("me", "R", ca.SX.eye(3))
    d.put("me", "p", ca.SX(3, 1))
    d.put("me", "w", ca.SX(3, 1))
    d.put("me", "P", (ca.SX(3, 3), ca.SX(3, 3), ca.SX(3, 3)))
    for name in ("V", "A", "z", "F", "X"):
        d.put("me", name, ZERO)


def ground_with_gravity(d: Draft) -> None:
    """Ground under gravity: it accelerates upwards."""
    at_rest(d)
    d.put("me", "A", (ca.SX(3, 1), -d.gravity))


def has_forces(model: Model) -> bool:
    """Whether there is more than gravity for all."""
    return len(model.forces) > 1 or bool(model.gravity.excluded)


def apply_loads(looped: Looped, into: str, sign: int, gravity: bool = True) -> bool:
    """Add sign times the loads to a field of the rows, and keep generalized forces as "f"; whether there are
    any of these. Rates of auxiliary states are written too where they are among the results."""
    rates = "zdot" in looped.windows
    if rates:
        write_rates(StraightLine(looped))
        looped.law_rates(paths=False)
    without = looped.apply_law_rows(into, sign, rates)
    line = StraightLine(looped)
    loads = line.loads(gravity, without)
    write_loads(line, loads, into, sign)
    return bool(loads.mobility)


def write_loads(line: StraightLine, loads: Loads, into: str, sign: int) -> None:
    """Add sign times some loads to a field of the rows, and keep generalized forces as "f"."""
    writes = {
        (B + 1, into): packed([ca.densify(x) for x in add_scaled(line.read(B, into), load, sign)])
        for B, load in loads.bodies.items()
    }
    for B in {line.owner[k][0] for k in loads.mobility}:
        speeds = line.looped.model.tree.speeds_of(B)
        writes[B + 1, "f"] = ca.densify(ca.vertcat(*(loads.mobility.get(k, ca.SX(0)) for k in speeds)))
    line.write(writes)


def make_room(d: Draft) -> None:
    """For the generalized forces of laws, and for what motions do."""
    for name in ("f", "lock", "held") if d.kind.driven else ("f",):
        d.keep(name, [ca.SX.zeros(1, 1) for _ in d.kind.kept["H"]])


def apply_motions(looped: Looped, moving: bool) -> None:
    """Keep what motions make of "lock" and, if bodies move, of "held", in the rows of the bodies that they
    drive."""
    if driven := looped.model.tree.driven:
        line = StraightLine(looped)
        motions = line.symbols.motions
        fields = {"lock": motions.lock, **({"held": motions.held()} if moving else {})}
        line.write({(b.index + 1, name): ca.densify(x[b.u]) for b in driven for name, x in fields.items()})


def of_held(d: Draft, name: str) -> list[ca.SX]:
    """lock or held of the speeds of this body, with what motions make of it."""
    return d.kept(name) if d.kind.driven else d.of_speeds(name)


def with_laws(d: Draft, tau: str | None, generalized: bool) -> list[ca.SX]:
    """An argument for the speeds of this body, or zero, and the generalized forces of laws, if there are
    any."""
    taus = [ca.SX(0)] * d.mobilizer.nu if tau is None else d.of_speeds(tau)
    return [x + f for x, f in zip(taus, d.kept("f"), strict=True)] if generalized else taus


def _no_status(d: Draft) -> None:
    """Ground: nothing is wrong yet."""
    d.writes["me.status"] = ca.SX.zeros(1, 1)


def _report_status(d: Draft) -> None:
    d.writes["status"] = d.read("me.status", 1)


# ---- operators ---------------------------------------------------------------------------------------------


def _write_qdot(d: Draft) -> None:
    u = ca.vertcat(ca.SX(0, 1), *d.of_speeds("u"))
    d.writes["qdot"] = ca.densify(motion(d.mobilizer, d.t, d.q, u).qdot)
    if (lost := runaway(d.mobilizer, d.q)) is not None:
        d.status = ca.if_else(lost, d.number, d.status)


def qdot(looped: Looped) -> None:
    looped.outward(_write_qdot, _no_status)
    looped.outward(nothing, _report_status)


def solve(
    looped: Looped,
    moving: bool,
    tau: str,
    prepared: Callable[[Draft, BodyKinematics, Inertia, ca.SX], None] | None = None,
    ground: Callable[[Draft], None] = nothing,
    found: Callable[[Draft, list[ca.SX], Pair], None] | None = None,
    applied: Callable[[], None] | None = None,
) -> None:
    """aba.py. Forces act only if bodies move.

    Args:
        prepared: adds to the first pass, given kinematics, inertia and mass center of a body.
        ground: the same for ground.
        found: in place of the result udot, given the accelerations of the speeds, and X.
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
    generalized = forces and apply_loads(looped, "z", -1)
    if applied is not None:
        applied()
    apply_motions(looped, moving)

    def inward(d: Draft) -> None:
        aba.inward_pass(
            d, with_laws(d, tau, generalized), of_held(d, "lock"), of_held(d, "held") if moving else None
        )

    looped.inward(inward, nothing)

    def outward(d: Draft) -> None:
        udot, X = aba.outward_pass(d)
        if found is not None:
            found(d, udot, X)
        else:
            d.writes["udot"] = ca.vertcat(ca.SX(0, 1), *udot)

    looped.outward(outward, _report_status)


def _solve_shared(looped: Looped, moving: bool, tau: str, forces: bool) -> None:
    """The same by dynamics/sharing.py."""

    def prepare(d: Draft) -> None:
        new = d.kinematics(moving, positions=forces, linear=forces)
        if moving:
            rnea.force_pass(d, new, None)
            make_room(d)

    looped.outward(prepare, ground_with_gravity if moving else at_rest)
    if forces:
        apply_loads(looped, "F", -1)
    if moving:
        sharing.force_shares(looped)
    sharing.accelerations(looped, moving, tau)


def forward_dynamics(looped: Looped) -> None:
    solve(looped, True, "tau")


def ydot(looped: Looped) -> None:
    """Without constraints."""
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
) -> None:
    """rnea.py: `result` is the generalized forces, or "F" for the reactions, or "F" and these after it."""
    forces = forces and has_forces(looped.model)

    def prepare(d: Draft) -> None:
        new = d.kinematics(moving, positions=forces, linear=forces)
        rnea.force_pass(d, new, None if udot is None else d.of_speeds(udot), moving)
        make_room(d)

    looped.outward(prepare, ground)
    generalized = forces and apply_loads(looped, "F", -1)
    _project(looped, result, -1 if generalized else 0)


def _project(looped: Looped, result: str, sign: int) -> None:
    """Sum forces tip to base: the generalized forces with `sign` times those of laws, or the forces
    themselves as "F", or both."""
    shares = looped.model.tree.shares
    looped.cleared += tuple(name for name in result.split() if name != "F" and shares)

    def inward(d: Draft) -> None:
        F = rnea.sum_pass(d)
        for name in result.split():
            if name == "F":
                d.writes["F"] = ca.densify(ca.vertcat(*F))
                continue
            tau = [inner(h, F) for h in d.kept("H")]
            tau = [x + sign * f for x, f in zip(tau, d.kept("f"), strict=True)] if sign else tau
            column = ca.densify(ca.vertcat(ca.SX(0, 1), *tau))
            d.writes[name] = column + d.read(name, column.numel()) if shares and tau else column

    looped.inward(inward, nothing)


def inverse_dynamics(looped: Looped) -> None:
    _newton_euler(looped, True, "udot", ground_with_gravity, "tau", forces=True)


def reactions(looped: Looped) -> None:
    _newton_euler(looped, True, "udot", ground_with_gravity, "F", forces=True)


def joint_loads(looped: Looped) -> None:
    _newton_euler(looped, True, "udot", ground_with_gravity, "F tau", forces=True)


def multiply_mass_matrix(looped: Looped) -> None:
    _newton_euler(looped, False, "f", at_rest, "Mf")


def coriolis_forces(looped: Looped) -> None:
    _newton_euler(looped, True, None, at_rest, "f")


def gravity_forces(looped: Looped) -> None:
    def prepare(d: Draft) -> None:
        new = d.kinematics(False)
        d.put("me", "F", energy.weight_of(d.body, new.R_GM, d.gravity))

    looped.outward(prepare, at_rest)
    line = StraightLine(looped)
    write_loads(line, line.loads(True, range(1, len(looped.model.forces))), "F", 1)
    _project(looped, "f", 0)


def applied_forces(looped: Looped) -> None:
    def prepare(d: Draft) -> None:
        d.kinematics(True, positions=True)
        d.put("me", "F", ZERO)
        make_room(d)

    looped.outward(prepare, at_rest)
    generalized = apply_loads(looped, "F", 1, gravity=False)
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
        A = acceleration(d.get("parent", "A"), new.p_PM, new.c, new.H, d.of_speeds("udot"))
        d.put("me", "A", A)
        d.writes["A_GB"] = ca.densify(ca.vertcat(*body_acceleration(d.body, new.R_GM, new.V_GM, A)))

    looped.outward(write, at_rest)


def composite_inertias(looped: Looped) -> None:
    def prepare(d: Draft) -> None:
        new = d.kinematics(False)
        d.put("me", "P", rigid(new.R_GM, d.body.mass, d.body.com, d.body.I)[0])

    def inward(d: Draft) -> None:
        C = d.get("me", "P")
        I, J, M = shift_inertia(C, -d.get("me", "R") @ d.body.p_MB)
        d.writes["C"] = ca.densify(rows(ca.blockcat([[I, J], [J.T, M]])))
        d.put("parent", "P", add_inertia(d.get("parent", "P"), shift_inertia(C, d.kept("r"))))

    looped.outward(prepare, at_rest)
    looped.inward(inward, nothing)


def _sum(looped: Looped, moving: bool, size: int, terms: Callable[[Draft, Any], list[ca.SX]]) -> StraightLine:
    """One pass that adds up terms of each body; the line that may use the sum comes next."""

    def ground(d: Draft) -> None:
        at_rest(d)
        d.writes["me.total"] = ca.SX.zeros(size, 1)

    looped.outward(
        lambda d: d.add("total", ca.vertcat(*terms(d, d.kinematics(moving, positions=True)))), ground
    )
    return StraightLine(looped)


def energies(looped: Looped) -> None:
    def terms(d: Draft, new: Any) -> list[ca.SX]:
        return [
            energy.kinetic_of(d.body, new.R_GM, new.V_GM),
            energy.potential_of(d.body, new.R_GM, new.p_GM, d.gravity),
        ]

    line = _sum(looped, True, 2, terms)
    tabled = looped.path_rows.members if looped.path_rows else frozenset[int]()
    if looped.path_rows is not None:
        looped.path_rows.lengths()
        looped.path_rows.potentials("total", 2)
    kinetic, potential = ca.vertsplit(line.total("total", 2))
    for i, (enabled, force, view) in enumerate(line.laws()):
        if i not in tabled and (stored := force.potential(view)) is not None:
            potential += ca.if_else(enabled, stored, 0)
    line.write({"kinetic": kinetic, "potential": potential})


def momentum(looped: Looped) -> None:
    line = _sum(
        looped, True, 6, lambda d, new: list(energy.momentum_of(d.body, new.R_GM, new.p_GM, new.V_GM))
    )
    line.write({"h": line.total("total", 6)})


def mass_center(looped: Looped) -> None:
    line = _sum(
        looped,
        False,
        4,
        lambda d, new: [d.body.mass * x for x in (*energy.center_of(d.body, new.R_GM, new.p_GM), ca.SX(1))],
    )
    total = line.total("total", 4)
    line.write({"p": total[:3] / total[3]})


def mass_center_velocity(looped: Looped) -> None:
    line = _sum(
        looped,
        True,
        4,
        lambda d, new: [
            d.body.mass * x for x in (energy.center_of(d.body, new.R_GM, new.p_GM, new.V_GM)[1], ca.SX(1))
        ],
    )
    total = line.total("total", 4)
    line.write({"v": total[:3] / total[3]})


def mass_center_acceleration(looped: Looped) -> None:
    def terms(d: Draft, new: Any) -> list[ca.SX]:
        A = acceleration(d.get("parent", "A"), new.p_PM, new.c, new.H, d.of_speeds("udot"))
        d.put("me", "A", A)
        return [
            d.body.mass * x for x in (energy.center_of(d.body, new.R_GM, new.p_GM, new.V_GM, A)[2], ca.SX(1))
        ]

    line = _sum(looped, True, 4, terms)
    total = line.total("total", 4)
    line.write({"a": total[:3] / total[3]})


def power(looped: Looped) -> None:
    line = _sum(
        looped, True, 1, lambda d, new: [inner(energy.weight_of(d.body, new.R_GM, d.gravity), new.V_GM)]
    )
    tabled = looped.path_rows.members if looped.path_rows else frozenset[int]()
    powers = []
    for i, (enabled, force, view) in enumerate(line.laws()):
        loads = Loads(view)
        loads.enabled = enabled
        if i not in tabled:
            force.apply(view, loads)
        powers.append(energy.power(line.kin, loads, line.symbols["u"]))
    line.write(
        {
            "power": ca.vertcat(
                powers[0] + line.total("total", 1), *powers[1 : len(looped.model.exerting_forces)]
            )
        }
    )
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
        line.write({"zdot": ca.densify(ca.vertcat(*rates))})


def frame_velocity(looped: Looped, body: int) -> None:
    """Spatial velocity of a frame on one body, at a station; its last three where no more are asked for."""

    def prepare(d: Draft) -> None:
        d.kinematics(True)

    looped.outward(prepare, at_rest)
    line, placed = StraightLine(looped), looped.model.placed[body]
    r = line.read(body, "R") @ (placed.R_MB @ line.symbols["station"] + placed.p_MB)
    V = ca.vertcat(*shift_motion(line.read(body, "V"), r))
    line.write({"V": V[-looped.results[0][1] :]})
