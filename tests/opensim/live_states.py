"""Model files in live OpenSim at given states: one process for each file, since defaults leak and places of
wraps depend on the states before."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.opensim_forces import _draw, _each, _load, _path, _states
from benchmarks.opensim_model import called
from benchmarks.opensim_process import Answers


def about_states() -> Answers:
    """What answers each question about the file of a path."""
    return {"draw": draw, "numbers": numbers, "drawn": drawn, "save": save}


def drawn(path: str, count: int, seed: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Random states, and what follows from them in the model loaded anew."""
    told = draw(path, count, seed)
    return told, numbers(path, told)


def draw(path: str, count: int, seed: int, share: float = 0.9) -> list[dict[str, Any]]:
    """Random states that meet the constraints: q and u by coordinate, states of muscles and of other forces,
    controls by actuator."""
    model, state = _load(path)
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(count):
        _draw_touching(model, state, rng, share)
        z = {m.getName(): _states(m, state, rng) for m in _forces(model, "Muscle")}
        out.append(
            {
                "coordinates": {
                    name: (c.getValue(state), c.getSpeedValue(state)) for name, c in called(model).items()
                },
                "z": z,
                "controls": {
                    a.getName(): float(rng.uniform(0.02, 1)) for a in _forces(model, "ScalarActuator")
                },
            }
        )
    return out


def _forces(model: Any, kind: str = "Force") -> list[Any]:
    """All forces of a kind, those outside of the ForceSet too."""
    import opensim as osim

    found = (getattr(osim, kind).safeDownCast(c) for c in model.getComponentsList())
    return [f for f in found if f is not None]


CONTACTS = ("HuntCrossleyForce", "ElasticFoundationForce", "SmoothSphereHalfSpaceForce")


def _draw_touching(model: Any, state: Any, rng: Any, share: float) -> None:
    """A random state; one in which some contact acts, in models that have contact and where one is found."""
    contacts = [f for f in _forces(model) if f.getConcreteClassName() in CONTACTS]
    defaults = model.getWorkingState().getQ().to_numpy()
    for trial in range(300 if contacts else 1):
        _draw(model, state, rng, share * 0.9 ** (trial % 60))
        if trial % 2:  # about the default pose
            q = defaults + rng.uniform(-1, 1, len(defaults)) * 0.3 * 0.9 ** (trial % 60)
            state.setQ(_vector(q))
        model.realizeDynamics(state)
        if any(np.abs(_values(f, state)).max(initial=0.0) > 1e-3 for f in contacts):
            return


def _values(force: Any, state: Any) -> np.ndarray:
    found = force.getRecordValues(state)
    return np.array([found.get(i) for i in range(found.size())])


def _vector(x: Any) -> Any:
    import opensim as osim

    return osim.Vector.createFromMat(np.ascontiguousarray(x))


def save(path: str, to: str) -> None:
    """OpenSim's own copy of a file."""
    model, _ = _load(path)
    model.printToXML(to)


def numbers(path: str, given: list[dict[str, Any]]) -> dict[str, Any]:
    """What follows from states: {quantity: {name: (n, ...)}}; and which states a muscle has."""
    model, state = _load(path)
    own, every = called(model), _forces(model)
    acting = {f.getName(): bool(f.appliesForce(state)) for f in every}
    rows: list[dict[str, Any]] = []
    for one in given:
        for name, (q, _) in one["coordinates"].items():
            if name in own and not own[name].getLocked(state):
                own[name].setValue(state, q, False)
        for name, (_, u) in one["coordinates"].items():
            if name in own and not own[name].getLocked(state):
                own[name].setSpeedValue(state, u)
        unset = []
        for m in _forces(model, "Muscle"):
            names = {
                m.getStateVariableNames().get(i).rpartition("/")[2]
                for i in range(m.getStateVariableNames().getSize())
            }
            told = one["z"].get(m.getName(), {})
            unset += [f"{m.getName()}.{n}" for n in names ^ set(told)]
            for name in sorted(names & set(told)):
                m.setStateVariableValue(state, name, told[name])
        rows.append(_row(model, state, own, every, acting, one["controls"]) | {"unset": unset})
    kinds = [k for k in rows[0] if k != "unset"] if rows else []
    return {
        "unset": sorted({name for row in rows for name in row["unset"]}),
        **{
            kind: {name: np.array([row[kind][name] for row in rows]) for name in rows[0][kind]}
            for kind in kinds
        },
    }


def _row(
    model: Any,
    state: Any,
    own: dict[str, Any],
    every: list[Any],
    acting: dict[str, bool],
    told: dict[str, float],
) -> dict[str, Any]:
    import opensim as osim

    def controlled() -> None:
        model.realizeVelocity(state)
        controls = osim.Vector(model.getNumControls(), 0.0)
        model.computeControls(state, controls)
        for a in _forces(model, "ScalarActuator"):
            if a.getName() in told:
                a.setControls(osim.Vector(1, told[a.getName()]), controls)
        model.setControls(state, controls)

    controlled()
    model.realizeAcceleration(state)
    muscles, row = _forces(model, "Muscle"), {}
    paths = {f.getName(): p for f in every if (p := _path(f)) is not None}
    row["pose"] = {b.getName(): _pose(b, state) for b in model.getBodyList()}
    row["marker"] = {
        m.getName(): m.getLocationInGround(state).to_numpy() for m in _each(model.getMarkerSet())
    }
    row["mass"] = {"all": model.getTotalMass(state)} | {
        b.getName(): b.get_mass() for b in model.getBodyList()
    }
    row["length"] = {name: p.getLength(state) for name, p in paths.items()}
    row["speed"] = {name: p.getLengtheningSpeed(state) for name, p in paths.items()}
    row["tension"] = {m.getName(): m.getActuation(state) for m in muscles}
    row["rate"] = {
        f"{m.getName()}.{n}": m.getStateVariableDerivativeValue(state, n)
        for m in muscles
        for i in range(m.getStateVariableNames().getSize())
        for n in [m.getStateVariableNames().get(i).rpartition("/")[2]]
    }
    row["udot"] = {"all": [own[name].getAccelerationValue(state) for name in sorted(own)]}
    solver = osim.InverseDynamicsSolver(model)
    places = {}
    kept = state.getU().to_numpy()
    for name, c in own.items():
        state.updU().setToZero()
        if not c.getLocked(state):
            c.setSpeedValue(state, 1.0)
        found = np.flatnonzero(state.getU().to_numpy())
        places[name] = int(found[0]) if len(found) else -1
    state.setU(osim.Vector.createFromMat(kept))

    def inverse() -> np.ndarray:
        controlled()
        return solver.solve(state, osim.Vector(state.getNU(), 0.0)).to_numpy()

    order = [places[name] for name in sorted(own) if places[name] >= 0]
    for f in every:
        f.setAppliesForce(state, False)
    none = inverse()
    row["rest"] = {"tau": none[order]}
    row["force"] = {}
    for f in every:
        f.setAppliesForce(state, True)
        row["force"][f.getName()] = (none - inverse())[order]
        f.setAppliesForce(state, False)
    for f in every:
        f.setAppliesForce(state, acting[f.getName()])
    model.realizeVelocity(state)
    return row


def _pose(body: Any, state: Any) -> np.ndarray:
    X = body.getTransformInGround(state)
    R = np.array([[X.R().get(i, j) for j in range(3)] for i in range(3)])
    return np.column_stack([R, X.p().to_numpy()])
