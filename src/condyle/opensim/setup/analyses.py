"""Analyses of a motion: coordinates, bodies, points, joint reactions, static optimization, muscles."""

from __future__ import annotations

from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import UnknownNameError
from condyle.forces.base import GROUPS
from condyle.opensim.element import Element
from condyle.opensim.setup.controls import write_controls
from condyle.opensim.setup.file_columns import file_order, in_degrees, speed_names
from condyle.opensim.setup.force_report import Exerted, force_columns, save_forces
from condyle.opensim.setup.setup_file import SI, Setup
from condyle.opensim.setup.trial import AnalysisTrial
from condyle.spatial import Transform, euler_from_rotation
from condyle.studies.joint_reactions import COLUMNS, joint_reactions
from condyle.studies.motion.motion import Motion
from condyle.studies.motion.recorded import FEWEST
from condyle.studies.muscle_analysis import MuscleAnalysis, muscle_analysis
from condyle.studies.prescribed_forces import prescribed_forces
from condyle.studies.static_optimization import StaticOptimization, static_optimization
from condyle.system.system import System
from condyle.table import Table

BODIES = (
    "",
    "This file contains the kinematics (positions and orientations,",
    "velocities and angular velocities, or accelerations and angular accelerations)",
    "of the centers of mass of the body segments in model {0}.",
    "",
    "Body segment orientations are described using body-fixed X-Y-Z Euler angles.",
    "",
    "Angular velocities and accelerations are expressed in the {1} frame.",
    "",
    "Units are S.I. units (seconds, meters, Newtons, ...)",
    SI[1],
    "",
)
REACTIONS = (
    "",
    "This file contains the reaction forces and moments",
    "applied to the specified body of a joint pair and expressed  in the specified reference frame.",
    "",
    "Units are S.I. units (seconds, meters, Newtons, ...)",
)


def kinematics(trial: AnalysisTrial, element: Element) -> None:
    """Coordinates, speeds and accelerations: _q, _u, _dudt."""
    setup, system, motion = trial.setup, trial.system, trial.motion
    names = trial.chosen(element, "coordinates", file_order(setup, system))
    degrees = setup.flag("in_degrees", True, element)
    factor = [180 / np.pi if degrees and in_degrees(system)[n] else 1.0 for n in names]
    at = [system.coordinates.index(n) for n in names]
    speeds = [speed_names(system).index(n) for n in names]
    for quantity, title, values in (
        ("q", "Coordinates", motion.q[:, at]),
        ("u", "Speeds", motion.u[:, speeds]),
        ("dudt", "Accelerations", motion.udot[:, speeds]),
    ):
        trial.save(element, quantity, title, names, values * factor, ["", *SI, ""], degrees)


def body_kinematics(trial: AnalysisTrial, element: Element) -> None:
    """Mass centers and orientations of bodies, their velocities and accelerations: _pos, _vel, _acc."""
    setup, system, motion = trial.setup, trial.system, trial.motion
    local = setup.flag("express_results_in_body_local_frame", False, element)
    bodies = trial.chosen(element, "bodies", [*body_order(setup.model.object, system), "center_of_mass"])
    bodies.sort(key=lambda name: name == "center_of_mass")  # the last, wherever it is asked for
    degrees = setup.flag("in_degrees", True, element)
    angle = 180 / np.pi if degrees else 1.0
    parts: dict[str, list[Array]] = {"pos": [], "vel": [], "acc": []}
    q, u, udot = motion.q, motion.u, motion.udot
    names: list[str] = []
    for name in bodies:
        if name == "center_of_mass":
            parts["pos"].append(system.mass_center(q))
            parts["vel"].append(system.mass_center_velocity(q, u))
            parts["acc"].append(system.mass_center_acceleration(q, u, udot))
            names += [f"{name}_{c}" for c in "XYZ"]
            continue
        names += [f"{name}_{c}" for c in ("X", "Y", "Z", "Ox", "Oy", "Oz")]
        com = np.asarray(system.body(name).mass_properties.com, dtype=float)
        R = system.body_pose(q, name).R
        parts["pos"] += [system.station_position(q, name, com), angle * euler_from_rotation(R, "xyz")]
        for quantity, place, turn in (
            ("vel", system.station_velocity(q, u, name, com), system.body_velocity(q, u, name)),
            (
                "acc",
                system.station_acceleration(q, u, udot, name, com),
                system.body_acceleration(q, u, udot, name),
            ),
        ):
            both = [place, angle * turn[:, :3]]
            parts[quantity] += [np.einsum("tji,tj->ti", R, x) for x in both] if local else both
    frame = "body-local" if local else "ground"
    words = [line.format(system.about.get("name", ""), frame) for line in BODIES]
    for quantity, title in (("pos", "Positions"), ("vel", "Velocities"), ("acc", "Accelerations")):
        frame = "bodyLocal" if local and quantity != "pos" else "global"
        values = np.concatenate([np.empty((len(motion), 0)), *parts[quantity]], axis=1)
        trial.save(element, f"{quantity}_{frame}", title, names, values, words, degrees)


