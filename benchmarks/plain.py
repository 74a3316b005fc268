"""A System of pins and sliders as plain data, and the same model in OpenSim and MuJoCo.

One description, so that no engine has a model of its own. OpenSim runs in a process that cannot import
Condyle (opensim_process.py), and plain data can be sent there. SI units. F and M are turned here so that pins
are about z and sliders along x, as OpenSim has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Frame = tuple[Array, Array]  # R, p


@dataclass(frozen=True)
class Body:
    """A body, its joint ("pin" or "slider") and what acts on its one coordinate: k (rest - q) - c u +
    effort."""

    name: str
    parent: str
    joint: str
    X_PF: Frame
    X_BM: Frame
    mass: float
    com: Array
    inertia: Array
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0
    effort: float = 0.0


@dataclass(frozen=True)
class Model:
    """Bodies, parents first; springs (a, p_a, b, p_b, stiffness, rest length); a state; and what closes
    loops.

    points: (a, p_a, b, p_b), two stations that coincide.
    lines: (a, p_a, direction, b, p_b), a station of b on a line of a.
    """

    name: str
    gravity: tuple[float, float, float]
    bodies: tuple[Body, ...]
    springs: tuple[tuple[Any, ...], ...]
    points: tuple[tuple[Any, ...], ...]
    lines: tuple[tuple[Any, ...], ...]
    q: Array
    u: Array


def turned_to(axis: Array, joint: str) -> Array:
    """A rotation whose z (pin) or x (slider) is the axis."""
    k = 2 if joint == "pin" else 0
    unit = np.eye(3)[k]
    if np.allclose(axis, unit):
        return np.eye(3)
    across = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    across /= np.linalg.norm(across)
    columns = {k: axis, (k + 1) % 3: across, (k + 2) % 3: np.cross(axis, across)}
    return np.column_stack([columns[i] for i in range(3)])


def plain(name: str, system: Any, q: Array, u: Array, lines: tuple[tuple[Any, ...], ...] = ()) -> Model:
    """The data of a System. `lines` stand for those of its constraints that are no Ball, which OpenSim does
    not have."""
    model, acting = system.compiled.model, {b.name: {} for b in system.bodies}
    owner = {c.name: b.name for b in system.bodies for c in b.coordinates}
    springs, keys = (
        [],
        {"MobilitySpring": "stiffness", "MobilityDamper": "damping", "MobilityForce": "effort"},
    )
    gravity = tuple(float(g) for g in model.gravity.acceleration)
    for force in model.forces.values():
        kind = type(force).__name__
        if kind == "TwoPointSpring":
            springs.append((force.a, force.p_a, force.b, force.p_b, force.stiffness, force.rest_length))
        elif kind in keys:
            mine = acting[owner[force.coordinate]]
            mine[keys[kind]] = float(getattr(force, {"MobilityForce": "value"}.get(kind, keys[kind])))
            mine |= {"rest": float(force.rest)} if kind == "MobilitySpring" else {}
        elif kind != "Gravity":
            raise ValueError(f"{name}: no plain form of {force!r}")
    bodies = []
    for b in system.bodies:
        joint = {"Pin": "pin", "Slider": "slider"}[type(b.mobilizer).__name__]
        R, m = turned_to(np.array(b.mobilizer.axis, dtype=float), joint), b.mass_properties
        X_PF, X_BM = ((np.asarray(X.R) @ R, np.array(X.p, dtype=float)) for X in (b.X_PF, b.X_BM))
        bodies.append(
            Body(
                b.name,
                b.parent.name,
                joint,
                X_PF,
                X_BM,
                float(m.mass),
                np.array(m.com),
                np.array(m.inertia),
                **acting[b.name],
            )
        )
    points = tuple((c.a, c.p_a, c.b, c.p_b) for c in model.constraints.values() if type(c).__name__ == "Ball")
    return Model(name, gravity, tuple(bodies), tuple(springs), points, lines, np.array(q), np.array(u))


def opensim_model(model: Model) -> tuple[Any, Any, list[int]]:
    """(opensim.Model, State, order): entry k of its Q and U belongs to body order[k]. The state is the
    model's."""
    import opensim as osim

    osim.Logger.setLevelString("error")
    vec = lambda v: osim.Vec3(*(float(x) for x in v))
    x_y_z = lambda R: osim.Vec3(
        np.arctan2(-R[1, 2], R[2, 2]), np.arcsin(np.clip(R[0, 2], -1, 1)), np.arctan2(-R[0, 1], R[0, 0])
    )
    made = osim.Model()
    made.setName(model.name.replace(" ", "_"))
    made.setGravity(vec(model.gravity))
    body = {"ground": made.getGround()}
    efforts = []
    for i, b in enumerate(model.bodies):
        I = b.inertia
        new = osim.Body(
            b.name, b.mass, vec(b.com), osim.Inertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        )
        kind = osim.PinJoint if b.joint == "pin" else osim.SliderJoint
        joint = kind(
            f"j{i}", body[b.parent], vec(b.X_PF[1]), x_y_z(b.X_PF[0]), new, vec(b.X_BM[1]), x_y_z(b.X_BM[0])
        )
        joint.updCoordinate().setName(f"q{i}")
        joint.updCoordinate().setDefaultValue(float(model.q[i]))  # else it would be assembled from q = 0
        made.addBody(new)
        made.addJoint(joint)
        body[b.name] = new
        if b.stiffness or b.damping:
            force = osim.SpringGeneralizedForce(f"q{i}")
            force.setStiffness(b.stiffness)
            force.setRestLength(b.rest)
            force.setViscosity(b.damping)
            made.addForce(force)
        if b.effort:
            actuator = osim.CoordinateActuator(f"q{i}")
            made.addForce(actuator)
            efforts.append((actuator, b.effort))
    for a, p_a, b, p_b, stiffness, rest in model.springs:
        made.addForce(osim.PointToPointSpring(body[a], vec(p_a), body[b], vec(p_b), stiffness, rest))
    for a, p_a, b, p_b in model.points:
        made.addConstraint(osim.PointConstraint(body[a], vec(p_a), body[b], vec(p_b)))
    for a, p_a, direction, b, p_b in model.lines:
        made.addConstraint(osim.PointOnLineConstraint(body[a], vec(direction), vec(p_a), body[b], vec(p_b)))
    state = made.initSystem()
    names = made.getCoordinateNamesInMultibodyTreeOrder()
    order = [int(names.getElt(k).rpartition("q")[2]) for k in range(names.size())]
    for actuator, effort in efforts:
        actuator.overrideActuation(state, True)
        actuator.setOverrideActuation(state, effort)
    state.setQ(osim.Vector.createFromMat(model.q[order]))
    state.setU(osim.Vector.createFromMat(model.u[order]))
    return made, state, order


