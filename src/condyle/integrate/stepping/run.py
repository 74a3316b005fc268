"""A run of time stepping: what its native program (program.py) reads, and which surfaces may come near each
other meanwhile.

Each body may travel so far until lists are made anew (its budget); pairs are listed whose gap is at most what
both may travel, and the room around them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from condyle.integrate.stepping.closest_points import NARROW
from condyle.integrate.stepping.crowd import Crowd, Listed
from condyle.integrate.steps import ROW, stacked
from condyle.model.model import description
from condyle.native.programs.program import ProgramAndTables, cached_program
from condyle.system.state import State
from condyle.system.system import System

if TYPE_CHECKING:
    from condyle.integrate.stepping.method import TimeStepping

ROOM = 0.01
"""Share of a radius within which surfaces count as near, beside what they may travel in a step."""
BUDGET = 0.1
"""Share of a radius that a body may travel with the same lists, or
STEPS: as far as it goes in so many steps, if that is more."""
STEPS = 20


class SteppingRun(ABC):
    """A run of one state.

    Args:
        start: where it starts.
        method: whose numbers it takes.
        crowd: surfaces that may touch.
        key: text that determines the program, beside the system.
        make: makes it.
    """

    size: np.ndarray
    far: np.ndarray
    room: np.ndarray
    fixed = np.empty(0, int)
    """Contacts that are always checked, before those of the lists."""

    def __init__(
        self, start: State, method: TimeStepping, crowd: Crowd, key: str, make: Callable[[], ProgramAndTables]
    ) -> None:
        self.start, self.method, self.crowd, self.system = start, method, crowd, start.system
        self.by_hand = len(crowd.boxes) > 1  # pairs of boxes are checked in Python
        self.keys = np.zeros(0, int)
        self.lists: dict[str, Listed] = {}
        model, programs = self.system.compiled.model, self.system.compiled.programs
        key = f"time stepping of {key}"
        if key not in programs:
            programs[key] = cached_program(f"{key}\n{description(model)}", make)
        self.program, tables = programs[key]
        self.ws = ws = self.program.workspace()
        self.streams: dict[str, np.ndarray] = dict(tables)
        self.counts = {"most_sweeps": int(method.sweeps)}
        first, n = self.system.nq + self.system.nu, len(ws["y"])
        if n > first:
            self.streams |= {"z": ws["y"][first:, None], "zdot": ws["f"][first:, None]}
            self.counts["auxiliaries"] = n - first

    @abstractmethod
    def _begin(self, step: float) -> None:
        """What the program reads beside numbers of the method."""

    @abstractmethod
    def _placed(self) -> tuple[np.ndarray, np.ndarray]:
        """R_GB (n + 1, 3, 3) and origins (n + 1, 3) of all bodies and of ground, the last."""

    @abstractmethod
    def _velocities(self) -> np.ndarray:
        """Of all bodies, angular first, shape (n, 6)."""

    @property
    @abstractmethod
    def rebounds(self) -> bool:
        """Whether something has a restitution."""

    def go(
        self,
        t_final: float,
        step: float,
        count: int,
        report: Callable[[float], object] | None,
        started: Callable[[float], object],
    ) -> bool:
        """Take all steps; whether all of it is finite. What is done so far, after an interrupt too, is
        `kept`.

        Args:
            report: called with the share that is done.
            started: called with the least gap at the start.
        """
        m, ws, start = self.method, self.ws, self.start
        ws["y"] = stacked(start)
        soft = m.stiffness is not None
        for name, value in {
            "t_0": start.t,
            "t_final": t_final,
            "step": step,
            "count": count,
            "every": int(m.every),
            "k": 0,
            "row": 1,
            "total": 0,
            "bad": 0,
            "loosened": 0,
            "tolerance": m.tolerance,
            "sweeps": int(m.sweeps),
            "soft": soft,
            "stiffness": m.stiffness or 0.0,
            "damping": m.damping,
            "correction": m.correction,
            "slop": m.slop,
        }.items():
            ws[name] = value
        kept = 2 + count // int(m.every)
        self.T, self.Y = np.empty((kept, 1)), np.empty((kept, len(ws["y"])))
        self.T[0], self.Y[0] = start.t, ws["y"]
        self.streams |= {ROW + "t": self.T, ROW + "y": self.Y}
        told = (lambda ws: report(ws["k"][0] / count)) if report is not None else None
        self._begin(step)
        while ws["k"][0] < count and not ws["bad"][0]:
            first = ws["k"][0] == 0
            ws["until"] = ws["k"][0] + 1 if self.by_hand or first else count
            if self.by_hand:
                self._boxes(step)
            self.program.run(ws, self.streams, self.counts | {"limit": count + 1}, progress=told)
            if first and ws["k"][0]:
                started(float(ws["least"][0]))
            if ws["stale"][0]:
                self._listed(step)
            elif told is not None:
                told(ws)
        return not ws["bad"][0]

    @property
    def steps(self) -> int:
        return int(self.ws["k"][0]) + bool(self.ws["bad"][0])

    @property
    def astray(self) -> bool:
        """Whether it ended since constraints that act both ways were not met."""
        return bool(self.ws["bad"][0] > 1)

    @property
    def loosened(self) -> int:
        """In how many steps method.py (6a) was not solved."""
        return int(self.ws["loosened"][0]) + bool(self.ws["bad"][0] and self.ws["loose"][0])

    @property
    def sweeps(self) -> int:
        return int(self.ws["total"][0])

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Times (m,) and rows (m, n) until now."""
        rows = int(self.ws["row"][0])
        return self.T[:rows, 0], self.Y[:rows]

    # ---- lists ---------------------------------------------------------------------------------------------

    def _surfaces(self, blocks: np.ndarray) -> None:
        """Streams of bodies, of which the blocks (n + 1,) are known, and of spheres, points and corners."""
        crowd, n = self.crowd, len(self.system.bodies)
        self.size, self.far = sizes_of(self.system, crowd)
        self.room = ROOM * self.size
        balls = np.column_stack([crowd.body[: crowd.balls] % (n + 1), crowd.center, crowd.radius])
        self.streams |= {
            "bodies": np.column_stack([self.far, self.room, blocks]),
            "reaches": np.zeros((n + 1, 2)),
            "budgets": np.zeros((n + 1, 1)),
            "balls": balls,
            "centers": np.zeros((len(balls), 3)),
        }
        self.counts |= {"n_bodies": n, "n_balls": len(balls)}

    def _listed(self, step: float) -> None:
        """List pairs that may come near each other, until a body has used up its budget."""
        streams, travel = self.streams, self._travel(step)
        budget = 2 * travel + np.maximum(BUDGET * np.maximum(self.size, self.far / 10), STEPS * travel)
        budget[-1] = 0.0
        streams["budgets"][:, 0], streams["reaches"][:, 1] = budget, 0.0
        given = {"given": self.lists["given"]} if self.lists else {}  # of boxes: impulses are kept
        self.lists = self.crowd.near(*self._placed(), self.room + budget) | given
        for kind in self.lists:
            self._take(kind)
        self._warm_start()

    def _take(self, kind: str) -> None:
        rows = self.lists[kind].rows
        rows[:, :2] %= len(self.system.bodies) + 1  # ground is the last
        self.streams[kind], self.counts[f"n_{kind}"] = rows, len(rows)

    def _boxes(self, step: float) -> None:
        """Contacts of two boxes, which are given."""
        reach = self.room + 2 * self._travel(step)
        self.lists["given"] = self.crowd.two_boxes(*self._placed(), reach)
        self._take("given")
        self._warm_start()

    def _travel(self, step: float) -> np.ndarray:
        """How far surfaces of each body, and of ground, go in a step [m]."""
        v = self._velocities()
        speed = np.linalg.norm(v[:, 3:], axis=1) + np.linalg.norm(v[:, :3], axis=1) * self.far[:-1]
        return np.append(step * speed, 0.0)

    def _warm_start(self) -> None:
        """Impulses of the last step for the pairs that were listed then."""
        listed = [self.lists[kind].key for kind in NARROW] if self.lists else []
        keys = np.concatenate([self.fixed, *(key + len(self.fixed) for key in listed)])
        W = np.zeros((len(keys) + 1, 3))
        if len(self.keys):
            W[:-1] = warm_start(self.keys, self.streams["warm_start"], keys)
        self.keys, m = keys, len(keys) + 1
        self.counts["capacity"] = m
        self.streams |= {
            "warm_start": W,
            "contacts": np.zeros((m, len(self.ws["contact"]))),
            "impulses": np.zeros((m, 3)),
            "again": np.zeros((m, 3)),
        }


