"""Position analysis: Newton on C(x, t) = 0 from starts that are off, angles of many turns, coordinates back
from poses."""

from __future__ import annotations

import functools
from itertools import pairwise

import numpy as np
import pytest

import condyle as cd
from condyle.maximal import MaximalSystem
from tests.oracles import random_plan

EPS = np.finfo(float).eps


@functools.cache
def model(seed):
    plan = random_plan(seed, 6)
    return MaximalSystem(plan.system()), plan.states()[0]


@pytest.mark.parametrize("seed", [21, 22, 23])
def test_newton_comes_back_from_a_perturbed_start(seed):
    maximal, q = model(seed)
    exact = maximal.place(q, t=0.3)
    rng = np.random.default_rng(seed)
    start = exact + rng.uniform(-0.05, 0.05, maximal.nx)
    assert np.abs(maximal.position_constraints(start, q, t=0.3)[0]).max() > 1e-3
    x = maximal.position(q, start, t=0.3)
    # |x| is about 1 to 3 and Newton ends at C = 1e-13; the Jacobian's inverse is of order 10.
    np.testing.assert_allclose(x, exact, rtol=0, atol=1e-11)
    assert np.abs(maximal.position_constraints(x, q, t=0.3)[0]).max() <= 1e-13
    np.testing.assert_allclose(maximal.coordinates(x, q, t=0.3), q, rtol=0, atol=1e-11)


def test_newton_is_quadratic():
    """Each error is at most a multiple of the square of the one before: the Jacobian is right."""
    maximal, q = model(21)
    x = maximal.place(q) + np.random.default_rng(0).uniform(-0.02, 0.02, maximal.nx)
    errors = []
    for _ in range(4):
        C, C_x = maximal.position_constraints(x, q)
        errors.append(np.abs(C).max())
        x = x - np.linalg.solve(C_x, C)
    print(errors)
    # Second derivatives of C are about 1, and so is the inverse of its Jacobian: 10 leaves room. 1e-14:
    # rounding of C.
    assert all(after <= 10 * before**2 + 1e-14 for before, after in pairwise(errors))
    assert errors[-1] < 1e-10


@pytest.mark.parametrize(
    "mobilizer",
    [
        cd.Pin(axis=(1, 2, 3)),
        cd.Screw(0.2),
        cd.Cylinder(),
        cd.Planar(),
        cd.Pin().reversed(),
        cd.Screw(-0.1).reversed(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("turns", [-2.3, -0.5, 0.0, 0.49, 0.51, 1.0, 3.7])
def test_angles_of_many_turns(mobilizer, turns):
    system = cd.System()
    system.add_body(
        "b", mobilizer=mobilizer, X_PF=(0.1, 0.2, 0.3), X_BM=(0.3, 0, 0.1), mass=1.0, inertia=(1, 1, 1)
    )
    maximal = MaximalSystem(system)
    q = np.array([2 * np.pi * turns, 0.3, -0.2])[: system.nq]
    near = q + np.array([0.4, 0, 0])[: system.nq]
    at = maximal.at(q, np.ones(system.nu))
    # a few roundings of numbers up to 25
    np.testing.assert_allclose(at.q, q, rtol=0, atol=100 * EPS)
    np.testing.assert_allclose(maximal.coordinates(at.x, near), q, rtol=0, atol=100 * EPS)
    assert np.abs(at.C).max() <= 100 * EPS


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_quaternions_keep_their_sign(sign):
    """q and -q are one orientation; a law that reads the coordinate must see the one that was given."""
    system = cd.System()
    system.add_body("b", mobilizer=cd.Free(), mass=1.0, inertia=(1, 1, 1))
    q = np.array([*(sign * np.array([0.1, -0.7, 0.5, 0.5])), 1.0, 2.0, 3.0])
    np.testing.assert_allclose(MaximalSystem(system).at(q, np.zeros(6)).q, q, rtol=0, atol=10 * EPS)


def test_failure_says_which_joint():
    """Turned by pi about an axis that the joint forbids: halfway between two ways back, and no solution by
    itself."""
    system = cd.System()
    system.add_body("a", mobilizer=cd.Slider(), mass=1.0, inertia=(1, 1, 1))
    system.add_body(
        "b",
        "a",
        cd.FunctionBased("k", (None, None, lambda q: q), (lambda q: 0.1 * q, None, None)),
        mass=1.0,
        inertia=(1, 1, 1),
    )
    maximal = MaximalSystem(system)
    upside_down = maximal.place(np.zeros(2))
    upside_down[7:11] = 0.0, 1.0, 0.0, 0.0
    with pytest.raises(
        cd.errors.CondyleError, match=r"position analysis: .* the joint of 'b' is off by 2; begin nearer"
    ):
        maximal.position(np.zeros(2), upside_down)


def test_wrong_arguments_are_refused():
    maximal, q = model(21)
    with pytest.raises(cd.errors.ShapeError, match=r"q: expected \d+ finite numbers"):
        maximal.place(q[:-1])
    with pytest.raises(cd.errors.ShapeError, match="q: expected"):
        maximal.at(np.full_like(q, np.nan), np.zeros(maximal.tree.nu))
    with pytest.raises(
        cd.errors.UnknownNameError, match=r"unknown option 'parameter'.*did you mean 'parameters'"
    ):
        maximal.place(q, parameter=1.0)
    with pytest.raises(cd.errors.ShapeError, match="one state at a time"):
        maximal.place(q, t=np.zeros(3))
