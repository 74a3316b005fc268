"""InverseKinematicsTool and IMUInverseKinematicsTool: coordinates that bring the model's markers, or its
sensors, nearest to recorded ones."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.io.markers import Markers
from condyle.opensim.element import Element
from condyle.opensim.setup.file_columns import clamped, file_order, in_degrees, speed_names
from condyle.opensim.setup.setup_file import SI, Setup
from condyle.presentation import cut
from condyle.spatial import rotation_x, rotation_y, rotation_z
from condyle.studies.kinematics.imus import IMUs, sensor_data
from condyle.studies.kinematics.inverse_kinematics import inverse_kinematics
from condyle.studies.kinematics.result import TOTALS, InverseKinematics, sums
from condyle.studies.motion.spline_rates import spline
from condyle.system.system import System
from condyle.table import Table

LATE = 1e-3
"""[s] Allowance for a file of coordinates to begin after the markers or end before them, for rounded
times."""


def run(setup: Setup) -> None:
    """Write `<output_motion_file>` in the setup's folder, and in `<results_directory>`
    `NAME_ik_marker_errors.sto` and optionally `NAME_ik_model_marker_locations.sto`."""
    system = setup.system()
    path = setup.required_file("marker_file", "recorded markers (.trc)")
    recorded = setup.markers(path)
    start, end = setup.numbers("time_range", (-np.inf, np.inf))
    markers = frames_within(recorded, (start, end))
    if not len(markers.time):
        raise setup.error(
            f"<time_range> from {start:g} to {end:g} s has no frame of the markers, which go "
            f"from {recorded.time[0]:g} to {recorded.time[-1]:g} s"
        )
    tasks = setup.objects("IKTaskSet")
    weights = marker_weights(setup, tasks, system, markers)
    targets, target_weights = coordinate_tasks(setup, tasks, system, markers.time)
    if np.isfinite(setup.number("constraint_weight", np.inf)) and system.constraints:
        setup.note("<constraint_weight>: ignored, because constraints hold exactly here")
    result: InverseKinematics = setup.study(
        "inverse kinematics",
        inverse_kinematics,
        system,
        markers,
        weights,
        targets or None,
        coordinate_weights=target_weights or None,
        limits=clamped(setup, system) or False,
    )
    write_motion(setup, system, result)
    prefix = f"{setup.tool.name}_"
    places = reported_markers(setup, tasks, system, markers, result)
    if setup.flag("report_errors", True):
        totals = result.totals if places is result.marker_positions else totals_of(places, markers)
        file, title = f"{prefix}ik_marker_errors.sto", "Model Marker Errors from IK"
        setup.save(file, title, totals.time, totals.names, totals.values)
    if setup.flag("report_marker_locations", False):
        names = [f"{name}_t{axis}" for name in places.names for axis in "xyz"]
        file, title = f"{prefix}ik_model_marker_locations.sto", "Model Marker Locations from IK"
        setup.save(file, title, places.time, names, places.positions)
    setup.report.judge(result.quality)


def reported_markers(
    setup: Setup, tasks: list[Element], system: System, markers: Markers, result: InverseKinematics
) -> Markers:
    """Positions of the model's markers that were followed, and of those whose task has the weight zero, which
    OpenSim reports too, in the order of the recording."""
    tasked = {task.name for task in tasks if task.tag == "IKMarkerTask" and setup.flag("apply", True, task)}
    followed = result.marker_positions
    names = [n for n in markers.names if n in followed.names or (n in tasked and n in system.markers)]
    if tuple(names) == followed.names:
        return followed
    places = [
        followed[n]
        if n in followed.names
        else system.station_position(
            result.frames.q, system.marker(n).body, system.marker(n).station, t=followed.time
        )
        for n in names
    ]
    return Markers(followed.time, names, np.stack(places, axis=1))


def totals_of(places: Markers, markers: Markers) -> Table:
    """Errors of each frame over the recorded markers, as in `InverseKinematics.totals`."""
    seen = np.stack([markers[n][: len(places.time)] for n in places.names], axis=1)
    each = sums(np.linalg.norm(places.positions - seen, axis=2))
    return Table(places.time, TOTALS, np.stack(each, axis=1))


def frames_within(markers: Markers, limits: tuple[float, ...]) -> Markers:
    """Frames of a time range; rounded times count."""
    t, (start, end) = markers.time, limits
    half = 0.5 * float(np.min(np.diff(t))) if len(t) > 1 else 0.0
    first = int(np.searchsorted(t, start - half)) if np.isfinite(start) else 0
    last = int(np.searchsorted(t, end + half, "right")) if np.isfinite(end) else len(t)
    return markers if (first, last) == (0, len(t)) else markers[first:last]


def marker_weights(setup: Setup, tasks: list[Element], system: System, markers: Markers) -> dict[str, Any]:
    """{marker: weight}; markers without a task are left out."""
    weights = dict.fromkeys([n for n in system.markers if n in markers.names], 0.0)
    lacking = []
    for task in tasks:
        if task.tag != "IKMarkerTask" or not setup.flag("apply", True, task):
            continue
        weight = setup.number("weight", 1.0, task)
        if task.name in weights:
            weights[task.name] = weight
        elif weight > 0:
            near = difflib.get_close_matches(task.name, list(weights), n=1, cutoff=0.8)
            who = [
                who
                for who, names in (("model", system.markers), ("recording", markers.names))
                if task.name not in names
            ]
            lacking.append(
                f"{task.name} (not in the {' nor in the '.join(who)}{f'; is it {near[0]}?' if near else ''})"
            )
    if not any(weights.values()) and not any(task.tag == "IKCoordinateTask" for task in tasks):
        raise setup.error(
            "no marker is followed: an IKMarkerTask with a weight above zero must name a "
            f"marker that both have. The model has {cut(list(system.markers)) or 'none'}; the "
            f"recording {cut(markers.names)}; tasks {cut([t.name for t in tasks]) or 'none'}"
        )
    if lacking:
        setup.check(f"tasks of markers that are not followed: {', '.join(lacking)}")
    return weights


def coordinate_tasks(
    setup: Setup, tasks: list[Element], system: System, t: Array
) -> tuple[dict[str, Any], dict[str, float]]:
    """{coordinate: target values [rad, m]} and {coordinate: weight}."""
    if all(task.tag != "IKCoordinateTask" for task in tasks):
        return {}, {}
    start = dict(zip(system.coordinates, system.state().q, strict=True))
    targets: dict[str, Any] = {}
    weights: dict[str, float] = {}
    table = None
    for task in tasks:
        if task.tag != "IKCoordinateTask" or not setup.flag("apply", True, task):
            continue
        name, weight = task.name, setup.number("weight", 1.0, task)
        if name not in start:
            raise setup.error(f"there is no coordinate {name!r} in the model", task)
        kind = setup.text("value_type", "manual_value", task)
        if weight <= 0 or name in system.state().locked:
            continue
        if kind == "default_value":
            targets[name] = start[name]
        elif kind == "manual_value":
            targets[name] = setup.number("value", 0.0, task)
        elif kind == "from_file":
            if table is None:
                table = setup.table(setup.required_file("coordinate_file", "coordinates"), degrees=True)
            if name not in table:
                raise setup.error(f"the file of coordinates has no column {name!r}", task)
            scale = np.pi / 180 if in_degrees(system)[name] else 1.0
            first, last = table.time[0], table.time[-1]
            if first > t[0] + LATE or last < t[-1] - LATE:
                raise setup.error(
                    f"the file of coordinates goes from {first:g} to {last:g} s, the markers "
                    f"from {t[0]:g} to {t[-1]:g} s",
                    task,
                )
            targets[name] = scale * spline(table.time, table[name][:, None])(np.clip(t, first, last))[:, 0]
        else:
            raise setup.error(f"value_type {kind!r}: expected default_value, manual_value or from_file", task)
        weights[name] = weight
    return targets, weights


def write_motion(setup: Setup, system: System, result: InverseKinematics) -> None:
    """Coordinates in degrees and meters, in the order of the model file."""
    file = setup.text("output_motion_file")
    if not file:
        setup.check("<output_motion_file> names no file: the motion is not written")
        return
    columns = _in_file_units(setup, system, result.motion)
    setup.save(str(setup.beside(file)), "Coordinates", *columns, degrees=True, words=["", *SI, ""])


def _in_file_units(setup: Setup, system: System, motion: Table) -> tuple[Array, list[str], Array]:
    """Times, names and values of coordinates in degrees and meters, in the order of the model file."""
    order, degrees = file_order(setup, system), in_degrees(system)
    values = [np.degrees(motion[n]) if degrees[n] else motion[n] for n in order]
    return motion.time, order, np.stack(values, axis=1)


# ---- IMUInverseKinematicsTool ------------------------------------------------------------------------------

FRAMES = ("PhysicalOffsetFrame", "Body")
"""Classes of sensors in a model that OpenSim's IMUPlacer has calibrated."""
DIGITS = 12
"""Decimals: OpenSim writes these files with all digits."""


