"""Optimal control problems with known answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

import condyle as cd


def slider(mass: float = 2.0) -> cd.System:
    system = cd.System(gravity=(0, 0, 0))
    system.add_body(
        "body", mobilizer=cd.Slider(), mass=mass, com=(0, 0, 0), inertia=(0, 0, 0), coordinates=("x",)
    )
    return system


def particle(gravity: tuple[float, float, float] = (0, 0, 0)) -> cd.System:
    system = cd.System(gravity=gravity)
    system.add_body(
        "bead",
        mobilizer=cd.Translation(),
        mass=1.0,
        com=(0, 0, 0),
        inertia=(0, 0, 0),
        coordinates=("x", "y", "z"),
    )
    return system


@pytest.fixture(scope="module")
def regulator() -> tuple[cd.Problem, float]:
    """A linear-quadratic regulator, and its cost by Riccati's equation."""
    from scipy.integrate import solve_ivp

    T, R, Q, start = 2.0, 0.5, np.diag([3.0, 0.2]), np.array([1.0, 0.5])
    problem = cd.Problem(slider(), duration=T)
    problem.add_torques("x")
    problem.bound("x", (-10, 10), start=start[0])
    problem.bound("x_speed", (-50, 50), start=start[1])
    problem.minimize(cd.goals.Integral(lambda s: 3.0 * s.q("x") ** 2 + 0.2 * s.u("x") ** 2))
    problem.minimize(cd.goals.Effort(), R)
    problem.minimize(cd.goals.Final(lambda s: s.q("x") ** 2))
    A, B = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [0.5]])

    def backward(t: float, p: np.ndarray) -> np.ndarray:
        P = p.reshape(2, 2)
        return np.ravel(-(A.T @ P + P @ A - P @ B @ B.T @ P / R + Q))

    end = np.diag([1.0, 0.0]).ravel()
    P = solve_ivp(backward, [T, 0], end, rtol=1e-12, atol=1e-12).y[:, -1].reshape(2, 2)
    return problem, float(start @ P @ start)


@pytest.mark.parametrize(
    ("scheme", "order", "error"),
    [
        ("trapezoidal", 2, 5e-3),
        ("hermite-simpson", 4, 5e-7),
        ("radau-2", 3, 5e-5),
        ("radau-3", 5, 5e-9),
    ],
)
def test_regulator_against_riccati(
    regulator: tuple[cd.Problem, float], scheme: str, order: int, error: float
) -> None:
    """The cost comes near to Riccati's with the order of the scheme."""
    problem, cost = regulator
    off = [cd.solve(problem, mesh=N, scheme=scheme, accuracy=1e-10).objective / cost - 1 for N in (10, 20)]
    assert abs(off[1]) < error
    assert math.log2(off[0] / off[1]) == pytest.approx(order, abs=0.25)


def test_brachistochrone() -> None:
    """A bead on a wire of the best form: forces that do no work, a cycloid's time."""
    from scipy.optimize import brentq

    g, X, Y = 9.81, 2.0, -1.0
    problem = cd.Problem(particle((0, -g, 0)), duration=(0.1, 3.0))
    problem.add_torques(["x", "y"], bounds=(-50, 50))
    problem.bound("x", (-1, 5), start=0, end=X)
    problem.bound("y", (-5, 1), start=0, end=Y)
    problem.bound(["z", "z_speed"], 0.0)
    problem.bound(["x_speed", "y_speed"], (-20, 20), start=0)
    problem.minimize(cd.goals.Duration())
    work = lambda s: s.input("x_torque") * s.u("x") + s.input("y_torque") * s.u("y")
    problem.require(cd.goals.Path(work, 0, 0))
    answer = cd.solve(problem, mesh=20, scheme="radau-3", accuracy=1e-8, guess="line")
    angle = brentq(lambda a: (a - math.sin(a)) / (1 - math.cos(a)) + X / Y, 0.1, 6)
    assert answer.duration == pytest.approx(angle * math.sqrt(-Y / (1 - math.cos(angle)) / g), rel=5e-5)
    assert answer.status == "solved"


