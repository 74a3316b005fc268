"""External loads from OpenSim's .xml files."""

import numpy as np
import pytest

import condyle as cd
from tests.opensim.files import reference

FORCE = """<ExternalForce name="one"><applied_to_body>/bodyset/rod</applied_to_body>
  <force_identifier>f_</force_identifier><point_identifier>p_</point_identifier>{more}</ExternalForce>"""


def written(folder, forces: str, datafile: str = "push.mot", version: int = 40600):
    t = np.linspace(0, 1, 5)
    rows = np.tile([10.0, 0, 0, 0, -0.3, 0], (5, 1))
    names = ["f_x", "f_y", "f_z", "p_x", "p_y", "p_z"]
    cd.Table(t, names, rows, ["N"] * 3 + ["m"] * 3).save(folder / "push.mot")
    file = folder / "loads.xml"
    file.write_text(
        f'<OpenSimDocument Version="{version}"><ExternalLoads '
        f'name="l"><objects>{forces}</objects>'
        f"<datafile>{datafile}</datafile></ExternalLoads></OpenSimDocument>"
    )
    return file


def test_walking():
    loads = cd.read_external_loads(reference("opensim/Gait2354_Simbody/pipeline/subject01_walk1_grf.xml"))
    assert [load.body for load in loads] == ["calcn_r", "calcn_l"]
    assert loads[1].force == ("1_ground_force_vx", "1_ground_force_vy", "1_ground_force_vz")
    assert loads[0].torque == ("ground_torque_x", "ground_torque_y", "ground_torque_z")
    assert (loads[0].frame, loads[0].point_frame) == ("ground", "ground")


@pytest.mark.parametrize(
    ("more", "version"),
    [("<isDisabled>true</isDisabled>", 20302), ("<appliesForce>false</appliesForce>", 40600)],
)
def test_loads_that_are_switched_off(tmp_path, more, version):
    held = "<point_expressed_in_body>rod</point_expressed_in_body>"
    both = FORCE.format(more=held) + FORCE.format(more=more)
    (load,) = cd.read_external_loads(written(tmp_path, both, version=version))
    assert (load.body, load.point_frame, load.torque) == ("rod", "rod", None)
    with pytest.raises(cd.errors.DescriptionError, match="no <ExternalForce>"):
        cd.read_external_loads(written(tmp_path, FORCE.format(more=more), version=version))


def test_another_table(tmp_path):
    file = written(tmp_path, FORCE.format(more=""), datafile="Unassigned")
    with pytest.raises(cd.errors.DescriptionError, match="no <datafile>"):
        cd.read_external_loads(file)
    table = cd.read_table(tmp_path / "push.mot", degrees=False)
    assert cd.read_external_loads(file, table)[0].table is table
    assert cd.read_external_loads(file, tmp_path / "push.mot")[0].force == ("f_x", "f_y", "f_z")


@pytest.mark.parametrize(
    ("forces", "error", "words"),
    [
        (FORCE.format(more="").replace("f_<", "g_<"), cd.errors.UnknownNameError, "'g_'"),
        (FORCE.format(more="").replace("/bodyset/rod", ""), cd.errors.DescriptionError, "on which body"),
    ],
)
def test_refusals(tmp_path, forces, error, words):
    with pytest.raises(error, match=words):
        cd.read_external_loads(written(tmp_path, forces))
    with pytest.raises(cd.errors.DescriptionError, match=r"expected OpenSim's \.xml"):
        cd.read_external_loads(tmp_path / "push.mot")
    with pytest.raises(FileNotFoundError):
        cd.read_external_loads(tmp_path / "none.xml")
