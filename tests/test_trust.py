"""What README says about trust, measured on the leg of the demo."""
from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.cli import demo


@pytest.fixture(scope="module")
def leg() -> cd.System:
    return demo.build()


def relative(measured: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(measured - expected).max() / np.abs(expected).max())


def lagrange_leg() -> ca.Function:
    """(q, u, tau) -> udot of the demo's leg from its Lagrangian, written without Condyle: d/dt L_u - L_q =
    tau."""
    q, u, tau = (ca.SX.sym(name, 2) for name in ("q", "u", "tau"))
    ct, st, ck, sk = ca.cos(q[0]), ca.sin(q[0]), ca.cos(q[1]), ca.sin(q[1])
    R_thigh = ca.vertcat(ca.horzcat(1, 0, 0), ca.horzcat(0, ct, -st), ca.horzcat(0, st, ct))
    R_knee = ca.vertcat(ca.horzcat(ck, -sk, 0), ca.horzcat(sk, ck, 0), ca.horzcat(0, 0, 1))
    knee = ca.vertcat(0.414 - 0.018 * ck, -0.0045 - 0.0087 * ca.sin(1.45 * q[1]), 0)
    com = R_thigh @ (knee + R_knee @ ca.vertcat(0.19, 0, 0))
    v = ca.jacobian(com, q) @ u
    w = R_knee.T @ ca.vertcat(u[0], 0, u[1])                        # of the shank, in the shank
    kinetic = 0.5 * 0.035 * u[0] ** 2 + 0.5 * 3.7 * ca.dot(v, v) + 0.5 * ca.dot(w, ca.vertcat(0.005, 0.05,
                                                                                              0.05) * w)
    L = kinetic - 3.7 * 9.81 * com[1]
    momentum = ca.gradient(L, u)
    force = tau + ca.gradient(L, q) - ca.jacobian(momentum, q) @ u
    return ca.Function("udot", [q, u, tau], [ca.solve(ca.jacobian(momentum, u), force)])


def test_knee_against_lagrange(leg: cd.System, evidence) -> None:
    q, u, tau = (x[:200] for x in demo.random_states(leg))
    expected = np.array(lagrange_leg()(q.T, u.T, tau.T)).T
    # cond(M) <= 100 here, and each side rounds some hundred times: 1e4 eps
    evidence("accelerations of a leg whose knee is user Python against Lagrange's equations, relative",
             relative(leg.forward_dynamics(q, u, tau), expected), 1e-11)


def test_inverse_of_forward(leg: cd.System, evidence) -> None:
    check = demo.inverse_of_forward(leg)
    evidence("inverse dynamics undoes forward dynamics, 10,000 states of that leg, relative",
             check.measured, check.allowed)


def test_energy(leg: cd.System, evidence) -> None:
    check = demo.energy_drift(leg, demo.swing(leg))
    evidence("energy drift over 5 s of its free swing, Runge-Kutta 4 at 1 ms, relative", check.measured,
             check.allowed)


def test_derivatives(leg: cd.System, evidence) -> None:
    check = demo.derivatives(leg)
    evidence("Jacobian of its ankle by AD against central differences, relative", check.measured,
             check.allowed)
