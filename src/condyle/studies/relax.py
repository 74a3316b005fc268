"""`cd.relax`: a configuration of least potential energy, on the constraints.

With V the potential energy, g = dV/dq = -f the negative generalized forces at rest, P the rows of the
position constraints and Z a basis of the motions that these allow (P Z = 0),

    at rest       g + P' lambda = 0         the statics of a constrained system                            (1)
    curvature     W = dg/dq + d(P' lambda)/dq,     Z' W Z > 0 at a minimum                                 (2)
    step          d = -Z |Z' W Z|^-1 Z' g,         q <- q + N d, then projection to the constraints        (3)

The matrix |A| has the eigenvectors of A and the absolute values of its eigenvalues, so that (3) is always a
descent direction; at a saddle, where Z' g = 0 and an eigenvalue is negative, the step follows the
eigenvector of this eigenvalue. Steps are halved until V falls. Forces and their derivatives are exact. A
step ends where surfaces begin to touch, or where their overlap x would more than double, judged by its rate
along d,

    at most the part (|x| + SKIN) / xdot of d                                                              (4)

so that nothing falls through objects thinner than a step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from condyle.arguments import with_call_hints
from condyle.arrays import Array
from condyle.errors import ConvergenceError, DescriptionError
from condyle.native.machine.notice import announced
from condyle.status import Status
from condyle.system.checked_arguments import check_state, number
from condyle.system.state import State
from condyle.system.system import System

ITERATIONS, HALVINGS = 300, 30
FLAT = 1e-10
"""Eigenvalues below this part of the largest count as zero; slopes along them, below this part of the largest
force, too."""
KICK = 1e-2
"""The step along a direction of negative curvature where there is no slope to follow [rad, m]."""
LONGEST = 1.0
"""The longest step [rad, m]."""
SKIN = 1e-4
"""Largest penetration of a step into a surface that it reaches [m]."""
SAME = 1e-6
"""Forces and the slope of the energy count as equal up to this part of the largest force."""


@with_call_hints()
@announced
def relax(system: System, state: State, *, locked: Iterable[str] = (), accuracy: float = 1e-8) -> State:
    """The State at rest with a local minimum of potential energy, found downhill from a state, on all
    position constraints.

    Only forces that have an energy can be minimized: gravity, springs, compliant contacts,
    `cd.forces.Potential`. Constraints on speeds take no part.

    Args:
        system: whose energy is minimized.
        state: where the search starts.
        locked: names of speeds to hold fixed, besides those locked in the state or prescribed by motions.
        accuracy: the last change of a coordinate is at most this [rad, m].

    Returns:
        The State, with q at the minimum and u zero.

    Raises:
        ConvergenceError: the energy has no minimum nearby, as for a falling body; `error.status` says
            why.
        ConstraintError: the constraints cannot be satisfied.
        DescriptionError: a force acts at rest and has no energy: disable it, or simulate with damping.
    """
    check_state("relax", system, state)
    if not 1e-12 <= number("relax: accuracy", accuracy, "a number from 1e-12 to 0.1 [rad, m]") <= 0.1:
        raise DescriptionError(f"relax: accuracy = {accuracy!r} must be between 1e-12 and 0.1 [rad, m]")
    if acting := [name for name in system.constraints.unilateral if name not in state.disabled]:
        raise DescriptionError(
            f"relax: {acting[0]!r} acts one way, and this search does not open and close "
            "it; disable it, or simulate with damping until all is at rest"
        )
    locks = {**state.locked, **system.compiled.tails.levels(locked)}
    return (
        _Descent(system, state.replace(u=np.zeros(system.nu), locked=locks), accuracy)
        .run()
        .replace(locked=state.locked)
    )


class _Descent:
    """The search by steps (3)."""

    def __init__(self, system: System, state: State, accuracy: float) -> None:
        self.system, self.state, self.accuracy = system, state, accuracy
        self.free = ~system.compiled.tails.held(state.tail)
        self.zero = np.zeros(system.nu)
        self.options: dict[str, Any] = {
            name: getattr(state, name)
            for name in ("t", "z", "inputs", "discrete", "parameters", "disabled", "locked")
        }
        self.rows = [i for i, (_, level) in enumerate(system.constraints.equations()) if level == "position"]

    def run(self) -> State:
        q = self._back(self.state.q)
        check_energy("relax", self.system, self.state, q, self.options)
        V = self._energy(q)
        for _ in range(ITERATIONS):
            d, kicked = self._direction(q)
            longest = np.abs(d).max(initial=0.0)
            if longest <= self.accuracy and not kicked:
                q = self._back(self._moved(q, d))
                check_energy("relax", self.system, self.state, q, self.options)
                return self.state.replace(q=q)
            part = min(1.0, LONGEST / longest, self._until_touch(q, d, longest))
            for k in range(HALVINGS):
                trial = self._back(self._moved(q, part * d * (-1.0 if kicked and k % 2 else 1.0)))
                V_trial = self._energy(trial)
                if V_trial < V or (part * longest < 1e-6 and V_trial <= V + 1e-13 * (abs(V) + 1)):
                    break
                part /= 1.0 if kicked and k % 2 == 0 else 2.0
            else:
                raise ConvergenceError(
                    f"relax: the energy {V:.9g} J does not fall along its own slope (by "
                    f"{part:.1g} of a step "
                    f"of {longest:.3g}); {Status.NO_DESCENT.advice}",
                    q,
                    Status.NO_DESCENT,
                )
            q, V = trial, V_trial
        worst = self.system.speeds[int(np.abs(d).argmax())]
        raise ConvergenceError(
            f"relax: after {ITERATIONS} steps the energy is {V:.6g} J and still falls; "
            f"{worst!r} moves most. "
            f"{Status.STILL_FALLING.advice.capitalize()}",
            q,
            Status.STILL_FALLING,
        )

    def _until_touch(self, q: Array, d: Array, longest: float) -> float:
        """The largest part of d that (4) allows."""
        on = [name not in self.state.disabled for name in self.system.contacts]
        if not any(on):
            return np.inf
        little = 1e-6 / longest  # a micrometer, far below SKIN
        x, after = (
            self.system.contacts.depths(at, **self.options)[on] for at in (q, self._moved(q, little * d))
        )
        xdot = (after - x) / little
        return float(((np.abs(x) + SKIN)[xdot > 0] / xdot[xdot > 0]).min(initial=np.inf))

    def _forces(self, q: Array) -> Array:
        """g: the forces that equilibrium requires in addition."""
        return self.system.inverse_dynamics(q, self.zero, self.zero, **self.options)

    def _energy(self, q: Array) -> float:
        return float(self.system.energy(q, self.zero, **self.options)[1])

    def _moved(self, q: Array, d: Array) -> Array:
        return self.system.compiled.normalized(q + self.system.qdot(q, d, **self.options))

    def _back(self, q: Array) -> Array:
        if not self.rows:
            return q
        return self.system.project(q, self.zero, tolerance=1e-11, **self.options)[0]

    def _direction(self, q: Array) -> tuple[Array, bool]:
        """d of (3), and whether it follows negative curvature only."""
        system, free = self.system, self.free
        g = self._forces(q)
        W = system.jacobian("inverse_dynamics", q, self.zero, self.zero, wrt="q", **self.options)
        Z = np.eye(system.nu)[:, free]
        if self.rows:
            P = system.constraints.jacobian(q, self.zero, **self.options)[self.rows]
            s, Vt = np.linalg.svd(P[:, free])[1:]
            Z = Z @ Vt[int(np.sum(s > 1e-9 * s.max(initial=0.0))) :].T
            lambda_ = np.zeros(len(system.constraints.equations()))
            lambda_[self.rows] = np.linalg.lstsq(P[:, free].T, -g[free], rcond=1e-9)[0]
            W = W - system.jacobian(
                "constraints.forces", q, self.zero, lambda_, wrt="q", **self.options
            )  # (2)
        if not Z.shape[1]:
            return np.zeros(system.nu), False
        H = Z.T @ W @ Z
        sizes, vectors = np.linalg.eigh((H + H.T) / 2)
        slope = vectors.T @ (Z.T @ g)
        least = FLAT * max(np.abs(sizes).max(initial=0.0), np.abs(g).max())
        slope[(np.abs(sizes) <= least) & (np.abs(slope) <= FLAT * np.abs(g).max())] = 0.0
        along = slope / np.maximum(np.abs(sizes), max(least, 1e-300))
        if (np.abs(along) <= self.accuracy).all() and sizes[0] < -1e3 * least:
            return KICK * Z @ vectors[:, 0], True
        return -Z @ (vectors @ along), False  # (3)


def check_energy(who: str, system: System, state: State, q: Array, options: Mapping[str, Any]) -> None:
    """Raise an error for forces that act at rest without an energy."""
    zero, free = np.zeros(system.nu), ~system.compiled.tails.held(state.tail)

    def off(options: Mapping[str, Any]) -> float:
        f = -system.inverse_dynamics(q, zero, zero, **options)
        slope = system.jacobian("energy", q, zero, wrt="q", **options)[1]
        return float(np.abs(f + slope)[free].max(initial=0.0))

    largest = float(np.abs(system.inverse_dynamics(q, zero, zero, **options)).max(initial=0.0))
    if off(options) <= SAME * max(largest, 1e-3):
        return
    on = [name for name in system.forces if name not in state.disabled]
    amounts = {
        name: off({**options, "disabled": {*state.disabled, *(other for other in on if other != name)}})
        for name in on
    }
    names = ", ".join(
        f"{name!r} (by {x:.3g})" for name, x in amounts.items() if x > SAME * max(largest, 1e-3)
    )
    raise DescriptionError(
        f"{who}: these forces act at rest but store no energy that explains them: "
        f"{names}. Disable them (state.replace(disabled=...)), or write their energy "
        "as cd.forces.Potential"
    )
