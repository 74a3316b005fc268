"""InducedAccelerations: contributions of each muscle and actuator, gravity and velocities to accelerations.

As in OpenSim, external loads are replaced by constraints of the analysis while they are larger than a
threshold. With udot(f) of the model, which is affine in f, and rows G of these constraints:

    udot = udot(f) - A G' lambda,    G udot = b,    A G' = udot(G') - udot(0)                              (1)

b is -Gdot u for velocities and zero for all else, so that contributions add up to the total.
"""

from __future__ import annotations

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.forces.base import GROUPS
from condyle.muscles import Muscle
from condyle.opensim.element import Element
from condyle.opensim.setup.file_columns import file_order, in_degrees, speed_names
from condyle.opensim.setup.force_report import actuators
from condyle.opensim.setup.setup_file import SI
from condyle.opensim.setup.trial import AnalysisTrial
from condyle.records import dataclass
from condyle.studies.external_load import ExternalLoad
from condyle.studies.induced_accelerations import each_answer, generalized_forces
from condyle.studies.motion.motion import Motion
from condyle.studies.study_system import forces_of_groups, study_system

WORDS = (
    "",
    "This file contains accelerations of coordinates or bodies.",
    "",
    "Units are S.I. units (seconds, meters, Newtons, ...)",
    SI[1],
    "",
)
THRESHOLD = 6.0
"""[N] Smaller loads are left out."""


@dataclass
class Held:
    """Rows of the constraints that replace a load.

    Attributes:
        G: shape (m, rows, nu).
        bias: Gdot u, shape (m, rows).
        on: frames in which they hold, shape (m,).
        friction: coefficient and radius [m] of a foot that rolls, which slips beyond them.
    """

    G: Array
    bias: Array
    on: np.ndarray
    friction: tuple[float, float] | None = None


def induced(trial: AnalysisTrial, element: Element) -> None:
    """A file per coordinate, per body and of the mass center, each with a column, or several, per cause."""
    setup, system, run = trial.setup, trial.system, trial.run
    trial.report_unknown_states()
    potentials = setup.flag("compute_potentials_only", False, element)
    if setup.flag("report_constraint_reactions", False, element):
        setup.check(f"{element.title}: reactions of constraints are not written")
    keep, degrees = trial.recorded_rows(element), setup.flag("in_degrees", True, element)
    run = run._some(keep)
    held = _held(trial, element, run)
    causes, udot = setup.step("induced accelerations", lambda: _contributions(trial, run, held, potentials))
    speeds, turns = speed_names(system), in_degrees(system)
    asked = setup.words("coordinate_names", element)
    for name in trial.chosen(element, "coordinate_names", file_order(setup, system)) if asked else []:
        # OpenSim treats lengths as angles here; they are not converted
        factor = 180 / np.pi if degrees and turns.get(name) else 1.0
        values = factor * udot[:, :, speeds.index(name)]
        trial.save(element, name, name, causes, values, WORDS, degrees)
    for name, (J, bias) in _places(trial, element, run, 180 / np.pi if degrees else 1.0).items():
        values = np.einsum("tij,tcj->tci", J, udot)
        for cause in {"total", "velocity"} & set(causes):  # to which the bias Jdot u belongs
            values[:, causes.index(cause)] += bias
        axes = ("X", "Y", "Z", "Ox", "Oy", "Oz")[: J.shape[1]]
        labels = [f"{cause}_{axis}" for cause in causes for axis in axes]
        trial.save(element, name, name, labels, values.reshape(len(values), -1), WORDS)


