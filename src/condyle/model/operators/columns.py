"""Columns: names and units of an operator's results, for Tables.

Each operator's record has one of these functions, used when a Table is created. An operator without columns
returns a matrix or a pose per state and has no Table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from condyle.model.model import Model
from condyle.tree import scales

Column = tuple[str, str]
"""A name and a unit."""
Columns = Callable[[Model, Mapping[str, Any]], list[Column]]
"""A function of a Model and the named arguments."""

AXES = ("x", "y", "z")
_PER_SECOND = {"": "", "rad/s": "rad/s^2", "m/s": "m/s^2", "1/s": "1/s^2"}
_FORCE = {"rad/s": "N m", "m/s": "N", "1/s": "J"}
"""Unit of a force by that of its speed: a force times a speed is a power."""


def rate(unit: str) -> str:
    """The unit per second."""
    return _PER_SECOND.get(unit, f"{unit}/s")


def fixed(*columns: str) -> Columns:
    """The same columns for every system, each as "name [unit]"."""
    made: list[Column] = []
    for column in columns:
        name, _, unit = column.partition(" [")
        made.append((name, unit.removesuffix("]")))
    return lambda model, given: made


def xyz(name: str, unit: str) -> list[str]:
    """The texts that `fixed` takes, for a vector."""
    return [f"{name}{axis} [{unit}]" for axis in AXES]


def coordinate_rates(model: Model, given: Mapping[str, Any]) -> list[Column]:
    return [
        (name, rate(unit))
        for name, unit in zip(model.tree.coordinates, scales.units(model.tree.bodies)[0], strict=True)
    ]


def coordinate_accelerations(model: Model, given: Mapping[str, Any]) -> list[Column]:
    return [(name, rate(unit)) for name, unit in coordinate_rates(model, given)]


def speeds(model: Model, given: Mapping[str, Any]) -> list[Column]:
    return list(zip(model.tree.speeds, scales.units(model.tree.bodies)[1], strict=True))


def state_rates(model: Model, given: Mapping[str, Any]) -> list[Column]:
    return [(name, "") for name in model.state_variables]


def accelerations(model: Model, given: Mapping[str, Any]) -> list[Column]:
    """One per speed."""
    return [
        (name, rate(unit))
        for name, unit in zip(model.tree.speeds, scales.units(model.tree.bodies)[1], strict=True)
    ]


def all_rates(model: Model, given: Mapping[str, Any]) -> list[Column]:
    """Rates of q, u and z; the name of an acceleration is that of its speed with "dot"."""
    return [
        *coordinate_rates(model, given),
        *((f"{name}_dot", unit) for name, unit in accelerations(model, given)),
        *state_rates(model, given),
    ]


def generalized_forces(model: Model, given: Mapping[str, Any]) -> list[Column]:
    """One per speed."""
    units = scales.units(model.tree.bodies)[1]
    return [(name, _FORCE.get(unit, "")) for name, unit in zip(model.tree.speeds, units, strict=True)]


def speed_powers(model: Model, given: Mapping[str, Any]) -> list[Column]:
    return [(name, "W") for name in model.tree.speeds]


def force_powers(model: Model, given: Mapping[str, Any]) -> list[Column]:
    return [(name, "W") for name in model.exerting_forces]


def constraint_powers(model: Model, given: Mapping[str, Any]) -> list[Column]:
    return [(name, "W") for name in model.constraints]


def jumps(model: Model, given: Mapping[str, Any]) -> list[Column]:
    """Changes of the speeds, then impulses of the constraint equations."""
    return [*speeds(model, given), *multiplier_impulses(model, given)]


def of_body(*columns: str) -> Columns:
    """The columns of `fixed` prefixed with the name of the argument `body`, or for every body if that is
    None; BODY_in_OTHER if relative to another body."""
    mine = fixed(*columns)

    def made(model: Model, given: Mapping[str, Any]) -> list[Column]:
        which = given.get("body")
        names = [b.name for b in model.tree.bodies] if which is None else [model.tree.body(which).name]
        seen = "" if given.get("relative_to") is None else f"_in_{model.tree.body(given['relative_to']).name}"
        return [(f"{name}{seen}_{column}", unit) for name in names for column, unit in mine(model, given)]

    return made


WRENCH = (*xyz("m", "N m"), *xyz("f", "N"))
VELOCITY = (*xyz("w", "rad/s"), *xyz("v", "m/s"))
ACCELERATION = (*xyz("alpha", "rad/s^2"), *xyz("a", "m/s^2"))
MOMENTUM = (*xyz("angular_", "kg m^2/s"), *xyz("linear_", "kg m/s"))


def _by_unit(units: Mapping[str, str]) -> Columns:
    """One column per constraint equation: the constraint's name, with [k] if it has several; units follow
    from those of the equations, none if unknown.
    """
    return lambda model, given: [
        (name, units.get(unit, ""))
        for (name, _), unit in zip(model.equation_names(), model.equation_units(), strict=True)
    ]


multipliers = _by_unit({"m": "N", "rad": "N m", "1": "J"})
"""A multiplier times the rate of its equation is a power."""
multiplier_impulses = _by_unit({"m": "N s", "rad": "N m s", "1": "J s"})
equation_accelerations = _by_unit({"m": "m/s^2", "rad": "rad/s^2", "1": "1/s^2"})


def equation_errors(model: Model, given: Mapping[str, Any]) -> list[Column]:
    """Position errors, then velocity errors, which are called NAME_rate if they are rates of position
    errors."""
    named = [
        (name, level, unit)
        for (name, level), unit in zip(model.equation_names(), model.equation_units(), strict=True)
    ]
    return [
        *((name, unit) for name, level, unit in named if level == "position"),
        *(
            (f"{name}_rate" if level == "position" else name, unit and rate(unit))
            for name, level, unit in named
            if level != "acceleration"
        ),
    ]


def constraint_wrenches(model: Model, given: Mapping[str, Any]) -> list[Column]:
    """Moment and force on each body of the argument `constraint`."""
    wrench, names = fixed(*WRENCH), model.reaction_rows(given["constraint"])
    return [(f"{name}_{column}", unit) for name in names for column, unit in wrench(model, given)]
