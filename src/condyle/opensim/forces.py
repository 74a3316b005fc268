"""Forces that are not muscles: springs, bushings, limits, ligaments, actuators, functions of time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import condyle.forces as forces
from condyle.errors import CondyleError, DescriptionError
from condyle.forces.bushing import DEFLECTIONS
from condyle.forces.external import TimeFunctions, TimeSeries
from condyle.functions import Constant, Formula
from condyle.laws.described import speed_of
from condyle.opensim.controllers import control
from condyle.opensim.element import Element
from condyle.opensim.functions import ExpressionField, FunctionField, constant, in_body, over_time
from condyle.opensim.joints import speed_in_file
from condyle.opensim.paths import PATH, unit, units
from condyle.opensim.reading import Reading
from condyle.opensim.table import (
    Arguments,
    Choice,
    Class,
    Field,
    Fixed,
    Flag,
    Number,
    Properties,
    Several,
    Vector,
    reads,
    write,
    writes,
)
from condyle.opensim.writing import Writing, Xml, text, xml
from condyle.trace.parameter import Expression, Input

# ---- fields ------------------------------------------------------------------------------------------------


class SpeedField(Field):
    """The speed that an actuator of a coordinate acts on: in OpenSim that of the same place in its joint,
    even if it is not its rate."""

    def parse(self, reading: Reading, element: Element) -> str:
        coordinate = reading.coordinate(element, reading.text(element, self.tag))
        tree = reading.system._tree
        for body in tree.bodies:
            names = [c.name for c in body.coordinates]
            if coordinate in names:
                return tree.speeds[tree.speeds_of(body.index)[names.index(coordinate)]]
        return coordinate

    def format(self, value: Any, to: Writing) -> str:
        return speed_in_file(value, to)


class CoordinateField(SpeedField):
    """The coordinate that a force depends on, and the speed that it acts on if it is not its rate."""

    def read(self, reading: Reading, element: Element) -> Arguments:
        coordinate = reading.coordinate(element, reading.text(element, self.tag))
        try:
            speed_of(reading.system._tree, coordinate, "")
            return {"coordinate": coordinate}
        except CondyleError:
            return {"coordinate": coordinate, "speed": self.parse(reading, element)}


class BodyNameField(Field):
    """A body that a property names."""

    def parse(self, reading: Reading, element: Element) -> str:
        given = reading.text(element, self.tag, "" if self.default is None else self.default)
        found = reading.components.find(given, element, "Body", "Ground") if given else None
        if found is None:
            raise reading.error(element, f"{self.tag}: there is no body {given!r}")
        return reading.names.get(found, found.name)


class BodyField(BodyNameField):
    """A body given by its name or a socket. OpenSim uses the body under a frame, and ignores the frame's
    offset."""

    def parse(self, reading: Reading, element: Element) -> str:
        socket = self.tag.removeprefix("socket_")
        if reading.property(element, f"socket_{socket}") is None:
            return BodyNameField(socket, None).parse(reading, element)
        body, X = reading.frame(element, socket)
        if np.any(X.p) or not np.array_equal(X.R, np.eye(3)):
            reading.remark(
                element,
                f"{socket} is an offset frame; {socket.replace('body', 'point')} is taken on its body "
                f"{body!r}, as in OpenSim",
            )
        return body

    def format(self, value: Any, to: Writing) -> str:
        return to.place(value)


class FramesField(Field):
    """Two frames: X_a on a and X_b on b; the file's own, or sockets."""

    def read(self, reading: Reading, element: Element) -> Arguments:
        for frame in reading.objects(element, "frames"):
            reading.use(frame)
        ends = *reading.frame(element, "frame1"), *reading.frame(element, "frame2")
        return dict(zip(("a", "X_a", "b", "X_b"), ends, strict=True))

    def write(self, thing: Any, to: Writing) -> Properties:
        frames = [
            to.offset(f"{to.owner}_frame{i}", to.place(body), *to.frame(X))
            for i, (body, X) in enumerate(((thing.a, thing.X_a), (thing.b, thing.X_b)), 1)
        ]
        return {**{f"socket_frame{i}": e.get("name") for i, e in enumerate(frames, 1)}, "frames": frames}


class SixField(Field):
    """Six numbers, of which OpenSim has the rotational and the translational ones apart."""

    def parse(self, reading: Reading, element: Element) -> tuple[float, ...]:
        return sum(
            (reading.vector(element, f"{x}_{self.tag}") for x in ("rotational", "translational")),
            (),
        )

    def write(self, thing: Any, to: Writing) -> Properties:
        value = to.number(getattr(thing, self.tag))
        return {f"rotational_{self.tag}": value[:3], f"translational_{self.tag}": value[3:]}


