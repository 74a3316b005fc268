"""What a review of the dynamics found: each of these was wrong once."""
from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.dynamics.layouts import build_looped
from condyle.dynamics.operators import OPERATORS
from condyle.mobilizers import motion_at
from condyle.native.function import NativeFunction
from condyle.spatial import rotation_x, rotation_z

ROUNDING = 1e-12                                             # a few operations on numbers of order one


def pendulum(**options) -> cd.System:
    system = cd.System(**options)
    system.add_body("a", "ground", cd.Pin("y"), mass=1.0, com=(0.1, 0.0, 0.2), inertia=(1.0, 1.1, 1.2))
    return system


@pytest.mark.parametrize("switch", [
    lambda x: np.tanh(0.5 * x), lambda x: 1 / (1 + np.exp(-x)), lambda x: (1 + x / 60) ** 12])
def test_smooth_switch_far_from_zero_stays_in_the_hinge_matrix(switch):
    """Coordinates in degrees, and a rotation that sets in at 60 of them: H_w must not be folded by values near zero."""
    degree = np.pi / 180
    joint = cd.Custom(("knee",), lambda q: (rotation_z(q * degree) @ rotation_x(0.1 * switch(q - 60)), np.zeros(3)))
    h = 1e-4
    slope = 0.1 * (switch(h) - switch(-h)) / (2 * h)
    expected = [slope * np.cos(60 * degree), slope * np.sin(60 * degree), degree]
    H_w = motion_at(joint, 0.0, [60.0], [1.0])[2].ravel()
    np.testing.assert_allclose(H_w, expected, atol=1e-9)     # central differences with h = 1e-4


def test_disabled_force_in_the_looped_layout():
    """A disabled law neither moves its states nor stores energy, be that NaN."""
    system = pendulum()
    system.add_force("heat", cd.forces.NoseHooverThermostat(300.0, 1.0, boltzmann=1e-2))
    system.add_force("root", cd.forces.Potential(lambda s: np.sqrt(s.q("a"))))
    q, u = np.array([-0.3]), np.array([0.7])
    tail = system.tail(disabled=("heat", "root"), z=np.arange(1.0, 7.0))
    for name, expected in (("zdot", system.zdot(q, u, disabled="heat")), ("energy", system.energy(q, u, disabled="root"))):
        operator = OPERATORS[name]
        looped = NativeFunction(name, lambda name=name: build_looped(system._subject, name), key=f"review looped {name}",
                                inputs=operator.inputs(system._subject), outputs=operator.outputs(system._subject))
        np.testing.assert_allclose(np.ravel(looped(q, u, tail)), np.ravel(expected), atol=ROUNDING)
    assert not system.zdot(q, u, disabled="heat", z=np.arange(1.0, 7.0)).any()
