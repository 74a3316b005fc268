"""What a simulation gives back: states at its steps, and between them."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from condyle.errors import ShapeError
from condyle.state import State


@dataclass(frozen=True)
class Statistics:
    """What a run took: steps accepted and rejected, evaluations of the right-hand side."""

    steps: int = 0
    rejections: int = 0
    evaluations: int = 0


@dataclass(frozen=True, eq=False)
class Trajectory:
    """States over time. `traj[i]` is the State at step i, `traj(t)` the State at time t, interpolated.

    Between steps y is a polynomial through the states and rates at both ends (cubic Hermite: order 3), and through the middle
    where the method gives one (order 4); quaternions are normalised.

    Attributes:
        t: times of the steps [s], shape (m,).
        q, u, z: shape (m, nq), (m, nu), (m, nz).
        status: "finished", or why the run ended before: "interrupted", or what went wrong and what to try.
        statistics: see Statistics.
    """

    start: State
    t: np.ndarray
    y: np.ndarray = field(repr=False)
    rates: np.ndarray = field(repr=False)
    middle: np.ndarray | None = field(repr=False)
    status: str
    statistics: Statistics

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

    def __getitem__(self, i: int) -> State:
        return self._state(float(self.t[i]), self.y[i])

    def __call__(self, t: float) -> State:
        """The State at a time between the first and the last."""
        return self._state(float(t), self.at(t))

    def _state(self, t: float, y: np.ndarray) -> State:
        nq, nu = self.start.q.size, self.start.u.size
        return self.start.replace(t=t, q=y[:nq], u=y[nq:nq + nu], z=y[nq + nu:])

    def at(self, t: Any) -> np.ndarray:
        """q, u, z side by side at times t (...), shape (..., n)."""
        t = np.asarray(t, dtype=float)
        if not ((t >= self.t[0]) & (t <= self.t[-1])).all():
            raise ShapeError(f"t: the trajectory goes from {self.t[0]:g} to {self.t[-1]:g} s, got {t}")
        i = np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, max(len(self.t) - 2, 0))
        if len(self.t) == 1:
            return np.broadcast_to(self.y[0], t.shape + self.y.shape[1:]).copy()
        h = (self.t[i + 1] - self.t[i])[..., None]
        x = (t - self.t[i])[..., None] / h
        y0, y1, f0, f1 = self.y[i], self.y[i + 1], h * self.rates[i], h * self.rates[i + 1]
        y = y0 + x * f0 + x ** 2 * (3 * (y1 - y0) - 2 * f0 - f1) + x ** 3 * (2 * (y0 - y1) + f0 + f1)
        if self.middle is not None:
            halfway = (y0 + y1) / 2 + (f0 - f1) / 8
            y = y + 16 * (x * (1 - x)) ** 2 * (self.middle[i] - halfway)
        return self.start.system.normalised(y)
