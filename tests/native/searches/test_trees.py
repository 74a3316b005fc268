"""Sums over trees, searches in them, and rows with slopes."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from condyle.native.calls.native_function import NativeFunction
from condyle.native.searches.search_tree import SearchTree
from condyle.native.searches.tree_minimum import TreeMinimum
from condyle.native.searches.tree_sum import TreeSum
from condyle.native.tables.lookup import look_up, look_up_with_slopes, restore_gradient, stop_gradient
from condyle.native.tables.staged import build_function


def points(n: int) -> np.ndarray:
    return np.random.default_rng(n).normal(size=(n, 3))


def ball(P: np.ndarray):
    def of(items):
        center = (P[items].max(axis=0) + P[items].min(axis=0)) / 2
        return np.append(center, 1e-12 + np.linalg.norm(P[items] - center, axis=1).max())

    return of


def above(p: ca.SX, y: ca.SX) -> ca.SX:
    """How far y is below a plane."""
    return p[3] - ca.dot(p[:3], y)


def term(p: ca.SX, c: ca.SX) -> ca.SX:
    x = above(p, c[:3])
    return ca.if_else(x <= 0, 0, c[3] * ca.vertcat(x**2, ca.sin(x)))


def plane_sum(n: int, slopes: bool = False, telling: bool = False) -> TreeSum:
    """`telling`: reach says where nothing is left out, and is asked only where a first look does not tell."""
    P, tree = points(n), SearchTree.from_points(points(n))
    reach = lambda p, c: above(p, c[:3]) + c[3] * ca.norm_2(p[:3])
    if telling:
        both = lambda p, c: ca.vertcat(reach(p, c), above(p, c[:3]) - c[3] * ca.norm_2(p[:3]))
        quick = lambda p, c: ca.if_else(reach(p, c) < 0.3, reach(p, c), ca.inf)
        return TreeSum.trace(
            "plane_telling",
            4,
            tree,
            both,
            term,
            tree.nodes(ball(P), [0, 0, 0, -np.inf]),
            tree.blocks(np.column_stack([P, np.ones(n)]), [0, 0, 0, 0]),
            quick,
        )
    f = (lambda p, c: ca.vec(ca.densify(ca.jacobian(term(p, c), p)))) if slopes else term
    return TreeSum.trace(
        "plane_slopes" if slopes else "plane",
        4,
        tree,
        reach,
        f,
        tree.nodes(ball(P), [0, 0, 0, -np.inf]),
        tree.blocks(np.column_stack([P, np.ones(n)]), [0, 0, 0, 0]),
    )


def native(f, inputs, outputs, key: str) -> NativeFunction:
    return NativeFunction(
        "f", lambda: build_function("f", *f()), key=f"test_trees {key}", inputs=inputs, outputs=outputs
    )


@pytest.mark.parametrize("n", [1, 4, 5, 16, 17, 300])
def test_every_item_has_one_place(n):
    tree = SearchTree.from_points(points(n))
    assert sorted(tree.order[tree.order >= 0].tolist()) == list(range(n))
    reached, todo = set(), [0]
    while todo:
        for link in tree.links[todo.pop()].tolist():
            if link >= 0:
                todo.append(link)
            else:
                reached |= {~link}
    assert reached >= set(range(len(tree.order) - 1))


@pytest.mark.parametrize("telling", [False, True])
@pytest.mark.parametrize("n", [1, 17, 300])
def test_sum(n, telling):
    """By the tree, in scalar code and lanes, against NumPy over all items."""
    total, p = plane_sum(n, telling=telling), ca.SX.sym("p", 4)
    f = native(lambda: ([p], [look_up(total, p)]), [("p", 4)], [("y", 2)], f"sum {n} {telling}")
    at = np.random.default_rng(0).normal(size=(23, 4))
    x = np.maximum(at[:, 3:] - at[:, :3] @ points(n).T, 0)
    expected = np.stack([(x**2).sum(axis=1), np.sin(x).sum(axis=1)], axis=1)
    found = f(at)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * n)
    np.testing.assert_array_equal(found, [f(a) for a in at])
    np.testing.assert_allclose(total.evaluate(at.T).T, expected, rtol=0, atol=1e-12 * n)
    assert np.isnan(f(np.array([1, np.nan, 0, 0]))).all()


def test_slopes_are_computed_only_where_they_are_asked_for():
    values, slopes = plane_sum(17), plane_sum(17, slopes=True)
    q = ca.SX.sym("q", 2)
    p = ca.vertcat(ca.sin(q[0]), ca.cos(q[0]), q[1], q[0] * q[1])
    y = look_up_with_slopes(values, slopes, p, range(4))
    plain, derived = build_function("y", [q], [y]), build_function("J", [q], [ca.jacobian(y, q)])
    tables = lambda staged: {table.name for _, found, _ in staged.stages for table in found}
    assert tables(plain) == {"plane"} and tables(derived) == {"plane_slopes"}
    at = np.array([0.3, 0.4])
    value = lambda a: plain.evaluate([np.reshape(a, (2, 1))])[0][:, 0]
    J = derived.evaluate([at[:, None]])[0].reshape(2, 2, order="F")
    for k in range(2):
        e = 1e-6 * np.eye(2)[k]
        # rounding over the step, and its square
        np.testing.assert_allclose(J[:, k], (value(at + e) - value(at - e)) / 2e-6, atol=1e-8)


def test_stopped_gradients():
    x = ca.SX.sym("x", 2)
    y = x * stop_gradient(2 * x)
    assert not ca.symvar(restore_gradient([x - stop_gradient(x)])[0])
    J = native(lambda: ([x], [ca.vec(ca.densify(ca.jacobian(y, x)))]), [("x", 2)], [("J", 4)], "frozen")
    np.testing.assert_array_equal(J(np.array([3.0, 5.0])), [6, 0, 0, 10])


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("n", [1, 17, 300])
def test_best(n, together):
    P, tree, q = points(n), SearchTree.from_points(points(n)), ca.SX.sym("q", 3)
    best = TreeMinimum.trace(
        "nearest",
        4,
        tree,
        lambda p, c: ca.fmax(ca.norm_2(p[:3] - c[:3]) - c[3], 0) ** 2,
        lambda p, c: ca.sumsqr(p[:3] - c),
        tree.nodes(ball(P), np.full(4, np.nan)),
        tree.blocks(P),
        np.column_stack([P, np.arange(n)]),
        together,
    )
    f = native(
        lambda: ([q], [look_up(best, ca.vertcat(q, ca.inf))]),
        [("q", 3)],
        [("row", 4)],
        f"best {n} {together}",
    )
    at = np.random.default_rng(1).normal(size=(23, 3))
    found = f(at)
    np.testing.assert_array_equal(found[:, 3], ((at[:, None] - P) ** 2).sum(-1).argmin(axis=1))
    np.testing.assert_array_equal(found, [f(a) for a in at])
    for most, near in ((np.inf, np.ones(23, dtype=bool)), (0.5, ((at - found[:, :3]) ** 2).sum(1) < 0.5)):
        limited = best.evaluate(np.vstack([at.T, np.full(23, most)])).T
        np.testing.assert_array_equal(limited[near], found[near])
        assert np.isnan(limited[~near]).all()
    assert np.isnan(f(np.array([0, np.nan, 0]))).all()
