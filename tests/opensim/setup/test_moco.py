"""Moco's setup files: a study, a tracking and an inverse problem of a small model; what is left out is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import condyle as cd
from condyle.opensim.setup import run_setup
from tests.opensim.setup.small import written

ACTUATOR = """<ForceSet name="forceset"><objects><CoordinateActuator name="motor"><coordinate>angle</coordinate>
<optimal_force>10</optimal_force><min_control>-5</min_control><max_control>5</max_control></CoordinateActuator>
</objects></ForceSet>"""
PROCESSOR = """<ModelProcessor name="model"><filepath>model.osim</filepath><operators>{}</operators></ModelProcessor>"""
RESERVES = "<ModOpAddReserves><optimal_force>10</optimal_force></ModOpAddReserves>"
KINEMATICS = """<TableProcessor name="{}"><filepath>motion.mot</filepath><operators><TabOpLowPassFilter>
<cutoff_frequency>10</cutoff_frequency></TabOpLowPassFilter></operators></TableProcessor>"""
STUDY = f"""<OpenSimDocument Version="40600"><MocoStudy name="swing"><MocoProblem name="problem"><MocoPhase name="phases">
{PROCESSOR.format("")}
<MocoInitialBounds name="time_initial_bounds"><bounds>0</bounds></MocoInitialBounds>
<MocoFinalBounds name="time_final_bounds"><bounds>1</bounds></MocoFinalBounds>
<state_infos_pattern><MocoVariableInfo name="/jointset/.*/speed"><bounds>-20 20</bounds>
<initial_bounds>0</initial_bounds><final_bounds>0</final_bounds></MocoVariableInfo></state_infos_pattern>
<state_infos><MocoVariableInfo name="/jointset/pin/angle/value"><bounds>-3 3</bounds>
<initial_bounds>0</initial_bounds><final_bounds>1</final_bounds></MocoVariableInfo></state_infos>
<goals><MocoControlGoal name="effort"><weight>2</weight></MocoControlGoal>
<MocoOutputGoal name="odd"><weight>1</weight></MocoOutputGoal></goals>
</MocoPhase></MocoProblem>
<MocoCasADiSolver name="solver"><num_mesh_intervals>20</num_mesh_intervals>
<optim_convergence_tolerance>1e-8</optim_convergence_tolerance></MocoCasADiSolver></MocoStudy></OpenSimDocument>"""


def tool(kind: str, inside: str) -> str:
    return f'<OpenSimDocument Version="40600"><{kind} name="small">{inside}</{kind}></OpenSimDocument>'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("moco")
    written(folder, more=ACTUATOR)
    return folder


def test_a_study(folder: Path) -> None:
    """The same problem in Python has the same objective; the goal without a counterpart is named."""
    (folder / "study.omoco").write_text(STUDY)
    report = run_setup(folder / "study.omoco")
    system = cd.read_osim(folder / "model.osim")
    problem = cd.Problem(system, duration=1.0)
    problem.bound("angle", (-3, 3), start=0, end=1)
    problem.bound(problem.speeds, (-20, 20), start=0, end=0)
    problem.minimize(cd.goals.Effort(), 2.0)
    answer = cd.solve(problem, mesh=20, scheme="hermite-simpson", accuracy=1e-8, guess="bounds")
    assert any(f"objective {answer.objective:.8g}" in line for line in report.results)
    assert any("MocoOutputGoal 'odd'" in line and "left out" in line for line in report.check)
    found = cd.read_table(report.files[0], degrees=False)
    joint = next(name for name in found.names if name.endswith("/angle/value"))
    assert found[joint] == pytest.approx(answer.motion["angle"], abs=1e-9)  # digits of the file
    assert "/forceset/motor" in found.names


def test_tracking(folder: Path) -> None:
    reserves = RESERVES.replace(
        "</ModOp", "<skip_coordinates_with_actuators>false</skip_coordinates_with_actuators></ModOp"
    )
    inside = PROCESSOR.format(reserves) + KINEMATICS.format("states_reference")
    inside += (
        "<states_global_tracking_weight>10</states_global_tracking_weight><mesh_interval>0.05</mesh_interval>"
    )
    inside += "<initial_time>0</initial_time><final_time>1</final_time>"
    (folder / "track.omoco").write_text(tool("MocoTrack", inside))
    report = run_setup(folder / "track.omoco")
    found = cd.read_table(folder / "small_solution.sto", degrees=False)
    assert any(line.startswith("solved") for line in report.results)
    angle = found[next(name for name in found.names if name.endswith("/angle/value"))]
    # controls between points are straight lines, and cost something: 10 times 1e-3 weights
    assert np.abs(angle - 0.6 * np.sin(3 * found.time)).max() < 0.02
    assert any(name.startswith("/forceset/reserve_") for name in found.names)


def test_inverse(folder: Path) -> None:
    """One actuator: its control is the joint moment of the motion."""
    inside = PROCESSOR.format("") + KINEMATICS.format("kinematics")
    inside += "<initial_time>0.2</initial_time><final_time>0.8</final_time>"
    (folder / "inverse.omoco").write_text(tool("MocoInverse", inside))
    report = run_setup(folder / "inverse.omoco")
    assert any(line.startswith("solved") for line in report.results)
    found = cd.read_table(folder / "small_solution.sto", degrees=False)
    system = cd.read_osim(folder / "model.osim")
    t = np.linspace(0, 1, 201)
    motion = cd.Table(t, ["angle"], 0.6 * np.sin(3 * t)[:, None], ["rad"])
    moment = cd.inverse_dynamics(system, motion)
    exact = np.interp(found.time, moment.time, moment["angle"])
    # the low-pass filter at 10 Hz
    assert 10 * found["/forceset/motor"] == pytest.approx(exact, abs=0.03 * np.abs(exact).max())


def test_what_a_file_lacks_is_named(folder: Path) -> None:
    text = STUDY.replace("<MocoControlGoal", '<MocoStateTrackingGoal name="track"/><MocoControlGoal')
    (folder / "bad.omoco").write_text(text)
    with pytest.raises(cd.errors.DescriptionError, match="names no file"):
        run_setup(folder / "bad.omoco")
    (folder / "bad.omoco").write_text(STUDY.replace("/pin/angle/value", "/pin/angel/value"))
    with pytest.raises(cd.errors.DescriptionError, match="angel"):
        run_setup(folder / "bad.omoco")
