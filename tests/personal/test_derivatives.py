"""Derivatives of marker errors against differences, with constraints; the prior of sizes; one system for all sizes."""

import numpy as np
import pytest

import condyle as cd
from condyle.personal.anthropometry import size_prior, survey
from condyle.personal.followed import _flipped, _unwound
from condyle.personal.landmarks import kind_by_name
from condyle.personal.marker_fit import BEYOND, MarkerFit
from condyle.personal.sized_system import sized
from tests.personal import rig

H = 1e-6


@pytest.fixture(scope="module")
def problem():
    system = rig.generic()
    system.add_constraint(
        "knees", cd.constraints.CoordinateCoupler(lambda a, b: a + b + 0.7, ("knee_r", "knee_l"))
    )
    one = sized(system, "axes", True)
    t = np.arange(4) / 10
    q = rig.walk(system, t)
    y = rig.seen(system, t, q, np.random.default_rng(0)).positions
    n = len(one.sizes)
    return (
        MarkerFit(
            one,
            list(system.markers),
            y,
            np.ones(4),
            (np.zeros(n), 0.01 * np.eye(n)),
            np.full(len(system.markers), 0.01),
            (np.zeros_like(q), np.full(q.shape, 4.0)),
            np.ones(system.nu, dtype=bool),
        ),
        q,
        np.random.default_rng(1).normal(size=n) * 0.05,
    )


def test_derivatives(problem):
    fit, q, theta = problem
    d = np.zeros_like(fit.r)
    _, A, B = fit.linear(q, theta, d)
    f = lambda q, theta: fit.errors(q, theta, d)[0]
    for j in range(0, q.shape[1], 3):
        dq = np.zeros(q.shape[1])
        dq[j] = H
        np.testing.assert_allclose(A[..., j], (f(q + dq, theta) - f(q - dq, theta)) / (2 * H), atol=1e-8)
    for k in range(len(theta)):
        dt = np.zeros(len(theta))
        dt[k] = H
        np.testing.assert_allclose(B[..., k], (f(q, theta + dt) - f(q, theta - dt)) / (2 * H), atol=1e-8)


@pytest.mark.parametrize("constrained", [True, False])
def test_sums_by_body_are_those_by_marker(problem, constrained):
    """The normal matrix of poses, with markers that are missing, that differ in noise, and a speed that is held."""
    fit, q, theta = problem
    part, rng = fit.frames(slice(None)), np.random.default_rng(2)
    part.seen, part.share = rng.uniform(size=fit.seen.shape) < 0.8, rng.uniform(1, 2, size=len(q))
    part.own, part.free = rng.uniform(0.7, 1.5, size=len(fit.markers)), np.arange(len(fit.free)) != 7
    part.constrained, d = constrained, 0.01 * rng.normal(size=fit.r.shape)
    _, _, _, _, H, grad, _, Z, shift, _ = part.blocks(q, theta, d, 1e-3)
    for a, b in zip((H, grad, Z, shift), part.pose_blocks(q, theta, d, 1e-3), strict=True):
        if a is None:
            assert b is None
        else:  # rounding of sums that are taken in another order
            np.testing.assert_allclose(b, a, rtol=0, atol=1e-12 * max(np.abs(a).max(), 1.0))


def test_angles_beyond_their_range(problem):
    """Costs of a normal distribution just beyond, hardly any more far beyond, none inside; their slope and weight."""
    fit, q, theta = problem
    part, j = fit.frames(slice(None)), fit.system.coordinates.index("ankle_r")
    low, high = (np.full(q.shape[1], x) for x in (-np.inf, np.inf))
    low[j], high[j] = -0.1, 0.3
    part.limits, part.pose_share = (low, high), np.array([1.0, 1.0, 0.5, 1.0])
    part.constrained, at = False, q.copy()
    at[:, j] = 0.2, 0.31, 0.31, -1.5
    quadratic = 0.5 * (fit.q_precision * (at - fit.q_mean) ** 2).sum(axis=1)
    extra = part.pose_costs(at, theta) - quadratic
    assert extra[0] == 0 and extra[1] == pytest.approx(0.5 * (0.01 / BEYOND) ** 2, rel=0.01)
    assert (
        extra[2] == pytest.approx(extra[1] / 2) and 5 < extra[3] < 10
    )  # nats; a normal distribution says 129
    h = 1e-6 * (np.arange(q.shape[1]) == j)
    slope = (part.pose_costs(at + h, theta) - part.pose_costs(at - h, theta)) / 2e-6
    grad, held = part.pose_weights(at, 0.0)
    np.testing.assert_allclose(grad[:, j], slope, rtol=1e-6)
    assert (held > 0).all() and held[3, j] < held[1, j]