class ControlField(Field):
    """The control of an actuator: its force at a control of 1, and the bounds of the control."""

    BOUNDS = ("min_control", "max_control")

    def read(self, reading: Reading, element: Element) -> Arguments:
        low, high = (
            reading.number(element, name, default, finite=False)
            for name, default in zip(self.BOUNDS, (-math.inf, math.inf), strict=True)
        )
        force = reading.number(element, self.tag, self.default)
        return {self.tag: force, "min_control": low, "max_control": high}

    def write(self, thing: Any, to: Writing) -> Properties:
        force = control(thing.control, to) * to.number(thing.optimal_force)
        return {self.tag: force, **{k: x for k in self.BOUNDS if math.isfinite(x := getattr(thing, k))}}


COORDINATE, SPEED, FRAMES = CoordinateField("coordinate"), SpeedField("coordinate"), FramesField("frames")
CONTROL = ControlField("optimal_force", 1.0)
POINTS = Vector("point1", key="p_a"), Vector("point2", key="p_b")


# ---- on coordinates ----------------------------------------------------------------------------------------

Class(
    "SpringGeneralizedForce",
    forces.MobilitySpring,
    (
        COORDINATE,
        Number("stiffness", 0.0),
        Number("rest_length", 0.0, "rest"),
        Number("viscosity", 0.0, "damping"),
    ),
)
Class(
    "ExpressionBasedCoordinateForce",
    forces.MobilityFunction,
    (COORDINATE, ExpressionField("expression", "q", "qdot")),
)

ANGLES = {"low": "lower_limit", "high": "upper_limit", "transition": "transition"}
"""Numbers of a CoordinateLimitForce in degrees, if its coordinate is an angle; its others are per degree."""


def _degree(unit: str) -> float:
    return math.pi / 180 if unit == "rad" else 1.0


def _limit_in_radians(reading: Reading, element: Element, arguments: Arguments) -> Any:
    w = _degree(unit(reading, arguments["coordinate"]))
    in_radians: dict[str, Any] = {
        key: x if isinstance(x, str) else w * x if key in ANGLES else x / w for key, x in arguments.items()
    }
    return forces.CoordinateLimitForce(**in_radians)


def _limit_in_degrees(law: Any, to: Writing, properties: Properties) -> Properties:
    w = _degree(units(to.system)[law.coordinate])
    return {
        tag: x if isinstance(x, str) else x / w if tag in ANGLES.values() else x * w
        for tag, x in properties.items()
    }


Class(
    "CoordinateLimitForce",
    forces.CoordinateLimitForce,
    (
        COORDINATE,
        *(
            Number(ANGLES[key], default, key)
            for key, default in (("low", 0.0), ("high", 0.0), ("transition", 0.1))
        ),
        Number("lower_stiffness", 1.0),
        Number("upper_stiffness", 1.0),
        Number("damping", 0.001),
    ),
    skip=("compute_dissipation_energy",),
    read=_limit_in_radians,
    write=_limit_in_degrees,
)


# ---- between bodies ----------------------------------------------------------------------------------------

Class(
    "PointToPointSpring",
    forces.TwoPointSpring,
    (
        BodyField("socket_body1", key="a"),
        BodyField("socket_body2", key="b"),
        *POINTS,
        Number("stiffness", 1.0),
        Number("rest_length", 0.0),
    ),
)
Class(
    "ExpressionBasedPointToPointForce",
    forces.TwoPointFunction,
    (
        BodyField("body1", key="a"),
        BodyField("body2", key="b"),
        *POINTS,
        ExpressionField("expression", "d", "ddot"),
    ),
)
Class("BushingForce", forces.LinearBushing, (FRAMES, SixField("stiffness"), SixField("damping")))
VISUAL = ("visual_aspect_ratio", "moment_visual_scale", "force_visual_scale")
Class(
    "FunctionBasedBushingForce",
    forces.FunctionBushing,
    (
        FRAMES,
        SixField("damping"),
        Several(
            "functions",
            *(FunctionField(f"m_{a}_theta_{a}_function") for a in "xyz"),
            *(FunctionField(f"f_{a}_delta_{a}_function") for a in "xyz"),
        ),
    ),
    skip=VISUAL,
    when=lambda law: all(len(g.law.names) == 1 for g in law.functions),
)
Class(
    "ExpressionBasedBushingForce",
    forces.FunctionBushing,
    (
        FRAMES,
        SixField("damping"),
        Several(
            "functions",
            *(ExpressionField(f"{kind}{a}_expression", *DEFLECTIONS) for kind in "MF" for a in "xyz"),
        ),
    ),
    skip=VISUAL,
)


