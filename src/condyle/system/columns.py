"""Columns: names and units of what an operator gives, so that it can stand in a Table.

Each operator's record (operators.py) has one of these; they are asked for when a Table is made. An operator without has
a matrix or a pose per state and gives no Table.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from condyle.errors import UnknownNameError
from condyle.table import distinct
from condyle.tree import scales

Column = tuple[str, str]
"""A name and a unit."""
Columns = Callable[[Any, Mapping[str, Any]], list[Column]]
"""From a System and the arguments that were given by name."""

AXES = ("x", "y", "z")
_PER_SECOND = {"": "", "rad/s": "rad/s^2", "m/s": "m/s^2", "1/s": "1/s^2"}
_FORCE = {"rad/s": "N m", "m/s": "N", "1/s": "J"}
"""From the unit of a speed: a force times a speed is a power."""


def rate(unit: str) -> str:
    """The unit per second."""
    return _PER_SECOND.get(unit, f"{unit}/s")


def variables(system: Any) -> tuple[list[str], list[str]]:
    """Names and units of q, u, z side by side. A speed that has the name of its coordinate is called NAME_speed."""
    q_units, u_units = scales.units(system.bodies)
    more = len(system.state_variables)
    return variable_names(system), [*q_units, *u_units, *[""] * more]


def variable_names(system: Any) -> list[str]:
    coordinates = system.coordinates
    taken = set(coordinates)
    speeds = [f"{name}_speed" if name in taken else name for name in system.speeds]
    return distinct([*coordinates, *speeds, *system.state_variables])


def recorded(system: Any) -> tuple[list[str], list[str]]:
    """Names and units of q, u, z and the discrete variables side by side."""
    names, units = variables(system)
    return distinct([*names, *system.discrete]), [*units, *[""] * len(system.discrete)]


def place(system: Any, name: str, names: list[str] | None = None) -> int:
    """Where a variable is in q, u, z and the discrete variables side by side, or among some names, from its name in tables."""
    names = recorded(system)[0] if names is None else names
    if not isinstance(name, str) or name not in names:
        kind = "coordinate, speed, state or discrete variable" if system.discrete else "coordinate, speed or state variable"
        raise UnknownNameError(kind, name, names)
    return names.index(name)


def fixed(*columns: str) -> Columns:
    """The same columns for every system, each as "name [unit]"."""
    made: list[Column] = []
    for column in columns:
        name, _, unit = column.partition(" [")
        made.append((name, unit.removesuffix("]")))
    return lambda system, given: made


def xyz(name: str, unit: str) -> list[str]:
    """Texts of `fixed` for a vector."""
    return [f"{name}{axis} [{unit}]" for axis in AXES]


def coordinate_rates(system: Any, given: Mapping[str, Any]) -> list[Column]:
    return [(name, rate(unit)) for name, unit in zip(system.coordinates, scales.units(system.bodies)[0], strict=True)]


def coordinate_accelerations(system: Any, given: Mapping[str, Any]) -> list[Column]:
    return [(name, rate(unit)) for name, unit in coordinate_rates(system, given)]


def speeds(system: Any, given: Mapping[str, Any]) -> list[Column]:
    return list(zip(system.speeds, scales.units(system.bodies)[1], strict=True))


def state_rates(system: Any, given: Mapping[str, Any]) -> list[Column]:
    return [(name, "") for name in system.state_variables]


def accelerations(system: Any, given: Mapping[str, Any]) -> list[Column]:
    """One per speed."""
    return [(name, rate(unit)) for name, unit in zip(system.speeds, scales.units(system.bodies)[1], strict=True)]


def generalised_forces(system: Any, given: Mapping[str, Any]) -> list[Column]:
    """One per speed."""
    units = scales.units(system.bodies)[1]
    return [(name, _FORCE.get(unit, "")) for name, unit in zip(system.speeds, units, strict=True)]


def speed_powers(system: Any, given: Mapping[str, Any]) -> list[Column]:
    return [(name, "W") for name in system.speeds]


def force_powers(system: Any, given: Mapping[str, Any]) -> list[Column]:
    return [(name, "W") for name in system.forces]


def constraint_powers(system: Any, given: Mapping[str, Any]) -> list[Column]:
    return [(name, "W") for name in system.constraints]


def jumps(system: Any, given: Mapping[str, Any]) -> list[Column]:
    """Changes of the speeds, then impulses of the constraint equations."""
    return [*speeds(system, given), *equations(system, given)]


def of_body(*columns: str) -> Columns:
    """Columns of `fixed` behind the name of the argument `body`, or of every body if that is None; relative to another body
    behind BODY_in_OTHER."""
    mine = fixed(*columns)

    def made(system: Any, given: Mapping[str, Any]) -> list[Column]:
        which = given.get("body")
        names = [b.name for b in system.bodies] if which is None else [system.body(which).name]
        seen = "" if given.get("relative_to") is None else f"_in_{system.body(given['relative_to']).name}"
        return [(f"{name}{seen}_{column}", unit) for name in names for column, unit in mine(system, given)]
    return made


WRENCH = (*xyz("m", "N m"), *xyz("f", "N"))
VELOCITY = (*xyz("w", "rad/s"), *xyz("v", "m/s"))
ACCELERATION = (*xyz("alpha", "rad/s^2"), *xyz("a", "m/s^2"))
MOMENTUM = (*xyz("angular_", "kg m^2/s"), *xyz("linear_", "kg m/s"))


def equations(system: Any, given: Mapping[str, Any]) -> list[Column]:
    """One per constraint equation: the constraint's name, with [k] behind it where it has several. Units differ: none."""
    return [(name, "") for name, _ in system.equation_names()]


def equation_errors(system: Any, given: Mapping[str, Any]) -> list[Column]:
    """Those of position, then those of velocity, which are called NAME_rate where they are rates of the first."""
    named = system.equation_names()
    return [*((name, "") for name, level in named if level == "position"),
            *((f"{name}_rate" if level == "position" else name, "") for name, level in named if level != "acceleration")]


def constraint_wrenches(system: Any, given: Mapping[str, Any]) -> list[Column]:
    """Moment and force on each body of the argument `constraint`."""
    wrench, names = fixed(*WRENCH), system._reaction_places(given["constraint"])
    return [(f"{name}_{column}", unit) for name in names for column, unit in wrench(system, given)]


def unique(columns: Iterable[Column]) -> tuple[list[str], list[str]]:
    """Names, none twice, and units."""
    columns = list(columns)
    return distinct([name for name, _ in columns]), [unit for _, unit in columns]
