"""Constraints. Those that join points of frames take stations as given in the base bodies, whatever offset a
frame has: so does OpenSim (for its defects see docs/guide/opensim.md)."""

from __future__ import annotations

from typing import Any

import condyle.constraints as constraints
from condyle.constraints import Constraint
from condyle.functions import Constant, Function
from condyle.opensim.element import Element
from condyle.opensim.reading import Reading
from condyle.opensim.registry import reads
from condyle.records import dataclass


@dataclass(frozen=True)
class Coupling:
    """factor f(independent...) - dependent, which is zero.

    Attributes:
        function: f, one of cd.functions.
        factor: what it is multiplied by.
    """

    function: Function
    factor: float = 1.0

    def __call__(self, *q: Any) -> Any:
        return self.factor * self.function(*q[:-1]) - q[-1]


def _add(reading: Reading, element: Element, constraint: Constraint) -> None:
    reading.system.add_constraint(
        reading.free_name(element, "constraint"),
        constraint,
        enabled=reading.boolean(element, "isEnforced", True),
    )


def _point(reading: Reading, element: Element, socket: str, name: str) -> tuple[str, tuple[float, ...]]:
    """Body under a frame, and a station on it."""
    frame = reading.connected(element, socket)
    body, X = reading.base(frame, element)
    if frame is not body and X.p.any():
        reading.remark(element, f"{frame.title} has an offset, which OpenSim ignores here; so do we")
    return reading.names[body], reading.numbers(element, name, (0.0,) * 3, 3)


@reads("CoordinateCouplerConstraint")
def coordinate_coupler(reading: Reading, element: Element) -> None:
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
    _add(reading, element, constraints.CoordinateCoupler(law, (*names, dependent)))


@reads("PointConstraint")
def point(reading: Reading, element: Element) -> None:
    _add(
        reading,
        element,
        constraints.Ball(
            *_point(reading, element, "body_1", "location_body_1"),
            *_point(reading, element, "body_2", "location_body_2"),
        ),
    )


@reads("ConstantDistanceConstraint")
def constant_distance(reading: Reading, element: Element) -> None:
    _add(
        reading,
        element,
        constraints.Rod(
            *_point(reading, element, "body_1", "location_body_1"),
            *_point(reading, element, "body_2", "location_body_2"),
            reading.number(element, "constant_distance"),
        ),
    )


@reads("PointOnLineConstraint")
def point_on_line(reading: Reading, element: Element) -> None:
    line, station = _point(reading, element, "line_body", "point_on_line")
    direction = reading.numbers(element, "line_direction_vec", count=3)
    _add(
        reading,
        element,
        constraints.PointOnLine(
            line, station, direction, *_point(reading, element, "follower_body", "point_on_follower")
        ),
    )


@reads("WeldConstraint")
def weld(reading: Reading, element: Element) -> None:
    for frame in reading.objects(element, "frames"):
        reading.use(frame)
    _add(
        reading,
        element,
        constraints.Weld(*reading.frame(element, "frame1"), *reading.frame(element, "frame2")),
    )


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
    for end, constraint in (
        ("", constraints.PointInPlane(surface, normal, height, roller, o)),
        ("_angle", constraints.ConstantAngle(surface, x, roller, z)),
        ("_x", constraints.NoSlip1D(surface, o, x, surface, roller)),
        ("_z", constraints.NoSlip1D(surface, o, z, surface, roller)),
    ):
        reading.system.add_constraint(name + end, constraint, enabled=False)
    reading.remark(
        element,
        f"{name}, {name}_angle, {name}_x, {name}_z are not enforced in default states, "
        "as in OpenSim, which decides at each step; enable them in a state",
    )
