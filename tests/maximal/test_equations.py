"""The explicit objects: a pendulum in closed form, derivatives of the constraints against differences,
multipliers and work."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle import maximal
from condyle.maximal import MaximalSystem
from condyle.maximal.equations import solved
from condyle.spatial import quaternion_rate_matrix
from tests.oracles import random_plan

EPS = np.finfo(float).eps


def test_pendulum_in_closed_form():
    """A point mass m on a rod L: udot = -g sin(q) / L, and the rod pulls with m (g cos(q) + L u^2)."""
    m, L, g, q, u = 1.3, 0.7, 9.81, 0.6, 2.0
    system = cd.System(gravity=(0, -g, 0))
    system.add_body("bob", mobilizer=cd.Pin(), X_BM=(0, L, 0), mass=m)
    at = MaximalSystem(system).at([q], [u])
    solution = at.forward(np.zeros(1))
    along, across = np.array([-np.sin(q), np.cos(q), 0]), np.array([np.cos(q), np.sin(q), 0])
    np.testing.assert_allclose(at.x[4:], -L * along, atol=10 * EPS)
    np.testing.assert_allclose(at.V, [0, 0, u, *(L * u * across)], atol=10 * EPS)
    np.testing.assert_allclose(solution.udot, -g * np.sin(q) / L, rtol=100 * EPS)
    np.testing.assert_allclose(
        solution.A[3:], L * (solution.udot * across + u**2 * along), rtol=0, atol=100 * EPS
    )
    pull = m * (g * np.cos(q) + L * u**2)
    # Sums of numbers up to 30, solved in a system of eleven equations.
    np.testing.assert_allclose(solution.reactions[0], [0, 0, 0, *(pull * along)], rtol=0, atol=1e-13 * pull)
    # C = (two axes, p_FM): the force on the body is minus the multiplier of p_FM.
    np.testing.assert_allclose(solution.lambda_s, [0, 0, *(-pull * along)], rtol=0, atol=1e-13 * pull)
    torque = at.inverse(np.array([1.5]))
    np.testing.assert_allclose(torque.tau, m * L**2 * 1.5 + m * g * L * np.sin(q), rtol=100 * EPS)
    np.testing.assert_array_equal(torque.lambda_r, -torque.tau)


def moved(x, V, h, maximal_system, t):
    """x a little later along xdot = J(x) V, and massless coordinates likewise: second order by the
    midpoint."""
    n = len(maximal_system.joints)

    def xdot(x, t):
        rates = [
            np.r_[
                quaternion_rate_matrix(x[7 * B : 7 * B + 4]) @ V[6 * B : 6 * B + 3], V[6 * B + 3 : 6 * B + 6]
            ]
            for B in range(n)
        ]
        q = maximal_system.coordinates(x, near, t=t)
        own = maximal_system.system.qdot(q, massless(q, t), t=t)
        return np.concatenate([*rates, *(own[j.q] for j in maximal_system.joints if not j.closed)])

    def massless(q, t):
        u, k = np.zeros(maximal_system.tree.nu), 6 * n
        for j in maximal_system.joints:
            if not j.closed:
                u[j.u], k = V[k : k + j.nsu], k + j.nsu
        return u

    near = maximal_system.coordinates(x, t=t)
    return x + h * xdot(x + h / 2 * xdot(x, t), t + h / 2)


@pytest.mark.parametrize("seed", [41, 42, 43])
def test_rates_of_the_constraints(seed):
    """C_V V + C_t is the rate of C, and -gamma that of C_V V + C_t at constant V; sigma that of S V. By
    differences."""
    plan = random_plan(seed, 5)
    system, (q, u, _), t, h = plan.system(), plan.states(), 0.4, 1e-5
    maximal_system = MaximalSystem(system)
    at = maximal_system.at(q, u, t=t)
    # any velocity, not one that is allowed
    V = at.V + np.random.default_rng(seed).uniform(-0.5, 0.5, at.V.size)
    now, (before, after) = (
        maximal_system.equations(at.x, V, q, t=t),
        (maximal_system.equations(moved(at.x, V, k, maximal_system, t), V, q, t=t + k) for k in (-h, h)),
    )
    rate = lambda f: (f(after) - f(before)) / (2 * h)
    # Differences: h^2 times third derivatives (about 10 to 100) and eps / h, both about 1e-8 at most.
    np.testing.assert_allclose(now.C_V @ V + now.C_t, rate(lambda e: e.C), rtol=0, atol=1e-7)
    np.testing.assert_allclose(-now.gamma, rate(lambda e: e.C_V @ V + e.C_t), rtol=0, atol=1e-7)
    np.testing.assert_allclose(now.sigma, rate(lambda e: e.S @ V), rtol=0, atol=1e-7)


@pytest.mark.parametrize("seed", [51, 52])
def test_the_equations_hold(seed):
    """Accelerations satisfy joints and drivers, motion balances, and inverse undoes forward."""
    plan = random_plan(seed, 6)
    system, (q, u, tau), t = plan.system(), plan.states(), 0.2
    at = MaximalSystem(system).at(q, u, t=t)
    solution = at.forward(tau)
    size = np.abs(solution.A).max() + np.abs(at.gamma).max()
    assert at.K.shape == (at.V.size, at.V.size)
    np.testing.assert_allclose(at.u, u, rtol=0, atol=1e-12)
    np.testing.assert_allclose(at.C_V @ at.V, -at.C_t, rtol=0, atol=1e-12)
    np.testing.assert_allclose(at.C_V @ solution.A, at.gamma, rtol=0, atol=1e-11 * size)
    balance = at.M @ solution.A + at.C_V.T @ solution.lambda_s + at.S.T @ solution.lambda_r - at.Q
    np.testing.assert_allclose(balance, 0, atol=1e-11 * np.abs(at.Q).max())
    back = at.inverse(solution.udot)
    # Two solves, each good to cond eps: 1e-9 as everywhere here.
    np.testing.assert_allclose(back.tau, tau, rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        back.reactions, solution.reactions, rtol=0, atol=1e-9 * np.abs(solution.reactions).max()
    )


def test_joints_do_no_work():
    """Without time in the joints, the multipliers' power V' C_V' lambda is zero."""
    plan = random_plan(61, 6, ["pin", "ball", "slider", "function", "planar", "universal", "ellipsoid"])
    system, (q, u, tau) = plan.system(), plan.states()
    at = MaximalSystem(system).at(q, u)
    forces = at.C_V.T @ at.forward(tau).lambda_s
    assert abs(at.V @ forces) <= 1e-12 * np.abs(at.V) @ np.abs(forces)


