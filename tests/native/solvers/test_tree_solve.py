"""Many columns of a system with the sparsity of a tree, against numpy.linalg."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from condyle.native.calls.native_function import NativeFunction
from condyle.native.solvers.tree_solve import TreeSolve, padded

TREES = [[], [0], [1, 0], [0], [], [4], [5, 4], [4], [3, 0]]
"""Speeds before each one, in two trees."""


def problem(before, widths, rng, states):
    """M of such a sparsity, its entries in order, and b."""
    n, size = len(before), sum(widths)
    M = np.zeros((states, n, n))
    for k, b in enumerate(before):  # M = L' D L for some L and D keeps the sparsity
        M[:, k, [k, *b]] = rng.uniform(-1, 1, (states, 1 + len(b)))
        M[:, k, k] = rng.uniform(1, 2, states)
    M = np.einsum("ski,skj->sij", M, M)
    entries = np.stack([M[:, k, j] for k, b in enumerate(before) for j in (k, *b)], axis=1)
    return M, entries, rng.uniform(-1, 1, (states, n, size))


def solver(before, widths):
    n, size, count = len(before), sum(widths), sum(1 + len(b) for b in before)
    m, b = ca.SX.sym("m", count), ca.SX.sym("b", n * size)
    rows = ca.horzcat(ca.reshape(b, size, n).T, ca.SX.zeros(n, padded(size) - size)) if size else ca.SX(n, 0)
    return TreeSolve(ca.Function("main", [m, b], [m, ca.densify(ca.vec(rows.T)), ca.sum1(m)]), before, widths)


@pytest.mark.parametrize(("before", "widths"), [(TREES, (30, 1, 25)), ([[]], (4,))], ids=["trees", "one"])
def test_solutions(before, widths):
    """As one state and in lanes, and by CasADi's evaluator."""
    M, entries, b = problem(before, widths, np.random.default_rng(0), 37)
    made, n = solver(before, widths), len(before)
    f = NativeFunction(
        "solve",
        lambda: made,
        key=f"{before} {widths}",
        inputs=[("m", entries.shape[1]), ("b", n * sum(widths))],
        outputs=[*((f"x{i}", n * w) for i, w in enumerate(widths)), ("more", 1)],
    )
    expected = np.split(np.linalg.solve(M, b), np.cumsum(widths)[:-1], axis=2)
    flat = b.reshape(len(b), -1)
    interpreted = [x.T for x in made.evaluate([entries.T, flat.T])]
    for results in (f(entries, flat), interpreted):
        for x, y in zip(results, expected, strict=False):
            # cond(M) is below 1e3.
            np.testing.assert_allclose(x.reshape(y.shape), y, rtol=0, atol=1e-12 * np.abs(y).max())
        np.testing.assert_allclose(results[-1][:, 0], entries.sum(1), rtol=1e-14, atol=1e-13)
    for x, y in zip(f(entries[3], flat[3]), expected, strict=False):
        np.testing.assert_allclose(x.reshape(y[3].shape), y[3], rtol=0, atol=1e-12 * np.abs(y[3]).max())


def test_infinite_entries_answer_zero():
    """A speed that is held has infinity for its own entry."""
    before = TREES
    M, entries, b = problem(before, (2,), np.random.default_rng(1), 1)
    held = 2
    entries[0, sum(1 + len(x) for x in before[:held])] = np.inf
    x = solver(before, (2,)).evaluate([entries.T, b.reshape(1, -1).T])[0].reshape(len(before), 2)
    free = [k for k in range(len(before)) if k != held]
    assert (x[held] == 0).all()
    np.testing.assert_allclose(
        x[free], np.linalg.solve(M[0][np.ix_(free, free)], b[0, free]), rtol=0, atol=1e-12
    )
