"""Muscles: each class with its own numbers and curves, as in the file."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import condyle.muscles as muscles
from condyle.muscles.muscle import STEEPEST, Muscle
from condyle.opensim.controllers import control
from condyle.opensim.element import Element
from condyle.opensim.functions import FunctionField
from condyle.opensim.paths import PATH
from condyle.opensim.reading import Reading
from condyle.opensim.table import (
    Arguments,
    Choice,
    Class,
    Field,
    Fixed,
    Flag,
    Number,
    Properties,
    ReadOnly,
    WriteOnly,
)
from condyle.opensim.writing import Writing

USUAL = 0.1
"""[m] default_fiber_length of Thelen's and Millard's muscles if the file gives none."""


# ---- fields ------------------------------------------------------------------------------------------------


class Excitation(Field):
    """The excitation of a muscle, and its bounds. The lower one is the minimum activation by default."""

    def read(self, reading: Reading, element: Element) -> Arguments:
        low, high = (
            reading.number(element, name, None, finite=False)  # type: ignore[arg-type]
            for name in ("min_control", "max_control")
        )
        return {
            "min_control": low if low is not None and low >= 0 else None,
            "max_control": 1.0 if high is None or math.isinf(high) else high,
        }

    def write(self, m: Any, to: Writing) -> Properties:
        control(m.excitation, to)
        return {"min_control": m.min_control, "max_control": m.max_control}


class NegatedFlag(Flag):
    """ignore_activation_dynamics, the opposite of our switch."""

    def parse(self, reading: Reading, element: Element) -> bool:
        return not super().parse(reading, element)

    def format(self, value: Any, to: Writing) -> bool:
        return not value


class FiberLength(Number):
    """Initial fiber length; 0 in a file, and None here, mean the optimal length."""

    def parse(self, reading: Reading, element: Element) -> float | None:
        given = super().parse(reading, element)
        return given if given > 0 else None

    def write(self, m: Any, to: Writing) -> Properties:
        given = m.optimal_fiber_length if m.default_fiber_length is None else m.default_fiber_length
        return {self.tag: to.number(given)}


class TimeScale(Number):
    """1 / v_max."""

    def parse(self, reading: Reading, element: Element) -> float:
        return 1 / super().parse(reading, element)  # type: ignore[no-any-return]

    def format(self, value: Any, to: Writing) -> float:
        return 1 / to.number(value)  # type: ignore[no-any-return]


class SimmCurve(FunctionField):
    """A curve of an older muscle; OpenSim's own are not written."""

    def write(self, m: Any, to: Writing) -> Properties:
        from condyle.muscles.simm import DEFAULTS, Exponential

        curve = getattr(m, self.key)
        if isinstance(curve, Exponential) or curve == muscles.PythonCurve(DEFAULTS[self.key]):
            return {}
        own = curve.function if isinstance(curve, muscles.PythonCurve) else curve
        return {self.tag: self.format(own, to.part(self.key))}


class MillardCurve(Field):
    """One of Millard's curves, an object with numbers of its own."""

    def __init__(self, key: str, row: Class) -> None:
        super().__init__(row.tag, key=key)
        self.row = row

    def parse(self, reading: Reading, element: Element) -> Any:
        found = reading.property(element, self.tag) or reading.object(element, self.tag)
        if found is None:
            found = Element(self.tag, file=element.file, line=element.line)
        else:
            reading.use(found)
        return self.row.read(reading, found)

    def format(self, value: Any, to: Writing) -> Any:
        if getattr(value, "stiffness", 0.0) is None:
            value = replace(value, stiffness=1.375 / value.strain)
        made = self.row.write(value, to)
        made.set("name", self.tag)
        return made


FORCE_AND_LENGTHS = (
    Number("max_isometric_force", 1000.0),
    Number("optimal_fiber_length", 0.1),
    Number("tendon_slack_length", 0.2),
    Number("pennation_angle_at_optimal", 0.0, "pennation_angle"),
)
COMMON = (Excitation("min_control"), *FORCE_AND_LENGTHS, Number("max_contraction_velocity", 10.0))
SWITCHES = (
    Choice("ignore_tendon_compliance", False, "tendon", "rigid", "elastic"),
    NegatedFlag("ignore_activation_dynamics", False, "activation_dynamics"),
)
WRITTEN_SWITCHES = tuple(map(WriteOnly, SWITCHES))
PENNATION = Number("maximum_pennation_angle", STEEPEST)
SKIP = ("optimal_force",)
"""Property of PathActuator that muscles do not use."""


def _times(activation: float, deactivation: float) -> tuple[Field, ...]:
    return (
        Number("activation_time_constant", activation),
        Number("deactivation_time_constant", deactivation),
    )


# ---- properties that OpenSim's classes do not have
# --------------------------------------------------------------------


