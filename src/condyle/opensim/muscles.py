"""Muscles: each class with its own numbers and curves, as in the file."""

from __future__ import annotations

import math
from typing import Any

from condyle.muscles import (
    DeGroote2016,
    Delp1990,
    Millard2012,
    MillardActiveForceLength,
    MillardForceVelocity,
    MillardPassiveForceLength,
    MillardTendonForceLength,
    RigidTendon,
    Schutte1993,
    Thelen2003,
)
from condyle.muscles.muscle import STEEPEST
from condyle.opensim.element import Element
from condyle.opensim.forces import _force
from condyle.opensim.paths import path
from condyle.opensim.reading import Reading

NAMES = {
    "max_isometric_force": ("max_isometric_force", 1000.0),
    "optimal_fiber_length": ("optimal_fiber_length", 0.1),
    "tendon_slack_length": ("tendon_slack_length", 0.2),
    "pennation_angle_at_optimal": ("pennation_angle", 0.0),
    "max_contraction_velocity": ("max_contraction_velocity", 10.0),
}
"""What all muscles have: names here and OpenSim's defaults, by OpenSim's names."""
USUAL = 0.1
"""[m] default_fiber_length of Thelen's and Millard's muscles whose file gives none."""


def common(reading: Reading, element: Element) -> dict[str, Any]:
    """What all muscles have."""
    given = {own: reading.number(element, name, default) for name, (own, default) in NAMES.items()}
    reading.skip(element, "optimal_force")  # of PathActuator; muscles have no use for it
    low, high = (
        reading.number(element, name, None, finite=False)  # type: ignore[arg-type]
        for name in ("min_control", "max_control")
    )
    limits = {
        "min_control": low if low is not None and low >= 0 else None,
        "max_control": 1.0 if high is None or math.isinf(high) else high,
    }
    return {"path": path(reading, element), **given, **limits}


def _numbers(reading: Reading, element: Element, **defaults: float) -> dict[str, Any]:
    return {name: reading.number(element, name, default) for name, default in defaults.items()}


def _switches(reading: Reading, element: Element) -> dict[str, Any]:
    rigid, instant = (
        reading.boolean(element, name, False)
        for name in ("ignore_tendon_compliance", "ignore_activation_dynamics")
    )
    return {"tendon": "rigid" if rigid else "elastic", "activation_dynamics": not instant}


def _length(reading: Reading, element: Element, otherwise: float) -> dict[str, Any]:
    """Where the fiber begins; 0 stands for its optimal length."""
    given = reading.number(element, "default_fiber_length", otherwise)
    return {"default_fiber_length": given if given > 0 else None}


@_force("Thelen2003Muscle")
def thelen2003(reading: Reading, element: Element) -> Thelen2003:
    return Thelen2003(
        **common(reading, element),
        **_switches(reading, element),
        **_length(reading, element, USUAL),
        **_numbers(
            reading,
            element,
            FmaxTendonStrain=0.04,
            FmaxMuscleStrain=0.6,
            KshapeActive=0.45,
            KshapePassive=5.0,
            Af=0.25,
            Flen=1.4,
            fv_linear_extrap_threshold=0.95,
            maximum_pennation_angle=STEEPEST,
            activation_time_constant=0.015,
            deactivation_time_constant=0.05,
            minimum_activation=0.01,
            default_activation=0.05,
        ),
    )


@_force("Millard2012EquilibriumMuscle")
def millard2012(reading: Reading, element: Element) -> Millard2012:
    numbers = _numbers(
        reading,
        element,
        maximum_pennation_angle=STEEPEST,
        fiber_damping=0.1,
        activation_time_constant=0.01,
        deactivation_time_constant=0.04,
        minimum_activation=0.01,
        default_activation=0.05,
    )
    if numbers["fiber_damping"] < 0.001:  # OpenSim's bound for no damping at all
        numbers["fiber_damping"] = 0.0
    return Millard2012(
        **common(reading, element),
        **_switches(reading, element),
        **_length(reading, element, USUAL),
        **numbers,
        active_force_length_curve=_active(reading, element),
        force_velocity_curve=_velocity(reading, element),
        fiber_force_length_curve=_passive(reading, element),
        tendon_force_length_curve=_tendon(reading, element),
    )


def _curve(reading: Reading, element: Element, tag: str) -> Element:
    """The element of one of Millard's curves; an empty one where the file has none."""
    found = reading.property(element, tag) or reading.object(element, tag)
    if found is None:
        return Element(tag, file=element.file, line=element.line)
    reading.use(found)
    return found


def _active(reading: Reading, element: Element) -> MillardActiveForceLength:
    e = _curve(reading, element, "ActiveForceLengthCurve")
    return MillardActiveForceLength(
        reading.number(e, "min_norm_active_fiber_length", 0.4441),
        reading.number(e, "transition_norm_fiber_length", 0.73),
        reading.number(e, "max_norm_active_fiber_length", 1.8123),
        reading.number(e, "shallow_ascending_slope", 0.8616),
        reading.number(e, "minimum_value", 0.1),
    )


