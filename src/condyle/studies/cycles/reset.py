"""Actions of events with exact derivatives: constraints catch speeds, and values change.

Caught speeds change as by an impulse without rebound. With the rows G of the caught constraints and of all
that remain enabled, and the velocity errors v(q, u) of these,

    M du + G' lambda = 0,     v(q, u + du) = 0                                                             (1)

and, differentiated with du and lambda held on the right-hand side,

    M d(du) + G' dlambda = -d(M du + G' lambda),     v_u d(du) = -v_q dq - v_u du                          (2)

Then values are set: x+ = values(x), whose derivatives are those of the traced function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from condyle.arguments import ExplainsCalls
from condyle.arrays import Array
from condyle.errors import DescriptionError, TraceError, check_name, check_names
from condyle.laws.ask import AskedState, traced_law
from condyle.records import assign, dataclass
from condyle.studies.cycles.tangents import Differentiated, Law, N_of, options_of
from condyle.system.checked_arguments import flag
from condyle.system.state import State
from condyle.system.system import System

PARTS = ("q", "u", "z")


@dataclass(frozen=True, eq=False)
class Reset(ExplainsCalls):
    """An event action in machine code with exact derivatives, for `cd.limit_cycle`: constraints catch the
    speeds, then values change.

        strike = cd.Reset(caught="swing foot", released="stance foot", values=exchange_legs, keep=True)
        cd.Event(height_of_swing_foot, action=strike)

    Args:
        values: values(s) -> {"q": {"hip": ..., ...}, "u": {...}, "z": {...}}: new values, computed with the
            accessors of force laws; s is the state after the catch. Omitted names keep their values.
        caught: names of constraints that catch the speeds, by an impulse without rebound; they need not be
            enabled before. The impulse does not depend on the position of the caught point.
        released: names of enabled constraints without impulse.
        keep: enable the same constraints after as before, when `values` exchanges their sides. Otherwise the
            caught ones are enabled afterward, and the released ones disabled.
    """

    call_hints: ClassVar = {"catch": "it is caught=", "release": "it is released="}

    values: Callable[[AskedState], object] | None = None
    caught: str | Iterable[str] = ()
    released: str | Iterable[str] = ()
    keep: bool = False
    law: Law | None = field(init=False, default=None, repr=False)
    names: tuple[tuple[str, str], ...] = field(init=False, default=(), repr=False)
    _made: WeakKeyDictionary[System, Differentiated] = field(
        init=False, default_factory=WeakKeyDictionary, repr=False
    )

    def __post_init__(self) -> None:
        for what in ("caught", "released"):
            given = getattr(self, what)
            names = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
            if not all(isinstance(name, str) for name in names):
                raise DescriptionError(f"Reset: {what}: expected names of constraints, got {given!r}")
            object.__setattr__(self, what, names)
        if both := set(self.caught) & set(self.released):
            raise DescriptionError(f"Reset: {', '.join(sorted(both))} cannot be caught and released at once")
        assign(self, keep=flag("Reset: keep", self.keep))
        if self.values is None:
            if not self.caught and not self.released:
                raise DescriptionError("Reset: nothing to change: give caught=, released= or values=")
            return
        found: list[tuple[tuple[str, str], ...]] = []
        law, asks = traced_law(self.values, "Reset: values", lambda result: _flat(result, found))
        assign(self, law=("Reset: values", law, asks), names=found[0])

    def __call__(self, state: State) -> State:
        """The State after the action."""
        state, _ = self._caught(state)
        return self._set(state)[0]

    def by_parameters(self, state: State) -> Array:
        """The derivative of the State after by Parameters, in x = (theta, u, z): shape (n, k)."""
        caught, J = self._caught(state, wrt="parameters")
        _, by_x, by_p = self._set(caught)
        return np.asarray(by_x @ J + by_p)

    def derivative(self, state: State) -> Array:
        """The derivative of the State after by the one before, in x = (theta, u, z): shape (n, n), n = nu +
        nu + nz."""
        caught, J = self._caught(state)
        return np.asarray(self._set(caught)[1] @ J)

    def _caught(self, state: State, wrt: str = "x") -> tuple[State, Array]:
        """(1) and its derivative (2), by x or by "parameters"."""
        system, n = state.system, 2 * state.system.nu + len(state.z)
        check_names("constraint", (*self.caught, *self.released), system.constraints, "Reset names it")
        J = np.eye(n) if wrt == "x" else np.zeros((n, len(state.parameters)))
        if not self.caught:
            return self._flagged(state, state), J
        disabled = (set(state.disabled) - set(self.caught)) | set(self.released)
        during = state.replace(disabled=disabled)
        du, lambda_ = during.constraints.impulses()
        q, u, options = state.q, state.u, options_of(during)
        G, nu = system.constraints.jacobian(q, u + du, **options), system.nu
        by = ("q", "u") if wrt == "x" else ("q", "u", "parameters")
        inertia = system.jacobian("multiply_mass_matrix", q, du, wrt=by[::2], **options)
        forces = system.jacobian("constraints.forces", q, u, lambda_, wrt=by, **options)
        errors = system.jacobian("constraints.errors", q, u + du, wrt=by, **options)
        rows = np.flatnonzero([level != "acceleration" for _, level in system.constraints.equations()])
        m, free = len(rows), np.flatnonzero(~system.compiled.tails.held(state.tail))
        v_q, v_u = errors["q"][-m:], errors["u"][-m:]
        M = system.mass_matrix(q, **options)
        left = np.block([[M[np.ix_(free, free)], G[np.ix_(rows, free)].T], [v_u[:, free], np.zeros((m, m))]])
        if wrt == "x":
            right = np.vstack(
                [np.hstack([forces["q"] - inertia["q"], forces["u"]])[free], np.hstack([-v_q, -v_u])]
            )
        else:
            right = np.vstack([(forces[wrt] - inertia[wrt])[free], -errors[wrt][-m:]])
        d = np.linalg.lstsq(left, right, rcond=1e-13)[0][: len(free)]  # (2)
        J[nu + free, : right.shape[1]] += d
        return self._flagged(state, state.replace(u=u + du)), J

    def _flagged(self, before: State, after: State) -> State:
        """The state with the constraints enabled that hold afterward."""
        disabled = set(before.disabled)
        return after.replace(
            disabled=disabled if self.keep else (disabled - set(self.caught)) | set(self.released)
        )

    def _set(self, state: State) -> tuple[State, Array, Array]:
        """Values by the function, and their derivatives by x and by Parameters."""
        system, nu, nz = state.system, state.system.nu, len(state.z)
        if self.law is None:
            return state, np.eye(2 * nu + nz), np.zeros((2 * nu + nz, len(state.parameters)))
        if system not in self._made:
            self._made[system] = Differentiated(system, [self.law])
        g, *dg = self._made[system].by_all(state)
        known = {"q": list(system.coordinates), "u": list(system.speeds), "z": list(system.state_variables)}
        now = {part: np.array(getattr(state, part)) for part in PARTS}
        D = {part: np.zeros((len(now[part]), 2 * nu + nz)) for part in PARTS}
        P = {part: np.zeros((len(now[part]), len(state.parameters))) for part in PARTS}
        D["q"][:, :nu], D["u"][:, nu : 2 * nu], D["z"][:, 2 * nu :] = N_of(state), np.eye(nu), np.eye(nz)
        for k, (part, name) in enumerate(self.names):
            check_name(
                {"q": "coordinate", "u": "speed", "z": "state variable"}[part],
                name,
                known[part],
                f"values of Reset sets it in {part!r}",
            )
            i = known[part].index(name)
            now[part][i], D[part][i], P[part][i] = g[k], dg[0][k], dg[1][k]
        new = state.replace(**now)
        back = np.linalg.pinv(N_of(new))
        by_x, by_p = (np.vstack([back @ X["q"], X["u"], X["z"]]) for X in (D, P))
        return new, by_x, by_p


def _flat(result: Any, found: list[tuple[tuple[str, str], ...]]) -> list[Any]:
    """New values as a list, their names into `found`."""
    expected = 'expected new values as {"q": {"hip": ...}, "u": {"hip": ...}, "z": {...}}'
    if not isinstance(result, Mapping) or not result:
        raise TraceError(f"Reset: values returned {result!r}; {expected}")
    for part, values in result.items():
        check_name("part of a state that values of Reset sets", part, PARTS)
        if not isinstance(values, Mapping):
            raise TraceError(f"Reset: values returned {values!r} for {part!r}; {expected}")
        for name, x in values.items():
            if x is None or np.ndim(x) != 0:
                raise TraceError(
                    f"Reset: values returned {x!r} for {name!r} in {part!r}; expected one number"
                )
    found.append(tuple((part, name) for part, values in result.items() for name in values))
    return [x for values in result.values() for x in values.values()]
