"""One trial by OpenSim's tools, from a static trial to joint loads, in a process of its own: what a shell loop does.

    python -m benchmarks.opensim_batch MODEL STATIC MASS TRIAL LOADS OUTPUT

Prints the processor time of each tool, and that of the whole process, as JSON. It does not import condyle, which cannot be loaded beside OpenSim.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

BODIES = ("pelvis", "torso", "femur_r", "femur_l", "tibia_r", "tibia_l", "foot_r", "foot_l")
PAIRS = {
    "pelvis": ("V.Sacral", "R.ASIS"),
    "torso": ("Top.Head", "R.Acromion"),
    "femur": ("{}.Thigh.Upper", "{}.Knee.Lat"),
    "tibia": ("{}.Shank.Upper", "{}.Ankle.Lat"),
    "foot": ("{}.Heel", "{}.Toe"),
}
ANALYSES = {
    "so": """<StaticOptimization name="StaticOptimization"><on>true</on><use_model_force_set>true</use_model_force_set>
<activation_exponent>2</activation_exponent><use_muscle_physiology>true</use_muscle_physiology>
<optimizer_convergence_criterion>1e-4</optimizer_convergence_criterion>
<optimizer_max_iterations>100</optimizer_max_iterations></StaticOptimization>""",
    "jr": """<JointReaction name="JointReaction"><on>true</on><forces_file>{so}</forces_file>
<joint_names>ALL</joint_names><apply_on_bodies>child</apply_on_bodies>
<express_in_frame>ground</express_in_frame></JointReaction>""",
}


def document(text: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8" ?><OpenSimDocument Version="40000">{text}</OpenSimDocument>'


def scale_setup(model: Path, static: Path, mass: float, out: Path) -> str:
    names = markers_of(static)
    model, static, out = (
        Path(os.path.relpath(path, out.parent)) for path in (model, static, out)
    )  # ScaleTool's way

    def measurement(body: str) -> str:
        a, b = (p.format(body[-1].upper()) for p in PAIRS[body.split("_")[0]])
        return f"""<Measurement name="{body}"><apply>true</apply><MarkerPairSet><objects><MarkerPair>
<markers> {a} {b}</markers></MarkerPair></objects></MarkerPairSet><BodyScaleSet><objects><BodyScale name="{body}">
<axes> X Y Z</axes></BodyScale></objects></BodyScaleSet></Measurement>"""

    tasks = "".join(
        f'<IKMarkerTask name="{m}"><apply>true</apply><weight>1</weight></IKMarkerTask>' for m in names
    )
    return document(f"""<ScaleTool name="subject"><mass>{mass}</mass>
<GenericModelMaker><model_file>{model}</model_file></GenericModelMaker>
<ModelScaler><apply>true</apply><scaling_order>measurements</scaling_order><MeasurementSet><objects>
{"".join(map(measurement, BODIES))}</objects></MeasurementSet><marker_file>{static}</marker_file>
<time_range>0 0.4</time_range><output_model_file>{out}.plain.osim</output_model_file></ModelScaler>
<MarkerPlacer><apply>true</apply><IKTaskSet><objects>{tasks}</objects></IKTaskSet><marker_file>{static}</marker_file>
<time_range>0 0.4</time_range><output_model_file>{out}</output_model_file></MarkerPlacer></ScaleTool>""")


def markers_of(trc: Path) -> list[str]:
    return trc.read_text().splitlines()[3].split()[2:]


def analyze_setup(
    name: str, model: Path, motion: Path, loads: Path, out: Path, reserves: Path, so: Path, ends: str
) -> str:
    return document(f"""<AnalyzeTool name="{name}"><model_file>{model}</model_file><results_directory>{out}</results_directory>
<replace_force_set>false</replace_force_set><force_set_files>{reserves}</force_set_files>{ends}
<AnalysisSet name="Analyses"><objects>{ANALYSES[name].format(so=so)}</objects></AnalysisSet>
<external_loads_file>{loads}</external_loads_file><coordinates_file>{motion}</coordinates_file>
<lowpass_cutoff_frequency_for_coordinates>6</lowpass_cutoff_frequency_for_coordinates></AnalyzeTool>""")


def run() -> None:
    begin = time.process_time()
    import opensim

    opensim.Logger.setLevelString("Error")
    opensim.Logger.removeFileSink()
    model, static, mass, trial, loads, out = sys.argv[1:7]
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    seconds: dict[str, float] = {"start": time.process_time() - begin}

    def timed(name: str, tool: str, text: str) -> None:
        file = folder / f"{name}.xml"
        file.write_text(text)
        start = time.process_time()
        assert getattr(opensim, tool)(str(file)).run()
        seconds[name] = time.process_time() - start

    own = folder / "subject.osim"
    timed("scale", "ScaleTool", scale_setup(Path(model), Path(static), float(mass), own))
    times = [float(line.split()[1]) for line in Path(trial).read_text().splitlines()[6:] if line.strip()]
    span = f"<time_range>{times[0]} {times[-1]}</time_range>"
    tasks = "".join(
        f'<IKMarkerTask name="{m}"><apply>true</apply><weight>1</weight></IKMarkerTask>'
        for m in markers_of(Path(trial))
    )
    timed(
        "ik", "InverseKinematicsTool",
        document(f"""<InverseKinematicsTool name="ik"><model_file>{own}</model_file><results_directory>{out}</results_directory>
<IKTaskSet><objects>{tasks}</objects></IKTaskSet><marker_file>{trial}</marker_file>{span}
<output_motion_file>{folder / "ik.mot"}</output_motion_file></InverseKinematicsTool>"""),
    )  # fmt: skip
    timed(
        "id", "InverseDynamicsTool",
        document(f"""<InverseDynamicsTool name="id"><model_file>{own}</model_file><results_directory>{out}</results_directory>
{span}<forces_to_exclude> Muscles</forces_to_exclude><external_loads_file>{loads}</external_loads_file>
<coordinates_file>{folder / "ik.mot"}</coordinates_file>
<lowpass_cutoff_frequency_for_coordinates>6</lowpass_cutoff_frequency_for_coordinates>
<output_gen_force_file>id.sto</output_gen_force_file></InverseDynamicsTool>"""),
    )  # fmt: skip
    reserves = folder / "reserves.xml"
    made = opensim.Model(str(own))
    coordinates = made.getCoordinateSet()
    names = [coordinates.get(i).getName() for i in range(coordinates.getSize())]
    reserves.write_text(document("<ForceSet><objects>" + "".join(
        f'<CoordinateActuator name="{n}_reserve"><coordinate>{n}</coordinate><optimal_force>{1000 if "pelvis" in n else 10}'
        "</optimal_force><min_control>-1000</min_control><max_control>1000</max_control></CoordinateActuator>"
        for n in names) + "</objects></ForceSet>"))  # fmt: skip
    ends = f"<initial_time>{times[0]}</initial_time><final_time>{times[-1]}</final_time>"
    so = folder / "so_StaticOptimization_force.sto"
    for name in ("so", "jr"):
        timed(
            name,
            "AnalyzeTool",
            analyze_setup(name, own, folder / "ik.mot", Path(loads), folder, reserves, so, ends),
        )
    print(json.dumps({"tools": seconds, "process": time.process_time()}))


if __name__ == "__main__":
    run()
