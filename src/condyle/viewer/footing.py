"""Support of a system against gravity: whether it has any, and a floor to put below it."""

from __future__ import annotations

from typing import Any

import numpy as np

import condyle.contact as contact
from condyle.arrays import Array
from condyle.constraints.base import Constraint
from condyle.forces.gravity import free_fall
from condyle.shapes import Link
from condyle.system.state import State
from condyle.system.system import System
from condyle.tree import scales
from condyle.tree.body import Body
from condyle.viewer.bodies import parts

FLOOR = "floor"
SOLES, OTHERS = 8, 10
"""Number of points that may touch the floor at the lowest body; other bodies have one each."""
FALLS = 1e-6
"""Relative difference of the mass center's acceleration from free fall that counts as zero."""


def bases(system: System) -> list[Body]:
    """Bodies on ground that can translate in two or more directions: a pelvis."""
    return [
        b
        for b in system.bodies
        if b.parent is not None and b.parent.is_ground and b.mobilizer.nu >= 3 and "m" in b.mobilizer.units
    ]


def loose(state: State) -> list[str]:
    """Names of bodies without support: the system's mass center falls freely."""
    system = state.system
    free = [b.name for b in bases(system) if not {*system.speeds[b.u]} & {*state.locked}]
    if not free or not free_fall(system._forces).any() or list(system.contacts) or _tied(system):
        return []
    return free


def falls(state: State) -> bool:
    """Whether the mass center has the acceleration of free fall."""
    g = free_fall(state.system._forces)
    a = np.asarray(state.mass_center_acceleration(), dtype=float)
    return bool(np.linalg.norm(a - g) <= FALLS * np.linalg.norm(g))


def _tied(system: System) -> bool:
    """Whether a spring, a rod or a muscle leads to ground."""
    laws: list[Any] = [system.constraint(name) for name in system.constraints]
    if any(isinstance(law, Constraint) and "ground" in _named(law) for law in laws):
        return True
    forces: list[Any] = [system.force(name) for name in system.forces]
    links = [d for law in (*laws, *forces) for d in law.drawn(1.0) if isinstance(d, Link)]
    paths: list[Any] = [system.force(name) for name in system.paths]
    return any("ground" in (d.a, d.b) for d in links) or any(
        point.body == "ground" for law in paths for point in law.path.points
    )


def _named(law: Any) -> set[str]:
    return {str(getattr(law, name, "")) for name in ("a", "b", "body")}


def with_floor(system: System, state: State) -> System:
    """A copy that stands on a level floor below its lowest point in a pose: points of the lowest body, and
    the far ends of other bodies, are balls that touch it.

    Args:
        system: without contacts.
        state: the pose.
    """
    out = system.copy()
    g = free_fall(system._forces)
    up = -g / np.linalg.norm(g)
    radius = 0.015 * (scales.reach(system.bodies) or 1.0)
    bodies, at = _points(system, state, up)
    height = float((at @ up).min())
    X = state.body_poses()
    mass = sum(b.mass for b in system.bodies) or 1.0
    modulus = (
        mass * float(np.linalg.norm(g)) / (radius**0.5 * (0.15 * radius) ** 1.5)
    )  # sinks 0.15 radii or less
    stuff = contact.Material(
        max(modulus, 1e4), dissipation=2.0, static_friction=0.9, dynamic_friction=0.8, transition_speed=0.05
    )
    plane = contact.HalfSpace("ground", up, height, stuff)
    for k, (i, p) in enumerate(zip(bodies, at, strict=True)):
        station = X.R[i].T @ (p + radius * up - X.p[i])
        ball = contact.Sphere(system.bodies[i].name, station, radius, stuff)
        out.add_contact(f"{FLOOR}_{system.bodies[i].name}_{k}", plane, ball)
    return out


def _points(system: System, state: State, up: Array) -> tuple[list[int], Array]:
    """Numbers of bodies, and points of them in ground [m], shape (n, 3)."""
    X, owners, places = state.body_poses(), [], []
    for part in parts(system)[0]:
        vertices = part.shape.surface()[0]
        if part.kind in ("bodies", "inertias") and part.body and len(vertices):
            i = part.body - 1
            own = vertices @ part.X_BS.R.T + part.X_BS.p
            places.append(own @ X.R[i].T + X.p[i])
            owners += [i] * len(own)
    at, of = np.concatenate(places), np.array(owners)
    heights = at @ up
    low = np.flatnonzero(heights < heights.min() + 0.03 * max(float(np.ptp(heights)), 1e-9))
    chosen = [int(low[np.argmin(heights[low])])]
    for _ in range(min(SOLES, len(low)) - 1):  # always the one that is farthest from all chosen
        d = np.linalg.norm(at[low][:, None] - at[chosen][None], axis=2).min(axis=1)
        if d.max() < 1e-6:
            break
        chosen.append(int(low[np.argmax(d)]))
    touched = {int(of[k]) for k in chosen}
    for i in [b.index for b in system.bodies if b.index not in touched][:OTHERS]:
        mine = np.flatnonzero(of == i)
        if len(mine):
            joint = X.R[i] @ np.asarray(system.bodies[i].X_BM.p) + X.p[i]
            chosen.append(int(mine[np.argmax(np.linalg.norm(at[mine] - joint, axis=1))]))
    return [int(of[k]) for k in chosen], at[chosen]
