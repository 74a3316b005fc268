"""Trees of 1-60 bodies that mix every mobilizer, forward and reversed, against the dense oracle: both
layouts, both evaluators.

tests/dynamics/test_identities.py has the identities; here the same trees go through the looped layout and
through machine code.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest

from tests.oracles import EVERY_KIND, Mechanics, random_plan
from tests.oracles.trees import random_inertia, random_joint

EPS = np.finfo(float).eps
STATES = 3
# Forces of a body are sums of some hundred products, taken over a chain of up to 20 bodies.
SUMS = 2000 * EPS
TREES = [(11, 1), (12, 2), (13, 4), (14, 9), (15, 17), (17, 60)]
COMPILED = [(13, 4), (14, 9)]


def with_every_kind(plan):
    """The plan with all kinds, forward and reversed, in place of its first joints, in random order."""
    rng = np.random.default_rng(plan.seed)
    kinds = [(kind, reverse) for kind in EVERY_KIND for reverse in (False, True)]
    parts = list(plan.parts)
    for i, (kind, reverse) in enumerate(rng.permutation(np.array(kinds, dtype=object))):
        joint = replace(random_joint(rng, kind, f"b{i}"), reversed=reverse)
        parts[i] = replace(parts[i], joint=joint, mass=rng.uniform(0.5, 2), inertia=random_inertia(rng))
    return replace(plan, parts=tuple(parts))


@functools.cache
def tree_of(seed, bodies):
    """Plan, states and the oracle's answers."""
    if bodies == 60:
        plan = with_every_kind(random_plan(seed, bodies))
    else:
        plan = next(p for p in (random_plan(seed + 100 * k, bodies) for k in range(100)) if Mechanics(p).nu)
    oracle, (q, u, tau), t = Mechanics(plan), plan.states(STATES), np.linspace(0.1, 0.9, STATES)
    cond = np.linalg.cond(oracle.mass_matrix(q, t)).max()
    return plan, q, u, tau, t, oracle, max(oracle.nu, 4) * cond * EPS


def check(system, seed, bodies, evidence, claim):
    plan, q, u, tau, t, oracle, bound = tree_of(seed, bodies)
    expected = oracle.forward_dynamics(q, u, tau, t)
    udot = system.forward_dynamics(q, u, tau, t=t)
    # A backward-stable solve loses at most n cond(M) eps; 10 leaves room for what each side rounds before it.
    evidence(
        f"accelerations of random trees of every mobilizer, {claim}, against a dense program, in n "
        "cond(M) eps",
        (np.abs(udot - expected).max(-1) / np.abs(expected).max(-1)).max() / bound,
        10,
    )
    one = system.forward_dynamics(q[1], u[1], tau[1], t=t[1])
    assert np.abs(one - expected[1]).max() <= 10 * bound * np.abs(expected[1]).max()
    forces = oracle.inverse_dynamics(q, u, tau, t)
    assert np.abs(system.inverse_dynamics(q, u, tau, t=t) - forces).max() <= SUMS * np.abs(forces).max()
    for ours, theirs in zip(system.energy(q, u, t=t), oracle.energy(q, u, t), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=SUMS * np.abs(theirs).max())
    tip = len(plan.parts) - 1
    X = oracle.paths(q, u, np.zeros(oracle.nu), t)[tip]
    R, p = system.body_pose(q, f"b{tip}", t=t)
    np.testing.assert_allclose(R, X.R, rtol=0, atol=SUMS / 10)
    np.testing.assert_allclose(p, X.p, rtol=0, atol=SUMS)
    V = system.body_velocity(q, u, f"b{tip}", t=t)
    np.testing.assert_allclose(V, X.velocity(), rtol=0, atol=SUMS * max(1, np.abs(V).max()))


@pytest.mark.parametrize(("seed", "bodies"), TREES)
def test_loops_interpreted(seed, bodies, monkeypatch, evidence):
    """The looped layout by CasADi's evaluator; test_identities.py has the unrolled one."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    monkeypatch.setenv("CONDYLE_LAYOUT", "looped")
    check(tree_of(seed, bodies)[0].system(), seed, bodies, evidence, "looped layout")


@pytest.mark.parametrize("layout", ["unrolled", "looped"])
@pytest.mark.parametrize(("seed", "bodies"), COMPILED)
def test_machine_code(seed, bodies, layout, monkeypatch, evidence):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "native")
    monkeypatch.setenv("CONDYLE_LAYOUT", layout)
    check(tree_of(seed, bodies)[0].system(), seed, bodies, evidence, "machine code")
