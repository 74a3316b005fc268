"""Muscles: names of their numbers are OpenSim's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

from condyle.muscles import DeGroote2016, Millard2012, Muscle, Thelen2003
from condyle.muscles.muscle import STEEPEST
from condyle.opensim.writer_controls import control
from condyle.opensim.writer_forces import as_force
from condyle.opensim.writer_paths import geometry_path
from condyle.opensim.writing import Writing
from condyle.opensim.xml import element

COMMON = {
    "max_isometric_force": "max_isometric_force",
    "optimal_fiber_length": "optimal_fiber_length",
    "tendon_slack_length": "tendon_slack_length",
    "pennation_angle": "pennation_angle_at_optimal",
    "max_contraction_velocity": "max_contraction_velocity",
}
TIMES = {
    "activation_time_constant": "activation_time_constant",
    "deactivation_time_constant": "deactivation_time_constant",
}
CURVES = {
    "active_force_length_curve": (
        "ActiveForceLengthCurve",
        {
            "shortest": "min_norm_active_fiber_length",
            "transition": "transition_norm_fiber_length",
            "longest": "max_norm_active_fiber_length",
            "slope": "shallow_ascending_slope",
            "least": "minimum_value",
        },
    ),
    "force_velocity_curve": (
        "ForceVelocityCurve",
        {
            "concentric_slope": "concentric_slope_at_vmax",
            "near_concentric_slope": "concentric_slope_near_vmax",
            "isometric_slope": "isometric_slope",
            "eccentric_slope": "eccentric_slope_at_vmax",
            "near_eccentric_slope": "eccentric_slope_near_vmax",
            "eccentric_force": "max_eccentric_velocity_force_multiplier",
            "concentric_curviness": "concentric_curviness",
            "eccentric_curviness": "eccentric_curviness",
        },
    ),
    "fiber_force_length_curve": (
        "FiberForceLengthCurve",
        {
            "start": "strain_at_zero_force",
            "strain": "strain_at_one_norm_force",
            "low_stiffness": "stiffness_at_low_force",
            "stiffness": "stiffness_at_one_norm_force",
            "curviness": "curviness",
        },
    ),
    "tendon_force_length_curve": (
        "TendonForceLengthCurve",
        {
            "strain": "strain_at_one_norm_force",
            "stiffness": "stiffness_at_one_norm_force",
            "toe": "norm_force_at_toe_end",
            "curviness": "curviness",
        },
    ),
}
"""Curves of Millard2012: their classes in OpenSim, and what their numbers are called there."""


def muscle(kind: str, m: Muscle, name: str, to: Writing, numbers: Mapping[str, str], **more: Any) -> Element:
    """A muscle of a class of OpenSim.

    Args:
        numbers: what its numbers are called in OpenSim, by their names here.
        more: properties that are known.
    """
    where = f"muscle {name!r}"
    control(m.excitation, name, to, where, lowest=0.0)
    if "maximum_pennation_angle" not in numbers and m.maximum_pennation_angle != STEEPEST:
        to.refuse(f"{where}: maximum_pennation_angle = {m.maximum_pennation_angle!r}; a {kind} has none")
    return element(
        kind,
        name,
        GeometryPath=None,
        min_control=m.min_control,  # left out it is the minimum activation
        max_control=m.max_control,
        **{to_name: to.number(getattr(m, own), where) for own, to_name in numbers.items()},
        ignore_tendon_compliance=m.tendon == "rigid",
        ignore_activation_dynamics=not m.activation_dynamics,
        default_activation=m.default_activation,
        **more,
    )


def with_path(made: Element, m: Muscle, name: str, to: Writing) -> Element:
    made.append(geometry_path(m.path, name, to))
    return made


@as_force.register
def _(m: Thelen2003, name: str, to: Writing) -> Element:
    where = f"muscle {name!r}"
    if m.tendon == "rigid":
        to.refuse(
            f"{where}: OpenSim's Thelen2003Muscle has no rigid tendon; Millard2012 and DeGroote2016 have one"
        )
    _exact(m, Thelen2003, where, to)
    own = {
        key: key
        for key in (
            "FmaxTendonStrain",
            "FmaxMuscleStrain",
            "KshapeActive",
            "KshapePassive",
            "Af",
            "Flen",
            "fv_linear_extrap_threshold",
            "minimum_activation",
            "maximum_pennation_angle",
        )
    }
    _least(m, where, to)
    return with_path(
        muscle(
            "Thelen2003Muscle",
            m,
            name,
            to,
            COMMON | TIMES | own,
            default_fiber_length=_start(m, where, to),
        ),
        m,
        name,
        to,
    )


@as_force.register
def _(m: Millard2012, name: str, to: Writing) -> Element:
    where = f"muscle {name!r}"
    _exact(m, Millard2012, where, to)
    if m._divides:
        _least(m, where, to)
    own = {key: key for key in ("fiber_damping", "minimum_activation", "maximum_pennation_angle")}
    made = muscle(
        "Millard2012EquilibriumMuscle",
        m,
        name,
        to,
        COMMON | TIMES | own,
        default_fiber_length=_start(m, where, to),
    )
    for key, (kind, numbers) in CURVES.items():
        curve = getattr(m, key)
        if getattr(curve, "stiffness", 0.0) is None:
            curve = replace(curve, stiffness=1.375 / curve.strain)
        made.append(element(kind, kind, **{theirs: getattr(curve, own) for own, theirs in numbers.items()}))
    return with_path(made, m, name, to)


@as_force.register
def _(m: DeGroote2016, name: str, to: Writing) -> Element:
    where = f"muscle {name!r}"
    _exact(m, DeGroote2016, where, to)
    own = {
        key: key
        for key in (
            "active_force_width_scale",
            "fiber_damping",
            "passive_fiber_strain_at_one_norm_force",
            "tendon_strain_at_one_norm_force",
            "activation_dynamics_smoothing",
        )
    }
    made = muscle(
        "DeGrooteFregly2016Muscle",
        m,
        name,
        to,
        COMMON | TIMES | own,
        default_normalized_tendon_force=m.default_normalized_tendon_force,
        tendon_compliance_dynamics_mode="explicit",
        ignore_passive_fiber_force=m.ignore_passive_fiber_force,
    )
    return with_path(made, m, name, to)


def _exact(m: Muscle, kind: type[Muscle], where: str, to: Writing) -> None:
    if type(m) is not kind:
        to.refuse(f"{where}: {type(m).__name__} is a class of your own; OpenSim has {kind.__name__}")


def _start(m: Muscle, where: str, to: Writing) -> Any:
    """The fiber's length at the start."""
    given = m.optimal_fiber_length if m.default_fiber_length is None else m.default_fiber_length
    return to.number(given, where)


def _least(m: Muscle, where: str, to: Writing) -> None:
    least = to.number(m.minimum_activation, where)
    if least < 0.01:
        to.refuse(f"{where}: minimum_activation = {least:g}; OpenSim refuses less than 0.01 here")
