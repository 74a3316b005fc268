"""What a step needs of contacts: rows G, what unit impulses do (Z), gaps and numbers, blocks of speeds. Two
sources: surfaces of a crowd on free bodies, or the constraints of a system that act one way.

For a free body with the spatial inertia M_B in ground, a contact at P with directions d = n, t_1, t_2 has

    G = +-[(P - p_B) x d,  d],     Z = G M_B^-1                                                            (5)
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from condyle.constraints.solve.projection import project
from condyle.errors import DescriptionError
from condyle.integrate.rigid.numbers import in_few
from condyle.integrate.stepping.boxes import POINTS
from condyle.integrate.stepping.crowd import Crowd
from condyle.mobilizers import Free, Translation
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


class FreeBodies:
    """Surfaces among each other, on bodies that are free or only translate, each a block of six speeds."""

    n = 6

    def __init__(self, start: State, surfaces: Iterable[Any]) -> None:
        system = start.system
        for body in system.bodies:
            plain = (np.array_equal(X.R, np.eye(3)) and not np.any(X.p) for X in (body.X_PF, body.X_BM))
            kind = type(body.mobilizer)
            if (kind not in (Free, Translation) or body.parent is None or not body.parent.is_ground
                    or not all(plain) or body.q.stop - body.q.start not in (3, 7)):
                raise DescriptionError(f"TimeStepping: among: body {body.name!r} is on {body.mobilizer!r}; "
                                       "all bodies need cd.Free() or cd.Translation() on ground, at their "
                                       "origins. Contacts of other systems are system.add_contact(...)")
        if system.constraints:
            raise DescriptionError(f"TimeStepping: among: the system has the constraint "
                                   f"{system.constraints[0]!r}; with constraints contacts are "
                                   "system.add_contact(...)")
        self.system, self.crowd = system, Crowd(system, surfaces)
        count = len(system.bodies)
        self.blocks = count + 1                              # ground is the last, which does not move
        turns = np.array([body.u.stop - body.u.start == 6 for body in system.bodies])
        place = np.full((count, 6), -1)
        for b in system.bodies:
            place[b.index, 6 - (b.u.stop - b.u.start):] = np.arange(b.u.start, b.u.stop)
        self.where = place >= 0
        self.place = place[self.where]
        self.at = np.array([b.q.stop - 3 for b in system.bodies])[:, None] + np.arange(3)
        first = [b.q.start for b in system.bodies if turns[b.index]]
        self.turn = np.array(first, dtype=int)[:, None] + np.arange(4)
        self.turns = np.flatnonzero(turns)
        values = dict(zip(system.parameters, start.parameters, strict=True))
        mass = [b.mass_properties_at(values) for b in system.bodies]
        self.mass = np.array([m.mass for m in mass])
        self.com = np.array([np.ravel(m.com) for m in mass]).reshape(-1, 3)
        self.inertia = np.array([m.inertia for m in mass]).reshape(-1, 3, 3)
        if (bad := np.flatnonzero(self.mass <= 0)).size:
            raise DescriptionError(f"TimeStepping: body {system.bodies[bad[0]].name!r} has no mass")
        ball = np.einsum("bii->b", self.inertia) / 3
        round_ = np.allclose(self.inertia, ball[:, None, None] * np.eye(3), rtol=1e-12, atol=0.0)
        self.alike = round_ and not self.com.any()
        self.M = self._inertias(np.tile(np.eye(3), (count, 1, 1)))
        self.inverse = self._inverse(self.M)
        size, self.far = np.zeros(count), np.zeros(count + 1)
        some = self.crowd.body[:self.crowd.balls]
        np.maximum.at(size, some[some >= 0], self.crowd.radius[some >= 0])
        np.maximum.at(self.far, some, np.linalg.norm(self.crowd.centre, axis=1))
        for box, half, p in zip(self.crowd.boxes, self.crowd.core + self.crowd.edge[:, None],
                                self.crowd.p_BS, strict=True):
            if box.body != "ground":
                at = system.body(box.body).index
                size[at] = max(size[at], float(half.min()))
                self.far[at] = max(self.far[at], float(np.linalg.norm(p) + np.linalg.norm(half)))
        self.room = np.append(ROOM * size, 0.0)

    def spread(self, u: np.ndarray) -> np.ndarray:
        """Speeds (nu,) as blocks (blocks, 6), angular ones first."""
        out = np.zeros((self.blocks, 6))
        out[:-1][self.where] = u[self.place]
        return out

    def joined(self, U: np.ndarray) -> np.ndarray:
        """Blocks as speeds."""
        u = np.empty(len(self.place))
        u[self.place] = U[:-1][self.where]
        return u

    def brought(self, q: np.ndarray, u: np.ndarray, tail: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """With quaternions of unit length."""
        turn = q[self.turn]
        q[self.turn] = turn / np.sqrt(np.einsum("bi,bi->b", turn, turn))[:, None]
        return q, u

    def kept(self, q: np.ndarray, u: np.ndarray, tail: np.ndarray) -> np.ndarray:
        """Speeds that constraints allow: all."""
        return u

    def rebounds(self, start: State) -> bool:
        """Whether some surface has a restitution."""
        return bool(self.crowd.e.any())

    def see(self, q: np.ndarray, u: np.ndarray, h: float, tail: np.ndarray) -> Contacts:
        """What may touch in a step of length h."""
        R, p, U = self._poses(q), np.append(q[self.at], np.zeros((1, 3)), axis=0), self.spread(u)
        if not self.alike:                                   # else they do not change as bodies turn
            self.M = self._inertias(R[:-1])
            self.inverse = self._inverse(self.M)
        w, v = (np.sqrt(np.einsum("bi,bi->b", x, x)) for x in (U[:, :3], U[:, 3:]))
        travel = h * (v + w * self.far)                      # ends of long boxes move as they turn
        near = self.crowd.near(R, p, self.room + 2 * travel)
        t_1, t_2 = _across(near.n)
        d = np.stack([near.n, t_1, t_2], axis=1)[:, None]                                    # (m, 1, 3, 3)
        arm = near.P[:, None] - p[near.bodies]
        G = np.concatenate([np.cross(arm[:, :, None], d), np.broadcast_to(d, (*arm.shape[:2], 3, 3))], axis=3)
        G *= np.where(near.bodies < 0, 0.0, [-1.0, 1.0])[..., None, None]                    # (5)
        Z = G @ self.inverse[near.bodies]
        i, j = near.pair.T
        mean = lambda x: _mean(x[i], x[j])
        return Contacts(near.gap, G, Z, near.bodies % self.blocks, mean(self.crowd.e), mean(self.crowd.mu),
                        (i * len(self.crowd.body) + j) * POINTS + near.point)

    def energy(self, U: np.ndarray) -> float:
        """Kinetic energy of blocks [J], where `see` was."""
        return 0.5 * float(np.einsum("bi,bij,bj->", U[:-1], self.M, U[:-1]))

    def _poses(self, q: np.ndarray) -> np.ndarray:
        """R_GB of all bodies and of ground."""
        R = np.tile(np.eye(3), (self.blocks, 1, 1))
        w, x, y, z = q[self.turn].T
        R[self.turns] = np.moveaxis(np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]), 2, 0)
        return R

    def _inertias(self, R: np.ndarray) -> np.ndarray:
        """M_B about the bodies' origins in ground, shape (bodies, 6, 6)."""
        c = np.einsum("bij,bj->bi", R, self.com)
        C = np.zeros((len(c), 3, 3))
        C[:, 0, 1], C[:, 0, 2], C[:, 1, 2] = -c[:, 2], c[:, 1], -c[:, 0]
        C -= np.swapaxes(C, 1, 2)
        m = self.mass[:, None, None]
        M = np.zeros((len(c), 6, 6))
        M[:, :3, :3] = R @ self.inertia @ np.swapaxes(R, 1, 2) - m * C @ C
        M[:, :3, 3:], M[:, 3:, :3], M[:, 3:, 3:] = m * C, -m * C, m * np.eye(3)
        return M

    def _inverse(self, M: np.ndarray) -> np.ndarray:
        """M_B^-1, zero for what does not move, and for ground."""
        out = np.zeros((self.blocks, 6, 6))
        out[self.turns] = np.linalg.inv(M[self.turns])
        stays = np.setdiff1d(np.arange(len(M)), self.turns)
        out[stays[:, None, None], np.arange(3, 6)[:, None], np.arange(3, 6)] = (
            np.eye(3) / self.mass[stays, None, None])
        return out


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


def _mean(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """docs/theory/rigid_contact.md (1)."""
    both = x + y
    return np.divide(2 * x * y, both, out=np.zeros_like(both), where=both > 0)


def _across(n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors across each normal (m, 3): contact/surfaces.py, tangents."""
    x, y, z = n.T
    s = np.where(z < 0, -1.0, 1.0)
    k = -1 / (s + z)
    return (np.stack([1 + s * x * x * k, s * x * y * k, -s * x], axis=1),
            np.stack([x * y * k, s + y * y * k, -y], axis=1))
