"""One of each function, of one variable and of several, with numbers that are all different."""

import warnings

import numpy as np

from condyle.functions import (
    BSpline,
    Constant,
    Formula,
    Linear,
    PiecewiseConstant,
    PiecewiseLinear,
    Polynomial,
    Scaled,
    SimmSpline,
    Sine,
    SmoothStep,
    Spline,
)
from tests.functions.oracles import random_points

X, Y, _ = random_points(7, 9)
LONG_X, LONG_Y, _ = random_points(8, 30)
KNOTS = np.concatenate([[X[0]] * 3, X, [X[-1]] * 3])

with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)
    ONE = {
        "Constant": Constant(0.7),
        "Linear": Linear(2.5, -0.3),
        "Polynomial": Polynomial((0.1, -0.4, 0.3, 0.25, -0.05)),
        "Sine": Sine(0.8, 1.7, 0.4, 0.1),
        "SmoothStep": SmoothStep(-1.1, 0.9, 0.3, 1.4),
        "SmoothStep left": SmoothStep(0.9, -1.1),
        "Formula": Formula("2*sin(x)^2 - a*tanh(x) + sqrt(square(x) + 1)/3 + erf(0.3*x); a = exp(-0.2*x)"),
        "cubic": Spline(X, Y),
        "quintic": Spline(X, Y, 5),
        "septic": Spline(X, Y, degree=7),
        "SimmSpline": SimmSpline(X, Y),
        "BSpline": BSpline(KNOTS, np.append(Y, [0.4, -0.2]), 3),
        "one piece": BSpline([0, 0, 0, 1, 1, 1], [1, 2, 0], 2),
        "PiecewiseConstant": PiecewiseConstant(X, Y),
        "PiecewiseLinear": PiecewiseLinear(X, Y),
        "long cubic": Spline(LONG_X, LONG_Y),
        "long quintic": Spline(LONG_X, LONG_Y, 5),
        "long SimmSpline": SimmSpline(LONG_X, LONG_Y),
        "long PiecewiseLinear": PiecewiseLinear(LONG_X, LONG_Y),
        "Scaled": Scaled(SimmSpline(X, Y), -1.3),
        "Scaled long": Scaled(Spline(LONG_X, LONG_Y), 0.7),
        "uneven": Spline(
            [0, 1e-7, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7],
            np.sin(np.arange(14.0)) * [1e-7, *[1] * 13],
        ),
    }
SEVERAL = {
    "Constant": Constant(0.7),
    "Linear": Linear((2.5, -1.0), 0.3),
    "Formula": Formula("0.1*p^3*w - sin(p*w) + 2^(0.3*w)", ("p", "w")),
    "Polynomial": Polynomial((1.5, -0.5, 2.0, 0.25), exponents=((0, 0), (1, 0), (2, 1), (0, 3))),
    "Scaled": Scaled(Linear((2.5, -1.0), 0.3), 1.7),
}
SMOOTH = [name for name in ONE if "Piecewise" not in name]
