"""Forces that are no muscles: springs, bushings, limits, ligaments, actuators, functions, contact."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from condyle.errors import CondyleError, DescriptionError
from condyle.forces import (
    ActivationCoordinateActuator,
    Blankevoort1991Ligament,
    CoordinateActuator,
    CoordinateLimitForce,
    ExternalWrench,
    Force,
    FunctionBushing,
    Ligament,
    LinearBushing,
    MobilityFunction,
    MobilitySpring,
    PathActuator,
    PathFunction,
    PathSpring,
    PointActuator,
    PointToPointActuator,
    TorqueActuator,
    TwoPointFunction,
    TwoPointSpring,
)
from condyle.forces.bushing import DEFLECTIONS
from condyle.functions import Constant, Formula
from condyle.laws.names import speed_of
from condyle.opensim.controllers import controlled
from condyle.opensim.element import Element
from condyle.opensim.functions import in_body
from condyle.opensim.paths import path, unit
from condyle.opensim.reading import Reading
from condyle.opensim.registry import reads


def add(reading: Reading, element: Element, law: Force) -> None:
    """Add a force under its own name; one that does not apply itself is there and disabled."""
    acts = reading.boolean(element, "appliesForce", True)
    law = controlled(reading, element, law)
    reading.system.add_force(reading.free_name(element, "force"), law, enabled=acts)


def _force(*tags: str) -> Any:
    """The function below makes the law of an element of these classes."""

    def register(make: Any) -> Any:
        @reads(*tags)
        def reader(reading: Reading, element: Element) -> None:
            add(reading, element, make(reading, element))

        return make

    return register


def speed(reading: Reading, element: Element, name: str = "coordinate") -> str:
    """Name of the speed that a force on a coordinate acts on: in OpenSim that of the same place in its joint,
    its rate or not."""
    coordinate = reading.coordinate(element, reading.text(element, name))
    tree = reading.system._tree
    for body in tree.bodies:
        names = [c.name for c in body.coordinates]
        if coordinate in names:
            return tree.speeds[tree.speeds_of(body.index)[names.index(coordinate)]]
    return coordinate


def other(reading: Reading, element: Element) -> str | None:
    """The speed that a force on a coordinate acts on, if it is not the coordinate's rate."""
    coordinate = reading.coordinate(element, reading.text(element, "coordinate"))
    try:
        speed_of(reading.system._tree, coordinate, "")
    except CondyleError:
        return speed(reading, element)
    return None


# ---- On coordinates ----------------------------------------------------------------------------------------


@_force("CoordinateLimitForce")
def coordinate_limit(reading: Reading, element: Element) -> Force:
    coordinate = reading.coordinate(element, reading.text(element, "coordinate"))
    reading.skip(element, "compute_dissipation_energy")
    w = math.pi / 180 if unit(reading, coordinate) == "rad" else 1.0
    low, high, width = (
        w * reading.number(element, name, default)
        for name, default in (("lower_limit", 0.0), ("upper_limit", 0.0), ("transition", 0.1))
    )
    k_low, k_high, c = (
        reading.number(element, name, default) / w
        for name, default in (("lower_stiffness", 1.0), ("upper_stiffness", 1.0), ("damping", 0.001))
    )
    return CoordinateLimitForce(coordinate, low, high, k_low, k_high, c, width, speed=other(reading, element))


@_force("SpringGeneralizedForce")
def spring_generalized(reading: Reading, element: Element) -> Force:
    return MobilitySpring(
        reading.coordinate(element, reading.text(element, "coordinate")),
        reading.number(element, "stiffness", 0.0),
        reading.number(element, "rest_length", 0.0),
        reading.number(element, "viscosity", 0.0),
        speed=other(reading, element),
    )


@_force("ExpressionBasedCoordinateForce")
def expression_based_coordinate(reading: Reading, element: Element) -> Force:
    return MobilityFunction(
        reading.coordinate(element, reading.text(element, "coordinate")),
        formula(reading, element, "expression", ("q", "qdot")),
        speed=other(reading, element),
    )


def formula(reading: Reading, element: Element, name: str, names: tuple[str, ...]) -> Formula:
    """The expression in a property."""
    text = reading.text(element, name, "0.0")
    try:
        return Formula(text, names)
    except CondyleError as error:
        raise reading.error(reading.property(element, name) or element, str(error)) from None


# ---- Between bodies ----------------------------------------------------------------------------------------


