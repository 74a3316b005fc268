"""OutputReporter and potentials of induced accelerations, beside OpenSim itself."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import condyle as cd
from benchmarks.opensim_setups import run_in_opensim
from condyle.opensim.setup import run_setup
from tests.opensim.setup.small import document, written
from tests.opensim.setup.test_force_report import PATH

MORE = f"""<ForceSet name="forceset"><objects><Thelen2003Muscle name="pull">{PATH}
<max_isometric_force>300</max_isometric_force><optimal_fiber_length>0.3</optimal_fiber_length>
<tendon_slack_length>0.5</tendon_slack_length></Thelen2003Muscle>
<CoordinateActuator name="motor"><coordinate>angle</coordinate><optimal_force>4</optimal_force>
</CoordinateActuator></objects></ForceSet>
<MarkerSet name="markerset"><objects><Marker name="tip"><socket_parent_frame>/bodyset/rod
</socket_parent_frame><location>0 -1 0.1</location></Marker></objects></MarkerSet>"""
OUTPUTS = {
    "/jointset/hinge/angle": "value speed acceleration",
    "/forceset/motor": "actuation speed power",
    "/forceset/pull": "actuation fiber_length tendon_force activation muscle_power power tension "
    "passive_fiber_force speed(alias)",
    "/forceset/pull/path": "length lengthening_speed",
    "/bodyset/rod": "position angular_velocity linear_velocity velocity acceleration "
    "angular_acceleration linear_acceleration",
    "/ground": "position",
    "/markerset/tip": "location velocity acceleration",
    "/jointset/hinge": "reaction_on_child reaction_on_parent",
    "/": "com_position com_velocity com_acceleration kinetic_energy",
}
ASKED = " ".join(f"{path}|{output}" for path, outputs in OUTPUTS.items() for output in outputs.split())
COMMON = "<on>true</on><step_interval>3</step_interval><in_degrees>true</in_degrees>"
ANALYZE = document(
    "AnalyzeTool",
    f"""<results_directory>OUT</results_directory>
<initial_time>0.2</initial_time><final_time>0.8</final_time><output_precision>12</output_precision>
<solve_for_equilibrium_for_auxiliary_states>true</solve_for_equilibrium_for_auxiliary_states>
<coordinates_file>motion.mot</coordinates_file><AnalysisSet><objects>
<InducedAccelerations name="IA">{COMMON}<coordinate_names>all</coordinate_names>
<body_names>rod center_of_mass</body_names><compute_potentials_only>true</compute_potentials_only>
</InducedAccelerations>
<OutputReporter name="OR">{COMMON}<output_paths>{ASKED} MORE</output_paths></OutputReporter>
</objects></AnalysisSet>""",
)


@pytest.mark.skipif(find_spec("opensim") is None, reason="OpenSim is not installed")
def test_beside_opensim(tmp_path, evidence):
    written(tmp_path, MORE)
    (tmp_path / "theirs.xml").write_text(ANALYZE.replace("OUT", "theirs").replace("MORE", ""))
    (tmp_path / "ours.xml").write_text(ANALYZE.replace("OUT", "ours").replace("MORE", "/bodyset/rod|mood"))
    run_in_opensim(tmp_path / "theirs.xml")
    report = run_setup(tmp_path / "ours.xml")
    assert {p.name for p in (tmp_path / "theirs").iterdir()} == {p.name for p in report.files}
    assert any("not written: /bodyset/rod|mood" in line for line in report.check)
    worst = 0.0
    for file in report.files:
        ours, theirs = (cd.read_table(p, degrees=False) for p in (file, tmp_path / "theirs" / file.name))
        assert ours.names == theirs.names and ours.values.shape == theirs.values.shape
        error = np.abs(ours.values - theirs.values) / np.maximum(np.abs(theirs.values), 1)
        # OpenSim's fibers are in equilibrium to 1e-8 of the greatest force
        assert error.max() < (1e-12 if "_IA_" in file.name else 2e-6), file.name
        worst = max(worst, float(error.max()))
    evidence(
        "files of OutputReporter and potentials of accelerations against OpenSim's, relative", worst, 2e-6
    )
