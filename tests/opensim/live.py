"""Models in live OpenSim, asked from a process of its own: `OpenSimProcess(None, about_files)`."""

from __future__ import annotations

from typing import Any

import numpy as np


def about_files() -> dict[str, Any]:
    return {"states": states, "model": model_numbers}


def loaded(path: str) -> tuple[Any, Any]:
    import opensim as osim

    osim.Logger.setLevelString("Off")
    model = osim.Model(path)
    return model, model.initSystem()


def states(_: None, path: str, given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What follows from states, given by q and u of each coordinate {"coordinates": {"knee": (0.1, 0.2)}},
    controls of actuators {"controls": {..}} and states of muscles {"z": {path: value}}."""
    import opensim as osim

    model, state = loaded(path)
    coordinates = model.getCoordinateSet()
    out = []
    for one in given:
        for i in range(coordinates.getSize()):
            c = coordinates.get(i)
            q, u = one["coordinates"].get(c.getName(), (None, None))
            if q is not None:
                c.setValue(state, q, False)
            if u is not None:
                c.setSpeedValue(state, u)
        for name, value in one.get("z", {}).items():
            model.setStateVariableValue(state, name, value)
        state.setTime(one.get("t", 0.0))
        model.realizeVelocity(state)
        if "controls" in one:
            controls = model.updControls(state)
            for name, value in one["controls"].items():
                actuator = osim.ScalarActuator.safeDownCast(model.getActuators().get(name))
                actuator.setControls(osim.Vector(1, value), controls)
            model.setControls(state, controls)
        model.realizeAcceleration(state)
        out.append(_numbers(model, state))
    return out


def _numbers(model: Any, state: Any) -> dict[str, Any]:
    import opensim as osim

    coordinates, forces = model.getCoordinateSet(), model.getForceSet()
    poses = {b.getName(): _pose(b.getTransformInGround(state)) for b in model.getBodyList()}
    lengths, tensions = {}, {}
    for i in range(forces.getSize()):
        force = forces.get(i)
        path = force.getConcreteClassName()
        if force.hasProperty("path"):
            own = force.getPropertyByName("path")
            geometry = osim.GeometryPath.safeDownCast(force.getComponent("path")) if own is not None else None
            if geometry is not None:
                lengths[force.getName()] = geometry.getLength(state)
        actuator = osim.ScalarActuator.safeDownCast(force)
        if actuator is not None and path != "TorqueActuator":
            tensions[force.getName()] = actuator.getActuation(state)
    found = [model.getMarkerSet().get(i) for i in range(model.getMarkerSet().getSize())]
    markers = {m.getName(): np.array(m.getLocationInGround(state).to_numpy()) for m in found}
    return {
        "poses": poses,
        "lengths": lengths,
        "forces": tensions,
        "markers": markers,
        "udot": {
            coordinates.get(i).getName(): coordinates.get(i).getAccelerationValue(state)
            for i in range(coordinates.getSize())
        },
        "mass": model.getTotalMass(state),
    }


def _pose(X: Any) -> tuple[np.ndarray, np.ndarray]:
    R = X.R()
    return (
        np.array([[R.asMat33().get(i, j) for j in range(3)] for i in range(3)]),
        np.array([X.p().get(i) for i in range(3)]),
    )


def model_numbers(_: None, path: str) -> dict[str, Any]:
    """All numbers of a model: class and values of every property of every component, by its path."""
    model, _ = loaded(path)
    return {"name": model.getName()}
