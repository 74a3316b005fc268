"""Setup files of OpenSim's AnalyzeTool."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

import condyle as cd
from condyle.opensim.setup import run_setup
from tests.opensim.files import copied, reference
from tests.opensim.setup.small import document, written

COMMON = "<on>true</on><step_interval>2</step_interval><in_degrees>true</in_degrees>"
ANALYZE = document(
    "AnalyzeTool",
    f"""<results_directory>out</results_directory>
<initial_time>0.2</initial_time><final_time>0.8</final_time><output_precision>12</output_precision>
<external_loads_file>loads.xml</external_loads_file><coordinates_file>motion.mot</coordinates_file>
<AnalysisSet><objects>
<Kinematics name="Kinematics">{COMMON}<coordinates>all</coordinates></Kinematics>
<BodyKinematics name="BodyKinematics">{COMMON}<bodies>all</bodies></BodyKinematics>
<PointKinematics name="Point">{COMMON}<body_name>rod</body_name><point_name>tip</point_name>
<point>0 -1 0</point></PointKinematics>
<JointReaction name="JR">{COMMON}<joint_names>ALL</joint_names><express_in_frame>child</express_in_frame>
</JointReaction>
<StaticOptimization name="SO">{COMMON}<activation_exponent>2</activation_exponent></StaticOptimization>
<InducedAccelerations name="IA">{COMMON}<coordinate_names>all</coordinate_names>
<body_names>rod center_of_mass</body_names><ConstraintSet><objects><PointConstraint name="p"/></objects>
</ConstraintSet></InducedAccelerations>
<ForceReporter name="FR">{COMMON}</ForceReporter><Actuation name="Act">{COMMON}</Actuation>
<Probes name="P">{COMMON}</Probes>
<Kinematics name="Off"><on>false</on></Kinematics>
</objects></AnalysisSet>""",
)
ACTUATOR = """<OpenSimDocument Version="40600"><ForceSet name="reserves"><objects>
<CoordinateActuator name="motor"><coordinate>angle</coordinate><optimal_force>10</optimal_force>
</CoordinateActuator></objects></ForceSet></OpenSimDocument>"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Folder, report, and the motion of the frames in between, with all operators."""
    folder = tmp_path_factory.mktemp("analyze")
    motion = written(folder)
    (folder / "reserves.xml").write_text(ACTUATOR)
    (folder / "a.xml").write_text(
        ANALYZE.replace(
            "<results_directory>", "<force_set_files>reserves.xml</force_set_files><results_directory>"
        )
    )
    report = run_setup(folder / "a.xml")
    system = cd.read_osim(folder / "model.osim")
    return folder / "out", report, cd.Motion.of(system, motion, as_opensim=True)[8:33:2]


def test_files(ran):
    folder, report, _ = ran
    assert {p.name for p in folder.iterdir()} == {
        *(f"small_Kinematics_{x}.sto" for x in ("q", "u", "dudt")),
        *(f"small_BodyKinematics_{x}_global.sto" for x in ("pos", "vel", "acc")),
        *(f"small_Point_tip_{x}.sto" for x in ("pos", "vel", "acc")),
        "small_JR_ReactionLoads.sto",
        "small_SO_activation.sto",
        "small_SO_force.sto",
        "small_SO_controls.xml",
        "small_FR_forces.sto",
        *(f"small_IA_{x}.sto" for x in ("angle", "rod", "center_of_mass")),
        *(f"small_Act_{x}.sto" for x in ("force", "speed", "power")),
    }
    assert any("analysis Probes is not supported" in text for text in report.check)
    assert report.qualities[0]["frames that failed"].verdict == "ok"