def test_frames_that_flipped():
    """An arm turns over and back, another wraps at the end: only these frames start again, from their neighbors."""
    t = np.arange(30) / 100
    q = np.stack([np.sin(t), np.cos(t), t], axis=1)
    assert not len(_flipped(q, t)[0])
    q[10:15, :2] += (-2.7, 3.1)
    q[12:15, 1] -= 2 * np.pi
    q[27:, 2] += 2 * np.pi
    turned, near = _flipped(q, t)
    assert turned.tolist() == [10, 11, 12, 13, 14, 27, 28, 29]
    assert near.tolist() == [9, 9, 9, 15, 15, 26, 26, 26]


def test_angles_that_turn_over(problem):
    """Whole turns and the other three angles of a rotation, in single frames and from one on: the motion is continuous
    again; knees, whose sum is held, keep theirs. A jump to another pose stays."""
    fit = problem[0]
    system, t = fit.system, np.arange(40) / 60
    q = rig.walk(system, t)
    at = [system.coordinates.index(n) for n in ("tilt", "list", "turn")]
    hip = [system.coordinates.index(f"hip_r_{n}") for n in ("flexion", "adduction", "rotation")]
    knee, ankle = (system.coordinates.index(n) for n in ("knee_r", "ankle_l"))
    q[:, at[2]] += 15 * t
    over = q.copy()
    for rows, of in ((slice(10, 13), hip), (slice(20, None), hip), (slice(15, 30), at)):
        a, b, c = over[rows][:, of].T
        over[rows, of[0]], over[rows, of[1]], over[rows, of[2]] = a - np.pi, np.pi - b, c + 3 * np.pi
    over[25:, ankle] -= 2 * np.pi
    np.testing.assert_allclose(_unwound(fit, over, t), q, atol=1e-12)
    over[30:, knee] += 2 * np.pi  # the sum of both knees is another then
    over[12, ankle] += 2.0
    out = _unwound(fit, over, t)
    off = np.abs(out - q) > 1e-12
    assert off[12, ankle] and off[30:, knee].all() and off.sum() == 11


def test_constraints_hold(problem):
    fit, q, _ = problem
    found = fit.solve(q)
    knees = found.q[:, [fit.system.coordinates.index(n) for n in ("knee_r", "knee_l")]]
    assert np.abs(knees.sum(axis=1) + 0.7).max() < 1e-5


def test_the_prior_is_that_of_the_survey():
    names, mean, C = survey()
    assert np.linalg.eigvalsh(C).min() > 0
    given = [names.index("stature"), names.index("mass")]
    left = C - C[:, given] @ np.linalg.solve(C[np.ix_(given, given)], C[given])
    sd = dict(zip(names, 100 * np.sqrt(np.diag(left).clip(0)), strict=True))
    # given stature and mass, in percent: thigh 5.0, shank 4.1, foot 3.4, biacromial 4.4, upper arm 3.2, forearm 4.3
    published = {
        "thigh": 5.0,
        "shank": 4.1,
        "foot_length": 3.4,
        "trunk_breadth": 4.4,
        "upper_arm": 3.2,
        "forearm": 4.3,
    }
    for n, x in published.items():
        assert sd[n] == pytest.approx(x, abs=0.3), n  # two digits of correlations
    assert np.exp(mean[0]) == pytest.approx(1.69, abs=0.01)
    thigh, trunk = names.index("thigh"), names.index("trunk_height")
    assert (
        left[thigh, trunk] / np.sqrt(left[thigh, thigh] * left[trunk, trunk]) < -0.3
    )  # long thighs, short trunk


def test_height_and_mass_narrow_the_prior():
    system = rig.generic()
    loose, tight = size_prior(system), size_prior(system, 1.9, 90.0)
    assert (np.diag(tight.covariance) < 0.3 * np.diag(loose.covariance)).all()
    assert tight.mean[tight.names.index("thigh y")] > 0.05
    assert np.linalg.eigvalsh(tight.covariance).min() > 0


@pytest.mark.parametrize(
    ("name", "segment", "kind"),
    [
        ("R.ASIS", "pelvis", "anatomical"),
        ("LTHI", "thigh", "tracking"),
        ("RTH2", "thigh", "tracking"),
        ("L.Shank.Front", "shank", "tracking"),
        ("RLMAL", "shank", "anatomical"),
        ("RSH", "trunk", "anatomical"),
        ("RHJC", "pelvis", "computed"),
        ("Q17", "thigh", ""),
    ],
)
def test_kinds_of_markers(name, segment, kind):
    assert kind_by_name(name, segment) == kind


