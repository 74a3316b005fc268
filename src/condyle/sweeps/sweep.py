"""`cd.sweep`: a work for many members, here or anywhere, with results that are stored as they come.

What a member gives depends on the member alone, so results are the same whatever the executor, the chunks,
their order and the number of workers. The process that calls `cd.sweep` writes the store; workers only answer.
"""

from __future__ import annotations

import contextlib
import inspect
import queue
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from condyle.errors import CondyleError, DescriptionError, UnknownNameError
from condyle.integrate.progress import Report, reported
from condyle.presentation import Block, Display, cut, page
from condyle.records import dataclass
from condyle.status import Outcome, Status
from condyle.sweeps import jobs
from condyle.sweeps.digest import digest
from condyle.sweeps.executors import DaskClient, Place
from condyle.sweeps.parts import Part, Result, joined
from condyle.sweeps.sample import Member, Sample
from condyle.sweeps.sensitivity import Sensitivity, of_design, of_sample
from condyle.sweeps.simulation import Measure, Measured, Simulation
from condyle.sweeps.store import Store
from condyle.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONG = 0.5
"""[s] that a chunk shall take."""
MOST = 1 << 15
"""Members of a chunk at most: what it keeps is in memory."""
SHARE = 20.0
"""Between two writes there is so many times the time of one."""


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
        raise DescriptionError(f"sweep[{i}]: the member has not run: {self.status}")

    def sensitivity(self, name: str, *, confidence: float = 0.95, resamples: int = 200) -> Sensitivity:
        """Sobol indices of a number: which share of its variance each quantity explains, alone (`first`) and
        with all others (`total`), with confidence intervals.

        Members of `method="saltelli"` give them by the estimators of `scipy.stats.sobol_indices`; of others
        they are estimated from neighbors in the sample, which needs more members for the same accuracy, and
        total ones only from "random" and "latin" members.

        Args:
            name: of the number.
            confidence: of the intervals.
            resamples: of the bootstrap.

        Raises:
            DescriptionError: quantities that depend on each other; too few members.
        """
        if name not in self._numbers:
            raise UnknownNameError("result", name, self._numbers)
        if getattr(self.members, "correlated", False):
            raise DescriptionError(
                "sensitivity: Sobol indices are for quantities that do not depend on each other, and these were "
                "drawn with correlations; sweep.plot(name, against=quantity) shows what can be seen"
            )
        y, names = self._numbers[name], self.members.names
        method, x = getattr(self.members, "method", ""), self.members.values
        if method == "saltelli":
            return of_design(name, names, x, y, confidence, resamples)
        independent = method in ("", "random", "latin")
        return of_sample(name, names, x, y, confidence, resamples, independent)

    def convergence(self, name: str) -> Table:
        """Mean of a number over the first 1, 2, ... members that finished, and its standard error."""
        y = self.table[name]
        at = np.flatnonzero(np.isfinite(y))
        y, n = y[at], np.arange(1, len(at) + 1)
        mean = np.cumsum(y) / n
        var = np.maximum(np.cumsum((y - y[:1].sum()) ** 2) / n - (mean - y[:1].sum()) ** 2, 0.0)
        error = np.sqrt(var / np.maximum(n - 1, 1))
        return Table(at, ["mean", "standard error"], np.column_stack([mean, error]), over="member")

    def plot(self, name: str, against: str, axes: Axes | None = None) -> Axes:
        """A scatter plot of a number over what was varied.

        Args:
            name: of the number.
            against: a quantity.
            axes: matplotlib's; new ones by default.
        """
        import matplotlib.pyplot as plt

        axes = plt.subplots()[1] if axes is None else axes
        axes.plot(self.table[against], self.table[name], ".", markersize=2)
        axes.set_xlabel(against)
        axes.set_ylabel(name)
        return axes

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
        if len(part.index):
            self._parts.append((part.index, where))
        self.__dict__.pop("table", None)

    plumbing = frozenset({"add"})


