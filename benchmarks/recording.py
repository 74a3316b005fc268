"""A recording of markers on the human of human.py, knees as pins, as plain data for Condyle and OpenSim
alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import human
from benchmarks.trees import Array

STATIONS = ((0.06, -0.02, 0.05), (-0.05, -0.15, 0.04), (0.03, -0.22, -0.06))
"""Three markers a body [m]; the pelvis has one more."""


@dataclass(frozen=True)
class Recording:
    """Markers (name, body, station) and where they were seen, (T, markers, 3) [m], at times t (T,) [s]."""

    bodies: tuple[tuple[str, str, str, tuple[float, float, float], float], ...]
    markers: tuple[tuple[str, str, tuple[float, float, float]], ...]
    t: Array
    positions: Array


def motion(frames: int, rate: float = 100.0) -> tuple[Array, Array]:
    """Times [s] and q (T, 37): joints swing by up to 0.5 rad at 0.5 to 1.5 Hz, the pelvis walks along x."""
    t, rng, parts = np.arange(frames) / rate, np.random.default_rng(1), []

    def swing(n: int, size: float) -> Array:
        return (
            size
            * rng.uniform(0.3, 1, n)
            * np.sin(2 * np.pi * rng.uniform(0.5, 1.5, n) * t[:, None] + rng.uniform(0, 6, n))
        )

    for _, _, joint, _, _ in human._depth_first():
        if joint in human.QUATERNION:
            turn = swing(3, 0.4)
            angle = np.linalg.norm(turn, axis=1, keepdims=True)
            parts.append(np.hstack([np.cos(angle / 2), turn * np.sinc(angle / 2 / np.pi) / 2]))
            if joint == "free":
                parts.append(np.column_stack([1.2 * t, 0.95 + 0.02 * np.sin(12 * t), 0.03 * np.sin(6 * t)]))
        else:
            parts.append(swing(1, 0.5) - (0.6 if joint == "knee" else 0.0))
    return t, np.hstack(parts)


def recording(frames: int, noise: float = 0.003) -> tuple[Any, Recording, Array]:
    """The System, what was recorded of its motion with noise [m], and the motion itself."""
    system = human.condyle_system(pins=True)
    t, q = motion(frames)
    places = [(b.name, s) for b in system.bodies for s in STATIONS] + [("pelvis", (-0.1, 0.05, 0.0))]
    markers = tuple((f"m{i}", body, station) for i, (body, station) in enumerate(places))
    seen = np.stack([system.station_position(q, body, station) for _, body, station in markers], axis=1)
    seen += noise * np.random.default_rng(2).normal(size=seen.shape)
    return system, Recording(tuple(human._depth_first()), markers, t, seen), q
