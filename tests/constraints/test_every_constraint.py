"""Each type of constraint alone, and pairs: rows against differences, equations of motion, work,
projection."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import condyle as cd
from tests.constraints.rig import EVERY, MOVED_BY_TIME, on_constraints, shared, state
from tests.differences import DIFFERENCES, STEPS, WEIGHTS

EPS = np.finfo(float).eps
# (Y + 1e-12 trace) leaves what the refinements leave; sums of a hundred products otherwise.
SOLVED = 1e-9
# Two bodies that stick to each other at two points have one equation too many, and these pairs contradict
# each other.
STICKING = {
    "Ball",
    "Weld",
    "PointOnPlaneContact",
    "SphereOnPlaneContact",
    "SphereOnSphereContact",
    "LineOnLineContact",
}
CONTRADICT = [
    {"ConstantCoordinate", "ConstantAcceleration"},
    {"ConstantAngle", "ConstantOrientation"},
    {"Ball", "PointInPlane"},
    {"ConstantSpeed", "PrescribedMotion"},
    {"Weld", "Rod"},
    {"Weld", "PointInPlane"},
    {"Weld", "PointOnLine"},
    {"Weld", "ConstantAngle"},
]
PAIRS = [
    pair
    for i, pair in enumerate(combinations(EVERY, 2))
    if i % 6 == 0 and set(pair) not in CONTRADICT and not set(pair) <= STICKING
]


def asked_acceleration(system, q, u, udot):
    """The rig's AccelerationOnly by the operators of the tree."""
    A, w = system.body_acceleration(q, u, udot, "float"), system.body_velocity(q, u, "float")[:3]
    r = system.body_pose(q, "float").R @ [0.1, 0, 0]
    a = A[3:] + np.cross(A[:3], r) + np.cross(w, np.cross(w, r))
    elbow, shoulder = (system.speeds.index(name) for name in ("elbow", "shoulder"))
    turn = system.body_acceleration(q, u, udot, "tip")[2]
    return a[0] - q[system.coordinates.index("elbow")] * turn + udot[shoulder] + u[elbow] - 0.3


ACCELERATIONS = {
    "ConstantAcceleration": lambda system, q, u, udot: udot[1] + 2.0,
    "AccelerationOnly": asked_acceleration,
}


