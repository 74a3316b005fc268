"""Runs of OpenSim's Manager, in OpenSim's own process (opensim_process.py), on models of plain.py.

The Manager does nothing but integrate: no storage, no analyses, no record of states. Making it, and
initialize(), are not timed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.plain import Array, Model, opensim_model
from benchmarks.timing import Clock

METHODS = {"Merson": "RungeKuttaMerson", "Fehlberg": "RungeKuttaFeldberg", "CPodes": "CPodes"}
"""Simbody's default, the better of its other explicit ones, and its multistep method."""


class Manager:
    """(processor time [s], q at the end) of a run at an accuracy. The model is made at the first question."""

    def __init__(self) -> None:
        self.made: Any = None

    def prepared(self, model: Model) -> Any:
        if self.made is None:
            self.made = opensim_model(model)
        return self.made

    def run(self, model: Model, method: str, accuracy: float, t_final: float) -> tuple[float, Array]:
        import opensim as osim

        made, start, order = self.prepared(model)
        manager = osim.Manager(made)
        manager.setWriteToStorage(False)
        manager.setPerformAnalyses(False)
        manager.setRecordStatesTrajectory(False)
        manager.setIntegratorMethod(getattr(osim.Manager, f"IntegratorMethod_{METHODS[method]}"))
        manager.setIntegratorAccuracy(accuracy)
        manager.setIntegratorInternalStepLimit(1_000_000)
        manager.initialize(osim.State(start))
        with silence(), Clock() as clock:
            state = manager.integrate(t_final)
        q = np.empty(len(order))
        q[order] = state.getQ().to_numpy()
        return clock.cpu, q

    def udot(self, model: Model) -> Array:
        """Accelerations of the model's state."""
        import opensim as osim

        made, start, order = self.prepared(model)
        state = osim.State(start)
        made.realizeAcceleration(state)
        udot = np.empty(len(order))
        udot[order] = state.getUDot().to_numpy()
        return udot


@contextmanager
def silence() -> Iterator[None]:
    """CPodes prints its warnings from C; what goes wrong is raised all the same."""
    kept = os.dup(2)
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def about_motion() -> dict[str, Any]:
    manager = Manager()
    return {"run": manager.run, "udot": manager.udot}
