"""Closed forms: pendulums made of constraints, the four-bar linkage; the same numbers from machine code."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf

import condyle as cd

C = cd.constraints
PENDULUM = {"mass": 2.0, "com": (0.1, -0.5, 0.0), "inertia": (0.1, 0.02, 0.1)}


def pendulum() -> tuple[cd.System, np.ndarray, np.ndarray]:
    system = cd.System()
    system.add_body("bob", mobilizer=cd.Pin(), **PENDULUM)
    udot = system.forward_dynamics([0.4], [1.5])
    return system, udot, system.reactions([0.4], [1.5], udot, "bob")


def test_planar_body_on_a_ball_is_a_pendulum():
    _, udot, F = pendulum()
    system = cd.System()
    system.add_body("bob", mobilizer=cd.Planar(), **PENDULUM)
    system.add_constraint("hinge", C.Ball("ground", (0, 0, 0), "bob", (0, 0, 0)))
    q, u = np.array([0.4, 0, 0]), np.array([1.5, 0, 0])
    # Three equations, two of them in the plane: condition 1e1.
    np.testing.assert_allclose(system.forward_dynamics(q, u), [udot[0], 0, 0], rtol=0, atol=1e-12)
    wrench = system.constraints.reactions(q, u, "hinge")["bob"]
    np.testing.assert_allclose(wrench[[0, 1, 2, 3, 4]], F[[0, 1, 2, 3, 4]], rtol=0, atol=1e-11)
    assert system.constraints.rank(q, u)[0] == 2
    np.testing.assert_array_equal(
        system.forward_dynamics(np.stack([q, q]), u)[1], system.forward_dynamics(q, u)
    )


@pytest.mark.parametrize("coordinates", ["quaternion", "euler"])
def test_free_body_is_a_pendulum(coordinates):
    _, udot, F = pendulum()
    system = cd.System()
    system.add_body("bob", mobilizer=cd.Free(coordinates=coordinates), **PENDULUM)
    system.add_constraint("hinge", C.Ball("ground", (0, 0, 0), "bob", (0, 0, 0)))
    system.add_constraint("x", C.ConstantAngle("ground", (0, 0, 1), "bob", (1, 0, 0)))
    system.add_constraint("y", C.ConstantAngle("ground", (0, 0, 1), "bob", (0, 1, 0)))
    q, u = system.defaults()
    if coordinates == "quaternion":
        q[[0, 3]] = np.cos(0.2), np.sin(0.2)
    else:
        q[2] = 0.4
    u[2] = 1.5
    p, v = system.constraints.errors(q, u)
    assert max(np.abs(p).max(), np.abs(v).max()) < 1e-15
    np.testing.assert_allclose(system.forward_dynamics(q, u), [0, 0, udot[0], 0, 0, 0], rtol=0, atol=1e-11)
    total = sum(system.constraints.reactions(q, u, name)["bob"] for name in system.constraints)
    np.testing.assert_allclose(total, F, rtol=0, atol=1e-10)


def test_welded_together_is_one_body():
    """Two halves on two pins of one axis, welded: they move as one, and each joint carries its half."""
    one = cd.System()
    one.add_body("whole", mobilizer=cd.Pin(), mass=3.0, com=(0, -0.4, 0), inertia=(0.1, 0.1, 0.1))
    two = cd.System()
    for name in ("left", "right"):
        two.add_body(name, mobilizer=cd.Pin(), mass=1.5, com=(0, -0.4, 0), inertia=(0.05, 0.05, 0.05))
    two.add_constraint("glue", C.Weld("left", (0.1, 0.2, 0), "right", (0.1, 0.2, 0)))
    udot = one.forward_dynamics([0.7], [0.3])[0]
    np.testing.assert_allclose(
        two.forward_dynamics([0.7, 0.7], [0.3, 0.3], [2.0, -2.0]), [udot, udot], rtol=0, atol=1e-11
    )
    lambda_ = two.multipliers([0.7, 0.7], [0.3, 0.3], [2.0, -2.0])
    F = [two.reactions([0.7] * 2, [0.3] * 2, [udot] * 2, name, lambda_) for name in ("left", "right")]
    # The weld passes the 2 N m on: joints feel tau along their axis, as the mobilizers' own.
    np.testing.assert_allclose([f[2] for f in F], [2.0, -2.0], rtol=0, atol=1e-9)


# ---- the four-bar linkage ----------------------------------------------------------------------------------

A, B, D, GROUND = 0.3, 0.9, 0.7, 0.8  # crank, coupler, rocker, distance of the pivots [m]
MASSES = {"crank": (0.5, A), "coupler": (1.1, B), "rocker": (0.8, D)}


def four_bar(copies: int = 1) -> cd.System:
    """Rods with their mass centers half-way and inertia m l^2 / 12, all angles counted from x."""
    system = cd.System()
    for i in range(copies):
        tag = str(i) if copies > 1 else ""
        for name, parent, at in (
            ("crank", "ground", (0, 0, 0)),
            ("coupler", f"crank{tag}", (A, 0, 0)),
            ("rocker", "ground", (GROUND, 0, 0)),
        ):
            m, length = MASSES[name]
            system.add_body(
                name + tag,
                parent,
                cd.Pin(),
                X_PF=at,
                mass=m,
                com=(length / 2, 0, 0),
                inertia=(1e-3, m * length**2 / 12, m * length**2 / 12),
            )
        system.add_constraint(f"joint{tag}", C.Ball(f"coupler{tag}", (B, 0, 0), f"rocker{tag}", (D, 0, 0)))
    return system


def closed(theta):
    """Angles of coupler and rocker in ground from the crank's, with mpmath: the triangle over the
    diagonal."""
    x, y = A * mp.cos(theta), A * mp.sin(theta)
    dx, dy = GROUND - x, -y
    r = mp.sqrt(dx**2 + dy**2)
    base = mp.atan2(dy, dx)
    inner = mp.acos((B**2 + r**2 - D**2) / (2 * B * r))
    coupler = base + inner
    ex, ey = x + B * mp.cos(coupler) - GROUND, y + B * mp.sin(coupler)
    return coupler, mp.atan2(ey, ex)


def four_bar_state(theta: float, speed: float) -> tuple[np.ndarray, np.ndarray]:
    mp.dps = 40
    c, r = closed(mpf(theta))
    dc, dr = (mp.diff(lambda x, k=k: closed(x)[k], mpf(theta)) for k in (0, 1))
    return (np.array([theta, float(c - theta), float(r)]), speed * np.array([1.0, float(dc - 1), float(dr)]))


def four_bar_acceleration(theta: float, speed: float) -> float:
    """J theta'' + J' theta'^2 / 2 + V' = 0 for the one degree of freedom."""

    def parts(x):
        c, r = closed(x)
        angles = (x, c, r)
        rates = (mpf(1), mp.diff(lambda y: closed(y)[0], x), mp.diff(lambda y: closed(y)[1], x))
        J, V = mpf(0), mpf(0)
        for k, (m, length) in enumerate(MASSES.values()):
            vx, vy = -length / 2 * mp.sin(angles[k]) * rates[k], length / 2 * mp.cos(angles[k]) * rates[k]
            height = length / 2 * mp.sin(angles[k])
            if k == 1:
                vx, vy, height = vx - A * mp.sin(x), vy + A * mp.cos(x), height + A * mp.sin(x)
            J += m * (vx**2 + vy**2) + m * length**2 / 12 * rates[k] ** 2
            V += m * mpf("9.81") * height
        return J, V

    mp.dps = 40
    x = mpf(theta)
    J, dJ, dV = parts(x)[0], mp.diff(lambda y: parts(y)[0], x), mp.diff(lambda y: parts(y)[1], x)
    return float(-(dJ * speed**2 / 2 + dV) / J)


