"""The torus: OpenSim's rule, and geodesics against closed forms and integration in angles."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import minimize_scalar

import condyle as cd
from condyle.paths.torus import closest
from tests.paths.test_segments import function

R, r = 2.0, 0.5


@pytest.fixture(scope="module")
def torus():
    return function(cd.paths.Torus(r, R))


def test_known_length(torus):
    """reference/wrapping.md: around the tube, through the hole, in a plane of symmetry."""
    assert torus([4, 0, -0.1, 4, 0, 0.1])[0] == pytest.approx(5.651339940822471, abs=1e-9)


def test_planes_of_symmetry(torus):
    """There the geodesic is a circle about the tube's middle, at (R, 0)."""
    rng = np.random.default_rng(1)
    A, B = rng.uniform([2.2, 0.6], [5, 2], (200, 2)), rng.uniform([2.2, -2], [5, -0.6], (200, 2))
    found = torus(np.stack([A[:, 0], 0 * A[:, 0], A[:, 1], B[:, 0], 0 * B[:, 0], B[:, 1]], axis=1))
    a, b = A - (R, 0), B - (R, 0)
    l1, l2 = (np.sqrt((v**2).sum(1) - r * r) for v in (a, b))
    angles = [np.arctan2(v[:, 1], v[:, 0]) for v in (a, b)]
    turn = (angles[1] - angles[0]) % (2 * np.pi) - np.arctan2(l1, r) - np.arctan2(l2, r)
    np.testing.assert_array_equal(found[:, 43], 1)  # both ends are farther out than the tube
    np.testing.assert_allclose(found[:, 0], l1 + l2 + r * turn, rtol=0, atol=1e-10)


def test_rule(torus):
    """Through the hole without touching it, with an end in the tube, past the tube on its inner side:
    straight."""
    for ends in ((0.3, 0.2, -1, 0.3, -0.2, 1), (2, 0, 0.2, 0, 0, 3), (0.5, 0.3, -2, 1.1, 0.4, 2)):
        found = torus(ends)
        assert found[43] == 0
        assert found[0] == pytest.approx(np.linalg.norm(np.subtract(ends[3:], ends[:3])), rel=1e-15)
    assert torus((1.3, 0, -3, 1.9, 0.3, 3))[43] == 1  # through the tube, from inside the hole
    for quadrant, wrapped in (("x", 1), ("-x", 0), ("y", 1), ("-y", 0)):
        found = function(cd.paths.Torus(r, R, quadrant=quadrant))((1.3, 0.2, -3, 1.9, 0.5, 3))
        assert found[43] == wrapped


def test_lift_off_is_smooth(torus):
    """L - |AB| = (1/l1 + 1/l2) depth^2 / 2 where the chord is hardly in the tube's inner side, also
    obliquely."""
    e = np.array([0.0, 0.3, 1.0]) / np.hypot(0.3, 1.0)
    for depth in (1e-3, 1e-4):
        C = np.array([R - r + depth, 0, 0])
        found = torus(np.r_[C - 2 * e, C + 1.5 * e])
        assert found[43] == 1
        assert found[0] - 3.5 == pytest.approx((1 / 2 + 1 / 1.5) * depth**2 / 2, rel=0.01)
    C = np.array([R - r - 1e-9, 0, 0])
    assert torus(np.r_[C - 2 * e, C + 1.5 * e])[43] == 0


def oblique():
    rng = np.random.default_rng(2)
    A = rng.uniform([1.8, -0.6, 0.7], [3, 0.6, 2], (300, 3))
    B = rng.uniform([1.8, -0.6, -2], [3, 0.6, -0.7], (300, 3))
    return np.hstack([A, B])


def test_derivatives(torus):
    """(1) and (2) of segment.py against differences."""
    ends, h = oblique(), 1e-6
    d = np.random.default_rng(3).normal(size=ends.shape)
    now, up, down = torus(ends), torus(ends + h * d), torus(ends - h * d)
    same = (now[:, 43] == 1) & (up[:, 43] == 1) & (down[:, 43] == 1)
    assert same.mean() > 0.95  # else the tube is hollow below the path
    np.testing.assert_allclose(
        ((up[:, 0] - down[:, 0]) / (2 * h))[same], (now[:, 1:7] * d).sum(1)[same], atol=1e-7
    )
    expected = np.einsum("nij,nj->ni", now[:, 7:43].reshape(-1, 6, 6), d)
    off = np.abs((up[:, 1:7] - down[:, 1:7]) / (2 * h) - expected).max(1)[same]
    assert np.percentile(off, 99) < 1e-5


