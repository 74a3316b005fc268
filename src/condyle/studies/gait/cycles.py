"""`cd.gait_cycles`: strides of one or many trials, from 0 to 100 %."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from condyle.arguments import ExplainsCalls, with_call_hints
from condyle.arrays import Array, is_whole, number
from condyle.errors import DescriptionError, ShapeError, UnknownNameError, check_name, warn
from condyle.presentation import Display
from condyle.records import dataclass
from condyle.studies.gait.foot_events import SIDES, GaitEvents, Stride
from condyle.table import Table
from condyle.table.reshaped import unit_factor
from condyle.table.rows import CYCLE
from condyle.table.titles import side as side_of
from condyle.table.units import si

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from condyle.table.panels import Source

BOOTSTRAP = 1000
"""Samples of strides for a bootstrap band."""


@dataclass(frozen=True, eq=False, repr=False)
class GaitCycles(Display, ExplainsCalls):
    """Columns over the gait cycle of many strides. `cycles["knee_angle_r"]` is one column, shape (strides, points).

    Attributes:
        percent: points of the cycle [%], shape (points,).
        names: names of the columns.
        units: units of the columns.
        values: shape (strides, points, columns).
        strides: times of the strides, on the clocks of their trials.
        trials: index of the Table of each stride, shape (strides,).
    """

    percent: Array
    names: tuple[str, ...]
    units: tuple[str, ...]
    values: Array
    strides: tuple[Stride, ...]
    trials: tuple[int, ...] = field(default=())

    def __getitem__(self, name: str) -> Array:
        check_name("column", name, self.names)
        return self.values[:, :, self.names.index(name)]

    def __len__(self) -> int:
        return len(self.strides)

    def __repr__(self) -> str:
        several = f" of {len(set(self.trials))} trials" if len(set(self.trials)) > 1 else ""
        return (
            f"GaitCycles({len(self)} strides{several}, {self.strides[0].side} foot: {', '.join(self.names[:4])}"
            f"{', ...' if len(self.names) > 4 else ''})"
        )

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>{self.mean._repr_html_()}"

    def _over(self, values: Array) -> Table:
        return Table(self.percent, self.names, values, self.units, over=CYCLE)

    @property
    def mean(self) -> Table:
        """Mean over the strides at each percent of the cycle."""
        return self._over(np.nanmean(self.values, axis=0))

    @property
    def sd(self) -> Table:
        """Standard deviations between strides; zero for one stride."""
        ddof = 1 if len(self) > 1 else 0
        return self._over(np.nanstd(self.values, axis=0, ddof=ddof))

    def band(self, kind: str = "sd", level: float = 0.95, seed: int = 0) -> tuple[Table, Table]:
        """Lower and upper edge of a band around the mean.

        Args:
            kind: "sd", one standard deviation to each side; "bootstrap", a pointwise confidence interval of
                the subject's mean; "range", all strides.
            level: confidence level of "bootstrap".
            seed: seed of its random samples.
        """
        mean = self.mean.values
        if kind == "sd":
            sd = self.sd.values
            return self._over(mean - sd), self._over(mean + sd)
        if kind == "range":
            return self._over(np.nanmin(self.values, axis=0)), self._over(np.nanmax(self.values, axis=0))
        if kind != "bootstrap":
            raise UnknownNameError("kind of band", kind, ("sd", "bootstrap", "range"))
        if not 0 < level < 1:
            raise DescriptionError(f"GaitCycles.band: level = {level!r}: must be between 0 and 1")
        if len(self) < 3:
            raise DescriptionError(f"GaitCycles.band: a bootstrap needs at least 3 strides, got {len(self)}")
        drawn = np.random.default_rng(seed).integers(len(self), size=(BOOTSTRAP, len(self)))
        counts = np.stack([np.bincount(row, minlength=len(self)) for row in drawn]) / len(self)
        sums, known = (
            np.einsum("bs,spc->bpc", counts, x)
            for x in (np.nan_to_num(self.values), np.isfinite(self.values))
        )
        with np.errstate(invalid="ignore"):  # all sampled strides have a gap here
            low, high = np.nanquantile(sums / known, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return self._over(low), self._over(high)

    @property
    def toe_off(self) -> float:
        """Time at which the foot leaves the ground, mean over the strides [%]; NaN if no stride has a
        toe-off."""
        shares = [100 * (s.off - s.start) / (s.end - s.start) for s in self.strides]
        known = [x for x in shares if x == x]
        return float(np.mean(known)) if known else float("nan")

    def joined(self, *others: GaitCycles) -> GaitCycles:
        """The strides of several GaitCycles with the same columns: trials, or subjects."""
        every = (self, *others)
        for other in others:
            if other.names != self.names or len(other.percent) != len(self.percent):
                raise ShapeError("GaitCycles.joined: expected the same columns and points in all")
        starts = np.cumsum([0, *(max(c.trials, default=0) + 1 for c in every)])
        trials = tuple(int(k + s) for c, s in zip(every, starts, strict=False) for k in c.trials)
        return replace(
            self,
            values=np.concatenate(
                [c.values * _factors("GaitCycles.joined", c.units, self.units) for c in every]
            ),
            strides=tuple(s for c in every for s in c.strides),
            trials=trials,
        )

    def per(self, value: float, unit: str) -> GaitCycles:
        """All columns divided by a quantity, as `Table.per`."""
        made = self.mean.per(value, unit)
        return replace(self, values=self.values / value, units=made.units)

    def to_pandas(self) -> Any:
        """A long pandas DataFrame: stride, trial, percent, and the columns."""
        import pandas  # type: ignore[import-untyped]

        n, points, _ = self.values.shape
        frame = pandas.DataFrame(self.values.reshape(n * points, -1), columns=list(self.names))
        frame.insert(0, "percent", np.tile(self.percent, n))
        frame.insert(0, "trial", np.repeat(self.trials, points))
        frame.insert(0, "stride", np.repeat(np.arange(n), points))
        return frame

    def spm(self, other: GaitCycles, name: str) -> Any:
        """A two-sample t test over the whole cycle by statistical parametric mapping (package spm1d).

        Raises:
            ImportError: spm1d is not installed.
        """
        try:
            import spm1d  # type: ignore[import-not-found,import-untyped,unused-ignore]
        except ImportError as error:
            raise ImportError("GaitCycles.spm needs spm1d: pip install spm1d", name="spm1d") from error
        return spm1d.stats.ttest2(self[name], other[name])

    def plot(
        self,
        *names: str | GaitCycles,
        band: str | None = "sd",
        compare: GaitCycles | Sequence[GaitCycles] = (),
        labels: tuple[str, str] | None = None,
        grid: str | None = None,
        axes: Axes | Sequence[Axes] | None = None,
        width: str | float = "page",
        path: str | Path | None = None,
        degrees: bool = True,
    ) -> Figure:
        """Means over the cycle with bands, a panel per column; the dotted line is toe-off.

        Args:
            names: names of columns, all by default; with a grid, other GaitCycles too, such as those of
                moments.
            band: as for `band`, or None.
            compare: other GaitCycles in the same panels, in a second color; if their cycles are of the other
                foot, the columns of that side.
            labels: labels of the two in the legend; the sides by default.
            grid: "joints x (angle, moment, power)", as for `Table.plot`.
            axes: matplotlib axes, one per column; new ones by default.
            width: width of the figure: "column" or "page" of a journal (89 and 183 mm), or inches.
            path: also write a file: .pdf or .svg, with text as text, or .png.
            degrees: show radians as degrees.
        """
        import condyle.table.plots as plots
        from condyle.table.panels import Panel, grid_of, labeled, panel

        every = (self, *(c for c in names if not isinstance(c, str)))
        chosen = [name for name in names if isinstance(name, str)]
        beside = [compare] if isinstance(compare, GaitCycles) else list(compare)
        sides = [c.strides[0].side for c in (self, *beside)]
        turned = sides[-1] != sides[0]
        words = labels or (("these", "others"), (sides[0], sides[-1]))[turned]
        ours = [c._drawn(band, words[0]).shown(None, degrees) for c in every]
        theirs = [c._drawn(band, words[1], turned).shown(None, degrees) for c in beside]
        if grid is not None:
            rows = grid_of(ours, theirs, grid, chosen)
            return plots.paint(rows, width=width, path=path, each=True)[0, 0].figure  # type: ignore[no-any-return]
        if len(every) > 1:
            raise DescriptionError(
                "GaitCycles.plot: several GaitCycles need grid='joints x (angle, moment, power)'"
            )
        (source,), panels = ours, list[Panel]()
        for name in chosen or self.names:
            self[name]
            other = theirs[0] if theirs else None
            if other is not None and not other.theirs(name):
                raise UnknownNameError("column", name, other.table.names)
            label = side_of(name)[0] if other is not None and other.theirs(name) != name else name
            unit = source.table.units[self.names.index(name)]
            panels.append(panel(source, other, {label: [name]}, ylabel=labeled(unit)))
        if axes is None:
            count = min(len(panels), 3 if plots.inches(width) > plots.NARROW else 1)
            panels += [Panel((), panels[0].xlabel, "")] * (-len(panels) % count)
            rows = [panels[k : k + count] for k in range(0, len(panels), count)]
            return plots.paint(rows, width=width, path=path, each=True)[0, 0].figure  # type: ignore[no-any-return]
        flat = np.atleast_1d(np.asarray(axes, dtype=object))
        with plots.house_style():
            for one, shown in zip(flat, panels, strict=False):
                plots.fill(one, shown, "best")
        plots.save(flat[0].figure, path)
        return flat[0].figure  # type: ignore[no-any-return]

    def _drawn(self, kind: str | None, word: str, turned: bool = False) -> Source:
        """The values in the units of the figure."""
        from condyle.table.panels import Source

        enough = kind and len(self) > (2 if kind == "bootstrap" else 1)
        off = [self.toe_off] if self.toe_off == self.toe_off else []
        return Source(self.mean, self.band(kind) if kind and enough else None, word, off, turned)


@with_call_hints({"n": "it is points=", "normalize": "it is mass=, body_weight=, leg_length="})
def gait_cycles(
    table: Table | Sequence[Table],
    events: GaitEvents | Sequence[GaitEvents],
    side: str = "right",
    *,
    points: int = 101,
    mass: float | None = None,
    body_weight: float | None = None,
    leg_length: float | None = None,
) -> GaitCycles:
    """Strides of a Table over 0 to 100 % of the gait cycle, from one strike of a foot to the next.

    Args:
        table: columns over time; or several trials with the same columns.
        events: foot strikes and toe-offs on the same clock; one GaitEvents for each trial.
        side: foot whose strikes begin the cycles.
        points: number of points in a cycle, the first at 0 and the last at 100 %.
        mass: [kg] by which moments [N m], powers [W], work [J] and forces [N] are divided.
        body_weight: instead of mass, [N] by which forces are divided, "BW"; moments too, [BW m].
        leg_length: [m] by which lengths are divided, and with body_weight moments too.

    Returns:
        a GaitCycles: `.mean`, `.sd`, `.band(...)`, `.plot(band="sd", compare=other)`, `.to_pandas()`. Angles
            keep the units of the Table.

    Raises:
        DescriptionError: no complete stride in any Table.
        ShapeError: trials with different columns.
    """
    tables = list(table) if isinstance(table, Sequence) else [table]
    several = list(events) if isinstance(events, Sequence) else [events]
    if len(tables) != len(several) or not tables:
        raise ShapeError(f"gait_cycles: {len(tables)} tables need as many events, got {len(several)}")
    check_name("side", side, SIDES)
    if not is_whole(points, 2):
        raise DescriptionError(f"gait_cycles: points: expected a whole number from 2 on, got {points!r}")
    first, share = tables[0], np.linspace(0, 1, points)
    values, strides, trials, cut = [], [], [], 0
    for k, (own, marked) in enumerate(zip(tables, several, strict=True)):
        if not isinstance(own, Table) or not isinstance(marked, GaitEvents):
            raise DescriptionError(
                f"gait_cycles: expected cd.Tables and results of cd.gait_events, got {type(own).__name__} and "
                f"{type(marked).__name__}"
            )
        if set(own.names) != set(first.names):
            raise ShapeError(
                f"gait_cycles: trial {k} has other columns: {', '.join(sorted(set(own.names) ^ set(first.names)))}"
            )
        own = own[list(first.names)]
        into = _factors(f"gait_cycles: trial {k}", own.units, first.units)
        step = np.diff(own.time).max() if len(own) > 1 else 0.0
        for stride in marked.strides(side):
            if stride.start < own.time[0] - step / 2 or stride.end > own.time[-1] + step / 2:
                cut += 1
                continue
            times = (stride.start + share * (stride.end - stride.start)).clip(own.time[0], own.time[-1])
            values.append(own.resample(times=times).values * into)
            strides.append(stride)
            trials.append(k)
    if not strides:
        raise DescriptionError(
            f"gait_cycles: no whole stride of the {side} foot is in the {'tables' if len(tables) > 1 else 'table'}: "
            + (f"{cut} reach beyond its times" if cut else f"{several[0]!r}")
        )
    if cut:
        warn(
            f"gait_cycles: {cut} strides of the {side} foot reach beyond the times of their table and are left out"
        )
    factors, units = _normalized(first.units, mass, body_weight, leg_length)
    return GaitCycles(
        100 * share, first.names, tuple(units), np.stack(values) * factors, tuple(strides), tuple(trials)
    )


def _factors(who: str, units: Sequence[str], into: Sequence[str]) -> Array:
    """Factors from the units of one set of columns to those of another."""
    return np.array([unit_factor(a, b, who) for a, b in zip(units, into, strict=True)])


def _normalized(
    units: Sequence[str], mass: float | None, weight: float | None, leg: float | None
) -> tuple[Array, list[str]]:
    """Factor of each column, and its normalized unit."""
    if mass is not None and weight is not None:
        raise DescriptionError("gait_cycles: give mass= [kg] or body_weight= [N], not both")
    given = {"mass": mass, "body_weight": weight, "leg_length": leg}
    for what, x in given.items():
        if x is not None and not 0 < number(f"gait_cycles: {what}", x, "a number above 0") < np.inf:
            raise DescriptionError(f"gait_cycles: {what} = {x!r}: must be above 0")
    factors, names = [], []
    for own in units:
        to_si, unit = (own and si(own)) or (1.0, "")  # kN, Nm and mm too
        factor, name = 1.0, own
        if mass is not None and unit in ("N m", "N", "W", "J"):
            factor, name = to_si / mass, f"{unit}/kg"
        elif weight is not None and unit in ("N", "N m"):
            factor, name = to_si / weight, "BW" if unit == "N" else "BW m"
            if leg is not None and unit == "N m":
                factor, name = factor / leg, "BW leg length"
        elif leg is not None and unit == "m":
            factor, name = to_si / leg, "leg length"
        factors.append(factor)
        names.append(name)
    if names == list(units) and any(x is not None for x in given.values()):
        warn(
            f"gait_cycles: {', '.join(k for k, x in given.items() if x is not None)}: no column has a unit that it divides, "
            f"and nothing is normalized; units are {', '.join(sorted({u or 'not known' for u in units}))}: "
            "table.with_units(...) sets them"
        )
    return np.array(factors), names
