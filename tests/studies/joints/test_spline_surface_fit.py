"""fit_spline_surface: known surfaces of one to three coordinates come back, with q given or not; what noise
does."""

import numpy as np
import pytest
from scipy.interpolate import BSpline

import condyle as cd
from condyle.mobilizers.traced import motion_at
from condyle.spatial import exp_se3, exp_so3, log_se3
from condyle.studies.joints.fit_spline_surface import AXES, pose, values_of
from condyle.studies.joints.six_functions import inverse_left_jacobian
from condyle.studies.joints.spline_basis import Grid, basis, uniform_knots

MIXED = ("rz", "rx", "tx", "ry", "ty", "tz")
SIGMA = np.r_[np.full(3, np.radians(0.5)), np.full(3, 1e-3)]
METRIC = 1e-3 / np.radians(0.5)


def surface(shape, axes=AXES, seed=0):
    """A grid over -1 .. 1 and coefficients (size, 6) of a gentle joint whose last two functions are q1 (and
    q2)."""
    grid = Grid(tuple(uniform_knots(n, 4, (-1.0, 1.0)) for n in shape), 4)
    at, rng = grid.greville(), np.random.default_rng(seed)
    c = np.stack(
        [
            (0.03 if a[0] == "t" else 0.3) * (x + 0.3 * np.sin(2 * x) + 0.2 * at[:, 0] ** 2)
            for a, x in zip(axes, (at @ rng.normal(size=(len(shape), 6))).T, strict=True)
        ],
        1,
    )
    if axes == AXES:
        c[:, 6 - len(shape) :] = at
    return grid, c


def frames(grid, c, axes=AXES, N=200, seed=1):
    q = np.random.default_rng(seed).uniform(-1, 1, (N, len(grid.knots)))
    corners = np.stack(np.meshgrid(*[(-1.0, 1.0)] * len(grid.knots)), -1).reshape(-1, len(grid.knots))
    q[: len(corners)] = corners
    return q, pose(grid.evaluate(q, c), axes)[0]


def noisy(X, rng):
    return X @ exp_se3(rng.normal(size=(len(X.p), 6)) * SIGMA)


def test_b_splines_and_their_derivatives_are_scipys():
    rng = np.random.default_rng(0)
    for k in (4, 5, 6):
        t = np.r_[[0.0] * k, np.sort(rng.uniform(0, 1, 5)), [1.0] * k]
        q = np.r_[0.0, 1.0, rng.uniform(-0.1, 1.1, 20)]
        for nu in range(3):
            first, B = basis(q, t, k, nu)
            spline = (
                BSpline(t, np.eye(len(t) - k), k - 1).derivative(nu)
                if nu
                else BSpline(t, np.eye(len(t) - k), k - 1)
            )
            np.testing.assert_allclose(
                B, np.take_along_axis(spline(q), first[:, None] + np.arange(k), 1), rtol=1e-9, atol=1e-9
            )


@pytest.mark.parametrize("axes", [AXES, MIXED])
def test_poses_and_their_twists(axes):
    rng, h = np.random.default_rng(2), 1e-6
    phi = rng.uniform(-0.7, 0.7, (5, 6))
    X, S = pose(phi, axes)
    np.testing.assert_allclose(values_of(X, axes), phi, atol=1e-14)
    for j in range(6):
        ahead, back = (pose(phi + e * np.eye(6)[j], axes)[0] for e in (h, -h))
        np.testing.assert_allclose(
            np.asarray(log_se3(back.inverse() @ ahead)) / (2 * h), S[:, :, j], atol=1e-9
        )
    r, d = rng.normal(size=(5, 6)) * 0.3, rng.normal(size=6)
    change = np.asarray(log_se3(exp_se3(np.tile(h * d, (5, 1))) @ exp_se3(r)) - r) / h
    np.testing.assert_allclose((inverse_left_jacobian(r) @ d), change, atol=3e-6)  # first order in h


@pytest.mark.parametrize(
    ("shape", "axes"), [((7,), AXES), ((5, 6), AXES), ((5, 6), MIXED), ((4, 4, 5), AXES)]
)
def test_a_known_surface_comes_back(shape, axes, evidence):
    grid, c = surface(shape, axes)
    q, X = frames(grid, c, axes, 100 * len(shape))
    fit = cd.fit_spline_surface(X, q, shape, domain=(-1, 1), axes=axes)
    values = np.moveaxis(np.asarray(fit.mobilizer.values, float), 0, -1).reshape(-1, 6)
    # condition of the grid times rounding
    evidence(
        "spline surfaces of one to three coordinates fitted to their own frames: error of control "
        "values [m, rad]",
        np.abs(values - c).max(),
        1e-12,
        headline="spline fits",
    )
    assert max(fit.rms) < 1e-10 and fit.q.shape == (len(q), len(shape))[: 1 + (len(shape) > 1)]
    at = motion_at(fit.mobilizer, 0.0, q[9], np.zeros(len(shape)))
    np.testing.assert_allclose(at.R, X.R[9], atol=1e-12)
    np.testing.assert_allclose(np.ravel(at.p), X.p[9], atol=1e-12)


def test_a_constant_transform_before_it():
    grid, c = surface((5, 5))
    q, X = frames(grid, c)
    before = cd.Transform.of(exp_se3(np.array([0.3, 1.2, -0.4, 0.1, 0.2, 0.3])))
    fit = cd.fit_spline_surface(before @ X, q, 5, domain=(-1, 1), X=before)
    assert max(fit.rms) < 1e-10 and before == fit.mobilizer.X


