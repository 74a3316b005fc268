"""What people give by mistake, or in another form: it works, or is refused in words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import condyle as cd
from condyle.errors import ArgumentError, CondyleError
from condyle.spatial import rotation_y, rotation_z
from condyle.studies.joints import marker_positions
from condyle.studies.joints.measured_frames import MeasuredFrames

ANGLE = np.linspace(-1.9, 0, 40)
R = rotation_z(ANGLE) @ rotation_y(0.15 * np.sin(ANGLE))
P = np.stack([0.004 * np.sin(2 * ANGLE), -0.4 + 0.01 * np.cos(ANGLE), 0 * ANGLE], axis=1)
X = cd.Transform(R, P)
THIGH = np.array([[0.06, -0.15, 0.03], [0.07, -0.25, -0.03], [0.01, -0.2, 0.08], [0.08, -0.3, 0.02]])
SHANK = np.array([[0.05, -0.1, 0.03], [0.06, -0.2, -0.03], [0, -0.15, 0.07], [0.06, -0.25, 0.02]])
MARKERS = np.broadcast_to(THIGH, (40, 4, 3)), np.swapaxes(R @ SHANK.T, 1, 2) + P[:, None]


@pytest.fixture(scope="module")
def fit():
    return cd.fit_spline_curve(X, ANGLE, n=6)


def test_frames_of_scipy_and_of_files_are_frames(fit):
    """For fits and for spline curves alike."""
    rotation = Rotation.from_matrix(R)
    for frames in ((rotation, P), (list(rotation), P), MeasuredFrames(X)):
        same = cd.fit_spline_curve(frames, ANGLE, n=6).mobilizer
        assert np.abs(same.pose(ANGLE).R - fit.mobilizer.pose(ANGLE).R).max() < 1e-12
    some = slice(0, 40, 6)
    curve = cd.SplineCurve((R[some], P[some]))
    assert cd.SplineCurve(MeasuredFrames(cd.Transform(R[some], P[some]))) == curve
    assert np.abs(cd.SplineCurve((rotation[some], P[some])).pose(0.3).R - curve.pose(0.3).R).max() < 1e-12


def test_data_frames_of_pandas():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(
        np.c_[ANGLE, P, Rotation.from_matrix(R).as_quat()[:, [3, 0, 1, 2]]],
        columns=["flexion", "x", "y", "z", "qw", "qx", "qy", "qz"],
    )
    frames = cd.read_frames(table, q="flexion")
    assert np.abs(frames.R - R).max() < 1e-12 and np.array_equal(frames.q, ANGLE)
    assert cd.fit_spline_curve(X, table[["flexion"]], n=6).rms[1] < 0.1
    with pytest.raises(CondyleError, match=r"columns flexion, x, y, z.*write cd.read_frames\(table\)"):
        cd.fit_spline_curve(table, ANGLE)
    markers = pandas.DataFrame(MARKERS[0][:, 0], columns=["T1_x", "T1_y", "T1_z"])
    markers.insert(0, "time", np.arange(40) / 50)
    assert marker_positions(markers, ["T1"]).shape == (40, 1, 3)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: cd.fit_spline_curve((Rotation.from_matrix(R).as_quat(), P), ANGLE, n=6), "order x, y, z, w"),
        (
            lambda: cd.fit_spline_curve(X, np.random.default_rng(0).normal(size=40), n=5, smoothing=1e-3),
            "q does not determine the pose.*right column",
        ),
        (
            lambda: cd.fit_spline_curve((R, 1e3 * (P - P.mean(axis=0))), ANGLE, n=6),
            "Are the positions in meters",
        ),
        (lambda: cd.fit_spline_curve(X, ANGLE, n=6, unit="deg"), "seems to be in radians"),
        (
            lambda: cd.relative_frames(*MARKERS, reference_parent=SHANK, reference_child=THIGH),
            "markers_.* do not fit their arrangement: 4.1. mm",
        ),
    ],
)
def test_what_is_probably_wrong_is_named(call, says):
    with pytest.warns(UserWarning, match=says) as said:
        call()
    assert {warning.filename for warning in said} == {__file__}  # where the user's line is


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: cd.fit_spline_curve(X, ANGLE, n=5.5), "n: expected a whole number.*got 5.5"),
        (lambda: cd.fit_spline_curve(X, ANGLE, n="auto"), "n: expected a whole number.*got 'auto'"),
        (
            lambda: cd.fit_spline_curve(X, ANGLE, n=5, smoothing="auto"),
            "smoothing.*or None: chosen, got 'auto'",
        ),
        (
            lambda: cd.fit_spline_curve(X, ANGLE, n=5, smoothing=True),
            "smoothing: expected a number.*got True",
        ),
        (lambda: cd.fit_spline_curve(X, ANGLE, n=5, domain=3), r"domain: expected two numbers.*got 3"),
        (lambda: cd.fit_spline_curve(X, ANGLE, n=5, metric="rad"), "MassProperties.of"),
        (lambda: cd.fit_function_based(X, ANGLE, smoothing=-1), "smoothing: expected a number >= 0, got -1"),
        (
            lambda: cd.fit_function_based(X, ANGLE, smoothing=None),
            "smoothing: expected a number >= 0, got None",
        ),
        (lambda: cd.fit_function_based(X, ANGLE, domain=3), r"domain must be \(low, high\)"),
        (
            lambda: cd.fit_function_based(X, ANGLE, angles=(None,) * 3, translations=(None,) * 3),
            "have no .spline.",
        ),
        (lambda: cd.fit_function_based(X, independent="translation3"), "translation3 is not fit to be"),
        (lambda: cd.fit_spline_surface(X, ANGLE, n=5.5), "n must be at least order.*got n = 5.5"),
        (
            lambda: cd.fit_spline_surface(X, ANGLE, n=5, smoothing=-1),
            "smoothing: expected a number >= 0, got -1",
        ),
        (lambda: cd.fit_spline_surface(X, ANGLE, n=5, axes=("x",)), "axes: expected the six names tx"),
        (lambda: cd.fit_spline_surface(X, ANGLE, n=5, project="no"), "project: expected True or False"),
        (lambda: cd.relative_frames(*MARKERS, reference_parent=1e3 * THIGH), "reference.*millimeters"),
        (lambda: cd.relative_frames(*MARKERS, reference_thigh=THIGH), "did you mean reference_"),
        (lambda: marker_positions("knee.csv", ["T1"]), r"write cd.read_table\(path\)"),
        (
            lambda: marker_positions(cd.Table([0.0], ["T1_x"], [[1.0]]), "T1"),
            r"such as \('T1', 'T2', 'T3'\)",
        ),
        (lambda: cd.SplineCurve(R[::6], P[::6]), r"R and p are one argument, SplineCurve\(\(R, p\)\)"),
        (lambda: cd.SplineCurve(cd.Transform(R[::6], P[::6]), closed="no"), "closed must be True or False"),
        (lambda: cd.SplineCurve("knee.csv"), "cd.read_frames"),
        (lambda: cd.Pin().save(None), "expected the path of a file"),
    ],
)
def test_refusals(call, says):
    with pytest.raises((CondyleError, ArgumentError), match=says):
        call()


def test_what_a_fit_is_not(fit):
    """It is not the joint, but says where that is."""
    with pytest.raises(CondyleError, match=r"write fit.mobilizer"):
        cd.System().add_body("shank", mobilizer=fit, mass=1.0)
    with pytest.raises(AttributeError, match=r"fit.mobilizer.save\('knee.json'\)"):
        fit.save("knee.json")
    with pytest.raises(CondyleError, match=r"path="):
        fit.plot("knee.png")
    with pytest.raises(CondyleError, match=r"fit_q: X_FM: expected one pose, got 40"):
        fit.mobilizer.fit_q(X)


def test_a_metric_from_the_mass_properties_of_a_body(fit):
    """Its |s| is that of the kinetic energy: m |s|^2 / 2 for u = 1."""
    shank = cd.spatial.MassProperties.of(3.7, (0, -0.19, 0), (0.05, 0.005, 0.05))
    knee = cd.SplineCurve.natural((R[::6], P[::6]), metric=shank, coordinate="knee")
    system = cd.System()
    system.add_body("shank", mobilizer=knee, mass=3.7, com=(0, -0.19, 0), inertia=(0.05, 0.005, 0.05))
    kinetic, _ = system.energy([0.4], [1.0])
    assert kinetic == pytest.approx(3.7 * float(knee.speed(0.4)) ** 2 / 2, rel=1e-12)
