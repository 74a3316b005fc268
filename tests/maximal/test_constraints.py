"""The System's constraints as rows of maximal coordinates: every type, alone and in pairs, against the first
formulation."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import condyle as cd
from condyle import maximal
from tests.constraints.rig import EVERY, rig, shared, state
from tests.constraints.test_every_constraint import CONTRADICT, STICKING, levels

# The bound that we promise; about cond(Y) eps, 1e-11, is what both leave.
AGREE = 1e-9
PAIRS = [
    pair
    for i, pair in enumerate(combinations(EVERY, 2))
    if i % 11 == 0 and set(pair) not in CONTRADICT and not set(pair) <= STICKING
]


def apart(ours, theirs) -> float:
    return float(np.abs(ours - theirs).max(initial=0.0) / np.abs(theirs).max(initial=1e-12))


@pytest.mark.parametrize("names", [*((name,) for name in EVERY), *PAIRS], ids=" ".join)
def test_each_constraint(names, evidence):
    """Accelerations, multipliers, errors, driving forces and reactions, at a state that no constraint has
    asked for."""
    system = shared(*names)
    (q, u), t = state(system), 0.3
    tau = np.random.default_rng(5).uniform(-3, 3, system.nu)
    at = maximal.formulation(system).at(q, u, t=t)
    solution = at.forward(tau)
    rows = np.r_[tuple(at.constraints[name] for name in names)]
    level = np.array([level for name in names for level in levels(name)])
    p, v = system.constraints.errors(q, u, t=t)
    # positions of order 1, rounded
    np.testing.assert_allclose(at.C[rows][level == "position"], p, rtol=0, atol=1e-12)
    np.testing.assert_allclose(at.Cdot[rows][level != "acceleration"], v, rtol=0, atol=1e-12)
    udot = system.forward_dynamics(q, u, tau, t=t)
    evidence(
        "accelerations under every constraint: minimal against maximal coordinates, relative",
        apart(solution.udot, udot),
        AGREE,
    )
    # With rows that depend on each other these would be shared out in another way; here there are none.
    evidence(
        "multipliers of every constraint: minimal against maximal coordinates, relative",
        apart(solution.lambda_s[rows], system.multipliers(q, u, tau, t=t)),
        AGREE,
    )
    assert solution.redundant == 0
    assert (
        apart(maximal.inverse_dynamics(system, q, u, udot, t=t), system.inverse_dynamics(q, u, udot, t=t))
        < AGREE
    )
    assert apart(maximal.reactions(system, q, u, udot, t=t), system.reactions(q, u, udot, t=t)) < AGREE


def test_disabled_constraints_ask_for_nothing():
    system = rig("Ball", "ConstantSpeed", "CoordinateCoupler")
    q, u = state(system)
    off = ("Ball", "ConstantSpeed")
    at = maximal.formulation(system).at(q, u, disabled=off)
    solution = at.forward(np.zeros(system.nu))
    np.testing.assert_allclose(
        solution.udot, system.forward_dynamics(q, u, disabled=off), rtol=AGREE, atol=AGREE
    )
    for name in off:
        np.testing.assert_array_equal(at.C[at.constraints[name]], 0)
        np.testing.assert_array_equal(solution.lambda_s[at.constraints[name]], 0)
    assert solution.redundant == 0


def test_a_constraint_twice_shares_the_load():
    one, two = rig("Rod"), rig("Rod", again=EVERY["Rod"])
    q, u = state(one)
    single, double = (maximal.formulation(system).at(q, u).forward(np.zeros(one.nu)) for system in (one, two))
    np.testing.assert_allclose(double.udot, single.udot, rtol=0, atol=1e-9 * np.abs(single.udot).max())
    np.testing.assert_allclose(double.lambda_s[-2:], [single.lambda_s[-1] / 2] * 2, rtol=1e-9)
    assert (single.redundant, double.redundant) == (0, 1)


def test_a_locked_speed_and_constraints():
    system = shared("Rod", "NoSlip1D")
    q, u = state(system)
    locked = ["twist", "shoulder"]  # NoSlip1D is about twist and elbow: one must be free
    found = maximal.forward_dynamics(system, q, u, locked=locked)
    np.testing.assert_allclose(
        found, system.forward_dynamics(q, u, locked=locked), rtol=0, atol=AGREE * np.abs(found).max()
    )


def test_lines_of_splines_in_constraints():
    """A coupler by a spline that is looked up, of a coordinate in closed form and one without."""
    knots = np.linspace(-2, 2, 9)
    spline = cd.Spline(knots, np.sin(knots))
    system = rig(coupled=cd.constraints.CoordinateCoupler(lambda a, b: a - spline(b), ("shoulder", "elbow")))
    q, u = state(system)
    tau = np.linspace(-1, 1, system.nu)
    assert apart(maximal.forward_dynamics(system, q, u, tau), system.forward_dynamics(q, u, tau)) < AGREE