def test_unknown_q_is_found():
    """Without q two of the functions are the coordinates: here those that were."""
    grid, c = surface((5, 6))
    q, X = frames(grid, c)
    fit = cd.fit_spline_surface(X, None, (5, 6), domain=(-1, 1))
    assert "ry, rz" in " ".join(fit.notes) and fit.mobilizer.units == ("rad", "rad")
    assert np.abs(fit.q - q).max() < 1e-10 and max(fit.rms) < 1e-10
    # From a poor q: affine functions of it are ry and rz, so the same surface with other coordinates.
    poor = q * (1.5, -2.0) + 0.05 * np.random.default_rng(4).normal(size=q.shape)
    fit = cd.fit_spline_surface(X, poor, (7, 7), project=True)
    # deg, mm: other knots than the truth's
    assert max(fit.rms) < 0.02
    assert np.abs(np.corrcoef(fit.q.T, poor.T)[[0, 1], [2, 3]]).min() > 0.99
    with pytest.raises(cd.errors.DescriptionError, match="little to do with the frames"):
        cd.fit_spline_surface(X, np.random.default_rng(5).normal(size=q.shape), 5, project=True)


@pytest.mark.parametrize("given", [True, False])
def test_noise_at_the_cramer_rao_level(given, evidence):
    """One coefficient costs sigma^2 / N; with q unknown two functions cost nothing, nor do errors along the
    surface."""
    grid, c = surface((5, 5))
    q, X = frames(grid, c, N=400)
    rng, errors = np.random.default_rng(6), []
    for _ in range(6):
        fit = cd.fit_spline_surface(
            noisy(X, rng), q if given else None, 5, domain=(-1.05, 1.05), metric=METRIC
        )
        other = Grid(fit.mobilizer.knots, 4)
        values = np.moveaxis(np.asarray(fit.mobilizer.values, float), 0, -1).reshape(-1, 6)
        Y, S = pose(other.evaluate(q, values), AXES)
        z = np.asarray(log_se3(Y.inverse() @ X)) / SIGMA
        if not given:
            along = (S @ other.gradient(q, values)) / SIGMA[:, None]
            z = z - (along @ (np.linalg.pinv(along) @ z[:, :, None]))[:, :, 0]
        errors.append((z * z).sum(1).mean())
    bound = (6 if given else 4) * 25 / len(q)
    evidence(
        f"noise of fitted spline surfaces, q {'given' if given else 'unknown'}, against the Cramer-Rao "
        "bound, relative",
        abs(np.sqrt(np.mean(errors) / bound) - 1),
        0.15,  # of 6 draws: 0.04
        headline="spline noise",
    )


def test_cells_without_frames_are_named_and_smoothed():
    grid, c = surface((8, 7))
    q, X = frames(grid, c, N=600)
    X = noisy(X, np.random.default_rng(7))
    keep = ~((q > (0.3, 0.2)).all(axis=1))
    with pytest.warns(UserWarning, match=r"do not determine . of 20 cells of q, \[0.2, 0.6\] x \[0.5, 1\]"):
        fit = cd.fit_spline_surface((X.R[keep], X.p[keep]), q[keep], (8, 7), domain=(-1, 1))
    at = pose(
        Grid(fit.mobilizer.knots, 4).evaluate(q, np.moveaxis(fit.mobilizer.values, 0, -1).reshape(-1, 6)),
        AXES,
    )[0]
    z = np.abs(np.asarray(log_se3(at.inverse() @ X)))
    assert z[~keep, :3].max() < np.radians(20) and z[~keep, 3:].max() < 0.02  # without smoothing: 160 deg
    smooth = cd.fit_spline_surface(X, q, (8, 7), domain=(-1, 1), smoothing=1e3)
    assert (
        np.abs(np.diff(smooth.mobilizer.values, 2, axis=1)).max()
        < np.abs(np.diff(fit.mobilizer.values, 2, axis=1)).max()
    )


def test_gimbal_lock_is_reported():
    grid, c = surface((5, 5))
    c[:, 4] *= 1.5
    q, X = frames(grid, c)
    with pytest.warns(UserWarning, match="second angle, ry, is 8. deg: near gimbal lock"):
        cd.fit_spline_surface(X, q, 5, domain=(-1, 1))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 3}, "n must be at least order"),
        ({"n": (5, 5, 5, 5)}, "one to three coordinates"),
        ({"domain": (-0.5, 1)}, r"frame \d+ has q\[0\]"),
        ({"domain": (1, 1)}, "domain: expected"),
        ({"n": 20}, "do not determine 400 coefficients"),
        ({"unknown_q": True}, "project=True"),
    ],
)
def test_mistakes(arguments, message):
    grid, c = surface((5, 5))
    q, X = frames(grid, c, N=60)
    with pytest.raises(cd.errors.CondyleError, match=message):
        cd.fit_spline_surface(X, q, **arguments)


@pytest.mark.parametrize("fit", [cd.fit_spline_surface, cd.fit_function_based])
def test_angles_wind_along_q(fit):
    """Two turns about z, frames in any order: angles follow their neighbors in q, not the frame before. (A
    residual of 70 deg was called finished.)"""
    q = np.random.default_rng(1).permutation(np.linspace(0, 1, 40))
    a = 4 * np.pi * q
    X = cd.Transform(exp_so3(a[:, None] * [0, 0, 1]), np.outer(q, [0.1, 0.2, 0.3]))
    # a screw: all six functions are linear
    assert max(fit(X, q, n=5).rms) < 1e-9


def test_angles_of_a_surface_wind_along_q():
    rng = np.random.default_rng(2)
    q = rng.uniform(0, 1, (4000, 2))
    X = cd.Transform(exp_so3(4 * np.pi * q[:, :1] * [0, 0, 1]), q @ [[0.1, 0.2, 0.3], [0.2, -0.1, 0.1]])
    assert max(cd.fit_spline_surface(X, q, n=4).rms) < 1e-9
