"""`cd.sweep`: a work for many members, here or anywhere, with results that are stored as they come.

What a member gives depends on the member alone, so results are the same whatever the executor, the chunks,
their order and the number of workers. The process that calls `cd.sweep` writes the store; workers only answer.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import queue
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from condyle.arrays import Array
from condyle.errors import CondyleError, DescriptionError, UnknownNameError
from condyle.integrate.progress import Report, reported
from condyle.presentation import Block, Display, cut, page
from condyle.records import dataclass
from condyle.status import Outcome, Status
from condyle.sweeps import jobs
from condyle.sweeps.digest import digest
from condyle.sweeps.executors import DaskClient, Place, Pool
from condyle.sweeps.parts import Part, Result, joined
from condyle.sweeps.sample import Member, Sample
from condyle.sweeps.sensitivity import Sensitivity, of_design, of_sample
from condyle.sweeps.simulation import Measure, Measured, Simulation
from condyle.sweeps.store import Store
from condyle.sweeps.summary import BLOCK, Nodes, Summary, aligned, node_of
from condyle.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from condyle.table.plots import PlotOptions

LONG = 0.5
"""[s] that a chunk shall take."""
MOST = 1 << 15
"""Members of a chunk at most: what it keeps is in memory."""
SHARE = 20.0
"""Between two writes there is so many times the time of one."""
ALONE = 10.0
"""[s] that other workers wait at most for what the first one compiles."""
OFTEN = 10.0
"""[s] between two lines of progress in the log."""
UNWRITTEN = 1.0
"""[s] that results wait at most for being written."""
KINDS = ("scatter", "tornado", "convergence")
"""Of plots."""


@dataclass(frozen=True)
class Failure:
    """A member that failed.

    Attributes:
        member: its number.
        reason: the error, or how its run ended.
        attempts: how often it was tried.
    """

    member: int
    reason: str
    attempts: int


class Sweep(Display):
    """Results of many members. `sweep[17]` is what the work gave for member 17.

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
        """How it ended: equal to `cd.Status.FINISHED` if every member has a result."""
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
        """One row per member: what was varied, then the numbers that came of it, NaN where it failed."""
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
        """What the work gave for some members, by default for all that finished; each file is read once."""
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
        """Means, standard deviations, quantiles and histograms of the numbers: also with `reduce=True`, and then
        the same to the last bit."""
        if self._nodes is not None:
            return Summary(self._nodes.root)
        index, blocks = np.flatnonzero(self._done), -(-len(self) // BLOCK)
        return Summary(node_of(index, {name: x[index] for name, x in self._numbers.items()}, 0, blocks))

    def _number(self, name: str) -> Array:
        if self._nodes is not None:
            raise DescriptionError(
                f"sweep: {name!r}: results stayed on the workers (reduce=True): sweep.summary has what there is"
            )
        if name not in self._numbers:
            raise UnknownNameError("result", name, self._numbers)
        return self._numbers[name]

    def sensitivity(self, name: str, *, confidence: float = 0.95, resamples: int = 200) -> Sensitivity:
        """Sobol indices of a number: which share of its variance each quantity explains, alone (`first`) and
        with all others (`total`), with confidence intervals.

        Members of `method="saltelli"` give them by the estimators of `scipy.stats.sobol_indices`. Of others they
        are those of a polynomial that is fitted to the results, if that explains them; else they are estimated
        from neighbors in the sample, total ones only of "random" and "latin" members.

        Args:
            name: of the number.
            confidence: of the intervals.
            resamples: of the bootstrap.

        Raises:
            DescriptionError: quantities that depend on each other; too few members.
        """
        found = indices(self.members, name, self._number(name), confidence, resamples)
        slopes = self.local(name)
        if not slopes:
            return found
        slope = np.array([slopes[quantity] for quantity in found.quantities])
        parts = slope**2 * self.members.values.var(axis=0)
        return replace(found, slope=slope, linear=parts / parts.sum() if parts.sum() else parts)

    def local(self, name: str) -> dict[str, float]:
        """Exact derivatives of a number by each quantity, at the mean of the members: of a `cd.Simulation` whose
        measure is a variable at the end. Empty where there are none."""
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
        from condyle.table.plots import COLORS, on

        if kind not in KINDS:
            raise UnknownNameError("kind of plot", kind, KINDS)
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
        """Take in results."""
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


def sweep(
    work: Simulation | Callable[[Member], object] | Callable[[Table], object],
    members: Table,
    *,
    executor: str | Executor | DaskClient | Pool | None = None,
    store: str | Path | None = None,
    chunk: int | None = None,
    retries: int = 2,
    measures: Mapping[str, Measure] | None = None,
    batched: bool | None = None,
    reduce: bool = False,
    seed: int | None = None,
    progress: bool | Callable[[float], object] = False,
) -> Sweep:
    """Run a work for many members: here, in processes, or on a cluster. Results do not depend on where, in which
    order and in which chunks they run. A member that fails is a row with a reason. Ctrl-C returns what there
    is; with a store, a second call goes on where the first ended.

    Args:
        work: a `cd.Simulation`, the fast way; or a function of a member (a dict of its quantities, with `index`
            and `random()`) that returns a number, text, array, Table, Trajectory, or a dict of these; or, with
            `batched`, a function of a Table of members that returns arrays with one row each. A Trajectory is
            kept as its Table.
        members: from `cd.members`, or a Table with one row per member.
        executor: None runs here; "processes" in as many processes as there are cores; or an Executor as of
            concurrent.futures (joblib's loky, MPI's), a Dask Client, or its address "tcp://...", used as given, or
            a pool with `apply_async` (multiprocessing's, Ray's).
        store: a folder for results, written as they come.
        chunk: members of one task; found by default.
        retries: how often a member that failed, or whose process died, is tried again.
        measures: of a Simulation, by name: a variable, whose value at the end is taken, a function of the
            Ensemble with one row per member, or a function of each Trajectory, if its argument is called
            traj. All variables at the end by default.
        batched: whether the function takes a Table; by default, whether its argument is called members.
        reduce: keep only a summary of the numbers (means, quantiles, histograms), made on the workers; with it,
            `sweep.summary` is all there is, however many members there are.
        seed: of `member.random()`; that of the members by default.
        progress: True shows a bar with rate, time left and failures; a function is called with the share done.

    Raises:
        DescriptionError: invalid arguments; a store that holds another study.
    """
    table = _checked(members)
    for name, value, least in (("chunk", chunk, 1), ("retries", retries, 0)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
            raise DescriptionError(f"sweep: {name}: expected a whole number from {least} on, got {value!r}")
    seed = int(getattr(members, "seed", 0) if seed is None else seed)
    place = Place(executor)
    try:
        job, named = _job(work, measures, batched, 1 if place.remote else None)
        if reduce:
            job = jobs.Reduced(job, retries)
        kept = None
        if store is not None:
            manifest = {"name": named, "count": len(table), "seed": seed}
            manifest |= {
                "work": digest(work, dict(measures or {})),
                "members": digest(table),
                "reduce": reduce,
            }
            kept = Store(store, manifest, table)
        result = Sweep(members, kept)
        result._nodes = Nodes(len(table)) if reduce else None
        result._work, result._measures = work, measures
        try:
            run = _Run(result, job, table, seed, place, kept, chunk, retries)
            report, stop = reported("sweep", progress)
            try:
                run.go(report)
            finally:
                stop()
        finally:
            if kept is not None:
                with contextlib.suppress(OSError):
                    kept.log(f"ended: {result.status}")
                kept.close()
        return result
    finally:
        place.close()


def indices(members: Table, name: str, y: Array, confidence: float, resamples: int) -> Sensitivity:
    """Sobol indices of a number of members, by what suits how they were drawn."""
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


def _checked(members: Any) -> Table:
    if not isinstance(members, Table) or not len(members):
        raise DescriptionError(
            f"sweep: members: expected a Table with rows, from cd.members, got {members!r}"
        )
    return Sample(members.names, members.values, members.units)


def _job(work: Any, measures: Any, batched: bool | None, threads: int | None) -> tuple[jobs.Job, str]:
    """What workers run, and its name."""
    if isinstance(work, Simulation):
        return Measured(work, measures, threads), "Simulation"
    if measures is not None:
        raise DescriptionError(
            "sweep: measures= are for a cd.Simulation; a function returns what it measures"
        )
    if not callable(work):
        raise DescriptionError(
            f"sweep: work: expected a function of a member, or a cd.Simulation, got {work!r}"
        )
    name = getattr(work, "__qualname__", type(work).__name__)
    if batched is None:
        try:
            batched = next(iter(inspect.signature(work).parameters), "") == "members"
        except ValueError:
            batched = False
    return (jobs.ByChunk(work) if batched else jobs.OneByOne(work)), name


class _Task:
    """Members that run together, how often they were tried, and whether the worker asked for the job."""

    def __init__(self, index: np.ndarray, attempt: int) -> None:
        self.index, self.attempt = index, attempt
        self.asked: str | None = None


class _Run:
    """A sweep while it runs."""

    def __init__(
        self,
        result: Sweep,
        job: jobs.Job,
        members: Table,
        seed: int,
        place: Place,
        store: Store | None,
        chunk: int | None,
        retries: int,
    ) -> None:
        self.result, self.job, self.members, self.seed = result, job, members, seed
        self.place, self.store, self.chunk, self.retries = place, store, chunk, retries
        self.reduced = isinstance(job, jobs.Reduced)
        inner = job.job if isinstance(job, jobs.Reduced) else job
        self.size = chunk or (1 if isinstance(inner, jobs.OneByOne) else 256)
        self.again: deque[_Task] = deque()
        self.suspects: deque[_Task] = deque()
        self.ended: queue.SimpleQueue[tuple[_Task, Future]] = queue.SimpleQueue()
        self.held: list[Part] = []
        self.written, self.cost = 0.0, 0.0
        self.payload = jobs.dumped(job) if place.remote else b""
        self.name = hashlib.sha256(self.payload).hexdigest()
        self.sent, self.kind = 0, ""
        self.code: dict[str, dict[str, bytes]] = {}
        self._resume()
        self.began, self.before, self.told = time.perf_counter(), int(result._done.sum()), 0.0
        self.counted = self.began

    def _resume(self) -> None:
        for path, part in self.store.stored() if self.store else ():
            self.result.add(part, path)
        over = [i for i, f in self.result._failed.items() if f.attempts > self.retries]
        waits = ~self.result._done
        waits[over] = False
        self.waiting, self.at = np.flatnonzero(waits), 0
        if self.reduced:  # whole blocks
            self.waiting = np.unique(self.waiting // BLOCK)
        if self.store:
            self.store.log(f"began: {int(waits.sum())} of {len(self.members)} members to run")

    def go(self, report: Report | None) -> None:
        """Until every member has a result or has failed, or Ctrl-C."""
        flying: dict[Future, _Task] = {}
        # one task first: what it compiles goes with the others
        alone = self.place.remote and self.place.workers > 1
        idle = [self.place.executor.submit(jobs.ready) for _ in range(self.place.workers - 1) if alone]
        try:
            while True:
                if alone and (self.kind or time.perf_counter() > self.began + ALONE):
                    alone = False
                # after a death one suspect at a time, so that the guilty one is found
                room = 1 if self.suspects or alone else 2 * self.place.workers
                while len(flying) < room and (task := self._next()) is not None:
                    self._send(task, flying)
                if not flying:
                    break
                try:
                    task, future = self.ended.get(timeout=0.2)
                except queue.Empty:
                    task = None  # type: ignore[assignment]
                if task is not None and flying.pop(future, None) is not None:
                    self._take(task, future, flying)
                self._write()
                self._tell(report)
        except KeyboardInterrupt:
            self.result._interrupted = True
        finally:
            for future in [*idle, *flying]:
                future.cancel()
            self._write(now=True)
            if not self.result._interrupted:
                self._tell(report, now=True)

    def _tell(self, report: Report | None, now: bool = False) -> None:
        """Progress to who asked for it, and now and then into the log."""
        at = time.perf_counter()
        if at - self.counted > 5.0:
            self.counted = at
            self.place.count()
        log = self.store is not None and at - max(self.told, self.began) > OFTEN
        if report is None and not log:
            return
        done, n = int(self.result._done.sum()), len(self.members)
        failed = len(self.result._failed)
        rate = (done - self.before) / max(at - self.began, 1e-9)
        words = f"{done:,} of {n:,} members, {rate:.3g}/s"
        words += f", {time_left((n - done - failed) / rate)} left" if rate and done + failed < n else ""
        words += f", {failed} failed" if failed else ""
        if report is not None:
            report((done + failed) / n, words)
        if log and self.store is not None:
            self.told = at
            with contextlib.suppress(OSError):
                self.store.log(words)

    def _next(self) -> _Task | None:
        for tasks in (self.suspects, self.again):
            if tasks:
                return tasks.popleft()
        if self.at >= len(self.waiting):
            return None
        left = len(self.waiting) - self.at
        even = -(-left // (4 * self.place.workers)) if self.place.remote else left
        if self.reduced:
            first, total = int(self.waiting[self.at]), -(-len(self.members) // BLOCK)
            free = int(np.argmax(np.diff(self.waiting[self.at :], append=-1) != 1)) + 1
            wish = self.size // BLOCK if self.chunk else min(self.size // BLOCK, even)
            blocks = aligned(first, free, wish, total)
            self.at += blocks
            return _Task(np.arange(first * BLOCK, min((first + blocks) * BLOCK, len(self.members))), 1)
        size = self.size if self.chunk else max(1, min(self.size, max(even, 64)))
        index = self.waiting[self.at : self.at + size]
        self.at += size
        return _Task(index, 1)

    def _send(self, task: _Task, flying: dict[Future, _Task]) -> None:
        index = task.index
        even = len(index) and index[-1] - index[0] == len(index) - 1  # they are in order
        some = self.members._with(rows=slice(int(index[0]), int(index[-1]) + 1) if even else index)
        try:
            if self.place.remote:
                payload = None
                if task.asked is not None or self.sent < 2 * self.place.workers:
                    kind = task.asked or self.kind
                    payload = jobs.Payload(self.payload, kind, self.code.get(kind, {}))
                    self.sent += 1
                future = self.place.executor.submit(jobs.run, self.name, payload, some, self.seed)
            else:
                future = self.place.executor.submit(_here, self.job, some, self.seed)
        except BrokenExecutor:
            self._broken([task, *flying.values()])
            flying.clear()
            return
        flying[future] = task
        future.add_done_callback(lambda f: self.ended.put((task, f)))

    def _take(self, task: _Task, future: Future, flying: dict[Future, _Task]) -> None:
        try:
            reply = future.result()
        except BrokenExecutor:
            self._broken([task, *flying.values()])
            flying.clear()
            return
        except Exception as error:  # of the engine: a worker died, a result that cannot travel
            if type(error).__name__ in ("CancelledError", "FutureCancelledError"):
                raise CondyleError(
                    "sweep: the scheduler of the executor is gone or has canceled the work"
                    + ("; what came until now is stored: call again to go on" if self.store else "")
                ) from error
            self._failed(task, jobs.reason(error))
            return
        self.kind = self.kind or reply.kind or "?"
        if reply.code:
            self.code.setdefault(reply.kind, reply.code)
        part = reply.part
        if part is None:  # a worker that came later
            task.asked = reply.kind
            self.again.appendleft(task)
            return
        if self.reduced:
            part.index = np.setdiff1d(task.index, list(part.failures)) if part.failures else task.index
        else:
            again = {i: words for i, words in part.failures.items() if task.attempt <= self.retries}
            if again:
                self.again.append(_Task(np.array(sorted(again)), task.attempt + 1))
                part.failures = {i: words for i, words in part.failures.items() if i not in again}
            part.attempts = dict.fromkeys(part.failures, task.attempt)
        if self.chunk is None and (self.reduced or len(task.index) == self.size):
            wish = LONG * len(task.index) / max(reply.seconds, 1e-6)
            self.size = int(np.clip(wish, 1, min(MOST, 8 * len(task.index))))
        self._keep(part)

    def _broken(self, tasks: list[_Task]) -> None:
        """Processes died: try what they had again, one by one."""
        if not self.place.begin():
            raise CondyleError(
                "sweep: the executor is broken, one of its processes died"
                + ("; what came until now is stored: call again to go on" if self.store else "")
            )
        self.sent = 0
        for task in tasks:
            self._failed(task, "its process died")

    def _failed(self, task: _Task, words: str) -> None:
        """A whole task failed: again, then in halves, until the guilty member (or block) is alone."""
        n, unit = len(task.index), BLOCK if self.reduced else 1
        if task.attempt <= self.retries:
            self.suspects.append(_Task(task.index, task.attempt + 1))
        elif n > unit:
            half = n // 2 if not self.reduced else BLOCK << (-(-n // BLOCK) - 1).bit_length() - 1
            self.suspects.extend(
                _Task(index, task.attempt) for index in (task.index[:half], task.index[half:])
            )
        else:
            part = Part(np.empty(0, np.int64), failures=dict.fromkeys(task.index.tolist(), words))
            part.attempts = dict.fromkeys(part.failures, task.attempt)
            part.nodes = {(0, int(task.index[0]) // BLOCK): {}} if self.reduced else {}
            self._keep(part)

    def _keep(self, part: Part) -> None:
        if len(part.index) or part.failures:
            self.held.append(part)

    def _write(self, now: bool = False) -> None:
        """Take in what has come, and store it: at once, unless writing would take too much of the time."""
        if not self.held or not (
            now or time.perf_counter() >= self.written + min(SHARE * self.cost, UNWRITTEN)
        ):
            return
        part = joined(self.held)
        self.held = []
        begin = time.perf_counter()
        if self.store is not None:
            path = self.store.write(part)
            self.result.add(part, path)
        else:
            self.result.add(part, part)
        self.written = time.perf_counter()
        self.cost = self.written - begin


def _here(job: jobs.Job, members: Table, seed: int) -> jobs.Reply:
    begin = time.perf_counter()
    part = job.answer(members, seed)
    return jobs.Reply(part, seconds=time.perf_counter() - begin)


def time_left(seconds: float) -> str:
    """As a person says it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
