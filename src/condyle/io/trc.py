"""Markers from and to .trc files, the text format of motion capture.

    PathFileType  4  (X/Y/Z)  walk.trc
    DataRate  CameraRate  NumFrames  NumMarkers  Units  OrigDataRate  OrigDataStartFrame  OrigNumFrames
    60.00  60.00  150  2  mm  60.00  1  150
    Frame#  Time  RASI      LASI
                  X1  Y1  Z1  X2  Y2  Z2

    1  0.0  608.6  1072.7  157.4  ...

Cells are separated by tabs. Read leniently, since many programs write such files: fewer keys, blank lines,
one tab or three after a name, rows that end early, empty cells, decimal commas. Warnings report what is
unusual; errors name the line that cannot be read.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np

import condyle.files as files
from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.io.number_parser import plain_numbers
from condyle.io.tables import is_number, lines_of, no_number, number
from condyle.records import dataclass
from condyle.table import LENGTHS, distinct

_SAID = {
    "meter": "m",
    "meters": "m",
    "metre": "m",
    "metres": "m",
    "centimeter": "cm",
    "centimeters": "cm",
    "centimetre": "cm",
    "centimetres": "cm",
    "millimeter": "mm",
    "millimeters": "mm",
    "millimetre": "mm",
    "millimetres": "mm",
}
Split: TypeAlias = Callable[[str], list[str]]
HEAD = 1 << 16
"""Most bytes of titles in a file that is read at once."""
_KEYS = (
    "DataRate",
    "CameraRate",
    "NumFrames",
    "NumMarkers",
    "Units",
    "OrigDataRate",
    "OrigDataStartFrame",
    "OrigNumFrames",
)


@dataclass
class Contents:
    """Contents of a marker file.

    Attributes:
        time: [s], shape (T,).
        names: of the markers.
        values: positions in the file's units, shape (T, n, 3), NaN where missing.
        units: "m", "cm" or "mm"; empty if the file does not say.
        rate: frames per second; None if the file does not say.
        notes: remarks on what is unusual.
    """

    time: Array
    names: list[str]
    values: Array
    units: str
    rate: float | None
    notes: list[str]


def unit_of(said: str, where: str) -> str:
    """m, cm or mm, from the unit in a file."""
    text = said.strip().strip('"').lower()
    unit = _SAID.get(text, text)
    if unit and unit not in LENGTHS:
        raise DescriptionError(
            f"{where}: Units {said!r}: expected m, cm or mm; say units= if it means one of them"
        )
    return unit


def read(path: Path, said: str = "") -> Contents:
    """Contents of a .trc file.

    Args:
        path: the file.
        said: units that override those in the file.
    """
    plain = _plain_rows(path, said)
    if plain is not None:
        return plain
    lines, notes = lines_of(path)
    header, units, names, first, split = _titles(lines, path.name, said, notes)
    rows = [(i + 1, line) for i, line in enumerate(lines[first:], first) if line.strip()]
    del lines
    values = _numbers(rows, names, split, path.name, notes)
    time = values[:, 1]
    bad = np.flatnonzero(~np.isfinite(time))
    if bad.size:
        raise DescriptionError(f"{path.name}: line {rows[bad[0]][0]}: the time is missing")
    late = np.flatnonzero(np.diff(time) <= 0)
    if late.size:
        raise DescriptionError(
            f"{path.name}: line {rows[late[0] + 1][0]}: times must increase, "
            f"{time[late[0] + 1]:g} follows {time[late[0]]:g}"
        )
    return _contents(values, names, header, units, path.name, notes)


def _plain_rows(path: Path, said: str) -> Contents | None:
    """Contents of a file whose rows are plain numbers between tabs; None of any other, which is read line by line."""
    if path.is_dir():
        return None
    text = path.read_bytes()
    head = text[:HEAD].split(b"\n")[:-1]
    if not text.endswith(b"\n") or text.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return None
    try:
        lines = [line.decode().removesuffix("\r") for line in head]
        notes = list[str]()
        header, units, names, first, split = _titles(lines, path.name, said, notes)
    except (UnicodeDecodeError, DescriptionError):  # reported for the whole file
        return None
    if split is not _tabs or first >= len(lines) or any("\r" in line for line in lines):
        return None
    start = sum(len(line) + 1 for line in head[:first])
    values = plain_numbers(text, start, 2 + 3 * len(names), "\t", gaps=True)
    if values is None or not len(values) or not (np.diff(values[:, 1], prepend=-np.inf) > 0).all():
        return None
    return _contents(values, names, header, units, path.name, notes)


def _titles(
    lines: list[str], file: str, said: str, notes: list[str]
) -> tuple[dict[str, str], str, list[str], int, Split]:
    """The header, units, names of markers, the first line after them, and how lines split into cells."""
    at = next((i for i, line in enumerate(lines) if line.strip().lower().startswith("frame")), None)
    if at is None:
        raise DescriptionError(
            f"{file}: no line 'Frame# Time ...' with the names of markers: is it a .trc file, and whole?"
        )
    header = _header(lines[:at])
    units = said or unit_of(header.get("units", ""), file)
    split: Split = _tabs if "\t" in lines[at].strip() else str.split
    names, first = _names(lines, at, split, file, notes)
    return header, units, names, first, split


def _contents(
    values: Array, names: list[str], header: dict[str, str], units: str, file: str, notes: list[str]
) -> Contents:
    """Of rows of frame, time and places."""
    places = values[:, 2:].reshape(len(values), len(names), 3)
    _check(places, names, header, file, notes)
    stated = header.get("datarate", "").replace(",", ".")
    rate = number(stated) if is_number(stated) else math.nan
    return Contents(
        values[:, 1], distinct(names), places, units, rate if 0 < rate < math.inf else None, notes
    )


def _tabs(line: str) -> list[str]:
    return [c.strip() for c in line.rstrip("\r\n").split("\t")]


def _header(lines: list[str]) -> dict[str, str]:
    """Keys in lower case, from a line of them and one of their values."""
    for keys, values in itertools.pairwise(lines):
        if re.search(r"\b(DataRate|NumMarkers|Units)\b", keys, re.IGNORECASE):
            return dict(zip((k.lower() for k in keys.split()), values.split(), strict=False))
    return {}


def _names(lines: list[str], at: int, split: Split, file: str, notes: list[str]) -> tuple[list[str], int]:
    """Names of markers, and the first line after the titles."""
    cells = split(lines[at])[2:]
    while cells and not cells[-1]:
        cells.pop()
    first = at + 1
    while first < len(lines) and not lines[first].strip():
        first += 1
    axes = lines[first].split() if first < len(lines) else []
    count = None
    if axes and re.fullmatch(r"[A-Za-z]+\d*", axes[0]) and not is_number(axes[0]):
        count, first = len(axes) // 3, first + 1
        if len(axes) % 3:
            raise DescriptionError(
                f"{file}: line {first}: {len(axes)} titles of axes; each marker has three, X1 Y1 Z1"
            )
    names = [c for c in cells if c]
    apart = all(not c for k, c in enumerate(cells) if k % 3)
    if apart and count is not None and count >= -(-len(cells) // 3) and count != len(names):
        slots = [cells[3 * k] if 3 * k < len(cells) else "" for k in range(count)]
        names = [name or f"unnamed{k + 1}" for k, name in enumerate(slots)]
        notes.append(
            f"{file}: line {at + 1}: {slots.count('')} of {count} markers have no name; called "
            f"{', '.join(n for n, c in zip(names, slots, strict=True) if not c)[:80]}"
        )
    if count is not None and count != len(names):
        raise DescriptionError(
            f"{file}: line {at + 1}: {len(names)} names of markers, but the line below has axes of {count}"
        )
    if not names:
        raise DescriptionError(f"{file}: line {at + 1}: no names of markers after 'Frame#' and 'Time'")
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        notes.append(
            f"{file}: line {at + 1}: {', '.join(twice)[:80]} occur more than once; later ones get a number"
        )
    return names, first


def _numbers(
    rows: list[tuple[int, str]], names: list[str], split: Split, file: str, notes: list[str]
) -> Array:
    """All cells of the rows, shape (T, 2 + 3 n), NaN where there is none."""
    width = 2 + 3 * len(names)
    text = [line for _, line in rows]
    commas = any("," in line for line in text)
    if commas and any("." in line for line in text):
        place, line = next((p, t) for p, t in rows if "," in t)
        cell = next(c for c in split(line) if "," in c)
        raise DescriptionError(
            f"{file}: line {place}: {cell[:40]!r} is no number: commas and points are "
            "both in this file. Decimals are written with one of them, thousands with "
            "neither"
        )
    if commas:
        notes.append(f"{file}: its decimals have commas; read as points")
        text = [line.replace(",", ".") for line in text]
    plain = _plain(text, width)
    if plain is not None:
        return plain
    out = np.full((len(rows), width), np.nan)
    short = []
    for k, ((place, _), line) in enumerate(zip(rows, text, strict=True)):
        cells = split(line)
        while len(cells) > width and not cells[-1]:
            cells.pop()
        if len(cells) > width:
            raise DescriptionError(
                f"{file}: line {place}: {len(cells)} cells, but {len(names)} markers have "
                f"{width} with frame and time"
            )
        if len(cells) < width:
            short.append(place)
        try:
            out[k, : len(cells)] = [number(c) for c in cells]
        except ValueError:
            j = next(j for j, c in enumerate(cells) if not is_number(c))
            what = "frame" if j == 0 else "time" if j == 1 else f"marker {names[(j - 2) // 3]!r}"
            raise DescriptionError(f"{file}: line {place}, {what}: {no_number(cells[j])}") from None
    if short and split is str.split:
        raise DescriptionError(
            f"{file}: line {short[0]}: fewer numbers than the {len(names)} markers need, "
            "and no tabs that would say which are missing"
        )
    if short:
        notes.append(
            f"{file}: {len(short)} rows end early, first in line {short[0]}; the markers that they "
            "lack are missing"
        )
    return out


def _plain(text: list[str], width: int) -> Array | None:
    """All numbers at once by NumPy's reader; None where some row is odd."""
    filled = []
    for line in text:
        while line.count("\t") >= width and line.endswith("\t"):
            line = line[:-1]
        if line.endswith("\t"):
            line += "nan"
        filled.append(line.replace("\t\t", "\tnan\t").replace("\t\t", "\tnan\t"))
    if not filled:
        return None
    try:
        out = np.loadtxt(filled, delimiter="\t", comments=None, ndmin=2)
    except (ValueError, OverflowError, MemoryError):
        return None
    return out if out.shape == (len(text), width) and not np.isinf(out).any() else None


