"""Linear bushing: its coordinates against SciPy's Euler angles, its forces against differences of its
energy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import condyle as cd
from condyle import forces
from condyle.mobilizers import Bushing
from tests.forces.rig import DAMP, EPS, P_A, P_B, R_TILT, STIFF, arm, power, state

X_A, X_B = cd.Transform(R_TILT, P_A), cd.Transform(R_TILT.T @ R_TILT.T, P_B)


def coordinates(system, q):
    """Body-fixed x-y-z angles and displacement of M in F, by SciPy."""
    R, p = (system.body_pose(q, "base") @ X_A).inverse() @ (system.body_pose(q, "lower") @ X_B)
    return np.r_[Rotation.from_matrix(R).as_euler("XYZ"), p]


@pytest.mark.parametrize("seed", range(4))
def test_energy_is_that_of_six_springs(seed):
    system = arm(gravity=(0, 0, 0), law=forces.LinearBushing("base", X_A, "lower", X_B, STIFF, DAMP))
    q, _ = state(system, seed)
    x = coordinates(system, q)
    # Angles of some products of rotations: tens of eps, stiffness up to 80.
    assert system.energy(q, np.zeros(system.nu))[1] == pytest.approx(np.dot(STIFF, x**2) / 2, rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_damping_takes_c_xdot_squared(seed):
    """Power of the dampers is -sum c xdot^2, xdot by differences of SciPy's angles along the motion."""
    system = arm(law=forces.LinearBushing("base", X_A, "lower", X_B, (0,) * 6, DAMP))
    q, u = state(system, seed)
    h = 1e-5
    step = h * system.qdot(q, u)
    xdot = (coordinates(system, _unit(q + step)) - coordinates(system, _unit(q - step))) / (2 * h)
    # Central differences: h^2 times third derivatives of 1e2, relative to powers of 10 W.
    assert power(system, "law", q, u) == pytest.approx(-np.dot(DAMP, xdot**2), rel=1e-6)


def _unit(q):
    return np.r_[q[:4] / np.linalg.norm(q[:4]), q[4:]]


def test_small_deflection_is_six_separate_springs():
    """A free body on a bushing to ground, frames equal: each coordinate feels its own stiffness."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("head", mobilizer=Bushing(), mass=1.0, inertia=(1.0, 1.0, 1.0))
    system.add_force("law", forces.LinearBushing("ground", None, "head", None, STIFF, DAMP))
    for i in range(6):
        q, u = 0.3 * np.eye(6)[i], 0.2 * np.eye(6)[i]
        f = -system.inverse_dynamics(q, u, np.zeros(6))[i]
        # One coordinate alone: its angle or displacement is exact to rounding.
        assert f == pytest.approx(-0.3 * STIFF[i] - 0.2 * DAMP[i], rel=100 * EPS)
