"""Muscles: fibers in equilibrium with their tendons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from condyle.arguments import with_call_hints
from condyle.arrays import Array, Vector, vector
from condyle.errors import ConvergenceError, DescriptionError, UnknownNameError, warn
from condyle.forces.base import state_variables
from condyle.loading import if_loaded
from condyle.status import Status
from condyle.system.compiled import Compiled
from condyle.system.operators.base import Operators
from condyle.system.operators.groups import NamedGroup
from condyle.system.operators.public import OPTIONS, Options

if TYPE_CHECKING:
    from condyle.system.state import State

TOL, LIMIT = 1e-13, 200
"""Size of the last step relative to the fiber's length; largest number of steps."""
BALANCED = 1e-6
"""Forces of fiber and tendon balance if they differ by less than this part of the maximum isometric force."""


class Muscles(NamedGroup):
    """Names of the muscles, in the order in which they were added."""

    def equilibrium(self, q: Vector, **options: Unpack[Options]) -> Array:
        """Auxiliary states z in equilibrium, shape (..., nz): elastic tendons balance their fibers at rest,
        at the activations in z. Other entries of z are unchanged.

        Solved by a bracketed Newton method, for all states and muscles at once. If the path is shorter than
        tendon and shortest fiber there is no equilibrium: the fiber has its minimum length, the tendon is
        slack, and a warning names the muscle.

        Args:
            q: coordinates, shape (..., nq).
        """
        compiled = self._system._freeze("muscles.equilibrium()")
        if unknown := [option for option in options if option not in OPTIONS]:
            raise UnknownNameError("option of muscles.equilibrium()", unknown[0], OPTIONS)
        given: Any = {k: v for k, v in options.items() if k not in ("out", "threads")}
        q = vector("q", q, self._system.nq, compiled.entries["q"])
        return muscle_equilibrium(compiled, q, compiled.tails.make(given))


class MuscleOperators(Operators):
    """Fibers and tendons."""

    @with_call_hints({"activation": "it is in the state: system.state(z={'biceps.activation': 0.5})"}, skip=1)
    def equilibrate_muscles(self, state: State) -> State:
        """The state with fibers in static equilibrium with their tendons, like OpenSim's equilibrateMuscles,
        at the state's activations and path lengths. See `system.muscles.equilibrium`.

        Args:
            state: a State of this system.
        """
        if not hasattr(state, "system"):
            raise DescriptionError(
                "equilibrate_muscles: expected a State, as system.state(q=...) makes it, "
                f"got {state!r}; of coordinates it is system.muscles.equilibrium(q)"
            )
        if state.system is not self:
            raise DescriptionError(
                "equilibrate_muscles: the state belongs to another system; make it with system.state()"
            )
        compiled = self._compiled or self._freeze("equilibrate_muscles()")
        return state.replace(z=muscle_equilibrium(compiled, state.q, state.tail))


def muscle_equilibrium(compiled: Compiled, q: Array, tail: Array) -> Array:
    """z of `Muscles.equilibrium` at coordinates (..., nq) and tails (..., k)."""
    model = compiled.model
    shape = np.broadcast_shapes(q.shape[:-1], tail.shape[:-1])
    q, tail = (np.broadcast_to(x, (*shape, x.shape[-1])).reshape(-1, x.shape[-1]) for x in (q, tail))
    names, at = elastic_tendons(model.forces)
    z: Array = tail[:, model.tail["z"]].copy()
    if names:
        u, L = np.zeros((len(q), model.tree.nu)), np.asarray(compiled.function("path_lengths")(q, tail))
        z[:, at] = _solved(
            compiled.function("imbalance"),
            (q, u, L, np.zeros_like(L)),
            tail.copy(),
            model.tail["z"].start + np.array(at),
            names,
        )
    names_of = [name for name, _ in state_variables(model.forces)]
    z[:, [k for k, name in enumerate(names_of) if name.endswith(".fiber_velocity")]] = 0.0
    return z.reshape(*shape, z.shape[1])


def elastic_tendons(forces: Any) -> tuple[list[str], list[int]]:
    """Names of the muscles with elastic tendons, and indices of their states in z."""
    names, at, start = [], [], 0
    for name, force in forces.items():
        if isinstance(force, if_loaded("condyle.muscles.muscle", "Muscle")) and force.tendon == "elastic":
            names.append(name)
            at.append(start + len(force.states) - 1)
        start += len(force.states)
    return names, at


def _solved(kernel: Any, given: tuple[Array, ...], tail: Array, at: Array, names: list[str]) -> Array:
    """States of the tendons, shape (states, tendons). `kernel` is the operator `imbalance`, `given` are its
    arguments before the tail."""
    n, states = len(names), len(tail)

    def evaluate(which: Any) -> Array:
        return np.asarray(kernel(*(x[which] for x in given), tail[which])).reshape(len(which), n, 5)

    busy = np.arange(states)
    tail[:, at] = 1.0
    low, high = evaluate(busy)[:, :, 2:4].transpose(2, 0, 1).copy()
    tail[:, at] = low
    # the tendon is slack, or cannot hold even the shortest fiber
    shortest = ~(high > low) | (evaluate(busy)[:, :, 0] >= 0)
    high[shortest] = low[shortest]
    l_M, last = (low + high) / 2, high - low
    tail[:, at] = l_M
    for _ in range(LIMIT):
        r, slope = evaluate(busy)[:, :, :2].transpose(2, 0, 1)
        x, a, b, before = l_M[busy], low[busy], high[busy], last[busy]
        a, b = np.where(r <= 0, x, a), np.where(r <= 0, b, x)
        with np.errstate(all="ignore"):
            newton = np.where(np.isfinite(slope), x - r / slope, np.nan)
        # Newton's steps along an exponential curve are short and many
        quick = (newton >= a) & (newton <= b) & (np.abs(newton - x) <= before / 2)
        after = np.where(shortest[busy] | (r == 0), x, np.where(quick, newton, (a + b) / 2))
        low[busy], high[busy], l_M[busy], last[busy] = a, b, after, np.abs(after - x)
        tail[busy[:, None], at] = after
        busy = busy[(np.abs(after - x) > TOL * after).any(axis=1)]
        if not len(busy):
            break
    if shortest.any():
        some = ", ".join(
            f"{name}{f' ({k} of {states} states)' * (states > 1)}"
            for name, k in zip(names, shortest.sum(axis=0), strict=True)
            if k
        )
        warn(f"muscles.equilibrium: fibers at their shortest, their tendons slack or weaker: {some}")
    r, slope, _, _, found = evaluate(np.arange(states)).transpose(2, 0, 1)
    steep = np.where(np.isfinite(slope), np.abs(slope), 0.0) * l_M
    lost = ~shortest & ~(np.abs(r) <= BALANCED + 100 * TOL * steep)
    if lost.any():
        i, k = np.argwhere(lost)[0]
        raise ConvergenceError(
            f"muscles.equilibrium: {names[k]!r} finds no balance{f' in state {i}' * (states > 1)}: at a fiber "
            f"length of {l_M[i, k]:.6g} m its forces differ by {r[i, k]:.3g} of the maximal isometric force; "
            "is a curve of the muscle not a number there, or does it jump?",
            found,
            Status.NOT_FINITE,
        )
    return found
