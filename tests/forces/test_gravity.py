"""Gravity on some of the bodies."""
from __future__ import annotations

import numpy as np
import pytest

import condyle as cd

ROUNDING = 1e-12                                             # a few operations on numbers of order one


def pendulum(**options) -> cd.System:
    system = cd.System(**options)
    system.add_body("a", "ground", cd.Pin("y"), mass=1.0, com=(0.1, 0.0, 0.2), inertia=(1.0, 1.1, 1.2))
    return system


@pytest.mark.parametrize("by_name", [True, False])
def test_weight_comes_back_once(by_name):
    """Gravity that leaves a body alone: named twice, or given as the body itself."""
    first = pendulum()
    system = pendulum(gravity=cd.forces.Gravity((0.0, 0.0, -9.81), excluded=("a", "a") if by_name else first.body("a")))
    q, u = np.array([0.4]), np.zeros(1)
    assert abs(system.forward_dynamics(q, u)[0]) < ROUNDING
    assert system.gravity_forces(q)[0] == 0.0
    assert system.energy(q, u) == (0.0, 0.0)