def point_kinematics(trial: AnalysisTrial, element: Element) -> None:
    """One point of a body: POINT_pos, _vel, _acc."""
    setup, system, motion = trial.setup, trial.system, trial.motion
    q, u, udot = motion.q, motion.u, motion.udot
    body, frame = (_body(trial, element, name) for name in ("body_name", "relative_to_body_name"))
    point = setup.numbers("point", (0.0, 0.0, 0.0), element)
    name = setup.text("point_name", "NONAME", element)
    for quantity, title, values in (
        ("pos", "PointPosition", system.station_position(q, body, point)),
        ("vel", "PointVelocity", system.station_velocity(q, u, body, point)),
        ("acc", "PointAcceleration", system.station_acceleration(q, u, udot, body, point)),
    ):
        if frame != "ground":
            X = system.body_pose(q, frame)
            moved = values - X.p if quantity == "pos" else values
            values = np.einsum("tji,tj->ti", X.R, moved)
        columns = [f"state_{k}" for k in range(3)]
        trial.save(element, f"{name}_{quantity}", title, columns, values, ["No description."])


def _body(trial: AnalysisTrial, element: Element, name: str) -> str:
    """The body that a property names; ground if it is empty."""
    given = trial.setup.text(name, "ground", element).rpartition("/")[2]
    known = ["ground", *(b.name for b in trial.system.bodies)]
    if given in known or given.upper() == "NONE":
        return given if given in known else "ground"
    raise UnknownNameError("body", given, known, f"{element.place}: <{name}>")


def joint_reaction(trial: AnalysisTrial, element: Element) -> None:
    """Forces and moments in joints: _ReactionLoads, nine columns per joint."""
    setup, system = trial.setup, trial.system
    file = setup.file("forces_file", element)
    forces = None
    if file is None:
        motion = trial.run
        if trial.unknown or not system.muscles:
            setup.check(
                f"{element.title}: without <forces_file> forces of muscles and actuators follow from their states and "
                "controls, and accelerations from these, not from the motion, as in OpenSim. "
                "In Python, cd.joint_reactions gives net joint loads of the motion"
            )
        trial.report_unknown_states()
    else:
        motion, forces = _forced(trial, setup.table(file, degrees=False))
    joints = joints_of(trial)
    known = trial.chosen(element, "joint_names", list(joints))
    asked = [word.rpartition("/")[2] for word in setup.words("joint_names", element)]
    if not asked or asked[0].lower() == "all":
        asked = known
    sides = _spread(setup, element, "apply_on_bodies", "child", len(asked))
    frames = _spread(setup, element, "express_in_frame", "ground", len(asked))
    wanted = [x for x in zip(asked, sides, frames, strict=True) if x[0] in known]  # one perhaps several times
    where = {
        name: (name, None) if name in ("child", "parent") else _frame(trial, element, name) for name in frames
    }
    children: dict[tuple[str, str], dict[str, None]] = {}
    for joint, side, frame in wanted:
        children.setdefault((side, where[frame][0]), {})[joints[joint][1]] = None
    found: dict[tuple[str, str], Table] = {
        (side, base): setup.study(
            f"reactions of {len(bodies)} joints",
            joint_reactions,
            system,
            motion,
            forces,
            trial.loads,
            on=side,
            frame=base,
            bodies=list(bodies),
            groups=GROUPS,
        )
        for (side, base), bodies in children.items()
    }
    names, values = [], [np.empty((len(motion), 0))]
    for joint, side, frame in wanted:
        (parent, child), (base, X) = joints[joint], where[frame]
        first = 9 * list(children[side, base]).index(child)
        nine = found[side, base].values[:, first : first + 9]
        on = child if side == "child" else parent
        within = {"child": child, "parent": parent}.get(base, frame.rpartition("/")[2])
        names += [f"{joint}_on_{on}_in_{within}_{column}" for column, _ in COLUMNS]
        values.append(nine if X is None else _seen_from(X, nine))
    trial.save(
        element,
        "ReactionLoads",
        "Joint Reaction Loads",
        names,
        np.concatenate(values, axis=1),
        REACTIONS,
    )


