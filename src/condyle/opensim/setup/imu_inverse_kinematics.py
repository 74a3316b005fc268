"""IMUInverseKinematicsTool: coordinates that bring the model's sensors nearest to recorded orientations."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from condyle.errors import DescriptionError
from condyle.opensim.reading import Reading
from condyle.opensim.setup.coordinates import clamped, file_order, in_degrees, speed_names
from condyle.opensim.setup.file import Setup
from condyle.spatial import rotation_x, rotation_y, rotation_z
from condyle.studies.kinematics.imus import IMUs, sensor_data
from condyle.studies.kinematics.inverse_kinematics import inverse_kinematics
from condyle.studies.kinematics.result import InverseKinematics
from condyle.system.system import System
from condyle.table import Table

FRAMES = ("PhysicalOffsetFrame", "Body")
"""What a sensor may be in a model that OpenSim's IMUPlacer has calibrated."""
DIGITS = 12
"""After the point: OpenSim writes these files with all digits."""


def run(setup: Setup) -> None:
    """Write `<output_motion_file>` in `<results_directory>`, by default `ik_` and the name of the file of
    orientations, and beside it `..._orientationErrors.sto`."""
    system = setup.system()
    path = setup.needed("orientations_file", "recorded quaternions (.sto)")
    table = _within(setup, setup.table(path))
    imus = places(setup, system, table)
    weights = {
        e.name: setup.number("weight", 1.0, e)
        for e in setup.tool.every("OrientationWeight")
        if e.name in imus.names
    }
    degrees = in_degrees(system)
    still = [own for own, name in zip(system.speeds, speed_names(system), strict=True) if not degrees[name]]
    if still:
        setup.report.notes.append(
            "sensors say nothing of places: translations stay at their defaults, as in "
            f"OpenSim: {', '.join(still)}"
        )
    result: InverseKinematics = setup.step(
        "inverse kinematics",
        lambda: inverse_kinematics(
            system,
            orientations=table,
            imus=imus,
            orientation_weights=weights or None,
            locked=still,
            limits=clamped(setup, system) or False,
        ),
    )
    setup.report.judge(result.quality)
    _write(setup, system, result, path)


def _within(setup: Setup, table: Table) -> Table:
    """Rows of the time range."""
    start, end = setup.numbers("time_range", (-np.inf, np.inf))
    rows = np.flatnonzero((table.time >= start) & (table.time <= end))
    if not rows.size:
        raise DescriptionError(
            f"<time_range> from {start:g} to {end:g} s has no row of the orientations, "
            f"which go from {table.time[0]:g} to {table.time[-1]:g} s"
        )
    return table[int(rows[0]) : int(rows[-1]) + 1]


def places(setup: Setup, system: System, table: Table) -> IMUs:
    """Where the model has its sensors: frames, or bodies, of the names that are recorded."""
    names = sensor_data("IMUInverseKinematicsTool", table, None)[1]
    reading = Reading(setup.model, System())
    frames = {e.name: e for tag in reversed(FRAMES) for e in setup.model.object.every(tag)}
    found = {name: reading.placed(frames[name], frames[name]) for name in names if name in frames}
    found = {name: (body, X) for name, (body, X) in found.items() if body in [b.name for b in system.bodies]}
    if not found:
        raise setup.error(
            f"no frame of the model has the name of a sensor ({', '.join(names)}): has "
            "OpenSim's IMUPlacer calibrated it? cd.calibrate_imus does the same in Python"
        )
    if lacking := [name for name in names if name not in found]:
        setup.report.check.append(
            f"sensors without a frame in the model are not followed: {', '.join(lacking)}"
        )
    angles = setup.numbers("sensor_to_opensim_rotations", (0.0, 0.0, 0.0))
    turn = rotation_z(angles[2]) @ rotation_y(angles[1]) @ rotation_x(angles[0])
    return IMUs(
        tuple(found),
        tuple(body for body, _ in found.values()),
        np.stack([np.asarray(X.R, dtype=float) for _, X in found.values()]),
        turn,
    )


def _write(setup: Setup, system: System, result: InverseKinematics, path: Path) -> None:
    """Coordinates in degrees and meters, and the angles of the sensors from the model's [rad]."""
    name = Path(setup.text("output_motion_file").replace("\\", "/")).name or f"ik_{path.stem}"
    motion, order, degrees = result.motion, file_order(setup, system), in_degrees(system)
    values = np.stack([np.degrees(motion[n]) if degrees[n] else motion[n] for n in order], axis=1)
    folder = setup.results
    if not setup.text("results_directory") and (given := setup.text("output_motion_file")):
        folder = (setup.folder / given.replace("\\", "/")).parent
    file = name if "." in name else f"{name}.mot"
    setup.save(str(folder / file), name, motion.time, order, values, degrees=True, precision=DIGITS)
    errors = result.orientation_errors
    if setup.flag("report_errors", True):
        setup.save(
            str(folder / f"{name}_orientationErrors.sto"),
            "OrientationErrors",
            errors.time,
            errors.names,
            errors.values,
            precision=DIGITS,
        )
    if np.isfinite(errors.values).any():
        i, k = np.unravel_index(np.nanargmax(errors.values), errors.values.shape)
        setup.report.results.append(
            f"largest error of a sensor ({errors.names[k]} at {errors.time[i]:g} s): "
            f"{np.degrees(errors.values[i, k]):.3g} deg"
        )
