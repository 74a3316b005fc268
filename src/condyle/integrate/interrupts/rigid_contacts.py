"""Witnesses of unilateral constraints. Each must pass zero by a margin to count:

    open      g + margin            it touches where this falls below zero                                (22)
    closed    lambda_n + margin     it lets go
    sticks    mu lambda_n - |lambda_t| + margin      it starts to slide
    slides s . D + margin it sticks again, or slides in another direction

and witnesses that do not apply are 1. Margins are a thousandth of the accuracy, so rounding has no effect.

Between two checks a small body may pass through a thin one, with both gaps above zero. If the gap's tangent
at one check reaches zero before the other check, the run checks there too, a window later, and again from
there:

    t_a - g_a / gdot_a + window < t_b,   t_b - g_b / gdot_b - window > t_a                                (24)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from condyle.errors import CondyleError
from condyle.integrate.events import Event, Witnesses
from condyle.integrate.interrupts.witnesses import WitnessEvents
from condyle.integrate.rigid.contacts import ContactInfeasible, OneWayConstraints
from condyle.integrate.rigid.held_accelerations import HeldAccelerations, in_few
from condyle.integrate.steps import unstacked
from condyle.integrate.trajectory import Occurrence
from condyle.records import dataclass
from condyle.status import Outcome
from condyle.system.state import State

if TYPE_CHECKING:
    from condyle.integrate.interrupts.actions import Actions
    from condyle.integrate.run import SimulationRun

AGAIN = 12
"""Rounds of (24)."""


@dataclass(frozen=True, eq=False)
class Transition(Event):
    """An event after which a run determines which constraints hold. Fast bodies overlap by their travel in a
    window, so that small bodies would meet at the wrong place: the instant is found to a thousandth of it."""

    share: ClassVar[float] = 1e-3
    resolves: ClassVar[bool] = True


class RigidWitnesses(Witnesses):
    """Witnesses of a run's events, then of its constraints: gap, force and friction of each."""

    def __init__(self, own: Witnesses, contacts: OneWayConstraints) -> None:
        self._own, self.contacts, self.held = own, contacts, HeldAccelerations(contacts.system)
        never = lambda s: 1.0
        made = [
            Transition(never, traced=False, name=f"{name} {what}")
            for name in contacts.modes.names
            for what in ("touches", "opens", "changes friction")
        ]
        self.events = [*own.events, *made]

    def __call__(self, like: State, t: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Values (m, events) at times t (m,) and y (m, n), all else as in a state."""
        own = self._own(like, t, y)
        mine = self._values(like, t, y)
        return np.hstack([own, mine.reshape(len(t), -1)])

    def _values(self, like: State, t: np.ndarray, y: np.ndarray) -> np.ndarray:
        """(m, k, 3)."""
        c, m = self.contacts, self.contacts.modes
        compiled, k = like.system.compiled, len(self.contacts.modes.names)
        out = np.ones((len(t), k, 3))
        if not len(t):
            return out
        q, u, tails = unstacked(compiled.model, like.tail, t, y)
        closed, stick, slide = c.holds(like)
        enabled = like.tail[m.enabled][m.switch] > 0.5
        rows = in_few(compiled.function("unilateral_rows"), q, u, tails)
        gap, slip, mu = rows[0], rows[2].reshape(-1, k, 2), rows[6]
        out[:, :, 0] = np.where(enabled & ~closed, gap + c.close, 1.0)  # (22)
        if (closed & enabled).any():
            try:
                found = self.held(t, y, like.tail)[1]
            except CondyleError:
                found = np.full((len(t), len(m.mine)), np.nan)
            normal = found[:, m.normal]
            out[:, :, 1] = np.where(enabled & closed, normal + c.margin, 1.0)
            for i in np.flatnonzero(enabled & closed & m.has_friction):
                if stick[i]:
                    friction = np.hypot(found[:, m.normal[i] + 1], found[:, m.normal[i] + 2])
                    out[:, i, 2] = mu[:, i] * normal[:, i] - friction + c.margin[i]
                else:
                    T = in_few(compiled.function("unilateral_tangents"), q, u, tails)[0].reshape(-1, k, 2, 3)
                    v = np.einsum("ma,mab->mb", slip[:, i], T[:, i])
                    out[:, i, 2] = v @ slide[i] / max(float(np.linalg.norm(slide[i])), 1e-300) + c.slow
        return out

    def hidden(self, like: State, t: np.ndarray, y_at: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """(24): times between checks at which open gaps may be closed."""
        c, m = self.contacts, self.contacts.modes
        some = np.flatnonzero((like.tail[m.enabled][m.switch] > 0.5) & ~c.holds(like)[0])
        if not len(some) or len(t) < 2:
            return t[:0]

        def look(x: np.ndarray) -> np.ndarray:
            rows = in_few(
                like.system.compiled.function("unilateral_rows"),
                *unstacked(like.system.compiled.model, like.tail, x, y_at(x)),
            )
            return np.stack([rows[0][:, some], rows[1][:, some]], axis=2)

        known, seen = t, look(t)
        for _ in range(AGAIN):
            (g, v), a, b = np.moveaxis(seen, 2, 0), known[:-1, None], known[1:, None]
            apart = (g[:-1] > 0) & (g[1:] > 0)
            with np.errstate(all="ignore"):
                on = np.where(apart & (v[:-1] < 0), a - g[:-1] / v[:-1] + c.window, np.nan)
                back = np.where(apart & (v[1:] > 0), b - g[1:] / v[1:] - c.window, np.nan)
                new = np.r_[on[(on > a) & (on < b)], back[(back > a) & (back < b)]]  # (24)
            new = np.setdiff1d(new, known)
            if not len(new):
                break
            order = np.argsort(np.r_[known, new], kind="stable")
            known, seen = np.r_[known, new][order], np.concatenate([seen, look(new)])[order]
        return np.setdiff1d(known, t)


class RigidContacts(WitnessEvents):
    """Rigid contacts, stops and ropes of a run, and its own events. They are handled together, because
    changes at the same instant may depend on each other. A run starts with the necessary constraints
    closed."""

    def __init__(self, run: SimulationRun, actions: Actions, witnesses: Witnesses) -> None:
        s = run.settings
        self.run, self.contacts = run, OneWayConstraints(run.start.system, s.accuracy, s.window)
        actions.contacts = self
        run.start = self.resolved(run.start, found=False)
        super().__init__(run, actions, RigidWitnesses(witnesses, self.contacts))

    def resolved(self, state: State, found: bool = True) -> State:
        """A State in which the necessary unilateral constraints hold, and no others."""
        run, before = self.run, state
        try:
            state, happened, impact = self.contacts.resolve(state, found)
        except ContactInfeasible as error:
            run.status = run.status or error.status
            return before
        run.events += [Occurrence(what, state.t, before) for what in happened]
        run.impacts += [] if impact is None else [impact]
        return state

    def failure(self, state: State) -> Outcome | None:
        return self.contacts.infeasible(state)
