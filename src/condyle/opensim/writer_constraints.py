"""Constraints, one function per class."""

from __future__ import annotations

from functools import singledispatch
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from condyle.constraints import Ball, Constraint, CoordinateCoupler, PointOnLine, Rod, Weld
from condyle.opensim.constraints import Coupling
from condyle.opensim.writer_forces import offset
from condyle.opensim.writer_functions import function
from condyle.opensim.writing import Writing
from condyle.opensim.xml import element


@singledispatch
def as_constraint(law: Constraint, name: str, to: Writing) -> Element:
    """A constraint as an element of OpenSim."""
    to.refuse(f"constraint {name!r}: OpenSim has no constraint like {law!r}")
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
    frames = [
        offset(f"{name}_frame{i}", body, X, to, f"constraint {name!r}")
        for i, (body, X) in enumerate(((law.a, law.X_a), (law.b, law.X_b)), 1)
    ]
    return element(
        "WeldConstraint",
        name,
        socket_frame1=frames[0].get("name"),
        socket_frame2=frames[1].get("name"),
        frames=frames,
    )


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
