"""Random trees as plain data that both Condyle and the oracle read, each in its own way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

import condyle as cd
from tests.oracles.joints import MIXED, UNIT, Joint, random_joint, random_law

__all__ = [
    "Part",
    "Plan",
    "random_inertia",
    "random_joint",
    "random_law",
    "random_plan",
    "random_rotation",
    "random_tree",
]


@dataclass(frozen=True)
class Part:
    """One body of a plan. Frames as (R, p); inertia (3, 3) about com in the body's axes."""

    parent: int
    joint: Joint
    X_PF: tuple[np.ndarray, np.ndarray]
    X_BM: tuple[np.ndarray, np.ndarray]
    mass: float
    com: np.ndarray
    inertia: np.ndarray


@dataclass(frozen=True)
class Plan:
    """A tree as data: body i is named f"b{i}" and hangs from b{parent}, or from ground for -1."""

    parts: tuple[Part, ...]
    gravity: np.ndarray
    seed: int = 0

    def system(self) -> cd.System:
        system = cd.System(gravity=self.gravity)
        for i, part in enumerate(self.parts):
            system.add_body(
                f"b{i}",
                "ground" if part.parent < 0 else f"b{part.parent}",
                part.joint.mobilizer(),
                X_PF=cd.Transform(*part.X_PF),
                X_BM=cd.Transform(*part.X_BM),
                mass=part.mass,
                com=part.com,
                inertia=part.inertia,
            )
        return system

    def states(self, n: int | None = None):
        """q, u, tau, shapes (nq,), (nu,), (nu,) or with n in front: coordinates within ±1, unit
        quaternions."""
        rng = np.random.default_rng((self.seed, 7))
        batch = () if n is None else (n,)
        q, nu = [np.zeros((*batch, 0))], 0
        for part in self.parts:
            nq = part.joint.counts[0]
            nu += part.joint.counts[1]
            x = rng.uniform(-1, 1, (*batch, nq))
            for k in part.joint.quaternions:
                x[..., k : k + 4] = rng.normal(size=(*batch, 4))
                x[..., k : k + 4] /= np.linalg.norm(x[..., k : k + 4], axis=-1, keepdims=True)
            q.append(x)
        return np.concatenate(q, -1), rng.uniform(-1, 1, (*batch, nu)), rng.uniform(-1, 1, (*batch, nu))


def random_rotation(rng) -> np.ndarray:
    return Rotation.from_quat(rng.normal(size=4)).as_matrix()


def random_inertia(rng) -> np.ndarray:
    """R diag(b + c, a + c, a + b) R' with a, b, c > 0: the triangle inequality holds."""
    a, b, c = rng.uniform(0.002, 0.025, 3)
    R = random_rotation(rng)
    return R @ np.diag((b + c, a + c, a + b)) @ R.T


def random_plan(seed: int, bodies: int, kinds: Sequence[str] | None = None) -> Plan:
    """A random tree: limbs and roots of all `kinds` (default MIXED), arbitrary F and M, some massless
    welded frames."""
    rng = np.random.default_rng((seed, bodies))
    kinds = MIXED if kinds is None else tuple(kinds)
    weights = np.array(
        [0.4 if kind in ("free", "euler", "weld", "bushing", "free_line") else 1.0 for kind in kinds]
    )
    parts = []
    for i in range(bodies):
        joint = random_joint(rng, str(rng.choice(kinds, p=weights / weights.sum())), f"b{i}")
        parent = i - 1 if rng.random() < 0.6 else int(rng.integers(-1, i))
        bare = joint.kind == "weld" and rng.random() < 0.5
        frames = [
            (UNIT if rng.random() < 0.2 else random_rotation(rng), rng.uniform(-0.3, 0.3, 3))
            for _ in range(2)
        ]
        parts.append(
            Part(
                parent,
                joint,
                *frames,
                mass=0.0 if bare else rng.uniform(0.5, 2.0),
                com=np.zeros(3) if bare else rng.uniform(-0.1, 0.1, 3),
                inertia=np.zeros((3, 3)) if bare else random_inertia(rng),
            )
        )
    return Plan(tuple(parts), rng.uniform(-10, 10, 3), seed)


def random_tree(seed: int, bodies: int, kinds: Sequence[str] | None = None):
    """(system, q, u, tau): a random tree at a random state."""
    plan = random_plan(seed, bodies, kinds)
    return plan.system(), *plan.states()