# ---- along paths -------------------------------------------------------------------------------------------

Class(
    "PathSpring",
    forces.PathSpring,
    (Number("stiffness"), Number("resting_length", key="rest_length"), Number("dissipation", 0.0), PATH),
)
Class(
    "ExpressionBasedPathForce",
    forces.PathFunction,
    (
        Number("resting_length", 0.0, "rest_length"),
        PATH,
        ExpressionField("expression", "s", "ldot"),
        Flag("clamp_stretch", True),
    ),
)
Class(
    "Ligament",
    forces.Ligament,
    (Number("resting_length"), Number("pcsa_force", 0.0), PATH, FunctionField("force_length_curve")),
)
Class(
    "Blankevoort1991Ligament",
    forces.Blankevoort1991Ligament,
    (
        Number("linear_stiffness", 1.0),
        Number("transition_strain", 0.06),
        Number("damping_coefficient", 0.003),
        Number("slack_length"),
        PATH,
    ),
)


# ---- actuators ---------------------------------------------------------------------------------------------


def _no_global_points(reading: Reading, element: Element, arguments: Arguments) -> Any:
    if reading.boolean(element, "points_are_global", False):
        raise DescriptionError("points_are_global: points that stay in ground while bodies move are not read")
    return forces.PointToPointActuator(**arguments)


def _input_itself(law: forces.ActivationCoordinateActuator, to: Writing) -> None:
    if (factor := control(law.control, to)) != 1:
        to.refuse(f"its control is {factor:g} times an Input; an activation follows the Input itself")


Class("PathActuator", forces.PathActuator, (CONTROL, PATH))
Class("CoordinateActuator", forces.CoordinateActuator, (SPEED, CONTROL))
Class(
    "ActivationCoordinateActuator",
    forces.ActivationCoordinateActuator,
    (SPEED, Number("activation_time_constant", 0.01), Number("default_activation", 0.5), CONTROL),
    check=_input_itself,
)
Class(
    "PointActuator",
    forces.PointActuator,
    (
        BodyNameField("body", None),
        Vector("point"),
        Vector("direction", (1.0, 0.0, 0.0)),
        Choice("point_is_global", False, "point_frame", "ground", "body"),
        Choice("force_is_global", False, "frame", "ground", "body"),
        CONTROL,
    ),
)
Class(
    "TorqueActuator",
    forces.TorqueActuator,
    (
        BodyNameField("bodyA", None, "a"),
        BodyNameField("bodyB", "ground", "b"),
        Choice("torque_is_global", True, "frame", "ground", "body"),
        Vector("axis", (0.0, 0.0, 1.0)),
        CONTROL,
    ),
)
Class(
    "PointToPointActuator",
    forces.PointToPointActuator,
    (
        BodyNameField("bodyA", None, "a"),
        BodyNameField("bodyB", None, "b"),
        Fixed("points_are_global", False),
        Vector("pointA", key="p_a"),
        Vector("pointB", key="p_b"),
        CONTROL,
    ),
    read=_no_global_points,
)


# ---- over time ---------------------------------------------------------------------------------------------


@reads("PrescribedForce")
def prescribed_force(reading: Reading, element: Element) -> forces.Force:
    body, X = reading.frame(element, "frame")
    force, point, torque = (
        _three(reading, element, name) for name in ("forceFunctions", "pointFunctions", "torqueFunctions")
    )
    turned, placed = (
        not reading.boolean(element, name, default)
        for name, default in (("forceIsGlobal", True), ("pointIsGlobal", False))
    )
    if turned:
        force, torque = in_body(X.R, np.zeros(3), force), in_body(X.R, np.zeros(3), torque)
    if placed:
        point = in_body(X.R, X.p, point)
    return forces.ExternalWrench(
        body,
        point,
        force,
        torque,
        frame="body" if turned else "ground",
        station_frame="body" if placed else "ground",
    )


def function_elements(reading: Reading, element: Element, name: str) -> list[Element]:
    """Elements of the functions in a FunctionSet, or in a property, of this name."""
    holder = reading.property(element, name) or reading.object(element, name)
    if holder is None:
        return []
    inner = holder.child("objects") or holder
    reading.use(holder)
    reading.use(inner)
    return [e for e in inner.children if inner is not holder or reading.reads(e)]


