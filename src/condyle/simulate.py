"""Simulation: a system's motion from a state, at a stated accuracy."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from condyle.dynamics.layouts import prefers_loops
from condyle.dynamics.operators import description
from condyle.errors import DescriptionError, NativeError, UnknownNameError
from condyle.integrate.equations import equations
from condyle.integrate.events import Event
from condyle.integrate.loop import step_loop
from condyle.integrate.methods import METHODS, Method, Rosenbrock
from condyle.integrate.run import Settings, run, shown
from condyle.integrate.trajectory import Trajectory, units
from condyle.native import cache
from condyle.native.program import Program
from condyle.state import State
from condyle.system import System

TIME_SCALE = 0.1
"""[s]: an error of 1 rad/s counts as 0.1 rad, and so for all speeds (Simbody's choice)."""


def simulate(system: System, state: State, t_final: float, *, accuracy: float = 1e-3, integrator: str = "merson",
             step: float | None = None, max_step: float | None = None, events: Event | Sequence[Event] = (),
             weights: Any = None, progress: bool | Callable[[float], object] = False) -> Trajectory:
    """The motion from a state until t_final.

    Args:
        accuracy: one number for all, about the number of digits: 1e-3 is three (sherman2011 (5), (6)). Errors are taken as
            shares of a unit: 1 rad, one length of the system, and these in 0.1 s for speeds.
        integrator: "merson" (default), "dormand-prince", "dormand-prince-8", "fehlberg", "rk3", "rk2"; "rodas" where it is stiff;
            with `step` only: "verlet", "rk4", "semi-explicit-euler", "euler".
        step: fixed step [s] instead of error control.
        max_step: longest step [s].
        events: see Event; those of witnesses first, then those set in time, each in the order given.
        weights: of the errors in q, u, z, shape (nq + nu + nz,), for those who know better.
        progress: True shows a bar; a function is called some times a second with the share of time done.

    Constraints are kept by projection: after each step two Newton steps for positions and one for velocities.
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
    n = system.nq + system.nu + len(system.state_variables)
    if not n:
        raise DescriptionError("simulate: nothing moves here: no body has a coordinate and no force has states")
    w = _weights(system) if weights is None else np.asarray(weights, dtype=float)
    if w.shape != (n,) or not (np.isfinite(w) & (w >= 0)).all():
        raise DescriptionError(f"simulate: weights must be {n} numbers, zero or more, got {weights!r}")
    given = [events] if isinstance(events, Event) else list(events)
    for e in given:
        if not isinstance(e, Event):
            raise DescriptionError(f"simulate: events must be cd.Event, got {e!r}")
    _check_constraints(state, accuracy)
    program, tables = _program(system, method)
    report, stop = shown("simulate") if progress is True else (progress or None, None)
    try:
        return run(state, program, tables, method, Settings(float(t_final), accuracy, w, step, max_step, given,
                                                            TIME_SCALE * accuracy, report))
    finally:
        if stop is not None:
            stop()


def _check_constraints(state: State, accuracy: float) -> None:
    """A run starts on its constraints; the loop keeps it there."""
    if state.system.constraints:
        worst = max(float(np.abs(e).max(initial=0.0)) for e in state.constraint_errors())
        if not worst <= accuracy:
            raise DescriptionError(f"simulate: the state violates a constraint by {worst:.3g}, more than the accuracy "
                                   f"{accuracy:g}; start from q, u = system.project(state.q, state.u)")


def _weights(system: System) -> np.ndarray:
    """Errors as shares of a unit: radians as they are, quaternions twice, lengths by the system's length, speeds by 0.1 s."""
    lengths = np.linalg.norm([X.p for b in system.bodies for X in (b.X_PF, b.X_BM)] or [(0, 0, 0)], axis=1)
    length = float(lengths[lengths > 0].mean()) if lengths.any() else 1.0
    q, u = units(system)
    unit = {"rad": 1.0, "1": 2.0, "m": 1 / length, "rad/s": TIME_SCALE, "m/s": TIME_SCALE / length}
    return np.array([*(unit.get(name, 1.0) for name in q), *(unit[name] for name in u), *[1.0] * len(system.state_variables)])


def _program(system: System, method: Method) -> tuple[Program, dict[str, np.ndarray]]:
    """The native program of a system and a method, kept with the system and on disk."""
    key = ("simulate", method.name)
    if key not in system.programs:
        text = f"simulate {method.name} {prefers_loops(system.subject)}\n{description(system.subject)}"
        system.programs[key] = _stored(text) or _made(system, method, text)
    return system.programs[key]


def _made(system: System, method: Method, key: str) -> tuple[Program, dict[str, np.ndarray]]:
    program, tables = step_loop(method, equations(system, loops=not isinstance(method, Rosenbrock)))
    code, layout = program.pack()
    cache.store(key, code, {"layout": layout, "tables": {name: table.tolist() for name, table in tables.items()}})
    return program, tables


def _stored(key: str) -> tuple[Program, dict[str, np.ndarray]] | None:
    found = cache.fetch(key)
    if found is None:
        return None
    code, facts = found
    try:
        return Program.unpack(code, facts["layout"]), {name: np.array(rows) for name, rows in facts["tables"].items()}
    except (NativeError, KeyError):
        return None
