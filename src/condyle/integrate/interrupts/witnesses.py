"""Events of witnesses: on which side of zero each witness is, and when it changes sides.

A witness g counts to be on the side of its sign, with two exceptions.

*Turned.* An event is found just after the sign has changed, and an action may turn the witness round there,
as a bounce does: g is past zero by a little, and comes back. It counts to be on the side that it comes back
to (`near`) at once, and it changes sides if it goes further than where the action left it (`level`):

    side = near  while  near (g - level) >= 0,  until  near g > 0;    then side = sign(g)                  (1)

so that no excursion is too short or too low to be seen. An action turns a witness if afterward its rate no
longer leads away from zero; if it still does, the witness passes, and comes again only after it was back.

*Held.* Where constraints or locks hold a witness at a value, rounding changes its sign, nothing else. It is
held if its gradient by q, u, z, t is a combination of those of the equations that hold; then it does not
change sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from condyle.errors import DescriptionError
from condyle.integrate.events import Event, Witnesses
from condyle.integrate.interrupts.base import FEW, ROWS, Interrupter, Interruption
from condyle.integrate.steps import StepRows, stacked, unstacked
from condyle.records import dataclass
from condyle.status import Outcome, Status
from condyle.system.state import State

if TYPE_CHECKING:
    from condyle.integrate.interrupts.actions import Actions
    from condyle.integrate.run import SimulationRun

CHANGE = 1e-6
"""For derivatives by differences [rad, m or s]. Their errors are near 1e-9 of the gradient."""
HELD = 1e-4
"""A gradient is a combination of others if less than this part of it is left. That is far above the errors of
differences."""
NEAR_ZERO = 0.1
"""A turning point that is predicted nearer to zero than this part of the spread of three looks is checked."""
ROUNDS = 3
"""How often an interval is divided again where a witness may turn near zero, and where it stops being a
number."""


class Sides:
    """Sides of some witnesses, by (1).

    Attributes:
        near: 1 or -1 for those that an action turned and that are not back yet, else 0.
        level: where it left them.
    """

    def __init__(self, count: int) -> None:
        self.near, self.level = np.zeros(count), np.zeros(count)

    def turn(self, j: int, near: float, g: float) -> None:
        self.near[j], self.level[j] = near, g

    def plain(self, j: int) -> None:
        self.near[j] = 0.0

    def at(self, j: int, g: np.ndarray) -> np.ndarray:
        """Sides at values (m,) that follow each other: 1, 0 or -1."""
        near, sides = self.near[j], np.sign(g)
        if near:
            back = np.flatnonzero(near * g > 0)
            away = slice(back[0] if len(back) else None)
            sides[away] = np.where(near * (g[away] - self.level[j]) >= 0, near, -near)
        return sides

    def all_at(self, g: np.ndarray) -> np.ndarray:
        """Sides at values (m, count)."""
        return np.stack([self.at(j, g[:, j]) for j in range(g.shape[1])], axis=1)

    def settle(self, g: np.ndarray) -> None:
        """These values (m, count) were seen: those that are back are as all others."""
        self.near[(self.near * g > 0).any(axis=0)] = 0.0


def isolate(
    g: Callable[[np.ndarray], np.ndarray],
    sides: Callable[[np.ndarray], np.ndarray],
    event: Event,
    before: float,
    between: tuple[float, float],
    window: float,
) -> tuple[float, float]:
    """The first change of sides between two times, narrowed to at most a window: 16 looks at once per
    round."""
    low, high = between
    while high - low > window:
        t = np.linspace(low, high, 17)
        side = sides(g(t))
        side[0] = before
        found = np.flatnonzero(event.happens(side[:-1], side[1:]))
        if not len(found) or t[1] <= low:
            break
        low, high, before = float(t[found[0]]), float(t[found[0] + 1]), side[found[0]]
    return low, high


def slope(g: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> float:
    """The mean slope of a witness between two times."""
    a, b = g(np.array([low, high]))
    return float(b - a) / max(high - low, float(np.spacing(abs(high))))


def turning_points(t: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Times between looks (m,) where a witness (m, count) may have been at zero and back: there the parabola
    through three looks of one sign turns, near zero or beyond."""
    a, b, c = t[:-2, None], t[1:-1, None], t[2:, None]
    ga, gb, gc = g[:-2], g[1:-1], g[2:]
    with np.errstate(all="ignore"):
        first = (gb - ga) / (b - a)
        second = ((gc - gb) / (c - b) - first) / (c - a)
        when = (a + b) / 2 - first / (2 * second)
        lowest = ga + first * (when - a) + second * (when - a) * (when - b)
        sign = np.sign(ga)
        size = np.abs(np.stack([ga, gb, gc]))
        found = (
            (sign != 0)
            & (np.sign(gb) == sign)
            & (np.sign(gc) == sign)
            & (sign * second > 0)
            & (when > a)
            & (when < c)
            & (sign * lowest <= NEAR_ZERO * (size.max(axis=0) - size.min(axis=0)))
        )
    return np.setdiff1d(when[found], t)


