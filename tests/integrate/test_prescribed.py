"""Simulation with prescribed motions: what is prescribed has no error, what is free follows, work becomes
energy."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd

TIMES = np.linspace(0, 3, 50)
CURVE = cd.Spline(TIMES, 0.4 * np.sin(3 * TIMES))


def leg(motion=None) -> cd.System:
    system = cd.System()
    system.add_body(
        "thigh", mobilizer=cd.Pin(), mass=8.0, com=(0, -0.18, 0), inertia=(0.13, 0.03, 0.13), motion=motion
    )
    system.add_body(
        "shank",
        "thigh",
        cd.Pin(),
        X_PF=(0, -0.42, 0),
        mass=3.5,
        com=(0, -0.19, 0),
        inertia=(0.05, 0.01, 0.05),
    )
    return system


def exactly(traj, system, t):
    """Coordinates and speeds of a trajectory at its steps and at times t against the functions."""
    for times, y in ((traj.t, traj.y), (t, traj.at(t))):
        q, u = system.prescribe(y[:, : system.nq], y[:, system.nq :], t=times)
        np.testing.assert_allclose(y, np.concatenate([q, u], axis=1), rtol=0, atol=1e-15)


@pytest.mark.parametrize("integrator", ["merson", "dormand-prince-8", "rodas", "verlet"])
@pytest.mark.parametrize(
    "motion",
    [
        cd.Prescribed(position=lambda t: 0.4 * np.sin(3 * t)),
        cd.Prescribed(position=CURVE),
        cd.Prescribed(velocity=lambda t, q: 1.2 * np.cos(3 * t) - (q - 0.4 * np.sin(3 * t))),
    ],
    ids=["function", "spline", "velocity"],
)
def test_against_a_moved_support(motion, integrator):
    """The shank on a thigh that moves by itself: a joint that knows time, whose coordinate does nothing, is
    the second way."""
    system = leg(motion)
    f = CURVE if motion.position is CURVE else (lambda t: 0.4 * np.sin(3 * t))
    other = cd.System()
    timed = cd.FunctionBased(
        ("slip",), (None, None, lambda t, q: f(t)), (None, None, lambda t, q: q), time=True
    )
    other.add_body("thigh", mobilizer=timed, mass=8.0, com=(0, -0.18, 0), inertia=(0.13, 0.03, 0.13))
    other.add_body(
        "shank",
        "thigh",
        cd.Pin(),
        X_PF=(0, -0.42, 0),
        mass=3.5,
        com=(0, -0.19, 0),
        inertia=(0.05, 0.01, 0.05),
    )
    options = {"step": 2e-4} if integrator == "verlet" else {"accuracy": 1e-7}
    mine = cd.simulate(system, system.state(q={"shank": 0.5}), 1.5, integrator=integrator, **options)
    theirs = cd.simulate(
        other, other.state(q={"shank": 0.5}), 1.5, accuracy=1e-9, integrator="dormand-prince-8"
    )
    assert mine.finished and theirs.finished
    # Ten times the accuracy; Verlet's steps of 0.2 ms leave about h^2 times the fourth derivative.
    np.testing.assert_allclose(
        [mine.q[-1, 1], mine.u[-1, 1]],
        [theirs.q[-1, 1], theirs.u[-1, 1]],
        rtol=0,
        atol=2e-5 if integrator == "verlet" else 1e-6,
    )
    exactly(mine, system, np.linspace(0, 1.5, 37))


@pytest.mark.parametrize("layout", ["unrolled", "looped"])
def test_work_is_energy(monkeypatch, layout):
    """Twelve bodies, every third driven by a spline or a function: the work of the motions is what energy
    gains."""
    monkeypatch.setenv("CONDYLE_LAYOUT", layout)
    system = cd.System()
    for k in range(12):
        curve = CURVE if k % 2 else cd.functions.Sine(0.3, 2.0 + 0.1 * k, 0.2)
        system.add_body(
            f"b{k}",
            "ground" if not k else f"b{k - 1}",
            cd.Pin(axis="xyz"[k % 3]),
            X_PF=(0.1, -0.2, 0),
            mass=1.0,
            com=(0, -0.1, 0),
            inertia=(0.01, 0.01, 0.01),
            motion=cd.Prescribed(position=curve) if not k % 3 else None,
        )
    traj = cd.simulate(system, system.state(), 0.5, accuracy=1e-7, integrator="dormand-prince")
    assert traj.finished
    t = np.linspace(0, 0.5, 4001)
    y = traj.at(t)
    power = system.motion_power(y[:, :12], y[:, 12:], t=t)
    assert (np.abs(power).max(axis=0) > 0).tolist() == [k % 3 == 0 for k in range(12)]
    kinetic, potential = system.energy(y[[0, -1], :12], y[[0, -1], 12:])
    gained = np.diff(kinetic + potential)[0]
    # The accuracy, over energies and powers of some tens.
    assert np.trapezoid(power.sum(-1), t) == pytest.approx(gained, abs=1e-5 * np.abs(power).sum(-1).max())
    exactly(traj, system, np.linspace(0, 0.5, 11))


def test_errors_count_what_is_free():
    """Only prescribed joints: nothing limits the step but its growth. A fast motion beside a slow pendulum
    costs nothing."""
    fast = cd.Prescribed(position=lambda t: 0.1 * np.sin(50 * t))
    alone = cd.System()
    alone.add_body("a", mobilizer=cd.Pin(), mass=1.0, inertia=(1, 1, 1), motion=fast)
    traj = cd.simulate(alone, alone.state(), 10.0, accuracy=1e-9)
    assert traj.finished and traj.statistics.steps < 30 and traj.statistics.rejections == 0
    exactly(traj, alone, np.linspace(0, 10, 101))
    beside = cd.System()
    for name, motion in (("a", fast), ("b", None)):
        beside.add_body(name, mobilizer=cd.Pin(), mass=1.0, com=(0, -1, 0), inertia=(1, 1, 1), motion=motion)
    only = cd.System()
    only.add_body("b", mobilizer=cd.Pin(), mass=1.0, com=(0, -1, 0), inertia=(1, 1, 1))
    steps = [
        cd.simulate(s, s.state(q={"b": 1.0}), 5.0, accuracy=1e-6).statistics.steps for s in (beside, only)
    ]
    # the same errors, the same mean over what has any
    assert steps[0] == pytest.approx(steps[1], abs=1)


def test_constraints_beside_motions():
    """A four-bar whose crank is driven: the force that it takes against the multiplier of the constraint that
    does the same."""

    def linkage(motion):
        system = cd.System()
        for name, parent, x, l in (
            ("crank", "ground", 0.0, 0.3),
            ("coupler", "crank", 0.3, 0.8),
            ("rocker", "ground", 0.7, 0.6),
        ):
            system.add_body(
                name,
                parent,
                cd.Pin(),
                X_PF=(x, 0, 0),
                mass=1.0,
                com=(l / 2, 0, 0),
                inertia=(0.01, 0.03, 0.03),
                motion=motion if name == "crank" else None,
            )
        system.add_constraint(
            "joint", cd.constraints.PointOnLine("rocker", (0.6, 0, 0), (0, 0, 1), "coupler", (0.8, 0, 0))
        )
        return system

    turn = lambda t: 0.5 + 3 * t + 0.2 * np.sin(4 * t)
    driven, other = linkage(cd.Prescribed(position=turn)), linkage(None)
    other.add_constraint("motor", cd.constraints.PrescribedMotion(turn, "crank"))
    q, u = driven.project([9.0, 0.4, 1.2], np.zeros(3), t=0.0)
    assert (q[0], u[0]) == (0.5, 3.8)
    state = driven.state(q=q, u=u)
    traj = cd.simulate(driven, state, 2.0, accuracy=1e-7)
    assert traj.finished
    np.testing.assert_allclose(traj.q[:, 0], turn(traj.t), rtol=1e-15)
    t, q, u = traj.t, traj.q, traj.u
    theirs = cd.simulate(other, other.state(q=q[0], u=u[0]), 2.0, accuracy=1e-7)
    np.testing.assert_allclose(q[-1], theirs.q[-1], rtol=0, atol=1e-7)  # the accuracy
    force, lambda_ = (
        driven.motion_forces(q, u, t=t),
        other.multipliers(q, u, t=t)[:, other.constraints.rows("motor")],
    )
    # Y + 1e-12 trace(Y), refined
    np.testing.assert_allclose(force[:, :1], -lambda_, rtol=0, atol=1e-8 * np.abs(force).max())
    np.testing.assert_allclose(
        driven.forward_dynamics(q, u, t=t), other.forward_dynamics(q, u, t=t), rtol=1e-7, atol=1e-7
    )
    np.testing.assert_array_equal(force[:, 1:], 0)
    p, v = driven.constraints.errors(traj.q, traj.u, t=traj.t)
    # a tenth of the accuracy; over 0.1 s
    assert np.abs(p).max() < 1e-8 and np.abs(v).max() < 1e-6


def test_events_switch_motions_and_locks():
    """Let go, and taken up again by a lock: before and after, states say what held there."""
    system = leg(cd.Prescribed(position=lambda t: 0.4 * np.sin(3 * t)))
    events = [
        cd.Event(at=0.5, action=lambda s: s.replace(disabled=["thigh"]), name="let go"),
        cd.Event(at=0.8, action=lambda s: s.replace(locked={"thigh": "position"}), name="brake"),
        cd.Event(at=1.0, action=lambda s: s.replace(locked={"thigh": 2.0}), name="push"),
    ]
    traj = cd.simulate(system, system.state(), 1.3, accuracy=1e-6, events=events)
    assert traj.finished
    assert traj(0.4).q[0] == pytest.approx(0.4 * np.sin(1.2), rel=1e-15)
    assert traj.at(0.4)[0] == pytest.approx(0.4 * np.sin(1.2), rel=1e-15)
    swing = traj(0.65)
    assert swing.udot == pytest.approx(system.forward_dynamics(swing.q, swing.u, disabled=["thigh"]))
    assert abs(swing.q[0] - 0.4 * np.sin(1.95)) > 1e-3
    rest = traj(0.9)
    assert rest.u[0] == 0 and rest.q[0] == traj(0.8).q[0] and rest.locked == {"thigh": "position"}
    # 2 rad/s^2 for 0.3 s: every method is exact for it
    assert traj[-1].u[0] == pytest.approx(0.6, rel=1e-12)
    assert traj[-1].q[0] == pytest.approx(rest.q[0] + 0.09, rel=1e-12)


def test_many_members():
    """In lanes and threads, at given times: each with its own Parameters of the motion."""
    size = cd.Parameter("size", 0.4)
    system = leg(cd.Prescribed(position=lambda t: size * np.sin(3 * t)))
    sizes, times = np.linspace(0.1, 0.7, 7), np.linspace(0, 1, 5)
    ensemble = cd.simulate(
        system, {"q": np.zeros((7, 2)), "parameters": {"size": sizes}}, 1.0, accuracy=1e-6, keep=times
    )
    assert ensemble.finished.all()
    at = ensemble.at(times)
    np.testing.assert_allclose(at[..., 0], sizes[:, None] * np.sin(3 * times), rtol=0, atol=1e-15)
    one = cd.simulate(system, system.state(parameters={"size": sizes[3]}), 1.0, accuracy=1e-6)
    np.testing.assert_allclose(at[3], one.at(times), rtol=0, atol=1e-6)


def test_a_motion_that_ends_is_named():
    system = leg(cd.Prescribed(position=lambda t: np.where(t < 1.0, 0.1 * t, np.sqrt(1.0 - t))))
    traj = cd.simulate(system, system.state(), 2.0, accuracy=1e-4)
    assert not traj.finished
    assert traj.t[-1] <= 1.0
    assert "motion of 'thigh'" in traj.status
