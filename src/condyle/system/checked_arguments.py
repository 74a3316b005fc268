"""Checks of arguments of runs: numbers, systems and their states."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from condyle.arrays import Entries, vector
from condyle.arrays import number as number
from condyle.errors import DescriptionError, ShapeError
from condyle.system.state import State
from condyle.system.system import System
from condyle.system.variables import variable_names

COARSEST = 16
"""Smallest step in units in the last place of t; steps below it would be rounded to different lengths."""
BYTES_PER_EVENT = 2_000
"""Approximate memory of an Occurrence with its State."""


def seconds(what: str, value: Any) -> float:
    """A positive and finite number."""
    if not 0 < (x := number(what, value, "a positive number [s]")) < np.inf:
        raise DescriptionError(f"{what} = {value!r} must be a positive number [s]")
    return x


def check_system(who: str, system: Any, then: str = "state") -> None:
    """Check a System, which comes before `then`."""
    if not isinstance(system, System):
        given = repr(system).partition("\n")[0]
        hint = (
            "; read it with cd.read_osim(path)"
            if str(system).lower().endswith(".osim")
            else "; it has one: .system"
            if isinstance(getattr(system, "system", None), System)
            else ""
        )
        raise DescriptionError(
            f"{who}: expected {who}(system, {then}, ...) with a cd.System first, got {given}{hint}"
        )


def flag(what: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise DescriptionError(f"{what}: expected True or False, got {value!r}")
    return bool(value)


def check_state(who: str, system: System, state: Any) -> None:
    """Check that it is a State of this system."""
    check_system(who, system)
    if not isinstance(state, State):
        raise DescriptionError(f"{who}: expected a State, as system.state(q=...) makes it, got {state!r}")
    if state.system is not system:
        raise DescriptionError(f"{who}: the state belongs to another system; make it with system.state()")


def nth(what: str, i: Any, count: int) -> int:
    """Check an index, counted from the end if negative."""
    try:
        return range(count)[i]
    except IndexError:
        raise IndexError(f"{what} {i}: there are {count}, from 0 to {count - 1}") from None
    except TypeError:
        raise ShapeError(
            f"{what} {i!r}: expected a whole number, a slice as [2:10], or the name of a variable"
        ) from None


def check_step(name: str, value: float | None, start: float, end: float, row: int = 0) -> None:
    """Check that t can resolve a step or period [s] from start to end, and that memory can hold all of the
    steps.

    Args:
        name: of the argument, for the message.
        row: memory per step [bytes]; 0 if none.
    """
    if value is None or not end > start:
        return
    latest = max(abs(start), abs(end))
    unit = float(np.spacing(latest))
    if value < COARSEST * unit and value < end - start:
        raise DescriptionError(
            f"{name} = {value:g} s is below what t can resolve: near t = {latest:g} s "
            f"doubles are {unit:.2g} s apart. Take at least {COARSEST * unit:.2g} s, or "
            "let time start nearer to zero"
        )
    count, memory = (end - start) / value, _memory()
    if count * row > memory:
        raise DescriptionError(
            f"{name} = {value:g} s goes {count:.3g} times into the {end - start:g} s of "
            f"the run; that takes {count * row / 1e9:.3g} GB and this machine has "
            f"{memory / 1e9:.3g}. Take a longer one, or run in parts, each from traj[-1] "
            "of the one before"
        )


def check_memory(what: str, bytes: float, remedy: str) -> None:
    """Raise an error with a remedy if results exceed the memory of this machine."""
    if bytes > (memory := _memory()):
        raise DescriptionError(
            f"{what}: that takes {bytes / 1e9:.3g} GB and this machine has {memory / 1e9:.3g}; {remedy}"
        )


def _memory() -> float:
    """Memory of this machine [bytes]; infinite where it is unknown."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return np.inf


def error_weights(where: str, system: Any, given: Any) -> np.ndarray:
    """Weights of the errors in q, u, z: those given, as an array or a mapping, or the defaults of
    scales.py."""
    usual: np.ndarray = system.compiled.weights
    if given is None:
        return usual
    try:
        entries = Entries("variable", tuple(variable_names(system)))
        w = vector(f"{where}: weights", given, len(usual), entries)
    except ShapeError as error:
        raise DescriptionError(
            f"{where}: weights must be {len(usual)} numbers, zero or more, got {given!r} ({error})"
        ) from None
    if w.shape != usual.shape or not (np.isfinite(w) & (w >= 0)).all():
        raise DescriptionError(f"{where}: weights must be {len(usual)} numbers, zero or more, got {given!r}")
    return w
