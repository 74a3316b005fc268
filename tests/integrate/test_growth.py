"""traj.growth(): perturbations along a run against closed forms, and against perturbed motions by another
code."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import condyle as cd
from tests.integrate.motions import GROWING, G, block, pendulum

# Differences of motions 1e-6 apart, each at accuracy 1e-9: three digits, less where they grow.
DIFFERENCES = 5e-3


def rms(P):
    """Of W P W^-1, over all directions."""
    return np.linalg.norm(P) / np.sqrt(len(P))


def from_the_start(traj, expected):
    """Factors of perturbations at the start against a function of time."""
    found = traj.growth()
    assert traj.finished
    assert len(found.t) == 25
    np.testing.assert_allclose(found.factors[:, 0], [expected(t) for t in found.t], rtol=DIFFERENCES)
    np.testing.assert_array_equal(np.triu(found.factors, 1), 0)
    return found


def test_free_flight():
    """x'' = 0: an error of the speed is one of the place after 0.1 s, and ten of it after 1 s."""
    system = block()
    traj = cd.simulate(system, system.state(u=[1.0]), 2.0, accuracy=1e-6, max_step=0.05)
    found = from_the_start(traj, lambda t: rms([[1, t / 0.1], [0, 1]]))
    # The mean of sqrt(1 + 50 t^2) over 2 s is 7.2; the first steps are shorter than the rest, and count as
    # much.
    assert float(found) == found.overall == pytest.approx(7.2, rel=0.05)
    assert repr(found) == f"Growth({found.overall:.3g}; at most 14.2, from 0 s to 2 s)"


def test_oscillator():
    """x'' = -100 x: errors turn, and add up; in the weights of speeds, 0.1 s, exactly."""
    system = block()
    system.add_force("spring", cd.forces.MobilitySpring("x", 100.0, 0.0))
    assert from_the_start(
        cd.simulate(system, system.state(q=[1.0]), 2.0), lambda t: 1.0
    ).overall == pytest.approx(1.0, rel=1e-3)


def test_a_stick_on_its_end():
    """x'' = 9.81 x near the upper rest of a pendulum."""
    a = np.sqrt(G)
    system = pendulum()
    traj = cd.simulate(system, system.state(q=[np.pi]), 2.0, accuracy=1e-4, max_step=0.05)
    from_the_start(
        traj,
        lambda t: rms(
            [[np.cosh(a * t), np.sinh(a * t) / a / 0.1], [0.1 * a * np.sinh(a * t), np.cosh(a * t)]]
        ),
    )


def test_a_turning_ball():
    """Quaternions: three directions, not four. Turned by w t, an error of w along w is one of the angle,
    across it goes round."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("ball", mobilizer=cd.Ball(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    w = 7.0
    traj = cd.simulate(system, system.state(u=[0, 0, w]), 2.0, accuracy=1e-6)
    from_the_start(traj, lambda t: np.sqrt((6 + (t**2 + 2 * (2 / w * np.sin(w * t / 2)) ** 2) / 0.01) / 6))


def test_against_perturbed_motions_of_another_code():
    """The intermediate axis by Euler's equations in the body, quaternions, and SciPy: a block of perturbed
    starts."""
    make, _ = GROWING["intermediate_axis"]
    start, inertia, t_end = make(), np.array([0.02, 0.05, 0.03]), 4.0

    def rate(t, y):
        (w, x, y_, z), v = y[:4], y[4:]
        # of a body's angular velocity
        N = np.array([[-x, -y_, -z], [w, -z, y_], [z, w, -x], [-y_, x, w]])
        return np.concatenate([N @ v / 2, -np.cross(v, inertia * v) / inertia])

    def turned(q, v):
        """R(q) v."""
        return v + 2 * np.cross(q[1:], q[0] * v + np.cross(q[1:], v))

    def flow(theta, u):
        q = np.array([1.0, *theta / 2]) / np.sqrt(1 + theta @ theta / 4)
        v = turned(q * [1, -1, -1, -1], u)
        end = solve_ivp(rate, (0, t_end), np.concatenate([q, v]), method="DOP853", rtol=1e-12, atol=1e-13).y[
            :, -1
        ]
        return np.concatenate([2 * end[:4], 0.1 * turned(end[:4], end[4:])])

    eps, base = 1e-6, np.array(start.u)
    columns = [
        (flow(*(np.zeros(3) + eps * e[:3], base + 10 * eps * e[3:])) - flow(np.zeros(3), base)) / eps
        for e in np.eye(6)
    ]
    found = cd.simulate(start.system, start, t_end, accuracy=1e-5).growth()
    assert found.factors[-1, 0] > 100
    # Perturbations of 1e-6 in quantities of 1e-4: one in a hundred.
    np.testing.assert_allclose(found.factors[-1, 0], np.linalg.norm(columns) / np.sqrt(6), rtol=2e-2)


