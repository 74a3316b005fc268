"""The native program of a system and a method: built once, then found with the system or on disk."""

from __future__ import annotations

from condyle.integrate.equations import equations
from condyle.integrate.lanes import ensemble_loop
from condyle.integrate.loop import step_loop
from condyle.integrate.methods import Method
from condyle.model.layouts import prefers_loops
from condyle.model.model import description
from condyle.native.machine.jit import lane_width
from condyle.native.programs.program import ProgramAndTables, cached_program
from condyle.system.system import System


def native(system: System, method: Method, many: str = "") -> ProgramAndTables:
    """The program, and the tables that it needs.

    Args:
        system: whose motion it computes.
        method: by which it does.
        many: what an ensemble keeps, "times" or "steps"; empty for a program for one state.
    """
    W = lane_width() if many else 1
    key = ("simulate", method.text, *((many, W) if many else ()))
    if key not in system.compiled.programs:
        loops = prefers_loops(system.compiled.model, lanes=bool(many))
        text = f"simulate {method.text} {many} {W} {loops}\n{description(system.compiled.model)}"
        system.compiled.programs[key] = cached_program(text, lambda: _build(system, method, many, W))
    return system.compiled.programs[key]


def _build(system: System, method: Method, many: str, W: int) -> ProgramAndTables:
    eq = equations(system, derivatives=method.needs_jacobian, W=W)
    return ensemble_loop(method, eq, W, many == "steps") if many else step_loop(method, eq)
