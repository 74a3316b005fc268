"""What a setup file names: the motion, from a table as OpenSim's tools take it, and external loads."""

from __future__ import annotations

import numpy as np

from condyle.arrays import median
from condyle.errors import DescriptionError, UnknownNameError
from condyle.opensim.loads import labeled_loads
from condyle.opensim.setup.setup_file import Setup
from condyle.presentation import cut
from condyle.studies.external_load import ExternalLoad
from condyle.studies.motion.coordinate_columns import CoordinateColumns
from condyle.studies.motion.motion import Motion
from condyle.studies.motion.recorded import TOLD
from condyle.studies.motion.spline_rates import spline
from condyle.system.system import System
from condyle.table import Table
from condyle.table.defects import even_times
from condyle.table.filters import low_pass
from condyle.tree import scales

TOO_NEAR = 1e-6
"""Rows that are nearer in time, over the usual step, are one row."""


def motion_of(setup: Setup, system: System, name: str = "coordinates_file") -> Motion:
    """The motion of a file of coordinates, filtered and resampled as OpenSim does.

    Args:
        setup: names the file and perhaps a filter.
        system: whose motion it is.
        name: of the property with the file.
    """
    path = setup.required_file(name, "a table of coordinates (.mot or .sto)")
    table = setup.table(path)
    cutoff = setup.number("lowpass_cutoff_frequency_for_coordinates", -1.0)
    if cutoff > 0:
        setup.recorded = float(table.time[0]), float(table.time[-1])
        table = low_pass(table, cutoff, as_opensim=True)
        step = table.time[1] - table.time[0]
        if cutoff >= (most := 0.5 / step):
            setup.check(
                f"<lowpass_cutoff_frequency_for_coordinates> is {cutoff:g} Hz, but "
                f"{path.name} has {1 / step:.4g} rows per second and shows nothing "
                f"above {most:.4g} Hz: the motion is as good as not filtered"
            )
        setup.note(
            f"{path.name}: filtered at {min(cutoff, 0.49 / step):.4g} Hz and brought to times {step:g} "
            "s apart, as OpenSim's tool does; cd.low_pass keeps the recorded times"
        )
    return motion_from_table(setup, system, table)


def motion_from_table(setup: Setup, system: System, table: Table) -> Motion:
    """The motion of a table of coordinates; those that it lacks, and that nothing determines, stay at their
    defaults."""
    table = without_repeated_times(setup, table)
    even, unit = even_times(table.time)
    if unit > TOLD * (mean := (even[-1] - even[0]) / max(len(even) - 1, 1)):
        setup.check(
            f"times of the motion are rounded to {unit:.1g} s, steps are {mean:.4g} s; "
            "as in OpenSim, speeds and accelerations are those of the rounded times, "
            "which adds noise. Filter the motion, or write times with more digits"
        )

    def call() -> Motion:
        try:
            return Motion.of(system, table, as_opensim=True)
        except UnknownNameError as error:
            if error.kind != "coordinate" and error.name not in system.coordinates:
                raise
            return Motion.of(system, with_defaults(setup, system, table), as_opensim=True)

    motion: Motion = setup.step("motion", call)
    return motion


def without_repeated_times(setup: Setup, table: Table) -> Table:
    """A table without rows whose times equal the next ones up to rounding: no spline goes through both."""
    step = np.diff(table.time)
    if len(step) < 2 or step.min() > TOO_NEAR * median(step) or not (step > 0).all():
        return table
    keep = [*np.flatnonzero(step > TOO_NEAR * median(step)), len(step)]
    first = table.time[int(np.argmax(step <= TOO_NEAR * median(step)))]
    setup.note(
        f"{len(table) - len(keep)} rows of the motion have the times of the next ones "
        f"but for rounding, the first at {first:g} s; they are left out"
    )
    return Table(table.time[keep], table.names, table.values[keep], table.units, degrees=table.degrees)


def with_defaults(setup: Setup, system: System, table: Table) -> Table:
    """A table with columns for the coordinates that it lacks: their defaults."""
    lacking = [system.coordinates[k] for k in CoordinateColumns.find(system, table).missing]
    if len(lacking) == len(system.coordinates):
        raise setup.error(
            "the table of the motion has no coordinate of the model; it has "
            f"{cut(table.names)}, the model {cut(system.coordinates)}"
        )
    setup.check(f"coordinates without a column have their defaults: {', '.join(lacking)}")
    start = system.state().q
    units = dict(zip(system.coordinates, scales.units(system.bodies)[0], strict=True))
    values, names = [], []
    for name in lacking:
        value = start[system.coordinates.index(name)]
        in_degrees = bool(table.degrees) and units[name] == "rad"
        values.append(np.full(len(table), np.rad2deg(value) if in_degrees else value))
        names.append(name)
    return Table(
        table.time,
        [*table.names, *names],
        np.column_stack([table.values, *values]),
        [*table.units, *[""] * len(names)],
        degrees=table.degrees,
    )