def test_scale_by_parameters():
    """A system whose factors are Parameters is the one that is scaled by their values."""
    system, rng = rig.generic(), np.random.default_rng(2)
    P = {b.name: [cd.Parameter(f"{b.name} {a}", 1.0) for a in "xyz"] for b in system.bodies}
    factors = {b: 1 + 0.1 * rng.uniform(-1, 1, 3) for b in P}
    values = {f"{b} {a}": float(factors[b][k]) for b in P for k, a in enumerate("xyz")}
    one, two = cd.scale(system, factors=P).system, cd.scale(system, factors=factors).system
    values = {n: x for n, x in values.items() if n in one.parameters}
    q, u = rig.walk(system, np.arange(3) / 10), rng.normal(size=(3, system.nu))
    np.testing.assert_allclose(
        one.inverse_dynamics(q, u, u, parameters=values),
        two.inverse_dynamics(q, u, u),
        rtol=1e-10,
        atol=1e-10,
    )
    stations = {n: two.marker(n).station for n in two.markers}
    walk = rig.seen(two, np.arange(3) / 10, q, rng, 0.0, 0.0)
    found = cd.inverse_kinematics(one, walk, state=one.state().replace(parameters=values), stations=stations)
    assert found.rms.max() < 1e-3  # noise of 0.3 mm
    with pytest.raises(cd.errors.DescriptionError, match=r"one cd\.Parameter, or three"):
        cd.scale(system, factors={"pelvis": [cd.Parameter("a", 1.0)] * 2})


def test_scale_by_parameters_with_muscles():
    """Fibers and tendons follow their paths, as in `cd.scale` with numbers; slopes against differences."""
    arm = cd.models.arm26()
    arm = arm.copy(forces={"TRIlong": None, "BIClong": None})  # over ellipsoids
    P = {b.name: [cd.Parameter(f"{b.name} {a}", 1.0) for a in "xyz"] for b in arm.bodies}
    made, rng = cd.scale(arm, factors=P), np.random.default_rng(4)
    sizes = {f"{b} {a}": 1 + 0.1 * rng.uniform(-1, 1) for b in P for a in "xyz"}
    sizes = {n: x for n, x in sizes.items() if n in made.system.parameters}
    given = made.parameters(sizes)
    one = made.system
    two = cd.scale(arm, factors={b: [sizes.get(f"{b} {a}", 1.0) for a in "xyz"] for b in P}).system
    for n in two.muscles:
        law = two.force(n)
        assert given[f"length of {n}"] == pytest.approx(
            law.optimal_fiber_length / arm.force(n).optimal_fiber_length, rel=1e-9
        )
    q, u = np.array([0.4, 0.9]), np.array([0.3, -1.0])
    np.testing.assert_allclose(
        one.path_lengths(q, parameters=given), two.path_lengths(q), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(
        one.forward_dynamics(q, u, parameters=given), two.forward_dynamics(q, u), rtol=1e-7
    )
    start, order, h = arm.state(), list(one.parameters), 1e-5
    slope = (
        one.jacobian("path_lengths", start.q, wrt="parameters", parameters=given)
        / start.path_lengths()[:, None]
    )
    for name in list(sizes)[:4]:
        up, down = (made.parameters({**sizes, name: sizes[name] + s * h}) for s in (1, -1))
        for k, n in enumerate(one.paths):
            difference = (up[f"length of {n}"] - down[f"length of {n}"]) / (2 * h)
            assert slope[k, order.index(name)] == pytest.approx(difference, rel=1e-5, abs=1e-7)
    with pytest.raises(cd.errors.UnknownNameError, match="humerus"):
        made.parameters({"humerus": 1.0})
    for wrong in (1.1, {name: 0.0}, {name: np.nan}, {name: "1.1"}, {name: (1.0, 1.1)}):
        with pytest.raises(cd.errors.DescriptionError, match=r"Scaling\.parameters: .*expected"):
            made.parameters(wrong)
    with pytest.warns(UserWarning, match="110, far from 1"):
        made.parameters({name: 110})
    with pytest.raises(cd.errors.DescriptionError, match="defaults that make them positive"):
        cd.scale(arm, factors={arm.bodies[0].name: cd.Parameter("size", 0.0)})


def test_scale_by_parameters_refuses_ellipsoids():
    arm = cd.models.arm26()
    with pytest.raises(cd.errors.DescriptionError, match="geodesics have no derivatives") as said:
        cd.scale(arm, factors={b.name: cd.Parameter("size", 1.0) for b in arm.bodies})
    assert "system.copy(forces={'TRIlong': None, 'BIClong': None})" in str(said.value)