def sweep(
    work: Simulation | Callable[[Member], object] | Callable[[Table], object],
    members: Table,
    *,
    executor: str | Executor | DaskClient | None = None,
    store: str | Path | None = None,
    chunk: int | None = None,
    retries: int = 2,
    measures: Mapping[str, Measure] | None = None,
    batched: bool | None = None,
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
        executor: None runs here; "processes" in as many processes as there are cores; or an Executor as
            of concurrent.futures (loky's, MPI's), a Dask Client, or its address "tcp://...", used as given.
        store: a folder for results, written as they come.
        chunk: members of one task; found by default.
        retries: how often a member that failed, or whose process died, is tried again.
        measures: of a Simulation, by name: a variable, whose value at the end is taken, a function of the
            Ensemble with one row per member, or a function of each Trajectory, if its argument is called
            traj. All variables at the end by default.
        batched: whether the function takes a Table; by default, whether its argument is called members.
        seed: of `member.random()`; that of the members by default.
        progress: True shows a bar; a function is called with the share done.

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
        kept = None
        if store is not None:
            manifest = {"name": named, "count": len(table), "seed": seed}
            manifest |= {"work": digest(work, dict(measures or {})), "members": digest(table)}
            kept = Store(store, manifest, table)
        result = Sweep(members, kept)
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
    """Members that run together, and how often they were tried."""

    def __init__(self, index: np.ndarray, attempt: int) -> None:
        self.index, self.attempt = index, attempt


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
        self.size = chunk or (1 if isinstance(job, jobs.OneByOne) else 256)
        self.again: deque[_Task] = deque()
        self.suspects: deque[_Task] = deque()
        self.ended: queue.SimpleQueue[tuple[_Task, Future, float]] = queue.SimpleQueue()
        self.held: list[Part] = []
        self.written, self.cost = 0.0, 0.0
        self.payload = jobs.dumped(job) if place.remote else b""
        self._resume()

    def _resume(self) -> None:
        for path, part in self.store.stored() if self.store else ():
            self.result.add(part, path)
        over = [i for i, f in self.result._failed.items() if f.attempts > self.retries]
        waits = ~self.result._done
        waits[over] = False
        self.waiting, self.at = np.flatnonzero(waits), 0
        if self.store:
            self.store.log(f"began: {len(self.waiting)} of {len(self.members)} members to run")

    def go(self, report: Report | None) -> None:
        """Until every member has a result or has failed, or Ctrl-C."""
        flying: dict[Future, _Task] = {}
        try:
            while True:
                # after a death one suspect at a time, so that the guilty one is found
                room = 1 if self.suspects else 2 * self.place.workers
                while len(flying) < room and (task := self._next()) is not None:
                    self._send(task, flying)
                if not flying:
                    break
                try:
                    task, future, seconds = self.ended.get(timeout=0.2)
                except queue.Empty:
                    task = None  # type: ignore[assignment]
                if task is not None and flying.pop(future, None) is not None:
                    self._take(task, future, seconds, flying)
                self._write()
                if report is not None:
                    report(float(self.result._done.mean()))
        except KeyboardInterrupt:
            self.result._interrupted = True
        finally:
            for future in flying:
                future.cancel()
            self._write(now=True)

    def _next(self) -> _Task | None:
        for tasks in (self.suspects, self.again):
            if tasks:
                return tasks.popleft()
        if self.at >= len(self.waiting):
            return None
        even = -(-(len(self.waiting) - self.at) // (4 * self.place.workers))
        size = self.size if self.chunk else max(1, min(self.size, max(even, 64)))
        index = self.waiting[self.at : self.at + size]
        self.at += size
        return _Task(index, 1)

    def _send(self, task: _Task, flying: dict[Future, _Task]) -> None:
        begin = time.perf_counter()
        some = self.members._with(rows=task.index)
        try:
            if self.place.remote:
                future = self.place.executor.submit(jobs.run, self.payload, some, self.seed)
            else:
                future = self.place.executor.submit(self.job.answer, some, self.seed)
        except BrokenExecutor:
            self._broken([task, *flying.values()])
            flying.clear()
            return
        flying[future] = task
        future.add_done_callback(lambda f: self.ended.put((task, f, time.perf_counter() - begin)))

    def _take(self, task: _Task, future: Future, seconds: float, flying: dict[Future, _Task]) -> None:
        try:
            part = future.result()
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
        again = {i: words for i, words in part.failures.items() if task.attempt <= self.retries}
        if again:
            self.again.append(_Task(np.array(list(again)), task.attempt + 1))
            part.failures = {i: words for i, words in part.failures.items() if i not in again}
        part.attempts = dict.fromkeys(part.failures, task.attempt)
        if self.chunk is None and len(task.index) == self.size:
            wish = LONG * len(task.index) / max(seconds, 1e-6)
            self.size = int(np.clip(wish, 1, min(MOST, 8 * self.size)))
        self._keep(part)

    def _broken(self, tasks: list[_Task]) -> None:
        """Processes died: try what they had again, one by one."""
        if not self.place.begin():
            raise CondyleError(
                "sweep: the executor is broken, one of its processes died"
                + ("; what came until now is stored: call again to go on" if self.store else "")
            )
        for task in tasks:
            self._failed(task, "its process died")

    def _failed(self, task: _Task, words: str) -> None:
        """A whole task failed: again, then in halves, until the guilty member is alone."""
        if task.attempt <= self.retries:
            self.suspects.append(_Task(task.index, task.attempt + 1))
        elif len(task.index) > 1:
            half = len(task.index) // 2
            self.suspects.extend(
                _Task(index, task.attempt) for index in (task.index[:half], task.index[half:])
            )
        else:
            i = int(task.index[0])
            self._keep(Part(np.empty(0, np.int64), failures={i: words}, attempts={i: task.attempt}))

    def _keep(self, part: Part) -> None:
        if len(part.index) or part.failures:
            self.held.append(part)

    def _write(self, now: bool = False) -> None:
        """Take in what has come, and store it: at once, unless writing would take too much of the time."""
        if not self.held or not (now or time.perf_counter() >= self.written + SHARE * self.cost):
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
