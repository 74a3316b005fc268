"""Runs of ensembles.

`EnsembleRun` is one native program in several threads, each with its own lanes, and one queue of members for
all. Lanes advance together and an event would stop one of them, so members with events do not share lanes:
`EachRun` runs each of them separately (run.py) in the native loop for one state, with the same result to the
last bit as without the others. Threads share a queue of members.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import field, fields, replace
from functools import partial

import numpy as np

from condyle.integrate.ensemble import COUNTS, AtTimes, Ensemble, EnsembleSteps, Members, Runs
from condyle.integrate.integrators import Method
from condyle.integrate.interrupts.knots import table
from condyle.integrate.interrupts.path_jumps import Branches
from condyle.integrate.interrupts.time_signals import timed
from condyle.integrate.manifold import Manifold
from condyle.integrate.native import native
from condyle.integrate.run import INTERVAL, RunSettings, SimulationRun
from condyle.integrate.step_loop import SUMMARY
from condyle.integrate.steps import ROW, StepRows
from condyle.integrate.trajectory import Statistics, Trajectory
from condyle.native.machine import threads
from condyle.native.programs.program import Program, Workspace
from condyle.records import dataclass
from condyle.status import Outcome, Status

LOG_BYTES = 8e6
"""Memory for the log of steps of a thread; it is emptied when it is nearly full."""
LIMIT = 2**60
"""Rounds of the native loop: no limit."""
COUNTED = ("t", "steps", "rejected", "evaluations")
"""Result of a member that was interrupted."""


@dataclass(frozen=True)
class Log:
    """Rows that native code writes, and the object that receives them when the log is full.

    Attributes:
        rows: its streams.
        count: the stream with the number of rows written.
        capacity: largest number of rows.
        kept: receives the rows.
    """

    rows: dict[str, np.ndarray]
    count: str
    capacity: int
    kept: list[dict[str, np.ndarray]]


@dataclass
class ManyRuns:
    """Runs of many members in progress.

    Args:
        times: stored times of each member besides its ends; None for every step.
    """

    members: Members
    program: Program
    tables: dict[str, np.ndarray]
    method: Method
    settings: RunSettings
    times: np.ndarray | None
    stop: bool = False

    @property
    def manifold(self) -> Manifold:
        return Manifold.of_run(self.members.system, self.settings.weights, self.settings.accuracy)

    def _wait(self, jobs: Sequence[Callable[[], None]], share: Callable[[], float]) -> None:
        """Run all jobs, each in a thread of its own. The main thread only waits, so that an interrupt leaves
        no work half done.

        Args:
            share: fraction of the members that is done.
        """
        from concurrent.futures import wait  # 2.5 ms, needless for a single run

        futures, report = threads.submit(jobs), self.settings.report
        try:
            if not futures:  # the interpreter is about to end
                jobs[0]()
            while wait(futures, INTERVAL).not_done:
                if report is not None:
                    report(share())
        except KeyboardInterrupt:
            pass
        finally:
            self.stop = True
            wait(futures)
        for future in futures:
            future.result()


@dataclass
class EnsembleRun(ManyRuns):
    """One simulation of many members in lanes."""

    logs: list[dict[str, np.ndarray]] = field(default_factory=list)
    suspects: list[dict[str, np.ndarray]] = field(default_factory=list)

    def __post_init__(self) -> None:
        m, n = self.members, self.members.y.shape[1]
        N = len(m)
        start = self.program.layout["sizes"]["p"]
        self.shared = {
            "queue": np.zeros((1, 1)),
            "t0": m.t[:, None],
            "y0": m.y,
            "p0": np.ascontiguousarray(m.tail[:, m.tail.shape[1] - start :]),
            "ended": np.full((N, len(SUMMARY)), np.nan),
            "y_end": m.y.copy(),
            "f_end": np.zeros((N, n)),
        } | self.tables
        self.shared["ended"][:, 0] = m.t
        if "knots" in self.program.layout["streams"]:
            starts = np.full(N, m.t.min()), m.t
            self.shared["knots"], first = table(
                timed(m[0].system), m.tail, starts, self.settings, self.method
            )
            self.shared["first_knot"] = first[:, None]
        if self.times is not None:
            first = np.searchsorted(self.times, m.t, side="right")
            out = np.full((N, len(self.times), n), np.nan)
            for k, t in enumerate(self.times):
                out[m.t == t, k] = m.y[m.t == t]
            self.shared |= {
                "times": np.append(self.times, np.inf)[:, None],
                "first": first[:, None].astype(float),
                "out": out.reshape(-1, n),
            }
        self.workspaces: list[Workspace] = []

    def _workspace(self) -> Workspace:
        s, ws = self.settings, self.program.workspace()
        ws["count"], ws["t_end"], ws["h_max"] = len(self.members), s.t_final, s.max_step or np.inf
        ws["h_start"], ws["fixed"], ws["way"] = s.step or 0.0, float(s.step is not None), 1.0
        ws["accuracy"], ws["weights"] = s.accuracy, s.weights
        ws["times_count"] = 0 if self.times is None else len(self.times)
        return ws

    def go(self, count: int) -> Ensemble:
        """Run in `count` threads."""
        count, N = max(1, min(count, -(-len(self.members) // self.program.W))), len(self.members)
        self.workspaces = [self._workspace() for _ in range(count)]
        done = lambda: sum(float(ws["done"].sum()) for ws in self.workspaces) / N
        self._wait([partial(self._serve, ws) for ws in self.workspaces], done)
        ensemble = self._ensemble()
        if not ensemble.done.all() or not len(again := self._jumping()):
            return ensemble
        made = native(ensemble.system, self.method)
        runs = EachRun(self.members.subset(again), *made, self.method, self.settings, self.times)
        return ensemble.with_runs(again, runs.go(count))

    def _jumping(self) -> np.ndarray:
        """Members, ascending, in whose steps the length of a path jumps: a separate run locates the jump and
        restarts just after it.
        """
        system, n = self.members.system, self.members.y.shape[1]
        branches = Branches.of_system(system)
        logs = [log["suspects"] for log in self.suspects if len(log["suspects"])]
        if branches is None or not logs:
            return np.empty(0, dtype=int)
        rows = np.concatenate(logs)
        member, ends = rows[:, 0].astype(int), 1 + 2 * (2 * n + 1)
        pairs, more = rows[:, 1:ends].reshape(-1, 2 * n + 1), rows[:, ends:]  # t, y, f at both ends
        dense = np.zeros((len(pairs), more.shape[1] // n, n))
        dense[1::2] = more.reshape(len(rows), -1, n)
        steps = StepRows(pairs[:, 0], pairs[:, 1 : 1 + n], pairs[:, 1 + n :], dense, self.method)
        tails = self.members.tail

        def y_at(k: np.ndarray, t: np.ndarray) -> np.ndarray:
            return self.manifold.nearest(system, tails[member[k // 2]], t, steps.at(k, t))

        seen = branches.look(tails[np.repeat(member, 2)], steps.t, steps.y).signatures
        suspects = branches.suspects(steps.t, seen, np.arange(0, len(pairs), 2))
        found = branches.located(suspects, lambda k: tails[member[k // 2]], y_at, self.settings.accuracy)
        return np.unique(member[np.array(sorted(found), dtype=int) // 2])

    def _serve(self, ws: Workspace) -> None:
        """Take members until the queue is empty or the run is stopped."""
        program, streams, W = self.program, dict(self.shared), self.program.W
        logs = self._logs()
        for log in logs:
            streams |= log.rows | {log.count: np.zeros((1, 1))}
        full = lambda log: int(streams[log.count][0, 0])
        try:
            program.start(ws, streams, {"limit": LIMIT})
            rounds, clock = 20, time.perf_counter()
            while not self.stop:
                budget = min(rounds, *((log.capacity - full(log)) // W for log in logs)) if logs else rounds
                ended = program.advance(ws, budget)
                before, clock = clock, time.perf_counter()
                rounds = int(np.clip(budget * INTERVAL / (clock - before), rounds / 4, 4 * rounds)) + 1
                for log in logs:
                    if ended or full(log) > log.capacity // 2:
                        self._empty(log, streams[log.count])
                if ended:
                    break
        except BaseException:
            self.stop = True  # for the others too
            raise
        for log in logs:
            self._empty(log, streams[log.count])

    def _logs(self) -> list[Log]:
        """Memory for one thread's rows of steps, where all are kept, and of suspects, where paths may
        jump."""
        widths = {name: s["size"] for name, s in self.program.layout["streams"].items()}
        wanted = [(["suspects"], "suspect_count", self.suspects)] if "suspects" in widths else []
        if self.times is None:
            wanted.append(([name for name in widths if name.startswith(ROW)], "row_count", self.logs))
        out = []
        for names, count, kept in wanted:
            capacity = max(64 * self.program.W, int(LOG_BYTES / 8 / sum(widths[name] for name in names)))
            out.append(
                Log({name: np.empty((capacity, widths[name])) for name in names}, count, capacity, kept)
            )
        return out

    def _empty(self, log: Log, rows: np.ndarray) -> None:
        count = int(rows[0, 0])
        log.kept.append({name: array[:count].copy() for name, array in log.rows.items()})
        rows[0, 0] = 0.0

    def _ensemble(self) -> Ensemble:
        s, ended = self.settings, {name: self.shared["ended"][:, i].copy() for i, name in enumerate(SUMMARY)}
        y_end = self.shared["y_end"]
        done = np.isfinite(ended["code"])
        for ws in self.workspaces:  # interrupted members
            lanes = {name: ws[name].reshape(-1, self.program.W) for name in ("busy", "member", "y", *COUNTED)}
            for lane in np.flatnonzero(lanes["busy"][0]) if ws.paused else ():
                i = int(lanes["member"][0, lane])
                y_end[i] = lanes["y"][:, lane]
                for name in COUNTED:
                    ended[name][i] = lanes[name][0, lane]
        attempts = [ws["attempts"].reshape(-1) for ws in self.workspaces]
        used = sum(a.sum() for a in attempts) / max(1.0, self.program.W * sum(a.max() for a in attempts))
        kept = (
            self._steps()
            if self.times is None
            else AtTimes(
                self.times, self.shared["out"].reshape(len(self.members), len(self.times), y_end.shape[1])
            )
        )
        return Ensemble(
            self.members,
            kept,
            done,
            ended,
            y_end,
            self.shared["f_end"],
            self.method,
            s.step,
            float(used),
            self.manifold,
        )

    def _steps(self) -> EnsembleSteps:
        """All rows of the logs, by member; those of one member are in their order already."""
        n, widths = self.members.y.shape[1], self.program.layout["streams"]

        def rows(name: str) -> np.ndarray:
            stream = ROW + name
            width = widths[stream]["size"] if stream in widths else 0
            return np.concatenate([np.empty((0, width)), *(log[stream] for log in self.logs if width)])

        member = rows("member")[:, 0].astype(int)
        order = np.argsort(member, kind="stable")
        begin = np.searchsorted(member[order], np.arange(len(self.members) + 1))
        t, y, f = (rows(name)[order] for name in ("t", "y", "f"))
        dense = rows("dense")
        more = dense[order].reshape(len(order), -1, n) if dense.shape[1] else np.empty((len(order), 0, n))
        return EnsembleSteps(begin, StepRows(t[:, 0], y, f, more, self.method))


@dataclass
class EachRun(ManyRuns):
    """Members that run one at a time."""

    found: dict[int, Trajectory] = field(default_factory=dict)

    def go(self, count: int) -> Ensemble:
        """Run in `count` threads."""
        N, queue = len(self.members), itertools.count()
        jobs = [partial(self._serve, queue)] * max(1, min(count, N))
        self._wait(jobs, lambda: len(self.found) / N)
        return self._ensemble()

    def _serve(self, queue: itertools.count[int]) -> None:
        """Take members until the queue is empty or the run is stopped."""
        settings = replace(self.settings, report=self._go_on)
        while not self.stop and (i := next(queue)) < len(self.members):
            try:
                traj = SimulationRun(self.members[i], self.program, self.tables, self.method, settings).go()
            except BaseException as error:
                self.stop = True  # for the others too
                error.add_note(f"This is member {i} of {len(self.members)}.")
                raise
            self.found[i] = self._kept(traj)

    def _go_on(self, share: float) -> None:
        """Callback of each run: raises KeyboardInterrupt when all runs must stop."""
        if self.stop:
            raise KeyboardInterrupt

    def _kept(self, traj: Trajectory) -> Trajectory:
        """The stored part of a run: its ends and the times between, or all of it, without unused memory."""
        rows = traj.rows
        if self.times is None:
            everything = np.arange(len(rows.t))  # indices, not a slice: a copy
            return replace(traj, rows=replace(rows.subset(everything), cuts=rows.cuts))
        inside = self.times[(self.times > rows.t[0]) & (self.times < rows.t[-1])]
        last = len(traj) - 1
        alone = StepRows.alone(
            np.concatenate([rows.t[:1], inside, rows.t[1:][-1:]]),
            np.concatenate([rows.y[:1], traj.at(inside), rows.y[1:][-1:]]),
            rows.method,
        )
        return traj.part(np.concatenate([[0], traj.row(inside), [last] * bool(last)]).astype(int), alone)

    def _ensemble(self) -> Ensemble:
        m = self.members
        runs = tuple(self.found.get(i) or self._none(i) for i in range(len(m)))
        ended = {name: np.full(len(m), np.nan) for name in SUMMARY}
        ended["t"] = np.array([traj.t[-1] for traj in runs])
        for name, attribute in zip(COUNTS, fields(Statistics), strict=True):
            ended[name] = np.array([getattr(traj.statistics, attribute.name) for traj in runs], dtype=float)
        y_end = np.array([traj.y[-1] for traj in runs])
        done = np.array([i in self.found for i in range(len(m))])
        return Ensemble(
            m,
            Runs(runs, self.times),
            done,
            ended,
            y_end,
            np.zeros_like(y_end),
            self.method,
            self.settings.step,
            1.0,
            self.manifold,
        )

    def _none(self, i: int) -> Trajectory:
        m = self.members
        rows = StepRows.alone(m.t[[i]], m.y[[i]], self.method)
        return Trajectory(
            m[i],
            rows,
            Outcome(Status.INTERRUPTED, "interrupted before it started"),
            Statistics(),
            self.manifold,
        )
