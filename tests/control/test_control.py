"""Optimal control: closed forms, Moco's answers, derivatives, and what is said of bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest

import condyle as cd
from condyle.collocation.intervals import CollocationMesh
from condyle.collocation.schemes import scheme
from condyle.control.guess import start
from condyle.control.transcription import ControlProgram

MASS, DISTANCE, FORCE, TIME = 2.0, 1.0, 50.0, 2.0


@pytest.fixture(scope="module")
def mass() -> cd.System:
    system = cd.System(gravity=(0, 0, 0))
    system.add_body(
        "body", mobilizer=cd.Slider(), mass=MASS, com=(0, 0, 0), inertia=(0, 0, 0), coordinates=("x",)
    )
    return system


@pytest.fixture(scope="module")
def pendulum() -> cd.System:
    """Moco's double pendulum."""
    system = cd.System(gravity=(0, -9.80665, 0))
    for name, parent, q in (("b0", system.ground, "q0"), ("b1", "b0", "q1")):
        system.add_body(
            name,
            parent,
            cd.Pin(),
            X_BM=(-1, 0, 0),
            mass=1,
            com=(0, 0, 0),
            inertia=(1, 1, 1),
            coordinates=(q,),
        )
    return system


def sliding(system: cd.System, duration: float | tuple[float, float], goal: object) -> cd.Problem:
    problem = cd.Problem(system, duration=duration)
    problem.add_torques("x")
    problem.bound("x", (-5, 5), start=0, end=DISTANCE)
    problem.bound("x_speed", (-50, 50), start=0, end=0)
    problem.bound("x_torque", (-FORCE, FORCE))
    problem.minimize(goal)  # type: ignore[arg-type]
    return problem


def swing(system: cd.System) -> cd.Problem:
    problem = cd.Problem(system, duration=1.5)
    problem.add_torques(bounds=(-100, 100))
    problem.bound("q0", (-10, 10), start=0, end=math.pi / 2)
    problem.bound("q1", (-10, 10), start=0, end=0)
    problem.bound(problem.speeds, (-50, 50), start=0, end=0)
    problem.minimize(cd.goals.Effort())
    return problem


@pytest.mark.parametrize(
    ("name", "tolerance"), [("hermite-simpson", 1e-9), ("radau-2", 1e-9), ("radau-3", 1e-9)]
)
def test_least_effort_of_a_mass(mass: cd.System, name: str, tolerance: float) -> None:
    """12 m^2 d^2 / T^3; the optimal control is linear, which these schemes have exactly."""
    answer = cd.solve(sliding(mass, TIME, cd.goals.Effort()), mesh=10, scheme=name, accuracy=1e-9)
    assert answer.status == "solved"
    assert answer.objective == pytest.approx(12 * MASS**2 * DISTANCE**2 / TIME**3, rel=tolerance)


def test_least_time_of_a_mass(mass: cd.System) -> None:
    """2 sqrt(m d / F), to the length of the interval in which the control switches."""
    answer = cd.solve(
        sliding(mass, (0.01, 5.0), cd.goals.Duration()), mesh=40, scheme="radau-2", accuracy=1e-8
    )
    assert answer.duration == pytest.approx(2 * math.sqrt(MASS * DISTANCE / FORCE), rel=1e-3)
    assert answer.objective == pytest.approx(answer.duration)


def test_least_time_of_a_mass_as_in_moco(mass: cd.System) -> None:
    """Moco 4.6, exact Hessian, tolerance 1e-11: 0.4000266695156. At 1e-8 its two Hessians are 7e-7 apart: the barrier of
    IPOPT keeps 200 controls from their bounds."""
    problem = sliding(mass, (0.05, 5.0), cd.goals.Duration())
    options = {"mesh": 100, "scheme": "hermite-simpson", "guess": "bounds"}
    answer = cd.solve(problem, accuracy=1e-11, **options)
    # both to 1e-11 and 200 bounds
    assert answer.objective == pytest.approx(0.4000266695156176, rel=1e-10)