@pytest.fixture(autouse=True)
def _casadi(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")


def levels(name):
    """The level of each equation."""
    return [part.level for part in EVERY[name].parts for _ in range(part.size)]


def test_each_public_constraint_is_here():
    one_way = {"RigidContact", "Rope", "Stop"}  # test_unilateral.py
    assert set(EVERY) == set(cd.constraints.__all__) - {"Constraint"} - one_way


@pytest.mark.parametrize("name", EVERY)
def test_rows_are_derivatives_of_the_errors(name):
    """Along any motion: velocity errors are the rates of position errors, G udot + bias the rates of velocity
    errors."""
    system, t = shared(name), 0.3
    q, u = state(system)
    udot = np.random.default_rng(1).uniform(-2, 2, system.nu)

    # q + h qdot: right for p to first order in h, and d/dt of pdot(q, u) needs no more.
    qdot = system.qdot(q, u)
    along = [system.constraints.errors(q + h * qdot, u + h * udot, t=t + h) for h in STEPS]
    p, v = (np.tensordot(WEIGHTS, np.stack([e[k] for e in along]), axes=1) for k in (0, 1))
    rate = system.constraints.errors(q, u, t=t)[1]
    G, bias = system.constraints.jacobian(q, u, t=t), system.constraints.bias(q, u, t=t)
    position = [i for i, level in enumerate(levels(name)) if level == "position"]
    np.testing.assert_allclose(p, rate[position], rtol=0, atol=DIFFERENCES)
    if "acceleration" in levels(name):
        assert rate.size == 0
        np.testing.assert_allclose(
            G @ udot + bias, [ACCELERATIONS[name](system, q, u, udot)], rtol=0, atol=100 * EPS
        )
    else:
        np.testing.assert_allclose(G @ udot + bias, v, rtol=0, atol=DIFFERENCES * max(1, np.abs(v).max()))
        assert np.abs(G @ udot).max() > 1e-2


@pytest.mark.parametrize("names", [*((name,) for name in EVERY), *PAIRS], ids=" ".join)
def test_equations_of_motion(names):
    """(16), (17) of sherman2011, and ID(FD(tau)) = tau - G' lambda."""
    system = shared(*names)
    q, u = state(system)
    tau = np.random.default_rng(2).uniform(-3, 3, system.nu)
    udot, lambda_ = system.forward_dynamics(q, u, tau), system.multipliers(q, u, tau)
    G, bias = system.constraints.jacobian(q, u), system.constraints.bias(q, u)
    assert np.abs(lambda_).max() > 1e-3
    np.testing.assert_allclose(G @ udot + bias, 0, atol=SOLVED * max(1, np.abs(bias).max()))
    force = system.constraints.forces(q, u, tau)
    np.testing.assert_allclose(force, -G.T @ lambda_, rtol=0, atol=100 * EPS * np.abs(lambda_).max())
    np.testing.assert_allclose(
        system.inverse_dynamics(q, u, udot), tau + force, rtol=0, atol=SOLVED * np.abs(lambda_).max()
    )


@pytest.mark.parametrize("names", [*((name,) for name in EVERY), *PAIRS], ids=" ".join)
def test_projection_and_work(names):
    """Projected states satisfy all equations; there constraints that do not move by themselves do no work."""
    system = shared(*names)
    q, u = on_constraints(system)
    p, v = system.constraints.errors(q, u)
    assert np.abs(np.concatenate([p, v])).max(initial=0) <= 1e-10 * max(1, np.abs(u).max())
    np.testing.assert_allclose(np.linalg.norm(q[3:7]), 1, rtol=0, atol=4 * EPS)
    again = system.project(q, u)
    np.testing.assert_array_equal(again[1], u)
    if not set(names) & set(MOVED_BY_TIME):
        force = system.constraints.forces(q, u)
        # Velocity errors of 1e-10 do as much work as that.
        assert abs(force @ u) <= 1e-8 * np.abs(force).max()
        udot, tail = system.forward_dynamics(q, u), []
        qdot = system.qdot(q, u)
        for h in STEPS:
            tail.append(sum(system.energy(q + h * qdot, u + h * udot)))
        # Energy along the motion does not change: no force but the spring and gravity, which have potentials.
        assert abs(WEIGHTS @ np.array(tail)) <= 1e-7 * max(1, np.abs(tail).max())


@pytest.mark.parametrize(
    "names",
    [
        ("Rod",),
        ("Ball", "ConstantCoordinate"),
        ("PointInPlane", "CoordinateCoupler"),
        ("NoSlip1D",),
        ("PrescribedMotion", "PointOnLine"),
    ],
    ids=" ".join,
)
def test_accelerations_against_differences_of_the_projected_trajectory(names):
    """u along a motion that is projected at both ends: its difference is udot."""
    system, h = shared(*names), 1e-4
    q, u = on_constraints(system)
    udot = system.forward_dynamics(q, u)
    ends = []
    for sign in (-1, 1):
        half = system.qdot(q, u + sign * h / 2 * udot)
        ends.append(system.project(q + sign * h * half, u + sign * h * udot, t=sign * h, tolerance=1e-13))
    difference = (ends[1][1] - ends[0][1]) / (2 * h)
    # Projection moves u by h^3 for a right udot, by h for a wrong one; rounding is 1e-13 / h.
    np.testing.assert_allclose(difference, udot, rtol=0, atol=1e-5 * np.abs(udot).max())


@pytest.mark.parametrize("name", EVERY)
def test_a_disabled_constraint_is_a_zero_row(name):
    """At run time, by one program for every set: rows, errors, bias and multipliers are zero, and the motion
    is free."""
    system = shared(name)
    q, u = state(system)
    off = {"disabled": [name], "t": 0.3}
    assert np.abs(system.constraints.jacobian(q, u, t=0.3)).max() > 1e-2
    for value in (
        system.constraints.jacobian(q, u, **off),
        system.constraints.bias(q, u, **off),
        system.multipliers(q, u, **off),
        *system.constraints.errors(q, u, **off),
    ):
        assert not value.any()
    # The same recursion; what constraints add is zero.
    np.testing.assert_array_equal(
        system.forward_dynamics(q, u, **off), shared().forward_dynamics(q, u, t=0.3)
    )


def test_projection_is_the_nearest():
    """P du = -p with the least ||W du||: W^2 du is a combination of rows of P, to first order. For speeds M
    du is."""
    system = shared("Rod", "ConstantAngle")
    q, u = on_constraints(system)
    weights = np.linspace(1, 3, system.nu)
    P, M = system.constraints.jacobian(q, u), system.mass_matrix(q)
    away = 1e-6 * np.random.default_rng(3).normal(size=system.nu)
    start = system.compiled.normalized(q + system.qdot(q, away))
    q2, u2 = system.project(start, u + 1e6 * away, weights=weights, tolerance=1e-14)
    turn = np.linalg.lstsq(
        np.stack([system.qdot(q, e) for e in np.eye(system.nu)], axis=1), q2 - start, rcond=None
    )[0]
    for normal, change in (
        (weights**2 * turn, turn),
        (M @ (u2 - u - 1e6 * away), 1e-6 * (u2 - u - 1e6 * away)),
    ):
        # What is left beside the rows of P is the change of P over the step, 1e-6, and 1e-10 of q that the
        # start was off by.
        left = normal - P.T @ np.linalg.lstsq(P.T, normal, rcond=None)[0]
        assert np.abs(change).max() > 5e-8
        assert np.abs(left).max() < 1e-3 * np.abs(normal).max()


@pytest.mark.parametrize(
    "names", [("Weld",), ("Rod", "SpeedCoupler"), ("Ball", "CoordinateCoupler", "NoSlip1D")], ids=" ".join
)
def test_one_step_as_an_expression(names):
    """The Newton steps for step loops lead where `project` does; locked speeds stay."""
    system = shared(*names)
    q, u = state(system)
    tail = system.compiled.tail(locked=["twist"])
    W = np.linspace(1, 3, system.nu)
    goal = system.project(q, u, weights=W, locked=["twist"])
    step, change = system.compiled.function("position_change"), system.compiled.function("velocity_change")
    for _ in range(12):
        q = system.compiled.normalized(q + system.qdot(q, step(q, u, W, tail)))
    u = u + change(q, u, W, tail)
    # Both stop within 1e-10 of the constraint, and the steps are the same.
    np.testing.assert_allclose(q, goal[0], rtol=0, atol=1e-8)
    np.testing.assert_allclose(u, goal[1], rtol=0, atol=1e-7)
    assert change(q, u, W, tail)[2] == 0


def test_a_batch_projects_each_state():
    system = shared("Rod", "ConstantCoordinate")
    states = [state(system, seed) for seed in range(4)]
    q, u = system.project(np.stack([q for q, _ in states]), np.stack([u for _, u in states]))
    for i, (q0, u0) in enumerate(states):
        q1, u1 = system.project(q0, u0)
        # The same Newton steps; more of them if a neighbor needs them.
        np.testing.assert_allclose(q[i], q1, rtol=0, atol=1e-9)
        np.testing.assert_allclose(u[i], u1, rtol=0, atol=1e-9)
