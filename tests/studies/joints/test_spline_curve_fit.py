"""`cd.fit_spline_curve`: known joints are found again."""
import numpy as np
import pytest

import condyle as cd
from condyle.mobilizers.base import motion_at
from condyle.spatial import Metric, exp_se3, log_se3
from condyle.studies.joints import local
from condyle.studies.joints.knots import Knots, uniform_knots
from condyle.studies.joints.least_squares import CurveProblem, motion, poses
from tests.studies.joints.knee import DEGREE, LENGTH, MILLIMETRE, control_frames, noisy


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


@pytest.mark.parametrize(("order", "closed"), [(4, False), (4, True), (5, False)])
def test_a_known_curve_is_found_again(order, closed, evidence):
    q = np.random.default_rng(1).uniform(0, 1, 70)
    q[:2] = 0, 1 - 1e-3 * closed
    truth = cd.SplineCurve(control_frames(9, closed), order, closed)
    fit = cd.fit_spline_curve(sampled(truth, q), q, n=9, order=order, closed=closed,
                              domain=(0, 1) if closed else None)
    worst = max(np.abs(a - b).max() for a, b in zip(fit.mobilizer.frames, truth.frames))
    # rounding of 70 frames, and the condition of the splines, about 100 for order 5
    assert worst < 1e-12
    assert len(fit.steps) <= 5 and fit.status == cd.Status.FINISHED
    assert fit.residuals["distance"].max() < 1e-10 and fit.residuals["angle"].max() < 1e-10
    # the joint has the frames that the fit had
    np.testing.assert_allclose(sampled(fit.mobilizer, q[:5]).p, fit.frames.p[:5], atol=1e-13)
    evidence(f"a spline curve of order {order}{', closed,' if closed else ''} fitted to its own frames: "
             "error of "
             "control frames [m, 1]", worst, 1e-12)


def test_scatter_is_at_the_cramer_rao_bound(knee, evidence):
    """Over many draws the control frames scatter as the inverse of the normal equations says, no more."""
    curve, q, X = knee
    rng = np.random.default_rng(2)
    metric = Metric.of(LENGTH)
    knots = Knots(uniform_knots(9, 4, False, (0.0, 1.0)), 4, False)
    G = local.numbers(curve.frames)
    at = np.linspace(0, 1, 15)
    J = np.zeros((len(at), 6, 54))                           # of the path's frames, by differences
    for j in range(54):
        u = np.zeros(54)
        u[j] = 1e-6
        a, b = (poses(knots, CurveProblem.moved(G, s * u.reshape(9, 6)), at) for s in (-1, 1))
        J[:, :, j] = log_se3(a.inverse() @ b) / 2e-6
    J_data = np.zeros((len(q), 6, 54))
    for j in range(54):
        u = np.zeros(54)
        u[j] = 1e-6
        a, b = (poses(knots, CurveProblem.moved(G, s * u.reshape(9, 6)), q) for s in (-1, 1))
        J_data[:, :, j] = log_se3(a.inverse() @ b) / 2e-6
    sigma = np.repeat([DEGREE, MILLIMETRE], 3)
    whitened = (J_data / sigma[:, None]).reshape(-1, 54)
    covariance = np.linalg.inv(whitened.T @ whitened)
    bound = np.sqrt(np.einsum("nij,jk,nik->ni", J, covariance, J)[:, [0, 1, 2]].mean()), np.sqrt(
        np.einsum("nij,jk,nik->ni", J, covariance, J)[:, 3:].mean())
    errors = []
    truth = poses(knots, G, at)
    for _ in range(100):
        fit = cd.fit_spline_curve(noisy(X, rng), q, n=9, metric=metric)
        found = poses(knots, local.numbers(fit.mobilizer.frames), at)
        errors.append(log_se3(truth.inverse() @ found))
    scatter = [np.sqrt((np.array(errors)[..., part] ** 2).mean()) for part in (slice(3), slice(3, 6))]
    ratio = np.array(scatter) / bound
    # 100 draws of some 20 independent numbers each: 2 % of scatter of the scatter, seed 2
    assert np.abs(ratio - 1).max() < 0.05
    evidence("noise of fitted spline curves, beside the Cramer-Rao bound: 1 - ratio, the larger of rotation "
             "and "
             "position", np.abs(ratio - 1).max(), 0.05)


def test_derivatives_of_the_kernels_are_exact(knee):
    """M and g of residual and Hessian kernels against central differences of the residuals."""
    curve, q, X = knee
    rng = np.random.default_rng(3)
    knots = Knots(uniform_knots(9, 4, False, (0.0, 1.0)), 4, False)
    G, U = local.numbers(curve.frames @ exp_se3(0.1 * rng.normal(size=(9, 6)))), Metric.of(0.1).root
    problem = CurveProblem(knots, local.numbers(X), q, U, np.ones(len(q)), smoothing=1e-3)
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
    assert table.names == ("flexion", "angle", "distance", "size") and table.units == ("rad", "deg", "mm",
                                                                                       "mm")
    left = sampled(fit.mobilizer, q)
    np.testing.assert_allclose(table["distance"], 1e3 * np.linalg.norm(fit.frames.p - left.p, axis=1),
                               atol=1e-9)
    worst = fit.worst(3)
    assert list(worst["size"]) == sorted(table["size"], reverse=True)[:3]
    assert list(worst.time) == list(np.argsort(-table["size"])[:3])
    worst.save(tmp_path / "worst.csv")
    again = cd.read_table(tmp_path / "worst.csv")
    assert again.over == "frame" and np.array_equal(again.values, worst.values)
    rates = fit.rates(5)
    np.testing.assert_allclose(rates["|s|"], fit.mobilizer.speed(rates["flexion"]), rtol=1e-12)
    text = fit.report()
    assert "9 control frames, order 4" in text and "worst frames" in text
    figure = fit.plot()
    assert len(figure.axes) == 6
    import matplotlib.pyplot as plt

    plt.close(figure)