def _places(
    trial: AnalysisTrial, element: Element, run: Motion, angle: float
) -> dict[str, tuple[Array, Array]]:
    """{name: J and Jdot u} of the mass centers and angles of bodies, and of the system's mass center."""
    system, out = trial.system, {}
    bodies = [b.name for b in system.bodies]
    asked = trial.setup.words("body_names", element) or ["center_of_mass"]
    for name in bodies if asked[0].lower() == "all" else [w for w in asked if w.lower() != "center_of_mass"]:
        if name not in bodies:
            raise DescriptionError(f"{element.place}: <body_names>: there is no body {name!r} in the model")
        com = np.asarray(system.body(name).mass_properties.com, dtype=float)
        J = system.kinematics.frame_jacobian(run.q, name, com)
        bias = system.kinematics.frame_bias(run.q, run.u, name, com)
        J, bias = (np.concatenate([x[:, 3:], angle * x[:, :3]], 1) for x in (J, bias))
        out[name] = J, bias
    if any(word.lower() == "center_of_mass" for word in asked):
        still, zero = (
            system.mass_center_acceleration(run.q, u, np.zeros_like(u)) for u in (run.u, 0 * run.u)
        )
        columns = [
            system.mass_center_acceleration(run.q, 0 * run.u, np.tile(row, (len(run), 1))) - zero
            for row in np.eye(system.nu)
        ]
        out["center_of_mass"] = np.stack(columns, axis=2), still
    return out


def _contributions(
    trial: AnalysisTrial, run: Motion, held: list[Held], potentials: bool
) -> tuple[list[str], Array]:
    """Causes, and their contributions to the accelerations, (m, causes, nu); of potentials those of muscles
    are of 1 N, and there is no total."""
    system = trial.system
    tau = generalized_forces(run, forces_of_groups(system, GROUPS), {}, {}, {})
    if potentials:
        arms = system.moment_arms(run.q, coupled=False)
        for k, name in enumerate(system.paths):
            if isinstance(system.force(name), Muscle):
                tau[name] = arms[:, k]  # of a tension of 1 N
    names = actuators(system)
    passive = [n for n in tau if n not in names and n != "gravity"]
    zero = np.zeros((len(run), system.nu))
    each = [zero, *(tau[n] for n in names), tau.get("gravity", zero), sum((tau[n] for n in passive), zero)]
    G = [h.G[:, r] for h in held for r in range(h.G.shape[1])]
    bare = study_system(system, ()).batch(run)
    found = each_answer(bare, "forward_dynamics", np.stack([*each, *G], axis=1))
    n = len(each)
    velocity, parts, response = found[:, 0], found[:, 1:n] - found[:, :1], found[:, n:] - found[:, :1]
    # springs and the like act beside every cause in OpenSim; here they are part of the velocities' row alone
    velocity = velocity + parts[:, -1]
    parts = np.concatenate([parts[:, :-1], velocity[:, None]], axis=1)
    if held:
        parts = _with_constraints(parts, response, held)
    if potentials:
        return [*names, "gravity", "velocity"], parts
    causes = ["total", *names, "gravity", "velocity"]
    return causes, np.concatenate([parts.sum(axis=1, keepdims=True), parts], axis=1)


def _with_constraints(parts: Array, response: Array, held: list[Held]) -> Array:
    """Contributions (m, causes, nu), velocities last, with the constraints of (1)."""
    G = np.concatenate([h.G for h in held], axis=1)
    b = np.concatenate([h.bias for h in held], axis=1)
    on = np.concatenate([np.repeat(h.on[:, None], h.G.shape[1], axis=1) for h in held], axis=1)
    out = parts.copy()
    starts = np.cumsum([0, *(h.G.shape[1] for h in held)])

    def solved(i: int) -> tuple[Array, Array]:
        rows = np.flatnonzero(on[i])
        error = parts[i] @ G[i, rows].T
        error[-1] += b[i, rows]
        Y = response[i, rows]  # A G', row by row
        lambda_ = np.zeros((on.shape[1], len(error)))
        lambda_[rows] = np.linalg.lstsq(G[i, rows] @ Y.T, error.T, rcond=1e-12)[0]
        return lambda_, parts[i] - lambda_[rows].T @ Y

    for i in np.flatnonzero(on.any(axis=1)).tolist():
        for h, start in zip(held, starts, strict=False):
            if h.friction is not None and on[i, start]:
                on[i, start : start + 4] = _touching(solved(i)[0][start : start + 4].sum(axis=1), *h.friction)
        out[i] = solved(i)[1]
    return out


