"""AnalyzeTool: analyses of a recorded motion, each with the files that OpenSim's writes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from condyle.arrays import Array
from condyle.opensim.element import Element
from condyle.opensim.setup import analyses, force_report, induced, output_report
from condyle.opensim.setup.controls import Control, control_inputs, controls_of
from condyle.opensim.setup.equilibrium import opensim_equilibrium
from condyle.opensim.setup.file_columns import columns_of, in_degrees, speed_names
from condyle.opensim.setup.inputs import (
    frames_between,
    loads_of,
    motion_from_table,
    motion_of,
    without_repeated_times,
)
from condyle.opensim.setup.setup_file import Setup
from condyle.opensim.setup.trial import AnalysisTrial
from condyle.studies.motion.motion import Motion
from condyle.studies.motion.recorded import FEWEST
from condyle.studies.motion.spline_rates import rates
from condyle.system.system import System
from condyle.table import Table

ANALYSES: dict[str, Callable[[AnalysisTrial, Element], None]] = {
    "Kinematics": analyses.kinematics,
    "BodyKinematics": analyses.body_kinematics,
    "PointKinematics": analyses.point_kinematics,
    "JointReaction": analyses.joint_reaction,
    "StaticOptimization": analyses.static_optimization_analysis,
    "MuscleAnalysis": analyses.muscle_analysis_files,
    "Actuation": force_report.actuation,
    "ForceReporter": force_report.reporter,
    "InducedAccelerations": induced.induced,
    "OutputReporter": output_report.output_reporter,
}
"""Functions that run analyses."""
UNKNOWN = (
    "no file has states of the muscles: in all analyses but StaticOptimization they are at their "
    "default activations, with fibers in equilibrium with their tendons. Kinematics, lengths and "
    "moment arms do not depend on that"
)


def run(setup: Setup) -> None:
    """Write `<results_directory>/NAME_ANALYSIS_QUANTITY.sto` of each analysis."""
    run_analyses(trial_of(setup))


def run_analyses(trial: AnalysisTrial) -> None:
    """Run all analyses of the set that are on."""
    setup, found = trial.setup, trial.setup.objects("AnalysisSet")
    if not any(setup.flag("on", True, element) for element in found):
        setup.check("<AnalysisSet> has no analysis that is on: nothing is written")
    for element in found:
        if not setup.flag("on", True, element):
            continue
        if element.tag not in ANALYSES:
            setup.check(f"analysis {element.tag} is not supported, and was left out")
            continue
        ANALYSES[element.tag](trial, element)


def trial_of(setup: Setup) -> AnalysisTrial:
    """The motion of a file of coordinates, or of states, with the loads and controls that the setup names."""
    system = setup.system()
    table = None
    if setup.text("states_file"):
        table = without_repeated_times(
            setup, setup.table(setup.required_file("states_file", "states"), degrees=False)
        )
        whole = _with_speeds(
            motion_from_table(setup, system, table) if len(table) >= FEWEST else _few(setup, system, table),
            table,
        )
        for name in ("coordinates_file", "speeds_file"):
            if setup.text(name):
                setup.note(f"<{name}> is not read, because there is a <states_file>")
    else:
        whole = motion_of(setup, system)
        if setup.text("speeds_file"):
            speeds = setup.table(setup.required_file("speeds_file", "speeds"))
            whole = _with_speeds(whole, speeds, setup)
    limits = setup.number("initial_time", -np.inf), setup.number("final_time", np.inf)
    motion = frames_between(whole, *limits, setup.recorded)
    few = len(whole) < FEWEST
    smooth = (
        None
        if few
        else frames_between(
            Motion(system, whole.t, whole.q, whole.u, rates(whole.t, whole.u, natural=True)[0]), *limits
        )
    )
    controls = controls_of(setup, system, float(motion.t[0]), float(motion.t[-1]))
    known = table is not None and all(n in columns_of(table) for n in system.state_variables)
    trial = AnalysisTrial(
        setup,
        system,
        motion,
        smooth,
        loads_of(setup, motion),
        lambda balanced: _states(setup, system, motion, table, controls, balanced),
        setup.count("output_precision", 8, 30),
        unknown="" if known else UNKNOWN,
        first=int(np.searchsorted(whole.t, motion.t[0])),
    )
    if known or few:  # accelerations of the model in these states, as in OpenSim
        trial.motion = trial.run
    return trial


def _few(setup: Setup, system: System, table: Table) -> Motion:
    """Frames of a file of states that has too few for a spline; speeds are still to come."""
    columns = columns_of(table)
    if lacking := [
        n for n in (*system.coordinates, *(f"{n}_u" for n in speed_names(system))) if n not in columns
    ]:
        raise setup.error(
            f"<states_file> has {len(table)} rows, too few for rates of its coordinates, and "
            f"no column for {', '.join(lacking)}"
        )
    q = table.values[:, [columns[n] for n in system.coordinates]]
    none = np.zeros((len(table), system.nu))
    return Motion(system, table.time, system.project(q, none)[0] if system.constraints else q, none, none)


def _states(
    setup: Setup,
    system: System,
    motion: Motion,
    table: Table | None,
    controls: dict[str, Control],
    balanced: bool,
) -> tuple[Array, Array]:
    """Auxiliary states (m, nz) and inputs (m, k) of the frames: those of a file of states and of controllers;
    if balanced, fibers are in equilibrium if a file does not have them, or if the setup requests it."""
    start = motion.start
    z = np.tile(start.z, (len(motion), 1))
    lacking = list(system.state_variables)
    if table is not None:
        columns, inside = columns_of(table), np.searchsorted(table.time, motion.t, "right") - 1
        for k, name in enumerate(system.state_variables):
            if name in columns:
                z[:, k] = table.values[inside, columns[name]]
                lacking.remove(name)
    inputs = control_inputs(system, controls, motion.t)
    if balanced and z.size and (lacking or setup.flag("solve_for_equilibrium_for_auxiliary_states", False)):
        z = setup.step("equilibrium of muscles", lambda: opensim_equilibrium(motion, z))
    return z, inputs


def _with_speeds(motion: Motion, table: Table, setup: Setup | None = None) -> Motion:
    """The motion with the speeds of a file, if it has all.

    Args:
        motion: of the coordinates.
        table: with columns NAME_u, .../NAME/speed, or in a file of speeds NAME.
        setup: of a file of speeds, which may have other times than the motion.
    """
    system, columns = motion.system, columns_of(table)
    at = {
        n: next((columns[c] for c in (f"{n}_u", n)[: 2 if setup else 1] if c in columns), None)
        for n in speed_names(system)
    }
    if lacking := [n for n, k in at.items() if k is None]:
        if setup is not None:
            raise setup.error(f"<speeds_file> has no column for {', '.join(lacking)}")
        return motion
    degrees = in_degrees(system)
    u = np.stack(
        [
            table.values[:, k] * (np.pi / 180 if table.degrees and degrees.get(n) else 1.0)
            for n, k in at.items()
        ],
        axis=1,
    )
    if setup is not None:
        if table.time[0] > motion.t[0] + 1e-9 or table.time[-1] < motion.t[-1] - 1e-9:
            raise setup.error(
                f"<speeds_file> goes from {table.time[0]:g} to {table.time[-1]:g} s, the "
                f"coordinates from {motion.t[0]:g} to {motion.t[-1]:g} s"
            )
        u = np.stack([np.interp(motion.t, table.time, x) for x in u.T], axis=1)
    udot = rates(motion.t, u, natural=True)[0] if setup else motion.udot
    return Motion(system, motion.t, motion.q, u, udot)
