"""A leg on a table edge whose knee, in a few lines of Python, rolls and slides: the first look of
docs/index.md."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import condyle as cd

ANKLE = (0.43, 0.0, 0.0)  # station on the shank [m]
BATCH = 10_000


@pytest.fixture(scope="module")
def leg() -> cd.System:
    leg = cd.System(gravity=(0, -9.81, 0))
    leg.add_body(
        "thigh", leg.ground, cd.Pin(axis="x"), mass=9.3, com=(0.17, 0, 0), inertia=(0.035, 0.13, 0.14)
    )
    knee = cd.FunctionBased(
        "knee",
        angles=(None, None, lambda q: q),
        translations=(
            lambda q: 0.414 - 0.018 * np.cos(q),
            lambda q: -0.0045 - 0.0087 * np.sin(1.45 * q),
            None,
        ),
    )
    leg.add_body("shank", "thigh", knee, mass=3.7, com=(0.19, 0, 0), inertia=(0.005, 0.05, 0.05))
    return leg


def random_states(leg: cd.System) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, u, tau of BATCH states in the range in which the knee's curves were measured."""
    rng = np.random.default_rng(1)
    q = rng.uniform((-1.0, -2.1), (1.0, 0.0), (BATCH, 2))
    return q, rng.uniform(-5, 5, (BATCH, leg.nu)), rng.uniform(-20, 20, (BATCH, leg.nu))


def relative(measured: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(measured - expected).max() / np.abs(expected).max())


def lagrange_leg() -> ca.Function:
    """(q, u, tau) -> udot of the leg from its Lagrangian, written without Condyle: d/dt L_u - L_q =
    tau."""
    q, u, tau = (ca.SX.sym(name, 2) for name in ("q", "u", "tau"))
    ct, st, ck, sk = ca.cos(q[0]), ca.sin(q[0]), ca.cos(q[1]), ca.sin(q[1])
    R_thigh = ca.vertcat(ca.horzcat(1, 0, 0), ca.horzcat(0, ct, -st), ca.horzcat(0, st, ct))
    R_knee = ca.vertcat(ca.horzcat(ck, -sk, 0), ca.horzcat(sk, ck, 0), ca.horzcat(0, 0, 1))
    knee = ca.vertcat(0.414 - 0.018 * ck, -0.0045 - 0.0087 * ca.sin(1.45 * q[1]), 0)
    com = R_thigh @ (knee + R_knee @ ca.vertcat(0.19, 0, 0))
    v = ca.jacobian(com, q) @ u
    w = R_knee.T @ ca.vertcat(u[0], 0, u[1])  # of the shank, in the shank
    kinetic = (
        0.5 * 0.035 * u[0] ** 2
        + 0.5 * 3.7 * ca.dot(v, v)
        + 0.5 * ca.dot(w, ca.vertcat(0.005, 0.05, 0.05) * w)
    )
    L = kinetic - 3.7 * 9.81 * com[1]
    momentum = ca.gradient(L, u)
    force = tau + ca.gradient(L, q) - ca.jacobian(momentum, q) @ u
    return ca.Function("udot", [q, u, tau], [ca.solve(ca.jacobian(momentum, u), force)])


def test_knee_against_lagrange(leg: cd.System, evidence) -> None:
    q, u, tau = (x[:200] for x in random_states(leg))
    expected = np.array(lagrange_leg()(q.T, u.T, tau.T)).T
    # cond(M) <= 100 here, and each side rounds some hundred times: 1e4 eps
    evidence(
        "accelerations of a leg whose knee is user Python against Lagrange's equations, relative",
        relative(leg.forward_dynamics(q, u, tau), expected),
        1e-11,
    )


def test_inverse_of_forward(leg: cd.System, evidence) -> None:
    """tau - ID(q, u, FD(q, u, tau)), over the largest effort of each state."""
    q, u, tau = random_states(leg)
    residual = np.abs(leg.inverse_dynamics(q, u, leg.forward_dynamics(q, u, tau)) - tau).max(axis=-1)
    scale = np.abs(tau).max(axis=-1) + np.abs(leg.inverse_dynamics(q, u, np.zeros_like(u))).max(axis=-1)
    # Two recursions of about 100 roundings each, and cond(M) about 10: 1e3 eps; 1e-12 is 5e3 eps.
    evidence(
        "inverse dynamics undoes forward dynamics, 10,000 states of that leg, relative",
        (residual / scale).max(),
        1e-12,
    )


def test_energy(leg: cd.System, evidence) -> None:
    """Of a free swing, over its largest kinetic energy."""
    motion = cd.simulate(leg, leg.state(q=(0.35, -0.9)), 5.0, integrator="rk4", step=0.001)
    kinetic, potential = leg.energy(motion.q, motion.u)
    total = kinetic + potential
    # RK4 loses (w h)^5 / 144 per radian of swing, w about 6 rad/s: 30 radians lose 2e-12, sharper turns more.
    evidence(
        "energy drift over 5 s of its free swing, Runge-Kutta 4 at 1 ms, relative",
        np.abs(total - total[0]).max() / kinetic.max(),
        1e-9,
    )


def test_derivatives(leg: cd.System, evidence) -> None:
    """The ankle's Jacobian, exact through the knee's curves, against central differences of its position."""
    q, _, _ = random_states(leg)
    exact, step = leg.station_jacobian(q, "shank", ANKLE), np.cbrt(np.finfo(float).eps)
    at = lambda q: leg.station_position(q, "shank", ANKLE)
    columns = [(at(q + e) - at(q - e)) / (2 * step) for e in step * np.eye(leg.nu)]
    # Central differences at step eps^(1/3) are themselves no better than about eps^(2/3) = 4e-11.
    evidence(
        "Jacobian of its ankle by AD against central differences, relative",
        relative(np.stack(columns, axis=-1), exact),
        1e-9,
    )
