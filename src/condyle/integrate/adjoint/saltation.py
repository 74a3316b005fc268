"""Derivatives across a change of the state in a run: events, actions, impacts, samples.

An event happens where its witness g(t, y, p) passes zero. With f before, A = dy+/dy, a_t, a_p the derivatives of
its action and f+ after it, a change dy- at a fixed time before it becomes at a fixed time after it

    dt = -(g_y dy- + g_p dp) / (g_y f + g_t)                                                               (1)
    dy+ = A dy- + a_p dp + (A f + a_t - f+) dt                                                             (2)

(saltation), and in reverse its transpose. Several events at one instant are applied in order, each with its
own dt. Scheduled events have dt = 0. If an event ends the run, the end moves with it: f+ is left out. p here
are inputs, discrete variables, parameters and values computed from these: an action may change the first two.

Actions have derivatives if they are a `cd.Reset`, or if they can be traced: called with a state of symbols, they
return `state.replace(...)`. Witnesses and impacts of rigid contacts are differentiated by differences of
order 8 of the functions that found them, with the active constraints held.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from condyle.arrays import Array, vertcat
from condyle.errors import CondyleError, DescriptionError
from condyle.integrate.events import Event, StateFunctions
from condyle.integrate.interrupts.base import Cause
from condyle.integrate.interrupts.samples import Sampling, samples
from condyle.integrate.manifold import Manifold
from condyle.integrate.measure_history import scalars
from condyle.integrate.rigid.contact_rows import ContactNumbers
from condyle.integrate.rigid.impact import blow
from condyle.integrate.steps import replaced, stacked
from condyle.model.symbols import Symbols
from condyle.records import dataclass
from condyle.system.state import State
from condyle.system.variables import place
from condyle.trace import Symbol, to_sx

if TYPE_CHECKING:
    from condyle.integrate.adjoint.gradients import RunDerivatives

GRAZES, SOON = 1e-5, 1e-6
"""A witness only touches zero if it would turn round within the first of these times [s]; its change is
measured over the second."""
STEP = 1e-3
"""Step of the differences of order 8, in units of the variable."""
SAME = 1e-6
"""Relative tolerance between a traced action and its result in the run."""
WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)


class StateSlopes(StateFunctions):
    """Traced functions of the state with their gradients by (t, y, p')."""

    label = "state_slopes"

    def __init__(self, run: RunDerivatives, laws: Sequence[Any]) -> None:
        self.wanted, self.width = run.wanted, 1 + run.n + len(run.wanted)
        super().__init__(run.system, laws)

    def _outputs(self) -> list[tuple[str, int]]:
        return [*super()._outputs(), ("dg", self.size * self.width)]

    def _results(self, s: Symbols) -> list[ca.SX]:
        (g,) = super()._results(s)
        p = s["tail"][self.model.tail["inputs"].start :][self.wanted.tolist()]
        dg = ca.jacobian(g, ca.vertcat(s.t, s["q"], s["u"], s.z, p))
        return [ca.densify(g), ca.vec(ca.densify(dg).T)]

    def at(self, state: State) -> Array:
        """Gradients, (size, 1 + n + p')."""
        return np.asarray(self.function(state.q, state.u, state.tail)[1]).reshape(self.size, self.width)


@dataclass(eq=False)
class TracedState:
    """The State as traced actions see it: its numbers as symbols, and `replace`."""

    system: Any
    t: Any
    q: Any
    u: Any
    z: Any
    inputs: Any
    discrete: Any
    parameters: Any
    locked: Any
    disabled: Any

    def __getitem__(self, name: str) -> Any:
        k = place(self.system, name)
        for part in (self.q, self.u, self.z, self.discrete):
            if k < len(part):
                return part[k]
            k -= len(part)
        raise AssertionError(name)

    def replace(self, **changes: Any) -> TracedState:
        new = dict(vars(self))
        names = {
            "q": self.system.coordinates,
            "u": self.system.speeds,
            "z": self.system.state_variables,
            "inputs": self.system.inputs,
            "discrete": self.system.discrete,
            "parameters": self.system.parameters,
        }
        for name, value in changes.items():
            if isinstance(value, Mapping) and name in names:
                whole = np.array(new[name], dtype=object)
                for key, x in value.items():
                    whole[list(names[name]).index(key)] = x
                value = whole
            new[name] = value
        return TracedState(**new)


class Changes:
    """Derivatives of the changes of a run."""

    def __init__(self, run: RunDerivatives) -> None:
        self.run, self.system, self.n, self.np = run, run.system, run.n, len(run.wanted)
        self.size = self.n + self.np

    # --- parts

    def rate(self, state: State) -> Array:
        """ydot, then zeros for p', (n + p',)."""
        out = np.zeros(self.size)
        out[: self.n] = self.run.ydot(np.array([state.t]), stacked(state)[None], state.tail)[0]
        return out

    def refuse(self, name: str, t: float, why: str) -> DescriptionError:
        return DescriptionError(f"{self.run.what}: event {name!r} at t = {t:.6g} s {why}")

    def gradient(self, cause: Cause, j: int, state: State) -> Array:
        """Of a witness by (t, y, p')."""
        event: Event = cause.witnesses.events[j]
        if event.law is not None:
            return StateSlopes(self.run, [(f"Event({event.name})", event.law, event.asks)]).at(state)[0]
        if not event.resolves:
            raise self.refuse(
                event.name,
                state.t,
                "has a witness that only Python can compute (traced=False), which has no derivative; use the "
                "accessors of force laws, or cd.measures",
            )
        return self.differences(lambda s: cause.witnesses(s, np.array([s.t]), stacked(s)[None])[:, j], state)[
            0
        ]

    def differences(self, f: Callable[[State], Array], state: State) -> Array:
        """df by (t, y, p') by differences of order 8, (size, 1 + n + p')."""
        run, size = self.run, len(f(state))

        def slopes(name: str, directions: Array) -> Array:
            """One row a direction."""
            x = np.asarray(getattr(state, name))
            h = STEP * (max(float(np.abs(x).max(initial=0.0)), 1.0) if name == "parameters" else 1.0)
            out = np.zeros((len(directions), size))
            for row, d in zip(out, directions, strict=True):
                for k, c in enumerate(WEIGHTS, 1):
                    for e in (k * h, -k * h):
                        new = x + e * d
                        new = self.system.compiled.normalized(new) if name == "q" else new
                        row += c / e * k * f(state.replace(**{name: new}))
            return out

        N = run.N(state)
        columns = [slopes("t", np.ones(1)), np.linalg.pinv(N).T @ slopes("q", N.T)]
        columns += [slopes(name, np.eye(len(getattr(state, name)))) for name in ("u", "z")]
        p = np.zeros((self.np, size))  # by parameters directly, so that their table has no effect
        for name in ("inputs", "parameters"):
            p[run.parts[name]] = slopes(name, np.eye(len(getattr(state, name))))
        return np.vstack([*columns, p]).T

    def action(self, event: Any, before: State, after: State) -> tuple[Array, Array]:
        """A of (y, p'), (n + p', n + p'), and a_t."""
        A, a_t = np.eye(self.size), np.zeros(self.size)
        taken = [event.name] if isinstance(event, Sampling) else []
        if isinstance(event, Event):
            taken = [name for name, m in samples(self.system).items() if m.event == event.name]
        for name in taken:
            g = StateSlopes(self.run, [scalars(self.system).laws[self.system.measures.index(name)]]).at(
                before
            )[0]
            k = self.n + self.run.parts["discrete"].start + list(self.system.discrete).index(name)
            row, a_t[k] = g[1:], g[0]
            A[k] = row
        action = None if isinstance(event, Sampling) else event.action
        if action is None:
            return A, a_t
        if hasattr(action, "derivative"):
            return self._reset(action, before, after) @ A, a_t
        M, m_t = self._traced(event, before, after)
        return M @ A, M @ a_t + m_t

    def _reset(self, action: Any, before: State, after: State) -> Array:
        """A of cd.Reset, which acts on (theta, u, z)."""
        run, A = self.run, np.eye(self.size)
        nq, nu, n = run.nq, run.nu, self.n
        E, back = np.zeros((n, n - nq + nu)), np.zeros((n - nq + nu, n))
        E[:nq, :nu], back[:nu, :nq] = run.N(after), np.linalg.pinv(run.N(before))
        E[nq:, nu:] = back[nu:, nq:] = np.eye(n - nq)
        A[:n, :n] = E @ action.derivative(before) @ back
        if len(before.parameters):
            A[:n, n + run.parts["parameters"].start : n + run.parts["parameters"].stop] = (
                E @ action.by_parameters(before)
            )
        return A

    def _traced(self, event: Event, before: State, after: State) -> tuple[Array, Array]:
        """A of an action that is called with symbols."""
        run, names = self.run, ("t", "q", "u", "z", "inputs", "discrete", "parameters")
        values = {name: np.atleast_1d(getattr(before, name)) for name in names}
        symbols = {name: ca.SX.sym(name, len(x)) for name, x in values.items()}

        def array(x: ca.SX) -> np.ndarray:
            out = np.empty(x.numel(), dtype=object)
            out[:] = [Symbol(e) for e in ca.vertsplit(x)] if x.numel() else []
            return out

        given = {name: array(x) for name, x in symbols.items()}
        given["t"] = given["t"][0]
        seen = TracedState(self.system, locked=before.locked, disabled=before.disabled, **given)
        try:
            assert event.action is not None
            new: Any = event.action(seen)  # type: ignore[arg-type]
            new = seen if new is None else new
            parts = {
                name: vertcat(to_sx(x) for x in np.asarray(getattr(new, name), dtype=object).ravel())
                for name in names[1:]
            }
        except (CondyleError, AttributeError, TypeError, ValueError, IndexError, KeyError) as error:
            raise self.refuse(
                event.name,
                before.t,
                "has an action that cannot be traced, and so has no derivative. Return state.replace(...) with values "
                f"computed from state.q, u, z, t, or use cd.Reset ({error})",
            ) from None
        x, y = ca.vertcat(*symbols.values()), ca.vertcat(*parts.values())
        at = np.concatenate(list(values.values()))
        f = ca.Function("action", [x], [y, ca.jacobian(y, x)])
        value, J = (np.array(r) for r in f(at))
        real = np.concatenate([np.asarray(getattr(after, name)) for name in names[1:]])
        if not np.allclose(value[:, 0], real, rtol=SAME, atol=SAME * (1 + np.abs(real).max(initial=0.0))):
            raise self.refuse(
                event.name,
                before.t,
                "has an action whose traced result differs from that in the run: it depends on more "
                "than its State; use cd.Discrete for memory",
            )
        if not np.array_equal(after.parameters, before.parameters):
            raise self.refuse(
                event.name, before.t, "changes Parameters; change cd.Discrete variables instead"
            )
        n, known = self.n, n_inputs_discrete(run)
        A = np.zeros((self.size, self.size))
        A[n + known :, n + known :] = np.eye(self.np - known)
        rows = np.concatenate([np.arange(n), n + np.arange(known)])
        columns = np.concatenate(
            [np.arange(n), n + np.arange(known), n + known + np.arange(len(before.parameters))]
        )
        A[np.ix_(rows, columns)] = J[: len(rows), 1 : 1 + len(columns)]
        a_t = np.zeros(self.size)
        a_t[rows] = J[: len(rows), 0]
        return A, a_t

    def impact(self, cause: Cause, before: State, after: State) -> Array:
        """The matrix over (y, p') of an impact of rigid contacts."""
        contacts, A = cause.contacts, np.eye(self.size)
        modes = contacts.modes
        held = [contacts.holds(s) for s in (before, after)]
        now = ContactNumbers(before, modes)
        du = after.u - before.u
        if np.abs(du).max(initial=0.0) <= contacts.slow:
            return A
        enabled = before.tail[modes.enabled][modes.switch] > 0.5
        which = np.flatnonzero(enabled & (held[0][0] | held[1][0] | (now.gap <= 2 * contacts.close)))
        W, _ = contacts._matrix(now, which)
        if np.linalg.matrix_rank(W[::3, ::3], tol=1e-9 * np.abs(W).max()) < len(which):
            raise self.refuse(
                self._names(cause),
                before.t,
                "is an impact of redundant rigid contacts, whose impulses have no derivative; use fewer points, or a "
                "compliant cd.contact.Material",
            )
        rebounds = np.array([not held[1][0][i] for i in which])

        def speeds(s: State) -> Array:
            now = ContactNumbers(s, modes)
            W, Z = contacts._matrix(now, which)
            v = np.column_stack([now.rate, now.slip])[which]
            law = (
                "poisson"
                if any(modes.constraints[i].law == "poisson" and now.e[i] for i in which)
                else "newton"
            )
            done = blow(W, v, np.where(rebounds, now.e[which], 0.0), now.mu[which], law)
            assert done is not None
            return s.u + done.lambda_.ravel() @ Z

        if np.abs(speeds(before) - after.u).max() > 1e-6 * (1 + np.abs(after.u).max()):
            raise self.refuse(
                self._names(cause),
                before.t,
                "is an impact at the edge of its laws, where impulses have no derivative",
            )
        D = self.differences(speeds, before)
        u = slice(self.run.nq, self.run.nq + self.run.nu)
        A[u] = D[:, 1:]
        return A

    def _names(self, cause: Cause) -> str:
        return " and ".join(cause.witnesses.events[j].name for j in cause.hits) or "change"

    # --- whole

    def matrix(self, cause: Cause, k: int, ends: bool = False) -> Array:
        """From (y, p') before the change at row k to those after it: (1), (2). ends: the run ends with it."""
        traj = self.run.traj
        if not cause.known:
            raise DescriptionError(
                f"{self.run.what}: this run was copied from another process or a file, without the effects of its events; "
                "simulate it again"
            )
        if cause.jumps:
            raise DescriptionError(
                f"{self.run.what}: the path of {', '.join(cause.jumps)} jumps at t = {traj.t[k]:.6g} s, which has no "
                "derivative; move the wrap so that the path does not jump, or end the run earlier"
            )
        total, hits = np.eye(self.size), {id(cause.witnesses.events[j]): j for j in cause.hits}
        resolving = [j for j in cause.hits if cause.witnesses.events[j].resolves]
        if len(resolving) > 1:
            raise self.refuse(
                self._names(cause),
                float(traj.t[k]),
                "are contacts that change at one instant, in an order that depends on the direction: there is no "
                "derivative; start from a state without this symmetry",
            )
        done, passed, last = set[int](), False, len(cause.acted) - 1
        for i, (event, before, after) in enumerate(cause.acted):
            resolves = isinstance(event, Event) and event.resolves
            if resolves and passed:
                continue
            passed |= resolves
            A, a_t = (
                (self.impact(cause, before, after), np.zeros(self.size))
                if resolves
                else self.action(event, before, after)
            )
            if i == last and self.system.constraints and not resolves:
                after = traj._one(k) if k < len(traj) and self._changed(cause) else after
                P = self.projection(after)
                A, a_t = P @ A, P @ a_t
            j = hits.get(id(event))
            if j is None or j in done:
                total = A @ total
                continue
            done.add(j)
            final = all(id(e) not in hits for e, _, _ in cause.acted[i + 1 :])
            rest = cause.acted[i + 1 :] if final else ()
            for more, one, two in rest:  # consequences happen together with it
                B, b_t = self.action(more, one, two)
                A, a_t, after = B @ A, B @ a_t + b_t, two
            total = self._passed(cause, j, before, after, A, a_t, ends) @ total
            if rest:
                break
        return total

    def _changed(self, cause: Cause) -> bool:
        return any(before is not after for _, before, after in cause.acted)

    def _passed(
        self, cause: Cause, j: int, before: State, after: State, A: Array, a_t: Array, ends: bool
    ) -> Array:
        """(1), (2)"""
        g, f = self.gradient(cause, j, before), self.rate(before)
        speed = g[0] + g[1:] @ f
        soon = replaced(before, before.t + SOON, stacked(before) + SOON * f[: self.n])
        later = self.gradient(cause, j, soon)
        change = (later[0] + later[1:] @ self.rate(soon) - speed) / SOON
        if not abs(speed) > GRAZES * abs(change):
            raise self.refuse(
                cause.witnesses.events[j].name,
                before.t,
                "grazes: its witness touches zero without passing it, and its instant has no derivative; move the start "
                "or the witness a little",
            )
        jump = A @ f + a_t - (0.0 if ends else self.rate(after))
        return np.asarray(A - np.outer(jump, g[1:]) / speed)

    def projection(self, state: State) -> Array:
        """Derivative of the projection onto the constraints, at a state that satisfies them."""
        manifold = Manifold(self.run.traj.manifold.weights, 1e-13)

        def nearest(s: State) -> Array:
            return manifold.nearest(self.system, s.tail, np.array([s.t]), stacked(s)[None])[0]

        A = np.eye(self.size)
        A[: self.n] = self.differences(nearest, state)[:, 1:]
        return A


def n_inputs_discrete(run: RunDerivatives) -> int:
    """Number of inputs and discrete variables in p'."""
    return run.parts["discrete"].stop
