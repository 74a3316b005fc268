"""OpenSim's InverseKinematicsSolver on a Recording, in OpenSim's own process (opensim_process.py).

Its free and ball joints have three Euler angles each; the motion stays away from where these are singular.
Making model and solver, and assemble() of the first frame, are not timed; track() of all other frames is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.recording import Recording
from benchmarks.timing import Clock
from benchmarks.trees import Array


def model_of(recording: Recording) -> Any:
    import opensim as osim

    osim.Logger.setLevelString("error")
    vec, zero = lambda v: osim.Vec3(*(float(x) for x in v)), osim.Vec3(0)
    made = osim.Model()
    body = {"ground": made.getGround()}
    kinds = {"free": osim.FreeJoint, "ball": osim.BallJoint, "pin": osim.PinJoint, "knee": osim.PinJoint}
    for name, parent, joint, at, mass in recording.bodies:
        body[name] = new = osim.Body(name, mass, zero, osim.Inertia(1, 1, 1))
        made.addBody(new)
        made.addJoint(kinds[joint](f"joint_{name}", body[parent], vec(at), zero, new, zero, zero))
    for name, on, station in recording.markers:
        made.addMarker(osim.Marker(name, body[on], vec(station)))
    return made


class Solver:
    """Seconds and residuals of track(), frame by frame."""

    def __init__(self) -> None:
        self.made: Any = None

    def _prepared(self, recording: Recording) -> Any:
        import opensim as osim

        if self.made is None:
            model = model_of(recording)
            state = model.initSystem()
            table = osim.TimeSeriesTableVec3()
            table.setColumnLabels(osim.StdVectorString([name for name, _, _ in recording.markers]))
            for t, row in zip(recording.t, recording.positions):
                table.appendRow(float(t), osim.RowVectorVec3([osim.Vec3(*map(float, x)) for x in row]))
            table.addTableMetaDataString("DataRate", "100")
            table.addTableMetaDataString("Units", "m")
            weights = osim.SetMarkerWeights()
            for name, _, _ in recording.markers:
                weights.cloneAndAppend(osim.MarkerWeight(name, 1.0))
            self.made = (
                model,
                state,
                osim.MarkersReference(table, weights),
                osim.SimTKArrayCoordinateReference(),
            )
        return self.made

    def run(self, recording: Recording, accuracy: float, errors: bool) -> tuple[float, Array]:
        """Seconds of processor time of all frames but the first; rms residual [m] of each frame, if asked
        for."""
        import opensim as osim

        model, start, markers, coordinates = self._prepared(recording)
        state = osim.State(start)
        solver = osim.InverseKinematicsSolver(model, markers, coordinates, np.inf)
        solver.setAccuracy(accuracy)
        state.setTime(float(recording.t[0]))
        solver.assemble(state)
        rms, squares = np.full(len(recording.t), np.nan), osim.SimTKArrayDouble()
        total = 0.0
        for i, t in enumerate(recording.t):
            if i:
                state.setTime(float(t))
                with Clock() as clock:
                    solver.track(state)
                total += clock.cpu
            if errors:
                solver.computeCurrentSquaredMarkerErrors(squares)
                rms[i] = np.sqrt(np.mean([squares.getElt(k) for k in range(squares.size())]))
        return total, rms


def about_markers() -> dict[str, Any]:
    solver = Solver()
    return {"run": solver.run}