def test_signs_of_quaternions_do_not_matter():
    """e and -e are one pose: the same equations and the same multipliers."""
    plan = random_plan(71, 4, ["slider", "translation", "pin", "function"])
    system, (q, u, tau) = plan.system(), plan.states()
    made = MaximalSystem(system)
    at = made.at(q, u)
    x = at.x.copy()
    x[7:11] *= -1
    turned = made.equations(x, at.V, q)
    np.testing.assert_allclose(turned.C_V, at.C_V, rtol=0, atol=1e-14)
    np.testing.assert_allclose(turned.gamma, at.gamma, rtol=0, atol=1e-13)
    np.testing.assert_allclose(turned.forward(tau).lambda_s, at.forward(tau).lambda_s, rtol=0, atol=1e-10)


def test_solutions_are_refined():
    """Hilbert's matrix with rows and columns of very different size: the residual is that of rounding,
    whatever the condition."""
    n = 8
    i = np.arange(n)
    scale = 10.0 ** np.linspace(-6, 6, n)
    matrix = scale[:, None] / (1.0 + i[:, None] + i) * scale[::-1]
    right = matrix @ (np.cos(i) / scale[::-1])
    x = solved(matrix, right, "test")
    # A backward-stable solution leaves n eps |A| |x| in each row.
    assert (np.abs(matrix @ x - right) <= 10 * n * EPS * (np.abs(matrix) @ np.abs(x))).all()


def test_closed_forms_and_massless_unknowns():
    system = cd.System()
    for i, mobilizer in enumerate(
        (cd.Pin(), cd.Ball().reversed(), cd.Universal(), cd.Ball(coordinates="euler"), cd.Weld())
    ):
        system.add_body(f"b{i}", f"b{i - 1}" if i else "ground", mobilizer, mass=1.0, inertia=(1, 1, 1))
    made = maximal.formulation(system)
    assert [joint.closed for joint in made.joints] == [True, True, False, False, True]
    assert made.nx == 5 * 7 + 2 + 3
    assert made.nv == 5 * 6 + 2 + 3
    assert [joint.n for joint in made.joints] == [5, 3, 6, 6, 6]
    assert "3 joints in closed form" in repr(made)
    assert maximal.formulation(system) is made


def test_lost_rank_is_said():
    system = cd.System()
    system.add_body("b", mobilizer=cd.Gimbal(), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(cd.errors.CondyleError, match="forward dynamics: the equations are singular here"):
        maximal.forward_dynamics(system, [0.0, np.pi / 2, 0.0], np.zeros(3))
    assert np.isfinite(maximal.inverse_dynamics(system, [0.0, np.pi / 2, 0.0], np.zeros(3), np.ones(3))).all()


def test_shapes_are_checked():
    system = cd.System()
    system.add_body("b", mobilizer=cd.Pin(), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(cd.errors.ShapeError, match=r"u: expected shape \(..., 1\), got \(2,\)"):
        maximal.forward_dynamics(system, [0.0], [0.0, 1.0])
    with pytest.raises(cd.errors.UnknownNameError, match=r"unknown option 'lock'.*did you mean 'locked'"):
        maximal.forward_dynamics(system, [0.0], [0.0], lock=("b",))
