"""Arguments that a user gives to a run, checked: numbers, systems and their states."""
from __future__ import annotations

from typing import Any

from condyle.errors import DescriptionError
from condyle.state import State
from condyle.system import System


def number(what: str, value: Any, expected: str) -> float:
    """One number; strings, arrays and None are none."""
    try:
        if isinstance(value, str):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise DescriptionError(f"{what}: expected {expected}, got {value!r}") from None


def check_system(who: str, system: Any) -> None:
    if not isinstance(system, System):
        raise DescriptionError(f"{who}: expected {who}(system, state, ...) with a cd.System first, got {system!r}")


def check_state(who: str, system: System, state: Any) -> None:
    """A State, and one of this system."""
    check_system(who, system)
    if not isinstance(state, State):
        raise DescriptionError(f"{who}: expected a State, as system.state(q=...) makes it, got {state!r}")
    if state.system is not system:
        raise DescriptionError(f"{who}: the state belongs to another system; make it with system.state()")


def nth(what: str, i: Any, count: int) -> int:
    """Which of so many, counted from the end if negative."""
    try:
        return range(count)[i]
    except IndexError:
        raise IndexError(f"{what} {i}: there are {count}, from 0 to {count - 1}") from None
