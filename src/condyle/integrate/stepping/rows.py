"""What a step needs of the constraints of a system that act one way: rows G, what unit impulses do (Z), gaps
and numbers."""
from __future__ import annotations

import numpy as np

from condyle.constraints.solve.projection import project
from condyle.integrate.rigid.numbers import in_few
from condyle.records import dataclass
from condyle.system.state import State
from condyle.system.system import System

ROOM = 0.01
"""Share of a radius within which surfaces count as near, beside what they may travel in a step."""
KEPT = 1e-10
"""How far other constraints are off after a step: of the system's length, and per second."""


@dataclass
class Contacts:
    """Contacts of a step, m of them; see sweeps.py.

    Attributes:
        gap: [m, rad], shape (m,).
        G: rows, shape (m, 2, 3, n).
        Z: what impulses do, shape (m, 2, 3, n).
        blocks: of a and b, shape (m, 2).
        e: restitution, shape (m,).
        mu: friction, shape (m,).
        key: whose they are, whole numbers that stay the same, shape (m,).
    """

    gap: np.ndarray
    G: np.ndarray
    Z: np.ndarray
    blocks: np.ndarray
    e: np.ndarray
    mu: np.ndarray
    key: np.ndarray


class Described:
    """The constraints of a system that act one way: contacts, stops, ropes. All speeds are one block."""

    blocks = 2                                               # the second is ground

    def __init__(self, start: State) -> None:
        system = start.system
        self.system, self.n = system, system.nu
        self.others = any(name not in system.unilateral and name not in start.disabled
                          for name in system.constraints)
        compiled = system.compiled
        acting = np.array([name not in start.disabled for name in system.unilateral], dtype=bool)
        self.acting = acting
        self.rows = lambda q, u, tail: compiled.shaped("unilateral_rows",
                                                       compiled.function("unilateral_rows")(q, u, tail))
        self.length = compiled.length
        self.weights = np.maximum(compiled.weights[system.nq:system.nq + system.nu], 1e-6)

    def spread(self, u: np.ndarray) -> np.ndarray:
        return np.stack([u, np.zeros_like(u)])

    def joined(self, U: np.ndarray) -> np.ndarray:
        return U[0].copy()

    def brought(self, q: np.ndarray, u: np.ndarray, tail: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """On all other constraints, with quaternions of unit length."""
        compiled = self.system.compiled
        if not self.others:
            return compiled.normalised(q), u
        size = max(1.0, self.length)
        q, u = project(compiled.projection(tail[None], self.weights), q[None].copy(), u[None].copy(),
                       KEPT * size, KEPT * size * max(1.0, float(np.abs(u).max(initial=0.0))))
        return q[0], u[0]

    def kept(self, q: np.ndarray, u: np.ndarray, tail: np.ndarray) -> np.ndarray:
        """Speeds that all other constraints allow: those nearest in kinetic energy."""
        if not self.others:
            return u
        problem = self.system.compiled.projection(tail[None], self.weights)
        return np.asarray(u + problem.slower(q[None], u[None])[0])

    def rebounds(self, start: State) -> bool:
        return bool(np.any(self.rows(start.q, start.u, start.tail)[5][self.acting]))

    def see(self, q: np.ndarray, u: np.ndarray, h: float, tail: np.ndarray) -> Contacts:
        gap, rate, _, G, _, e, mu = self.rows(q, u, tail)
        keep = np.flatnonzero(self.acting & (gap <= ROOM * self.length + 2 * h * np.abs(rate)))
        compiled = self.system.compiled
        self.M = np.asarray(compiled.function("mass_matrix")(q, tail)).reshape(self.n, self.n)
        G = G[keep]
        f, m = G.reshape(-1, self.n), 3 * len(keep)
        if self.others and m:
            rows = (np.tile(x, (m, 1)) for x in (q, self.kept(q, u, tail)))
            Z = in_few(compiled.function("impulses"), *rows, f, np.tile(tail, (m, 1)))[0].reshape(G.shape)
        else:
            Z = np.linalg.solve(self.M, f.T).T.reshape(G.shape)
        two = lambda x: np.stack([x, np.zeros_like(x)], axis=1)
        blocks = np.tile([0, 1], (len(keep), 1))
        return Contacts(gap[keep], two(G), two(Z), blocks, e[keep], mu[keep], keep)

    def energy(self, U: np.ndarray) -> float:
        return 0.5 * float(U[0] @ self.M @ U[0])


def open_state(state: State) -> State:
    """With every constraint that acts one way open: this method asks for all of them in each step."""
    system: System = state.system
    flags = {flag: 0.0 for name in system.unilateral
             for flag in [*system.compiled.model.unilateral[name].flags(name).values()]
             if flag in system.discrete}
    return state.replace(discrete={**dict(zip(system.discrete, state.discrete, strict=True)), **flags}
                         ) if flags else state


def carried(keys: np.ndarray, impulses: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Impulses (m, 3) of the contacts `now` (m,): those that they had under `keys`, and zero for new ones."""
    out = np.zeros((len(now), 3))
    if len(keys):
        order = np.argsort(keys)
        at = np.minimum(np.searchsorted(keys[order], now), len(order) - 1)
        same = keys[order][at] == now
        out[same] = impulses[order[at[same]]]
    return out