def test_mocos_double_pendulum(pendulum: cd.System) -> None:
    """Moco 4.6: 1342.2698298837815 at the same scheme, mesh, guess and tolerance; a warm start is quick."""
    problem = swing(pendulum)
    answer = cd.solve(problem, mesh=50, scheme="hermite-simpson", accuracy=1e-8)
    assert answer.objective == pytest.approx(1342.2698298837815, rel=1e-8)
    again = cd.solve(problem, mesh=50, scheme="hermite-simpson", accuracy=1e-8, guess=answer)
    assert again.statistics["iterations"] <= 4
    assert again.objective == pytest.approx(answer.objective, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "order"), [("trapezoidal", 2), ("hermite-simpson", 4), ("radau-2", 3), ("radau-3", 5)]
)
def test_orders(name: str, order: int) -> None:
    """x' = -x by the equations of a scheme: the error at the end falls with the order that is claimed."""
    errors = []
    for N in (4, 8):
        mesh = CollocationMesh.even(scheme(name), N)
        P, s, rows, rhs = len(mesh.points), mesh.scheme, [np.eye(len(mesh.points))[0]], [1.0]
        for k, own in enumerate(mesh.of_interval):
            for D, W in zip(s.D, s.W, strict=True):
                row = np.zeros(P)
                row[own] += D + mesh.h[k] * W
                rows.append(row)
                rhs.append(0.0)
        errors.append(abs(np.linalg.solve(rows, rhs)[-1] - math.exp(-1)))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)


def test_derivatives_of_the_program(pendulum: cd.System) -> None:
    """Gradient, Jacobian and Hessian against differences, with a free duration and a goal at the end."""
    problem = cd.Problem(pendulum, duration=(0.5, 2.0))
    problem.add_torques(bounds=(-100, 100))
    problem.minimize(cd.goals.Effort(per="q0"), 0.3)
    problem.minimize(cd.goals.Final(lambda s: s.station_position("b1")[1] ** 2), 2.0)
    problem.require(
        cd.goals.Path(lambda s: s.q("q0") * s.u("q1"), -1.0, 1.0),
        cd.goals.Integral(lambda s: s.q("q1") ** 2, 0, 1),
    )
    program = ControlProgram(problem, CollocationMesh.even(scheme("radau-2"), 2), True)
    nlp, rng = program.program, np.random.default_rng(0)
    x = (start(program, None) + rng.normal(0, 0.3, program.n)) / nlp.S
    lam, h = rng.normal(0, 1, nlp.m), 1e-6
    J, H = np.zeros((nlp.m, nlp.n)), np.zeros((nlp.n, nlp.n))
    J[nlp.jacobian_rows, nlp.jacobian_columns] = nlp.jacobian(x)
    H[nlp.hessian_rows, nlp.hessian_columns] = nlp.hessian(x, 0.7, lam)
    H = H + np.tril(H, -1).T

    def slope(x: np.ndarray) -> np.ndarray:
        J = np.zeros((nlp.m, nlp.n))
        J[nlp.jacobian_rows, nlp.jacobian_columns] = nlp.jacobian(x)
        return 0.7 * nlp.gradient(x) + lam @ J

    for k in range(nlp.n):
        e = np.zeros(nlp.n)
        e[k] = h
        assert J[:, k] == pytest.approx(
            (nlp.constraints(x + e) - nlp.constraints(x - e)) / (2 * h), rel=1e-5, abs=1e-6
        )
        assert nlp.gradient(x)[k] == pytest.approx(
            (nlp.objective(x + e) - nlp.objective(x - e)) / (2 * h), rel=1e-5, abs=1e-6
        )
        assert H[:, k] == pytest.approx((slope(x + e) - slope(x - e)) / (2 * h), rel=1e-4, abs=1e-4)


