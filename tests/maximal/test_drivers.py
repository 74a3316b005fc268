"""Prescribed motions and locks of all levels as drivers: accelerations, the forces they take, motion; against
the first way."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle import maximal

# Both round; typical differences are 1e-15.
AGREE = 1e-11
BODY = {"mass": 1.3, "com": (0.05, -0.1, 0.02), "inertia": (0.02, 0.03, 0.025)}

MOTIONS = {
    "position": (cd.Pin(), cd.Prescribed(position=lambda t: 0.4 * np.sin(3 * t))),
    "a function's": (
        cd.FunctionBased(
            "k", (None, lambda q: 0.2 * q, lambda q: q), (lambda q: 0.1 * np.sin(q), None, None)
        ),
        cd.Prescribed(position=lambda t: 0.2 + t**2),
    ),
    "one of three": (cd.Planar(), cd.Prescribed(position=(None, lambda t: 0.3 * np.cos(2 * t), None))),
    "orientation": (cd.Ball(), cd.Prescribed(position=lambda t: [1.0, 0.3 * np.sin(t), 0.5 * t, 0.2])),
    "velocity": (cd.Universal(), cd.Prescribed(velocity=lambda t, a, b: [np.cos(t) - a, 0.3 * a * b])),
    "one velocity": (cd.Free(), cd.Prescribed(velocity=(None, None, lambda t: 2.0 + t, None, None, None))),
    "acceleration": (cd.Slider(), cd.Prescribed(acceleration=lambda t, x, v: np.sin(t) - 4 * x - 0.3 * v)),
}


def driven(mobilizer, motion, *constraints):
    """upper (Ball) - middle, which is driven - tip (Gimbal)."""
    system = cd.System()
    system.add_body("upper", mobilizer=cd.Ball(), X_BM=(0, 0.3, 0), **BODY)
    system.add_body(
        "middle", "upper", mobilizer, X_PF=(0, -0.3, 0.1), X_BM=(0.1, 0.2, 0), motion=motion, **BODY
    )
    system.add_body("tip", "middle", cd.Gimbal(), X_PF=(0, -0.2, 0), X_BM=(0, 0.2, 0), **BODY)
    for k, constraint in enumerate(constraints):
        system.add_constraint(f"c{k}", constraint)
    return system


def state(system, t):
    rng = np.random.default_rng(3)
    q = np.concatenate([body.mobilizer.random_q(rng) for body in system.bodies])
    return system.prescribe(q, rng.uniform(-1, 1, system.nu), t=t)


@pytest.mark.parametrize("name", MOTIONS)
def test_accelerations_and_forces(name):
    system, t = driven(*MOTIONS[name]), 0.6
    q, u = state(system, t)
    tau = np.linspace(-1, 1, system.nu)
    solution = maximal.formulation(system).at(q, u, t=t).forward(tau)
    udot = system.forward_dynamics(q, u, tau, t=t)
    np.testing.assert_allclose(solution.udot, udot, rtol=0, atol=AGREE * np.abs(udot).max())
    forces = system.motion_forces(q, u, tau, t=t)
    assert np.abs(forces).max() > 0.1
    np.testing.assert_allclose(solution.tau - tau, forces, rtol=0, atol=AGREE * np.abs(forces).max())
    free = maximal.forward_dynamics(system, q, u, tau, t=t, disabled=["middle"])
    np.testing.assert_allclose(
        free,
        system.forward_dynamics(q, u, tau, t=t, disabled=["middle"]),
        rtol=0,
        atol=AGREE * np.abs(free).max(),
    )
    assert np.abs(free - udot).max() > 1e-3


@pytest.mark.parametrize("name", MOTIONS)
def test_motion(name, evidence):
    """A third of a second by both; what is prescribed is met to rounding."""
    system, t_end = driven(*MOTIONS[name]), 0.9
    q, u = state(system, 0.6)
    first = cd.simulate(system, system.state(t=0.6, q=q, u=u), t_end, accuracy=1e-9)
    second = maximal.formulation(system).simulate(q, u, t_end, accuracy=1e-9, t=0.6)
    assert first.finished and second.finished
    off = max(
        np.abs(a[-1] - b[-1]).max() / max(1.0, np.abs(a).max())
        for a, b in ((first.q, second.q), (first.u, second.u))
    )
    evidence(
        "prescribed motions in motion for 0.3 s: minimal against maximal coordinates, relative", off, 1e-7
    )
    again = system.prescribe(second.q[-1], second.u[-1], t=t_end)
    np.testing.assert_allclose(second.q[-1], again[0], rtol=0, atol=1e-14)
    np.testing.assert_allclose(second.u[-1], again[1], rtol=0, atol=1e-13)


@pytest.mark.parametrize("level", ["position", "velocity", -1.7])
def test_locks_of_all_levels(level):
    """A lock comes before a motion; beside a constraint."""
    system = driven(
        *MOTIONS["position"], cd.constraints.PointInPlane("ground", (0.1, 1, 0.2), -0.4, "tip", (0, -0.1, 0))
    )
    locked = {"middle": level}
    q, u = system.project(*state(system, 0.0), locked=locked, tolerance=1e-13)
    tau = np.linspace(-1, 1, system.nu)
    solution = maximal.formulation(system).at(q, u, locked=locked).forward(tau)
    udot = system.forward_dynamics(q, u, tau, locked=locked)
    assert solution.udot[3] == pytest.approx(0 if isinstance(level, str) else level, abs=1e-12)
    np.testing.assert_allclose(solution.udot, udot, rtol=0, atol=1e-9 * np.abs(udot).max())
    np.testing.assert_allclose(
        solution.tau - tau,
        system.motion_forces(q, u, tau, locked=locked),
        rtol=0,
        atol=1e-9 * np.abs(solution.tau).max(),
    )
    second = maximal.formulation(system).simulate(q, u, 0.2, accuracy=1e-9, locked=locked)
    first = cd.simulate(system, system.state(q=q, u=u, locked=locked), 0.2, accuracy=1e-9)
    # a hundred times the accuracy
    np.testing.assert_allclose(second.q[-1], first.q[-1], rtol=0, atol=1e-7)
    np.testing.assert_allclose(second.u[-1], first.u[-1], rtol=0, atol=1e-7 * np.abs(first.u).max())
