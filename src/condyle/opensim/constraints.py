"""Constraints. Those that join points of frames interpret stations in the base bodies and ignore offsets of
frames, as OpenSim does (for its defects see docs/guide/opensim.md)."""

from __future__ import annotations

from typing import Any

import numpy as np

import condyle.constraints as constraints
from condyle.functions import Constant, Function
from condyle.opensim.element import Element
from condyle.opensim.forces import FRAMES
from condyle.opensim.functions import function
from condyle.opensim.reading import Reading
from condyle.opensim.table import REQUIRED, Class, Field, Number, Vector, reads, write, writes
from condyle.opensim.writing import Writing, Xml, append, xml
from condyle.records import dataclass


class BaseBody(Field):
    """The body under a frame; the pose of the frame on it is ignored."""

    def parse(self, reading: Reading, element: Element) -> str:
        frame = reading.connected(element, self.tag.removeprefix("socket_"))
        body, X = reading.base(frame, element)
        if frame is not body and X.p.any():
            reading.remark(element, f"{frame.title} has an offset, which OpenSim ignores here; so do we")
        return reading.names[body]

    def format(self, value: str, to: Writing) -> str:
        return to.place(value)


POINTS = (
    BaseBody("socket_body_1", key="a"),
    BaseBody("socket_body_2", key="b"),
    Vector("location_body_1", key="p_a"),
    Vector("location_body_2", key="p_b"),
)
Class("PointConstraint", constraints.Ball, POINTS)
Class("ConstantDistanceConstraint", constraints.Rod, (*POINTS, Number("constant_distance", key="length")))
Class(
    "PointOnLineConstraint",
    constraints.PointOnLine,
    (
        BaseBody("socket_line_body", key="a"),
        BaseBody("socket_follower_body", key="b"),
        Vector("line_direction_vec", REQUIRED, "direction"),
        Vector("point_on_line", key="p_a"),
        Vector("point_on_follower", key="p_b"),
    ),
)
Class("WeldConstraint", constraints.Weld, (FRAMES,))


# ---- couplers ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Coupling:
    """factor f(independent...) - dependent, which is zero.

    Attributes:
        function: f, one of cd.functions.
        factor: what it is multiplied by; it may be a Parameter.
    """

    function: Function
    factor: Any = 1.0

    def __call__(self, *q: Any) -> Any:
        return self.factor * self.function(*q[:-1]) - q[-1]


@reads("CoordinateCouplerConstraint")
def coordinate_coupler(reading: Reading, element: Element) -> constraints.Constraint:
    names = [
        reading.coordinate(element, word) for word in reading.words(element, "independent_coordinate_names")
    ]
    dependent = reading.coordinate(element, reading.text(element, "dependent_coordinate_name"))
    function = reading.function(element, "coupled_coordinates_function")
    if function is None:
        raise reading.error(element, "<coupled_coordinates_function> is missing, and must be given")
    if not names or function.variables not in (None, len(names)):
        raise reading.error(
            element,
            f"its function takes {function.variables or 'some'} coordinates, but it names {len(names)}",
        )
    if isinstance(function, Constant):
        reading.remark(
            element,
            f"its function is a Constant: {dependent!r} is held; OpenSim 4.6 holds "
            f"{names[0]!r} at zero instead",
        )
    law = Coupling(function, reading.number(element, "scale_factor", 1.0))
    return constraints.CoordinateCoupler(law, (*names, dependent))


def coupler(function: Xml, independent: list[str], dependent: str, factor: float = 1.0) -> Xml:
    """A CoordinateCouplerConstraint."""
    return xml(
        "CoordinateCouplerConstraint",
        coupled_coordinates_function=function,
        independent_coordinate_names=" ".join(independent),
        dependent_coordinate_name=dependent,
        scale_factor=factor,
    )


@writes(constraints.CoordinateCoupler)
def _(law: constraints.CoordinateCoupler, to: Writing) -> Xml:
    """f = a_0 + sum a_i q_i = 0 gives the last coordinate with a nonzero factor from the others."""
    if isinstance(law.function, Coupling):
        *others, last = law.coordinates
        return coupler(function(law.function.function, to), others, last, law.function.factor)
    found = law.law.linear()
    if found is None:
        to.refuse(
            f"{law!r}: a Python function that is not linear; OpenSim's "
            "CoordinateCouplerConstraint gives one coordinate as a function of others"
        )
        return xml("CoordinateCouplerConstraint")
    slopes = np.array(found[:-1])
    *rest, k = (int(i) for i in np.flatnonzero(slopes))
    if not rest:
        to.refuse(f"{law!r} holds one coordinate; in OpenSim a coordinate is locked")
    coefficients = [*(-slopes[rest] / slopes[k]), -found[-1] / slopes[k]]
    line = xml("LinearFunction", coefficients=coefficients)
    return coupler(line, [law.coordinates[i] for i in rest], law.coordinates[k])


