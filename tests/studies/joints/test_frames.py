"""Measured frames: what is refused by name, what is repaired with a warning, what comes back unchanged."""

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import condyle as cd
from condyle.studies.joints.measured_frames import MeasuredFrames, check_frames

N = 20
ANGLES = np.linspace(-1.5, 0.1, N)


def knee(angle=ANGLES):
    """Poses of a rolling hinge: R (n, 3, 3), p (n, 3) [m]."""
    R = Rotation.from_rotvec(np.outer(angle, (0.1, 0.05, 1.0))).as_matrix()
    return R, np.column_stack([0.005 * np.sin(angle), -0.4 + 0.01 * angle**2, 0.002 * angle])


def test_every_form_of_frames_is_the_same():
    R, p = knee()
    matrices = np.zeros((N, 4, 4))
    matrices[:, :3, :3], matrices[:, :3, 3], matrices[:, 3, 3] = R, p, 1
    quaternions = np.roll(Rotation.from_matrix(R).as_quat(), 1, axis=1)
    quaternions[::3] *= -1  # jumps of sign mean nothing
    forms = [cd.Transform(R, p), (R, p), matrices, [cd.Transform(*X) for X in zip(R, p)], (quaternions, p)]
    for form in forms:
        frames = check_frames("fit", form, ANGLES)
        np.testing.assert_allclose(frames.R, R, atol=4e-16)  # rounding of one quaternion
        np.testing.assert_array_equal(frames.p, p)
        np.testing.assert_array_equal(frames.q, ANGLES)
    assert check_frames("fit", frames) == frames  # q of the frames themselves
    assert len(frames[2:5]) == 3 and (frames[2:5].source == [2, 3, 4]).all()
    assert "20 frames; q from -1.5 to 0.1" in repr(frames)


def reflected(R, p):
    R[:, :, 0] *= -1
    return {}


def one_reflected(R, p):
    R[7, :, 2] *= -1
    return {}


def scaled(R, p):
    R *= 1000
    return {}


def skewed(R, p):
    R[4, 0] = R[4, 1]
    return {}


def millimeters(R, p):
    p *= 1000
    return {}


def wrong_column(R, p):
    return {"q": np.tile([0.1, 0.2], N // 2)}


def still(R, p):
    return {"q": np.full(N, 0.3)}


def half_a_turn(R, p):
    R[9:] = R[9:] @ Rotation.from_rotvec((0, 0, 3.1)).as_matrix()
    return {"q": None}


def copies(R, p):
    R[:], p[:] = R[0], p[0]
    return {"q": None}


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (reflected, "all frames are reflections"),
        (one_reflected, "frame 7: reflections"),
        (scaled, "frame .*its axes have length 1000"),
        (skewed, "frame 4: R is not a rotation"),
        (millimeters, "frame 18 is 400 m from F: are they in millimeters"),
        (wrong_column, "frames 0 and 18 both have q = 0.1.*is q the right column"),
        (still, "q is 0.3 in all 20 frames"),
        (half_a_turn, "from frame 8 to frame 9 the rotation is 17. deg"),
        (copies, "all 20 frames are the same pose"),
    ],
)
def test_frames_that_cannot_be_right_are_refused_by_name(spoil, message):
    R, p = knee()
    options = {"q": ANGLES} | spoil(R, p)
    with pytest.raises(cd.errors.DescriptionError, match=message):
        check_frames("fit", (R, p), **options)


def test_shapes_and_counts_are_refused():
    R, p = knee()
    with pytest.raises(cd.errors.DescriptionError, match=r"got 20 frame.s., needs at least 30"):
        check_frames("fit", (R, p), ANGLES, fewest=30)
    for frames, message in (
        ((R, p[:5]), re.escape("p of shape (5, 3)")),
        (R, re.escape("got shape (20, 3, 3)")),
    ):
        with pytest.raises(cd.errors.ShapeError, match=message):
            check_frames("fit", frames)
    with pytest.raises(cd.errors.ShapeError, match=re.escape("q has shape (5,); 20 frames need (20,)")):
        check_frames("fit", (R, p), ANGLES[:5])
    with pytest.raises(cd.errors.DescriptionError, match=r"cd\.read_frames"):
        check_frames("fit", "knee.csv")
    with pytest.raises(cd.errors.DescriptionError, match=r"frame 3: the quaternion .* has length 0.5"):
        check_frames("fit", (np.array([[1.0, 0, 0, 0]] * 3 + [[0.5, 0, 0, 0]]), np.zeros((4, 3))))


def test_what_can_be_repaired_is_repaired_with_a_warning():
    R, p = knee()
    few_digits = np.round(R, 3)
    with pytest.warns(UserWarning, match="not quite orthogonal.*the worst is frame"):
        frames = check_frames("fit", (few_digits, p), ANGLES)
    np.testing.assert_allclose(frames.R, R, atol=1e-3)  # three digits were given
    np.testing.assert_allclose(
        np.swapaxes(frames.R, 1, 2) @ frames.R, np.tile(np.eye(3), (N, 1, 1)), atol=1e-14
    )

    gone = p.copy()
    gone[[3, 8]] = np.nan
    with pytest.warns(UserWarning, match="2 of 20 frames have a number that is missing.*frames 3, 8"):
        frames = check_frames("fit", (R, gone), ANGLES)
    assert len(frames) == 18 and frames.source[3] == 4 and frames.q[3] == ANGLES[4]

    with pytest.warns(UserWarning, match="in no order along their path"):
        check_frames("fit", cd.Transform(*(x[np.random.default_rng(1).permutation(N)] for x in (R, p))))
    with pytest.warns(UserWarning, match="q seems to be in degrees"):
        check_frames("fit", (R, p), np.degrees(ANGLES))
    check_frames("fit", (R, p), np.degrees(ANGLES), degrees=True)
    twice = np.r_[0:N, 4]
    with pytest.warns(UserWarning, match="1 frames occur twice"):
        check_frames("fit", (R[twice], p[twice]), ANGLES[twice])
    cycles = np.tile(np.r_[0:N, N - 2 : 0 : -1], 5)  # there and back five times is an order
    check_frames("fit", (R[cycles], p[cycles]))


def test_other_frames_on_the_bones():
    R, p = knee()
    frames = MeasuredFrames(cd.Transform(R, p), ANGLES, coordinates=("knee",), units=("rad",))
    X_F, X_M = cd.Transform(R[3], p[5]), cd.Transform(R[2], p[1])
    moved = frames.relative_to(X_F, X_M)
    np.testing.assert_allclose(moved.p[6], (X_F.inverse() @ cd.Transform(R[6], p[6]) @ X_M).p, atol=1e-15)
    assert moved.coordinates == ("knee",)
