"""A run of an ensemble: one native program in several threads, each with lanes of its own, and one queue of
members for all."""
from __future__ import annotations

import time
from concurrent.futures import wait
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from condyle.integrate.ensemble import AtTimes, Ensemble, Steps
from condyle.integrate.knots import table
from condyle.integrate.lanes import SUMMARY
from condyle.integrate.manifold import Manifold
from condyle.integrate.members import Members
from condyle.integrate.methods import Method
from condyle.integrate.run import INTERVAL, Settings
from condyle.integrate.step_rows import StepRows
from condyle.integrate.timed import timed
from condyle.native.machine import threads
from condyle.native.programs.program import Program, Workspace

LOG_BYTES = 8e6
"""The memory of a thread's log of steps; it is emptied when it is nearly full."""
LIMIT = 2**60
"""Rounds of the native loop: no limit."""
COUNTED = ("t", "steps", "rejected", "evaluations")
"""What is known of a member that was interrupted."""


@dataclass
class EnsembleRun:
    """One simulation of many members while it goes on."""

    members: Members
    program: Program
    tables: dict[str, np.ndarray]
    method: Method
    settings: Settings
    times: np.ndarray | None                                # None: every step
    stop: bool = False
    logs: list[dict[str, np.ndarray]] = field(default_factory=list)

    def __post_init__(self) -> None:
        m, n = self.members, self.members.y.shape[1]
        N = len(m)
        start = self.program.layout["sizes"]["p"]
        self.shared = {"queue": np.zeros((1, 1)), "t0": m.t[:, None], "y0": m.y,
                       "p0": np.ascontiguousarray(m.tail[:, m.tail.shape[1] - start:]),
                       "ended": np.full((N, len(SUMMARY)), np.nan), "y_end": m.y.copy(),
                       "f_end": np.zeros((N, n))} | self.tables
        self.shared["ended"][:, 0] = m.t
        if "knots" in self.program.layout["streams"]:
            s, earliest = self.settings, np.full(N, m.t.min())
            self.shared["knots"], first = table(timed(m[0].system), m.tail, earliest, m.t, s.t_final,
                                                s.accuracy, s.step,
                                                self.method)
            self.shared["first_knot"] = first[:, None]
        if self.times is not None:
            first = np.searchsorted(self.times, m.t, side="right")
            out = np.full((N, len(self.times), n), np.nan)
            for k, t in enumerate(self.times):
                out[m.t == t, k] = m.y[m.t == t]
            self.shared |= {"times": np.append(self.times, np.inf)[:, None],
                            "first": first[:, None].astype(float),
                            "out": out.reshape(-1, n)}
        self.workspaces: list[Workspace] = []

    def _workspace(self) -> Workspace:
        s, ws = self.settings, self.program.workspace()
        ws["count"], ws["t_end"], ws["h_max"] = len(self.members), s.t_final, s.max_step or np.inf
        ws["h_start"], ws["fixed"], ws["way"] = s.step or 0.0, float(s.step is not None), 1.0
        ws["accuracy"], ws["weights"] = s.accuracy, s.weights
        ws["times_count"] = 0 if self.times is None else len(self.times)
        return ws

    def go(self, count: int) -> Ensemble:
        """Run in `count` threads. This one only waits, so that an interrupt meets no work half done."""
        count, report = max(1, min(count, -(-len(self.members) // self.program.W))), self.settings.report
        self.workspaces = [self._workspace() for _ in range(count)]
        futures = threads.submit([partial(self._serve, ws) for ws in self.workspaces])
        try:
            if not futures:                                 # the interpreter is about to end
                self._serve(self.workspaces[0])
            while wait(futures, INTERVAL).not_done:
                if report is not None:
                    report(sum(float(ws["done"].sum()) for ws in self.workspaces) / len(self.members))
        except KeyboardInterrupt:
            pass
        finally:
            self.stop = True
            wait(futures)
        for future in futures:
            future.result()
        return self._ensemble()

    def _serve(self, ws: Workspace) -> None:
        """Take members until there are none, or until told to stop."""
        program, streams, W = self.program, dict(self.shared), self.program.W
        log: dict[str, np.ndarray] = {}
        if self.times is None:
            widths = {name: s["size"] for name, s in program.layout["streams"].items() if name in "MTYFD"}
            capacity = max(64 * W, int(LOG_BYTES / 8 / sum(widths.values())))
            log = {name: np.empty((capacity, size)) for name, size in widths.items()}
            streams |= log | {"log": np.zeros((1, 1))}
        try:
            program.start(ws, streams, {"limit": LIMIT})
            rounds, clock = 20, time.perf_counter()
            while not self.stop:
                budget = min(rounds, (capacity - int(streams["log"][0, 0])) // W) if log else rounds
                ended = program.advance(ws, budget)
                before, clock = clock, time.perf_counter()
                rounds = int(np.clip(budget * INTERVAL / (clock - before), rounds / 4, 4 * rounds)) + 1
                if log and (ended or int(streams["log"][0, 0]) > capacity // 2):
                    self._empty(log, streams["log"])
                if ended:
                    break
        except BaseException:
            self.stop = True                                # for the others too
            raise
        if log:
            self._empty(log, streams["log"])

    def _empty(self, log: dict[str, np.ndarray], rows: np.ndarray) -> None:
        count = int(rows[0, 0])
        self.logs.append({name: array[:count].copy() for name, array in log.items()})
        rows[0, 0] = 0.0

    def _ensemble(self) -> Ensemble:
        s, ended = self.settings, {name: self.shared["ended"][:, i].copy() for i, name in enumerate(SUMMARY)}
        y_end = self.shared["y_end"]
        done = np.isfinite(ended["code"])
        for ws in self.workspaces:                          # members that were interrupted
            lanes = {name: ws[name].reshape(-1, self.program.W) for name in ("busy", "member", "y", *COUNTED)}
            for lane in np.flatnonzero(lanes["busy"][0]) if ws.paused else ():
                i = int(lanes["member"][0, lane])
                y_end[i] = lanes["y"][:, lane]
                for name in COUNTED:
                    ended[name][i] = lanes[name][0, lane]
        attempts = [ws["attempts"].reshape(-1) for ws in self.workspaces]
        used = sum(a.sum() for a in attempts) / max(1.0, self.program.W * sum(a.max() for a in attempts))
        kept = self._steps() if self.times is None else AtTimes(
            self.times, self.shared["out"].reshape(len(self.members), len(self.times), y_end.shape[1]))
        return Ensemble(self.members, kept, done, ended, y_end, self.shared["f_end"], self.method, s.step,
                        float(used),
                        Manifold.of(self.members[0].system, s.weights, s.accuracy))

    def _steps(self) -> Steps:
        """All rows of the logs, by member; those of one member are in their order already."""
        names = ("M", "T", "Y", "F", "D")
        size = {name: s["size"] for name, s in self.program.layout["streams"].items() if name in names}
        rows = {name: np.concatenate([np.empty((0, size[name])), *(log[name] for log in self.logs)])
                for name in size}
        member = rows["M"][:, 0].astype(int)
        order, n = np.argsort(member, kind="stable"), size["Y"]
        more = rows["D"][order].reshape(len(order), -1, n) if "D" in rows else np.empty((len(order), 0, n))
        begin = np.searchsorted(member[order], np.arange(len(self.members) + 1))
        return Steps(begin, StepRows(rows["T"][order, 0], rows["Y"][order], rows["F"][order], more,
                                     self.method))
