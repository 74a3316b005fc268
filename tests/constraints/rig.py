"""A small system with every sort of coordinate, and one constraint of each type for it."""

from __future__ import annotations

import functools

import numpy as np

import condyle as cd

C = cd.constraints
RAIL = cd.Transform(R=np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), p=(0.1, 0.2, -0.1))

EVERY = {
    "Rod": C.Rod("tip", (0.1, 0.2, 0.0), "float", (0.0, 0.1, 0.3), 0.8),
    "Ball": C.Ball("tip", (0.1, -0.4, 0.0), "float", (0.2, 0.1, 0.0)),
    "Weld": C.Weld("tip", RAIL, "float", (0.1, 0.0, 0.2)),
    "PointInPlane": C.PointInPlane("tip", (0.3, 1.0, -0.2), 0.2, "float", (0.0, 0.3, 0.1)),
    "PointOnLine": C.PointOnLine("float", (0.1, 0.0, 0.0), (1.0, 0.5, 0.0), "tip", (0.0, -0.3, 0.0)),
    "ConstantAngle": C.ConstantAngle("tip", (1.0, 0.2, 0.0), "float", (0.0, 0.3, 1.0), 1.2),
    "ConstantOrientation": C.ConstantOrientation("tip", RAIL.R, "float"),
    "ConstantCoordinate": C.ConstantCoordinate("elbow", 0.4),
    "ConstantSpeed": C.ConstantSpeed("shoulder", 0.7),
    "ConstantAcceleration": C.ConstantAcceleration("elbow", -2.0),
    "CoordinateCoupler": C.CoordinateCoupler(
        lambda a, b, w: a - 0.5 * np.sin(b) + w**2, ("shoulder", "elbow", "float_qx")
    ),
    "SpeedCoupler": C.SpeedCoupler(lambda a, b, q: a * np.cos(q) - 2 * b, ("shoulder", "elbow"), ("elbow",)),
    "PrescribedMotion": C.PrescribedMotion(lambda t: 0.3 + 0.5 * np.sin(2 * t), "shoulder"),
    "NoSlip1D": C.NoSlip1D("float", (0.1, 0.2, 0.0), (0.0, 1.0, 0.4), "upper", "tip"),
    "PointOnPlaneContact": C.PointOnPlaneContact("tip", (0.3, 1.0, -0.2), 0.2, "float", (0.0, 0.3, 0.1)),
    "SphereOnPlaneContact": C.SphereOnPlaneContact(
        "float", (0.3, 1.0, 0.2), 0.1, "tip", (0.1, 0.0, 0.1), 0.2, rolling=True
    ),
    "SphereOnSphereContact": C.SphereOnSphereContact(
        "tip", (0.0, 0.1, 0.0), 0.3, "float", (0.1, 0.0, 0.2), 0.4, rolling=True
    ),
    "LineOnLineContact": C.LineOnLineContact(
        "tip", (0.1, 0, 0.2), (1, 0.2, 0), "float", (0, 0.1, 0), (0.1, 1, 1), rolling=True
    ),
    "Holonomic": C.Holonomic(
        lambda s: s.station_position("float", (0.1, 0, 0))[1] - s.rotation("tip")[0, 1] + 0.1 * s.t
    ),
    "Nonholonomic": C.Nonholonomic(
        lambda s: s.station_velocity("float", (0.1, 0, 0))[0] - s.q("elbow") * s.angular_velocity("tip")[2]
    ),
    "AccelerationOnly": C.AccelerationOnly(
        lambda s: (
            s.station_acceleration("float", (0.1, 0, 0))[0]
            - s.q("elbow") * s.angular_acceleration("tip")[2]
            + s.udot("shoulder")
            + s.u("elbow")
            - 0.3
        )
    ),
}
MOVED_BY_TIME = ("AccelerationOnly", "ConstantSpeed", "ConstantAcceleration", "PrescribedMotion", "Holonomic")
"""Constraints that may do work: they ask for speeds of their own."""


def rig(*constraints: str, **more: cd.constraints.Constraint) -> cd.System:
    """An arm of two bodies and a floating one, with some constraints of EVERY and some more."""
    system = cd.System(gravity=(0.3, -9.81, 0.2))
    system.add_body(
        "upper",
        mobilizer=cd.Pin(),
        X_PF=(0.1, 0.3, 0.0),
        mass=1.3,
        com=(0.1, -0.3, 0.0),
        inertia=(0.05, 0.02, 0.06),
        coordinates="shoulder",
    )
    system.add_body(
        "tip",
        "upper",
        cd.Universal(),
        X_PF=(0.0, -0.6, 0.1),
        mass=0.9,
        com=(0.0, -0.2, 0.1),
        inertia=(0.03, 0.01, 0.02),
        coordinates=("elbow", "twist"),
    )
    system.add_body(
        "float",
        mobilizer=cd.Free(),
        X_BM=(0.0, 0.1, 0.0),
        mass=2.0,
        com=(0.05, 0.0, 0.1),
        inertia=(0.2, 0.3, 0.25, 0.01, 0.0, 0.02),
    )
    system.add_force("spring", cd.forces.TwoPointSpring("tip", (0, -0.4, 0), "float", (0, 0, 0), 30.0, 0.4))
    for name in constraints:
        system.add_constraint(name, EVERY[name])
    for name, constraint in more.items():
        system.add_constraint(name, constraint)
    return system


@functools.cache
def shared(*constraints: str) -> cd.System:
    """The rig with these constraints, made once: its operators are compiled once for all tests that only use
    it."""
    return rig(*constraints)


def state(system: cd.System, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A random state near the middle of the rig's range, the floating body near the tip; on no constraint."""
    rng = np.random.default_rng(seed)
    q = system.defaults()[0] + rng.uniform(-0.4, 0.4, system.nq)
    q[-3:] += system.station_position(q, "tip", (0.0, -0.4, 0.0))
    return system.compiled.normalized(q), rng.uniform(-1.0, 1.0, system.nu)


def on_constraints(system: cd.System, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return system.project(*state(system, seed))
