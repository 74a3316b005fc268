"""OpenSim's side of muscles_forward.py, in a process of its own: condyle must not be imported here."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.opensim_arm26 import model_of


class There:
    """OpenSim's answers."""

    def __init__(self) -> None:
        self.made: dict[Any, Any] = {}

    def prepared(self, made: Any, given: dict[str, float]) -> Any:
        import opensim as osim

        key = tuple(given.items())
        if key not in self.made:
            osim.Logger.setLevelString("error")
            model = osim.Model(made) if isinstance(made, str) else model_of(made)
            controller = osim.PrescribedController()
            controller.setName("excitations")
            for name, e in given.items():
                controller.addActuator(model.getMuscles().get(name))
                controller.prescribeControlForActuator(name, osim.Constant(e))
            model.addController(controller)
            state = model.initSystem()
            for name in given:
                model.getMuscles().get(name).setActivation(state, 0.05)
            model.equilibrateMuscles(state)
            self.made[key] = model, state
        return self.made[key]

    def rates(self, made: Any, given: dict[str, float], calls: int) -> tuple[float, list[float]]:
        """Seconds of a right-hand side at a new state, and udot at the start."""
        import opensim as osim

        model, start = self.prepared(made, given)
        model.realizeAcceleration(start)
        udot = start.getUDot().to_numpy().tolist()
        state, best = osim.State(start), np.inf
        rng = np.random.default_rng(0)
        places = [osim.Vector([*(0.02 * rng.normal(size=2))]) for _ in range(calls)]
        for _ in range(5):
            t = time.process_time()
            for q in places:
                state.setQ(q)
                model.realizeAcceleration(state)
            best = min(best, (time.process_time() - t) / calls)
        return best, udot

    def run(self, made: Any, given: dict[str, float], accuracy: float, t_final: float) -> tuple[float, Any]:
        import opensim as osim

        model, start = self.prepared(made, given)
        manager = osim.Manager(model)
        manager.setWriteToStorage(False)
        manager.setPerformAnalyses(False)
        manager.setRecordStatesTrajectory(False)
        manager.setIntegratorAccuracy(accuracy)
        manager.setIntegratorInternalStepLimit(1_000_000)
        manager.initialize(osim.State(start))
        t = time.process_time()
        state = manager.integrate(t_final)
        return time.process_time() - t, state.getQ().to_numpy()


def questions() -> dict[str, Any]:
    there = There()
    return {"rates": there.rates, "run": there.run}
