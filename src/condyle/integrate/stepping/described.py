"""A run of a system whose constraints act one way, step by step: docs/theory/stepping.md."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from condyle.integrate.stepping.rows import Contacts, Described, carried
from condyle.integrate.stepping.sweeps import Sweeps
from condyle.system.state import State

if TYPE_CHECKING:
    from condyle.integrate.stepping.method import TimeStepping

REPORTS = 64
"""A progress bar is told after so many steps."""


class DescribedRun:
    """The run; equations are those of method.py.

    Args:
        start: where it starts.
        method: whose numbers it takes.
    """

    def __init__(self, start: State, method: TimeStepping) -> None:
        self.start, self.method, self.system = start, method, start.system
        self.source = Described(start)
        self.solve = Sweeps(self.source.n)
        self.tail, self.where = np.array(start.tail), self.system.compiled.model.tail
        self.impulses, self.keys = np.empty((0, 3)), np.empty(0, int)
        self.steps = self.sweeps = 0
        self.rows: list[tuple[Any, ...]] = [(start.t, *(np.array(x) for x in (start.q, start.u, start.z)))]

    @property
    def rebounds(self) -> bool:
        """Whether something has a restitution."""
        return self.source.rebounds(self.start)

    def go(self, t_final: float, step: float, count: int, report: Callable[[float], object] | None,
           started: Callable[[float], object]) -> bool:
        """As FreeBodies.go."""
        t, q, u, z = self.rows[0]
        gap = self.source.see(q, u, step, self.tail).gap
        started(float(gap.min(initial=np.inf)))
        for k in range(count):
            now = t + k * step
            later = t_final if k + 1 == count else t + (k + 1) * step
            q, u, z = self._step(now, later - now, q, u, z)
            self.steps += 1
            if not all(np.isfinite(x).all() for x in (q, u, z)):
                return False
            if (k + 1) % int(self.method.every) == 0 or k + 1 == count:
                self.rows.append((later, q, u, z))
            if report is not None and k % REPORTS == 0:
                report((k + 1) / count)
        return True

    def kept(self) -> tuple[np.ndarray, np.ndarray]:
        """Times and rows y of the steps until now."""
        return np.array([row[0] for row in self.rows]), np.array([np.concatenate(r[1:]) for r in self.rows])

    def _step(self, t: float, h: float, q: np.ndarray, u: np.ndarray, z: np.ndarray
              ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        compiled, source, tail = self.system.compiled, self.source, self.tail
        tail[self.where["t"]], tail[self.where["z"]] = t, z
        free = u + h * compiled.function("forward_dynamics").fast(q, u, compiled.no_tau, tail)  # (6)
        if len(z):
            z = z + h * compiled.function("zdot").fast(q, u, tail)
        if not np.isfinite(free).all():
            return q, free, z
        free = source.kept(q, free, tail)
        seen = source.see(q, u, h, tail)
        U = source.spread(free)
        shift = np.zeros_like(U)
        if len(seen.gap):
            U, shift = self._contacts(seen, source.spread(u), U, h)
        u = source.joined(U)
        q = q + h * compiled.function("qdot").fast(q, source.joined(U + shift), tail)        # (9)
        tail[self.where["t"]] = t + h
        q, u = source.brought(q, u, tail)
        return q, u, z

    def _contacts(self, seen: Contacts, before: np.ndarray, free: np.ndarray, h: float
                  ) -> tuple[np.ndarray, np.ndarray]:
        """u+ of (7) and s of (10)."""
        m, solve = self.method, self.solve
        if m.stiffness is not None:
            return self._soft(seen, free, h, float(m.stiffness)), np.zeros_like(free)
        rows = solve.rows(seen.G, seen.Z, seen.blocks, seen.mu, 0.0)
        v, v_free = (np.einsum("main,man->m", seen.G[:, :, :1], x[seen.blocks]) for x in (before, free))
        c = np.where(seen.gap > 0, -seen.gap / h, 0.0)                                       # (8)
        back = np.where((seen.gap + h * v <= 0) & (seen.e * v < 0),
                        np.minimum(v_free - v, 0.0) - seen.e * v, -np.inf)
        U, p = self._warm(seen, free)
        self.sweeps += solve(rows, np.maximum(c, back), U, p, m.tolerance, m.sweeps)[1]
        if self.source.energy(U) > (T := self.source.energy(free)):
            plastic, p_0 = free.copy(), np.zeros_like(p)
            self.sweeps += solve(rows, c, plastic, p_0, m.tolerance, m.sweeps)[1]
            U = self._within(plastic, U, T)
        self.keys, self.impulses = seen.key, p
        shift = np.zeros_like(U)
        deep = np.maximum(-seen.gap - m.slop, 0.0)
        if m.correction and deep.any():                                                      # (10)
            back = np.where(deep > 0, m.correction * deep / h, c)
            self.sweeps += solve(solve.without_friction(rows), back, shift, np.zeros_like(p), m.tolerance,
                               m.sweeps)[1]
        return U, shift

    def _soft(self, seen: Contacts, free: np.ndarray, h: float, k: float) -> np.ndarray:
        """u+ of (12)."""
        m, solve = self.method, self.solve
        s = 1 / (h * h * k + h * m.damping)
        U, p = self._warm(seen, free)
        c = -seen.gap * np.where(seen.gap > 0, 1 / h, s * h * k)
        self.sweeps += solve(solve.rows(seen.G, seen.Z, seen.blocks, seen.mu, s), c, U, p, m.tolerance,
                           m.sweeps)[1]
        self.keys, self.impulses = seen.key, p
        return U

    def _warm(self, seen: Contacts, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Speeds with the impulses of the last step for contacts that there were, and these."""
        p, U = carried(self.keys, self.impulses, seen.key), free.copy()
        np.add.at(U, seen.blocks, np.einsum("main,mi->man", seen.Z, p))
        return U, p

    def _within(self, low: np.ndarray, high: np.ndarray, most: float) -> np.ndarray:
        """(11)."""
        T = lambda x: self.source.energy(low + x * (high - low))
        T_0, T_1 = T(0.0), T(1.0)
        a = 2 * (T_1 + T_0 - 2 * T(0.5))                     # T(x) = T_0 + b x + a x^2
        b = T_1 - T_0 - a
        x = (-b + np.sqrt(max(b * b - 4 * a * (T_0 - most), 0.0))) / (2 * a) if a > 0 else 0.0
        return np.asarray(low + np.clip(x, 0.0, 1.0) * (high - low))
