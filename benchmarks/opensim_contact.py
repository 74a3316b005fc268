"""A bouncing ball and a human on twelve spheres in OpenSim, in a process of its own (opensim_process.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.opensim_manager import silence
from benchmarks.timing import Clock

Array = np.ndarray


def _model(spec: dict[str, Any]) -> Any:
    """Bodies by joints; spheres on bodies against a floor. The spec: gravity, bodies (name, parent, joint,
    at, mass, com, inertia), spheres (body, center, radius), material (stiffness, dissipation, us, ud, uv,
    transition). Or `meshes` on bodies (body, file) against a floor, a fixed sphere of radius `under`, or each
    other."""
    import opensim as osim

    osim.Logger.setLevelString("Off")
    model = osim.Model()
    model.setGravity(osim.Vec3(*spec["gravity"]))
    known = {"ground": model.getGround()}
    kinds = {"free": osim.FreeJoint, "ball": osim.BallJoint, "pin": osim.PinJoint, "knee": osim.PinJoint}
    zero = osim.Vec3(0)
    for name, parent, joint, at, mass, com, inertia in spec["bodies"]:
        body = osim.Body(name, mass, osim.Vec3(*com), osim.Inertia(*inertia))
        model.addBody(body)
        model.addJoint(kinds[joint](f"j_{name}", known[parent], osim.Vec3(*at), zero, body, zero, zero))
        known[name] = body
    if spec.get("meshes"):
        _add_meshes(model, known, spec)
    elif spec["spheres"]:
        k, c, us, ud, uv, transition = spec["material"]
        floor = osim.ContactHalfSpace(osim.Vec3(0), osim.Vec3(0, 0, -np.pi / 2), model.getGround(), "floor")
        model.addContactGeometry(floor)
        force = osim.HuntCrossleyForce()
        force.setName("contact")
        force.addGeometry("floor")
        for i, (body, center, radius) in enumerate(spec["spheres"]):
            model.addContactGeometry(osim.ContactSphere(radius, osim.Vec3(*center), known[body], f"s{i}"))
            force.addGeometry(f"s{i}")
        force.setStiffness(k)
        force.setDissipation(c)
        force.setStaticFriction(us)
        force.setDynamicFriction(ud)
        force.setViscousFriction(uv)
        force.setTransitionVelocity(transition)
        model.addForce(force)
    model.finalizeConnections()
    return model


def _add_meshes(model: Any, known: dict[str, Any], spec: dict[str, Any]) -> None:
    import opensim as osim

    k, c, us, ud, uv, transition = spec["material"]
    names = [f"m{i}" for i in range(len(spec["meshes"]))]
    if len(names) == 1 and "under" in spec:
        R = spec["under"]
        model.addContactGeometry(osim.ContactSphere(R, osim.Vec3(0, -R, 0), model.getGround(), "floor"))
        names.append("floor")
    elif len(names) == 1:
        model.addContactGeometry(
            osim.ContactHalfSpace(osim.Vec3(0), osim.Vec3(0, 0, -np.pi / 2), model.getGround(), "floor")
        )
        names.append("floor")
    for name, (body, file) in zip(names, spec["meshes"]):
        model.addContactGeometry(osim.ContactMesh(file, osim.Vec3(0), osim.Vec3(0), known[body], name))
    force = osim.ElasticFoundationForce()
    force.setName("contact")
    for name in names:
        force.addGeometry(name)
    force.setStiffness(k)
    force.setDissipation(c)
    force.setStaticFriction(us)
    force.setDynamicFriction(ud)
    force.setViscousFriction(uv)
    force.setTransitionVelocity(transition)
    model.addForce(force)


class Questions:
    def __init__(self) -> None:
        self.made: dict[str, Any] = {}

    def prepared(self, specs: dict[str, Any], which: str) -> Any:
        if which not in self.made:
            model = _model(specs[which])
            self.made[which] = model, model.initSystem()
        return self.made[which]

    def seconds(self, specs: dict[str, Any], which: str, q: Array, u: Array) -> tuple[float, Array]:
        """Processor time of one realizeAcceleration [s], states that differ in turn, and udot of the
        first."""
        import opensim as osim

        model, state = self.prepared(specs, which)
        create = osim.Vector.createFromMat
        Q = np.zeros((len(q), state.getNQ()))  # one unused q per ball and free joint
        Q[:, : q.shape[1]] = q
        rows = [(create(x), create(v)) for x, v in zip(Q, u)]
        with Clock() as clock:
            for x, v in rows:
                state.setQ(x)
                state.setU(v)
                model.realizeAcceleration(state)
        state.setQ(rows[0][0])
        state.setU(rows[0][1])
        model.realizeAcceleration(state)
        return clock.cpu / len(rows), state.getUDot().to_numpy()

    def run(
        self, specs: dict[str, Any], which: str, q: Array, u: Array, accuracy: float, t_final: float
    ) -> tuple[float, Array]:
        import opensim as osim

        model, state = self.prepared(specs, which)
        create = osim.Vector.createFromMat
        state = osim.State(state)
        state.setQ(create(np.concatenate([q, np.zeros(state.getNQ() - len(q))])))
        state.setU(create(u))
        state.setTime(0)
        manager = osim.Manager(model)
        manager.setWriteToStorage(False)
        manager.setPerformAnalyses(False)
        manager.setRecordStatesTrajectory(False)
        manager.setIntegratorMethod(osim.Manager.IntegratorMethod_RungeKuttaMerson)
        manager.setIntegratorAccuracy(accuracy)
        manager.setIntegratorMaximumStepSize(5e-3)  # so that no bounce is missed
        manager.setIntegratorInternalStepLimit(1_000_000)
        manager.initialize(state)
        with silence(), Clock() as clock:
            end = manager.integrate(t_final)
        return clock.cpu, end.getQ().to_numpy()[: len(q)]


def about_contact() -> dict[str, Any]:
    questions = Questions()
    return {"seconds": questions.seconds, "run": questions.run}
