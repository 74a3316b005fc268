"""ForceReporter: every class of force in OpenSim's columns, beside OpenSim itself."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import condyle as cd
from benchmarks.opensim_setups import run_in_opensim
from condyle.opensim.setup import run_setup
from tests.opensim.setup.small import document, written

PATH = """<GeometryPath name="path"><PathPointSet><objects>
<PathPoint name="a"><socket_parent_frame>/ground</socket_parent_frame><location>0.3 1.1 0</location>
</PathPoint>
<PathPoint name="b"><socket_parent_frame>/bodyset/rod</socket_parent_frame><location>0.05 -0.6 0.1</location>
</PathPoint></objects></PathPointSet></GeometryPath>"""
FRAMES = """<socket_frame1>{one}</socket_frame1><socket_frame2>/bodyset/rod</socket_frame2>"""
POINTS = """<point1>0.2 0.1 0</point1><point2>0 -0.7 0.1</point2>"""
CONTACT = """<HuntCrossleyForce::ContactParametersSet name="contact_parameters"><objects>
<HuntCrossleyForce::ContactParameters><geometry>ball floor</geometry><stiffness>1e5</stiffness>
<dissipation>0.5</dissipation><static_friction>0.8</static_friction><dynamic_friction>0.4</dynamic_friction>
</HuntCrossleyForce::ContactParameters></objects></HuntCrossleyForce::ContactParametersSet>"""
TIMES = '<FunctionSet name="{}Functions"><objects>{}</objects></FunctionSet>'
LINE = "<LinearFunction><coefficients>{} {}</coefficients></LinearFunction>"
MULTIPLIED = (
    "<MultiplierFunction><function><LinearFunction><coefficients>1 2</coefficients>"
    "</LinearFunction></function><scale>1.5</scale></MultiplierFunction>"
)
MORE = f"""<ContactGeometrySet name="contactgeometryset"><objects>
<ContactSphere name="ball"><socket_frame>/bodyset/rod</socket_frame><location>0 -0.9 0</location>
<radius>0.25</radius></ContactSphere>
<ContactHalfSpace name="floor"><socket_frame>/ground</socket_frame><orientation>0 0 -1.5707963267948966
</orientation></ContactHalfSpace></objects></ContactGeometrySet>
<ForceSet name="forceset"><objects>
<CoordinateLimitForce name="stop"><coordinate>angle</coordinate><upper_stiffness>20</upper_stiffness>
<upper_limit>10</upper_limit><lower_stiffness>5</lower_stiffness><lower_limit>-10</lower_limit>
<damping>0.2</damping><transition>4</transition></CoordinateLimitForce>
<SpringGeneralizedForce name="turn"><coordinate>angle</coordinate><stiffness>3</stiffness>
<rest_length>0.1</rest_length><viscosity>0.4</viscosity></SpringGeneralizedForce>
<ExpressionBasedCoordinateForce name="said"><coordinate>angle</coordinate><expression>-2*q^3-qdot</expression>
</ExpressionBasedCoordinateForce>
<PathSpring name="band">{PATH}<resting_length>1.2</resting_length><stiffness>90</stiffness>
<dissipation>0.1</dissipation></PathSpring>
<Ligament name="strap">{PATH}<resting_length>1.4</resting_length><pcsa_force>70</pcsa_force></Ligament>
<Blankevoort1991Ligament name="sheet">{PATH}<linear_stiffness>800</linear_stiffness>
<slack_length>1.5</slack_length></Blankevoort1991Ligament>
<PathActuator name="rope">{PATH}<optimal_force>10</optimal_force></PathActuator>
<CoordinateActuator name="motor"><coordinate>angle</coordinate><optimal_force>4</optimal_force>
</CoordinateActuator>
<BushingForce name="sleeve">{FRAMES.format(one="/ground")}<rotational_stiffness>1 2 3</rotational_stiffness>
<translational_stiffness>10 20 30</translational_stiffness><rotational_damping>.1 .2 .3</rotational_damping>
<translational_damping>1 2 3</translational_damping></BushingForce>
<ExpressionBasedBushingForce name="rule">{FRAMES.format(one="/ground")}<Mz_expression>2*theta_z^3
</Mz_expression><Fx_expression>5*delta_x</Fx_expression></ExpressionBasedBushingForce>
<PointToPointSpring name="link"><socket_body1>/ground</socket_body1><socket_body2>/bodyset/rod</socket_body2>
{POINTS}<stiffness>40</stiffness><rest_length>0.5</rest_length></PointToPointSpring>
<ExpressionBasedPointToPointForce name="pull"><body1>ground</body1><body2>rod</body2>{POINTS}
<expression>3*d-ddot</expression>
</ExpressionBasedPointToPointForce>
<HuntCrossleyForce name="floor_contact">{CONTACT}</HuntCrossleyForce>
<SmoothSphereHalfSpaceForce name="soft"><socket_sphere>/contactgeometryset/ball</socket_sphere>
<socket_half_space>/contactgeometryset/floor</socket_half_space><stiffness>1e5</stiffness>
<dissipation>2</dissipation><static_friction>0.8</static_friction><dynamic_friction>0.6</dynamic_friction>
<viscous_friction>0.5</viscous_friction></SmoothSphereHalfSpaceForce>
<PrescribedForce name="given"><socket_frame>/bodyset/rod</socket_frame><forceIsGlobal>false</forceIsGlobal>
{TIMES.format("force", LINE.format(1, 2) + LINE.format(-3, 0) + MULTIPLIED)}
{TIMES.format("point", LINE.format(0, 0.1) + LINE.format(0.1, -0.2) + LINE.format(0, 0.05))}
{TIMES.format("torque", LINE.format(0, 1) + LINE.format(0.5, 0) + LINE.format(0, -1))}</PrescribedForce>
<CoordinateActuator name="off"><appliesForce>false</appliesForce><coordinate>angle</coordinate>
<optimal_force>4</optimal_force></CoordinateActuator>
</objects></ForceSet>"""
CONTROLS = """<ControllerSet><objects><PrescribedController name="p">
<socket_actuators>/forceset/rope /forceset/motor</socket_actuators>
<FunctionSet name="ControlFunctions"><objects>
<LinearFunction><coefficients>2 0</coefficients></LinearFunction><Constant><value>0.3</value></Constant>
</objects></FunctionSet></PrescribedController></objects></ControllerSet>"""
COMMON = "<on>true</on><step_interval>3</step_interval><in_degrees>true</in_degrees>"
ANALYZE = document(
    "AnalyzeTool",
    f"""<results_directory>OUT</results_directory>
