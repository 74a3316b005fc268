"""ForwardTool: the run that cd.simulate gives, in OpenSim's files."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.opensim.setup import run_setup
from tests.opensim.setup.small import document, written

MOTOR = """<ForceSet name="forceset"><objects><CoordinateActuator name="motor"><coordinate>angle</coordinate>
<optimal_force>4</optimal_force></CoordinateActuator></objects></ForceSet>"""
CONTROLS = """<ControlSet name="controls"><objects><ControlLinear name="motor.excitation">
<extrapolate>true</extrapolate><x_nodes>
<ControlLinearNode><t>0.1</t><value>0.2</value></ControlLinearNode>
<ControlLinearNode><t>0.3</t><value>0.6</value></ControlLinearNode></x_nodes></ControlLinear>
</objects></ControlSet>"""
FILE = """<ControlSetController name="c"><controls_file>controls.xml</controls_file></ControlSetController>"""
FUNCTION = """<PrescribedController name="p"><socket_actuators>/forceset/motor</socket_actuators>
<FunctionSet name="ControlFunctions"><objects>
<LinearFunction><coefficients>2 0</coefficients></LinearFunction>
</objects></FunctionSet></PrescribedController>"""
FORWARD = document(
    "ForwardTool",
    """<results_directory>out</results_directory>
<initial_time>0.1</initial_time><final_time>0.5</final_time>
<integrator_error_tolerance>1e-8</integrator_error_tolerance>
<states_file>start.sto</states_file><external_loads_file>EXTERNAL</external_loads_file>
<ControllerSet><objects>CONTROLLER</objects></ControllerSet>""",
)
OPENSIM = {"": (0.02453265, 1.67281908), "loads.xml": (0.34238019, 3.06213830)}
"""The last row of states that OpenSim 4.6 wrote of these very files, without and with external loads."""


def ran(folder, controller, external=""):
    written(folder, more=MOTOR)
    (folder / "controls.xml").write_text(CONTROLS)
    names = ["/jointset/hinge/angle/speed", "/jointset/hinge/angle/value"]
    cd.Table([0.0, 0.1, 0.2], names, [[9.0, 9.0], [0.3, -0.4], [9.0, 9.0]], degrees=False).save(
        folder / "start.sto"
    )
    text = FORWARD.replace("CONTROLLER", controller).replace("EXTERNAL", external)
    (folder / "forward.xml").write_text(text)
    return run_setup(folder / "forward.xml")


def by_hand(folder, load=None):
    """The same pendulum with its motor's moment, 4 * 2 t, as a force over time."""
    system = cd.read_osim(folder / "model.osim").copy(forces={"motor": None})
    system.add_force("moment", cd.forces.MobilityForce("angle", cd.functions.Linear(8.0, 0.0)))
    if load is not None:
        system.add_force("load", load)
    return cd.simulate(system, system.state(q=[-0.4], u=[0.3], t=0.1), 0.5, accuracy=1e-8)


@pytest.mark.parametrize("controller", [FILE, FUNCTION], ids=["ControlSet", "function"])
def test_a_driven_pendulum(tmp_path, controller):
    """Nodes on the line 2 t, continued beyond the last, or a function: both are the motor's moment."""
    report = ran(tmp_path, controller)
    assert [p.name for p in report.files] == [
        "small_controls.sto",
        "small_states.sto",
        "small_states_degrees.mot",
    ]
    states = cd.read_table(tmp_path / "out" / "small_states.sto")
    assert states.names == ("/jointset/hinge/angle/value", "/jointset/hinge/angle/speed")
    expected = by_hand(tmp_path)
    assert states.time[0] == 0.1 and states.time[-1] == 0.5
    at = expected.at(states.time)
    np.testing.assert_allclose(states.values, at[:, :2], atol=1e-6)  # accuracy 1e-8, 8 printed digits
    np.testing.assert_allclose(states.values[-1], OPENSIM[""], atol=1e-6)  # accuracy of both: 1e-8
    degrees = cd.read_table(tmp_path / "out" / "small_states_degrees.mot")
    assert degrees.degrees
    np.testing.assert_allclose(degrees.values, np.degrees(states.values), atol=1e-6)
    controls = cd.read_table(tmp_path / "out" / "small_controls.sto")
    assert controls.names == ("motor",)
    np.testing.assert_allclose(controls["motor"], 2 * controls.time, atol=2e-8)  # printed digits


def test_external_loads(tmp_path):
    """A force at a point in ground and a torque, as in the file of loads."""
    ran(tmp_path, FUNCTION, "loads.xml")
    states = cd.read_table(tmp_path / "out" / "small_states.sto")
    t = np.arange(41) / 40
    grow = (1 + t)[:, None]
    load = cd.forces.ExternalWrench(
        "rod",
        (t, grow * [0.1, 0.2, 0]),
        (t, grow * [3.0, 5, 0]),
        (t, grow * [0, 0, 0.3]),
        station_frame="ground",
    )
    expected = by_hand(tmp_path, load)
    np.testing.assert_allclose(states.values[-1], expected.y[-1][:2], atol=1e-6)
    np.testing.assert_allclose(states.values[-1], OPENSIM["loads.xml"], atol=1e-6)


@pytest.mark.parametrize(
    ("controller", "words"),
    [
        (FILE + FUNCTION, "motor has a control already"),
        (FILE.replace("controls.xml", "control.xml"), "no file 'control.xml'.*is it controls.xml"),
        (FUNCTION.replace("/motor<", "/moter<"), "moter"),
        (
            '<CorrectionController name="c"><kp>16</kp></CorrectionController>',
            "this controller is not supported",
        ),
    ],
)
def test_what_is_wrong_is_said(tmp_path, controller, words):
    with pytest.raises(cd.errors.CondyleError, match=words):
        ran(tmp_path, controller)


def test_excitations_beyond_their_range_are_told_of(tmp_path):
    """OpenSim lets activations leave 0 to 1 with them; here they stay, in silence before."""
    muscle = """<ForceSet><objects><Thelen2003Muscle name="flexor"><GeometryPath><PathPointSet><objects>
<PathPoint name="a"><socket_parent_frame>/ground</socket_parent_frame><location>0.1 0.1 0</location>
</PathPoint><PathPoint name="b"><socket_parent_frame>/bodyset/rod</socket_parent_frame>
<location>0.05 -0.3 0</location>
</PathPoint></objects></PathPointSet></GeometryPath><optimal_fiber_length>0.2</optimal_fiber_length>
<tendon_slack_length>0.2</tendon_slack_length></Thelen2003Muscle></objects></ForceSet>"""
    written(tmp_path, more=muscle)
    text = FORWARD.replace("<states_file>start.sto</states_file>", "").replace("EXTERNAL", "")
    text = text.replace("CONTROLLER", FILE).replace("0.5</final", "0.12</final")
    (tmp_path / "forward.xml").write_text(text)
    for value, told in (("0.2", False), ("-0.3", True), ("1.2", True)):
        (tmp_path / "controls.xml").write_text(
            CONTROLS.replace("motor", "flexor").replace("<value>0.2<", f"<value>{value}<")
        )
        check = run_setup(tmp_path / "forward.xml").check
        assert any("controls of flexor leave 0 to 1" in line for line in check) == told
