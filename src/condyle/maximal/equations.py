"""The equations of all bodies and joints at one state, and what follows from them by linear algebra:
docs/theory/maximal.md.

    C_V V = -C_t,     S V = u                                                velocities (15), ruggiero2020 (5)
    C_V A = gamma,    S A = udot - sigma                                  accelerations (16), ruggiero2020 (5)
    M A + C_V' lambda_s + S' lambda_r = Q                                  motion (17), ruggiero2020 (16)-(18)

A is Vdot. The rows C_V are those of the joints, ruggiero2020's scleronomic constraints, then of loops and of
the System's constraints, with multipliers lambda_s; the rows S are those of the drivers, one per speed, with
multipliers lambda_r: the driving force of a speed is tau = -lambda_r.

What joints and locks leave free, and what loops and constraints leave of it: K = [C_V; S] of joints and
drivers is square and regular wherever the joints are. With the rows L of loops and constraints

    T = K^-1 [0; 1]    velocities that the joints allow: V = V_0 + T u, u of speeds that are not locked   (26)
    L T = U diag(s) W'           singular values in falling order, r of them not zero                     (27)

so that L (V_0 + T u) = b has the least-squares solution of least norm u = W_r diag(1/s_r) U_r' (b - L V_0),
and the last columns of W are motions that change nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.errors import CondyleError
from condyle.records import dataclass

RANK = 1e-8
"""Singular values of (27) below this part of the largest one are zero. They are good to some eps where L is,
and an acceleration along a singular value s is good to about eps / s^2: with less than 1e-8 nothing would be
left of it."""
DENSE = 48
"""Up to so many rows the inverse of K is quicker than its sparse factors."""


class Freedom:
    """(26) and (27) at one position; what ruggiero2020 (3) counts.

    Args:
        K: shape (nv, nv), the last rows those of the drivers.
        locked: which of these speeds are locked, shape (nu,).
        L: shape (k, nv).
        rank: r, if it is known from a neighbor; by default all singular values above RANK times the largest.

    Attributes:
        joined: K^-1 of a right-hand side.
    """

    def __init__(self, K: Array, locked: NDArray[np.bool_], L: Array, rank: int | None = None) -> None:
        self.moving, self.L, self._wanted = np.flatnonzero(~locked), L, rank
        self._drivers = len(K) - len(locked)
        try:
            if not (np.isfinite(K).all() and np.isfinite(L).all()):
                raise ValueError
            self.joined = _inverse(K)
        except (np.linalg.LinAlgError, RuntimeError, ValueError):
            raise CondyleError(
                "maximal: the equations of the joints are singular or not finite here: look "
                "at the state, and at functions in joints"
            ) from None

    @cached_property
    def T(self) -> Array:
        """(26), shape (nv, how many speeds are not locked)."""
        right = np.zeros((self.L.shape[1], len(self.moving)))
        right[self._drivers + self.moving, np.arange(len(self.moving))] = 1.0
        return self.joined(right)

    @cached_property
    def _svd(self) -> tuple[Array, Array, Array]:
        U, s, W = np.linalg.svd(self.L @ self.T)  # (27)
        return U, s, W

    @cached_property
    def rank(self) -> int:
        """r."""
        if not len(self.L) or not len(self.moving):
            return 0
        s = self._svd[1]
        return int((s > RANK * s[0]).sum()) if self._wanted is None else min(self._wanted, len(s))

    def least(self, right: Array) -> Array:
        """u of least norm with L T u = right, in least squares."""
        if not self.rank:
            return np.zeros(len(self.moving))
        (U, s, W), r = self._svd, self.rank
        return W[:r].T @ ((U[:, :r].T @ right) / s[:r])

    @cached_property
    def free(self) -> Array:
        """Columns u with L T u = 0."""
        return self._svd[2][self.rank :].T if self.rank else np.eye(len(self.moving))


def _inverse(K: Array) -> Callable[[Array], Array]:
    """K^-1 as a function. A joint's rows hold two bodies: K is sparse."""
    if len(K) <= DENSE:
        return np.linalg.inv(K).__matmul__
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import splu

    columns, rows = np.nonzero(K.T)
    starts = np.searchsorted(columns, np.arange(len(K) + 1))
    return splu(csc_matrix((K[rows, columns], rows, starts), shape=K.shape)).solve


@dataclass(frozen=True)
class Solution:
    """Accelerations and forces that satisfy (16) and (17).

    Attributes:
        A: accelerations of the maximal velocities: alpha, a of each body's origin in ground, then udot of
            massless unknowns.
        udot: accelerations of the speeds, shape (nu,).
        tau: driving forces, shape (nu,), those that hold or move locked and prescribed speeds among them:
            -lambda_r.
        lambda_s: multipliers of the joints, in the order of their equations, then of loops and constraints.
        reactions: moment and force of each mobilizer on its body at M's origin, in ground, shape (bodies, 6).
        redundant: how many equations of loops, constraints and locks follow from the others; the multipliers
            are then those of least norm.
    """

    A: Array
    udot: Array
    tau: Array
    lambda_s: Array
    reactions: Array = field(repr=False)
    redundant: int = 0

    @property
    def lambda_r(self) -> Array:
        """Multipliers of the drivers, shape (nu,)."""
        return -self.tau


