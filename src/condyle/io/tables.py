"""Tables from files: OpenSim's .sto and .mot, comma-separated values, NumPy's .npz.

Read leniently, since such files come from many programs: tabs or spaces, any order of header lines, Windows
line ends, blank lines, rows or columns in other numbers than the header says (with a warning). Errors name
the line that cannot be read.
"""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path

import numpy as np

from condyle.errors import DescriptionError, warn
from condyle.files import existing
from condyle.table import (
    LENGTHS,
    NUMBERED,
    TIME,
    Table,
    disorder,
    seconds,
    si,
    split_label,
    split_title,
)

LARGE, DENSEST = 1e9, 100
"""An archive that unpacks to more bytes than this, and more times its size, is refused as malicious."""
DELIMITERS = {".csv": ",", ".tsv": "\t"}
_OTHERS = {
    ".trc": "; markers are read by cd.read_markers(path), and its .table() is a Table",
    ".c3d": "; it is read by cd.read_c3d(path), which has markers, force plates and analog channels",
    **dict.fromkeys((".xlsx", ".xls"), "; save the sheet as .csv"),
    ".txt": "; if it is a .sto or .csv inside, rename it",
}
"""Advice for files of other kinds."""


def read_table(path: str | Path, *, degrees: bool | None = None) -> Table:
    """A Table from a file.

    Args:
        path: .sto, .mot, .csv, .tsv or .npz (as `Table.save` writes them). The first column is the time [s],
            or "time [ms]". Two rows with one time are before and after an event.
        degrees: whether angles are in degrees; by default as stated in the file. A .sto or .mot without a
            statement is read as in OpenSim (degrees in a .mot without a version, else radians), with a
            warning.

    Returns:
        the Table. `table.degrees` states whether its angles are in degrees; only a System knows which columns
        are angles, and studies convert them. Units are those in the titles, "knee [rad]" or "fy (kN)".

    Raises:
        DescriptionError: a file that cannot be read, with its line.
        FileNotFoundError: no such file.
    """
    if not isinstance(path, (str, Path)):
        raise DescriptionError(f"read_table: expected the path of a file, got {path!r}")
    if degrees is not None and not isinstance(degrees, (bool, np.bool_)):
        raise DescriptionError(f"read_table: degrees: expected True, False or None, got {degrees!r}")
    path = Path(path)
    ending = path.suffix.lower()
    if ending == ".npz":
        return _numpy(existing(path), degrees)
    if ending not in (".sto", ".mot", *DELIMITERS):
        raise DescriptionError(
            f"read_table: {str(path)!r}: expected a file that ends in .sto, .mot, .csv, "
            ".tsv or .npz" + _OTHERS.get(ending, "")
        )
    existing(path)
    if (found := _plain(path, ending)) is not None:
        header, names, numbers = found
        kind = "double"
        _check_counts(header, names, len(numbers), path)
        time, values = numbers[:, 0], numbers[:, 1:]
    else:
        lines, notes = lines_of(path)
        for note in notes:
            warn(note)
        header, first = _header(lines, path) if ending in (".sto", ".mot") else ({}, 0)
        names, rows, places = _rows(lines, first, DELIMITERS.get(ending), path)
        _check_counts(header, names, len(rows), path)
        kind = _kind(header, path)
        if kind != "double":
            names, rows = _flat(names, rows, places, kind, path)
        time, values = _columns(names, rows, places, path)
    split = split_title if ending in DELIMITERS else split_label
    (_, unit), *titles = [split(name) for name in names]
    if length := _length(header, names[1:], path):
        titles = [(name, unit or length) for name, unit in titles]
    if degrees is None and kind == "double":
        degrees = _degrees(header, ending, path)
    return Table(
        seconds(path.name, time, unit),
        [name for name, _ in titles],
        values,
        [unit for _, unit in titles],
        degrees=degrees,
        over=names[0] if names[0] in NUMBERED else TIME,
        datatype=kind,
    )


