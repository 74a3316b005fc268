"""Torque-free tops: precession of the symmetric one, Jacobi's elliptic functions for the asymmetric one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.special import ellipj

import condyle as cd
from tests.verification.flow import motion

# Local errors of 1e-12 add up over some hundred steps; angular velocities are near 5 rad/s.
INTEGRATED = 1e-9


def top(inertia, mobilizer=None, **body):
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("top", mobilizer=mobilizer or cd.Ball(), mass=1.3, inertia=inertia, **body)
    return system


def turned(q):
    """R of quaternions (w, x, y, z), by scipy."""
    return Rotation.from_quat(q[..., [1, 2, 3, 0]]).as_matrix()


def test_symmetric_top(evidence):
    """The axis turns about L at |L| / I; in the body w turns about the axis at (I3 - I) / I w3."""
    I, I3 = 0.2, 0.35
    system = top((I, I, I3))
    q, w = np.array([0.8, 0.1, -0.5, 0.3]), np.array([1.0, -2.0, 4.0])
    q = q / np.linalg.norm(q)
    times = np.linspace(0, 3, 40)
    qs, us = motion(system, q, w, times)
    R, R0 = turned(qs), turned(q)
    L = R0 @ np.diag((I, I, I3)) @ R0.T @ w
    precession = Rotation.from_rotvec(times[:, None] * L / I).as_matrix()
    evidence(
        "axis of a symmetric top after 3 s of precession about its angular momentum, absolute",
        np.abs(R[..., 2] - precession @ R0[:, 2]).max(),
        INTEGRATED,
    )
    w_B = R0.T @ w
    rate = (I3 - I) / I * w_B[2]
    c, s = np.cos(rate * times), np.sin(rate * times)
    expected = np.stack([c * w_B[0] - s * w_B[1], s * w_B[0] + c * w_B[1], np.full_like(c, w_B[2])], -1)
    np.testing.assert_allclose(np.einsum("nji,nj->ni", R, us), expected, rtol=0, atol=10 * INTEGRATED)


@pytest.mark.parametrize(
    "mobilizer", [cd.Ball(), cd.Free(), cd.Ball().reversed()], ids=["ball", "free", "reversed"]
)
def test_asymmetric_top(mobilizer, evidence):
    """Landau and Lifshitz, Mechanics (37.10): w in the principal axes by cn, sn, dn; energy and L are
    kept."""
    I = np.array([0.10, 0.17, 0.25])
    system = top(I, mobilizer)
    reverse = not isinstance(mobilizer, (cd.Ball, cd.Free))
    w_B = np.array([2.0, 0.0, 4.0])  # w2 = 0 at t = 0, and L^2 > 2 E I2
    E, L2 = 0.5 * I @ w_B**2, (I**2) @ w_B**2
    assert 2 * E * I[1] < L2
    rate = np.sqrt((I[2] - I[1]) * (L2 - 2 * E * I[0]) / I.prod())
    m = (I[1] - I[0]) * (2 * E * I[2] - L2) / ((I[2] - I[1]) * (L2 - 2 * E * I[0]))
    times = np.linspace(0, 4, 60)
    sn, cn, dn, _ = ellipj(rate * times, m)
    expected = np.stack(
        [
            np.sqrt((2 * E * I[2] - L2) / (I[0] * (I[2] - I[0]))) * cn,
            np.sqrt((2 * E * I[2] - L2) / (I[1] * (I[2] - I[1]))) * sn,
            np.sqrt((L2 - 2 * E * I[0]) / (I[2] * (I[2] - I[0]))) * dn,
        ],
        -1,
    )
    q, u = system.defaults()
    q[:4] = 0.5, -0.5, 0.1, 0.7
    q[:4] /= np.linalg.norm(q[:4])
    # a reversed Ball's w is that of ground in the body
    u[:3] = -w_B if reverse else turned(q[:4]) @ w_B
    qs, us = motion(system, q, u, times)
    R = np.stack([system.body_pose(x, "top").R for x in qs])
    w = np.stack([system.body_velocity(x, y, "top")[:3] for x, y in zip(qs, us)])
    evidence(
        "angular velocity of an asymmetric top over 4 s against elliptic functions, rad/s",
        np.abs(np.einsum("nji,nj->ni", R, w) - expected).max(),
        10 * INTEGRATED,
    )
    energy = np.array([system.energy(x, y)[0] for x, y in zip(qs, us)])
    np.testing.assert_allclose(energy, E, rtol=INTEGRATED)
    momentum = np.stack([system.momentum(x, y)[:3] for x, y in zip(qs, us)])
    np.testing.assert_allclose(
        momentum, np.broadcast_to(momentum[0], momentum.shape), rtol=0, atol=INTEGRATED
    )
    assert np.linalg.norm(momentum[0]) == pytest.approx(np.sqrt(L2), rel=1e-12)


def test_the_middle_axis_is_unstable():
    """A rotation about the middle axis, disturbed by 1e-6, turns over; about the others it stays."""
    I = np.array([0.10, 0.17, 0.25])
    system = top(I)
    for axis in range(3):
        w = np.full(3, 1e-6)
        w[axis] = 5.0
        qs, us = motion(system, system.defaults()[0], w, np.linspace(0, 12, 120))
        along = np.einsum("nji,nj->ni", turned(qs), us)[:, axis]
        assert (along.min() < -4.9) == (axis == 1)
        assert axis == 1 or along.min() > 4.999
