"""SplineSurface: what tests/mobilizers/test_families.py does not ask of every mobilizer."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.mobilizers import derived_motion, motion_at
from condyle.native.tables.lookup import Closure
from condyle.spatial import exp_so3, rotation_x
from tests.mobilizers.every import EVERY, RING, RIPPLE, SURFACE
from tests.mobilizers.poses import one_body

DATA = Path(__file__).parents[1] / "data" / "spline_joints" / "values.json"
NAMES = ("rx", "ry", "rz", "tx", "ty", "tz")


@pytest.mark.parametrize(
    "stored", json.loads(DATA.read_text(encoding="utf-8"))["surfaces"], ids=lambda c: c["name"]
)
def test_against_forty_digits(stored, evidence):
    """R, p, H and bias by mpmath, from a program that shares nothing with Condyle."""
    X = np.array(stored["H"])
    surface = cd.SplineSurface(
        stored["control_values"],
        stored["knots"],
        stored["order"],
        axes=[NAMES[i] for i in stored["axes"]],
        X=cd.Transform(exp_so3(X[:3]), X[3:]),
    )
    u = np.array([0.7, -1.3])
    poses, rates = [], []
    for at in stored["values"]:
        R, p, s, ds = (np.array(at[name], dtype=float) for name in ("R", "p", "s", "ds"))
        ours = motion_at(surface, 0.0, at["q"], u)
        poses += [np.abs(ours.R - R).max(), np.abs(ours.p[:, 0] - p).max()]
        # s is in M's frame: H = R s; bias = R (sdot + w x v) with s of the joint
        H = np.concatenate([R @ s.T[:3], R @ s.T[3:]])
        w, v = np.split(u @ s, 2)
        s_dot = np.einsum("ijk,i,j->k", ds, u, u)
        bias = np.concatenate([R @ s_dot[:3], R @ (s_dot[3:] + np.cross(w, v))])
        for got, true in (
            (np.concatenate([ours.H_w, ours.H_v]), H),
            (np.concatenate([ours.bias_w, ours.bias_v])[:, 0], bias),
        ):
            rates.append(np.abs(got - true).max() / max(1.0, np.abs(true).max()))
    evidence("poses of spline surfaces against 40 digits [m, 1]", max(poses), 1e-14, headline="spline poses")
    evidence(
        "H and bias of spline surfaces against 40 digits, relative",
        max(rates),
        1e-13,
        headline="spline rates",
    )


def parts(surface, q, u, t=0.0):
    return np.concatenate([np.ravel(x) for x in motion_at(surface, t, q, u)])


@pytest.mark.parametrize("name", ["SplineSurface", "SplineSurface-order", "SplineSurface-time"])
def test_goes_on_outside_with_two_continuous_derivatives(name):
    """H and bias are continuous at every edge, and agree with differentiation beyond."""
    surface, rng = EVERY[name], np.random.default_rng(1)
    t, q, u = ca.SX.sym("t"), ca.SX.sym("q", 2), ca.SX.sym("u", 2)
    m = surface.motion(t, q, u)
    derived = Closure(
        "f", [t, q, u], [ca.densify(x) for x in derived_motion(m.R, m.p, t, q, u, ca.SX.eye(2)).parts()]
    )
    for d, (low, high) in enumerate(surface.domain):
        for edge, sign in ((low, -1), (high, 1)):
            x, rate = surface.random_q(rng), rng.uniform(-1, 1, 2)
            x[d] = edge
            inside, outside = x.copy(), x.copy()
            inside[d], outside[d] = edge - sign * 1e-9, edge + sign * 1e-9
            # 2e-9 apart, with third derivatives of some tens
            np.testing.assert_allclose(
                parts(surface, inside, rate, 0.2), parts(surface, outside, rate, 0.2), rtol=0, atol=1e-6
            )
            x[d] = edge + sign * 0.3
            expected = np.concatenate([np.ravel(y) for y in derived.at(0.2, x, rate)])
            # polynomials of degree 2 that reach some units there
            np.testing.assert_allclose(parts(surface, x, rate, 0.2)[:-2], expected, rtol=0, atol=1e-13)


def test_closed_directions_repeat():
    ring, u = EVERY["SplineSurface-closed"], np.array([0.7])
    for q in (0.2, 1.4, 2.9):
        for period in (-2, 1):
            # q + 3 rounds once
            np.testing.assert_allclose(
                parts(ring, [q + 3 * period], u), parts(ring, [q], u), rtol=0, atol=1e-13
            )


@pytest.mark.parametrize("shape", [(5,), (4, 5, 6)])
def test_one_and_three_coordinates(shape):
    """The pose by SciPy's B-splines, one tensor product at a time; H and bias by differentiation of the
    pose."""
    from scipy.interpolate import BSpline, NdBSpline
    from scipy.spatial.transform import Rotation

    n, rng = len(shape), np.random.default_rng(5)
    grids = np.meshgrid(*(np.linspace(0, 1, m) for m in shape), indexing="ij")
    c = 0.3 * rng.normal(size=(6, *shape)) + np.array([*grids, *np.zeros((6 - n, *shape))])
    surface = cd.SplineSurface(c)
    t, q, u = ca.SX.sym("t"), ca.SX.sym("q", n), ca.SX.sym("u", n)
    m = surface.motion(t, q, u)
    derived = Closure(
        "f", [t, q, u], [ca.densify(x) for x in derived_motion(m.R, m.p, t, q, u, ca.SX.eye(n)).parts()]
    )
    for _ in range(5):
        x, rate = surface.random_q(rng), rng.uniform(-1, 1, n)
        spline = (
            NdBSpline(surface.knots, np.moveaxis(c, 0, -1), 3) if n > 1 else BSpline(surface.knots[0], c.T, 3)
        )
        phi = np.ravel(spline(x))
        ours = motion_at(surface, 0.0, x, rate)
        np.testing.assert_allclose(ours.p[:, 0], phi[:3], rtol=0, atol=1e-14)
        np.testing.assert_allclose(
            ours.R, Rotation.from_euler("XYZ", phi[3:]).as_matrix(), rtol=0, atol=1e-14
        )
        for a, b in zip(ours[2:8], derived.at(0.0, x, rate)[2:]):
            # second derivatives of random control values reach some tens
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


def test_parameters_among_control_values():
    """The same as the numbers, at their defaults and at other values."""
    P = cd.Parameter
    values = SURFACE.astype(object)
    values[2, 1, 2] = P("bump", float(SURFACE[2, 1, 2]))
    values[3, 2, 2], values[3, 2, 3] = 0.1 + P("tilt", 0.3), 0.1 + P("tilt", 0.3)
    surface = cd.SplineSurface(values)
    moved, plain = one_body(surface), SURFACE.copy()
    plain[2, 1, 2], plain[3, 2, 2:4] = 0.25, -0.1
    q, u = np.array([0.3, 0.6]), np.array([0.5, -0.4])
    expected = one_body(cd.SplineSurface(plain)).forward_dynamics(q, u)
    np.testing.assert_allclose(
        moved.forward_dynamics(q, u, parameters={"bump": 0.25, "tilt": -0.2}), expected, rtol=1e-13
    )
    plain[2, 1, 2], plain[3, 2, 2:4] = SURFACE[2, 1, 2], 0.4
    np.testing.assert_allclose(
        motion_at(surface, 0.0, q, u).bias_w,
        motion_at(cd.SplineSurface(plain), 0.0, q, u).bias_w,
        rtol=0,
        atol=1e-14,
    )


def test_an_angle_of_parameters_winds():
    """The turn of a closed direction is no control value: it was lost where all numbers of an angle were
    zero."""
    values = RING.astype(object)
    values[5] = [0.0, *(cd.Parameter(f"a{j}", float(RING[5, j])) for j in range(1, 6))]
    ring, plain = cd.SplineSurface(values, closed=True, domain=(0, 3)), EVERY["SplineSurface-closed"]
    for q in (0.1, 1.4, 2.95, 7.3):
        # angles up to 2 pi are rounded
        np.testing.assert_allclose(parts(ring, [q], [0.7]), parts(plain, [q], [0.7]), rtol=0, atol=1e-14)


def test_equal_and_different():
    """One number in a long table makes another kernel; a pickled one is the same."""
    big = np.zeros((6, 40, 50))
    big[0], big[1] = np.meshgrid(np.linspace(0, 1, 40), np.linspace(0, 1, 50), indexing="ij")
    other = big.copy()
    other[2, 20, 20] = 1e-9
    assert cd.SplineSurface(big) == cd.SplineSurface(big.copy()) != cd.SplineSurface(other)
    assert cd.SplineSurface(big).description() != cd.SplineSurface(other).description()
    for name in ("SplineSurface", "SplineSurface-time"):
        assert pickle.loads(pickle.dumps(EVERY[name])) == EVERY[name]
    surface = EVERY["SplineSurface-time"]
    again = cd.SplineSurface(
        surface.values,
        surface.knots,
        surface.order,
        axes=surface.axes,
        X=surface.X,
        closed=surface.closed,
        modes=surface.modes,
    )
    assert again == surface


def test_gimbal_lock_is_named():
    """The second angle reaches pi/2 at q1 = 0.5."""
    a, b = np.meshgrid(np.linspace(0, 1, 6), np.linspace(0, 1, 6), indexing="ij")
    c = np.array([a, b, 0 * a, 0 * a, np.pi * a, 0 * a])
    with pytest.warns(UserWarning, match=r"gimbal lock\) at q1 = 0\.(49|5)\d*.*\(cell . of 3\)"):
        surface = cd.SplineSurface(c, knots=[[0, 0, 0, 0, 1 / 3, 2 / 3, 1, 1, 1, 1]] * 2)
    assert "gimbal lock at q1 = 0." in surface.singular == surface.reversed().singular
    assert EVERY["SplineSurface"].singular.endswith("nowhere")
    assert EVERY["SplineSurface-time"].singular.endswith("nowhere at t = 0 and the defaults of Parameters")


BAD = SURFACE.copy()
BAD[1, 2, 3] = np.nan
FLAT = SURFACE.copy()
FLAT[:, 0] = FLAT[:, 0, :1]


@pytest.mark.parametrize(
    ("arguments", "options", "says"),
    [
        ((BAD,), {}, r"values\[1, 2, 3\] is nan"),
        ((np.moveaxis(SURFACE, 0, -1),), {}, r"got \(5, 6, 6\); functions are the first dimension"),
        ((SURFACE[:, :3],), {}, "3 control values are too few, order 4 needs at least 4"),
        ((SURFACE,), {"order": 3}, "order must be a whole number from 4"),
        ((SURFACE, [np.arange(9), np.arange(9)]), {}, "need 10"),
        ((SURFACE, [[0, 0, 0, 0, 2, 1, 1, 1, 1], None]), {}, "must not decrease"),
        ((SURFACE, [None, [0, 0, 0, 0, 1, 1, 2, 2, 2, 2]]), {}, "occurs 2 times"),
        ((SURFACE,), {"axes": ("tx", "tx", "tz", "rx", "ry", "rz")}, "tx occurs twice"),
        ((SURFACE,), {"coordinates": ("a", "b", "c")}, r"a joint of 2 coordinate\(s\)"),
        ((SURFACE,), {"domain": (1, 0)}, "low < high"),
        ((SURFACE,), {"modes": [(RIPPLE[:, :4], np.sin)]}, r"modes\[0\]: its values have shape"),
        ((SURFACE,), {"modes": [(RIPPLE, "sin")]}, "expected a function of time"),
        ((FLAT,), {}, r"loses its rank at q1 = 0 \(cell 1 of 2\)"),
    ],
)
def test_refusals(arguments, options, says):
    with pytest.raises(cd.errors.DescriptionError, match=says):
        cd.SplineSurface(*arguments, **options)


def test_angles_that_wind_differently_are_refused():
    c = np.array([RING, RING]).transpose(1, 2, 0).copy()
    c[1, :, 1] += 1
    c[5, 3:, 1] -= 2 * np.pi
    with pytest.raises(
        cd.errors.DescriptionError, match="rz winds around q1 0 times at some control values and 1 times"
    ):
        cd.SplineSurface(
            np.repeat(c, 2, axis=2), closed=(True, False), axes=("tx", "ty", "tz", "rx", "ry", "rz")
        )


# ---- Through points ----


def test_through_points_with_the_normal():
    """It passes through the points, and M's z axis is the normal of its own surface, within what is asked
    for; a cylinder's normal winds."""
    a, b = np.meshgrid(2 * np.pi * np.arange(12) / 12, np.linspace(-1, 1, 6), indexing="ij")
    for points, closed, sites in (
        (
            np.stack([0.3 * np.cos(a), 0.3 * np.sin(a), 0.2 * b + 0.02 * np.sin(a)], axis=-1),
            (True, False),
            (np.arange(12) / 12, np.linspace(0, 1, 6)),
        ),
        (
            np.stack([b, a / 4, 0.3 * np.cos(a / 4) * np.cos(b)], axis=-1),
            False,
            (np.linspace(0, 1, 12), np.linspace(0, 1, 6)),
        ),
    ):
        surface = cd.SplineSurface.of_positions(points, closed=closed, within=2e-3)
        there = surface.pose(np.stack(np.meshgrid(*sites, indexing="ij"), axis=-1))
        np.testing.assert_allclose(there.p, points, rtol=0, atol=1e-14)
        rng = np.random.default_rng(2)
        for q in [surface.random_q(rng) for _ in range(40)]:
            at = motion_at(surface, 0.0, q, np.zeros(2))
            n = np.cross(*at.H_v.T)
            # between the places that were looked at, it may be a few percent larger
            assert np.linalg.norm(np.cross(n / np.linalg.norm(n), at.R[:, 2])) < 1.1 * 2e-3
            assert n @ at.R[:, 2] > 0
            np.testing.assert_allclose(surface.pose(q).R, at.R, rtol=0, atol=1e-15)


