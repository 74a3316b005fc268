"""Boxes on boxes of time stepping: random, parallel, flush, concentric, one inside the other."""

from __future__ import annotations

import numpy as np
import pytest

from condyle.integrate.stepping.closest_points import MARGIN, Boxes, touching
from tests.contact.random_pairs import rotations

COUNT = 3000
TURN = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def turned(rng):
    q = rng.normal(size=(COUNT, 4))
    return rotations(q / np.linalg.norm(q, axis=1)[:, None])


def nearly(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def largest_gap(R_a, half_a, R_b, half_b, d):
    """Over all 15 axes, one at a time; below zero minus the depth: no other direction parts boxes sooner."""
    best = np.full(len(d), -np.inf)
    axes = [
        *(R_a[:, :, i] for i in range(3)),
        *(R_b[:, :, i] for i in range(3)),
        *(np.cross(R_a[:, :, i], R_b[:, :, j]) for i in range(3) for j in range(3)),
    ]
    for n in axes:
        long = np.linalg.norm(n, axis=1)
        n = n / np.where(long > 1e-6, long, 1.0)[:, None]
        reach = sum(
            (np.abs(np.einsum("ki,kij->kj", n, R)) * half).sum(axis=1)
            for R, half in ((R_a, half_a), (R_b, half_b))
        )
        best = np.where(long > 1e-6, np.maximum(best, np.abs((n * d).sum(axis=1)) - reach), best)
    return best


CASES = {
    "random": (None, 1.0),
    "sizes over three decades": (None, 0.7),
    "parallel": (np.eye(3), 1.0),
    "turned by 90 degrees": (TURN, 1.0),
    "nearly parallel": (nearly(1e-7), 1.0),
    "hardly turned": (nearly(2e-4), 1.0),
    "one center": (None, 0.0),
    "one center, parallel": (np.eye(3), 0.0),
    "inside": (None, 0.01),
}


@pytest.mark.parametrize("case", CASES)
def test_boxes_that_overlap_touch(case):
    """None passes through, nothing is NaN, and the deepest point is as deep as the boxes are, or deeper by
    the margin of faces."""
    turn, share = CASES[case]
    rng = np.random.default_rng(list(case.encode()))
    half_a, half_b = 10.0 ** rng.uniform(-3 if "decades" in case else -1, 0, (2, COUNT, 3))
    half_b = 0.05 * half_a if case == "inside" else half_b
    R_a = turned(rng)
    R_b = turned(rng) if turn is None else R_a @ turn
    d = rng.normal(size=(COUNT, 3))
    d *= (
        share
        * rng.uniform(0, 1, COUNT)
        * (np.linalg.norm(half_a, axis=1) + np.linalg.norm(half_b, axis=1))
        / np.linalg.norm(d, axis=1)
    )[:, None]
    small = np.minimum(half_a.min(axis=1), half_b.min(axis=1))
    pair, _, gap, n, P = touching(Boxes(R_a, 0 * d, half_a), Boxes(R_b, d, half_b), 1e-3 * small)
    exact = largest_gap(R_a, half_a, R_b, half_b, d)
    assert (exact < 0).sum() > COUNT / 4 and np.isin(np.flatnonzero(exact < 0), pair).all()
    assert np.isfinite(gap).all() and np.isfinite(P).all()
    np.testing.assert_allclose(np.linalg.norm(n, axis=1), 1.0, atol=1e-12)
    deepest = np.full(COUNT, np.inf)
    np.minimum.at(deepest, pair, gap)
    by = ((deepest - exact) / small)[exact < 0]
    assert by.max() < 1e-9 and by.min() > -MARGIN - 1e-9  # lengths up to 1e3 times `small` round
    assert ((n * d[pair]).sum(axis=1) >= -1e-12).all()  # from a to b


def test_flush_faces_edges_and_corners():
    """Exactly on each other, edges and corners a nanometer over: points at that gap."""
    rng = np.random.default_rng(1)
    half_a, half_b = 10.0 ** rng.uniform(-1, 0, (2, COUNT, 3))
    R = np.tile(np.eye(3), (COUNT, 1, 1))
    for axes, points, over in (((2,), 4, 0.0), ((2, 0), 2, 1e-9), ((2, 0, 1), 1, 1e-9)):
        d = np.zeros((COUNT, 3))
        d[:, axes] = (half_a + half_b)[:, axes] - over
        pair, _, gap, _, P = touching(Boxes(R, 0 * d, half_a), Boxes(R, d, half_b), np.full(COUNT, 1e-6))
        assert np.abs(gap + over).max() < 1e-15 and (np.bincount(pair, minlength=COUNT) >= points).all()
        assert (np.abs(P) <= half_a[pair] + 1e-9).all() and (np.abs(P - d[pair]) <= half_b[pair] + 1e-9).all()
