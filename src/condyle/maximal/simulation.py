"""ProjectedMotion in maximal coordinates: docs/theory/maximal.md (30)-(33).

The state is y = (x, V, z). Let P(y) be the state on the constraints that belongs to y: quaternions of unit
length, then

    positions     C(x) = 0,  x <- x + J dV,   dV = K^-1 [-C; d] + T du,   L dV = -C_L,  |du| least        (30)
    velocities    L V + L_t = 0,               V = K^-1 [-C_t; S V + du],                |du| least       (31)

where d leads to prescribed coordinates and prescribed speeds are in S V; f are the equations of motion. What
is integrated is

    ydot = f(P(y))                                                                                        (32)

It has the same solutions, since P leaves a state on the constraints as it is, and it is smooth beside them
too: a method keeps its order, its stages are on the constraints, and how far y drifts away from them means
nothing. After each step y becomes P(y).
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from condyle.arrays import Array
from condyle.errors import CondyleError, DescriptionError
from condyle.maximal.equations import Freedom, accelerations
from condyle.maximal.expressions import DriverValues
from condyle.records import dataclass
from condyle.status import Outcome, Status
from condyle.tree.scales import TIME_SCALE, length

if TYPE_CHECKING:
    from condyle.maximal.system import MaximalSystem, Tail

STEPS = 20
"""Newton's steps on C, all with the matrix of the first: each gains as many digits as the state was near."""
NEAR = 1e-9
"""Largest entry of C [1, m] with which Newton's method may end. It ends where C no longer falls, near
1e-16."""
SHARE = 0.1
"""Share of the accuracy that a step may add: then those of a run of some seconds together stay near it."""


@dataclass(frozen=True)
class MaximalTrajectory:
    """A motion in maximal coordinates, at the steps or at requested times.

    Attributes:
        t: [s], shape (k,).
        x: maximal coordinates, shape (k, nx).
        V: maximal velocities, shape (k, nv).
        q: coordinates of the mobilizers, angles with all their turns, shape (k, nq).
        u: speeds of the mobilizers, shape (k, nu).
        z: states of the forces, shape (k, nz).
        status: "finished", or why the run ended before.
        steps: how many steps were taken.
        evaluations: how many times the equations were evaluated.
    """

    t: Array
    x: Array = field(repr=False)
    V: Array = field(repr=False)
    q: Array = field(repr=False)
    u: Array = field(repr=False)
    z: Array = field(repr=False)
    status: Outcome
    steps: int
    evaluations: int

    @property
    def finished(self) -> bool:
        return self.status == Status.FINISHED


@dataclass(frozen=True)
class ProjectedState:
    """P(y) and f there."""

    x: Array
    V: Array
    z: Array
    q: Array
    u: Array
    rates: Array

    @property
    def y(self) -> Array:
        return np.concatenate([self.x, self.V, self.z])


