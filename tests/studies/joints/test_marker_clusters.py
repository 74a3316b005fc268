"""Bones from clusters of markers: exact without noise, the frame that SciPy finds with it, gaps, exchanged
markers."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import condyle as cd
from condyle.studies.joints import marker_positions
from tests.studies.joints.test_frames import N, knee

RNG = np.random.default_rng(5)
THIGH, SHANK = RNG.uniform(-0.08, 0.08, (4, 3)), RNG.uniform(-0.06, 0.06, (5, 3))


def measured(noise=0.0):
    """Places of the markers in the laboratory (N, m, 3), of thigh and shank."""
    R, p = knee()
    R_F = Rotation.from_rotvec(RNG.normal(0, 0.4, (N, 3))).as_matrix()
    p_F = RNG.normal(0, 0.3, (N, 3))
    R_M, p_M = R_F @ R, (R_F @ p[:, :, None])[:, :, 0] + p_F
    place = lambda R, p, r: r @ np.swapaxes(R, 1, 2) + p[:, None] + RNG.normal(0, noise, (N, len(r), 3))
    return place(R_F, p_F, THIGH), place(R_M, p_M, SHANK)


def test_clusters_give_the_frames_that_moved_them():
    R, p = knee()
    frames = cd.relative_frames(*measured(), reference_parent=THIGH, reference_child=SHANK, time=np.arange(N))
    np.testing.assert_allclose(frames.R, R, atol=1e-13)  # rounding over the size of a cluster
    np.testing.assert_allclose(frames.p, p, atol=1e-13)
    assert frames.residuals.values.max() < 1e-12
    # other frames on the bones: the same motion
    unknown = cd.relative_frames(*measured())
    turned = lambda R: Rotation.from_matrix(np.swapaxes(R[:-1], 1, 2) @ R[1:]).magnitude()
    np.testing.assert_allclose(turned(unknown.R), turned(R), atol=1e-13)


def test_with_noise_it_is_the_least_squares_of_scipy_and_the_residual_tells_the_noise():
    thigh, shank = measured(noise=1e-3)
    frames = cd.relative_frames(thigh, shank, reference_parent=THIGH, reference_child=SHANK)
    k = 7
    R_F, R_M = (
        Rotation.align_vectors(x[k] - x[k].mean(0), r - r.mean(0))[0].as_matrix()
        for x, r in ((thigh, THIGH), (shank, SHANK))
    )
    np.testing.assert_allclose(frames.R[k], R_F.T @ R_M, atol=1e-12)
    # 3 m numbers less 6 fitted, over m: rms of the distances 1 mm sqrt((3 m - 6) / m), 20 frames: within 15 %
    np.testing.assert_allclose(
        np.sqrt((frames.residuals.values**2).mean(0)), np.sqrt([6 / 4, 9 / 5]), rtol=0.15
    )


def test_markers_that_are_missing_and_frames_with_too_few():
    R, p = knee()
    thigh, shank = measured()
    thigh[3, 1] = shank[3, :2] = np.nan  # three are left
    shank[8, :3] = np.nan  # two
    thigh[11, :2] = np.nan
    with pytest.warns(UserWarning, match="2 of 20 frames have fewer than three markers.*frames 8, 11"):
        frames = cd.relative_frames(thigh, shank, reference_parent=THIGH, reference_child=SHANK)
    keep = np.delete(np.arange(N), [8, 11])
    np.testing.assert_allclose(frames.R, R[keep], atol=1e-13)
    np.testing.assert_allclose(frames.p, p[keep], atol=1e-13)
    assert (frames.source == keep).all() and np.isfinite(frames.residuals.values).all()


def test_markers_that_cannot_be_right():
    thigh, shank = measured()
    line = THIGH.copy()
    line[:] = np.outer([0, 1, 2, 3], (0.01, 0.02, 0.0))
    for arguments, message in (
        (((1e3 * thigh, shank), {}), "markers_parent are .* m apart: are positions in millimeters"),
        (((line + np.zeros((N, 1, 1)), shank), {}), "markers_parent are on one line"),
        (((thigh, shank), {"reference_child": SHANK * (1, 1, -1)}), "markers_child are a mirror image"),
        (
            ((thigh * np.where(np.arange(4) == np.arange(N)[:, None] % 4, np.nan, 1)[:, :, None], shank), {}),
            "markers_parent: no frame has all 4 markers",
        ),
    ):
        with pytest.raises(cd.errors.DescriptionError, match=message):
            cd.relative_frames(*arguments[0], **arguments[1])
    with pytest.raises(cd.errors.ShapeError, match=r"shape \(T, m, 3\) of m >= 3"):
        cd.relative_frames(thigh[:, :2], shank)
    with pytest.raises(cd.errors.ShapeError, match="20 frames, markers_child 19"):
        cd.relative_frames(thigh, shank[1:])
    shank[6, [0, 1]] = shank[6, [1, 0]]
    with pytest.warns(UserWarning, match="markers_child fit badly in frame 6: .* Were two exchanged"):
        cd.relative_frames(thigh, shank, reference_child=SHANK)


def test_positions_from_a_table(tmp_path):
    thigh, _ = measured()
    names = [f"T{i}_{a}" for i in range(4) for a in "xyz"]
    cd.Table(np.arange(N), names, 1e3 * thigh.reshape(N, -1), ["mm"] * 12).save(tmp_path / "walk.csv")
    found = marker_positions(cd.read_table(tmp_path / "walk.csv"), ("T0", "T1", "T2", "T3"))
    np.testing.assert_allclose(found, thigh, rtol=1e-15)
    with pytest.raises(cd.errors.UnknownNameError, match="'T5_x'"):
        marker_positions(cd.read_table(tmp_path / "walk.csv"), ("T5",))
