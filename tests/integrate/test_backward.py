"""Runs backward in time: there and back again, by every method, with constraints, motions and forces that
depend on time."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import condyle as cd
from condyle.integrate.integrators import METHODS

SOLID = {"mass": 1.0, "inertia": (0.1, 0.2, 0.3)}


def pendulum(**more):
    system = cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), X_BM=(0, 0.5, 0), **SOLID | more)
    return system


@pytest.mark.parametrize("name", METHODS)
def test_there_and_back(name):
    """A swinging arm; 20 times the accuracy for both ways, fixed steps by their order."""
    system = pendulum()
    start = system.state(t=1.0, q=[0.7], u=[0.3])
    fixed = not METHODS[name].estimate
    how = {"integrator": name, **({"step": 1e-3} if fixed else {"accuracy": 1e-7})}
    there = cd.simulate(system, start, 2.0, **how)
    back = cd.simulate(system, there[-1], 1.0, **how)
    assert back.finished and (np.diff(back.t) < 0).all() and back.t[-1] == 1.0 and back.t[0] == 2.0
    off = {"rk4": 1e-9, "euler": 2e-2, "semi-explicit-euler": 1e-2}.get(name, 2e-6)
    assert_allclose(np.concatenate([back[-1].q, back[-1].u]), [0.7, 0.3], rtol=0, atol=off)


def test_states_between_tables_and_slices():
    system = pendulum()
    start = system.state(q=[0.7], u=[0.3])
    there = cd.simulate(system, start, 1.0, accuracy=1e-8)
    back = cd.simulate(system, there[-1], 0.0, accuracy=1e-8)
    t = np.linspace(0.0, 1.0, 37)
    assert_allclose(back.at(t), there.at(t), rtol=0, atol=1e-6)
    assert_allclose(back(0.4).q, there(0.4).q, rtol=0, atol=1e-6)
    for i in (0, 3, len(back) - 1):
        assert_array_equal(back(back.t[i]).q, back[i].q)
    falling = back(t[::-1])
    assert_array_equal(falling.t, t[::-1])
    assert_allclose(falling.q, there.at(t[::-1])[:, :1], rtol=0, atol=1e-6)
    assert_array_equal(back.table().time, back.t)
    assert_allclose(back.table(t)["arm"], there.table(t)["arm"], rtol=0, atol=1e-6)
    assert_allclose(
        back.energy()["kinetic"] + back.energy()["potential"], sum(start.energy()), rtol=0, atol=1e-6
    )
    assert len(back[2:5]) == 3 and "finished" in repr(back)
    with pytest.raises(cd.errors.ShapeError, match="in order, latest first"):
        back(t)
    with pytest.raises(cd.errors.ShapeError, match="goes from 1 to 0 s"):
        back.at(1.5)


def test_constraints_motions_knots_and_z():
    """A driven cart with a leg that a rod ties to a slider, a push that begins and ends suddenly, and a
    filter's z."""
    system = cd.System()
    system.add_body(
        "cart", mobilizer=cd.Slider(), motion=cd.Prescribed(position=lambda t: 0.2 * np.sin(3 * t)), **SOLID
    )
    system.add_body("leg", "cart", cd.Ball(), X_BM=(0, 0.4, 0), **SOLID)
    system.add_body("bob", mobilizer=cd.Slider(), X_PF=(0, -1, 0), **SOLID)
    system.add_constraint("rod", cd.constraints.Rod("leg", (0, 0, 0), "bob", (0, 0, 0), 0.7))
    system.add_force(
        "push",
        cd.forces.Custom(lambda s: {"bob": cd.where(s.t > 0.31, cd.where(s.t < 0.33, 40.0, 0.0), 0.0)}),
    )
    state = system.state()
    q, u = system.project(state.q + np.array([0, 0, 0.1, 0.05, 0.1, 0.2]), [0, 0.3, 0.1, 0.2, 0.4])
    start = state.replace(q=q, u=u)
    there = cd.simulate(system, start, 0.7, accuracy=1e-8)
    back = cd.simulate(system, there[-1], 0.0, accuracy=1e-8)
    assert there.finished and back.finished
    assert_allclose(back.y[-1], there.y[0], rtol=0, atol=1e-5)
    assert np.abs(back.constraints.errors().values).max() < 1e-8
    assert_allclose(back["cart"], 0.2 * np.sin(3 * back.t), rtol=0, atol=1e-12)
    t = np.linspace(0, 0.7, 50)
    assert_allclose(back.at(t), there.at(t), rtol=0, atol=1e-5)
    for edge in (0.31, 0.33):  # a step ends on either side of a jump
        assert np.abs(back.t - edge).min() < 1e-12
    # Without seeing the push the bob would be elsewhere.
    assert np.abs(cd.simulate(system, start.replace(disabled=["push"]), 0.7).y[-1] - there.y[-1]).max() > 1e-2


def test_what_does_not_run_backward():
    system = pendulum()
    state = system.state(t=1.0)
    with pytest.raises(
        cd.errors.DescriptionError, match=r"t_final = 0 s is before.*'floor', do not happen backward"
    ):
        cd.simulate(system, state, 0.0, events=cd.Event(lambda s: s.q("arm"), name="floor"))
    with pytest.raises(cd.errors.DescriptionError, match="none runs backward"):
        cd.simulate(system, [state, state], 0.0)
    with pytest.raises(cd.errors.DescriptionError, match="growth: this run goes backward"):
        cd.simulate(system, state, 0.0).growth()
    with pytest.raises(cd.errors.DescriptionError, match="below what t can resolve"):
        cd.simulate(system, state, 0.0, step=1e-17)


def test_why_a_run_backward_ends():
    """A force that is infinite at t = 0.51234."""
    system = pendulum()
    system.add_force("pole", cd.forces.Custom(lambda s: {"arm": 1 / (s.t - 0.51234) ** 3}))
    back = cd.simulate(system, system.state(t=1.0), 0.0)
    assert "stopped at t = 0.512" in back.status
