"""Blocks of speeds, and kernels of steps of systems with joints: tree_step.py."""

from __future__ import annotations

import casadi as ca
import numpy as np

from condyle.contact.surfaces import tangents
from condyle.dynamics.kinematics import frame_jacobian
from condyle.integrate.stepping.sweeps import least_velocities
from condyle.model.symbols import Symbols
from condyle.records import dataclass
from condyle.system.system import System


@dataclass(frozen=True)
class Blocks:
    """Speeds of trees that hang on ground separately.

    Args:
        of: block of each speed, shape (nu,).
        place: of each speed in its block, shape (nu,).
        bodies: block of each body, and of ground, the last, shape (bodies + 1,).
    """

    of: np.ndarray
    place: np.ndarray
    bodies: np.ndarray

    @property
    def count(self) -> int:
        return int(self.of.max(initial=0)) + 1

    @property
    def n(self) -> int:
        """Speeds of the largest."""
        return int(self.place.max(initial=0)) + 1

    @staticmethod
    def made(system: System, together: list[list[int]]) -> Blocks:
        """Trees of a system; speeds of each of the lists `together` are in one."""
        nu, tree = system.nu, system.compiled.model.tree
        own = [sorted({k for A in tree.path(b.index) for k in tree.speeds_of(A)}) for b in system.bodies]
        root = list(range(nu))

        def find(i: int) -> int:
            while root[i] != i:
                i = root[i]
            return i

        for some in [*own, *together]:
            for k in some[1:]:
                root[find(k)] = find(some[0])
        names, of = np.unique([find(k) for k in range(nu)], return_inverse=True)
        place = np.array([int((of[:k] == of[k]).sum()) for k in range(nu)], dtype=int)
        return Blocks(
            of,
            place,
            np.array([*(of[some[0]] if some else len(names) for some in own), len(names)], dtype=int),
        )

    def spread(self, x: ca.SX) -> ca.SX:
        """Columns (nu, m) as rows of blocks and ground, ((count + 1) n, m)."""
        out = ca.SX((self.count + 1) * self.n, x.shape[1])
        out[(self.of * self.n + self.place).tolist(), :] = x
        return out

    def joined(self, U: ca.SX) -> ca.SX:
        return U[(self.of * self.n + self.place).tolist()]


def rows_of(column: ca.SX) -> list[int]:
    """Which numbers of a column are not zero by structure."""
    return [int(i) for i in column.sparsity().row()]


def masses(M: ca.SX, blocks: Blocks) -> ca.SX:
    """M of each block by columns; beside it the diagonal is one."""
    n, out = blocks.n, []
    for a in range(blocks.count):
        mine = np.flatnonzero(blocks.of == a).tolist()
        one = ca.SX.eye(n)
        one[: len(mine), : len(mine)] = M[mine, mine]
        out.append(ca.vec(ca.densify(one)))
    return ca.vertcat(*out)


def bodies_of(s: Symbols, system: System, blocks: Blocks) -> list[ca.SX]:
    """Poses, velocities and rows J of all bodies and ground."""
    kin, tree, n = s.kinematics(), system.compiled.model.tree, blocks.n
    view = s.view(kin)
    poses, V, rows = [], [], []
    for body, a in zip(system.bodies, blocks.bodies[:-1], strict=True):
        poses += [ca.vec(view.rotation(body.name)), view.station_position(body.name, (0, 0, 0))]
        V += [view.angular_velocity(body.name), view.station_velocity(body.name, (0, 0, 0))]
        J = ca.SX(6, n)
        if a < blocks.count:
            mine = np.flatnonzero(blocks.of == a).tolist()
            J[:, : len(mine)] = frame_jacobian(tree, kin, body.index, kin.placed[body.index].p_MB)[:, mine]
        rows.append(ca.vec(J.T))
    ground = [ca.vec(ca.SX.eye(3)), ca.SX(3, 1)]
    return [ca.vertcat(*poses, *ground), ca.vertcat(*V, ca.SX(6, 1)), ca.vertcat(*rows, ca.SX(6 * n, 1))]


def cholesky(n: int, M: ca.SX) -> ca.SX:
    """L with L L' = M."""
    M = ca.reshape(M, n, n)
    L = ca.SX(n, n)
    for j in range(n):
        L[j, j] = ca.sqrt(M[j, j] - sum(L[j, k] ** 2 for k in range(j)))
        for i in range(j + 1, n):
            L[i, j] = (M[i, j] - sum(L[i, k] * L[j, k] for k in range(j))) / L[j, j]
    return ca.vec(ca.densify(L))


