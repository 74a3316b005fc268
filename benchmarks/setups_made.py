"""Setup files that run every analysis on the walking trials and the arm, for benchmarks.setups."""

from __future__ import annotations

from pathlib import Path

COMMON = "<on>true</on><step_interval>{every}</step_interval><in_degrees>true</in_degrees>"
ANALYSES = """<Kinematics name="Kinematics"><on>true</on><step_interval>1</step_interval>
<in_degrees>false</in_degrees><coordinates>all</coordinates></Kinematics>
<BodyKinematics name="BodyKinematics">{each}<bodies>all</bodies></BodyKinematics>
<BodyKinematics name="BodyKinematicsLocal">{each}<bodies>{body} center_of_mass</bodies>
<express_results_in_body_local_frame>true</express_results_in_body_local_frame></BodyKinematics>
<PointKinematics name="PointKinematics">{each}<body_name>{body}</body_name>
<relative_to_body_name>{other}</relative_to_body_name><point_name>p</point_name><point>0.1 0.2 0.03</point>
</PointKinematics>
<Actuation name="Actuation">{each}</Actuation>
<MuscleAnalysis name="MuscleAnalysis">{every}<muscle_list>all</muscle_list>
<moment_arm_coordinate_list>all</moment_arm_coordinate_list><compute_moments>true</compute_moments>
</MuscleAnalysis>
<ForceReporter name="ForceReporter">{each}</ForceReporter>
<JointReaction name="JointReaction">{each}<forces_file></forces_file><joint_names>ALL</joint_names>
<apply_on_bodies>child</apply_on_bodies><express_in_frame>ground</express_in_frame></JointReaction>"""
SO = """<StaticOptimization name="StaticOptimization">{each}<use_model_force_set>true</use_model_force_set>
<activation_exponent>2</activation_exponent><use_muscle_physiology>true</use_muscle_physiology>
<optimizer_convergence_criterion>1e-6</optimizer_convergence_criterion>
<optimizer_max_iterations>1000</optimizer_max_iterations></StaticOptimization>"""
INDUCED = """<InducedAccelerations name="InducedAccelerations">{each}<coordinate_names>all</coordinate_names>
<body_names>tibia_r center_of_mass</body_names><ConstraintSet><objects>{held}</objects></ConstraintSet>
<force_threshold>20</force_threshold></InducedAccelerations>"""
ROLLING = """<RollingOnSurfaceConstraint name="foot_{side}"><isDisabled>true</isDisabled>
<rolling_body>calcn_{side}</rolling_body><surface_body>ground</surface_body>
<surface_normal>0 1 0</surface_normal><friction_coefficient>0.8</friction_coefficient>
<contact_radius>0.01</contact_radius></RollingOnSurfaceConstraint>"""
TOOL = """<OpenSimDocument Version="{version}"><{tool} name="made"><model_file>{model}</model_file>
<replace_force_set>false</replace_force_set><force_set_files>{forces}</force_set_files>
<results_directory>{out}</results_directory><output_precision>12</output_precision>
<initial_time>{start}</initial_time><final_time>{end}</final_time>
<solve_for_equilibrium_for_auxiliary_states>{balanced}</solve_for_equilibrium_for_auxiliary_states>
<maximum_number_of_integrator_steps>200000</maximum_number_of_integrator_steps>
<minimum_integrator_step_size>1e-12</minimum_integrator_step_size>
<integrator_error_tolerance>1e-8</integrator_error_tolerance>
<AnalysisSet name="Analyses"><objects>{analyses}</objects></AnalysisSet>
<ControllerSet name="Controllers"><objects>{control}</objects></ControllerSet>
<external_loads_file>{loads}</external_loads_file><states_file>{states}</states_file>
<coordinates_file>{motion}</coordinates_file>
<lowpass_cutoff_frequency_for_coordinates>{cutoff}</lowpass_cutoff_frequency_for_coordinates>
</{tool}></OpenSimDocument>"""
CONTROL = """<ControlSetController name="controls"><controls_file>{}</controls_file></ControlSetController>"""
TRIALS = (
    {
        "model": "subject01.osim",
        "forces": "gait10dof_Reserve_Actuators.xml",
        "start": 0.7,
        "end": 0.9,
        "loads": "ExperimentalData/subject01_walk_grf.xml",
        "motion": "IK/subject01_walk_IK.mot",
        "cutoff": 6,
        "body": "tibia_r",
        "other": "femur_r",
    },
    {
        "model": "subject01_simbody_adjusted.osim",
        "forces": "gait2354_CMC_Actuators.xml",
        "start": 0.9,
        "end": 1.0,
        "loads": "subject01_walk1_grf.xml",
        "motion": "subject01_walk1_ik.mot",
        "cutoff": 6,
        "body": "tibia_r",
        "other": "femur_r",
    },
    {
        "model": "arm26.osim",
        "forces": "arm26_Reserve_Actuators.xml",
        "start": 0.3,
        "end": 0.6,
        "loads": "",
        "motion": "kin.mot",
        "cutoff": -1,
        "body": "r_ulna_radius_hand",
        "other": "r_humerus",
    },
)


