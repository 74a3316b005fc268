"""AnalyzeTool: analyses of a recorded motion, each with the files that OpenSim's writes."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from condyle.opensim.element import Element
from condyle.opensim.setup import analyses, muscle_analyses
from condyle.opensim.setup.file import Setup
from condyle.opensim.setup.motion import loads_of, made, motion_of, rows
from condyle.studies.external_load import ExternalLoad
from condyle.studies.motion import Motion
from condyle.studies.smoothing import rates
from condyle.system.system import System
from condyle.table import Table

ANALYSES: dict[str, Callable[..., None]] = {
    "Kinematics": analyses.kinematics, "BodyKinematics": analyses.body_kinematics,
    "PointKinematics": analyses.point_kinematics, "JointReaction": analyses.joint_reaction,
    "StaticOptimization": muscle_analyses.static, "MuscleAnalysis": muscle_analyses.muscles,
    "ForceReporter": muscle_analyses.reporter, "InducedAccelerations": muscle_analyses.induced}
"""What runs an analysis."""


@dataclass
class Trial:
    """What analyses share.

    Attributes:
        setup: the file.
        system: the model.
        motion: frames of the time that is analysed, with accelerations of its coordinates.
        smooth: the same with the accelerations of a spline through the speeds, for StaticOptimization.
        loads: external loads.
        activations: of muscles, where a file of states has them.
        precision: digits after the point in files.
    """

    setup: Setup
    system: System
    motion: Motion
    smooth: Motion
    loads: list[ExternalLoad]
    activations: Table | None
    precision: int

    def kept(self, element: Element) -> NDArray[np.intp]:
        """Frames that an analysis records: every <step_interval>th, and always the first and last."""
        setup, t = self.setup, self.motion.t
        every = max(int(setup.number("step_interval", 1, element)), 1)
        start, end = (setup.number(name, default, element) for name, default in (("start_time", -np.inf),
                                                                                  ("end_time", np.inf)))
        k = np.arange(len(t))
        chosen = ((k % every == 0) & (t >= start) & (t <= end)) | (k == 0) | ((k == len(t) - 1) & (t <= end))
        return np.flatnonzero(chosen)

    def name(self, element: Element, quantity: str) -> str:
        """Of a file of results."""
        return f"{self.setup.report.name}_{element.name or element.tag}_{quantity}.sto"


def run(setup: Setup) -> None:
    """Write `<results_directory>/NAME_ANALYSIS_QUANTITY.sto` of each analysis."""
    system = setup.system()
    table = None
    if setup.text("states_file"):
        table = setup.table(setup.needed("states_file", "states"), degrees=False)
        motion = _with_speeds(made(setup, system, table), table)
    else:
        motion = motion_of(setup, system)
    if setup.text("speeds_file"):
        setup.report.check.append("<speeds_file> is not read: speeds are the derivatives of the coordinates")
    whole = motion
    smooth = Motion(system, whole.t, whole.q, whole.u, rates(whole.t, whole.u)[0])
    limits = setup.number("initial_time", -np.inf), setup.number("final_time", np.inf)
    motion = rows(whole, *limits)
    trial = Trial(setup, system, motion, rows(smooth, *limits), loads_of(setup, motion),
                  _activations(system, table), int(setup.number("output_precision", 8)))
    for element in setup.objects("AnalysisSet"):
        if not setup.flag("on", True, element):
            continue
        if element.tag not in ANALYSES:
            setup.report.check.append(f"analysis {element.tag} is not there, and was left out")
            continue
        ANALYSES[element.tag](trial, element)


def _with_speeds(motion: Motion, table: Table) -> Motion:
    """The motion with the speeds that a file of states has, where it has all."""
    columns = {name.split("/")[-2]: name for name in table.names if name.endswith("/speed")}
    columns |= {name.removesuffix("_u"): name for name in table.names if name.endswith("_u")}
    if not all(name in columns for name in motion.system.speeds):
        return motion
    u = np.stack([table[columns[name]] for name in motion.system.speeds], axis=1)
    return Motion(motion.system, motion.t, motion.q, u, motion.udot)


def _activations(system: System, table: Table | None) -> Table | None:
    """Activations in a file of states: /forceset/soleus/activation, or soleus.activation."""
    if table is None or not system.muscles:
        return None
    known = {}
    for name in table.names:
        parts = name.replace(".", "/").split("/")
        if len(parts) > 1 and parts[-1] == "activation":
            known[parts[-2] if parts[-2] else parts[-1]] = name
    if not all(name in known for name in system.muscles):
        return None
    values = np.stack([table[known[name]] for name in system.muscles], axis=1)
    return Table(table.time, system.muscles, np.clip(values, 0.0, 1.0))