def test_largest_orbit() -> None:
    """Bryson and Ho, Applied Optimal Control, section 2.5: a thrust of 0.1405, a loss of mass of 0.0749 per unit
    of time and 3.32 units of time take a craft from an orbit of radius 1 to one of 1.525."""
    system = particle()

    def law(s: object) -> dict[str, object]:
        x, y, thrust = s.q("x"), s.q("y"), 0.1405 / (1 - 0.0749 * s.t)  # type: ignore[attr-defined]
        r3, angle = (x * x + y * y) ** 1.5, s.input("angle", 0.0)  # type: ignore[attr-defined]
        return {"x": -x / r3 + thrust * np.cos(angle), "y": -y / r3 + thrust * np.sin(angle)}

    def circular(s: object) -> list[object]:
        x, y, u, v = s.q("x"), s.q("y"), s.u("x"), s.u("y")  # type: ignore[attr-defined]
        r = np.sqrt(x * x + y * y)
        return [(x * u + y * v) / r, (x * v - y * u) / r - 1 / np.sqrt(r)]

    system.add_force("sun", cd.forces.Custom(law))
    problem = cd.Problem(system, duration=3.32)
    problem.bound("x", (-2, 2), start=1)
    problem.bound("y", (-2, 2), start=0)
    problem.bound(["z", "z_speed"], 0.0)
    problem.bound("x_speed", (-5, 5), start=0)
    problem.bound("y_speed", (-5, 5), start=1)
    problem.bound("angle", (-7, 14))
    problem.minimize(cd.goals.Final(lambda s: -np.sqrt(s.q("x") ** 2 + s.q("y") ** 2)))
    problem.require(cd.goals.Final(circular, 0, 0))
    t = np.linspace(0, 3.32, 40)
    r, turned = 1 + 0.15 * t, 0.8 * t
    angle = turned + np.where(t < 1.66, 1.07, 4.07)
    guess = cd.Table(t, ["x", "y", "angle"], np.column_stack([r * np.cos(turned), r * np.sin(turned), angle]))
    answer = cd.solve(problem, mesh=30, accuracy=1e-8, guess=guess)
    assert answer.objective == pytest.approx(-1.525, abs=5e-4)  # digits of the book
    drift = answer.replay(1e-8).drift
    assert max(drift.values()) < 0.02  # the angle turns by half a circle within an interval


