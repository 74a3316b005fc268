"""A ball, a floor, and contacts of every kind."""
from __future__ import annotations

import numpy as np

import condyle as cd
from condyle import contact

STEEL = contact.Material(2e6, 0.3, 0.8, 0.5, 0.05, 0.05)
RUBBER = contact.Material(5e5, 0.8, 1.1, 0.9, 0.0, 0.02)
FLOOR = contact.HalfSpace("ground", (0.2, 1.0, -0.1), 0.05, STEEL, name="floor")
BALL = contact.Sphere("ball", (0.01, -0.02, 0.03), 0.1, RUBBER, name="ball")


def system(*, gravity=(0.0, -9.81, 0.0), bodies=("ball",), **laws) -> cd.System:
    """Free bodies of 1 kg and some laws."""
    made = cd.System(gravity=gravity)
    for body in bodies:
        made.add_body(body, mobilizer=cd.Free(), mass=1.0, com=(0.01, 0.0, 0.02),
                      inertia=(0.004, 0.005, 0.006))
    for name, law in laws.items():
        made.add_force(name, law)
    return made


def state(made: cd.System, seed: int, near: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """Bodies turned at random, near the origin, moving."""
    rng = np.random.default_rng(seed)
    q, u = rng.uniform(-near, near, made.nq), rng.uniform(-1.0, 1.0, made.nu)
    for k in range(0, made.nq, 7):
        q[k:k + 4] = rng.normal(size=4)
        q[k:k + 4] /= np.linalg.norm(q[k:k + 4])
    return q, u
