"""Segments over surfaces: lengths that others have computed, and derivatives against differences."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from condyle.native.calls.native_function import NativeFunction
from condyle.native.tables.staged import build_function
from condyle.paths import Cylinder, Ellipsoid, Sphere
from condyle.paths.segment import Segment
from tests.oracles.geodesics import CLASSES, random_ends

SHAPES = {
    "cylinder": Cylinder(1.0, 50.0),
    "cylinder quadrant": Cylinder(1.0, 50.0, quadrant="x"),
    "sphere": Sphere(1.0),
    "sphere quadrant": Sphere(1.0, quadrant="-y"),
    "ellipsoid": Ellipsoid((1.3, 1.0, 0.9)),
    "ellipsoid quadrant": Ellipsoid((1.3, 1.0, 0.9), quadrant="y"),
}


def function(surface) -> NativeFunction:
    """Ends (6,) -> L, gradient (6,), Hessian (36,), wrapped."""
    x = ca.SX.sym("x", 6)
    s = Segment.from_row(surface.row(x[:3], x[3:])[1:])
    out = ca.vertcat(s.L, -s.e_in, s.e_out, ca.vec(s.hessian()), s.wrapped)
    return NativeFunction(
        "segment",
        lambda: build_function("segment", [x], [out]),
        key=f"test segment {surface.description()}",
        inputs=[("x", 6)],
        outputs=[("out", 44)],
    )


@pytest.fixture(scope="module", params=SHAPES)
def shape(request):
    return request.param, function(SHAPES[request.param])


def test_derivatives(shape):
    """(1) and (2) of segment.py against differences, away from lift-off."""
    name, f = shape
    rng = np.random.default_rng(3)
    ends = rng.normal(size=(400, 6)) * 0.8 + [-2, 0, 0, 2, 0, 0]
    h, d = 1e-6, rng.normal(size=ends.shape)
    now, up, down = f(ends), f(ends + h * d), f(ends - h * d)
    same = (now[:, 43] == 1) & (up[:, 43] == 1) & (down[:, 43] == 1)
    assert same.sum() > 50, name
    # Lengths over an ellipsoid are known to 1e-12, which differences divide by h.
    slack = 1e-6 if "ellipsoid" in name else 1e-8
    slope = (up[:, 0] - down[:, 0]) / (2 * h)
    off = np.abs(slope - (now[:, 1:7] * d).sum(1))[same]
    assert np.percentile(off, 99) < slack
    bend = (up[:, 1:7] - down[:, 1:7]) / (2 * h)
    expected = np.einsum("nij,nj->ni", now[:, 7:43].reshape(-1, 6, 6), d)
    assert np.median(np.abs(bend - expected).max(1)[same]) < 1e-6


def test_one_length_whichever_way_a_path_is_written(shape):
    """By OpenSim's rule the first end chooses the side of a quadrant: one path in fourteen over a cylinder,
    and one in eight over a sphere, had two lengths."""
    name, f = shape
    ends = np.random.default_rng(4).uniform(-2.5, 2.5, (2000, 6))
    there, back = f(ends), f(ends[:, [3, 4, 5, 0, 1, 2]])
    if name == "ellipsoid quadrant":  # longer sides are not found from all beginnings
        assert (np.isfinite(there[:, 0]) != np.isfinite(back[:, 0])).mean() < 1e-3
        ends = ends[np.isfinite(there[:, 0]) & np.isfinite(back[:, 0])]
        there, back = f(ends), f(ends[:, [3, 4, 5, 0, 1, 2]])
    # lengths over an ellipsoid are known to 1e-12, their tangents to 1e-10
    np.testing.assert_allclose(there[:, 0], back[:, 0], rtol=0, atol=1e-11)
    np.testing.assert_allclose(there[:, 1:7], back[:, [4, 5, 6, 1, 2, 3]], rtol=0, atol=1e-9)


def test_known_lengths():
    """reference/wrapping.md, found by others' solvers with twelve digits."""
    slim = function(Ellipsoid((0.035, 0.02, 0.02)))([-0.03, 0.01, 0.012, 0.04, -0.012, -0.006])
    assert slim[0] == pytest.approx(0.0841199542053, abs=2e-13)
    assert function(Ellipsoid((3, 2, 1)))([-4, 1, 0.5, 4, 0.5, 0.6])[0] == pytest.approx(
        8.0525537926062, abs=1e-12
    )
    assert function(Sphere(1.0, quadrant="x"))([0.3, 2, 0.05, 0.3, -2, 0.02])[0] == pytest.approx(
        4.250987, abs=1e-6
    )


