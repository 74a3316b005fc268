"""OpenSim's tools on a model file and a recorded walk, in a process of their own: condyle must not be
imported here."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import Clock

NO_FILTER = -1.0
METHODS = ("RungeKuttaMerson", "RungeKutta3")
"""Of a run. Fehlberg's, RungeKutta2 and CPodes take longer at equal error on gait2354."""


class Walk:
    """A model, its motion and its ground reactions, as files.

    `model` of every question is a dict of paths: model, motion, loads, reserves (or None).
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.made: dict[str, Any] = {}

    def tool(self, files: dict[str, str], what: str, first: float, last: float) -> float:
        """Processor seconds of a tool over a range of time; its files lie in `folder`."""
        ready = self.ready(files, what, first, last)
        with Clock() as clock:
            ready.run()
        return clock.cpu

    def whole(self, files: dict[str, str], what: str, first: float, last: float) -> tuple[float, float]:
        """Processor seconds of a tool from its setup file to its results, and of that to read the model and
        to make its system, as the tool does."""
        import opensim as osim

        self.ready(files, what, first, last)
        path = str(self.folder / ("id.xml" if what == "inverse_dynamics" else f"{what}.xml"))
        made = osim.InverseDynamicsTool if what == "inverse_dynamics" else osim.AnalyzeTool
        with Clock() as clock:
            made(path, True).run()
        with Clock() as reading:
            osim.Model(files["model"]).initSystem()
        return clock.cpu, reading.cpu

    def ready(self, files: dict[str, str], what: str, first: float, last: float) -> Any:
        """A tool whose setup file has been read."""
        import opensim as osim

        osim.Logger.setLevelString("error")
        if what == "inverse_dynamics":
            setup = osim.InverseDynamicsTool()
            setup.setModelFileName(files["model"])
            setup.setCoordinatesFileName(files["motion"])
            setup.setLowpassCutoffFrequency(NO_FILTER)
            setup.setStartTime(first)
            setup.setEndTime(last)
            setup.setExternalLoadsFileName(files["loads"])
            setup.setOutputGenForceFileName("id.sto")
            setup.setResultsDir(str(self.folder))
            excluded = osim.ArrayStr()
            excluded.append("Muscles")
            setup.setExcludedForces(excluded)
            setup.printToXML(str(self.folder / "id.xml"))
            return osim.InverseDynamicsTool(str(self.folder / "id.xml"), True)
        return self.analyze(files, what, first, last)

    def analyze(self, files: dict[str, str], what: str, first: float, last: float) -> Any:
        import opensim as osim

        setup = osim.AnalyzeTool()
        setup.setName(what)
        setup.setModelFilename(files["model"])
        if files["reserves"]:
            more = osim.ArrayStr()
            more.append(files["reserves"])
            setup.setForceSetFiles(more)
        setup.setCoordinatesFileName(files["motion"])
        setup.setExternalLoadsFileName(files["loads"])
        setup.setResultsDir(str(self.folder))
        setup.setInitialTime(first)
        setup.setFinalTime(last)
        setup.setLoadModelAndInput(True)
        if what == "muscle_analysis":
            analysis = osim.MuscleAnalysis()
            analysis.setComputeMoments(True)
        elif what == "joint_reactions":
            analysis = osim.JointReaction()
            analysis.setForcesFileName(str(self.folder / "static_optimization_StaticOptimization_force.sto"))
        else:
            analysis = osim.StaticOptimization()
            analysis.setUseMusclePhysiology(True)
            analysis.setActivationExponent(2.0)
            analysis.setConvergenceCriterion(1e-6)
            analysis.setMaxIterations(1000)
        analysis.setStartTime(first)
        analysis.setEndTime(last)
        setup.getAnalysisSet().cloneAndAppend(analysis)
        path = str(self.folder / f"{what}.xml")
        setup.printToXML(path)
        return osim.AnalyzeTool(path, True)

    def table(self, _: Any, name: str) -> tuple[list[str], np.ndarray]:
        """Labels and rows of a result."""
        lines = (self.folder / name).read_text().splitlines()
        head = lines.index("endheader")
        return lines[head + 1].split(), np.array(
            [[float(x) for x in line.split()] for line in lines[head + 2 :]]
        )

    def prepared(self, files: dict[str, str]) -> Any:
        """The model with muscles in equilibrium at its default pose."""
        import opensim as osim

        if "model" not in self.made:
            osim.Logger.setLevelString("error")
            model = osim.Model(files["model"])
            state = model.initSystem()
            model.equilibrateMuscles(state)
            self.made["model"] = model, state
        return self.made["model"]

    def rates(self, files: dict[str, str], calls: int) -> float:
        """Seconds of a right-hand side at a new state."""
        import opensim as osim

        model, start = self.prepared(files)
        state, best = osim.State(start), np.inf
        q = start.getQ().to_numpy()
        rng = np.random.default_rng(0)
        places = [osim.Vector([*(q + 0.01 * rng.normal(size=q.size))]) for _ in range(calls)]
        for _ in range(5):
            t = time.process_time()
            for place in places:
                state.setQ(place)
                model.realizeAcceleration(state)
            best = min(best, (time.process_time() - t) / calls)
        return best

    def run(
        self, files: dict[str, str], accuracy: float, t_final: float, method: str = "RungeKuttaMerson"
    ) -> tuple[float, dict[str, float]]:
        """Processor seconds of a run from rest at the default pose, and coordinates at its end."""
        import opensim as osim

        model, start = self.prepared(files)
        manager = osim.Manager(model)
        manager.setWriteToStorage(False)
        manager.setPerformAnalyses(False)
        manager.setRecordStatesTrajectory(False)
        manager.setIntegratorMethod(getattr(osim.Manager, f"IntegratorMethod_{method}"))
        manager.setIntegratorAccuracy(accuracy)
        manager.setIntegratorInternalStepLimit(1_000_000)
        manager.initialize(osim.State(start))
        t = time.process_time()
        state = manager.integrate(t_final)
        spent = time.process_time() - t
        found = model.getCoordinateSet()
        return spent, {found.get(i).getName(): found.get(i).getValue(state) for i in range(found.getSize())}


def about_walk() -> dict[str, Any]:
    os.chdir(tempfile.mkdtemp())  # its log is written where it runs
    walk = Walk()
    return {
        "seconds": walk.tool,
        "whole": walk.whole,
        "table": walk.table,
        "rates": walk.rates,
        "run": walk.run,
    }