class ProjectedMotion:
    """(30)-(32) of a system whose options, except t and z, stay as they are.

    The rank of the rows of loops and constraints is decided where a step begins, on the constraints, and
    holds for the step: away from the constraints redundant rows are a little independent of each other, and
    taken as such they would move the state along.
    """

    def __init__(self, system: MaximalSystem, tail: Tail, near: Array, u: Array) -> None:
        self.system, self.tail, self.near = system, tail, near
        self.start = u
        self.levels = system.expressions.levels[system.m :]
        self.ranks: list[int | None] = [None, None, None]
        self.last: ProjectedState | None = None
        self.evaluations = 0

    def __call__(self, t: float, y: Array) -> Array:
        """(32)"""
        self.evaluations += 1
        try:
            self.last = self.point(t, y)
        except CondyleError:
            # the step was too long: its error is not a number either
            return np.full_like(y, np.nan)
        return self.last.rates

    def begin(self, point: ProjectedState, t: float) -> None:
        """A step begins at a point on the constraints."""
        self.near, self.ranks = point.q, [None, None, None]
        if len(self.levels):
            tail = replace(self.tail, t=t, z=point.z)
            given = {"x": point.x, "V": point.V, "near": point.q, **tail.vectors()}
            found, driven = self.system.expressions.velocities(given), self.driven(given, point.q, point.u)
            self.ranks = [self.freedom(found, driven.driven, level).rank for level in range(3)]

    def driven(self, given: dict[str, Any], q: Array, u: Array) -> DriverValues:
        return self.system.expressions.drivers(q, u, self.tail.locked, self.tail.locked_udot, given)

    def freedom(self, found: dict[str, Any], driven: NDArray[np.bool_], level: int) -> Freedom:
        """K, and L of the rows that hold at a level."""
        m, C_V = self.system.m, found["C_V"]
        return Freedom(
            np.vstack([C_V[:m], found["S"]]), driven, C_V[m:][self.levels <= level], self.ranks[level]
        )

    def normalized(self, x: Array) -> Array:
        """x with quaternions of unit length."""
        x, e = x.copy(), self.system.quaternions[:, None] + np.arange(4)
        x[e] /= np.linalg.norm(x[e], axis=1, keepdims=True)
        return x

    def point(self, t: float, y: Array) -> ProjectedState:
        """P(y) and f there."""
        system = self.system
        x, V, z = np.split(y, [system.nx, system.nx + system.nv])
        tail = replace(self.tail, t=t, z=z)
        given = {"x": self.normalized(x), "V": V, "near": self.near, **tail.vectors()}
        found = self.positions(given)
        found |= self.velocities(given, found["q"])
        freedom = found.pop("freedom")
        at = system.completed(given, found, tail)
        if (self.levels == 2).any():
            freedom = self.freedom(found, at.locked, 2)
        A = accelerations(at, freedom, np.zeros(len(at.u)))
        rates = np.concatenate([system.expressions.moved(given)["xdot"], A, at.zdot])
        if not np.isfinite(rates).all():
            raise CondyleError(f"maximal: the equations of motion are not finite at t = {t:g} s")
        return ProjectedState(at.x, at.V, z, at.q, at.u, rates)

    def positions(self, given: dict[str, Any]) -> dict[str, Any]:
        """(30): puts x on the constraints, and returns C and q there."""
        expressions, m, freedom = self.system.expressions, self.system.m, None
        found = expressions.positions(given)
        driven = self.driven(given, found["q"], self.start)
        before = max(np.abs(found["C"]).max(initial=0.0), driven.off)
        for _ in range(STEPS):
            if before < 1e-15:
                break
            if freedom is None:
                freedom = self.freedom(expressions.velocities(given), driven.driven, 0)
            C = found["C"]
            dV = freedom.joined(np.concatenate([-C[:m], driven.apart]))
            if len(freedom.L):
                dV = dV - freedom.T @ freedom.least(C[m:][self.levels <= 0] + freedom.L @ dV)
            x = self.normalized(given["x"] + expressions.moved({**given, "V": dV})["xdot"])
            now = expressions.positions({**given, "x": x})
            then = self.driven(given, now["q"], self.start)
            worst = max(np.abs(now["C"]).max(initial=0.0), then.off)
            if not worst < before / 2:  # as near as rounding lets it come
                break
            given["x"], found, driven, before = x, now, then, worst
        if not before < NEAR:
            raise CondyleError(f"maximal: positions: Newton's method ends with {before:.3g}")
        return found

    def velocities(self, given: dict[str, Any], q: Array) -> dict[str, Any]:
        """(31): puts V on the constraints, and returns what the expressions `velocities` find there, and the
        freedom."""
        expressions, m = self.system.expressions, self.system.m
        found = expressions.velocities(given)
        driven = self.driven(given, q, found["u"])
        freedom = self.freedom(found, driven.driven, 1)
        locked = self.start + self.tail.locked_udot * (given["t"] - self.tail.t)
        u = np.where(self.tail.locked, locked, np.where(driven.has_u, driven.u, found["u"]))
        given["V"] = freedom.joined(np.concatenate([-found["C_t"][:m], u]))
        nonlinear, before = bool((self.levels == 1).any()), np.inf
        for _ in range(STEPS if len(freedom.L) else 0):
            if nonlinear:
                found = expressions.velocities(given)
                freedom = self.freedom(found, driven.driven, 1)
                Cdot = found["Cdot"][m:]
            else:
                Cdot = found["C_V"][m:] @ given["V"] + found["C_t"][m:]
            worst = np.abs(Cdot[self.levels <= 1]).max()
            if not worst < before / 2:
                break
            given["V"], before = given["V"] - freedom.T @ freedom.least(Cdot[self.levels <= 1]), worst
        found |= {
            "Cdot": found["C_V"] @ given["V"] + found["C_t"],
            "u": found["S"] @ given["V"],
            "freedom": freedom,
        }
        return found


