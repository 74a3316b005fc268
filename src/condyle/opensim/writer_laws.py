"""More forces, one function per class: limits, functions of lengths, bushings, ligaments, actuators, and the
older
muscles."""

from __future__ import annotations

import math
from typing import Any
from xml.etree.ElementTree import Element

from condyle.forces import (
    ActivationCoordinateActuator,
    CoordinateLimitForce,
    FunctionBushing,
    Ligament,
    MobilityFunction,
    PathFunction,
    PointActuator,
    TwoPointFunction,
)
from condyle.functions import Constant, Formula
from condyle.laws.function import LawFunction
from condyle.muscles import Delp1990, Muscle, PythonCurve, RigidTendon, Schutte1993
from condyle.muscles.schutte1993 import Exponential
from condyle.muscles.simm import DEFAULTS
from condyle.opensim.writer_controls import control
from condyle.opensim.writer_forces import _along, _point_to_point, actuator, as_force, two_frames
from condyle.opensim.writer_functions import function, given
from condyle.opensim.writer_muscles import COMMON, muscle, with_path
from condyle.opensim.writing import Writing
from condyle.opensim.xml import append, element, text
from condyle.tree import scales


@as_force.register
def _(law: CoordinateLimitForce, name: str, to: Writing) -> Element:
    where, tree = f"force {name!r}", to.system._tree
    names = [c.name for body in tree.bodies for c in body.coordinates]
    w = math.pi / 180 if scales.units(tree.bodies)[0][names.index(law.coordinate)] == "rad" else 1.0
    angles = {"lower_limit": law.low, "upper_limit": law.high, "transition": law.transition}
    rates = {
        "lower_stiffness": law.lower_stiffness,
        "upper_stiffness": law.upper_stiffness,
        "damping": law.damping,
    }
    return element(
        "CoordinateLimitForce",
        name,
        coordinate=to.speed(law.coordinate),
        **{key: to.number(x, where) / w for key, x in angles.items()},
        **{key: to.number(x, where) * w for key, x in rates.items()},
    )


# ---- functions as text -------------------------------------------------------------------------------------


def expression(law: LawFunction, to: Writing, where: str) -> str:
    """A function as an expression of OpenSim, if it was given as one."""
    if isinstance(law.given, Formula):
        return law.given.text
    if isinstance(law.given, Constant):
        return text(to.number(law.given.value, where))
    to.refuse(f"{where}: OpenSim has expressions as text; give a cd.functions.Formula in place of {law!r}")
    return "0"


@as_force.register
def _(law: MobilityFunction, name: str, to: Writing) -> Element:
    return element(
        "ExpressionBasedCoordinateForce",
        name,
        coordinate=to.speed(law.coordinate),
        expression=expression(law.function, to, f"force {name!r}"),
    )


@as_force.register
def _(law: TwoPointFunction, name: str, to: Writing) -> Element:
    return _point_to_point(law, name, expression(law.function, to, f"force {name!r}"), to)


@as_force.register
def _(law: PathFunction, name: str, to: Writing) -> Element:
    made = _along(law, name, to, "ExpressionBasedPathForce", rest_length="resting_length")
    append(made, "expression", expression(law.function, to, f"force {name!r}"))
    append(made, "clamp_stretch", law.clamp_stretch)
    return made


@as_force.register
def _(law: FunctionBushing, name: str, to: Writing) -> Element:
    """Functions of one deflection each, or all of them formulas of six."""
    where, c = f"force {name!r}", to.number(law.damping, f"force {name!r}")
    several = [len(g.law.names) > 1 for g in law.functions]
    damping = {"rotational_damping": c[:3], "translational_damping": c[3:]}
    common = {**two_frames(law, name, to, where), **damping}
    if any(several):
        texts = {
            f"{kind}{axis}_expression": g
            for (kind, axis), g in zip(((k, a) for k in "MF" for a in "xyz"), law.functions, strict=True)
        }
        return element(
            "ExpressionBasedBushingForce",
            name,
            **common,
            **{key: expression(g, to, where) for key, g in texts.items()},
        )
    keys = [*(f"m_{a}_theta_{a}_function" for a in "xyz"), *(f"f_{a}_delta_{a}_function" for a in "xyz")]
    return element(
        "FunctionBasedBushingForce",
        name,
        **common,
        **{key: function(given(g), to, where) for key, g in zip(keys, law.functions, strict=True)},
    )


@as_force.register
def _(law: Ligament, name: str, to: Writing) -> Element:
    made = _along(law, name, to, "Ligament", resting_length="resting_length", pcsa_force="pcsa_force")
    append(made, "force_length_curve", function(given(law.force_length_curve), to, f"force {name!r}"))
    return made


# ---- actuators ---------------------------------------------------------------------------------------------


@as_force.register
def _(law: PointActuator, name: str, to: Writing) -> Element:
    point = to.number(law.point, f"force {name!r}")
    ways = {"point_is_global": law.point_frame == "ground", "force_is_global": law.frame == "ground"}
    return actuator(
        "PointActuator", law, name, to, body=law.body, point=point, direction=law.direction, **ways
    )


@as_force.register
def _(law: ActivationCoordinateActuator, name: str, to: Writing) -> Element:
    where = f"force {name!r}"
    factor = control(law.control, name, to, where)
    if factor != 1:
        to.refuse(
            f"{where}: its control is {factor:g} times an Input; an activation follows the Input itself"
        )
    own = {
        "coordinate": to.speed(law.coordinate),
        "activation_time_constant": to.number(law.activation_time_constant, where),
        "default_activation": law.default_activation,
    }
    return actuator("ActivationCoordinateActuator", law, name, to, **own)


# ---- older muscles -----------------------------------------------------------------------------------------


def _with_curves(made: Element, m: Any, name: str, to: Writing) -> Element:
    """Curves that are not OpenSim's own."""
    for key in m.CURVES:
        curve = getattr(m, key)
        if isinstance(curve, Exponential) or curve == PythonCurve(DEFAULTS[key]):
            continue
        own = curve.function if isinstance(curve, PythonCurve) else curve
        append(made, key, function(own, to, f"muscle {name!r}: {key}"))
    return with_path(made, m, name, to)


def _scaled(m: Muscle, name: str, to: Writing) -> dict[str, Any]:
    return {"time_scale": 1 / to.number(m.max_contraction_velocity, f"muscle {name!r}")}


OLDER = {key: key for key in ("activation1", "activation2")} | {
    key: value for key, value in COMMON.items() if key != "max_contraction_velocity"
}


@as_force.register
def _(m: Schutte1993, name: str, to: Writing) -> Element:
    made = muscle(
        "Schutte1993Muscle_Deprecated",
        m,
        name,
        to,
        OLDER | {"fiber_damping": "damping"},
        **_scaled(m, name, to),
    )
    return _with_curves(made, m, name, to)


@as_force.register
def _(m: Delp1990, name: str, to: Writing) -> Element:
    made = muscle("Delp1990Muscle_Deprecated", m, name, to, OLDER | {"mass": "mass"}, **_scaled(m, name, to))
    return _with_curves(made, m, name, to)


@as_force.register
def _(m: RigidTendon, name: str, to: Writing) -> Element:
    return _with_curves(muscle("RigidTendonMuscle", m, name, to, COMMON), m, name, to)
