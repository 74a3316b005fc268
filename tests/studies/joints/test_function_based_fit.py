"""fit_function_based: known joints come back; which function is the coordinate; what noise does."""

import numpy as np
import pytest

import condyle as cd
from condyle.functions import BSpline, Linear
from condyle.mobilizers.traced import motion_at
from condyle.spatial import exp_se3, exp_so3, log_se3

DOMAIN = (-2.0, 0.2)
KNOTS = np.r_[[-2.0] * 3, np.linspace(-2.0, 0.2, 6), [0.2] * 3]
GREVILLE = np.array([KNOTS[j + 1 : j + 4].mean() for j in range(8)])
SIGMA = np.r_[np.full(3, np.radians(0.5)), np.full(3, 1e-3)]
METRIC = 1e-3 / np.radians(0.5)


def spline(f):
    return BSpline(KNOTS, f(GREVILLE), 3)


def poses(mobilizer, q):
    """R(a1, theta1) R(a2, theta2) R(a3, theta3) and p, seth2010 (18), from the functions themselves."""
    f = [
        np.zeros(len(q)) if law is None else np.broadcast_to(law(q) if callable(law) else law, len(q))
        for law in (*mobilizer.angles, *mobilizer.translations)
    ]
    a = np.array(mobilizer.axes)
    R1, R2, R3 = (exp_so3(f[j][:, None] * a[j]) for j in range(3))
    return cd.Transform(R1 @ R2 @ R3, np.stack(f[3:], 1) @ a[3:])


def apart(X, Y):
    """Largest angle [rad] and distance [m]."""
    z = np.asarray(log_se3(X.inverse() @ Y))
    return np.abs(z[:, :3]).max(), np.abs(z[:, 3:]).max()


@pytest.fixture(scope="module")
def knee():
    axes = [(0.1, 0.05, 1.0), "x", "y"]
    mobilizer = cd.FunctionBased(
        ("knee",),
        (Linear(1.0), spline(lambda x: 0.1 * np.sin(x)), spline(lambda x: 0.2 * x + 0.05 * x * x)),
        (
            spline(lambda x: -0.4 + 0.01 * x),
            spline(lambda x: 0.005 * np.cos(2 * x)),
            spline(lambda x: 0.003 * x * x),
        ),
        axes=axes,
    )
    q = np.sort(np.random.default_rng(1).uniform(*DOMAIN, 150))
    q[[0, -1]] = DOMAIN
    return mobilizer, axes, q, poses(mobilizer, q)


@pytest.mark.parametrize("given", [True, False])
def test_a_known_joint_comes_back(knee, given, evidence):
    truth, axes, q, X = knee
    fit = cd.fit_function_based(X, q if given else None, 8, axes=axes, domain=DOMAIN, coordinate="knee")
    evidence(
        "a knee of six functions fitted to its own frames, with and without q: error of poses [rad, m]",
        max(apart(poses(fit.mobilizer, q), X)),
        1e-13,
    )  # rounding
    assert np.abs(fit.q - q).max() < 1e-13
    assert max(fit.rms) < 1e-10 and fit.status == "finished"
    at, there = (motion_at(m, 0.0, [-1.2], [0.7]) for m in (fit.mobilizer, truth))
    for name in ("R", "p", "H_w", "H_v", "bias_w", "bias_v"):
        np.testing.assert_allclose(getattr(at, name), getattr(there, name), atol=1e-12)
    assert fit.independent == (None if given else "angle1") and fit.mobilizer.domains == (DOMAIN,)


