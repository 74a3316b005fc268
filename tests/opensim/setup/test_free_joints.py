"""A body that floats, and constraints, in setup files: beside OpenSim itself."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import condyle as cd
from benchmarks.opensim_setups import run_in_opensim
from condyle.opensim.setup import run_setup
from tests.opensim.setup.small import document

BODY = """<Body name="{}"><mass>{}</mass><mass_center>0.02 -0.1 0.03</mass_center>
<inertia>0.1 0.05 0.12 0 0 0</inertia></Body>"""
JOINT = """<{kind} name="j{child}"><socket_parent_frame>p</socket_parent_frame>
<socket_child_frame>/bodyset/{child}</socket_child_frame><coordinates>{names}</coordinates>
<frames><PhysicalOffsetFrame name="p"><socket_parent>{parent}</socket_parent>
<translation>0.1 -0.2 0.05</translation><orientation>0.2 0.1 0</orientation></PhysicalOffsetFrame>
</frames></{kind}>"""
SIX = [f"F_{kind}{axis}" for kind in "rt" for axis in "xyz"]


def joint(kind: str, child: str, parent: str, *names: str) -> str:
    inside = "".join(f'<Coordinate name="{name}"/>' for name in names)
    return JOINT.format(kind=kind, child=child, parent=parent, names=inside)


MODEL = f"""<OpenSimDocument Version="40600"><Model name="m"><BodySet name="bodyset"><objects>
{BODY.format("A", 1)}{BODY.format("B", 1.5)}{BODY.format("F", 2)}</objects></BodySet>
<JointSet name="jointset"><objects>{joint("PinJoint", "A", "/ground", "qa")}
{joint("PinJoint", "B", "/bodyset/A", "qb")}{joint("FreeJoint", "F", "/bodyset/A", *SIX)}</objects></JointSet>
<ConstraintSet name="constraintset"><objects>
<ConstantDistanceConstraint name="near"><socket_body_1>/bodyset/F</socket_body_1>
<socket_body_2>/bodyset/B</socket_body_2><location_body_1>0.1 0 0</location_body_1>
<location_body_2>0 0.1 0</location_body_2><constant_distance>0.4</constant_distance>
</ConstantDistanceConstraint>
<PointOnLineConstraint name="slide"><socket_line_body>/ground</socket_line_body>
<socket_follower_body>/bodyset/F</socket_follower_body><line_direction_vec>0.3 0.5 0.2</line_direction_vec>
<point_on_line>0 0.1 0</point_on_line><point_on_follower>0 0 0.1</point_on_follower></PointOnLineConstraint>
<CoordinateCouplerConstraint name="couple"><coupled_coordinates_function><LinearFunction>
<coefficients>0.5 0.2 0.1</coefficients></LinearFunction></coupled_coordinates_function>
<independent_coordinate_names>qa F_ry</independent_coordinate_names>
<dependent_coordinate_name>qb</dependent_coordinate_name></CoordinateCouplerConstraint>
</objects></ConstraintSet></Model></OpenSimDocument>"""
STATES = """<results_directory>OUT</results_directory><states_file>states.sto</states_file>
<output_precision>12</output_precision><initial_time>0</initial_time><final_time>0.02</final_time>"""
SETUPS = {
    "AnalyzeTool": STATES
    + """<AnalysisSet><objects><ForceReporter name="FR">
<include_constraint_forces>true</include_constraint_forces></ForceReporter>
<Kinematics name="K"><in_degrees>false</in_degrees></Kinematics></objects></AnalysisSet>""",
    "ForwardTool": STATES + "<integrator_error_tolerance>1e-8</integrator_error_tolerance>",
    "InverseDynamicsTool": """<results_directory>OUT</results_directory><time_range>0 0.2</time_range>
<coordinates_file>motion.mot</coordinates_file><output_gen_force_file>id.sto</output_gen_force_file>
<forces_to_exclude>ALL</forces_to_exclude>""",
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Files of both programs, by tool."""
    folder = tmp_path_factory.mktemp("free")
    (folder / "model.osim").write_text(MODEL)
    system, rng = cd.read_osim(folder / "model.osim"), np.random.default_rng(3)
    found = [np.concatenate(system.project(0.3 * rng.normal(size=8), rng.normal(size=8))) for _ in range(3)]
    of = {c.name: body.joint for body in system.bodies for c in body.coordinates}
    labels = [f"/jointset/{of[c]}/{c}/{kind}" for kind in ("value", "speed") for c in system.coordinates]
    cd.Table(np.arange(3) / 100, labels, np.array(found), degrees=False).save(folder / "states.sto")
    t = np.arange(21) / 100
    cd.Table(t, system.coordinates, np.sin(np.outer(t, np.arange(1, 9))), degrees=False).save(
        folder / "motion.mot"
    )
    out = {}
    for tool, inside in SETUPS.items():
        for name in ("ours", "theirs"):
            text = document(tool, inside.replace("OUT", f"{tool}_{name}"))
            (folder / f"{tool}_{name}.xml").write_text(text)
        run_in_opensim(folder / f"{tool}_theirs.xml")
        report = run_setup(folder / f"{tool}_ours.xml")
        assert not report.check or tool == "InverseDynamicsTool", report.check
        out[tool] = {
            p.name: tuple(
                cd.read_table(folder / f"{tool}_{name}" / p.name, degrees=False)
                for name in ("ours", "theirs")
            )
            for p in report.files
        }
    return out


pytestmark = pytest.mark.skipif(find_spec("opensim") is None, reason="OpenSim is not installed")


def test_speeds_and_constraints_of_states(ran, evidence):
    """Speeds of a free joint are those of the file, and forces of constraints are OpenSim's, whose assembly
    moves the coordinates by up to 1e-9."""
    worst = 0.0
    for ours, theirs in ran["AnalyzeTool"].values():
        assert ours.names == theirs.names
        worst = max(
            worst, float((np.abs(ours.values - theirs.values) / np.maximum(np.abs(theirs.values), 1)).max())
        )
    assert worst < 1e-7
    evidence(
        "speeds, accelerations and forces of constraints against OpenSim's files, a body that floats, "
        "relative",
        worst,
        1e-7,
    )


def test_forward_runs_start_from_these_speeds(ran):
    for ours, theirs in ran["ForwardTool"].values():
        assert ours.names == theirs.names
        if ours.names:  # the same motion at the accuracy of both
            np.testing.assert_allclose(
                ours.values[-1], theirs.values[-1], rtol=0, atol=1e-5 * max(1, np.abs(theirs.values).max())
            )


def test_columns_of_inverse_dynamics(ran):
    ours, theirs = ran["InverseDynamicsTool"]["id.sto"]
    assert ours.names == theirs.names  # F_rx_moment, not of the speed's name here