def test_goals_of_assembly_are_goals_of_movements(pendulum: cd.System) -> None:
    """A station that is pulled to a place: the cost is that of cd.assemble, integrated over time."""
    problem = swing(pendulum)
    problem.minimize(cd.goals.Station("b1", (0, 0, 0), (1.0, 1.0, 0.0)), 5.0)
    answer = cd.solve(problem, mesh=10, accuracy=1e-6)
    assert answer.status == "solved"
    p = np.array([pendulum.station_position(q, "b1", (0, 0, 0)) for q in answer.motion.values])
    cost = 0.5 * ((p - (1, 1, 0)) ** 2).sum(axis=1)
    weights = answer.duration * CollocationMesh.even(scheme("radau-2"), 10).weights
    assert answer.terms["b1 station"] == pytest.approx(5.0 * weights @ cost, rel=1e-9)
    assert answer.objective == pytest.approx(sum(answer.terms.values()))


def test_bad_input_is_named(mass: cd.System) -> None:
    problem = sliding(mass, TIME, cd.goals.Effort())
    with pytest.raises(cd.errors.UnknownNameError, match="x_torq"):
        problem.bound("x_torq", (0, 1))
    with pytest.raises(cd.errors.DescriptionError, match=r"cross: \(1, 0\)"):
        problem.bound("x", (1, 0))
    with pytest.raises(cd.errors.DescriptionError, match=r"x must be in \(-5, 5\) and starts at 7"):
        problem.bound("x", start=7)
    with pytest.raises(cd.errors.DescriptionError, match="above 0"):
        cd.Problem(mass, duration=0)
    with pytest.raises(cd.errors.DescriptionError, match="1 or more"):
        cd.solve(problem, mesh=0)
    with pytest.raises(cd.errors.DescriptionError, match="trapezoidal"):
        cd.solve(problem, scheme="euler")
    with pytest.raises(cd.errors.DescriptionError, match="the duration is fixed"):
        cd.solve(sliding(mass, TIME, cd.goals.Duration()), mesh=4)
    other = cd.Problem(mass, duration=TIME)
    other.add_torques("x")
    other.minimize(cd.goals.Integral(lambda s: np.log(s.q("x"))))
    with pytest.raises(cd.errors.DescriptionError, match="not finite at the guess"):
        cd.solve(other, mesh=4)


def test_speeds_are_not_coordinates(mass: cd.System) -> None:
    """Both are called x here: system.speeds bounds speeds, also where torques were added since."""
    problem = cd.Problem(mass, duration=TIME)
    problem.add_torques("x")
    problem.bound(mass.speeds, (-3, 3), start=0)
    problem.bound(mass.coordinates, (-1, 1))
    assert problem.bounds["x_speed"].between == (-3, 3)
    assert problem.bounds["x"].between == (-1, 1)
    assert problem.speeds == ("x_speed",)


def test_contradictions_are_named_before_solving(mass: cd.System, pendulum: cd.System) -> None:
    problem = sliding(mass, TIME, cd.goals.Effort())
    problem.require(cd.goals.MeanSpeed(1.2, "x"), cd.goals.MeanSpeed(1.5, "x"))
    with pytest.raises(cd.errors.DescriptionError, match="mean speed of x cannot be met"):
        cd.solve(problem, mesh=4)
    problem = cd.Problem(mass, duration=TIME)
    problem.add_torques("x")
    problem.require(cd.goals.MeanSpeed(1.2, "x"), cd.goals.MeanSpeed(1.5, "x"))
    with pytest.raises(cd.errors.DescriptionError, match="contradict each other"):
        cd.solve(problem, mesh=4)
    problem = sliding(mass, TIME, cd.goals.Effort())
    problem.require(cd.goals.Periodic())
    with pytest.raises(cd.errors.DescriptionError, match=r"x is periodic cannot be met.* 0.*1"):
        cd.solve(problem, mesh=4)
    problem = sliding(mass, TIME, cd.goals.Effort())
    f = lambda s: s.q("x") ** 2
    problem.require(cd.goals.Path(f, 0, 1), cd.goals.Path(f, 2, 3))
    with pytest.raises(cd.errors.DescriptionError, match="from 2 to 3 and from 0 to 1"):
        cd.solve(problem, mesh=4)
    ranged = cd.System(gravity=(0, 0, 0))
    ranged.add_body(
        "body", mobilizer=cd.Pin(), mass=1, com=(0, 0, 0), inertia=(1, 1, 1),
        coordinates=(cd.Coordinate("knee", range=(-2.0, 0.0)),),
    )  # fmt: skip
    problem = cd.Problem(ranged, duration=1.0)
    problem.add_torques()
    problem.bound("knee", start=0.3)
    problem.minimize(cd.goals.Effort())
    with pytest.raises(cd.errors.DescriptionError, match=r"knee must be in \(-2, 0\) and starts at 0.3"):
        cd.solve(problem, mesh=4)


