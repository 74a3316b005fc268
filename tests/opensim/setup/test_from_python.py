"""Setup files from Python, on the files that `condyle example` writes."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.cli.example import write


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("lab") / "try"
    names = write(made, False, duration=1.3)
    assert {"generic.osim", "static.trc", "walk.trc", "scale.xml", "ik.xml", "id.xml", "truth.mot"} <= set(
        names
    )
    return made


@pytest.mark.filterwarnings("ignore::condyle.errors.QualityWarning")
def test_the_whole_way(folder):
    """Scale, follow, moments; results as objects, and as files that have the same numbers."""
    call = cd.read_setup(folder / "scale.xml")
    assert call.study is cd.scale
    assert [m.name for m in call["measurements"]][:2] == ["pelvis", "torso"]
    scaled = cd.run(folder / "scale.xml")
    assert (folder / "subject.osim") in scaled.files
    # the call places the markers too, as the tool does in a second step
    for name in ("R.Heel", "Sternum"):
        np.testing.assert_allclose(
            call.run().system.marker(name).station, scaled.result.system.marker(name).station, atol=1e-12
        )
    found = cd.run(folder / "ik.xml")
    angles = found.result.motion
    written = cd.read_table(folder / "walk_ik.mot")
    np.testing.assert_allclose(np.radians(written["knee_angle_r"]), angles["knee_angle_r"], atol=1e-7)
    truth = cd.read_table(folder / "truth.mot")
    # markers sit 3 mm off their places, and the sizes are measured between them
    assert np.abs(angles["knee_angle_r"] - truth["knee_angle_r"]).max() < np.radians(5)
    again = cd.read_setup(folder / "ik.xml")
    np.testing.assert_array_equal(again.run().motion.values, angles.values)
    assert set(again) >= {"system", "markers", "weights"}
    moments = cd.run(folder / "id.xml").result
    assert isinstance(moments, cd.Table)
    events = cd.gait_events(cd.read_external_loads(folder / "ground_reactions.xml"))
    assert len(cd.gait_cycles(angles, events)) == 1


def test_a_recording(folder):
    pytest.importorskip("ezc3d", reason="ezc3d is not installed")
    recording = cd.read_c3d(folder / "walk.c3d")
    markers = cd.read_markers(folder / "walk.trc")
    np.testing.assert_allclose(recording.markers.positions, markers.positions, atol=1e-6)  # single precision
    truth = cd.read_table(folder / "ground_reactions.mot", degrees=False)
    np.testing.assert_allclose(recording.force_plates["f1_y"], truth["r_force_y"], atol=1e-2)


def test_what_cannot_be(folder):
    for wrong in (None, 3):
        with pytest.raises(cd.errors.DescriptionError, match="path of a setup file"):
            cd.read_setup(wrong)
    with pytest.raises(FileNotFoundError):
        cd.read_setup(folder / "nothing.xml")
    other = folder / "cmc.xml"
    other.write_text('<OpenSimDocument Version="40600"><CMCTool name="x"/></OpenSimDocument>')
    for function in (cd.read_setup, cd.run):
        with pytest.raises(cd.errors.DescriptionError, match="CMC"):
            function(other)
