"""Forces, one function per class. Muscles are in writer_muscles.py."""

from __future__ import annotations

from functools import singledispatch
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from condyle.forces import (
    Blankevoort1991Ligament,
    ConstantForce,
    ConstantTorque,
    CoordinateActuator,
    ExternalWrench,
    Force,
    LinearBushing,
    MobilityDamper,
    MobilityForce,
    MobilitySpring,
    MobilityStop,
    PathActuator,
    PathSpring,
    PointToPointActuator,
    TorqueActuator,
    TwoPointDamper,
    TwoPointForce,
    TwoPointSpring,
)
from condyle.forces.external import TimeFunctions, TimeSeries
from condyle.opensim.writer_controls import control
from condyle.opensim.writer_functions import constant, over_time
from condyle.opensim.writer_paths import geometry_path
from condyle.opensim.writing import Writing, angles
from condyle.opensim.xml import element, text
from condyle.trace.parameter import Expression, Input


@singledispatch
def as_force(law: Force, name: str, to: Writing) -> Element:
    """A force as an element of OpenSim."""
    to.refuse(f"force {name!r}: OpenSim has no force like {law!r}")
    return element("PrescribedForce", name)


# ---- between two points ------------------------------------------------------------------------------------


@as_force.register
def _(law: TwoPointSpring, name: str, to: Writing) -> Element:
    where = f"force {name!r}"
    return element(
        "PointToPointSpring",
        name,
        socket_body1=to.place(law.a),
        socket_body2=to.place(law.b),
        **_points(law, name, to, "1", "2"),
        stiffness=to.number(law.stiffness, where),
        rest_length=to.number(law.rest_length, where),
    )


@as_force.register
def _(law: TwoPointDamper, name: str, to: Writing) -> Element:
    return _point_to_point(law, name, f"{text(to.number(law.damping, f'force {name!r}'))}*ddot", to)


@as_force.register
def _(law: TwoPointForce, name: str, to: Writing) -> Element:
    if _driven(law.force):
        force = control(law.force, name, to, f"force {name!r}")
        return element("PointToPointActuator", name, **_between(law, name, to), optimal_force=force)
    return _point_to_point(law, name, text(-_still(law.force, name, to)), to)


@as_force.register
def _(law: PointToPointActuator, name: str, to: Writing) -> Element:
    return actuator("PointToPointActuator", law, name, to, **_between(law, name, to))


def _point_to_point(law: Any, name: str, expression: str, to: Writing) -> Element:
    """A force along the line between two points, positive where it pulls them together."""
    return element(
        "ExpressionBasedPointToPointForce",
        name,
        body1=to.place(law.a),
        body2=to.place(law.b),
        **_points(law, name, to, "1", "2"),
        expression=expression,
    )


def _between(law: Any, name: str, to: Writing) -> dict[str, Any]:
    """Two points of a PointToPointActuator."""
    return {"bodyA": law.a, "bodyB": law.b, "points_are_global": False, **_points(law, name, to, "A", "B")}


def _points(law: Any, name: str, to: Writing, *ends: str) -> dict[str, Any]:
    """Stations p_a and p_b of a law, as point1 and point2, or other ends."""
    stations = zip(ends, (law.p_a, law.p_b), strict=True)
    return {f"point{end}": to.number(p, f"force {name!r}") for end, p in stations}


def _driven(kept: Any) -> bool:
    """Whether an Input or the time drives it."""
    return isinstance(kept, (TimeFunctions, TimeSeries)) or (
        isinstance(kept, Expression) and any(isinstance(p, Input) for p in kept.parameters)
    )


def _still(kept: Any, name: str, to: Writing) -> Any:
    """A number, or several, that do not change with time."""
    if not isinstance(kept, (int, float, tuple, Expression)):
        to.refuse(
            f"force {name!r}: it follows {kept!r}; in OpenSim such a force comes from a file of external "
            "loads"
        )
        return 0.0
    return to.number(kept, f"force {name!r}")


# ---- on coordinates ----------------------------------------------------------------------------------------


@as_force.register
def _(law: MobilitySpring, name: str, to: Writing) -> Element:
    where = f"force {name!r}"
    return element(
        "SpringGeneralizedForce",
        name,
        coordinate=to.speed(law.coordinate),
        stiffness=to.number(law.stiffness, where),
        rest_length=to.number(law.rest, where),
        viscosity=to.number(law.damping, where),
    )


@as_force.register
def _(law: MobilityDamper, name: str, to: Writing) -> Element:
    return element(
        "SpringGeneralizedForce",
        name,
        coordinate=to.speed(law.coordinate),
        stiffness=0.0,
        rest_length=0.0,
        viscosity=to.number(law.damping, f"force {name!r}"),
    )


@as_force.register
def _(law: MobilityForce, name: str, to: Writing) -> Element:
    if _driven(law.value):
        return element(
            "CoordinateActuator",
            name,
            coordinate=to.speed(law.coordinate),
            optimal_force=control(law.value, name, to, f"force {name!r}"),
        )
    return element(
        "ExpressionBasedCoordinateForce",
        name,
        coordinate=to.speed(law.coordinate),
        expression=text(_still(law.value, name, to)),
    )


@as_force.register
def _(law: MobilityStop, name: str, to: Writing) -> Element:
    where = f"force {name!r}"
    low, high, k, d = (
        to.number(getattr(law, key), where) for key in ("low", "high", "stiffness", "dissipation")
    )
    terms = []
    if np.isfinite(low):
        terms.append(f"+max({low!r}-q,0)*max(1-{d!r}*qdot,0)")
    if np.isfinite(high):
        terms.append(f"-max(q-{high!r},0)*max(1+{d!r}*qdot,0)")
    expression = f"{k!r}*(0{''.join(terms)})".replace("--", "+").replace("+-", "-")
    return element(
        "ExpressionBasedCoordinateForce", name, coordinate=to.speed(law.coordinate), expression=expression
    )


