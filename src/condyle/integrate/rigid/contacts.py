"""Which unilateral constraints hold: at the start of a run, at events, after actions of users.

1. Constraints that hold are satisfied to rounding: runs satisfy them to a fraction of the accuracy.
2. If gaps that are closed shrink, there is an impact (impact.py). Approaches so slow that the rebound would
   last no longer than a few windows of events have none: that is how a bouncing ball comes to rest.
3. Of those that touch and do not part, or so slowly that they would be back at once, accelerations decide
which push, stick and slide (complementarity.py), from the rows

       gddot, rates of slips = W lambda + G udot_0 + bias                                                 (21)

4. The run continues from there with discrete variables that record this.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np

from condyle.constraints.solve.complementarity import ContactProblem, groups
from condyle.constraints.solve.projection import project
from condyle.errors import DescriptionError
from condyle.integrate.rigid.contact_rows import ContactNumbers, Modes
from condyle.integrate.rigid.impact import Impact, blow
from condyle.records import dataclass
from condyle.status import Outcome, Status
from condyle.system.state import State
from condyle.system.system import System
from condyle.tree import scales

MARGIN = 1e-3
"""Fraction of the accuracy by which gaps, slips and forces must pass zero to change sides."""
FLIGHT = 20.0
"""Rebounds that would last fewer windows are suppressed."""
RESOLVED = 1e-14
"""So are rebounds no higher than this fraction of the system's length: coordinates have 16 digits."""
ON = 1e-14
"""Gaps within this distance [m, rad], or this fraction of the length, count as closed; gaps change sides at
least ten times as far from zero."""
ROUGHLY = 20.0
"""Largest violation of a constraint that holds, in accuracies; beyond that an action has moved it."""
LEAST_RESPONSE = 1e-3
"""Fraction of its own response that friction must leave to a sliding contact (Painleve)."""


class ContactInfeasible(Exception):
    """No forces satisfy all contacts."""

    def __init__(self, status: Outcome) -> None:
        super().__init__(str(status))
        self.status = status


