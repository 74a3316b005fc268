"""Events, cycles and powers of gait, on the made-up subject whose truth is known, and on rows written by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import condyle as cd
from condyle.studies.gait.foot_events import GaitEvents, side_of
from condyle.table.titles import mirrored

WALK = Path(__file__).resolve().parents[4] / "shared/reference/opensim/Gait2354_Simbody/pipeline"
STRIDE = 1.1
"""[s] of the made-up subject."""


@pytest.fixture(scope="module")
def subject():
    return cd.models.synthetic_subject(duration=4.0)


@pytest.fixture(scope="module")
def events(subject):
    return cd.gait_events(subject.ground_reactions)


def test_plates(events):
    assert len(events.strikes("right")) == len(events.strikes("left")) == 4
    np.testing.assert_allclose(np.diff(events.strikes("right")), STRIDE, atol=1e-9)
    np.testing.assert_allclose(events.strikes("left") - events.strikes("right"), STRIDE / 2, atol=1e-9)
    assert (events.offs("right") > events.strikes("right")).all()


def test_thresholds_are_crossed_between_frames():
    """Straight ramps: the time is exact; noise shorter than `shortest` is no event; two plates of a foot add up."""
    t = np.linspace(0, 2, 201)
    force = 1000 * np.interp(t, [0.5, 0.6, 1.2, 1.3], [0, 1, 1, 0])
    force[30] = 500.0
    force[90] = 0.0
    zero = 0 * t
    table = cd.Table(t, ["r_fx", "r_fy", "r_fz"], np.stack([zero, force / 2, zero], axis=1), ["N"] * 3)
    plates = [cd.ExternalLoad("foot_r", table, force="r_f")] * 2
    found = cd.gait_events(plates, threshold=50.0)
    np.testing.assert_allclose(found.strikes("right"), [0.505], atol=1e-9)
    np.testing.assert_allclose(found.offs("right"), [1.295], atol=1e-9)
    assert len(found.strikes("left")) == 0


@pytest.mark.parametrize("method", ["zeni2008", "oconnor2007"])
def test_markers_agree_with_plates(subject, events, method):
    """Within 50 ms: what their authors found between marker methods and plates, and a foot that is a rigid body."""
    found = cd.gait_events(subject.walk, method=method)
    for side in ("right", "left"):
        for mine, truth in (
            (found.strikes(side), events.strikes(side)),
            (found.offs(side), events.offs(side)),
        ):
            assert len(mine) >= 3
            assert np.abs(mine[:, None] - truth).min(axis=1).max() < 0.05


@pytest.mark.parametrize("turn", ["z up", "backward", "treadmill"])
def test_axes_are_found(subject, turn):
    """The same walk in other axes, in the other direction, and on a treadmill."""
    p = subject.walk.positions.copy()
    if turn == "z up":
        p = p[..., [0, 2, 1]] * [1, -1, 1]
    elif turn == "backward":
        p = p * [-1, 1, -1]
    else:
        p = p - (p[:, :1, :1] * [1, 0, 0])
    moved = cd.Markers(subject.walk.time, subject.walk.names, p)
    wanted, found = cd.gait_events(subject.walk), cd.gait_events(moved)
    # on the treadmill the belt's speed is that of the pelvis, which varies within a stride
    for key, times in wanted.times.items():
        np.testing.assert_allclose(found.times[key], times, atol=0.03 if turn == "treadmill" else 1e-6)


@pytest.mark.skipif(not WALK.exists(), reason="the shared reference recordings are not here")
def test_a_recorded_walk():
    plates = cd.gait_events(cd.read_external_loads(WALK / "subject01_walk1_grf.xml"))
    markers = cd.read_markers(WALK / "subject01_walk1.trc")
    for method in ("zeni2008", "oconnor2007"):
        found = cd.gait_events(markers, method=method)
        for key, times in found.times.items():
            assert len(times) >= 1
            # three frames of 60 per second
            assert np.abs(times[:, None] - plates.times[key]).min(axis=1).max() < 0.05, (method, key)
    with pytest.warns(UserWarning, match="as on a treadmill"):  # it was one
        table = plates.parameters(markers)
    assert table["stride_time"] == pytest.approx(1.22, abs=0.02)


def test_events_are_edited(events):
    more = events.added("right", "strike", 9.0)
    assert len(more.strikes("right")) == 5
    assert len(more.removed("right", "strike", 9.01).strikes("right")) == 4
    np.testing.assert_allclose(events.shifted(1.0).offs("left"), events.offs("left") + 1)
    with pytest.raises(cd.errors.DescriptionError, match=r"no strike of the right foot within 0\.05 s"):
        events.removed("right", "strike", 20.0)
    with pytest.raises(cd.errors.UnknownNameError):
        events.added("middle", "strike", 1.0)
    frame = events.table()
    assert list(frame.columns) == ["time", "side", "kind"]
    assert (np.diff(frame.time) >= 0).all()


def test_spatiotemporal_parameters(subject, events):
    """Against the truth: the pelvis goes on by its speed times a stride."""
    found = events.parameters(subject.walk)
    tx = subject.motion["pelvis_tx"]
    speed = (tx[-1] - tx[0]) / (subject.motion.time[-1] - subject.motion.time[0])
    assert found["stride_time"] == pytest.approx(STRIDE, abs=1e-9)
    assert found["cadence"] == pytest.approx(120 / STRIDE, abs=1e-6)
    assert found["speed"] == pytest.approx(speed, rel=0.02)
    assert found["stride_length"] == pytest.approx(speed * STRIDE, rel=0.02)
    assert found["stance"] + found["swing"] == pytest.approx(100)
    stance = np.mean(events.offs("right") - events.strikes("right")) / STRIDE
    assert found["double_support"] == pytest.approx(100 * (2 * stance - 1), abs=0.01)  # both feet alike
    steps = found["step_length"]
    assert np.nanmean(steps) == pytest.approx(speed * STRIDE / 2, rel=0.05)


def test_cycles(subject, events):
    """Every stride of the made-up walk is the same, and the left foot is half a stride late."""
    right = cd.gait_cycles(subject.motion, events, "right")
    left = cd.gait_cycles(subject.motion, events, "left")
    assert right.values.shape == (3, 101, len(subject.motion.names))
    # cubic splines through 100 frames per second
    assert np.ptp(right["knee_angle_r"], axis=0).max() < 1e-4
    np.testing.assert_allclose(right.mean["knee_angle_r"], left.mean["knee_angle_l"], atol=1e-4)
    assert right.mean.over == "cycle [%]"
    both = right.joined(left)
    assert len(both) == 6
    trials = cd.gait_cycles([subject.motion] * 2, [events] * 2)
    assert trials.trials == (0, 0, 0, 1, 1, 1)
    low, high = trials.band("bootstrap")
    assert (low.values <= high.values).all()
    assert set(trials.to_pandas().columns) >= {"stride", "trial", "percent", "knee_angle_r"}
    figure = right.plot("hip_flexion_r", "knee_angle_r", compare=left)
    assert len(figure.axes) == 2
    # the right foot's cycle has the right leg's angle, the left foot's the left one's: the same here
    theirs, own = (line.get_ydata() for line in figure.axes[1].lines[:2])
    np.testing.assert_allclose(theirs, own, atol=0.01)  # [deg]; half a stride apart they differ by 60
    assert mirrored("knee_angle_r") == "knee_angle_l"
    assert mirrored("R.Heel") == "L.Heel"
    assert mirrored("ankle_r_rot") == "ankle_l_rot"
    assert mirrored("LHEE") == "RHEE"
    assert mirrored("pelvis_tilt") == "pelvis_tilt"


def test_normalized(subject, events):
    table = cd.Table(
        subject.motion.time, ["m", "f", "x"], np.ones((len(subject.motion), 3)), ["N m", "N", "m"]
    )
    by_mass = cd.gait_cycles(table, events, mass=50.0)
    assert by_mass.units == ("N m/kg", "N/kg", "m")
    np.testing.assert_allclose(by_mass.mean.values[0], [0.02, 0.02, 1])
    by_weight = cd.gait_cycles(table, events, body_weight=500.0, leg_length=0.5)
    assert by_weight.units == ("BW leg length", "BW", "leg length")
    np.testing.assert_allclose(by_weight.mean.values[0], [1 / 250, 1 / 500, 2])
    with pytest.raises(cd.errors.DescriptionError, match="not both"):
        cd.gait_cycles(table, events, mass=50.0, body_weight=500.0)


def test_strides_beyond_the_table_are_left_out(subject, events):
    with pytest.warns(UserWarning, match="2 strides of the right foot reach beyond"):
        assert len(cd.gait_cycles(subject.motion[:150], events)) == 1
    with pytest.raises(cd.errors.DescriptionError, match="3 reach beyond its times"):
        cd.gait_cycles(subject.motion[:50], events)
    with pytest.raises(cd.errors.DescriptionError, match="no whole stride"):
        cd.gait_cycles(subject.motion, GaitEvents({}))


def test_powers(subject):
    """Of the true motion: all joints together put in what the energy gains, without ground reactions' work."""
    motion = cd.Motion(subject.system, subject.motion.time, subject.motion.values, subject.u, subject.udot)
    with pytest.warns(cd.errors.QualityWarning):  # there are no plates
        moments = cd.inverse_dynamics(subject.system, motion)
    powers = cd.joint_powers(subject.system, motion, moments)
    assert set(powers.units) == {"W"}
    q, system = subject.motion.values, subject.system
    weight = subject.mass * 9.81
    energy = system.energy(q, subject.u)[0] + weight * system.mass_center(q)[:, 1]
    work = powers.integrate().values.sum(axis=1)
    # the splines of 401 rows of power
    np.testing.assert_allclose(work, energy - energy[0], atol=1e-3 * np.ptp(energy))
    with pytest.raises(cd.errors.ShapeError, match="resample"):
        cd.joint_powers(subject.system, motion, moments[::2])


