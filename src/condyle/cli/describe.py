"""`condyle describe`: the parts of a model, as text."""

from __future__ import annotations

import warnings

import numpy as np

from condyle.cli.systems import system_of
from condyle.opensim.document import list_notes
from condyle.presentation import Block, number
from condyle.system.system import System
from condyle.tree import scales


def describe(model: str) -> str:
    """Bodies, coordinates, muscles, other forces, constraints and markers of a model, and notes of its
    reader.

    Args:
        model: see `systems.system_of`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its notes are shown below
        system = system_of(model)
    parts = [_title(system, model), *(block.text() for block in _blocks(system) if block.rows)]
    return "\n\n".join(parts)


def _title(system: System, model: str) -> str:
    about = system.about
    mass = sum(float(body.mass) for body in system.bodies if isinstance(body.mass, (int, float)))
    lines = [
        f"{about.get('name') or model}: {len(system.bodies)} bodies of {mass:.4g} kg, "
        f"{len(system.coordinates)} coordinates, {len(system.muscles)} muscles, "
        f"{len(system.forces) - len(system.muscles)} other forces, {len(system.constraints)} "
        f"constraints, {len(system.markers)} markers"
    ]
    lines += [
        f"{key}: {' '.join(str(about[key]).split())[:300]}"
        for key in ("credits", "publications")
        if about.get(key)
    ]
    return "\n".join(lines)


def _blocks(system: System) -> list[Block]:
    units = dict(zip(system.coordinates, scales.units(system.bodies)[0], strict=True))
    start = dict(zip(system.coordinates, system.defaults()[0], strict=True))
    bodies = [
        (
            body.name,
            body.parent.name if body.parent else "",
            type(body.mobilizer).__name__,
            number(body.mass) if isinstance(body.mass, (int, float)) else str(body.mass),
            ", ".join(c.name for c in body.coordinates),
        )
        for body in system.bodies
    ]
    ranges = {c.name: c.range for body in system.bodies for c in body.coordinates}
    coordinates = [
        (
            name,
            _angle(start[name], units[name]),
            *_range(ranges.get(name), units[name]),
            "deg" if units[name] == "rad" else units[name],
        )
        for name in system.coordinates
    ]
    kinds = {name: type(system.force(name)).__name__ for name in system.forces}
    muscles = [(name, kinds[name], *_muscle(system, name)) for name in system.muscles]
    others = [(name, kinds[name]) for name in system.forces if name not in system.muscles]
    return [
        Block("bodies", ("name", "on", "joint", "mass [kg]", "coordinates"), bodies),
        Block("coordinates", ("name", "default", "from", "to", "unit"), coordinates),
        Block("muscles", ("name", "kind", "force [N]", "fiber [m]", "tendon [m]"), muscles),
        Block("other forces", ("name", "kind"), others),
        Block("constraints", ("name",), [(name,) for name in system.constraints]),
        Block("markers", ("names",), _lines(list(system.markers))),
        Block("notes of the reader", (), [(line,) for line in list_notes(system.notes).splitlines()]),
    ]


def _angle(value: float, unit: str) -> str:
    return number(np.rad2deg(value) if unit == "rad" else value)


def _range(limits: tuple[float, float] | None, unit: str) -> tuple[str, str]:
    return (_angle(limits[0], unit), _angle(limits[1], unit)) if limits else ("", "")


def _muscle(system: System, name: str) -> tuple[str, str, str]:
    force = system.force(name)
    values = (
        getattr(force, field, "")
        for field in ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length")
    )
    first, second, third = (number(v) if isinstance(v, (int, float)) else str(v) for v in values)
    return first, second, third


def _lines(names: list[str], most: int = 8) -> list[tuple[str]]:
    return [(", ".join(names[k : k + most]),) for k in range(0, len(names), most)]