@_force("PointToPointSpring")
def point_to_point_spring(reading: Reading, element: Element) -> Force:
    return TwoPointSpring(
        *_points(reading, element, "body1", "point1"),
        *_points(reading, element, "body2", "point2"),
        reading.number(element, "stiffness", 1.0),
        reading.number(element, "rest_length", 0.0),
    )


@_force("ExpressionBasedPointToPointForce")
def expression_based_point_to_point(reading: Reading, element: Element) -> Force:
    return TwoPointFunction(
        *_points(reading, element, "body1", "point1"),
        *_points(reading, element, "body2", "point2"),
        formula(reading, element, "expression", ("d", "ddot")),
    )


def _points(reading: Reading, element: Element, socket: str, name: str) -> tuple[str, tuple[float, ...]]:
    """Body and point. OpenSim takes the body under a frame, and leaves the frame's place on it out."""
    if reading.property(element, f"socket_{socket}") is None:
        return _body(reading, element, socket), reading.numbers(element, name, (0.0,) * 3, 3)
    body, X = reading.frame(element, socket)
    if np.any(X.p) or not np.array_equal(X.R, np.eye(3)):
        reading.remark(
            element, f"{socket} is an offset frame; {name} is taken on its body {body!r}, as in OpenSim"
        )
    return body, reading.numbers(element, name, (0.0,) * 3, 3)


def _body(reading: Reading, element: Element, name: str, default: str | None = None) -> str:
    """The body that a property names."""
    given = reading.text(element, name, default or "")
    found = reading.components.find(given, element, "Body", "Ground") if given else None
    if found is None:
        raise reading.error(element, f"{name}: there is no body {given!r}")
    return reading.names.get(found, found.name)


@_force("BushingForce")
def bushing(reading: Reading, element: Element) -> Force:
    return LinearBushing(
        *_frames(reading, element), _six(reading, element, "stiffness"), _six(reading, element, "damping")
    )


@_force("FunctionBasedBushingForce")
def function_based_bushing(reading: Reading, element: Element) -> Force:
    reading.skip(element, "visual_aspect_ratio", "moment_visual_scale", "force_visual_scale")
    names = [*(f"m_{a}_theta_{a}_function" for a in "xyz"), *(f"f_{a}_delta_{a}_function" for a in "xyz")]
    return FunctionBushing(
        *_frames(reading, element),
        [reading.function(element, name) for name in names],
        _six(reading, element, "damping"),
    )


@_force("ExpressionBasedBushingForce")
def expression_based_bushing(reading: Reading, element: Element) -> Force:
    reading.skip(element, "visual_aspect_ratio", "moment_visual_scale", "force_visual_scale")
    names = [f"{kind}{a}_expression" for kind in "MF" for a in "xyz"]
    return FunctionBushing(
        *_frames(reading, element),
        [formula(reading, element, name, DEFLECTIONS) for name in names],
        _six(reading, element, "damping"),
    )


def _frames(reading: Reading, element: Element) -> tuple[str, Any, str, Any]:
    """a, X_a, b and X_b: the two frames are the file's own, or sockets."""
    for frame in reading.objects(element, "frames"):
        reading.use(frame)
    return *reading.frame(element, "frame1"), *reading.frame(element, "frame2")


def _six(reading: Reading, element: Element, kind: str) -> tuple[float, ...]:
    return (
        *reading.numbers(element, f"rotational_{kind}", (0.0,) * 3, 3),
        *reading.numbers(element, f"translational_{kind}", (0.0,) * 3, 3),
    )


# ---- Along paths -------------------------------------------------------------------------------------------


@_force("PathSpring")
def path_spring(reading: Reading, element: Element) -> Force:
    return PathSpring(
        path(reading, element),
        reading.number(element, "stiffness"),
        reading.number(element, "resting_length"),
        reading.number(element, "dissipation", 0.0),
    )


@_force("ExpressionBasedPathForce")
def expression_based_path(reading: Reading, element: Element) -> Force:
    return PathFunction(
        path(reading, element),
        formula(reading, element, "expression", ("s", "ldot")),
        reading.number(element, "resting_length", 0.0),
        clamp_stretch=reading.boolean(element, "clamp_stretch", True),
    )


@_force("Ligament")
def ligament(reading: Reading, element: Element) -> Force:
    curve = reading.function(element, "force_length_curve")
    return Ligament(
        path(reading, element),
        reading.number(element, "resting_length"),
        reading.number(element, "pcsa_force", 0.0),
        *(() if curve is None else (curve,)),
    )


