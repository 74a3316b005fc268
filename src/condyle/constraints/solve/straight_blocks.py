"""The solution of multipliers.py (3)-(7) for a block of few rows, in straight lines."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, reduce
from typing import TYPE_CHECKING

import casadi as ca

from condyle.arrays import SX, vertcat

if TYPE_CHECKING:
    from condyle.constraints.solve.looped_blocks import Rules

REGULAR = 1e-12
"""e_i of (3) over m Y_ii."""
REFINEMENTS, POWER = 2, 4
"""Of (3) and (4)."""
SMALL = 6
"""Rows up to which (K E)^4 is made as a matrix."""
NOISE = 1e-12
"""|G_i|^2 over the sum of all of its block: a row of no more has no direction (6)."""
NOTHING = 1e-26
"""|G_i|^2 that is rounding, whatever its block: levers of 1e-13 m."""
DOUBTFUL, DELICATE = 1.1, 3e-3
"""Bounds of (7)."""


class _Solver:
    """Blocks of m rows: functions that are inlined once for each block.

    Attributes:
        factor: (Y, lengths) -> what K and (K E)^4 are made of, one vector, and whether Y is delicate (7).
        lengths: |G_i|^2.
        least: (Y, factors, g) -> lambda by (3) and (4).
        last: (factors, r) -> K r of (5), without what (4) takes away.
    """

    def __init__(self, m: int, symmetric: bool = True) -> None:
        Y, lengths, g = ca.SX.sym("Y", m, m), ca.SX.sym("lengths", m), ca.SX.sym("g", m)
        own = ca.diag(Y)
        e = _scales(own, lengths)
        L, D = (_factors if symmetric else _two_factors)(Y, e)
        delicate = _doubts(own, lengths, e, D)
        LD = ca.vertcat(L, 1 / D)
        inverse = ca.SX.sym("LD", LD.numel())
        solved = ca.Function("K", [inverse, g], [_solve(m, inverse, g, symmetric)])
        of = lambda LD: lambda b: solved.call([LD, ca.densify(b)], True, False)[0]
        more = ca.vec(_power(of(LD), e)) if m <= SMALL else e
        self.factor = ca.Function("factor", [Y, lengths], [ca.vertcat(LD, more), delicate])
        factors = ca.SX.sym("factors", LD.numel() + more.numel())
        K, more = of(factors[: LD.numel()]), factors[LD.numel() :]

        def kept(x: SX) -> SX:
            if m <= SMALL:
                return x - ca.reshape(more, m, m) @ x
            return x - reduce(lambda w, _: K(more * w), range(POWER), x)

        x = K(g)
        self.last = ca.Function("last", [factors, g], [kept(x)])  # (5)
        for _ in range(REFINEMENTS):
            x = x + K(g - Y @ x)  # (3)
        self.least = ca.Function("least", [Y, factors, g], [kept(kept(x))])  # (4)


solver = lru_cache(maxsize=32)(_Solver)


def _scales(own: SX, lengths: SX) -> SX:
    """e of (3) and (6), from the diagonal of Y."""
    still, trace = moves_nothing(lengths), ca.sum1(own)
    nothing = ca.if_else(ca.sum1(still) < own.numel(), trace, 1 + trace / NOISE)
    return ca.if_else(still, nothing, REGULAR * own.numel() * own)


def moves_nothing(lengths: SX) -> SX:
    """Which rows of a block have no direction (6); not those whose length is not a number."""
    return ca.logic_or(lengths <= NOISE * ca.sum1(lengths), lengths <= NOTHING)


def _doubts(own: SX, lengths: SX, e: SX, D: SX) -> SX:
    """Whether Y is delicate (7)."""
    short = DELICATE / own.numel() * ca.sum1(lengths) * own
    return ca.sum1(ca.logic_and(DOUBTFUL * e < D, D * lengths < short)) > 0


@lru_cache(maxsize=32)
def rules(m: int) -> Rules:
    """The same for looped_blocks.py."""

    from condyle.constraints.solve.looped_blocks import Rules

    own, lengths, e, D = (ca.SX.sym(name, m) for name in ("own", "lengths", "e", "D"))
    return Rules(
        ca.Function("scales", [own, lengths], [_scales(own, lengths)]),
        ca.Function("doubts", [own, lengths, e, D], [_doubts(own, lengths, e, D)]),
        REFINEMENTS,
        POWER,
    )


def _factors(Y: SX, e: SX) -> tuple[SX, SX]:
    """L below its diagonal, by columns, and D (m,) of Y + E = L D L'."""
    m = Y.shape[0]
    L: dict[tuple[int, int], ca.SX] = {}
    D: list[ca.SX] = []
    for j in range(m):
        LD = [L[j, k] * D[k] for k in range(j)]
        D.append(Y[j, j] + e[j] - sum((L[j, k] * LD[k] for k in range(j)), ca.SX(0)))
        for i in range(j + 1, m):
            L[i, j] = (Y[i, j] - sum((L[i, k] * LD[k] for k in range(j)), ca.SX(0))) / D[j]
    return vertcat(L.values()), ca.vertcat(*D)


def _solve(m: int, factors: SX, b: SX, symmetric: bool) -> SX:
    """K b from L, U where that is not L', and 1 / D, one after the other."""
    at, x = iter(ca.vertsplit(factors)), ca.vertsplit(b)
    L = {(i, k): next(at) for k in range(m) for i in range(k + 1, m)}
    U = {(k, i): L[i, k] if symmetric else next(at) for k in range(m) for i in range(k + 1, m)}
    for i in range(m):
        x[i] = x[i] - sum((L[i, k] * x[k] for k in range(i)), ca.SX(0))
    x = [v * next(at) for v in x]
    for i in reversed(range(m)):
        x[i] = x[i] - sum((U[i, k] * x[k] for k in range(i + 1, m)), ca.SX(0))
    return ca.vertcat(*x)


def _two_factors(Y: SX, e: SX) -> tuple[SX, SX]:
    """L below and U above their unit diagonals, by columns and rows, and D (m,) of Y + E = L D U."""
    m = Y.shape[0]
    L: dict[tuple[int, int], ca.SX] = {}
    U: dict[tuple[int, int], ca.SX] = {}
    D: list[ca.SX] = []
    left = lambda i, j, k: Y[i, j] - sum((L[i, p] * D[p] * U[p, j] for p in range(k)), ca.SX(0))
    for k in range(m):
        D.append(left(k, k, k) + e[k])
        for i in range(k + 1, m):
            L[i, k], U[k, i] = left(i, k, k) / D[k], left(k, i, k) / D[k]
    return ca.vertcat(ca.SX(0, 1), *L.values(), *U.values()), ca.vertcat(*D)


def _power(K: Callable[[SX], SX], e: SX) -> SX:
    """(K E)^4: elements of a matrix do not wait for each other as solutions do."""
    square = ca.horzcat(*(K(column) for column in ca.horzsplit(ca.diag(e))))
    for _ in range(POWER // 2):
        square = square @ square
    return square
