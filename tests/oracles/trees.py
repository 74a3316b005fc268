"""Random trees as plain data that both Condyle and the oracle read, each in its own way."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

import condyle as cd
from tests.oracles.paths import Jet, Path, cross_matrix

KINDS = ("weld", "pin", "slider", "free", "euler", "function", "timed")
"""`euler` is Free with angles, `timed` a function of time as well."""

COUNTS = {"weld": (0, 0), "pin": (1, 1), "slider": (1, 1), "free": (7, 6), "euler": (6, 6)}
UNIT = np.eye(3)


@dataclass(frozen=True)
class Joint:
    """A mobilizer as data. `functions`: six, angles then translations, of (t,) *q; `axes`: their six unit axes."""

    kind: str
    axis: np.ndarray = field(default_factory=lambda: UNIT[2])
    coordinates: tuple[str, ...] = ()
    functions: tuple = ()
    axes: np.ndarray | None = None
    reversed: bool = False

    @property
    def counts(self) -> tuple[int, int]:
        """nq, nu."""
        return COUNTS.get(self.kind, (len(self.coordinates), len(self.coordinates)))

    def mobilizer(self) -> cd.Mobilizer:
        """The same as Condyle's object."""
        match self.kind:
            case "weld":
                made = cd.Weld()
            case "pin":
                made = cd.Pin(axis=tuple(2.5 * self.axis))                       # any length will do
            case "slider":
                made = cd.Slider(axis=tuple(0.3 * self.axis))
            case "free":
                made = cd.Free()
            case "euler":
                made = cd.Free(coordinates="euler")
            case _:
                axes = None if self.axes is None else [tuple(a) for a in self.axes]
                angles, shifts = self.functions[:3], self.functions[3:]
                made = cd.FunctionBased(self.coordinates, angles, shifts, axes, time=self.kind == "timed")
        return made.reversed() if self.reversed else made

    def path(self, t, q, u, udot) -> Path:
        """X_FM with its derivatives by time. t (...); q (..., nq); u, udot (..., nu)."""
        X = self._forward(t, *(np.moveaxis(np.asarray(a, dtype=float), -1, 0) for a in (q, u, udot)))
        return X.inverse() if self.reversed else X

    def _forward(self, t, q, u, udot) -> Path:
        match self.kind:
            case "weld":
                return Path.of(UNIT, np.zeros((*np.shape(t), 3)))
            case "pin":
                return _turn(self.axis, Jet(q[0], u[0], udot[0]))
            case "slider":
                p, v, a = (x[0][..., None] * self.axis for x in (q, u, udot))
                return Path.of(UNIT, p, 0.0, v, 0.0, a)
            case "free" | "euler":
                turn = Rotation.from_quat if self.kind == "free" else lambda a: Rotation.from_euler("XYZ", a)
                first = np.moveaxis(q[:-3][[1, 2, 3, 0]] if self.kind == "free" else q[:-3], 0, -1)
                R = turn(first.reshape(-1, first.shape[-1])).as_matrix().reshape(*first.shape[:-1], 3, 3)
                w, alpha = (cross_matrix(np.moveaxis(x[:3], 0, -1)) for x in (u, udot))
                p, v, a = (np.moveaxis(x[-3:], 0, -1) for x in (q, u, udot))
                return Path.of(R, p, w @ R, v, (alpha + w @ w) @ R, a)
        x = [Jet(*c) for c in zip(q, u, udot)]
        if self.kind == "timed":
            x = [Jet(np.asarray(t, dtype=float), 1.0), *x]
        y = [f if isinstance(f, Jet) else Jet(f) for f in (g(*x) if callable(g) else g or 0.0 for g in self.functions)]
        axes = np.concatenate([UNIT, UNIT]) if self.axes is None else self.axes
        p, p1, p2 = (sum(np.asarray(d)[..., None] * a for d, a in zip(ds, axes[3:])) for ds in zip(
            *((j.x, j.d1, j.d2) for j in y[3:])))
        X = _turn(axes[0], y[0]) @ _turn(axes[1], y[1]) @ _turn(axes[2], y[2])
        return Path.of(UNIT, p, 0.0, p1, 0.0, p2) @ X


