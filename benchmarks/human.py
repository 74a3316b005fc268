"""A human-like tree of 30 degrees of freedom, for Condyle and, with its knees as pins, for Pinocchio and
MuJoCo.

Free pelvis; balls at hips, ankles and shoulders; pins at lumbar spine, neck and elbows; knees whose angle
carries the shank along splines. 13 bodies, depth-first. F sits at `at` in the parent, turned by nothing; M is
the body frame.

Peers hold angular velocities in the body and positions first, so each engine gets its own q, u and tau of the
same states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.trees import GRAVITY, Array

QUATERNION = {"free": 4, "ball": 4}
# name, parent, joint, F in the parent [m], mass [kg]
BODIES: list[tuple[str, str, str, tuple[float, float, float], float]] = [
    ("pelvis", "ground", "free", (0, 0, 0), 11.8),
    ("torso", "pelvis", "pin", (-0.1, 0.08, 0), 26.8),
    ("head", "torso", "pin", (0, 0.4, 0), 5.2),
    *(
        (
            f"{name}_{side}",
            parent if parent in ("torso", "pelvis") else f"{parent}_{side}",
            joint,
            (x, y, sign * z),
            mass,
        )
        for side, sign in (("r", 1), ("l", -1))
        for name, parent, joint, (x, y, z), mass in (
            ("upper_arm", "torso", "ball", (0, 0.37, 0.17), 2.0),
            ("forearm", "upper_arm", "pin", (0.01, -0.29, 0), 1.2),
            ("thigh", "pelvis", "ball", (-0.07, -0.07, 0.08), 9.3),
            ("shank", "thigh", "knee", (0, -0.4, 0), 3.7),
            ("foot", "shank", "ball", (0, -0.43, 0), 1.25),
        )
    ),
]


def _depth_first() -> list[tuple[str, str, str, tuple[float, float, float], float]]:
    out = []

    def visit(name: str) -> None:
        for body in BODIES:
            if body[1] == name:
                out.append(body)
                visit(body[0])

    visit("ground")
    return out


@dataclass(frozen=True)
class Human:
    """States of Condyle's tree: q (states, 37), u and tau (states, 30)."""

    q: Array
    u: Array
    tau: Array


def states(count: int, seed: int = 0) -> Human:
    """Random states: quaternions of any direction, angles within the knee's range."""
    rng = np.random.default_rng((seed, 30))
    parts = []
    for _, _, joint, _, _ in _depth_first():
        if joint in QUATERNION:
            turn = rng.normal(size=(count, 4))
            parts.append(turn / np.linalg.norm(turn, axis=1, keepdims=True))
            if joint == "free":
                parts.append(rng.uniform(-1, 1, (count, 3)))
        else:
            parts.append(
                rng.uniform(-1.8, 0.1, (count, 1)) if joint == "knee" else rng.uniform(-1, 1, (count, 1))
            )
    return Human(np.hstack(parts), *rng.uniform(-1, 1, (2, count, 30)))


def knee(knots: int = 10, splines: int = 4) -> Any:
    """Flexion about z that carries the shank along splines of so many knots.

    Two: translations forward and up, the knee of seth2010 (figure 6). Four: adduction and rotation follow it
    too.
    """
    import condyle as cd

    x = np.linspace(-2.1, 0.2, knots)
    forward, up = cd.Spline(x, 0.004 * np.sin(2 * x)), cd.Spline(x, 0.02 * np.cos(x) - 0.02)
    adduction, rotation = cd.Spline(x, 0.05 * np.sin(x)), cd.Spline(x, 0.1 * np.sin(1.5 * x))
    turns = (adduction, rotation) if splines == 4 else (None, None)
    return cd.FunctionBased(
        coordinates=("knee",), angles=(*turns, lambda q: q), translations=(forward, up, None)
    )


def condyle_system(pins: bool = False) -> Any:
    """With spline knees, or, to compare with the peers, with pins."""
    import condyle as cd

    joints = {"free": cd.Free(), "ball": cd.Ball(), "pin": cd.Pin(), "knee": cd.Pin() if pins else knee()}
    system = cd.System(gravity=GRAVITY)
    for name, parent, joint, at, mass in _depth_first():
        com, inertia = about(mass)
        system.add_body(
            name,
            parent=parent,
            mobilizer=joints[joint],
            X_PF=at,
            mass=mass,
            com=com,
            inertia=inertia,
            coordinates=(name,) if joint in ("pin", "knee") else None,
        )
    return system