# ---- rolling -----------------------------------------------------------------------------------------------

ENDS = ("_angle", "_x", "_z")
"""Endings of the names of conditions of a RollingOnSurfaceConstraint, after the first."""
X, Z = np.eye(3)[0], np.eye(3)[2]


@reads("RollingOnSurfaceConstraint")
def rolling_on_surface(reading: Reading, element: Element) -> None:
    """Four conditions, each a constraint. OpenSim's default states have none of them enforced."""
    roller, _ = reading.frame(element, "rolling_body")
    surface, _ = reading.frame(element, "surface_body")
    normal = reading.numbers(element, "surface_normal", (0.0, 1.0, 0.0), 3)
    height = reading.number(element, "surface_height", 0.0)
    reading.skip(element, "friction_coefficient", "contact_radius")
    reading.boolean(element, "isEnforced", True)
    name, x, z, o = reading.free_name(element, "constraint"), (1, 0, 0), (0, 0, 1), (0, 0, 0)
    for end, constraint in zip(
        ("", *ENDS),
        (
            constraints.PointInPlane(surface, normal, height, roller, o),
            constraints.ConstantAngle(surface, x, roller, z),
            constraints.NoSlip1D(surface, o, x, surface, roller),
            constraints.NoSlip1D(surface, o, z, surface, roller),
        ),
        strict=True,
    ):
        reading.system.add_constraint(name + end, constraint, enabled=False)
    reading.remark(
        element,
        f"{name}, {name}_angle, {name}_x, {name}_z are not enforced in default states, "
        "as in OpenSim, which decides at each step; enable them in a state",
    )


def _rolling(name: str, to: Writing) -> Xml | None:
    """A RollingOnSurfaceConstraint, if a constraint and those of its name with ENDS are its conditions."""
    system, names = to.system, [name, *(name + end for end in ENDS)]
    if not set(names) <= set(system.constraints):
        return None
    plane, angle, x, z = (system.constraint(n) for n in names)
    if not (
        isinstance(plane, constraints.PointInPlane)
        and isinstance(angle, constraints.ConstantAngle)
        and isinstance(x, constraints.NoSlip1D)
        and isinstance(z, constraints.NoSlip1D)
    ):
        return None
    o, a, b = (0.0,) * 3, plane.a, plane.b
    p_b: Any = plane.p_b
    points: Any = [x.point, z.point]
    same = [(angle.a, angle.b, angle.angle) == (a, b, np.pi / 2), tuple(p_b) == o]
    same += [
        np.array_equal(_unit(v), axis)
        for v, axis in ((angle.axis_a, X), (angle.axis_b, Z), (x.direction, X), (z.direction, Z))
    ]
    same += [(n.case, n.a, n.b, tuple(p)) == (a, a, b, o) for n, p in zip((x, z), points, strict=True)]
    if not all(same):
        return None
    if not set(names) <= system._off:
        to.refuse(
            "OpenSim decides at each step whether a wheel rolls, and none does in default states; "
            f"add it and {', '.join(names[1:])} with enabled=False"
        )
    return xml(
        "RollingOnSurfaceConstraint",
        to.name(name),
        socket_rolling_body=to.place(b),
        socket_surface_body=to.place(a),
        surface_normal=to.number(plane.normal),
        surface_height=to.number(plane.height),
    )


def _unit(direction: Any) -> Any:
    """A direction of numbers at unit length; None of Parameters."""
    if not isinstance(direction, tuple) or not all(isinstance(x, float) for x in direction):
        return None
    return np.array(direction) / np.linalg.norm(direction)


# ---- all of them, written ----------------------------------------------------------------------------------

INSTEAD = {
    "RigidContact": (
        "; surfaces of a cd.contact.Material, with law=cd.contact.OpenSimHuntCrossley, are written"
    ),
    "Stop": "; a cd.forces.MobilityStop is written",
}
"""Forces that may replace constraints, by names of classes, without loading these."""


def write_constraints(to: Writing) -> list[Xml]:
    """All constraints except those of joints; the four of a rolling wheel are one."""
    system = to.system
    at = {name: to.at(f"constraint {name!r}", name) for name in system.constraints}
    wheels = {name: _rolling(name, at[name]) for name in system.constraints}
    parts = {name + end for name, wheel in wheels.items() if wheel is not None for end in ENDS}
    written = []
    for name in system.constraints:
        if name in parts or name in to.held:
            continue
        law, one = system.constraint(name), wheels[name]
        if one is None:
            one = write(law, at[name], at[name].name(name))
            if one is None:
                instead = next((INSTEAD[k.__name__] for k in type(law).__mro__ if k.__name__ in INSTEAD), "")
                at[name].refuse(f"OpenSim has no constraint like {law!r}{instead}")
                continue
            if name in system._off:
                append(one, "isEnforced", False)
        written.append(one)
    return written