def added(folder: Path) -> None:
    """Write setup files into every folder that has the files of a trial."""
    for inner in [folder, *(p for p in folder.rglob("*") if p.is_dir())]:
        scaled = inner / "OutputReference" / "subject01_simbody_adjusted.osim"
        if scaled.exists():
            (inner / scaled.name).write_bytes(scaled.read_bytes())
            for model in inner.parent.glob("*.osim"):  # the trial's models are in the folder above
                (inner / model.name).write_bytes(model.read_bytes())
        for trial in TRIALS:
            if all((inner / str(trial[name])).exists() for name in ("model", "forces", "motion")):
                _write(inner, trial)


def _write(folder: Path, trial: dict[str, object]) -> None:
    each, every = (COMMON.format(every=k) for k in (1, 2))
    plain = {
        "version": 40600,
        "tool": "AnalyzeTool",
        "states": "",
        "control": "",
        "balanced": "true",
        **trial,
    }
    everything = ANALYSES.format(each=each, every=every, body=trial["body"], other=trial["other"])
    held = ROLLING.format(side="r") + ROLLING.format(side="l") if trial["loads"] else ""
    files = {
        "made_1_analyses": {"analyses": everything},
        "made_2_optimization": {"analyses": SO.format(each=each), "balanced": "false"},
        "made_3_forward": {
            "tool": "ForwardTool",
            "analyses": everything,
            "motion": "",
            "control": CONTROL.format("made_controls.xml"),
            "end": float(str(trial["start"])) + 0.03,
            "states": "made_states.sto",
        },
        "made_4_states": {
            "analyses": everything,
            "motion": "",
            "states": "made_forward.sto",
            "balanced": "false",
            "end": float(str(trial["start"])) + 0.03,
        },
    }
    if trial["loads"]:
        files["made_5_induced"] = {"version": 20302, "analyses": INDUCED.format(each=each, held=held)}
    for name, own in files.items():
        (folder / f"{name}.xml").write_text(TOOL.format(**{**plain, "out": name, **own}))


def handed_on(setup: Path, others: Path) -> None:
    """Give what OpenSim has made of one setup file to both as what the next ones begin with."""
    folder = setup.parent
    made: dict[str, str] = {}
    if setup.stem == "made_1_analyses":
        made["made_states.sto"] = _states(folder / setup.stem)
    elif setup.stem == "made_2_optimization":
        made["made_controls.xml"] = (folder / setup.stem / "made_StaticOptimization_controls.xml").read_text()
    elif setup.stem == "made_3_forward":
        made["made_forward.sto"] = (folder / setup.stem / "made_states.sto").read_text()
    for name, text in made.items():
        (folder / name).write_text(text)
        (others / name).write_text(text)


def _states(folder: Path) -> str:
    """Coordinates and speeds side by side, from the files of a Kinematics."""
    q, u = (
        (folder / f"made_Kinematics_{x}.sto").read_text().partition("endheader\n")[2].splitlines()
        for x in "qu"
    )
    labels = [*q[0].split(), *(f"{name}_u" for name in u[0].split()[1:])]
    rows = ["\t".join([*a.split(), *b.split()[1:]]) for a, b in zip(q[1:], u[1:], strict=True)]
    head = ["states", "version=1", f"nRows={len(rows)}", f"nColumns={len(labels)}", "inDegrees=no"]
    return "\n".join([*head, "endheader", "\t".join(labels), *rows, ""])