def test_names_have_sides():
    for name in ("calcn_r", "R.Heel", "RHEE", "right_foot", "ground_force_r_vy", "1_Right"):
        assert side_of(name) == "right", name
    for name in ("foot_l", "LTOE", "Left Heel", "l_force_y"):
        assert side_of(name) == "left", name
    for name in ("pelvis", "Sternum", "calcaneus"):
        assert side_of(name) is None, name


def test_bad_input(subject):
    with pytest.raises(cd.errors.DescriptionError, match="zeni2008 or oconnor2007"):
        cd.gait_events(subject.walk, method="zeni")
    with pytest.raises(cd.errors.DescriptionError, match="heel of the right foot"):
        cd.gait_events(subject.walk[["R.ASIS", "L.ASIS", "L.Heel", "L.Toe", "R.Toe"]])
    with pytest.raises(cd.errors.DescriptionError, match="give sides="):
        cd.gait_events(subject.motion)
    with pytest.raises(cd.errors.DescriptionError, match="above 0"):
        cd.gait_events(subject.ground_reactions, threshold=0)
    with pytest.raises(cd.errors.DescriptionError, match=r"cd\.read_external_loads"):
        cd.gait_events("walk.mot")


def test_units_and_gaps_of_strides(subject, events):
    motion = subject.motion[["knee_angle_r"]]
    degrees = cd.Table(motion.time, motion.names, np.degrees(motion.values), ["deg"])
    right = cd.gait_cycles(motion, events)
    for both in (
        cd.gait_cycles([motion, degrees], [events] * 2),
        right.joined(cd.gait_cycles(degrees, events)),
    ):
        assert both.units == right.units
        np.testing.assert_allclose(both.mean.values, right.mean.values, rtol=1e-9, atol=1e-12)
    with pytest.raises(cd.errors.ShapeError, match=r"trial 1: \[m\] and \[rad\]"):
        cd.gait_cycles([motion, motion.with_units(["m"])], [events] * 2)
    high = cd.Table(motion.time, ["x"], np.full((len(motion), 1), 5.0), ["m"])
    high.values[30:50] = np.nan  # within the first stride
    low, up = cd.gait_cycles(high, events).band("bootstrap")
    assert np.nanmin(low.values) == pytest.approx(5.0)  # gaps are no zeros
    assert np.nanmax(up.values) == pytest.approx(5.0)
    force = cd.Table(motion.time, ["f"], np.ones((len(motion), 1)), ["kN"])
    made = cd.gait_cycles(force, events, body_weight=500.0)
    assert made.units == ("BW",)
    np.testing.assert_allclose(made.values, 2.0)
    with pytest.warns(UserWarning, match="nothing is normalized; units are not known"):
        cd.gait_cycles(force.with_units([""]), events, mass=50.0)


