"""Bodies and their mobilizers as bodies and joints.

OpenSim's joints have the definitions of our mobilizers: X_PB = X_PF X_FM(q) X_BM^-1, F and M as offset
frames. What it has no class for, and whose pose is three angles and three translations by functions of
coordinates, is a CustomJoint. A reversed mobilizer is the same joint with its two frames exchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import singledispatch
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from condyle.constraints import ConstantCoordinate, PrescribedMotion
from condyle.functions import Function
from condyle.mobilizers import (
    Ball,
    Bushing,
    Cylinder,
    Ellipsoid,
    Free,
    FunctionBased,
    Gimbal,
    Mobilizer,
    Pin,
    Planar,
    Screw,
    Slider,
    Translation,
    Universal,
    Weld,
)
from condyle.mobilizers.base import Reversed
from condyle.mobilizers.compose import Composition
from condyle.mobilizers.lower_pairs import LETTERS
from condyle.opensim.scapula import scapulothoracic
from condyle.opensim.writer_functions import constant, function, law
from condyle.opensim.writing import Writing, angles, joint_name
from condyle.opensim.xml import element
from condyle.records import dataclass
from condyle.spatial import Transform, rotation_from_quaternion
from condyle.tree.body import Body, Coordinate

X, Y, Z = (np.array(LETTERS[letter]) for letter in "xyz")
AXES = ("rotation1", "rotation2", "rotation3", "translation1", "translation2", "translation3")
Term = tuple[Any, tuple[str, ...], Element]
"""Axis, coordinates and function of one of six terms."""


@dataclass(frozen=True)
class Written:
    """A coordinate in the file: name and default, what the system's coordinate says, prescribed function."""

    name: str
    default: float
    given: Coordinate | None = None
    prescribed: Element | None = field(default=None, compare=False)


def body(b: Body, to: Writing) -> Element:
    """A Body; its wrap objects are added when the paths are known."""
    mass, I = to.of_body(b, "mass"), to.of_body(b, "inertia")
    if not mass and np.any(I):
        to.refuse(f"body {b.name!r}: it has an inertia and no mass; OpenSim takes such inertias away")
    return element(
        "Body",
        to.name(b.name, f"body {b.name!r}"),
        mass=mass,
        mass_center=to.of_body(b, "com"),
        inertia=(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]),
    )


def joint(b: Body, to: Writing) -> Element:
    """The joint between a body and its parent."""
    assert b.parent is not None
    mobilizer, turned = b.mobilizer, False
    while isinstance(mobilizer, Reversed):
        mobilizer, turned = mobilizer.forward, not turned
    made = as_joint(mobilizer, b, to)
    offsets = []
    if turned and scapulothoracic(mobilizer) is not None:
        to.refuse(
            f"body {b.name!r}: {b.mobilizer!r}: OpenSim crashes on a ScapulothoracicJoint that goes "
            "against the tree; make the thorax the parent of the scapula"
        )
    for name, where, own in zip((b.parent.name, b.name), ("PF", "BM"), inside(mobilizer), strict=True):
        frame = Transform(to.of_body(b, f"R_{where}"), to.of_body(b, f"p_{where}")) @ own.inverse()
        offsets.append(
            element(
                "PhysicalOffsetFrame",
                f"{name}_offset",
                socket_parent=to.place(name),
                translation=frame.p,
                orientation=angles(frame.R),
            )
        )
    parent, child = offsets[::-1] if turned else offsets
    used = " ".join(e.text or "" for e in made.iter("coordinates")).split()  # in OpenSim's order
    listed = sorted(coordinates(b, to), key=lambda c: used.index(c.name) if c.name in used else len(used))
    out = element(
        made.tag,
        joint_name(b),
        socket_parent_frame=parent.get("name"),
        socket_child_frame=child.get("name"),
        coordinates=[coordinate(c, to) for c in listed],
        frames=offsets,
    )
    out.extend(made)
    return out


def coordinate(c: Written, to: Writing) -> Element:
    """A Coordinate."""
    given = c.given or Coordinate(c.name)
    if c.prescribed is not None and given.locked:
        to.refuse(f"coordinate {c.name!r}: it is locked and prescribed; in OpenSim the lock wins")
    return element(
        "Coordinate",
        to.name(c.name, f"coordinate {c.name!r}"),
        default_value=c.default,
        default_speed_value=given.speed,
        range=given.range or (-np.inf, np.inf),
        clamped=given.clamped,
        locked=given.locked,
        prescribed_function=c.prescribed,
        prescribed=None if c.prescribed is None else True,
    )


