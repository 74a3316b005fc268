"""Analyses of muscles: static optimisation, lengths and moment arms, forces, induced accelerations."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from condyle.arrays import Array
from condyle.forces.actuators import Actuator, CoordinateActuator
from condyle.opensim.element import Element
from condyle.opensim.setup.controls import write_controls
from condyle.opensim.setup.file import FORCES, SI
from condyle.studies.induced_accelerations import InducedAccelerations, induced_accelerations
from condyle.studies.inverse_dynamics import inverse_dynamics
from condyle.studies.muscle_analysis import MuscleAnalysis, muscle_analysis
from condyle.studies.static_optimization import StaticOptimization, static_optimization
from condyle.table import Table

if TYPE_CHECKING:
    from condyle.opensim.setup.analyze import Trial

FORCE_WORDS = ("", "This file contains the forces exerted on a model during a simulation.", "", FORCES, "",
               *SI, "")
MUSCLE_WORDS = ("", "This analysis gathers basic information about muscles during a simulation (e.g., "
                "forces, tendon lengths, moment arms, etc).", *SI, "")
QUANTITIES = {
    "PennationAngle": "pennation_angle", "FiberLength": "fiber_length",
    "NormalizedFiberLength": "normalized_fiber_length", "TendonLength": "tendon_length",
    "FiberVelocity": "fiber_velocity", "NormFiberVelocity": "normalized_fiber_velocity",
    "PennationAngularVelocity": "pennation_angular_velocity", "TendonForce": "tendon_force",
    "FiberForce": "fiber_force", "ActiveFiberForce": "active_fiber_force",
    "PassiveFiberForce": "passive_fiber_force",
    "ActiveFiberForceAlongTendon": "active_fiber_force_along_tendon",
    "PassiveFiberForceAlongTendon": "passive_fiber_force_along_tendon",
    "FiberActivePower": "fiber_active_power", "FiberPassivePower": "fiber_passive_power",
    "TendonPower": "tendon_power", "MuscleActuatorPower": "muscle_power"}
"""OpenSim's names of what muscles report, and ours."""
RESERVE, RESIDUAL_FORCE, RESIDUAL_MOMENT = 10.0, 20.0, 75.0
"""[%] of the peak joint moment, [N], [N m]: what OpenSim's guidelines allow."""
DEFAULT_ACTIVATION = 0.05


def static(trial: Trial, element: Element) -> None:
    """Activations and forces of the least effort: _activation, _force, _controls."""
    setup, system = trial.setup, trial.system
    keep = trial.kept(element)
    motion = trial.smooth._some(keep)
    result: StaticOptimization = setup.step("static optimisation", lambda: static_optimization(
        system, motion, trial.loads, exponent=setup.number("activation_exponent", 2.0, element),
        physiology=setup.flag("use_muscle_physiology", True, element)))
    order = [n for n in system.forces if n in result.activations.names or n in result.controls.names]
    level = {t: result.activations if t in result.activations.names else result.controls for t in order}
    activations = np.stack([level[n][n] for n in order], axis=1) if order else np.empty((len(keep), 0))
    forces = np.stack([result.forces[n] for n in order], axis=1) if order else np.empty((len(keep), 0))
    setup.save(trial.name(element, "activation"), "Static Optimization", motion.t, order, activations,
               words=["This file contains static optimization results.", ""], precision=trial.precision)
    setup.save(trial.name(element, "force"), "ModelForces", motion.t, order, forces, words=FORCE_WORDS,
               precision=trial.precision)
    name = trial.name(element, "controls").removesuffix(".sto") + ".xml"
    setup.report.files.append(write_controls(setup.results / name, motion.t, order, activations))
    _judge(trial, result)


def _judge(trial: Trial, result: StaticOptimization) -> None:
    report, system = trial.setup.report, trial.system
    if result.failures:
        report.check.append(f"static optimisation: {result.status}")
    saturated = sorted({name for names in result.saturated for name in names})
    if saturated:
        report.check.append("muscles at their greatest activation in some frames: "
                            f"{', '.join(saturated)[:200]}")
    need = inverse_dynamics(system, trial.smooth, trial.loads)
    for name in result.controls.names:
        law, peak = system.force(name), float(np.nanmax(np.abs(result.forces[name])))
        if isinstance(law, CoordinateActuator):
            speed = str(law.coordinate)
            most = float(np.abs(need[speed]).max()) if speed in need else 0.0
            report.judge(f"{name}, of the peak moment or force of {speed}",
                         100 * peak / most if most else 0.0, RESERVE, "%",
                         "muscles cannot exert what this motion takes")
        elif isinstance(law, Actuator):
            torque = "Torque" in type(law).__name__
            report.judge(f"peak of {name}", peak, RESIDUAL_MOMENT if torque else RESIDUAL_FORCE,
                         "N m" if torque else "N", "motion, external loads and masses do not fit each other")