def test_guesses_and_data_of_others_are_named(mass: cd.System, pendulum: cd.System) -> None:
    problem = sliding(mass, TIME, cd.goals.Effort())
    other = cd.solve(swing(pendulum), mesh=4)
    with pytest.raises(cd.errors.DescriptionError, match="another system: it has no 'x'"):
        cd.solve(problem, mesh=4, guess=other)
    with pytest.raises(cd.errors.DescriptionError, match="another system, with coordinates q0, q1"):
        cd.solve(problem, mesh=4, guess=pendulum.state())
    t = np.linspace(0, 1, 11)
    with pytest.raises(cd.errors.DescriptionError, match=r"none of .* \['elbow'\]"):
        cd.solve(problem, mesh=4, guess=cd.Table(t, ["elbow"], np.zeros((11, 1))))
    with pytest.raises(cd.errors.DescriptionError, match="expected a Table"):
        cd.solve(problem, mesh=4, guess=3.0)  # type: ignore[call-overload]
    problem.minimize(cd.goals.Follow(cd.Table(t, ["x"], np.zeros((11, 1)))))
    with pytest.raises(
        cd.errors.DescriptionError, match="from 0 to 1 s do not cover the movement, from 0 to 2"
    ):
        cd.solve(problem, mesh=4)
    broken = sliding(mass, TIME, cd.goals.Follow(cd.Table(t, ["elbow"], np.zeros((11, 1)))))
    with pytest.raises(cd.errors.DescriptionError, match="none of the data is a variable"):
        cd.solve(broken, mesh=4)
    with pytest.raises(cd.errors.UnknownNameError, match="tau"):
        cd.solve(sliding(mass, TIME, cd.goals.Effort(weights={"tau": 1.0})), mesh=4)
    for goal in (cd.goals.Effort(), cd.goals.Duration()):
        with pytest.raises(cd.errors.DescriptionError, match="has no low and high"):
            problem.require(goal)
    with pytest.raises(cd.errors.DescriptionError, match=r"got 10.0; .*optimal_force"):
        problem.add_torques(10.0)  # type: ignore[arg-type]
    with pytest.raises(cd.errors.DescriptionError, match=r"intervals, 1 or more, got 20.5"):
        cd.solve(problem, mesh=20.5)  # type: ignore[call-overload]
    with pytest.raises(cd.errors.UnknownNameError, match="mass"):
        cd.Problem(mass, duration=1.0, parameters={"mass": (60, 90)})
    for bad in (-1.0, (0.0, 0.0), (2.0, 1.0), np.nan, "1 s", None):
        with pytest.raises(cd.errors.DescriptionError):
            cd.Problem(mass, duration=bad)  # type: ignore[arg-type]


def test_bounds_in_degrees_raise_a_warning() -> None:
    problem = cd.Problem(cd.models.arm26(), duration=1.0)
    with pytest.warns(UserWarning, match=r"'r_elbow_flex' = 90 rad.*np.radians\(90\)"):
        problem.bound("r_elbow_flex", start=90)


def test_what_cannot_be_met_is_said(mass: cd.System) -> None:
    """1 m in 0.1 s takes 800 N and there are 50."""
    answer = cd.solve(sliding(mass, 0.1, cd.goals.Effort()), mesh=5)
    assert answer.status == "infeasible"
    assert "off by" in answer.message
    assert "t = " in answer.message
