"""`cd.fit_spline_curve`: known joints are found again."""

import numpy as np
import pytest

import condyle as cd
from condyle.mobilizers.traced import motion_at
from condyle.spatial import Metric, exp_se3, log_se3
from condyle.studies.joints.curve_least_squares import CurveProblem, motion, poses, rows_of_poses
from condyle.studies.joints.spline_basis import CurveKnots, uniform_knots
from tests.studies.joints.knee import DEGREE, LENGTH, MILLIMETER, control_frames, noisy


def sampled(curve, q):
    """Frames of a joint at q, by the mobilizer's own equations, one by one."""
    at = [motion_at(curve, 0.0, [x], [0.0]) for x in q]
    return cd.Transform(np.array([X.R for X in at]), np.array([np.ravel(X.p) for X in at]))


@pytest.fixture(scope="module")
def knee():
    """A curve of 9 control frames, q of 60 frames, and the frames."""
    q = np.random.default_rng(0).uniform(0, 1, 60)
    q[:2] = 0, 1
    curve = cd.SplineCurve(control_frames(9))
    return curve, q, sampled(curve, q)


@pytest.mark.parametrize(("order", "closed"), [(4, False), (4, True), (5, False), (6, True)])
def test_a_known_curve_is_found_again(order, closed, evidence):
    q = np.random.default_rng(1).uniform(0, 1, 70)
    q[:2] = 0, 1 - 1e-3 * closed
    truth = cd.SplineCurve(control_frames(9, closed), order, closed)
    fit = cd.fit_spline_curve(
        sampled(truth, q), q, n=9, order=order, closed=closed, domain=(0, 1) if closed else None
    )
    worst = max(np.abs(a - b).max() for a, b in zip(fit.mobilizer.frames, truth.frames))
    # rounding of 70 frames, and the condition of the splines, about 100 for order 5
    assert len(fit.steps) <= 5 and fit.status == cd.Status.FINISHED
    assert fit.residuals["distance"].max() < 1e-10 and fit.residuals["angle"].max() < 1e-10
    # the joint has the frames that the fit had
    np.testing.assert_allclose(sampled(fit.mobilizer, q[:5]).p, fit.frames.p[:5], atol=1e-13)
    evidence(
        f"{'a closed' if closed else 'an open'} spline curve of order {order} fitted to its own frames: "
        "error of control frames [m, 1]",
        worst,
        1e-12,
        headline="spline fits",
    )


def test_scatter_is_at_the_cramer_rao_bound(knee, evidence):
    """Over many draws the path scatters as the inverse of the normal equations says, no more."""
    curve, q, X = knee
    rng = np.random.default_rng(2)
    knots, G = CurveKnots(curve.knots, 4, False), rows_of_poses(curve.frames)

    def moves(at):
        """How far frames of the path go as control frames move, by differences, shape (m, 6, 54)."""
        ahead, back = (
            [poses(knots, CurveProblem.moved(G, 1e-6 * s * u.reshape(9, 6)), at) for u in np.eye(54)]
            for s in (1, -1)
        )
        return np.stack([log_se3(b.inverse() @ a) / 2e-6 for a, b in zip(ahead, back)], axis=-1)

    sigma, at = np.repeat([DEGREE, MILLIMETER], 3), np.linspace(0, 1, 15)
    J = (moves(q) / sigma[:, None]).reshape(-1, 54)
    covariance, J = np.linalg.inv(J.T @ J), moves(at)
    bound = np.einsum("nij,jk,nik->ni", J, covariance, J)
    fits = [cd.fit_spline_curve(noisy(X, rng), q, n=9, metric=LENGTH).mobilizer for _ in range(80)]
    truth = poses(knots, G, at)
    errors = np.array([log_se3(truth.inverse() @ poses(knots, rows_of_poses(f.frames), at)) for f in fits])
    ratio = np.array(
        [np.sqrt((errors[..., part] ** 2).mean() / bound[:, part].mean()) for part in (slice(3), slice(3, 6))]
    )
    # 80 draws of 27 numbers each: the scatter itself scatters by 1.5 %; seed 2
    evidence(
        "noise of fitted spline curves against the Cramer-Rao bound, relative, the larger of rotation "
        "and position",
        np.abs(ratio - 1).max(),
        0.05,
        headline="spline noise",
    )