@_force("Blankevoort1991Ligament")
def blankevoort1991(reading: Reading, element: Element) -> Force:
    return Blankevoort1991Ligament(
        path(reading, element),
        reading.number(element, "linear_stiffness", 1.0),
        reading.number(element, "slack_length"),
        reading.number(element, "transition_strain", 0.06),
        reading.number(element, "damping_coefficient", 0.003),
    )


# ---- Actuators ---------------------------------------------------------------------------------------------


def controls(reading: Reading, element: Element) -> dict[str, Any]:
    """Bounds of an actuator's control."""
    return {
        name: reading.number(element, name, default, finite=False)
        for name, default in (("min_control", -math.inf), ("max_control", math.inf))
    }


def _optimal(reading: Reading, element: Element) -> float:
    return reading.number(element, "optimal_force", 1.0)


@_force("PathActuator")
def path_actuator(reading: Reading, element: Element) -> Force:
    return PathActuator(path(reading, element), _optimal(reading, element), **controls(reading, element))


@_force("CoordinateActuator")
def coordinate_actuator(reading: Reading, element: Element) -> Force:
    return CoordinateActuator(
        speed(reading, element), _optimal(reading, element), **controls(reading, element)
    )


@_force("ActivationCoordinateActuator")
def activation_coordinate_actuator(reading: Reading, element: Element) -> Force:
    return ActivationCoordinateActuator(
        speed(reading, element),
        _optimal(reading, element),
        **controls(reading, element),
        activation_time_constant=reading.number(element, "activation_time_constant", 0.01),
        default_activation=reading.number(element, "default_activation", 0.5),
    )


@_force("PointActuator")
def point_actuator(reading: Reading, element: Element) -> Force:
    return PointActuator(
        _body(reading, element, "body"),
        reading.numbers(element, "point", (0.0,) * 3, 3),
        reading.numbers(element, "direction", (1.0, 0.0, 0.0), 3),
        _optimal(reading, element),
        frame="ground" if reading.boolean(element, "force_is_global", False) else "body",
        point_frame="ground" if reading.boolean(element, "point_is_global", False) else "body",
        **controls(reading, element),
    )


@_force("TorqueActuator")
def torque_actuator(reading: Reading, element: Element) -> Force:
    return TorqueActuator(
        _body(reading, element, "bodyA"),
        _body(reading, element, "bodyB", "ground"),
        reading.numbers(element, "axis", (0.0, 0.0, 1.0), 3),
        _optimal(reading, element),
        frame="ground" if reading.boolean(element, "torque_is_global", True) else "body",
        **controls(reading, element),
    )


@_force("PointToPointActuator")
def point_to_point_actuator(reading: Reading, element: Element) -> Force:
    if reading.boolean(element, "points_are_global", False):
        raise DescriptionError("points_are_global: points that stay in ground while bodies move are not read")
    return PointToPointActuator(
        _body(reading, element, "bodyA"),
        reading.numbers(element, "pointA", (0.0,) * 3, 3),
        _body(reading, element, "bodyB"),
        reading.numbers(element, "pointB", (0.0,) * 3, 3),
        _optimal(reading, element),
        **controls(reading, element),
    )


# ---- Over time ---------------------------------------------------------------------------------------------


@_force("PrescribedForce")
def prescribed(reading: Reading, element: Element) -> Force:
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
    return ExternalWrench(
        body,
        point,
        force,
        torque,
        frame="body" if turned else "ground",
        station_frame="body" if placed else "ground",
    )


def _three(reading: Reading, element: Element, name: str) -> tuple[Any, ...]:
    """Three functions of time, or zeros."""
    holder = (
        reading.object(element, name)
        if reading.property(element, name) is None
        else reading.property(element, name)
    )
    if holder is None:
        return (0.0,) * 3
    inner = holder.child("objects") or holder
    found = [e for e in inner.children if inner is not holder or reading.reads(e)]
    for e in (holder, inner):
        reading.use(e)
    if len(found) not in (0, 3):
        raise reading.error(holder, f"expected three functions, or none, got {len(found)}")
    functions = tuple(reading.read(e) for e in found)
    if all(isinstance(f, Constant) for f in functions):
        return tuple(f.value for f in functions) or (0.0,) * 3
    return functions
