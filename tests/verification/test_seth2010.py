"""seth2010, Tables 1 and 2: a joint as a mobilizer and as a looser one with constraints is the same joint.

The models are those that `benchmarks/seth2010.py` times.
"""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from benchmarks import seth2010

BODY = {seth2010.ellipsoid: "scapula", seth2010.knee: "shank"}
TIMES = np.linspace(0.0, 2.0, 21)


def both(joint):
    """The mobilizer's row and that with constraints; on the second a state of the first, by its pose and
    velocity."""
    _, mobilizer, constraints = joint()
    return mobilizer, constraints


def as_constrained(joint, system, q, u):
    """States of the mobilizer, (..., nq) and (..., nu), in the coordinates of the looser joint."""
    p = system.body_pose(q, BODY[joint]).p
    V = system.body_velocity(q, u, BODY[joint])
    if joint is seth2010.ellipsoid:
        return np.concatenate([q, p], axis=-1), V
    return np.concatenate([q, p[..., :2]], axis=-1), np.concatenate([u, V[..., 3:5]], axis=-1)


@pytest.mark.parametrize("joint", [seth2010.ellipsoid, seth2010.knee])
def test_accelerations_agree(joint, evidence):
    """O(n) recursion along H against multipliers, at states of a motion."""
    mobilizer, constraints = both(joint)
    traj = cd.simulate(
        mobilizer.system, mobilizer.system.state(q=mobilizer.q, u=mobilizer.u), 2.0, accuracy=1e-6
    )
    q, u = as_constrained(joint, mobilizer.system, traj.q, traj.u)
    expected = mobilizer.system.body_acceleration(
        traj.q, traj.u, mobilizer.system.forward_dynamics(traj.q, traj.u), BODY[joint]
    )
    found = constraints.system.body_acceleration(q, u, constraints.system.forward_dynamics(q, u), BODY[joint])
    # Multipliers by (Y + e)^-1 with e = 1e-12 trace(Y), refined.
    evidence(
        f"{joint.__name__} as mobilizer and with constraints (seth2010), accelerations, relative",
        np.abs(found - expected).max() / np.abs(expected).max(),
        1e-11,
    )
    # rounding of lengths below 1 m
    assert max(np.abs(e).max() for e in constraints.system.constraints.errors(q, u)) < 1e-13


@pytest.mark.parametrize("joint", [seth2010.ellipsoid, seth2010.knee])
def test_motions_agree(joint, evidence):
    """Two seconds at 1e-10: coordinate projection against coordinates that cannot leave the manifold."""
    q = []
    for row in both(joint):
        traj = cd.simulate(
            row.system,
            row.system.state(q=row.q, u=row.u),
            TIMES[-1],
            accuracy=1e-10,
            integrator="dormand-prince",
        )
        assert traj.finished, traj.status
        X = row.system.body_pose(traj.at(TIMES)[:, : row.system.nq], BODY[joint])
        q.append(np.concatenate([X.R.reshape(-1, 9), X.p], axis=1))
        # The independent formula, by NumPy and SciPy, also between steps; 1e-9 asked, as dense output is of
        # order 4.
        assert row.off(row.system, traj.at(TIMES)[:, : row.system.nq]).max() < 1e-9
    # The accuracy times what a motion of a few swings makes of it.
    evidence(
        f"{joint.__name__} as mobilizer and with constraints (seth2010), pose over 2 s",
        np.abs(q[0] - q[1]).max(),
        1e-8,
    )


@pytest.mark.parametrize("joint", [seth2010.ellipsoid, seth2010.knee])
def test_the_mobilizer_stays_on_its_manifold(joint):
    """To rounding whatever the accuracy: the paper's 1e-14, 1e-11 mm."""
    mobilizer, _ = both(joint)
    traj = seth2010.simulated(mobilizer, accuracy=1e-2)
    # [m]; a few roundings of lengths below 1 m
    assert mobilizer.off(mobilizer.system, traj.q).max() < 1e-15
