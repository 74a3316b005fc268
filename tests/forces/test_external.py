"""Forces from outside: frames, inputs, time series."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import condyle as cd
from condyle import forces
from tests.forces.rig import EPS, P_A, P_B, arm, state

FORCE, TORQUE = np.array([3.0, -2.0, 5.0]), np.array([0.4, 0.5, -0.6])
T = np.array([0.0, 0.2, 0.5, 0.6, 1.0])
Y = np.random.default_rng(0).normal(size=(5, 3))


def generalized(law, q, u, **options):
    """What a law adds to the generalized forces."""
    return arm(gravity=(0, 0, 0), law=law).applied_forces(q, u, **options)


@pytest.fixture(scope="module")
def at():
    system = arm()
    q, u = state(system, 3)
    return system, q, u


def expected(system, q, p, force, torque):
    """J' F of a wrench in ground at a station, by the frame Jacobian."""
    return system.kinematics.frame_jacobian(q, "lower", p).T @ np.r_[torque, force]


def close(f, g):
    # J' F of entries up to 10, summed over six.
    np.testing.assert_allclose(f, g, rtol=0, atol=1e3 * EPS)


def test_constant_force_and_torque(at):
    system, q, u = at
    close(
        generalized(forces.ConstantForce("lower", P_B, FORCE), q, u),
        expected(system, q, P_B, FORCE, (0, 0, 0)),
    )
    close(
        generalized(forces.ConstantTorque("lower", TORQUE), q, u), expected(system, q, P_B, (0, 0, 0), TORQUE)
    )


@pytest.mark.parametrize("frame", ["ground", "body"])
@pytest.mark.parametrize("station_frame", ["ground", "body"])
def test_frames_of_a_wrench(at, frame, station_frame):
    system, q, u = at
    X = system.body_pose(q, "lower")
    law = forces.ExternalWrench("lower", P_A, FORCE, TORQUE, frame=frame, station_frame=station_frame)
    turn = X.R if frame == "body" else np.eye(3)
    p = P_A if station_frame == "body" else X.inverse() @ np.array(P_A)
    close(generalized(law, q, u), expected(system, q, p, turn @ FORCE, turn @ TORQUE))


def test_inputs_come_with_each_state(at):
    system, q, u = at
    law = forces.ExternalWrench("lower", P_B, [cd.Input(n, 0.0) for n in ("fx", "fy", "fz")])
    close(generalized(law, q, u, inputs=FORCE), expected(system, q, P_B, FORCE, (0, 0, 0)))
    assert not generalized(law, q, u).any()
    many = generalized(law, q, u, inputs=np.outer([1.0, 2.0], FORCE))
    close(many[1], 2 * many[0])


@pytest.mark.parametrize("t", [0.0, 0.07, 0.5, 0.83, 1.0, -3.0, 7.0])
def test_cubic_time_series(at, t):
    """A natural cubic spline in between, the end values outside."""
    system, q, u = at
    law = forces.ExternalWrench("lower", P_B, (T, Y))
    f = CubicSpline(T, Y, bc_type="natural")(np.clip(t, 0.0, 1.0))
    close(generalized(law, q, u, t=t), expected(system, q, P_B, f, (0, 0, 0)))


# points at random are uneven
@pytest.mark.filterwarnings("ignore:TimeSeries. the cubic spline")
@pytest.mark.parametrize("evaluator", ["casadi", "native"])
def test_long_time_series_are_looked_up(at, evaluator, monkeypatch):
    system, q, u = at
    monkeypatch.setenv("CONDYLE_EVALUATOR", evaluator)
    rng = np.random.default_rng(1)
    times, values = np.sort(rng.uniform(0, 1, 60)), rng.normal(size=(60, 3))
    t = np.concatenate([[-1.0, 2.0], times[::7], rng.uniform(0, 1, 20)])
    f = CubicSpline(times, values, bc_type="natural")(np.clip(t, times[0], times[-1]))
    got = generalized(forces.ExternalWrench("lower", P_B, (times, values)), q, u, t=t)
    # Splines of crowded random points overshoot to 1e2 and more.
    np.testing.assert_allclose(
        got, f @ system.station_jacobian(q, "lower", P_B), rtol=0, atol=1e-12 * np.abs(f).max()
    )


@pytest.mark.parametrize("t", [0.0, 0.07, 0.5, 0.83, 1.0, -3.0, 7.0])
def test_linear_time_series(at, t):
    system, q, u = at
    with pytest.warns(UserWarning, match="kinks"):
        series = forces.TimeSeries(T, Y, "linear")
    law = forces.ExternalWrench("lower", P_B, torque=series)
    f = [np.interp(t, T, y) for y in Y.T]
    close(generalized(law, q, u, t=t), expected(system, q, P_B, (0, 0, 0), f))


def test_a_tuple_is_a_series():
    assert forces.ExternalWrench("lower", force=(T, Y)) == forces.ExternalWrench(
        "lower", force=forces.TimeSeries(T, Y)
    )


@pytest.mark.parametrize(
    ("times", "values", "interpolation", "message"),
    [
        (T, Y[:4], "cubic", r"expected values of shape \(5, 3\).*got shape \(4, 3\)"),
        (T, Y * np.array([1, np.nan, 1]), "cubic", r"values\[0\].*not finite"),
        (T[::-1], Y, "cubic", "increase strictly"),
        (T[::-1], Y, "linear", "increase strictly"),
        (T[:2], Y[:2], "cubic", "at least 3"),
        (T, Y, "quintic", "'cubic' or 'linear'"),
        ("a", Y, "cubic", "must be numbers"),
    ],
)
def test_bad_series(times, values, interpolation, message):
    with pytest.raises(cd.errors.DescriptionError, match=message):
        forces.TimeSeries(times, values, interpolation)
