"""Electromyograms made up: noise whose size is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import condyle as cd
from condyle.studies.gait.foot_events import GaitEvents

RECORDED = Path(__file__).resolve().parents[3] / "shared/reference/control/inputs/emg.sto"
rng = np.random.default_rng(0)
t = np.arange(8000) / 1000
size = 0.1 + np.interp(t % 2, [0.5, 0.7, 1.2, 1.4], [0, 1, 1, 0])
raw = cd.Table(
    t,
    ["soleus", "tibialis"],
    np.stack([size * rng.normal(size=8000), rng.normal(size=8000)], axis=1),
    ["V", "V"],
)


@pytest.fixture(scope="module")
def found():
    return cd.emg(raw)


def test_envelopes_follow_the_size(found):
    """A rectified normal signal has a mean of sqrt(2 / pi) times its deviation, here within 38 of 50 parts of the band."""
    x = found.envelopes["soleus"]
    assert x.max() == pytest.approx(1)
    assert x.min() >= 0
    # 6 Hz of noise of 380 Hz: sqrt(12 / 380) of it is left
    assert np.corrcoef(x, size)[0, 1] > 0.97
    raw_size = cd.emg(raw, normalize=None).envelopes
    expected = np.sqrt(2 / np.pi) * np.sqrt(380 / 500)
    assert raw_size["tibialis"].mean() == pytest.approx(
        expected, rel=0.05
    )  # the edges of the band are not sharp
    assert raw_size.units == ("V", "V")


def test_a_sine_has_its_own_envelope():
    """The mean of |sin| is 2 / pi."""
    sine = cd.Table(t, ["a"], 3.0 * np.sin(2 * np.pi * 80 * t)[:, None], ["mV"])
    middle = cd.emg(sine, normalize=None).envelopes["a"][1000:-1000]
    np.testing.assert_allclose(middle, 6 / np.pi, rtol=2e-3)  # what two passes of the band take at 80 Hz


def test_bursts(found):
    bursts = found.onsets("soleus", rest=(0.0, 0.4), sd=5)
    assert len(bursts) == 4
    for k, (start, end) in enumerate(bursts):
        assert start == pytest.approx(2 * k + 0.55, abs=0.1)
        assert end == pytest.approx(2 * k + 1.35, abs=0.1)


def test_breaks_at_the_ends_of_a_recording_are_no_gaps_in_bursts():
    """On until 30 ms before the end, and from 30 ms after the start on: shorter than `shortest`, and kept."""
    time = np.arange(200) / 100
    x = 1.0 * (((time > 0.025) & (time < 0.5)) | ((time > 1.0) & (time < 1.965)))
    table = cd.Table(time, ["soleus"], x[:, None], ["1"])
    bursts = type(cd.emg(raw))(table, table).onsets("soleus", rest=(0.6, 0.9))
    np.testing.assert_allclose(bursts, [(0.03, 0.49), (1.01, 1.96)], atol=1e-9)


def test_normalized():
    mvc = cd.Table(t, raw.names, 2 * raw.values, raw.units)
    by_mvc = cd.emg(raw, normalize=mvc)
    np.testing.assert_allclose(by_mvc.envelopes.values.max(axis=0), 0.5, rtol=1e-6)
    named = cd.emg(raw, {"soleus": "soleus_r"}, normalize={"soleus_r": 10.0})
    assert named.envelopes.names == ("soleus_r",)
    assert named.maxima == {"soleus_r": 10.0}


def test_beside_activations(found):
    """Activations that are the envelope, 50 ms late."""
    times = np.linspace(0.5, 7.5, 701)
    late = np.interp(times - 0.05, t, found.envelopes["soleus"])
    table = found.compare(cd.Table(times, ["soleus"], late[:, None]))
    assert table["best"][0] == pytest.approx(1, abs=1e-6)
    assert table["lag"][0] == pytest.approx(0.05, abs=1e-9)
    with pytest.raises(cd.errors.DescriptionError, match="says which; channels"):
        found.compare(cd.Table(times, ["gastroc"], late[:, None]))


def test_beside_activations_over_the_cycle(found, tmp_path):
    """One call: strides of both, correlation and lag of an envelope that comes 50 ms late."""
    times = np.linspace(0.0, 7.9, 791)
    late = np.interp(times - 0.05, t, found.envelopes["soleus"])
    events = GaitEvents({("right", "strike"): [0.2, 2.2, 4.2, 6.2], ("right", "off"): [1.4, 3.4, 5.4]})
    both = found.beside(cd.Table(times, ["soleus_r"], late[:, None]), events, {"soleus": "soleus_r"})
    assert len(both.emg) == len(both.activations) == 3
    shifted = np.interp(both.emg.percent - 2.5, both.emg.percent, both.emg.mean["soleus_r"])
    np.testing.assert_allclose(
        both.activations.mean["soleus_r"][10:], shifted[10:], atol=0.01
    )  # 2.5 % of 2 s
    assert both.table["best"][0] == pytest.approx(1, abs=1e-6)
    assert both.table["lag"][0] == pytest.approx(0.05, abs=1e-9)
    figure = both.plot(path=tmp_path / "emg.svg")
    assert "50 ms" in figure.axes[0].get_title(loc="left")
    assert "mean correlation" in repr(both)


@pytest.mark.skipif(not RECORDED.exists(), reason="the shared reference recordings are not here")
def test_a_recording_of_envelopes():
    table = cd.read_table(RECORDED, degrees=False)
    found = cd.emg(table, band=None)
    np.testing.assert_allclose(found.envelopes.values.max(axis=0), 1)


@pytest.mark.slow
@pytest.mark.skipif(not RECORDED.exists(), reason="the shared reference recordings are not here")
@pytest.mark.filterwarnings("ignore")
def test_recorded_emg_beside_static_optimization():
    """Of the left leg of a walk: the EMG is that of the left muscles and of no others. Force plates saw one left
    strike; the next follows from the right stride."""
    folder = RECORDED.parent
    model = cd.read_osim(folder / "subject_walk_armless_18musc.osim")
    motion = cd.read_table(folder / "subject_walk_armless_coordinates.mot")
    loads = cd.read_external_loads(folder / "subject_walk_armless_external_loads.xml")
    events = cd.gait_events(loads)
    stride = events.strides("right")[0]
    events = events.added("left", "strike", events.strikes("left")[0] + stride.end - stride.start)
    muscles = cd.static_optimization(model, motion, loads, reserves=50.0, lowpass=6)
    recorded = cd.emg(cd.read_table(RECORDED, degrees=False), band=None)
    bodies = ("soleus", "med_gas", "tib_ant", "semimem", "bifemsh", "vas_int", "rect_fem", "glut_max2")
    left, right = (
        recorded.beside(
            muscles.activations,
            events,
            dict(zip(recorded.envelopes.names, (f"{name}_{s}" for name in bodies), strict=True)),
            "left",
        )
        for s in "lr"
    )
    assert left.table["correlation"][0] > 0.9 and left.table["best"][0] > 0.97  # the soleus: 0.953, 0.982
    assert abs(left.table["lag"][0]) < 0.05  # 0.02 s
    assert left.table["correlation"].mean() > 0.6 > 0.2 > right.table["correlation"].mean()  # 0.66, -0.16


def test_what_cannot_be():
    slow = raw[::50]
    with pytest.raises(cd.errors.DescriptionError, match="samples over time, got 0"):
        cd.emg(raw[:0])
    with pytest.raises(cd.errors.DescriptionError, match=r"\.activations, got str"):
        cd.emg(raw).compare("soleus")
    with pytest.raises(cd.errors.DescriptionError, match="band=None"):
        cd.emg(slow)
    with pytest.raises(cd.errors.DescriptionError, match="is silent"):
        cd.emg(cd.Table(t, ["a"], 0 * t[:, None]))
    with pytest.raises(cd.errors.UnknownNameError):
        cd.emg(raw, ["gastroc"])
    with pytest.raises(cd.errors.DescriptionError, match="'knee' is in rad, not in volts"):
        cd.emg(cd.Table(t, ["knee"], np.sin(t)[:, None], ["rad"]))


@pytest.mark.parametrize("noise", [0.001, 0.02, 0.1])
def test_bursts_without_a_rest_that_is_named(noise):
    time = np.arange(4000) / 1000
    x = np.random.default_rng(0).normal(size=4000) * (noise + (time % 1 < 0.3))
    bursts = cd.emg(cd.Table(time, ["a"], x[:, None], ["V"])).onsets("a")
    assert len(bursts) == 4
    for k, (start, end) in enumerate(bursts):  # a 6 Hz envelope is 0.05 s wider to each side
        assert start == pytest.approx(max(k - 0.05, 0), abs=0.03)
        assert end == pytest.approx(k + 0.35, abs=0.03)


def test_maxima_in_other_units():
    mvc = cd.Table(t, raw.names, 2e3 * raw.values, ["mV"] * len(raw.names))
    volts = cd.Table(t, raw.names, raw.values, ["V"] * len(raw.names))
    np.testing.assert_allclose(cd.emg(volts, normalize=mvc).envelopes.values.max(axis=0), 0.5, rtol=1e-6)