def simulate(
    system: MaximalSystem,
    q: Array,
    u: Array,
    t_final: float,
    accuracy: float,
    times: ArrayLike | None,
    max_step: float | None,
    tail: Tail,
) -> MaximalTrajectory:
    """See MaximalSystem.simulate."""
    from scipy.integrate import DOP853

    if system.system.constraints.unilateral:
        raise DescriptionError(
            f"maximal: simulate: {system.system.constraints.unilateral[0]!r} acts one way, and only "
            "cd.simulate opens and closes it; disable it, or put an equation in its place"
        )
    asked = _checked(t_final, accuracy, times, tail)
    if max_step is not None and not max_step > 0:
        raise DescriptionError(f"maximal: simulate: max_step = {max_step!r} must be a positive number [s]")
    motion = ProjectedMotion(system, tail, q, u)
    point = _start(motion, q, u, accuracy)
    motion.begin(point, tail.t)
    rows = [(tail.t, point)] if asked is None else [(t, point) for t in asked if t == tail.t]
    left = [] if asked is None else asked[len(rows) :]
    solver = DOP853(
        motion,
        tail.t,
        point.y,
        t_final,
        rtol=SHARE * accuracy,
        atol=SHARE * accuracy * _units(system, len(tail.z)),
        max_step=max_step or np.inf,
    )
    steps, status = 0, Outcome(Status.FINISHED)
    try:
        while solver.status == "running" and solver.t < t_final:
            solver.step()
            if solver.status == "failed" or motion.last is None:
                status = Outcome(
                    Status.NO_STEP,
                    f"stopped at t = {solver.t:.6g} s: no step is short enough for accuracy "
                    f"{accuracy:g}; look for a force that is not smooth or not finite, a joint "
                    "that loses a direction, or take a larger accuracy",
                )
                break
            # the last evaluation of a step is the first of the next
            steps, point = steps + 1, motion.last
            t = float(solver.t)
            if left and left[0] <= t:
                between = solver.dense_output()
                rows += [(at, motion.point(at, between(at))) for at in left if at <= t]
                left = [at for at in left if at > t]
            if asked is None:
                rows.append((t, point))
            solver.y = point.y
            motion.begin(point, t)
    except KeyboardInterrupt:
        status = Outcome(Status.INTERRUPTED)
    sizes = {"x": system.nx, "V": system.nv, "q": len(q), "u": len(u), "z": len(tail.z)}
    columns = {
        name: np.array([getattr(p, name) for _, p in rows]).reshape(len(rows), n) for name, n in sizes.items()
    }
    return MaximalTrajectory(
        np.array([t for t, _ in rows]), **columns, status=status, steps=steps, evaluations=motion.evaluations
    )


def _checked(t_final: float, accuracy: float, times: ArrayLike | None, tail: Tail) -> list[float] | None:
    """The requested times."""
    if not np.isfinite(t_final) or t_final < tail.t:
        raise DescriptionError(
            f"maximal: simulate: t_final = {t_final} s must be finite and not before t = {tail.t:g} s"
        )
    if not 1e-11 <= accuracy < 1:
        raise DescriptionError(
            f"maximal: simulate: accuracy = {accuracy!r} must be between 1e-11 and 1; 1e-3 is three digits"
        )
    if times is None:
        return None
    asked = np.asarray(times, dtype=float)
    if asked.ndim != 1 or not ((asked >= tail.t) & (asked <= t_final)).all() or (np.diff(asked) < 0).any():
        raise DescriptionError(
            f"maximal: simulate: times must rise from {tail.t:g} to {t_final:g} s at most, got {times!r}"
        )
    return asked.tolist()


def _start(motion: ProjectedMotion, q: Array, u: Array, accuracy: float) -> ProjectedState:
    """The first point; refuses a state that is not on the constraints."""
    system, tail = motion.system, motion.tail
    x = system.on_joints(q, tail)
    at = system.equations_at(x, system.velocities(x, u, q, tail), q, tail)
    worst = max(np.abs(at.C).max(initial=0.0), np.abs(at.Cdot).max(initial=0.0))
    if not worst <= accuracy:
        raise DescriptionError(
            f"maximal: simulate: the state violates loops or constraints by {worst:.3g}, "
            f"more than the accuracy {accuracy:g}; begin with q and u that satisfy them: "
            "at(q, u).C and .Cdot tell"
        )
    return motion.point(tail.t, np.concatenate([x, at.V, tail.z]))


def _units(system: MaximalSystem, nz: int) -> Array:
    """What errors are shares of (33): 1 rad, a length of the system, and these in TIME_SCALE; 1 for massless
    q and for z."""
    L, n = length(system.tree.bodies), len(system.joints)
    x = np.concatenate([np.tile([0.5] * 4 + [L] * 3, n), np.ones(system.nx - 7 * n)])
    V = np.concatenate([np.tile([1.0] * 3 + [L] * 3, n), np.ones(system.nv - 6 * n)]) / TIME_SCALE
    return np.concatenate([x, V, np.ones(nz)])
