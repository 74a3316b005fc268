"""`cd.uncertainty`: results of a study with varied members, as bands over time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.errors import DescriptionError, check_name
from condyle.presentation import Display, cut, page, span
from condyle.records import dataclass
from condyle.sweeps.executors import DaskClient, Pool
from condyle.sweeps.member_table import Member
from condyle.sweeps.parts import VALUE
from condyle.sweeps.result import Sweep, indices
from condyle.sweeps.sensitivity import Sensitivity
from condyle.sweeps.sweep import sweep
from condyle.table import Table

if TYPE_CHECKING:
    from condyle.table.plots import AxesLike, PlotOptions


@dataclass(frozen=True, eq=False, repr=False)
class Band(Display):
    """A Table over members: `mean`, `std`, `low`, `median`, `high` are Tables of the same columns.

    Attributes:
        quantiles: the quantiles of low and high.
        values: values of the members that finished, shape (k, rows, columns).
        index: their indices, shape (k,).
        members: the varied quantities of all members.
    """

    mean: Table
    std: Table
    low: Table
    median: Table
    high: Table
    quantiles: tuple[float, float]
    values: Array
    index: NDArray[np.intp]
    members: Table

    def __repr__(self) -> str:
        t = self.mean.time
        return f"Band({len(self.values)} members, {len(t)} rows{span(t)}: {cut(self.mean.names)})"

    def _repr_html_(self) -> str:
        return page(repr(self), self.mean._rows)

    def __getitem__(self, name: str) -> Array:
        """A column of the members that finished, (k, rows)."""
        check_name("column", name, self.mean.names)
        return np.asarray(self.values[:, :, self.mean.names.index(name)])

    def plot(self, *names: str, **options: Unpack[PlotOptions]) -> AxesLike:
        """Draw medians (of all columns by default) over time, with bands from low to high. Options and result
        as for `Table.plot`.
        """
        from condyle.table.panels import Source
        from condyle.table.plots import draw

        return draw([Source(self.median, (self.low, self.high))], names, **options)

    def sensitivity(
        self, name: str, of: str | float = "peak", *, confidence: float = 0.95, resamples: int = 200
    ) -> Sensitivity:
        """Sobol indices of a column, as from `sweep.sensitivity`.

        Args:
            name: of the column.
            of: "peak", its largest size over time; "mean", over time; or a time [s].
            confidence: confidence level of the intervals.
            resamples: number of bootstrap samples.
        """
        y = self[name]
        if of == "peak":
            x = np.abs(y).max(axis=1)
        elif of == "mean":
            x = y.mean(axis=1)
        elif isinstance(of, (int, float)):
            x = np.array([np.interp(of, self.mean.time, row) for row in y])
        else:
            raise DescriptionError(f"sensitivity: of: expected 'peak', 'mean' or a time [s], got {of!r}")
        every = np.full(len(self.members), np.nan)
        every[self.index] = x
        return indices(self.members, f"{of} of {name}", every, confidence, resamples)


class Uncertainty(Display):
    """Results of a study with varied members: bands by name, `found["forces"]`. If the study returns one
    Table, `found` has the attributes of its Band.

    Attributes:
        sweep: the runs, with `status`, `failures`, `table` and the results of each.
        bands: by the names of the study's Tables.
    """

    def __init__(self, found: Sweep, bands: Mapping[str, Band]) -> None:
        self.sweep, self.bands = found, dict(bands)

    def __repr__(self) -> str:
        return f"Uncertainty({len(self.sweep)} members, {self.sweep.status}; {cut(self.bands)})"

    def _repr_html_(self) -> str:
        return page(repr(self), *(band.mean._rows for band in self.bands.values()))

    def __getitem__(self, name: str) -> Band:
        check_name("table", name, self.bands)
        return self.bands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.bands)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and list(self.__dict__.get("bands", ())) == [VALUE]:
            return getattr(self.bands[VALUE], name)
        raise AttributeError(
            f"Uncertainty has no {name!r}; its bands have, by name: found[{next(iter(self.bands), '...')!r}].{name}"
        )


def uncertainty(
    study: Callable[[Member], object],
    members: Table,
    *,
    quantiles: tuple[float, float] = (0.05, 0.95),
    executor: str | Executor | DaskClient | Pool | None = None,
    store: str | Path | None = None,
    chunk: int | None = None,
    retries: int = 2,
    seed: int | None = None,
    progress: bool | Callable[[float], object] = False,
) -> Uncertainty:
    """Uncertainty of the results of a study: run it for all members, and turn its Tables into bands.

    Args:
        study: a `cd.MotionStudy`, or a function of a member that returns a Table, several by name, or the result of
            `cd.static_optimization`. Rows and columns must be the same for all members.
        members: from `cd.members`, or a Table with one row per member.
        quantiles: of the bands.
        executor: as for `cd.sweep`; likewise store, chunk, retries, seed and progress.
        store: a folder for results.
        chunk: number of members per task.
        retries: number of retries of a failed member.
        seed: of `member.random()`.
        progress: True shows a bar.

    Returns:
        an Uncertainty: `found["moments"].mean`, `.std`, `.low`, `.high`, `.plot("knee")`, `.sensitivity("knee")`.

    Raises:
        DescriptionError: no member finished, or Tables that differ in their rows or columns; invalid arguments.
    """
    low, high = (float(q) for q in quantiles)
    if not 0 <= low < high <= 1:
        raise DescriptionError(
            f"uncertainty: quantiles: expected two shares, such as (0.05, 0.95), got {quantiles!r}"
        )
    if not callable(study):
        raise DescriptionError(
            f"uncertainty: study: expected a function of a member, or a cd.MotionStudy, got {study!r}"
        )
    found = sweep(
        Tabled(study), members, executor=executor, store=store, chunk=chunk, retries=retries, seed=seed, progress=progress,
        batched=False,
    )  # fmt: skip
    done = np.flatnonzero(found._done)
    if not len(done):
        why = found.failures[0].reason if found.failures else str(found.status)
        raise DescriptionError(f"uncertainty: no member finished: {why}")
    results = found.results(done)
    names = [name for name, value in results[0].items() if isinstance(value, Table)]
    return Uncertainty(
        found, {name: _band(name, [r[name] for r in results], members, done, (low, high)) for name in names}
    )


@dataclass(frozen=True, eq=False)
class Tabled:
    """A study whose results are Tables."""

    study: Callable[[Member], Any]

    def __call__(self, member: Member) -> dict[str, Any]:
        given = self.study(member)
        if hasattr(given, "activations") and hasattr(given, "forces"):
            given = {name: getattr(given, name) for name in ("activations", "forces", "reserves")}
        out = given if isinstance(given, Mapping) else {VALUE: given}
        if not any(isinstance(x, Table) for x in out.values()):
            raise DescriptionError(
                f"uncertainty: expected a Table, or several by name, of the study, got {type(given).__name__}"
            )
        return {name: x for name, x in out.items() if not isinstance(x, Table) or x.names}


def _band(
    name: str,
    tables: Sequence[Any],
    members: Table,
    numbers: NDArray[np.intp],
    quantiles: tuple[float, float],
) -> Band:
    first = tables[0]
    for i, t in zip(numbers, tables, strict=True):
        if (
            not isinstance(t, Table)
            or t.names != first.names
            or t.time.shape != first.time.shape
            or (t.time != first.time).any()
        ):
            raise DescriptionError(
                f"uncertainty: {name!r} of member {i} has other rows or columns than that of member {numbers[0]}: "
                "give all members the same times"
            )
    x = np.array([t.values for t in tables])

    def table(values: Array) -> Table:
        return Table(first.time, first.names, values, first.units, over=first.over)

    low, median, high = np.quantile(x, [quantiles[0], 0.5, quantiles[1]], axis=0)
    std = x.std(axis=0, ddof=1) if len(x) > 1 else np.full(first.values.shape, np.nan)
    return Band(
        table(x.mean(axis=0)),
        table(std),
        table(low),
        table(median),
        table(high),
        quantiles,
        x,
        numbers,
        members,
    )
