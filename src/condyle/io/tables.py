"""Tables from files: OpenSim's .sto and .mot, comma-separated values, NumPy's .npz.

Read leniently, since such files come from many programs: tabs or spaces, any order of header lines, Windows
line ends, blank lines, rows or columns in other numbers than the header says (with a warning). What cannot be
read is refused with its line.
"""
from __future__ import annotations

import csv
import math
import re
import warnings
import zlib
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from condyle.errors import DescriptionError
from condyle.table import NUMBERED, TIME, Table, split_title

DELIMITERS = {".csv": ",", ".tsv": "\t"}
_OTHERS = {".trc": "; a reader of markers is not there yet",
           **dict.fromkeys((".xlsx", ".xls"), "; save the sheet as .csv"),
           ".txt": "; if it is a .sto or .csv inside, rename it"}
"""What to do with files of other kinds."""


def read_table(path: str | Path, *, degrees: bool | None = None) -> Table:
    """A Table from a file.

    Args:
        path: .sto, .mot, .csv, .tsv or .npz (as `Table.save` writes them). The first column is the time [s].
        degrees: whether angles are in degrees; by default what the file says. A .sto or .mot that does not
            say is taken as OpenSim takes it (degrees in a .mot without a version, else radians), with a
            warning.

    Returns:
        the Table. `table.degrees` says whether its angles are in degrees: which columns are angles, only a
        System knows, and studies convert them. Units are those in the titles, "knee [rad]".

    Raises:
        DescriptionError: a file that cannot be read, with its line.
        FileNotFoundError: no such file.
    """
    if not isinstance(path, (str, Path)):
        raise DescriptionError(f"read_table: expected the path of a file, got {path!r}")
    path = Path(path)
    ending = path.suffix.lower()
    if ending == ".npz":
        return _numpy(path)
    if ending not in (".sto", ".mot", *DELIMITERS):
        raise DescriptionError(f"read_table: {str(path)!r}: expected a file that ends in .sto, .mot, .csv, "
                               ".tsv or .npz" + _OTHERS.get(ending, ""))
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    lines = text.splitlines()
    header, first = _header(lines, path) if ending in (".sto", ".mot") else ({}, 0)
    names, rows, places = _rows(lines, first, DELIMITERS.get(ending), path)
    _check_counts(header, names, rows, path)
    if not text.endswith(("\n", "\r")):
        warnings.warn(f"{path.name}: line {len(lines)}, the last, has no line end: the file may be cut off "
                      "within it", stacklevel=2)
    if header.get("datatype", "double").lower() != "double":
        names, rows = _flat(names, rows, places, path)
    time, values = _columns(names, rows, places, path)
    titles = [split_title(name) if ending in DELIMITERS else (name, "") for name in names[1:]]
    degrees = degrees if degrees is not None else _degrees(header, ending, path)
    return Table(time, [name for name, _ in titles], values, [unit for _, unit in titles], degrees=degrees,
                 over=names[0] if names[0] in NUMBERED else TIME)


def _header(lines: list[str], path: Path) -> tuple[dict[str, str], int]:
    """Keys of the header, in lower case, and where the titles are."""
    header: dict[str, str] = {}
    for i, line in enumerate(lines):
        text = line.strip()
        if text.lower() == "endheader":
            return header, i + 1
        if "=" in text:
            key, _, value = text.partition("=")
            header[key.strip().lower()] = value.strip()
        elif match := re.fullmatch(r"(datacolumns|datarows|nrows|ncolumns)\s+(\d+)", text, re.IGNORECASE):
            header[match[1].lower()] = match[2]
    raise DescriptionError(f"{path.name}: no line 'endheader': is it a .sto or .mot file, and whole?")


def _rows(lines: list[str], first: int, delimiter: str | None,
          path: Path) -> tuple[list[str], list[list[str]], list[int]]:
    """Titles, cells of each row, and the line of each."""
    rest = [(i + 1, line) for i, line in enumerate(lines[first:], first) if line.strip()]
    if not rest:
        raise DescriptionError(f"{path.name}: no titles of columns after line {first}; the file is empty or "
                               "cut off")
    if delimiter:
        cells = [next(csv.reader([line], delimiter=delimiter)) for _, line in rest]
    else:
        by_tabs = "\t" in rest[0][1].strip()
        cells = [line.rstrip().split("\t") if by_tabs and "\t" in line.strip() else line.split() for _,
                 line in rest]
    names = [c.strip() for c in cells[0]]
    while names and not names[-1]:
        names.pop()
    if not names or not (re.fullmatch(r"(time|t)(\s*\[s\])?", names[0], re.IGNORECASE)
                         or (delimiter and names[0] in NUMBERED)):
        raise DescriptionError(f"{path.name}: line {rest[0][0]}: the first column must be 'time', got "
                               f"{repr(names[0]) if names else 'nothing'}{_separated(names)}")
    if len(set(names)) < len(names):
        twice = sorted({n for n in names if names.count(n) > 1})
        raise DescriptionError(f"{path.name}: line {rest[0][0]}: columns occur twice: {', '.join(twice)}")
    return names, cells[1:], [i for i, _ in rest[1:]]


