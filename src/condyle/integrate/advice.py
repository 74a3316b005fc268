"""Why a run ended early, and what to try."""
from __future__ import annotations

import numpy as np

from condyle.constraints.projection import project
from condyle.errors import ConstraintError, SingularError
from condyle.integrate.manifold import Manifold
from condyle.mobilizers import motion_at
from condyle.native.nodes import Status
from condyle.state import State

AHEAD = (0.0, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""[s]: how far ahead to look for what stopped a run."""
NEARLY = 1e-3
"""Least singular value of H or N, of columns of length one or over the largest, below which rank is about to be lost."""


def advice(like: State, t: float, y: np.ndarray, f: np.ndarray, h: float, worst: int, status: int, step: float | None,
           manifold: Manifold | None = None) -> str:
    """Why a run ended early, and what to try.

    Args:
        like: the State but for t, q, u, z.
        t, y, f: where it ended [s], and ydot there.
        h, worst: the step it tried last [s], and which of y had the largest error.
        status: of the program.   step: the fixed step [s], if steps were fixed.   manifold: of the run.
    """
    system = like.system
    names = [*system.coordinates, *(f"speed of {name}" for name in system.speeds), *system.state_variables]
    when = f"stopped at t = {t:.6g} s: "
    if status == Status.LIMIT:
        return when + "too many steps were rejected; loosen the accuracy"
    ahead = sorted({0.0, h, *(AHEAD if step is None else (step,))})
    with np.errstate(invalid="ignore", over="ignore"):
        states = [_state(like, t + since, y + since * f if since else y) for since in ahead]
    near = [(since, state) for since, state in zip(ahead, states, strict=True) if state is not None]
    for since, state in near:
        if since <= max(h, 1e-6) and (lost := _singular(state)):
            return f"{when}{lost}{f' ({_later(since)})' if since else ''}"
    for since, state in near:
        if since <= h and (first := system.explain(state).first) is not None:
            return f"{when}{first} is not finite {_later(since)}; see system.explain(traj[-1])"
    if system.constraints and manifold is not None:
        for since, state in near:
            if violated := _violated(state, manifold):
                return (f"{when}the constraints cannot be satisfied any more; {_later(since)} {violated}. Do they contradict "
                        "each other, or ask for more than the bodies can reach? Disable one, or end the run before")
    if near and (lost := _nearly(near[0][1])):
        return when + lost
    if step is not None:
        return when + f"the next state is not finite or was not found; a step of {step:g} s is too long, or use error control"
    return (f"{when}no step is small enough for the accuracy; {names[worst]} has the largest error. Is a force discontinuous "
            "there, or not finite just after? Try a looser accuracy, or smooth it")


def _later(since: float) -> str:
    return f"{since:.1g} s later" if since else "there"


def _state(like: State, t: float, y: np.ndarray) -> State | None:
    nq, nu = like.q.size, like.u.size
    return like.replace(t=t, q=y[:nq], u=y[nq:nq + nu], z=y[nq + nu:]) if np.isfinite(y).all() else None


def _singular(state: State) -> str:
    """What has lost rank there, if something has."""
    try:
        state.forward_dynamics()
    except SingularError as error:
        return str(error).removeprefix("forward_dynamics: ")
    return ""


def _nearly(state: State) -> str:
    """Which mobilizer is about to lose rank, if one is."""
    for b in state.system.bodies:
        q, nu = state.q[b.q], b.mobilizer.nu
        if not nu:
            continue
        parts = motion_at(b.mobilizer, state.t, q, np.zeros(nu))
        H = np.concatenate([np.reshape(parts[2], (3, nu)), np.reshape(parts[3], (3, nu))])
        N = np.stack([np.ravel(motion_at(b.mobilizer, state.t, q, e)[8]) for e in np.eye(nu)], axis=1)
        for name, A in (("H", H / np.maximum(np.linalg.norm(H, axis=0), 1e-300)), ("N", N)):
            values = np.linalg.svd(A, compute_uv=False)
            if not values[-1] > NEARLY * values[0]:
                at = ", ".join(f"{c.name} = {x:.6g}" for c, x in zip(b.coordinates, q, strict=True))
                words = f": {b.mobilizer.singular}" if b.mobilizer.singular else ""
                return (f"the mobilizer of body {b.name!r} ({b.mobilizer!r}) is about to lose a direction of motion at {at}: its "
                        f"{name} loses rank{words}. Use other coordinates (a quaternion instead of angles), or stay away from it")
    return ""


def _violated(state: State, manifold: Manifold) -> str:
    """Which constraints cannot be satisfied near a state, if so."""
    try:
        project(state.system.projection(state.tail, manifold.weights), state.q.copy(), state.u.copy(), 10 * manifold.tolerance,
                100 * manifold.tolerance)
    except ConstraintError as error:
        amounts = ", ".join(f"{name!r} by {amount:.3g}" for name, amount in error.violated.items())
        return f"they are violated: {amounts}"
    return ""
