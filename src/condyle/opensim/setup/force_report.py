"""ForceReporter and Actuation: the loads of each force and constraint, in OpenSim's columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.forces.actuators import Actuator, PathActuator
from condyle.muscles import Muscle
from condyle.opensim.contact import SURFACES
from condyle.opensim.element import Element
from condyle.opensim.forces import function_elements
from condyle.opensim.reading import Reading
from condyle.opensim.setup.setup_file import FORCES, SI
from condyle.opensim.setup.trial import AnalysisTrial
from condyle.studies.external_load import ExternalLoad
from condyle.studies.motion.motion import Motion
from condyle.studies.muscle_analysis import path_geometry
from condyle.studies.study_system import study_system
from condyle.system.states import Batch
from condyle.system.system import System

FORCE_WORDS = (
    "",
    "This file contains the forces exerted on a model during a simulation.",
    "",
    FORCES,
    "",
    *SI,
    "",
)
ACTUATION_WORDS = (
    "",
    "This file contains either the forces, speeds, or powers developed",
    "by the actuators of a model during a simulation.",
    "",
    "An actuator force is a generalized force, meaning that it can be either a force (N) or a torque (Nm).",
    "",
    "An actuator speed is the rate at which an actuator shortens. Depending on the actuator,",
    "a speed can be either a translational speed (m/s) or an angular speed (deg/s or rad/s).",
    "",
    "An actuator power (Watts) is the rate at which an actuator does work.  Positive power means",
    "that the actuator is delivering energy to the model; negative power means that the actuator",
    "is absorbing energy from the model.",
    "",
    *SI,
    "",
)
XYZ = ("X", "Y", "Z")
Columns = list[tuple[str, Array]]
"""Labels and values (m,)."""


class Exerted:
    """The loads of a trial's forces in each frame, computed on first use.

    Args:
        trial: of the forces.
        run: the frames, with states of the muscles.
        given: {name: forces (m,)} of muscles and actuators that states do not determine.
    """

    def __init__(self, trial: AnalysisTrial, run: Motion, given: Mapping[str, Array] | None = None) -> None:
        self.trial, self.run, self.given = trial, run, given or {}
        self.reading = trial.setup.model_reading
        self._known: dict[str, Any] = {}

    def _of(self, operator: str) -> dict[str, Array]:
        """Results of a kernel for each force that is not along a path, by name, rows first."""
        if operator not in self._known:
            system = self.trial.system
            part = study_system(system, [n for n in system.forces if n not in system.paths])
            compiled, batch = part.system.compiled, part.batch(self.run)
            values = compiled.shaped(
                operator, compiled.function(operator).fast(self.run.q, self.run.u, batch.tail)
            )
            self._known[operator] = {
                name: values[:, k] for k, name in enumerate(compiled.model.exerting_forces)
            }
        found: dict[str, Array] = self._known[operator]
        return found

    def _paths(self) -> tuple[Array, Array]:
        if "paths" not in self._known:
            self._known["paths"] = path_geometry(self.run)[:2]
        found: tuple[Array, Array] = self._known["paths"]
        return found

    def tension(self, name: str) -> Array:
        if "tensions" not in self._known:
            function = self.trial.system.compiled.function("tensions")
            self._known["tensions"] = function.fast(self.run.q, self.run.u, *self._paths(), self.run.tail)
        found: Array = self._known["tensions"][:, self.trial.system.paths.index(name)]
        return found

    def path(self, name: str) -> tuple[Array, Array]:
        """Length [m] and its rate [m/s]."""
        k = self.trial.system.paths.index(name)
        L, Ldot = self._paths()
        return L[:, k], Ldot[:, k]

    def generalized(self, name: str) -> Array:
        """Generalized forces (m, nu)."""
        return self._of("each_force")[name]

    def stored(self, name: str) -> Array:
        return self._of("force_potentials")[name]

    def on(self, names: list[str], body: str) -> tuple[Array, Array]:
        """Force, and torque about the body's origin, in ground, of some forces together. On ground: the
        opposite of the loads on all bodies."""
        each = self._of("force_wrenches")
        total = np.sum([each[name] for name in names], axis=0)
        if body != "ground":
            found = total[:, self.trial.system.body(body).index]
            return found[:, 3:], found[:, :3]
        poses = [self.run.system.body_pose(self.run.q, b.name).p for b in self.trial.system.bodies]
        f = total[:, :, 3:]
        m = total[:, :, :3] + np.cross(np.stack(poses, axis=1), f)
        return -f.sum(axis=1), -m.sum(axis=1)

    def scalar(self, name: str) -> Array:
        """The load of an actuator: tension [N], force [N] or moment [N m]."""
        law: Any = self.trial.system.force(name)
        if name in self.given:
            return self.given[name]
        if isinstance(law, (Muscle, PathActuator)):
            return self.tension(name)
        unit = self._unit(name)
        f = self.generalized(name)
        size = (unit**2).sum(axis=1)
        return np.divide((f * unit).sum(axis=1), size, out=np.zeros(len(f)), where=size > 0)

    def _unit(self, name: str) -> Array:
        """Generalized forces of an actuator that exerts 1 N or 1 N m, (m, nu)."""
        compiled = self.trial.system.compiled
        if "units" not in self._known:
            flat = compiled.function("unit_loads").fast(self.run.q, self.run.tail)
            self._known["units"] = compiled.shaped("unit_loads", flat)
        k = list(compiled.model.actuators).index(name)
        law: Any = self.trial.system.force(name)
        found: Array = self._known["units"][:, k] / float(law.optimal_force)
        return found

    def speed(self, name: str) -> Array:
        """The speed of an actuator."""
        law: Any = self.trial.system.force(name)
        if isinstance(law, (Muscle, PathActuator)):
            return self.path(name)[1]
        return (self._unit(name) * self.run.u).sum(axis=1)


def reporter(trial: AnalysisTrial, element: Element) -> None:
    """Loads of all forces that apply: _forces."""
    setup = trial.setup
    trial.report_unknown_states()
    columns = setup.step("forces", lambda: force_columns(Exerted(trial, trial.run), element))
    if setup.flag("include_constraint_forces", False, element) and trial.system.constraints:
        columns += setup.step("forces of constraints", lambda: constraint_columns(trial, element))
    save_forces(trial, element, "forces", columns)


def force_columns(exerted: Exerted, element: Element) -> Columns:
    """Columns of every force that is enabled, and of the external loads."""
    trial, columns, left = exerted.trial, [], []
    for force in forces_of(trial):
        made = REPORTS.get(force.tag, _actuator)(exerted, force)
        if made is None:
            left.append(force.title)
        else:
            columns += made
    for label, load in trial.labeled:
        columns += load_columns(exerted.run, label, load)
    if left:
        trial.setup.check(f"{element.title}: not in the file: {', '.join(left)}")
    return columns


def save_forces(trial: AnalysisTrial, element: Element, quantity: str, columns: Columns) -> None:
    """Write a file of forces."""
    values = np.transpose([x for _, x in columns])
    trial.save(element, quantity, "ModelForces", [label for label, _ in columns], values, FORCE_WORDS)


def actuation(trial: AnalysisTrial, element: Element) -> None:
    """Forces, speeds and powers of muscles and actuators: _force, _speed, _power."""
    trial.report_unknown_states()
    exerted = trial.setup.step("actuators", lambda: Exerted(trial, trial.run))
    names = actuators(trial.system)
    force, speed = (np.transpose([call(n) for n in names]) for call in (exerted.scalar, exerted.speed))
    # the power of a path is that of its shortening
    sign = np.array([-1.0 if n in trial.system.paths else 1.0 for n in names])
    for quantity, title, values in (
        ("force", "ActuatorForces", force),
        ("speed", "ActuatorSpeeds", speed),
        ("power", "ActuatorPowers", sign * force * speed),
    ):
        trial.save(element, quantity, title, names, values, ACTUATION_WORDS)


def actuators(system: System) -> list[str]:
    """Names of the muscles and actuators that apply themselves."""
    off = system.state().disabled
    return [n for n in system.forces if isinstance(system.force(n), (Muscle, Actuator)) and n not in off]


def forces_of(trial: AnalysisTrial) -> list[Element]:
    """Elements of the forces that apply themselves, in the order of the model file."""
    reading = trial.setup.model_reading
    found = [
        *reading.objects(reading.model, "ForceSet"),
        *(e for e in reading.objects(reading.model, "components") if e.name in trial.system.forces),
    ]
    return [e for e in found if reading.boolean(e, "appliesForce", True)]


def load_columns(run: Motion, label: str, load: ExternalLoad) -> Columns:
    """Force in ground, point in the body's frame, torque in ground."""
    p, force, torque = load.acting(run)
    X = run.system.body_pose(run.q, load.body if isinstance(load.body, str) else load.body.name)
    parts = [("F", force)] if load.force is not None else []
    if load.force is not None and load.point is not None:
        parts.append(("p", np.einsum("tji,tj->ti", X.R, p - X.p)))
    if load.torque is not None:
        parts.append(("T", torque))
    return [(f"{label}_{what}{axis}", x[:, k]) for what, x in parts for k, axis in enumerate("xyz")]