@dataclass
class OneWayConstraints:
    """The unilateral constraints of a system in a run.

    Args:
        system: whose they are.
        accuracy: of the run.
        window: of its events [s].

    Attributes:
        margin: of forces, shape (k,) [N, N m].
        close: of gaps [m, rad].
        slow: of speeds [m/s, rad/s].
        kept: v_D of unilateral/base.py (7) [m/s]: slower contacts count as at rest where they may stick.
    """

    system: System
    accuracy: float
    window: float
    margin: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.modes = Modes(self.system)
        self.length = self.system.compiled.length
        self.close = max(MARGIN * self.accuracy * self.length, 10 * ON * max(1.0, self.length))
        self.slow = self.close / scales.TIME_SCALE
        self.kept = self.accuracy * self.length / scales.TIME_SCALE
        self.margin = np.zeros(len(self.modes.names))
        self._check_laws()

    def _check_laws(self) -> None:
        """Raise an error for rebounds by two laws: all contacts at an instant are one impact, which follows
        one law."""
        named = {
            c.law: name
            for name, c in zip(self.modes.names, self.modes.constraints, strict=True)
            if not (isinstance(c.restitution, float) and c.restitution == 0)
        }
        if len(named) > 1:
            raise DescriptionError(
                f"simulate: {named['newton']!r} rebounds by law='newton' and "
                f"{named['poisson']!r} by law='poisson'; an impact follows one law: use "
                "the same law everywhere"
            )

    # ---- states --------------------------------------------------------------------------------------------

    def holds(self, state: State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Masks of closed (k,) and sticking (k,) contacts, and directions of sliding (k, 3)."""
        m, d = self.modes, state.discrete
        stick = np.where(m.has_friction, d[np.where(m.has_friction, m.stick, 0)] > 0.5, False)
        slide = np.where(m.has_friction[:, None], d[np.where(m.has_friction[:, None], m.slide, 0)], 0.0)
        return d[m.closed] > 0.5, stick, slide

    def set(self, state: State, closed: np.ndarray, stick: np.ndarray, slide: np.ndarray) -> State:
        """The state in which these constraints hold."""
        m, d = self.modes, np.array(state.discrete)
        d[m.closed] = closed
        d[m.stick[m.has_friction]] = (stick & closed)[m.has_friction]
        d[m.slide[m.has_friction]] = np.where((closed & ~stick)[:, None], slide, 0.0)[m.has_friction]
        return state if (d == state.discrete).all() else state.replace(discrete=d)

    def _projected(self, state: State) -> State:
        """The state with its constraints satisfied to rounding."""
        compiled, tail = state.system.compiled, state.tail
        problem = compiled.projection(
            tail[None], np.maximum(compiled.weights[state.q.size : state.q.size + state.u.size], 1e-6)
        )
        q, u = project(
            problem,
            state.q[None].copy(),
            state.u[None].copy(),
            ON * max(1.0, self.length),
            10 * ON * max(1.0, self.length),
            strict=False,
        )
        return state.replace(q=q[0], u=u[0])

    # ---- what happens --------------------------------------------------------------------------------------

    def resolve(self, state: State, found: bool = True) -> tuple[State, list[str], Impact | None]:
        """The state from which the run continues, a text that describes the change, and the impact, if any.

        Args:
            found: whether the run reached this state by itself; else it starts here, or an action set it.

        Raises:
            DescriptionError: surfaces overlap.
            ContactInfeasible: no forces or impulses are found.
        """
        m = self.modes
        enabled = state.tail[m.enabled][m.switch] > 0.5
        before = self.holds(state)
        now = ContactNumbers(state, m)
        far = ROUGHLY * self.accuracy * self.length
        if not found:
            self._check_overlap(state, now, enabled & (~before[0] | (now.gap < -far)))
        held = before[0] & enabled & (np.abs(now.rate) <= far / scales.TIME_SCALE) & (now.gap <= far)
        sticks = before[1] & held & (np.abs(now.slip).max(axis=1, initial=0.0) <= far / scales.TIME_SCALE)
        state = self.set(state, held, sticks, before[2])
        if held.any() or len(self.system.constraints) > len(m.names):
            state = self._projected(state)
            now = ContactNumbers(state, m)
        touching = enabled & (held | (now.gap <= 2 * self.close))
        impact = None
        if (touching & (now.rate < -self.slow)).any():
            state, now, impact = self._impact(state, now, np.flatnonzero(touching))
        pressed = np.maximum(-now.accelerations()[:, 0], 0.0)
        leaves = np.maximum(self.kept, FLIGHT * self.window * pressed / 2)
        # contacts lifted by less than the resolution of gaps would fall again and lift the next one
        leaves = np.where(held, np.maximum(leaves, np.sqrt(4 * self.close * pressed)), leaves)  # (25)
        stays = np.flatnonzero(touching & (now.rate <= leaves))
        gives_way = sticks & found & (impact is None)
        closed, stick, slide = self._forces(state, now, stays, gives_way)
        if len(stays):  # contacts without force are restored too
            near = np.isin(np.arange(len(closed)), stays)
            state = self._projected(self.set(state, near, stick, slide))
        state = self.set(state, closed, stick, slide)
        return state, self._words(before, (closed, stick, slide), impact), impact

    def _check_overlap(self, state: State, now: ContactNumbers, some: np.ndarray) -> None:
        deep = np.flatnonzero(some & (now.gap < -self.accuracy * self.length))
        if len(deep):
            i = int(deep[np.argmin(now.gap[deep])])
            raise DescriptionError(
                f"simulate: at t = {state.t:.9g} s {self.modes.names[i]!r} is violated by {-now.gap[i]:.3g} "
                "[m, rad]: rigid surfaces must not overlap, nor coordinates pass stops, nor ropes be "
                f"stretched. The tolerance is the accuracy {self.accuracy:g} times the length "
                f"{self.length:g} m; start with a gap, or disable the constraint by disabled=[...]"
            )

    def _matrix(self, now: ContactNumbers, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """W of some contacts, (3 k, 3 k), and changes of speeds by unit impulses, (3 k, nu)."""
        rows = now.G[which].reshape(-1, now.u.size)
        Z = now.response(rows)
        return rows @ Z.T, Z

    def _impact(
        self, state: State, now: ContactNumbers, which: np.ndarray
    ) -> tuple[State, ContactNumbers, Impact]:
        m = self.modes
        W, Z = self._matrix(now, which)
        v = np.column_stack([now.rate, now.slip])[which]
        pressed = np.maximum(-now.accelerations()[which, 0], 0.0)
        e = now.e[which]
        rebound = e * np.maximum(-v[:, 0], 0.0)
        short = (2 * rebound <= FLIGHT * self.window * pressed) | (
            rebound**2 <= 2 * RESOLVED * self.length * pressed
        )
        stays = short | (-v[:, 0] <= self.kept)
        law = "poisson" if any(m.constraints[i].law == "poisson" and now.e[i] for i in which) else "newton"
        impulses, energy, laws = np.zeros_like(v), 0.0, {law}
        for some in groups(W):
            if (v[some, 0] >= -self.slow).all():
                continue
            rows = (3 * some[:, None] + np.arange(3)).ravel()
            # Poisson's compression includes impulses of contacts that did not approach, (19)
            dead = stays[some].all() if law == "poisson" else stays[some]
            done = blow(
                W[np.ix_(rows, rows)], v[some], np.where(dead, 0.0, e[some]), now.mu[which[some]], law
            )
            if done is None:
                raise self._none_found(state, "impulses", which[some], "part them")
            impulses[some], energy = done.lambda_, energy + done.energy
            laws.add(done.law)
        state = state.replace(u=state.u + impulses.ravel() @ Z)
        pushed = {m.names[i]: impulses[j] for j, i in enumerate(which) if impulses[j].any()}
        law = next(x for x in ("plastic", "poisson", "newton") if x in laws)
        return state, ContactNumbers(state, m), Impact(state.t, pushed, energy, law)

    def _forces(
        self, state: State, now: ContactNumbers, which: np.ndarray, gives_way: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The contacts that are closed from now on, those of them that stick, and the directions in which the
        others slide. Contacts that have just stopped sticking slide as soon as friction is at its limit,
        although their slip has no acceleration yet."""
        k = len(self.modes.names)
        closed, stick, slide = *np.zeros((2, k), bool), np.zeros((k, 3))
        if not len(which):
            return closed, stick, slide
        W, _ = self._matrix(now, which)
        speed = np.hypot(*now.slip[which].T)
        directions = [
            now.slip[i] / s if s > self.kept and self.modes.has_friction[i] else None
            for i, s in zip(which, speed, strict=True)
        ]
        whole = ContactProblem(
            W, now.accelerations()[which].ravel(), now.mu[which], directions, np.zeros(len(which))
        )
        self.margin[which] = (
            MARGIN * self.accuracy * self.length / scales.TIME_SCALE**2 / np.maximum(np.diag(W)[::3], 1e-300)
        )
        for some in groups(W):
            problem = whole.part(some)
            found = None if (problem.own() < LEAST_RESPONSE).any() else problem.solve()  # (21)
            if found is None:
                raise self._none_found(state, "forces", which[some], "keep them apart")
            found = problem.shared(found)
            lam, a = found.lambda_, found.v
            most = max(float(np.abs(problem.b).max()), 1e-300)
            pushes = lam[:, 0] * np.diag(problem.W)[::3] > 1e-9 * most  # light bodies have small forces
            for j, (i, way) in enumerate(zip(which[some], problem.directions, strict=True)):
                closed[i] = pushes[j]
                if not closed[i] or not self.modes.has_friction[i]:
                    continue
                if way is not None:
                    slide[i] = self.kept * way @ now.frames[i]
                    continue
                friction, reach = float(np.hypot(*lam[j, 1:])), now.mu[i] * lam[j, 0]
                moves = float(np.hypot(*a[j, 1:])) > 1e-7 * most
                at_edge = friction >= (1 - 1e-6) * reach
                if moves or (at_edge and friction > 0 and (len(some) > 1 or gives_way[i])):
                    d = a[j, 1:] if moves else -lam[j, 1:]
                    slide[i] = self.kept * d / np.hypot(*d) @ now.frames[i]
                else:
                    stick[i] = True
        return closed, stick, slide

    def _none_found(self, state: State, what: str, which: np.ndarray, aim: str) -> ContactInfeasible:
        names = ", ".join(repr(self.modes.names[i]) for i in which)
        text = f"stopped at t = {state.t:.9g} s: no {what} of {names} are found that {aim}; "
        return ContactInfeasible(Outcome(Status.PAINLEVE, text + Status.PAINLEVE.advice))

    def _words(
        self, before: tuple[np.ndarray, ...], after: tuple[np.ndarray, ...], impact: Impact | None
    ) -> list[str]:
        out, slid = [], lambda x: np.abs(x[2]).max(axis=1) > 0
        for i, name in enumerate(self.modes.names):
            if (impact is not None and name in impact.impulses and not before[0][i]) or (
                after[0][i] and not before[0][i]
            ):
                out.append(f"{name} touches")
            if before[0][i] and not after[0][i]:
                out.append(f"{name} opens")
            if after[1][i] and not before[1][i]:
                out.append(f"{name} sticks")
            if slid(after)[i] and not slid(before)[i]:
                out.append(f"{name} slides")
        return out

    def infeasible(self, state: State) -> Outcome | None:
        """Why a step fails, if friction cancels the response of a contact."""
        closed, stick, _ = self.holds(state)
        which = np.flatnonzero(closed)
        if not len(which) or not (closed & ~stick & self.modes.has_friction).any():
            return None
        now = ContactNumbers(state, self.modes)
        W, _ = self._matrix(now, which)
        directions = [
            now.slip[i] / max(float(np.hypot(*now.slip[i])), 1e-300)
            if now.mu[i] > 0 and not stick[i]
            else None
            for i in which
        ]
        nothing = np.zeros(3 * len(which))
        own = ContactProblem(W, nothing, now.mu[which], directions, nothing[::3]).own()
        if own.min() > 0.1:
            return None
        name = self.modes.names[int(which[np.argmin(own)])]
        return Outcome(
            Status.PAINLEVE,
            f"stopped at t = {state.t:.9g} s: the force of {name!r} grows "
            "without limit as friction cancels its effect; "
            f"{Status.PAINLEVE.advice}",
        )