def test_axes_are_a_choice_with_six_splines(knee):
    """With other axes the functions are others, and no splines on the same knots: the fit has their error
    alone."""
    *_, q, X = knee
    turned = X @ cd.Transform(exp_so3(np.array([0.3, -0.9, 0.4])))
    for frames in (X, turned):
        fit = cd.fit_function_based(frames, q, 12)
        assert max(fit.rms) < 1e-3  # deg, mm: error of 12 cubics
        a = np.array(fit.mobilizer.axes)
        assert abs(a[0] @ a[1]) < 1e-12 and abs(a[1] @ a[2]) < 1e-12
        second = fit.mobilizer.angles[1](q)
        third = fit.mobilizer.angles[2](q)
        # the first angle holds the motion: 2.2 rad
        assert np.ptp(second) < 0.12 and np.ptp(third) < 0.12


def test_fixed_functions_make_the_axes_known(knee):
    *_, q, _ = knee
    axes = [(0.1, 0.05, 1.0), "x", "y", (1, 0.1, 0.2), (0, 1, 0.1), "z"]
    pin = cd.FunctionBased(
        ("q",),
        (Linear(1.0), None, None),
        (spline(lambda x: -0.4 + 0.01 * x), spline(lambda x: 0.005 * np.cos(2 * x)), None),
        axes=axes,
    )
    X = poses(pin, q)
    for given in (q, None):
        fit = cd.fit_function_based(
            X, given, 8, domain=DOMAIN, angles=("spline", None, None), translations=("spline", "spline", None)
        )
        assert max(apart(poses(fit.mobilizer, fit.q), X)) < 1e-13
        np.testing.assert_allclose(fit.mobilizer.axes[0], pin.axes[0], atol=1e-12)
        assert fit.mobilizer.angles[1] is None and fit.mobilizer.translations[2] is None
    offset = X @ cd.Transform(exp_so3(np.array([0.3, -0.2, 0.4])))
    fit = cd.fit_function_based(offset, q, 8, domain=DOMAIN, angles=("spline", "constant", "constant"))
    assert max(apart(poses(fit.mobilizer, q), offset)) < 1e-13
    universal = cd.FunctionBased(
        ("q",),
        (Linear(1.0), spline(lambda x: 0.6 * np.sin(x)), None),
        (None,) * 3,
        axes=[(0.1, 0.05, 1), (1, 0.2, 0.3), "y"],
    )
    X = poses(universal, q)
    fit = cd.fit_function_based(
        X, None, 8, domain=DOMAIN, angles=("spline", "spline", None), translations=(None,) * 3
    )
    np.testing.assert_allclose(fit.mobilizer.axes[:2], universal.axes[:2], atol=1e-9)
    assert max(apart(poses(fit.mobilizer, fit.q), X)) < 1e-12


def test_the_flexion_angle_is_the_best_coordinate(knee):
    *_, q, X = knee
    noisy = X @ exp_se3(np.random.default_rng(2).normal(size=(len(q), 6)) * SIGMA)
    fit = cd.fit_function_based(noisy, n=6)
    best, second = fit.candidates[:2]
    assert fit.independent == best.name == "angle1" and best.score > 100 and second.score < 3
    assert best.low == pytest.approx(-2, abs=0.1) and best.high == pytest.approx(0.2, abs=0.1)
    assert "turns back" in fit.report() and "angle1" in fit.report()
    assert fit.mobilizer.angles[0] == Linear(1.0) and fit.mobilizer.units == ("rad",)
    with pytest.raises(cd.errors.DescriptionError, match="angle2 is not fit to be the coordinate"):
        cd.fit_function_based(noisy, independent="angle2")
    along = cd.fit_function_based(X, n=8, independent="translation1")  # noise-free it grows too
    assert (
        along.mobilizer.units == ("m",)
        and along.mobilizer.translations[0] == Linear(1.0)
        and max(along.rms) < 0.1
    )


def test_no_coordinate_for_a_path_that_turns_back_in_all_functions():
    t = np.linspace(0, 2 * np.pi, 100)
    circle = cd.Transform(None, np.stack([np.cos(t), np.sin(t), 0 * t], 1))
    with pytest.raises(cd.errors.DescriptionError, match="none of the functions is fit"):
        cd.fit_function_based(circle)


