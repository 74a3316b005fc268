"""What a run knows of its witnesses: their present values, their sides, how often their events happened."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from condyle.errors import DescriptionError
from condyle.integrate.events import Witnesses
from condyle.integrate.sides import CHANGE, ROUNDS, Sides, last_numbers, turning_points
from condyle.integrate.step_rows import StepRows
from condyle.status import Outcome, Status
from condyle.system.state import State

LOOKS = np.array([0.25, 0.5, 0.75, 1.0])
"""Where in a step witnesses are looked at."""
RESTART = 10.0
"""The first step after an event is at most so long [windows]."""
REST = 1e-6
"""After an action a witness rests if it leads away from zero no faster than this part of its rate before."""
ZENO = 3
"""The run ends if an event happens again so many times in a row, each no more than RESTART windows after the
last."""
RESOLVED = 1e3
"""The least difference of times that is a number of three digits [units in the last place of t]."""


class Watch:
    """The events of a run that have witnesses.

    Attributes:
        seen: present values of the witnesses.
        scale: the largest of each so far.
        acted: events whose actions have just changed the state: the side before, gdot and g there. Events
            that happen in one direction are here at the start too, with None.
    """

    def __init__(self, witnesses: Witnesses, window: float, accuracy: float, weights: np.ndarray) -> None:
        self.witnesses = witnesses
        self.events = self.witnesses.events
        self.accuracy, self.weights = accuracy, weights
        self.windows = [e.window or window for e in self.events]
        count = len(self.events)
        self.sides, self.seen, self.scale = Sides(count), np.zeros(count), np.zeros(count)
        self.acted: dict[int, tuple[float, float, float] | None] = {
            j: None for j, e in enumerate(self.events) if e.near
        }
        self.last, self.quick = np.full(count, -np.inf), np.zeros(count, dtype=int)

    def at(self, state: State) -> np.ndarray:
        """Values (count,) at a state."""
        y = np.concatenate([state.q, state.u, state.z])
        return self.witnesses(state, np.array([state.t]), y[None])[0]

    def one(self, j: int) -> Callable[[State, np.ndarray, np.ndarray], np.ndarray]:
        """(state, t, y) -> values (m,) of one witness at times (m,) and y (m, n)."""
        return lambda like, t, y: self.witnesses(like, t, y)[:, j]

    def see(self, state: State) -> None:
        """The run is here now."""
        self.seen = self.at(state)

    def saw(self, g: np.ndarray) -> None:
        """The run went through values (m, count), and is at the last."""
        self.sides.settle(g)
        self.scale, self.seen = np.maximum(self.scale, np.abs(g).max(axis=0)), g[-1]

    def looks(
        self, like: State, rows: StepRows, first: int, y_at: Callable[[np.ndarray, np.ndarray], np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times (m,), steps (m,) and values (m, count) of the looks at the steps from a row on, the first at
        that row."""
        steps = len(rows.t) - first - 1
        piece = np.repeat(np.arange(first, first + steps), len(LOOKS))
        t = rows.t[piece] + (rows.t[piece + 1] - rows.t[piece]) * np.tile(LOOKS, steps)
        t[len(LOOKS) - 1 :: len(LOOKS)] = rows.t[first + 1 :]
        g = np.vstack([self.seen, self.witnesses(like, t, y_at(piece, t))])
        t, piece = np.r_[rows.t[first], t], np.r_[first, piece]

        def of(x: np.ndarray) -> np.ndarray:
            found = np.searchsorted(rows.t[first:], x, side="right")
            return np.asarray(first + np.clip(found - 1, 0, steps - 1))

        hidden = self.witnesses.hidden(like, t, lambda x: y_at(of(x), x))
        for _ in range(ROUNDS):
            more = np.union1d(np.union1d(turning_points(t, g), last_numbers(t, g)), np.setdiff1d(hidden, t))
            if not len(more):
                break
            inside = of(more)
            order = np.argsort(np.r_[t, more], kind="stable")
            g = np.vstack([g, self.witnesses(like, more, y_at(inside, more))])[order]
            t, piece = np.r_[t, more][order], np.r_[piece, inside][order]
        return t, piece, g

    def settle(self, state: State, f: np.ndarray) -> None:
        """After actions, and at the start: on which side those witnesses are that are at zero or past it,
        sides.py (1).

        Args:
            state: where the run is.
            f: ydot there.
        """
        for j, given in self.acted.items():
            near, slope, before = given or (self.events[j].near, 0.0, 0.0)
            g = float(self.seen[j])
            self.sides.plain(j)
            # it is back, or it passes
            if not near * g <= 0 or near * self._rate(j, state, f) < -REST * abs(slope):
                continue
            if given is None:
                allowed = self._reach(j, state)
            else:
                allowed = max(
                    2 * abs(before), RESTART * abs(slope) * self.windows[j], self.accuracy * self.scale[j]
                )
            if abs(g) <= allowed:
                self.sides.turn(j, near, g)
            elif given is not None and self.events[j].near:
                raise DescriptionError(
                    f"Event({self.events[j].name}): at t = {state.t:.9g} s the action turned the witness "
                    f"round past zero: it found it at {before:.3g} and left it at {g:.3g}; {allowed:.2g} is "
                    "allowed. Bring the state back to the side that it came from, or watch for both "
                    "directions"
                )
        self.acted = {}

    def _rate(self, j: int, state: State, f: np.ndarray) -> float:
        """gdot of a witness, with ydot = f."""
        t, y = state.t, np.concatenate([state.q, state.u, state.z])
        d = max(CHANGE, RESOLVED * float(np.spacing(abs(t))))
        g = self.witnesses(state, np.array([t - d, t + d]), np.stack([y - d * f, y + d * f]))
        return float(g[1, j] - g[0, j]) / (2 * d)

    def _reach(self, j: int, state: State) -> float:
        """How much a witness changes where one of q, u, z changes by the accuracy."""
        y = np.concatenate([state.q, state.u, state.z])
        d, n = CHANGE * np.eye(y.size), y.size
        g = self.witnesses(state, np.full(2 * n, state.t), np.concatenate([y + d, y - d]))[:, j]
        unit = np.where(self.weights > 0, self.weights, 1.0)
        return self.accuracy * float(np.abs((g[:n] - g[n:]) / (2 * CHANGE * unit)).max())

    def first_step(self, fired: Sequence[int], t: float) -> float:
        """How long the first step after events may be [s]."""
        return max(min(RESTART * self.windows[j] for j in fired), RESOLVED * float(np.spacing(abs(t))))

    def zeno(self, fired: Sequence[int], t: float) -> Outcome | None:
        """These events changed the state. Why the run ends, if they do so again and again; else None."""
        for j in fired:
            short = RESTART * self.windows[j]
            self.quick[j] = self.quick[j] + 1 if t - self.last[j] <= short else 0
            self.last[j] = t
        for j in fired:
            if self.quick[j] >= ZENO:
                text = (
                    f"stopped at t = {t:.12g} s: event {self.events[j].name!r} repeats without end "
                    f"(Zeno): {ZENO + 1} times, no more than {RESTART * self.windows[j]:g} s apart each; "
                    f"{Status.ZENO.advice}"
                )
                return Outcome(Status.ZENO, text)
        return None
