"""Members of an ensemble that have events: each is a run of its own (run.py), in as many threads as there are
cores.

Lanes go on together and an event stops one of them, so that members with events do not share lanes: each
takes its steps in the native loop for one state, and comes out as it would alone, to the last bit. Threads
share a queue of members.
"""

from __future__ import annotations

import itertools
from concurrent.futures import wait
from dataclasses import field, replace
from functools import partial

import numpy as np

from condyle.integrate.ensemble import Ensemble, Runs
from condyle.integrate.lanes import SUMMARY
from condyle.integrate.manifold import Manifold
from condyle.integrate.members import Members
from condyle.integrate.methods import Method
from condyle.integrate.run import INTERVAL, Settings, run
from condyle.integrate.step_rows import StepRows
from condyle.integrate.trajectory import Statistics, Trajectory
from condyle.native.machine import threads
from condyle.native.programs.program import Program
from condyle.records import dataclass
from condyle.status import Outcome, Status


@dataclass
class EachRun:
    """Runs of many members while they go on.

    Args:
        times: what is kept of each beside its ends; None for every step.
    """

    members: Members
    program: Program
    tables: dict[str, np.ndarray]
    method: Method
    settings: Settings
    times: np.ndarray | None
    stop: bool = False
    found: dict[int, Trajectory] = field(default_factory=dict)

    def go(self, count: int) -> Ensemble:
        """Run in `count` threads. This one only waits, so that an interrupt meets no work half done."""
        N, report = len(self.members), self.settings.report
        count, queue = max(1, min(count, N)), itertools.count()
        futures = threads.submit([partial(self._serve, queue) for _ in range(count)])
        try:
            if not futures:  # the interpreter is about to end
                self._serve(queue)
            while wait(futures, INTERVAL).not_done:
                if report is not None:
                    report(len(self.found) / N)
        except KeyboardInterrupt:
            pass
        finally:
            self.stop = True
            wait(futures)
        for future in futures:
            future.result()
        return self._ensemble()

    def _serve(self, queue: itertools.count[int]) -> None:
        """Take members until there are none, or until told to stop."""
        settings = replace(self.settings, report=self._go_on)
        while not self.stop and (i := next(queue)) < len(self.members):
            try:
                traj = run(self.members[i], self.program, self.tables, self.method, settings)
            except BaseException as error:
                self.stop = True  # for the others too
                error.add_note(f"This is member {i} of {len(self.members)}.")
                raise
            self.found[i] = self._kept(traj)

    def _go_on(self, share: float) -> None:
        """Called now and then by each run: it ends as by Ctrl-C when all shall stop."""
        if self.stop:
            raise KeyboardInterrupt

    def _kept(self, traj: Trajectory) -> Trajectory:
        """What stays of a run: its ends and the times between, or all of it, without the memory that it did
        not use."""
        rows = traj.rows
        if self.times is None:
            t, y, f, more = (x.copy() for x in (rows.t, rows.y, rows.f, rows.more))
            return replace(traj, rows=StepRows(t, y, f, more, rows.method, rows.cuts))
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
        ended = {name: np.full(len(m), np.nan) for name in SUMMARY} | {
            "t": np.array([traj.t[-1] for traj in runs]),
            **{
                name: np.array([getattr(traj.statistics, attribute) for traj in runs], dtype=float)
                for name, attribute in (
                    ("steps", "steps"),
                    ("rejected", "rejections"),
                    ("evaluations", "evaluations"),
                    ("jacobians", "jacobians"),
                    ("projections", "projections"),
                )
            },
        }
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
            self._manifold,
        )

    @property
    def _manifold(self) -> Manifold:
        return Manifold.of(self.members.system, self.settings.weights, self.settings.accuracy)

    def _none(self, i: int) -> Trajectory:
        m = self.members
        rows = StepRows.alone(m.t[[i]], m.y[[i]], self.method)
        return Trajectory(
            m[i],
            rows,
            Outcome(Status.INTERRUPTED, "interrupted before it started"),
            Statistics(),
            self._manifold,
        )