# ---- columns of each class ---------------------------------------------------------------------------------


def _actuator(exerted: Exerted, element: Element) -> Columns | None:
    system = exerted.trial.system
    if element.name not in system.forces or not isinstance(system.force(element.name), (Muscle, Actuator)):
        return None
    return [(element.name, exerted.scalar(element.name))]


def _along_path(ending: str) -> Callable[[Exerted, Element], Columns | None]:
    return lambda exerted, element: [(f"{element.name}{ending}", exerted.tension(element.name))]


def _on_coordinate(exerted: Exerted, element: Element) -> Array:
    """The only nonzero generalized force."""
    f = exerted.generalized(element.name)
    law: Any = exerted.trial.system.force(element.name)
    speed = law.speed if getattr(law, "speed", None) is not None else law.coordinate
    found: Array = f[:, exerted.trial.system.speeds.index(speed)]
    return found


def _limit(exerted: Exerted, element: Element) -> Columns:
    return [
        (element.name, _on_coordinate(exerted, element)),
        ("PotentialEnergy", exerted.stored(element.name)),
    ]


def _blankevoort(exerted: Exerted, element: Element) -> Columns:
    name = element.name
    law: Any = exerted.trial.system.force(name)
    L, Ldot = exerted.path(name)
    total, l0 = exerted.tension(name), float(law.slack_length)
    e, toe, k = L / l0 - 1, float(law.transition_strain), float(law.linear_stiffness)
    spring = np.where(e <= 0, 0.0, np.where(e < toe, k * e**2 / (2 * toe), k * (e - toe / 2)))
    values = (spring, total - spring, total, L, Ldot, e, Ldot / l0)
    return [
        (f"{name}.{what}", x)
        for what, x in zip(
            (
                "force_spring",
                "force_damping",
                "force_total",
                "length",
                "lengthening_speed",
                "strain",
                "strain_rate",
            ),
            values,
            strict=True,
        )
    ]