def mujoco_model(model: Model) -> Any:
    """mujoco.MjModel, for trees: no loops, no springs between points; bodies depth-first, as MuJoCo numbers
    them."""
    import mujoco

    if model.points or model.lines or model.springs or any(b.effort for b in model.bodies):
        raise ValueError(f"{model.name}: MuJoCo's loops give way, and its model here has none")
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.gravity = model.gravity
    off = mujoco.mjtDisableBit
    spec.option.disableflags = int(
        off.mjDSBL_CONSTRAINT
        | off.mjDSBL_CONTACT
        | off.mjDSBL_SENSOR
        | off.mjDSBL_ACTUATION
        | off.mjDSBL_EULERDAMP
    )
    body = {"ground": spec.worldbody}
    for b in model.bodies:
        (R_PF, p_PF), (R_BM, p_BM), I = b.X_PF, b.X_BM, b.inertia
        R_PB, quat = R_PF @ R_BM.T, np.empty(4)
        mujoco.mju_mat2Quat(quat, np.ascontiguousarray(R_PB).ravel())
        new = body[b.parent].add_body(
            name=b.name,
            pos=p_PF - R_PB @ p_BM,
            quat=quat,
            mass=b.mass,
            ipos=b.com,
            explicitinertial=True,
            fullinertia=(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]),
        )
        kind, axis = (
            (mujoco.mjtJoint.mjJNT_HINGE, R_BM[:, 2])
            if b.joint == "pin"
            else (mujoco.mjtJoint.mjJNT_SLIDE, R_BM[:, 0])
        )
        joint = new.add_joint(name=b.name, type=kind, axis=axis, pos=p_BM, springref=b.rest)
        # polynomials of deflection and speed
        joint.stiffness, joint.damping = (b.stiffness, 0, 0), (b.damping, 0, 0)
        body[b.name] = new
    return spec.compile()
