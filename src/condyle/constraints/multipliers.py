"""Multipliers: sherman2011 (16)-(21) on expressions.

    udot0 = M^-1 f,    g0 = G udot0 - b                        accelerations without constraints, and their errors       (1)
    Y = G M^-1 G',     Y lambda = g0,    udot = udot0 - M^-1 G' lambda                                                   (2)

Y is singular where constraints are redundant. Of all lambda that solve (2) the one with the least norm is taken, without
looking for the rank: with e = 1e-12 trace(Y) and K = (Y + e)^-1,

    lambda <- K g0,  three times  lambda <- lambda + K (g0 - Y lambda)                                                   (3)
    twice  lambda <- lambda - (K e)^4 lambda                                                                             (4)

(3) converges by e / (y + e) for an eigenvalue y of Y; along the directions of redundancy it leaves rounding over e, about
1e-4, which (4) takes away: K e is 1 there and e / (y + e) elsewhere, so that it costs other directions no more than (3) leaves.
Constraints on parts of the system that share no body are solved by themselves; where nothing can move Y is zero, e = 1 and
lambda = 0.

Y is delicate where a pivot of Y + e = L D L' is small but not as small as one of redundancy:

    1.1 e_i < D_i < 3e-3 (e_i / e) trace(Y) / m                                                                          (5)

A direction nearly loses rank, as in a parallelogram that lies flat, or is redundant on the constraints but not beside them, as in
Bricard's mechanism. Its multiplier divides the error of a state that is off the constraints by a small number. Step loops
then ask at the nearest state that is on them.

A row that moves heavy parts only has a small Y_ii, however independent it is, and light parts elsewhere must not make it look
redundant. With a = |M^-1 G_i'|^2 / Y_ii, the inverse of the mass that row i moves, e of that row is

    e_i = e min(1, 1e3 a_i / max a)                                                                                      (6)

and the norm of least squares has these weights: it is the plain one while masses are within a factor of a thousand.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import casadi as ca

from condyle.constraints.rows import Rows
from condyle.dynamics.derivatives import factorisation
from condyle.tree.tree import Tree

REGULAR = 1e-12
"""e of (3) over the trace of Y."""
EVEN = 1e3
"""Of the lightest: up to this mass rows count as they are (6)."""
REFINEMENTS, POWER = 3, 4
"""Of (3) and (4)."""
SMALL = 6
"""Rows up to which (K e)^4 is made as a matrix."""
DOUBTFUL, DELICATE = 1.1, 3e-3
"""Bounds of (5)."""


def blocks(tree: Tree, G: ca.SX) -> list[list[int]]:
    """Rows of G that are coupled through the mass matrix: those whose bodies share an ancestor that moves. In order; rows without
    any speed are a block each."""
    base = {k: next(A for A in tree.path(B) if tree.speeds_of(A)) for B in tree.base_to_tip for k in tree.speeds_of(B)}
    groups: list[tuple[set[int], list[int]]] = []
    for i in range(G.shape[0]):
        mine = {base[k] for k in G[i, :].sparsity().get_triplet()[1]}
        joined = [g for g in groups if g[0] & mine]
        groups = [g for g in groups if not g[0] & mine]
        groups.append((mine.union(*(g[0] for g in joined)), sorted([i, *(r for g in joined for r in g[1])])))
    return sorted(rows for _, rows in groups)


def solver(m: int, columns: int) -> ca.Function:
    """(Y, lightness, g) -> lambda by (3) and (4), for each column of g (m, columns), and whether Y is delicate (5)."""
    Y, lightness, g = ca.SX.sym("Y", m, m), ca.SX.sym("lightness", m), ca.SX.sym("g", m, columns)
    e = ca.if_else(ca.trace(Y) > 0, REGULAR * ca.trace(Y), 1) * lightness                    # (6)
    K, D = _factored(Y, e)
    delicate = ca.sum1(ca.logic_and(DOUBTFUL * e < D, DELICATE / m * ca.trace(Y) * lightness > D)) > 0
    out, removed = [], _power(K, e) if m <= SMALL else lambda v: reduce(lambda w, _: K(e * w), range(POWER), v)
    for right in ca.horzsplit(g):
        x = K(right)
        for _ in range(REFINEMENTS):
            x = x + K(right - Y @ x)                                                         # (3)
        for _ in range(2):
            x = x - removed(x)                                                               # (4)
        out.append(x)
    return ca.Function("multipliers", [Y, lightness, g], [ca.horzcat(*out), delicate])


def _factored(Y: ca.SX, e: ca.SX) -> tuple[Callable[[ca.SX], ca.SX], ca.SX]:
    """b -> (Y + e)^-1 b, by L D L', and D, shape (m,)."""
    m = Y.shape[0]
    L: dict[tuple[int, int], ca.SX] = {}
    D: list[ca.SX] = []
    for j in range(m):
        LD = [L[j, k] * D[k] for k in range(j)]
        D.append(Y[j, j] + e[j] - sum((L[j, k] * LD[k] for k in range(j)), ca.SX(0)))
        for i in range(j + 1, m):
            L[i, j] = (Y[i, j] - sum((L[i, k] * LD[k] for k in range(j)), ca.SX(0))) / D[j]
    inverse = [1 / d for d in D]

    def solve(b: ca.SX) -> ca.SX:
        x = ca.vertsplit(b)
        for i in range(m):
            x[i] = x[i] - sum((L[i, k] * x[k] for k in range(i)), ca.SX(0))
        x = [v * d for v, d in zip(x, inverse, strict=True)]
        for i in reversed(range(m)):
            x[i] = x[i] - sum((L[k, i] * x[k] for k in range(i + 1, m)), ca.SX(0))
        return ca.vertcat(*x)

    return solve, ca.vertcat(*D)


