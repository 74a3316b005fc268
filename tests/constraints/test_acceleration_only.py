"""Constraints on accelerations alone: sherman2011 (12), against what they follow from, and in motion."""

import numpy as np
import pytest

import condyle as cd
from tests.constraints.rig import on_constraints, rig, state

C = cd.constraints
A, B = (0.1, 0.2, 0.0), (0.0, 0.1, 0.3)


def distance(s):
    d = s.station_position("float", B) - s.station_position("tip", A)
    return (d @ d - 0.64) / 2


def its_second_derivative(s):
    d = s.station_position("float", B) - s.station_position("tip", A)
    v = s.station_velocity("float", B) - s.station_velocity("tip", A)
    return d @ (s.station_acceleration("float", B) - s.station_acceleration("tip", A)) + v @ v


@pytest.mark.parametrize("seed", range(3))
def test_the_second_derivative_of_a_position_constraint_does_the_same(seed):
    """udot, multipliers and wrenches of a rod, from its equation and from the acceleration written out by
    hand."""
    by_position, by_acceleration = (
        rig(own=C.Holonomic(distance)),
        rig(own=C.AccelerationOnly(its_second_derivative)),
    )
    q, u = state(by_position, seed)
    udot = by_position.forward_dynamics(q, u)
    # Two orders of the same sums, of numbers of order 10.
    np.testing.assert_allclose(
        by_acceleration.forward_dynamics(q, u), udot, rtol=0, atol=1e-11 * np.abs(udot).max()
    )
    np.testing.assert_allclose(by_acceleration.multipliers(q, u), by_position.multipliers(q, u), rtol=1e-10)
    one, other = (s.constraints.reactions(q, u, "own") for s in (by_position, by_acceleration))
    assert one.keys() == other.keys() == {"tip", "float"}
    for body, F in one.items():
        np.testing.assert_allclose(other[body], F, rtol=0, atol=1e-10 * np.abs(F).max())


def test_nothing_is_projected_and_a_disabled_one_is_a_zero_row():
    system = rig(own=C.AccelerationOnly(its_second_derivative))
    q, u = state(system)
    assert [e.size for e in system.constraints.errors(q, u)] == [0, 0]
    np.testing.assert_array_equal(system.project(q, u)[1], u)
    assert np.abs(system.constraints.jacobian(q, u)).max() > 0.1
    off = {"disabled": ["own"]}
    np.testing.assert_array_equal(system.constraints.jacobian(q, u, **off), 0)
    np.testing.assert_array_equal(system.constraints.bias(q, u, **off), 0)
    np.testing.assert_array_equal(system.multipliers(q, u, **off), 0)
    np.testing.assert_allclose(
        system.forward_dynamics(q, u, **off), rig().forward_dynamics(q, u), rtol=1e-12, atol=1e-12
    )


def test_a_motion_that_starts_right_stays_right_and_does_no_work():
    """From a state on the rod, held by its acceleration alone: p = 0 is left to the accuracy, and energy
    stays."""
    q, u = on_constraints(rig(own=C.Holonomic(distance)))
    system = rig(own=C.AccelerationOnly(its_second_derivative))
    traj = cd.simulate(system, system.state(q=q, u=u), 1.0, accuracy=1e-9)
    assert traj.finished
    p, _ = rig(own=C.Holonomic(distance)).constraints.errors(traj.q, traj.u)
    # Some hundred steps of 4e-11 each; a drift is what the integrator leaves.
    assert np.abs(p).max() < 1e-8
    energy = np.sum(system.energy(traj.q, traj.u), axis=0)
    assert np.ptp(energy) < 1e-7 * np.abs(energy).max()


def test_an_input_commands_an_acceleration():
    """Inputs have no rate, and none is needed here: qdd = 3 x + 1."""
    system = cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), mass=1.0, com=(0.3, 0, 0), inertia=(0.1,) * 3)
    system.add_constraint(
        "servo", C.AccelerationOnly(lambda s: s.udot("arm") - 3 * s.input("command", 0.0) - 1)
    )
    udot = system.forward_dynamics([0.4], [2.0], inputs={"command": 0.5})
    np.testing.assert_allclose(udot, [2.5], rtol=1e-12)
