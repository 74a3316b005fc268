"""Forces and muscles of a model file in OpenSim, in a process of its own (opensim_process.py), at random
states."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.opensim_model import called
from benchmarks.opensim_process import Answers

DEGROOTE, LENGTH = "normalized_tendon_force", "fiber_length"


def about_forces() -> Answers:
    """What answers each question about the file of a path."""
    return {"forces": forces, "equilibrium": equilibrium}


def _load(path: str) -> tuple[Any, Any]:
    import opensim as osim

    osim.Logger.setLevelString("off")
    os.chdir(Path(path).parent)
    model = osim.Model(path)
    return model, model.initSystem()


def _each(things: Any) -> list[Any]:
    return [things.get(i) for i in range(things.getSize())]


def _draw(model: Any, state: Any, rng: Any, share: float) -> None:
    """Coordinates within `share` of their ranges about the middle, speeds of about 1; constraints are met."""
    for c in _each(model.getCoordinateSet()):
        low, high = c.getRangeMin(), c.getRangeMax()
        if not c.getLocked(state) and not c.isConstrained(state) and np.isfinite(high - low):
            low, high = (max(low, -3.0), min(high, 3.0))
            middle, half = (low + high) / 2, (high - low) / 2
            c.setValue(state, float(middle + share * half * rng.uniform(-1, 1)), False)
        c.setSpeedValue(state, 0.0 if c.getLocked(state) else float(rng.normal()))
    model.assemble(state)


def _at(model: Any, state: Any) -> tuple[list[float], list[float]]:
    coordinates = _each(model.getCoordinateSet())
    return [c.getValue(state) for c in coordinates], [c.getSpeedValue(state) for c in coordinates]


def forces(
    path: str,
    count: int,
    seed: int,
    share: float = 0.9,
    off: Sequence[str] = (),
    inputs: Sequence[str] | None = None,
) -> dict[str, Any]:
    """At `count` random states: coordinates, muscles with their states, lengths, speeds, moment arms,
    tensions, rates of states; generalized forces of each force alone; udot of the whole model, and of the
    model without the forces `off`. Controls are random, or of `inputs` alone where these are given and the
    model's controllers say the others."""
    import opensim as osim

    model, state = _load(path)
    rng = np.random.default_rng(seed)
    coordinates = list(called(model))
    muscles, every = _each(model.getMuscles()), _each(model.getForceSet())
    acting = {f.getName(): bool(f.appliesForce(state)) for f in every}
    paths = {f.getName(): p for f in every if (p := _path(f)) is not None}
    actuators = _each(model.getActuators())
    out: dict[str, Any] = {
        "coordinates": coordinates,
        "muscles": [m.getName() for m in muscles],
        "acting": acting,
        "paths": list(paths),
        "rows": [],
    }
    at = []
    for c in _each(model.getCoordinateSet()):
        state.updU().setToZero()
        c.setSpeedValue(state, 1.0)
        found = np.flatnonzero(state.getU().to_numpy())
        at.append(int(found[0]) if len(found) else -1)
    solver = osim.InverseDynamicsSolver(model)
    free = [c for c in _each(model.getCoordinateSet()) if not c.getLocked(state) and not c.isDependent(state)]
    out["turning"] = [
        name
        for name, c in called(model).items()
        if any(c.getAbsolutePathString() == f.getAbsolutePathString() for f in free)
    ]
    for _ in range(count):
        row: dict[str, Any] = {}
        _draw(model, state, rng, share)
        row["q"], row["u"] = _at(model, state)
        model.realizeVelocity(state)
        row["lengths"] = [p.getLength(state) for p in paths.values()]
        row["speeds"] = [p.getLengtheningSpeed(state) for p in paths.values()]
        row["arms"] = [[p.computeMomentArm(state, c) for c in free] for p in paths.values()]
        row["z"] = {}
        for m in muscles:
            row["z"][m.getName()] = _states(m, state, rng)
        controls = {
            a.getName(): float(rng.uniform(0.02, 1))
            for a in actuators
            if inputs is None or a.getName() in inputs
        }
        model.realizeVelocity(state)
        vector = osim.Vector(model.getNumControls(), 0.0)
        if inputs is not None:
            model.computeControls(state, vector)
        for a in actuators:
            if a.getName() in controls:
                a.setControls(osim.Vector(1, controls[a.getName()]), vector)
        model.setControls(state, vector)
        row["controls"] = controls
        model.realizeAcceleration(state)
        row["udot"] = state.getUDot().to_numpy()[at].tolist()
        row["tension"] = [m.getActuation(state) for m in muscles]
        row["rates"] = [
            {name: m.getStateVariableDerivativeValue(state, name) for name in row["z"][m.getName()]}
            for m in muscles
        ]
        row["udot without"] = _without(model, state, every, acting, off, vector)[at].tolist()
        row["alone"] = _alone(model, state, every, solver, at, acting, vector)
        out["rows"].append(row)
    return out