def substituted(n: int, L: ca.SX, G: ca.SX) -> ca.SX:
    """M^-1 of three rows G."""
    L, out = ca.reshape(L, n, n), []
    over = [1 / L[i, i] for i in range(n)]
    for row in ca.vertsplit(G, n):
        x: list[ca.SX] = []
        for i in range(n):
            x.append((row[i] - sum(L[i, k] * x[k] for k in range(i))) * over[i])
        for i in reversed(range(n)):
            x[i] = (x[i] - sum(L[k, i] * x[k] for k in range(i + 1, n))) * over[i]
        out += x
    return ca.vertcat(*out)


def entered(
    V: ca.SX, body: ca.SX, h: ca.SX, reach: ca.SX, budget: ca.SX, stale: ca.SX
) -> tuple[ca.SX, ca.SX]:
    """A body has its reach from its origin, the room around it, and its block."""
    travel = h * (ca.norm_2(V[3:]) + ca.norm_2(V[:3]) * body[0])
    return ca.vertcat(body[1] + 2 * travel, reach[1]), ca.fmax(stale, reach[1] + 2 * travel > budget)


def spent(
    n: int, V: ca.SX, J: ca.SX, before: ca.SX, u: ca.SX, shift: ca.SX, body: ca.SX, reach: ca.SX, h: ca.SX
) -> ca.SX:
    """How far a body went since lists were made; V is not J u alone where it moves with time."""
    V = V + ca.reshape(J, n, 6).T @ (u + shift - before)
    return ca.vertcat(reach[0], reach[1] + h * (ca.norm_2(V[3:]) + ca.norm_2(V[:3]) * body[0]))


def met(
    n: int,
    ground: int,
    pair: ca.SX,
    normal: ca.SX,
    P: ca.SX,
    pose_a: ca.SX,
    pose_b: ca.SX,
    V_a: ca.SX,
    V_b: ca.SX,
    J_a: ca.SX,
    J_b: ca.SX,
    body_a: ca.SX,
    body_b: ca.SX,
) -> tuple[ca.SX, ...]:
    """Rows of a pair that is found, its velocities, restitution and friction, and its blocks."""
    D = ca.horzcat(normal, *tangents(normal)).T

    def rows(J: ca.SX, pose: ca.SX) -> ca.SX:  # (5a)
        r, J = P - pose[9:12], ca.reshape(J, n, 6).T
        return D @ (J[3:, :] - ca.skew(r) @ J[:3, :])

    at = lambda V, pose: V[3:] + ca.cross(V[:3], P - pose[9:12])
    G_a, G_b = -rows(J_a, pose_a), rows(J_b, pose_b)
    a, b = body_a[2], body_b[2]
    alone = ca.logic_or(a == b, a == ground)  # then a is the one block that moves
    flat = lambda G: ca.vec(G.T)
    return (
        flat(ca.if_else(alone, G_a + G_b, G_a)),
        flat(ca.if_else(alone, 0, G_b)),
        D @ (at(V_b, pose_b) - at(V_a, pose_a)),
        pair[2:4],
        ca.if_else(alone, b, a),
        ca.if_else(alone, ground, b),
    )


def ready(
    n: int,
    G_a: ca.SX,
    G_b: ca.SX,
    Z_a: ca.SX,
    Z_b: ca.SX,
    rate: ca.SX,
    gap: ca.SX,
    e_mu: ca.SX,
    before_a: ca.SX,
    before_b: ca.SX,
    free_a: ca.SX,
    free_b: ca.SX,
    h: ca.SX,
    soft: ca.SX,
    k: ca.SX,
    d: ca.SX,
    correction: ca.SX,
    slop: ca.SX,
    a: ca.SX,
    b: ca.SX,
    place: ca.SX,
) -> ca.SX:
    """A contact as sweeps read it."""
    square = lambda x: ca.reshape(x, n, 3).T
    v = square(G_a) @ before_a + square(G_b) @ before_b
    terms = ca.fabs(square(G_a)) @ ca.fabs(before_a) + ca.fabs(square(G_b)) @ ca.fabs(before_b)
    beside = rate - v
    beside = ca.if_else(ca.fabs(beside) > 1e-12 * (ca.fabs(rate) + terms), beside, 0)
    v_free = ca.dot(G_a[:n], free_a) + ca.dot(G_b[:n], free_b) + beside[0]
    first, hard, push, s = least_velocities(gap, rate[0], v_free, e_mu[0], h, soft, k, d, correction, slop)
    rows = [slice(n * i, n * i + n) for i in range(3)]
    W = [ca.dot(G_a[r], Z_a[r]) + ca.dot(G_b[r], Z_b[r]) for r in rows]
    w_n, w_t = 1 / ca.fmax(W[0] + s, 1e-300), 1 / ca.fmax(W[1] + W[2], 1e-300)
    first, hard, push = (ca.if_else(W[0] > 0, c, -np.inf) for c in (first, hard, push))  # cannot move
    return ca.vertcat(G_a, G_b, Z_a, Z_b, e_mu[1], w_n, w_t, first, hard, push, s, beside, a, b, place)
