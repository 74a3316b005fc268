"""Propagation of small changes along a run: the derivative of its steps (condyle.integrate.adjoint) or, for
methods whose steps have none, the variational equation on the run's own polynomials.

With x = (theta, u, z) of tangents.py, qdot = N u and udot, zdot of the system, a change obeys dxdot = A dx,

    A = [[C, 1, 0], [udot_q, udot_u, udot_z], [zdot_q, zdot_u, zdot_z]],   C = N^+ (d(N u)/dq N - Ndot)    (1)

where udot and its derivatives are exact, constraints included.

Each step is divided, and in each part of length h Gauss's collocation with three nodes c, matrix a and
weights b gives, order 6,

    K_i = A(t + c_i h) (1 + h sum_j a_ij K_j),     P = 1 + h sum_i b_i K_i                                 (2)

All A are one call of machine code, all (2) one call of LAPACK; the number of parts is doubled until the
product of all P changes by no more than the tolerance.

At an event that a witness g finds, where f- and f+ are the rates before and after and J is the derivative of
its action, changes are multiplied by the saltation matrix

    J + (f+ - J f-) g_x / (g_x f-)                                                                         (3)

and, if the cycle ends there, by J (1 - f- g_x / (g_x f-)): the end is at the event, not at a time         (4)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import ConvergenceError, DescriptionError
from condyle.integrate.adjoint.gradients import RunDerivatives
from condyle.integrate.adjoint.slopes import FORWARD
from condyle.integrate.steps import replaced
from condyle.integrate.trajectory import Trajectory
from condyle.system.state import State
from condyle.system.system import System

ROOT = np.sqrt(15.0)
NODES = np.array([0.5 - ROOT / 10, 0.5, 0.5 + ROOT / 10])
WEIGHTS = np.array([5 / 18, 4 / 9, 5 / 18])
MATRIX = np.array(
    [
        [5 / 36, 2 / 9 - ROOT / 15, 5 / 36 - ROOT / 30],
        [5 / 36 + ROOT / 24, 2 / 9, 5 / 36 - ROOT / 24],
        [5 / 36 + ROOT / 30, 2 / 9 + ROOT / 15, 5 / 36],
    ]
)
"""Gauss's method of order 6: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.7."""
MOST = 64
"""Most parts of a step."""


def transition(traj: Trajectory, like: State, first: int, last: int, tolerance: float) -> Array:
    """The derivative of the state at row `last` by that at row `first`, shape (n, n), with no event between
    them.

    Args:
        traj: the run.
        like: a state with the inputs, parameters, locks, disabled forces and constraints.
        first: row of the start.
        last: row of the end.
        tolerance: relative to the largest entry of the result.

    Raises:
        ConvergenceError: the parts do not agree; is the force not smooth?
    """
    try:
        return _over_steps(traj, like, first, last)
    except DescriptionError:  # steps without a derivative: the variational equation has one
        pass
    n, before, parts, off = 2 * like.system.nu + len(like.z), None, 1, np.inf
    while parts <= MOST:
        P = np.eye(n)
        for step in _propagators(traj, like, first, last, parts):
            P = step @ P
        if before is not None:
            off = float(np.abs(P - before).max() / np.abs(P).max())
            if off <= tolerance:
                return P
        before, parts = P, 2 * parts
    raise ConvergenceError(
        f"limit_cycle: derivatives along the run from {traj.t[first]:g} to "
        f"{traj.t[last]:g} s still change by {off:.2g} of their size where each step is "
        f"divided into {MOST}; is a force not smooth there? Ask for a looser accuracy",
        like,
    )


def _over_steps(traj: Trajectory, like: State, first: int, last: int) -> Array:
    """The derivative of the steps themselves: condyle.integrate.adjoint."""
    run, nu = RunDerivatives("limit_cycle", traj), like.system.nu
    E, F = (np.zeros((run.n, 2 * nu + len(like.z))) for _ in range(2))
    for D, row in ((E, first), (F, last)):
        D[: run.nq, :nu] = run.N(replaced(like, float(traj.t[row]), traj.y[row]))
        D[run.nq :, nu:] = np.eye(run.n - run.nq)
    if last > first:
        E = run.over(
            FORWARD, np.ascontiguousarray(E.T), np.zeros((E.shape[1], len(run.wanted))), first, last
        )[0].T
    return np.asarray(np.linalg.pinv(F) @ E)