def _exact(m: Muscle, kind: type[Muscle], to: Writing) -> None:
    if type(m) is not kind:
        to.refuse(f"{type(m).__name__} is a user's class; OpenSim has {kind.__name__}")


def _least_activation(m: Muscle, to: Writing) -> None:
    least = to.number(m.minimum_activation)
    if least < 0.01:
        to.refuse(f"minimum_activation = {least:g}; OpenSim refuses less than 0.01 here")


def _no_steepest(kind: str) -> Any:
    def check(m: Muscle, to: Writing) -> None:
        if m.maximum_pennation_angle != STEEPEST:
            to.refuse(f"maximum_pennation_angle = {m.maximum_pennation_angle!r}; a {kind} has none")

    return check


# ---- Thelen 2003 -------------------------------------------------------------------------------------------


def _check_thelen(m: muscles.Thelen2003, to: Writing) -> None:
    if m.tendon == "rigid":
        to.refuse("OpenSim's Thelen2003Muscle has no rigid tendon; Millard2012 and DeGroote2016 have one")
    _exact(m, muscles.Thelen2003, to)
    _least_activation(m, to)


Class(
    "Thelen2003Muscle",
    muscles.Thelen2003,
    (
        *COMMON,
        *_times(0.015, 0.05),
        Number("FmaxTendonStrain", 0.04),
        Number("FmaxMuscleStrain", 0.6),
        Number("KshapeActive", 0.45),
        Number("KshapePassive", 5.0),
        Number("Af", 0.25),
        Number("Flen", 1.4),
        Number("fv_linear_extrap_threshold", 0.95),
        Number("minimum_activation", 0.01),
        PENNATION,
        *SWITCHES,
        Number("default_activation", 0.05),
        FiberLength("default_fiber_length", USUAL),
        PATH,
    ),
    skip=SKIP,
    check=_check_thelen,
)


# ---- Millard 2012 ------------------------------------------------------------------------------------------


def _together(reading: Reading, element: Element, *names: str) -> bool:
    """Whether a curve states these numbers, which it does together or not at all."""
    found = {reading.number(element, name, None) is not None for name in names}  # type: ignore[arg-type]
    if len(found) > 1:
        raise reading.error(element, f"expected all of {', '.join(names)}, or none of them")
    return found == {True}


def _passive_curve(reading: Reading, element: Element, x: Arguments) -> Any:
    if not _together(reading, element, "stiffness_at_low_force", "stiffness_at_one_norm_force", "curviness"):
        x["stiffness"] = 2 / (x["strain"] - x["start"])
    return muscles.MillardPassiveForceLength(**x)


def _tendon_curve(reading: Reading, element: Element, x: Arguments) -> Any:
    if not _together(reading, element, "stiffness_at_one_norm_force", "norm_force_at_toe_end", "curviness"):
        x["stiffness"] = 1.375 / x["strain"]
    return muscles.MillardTendonForceLength(**x)


def _check_millard(m: muscles.Millard2012, to: Writing) -> None:
    _exact(m, muscles.Millard2012, to)
    if m._divides:
        _least_activation(m, to)


def _damped(reading: Reading, element: Element, arguments: Arguments) -> Any:
    if arguments["fiber_damping"] < 0.001:  # OpenSim's bound for no damping at all
        arguments["fiber_damping"] = 0.0
    return muscles.Millard2012(**arguments)


CURVES = (
    MillardCurve(
        "active_force_length_curve",
        Class(
            "ActiveForceLengthCurve",
            muscles.MillardActiveForceLength,
            (
                Number("min_norm_active_fiber_length", 0.4441, "shortest"),
                Number("transition_norm_fiber_length", 0.73, "transition"),
                Number("max_norm_active_fiber_length", 1.8123, "longest"),
                Number("shallow_ascending_slope", 0.8616, "slope"),
                Number("minimum_value", 0.1, "least"),
            ),
            register=False,
        ),
    ),
    MillardCurve(
        "force_velocity_curve",
        Class(
            "ForceVelocityCurve",
            muscles.MillardForceVelocity,
            (
                Number("concentric_slope_at_vmax", 0.0, "concentric_slope"),
                Number("concentric_slope_near_vmax", 0.25, "near_concentric_slope"),
                Number("isometric_slope", 5.0),
                Number("eccentric_slope_at_vmax", 0.0, "eccentric_slope"),
                Number("eccentric_slope_near_vmax", 0.15, "near_eccentric_slope"),
                Number("max_eccentric_velocity_force_multiplier", 1.4, "eccentric_force"),
                Number("concentric_curviness", 0.6),
                Number("eccentric_curviness", 0.9),
            ),
            register=False,
        ),
    ),
    MillardCurve(
        "fiber_force_length_curve",
        Class(
            "FiberForceLengthCurve",
            muscles.MillardPassiveForceLength,
            (
                Number("strain_at_zero_force", 0.0, "start"),
                Number("strain_at_one_norm_force", 0.7, "strain"),
                Number("stiffness_at_low_force", 0.2, "low_stiffness"),
                Number("stiffness_at_one_norm_force", None, "stiffness"),
                Number("curviness", 0.75),
            ),
            read=_passive_curve,
            register=False,
        ),
    ),
    MillardCurve(
        "tendon_force_length_curve",
        Class(
            "TendonForceLengthCurve",
            muscles.MillardTendonForceLength,
            (
                Number("strain_at_one_norm_force", 0.049, "strain"),
                Number("stiffness_at_one_norm_force", None, "stiffness"),
                Number("norm_force_at_toe_end", 2 / 3, "toe"),
                Number("curviness", 0.5),
            ),
            read=_tendon_curve,
            register=False,
        ),
    ),
)
Class(
    "Millard2012EquilibriumMuscle",
    muscles.Millard2012,
    (
        *COMMON,
        *_times(0.01, 0.04),
        Number("fiber_damping", 0.1),
        Number("minimum_activation", 0.01),
        PENNATION,
        *SWITCHES,
        Number("default_activation", 0.05),
        FiberLength("default_fiber_length", USUAL),
        *CURVES,
        PATH,
    ),
    skip=SKIP,
    read=_damped,
    check=_check_millard,
)


