"""Markers that are exchanged, for some frames or the whole trial, are named; noise and bad models are not."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.spatial import exp_so3
from condyle.studies.kinematics.swaps import other_sides
from tests.studies.kinematics.walker import motion, seen, walker


def exchanged(markers, rows, *pairs):
    p = np.array(markers.positions)
    for pair in pairs:
        a, b = map(markers.names.index, pair)
        p[rows, a], p[rows, b] = p[rows, b].copy(), p[rows, a].copy()
    return cd.Markers(markers.time, markers.names, p)


@pytest.mark.parametrize("rows", [range(60), range(10, 50), range(30, 60), range(7, 8)])
@pytest.mark.parametrize("pair", [("thigh1", "shank2"), ("pelvis0", "foot3")])
def test_a_pair_in_part_or_all_of_a_trial(rows, pair):
    system = walker()
    markers = exchanged(seen(system, motion(system), noise=0.003), slice(rows.start, rows.stop), pair)
    words = f"'{pair[0]}' and '{pair[1]}' look exchanged in .* lowers the RMS from"
    with pytest.warns(RuntimeWarning, match=words):
        result = cd.inverse_kinematics(system, markers)
    (swap,) = result.swaps
    assert swap.markers == pair and swap.frames == tuple(rows)
    assert swap.rms[0] > 0.1 and swap.rms[1] < 0.006  # noise in three directions is 0.0052
    others = np.delete(result.rms, rows)
    assert others.max(initial=0.0) < 0.008  # frames after them find back


def test_two_pairs():
    system = walker()
    pairs = ("thigh1", "shank2"), ("pelvis0", "foot3")
    markers = exchanged(seen(system, motion(system), noise=0.003), slice(20, 40), *pairs)
    with pytest.warns(RuntimeWarning):
        result = cd.inverse_kinematics(system, markers)
    assert {swap.markers for swap in result.swaps} == set(pairs)
    assert all(len(swap.frames) >= 19 and set(swap.frames) <= set(range(20, 40)) for swap in result.swaps)


def test_no_pair_is_named_in_vain():
    """Noise, a model of another size, one marker off: these are no exchanged names."""
    system = walker()
    markers = seen(system, motion(system))
    rng = np.random.default_rng(1)
    for change in (
        rng.normal(scale=0.02, size=markers.positions.shape),
        0.1 * markers.positions,
        np.where(np.arange(16)[:, None] == 5, 0.12, 0.0),
    ):
        other = cd.Markers(markers.time, markers.names, markers.positions + change)
        assert cd.inverse_kinematics(system, other).swaps == ()


def test_left_and_right():
    """Two legs whose sides are confused throughout."""
    system = cd.System()
    system.add_body("pelvis", mobilizer=cd.Free(coordinates="euler"), mass=10, inertia=(0.1, 0.1, 0.1))
    for side, z in (("r", 0.1), ("l", -0.1)):
        system.add_body(
            f"thigh_{side}", "pelvis", cd.Pin(), X_PF=(0, -0.1, z), mass=7, inertia=(0.1, 0.02, 0.1)
        )
        for k, place in enumerate([(0.05, -0.05, z / 2), (0.06, -0.3, z / 3)]):
            system.add_marker(f"{side.upper()}.Thigh{k}", f"thigh_{side}", place)
        system.add_marker(f"{side.upper()}.ASIS", "pelvis", (0.1, 0.05, 1.3 * z))
    system.add_marker("Sacrum", "pelvis", (-0.12, 0.05, 0))
    q = np.zeros((20, 8))
    q[:, 6], q[:, 7] = 0.4 * np.sin(np.arange(20) / 5), -0.3 * np.sin(np.arange(20) / 5)
    markers = seen(system, q, noise=0.002)
    assert [markers.names[k] for k in other_sides(markers.names)] == [
        "L.Thigh0",
        "L.Thigh1",
        "L.ASIS",
        "R.Thigh0",
        "R.Thigh1",
        "R.ASIS",
        "Sacrum",
    ]
    wrong = cd.Markers(
        markers.time, markers.names, np.array(markers.positions)[:, other_sides(markers.names)]
    )
    with pytest.warns(RuntimeWarning) as said:
        result = cd.inverse_kinematics(system, wrong)
    words = "left and right markers ('R.Thigh0' and 'L.Thigh0', ...) look exchanged in 20 frames"
    assert any(words in str(w.message) for w in said)
    assert len(result.swaps[0].markers) == 6 and result.swaps[0].rms[1] < 0.01


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (("RKNE", "LKNE", "SACR"), [1, 0, 2]),
        (("knee_r", "knee_l", "head"), [1, 0, 2]),
        (("RightKnee", "LeftKnee"), [1, 0]),
        (("Rib", "Lid"), [0, 1]),
    ],
)
def test_sides_by_their_names(names, order):
    assert other_sides(names).tolist() == order


def test_frames_find_back_after_bad_ones():
    """Frames whose markers are elsewhere lead the next ones astray; these are solved again."""
    system = walker()
    q = motion(system)
    markers = seen(system, q, noise=0.002)
    p = np.array(markers.positions)
    R = exp_so3(np.array([0.0, 0.0, 3.0]))
    p[10:14] = p[10:14] @ R.T  # a few frames upside down
    p[14:16] = np.random.default_rng(0).uniform(-1, 1, p[14:16].shape)
    with pytest.warns(RuntimeWarning):
        result = cd.inverse_kinematics(system, cd.Markers(markers.time, markers.names, p))
    assert result.rms[16:].max() < 0.006
    knee = q[16:, system.coordinates.index("knee")]
    np.testing.assert_allclose(result.motion["knee"][16:], knee, atol=0.05)  # of 2 mm of noise


def test_markers_far_from_the_model_are_told_once():
    system = walker()
    markers = seen(system, motion(system))
    rng = np.random.default_rng(0)
    off = rng.normal(scale=0.09, size=(60, 16, 3))
    noisy = cd.Markers(markers.time, markers.names, markers.positions + off)
    words = r"14 cm from the model in 60 of 60 frames \(RMS; the guideline is 2 cm\), worst: .* Is the model"
    with pytest.warns(RuntimeWarning, match=words) as said:
        cd.inverse_kinematics(system, noisy)
    assert len(said) == 1
    p = np.array(markers.positions)
    p[20:30, markers.names.index("thigh1")] += 0.5
    words = r"in 10 of 60 frames, 0\.2 to 0\.29 s.*'thigh1' and .* cause most"
    with pytest.warns(RuntimeWarning, match=words):
        cd.inverse_kinematics(system, cd.Markers(markers.time, markers.names, p))
