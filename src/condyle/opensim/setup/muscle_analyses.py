"""Analyses of muscles: static optimization, lengths and moment arms, forces, induced accelerations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from condyle.arrays import Array
from condyle.opensim.element import Element
from condyle.opensim.setup.controls import write_controls
from condyle.opensim.setup.file import SI
from condyle.opensim.setup.force_report import Exerted, columns_of, save_forces
from condyle.studies.motion.motion import FEWEST
from condyle.studies.muscle_analysis import MuscleAnalysis, muscle_analysis
from condyle.studies.static_optimization import StaticOptimization, static_optimization

if TYPE_CHECKING:
    from condyle.opensim.setup.trial import Trial

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
"""OpenSim's names of what muscles report, and ours."""


def static(trial: Trial, element: Element) -> None:
    """Activations and forces of the least effort: _activation, _force, _controls."""
    setup, system = trial.setup, trial.system
    keep = trial.kept(element)
    if trial.smooth is None:
        raise setup.error(
            f"the accelerations that it takes come from {FEWEST} frames or more, got {len(trial.motion)}",
            element,
        )
    motion = trial.smooth._some(keep)
    result: StaticOptimization = setup.step(
        "static optimization",
        lambda: static_optimization(
            system,
            motion,
            trial.loads,
            exponent=setup.number("activation_exponent", 2.0, element),
            physiology=setup.flag("use_muscle_physiology", True, element),
        ),
    )
    order = [n for n in system.forces if n in result.activations.names or n in result.controls.names]
    level = {t: result.activations if t in result.activations.names else result.controls for t in order}
    activations = np.stack([level[n][n] for n in order], axis=1) if order else np.empty((len(keep), 0))
    setup.save(
        trial.name(element, "activation"),
        "Static Optimization",
        motion.t,
        order,
        activations,
        words=["This file contains static optimization results.", ""],
        precision=trial.precision,
    )
    exerted = Exerted(trial, motion, {n: result.forces[n] for n in order})
    save_forces(trial, element, "force", motion.t, columns_of(exerted, element))
    name = trial.name(element, "controls").removesuffix(".sto") + ".xml"
    setup.report.files.append(write_controls(setup.results / name, motion.t, order, activations))
    setup.report.judge(result.quality)


def muscles(trial: Trial, element: Element) -> None:
    """Lengths, moment arms, fibers, forces and powers: one file per quantity."""
    setup, system, run = trial.setup, trial.system, trial.run
    if not system.muscles:
        setup.report.check.append(f"{element.title}: the model has no muscles: nothing is written")
        return
    trial.say_unknown()
    found: MuscleAnalysis = setup.step("muscle analysis", lambda: muscle_analysis(system, run))
    setup.report.judge(found.quality)
    names = trial.chosen(element, "muscle_list", system.muscles)
    keep = trial.kept(element)

    def save(quantity: str, values: Array) -> None:
        setup.save(
            trial.name(element, quantity),
            quantity,
            run.t[keep],
            names,
            values[keep],
            precision=trial.precision,
            words=MUSCLE_WORDS,
        )

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
