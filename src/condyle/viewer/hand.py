"""A hand that pulls at bodies: a force like any other, moved by Inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from condyle.forces.user import Custom, Wrench
from condyle.system.system import System
from condyle.trace.parameter import Input
from condyle.tree import scales

FORCE = "hand"
PERIOD = 0.25
"""Period of the whole system's mass on the hand's spring [s]: quick to follow, slow enough to integrate."""


def with_hand(system: System) -> tuple[System, float]:
    """A copy of a system that a spring and a damper may pull at, and the stiffness to pull with [N/m].

    Body b is pulled at its station p toward the target x by hand_b (x - p) - d hand_b v, with d the damping
    per stiffness that damps the system's mass critically. Inputs: hand_NAME, the stiffness at body NAME, zero
    unless it is held; hand_station_x .. z; hand_target_x .. z.
    """
    out = system.copy()
    mass = sum(b.mass for b in system.bodies) or 1.0
    stiffness = mass * (2 * np.pi / PERIOD) ** 2
    damping = PERIOD / np.pi
    p, x = ([Input(f"{FORCE}_{what}_{axis}", 0.0) for axis in "xyz"] for what in ("station", "target"))
    k = {b.name: Input(f"{FORCE}_{b.name}", 0.0) for b in system.bodies}

    def pull(s: Any) -> dict[str, Wrench]:
        out = {}
        for name, stiff in k.items():
            at, v = s.station_position(name, p), s.station_velocity(name, p)
            force = [stiff * (x[i] - at[i] - damping * v[i]) for i in range(3)]
            out[name] = Wrench(force=force, at=p)
        return out

    if k:
        out.add_force(FORCE, Custom(pull))
    return out, stiffness


def inputs(
    system: System,
    body: str | None,
    station: Any = (0.0, 0.0, 0.0),
    target: Any = (0.0, 0.0, 0.0),
    stiffness: float = 0.0,
) -> dict[str, float]:
    """Inputs with which the hand holds a body, or none."""
    out = {f"{FORCE}_{b.name}": stiffness * (b.name == body) for b in system.bodies}
    for what, v in (("station", station), ("target", target)):
        out |= {f"{FORCE}_{what}_{axis}": float(x) for axis, x in zip("xyz", v, strict=True)}
    return out


def size(system: System) -> float:
    """A length of the system [m]."""
    return scales.reach(system.bodies) or 1.0