def _flat(names: list[str], rows: list[list[str]], places: list[int],
          path: Path) -> tuple[list[str], list[list[str]]]:
    """Columns of vectors, 1,2,3 in a cell, as columns NAME_1, NAME_2, NAME_3: OpenSim's names of them."""
    sizes = [len(cell.split(",")) for cell in rows[0]] if rows else [1] * len(names)
    for cells, line in zip(rows, places, strict=True):
        if [len(cell.split(",")) for cell in cells] != sizes or len(cells) != len(names):
            raise DescriptionError(f"{path.name}: line {line}: its vectors are not as long as those of the "
                                   "first row")
    flat = [f"{name}_{k + 1}" if n > 1 else name for name, n in zip(names, sizes, strict=True)
            for k in range(n)]
    return flat, [[part for cell in cells for part in cell.split(",")] for cells in rows]


def _separated(names: list[str]) -> str:
    """What to do where titles are separated by something else."""
    found = next((c for c in (";", "\t", ",") if names and c in names[0]), "")
    return (f"; this file separates columns by {found!r}: commas are for .csv, tabs for .tsv, and decimals "
            "have points"
            if found else "")


def _check_counts(header: dict[str, str], names: list[str], rows: list[list[str]], path: Path) -> None:
    for keys, found, what in ((("nrows", "datarows", "nr"), len(rows), "rows"),
                              (("ncolumns", "datacolumns", "nc"), len(names), "columns")):
        said = next((header[k] for k in keys if k in header), None)
        if said is not None and said.isdigit() and int(said) != found:
            cut = " It may be cut off." if found < int(said) else ""
            warnings.warn(f"{path.name}: the header says {said} {what}, there are {found}.{cut}",
                          stacklevel=4)


def _columns(names: list[str], rows: list[list[str]], places: list[int], path: Path) -> tuple[np.ndarray,
                                                                                              np.ndarray]:
    """Times (m,) and values (m, columns)."""
    out = np.empty((len(rows), len(names)))
    for k, (cells, line) in enumerate(zip(rows, places, strict=True)):
        cells = [c.strip() for c in cells]
        while len(cells) > len(names) and not cells[-1]:
            cells.pop()
        if len(cells) != len(names):
            raise DescriptionError(f"{path.name}: line {line}: {len(cells)} numbers, but {len(names)} "
                                   "columns")
        for j, cell in enumerate(cells):
            out[k, j] = _number(cell, f"{path.name}: line {line}, column {names[j]!r}")
    time = out[:, 0]
    if np.isnan(time).any():
        raise DescriptionError(f"{path.name}: line {places[int(np.isnan(time).argmax())]}: the time is "
                               "missing")
    if (np.diff(time) <= 0).any() and names[0] not in NUMBERED:
        at = int((np.diff(time) <= 0).argmax())
        raise DescriptionError(f"{path.name}: line {places[at + 1]}: times must increase, {time[at + 1]:g} "
                               f"follows {time[at]:g}")
    return time, out[:, 1:]


def _number(cell: str, where: str) -> float:
    if not cell:
        return math.nan
    try:
        return float(cell)
    except ValueError:
        hint = "; decimals are written with a point" if re.fullmatch(r"[-+]?\d+,\d+", cell) else ""
        raise DescriptionError(f"{where}: {cell!r} is no number{hint}") from None


def _degrees(header: dict[str, str], ending: str, path: Path) -> bool | None:
    if ending in DELIMITERS:
        return None
    said = header.get("indegrees", "").lower()
    if said in ("yes", "y", "true", "1", "no", "n", "false", "0"):
        return said in ("yes", "y", "true", "1")
    taken = ending == ".mot" and "version" not in header and "indegrees" not in header
    what = f"inDegrees={said}, which is neither yes nor no" if said else "no line inDegrees=yes or no"
    warnings.warn(f"{path.name} has {what}; taken as {'degrees' if taken else 'radians'}, as OpenSim does. "
                  "Say degrees=True or False", stacklevel=3)
    return taken


def _numpy(path: Path) -> Table:
    try:
        data = np.load(path, allow_pickle=False)
        parts = {name: data[name] for name in data.files}
    except FileNotFoundError:
        raise
    # a damaged archive fails in many ways
    except (ValueError, EOFError, BadZipFile, zlib.error, OSError, RuntimeError, KeyError, AttributeError):
        raise DescriptionError(f"{path.name}: this is no .npz file, or it is damaged or cut off; Table.save "
                               "writes them") from None
    data.close()
    missing = {"time", "names", "values"} - set(parts)
    if missing:
        raise DescriptionError(f"{path.name}: not written by Table.save: it has no "
                               f"{', '.join(sorted(missing))}")
    units = parts["units"].tolist() if "units" in parts else None
    degrees = bool(parts["degrees"]) if "degrees" in parts else None
    return Table(parts["time"], parts["names"].tolist(), parts["values"], units, degrees=degrees,
                 over=str(parts.get("over", TIME)))