def _check(places: Array, names: list[str], header: dict[str, str], file: str, notes: list[str]) -> None:
    """Report unusual positions (T, n, 3), and mark incomplete ones as missing."""
    if np.isinf(places).any():
        raise DescriptionError(
            f"{file}: marker {names[np.argwhere(np.isinf(places))[0][1]]!r} is infinitely far"
        )
    half = np.isnan(places).any(axis=2) & ~np.isnan(places).all(axis=2)
    if half.any():
        worst = [names[k] for k in np.flatnonzero(half.any(axis=0))]
        notes.append(
            f"{file}: of {', '.join(worst)[:80]} one or two coordinates are missing in "
            f"{int(half.sum())} places, which are taken as missing whole"
        )
        places[half] = np.nan
    for key, found, what in (("numframes", len(places), "frames"), ("nummarkers", len(names), "markers")):
        said = header.get(key, "")
        if said.isdigit() and int(said) != found:
            cut = " It may be cut off." if found < int(said) else ""
            notes.append(f"{file}: the header says {said} {what}, there are {found}.{cut}")


def write(path: Path, time: Array, names: tuple[str, ...], values: Array, units: str, rate: float) -> None:
    """Write a .trc file, which OpenSim reads too.

    Args:
        path: where.
        time: [s], shape (T,).
        names: of the markers.
        values: in `units`, shape (T, n, 3); NaN where missing.
        units: "m", "cm" or "mm".
        rate: frames per second.
    """
    odd = next((n for n in names if not n.strip() or re.search(r"[\t\r\n]", n)), None)
    if odd is not None:
        raise DescriptionError(
            f"Markers.save: {odd!r}: names in a .trc file are not empty and have no tabs: rename it"
        )
    said = (rate, rate, len(time), len(names), units, rate, 1, len(time))
    axes = [f"{axis}{k + 1}" for k in range(len(names)) for axis in "XYZ"]
    flat = values.reshape(len(time), 3 * len(names)).tolist()
    rows = [
        "\t".join([str(k + 1), repr(t), *("" if x != x else repr(x) for x in row), ""])
        for k, (t, row) in enumerate(zip(time.tolist(), flat, strict=True))
    ]
    head = [
        "\t".join(["PathFileType", "4", "(X/Y/Z)", path.name]),
        "\t".join(_KEYS),
        "\t".join(str(x) if not isinstance(x, float) else repr(x) for x in said),
        "\t".join(["Frame#", "Time", *(f"{n}\t\t" for n in names)]),
        "\t".join(["", "", *axes, ""]),
        "",
    ]
    with files.atomic_write(path, "w", newline="", encoding="utf-8") as file:
        file.write("\n".join([*head, *rows, ""]))