def test_derivatives_of_the_kernels_are_exact(knee):
    """M and g of residual and Hessian kernels against central differences of the residuals."""
    curve, q, X = knee
    rng = np.random.default_rng(3)
    knots = CurveKnots(uniform_knots(9, 4, (0.0, 1.0)), 4, False)
    G, U = rows_of_poses(curve.frames @ exp_se3(0.1 * rng.normal(size=(9, 6)))), Metric.of(0.1).root
    problem = CurveProblem(knots, rows_of_poses(X), q, U, np.ones(len(q)), smoothing=1e-3)
    points, w = knots.quadrature()

    def errors(u):
        moved = CurveProblem.moved(G, u.reshape(9, 6))
        r = log_se3(poses(knots, moved, q).inverse() @ X) @ U.T
        h = motion(knots, moved, points)[2] @ U.T * np.sqrt(1e-3 * w)[:, None]
        return np.concatenate([r.ravel(), h.ravel()])

    step = 1e-5
    J = np.stack([(errors(step * e) - errors(-step * e)) / (2 * step) for e in np.eye(54)], axis=1)
    e = errors(np.zeros(54))
    cost, M, g, _ = problem.evaluate(G)
    u = problem.solve(M, g).ravel()
    exact = np.linalg.solve(J.T @ J, -J.T @ e)
    assert cost == pytest.approx(e @ e, rel=1e-12)
    # differences lose 1e-10 of J, the normal equations amplify that by their condition, 1e4
    np.testing.assert_allclose(u, exact, atol=1e-5 * np.abs(exact).max())


def test_result(knee, tmp_path):
    _, q, X = knee
    fit = cd.fit_spline_curve(noisy(X, np.random.default_rng(4)), q, n=9, coordinate="flexion", unit="rad")
    table = fit.residuals
    assert table.names == ("flexion", "angle", "distance", "size") and table.units == (
        "rad",
        "deg",
        "mm",
        "mm",
    )
    left = sampled(fit.mobilizer, q)
    np.testing.assert_allclose(
        table["distance"], 1e3 * np.linalg.norm(fit.frames.p - left.p, axis=1), atol=1e-9
    )
    worst = fit.worst(3)
    assert list(worst["size"]) == sorted(table["size"], reverse=True)[:3]
    assert list(worst.time) == list(np.argsort(-table["size"])[:3])
    fit.mobilizer.save(tmp_path / "knee.json")
    assert cd.read_mobilizer(tmp_path / "knee.json") == fit.mobilizer
    rates = fit.rates(5)
    np.testing.assert_allclose(rates["|s|"], fit.mobilizer.speed(rates["flexion"]), rtol=1e-12)
    text = fit.report()
    assert "9 control frames, order 4" in text and "worst frames" in text
    figure = fit.plot()
    assert len(figure.axes) == 6
    import matplotlib.pyplot as plt

    plt.close(figure)


@pytest.fixture(scope="module")
def natural():
    """A curve of 9 control frames at a constant pace, and 200 frames on it, in no order of q."""
    curve = cd.SplineCurve.natural(control_frames(9), metric=LENGTH)
    q = np.random.default_rng(5).uniform(0, 1, 200)
    q[:2] = 0, 1
    return curve, q, sampled(curve, q)


@pytest.mark.filterwarnings("ignore:fit_spline_curve. the frames seem to be in no order")
def test_unknown_q_without_noise(natural, evidence):
    curve, q, X = natural
    fit = cd.fit_spline_curve(X, knots=curve.knots, metric=LENGTH)
    worst = fit.residuals["size"].max()
    # [mm]; the path is found, and q but for its direction
    assert worst < 1e-9
    assert min(np.abs(fit.q - q).max(), np.abs(1 - fit.q - q).max()) < 2e-2
    evidence(
        "frames on a spline curve, without their q: distance of the fitted curve from them [mm]", worst, 1e-9
    )


@pytest.mark.filterwarnings("ignore:fit_spline_curve. the frames seem to be in no order")
def test_unknown_q_with_noise(natural):
    _, q, X = natural
    fit = cd.fit_spline_curve(noisy(X, np.random.default_rng(6)), n=7, metric=LENGTH)
    # of six components of noise the one along the path goes into q; 42 numbers are fitted to 1000
    expected = 1e3 * MILLIMETER * np.sqrt(5) * np.sqrt(1 - 42 / 1000)
    assert np.sqrt((fit.residuals["size"] ** 2).mean()) == pytest.approx(expected, rel=0.1)
    speed = fit.mobilizer.speed(np.linspace(0.05, 0.95, 50))
    assert np.ptp(speed) < 0.1 * speed.mean()  # natural parameter
    assert abs(np.corrcoef(fit.q, q)[0, 1]) > 0.999


