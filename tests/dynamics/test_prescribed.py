"""Prescribed motion in forward dynamics: given accelerations are had exactly, the free ones follow, the force
is reported."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from tests.mobilizers.every import one_of_each as one_of_each_mobilizer
from tests.oracles.trees import random_inertia, random_rotation

# Dense solutions with M lose about n cond(M) eps; trees of some twenty bodies have conditions up to 1e5.
DENSE = 1e-9
# The same operations in another layout or lane: constants fold and sums associate differently.
SAME = 1e-11


def wild(t, *x):
    """Some smooth function of all it is given."""
    return np.sin(t + 0.3) * 1.5 + sum(0.4 * np.cos(v + 0.2 * i) * v for i, v in enumerate(x))


def tree(seed, mobilizers, share=0.5, motion=None):
    """A random tree in which about a share of the bodies are driven; `motion` makes a Prescribed of a
    mobilizer."""
    rng = np.random.default_rng(seed)
    make = motion or (lambda m: cd.Prescribed(acceleration=lambda *x: [wild(*x) + k for k in range(m.nu)]))
    system, names = cd.System(gravity=(0.3, -9.81, 0.7)), ["ground"]
    for i in rng.permutation(len(mobilizers)):
        m = mobilizers[i]
        frame = [cd.Transform(random_rotation(rng), rng.uniform(-0.3, 0.3, 3)) for _ in range(2)]
        given = make(m) if m.nu and rng.random() < share else None
        system.add_body(
            f"b{i}",
            names[max(0, len(names) - 1 - int(rng.integers(4)))],
            m,
            *frame,
            mass=rng.uniform(0.5, 2),
            com=rng.uniform(-0.1, 0.1, 3),
            inertia=random_inertia(rng),
            motion=given,
        )
        names.append(f"b{i}")
    return system


def state_of(system, seed, n=()):
    rng = np.random.default_rng((seed, 5))
    count = int(np.prod(n))
    q = np.stack([np.concatenate([b.mobilizer.random_q(rng) for b in system.bodies]) for _ in range(count)])
    u, tau = rng.uniform(-1, 1, (2, *n, system.nu))
    return q.reshape(*n, system.nq), u, tau


def held_speeds(system):
    return np.array([k in {k for b in system.bodies for k in b.prescribed_speeds} for k in range(system.nu)])


def by_hand(system, q, u, tau, t, held, a):
    """Dense: M_ff udot_f = tau_f - h_f - M_fh a_h, and the force M_h udot + h_h - tau_h."""
    M, h = system.mass_matrix(q, t=t), system.inverse_dynamics(q, u, np.zeros(system.nu), t=t)
    free, udot = ~held, np.where(held, a, 0.0)
    udot[free] = np.linalg.solve(M[np.ix_(free, free)], (tau - h - M @ udot)[free])
    return udot, np.where(held, M @ udot + h - tau, 0.0)


def given_accelerations(system, q, u, t):
    """By plain Python, speed by speed."""
    a = np.zeros(system.nu)
    for b in system.bodies:
        if b.motion is not None:
            a[b.u] = [wild(t, *q[b.q], *u[b.u]) + k for k in range(b.mobilizer.nu)]
    return a


def close(x, y, tolerance):
    np.testing.assert_allclose(x, y, rtol=0, atol=tolerance * max(1.0, np.abs(y).max()))


@pytest.mark.parametrize("layout", ["unrolled", "looped"])
@pytest.mark.parametrize("seed", [1, 2])
def test_every_mobilizer(monkeypatch, seed, layout, evidence):
    """All mobilizers, forward and reversed, half of them driven at acceleration level by functions of t, q
    and u."""
    monkeypatch.setenv("CONDYLE_LAYOUT", layout)
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    mobilizers = one_of_each_mobilizer()[seed - 1 :: 2]
    system = tree(seed, mobilizers)
    q, u, tau = state_of(system, seed)
    held, a = held_speeds(system), given_accelerations(system, q, u, 0.7)
    assert 5 < held.sum() < system.nu - 5
    udot = system.forward_dynamics(q, u, tau, t=0.7)
    # one evaluation against another of the same function
    close(udot[held], a[held], 1e-14)
    expected, force = by_hand(system, q, u, tau, 0.7, held, a)
    found = np.abs(udot - expected).max() / np.abs(expected).max()
    evidence("accelerations with half the joints prescribed against a dense solution, relative", found, DENSE)
    close(system.motion_forces(q, u, tau, t=0.7), force, DENSE)
    still = np.ones(system.nu, dtype=bool)
    still[[b.u.start for b in system.bodies if b.mobilizer.uses_time]] = False  # test_power.py has these
    close(system.motion_power(q, u, tau, t=0.7)[still], (force * u)[still], DENSE)
    # Added to tau the forces do the same without motions.
    bodies = [b.name for b in system.bodies if b.motion is not None]
    free = system.forward_dynamics(q, u, tau + system.motion_forces(q, u, tau, t=0.7), t=0.7, disabled=bodies)
    close(free, udot, DENSE)
    x = system.solve_mass_matrix(q, tau, t=0.7)
    np.testing.assert_array_equal(x[held], 0)
    M = system.mass_matrix(q, t=0.7)
    close(x[~held], np.linalg.solve(M[np.ix_(~held, ~held)], tau[~held]), DENSE)


@pytest.mark.parametrize("layout", ["unrolled", "looped"])
def test_machine_code_batches_and_switches(monkeypatch, layout):
    """Native code of both layouts against CasADi's evaluator; one state, many, threads; enabled and locked
    state by state."""
    monkeypatch.setenv("CONDYLE_LAYOUT", layout)
    joints = [
        cd.Pin(),
        cd.Slider(),
        cd.Ball(),
        cd.Planar(),
        cd.Pin(axis="x").reversed(),
        cd.Universal(),
        cd.Pin(),
        cd.Cylinder(),
    ]
    system = tree(4, joints, 0.6)
    q, u, tau = state_of(system, 4, (13,))
    t, names = np.linspace(-0.5, 1, 13), system.motions
    assert len(names) > 2
    udot = system.forward_dynamics(q, u, tau, t=t)
    interpreted = system.copy()
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    close(udot, interpreted.forward_dynamics(q, u, tau, t=t), SAME)
    monkeypatch.setenv("CONDYLE_EVALUATOR", "native")
    for i in range(13):
        close(system.forward_dynamics(q[i], u[i], tau[i], t=t[i]), udot[i], SAME)
    close(system.forward_dynamics(q, u, tau, t=t, threads=2), udot, SAME)
    plain = cd.System(gravity=(0.3, -9.81, 0.7))
    for b in system.bodies:
        m = b.mass_properties
        plain.add_body(b.name, b.parent.name, b.mobilizer, b.X_PF, b.X_BM, m.mass, m.com, m.inertia)
    close(
        system.forward_dynamics(q, u, tau, t=t, disabled=names), plain.forward_dynamics(q, u, tau, t=t), SAME
    )
    driven = system.body(names[1])
    locked = np.zeros((13, system.nu))
    locked[3:6, driven.u] = 1
    mixed = system.forward_dynamics(q, u, tau, t=t, locked=locked, disabled=names[:1])
    np.testing.assert_array_equal(mixed[3:6, driven.u], 0)  # a lock comes before a motion
    close(mixed[7, driven.u], udot[7, driven.u], 1e-14)


def test_locks_at_three_levels():
    system = cd.System()
    for name, parent in (("a", "ground"), ("b", "a"), ("c", "b")):
        system.add_body(
            name, parent, cd.Pin(), X_PF=(0, -0.3, 0), mass=1.0, com=(0, -0.15, 0), inertia=(0.01, 0.01, 0.01)
        )
    q, u = np.array([0.3, -0.4, 0.2]), np.array([0.5, 1.0, -0.7])
    state = system.state(q=q, u=u, locked={"a": "position", "b": "velocity", "c": 2.5})
    np.testing.assert_array_equal(state.u, [0.0, 1.0, -0.7])
    np.testing.assert_array_equal(state.udot, [0.0, 0.0, 2.5])
    assert state.locked == {"a": "position", "b": "velocity", "c": 2.5}
    np.testing.assert_allclose(
        state.motion_forces(), system.inverse_dynamics(q, state.u, [0, 0, 2.5]), rtol=1e-12
    )
    one = state.replace(locked={"b": -1.5})
    expected, force = by_hand(
        system, one.q, one.u, np.zeros(3), 0.0, np.array([False, True, False]), np.array([0, -1.5, 0])
    )
    np.testing.assert_allclose(one.udot, expected, rtol=1e-12)
    np.testing.assert_allclose(one.motion_forces(), force, rtol=1e-11, atol=1e-14)
    many = system.forward_dynamics(
        q, u, locked={"b": np.array([[-1.5], [0.0], [4.0]])[..., 0], "c": "acceleration"}
    )
    np.testing.assert_array_equal(many[:, 1:], [[-1.5, 0], [0, 0], [4, 0]])
    assert system.state(locked=["a"]).locked == {"a": "velocity"} == system.state(locked="a").locked


def test_massless_bodies_may_be_driven():
    """What is prescribed needs no inertia; freed, the acceleration of a massless tip has no answer, and this
    is said."""
    system = cd.System()
    system.add_body("crank", mobilizer=cd.Pin(), motion=cd.Prescribed(position=lambda t: 2 * t + 0.1 * t**2))
    system.add_body(
        "rod", "crank", cd.Pin(), X_PF=(0.4, 0, 0), mass=1.0, com=(0.3, 0, 0), inertia=(0.01, 0.02, 0.02)
    )
    system.add_body("pointer", "rod", cd.Pin(), X_PF=(0.4, 0, 0), motion=cd.Prescribed(velocity=0.3))
    state = system.state(t=0.5, q={"rod": 0.7})
    assert state.u[2] == 0.3
    assert state.udot[0] == pytest.approx(0.2, rel=1e-15)
    force = system.inverse_dynamics(state.q, state.u, state.udot, t=0.5)
    np.testing.assert_allclose(state.motion_forces(), [force[0], 0, 0], rtol=1e-12)
    assert abs(force[1]) < 1e-14 * abs(force[0])  # the free joint has none
    with pytest.raises(cd.errors.SingularError, match="'pointer'"):
        state.replace(disabled=["pointer"]).udot  # noqa: B018


@pytest.mark.parametrize("layout", ["unrolled", "looped"])
def test_long_splines_are_looked_up(monkeypatch, layout):
    """Measured data: a spline of 60 points for each of three joints."""
    monkeypatch.setenv("CONDYLE_LAYOUT", layout)
    t = np.linspace(0, 2, 60)
    curves = [cd.Spline(t, 0.3 * np.sin(3 * t + k)) for k in range(3)]
    system = cd.System()
    for k, f in enumerate(curves):
        system.add_body(
            f"b{k}",
            "ground" if not k else f"b{k - 1}",
            cd.Pin(),
            X_PF=(0, -0.3, 0),
            mass=1.0,
            com=(0, -0.15, 0),
            inertia=(0.01, 0.01, 0.01),
            motion=cd.Prescribed(position=f),
        )
    system.add_body(
        "tip", "b2", cd.Pin(), X_PF=(0, -0.3, 0), mass=1.0, com=(0, -0.15, 0), inertia=(0.01, 0.01, 0.01)
    )
    times = np.random.default_rng(0).uniform(0, 2, 17)
    q, u = system.prescribe(np.zeros(4), np.zeros(4), t=times)
    udot = system.forward_dynamics(q, u, t=times)
    for k, f in enumerate(curves):
        np.testing.assert_allclose(q[:, k], f(times), rtol=0, atol=1e-15)
        np.testing.assert_allclose(u[:, k], f.derivative(times), rtol=0, atol=1e-14)
        np.testing.assert_allclose(udot[:, k], f.derivative(times, 2), rtol=0, atol=1e-12)
    state = system.state(t=times[3])
    np.testing.assert_array_equal((state.q, state.u), (q[3], u[3]))
