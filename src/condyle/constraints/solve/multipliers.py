"""Multipliers: sherman2011 (16)-(21) on expressions.

    udot0 = M^-1 f,    g0 = G udot0 - b          accelerations without constraints, and their errors       (1)
    Y = G M^-1 G',     Y lambda = g0,    udot = udot0 - M^-1 G' lambda                                     (2)

Y is singular where constraints are redundant. Of all lambda that solve (2) the one with the least sum of Y_ii
lambda_i^2 is taken, without looking for the rank: with e_i = 1e-12 m Y_ii, E = diag(e) and K = (Y + E)^-1,

    lambda <- K g0,  twice  lambda <- lambda + K (g0 - Y lambda)                                           (3)
    twice  lambda <- lambda - (K E)^4 lambda                                                               (4)
    udot <- udot0 - M^-1 G' lambda,    r = G udot - b,    udot <- udot - M^-1 G' (1 - (K E)^4) K r         (5)

Each row has its own unit and moves its own mass, so that all of this is as if every row were divided by the
root of Y_ii: then the diagonal of Y is one, no choice of units and no light part elsewhere makes a row look
redundant, and no other scaling of rows makes Y much better to solve (van der Sluis). With y an eigenvalue of
that matrix and e = 1e-12 m, (3) converges by e / (y + e); along the directions of redundancy it leaves
rounding over e, about 1e-4, which (4) takes away: K E is 1 there and e / (y + e) elsewhere, so that it costs
other directions no more than (3) leaves. (5) is one more step of (3) with errors that G itself
gives: light parts have accelerations that are small differences of large terms.

Constraints on parts of the system that share no body are solved by themselves. A row whose part of G that can
move is at most 1e-6 of its block's length has no direction: e_i is no less than the trace of Y or 1 then, and
lambda_i = 0. All its speeds are held, or the mechanism is at a place like that of a parallelogram that lies
flat: a position error of a rounding, 1e-16, is
1e-16 / |G_i| of a turn there and turns the row itself by 1e-16 / |G_i|^2. A row with |G_i| of at most 1e-13
has no direction whatever its block is: a rod from the center of a ball to a point that turns about that center
keeps its length by itself, and all of its row is rounding.                                                (6)

Y is delicate where a pivot of Y + E = L D L' is small but not as small as one of redundancy, or its row is
short:

    1.1 e_i < D_i,     (D_i / Y_ii) |G_i|^2 < 3e-3 mean |G_j|^2                                            (7)

A direction nearly loses rank, as in a parallelogram that lies flat, or is redundant on the constraints but
not beside them, as in Bricard's mechanism. Its multiplier divides the error of a state that is off the
constraints by a small number. Step loops then ask at the nearest state that is on them.

Constraints are unmet where r = G udot - b at the end is not small: they contradict each other, locks or
motions, or are independent by less than 1e-6 (y < 1e-12). The status is set where for any row

    not |r_i| <= 1e-4 (sum_j |G_ij udot_j| + |b_i|) + 1e-12 |G_B| sum_j (|udot0_j| + u_j^2)                (8)

with G_B all rows of its block (1e-3 where none has a direction), udot before its last correction (5) and r after it: the first term is what
accelerations are to be right to, the second is rounding where they should be zero: 1e-9 in blocks in which a
contact that can rub is closed, since complementarity.py says to that who sticks. In runs it is 1e-2 in
place of 1e-12 for a row that has no direction by itself, whatever is held: speeds that are on the constraints
elsewhere are that uncertain there, and the run passes the place in a microsecond. A state beside the
constraints, where these are redundant, leaves about its relative distance from them, and no more than 1e-6 if
they are redundant on themselves only. What is not a number is unmet too.

With friction of contacts that slide forces are (G + S)' lambda, docs/theory/rigid_contact.md (6): Y = G M^-1
(G + S)' is not symmetric, and L U takes the place of L D L'. All else is the same: what (4) takes away are
still the directions in which G' is redundant.

ConstraintBlocks of few rows are solved in straight lines (straight_blocks.py), others in loops (looped_blocks.py): at 24 rows a straight
line has 30,000 operations, in each of the programs of a run. Loops know no derivatives; those of what they
give are those of the solution of (2), the first alone:

    d lambda = Y^+ (d g0 - dY lambda),   d udot = d udot0 - d(M^-1 G') lambda - M^-1 G' d lambda           (9)

What that leaves out of redundant multipliers, that they keep the least norm, moves nothing, but where
contacts slide: how redundant ones share their load is how they share their friction. With the vectors n of Y
n = 0 and l of l' Y = 0, and W the diagonal of Y, (4) is l' W lambda = 0. Its derivative adds to d lambda

    (1 - Y^+ Y) W^-1 (dY Y^+ W - dW) lambda                                                               (10)

which straight lines have by themselves. Without it derivatives of accelerations while more contacts slide
than their load needs (four points of a body, not three) are 1 or 2 % of the largest one off, and runs of
Rosenbrock's methods need fifty times the steps. `system.jacobian` and its like differentiate (2) by another
way, without (10), and refuse these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any

import casadi as ca

from condyle.arrays import SX, vertcat
from condyle.constraints.solve.equations import ConstraintEquations
from condyle.constraints.solve.looped_blocks import Inverse, Last, Least, Meet, SolverRows, columns_of, filled
from condyle.constraints.solve.straight_blocks import moves_nothing, rules, solver
from condyle.constraints.unilateral.base import Unilateral
from condyle.dynamics.mass_matrix import factorization, mass_matrix
from condyle.native.tables.lookup import look_up, stop_gradient
from condyle.records import dataclass
from condyle.tree.tree import Tree

LINES = 12
"""Rows of a block up to which it is solved in a straight line; beyond that in loops (looped_blocks.py)."""
UNMET, ROUNDING, RUBBING, SHORT = 1e-4, 1e-12, 1e-9, 1e-2
"""Of (8); the third where contacts rub, the last in runs."""
LEVER = 1e-3
"""In place of |G_B| in (8) where all of G_B is rounding [m]: b, a sum of terms that cancel, is rounding too."""


def blocks(tree: Tree, speeds: Sequence[Iterable[int]]) -> list[list[int]]:
    """Rows that are coupled through the mass matrix: those whose bodies share an ancestor that moves. In
    order; rows without any speed are a block each. speeds: on which each row depends."""
    base = _bases(tree)
    groups: list[tuple[set[int], list[int]]] = []
    for i, each in enumerate(speeds):
        mine = {base[k] for k in each}
        joined = [g for g in groups if g[0] & mine]
        groups = [g for g in groups if not g[0] & mine]
        groups.append((mine.union(*(g[0] for g in joined)), sorted([i, *(r for g in joined for r in g[1])])))
    return sorted(rows for _, rows in groups)


def _bases(tree: Tree) -> dict[int, int]:
    """By speed, the first speed among all that it is coupled with."""
    base = list(range(tree.nu))
    for B in tree.base_to_tip:
        moving = [k for A in tree.path(B) for k in tree.speeds_of(A)]
        if met := {base[k] for k in moving}:
            first = min(met)
            base = [first if x in met else x for x in base]
    return dict(enumerate(base))


class Pseudoinverse:
    """Lambda of least norm with Y lambda = g, block by block (3), (4): small ones in straight lines, large
    ones in loops.

    Args:
        blocks: rows that are coupled.
        Y: G M^-1 G', or G W^-2 G', (m, m).
        lengths: |G_i|^2 of what can move, (m,).
        factors: what Y is factored into, one vector per block in straight lines, if that is known.
        symmetric: whether Y is.
        longest: rows of a block in straight lines.

    Attributes:
        delicate: 0/1, (7); of blocks in loops once they are solved.
    """

    def __init__(
        self,
        blocks: Sequence[list[int]],
        Y: SX,
        lengths: SX,
        factors: Sequence[SX] | None = None,
        symmetric: bool = True,
        longest: float | None = None,
    ) -> None:
        self.blocks, self.Y, self.lengths, self.delicate = blocks, Y, lengths, ca.SX(0)
        longest = LINES if longest is None else longest
        self._lines, self._loops = (
            [block for block in blocks if (len(block) <= longest) == short] for short in (True, False)
        )
        self._solvers = {m: solver(m, symmetric) for m in {len(block) for block in self._lines}}
        self.factors = list(factors or ())
        for block in self._lines if factors is None else ():
            given = self._own(block), ca.densify(lengths[block])
            made, delicate = self._solvers[len(block)].factor.call(list(given), True, False)
            self.factors.append(made)
            self._doubt(delicate)

    @property
    def loops(self) -> bool:
        """Whether some blocks are solved in loops."""
        return bool(self._loops)

    def _own(self, block: list[int]) -> SX:
        return ca.densify(self.Y[block, block])

    def _doubt(self, delicate: SX) -> None:
        self.delicate = ca.logic_or(self.delicate, delicate)

    def scaled(self) -> SX:
        """Y with a unit diagonal; rows that move nothing (6) are zero."""
        scale = ca.SX(self.Y.shape[0], 1)
        for block in self.blocks:
            lengths, own = self.lengths[block], ca.diag(self.Y)[block]
            scale[block] = ca.if_else(moves_nothing(lengths), 0, 1 / ca.sqrt(own))
        return ca.diag(scale) @ self.Y @ ca.diag(scale)

    def solve(self, g: SX) -> SX:
        """Lambda for columns g (m, ...)."""
        out = self._solve_lines(g)
        for block in self._loops:
            row = self._row(Least, block, g)
            out[block, :] = columns_of(row[:-1], len(block), g.shape[1])
            self._doubt(row[-1])
        return out

    def last(self, r: SX) -> tuple[SX, SX]:
        """What the last correction (5) adds to lambda, for what is left of g, columns (m, ...); and what is
        left then."""
        out, left = self._last_lines(r)
        for block in self._loops:
            row = self._row(Last, block, r)
            out[block, :], left[block, :] = (
                columns_of(x, len(block), r.shape[1]) for x in ca.vertsplit(row, row.numel() // 2)
            )
        return out, left

    def _solve_lines(self, g: SX) -> SX:
        least = lambda block, factors, g: self._solvers[len(block)].least.call(
            [self._own(block), factors, g], True, False
        )[0]
        return self._each_line(least, g)

    def _last_lines(self, r: SX) -> tuple[SX, SX]:
        last = lambda block, factors, r: self._solvers[len(block)].last.call([factors, r], True, False)[0]
        out = self._each_line(last, r)
        return out, r - self.Y @ out

    def _each_line(self, solve: Callable[[list[int], SX, SX], Any], g: SX) -> SX:
        """solve(block, its factors, column) for the columns g (m, ...) of each block in straight lines."""
        out = ca.SX(*g.shape)
        for block, factors in zip(self._lines, self.factors, strict=True):
            columns = map(ca.densify, ca.horzsplit(g[block, :]))
            out[block, :] = ca.horzcat(*(solve(block, factors, column) for column in columns))
        return out

    def _row(self, kind: type[SolverRows], block: list[int], g: SX) -> SX:
        origin = kind(len(block), g.shape[1], rules(len(block)))
        return look_up(origin, ca.vertcat(*map(filled, (self._own(block), self.lengths[block], g[block, :]))))

    def unmet(
        self,
        r: SX,
        size: SX,
        whole: SX,
        terms: SX,
        short: float = ROUNDING,
        rubbing: Iterable[int] = (),
    ) -> SX:
        """Whether a row is unmet (8): 0/1.

        Args:
            r: what is left, (m,).
            size: the sums of the first brackets of (8), (m,).
            whole: |G_i|^2 with what is held, (m,).
            terms: the last sum of (8).
            short: its factor for rows without a direction, if that is more than the one for others.
            rubbing: rows of contacts that rub; their blocks are rounded to RUBBING while one of these acts.
        """
        fine, rough = [], {*rubbing}
        for block in self.blocks:
            still = moves_nothing(whole[block])
            length = ca.if_else(ca.sum1(still) < len(block), ca.sqrt(ca.sum1(whole[block])), LEVER) * terms
            mine = sorted(rough & {*block})
            rounding = ca.if_else(ca.sum1(whole[mine]) > 0, RUBBING, ROUNDING) if mine else ca.SX(ROUNDING)
            share = ca.if_else(still, ca.fmax(short, rounding), rounding)
            fine += [ca.fabs(r[i]) <= UNMET * size[i] + share[k] * length for k, i in enumerate(block)]
        return ca.sum1(vertcat(fine)) < len(fine)


class ConstraintBlocks(Pseudoinverse):
    """Y = G Z by blocks, and what follows from it.

    Args:
        rows: whose they are.
        G: (m, nu).
        Z: M^-1 G', or W^-2 G', (nu, m).
        lock: 0, or infinity where a speed is held.
        derived: whether results of `meet` may be differentiated.
    """

    def __init__(
        self,
        rows: ConstraintEquations,
        G: SX,
        Z: SX,
        lock: SX,
        symmetric: bool = True,
        derived: bool = False,
    ) -> None:
        self.G, self.Z, self.symmetric, self.derived = G, Z, symmetric, derived
        coupled = blocks(rows.tree, [G[i, :].sparsity().get_triplet()[1] for i in range(G.shape[0])])
        longest = G.shape[0] if rows.view.straight else LINES
        Y, free = ca.SX(G.shape[0], G.shape[0]), lock == 0
        for block in coupled:
            if len(block) <= longest:
                self._multiply(Y, block)
        super().__init__(coupled, Y, G**2 @ free, symmetric=symmetric, longest=longest)

    def _multiply(self, Y: SX, block: list[int]) -> None:
        """Y <- G Z of a block."""
        G, Z = self.G, self.Z
        for a, i in enumerate(block):
            for j in block[: a + 1]:
                Y[i, j] = G[i, :] @ Z[:, j]  # (2)
                Y[j, i] = Y[i, j] if self.symmetric else G[j, :] @ Z[:, i]

    def scaled(self) -> SX:
        for block in self._loops:
            self._multiply(self.Y, block)
        return super().scaled()

    def meet(self, x: SX, g: SX) -> Correction:
        """x <- x - Z lambda with G x + g = 0 (5), for columns x (nu, ...) and g (m, ...)."""
        lambda_ = self._solve_lines(self.G @ x + g)
        y = x - self.Z @ lambda_
        last, left = self._last_lines(ca.densify(self.G @ y + g))
        met = Correction(y - self.Z @ last, lambda_, left, ca.fabs(self.G) @ ca.fabs(y) + ca.fabs(g))
        for block in self._loops:
            self._meet(block, x, g, met)
        return met

    def _meet(self, block: list[int], x: SX, g: SX, met: Correction) -> None:
        """The same for a block in loops, which puts its part into `met`."""
        G, Z, g, m, c = self.G[block, :], self.Z[:, block], g[block, :], len(block), g.shape[1]
        speeds = sorted({*Z.sparsity().get_triplet()[0], *G.sparsity().get_triplet()[1]})
        G, Z, x, n = G[:, speeds], Z[speeds, :], x[speeds, :], len(speeds)
        given = ca.vertcat(*map(filled, (G, Z, self.lengths[block])))
        row = look_up(Meet(m, c, rules(m), n), ca.vertcat(given, filled(x), filled(g)))
        y, *more, delicate = ca.vertsplit(row, [0, *accumulate(Meet(m, c, rules(m), n).outs)])
        y, (lambda_, left, size) = columns_of(y, n, c), (columns_of(part, m, c) for part in more)
        self._doubt(delicate)
        if self.derived:
            inverse = columns_of(look_up(Inverse(m, 1, rules(m), n), given), m, m)
            known, lambda_ = lambda_, lambda_ + inverse @ _change(G @ x + g - G @ (Z @ lambda_))  # (9)
            if not self.symmetric:
                W = ca.repmat(ca.sum2(G * Z.T), 1, c)
                v = _frozen(inverse @ (W * known))
                share = _change(G @ (Z @ v) - W * known) * ca.if_else(W > 0, 1 / W, 0)
                lambda_ = lambda_ + share - inverse @ (G @ (Z @ share))  # (10)
            y = y + _change(x - Z @ lambda_)
        met.x[speeds, :], met.lambda_[block, :] = y, lambda_
        met.r[block, :], met.size[block, :] = left, size

    def left(self, met: Correction, rows: ConstraintEquations, udot0: SX, short: float = ROUNDING) -> SX:
        """Whether a row is unmet (8): 0/1; `short` as for `unmet`."""
        return self.unmet(met.r, met.size, ca.sum2(self.G**2), terms(rows, udot0), short, rubbing(rows))


def _frozen(x: SX) -> SX:
    """x, without derivatives."""
    return ca.reshape(stop_gradient(ca.vec(ca.densify(x))), *x.shape)


def _change(x: SX) -> SX:
    """Zero, with the derivatives of x."""
    return x - _frozen(x)


@dataclass
class Correction:
    """x and lambda of (5), what is left of G x + g, and the sums of the terms of these."""

    x: ca.SX
    lambda_: ca.SX
    r: ca.SX
    size: ca.SX


class Multipliers(ConstraintBlocks):
    """Y and M^-1 G' of one state, and what follows from them for any accelerations.

    Attributes:
        G: (m, nu).
        Z: M^-1 G', (nu, m); locked speeds have zero rows. With friction M^-1 (G + S)'.
        Y: (m, m).

    Args:
        transposed: the equations' transpose, where friction makes a difference: G + S takes the place of G.
    """

    def __init__(
        self, rows: ConstraintEquations, lock: SX, transposed: bool = False, derived: bool = False
    ) -> None:
        G = rows.jacobian()
        self._factor, self._solve = factorization(rows.tree, mass_matrix(rows.tree, rows.kin), lock)
        F = rows.pushes() if rows.drags else G
        G, F = (F, G) if transposed else (G, F)
        columns = [self.solve_mass_matrix(F[i, :].T) for i in range(G.shape[0])]
        super().__init__(
            rows,
            G,
            ca.sparsify(ca.horzcat(ca.SX(rows.tree.nu, 0), *columns)),
            lock,
            symmetric=not rows.drags,
            derived=derived,
        )

    def solve_mass_matrix(self, f: SX) -> SX:
        """M^-1 f."""
        return self._solve.call([self._factor, ca.densify(f)], True, False)[0]

    def response(self, f: SX, g: SX | None = None) -> tuple[SX, SX]:
        """x and mu with M x + G' mu = f and G x + g = 0, for columns f (nu, ...) and g (m, ...); g None is
        zero."""
        x = ca.horzcat(*(self.solve_mass_matrix(column) for column in ca.horzsplit(f)))
        met = self.meet(x, ca.SX(self.G.shape[0], f.shape[1]) if g is None else g)
        return met.x, met.lambda_


@dataclass
class Accelerations:
    """udot and lambda (2), whether Y is delicate (7), and whether an equation is unmet (8)."""

    udot: ca.SX
    lambda_: ca.SX
    delicate: ca.SX
    unmet: ca.SX


def constrained(rows: ConstraintEquations, udot0: SX, lock: SX, short: float = ROUNDING) -> Accelerations:
    """From the accelerations without constraints (1), on the manifold of sherman2011 (4). short: as in
    ConstraintBlocks.unmet."""
    found = Multipliers(rows, lock, derived=not rows.view.plain)
    met = found.meet(udot0, rows.bias())
    return Accelerations(met.x, met.lambda_, found.delicate, found.left(met, rows, udot0, short))


def with_unmet(status: SX, tree: Tree, unmet: SX) -> SX:
    """The status of accelerations: 1 + a speed that has lost rank (aba.py), and the number of speeds + 1 more
    where an equation is unmet (8); 0 if all is well."""
    return ca.if_else(unmet, tree.nu + 1, 0) + status


def terms(rows: ConstraintEquations, udot0: SX) -> SX:
    """The last sum of (8)."""
    return ca.sum1(ca.fabs(udot0)) + ca.sumsqr(rows.view.u)


def rubbing(rows: ConstraintEquations) -> list[int]:
    """Numbers of the rows of contacts with friction."""
    laws = [*rows.constraints.values()]
    return [
        k
        for i, _, at in rows.parts
        if isinstance(law := laws[i], Unilateral) and law.has_friction
        for k in range(at.start, at.stop)
    ]