def _power(K: Callable[[ca.SX], ca.SX], e: ca.SX) -> Callable[[ca.SX], ca.SX]:
    """v -> (K e)^4 v by the matrix, whose elements do not wait for each other as solutions do."""
    square = ca.horzcat(*(K(column) for column in ca.horzsplit(ca.diag(e))))
    for _ in range(POWER // 2):
        square = square @ square
    return lambda v: square @ v


class Blocks:
    """Y = G Z by blocks, and the solution of Y lambda = g.

    Args:
        G: (m, nu).   Z: M^-1 G', or W^-2 G', (nu, m).

    Attributes:
        lightness: e_i / e of (6), (m,).   delicate: 0/1, (5); known after a solution.
    """

    delicate: ca.SX

    def __init__(self, tree: Tree, G: ca.SX, Z: ca.SX) -> None:
        self.blocks = blocks(tree, G)
        self.Y = ca.SX(G.shape[0], G.shape[0])
        for block in self.blocks:
            for a, i in enumerate(block):
                for j in block[:a + 1]:
                    self.Y[i, j] = self.Y[j, i] = G[i, :] @ Z[:, j]                          # (2)
        self.lightness = self._lightness(Z)

    def _lightness(self, Z: ca.SX) -> ca.SX:
        """e_i / e of (6), shape (m,); 1 for rows that move nothing."""
        m = self.Y.shape[0]
        out, own = ca.SX.ones(m), [self.Y[i, i] for i in range(m)]
        a = [ca.if_else(y > 0, ca.sumsqr(Z[:, i]) / y, 0) for i, y in enumerate(own)]
        for block in self.blocks:
            most = ca.mmax(ca.vertcat(*(a[i] for i in block)))
            for i in block if len(block) > 1 else ():
                out[i] = ca.if_else(own[i] > 0, ca.fmin(1, EVEN * a[i] / most), 1)           # (6)
        return out

    def solve(self, g: ca.SX) -> ca.SX:
        """lambda with Y lambda = g, of least norm, for each column of g (m, k)."""
        out = ca.SX(*g.shape)
        self.delicate = ca.SX(0)
        solvers: dict[int, ca.Function] = {}
        for block in self.blocks:
            if len(block) not in solvers:
                solvers[len(block)] = solver(len(block), g.shape[1])
            out[block, :], delicate = solvers[len(block)].call(
                [ca.densify(self.Y[block, block]), self.lightness[block], ca.densify(g[block, :])], True, False)
            self.delicate = ca.logic_or(self.delicate, delicate)
        return out


class Multipliers(Blocks):
    """Y and M^-1 G' of one state, and what follows from them for any accelerations.

    Attributes:
        G: (m, nu).   Z: M^-1 G', (nu, m); locked speeds have zero rows.   Y: (m, m).
    """

    def __init__(self, rows: Rows, lock: ca.SX) -> None:
        self.G = G = rows.jacobian()
        self._factor, self._solve = factorisation(rows.tree, rows.kin, lock)
        columns = [self.solve_mass_matrix(G[i, :].T) for i in range(G.shape[0])]
        self.Z = ca.sparsify(ca.horzcat(ca.SX(rows.tree.nu, 0), *columns))
        super().__init__(rows.tree, G, self.Z)

    def solve_mass_matrix(self, f: ca.SX) -> ca.SX:
        """M^-1 f."""
        return self._solve.call([self._factor, ca.densify(f)], True, False)[0]

    def response(self, f: ca.SX, g: ca.SX | None = None) -> tuple[ca.SX, ca.SX]:
        """x and mu with M x + G' mu = f and G x + g = 0; g None is zero."""
        x = self.solve_mass_matrix(f)
        mu = self.solve(self.G @ x + (0 if g is None else g))
        return x - self.Z @ mu, mu


def constrained(rows: Rows, udot0: ca.SX, lock: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """udot and lambda from the accelerations without constraints (1), (2), and whether Y is delicate (5)."""
    found = Multipliers(rows, lock)
    lambda_ = found.solve(found.G @ udot0 + rows.bias())
    return udot0 - found.Z @ lambda_, lambda_, found.delicate
