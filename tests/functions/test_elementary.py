"""Constant, Linear, Polynomial, Sine, SmoothStep against closed forms in exact arithmetic."""

import math

import mpmath as mp
import numpy as np
import pytest

from condyle.errors import DescriptionError
from condyle.functions import Constant, Linear, Polynomial, Sine, SmoothStep

AT = np.random.default_rng(1).uniform(-2.5, 2.5, 25)
CASES = {
    "linear": (Linear(2.5, -0.3), lambda x: mp.mpf(2.5) * x - mp.mpf(0.3)),
    "polynomial": (Polynomial((0.5, 0, -2, 0.25)), lambda x: mp.mpf(0.5) - 2 * x**2 + x**3 / 4),
    "sine": (Sine(0.75, 1.5, 0.25, 2), lambda x: 2 + mp.mpf(0.75) * mp.sin(1.5 * x + 0.25)),
    "step": (
        SmoothStep(-3, 3, 1, 2),
        lambda x: 1 + 10 * (x / 6 + 0.5) ** 3 - 15 * (x / 6 + 0.5) ** 4 + 6 * (x / 6 + 0.5) ** 5,
    ),
    "step down": (
        SmoothStep(-3, 3, 2, -1),
        lambda x: 2 - 3 * (10 * (x / 6 + 0.5) ** 3 - 15 * (x / 6 + 0.5) ** 4 + 6 * (x / 6 + 0.5) ** 5),
    ),
    "step to the left": (
        SmoothStep(3, -3, 2, -1),
        lambda x: 2 - 3 * (10 * (0.5 - x / 6) ** 3 - 15 * (0.5 - x / 6) ** 4 + 6 * (0.5 - x / 6) ** 5),
    ),
}


@pytest.mark.parametrize(("f", "oracle"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("order", range(4))
def test_equals_the_closed_form(f, oracle, order):
    """Derivatives of the oracle by mpmath's differences, good to 20 digits of the 50 it works with."""
    with mp.workdps(50):
        expected = [float(mp.diff(oracle, mp.mpf(x), order)) for x in AT]
    # A handful of roundings of terms of size 10 or less.
    np.testing.assert_allclose(f.derivative(AT, order), expected, rtol=0, atol=2e-14)


@pytest.mark.parametrize(
    "step", [SmoothStep(1, 3, 5, 7), SmoothStep(1, 3, 7, 5), SmoothStep(3, 1, 5, 7), SmoothStep(-1e6, 1e6)]
)
def test_smooth_step_has_two_continuous_derivatives(step):
    """Constant beyond either end, exactly; first and second derivative vanish at both."""
    for x, y in ((step.x0, step.y0), (step.x1, step.y1)):
        outwards = math.copysign(1.0, x - (step.x0 + step.x1) / 2)
        for at in (x, np.nextafter(x, outwards * np.inf), x + outwards * 100 * abs(step.x1 - step.x0)):
            assert step(at) == y
            assert [step.derivative(at, k) for k in (1, 2)] == [0, 0]
        beside = x - 1e-8 * outwards * abs(step.x1 - step.x0)
        # 60 s (y1 - y0) / width^2 with s = 1e-8.
        assert abs(step.derivative(beside, 2)) <= 1e-6 * abs(step.y1 - step.y0) / (step.x1 - step.x0) ** 2
    middle = (step.x0 + step.x1) / 2
    assert step(middle) == (step.y0 + step.y1) / 2


def test_smooth_step_ends_where_infinity_is():
    step = SmoothStep(1, 3, 5, 7)
    assert step(-np.inf) == 5
    assert step(np.inf) == 7


def test_constant_has_the_shape_of_its_argument():
    f = Constant(2)
    assert f(1.0) == 2 and f() == 2 and f(1.0, 2.0) == 2
    assert f(np.zeros((2, 3))).tolist() == [[2.0] * 3] * 2
    assert f.derivative(np.zeros(4)).tolist() == [0.0] * 4
    assert f(np.zeros((4, 1)), np.zeros(3)).shape == (4, 3)


def test_polynomial_of_several_variables_equals_its_terms():
    rng = np.random.default_rng(2)
    exponents = rng.integers(0, 4, (9, 3))
    exponents[-1] = exponents[0]  # a term given twice counts twice
    c = rng.normal(size=9)
    x = rng.uniform(-1, 1, (3, 30))
    expected = sum(c_i * np.prod(x ** e[:, None], axis=0) for c_i, e in zip(c, exponents, strict=True))
    # Nine terms of size one.
    np.testing.assert_allclose(Polynomial(c, exponents)(*x), expected, rtol=0, atol=1e-14)


def test_one_variable_written_as_several():
    assert Polynomial((3, 2), exponents=((2,), (0,)))(2.0) == Polynomial((2, 0, 3))(2.0) == 14


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Constant("one"), "Constant: value: expected one finite number or cd.Parameter, got 'one'"),
        (lambda: Constant(np.nan), "Constant: value: expected one finite number or cd.Parameter, got nan"),
        (lambda: Linear(()), "Linear: slope must be a sequence of numbers of shape (n,), got ()"),
        (lambda: Linear((1, None)), "Linear: slope[1]: expected one finite number or cd.Parameter, got None"),
        (lambda: Linear(1, np.inf), "Linear: intercept: expected one finite number or cd.Parameter, got inf"),
        (lambda: Sine(phase="x"), "Sine: phase: expected one finite number"),
        (lambda: SmoothStep(1, 1), "SmoothStep: x0 and x1 are both 1; a step needs some width"),
        (lambda: Polynomial(()), "Polynomial: coefficients must be a sequence of numbers"),
        (
            lambda: Polynomial((1, 2), ((0, 1),)),
            "exponents must have shape (2, variables), one row per coefficient, got ((0, 1),)",
        ),
        (lambda: Polynomial((1, 2), (0, 1)), "exponents must have shape (2, variables)"),
        (lambda: Polynomial((1, 2), ((0, 1), (-1, 0))), "exponents[1][0] = -1; allowed are 0, 1, 2, ... 100"),
        (lambda: Polynomial((1,), ((0.5,),)), "exponents[0][0] = 0.5"),
    ],
)
def test_bad_description(make, message):
    with pytest.raises(DescriptionError) as caught:
        make()
    assert message in str(caught.value)