def _length(header: dict[str, str], names: list[str], path: Path) -> str:
    """The unit of all columns, where a header has `Units=mm` and all of them are places: vectors in cells, or
    what OpenSim makes of these, NAME_1, NAME_2, NAME_3."""
    said = header.get("units", "").strip('"').lower()
    unit = next((name for name in LENGTHS if si(said) == si(name)), "")
    places = header.get("datatype", "double").lower() == "vec3" or [n[-2:] for n in names] == [
        "_1",
        "_2",
        "_3",
    ] * (len(names) // 3)
    if unit and unit != "m" and not places:
        warn(
            f"{path.name}: its header says Units={said}, but not of which columns; none is taken to be in "
            f"{said}: say it, table.with_units({{'name': {unit!r}}})"
        )
    return unit if places else ""


def _plain(path: Path, ending: str) -> tuple[dict[str, str], list[str], np.ndarray] | None:
    """Header, titles and numbers (rows, columns) of a plain file; None for any other, which is read line by
    line.
    """

    from condyle.io.number_parser import plain_numbers

    if path.is_dir():
        return None
    text, start = path.read_bytes(), 0
    if not text.endswith(b"\n") or text.startswith(b"\xef\xbb\xbf"):
        return None
    if ending not in DELIMITERS:
        if (end := re.search(rb"^[ \t]*endheader[ \t]*\r?\n", text, re.IGNORECASE | re.MULTILINE)) is None:
            return None
        start = end.end()
    titles = re.compile(rb"\s*([^\n]+)\n").match(text, start)
    try:
        head, line = text[:start].decode(), titles[1].decode() if titles else ""
    except UnicodeDecodeError:
        return None
    if titles is None or "\r" in head.replace("\r\n", "") or "\r" in line.rstrip("\r"):
        return None
    try:
        header, _ = _header(head.split("\n"), path) if start else ({}, 0)
        names, _, _ = _rows([line.rstrip("\r")], 0, DELIMITERS.get(ending), path)
    except DescriptionError:  # reported later with the right line
        return None
    if header.get("datatype", "double").lower() != "double":
        return None
    first = titles.end()
    tabs = "\t" in line.strip() and text.count(b"\t", first, text.find(b"\n", first)) == len(names) - 1
    numbers = plain_numbers(text, first, len(names), DELIMITERS.get(ending, "\t" if tabs else ""))
    if numbers is None or not len(numbers):
        return None
    return (header, names, numbers) if disorder(numbers[:, 0], names[0]) is None else None


def lines_of(path: Path) -> tuple[list[str], list[str]]:
    """Lines of a text file, and remarks on what is unusual."""
    if path.is_dir():
        raise DescriptionError(f"{path}: a folder; give the name of a file")
    data = path.read_bytes()
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", errors="replace")
    del data  # files of long recordings are large
    lines = text.split("\n") if "\r" not in text else re.split(r"\r\n|\n|\r", text)
    if not lines[-1]:
        lines.pop()
        return lines, []
    return lines, [
        f"{path.name}: line {len(lines)}, the last, has no line end: the file may be cut off within it"
    ]


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


def _rows(
    lines: list[str], first: int, delimiter: str | None, path: Path
) -> tuple[list[str], Rows, list[int]]:
    """Titles, the rows, and the line of each."""
    rest = [(i + 1, line) for i, line in enumerate(lines[first:], first) if line.strip()]
    if not rest:
        raise DescriptionError(
            f"{path.name}: no titles of columns after line {first}; the file is empty or cut off"
        )
    rows = Rows([line for _, line in rest[1:]], delimiter, "\t" in rest[0][1].strip())
    names = [c.strip() for c in rows.cells(rest[0][1])]
    while names and not names[-1]:
        names.pop()
    if not names or not (
        split_title(names[0])[0].lower() in ("time", "t") or (delimiter and names[0] in NUMBERED)
    ):
        raise DescriptionError(
            f"{path.name}: line {rest[0][0]}: the first column must be 'time', got "
            f"{repr(names[0]) if names else 'nothing'}{_separated(names)}"
        )
    if len(set(names)) < len(names):
        twice = sorted({n for n in names if names.count(n) > 1})
        raise DescriptionError(f"{path.name}: line {rest[0][0]}: columns occur twice: {', '.join(twice)}")
    return names, rows, [i for i, _ in rest[1:]]


class Rows:
    """Lines of numbers.

    Args:
        lines: as in the file.
        delimiter: between cells; None is tabs or any white space.
        by_tabs: whether titles are separated by tabs.
    """

    def __init__(self, lines: list[str], delimiter: str | None, by_tabs: bool) -> None:
        self.lines, self.delimiter, self.by_tabs = lines, delimiter, by_tabs

    def __len__(self) -> int:
        return len(self.lines)

    def cells(self, line: str) -> list[str]:
        """Texts of one line."""
        if self.delimiter:
            try:
                return next(csv.reader([line], delimiter=self.delimiter))
            except csv.Error:  # larger than a field may be
                return line.split(self.delimiter)
        return line.split("\t") if self.by_tabs and "\t" in line.strip() else line.split()

    def plain(self, columns: int) -> np.ndarray | None:
        """All numbers at once, shape (rows, columns), by NumPy's reader, which is exact too; None if a cell
        is empty or unusual, which the slower reader reports with its line.
        """
        if not self.lines:
            return None
        tabs = self.by_tabs and self.lines[0].count("\t") == columns - 1
        try:
            out = np.loadtxt(
                self.lines, delimiter=self.delimiter or ("\t" if tabs else None), comments=None, ndmin=2
            )
        except (ValueError, OverflowError, MemoryError):
            return None
        return out if out.shape == (len(self.lines), columns) and not np.isinf(out).any() else None


KINDS = {"double": 1, "unitvec3": 3, "quaternion": 4, "spatialvec": 6, **{f"vec{n}": n for n in range(2, 13)}}
"""Numbers in a cell, by OpenSim's DataType."""


def _kind(header: dict[str, str], path: Path) -> str:
    said = header.get("datatype", "double")
    if said.lower() not in KINDS:
        raise DescriptionError(
            f"{path.name}: DataType={said}: expected double, Vec2 to Vec12, UnitVec3, "
            "Quaternion or SpatialVec"
        )
    return said


def _flat(names: list[str], rows: Rows, places: list[int], kind: str, path: Path) -> tuple[list[str], Rows]:
    """Columns of vectors, 1,2,3 in a cell, as columns NAME_1, NAME_2, NAME_3: OpenSim's names of them."""
    size = KINDS[kind.lower()]
    for line, place in zip(rows.lines, places, strict=True):
        cells = line.rstrip().split("\t")
        sizes = [cell.count(",") + 1 for cell in cells]
        if len(sizes) != len(names) or sizes[0] != 1 or any(n != size for n in sizes[1:]):
            wrong = next((k for k, n in enumerate(sizes[1 : len(names)], 1) if n != size), None)
            raise DescriptionError(
                f"{path.name}: line {place}: "
                + (
                    f"{len(sizes)} cells, but {len(names)} columns"
                    if wrong is None
                    else f"column {names[wrong]!r}: {cells[wrong][:40]!r} has {sizes[wrong]} numbers; DataType={kind} "
                    f"has {size}"
                )
            )
    flat = [names[0], *(f"{name}_{k + 1}" for name in names[1:] for k in range(size))]
    return flat, Rows([line.rstrip().replace(",", "\t") for line in rows.lines], None, True)


def _separated(names: list[str]) -> str:
    """Advice where titles are separated by something else."""
    found = next((c for c in (";", "\t", ",") if names and c in names[0]), "")
    return (
        f"; this file separates columns by {found!r}: commas are for .csv, tabs for .tsv, and decimals "
        "have points"
        if found
        else ""
    )


def _check_counts(header: dict[str, str], names: list[str], rows: int, path: Path) -> None:
    for keys, found, what in (
        (("nrows", "datarows", "nr"), rows, "rows"),
        (("ncolumns", "datacolumns", "nc"), len(names), "columns"),
    ):
        said = next((header[k] for k in keys if k in header), None)
        if said is not None and said.isdigit() and int(said) != found:
            cut = " It may be cut off." if found < int(said) else ""
            warn(f"{path.name}: the header says {said} {what}, there are {found}.{cut}")


def _columns(names: list[str], rows: Rows, places: list[int], path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Times (m,) and values (m, columns)."""
    out = rows.plain(len(names))
    if out is None:
        out = _cell_by_cell(names, rows, places, path.name)
    time = out[:, 0]
    wrong = disorder(time, names[0])
    if wrong:
        raise DescriptionError(f"{path.name}: line {places[wrong[0]]}: {wrong[1]}")
    return time, out[:, 1:]


def _cell_by_cell(names: list[str], rows: Rows, places: list[int], file: str) -> np.ndarray:
    """Numbers (rows, columns), and the line of the first cell that is not a number."""
    out = np.empty((len(rows), len(names)))
    for k, (line, place) in enumerate(zip(rows.lines, places, strict=True)):
        cells = [c.strip() for c in rows.cells(line)]
        while len(cells) > len(names) and not cells[-1]:
            cells.pop()
        if len(cells) != len(names):
            raise DescriptionError(f"{file}: line {place}: {len(cells)} numbers, but {len(names)} columns")
        try:
            out[k] = [number(c) for c in cells]
        except ValueError:
            j = next(j for j, c in enumerate(cells) if not is_number(c))
            raise DescriptionError(
                f"{file}: line {place}, column {names[j]!r}: {no_number(cells[j])}"
            ) from None
    return out


_NONE = re.compile(r"[-+]?1\.#(IND|QNAN|SNAN)0*", re.IGNORECASE)
"""NaN as programs on Windows wrote it."""


def number(cell: str) -> float:
    """The number of a cell; NaN if it is empty.

    Raises:
        ValueError: it is not a number, or larger than allowed here.
    """
    if not cell or _NONE.fullmatch(cell):
        return math.nan
    x = float(cell)
    if (math.isinf(x) and "n" not in cell.lower()) or "_" in cell:
        raise ValueError
    return x


def is_number(cell: str) -> bool:
    try:
        number(cell)
    except ValueError:
        return False
    return True


def no_number(cell: str) -> str:
    """Error message for a cell."""
    shown = repr(cell if len(cell) <= 40 else f"{cell[:40]}...")
    if re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?", cell, re.IGNORECASE) and cell.count(".") <= 1:
        return f"{shown} is larger than any number here, 1.8e308"
    hint = "; decimals are written with a point" if re.fullmatch(r"[-+]?\d+,\d+", cell) else ""
    return f"{shown} is no number{hint}"


def _degrees(header: dict[str, str], ending: str, path: Path) -> bool | None:
    if ending in DELIMITERS:
        return None
    said = header.get("indegrees", "").lower()
    if said in ("yes", "y", "true", "1", "no", "n", "false", "0"):
        return said in ("yes", "y", "true", "1")
    taken = ending == ".mot" and "version" not in header and "indegrees" not in header
    what = f"inDegrees={said}, which is neither yes nor no" if said else "no line inDegrees=yes or no"
    warn(
        f"{path.name} has {what}; taken as {'degrees' if taken else 'radians'}, as OpenSim does. "
        "Say degrees=True or False"
    )
    return taken


def _numpy(path: Path, degrees: bool | None) -> Table:
    import zlib
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(path) as archive:
            whole, packed = sum(part.file_size for part in archive.infolist()), path.stat().st_size
        bomb = whole > LARGE and whole > DENSEST * packed
        data = np.load(path, allow_pickle=False)
        parts = {} if bomb else {name: data[name] for name in data.files}
    except FileNotFoundError:
        raise
    # a damaged archive fails in many ways
    except (
        ValueError,
        EOFError,
        BadZipFile,
        zlib.error,
        OSError,
        RuntimeError,
        KeyError,
        AttributeError,
        MemoryError,
        OverflowError,
    ):
        raise DescriptionError(
            f"{path.name}: this is no .npz file, or it is damaged or cut off; Table.save writes them"
        ) from None
    data.close()
    if bomb:
        raise DescriptionError(
            f"{path.name}: {packed / 1e6:.3g} MB that unpack to {whole / 1e9:.3g} GB; no table is like that"
        )
    missing = {"time", "names", "values"} - set(parts)
    if missing:
        raise DescriptionError(
            f"{path.name}: not written by Table.save: it has no {', '.join(sorted(missing))}"
        )
    for name in ("time", "values"):
        if parts[name].dtype.kind not in "fiu":
            raise DescriptionError(f"{path.name}: {name}: expected numbers, got {parts[name].dtype}")
    units = parts["units"].tolist() if "units" in parts else None
    if degrees is None and "degrees" in parts:
        degrees = bool(parts["degrees"])
    table = Table(
        parts["time"],
        parts["names"].tolist(),
        parts["values"],
        units,
        degrees=degrees,
        over=str(parts.get("over", TIME)),
        datatype=str(parts.get("datatype", "double")),
    )
    if wrong := disorder(table.time, table.over):
        raise DescriptionError(f"{path.name}: row {wrong[0]}: {wrong[1]}")
    return table