def coordinates(b: Body, to: Writing) -> list[Written]:
    """Coordinates of a body's joint in the file: OpenSim has three angles where a mobilizer has a
    quaternion."""
    defaults = [
        d if c.default is None else c.default
        for c, d in zip(b.coordinates, b.mobilizer.default_q(), strict=True)
    ]
    driven = prescribed(b, to)
    kept = [
        held(Written(c.name, float(d), c, f), to)
        for c, d, f in zip(b.coordinates, defaults, driven, strict=True)
    ]
    if not b.mobilizer.quaternions:
        return kept
    if any(f is not None for f in driven[:4]):
        to.refuse(
            f"body {b.name!r}: its quaternion is prescribed, and OpenSim has angles instead; "
            f"{type(b.mobilizer).__name__}(coordinates='euler') has them too"
        )
    turns = angles(rotation_from_quaternion(np.array(defaults[:4])))
    taken = {c.name for other in to.system.bodies for c in other.coordinates}
    names = [f"{b.name}_{short}" for short in ("rx", "ry", "rz")]
    for name in taken & set(names):
        to.refuse(
            f"body {b.name!r}: OpenSim has angles where it has a quaternion, but a coordinate {name!r} "
            "exists already; rename it"
        )
    return [*(Written(name, float(a)) for name, a in zip(names, turns, strict=True)), *kept[4:]]


def held(c: Written, to: Writing) -> Written:
    """A coordinate that a constraint holds or moves: in OpenSim it is locked or prescribed itself."""
    for name in to.system.constraints:
        law = to.system.constraint(name)
        if name in to.system._off or getattr(law, "coordinate", None) != c.name:
            continue
        if c.given is None or c.prescribed is not None:
            continue
        if isinstance(law, ConstantCoordinate):
            value = float(to.number(law.value, f"constraint {name!r}"))
            c = replace(c, default=value, given=replace(c.given, locked=True, default=value))
            to.held.add(name)
        elif isinstance(law, PrescribedMotion) and isinstance(law.function, Function):
            c = replace(c, prescribed=function(law.function, to, f"constraint {name!r}"))
            to.held.add(name)
    return c


def prescribed(b: Body, to: Writing) -> list[Element | None]:
    """What prescribes each coordinate of a body, as functions of time; None where nothing does."""
    if b.motion is None:
        return [None] * b.mobilizer.nq
    where = f"body {b.name!r}: its motion"
    if b.motion.level != "position" or len(b.motion.given) != b.mobilizer.nq:
        to.refuse(
            f"{where}: {b.motion!r}; OpenSim has functions of time for each coordinate: "
            "cd.Prescribed(position=[...]) of functions of cd.functions"
        )
        return [None] * b.mobilizer.nq
    made: list[Element | None] = []
    for f, traced in zip(b.motion.given, b.motion.laws, strict=True):
        if traced is None:
            made.append(None)
        elif isinstance(f, (Function, int, float)):
            made.append(function(f, to, where))
        else:
            _, found = law(f, traced, ("t",), ("t",), to, where)
            made.append(found)
    return made


def inside(m: Mobilizer) -> tuple[Transform, Transform]:
    """Poses of F and M in the frames of OpenSim's joint on the parent and on the body."""
    found = scapulothoracic(m)
    return (Transform(), Transform()) if found is None else found.frames


# ---- one class of mobilizers each --------------------------------------------------------------------------


@singledispatch
def as_joint(m: Mobilizer, b: Body, to: Writing) -> Element:
    """The class of OpenSim's joint, with the properties that it has beside coordinates and frames."""
    to.refuse(f"body {b.name!r}: OpenSim has no joint like {m!r}")
    return element("WeldJoint")


def _plain(kind: type[Mobilizer], name: str) -> None:
    """A mobilizer that is a joint of OpenSim as it is."""

    @as_joint.register(kind)
    def made(m: Mobilizer, b: Body, to: Writing) -> Element:
        return element(name)


for _kind, _name in {
    Weld: "WeldJoint",
    Universal: "UniversalJoint",
    Gimbal: "GimbalJoint",
    Planar: "PlanarJoint",
    Ball: "BallJoint",
    Free: "FreeJoint",
}.items():
    _plain(_kind, _name)


