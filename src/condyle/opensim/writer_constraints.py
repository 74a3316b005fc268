"""Constraints, one function per class."""

from __future__ import annotations

from functools import singledispatch
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from condyle.constraints import (
    Ball,
    ConstantAngle,
    Constraint,
    CoordinateCoupler,
    NoSlip1D,
    PointInPlane,
    PointOnLine,
    RigidContact,
    Rod,
    Stop,
    Weld,
)
from condyle.opensim.constraints import Coupling
from condyle.opensim.writer_forces import two_frames
from condyle.opensim.writer_functions import function
from condyle.opensim.writing import Writing
from condyle.opensim.xml import append, element


def as_constraints(to: Writing) -> list[Element]:
    """All constraints but those that joints have; the four of a wheel that rolls are one."""
    system = to.system
    wheels = {name: rolling(name, to) for name in system.constraints}
    parts = {name + end for name, made in wheels.items() if made is not None for end in ENDS}
    made = []
    for name in system.constraints:
        if name in parts or name in to.held:
            continue
        one = wheels[name]
        if one is None:
            one = as_constraint(system.constraint(name), to.name(name, f"constraint {name!r}"), to)
            if name in system._off:
                append(one, "isEnforced", False)
        made.append(one)
    return made


ENDS = ("_angle", "_x", "_z")
"""Of the names of conditions of a RollingOnSurfaceConstraint, after the first, as they are read."""


def rolling(name: str, to: Writing) -> Element | None:
    """A RollingOnSurfaceConstraint, if a constraint and those of its name with ENDS are its conditions."""
    system, names = to.system, [name, *(name + end for end in ENDS)]
    if not set(names) <= set(system.constraints):
        return None
    plane, angle, x, z = (system.constraint(n) for n in names)
    if not (
        isinstance(plane, PointInPlane)
        and isinstance(angle, ConstantAngle)
        and isinstance(x, NoSlip1D)
        and isinstance(z, NoSlip1D)
    ):
        return None
    o, a, b, where = (0.0,) * 3, plane.a, plane.b, f"constraint {name!r}"
    same = [(angle.a, angle.b, angle.angle) == (a, b, np.pi / 2), tuple(plane.p_b) == o]
    same += [
        np.array_equal(_unit(v), axis)
        for v, axis in ((angle.axis_a, X), (angle.axis_b, Z), (x.direction, X), (z.direction, Z))
    ]
    same += [(n.case, n.a, n.b, tuple(n.point)) == (a, a, b, o) for n in (x, z)]
    if not all(same):
        return None
    if not set(names) <= system._off:
        to.refuse(
            f"{where}: OpenSim decides at each step whether a wheel rolls, and none does in default states; "
            f"add it and {', '.join(names[1:])} with enabled=False"
        )
    return element(
        "RollingOnSurfaceConstraint",
        to.name(name, where),
        socket_rolling_body=to.place(b),
        socket_surface_body=to.place(a),
        surface_normal=to.number(plane.normal, where),
        surface_height=to.number(plane.height, where),
    )


X, Z = np.eye(3)[0], np.eye(3)[2]


def _unit(direction: Any) -> Any:
    """A direction of numbers at unit length; None of Parameters."""
    if not isinstance(direction, tuple) or not all(isinstance(x, float) for x in direction):
        return None
    return np.array(direction) / np.linalg.norm(direction)


INSTEAD = {
    RigidContact: "; surfaces of a cd.contact.Material, with law=cd.contact.OpenSimHuntCrossley, are written",
    Stop: "; a cd.forces.MobilityStop is written",
}
"""Forces that may take the place of constraints."""


@singledispatch
def as_constraint(law: Constraint, name: str, to: Writing) -> Element:
    """A constraint as an element of OpenSim."""
    instead = next((words for kind, words in INSTEAD.items() if isinstance(law, kind)), "")
    to.refuse(f"constraint {name!r}: OpenSim has no constraint like {law!r}{instead}")
    return element("PointConstraint", name)


@as_constraint.register
def _(law: Rod, name: str, to: Writing) -> Element:
    return _two_points(
        "ConstantDistanceConstraint",
        law,
        name,
        to,
        constant_distance=to.number(law.length, f"constraint {name!r}"),
    )


@as_constraint.register
def _(law: Ball, name: str, to: Writing) -> Element:
    return _two_points("PointConstraint", law, name, to)


def _two_points(kind: str, law: Any, name: str, to: Writing, **more: Any) -> Element:
    where = f"constraint {name!r}"
    return element(
        kind,
        name,
        socket_body_1=to.place(law.a),
        socket_body_2=to.place(law.b),
        location_body_1=to.number(law.p_a, where),
        location_body_2=to.number(law.p_b, where),
        **more,
    )


@as_constraint.register
def _(law: PointOnLine, name: str, to: Writing) -> Element:
    where = f"constraint {name!r}"
    return element(
        "PointOnLineConstraint",
        name,
        socket_line_body=to.place(law.a),
        socket_follower_body=to.place(law.b),
        line_direction_vec=to.number(law.direction, where),
        point_on_line=to.number(law.p_a, where),
        point_on_follower=to.number(law.p_b, where),
    )


@as_constraint.register
def _(law: Weld, name: str, to: Writing) -> Element:
    return element("WeldConstraint", name, **two_frames(law, name, to, f"constraint {name!r}"))


@as_constraint.register
def _(law: CoordinateCoupler, name: str, to: Writing) -> Element:
    """f = a_0 + sum a_i q_i = 0 gives the last coordinate that moves it from the others."""
    if isinstance(law.function, Coupling):
        return element(
            "CoordinateCouplerConstraint",
            name,
            coupled_coordinates_function=function(law.function.function, to, f"constraint {name!r}"),
            independent_coordinate_names=" ".join(law.coordinates[:-1]),
            dependent_coordinate_name=law.coordinates[-1],
            scale_factor=law.function.factor,
        )
    found = law.law.linear()
    if found is None:
        to.refuse(
            f"constraint {name!r}: {law!r}: a Python function that is not linear; OpenSim's "
            "CoordinateCouplerConstraint gives one coordinate as a function of others"
        )
        return element("CoordinateCouplerConstraint", name)
    slopes = np.array(found[:-1])
    last = int(np.flatnonzero(slopes)[-1])
    others = [i for i in np.flatnonzero(slopes) if i != last]
    if not others:
        to.refuse(f"constraint {name!r}: {law!r} holds one coordinate; in OpenSim a coordinate is locked")
        return element("CoordinateCouplerConstraint", name)
    coefficients = [*(-slopes[others] / slopes[last]), -found[-1] / slopes[last]]
    return element(
        "CoordinateCouplerConstraint",
        name,
        coupled_coordinates_function=element("LinearFunction", coefficients=coefficients),
        independent_coordinate_names=" ".join(law.coordinates[i] for i in others),
        dependent_coordinate_name=law.coordinates[last],
        scale_factor=1.0,
    )
