"""The program of a system and a method, built once; later it is found with the system or on disk, without
loading the modules that build it (step_loop.py, equations.py)."""

from __future__ import annotations

from condyle.integrate.integrators.base import Method
from condyle.model.layouts import newton_layout, prefers_loops
from condyle.model.model import description
from condyle.native.machine.jit import lane_width
from condyle.native.programs.program import ProgramAndTables, cached_program
from condyle.system.system import System


def native(system: System, method: Method, many: str = "") -> ProgramAndTables:
    """The program, and the tables that it needs.

    Args:
        system: whose motion it computes.
        method: of integration.
        many: what an ensemble stores, "times" or "steps"; empty for a program for one state.
    """
    W = lane_width() if many else 1
    key = ("simulate", method.text, *((many, W) if many else ()))
    if key not in system.compiled.programs:
        model = system.compiled.model.code
        loops = prefers_loops(model, lanes=bool(many)), _newton(system, method)
        text = f"simulate {method.text} {many} {W} {loops}\n{description(model)}"
        make = lambda: _build(system, method, many, W)
        system.compiled.programs[key] = cached_program(text, make, model.data)
    return system.compiled.programs[key]


def _newton(system: System, method: Method) -> str:
    """How a method's equations are solved: along the "tree", as a "matrix" over the speeds, or as the full
    matrix."""
    if not method.needs_jacobian or (method.needs_time_derivative and _reads_time(system)):
        return ""
    return newton_layout(system.compiled.model.code)


def _reads_time(system: System) -> bool:
    from condyle.integrate.interrupts.time_signals import timed

    return bool(timed(system).names)


def _build(system: System, method: Method, many: str, W: int) -> ProgramAndTables:
    from condyle.integrate.equations import equations
    from condyle.integrate.step_loop import ensemble_loop, step_loop

    eq = equations(
        system,
        derivatives=method.needs_jacobian,
        W=W,
        newton=_newton(system, method),
        model=system.compiled.model.code,
    )
    return ensemble_loop(method, eq, W, many == "steps") if many else step_loop(method, eq)
