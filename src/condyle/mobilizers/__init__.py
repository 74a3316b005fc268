"""Mobilizers: what a body may do relative to its parent. One file per family."""

from condyle.arguments import spoken
from condyle.mobilizers.angles import Bushing, Gimbal, Universal
from condyle.mobilizers.base import Mobilizer, RelativeMotion
from condyle.mobilizers.beam import CantileverFreeBeam
from condyle.mobilizers.compose import compose
from condyle.mobilizers.coupled import Coupled, has_rates
from condyle.mobilizers.custom import Custom
from condyle.mobilizers.derivation import derived_motion
from condyle.mobilizers.ellipsoid import Ellipsoid
from condyle.mobilizers.elliptic import EllipticSlider
from condyle.mobilizers.free import Ball, Free
from condyle.mobilizers.function_based import FunctionBased
from condyle.mobilizers.lines import FreeLine, LineOrientation
from condyle.mobilizers.lower_pairs import Cylinder, Pin, Planar, Screw, Slider, Translation, Weld
from condyle.mobilizers.numbers import NumberedMobilizer, Pattern, pattern
from condyle.mobilizers.polar import BendStretch, SphericalCoords
from condyle.mobilizers.sines import sines_first
from condyle.mobilizers.spline_curve import SplineCurve
from condyle.mobilizers.spline_surface import SplineSurface
from condyle.mobilizers.text_file import read_mobilizer
from condyle.mobilizers.traced import (
    JointMotion,
    motion,
    motion_at,
    motion_size,
    motion_symbols,
    runaway,
)

__all__ = [
    "Ball",
    "BendStretch",
    "Bushing",
    "CantileverFreeBeam",
    "Coupled",
    "Custom",
    "Cylinder",
    "Ellipsoid",
    "EllipticSlider",
    "Free",
    "FreeLine",
    "FunctionBased",
    "Gimbal",
    "JointMotion",
    "LineOrientation",
    "Mobilizer",
    "NumberedMobilizer",
    "Pattern",
    "Pin",
    "Planar",
    "RelativeMotion",
    "Screw",
    "Slider",
    "SphericalCoords",
    "SplineCurve",
    "SplineSurface",
    "Translation",
    "Universal",
    "Weld",
    "compose",
    "derived_motion",
    "has_rates",
    "motion",
    "motion_at",
    "motion_size",
    "motion_symbols",
    "pattern",
    "read_mobilizer",
    "runaway",
    "sines_first",
]

spoken(
    Ball,
    BendStretch,
    Bushing,
    CantileverFreeBeam,
    Coupled,
    Custom,
    Cylinder,
    Ellipsoid,
    EllipticSlider,
    Free,
    FreeLine,
    FunctionBased,
    Gimbal,
    LineOrientation,
    Pin,
    Planar,
    Screw,
    Slider,
    SphericalCoords,
    SplineCurve,
    SplineSurface,
    Translation,
    Universal,
    Weld,
)
