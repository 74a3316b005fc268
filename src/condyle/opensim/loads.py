"""External loads: an .xml of OpenSim's ExternalLoads, which assigns columns of a table to bodies."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from condyle.errors import DescriptionError
from condyle.io import read_table
from condyle.opensim.document import read_document
from condyle.opensim.element import Element, is_absent
from condyle.opensim.reading import Reading
from condyle.studies.external_load import ExternalLoad
from condyle.system.system import System
from condyle.table import Table


def read_external_loads(path: str | Path, data: str | Path | Table | None = None) -> list[ExternalLoad]:
    """The loads of an OpenSim file of ExternalLoads, such as ground reactions, for cd.inverse_dynamics and
    others.

        loads = cd.read_external_loads("subject01_walk1_grf.xml")
        moments = cd.inverse_dynamics(system, motion, external_loads=loads)

    Loads that the file disables are left out. As in OpenSim, its `datafile` holds all loads.

    Args:
        path: an .xml file.
        data: a Table, or a file, in place of the file that the .xml names, which must be in the same folder.

    Returns:
        one ExternalLoad per load that applies.

    Raises:
        DescriptionError: a file that cannot be read, with its line; columns that do not exist.
        FileNotFoundError: no such file.
    """
    return [load for _, load in labeled_loads(path, data)]


def labeled_loads(path: str | Path, data: str | Path | Table | None = None) -> list[tuple[str, ExternalLoad]]:
    """The loads, each with its name in OpenSim's reports: BODY_NAME."""
    path = Path(path)
    if path.suffix.lower() != ".xml":
        raise DescriptionError(
            f"{path}: expected OpenSim's .xml of ExternalLoads, which names the table of "
            "forces and the bodies that they act on"
        )
    document = read_document(path, "ExternalLoads")
    reading, loads = Reading(document, System()), document.object
    forces = [
        e
        for e in loads.descendants("ExternalForce")
        if reading.boolean(e, "appliesForce", True) and not reading.boolean(e, "isDisabled", False)
    ]
    if not forces:
        raise DescriptionError(f"{loads.place}: it contains no <ExternalForce> that applies")
    tables: dict[str, Table] = {}
    return [
        (
            f"{reading.text(e, 'applied_to_body', '').strip()}_{e.name}",
            _load(reading, e, _table(reading, path, e, data, tables)),
        )
        for e in forces
    ]


def _table(
    reading: Reading, path: Path, element: Element, data: str | Path | Table | None, known: dict[str, Table]
) -> Table:
    """The table of a load: that of all loads, or else its own; each file is read once."""
    if isinstance(data, Table):
        return data
    loads, named = reading.document.object, str(data)
    if data is None:
        named = reading.text(loads, "datafile", "")
        named = reading.text(element, "data_source_name", "") if is_absent(named) else named
    if is_absent(named):
        raise DescriptionError(f"{loads.place}: it contains no <datafile>; give data=, a Table or a file")
    if named not in known:
        given = Path(named.replace("\\", "/"))
        beside = path.parent / given
        file = beside if data is None and (os.path.isfile(beside) or not os.path.isfile(given)) else given
        if not os.path.isfile(file):
            near = difflib.get_close_matches(file.name, [p.name for p in path.parent.glob("*")], n=2)
            raise reading.error(
                element,
                f"there is no file {named[:80]!r} of its forces beside {path.name}"
                + (f"; is it {' or '.join(near)}?" if near else ""),
            )
        known[named] = read_table(file, degrees=False)  # forces and places: no angles in it
    return known[named]


def _load(reading: Reading, element: Element, table: Table) -> ExternalLoad:
    body = _name(reading, element, "applied_to_body")
    if not body:
        raise reading.error(element, "applied_to_body: on which body does it act?")
    force, point, torque = (
        reading.text(element, f"{what}_identifier", "") for what in ("force", "point", "torque")
    )
    try:
        return ExternalLoad(
            body,
            table,
            **{
                what: given
                for what, given in (("force", force), ("point", point), ("torque", torque))
                if not is_absent(given)
            },
            frame=_name(reading, element, "force_expressed_in_body") or "ground",
            point_frame=_name(reading, element, "point_expressed_in_body") or "ground",
        )
    except DescriptionError as error:
        raise reading.error(element, str(error)) from None


def _name(reading: Reading, element: Element, name: str) -> str:
    """Last part of the path of a body."""
    text = reading.text(element, name, "")
    return "" if is_absent(text) else text.rpartition("/")[2]
