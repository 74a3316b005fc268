"""External loads from OpenSim's files: an .xml that says which columns of a table act on which body."""
from __future__ import annotations

from pathlib import Path

import numpy as np

from condyle.errors import DescriptionError
from condyle.io import read_table
from condyle.opensim.components import is_absent
from condyle.opensim.document import read_document
from condyle.opensim.reading import Reading
from condyle.studies.external_load import ExternalLoad
from condyle.studies.smoothing import spline
from condyle.system.system import System
from condyle.table import Table

BEYOND = 0.25
"""[s] So far beyond its rows a table of loads is continued in a straight line; OpenSim does it without
end."""


def read_loads(path: Path) -> list[ExternalLoad]:
    """The loads of a file of ExternalLoads, such as ground reactions.

    Args:
        path: an .xml file. Its data file is looked for beside it, then in the current folder.

    Raises:
        DescriptionError: a file that cannot be read, or that has no loads.
    """
    document = read_document(path, "ExternalLoads")
    reading, root = Reading(document, System()), document.object
    common = reading.text(root, "datafile", "")
    loads, tables = [], {}
    set_of = root.child("objects")
    for force in (set_of.children if set_of is not None else []):
        if force.tag != "ExternalForce":
            raise reading.error(force, "expected an ExternalForce")
        if not reading.boolean(force, "appliesForce", True):
            continue
        text = {name: _last(reading.text(force, name, "")) for name in (
            "applied_to_body", "force_identifier", "point_identifier", "torque_identifier",
            "force_expressed_in_body", "point_expressed_in_body")}
        name = common if not is_absent(common) else reading.text(force, "data_source_name", "")
        if is_absent(name):
            raise reading.error(force, "neither <datafile> nor its <data_source_name> names a table of "
                                "forces")
        if name not in tables:
            file = next((p for p in (path.parent / name, Path(name)) if p.is_file()), None)
            if file is None:
                raise reading.error(force, f"there is no file {name!r} beside {path.name}")
            tables[name] = read_table(file, degrees=False)          # forces and places: no angles in it
        try:
            loads.append(ExternalLoad(
                text["applied_to_body"], tables[name], force=text["force_identifier"] or None,
                point=text["point_identifier"] or None, torque=text["torque_identifier"] or None,
                frame=text["force_expressed_in_body"] or "ground",
                point_frame=text["point_expressed_in_body"] or "ground"))
        except (DescriptionError, KeyError) as error:
            raise reading.error(force, str(error)) from None
    if not loads:
        raise DescriptionError(f"{path.name}: there is no <ExternalForce> in it that acts; is it a file of "
                               "ExternalLoads?")
    return loads


def _last(text: str) -> str:
    """The name of a body or of columns, without a path before it."""
    return "" if is_absent(text) else text.strip().rpartition("/")[2]


def continued(load: ExternalLoad, start: float, end: float) -> ExternalLoad:
    """A load whose table reaches from start to end [s], continued at most BEYOND in a straight line: the
    natural spline through its rows stays what it was."""
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
    longer = Table(np.concatenate([t for t, _ in parts]), table.names, np.concatenate([v for _, v in parts]),
                   table.units)
    return ExternalLoad(load.body, longer, load.force, load.point, load.torque, load.frame, load.point_frame)
