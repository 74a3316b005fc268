"""Laws on single coordinates and speeds."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle import forces
from tests.forces.rig import EPS, arm, power, state


def door(*laws) -> cd.System:
    """A unit inertia about z: udot is the generalized force."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("door", mobilizer=cd.Pin(), mass=1.0, inertia=(1.0, 1.0, 1.0))
    for i, law in enumerate(laws):
        system.add_force(f"law{i}", law)
    return system


def test_closed_forms():
    q, u = [0.7], [1.3]
    # Two or three roundings each.
    for law, expected in (
        (forces.MobilitySpring("door", 3.0, 0.2), -1.5),
        (forces.MobilityDamper("door", 2.0), -2.6),
        (forces.MobilityForce("door", -4.0), -4.0),
        (forces.GlobalDamper(2.0), -2.6),
    ):
        assert door(law).forward_dynamics(q, u)[0] == pytest.approx(expected, rel=10 * EPS)


@pytest.mark.parametrize(
    ("q", "u", "force", "energy"),
    [
        (0.3, 9.0, 0.0, 0.0),  # between the stops
        (1.2, 0.0, -20.0, 2.0),  # above, at rest: -k x
        (1.2, 1.0, -30.0, 2.0),  # above, going in: -k x (1 + d u)
        (1.2, -1.0, -10.0, 2.0),  # above, coming out: weaker
        (1.2, -3.0, 0.0, 2.0),  # coming out fast: it lets go, it never pulls
        (-0.7, 0.0, 20.0, 2.0),
        (-0.7, -1.0, 30.0, 2.0),
        (-0.7, 1.0, 10.0, 2.0),
        (-0.7, 3.0, 0.0, 2.0),
    ],
)
def test_stop(q, u, force, energy):
    """Simbody's MobilityLinearStop with k = 100, d = 0.5, limits -0.5 and 1."""
    system = door(forces.MobilityStop("door", -0.5, 1.0, 100.0, 0.5))
    # q - limit is 0.2 within an ulp of q.
    assert system.forward_dynamics([q], [u])[0] == pytest.approx(force, rel=1e-14, abs=1e-14)
    assert system.energy([q], [0.0])[1] == pytest.approx(energy, rel=1e-14)


def test_stop_with_one_side():
    system = door(forces.MobilityStop("door", -np.inf, 1.0, 100.0))
    assert system.forward_dynamics([-1e6], [0.0])[0] == 0.0
    assert system.forward_dynamics([1.5], [0.0])[0] == -50.0


def test_dissipating_stop_loses_energy():
    """Power beyond the elastic part is -k d x u^2 <= 0."""
    system = door(forces.MobilityStop("door", -0.5, 1.0, 100.0, 0.5))
    for u in (0.4, -0.4):
        elastic = -100.0 * 0.2 * u
        # Powers of about 10 W.
        assert power(system, "law0", [1.2], [u]) - elastic == pytest.approx(
            -100.0 * 0.5 * 0.2 * u**2, abs=1e-13
        )


def test_translation_of_a_free_body_has_a_speed():
    """base_ty is a coordinate whose rate is the speed base_vy."""
    system, bare = arm(law=forces.MobilitySpring("base_ty", 10.0, 0.1)), arm()
    q, u = state(system, 1)
    f = system.inverse_dynamics(q, u, np.zeros(system.nu)) - bare.inverse_dynamics(q, u, np.zeros(system.nu))
    expected = np.zeros(system.nu)
    expected[system.speeds.index("base_vy")] = 10.0 * (q[system.coordinates.index("base_ty")] - 0.1)
    # Differences of generalized forces up to 1e2.
    np.testing.assert_allclose(f, expected, rtol=0, atol=1e2 * 100 * EPS)


@pytest.mark.parametrize("law", [forces.MobilitySpring, forces.MobilityForce])
def test_quaternions_are_refused(law):
    with pytest.raises(cd.errors.DescriptionError, match=r"base_qx.*no speed of Free.*base_wx.*Potential"):
        arm(law=law("base_qx", 1.0))


def test_euler_angles_with_angular_velocities_are_refused():
    system = cd.System()
    system.add_body("head", mobilizer=cd.Free(coordinates="euler"), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(cd.errors.DescriptionError, match="head_ry"):
        system.add_force("spring", forces.MobilitySpring("head_ry", 1.0))
    system.add_force("damper", forces.MobilityDamper("head_wy", 1.0))
    assert system.forces == ("gravity", "damper")


def test_global_damper_acts_on_every_speed():
    system, bare = arm(law=forces.GlobalDamper(0.5)), arm()
    q, u = state(system, 2)
    f = system.inverse_dynamics(q, u, np.zeros(system.nu)) - bare.inverse_dynamics(q, u, np.zeros(system.nu))
    # Differences of generalized forces up to 1e2.
    np.testing.assert_allclose(f, 0.5 * u, rtol=0, atol=1e2 * 100 * EPS)