def anywhere(count):
    """Ends outside of the tube, all around it."""
    ends = np.random.default_rng(0).uniform(-4, 4, (count, 6))
    far = [np.hypot(np.hypot(x[:, 0], x[:, 1]) - R, x[:, 2]) for x in (ends[:, :3], ends[:, 3:])]
    return ends[np.minimum(*far) > r]


def test_one_answer_whichever_way_it_is_written(torus):
    """Length, directions and second derivatives, of paths anywhere. 964 of 3,835 were found in one direction
    alone, and 68 had two lengths."""
    ends = anywhere(1500)
    there, back = torus(ends), torus(ends[:, [3, 4, 5, 0, 1, 2]])
    swapped = np.concatenate(
        [
            back[:, [4, 5, 6, 1, 2, 3]],
            back[:, 7:43].reshape(-1, 2, 3, 2, 3)[:, ::-1, :, ::-1].reshape(-1, 36),
        ],
        axis=1,
    )
    np.testing.assert_array_equal(there[:, 0], back[:, 0])  # NaN is NaN in both
    np.testing.assert_array_equal(there[:, 43], back[:, 43])
    np.testing.assert_allclose(there[:, 1:43], swapped, rtol=1e-12, atol=1e-12)  # signs of sums
    opposite = ends[:, 2] * ends[:, 5] < 0
    # the rest touches the tube twice, or is around more than 290 degrees of it
    assert np.isfinite(there[opposite, 0]).mean() > 0.96
    assert np.isfinite(there[:, 0]).mean() > 0.95


@pytest.mark.parametrize(
    ("ends", "length"),
    [
        ((1.7994, -3.4528, 3.2086, 2.669, -1.2539, -0.1637), 5.9965),
        ((3.0714, -3.9743, -0.9191, 2.823, 3.8879, 2.2447), 9.1526),
        ((2.1194, 2.2587, 0.1348, -1.9105, 3.7215, -0.507), 5.5906),
    ],
)
def test_lengths_through_the_hole(torus, ends, length):
    """The shortest of all geodesics that touch once and pass the hole once, by shooting from 720 points of
    A's silhouette with the equations in angles; it is known to 1e-3. Found from one end alone before."""
    assert torus(ends)[0] == pytest.approx(length, abs=2e-3)


def test_ends_on_one_side_of_the_plane(torus):
    """Both farther out than the tube: around it, through the hole, by the shorter of both ways; with one over
    the hole: straight, or over the tube where that is in the way."""
    around = torus((4, 0, 0.1, 4, 0, 0.3))
    a, b = np.array([2, 0.1]), np.array([2, 0.3])  # from the tube's middle
    l1, l2 = (np.sqrt(v @ v - r * r) for v in (a, b))
    turn = 2 * np.pi - (np.arctan2(0.3, 2) - np.arctan2(0.1, 2)) - np.arctan2(l1, r) - np.arctan2(l2, r)
    assert around[0] == pytest.approx(l1 + l2 + r * turn, abs=1e-9)
    assert torus((0.5, 0, 1, 4, 0, 1))[43] == 0
    over = torus((0.5, 0, 0.3, 3.5, 0, 0.3))
    a, b = np.array([-1.5, 0.3]), np.array([1.5, 0.3])
    l = np.sqrt(a @ a - r * r)
    turn = np.pi - 2 * np.arctan2(0.3, 1.5) - 2 * np.arctan2(l, r)
    assert over[0] == pytest.approx(2 * l + r * turn, abs=1e-9)


