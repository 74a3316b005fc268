"""Least effort on plain arrays: closed forms, bounds, equations that cannot be met or say the same twice."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from condyle.studies.least_effort import least_effort

INF = np.inf


def one(A, b, low, high, w=None, p=2.0):
    A = np.array(A, dtype=float)
    low, high = (np.broadcast_to(bound, A.shape[1]).astype(float) for bound in (low, high))
    w = np.ones(A.shape[1]) if w is None else np.array(w, dtype=float)
    return least_effort(A[None], np.array(b, dtype=float)[None], low, high, w, p)


G = np.array([12.0, 30.0, 7.0, 21.0])


@pytest.mark.parametrize("p", [1.2, 1.5, 2.0, 3.0, 4.0, 10.0, 40.0])
def test_one_joint(p, evidence):
    """g . a = tau: a_i = tau (g_i / w_i)^(1 / (p - 1)) / sum_j g_j (g_j / w_j)^(1 / (p - 1)); for p = 2 and
    w = 1 it is tau g_i / sum g^2."""
    w, tau = np.array([1.0, 2.0, 0.5, 1.0]), 9.0
    share = (G / w) ** (1 / (p - 1))
    expected = tau * share / (G @ share)
    found = one(G[None], [tau], 0.0, 1.0, w, p)
    assert found.kkt[0] < 1e-9
    # steps end at a KKT residual of 1e-11; for large p activations are known to its root, sum a^p is flat
    np.testing.assert_allclose(found.x[0], expected, rtol=1e-8 if p < 5 else 1e-5)
    if p == 2:
        plain = one(G[None], [tau], 0.0, 1.0)
        np.testing.assert_allclose(plain.x[0], tau * G / (G @ G), rtol=1e-14)
        evidence(
            "static optimization of one joint against a = tau g / sum g^2, relative",
            np.abs(plain.x[0] / (tau * G / (G @ G)) - 1).max(),
            1e-13,
        )


def test_sum_of_activations_takes_the_strongest():
    """p = 1 is linear: the largest arm first, then the next."""
    found = one(G[None], [40.0], 0.0, 1.0, p=1.0)
    np.testing.assert_allclose(found.x[0], [0.0, 1.0, 0.0, 10 / 21], atol=1e-12)
    assert found.kkt[0] < 1e-9


def test_sum_of_activations_of_both_signs():
    """p = 1 with a reserve: |r| costs as much whichever way it acts."""
    for tau in (9.0, -9.0):
        found = one([[3.0, 1.0]], [tau], [0.0, -INF], [1.0, INF], p=1.0)
        np.testing.assert_allclose(found.x[0], [1.0, 6.0] if tau > 0 else [0.0, -9.0], atol=1e-11)


def test_saturated():
    """What is at its bound leaves the rest to the others."""
    high = np.array([1.0, 0.1, 1.0, 1.0])
    found = one(G[None], [15.0], 0.0, high)
    rest = np.array([12.0, 7.0, 21.0])
    np.testing.assert_allclose(found.x[0], np.insert(12.0 * rest / (rest @ rest), 1, 0.1), rtol=1e-13)


def test_too_weak():
    """The missing force is exact up to the small cost of effort beside it; the nearest x is at the bounds."""
    found = one([G, [0, 0, 5.0, 0]], [100.0, 1.0], 0.0, [1, 1, 1, 1])
    assert found.infeasible[0]
    assert np.isnan(found.x).all()
    nearest = found.nearest[0]
    np.testing.assert_allclose(
        found.missing[0], [100.0, 1.0] - np.array([G, [0, 0, 5.0, 0]]) @ nearest, rtol=1e-12
    )
    np.testing.assert_allclose(nearest[[0, 1, 3]], 1.0, atol=1e-9)
    assert found.missing[0, 0] > 30.0
    assert not one(G[None], [69.9], 0.0, 1.0).infeasible[0]


def test_one_frame_does_not_spoil_the_next():
    A = np.broadcast_to(G[None], (5, 1, 4))
    b = np.array([[9.0], [100.0], [9.0], [-1.0], [9.0]])
    found = least_effort(A, b, np.zeros(4), np.ones(4), np.ones(4), 2.0)
    assert found.infeasible.tolist() == [False, True, False, True, False]
    np.testing.assert_allclose(found.x[::2], np.broadcast_to(9.0 * G / (G @ G), (3, 4)), rtol=1e-13)
    assert found.missing[3, 0] == pytest.approx(-1.0, rel=1e-6)


def test_equations_that_say_the_same_twice():
    """They are met as one; where they contradict each other the frame has no solution."""
    twice = [G, 2 * G]
    found = one(twice, [9.0, 18.0], 0.0, 1.0)
    np.testing.assert_allclose(found.x[0], 9.0 * G / (G @ G), rtol=1e-12)
    assert one(twice, [9.0, 17.0], 0.0, 1.0).infeasible[0]
    idle = [G, 0 * G]
    np.testing.assert_allclose(one(idle, [9.0, 0.0], 0.0, 1.0).x[0], 9.0 * G / (G @ G), rtol=1e-12)
    missing = one(idle, [9.0, 0.5], 0.0, 1.0)
    assert missing.infeasible[0]
    np.testing.assert_allclose(missing.missing[0], [0.0, 0.5], atol=1e-6)


def test_no_strength():
    """A muscle without a moment arm or without strength stays at its least."""
    found = one([[0.0, 5.0]], [1.0], 0.01, 1.0)
    np.testing.assert_allclose(found.x[0], [0.01, 0.2], rtol=1e-13)


def test_rounding_is_no_strength():
    """Rows of rounding, as no muscle moves a pelvis in space: what is missing there is all of it."""
    found = one([[0.5, -0.5], [1e-17, 3e-17]], [0.1, 700.0], 0.01, 1.0)
    assert found.infeasible[0]
    np.testing.assert_allclose(found.missing[0], [0.0, 700.0], rtol=1e-9)


def test_fixed_variable():
    found = one([[4.0, 5.0]], [3.0], [0.5, 0.0], [0.5, 1.0])
    np.testing.assert_allclose(found.x[0], [0.5, 0.2], rtol=1e-13)
    assert found.kkt[0] < 1e-12


def enumerated(A, b, low, high):
    """The least sum of squares by trying all sets of bounds."""
    best, n = (np.inf, None), A.shape[1]
    for sides in itertools.product((0, -1, 1), repeat=n):
        side = np.array(sides)
        free = side == 0
        x = np.where(side < 0, low, high)
        if free.any():
            x[free] = np.linalg.lstsq(A[:, free], b - A[:, ~free] @ x[~free], rcond=None)[0]
        good = (np.abs(A @ x - b) < 1e-9).all() and (x >= low - 1e-9).all() and (x <= high + 1e-9).all()
        if good and x @ x < best[0]:
            best = x @ x, x
    return best[1]


@pytest.mark.parametrize("seed", range(6))
def test_against_all_sets_of_bounds(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(2, 6)) * 10
    low, high = np.full(6, 0.01), np.full(6, 0.4)
    b = A @ rng.uniform(0.0, 0.41, 6).clip(0.01, 0.4)
    np.testing.assert_allclose(one(A, b, low, high).x[0], enumerated(A, b, low, high), atol=1e-9)


@pytest.mark.parametrize("p", [1.0, 1.5, 3.0])
def test_no_feasible_change_lowers_the_effort(p):
    """Convex: then it is the least. Directions are along A x = b and within the bounds."""
    rng = np.random.default_rng(3)
    A = rng.normal(size=(2, 6))
    b = A @ rng.uniform(0.1, 0.5, 6)
    low, high = np.r_[np.full(5, 0.01), -INF], np.r_[np.ones(5), INF]
    x = one(A, b, low, high, p=p).x[0]
    null = np.linalg.svd(A)[2][2:]
    for d in rng.normal(size=(200, 4)) @ null:
        room = np.where(d > 0, high - x, x - low) / np.abs(d)
        t = min(room.min(), 0.1)
        if t > 1e-9:
            assert (np.abs(x + t * d) ** p).sum() >= (np.abs(x) ** p).sum() - 1e-10