def test_reactions_of_joints_that_there_are_not(tmp_path):
    """They take their words of <apply_on_bodies> and <express_in_frame> with them, as in OpenSim: the next
    joint had another's. Lists of other lengths are refused, as in OpenSim."""
    written(tmp_path)
    joint = next(iter(joint_names(tmp_path / "model.osim")))
    reactions = f"""<JointReaction name="JR">{COMMON}<joint_names>knee {joint}</joint_names>
<apply_on_bodies>parent child</apply_on_bodies><express_in_frame>rod ground</express_in_frame>
</JointReaction>"""
    text = document(
        "AnalyzeTool",
        f"""<results_directory>out</results_directory>
<coordinates_file>motion.mot</coordinates_file><AnalysisSet><objects>{reactions}</objects></AnalysisSet>""",
    )
    (tmp_path / "a.xml").write_text(text)
    report = run_setup(tmp_path / "a.xml")
    assert any("there is no knee in the model" in line for line in report.check)
    found = cd.read_table(tmp_path / "out" / "small_JR_ReactionLoads.sto")
    assert found.names[0] == f"{joint}_on_rod_in_ground_fx" and len(found.names) == 9
    (tmp_path / "a.xml").write_text(text.replace("parent child", "parent child child"))
    with pytest.raises(cd.errors.DescriptionError, match="<apply_on_bodies> has 3 words for 2 joints"):
        run_setup(tmp_path / "a.xml")


def joint_names(path):
    """Names of the joints of a model file."""
    return [e.get("name") for e in ElementTree.parse(path).getroot().find(".//JointSet/objects")]


def test_kinematics(ran):
    folder, _, motion = ran
    system = motion.system
    q = cd.read_table(folder / "small_Kinematics_q.sto")
    assert q.degrees and q.names == ("angle",)
    np.testing.assert_allclose(q["angle"], np.degrees(motion.q[:, 0]), atol=1e-11)  # printed digits
    speeds, rates = (cd.read_table(folder / f"small_Kinematics_{x}.sto")["angle"] for x in ("u", "dudt"))
    np.testing.assert_allclose(speeds, np.degrees(motion.u[:, 0]), atol=1e-11)
    np.testing.assert_allclose(rates, np.degrees(motion.udot[:, 0]), atol=1e-9)
    body = cd.read_table(folder / "small_BodyKinematics_vel_global.sto")
    com = system.body("rod").mass_properties.com
    np.testing.assert_allclose(
        body[["rod_X", "rod_Y", "rod_Z"]].values,
        system.station_velocity(motion.q, motion.u, "rod", com),
        atol=1e-11,
    )
    np.testing.assert_allclose(body["rod_Oz"], np.degrees(motion.u[:, 0]), atol=1e-11)
    np.testing.assert_allclose(body["center_of_mass_X"], body["rod_X"], atol=1e-11)
    tip = cd.read_table(folder / "small_Point_tip_acc.sto")
    np.testing.assert_allclose(
        tip.values,
        system.station_acceleration(motion.q, motion.u, motion.udot, "rod", (0, -1, 0)),
        atol=1e-10,
    )


def test_forces(ran):
    folder, _, motion = ran
    load = cd.ExternalLoad("rod", cd.read_table(folder.parent / "loads.mot"), "force_v", "force_p", "torque_")
    found = cd.read_table(folder / "small_JR_ReactionLoads.sto")
    assert found.names[0] == "hinge_on_rod_in_rod_fx"
    system, need = motion.system, cd.inverse_dynamics(motion.system, motion, load)
    udot = motion.udot - system.solve_mass_matrix(motion.q, need.values)  # nobody exerts that moment
    free = cd.Motion(system, motion.t, motion.q, motion.u, udot)
    expected = cd.joint_reactions(system, free, None, load, frame="child")
    np.testing.assert_allclose(found.values, expected.values, atol=1e-10)
    moment = cd.inverse_dynamics(motion.system, motion, load)["angle"]
    force = cd.read_table(folder / "small_SO_force.sto")["motor"]
    np.testing.assert_allclose(force, moment, atol=0.02)  # accelerations of the spline through the speeds
    np.testing.assert_allclose(
        cd.read_table(folder / "small_SO_activation.sto")["motor"], force / 10, atol=1e-11
    )
    assert '<ControlLinear name="motor">' in (folder / "small_SO_controls.xml").read_text()


