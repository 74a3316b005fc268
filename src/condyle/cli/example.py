"""`condyle example`: a subject with a recording, in files as from a laboratory."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

import condyle as cd
from condyle.cli.output import NewFolder, refuse_unwritable
from condyle.io import Recording

MEASUREMENTS = {
    "pelvis": (("R.ASIS", "L.ASIS"), ("pelvis",)),
    "torso": (("V.Sacral", "Top.Head"), ("torso",)),
    "thigh_r": (("R.ASIS", "R.Knee.Lat"), ("femur_r",)),
    "thigh_l": (("L.ASIS", "L.Knee.Lat"), ("femur_l",)),
    "shank_r": (("R.Knee.Lat", "R.Ankle.Lat"), ("tibia_r",)),
    "shank_l": (("L.Knee.Lat", "L.Ankle.Lat"), ("tibia_l",)),
    "foot_r": (("R.Heel", "R.Toe"), ("foot_r",)),
    "foot_l": (("L.Heel", "L.Toe"), ("foot_l",)),
}
DOCUMENT = """<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40600">
<{tool} name="walk">
{inside}
</{tool}>
</OpenSimDocument>
"""
SCALE = """<mass>{mass:g}</mass>
<GenericModelMaker><model_file>generic.osim</model_file></GenericModelMaker>
<ModelScaler>
<apply>true</apply>
<scaling_order>measurements</scaling_order>
<MeasurementSet><objects>{measurements}
</objects></MeasurementSet>
<marker_file>static.trc</marker_file>
<time_range>0 0.4</time_range>
<preserve_mass_distribution>true</preserve_mass_distribution>
</ModelScaler>
<MarkerPlacer>
<apply>true</apply>
<IKTaskSet><objects>{tasks}
</objects></IKTaskSet>
<marker_file>static.trc</marker_file>
<time_range>0 0.4</time_range>
<output_model_file>subject.osim</output_model_file>
</MarkerPlacer>"""
MEASUREMENT = """
<Measurement name="{name}"><apply>true</apply>
<MarkerPairSet><objects><MarkerPair><markers>{pair}</markers></MarkerPair></objects></MarkerPairSet>
<BodyScaleSet><objects>{bodies}</objects></BodyScaleSet></Measurement>"""
BODY = """<BodyScale name="{name}"><axes>X Y Z</axes></BodyScale>"""
TASK = """
<IKMarkerTask name="{name}"><apply>true</apply><weight>1</weight></IKMarkerTask>"""
STUDY = """subject,trial,model,mass,static,loads,scale
made_up,walk.trc,generic.osim,{mass:g},static.trc,ground_reactions.xml,scale.xml
"""
STRAIGHT = """
<IKCoordinateTask name="{name}"><apply>true</apply><weight>1</weight><value_type>default_value</value_type></IKCoordinateTask>"""
KINEMATICS = """<model_file>subject.osim</model_file>
<IKTaskSet><objects>{tasks}
</objects></IKTaskSet>
<marker_file>walk.trc</marker_file>
<time_range>0 {end:g}</time_range>
<output_motion_file>walk_ik.mot</output_motion_file>"""
DYNAMICS = """<model_file>subject.osim</model_file>
<time_range>{start:g} {end:g}</time_range>
<forces_to_exclude>Muscles</forces_to_exclude>
<external_loads_file>ground_reactions.xml</external_loads_file>
<coordinates_file>walk_ik.mot</coordinates_file>
<lowpass_cutoff_frequency_for_coordinates>6</lowpass_cutoff_frequency_for_coordinates>
<output_gen_force_file>walk_id.sto</output_gen_force_file>"""
README = """A subject who does not exist, and a recording of a walk.

  condyle run scale.xml ik.xml id.xml     scale the model, follow the markers, find joint moments
  condyle show subject.osim walk_ik.mot   see it
  condyle batch study.csv                 all trials of a table, here one: from markers to joint loads
  condyle personalize generic.osim walk.trc --static static.trc --loads ground_reactions.xml --mass {mass:g}
                                          sizes, places of markers, motion and masses at once

In Python: cd.run("ik.xml").result, cd.read_setup("scale.xml"), cd.read_markers("walk.trc"),
cd.read_external_loads("ground_reactions.xml"), cd.gait_events(...), cd.gait_cycles(...).
The true coordinates are in truth.mot.
"""


def write(folder: Path, force: bool, duration: float = 2.5) -> list[str]:
    """Write the files; returns their names.

    Args:
        folder: new, or to be overwritten.
        force: overwrite what is in it.
        duration: of the walk [s].
    """
    refuse_unwritable(folder, force, "folder")
    subject = cd.models.synthetic_subject(duration=duration)
    joined = "".join
    tasks = joined(TASK.format(name=name) for name in subject.walk.names)
    straight = joined(STRAIGHT.format(name=name) for name in subject.generic.coordinates[3:])
    measurements = joined(
        MEASUREMENT.format(
            name=name, pair=" ".join(pair), bodies=joined(BODY.format(name=body) for body in bodies)
        )
        for name, (pair, bodies) in MEASUREMENTS.items()
    )
    end = float(subject.walk.time[-1])
    setups = {
        "scale.xml": (
            "ScaleTool",
            SCALE.format(mass=subject.mass, measurements=measurements, tasks=tasks + straight),
        ),
        "ik.xml": ("InverseKinematicsTool", KINEMATICS.format(tasks=tasks, end=end)),
        "id.xml": ("InverseDynamicsTool", DYNAMICS.format(start=0.15, end=end - 0.15)),
    }
    with NewFolder(folder, "condyle-example") as new:
        cd.write_osim(subject.generic, new.path / "generic.osim")
        subject.save(new.path)
        subject.motion.save(new.path / "truth.mot")
        for name, (tool, inside) in setups.items():
            (new.path / name).write_text(DOCUMENT.format(tool=tool, inside=inside), encoding="utf-8")
        (new.path / "study.csv").write_text(STUDY.format(mass=subject.mass), encoding="utf-8")
        (new.path / "README.txt").write_text(README.format(mass=subject.mass), encoding="utf-8")
        if importlib.util.find_spec("ezc3d") is not None:
            reactions, zero = subject.ground_reactions, np.zeros((len(subject.walk.time), 3))
            columns, names = [], []
            for k, side in enumerate("rl", 1):
                for letter, what in (("f", "force"), ("p", "point"), ("m", "")):
                    names += [f"{letter}{k}_{axis}" for axis in "xyz"]
                    own = [f"{side}_{what}_{axis}" for axis in "xyz"]
                    columns.append(reactions[own].values if what else zero)
            plates = cd.Table(
                reactions.time,
                names,
                np.concatenate(columns, axis=1),
                [*["N"] * 3, *["m"] * 3, *["N m"] * 3] * 2,
            )
            far = 2 * end
            corners = np.array([[[far, 0, z], [far, 0, 0], [-1, 0, 0], [-1, 0, z]] for z in (1.0, -1.0)])
            Recording(
                subject.walk, plates, cd.Table(reactions.time, [], np.empty((len(zero), 0))), corners
            ).save(new.path / "walk.c3d")
        return sorted(path.name for path in new.path.iterdir())
