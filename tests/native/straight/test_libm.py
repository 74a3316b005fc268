"""Our own mathematical functions: error in units in the last place against mpmath, and the special values of
libm."""

from __future__ import annotations

import math

import casadi as ca
import mpmath
import numpy as np
import pytest

from condyle.native.machine import jit
from tests.native.straight.kernels import Kernels

WIDTHS = sorted({1, jit.lane_width()})
NAMES = ("sin", "cos", "exp", "log", "erfinv")
N = 2000


@pytest.fixture(scope="module", params=WIDTHS)
def functions(request):
    x = ca.SX.sym("x")
    kernels = Kernels([ca.Function(n, [x], [getattr(ca, n)(x)]) for n in NAMES], request.param)
    return lambda name, x: kernels(NAMES.index(name), np.asarray(x, float))[0].ravel()


def near_quarter_turns(rng: np.random.Generator, largest: int) -> np.ndarray:
    """Doubles next to multiples of pi/2, where the reduced argument loses most digits."""
    with mpmath.workprec(200):
        exact = [float(int(n) * mpmath.pi / 2) for n in rng.integers(1, largest, N // 2)]
    return np.concatenate([exact, np.nextafter(exact, 0)])


def arguments(name: str) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(20)
    if name in ("sin", "cos"):
        return {
            "a turn": rng.uniform(-7, 7, N),
            "small": 10 ** rng.uniform(-20, 0, N),
            "below 1e9": rng.uniform(-1e9, 1e9, N),
            "any size": 10 ** rng.uniform(0, 9, N),
            "near few quarter turns": near_quarter_turns(rng, 1000),
            "near many quarter turns": near_quarter_turns(rng, int(1e9 / 1.58)),
        }
    if name == "exp":
        return {
            "ordinary": rng.uniform(-2, 2, N),
            "all": rng.uniform(-708, 709.7, N),
            "subnormal": rng.uniform(-745, -708, N),
            "small": rng.choice([-1, 1], N) * 10 ** rng.uniform(-20, -1, N),
        }
    if name == "log":
        return {
            "near 1": 1 + rng.uniform(-0.9, 1, N) * 10 ** rng.uniform(-15, 0, N),
            "all": 10 ** rng.uniform(-307, 308, N),
            "subnormal": 10 ** rng.uniform(-323, -308, N),
        }
    return {
        "all": rng.uniform(-1, 1, 200),
        "near 1": 1 - 10 ** rng.uniform(-16, 0, 200),
        "small": 10 ** rng.uniform(-300, 0, 200),
    }


def worst_error(name: str, x: np.ndarray, got: np.ndarray) -> tuple[float, float]:
    """Largest error in units in the last place, and where."""
    exact = getattr(mpmath, name)
    worst, place = 0.0, 0.0
    with mpmath.workprec(160):
        for value, result in zip(map(float, x), map(float, got)):
            true = exact(mpmath.mpf(value))
            error = float(abs(mpmath.mpf(result) - true) / mpmath.mpf(float(np.spacing(abs(float(true))))))
            worst, place = max((worst, place), (error, value))
    return worst, place


@pytest.mark.parametrize("name", NAMES)
def test_error_in_units_in_the_last_place(functions, name):
    # What libm.py states, with room: 2 for all but erfinv, whose conditioning near 0.5 and three calls of
    # libm cost 4.
    allowed = 4 if name == "erfinv" else 2
    for label, x in arguments(name).items():
        worst, place = worst_error(name, x, functions(name, x))
        print(f"{name}, {label}: {worst:.2f} units in the last place at {place!r}")
        assert worst <= allowed, f"{name}({place!r}) is {worst:.2f} units off"


def test_far_arguments_are_the_c_library(functions):
    x = np.array(
        [1e9, -1e9, 1.1e9, 1e15, -3e22, 1.7976931348623157e308, float.fromhex("0x1.6ac5b262ca1ffp+849")]
    )
    np.testing.assert_array_equal(functions("sin", x), [math.sin(v) for v in x])
    np.testing.assert_array_equal(functions("cos", x), [math.cos(v) for v in x])


INF, NAN, TINY = math.inf, math.nan, 5e-324
SPECIAL = {
    "sin": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (TINY, TINY),
        (-TINY, -TINY),
        (1e-310, 1e-310),
        (2e-9, 2e-9),
        (INF, NAN),
        (-INF, NAN),
        (NAN, NAN),
    ],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (TINY, 1.0), (1e-310, 1.0), (INF, NAN), (-INF, NAN), (NAN, NAN)],
    "exp": [
        (0.0, 1.0),
        (-0.0, 1.0),
        (TINY, 1.0),
        (INF, INF),
        (-INF, 0.0),
        (NAN, NAN),
        (709.0, math.exp(709.0)),
        (709.7827128933841, INF),
        (710.0, INF),
        (1e308, INF),
        (-745.1332191019411, TINY),
        (-745.1332191019412, 0.0),
        (-1e308, 0.0),
        (-708.3964185322641, 2.2250738585072626e-308),
    ],
    "log": [
        (0.0, -INF),
        (-0.0, -INF),
        (1.0, 0.0),
        (INF, INF),
        (-INF, NAN),
        (-1.0, NAN),
        (-TINY, NAN),
        (NAN, NAN),
        (TINY, math.log(TINY)),
        (1e-310, math.log(1e-310)),
        (2.0**-1022, math.log(2.0**-1022)),
    ],
    "erfinv": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (1.0, INF),
        (-1.0, -INF),
        (1.5, NAN),
        (-2.0, NAN),
        (NAN, NAN),
        (INF, NAN),
    ],
}


@pytest.mark.parametrize("name", NAMES)
def test_special_values(functions, name):
    x, expected = np.array(SPECIAL[name]).T
    got = functions(name, x)
    for value, result, wish in zip(x, got, expected):
        alike = result == wish and math.copysign(1, result) == math.copysign(1, wish)
        assert alike or (math.isnan(result) and math.isnan(wish)), (
            f"{name}({value!r}) is {result!r}, not {wish!r}"
        )


def test_erfinv_agrees_with_casadi(functions):
    x = np.linspace(-0.999, 0.999, 41)
    f = ca.Function("f", [(s := ca.SX.sym("s"))], [ca.erfinv(s)])
    # CasADi's own is right to 4e-6 below -0.7, where it leaves out its last correction.
    np.testing.assert_allclose(functions("erfinv", x), [float(f(v)) for v in x], rtol=1e-5, atol=1e-300)


def test_lanes_have_the_bits_of_the_scalar():
    x = ca.SX.sym("x")
    f = ca.Function("f", [x], [getattr(ca, n)(x) for n in NAMES])
    rng = np.random.default_rng(21)
    values = np.concatenate(
        [rng.uniform(-1, 1, 500), 10 ** rng.uniform(-320, 300, 500), -(10 ** rng.uniform(-3, 12, 500))]
    )
    for scalar, lanes in zip(Kernels([f], 1)(0, values), Kernels([f], max(WIDTHS))(0, values)):
        np.testing.assert_array_equal(lanes, scalar)