@pytest.mark.parametrize(("theta", "speed"), [(0.7, 0.0), (1.9, 3.0), (-2.4, -5.0)])
def test_four_bar_against_the_closed_form(theta, speed, evidence):
    system = four_bar()
    q, u = four_bar_state(theta, speed)
    p, v = system.constraints.errors(q, u)
    assert np.abs(p).max() < 1e-15
    assert np.abs(v).max() < 1e-14
    expected = four_bar_acceleration(theta, speed)
    evidence(
        "acceleration of a four-bar linkage closed by a constraint, against its closed form, relative",
        abs(system.forward_dynamics(q, u)[0] / expected - 1),
        1e-12,
    )  # cond(Y) is some 1e2


def test_projection_closes_the_four_bar():
    """Locked, the crank stays: then coupler and rocker go to their closed form."""
    system = four_bar()
    q, u = four_bar_state(1.2, 2.0)
    found, rate = system.project(q + [0, 0.1, -0.1], u + [0, 0.5, 0.2], locked=["crank"])
    np.testing.assert_allclose(found, q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(rate, u, rtol=0, atol=1e-9)


def test_four_bar_keeps_its_energy():
    """Half a second of Runge-Kutta 4 with projection after each step."""
    system, h = four_bar(), 1e-3
    q, u = four_bar_state(1.2, 4.0)
    start, f = sum(system.energy(q, u)), lambda q, u: (system.qdot(q, u), system.forward_dynamics(q, u))
    for _ in range(500):
        a = f(q, u)
        b = f(q + h / 2 * a[0], u + h / 2 * a[1])
        c = f(q + h / 2 * b[0], u + h / 2 * b[1])
        d = f(q + h * c[0], u + h * c[1])
        q, u = (
            x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            for x, k1, k2, k3, k4 in zip((q, u), a, b, c, d, strict=True)
        )
        q, u = system.project(q, u)
    # h^4 = 1e-12 per step of unit rates; the linkage is some ten times quicker.
    assert abs(sum(system.energy(q, u)) - start) < 1e-7 * abs(start)
    assert abs(q[0] - 1.2) > 0.5


def test_uncoupled_blocks_are_solved_by_themselves():
    """Ten linkages cost eleven times one at most, counted in operations."""
    from condyle.model.operators import OPERATORS

    count = [
        OPERATORS["forward_dynamics"].build(four_bar(n).compiled.model, "f").n_instructions() for n in (1, 10)
    ]
    assert count[1] <= 11 * count[0]
    q, u = four_bar_state(1.2, 2.0)
    many = four_bar(3).forward_dynamics(np.tile(q, 3), np.tile(u, 3))
    np.testing.assert_allclose(many, np.tile(four_bar().forward_dynamics(q, u), 3), rtol=1e-12)


def test_machine_code_equals_casadi(monkeypatch):
    system = four_bar()
    q, u = four_bar_state(1.9, 3.0)
    native = [system.forward_dynamics(q, u), system.multipliers(q, u), *system.constraints.errors(q + 0.1, u)]
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = four_bar()
    for x, y in zip(
        native,
        [system.forward_dynamics(q, u), system.multipliers(q, u), *system.constraints.errors(q + 0.1, u)],
    ):
        # FMA rounds once less; the condition of Y is 1e2.
        np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("slope", [0.2, 0.6])
def test_a_ball_rolls_down_a_slope(slope):
    """A solid ball without slip: a = 5/7 g sin(slope); with slip: g sin(slope). On the plane it presses with
    m g cos(slope)."""
    R = np.array([[np.cos(slope), -np.sin(slope), 0], [np.sin(slope), np.cos(slope), 0], [0, 0, 1]])
    normal, down, m, r = R[:, 1], -R[:, 0], 2.0, 0.3
    for rolling, share in ((True, 5 / 7), (False, 1.0)):
        system = cd.System()
        system.add_body("ball", mobilizer=cd.Free(), mass=m, inertia=(0.4 * m * r**2,) * 3)
        system.add_constraint(
            "floor", C.SphereOnPlaneContact("ground", normal, 0.0, "ball", (0, 0, 0), r, rolling=rolling)
        )
        q, u = system.defaults()
        q, u = system.project(q + np.r_[0, 0, 0, 0, r * normal], u)
        udot = system.forward_dynamics(q, u)
        np.testing.assert_allclose(udot[3:], share * 9.81 * np.sin(slope) * down, rtol=0, atol=1e-11)
        wrench = system.constraints.reactions(q, u, "floor")["ball"]
        assert normal @ wrench[3:] == pytest.approx(m * 9.81 * np.cos(slope), rel=1e-11)
        assert len(system.constraints.equations()) == (3 if rolling else 1)


def test_planets_roll_on_a_sphere():
    """A ball on top of a fixed ball of radius R, both of radius r: rolling, (7/5) (R + r) theta'' = g
    sin(theta)."""
    R, r, theta = 0.5, 0.2, 0.4
    system = cd.System()
    system.add_body("ball", mobilizer=cd.Free(), mass=1.5, inertia=(0.4 * 1.5 * r**2,) * 3)
    system.add_constraint(
        "on", C.SphereOnSphereContact("ground", (0, 0, 0), R, "ball", (0, 0, 0), r, rolling=True)
    )
    q, u = system.defaults()
    q[4:] = (R + r) * np.array([np.sin(theta), np.cos(theta), 0])
    along = np.array([np.cos(theta), -np.sin(theta), 0])
    udot = system.forward_dynamics(q, u)
    assert udot[3:] @ along == pytest.approx(5 / 7 * 9.81 * np.sin(theta), rel=1e-11)
    assert udot[2] == pytest.approx(-5 / 7 * 9.81 * np.sin(theta) / r, rel=1e-11)