@pytest.mark.parametrize("closed", [False, True])
def test_unknown_q_of_paths_that_turn_far(closed):
    """Two turns about an axis, where logarithms are no coordinates; and a loop. In order, but not at one
    pace."""
    t = np.linspace(0, 1, 250, endpoint=not closed)
    a = 2 * np.pi * (t + 0.03 * np.sin(2 * np.pi * t))
    zero = 0 * a
    z = np.stack([zero, zero, zero, 0.1 * np.cos(a), 0.1 * np.sin(a), 0.02 * np.cos(2 * a)], axis=1)
    X = exp_se3(z) @ exp_se3(
        np.stack([zero, zero, (2 - closed) * a, zero, zero, 0.01 * a * (1 - closed)], axis=1)
    )
    fit = cd.fit_spline_curve(noisy(X, np.random.default_rng(11)), n=20, closed=closed, metric=LENGTH)
    assert np.sqrt((fit.residuals["size"] ** 2).mean()) == pytest.approx(
        1e3 * MILLIMETER * np.sqrt(5), rel=0.1
    )
    speed = fit.mobilizer.speed(np.linspace(0.1, 0.9, 50))
    assert np.ptp(speed) < 0.1 * speed.mean()


@pytest.mark.filterwarnings("ignore:fit_spline_curve. the frames seem to be in no order")
def test_outliers(knee):
    _, q, X = knee
    rng = np.random.default_rng(7)
    frames = noisy(X, rng)
    hit = rng.permutation(len(q))[:4]
    z = np.zeros((len(q), 6))
    z[hit] = rng.normal(size=(4, 6)) * np.repeat([np.radians(10), 20e-3], 3)
    frames = frames @ exp_se3(z)
    error = {}
    for loss in ("squares", "huber"):
        fit = cd.fit_spline_curve(frames, q, n=6, metric=LENGTH, loss=loss)
        error[loss] = Metric.of(LENGTH).norm(log_se3(sampled(fit.mobilizer, q).inverse() @ X)).mean()
    assert error["huber"] < 0.5 * error["squares"], error
    assert set(fit.worst(4).time) == set(hit)
    assert "Huber loss, linear from" in fit.report()
    free = cd.fit_spline_curve(frames, n=6, metric=LENGTH, loss="huber")  # q unknown
    assert set(free.worst(4).time) == set(hit) and abs(np.corrcoef(free.q, q)[0, 1]) > 0.99
    tight = cd.fit_spline_curve(frames, q, n=6, metric=LENGTH, loss="huber", scale=1e3)
    plain = cd.fit_spline_curve(frames, q, n=6, metric=LENGTH)
    np.testing.assert_allclose(tight.mobilizer.frames.p, plain.mobilizer.frames.p, atol=1e-9)  # never linear


def test_geometric_iteration_ends_at_the_same_curve(knee):
    """lee2008 (32)-(36) comes near, in more steps; Gauss-Newton does the rest."""
    _, q, X = knee
    frames = noisy(X, np.random.default_rng(8))
    fit, other = (
        cd.fit_spline_curve(frames, q, n=7, method=method) for method in ("gauss-newton", "geometric")
    )
    np.testing.assert_allclose(fit.mobilizer.frames.p, other.mobilizer.frames.p, atol=1e-10)
    assert not other.steps["exact"].all() and fit.steps["exact"].all()
    assert (np.diff(other.steps["cost"]) <= 0).all()


def test_smoothing_bends_less_and_less(knee):
    _, q, X = knee
    frames = noisy(X, np.random.default_rng(9))
    bent, left = [], []
    for w in (0.0, 1e-4, 1e-2, 1.0):
        fit = cd.fit_spline_curve(frames, q, n=12, smoothing=w)
        bent.append((fit.rates(60)["|ds|"] ** 2).mean())
        left.append((fit.residuals["size"] ** 2).mean())
    assert (np.diff(bent) < 0).all() and (np.diff(left) > 0).all()