def about(mass: float) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Mass center [m] and inertia about it [kg m^2] of a rod-like segment that hangs from its joint."""
    length = 0.25 * mass ** (1 / 3)
    return (0.01, -0.45 * length, 0.0), (mass * length**2 / 12, mass * length**2 / 40, mass * length**2 / 11)


def rotation(q: Array) -> Array:
    """Of quaternions w x y z, shape (states, 4) -> (states, 3, 3)."""
    w, x, y, z = q.T
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return np.moveaxis(R, 2, 0)


def for_peer(human: Human, pinocchio: bool) -> tuple[Array, Array, Array]:
    """q, u and tau as Pinocchio (all in the body, quaternion x y z w) or MuJoCo (v of a free body in ground)
    want them."""
    q, u, tau = [], [], []
    at = dof = 0
    for _, _, joint, _, _ in _depth_first():
        if joint not in QUATERNION:
            q.append(human.q[:, at : at + 1])
            u.append(human.u[:, dof : dof + 1])
            tau.append(human.tau[:, dof : dof + 1])
            at, dof = at + 1, dof + 1
            continue
        turn, R = human.q[:, at : at + 4], rotation(human.q[:, at : at + 4])
        if joint == "free":
            q.append(human.q[:, at + 4 : at + 7])
            for ours, theirs in ((human.u, u), (human.tau, tau)):
                v = ours[:, dof + 3 : dof + 6]
                theirs.append(np.einsum("sij,si->sj", R, v) if pinocchio else v)
        q.append(turn[:, [1, 2, 3, 0]] if pinocchio else turn)
        for ours, theirs in ((human.u, u), (human.tau, tau)):
            theirs.append(np.einsum("sij,si->sj", R, ours[:, dof : dof + 3]))
        at, dof = at + (7 if joint == "free" else 4), dof + (6 if joint == "free" else 3)
    return tuple(np.ascontiguousarray(np.hstack(x)) for x in (q, u, tau))  # type: ignore[return-value]


def from_peer(human: Human, vdot: Array, pinocchio: bool) -> Array:
    """udot as Condyle means it from a peer's accelerations, shape (states, 30)."""
    out, at, dof = [], 0, 0
    for _, _, joint, _, _ in _depth_first():
        if joint not in QUATERNION:
            out.append(vdot[:, dof : dof + 1])
            at, dof = at + 1, dof + 1
            continue
        R, n = rotation(human.q[:, at : at + 4]), 3 if joint == "free" else 0
        out.append(np.einsum("sij,sj->si", R, vdot[:, dof + n : dof + n + 3]))
        if n:
            w, v, linear = human.u[:, dof : dof + 3], human.u[:, dof + 3 : dof + 6], vdot[:, dof : dof + 3]
            out.append(np.einsum("sij,sj->si", R, linear) + np.cross(w, v) if pinocchio else linear)
        at, dof = at + (7 if n else 4), dof + 3 + n
    return np.hstack(out)


def pinocchio_model() -> Any:
    """Knees are pins."""
    import pinocchio as pin

    model, joints = pin.Model(), {"ground": 0}
    model.gravity.linear = np.array(GRAVITY)
    kinds = {
        "free": pin.JointModelFreeFlyer,
        "ball": pin.JointModelSpherical,
        "pin": pin.JointModelRZ,
        "knee": pin.JointModelRZ,
    }
    for name, parent, joint, at, mass in _depth_first():
        com, inertia = about(mass)
        joints[name] = model.addJoint(
            joints[parent], kinds[joint](), pin.SE3(np.eye(3), np.array(at, dtype=float)), name
        )
        model.appendBodyToJoint(
            joints[name], pin.Inertia(mass, np.array(com), np.diag(inertia)), pin.SE3.Identity()
        )
    return model


def mujoco_model() -> Any:
    """Knees are hinges; nothing but forward dynamics is on."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.gravity = GRAVITY
    off, J = mujoco.mjtDisableBit, mujoco.mjtJoint
    spec.option.disableflags = int(
        off.mjDSBL_CONSTRAINT
        | off.mjDSBL_CONTACT
        | off.mjDSBL_SENSOR
        | off.mjDSBL_ACTUATION
        | off.mjDSBL_EULERDAMP
    )
    kinds = {"free": J.mjJNT_FREE, "ball": J.mjJNT_BALL, "pin": J.mjJNT_HINGE, "knee": J.mjJNT_HINGE}
    made = {"ground": spec.worldbody}
    for name, parent, joint, at, mass in _depth_first():
        com, (xx, yy, zz) = about(mass)
        body = made[name] = made[parent].add_body(
            name=name, pos=at, mass=mass, ipos=com, explicitinertial=True, fullinertia=(xx, yy, zz, 0, 0, 0)
        )
        body.add_joint(name=name, type=kinds[joint], axis=(0, 0, 1))
    return spec.compile()
