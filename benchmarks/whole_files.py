"""Setup files of whole jobs for benchmarks.whole: seven tools on three models, trials of 100 frames.

Motions of the walking models are those of their trials, Rajagopal2016 swings its joints; markers are where
the model has them in these motions, larger by 3 % for the scaling.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.setups_made import COMMON, SO, TOOL

if TYPE_CHECKING:
    import numpy as np

    import condyle as cd

FRAMES = 100
REFERENCE = Path(__file__).parents[2] / "shared" / "reference"
MODELS = {
    "gait2354": (
        "opensim/Gait2354_Simbody/pipeline/OutputReference/subject01_simbody_adjusted.osim",
        "opensim/Gait2354_Simbody/pipeline/subject01_walk1_ik.mot",
        "opensim/Gait2354_Simbody/pipeline/subject01_walk1_grf.xml",
    ),
    "gait10dof18musc": (
        "gait10dof18musc_pipeline/subject01.osim",
        "gait10dof18musc_pipeline/IK/subject01_walk_IK.mot",
        "gait10dof18musc_pipeline/ExperimentalData/subject01_walk_grf.xml",
    ),
    "Rajagopal2016": ("opensim/Rajagopal/Rajagopal2016.osim", "", ""),
}
LIMBS = {
    "thigh": (("R.ASIS R.Knee.Lat", "RASI RLFC"), "femur"),
    "shank": (("R.Knee.Lat R.Ankle.Lat", "RLFC RLMAL"), "tibia"),
}
TOOLS = ("Scale", "IK", "ID", "SO", "JointReaction", "MuscleAnalysis", "Forward")

SCALE = """<OpenSimDocument Version="40600"><ScaleTool name="made"><mass>70</mass>
<GenericModelMaker><model_file>model.osim</model_file></GenericModelMaker>
<ModelScaler><apply>true</apply><scaling_order>measurements</scaling_order>
<MeasurementSet><objects>{measures}</objects></MeasurementSet><marker_file>static.trc</marker_file>
<time_range>0 1</time_range><preserve_mass_distribution>true</preserve_mass_distribution></ModelScaler>
<MarkerPlacer><apply>true</apply><IKTaskSet><objects>{tasks}</objects></IKTaskSet>
<marker_file>static.trc</marker_file><time_range>0 1</time_range>
<output_model_file>Scale/scaled.osim</output_model_file></MarkerPlacer></ScaleTool></OpenSimDocument>"""
MEASURE = """<Measurement name="{name}"><apply>true</apply><MarkerPairSet><objects><MarkerPair>
<markers>{pair}</markers></MarkerPair></objects></MarkerPairSet><BodyScaleSet><objects>
<BodyScale name="{body}_r"><axes>X Y Z</axes></BodyScale><BodyScale name="{body}_l"><axes>X Y Z</axes>
</BodyScale></objects></BodyScaleSet></Measurement>"""
TASK = '<IKMarkerTask name="{}"><apply>true</apply><weight>1</weight></IKMarkerTask>'
IK = """<OpenSimDocument Version="40600"><InverseKinematicsTool name="made"><model_file>model.osim</model_file>
<results_directory>IK</results_directory><constraint_weight>Inf</constraint_weight><accuracy>1e-5</accuracy>
<IKTaskSet><objects>{tasks}</objects></IKTaskSet><marker_file>walk.trc</marker_file>
<time_range>{start} {end}</time_range><output_motion_file>IK/ik.mot</output_motion_file>
</InverseKinematicsTool></OpenSimDocument>"""
ID = """<OpenSimDocument Version="40600"><InverseDynamicsTool name="made"><model_file>model.osim</model_file>
<results_directory>ID</results_directory><time_range>{start} {end}</time_range>
<forces_to_exclude>Muscles</forces_to_exclude><external_loads_file>{loads}</external_loads_file>
<coordinates_file>walk.mot</coordinates_file>
<lowpass_cutoff_frequency_for_coordinates>6</lowpass_cutoff_frequency_for_coordinates>
<output_gen_force_file>id.sto</output_gen_force_file></InverseDynamicsTool></OpenSimDocument>"""
REACTION = """<JointReaction name="JointReaction">{each}
<forces_file>SO/made_StaticOptimization_force.sto</forces_file><joint_names>ALL</joint_names>
<apply_on_bodies>child</apply_on_bodies><express_in_frame>ground</express_in_frame></JointReaction>"""
MUSCLES = """<MuscleAnalysis name="MuscleAnalysis">{each}<muscle_list>all</muscle_list>
<moment_arm_coordinate_list>all</moment_arm_coordinate_list><compute_moments>true</compute_moments>
</MuscleAnalysis>"""
RESERVE = """<CoordinateActuator name="reserve_{0}"><coordinate>{0}</coordinate>
<optimal_force>{1}</optimal_force></CoordinateActuator>"""
HELD_SECONDS = 0.05
"""How long Forward runs."""


def write(name: str, folder: Path) -> Path:
    """The setup files of a model, TOOL.xml of each, and what they read, in a new folder."""
    import numpy as np

    import condyle as cd

    folder.mkdir(parents=True)
    model, motion, loads = MODELS[name]
    (folder / "model.osim").write_bytes((REFERENCE / model).read_bytes())
    if loads:
        grf = REFERENCE / loads
        (folder / "loads.xml").write_bytes(grf.read_bytes())
        data = grf.with_suffix(".mot")
        (folder / data.name).write_bytes(data.read_bytes())
    system = cd.read_osim(folder / "model.osim")
    t, q = _motion(system, REFERENCE / motion if motion else None)
    cd.Table(t, system.coordinates, q, _units(system)).save(folder / "walk.mot")
    places = np.stack(
        [system.station_position(q, m.body, m.station) for m in map(system.marker, system.markers)], axis=-2
    )
    cd.Markers(t, system.markers, places).save(folder / "walk.trc")
    still = np.repeat(places[:1] * 1.03, 20, axis=0)
    cd.Markers(np.linspace(0, 1, 20), system.markers, still).save(folder / "static.trc")
    tasks = "".join(map(TASK.format, system.markers))
    measures = "".join(
        MEASURE.format(name=limb, pair=pair, body=body)
        for limb, (pairs, body) in LIMBS.items()
        for pair in pairs
        if all(marker in system.markers for marker in pair.split())
    )
    each = COMMON.format(every=1)
    free = [c for c in system.coordinates if not c.endswith("_beta")]
    reserves = "".join(RESERVE.format(c, 500 if c.startswith("pelvis") else 20) for c in free)
    (folder / "reserves.xml").write_text(
        f'<OpenSimDocument Version="40600"><ForceSet><objects>{reserves}</objects></ForceSet></OpenSimDocument>'
    )
    span = {"start": t[0], "end": t[-1], "loads": "loads.xml" if loads else ""}
    analyze = {
        "version": 40600,
        "tool": "AnalyzeTool",
        "model": "model.osim",
        "forces": "reserves.xml",
        "balanced": "false",
        "control": "",
        "states": "",
        "motion": "walk.mot",
        "cutoff": 6,
        **span,
    }
    files = {
        "Scale": SCALE.format(measures=measures, tasks=tasks),
        "IK": IK.format(tasks=tasks, **span),
        "ID": ID.format(**span),
        "SO": TOOL.format(**{**analyze, "out": "SO", "analyses": SO.format(each=each)}),
        "JointReaction": TOOL.format(
            **{**analyze, "out": "JointReaction", "analyses": REACTION.format(each=each)}
        ),
        "MuscleAnalysis": TOOL.format(
            **{
                **analyze,
                "out": "MuscleAnalysis",
                "analyses": MUSCLES.format(each=each),
                "balanced": "true",
            }
        ),
        "Forward": TOOL.format(
            **{
                **analyze,
                "tool": "ForwardTool",
                "out": "Forward",
                "analyses": "",
                "motion": "",
                "forces": "",
                "loads": "",
                "balanced": "true",
                "start": 0,
                "end": HELD_SECONDS,
            }
        ).replace("1e-8<", "1e-5<"),
    }
    for tool, text in files.items():
        (folder / f"{tool}.xml").write_text(text)
        (folder / tool).mkdir()
    return folder


def write_other(folder: Path, other: Path) -> None:
    """The same jobs of another subject, in a new folder: other sizes of every body along each axis, another mass, other
    strengths and places of markers."""
    import shutil
    from dataclasses import replace

    import numpy as np

    import condyle as cd

    shutil.copytree(folder, other)
    rng = np.random.default_rng(1)
    system = cd.read_osim(folder / "model.osim")
    sizes = {b.name: tuple(rng.uniform(0.93, 1.07, 3)) for b in system.bodies}
    system = cd.scale(system, factors=sizes, mass=68.3).system
    strong = {name: system.force(name) for name in system.muscles}
    strong = {
        name: replace(m, max_isometric_force=m.max_isometric_force * rng.uniform(0.8, 1.2))
        for name, m in strong.items()
    }
    places = {
        m.name: np.array(m.station) + rng.normal(0, 0.004, 3) for m in map(system.marker, system.markers)
    }
    cd.write_osim(system.copy(forces=strong, markers=places), other / "model.osim")


def _units(system: cd.System) -> list[str]:
    from condyle.tree import scales

    return list(scales.units(system.bodies)[0])


def _motion(system: cd.System, file: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """Times and coordinates of 100 frames: of a file, interpolated, or swinging."""
    import numpy as np

    import condyle as cd

    if file is not None:
        motion = cd.Motion.of(system, cd.read_table(file))
        t = np.linspace(motion.t[0], motion.t[-1], FRAMES).round(4)
        return t, np.stack([np.interp(t, motion.t, x) for x in motion.q.T], axis=1)
    t = np.linspace(0, 1, FRAMES).round(4)
    q = np.tile(system.defaults()[0], (FRAMES, 1))
    for k, name in enumerate(system.coordinates):
        if name.startswith(("hip_flexion", "ankle", "lumbar", "arm_flex", "elbow")):
            q[:, k] += 0.2 * np.sin(2 * np.pi * t + k)
        elif name.startswith("knee_angle") and not name.endswith("beta"):
            q[:, k] += 0.4 * (1 - np.cos(2 * np.pi * t))
        elif name.endswith("_beta"):  # coupled to the knee before it
            q[:, k] = q[:, k - 1]
    return t, q
