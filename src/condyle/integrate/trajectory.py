"""What a simulation gives back: states at its steps, and between them."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from condyle.errors import ShapeError
from condyle.integrate.given import nth
from condyle.integrate.manifold import Manifold
from condyle.state import State
from condyle.table import Table
from condyle.tree.scales import units

DRAWN = 500
"""Times of a picture, beside those of the steps."""


@dataclass(frozen=True)
class Statistics:
    """What a run took: steps accepted and rejected, evaluations of the right-hand side and of its Jacobian, and passes of the
    projection on constraints."""

    steps: int = 0
    rejections: int = 0
    evaluations: int = 0
    jacobians: int = 0
    projections: int = 0


@dataclass(frozen=True)
class Occurrence:
    """An event that happened: its name, when [s], and the State just before its action."""

    name: str
    t: float
    before: State = field(repr=False)


@dataclass(frozen=True, eq=False)
class Rows:
    """y at the steps, and what y(t) between them needs: row i starts a piece that ends at row i + 1.

    Args:
        t, y, f: shape (m,), (m, n), (m, n).
        more: further vectors of methods.py (1) of the step that ends at a row, shape (m, k, n).
        own: `more` stands instead of Hermite's.
        cuts: steps that an event cut short, by row: length [s], y and f at the end that they would have had.
        whole: every step is here; if not, nothing is known between the rows.
    """

    t: np.ndarray
    y: np.ndarray
    f: np.ndarray
    more: np.ndarray
    own: bool
    cuts: dict[int, tuple[float, np.ndarray, np.ndarray]] = field(default_factory=dict)
    whole: bool = True

    def at(self, i: np.ndarray, t: np.ndarray) -> np.ndarray:
        """y at times t (...) in the pieces i (...)."""
        start, end, f, f_end, length = self.y[i], self.y[i + 1], self.f[i], self.f[i + 1], self.t[i + 1] - self.t[i]
        if self.cuts:
            rows = np.array(sorted(self.cuts))
            for k in np.intersect1d(i, rows):
                there = i == k
                length[there], end[there], f_end[there] = self.cuts[int(k)]
        h = length[..., None]
        x = np.divide((t - self.t[i])[..., None], h, out=np.ones_like(h), where=h > 0)
        delta = end - start
        F = [delta]
        if not self.own:
            F += [h * f - delta, 2 * delta - h * (f + f_end)]
        F += [self.more[i + 1, k] for k in range(self.more.shape[1])]
        y = np.zeros_like(delta)
        for k in reversed(range(len(F))):                   # methods.py (1)
            y = (y + F[k]) * (1 - x if k % 2 else x)
        return start + y


@dataclass(frozen=True, eq=False)
class Trajectory:
    """States over time. `traj[i]` is the State at step i, `traj(t)` the State at time t, interpolated.

    Where an event changed the state there are two rows with one time, before and after; `traj(t)` is the later.
    Between steps y is a polynomial of the order that the method gives, taken to unit quaternions, to what motions prescribe, and
    to the constraints.

    Attributes:
        t: times of the steps [s], shape (m,).
        q, u, z: shape (m, nq), (m, nu), (m, nz).
        status: "finished", or why the run ended before: "interrupted", an event, or what went wrong and what to try.
        events: what happened, in order: see Occurrence.
        statistics: see Statistics.
    """

    start: State
    rows: Rows = field(repr=False)
    status: str
    statistics: Statistics
    manifold: Manifold = field(repr=False)
    events: tuple[Occurrence, ...] = field(default=(), repr=False)
    changes: tuple[tuple[int, State], ...] = field(default=(), repr=False)

    @property
    def t(self) -> np.ndarray:
        return self.rows.t

    @property
    def y(self) -> np.ndarray:
        """q, u, z side by side, shape (m, n)."""
        return self.rows.y

    @property
    def q(self) -> np.ndarray:
        return self.y[:, :self.start.q.size]

    @property
    def u(self) -> np.ndarray:
        return self.y[:, self.start.q.size:self.start.q.size + self.start.u.size]

    @property
    def z(self) -> np.ndarray:
        return self.y[:, self.start.q.size + self.start.u.size:]

    @property
    def finished(self) -> bool:
        return self.status == "finished"

    def __len__(self) -> int:
        return len(self.t)

    def __iter__(self) -> Iterator[State]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, i: int) -> State:
        i = nth("step", i, len(self.t))
        return self._state(i, float(self.t[i]), self.y[i])

    def __call__(self, t: float) -> State:
        """The State at a time between the first and the last."""
        y = self.at(t)
        return self._state(int(np.searchsorted(self.t, t, side="right")) - 1, float(t), y)

    def _state(self, i: int, t: float, y: np.ndarray) -> State:
        """y at row i or after, with the parameters, inputs, locks that hold there."""
        nq, nu = self.start.q.size, self.start.u.size
        like = next((state for row, state in reversed(self.changes) if row <= i), self.start)
        return like.replace(t=t, q=y[:nq], u=y[nq:nq + nu], z=y[nq + nu:])

    def at(self, t: Any) -> np.ndarray:
        """q, u, z side by side at times t (...), shape (..., n)."""
        t = np.asarray(t, dtype=float)
        if not ((t >= self.t[0]) & (t <= self.t[-1])).all():
            raise ShapeError(f"t: the trajectory goes from {self.t[0]:g} to {self.t[-1]:g} s, got {t}")
        if not self.rows.whole:
            i = np.searchsorted(self.t, t)
            if not (self.t[i] == t).all():
                raise ShapeError(f"t: {t} is not among the {len(self.t)} times that were kept; simulate with keep=times, or with "
                                 "keep='steps' to ask for any")
            return self.y[i].copy()
        if len(self.t) == 1:
            return np.broadcast_to(self.y[0], t.shape + self.y.shape[1:]).copy()
        i = np.asarray(np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self.t) - 2))
        i, t, shape = i.reshape(-1), t.reshape(-1), t.shape
        y, system = self.rows.at(i, t), self.start.system
        tails = np.stack([state.tail for state in (self.start, *(state for _, state in self.changes))])
        tail = tails[np.searchsorted([row for row, _ in self.changes], i, side="right")]
        return self.manifold.nearest(system, tail, t, y).reshape(*shape, -1)

    def table(self, t: Any = None) -> Table:
        """Coordinates, speeds and state variables by name, at the steps or at times t (m,).

        A speed that has the name of its coordinate is called NAME_speed.
        """
        time = self.t if t is None else np.asarray(t, dtype=float)
        names, its_units = columns(self.start.system)
        return Table(time, names, self.y if t is None else self.at(time), its_units, status=self.status)

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        return self.table().to_pandas()

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draw variables (all, if none is named) over time, between steps too; returns matplotlib's axes."""
        between = np.union1d(self.t, np.linspace(self.t[0], self.t[-1], DRAWN)) if self.rows.whole else None
        return self.table(between).plot(*names, axes=axes)


def columns(system: Any) -> tuple[list[str], list[str]]:
    """Names and units of q, u, z side by side. A speed that has the name of its coordinate is called NAME_speed."""
    q_units, u_units = units(system.bodies)
    speeds = [f"{name}_speed" if name in system.coordinates else name for name in system.speeds]
    return [*system.coordinates, *speeds, *system.state_variables], [*q_units, *u_units, *[""] * len(system.state_variables)]
