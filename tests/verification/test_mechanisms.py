"""Small mechanisms with closed forms: a nut on a screw, two articulated bodies, the knee of seth2010 (36)-(39)."""
from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import condyle as cd
from condyle.spatial import rotation_z
from tests.oracles import cross_matrix

G = 9.81
EPS = np.finfo(float).eps
# Some tens of products a result.
ROUNDING = 200 * EPS


@pytest.mark.parametrize("pitch", [0.02, -0.3, 1.5])
def test_nut_on_a_screw(pitch, evidence):
    """A nut that slides down a screw without friction turns: a = g / (1 + I / (m p^2))."""
    m, I = 0.6, 0.011
    system = cd.System(gravity=(0, 0, -G))
    system.add_body("nut", mobilizer=cd.Screw(pitch), mass=m, inertia=(0.01, 0.02, I))
    q, u = np.array([0.7]), np.array([2.0])
    udot = system.forward_dynamics(q, u)
    a = system.body_acceleration(q, u, udot, "nut")[5]
    expected = -G / (1 + I / (m * pitch**2))
    evidence("fall of a nut on a screw, relative", abs(a / expected - 1), ROUNDING)
    moment, force = np.split(system.reactions(q, u, udot, "nut"), 2)
    np.testing.assert_allclose(moment[2], I * udot[0], rtol=ROUNDING)        # the thread turns the nut,
    np.testing.assert_allclose(force[2], m * (a + G), rtol=ROUNDING)         # and holds it up


def inertia_6(m, com, I):
    """Spatial inertia about the origin, angular first."""
    c = cross_matrix(com)
    return np.block([[np.asarray(I) - m * c @ c, m * c], [-m * c, m * np.eye(3)]])


@pytest.mark.parametrize("seed", range(4))
def test_articulated_inertia_of_two_pinned_bodies(seed, evidence):
    """Featherstone: at rest, a handle that carries a pinned body resists as I1 + I2 - I2 s s' I2 / (s' I2 s)."""
    rng = np.random.default_rng(seed)
    (m1, m2), (c1, c2, at) = rng.uniform(0.5, 2, 2), rng.uniform(-0.5, 0.5, (3, 3))
    I1, I2 = np.diag([0.10, 0.14, 0.11]), np.diag([0.02, 0.03, 0.025])
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("handle", mobilizer=cd.Free(), mass=m1, com=c1, inertia=I1)
    system.add_body("pinned", "handle", cd.Pin(axis=rng.normal(size=3)), X_PF=at, mass=m2, com=c2, inertia=I2)
    pin = np.array(system.body("pinned").mobilizer.axis)
    s = np.concatenate([pin, np.cross(at, pin)])             # velocity of the point at the handle's origin
    J2 = inertia_6(m2, at + c2, I2)
    expected = inertia_6(m1, c1, I1) + J2 - np.outer(J2 @ s, J2 @ s) / (s @ J2 @ s)
    q, u = system.defaults()
    forces = np.concatenate([np.eye(6), np.zeros((6, 1))], axis=1)           # on the handle alone
    found = system.forward_dynamics(q, u, forces)[:, :6].T
    # The inverse of a matrix with a condition number of some hundreds.
    evidence("articulated inertia of two pinned bodies, times its inverse, against 1",
             np.abs(found @ expected - np.eye(6)).max(), 100 * ROUNDING)


def test_apparent_mass_of_a_handle():
    """Pushed across, the pinned body swings away: m1 + m2 I2 / (I2 + m2 d^2); along, it must come: m1 + m2."""
    m1, m2, I1, I2, d = 1.0, 2.0, 0.3, 0.05, 0.4
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("handle", mobilizer=cd.Planar(), mass=m1, inertia=(I1, I1, I1))
    system.add_body("pinned", "handle", cd.Pin(), mass=m2, com=(d, 0, 0), inertia=(I2, I2, I2))
    q, u = system.defaults()
    turn, along, across = np.eye(3, 4)
    assert system.forward_dynamics(q, u, turn)[0] == pytest.approx(1 / I1, rel=ROUNDING)      # the pin passes no torque
    assert system.forward_dynamics(q, u, along)[1] == pytest.approx(1 / (m1 + m2), rel=ROUNDING)
    assert system.forward_dynamics(q, u, across)[2] == pytest.approx(1 / (m1 + m2 * I2 / (I2 + m2 * d * d)), rel=ROUNDING)


# ---- The knee --------------------------------------------------------------------------------------------------------

ANGLES = np.linspace(-2.2, 0.3, 14)
SHIFTS = 0.005 * np.cos(2 * ANGLES), -0.39 + 0.015 * np.sin(1.3 * ANGLES)
FX, FY = (CubicSpline(ANGLES, y, bc_type="natural") for y in SHIFTS)
OURS = tuple(cd.Spline(ANGLES, y) for y in SHIFTS)


def knee(kind):
    if kind == "function":
        return cd.FunctionBased(("knee",), (None, None, lambda q: q), (*OURS, None))
    return cd.Custom(("knee",), lambda q: (rotation_z(q), (OURS[0](q), OURS[1](q), 0.0)))


@pytest.mark.parametrize("kind", ["function", "custom"])
def test_knee_of_seth2010(kind, evidence):
    m, I = 3.7, 0.05
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("tibia", mobilizer=knee(kind), mass=m, inertia=(0.05, 0.004, I))
    q, u = np.linspace(-2.1, 0.2, 40)[:, None], np.linspace(-3, 3, 40)[:, None]
    zero, one = 0 * q[:, 0], np.ones(40)
    p, p1, p2 = (np.stack([FX(q[:, 0], k), FY(q[:, 0], k), zero], -1) for k in range(3))
    X = system.body_pose(q, "tibia")
    c, s = np.cos(q[:, 0]), np.sin(q[:, 0])
    R = np.stack([np.stack([c, -s, zero], -1), np.stack([s, c, zero], -1), np.stack([zero, zero, one], -1)], -2)
    np.testing.assert_allclose(X.R, R, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(X.p, p, rtol=0, atol=ROUNDING)                                               # (36)
    H = np.concatenate([np.stack([zero, zero, one], -1), p1], -1)
    np.testing.assert_allclose(system.frame_jacobian(q, "tibia", (0, 0, 0))[..., 0], H, rtol=0, atol=ROUNDING)   # (37)
    bias = np.concatenate([np.zeros((40, 3)), p2 * u**2], -1)
    np.testing.assert_allclose(system.frame_bias(q, u, "tibia", (0, 0, 0)), bias, rtol=0, atol=10 * ROUNDING)    # (38)
    np.testing.assert_array_equal(system.qdot(q, u), u)                                                     # (39)
    # One coordinate: (I + m p'.p') udot = m g . p' - m p'.p'' u^2
    expected = (-m * G * p1[:, 1] - m * (p1 * p2).sum(1) * u[:, 0] ** 2) / (I + m * (p1 * p1).sum(1))
    evidence("acceleration of the knee of seth2010 (36)-(39) by splines, relative",
             np.abs(system.forward_dynamics(q, u)[:, 0] - expected).max() / np.abs(expected).max(), 10 * ROUNDING)
