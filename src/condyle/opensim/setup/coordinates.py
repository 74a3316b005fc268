"""Coordinates of a model as OpenSim's tools order and bound them."""

from __future__ import annotations

from condyle.opensim.reading import Reading
from condyle.opensim.setup.file import Setup
from condyle.system.system import System
from condyle.tree import scales


def in_degrees(system: System) -> dict[str, bool]:
    """Whether files have a coordinate in degrees, by name: angles only."""
    return {
        name: unit == "rad"
        for name, unit in zip(system.coordinates, scales.units(system.bodies)[0], strict=True)
    }


def speed_names(system: System) -> list[str]:
    """What OpenSim calls each speed: the coordinate of the same place in its joint, its rate or not."""
    out = list(system.speeds)
    for body in system.bodies:
        for place, coordinate in zip(system._tree.speeds_of(body.index), body.coordinates, strict=False):
            out[place] = coordinate.name
    return out


def file_order(setup: Setup, system: System) -> list[str]:
    """Names of the coordinates in the order of the model file: joint by joint."""
    model = setup.model.object
    joints = model.child("JointSet")
    found = [e.name for e in joints.every("Coordinate")] if joints is not None else []
    known = [name for name in dict.fromkeys(found) if name in system.coordinates]
    return [*known, *(name for name in system.coordinates if name not in known)]


def clamped(setup: Setup, system: System) -> dict[str, tuple[float, float]]:
    """Ranges of the coordinates that keep to them [rad, m], by name; those whose rate is no speed, as angles
    of a ball, are said and left out."""
    reading = Reading(setup.model, System())
    out = {}
    for element in setup.model.object.every("Coordinate"):
        if element.name in system.coordinates and reading.boolean(element, "clamped", False):
            low, high = reading.numbers(element, "range", (-10.0, 10.0), 2)
            out[element.name] = (low, high)
    if others := [name for name in out if name not in system.speeds]:
        setup.report.check.append(
            f"ranges are not kept, because no speed is the rate of these coordinates: {', '.join(others)}"
        )
    return {name: limits for name, limits in out.items() if name not in others}
