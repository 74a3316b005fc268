"""Coordinates and states of a model as OpenSim's tools order, bound and label them in files."""

from __future__ import annotations

import numpy as np

from condyle.arrays import Array
from condyle.opensim.setup.setup_file import Setup
from condyle.system.state import State
from condyle.system.system import System
from condyle.table import Table
from condyle.tree import scales


def in_degrees(system: System) -> dict[str, bool]:
    """{coordinate: whether files have it in degrees}: angles only."""
    return {
        name: unit == "rad"
        for name, unit in zip(system.coordinates, scales.units(system.bodies)[0], strict=True)
    }


def speed_names(system: System) -> list[str]:
    """OpenSim's name of each speed: the coordinate of the same place in its joint, even if it is not its
    rate."""
    out = list(system.speeds)
    for body in system.bodies:
        for place, coordinate in zip(system._tree.speeds_of(body.index), body.coordinates, strict=False):
            out[place] = coordinate.name
    return out


def file_order(setup: Setup, system: System) -> list[str]:
    """Names of the coordinates in the order of the model file: joint by joint."""
    model = setup.model.object
    joints = model.child("JointSet")
    found = [e.name for e in joints.descendants("Coordinate")] if joints is not None else []
    known = [name for name in dict.fromkeys(found) if name in system.coordinates]
    return [*known, *(name for name in system.coordinates if name not in known)]


def clamped(setup: Setup, system: System) -> dict[str, tuple[float, float]]:
    """{coordinate: range} of clamped coordinates [rad, m]; those whose rate is not a speed, as angles of a
    ball, are left out with a note."""
    reading, out = setup.model_reading, {}
    for element in setup.model.object.descendants("Coordinate"):
        if element.name in system.coordinates and reading.boolean(element, "clamped", False):
            low, high = reading.numbers(element, "range", (-10.0, 10.0), 2)
            out[element.name] = (low, high)
    if others := [name for name in out if name not in system.speeds]:
        setup.check(
            f"ranges are not kept, because no speed is the rate of these coordinates: {', '.join(others)}"
        )
    return {name: limits for name, limits in out.items() if name not in others}


# ---- names of states: /jointset/knee_r/knee_angle_r/value, or as older files have them ---------------------

FIBER = 0.1
"""[m] Length of a fiber in the default state of OpenSim's classes."""


def short(name: str) -> str:
    """The name that older files have: knee, knee_u, soleus.activation."""
    if "/" not in name:
        return name
    owner, _, variable = name.rpartition("/")
    owner = owner.rpartition("/")[2]
    return {"value": owner, "speed": f"{owner}_u"}.get(variable, f"{owner}.{variable}")


def columns_of(table: Table) -> dict[str, int]:
    """Places of the columns, by their short names."""
    return {short(name): k for k, name in enumerate(table.names)}


def default_state(setup: Setup, system: System, t: float = 0.0) -> State:
    """`system.state(t=t)` with OpenSim's default fiber lengths: 0.1 m if a model gives none, whatever the
    optimal length."""
    state, reading = system.state(t=t), setup.model_reading
    said = {
        e.name
        for e in reading.objects(reading.model, "ForceSet")
        if reading.property(e, "default_fiber_length") is not None
    }
    z = np.array(state.z, dtype=float)
    for k, name in enumerate(system.state_variables):
        force, _, variable = name.rpartition(".")
        if variable == "fiber_length" and force not in said:
            z[k] = FIBER
    return state.replace(z=z)


def state_columns(
    setup: Setup, system: System, q: Array, u: Array, z: Array
) -> tuple[list[str], Array, list[bool]]:
    """Labels and values (m, n) of all states, and which are angles or their rates: by joints, then forces.

    Args:
        setup: of the model.
        system: that model.
        q: coordinates, shape (m, nq).
        u: speeds, shape (m, nu).
        z: auxiliary states, shape (m, nz).
    """
    reading = setup.model_reading
    joint_of = {
        c.name: joint.name
        for joint in reading.objects(reading.model, "JointSet")
        for c in joint.descendants("Coordinate")
    }
    degrees, speeds = in_degrees(system), speed_names(system)
    labels, columns, angles = [], [], []
    for name in file_order(setup, system):
        path = f"/jointset/{joint_of.get(name, name)}/{name}"
        labels += [f"{path}/value", f"{path}/speed"]
        columns += [q[:, system.coordinates.index(name)], u[:, speeds.index(name)]]
        angles += [degrees[name]] * 2
    for k, state in enumerate(system.state_variables):
        force, _, variable = state.rpartition(".")
        labels.append(f"/forceset/{force}/{variable}")
        columns.append(z[:, k])
        angles.append(False)
    return labels, np.stack(columns, axis=1) if columns else np.empty((len(q), 0)), angles
