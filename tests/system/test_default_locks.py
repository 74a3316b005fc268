"""What a description says of default states: locked coordinates, default speeds, what does not act."""

import pickle

import numpy as np
import pytest

import condyle as cd


def two_rods(**coordinate):
    system = cd.System()
    system.add_body(
        "upper",
        mobilizer=cd.Pin(),
        X_BM=(0, 0.5, 0),
        mass=2,
        inertia=(0.1, 0.01, 0.1),
        coordinates=(cd.Coordinate("shoulder", 0.3),),
    )
    system.add_body(
        "lower",
        "upper",
        cd.Pin(),
        X_PF=(0, -0.5, 0),
        X_BM=(0, 0.5, 0),
        mass=1,
        inertia=(0.1, 0.01, 0.1),
        coordinates=(cd.Coordinate("elbow", 0.5, **coordinate),),
    )
    return system


def test_locked_coordinates_rest_unless_told_otherwise():
    system, free = two_rods(locked=True, speed=1.0), two_rods()
    q, u = system.defaults()
    np.testing.assert_array_equal(u, (0, 1))
    state = system.state()
    assert dict(state.locked) == {"elbow": "position"}
    assert state.u[1] == 0
    assert state.udot[1] == system.forward_dynamics(q, 0 * u)[1] == 0
    expected = free.state(locked={"elbow": "position"})
    np.testing.assert_array_equal(state.udot, expected.udot)
    for freed in (system.state(u=(0, 0), locked=()), state.replace(locked=())):
        assert not freed.locked
        np.testing.assert_array_equal(freed.udot, free.state().udot)
    run = cd.simulate(system, state, t_final=0.1)
    assert (run.q[:, 1] == 0.5).all()
    assert (cd.simulate(system, system.state(locked=()), t_final=0.1).q[-1, 1]) != 0.5
    assert dict(pickle.loads(pickle.dumps(system)).state().locked) == {"elbow": "position"}


def test_what_is_added_switched_off_does_not_act():
    system = two_rods()
    system.add_force("spring", cd.forces.MobilitySpring("elbow", 100.0, 0.0), enabled=False)
    system.add_constraint("held", cd.constraints.ConstantCoordinate("elbow", 0.5), enabled=False)
    state = system.state()
    assert state.disabled == {"spring", "held"}
    for kept in (system.copy(), pickle.loads(pickle.dumps(system))):
        assert kept.state().disabled == {"spring", "held"}
    np.testing.assert_array_equal(state.udot, two_rods().state().udot)
    np.testing.assert_array_equal(system.forward_dynamics(*system.defaults()), state.udot)
    on = state.replace(disabled=())
    assert abs(on.udot[1]) < 1e-12 < abs(state.udot[1])  # held, to rounding
    np.testing.assert_array_equal(on.udot, system.state(disabled=()).udot)


def test_refusals():
    system = cd.System()
    with pytest.raises(cd.errors.DescriptionError, match="cannot be locked alone"):
        system.add_body(
            "b",
            mobilizer=cd.Ball(coordinates="euler"),
            mass=1,
            inertia=(1, 1, 1),
            coordinates=(cd.Coordinate("x", locked=True), "y", "z"),
        )
    with pytest.raises(cd.errors.DescriptionError, match="True or False"):
        two_rods(locked=1)
    with pytest.raises(cd.errors.DescriptionError, match="is the name of the joint"):
        system.add_body("b", mobilizer=cd.Weld(), joint=cd.Pin())
    with pytest.raises(cd.errors.DescriptionError, match="triangle inequality"):
        system.add_body("b", mobilizer=cd.Pin(), mass=1, inertia=(0, 0, 1))
    assert (
        system.add_body(
            "b", mobilizer=cd.Pin(), mass=1, inertia=(0, 0, 1), any_inertia=True, joint="hinge"
        ).joint
        == "hinge"
    )
    with pytest.raises(cd.errors.DescriptionError, match="enabled: expected True or False"):
        system.add_force("f", cd.forces.MobilitySpring("b", 1.0, 0.0), enabled="no")


def test_all_three_angles_of_a_ball_and_single_translations():
    system = cd.System()
    locked = [cd.Coordinate(n, locked=n != "tx") for n in ("rx", "ry", "rz", "tx", "ty", "tz")]
    system.add_body(
        "b", mobilizer=cd.Free(coordinates="euler"), mass=1, inertia=(1, 1, 1), coordinates=locked
    )
    assert [*system.state().locked] == ["b_wx", "b_wy", "b_wz", "b_vy", "b_vz"]
    assert not system.state().udot.any()