@dataclass(frozen=True)
class Attachment:
    """Where one body's joint is: its rows of C_V and S, and its body's columns."""

    rows: slice
    drivers: slice
    columns: slice


@dataclass(frozen=True)
class Equations:
    """Everything explicit at one state. n bodies, m equations of joints, loops and constraints, nv = 6 n +
    speeds of massless unknowns.

    Attributes:
        t: [s].
        x: maximal coordinates: unit quaternion and position of each body in ground (7 n), then massless q.
        V: velocities: w, v of each body's origin in ground (6 n), then massless u; shape (nv,).
        q: the mobilizers' coordinates, shape (nq,).
        u: the mobilizers' speeds, shape (nu,).
        C: the equations at x, shape (m,): those of joints, zero up to the accuracy of the position analysis,
            then those of loops and constraints, zero if q satisfies them. Equations on velocities have zero
            here.
        Cdot: the equations on velocities at x and V, shape (m,).
        C_V: of Cdot = C_V V + C_t, shape (m, nv).
        C_t: of the same equation, shape (m,).
        gamma: of Cddot = C_V A - gamma; shape (m,).
        S: of u = S V, shape (nu, nv).
        sigma: of udot = S A + sigma, shape (nu,).
        D: friction of contacts that slide, shape (m, nv): forces are -(C_V + D)' lambda_s, and D is zero but
            for the normal rows of these.
        M: mass matrix, shape (nv, nv), block diagonal, with zeros for massless unknowns.
        Q: all forces but those of joints and drivers, shape (nv,): gyroscopic ones, gravity and every enabled
            law.
        f: the part of the laws that acts on speeds, shape (nu,); Q contains S' f.
        zdot: rates of the laws' states, shape (nz,).
        locked: whether each speed is locked or prescribed, shape (nu,).
        locked_udot: accelerations of those that are, zero for the others, shape (nu,).
        loops: the rows of C that close loops.
        constraints: those of each of the System's constraints, by name.
        arms: p_BM of each body in ground, shape (3 n,).
    """

    t: float
    x: Array
    V: Array
    q: Array
    u: Array
    C: Array
    Cdot: Array
    C_V: Array
    C_t: Array
    gamma: Array
    S: Array
    sigma: Array
    D: Array
    M: Array
    Q: Array
    f: Array
    zdot: Array
    locked: NDArray[np.bool_]
    locked_udot: Array
    loops: slice
    constraints: dict[str, slice]
    arms: Array = field(repr=False)
    joints: tuple[Attachment, ...] = field(repr=False)

    @property
    def K(self) -> Array:
        """Joints and drivers together, [C_V; S], square: the Jacobian of ruggiero2020 (19). Without loops."""
        return np.vstack([self.C_V[: self.loops.start], self.S])

    def accelerations(self, udot: Array) -> Array:
        """A from udot (16)."""
        return solved(
            self.K, np.concatenate([self.gamma[: self.loops.start], udot - self.sigma]), "accelerations"
        )

    def inverse(self, udot: Array) -> Solution:
        """Driving forces and multipliers from udot: ruggiero2020 (19), K' lambda = -Qc with Qc = M A - Q.
        Loops and constraints exert nothing: what they would contribute is in tau."""
        A, m = self.accelerations(udot), self.loops.start
        lambda_ = solved(self.K.T, self.Q - self.M @ A, "inverse dynamics")  # (18)
        return self._solution(A, np.concatenate([lambda_[:m], np.zeros(len(self.C) - m)]), -lambda_[m:])

    def forward(self, tau: Array) -> Solution:
        """Accelerations and multipliers under tau: (16) of the joints and (17) at once.

            [M  G'] [A     ]   [Q + S' tau]
            [G  0 ] [lambda] = [gamma   ]   G: joints, loops, constraints, and drivers of locked speeds   (19)

        All but the joints may be redundant: then A is unique and lambda is shared out, that of least norm.
        """
        locked, m = np.flatnonzero(self.locked), self.loops.start
        if self.D.any():
            return self._sliding(tau, locked)
        freedom = Freedom(self.K, self.locked, self.C_V[m:])
        A = accelerations(self, freedom, tau)
        rest = self.Q + self.S.T @ tau - self.M @ A  # (17)
        if len(self.C) > m:
            lambda_ = np.asarray(
                np.linalg.lstsq(np.vstack([self.C_V, self.S[locked]]).T, rest, rcond=RANK)[0], float
            )
            lambda_s, holding = lambda_[: len(self.C)], lambda_[len(self.C) :]
        else:
            lambda_ = solved(self.K.T, rest, "multipliers")
            lambda_s, holding = lambda_[:m], lambda_[m:][locked]
        tau = np.array(tau, dtype=float)
        tau[locked] -= holding
        return replace(self._solution(A, lambda_s, tau), redundant=int(freedom.L.any(1).sum()) - freedom.rank)

    def _sliding(self, tau: Array, locked: NDArray[np.intp]) -> Solution:
        """(19) where friction acts with normal multipliers, (C_V + D)' in place of C_V' above: all at once,
        rows and columns scaled to unit size."""
        nv, G = len(self.V), np.vstack([self.C_V, self.S[locked]])
        F = G.copy()
        F[: len(self.C)] += self.D
        matrix = np.block([[self.M, F.T], [G, np.zeros((len(G), len(G)))]])
        right = np.concatenate([self.Q + self.S.T @ tau, self.gamma, (self.locked_udot - self.sigma)[locked]])
        rows, columns = _scales(matrix)
        columns[rows >= 1e149] = 0.0  # rows that are zero: what does not hold
        x, _, rank, _ = np.linalg.lstsq(matrix * rows[:, None] * columns, rows * right, rcond=RANK)
        x = columns * x
        A, lambda_ = x[:nv], x[nv:]
        tau = np.array(tau, dtype=float)
        tau[locked] -= lambda_[len(self.C) :]
        return replace(
            self._solution(A, lambda_[: len(self.C)], tau),
            redundant=int(np.abs(matrix).any(axis=1).sum()) - int(rank),
        )

    def momentum(self) -> Array:
        """The momentum that each speed carries, shape (nu,): the drivers' part of K' p = M V (23)."""
        return solved(self.K.T, self.M @ self.V, "momentum")[self.loops.start :]

    def _solution(self, A: Array, lambda_s: Array, tau: Array) -> Solution:
        reactions = np.zeros((len(self.joints), 6))
        driving = tau + self.f
        for B, joint in enumerate(self.joints):
            F = (
                self.S[joint.drivers, joint.columns].T @ driving[joint.drivers]
                - self.C_V[joint.rows, joint.columns].T @ lambda_s[joint.rows]
            )  # (20)
            reactions[B] = *(F[:3] - np.cross(self.arms[3 * B : 3 * B + 3], F[3:])), *F[3:]
        return Solution(A, self.S @ A + self.sigma, tau, lambda_s, reactions)


