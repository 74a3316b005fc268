"""Joints: classes of OpenSim as mobilizers, and bodies with their mobilizers as bodies and joints.

OpenSim's joints have the definitions of our mobilizers: X_PB = X_PF X_FM(q) X_BM^-1, F and M as offset
frames. Mobilizers without a class, whose pose is three angles and three translations by functions of
coordinates, become a CustomJoint. A reversed mobilizer is the same joint with its two frames exchanged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

import condyle.mobilizers as mobilizers
from condyle.constraints import ConstantCoordinate, PrescribedMotion
from condyle.functions import Constant, Function, Linear, Scaled
from condyle.mobilizers import Mobilizer
from condyle.mobilizers.base import Reversed
from condyle.mobilizers.closed_form import LETTERS, unit_axis
from condyle.mobilizers.combined import Composition
from condyle.opensim.element import Element
from condyle.opensim.functions import constant, function, joint_function
from condyle.opensim.reading import Reading
from condyle.opensim.table import Arguments, Class, Vector, reads, write, writes
from condyle.opensim.writing import Writing, Xml, angles, joint_name, xml
from condyle.records import dataclass
from condyle.spatial import (
    Transform,
    rotation_about,
    rotation_from_quaternion,
    rotation_x,
    rotation_y,
    rotation_z,
)
from condyle.trace import where
from condyle.tree.body import Body, Coordinate

AXES = ("rotation1", "rotation2", "rotation3", "translation1", "translation2", "translation3")
X, Y, Z = (np.array(LETTERS[letter]) for letter in "xyz")
EULER = {"coordinates": "euler"}


# ---- joints that are mobilizers unchanged ----------------------------------------------------------------


class Radii(Vector):
    """Radii of an ellipsoid."""

    def format(self, value: Any, to: Writing) -> Any:
        return to.part(self.key).number(value)


def _ellipsoid(reading: Reading, element: Element, arguments: Arguments) -> Mobilizer:
    mirrored = min(arguments["radii"]) < 0
    if mirrored:
        reading.remark(element, "a radius is negative: the joint is a mirror image, as in OpenSim")
    return mobilizers.Ellipsoid(**arguments, mirrored=mirrored)


def _not_normal(m: mobilizers.Ellipsoid, to: Writing) -> None:
    if m.normal:
        to.refuse(
            f"{m!r}: the axis of OpenSim's EllipsoidJoint is not normal to its surface; normal=False is"
        )


Class("WeldJoint", mobilizers.Weld)
Class("PinJoint", mobilizers.Pin, when=lambda m: np.array_equal(m.axis, Z))
Class("SliderJoint", mobilizers.Slider, when=lambda m: np.array_equal(m.axis, X))
Class("UniversalJoint", mobilizers.Universal)
Class("GimbalJoint", mobilizers.Gimbal)
Class("PlanarJoint", mobilizers.Planar)
Class("BallJoint", mobilizers.Ball, arguments=EULER)
Class("FreeJoint", mobilizers.Free, arguments=EULER)
Class(
    "EllipsoidJoint",
    mobilizers.Ellipsoid,
    (Radii("radii_x_y_z", (1.0, 1.0, 1.0), "radii"),),
    arguments=EULER,
    read=_ellipsoid,
    check=_not_normal,
)


# ---- a joint in a file -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Joint:
    """The motion of a child on its parent.

    Attributes:
        mobilizer: of the joint.
        coordinates: elements of its coordinates, in order.
        on_parent: pose of F in the joint's frame on the parent.
        on_child: pose of M in the joint's frame on the child.
    """

    mobilizer: Mobilizer
    coordinates: tuple[Element, ...] = ()
    on_parent: Transform = field(default_factory=Transform)
    on_child: Transform = field(default_factory=Transform)


def read_joint(reading: Reading, element: Element) -> Joint:
    """The joint of an element; a class that is a mobilizer has its coordinates in their order."""
    joint = reading.read(element)
    if isinstance(joint, Joint):
        return joint
    reading.skip(element, "use_euler_angles")
    return Joint(joint, coordinate_elements(reading, element, joint.nq))


def coordinate_elements(reading: Reading, element: Element, count: int) -> tuple[Element, ...]:
    """Elements of a joint's coordinates; missing ones are created, with OpenSim's names."""
    found = reading.objects(element, "coordinates")
    for k in range(len(found), count):
        found.append(_new_coordinate(reading, element, f"{element.name}_coord_{k}"))
    for extra in found[count:]:
        reading.note(extra, f"a {element.tag} has {count} coordinates; this one moves nothing")
    return tuple(found[:count])


def _new_coordinate(reading: Reading, element: Element, name: str) -> Element:
    """A coordinate of a joint that the file does not have: all properties have their defaults."""
    components = reading.components  # of what was there before
    holder = element.child("coordinates") or element.add("coordinates")
    new = holder.add("Coordinate", name=name)
    components.add(new)
    reading.use(holder)
    reading.use(new)
    return new


# ---- the scapula on the thorax -----------------------------------------------------------------------------
#
# OpenSim's ScapulothoracicJoint is mobilizers in series. Its ellipsoid's frame is turned by 90 degrees about z;
# then the scapula wings about an axis d = (-sin w, cos w, 0) of it through the point o = (o_x, o_y, 0).

QUARTER = rotation_about((0.0, 0.0, 1.0), math.pi / 2)


@dataclass(frozen=True)
class Scapulothoracic:
    """The numbers of a ScapulothoracicJoint.

    Attributes:
        radii: of the thorax [m].
        origin: o_x and o_y [m].
        direction: w [rad].
    """

    radii: tuple[Any, Any, Any]
    origin: tuple[float, float]
    direction: float

    @property
    def frames(self) -> tuple[Transform, Transform]:
        """Poses of F and M in the joint's frames on the thorax and on the scapula."""
        return Transform(QUARTER), Transform(p=(*self.origin, 0.0))

    @property
    def mobilizer(self) -> Mobilizer:
        """From the ellipsoid's moving frame back to the scapula's, to the axis, about it."""
        a, b, c = self.radii
        winging = mobilizers.FunctionBased(
            ("winging",),
            angles=(-math.pi / 2, Linear(1.0), None),
            translations=tuple(float(x) for x in QUARTER.T @ np.array((*self.origin, 0.0))),
            axes=("z", (-math.sin(self.direction), math.cos(self.direction), 0.0), "z"),
        )
        return mobilizers.compose(mobilizers.Ellipsoid((b, a, c), coordinates="euler"), winging)


