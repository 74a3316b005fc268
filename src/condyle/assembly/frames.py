"""What assembling a sequence gives back: coordinates by frame, how far the goals were missed, and which frames failed."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from condyle.assembly.loop import INFO, UNFINISHED, VIOLATED
from condyle.errors import ConstraintError, DescriptionError, ShapeError, UnknownNameError
from condyle.goals import Coordinate, Distance, Goal, Orientation, Station
from condyle.integrate.given import nth
from condyle.spatial import log_so3
from condyle.state import State
from condyle.table import Table
from condyle.tree import scales

TEXTS = {VIOLATED: "constraints violated", UNFINISHED: "goals still improving"}


@dataclass(frozen=True, eq=False, repr=False)
class Frames:
    """Configurations that follow goals, made by `cd.assemble_frames`. `frames[i]` is the State of frame i.

    Attributes:
        t: [s], shape (T,).   q: shape (T, nq). A frame that failed holds the nearest that was found.
        residuals: |error| of each goal [m, rad, or the coordinate's unit], shape (T, goals); NaN where nothing was measured.
        names: of the goals, each once.
        iterations: of each frame, shape (T,).
        failures: messages by frame: constraints that are violated, by how much, or goals that were still improving.
        status: "finished", or how many frames failed, or where the run was interrupted: what was computed is there.
    """

    start: State
    goals: tuple[Goal, ...]
    t: np.ndarray
    q: np.ndarray
    info: np.ndarray
    tolerance: float
    wanted: int

    def __repr__(self) -> str:
        span = f" from {self.t[0]:g} to {self.t[-1]:g} s" if len(self) else ""
        return f"Frames({len(self)}{span}, {len(self.goals)} goals, {self.status})"

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, i: int) -> State:
        """The State of a frame, with the speeds of the start; `speeds()` gives those of the motion."""
        i = nth("frame", i, len(self))
        return self.start.replace(t=float(self.t[i]), q=self.q[i])

    @property
    def iterations(self) -> np.ndarray:
        return self.info[:, INFO.index("iterations")].astype(int)

    @cached_property
    def failures(self) -> dict[int, str]:
        code = self.info[:, 0].astype(int)
        return {int(i): self._reason(int(i), int(code[i])) for i in np.flatnonzero(code)}

    def _reason(self, i: int, code: int) -> str:
        if code == UNFINISHED:
            return (f"frame {i} (t = {self.t[i]:.6g} s): goals were still improving after {self.iterations[i]} iterations; "
                    "start nearer, or loosen the accuracy")
        amounts = ", ".join(f"{name} by {x:.3g}" for name, x in list(self.violated(i).items())[:5])
        return (f"frame {i} (t = {self.t[i]:.6g} s): no configuration nearby satisfies the constraints; violated: {amounts}; "
                f"allowed {self.tolerance:.1g}")

    def violated(self, i: int) -> dict[str, float]:
        """Constraint equations of a frame that do not hold, by name, the worst first."""
        system, at = self.start.system, self[i]
        p = at.constraint_errors()[0]
        labels = [name if c.size == 1 else f"{name}[{k}]" for name, c in system.subject.constraints.items()
                  for k, level in enumerate(part.level for part in c.parts for _ in range(part.size)) if level == "position"]
        order = sorted((k for k in range(len(p)) if not abs(p[k]) <= self.tolerance), key=lambda k: -abs(p[k]))
        return {labels[k]: float(p[k]) for k in order}

    @property
    def status(self) -> str:
        if len(self) < self.wanted:
            return f"interrupted after {len(self)} of {self.wanted} frames"
        bad = self.failures
        return "finished" if not bad else f"{len(bad)} of {self.wanted} frames failed; the first: {next(iter(bad.values()))}"

    def check(self) -> Frames:
        """Itself, or ConstraintError if constraints are violated in some frame."""
        for i in np.flatnonzero(self.info[:, 0] == VIOLATED):
            raise ConstraintError(
                f"{self.failures[int(i)]}. Start nearer, free locked speeds, or see whether constraints contradict each other",
                self.violated(int(i)), self.q[i].copy())
        return self

    @cached_property
    def names(self) -> tuple[str, ...]:
        seen: dict[str, int] = {}
        out = []
        for g in self.goals:
            seen[g.name] = seen.get(g.name, 0) + 1
            out.append(g.name if seen[g.name] == 1 else f"{g.name} {seen[g.name]}")
        return tuple(out)

    @cached_property
    def units(self) -> tuple[str, ...]:
        system = self.start.system
        unit = dict(zip(system.coordinates, scales.units(system.bodies)[0], strict=True))
        return tuple(unit[g.coordinate] if isinstance(g, Coordinate) else g.unit for g in self.goals)

    @cached_property
    def residuals(self) -> np.ndarray:
        if not self.goals:
            return np.zeros((len(self), 0))
        return np.stack([np.where(g.weights(self.wanted)[:len(self)] > 0, self._error(g), np.nan) for g in self.goals], axis=1)

    @cached_property
    def _tail(self) -> np.ndarray:
        tail = self.start.tail[None].repeat(len(self), axis=0)
        tail[:, 0] = self.t
        return tail

    @cached_property
    def _poses(self) -> np.ndarray:
        """R by rows, then p, of all bodies in all frames, shape (T, bodies, 12)."""
        return self.start.system.function("poses")(self.q, self._tail).reshape(len(self), -1, 12)

    def _rotation(self, body: str) -> np.ndarray:
        return self._poses[:, self.start.system.body(body).index, :9].reshape(-1, 3, 3)

    def _place(self, body: str, station: np.ndarray) -> np.ndarray:
        which = self.start.system.body(body)
        return station if which.is_ground else self._rotation(body) @ station + self._poses[:, which.index, 9:]

    def _error(self, g: Goal) -> np.ndarray:
        target = g.targets(self.wanted)[:len(self)]
        if isinstance(g, Station):
            return np.linalg.norm(self._place(g.body, g.station) - target, axis=-1)
        if isinstance(g, Orientation):
            missing = target @ np.swapaxes(self._rotation(g.body), -1, -2)
            known = np.where(g.weights(self.wanted)[:len(self), None, None] > 0, missing, np.eye(3))
            return np.linalg.norm(log_so3(known), axis=-1)
        if isinstance(g, Distance):
            return np.abs(np.linalg.norm(self._place(g.b, g.p_b) - self._place(g.a, g.p_a), axis=-1) - target)
        assert isinstance(g, Coordinate)
        return np.abs(self.q[:, self.start.system.coordinates.index(g.coordinate)] - target)

    @cached_property
    def rms(self) -> np.ndarray:
        """Root of the mean square of the residuals of stations, weighted [m], shape (T,); NaN where no station was seen."""
        chosen = [k for k, g in enumerate(self.goals) if isinstance(g, Station)]
        w = np.stack([self.goals[k].weights(self.wanted)[:len(self)] for k in chosen] or [np.zeros(len(self))], axis=1)
        square = np.nansum(w * self.residuals[:, chosen] ** 2, axis=1) if chosen else np.zeros(len(self))
        total = w.sum(axis=1)
        return np.sqrt(np.divide(square, total, out=np.full(len(self), np.nan), where=total > 0))

    def speeds(self) -> np.ndarray:
        """u of each frame, shape (T, nu), from q over time: by a spline of degree 5 (3 or 1 if there are few frames), then the
        nearest u that the velocity constraints allow. Noise in the targets comes out larger: smooth them first."""
        from scipy.interpolate import make_interp_spline

        if len(self) < 2 or not (np.diff(self.t) > 0).all():
            raise ShapeError("speeds: needs two frames or more whose times increase; give assemble_frames t=...")
        system, degree = self.start.system, min(5, len(self) - 1)
        q = _continuous(system, self.q)
        u = _speeds(system, q, make_interp_spline(self.t, q, k=degree - 1 + degree % 2)(self.t, 1))
        u = system.prescribed(self.q, u, self._tail, self.start.locked)[1]
        if not system.constraints:
            return u
        change, weights = system.function("velocity_change"), scales.weights(system.bodies)[1]
        for _ in range(2):                                  # linear in u as a rule: the second takes rounding away
            u = u + change(self.q, u, weights, self._tail)
        return u

    def table(self) -> Table:
        """Coordinates by name over time."""
        system = self.start.system
        return Table(self.t, system.coordinates, self.q, scales.units(system.bodies)[0], status=self.status)

    def residual_table(self) -> Table:
        """Residuals by the goals' names over time."""
        return Table(self.t, self.names, self.residuals, self.units, status=self.status)

    def to_pandas(self) -> Any:
        """The table of coordinates as a pandas DataFrame."""
        return self.table().to_pandas()

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draw coordinates or residuals (all residuals, if none is named) over time; returns matplotlib's axes."""
        coordinates = self.start.system.coordinates
        if names and all(name in coordinates for name in names):
            return self.table().plot(*names, axes=axes)
        for name in names:
            if name not in (*coordinates, *self.names):
                raise UnknownNameError("coordinate or goal", name, (*coordinates, *self.names))
        return self.residual_table().plot(*names, axes=axes)


def _continuous(system: Any, q: np.ndarray) -> np.ndarray:
    """q with quaternions that do not change sign from frame to frame."""
    q = q.copy()
    for quaternion in system.subject.tree.quaternions:
        part = q[:, quaternion]
        sign = np.sign((part[1:] * part[:-1]).sum(axis=1))
        part[1:] *= np.cumprod(np.where(sign == 0, 1, sign))[:, None]
    return q


def _speeds(system: Any, q: np.ndarray, qdot: np.ndarray) -> np.ndarray:
    """u with N(q) u = qdot, as nearly as can be, shape (T, nu)."""
    u = np.zeros((len(q), system.nu))
    most = max(b.mobilizer.nu for b in system.bodies)
    columns = []
    for j in range(most):                                   # column j of N of all bodies at once
        e = np.zeros(system.nu)
        e[[b.u.start + j for b in system.bodies if b.mobilizer.nu > j]] = 1.0
        columns.append(system.qdot(q, np.broadcast_to(e, u.shape)))
    for b in system.bodies:
        if b.mobilizer.nu:
            N = np.stack([column[:, b.q] for column in columns[:b.mobilizer.nu]], axis=-1)
            u[:, b.u] = (np.linalg.pinv(N) @ qdot[:, b.q, None])[..., 0]
    return u


def frame_count(goals: Sequence[Goal], t: np.ndarray | None) -> int:
    """The number of frames that goals and times agree on."""
    counts = {g.name: g.frames for g in goals if g.frames is not None}
    if t is not None:
        counts["t"] = len(t)
    if len(set(counts.values())) > 1:
        raise ShapeError(f"goals have different numbers of frames: {', '.join(f'{k} {n}' for k, n in counts.items())}")
    if not counts:
        raise DescriptionError("assemble_frames: no goal and no t says how many frames there are; give a target of shape "
                               "(T, ...), or use cd.assemble for one")
    return next(iter(counts.values()))