<initial_time>0.2</initial_time><final_time>0.8</final_time><output_precision>12</output_precision>
<external_loads_file>loads.xml</external_loads_file><coordinates_file>motion.mot</coordinates_file>{CONTROLS}
<AnalysisSet><objects><ForceReporter name="FR">{COMMON}</ForceReporter>
<Actuation name="Act">{COMMON}</Actuation>
<BodyKinematics name="BK">{COMMON}<express_results_in_body_local_frame>true
</express_results_in_body_local_frame><bodies>rod center_of_mass</bodies></BodyKinematics>
<PointKinematics name="PK">{COMMON}<body_name>rod</body_name><relative_to_body_name>NONE
</relative_to_body_name><point_name>tip</point_name><point>0 -1 0</point></PointKinematics>
<JointReaction name="JR">{COMMON}</JointReaction></objects></AnalysisSet>""",
)


@pytest.mark.skipif(find_spec("opensim") is None, reason="OpenSim is not installed")
def test_every_class_beside_opensim(tmp_path, evidence):
    """Headers and columns are equal, and so are values but for those of accelerations, which are the motion's
    here."""
    written(tmp_path, MORE)
    for name in ("ours", "theirs"):
        (tmp_path / f"{name}.xml").write_text(ANALYZE.replace("OUT", name))
    run_in_opensim(tmp_path / "theirs.xml")
    report = run_setup(tmp_path / "ours.xml")
    assert {p.name for p in (tmp_path / "theirs").iterdir()} == {p.name for p in report.files}
    worst = 0.0
    for file in report.files:
        other = tmp_path / "theirs" / file.name
        mine, his = (
            [line.rstrip() for line in p.read_text().partition("endheader")[0].splitlines()]
            for p in (file, other)
        )
        assert mine == his, file.name
        a, b = (cd.read_table(p, degrees=False) for p in (file, other))
        assert a.names == b.names, file.name
        if "_acc" not in file.name:
            error = np.abs(a.values - b.values) / np.maximum(np.abs(b.values), 1)
            worst = max(worst, float(error.max()))
            assert worst < 1e-9, (file.name, a.names[int(error.max(axis=0).argmax())])
    evidence(
        "files of ForceReporter, Actuation, JointReaction against OpenSim's, 17 classes of forces, relative",
        worst,
        1e-9,
    )
    names = cd.read_table(tmp_path / "ours" / "small_FR_forces.sto").names
    assert "rod_push_Fx" in names and "off" not in names