def _velocity(reading: Reading, element: Element) -> MillardForceVelocity:
    e = _curve(reading, element, "ForceVelocityCurve")
    return MillardForceVelocity(
        reading.number(e, "concentric_slope_at_vmax", 0.0),
        reading.number(e, "concentric_slope_near_vmax", 0.25),
        reading.number(e, "isometric_slope", 5.0),
        reading.number(e, "eccentric_slope_at_vmax", 0.0),
        reading.number(e, "eccentric_slope_near_vmax", 0.15),
        reading.number(e, "max_eccentric_velocity_force_multiplier", 1.4),
        reading.number(e, "concentric_curviness", 0.6),
        reading.number(e, "eccentric_curviness", 0.9),
    )


def _passive(reading: Reading, element: Element) -> MillardPassiveForceLength:
    e = _curve(reading, element, "FiberForceLengthCurve")
    start = reading.number(e, "strain_at_zero_force", 0.0)
    strain = reading.number(e, "strain_at_one_norm_force", 0.7)
    shape = _all(reading, e, "stiffness_at_low_force", "stiffness_at_one_norm_force", "curviness")
    return MillardPassiveForceLength(start, strain, *(shape or (0.2, 2 / (strain - start), 0.75)))


def _tendon(reading: Reading, element: Element) -> MillardTendonForceLength:
    e = _curve(reading, element, "TendonForceLengthCurve")
    strain = reading.number(e, "strain_at_one_norm_force", 0.049)
    shape = _all(reading, e, "stiffness_at_one_norm_force", "norm_force_at_toe_end", "curviness")
    return MillardTendonForceLength(strain, *(shape or (1.375 / strain, 2 / 3, 0.5)))


def _all(reading: Reading, element: Element, *names: str) -> tuple[float, ...] | None:
    """Numbers that a curve states together or not at all."""
    found = tuple(reading.number(element, name, None) for name in names)  # type: ignore[arg-type]
    if None in found and any(x is not None for x in found):
        raise reading.error(element, f"expected all of {', '.join(names)}, or none of them")
    return None if None in found else found


@_force("DeGrooteFregly2016Muscle")
def degroote2016(reading: Reading, element: Element) -> DeGroote2016:
    given = _switches(reading, element)
    damping = reading.number(element, "fiber_damping", 0.0)
    if given["tendon"] == "elastic":
        if damping:
            reading.remark(element, "fiber_damping has no effect with an elastic tendon")
            damping = 0.0
        if reading.text(element, "tendon_compliance_dynamics_mode", "explicit") != "explicit":
            reading.remark(
                element,
                "its tendon's dynamics are implicit in OpenSim, for Moco; here they "
                "are explicit, with the same motions",
            )
    else:
        reading.skip(element, "tendon_compliance_dynamics_mode")
    return DeGroote2016(
        **common(reading, element),
        **given,
        fiber_damping=damping,
        ignore_passive_fiber_force=reading.boolean(element, "ignore_passive_fiber_force", False),
        **_numbers(
            reading,
            element,
            activation_time_constant=0.015,
            deactivation_time_constant=0.06,
            default_activation=0.5,
            default_normalized_tendon_force=0.5,
            active_force_width_scale=1.0,
            passive_fiber_strain_at_one_norm_force=0.6,
            tendon_strain_at_one_norm_force=0.049,
            activation_dynamics_smoothing=0.1,
        ),
    )


# ---- Older muscles -----------------------------------------------------------------------------------------


def _older(reading: Reading, element: Element, *curves: str) -> dict[str, Any]:
    """Numbers of Schutte's and Delp's muscles; their time scale is 1 / v_max."""
    reading.skip(element, "ignore_tendon_compliance", "ignore_activation_dynamics")
    return {
        **common(reading, element),
        **_length(reading, element, 0.0),
        "max_contraction_velocity": 1 / reading.number(element, "time_scale", 0.1),
        **_numbers(reading, element, activation1=7.667, activation2=1.459854, default_activation=0.05),
        **{
            name: reading.function(element, name)
            for name in (
                "tendon_force_length_curve",
                "active_force_length_curve",
                "passive_force_length_curve",
                *curves,
            )
        },
    }


@_force("Schutte1993Muscle", "Schutte1993Muscle_Deprecated")
def schutte1993(reading: Reading, element: Element) -> Schutte1993:
    return Schutte1993(**_older(reading, element), fiber_damping=reading.number(element, "damping", 0.1))


@_force("Delp1990Muscle", "Delp1990Muscle_Deprecated")
def delp1990(reading: Reading, element: Element) -> Delp1990:
    return Delp1990(
        **_older(reading, element, "force_velocity_curve"), mass=reading.number(element, "mass", 0.00287)
    )


@_force("RigidTendonMuscle")
def rigid_tendon(reading: Reading, element: Element) -> RigidTendon:
    reading.skip(element, "ignore_tendon_compliance", "ignore_activation_dynamics", "default_activation")
    curves: dict[str, Any] = {
        name: reading.function(element, name)
        for name in ("active_force_length_curve", "passive_force_length_curve", "force_velocity_curve")
    }
    return RigidTendon(**common(reading, element), **curves)
