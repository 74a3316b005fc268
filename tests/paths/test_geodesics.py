"""How often and how exactly geodesics over an ellipsoid are found; `python -m benchmarks.paths` does it for
10,000 paths per class."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from condyle.native.calls.native_function import NativeFunction
from condyle.native.tables.lookup import look_up
from condyle.native.tables.staged import build_function
from condyle.paths import Ellipsoid, Sphere
from condyle.paths.ellipsoid_halves import solvers
from condyle.paths.segment import Segment
from condyle.paths.wrap_surfaces import WIDTH
from tests.oracles.geodesics import CLASSES, random_ends, true_length

SHAPES = [(0.025, 0.02, 0.02), (0.035, 0.02, 0.02), (3, 2, 1)]
STEPS = dict(zip(SHAPES, (8, 12, 40), strict=True))  # of the oracle: more over a sharper edge


@pytest.fixture(scope="module")
def functions():
    """Ends (6,) -> the segment's row, for each shape and quadrant."""
    made = {}

    def function(radii, quadrant="all"):
        if (radii, quadrant) not in made:
            kind = Ellipsoid if isinstance(radii, tuple) else Sphere
            x, surface = ca.SX.sym("x", 6), kind(radii, quadrant=quadrant)
            row = surface.row(x[:3], x[3:])[1:]
            made[radii, quadrant] = NativeFunction(
                "geodesic",
                lambda: build_function("geodesic", [x], [row]),
                key=f"test geodesic {surface.description()}",
                inputs=[("x", 6)],
                outputs=[("row", row.numel())],
            )
        return made[radii, quadrant]

    return function


def parts(rows):
    """L, e_in, e_out, P, Q of rows."""
    s = Segment.from_row(rows.T)
    return s.L[0], s.e_in.T, s.e_out.T, s.P.T, s.Q.T


def arcs(ends, rows):
    L, _, _, P, Q = parts(rows)
    return L - np.linalg.norm(P - ends[:, :3], axis=1) - np.linalg.norm(ends[:, 3:] - Q, axis=1)


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("radii", SHAPES, ids=str)
def test_solved_and_exact(functions, radii, kind):
    """All of 1000 are found, of nearly antipodal ends of 3:2:1 97 %; lengths are true ones to 1e-9 of the
    size."""
    ends = random_ends(kind, 1000, radii, np.random.default_rng(11))
    rows = functions(radii)(ends)
    found = ~np.isnan(rows[:, 0])
    assert found.mean() >= (0.98 if kind == "antipodal" and radii == (3, 2, 1) else 0.998)
    some = np.flatnonzero(found)[:40]
    ends, rows, size = ends[some], rows[some], np.mean(radii)
    L, miss, on = true_length(ends[:, :3], ends[:, 3:], radii, parts(rows)[3], arcs(ends, rows), STEPS[radii])
    assert miss.max() < 1e-11 * size and on.min() > -1e-7 * size
    np.testing.assert_allclose(rows[:, 0], L, rtol=0, atol=1e-9 * size)


def grazing(radii, n, rng):
    """Ends of chords that dip into an ellipsoid, and by how much of its size: 1e-12 to 1e-2."""
    depth, a = 10 ** rng.uniform(-12, -2, n), np.array(radii)
    y, e = rng.normal(size=(2, n, 3))
    y /= np.linalg.norm(y, axis=1)[:, None]
    normal = y / a / np.linalg.norm(y / a, axis=1)[:, None]
    e = np.cross(normal, e)
    e /= np.linalg.norm(e, axis=1)[:, None]
    m = a * y - (depth * np.mean(radii))[:, None] * normal
    l1, l2 = np.mean(radii) * rng.uniform(0.5, 5, (2, n, 1))
    return np.hstack([m - l1 * e, m + l2 * e]), depth


def test_grazing_chords(functions):
    """Lengths, directions and second derivatives of chords that dip in ever so little are those of a sphere's
    closed form; over other shapes the excess is at most depth x (angle at A + angle at B)."""
    ends, _ = grazing((0.02, 0.02, 0.02), 3000, np.random.default_rng(13))
    rows, true = functions((0.02, 0.02, 0.02))(ends), functions(0.02)(ends)
    np.testing.assert_allclose(rows[:, 0], true[:, 0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(rows[:, 1:13], true[:, 1:13], rtol=0, atol=1e-12)
    # a kept path has |dz| below 2e-6, and its second derivatives are as exact as its pivots
    np.testing.assert_allclose(rows[:, 13:19], true[:, 13:19], rtol=1e-7, atol=1e-9)
    for radii in SHAPES:
        ends, depth = grazing(radii, 3000, np.random.default_rng(14))
        chord = np.linalg.norm(ends[:, 3:] - ends[:, :3], axis=1)
        more = (functions(radii)(ends)[:, 0] - chord) / np.mean(radii)
        assert not np.isnan(more).any() and more.min() > -1e-14
        assert (more <= 20 * depth**2 + 1e-14).all()  # both ends are half the size away, or more


def test_chords_near_the_center():
    """Ends that are far away, as of muscles, with a chord that passes near the center: the search begins on
    another side than it ends, and still takes few rounds, without shooting."""
    x, radii, rng = ca.SX.sym("x", 6), np.array([0.03, 0.025, 0.02]), np.random.default_rng(15)
    row = look_up(solvers()[0], Ellipsoid(tuple(radii)).solver_input(x[:3], x[3:]))
    f = NativeFunction(
        "search",
        lambda: build_function("search", [x], [row]),
        key="test search near the center",
        inputs=[("x", 6)],
        outputs=[("row", row.numel())],
    )
    e, m = rng.normal(size=(2, 2000, 3))
    e /= np.linalg.norm(e, axis=1)[:, None]
    m -= (m * e).sum(axis=1)[:, None] * e
    m *= rng.uniform(0.05, 0.3, (2000, 1)) / np.linalg.norm(m, axis=1)[:, None]
    found = f(np.hstack([radii * (m - 5 * e), radii * (m + 6 * e)]))
    # after the row: found, rounds
    assert (found[:, 0] > 0).all() and (found[:, WIDTH] > 0).mean() > 0.999
    assert found[:, WIDTH + 1].mean() < 5 and found[:, WIDTH + 1].max() < 30


@pytest.mark.parametrize("kind", CLASSES)
def test_the_longer_side(functions, kind):
    """A quadrant forces some paths to the longer side, where they are saddles of length: most are found, and
    all that are found are geodesics."""
    radii = SHAPES[1]
    ends = random_ends(kind, 1000, radii, np.random.default_rng(12))
    rows, free = functions(radii, "y")(ends), functions(radii)(ends)
    found = ~np.isnan(rows[:, 0])
    assert found.mean() > 0.98
    longer = np.flatnonzero(found & (rows[:, 0] > free[:, 0] + 1e-3 * np.mean(radii)))
    assert len(longer) > 100
    ends, rows, size = ends[longer[:40]], rows[longer[:40]], np.mean(radii)
    L, miss, on = true_length(
        ends[:, :3], ends[:, 3:], radii, parts(rows)[3], arcs(ends, rows), 3 * STEPS[radii]
    )
    assert miss.max() < 1e-10 * size and on.min() > -1e-7 * size
    np.testing.assert_allclose(rows[:, 0], L, rtol=0, atol=1e-9 * size)
