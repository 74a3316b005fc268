"""Names of states in OpenSim's files: /jointset/knee_r/knee_angle_r/value, or as older ones have them."""

from __future__ import annotations

import numpy as np

from condyle.arrays import Array
from condyle.opensim.reading import Reading
from condyle.opensim.setup.coordinates import file_order, in_degrees, speed_names
from condyle.opensim.setup.file import Setup
from condyle.system.state import State
from condyle.system.system import System
from condyle.table import Table

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
    """`system.state(t=t)` with fibers as long as OpenSim's are by default: where a model says nothing of it,
    0.1 m, whatever their optimal length."""
    state, reading = system.state(t=t), Reading(setup.model, System())
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
        setup: whose model it is.
        system: that model.
        q: coordinates, shape (m, nq).
        u: speeds, shape (m, nu).
        z: auxiliary states, shape (m, nz).
    """
    joints = setup.model.object.child("JointSet")
    objects = joints.child("objects") if joints is not None else None
    joint_of = {
        c.name: joint.name
        for joint in (objects.children if objects is not None else [])
        for c in joint.every("Coordinate")
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
