"""Analyses of muscles: static optimisation, lengths and moment arms, forces, induced accelerations."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from condyle.arrays import Array
from condyle.forces.actuators import Actuator, CoordinateActuator
from condyle.opensim.element import Element
from condyle.opensim.setup.controls import write_controls
from condyle.opensim.setup.file import SI
from condyle.opensim.setup.force_report import Exerted, columns_of, save_forces
from condyle.studies.inverse_dynamics import inverse_dynamics
from condyle.studies.motion import FEWEST, Motion
from condyle.studies.muscle_analysis import MuscleAnalysis, muscle_analysis
from condyle.studies.static_optimization import StaticOptimization, static_optimization

if TYPE_CHECKING:
    from condyle.opensim.setup.trial import Trial

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


def static(trial: Trial, element: Element) -> None:
    """Activations and forces of the least effort: _activation, _force, _controls."""
    setup, system = trial.setup, trial.system
    keep = trial.kept(element)
    if trial.smooth is None:
        raise setup.error(f"the accelerations that it takes come from {FEWEST} frames or more, got "
                          f"{len(trial.motion)}", element)
    motion = trial.smooth._some(keep)
    result: StaticOptimization = setup.step("static optimisation", lambda: static_optimization(
        system, motion, trial.loads, exponent=setup.number("activation_exponent", 2.0, element),
        physiology=setup.flag("use_muscle_physiology", True, element)))
    order = [n for n in system.forces if n in result.activations.names or n in result.controls.names]
    level = {t: result.activations if t in result.activations.names else result.controls for t in order}
    activations = np.stack([level[n][n] for n in order], axis=1) if order else np.empty((len(keep), 0))
    setup.save(trial.name(element, "activation"), "Static Optimization", motion.t, order, activations,
               words=["This file contains static optimization results.", ""], precision=trial.precision)
    exerted = Exerted(trial, motion, {n: result.forces[n] for n in order})
    save_forces(trial, element, "force", motion.t, columns_of(exerted, element))
    name = trial.name(element, "controls").removesuffix(".sto") + ".xml"
    setup.report.files.append(write_controls(setup.results / name, motion.t, order, activations))
    _judge(trial, trial.smooth, result)


def _judge(trial: Trial, smooth: Motion, result: StaticOptimization) -> None:
    report, system = trial.setup.report, trial.system
    if result.failures:
        report.check.append(f"static optimisation: {result.status}")
    saturated = sorted({name for names in result.saturated for name in names})
    if saturated:
        report.check.append("muscles at their greatest activation in some frames: "
                            f"{', '.join(saturated)[:200]}")
    need = inverse_dynamics(system, smooth, trial.loads)
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


def muscles(trial: Trial, element: Element) -> None:
    """Lengths, moment arms, fibres, forces and powers: one file per quantity."""
    setup, system, run = trial.setup, trial.system, trial.run
    if not system.muscles:
        setup.report.check.append(f"{element.title}: the model has no muscles: nothing is written")
        return
    trial.say_unknown()
    found: MuscleAnalysis = setup.step("muscle analysis", lambda: muscle_analysis(system, run))
    names = trial.chosen(element, "muscle_list", system.muscles)
    keep = trial.kept(element)

    def save(quantity: str, values: Array) -> None:
        setup.save(trial.name(element, quantity), quantity, run.t[keep], names, values[keep],
                   precision=trial.precision, words=MUSCLE_WORDS)

    column = lambda table: np.stack([table[n] for n in names], axis=1) if names else np.empty((len(run), 0))
    save("Length", column(found.lengths))
    for quantity, own in QUANTITIES.items():
        if own in found.tables:
            save(quantity, column(found[own]))
    for speed in trial.chosen(element, "moment_arm_coordinate_list", list(found.moment_arms)):
        table = found.moment_arms[speed]
        save(f"MomentArm_{speed}", column(table))
        if setup.flag("compute_moments", True, element):
            save(f"Moment_{speed}", column(table) * column(found["tendon_force"]))