# ---- De Groote and Fregly 2016 -----------------------------------------------------------------------------


def _explicit(reading: Reading, element: Element, arguments: Arguments) -> Any:
    if arguments["tendon"] == "elastic":
        if arguments["fiber_damping"]:
            reading.remark(element, "fiber_damping has no effect with an elastic tendon")
            arguments["fiber_damping"] = 0.0
        if reading.text(element, "tendon_compliance_dynamics_mode", "explicit") != "explicit":
            reading.remark(
                element,
                "its tendon's dynamics are implicit in OpenSim, for Moco; here they "
                "are explicit, with the same motions",
            )
    return muscles.DeGroote2016(**arguments)


def _check_degroote(m: muscles.DeGroote2016, to: Writing) -> None:
    _exact(m, muscles.DeGroote2016, to)
    _no_steepest("DeGrooteFregly2016Muscle")(m, to)


Class(
    "DeGrooteFregly2016Muscle",
    muscles.DeGroote2016,
    (
        *COMMON,
        *_times(0.015, 0.06),
        Number("active_force_width_scale", 1.0),
        Number("fiber_damping", 0.0),
        Number("passive_fiber_strain_at_one_norm_force", 0.6),
        Number("tendon_strain_at_one_norm_force", 0.049),
        Number("activation_dynamics_smoothing", 0.1),
        *SWITCHES,
        Number("default_activation", 0.5),
        Number("default_normalized_tendon_force", 0.5),
        Fixed("tendon_compliance_dynamics_mode", "explicit"),
        Flag("ignore_passive_fiber_force", False),
        PATH,
    ),
    skip=SKIP,
    read=_explicit,
    check=_check_degroote,
)


# ---- older muscles -----------------------------------------------------------------------------------------

OLDER = (
    Excitation("min_control"),
    Number("activation1", 7.667),
    Number("activation2", 1.459854),
    *FORCE_AND_LENGTHS,
)
SIMM_CURVES = tuple(
    SimmCurve(f"{name}_curve")
    for name in ("tendon_force_length", "active_force_length", "passive_force_length", "force_velocity")
)


def _older(kind: type[Muscle], tag: str, own: Field, curves: tuple[Field, ...]) -> None:
    """A muscle of Schutte's or Delp's."""
    Class(
        f"{tag}_Deprecated",
        kind,
        (
            *OLDER,
            own,
            *WRITTEN_SWITCHES,
            Number("default_activation", 0.05),
            ReadOnly(FiberLength("default_fiber_length", 0.0)),
            TimeScale("time_scale", 0.1, "max_contraction_velocity"),
            *curves,
            PATH,
        ),
        also=(tag,),
        skip=(*SKIP, "max_contraction_velocity"),
        check=_no_steepest(f"{tag}_Deprecated"),
    )


_older(muscles.Schutte1993, "Schutte1993Muscle", Number("damping", 0.1, "fiber_damping"), SIMM_CURVES[:3])
_older(muscles.Delp1990, "Delp1990Muscle", Number("mass", 0.00287), SIMM_CURVES)
Class(
    "RigidTendonMuscle",
    muscles.RigidTendon,
    (
        *COMMON,
        *WRITTEN_SWITCHES,
        WriteOnly(Number("default_activation")),
        *SIMM_CURVES[1:],
        PATH,
    ),
    skip=SKIP,
    check=_no_steepest("RigidTendonMuscle"),
)
