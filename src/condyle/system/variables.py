"""Names of a system's variables in Tables: q, u and z side by side."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from condyle.errors import UnknownNameError
from condyle.model.operators.columns import Column
from condyle.presentation import distinct
from condyle.tree import scales


def variables(system: Any) -> tuple[list[str], list[str]]:
    """Names and units of q, u, z side by side. A speed with the name of its coordinate is named NAME_speed."""
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
    """Index of a variable in q, u, z and the discrete variables side by side, or among some names, from its
    name in tables.
    """
    names = recorded(system)[0] if names is None else names
    if not isinstance(name, str) or name not in names:
        kind = (
            "coordinate, speed, state or discrete variable"
            if system.discrete
            else "coordinate, speed or state variable"
        )
        touches = any(str(name).startswith(contact.partition(".")[0]) for contact in system.contacts)
        raise UnknownNameError(
            kind,
            name,
            names,
            "what contacts do are Tables of their own, such as contact_forces()" if touches else "",
        )
    return names.index(name)


def unique(columns: Iterable[Column]) -> tuple[list[str], list[str]]:
    """Names and units; repeated names are made unique."""
    columns = list(columns)
    return distinct([name for name, _ in columns]), [unit for _, unit in columns]
