"""A model file in OpenSim, in a process of its own (opensim_process.py): poses, mass matrices, Jacobians and
inverse dynamics at states that are given by coordinate."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.opensim_process import Answers

STATION = (0.1, -0.2, 0.3)
"""Point of each body whose Jacobian is compared [m]."""
_loaded: dict[str, Any] = {}


def about_model() -> Answers:
    """What answers each question about the file of a path."""
    return {"names": names, "mechanics": mechanics, "accelerations": accelerations}


def load(path: str) -> Any:
    """(osim.Model, State): no force but gravity acts, no lock, no constraint is enforced."""
    import opensim as osim

    if path not in _loaded:
        osim.Logger.setLevelString("error")
        os.chdir(Path(path).parent)  # files that a model names are sought there
        model = osim.Model(path)
        for component in model.getComponentsList():  # forces may be outside of the ForceSet
            if (force := osim.Force.safeDownCast(component)) is not None:
                force.set_appliesForce(False)
        state = model.initSystem()
        for q in _each(model.updCoordinateSet()):
            q.setLocked(state, False)
            q.setIsPrescribed(state, False)
        _loaded[path] = (model, state)
    return _loaded[path]


def accelerations(path: str, coordinates: list[str], q: Any, u: Any) -> Any:
    """udot, (n, nu), by what the model has by default: locks, constraints, forces."""
    import opensim as osim

    osim.Logger.setLevelString("error")
    os.chdir(Path(path).parent)
    model = osim.Model(path)
    state = model.initSystem()
    own = {c.getName(): c for c in _each(model.getCoordinateSet())}
    out = []
    for q_k, u_k in zip(q, u, strict=True):
        for name, value, speed in zip(coordinates, q_k, u_k, strict=True):
            if not own[name].getLocked(state):
                own[name].setValue(state, float(value), False)
                own[name].setSpeedValue(state, float(speed))
        model.realizeAcceleration(state)
        out.append([own[name].getAccelerationValue(state) for name in coordinates])
    return np.array(out)


def called(model: Any) -> dict[str, Any]:
    """Coordinates by name in OpenSim's order; the second of a name by joint and name, as Condyle calls it."""
    out: dict[str, Any] = {}
    for c in _each(model.getCoordinateSet()):
        out[c.getName() if c.getName() not in out else f"{c.getJoint().getName()}_{c.getName()}"] = c
    return out


def _each(things: Any) -> list[Any]:
    return [things.get(i) for i in range(things.getSize())]


def names(path: str) -> dict[str, Any]:
    """Bodies, coordinates with defaults and ranges, in OpenSim's order."""
    model, state = load(path)
    return {
        "bodies": [b.getName() for b in model.getBodyList()],
        "coordinates": {
            q.getName(): (q.getDefaultValue(), q.getRangeMin(), q.getRangeMax())
            for q in _each(model.getCoordinateSet())
        },
        "mass": model.getTotalMass(state),
    }


def mechanics(path: str, coordinates: list[str], q: Any, u: Any, udot: Any) -> dict[str, Any]:
    """Poses by body, (n, 3, 4); M (n, nu, nu), inverse dynamics (n, nu) and Jacobians of STATION by body,
    (n, 3, nu), in the order of these coordinates.

    Args:
        coordinates: names in the order of the arrays.
        q: values, (n, nu); u: speeds, (n, nu), those of its mobilizer; udot: (n, nu).
    """
    import opensim as osim

    model, state = load(path)
    matter, own = model.getMatterSubsystem(), called(model)
    at = []
    for name in coordinates:  # which of Simbody's speeds is its own
        state.updU().setToZero()
        own[name].setSpeedValue(state, 1.0)
        at.append(int(np.flatnonzero(state.getU().to_numpy())[0]))
    solver = osim.InverseDynamicsSolver(model)
    bodies = list(model.getBodyList())
    poses: dict[str, Any] = {b.getName(): [] for b in bodies}
    jacobians: dict[str, Any] = {b.getName(): [] for b in bodies}
    masses, forces = [], []
    for q_k, u_k, udot_k in zip(q, u, udot, strict=True):
        for name, value in zip(coordinates, q_k, strict=True):
            own[name].setValue(state, float(value), False)
        for name, value in zip(coordinates, u_k, strict=True):
            own[name].setSpeedValue(state, float(value))
        model.realizeVelocity(state)
        M = osim.Matrix()
        matter.calcM(state, M)
        masses.append(M.to_numpy()[np.ix_(at, at)])
        a = np.zeros(state.getNU())
        a[at] = udot_k
        forces.append(solver.solve(state, osim.Vector(list(map(float, a)))).to_numpy()[at])
        for b in bodies:
            X = b.getTransformInGround(state)
            R = np.array([[X.R().get(i, j) for j in range(3)] for i in range(3)])
            poses[b.getName()].append(np.column_stack([R, X.p().to_numpy()]))
            J = osim.Matrix()
            matter.calcStationJacobian(state, b.getMobilizedBodyIndex(), osim.Vec3(*STATION), J)
            jacobians[b.getName()].append(J.to_numpy()[:, at])
    return {
        "poses": {k: np.array(v) for k, v in poses.items()},
        "M": np.array(masses),
        "tau": np.array(forces),
        "J": {k: np.array(v) for k, v in jacobians.items()},
    }