@as_joint.register
def _(m: Ellipsoid, b: Body, to: Writing) -> Element:
    if m.normal:
        to.refuse(
            f"body {b.name!r}: {m!r}: the axis of OpenSim's EllipsoidJoint is not normal to its surface; "
            "normal=False is"
        )
    return element("EllipsoidJoint", radii_x_y_z=to.number(m.radii, f"body {b.name!r}: radii"))


@as_joint.register
def _(m: Composition, b: Body, to: Writing) -> Element:
    found = scapulothoracic(m)
    if found is None:
        to.refuse(f"body {b.name!r}: OpenSim has no joint like {m!r}")
        return element("WeldJoint")
    return element(
        "ScapulothoracicJoint",
        thoracic_ellipsoid_radii_x_y_z=to.number(found.radii, f"body {b.name!r}: radii"),
        scapula_winging_axis_origin=found.origin,
        scapula_winging_axis_direction=found.direction,
    )


@as_joint.register
def _(m: Pin, b: Body, to: Writing) -> Element:
    if np.array_equal(m.axis, Z):
        return element("PinJoint")
    return custom([(m.axis, names(b), ONE)])


@as_joint.register
def _(m: Slider, b: Body, to: Writing) -> Element:
    if np.array_equal(m.axis, X):
        return element("SliderJoint")
    return custom([], [(m.axis, names(b), ONE)])


@as_joint.register
def _(m: Screw, b: Body, to: Writing) -> Element:
    pitch = to.number(m.pitch, f"body {b.name!r}: pitch")
    return custom([(m.axis, names(b), ONE)], [(m.axis, names(b), (pitch, 0.0))])


@as_joint.register
def _(m: Cylinder, b: Body, to: Writing) -> Element:
    turn, shift = names(b)
    return custom([(Z, turn, ONE)], [(Z, shift, ONE)])


@as_joint.register
def _(m: Translation, b: Body, to: Writing) -> Element:
    return custom([], [(a, q, ONE) for a, q in zip((X, Y, Z), names(b), strict=True)])


@as_joint.register
def _(m: Bushing, b: Body, to: Writing) -> Element:
    terms = [(a, q, ONE) for a, q in zip((X, Y, Z) * 2, names(b), strict=True)]
    return custom(terms[:3], terms[3:])


@as_joint.register
def _(m: FunctionBased, b: Body, to: Writing) -> Element:
    what = f"body {b.name!r}: {m!r}"
    if m.time:
        to.refuse(f"{what}: it moves with time by itself; OpenSim's joints do not")
        return element("WeldJoint")
    labels = [f"angles[{i}]" for i in range(3)] + [f"translations[{i}]" for i in range(3)]
    own, axes = tuple(m.coordinates), m.axes or ()
    terms = [
        (axis, *law(given, traced, own, names(b), to, f"{what}: {label}"))
        for axis, given, traced, label in zip(axes, (*m.angles, *m.translations), m.laws, labels, strict=True)
    ]
    turning = [
        np.array(axis) for axis, _, f in terms[:3] if f.tag != "Constant" or f.findtext("value") != "0.0"
    ]
    if len(turning) > 1 and any(
        np.linalg.norm(np.cross(a, c)) < 1e-5 for i, a in enumerate(turning) for c in turning[:i]
    ):
        to.refuse(f"{what}: two of its rotation axes are parallel; OpenSim wants three that differ")
    return custom(terms[:3], terms[3:])


ONE = (1.0, 0.0)
"""Slope and intercept of a coordinate that is the angle or the translation itself."""


def names(b: Body) -> tuple[str, ...]:
    return tuple(c.name for c in b.coordinates)


def custom(turns: Sequence[Any], shifts: Sequence[Any] = ()) -> Element:
    """A CustomJoint of up to three rotations and three translations: axis, coordinates, and a slope and
    an intercept or a function."""
    terms = [*_three(turns), *_three(shifts)]
    made = element("SpatialTransform")
    made.extend(
        element("TransformAxis", label, coordinates=" ".join(q), axis=axis, function=f)
        for label, (axis, q, f) in zip(AXES, terms, strict=True)
    )
    out = element("CustomJoint")
    out.append(made)
    return out


def _three(given: Sequence[Any]) -> list[Term]:
    """Terms with axes that are independent: those that do not move take what the others leave."""
    terms: list[Term] = []
    for axis, q, f in given:
        f = f if isinstance(f, Element) else element("LinearFunction", coefficients=f)
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
