"""Mobilizers: joints, the motion of a body relative to its parent. One file per family."""

from typing import TYPE_CHECKING

from condyle.arguments import family

if TYPE_CHECKING:
    from condyle.mobilizers.base import Mobilizer as Mobilizer
    from condyle.mobilizers.base import RelativeMotion as RelativeMotion
    from condyle.mobilizers.closed_form import BendStretch as BendStretch
    from condyle.mobilizers.closed_form import Bushing as Bushing
    from condyle.mobilizers.closed_form import CantileverFreeBeam as CantileverFreeBeam
    from condyle.mobilizers.closed_form import Cylinder as Cylinder
    from condyle.mobilizers.closed_form import EllipticSlider as EllipticSlider
    from condyle.mobilizers.closed_form import Gimbal as Gimbal
    from condyle.mobilizers.closed_form import Pin as Pin
    from condyle.mobilizers.closed_form import Planar as Planar
    from condyle.mobilizers.closed_form import Screw as Screw
    from condyle.mobilizers.closed_form import Slider as Slider
    from condyle.mobilizers.closed_form import SphericalCoords as SphericalCoords
    from condyle.mobilizers.closed_form import Translation as Translation
    from condyle.mobilizers.closed_form import Universal as Universal
    from condyle.mobilizers.closed_form import Weld as Weld
    from condyle.mobilizers.combined import Coupled as Coupled
    from condyle.mobilizers.combined import compose as compose
    from condyle.mobilizers.combined import has_rates as has_rates
    from condyle.mobilizers.custom import Custom as Custom
    from condyle.mobilizers.custom import derived_motion as derived_motion
    from condyle.mobilizers.function_based import FunctionBased as FunctionBased
    from condyle.mobilizers.orientation import Ball as Ball
    from condyle.mobilizers.orientation import Ellipsoid as Ellipsoid
    from condyle.mobilizers.orientation import Free as Free
    from condyle.mobilizers.orientation import FreeLine as FreeLine
    from condyle.mobilizers.orientation import LineOrientation as LineOrientation
    from condyle.mobilizers.patterns import NumberedMobilizer as NumberedMobilizer
    from condyle.mobilizers.patterns import Pattern as Pattern
    from condyle.mobilizers.patterns import pattern as pattern
    from condyle.mobilizers.spline_curve import SplineCurve as SplineCurve
    from condyle.mobilizers.spline_surface import SplineSurface as SplineSurface
    from condyle.mobilizers.text_file import read_mobilizer as read_mobilizer
    from condyle.mobilizers.traced import JointMotion as JointMotion
    from condyle.mobilizers.traced import motion as motion
    from condyle.mobilizers.traced import motion_at as motion_at
    from condyle.mobilizers.traced import motion_size as motion_size
    from condyle.mobilizers.traced import motion_symbols as motion_symbols
    from condyle.mobilizers.traced import runaway as runaway
    from condyle.mobilizers.traced import sines_first as sines_first

__all__, __getattr__ = family(__name__)
