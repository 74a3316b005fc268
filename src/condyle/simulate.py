"""Simulation: a system's motion from a state, at a stated accuracy."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from condyle.dynamics.operators import OPERATORS, Subject, Symbols
from condyle.errors import DescriptionError, UnknownNameError
from condyle.integrate.loop import FAILED, step_loop
from condyle.integrate.methods import METHODS, Method
from condyle.integrate.trajectory import Statistics, Trajectory
from condyle.native.lookup import Staged, assembled
from condyle.native.nodes import Status
from condyle.native.program import Program
from condyle.state import State
from condyle.system import System

TIME_SCALE = 0.1
"""[s]: an error of 1 rad/s counts as 0.1 rad, and so for all speeds (Simbody's choice)."""
ROWS = 2_000


def simulate(system: System, state: State, t_final: float, *, accuracy: float = 1e-3, integrator: str = "merson",
             step: float | None = None, max_step: float | None = None, weights: Any = None,
             progress: Callable[[float], object] | None = None) -> Trajectory:
    """The motion from a state until t_final.

    Args:
        accuracy: one number for all, about the number of digits: 1e-3 is three (sherman2011 (5), (6)). Errors are taken as
            shares of a unit: 1 rad, one length of the system, and these in 0.1 s for speeds.
        integrator: "merson" (default), "dormand-prince", "fehlberg", "rk3", "rk2"; "rk4" and "euler" with `step` only.
        step: fixed step [s] instead of error control.
        max_step: longest step [s].
        weights: of the errors in q, u, z, shape (nq + nu + nz,), for those who know better.
        progress: called some times a second with the share of time done.

    The run can be interrupted (Ctrl-C): what was computed until then is given back, with its status.
    """
    if state.system is not system:
        raise DescriptionError("simulate: the state belongs to another system; make it with system.state()")
    if integrator not in METHODS:
        raise UnknownNameError("integrator", integrator, METHODS)
    method = METHODS[integrator]
    if not np.isfinite(t_final) or t_final < state.t:
        raise DescriptionError(f"simulate: t_final = {t_final} s must be finite and not before the state's t = {state.t:g} s")
    if not 1e-13 <= accuracy < 1:
        raise DescriptionError(f"simulate: accuracy = {accuracy!r} must be between 1e-13 and 1; 1e-3 is three digits")
    if not method.estimate and step is None:
        raise DescriptionError(f"simulate: {integrator} has no error estimate: give a fixed step=..., or use 'merson'")
    for name, value in (("step", step), ("max_step", max_step)):
        if value is not None and not (np.isfinite(value) and value > 0):
            raise DescriptionError(f"simulate: {name} = {value!r} must be a positive number [s]")
    y = np.concatenate([state.q, state.u, state.z])
    w = _weights(system) if weights is None else np.asarray(weights, dtype=float)
    if w.shape != y.shape or not (np.isfinite(w) & (w >= 0)).all():
        raise DescriptionError(f"simulate: weights must be {y.size} numbers, zero or more, got {weights!r}")
    program, tables = _program(system, method)
    return _run(system, state, program, tables, method, y, w, float(t_final), accuracy, step, max_step, progress)


def _weights(system: System) -> np.ndarray:
    """Errors as shares of a unit: radians as they are, quaternions twice, lengths by the system's length, speeds by 0.1 s."""
    lengths = [float(np.linalg.norm(X.p)) for b in system.bodies for X in (b.X_PF, b.X_BM)]
    length = float(np.mean([x for x in lengths if x > 0] or [1.0]))
    unit = {"rad": 1.0, "1": 2.0, "m": 1 / length}
    w_q = [unit.get(unit_name, 1.0) for b in system.bodies for unit_name in b.mobilizer.units]
    w_u = []
    for b in system.bodies:
        same = b.mobilizer.speed_names == b.mobilizer.coordinate_names
        for k, name in enumerate(b.mobilizer.speed_names):
            linear = b.mobilizer.units[k] == "m" if same else name.startswith("v")
            w_u.append(TIME_SCALE * (unit["m"] if linear else 1.0))
    return np.array([*w_q, *w_u, *[1.0] * len(system.state_variables)])


def _right_hand_side(subject: Subject) -> ca.Function | Staged:
    """(t, y, rest of the tail) -> ydot."""
    s = Symbols(subject)
    s.arguments["tau"] = ca.SX.zeros(subject.tree.nu)
    qdot, = OPERATORS["qdot"].expressions(s)
    udot, _ = OPERATORS["forward_dynamics"].expressions(s)
    zdot, = OPERATORS["zdot"].expressions(s)
    rest = s["tail"][subject.tail["inputs"].start:]
    return assembled("rhs", [s.t, ca.vertcat(s["q"], s["u"], s.z), rest], [ca.vertcat(qdot, udot, zdot)])


def _projection(system: System) -> ca.Function | None:
    """y -> y with unit quaternions."""
    y = ca.SX.sym("y", system.nq + system.nu + len(system.state_variables))
    parts, changed, start = [], False, 0
    for b in system.bodies:
        q = y[start:start + b.mobilizer.nq]
        if b.mobilizer.coordinate_names[:4] == ("qw", "qx", "qy", "qz"):
            q, changed = ca.vertcat(q[:4] / ca.norm_2(q[:4]), q[4:]), True
        parts.append(q)
        start += b.mobilizer.nq
    return ca.Function("project", [y], [ca.vertcat(*parts, y[start:])]) if changed else None


def _program(system: System, method: Method) -> tuple[Program, dict[str, np.ndarray]]:
    """The native program of a system and a method, kept with the system."""
    key = ("simulate", method.name)
    if key not in system.programs:
        subject = system.subject
        n = system.nq + system.nu + subject.nz
        rest = subject.tail_size - subject.tail["inputs"].start
        system.programs[key] = step_loop(method, _right_hand_side(subject), n, rest, _projection(system))
    return system.programs[key]


def _run(system: System, state: State, program: Program, tables: dict[str, np.ndarray], method: Method, y: np.ndarray,
         w: np.ndarray, t_final: float, accuracy: float, step: float | None, max_step: float | None,
         progress: Callable[[float], object] | None) -> Trajectory:
    n, span = y.size, t_final - state.t
    ws = program.workspace()
    ws["t"], ws["y"], ws["t_end"] = state.t, y, t_final
    ws["h"] = step if step is not None else min(span, max_step or span, 1e-2) if span else 1.0
    ws["h_max"], ws["fixed"], ws["accuracy"], ws["weights"] = max_step or np.inf, float(step is not None), accuracy, w
    ws["p"] = state.tail[system.subject.tail["inputs"].start:]
    ws["fresh"], ws["rows"], ws["busy"] = 1, ROWS, float(span > 0)
    streams = {"T": np.empty((ROWS, 1)), "Y": np.empty((ROWS, n)), "F": np.empty((ROWS, n))}
    if method.middle:
        streams["M"] = np.empty((ROWS, n))
    kept: dict[str, list[np.ndarray]] = {name: [] for name in streams}
    rate = np.concatenate([state.qdot, state.udot, system.zdot(state.q, state.u, state=state)])  # type: ignore[call-arg]
    report = None if progress is None else lambda ws: progress((float(ws["t"][0]) - state.t) / span)
    status = "finished"
    while True:
        ws["row"], ws["busy"] = 0, float(ws["t"][0] < t_final)
        try:
            program.run(ws, {**streams, **tables}, {"limit": 100 * ROWS}, progress=report)
        except KeyboardInterrupt:
            status = "interrupted"
        done = int(ws["row"][0])
        for name, rows in streams.items():
            kept[name].append(rows[:done].copy())
        if status != "finished" or ws["code"][0] or ws["status"][0] or not ws["t"][0] < t_final:
            break
    if ws["code"][0] == FAILED or ws["status"][0]:
        status = _advice(system, state, ws, step)
    t = np.concatenate([[state.t], *(x[:, 0] for x in kept["T"])])
    return Trajectory(state, t, np.vstack([y, *kept["Y"]]), np.vstack([rate, *kept["F"]]),
                      np.vstack(kept["M"]) if method.middle else None, status,
                      Statistics(int(ws["steps"][0]), int(ws["rejected"][0]), int(ws["evaluations"][0]) + 1))


def _advice(system: System, state: State, ws: Any, step: float | None) -> str:
    """Why a run ended early, and what to try."""
    t, y, nq = float(ws["t"][0]), np.array(ws["y"]), state.q.size
    names = [*system.coordinates, *(f"speed of {name}" for name in system.speeds), *system.state_variables]
    if ws["status"][0] == Status.LIMIT:
        return f"stopped at t = {t:.6g} s: too many steps were rejected; loosen the accuracy"
    here = state.replace(t=t, q=y[:nq], u=y[nq:nq + state.u.size], z=y[nq + state.u.size:])
    first = system.explain(here).first
    if first is not None:
        return f"stopped at t = {t:.6g} s: {first} is not finite there; see system.explain(traj[-1])"
    if step is not None:
        return f"stopped at t = {t:.6g} s: the next state is not finite; a step of {step:g} s is too long, or use error control"
    return (f"stopped at t = {t:.6g} s: no step is small enough for the accuracy; {names[int(ws['worst'][0])]} has the largest "
            "error. Is a force discontinuous there? Try a looser accuracy, or smooth it")
