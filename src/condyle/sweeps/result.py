"""Result of `cd.sweep`: results by member, failures with reasons, sensitivities, plots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError, check_name
from condyle.presentation import Block, Display, cut, page
from condyle.records import dataclass
from condyle.status import Outcome, Status
from condyle.sweeps.parts import Part, Result
from condyle.sweeps.sensitivity import Sensitivity, of_design, of_sample
from condyle.sweeps.simulation import Measure, Simulation
from condyle.sweeps.store import Store
from condyle.sweeps.summary import BLOCK, Nodes, Summary, node_of
from condyle.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from condyle.table.plots import PlotOptions

KINDS = ("scatter", "tornado", "convergence")
"""Kinds of plots."""


@dataclass(frozen=True)
class Failure:
    """A member that failed.

    Attributes:
        member: its number.
        reason: the error, or the status of its run.
        attempts: number of attempts.
    """

    member: int
    reason: str
    attempts: int


class Sweep(Display):
    """Results of many members. `sweep[17]` is the result of member 17.

    Attributes:
        members: the members.
        folder: the store, or None.
    """

    def __init__(self, members: Table, store: Store | None) -> None:
        self.members, self.folder = members, store.folder if store else None
        self._store = store
        self._done = np.zeros(len(members), dtype=bool)
        self._numbers: dict[str, np.ndarray] = {}
        self._failed: dict[int, Failure] = {}
        self._parts: list[tuple[np.ndarray, Part | Path]] = []
        self._nodes: Nodes | None = None
        self._work: object = None
        self._measures: Mapping[str, Measure] | None = None
        self._interrupted = False

    def __len__(self) -> int:
        return len(self.members)

    def __repr__(self) -> str:
        return f"Sweep({len(self)} members, {self.status}; {cut(self._numbers)})"

    def _repr_html_(self) -> str:
        rows = [(str(f.member), f.reason, str(f.attempts)) for f in self.failures]
        return page(repr(self), self.table._rows, Block("failures", ("member", "reason", "attempts"), rows))

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Members that failed, in order."""
        return tuple(self._failed[i] for i in sorted(self._failed))

    @property
    def status(self) -> Outcome:
        """How the sweep ended: equal to `cd.Status.FINISHED` if every member has a result."""
        done, n = int(self._done.sum()), len(self)
        if done == n:
            return Outcome(Status.FINISHED)
        words = f"{done} of {n} members finished, {len(self._failed)} failed"
        if self._failed and not done:
            words += f": {self.failures[0].reason}"
        if self._interrupted:
            return Outcome(Status.INTERRUPTED, f"interrupted: {words}")
        return Outcome(Status.SOME_FAILED, words)

    @cached_property
    def table(self) -> Table:
        """One row per member: varied quantities, then numbers of the results, NaN if it failed."""
        names, units = list(self.members.names), list(self.members.units)
        new = [name if name not in names else f"{name} result" for name in self._numbers]
        values = np.column_stack([self.members.values, *self._numbers.values()])
        return Table(
            self.members.time,
            names + new,
            values,
            units + [""] * len(new),
            over="member",
            status=self.status,
        )

    def __getitem__(self, i: int | str) -> Result:
        if isinstance(i, str):
            return self.table[i]
        if not -len(self) <= i < len(self):
            raise IndexError(f"sweep[{i}]: there are {len(self)} members")
        i %= len(self)
        if i in self._failed:
            raise DescriptionError(f"sweep[{i}]: the member failed: {self._failed[i].reason}")
        for index, where in reversed(self._parts):
            if len(k := np.flatnonzero(index == i)):
                part = where
                if isinstance(part, Path):
                    assert self._store is not None
                    part = self._store.read(part)
                return part.result(int(k[0]))
        why = (
            "its results stayed on the workers (reduce=True)"
            if self._done[i]
            else f"it has not run: {self.status}"
        )
        raise DescriptionError(f"sweep[{i}]: the member has no result here: {why}")

    def results(self, numbers: Iterable[int] | None = None) -> list[Any]:
        """Results of some members, by default of all that finished; each file is read once."""
        wanted = np.flatnonzero(self._done) if numbers is None else np.asarray(list(numbers), dtype=int)
        at = {int(i): k for k, i in enumerate(wanted)}
        out: list[Any] = [None] * len(at)
        for index, where in self._parts:
            if not (own := [(k, int(i)) for k, i in enumerate(index) if int(i) in at]):
                continue
            part = where
            if isinstance(part, Path):
                assert self._store is not None
                part = self._store.read(part)
            for k, i in own:
                out[at[i]] = part.result(k)
        return out

    @property
    def summary(self) -> Summary:
        """Means, standard deviations, quantiles and histograms of the numbers, identical to the last bit with
        `reduce=True`.
        """
        if self._nodes is not None:
            return Summary(self._nodes.root)
        index, blocks = np.flatnonzero(self._done), -(-len(self) // BLOCK)
        return Summary(node_of(index, {name: x[index] for name, x in self._numbers.items()}, 0, blocks))

    def _number(self, name: str) -> Array:
        if self._nodes is not None:
            raise DescriptionError(
                f"sweep: {name!r}: results stayed on the workers (reduce=True): sweep.summary has what there is"
            )
        check_name("result", name, self._numbers)
        return self._numbers[name]

    def sensitivity(self, name: str, *, confidence: float = 0.95, resamples: int = 200) -> Sensitivity:
        """Sobol indices of a number: which share of its variance each quantity explains, alone (`first`) and
        with all others (`total`), with confidence intervals.

        For members of `method="saltelli"` they are computed by the estimators of
        `scipy.stats.sobol_indices`. For others they come from a polynomial fitted to the results, if that
        explains them; else they are estimated from neighbors in the sample, total indices only for "random"
        and "latin" members.

        Args:
            name: of the number.
            confidence: confidence level of the intervals.
            resamples: number of bootstrap samples.

        Raises:
            DescriptionError: correlated quantities; too few members.
        """
        found = indices(self.members, name, self._number(name), confidence, resamples)
        slopes = self.local(name)
        if not slopes:
            return found
        slope = np.array([slopes[quantity] for quantity in found.quantities])
        parts = slope**2 * self.members.values.var(axis=0)
        return replace(found, slope=slope, linear=parts / parts.sum() if parts.sum() else parts)

    def local(self, name: str) -> dict[str, float]:
        """Exact derivatives of a number by each quantity, at the mean of the members, for a `cd.Simulation`
        whose measure is a variable at the end; otherwise empty.
        """
        if not isinstance(self._work, Simulation):
            return {}
        measure = name if self._measures is None else self._measures.get(name)
        return self._work.slopes(self.members, measure) if isinstance(measure, str) else {}

    def convergence(self, name: str) -> Table:
        """Mean of a number over the first 1, 2, ... members that finished, and its standard error."""
        y = self._number(name)
        at = np.flatnonzero(np.isfinite(y))
        y, n = y[at], np.arange(1, len(at) + 1)
        mean = np.cumsum(y) / n
        var = np.maximum(np.cumsum((y - y[:1].sum()) ** 2) / n - (mean - y[:1].sum()) ** 2, 0.0)
        error = np.sqrt(var / np.maximum(n - 1, 1))
        return Table(at, ["mean", "standard error"], np.column_stack([mean, error]), over="member")

    def plot(
        self, name: str, kind: str = "scatter", *, against: str | None = None, **options: Unpack[PlotOptions]
    ) -> Axes:
        """Draw a number.

        Args:
            name: of the number.
            kind: "scatter" over one quantity; "tornado" for its Sobol indices; "convergence" for its mean over
                the first 1, 2, ... members, with two standard errors.
            against: the quantity of a scatter plot; by default the one that it depends on most, by ranks.
            options: axes, width and path, as for `Table.plot`.
        """
        from condyle.table.panels import COLORS
        from condyle.table.plots import on

        check_name("kind of plot", kind, KINDS)
        y = self._number(name)
        with on(**options) as axes:
            if kind == "tornado":
                return self.sensitivity(name).plot(axes)
            if kind == "convergence":
                found = self.convergence(name)
                n, mean, error = 1 + np.arange(len(found)), found["mean"], 2 * found["standard error"]
                axes.plot(n, mean)
                low, high = (mean - error)[1:], (mean + error)[1:]
                axes.fill_between(n[1:], low, high, color=COLORS[0], alpha=0.25, linewidth=0)
                axes.set(xlabel="members", ylabel=f"mean of {name}")
                return axes
            against = against or self._strongest(y)
            axes.plot(self.members[against], y, ".", markersize=2)
            axes.set(xlabel=against, ylabel=name)
        return axes

    def _strongest(self, y: Array) -> str:
        """The quantity with the largest correlation of ranks."""
        from scipy.stats import rankdata

        good = np.isfinite(y)
        ranks = rankdata(np.column_stack([y, self.members.values])[good], axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.abs(np.nan_to_num(np.corrcoef(ranks.T)[0, 1:])) if good.sum() > 1 else np.zeros(1)
        return self.members.names[int(np.argmax(found))]

    # ---- while it runs

    def add(self, part: Part, where: Part | Path) -> None:
        """Add results."""
        for name, values in part.numbers.items():
            if name not in self._numbers:
                self._numbers[name] = np.full(len(self), np.nan)
            self._numbers[name][part.index] = values
        self._done[part.index] = True
        for i in part.index.tolist() if self._failed else ():
            self._failed.pop(i, None)
        for i, reason in part.failures.items():
            if not self._done[i]:
                self._failed[i] = Failure(i, reason, part.attempts.get(i, 1))
        for node, numbers in part.nodes.items():
            assert self._nodes is not None
            self._nodes.add(node, numbers)
        if len(part.index) and not part.nodes:
            self._parts.append((part.index, where))
        self.__dict__.pop("table", None)

    plumbing = frozenset({"add"})


def indices(members: Table, name: str, y: Array, confidence: float, resamples: int) -> Sensitivity:
    """Sobol indices of a number, by the estimator that suits the sampling method."""
    if getattr(members, "correlated", False):
        raise DescriptionError(
            "sensitivity: Sobol indices are for quantities that do not depend on each other, and these were "
            "drawn with correlations; sweep.plot(name, against=quantity) shows what can be seen"
        )
    method, x = getattr(members, "method", ""), members.values
    if method == "saltelli" and len(x) % (x.shape[1] + 2) == 0:
        return of_design(name, members.names, x, y, confidence, resamples)
    return of_sample(
        name, members.names, x, y, confidence, resamples, method in ("", "random", "latin", "saltelli")
    )
