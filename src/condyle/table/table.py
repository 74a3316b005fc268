"""Table: named columns over time, with units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

import condyle.files as files
from condyle.arguments import ExplainsCalls
from condyle.arrays import Array, gaps
from condyle.errors import DescriptionError, ShapeError, UnknownNameError, check_name, warn
from condyle.presentation import Block, Display, cut, page, rows_of, span
from condyle.quality import Quality
from condyle.table.dataframes import UnitsOf, with_kept_units
from condyle.table.reshaped import Reshaped
from condyle.table.rows import NUMBERED, TIME, disorder, last_rows, rows_in, seconds
from condyle.table.titles import split_title, titles
from condyle.table.units import scaled, si

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame  # type: ignore[import-untyped]

    from condyle.table.plots import AxesLike


def save_all(who: str, tables: Mapping[str, Table], folder: str | Path, ending: str) -> list[Path]:
    """Write several Tables into a folder, NAME.ENDING each; returns the files.

    Raises:
        DescriptionError: no such folder, an ending that is not known.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise DescriptionError(
            f"{who}.save: there is no folder {str(folder)!r}; make it first. Its Tables "
            "have a save() of their own for single files"
        )
    files = [folder / f"{name}.{ending.removeprefix('.')}" for name in tables]
    for file, table in zip(files, tables.values(), strict=True):
        table.save(file)
    return files


NONE = np.empty(0, dtype=np.intp)
SAME = 1e-6
"""A column jumps if it differs by more before and after an event, relative to its size or 1."""


def after_events(what: str, table: Table, steady: NDArray[np.intp] = NONE, *, curve: bool = True) -> Table:
    """A Table with one row per time: of the two rows at an event, before and after it, the second is kept.

    Args:
        what: name of the table in messages.
        steady: columns that may not jump at events.
        curve: warn that curves through the rows are wrong near events.

    Raises:
        ShapeError: a steady column jumps.
    """
    keep = last_rows(table.time)
    if len(keep) == len(table):
        return table
    t, at = table.time, np.setdiff1d(np.arange(len(table)), keep)
    x = table.values[:, steady]
    jumps = np.argwhere(abs(x[at + 1] - x[at]) > SAME * (1 + abs(x[at])))
    if len(jumps):
        i, k = at[jumps[0, 0]], jumps[0, 1]
        raise ShapeError(
            f"{what}: time[{i}] = {t[i]:g} s occurs twice, and {table.names[steady[k]]!r} is "
            f"{x[i, k]:.6g} and then {x[i + 1, k]:.6g}: no curve goes through both. Leave one "
            f"of the rows out, or cut the table there: table[:{i + 1}] and table[{i + 1}:]"
        )
    if curve:
        warn(
            f"{what}: {len(at)} {'row has' if len(at) == 1 else 'rows have'} the time of the next one, the "
            f"first at {t[at[0]]:g} s, as events leave them; the row after the event counts. A curve "
            "through all rows is not right near events; a run itself (a Trajectory) has its own "
            "accelerations"
        )
    return table._with(rows=keep)


_OTHERS = {
    ".xlsx": "A spreadsheet opens .csv, or use table.to_pandas().to_excel(path)",
    ".parquet": "Use table.to_pandas().to_parquet(path)",
    ".npy": "Use numpy.save(path, table.values)",
    ".mat": "Use scipy.io.savemat(path, {name: table[name] for name in table})",
}