@as_force.register
def _(law: CoordinateActuator, name: str, to: Writing) -> Element:
    return actuator("CoordinateActuator", law, name, to, coordinate=to.speed(law.coordinate))


def actuator(kind: str, law: Any, name: str, to: Writing, **more: Any) -> Element:
    """An actuator of a class of OpenSim: its force at a control of 1, and the bounds of the control."""
    where = f"force {name!r}"
    force = control(law.control, name, to, where) * to.number(law.optimal_force, where)
    bounds = {key: x for key in ("min_control", "max_control") if np.isfinite(x := getattr(law, key))}
    return element(kind, name, **more, optimal_force=force, **bounds)


# ---- along paths -------------------------------------------------------------------------------------------


@as_force.register
def _(law: PathSpring, name: str, to: Writing) -> Element:
    return _along(
        law,
        name,
        to,
        "PathSpring",
        stiffness="stiffness",
        rest_length="resting_length",
        dissipation="dissipation",
    )


@as_force.register
def _(law: Blankevoort1991Ligament, name: str, to: Writing) -> Element:
    return _along(
        law,
        name,
        to,
        "Blankevoort1991Ligament",
        **{
            key: key
            for key in ("linear_stiffness", "transition_strain", "damping_coefficient", "slack_length")
        },
    )


@as_force.register
def _(law: PathActuator, name: str, to: Writing) -> Element:
    made = actuator("PathActuator", law, name, to)
    made.append(geometry_path(law.path, name, to))
    return made


def _along(law: Any, name: str, to: Writing, kind: str, **numbers: str) -> Element:
    made = element(
        kind,
        name,
        **{theirs: to.number(getattr(law, ours), f"force {name!r}") for ours, theirs in numbers.items()},
    )
    made.append(geometry_path(law.path, name, to))
    return made


# ---- on bodies ---------------------------------------------------------------------------------------------


@as_force.register
def _(law: TorqueActuator, name: str, to: Writing) -> Element:
    turns = {"torque_is_global": law.frame == "ground", "axis": law.axis}
    return actuator("TorqueActuator", law, name, to, bodyA=law.a, bodyB=law.b, **turns)


@as_force.register
def _(law: LinearBushing, name: str, to: Writing) -> Element:
    where = f"force {name!r}"
    k, c = to.number(law.stiffness, where), to.number(law.damping, where)
    return element(
        "BushingForce",
        name,
        **two_frames(law, name, to, where),
        rotational_stiffness=k[:3],
        translational_stiffness=k[3:],
        rotational_damping=c[:3],
        translational_damping=c[3:],
    )


def two_frames(law: Any, name: str, to: Writing, where: str) -> dict[str, Any]:
    """Frames X_a on a and X_b on b of a law, and the sockets that are connected to them."""
    frames = [
        offset(f"{name}_frame{i}", body, X, to, where)
        for i, (body, X) in enumerate(((law.a, law.X_a), (law.b, law.X_b)), 1)
    ]
    return {"socket_frame1": frames[0].get("name"), "socket_frame2": frames[1].get("name"), "frames": frames}


def offset(name: str, body: str, X: Any, to: Writing, where: str) -> Element:
    """A frame on a body."""
    R, p = to.frame(X, where)
    return element(
        "PhysicalOffsetFrame",
        name,
        socket_parent=to.place(body),
        translation=p,
        orientation=angles(R),
    )


@as_force.register
def _(law: ConstantForce, name: str, to: Writing) -> Element:
    where = f"force {name!r}"
    return _prescribed(
        name, law.body, to, force=to.number(law.force, where), point=to.number(law.station, where)
    )


@as_force.register
def _(law: ConstantTorque, name: str, to: Writing) -> Element:
    return _prescribed(name, law.body, to, torque=to.number(law.torque, f"force {name!r}"))


@as_force.register
def _(law: ExternalWrench, name: str, to: Writing) -> Element:
    parts = {
        key: _over_time(getattr(law, own), name, to)
        for key, own in (("force", "force"), ("point", "station"), ("torque", "torque"))
    }
    return _prescribed(
        name,
        law.body,
        to,
        in_ground=law.frame == "ground",
        point_in_ground=law.station_frame == "ground",
        **parts,
    )


def _over_time(kept: Any, name: str, to: Writing) -> Any:
    """Three numbers, or three functions of time."""
    if isinstance(kept, (TimeFunctions, TimeSeries)):
        return over_time(kept, to, f"force {name!r}")
    return np.broadcast_to(_still(kept, name, to), 3)


def _prescribed(
    name: str, body: str, to: Writing, in_ground: bool = True, point_in_ground: bool = False, **parts: Any
) -> Element:
    """A PrescribedForce of constants and functions."""
    made = element(
        "PrescribedForce",
        name,
        socket_frame=to.place(body),
        pointIsGlobal=point_in_ground,
        forceIsGlobal=in_ground,
    )
    for key in ("force", "point", "torque"):
        given = parts.get(key, ())
        still = not any(isinstance(x, Element) or float(x) for x in given)  # OpenSim takes none as zeros
        values = [] if still else [x if isinstance(x, Element) else constant(float(x)) for x in given]
        made.append(element("FunctionSet", f"{key}Functions", objects=values))
    return made
