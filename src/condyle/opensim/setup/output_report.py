"""OutputReporter: outputs of components over time, by their paths, such as /bodyset/foot|position."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

import condyle.files as files
from condyle.arrays import Array
from condyle.forces.actuators import Actuator
from condyle.forces.base import GROUPS
from condyle.muscles import Muscle
from condyle.opensim.element import Element
from condyle.opensim.setup.analyses import joints_of
from condyle.opensim.setup.file_columns import speed_names
from condyle.opensim.setup.force_report import Exerted
from condyle.opensim.setup.trial import AnalysisTrial
from condyle.studies.joint_reactions import joint_reactions
from condyle.studies.muscle_analysis import MuscleAnalysis, muscle_analysis

PATH = re.compile(r"(?P<component>[^|]*)\|(?P<output>\w+)(?::\w+)?(?:\((?P<alias>[^)]*)\))?")
KINDS = {1: ("double", "Outputs"), 3: ("Vec3", "OutputsVec3"), 6: ("SpatialVec", "OutputsSpatialVec")}
"""Type in the file and end of its name, by the number of values of an output."""
FRAME = (
    "position",
    "velocity",
    "angular_velocity",
    "linear_velocity",
    "acceleration",
    "angular_acceleration",
    "linear_acceleration",
)
FRAMES = ("Body", "Ground", "PhysicalOffsetFrame")
MUSCLE = {"power": "muscle_power", "tension": "tendon_force"}
"""Names of OpenSim's outputs of muscles here, if they differ."""


def output_reporter(trial: AnalysisTrial, element: Element) -> None:
    """Write `NAME_Outputs.sto`, `NAME_OutputsVec3.sto`, `NAME_OutputsSpatialVec.sto`."""
    setup, outputs, left = trial.setup, Outputs(trial), []
    columns: dict[int, list[tuple[str, Array]]] = {n: [] for n in KINDS}
    trial.report_unknown_states()
    for text in setup.words("output_paths", element):
        match = PATH.fullmatch(text)
        found = outputs.find(match["component"], match["output"]) if match else None
        if match is None or found is None:
            left.append(text)
            continue
        component = "/" + match["component"].lstrip("/")
        columns[found.shape[1]].append((match["alias"] or f"{component}|{match['output']}", found))
    if left:
        setup.check(f"{element.title}: outputs that are not written: {', '.join(left)}")
    keep = trial.recorded_rows(element)
    for n, (kind, ending) in KINDS.items():
        if columns[n]:
            lines = [
                f"DataType={kind}",
                "version=3",
                "OpenSimVersion=4.6",
                "endheader",
                "\t".join(["time", *(label for label, _ in columns[n])]),
            ]
            lines += [
                "\t".join(
                    [
                        repr(float(trial.run.t[i])),
                        *(",".join(map(repr, x[i].tolist())) for _, x in columns[n]),
                    ]
                )
                for i in keep.tolist()
            ]
            path = setup.results / f"{setup.tool.name}_{ending}.sto"
            with files.atomic_write(path, "w", newline="", encoding="utf-8") as file:
                file.write("\n".join([*lines, ""]))
            setup.report.files.append(path)