def _frame(trial: AnalysisTrial, element: Element, name: str) -> tuple[str, Transform | None]:
    """The body of a frame, and the frame's pose on it: None for a body itself."""
    last = name.rpartition("/")[2]
    known = ["ground", *(b.name for b in trial.system.bodies)]
    if last in known:
        return last, None
    reading = trial.setup.model_reading
    found = reading.components.find(name, trial.setup.model.object, "PhysicalOffsetFrame")
    if found is None:
        raise UnknownNameError("frame", name, known, f"{element.place}: <express_in_frame>")
    body, X = reading.base(found, found)
    return body.name or "ground", X


def _seen_from(X: Transform, values: Array) -> Array:
    """Force, moment and point (m, 9) in the axes of a body, in those of a frame on it."""
    force, moment, point = values[:, :3], values[:, 3:6], values[:, 6:] - np.asarray(X.p, dtype=float)
    return np.concatenate([x @ np.asarray(X.R, dtype=float) for x in (force, moment, point)], axis=1)


def _forced(trial: AnalysisTrial, table: Table) -> tuple[Motion, Table]:
    """The frames with the accelerations that given forces of muscles and actuators cause, as in OpenSim, and
    these forces; actuators without a column follow their controls."""
    forces = table[[n for n in table.names if n in trial.system.forces]]
    return trial.accelerated_by(prescribed_forces(trial.motion, forces)[0]), forces


def joints_of(trial: AnalysisTrial) -> dict[str, tuple[str, str]]:
    """Parent and child body of each joint, by the joint's name, in the order of the model file."""
    reading = trial.setup.model_reading
    out: dict[str, tuple[str, str]] = {}
    bodies = {body.name for body in trial.system.bodies}
    for joint in reading.objects(reading.model, "JointSet"):
        ends = [
            reading.base(reading.connected(joint, f"{side}_frame"), joint)[0].name or "ground"
            for side in ("parent", "child")
        ]
        if ends[1] in bodies:
            out[joint.name] = (ends[0], ends[1])
    return out


def body_order(model: Element, system: System) -> list[str]:
    """Names of the bodies in the order of the model file."""
    known = {body.name for body in system.bodies}
    found = model.child("BodySet")
    listed: list[Any] = (
        [e.name for e in found.descendants("Body") if e.name in known] if found is not None else []
    )
    return [*listed, *(body.name for body in system.bodies if body.name not in listed)]


def _spread(setup: Setup, element: Element, name: str, default: str, count: int) -> list[str]:
    """One word per joint, or one for all."""
    values = setup.words(name, element) or [default]
    if len(values) not in (1, count):
        raise setup.error(
            f"<{name}> has {len(values)} words for {count} joints: expected one for all, or one each", element
        )
    return values if len(values) == count else values[:1] * count