def test_through_points_with_given_orientations():
    a, b = np.meshgrid(np.linspace(-1, 1, 5), np.linspace(-1, 1, 6), indexing="ij")
    R, points = exp_so3(np.stack([0.5 * b, 0.4 * a, a * b], axis=-1)), np.stack([a, b, a * b], axis=-1)
    q = (np.array([0, 0.1, 0.4, 0.6, 1]), np.linspace(2, 4, 6))
    surface = cd.SplineSurface.of_positions(points, R, q=q)
    there = surface.pose(np.stack(np.meshgrid(*q, indexing="ij"), axis=-1))
    np.testing.assert_allclose(there.R, R, rtol=0, atol=1e-14)
    np.testing.assert_allclose(there.p, points, rtol=0, atol=1e-14)
    still = cd.SplineSurface.of_positions(points, None)
    assert not motion_at(still, 0.0, [0.2, 0.3], [1, 1]).H_w.any()


@pytest.mark.parametrize(
    ("points", "options", "says"),
    [
        (np.zeros((5, 6)), {}, r"expected shape \(n1, n2, 3\)"),
        (np.zeros((3, 6, 3)), {}, "3 points are too few"),
        (np.full((5, 6, 3), np.nan), {}, r"points\[0, 0, 0\] is not finite"),
        (np.zeros((5, 6, 3)), {}, "has no normal somewhere"),
        (np.zeros((5, 6, 3)), {"orientation": "tangent"}, "expected 'normal', None or rotations"),
        (np.zeros((5, 6, 3)), {"q": ([0, 1, 1, 2, 3], None)}, "must be finite and increase"),
        (np.zeros((5, 6, 3)), {"orientation": np.zeros((5, 6, 3))}, "rotations of shape"),
    ],
)
def test_refusals_of_points(points, options, says):
    with pytest.raises(cd.errors.DescriptionError, match=says):
        cd.SplineSurface.of_positions(points, **options)


