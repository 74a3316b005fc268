"""A run beside the clock: the same motion as cd.simulate, whatever the machine does meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.viewer.real_time import RealTime


def pendulum(pole: bool = False) -> cd.System:
    system = cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), X_BM=(0, 0.5, 0), mass=1, inertia=(0.1, 0.1, 0.1))
    system.add_force("push", cd.forces.MobilityForce("arm", cd.Input("push", 0.0)))
    if pole:
        system.add_force("pole", cd.forces.Custom(lambda s: {"arm": 1 / (s.t - 0.05) ** 3}))
    return system


def frames(live: RealTime, count: int) -> list[cd.State]:
    """Those that are shown first, without the ones that were repeated."""
    found = [live.wait()]
    while len(found) < count:
        state = live.wait()
        if state is not found[-1]:
            found.append(state)
    return found


def test_the_motion_is_that_of_simulate():
    """Pieces begin anew at each chunk; 1e-6: both runs have accuracy 1e-7 and take some tens of steps."""
    system = pendulum()
    start = system.state(q=[0.3])
    with RealTime(system, start, accuracy=1e-7, speed=4.0) as live:
        shown = frames(live, 5)
        stamp = live.change(inputs={"push": 2.0})
        shown += frames(live, 20)[1:]
        pace = live.pace
    first = cd.simulate(system, start, stamp, accuracy=1e-7)
    then = cd.simulate(system, first(stamp).replace(inputs={"push": 2.0}), stamp + 5.0, accuracy=1e-7)
    assert shown[0].t == 0.0
    for state in shown:
        traj = first if state.t <= stamp else then
        np.testing.assert_allclose(state.q, traj(state.t).q, rtol=0, atol=1e-6)
    steps = np.diff([s.t for s in shown])
    assert steps.min() > 0
    assert pace.shown >= len(shown) and pace.factor > 0
    assert "real-time factor" in str(pace)


def test_what_cannot_be_is_refused_at_once():
    system = pendulum()
    with pytest.raises(cd.errors.DescriptionError, match="belongs to another system"):
        RealTime(system, pendulum().state())
    with pytest.raises(cd.errors.CondyleError, match="delay"):
        RealTime(system, system.state(), delay=0.0)
    live = RealTime(system, system.state())
    with pytest.raises(cd.errors.UnknownNameError, match="push"):
        live.change(inputs={"pusch": 1.0})


def test_a_run_that_ends_says_why():
    system = pendulum(pole=True)
    with RealTime(system, system.state()) as live:
        with pytest.raises(cd.errors.CondyleError, match="the simulation ended at t = 0"):
            frames(live, 10_000)
        assert live.failure
