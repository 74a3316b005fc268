"""Actuators and ligaments: closed forms, signs, controls; what holds for every law is in test_every_law."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle import forces
from tests.forces.rig import EPS, R_TILT, arm, energy_rate, power, state

LINE = cd.paths.Path([("ground", (0, 0, 0)), ("block", (0, 0, 0))])
ENDS = "ground", (0, 0, 0), "block", (0, 0, 0)


def block(**laws) -> cd.System:
    """A unit mass that slides along x: udot is the force."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("block", mobilizer=cd.Slider(), mass=1.0, inertia=(1, 1, 1), coordinates=("x",))
    for name, law in laws.items():
        system.add_force(name, law)
    return system


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (forces.PathActuator(LINE, 100.0), -50.0),  # pulls
        (forces.PointToPointActuator(*ENDS, 10.0), 5.0),  # pushes apart
        (forces.CoordinateActuator("x", 3.0), 1.5),
    ],
)
def test_force_is_optimal_force_times_the_control(law, expected):
    """The control is an Input of the force's name, 0 unless it is given."""
    system = block(motor=law)
    assert system.inputs == ("motor",)
    assert system.forward_dynamics([0.4], [0.0])[0] == 0.0
    # One product, one division.
    assert system.forward_dynamics([0.4], [0.0], inputs={"motor": 0.5})[0] == pytest.approx(
        expected, rel=4 * EPS
    )


@pytest.mark.parametrize("frame", ["ground", "body"])
def test_torque_actuator(frame):
    """Generalized forces are J_w' tau of both bodies; the axis is normalized."""
    axis = np.array([1.0, 2.0, -2.0])
    system = arm(wheel=forces.TorqueActuator("lower", "base", axis, 5.0, frame=frame))
    q, u = state(system, 1)
    given = {"inputs": {"wheel": 0.4}}
    f = system.inverse_dynamics(q, u, 0 * u) - system.inverse_dynamics(q, u, 0 * u, **given)
    turn = system.body_pose(q, "lower").R if frame == "body" else np.eye(3)
    w = system.body_velocity(q, u, "lower")[:3] - system.body_velocity(q, u, "base")[:3]
    # Differences of torques of some N m.
    assert f @ u == pytest.approx(2.0 * (turn @ axis / 3) @ w, abs=1e-13)
    assert power(system, "wheel", q, u, **given) == pytest.approx(f @ u, abs=1e-13)


def test_path_actuator_is_a_point_to_point_actuator_that_pulls():
    p_a, p_b = (0.1, 0.2, 0.3), tuple(R_TILT[0])
    rope = forces.PathActuator(cd.paths.Path([("ground", p_a), ("lower", p_b)]), 40.0, control=0.3)
    system = arm(law=rope)
    other = arm(law=forces.PointToPointActuator("ground", p_a, "lower", p_b, -40.0, control=0.3))
    q, u = state(system, 2)
    np.testing.assert_allclose(system.forward_dynamics(q, u), other.forward_dynamics(q, u), rtol=1e-12)


def test_coincident_points():
    """A line without direction exerts nothing."""
    system = block(strut=forces.PointToPointActuator(*ENDS, 10.0, control=1.0))
    assert system.forward_dynamics([0.0], [1.0])[0] == 0.0


# ---- ligament ----------------------------------------------------------------------------------------------

K, L0, TOE, C = 1000.0, 0.5, 0.06, 2.0
LIGAMENT = forces.Blankevoort1991Ligament(LINE, K, L0, TOE, C)


@pytest.mark.parametrize(
    ("strain", "tension", "energy"),
    [
        (-0.2, 0.0, 0.0),
        (0.0, 0.0, 0.0),
        (0.03, K * 0.03**2 / (2 * TOE), K * L0 * 0.03**3 / (6 * TOE)),
        (TOE, K * TOE / 2, K * L0 * TOE**2 / 6),
        (0.1, K * (0.1 - TOE / 2), K * L0 * (TOE**2 / 6 + 0.1 * (0.1 - TOE) / 2)),
    ],
)
def test_ligament_at_rest(strain, tension, energy):
    """Slack, toe, linear; as OpenSim's Blankevoort1991Ligament."""
    system = block(acl=LIGAMENT)
    x = [L0 * (1 + strain)]
    # L / l0 - 1 cancels: eps over the strain.
    assert -system.forward_dynamics(x, [0.0])[0] == pytest.approx(tension, rel=1e-13, abs=1e-12)
    assert system.energy(x, [0.0])[1] == pytest.approx(energy, rel=1e-13, abs=1e-13)


@pytest.mark.parametrize(
    ("strain", "speed", "damping"),
    [(0.03, 0.4, C * 0.4 / L0), (0.03, -0.4, 0.0), (-0.01, 0.4, 0.0), (0.005, 0.4, C * 0.4 / L0 / 2)],
)
def test_ligament_is_damped_while_it_lengthens(strain, speed, damping):
    """From a strain of 0.01 on in full, half of it at 0.005, nothing where it is slack or gets shorter."""
    system = block(acl=LIGAMENT)
    x = [L0 * (1 + strain)]
    extra = system.forward_dynamics(x, [0.0])[0] - system.forward_dynamics(x, [speed])[0]
    assert extra == pytest.approx(damping, rel=1e-11, abs=1e-12)
    # energy falls by what the damper takes
    assert energy_rate(system, x, [speed]) == pytest.approx(-damping * speed, rel=1e-11, abs=1e-12)


def test_ligament_is_smooth_at_the_toe():
    """Stiffness on both sides of the transition is k / l0."""
    system = block(acl=LIGAMENT)
    h, x = 1e-6, L0 * (1 + TOE)
    f = -system.forward_dynamics([[x - h], [x], [x + h]], [[0.0]] * 3)[:, 0]
    # h k / (eps_t l0^2), the second derivative below the transition, and rounding of 30 N over h
    np.testing.assert_allclose(np.diff(f) / h, K / L0, rtol=0, atol=h * K / (TOE * L0**2) + 1e-7)
