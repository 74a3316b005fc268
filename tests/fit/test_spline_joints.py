"""Inverse kinematics over spline joints: the leg of lee2008 Fig. 3, whose hip and ankle are pins and whose
knee is a spline curve; domains and periods."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import condyle as cd

BEND = np.linspace(0.2, -2.1, 12)
KNEE = cd.SplineCurve(
    (
        Rotation.from_rotvec(np.outer(BEND, (0.08, 0.05, 1))).as_matrix(),
        np.column_stack([0.005 * np.sin(BEND), -0.4 + 0.01 * BEND**2, 0 * BEND]),
    )
)
AROUND = np.arange(12) * np.pi / 6
RING = cd.SplineCurve(
    (
        Rotation.from_rotvec(np.outer(AROUND, (0, 0, 1))).as_matrix(),
        np.column_stack([0.1 * np.cos(AROUND), 0.05 * np.sin(AROUND), 0 * AROUND]),
    ),
    closed=True,
    domain=(0, 5),
)


@pytest.fixture(scope="module")
def leg():
    system = cd.System()
    system.add_body("thigh", mobilizer=cd.Pin(), mass=8, inertia=(0.1,) * 3, coordinates=("hip",))
    system.add_body("shank", "thigh", mobilizer=KNEE, mass=3, inertia=(0.1,) * 3, coordinates=("knee",))
    system.add_body(
        "foot",
        "shank",
        mobilizer=cd.Pin(),
        X_PF=(0, -0.43, 0),
        mass=1,
        inertia=(0.01,) * 3,
        coordinates=("ankle",),
    )
    return system


def pose_goals(X):
    return [cd.goals.Station("foot", (0, 0, 0), X.p), cd.goals.Orientation("foot", X.R)]


def solve(system, start, q, **options):
    """Frames that lead from the start to the foot's pose at q (T, 3)."""
    return cd.assemble_frames(
        system, system.state(q=start), pose_goals(system.body_pose(np.atleast_2d(q), "foot")), **options
    )


def test_quadratic_convergence_to_a_pose_of_the_foot(leg, evidence):
    """lee2008 Fig. 3. Iterations of one search are seen by asking for less and less accuracy."""
    q = np.array([0.5, 0.37, -0.2])
    errors = {}
    for accuracy in 10.0 ** np.arange(-1.0, -12.5, -0.5):
        found = solve(leg, (0, 0.6, 0), q, accuracy=accuracy)
        errors[int(found.iterations[0])] = np.abs(found.q[0] - q).max()
    steps = sorted(errors)
    assert errors[steps[0]] > 1e-4 and steps[-1] <= 8
    assert steps == list(range(steps[0], steps[-1] + 1))
    # Newton's: the error is squared, times a curvature of the leg about 1; 1e-14 is rounding of q
    evidence(
        "inverse kinematics over a spline knee: error after a step over the square of that before it",
        max((errors[k + 1] - 1e-14) / errors[k] ** 2 for k in steps[:-1]),
        3,
        headline="spline search",
    )
    assert errors[steps[-1]] < 1e-14


def test_far_starts_stay_in_the_domain(leg):
    q, rng = np.array([0.5, 0.37, -0.2]), np.random.default_rng(4)
    for start in rng.uniform((-2, 0, -2), (2, 1, 2), (8, 3)):
        found = solve(leg, start, q)
        wound = found.q[0] - q
        assert found.status == "finished"
        np.testing.assert_allclose(wound[1], 0, atol=1e-9)  # the pins may have gone around
        np.testing.assert_allclose(
            wound[[0, 2]] / (2 * np.pi), np.round(wound[[0, 2]] / (2 * np.pi)), atol=1e-9
        )