def _scapulothoracic(m: Mobilizer) -> Scapulothoracic | None:
    """The numbers of a mobilizer that is such a joint; None of others."""
    if (
        not isinstance(m, Composition)
        or not isinstance(m.a, mobilizers.Ellipsoid)
        or not isinstance(m.b, mobilizers.FunctionBased)
    ):
        return None
    thorax, winging = m.a, m.b
    if thorax.quaternions or thorax.normal or len(winging.coordinates) != 1 or winging.time:
        return None
    values = [*winging.angles, *winging.translations]
    numbers = [0.0 if x is None else x for i, x in enumerate(values) if i != 1]
    axes = np.array(winging.axes)
    if values[1] != Linear(1.0) or not all(isinstance(x, (int, float)) for x in numbers):
        return None
    d, offset = axes[1], QUARTER @ np.array(numbers[2:])
    if (
        numbers[0] != -math.pi / 2
        or numbers[1] != 0
        or d[2] != 0
        or offset[2] != 0
        or not np.array_equal(axes[[0, 3, 4, 5]], np.eye(3)[[2, 0, 1, 2]])
    ):
        return None
    radii: Any = thorax.radii
    b, a, c = radii
    return Scapulothoracic((a, b, c), (float(offset[0]), float(offset[1])), float(math.atan2(-d[0], d[1])))


