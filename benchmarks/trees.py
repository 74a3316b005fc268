"""Trees of pins, random or stored, and the same tree as a model of each engine.

A tree is plain data, in the format of tests/data/trees: body i hangs from `parent` (-1 is ground) by a pin
about z of F, where F sits at (R_PF, p_PF) in the parent, and M is the body frame. So q, u, tau and udot mean
the same for every engine.

Bodies are numbered depth-first (the parent of body i lies on the path from the root to body i - 1), as MuJoCo
numbers its joints whatever it is given. Only OpenSim, which numbers by level, needs its arrays permuted.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
GRAVITY = (0.0, -9.81, 0.0)


@dataclass(frozen=True)
class Body:
    """One body and the pin that carries it. Lengths in m, mass in kg, inertia in kg m^2 about com in body
    axes."""

    parent: int
    R_PF: Array
    p_PF: Array
    mass: float
    com: Array
    inertia_com: Array


@dataclass(frozen=True)
class Tree:
    """Bodies in depth-first order, and states: q [rad], u [rad/s], tau [N m], udot [rad/s^2] or None, shape
    (m, n)."""

    name: str
    bodies: tuple[Body, ...]
    gravity: tuple[float, float, float] = GRAVITY
    q: Array = field(default_factory=lambda: np.empty((0, 0)))
    u: Array = field(default_factory=lambda: np.empty((0, 0)))
    tau: Array = field(default_factory=lambda: np.empty((0, 0)))
    udot: Array | None = None

    def __post_init__(self) -> None:
        path: list[int] = []
        for i, body in enumerate(self.bodies):
            while path and path[-1] != body.parent:
                path.pop()
            if not path and body.parent != -1:
                raise ValueError(
                    f"tree {self.name!r}: body {i} hangs from {body.parent}, which is not on "
                    f"the path from the root to body {i - 1}; number the bodies depth-first"
                )
            path.append(i)

    @property
    def depth(self) -> int:
        """Bodies on the longest path from ground."""
        depths: list[int] = []
        for body in self.bodies:
            depths.append(1 if body.parent < 0 else depths[body.parent] + 1)
        return max(depths)


def load_tree(path: str | Path) -> Tree:
    """A stored tree with its states and reference accelerations."""
    data = json.loads(Path(path).read_text())
    bodies = tuple(
        Body(
            b["parent"],
            np.array(b["R_PF"]),
            np.array(b["p_PF"]),
            b["mass"],
            np.array(b["com"]),
            np.array(b["inertia_com"]),
        )
        for b in data["bodies"]
    )
    return Tree(
        data["name"], bodies, tuple(data["gravity"]), *(np.array(data[k]) for k in ("q", "u", "tau", "udot"))
    )


def random_tree(bodies: int, states: int = 100, seed: int = 0, branching: float = 0.2) -> Tree:
    """A random tree of pins and random states, the same for the same arguments.

    Each body hangs from the one before it or, with probability `branching`, from a random ancestor of that
    one: limbs of a few bodies on a common trunk, 6 to 24 bodies deep for the default seed. Sizes are those of
    tests/data/trees.
    """
    rng = np.random.default_rng((seed, bodies))
    made: list[Body] = []
    path: list[int] = []
    for i in range(bodies):
        if len(path) > 1 and rng.random() < branching:
            del path[rng.integers(1, len(path)) :]
        made.append(
            Body(
                path[-1] if path else -1,
                random_rotation(rng),
                rng.uniform(-0.2, 0.2, 3),
                rng.uniform(0.5, 2.0),
                rng.uniform(-0.1, 0.1, 3),
                random_inertia(rng),
            )
        )
        path.append(i)
    q, u, tau = rng.uniform(-1, 1, (3, states, bodies))
    return Tree(f"random_{bodies}", tuple(made), GRAVITY, q, u, tau)


def random_rotation(rng: np.random.Generator) -> Array:
    """A rotation matrix from a uniformly distributed quaternion."""
    w, x, y, z = (v := rng.normal(size=4)) / np.linalg.norm(v)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def random_inertia(rng: np.random.Generator) -> Array:
    """R diag(b + c, a + c, a + b) R' with a, b, c > 0, shape (3, 3), so the triangle inequality holds [kg
    m^2]."""
    a, b, c = rng.uniform(0.002, 0.025, 3)
    R = random_rotation(rng)
    return R @ np.diag((b + c, a + c, a + b)) @ R.T


def pinocchio_model(tree: Tree) -> Any:
    """pinocchio.Model with a JointModelRZ a body."""
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = np.array(tree.gravity)
    for i, b in enumerate(tree.bodies):
        joint = model.addJoint(b.parent + 1, pin.JointModelRZ(), pin.SE3(b.R_PF, b.p_PF), f"b{i}")
        model.appendBodyToJoint(joint, pin.Inertia(b.mass, b.com, b.inertia_com), pin.SE3.Identity())
    return model


def mujoco_model(tree: Tree) -> Any:
    """mujoco.MjModel with a hinge a body and no geometry, so nothing collides.

    Constraints, contact, sensors and actuation are off: qacc is M^-1 (tau - h), and mj_forward does no more
    than that.
    """
    import mujoco

    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.gravity = tree.gravity
    off = mujoco.mjtDisableBit
    spec.option.disableflags = int(
        off.mjDSBL_CONSTRAINT
        | off.mjDSBL_CONTACT
        | off.mjDSBL_SENSOR
        | off.mjDSBL_ACTUATION
        | off.mjDSBL_EULERDAMP
    )
    made: list[Any] = []
    for i, b in enumerate(tree.bodies):
        quat = np.empty(4)
        mujoco.mju_mat2Quat(quat, np.ascontiguousarray(b.R_PF).ravel())
        I = b.inertia_com
        parent = spec.worldbody if b.parent < 0 else made[b.parent]
        body = parent.add_body(
            name=f"b{i}",
            pos=b.p_PF,
            quat=quat,
            mass=b.mass,
            ipos=b.com,
            explicitinertial=True,
            fullinertia=(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]),
        )
        body.add_joint(name=f"b{i}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=(0, 0, 1))
        made.append(body)
    return spec.compile()


def opensim_model(tree: Tree, efforts: bool = False) -> tuple[Any, Any, list[int]]:
    """(opensim.Model, State, order) with a PinJoint a body; entry k of its Q, U and UDot belongs to body
    order[k].

    With `efforts` there is also a CoordinateActuator a body, in the tree's order, so that the controls are
    tau.
    """
    import opensim as osim

    osim.Logger.setLevelString("error")
    model = osim.Model()
    model.setName(tree.name)
    model.setGravity(osim.Vec3(*tree.gravity))
    zero = osim.Vec3(0)
    made: list[Any] = []
    for i, b in enumerate(tree.bodies):
        I = b.inertia_com
        body = osim.Body(
            f"b{i}",
            b.mass,
            osim.Vec3(*b.com),
            osim.Inertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]),
        )
        R = b.R_PF
        x_y_z = osim.Vec3(np.arctan2(-R[1, 2], R[2, 2]), np.arcsin(R[0, 2]), np.arctan2(-R[0, 1], R[0, 0]))
        parent = model.getGround() if b.parent < 0 else made[b.parent]
        joint = osim.PinJoint(f"j{i}", parent, osim.Vec3(*b.p_PF), x_y_z, body, zero, zero)
        joint.updCoordinate().setName(f"q{i}")
        model.addBody(body)
        model.addJoint(joint)
        made.append(body)
        if efforts:
            actuator = osim.CoordinateActuator(f"q{i}")
            actuator.setName(f"tau{i}")
            actuator.setOptimalForce(1.0)
            model.addForce(actuator)
    state = model.initSystem()
    names = model.getCoordinateNamesInMultibodyTreeOrder()
    order = [int(names.getElt(k).rpartition("q")[2]) for k in range(names.size())]
    return model, state, order


def condyle_system(tree: Tree, mobilizer: Any = None) -> Any:
    """condyle.System with `mobilizer`, by default a Pin, for each body."""
    import condyle as cd

    mobilizer = cd.Pin() if mobilizer is None else mobilizer
    system = cd.System(gravity=tree.gravity)
    made: list[Any] = []
    for i, b in enumerate(tree.bodies):
        parent = system.ground if b.parent < 0 else made[b.parent]
        made.append(
            system.add_body(
                f"b{i}",
                parent=parent,
                mobilizer=mobilizer,
                X_PF=cd.Transform(b.R_PF, b.p_PF),
                mass=b.mass,
                com=b.com,
                inertia=b.inertia_com,
            )
        )
    return system
