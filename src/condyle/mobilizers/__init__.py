"""Mobilizers: what a body may do relative to its parent. One file per family."""

from typing import TYPE_CHECKING

from condyle.loading import family

if TYPE_CHECKING:
    from condyle.mobilizers.angles import Bushing as Bushing
    from condyle.mobilizers.angles import Gimbal as Gimbal
    from condyle.mobilizers.angles import Universal as Universal
    from condyle.mobilizers.base import Mobilizer as Mobilizer
    from condyle.mobilizers.base import RelativeMotion as RelativeMotion
    from condyle.mobilizers.beam import CantileverFreeBeam as CantileverFreeBeam
    from condyle.mobilizers.compose import compose as compose
    from condyle.mobilizers.coupled import Coupled as Coupled
    from condyle.mobilizers.coupled import has_rates as has_rates
    from condyle.mobilizers.custom import Custom as Custom
    from condyle.mobilizers.derivation import derived_motion as derived_motion
    from condyle.mobilizers.ellipsoid import Ellipsoid as Ellipsoid
    from condyle.mobilizers.elliptic import EllipticSlider as EllipticSlider
    from condyle.mobilizers.free import Ball as Ball
    from condyle.mobilizers.free import Free as Free
    from condyle.mobilizers.function_based import FunctionBased as FunctionBased
    from condyle.mobilizers.lines import FreeLine as FreeLine
    from condyle.mobilizers.lines import LineOrientation as LineOrientation
    from condyle.mobilizers.lower_pairs import Cylinder as Cylinder
    from condyle.mobilizers.lower_pairs import Pin as Pin
    from condyle.mobilizers.lower_pairs import Planar as Planar
    from condyle.mobilizers.lower_pairs import Screw as Screw
    from condyle.mobilizers.lower_pairs import Slider as Slider
    from condyle.mobilizers.lower_pairs import Translation as Translation
    from condyle.mobilizers.lower_pairs import Weld as Weld
    from condyle.mobilizers.numbers import NumberedMobilizer as NumberedMobilizer
    from condyle.mobilizers.numbers import Pattern as Pattern
    from condyle.mobilizers.numbers import pattern as pattern
    from condyle.mobilizers.polar import BendStretch as BendStretch
    from condyle.mobilizers.polar import SphericalCoords as SphericalCoords
    from condyle.mobilizers.sines import sines_first as sines_first
    from condyle.mobilizers.spline_curve import SplineCurve as SplineCurve
    from condyle.mobilizers.spline_surface import SplineSurface as SplineSurface
    from condyle.mobilizers.text_file import read_mobilizer as read_mobilizer
    from condyle.mobilizers.traced import JointMotion as JointMotion
    from condyle.mobilizers.traced import motion as motion
    from condyle.mobilizers.traced import motion_at as motion_at
    from condyle.mobilizers.traced import motion_size as motion_size
    from condyle.mobilizers.traced import motion_symbols as motion_symbols
    from condyle.mobilizers.traced import runaway as runaway

__all__, __getattr__ = family(__name__)