@reads("ScapulothoracicJoint")
def scapulothoracic_joint(reading: Reading, element: Element) -> Joint:
    a, b, c = reading.numbers(element, "thoracic_ellipsoid_radii_x_y_z", count=3)
    x, y = reading.numbers(element, "scapula_winging_axis_origin", (0.0, 0.0), 2)
    joint = Scapulothoracic((a, b, c), (x, y), reading.number(element, "scapula_winging_axis_direction", 0.0))
    return Joint(joint.mobilizer, coordinate_elements(reading, element, 4), *joint.frames)


@writes(Composition, when=lambda m: _scapulothoracic(m) is not None)
def _(m: Composition, to: Writing) -> Xml:
    joint = _scapulothoracic(m)
    assert joint is not None
    return xml(
        "ScapulothoracicJoint",
        thoracic_ellipsoid_radii_x_y_z=to.part("radii").number(joint.radii),
        scapula_winging_axis_origin=joint.origin,
        scapula_winging_axis_direction=joint.direction,
    )


# ---- a beam, which is read only ----------------------------------------------------------------------------


@reads("ConstantCurvatureJoint")
def constant_curvature(reading: Reading, element: Element) -> Joint:
    """A beam that bends to an arc of a circle and twists: angles about x, z and y, added to those of rest."""
    bend = Curvature(reading.vector(element, "neutral_angle_x_z_y"), reading.number(element, "length", 1.0))
    reading.remark(
        element,
        "velocities are the rates of its poses; OpenSim's are not, nor are its "
        "accelerations (see the parity page)",
    )
    return Joint(mobilizers.Custom(("x", "z", "y"), bend), coordinate_elements(reading, element, 3))


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


# ---- CustomJoint -------------------------------------------------------------------------------------------


Law = tuple[Function, tuple[str, ...]] | None
"""A function and the names of its coordinates; None for zero."""


@reads("CustomJoint")
def custom(reading: Reading, element: Element) -> Joint:
    listed = {e.name: e for e in reading.objects(element, "coordinates")}
    transform = reading.property(element, "SpatialTransform")
    axes: list[np.ndarray] = []
    laws: list[Law] = []
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
            listed[q] = _new_coordinate(reading, element, q)
    if not moving:
        values = [law[0](*(0.0 for _ in law[1])) if law else 0.0 for law in laws]
        R = np.eye(3)
        for axis, angle in zip(axes[:3], values[:3], strict=True):
            R = R @ rotation_about(axis, angle)
        return Joint(
            mobilizers.Weld(), (), Transform(R, sum(a * v for a, v in zip(axes[3:], values[3:], strict=True)))
        )
    mobilizer = _spatial(tuple(moving), axes, laws)
    return Joint(mobilizer, tuple(listed[q] for q in moving))


def _axis(
    reading: Reading, transform: Element | None, name: str, usual: np.ndarray
) -> tuple[np.ndarray, Law]:
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
    if _is_constant(function):
        value = float(function(0.0))
        return axis, (Constant(value), ()) if value else None
    if not names:
        value = function(*(0.0 for _ in range(function.variables or 1)))
        reading.note(found, "its function has no coordinate; its value at zero is used")
        return axis, (Constant(float(value)), ())
    if function.variables not in (None, len(names)):
        raise reading.error(
            found,
            f"its function takes {function.variables} variables, but it has the "
            f"coordinates {' '.join(names)}",
        )
    return axis, (function, names)


def _is_constant(function: Function) -> bool:
    """Whether a function is the same everywhere."""
    return isinstance(function, Constant) or (
        isinstance(function, Scaled) and _is_constant(function.function)
    )


def _spatial(names: tuple[str, ...], axes: list[np.ndarray], laws: list[Law]) -> Mobilizer:
    """The mobilizer of a SpatialTransform: R = R(a1, f1) R(a2, f2) R(a3, f3), p = a4 f4 + a5 f5 + a6 f6."""
    functions: list[Any] = [None if law is None else _argument(names, *law) for law in laws]
    if abs(np.linalg.det(np.array(axes[3:]))) < 1e-6:  # OpenSim allows axes in one plane
        moved = [(axis, law) for axis, law in zip(axes[3:], laws[3:], strict=True) if law is not None]
        functions[3:] = [
            _sum([(axis[k], _called(names, *law)) for axis, law in moved if axis[k]]) for k in range(3)
        ]
        axes = [*axes[:3], *np.eye(3)]
    return mobilizers.FunctionBased(
        names,
        tuple(functions[:3]),
        tuple(functions[3:]),
        axes=[tuple(a) for a in axes],
        units=tuple(_unit(q, laws) for q in names),
    )


