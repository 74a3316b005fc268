"""A small walker with markers, and recordings of it whose truth is known."""

from __future__ import annotations

from functools import cache

import numpy as np

import condyle as cd

FRAMES = 60
T = np.arange(FRAMES) / 100


@cache
def walker(loop: bool = False) -> cd.System:
    """A free pelvis and a leg with three angles at the hip, a knee and an ankle; with a loop, a rod holds a
    lever on the pelvis to the thigh."""
    s = cd.System()
    s.add_body("pelvis", mobilizer=cd.Free(coordinates="euler"), mass=10, inertia=(0.1, 0.1, 0.1))
    s.add_body(
        "thigh",
        "pelvis",
        cd.Gimbal(),
        X_PF=(0, -0.1, 0.1),
        mass=7,
        com=(0, -0.18, 0),
        inertia=(0.1, 0.02, 0.1),
        coordinates=("hip_x", "hip_y", "hip_z"),
    )
    s.add_body(
        "shank",
        "thigh",
        cd.Pin(),
        X_PF=(0, -0.42, 0),
        mass=3,
        com=(0, -0.18, 0),
        inertia=(0.05, 0.005, 0.05),
        coordinates=[cd.Coordinate("knee", range=(-2.0, 0.1))],
    )
    s.add_body(
        "foot",
        "shank",
        cd.Pin(),
        X_PF=(0, -0.43, 0),
        mass=1,
        inertia=(0.002, 0.002, 0.002),
        coordinates=("ankle",),
    )
    if loop:
        s.add_body(
            "lever",
            "pelvis",
            cd.Pin(),
            X_PF=(0.1, 0, 0.1),
            mass=0.1,
            inertia=(1e-3, 1e-3, 1e-3),
            coordinates=("lever",),
        )
        s.add_constraint("rod", cd.constraints.Rod("lever", (0.2, 0, 0), "thigh", (0.2, -0.2, 0), 0.3))
    rng = np.random.default_rng(3)
    for body in ("pelvis", "thigh", "shank", "foot"):
        for k in range(4):
            s.add_marker(f"{body}{k}", body, rng.uniform(-0.1, 0.1, 3))
    return s


def motion(system: cd.System, frames: int = FRAMES) -> np.ndarray:
    """Coordinates of a smooth motion (frames, nq), on the constraints."""
    rng, t = np.random.default_rng(4), np.arange(frames) / 100
    q = 0.3 * np.sin(2 * np.pi * (0.8 * t[:, None] + rng.uniform(size=system.nq)))
    q[:, system.coordinates.index("knee")] -= 0.7
    if not system.constraints:
        return q
    goals = [
        cd.goals.Coordinate(name, q[:, k], weight=0.01 if name == "lever" else 1.0)
        for k, name in enumerate(system.coordinates)
    ]
    return np.array(cd.assemble_frames(system, system.state(q=q[0]), goals, t=t, accuracy=1e-11).check().q)


def seen(system: cd.System, q: np.ndarray, noise: float = 0.0, seed: int = 0) -> cd.Markers:
    """Where its markers are in a motion, with noise [m]."""
    rng = np.random.default_rng(seed)
    places = [
        system.station_position(q, system.marker(name).body, system.marker(name).station)
        for name in system.markers
    ]
    positions = np.stack(places, axis=1)
    return cd.Markers(
        np.arange(len(q)) / 100,
        system.markers,
        positions + rng.normal(scale=noise, size=positions.shape) if noise else positions,
    )