def last_numbers(t: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Times (15,) between the last look before a witness is no number and that one; none if all are
    numbers."""
    unknown = np.flatnonzero(np.isnan(g).any(axis=1))
    return (
        np.setdiff1d(np.linspace(t[unknown[0] - 1], t[unknown[0]], 17), t)
        if len(unknown) and unknown[0]
        else t[:0]
    )


def is_held(state: State, f: np.ndarray, g: Callable[[State, np.ndarray, np.ndarray], np.ndarray]) -> bool:
    """Whether constraints, locks and motions hold a witness where it is.

    Args:
        f: ydot there.
        g: (state, t, y) -> values (m,) at times (m,) and y (m, n), all else as in the state.
    """
    system, nq, nu = state.system, state.q.size, state.u.size
    held = np.flatnonzero(system.compiled.tails.held(state.tail))
    if not system.constraints and not len(held):
        return False
    y = stacked(state)
    n = 2 * nu + state.z.size + 1  # changes of q along each speed, of u, of z, of t
    steps = np.zeros((n, y.size))
    steps[:nu, :nq] = system.compiled.function("qdot")(np.tile(state.q, (nu, 1)), np.eye(nu), state.tail)
    steps[nu : n - 1, nq:] = np.eye(n - 1 - nu)
    later = np.zeros(n)
    later[-1] = 1.0
    ys = np.concatenate([y + CHANGE * steps, y - CHANGE * steps])
    ts = np.concatenate([state.t + CHANGE * later, state.t - CHANGE * later])
    values = g(state, ts, ys)
    gradient = (values[:n] - values[n:]) / (2 * CHANGE)
    size = np.linalg.norm(gradient)
    # no direction changes it here: nothing can be said
    if not size > CHANGE:
        return False
    rows = []
    if system.constraints:
        states = unstacked(system.compiled.model, state.tail, ts, ys)
        errors = np.concatenate(system.compiled.function("constraints.errors")(*states), axis=1)
        rows.append((errors[:n] - errors[n:]).T / (2 * CHANGE))
    for j in held:  # q and u there are functions of time alone
        rows.append(np.zeros((2, n)))
        rows[-1][[0, 1], [j, nu + j]] = 1.0
        rows[-1][:, -1] = -state.u[j], -f[nq + j]
    known = np.concatenate(rows)
    left = gradient - known.T @ np.linalg.lstsq(known.T, gradient, rcond=HELD**2)[0]
    return bool(np.linalg.norm(left) <= HELD * size)


LOOKS = np.array([0.25, 0.5, 0.75, 1.0])
"""Where in a step witnesses are evaluated."""
RESTART = 10.0
"""The first step after an event is at most so long [windows]."""
REST = 1e-6
"""After an action a witness rests if it leads away from zero no faster than this part of its rate before."""
ZENO = 3
"""The run ends if an event happens again so many times in a row, each no more than RESTART windows after the
last."""
RESOLVED = 1e3
"""The least difference of times that is a number of three digits [units in the last place of t]."""


@dataclass(frozen=True)
class Crossing(Interruption):
    """Where witnesses change sides, or where one is not a number.

    Args:
        rows: the steps up to there.
        y: q, u, z just after it.
        values: of all witnesses there.
        sides: of all witnesses just before.
        hits: which witnesses change sides; none if one is not a number.
    """

    rows: StepRows
    y: np.ndarray
    values: np.ndarray
    sides: np.ndarray
    hits: Sequence[int]


class WitnessEvents(Interrupter):
    """The events of a run that have witnesses.

    Attributes:
        seen: present values of the witnesses.
        scale: the largest of each so far.
        acted: events whose actions have just changed the state: the side before, gdot and g there. Events
            that happen in one direction are here at the start too, with None.
    """

    batch = FEW

    def __init__(self, run: SimulationRun, actions: Actions, witnesses: Witnesses) -> None:
        self.run, self.actions, self.witnesses, self.events = run, actions, witnesses, witnesses.events
        self.windows = [e.window or run.settings.window for e in self.events]
        count = len(self.events)
        self.sides, self.seen, self.scale = Sides(count), np.zeros(count), np.zeros(count)
        self.acted: dict[int, tuple[float, float, float] | None] = {
            j: None for j, e in enumerate(self.events) if e.near
        }
        self.last, self.quick = np.full(count, -np.inf), np.zeros(count, dtype=int)
        actions.witnesses = self

    def restart(self) -> None:
        self.seen = self.at(self.run.state)

    def at(self, state: State) -> np.ndarray:
        """Values (count,) at a state."""
        return self.witnesses(state, np.array([state.t]), stacked(state)[None])[0]

    def _held(self, j: int, state: State, f: np.ndarray) -> bool:
        """Whether constraints, locks and motions hold a witness, with ydot = f."""
        if self.events[j].resolves:
            return False
        return is_held(state, f, lambda like, t, y: self.witnesses(like, t, y)[:, j])

    def crossed(self, old: np.ndarray, new: np.ndarray, state: State) -> list[int]:
        """Events whose witnesses an action moved to the other side, from old values to new ones at a state."""
        side = self.sides.all_at(np.stack([old, new]))
        return [
            j
            for j, e in enumerate(self.events)
            if e.happens(side[0, j], side[1, j]) and not self._held(j, state, np.zeros(self.run.y.size))
        ]

    def locate(self, done: int, before: Interruption | None) -> Iterator[Crossing]:
        run, system = self.run, self.run.start.system
        first = run.buffer.count - 1
        rows = run.buffer.rows(first + 1 + done if before is None else before.step + 2)
        if self.acted:
            self.settle(run.state, rows.f[first])
        y_at = run.y_at(rows)
        t, piece, g = self.looks(rows, first, y_at)
        if before is not None:
            inside, last = t < before.before, np.array([before.before])
            g_last = self.witnesses(run.like, last, y_at(np.array([before.step]), last))
            t, piece = np.r_[t[inside], last], np.r_[piece[inside], before.step]
            g = np.vstack([g[inside], g_last])
        at, held, bound = 0, set[int](), bool(system.constraints or run.like.locked or system.motions)
        while True:
            side = self.sides.all_at(g[at:])
            happens = np.stack(
                [e.happens(side[:-1, j], side[1:, j]) for j, e in enumerate(self.events)], axis=1
            )
            happens[:, list(held)] = False
            found = np.flatnonzero(happens.any(axis=1))
            unknown = np.flatnonzero(np.isnan(g[at:]).any(axis=1))
            if len(unknown) and not (len(found) and found[0] + 1 < unknown[0]):
                i = at + unknown[0]
                yield Crossing(int(piece[i]), float(t[i]), float(t[i]), rows, rows.y[0], g[i], side[0], ())
                return
            self._saw(g[at : at + int(found[0]) + 1] if len(found) else g[at:])
            if not len(found):
                return
            at, sides = at + int(found[0]), side[found[0]]
            k, candidates = int(piece[at + 1]), [int(j) for j in np.flatnonzero(happens[found[0]])]
            if bound:
                there = run.state_at(float(t[at + 1]), y_at(np.array([k]), t[[at + 1]])[0])
                if still := {j for j in candidates if self._held(j, there, rows.f[k])}:
                    held |= still
                    continue
            intervals = {
                j: isolate(
                    self._value(j, k, y_at),
                    partial(self.sides.at, j),
                    self.events[j],
                    float(sides[j]),
                    (float(t[at]), float(t[at + 1])),
                    self.windows[j] * self.events[j].share,
                )
                for j in candidates
            }
            when = min(high for _, high in intervals.values())
            y = rows.y[k + 1] if when == rows.t[k + 1] else y_at(np.array([k]), np.array([when]))[0]
            here = self.witnesses(run.like, np.array([when]), y[None])[0]
            hits = [
                j
                for j in candidates
                if intervals[j][1] == when or self.events[j].happens(sides[j], self.sides.at(j, here[[j]])[0])
            ]
            yield Crossing(k, float(t[at]), when, rows, y, here, sides, hits)
            for j in hits:  # nothing changed: the run goes on as it did
                self.sides.plain(j)
            if when == t[at + 1]:
                at += 1
            t[at], g[at] = when, here

    def _value(
        self, j: int, k: int, y_at: Callable[[np.ndarray, np.ndarray], np.ndarray]
    ) -> Callable[[np.ndarray], np.ndarray]:
        """A witness over times (m,) in the step that begins at row k."""
        return lambda t: self.witnesses(self.run.like, t, y_at(np.full(len(t), k), t))[:, j]

    def act(self, instant: Crossing) -> bool:  # type: ignore[override]
        """Let the events act; where a witness is not a number the run ends before the step."""
        run, k, when, rows, hits = self.run, instant.step, instant.after, instant.rows, instant.hits
        if not hits:
            run.accept(max(k + 1 - run.buffer.count, 0))
            name = self.events[int(np.flatnonzero(np.isnan(instant.values))[0])].name
            run.status = Outcome(
                Status.WITNESS,
                f"stopped at t = {run.t:.9g} s: the witness of event {name!r} "
                f"is not a number at t = {when:.9g} s; {Status.WITNESS.advice}",
            )
            return True
        now = run.state_at(when, instant.y)
        state, fired = self.actions.happen([self.events[j] for j in hits], now, instant.values, hits)
        if state is None and not run.status:
            return False
        length, taken = float(rows.t[k + 1] - rows.t[k]), k + 2 - run.buffer.count
        run.cut(k, when, instant.y)
        run.batch = int(np.clip(2 * taken, FEW, ROWS))
        run.ws["h"] = run.settings.step or min(float(run.ws["h"][0]), length, self._first_step(fired, when))
        if run.status:
            run.ending = self.actions.cause(hits)
        if state is not None:
            near = {j: float(instant.sides[j]) for j in hits}
            value = partial(self._value, k=k, y_at=run.y_at(rows))
            slopes = {j: slope(value(j), max(float(rows.t[k]), when - CHANGE), when) for j in hits}
            run.change(state, self.actions.cause(hits))
            self.changed(fired, instant.values, near, slopes)
        return True

    def changed(
        self,
        fired: Sequence[int],
        here: np.ndarray,
        near: Mapping[int, float] = MappingProxyType({}),
        slopes: Mapping[int, float] = MappingProxyType({}),
    ) -> None:
        """Events of witnesses, `here` before, changed the state; of those that another action moved, near is
        the sign before."""
        for j in fired:
            self.acted[j] = near.get(j, float(np.sign(here[j]))), slopes.get(j, 0.0), float(here[j])
        if endless := self._zeno(fired, self.run.t):
            self.run.status = self.run.status or endless

    def _saw(self, g: np.ndarray) -> None:
        """The run went through values (m, count), and is at the last."""
        self.sides.settle(g)
        self.scale, self.seen = np.maximum(self.scale, np.abs(g).max(axis=0)), g[-1]

    def looks(
        self, rows: StepRows, first: int, y_at: Callable[[np.ndarray, np.ndarray], np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times (m,), steps (m,) and values (m, count) of the looks at the steps from a row on, the first at
        that row."""
        like, steps = self.run.like, len(rows.t) - first - 1
        piece = np.repeat(np.arange(first, first + steps), len(LOOKS))
        t = rows.t[piece] + (rows.t[piece + 1] - rows.t[piece]) * np.tile(LOOKS, steps)
        t[len(LOOKS) - 1 :: len(LOOKS)] = rows.t[first + 1 :]
        g = np.vstack([self.seen, self.witnesses(like, t, y_at(piece, t))])
        t, piece = np.r_[rows.t[first], t], np.r_[first, piece]

        def step_at(x: np.ndarray) -> np.ndarray:
            found = np.searchsorted(rows.t[first:], x, side="right")
            return np.asarray(first + np.clip(found - 1, 0, steps - 1))

        hidden = self.witnesses.hidden(like, t, lambda x: y_at(step_at(x), x))
        for _ in range(ROUNDS):
            more = np.union1d(np.union1d(turning_points(t, g), last_numbers(t, g)), np.setdiff1d(hidden, t))
            if not len(more):
                break
            inside = step_at(more)
            order = np.argsort(np.r_[t, more], kind="stable")
            g = np.vstack([g, self.witnesses(like, more, y_at(inside, more))])[order]
            t, piece = np.r_[t, more][order], np.r_[piece, inside][order]
        return t, piece, g

    def settle(self, state: State, f: np.ndarray) -> None:
        """After actions, and at the start: on which side those witnesses are that are at zero or past it,
        witnesses.py (1).

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
                    2 * abs(before),
                    RESTART * abs(slope) * self.windows[j],
                    self.run.settings.accuracy * self.scale[j],
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
        t, y = state.t, stacked(state)
        d = max(CHANGE, RESOLVED * float(np.spacing(abs(t))))
        g = self.witnesses(state, np.array([t - d, t + d]), np.stack([y - d * f, y + d * f]))
        return float(g[1, j] - g[0, j]) / (2 * d)

    def _reach(self, j: int, state: State) -> float:
        """How much a witness changes where one of q, u, z changes by the accuracy."""
        y = stacked(state)
        d, n = CHANGE * np.eye(y.size), y.size
        g = self.witnesses(state, np.full(2 * n, state.t), np.concatenate([y + d, y - d]))[:, j]
        weights = self.run.settings.weights
        unit = np.where(weights > 0, weights, 1.0)
        return self.run.settings.accuracy * float(np.abs((g[:n] - g[n:]) / (2 * CHANGE * unit)).max())

    def _first_step(self, fired: Sequence[int], t: float) -> float:
        """How long the first step after events may be [s]."""
        return max(min(RESTART * self.windows[j] for j in fired), RESOLVED * float(np.spacing(abs(t))))

    def _zeno(self, fired: Sequence[int], t: float) -> Outcome | None:
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