# ---- Energy ----


def bowl(tilt=0.6, **options):
    """A bowl that a body does not leave, tilting as it slides."""
    a, b = np.meshgrid(np.linspace(-1, 1, 7), np.linspace(-1, 1, 6), indexing="ij")
    c = np.array([0.5 * a, 0.5 * b, 0.6 * (a * a + b * b) - 0.05 * a, -tilt * b, tilt * a, 0.5 * a * b])
    return cd.SplineSurface(c, domain=(-1, 1), **options)


def on_bowls(*mobilizers):
    system = cd.System(gravity=(0, 0, -9.81))
    for k, mobilizer in enumerate(mobilizers):
        system.add_body(
            f"b{k}",
            mobilizer=mobilizer,
            X_PF=cd.Transform(rotation_x(0.3)),
            mass=0.5,
            com=(0.02, 0.01, 0.03),
            inertia=(0.01, 0.02, 0.015),
        )
    return system


def test_energy_over_ten_seconds(evidence):
    """A bowl, one times another reversed, a closed curve and an ellipse: within 1e-8 J at accuracy 1e-10."""
    system = on_bowls(
        bowl(),
        cd.compose(bowl(order=6), bowl(-0.5, order=6).reversed()),
        cd.SplineSurface(0.3 * RING, closed=True),
        cd.EllipticSlider(0.3, 0.2),
    )
    for name in list(system.coordinates)[2:6]:  # the two bowls would slide away on each other
        system.add_force(f"{name} spring", cd.forces.MobilitySpring(name, 20.0, 0.0))
    u = np.random.default_rng(0).uniform(-0.5, 0.5, system.nu)
    run = cd.simulate(system, system.state(q=np.zeros(system.nq), u=u), 10.0, accuracy=1e-10)
    kinetic, potential = system.energy(run.q, run.u)
    assert run.finished
    assert np.ptp(kinetic) > 0.1
    energy = kinetic + potential
    evidence(
        "energy of bodies on spline surfaces, on one surface that slides on another, and along an "
        "ellipse, over 10 s at accuracy 1e-10 [J]",
        np.abs(energy - energy[0]).max(),
        1e-8,
    )


def test_energy_balance_of_a_deforming_surface():
    """What the surface does to the body by moving, in `motion_power`, is the change of energy: an integration
    by SciPy."""
    from scipy.integrate import solve_ivp

    wave = np.zeros((6, 7, 6))
    wave[2], wave[4] = 0.1 * np.cos(np.arange(7))[:, None], 0.1
    system = on_bowls(bowl(modes=[(wave, lambda t: np.sin(3 * t) + 0.2 * t)]))

    def rates(t, y):
        q, u = y[:2], y[2:4]
        return np.concatenate([u, system.forward_dynamics(q, u, t=t), [system.motion_power(q, u, t=t).sum()]])

    run = solve_ivp(rates, (0, 2), [0.2, -0.3, 0.1, 0.4, 0.0], method="DOP853", rtol=1e-11, atol=1e-12)
    energy = [sum(system.energy(y[:2], y[2:4], t=t)) for t, y in zip(run.t, run.y.T)]
    assert np.ptp(run.y[4]) > 0.1
    # some hundred steps of 1e-11 each
    np.testing.assert_allclose(energy - energy[0], run.y[4], rtol=0, atol=1e-9)
