"""Joints: each reader gives the mobilizer and the elements of its coordinates, in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

import numpy as np

from condyle.functions import Constant, Function, Linear, Scaled
from condyle.mobilizers import (
    Ball,
    Custom,
    Ellipsoid,
    Free,
    FunctionBased,
    Gimbal,
    Mobilizer,
    Pin,
    Planar,
    Slider,
    Universal,
    Weld,
)
from condyle.mobilizers.lower_pairs import unit_axis
from condyle.opensim.element import Element
from condyle.opensim.reading import Reading
from condyle.opensim.registry import reads
from condyle.opensim.scapula import Scapulothoracic
from condyle.records import dataclass
from condyle.spatial import Transform, rotation_about, rotation_x, rotation_y, rotation_z
from condyle.trace import where

AXES = ("rotation1", "rotation2", "rotation3", "translation1", "translation2", "translation3")


@dataclass(frozen=True, eq=False)
class Joint:
    """What a joint lets its child do.

    Attributes:
        mobilizer: how it moves.
        coordinates: elements of its coordinates, in order.
        on_parent: pose of F in the joint's frame on the parent.
        on_child: pose of M in the joint's frame on the child.
    """

    mobilizer: Mobilizer
    coordinates: tuple[Element, ...] = ()
    on_parent: Transform = field(default_factory=Transform)
    on_child: Transform = field(default_factory=Transform)


def _plain(tag: str, make: Callable[[Reading, Element], Mobilizer]) -> None:
    @reads(tag)
    def reader(reading: Reading, element: Element) -> Joint:
        mobilizer = make(reading, element)
        reading.skip(element, "use_euler_angles")
        return Joint(mobilizer, coordinates(reading, element, mobilizer.nq))


_plain("WeldJoint", lambda reading, element: Weld())
_plain("PinJoint", lambda reading, element: Pin())
_plain("SliderJoint", lambda reading, element: Slider())
_plain("UniversalJoint", lambda reading, element: Universal())
_plain("GimbalJoint", lambda reading, element: Gimbal())
_plain("PlanarJoint", lambda reading, element: Planar())
_plain("BallJoint", lambda reading, element: Ball(coordinates="euler"))
_plain("FreeJoint", lambda reading, element: Free(coordinates="euler"))
_plain("EllipsoidJoint", lambda reading, element: _ellipsoid(reading, element))


def _ellipsoid(reading: Reading, element: Element) -> Mobilizer:
    radii = reading.numbers(element, "radii_x_y_z", (1.0, 1.0, 1.0), 3)
    if min(radii) < 0:
        reading.remark(element, "a radius is negative: the joint is a mirror image, as in OpenSim")
    return Ellipsoid(radii, coordinates="euler", mirrored=min(radii) < 0)


def coordinates(reading: Reading, element: Element, count: int) -> tuple[Element, ...]:
    """Elements of a joint's coordinates; those that are missing are made, named as OpenSim names them."""
    found = reading.objects(element, "coordinates")
    for k in range(len(found), count):
        found.append(_made(reading, element, f"{element.name}_coord_{k}"))
    for extra in found[count:]:
        reading.note(extra, f"a {element.tag} has {count} coordinates; this one moves nothing")
    return tuple(found[:count])


def _made(reading: Reading, element: Element, name: str) -> Element:
    """A coordinate of a joint that the file does not state: all of it is by default."""
    holder = element.child("coordinates") or element.add("coordinates")
    made = holder.add("Coordinate", name=name)
    reading.components.add(made)
    for new in (holder, made):
        reading.use(new)
    return made


@reads("ScapulothoracicJoint")
def scapulothoracic(reading: Reading, element: Element) -> Joint:
    a, b, c = reading.numbers(element, "thoracic_ellipsoid_radii_x_y_z", count=3)
    x, y = reading.numbers(element, "scapula_winging_axis_origin", (0.0, 0.0), 2)
    made = Scapulothoracic((a, b, c), (x, y), reading.number(element, "scapula_winging_axis_direction", 0.0))
    return Joint(made.mobilizer, coordinates(reading, element, 4), *made.frames)


@reads("ConstantCurvatureJoint")
def constant_curvature(reading: Reading, element: Element) -> Joint:
    """A beam that bends to an arc of a circle and twists: angles about x, z and y, added to those of rest."""
    bend = Curvature(
        reading.numbers(element, "neutral_angle_x_z_y", (0.0,) * 3, 3), reading.number(element, "length", 1.0)
    )
    reading.remark(
        element,
        "velocities are the rates of its poses; OpenSim's are not, nor are its "
        "accelerations (see the parity page)",
    )
    return Joint(Custom(("x", "z", "y"), bend), coordinates(reading, element, 3))


@dataclass(frozen=True)
class Curvature:
    """Pose of the end of an arc that begins along y: R = R_x R_z R_y of q and the angles at rest; with the
    angle theta between R e_y = e and y,

        p = length (e_x f, sin(theta) / theta, e_z f),    f = tan(theta / 2) / theta.

    Attributes:
        neutral: angles at rest about x, z and y [rad].
        length: of the arc [m].
    """

    neutral: tuple[float, ...]
    length: float

    def __call__(self, x: Any, z: Any, y: Any) -> tuple[Any, Any]:
        x, z, y = (q + at_rest for q, at_rest in zip((x, z, y), self.neutral, strict=True))
        R = rotation_x(x) @ rotation_z(z) @ rotation_y(y)
        e = (-np.sin(z), np.cos(x) * np.cos(z), np.sin(x) * np.cos(z))
        w = (1 - e[1]) / 2  # sin(theta / 2)^2
        s = np.sqrt(where(w < SMALL, SMALL, w))
        ratio = where(w < SMALL, 1 + w * (1 / 6 + w * (3 / 40 + w * 5 / 112)), np.arcsin(s) / s)
        f = 1 / (2 * ratio * np.sqrt(1 - w))
        along = f * (1 + e[1])  # tan(theta / 2) (1 + cos(theta)) = sin(theta)
        return R, tuple(self.length * c for c in (f * e[0], along, f * e[2]))


