"""Frames from a file of comma-separated values, and back.

    time [s]                     optional; rows are sorted by it
    q, q1, q2, ..., q knee       coordinates, optional; [deg] and [mm] become radians and meters
    x, y, z                      p_FM [m], [cm] or [mm]
    and the rotation R_FM, one of
    qw, qx, qy, qz               unit quaternion, scalar part qw
    r11, r12, ..., r33           matrix, row then column
    rx, ry, rz                   angles [deg] or [rad] about body-fixed axes, in an order that must be stated

Read leniently: columns in any order and of any case, commas, semicolons (then decimals may have commas) or
tabs, lines that begin with #, blank lines. Written strictly: meters, the matrix, all digits.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import condyle.files as files
from condyle.arguments import with_call_hints
from condyle.arrays import Array
from condyle.errors import DescriptionError, check_name, warn
from condyle.spatial import Transform, rotation_from_euler
from condyle.studies.joints.measured_frames import (
    FAR,
    Indices,
    MeasuredFrames,
    check_sizes,
    listed,
    proper_rotations,
    rotations_of,
)
from condyle.table import split_title, titles

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]

LENGTHS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3}
ANGLES = {"rad": 1.0, "deg": np.pi / 180, "degrees": np.pi / 180, "°": np.pi / 180}
POSITION = (("x", "px", "p_x", "tx"), ("y", "py", "p_y", "ty"), ("z", "pz", "p_z", "tz"))
QUATERNION = ("qw", "qx", "qy", "qz")
MATRIX = tuple(f"r{i}{j}" for i in "123" for j in "123")
EULER = ("rx", "ry", "rz")
WOUND = 4 * np.pi
"""[rad] Angles of bones stay below two turns; larger ones are in degrees."""


@with_call_hints(
    {
        "columns": "coordinates are q='knee_angle'; positions and rotations have fixed titles",
        "units": "units are in the titles: x [mm]",
        "order": "it is sequence='zxy'",
    }
)
def read_frames(
    path: str | Path | DataFrame, q: str | Sequence[str] | None = None, *, sequence: str | None = None
) -> MeasuredFrames:
    """Frames of one bone in another from a .csv or .tsv file.

    Columns, in any order, units in square brackets: `x`, `y`, `z` [m] (or [mm], [cm]); the rotation as a
    quaternion `qw`, `qx`, `qy`, `qz`, as a matrix `r11` ... `r33`, or as angles `rx`, `ry`, `rz` [deg] or
    [rad]; and, if you have them, `time` [s] and coordinates `q`, or `q1`, `q2`, ... Rows with a gap are left
    out, with a warning that names their lines. The pose is that of the moving bone's frame in the fixed
    bone's.

    Args:
        path: the file, or a pandas DataFrame with the same columns.
        q: titles of other columns that are the coordinates, such as "knee_angle".
        sequence: for angles, the order of the rotations about body-fixed axes: "zxy" is first about z. A line
            `# sequence = zxy` in the file says the same.

    Returns:
        The frames: SI units and radians inside.

    Raises:
        DescriptionError: a file that cannot be read, with its line and column.
        FileNotFoundError: no such file.
    """
    if not isinstance(path, (str, Path)):
        if not hasattr(path, "to_csv"):
            raise DescriptionError(f"read_frames: expected the path of a file, or a DataFrame, got {path!r}")
        text = path.to_csv(index=path.index.name is not None)
        return _frames(_Sheet(Path("the table"), text), q, sequence)
    path = Path(path)
    if path.suffix.lower() not in (".csv", ".tsv", ".txt"):
        raise DescriptionError(f"read_frames: {str(path)!r}: expected a file that ends in .csv, .tsv or .txt")
    return _frames(_Sheet(path, path.read_text(encoding="utf-8-sig", errors="replace")), q, sequence)


def _frames(sheet: _Sheet, q: str | Sequence[str] | None, sequence: str | None) -> MeasuredFrames:
    path = sheet.path
    coordinates = sheet.coordinates(q)
    position = sheet.all_of(POSITION, "positions x, y, z")
    if position is None:
        raise sheet.error(
            f"no columns x, y, z among {', '.join(sheet.names)}; units are in square brackets, x [mm]"
        )
    time = sheet.find(("time", "t"))
    rotation = sheet.rotation_columns()
    sheet.warn_of_others({*coordinates, *position, *rotation, *([time] if time is not None else ())})
    sheet.drop_gaps([*coordinates, *position, *rotation, *([time] if time is not None else ())])
    if time is not None:
        sheet.sort(time)
    p = sheet.scaled(position, LENGTHS, "m", _millimeters)
    R = sheet.rotations(rotation, sequence)
    R = proper_rotations(path.name, R, sheet.lines, "line")
    check_sizes(path.name, p, sheet.lines, "line")
    values, names, units = sheet.coordinate_values(coordinates)
    return MeasuredFrames(
        Transform.unchecked(R, p),
        values,
        None if time is None else sheet.values[:, time],
        names,
        units,
        source=sheet.source,
    )


def write_frames(frames: MeasuredFrames, path: str | Path) -> None:
    """See MeasuredFrames.save."""
    path = Path(path)
    if path.suffix.lower() != ".csv":
        raise DescriptionError(f"MeasuredFrames.save: {path.name!r}: the name must end in .csv")
    files.check_target(path, "MeasuredFrames.save")
    columns, head = [frames.p, frames.R.reshape(-1, 9)], ["x [m]", "y [m]", "z [m]", *MATRIX]
    if frames.q is not None:
        columns.insert(0, frames.q.reshape(len(frames), -1))
        named = [name if re.fullmatch(r"q\d*", name) else f"q {name}" for name in frames.coordinates]
        head = [*titles(named, frames.units), *head]
    if frames.time is not None:
        columns.insert(0, frames.time[:, None])
        head = ["time [s]", *head]
    with files.atomic_write(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(head)
        rows.writerows([repr(x) for x in row] for row in np.hstack(columns).tolist())


def _millimeters(p: Array) -> float:
    """The unit assumed for positions without a unit."""
    return 1e-3 if len(p) and np.median(np.linalg.norm(p, axis=1)) > FAR else 1.0


class _Sheet:
    """Titles and numbers of a file, and the line number of each row."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        lines = text.splitlines()
        self.said = {
            m[1].lower(): m[2] for line in lines if (m := re.match(r"\s*#+\s*(\w+)\s*[=:]\s*(\S+)", line))
        }
        rest = [
            (k + 1, line)
            for k, line in enumerate(lines)
            if line.strip() and not line.lstrip().startswith("#")
        ]
        if len(rest) < 2:
            raise self.error("no titles with rows of numbers below them; the file is empty or cut off")
        head = rest[0][1]
        self.delimiter = max(("\t", ";", ","), key=head.count)
        cells = [[c.strip() for c in next(csv.reader([line], delimiter=self.delimiter))] for _, line in rest]
        while cells[0] and not cells[0][-1]:
            cells[0].pop()
        # "[1]" is an index in other files, but a unit here
        pairs = [(title[:-4], "1") if title.endswith(" [1]") else split_title(title) for title in cells[0]]
        self.names, self.units = [name for name, _ in pairs], [unit for _, unit in pairs]
        self.lines: Indices = np.array([k for k, _ in rest[1:]])
        self.all_lines = self.lines
        known = [name.lower() for name in self.names]
        twice = sorted({n for n in known if known.count(n) > 1})
        if twice:
            raise self.error(f"columns occur twice: {', '.join(twice)}", rest[0][0])
        if all(_is_number(c) for c in cells[0]):
            raise self.error(
                f"the first row has no titles but numbers, {head[:40]!r}; write titles such as "
                "x [m], y [m], z [m], qw, qx, qy, qz",
                rest[0][0],
            )
        self.values = np.array(
            [self._row(row, line) for row, line in zip(cells[1:], self.lines, strict=True)]
        )

    @property
    def source(self) -> Indices:
        """The row of the file that each frame comes from."""
        return np.searchsorted(self.all_lines, self.lines)

    def error(self, text: str, line: int | None = None, column: int | None = None) -> DescriptionError:
        where = f": line {line}" if line is not None else ""
        where += f", column {self.names[column]!r}" if column is not None else ""
        return DescriptionError(f"{self.path.name}{where}: {text}")

    def _row(self, cells: list[str], line: int) -> list[float]:
        while len(cells) > len(self.names) and not cells[-1]:
            cells.pop()
        if len(cells) != len(self.names):
            hint = (
                "; with decimal commas, columns need semicolons between them"
                if len(cells) > len(self.names) and self.delimiter == ","
                else ""
            )
            raise self.error(f"{len(cells)} numbers, but {len(self.names)} columns{hint}", line)
        return [self._number(cell, line, j) for j, cell in enumerate(cells)]

    def _number(self, cell: str, line: int, j: int) -> float:
        if cell.lower() in ("", "nan", "na", "n/a", "-"):
            return np.nan
        try:
            return float(cell.replace(",", ".") if self.delimiter != "," else cell)
        except ValueError:
            raise self.error(f"{cell!r} is no number", line, j) from None

    # ---- Columns -------------------------------------------------------------------------------------------

    def find(self, names: Sequence[str]) -> int | None:
        """The column of one of these names."""
        known = [name.lower() for name in self.names]
        return next((known.index(name) for name in names if name in known), None)

    def all_of(self, names: Sequence[str | Sequence[str]], what: str) -> list[int] | None:
        """The columns of all these names; None if the file has none of them."""
        found = [self.find((name,) if isinstance(name, str) else name) for name in names]
        if all(k is None for k in found):
            return None
        if None in found:
            absent = names[found.index(None)]
            raise self.error(
                f"{what}: the column {absent if isinstance(absent, str) else absent[0]} is "
                f"missing; there are {', '.join(self.names)}"
            )
        return [k for k in found if k is not None]

    def coordinates(self, q: str | Sequence[str] | None) -> list[int]:
        """Columns of the coordinates, in order."""
        if q is not None:
            out = []
            for name in (q,) if isinstance(q, str) else q:
                if not isinstance(name, str):
                    raise DescriptionError(
                        "read_frames: q: expected titles of columns, got "
                        f"{type(q).__name__}; numbers go to the fit: "
                        "cd.fit_spline_curve(frames, q)"
                    )
                name = split_title(name)[0]
                check_name("column", name, self.names, self.path.name)
                out.append(self.names.index(name))
            return out
        found = {
            k: int(m[1] or 1)
            for k, name in enumerate(self.names)
            if (m := re.fullmatch(r"q(\d*)(?:[:\s]+\S.*)?", name, re.IGNORECASE))
        }
        return sorted(found, key=lambda k: found[k])

    def rotation_columns(self) -> list[int]:
        ways = {
            what: self.all_of(names, what)
            for names, what in ((QUATERNION, "the quaternion"), (MATRIX, "the matrix"), (EULER, "the angles"))
        }
        there = [what for what, columns in ways.items() if columns]
        if len(there) != 1:
            got = " and ".join(there) or "none"
            raise self.error(
                "the rotation is one of qw, qx, qy, qz; r11 ... r33; rx, ry, rz [deg]; got "
                f"{got} among {', '.join(self.names)}"
            )
        return ways[there[0]] or []

    def warn_of_others(self, used: set[int]) -> None:
        others = [name for k, name in enumerate(self.names) if k not in used]
        if others:
            warn(f"{self.path.name}: columns that are not used: {', '.join(others)}")

    # ---- Rows ----------------------------------------------------------------------------------------------

    def drop_gaps(self, columns: list[int]) -> None:
        gone = ~np.isfinite(self.values[:, columns]).all(axis=1)
        if gone.all():
            raise self.error("no row is whole: all have a gap")
        if gone.any():
            warn(
                f"{self.path.name}: {int(gone.sum())} of {len(gone)} rows have a gap and are left "
                f"out: {listed(self.lines[gone], 'line')}"
            )
        self.values, self.lines = self.values[~gone], self.lines[~gone]

    def sort(self, time: int) -> None:
        t = self.values[:, time] = self.values[:, time] * {"ms": 1e-3}.get(self.units[time], 1.0)
        if self.units[time] not in ("", "s", "ms"):
            raise self.error(f"time is in s or ms, got [{self.units[time]}]")
        if (np.diff(t) < 0).any():
            k = int((np.diff(t) < 0).argmax())
            warn(
                f"{self.path.name}: line {self.lines[k + 1]}: time {t[k + 1]:g} s follows {t[k]:g} "
                "s; rows were sorted by time"
            )
            order = np.argsort(t, kind="stable")
            self.values, self.lines = self.values[order], self.lines[order]
            t = self.values[:, time]
        if (np.diff(t) == 0).any():
            k = int((np.diff(t) == 0).argmax())
            raise self.error(
                f"time {t[k]:g} s is that of line {self.lines[k]} too; keep one of them",
                int(self.lines[k + 1]),
            )

    def scaled(self, columns: list[int], units: dict[str, float], default: str, guess: object) -> Array:
        """Columns in SI units; their units are guessed if the titles have none."""
        out = self.values[:, columns].copy()
        for j, k in enumerate(columns):
            unit = self.units[k]
            if unit and unit.lower() not in units:
                raise self.error(
                    f"the unit [{unit}] is not known here; it is one of {', '.join(units)}", None, k
                )
            if unit:
                out[:, j] *= units[unit.lower()]
        bare = [j for j, k in enumerate(columns) if not self.units[k]]
        factor = guess(out) if bare and callable(guess) else 1.0
        if bare and factor != 1.0:
            taken = next(unit for unit, x in units.items() if x == factor)
            warn(
                f"{self.path.name}: {', '.join(self.names[columns[j]] for j in bare)} have no unit "
                f"and are too large for {default}: taken as {taken}. Write "
                f"{self.names[columns[bare[0]]]} [{taken}]"
            )
            out[:, bare] *= factor
        elif bare and units is ANGLES:
            warn(
                f"{self.path.name}: {', '.join(self.names[columns[j]] for j in bare)} have no "
                "unit: taken as "
                f"{default}. Write {self.names[columns[bare[0]]]} [rad] or [deg]"
            )
        return out

    def rotations(self, columns: list[int], sequence: str | None) -> Array:
        """R (n, 3, 3)."""
        if len(columns) == 9:
            return self.values[:, columns].reshape(-1, 3, 3)
        if len(columns) == 4:
            return rotations_of(self.values[:, columns], lambda k: f"{self.path.name}: line {self.lines[k]}")
        order = "".join(sequence or self.said.get("sequence", "")).lower()
        if sorted(order) != ["x", "y", "z"]:
            raise self.error(
                f"angles rx, ry, rz need the order of their rotations, got {order!r}: say "
                "sequence='zxy' (first about z, then about the new x, then the new y), or write "
                "a line # sequence = zxy"
            )
        angles = self.scaled(
            columns, ANGLES, "rad", lambda a: ANGLES["deg"] if np.abs(a).max() > 2 * np.pi else 1.0
        )
        if np.abs(angles).max() > WOUND:
            i, j = np.unravel_index(int(np.abs(angles).argmax()), angles.shape)
            raise self.error(
                f"the angle {self.values[i, columns[j]]:g} rad is more than two turns; are "
                "these degrees? "
                f"Write {self.names[columns[j]]} [deg]",
                int(self.lines[i]),
                columns[j],
            )
        return np.asarray(rotation_from_euler(angles[:, ["xyz".index(a) for a in order]], order))

    def coordinate_values(self, columns: list[int]) -> tuple[Array | None, tuple[str, ...], tuple[str, ...]]:
        if not columns:
            return None, (), ()
        names, units, out = [], [], self.values[:, columns].copy()
        for j, k in enumerate(columns):
            unit, title = self.units[k].lower(), self.names[k]
            m = re.fullmatch(r"q\d*[:\s]+(\S.*)", title, re.IGNORECASE)
            names.append(m[1] if m else title)
            factor = (ANGLES | LENGTHS).get(unit, 1.0)
            out[:, j] *= factor
            units.append("rad" if unit in ANGLES else "m" if unit in LENGTHS else self.units[k])
        return out[:, 0] if len(columns) == 1 else out, tuple(names), tuple(units)


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True
