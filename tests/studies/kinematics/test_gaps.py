"""Coordinates that the markers of some frames do not determine: named, filled or NaN by one rule."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.spatial import exp_so3
from condyle.studies.kinematics.determined import CURVED, _between
from tests.studies.kinematics.walker import T, motion, seen, walker


def hidden(markers, rows, *bodies):
    """The same without the markers of some bodies in some frames."""
    p = np.array(markers.positions)
    for k, name in enumerate(markers.names):
        if name.startswith(bodies):
            p[rows, k] = np.nan
    return cd.Markers(markers.time, markers.names, p)


@pytest.mark.parametrize("loop", [False, True])
def test_a_long_gap_is_nan(loop):
    """Markers of the shank and foot missing for 0.3 s: the knee jumped by 0.07 rad in a frame, and inverse
    dynamics gave 1145 N m instead of 22."""
    system = walker(loop)
    q = motion(system)
    with pytest.warns(RuntimeWarning, match=r"determine knee, ankle from 0\.15 to 0\.44 s, NaN.*0\.1 s"):
        result = cd.inverse_kinematics(system, hidden(seen(system, q), slice(15, 45), "shank", "foot"))
    lost = np.zeros_like(result.undetermined)
    lost[15:45, [system.coordinates.index(name) for name in ("knee", "ankle")]] = True
    np.testing.assert_array_equal(result.undetermined, lost)
    np.testing.assert_array_equal(np.isnan(result.motion.values), lost)
    assert np.abs(result.motion.values - q)[~lost].max() < 1e-8
    assert not result.filled.any() and np.isfinite(result.frames.q).all()
    assert {(g.coordinate, g.frames, g.filled) for g in result.gaps} == {
        ("knee", (15, 44), False),
        ("ankle", (15, 44), False),
    }
    assert result.status == cd.Status.SOME_FAILED and list(result.failures) == list(range(15, 45))
    assert result.frame_status[20] == cd.Status.UNDETERMINED and "knee, ankle" in result.failures[20]
    assert "knee, ankle from 0.15 to 0.44 s, NaN" in result.report()
    with pytest.raises(cd.errors.ShapeError, match=r"'knee' is nan at t = 0\.15 s"):
        cd.inverse_dynamics(system, result.motion)


@pytest.mark.parametrize("loop", [False, True])
@pytest.mark.parametrize(
    ("bodies", "names"),
    [(("shank", "foot"), {"knee", "ankle"}), (("pelvis",), {"pelvis_rx", "pelvis_tx", "hip_x", "hip_z"})],
)
def test_a_short_gap_is_filled(loop, bodies, names):
    """By continuity, so that markers that were seen still fit, and constraints hold."""
    system = walker(loop)
    q = motion(system)
    with pytest.warns(RuntimeWarning, match=r"from 0\.2 to 0\.25 s, filled"):
        result = cd.inverse_kinematics(system, hidden(seen(system, q), slice(20, 26), *bodies)).check()
    filled = {name for name, x in zip(system.coordinates, result.filled.T, strict=True) if x.any()}
    assert names <= filled and all(g.filled for g in result.gaps)
    # a cubic over 0.07 s of sines of 0.8 Hz and 0.3 rad: h^4/384 of the fourth derivative is 1.2e-6; slopes
    # by parabolas of 0.07 s are off by 0.3 (5 rad/s)^3 (0.02 s)^2, 0.07 s / 4 of that is 2e-4
    assert np.abs(result.motion.values - q).max() < 2e-3
    assert np.nanmax(result.errors.values) < 1e-8  # what was seen fits, to the accuracy
    if system.constraints:
        assert np.abs(system.constraints.errors(result.frames.q, 0 * q)[0]).max() < 1e-8


@pytest.mark.filterwarnings("ignore::condyle.errors.QualityWarning")  # nothing carries it
def test_the_knee_does_not_jump_where_a_gap_is_filled():
    """Moments of a filled motion are near those of the whole one."""
    system = walker()
    q = motion(system)
    markers = seen(system, q)
    with pytest.warns(RuntimeWarning, match="filled"):
        motion_ = cd.inverse_kinematics(system, hidden(markers, slice(20, 26), "shank", "foot")).motion
    whole = cd.inverse_dynamics(system, cd.inverse_kinematics(system, markers).motion)["knee"]
    # accelerations off by 8 times 2e-4 rad (above) over the square of half of 0.07 s, times 0.4 kg m^2
    assert np.abs(cd.inverse_dynamics(system, motion_)["knee"] - whole).max() < 0.6


def test_gaps_at_the_ends_are_nan():
    system = walker()
    q = motion(system)
    markers = hidden(
        hidden(seen(system, q), slice(0, 3), "foot"), slice(57, 60), "pelvis", "thigh", "shank", "foot"
    )
    with pytest.warns(RuntimeWarning) as said:
        result = cd.inverse_kinematics(system, markers)
    assert any("ankle from 0 to 0.02 s, NaN" in str(w.message) for w in said)
    assert any("nothing was measured in 3 of 60 frames, the first frame 57" in str(w.message) for w in said)
    good = ~np.isnan(result.motion.values)
    assert np.abs(result.motion.values - q)[good].max() < 1e-8 and (~good).sum() == 3 + 3 * system.nq
    with pytest.warns(RuntimeWarning):
        kept = cd.inverse_kinematics(system, markers, fill_gaps=np.inf)
    assert np.isfinite(kept.motion.values).all() and kept.filled.sum() == (~good).sum()


def test_what_no_marker_tells_keeps_its_value():
    """A foot without markers: the default stays, and it is named once; unless it is locked or has a value."""
    system = walker()
    q = motion(system)
    markers = hidden(seen(system, q), slice(None), "foot")
    start = system.state(q={"ankle": 0.2})
    with pytest.warns(RuntimeWarning, match="no marker or sensor determines ankle in any frame") as said:
        result = cd.inverse_kinematics(system, markers, state=start).check()
    assert len(said) == 1 and result.held == ("ankle",) and not result.gaps
    assert (result.motion["ankle"] == 0.2).all() and "keep their values: ankle" in result.report()
    misspelled = seen(system, q).renamed(lambda name: f"x{name}" if name.startswith("foot") else name)
    with pytest.warns(RuntimeWarning, match="ankle in any frame.*The model has no markers xfoot") as said:
        cd.inverse_kinematics(system, misspelled, state=start)
    assert len(said) == 1
    for options in ({"locked": ["ankle"]}, {"coordinates": {"ankle": 0.1}, "coordinate_weights": 1e-8}):
        assert cd.inverse_kinematics(system, markers, **options).held == ()  # no warning
    part = np.where(T < 0.3, 0.1, np.nan)  # a value in half of the frames
    with pytest.warns(RuntimeWarning, match=r"ankle from 0\.3 to 0\.59 s, NaN"):
        cd.inverse_kinematics(system, markers, None, {"ankle": part})


def test_markers_without_a_weight_tell_nothing():
    system = walker()
    markers = seen(system, motion(system))
    none = {f"foot{k}": np.where((T > 0.195) & (T < 0.405), 0.0, 1.0) for k in range(4)}
    with pytest.warns(RuntimeWarning, match=r"ankle from 0\.2 to 0\.4 s, NaN"):
        cd.inverse_kinematics(system, markers, none)
    small = dict.fromkeys(none, 1e-4)  # one tells as much, whatever it is
    assert not cd.inverse_kinematics(system, markers, small).undetermined.any()


@pytest.mark.parametrize("coordinates", ["quaternion", "euler"])
def test_collinear_markers_of_a_free_body(coordinates):
    system = cd.System()
    system.add_body("stick", mobilizer=cd.Free(coordinates=coordinates), mass=1, inertia=(0.1, 0.1, 0.1))
    for k, place in enumerate([(0, 0, 0), (0.1, 0, 0), (0.25, 0, 0), (0, 0.1, 0)]):
        system.add_marker(f"m{k}", "stick", place)
    R = np.array([exp_so3(np.array([0.5 * np.sin(5 * t), 2 * t, 0.3])) for t in T])
    p = np.stack([R @ np.array(system.marker(n).station) for n in system.markers], axis=1) + [1.0, 2.0, 3.0]
    whole = cd.inverse_kinematics(system, cd.Markers(T, system.markers, p)).motion.values
    turned = [name for name in system.coordinates if not name.startswith("stick_t")]
    for rows, filled in ((slice(20, 26), True), (slice(20, 50), False)):
        some = p.copy()
        some[rows, 3] = np.nan
        with pytest.warns(RuntimeWarning, match=f"{', '.join(turned)} from 0.2 to"):
            result = cd.inverse_kinematics(system, cd.Markers(T, system.markers, some))
        assert {g.coordinate for g in result.gaps} == set(turned)
        assert {g.filled for g in result.gaps} == {filled} and np.isnan(result.motion.values).any() != filled
        off = np.abs(result.motion.values - whole)
        assert np.nanmax(off) < 1e-3  # as in test_a_short_gap_is_filled
        assert np.nanmax(result.errors.values) < 1e-8
    with pytest.warns(RuntimeWarning, match="from 0 to 0.59 s, NaN"):
        always = cd.inverse_kinematics(system, cd.Markers(T, system.markers[:3], p[:, :3]))
    assert np.isnan(always.motion[turned[0]]).all() and np.isfinite(always.motion["stick_tx"]).all()


def test_coincident_markers_and_short_trials():
    system = cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), mass=1, inertia=(0.1, 0.1, 0.1))
    system.add_body("hand", "arm", cd.Pin(), X_PF=(0.3, 0, 0), mass=1, inertia=(0.1, 0.1, 0.1))
    for k in range(3):
        system.add_marker(f"wrist{k}", "hand", (0.0, 0.0, 0.0))  # on the axis
    places = np.tile([0.0, 0.3, 0.0], (2, 3, 1))
    with pytest.warns(RuntimeWarning, match="determines hand in any frame"):
        result = cd.inverse_kinematics(system, cd.Markers([0.0, 0.1], system.markers, places))
    np.testing.assert_allclose(result.motion["arm"], np.pi / 2, atol=1e-6)  # the accuracy
    assert result.held == ("hand",) and (result.motion["hand"] == 0).all()


@pytest.mark.parametrize("value", [-0.1, np.nan, "short"])
def test_a_length_that_cannot_be(value):
    system = walker()
    with pytest.raises(cd.errors.DescriptionError, match="fill_gaps"):
        cd.inverse_kinematics(system, seen(system, motion(system)), fill_gaps=value)


@pytest.mark.parametrize(("a", "b", "near"), [(8, 11, 7), (3, 5, 3), (1, 2, 1)])
def test_a_gap_is_filled_by_a_cubic_with_the_slopes_beside_it(a, b, near):
    """Exact for parabolas where five frames are beside the gap, for lines everywhere."""
    t = np.linspace(0.0, 1.0, 20) ** 1.1
    blank = np.zeros(20, dtype=bool)
    blank[a : b + 1] = True
    x = 2 + 3 * t - 4 * t**2 * (near >= CURVED)
    found = _between(t, np.where(blank, 99.0, x), blank, a, b)
    np.testing.assert_allclose(found, x[a : b + 1], atol=1e-12)  # rounding