SMALL = 1e-4
"""sin(theta / 2)^2 below which arcsin(s) / s is a series, whose next term is below rounding."""


@reads("CustomJoint")
def custom(reading: Reading, element: Element) -> Joint:
    listed = {e.name: e for e in reading.objects(element, "coordinates")}
    transform = reading.property(element, "SpatialTransform")
    axes: list[np.ndarray] = []
    laws: list[tuple[Function, tuple[str, ...]] | None] = []
    for k, name in enumerate(AXES):
        axis, law = _axis(reading, transform, name, np.eye(3)[k % 3])
        axes.append(axis)
        laws.append(law)
    used = list(dict.fromkeys(q for law in laws if law for q in law[1]))
    moving = [q for q in used if any(law and q in law[1] for law in laws)]
    for q in [*listed, *used]:
        if q not in moving and q in listed:
            reading.note(listed[q], "moves nothing; it is left out")
    for q in moving:
        if q not in listed:
            listed[q] = _made(reading, element, q)
    if not moving:
        values = [law[0](*(0.0 for _ in law[1])) if law else 0.0 for law in laws]
        R = np.eye(3)
        for axis, angle in zip(axes[:3], values[:3], strict=True):
            R = R @ rotation_about(axis, angle)
        return Joint(Weld(), (), Transform(R, sum(a * v for a, v in zip(axes[3:], values[3:], strict=True))))
    mobilizer = spatial(tuple(moving), axes, laws)
    return Joint(mobilizer, tuple(listed[q] for q in moving))


def _axis(
    reading: Reading, transform: Element | None, name: str, usual: np.ndarray
) -> tuple[np.ndarray, tuple[Function, tuple[str, ...]] | None]:
    """Unit axis, and function with the names of its coordinates, None if it is zero."""
    found = (
        None
        if transform is None
        else next((e for e in transform.children if e.tag == "TransformAxis" and e.name == name), None)
    )
    if found is None:
        return usual, None
    reading.use(found)
    reading.skip(found, "is_rotation")
    names = tuple(reading.words(found, "coordinates"))
    given = reading.numbers(found, "axis", tuple(usual), 3)
    if not any(given):
        raise reading.error(found, "axis is zero; it must have a direction")
    axis = np.array(unit_axis(given, name))
    function = reading.function(found, "function")
    if function is None and len(names) == 1 and found.child("function") is not None:
        function = Linear(1.0)  # <function/> means the coordinate itself
    if function is None:
        return axis, None
    if is_constant(function):
        value = float(function(0.0))
        return axis, (Constant(value), ()) if value else None
    if not names:
        value = function(*(0.0 for _ in range(function.variables or 1)))
        reading.note(found, "its function has no coordinate; its value at zero is taken")
        return axis, (Constant(float(value)), ())
    if function.variables not in (None, len(names)):
        raise reading.error(
            found,
            f"its function takes {function.variables} variables, but it has the "
            f"coordinates {' '.join(names)}",
        )
    return axis, (function, names)


def is_constant(function: Function) -> bool:
    """Whether a function is the same everywhere."""
    return isinstance(function, Constant) or (isinstance(function, Scaled) and is_constant(function.function))


def spatial(
    names: tuple[str, ...], axes: list[np.ndarray], laws: list[tuple[Function, tuple[str, ...]] | None]
) -> FunctionBased:
    """The mobilizer of a SpatialTransform: R = R(a1, f1) R(a2, f2) R(a3, f3), p = a4 f4 + a5 f5 + a6 f6."""
    functions: list[Any] = [None if law is None else _of(names, *law) for law in laws]
    if abs(np.linalg.det(np.array(axes[3:]))) < 1e-6:  # OpenSim allows axes in one plane
        moved = [(axis, law) for axis, law in zip(axes[3:], laws[3:], strict=True) if law is not None]
        functions[3:] = [
            _sum([(axis[k], _called(names, *law)) for axis, law in moved if axis[k]]) for k in range(3)
        ]
        axes = [*axes[:3], *np.eye(3)]
    return FunctionBased(
        names,
        tuple(functions[:3]),
        tuple(functions[3:]),
        axes=[tuple(a) for a in axes],
        units=tuple(unit(q, laws) for q in names),
    )


def unit(q: str, laws: list[tuple[Function, tuple[str, ...]] | None]) -> str:
    """Unit of a coordinate: OpenSim calls it rotational, or translational, if it is itself the angle, or the
    way, along one of the axes (slope 1 or -1); others are "coupled", numbers without a unit in its files."""
    for kind, part in (("rad", laws[:3]), ("m", laws[3:])):
        for law in part:
            if law and law[1] == (q,) and isinstance(law[0], Linear) and abs(law[0].slope) == 1.0:
                return kind
    return "1"


def _of(names: tuple[str, ...], function: Function, own: tuple[str, ...]) -> Any:
    """A function of some coordinates as one of all of them."""
    if not own:
        return float(function.value) if isinstance(function, Constant) else function
    return function if own == names else (function, own)


def _called(names: tuple[str, ...], function: Function, own: tuple[str, ...]) -> Callable[..., Any]:
    places = [names.index(q) for q in own]
    return lambda *q: function(*(q[i] for i in places))


def _sum(terms: list[tuple[float, Any]]) -> Any:
    if not terms:
        return None
    return lambda *q: sum(a * f(*q) for a, f in terms)