# ---- muscles -----------------------------------------------------------------------------------------------

MUSCLE_WORDS = (
    "",
    "This analysis gathers basic information about muscles during a simulation (e.g., "
    "forces, tendon lengths, moment arms, etc).",
    *SI,
    "",
)
QUANTITIES = {
    "PennationAngle": "pennation_angle",
    "FiberLength": "fiber_length",
    "NormalizedFiberLength": "normalized_fiber_length",
    "TendonLength": "tendon_length",
    "FiberVelocity": "fiber_velocity",
    "NormFiberVelocity": "normalized_fiber_velocity",
    "PennationAngularVelocity": "pennation_angular_velocity",
    "TendonForce": "tendon_force",
    "FiberForce": "fiber_force",
    "ActiveFiberForce": "active_fiber_force",
    "PassiveFiberForce": "passive_fiber_force",
    "ActiveFiberForceAlongTendon": "active_fiber_force_along_tendon",
    "PassiveFiberForceAlongTendon": "passive_fiber_force_along_tendon",
    "FiberActivePower": "fiber_active_power",
    "FiberPassivePower": "fiber_passive_power",
    "TendonPower": "tendon_power",
    "MuscleActuatorPower": "muscle_power",
}
"""OpenSim's names of results of muscles, and ours."""


def static_optimization_analysis(trial: AnalysisTrial, element: Element) -> None:
    """Activations and forces of the least effort: _activation, _force, _controls."""
    setup, system = trial.setup, trial.system
    if trial.smooth is None:
        raise setup.error(
            f"the accelerations that it takes come from {FEWEST} frames or more, got {len(trial.motion)}",
            element,
        )
    motion = trial.smooth._some(trial.recorded_rows(element))
    result: StaticOptimization = setup.study(
        "static optimization",
        static_optimization,
        system,
        motion,
        trial.loads,
        exponent=setup.number("activation_exponent", 2.0, element),
        physiology=setup.flag("use_muscle_physiology", True, element),
    )
    order = [n for n in system.forces if n in result.activations.names or n in result.controls.names]
    level = {t: result.activations if t in result.activations.names else result.controls for t in order}
    activations = np.array([level[n][n] for n in order]).reshape(len(order), len(motion)).T
    words = ["This file contains static optimization results.", ""]
    trial.save(element, "activation", "Static Optimization", order, activations, words)
    exerted = Exerted(trial, motion, {n: result.forces[n] for n in order})
    save_forces(trial, element, "force", force_columns(exerted, element))
    name = trial.name(element, "controls").removesuffix(".sto") + ".xml"
    setup.report.files.append(write_controls(setup.results / name, motion.t, order, activations))
    setup.report.judge(result.quality)


def muscle_analysis_files(trial: AnalysisTrial, element: Element) -> None:
    """Lengths, moment arms, fibers, forces and powers: one file per quantity."""
    setup, system = trial.setup, trial.system
    if not system.muscles:
        setup.check(f"{element.title}: the model has no muscles: nothing is written")
        return
    trial.report_unknown_states()
    found: MuscleAnalysis = setup.study("muscle analysis", muscle_analysis, system, trial.with_muscle_states)
    setup.report.judge(found.quality)
    names = trial.chosen(element, "muscle_list", system.muscles)

    def save(quantity: str, values: Array) -> None:
        trial.save(element, quantity, quantity, names, values, MUSCLE_WORDS)

    column = lambda table: np.transpose([table[n] for n in names])
    save("Length", column(found.lengths))
    for quantity, own in QUANTITIES.items():
        if own in found.tables:
            save(quantity, column(found[own]))
    for speed in trial.chosen(element, "moment_arm_coordinate_list", list(found.moment_arms)):
        table = found.moment_arms[speed]
        save(f"MomentArm_{speed}", column(table))
        if setup.flag("compute_moments", True, element):
            save(f"Moment_{speed}", column(table) * column(found["tendon_force"]))