def _three(reading: Reading, element: Element, name: str) -> tuple[Any, ...]:
    """Three functions of time, or zeros."""
    functions = tuple(reading.read(e) for e in function_elements(reading, element, name))
    if len(functions) not in (0, 3):
        raise reading.error(element, f"{name}: expected three functions, or none, got {len(functions)}")
    if all(isinstance(f, Constant) for f in functions):
        return tuple(f.value for f in functions) or (0.0,) * 3
    return functions


@writes(forces.ExternalWrench)
def _(law: forces.ExternalWrench, to: Writing) -> Xml:
    """A PrescribedForce of constants and functions; in OpenSim missing ones are zero."""
    made = xml(
        "PrescribedForce",
        socket_frame=to.place(law.body),
        pointIsGlobal=law.station_frame == "ground",
        forceIsGlobal=law.frame == "ground",
    )
    for key, kept in (("force", law.force), ("point", law.station), ("torque", law.torque)):
        if isinstance(kept, (TimeFunctions, TimeSeries)):
            functions = over_time(kept, to)
        else:
            values = np.broadcast_to(_still(kept, to), 3)
            functions = [constant(float(x)) for x in values] if np.any(values) else []
        made.append(xml("FunctionSet", f"{key}Functions", objects=functions))
    return made


def _driven(kept: Any) -> bool:
    """Whether an Input or the time drives it."""
    return isinstance(kept, (TimeFunctions, TimeSeries)) or (
        isinstance(kept, Expression) and any(isinstance(p, Input) for p in kept.parameters)
    )


def _still(kept: Any, to: Writing) -> Any:
    """A number, or several, that do not change with time."""
    if not isinstance(kept, (int, float, tuple, Expression)):
        to.refuse(f"it follows {kept!r}; in OpenSim such a force comes from a file of external loads")
        return 0.0
    return to.number(kept)


# ---- forces that OpenSim does not have, as equivalent ones ----------------------------------------------


def _instead(kind: type[forces.Force]) -> Any:
    """The function below returns the force that is written instead of a given one."""

    def register(other: Any) -> None:
        writes(kind)(lambda law, to: write(other(law, to), to))  # type: ignore[arg-type,return-value]

    return register


@_instead(forces.TwoPointDamper)
def _(law: forces.TwoPointDamper, to: Writing) -> forces.Force:
    return _between_points(law, f"{text(to.number(law.damping))}*ddot")


@_instead(forces.TwoPointForce)
def _(law: forces.TwoPointForce, to: Writing) -> forces.Force:
    if _driven(law.force):
        return forces.PointToPointActuator(law.a, law.p_a, law.b, law.p_b, 1.0, control=law.force)
    return _between_points(law, text(-_still(law.force, to)))


def _between_points(law: Any, expression: str) -> forces.Force:
    """A force along the line between two points, positive where it pulls them together."""
    return forces.TwoPointFunction(law.a, law.p_a, law.b, law.p_b, Formula(expression, ("d", "ddot")))


@_instead(forces.MobilityDamper)
def _(law: forces.MobilityDamper, to: Writing) -> forces.Force:
    return forces.MobilitySpring(law.coordinate, 0.0, 0.0, law.damping)


@_instead(forces.MobilityForce)
def _(law: forces.MobilityForce, to: Writing) -> forces.Force:
    if _driven(law.value):
        return forces.CoordinateActuator(law.coordinate, 1.0, control=law.value)
    return _of_coordinate(law, text(_still(law.value, to)))


@_instead(forces.MobilityStop)
def _(law: forces.MobilityStop, to: Writing) -> forces.Force:
    low, high, k, d = (to.number(x) for x in (law.low, law.high, law.stiffness, law.dissipation))
    terms = []
    if np.isfinite(low):
        terms.append(f"+max({low!r}-q,0)*max(1-{d!r}*qdot,0)")
    if np.isfinite(high):
        terms.append(f"-max(q-{high!r},0)*max(1+{d!r}*qdot,0)")
    return _of_coordinate(law, f"{k!r}*(0{''.join(terms)})".replace("--", "+").replace("+-", "-"))


def _of_coordinate(law: Any, expression: str) -> forces.Force:
    return forces.MobilityFunction(law.coordinate, Formula(expression, ("q", "qdot")))


@_instead(forces.ConstantForce)
def _(law: forces.ConstantForce, to: Writing) -> forces.Force:
    return forces.ExternalWrench(law.body, law.station, law.force)


@_instead(forces.ConstantTorque)
def _(law: forces.ConstantTorque, to: Writing) -> forces.Force:
    return forces.ExternalWrench(law.body, torque=law.torque)
