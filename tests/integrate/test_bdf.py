"""Backward differences: their orders, stiff motions with closed forms, constraints, agreement with others."""

import numpy as np
import pytest

import condyle as cd
from condyle.errors import DescriptionError
from tests.integrate.test_constrained import fourbar
from tests.integrate.test_methods import spinning_top, stiff_foot


def follower(k: float, c: float) -> cd.System:
    """Prothero and Robinson's problem as mechanics: a block that a spring and a damper draw to sin t, which is the
    motion for every k and c."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("block", mobilizer=cd.Slider(), mass=1.0, inertia=(1, 1, 1), coordinates="x")

    def law(s):
        to, speed = np.sin(s.t), np.cos(s.t)
        return {"x": -to + c * (speed - s.u("x")) + k * (to - s.q("x"))}

    system.add_force("law", cd.forces.Custom(law))
    return system


@pytest.fixture(scope="module")
def soft() -> cd.System:
    return follower(400.0, 40.0)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_orders(soft, order):
    """Fixed steps begin with order 1; the damper takes away that error by t = 2, and what is left is that of the
    highest order, at steps and between them."""
    method = cd.integrators.BDF(order=order)
    start, errors, between = soft.state(u=[1.0]), [], []
    for n in (200, 400):
        traj = cd.simulate(soft, start, 4.0, integrator=method, step=4.0 / n, accuracy=1e-12)
        t = traj.t[n // 2 :]
        errors.append(np.abs(traj.q[n // 2 :, 0] - np.sin(t)).max())
        t = t[:-1] + np.diff(t) / 3
        between.append(np.abs(traj.at(t)[:, 0] - np.sin(t)).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)
    assert np.log2(between[0] / between[1]) >= order - 0.3


@pytest.mark.parametrize("accuracy", [1e-3, 1e-6])
def test_stiffness_costs_no_steps(accuracy):
    """The same steps at time constants of 1 ms and of 10 ns beside one of a second, within ten times the
    accuracy."""
    steps = []
    for k in (1e3, 1e8):
        system = follower(k, k)
        traj = cd.simulate(system, system.state(u=[1.0]), 10.0, integrator="bdf", accuracy=accuracy)
        assert traj.finished
        assert np.abs(traj.q[:, 0] - np.sin(traj.t)).max() <= 10 * accuracy
        steps.append(traj.statistics.steps)
    assert steps[1] <= 1.5 * steps[0]


def test_van_der_pol():
    """Relaxation at mu = 200: slow arcs and jumps, as Rodas at a tight accuracy has them."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("x", mobilizer=cd.Slider(), mass=1.0, inertia=(1, 1, 1), coordinates="x")
    system.add_force(
        "law", cd.forces.Custom(lambda s: {"x": 200 * (1 - s.q("x") ** 2) * s.u("x") - s.q("x")})
    )
    start = system.state(q=[2.0])
    exact = cd.simulate(system, start, 300.0, integrator="rodas5p", accuracy=1e-9)
    traj = cd.simulate(system, start, 300.0, integrator="bdf", accuracy=1e-5)
    assert traj.finished
    assert abs(traj.q[-1, 0] - exact.q[-1, 0]) < 1e-4  # ten times the accuracy
    assert traj.statistics.jacobians < 0.5 * traj.statistics.steps  # one serves many


def test_a_stiff_floor_as_rodas_has_it():
    system = stiff_foot()
    start = system.state(q={"height": 0.0, "hip": 1.0})
    exact = cd.simulate(system, start, 3.0, accuracy=1e-9, integrator="rodas")
    traj = cd.simulate(system, start, 3.0, accuracy=1e-4, integrator="bdf")
    assert traj.finished
    assert np.abs(traj[-1].q - exact[-1].q).max() < 1e-3
    t = np.linspace(0.1, 2.9, 57)
    assert np.abs(traj.at(t)[:, :2] - exact.at(t)[:, :2]).max() < 1e-3


def test_constraints_and_quaternions_stay():
    """The loop stays closed to rounding, energy and the motion to a multiple of the accuracy; so does a top's
    unit quaternion."""
    system = fourbar()
    start = system.state(q=[-2.2, 2.2, -2.2])
    exact = cd.simulate(system, start, 2.0, accuracy=1e-10)
    traj = cd.simulate(system, start, 2.0, accuracy=1e-6, integrator="bdf")
    assert traj.finished
    assert traj.statistics.projections > 0
    assert np.abs(system.constraints.errors(traj.q, traj.u)[0]).max() < 1e-7 * 1.01  # a tenth of the accuracy
    assert abs(traj.q[-1, 0] - exact.q[-1, 0]) < 1e-4
    assert np.ptp(np.sum(system.energy(traj.q, traj.u), axis=0)) < 1e-3
    top = spinning_top()
    spin = top.state(q=[1.0, 0, 0, 0], u=[1.0, 9.0, 2.0])
    traj = cd.simulate(top, spin, 1.0, accuracy=1e-7, integrator="bdf")
    np.testing.assert_allclose(np.linalg.norm(traj.q, axis=1), 1.0, atol=1e-14)
    merson = cd.simulate(top, spin, 1.0, accuracy=1e-9)
    assert np.abs(traj.q[-1] - merson.q[-1]).max() < 1e-5


def test_vectors_that_are_loops():
    """A damped chain of 20: y has more elements than are written out. As Merson has it."""
    system, parent = cd.System(gravity=(0, -9.81, 0)), "ground"
    for i in range(20):
        at = (0, -0.1 * bool(i), 0)
        system.add_body(f"b{i}", parent, cd.Pin(), X_PF=at, mass=1.0, com=(0, -0.05, 0), inertia=(1e-3,) * 3)
        system.add_force(f"d{i}", cd.forces.MobilityDamper(f"b{i}", 1.0))
        parent = f"b{i}"
    start = system.state(q=[0.5, *[0.0] * 19])
    exact = cd.simulate(system, start, 0.2, accuracy=1e-8)
    traj = cd.simulate(system, start, 0.2, accuracy=1e-5, integrator="bdf")
    assert traj.finished
    assert np.abs(traj.q[-1] - exact.q[-1]).max() < 1e-4  # ten times the accuracy


def test_an_event_starts_anew(soft):
    """After a change of the state there is no history: order 1 again, and the motion is the closed form."""

    def pushed(state):
        return state.replace(q=[0.501])

    touch = cd.Event(lambda s: s.q("x") - 0.5, "rising", pushed)
    traj = cd.simulate(soft, soft.state(u=[1.0]), 6.0, integrator="bdf", accuracy=1e-6, events=[touch])
    assert traj.finished
    assert traj.events[0].t == pytest.approx(np.pi / 6, abs=1e-5)
    assert abs(traj.q[-1, 0] - np.sin(6.0)) < 1e-5  # the damper has taken the jump away


def test_refusals():
    for wrong in (0, 6, 2.5):
        with pytest.raises(DescriptionError, match="order"):
            cd.integrators.BDF(order=wrong)
    with pytest.raises(DescriptionError, match="kappa"):
        cd.integrators.BDF(kappa=(0.0,))