def _turn(axis, angle: Jet) -> Path:
    rotvec = np.asarray(angle.x)[..., None] * axis
    R = Rotation.from_rotvec(rotvec.reshape(-1, 3)).as_matrix().reshape(*rotvec.shape[:-1], 3, 3)
    return Path.turn(axis, R, angle)


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
            system.add_body(f"b{i}", "ground" if part.parent < 0 else f"b{part.parent}", part.joint.mobilizer(),
                            X_PF=cd.Transform(*part.X_PF), X_BM=cd.Transform(*part.X_BM),
                            mass=part.mass, com=part.com, inertia=part.inertia)
        return system

    def states(self, n: int | None = None):
        """q, u, tau, shapes (nq,), (nu,), (nu,) or with n in front: coordinates within ±1, unit quaternions."""
        rng = np.random.default_rng((self.seed, 7))
        batch = () if n is None else (n,)
        q, nu = [np.zeros((*batch, 0))], 0
        for part in self.parts:
            nq = part.joint.counts[0]
            nu += part.joint.counts[1]
            x = rng.uniform(-1, 1, (*batch, nq))
            if part.joint.kind == "free":
                x[..., :4] = rng.normal(size=(*batch, 4))
                x[..., :4] /= np.linalg.norm(x[..., :4], axis=-1, keepdims=True)
            q.append(x)
        return np.concatenate(q, -1), rng.uniform(-1, 1, (*batch, nu)), rng.uniform(-1, 1, (*batch, nu))


def random_rotation(rng) -> np.ndarray:
    return Rotation.from_quat(rng.normal(size=4)).as_matrix()


def random_inertia(rng) -> np.ndarray:
    """R diag(b + c, a + c, a + b) R' with a, b, c > 0: the triangle inequality holds."""
    a, b, c = rng.uniform(0.002, 0.025, 3)
    R = random_rotation(rng)
    return R @ np.diag((b + c, a + c, a + b)) @ R.T


def random_axis(rng) -> np.ndarray:
    """One in three is x, y or z exactly: these take other ways through the code."""
    a = UNIT[rng.integers(3)] if rng.random() < 0.35 else rng.normal(size=3)
    return a / np.linalg.norm(a)


def random_law(rng, slope: np.ndarray):
    """A smooth f(*x) with about this slope, bent by up to a third."""
    shift, phase, bend = rng.uniform(-0.2, 0.2), rng.uniform(-3, 3), rng.uniform(0.05, 0.15)
    wave = rng.uniform(-1, 1, len(slope))

    def law(*x):
        line, inner = (sum((k * v for k, v in zip(weights, x)), 0.0 * x[0]) for weights in (slope, wave))
        return shift + line + bend * np.sin(inner + phase) * np.exp(0.3 * x[-1])
    return law


def random_joint(rng, kind: str, name: str) -> Joint:
    turned = bool(rng.random() < 0.4)
    if kind not in ("function", "timed"):
        return Joint(kind, axis=random_axis(rng), reversed=turned)
    n = int(rng.integers(1, 4))
    drives = rng.permutation(6)[:n]                          # each coordinate drives one of the six functions most
    functions = []
    for i in range(6):
        slope = np.where(drives == i, 1.0, 0.0)
        if kind == "timed":
            slope = np.concatenate([rng.uniform(-0.5, 0.5, 1), slope])
        constant = not slope[-n:].any() and rng.random() < 0.4
        functions.append((None, float(rng.uniform(-0.5, 0.5)))[rng.integers(2)] if constant else random_law(rng, slope))
    axes = None
    if rng.random() < 0.5:
        tilted = UNIT + rng.uniform(-0.4, 0.4, (2, 3, 3))    # independent, not orthogonal
        axes = (tilted / np.linalg.norm(tilted, axis=-1, keepdims=True)).reshape(6, 3)
    return Joint(kind, coordinates=tuple(f"{name}_{c}" for c in "abc"[:n]), functions=tuple(functions), axes=axes,
                 reversed=turned)


def random_plan(seed: int, bodies: int, kinds: Sequence[str] | None = None) -> Plan:
    """A random tree: limbs and roots of all `kinds` (default KINDS), arbitrary F and M, some massless welded frames."""
    rng = np.random.default_rng((seed, bodies))
    kinds = KINDS if kinds is None else tuple(kinds)
    weights = np.array([0.4 if kind in ("free", "euler", "weld") else 1.0 for kind in kinds])
    parts = []
    for i in range(bodies):
        joint = random_joint(rng, str(rng.choice(kinds, p=weights / weights.sum())), f"b{i}")
        parent = i - 1 if rng.random() < 0.6 else int(rng.integers(-1, i))
        bare = joint.kind == "weld" and rng.random() < 0.5
        frames = [(UNIT if rng.random() < 0.2 else random_rotation(rng), rng.uniform(-0.3, 0.3, 3)) for _ in range(2)]
        parts.append(Part(parent, joint, *frames, mass=0.0 if bare else rng.uniform(0.5, 2.0),
                          com=np.zeros(3) if bare else rng.uniform(-0.1, 0.1, 3),
                          inertia=np.zeros((3, 3)) if bare else random_inertia(rng)))
    return Plan(tuple(parts), rng.uniform(-10, 10, 3), seed)


def random_tree(seed: int, bodies: int, kinds: Sequence[str] | None = None):
    """(system, q, u, tau): a random tree at a random state."""
    plan = random_plan(seed, bodies, kinds)
    return plan.system(), *plan.states()
