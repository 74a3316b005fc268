"""Markers in the text exports of motion capture programs: Vicon Nexus (.csv), Qualisys (.tsv), OptiTrack Motive (.csv),
and of Visual3D (.txt, .tsv), by which results of Theia are exported as text.

    Vicon       Trajectories / rate / names above each first of three columns, SUBJECT:NAME / Frame,Sub Frame,X,Y,Z,...
                / mm,mm,...; other blocks (Devices, Joints) before or after it
    Qualisys    NO_OF_FRAMES, FREQUENCY, MARKER_NAMES, ... , one key a line; then rows of places [mm], perhaps after a
                frame and a time
    OptiTrack   Format Version,...,Export Frame Rate,...,Length Units,...; then Type, Name, ID, kind (Position) and axis
                above the columns; Frame,Time first
    Visual3D    five lines above the columns: file, name, type (TARGET, LANDMARK, LINK_MODEL_BASED, FRAME_NUMBERS, ...),
                folder, ITEM and axis; places in m. The signal TIME has the times

Lost markers are empty cells, or (0, 0, 0) in Qualisys' files.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.records import dataclass

UNITS = {"mm": "mm", "millimeters": "mm", "cm": "cm", "centimeters": "cm", "m": "m", "meters": "m"}


@dataclass(frozen=True, eq=False)
class Exported:
    """Contents of an export.

    Attributes:
        time: [s], shape (T,).
        names: of the markers.
        positions: in `units`, shape (T, n, 3).
        units: "mm", "cm", "m", or "" if the file does not say.
        rate: frames per second.
    """

    time: Array
    names: tuple[str, ...]
    positions: Array
    units: str
    rate: float


def read_export(path: Path) -> Exported | None:
    """Markers of an export, or None if the file is of no known kind.

    Raises:
        DescriptionError: a file of a known kind with an invalid line.
    """
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    head = text[:4000]
    if "MARKER_NAMES" in head and "FREQUENCY" in head:
        return _qualisys(path, text)
    lines = head.splitlines()
    if len(lines) > 4 and lines[4].split("\t")[0].strip().upper() == "ITEM":
        return _visual3d(path, text)
    if lines and lines[0].startswith("Format Version"):
        return _optitrack(path, text)
    if any(line.split(",")[0].strip().lower() in ("trajectories", "model outputs") for line in lines[:400]):
        return _vicon(path, text)
    return None


def _numbers(path: Path, line: int, cells: Sequence[str]) -> list[float]:
    try:
        return [float(cell) if cell.strip() else np.nan for cell in cells]
    except ValueError:
        bad = next(cell for cell in cells if cell.strip() and not _is_number(cell))
        raise DescriptionError(f"{path.name}:{line}: expected a number, got {bad.strip()!r}") from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _places(rows: list[list[float]], first: int, n: int) -> Array:
    """Columns from `first` on as positions (T, n, 3); short rows end in lost markers."""
    width = first + 3 * n
    full = [(row + [np.nan] * width)[:width] for row in rows]
    return np.array(full, dtype=float).reshape(len(rows), width)[:, first:].reshape(len(rows), n, 3)


def _vicon(path: Path, text: str) -> Exported:
    rows = list(csv.reader(text.splitlines()))
    at = next(k for k, row in enumerate(rows) if row and row[0].strip().lower() == "trajectories")
    if len(rows) < at + 6:
        raise DescriptionError(f"{path.name}: its block Trajectories ends before the first frame")
    rate = _numbers(path, at + 2, rows[at + 1][:1])[0]
    if not 0 < rate < np.inf:
        raise DescriptionError(f"{path.name}:{at + 2}: expected frames per second, got {rows[at + 1][:1]}")
    names = [cell.strip().rpartition(":")[2] for cell in rows[at + 2][2::3]]
    axes = [cell.strip().upper() for cell in rows[at + 3][2:5]]
    if axes != ["X", "Y", "Z"]:
        raise DescriptionError(
            f"{path.name}:{at + 4}: expected Frame,Sub Frame,X,Y,Z,..., got {rows[at + 3][:5]}"
        )
    names = names[: (len(rows[at + 3]) - 2) // 3]
    unit = UNITS.get(next((c.strip().lower() for c in rows[at + 4][2:] if c.strip()), ""), "")
    values = []
    for k, row in enumerate(rows[at + 5 :], at + 6):
        if not row or not row[0].strip():
            break
        values.append(_numbers(path, k, row))
    kept = [j for j, name in enumerate(names) if name]
    frames = np.array([row[0] for row in values])
    return Exported(
        (frames - frames[0]) / rate if len(frames) else frames,
        tuple(names[j] for j in kept),
        _places(values, 2, len(names))[:, kept],
        unit,
        rate,
    )


def _qualisys(path: Path, text: str) -> Exported:
    keys: dict[str, list[str]] = {}
    lines = text.splitlines()
    k, first = 0, 0
    while k < len(lines):
        cells = lines[k].split("\t")
        if cells[0].strip() and _is_number(cells[0]):
            break
        if cells[0].strip().lower() in ("frame", "time"):  # titles above the columns
            first = sum(cell.strip().lower() in ("frame", "time") for cell in cells)
        keys[cells[0].strip().upper()] = [cell.strip() for cell in cells[1:]]
        k += 1
    names = [name for name in keys.get("MARKER_NAMES", ()) if name]
    rate = _numbers(path, 1, keys.get("FREQUENCY", [""])[:1])[0]
    if not names or not 0 < rate < np.inf:
        raise DescriptionError(f"{path.name}: expected MARKER_NAMES and FREQUENCY at its beginning")
    values = [
        _numbers(path, j, line.rstrip("\r\n").split("\t"))
        for j, line in enumerate(lines[k:], k + 1)
        if line.strip()
    ]
    width = max((len(row) for row in values), default=0)
    if not first and width in (3 * len(names) + 1, 3 * len(names) + 2):
        first = width - 3 * len(names)
    if values and width < first + 3 * len(names):
        raise DescriptionError(
            f"{path.name}:{k + 1}: {len(names)} markers need {3 * len(names)} columns, got {width - first}"
        )
    places = _places(values, first, len(names))
    places[(places == 0).all(axis=2)] = np.nan
    return Exported(np.arange(len(values)) / rate, tuple(names), places, "mm", rate)


def _optitrack(path: Path, text: str) -> Exported:
    rows = list(csv.reader(text.splitlines()))
    head = dict(zip(rows[0][::2], rows[0][1::2], strict=False))
    rate = _numbers(path, 1, [head.get("Export Frame Rate") or head.get("Capture Frame Rate") or ""])[0]
    unit = UNITS.get(head.get("Length Units", "").strip().lower(), "")
    titled = next((k for k, row in enumerate(rows) if row[:2] and row[0].strip() == "Frame"), None)
    if titled is None:
        raise DescriptionError(f"{path.name}: expected a line of titles that begins with Frame,Time")
    named = {row[1].strip().lower(): row for row in rows[1:titled] if len(row) > 1 and row[1].strip()}
    kinds = next((row for row in rows[1:titled] if "Position" in row), None)
    if "name" not in named or kinds is None:
        raise DescriptionError(f"{path.name}: expected lines of Type, Name and Position above Frame,Time")
    types = named.get("type", [])
    columns: dict[str, list[int]] = {}
    for k in range(2, len(rows[titled])):
        marker = "marker" in (types[k].lower() if k < len(types) else "marker")
        if marker and kinds[k] == "Position":
            columns.setdefault(named["name"][k].strip().rpartition(":")[2], []).append(k)
    columns = {name: at for name, at in columns.items() if len(at) == 3}
    if not columns:
        raise DescriptionError(
            f"{path.name}: it has no markers, only rigid bodies or bones; export markers too"
        )
    values = [
        _numbers(path, k, row)
        for k, row in enumerate(rows[titled + 1 :], titled + 2)
        if row and row[0].strip()
    ]
    width = len(rows[titled])
    full = np.array([(row + [np.nan] * width)[:width] for row in values])
    places = np.stack([full[:, at] for at in columns.values()], axis=1)
    return Exported(full[:, 1], tuple(columns), places, unit, rate)


def _visual3d(path: Path, text: str) -> Exported:
    rows = [line.rstrip("\r\n").split("\t") for line in text.splitlines()]
    names, kinds, axes = ([cell.strip() for cell in rows[k]] for k in (1, 2, 4))
    columns: dict[str, dict[str, int]] = {}
    time = next((k for k, name in enumerate(names) if k and name.upper() == "TIME"), None)
    for k in range(1, min(len(names), len(axes))):
        if (
            k != time
            and axes[k].upper() in ("X", "Y", "Z")
            and (k >= len(kinds) or kinds[k] != "FRAME_NUMBERS")
        ):
            columns.setdefault(names[k], {}).setdefault(axes[k].upper(), k)
    places = {name: at for name, at in columns.items() if len(at) == 3}
    if time is None or not places:
        raise DescriptionError(
            f"{path.name}: expected the signal TIME and signals with X, Y and Z; export TIME (FRAME_NUMBERS) beside "
            "the landmarks"
        )
    full = [
        _numbers(path, k, (row + [""] * len(names))[: len(names)])
        for k, row in enumerate(rows[5:], 6)
        if row and row[0].strip()
    ]
    values = np.array(full).reshape(len(full), len(names))
    t = values[:, time]
    rate = (len(t) - 1) / (t[-1] - t[0]) if len(t) > 1 and t[-1] > t[0] else np.nan
    return Exported(
        t,
        tuple(places),
        np.stack([values[:, [at[a] for a in "XYZ"]] for at in places.values()], axis=1),
        "m",
        rate,
    )