def _activations(trial: Trial, element: Element) -> Table:
    """Those of a file of states; else all at their default, which is said."""
    if trial.activations is not None:
        return trial.activations
    system = trial.system
    trial.setup.report.check.append(
        f"{element.title}: no file has activations: fibres and forces are those at an activation of "
        f"{DEFAULT_ACTIVATION:g} with rigid tendons. Lengths and moment arms do not depend on that")
    t = trial.motion.t
    return Table(t, system.muscles, np.full((len(t), len(system.muscles)), DEFAULT_ACTIVATION))


def _analysis(trial: Trial, element: Element) -> MuscleAnalysis:
    given = _activations(trial, element)
    found: MuscleAnalysis = trial.setup.step("muscle analysis", lambda: muscle_analysis(
        trial.system, trial.motion, given))
    return found


def muscles(trial: Trial, element: Element) -> None:
    """Lengths, moment arms, fibres, forces and powers: one file per quantity."""
    setup, system, motion = trial.setup, trial.system, trial.motion
    found = _analysis(trial, element)
    asked = setup.words("muscle_list", element) or ["all"]
    names = [n for n in system.muscles if asked[0].lower() == "all" or n in asked]
    keep = trial.kept(element)

    def save(quantity: str, values: Array) -> None:
        setup.save(trial.name(element, quantity), quantity, motion.t[keep], names, values[keep],
                   precision=trial.precision, words=MUSCLE_WORDS)

    column = lambda table: np.stack([table[n] for n in names], axis=1)
    save("Length", column(found.lengths))
    for quantity, own in QUANTITIES.items():
        if own in found.tables:
            save(quantity, column(found[own]))
    arms = setup.words("moment_arm_coordinate_list", element) or ["all"]
    for speed, table in found.moment_arms.items():
        if arms[0].lower() == "all" or speed in arms:
            save(f"MomentArm_{speed}", column(table))
            if setup.flag("compute_moments", True, element):
                save(f"Moment_{speed}", column(table) * column(found["tendon_force"]))


def reporter(trial: Trial, element: Element) -> None:
    """Forces of muscles and actuators: _forces."""
    setup, system, motion = trial.setup, trial.system, trial.motion
    keep = trial.kept(element)
    names = [n for n in system.forces if n in system.muscles or isinstance(system.force(n), Actuator)]
    tension = _analysis(trial, element)["tendon_force"] if system.muscles else None
    values = np.zeros((len(motion), len(names)))
    for k, name in enumerate(names):
        if tension is not None and name in tension.names:
            values[:, k] = tension[name]
    setup.report.check.append(f"{element.title}: actuators without controls exert nothing; springs, contact "
                              "and external loads are not in the file")
    setup.save(trial.name(element, "forces"), "ModelForces", motion.t[keep], names, values[keep],
               precision=trial.precision, words=FORCE_WORDS)


def induced(trial: Trial, element: Element) -> None:
    """What each force contributes to each acceleration: one file per speed."""
    setup, system, motion = trial.setup, trial.system, trial.motion
    file = setup.file("forces_file", element)
    forces = None
    if file is not None:
        table = setup.table(file, degrees=False)
        forces = table[[n for n in table.names if n in system.forces]]
    setup.report.check.append(f"{element.title}: a foot on the ground is not held by constraints here: "
                              "external loads act as measured. In Python, rigid= of "
                              "cd.induced_accelerations holds it")
    found: InducedAccelerations = setup.step("induced accelerations", lambda: induced_accelerations(
        system, motion, forces, trial.loads))
    keep = trial.kept(element)
    for speed in system.speeds:
        one = found.of(speed)
        setup.save(trial.name(element, speed), f"Induced Accelerations of {speed}", one.time[keep],
                   [n.replace(" ", "_") for n in one.names], one.values[keep], precision=trial.precision)