def accelerations(at: Equations, freedom: Freedom, tau: Array) -> Array:
    """A of (19), shape (nv,): what joints, drivers, loops and constraints ask for, and along what they leave
    free what the forces do.

        A_0 = K^-1 [gamma; a - sigma],   A = A_0 + T udot,   a: of locked and prescribed speeds           (28)
        L T udot = gamma_L - L A_0,      free' T' (M A - Q - S' tau) = 0                                  (29)
    """
    m = at.loops.start
    A = freedom.joined(np.concatenate([at.gamma[:m], at.locked_udot - at.sigma]))  # (28)
    if len(freedom.L):
        A = A + freedom.T @ freedom.least(at.gamma[m:] - freedom.L @ A)
    allowed = freedom.T @ freedom.free
    pushed = allowed.T @ (at.Q + at.S.T @ tau - at.M @ A)  # (29)
    return A + allowed @ solved(allowed.T @ at.M @ allowed, pushed, "forward dynamics")


def _scales(matrix: Array) -> tuple[Array, Array]:
    """Factors of rows and columns that bring a matrix to unit size."""
    rows = 1 / np.sqrt(np.maximum(np.abs(matrix).max(1), 1e-300))
    return rows, 1 / np.maximum(np.abs(matrix * rows[:, None]).max(0), 1e-300)


def solved(matrix: Array, right: Array, what: str) -> Array:
    """matrix^-1 right: rows and columns scaled to unit size, one step of refinement; refuses a singular
    matrix."""
    if not len(right):
        return np.zeros(0)
    rows, columns = _scales(matrix)
    scaled = matrix * rows[:, None] * columns
    try:
        inverse = np.linalg.inv(scaled)
    except np.linalg.LinAlgError:
        inverse = np.full_like(scaled, np.inf)
    size = np.abs(inverse).max() * np.abs(scaled).max()
    if not size < 1 / np.finfo(float).eps:
        raise CondyleError(
            f"maximal: {what}: the equations are singular here (condition {size:.1g}): a "
            "mobilizer has lost a direction of motion, a moving body has no inertia, or the "
            "state is not finite"
        )
    solution = columns * (inverse @ (rows * right))
    return solution + columns * (inverse @ (rows * (right - matrix @ solution)))
