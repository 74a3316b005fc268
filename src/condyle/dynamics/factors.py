"""Factors of the mass matrix, M = L' D L, that keep the sparsity of the tree: the entry of two speeds on
different branches is zero and stays so (Featherstone 2008, section 6.5). Speeds that move several bodies tie
their branches together."""

from __future__ import annotations

import casadi as ca

from condyle.tree.tree import Tree


def factorization(tree: Tree, M: ca.SX, lock: ca.SX) -> tuple[ca.SX, ca.Function]:
    """Factors of M, and solve(factors, b) -> M^-1 b; locked speeds answer zero."""
    before, places = before_each(tree), entries_of(tree)
    M = M + ca.diag(lock)
    m, b = ca.SX.sym("m", len(places)), ca.SX.sym("b", tree.nu)
    factor = ca.Function(
        "factor", [m], [_factor(tree.nu, before, dict(zip(places, ca.vertsplit(m), strict=True)))]
    )
    solve = ca.Function(
        "solve", [m, b], [_solve(tree.nu, before, dict(zip(places, ca.vertsplit(m), strict=True)), b)]
    )
    return factor.call([ca.vertcat(*(M[k, j] for k, j in places))], True, False)[0], solve


def entries_of(tree: Tree) -> list[tuple[int, int]]:
    """Places (k, j) of M's entries in the order of the factors: speed by speed, its own first, then those
    before it."""
    return [(k, j) for k, before in enumerate(before_each(tree)) for j in (k, *before)]


def before_each(tree: Tree) -> list[list[int]]:
    """For each speed, the speeds that come before it on its path to ground, nearest first. Where bodies share
    speeds, paths are those of the elimination tree of M: one leads through all that meet in the factors."""
    if tree.shares:
        return _chains(tree)
    out: list[list[int]] = []
    for B in tree.base_to_tip:
        above = [k for A in tree.path(B)[:-1] for k in tree.speeds_of(A)]
        for k in tree.speeds_of(B):
            out.append(above[::-1])
            above.append(k)
    return out


def _chains(tree: Tree) -> list[list[int]]:
    """Paths of the elimination tree: speeds that move a body meet in M, and those before a speed meet each
    other when it is eliminated."""
    meet: list[set[int]] = [set() for _ in range(tree.nu)]
    for B in tree.base_to_tip:
        moving = {k for A in tree.path(B) for k in tree.speeds_of(A)}
        for k in moving:
            meet[k] |= {j for j in moving if j < k}
    for k in reversed(range(tree.nu)):
        if meet[k]:
            nearest = max(meet[k])
            meet[nearest] |= meet[k] - {nearest}
    out: list[list[int]] = []
    for mine in meet:
        out.append([max(mine), *out[max(mine)]] if mine else [])
    return out


def _factor(n: int, before: list[list[int]], m: dict[tuple[int, int], ca.SX]) -> ca.SX:
    """L below and D on the diagonal, in the order of m: Featherstone's L' D L without fill-in."""
    for k in reversed(range(n)):
        for depth, j in enumerate(before[k]):
            ratio = m[k, j] / m[k, k]
            for i in before[k][depth:]:
                m[j, i] = m[j, i] - ratio * m[k, i]
            m[k, j] = ratio
    return ca.vertcat(*m.values())


def _solve(n: int, before: list[list[int]], L: dict[tuple[int, int], ca.SX], b: ca.SX) -> ca.SX:
    x = ca.vertsplit(b)
    for k in reversed(range(n)):
        for j in before[k]:
            x[j] = x[j] - L[k, j] * x[k]
    x = [x[k] / L[k, k] for k in range(n)]
    for k in range(n):
        for j in before[k]:
            x[k] = x[k] - L[k, j] * x[j]
    return ca.vertcat(*x)
