"""Pendulums with closed forms: compound (elliptic functions), double (Lagrange's equations), spherical and
conical."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import condyle as cd
from tests.verification.flow import motion

G = 9.81
EPS = np.finfo(float).eps
# Some tens of products a result, for masses and lengths near 1.
ROUNDING = 200 * EPS


def compound(m=1.7, d=0.4, I=0.09):
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("bar", mobilizer=cd.Pin(), X_BM=(0, d, 0), mass=m, inertia=(0.05, 0.05, I))
    return system, np.sqrt(m * G * d / (I + m * d * d))


@pytest.mark.parametrize("start", [0.1, 1.0, 2.5, 3.1])
def test_compound_pendulum(start, evidence):
    """sin(q / 2) = k cd(w t), k = sin(q0 / 2); the period is 4 K(k) / w."""
    system, w = compound()
    m = np.sin(start / 2) ** 2
    period = 4 * ellipk(m) / w
    steps = 20_000
    traj = cd.simulate(system, system.state(q=[start]), period, step=period / steps, integrator="rk4")
    _, cn, dn, _ = ellipj(w * traj.t, m)
    # RK4 with h = T / 20000: (w h)^4 times some periods is below 1e-12 of the amplitude; rounding adds 1e-16
    # per step. Near the upright position (3.1 rad) phase errors grow by exp(w T / 2), about 100.
    evidence(
        "angle of a compound pendulum over one period against elliptic functions, rad",
        np.abs(traj.q[:, 0] - 2 * np.arcsin(np.sqrt(m) * cn / dn)).max(),
        1e-9,
    )
    assert max(abs(traj.q[-1, 0] - start), abs(traj.u[-1, 0])) < 1e-9


def test_small_swings_have_the_linear_period():
    """The period tends to 2 pi / w with q0^2 / 16."""
    system, w = compound()
    times = np.array([0.0, np.pi / (2 * w)])
    q, _ = motion(system, [1e-3], [0.0], times)
    # A quarter period later the bar hangs; the period is longer by q0^2 / 16 of itself, w q0 a second.
    assert abs(q[-1, 0]) < 1e-3 * (np.pi / 2) * 1e-6 / 16 * 1.01


@pytest.mark.parametrize("seed", range(5))
def test_double_pendulum(seed, evidence):
    """Lagrange's equations of two point masses on rods, for angles from the vertical."""
    rng = np.random.default_rng(seed)
    m1, m2, l1, l2 = rng.uniform(0.5, 2, 4)
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("a", mobilizer=cd.Pin(), mass=m1, com=(0, -l1, 0))
    system.add_body("b", "a", cd.Pin(), X_PF=(0, -l1, 0), mass=m2, com=(0, -l2, 0))
    a, b, da, db = rng.uniform(-3, 3, (4, 50))
    udot = system.forward_dynamics(np.stack([a, b - a], -1), np.stack([da, db - da], -1))
    den = 2 * m1 + m2 - m2 * np.cos(2 * a - 2 * b)
    dda = (
        -G * (2 * m1 + m2) * np.sin(a)
        - m2 * G * np.sin(a - 2 * b)
        - 2 * np.sin(a - b) * m2 * (db**2 * l2 + da**2 * l1 * np.cos(a - b))
    ) / (l1 * den)
    ddb = (
        2
        * np.sin(a - b)
        * (da**2 * l1 * (m1 + m2) + G * (m1 + m2) * np.cos(a) + db**2 * l2 * m2 * np.cos(a - b))
        / (l2 * den)
    )
    expected = np.stack([dda, ddb - dda], -1)
    # cond(M) of point masses on rods is below some hundreds here.
    evidence(
        "double pendulum against Lagrange's equations, relative to the largest acceleration",
        np.abs(udot - expected).max() / np.abs(expected).max(),
        1000 * ROUNDING,
    )


def spherical(l=0.8, m=1.1):
    """A particle: azimuth about z, zenith from z, radius. Gravity is down z."""
    system = cd.System(gravity=(0, 0, -G))
    system.add_body("bob", mobilizer=cd.SphericalCoords(), mass=m)
    return system, m, l


def test_conical_pendulum():
    """theta'' = 0 at w^2 = g / (l cos theta); the rod pulls with m g / cos theta."""
    system, m, l = spherical()
    for theta in (0.2, 0.9, 1.4):
        w = np.sqrt(G / (l * np.cos(theta)))
        q, u = np.array([0.7, np.pi - theta, l]), np.array([w, 0.0, 0.0])
        udot = system.forward_dynamics(q, u, locked=["bob_radius"])
        np.testing.assert_allclose(udot, 0, atol=ROUNDING * w * w)
        pull = system.motion_forces(q, u, locked=["bob_radius"])
        np.testing.assert_allclose(
            pull, [0, 0, -m * G / np.cos(theta)], rtol=0, atol=ROUNDING * m * G / np.cos(theta)
        )


def test_spherical_pendulum(evidence):
    """Lagrange: theta'' = sin theta (phi'^2 cos theta - g / l) and phi'' = -2 phi' theta' cot theta; energy
    and L_z are kept."""
    system, _, l = spherical()
    lock = {"locked": ["bob_radius"]}
    theta, phi_dot, theta_dot = 1.1, 1.7, -0.6
    q, u = np.array([0.3, np.pi - theta, l]), np.array([phi_dot, -theta_dot, 0.0])
    udot = system.forward_dynamics(q, u, **lock)
    expected = [
        -2 * phi_dot * theta_dot / np.tan(theta),
        -np.sin(theta) * (phi_dot**2 * np.cos(theta) - G / l),
        0,
    ]
    np.testing.assert_allclose(udot, expected, rtol=0, atol=10 * ROUNDING)
    qs, us = motion(system, q, u, np.linspace(0, 5, 50), **lock)
    total = np.array([sum(system.energy(x, y)) for x, y in zip(qs, us)])
    L_z = np.array([system.momentum(x, y)[2] for x, y in zip(qs, us)])
    # Local errors 1e-12 over some hundred steps.
    evidence(
        "energy and vertical momentum of a spherical pendulum over 5 s, relative",
        max(np.ptp(total) / np.abs(total).max(), np.ptp(L_z) / np.abs(L_z).max()),
        1e-9,
    )


def test_a_line_is_the_same_pendulum():
    """The same particle on a rod that does not spin (LineOrientation): the same path of the bob."""
    system, m, l = spherical()
    line = cd.System(gravity=(0, 0, -G))
    line.add_body("rod", mobilizer=cd.LineOrientation(), mass=m, com=(0, 0, -l))
    theta, phi_dot = 0.9, 2.0
    times = np.linspace(0, 3, 20)
    qs, _ = motion(system, [0, np.pi - theta, l], [phi_dot, 0, 0], times, locked=["bob_radius"])
    bob = np.stack([system.body_pose(q, "bob").p for q in qs])
    q = np.array([np.cos(theta / 2), 0, -np.sin(theta / 2), 0])  # swung from -z toward +x
    # its z, spin about the rod, is left out
    w_M = line.body_pose(q, "rod").R.T @ (0, 0, phi_dot)
    qs, _ = motion(line, q, w_M[:2], times)
    other = np.stack([line.station_position(x, "rod", (0, 0, -l)) for x in qs])
    np.testing.assert_allclose(other, bob, rtol=0, atol=1e-9)  # two integrations of 3 s