@pytest.mark.parametrize("given", [True, False])
def test_noise_at_the_cramer_rao_level(knee, given):
    """One coefficient per function costs sigma^2 / N; with q unknown, errors along the path do not count."""
    _, axes, q, X = knee
    rng, errors = np.random.default_rng(3), []
    for _ in range(8):
        noisy = X @ exp_se3(rng.normal(size=(len(q), 6)) * SIGMA)
        fit = cd.fit_function_based(noisy, q if given else None, 8, axes=axes, domain=DOMAIN, metric=METRIC)
        z = np.asarray(log_se3(poses(fit.mobilizer, q).inverse() @ X)) / SIGMA
        if not given:
            at = (poses(fit.mobilizer, x) for x in (q - 1e-4, q + 1e-4))
            s = np.asarray(log_se3(next(at).inverse() @ next(at))) / SIGMA
            z = z - s * ((z * s).sum(1) / (s * s).sum(1))[:, None]
        errors.append((z * z).sum(1).mean())
    bound = (6 if given else 5) * 8 / len(q)
    assert np.sqrt(np.mean(errors) / bound) == pytest.approx(1, abs=0.1)  # scatter of 8 draws: 0.03


def test_outliers_count_less_by_hubers_loss(knee):
    _, axes, q, X = knee
    rng = np.random.default_rng(5)
    noise = rng.normal(size=(len(q), 6)) * SIGMA
    # 5 in 100, of 10 deg and 20 mm
    noise[::20] *= 20
    X_noisy, error = X @ exp_se3(noise), {}
    for loss in ("squares", "huber"):
        fit = cd.fit_function_based(X_noisy, q, 8, axes=axes, domain=DOMAIN, metric=METRIC, loss=loss)
        z = np.asarray(log_se3(poses(fit.mobilizer, q).inverse() @ X)) / SIGMA
        error[loss] = np.sqrt((z * z).sum(1).mean())
    assert error["huber"] < 0.4 * error["squares"]
    assert error["huber"] < 1.5 * np.sqrt(6 * 8 / len(q))  # as if there were none
    assert "Huber" in " ".join(fit.notes)


def test_an_interval_without_frames_is_named(knee):
    *_, q, X = knee
    keep = (q < -1.5) | (q > -0.4)
    with pytest.warns(UserWarning, match=r"do not determine the functions in \d interval.*\[-1.\d+, -"):
        fit = cd.fit_function_based((X.R[keep], X.p[keep]), q[keep], 12, domain=DOMAIN)
    assert max(apart(poses(fit.mobilizer, q), X)) < 0.1  # bridged smoothly


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 3}, "n, the number of coefficients"),
        ({"order": 3}, "order at least 4"),
        ({"angles": ("spline", "spline")}, "must be three"),
        ({"angles": ("spline", "splin", None)}, "spline"),
        ({"translations": (None, True, None)}, r"translations\[1\]"),
        ({"domain": (1, 1)}, "domain must be"),
        ({"independent": "angle4"}, "angle4"),
        ({"independent": "angle3", "angles": ("spline", "spline", None)}, "is fixed"),
        ({"axes": ("x",)}, "axes must be three"),
        ({"splines": 4}, "it is n"),
        ({"metric": -1.0}, "length > 0"),
        ({"loss": "hubr"}, "'squares' or 'huber'"),
        ({"scale": 1.0}, "for loss='huber'"),
    ],
)
def test_mistakes(knee, arguments, message):
    with pytest.raises(cd.errors.CondyleError, match=message):
        cd.fit_function_based(knee[3], **arguments)


def test_the_joint_is_a_text_file(knee, tmp_path):
    fit = cd.fit_function_based(knee[3], n=6, translations=("spline", "constant", 0.004))
    fit.mobilizer.save(tmp_path / "knee.json")
    assert cd.read_mobilizer(tmp_path / "knee.json") == fit.mobilizer