def test_turning_a_ball() -> None:
    """A body on a ball joint turns by 2 rad about an axis, at rest at both ends: 12 I^2 a^2 / T^3. Quaternions
    keep their length."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body(
        "ball", mobilizer=cd.Ball(), mass=1.0, com=(0, 0, 0), inertia=(0.3, 0.3, 0.3),
        coordinates=("qw", "qx", "qy", "qz"),
    )  # fmt: skip
    problem = cd.Problem(system, duration=1.5)
    problem.add_torques(bounds=(-50, 50))
    axis = np.array([2.0, -1.0, 2.0]) / 3
    end = np.concatenate([[math.cos(1.0)], math.sin(1.0) * axis])
    for name, a, b in zip(system.coordinates, (1.0, 0.0, 0.0, 0.0), end, strict=True):
        problem.bound(name, (-1.1, 1.1), start=a, end=float(b))
    problem.bound(problem.speeds, (-20, 20), start=0, end=0)
    problem.minimize(cd.goals.Effort())
    answer = cd.solve(problem, mesh=20, scheme="radau-3", accuracy=1e-9, guess="line")
    assert answer.objective == pytest.approx(12 * 0.3**2 * 2.0**2 / 1.5**3, rel=1e-6)
    assert np.linalg.norm(answer.motion.values, axis=1) == pytest.approx(1.0, abs=1e-8)
    answer.replay(1e-8)
    assert max(answer.statistics["drift"].values()) < 1e-5


def test_a_spring_that_does_all_the_work() -> None:
    """A mass swings from -1 to 1 in T by itself if its spring has stiffness m (pi / T)^2: an unknown Parameter."""
    system = slider()
    system.add_force("spring", cd.forces.MobilitySpring("x", cd.Parameter("k", 5.0)))
    problem = cd.Problem(system, duration=1.0, parameters={"k": (1.0, 100.0)})
    problem.add_torques("x", bounds=(-100, 100))
    problem.bound("x", (-5, 5), start=-1, end=1)
    problem.bound("x_speed", (-50, 50), start=0, end=0)
    problem.minimize(cd.goals.Effort())
    answer = cd.solve(problem, mesh=20, scheme="radau-3", accuracy=1e-8)
    assert answer.parameters["k"] == pytest.approx(2.0 * math.pi**2, rel=1e-6)
    assert answer.objective < 1e-6


def test_a_coupler_has_no_multiplier() -> None:
    """Two masses that move as one, x2 = 2 x1: least effort of a mass m1 + 4 m2."""
    system = cd.System(gravity=(0, 0, 0))
    for name, mass, q in (("a", 1.0, "x1"), ("b", 0.5, "x2")):
        system.add_body(
            name, mobilizer=cd.Slider(), mass=mass, com=(0, 0, 0), inertia=(0, 0, 0), coordinates=(q,)
        )
    coupler = cd.constraints.CoordinateCoupler(lambda b, a: b - 2 * a, ("x2", "x1"))
    system.add_constraint("gear", coupler)
    problem = cd.Problem(system, duration=2.0)
    problem.add_torques("x1")
    problem.bound("x1", (-5, 5), start=0, end=1)
    problem.bound("x1_speed", (-5, 5), start=0, end=0)
    problem.minimize(cd.goals.Effort())
    answer = cd.solve(problem, mesh=8, accuracy=1e-9)
    assert answer.objective == pytest.approx(12 * 3.0**2 / 2.0**3, rel=1e-8)
    assert answer.motion["x2"] == pytest.approx(2 * answer.motion["x1"], abs=1e-7)
    assert not [v for v in problem.dynamics.variables if v.kind == "multiplier"]


def test_a_rod_is_a_pendulum() -> None:
    """A particle on a rod, with a multiplier, and a pendulum, which has none, pulled by the same force."""
    rod, pin = particle((0, -9.81, 0)), cd.System(gravity=(0, -9.81, 0))
    rod.add_constraint("rod", cd.constraints.Rod("ground", (0, 0, 0), "bead", (0, 0, 0), 1.0))
    pin.add_body(
        "bob", mobilizer=cd.Pin(), X_BM=(0, 1, 0), mass=1.0, com=(0, 0, 0), inertia=(0, 0, 0),
        coordinates=("angle",),
    )  # fmt: skip
    for system, q in ((rod, "x"), (pin, "angle")):
        lever = (lambda s: {"x": s.input("pull", 0.0)}) if q == "x" else (
            lambda s: {"angle": s.input("pull", 0.0) * np.cos(s.q("angle"))})  # fmt: skip
        system.add_force("hand", cd.forces.Custom(lever))
    end = 0.8
    first, second = cd.Problem(rod, duration=0.7), cd.Problem(pin, duration=0.7)
    first.bound("x", (-1.2, 1.2), start=0, end=math.sin(end))
    first.bound("y", (-1.2, 0), start=-1, end=-math.cos(end))
    first.bound(["z", "z_speed"], 0.0)
    first.bound(["x_speed", "y_speed"], (-20, 20), start=0, end=0)
    second.bound("angle", (-2, 2), start=0, end=end)
    second.bound("angle_speed", (-20, 20), start=0, end=0)
    found = []
    for problem in (first, second):
        problem.bound("pull", (-100, 100))
        problem.minimize(cd.goals.Effort())
        answer = cd.solve(problem, mesh=20, scheme="radau-3", accuracy=1e-8, guess="line")
        found.append(answer.objective)
    assert answer.status == "solved"
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_a_body_turns_about_an_axis() -> None:
    """Quaternions within wide bounds: from rest to rest by an angle a about a principal axis, 12 (I a)^2 / T^3."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("a", mobilizer=cd.Ball(), mass=1.0, inertia=(2.0, 3.0, 4.0))
    problem = cd.Problem(system, duration=1.0)
    problem.add_torques(list(system.speeds))
    half = math.pi / 4
    for name, start, end in zip(
        system.coordinates, (1, 0, 0, 0), (math.cos(half), math.sin(half), 0, 0), strict=True
    ):
        problem.bound(name, (-1.1, 1.1), start=start, end=end)
    problem.bound(list(system.speeds), (-20, 20), start=0, end=0)
    problem.minimize(cd.goals.Effort())
    answer = cd.solve(problem, mesh=10, scheme="radau-3", accuracy=1e-8)
    assert answer.objective == pytest.approx(12 * (2 * 2 * half) ** 2, rel=1e-6)  # the order of the scheme


def test_a_mirror_image_turns_speeds_too() -> None:
    """x(T) = -x(0), and so v(T) = -v(0): from 1 to -1 m and from rest to rest, 12 (m 2)^2 / T^3."""
    problem = cd.Problem(slider(), duration=1.0)
    problem.add_torques("x")
    problem.bound("x", (-5, 5), start=1.0)
    problem.bound("x_speed", (-50, 50))
    problem.minimize(cd.goals.Effort())
    problem.require(cd.goals.Periodic(opposite=["x"]))
    answer = cd.solve(problem, mesh=10, scheme="radau-3", accuracy=1e-9)
    assert answer.objective == pytest.approx(12 * 4.0**2, rel=1e-6)


def test_units_and_turns_of_what_is_followed() -> None:
    """Centimeters are meters, and an angle that wraps goes on."""
    t = np.linspace(0, 1, 51)
    goal = cd.goals.Follow(cd.Table(t, ["x"], 100 * t[:, None], ["cm"]))
    np.testing.assert_allclose(goal.measured["x"], t, atol=1e-15)
    turned = (np.degrees(8 * t) + 180) % 360 - 180
    goal = cd.goals.Follow(cd.Table(t, ["x"], turned[:, None], ["degrees"]))
    np.testing.assert_allclose(goal.measured["x"], 8 * t, atol=1e-12)
    assert len(cd.goals.Follow(cd.Table([0.0], ["x"], [[1.0]], ["m"])).measured) == 1
