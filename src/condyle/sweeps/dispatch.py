"""Scheduling of a sweep: order and place of members, retries, and writing of results."""

from __future__ import annotations

import contextlib
import hashlib
import queue
import time
from collections import deque
from concurrent.futures import BrokenExecutor, Future
from typing import TYPE_CHECKING

import numpy as np

from condyle.errors import CondyleError
from condyle.integrate.progress import ProgressReport
from condyle.sweeps import jobs
from condyle.sweeps.executors import Place
from condyle.sweeps.parts import Part, joined
from condyle.sweeps.result import Sweep
from condyle.sweeps.store import Store
from condyle.sweeps.summary import BLOCK, aligned
from condyle.table import Table

if TYPE_CHECKING:
    pass

LONG = 0.5
"""Target time of a chunk [s]."""
MOST = 1 << 15
"""Maximum number of members of a chunk, whose results are in memory."""
SHARE = 20.0
"""Time between two writes, as a multiple of the time of one."""
ALONE = 10.0
"""Maximum time that other workers wait for the first one to compile [s]."""
OFTEN = 10.0
"""Time between two lines of progress in the log [s]."""
UNWRITTEN = 1.0
"""Maximum time before results are written [s]."""


class Task:
    """Members that run together, the number of attempts, and whether the worker requested the job."""

    def __init__(self, index: np.ndarray, attempt: int) -> None:
        self.index, self.attempt = index, attempt
        self.asked: str | None = None


class Dispatch:
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
        self.again: deque[Task] = deque()
        self.suspects: deque[Task] = deque()
        self.ended: queue.SimpleQueue[tuple[Task, Future]] = queue.SimpleQueue()
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
        if self.reduced:  # complete blocks
            self.waiting = np.unique(self.waiting // BLOCK)
        if self.store:
            self.store.log(f"began: {int(waits.sum())} of {len(self.members)} members to run")

    def go(self, report: ProgressReport | None) -> None:
        """Run until every member has a result or has failed, or until Ctrl-C."""
        flying: dict[Future, Task] = {}
        # one task first: others reuse its machine code
        alone = self.place.remote and self.place.workers > 1
        idle = [self.place.executor.submit(jobs.ready) for _ in range(self.place.workers - 1) if alone]
        try:
            while True:
                if alone and (self.kind or time.perf_counter() > self.began + ALONE):
                    alone = False
                # after a worker died, run suspects one at a time to find the culprit
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

    def _tell(self, report: ProgressReport | None, now: bool = False) -> None:
        """Report progress, and write it to the log periodically."""
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

    def _next(self) -> Task | None:
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
            return Task(np.arange(first * BLOCK, min((first + blocks) * BLOCK, len(self.members))), 1)
        size = self.size if self.chunk else max(1, min(self.size, max(even, 64)))
        index = self.waiting[self.at : self.at + size]
        self.at += size
        return Task(index, 1)

    def _send(self, task: Task, flying: dict[Future, Task]) -> None:
        index = task.index
        even = len(index) and index[-1] - index[0] == len(index) - 1  # in order
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

    def _take(self, task: Task, future: Future, flying: dict[Future, Task]) -> None:
        try:
            reply = future.result()
        except BrokenExecutor:
            self._broken([task, *flying.values()])
            flying.clear()
            return
        except Exception as error:  # an error of the executor: a worker died, or a result cannot be sent
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
        if part is None:  # a worker that joined later
            task.asked = reply.kind
            self.again.appendleft(task)
            return
        if self.reduced:
            part.index = np.setdiff1d(task.index, list(part.failures)) if part.failures else task.index
        else:
            again = {i: words for i, words in part.failures.items() if task.attempt <= self.retries}
            if again:
                self.again.append(Task(np.array(sorted(again)), task.attempt + 1))
                part.failures = {i: words for i, words in part.failures.items() if i not in again}
            part.attempts = dict.fromkeys(part.failures, task.attempt)
        if self.chunk is None and (self.reduced or len(task.index) == self.size):
            wish = LONG * len(task.index) / max(reply.seconds, 1e-6)
            self.size = int(np.clip(wish, 1, min(MOST, 8 * len(task.index))))
        self._keep(part)

    def _broken(self, tasks: list[Task]) -> None:
        """Retry the tasks of processes that died, one by one."""
        if not self.place.begin():
            raise CondyleError(
                "sweep: the executor is broken, one of its processes died"
                + ("; what came until now is stored: call again to go on" if self.store else "")
            )
        self.sent = 0
        for task in tasks:
            self._failed(task, "its process died")

    def _failed(self, task: Task, words: str) -> None:
        """Retry a failed task, then halve it until the faulty member (or block) is isolated."""
        n, unit = len(task.index), BLOCK if self.reduced else 1
        if task.attempt <= self.retries:
            self.suspects.append(Task(task.index, task.attempt + 1))
        elif n > unit:
            half = n // 2 if not self.reduced else BLOCK << (-(-n // BLOCK) - 1).bit_length() - 1
            self.suspects.extend(
                Task(index, task.attempt) for index in (task.index[:half], task.index[half:])
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
        """Collect results and store them, unless writing would take too large a share of the time."""
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
    """Remaining time as text."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