def test_forces_and_what_they_induce(ran):
    """The load in its own columns; a rod that is held at the load's point does not move."""
    folder, _, motion = ran
    load = cd.ExternalLoad("rod", cd.read_table(folder.parent / "loads.mot"), "force_v", "force_p", "torque_")
    found = cd.read_table(folder / "small_FR_forces.sto")
    p, force, torque = load.acting(motion)
    assert found.names == ("motor", *(f"rod_push_{what}{axis}" for what in "FpT" for axis in "xyz"))
    X = motion.system.body_pose(motion.q, "rod")
    own = np.einsum("tji,tj->ti", X.R, p - X.p)
    np.testing.assert_allclose(found.values[:, 1:], np.hstack([force, own, torque]), atol=1e-11)
    angle = cd.read_table(folder / "small_IA_angle.sto")
    assert angle.names == ("total", "motor", "gravity", "velocity")
    np.testing.assert_allclose(angle["total"], angle.values[:, 1:].sum(axis=1), atol=1e-9)
    np.testing.assert_allclose(angle.values, 0.0, atol=1e-8)
    rod = cd.read_table(folder / "small_IA_rod.sto")
    assert rod.names[:6] == tuple(f"total_{x}" for x in ("X", "Y", "Z", "Ox", "Oy", "Oz"))


def test_joint_reactions_of_a_walking_trial(tmp_path, evidence):
    """OpenSim 4.6's file, from the same muscle forces."""
    folder = copied(reference("gait10dof18musc_pipeline"), tmp_path / "trial") / "SO"
    stored = cd.read_table(folder / "so_phys_on" / "walk_JR_child_ReactionLoads.sto")
    run_setup(folder / "setup_so_phys_on_jr_child.xml")
    found = cd.read_table(folder / "so_phys_on" / "walk_JR_child_ReactionLoads.sto")
    assert found.names == stored.names
    np.testing.assert_allclose(found.time, stored.time, atol=1e-14)
    error = np.abs(found.values - stored.values).max() / np.abs(stored.values).max()
    evidence(
        "file of a joint-reaction setup against OpenSim's, gait10dof18musc walking, relative", error, 1e-9
    )
    assert error < 1e-9


def test_columns_as_asked_for_and_no_names(tmp_path):
    """OpenSim's order is that of the list, with the mass center last; a tool or analysis without a name has
    none in its files."""
    written(tmp_path)
    (tmp_path / "a.xml").write_text(
        document(
            "AnalyzeTool",
            """<coordinates_file>motion.mot</coordinates_file>
<AnalysisSet><objects><BodyKinematics><bodies>center_of_mass rod</bodies></BodyKinematics></objects>
</AnalysisSet>""",
            name="",
        )
    )
    files = run_setup(tmp_path / "a.xml").files
    assert [p.name for p in files] == ["__pos_global.sto", "__vel_global.sto", "__acc_global.sto"]
    names = cd.read_table(files[0]).names
    assert [n.rpartition("_")[0] for n in names] == ["rod"] * 6 + ["center_of_mass"] * 3


def test_speeds_from_a_file(tmp_path):
    """Speeds are those of the file, not derivatives; a file that is too short is refused."""
    motion = written(tmp_path)
    names = "<speeds_file>speeds.sto</speeds_file><coordinates_file>"
    kinematics = "<AnalysisSet><objects><Kinematics name='Kinematics'><on>true</on><in_degrees>false</in_degrees></Kinematics></objects></AnalysisSet>"
    text = ANALYZE[: ANALYZE.index("<AnalysisSet>")] + kinematics + "</AnalyzeTool></OpenSimDocument>"
    (tmp_path / "a.xml").write_text(text.replace("<coordinates_file>", names))
    for column in ("angle_u", "angle"):
        cd.Table(motion.time, [column], 0.5 + motion.time[:, None], degrees=False).save(
            tmp_path / "speeds.sto"
        )
        run_setup(tmp_path / "a.xml")
        found = cd.read_table(next((tmp_path / "out").glob("*Kinematics_u*")))
        np.testing.assert_allclose(found["angle"], 0.5 + found.time, atol=1e-9)
    short = cd.Table(motion.time[:-1], ["angle"], motion.time[:-1, None], degrees=False)
    short.save(tmp_path / "speeds.sto")
    with pytest.raises(
        cd.errors.CondyleError, match=r"<speeds_file> goes from 0 to 0\.975 s, the coordinates"
    ):
        run_setup(tmp_path / "a.xml")
