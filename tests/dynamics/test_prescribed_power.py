"""Where energy comes from: d(KE + PE)/dt is the power of tau, of forces that store nothing, and of what moves
joints."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle import maximal
from condyle.mobilizers.base import Mobilizer, RelativeMotion
from tests.differences import DIFFERENCES, STEPS, WEIGHTS
from tests.dynamics.test_prescribed import close
from tests.oracles.trees import random_inertia, random_rotation


def moved(*names):
    """A joint that time turns and shifts, by a rule that its coordinates enter."""
    return cd.FunctionBased(
        names,
        (lambda t, *q: 0.4 * np.sin(2 * t) * q[0], None, lambda t, *q: q[0] + 0.3 * t),
        (lambda t, *q: 0.2 * t * t + 0.1 * q[-1], lambda t, *q: 0.3 * np.cos(3 * t), None),
        time=True,
    )


def tree(seed, *, constraint=False, forces=True):
    """Ten bodies in a random order: joints that time moves, forward, reversed and composed, among others, one
    of these driven."""
    rng = np.random.default_rng(seed)
    joints = [
        moved("a"),
        moved("b", "c").reversed(),
        cd.compose(cd.Pin("y"), moved("d")),
        cd.Ball(),
        cd.Universal(),
        cd.Pin(),
        cd.Slider(),
        moved("e"),
        cd.Gimbal(),
        cd.Pin("x"),
    ]
    system, names = cd.System(gravity=(0.3, -9.81, 0.7)), ["ground"]
    for i in rng.permutation(len(joints)):
        frames = [cd.Transform(random_rotation(rng), rng.uniform(-0.3, 0.3, 3)) for _ in range(2)]
        drive = cd.Prescribed(position=lambda t: 0.3 * np.sin(3 * t)) if i in (5, 7) else None
        parent = names[max(0, len(names) - 1 - int(rng.integers(3)))]
        system.add_body(
            f"b{i}",
            parent,
            joints[i],
            *frames,
            mass=rng.uniform(0.5, 2),
            com=rng.uniform(-0.1, 0.1, 3),
            inertia=random_inertia(rng),
            motion=drive,
        )
        names.append(f"b{i}")
    if forces:
        system.add_force(
            "spring", cd.forces.TwoPointSpring("ground", (0, 1, 0), names[-1], (0.1, 0, 0), 40.0, 0.3)
        )
        system.add_force("torsion", cd.forces.MobilitySpring("a", 3.0, 0.1))
        system.add_force(
            "damper", cd.forces.TwoPointDamper("ground", (0.5, 0, 0.2), names[-2], (0, 0.1, 0), 3.0)
        )
        system.add_force("drag", cd.forces.MobilityDamper("e", 2.0))
    if constraint:
        system.add_constraint(
            "tie", cd.constraints.PointInPlane("ground", (0, 0, 1), 0.1, names[-1], (0.1, 0.2, 0))
        )
        system.add_constraint("gear", cd.constraints.CoordinateCoupler(lambda b, d: b - 2 * d, ("b", "b2_d")))
    q = np.concatenate([b.mobilizer.random_q(rng) for b in system.bodies])
    q, u = system.prescribe(q, rng.uniform(-1, 1, system.nu), t=0.6)
    if constraint:
        q, u = system.project(q, u, t=0.6, tolerance=1e-13)
    return system, q, u, rng.uniform(-1, 1, system.nu)


@pytest.mark.parametrize("constraint", [False, True], ids=["free", "constrained"])
@pytest.mark.parametrize("seed", range(3))
def test_energy_balance(monkeypatch, seed, constraint, evidence):
    """Time-moved joints, driven and locked ones, forces, tau, and constraints, which do no work: all that
    energy gains."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system, q, u, tau = tree(seed, constraint=constraint)
    locked = np.zeros(system.nu)
    locked[system.speeds.index("b6")] = 1.0
    o = {"locked": locked}
    udot = system.forward_dynamics(q, u, tau, t=0.6, **o)
    qdot = system.qdot(q, u)
    stored = np.array([sum(system.energy(q + s * qdot, u + s * udot, t=0.6 + s, **o)) for s in STEPS])
    spent = dict(zip(system.forces, system.power(q, u, t=0.6, **o)))
    moving = system.motion_power(q, u, tau, t=0.6, **o)
    rate, scale = WEIGHTS @ stored, np.abs(stored).max() + np.abs(moving).sum()
    timed = moving - system.motion_forces(q, u, tau, t=0.6, **o) * u
    assert np.abs(timed).sum() > 1e-2 * scale  # there is something to see
    found = abs(rate - (tau @ u + spent["damper"] + spent["drag"] + moving.sum())) / scale
    evidence(
        "rate of energy against all powers, with joints that time moves, relative to the energy",
        found,
        DIFFERENCES,
        headline="energy",
    )


@pytest.mark.parametrize("seed", range(2))
def test_against_maximal_coordinates(monkeypatch, seed):
    """The second formulation's multipliers times the speed of each joint, less what tau does."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system, q, u, tau = tree(seed, forces=False)
    solution = maximal.formulation(system).at(q, u, t=0.6).forward(tau)
    power, bodies = -tau @ u, system.bodies
    for b, F in zip(bodies, solution.reactions, strict=True):
        parent = b.parent.name
        X, V = system.body_pose(q, b.name, t=0.6), system.body_velocity(q, u, b.name, t=0.6)
        X_P, V_P = system.body_pose(q, parent, t=0.6), system.body_velocity(q, u, parent, t=0.6)
        r = X.R @ b.X_BM.p
        v_FM = V[3:] + np.cross(V[:3], r) - V_P[3:] - np.cross(V_P[:3], X.p + r - X_P.p)
        power += F[:3] @ (V[:3] - V_P[:3]) + F[3:] @ v_FM
    # both round; typical differences are 1e-14
    close(system.motion_power(q, u, tau, t=0.6).sum(), power, 1e-11)


@pytest.mark.parametrize("layout", ["unrolled", "looped"])
def test_a_lift(monkeypatch, layout):
    """Time lifts 2 kg by 0.1 t^3: (m g + m a) v, as machine code, for many states at once."""
    monkeypatch.setenv("CONDYLE_LAYOUT", layout)
    system = cd.System(gravity=(0, -9.81, 0))
    lift = cd.FunctionBased("x", translations=(lambda t, x: x, lambda t, x: 0.1 * t**3, None), time=True)
    system.add_body("load", mobilizer=lift, mass=2.0, inertia=(1, 1, 1))
    t = np.linspace(0, 2, 7)
    power = system.motion_power(np.zeros((7, 1)), np.ones((7, 1)), t=t)
    np.testing.assert_allclose(power[:, 0], 2.0 * (9.81 + 0.6 * t) * 0.3 * t**2, rtol=1e-13)  # rounding
    assert system.state(t=1.0).motion_power() == pytest.approx(power[3])


def test_a_joint_without_speeds_cannot_say():
    class Lift(Mobilizer):
        def motion(self, t, q, u):
            return RelativeMotion(
                R=ca.SX.eye(3),
                p=ca.vertcat(0, t, 0),
                H_w=ca.SX(3, 0),
                H_v=ca.SX(3, 0),
                v_t=ca.vertcat(0, 1, 0),
            )

    system = cd.System()
    system.add_body("load", mobilizer=Lift(), mass=2.0, inertia=(1, 1, 1))
    with pytest.raises(cd.errors.DescriptionError, match="time moves body 'load'"):
        system.motion_power([], [])