def _unit(q: str, laws: list[Law]) -> str:
    """Unit of a coordinate: in OpenSim rotational, or translational, if it is the angle about, or distance
    along, one of the axes (slope 1 or -1); others are "coupled", numbers without a unit in its files."""
    for kind, part in (("rad", laws[:3]), ("m", laws[3:])):
        for law in part:
            if law and law[1] == (q,) and isinstance(law[0], Linear) and law[0].slope in (1.0, -1.0):
                return kind
    return "1"


def _argument(names: tuple[str, ...], function: Function, own: tuple[str, ...]) -> Any:
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


ONE = (1.0, 0.0)
"""Slope and intercept of a coordinate that is the angle or the translation itself."""


@writes(mobilizers.Pin)
def _(m: mobilizers.Pin, to: Writing) -> Xml:
    return _custom([(m.axis, to.coordinates, ONE)])


@writes(mobilizers.Slider)
def _(m: mobilizers.Slider, to: Writing) -> Xml:
    return _custom([], [(m.axis, to.coordinates, ONE)])


@writes(mobilizers.Screw)
def _(m: mobilizers.Screw, to: Writing) -> Xml:
    pitch = to.part("pitch").number(m.pitch)
    return _custom([(m.axis, to.coordinates, ONE)], [(m.axis, to.coordinates, (pitch, 0.0))])


@writes(mobilizers.Cylinder)
def _(m: mobilizers.Cylinder, to: Writing) -> Xml:
    turn, shift = to.coordinates
    return _custom([(Z, turn, ONE)], [(Z, shift, ONE)])


@writes(mobilizers.Translation)
def _(m: mobilizers.Translation, to: Writing) -> Xml:
    return _custom([], [(a, q, ONE) for a, q in zip((X, Y, Z), to.coordinates, strict=True)])


@writes(mobilizers.Bushing)
def _(m: mobilizers.Bushing, to: Writing) -> Xml:
    terms = [(a, q, ONE) for a, q in zip((X, Y, Z) * 2, to.coordinates, strict=True)]
    return _custom(terms[:3], terms[3:])


@writes(mobilizers.FunctionBased)
def _(m: mobilizers.FunctionBased, to: Writing) -> Xml:
    at = to.part(repr(m))
    if m.time:
        at.refuse("it moves with time by itself; OpenSim's joints do not")
        return xml("WeldJoint")
    labels = [f"{kind}[{i}]" for kind in ("angles", "translations") for i in range(3)]
    terms = [
        (axis, *joint_function(given, traced, tuple(m.coordinates), to.coordinates, at.part(label)))
        for axis, given, traced, label in zip(
            m.axes or (), (*m.angles, *m.translations), m.laws, labels, strict=True
        )
    ]
    turning = [
        np.array(axis) for axis, _, f in terms[:3] if f.tag != "Constant" or f.findtext("value") != "0.0"
    ]
    if any(np.linalg.norm(np.cross(a, c)) < 1e-5 for i, a in enumerate(turning) for c in turning[:i]):
        at.refuse("two of its rotation axes are parallel; OpenSim wants three that differ")
    return _custom(terms[:3], terms[3:])


def _custom(turns: Sequence[Any], shifts: Sequence[Any] = ()) -> Xml:
    """A CustomJoint of up to three rotations and three translations: axis, coordinates, and a slope and
    an intercept or a function."""
    transform = xml("SpatialTransform")
    transform.extend(
        xml("TransformAxis", label, coordinates=" ".join(q), axis=axis, function=f)
        for label, (axis, q, f) in zip(AXES, [*_three(turns), *_three(shifts)], strict=True)
    )
    return xml("CustomJoint", SpatialTransform=transform)