def test_an_open_curve_ends_unless_asked_otherwise(leg):
    beyond = np.array([0.3, 1.03, 0.1])
    held = solve(leg, (0, 0.7, 0), beyond)
    assert held.q[0, 1] == 1.0 and held.residuals.max() > 1e-3
    free = solve(leg, (0, 0.7, 0), beyond, limits={"knee": (-np.inf, np.inf)})
    np.testing.assert_allclose(free.q[0], beyond, atol=1e-9)
    inside = solve(leg, (0, 0.7, 0), beyond, limits={"knee": (0.2, 0.8)})
    assert inside.q[0, 1] == 0.8
    assert solve(leg, (0.3, 1.4, 0), (0.3, 0.9, 0.1)).q[0, 1] == pytest.approx(0.9)  # a start outside
    X = leg.body_pose((0.3, 0.9, 0.1), "foot")
    at = cd.assemble(leg, leg.state(), pose_goals(X))  # one frame, from the default at the end
    np.testing.assert_allclose(at.q, (0.3, 0.9, 0.1), atol=1e-8)


def test_stations_are_followed_over_the_whole_curve(leg):
    """A walk of markers: every frame from the last, noise-free, found to rounding; with noise, near its
    size."""
    t = np.linspace(0, 1, 60)
    q = np.column_stack([0.4 * np.sin(6 * t), 0.5 - 0.5 * np.cos(2 * np.pi * t), 0.3 * np.cos(5 * t)])
    stations = [
        ("shank", (0.05, -0.1, 0.02)),
        ("shank", (0, -0.3, -0.04)),
        ("foot", (0.1, 0, 0)),
        ("foot", (0, 0, 0.05)),
        ("thigh", (0.05, -0.2, 0)),
    ]
    goals = [cd.goals.Station(b, p, leg.station_position(q, b, p)) for b, p in stations]
    found = cd.assemble_frames(leg, leg.state(q=q[0]), goals, t=t)
    assert found.status == "finished"
    np.testing.assert_allclose(found.q, q, atol=1e-9)
    noise = np.random.default_rng(0).normal(0, 1e-3, (len(stations), 60, 3))
    noisy = [cd.goals.Station(g.body, g.station, g.position + e) for g, e in zip(goals, noise)]
    found = cd.assemble_frames(leg, leg.state(q=q[0]), noisy, t=t)
    assert np.abs(found.q - q).max() < 0.05  # 1 mm over arms of 0.07 m, 3 sigma
    assert ((found.q[:, 1] >= 0) & (found.q[:, 1] <= 1)).all()


def test_a_closed_curve_goes_on_past_its_period():
    system = cd.System()
    system.add_body("foot", mobilizer=RING, mass=1, coordinates=("s",))
    q = np.linspace(0.5, 14.0, 80)[:, None]  # nearly three turns
    found = solve(system, (0.5,), q)
    np.testing.assert_allclose(found.q, q, atol=1e-9)
    for start in np.linspace(-6, 9, 7):  # far: another turn is as good
        found = solve(system, (start,), [[3.3]])
        assert found.status == "finished"
        np.testing.assert_allclose((found.q[0, 0] - 3.3) / 5, np.round((found.q[0, 0] - 3.3) / 5), atol=1e-9)


def test_fit_q_looks_over_the_whole_domain():
    for curve in (KNEE, KNEE.reversed(), RING):
        for q in np.linspace(*(RING.domain if curve is RING else KNEE.domain), 9):
            at = KNEE.pose(q).inverse() if curve == KNEE.reversed() else curve.pose(q)
            found, left = curve.fit_q(at)
            assert left.max() < 1e-9
            np.testing.assert_allclose(
                curve.pose(found[0]).p if curve is RING else found, at.p if curve is RING else q, atol=1e-8
            )
    end = KNEE.pose(1.05)  # beyond: held at the end
    found, left = KNEE.fit_q(end)
    assert found[0] == 1.0 and left[0] > 0.05
    both = cd.compose(KNEE, cd.Slider("z"))
    found, left = both.fit_q(end @ cd.Transform(None, (0, 0, 0.2)))
    assert found[0] == 1.0 and found[1] == pytest.approx(0.2, abs=0.01)
    bent = KNEE.pose(0.8)
    noisy = cd.Transform(bent.R @ Rotation.from_rotvec((0.01, 0.02, 0)).as_matrix(), bent.p + (0, 0, 1e-3))
    assert KNEE.fit_q(noisy)[0][0] == pytest.approx(0.8, abs=0.01)
