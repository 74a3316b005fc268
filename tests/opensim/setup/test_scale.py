"""Setup files of OpenSim's ScaleTool."""

from __future__ import annotations

import numpy as np

import condyle as cd
from condyle.opensim.document import read_document
from condyle.opensim.setup import run_setup
from tests.opensim.setup.small import written

MARKERS = """<OpenSimDocument Version="40600"><MarkerSet name="markers"><objects>
<Marker name="top"><socket_parent_frame>/bodyset/rod</socket_parent_frame><location>0 0 0</location></Marker>
<Marker name="tip"><socket_parent_frame>/bodyset/rod</socket_parent_frame><location>0 -1 0</location></Marker>
</objects></MarkerSet></OpenSimDocument>"""
SCALE = """<OpenSimDocument Version="40600"><ScaleTool name="subject"><mass>3</mass>
<GenericModelMaker><model_file>model.osim</model_file><marker_set_file>markers.xml</marker_set_file>
</GenericModelMaker>
<ModelScaler><apply>true</apply><scaling_order>measurements</scaling_order>
<MeasurementSet><objects><Measurement name="length"><apply>true</apply>
<MarkerPairSet><objects><MarkerPair><markers>top tip</markers></MarkerPair></objects></MarkerPairSet>
<BodyScaleSet><objects><BodyScale name="rod"><axes>X Y Z</axes></BodyScale></objects></BodyScaleSet>
</Measurement>
<Measurement name="arm"><MarkerPairSet><objects><MarkerPair><markers>top hand</markers></MarkerPair></objects>
</MarkerPairSet><BodyScaleSet><objects><BodyScale name="rod"><axes>X</axes></BodyScale></objects>
</BodyScaleSet>
</Measurement></objects></MeasurementSet>
<marker_file>static.trc</marker_file><time_range>0 1</time_range>
<output_model_file>scaled.osim</output_model_file><output_scale_file>factors.xml</output_scale_file>
</ModelScaler>
<MarkerPlacer><apply>true</apply><IKTaskSet><objects>
<IKMarkerTask name="top"><weight>1</weight></IKMarkerTask><IKMarkerTask name="tip"><weight>1</weight>
</IKMarkerTask></objects></IKTaskSet><marker_file>static.trc</marker_file><time_range>0 1</time_range>
<output_motion_file>pose.mot</output_motion_file>
<output_marker_file>moved.xml</output_marker_file><output_model_file>placed.osim</output_model_file>
</MarkerPlacer></ScaleTool></OpenSimDocument>"""


def test_a_subject_of_twice_the_size(tmp_path):
    written(tmp_path)
    (tmp_path / "markers.xml").write_text(MARKERS)
    system = cd.read_osim(tmp_path / "model.osim")
    X = system.body_pose([0.3], "rod")
    stations = np.array([[0, 0, 0], [0, -2.0, 0]])
    places = np.asarray(stations @ np.asarray(X.R).T + np.asarray(X.p))
    cd.Markers([0.0, 1.0], ["top", "tip"], np.stack([places, places])).save(tmp_path / "static.trc")
    (tmp_path / "scale.xml").write_text(SCALE)
    report = run_setup(tmp_path / "scale.xml")
    assert [p.name for p in report.files] == [
        "scaled.osim",
        "factors.xml",
        "placed.osim",
        "moved.xml",
        "pose.mot",
    ]
    assert any("measurement arm is left out: no marker hand" in text for text in report.check)
    scaled = cd.read_osim(tmp_path / "scaled.osim")
    body = scaled.body("rod")
    np.testing.assert_allclose(body.mass_properties.com, (0, -1, 0), atol=1e-12)  # twice as far
    np.testing.assert_allclose(body.mass, 3)
    np.testing.assert_allclose(scaled.marker("tip").station, (0, -2, 0), atol=1e-12)
    text = (tmp_path / "factors.xml").read_text()
    factors = [float(x) for x in text.split("<scales>")[1].split("<")[0].split()]
    np.testing.assert_allclose(factors, 2, rtol=1e-12)
    pose = cd.read_table(tmp_path / "pose.mot")
    value, speed = pose.names  # all states, in radians, as OpenSim has them
    assert value.endswith("/angle/value") and speed.endswith("/angle/speed") and not pose.degrees
    assert len(pose) == 1 and abs(pose[value][0] - 0.3) < 0.2 and pose[speed][0] == 0
    placed = cd.read_osim(tmp_path / "placed.osim")
    now = placed.station_position(pose[value], "rod", placed.marker("tip").station)
    np.testing.assert_allclose(now, places[1], atol=1e-7)  # where it was seen; the file has 8 decimals
    moved = read_document(tmp_path / "moved.xml", "MarkerSet").object
    places = {
        m.name: [float(x) for x in m.child("location").text.split()] for m in moved.descendants("Marker")
    }
    assert places == {name: list(placed.marker(name).station) for name in placed.markers}
    # a scaler that is not applied leaves sizes and masses
    (tmp_path / "scale.xml").write_text(SCALE.replace("<ModelScaler>", "<ModelScaler><apply>false</apply>"))
    report = run_setup(tmp_path / "scale.xml")
    assert [p.name for p in report.files] == ["placed.osim", "moved.xml", "pose.mot"]
    assert cd.read_osim(tmp_path / "placed.osim").body("rod").mass == system.body("rod").mass