def test_geodesics_in_angles():
    """From P with e_in, the equations of geodesics in the torus's own angles lead to Q with e_out. The arc
    that is drawn is on the surface and ends there; a cubic was up to 9 mm inside a tube of 10."""
    import casadi as ca

    from condyle.native.calls.native_function import NativeFunction
    from condyle.native.tables.staged import build_function

    x = ca.SX.sym("x", 6)
    row = cd.paths.Torus(r, R).row(x[:3], x[3:])
    f = NativeFunction(
        "torus_row",
        lambda: build_function("torus_row", [x], [row]),
        key="test torus row",
        inputs=[("x", 6)],
        outputs=[("row", row.numel())],
    )

    def place(u, v):
        w = R + r * np.cos(v)
        return np.array([w * np.cos(u), w * np.sin(u), r * np.sin(v)])

    def rates(_, y):
        _, v, du, dv = y
        w = R + r * np.cos(v)
        return [du, dv, 2 * r * np.sin(v) / w * du * dv, -w * np.sin(v) / r * du * du]

    for ends in oblique()[:12]:
        found = f(ends)
        if not np.isfinite(found[1]):
            continue
        L, e_in, e_out, P, Q = found[1], found[2:5], found[5:8], found[20:23], found[23:26]
        arc = L - np.linalg.norm(P - ends[:3]) - np.linalg.norm(ends[3:] - Q)
        ends_of = [x[None, None] for x in (P, Q, e_in, e_out)]
        s = np.linspace(0, 1, 17)[:, None]
        drawn = cd.paths.Torus(r, R).along(*ends_of, np.full((1, 1, 1), arc), s)[0]
        np.testing.assert_allclose(np.hypot(np.hypot(*drawn.T[:2]) - R, drawn[:, 2]), r, rtol=0, atol=1e-9)
        np.testing.assert_allclose(drawn[-1], Q, rtol=0, atol=1e-3 * r)  # what nobody sees
        rho = np.hypot(P[0], P[1])
        u, v = np.arctan2(P[1], P[0]), np.arctan2(P[2], rho - R)
        along = np.array([-np.sin(u), np.cos(u), 0])
        around = np.array([-np.sin(v) * np.cos(u), -np.sin(v) * np.sin(u), np.cos(v)])
        end = solve_ivp(
            rates, (0, arc), [u, v, e_in @ along / rho, e_in @ around / r], rtol=1e-12, atol=1e-13
        ).y[:, -1]
        np.testing.assert_allclose(place(*end[:2]), Q, rtol=0, atol=1e-9)
        along = np.array([-np.sin(end[0]), np.cos(end[0]), 0])
        around = np.array(
            [-np.sin(end[1]) * np.cos(end[0]), -np.sin(end[1]) * np.sin(end[0]), np.cos(end[1])]
        )
        tangent = (R + r * np.cos(end[1])) * end[2] * along + r * end[3] * around
        np.testing.assert_allclose(tangent, e_out, rtol=0, atol=1e-9)


def test_refusals():
    with pytest.raises(cd.errors.DescriptionError, match="must be less than outer_radius"):
        cd.paths.Torus(0.05, 0.01)
    with pytest.raises(cd.errors.DescriptionError, match="Parameters"):
        cd.paths.Torus(cd.Parameter("r", 0.01), 0.05)


def test_the_point_of_a_stretch_that_is_closest_to_the_circle():
    """From both ends, Newton's method finds what a scan and SciPy find, to rounding but for flat minima."""
    names = ca.SX.sym("A", 3), ca.SX.sym("B", 3)
    found = ca.Function("found", names, [ca.fmin(*(closest(*names, ca.SX(0.7), u)[1] for u in (0, 1)))])
    off = []
    for a, b in np.random.default_rng(0).normal(size=(60, 2, 3)):
        far = lambda u, a=a, d=b - a: (np.hypot(*(a + u * d)[:2]) - 0.7) ** 2 + (a + u * d)[2] ** 2
        k = int(np.argmin([far(u) for u in np.linspace(0, 1, 201)]))
        bounds = max(k - 1, 0) / 200, min(k + 1, 200) / 200
        fine = minimize_scalar(far, bounds=bounds, method="bounded", options={"xatol": 1e-12}).fun
        off.append(float(found(a, b)) - min(fine, far(0), far(1)))
    assert np.quantile(off, 0.95) < 1e-14 and max(off) < 1e-7