def _propagators(traj: Trajectory, like: State, first: int, last: int, parts: int) -> Array:
    """(2) of all parts of all steps, shape (m, n, n)."""
    ends = traj.t[first : last + 1]
    share = np.arange(parts) / parts
    h = np.repeat(np.diff(ends) / parts, parts)
    start = (ends[:-1, None] + np.diff(ends)[:, None] * share).ravel()
    keep = h > 0
    h, start = h[keep], start[keep]
    row = np.repeat(np.arange(first, last), parts)[keep]
    t = start[:, None] + h[:, None] * NODES
    y = traj.rows.at(np.repeat(row, 3), t.ravel())
    y = traj.manifold.nearest(like.system, like.tail, t.ravel(), y)
    A = rates(like, t.ravel(), y)
    m, n = len(h), A.shape[-1]
    A = A.reshape(m, 3, n, n)
    hA = h[:, None, None, None] * A
    left = np.eye(3 * n) - np.einsum("ij,miab->miajb", MATRIX, hA).reshape(m, 3 * n, 3 * n)
    K = np.linalg.solve(left, A.reshape(m, 3 * n, n)).reshape(m, 3, n, n)
    return np.asarray(np.eye(n) + h[:, None, None] * np.einsum("i,miab->mab", WEIGHTS, K))


def rates(like: State, t: Array, y: Array) -> Array:
    """A of (1) at times t (m,) and q, u, z side by side (m, ...), shape (m, n, n)."""
    system = like.system
    nq, nu, nz = system.nq, system.nu, len(like.z)
    q, u, z = y[:, :nq], y[:, nq : nq + nu], y[:, nq + nu :]
    options: dict[str, Any] = {
        name: getattr(like, name) for name in ("inputs", "discrete", "parameters", "disabled", "locked")
    }
    options |= {"t": t, "z": z}
    wrt = ("q", "u", "z") if nz else ("q", "u")
    A = np.zeros((len(t), 2 * nu + nz, 2 * nu + nz))
    A[:, :nu, :nu], A[:, :nu, nu : 2 * nu] = _turning(system, q, u, options), np.eye(nu)
    for name, rows, arguments in (
        ("forward_dynamics", slice(nu, 2 * nu), (q, u, np.zeros_like(u))),
        ("zdot", slice(2 * nu, None), (q, u)),
    )[: 2 if nz else 1]:
        J = system.jacobian(name, *arguments, wrt=wrt, **options)
        for part, columns in zip(wrt, (slice(nu), slice(nu, 2 * nu), slice(2 * nu, None)), strict=False):
            A[:, rows, columns] = J[part]
    return A


def _turning(system: System, q: Array, u: Array, options: dict[str, Any]) -> Array:
    """C of (1), shape (m, nu, nu)."""
    nu, m = system.nu, len(q)
    one = np.eye(nu)
    N = np.stack([system.qdot(q, np.broadcast_to(e, (m, nu)), **options) for e in one], axis=-1)
    if N.shape[1] == nu and np.array_equal(N, np.broadcast_to(one, N.shape)):
        return np.zeros((m, nu, nu))
    rate = system.jacobian("qdot", q, u, wrt="q", **options)
    Ndot = np.stack(
        [system.jvp("qdot", q, np.broadcast_to(e, (m, nu)), tangents={"q": u}, **options) for e in one],
        axis=-1,
    )
    return np.asarray(np.linalg.pinv(N) @ (rate - Ndot))


def rate(state: State) -> Array:
    """xdot = (u, udot, zdot), shape (nu + nu + nz,)."""
    return np.concatenate([state.u, state.udot, state.zdot() if len(state.z) else np.zeros(0)])


def through(state: State, after: State, J: Array, dg: Array, ends: bool) -> Array:
    """(3), or (4) where the cycle ends: before an event, after it, the derivative of its action, the gradient
    of its witness."""
    f = rate(state)
    slope = float(dg @ f)
    onto = np.outer(J @ f if ends else J @ f - rate(after), dg) / slope
    return np.asarray(J - onto)
