"""Markers: positions of named points over time, from files of motion capture."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

import condyle.files as files
from condyle.arguments import ExplainsCalls, with_call_hints
from condyle.arrays import Array, gaps
from condyle.errors import DescriptionError, ShapeError, UnknownNameError, warn
from condyle.io import trc
from condyle.io.tables import read_table
from condyle.presentation import Block, Display, cut, number, page, span
from condyle.table import LENGTHS, Table, rows_in

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]

    from condyle.table.plots import AxesLike, PlotOptions

_AXES = (
    ("_x", "_y", "_z"),
    ("_X", "_Y", "_Z"),
    ("_1", "_2", "_3"),
    (".x", ".y", ".z"),
    (":X", ":Y", ":Z"),
    (":x", ":y", ":z"),
)
_UPWARDS = {
    "x": (0, -1, 0, 1, 0, 0, 0, 0, 1),
    "y": (1, 0, 0, 0, 1, 0, 0, 0, 1),
    "z": (1, 0, 0, 0, 0, 1, 0, -1, 0),
}
"""Rotations that make an axis y, row by row."""
FEW, NEAR = 3, 10.0
"""This many markers, all nearer to the origin than this many cm or mm, are likely in meters."""


class Markers(ExplainsCalls, Display):
    """Positions of markers over time. `markers["RASI"]` is one marker, shape (T, 3); `markers[["RASI",
    "LASI"]]` are the Markers of some, `markers[2:10]` those of some frames, `markers[0.5:1.2]`, by floats,
    those of a time range [s].

    Args:
        time: [s], shape (T,), increasing.
        names: of the markers, all different.
        positions: in `units`, shape (T, n, 3); NaN where a marker is missing.
        units: of the given positions, "m", "cm" or "mm"; also of the .trc and .c3d files that `save` writes.
        rate: frames per second; from the times by default.

    Attributes:
        positions: [m], whatever the units are.

    Raises:
        ShapeError: shapes that do not fit, times that do not increase, or names that occur twice.
    """

    elsewhere: ClassVar[dict[str, str]] = {
        "values": "markers.positions",
        "shape": "markers.positions.shape",
        "columns": "markers.names",
        "write": "markers.save('walk.trc')",
        "to_csv": "markers.save('walk.csv')",
    }

    def __init__(
        self,
        time: ArrayLike,
        names: Sequence[str],
        positions: ArrayLike,
        *,
        units: str = "m",
        rate: float | None = None,
    ) -> None:
        try:
            self.time, self.positions = np.array(time, dtype=float), np.array(gaps(positions), dtype=float)
        except (TypeError, ValueError) as error:
            raise ShapeError(f"Markers: time and positions must be numbers: {error}") from None
        self.names = (names,) if isinstance(names, str) else tuple(names)
        if not all(isinstance(name, str) for name in self.names):
            raise ShapeError(f"Markers: names are text, got {self.names}")
        if self.time.ndim != 1 or self.positions.shape != (self.time.size, len(self.names), 3):
            raise ShapeError(
                f"Markers: time of shape (T,) and {len(self.names)} names need positions of "
                f"shape (T, {len(self.names)}, 3), got time {self.time.shape} and positions "
                f"{self.positions.shape}"
            )
        twice = sorted({name for name in self.names if self.names.count(name) > 1})
        if twice:
            raise ShapeError(f"Markers: every marker needs a name of its own, got {twice} more than once")
        if not np.isfinite(self.time).all() or (np.diff(self.time) <= 0).any():
            raise ShapeError("Markers: times must be finite and increase")
        if np.isinf(self.positions).any():
            raise ShapeError("Markers: positions are finite, or NaN where a marker is missing")
        if units not in LENGTHS:
            raise DescriptionError(f"Markers: units: expected 'm', 'cm' or 'mm', got {units!r}")
        self.units = units
        if units != "m":
            self._warn_of_meters()
            self.positions /= LENGTHS[units]
        steps = len(self.time) - 1
        self.rate = rate if rate is not None else float(steps / np.ptp(self.time)) if steps > 0 else 1.0

    def _warn_of_meters(self) -> None:
        """Warn of numbers so small, in cm or mm, that they are likely in meters."""
        far = np.fmax.reduce(np.abs(self.positions), axis=None, initial=0.0)
        if len(self.names) >= FEW and 0 < far < NEAR:
            warn(
                f"Markers: all {len(self.names)} markers are within {far:.3g} {self.units} of the origin; "
                "are these meters? units= is the unit of the positions given, or of those in the file"
            )

    @overload
    def __getitem__(self, name: str) -> Array: ...
    @overload
    def __getitem__(self, name: slice | list[str]) -> Markers: ...

    def __getitem__(self, name: str | slice | list[str]) -> Array | Markers:
        if isinstance(name, slice):
            rows = rows_in(name, self.time)
            return self._like(self.time[rows], self.names, self.positions[rows])
        if isinstance(name, list):
            return self._like(self.time, name, self.positions[:, [self._index(n) for n in name]])
        return self.positions[:, self._index(name)]

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise UnknownNameError(
                "marker",
                name,
                self.names,
                "markers go by name, markers['RASI'], several "
                "by a list of names; frames by a slice, markers[2:10], or by "
                "times, markers[0.5:1.2]",
            )
        return self.names.index(name)

    def _like(self, time: Array, names: Sequence[str], positions: Array) -> Markers:
        return _in_meters(time, names, positions, self.units, self.rate)

    @property
    def t(self) -> Array:
        """The same as `time`."""
        return self.time

    @property
    def missing(self) -> dict[str, int]:
        """Number of missing frames of each marker that has any."""
        count = np.isnan(self.positions[:, :, 0]).sum(axis=0)
        return {name: int(n) for name, n in zip(self.names, count, strict=True) if n}

    def between(self, start: float, end: float) -> Markers:
        """Frames of a time.

        Args:
            start: first time [s].
            end: last time [s]; frames at both are included.
        """
        return self[float(start) : float(end)]

    def renamed(self, names: Mapping[str, str] | Callable[[str], str]) -> Markers:
        """Markers under other names.

        Args:
            names: `{old: new}`, such as `{"R.ASIS": "RASI"}`, for some; or a function of a name.

        Raises:
            UnknownNameError: a name that no marker has.
        """
        if callable(names):
            return self._like(self.time, [names(name) for name in self.names], self.positions)
        for name in names:
            self._index(name)
        return self._like(self.time, [names.get(name, name) for name in self.names], self.positions)

    def turned(self, rotation: ArrayLike) -> Markers:
        """Markers in other axes.

        Args:
            rotation: shape (3, 3); new positions are `rotation @ old`.
        """
        return self._like(self.time, self.names, self.positions @ rotation_of(rotation, None).T)

    def table(self) -> Table:
        """A Table with columns NAME_x, NAME_y, NAME_z [m]."""
        names = [f"{name}_{axis}" for name in self.names for axis in "xyz"]
        return Table(self.time, names, self.positions.reshape(len(self), -1), ["m"] * len(names))

    @staticmethod
    def from_table(table: Table, *, units: str = "") -> Markers:
        """The Markers of a Table.

        Args:
            table: three columns per marker, NAME_x, NAME_y, NAME_z (or _X.., _1.., .x..), with units m, cm or
                mm; other columns are ignored.
            units: of the numbers in these columns; by default their own.

        Raises:
            DescriptionError: no markers in it, or units that are not known.
        """
        found = [
            tuple(name[:-2] + end for end in ends)
            for name in table.names
            for ends in _AXES
            if name.endswith(ends[0]) and all(name[:-2] + end in table for end in ends)
        ]
        if not found:
            raise DescriptionError(
                "Markers: no columns NAME_x, NAME_y, NAME_z in this table; it has "
                f"{cut(table.names)}. A motion is read by cd.read_table(path)"
            )
        if len(table.time) > 1 and not (np.diff(table.time) > 0).all():
            raise DescriptionError("Markers: the rows of this table are not over increasing times")
        places = np.empty((len(table), len(found), 3))
        kept = set()
        for i, columns in enumerate(found):
            for k, column in enumerate(columns):
                unit = units or table.units[table.names.index(column)]
                if unit not in LENGTHS:
                    raise DescriptionError(
                        f"Markers: column {column!r} is in [{unit}]; positions are in m, cm or mm"
                        if unit
                        else f"Markers: column {column!r} has no unit; if it is the position of a marker, give "
                        "units='m', 'cm' or 'mm'"
                    )
                places[:, i, k] = table[column] / LENGTHS[unit]
                kept.add(unit)
        return _in_meters(
            table.time, [c[0][:-2] for c in found], places, kept.pop() if len(kept) == 1 else "m"
        )

    def to_pandas(self) -> DataFrame:
        """A pandas DataFrame over time, with columns NAME_x, NAME_y, NAME_z [m]."""
        return self.table().to_pandas()

    def plot(self, *names: str, **options: Unpack[PlotOptions]) -> AxesLike:
        """Draw coordinates of markers over time.

        Args:
            names: the markers to draw; by default all.
            options: axes, width, path and degrees, as for `Table.plot`.

        Returns:
            matplotlib's axes; an array of them if there are several panels.
        """
        chosen = [self.names[self._index(n)] for n in names] or self.names
        return self.table().plot(*(f"{n}_{axis}" for n in chosen for axis in "xyz"), **options)

    def save(self, path: str | Path) -> None:
        """Write a file, every number to its last digit, completely or not at all.

        Args:
            path: where to write. Its ending says how: .trc in `markers.units`; .c3d too, in the single
                precision of that format, from time 0; or as `table.save` of `markers.table()`, in meters.

        Raises:
            DescriptionError: a name with another ending, or in a folder that does not exist.
        """
        if not isinstance(path, (str, Path)):
            raise DescriptionError(f"Markers.save: expected the path of a file, got {path!r}")
        path = Path(path)
        if path.suffix.lower() == ".c3d":
            from condyle.io.c3d import write_c3d

            write_c3d(path, self)
            return
        if path.suffix.lower() not in (".trc", ".csv", ".sto", ".mot", ".npz"):
            raise DescriptionError(
                f"Markers.save: {path.name!r}: the name must end in .trc, .c3d, .csv, "
                ".sto, .mot or .npz: save('markers.trc')"
            )
        if path.suffix.lower() != ".trc":
            self.table().save(path)
            return
        files.check_target(path, "Markers.save")
        trc.write(
            path, self.time, self.names, scaled(self.positions, LENGTHS[self.units]), self.units, self.rate
        )

    def __len__(self) -> int:
        return len(self.time)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def _named(self, name: str) -> str:
        return f"markers[{name!r}]" if name in self.names else ""

    def __repr__(self) -> str:
        gone = self.missing
        lost = f"; missing in some frames: {cut(f'{n} ({k})' for n, k in gone.items())}" if gone else ""
        return f"Markers({len(self)} frames{span(self.time)}: {cut(self.names)}{lost})"

    def _repr_html_(self) -> str:
        gone = self.missing
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of markers that are never seen
            mean = np.nanmean(self.positions, axis=0) if len(self) else np.full((len(self.names), 3), np.nan)
        rows = [
            [name, *map(number, p), str(gone.get(name, 0))] for name, p in zip(self.names, mean, strict=True)
        ]
        title = f"Markers({len(self)} frames{span(self.time)}: {len(self.names)})"
        return page(title, Block("", ["marker", "mean x [m]", "y", "z", "missing frames"], rows))


def _in_meters(
    time: Array, names: Sequence[str], positions: Array, units: str, rate: float | None = None
) -> Markers:
    """Markers of positions [m], with the unit of their files."""
    markers = Markers(time, names, positions, rate=rate)
    markers.units = units
    return markers


def scaled(positions: Array, scale: float) -> Array:
    """Numbers that give positions [m] when divided by a scale: exactly where such numbers exist, as for all
    positions from a file of that unit; the shortest where there is a choice.
    """
    rough = positions * scale
    out = rough.copy()
    for better in (
        np.nextafter(rough, -np.inf),
        np.nextafter(rough, np.inf),
        rough,
        np.round(rough, 9),
        np.round(rough, 6),
    ):
        out = np.where(better / scale == positions, better, out)
    return out


def rotation_of(rotate: ArrayLike | None, vertical: str | None) -> Array:
    """R that rotates the contents of a file.

    Args:
        rotate: shape (3, 3), or None.
        vertical: "x", "y", "z", perhaps after a minus: the file's axis that points up, which becomes y; or
            None.
    """
    if rotate is not None and vertical is not None:
        raise DescriptionError("give rotate= or vertical=, not both")
    if vertical is not None:
        text = str(vertical).lower().removeprefix("+")
        if text.removeprefix("-") not in _UPWARDS:
            raise DescriptionError(
                f"vertical: expected the file's axis that points up, 'x', 'y' or 'z', or "
                f"'-z', got {vertical!r}"
            )
        R = np.reshape(_UPWARDS[text[-1]], (3, 3)).astype(float)
        return np.diag([1.0, -1.0, -1.0]) @ R if text.startswith("-") else R
    if rotate is None:
        return np.eye(3)
    try:
        R = np.asarray(rotate, dtype=float)
    except (TypeError, ValueError):
        R = np.empty((0, 0))
    if R.shape != (3, 3) or not np.allclose(R @ R.T, np.eye(3), atol=1e-9) or np.linalg.det(R) < 0:
        raise DescriptionError(f"rotate: expected a rotation matrix of shape (3, 3), got {rotate!r}")
    return R


@with_call_hints({"up": "it is vertical=, the file's axis that points up, which becomes y"})
def read_markers(
    path: str | Path,
    *,
    units: str | None = None,
    vertical: str | None = None,
    rotate: ArrayLike | None = None,
    zeros: str = "warn",
) -> Markers:
    """Markers from a file.

    Args:
        path: .trc, .c3d (with ezc3d: `pip install "condyle[c3d]"`), an export of Vicon Nexus (.csv), Qualisys
            (.tsv), OptiTrack Motive (.csv) or Visual3D (.txt, .tsv), or a table with columns NAME_x, NAME_y, NAME_z, or NAME:X, NAME:Y,
            NAME:Z (.csv, .npz, .sto, .mot) or cells of three numbers (.sto).
        units: "m", "cm" or "mm", of the positions in the file; by default those that it states. A file
            without units is refused.
        vertical: the file's axis that points up, "x", "y" or "z" (or "-z"): everything is rotated so that it
            becomes y, OpenSim's vertical. By default nothing is rotated.
        rotate: a rotation matrix for everything instead.
        zeros: markers at exactly (0, 0, 0), as some programs write lost ones: "warn" and keep them, "keep",
            or "missing".

    Returns:
        the Markers, in meters.

    Raises:
        DescriptionError: a file that cannot be read, with its line.
        FileNotFoundError: no such file.
    """
    if not isinstance(path, (str, Path)):
        raise DescriptionError(f"read_markers: expected the path of a file, got {path!r}")
    if units is not None and units not in LENGTHS:
        raise DescriptionError(f"read_markers: units: expected 'm', 'cm' or 'mm', got {units!r}")
    if zeros not in ("warn", "keep", "missing"):
        raise DescriptionError(f"read_markers: zeros: expected 'warn', 'keep' or 'missing', got {zeros!r}")
    path = Path(path)
    R = rotation_of(rotate, vertical)
    markers = _read(path, units)
    if not np.array_equal(R, np.eye(3)):
        markers = markers.turned(R)
    lost = (markers.positions == 0).all(axis=2)
    if lost.any() and zeros == "missing":
        markers.positions[lost] = np.nan
    elif lost.any() and zeros == "warn":
        names = [markers.names[k] for k in np.flatnonzero(lost.any(axis=0))]
        warn(
            f"{path.name}: {cut(names)} {'is' if len(names) == 1 else 'are'} at exactly (0, 0, 0) "
            f"in {int(lost.any(axis=1).sum())} frames, as some programs write lost markers: say "
            "zeros='missing', or zeros='keep' if they were there"
        )
    return markers


def _read(path: Path, units: str | None) -> Markers:
    ending = path.suffix.lower()
    if ending == ".c3d":
        from condyle.io.c3d import markers_of

        return markers_of(path, units)
    if ending == ".trc":
        found = trc.read(files.existing(path), units or "")
        for note in found.notes:
            warn(note)
        if not found.units:
            raise DescriptionError(f"{path.name}: it does not say its Units; say units='mm', 'cm' or 'm'")
        return Markers(found.time, found.names, found.values, units=found.units, rate=found.rate)
    if ending in (".csv", ".tsv", ".txt"):
        from condyle.io.exports import read_export

        made = read_export(files.existing(path))
        if made is not None:
            if not (units or made.units):
                raise DescriptionError(f"{path.name}: it does not say its units; say units='mm', 'cm' or 'm'")
            return Markers(made.time, made.names, made.positions, units=units or made.units, rate=made.rate)
    if ending in (".csv", ".tsv", ".npz", ".sto", ".mot"):
        table = read_table(path, degrees=False)
        try:
            return Markers.from_table(table, units=units or "")
        except DescriptionError as error:
            raise DescriptionError(f"{path.name}: {error}") from None
    raise DescriptionError(
        f"read_markers: {str(path)!r}: expected a file that ends in .trc or .c3d, or in "
        ".csv, .npz, .sto with columns NAME_x, NAME_y, NAME_z"
    )