def run_imus(setup: Setup) -> None:
    """Write `<output_motion_file>` in `<results_directory>`, by default `ik_` and the name of the file of
    orientations, and beside it `..._orientationErrors.sto`."""
    system = setup.system()
    path = setup.required_file("orientations_file", "recorded quaternions (.sto)")
    table = _within(setup, setup.table(path))
    imus = sensor_frames(setup, system, table)
    weights = {
        e.name: setup.number("weight", 1.0, e)
        for e in setup.tool.descendants("OrientationWeight")
        if e.name in imus.names
    }
    degrees = in_degrees(system)
    still = [own for own, name in zip(system.speeds, speed_names(system), strict=True) if not degrees[name]]
    if still:
        setup.note(
            "sensors do not measure positions: translations have their defaults, as in "
            f"OpenSim: {', '.join(still)}"
        )
    result: InverseKinematics = setup.study(
        "inverse kinematics",
        inverse_kinematics,
        system,
        orientations=table,
        imus=imus,
        orientation_weights=weights or None,
        locked=still,
        limits=clamped(setup, system) or False,
    )
    setup.report.judge(result.quality)
    _write_orientations(setup, system, result, path)


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


def sensor_frames(setup: Setup, system: System, table: Table) -> IMUs:
    """Sensors of the model: frames, or bodies, with the recorded names."""
    names = sensor_data("IMUInverseKinematicsTool", table, None)[1]
    reading = setup.model_reading
    frames = {e.name: e for tag in reversed(FRAMES) for e in setup.model.object.descendants(tag)}
    found = {name: reading.placed(frames[name], frames[name]) for name in names if name in frames}
    found = {name: (body, X) for name, (body, X) in found.items() if body in [b.name for b in system.bodies]}
    if not found:
        raise setup.error(
            f"no frame of the model has the name of a sensor ({', '.join(names)}): has "
            "OpenSim's IMUPlacer calibrated it? calibrate_imus of "
            "condyle.studies.kinematics does the same in Python"
        )
    if lacking := [name for name in names if name not in found]:
        setup.check(f"sensors without a frame in the model are not followed: {', '.join(lacking)}")
    angles = setup.numbers("sensor_to_opensim_rotations", (0.0, 0.0, 0.0))
    turn = rotation_z(angles[2]) @ rotation_y(angles[1]) @ rotation_x(angles[0])
    return IMUs(
        tuple(found),
        tuple(body for body, _ in found.values()),
        np.stack([np.asarray(X.R, dtype=float) for _, X in found.values()]),
        turn,
    )


def _write_orientations(setup: Setup, system: System, result: InverseKinematics, path: Path) -> None:
    """Coordinates in degrees and meters, and the angles of the sensors from the model's [rad]."""
    given = setup.text("output_motion_file")
    name = setup.beside(given).name if given else f"ik_{path.stem}"
    folder = setup.beside(given).parent if given and not setup.text("results_directory") else setup.results
    file = str(folder / (name if "." in name else f"{name}.mot"))
    setup.save(file, name, *_in_file_units(setup, system, result.motion), degrees=True, precision=DIGITS)
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
