"""Tables as the text of files."""

from __future__ import annotations

import csv
import io
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError, warn
from condyle.presentation import cut
from condyle.table.rows import TIME
from condyle.table.titles import split_label, split_title
from condyle.table.units import ANGULAR, DEGREE, LENGTHS, si

if TYPE_CHECKING:
    from condyle.table.table import Table


def comma_separated(table: Table, file: str) -> str:
    """Comma-separated values."""
    if table.degrees and not all(table.units):
        warn(
            f"Table.save: {file!r}: angles are in degrees, which a .csv says in the titles of its "
            "columns, but which columns are angles is not known here: read it with "
            "cd.read_table(path, degrees=True), name them by table.with_units({'knee': 'deg', ...}), or "
            "save as .mot, .sto or .npz"
        )
    titles = []
    for name, unit, title in zip(table.names, table.units, table.titles, strict=True):
        title = f"{title} []" if not unit and split_title(title)[1] else title
        if (
            not name
            or split_title(title) != (name, unit)
            or title != title.strip()
            or re.search(r"[\r\n]", title)
        ):
            raise DescriptionError(
                f"Table.save: {file!r}: the name {name!r} with the unit {unit!r} is "
                f"not read again from a title {title!r}: rename it, or save as .npz"
            )
        titles.append(title)
    out = io.StringIO(newline="")
    rows = csv.writer(out)
    rows.writerow([table.over, *titles])
    rows.writerows([repr(x) for x in (t, *row)] for t, row in zip(table.time.tolist(), table.values.tolist()))
    return out.getvalue()


def _turning(table: Table) -> list[bool]:
    """Which columns are angles or their rates, by their units."""
    return [(si(unit) or (1.0, ""))[1] in ANGULAR for unit in table.units]


def _of_storage(table: Table, file: str, vectors: bool) -> tuple[Array, bool | None]:
    """Values as in OpenSim's files, and whether angles are in degrees; None if unknown.

    Args:
        file: its name.
        vectors: whether cells are vectors, which are no angles.
    """
    found = [si(unit) for unit in table.units]
    turning = _turning(table)
    radians = [
        n
        for n, turns, unit in zip(table.names, turning, found, strict=True)
        if turns and unit and unit[0] != DEGREE
    ]
    degrees = table.degrees
    if degrees and radians:
        raise DescriptionError(
            f"Table.save: {file!r}: {radians[0]!r} is in "
            f"{table.units[table.names.index(radians[0])]}, but the table says "
            "degrees=True; which is right? table.with_units(..., degrees=False) says"
        )
    bare = [k for k, unit in enumerate(table.units) if not unit]
    if degrees is None and any(turning):  # angles without a unit count as radians
        degrees = not radians and not bare and not vectors
    elif (
        degrees is None
        and bare
        and not vectors
        and (
            len(bare) == len(table.units)
            or np.fmax.reduce(abs(table.values[:, bare]), axis=None, initial=0.0) > 2 * math.pi
        )
    ):
        names = cut([table.names[k] for k in bare])
        warn(
            f"Table.save: {file!r}: nothing says whether {names} are in degrees, and so the file has no "
            "line inDegrees, which OpenSim takes as radians. Say it: cd.Table(..., units), or "
            "table.with_units(degrees=False) if none is an angle in degrees (--degrees or --radians of "
            "condyle convert)"
        )
    else:
        degrees = bool(degrees)
    odd = [
        n
        for n, unit, one in zip(table.names, table.units, found, strict=True)
        if unit and (one is None or "/kg" in one[1])
    ]
    if odd:
        warn(
            f"Table.save: {file!r}: OpenSim's files are in SI units, which have no "
            f"[{table.units[table.names.index(odd[0])]}]: {cut(odd)} {'is' if len(odd) == 1 else 'are'} "
            "written without a unit, and would be read as N, N m or m. Save as .csv or .npz to keep it"
        )
    return table._scaled(
        [
            1.0 if one is None or (turns and degrees) else one[0]
            for one, turns in zip(found, turning, strict=True)
        ]
    ), degrees


def storage(table: Table, path: Path) -> str:
    """OpenSim's format."""
    if table.over != TIME:
        raise DescriptionError(
            "Table.save: OpenSim's files have a column of times, and the rows of this "
            f"table are over {table.over!r}: save as .csv"
        )
    spaced = [n for n in table.names if not n or re.search(r"\s", n) or split_label(n)[1]]
    if spaced:
        raise DescriptionError(
            "Table.save: OpenSim's files separate columns by white space, and have no "
            f"units in labels; this one is {spaced[0]!r}: rename it, or save as .csv"
        )
    names, size = _vectors(table)
    newer = [f"DataType={table.datatype if size > 1 else 'double'}", "version=3", "OpenSimVersion=4.5"]
    counted = ["version=1", f"nRows={len(table)}", f"nColumns={1 + len(table.names)}"]
    unit = (
        [f"Units={table.units[0]}"]
        if size > 1 and len(set(table.units)) == 1 and (table.units[0] in LENGTHS)
        else []
    )
    values, degrees = (table.values, False) if unit else _of_storage(table, path.name, size > 1)
    said = [] if degrees is None else [f"inDegrees={'yes' if degrees else 'no'}"]
    # the first line is a name, not a key; OpenSim reads NaN in newer files alone
    head = [
        re.sub(r"[\s=]+|^endheader$", "_", path.stem),
        *(newer if size > 1 or np.isnan(values).any() else counted),
        *unit,
        *said,
        "endheader",
        "\t".join(["time", *names]),
    ]
    cells = [[repr(x) for x in row] for row in values.tolist()]
    if size > 1:
        cells = [[",".join(row[k : k + size]) for k in range(0, len(row), size)] for row in cells]
    rows = ["\t".join([repr(t), *row]) for t, row in zip(table.time.tolist(), cells, strict=True)]
    return "\n".join([*head, *rows, ""])


def _vectors(table: Table) -> tuple[list[str], int]:
    """Names of the columns of a file whose cells are vectors, and numbers in a cell: 1 where columns are
    no longer those of `datatype`."""
    size = {"unitvec3": 3, "quaternion": 4, "spatialvec": 6}.get(table.datatype.lower()) or int(
        re.sub(r"\D", "", table.datatype) or 1
    )
    names = [n.removesuffix("_1") for n in table.names[::size]]
    if size > 1 and table.names == tuple(f"{n}_{k + 1}" for n in names for k in range(size)):
        return names, size
    return list(table.names), 1