def sizes_of(system: System, crowd: Crowd) -> tuple[np.ndarray, np.ndarray]:
    """How large the surfaces of each body and ground are, and how far they reach from its origin [m], shape
    (n + 1,)."""
    size, far = np.zeros(len(system.bodies) + 1), np.zeros(len(system.bodies) + 1)
    some = crowd.body[: crowd.balls]
    np.maximum.at(size, some[some >= 0], crowd.radius[some >= 0])
    np.maximum.at(far, some, np.linalg.norm(crowd.center, axis=1))
    for box, half, p in zip(crowd.boxes, crowd.core + crowd.edge[:, None], crowd.p_BS, strict=True):
        if box.body != "ground":
            at = system.body(box.body).index
            size[at] = max(size[at], float(half.min()))
            far[at] = max(far[at], float(np.linalg.norm(p) + np.linalg.norm(half)))
    return size, far


def warm_start(keys: np.ndarray, impulses: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Impulses (m, 3) of the contacts `now` (m,): those that they had under `keys`, and zero for new ones."""
    out = np.zeros((len(now), 3))
    if len(keys):
        order = np.argsort(keys)
        at = np.minimum(np.searchsorted(keys[order], now), len(order) - 1)
        same = keys[order][at] == now
        out[same] = impulses[order[at[same]]]
    return out
