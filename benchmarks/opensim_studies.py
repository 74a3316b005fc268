"""OpenSim's tools on arm26: inverse dynamics, muscle analysis, joint reactions, in a process of their own."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.opensim_arm26 import model_of
from benchmarks.opensim_process import Answers
from benchmarks.timing import Clock
from benchmarks.trees import Array


def storage(path: Path, names: tuple[str, ...], t: Array, values: Array) -> None:
    """Write a .sto."""
    rows = "\n".join("\t".join(f"{x:.17g}" for x in (s, *row)) for s, row in zip(t, values))
    path.write_text(
        f"{path.stem}\nversion=1\nnRows={len(t)}\nnColumns={len(names) + 1}\n"
        "inDegrees=no\nendheader\n" + "\t".join(("time", *names)) + f"\n{rows}\n"
    )


class Tools:
    """The three tools, as users run them: from files to files."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp())

    def prepare(
        self,
        data: dict[str, Any],
        t: Array,
        names: tuple[str, ...],
        q: Array,
        muscles: tuple[str, ...],
        forces: Array,
    ) -> None:
        model_of(data).printToXML(str(self.folder / "arm26.osim"))
        storage(self.folder / "motion.mot", names, t, q)
        both = (*(f"{name}_reserve" for name in names), *muscles)
        storage(self.folder / "forces.sto", both, t, np.hstack([0 * q, forces]))

    def run(self, _: Any, what: str, until: float) -> float:
        """Seconds of processor time of a tool from the first frame to `until`."""
        import opensim as osim

        if what == "inverse_dynamics":
            tool = osim.InverseDynamicsTool()
            tool.setModelFileName(str(self.folder / "arm26.osim"))
            tool.setCoordinatesFileName("motion.mot")
            tool.setLowpassCutoffFrequency(-1)
            tool.setStartTime(0.0)
            tool.setEndTime(float(until))
            tool.setOutputGenForceFileName("id.sto")
            tool.setResultsDir(str(self.folder))
            excluded = osim.ArrayStr()
            excluded.append("Muscles")
            tool.setExcludedForces(excluded)
            tool.printToXML(str(self.folder / "id.xml"))
            ready = osim.InverseDynamicsTool(str(self.folder / "id.xml"), True)
        else:
            tool = osim.AnalyzeTool()
            tool.setName(what)
            tool.setModelFilename(str(self.folder / "arm26.osim"))
            tool.setCoordinatesFileName(str(self.folder / "motion.mot"))
            tool.setResultsDir(str(self.folder))
            tool.setInitialTime(0.0)
            tool.setFinalTime(float(until))
            tool.setLoadModelAndInput(True)
            if what == "muscle_analysis":
                analysis = osim.MuscleAnalysis()
                analysis.setComputeMoments(True)
            else:
                analysis = osim.JointReaction()
                analysis.setForcesFileName(str(self.folder / "forces.sto"))
            analysis.setStartTime(0.0)
            analysis.setEndTime(float(until))
            tool.getAnalysisSet().cloneAndAppend(analysis)
            tool.printToXML(str(self.folder / "setup.xml"))
            ready = osim.AnalyzeTool(str(self.folder / "setup.xml"), True)
        with Clock() as clock:
            ready.run()
        return clock.cpu

    def moments(self, _: Any) -> Array:
        """Those of the last inverse dynamics."""
        lines = (self.folder / "id.sto").read_text().splitlines()
        return np.array([[float(x) for x in line.split()] for line in lines[lines.index("endheader") + 2 :]])


def about_tools() -> Answers:
    tools = Tools()
    return {"prepare": tools.prepare, "seconds": tools.run, "moments": tools.moments}
