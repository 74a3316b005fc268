"""Paths whose length is a function of coordinates: beside a path through points that has the same length."""

import pickle

import numpy as np
import pytest

import condyle as cd

A, B, D = 0.3, 0.25, 0.12


def arm(path, count=1) -> cd.System:
    """An elbow with springs and a muscle along a path."""
    system = cd.System()
    system.add_body(
        "upper",
        mobilizer=cd.Pin(),
        mass=1.0,
        com=(0, -0.1, 0),
        inertia=(0.01, 0.01, 0.01),
        coordinates="shoulder",
    )
    system.add_body(
        "fore",
        "upper",
        cd.Pin(),
        X_PF=(0, -0.3, 0),
        mass=0.8,
        com=(0, -0.1, 0),
        inertia=(0.01, 0.01, 0.01),
        coordinates="elbow",
    )
    for k in range(count):
        system.add_force(f"spring{k}", cd.forces.PathSpring(path, 100.0, 0.1, 0.1))
    if count == 1:
        system.add_force(
            "muscle",
            cd.muscles.DeGroote2016(
                path,
                max_isometric_force=300.0,
                optimal_fiber_length=0.1,
                tendon_slack_length=0.1,
                tendon="rigid",
            ),
        )
    return system


POINTS = cd.paths.Path([("upper", (D, 0, 0)), ("fore", (0, -A, 0))])


def length(shoulder, elbow):
    """Between (D, 0) and (A sin e, -0.3 - A cos e) [m]; the shoulder has no share."""
    return np.sqrt((D - A * np.sin(elbow)) ** 2 + (0.3 + A * np.cos(elbow)) ** 2) + 0 * shoulder


@pytest.mark.parametrize("count", [1, 9])  # a few are a straight line, many are tables
def test_it_acts_as_points_of_the_same_length(count):
    one, two = (arm(path, count) for path in (POINTS, cd.paths.FunctionPath(length, ("shoulder", "elbow"))))
    rng = np.random.default_rng(3)
    q, u = rng.uniform(-1, 1, (2, 5, 2))
    z = rng.uniform(0.9, 1.1, (5, len(one.state_variables))) * one.default("z")
    tail = {"z": z} if z.size else {}
    for ask in ("path_lengths", "moment_arms"):  # rounding of lengths below 1 m
        np.testing.assert_allclose(getattr(two, ask)(q), getattr(one, ask)(q), atol=1e-14)
    np.testing.assert_allclose(two.path_speeds(q, u), one.path_speeds(q, u), atol=1e-14)
    mine, theirs = (s.forward_dynamics(q, u, **tail) for s in (two, one))
    np.testing.assert_allclose(mine, theirs, rtol=1e-11)  # rounding of lengths over steep curves
    if count > 1:
        return
    mine, theirs = (s.jacobian("forward_dynamics", q, u, 0 * u, wrt="q", **tail) for s in (two, one))
    np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max())


def test_a_run_a_copy_and_a_picture():
    path = cd.paths.FunctionPath(cd.functions.Polynomial((0.3, -0.05, 0.01)), "elbow")
    system = arm(path)
    again = pickle.loads(pickle.dumps(system))
    assert again.force("spring0").path == path and hash(again.force("spring0").path) == hash(path)
    assert path != cd.paths.FunctionPath(cd.functions.Polynomial((0.3, -0.05, 0.02)), "elbow")
    run, other = (cd.simulate(s, s.state(q={"elbow": 0.5}), t_final=0.1) for s in (system, again))
    np.testing.assert_array_equal(run.q[-1], other.q[-1])
    assert "muscle" in cd.show(run, path=None, open=False).html  # its activation; there is no line to draw
    assert "elbow" in repr(path)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((cd.functions.Polynomial((1.0, 2.0)), ("shoulder", "elbow")), "is a function of 1 variable"),
        ((length, ("elbow", "elbow")), "expected names, each once"),
        ((length, ()), "expected names, each once"),
        ((lambda q: q * cd.Parameter("k", 1.0), "elbow"), "holds Parameters"),
    ],
)
def test_what_cannot_be(given, said):
    with pytest.raises(cd.errors.DescriptionError, match=said):
        cd.paths.FunctionPath(*given)


def test_it_has_no_points_beside_paths_that_have():
    system = arm(POINTS)
    by_function = cd.paths.FunctionPath(length, ("shoulder", "elbow"))
    system.add_force("cord", cd.forces.PathSpring(by_function, 1.0, 0.1))
    system.add_force("rope", cd.forces.PathSpring(POINTS, 1.0, 0.1))
    q = np.zeros((4, 2))
    points = system.path_points(q)
    assert points["cord"].shape == (4, 0, 3) and points["rope"].shape == (4, 2, 3)
    assert np.array_equal(points["rope"], points["spring0"])
    assert system.state().path_points()["cord"].shape == (0, 3)


def test_arguments_the_other_way_round():
    with pytest.raises(cd.errors.DescriptionError, match="a function and then names of coordinates"):
        cd.paths.FunctionPath("elbow", length)


def test_a_coordinate_that_is_not_there():
    with pytest.raises(cd.errors.CondyleError, match="elbo"):
        arm(cd.paths.FunctionPath(length, ("shoulder", "elbo")))