def _touching(lambda_: Array, mu: float, radius: float) -> list[bool]:
    """Rows of a rolling foot that hold, from the multipliers of all forces together: pressed to the ground,
    not slipping, not turning."""
    pressed = -lambda_[0]
    sticks = pressed > 0 and bool(np.hypot(lambda_[2], lambda_[3]) <= mu * pressed)
    return [pressed > 0, sticks and bool(lambda_[1] <= radius * mu * pressed), sticks, sticks]


def _held(trial: AnalysisTrial, element: Element, run: Motion) -> list[Held]:
    """Rows of the constraints that an analysis lists, one per external load."""
    constraints = trial.setup.objects("ConstraintSet", element)
    loads = trial.labeled
    if not constraints and not loads:
        return []
    if len(constraints) != len(loads):
        raise DescriptionError(
            f"{element.place}: {len(loads)} external loads and {len(constraints)} "
            "constraints in <ConstraintSet>: each load needs the constraint that replaces it"
        )
    threshold = trial.setup.number("force_threshold", THRESHOLD, element)
    out = []
    for constraint, (_, load) in zip(constraints, loads, strict=True):
        on = np.linalg.norm(load.acting(run)[1], axis=1) > threshold
        G, bias = _rows(trial, constraint, load, run)
        rolls = constraint.tag == "RollingOnSurfaceConstraint"
        friction = (
            (
                trial.setup.number("friction_coefficient", 0.5, constraint),
                trial.setup.number("contact_radius", 0.01, constraint),
            )
            if rolls
            else None
        )
        out.append(Held(G, bias, on, friction))
    return out


def _rows(trial: AnalysisTrial, constraint: Element, load: ExternalLoad, run: Motion) -> tuple[Array, Array]:
    """G and Gdot u of a constraint at the point where a load acts."""
    system = trial.system
    body = load.body if isinstance(load.body, str) else load.body.name
    X = system.body_pose(run.q, body)
    p = np.einsum("tji,tj->ti", X.R, load.acting(run)[0] - X.p)
    J, bias = np.empty((len(run), 6, system.nu)), np.empty((len(run), 6))
    for i, point in enumerate(p):  # a station of its own in every frame
        J[i] = system.kinematics.frame_jacobian(run.q[i], body, point)
        bias[i] = system.kinematics.frame_bias(run.q[i], run.u[i], body, point)
    if constraint.tag == "PointConstraint":
        return J[:, 3:], bias[:, 3:]
    if constraint.tag == "WeldConstraint":
        return J, bias
    if constraint.tag != "RollingOnSurfaceConstraint":
        raise DescriptionError(
            f"{constraint.place}: expected a RollingOnSurfaceConstraint, PointConstraint or WeldConstraint"
        )
    normal = np.asarray(trial.setup.numbers("surface_normal", (0.0, 1.0, 0.0), constraint))
    base = np.array([1.0, 0.0, 0.0])
    side = np.cross(base, normal)
    w = system.body_velocity(run.q, run.u, body)[:, :3]
    # the point of the foot at the load does not move, and the foot keeps its angle about the
    # normal: its axis `side` stays at a right angle to `base`
    turn = bias[:, :3] @ normal + (w @ base) * (w @ side)
    rows = np.stack(
        [
            np.einsum("tij,i->tj", J[:, 3:], normal),
            np.einsum("tij,i->tj", J[:, :3], normal),
            J[:, 3],
            J[:, 5],
        ],
        axis=1,
    )
    return rows, np.stack([bias[:, 3:] @ normal, turn, bias[:, 3], bias[:, 5]], axis=1)
