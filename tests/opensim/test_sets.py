"""Sets in files of their own, which cd.read_osim adds to a model."""

import numpy as np
import pytest

import condyle as cd
from tests.opensim.files import pendulum

OWN = """<MarkerSet><objects><Marker name="tip"><socket_parent_frame>/bodyset/rod</socket_parent_frame>
<location>0 -1 0</location></Marker></objects></MarkerSet>"""
MARKERS = """<OpenSimDocument Version="30000"><MarkerSet><objects>
<Marker name="tip"><body>rod</body><location>0 -2 0</location></Marker>
<Marker name="side"><body>rod</body><location>0.1 0 0</location></Marker></objects></MarkerSet>
</OpenSimDocument>"""
FORCES = """<{0}><objects><CoordinateActuator name="reserve"><coordinate>hinge_coord_0</coordinate>
<optimal_force>7</optimal_force></CoordinateActuator></objects></{0}>"""


def written(folder, **texts):
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [folder / name for name in texts]


@pytest.mark.parametrize("tag", ["ForceSet", "ActuatorSet"])
def test_markers_and_forces(tmp_path, tag):
    path, markers, forces = written(
        tmp_path, model=pendulum(more=OWN), markers=MARKERS, forces=FORCES.format(tag)
    )
    alone, system = cd.read_osim(path), cd.read_osim(path, add=[markers, forces])
    assert system.markers == ("tip", "side")
    np.testing.assert_array_equal(system.marker("tip").station, (0, -2, 0))  # the added one counts
    assert set(system.forces) - set(alone.forces) == {"reserve"}
    assert cd.read_osim(path, add=str(markers)).markers == system.markers


def test_refusals(tmp_path):
    path, wrong = written(tmp_path, model=pendulum(), wrong=FORCES.format("Probes"))
    with pytest.raises(cd.errors.DescriptionError, match=r"expected a MarkerSet or ForceSet .* got a Model"):
        cd.read_osim(path, add=path)
    with pytest.raises(cd.errors.DescriptionError, match="Probes"):
        cd.read_osim(path, add=wrong)


def test_a_model_without_markers_says_how_to_get_them(tmp_path):
    (path,) = written(tmp_path, model=pendulum())
    static = cd.Markers([0.0], ("tip",), np.zeros((1, 1, 3)))
    for study in (lambda s: cd.scale(s, static), lambda s: cd.inverse_kinematics(s, static)):
        with pytest.raises(cd.errors.CondyleError, match=r"cd.read_osim\(path, add='markers.xml'\)"):
            study(cd.read_osim(path))