def _three(given: Sequence[Any]) -> list[tuple[Any, tuple[str, ...], Xml]]:
    """Terms with axes that are independent: constant ones get the remaining axes."""
    terms: list[tuple[Any, tuple[str, ...], Xml]] = []
    for axis, q, f in given:
        f = f if isinstance(f, Xml) else xml("LinearFunction", coefficients=f)
        terms.append((np.array(axis), (q,) if isinstance(q, str) else tuple(q), f))
    if len(terms) == 3 and abs(np.linalg.det([axis for axis, _, _ in terms])) > 1e-6:
        return terms
    still = [i for i, (_, q, f) in enumerate(terms) if not q and f.findtext("value") == "0.0"]
    for _ in range(3 - len(terms)):
        terms.append((np.zeros(3), (), constant(0.0)))
        still.append(len(terms) - 1)
    held = [axis for i, (axis, _, _) in enumerate(terms) if i not in still]
    for i in still:
        basis = np.linalg.svd(np.array([*held, np.zeros(3)]))[2]
        free = basis[len(held)]
        held.append(free)
        terms[i] = (free, (), constant(0.0))
    return terms


# ---- bodies and joints, written ----------------------------------------------------------------------------


def forward(mobilizer: Mobilizer) -> tuple[Mobilizer, bool]:
    """A mobilizer that is not reversed, and whether it was."""
    turned = False
    while isinstance(mobilizer, Reversed):
        mobilizer, turned = mobilizer.forward, not turned
    return mobilizer, turned


def write_body(b: Body, to: Writing) -> Xml:
    """A Body; its wrap objects are added when the paths are known."""
    to = to.at(f"body {b.name!r}")
    mass, I = to.of_body(b, "mass"), to.of_body(b, "inertia")
    if not mass and np.any(I):
        to.refuse("it has an inertia and no mass; OpenSim takes such inertias away")
    return xml(
        "Body",
        to.name(b.name),
        mass=mass,
        mass_center=to.of_body(b, "com"),
        inertia=(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]),
    )


def write_joint(b: Body, to: Writing) -> Xml:
    """The joint between a body and its parent."""
    assert b.parent is not None
    mobilizer, turned = forward(b.mobilizer)
    to = to.at(f"body {b.name!r}", b.name, tuple(c.name for c in b.coordinates))
    made = write(mobilizer, to)
    if made is None:
        to.refuse(f"OpenSim has no joint like {mobilizer!r}")
        made = xml("WeldJoint")
    scapula = _scapulothoracic(mobilizer)
    if turned and scapula is not None:
        to.refuse(
            f"{b.mobilizer!r}: OpenSim crashes on a ScapulothoracicJoint that goes "
            "against the tree; make the thorax the parent of the scapula"
        )
    inside = (Transform(), Transform()) if scapula is None else scapula.frames
    offsets = []
    for name, of, own in zip((b.parent.name, b.name), ("PF", "BM"), inside, strict=True):
        frame = Transform(to.of_body(b, f"R_{of}"), to.of_body(b, f"p_{of}")) @ own.inverse()
        offsets.append(to.offset(f"{name}_offset", to.place(name), frame.R, frame.p))
    parent, child = offsets[::-1] if turned else offsets
    used = " ".join(e.text or "" for e in made.iter("coordinates")).split()  # in OpenSim's order
    listed = sorted(
        coordinates_in_file(b, to), key=lambda c: used.index(c.name) if c.name in used else len(used)
    )
    joint = xml(
        made.tag,
        joint_name(b),
        socket_parent_frame=parent.get("name"),
        socket_child_frame=child.get("name"),
        coordinates=[_coordinate(c, to) for c in listed],
        frames=offsets,
    )
    joint.extend(made)
    return joint