def frames_between(
    motion: Motion, start: float, end: float, recorded: tuple[float, float] | None = None
) -> Motion:
    """From the last frame at or before the start to the last at or before the end.

    recorded: first and last time of the recording, for the error, if a filter has added frames.
    """
    t = motion.t
    first = max(int(np.searchsorted(t, start, "right")) - 1, 0)
    last = max(int(np.searchsorted(t, end, "right")) - 1, 0)
    if not (start <= t[-1] and end >= t[0]) or last < first:
        begin, stop = recorded or (t[0], t[-1])
        raise DescriptionError(
            f"the time range from {start:g} to {end:g} s has no frame of the motion, "
            f"which goes from {begin:g} to {stop:g} s"
        )
    return motion[first : last + 1]


def check_bodies(file: str, system: System, loads: list[tuple[str, ExternalLoad]]) -> None:
    """Raise an error for loads on bodies, or expressed in bodies, that the model does not have.

    Raises:
        UnknownNameError: such a body, with the file of the loads.
    """
    known = [body.name for body in system.bodies]
    for _, load in loads:
        for tag, body in (
            ("applied_to_body", load.body),
            ("force_expressed_in_body", load.frame),
            ("point_expressed_in_body", load.point_frame),
        ):
            if isinstance(body, str) and body not in (*known, "ground"):
                raise UnknownNameError("body", body, known, f"<{tag}> of {file}")


def loads_of(setup: Setup, motion: Motion) -> list[tuple[str, ExternalLoad]]:
    """External loads that a setup names, long enough for a motion, each with its name in reports."""
    path = setup.file("external_loads_file")
    if path is None:
        return []
    loads = setup.step("external loads", lambda: labeled_loads(path))
    check_bodies(path.name, motion.system, loads)
    longer = [(label, continued(load, float(motion.t[0]), float(motion.t[-1]))) for label, load in loads]
    for label, load in longer:
        first, last, (start, end) = load.table.time[0], load.table.time[-1], motion.t[[0, -1]]
        if max(first - start, end - last) > BEYOND:
            raise setup.error(
                f"{path.name}: {label} is known from {first:g} to {last:g} s, and the motion "
                f"goes from {start:g} to {end:g} s, more than {BEYOND:g} s beyond it; cut the "
                "motion by a time range, or record longer"
            )
    if any(a is not b for (_, a), (_, b) in zip(loads, longer, strict=True)):
        first = loads[0][1].table.time
        setup.note(
            f"{path.name}: its loads go from {first[0]:g} to {first[-1]:g} s, and are "
            "continued in straight lines to cover the motion, as in OpenSim"
        )
    if jumping := [label for label, load in loads if jumps(load)]:
        setup.note(
            f"{path.name}: points of {', '.join(jumping)} are zero or missing "
            "where there is no force, and go straight to the next known one; OpenSim's "
            "splines go to zero and back, so that its moments differ near touch-down "
            "and lift-off"
        )
    return longer


# ---- external loads that end before a motion does, and those whose points jump -----------------------------

BEYOND = 0.25
"""[s] Limit for continuing a table of loads beyond its rows in a straight line; OpenSim has no limit."""


def continued(load: ExternalLoad, start: float, end: float) -> ExternalLoad:
    """A load whose table reaches from start to end [s], continued at most BEYOND in a straight line: the
    natural spline through its rows is unchanged."""
    table = load.table
    if len(table) < 4 or (table.time[0] <= start and table.time[-1] >= end):
        return load
    before, after = table.time[0] - start, end - table.time[-1]
    if max(before, after) > BEYOND:
        return load
    x = np.nan_to_num(table.values)
    made = spline(table.time, x, 3)
    parts = [(table.time, table.values)]
    if before > 0:
        slope = made(table.time[:1], 1)[0]
        parts.insert(0, (np.array([start]), (x[0] - before * slope)[None]))
    if after > 0:
        slope = made(table.time[-1:], 1)[0]
        parts.append((np.array([end]), (x[-1] + after * slope)[None]))
    longer = Table(
        np.concatenate([t for t, _ in parts]), table.names, np.concatenate([v for _, v in parts]), table.units
    )
    return ExternalLoad(load.body, longer, load.force, load.point, load.torque, load.frame, load.point_frame)


def jumps(load: ExternalLoad) -> bool:
    """Whether the point of a load is zero or missing in rows without a force, and elsewhere is not:
    cd.ExternalLoad leads it straight over such rows, and OpenSim's spline goes through them."""
    if load.force is None or load.point is None:
        return False
    still = (load.table[list(load.force)].values == 0).all(axis=1)
    p = load.table[list(load.point)].values
    absent = (p == 0).all(axis=1) | np.isnan(p).any(axis=1)
    return bool((still & absent).any() and (~still & ~absent).any())