def _frames(exerted: Exerted, element: Element, *ends: str) -> list[tuple[str, str]]:
    """Name of the frame and of its body at each end of a force."""
    reading, out = exerted.reading, []
    for end in ends:
        frame = reading.connected(element, end)
        body = reading.base(frame, element)[0].name or "ground"
        out.append((frame.name or "ground", body))
    return out


def _wrenches(exerted: Exerted, forces: list[str], name: str, ends: list[tuple[str, str]]) -> Columns:
    out: Columns = []
    for frame, body in ends:
        for what, x in zip(("force", "torque"), exerted.on(forces, body), strict=True):
            out += [(f"{name}.{frame}.{what}.{axis}", x[:, k]) for k, axis in enumerate(XYZ)]
    return out


def _bushing(exerted: Exerted, element: Element) -> Columns:
    return _wrenches(exerted, [element.name], element.name, _frames(exerted, element, "frame1", "frame2"))


def _two_point(exerted: Exerted, element: Element) -> Columns:
    """Force and point at each end, in ground."""
    out: Columns = []
    reading, law = exerted.reading, exerted.trial.system.force(element.name)
    for end, point in (("a", "point1"), ("b", "point2")):
        body, socket = str(getattr(law, end)), f"body{point[-1]}"
        force, _ = exerted.on([element.name], body)
        p = np.broadcast_to(reading.vector(element, point), force.shape)
        if body != "ground":
            p = exerted.trial.system.station_position(exerted.run.q, body, p[0])
        if reading.property(element, f"socket_{socket}") is None:
            body = reading.text(element, socket, body)
        for what, x in (("force", force), ("point", p)):
            out += [(f"{element.name}.{body}.{what}.{axis}", x[:, k]) for k, axis in enumerate(XYZ)]
    return out


