"""Guesses from static optimization and from a pose at rest: what they fill, and that they help."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.collocation.intervals import CollocationMesh
from condyle.collocation.schemes import scheme
from condyle.control.guess import start
from condyle.control.transcription import ControlProgram


@pytest.fixture(scope="module")
def arm() -> cd.System:
    """A forearm that hangs from a pin, with a flexor and an extensor."""
    system = cd.System()
    mass = {"mass": 1.5, "com": (0, -0.15, 0), "inertia": (0.02, 0.02, 0.02)}
    forearm = system.add_body("forearm", mobilizer=cd.Pin(), coordinates="elbow", **mass)
    for name, side in (("flexor", 1), ("extensor", -1)):
        path = cd.paths.Path([(system.ground, (0.03 * side, 0.25, 0)), (forearm, (0.03 * side, -0.05, 0))])
        numbers = {"max_isometric_force": 800.0, "optimal_fiber_length": 0.12, "tendon_slack_length": 0.18}
        system.add_force(name, cd.muscles.DeGroote2016(path, tendon="rigid", **numbers))
    return system


@pytest.fixture(scope="module")
def motion() -> cd.Table:
    t = np.linspace(0, 0.6, 61)
    return cd.Table(t, ["elbow"], (0.1 - 0.1 * np.cos(2 * np.pi * t / 0.6))[:, None], degrees=False)


def tracking(arm: cd.System, motion: cd.Table) -> cd.Problem:
    problem = cd.Problem(arm, times=(0.0, 0.6))
    problem.minimize(cd.goals.Follow(motion), 10.0)
    problem.minimize(cd.goals.Effort(), 0.1)
    return problem


def test_static_optimization(arm: cd.System, motion: cd.Table) -> None:
    """Activations and excitations start as static optimization has them, and the answer is the same."""
    found = cd.static_optimization(arm, motion)
    problem = tracking(arm, motion)
    program = ControlProgram(problem, CollocationMesh.even(scheme("radau-2"), 15), True)
    V = start(program, [motion, found])[: program.P * program.nv].reshape(program.P, -1)
    for name in ("flexor", "extensor"):
        expected = np.interp(program.times, found.activations.time, np.asarray(found.activations[name]))
        for variable in (name, f"{name}.activation"):
            # between rows they are curves; bounds begin at 0.01
            assert V[:, program.dynamics.index[variable]] == pytest.approx(
                np.maximum(expected, 0.01), abs=0.02
            )
    plain, helped = (cd.solve(problem, mesh=15, guess=x) for x in (None, [motion, found]))
    assert plain.ok and helped.ok
    assert helped.objective == pytest.approx(plain.objective, rel=1e-4)  # accuracy 1e-6 of either
    assert cd.solve(problem, mesh=15, guess=found).objective == pytest.approx(plain.objective, rel=1e-4)


def test_a_pose_at_rest(arm: cd.System) -> None:
    """cd.relax gives a State: coordinates and activations of it, at rest, at all times."""
    silent = arm.copy(forces={"flexor": None, "extensor": None})
    rest = cd.relax(silent, silent.state(q={"elbow": 0.7}))
    assert rest.q == pytest.approx([0.0], abs=1e-6)
    problem = cd.Problem(arm, duration=0.5)
    problem.bound("elbow", (-1, 2), end=0.8)
    problem.bound("elbow_speed", (-20, 20), start=0.0, end=0.0)
    problem.minimize(cd.goals.Effort())
    state = arm.state(q=np.asarray(rest.q))
    program = ControlProgram(problem, CollocationMesh.even(scheme("radau-2"), 10), True)
    V = start(program, state)[: program.P * program.nv].reshape(program.P, -1)
    assert V[:-1, program.dynamics.index["elbow"]] == pytest.approx(0.0, abs=1e-6)
    assert (V[:, program.dynamics.index["elbow_speed"]] == 0).all()
    answers = [cd.solve(problem, mesh=10, guess=guess) for guess in (state, None)]
    assert all(a.ok for a in answers)
    assert answers[0].objective == pytest.approx(answers[1].objective, rel=1e-4)


def test_a_state_of_a_copy_without_muscles_is_taken(arm: cd.System) -> None:
    silent = arm.copy(forces={"flexor": None, "extensor": None})
    rest = cd.relax(silent, silent.state(q={"elbow": 0.7}))
    problem = cd.Problem(arm, duration=0.5)
    problem.bound("elbow", start=0.0, end=0.5)
    problem.minimize(cd.goals.Effort())
    assert cd.solve(problem, mesh=8, guess=rest).ok
