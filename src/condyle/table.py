"""Table: named columns over time, with units."""
from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NoReturn, overload

import numpy as np
from numpy.typing import ArrayLike

import condyle.files as files
from condyle.arguments import spoken
from condyle.arrays import Array, gaps
from condyle.errors import DescriptionError, ShapeError, UnknownNameError, warn
from condyle.presentation import Block, Display, cut, page, rows_of, span
from condyle.quality import Quality


def distinct(names: Sequence[str]) -> list[str]:
    """The names; those that occur twice get a number at their end, so that they can be columns of one
    Table."""
    out: list[str] = []
    taken = {"time"}
    for name in names:
        k, new = 1, name
        while new in taken:
            k, new = k + 1, f"{name} {k + 1}"
        out.append(new)
        taken.add(new)
    return out


def save_all(who: str, tables: Mapping[str, Table], folder: str | Path, ending: str) -> list[Path]:
    """Write several Tables into a folder, NAME.ENDING each; returns the files.

    Raises:
        DescriptionError: no such folder, an ending that is not known.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise DescriptionError(f"{who}.save: there is no folder {str(folder)!r}; make it first. Its Tables "
                               "have a save() of their own for single files")
    files = [folder / f"{name}.{ending.removeprefix('.')}" for name in tables]
    for file, table in zip(files, tables.values(), strict=True):
        table.save(file)
    return files


def titles(names: Sequence[str], units: Sequence[str]) -> list[str]:
    """Names with their units."""
    return [f"{name} [{unit}]" if unit else name for name, unit in zip(names, units, strict=True)]


def split_title(title: str) -> tuple[str, str]:
    """Name and unit of a title such as 'knee [rad]'; 'bar[0]' is a name."""
    match = re.fullmatch(r"(.*\S)\s*\[(?!\d+\])([^\[\]]*)\]", title)
    return (match[1], match[2]) if match else (title, "")


TIME = "time [s]"
NUMBERED = ("frame", "trial")
"""What rows may be over."""

_OTHERS = {
    ".xlsx": "A spreadsheet opens .csv, or use table.to_pandas().to_excel(path)",
    ".parquet": "Use table.to_pandas().to_parquet(path)",
    ".npy": "Use numpy.save(path, table.values)",
    ".mat": "Use scipy.io.savemat(path, {name: table[name] for name in table})"}


def is_frame(value: Any) -> bool:
    """Whether a value is a pandas DataFrame, which need not be installed."""
    return all(hasattr(type(value), name) for name in ("iloc", "attrs", "columns"))


class Table(Display):
    """Named columns over time. `table["knee"]` is a column, shape (m,); `table[["hip", "knee"]]` a Table of
    some columns, `table[2:10]` one of fewer rows.

    Args:
        time: [s], shape (m,).
        names: name of each column, all different.
        values: shape (m, columns).
        units: unit of each column; it may be empty.
        status: how the computation ended that gave it.
        degrees: whether angles are in degrees, where a file said so.
        over: what `time` is, where rows are not over time: "frame" or "trial" if they are numbered.
        datatype: OpenSim's name of what stood in a cell of a file, such as "Vec3" or "Quaternion", whose
            columns are NAME_1, NAME_2, ...; .sto files are written so again.
        quality: how good the result is that it holds; nothing was checked by default.

    Raises:
        ShapeError: shapes that do not fit, or names that occur twice.
    """

    elsewhere: ClassVar[dict[str, str]] = {
        "to_csv": "table.save('run.csv')", "columns": "table.names", "index": "table.time",
        "shape": "table.values.shape", "mean": "of the array: table.values.mean(axis=0)",
        "iloc": "table[2:10] for rows",
        "loc": "table['knee'] for a column", "to_numpy": "table.values",
        **dict.fromkeys(("write", "to_sto", "to_mot", "to_file"), "table.save('run.sto'), or .mot, .csv"),
        "head": "table[:5], the first rows", "tail": "table[-5:], the last rows"}

    def __init__(self, time: ArrayLike, names: Sequence[str], values: ArrayLike,
                 units: Sequence[str] | None = None, *,
                 status: str = "finished", degrees: bool | None = None, over: str = TIME,
                 datatype: str = "double", quality: Quality | None = None) -> None:
        try:
            self.time, self.values = np.array(time, dtype=float), np.array(gaps(values), dtype=float)
        except (TypeError, ValueError) as error:
            raise ShapeError(f"Table: time and values must be numbers: {error}") from None
        names = (names,) if isinstance(names, str) else tuple(names)
        if isinstance(units, str) and len(names) != 1:
            raise ShapeError(f"Table: units: expected one per column, {[units] * min(len(names), 2)} for the "
                             f"first {min(len(names), 2)} of {len(names)}, got {units!r}; [{units!r}] * "
                             f"{len(names)} is the same for all")
        units = (units,) if isinstance(units, str) else units
        self.names, self.units = names, tuple(units if units is not None else [""] * len(names))
        self.status = status
        self._quality = quality
        if degrees is not None and not isinstance(degrees, (bool, np.bool_)):
            raise DescriptionError(f"Table: degrees: expected True, False or None, got {degrees!r}")
        self.degrees, self.over, self.datatype = degrees, over, datatype
        if over not in (TIME, *NUMBERED):
            raise ShapeError(f"Table: over: expected one of {(TIME, *NUMBERED)}, got {over!r}")
        if not {*map(type, self.names), *map(type, self.units)} <= {str} and not all(
                isinstance(name, str) for name in (*self.names, *self.units)):
            raise ShapeError(f"Table: names and units are text, got {self.names} and {self.units}")
        if len(self.units) != len(self.names):
            raise ShapeError(f"Table: {len(self.names)} names {self.names} need as many units, got "
                             f"{len(self.units)}: {self.units}")
        if self.time.ndim != 1 or self.values.shape != (self.time.size, len(self.names)):
            raise ShapeError(f"Table: time of shape (m,) and {len(self.names)} names need values of shape "
                             f"(m, {len(self.names)}), got time {self.time.shape} and values "
                             f"{self.values.shape}")
        different = {*self.names, "time", self.over}
        if len(different) < len(self.names) + len({"time", self.over}):
            twice = sorted({name for name in self.names if self.names.count(name) > 1}
                           | ({"time", self.over} & set(self.names)))
            raise ShapeError(f"Table: every column needs a name of its own (and not 'time'), got {twice} "
                             "more than once")

    @overload
    def __getitem__(self, name: str) -> Array: ...
    @overload
    def __getitem__(self, name: slice | list[str]) -> Table: ...

    def __getitem__(self, name: Any) -> Any:
        if isinstance(name, slice):
            return Table(self.time[name], self.names, self.values[name], self.units, status=self.status,
                         degrees=self.degrees, over=self.over, datatype=self.datatype)
        if isinstance(name, list):
            columns = [self[n] if isinstance(n, str) else self._no(n) for n in name]
            units = [self.units[self.names.index(n)] for n in name]
            return Table(self.time, name, np.stack(columns, axis=1) if name else self.values[:, :0], units,
                         status=self.status, degrees=self.degrees, over=self.over)
        if not isinstance(name, str):
            return self._no(name)
        if name not in self.names:
            raise UnknownNameError("column", name, self.names)
        return self.values[:, self.names.index(name)]

    def _no(self, key: Any) -> NoReturn:
        raise UnknownNameError("column", key, self.names,
                               "columns go by name, table['knee'], several by a list of names; rows by a "
                               "slice, table[2:10]; table.values is the array")

    @property
    def quality(self) -> Quality:
        """How good the study's result is that it holds: what was checked, value, guideline and verdict. Of
        a Table that no study made, and of parts of one, nothing was checked."""
        return Quality() if self._quality is None else self._quality

    def check(self) -> Table:
        """Itself, if no row of its `quality` fails.

        Raises:
            QualityError: the worst.
        """
        self.quality.check()
        return self

    @property
    def t(self) -> Array:
        """The same as `time`."""
        return self.time

    def _named(self, name: str) -> str:
        return f"table[{name!r}]" if name in self.names else ""

    def __len__(self) -> int:
        return len(self.time)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __repr__(self) -> str:
        return f"{self._title}\n{self._rows.text()}" if self.values.size else self._title

    def _repr_html_(self) -> str:
        return page(self._title, self._rows, *self.quality.blocks)

    @property
    def _title(self) -> str:
        status = "" if self.status == "finished" else f"; {self.status}"
        status += self.quality.summary
        return (f"Table({len(self)} rows{span(self.time) if self.over == TIME else ''}: "
                f"{cut(self.titles)}{status})")

    @property
    def _rows(self) -> Block:
        return rows_of([self.over, *self.titles], self.time, self.values)

    @property
    def titles(self) -> list[str]:
        """Names with their units."""
        return titles(self.names, self.units)

    def to_pandas(self) -> Any:
        """A pandas DataFrame over time; units are in its `attrs`.

        Raises:
            ImportError: pandas is not installed.
        """
        try:
            import pandas  # type: ignore[import-untyped]
        except ImportError as error:
            raise ImportError("to_pandas() needs pandas, which is not installed: pip install pandas; without "
                              "it table.values, table.names and table.time have the same "
                              "numbers", name="pandas") from error

        frame = pandas.DataFrame(self.values, columns=list(self.names),
                                 index=pandas.Index(self.time, name=split_title(self.over)[0]))
        frame.attrs["units"] = dict(zip(self.names, self.units, strict=True))
        return frame

    @staticmethod
    def from_pandas(frame: Any, degrees: bool | None = None) -> Table:
        """The Table of a pandas DataFrame.

        Args:
            frame: a column per quantity, by name, perhaps with its unit: "knee [rad]". Times [s] are in its
                column "time", or in its index. Units are in its `attrs` too, where `to_pandas` made it.
            degrees: as for `Table`.

        Raises:
            ShapeError: no times, or columns that are not numbers.
        """
        names, known = [str(name) for name in frame.columns], dict(frame.attrs.get("units", {}))
        times = [k for k, name in enumerate(names) if split_title(name)[0].lower() in ("time", "t")]
        if not times and not np.issubdtype(frame.index.dtype, np.floating):
            raise ShapeError(f"Table.from_pandas: no column 'time', and an index of {frame.index.dtype} is "
                             f"no time [s]; its columns: {', '.join(names)}")
        time = frame.iloc[:, times[0]] if times else frame.index
        kept = [k for k in range(len(names)) if k not in times[:1]]
        said = [split_title(names[k]) for k in kept]
        values = np.column_stack([np.empty((len(frame), 0)), *(np.asarray(frame.iloc[:, k]) for k in kept)])
        return Table(np.asarray(time), [name for name, _ in said], values,
                     [known.get(names[k], unit) for k, (_, unit) in zip(kept, said, strict=True)],
                     degrees=degrees)

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draw columns over time.

        Args:
            names: the columns to draw; all, if none is named.
            axes: matplotlib's axes to draw on; new ones by default.

        Returns:
            matplotlib's axes.
        """
        import matplotlib.pyplot as plt

        axes = plt.subplots()[1] if axes is None else axes
        for name in names or self.names:
            axes.plot(self.time, self[name], label=self.titles[self.names.index(name)])
        axes.set_xlabel(self.over)
        axes.legend()
        return axes

    def save(self, path: str | Path) -> None:
        """Write a file, every number to its last digit. It appears whole or not at all.

        What a killed process left of the same table is removed. `cd.read_table` reads what is written.

        Args:
            path: where to write. Its ending says how: .csv, units in the titles; .sto or .mot, OpenSim's;
                .npz, NumPy's.

        Raises:
            DescriptionError: a name with another ending, or in a folder that does not exist.
        """
        if not isinstance(path, (str, Path)):
            raise DescriptionError(f"Table.save: expected the path of a file, got {path!r}")
        path = Path(path)
        ending = path.suffix.lower()
        if not path.parent.is_dir():
            raise DescriptionError(f"Table.save: {str(path)!r}: there is no folder {str(path.parent)!r}; "
                                   "make it first")
        if path.is_dir():
            raise DescriptionError(f"Table.save: {str(path)!r} is a folder; give the name of a file")
        if ending not in (".csv", ".sto", ".mot", ".npz"):
            wanted, hint = f"{path.stem or 'run'}.csv", _OTHERS.get(ending, "")
            raise DescriptionError(f"Table.save: {path.name!r}: the name must end in .csv, .sto, .mot or "
                                   f".npz: save({wanted!r}). {hint}".rstrip())
        if ending == ".npz":
            parts: dict[str, Any] = {"time": self.time, "names": np.array(self.names, dtype=str),
                                     "values": self.values,
                                     "units": np.array(self.units, dtype=str)}
            if self.over != TIME:
                parts["over"] = np.array(self.over)
            if self.degrees is not None:
                parts["degrees"] = np.array(self.degrees)
            if self.datatype != "double":
                parts["datatype"] = np.array(self.datatype)
            with files.whole(path) as file:
                np.savez_compressed(file, **parts)
            return
        if ending == ".csv" and self.degrees and not any(self.units):
            warn(f"Table.save: {path.name!r}: angles are in degrees, which a .csv says in the titles of its "
                 "columns, but which columns are angles is not known here: read it by "
                 "cd.read_table(path, degrees=True), or save as .mot, .sto or .npz")
        with files.whole(path, "w", newline="", encoding="utf-8") as file:
            if ending == ".csv":
                rows = csv.writer(file)
                # a name that ends like a unit keeps an empty one after it
                rows.writerow([self.over, *(f"{title} []" if not unit and split_title(title)[1] else title
                                             for title, unit in zip(self.titles, self.units, strict=True))])
                rows.writerows([repr(x) for x in (t, *row)] for t,
                               row in zip(self.time.tolist(), self.values.tolist()))
            else:
                file.write(self._storage(path.stem))

    def _in_degrees(self) -> bool:
        """What a file of OpenSim's says of its angles: one thing for all of them."""
        degrees, radians = ([n for n, unit in zip(self.names, self.units, strict=True) if unit in known]
                            for known in (("deg", "degrees", "°"), ("rad",)))
        wrong = radians if self.degrees or (self.degrees is None and degrees) else degrees
        if wrong and (degrees or self.degrees is not None):
            said = "degrees" if wrong is radians else "radians"
            raise DescriptionError("Table.save: angles of OpenSim's files are all in one unit, but "
                                   f"{wrong[0]!r} is not in {said} as the others are, or as "
                                   f"degrees={self.degrees} says; convert it, or save as .csv")
        return bool(self.degrees or degrees)

    def _storage(self, name: str) -> str:
        """OpenSim's format."""
        if self.over != TIME:
            raise DescriptionError("Table.save: OpenSim's files have a column of times, and the rows of this "
                                   f"table are over {self.over!r}: save as .csv")
        spaced = [n for n in self.names if not n or re.search(r"\s", n)]
        if spaced:
            raise DescriptionError("Table.save: OpenSim's files separate columns by white space, which is in "
                                   f"{spaced[0]!r}: rename it, or save as .csv")
        names, size = self._vectors()
        newer = [f"DataType={self.datatype if size > 1 else 'double'}", "version=3", "OpenSimVersion=4.5"]
        counted = ["version=1", f"nRows={len(self)}", f"nColumns={1 + len(self.names)}"]
        unit = [f"Units={self.units[0]}"] if size > 1 and self.units[0] and len(set(self.units)) == 1 else []
        head = [name, *(newer if size > 1 or np.isnan(self.values).any() else counted), *unit,
                f"inDegrees={'yes' if self._in_degrees() else 'no'}",      # OpenSim reads NaN in newer alone
                "endheader", "\t".join(["time", *names])]
        cells = [[repr(x) for x in row] for row in self.values.tolist()]
        if size > 1:
            cells = [[",".join(row[k:k + size]) for k in range(0, len(row), size)] for row in cells]
        rows = ["\t".join([repr(t), *row]) for t, row in zip(self.time.tolist(), cells, strict=True)]
        return "\n".join([*head, *rows, ""])

    def _vectors(self) -> tuple[list[str], int]:
        """Names of the columns of a file whose cells are vectors, and numbers in a cell: 1 where columns are
        no longer those of `datatype`."""
        size = {"unitvec3": 3, "quaternion": 4, "spatialvec": 6}.get(self.datatype.lower()) or int(
            re.sub(r"\D", "", self.datatype) or 1)
        names = [n.removesuffix("_1") for n in self.names[::size]]
        if size > 1 and self.names == tuple(f"{n}_{k + 1}" for n in names for k in range(size)):
            return names, size
        return list(self.names), 1


spoken(Table)