def _smooth_contact(exerted: Exerted, element: Element) -> Columns:
    reading = exerted.reading
    ends = []
    for what, socket in (("Sphere", "sphere"), ("HalfSpace", "half_space")):
        surface = reading.connected(element, socket)
        frame = reading.connected(surface, "frame")
        ends.append((what, reading.base(frame, surface)[0].name or "ground"))
    return _wrenches(exerted, [element.name], element.name, ends)


def _contact(exerted: Exerted, element: Element) -> Columns | None:
    """For each surface the load of all pairs of the force on its body."""
    forces = [n for n in exerted.trial.system.forces if n == element.name or n.startswith(f"{element.name}.")]
    if not forces:
        return None
    reading, ends = exerted.reading, []
    for parameters in (e for e in element.descendants() if e.tag.endswith("::ContactParameters")):
        for word in reading.words(parameters, "geometry"):
            surface = reading.components.find(word, element, *SURFACES)
            if surface is None:
                return None
            frame = reading.connected(surface, "frame")
            ends.append((frame.name or "ground", reading.base(frame, surface)[0].name or "ground"))
    return _wrenches(exerted, forces, element.name, ends)


def _prescribed(exerted: Exerted, element: Element) -> Columns:
    """Force and torque in ground, the point in the body's frame."""
    trial, reading, name = exerted.trial, exerted.reading, element.name
    ((frame, body),) = _frames(exerted, element, "frame")
    where = "ground" if reading.boolean(element, "forceIsGlobal", True) else frame
    force, torque = exerted.on([name], body)
    point = None
    columns: list[tuple[str, Array]] = []
    given = {
        what: function_elements(reading, element, f"{what}Functions") for what in ("force", "point", "torque")
    }
    if given["point"]:
        t = exerted.run.t
        functions = [reading.read(e) for e in given["point"]]
        point = np.stack([np.broadcast_to(np.asarray(f(t), dtype=float), t.shape) for f in functions], axis=1)
        X = trial.system.body_pose(exerted.run.q, body)
        ground = np.einsum("tij,tj->ti", X.R, point) + X.p
        if reading.boolean(element, "pointIsGlobal", False):
            ground, point = point, np.einsum("tji,tj->ti", X.R, point - X.p)
        torque = torque - np.cross(ground - X.p, force)
    if given["force"]:
        columns += [(f"{where}_{name}_f{axis}", force[:, k]) for k, axis in enumerate("xyz")]
    if point is not None:
        columns += [(f"{where}_{name}_p{axis}", point[:, k]) for k, axis in enumerate("xyz")]
    if given["torque"]:
        columns += [(f"{where}_{name}_torque_{axis}", torque[:, k]) for k, axis in enumerate("xyz")]
    return columns


REPORTS: dict[str, Callable[[Exerted, Element], Columns | None]] = {
    "CoordinateLimitForce": _limit,
    "SpringGeneralizedForce": lambda x, e: [(f"{e.name}_Force", _on_coordinate(x, e))],
    "ExpressionBasedCoordinateForce": lambda x, e: [(e.name, _on_coordinate(x, e))],
    "PathSpring": _along_path("_tension"),
    "ExpressionBasedPathForce": _along_path("_tension"),
    "Ligament": _along_path(""),
    "Blankevoort1991Ligament": _blankevoort,
    **dict.fromkeys(("BushingForce", "FunctionBasedBushingForce", "ExpressionBasedBushingForce"), _bushing),
    **dict.fromkeys(("PointToPointSpring", "ExpressionBasedPointToPointForce"), _two_point),
    "SmoothSphereHalfSpaceForce": _smooth_contact,
    **dict.fromkeys(("HuntCrossleyForce", "ElasticFoundationForce"), _contact),
    "PrescribedForce": _prescribed,
}
"""Columns of OpenSim's classes; those of others are of actuators."""


# ---- forces of constraints for ForceReporter, in OpenSim's columns -----------------------------------------
#
#
# OpenSim writes G' lambda of M udot + G' lambda = f: the opposite of the loads on bodies and coordinates. Of
# each body of a constraint: force, and moment about the body's origin, in the axes of the nearest common
# ancestor body.