def _path(force: Any) -> Any:
    import opensim as osim

    for kind in (
        osim.PathActuator,
        osim.PathSpring,
        osim.Ligament,
        osim.Blankevoort1991Ligament,
        osim.ExpressionBasedPathForce if hasattr(osim, "ExpressionBasedPathForce") else osim.PathSpring,
    ):
        if (made := kind.safeDownCast(force)) is not None:
            return made.getPath() if hasattr(made, "getPath") else made.getGeometryPath()
    return None


def _states(m: Any, state: Any, rng: Any) -> dict[str, float]:
    """Set random states of a muscle: an activation, and a tendon that is stretched by up to 4 %."""
    names = [
        m.getStateVariableNames().get(i).rpartition("/")[2]
        for i in range(m.getStateVariableNames().getSize())
    ]
    values = {}
    for name in names:
        if name == "activation":
            values[name] = float(rng.uniform(0.05, 1))
        elif name == DEGROOTE:
            values[name] = float(rng.uniform(0.02, 1))
        elif name == "fiber_velocity":
            values[name] = float(rng.normal()) * 0.1 * m.get_optimal_fiber_length()
        else:
            along = m.getLength(state) - m.get_tendon_slack_length() * (1 + float(rng.uniform(0, 0.04)))
            height = m.get_optimal_fiber_length() * np.sin(m.get_pennation_angle_at_optimal())
            least = 0.5 * m.get_optimal_fiber_length()
            values[name] = float(np.hypot(max(along, least), height))
        m.setStateVariableValue(state, name, values[name])
    return values


def _without(
    model: Any, state: Any, every: list[Any], acting: dict[str, bool], off: Sequence[str], controls: Any
) -> Any:
    """udot without some forces."""
    for f in every:
        if f.getName() in off:
            f.setAppliesForce(state, False)
    model.realizeVelocity(state)
    model.setControls(state, controls)
    model.realizeAcceleration(state)
    udot = state.getUDot().to_numpy()
    for f in every:
        f.setAppliesForce(state, acting[f.getName()])
    return udot


def _alone(
    model: Any,
    state: Any,
    every: list[Any],
    solver: Any,
    at: list[int],
    acting: dict[str, bool],
    controls: Any,
) -> dict[str, list[float]]:
    """Generalized forces of each force."""
    import opensim as osim

    def inverse() -> np.ndarray:
        model.realizeVelocity(state)
        model.setControls(state, controls)
        return solver.solve(state, osim.Vector(state.getNU(), 0.0)).to_numpy()[at]

    for f in every:
        f.setAppliesForce(state, False)
    none = inverse()
    out = {}
    for f in every:
        f.setAppliesForce(state, True)
        out[f.getName()] = (none - inverse()).tolist()
        f.setAppliesForce(state, False)
    for f in every:
        f.setAppliesForce(state, acting[f.getName()])
    return out


def equilibrium(path: str, count: int, seed: int, share: float = 0.9) -> dict[str, Any]:
    """Fiber lengths (or tendon forces) after equilibrateMuscles, at random poses and activations."""
    model, state = _load(path)
    rng = np.random.default_rng(seed)
    coordinates = list(called(model))
    muscles = _each(model.getMuscles())
    rows = []
    for _ in range(count):
        _draw(model, state, rng, share)
        for c in _each(model.getCoordinateSet()):
            c.setSpeedValue(state, 0.0)
        model.realizeVelocity(state)
        activations = {}
        for m in muscles:
            z = _states(m, state, rng)
            if "activation" in z:
                activations[m.getName()] = z["activation"]
        model.realizeVelocity(state)
        found: dict[str, Any] = {}
        for m in muscles:
            try:
                m.computeEquilibrium(state)
                names = m.getStateVariableNames()
                last = [names.get(i).rpartition("/")[2] for i in range(names.getSize())]
                found[m.getName()] = {n: m.getStateVariableValue(state, n) for n in last if n != "activation"}
            except Exception as error:
                found[m.getName()] = {"failed": str(error)[:200]}
        model.realizeVelocity(state)
        rows.append({"q": _at(model, state)[0], "activation": activations, "found": found})
    return {"coordinates": coordinates, "rows": rows}
