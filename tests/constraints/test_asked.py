"""Rows by level, power and impulses of constraints: by differences, energy balances and the equations they
solve."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import condyle as cd

SOLID = {"mass": 1.0, "inertia": (0.1, 0.2, 0.3)}
ROUNDING = 1e-12
"""Sums of some hundred products of numbers near one, and one solve with a condition of some hundred."""


@pytest.fixture(scope="module")
def system():
    """A cart that time drives, a leg on a ball tied to a slider, a speed held, an acceleration wanted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONDYLE_EVALUATOR", "casadi")
        system = cd.System()
        add = system.add_body
        add("cart", mobilizer=cd.Slider(), **SOLID)
        add("thigh", "cart", cd.Ball(), X_BM=(0, 0.2, 0), **SOLID)
        add("shank", "thigh", cd.Pin(), X_PF=(0, -0.2, 0), X_BM=(0, 0.2, 0), coordinates="knee", **SOLID)
        add("bob", "ground", cd.Slider(), X_PF=(0, -1, 0), **SOLID)
        add("wheel", "bob", cd.Pin(), **SOLID)
        system.add_constraint("drive", cd.constraints.PrescribedMotion(lambda t: 0.2 * np.sin(3 * t), "cart"))
        system.add_constraint("rod", cd.constraints.Rod("thigh", (0, -0.2, 0), "bob", (0, 0, 0), 0.9))
        system.add_constraint("tie", cd.constraints.ConstantSpeed("knee", 0.4))
        system.add_constraint("push", cd.constraints.AccelerationOnly(lambda s: s.udot("wheel") - 0.3))
        yield system


@pytest.fixture
def state(system):
    rng = np.random.default_rng(1)
    start = system.state(t=0.2, q={"knee": 0.3, "bob": 0.1}, u=rng.normal(size=system.nu))
    q, u = system.project(start.q, start.u, t=0.2)
    return start.replace(q=q, u=u)


def test_rows_by_level(system, state):
    G = state.constraints.jacobian()
    parts = [state.constraints.jacobian(level=level) for level in ("position", "velocity", "acceleration")]
    assert [len(p) for p in parts] == [2, 1, 1]
    assert_array_equal(np.concatenate(parts), G)  # here in the order of the constraints
    # P is the slope of the position errors along the manifold: differences of order 2, h^2 = 1e-10.
    h = 1e-5
    for k, e in enumerate(np.eye(system.nu)):
        dq = system.qdot(state.q, e)
        p = [system.constraints.errors(state.q + s * dq, state.u, t=state.t)[0] for s in (-h, h)]
        assert_allclose((p[1] - p[0]) / (2 * h), parts[0][:, k], rtol=0, atol=1e-8)
    with pytest.raises(cd.errors.UnknownNameError, match=r"level.*position"):
        state.constraints.jacobian("speed")


def test_power_of_each_constraint(system, state):
    """A rod does none; the rest is -lambda (G u), and with gravity's it is the rate of the kinetic energy."""
    found = state.constraints.power()
    lambda_, G = state.multipliers(), state.constraints.jacobian()
    assert_allclose(found, -lambda_ * (G @ state.u), rtol=0, atol=ROUNDING * np.abs(found).max())
    assert abs(found[1]) < ROUNDING * np.abs(lambda_).max() and np.abs(found[[0, 2, 3]]).min() > 1e-3
    energy = system.jvp("energy", state.q, state.u, tangents={"q": state.u, "u": state.udot}, t=state.t)[0]
    assert_allclose(state.power().sum() + found.sum(), energy, rtol=0, atol=ROUNDING * 100)


def test_impulses_meet_the_constraints(system, state):
    rng = np.random.default_rng(2)
    u, f = state.u + rng.normal(size=system.nu), rng.normal(size=system.nu)
    q, t = state.q, state.t
    du, lambda_ = system.constraints.impulses(q, u, f, t=t)
    G, v = system.constraints.jacobian(q, u, t=t), system.constraints.errors(q, u, t=t)[1]
    assert_allclose(system.mass_matrix(q) @ du + G.T @ lambda_, f, rtol=0, atol=ROUNDING * 10)
    assert_allclose(G[:3] @ du, -v, rtol=0, atol=ROUNDING * 10)
    assert lambda_[3] == 0.0  # of an acceleration
    assert_allclose(system.constraints.errors(q, u + du, t=t)[1], 0, rtol=0, atol=ROUNDING * 10)
    # Without f it is what project does to the speeds.
    assert_allclose(
        u + system.constraints.impulses(q, u, t=t)[0], system.project(q, u, t=t)[1], rtol=0, atol=1e-9
    )
    many = system.constraints.impulses(np.tile(q, (3, 1)), u, f, t=t)
    assert_allclose(many[1][2], lambda_, rtol=0, atol=ROUNDING)


def test_impulses_with_locks(system, state):
    du, _ = system.constraints.impulses(state.q, state.u, np.ones(system.nu), t=state.t, locked=["bob"])
    assert du[system.speeds.index("bob")] == 0.0
    with pytest.raises(cd.errors.ConstraintError, match=r"impulses: no speeds satisfy.*tie by") as error:
        system.constraints.impulses(state.q, np.zeros(system.nu), t=state.t, locked=["knee"])
    assert set(error.value.violated) == {"tie"}


def test_a_fall_that_a_rope_stops():
    """A ball of 2 kg that falls with 3 m/s into a rod straight above: lambda is its momentum."""
    system = cd.System()
    system.add_body("ball", mobilizer=cd.Translation(), mass=2.0, inertia=(1, 1, 1))
    system.add_constraint("rope", cd.constraints.Rod("ground", (0, 1, 0), "ball", (0, 0, 0), 1.0))
    du, lambda_ = system.constraints.impulses([0, 0, 0], [0.5, -3.0, 0])
    assert_allclose(du, [0, 3, 0], rtol=0, atol=1e-14)
    assert_allclose(np.abs(lambda_ * system.constraints.jacobian([0, 0, 0], [0, 0, 0])[0, 1]), 6, rtol=1e-14)