class Outputs:
    """Outputs of the components of a trial's model.

    Args:
        trial: with the frames.
    """

    def __init__(self, trial: AnalysisTrial) -> None:
        self.trial, self.system, self.run = trial, trial.system, trial.run
        self.reading = trial.setup.model_reading
        self.exerted = Exerted(trial, trial.run)
        self._muscles: MuscleAnalysis | None = None

    def find(self, path: str, output: str) -> Array | None:
        """Values (m, 1), (m, 3) or (m, 6); None if missing or unsupported."""
        model = self.reading.model
        component = (
            model
            if not path.strip("/")
            else self.reading.components.find(
                "/" + path.strip("/"), model, *{e.tag for e in model.descendants()}
            )
        )
        if component is None:
            return None
        tag = component.tag
        of = (
            self._of_model
            if component is model
            else self._of_coordinate
            if tag == "Coordinate"
            else self._of_marker
            if tag in ("Marker", "Station")
            else self._of_frame
            if tag in FRAMES
            else self._of_joint
            if tag.endswith("Joint")
            else self._of_path
            if tag == "GeometryPath"
            else self._of_force
        )
        found = of(component, output)
        return None if found is None else np.reshape(found, (len(self.run), -1))

    def _of_model(self, element: Element, output: str) -> Array | None:
        q, u, udot, system = self.run.q, self.run.u, self.run.udot, self.system
        known: dict[str, Callable[[], Array]] = {
            "com_position": lambda: system.mass_center(q),
            "com_velocity": lambda: system.mass_center_velocity(q, u),
            "com_acceleration": lambda: system.mass_center_acceleration(q, u, udot),
            "kinetic_energy": lambda: self.run._batch().ask("energy", (), {})[0],
        }
        return known[output]() if output in known else None

    def _of_coordinate(self, element: Element, output: str) -> Array | None:
        name, at = element.name, speed_names(self.system)
        if name not in self.system.coordinates:
            return None
        known = {
            "value": self.run.q[:, self.system.coordinates.index(name)],
            "speed": self.run.u[:, at.index(name)],
            "acceleration": self.run.udot[:, at.index(name)],
        }
        return known.get(output)

    def _of_marker(self, element: Element, output: str) -> Array | None:
        station = np.array(self.reading.vector(element, "location"))
        body, X = self.reading.base(self.reading.connected(element, "parent_frame"), element)
        names = {"location": "position", "velocity": "linear_velocity", "acceleration": "linear_acceleration"}
        return self._point(body.name, X @ station, names.get(output, ""))

    def _of_frame(self, element: Element, output: str) -> Array | None:
        if output not in FRAME:
            return None
        body, X = self.reading.base(element, element)
        return self._point(body.name, np.asarray(X.p, dtype=float), output)

    def _point(self, body: str, p: Array, output: str) -> Array | None:
        """Outputs of a frame at a point of a body, in ground; moments and angles first."""
        q, u, udot, system = self.run.q, self.run.u, self.run.udot, self.system
        if not output:
            return None
        if body in ("", "ground"):
            return np.tile(p if output == "position" else np.zeros(3 if "_" in output else 6), (len(q), 1))
        if output == "position":
            return system.station_position(q, body, p)
        rate = output.endswith("velocity")
        turn, place = (
            (system.body_velocity(q, u, body), system.station_velocity(q, u, body, p))
            if rate
            else (
                system.body_acceleration(q, u, udot, body),
                system.station_acceleration(q, u, udot, body, p),
            )
        )
        turn = turn[:, :3]
        kind = output.partition("_")[0]
        return {"angular": turn, "linear": place}.get(kind, np.concatenate([turn, place], axis=1))

    def _of_joint(self, element: Element, output: str) -> Array | None:
        side, joints = output.removeprefix("reaction_on_"), joints_of(self.trial)
        if side not in ("child", "parent") or element.name not in joints:
            return None
        found = joint_reactions(
            self.system,
            self.run,
            None,
            self.trial.loads,
            on=side,
            frame="ground",
            bodies=[joints[element.name][1]],
            groups=GROUPS,
        ).values
        return np.concatenate([found[:, 3:6], found[:, :3]], axis=1)  # moment, force

    def _of_path(self, element: Element, output: str) -> Array | None:
        owner = next((e for e in element.ancestors() if e.name in self.system.paths), None)
        if owner is None or output not in ("length", "lengthening_speed"):
            return None
        return self.exerted.path(owner.name)[output == "lengthening_speed"]

    def _of_force(self, element: Element, output: str) -> Array | None:
        name, system = element.name, self.system
        if name not in system.forces:
            return None
        law = system.force(name)
        if isinstance(law, Muscle) and output not in ("actuation", "speed"):
            if self._muscles is None:
                self._muscles = muscle_analysis(system, self.run)
            own = MUSCLE.get(output, output)
            return self._muscles[own][name] if own in self._muscles.tables else None
        if not isinstance(law, (Muscle, Actuator)):
            return None
        force, speed = self.exerted.scalar(name), self.exerted.speed(name)
        along = -force * speed if name in system.paths else force * speed
        return {"actuation": force, "speed": speed, "power": along}.get(output)