@dataclass(frozen=True)
class Written:
    """A coordinate in the file: name and default, the system's coordinate, prescribed function."""

    name: str
    default: float
    given: Coordinate | None = None
    prescribed: Xml | None = field(default=None, compare=False)


def _coordinate(c: Written, to: Writing) -> Xml:
    """A Coordinate."""
    to, given = to.at(f"coordinate {c.name!r}"), c.given or Coordinate(c.name)
    if c.prescribed is not None and given.locked:
        to.refuse("it is locked and prescribed; in OpenSim the lock wins")
    return xml(
        "Coordinate",
        to.name(c.name),
        default_value=c.default,
        default_speed_value=given.speed,
        range=given.range or (-np.inf, np.inf),
        clamped=given.clamped,
        locked=given.locked,
        prescribed_function=c.prescribed,
        prescribed=None if c.prescribed is None else True,
    )


def coordinates_in_file(b: Body, to: Writing) -> list[Written]:
    """Coordinates of a body's joint in the file: OpenSim has three angles where a mobilizer has a
    quaternion."""
    to = to.at(f"body {b.name!r}")
    defaults = [
        d if c.default is None else c.default
        for c, d in zip(b.coordinates, b.mobilizer.default_q(), strict=True)
    ]
    driven = _prescribed(b, to)
    own = [
        _held(Written(c.name, float(d), c, f), to)
        for c, d, f in zip(b.coordinates, defaults, driven, strict=True)
    ]
    if not b.mobilizer.quaternions:
        return own
    if any(f is not None for f in driven[:4]):
        to.refuse(
            "its quaternion is prescribed, and OpenSim has angles instead; "
            f"{type(b.mobilizer).__name__}(coordinates='euler') has them too"
        )
    turns = angles(rotation_from_quaternion(np.array(defaults[:4])))
    taken = {c.name for other in to.system.bodies for c in other.coordinates}
    names = [f"{b.name}_{short}" for short in ("rx", "ry", "rz")]
    for name in taken & set(names):
        to.refuse(
            f"OpenSim has angles where it has a quaternion, but a coordinate {name!r} "
            "exists already; rename it"
        )
    return [*(Written(name, float(a)) for name, a in zip(names, turns, strict=True)), *own[4:]]


def speed_in_file(name: str, to: Writing) -> str:
    """The coordinate of the file whose speed, or which itself, has this name."""
    for body in to.system.bodies:
        if name in [c.name for c in body.coordinates]:
            return name
        if name in body.speeds:
            return coordinates_in_file(body, to)[body.speeds.index(name)].name
    raise KeyError(name)


def _held(c: Written, to: Writing) -> Written:
    """A coordinate that a constraint holds or moves: in OpenSim the coordinate is locked or prescribed."""
    for name in to.system.constraints:
        law = to.system.constraint(name)
        if name in to.system._off or getattr(law, "coordinate", None) != c.name:
            continue
        if c.given is None or c.prescribed is not None:
            continue
        at = to.at(f"constraint {name!r}")
        if isinstance(law, ConstantCoordinate):
            value = float(at.number(law.value))
            c = replace(c, default=value, given=replace(c.given, locked=True, default=value))
            to.held.add(name)
        elif isinstance(law, PrescribedMotion) and isinstance(law.function, Function):
            c = replace(c, prescribed=function(law.function, at))
            to.held.add(name)
    return c


def _prescribed(b: Body, to: Writing) -> list[Xml | None]:
    """The prescribed motion of each coordinate of a body, as a function of time; None if it is free."""
    if b.motion is None:
        return [None] * b.mobilizer.nq
    at = to.part("its motion")
    if b.motion.level != "position" or len(b.motion.given) != b.mobilizer.nq:
        at.refuse(
            f"{b.motion!r}; OpenSim has functions of time for each coordinate: "
            "cd.Prescribed(position=[...]) of functions of cd.functions"
        )
        return [None] * b.mobilizer.nq
    return [
        None if traced is None else joint_function(f, traced, ("t",), ("t",), at)[1]
        for f, traced in zip(b.motion.given, b.motion.laws, strict=True)
    ]
