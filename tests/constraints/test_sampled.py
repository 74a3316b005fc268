"""Functions of time by samples that end before a run does."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.constraints.sampled import _of

T = np.linspace(0, 1, 11)
SAMPLES = (T, np.sin(T))


def pendulum(**more: object) -> cd.System:
    system = cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), mass=1, inertia=(1, 1, 1), coordinates="elbow", **more)
    system.add_body("hand", "arm", cd.Pin(), mass=1, inertia=(1, 1, 1), coordinates="wrist")
    return system


@pytest.fixture(scope="module")
def moved() -> cd.System:
    return pendulum(motion=cd.Prescribed(position=SAMPLES))


SAID = r"position of 'elbow' has samples from 0 to 1 s, and goes on with the slope of its end"


def test_prescribed_motions(moved):
    """Warnings are errors in tests: runs within the samples, or half a step beyond them, have none."""
    state = moved.state()
    for end in (0.8, 1.0, 1.04):
        cd.simulate(moved, state, end)
    with pytest.warns(UserWarning, match=rf"simulate: the time goes from 0 to 1.5 s, but {SAID} after that"):
        cd.simulate(moved, state, 1.5)
    with pytest.warns(UserWarning, match=rf"{SAID} before that"):
        cd.simulate(moved, moved.state(t=0.5), -0.5)
    with pytest.warns(UserWarning, match=rf"{SAID} after that"):
        cd.simulate(moved, [state, state], 1.5)
    with pytest.warns(UserWarning, match=rf"maximal: simulate: .*{SAID} after that"):
        cd.maximal.formulation(moved).simulate(state.q, state.u, 1.2, accuracy=1e-4)
    cd.simulate(moved, moved.state(disabled=["arm"]), 1.5)
    cd.simulate(moved, state, 1.5, events=cd.Event(at=[0.9], terminal=True))


def test_recorded_motions(moved):
    t = np.linspace(0, 2, 20)
    with pytest.warns(UserWarning, match=rf"motion: the time goes from 0 to 2 s, but {SAID} after that"):
        cd.Motion.of(moved, cd.Table(t, ["wrist"], np.zeros((20, 1)), degrees=False))
    cd.Motion.of(moved, cd.Table(t / 2, ["wrist"], np.zeros((20, 1)), degrees=False))


def test_forces_and_constraints():
    """What keeps its end value is named unless it had settled there; functions of coordinates are others."""
    system = pendulum()
    system.add_force("push", cd.forces.ExternalWrench("hand", force=(T, np.outer(np.sin(T), [1, 0, 0]))))
    system.add_force("kick", cd.forces.MobilityForce("elbow", ([0, 0.2, 0.4, 0.5], [0, 1, 0, 0])))
    system.add_force("late", cd.forces.MobilityForce("elbow", cd.functions.Scaled(cd.Spline(*SAMPLES), 2.0)))
    system.add_constraint("follows", cd.constraints.PrescribedMotion(SAMPLES, "wrist"))
    state = cd.assemble(system, system.state(u=[0.0, 1.0]))
    with pytest.warns(UserWarning, match="simulate: the time goes from 0 to 1.5 s") as found:
        cd.simulate(system, state, 1.5)
    (said,) = [str(w.message) for w in found]
    assert "force of 'push' has samples from 0 to 1 s, and keeps its end value after that" in said
    assert "'late' has samples from 0 to 1 s, and goes on with the slope of its end after that" in said
    assert "'follows' has samples from 0 to 1 s" in said
    assert "kick" not in said
    cd.simulate(system, state, 1.0)


def test_excitations(arm):
    with pytest.warns(UserWarning, match=r"excitation of 'BRA' has samples from 0 to 0.02 s, and keeps"):
        cd.simulate(arm, arm.equilibrate_muscles(arm.state()), 0.05)


@pytest.fixture
def arm() -> cd.System:
    system = pendulum()
    path = cd.paths.Path([("ground", (0.1, 0.3, 0)), ("hand", (0.1, 0.1, 0))])
    muscle = cd.muscles.DeGroote2016(
        path,
        max_isometric_force=100.0,
        optimal_fiber_length=0.1,
        tendon_slack_length=0.1,
        tendon="rigid",
        excitation=([0, 0.01, 0.02], [0.1, 0.2, 0.4]),
    )
    system.add_force("BRA", muscle)
    return system


def test_lines_that_end_level():
    """A ramp that ends level holds its value; a spline through the same points does not."""
    x, y = [0.0, 1.0, 2.0], [0.0, 1.0, 1.0]
    with pytest.warns(UserWarning, match="kink"):
        ramp = cd.functions.PiecewiseLinear(x, y)
    assert not _of("a", "a", ramp).ends(0.0, 3.0) and _of("a", "a", ramp).ends(-1.0, 2.0)
    assert _of("a", "a", cd.Spline(x, y, degree=3)).ends(0.0, 3.0)