class Table(Reshaped, ExplainsCalls, Display):
    """Named columns over time. `table["knee"]` is a column, shape (m,); `table[["hip", "knee"]]` a Table of
    some columns; `table[2:10]` the rows 2 to 9; `table[0.2:0.5]`, by floats, the rows from 0.2 s to 0.5 s,
    both included.

    Where an event of a run changed its state, two rows have the same time, before and after it.

    Args:
        time: [s], shape (m,).
        names: name of each column, all different.
        values: shape (m, columns).
        units: of the values, one per column; may be empty.
        status: how the computation that produced it ended.
        degrees: whether angles are in degrees, if a file states it.
        over: what `time` counts if rows are not over time: "frame", "trial" or "member".
        datatype: OpenSim's name for the cells of a file, such as "Vec3" or "Quaternion", whose columns are
            NAME_1, NAME_2, ...; .sto files are written with them again.
        quality: quality of the result that it holds; empty by default.

    Attributes:
        filled: which numbers `fill_gaps` filled, shape (m, columns); None if none.

    Raises:
        ShapeError: shapes that do not fit, or names that occur twice.
    """

    elsewhere: ClassVar[dict[str, str]] = {
        "to_csv": "table.save('run.csv')",
        "columns": "table.names",
        "index": "table.time",
        "shape": "table.values.shape",
        "mean": "of the array: table.values.mean(axis=0)",
        "iloc": "table[2:10] for rows",
        "loc": "table['knee'] for a column, table[0.2:0.5] for times",
        "to_numpy": "table.values",
        **dict.fromkeys(("write", "to_sto", "to_mot", "to_file"), "table.save('run.sto'), or .mot, .csv"),
        "head": "table[:5], the first rows",
        "tail": "table[-5:], the last rows",
    }

    def __init__(
        self,
        time: ArrayLike,
        names: Sequence[str],
        values: ArrayLike,
        units: Sequence[str] | None = None,
        *,
        status: str = "finished",
        degrees: bool | None = None,
        over: str = TIME,
        datatype: str = "double",
        quality: Quality | None = None,
    ) -> None:
        try:
            self.time, self.values = np.array(time, dtype=float), np.array(gaps(values), dtype=float)
        except (TypeError, ValueError) as error:
            raise ShapeError(f"Table: time and values must be numbers: {error}") from None
        names = (names,) if isinstance(names, str) else tuple(names)
        if isinstance(units, str) and len(names) != 1:
            raise ShapeError(
                f"Table: units: expected one per column, {[units] * min(len(names), 2)} for the "
                f"first {min(len(names), 2)} of {len(names)}, got {units!r}; [{units!r}] * "
                f"{len(names)} is the same for all"
            )
        units = (units,) if isinstance(units, str) else units
        self.names, self.units = names, tuple(units if units is not None else [""] * len(names))
        self.status = status
        self.filled: NDArray[np.bool_] | None = None
        self._quality = quality
        if degrees is not None and not isinstance(degrees, (bool, np.bool_)):
            raise DescriptionError(f"Table: degrees: expected True, False or None, got {degrees!r}")
        self.degrees, self.over, self.datatype = degrees, over, datatype
        if over not in (TIME, *NUMBERED):
            raise ShapeError(f"Table: over: expected one of {(TIME, *NUMBERED)}, got {over!r}")
        if not {*map(type, self.names), *map(type, self.units)} <= {str} and not all(
            isinstance(name, str) for name in (*self.names, *self.units)
        ):
            raise ShapeError(f"Table: names and units are text, got {self.names} and {self.units}")
        if len(self.units) != len(self.names):
            raise ShapeError(
                f"Table: {len(self.names)} names {self.names} need as many units, got "
                f"{len(self.units)}: {self.units}"
            )
        if self.time.ndim != 1 or self.values.shape != (self.time.size, len(self.names)):
            raise ShapeError(
                f"Table: time of shape (m,) and {len(self.names)} names need values of shape "
                f"(m, {len(self.names)}), got time {self.time.shape} and values "
                f"{self.values.shape}"
            )
        different = {*self.names, "time", self.over}
        if len(different) < len(self.names) + len({"time", self.over}):
            twice = sorted(
                {name for name in self.names if self.names.count(name) > 1}
                | ({"time", self.over} & set(self.names))
            )
            raise ShapeError(
                f"Table: every column needs a name of its own (and not 'time'), got {twice} more than once"
            )

    @overload
    def __getitem__(self, name: str) -> Array: ...
    @overload
    def __getitem__(self, name: slice | list[str]) -> Table: ...

    def __getitem__(self, name: Any) -> Any:
        if isinstance(name, slice):
            return self._with(rows=rows_in(name, self.time))
        if isinstance(name, list):
            columns = [self[n] if isinstance(n, str) else self._no(n) for n in name]
            units = [self.units[self.names.index(n)] for n in name]
            part = Table(
                self.time,
                name,
                np.stack(columns, axis=1) if name else self.values[:, :0],
                units,
                status=self.status,
                degrees=self.degrees,
                over=self.over,
            )
            if self.filled is not None:
                part.filled = self.filled[:, [self.names.index(n) for n in name]]
            return part
        if not isinstance(name, str):
            return self._no(name)
        check_name("column", name, self.names, "times are table.time" if name == "time" else "")
        return self.values[:, self.names.index(name)]

    def _no(self, key: Any) -> NoReturn:
        raise UnknownNameError(
            "column",
            key,
            self.names,
            "columns go by name, table['knee'], several by a list of names; rows by a "
            "slice, table[2:10], or by times, table[0.2:0.5]; table.values is the array",
        )

    def _with(
        self,
        *,
        rows: Any = slice(None),
        time: Any = None,
        names: Any = None,
        values: Any = None,
        units: Any = None,
        degrees: bool | None = None,
    ) -> Table:
        """The same Table with some attributes replaced."""
        made = Table(
            self.time[rows] if time is None else time,
            self.names if names is None else names,
            self.values[rows] if values is None else values,
            self.units if units is None else units,
            status=self.status,
            degrees=self.degrees if degrees is None else degrees,
            over=self.over,
            datatype=self.datatype,
        )
        if (
            self.filled is not None
            and (mine := self.filled[rows]).shape == made.values.shape
            and time is None
        ):
            made.filled = mine
        return made

    def with_units(
        self, units: Sequence[str] | Mapping[str, str] | None = None, *, degrees: bool | None = None
    ) -> Table:
        """The same numbers with other units, to correct those of a file or program. Numbers are not
        converted; `to_si` converts.

        Args:
            units: one per column, or {column: unit} for some; unchanged by default.
            degrees: whether angles without a unit are in degrees; unchanged by default.

        Raises:
            UnknownNameError: a name that no column has.
        """
        if isinstance(units, Mapping):
            for name in units:
                self[name]
            units = [units.get(name, unit) for name, unit in zip(self.names, self.units, strict=True)]
        return self._with(units=units, degrees=degrees)

    def to_si(self) -> Table:
        """The same Table in SI units and radians: mm become m, kN N, N mm N m, deg rad. Columns without a
        unit, or with one that has no SI equivalent (%BW), are unchanged.

        Raises:
            DescriptionError: angles are in degrees (`degrees=True`), and no unit shows which columns are
                angles.
        """
        if self.degrees and not all(self.units):
            bare = [name for name, unit in zip(self.names, self.units, strict=True) if not unit]
            raise DescriptionError(
                "Table.to_si: angles are in degrees, but nothing says whether "
                f"{bare[0]!r} is one: table.with_units({{{bare[0]!r}: 'deg'}}) says it"
            )
        found = [si(unit) or (1.0, unit) for unit in self.units]
        return Table(
            self.time,
            self.names,
            self._scaled([factor for factor, _ in found]),
            [unit for _, unit in found],
            status=self.status,
            degrees=False if self.degrees else self.degrees,
            over=self.over,
            datatype=self.datatype,
        )

    def _scaled(self, factors: Sequence[float]) -> Array:
        """The values, each column times a factor."""
        values = self.values.copy()
        for k, factor in enumerate(factors):
            if factor != 1:
                values[:, k] = scaled(values[:, k], factor)
        return values

    @property
    def quality(self) -> Quality:
        """Quality of the study's result that it holds: what was checked, value, guideline and verdict. Empty
        for parts of a result and for Tables that no study computed.
        """
        return Quality() if self._quality is None else self._quality

    def check(self) -> Table:
        """Return the Table itself if no row of its `quality` fails.

        Raises:
            QualityError: a row fails; the message names the worst.
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
        return (
            f"Table({len(self)} rows{span(self.time) if self.over == TIME else ''}: "
            f"{cut(self.titles)}{status})"
        )

    @property
    def _rows(self) -> Block:
        return rows_of([self.over, *self.titles], self.time, self.values)

    @property
    def titles(self) -> list[str]:
        """Names with their units."""
        return titles(self.names, self.units)

    def to_pandas(self) -> DataFrame:
        """A pandas DataFrame over time; `frame.attrs["units"]` has the units by column.

        `from_pandas` restores these units for columns whose numbers are still those of this Table, under any
        name and in any rows. For other columns it requires `units`, since `np.radians(frame)` keeps the
        attrs.

        Raises:
            ImportError: pandas is not installed.
        """
        try:
            import pandas  # type: ignore[import-untyped]
        except ImportError as error:
            raise ImportError(
                "to_pandas() needs pandas, which is not installed: pip install pandas; without "
                "it table.values, table.names and table.time have the same "
                "numbers",
                name="pandas",
            ) from error

        frame = pandas.DataFrame(
            self.values,
            columns=list(self.names),
            index=pandas.Index(self.time, name=split_title(self.over)[0]),
        )
        frame.attrs["units"] = UnitsOf(self)
        return frame

    @staticmethod
    def from_pandas(
        frame: DataFrame,
        degrees: bool | None = None,
        *,
        units: Sequence[str] | Mapping[str, str] | None = None,
    ) -> Table:
        """The Table of a pandas DataFrame.

        Args:
            frame: a column per quantity, by name, perhaps with its unit: "knee [rad]". Times are in its
                column "time" [s], or "time [ms]", or in its index. A frame from `to_pandas` has its units.
            degrees: as for `Table`.
            units: of the numbers in the frame, one per column (except time), or {column: unit} for some.

        Raises:
            ShapeError: no times, or columns that are not numbers.
            DescriptionError: numbers that have changed since `to_pandas` recorded their unit, if `units` does
                not give the new one.
        """
        names = [str(name) for name in frame.columns]
        times = [k for k, name in enumerate(names) if split_title(name)[0].lower() in ("time", "t")]
        index = str(frame.index.name or "")
        if not times and index not in NUMBERED and not np.issubdtype(frame.index.dtype, np.floating):
            raise ShapeError(
                f"Table.from_pandas: no column 'time', and an index of {frame.index.dtype} is "
                f"no time [s]; its columns: {', '.join(names)}"
            )
        time = np.asarray(frame.iloc[:, times[0]] if times else frame.index)
        kept = [k for k in range(len(names)) if k not in times[:1]]
        said = [split_title(names[k]) for k in kept]
        columns = [np.asarray(frame.iloc[:, k]) for k in kept]
        title, over = names[times[0]] if times else index, TIME if times or index not in NUMBERED else index
        table = Table(
            time if over != TIME else seconds("Table.from_pandas", time, split_title(title)[1]),
            [name for name, _ in said],
            np.column_stack([np.empty((len(frame), 0)), *columns]),
            [unit for _, unit in said],
            degrees=degrees,
            over=over,
        )
        if units is not None:
            table = table.with_units(units)
        named = units if isinstance(units, Mapping) else table.names if units is not None else ()
        return with_kept_units(table, frame.attrs.get("units"), named, degrees)

    def plot(
        self,
        *names: str | Table,
        compare: Table | Sequence[Table] = (),
        labels: Sequence[str] = ("this", "other"),
        grid: str | None = None,
        axes: Axes | None = None,
        width: str | float = "page",
        path: str | Path | None = None,
        degrees: bool = True,
    ) -> AxesLike:
        """Draw columns over time, a panel per unit; left sides are solid and right sides dashed.

            angles.plot("knee_angle_r", "knee_angle_l", width="column", path="knee.pdf")
            angles.plot(moments, powers, grid="joints x (angle, moment, power)")

        Args:
            names: the columns to draw, by default all; and other Tables whose columns are drawn too.
            compare: another Table with the same columns (or those of the other side), drawn behind these;
                several, if several are drawn.
            labels: names of the two in the legend.
            grid: "joints x (angle, moment, power)" for a row of panels per joint and a column per quantity, or
                "(angle, moment, power) x joints"; velocity, acceleration and work are quantities too.
            axes: matplotlib axes for the whole plot; a new figure by default.
            width: of the figure: "column" or "page" of a journal (89 and 183 mm), or inches.
            path: also write a file: .pdf or .svg, with text as text, or .png.
            degrees: show radians as degrees.

        Returns:
            matplotlib's axes; an array of them if there are several panels.
        """
        import condyle.table.plots as plots
        from condyle.table.panels import Source

        tables = [self, *(name for name in names if not isinstance(name, str))]
        beside: Any = compare if isinstance(compare, (list, tuple)) else [compare]
        for table in (*tables[1:], *beside):
            if not isinstance(table, Table):
                hint = "; write plot(*names)" if isinstance(table, (list, tuple)) else ""
                got = repr(table) if isinstance(table, (str, list, tuple)) else type(table).__name__
                raise DescriptionError(
                    f"Table.plot: expected names of columns and Tables, and Tables to compare, got {got}{hint}"
                )
        if isinstance(labels, str) or len(labels) != 2:
            raise DescriptionError(
                f"Table.plot: labels: expected two words, such as ('before', 'after'), got {labels!r}"
            )
        return plots.draw(
            [Source(table, word=labels[0]) for table in tables],
            [name for name in names if isinstance(name, str)],
            others=[Source(table, word=labels[1]) for table in beside],
            grid=grid,
            axes=axes,
            width=width,
            path=path,
            degrees=degrees,
        )

    def save(self, path: str | Path) -> None:
        """Write a file, every number to its last digit, complete or not at all. `cd.read_table` reads it.

        Unfinished files of the same table that a killed process left are removed.

        Args:
            path: file to write, with a format by its ending: .csv with units in the titles; .npz, NumPy's;
                .sto or .mot, OpenSim's, which have SI units only, and angles in degrees or radians: mm, kN
                and the like are converted, and a warning lists units that cannot be (%BW, N/kg).

        Raises:
            DescriptionError: a name with another ending, or in a folder that does not exist; times that go
                forward and backward.
        """

        from condyle.table.writing import comma_separated, storage

        if not isinstance(path, (str, Path)):
            raise DescriptionError(f"Table.save: expected the path of a file, got {path!r}")
        path = Path(path)
        ending = path.suffix.lower()
        files.check_target(path, "Table.save")
        if ending not in (".csv", ".sto", ".mot", ".npz"):
            wanted, hint = f"{path.stem or 'run'}.csv", _OTHERS.get(ending, "")
            raise DescriptionError(
                f"Table.save: {path.name!r}: the name must end in .csv, .sto, .mot or "
                f".npz: save({wanted!r}). {hint}".rstrip()
            )
        if wrong := disorder(self.time, self.over):
            raise DescriptionError(
                f"Table.save: {path.name!r}: row {wrong[0]}: {wrong[1]}: sort the rows, "
                "or leave some out; cd.read_table would refuse them"
            )
        if ending == ".npz":
            parts: dict[str, Any] = {
                "time": self.time,
                "names": np.array(self.names, dtype=str),
                "values": self.values,
                "units": np.array(self.units, dtype=str),
            }
            if self.over != TIME:
                parts["over"] = np.array(self.over)
            if self.degrees is not None:
                parts["degrees"] = np.array(self.degrees)
            if self.datatype != "double":
                parts["datatype"] = np.array(self.datatype)
            with files.atomic_write(path) as file:
                np.savez_compressed(file, **parts)
            return
        text = comma_separated(self, path.name) if ending == ".csv" else storage(self, path)
        with files.atomic_write(path, "w", newline="", encoding="utf-8") as file:
            file.write(text)