def test_constraints_leave_the_directions_along_them():
    """A pendulum of 1 m by a rod, in three coordinates and their speeds, as by a pin."""
    pin = pendulum()
    one = cd.simulate(pin, pin.state(q=[0.1]), 3.0, accuracy=1e-6, max_step=0.05).growth()
    rod = cd.System(gravity=(0, -G, 0))
    rod.add_body("bob", mobilizer=cd.Planar(), mass=1.0, inertia=(1, 1, 1))
    rod.add_constraint("rod", cd.constraints.Rod("ground", (0, 0, 0), "bob", (0, 0, 0), 1.0))
    rod.add_constraint("upright", cd.constraints.ConstantCoordinate("bob_rz", 0.0))
    start = rod.state(q=[0.0, np.sin(0.1), -np.cos(0.1)])
    other = cd.simulate(rod, start, 3.0, accuracy=1e-6, max_step=0.05).growth()
    # a swing of 0.1: squares of it
    np.testing.assert_allclose(other.factors[-1, 0], one.factors[-1, 0], rtol=0.02)
    assert other.overall == pytest.approx(one.overall, rel=0.02)


def test_what_is_prescribed_does_not_count():
    """A driven body beside a pendulum: the same growth as without it."""
    alone, beside = pendulum(), pendulum()
    drive = cd.Prescribed(position=lambda t: np.sin(3 * t))
    beside.add_body("driven", mobilizer=cd.Pin(), mass=1.0, inertia=(1, 1, 1), motion=drive)
    a, b = (cd.simulate(s, s.state(q={"bob": 1.0}), 2.0, accuracy=1e-6).growth() for s in (alone, beside))
    assert a.overall == pytest.approx(b.overall, rel=DIFFERENCES)


def test_state_variables_and_weights():
    """z' = 2 z beside a block; a weight of zero leaves a variable out."""
    system = block()
    system.add_force("law", Growing())
    traj = cd.simulate(system, system.state(u=[1.0]), 2.0, accuracy=1e-6, max_step=0.05)
    from_the_start(traj, lambda t: np.sqrt((2 + 100 * t**2 + np.exp(4 * t)) / 3))
    np.testing.assert_allclose(traj.growth(weights=[0, 0, 1.0]).factors[-1, 0], np.exp(4), rtol=DIFFERENCES)
    with pytest.raises(cd.errors.DescriptionError, match="growth: weights must be 3 numbers"):
        traj.growth(weights=[1.0])


class Growing(cd.forces.Force):
    states = (("z", 1.0),)

    def apply(self, s, loads):
        pass

    def rates(self, s):
        return [2 * s.z[0]]


def test_events_and_rodas():
    """Across an event perturbations stay: a kick in free flight changes nothing. Rodas' runs are perturbed by
    Rodas."""
    system = block()
    kick = cd.Event(at=1.0, action=lambda s: s.replace(u=[-1.0]), name="kick")
    traj = cd.simulate(
        system, system.state(u=[1.0]), 2.0, accuracy=1e-6, max_step=0.05, events=kick, integrator="rodas"
    )
    found = traj.growth()
    np.testing.assert_allclose(
        found.factors[:, 0], [rms([[1, t / 0.1], [0, 1]]) for t in found.t], rtol=DIFFERENCES
    )
    with pytest.raises(cd.errors.DescriptionError, match="this trajectory skips rows, and event 'kick'"):
        traj[::7].growth()
    assert traj[3:4].growth().overall == 1.0  # one row: nothing has grown yet


def test_a_perturbed_motion_that_stops():
    """A law that exists on one side only of where the run is."""
    system = block()
    system.add_force("edge", cd.forces.Custom(lambda s: {"x": np.sqrt(-s.q("x"))}))
    traj = cd.simulate(system, system.state(q=[0.0]), 1.0, accuracy=1e-3)
    assert traj.finished
    with pytest.raises(cd.errors.ConvergenceError, match="perturbed by 1e-06 at t = 0 s does not go on"):
        traj.growth()
