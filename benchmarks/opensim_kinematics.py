"""OpenSim's inverse kinematics on files of its own, in its own process (opensim_process.py): markers by its
InverseKinematicsSolver, sensors by IMUPlacer and IMUInverseKinematicsTool.

Reading the files, making the solver and assemble() of the first frame are not timed; track() of all other
frames is, in processor time.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from benchmarks.timing import Clock
from benchmarks.trees import Array


@dataclass(frozen=True)
class Trial:
    """A recorded trial.

    Attributes:
        model: an .osim file.
        markers: a .trc file.
        weights: of markers by name; others are not used.
        coordinates: value [rad, m] and weight of coordinates by name; a value of None is the default.
    """

    model: str
    markers: str
    weights: dict[str, float]
    coordinates: dict[str, tuple[float | None, float]] = field(default_factory=dict)


def trial_of(setup: Path, model: Path, markers: Path) -> Trial:
    """The tasks of a setup file of OpenSim's tool, with files that it may have elsewhere."""
    weights, coordinates = {}, {}
    for task in ElementTree.parse(setup).iter():
        if (
            task.tag not in ("IKMarkerTask", "IKCoordinateTask")
            or (task.findtext("apply") or "true").strip() != "true"
        ):
            continue
        name, weight = task.get("name") or "", float(task.findtext("weight") or 1)
        if weight > 0 and task.tag == "IKMarkerTask":
            weights[name] = weight
        elif weight > 0:
            manual = (task.findtext("value_type") or "").strip() == "manual_value"
            coordinates[name] = float(task.findtext("value") or 0) if manual else None, weight
    return Trial(str(model), str(markers), weights, coordinates)


class Solver:
    """Coordinates and seconds of track(), frame by frame."""

    def run(self, trial: Trial, accuracy: float) -> dict[str, Any]:
        """Times, names and values of coordinates (T, n), and seconds of processor time of all frames but the
        first."""
        import opensim as osim

        osim.Logger.setLevelString("error")
        model = osim.Model(trial.model)
        state = model.initSystem()
        known = {model.getMarkerSet().get(i).getName() for i in range(model.getNumMarkers())}
        weights = osim.SetMarkerWeights()
        for name, weight in trial.weights.items():
            if name in known:
                weights.cloneAndAppend(osim.MarkerWeight(name, weight))
        reference = osim.MarkersReference(trial.markers, weights)
        tasks = osim.SimTKArrayCoordinateReference()
        for name, (value, weight) in trial.coordinates.items():
            wanted = model.getCoordinateSet().get(name).getDefaultValue() if value is None else value
            task = osim.CoordinateReference(name, osim.Constant(wanted))
            task.setWeight(weight)
            tasks.push_back(task)
        solver = osim.InverseKinematicsSolver(model, reference, tasks, np.inf)
        solver.setAccuracy(accuracy)
        t = np.array(reference.getMarkerTable().getIndependentColumn())
        found = [model.getCoordinateSet().get(i) for i in range(model.getNumCoordinates())]
        q, total = np.empty((len(t), len(found))), 0.0
        state.setTime(float(t[0]))
        solver.assemble(state)
        for i, time in enumerate(t):
            state.setTime(float(time))
            with Clock() as clock:
                solver.track(state)
            total += clock.cpu if i else 0.0
            q[i] = [c.getValue(state) for c in found]
        return {
            "t": t,
            "names": [c.getName() for c in found],
            "q": q,
            "seconds": total,
            "used": solver.getNumMarkersInUse(),
        }


def sensors(
    folder: str,
    model: str,
    calibration: str,
    orientations: str,
    base: str,
    axis: str,
    rotation: tuple[float, float, float],
) -> dict[str, Any]:
    """Places of the sensors by IMUPlacer, R_BS by name, and the motion by IMUInverseKinematicsTool."""
    import opensim as osim

    osim.Logger.setLevelString("error")
    with contextlib.chdir(folder):
        placer = osim.IMUPlacer()
        placer.set_model_file(model)
        placer.set_orientation_file_for_calibration(calibration)
        placer.set_base_imu_label(base)
        placer.set_base_heading_axis(axis)
        placer.set_sensor_to_opensim_rotations(osim.Vec3(*rotation))
        placer.set_output_model_file("calibrated.osim")
        placer.run(False)
        made = placer.getCalibratedModel()
        made.initSystem()
        places: dict[str, Array] = {}
        for frame in made.getComponentsList():
            if frame.getConcreteClassName() == "PhysicalOffsetFrame" and frame.getName().endswith("_imu"):
                R = osim.PhysicalOffsetFrame.safeDownCast(frame).getOffsetTransform().R()
                places[frame.getName()] = np.array([[R.get(i, j) for j in range(3)] for i in range(3)])
        tool = osim.IMUInverseKinematicsTool()
        tool.set_model_file("calibrated.osim")
        tool.set_orientations_file(orientations)
        tool.set_sensor_to_opensim_rotations(osim.Vec3(*rotation))
        tool.setResultsDir(folder)
        tool.run(False)
        out = next(Path(folder).glob("ik_*.mot"))
        table = osim.TimeSeriesTable(str(out))
        names = list(table.getColumnLabels())
        return {
            "places": places,
            "names": names,
            "t": np.array(table.getIndependentColumn()),
            "values": table.getMatrix().to_numpy(),
            "degrees": "inDegrees=yes" in out.read_text(),
        }


def about_kinematics() -> dict[str, Any]:
    solver = Solver()
    return {
        "run": solver.run,
        "sensors": lambda folder, *details: sensors(folder, *details),
        "process": lambda _: os.getpid(),
    }