ENDS = {
    "PointConstraint": ("body_1", "body_2"),
    "ConstantDistanceConstraint": ("body_1", "body_2"),
    "PointOnLineConstraint": ("line_body", "follower_body"),
    "WeldConstraint": ("frame1", "frame2"),
}
"""Sockets of the bodies that a constraint joins, in the order of its columns."""
AXES = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")


def constraint_columns(trial: AnalysisTrial, element: Element) -> list[tuple[str, Array]]:
    """Columns of every constraint that is enforced; a note lists those that are left out."""
    reading, system = trial.setup.model_reading, trial.system
    off = system.state().disabled
    found = [
        e
        for e in [
            *reading.objects(reading.model, "ConstraintSet"),
            *reading.objects(reading.model, "components"),
        ]
        if e.tag in ENDS or e.tag == "CoordinateCouplerConstraint"
    ]
    columns: list[tuple[str, Array]] = []
    left, batch = [], trial.batch_under({})
    for constraint in found:
        name = constraint.name
        if not reading.boolean(constraint, "isEnforced", True) or name in off:
            continue
        if name not in system.constraints:
            left.append(constraint.title)
        elif constraint.tag in ENDS:
            columns += _on_bodies(reading, constraint, batch)
        else:
            columns += _on_coordinates(reading, constraint, batch)
    if left:
        trial.setup.check(f"{element.title}: forces not in the file: {', '.join(left)}")
    return columns


def _on_bodies(reading: Reading, constraint: Element, batch: Batch) -> list[tuple[str, Array]]:
    system, name = batch.system, constraint.name
    bodies = [
        reading.base(reading.connected(constraint, end), constraint)[0].name or "ground"
        for end in ENDS[constraint.tag]
    ]
    found = batch.ask("constraints.reactions", (name,), {})  # moment, force
    p = {body: batch.ask("body_pose", (body,), {}).p for body in found}
    force = -np.sum([F[:, 3:] for F in found.values()], axis=0)
    moment = -np.sum([F[:, :3] + np.cross(p[body], F[:, 3:]) for body, F in found.items()], axis=0)
    found["ground"] = np.concatenate([moment, force], axis=1)
    base = _common(system, bodies)
    R = np.eye(3)[None] if base == "ground" else batch.ask("body_pose", (base,), {}).R
    out = []
    for body in bodies:
        turned = [
            -np.einsum("tji,tj->ti", np.broadcast_to(R, (len(batch.t), 3, 3)), found[body][:, part])
            for part in (slice(3, 6), slice(0, 3))
        ]
        out += [
            (f"{name}_{body}_{axis}", x)
            for axis, x in zip(AXES, np.concatenate(turned, axis=1).T, strict=True)
        ]
    return out


def _common(system: System, bodies: list[str]) -> str:
    """The nearest common ancestor of bodies, possibly one of them."""
    chains = []
    for name in bodies:
        chain, body = [], None if name == "ground" else system.body(name)
        while body is not None and not body.is_ground:
            chain.append(body.name)
            body = body.parent
        chains.append(chain)
    return next((name for name in chains[0] if all(name in chain for chain in chains)), "ground")


def _on_coordinates(reading: Reading, constraint: Element, batch: Batch) -> list[tuple[str, Array]]:
    """Generalized forces on all speeds of the joints that a coupler joins."""
    system, tree = batch.system, batch.system._tree
    names = [
        reading.components.find(word, constraint, "Coordinate")
        for word in (
            *reading.words(constraint, "independent_coordinate_names"),
            reading.text(constraint, "dependent_coordinate_name"),
        )
    ]
    of = {c.name: body.index for body in system.bodies for c in body.coordinates}
    joints = dict.fromkeys(of[e.name] for e in names if e is not None)
    rows = system.constraints.rows(constraint.name)
    G = batch.ask("constraints.jacobian", (), {})[:, rows]
    f = np.einsum("tij,ti->tj", G, batch.ask("multipliers", (), {})[:, rows])
    at = [k for joint in joints for k in tree.speeds_of(joint)]
    return [(f"{constraint.name}_mobility_F{k}", f[:, i]) for k, i in enumerate(at)]