def test_more_control_frames_than_data():
    """lee2008 section 6.3: ten frames, sixteen control frames; smoothing determines what the data leave open."""
    q = np.linspace(0, 2, 10)
    rng = np.random.default_rng(1)
    turn = np.stack([0.1 * q, 0 * q, -q], axis=1) + rng.normal(0, 0.01, (10, 3))
    frames = cd.Transform(cd.spatial.exp_so3(turn), np.stack([0.02 * np.sin(q), 0 * q, 0 * q], axis=1))
    at, bending = np.linspace(0, 2, 400), {}
    for n, smoothing in ((10, 0.0), (16, 1e-9)):
        fit = cd.fit_spline_curve(frames, q, n=n, smoothing=smoothing)
        X = fit.mobilizer.pose(q)
        # it interpolates: what the smallest weight leaves is far below the noise
        assert np.abs(X.p - frames.p).max() < 1e-6
        assert np.abs(X.R - frames.R).max() < 1e-5
        R = fit.mobilizer.pose(at).R
        bending[n] = np.square(np.diff(R, 2, axis=0)).sum()
    assert bending[16] < bending[10]
    with pytest.raises(cd.errors.DescriptionError, match="10 times as many with smoothing > 0"):
        cd.fit_spline_curve(frames, q, n=16)


def test_cross_validation(knee):
    _, q, X = knee
    shares = []
    fit = cd.fit_spline_curve(
        noisy(X, np.random.default_rng(10)),
        q,
        n=(5, 12),
        smoothing=(0, 1e-3, 0.1),
        metric=LENGTH,
        progress=shares.append,
    )
    table = fit.cross_validation
    assert table.names == ("n", "smoothing", "error", "median") and len(table) == 6 and table.over == "trial"
    ratio = table["median"] / table["error"]  # of sizes of vectors that are normal in six or fewer directions
    assert (ratio > 0.3).all() and (ratio < 1.0).all()
    best = int(table["error"].argmin())
    assert len(fit.mobilizer.frames.p) == table["n"][best]
    assert f"smoothing {table['smoothing'][best]:g}" in fit.report()
    assert shares == sorted(shares) and shares[-1] == 1.0
    # what was chosen is near the best that could be known from the truth
    errors = [
        Metric.of(LENGTH).norm(log_se3(sampled(f.mobilizer, q).inverse() @ X)).mean()
        for f in (
            fit,
            *(
                cd.fit_spline_curve(fit.frames, q, n=int(n), smoothing=w, metric=LENGTH)
                for n, w in table.values[:, :2]
            ),
        )
    ]
    assert errors[0] < 1.3 * min(errors)


def test_interrupted(knee):
    _, q, X = knee

    def stop(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cd.fit_spline_curve(X, q, n=(5, 6), progress=stop)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n": 55}, "do not determine control frame"),
        ({"n": 3}, "n: expected a whole number from 4 to 60, at most as many as there are frames"),
        ({"n": 61}, "at most as many as there are frames"),
        ({"order": 3}, "order: expected a whole number from 4 to 12, got 3"),
        ({"closed": True}, "a closed curve needs its period: domain="),
        ({"domain": (0.1, 1)}, "q goes from 0 to 1, beyond the domain from 0.1 to 1"),
        ({"loss": "hubert"}, "loss: expected 'squares' or 'huber', got 'hubert'"),
        ({"scale": 0.1}, "scale = 0.1 must be a length > 0"),
        ({"smoothing": -1.0}, "smoothing: expected a number >= 0"),
        ({"smoothing": "much"}, "smoothing: expected a number >= 0"),
        ({"knots": [0, 1, 2]}, "knots: expected at least 8 numbers"),
        ({"control_frames": 5}, "it is n="),
        ({"metric": -1}, "metric"),
    ],
)
def test_mistakes(knee, options, words):
    _, q, X = knee
    with pytest.raises(cd.errors.DescriptionError, match=words.replace("(", r"\(")):
        cd.fit_spline_curve(X, q, **options)


def test_given_knots(knee):
    curve, q, X = knee
    fit = cd.fit_spline_curve(X, q, knots=curve.knots)
    np.testing.assert_allclose(fit.mobilizer.frames.p, curve.frames.p, atol=1e-13)
    with pytest.raises(cd.errors.DescriptionError, match="13 knots are for n = 9 control frames, got n = 8"):
        cd.fit_spline_curve(X, q, n=8, knots=curve.knots)
