"""Functions for models, on numbers, arrays and symbols: docs/theory/functions.md.

Python functions may replace them; these need more than a few lines of NumPy.
"""

from typing import TYPE_CHECKING

from condyle.arguments import family

if TYPE_CHECKING:
    from condyle.functions.base import Function as Function
    from condyle.functions.elementary import Constant as Constant
    from condyle.functions.elementary import Linear as Linear
    from condyle.functions.elementary import Polynomial as Polynomial
    from condyle.functions.elementary import Scaled as Scaled
    from condyle.functions.elementary import Sine as Sine
    from condyle.functions.elementary import SmoothStep as SmoothStep
    from condyle.functions.formula import Formula as Formula
    from condyle.functions.splines import BSpline as BSpline
    from condyle.functions.splines import PiecewiseConstant as PiecewiseConstant
    from condyle.functions.splines import PiecewiseLinear as PiecewiseLinear
    from condyle.functions.splines import SimmSpline as SimmSpline
    from condyle.functions.splines import Spline as Spline

__all__, __getattr__ = family(__name__)
