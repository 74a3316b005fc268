"""`condyle convert`: tables and markers from one format to another."""

from __future__ import annotations

import warnings
from pathlib import Path

from condyle.errors import DescriptionError
from condyle.io import Markers, read_markers, read_table

TABLES = (".mot", ".sto", ".csv", ".tsv", ".npz")
MARKERS = (".trc", ".c3d")


def convert(
    source: Path, target: Path, units: str | None, vertical: str | None, degrees: bool | None, force: bool
) -> str:
    """Write a file in the format of its ending; returns a message on the result.

    Args:
        source: .mot, .sto, .csv, .tsv, .npz, .trc or .c3d; or a model, .osim.
        target: .mot, .sto, .csv or .npz; .trc for markers; .osim for a model.
        units: of the positions of markers in the source; by default from the file.
        vertical: axis of markers that points up and becomes y.
        degrees: whether angles of the source are in degrees; by default from the file.
        force: overwrite what is there.
    """
    start, end = source.suffix.lower(), target.suffix.lower()
    if not source.is_file():
        raise DescriptionError(f"{source}: no such file")
    if target.exists() and not force:
        raise DescriptionError(f"{target}: exists already; choose another name, or overwrite it by --force")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        what = _converted(source, target, start, end, units, vertical, degrees)
    notes = "".join(f"\n  note: {text}" for text in dict.fromkeys(str(w.message) for w in told))
    return f"{target}: {what}{notes}"


def _converted(
    source: Path,
    target: Path,
    start: str,
    end: str,
    units: str | None,
    vertical: str | None,
    degrees: bool | None,
) -> str:
    if start == ".osim" or end == ".osim":
        return _model(source, target, start, end)
    if start in MARKERS or end == ".trc":
        if end == ".trc" and start in TABLES:
            markers = Markers.from_table(read_table(source, degrees=False), units=units or "")
        else:
            markers = read_markers(source, units=units, vertical=vertical)
        markers.save(target)
        return f"{len(markers)} frames of {len(markers.names)} markers"
    if vertical is not None or units is not None:
        raise DescriptionError("--units and --vertical are for markers")
    table = read_table(source, degrees=degrees)
    table.save(target)
    return f"{len(table)} rows of {len(table.names)} columns"


def _model(source: Path, target: Path, start: str, end: str) -> str:
    if start != ".osim":
        raise DescriptionError(
            f"{source}: a {start or 'file without an ending'} cannot become a model; "
            "tables go to .mot, .sto, .csv or .npz, markers to .trc too"
        )
    if end != ".osim":
        raise DescriptionError(
            f"{source}: a model is converted to .osim, of the newest version, got {target.name!r}"
        )
    from condyle.opensim import read_osim, write_osim

    system = read_osim(source)
    write_osim(system, target)
    return f"{len(system.bodies)} bodies, {system.nq} coordinates, {len(system.forces)} forces"