def test_measurements_that_measure_nothing(tmp_path):
    """As in OpenSim, where a setup without an order scaled nothing and was taken as one of measurements here;
    a measurement without pairs ended the run, and one of bodies that there are not said nothing."""
    written(tmp_path)
    (tmp_path / "markers.xml").write_text(MARKERS)
    places = np.array([[0, 0, 0], [0, -2.0, 0]])
    cd.Markers([0.0, 1.0], ["top", "tip"], np.stack([places, places])).save(tmp_path / "static.trc")

    def scaled(text: str) -> tuple[float, str]:
        (tmp_path / "scale.xml").write_text(text)
        report = run_setup(tmp_path / "scale.xml")
        return cd.read_osim(tmp_path / "scaled.osim").marker("tip").station[1], " ".join(report.check)

    pairs = "<MarkerPair><markers>top tip</markers></MarkerPair>"
    file = "<marker_file>static.trc</marker_file><time_range>0 1</time_range>\n<output_model_file>scaled"
    for old, new, said in (
        ("<scaling_order>measurements</scaling_order>", "", "names neither measurements nor manualScale"),
        ("<scaling_order>measurements", "<scaling_order>", "names neither measurements nor manualScale"),
        (pairs, "", "length is left out: it has no pairs"),
        ('name="rod"><axes>X Y Z', 'name="rot"><axes>X Y Z', "left out: the model has no body 'rot'"),
        ("<axes>X Y Z</axes>", "<axes></axes>", "length is left out: the model has no body 'rod' to scale"),
        (file, "<output_model_file>scaled", "length is left out: <marker_file> of the <ModelScaler>"),
    ):
        assert old in SCALE
        place, check = scaled(SCALE.replace(old, new, 1))
        assert place == -1.0
        assert said in check
    assert scaled(SCALE)[0] == -2.0
    gone = np.stack([places, places])
    gone[0, 0], gone[1, 1] = np.nan, np.nan
    cd.Markers([0.0, 1.0], ["top", "tip"], gone).save(tmp_path / "static.trc")
    placer = SCALE.index("<MarkerPlacer><apply>") + len("<MarkerPlacer><apply>")
    place, check = scaled(SCALE[:placer] + SCALE[placer:].replace("true", "false", 1))
    assert place == -1.0
    assert "length is left out: top and tip are never in one frame" in check


def test_factors_by_hand(tmp_path):
    """A Scale without <scales> leaves its segment; one that is not applied counts for nothing."""
    written(tmp_path)
    (tmp_path / "markers.xml").write_text(MARKERS)
    text = SCALE[: SCALE.index("<MarkerPlacer>")] + "</ScaleTool></OpenSimDocument>"
    text = text.replace("<scaling_order>measurements", "<scaling_order>manualScale")
    cd.Markers([0.0, 1.0], ["top", "tip"], np.zeros((2, 2, 3))).save(tmp_path / "static.trc")
    for scales, factors in (
        ("", 1.0),
        ("<scales>1 1.5 1</scales>", 1.5),
        ("<apply>false</apply><scales>1 2 1</scales>", 1.0),
    ):
        objects = (
            f"<ScaleSet><objects><Scale name='s'><segment>rod</segment>{scales}</Scale></objects></ScaleSet>"
        )
        (tmp_path / "scale.xml").write_text(text.replace("<marker_file>", objects + "<marker_file>", 1))
        run_setup(tmp_path / "scale.xml")
        scaled = cd.read_osim(tmp_path / "scaled.osim")
        np.testing.assert_allclose(scaled.marker("tip").station, (0, -factors, 0), atol=1e-12)