@pytest.mark.parametrize("kind", CLASSES)
def test_closed_forms(kind):
    """10,000 paths per class against the formulas of reference/wrapping.md, by angles at the axis."""
    ends, r = random_ends(kind, 10000, (1, 1, 1), np.random.default_rng(6)), 1.0

    def bent(A, B):
        rho = np.linalg.norm(A, axis=1), np.linalg.norm(B, axis=1)
        l = [np.sqrt(np.maximum(x * x - r * r, 0)) for x in rho]
        turn = np.arctan2(np.linalg.norm(np.cross(A, B), axis=1), (A * B).sum(1))
        return sum(l) + r * (turn - sum(np.arctan2(x, r) for x in l))

    L = function(Sphere(r))(ends)[:, 0]
    # Near the surface l = sqrt(rho^2 - r^2) loses half the digits of rho - r, in both ways.
    np.testing.assert_allclose(L, bent(ends[:, :3], ends[:, 3:]), rtol=0, atol=1e-11)
    flat = ends.reshape(-1, 2, 3) * [1, 1, 0]  # as far from the axis as from the center
    flat *= (np.linalg.norm(ends.reshape(-1, 2, 3), axis=2) / np.linalg.norm(flat, axis=2))[:, :, None]
    around = flat.reshape(-1, 6) + ends * [0, 0, 1, 0, 0, 1]
    f = function(Cylinder(r))(around)
    over = f[:, 43] == 1
    assert over.mean() > 0.05
    L = np.hypot(bent(flat[:, 0], flat[:, 1]), ends[:, 5] - ends[:, 2])
    np.testing.assert_allclose(f[over, 0], L[over], rtol=0, atol=1e-11)
    for shape, x in ((Sphere(r), ends), (Cylinder(r), around)):
        d = np.random.default_rng(9).normal(size=x.shape) * 1e-7
        now, up, down = (function(shape)(x + h * d) for h in (0, 1, -1))
        on = (now[:, 43] == 1) & (up[:, 43] == 1) & (down[:, 43] == 1)
        off = np.abs((up[:, 0] - down[:, 0]) / 2 - (now[:, 1:7] * d).sum(1)) / np.linalg.norm(d, axis=1)
        # differences are off by h^2 / (distance to a focus or to the surface)^2; half of the ends are farther
        assert np.median(off[on]) < 1e-7 and np.percentile(off[on], 90) < 1e-5


def test_a_sphere_is_an_ellipsoid():
    """Two ways to the same length: the closed form, and the search."""
    rng = np.random.default_rng(5)
    ends = rng.normal(size=(300, 6)) * 0.5 + [-2, 0, 0, 2, 0, 0]
    a, b = function(Sphere(1.0))(ends), function(Ellipsoid((1, 1, 1)))(ends)
    np.testing.assert_array_equal(a[:, 43], b[:, 43])
    np.testing.assert_allclose(a[:, :7], b[:, :7], rtol=0, atol=1e-10)


def test_no_kinks():
    """Forced to the longer side, lengths are stationary at kinks too: these are no geodesics, and count as
    not found."""
    for shape, ends, kinked in (
        ((1.3, 1, 0.9), (2.57831, 1.2764, -1.139, -1.06804, -2.33473, 0.68396), 10.1002),
        ((3, 1, 1), (0.00946, 0.28656, 1.13773, -0.01934, -1.21463, 0.25865), 4.14296),
    ):
        assert not abs(function(Ellipsoid(shape, quadrant="y"))(ends)[0] - kinked) < 0.01


def test_lift_off_is_smooth():
    """L - |AB| = (1/l1 + 1/l2) depth^2 / 2 where the chord is hardly inside."""
    depth = np.array([1e-3, 1e-4, 1e-5])
    for surface in (Cylinder(1.0), Sphere(1.0), Ellipsoid((1, 1, 1))):
        ends = np.array([[-2, 1 - d, 0, 1.5, 1 - d, 0] for d in depth])
        found = function(surface)(ends)[:, 0] - 3.5
        np.testing.assert_allclose(found, (1 / 2 + 1 / 1.5) * depth**2 / 2, rtol=5 * depth.max(), atol=1e-15)


@pytest.mark.parametrize(
    "surface", [Cylinder(1.0), Sphere(1.0), Ellipsoid((1.3, 1.0, 0.9))], ids=lambda s: type(s).__name__
)
def test_rules(surface):
    """No wrap with an end inside, with a chord that passes by, or that ends before; grazing is no full
    turn."""
    f = function(surface)
    for ends in ((0.2, 0.1, 0, 3, 0, 0), (-2, 3, 0, 2, 3, 0), (-5, 0, 0, -2, 0, 0)):
        found = f(ends)
        assert found[43] == 0
        assert found[0] == pytest.approx(np.linalg.norm(np.subtract(ends[3:], ends[:3])), rel=1e-15)
    heights = 1 - np.logspace(-16, -8, 60)
    grazing = f(np.array([[-2, y, 0.0, 2, y, 0] for y in heights]))
    np.testing.assert_allclose(grazing[:, 0], 4, rtol=0, atol=1e-14)