def test_forces_of_a_table():
    """Upward, downward, in other units: the same events; gaps are refused."""
    t = np.linspace(0, 3, 301)
    force = 800.0 * ((t % 1.0) < 0.6)
    up = cd.Table(t, ["force_r_vy"], force[:, None], ["N"])
    strikes = cd.gait_events(up).strikes("right")
    assert len(strikes) == 3
    down = cd.Table(t, ["force_r_vy"], -force[:, None] / 1000, ["kN"])
    np.testing.assert_allclose(cd.gait_events(down, up="-y").strikes("right"), strikes, atol=1e-12)
    up.values[20] = np.nan
    with pytest.raises(cd.errors.ShapeError, match=r"right foot is not a number at t = 0\.2 s"):
        cd.gait_events(up)


def test_a_treadmill_has_no_lengths(subject, events):
    """The same walk seen from the pelvis."""
    table = subject.walk.table()
    along = [k for k, name in enumerate(table.names) if name.endswith("_x")]
    tx = subject.motion["pelvis_tx"]
    values = table.values.copy()
    values[:, along] -= tx[:, None]
    markers = cd.Markers.from_table(cd.Table(table.time, table.names, values, table.units))
    with pytest.warns(UserWarning, match="as on a treadmill"):
        found = events.parameters(markers)
    assert np.isnan(found[["stride_length", "step_length", "step_width", "speed"]].values).all()
    assert found["stride_time"] == pytest.approx(STRIDE, abs=1e-9)
