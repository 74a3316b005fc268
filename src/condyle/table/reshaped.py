"""Operations on Tables: parts, other times, other names, sums and products with their units, rates, filters."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from condyle.arrays import Array, number
from condyle.errors import DescriptionError, ShapeError
from condyle.table.rows import TIME
from condyle.table.units import si

if TYPE_CHECKING:
    from xarray import Dataset  # type: ignore[import-not-found,import-untyped,unused-ignore]

    from condyle.table.table import Table


class Reshaped:
    """Methods of a Table that return a new one."""

    __array_ufunc__ = None  # array * table is table * array

    # ---- rows and columns

    def between(self: Table, start: float, end: float) -> Table:  # type: ignore[misc]
        """The rows from one time to another [s], both included."""
        return self[float(start) : float(end)]

    def rename(self: Table, names: Mapping[str, str] | Callable[[str], str]) -> Table:  # type: ignore[misc]
        """The same columns under other names.

        Args:
            names: {old: new} of some columns, or a function of a name.

        Raises:
            UnknownNameError: a name that no column has.
        """
        if isinstance(names, Mapping):
            for name in names:
                self[name]
            return self._with(names=[names.get(name, name) for name in self.names])
        return self._with(names=[names(name) for name in self.names])

    def with_column(self: Table, name: str, values: ArrayLike, unit: str = "") -> Table:  # type: ignore[misc]
        """A Table with one more column, or with a column replaced.

        Args:
            name: of the column.
            values: shape (m,), or one number for all rows.
            unit: of the values.
        """
        column = np.broadcast_to(np.asarray(values, dtype=float), (len(self),))
        if name not in self.names:
            return self._with(
                names=[*self.names, name],
                values=np.column_stack([self.values, column]),
                units=[*self.units, unit],
            )
        k, out = self.names.index(name), self.values.copy()
        out[:, k] = column
        return self._with(values=out, units=[*self.units[:k], unit, *self.units[k + 1 :]])

    def __setitem__(self: Table, name: str, values: ArrayLike) -> None:  # type: ignore[misc]
        """`table["knee"] = values`: set a column, new or existing, whose unit is kept. Values are the whole
        column, shape (m,), or one number for all rows.
        """
        if not isinstance(name, str):
            self._no(name)
        unit = self.units[self.names.index(name)] if name in self.names else ""
        try:
            made = self.with_column(name, values, unit)
        except ValueError:
            raise ShapeError(
                f"table[{name!r}] = ...: expected {len(self)} numbers, one for each row, got shape {np.shape(values)}"
            ) from None
        self.__dict__.update(names=made.names, values=made.values, units=made.units, filled=made.filled)

    def join(self: Table, other: Table) -> Table:  # type: ignore[misc]
        """The columns of two Tables with the same times.

        Raises:
            ShapeError: other times, or a name that both have.
        """
        self._same_times("join", other)
        return self._with(
            names=[*self.names, *other.names],
            values=np.column_stack([self.values, other.values]),
            units=[*self.units, *other.units],
        )

    @staticmethod
    def concatenate(tables: Sequence[Table], *, shift: bool = False) -> Table:
        """The rows of several Tables with the same columns, one after the other.

        Args:
            tables: in order; columns are matched by name, and units are those of the first.
            shift: shift each to begin one step after the one before it.

        Raises:
            ShapeError: other columns, or times that do not increase.
        """
        from condyle.table.table import Table

        tables = list(tables)
        if not tables or not all(isinstance(x, Table) for x in tables):
            raise ShapeError(f"Table.concatenate: expected a list of Tables, got {tables!r}")
        first, times, values = tables[0], list[Array](), list[Array]()
        for k, table in enumerate(tables):
            if set(table.names) != set(first.names):
                differ = sorted(set(table.names) ^ set(first.names))
                raise ShapeError(
                    f"Table.concatenate: table {k} has other columns than the first: {', '.join(differ)}; "
                    "table[[...]] chooses some"
                )
            t, own = table.time, table[list(first.names)]
            if shift and times and len(t):
                step = np.diff(times[-1]).mean() if len(times[-1]) > 1 else 0.0
                t = t - t[0] + times[-1][-1] + step
            if times and len(t) and len(times[-1]) and t[0] <= times[-1][-1] and first.over == TIME:
                raise ShapeError(
                    f"Table.concatenate: table {k} begins at {t[0]:g} s and the one before it ends at "
                    f"{times[-1][-1]:g} s; shift=True puts it behind"
                )
            factors = [unit_factor(a, b, "concatenate") for a, b in zip(own.units, first.units, strict=True)]
            times.append(t)
            values.append(own._scaled(factors))
        made = first._with(rows=slice(0, 0))
        return made._with(time=np.concatenate(times), values=np.concatenate(values))

    # ---- other times

    def resample(self: Table, rate: float | None = None, *, times: ArrayLike | None = None) -> Table:  # type: ignore[misc]
        """The Table at other times, by cubic splines through its rows; angles that wrap are unwrapped first.
        Gaps (NaN) remain NaN. Filter before you reduce the rate: frequencies above half of the new rate alias
        to lower ones.

        Args:
            rate: rows per second, between the first time and the last.
            times: [s] in place of a rate, none of them outside of the Table.

        Raises:
            DescriptionError: neither or both, or a rate that is not above 0.
            ShapeError: times outside of the Table, or times of the Table that do not increase.
        """
        from condyle.table.table import after_events

        if (rate is None) == (times is None):
            raise DescriptionError("Table.resample: give either rate [1/s] or times= [s]")
        table = after_events("resample", self)
        t = table.time
        if len(t) < 2 or not (np.diff(t) > 0).all():
            raise ShapeError("Table.resample: the table needs two rows or more, whose times increase")
        if times is None:
            hertz = number("Table.resample: rate", rate, "rows per second")
            if not 0 < hertz < np.inf:
                raise DescriptionError(f"Table.resample: rate = {hertz:g}: must be above 0 rows per second")
            new = t[0] + np.arange(int((t[-1] - t[0]) * hertz * (1 + 1e-12)) + 1) / hertz
        else:
            new = np.atleast_1d(np.asarray(times, dtype=float))
            if new.size and (new.min() < t[0] - 1e-9 or new.max() > t[-1] + 1e-9):
                raise ShapeError(
                    f"Table.resample: times from {new.min():g} to {new.max():g} s are not all within the table, "
                    f"{t[0]:g} to {t[-1]:g} s"
                )
        return table._with(time=new, values=_splined(t, without_jumps(table), new, 0))

    def fill_gaps(self: Table, limit: float) -> Table:  # type: ignore[misc]
        """The Table with short gaps (NaN) filled by cubic curves through the numbers around them that do not
        overshoot (PCHIP). Longer gaps, and those at an end, remain. `filled` marks the filled numbers, and
        the status counts them.

        Args:
            limit: the longest gap to fill, from the last number to the next [s].
        """
        from scipy.interpolate import PchipInterpolator

        longest = number("Table.fill_gaps: limit", limit, "a time [s]")
        t, values = self.time, self.values.copy()
        filled, left = np.zeros(values.shape, dtype=bool), 0
        for k in range(values.shape[1]):
            known = np.flatnonzero(np.isfinite(values[:, k]))
            if len(known) < 2:
                left += len(known) < len(t)
                continue
            for a, b in itertools.pairwise(known):
                if b - a > 1:
                    short = t[b] - t[a] <= longest * (1 + 1e-9)
                    filled[a + 1 : b, k], left = short, left + (not short)
            left += int(known[0] > 0) + int(known[-1] < len(t) - 1)
            at = filled[:, k]
            if at.any():
                values[at, k] = PchipInterpolator(t[known], values[known, k])(t[at])
        made = self._with(values=values)
        made.filled = filled if self.filled is None else filled | self.filled
        made.status = f"{self.status}; {int(filled.sum())} numbers filled, {left} gaps left"
        return made

    # ---- rates

    def differentiate(self: Table) -> Table:  # type: ignore[misc]
        """Rates over time, of splines of degree 5 through the rows, per second; angles that wrap are
        unwrapped first. Noise grows: filter before.
        """
        self._regular("differentiate")
        return self._with(
            values=_splined(self.time, without_jumps(self), self.time, 1),
            units=[f"{unit}/s".replace("/s/s", "/s^2") if unit else "" for unit in self.units],
        )

    def integrate(self: Table) -> Table:  # type: ignore[misc]
        """Integrals over time from the first row on, of cubic splines through the rows."""
        self._regular("integrate")
        return self._with(
            values=_splined(self.time, self.values, self.time, -1),
            units=[_over_time(unit) for unit in self.units],
        )

    # ---- filters

    def low_pass(self: Table, cutoff: float) -> Table:  # type: ignore[misc]
        """Remove frequencies above `cutoff` [Hz], as `cd.low_pass(table, cutoff)` does."""
        from condyle.table.filters import low_pass

        return low_pass(self, cutoff)

    def high_pass(self: Table, cutoff: float, order: int = 4) -> Table:  # type: ignore[misc]
        """Remove frequencies below `cutoff` [Hz]: Butterworth, forward and backward."""
        from condyle.table.filters import butterworth

        return butterworth(self, "highpass", cutoff, order)

    def band_pass(self: Table, low: float, high: float, order: int = 4) -> Table:  # type: ignore[misc]
        """Keep what lies between two frequencies [Hz]: Butterworth, forward and backward; 20 to 400 Hz for
        EMG.
        """
        from condyle.table.filters import butterworth

        return butterworth(self, "bandpass", (low, high), order)

    def notch(self: Table, frequency: float, width: float = 2.0, order: int = 2) -> Table:  # type: ignore[misc]
        """Remove a frequency [Hz], such as that of the mains, 50 or 60 Hz, and those within half of `width`
        of it.
        """
        from condyle.table.filters import butterworth

        f, w = (
            number(f"notch: {n}", x, "a frequency [Hz]")
            for n, x in (("frequency", frequency), ("width", width))
        )
        return butterworth(self, "bandstop", (f - w / 2, f + w / 2), order)

    def moving_mean(self: Table, window: float) -> Table:  # type: ignore[misc]
        """Means over a window [s] around each row."""
        from condyle.table.filters import moving_mean

        return moving_mean(self, window)

    # ---- arithmetic

    def __add__(self: Table, other: Table | float | Array) -> Table:  # type: ignore[misc]
        return self._combined(other, operator.add, 0)

    def __radd__(self: Table, other: float | Array) -> Table:  # type: ignore[misc]
        return self._combined(other, operator.add, 0)

    def __sub__(self: Table, other: Table | float | Array) -> Table:  # type: ignore[misc]
        return self._combined(other, operator.sub, 0)

    def __rsub__(self: Table, other: float | Array) -> Table:  # type: ignore[misc]
        return (-self)._combined(other, operator.add, 0)

    def __mul__(self: Table, other: Table | float | Array) -> Table:  # type: ignore[misc]
        return self._combined(other, operator.mul, 1)

    def __rmul__(self: Table, other: float | Array) -> Table:  # type: ignore[misc]
        return self._combined(other, operator.mul, 1)

    def __truediv__(self: Table, other: Table | float | Array) -> Table:  # type: ignore[misc]
        return self._combined(other, operator.truediv, -1)

    def __neg__(self: Table) -> Table:  # type: ignore[misc]
        return self._with(values=-self.values)

    def __abs__(self: Table) -> Table:  # type: ignore[misc]
        return self._with(values=np.abs(self.values))

    def per(self: Table, value: float, unit: str) -> Table:  # type: ignore[misc]
        """All columns divided by a quantity: `moments.per(72.6, "kg")` are N m/kg, `forces.per(712, "BW")`
        body weights.

        Args:
            value: above 0.
            unit: of the value; the columns' units are divided by it. "BW" and other units that are not SI
                replace the columns' units.
        """
        divisor = number("Table.per: value", value, "a number above 0")
        if not 0 < divisor < np.inf:
            raise DescriptionError(f"Table.per: value = {divisor:g}: must be above 0")
        units = [f"{own}/{unit}" if si(unit) and own else unit if not si(unit) else own for own in self.units]
        return self._with(values=self.values / divisor, units=units)

    def _combined(self: Table, other: Any, combine: Any, power: int) -> Table:  # type: ignore[misc]
        from condyle.table.table import Table

        if not isinstance(other, Table):
            try:
                x = np.asarray(other, dtype=float)
                x = x[:, None] if x.ndim == 1 and x.shape == (len(self),) else x
                return self._with(values=np.broadcast_to(combine(self.values, x), self.values.shape))
            except (TypeError, ValueError):
                raise ShapeError(
                    f"a Table of shape {self.values.shape} and {other!r} do not fit: give a number, {len(self)} "
                    f"numbers for its rows, an array of its shape, or a Table with the same times and columns"
                ) from None
        self._same_times("a sum or product of Tables", other)
        if set(self.names) != set(other.names):
            differ = sorted(set(self.names) ^ set(other.names))
            raise ShapeError(
                f"a sum or product of Tables needs the same columns; only one has {', '.join(differ)}; "
                "table[[...]] chooses some, table.rename({...}) names them"
            )
        other = other[list(self.names)]
        if not power:
            factors = [
                unit_factor(b, a, "a sum of Tables") for a, b in zip(self.units, other.units, strict=True)
            ]
            return self._with(values=combine(self.values, other._scaled(factors)))
        made = [_product(a, b, power) for a, b in zip(self.units, other.units, strict=True)]
        with np.errstate(all="ignore"):  # division by zero gives inf or NaN
            values = combine(self.values, other.values) * np.array([factor for factor, _ in made])
        return self._with(values=values, units=[unit for _, unit in made])

    def _same_times(self: Table, who: str, other: Any) -> None:  # type: ignore[misc]
        if not isinstance(other, type(self)):
            raise ShapeError(f"{who}: expected a Table, got {type(other).__name__}")
        if len(self) != len(other) or not np.allclose(self.time, other.time, rtol=0, atol=1e-9):
            raise ShapeError(
                f"{who}: the Tables have other times, {len(self)} rows and {len(other)}; "
                "other.resample(times=table.time) brings it to the same"
            )

    def _regular(self: Table, who: str) -> None:  # type: ignore[misc]
        if len(self) < 2 or not (np.diff(self.time) > 0).all():
            raise ShapeError(f"Table.{who}: expected two rows or more, whose times increase")
        if not np.isfinite(self.values).all():
            i, k = np.argwhere(~np.isfinite(self.values))[0]
            raise ShapeError(
                f"Table.{who}: {self.names[k]!r} is {self.values[i, k]} at t = {self.time[i]:g} s: "
                "table.fill_gaps(limit) fills short gaps"
            )

    # ---- elsewhere

    def to_xarray(self: Table) -> Dataset:  # type: ignore[misc]
        """An xarray.Dataset: a variable per column over the coordinate "time" (or what the rows are over), units in
        their attributes.

        Raises:
            ImportError: xarray is not installed.
        """
        try:
            import xarray
        except ImportError as error:
            raise ImportError(
                "to_xarray() needs xarray, which is not installed: pip install xarray", name="xarray"
            ) from error
        over = self.over.split(" [")[0]
        data = {
            name: (over, self.values[:, k], {"units": unit})
            for k, (name, unit) in enumerate(zip(self.names, self.units, strict=True))
        }
        return xarray.Dataset(data, {over: self.time}, {"status": str(self.status)})


def unit_factor(unit: str, into: str, who: str) -> float:
    """Factor from one unit to another.

    Raises:
        ShapeError: a length and a force, say.
    """
    if unit == into or not unit or not into:
        return 1.0
    a, b = si(unit), si(into)
    if a is None or b is None or a[1] != b[1]:
        raise ShapeError(
            f"{who}: [{unit}] and [{into}] cannot be added; table.with_units(...) mends wrong units"
        )
    return a[0] / b[0]


def _over_time(unit: str) -> str:
    """The unit of an integral over time."""
    for rate, whole in (("/s^2", "/s"), ("/s", "")):
        if unit.endswith(rate):
            return unit.removesuffix(rate) + whole
    return "J" if unit == "W" else f"{unit} s" if unit else ""


def _product(a: str, b: str, power: int) -> tuple[float, str]:
    """Factor and unit of a product (power 1) or quotient (-1) of numbers with units, in SI where both are known."""
    if not b or (not a and power > 0):
        return 1.0, a or b
    (top, *below), (over, *under) = (a or "1").split("/"), b.split("/")
    if power < 0:
        over, under = " ".join(under), over.split()
    joined = "/".join([f"{top} {over}".strip(), *below, *under])  # divisors come last
    found = si(joined) if a else None
    if found is None:
        return 1.0, joined
    return found[0], "" if found[1] == "1" else found[1]


def without_jumps(table: Table) -> Array:
    """Values (m, n) without jumps by whole turns and sign changes, also across gaps, which remain."""
    from condyle.table.filters import _continuous

    known = np.isfinite(table.values)
    if not len(table) or known.all():
        return _continuous(table)[0]
    last = np.maximum.accumulate(np.where(known, np.arange(len(table))[:, None], 0), axis=0)
    held = np.nan_to_num(np.take_along_axis(table.values, last, axis=0), posinf=0.0, neginf=0.0)
    return np.where(known, _continuous(table._with(values=held))[0], table.values)


def _splined(t: Array, x: Array, at: Array, rate: int) -> Array:
    """x (m, n) at other times, its derivative (rate 1) or integral from the first time (-1), by splines; NaN
    in gaps.
    """
    from scipy.interpolate import make_interp_spline

    out = np.full((len(at), x.shape[1]), np.nan)
    finite = np.isfinite(x)
    whole = finite.all(axis=0)
    groups: list[Any] = [np.flatnonzero(whole), *([int(k)] for k in np.flatnonzero(~whole))]
    for columns in groups:
        known = finite[:, columns[0]] if len(columns) else np.zeros(0, dtype=bool)
        if known.sum() < 2:
            continue
        degree = min(5 if rate > 0 else 3, int(known.sum()) - 1)
        h = float(np.diff(t[known]).mean())
        made = make_interp_spline((t[known] - t[0]) / h, x[known][:, columns], k=degree - (degree + 1) % 2)
        made = made.derivative() if rate > 0 else made.antiderivative() if rate < 0 else made
        s = (at - t[0]) / h
        found = made(s) / h**rate - (made(s[:1]) * h if rate < 0 else 0.0)
        if not known.all():  # nothing between the rows around a gap, and none beyond the ends
            left = np.clip(np.searchsorted(t, at + 1e-12, "right") - 1, 0, len(t) - 1)
            right = np.clip(np.searchsorted(t, at - 1e-12, "left"), 0, len(t) - 1)
            found[~(known[left] & known[right])] = np.nan
        out[:, columns] = found
    return out
